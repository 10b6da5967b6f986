// Files that are replaced: what is kept of them, who may write at once, what a killed process
// leaves and what reaches the disk. The system calls that count are this program's own, which watch
// them and let them fail.
#include "base/file.h"
#include "base/safetensors.h"
#include "tests/unit/check.h"
#include "tests/unit/scratch.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

// -- System calls ---------------------------------------------------------------------------------

static char calls[1000]; // "fsync 4 rename fsync folder": with the sizes of the files
static const char *failing;

static void note(const char *call) {
  size_t used = strlen(calls);
  snprintf(calls + used, sizeof calls - used, "%s%s", used ? " " : "", call);
}

static bool fails(const char *call) {
  note(call);
  if (!failing || strcmp(failing, call) != 0) return false;
  errno = EIO;
  return true;
}

int fsync(int fd) {
  struct stat info;
  char call[40] = "fsync folder";
  if (fstat(fd, &info) == 0 && S_ISREG(info.st_mode))
    snprintf(call, sizeof call, "fsync %d", (int)info.st_size);
  return fails(call) ? -1 : (int)syscall(SYS_fsync, fd);
}

int rename(const char *from, const char *to) {
  return fails("rename") ? -1 : (int)syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0);
}

static void (*before_reading)(void); // once

ssize_t read(int fd, void *to, size_t size) {
  void (*before)(void) = before_reading;
  before_reading = NULL;
  if (before) before();
  return (ssize_t)syscall(SYS_read, fd, to, size);
}

static leat_status write_text(const char *path, const char *text, leat_file_promise promise,
                              leat_error *error) {
  *calls = '\0';
  if (error) *error = (leat_error){0};
  return leat_file_write(path, &(leat_bytes){text, strlen(text)}, 1, promise, error);
}

static void check_content(const char *path, const char *expected) {
  char *data = NULL;
  size_t size;
  CHECK_EQ_INT(leat_file_read(path, 1000000, &data, &size, NULL), LEAT_OK);
  CHECK_EQ_STR(data ? data : "nothing", expected);
  free(data);
}

static void make_folder(char path[SCRATCH_PATH], const char *name) {
  scratch_path(path, name);
  CHECK_EQ_INT(mkdir(path, 0777), 0);
}

static void in_folder(char path[SCRATCH_PATH], const char *folder, const char *name) {
  char both[100];
  snprintf(both, sizeof both, "%s/%s", folder, name);
  scratch_path(path, both);
}

// -- What reaches the disk ------------------------------------------------------------------------

TEST(the_data_is_on_the_disk_before_the_name_and_then_the_name_is) {
  char path[SCRATCH_PATH];
  make_folder(path, "disk");
  in_folder(path, "disk", "f");
  CHECK_EQ_INT(write_text(path, "four", LEAT_FILE_DURABLE, NULL), LEAT_OK);
  CHECK_EQ_STR(calls, "fsync 4 rename fsync folder");
  CHECK_EQ_INT(write_text(path, "three", LEAT_FILE_ATOMIC, NULL), LEAT_OK);
  CHECK_EQ_STR(calls, "rename");
  CHECK_EQ_INT(leat_file_claim(path, NULL), LEAT_OK);
  CHECK_EQ_INT(write_text(path, "claimed", LEAT_FILE_DURABLE, NULL), LEAT_OK);
  CHECK_EQ_STR(calls, "fsync 7 rename fsync folder");
  leat_file_unclaim(path);
  static const int64_t number[] = {5};
  leat_named_tensor tensor = {"n", {LEAT_i64, 0, {0}, (void *)number}};
  *calls = '\0';
  CHECK_EQ_INT(leat_safetensors_write(path, &tensor, 1, NULL, 0, NULL), LEAT_OK);
  char *end = strstr(calls, " rename fsync folder"); // behind the size of the file
  CHECK(strncmp(calls, "fsync ", 6) == 0 && end &&
        strspn(calls + 6, "0123456789") + calls + 6 == end);
}

