// Each .c file is compiled by itself, as many at once as there are cores; the objects become an
// archive (session/artifact/archive.h). What the cache knows it by is all of the text, the compiler
// and its flags.
#include "session/artifact/runtime_library.h"

#include "base/command.h"
#include "base/cpuid.h"
#include "base/installed.h"
#include "base/text.h"
#include "session/artifact/archive.h"
#include "session/build_id.h"

#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

// As meson.build has them.
static const char flags[] =
    "-std=gnu11 -O2 -w -fPIC -ffp-contract=off -fno-math-errno -ffunction-sections -fdata-sections "
    "-fstack-protector-strong -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2 "
    "-fno-asynchronous-unwind-tables";
// Of a file that says so.
static const char small_mark[] = "// It runs seldom: compiled for size.", small_flags[] = "-Os";

static const char *const folders[] = {"base", "runtime", "runtime/kernels", "include/leat"};
enum { FOLDERS = sizeof folders / sizeof *folders, LARGEST_FILE = 1 << 28, MOST_THREADS = 64 };

typedef struct source_file {
  const char *name; // "runtime/kernels/sort.c"
  leat_bytes text;
} source_file;

typedef struct runtime_source {
  leat_arena *arena;
  char root[LEAT_PATH_SIZE];
  leat_vec(source_file) files; // by name
} runtime_source;

// -- Reading the source --------------------------------------------------------------------------

static leat_status read_file(runtime_source *s, source_file *file, leat_error *error) {
  leat_file_view view;
  LEAT_TRY(
      leat_file_view_open(&view, leat_arena_printf(s->arena, "%s/%s", s->root, file->name), error));
  file->text =
      (leat_bytes){leat_arena_strndup(s->arena, (const char *)view.data, view.size), view.size};
  leat_file_view_close(&view);
  return LEAT_OK;
}

static void close_folder(void *stream) {
  closedir(stream);
}

static leat_status list_folder(runtime_source *s, const char *folder, leat_error *error) {
  const char *path = leat_arena_printf(s->arena, "%s/%s", s->root, folder);
  DIR *stream = opendir(path);
  if (!stream) return leat_fail(error, LEAT_IO, "cannot read %s: %s", path, strerror(errno));
  leat_cleanup cleanup;
  leat_cleanup_hold(&cleanup, close_folder, stream);
  for (struct dirent *entry; (entry = readdir(stream));) {
    const char *name = entry->d_name;
    if (*name == '.' ||
        !(leat_ends_with(name, ".c") || leat_ends_with(name, ".h") || leat_ends_with(name, ".def")))
      continue;
    source_file file = {.name = leat_arena_printf(s->arena, "%s/%s", folder, name)};
    leat_vec_push(s->arena, &s->files, file);
  }
  leat_cleanup_run(&cleanup);
  return LEAT_OK;
}

static int by_name(const void *a, const void *b) {
  return strcmp(((const source_file *)a)->name, ((const source_file *)b)->name);
}

static leat_status read_source(runtime_source *s, leat_error *error) {
  if (!leat_runtime_source(s->root))
    return leat_fail(error, LEAT_NOT_FOUND, "the runtime's source is in none of %s",
                     leat_runtime_directories);
  for (int i = 0; i < FOLDERS; i++) LEAT_TRY(list_folder(s, folders[i], error));
  qsort(s->files.items, s->files.count, sizeof *s->files.items, by_name);
  for (uint32_t i = 0; i < s->files.count; i++) LEAT_TRY(read_file(s, &s->files.items[i], error));
  return LEAT_OK;
}

// -- Compiling -----------------------------------------------------------------------------------

typedef struct compilation {
  const runtime_source *source;
  const char *words, *folder;
  leat_vec(const source_file *) units; // .c files
  const char **objects;                // the paths of what they become
  leat_error *errors;                  // one a unit
  atomic_uint next;
} compilation;

