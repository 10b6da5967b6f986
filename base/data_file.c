// It runs seldom: compiled for size.
#include "base/data_file.h"

#include "base/data_formats.h"
#include "base/safetensors_parts.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// -- What else there is ---------------------------------------------------------------------------

static pthread_mutex_t extension_lock = PTHREAD_MUTEX_INITIALIZER;
static leat_data_extension extension;

void leat_data_extend(const leat_data_extension *more) {
  pthread_mutex_lock(&extension_lock);
  extension = *more;
  pthread_mutex_unlock(&extension_lock);
}

leat_data_extension leat_data_extended(void) {
  pthread_mutex_lock(&extension_lock);
  leat_data_extension now = extension;
  pthread_mutex_unlock(&extension_lock);
  return now;
}

struct leat_data_part {
  leat_data_part *next;
  leat_file_view view;
  char path[];
};

// -- Files ----------------------------------------------------------------------------------------

int leat_by_tensor_name(const void *a, const void *b) {
  return strcmp(((const leat_named_tensor *)a)->name, ((const leat_named_tensor *)b)->name);
}

static leat_status check_names(const leat_data_file *file, leat_error *error) {
  if (file->count) qsort(file->tensors, file->count, sizeof *file->tensors, leat_by_tensor_name);
  for (size_t i = 1; i < file->count; i++)
    if (leat_by_tensor_name(&file->tensors[i - 1], &file->tensors[i]) == 0)
      return leat_fail(error, LEAT_INVALID, "the name '%s' comes twice", file->tensors[i].name);
  return LEAT_OK;
}

leat_status leat_data_file_open_view(leat_data_file *out, const leat_data_format *format,
                                     bool verified, leat_error *error) {
  leat_error cause = {0};
  out->format = format;
  leat_status status = format->open(out, verified, &cause);
  if (!status) status = check_names(out, &cause);
  if (!status) return LEAT_OK;
  status = *out->path ? leat_fail(error, status, "'%s': %s", out->path, cause.message)
                      : leat_fail(error, status, "%s", cause.message);
  leat_data_file_close(out);
  return status;
}

leat_status leat_data_file_take(leat_data_file *out, const char *path, leat_file_view view,
                                leat_error *error) {
  *out = (leat_data_file){.path = strdup(path), .view = view};
  if (out->path) return LEAT_OK;
  leat_file_view_close(&out->view);
  return leat_fail(error, LEAT_MEMORY, "out of memory for '%s'", path);
}

void leat_data_file_close(leat_data_file *file) {
  if (file->format) file->format->close(file);
  free(file->tensors);
  free(file->metadata);
  for (leat_data_part *next, *part = file->parts; part; part = next) {
    next = part->next;
    leat_file_view_close(&part->view);
    free(part);
  }
  if (file->path && *file->path) {
    leat_file_view_close(&file->view);
    free((char *)file->path);
  }
  *file = (leat_data_file){0};
}

// -- Several files --------------------------------------------------------------------------------

leat_status leat_data_file_check(const leat_data_file *file, leat_error *error) {
  LEAT_TRY(leat_file_view_check(&file->view, file->path, error));
  for (const leat_data_part *part = file->parts; part; part = part->next)
    LEAT_TRY(leat_file_view_check(&part->view, part->path, error));
  return LEAT_OK;
}

static bool identify(const leat_file_view *view, leat_text *out) {
  const uint64_t numbers[] = {view->inode[0], view->inode[1], (uint64_t)view->modified[0],
                              (uint64_t)view->modified[1], view->size};
  for (int i = 0; i < 5; i++) {
    leat_text_add_u64(out, numbers[i]);
    leat_text_add(out, " ");
  }
  return view->inode[0] || view->inode[1];
}

bool leat_data_file_identify(const leat_data_file *file, leat_text *out) {
  bool known = identify(&file->view, out);
  for (const leat_data_part *part = file->parts; part; part = part->next)
    known &= identify(&part->view, out);
  return known;
}

uint64_t leat_data_file_size(const leat_data_file *file) {
  uint64_t size = file->view.size;
  for (const leat_data_part *part = file->parts; part; part = part->next) size += part->view.size;
  return size;
}