TEST(a_call_that_fails_leaves_the_old_file_and_nothing_else) {
  char path[SCRATCH_PATH];
  leat_error error;
  make_folder(path, "failing");
  in_folder(path, "failing", "f");
  CHECK_EQ_INT(write_text(path, "old", LEAT_FILE_DURABLE, NULL), LEAT_OK);
  for (int claimed = 0; claimed < 2; claimed++) {
    if (claimed) CHECK_EQ_INT(leat_file_claim(path, NULL), LEAT_OK);
    for (int i = 0; i < 2; i++) {
      failing = i ? "fsync 3" : "rename";
      CHECK_EQ_INT(write_text(path, "new", LEAT_FILE_DURABLE, &error), LEAT_IO);
      CHECK(strstr(error.message, "cannot write '") && strstr(error.message, strerror(EIO)));
      check_content(path, "old");
      CHECK_EQ_INT(scratch_count("failing"), 1 + claimed);
    }
  }
  failing = "fsync folder"; // the new file is there, but perhaps not after a power cut
  CHECK_EQ_INT(write_text(path, "new", LEAT_FILE_DURABLE, &error), LEAT_IO);
  CHECK(strstr(error.message, "cannot sync '"));
  failing = NULL;
  check_content(path, "new");
  CHECK_EQ_INT(write_text(path, "newer", LEAT_FILE_DURABLE, NULL), LEAT_OK);
  check_content(path, "newer");
  leat_file_unclaim(path);
  CHECK_EQ_INT(scratch_count("failing"), 1);
}

// -- What is read ---------------------------------------------------------------------------------

static char changing[SCRATCH_PATH];

static void write_in_place(int flags, const char *text) {
  int fd = open(changing, O_WRONLY | flags);
  CHECK_EQ_INT(write(fd, text, strlen(text)), strlen(text));
  CHECK_EQ_INT(futimens(fd, (struct timespec[]){{1, 0}, {1, 0}}), 0); // seen within a tick, too
  close(fd);
}

static void cut(void) {
  write_in_place(O_TRUNC, "cu");
}
static void lengthen(void) {
  write_in_place(O_APPEND, "more");
}
static void rewrite(void) {
  write_in_place(0, "other");
}

static void make_large(const char *path) { // of holes
  int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0666);
  CHECK(fd >= 0 && ftruncate(fd, LEAT_FILE_MAPPED_FROM) == 0 && close(fd) == 0);
}

TEST(a_large_file_is_mapped_and_what_changes_it_is_found_out) {
  leat_file_view view;
  leat_error error = {0};
  scratch_path(changing, "large");
  make_large(changing);
  CHECK_EQ_INT(leat_file_view_open(&view, changing, NULL), LEAT_OK);
  CHECK(!view.mapped);
  leat_file_view_close(&view);
  CHECK_EQ_INT(leat_file_view_map(&view, changing, NULL), LEAT_OK);
  CHECK(view.mapped && view.size == LEAT_FILE_MAPPED_FROM && view.data[view.size - 1] == 0);
  leat_file_drop(view.data + 1, view.size - 1);
  CHECK_EQ_INT(leat_file_view_check(&view, changing, NULL), LEAT_OK);
  CHECK_EQ_INT(write_text(changing, "replaced", LEAT_FILE_ATOMIC, NULL), LEAT_OK);
  CHECK_EQ_INT(leat_file_view_check(&view, changing, NULL), LEAT_OK); // it is as it was
  CHECK(view.data[view.size - 1] == 0);
  leat_file_view_close(&view);
  make_large(changing);
  CHECK_EQ_INT(leat_file_view_map(&view, changing, NULL), LEAT_OK);
  cut();
  CHECK_EQ_INT(leat_file_view_check(&view, changing, &error), LEAT_IO);
  CHECK(strstr(error.message, "large' has changed since it was opened") != NULL);
  leat_file_view_close(&view);
}

TEST(a_file_that_changes_while_it_is_read_is_an_error) {
  void (*const changes[])(void) = {cut, lengthen, rewrite};
  leat_file_view view;
  scratch_path(changing, "changing");
  for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
    leat_error error = {0};
    CHECK_EQ_INT(write_text(changing, "whole", LEAT_FILE_ATOMIC, NULL), LEAT_OK);
    before_reading = changes[i];
    CHECK_EQ_INT(leat_file_view_open(&view, changing, &error), LEAT_IO);
    CHECK(strstr(error.message, "changing': it changes while it is read") != NULL);
  }
  CHECK_EQ_INT(leat_file_view_open(&view, changing, NULL), LEAT_OK);
  leat_file_view_close(&view);
}

// -- What is kept ---------------------------------------------------------------------------------

static struct stat info_of(const char *path) {
  struct stat info = {0};
  CHECK_EQ_INT(lstat(path, &info), 0);
  return info;
}

