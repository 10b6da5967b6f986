// The files of a program: opened, compared with what the program was compiled against, and where
// their tensors are. A program that has none is linked without this.
// It runs seldom: compiled for size.
#include "runtime/program.h"

#include "base/data_file.h"
#include "base/installed.h"
#include "base/map.h"
#include "base/memory.h"
#include "base/tensor.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct leat_file_group {
  struct leat_file_group *next;
  const char *name, *path; // as the image names it, and as it is opened
  bool beside;
  leat_data_file file;  // closed when nobody needs it any more
  void **copies;        // of tensors, by file number; NULL: it is used where it lies in the file
  bool is_used;         // some are
  bool *lent, *awaited; // by file number: it is lent, and was not yet
};

void leat_file_hash(const void *data, size_t size, uint64_t out[2]) {
  out[0] = leat_hash_bytes(data, size, 0);
  out[1] = leat_hash_bytes(data, size, 1);
}

static void close_group(leat_file_group *group, uint64_t file_count) {
  for (uint64_t i = 0; i < file_count; i++) free(group->copies[i]);
  leat_data_file_close(&group->file);
}

// The folder that the file is in; NULL: the working directory, or the name says it.
static leat_status folder_of(leat_program *program, const char *base, const leat_image_file *file,
                             const char **out, leat_error *error) {
  char path[LEAT_PATH_SIZE];
  *out = base;
  if (file->kind != LEAT_FILE_BESIDE || base) return LEAT_OK;
  if (!leat_path_of_code(program->code, path))
    return leat_fail(error, LEAT_NOT_FOUND,
                     "nobody knows in which file this program is, beside which its weights are");
  *out = leat_arena_printf(program->arena, "%.*s", (int)(strrchr(path, '/') - path), path);
  return LEAT_OK;
}

// Whether the weights beside the program are those that were written with it.
static leat_status check_beside(const leat_program *program, const leat_data_file *file,
                                leat_error *error) {
  char expected[17];
  snprintf(expected, sizeof expected, "%016" PRIx64, program->image->beside);
  for (size_t i = 0; i < file->metadata_count && file->checksums; i++)
    if (strcmp(file->metadata[i].key, LEAT_WEIGHTS_ID) == 0 &&
        strcmp(file->metadata[i].value, expected) == 0)
      return LEAT_OK;
  return leat_fail(error, LEAT_MISMATCH, "%s has not the weights that this was built with",
                   file->path);
}

static leat_file_group *find_group(const leat_program *program, uint32_t number) {
  const char *name = leat_view_text(&program->view, program->view.files[number].file);
  leat_file_group *group = program->groups;
  while (group && strcmp(group->name, name) != 0) group = group->next;
  return group;
}

static leat_status add_group(leat_program *program, const char *base, uint32_t number,
                             leat_error *error) {
  const leat_image_file *file = &program->view.files[number];
  const char *name = leat_view_text(&program->view, file->file), *folder;
  LEAT_TRY(folder_of(program, base, file, &folder, error));
  leat_file_group *group = leat_new(program->arena, leat_file_group);
  group->copies = leat_new_array(program->arena, void *, program->image->files.count);
  group->lent = leat_new_array(program->arena, bool, program->image->files.count);
  group->awaited = leat_new_array(program->arena, bool, program->image->files.count);
  group->name = group->path = name;
  if (folder && name[0] != '/')
    group->path = leat_arena_printf(program->arena, "%s/%s", folder, name);
  group->beside = file->kind == LEAT_FILE_BESIDE;
  group->next = program->groups;
  program->groups = group;
  return LEAT_OK;
}

// The checksums of a file beside the program are compared, once.
static leat_status open_group(const leat_program *program, leat_file_group *group,
                              leat_error *error) {
  if (group->file.format) return LEAT_OK;
  LEAT_TRY(leat_data_file_open(&group->file, group->path, group->beside, error));
  return group->beside ? check_beside(program, &group->file, error) : LEAT_OK;
}

// Of the values: strings are hashed packed, not where they lie.
static leat_status hash_tensor(const leat_tensor *tensor, uint64_t out[2], leat_error *error) {
  uint64_t size;
  void *made;
  const void *bytes = leat_tensor_packed(tensor, &size, &made);
  if (!bytes) return leat_fail(error, LEAT_MEMORY, "no memory to compare strings of a file");
  leat_file_hash(bytes, size, out);
  free(made);
  return LEAT_OK;
}

