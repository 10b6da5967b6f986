// base/: memory, tables, text, diagnostics, Philox, CPUID, files. The two data formats are in
// formats_test.c.
#include "base/arena.h"
#include "base/cgroup.h"
#include "base/cpuid.h"
#include "base/diag.h"
#include "base/file.h"
#include "base/installed.h"
#include "base/intern.h"
#include "base/map.h"
#include "base/philox.h"
#include "base/printable.h"
#include "base/temporary.h"
#include "base/text.h"
#include "base/trust.h"
#include "base/vec.h"
#include "leat/dtype.h"
#include "leat/status.h"
#include "tests/unit/check.h"
#include "tests/unit/scratch.h"

#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

TEST(directories_are_found_from_the_program_too) {
  char self[LEAT_PATH_SIZE], path[LEAT_PATH_SIZE];
  ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
  CHECK(length > 0);
  self[length] = '\0';
  const char *name = strrchr(self, '/') + 1;
  const char *list = ":/no/such::$ORIGIN/..:$ORIGIN:", *rest = list;
  CHECK(leat_directory_find(list, name, path));
  CHECK_EQ_STR(path, self);
  CHECK(!leat_directory_find(list, "no such file", path));
  CHECK(!leat_directory_find(NULL, name, path) && !leat_directory_find("", name, path));
  CHECK(leat_directory_next(&rest, path));
  CHECK_EQ_STR(path, "/no/such");
  CHECK(leat_directory_next(&rest, path) && leat_directory_next(&rest, path));
  CHECK(!leat_directory_next(&rest, path));
}

TEST(arena_zeroes_aligns_and_resets) {
  leat_arena *arena = leat_arena_create();
  for (int round = 0; round < 3; round++) {
    for (size_t size = 0; size < 5000; size += 37) {
      unsigned char *memory = leat_arena_alloc(arena, size);
      CHECK_EQ_INT((uintptr_t)memory % 16, 0);
      for (size_t i = 0; i < size; i++) {
        if (memory[i]) CHECK_FAILED("byte %zu of %zu is not zero", i, size);
        memory[i] = 0xff;
      }
    }
    CHECK(leat_arena_used(arena) > 5000);
    CHECK(leat_arena_try_alloc(arena, 0) && !leat_arena_try_alloc(arena, SIZE_MAX / 2));
    leat_arena_reset(arena);
    CHECK_EQ_INT(leat_arena_used(arena), 0);
  }
  char *large = leat_arena_alloc(arena, (size_t)10 << 20);
  large[((size_t)10 << 20) - 1] = 1;
  CHECK_EQ_STR(leat_arena_strndup(arena, "abcdef", 3), "abc");
  CHECK_EQ_STR(leat_arena_printf(arena, "%s-%d", "x", 7), "x-7");
  CHECK(memcmp(leat_arena_memdup(arena, "a\0b", 3), "a\0b", 3) == 0);
  leat_arena_destroy(arena);
  leat_arena_destroy(NULL);
}

TEST(vec_grows) {
  leat_arena *arena = leat_arena_create();
  leat_vec(int) numbers = {0};
  for (int i = 0; i < 1000; i++) leat_vec_push(arena, &numbers, i);
  CHECK_EQ_INT(numbers.count, 1000);
  for (int i = 0; i < 1000; i++) CHECK_EQ_INT(numbers.items[i], i);
  leat_arena_destroy(arena);
}

TEST(maps_find_keep_order_and_overwrite) {
  leat_arena *arena = leat_arena_create();
  static int keys[3000];
  leat_map map;
  leat_bytes_map bytes;
  leat_map_init(&map, arena);
  leat_bytes_map_init(&bytes, arena);
  CHECK(leat_map_get(&map, keys) == NULL);
  CHECK(leat_bytes_map_get(&bytes, "x", 1) == NULL);
  for (int i = 0; i < 3000; i++) {
    leat_map_set(&map, &keys[i], &keys[i]);
    leat_bytes_map_set(&bytes, &i, sizeof i, &keys[i]);
  }
  leat_map_set(&map, &keys[5], &keys[6]);
  leat_bytes_map_set(&bytes, "", 0, &keys[7]);
  CHECK_EQ_INT(map.count, 3000);
  for (int i = 0; i < 3000; i++) {
    CHECK(map.entries[i].key == &keys[i]);
    CHECK(leat_map_get(&map, &keys[i]) == &keys[i == 5 ? 6 : i]);
    CHECK(leat_bytes_map_get(&bytes, &i, sizeof i) == &keys[i]);
  }
  CHECK(leat_bytes_map_get(&bytes, "", 0) == &keys[7]);
  CHECK(leat_bytes_map_get(&bytes, "absent", 6) == NULL);
  leat_arena_destroy(arena);
}

