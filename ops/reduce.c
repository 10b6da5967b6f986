// Reductions, and the order in which a sum is added: a promise, which codegen keeps bit by bit. A
// product is multiplied in the same order, but one of complex numbers from the first to the last.
//
// Adjacent reduced axes first become one logical axis (by the attribute `axis` alone: an axis of
// length 1 is none the less an axis). Then, for each output element, over its reduced elements in
// row-major order:
//
// 1. The innermost logical axis of the input is reduced, n long. If n <= BLOCK_INNER: 16
// accumulators start at the
//    identity; the element with innermost index i is added to accumulator i mod 16, over all
//    reduced elements; then the accumulators are folded by halves: a[i] += a[i + 8] for i < 8, then
//    4, 2, 1. If n is larger, each row of n is cut into blocks of BLOCK_INNER (the last may be
//    shorter), each block is folded as above to one number, and these numbers, as rows of ceil(n /
//    BLOCK_INNER), are folded so too, however many they are.
// 2. The innermost axis stays. The reduced elements, numbered across all reduced axes, are cut into
// blocks of
//    BLOCK_OUTER; one accumulator adds a block in ascending order, another the blocks' results.
//
// The identity of a float sum is -0, which changes no bits. A sum of no elements is +0, a product
// of none 1; of no elements `any` is false and `all` true. Those two, max, min, argmax and argmin
// give the same in any order: NaN wins, -0 < +0 (for argmax and argmin they are equal), and argmax
// and argmin take the first among equals.
#include "ops/reduce.h"

#include "kernel/lowering.h"
#include "ops/complex.h"
#include "ops/ref.h"
#include "ops/shape.h"

#include <math.h>
#include <stdlib.h>

// -- Shapes --------------------------------------------------------------------------------------

static bool reduced_shape(leat_shape_context *context) {
  const leat_type *x = leat_shape_input(context, 0);
  const leat_attr *axes = leat_node_attr(context->node, "axis");
  bool keepdims = leat_node_attr(context->node, "keepdims")->i;
  leat_type *out = &context->outputs[0];
  uint32_t next = 0;
  *out = (leat_type){.dtype = x->dtype};
  for (uint32_t i = 0; i < axes->count; i++) {
    if (!leat_shape_axis(context, axes->ints[i], x->rank)) return false;
    if (i && axes->ints[i] <= axes->ints[i - 1])
      return leat_shape_fail(context, "the axes are not in ascending order");
  }
  for (int32_t i = 0; i < x->rank; i++) {
    bool reduced = next < axes->count && axes->ints[next] == i;
    next += reduced;
    if (!reduced || keepdims) out->dims[out->rank++] = reduced ? leat_dim_const(1) : x->dims[i];
  }
  return true;
}

// With `limited`, i32 is to count them.
static bool needs_elements(leat_shape_context *context, bool limited) {
  const leat_attr *axes = leat_node_attr(context->node, "axis");
  leat_dim count = leat_dim_const(1);
  for (uint32_t i = 0; i < axes->count; i++) {
    leat_dim extent = leat_shape_input(context, 0)->dims[axes->ints[i]];
    leat_claim some = {.says = leat_arena_printf(context->graph->arena,
                                                 "axis %lld has no elements to choose from",
                                                 (long long)axes->ints[i])};
    if (!leat_dim_sub(context->graph->dims, extent, leat_dim_const(1), &some.room) ||
        !leat_dim_mul(context->graph->dims, count, extent, &count))
      return leat_shape_fail(context, "too many elements");
    if (!leat_shape_claim(context, &some)) return false;
  }
  return !limited || leat_shape_claim_counted(context, count);
}

bool shape_sum(leat_shape_context *context) {
  return reduced_shape(context);
}
bool shape_prod(leat_shape_context *context) {
  return reduced_shape(context);
}
bool shape_any(leat_shape_context *context) {
  return reduced_shape(context);
}
bool shape_all(leat_shape_context *context) {
  return reduced_shape(context);
}
bool shape_max(leat_shape_context *context) {
  return reduced_shape(context) && needs_elements(context, false);
}
bool shape_min(leat_shape_context *context) {
  return reduced_shape(context) && needs_elements(context, false);
}

