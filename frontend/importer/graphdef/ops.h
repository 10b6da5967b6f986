// The rows of ops.def. Internal to frontend/importer/graphdef/.
#ifndef LEAT_FRONTEND_GRAPHDEF_OPS_H
#define LEAT_FRONTEND_GRAPHDEF_OPS_H

#include <stdbool.h>
#include <stddef.h>

typedef struct tf_op {
  const char *name, *write, *inputs, *outputs, *attributes, *gives;
  bool effect;
} tf_op;

const tf_op *tf_op_find(const char *name); // NULL: there is none

#endif
