// Host code through the system's C compiler: the text goes into a temporary folder, the compiler is
// spawned, and the object is read back.
#define _GNU_SOURCE
#include "targets/c/c.h"

#include "base/command.h"
#include "base/file.h"
#include "base/installed.h"
#include "base/temporary.h"

#include <stdlib.h>
#include <string.h>

enum { LARGEST_OBJECT = 1 << 30, LARGEST_HEADER = 1 << 20 };

static leat_status add_include_directory(leat_command *c, leat_error *error) {
  char path[LEAT_PATH_SIZE];
  if (!leat_runtime_source(path))
    return leat_fail(error, LEAT_NOT_FOUND,
                     "the headers that the C target includes are in none of %s",
                     leat_runtime_directories);
  leat_command_add(c, leat_arena_printf(c->arena, "-I%s/include", path));
  return LEAT_OK;
}

static leat_status build_command(leat_command *c, const leat_codegen_request *request,
                                 const char *source, const char *object, leat_error *error) {
  const leat_target_info *target = request->target;
  leat_command_add_words(c, request->cc ? request->cc : leat_c_compiler(), " \t", "");
  leat_command_add_words(c, LEAT_C_FLAGS " -O2 -w -c -fPIC -fno-math-errno -fno-stack-protector",
                         " ", "");
  leat_command_add(c, "-fno-asynchronous-unwind-tables");
  if (target->leveled) {
    leat_command_add(c, "-fcf-protection=none");
    leat_command_add(
        c, leat_arena_printf(c->arena, "-mprefer-vector-width=%d", 8 * target->vector_bytes));
    leat_command_add(c, leat_arena_printf(c->arena, "-march=%s", target->name));
  }
  LEAT_TRY(add_include_directory(c, error));
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

static void print_file(const leat_codegen_request *request, leat_text *out) {
  leat_c_print_file(request, out);
  leat_c_print_data(request, out);
}

static leat_status compile_in(const char *directory, const leat_codegen_request *request,
                              leat_object *out, leat_error *error) {
  leat_command c = {.arena = leat_arena_create()};
  char *source = leat_arena_printf(c.arena, "%s/kernels.c", directory);
  char *object = leat_arena_printf(c.arena, "%s/kernels.o", directory);
  leat_text text = {0};
  print_file(request, &text);
  if (request->dump) leat_text_add_n(request->dump, text.data, text.size);
  if (request->assembly) leat_text_add_n(request->assembly, text.data, text.size);
  char *data = NULL;
  leat_bytes piece = {text.data, text.size};
  leat_status status = build_command(&c, request, source, object, error);
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

// How the runtime calls kernels, and what they are given.
static void add_headers(leat_arena *arena, leat_text *out) {
  static const char *const names[] = {"artifact.h", "dtype.h", "status.h", "library.def"};
  char path[LEAT_PATH_SIZE];
  if (!leat_runtime_source(path)) return;
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    char *data = NULL;
    size_t size;
    leat_error none = {0};
    const char *name = leat_arena_printf(arena, "%s/include/leat/%s", path, names[i]);
    if (!leat_file_read(name, LARGEST_HEADER, &data, &size, &none))
      leat_text_add_n(out, data, size);
    free(data);
  }
}

void leat_c_compiler_key(leat_text *out) {
  leat_command_key(leat_c_compiler(), out);
}

void leat_c_add_text(const leat_codegen_request *request, leat_text *out) {
  leat_command command = {.arena = leat_arena_create()};
  leat_error none = {0};
  if (!build_command(&command, request, "kernels.c", "kernels.o", &none))
    leat_command_print(&command, out);
  leat_text_add(out, "\n");
  add_headers(command.arena, out);
  leat_arena_destroy(command.arena);
  print_file(request, out);
}
