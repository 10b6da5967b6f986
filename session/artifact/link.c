// The object and a `main` of three lines (for an executable) or the list of what is exported (for a
// shared object) go into a temporary folder; the compiler makes the output beside the others, from
// where it is moved into place.
#define _GNU_SOURCE
#include "session/artifact/link.h"

#include "base/command.h"
#include "base/installed.h"
#include "base/temporary.h"
#include "session/artifact/archive.h"
#include "session/artifact/elf.h"
#include "session/artifact/runtime_library.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct linker {
  const leat_link *link;
  leat_arena *arena;
  leat_error *error;
  const char *object, *main, *exports, *linked; // paths in the directory
  const char *library;                          // libleat_rt.a
  const char *foreign[LEAT_FOREIGN_COUNT];      // libleat_MODULE.a of what is needed, else NULL
  leat_toolchain toolchain;
} linker;

static leat_status find_foreign(linker *l) {
  char path[LEAT_PATH_SIZE];
  for (int i = 0; i < LEAT_FOREIGN_COUNT; i++) {
    const leat_foreign_library *needed = &leat_foreign_libraries[i];
    if (!(l->link->foreign & 1u << i)) continue;
    if (!l->toolchain.native)
      return leat_fail(l->error, LEAT_UNSUPPORTED,
                       "%s: there is no %s for what `%s` makes programs for", needed->use,
                       needed->name, l->toolchain.words);
    const char *name = leat_arena_printf(l->arena, "libleat_%s.a", needed->module);
    if (!leat_directory_find(leat_library_directories, name, path))
      return leat_fail(l->error, LEAT_NOT_FOUND, "%s is not in %s", name, leat_library_directories);
    l->foreign[i] = leat_arena_printf(l->arena, "%s", path);
  }
  return LEAT_OK;
}

static leat_status write_text(const linker *l, const char *path, const char *text) {
  leat_bytes piece = {text, strlen(text)};
  return leat_file_write(path, &piece, 1, LEAT_FILE_ATOMIC, l->error);
}

static leat_status write_main(const linker *l) {
  const char *name = l->link->name;
  const char *text = leat_arena_printf(
      l->arena,
      "extern const void *const %s_steps[];\n"
      "const void *leat_saves_variables(void);\n"
      "int leat_executable_main(const void *, const void *(*)(void), int, char **);\n"
      "int main(int argc, char **argv) {\n"
      "  return leat_executable_main(%s_steps, %s, argc, argv);\n"
      "}\n",
      name, name, l->link->saves ? "leat_saves_variables" : "0");
  return write_text(l, l->main, text);
}

// What leat/runtime.h and the model's own header declare is all that others see of a shared object.
static leat_status write_exports(const linker *l) {
  const char *name = l->link->name;
  const char *text =
      leat_arena_printf(l->arena,
                        "{ global: %s_steps; leat_model_*; leat_dtype_*;\n"
                        "  leat_shape_elements; leat_tensor_bytes; leat_status_name;\n"
                        "  local: *; };\n",
                        name);
  return write_text(l, l->exports, text);
}

static bool is_shared(const linker *l) {
  return l->link->options->kind == LEAT_ARTIFACT_SHARED;
}

static void add_foreign(const linker *l, leat_command *command) {
  for (int i = 0; i < LEAT_FOREIGN_COUNT; i++)
    if (l->foreign[i]) leat_command_add(command, l->foreign[i]);
}

