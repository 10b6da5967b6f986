// The files of a program: opened, compared with what the program was compiled against, and where
// their tensors are. A program that has none is linked without this.
// It runs seldom: compiled for size.
#include "runtime/program.h"

#include "base/data_file.h"
#include "base/installed.h"
#include "base/map.h"
#include "base/tensor.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct leat_file_group {
  struct leat_file_group *next;
  const char *path; // as the image names it
  leat_data_file file;
  void **copies; // of tensors that lie unaligned in the file, by file number; NULL: none
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

static leat_status open_group(leat_program *program, const char *base, const leat_image_file *file,
                              leat_file_group **out, leat_error *error) {
  const char *name = leat_view_text(&program->view, file->file), *folder;
  for (leat_file_group *g = program->groups; g; g = g->next) {
    if (strcmp(g->path, name) == 0) {
      *out = g;
      return LEAT_OK;
    }
  }
  LEAT_TRY(folder_of(program, base, file, &folder, error));
  const char *path = name;
  if (folder && name[0] != '/') path = leat_arena_printf(program->arena, "%s/%s", folder, name);
  leat_file_group *group = leat_new(program->arena, leat_file_group);
  group->copies = leat_new_array(program->arena, void *, program->image->files.count);
  group->path = name;
  bool beside = file->kind == LEAT_FILE_BESIDE; // its checksums are compared, once
  LEAT_TRY(leat_data_file_open(&group->file, path, beside, error));
  group->next = program->groups;
  program->groups = *out = group;
  return beside ? check_beside(program, &group->file, error) : LEAT_OK;
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

// The data of file tensor number `number`, after checking that it is what was compiled against.
static leat_status read_file(leat_program *program, const char *base, uint32_t number,
                             leat_error *error) {
  const leat_view *view = &program->view;
  const leat_image_file *file = &view->files[number];
  const char *path = leat_view_text(view, file->file), *name = leat_view_text(view, file->name);
  leat_file_group *group;
  LEAT_TRY(open_group(program, base, file, &group, error));
  const leat_tensor *tensor;
  LEAT_TRY(leat_data_file_read(&group->file, name, &tensor, error));
  int64_t shape[LEAT_MAX_RANK] = {0}, bytes;
  for (uint32_t i = 0; i < file->type.rank; i++)
    if (!leat_formula_is_constant(view, file->type.shape_first + i))
      return leat_fail(error, LEAT_INVALID, "%s: the shape of `%s` is not constant", path, name);
  bool same = leat_type_value(view, &file->type, NULL, shape, &bytes) &&
              tensor->dtype == (leat_dtype)file->type.dtype &&
              tensor->rank == (int32_t)file->type.rank &&
              memcmp(shape, tensor->shape, file->type.rank * sizeof *shape) == 0;
  if (!same) return of_another_type(path, name, tensor, &file->type, shape, error);
  if (file->size && file->size != group->file.view.size)
    return leat_fail(error, LEAT_MISMATCH,
                     "%s has %" PRIu64 " bytes, and had %" PRIu64
                     " when this was built: bring that "
                     "file back, or build it again",
                     path, (uint64_t)group->file.view.size, (uint64_t)file->size);
  uint64_t hash[2];
  if (file->hash[0] || file->hash[1]) {
    LEAT_TRY(hash_tensor(tensor, hash, error));
    if (memcmp(hash, file->hash, sizeof hash) != 0)
      return leat_fail(error, LEAT_MISMATCH,
                       "%s: the values%s%s%s are not those that it had when this was built: bring "
                       "that file back, or build it again",
                       path, *name ? " of `" : "", name, *name ? "`" : "");
  }
  if ((uintptr_t)tensor->data % leat_dtype_alignment(tensor->dtype) == 0) {
    program->files[number] = tensor->data;
    return LEAT_OK;
  }
  size_t size = ((size_t)bytes + 64) & ~(size_t)63;
  void *copy = group->copies[number] = aligned_alloc(64, size);
  if (!copy) return leat_fail(error, LEAT_MEMORY, "%s: no memory for `%s`", path, name);
  memcpy(copy, tensor->data, (size_t)bytes);
  program->files[number] = copy;
  return LEAT_OK;
}

static leat_status check_files(const leat_program *program, leat_error *error) {
  for (const leat_file_group *g = program->groups; g; g = g->next)
    LEAT_TRY(leat_data_file_check(&g->file, error));
  return LEAT_OK;
}

// What has been read already stays.
static leat_status read_files(leat_program *program, const char *base, leat_error *error) {
  for (uint32_t i = 0; i < program->image->files.count; i++)
    if (!program->files[i]) LEAT_TRY(read_file(program, base, i, error));
  return LEAT_OK;
}

static void close_files(leat_program *program) {
  for (leat_file_group *g = program->groups; g; g = g->next)
    close_group(g, program->image->files.count);
}

const leat_file_reader *leat_reads_files(void) {
  static const leat_file_reader reader = {read_files, check_files, close_files};
  return &reader;
}