bool shape_argmax(leat_shape_context *context) {
  if (!reduced_shape(context) || !needs_elements(context, true)) return false;
  context->outputs[0].dtype = LEAT_i32;
  return true;
}

bool shape_argmin(leat_shape_context *context) {
  return shape_argmax(context);
}

// -- The reduced elements of an output element ---------------------------------------------------

typedef struct reduction {
  const leat_tensor *x;
  int32_t reduced_rank, kept_rank;
  int32_t reduced_axes[LEAT_MAX_RANK], kept_axes[LEAT_MAX_RANK];
  int64_t reduced[LEAT_MAX_RANK], kept[LEAT_MAX_RANK]; // lengths
  int64_t count;                                       // reduced elements of one output element
  int64_t outputs;
  int64_t inner; // length of the innermost logical axis when that is reduced, else 0
} reduction;

static reduction reduction_of(const leat_ref_context *context) {
  reduction r = {.x = &context->inputs[0]};
  const leat_attr *axes = leat_node_attr(context->node, "axis");
  for (int32_t axis = 0; axis < r.x->rank; axis++) {
    int64_t length = r.x->shape[axis];
    bool reduced = (uint32_t)r.reduced_rank < axes->count && axes->ints[r.reduced_rank] == axis;
    r.inner = !reduced ? 0 : r.inner ? r.inner * length : length;
    if (reduced) {
      r.reduced[r.reduced_rank] = length;
      r.reduced_axes[r.reduced_rank++] = axis;
    } else {
      r.kept[r.kept_rank] = length;
      r.kept_axes[r.kept_rank++] = axis;
    }
  }
  r.count = leat_shape_elements(r.reduced_rank, r.reduced);
  r.outputs = leat_shape_elements(r.kept_rank, r.kept);
  return r;
}

// Where in x the reduced element number `element` of output number `output` is.
static int64_t position_of(const reduction *r, int64_t output, int64_t element) {
  int64_t kept[LEAT_MAX_RANK], reduced[LEAT_MAX_RANK], at[LEAT_MAX_RANK];
  leat_unflatten(output, r->kept_rank, r->kept, kept);
  leat_unflatten(element, r->reduced_rank, r->reduced, reduced);
  for (int32_t i = 0; i < r->kept_rank; i++) at[r->kept_axes[i]] = kept[i];
  for (int32_t i = 0; i < r->reduced_rank; i++) at[r->reduced_axes[i]] = reduced[i];
  return leat_flatten(r->x->rank, r->x->shape, at);
}

// -- sum, prod: folds whose rounding depends on their order --------------------------------------

// x holds the reduced elements of one output element; fold_inner overwrites it. Integers are folded
// as u64: they wrap.
#define DEFINE_FOLDS(name, T, COMBINE, IDENTITY)                                                   \
  static T name##_lanes_##T(const T *x, int64_t rows, int64_t n) {                                 \
    T lanes[LEAT_REDUCE_LANES];                                                                    \
    for (int i = 0; i < LEAT_REDUCE_LANES; i++) lanes[i] = (T)(IDENTITY);                          \
    for (int64_t row = 0; row < rows; row++)                                                       \
      for (int64_t i = 0; i < n; i++) COMBINE(lanes[i % LEAT_REDUCE_LANES], x[row * n + i]);       \
    for (int half = LEAT_REDUCE_LANES / 2; half; half /= 2)                                        \
      for (int i = 0; i < half; i++) COMBINE(lanes[i], lanes[i + half]);                           \
    return lanes[0];                                                                               \
  }                                                                                                \
  static T name##_inner_##T(T *x, int64_t count, int64_t n) {                                      \
    const int64_t block = LEAT_REDUCE_BLOCK_INNER;                                                 \
    int64_t rows = count / n, blocks = (n + block - 1) / block;                                    \
    if (n <= block) return name##_lanes_##T(x, rows, n);                                           \
    for (int64_t row = 0; row < rows; row++)                                                       \
      for (int64_t i = 0; i < blocks; i++)                                                         \
        x[row * blocks + i] =                                                                      \
            name##_lanes_##T(&x[row * n + i * block], 1, i + 1 < blocks ? block : n - i * block);  \
    return name##_lanes_##T(x, rows, blocks);                                                      \
  }                                                                                                \
  static T name##_outer_##T(const T *x, int64_t count) {                                           \
    T total = (T)(IDENTITY);                                                                       \
    for (int64_t i = 0; i < count;) {                                                              \
      T block = (T)(IDENTITY);                                                                     \
      for (int64_t k = 0; k < LEAT_REDUCE_BLOCK_OUTER && i < count; k++)                           \
        COMBINE(block, x[i]), i++;                                                                 \
      COMBINE(total, block);                                                                       \
    }                                                                                              \
    return total;                                                                                  \
  }
