// Compiled code outside the compiler: the loader, which must refuse what is damaged (run this under
// the sanitizers), the data of ahead-of-time objects, and the disk cache.
#include "base/file.h"
#include "leat/artifact.h"
#include "runtime/object_load.h"
#include "session/object_cache.h"
#include "tests/unit/check.h"
#include "tests/unit/generators.h"
#include "tests/unit/scratch.h"

#include <elf.h>
#include <pthread.h>
#include <unistd.h>
#include <utime.h>

// An object with one kernel, b[tile] = floor(tile / 3.0) on a CPU that calls a function for that,
// and some data.
static leat_object make_object(leat_codegen_compile compile, bool with_table) {
  static const char bytes[] = "leat\0\xff";
  static const char *const targets[] = {"test_kernel", "test_data"};
  leat_object object = {0};
  leat_error error = {0};
  leat_arena *arena = leat_arena_create();
  k_builder b;
  k_begin(&b, arena, "test");
  const k_buffer *out = k_argument(&b, LEAT_f64);
  k_value x = k_binary(&b, K_DIV, k_cast(&b, LEAT_f64, k_tile(&b)), k_float(&b, LEAT_f64, 1, 3));
  k_store(&b, out, k_tile(&b), k_unary(&b, K_FLOOR, x), NULL);
  const leat_kernel *kernel = k_finish(&b);
  const char *symbol = "test_kernel";
  leat_object_data data = {"test_data", bytes, sizeof bytes};
  leat_object_pointers pointers = {"test_table", targets, 2};
  leat_codegen_request request = {.kernels = &kernel, .symbols = &symbol, .kernel_count = 1};
  request.target = target_of(LEAT_CPU_BASELINE);
  request.data = &data;
  request.data_count = 1;
  request.pointers = &pointers;
  request.pointers_count = with_table;
  if (compile(&request, &object, &error)) CHECK_FAILED("%s", error.message);
  leat_arena_destroy(arena);
  return object;
}

static void try_to_load(const void *data, size_t size) {
  leat_loaded_object *loaded = NULL;
  leat_error error = {0};
  void *copy = malloc(size + 1); // of its exact size for the sanitizer
  memcpy(copy, data, size);
  leat_status status = leat_object_load(copy, size, &loaded, &error);
  CHECK((status == LEAT_OK) == (loaded != NULL));
  CHECK((status == LEAT_OK) == (error.message[0] == '\0'));
  leat_object_unload(loaded);
  free(copy);
}

// What the process may do with the page at an address, as /proc/self/maps says it: "r-xp".
static const char *rights_of(const void *address) {
  static char rights[5];
  unsigned long begin, end, at = (unsigned long)(uintptr_t)address;
  char line[512];
  FILE *maps = fopen("/proc/self/maps", "r");
  rights[0] = '\0';
  while (maps && fgets(line, sizeof line, maps))
    if (sscanf(line, "%lx-%lx %4s", &begin, &end, rights) == 3 && begin <= at && at < end) break;
  if (maps) fclose(maps);
  return rights;
}

TEST(loader_runs_code_and_refuses_writable_data) {
  leat_codegen_compile compile = any_generator();
  leat_loaded_object *loaded;
  leat_error error = {0};
  if (!compile) CHECK_SKIP("there is no code generator");
  leat_object object = make_object(compile, false);
  CHECK_EQ_INT(leat_object_load(object.data, object.size, &loaded, &error), LEAT_OK);
  CHECK_EQ_STR(error.message, "");
  leat_object_finish(&object);
  void *address = leat_object_symbol(loaded, "test_kernel");
  leat_kernel_function run = (leat_kernel_function)(uintptr_t)address;
  double out[8];
  leat_arg args[] = {{.pointer = out}};
  CHECK_EQ_INT(run(NULL, args, 0, 8), 0);
  for (int i = 0; i < 8; i++) CHECK_EQ_INT(out[i], i / 3);
  CHECK(memcmp(leat_object_symbol(loaded, "test_data"), "leat\0\xff", 6) == 0);
  CHECK_EQ_STR(rights_of(address), "r-xp");
  CHECK_EQ_STR(rights_of(leat_object_symbol(loaded, "test_data")), "r--p");
  CHECK(!leat_object_symbol(loaded, "other"));
  leat_object_unload(loaded);
  object = make_object(compile, true); // addresses in a table are for a linker to fill in
  CHECK_EQ_INT(leat_object_load(object.data, object.size, &loaded, &error), LEAT_INVALID);
  CHECK(strstr(error.message, "is writable"));
  leat_object_finish(&object);
}

TEST(loader_survives_damage) {
  leat_codegen_compile compile = any_generator();
  if (!compile) CHECK_SKIP("there is no code generator");
  leat_object object = make_object(compile, false);
  unsigned char *bytes = object.data;
  for (size_t size = 0; size < object.size; size += 1 + size / 64) try_to_load(bytes, size);
  for (size_t i = 0; i < object.size; i++) {
    static const unsigned char flips[] = {0x01, 0x80, 0xff};
    for (int f = 0; f < 3; f++) {
      bytes[i] ^= flips[f];
      try_to_load(bytes, object.size);
      bytes[i] ^= flips[f];
    }
  }
  leat_object_finish(&object);
}