static void add_inputs(const linker *l, const char *pie, leat_command *command) {
  leat_command_add_words(command, l->toolchain.words, " \t", "");
  leat_command_add(command, "-o");
  leat_command_add(command, l->linked);
  if (is_shared(l)) {
    // The pool's threads sleep in its code: dlclose leaves it where it is.
    leat_command_add_words(command, "-shared -Wl,-z,nodelete", " ", "");
    leat_command_add(command, l->object);
    add_foreign(l, command);
    leat_command_add_words(command, "-Wl,--whole-archive", " ", "");
    leat_command_add(command, l->library);
    leat_command_add_words(command, "-Wl,--no-whole-archive", " ", "");
    leat_command_add(command, leat_arena_printf(l->arena, "-Wl,--version-script=%s", l->exports));
  } else {
    leat_command_add_words(command, pie, " ", "");
    leat_command_add(command, l->main);
    leat_command_add(command, l->object);
    add_foreign(l, command);
    leat_command_add(command, l->library);
  }
  leat_command_add_words(command, "-s -Wl,--gc-sections,-z,relro,-z,now,-z,noexecstack", " ", "");
  // A note, whose place the segment of the weights takes.
  if (l->link->weights_size) leat_command_add(command, "-Wl,--build-id=sha1");
  for (int i = 0; i < LEAT_FOREIGN_COUNT; i++)
    if (l->foreign[i])
      leat_command_add(command,
                       leat_arena_printf(l->arena, "-l%s", leat_foreign_libraries[i].library));
  leat_command_add(command, "-lm");
}

// -- Weights -------------------------------------------------------------------------------------

// Writes what holds the weights' place, and the weights behind it.
static leat_status write_with_weights(const linker *l, const char *path, leat_bytes head) {
  size_t count = l->link->weights_count;
  leat_bytes *pieces = leat_new_array(l->arena, leat_bytes, count + 1);
  pieces[0] = head;
  for (size_t i = 0; i < count; i++) pieces[i + 1] = l->link->weights[i];
  return leat_file_write(path, pieces, count + 1, LEAT_FILE_ATOMIC, l->error);
}

// The object with its weights' section, which `filled` says where the bytes of are.
static leat_status place_weights(const linker *l, bool filled, leat_bytes *out) {
  const leat_link *link = l->link;
  *out = link->object;
  if (!link->weights_size) return LEAT_OK;
  return leat_elf_add_weights(l->arena, link->object, link->weights_symbol, link->weights_size,
                              filled, out, l->error);
}

static leat_status write_object(const linker *l, bool filled) {
  leat_bytes object;
  LEAT_TRY(place_weights(l, filled, &object));
  if (filled) return write_with_weights(l, l->object, object);
  return leat_file_write(l->object, &object, 1, LEAT_FILE_ATOMIC, l->error);
}

static leat_status move_view_into_place(const linker *l, leat_bytes made, bool filled) {
  if (filled || !l->link->weights_size)
    return leat_file_write(l->link->options->output, &made, 1, LEAT_FILE_ATOMIC, l->error);
  leat_bytes head;
  LEAT_TRY(leat_elf_fill_weights(l->arena, made, l->link->weights_size, &head, l->error));
  return write_with_weights(l, l->link->options->output, head);
}

static leat_status move_into_place(const linker *l, bool filled) {
  leat_file_view made;
  LEAT_TRY(leat_file_view_map(&made, l->linked, l->error));
  leat_status status;
  LEAT_RECOVER(status, move_view_into_place(l, (leat_bytes){made.data, made.size}, filled));
  leat_file_view_close(&made);
  return status;
}

static leat_status make_executable(const linker *l) {
  struct stat info;
  mode_t run = S_IXUSR | S_IXGRP | S_IXOTH;
  if (stat(l->link->options->output, &info) == 0) {
    mode_t readers = info.st_mode & (S_IRUSR | S_IRGRP | S_IROTH);
    if (chmod(l->link->options->output, info.st_mode | (readers >> 2 & run)) == 0) return LEAT_OK;
  }
  return leat_fail(l->error, LEAT_IO, "cannot make %s executable: %s", l->link->options->output,
                   strerror(errno));
}

static leat_status run_with(const linker *l, const char *pie, leat_text *printed,
                            leat_error *error) {
  leat_command command = {.arena = l->arena};
  add_inputs(l, pie, &command);
  printed->size = 0;
  leat_command_print(&command, printed);
  return leat_command_run(&command, error);
}

