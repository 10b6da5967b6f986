// Model files of other systems: what a file that another system wrote becomes, a text of the
// language and the tensors that this text loads from the file by their names.
//
// A format is recognised by its bytes and read by its importer, a module leat-NAME.so that is
// loaded on first need and exports one leat_importer, called leat_importer_table. What that opens
// lives in memory of its own until closed; its functions end by a status where memory runs out.
#ifndef LEAT_FRONTEND_IMPORT_H
#define LEAT_FRONTEND_IMPORT_H

#include "base/data_file.h"
#include "base/diag.h"

typedef struct leat_model_file leat_model_file;

typedef struct leat_import_options {
  const char *data; // what `load` shall name: "model.onnx", or the file that tensors are written to
  const char *as;   // `use … as NAME`: what it defines begins with it; NULL: with nothing
  bool trainable;   // weights are variables, which begin with what is loaded
  bool is_used;     // by a text, which calls functions: there are no entries
  bool lists_all;   // tensors() has those too that would be loaded if they were variables
  bool says_nodes;  // behind each line stands the node that it is: `  # node `X` (Conv)`
  leat_bytes refused; // "NODE\0WORDS\0"…: nodes that could not be compiled, and why
  // Takes "NODE\0WORDS\0"… of what the file runs and the text does not, with what does that
  // instead; NULL: nobody asks.
  leat_text *left_out;
} leat_import_options;

typedef struct leat_importer {
  // Reads a whole file that lies in memory, which is borrowed until closed. `path` is its name in
  // messages, and that beside which other files of the model lie.
  leat_status (*open)(leat_model_file **out, const char *path, const void *bytes, size_t size,
                      leat_error *error);
  void (*close)(leat_model_file *model); // NULL is fine
  // Writes the text, malloc'ed. What cannot be said in it is in the problems then.
  leat_status (*write)(leat_model_file *model, const leat_import_options *options, char **out,
                       leat_error *error);
  // What the last write could not say: which node, its op, what is supported, what to do. NULL past
  // the last.
  const char *(*problem)(const leat_model_file *model, uint32_t i);
  // What is otherwise in the last text than the model says, for who asks. NULL past the last.
  const char *(*note)(const leat_model_file *model, uint32_t i);
  // The tensors that the text may load, sorted by name; their data is NULL before it is read.
  const leat_named_tensor *(*tensors)(leat_model_file *model, size_t *out_count);
  // Tensor number i with its data, read-only and valid until closed or forgotten, perhaps not
  // aligned.
  leat_status (*read)(leat_model_file *model, size_t i, leat_tensor *out, leat_error *error);
  // Gives back what was made to read it; it may be read again.
  void (*forget)(leat_model_file *model, size_t i);
} leat_importer;

// The name of the importer's module, "onnx"; NULL: the file is no model file that is known, such as
// a text of the language. A path that ends as the format's files do is enough, so that a damaged
// one is told as such.
const char *leat_import_format(const char *path, const void *bytes, size_t size);

typedef struct leat_imported {
  const leat_importer *importer;
  leat_model_file *model;
} leat_imported;

LEAT_MUST_USE leat_status leat_import_open(leat_imported *out, const char *format, const char *path,
                                           const void *bytes, size_t size, leat_error *error);
void leat_import_close(leat_imported *imported); // zeroed is fine

// The text that a model file becomes, malloc'ed; NULL: the file is none. All that stands in its way
// is told as errors, so that nobody mends a model bit by bit; LEAT_UNSUPPORTED then.
LEAT_MUST_USE leat_status leat_import_text(const char *path, leat_bytes file,
                                           const leat_import_options *options, leat_diag *diag,
                                           char **out, leat_error *error);

// Their tensors as those of data files, for leat_data_extend.
extern const leat_data_format leat_import_data;

#endif
