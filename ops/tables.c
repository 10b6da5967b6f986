// Shape rules and reference evaluations by op, from the op table.
#include "ops/ops.h"

#include <assert.h>

static const leat_shape_function shapes[LEAT_OP_COUNT] = {
#define OP(name, ...) [LEAT_OP_##name] = shape_##name,
#include "ir/ops.def"
};

#define REF_STRUCTURE(name) NULL
#define REF_ELEMENT(name) ref_##name
#define REF_REDUCE(name) ref_##name
#define REF_SCATTER(name) ref_##name
#define REF_CONTRACT(name) ref_##name
#define REF_LIBRARY(name) ref_##name
#define REF_HOST(name) NULL
#define REF_REGION(name) NULL
static const leat_ref_function refs[LEAT_OP_COUNT] = {
#define OP(name, min, max, outputs, dtypes, apart, kind, ...) [LEAT_OP_##name] = REF_##kind(name),
#include "ir/ops.def"
};

leat_shape_function leat_shape_of(leat_op op) {
  assert((size_t)op < LEAT_OP_COUNT);
  return shapes[op];
}

leat_ref_function leat_ref_of(leat_op op) {
  assert((size_t)op < LEAT_OP_COUNT);
  return refs[op];
}