#define ADD(to, x) to += x
#define MULTIPLY(to, x) to *= x
DEFINE_FOLDS(sum, uint64_t, ADD, -0.0)
DEFINE_FOLDS(sum, float, ADD, -0.0)
DEFINE_FOLDS(sum, double, ADD, -0.0)
DEFINE_FOLDS(sum, leat_complex64, ADD, __builtin_complex(-0.0, -0.0))
DEFINE_FOLDS(sum, leat_complex128, ADD, __builtin_complex(-0.0, -0.0))
DEFINE_FOLDS(prod, uint64_t, MULTIPLY, 1)
DEFINE_FOLDS(prod, float, MULTIPLY, 1)
DEFINE_FOLDS(prod, double, MULTIPLY, 1)

// Products of complex numbers: from the first to the last.
#define DEFINE_PRODUCT_IN_ORDER(T)                                                                 \
  static T prod_outer_##T(const T *x, int64_t count) {                                             \
    T product = x[0];                                                                              \
    for (int64_t i = 1; i < count; i++) product = LEAT_TIMES(product, x[i]);                       \
    return product;                                                                                \
  }                                                                                                \
  static T prod_inner_##T(const T *x, int64_t count, int64_t n) {                                  \
    (void)n;                                                                                       \
    return prod_outer_##T(x, count);                                                               \
  }
DEFINE_PRODUCT_IN_ORDER(leat_complex64)
DEFINE_PRODUCT_IN_ORDER(leat_complex128)

