// Values built by ops/build.h and evaluated by their reference meaning. A test compares a value as
// the printer writes it: `f32[2] = [1.0, 2.0]`.
#ifndef LEAT_TESTS_UNIT_BUILT_H
#define LEAT_TESTS_UNIT_BUILT_H

#include "ir/print.h"
#include "ir/verify.h"
#include "ops/build.h"
#include "ops/ops.h"
#include "tests/unit/check.h"

#include <stdlib.h>

static leat_arena *arena;
static leat_graph *graph;
static leat_builder builder;
static int64_t dim_values[64];
static bool dim_known[64];
static leat_error error;
static uint32_t replica;

static inline void start(void) {
  if (arena) leat_arena_reset(arena);
  if (!arena) arena = leat_arena_create();
  graph = leat_graph_create(arena, leat_strings_create(arena), "g");
  builder = (leat_builder){.graph = graph, .diag = leat_diag_create(arena)};
  memset(dim_known, 0, sizeof dim_known);
  error = (leat_error){0};
  replica = 0;
}

// -- Making values -------------------------------------------------------------------------------

static inline leat_value number(leat_dtype dtype, double value) {
  return leat_build_scalar(&builder, "c", dtype, value);
}

static inline leat_value tensor(leat_dtype dtype, int32_t rank, const int64_t *shape,
                                const double *values) {
  leat_tensor t = {.dtype = dtype, .rank = rank};
  for (int32_t i = 0; i < rank; i++) t.shape[i] = shape[i];
  int64_t count = leat_shape_elements(rank, shape);
  char *data = t.data = leat_arena_alloc(arena, (size_t)leat_tensor_bytes(&t));
  for (int64_t i = 0; i < count; i++) {
    const leat_tensor *one = leat_node_attr(number(dtype, values[i]).node, "value")->tensor;
    memcpy(data + (size_t)i * leat_dtype_size(dtype), one->data, leat_dtype_size(dtype));
  }
  return leat_build_const(&builder, "c", &t);
}

#define INTS(...) ((const int64_t[]){__VA_ARGS__})
#define V(dtype, rank, shape, ...) tensor(LEAT_##dtype, rank, shape, (const double[]){__VA_ARGS__})
#define SHAPE(...) INTS(__VA_ARGS__)
#define V1(dtype, ...)                                                                             \
  tensor(LEAT_##dtype, 1, SHAPE(sizeof((double[]){__VA_ARGS__}) / sizeof(double)),                 \
         (const double[]){__VA_ARGS__})

static inline leat_value feed(leat_type type) {
  leat_attr attrs[] = {
      {.string = "x"}, {.i = 0}, {.type = leat_arena_memdup(arena, &type, sizeof type)}, {.i = 0}};
  return leat_build(&builder, "x", LEAT_OP_feed, NULL, 0, attrs);
}

static inline leat_dim named(const char *name) {
  return leat_dim_named(graph->dims, name, 0, INT64_MAX);
}
static inline leat_dim num(int64_t value) {
  return leat_dim_const(value);
}

#define F(dtype, ...)                                                                              \
  feed((leat_type){                                                                                \
      LEAT_##dtype, sizeof((leat_dim[]){__VA_ARGS__}) / sizeof(leat_dim), {__VA_ARGS__}})

static inline leat_value op(leat_op which, const leat_value *inputs, uint32_t count,
                            const leat_attr *attrs) {
  return leat_build(&builder, "y", which, inputs, count, attrs);
}
#define IN(...)                                                                                    \
  (const leat_value[]){__VA_ARGS__}, sizeof((leat_value[]){__VA_ARGS__}) / sizeof(leat_value)
#define NONE (const leat_value *)NULL, 0
#define OP(which, in, ...) op(LEAT_OP_##which, in, (const leat_attr[]){__VA_ARGS__})
#define OP0(which, in) op(LEAT_OP_##which, in, NULL)
#define I(value)                                                                                   \
  { .i = (value) }
#define LIST(...)                                                                                  \
  { .count = sizeof((int64_t[]){__VA_ARGS__}) / 8, .ints = INTS(__VA_ARGS__) }
#define NO_INTS                                                                                    \
  { .count = 0, .ints = NULL }

// Dims given as an array of constants or named dims; copied, for attributes must live as long as
// the graph.
static inline leat_attr dims_attr(uint32_t count, const leat_dim *dims) {
  leat_attr attr = {0};
  attr.count = count;
  attr.dims = leat_arena_memdup(arena, dims, count * sizeof *dims);
  return attr;
}
#define DIMS(...)                                                                                  \
  dims_attr(sizeof((leat_dim[]){__VA_ARGS__}) / sizeof(leat_dim), (const leat_dim[]){__VA_ARGS__})

static inline void set_dim(const char *name, int64_t value) {
  uint32_t id = leat_dim_atom(named(name))->id;
  dim_values[id] = value;
  dim_known[id] = true;
}

// -- Evaluating ----------------------------------------------------------------------------------

static inline leat_status evaluate(leat_value value, leat_tensor *out) {
  leat_node *node = value.node;
  *out = (leat_tensor){0};
  if (node->op == LEAT_OP_const) {
    *out = *node->attrs[0].tensor;
    return LEAT_OK;
  }
  leat_tensor *inputs = leat_new_array(arena, leat_tensor, node->input_count);
  for (uint32_t i = 0; i < node->input_count; i++) LEAT_TRY(evaluate(node->inputs[i], &inputs[i]));
  leat_ref_context context = {.node = node,
                              .inputs = inputs,
                              .dim_values = dim_values,
                              .dim_known = dim_known,
                              .replica = replica,
                              .error = &error};
  LEAT_TRY(leat_ref_evaluate(arena, &context));
  *out = context.outputs[value.port];
  return LEAT_OK;
}

static const char *finish(leat_text *text) {
  const char *copy = text->data ? leat_arena_strndup(arena, text->data, text->size) : "";
  leat_text_finish(text);
  return copy;
}

// The value as text, or what went wrong.
static const char *value_of(leat_value value) {
  leat_text text = {0};
  leat_tensor result;
  if (!value.node) {
    leat_diag_print(builder.diag, &text);
    return finish(&text);
  }
  error = (leat_error){0};
  if (evaluate(value, &result))
    return leat_arena_printf(arena, "%s: %s", leat_status_name(error.status), error.message);
  leat_node_print(leat_build_const(&builder, "r", &result).node, &text);
  return strstr(finish(&text), ": ") + 2;
}

static const char *type_of(leat_value value) {
  if (!value.node) return value_of(value);
  leat_text text = {0};
  leat_type_print(leat_value_type(value), &text);
  return finish(&text);
}

#define CHECK_VALUE(value, expected) CHECK_EQ_STR(value_of(value), expected)
#define CHECK_TYPE(value, expected) CHECK_EQ_STR(type_of(value), expected)

// Nothing was built, and these words say why.
static inline void check_refused(leat_value value, const char *words, const char *file, int line) {
  leat_text text = {0};
  leat_diag_print(builder.diag, &text);
  const char *all = finish(&text);
  if (value.node || !strstr(all, words)) {
    check_failures++;
    printf("%s:%d: `%s` is not in `%s`\n", file, line, words, all);
  }
  leat_diag_clear(builder.diag);
}
#define CHECK_REFUSED(value, words) check_refused(value, words, __FILE__, __LINE__)

#define X23 V(i32, 2, SHAPE(2, 3), 1, 2, 3, 4, 5, 6)

#endif