TEST(interned_texts_are_one_pointer) {
  leat_arena *arena = leat_arena_create();
  leat_strings *strings = leat_strings_create(arena);
  char name[600];
  memset(name, 'n', sizeof name - 1);
  name[sizeof name - 1] = '\0';
  const char *relu = leat_intern(strings, "relu");
  CHECK(relu == leat_intern_n(strings, "reluX", 4));
  CHECK(relu == leat_intern_printf(strings, "re%s", "lu"));
  CHECK(relu != leat_intern(strings, "relU"));
  CHECK(leat_intern(strings, name) == leat_intern_printf(strings, "%s", name));
  CHECK_EQ_STR(leat_intern(strings, ""), "");
  leat_arena_destroy(arena);
}

TEST(status_keeps_the_first_cause) {
  leat_error error = {0};
  CHECK_EQ_INT(leat_fail(&error, LEAT_IO, "disk %d", 1), LEAT_IO);
  CHECK_EQ_INT(leat_fail(&error, LEAT_INVALID, "later"), LEAT_INVALID);
  CHECK_EQ_INT(leat_fail(NULL, LEAT_INVALID, "nobody listens"), LEAT_INVALID);
  CHECK_EQ_INT(error.status, LEAT_IO);
  CHECK_EQ_STR(error.message, "disk 1");
  CHECK_EQ_STR(leat_status_name(LEAT_OK), "ok");
  CHECK_EQ_STR(leat_status_name((leat_status)999), "unknown status");
}

TEST(dtypes_and_shapes) {
  for (size_t i = 0; i < LEAT_DTYPE_COUNT; i++) {
    leat_dtype parsed;
    const char *name = leat_dtype_name((leat_dtype)i);
    CHECK(leat_dtype_parse(name, strlen(name), &parsed));
    CHECK_EQ_INT(parsed, i);
  }
  leat_dtype unused;
  CHECK(!leat_dtype_parse("f3", 2, &unused));
  CHECK(!leat_dtype_parse("f320", 4, &unused));
  CHECK_EQ_STR(leat_dtype_name(LEAT_bool), "bool");
  CHECK_EQ_INT(leat_dtype_size(LEAT_c128), 16);
  CHECK_EQ_INT(leat_dtype_kind_of(LEAT_bf16), LEAT_KIND_FLOAT);
  CHECK_EQ_INT(leat_shape_elements(0, NULL), 1);
  CHECK_EQ_INT(leat_shape_elements(3, (int64_t[]){2, 3, 4}), 24);
  CHECK_EQ_INT(leat_shape_elements(2, (int64_t[]){2, -1}), -1);
  CHECK_EQ_INT(leat_shape_elements(2, (int64_t[]){INT64_MAX, 2}), -1);
  CHECK_EQ_INT(leat_shape_elements(3, (int64_t[]){INT64_MAX, 2, 0}), 0);
  leat_tensor huge = {.dtype = LEAT_f64, .rank = 1, .shape = {INT64_MAX / 2}};
  CHECK_EQ_INT(leat_tensor_bytes(&huge), -1);
}

TEST(quoting_escapes_what_the_language_escapes) {
  static const char raw[] = "a\\\"\n\t\r{}\x01\x7f\xff\xc3\xa4\xe2\x82\xac\xed\xa0\x80\xc3";
  leat_text text = {0};
  leat_text_add_quoted(&text, raw, sizeof raw); // with its NUL
  CHECK_EQ_STR(text.data, "\"a\\\\\\\"\\n\\t\\r\\{\\}\\x01\\x7f\\xff\xc3\xa4\xe2\x82\xac"
                          "\\xed\\xa0\\x80\\xc3\\x00\"");
  leat_text_finish(&text);
}