TEST(loader_names_what_is_missing) {
  leat_loaded_object *loaded;
  leat_error error = {0};
  static const _Alignas(8) char text[64] = "not an object";
  CHECK_EQ_INT(leat_object_load(text, sizeof text, &loaded, &error), LEAT_INVALID);
  CHECK_EQ_STR(error.message, "object code: not an ELF file");
  leat_object_unload(NULL);
}

// -- The cache -----------------------------------------------------------------------------------

static void check_cached(leat_object_cache *cache, const char *key, const char *wanted) {
  void *data = NULL;
  size_t size = 0;
  bool found = leat_object_cache_get(cache, key, strlen(key), &data, &size);
  CHECK_EQ_INT(found, wanted != NULL);
  if (found && wanted) CHECK_EQ_STR((const char *)data, wanted);
  if (found) free(data);
}

static void keep(leat_object_cache *cache, const char *key, const char *value) {
  leat_object_cache_put(cache, key, strlen(key), value, strlen(value) + 1);
}

TEST(cache_keeps_and_replaces) {
  char path[SCRATCH_PATH];
  leat_object_cache *cache;
  scratch_path(path, "cache/below");
  CHECK_EQ_INT(leat_object_cache_open(path, &cache, NULL), LEAT_OK);
  check_cached(cache, "a", NULL);
  keep(cache, "a", "one");
  keep(cache, "b", "two");
  check_cached(cache, "a", "one");
  check_cached(cache, "b", "two");
  keep(cache, "a", "three");
  check_cached(cache, "a", "three");
  leat_object_cache_close(cache);
  CHECK_EQ_INT(leat_object_cache_open(path, &cache, NULL), LEAT_OK); // another session, or process
  check_cached(cache, "a", "three");
  leat_object_cache_close(cache);
  CHECK_EQ_INT(scratch_count("cache/below"), 2);
}

TEST(cache_off_keeps_nothing) {
  leat_object_cache *cache;
  CHECK_EQ_INT(leat_object_cache_open("off", &cache, NULL), LEAT_OK);
  CHECK(!cache);
  keep(cache, "a", "one");
  check_cached(cache, "a", NULL);
  leat_object_cache_close(cache);
}

// Calls `change` on each file of the folder.
static void for_each_file(const char *folder, void (*change)(const char *path)) {
  char path[2 * SCRATCH_PATH];
  DIR *stream = opendir(folder);
  for (struct dirent *entry; stream && (entry = readdir(stream));) {
    if (entry->d_name[0] == '.') continue;
    snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
    change(path);
  }
  if (stream) closedir(stream);
}

static long damaged_byte;

static void damage(const char *path) {
  FILE *file = fopen(path, "r+b");
  fseek(file, damaged_byte, SEEK_SET);
  int c = fgetc(file);
  fseek(file, damaged_byte, SEEK_SET);
  fputc(c ^ 0x10, file);
  fclose(file);
}

static void cut(const char *path) {
  CHECK_EQ_INT(truncate(path, damaged_byte), 0);
}

// Whose other end nobody opens.
static void become_a_pipe(const char *path) {
  CHECK(unlink(path) == 0 && mkfifo(path, 0600) == 0);
}

TEST(cache_ignores_damaged_files) {
  char path[SCRATCH_PATH];
  leat_object_cache *cache;
  scratch_path(path, "damaged");
  CHECK_EQ_INT(leat_object_cache_open(path, &cache, NULL), LEAT_OK);
  for (damaged_byte = 0; damaged_byte < 68; damaged_byte++) {
    bool reserved = damaged_byte >= 48 && damaged_byte < 64;
    keep(cache, "a", "one");
    for_each_file(path, damage);
    check_cached(cache, "a", reserved ? "one" : NULL);
    keep(cache, "a", "one");
    for_each_file(path, cut);
    check_cached(cache, "a", NULL);
  }
  keep(cache, "a", "two");
  check_cached(cache, "a", "two");
  for_each_file(path, become_a_pipe);
  check_cached(cache, "a", NULL);
  keep(cache, "a", "two");
  leat_object_cache_close(cache);
}

static void open_to_all(const char *path) {
  CHECK_EQ_INT(chmod(path, 0666), 0);
}

static void give_away(const char *path) {
  CHECK_EQ_INT(chown(path, 12345, (gid_t)-1), 0);
}

static void replace_by_pipe(const char *path) {
  CHECK_EQ_INT(unlink(path), 0);
  CHECK_EQ_INT(mkfifo(path, 0600), 0);
}

static void replace_by_link(const char *path) {
  char other[SCRATCH_PATH];
  scratch_path(other, "moved");
  CHECK_EQ_INT(rename(path, other), 0);
  CHECK_EQ_INT(symlink(other, path), 0);
}

