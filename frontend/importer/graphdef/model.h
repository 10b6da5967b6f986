// A TensorFlow file that is open, and what writes it as a text. Internal to
// frontend/importer/graphdef/.
//
//   model.c     what is read of a file
//   textual.c   messages in protobuf's text format, .pbtxt
//   bundle.c    the variables of a saved model, in a checkpoint beside it
//   tensor.c    the data of a TensorProto; small ones as the language writes them
//   block.c     the nodes of a graph or a function: who takes what of whom, in which order
//   restored.c  what a graph does once: variables that it restores, tables that it fills
//   entries.c   what of a graph is run: signatures, leaves, targets
//   text.c      a graph as a text: variables, entries, names
//   node.c      a node as a line, by its row in ops.def
//   special.c   the nodes for which a row does not say enough
//   call.c      functions of the library, where they are called
//   branch.c    branches that are functions; while.c loops that are
#ifndef LEAT_FRONTEND_GRAPHDEF_MODEL_H
#define LEAT_FRONTEND_GRAPHDEF_MODEL_H

#include "base/map.h"
#include "base/text.h"
#include "base/vec.h"
#include "frontend/importer/model_file.h"
#include "tensorflow.pb-c.h"

typedef Tensorflow__NodeDef tf_node_def;
typedef Tensorflow__AttrValue tf_attr;
typedef Tensorflow__TensorProto tf_tensor;
typedef Tensorflow__FunctionDef tf_function;

// A variable of the checkpoint.
typedef struct tf_bundle_entry {
  const char *key;  // in the checkpoint
  const char *name; // of the variable, as far as the checkpoint says it
  leat_tensor type; // without data
  const char *path; // of the file
  int64_t offset, size;
  uint32_t crc;
} tf_bundle_entry;

typedef struct tf_saved {
  const char *kind;                  // "a GraphDef"
  const Tensorflow__GraphDef *graph; // of the meta graph, where there is one
  const Tensorflow__MetaGraphDef *meta;
  leat_vec(tf_bundle_entry) bundle;
} tf_saved;

// -- textual.c ------------------------------------------------------------------------------------

// The bytes of the message that the text is, in the arena. A mistake is at PATH:LINE:COLUMN.
LEAT_MUST_USE leat_status tf_read_text(leat_arena *arena, const char *path, const char *text,
                                       size_t size, const ProtobufCMessageDescriptor *descriptor,
                                       leat_bytes *out, leat_error *error);

// -- bundle.c -------------------------------------------------------------------------------------

// Lists the variables of the checkpoint `prefix`.index; none where there is no such file.
LEAT_MUST_USE leat_status tf_open_bundle(leat_arena *arena, tf_saved *saved, const char *prefix,
                                         leat_error *error);
// The one of that key, or else of that name; NULL: there is none.
const tf_bundle_entry *tf_find_saved(const tf_saved *saved, const char *key, const char *name);
LEAT_MUST_USE leat_status tf_read_variable(leat_arena *arena, const tf_bundle_entry *entry,
                                           leat_tensor *out, leat_error *error);

// -- tensor.c -------------------------------------------------------------------------------------

// The dtype here, of references too; false: there is none.
bool tf_dtype(int64_t data_type, leat_dtype *out);
// Shape and dtype, without the data; `name` is how messages call it.
LEAT_MUST_USE leat_status tf_tensor_type(const tf_tensor *tensor, const char *name,
                                         leat_tensor *out, leat_error *error);
// With the data, in the arena.
LEAT_MUST_USE leat_status tf_tensor_read(leat_arena *arena, const tf_tensor *tensor,
                                         const char *name, leat_tensor *out, leat_error *error);

#endif