static void check_printed(const leat_diag *diag, const char *expected) {
  leat_text text = {0};
  leat_diag_print(diag, &text);
  CHECK_EQ_STR(text.data ? text.data : "", expected);
  leat_text_finish(&text);
}

TEST(diagnostics_show_line_and_caret) {
  static const char source[] = "entry f(x: f32[]) {\n\ty = relv(x)\r\n  \xc3\xa4\xc3\xb6 = bad\n}";
  leat_arena *arena = leat_arena_create();
  leat_diag *diag = leat_diag_create(arena);
  uint32_t file = leat_diag_add_source(diag, "a.leat", source, sizeof source - 1);
  uint32_t at = (uint32_t)(strstr(source, "bad") - source);
  leat_warn_at(diag, (leat_span){file, at, at + 100}, "second");
  at = (uint32_t)(strstr(source, "relv") - source);
  leat_error_at(diag, (leat_span){file, at, at + 4}, "unknown op `%s`", "relv");
  leat_note_at(diag, (leat_span){file, 0, 5}, "in this entry");
  leat_error_at(diag, (leat_span){0}, "nowhere");
  leat_error_at(diag, (leat_span){file, 9999, 10000}, "past the end");
  CHECK_EQ_INT(leat_diag_errors(diag), 3);
  check_printed(diag, "error: nowhere\n"
                      "a.leat:2:6: error: unknown op `relv`\n"
                      "        y = relv(x)\n"
                      "            ^~~~\n"
                      "a.leat:1:1: note: in this entry\n"
                      "entry f(x: f32[]) {\n"
                      "^~~~~\n"
                      "a.leat:3:8: warning: second\n"
                      "  \xc3\xa4\xc3\xb6 = bad\n"
                      "       ^~~\n"
                      "a.leat:4:2: error: past the end\n"
                      "}\n"
                      " ^\n");
  leat_diag_clear(diag);
  CHECK_EQ_INT(leat_diag_errors(diag), 0);
  check_printed(diag, "");
  CHECK_EQ_STR(leat_diag_source_name(diag, file), "a.leat");
  CHECK(leat_diag_source_text(diag, 7, NULL) == NULL);
  leat_arena_destroy(arena);
}

TEST(diagnostics_count_what_they_do_not_keep) {
  leat_arena *arena = leat_arena_create();
  leat_diag *diag = leat_diag_create(arena);
  leat_text text = {0};
  for (int i = 0; i < 25; i++) {
    leat_error_at(diag, (leat_span){0}, "e%d", i);
    leat_note_at(diag, (leat_span){0}, "n%d", i);
  }
  leat_warn_at(diag, (leat_span){0}, "w");
  leat_diag_print(diag, &text);
  CHECK_EQ_INT(leat_diag_errors(diag), 25);
  CHECK(strstr(text.data, "error: e19\nnote: n19\nwarning: w\nand 5 more errors\n") != NULL);
  CHECK(strstr(text.data, "n20") == NULL);
  leat_text_finish(&text);
  leat_arena_destroy(arena);
}

TEST(diagnostics_clip_long_lines) {
  static char source[100000];
  leat_arena *arena = leat_arena_create();
  leat_diag *diag = leat_diag_create(arena);
  leat_text text = {0};
  memset(source, 'x', sizeof source);
  for (int i = 0; i < 3; i++) source[50000 + i] = "\xe2\x82\xac"[i];
  uint32_t file = leat_diag_add_source(diag, "b", source, sizeof source);
  leat_error_at(diag, (leat_span){file, 50003, 99999}, "long");
  leat_diag_print(diag, &text);
  CHECK(text.size < 1000);
  CHECK(strncmp(text.data, "b:1:50002: error: long\nxx", 25) == 0);
  leat_text_finish(&text);
  leat_arena_destroy(arena);
}

TEST(nearest_suggests_only_what_is_near) {
  static const char *const ops[] = {"relu", "exp", "softmax", "matmul", "max"};
  CHECK_EQ_STR(leat_nearest("relv", ops, 5), "relu");
  CHECK_EQ_STR(leat_nearest("matmlu", ops, 5), "matmul");
  CHECK_EQ_STR(leat_nearest("sotfmax", ops, 5), "softmax");
  CHECK(leat_nearest("banana", ops, 5) == NULL);
  CHECK(leat_nearest("", ops, 5) == NULL);
  CHECK(leat_nearest("x", ops, 5) == NULL);
}

