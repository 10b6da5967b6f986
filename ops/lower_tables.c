// Lowerings and reducers by op, from the op table. Apart from ops/tables.c, so that what only
// evaluates by reference does not link the kernel builder.
#include "ops/ops.h"

#include <assert.h>

#define LOWER_STRUCTURE(name) NULL
#define LOWER_ELEMENT(name) lower_##name
#define LOWER_REDUCE(name) NULL
#define LOWER_SCATTER(name) NULL
#define LOWER_CONTRACT(name) NULL
#define LOWER_LIBRARY(name) NULL
#define LOWER_HOST(name) NULL
#define LOWER_REGION(name) NULL
static const leat_lower_function lowers[LEAT_OP_COUNT] = {
#define OP(name, min, max, outputs, dtypes, apart, kind, ...) [LEAT_OP_##name] = LOWER_##kind(name),
#include "ir/ops.def"
};

#define REDUCER_STRUCTURE(name) NULL
#define REDUCER_ELEMENT(name) NULL
#define REDUCER_REDUCE(name) &reduce_##name
#define REDUCER_SCATTER(name) NULL
#define REDUCER_CONTRACT(name) NULL
#define REDUCER_LIBRARY(name) NULL
#define REDUCER_HOST(name) NULL
#define REDUCER_REGION(name) NULL
static const leat_reducer *const reducers[LEAT_OP_COUNT] = {
#define OP(name, min, max, outputs, dtypes, apart, kind, ...)                                      \
  [LEAT_OP_##name] = REDUCER_##kind(name),
#include "ir/ops.def"
};

#define LIBRARY_STRUCTURE(name) NULL
#define LIBRARY_ELEMENT(name) NULL
#define LIBRARY_REDUCE(name) NULL
#define LIBRARY_SCATTER(name) NULL
#define LIBRARY_CONTRACT(name) NULL
#define LIBRARY_LIBRARY(name) library_##name
#define LIBRARY_HOST(name) NULL
#define LIBRARY_REGION(name) NULL
static const leat_library_function libraries[LEAT_OP_COUNT] = {
#define OP(name, min, max, outputs, dtypes, apart, kind, ...)                                      \
  [LEAT_OP_##name] = LIBRARY_##kind(name),
#include "ir/ops.def"
};

leat_lower_function leat_lower_of(leat_op op) {
  assert((size_t)op < LEAT_OP_COUNT);
  return lowers[op];
}

const leat_reducer *leat_reducer_of(leat_op op) {
  assert((size_t)op < LEAT_OP_COUNT);
  return reducers[op];
}

leat_library_function leat_library_of(leat_op op) {
  assert((size_t)op < LEAT_OP_COUNT);
  return libraries[op];
}