#define EACH_FOLD(ID, T, WIDE, ACC, name, OF_NONE)                                                 \
  case ID: {                                                                                       \
    const T *x = r.x->data;                                                                        \
    T *out = context->outputs[0].data;                                                             \
    ACC *elements = room;                                                                          \
    for (int64_t o = 0; o < r.outputs; o++) {                                                      \
      for (int64_t i = 0; i < r.count; i++) elements[i] = (ACC)x[position_of(&r, o, i)];           \
      out[o] = (T)(!r.count  ? OF_NONE                                                             \
                   : r.inner ? name##_inner_##ACC(elements, r.count, r.inner)                      \
                             : name##_outer_##ACC(elements, r.count));                             \
    }                                                                                              \
    break;                                                                                         \
  }

#define REF_FOLD(function, name, OF_NONE)                                                          \
  leat_status function(leat_ref_context *context) {                                                \
    reduction r = reduction_of(context);                                                           \
    void *room = calloc((size_t)r.count + 1, sizeof(leat_complex128));                             \
    if (!room) return leat_ref_fail(context, LEAT_MEMORY, "out of memory");                        \
    leat_status status = LEAT_OK;                                                                  \
    switch (r.x->dtype) {                                                                          \
      LEAT_SIGNED_CASES(EACH_FOLD, uint64_t, name, OF_NONE)                                        \
      LEAT_UNSIGNED_CASES(EACH_FOLD, uint64_t, name, OF_NONE)                                      \
      EACH_FOLD(LEAT_f32, float, float, float, name, OF_NONE)                                      \
      EACH_FOLD(LEAT_f64, double, double, double, name, OF_NONE)                                   \
      EACH_FOLD(LEAT_c64, leat_complex64, _, leat_complex64, name, OF_NONE)                        \
      EACH_FOLD(LEAT_c128, leat_complex128, _, leat_complex128, name, OF_NONE)                     \
    default: status = leat_ref_unsupported(context);                                               \
    }                                                                                              \
    free(room);                                                                                    \
    return status;                                                                                 \
  }
REF_FOLD(ref_sum, sum, 0)
REF_FOLD(ref_prod, prod, 1)

// -- any, all ------------------------------------------------------------------------------------

// Whether `value` is among the reduced elements: else the other one is the result.
static leat_status find(leat_ref_context *context, uint8_t value) {
  reduction r = reduction_of(context);
  const uint8_t *x = r.x->data;
  uint8_t *out = context->outputs[0].data;
  for (int64_t o = 0; o < r.outputs; o++) {
    out[o] = !value;
    for (int64_t i = 0; i < r.count; i++)
      if (x[position_of(&r, o, i)] == value) out[o] = value;
  }
  return LEAT_OK;
}

leat_status ref_any(leat_ref_context *context) {
  return find(context, true);
}

leat_status ref_all(leat_ref_context *context) {
  return find(context, false);
}

// -- max, min, argmax, argmin --------------------------------------------------------------------

static leat_status check_elements(leat_ref_context *context, const reduction *r) {
  return r->count || !r->outputs ? LEAT_OK
                                 : leat_ref_fail(context, LEAT_OUT_OF_RANGE, LEAT_SAYS_NONE);
}

// Whether b is to be taken rather than a, an earlier element.
#define INTEGER_ABOVE(a, b) (b > a)
#define INTEGER_BELOW(a, b) (b < a)
#define FLOAT_ABOVE(a, b) (a == a && (b != b || b > a || (b == a && signbit(a) && !signbit(b))))
#define FLOAT_BELOW(a, b) (a == a && (b != b || b < a || (b == a && signbit(b) && !signbit(a))))
#define FLOAT_ABOVE_OR_EQUAL_ZEROS(a, b) (a == a && (b != b || b > a))
#define FLOAT_BELOW_OR_EQUAL_ZEROS(a, b) (a == a && (b != b || b < a))

// For each output element: where in x the chosen element is, and its number among the reduced ones.
#define EACH_CHOICE(ID, T, WIDE, BETTER, USE)                                                      \
  case ID:                                                                                         \
    for (int64_t o = 0; o < r.outputs; o++) {                                                      \
      const T *x = r.x->data;                                                                      \
      int64_t chosen = position_of(&r, o, 0), number = 0;                                          \
      for (int64_t i = 1; i < r.count; i++) {                                                      \
        int64_t next = position_of(&r, o, i);                                                      \
        if (BETTER(x[chosen], x[next])) chosen = next, number = i;                                 \
      }                                                                                            \
      USE(T);                                                                                      \
    }                                                                                              \
    return LEAT_OK;

#define TAKE_VALUE(T) ((T *)context->outputs[0].data)[o] = ((void)number, x[chosen])
#define TAKE_NUMBER(T) ((int32_t *)context->outputs[0].data)[o] = (int32_t)number

#define REF_CHOICE(function, FOR_INTEGERS, FOR_FLOATS, USE)                                        \
  leat_status function(leat_ref_context *context) {                                                \
    reduction r = reduction_of(context);                                                           \
    LEAT_TRY(check_elements(context, &r));                                                         \
    switch (r.x->dtype) {                                                                          \
      LEAT_SIGNED_CASES(EACH_CHOICE, FOR_INTEGERS, USE)                                            \
      LEAT_UNSIGNED_CASES(EACH_CHOICE, FOR_INTEGERS, USE)                                          \
      LEAT_FLOAT_CASES(EACH_CHOICE, FOR_FLOATS, USE)                                               \
    default: return leat_ref_unsupported(context);                                                 \
    }                                                                                              \
  }
REF_CHOICE(ref_max, INTEGER_ABOVE, FLOAT_ABOVE, TAKE_VALUE)
REF_CHOICE(ref_min, INTEGER_BELOW, FLOAT_BELOW, TAKE_VALUE)
REF_CHOICE(ref_argmax, INTEGER_ABOVE, FLOAT_ABOVE_OR_EQUAL_ZEROS, TAKE_NUMBER)
REF_CHOICE(ref_argmin, INTEGER_BELOW, FLOAT_BELOW_OR_EQUAL_ZEROS, TAKE_NUMBER)
