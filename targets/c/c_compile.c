// Host code through the system's C compiler: the text goes into a temporary folder, the compiler is
// spawned, and the object is read back.
#define _GNU_SOURCE
#include "targets/c/c.h"

#include "base/command.h"
#include "base/cpuid.h"
#include "base/file.h"
#include "base/installed.h"
#include "base/temporary.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LARGEST_OBJECT = 1 << 30 };

static void add_include_directories(leat_command *c) {
  char directory[LEAT_PATH_SIZE];
  for (const char *rest = leat_include_directories; leat_directory_next(&rest, directory);)
    leat_command_add(c, leat_arena_printf(c->arena, "-I%s", directory));
}

static leat_status build_command(leat_command *c, const char *cpu, const char *source,
                                 const char *object, leat_error *error) {
  leat_cpu_level level;
  if (!leat_cpu_level_parse(cpu, &level))
    return leat_fail(error, LEAT_INVALID, "unknown CPU '%s': expected host or a level", cpu);
  bool host = strcmp(cpu, "host") == 0;
  leat_command_add_words(c, leat_c_compiler(), " \t", "");
  leat_command_add_words(c, LEAT_C_FLAGS " -O2 -w -c -fPIC -fno-math-errno -fno-stack-protector",
                         " ", "");
  leat_command_add_words(
      c, "-fno-asynchronous-unwind-tables -fcf-protection=none -mprefer-vector-width=512", " ", "");
  leat_command_add_words(c, host ? "native" : leat_cpu_level_name(level), " ", "-march=");
  add_include_directories(c);
  leat_command_add(c, "-o");
  leat_command_add(c, object);
  leat_command_add(c, source);
  return LEAT_OK;
}

// A compiler may fail where it optimises (the loop vectorizer of gcc 12 does, on some loops): then
// it is asked for less. What fails then is the failure.
static leat_status run_compiler(leat_command *c, leat_error *error) {
  leat_error first = {0};
  leat_status status = leat_command_run(c, &first);
  if (status == LEAT_FOREIGN) {
    leat_command_add(c, "-O1");
    status = leat_command_run(c, error);
  } else if (status)
    *error = first;
  return status;
}

static leat_status compile_in(const char *directory, const leat_codegen_request *request,
                              leat_object *out, leat_error *error) {
  leat_command c = {.arena = leat_arena_create()};
  char *source = leat_arena_printf(c.arena, "%s/kernels.c", directory);
  char *object = leat_arena_printf(c.arena, "%s/kernels.o", directory);
  leat_text text = {0};
  leat_c_print_file(request, &text);
  if (request->dump) leat_text_add_n(request->dump, text.data, text.size);
  if (request->assembly) leat_text_add_n(request->assembly, text.data, text.size);
  char *data = NULL;
  leat_bytes piece = {text.data, text.size};
  leat_status status = build_command(&c, request->cpu, source, object, error);
  if (!status) status = leat_file_write(source, &piece, 1, LEAT_FILE_ATOMIC, error);
  if (!status) status = run_compiler(&c, error);
  if (!status) status = leat_file_read(object, LARGEST_OBJECT, &data, &out->size, error);
  out->data = data;
  leat_text_finish(&text);
  leat_arena_destroy(c.arena);
  return status;
}

leat_status leat_c_compile(const leat_codegen_request *request, leat_object *out,
                           leat_error *error) {
  *out = (leat_object){0};
  leat_temporary *folder;
  LEAT_TRY(leat_temporary_make(&folder, error));
  leat_status status; // the folder goes in any case
  LEAT_RECOVER(status, compile_in(leat_temporary_path(folder), request, out, error));
  leat_temporary_remove(folder);
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
  const char *cc = leat_c_compiler();
  if (!find_program(cc, (int)strcspn(cc, " \t"), path, sizeof path) || stat(path, &info)) return;
  leat_text_add(out, "%s %s %lld %lld", cc, path, (long long)info.st_size,
                (long long)info.st_mtim.tv_sec);
}