static leat_status compile_unit(const compilation *c, uint32_t i, leat_error *error) {
  const char *root = c->source->root;
  const source_file *file = c->units.items[i];
  leat_command command = {.arena = leat_arena_create()};
  leat_command_add_words(&command, c->words, " \t", "");
  leat_command_add_words(&command, flags, " ", "");
  if (strstr(file->text.data, small_mark)) leat_command_add(&command, small_flags);
  leat_command_add(&command, leat_arena_printf(command.arena, "-ffile-prefix-map=%s/=", root));
  leat_command_add(&command, leat_arena_printf(command.arena, "-I%s/include", root));
  leat_command_add(&command, leat_arena_printf(command.arena, "-I%s", root));
  leat_command_add_words(&command, "-c -o", " ", "");
  leat_command_add(&command, c->objects[i]);
  leat_command_add(&command, leat_arena_printf(command.arena, "%s/%s", root, file->name));
  leat_status status = leat_command_run(&command, error);
  leat_arena_destroy(command.arena);
  return status;
}

// The last ones first: kernels take longest.
static void *compile_units(void *context) {
  compilation *c = context;
  for (uint32_t done; (done = atomic_fetch_add(&c->next, 1)) < c->units.count;) {
    leat_status status;
    uint32_t i = c->units.count - 1 - done;
    LEAT_RECOVER(status, compile_unit(c, i, &c->errors[i]));
    if (status) leat_fail(&c->errors[i], status, "%s", leat_status_name(status));
  }
  return NULL;
}

// This thread works too, so a thread that does not start costs only time.
static leat_status compile_all(compilation *c, leat_error *error) {
  pthread_t threads[MOST_THREADS];
  int count = 0, wanted = leat_cpu_cores() - 1;
  for (; count < wanted && count < MOST_THREADS; count++)
    if (pthread_create(&threads[count], NULL, compile_units, c)) break;
  compile_units(c);
  while (count > 0) pthread_join(threads[--count], NULL);
  for (uint32_t i = 0; i < c->units.count; i++)
    if (c->errors[i].status)
      return leat_fail(error, c->errors[i].status, "%s of Leat's runtime: %s",
                       c->units.items[i]->name, c->errors[i].message);
  return LEAT_OK;
}

// "runtime/kernels/sort.c" → "runtime_kernels_sort.o"
static const char *object_name(leat_arena *arena, const char *unit) {
  char *name = leat_arena_printf(arena, "%s", unit);
  for (char *at = name; *at; at++)
    if (*at == '/') *at = '_';
  name[strlen(name) - 1] = 'o';
  return name;
}

static void list_units(compilation *c) {
  leat_arena *arena = c->source->arena;
  for (uint32_t i = 0; i < c->source->files.count; i++)
    if (leat_ends_with(c->source->files.items[i].name, ".c"))
      leat_vec_push(arena, &c->units, &c->source->files.items[i]);
  c->objects = leat_new_array(arena, const char *, c->units.count);
  c->errors = leat_new_array(arena, leat_error, c->units.count);
  for (uint32_t i = 0; i < c->units.count; i++)
    c->objects[i] =
        leat_arena_printf(arena, "%s/%s", c->folder, object_name(arena, c->units.items[i]->name));
}

static leat_status archive_objects(const compilation *c, leat_text *out, leat_error *error) {
  leat_archive archive = {.arena = c->source->arena};
  for (uint32_t i = 0; i < c->units.count; i++) {
    leat_file_view view;
    LEAT_TRY(leat_file_view_open(&view, c->objects[i], error));
    const void *copy = leat_arena_memdup(archive.arena, view.data, view.size);
    leat_archive_add(&archive, strrchr(c->objects[i], '/') + 1, (leat_bytes){copy, view.size});
    leat_file_view_close(&view);
  }
  return leat_archive_print(&archive, out, error);
}

