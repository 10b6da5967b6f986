// Host code through the system's C compiler: the text goes into a directory of its own under
// $TMPDIR, the compiler is spawned there, and the object is read back. Nothing is left behind.
#define _GNU_SOURCE
#include "targets/c/c.h"

#include "base/cpuid.h"
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef LEAT_INCLUDE_DIRS
#define LEAT_INCLUDE_DIRS "include"
#endif

enum { MOST_ARGUMENTS = 64, LARGEST_OBJECT = 1 << 30 };

extern char **environ;

static const char *compiler(void) {
  const char *cc = getenv("CC");
  return cc && *cc ? cc : "cc";
}

// The words of a command line, in a copy of it; quotes are not interpreted.
typedef struct command {
  leat_arena *arena;
  char *words[MOST_ARGUMENTS + 1]; // NULL at the end
  int count;
} command;

static void add_words(command *c, const char *text, const char *separators, const char *prefix) {
  while (*(text += strspn(text, separators)) && c->count < MOST_ARGUMENTS) {
    int length = (int)strcspn(text, separators);
    c->words[c->count++] = leat_arena_printf(c->arena, "%s%.*s", prefix, length, text);
    text += length;
  }
}

static void add_word(command *c, const char *word) {
  if (c->count < MOST_ARGUMENTS)
    c->words[c->count++] = leat_arena_strndup(c->arena, word, strlen(word));
}

static leat_status build_command(command *c, const char *cpu, const char *source,
                                 const char *object, leat_error *error) {
  leat_cpu_level level;
  if (!leat_cpu_level_parse(cpu, &level))
    return leat_fail(error, LEAT_INVALID, "unknown CPU '%s': expected host or a level", cpu);
  bool host = strcmp(cpu, "host") == 0;
  add_words(c, compiler(), " \t", "");
  add_words(c, LEAT_C_FLAGS " -O3 -w -c -fPIC -fno-math-errno -fno-stack-protector", " ", "");
  add_words(c, "-fno-asynchronous-unwind-tables -fcf-protection=none -mprefer-vector-width=512",
            " ", "");
  add_words(c, host ? "native" : leat_cpu_level_name(level), " ", "-march=");
  add_words(c, LEAT_INCLUDE_DIRS, ":", "-I");
  add_word(c, "-o");
  add_word(c, object);
  add_word(c, source);
  return LEAT_OK;
}

// Runs the command with its messages going to the file `log`.
static leat_status run(command *c, const char *log, int *exit_code, leat_error *error) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 2, log, O_WRONLY | O_CREAT | O_TRUNC, 0600);
  posix_spawn_file_actions_adddup2(&actions, 2, 1);
  pid_t child;
  int failed = posix_spawnp(&child, c->words[0], &actions, NULL, c->words, environ);
  posix_spawn_file_actions_destroy(&actions);
  if (failed)
    return leat_fail(error, LEAT_UNSUPPORTED, "there is no C compiler: '%s': %s (set CC)",
                     c->words[0], strerror(failed));
  int status;
  while (waitpid(child, &status, 0) < 0)
    if (errno != EINTR) return leat_fail(error, LEAT_IO, "waiting for %s failed", c->words[0]);
  *exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128;
  return LEAT_OK;
}

// The compiler's own words, as far as they fit into an error.
static leat_status compiler_failed(const char *log, int exit_code, leat_error *error) {
  char *words = NULL;
  size_t size = 0;
  bool read = leat_file_read(log, 1 << 20, &words, &size, NULL) == LEAT_OK;
  leat_fail(error, LEAT_FOREIGN, "%s failed with exit code %d: %.800s", compiler(), exit_code,
            read ? words : "");
  free(words);
  return LEAT_FOREIGN;
}

static leat_status compile_in(const char *directory, const leat_codegen_request *request,
                              const leat_text *text, leat_object *out, leat_error *error) {
  command c = {.arena = leat_arena_create()};
  char *source = leat_arena_printf(c.arena, "%s/kernels.c", directory);
  char *object = leat_arena_printf(c.arena, "%s/kernels.o", directory);
  char *log = leat_arena_printf(c.arena, "%s/log", directory), *data = NULL;
  leat_bytes piece = {text->data, text->size};
  int exit_code = 0;
  leat_status status = build_command(&c, request->cpu, source, object, error);
  if (!status) status = leat_file_write(source, &piece, 1, LEAT_FILE_ATOMIC, error);
  if (!status) status = run(&c, log, &exit_code, error);
  if (!status && exit_code) status = compiler_failed(log, exit_code, error);
  if (!status) status = leat_file_read(object, LARGEST_OBJECT, &data, &out->size, error);
  out->data = data;
  unlink(source);
  unlink(object);
  unlink(log);
  leat_arena_destroy(c.arena);
  return status;
}

leat_status leat_c_compile(const leat_codegen_request *request, leat_object *out,
                           leat_error *error) {
  *out = (leat_object){0};
  const char *parent = getenv("TMPDIR");
  char directory[4096];
  snprintf(directory, sizeof directory, "%s/leat-XXXXXX", parent && *parent ? parent : "/tmp");
  if (!mkdtemp(directory))
    return leat_fail(error, LEAT_IO, "cannot make a directory %s: %s", directory, strerror(errno));
  leat_text text = {0};
  leat_c_print_file(request, &text);
  if (request->dump) leat_text_add_n(request->dump, text.data, text.size);
  leat_status status = compile_in(directory, request, &text, out, error);
  leat_text_finish(&text);
  rmdir(directory);
  return status;
}

// Where the shell would find the first word of the compiler's command.
static bool find_program(const char *name, int length, char *out, size_t size) {
  const char *path = getenv("PATH");
  if (memchr(name, '/', (size_t)length)) path = "";
  for (; path; path = strchr(path, ':') ? strchr(path, ':') + 1 : NULL) {
    int directory = (int)strcspn(path, ":");
    snprintf(out, size, "%.*s%s%.*s", directory, path, directory ? "/" : "", length, name);
    if (access(out, X_OK) == 0) return true;
  }
  return false;
}

void leat_c_compiler_key(leat_text *out) {
  char path[4096];
  struct stat info;
  const char *cc = compiler();
  if (!find_program(cc, (int)strcspn(cc, " \t"), path, sizeof path) || stat(path, &info)) return;
  leat_text_add(out, "%s %s %lld %lld", cc, path, (long long)info.st_size,
                (long long)info.st_mtim.tv_sec);
}