leat_status leat_data_file_add_part(leat_data_file *file, const char *name,
                                    const leat_file_view **out, leat_error *error) {
  const char *slash = strrchr(file->path, '/');
  if (!*file->path || !leat_file_stays_beside(name))
    return leat_fail(error, LEAT_INVALID, "it names '%.200s', which is no file beside it", name);
  int folder = slash ? (int)(slash + 1 - file->path) : 0;
  size_t room = (size_t)folder + strlen(name) + 1;
  leat_data_part *part = calloc(1, sizeof *part + room);
  if (!part) return leat_fail(error, LEAT_MEMORY, "out of memory for '%.200s'", name);
  snprintf(part->path, room, "%.*s%s", folder, file->path, name);
  leat_status status = leat_file_check_regular(part->path, error);
  if (!status) status = leat_file_view_map(&part->view, part->path, error);
  if (status) {
    free(part);
    return status;
  }
  part->next = file->parts;
  file->parts = part;
  *out = &part->view;
  return LEAT_OK;
}

// -- Tensors --------------------------------------------------------------------------------------

static leat_named_tensor *find(const leat_data_file *file, const char *name) {
  leat_named_tensor wanted = {.name = name};
  if (!file->count) return NULL;
  return bsearch(&wanted, file->tensors, file->count, sizeof wanted, leat_by_tensor_name);
}

const leat_tensor *leat_data_file_find(const leat_data_file *file, const char *name) {
  const leat_named_tensor *found = find(file, name);
  return found ? &found->tensor : NULL;
}

// "`a`, `b` and 7 others"
static void name_some(const leat_data_file *file, char *out, size_t room) {
  enum { MOST = 4 };
  size_t shown = file->count <= MOST + 1 ? file->count : MOST, used = 0;
  for (size_t i = 0; i < shown && used < room; i++) {
    const char *between = !i ? "" : i + 1 < file->count ? ", " : " and ";
    used += (size_t)snprintf(out + used, room - used, "%s`%.60s`", between, file->tensors[i].name);
  }
  if (shown < file->count && used < room)
    snprintf(out + used, room - used, " and %zu others", file->count - shown);
}

leat_status leat_data_file_lacks(const leat_data_file *file, const char *name, leat_error *error) {
  char names[400] = "no tensors";
  name_some(file, names, sizeof names);
  if (file->count == 1 && !*file->tensors->name)
    return leat_fail(error, LEAT_NOT_FOUND, "'%s' holds one tensor, which has no name: not `%s`",
                     file->path, name);
  if (!*name)
    return leat_fail(error, LEAT_NOT_FOUND, "'%s' needs the name of a tensor: it holds %s",
                     file->path, names);
  return leat_fail(error, LEAT_NOT_FOUND, "'%s' has no tensor `%s`: it holds %s", file->path, name,
                   names);
}

leat_status leat_data_file_read(leat_data_file *file, const char *name, const leat_tensor **out,
                                leat_error *error) {
  leat_error cause = {0};
  leat_named_tensor *found = find(file, name);
  *out = NULL;
  if (!found) return leat_data_file_lacks(file, name, error);
  LEAT_TRY(leat_data_file_check(file, error));
  leat_status status =
      found->tensor.data || !file->format->read ? LEAT_OK : file->format->read(file, found, &cause);
  if (status)
    return leat_fail(error, status, "'%s': `%s`: %s", file->path, found->name, cause.message);
  *out = &found->tensor;
  return LEAT_OK;
}

void leat_data_file_drop(leat_data_file *file, const char *name) {
  leat_named_tensor *found = find(file, name);
  if (!found || !found->tensor.data) return;
  if (file->format->drop) {
    file->format->drop(file, found);
    leat_file_drop(file->view.data, file->view.size);
  } else {
    leat_file_drop(found->tensor.data, (size_t)leat_tensor_bytes(&found->tensor));
  }
}

bool leat_data_file_is_scattered(const leat_data_file *file) {
  return file->format && file->format->drop;
}

leat_status leat_data_file_read_all(leat_data_file *file, leat_error *error) {
  const leat_tensor *ignored;
  for (size_t i = 0; i < file->count; i++)
    LEAT_TRY(leat_data_file_read(file, file->tensors[i].name, &ignored, error));
  return LEAT_OK;
}