static leat_status make(const runtime_source *source, const char *words, const char *folder,
                        leat_text *out, leat_error *error) {
  compilation c = {.source = source, .words = words, .folder = folder};
  list_units(&c);
  LEAT_TRY(compile_all(&c, error));
  return archive_objects(&c, out, error);
}

// -- The library ---------------------------------------------------------------------------------

static void add_key(const runtime_source *source, const char *words, leat_text *out) {
  leat_text_add(out, "runtime\n");
  leat_build_id_add(out);
  leat_command_key(words, out);
  leat_text_add(out, "\n%s\n", flags);
  for (uint32_t i = 0; i < source->files.count; i++) {
    const source_file *file = &source->files.items[i];
    leat_text_add(out, "%s %zu\n", file->name, file->text.size);
    leat_text_add_n(out, file->text.data, file->text.size);
  }
}

static leat_status make_library(const leat_toolchain *toolchain, leat_object_cache *cache,
                                const char *folder, leat_arena *arena, const char *path,
                                leat_error *error) {
  runtime_source source = {.arena = arena};
  leat_text key = {0}, made = {0};
  LEAT_TRY(read_source(&source, error));
  add_key(&source, toolchain->words, &key);
  void *kept = NULL;
  leat_bytes library = {0};
  leat_status status = LEAT_OK;
  if (leat_object_cache_get(cache, key.data, key.size, &kept, &library.size)) {
    library.data = kept;
  } else {
    status = make(&source, toolchain->words, folder, &made, error);
    library = (leat_bytes){made.data, made.size};
    if (!status) leat_object_cache_put(cache, key.data, key.size, made.data, made.size);
  }
  if (!status) status = leat_file_write(path, &library, 1, LEAT_FILE_ATOMIC, error);
  free(kept);
  leat_text_finish(&key);
  leat_text_finish(&made);
  return status;
}

leat_status leat_runtime_library(const leat_toolchain *toolchain, leat_object_cache *cache,
                                 const char *folder, leat_arena *arena, const char **out_path,
                                 leat_error *error) {
  static const char name[] = "libleat_rt.a";
  if (toolchain->native) {
    char path[LEAT_PATH_SIZE];
    if (!leat_directory_find(leat_library_directories, name, path))
      return leat_fail(error, LEAT_NOT_FOUND, "%s is not in %s", name, leat_library_directories);
    *out_path = leat_arena_printf(arena, "%s", path);
    return LEAT_OK;
  }
  *out_path = leat_arena_printf(arena, "%s/%s", folder, name);
  return make_library(toolchain, cache, folder, arena, *out_path, error);
}

// -- Copies --------------------------------------------------------------------------------------

static leat_status make_folder(const char *path, leat_error *error) {
  if (mkdir(path, 0777) == 0 || errno == EEXIST) return LEAT_OK;
  return leat_fail(error, LEAT_IO, "cannot make %s: %s", path, strerror(errno));
}

static leat_status copy_all(const runtime_source *source, const char *folder, leat_error *error) {
  static const char *const made[] = {"",         "/base",        "/runtime", "/runtime/kernels",
                                     "/include", "/include/leat"};
  for (size_t i = 0; i < sizeof made / sizeof *made; i++)
    LEAT_TRY(make_folder(leat_arena_printf(source->arena, "%s%s", folder, made[i]), error));
  for (uint32_t i = 0; i < source->files.count; i++) {
    const source_file *file = &source->files.items[i];
    const char *path = leat_arena_printf(source->arena, "%s/%s", folder, file->name);
    LEAT_TRY(leat_file_write(path, &file->text, 1, LEAT_FILE_ATOMIC, error));
  }
  return LEAT_OK;
}

leat_status leat_runtime_source_copy(const char *folder, leat_error *error) {
  runtime_source source = {.arena = leat_arena_create()};
  leat_status status = read_source(&source, error);
  if (!status) status = copy_all(&source, folder, error);
  leat_arena_destroy(source.arena);
  return status;
}
