// The formats that data files may have, and which one a file has. What reads one format alone links
// none of the others.
// It runs seldom: compiled for size.
#include "base/data_formats.h"
#include "base/npy.h"
#include "base/safetensors_parts.h"
#include "base/text.h"

#include <stdlib.h>
#include <string.h>

static const leat_data_format *recognise(const leat_data_file *file) {
  static const leat_data_format *const own[] = {
      &leat_npy_format, &leat_npz_format, &leat_safetensors_format, &leat_safetensors_index_format};
  enum { OWN = sizeof own / sizeof *own };
  static const char *const endings[OWN] = {".npy", ".npz", ".safetensors", ".json"};
  const leat_data_format *const *others = leat_data_extended().formats;
  for (size_t i = 0; i < OWN; i++)
    if (own[i]->recognises(file->path, file->view.data, file->view.size)) return own[i];
  for (; others && *others; others++)
    if ((*others)->recognises(file->path, file->view.data, file->view.size)) return *others;
  for (size_t i = 0; i < OWN; i++)
    if (leat_ends_with(file->path, endings[i])) return own[i]; // it says what is wrong
  return &leat_safetensors_format;
}

// One whose only tensor has no name.

static bool is_npy(const char *path, const unsigned char *bytes, size_t size) {
  (void)path;
  return size >= 6 && memcmp(bytes, "\x93NUMPY", 6) == 0;
}

static leat_status open_npy(leat_data_file *file, bool verified, leat_error *error) {
  (void)verified;
  leat_npy *npy = file->content = calloc(1, sizeof *npy);
  file->tensors = calloc(1, sizeof *file->tensors);
  if (!npy || !file->tensors) return leat_fail(error, LEAT_MEMORY, "no memory for its table");
  LEAT_TRY(leat_npy_parse(npy, file->view.data, file->view.size, error));
  file->tensors[0] = (leat_named_tensor){"", npy->tensor};
  file->count = 1;
  return LEAT_OK;
}

static void close_npy(leat_data_file *file) {
  if (file->content) leat_npy_close(file->content);
  free(file->content);
}

const leat_data_format leat_npy_format = {"npy", is_npy, open_npy, NULL, NULL, close_npy};

static bool is_safetensors(const char *path, const unsigned char *bytes, size_t size) {
  (void)path;
  uint64_t length = 0;
  for (size_t i = LEAT_SAFETENSORS_LENGTH; i-- > 0 && size > LEAT_SAFETENSORS_LENGTH;)
    length = length << 8 | bytes[i];
  return length && length <= size - LEAT_SAFETENSORS_LENGTH &&
         bytes[LEAT_SAFETENSORS_LENGTH] == '{';
}

static leat_status open_safetensors(leat_data_file *file, bool verified, leat_error *error) {
  leat_safetensors *content = file->content = calloc(1, sizeof *content);
  if (!content) return leat_fail(error, LEAT_MEMORY, "no memory for its table");
  const leat_file_view *view = &file->view;
  LEAT_TRY(verified ? leat_safetensors_parse_verified(content, view->data, view->size, error)
                    : leat_safetensors_parse(content, view->data, view->size, error));
  file->tensors = content->tensors;
  file->count = content->count;
  file->metadata = content->metadata;
  file->metadata_count = content->metadata_count;
  file->checksums = content->checksums;
  content->tensors = NULL;
  content->metadata = NULL;
  return LEAT_OK;
}

static void close_safetensors(leat_data_file *file) {
  if (file->content) leat_safetensors_close(file->content);
  free(file->content);
}

const leat_data_format leat_safetensors_format = {"safetensors", is_safetensors, open_safetensors,
                                                  NULL,          NULL,           close_safetensors};

leat_status leat_data_file_open(leat_data_file *out, const char *path, bool verified,
                                leat_error *error) {
  leat_file_view view;
  *out = (leat_data_file){0};
  LEAT_TRY(leat_file_view_map(&view, path, error));
  LEAT_TRY(leat_data_file_take(out, path, view, error));
  return leat_data_file_open_view(out, recognise(out), verified, error);
}

leat_status leat_data_file_parse(leat_data_file *out, const void *bytes, size_t size, bool verified,
                                 leat_error *error) {
  *out = (leat_data_file){.view = {.data = bytes, .size = size}, .path = ""};
  return leat_data_file_open_view(out, recognise(out), verified, error);
}
