#include "frontend/importer/graphdef/ops.h"

#include <string.h>

static const tf_op ops[] = {
#define OP(name, write, inputs, outputs, attributes, gives)                                        \
  {#name, write, inputs, outputs, attributes, gives, false},
#define EFFECT(name, write, inputs, outputs, attributes)                                           \
  {#name, write, inputs, outputs, attributes, "", true},
#include "frontend/importer/graphdef/ops.def"
#undef OP
#undef EFFECT
};

const tf_op *tf_op_find(const char *name) {
  for (size_t i = 0; i < sizeof ops / sizeof *ops; i++)
    if (strcmp(ops[i].name, name) == 0) return &ops[i];
  return NULL;
}
