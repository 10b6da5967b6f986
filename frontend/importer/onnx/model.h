// An ONNX file that is open, and what writes it as a text. Internal to frontend/importer/onnx/.
//
//   model.c     what is read of a file
//   tensor.c    the data of a TensorProto, wherever it lies
//   sparse.c    a sparse tensor as a dense one
//   literal.c   small constants as the language writes them
//   text.c      a model as a text: its parameters, its blocks
//   node.c      a node as a line, by its row in ops.def
//   special.c   the nodes for which a row does not say enough
//   trees.c     ensembles of trees, as their attributes say them
//   tree_tables.c  the same as tables
//   control.c   branches and the bodies of loops
//   kernels.c   which weights are those of convolutions alone
//   names.c     names as the language writes them
//   ops.c       rows by domain, op and version
#ifndef LEAT_FRONTEND_ONNX_MODEL_H
#define LEAT_FRONTEND_ONNX_MODEL_H

#include "base/map.h"
#include "base/text.h"
#include "base/vec.h"
#include "frontend/importer/model_file.h"
#include "onnx.pb-c.h"

typedef Onnx__AttributeProto onnx_attribute;
typedef Onnx__GraphProto onnx_graph;
typedef Onnx__NodeProto onnx_node;
typedef Onnx__SparseTensorProto onnx_sparse;
typedef Onnx__TensorProto onnx_tensor;

// -- tensor.c -------------------------------------------------------------------------------------

// Of each ONNX data type: what carries it here, and how many bits of it lie in a file. What the
// language lacks is carried as codes in bytes: floats of 8 and 4 bits as they lie, integers of 4
// and 2 bits as the numbers that they are. NULL: there is no such type.
typedef struct onnx_dtype {
  const char *name; // "FLOAT"
  leat_dtype carrier;
  uint8_t bits; // 0: strings
  bool is_code;
} onnx_dtype;
const onnx_dtype *onnx_dtype_of(int64_t data_type); // NULL: there is no such type

// Shape and dtype, without the data; `name` is how messages call it.
leat_status onnx_tensor_type(const onnx_tensor *tensor, const char *name, leat_tensor *out,
                             leat_error *error);
// With the data, which lies in the message or is made in the arena. What lies in another file is
// looked for beside `path`.
leat_status onnx_tensor_read(leat_arena *arena, const char *path, const onnx_tensor *tensor,
                             const char *name, leat_tensor *out, leat_error *error);

// Whether there is such data, as far as that is known without reading it.
leat_status onnx_tensor_check(leat_arena *arena, const char *path, const onnx_tensor *tensor,
                              const char *name, leat_error *error);

// Makes [A, B, …] the shape [..., B, A]; the data, if it is there, is made anew in the arena.
leat_status onnx_window_first(leat_arena *arena, leat_tensor *tensor, leat_error *error);

// -- sparse.c -------------------------------------------------------------------------------------

// The dense tensor of that name that it stands for, in the arena. It takes so many bytes of those
// that are left: a few numbers may say any shape.
leat_status onnx_dense(leat_arena *arena, const char *path, const onnx_sparse *sparse,
                       const char *name, int64_t *left, onnx_tensor **out, leat_error *error);

#endif
