// The formats. A protobuf message has no magic number: what a file may be is told by the fields at
// its top, of which only numbers and wire types are looked at.
#include "frontend/import.h"

#include "base/intern.h"
#include "base/module.h"
#include "base/recovery.h"
#include "base/text.h"
#include "base/varint.h"

#include <stdlib.h>
#include <string.h>

typedef struct format {
  const char *module, *suffix;
  // Of the fields that the message may have: '0' + wire type at the field's number, '-' at others.
  const char *fields;
  uint32_t sure; // the field without which it is no such message
} format;

static const format formats[] = {
    // ModelProto: 1 ir_version, 2 and 3 producer, 4 domain, 5 version, 6 doc, 7 graph, 8 opset.
    {"onnx", ".onnx", "-02220222-----2-----2----22", 7},
    // TensorFlow's GraphDef: 1 node, 2 library, 3 version, 4 versions; SavedModel: 1 version, 2
    // meta graphs; MetaGraphDef: 1 about it, 2 graph, 3 saver, 4 collections, 5 signatures.
    {"graphdef", ".pb", "-2202", 1},
    {"graphdef", ".pbtxt", "-02", 2},
    {"graphdef", ".meta", "-2222222", 2},
};

static bool skip_bytes(leat_unread *in, uint64_t count) {
  if (count > (uint64_t)(in->end - in->at)) return false;
  in->at += count;
  return true;
}

static bool skip_value(leat_unread *in, uint64_t wire_type) {
  uint64_t number;
  switch (wire_type) {
  case 0: return leat_read_varint(in, &number);
  case 1: return skip_bytes(in, 8);
  case 2: return leat_read_varint(in, &number) && skip_bytes(in, number);
  case 5: return skip_bytes(in, 4);
  default: return false;
  }
}

static bool has_fields(const format *f, const void *bytes, size_t size) {
  leat_unread in = {bytes, (const unsigned char *)bytes + size};
  bool sure = false;
  uint64_t tag;
  while (in.at < in.end) {
    if (!leat_read_varint(&in, &tag) || tag >> 3 >= strlen(f->fields)) return false;
    if ((uint64_t)f->fields[tag >> 3] != '0' + (tag & 7) || !skip_value(&in, tag & 7)) return false;
    sure = sure || tag >> 3 == f->sure;
  }
  return sure;
}

const char *leat_import_format(const char *path, const void *bytes, size_t size) {
  enum { COUNT = sizeof formats / sizeof *formats };
  for (size_t i = 0; i < COUNT; i++)
    if (has_fields(&formats[i], bytes, size)) return formats[i].module;
  for (size_t i = 0; i < COUNT; i++)
    if (leat_ends_with(path, formats[i].suffix)) return formats[i].module;
  return NULL;
}

leat_status leat_import_open(leat_imported *out, const char *format, const char *path,
                             const void *bytes, size_t size, leat_error *error) {
  const void *table;
  *out = (leat_imported){0};
  LEAT_TRY(leat_module_load(format, "leat_importer_table", &table, error));
  out->importer = table;
  return out->importer->open(&out->model, path, bytes, size, error);
}

void leat_import_close(leat_imported *imported) {
  if (imported->importer) imported->importer->close(imported->model);
  *imported = (leat_imported){0};
}

// -- Model files as texts -------------------------------------------------------------------------

static leat_status tell_problems(const leat_imported *imported, const char *path, leat_diag *diag) {
  const char *problem;
  uint32_t i = 0;
  for (; (problem = imported->importer->problem(imported->model, i)); i++)
    leat_error_at(diag, (leat_span){0}, "%s: %s", path, problem);
  return i ? LEAT_UNSUPPORTED : LEAT_OK;
}

leat_status leat_import_text(const char *path, leat_bytes file, const leat_import_options *options,
                             leat_diag *diag, char **out, leat_error *error) {
  leat_imported imported;
  const char *format = leat_import_format(path, file.data, file.size);
  *out = NULL;
  if (!format) return LEAT_OK;
  leat_status status = leat_import_open(&imported, format, path, file.data, file.size, error);
  if (!status) status = imported.importer->write(imported.model, options, out, error);
  if (!status) LEAT_RECOVER(status, tell_problems(&imported, path, diag));
  leat_import_close(&imported);
  return status == LEAT_MEMORY ? leat_fail(error, status, "%s: no memory to read it", path)
                               : status;
}

// -- Model files as data files --------------------------------------------------------------------

static bool recognises(const char *path, const unsigned char *bytes, size_t size) {
  return leat_import_format(path, bytes, size) != NULL;
}

static leat_status open_tensors(leat_data_file *file, bool verified, leat_error *error) {
  (void)verified;
  const char *format = leat_import_format(file->path, file->view.data, file->view.size);
  const leat_import_options options = {.data = leat_path_last(file->path), .lists_all = true};
  leat_imported *imported = calloc(1, sizeof *imported);
  char *text;
  file->content = imported;
  if (!imported) return leat_fail(error, LEAT_MEMORY, "no memory to read it");
  LEAT_TRY(leat_import_open(imported, format, file->path, file->view.data, file->view.size, error));
  LEAT_TRY(imported->importer->write(imported->model, &options, &text, error));
  free(text);
  const leat_named_tensor *listed = imported->importer->tensors(imported->model, &file->count);
  if (listed) file->tensors = malloc((file->count + 1) * sizeof *file->tensors);
  if (!file->tensors) return leat_fail(error, LEAT_MEMORY, "no memory to read it");
  memcpy(file->tensors, listed, file->count * sizeof *file->tensors);
  return LEAT_OK;
}

// Both lists are sorted by the same names.
static leat_status read_tensor(leat_data_file *file, leat_named_tensor *tensor, leat_error *error) {
  leat_imported *imported = file->content;
  return imported->importer->read(imported->model, (size_t)(tensor - file->tensors),
                                  &tensor->tensor, error);
}

static void drop_tensor(leat_data_file *file, leat_named_tensor *tensor) {
  leat_imported *imported = file->content;
  imported->importer->forget(imported->model, (size_t)(tensor - file->tensors));
  tensor->tensor.data = NULL;
}

static void close_tensors(leat_data_file *file) {
  if (file->content) leat_import_close(file->content);
  free(file->content);
}

const leat_data_format leat_import_data = {.name = "model file",
                                           .recognises = recognises,
                                           .open = open_tensors,
                                           .read = read_tensor,
                                           .drop = drop_tensor,
                                           .close = close_tensors};