TEST(mode_and_owner_stay) {
  static const mode_t modes[] = {0600, 0640, 0666, 0751};
  char path[SCRATCH_PATH];
  scratch_path(path, "kept");
  mode_t before = umask(022);
  CHECK_EQ_INT(write_text(path, "1", LEAT_FILE_DURABLE, NULL), LEAT_OK);
  CHECK_EQ_INT(info_of(path).st_mode & 07777, 0644);
  for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
    CHECK_EQ_INT(chmod(path, modes[i]), 0);
    CHECK_EQ_INT(write_text(path, "2", i % 2 ? LEAT_FILE_ATOMIC : LEAT_FILE_DURABLE, NULL),
                 LEAT_OK);
    CHECK_EQ_INT(info_of(path).st_mode & 07777, modes[i]);
  }
  CHECK_EQ_INT(chmod(path, 0644), 0);
  if (geteuid() == 0) {
    CHECK_EQ_INT(chown(path, 12345, 23456), 0);
    CHECK_EQ_INT(write_text(path, "3", LEAT_FILE_DURABLE, NULL), LEAT_OK);
    CHECK_EQ_INT(info_of(path).st_uid, 12345);
    CHECK_EQ_INT(info_of(path).st_gid, 23456);
  }
  CHECK_EQ_INT(unlink(path), 0);
  CHECK_EQ_INT(leat_file_claim(path, NULL), LEAT_OK);
  CHECK_EQ_INT(write_text(path, "4", LEAT_FILE_DURABLE, NULL), LEAT_OK);
  CHECK_EQ_INT(info_of(path).st_mode & 07777, 0644);
  leat_file_unclaim(path);
  umask(before);
}

TEST(links_are_followed_wherever_they_lead) {
  char folder[SCRATCH_PATH], link[SCRATCH_PATH], path[SCRATCH_PATH];
  leat_error error;
  make_folder(folder, "links");
  make_folder(path, "links/below");
  in_folder(link, "links", "first");
  CHECK_EQ_INT(symlink("below/second", link), 0);
  in_folder(link, "links/below", "second");
  CHECK_EQ_INT(symlink("../file", link), 0);
  in_folder(link, "links", "first");
  in_folder(path, "links", "file");
  CHECK_EQ_INT(write_text(link, "dangling", LEAT_FILE_DURABLE, NULL), LEAT_OK);
  check_content(path, "dangling");
  CHECK_EQ_INT(write_text(link, "there", LEAT_FILE_DURABLE, NULL), LEAT_OK);
  check_content(path, "there");
  CHECK(S_ISREG(info_of(path).st_mode) && S_ISLNK(info_of(link).st_mode));
  CHECK_EQ_INT(unlink(link), 0);
  CHECK_EQ_INT(symlink(path, link), 0);
  CHECK_EQ_INT(leat_file_claim(link, NULL), LEAT_OK);
  CHECK_EQ_INT(write_text(path, "absolute, claimed", LEAT_FILE_DURABLE, NULL), LEAT_OK);
  leat_file_unclaim(link);
  check_content(link, "absolute, claimed");
  in_folder(link, "links", "loop");
  CHECK_EQ_INT(symlink("loop", link), 0);
  CHECK_EQ_INT(write_text(link, "", LEAT_FILE_DURABLE, &error), LEAT_IO);
  CHECK(strstr(error.message, strerror(ELOOP)) != NULL);
  CHECK_EQ_INT(scratch_count("links"), 4);
}

// -- Several processes ----------------------------------------------------------------------------

// Runs `work` in a process of its own; *out_ready can be read when it calls its argument.
static pid_t begin(void (*work)(const char *path, int ready), const char *path, int *out_ready) {
  int ends[2];
  CHECK_EQ_INT(pipe(ends), 0);
  pid_t child = fork();
  if (child == 0) {
    close(ends[0]);
    work(path, ends[1]);
    _exit(0);
  }
  close(ends[1]);
  *out_ready = ends[0];
  return child;
}

static void wait_for(int ready) {
  char byte;
  CHECK_EQ_INT(read(ready, &byte, 1), 1);
}

static void end(pid_t child, int ready) {
  kill(child, SIGKILL);
  waitpid(child, NULL, 0);
  close(ready);
}

static void hold(const char *path, int ready) {
  if (leat_file_claim(path, NULL) || write(ready, "", 1) != 1) _exit(1);
  for (;;) pause();
}