// The file was replaced. Of one that is one tensor `name` is empty.
static leat_status of_another_type(const char *path, const char *name, const leat_tensor *now,
                                   const leat_image_type *type, const int64_t *shape,
                                   leat_error *error) {
  leat_text is = {0}, was = {0};
  leat_tensor_type_print(now->dtype, now->rank, now->shape, &is);
  leat_tensor_type_print((leat_dtype)type->dtype, (int32_t)type->rank, shape, &was);
  leat_status status = leat_fail(
      error, LEAT_MISMATCH,
      "%s: %s%s%s is %s, and was %s when this was built: bring that file "
      "back, or build it again",
      path, *name ? "`" : "", *name ? name : "its tensor", *name ? "`" : "", is.data, was.data);
  leat_text_finish(&is);
  leat_text_finish(&was);
  return status;
}

// A piece at a time, so that little of a mapped file takes memory beside its copy.
static void copy_and_drop(char *to, const char *from, size_t size) {
  enum { PIECE = 1 << 22 };
  for (size_t done = 0; done < size; done += PIECE) {
    size_t count = size - done < PIECE ? size - done : PIECE;
    memcpy(to + done, from + done, count);
    leat_file_drop(from + done, count);
  }
}

// Opens the file, and compares it with what was compiled against.
static leat_status open_tensor(const leat_program *program, leat_file_group *group, uint32_t number,
                               leat_error *error) {
  const leat_view *view = &program->view;
  const leat_image_file *file = &view->files[number];
  const char *path = leat_view_text(view, file->file), *name = leat_view_text(view, file->name);
  LEAT_TRY(open_group(program, group, error));
  const leat_tensor *tensor = leat_data_file_find(&group->file, name);
  if (!tensor) return leat_data_file_lacks(&group->file, name, error);
  int64_t shape[LEAT_MAX_RANK] = {0}, bytes;
  for (uint32_t i = 0; i < file->type.rank; i++)
    if (!leat_formula_is_constant(view, file->type.shape_first + i))
      return leat_fail(error, LEAT_INVALID, "%s: the shape of `%s` is not constant", path, name);
  bool same = leat_type_value(view, &file->type, NULL, shape, &bytes) &&
              tensor->dtype == (leat_dtype)file->type.dtype &&
              tensor->rank == (int32_t)file->type.rank &&
              memcmp(shape, tensor->shape, file->type.rank * sizeof *shape) == 0;
  if (!same) return of_another_type(path, name, tensor, &file->type, shape, error);
  if (!file->size || file->size == group->file.view.size) return LEAT_OK;
  return leat_fail(error, LEAT_MISMATCH,
                   "%s has %" PRIu64 " bytes, and had %" PRIu64 " when this was built: bring that "
                   "file back, or build it again",
                   path, (uint64_t)group->file.view.size, (uint64_t)file->size);
}

static leat_status check_hash(const leat_image_file *file, const leat_tensor *tensor,
                              const char *path, const char *name, leat_error *error) {
  uint64_t hash[2];
  if (!file->hash[0] && !file->hash[1]) return LEAT_OK;
  LEAT_TRY(hash_tensor(tensor, hash, error));
  if (memcmp(hash, file->hash, sizeof hash) == 0) return LEAT_OK;
  return leat_fail(error, LEAT_MISMATCH,
                   "%s: the values%s%s%s are not those that it had when this was built: bring "
                   "that file back, or build it again",
                   path, *name ? " of `" : "", name, *name ? "`" : "");
}

static bool is_aligned(const leat_tensor *tensor) {
  return (uintptr_t)tensor->data % leat_dtype_alignment(tensor->dtype) == 0;
}