TEST(cache_ignores_files_that_others_may_have_written) {
  char path[SCRATCH_PATH];
  leat_object_cache *cache;
  scratch_path(path, "others");
  CHECK_EQ_INT(leat_object_cache_open(path, &cache, NULL), LEAT_OK);
  void (*changes[])(const char *) = {open_to_all, replace_by_link,
                                     geteuid() ? open_to_all : give_away};
  for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
    keep(cache, "a", "one");
    check_cached(cache, "a", "one");
    for_each_file(path, changes[i]);
    check_cached(cache, "a", NULL);
    for_each_file(path, (void (*)(const char *))(uintptr_t)unlink);
  }
  keep(cache, "a", "one");
  for_each_file(path, replace_by_pipe);
  check_cached(cache, "a", NULL); // and does not wait for a writer
  leat_object_cache_close(cache);
}

TEST(cache_that_others_may_change_is_none) {
  char path[SCRATCH_PATH];
  leat_object_cache *cache;
  leat_error error = {0};
  scratch_path(path, "open");
  CHECK_EQ_INT(mkdir(path, 0777) || chmod(path, 0777), 0);
  CHECK_EQ_INT(leat_object_cache_open(path, &cache, &error), LEAT_INVALID);
  CHECK(!cache && strstr(error.message, "no cache of compiled code is used, for others may write"));
}

static time_t made_at = 1000;

static void make_old(const char *path) {
  struct stat info;
  if (stat(path, &info) == 0 && info.st_mtime > 100000)
    utime(path, &(struct utimbuf){made_at, made_at}), made_at++;
}

TEST(cache_drops_the_longest_unused) {
  char path[SCRATCH_PATH], key[32];
  leat_object_cache *cache;
  static char bytes[100 << 10];
  scratch_path(path, "limited");
  setenv("LEAT_CACHE_LIMIT", "1", 1);
  CHECK_EQ_INT(leat_object_cache_open(path, &cache, NULL), LEAT_OK);
  unsetenv("LEAT_CACHE_LIMIT");
  char killed[2 * SCRATCH_PATH], other[2 * SCRATCH_PATH]; // of a put that was killed, of somebody
  snprintf(killed, sizeof killed, "%s/object-%032d.4711.0.tmp", path, 7);
  snprintf(other, sizeof other, "%s/object-%032d-kept", path, 7);
  for (int i = 0; i < 2; i++) {
    leat_bytes piece = {bytes, 1};
    const char *name = i ? other : killed;
    CHECK_EQ_INT(leat_file_write(name, &piece, 1, LEAT_FILE_ATOMIC, NULL), LEAT_OK);
    CHECK_EQ_INT(utime(name, &(struct utimbuf){1, 1}), 0);
  }
  for (int i = 0; i < 12; i++) { // 1.2 MB
    snprintf(key, sizeof key, "key %d", i);
    if (i == 10) check_cached(cache, "key 0", ""); // used again, the others were not
    leat_object_cache_put(cache, key, strlen(key), bytes, sizeof bytes);
    if (i < 9) for_each_file(path, make_old);
  }
  CHECK(scratch_count("limited") <= 11);
  CHECK(access(killed, F_OK) && !access(other, F_OK));
  check_cached(cache, "key 0", "");
  check_cached(cache, "key 1", NULL);
  check_cached(cache, "key 11", "");
  leat_object_cache_close(cache);
}

// Small entries, each put by a cache of its own as processes do: seldom does one read the
// directory.
TEST(cache_stays_near_its_limit) {
  char path[SCRATCH_PATH], key[32];
  static char bytes[4 << 10];
  int most = 0;
  scratch_path(path, "small");
  for (int i = 0; i < 2000; i++) { // 8 MB
    leat_object_cache *cache;
    setenv("LEAT_CACHE_LIMIT", "1", 1);
    CHECK_EQ_INT(leat_object_cache_open(path, &cache, NULL), LEAT_OK);
    unsetenv("LEAT_CACHE_LIMIT");
    snprintf(key, sizeof key, "key %d", i);
    leat_object_cache_put(cache, key, strlen(key), bytes, sizeof bytes);
    leat_object_cache_close(cache);
    if (i % 50 == 0 && scratch_count("small") > most) most = scratch_count("small");
  }
  CHECK(most > 256 && most < 400); // of which 256 are the limit
}

static void *fill(void *context) {
  for (int i = 0; i < 200; i++) {
    char key[32];
    snprintf(key, sizeof key, "%d", i % 20);
    keep(context, key, key);
    check_cached(context, key, key);
  }
  return NULL;
}

TEST(cache_is_safe_with_several_writers) {
  char path[SCRATCH_PATH];
  leat_object_cache *caches[2];
  pthread_t threads[4];
  scratch_path(path, "shared");
  for (int i = 0; i < 2; i++) CHECK_EQ_INT(leat_object_cache_open(path, &caches[i], NULL), LEAT_OK);
  for (int i = 0; i < 4; i++) pthread_create(&threads[i], NULL, fill, caches[i % 2]);
  for (int i = 0; i < 4; i++) pthread_join(threads[i], NULL);
  for (int i = 0; i < 2; i++) leat_object_cache_close(caches[i]);
  CHECK_EQ_INT(scratch_count("shared"), 20);
}

CHECK_MAIN("object")