TEST(two_that_save_to_one_path_are_told) {
  char path[SCRATCH_PATH], other[SCRATCH_PATH];
  leat_error error = {0};
  int ready;
  make_folder(path, "two");
  in_folder(path, "two", "f");
  in_folder(other, "two", "g");
  pid_t child = begin(hold, path, &ready);
  wait_for(ready);
  CHECK_EQ_INT(leat_file_claim(path, &error), LEAT_IO);
  CHECK(strstr(error.message, "another process is going to; it holds '") != NULL);
  CHECK_EQ_INT(write_text(path, "mine", LEAT_FILE_DURABLE, &error), LEAT_IO);
  CHECK(strstr(error.message, "another process is going to") != NULL);
  CHECK_EQ_INT(scratch_count("two"), 1); // what it holds is not taken away
  CHECK_EQ_INT(write_text(path, "quick", LEAT_FILE_ATOMIC, NULL), LEAT_OK);
  CHECK_EQ_INT(leat_file_check_writable(path, NULL), LEAT_OK);
  CHECK_EQ_INT(leat_file_claim(other, NULL), LEAT_OK);
  leat_file_unclaim(other);
  CHECK_EQ_INT(scratch_count("two"), 2);
  end(child, ready);
  CHECK_EQ_INT(leat_file_claim(path, NULL), LEAT_OK); // his death gives it up
  CHECK_EQ_INT(leat_file_claim(path, NULL), LEAT_IO); // nor is it claimed twice here
  leat_file_unclaim(path);
  CHECK_EQ_INT(scratch_count("two"), 1);
}

TEST(only_leftovers_are_removed) {
  char path[SCRATCH_PATH], aside[SCRATCH_PATH];
  leat_error error;
  make_folder(path, "others");
  in_folder(path, "others", "f");
  in_folder(aside, "others", "f.leat-tmp");
  CHECK_EQ_INT(symlink("/etc/passwd", aside), 0);
  CHECK_EQ_INT(write_text(path, "x", LEAT_FILE_DURABLE, &error), LEAT_IO);
  CHECK_EQ_INT(unlink(aside), 0);
  CHECK_EQ_INT(mkfifo(aside, 0666), 0);
  CHECK_EQ_INT(write_text(path, "x", LEAT_FILE_DURABLE, &error), LEAT_IO);
  CHECK_EQ_INT(unlink(aside), 0);
  int fd = open(aside, O_CREAT | O_WRONLY, 0600);
  CHECK_EQ_INT(flock(fd, LOCK_EX), 0);
  CHECK_EQ_INT(write_text(path, "x", LEAT_FILE_DURABLE, &error), LEAT_IO);
  close(fd);
  CHECK_EQ_INT(write_text(path, "x", LEAT_FILE_DURABLE, &error), LEAT_OK);
  CHECK_EQ_INT(scratch_count("others"), 1);
}

enum { FILE_SIZE = 200000 };

// Whole files of one letter, one after the other.
static void write_for_ever(const char *path, int ready) {
  static char text[FILE_SIZE];
  for (int i = 0;; i++) {
    memset(text, 'a' + i % 26, sizeof text);
    if (leat_file_write(path, &(leat_bytes){text, sizeof text}, 1, LEAT_FILE_DURABLE, NULL))
      _exit(1);
    if (i == 0 && write(ready, "", 1) != 1) _exit(1);
  }
}

static void check_whole(const char *path) {
  char *data = NULL;
  size_t size = 0;
  CHECK_EQ_INT(leat_file_read(path, FILE_SIZE, &data, &size, NULL), LEAT_OK);
  bool same = size == FILE_SIZE;
  for (size_t i = 1; i < size && same; i++) same = data[i] == *data;
  CHECK(same);
  free(data);
}

// $LEAT_KILLS processes are killed while they save.
TEST(whoever_is_killed_leaves_a_whole_file_and_at_most_one_other) {
  const char *wanted = getenv("LEAT_KILLS"), *seed = getenv("LEAT_TEST_SEED");
  int kills = wanted ? atoi(wanted) : 25, left = 0;
  char path[SCRATCH_PATH];
  make_folder(path, "killed");
  in_folder(path, "killed", "f");
  srand(seed ? (unsigned)strtoul(seed, NULL, 0) : 1);
  for (int i = 0; i < kills; i++) {
    int ready;
    pid_t child = begin(write_for_ever, path, &ready);
    wait_for(ready); // the leftovers of the one before are gone
    nanosleep(&(struct timespec){0, rand() % 3000000}, NULL);
    end(child, ready);
    check_whole(path);
    int files = scratch_count("killed");
    if (files > 2) CHECK_FAILED("kill %d: there are %d files", i, files);
    left += files == 2;
  }
  CHECK(left || kills < 100); // else none was killed at work
  CHECK_EQ_INT(write_text(path, "end", LEAT_FILE_DURABLE, NULL), LEAT_OK);
  CHECK_EQ_INT(scratch_count("killed"), 1);
  printf("%d of %d killed processes left a file\n", left, kills);
}

CHECK_MAIN("file_write")