TEST(philox_known_answers) {
  static const struct {
    uint32_t counter[4], key[2], expected[4];
  } answers[] = {
      // tests/kat_vectors of Random123, the three rows of philox4x32 with 10 rounds
      {{0, 0, 0, 0}, {0, 0}, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
      {{0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff},
       {0xffffffff, 0xffffffff},
       {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
      {{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
       {0xa4093822, 0x299f31d0},
       {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
  };
  for (size_t i = 0; i < sizeof answers / sizeof *answers; i++) {
    uint32_t out[4];
    leat_philox(answers[i].counter, answers[i].key, out);
    CHECK(memcmp(out, answers[i].expected, sizeof out) == 0);
  }
}

TEST(cpu_levels) {
  leat_cpu_level level;
  leat_text key = {0}, again = {0};
  CHECK_EQ_STR(leat_cpu_level_name(LEAT_CPU_AVX2), "x86-64-v3");
  CHECK(leat_cpu_level_parse("x86-64-v4", &level) && level == LEAT_CPU_AVX512);
  CHECK(leat_cpu_level_parse("host", &level) && level == leat_cpu_host_level());
  CHECK(leat_cpu_level_parse("native", &level) && level == leat_cpu_host_level());
  CHECK(!leat_cpu_level_parse("x86-64-v5", &level));
  CHECK(leat_cpu_cores() >= 1);
  leat_cpu_add_key(&key);
  leat_cpu_add_key(&again);
  CHECK_EQ_STR(key.data, again.data);
  CHECK(strchr(key.data, '/') == NULL && strchr(key.data, ' ') == NULL);
  leat_text_finish(&key);
  leat_text_finish(&again);
}

static void write_deep(char *path, const char *text) {
  for (char *at = path + strlen(scratch_root) + 1; (at = strchr(at, '/')); *at++ = '/') {
    *at = 0;
    mkdir(path, 0777);
  }
  leat_bytes piece = {text, strlen(text)};
  CHECK_EQ_INT(leat_file_write(path, &piece, 1, LEAT_FILE_ATOMIC, NULL), LEAT_OK);
}

// What a tree of files says of the process in it: names and texts, NULL at the end.
static int cores_in(const char *name, const char *const *files) {
  char root[SCRATCH_PATH], path[SCRATCH_PATH];
  for (; files[0]; files += 2) {
    scratch_path(root, name);
    strcat(strcat(strcpy(path, root), "/"), files[0]);
    write_deep(path, files[1]);
  }
  return leat_cgroup_cores(root);
}

TEST(control_groups) {
#define IN(...) ((const char *const[]){__VA_ARGS__, NULL})
  CHECK_EQ_INT(leat_cgroup_cores("/nowhere"), INT_MAX);
  CHECK_EQ_INT(
      cores_in("any", IN("proc/self/cgroup", "0::/a\n", "sys/fs/cgroup/a/cpu.max", "max 100000\n")),
      INT_MAX);
  CHECK_EQ_INT(cores_in("part", IN("proc/self/cgroup", "0::/a\n", "sys/fs/cgroup/a/cpu.max",
                                   "150000 100000\n")),
               2);
  CHECK_EQ_INT(
      cores_in("around", IN("proc/self/cgroup", "0::/a/b\n", "sys/fs/cgroup/a/b/cpu.max",
                            "400000 100000\n", "sys/fs/cgroup/a/cpu.max", "30000 10000\n")),
      3);
  CHECK_EQ_INT(cores_in("inside", IN("proc/self/cgroup", "0::/../unseen\n", "sys/fs/cgroup/cpu.max",
                                     "50000 100000\n")),
               1);
#define CFS(folder, quota)                                                                         \
  "sys/fs/cgroup/cpu/" folder "cpu.cfs_quota_us", quota "\n",                                      \
      "sys/fs/cgroup/cpu/" folder "cpu.cfs_period_us", "100000\n"
  CHECK_EQ_INT(cores_in("first", IN("proc/self/cgroup",
                                    "5:cpuset:/c\n3:cpuacct,cpu:/a\n1:name=systemd:/\n0::/\n",
                                    CFS("a/", "200000"), CFS("", "-1"))),
               2);
  CHECK_EQ_INT(cores_in("other", IN("proc/self/cgroup", "5:cpuset:/\n", CFS("", "200000"))),
               INT_MAX);
#undef CFS
#undef IN
}

TEST(files_are_written_whole_and_read_back) {
  leat_error error = {0};
  char path[SCRATCH_PATH], *data;
  size_t size;
  scratch_path(path, "deep/er/file");
  CHECK_EQ_INT(leat_file_write(path, NULL, 0, LEAT_FILE_ATOMIC, NULL), LEAT_NOT_FOUND);
  scratch_path(path, "deep");
  CHECK_EQ_INT(mkdir(path, 0777), 0);
  scratch_path(path, "deep/er");
  CHECK_EQ_INT(mkdir(path, 0777), 0);
  scratch_path(path, "deep/er/file");
  leat_bytes pieces[] = {{"abc", 3}, {NULL, 0}, {"defg", 4}};
  for (leat_file_promise p = LEAT_FILE_ATOMIC; p <= LEAT_FILE_DURABLE; p++)
    CHECK_EQ_INT(leat_file_write(path, pieces, 3, p, &error), LEAT_OK);
  CHECK_EQ_INT(leat_file_read(path, 7, &data, &size, &error), LEAT_OK);
  CHECK_EQ_INT(size, 7);
  CHECK_EQ_STR(data, "abcdefg");
  free(data);
  CHECK_EQ_STR(error.message, "");
  CHECK_EQ_INT(leat_file_read(path, 6, &data, &size, &error), LEAT_INVALID);
  CHECK(strstr(error.message, "more than 6 bytes") != NULL);
  CHECK_EQ_INT(scratch_count("deep/er"), 1); // nothing was left aside
  leat_file_view view;
  CHECK_EQ_INT(leat_file_view_open(&view, path, NULL), LEAT_OK);
  CHECK(view.size == 7 && memcmp(view.data, "abcdefg", 7) == 0);
  leat_file_view_close(&view);
}

TEST(views_stay_as_they_were) {
  char path[SCRATCH_PATH];
  leat_error error = {0};
  leat_file_view view;
  scratch_path(path, "view");
  CHECK_EQ_INT(leat_file_write(path, &(leat_bytes){"before", 6}, 1, LEAT_FILE_ATOMIC, NULL), 0);
  CHECK_EQ_INT(leat_file_view_open(&view, path, &error), LEAT_OK);
  int fd = open(path, O_WRONLY | O_TRUNC);
  CHECK(view.size == 6 && memcmp(view.data, "before", 6) == 0);
  CHECK_EQ_INT(write(fd, "after it", 8), 8);
  CHECK(view.size == 6 && memcmp(view.data, "before", 6) == 0);
  CHECK_EQ_INT((uintptr_t)view.data % 64, 0);
  leat_file_view_close(&view);
  close(fd);
}

static mode_t mode_of(const char *path) {
  struct stat info = {0};
  CHECK_EQ_INT(lstat(path, &info), 0);
  return info.st_mode & 07777;
}

TEST(private_files_are_nobody_elses) {
  char path[SCRATCH_PATH];
  scratch_path(path, "private");
  mode_t before = umask(0);
  CHECK_EQ_INT(leat_file_write(path, NULL, 0, LEAT_FILE_ATOMIC, NULL), LEAT_OK);
  CHECK_EQ_INT(mode_of(path), 0666);
  CHECK_EQ_INT(leat_file_write(path, NULL, 0, LEAT_FILE_PRIVATE, NULL), LEAT_OK);
  CHECK_EQ_INT(mode_of(path), 0600);
  umask(before);
}

// The message, or "" when the folder is trusted; `path` is below the scratch directory.
static const char *why_not_trusted(const char *path) {
  static leat_error error;
  char whole[SCRATCH_PATH], *real;
  error = (leat_error){0};
  scratch_path(whole, path);
  leat_status status = leat_trusted_folder(whole, &real, &error);
  CHECK(!status == !*error.message && !status == !!real);
  if (real) CHECK(*real == '/' && !strstr(real, "//") && !strstr(real, "link"));
  free(real);
  return error.message;
}

static void set_mode(const char *path, mode_t mode) {
  char whole[SCRATCH_PATH];
  scratch_path(whole, path);
  CHECK_EQ_INT(chmod(whole, mode), 0);
}

TEST(folders_that_cannot_be_made_are_named) {
  char *real;
  leat_error error = {0};
  CHECK(leat_trusted_folder("/proc/none/below/", &real, &error) != LEAT_OK);
  CHECK_EQ_STR(error.message, "cannot make the folder '/proc/none': No such file or directory");
}

TEST(folders_that_others_can_change_are_not_trusted) {
  char path[SCRATCH_PATH], to[SCRATCH_PATH];
  mode_t before = umask(0);
  CHECK_EQ_STR(why_not_trusted("trust/a/b//"), ""); // made
  scratch_path(path, "trust/a/b");
  CHECK_EQ_INT(mode_of(path), 0700);
  umask(before);
  CHECK_EQ_STR(why_not_trusted("trust/a/b/../../new"), "");
  static const struct {
    const char *folder;
    mode_t mode;
    bool trusted;
  } cases[] = {
      {"trust/a/b", 0755, true},   {"trust/a/b", 0775, false}, {"trust/a/b", 0757, false},
      {"trust/a", 0755, true},     {"trust/a", 0770, false},   {"trust/a", 0703, false},
      {"trust/a/b", 01777, false}, // others could put anything into it,
      {"trust/a", 01777, true},    // but cannot move what is not theirs
  };
  scratch_path(to, "trust/a/b");
  scratch_path(path, "trust-link");
  CHECK_EQ_INT(symlink(to, path), 0);
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    set_mode(cases[i].folder, cases[i].mode);
    const char *names[] = {"trust/a/b", "trust-link", "trust/new/../a/b"};
    for (int n = 0; n < 3; n++) {
      const char *why = why_not_trusted(names[n]);
      CHECK_EQ_INT(!*why, cases[i].trusted);
      scratch_path(path, cases[i].folder);
      if (*why) CHECK(strstr(why, "others may write to '") && strstr(why, strrchr(path, '/')));
    }
    set_mode(cases[i].folder, 0755);
  }
  set_mode("trust/a", 0777); // and nothing is made in it
  CHECK(*why_not_trusted("trust/a/c/d"));
  set_mode("trust/a", 0755);
  scratch_path(path, "trust/a/c");
  CHECK(access(path, F_OK) != 0);
}

TEST(folders_of_other_users_are_not_trusted) {
  char path[SCRATCH_PATH];
  CHECK_EQ_STR(why_not_trusted("owned/inner"), "");
  scratch_path(path, "owned");
  if (chown(path, 12345, (gid_t)-1)) CHECK_SKIP("only root can give a folder away");
  CHECK(strstr(why_not_trusted("owned/inner"), "owned' belongs to another user (12345)"));
  CHECK_EQ_INT(chown(path, 0, (gid_t)-1), 0);
  scratch_path(path, "owned/inner");
  CHECK_EQ_INT(chown(path, 12345, (gid_t)-1), 0);
  CHECK(strstr(why_not_trusted("owned/inner"), "owned/inner' belongs to another user (12345)"));
}

static const char *why_no_file(const char *name) {
  static leat_error error;
  char path[SCRATCH_PATH];
  scratch_path(path, name);
  error = (leat_error){0};
  leat_status status = leat_trusted_file(path, &error);
  CHECK_EQ_INT(status == LEAT_OK, !error.message[0]);
  return error.message;
}

TEST(files_that_others_can_change_are_not_trusted) {
  char path[SCRATCH_PATH], link[SCRATCH_PATH];
  CHECK_EQ_STR(why_not_trusted("files/open"), "");
  CHECK_EQ_STR(why_not_trusted("files/closed"), "");
  scratch_path(path, "files/open/it");
  scratch_path(link, "files/closed/it");
  CHECK_EQ_INT(leat_file_write(path, NULL, 0, LEAT_FILE_ATOMIC, NULL), LEAT_OK);
  CHECK_EQ_INT(symlink(path, link), 0);
  set_mode("files/open/it", 0644);
  CHECK_EQ_STR(why_no_file("files/open/it"), "");
  CHECK_EQ_STR(why_no_file("files/closed/it"), "");
  set_mode("files/open", 0777); // where it is, and where a link to it leads
  CHECK(strstr(why_no_file("files/open/it"), "others may write to '"));
  CHECK(strstr(why_no_file("files/closed/it"), "others may write to '"));
  set_mode("files/open", 0755);
  set_mode("files/closed", 01777); // nobody moves the link, but others could make it anew
  CHECK(strstr(why_no_file("files/closed/it"), "others may write to '"));
  set_mode("files/closed", 0755);
  set_mode("files/open/it", 0664);
  CHECK(strstr(why_no_file("files/open/it"), "/it', or it is another user's"));
  CHECK(*why_no_file("files/none"));
}

TEST(control_characters_are_masked) {
  static const struct {
    const char *text, *shown;
  } cases[] = {
      {"plain \t\n", "plain \t\n"},
      {"\x1b[31m\a\r\x7f", "?[31m???"},
      {"gr\xc3\xb6\xc3\x9f"
       "e \xe2\x86\x92 \xf0\x9f\x98\x80",
       "gr\xc3\xb6\xc3\x9f"
       "e \xe2\x86\x92 \xf0\x9f\x98\x80"},
      {"\xc2\x80\xc2\x9b\xc2\x9f|\xc2\xa0", "??????|\xc2\xa0"}, // those of 8 bits
      {"\x9b"
       "31m \xc3",
       "?31m ?"}, // and what is no UTF-8
      {"\xe2\x80\xae\xe2\x81\xa6\xd8\x9c\xe2\x80\xa6", "????????\xe2\x80\xa6"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    leat_error error = {0};
    leat_fail(&error, LEAT_INVALID, "%s", cases[i].text); // all errors pass through it
    CHECK_EQ_STR(error.message, cases[i].shown);
    char text[64];
    snprintf(text, sizeof text, "%s", cases[i].text);
    leat_mask_controls_n(text, 1);
    CHECK_EQ_STR(text + 1, cases[i].text + 1);
  }
}

TEST(what_is_no_folder_is_not_trusted) {
  char path[SCRATCH_PATH], *real;
  scratch_path(path, "no-folder");
  CHECK_EQ_INT(leat_file_write(path, NULL, 0, LEAT_FILE_ATOMIC, NULL), LEAT_OK);
  CHECK_EQ_INT(leat_trusted_folder(path, &real, NULL), LEAT_IO);
  scratch_path(path, "no-folder/below");
  CHECK_EQ_INT(leat_trusted_folder(path, &real, NULL), LEAT_IO);
  scratch_path(path, "dangling");
  CHECK_EQ_INT(symlink("nowhere/at/all", path), 0);
  CHECK_EQ_INT(leat_trusted_folder(path, &real, NULL), LEAT_NOT_FOUND);
  CHECK_EQ_INT(leat_trusted_folder("", &real, NULL), LEAT_NOT_FOUND);
}

// A temporary folder with a file in it; *path is its own.
static leat_temporary *temporary_with_a_file(char path[SCRATCH_PATH]) {
  leat_temporary *folder = NULL;
  leat_error error = {0};
  char inside[2 * SCRATCH_PATH];
  if (leat_temporary_make(&folder, &error)) CHECK_FAILED("%s", error.message);
  snprintf(path, SCRATCH_PATH, "%s", leat_temporary_path(folder));
  snprintf(inside, sizeof inside, "%s/file", path);
  CHECK_EQ_INT(leat_file_write(inside, NULL, 0, LEAT_FILE_ATOMIC, NULL), LEAT_OK);
  CHECK_EQ_INT(mode_of(path), 0700);
  return folder;
}

TEST(temporary_folders_go_with_what_is_in_them) {
  enum { SEVERAL = 40 };
  char parent[SCRATCH_PATH], first[SCRATCH_PATH], paths[SEVERAL][SCRATCH_PATH];
  scratch_path(parent, "moment");
  CHECK_EQ_INT(mkdir(parent, 0777), 0);
  const char *given = getenv("TMPDIR");
  char *before = given ? strdup(given) : NULL;
  setenv("TMPDIR", parent, 1);
  for (int round = 0; round < 3; round++) { // more than there are places in the table
    leat_temporary *folder = temporary_with_a_file(first);
    for (int i = 0; i < SEVERAL; i++) temporary_with_a_file(paths[i]);
    CHECK_EQ_INT(scratch_count("moment"), SEVERAL + 1);
    leat_temporary_remove(folder);
    CHECK(access(first, F_OK) && !access(paths[0], F_OK));
    leat_temporary_remove_all();
    CHECK_EQ_INT(scratch_count("moment"), 0);
  }
  leat_temporary_remove(NULL);
  leat_temporary *none;
  leat_error error = {0};
  scratch_path(parent, "moment/nowhere");
  setenv("TMPDIR", parent, 1);
  CHECK_EQ_INT(leat_temporary_make(&none, &error), LEAT_IO);
  CHECK(!none && strstr(error.message, "nowhere/leat-temporary-XXXXXX: No such file"));
  if (before)
    setenv("TMPDIR", before, 1);
  else
    unsetenv("TMPDIR");
  free(before);
}

TEST(files_that_cannot_be_used_say_why) {
  leat_error error = {0};
  leat_file_view view;
  char path[SCRATCH_PATH], *data;
  size_t size;
  scratch_path(path, "absent");
  CHECK_EQ_INT(leat_file_view_open(&view, path, &error), LEAT_NOT_FOUND);
  CHECK(strstr(error.message, "absent': No such file") != NULL);
  CHECK_EQ_INT(leat_file_read(path, 100, &data, &size, NULL), LEAT_NOT_FOUND);
  scratch_path(path, "");
  CHECK_EQ_INT(leat_file_view_open(&view, path, NULL), LEAT_IO);
  CHECK_EQ_INT(leat_file_write(path, NULL, 0, LEAT_FILE_ATOMIC, NULL), LEAT_IO);
  CHECK_EQ_INT(leat_file_read("/dev/zero", 1000, &data, &size, NULL), LEAT_IO);
  CHECK_EQ_INT(leat_file_write("/dev/full", &(leat_bytes){"x", 1}, 1, LEAT_FILE_ATOMIC, NULL),
               LEAT_IO);
}

// Sets standard input, for as long as it is used.
static int swap_input(int fd) {
  int before = dup(0);
  dup2(fd, 0);
  close(fd);
  return before;
}

TEST(pipes_are_read_where_they_were_given_open) {
  leat_error error = {0}, unread = {0}, endless = {0};
  leat_file_view view;
  char path[SCRATCH_PATH], *data;
  size_t size;
  int ends[2];
  scratch_path(path, "pipe");
  CHECK(mkfifo(path, 0600) == 0);
  CHECK_EQ_INT(leat_file_read(path, 100, &data, &size, &error), LEAT_IO);
  CHECK(strstr(error.message, "is a pipe") != NULL);
  CHECK_EQ_INT(leat_file_view_open(&view, path, NULL), LEAT_IO);
  CHECK_EQ_INT(leat_file_check_regular("/dev/null", NULL), LEAT_IO);
  CHECK_EQ_INT(leat_file_write(path, &(leat_bytes){"x", 1}, 1, LEAT_FILE_ATOMIC, &unread), LEAT_IO);
  CHECK(strstr(unread.message, "nobody reads") != NULL);
  CHECK(pipe(ends) == 0 && write(ends[1], "abc", 3) == 3 && close(ends[1]) == 0);
  int before = swap_input(ends[0]);
  CHECK_EQ_INT(leat_file_view_open(&view, "/dev/stdin", NULL), LEAT_OK);
  CHECK(view.size == 3 && memcmp(view.data, "abc", 3) == 0);
  leat_file_view_close(&view);
  close(swap_input(open("/dev/zero", O_RDONLY)));
  CHECK_EQ_INT(leat_file_read("/dev/stdin", 1000, &data, &size, &endless), LEAT_INVALID);
  CHECK(strstr(endless.message, "more than 1000 bytes") != NULL);
  close(swap_input(before));
}

CHECK_MAIN("base")