// *out_copied: it lies in memory of its own.
static leat_status read_tensor(const leat_program *program, leat_file_group *group, uint32_t number,
                               bool lent, const void **out, bool *out_copied, leat_error *error) {
  const leat_image_file *file = &program->view.files[number];
  const char *path = leat_view_text(&program->view, file->file);
  const char *name = leat_view_text(&program->view, file->name);
  const leat_tensor *tensor;
  LEAT_TRY(leat_data_file_read(&group->file, name, &tensor, error));
  LEAT_TRY(check_hash(file, tensor, path, name, error));
  bool stays = lent || tensor->dtype == LEAT_str || !leat_data_file_is_scattered(&group->file);
  *out_copied = !is_aligned(tensor) || !stays;
  *out = tensor->data;
  if (!*out_copied) return LEAT_OK;
  size_t bytes = (size_t)leat_tensor_bytes(tensor);
  void *copy = group->copies[number] = leat_memory_allocate(bytes);
  if (!copy) return leat_fail(error, LEAT_MEMORY, "%s: no memory for `%s`", path, name);
  copy_and_drop(copy, tensor->data, bytes);
  leat_data_file_drop(&group->file, name);
  *out = copy;
  return LEAT_OK;
}

static leat_status read_file(leat_program *program, const char *base, uint32_t number,
                             leat_error *error) {
  if (!find_group(program, number)) LEAT_TRY(add_group(program, base, number, error));
  leat_file_group *group = find_group(program, number);
  LEAT_TRY(open_tensor(program, group, number, error));
  if (program->lent[number]) {
    group->lent[number] = group->awaited[number] = true;
    return LEAT_OK;
  }
  bool copied;
  LEAT_TRY(read_tensor(program, group, number, false, &program->files[number], &copied, error));
  group->is_used |= !copied;
  return LEAT_OK;
}

static bool is_read(const leat_program *program, uint32_t number) {
  const leat_file_group *group = find_group(program, number);
  return program->files[number] || (group && group->lent[number]);
}

static void close_unused(const leat_program *program, leat_file_group *group) {
  bool used = group->is_used;
  for (uint64_t i = 0; i < program->image->files.count; i++) used |= group->awaited[i];
  if (!used) leat_data_file_close(&group->file);
}

// -- Tensors that are lent ------------------------------------------------------------------------

// The file is opened again where it was closed, all having been lent: to another store.
static leat_status lend(const leat_program *program, uint32_t number, const void **out,
                        leat_error *error) {
  leat_file_group *group = find_group(program, number);
  bool copied;
  if (!group) return leat_fail(error, LEAT_INTERNAL, "the files of a program were not read");
  LEAT_TRY(open_tensor(program, group, number, error));
  return read_tensor(program, group, number, true, out, &copied, error);
}

static void take_file_back(const leat_program *program, uint32_t number) {
  leat_file_group *group = find_group(program, number);
  if (!group) return; // nothing was read yet
  free(group->copies[number]);
  group->copies[number] = NULL;
  leat_data_file_drop(&group->file,
                      leat_view_text(&program->view, program->view.files[number].name));
  group->awaited[number] = false;
  close_unused(program, group);
}

static void identify_file(const leat_program *program, uint32_t number, leat_text *out) {
  const leat_file_group *group = find_group(program, number);
  if (!group || !leat_data_file_identify(&group->file, out))
    leat_text_add(out, "program %p file %u", (const void *)program, number);
  leat_text_add(out, " %s", leat_view_text(&program->view, program->view.files[number].name));
}

static leat_status check_files(const leat_program *program, leat_error *error) {
  for (const leat_file_group *g = program->groups; g; g = g->next)
    LEAT_TRY(leat_data_file_check(&g->file, error));
  return LEAT_OK;
}

// What has been read already stays; a file all of which was copied does not.
static leat_status read_files(leat_program *program, const char *base, leat_error *error) {
  for (uint32_t i = 0; i < program->image->files.count; i++)
    if (!is_read(program, i)) LEAT_TRY(read_file(program, base, i, error));
  for (leat_file_group *g = program->groups; g; g = g->next) close_unused(program, g);
  return LEAT_OK;
}

static void close_files(leat_program *program) {
  for (leat_file_group *g = program->groups; g; g = g->next)
    close_group(g, program->image->files.count);
}

const leat_file_reader *leat_reads_files(void) {
  static const leat_file_reader reader = {.read = read_files,
                                          .check = check_files,
                                          .close = close_files,
                                          .lend = lend,
                                          .take_back = take_file_back,
                                          .identify = identify_file};
  return &reader;
}