// Not every glibc has what makes a static program position-independent; what calls itself so with
// musl's is linked dynamically.
static leat_status run_linker(const linker *l, leat_text *printed) {
  bool statically = l->link->options->linked_statically;
  leat_error unsaid = {0};
  if (statically && l->toolchain.glibc && !run_with(l, "-fPIE -static-pie", printed, &unsaid))
    return LEAT_OK;
  return run_with(l, statically ? "-static" : "-fPIE -pie", printed, l->error);
}

// The weights go behind what was linked, or, where a linker has placed their section so that they
// cannot, through it.
static leat_status link_weights(const linker *l, leat_text *printed) {
  leat_error unsaid = {0};
  linker first = *l;
  LEAT_TRY(write_object(l, false));
  LEAT_TRY(run_linker(l, printed));
  if (l->link->weights_size) first.error = &unsaid;
  leat_status status = move_into_place(&first, false);
  if (!status || !l->link->weights_size) return status;
  if (status != LEAT_UNSUPPORTED) return leat_fail(l->error, status, "%s", unsaid.message);
  LEAT_TRY(write_object(l, true));
  LEAT_TRY(run_linker(l, printed));
  return move_into_place(l, true);
}

static leat_status link_object(linker *l, const char *folder, leat_text *printed) {
  l->object = leat_arena_printf(l->arena, "%s/%s.o", folder, l->link->name);
  l->main = leat_arena_printf(l->arena, "%s/main.c", folder);
  l->exports = leat_arena_printf(l->arena, "%s/exports.map", folder);
  l->linked = leat_arena_printf(l->arena, "%s/linked", folder);
  LEAT_TRY(find_foreign(l));
  LEAT_TRY(is_shared(l) ? write_exports(l) : write_main(l));
  LEAT_TRY(link_weights(l, printed));
  return make_executable(l);
}

static leat_status add_members(const linker *l, leat_bytes library, leat_text *out) {
  leat_archive archive = {.arena = l->arena};
  LEAT_TRY(leat_archive_add_all(&archive, library, l->library, l->error));
  leat_bytes object;
  LEAT_TRY(place_weights(l, true, &object));
  leat_archive_add(&archive, leat_arena_printf(l->arena, "%s.o", l->link->name), object);
  archive.members.items[archive.members.count - 1].rest = l->link->weights_size;
  return leat_archive_print(&archive, out, l->error);
}

static void close_view(void *view) {
  leat_file_view_close(view);
}

static leat_status write_archive(const linker *l) {
  leat_file_view library;
  leat_text text = {0};
  LEAT_TRY(leat_file_view_open(&library, l->library, l->error));
  leat_cleanup cleanup;
  leat_cleanup_hold(&cleanup, close_view, &library);
  leat_status status = add_members(l, (leat_bytes){library.data, library.size}, &text);
  leat_cleanup_run(&cleanup);
  leat_bytes head = {text.data, text.size};
  if (!status) status = write_with_weights(l, l->link->options->output, head);
  leat_text_finish(&text);
  return status;
}

static leat_status link_in(linker *l, const char *folder, leat_text *printed) {
  const leat_artifact_options *o = l->link->options;
  LEAT_TRY(leat_toolchain_find(l->link->machine, o->cc, o->sysroot, folder, l->arena, &l->toolchain,
                               l->error));
  LEAT_TRY(
      leat_runtime_library(&l->toolchain, l->link->cache, folder, l->arena, &l->library, l->error));
  return o->kind == LEAT_ARTIFACT_STATIC ? write_archive(l) : link_object(l, folder, printed);
}

leat_status leat_link_run(const leat_link *link, leat_text *command, leat_error *error) {
  linker l = {.link = link, .arena = leat_arena_create(), .error = error};
  leat_temporary *folder;
  leat_status status = leat_temporary_make(&folder, error);
  if (!status) LEAT_RECOVER(status, link_in(&l, leat_temporary_path(folder), command));
  leat_temporary_remove(folder);
  leat_arena_destroy(l.arena);
  return status;
}
