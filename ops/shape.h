// What shape rules share: their errors, which say what was expected and what was found, and the
// checks that many ops need. An error reads `matmul of f32[B, 64] and f32[32, 10]: …` and stands at
// the node's span.
#ifndef LEAT_OPS_SHAPE_H
#define LEAT_OPS_SHAPE_H

#include "ops/ops.h"

enum { LEAT_MOST_AT_ONCE = 1000000 }; // iterations of a loop that is on several devices

// False: they never are.
bool leat_dims_may_be_equal(const leat_graph *graph, leat_dim a, leat_dim b);
// Why two dims that must be equal are not: `64 and 32 differ`, or, when only a check while running
// could tell, `B and T are not known to be equal …`.
const char *leat_dims_clash(const leat_graph *graph, leat_dim a, leat_dim b);

const leat_type *leat_shape_input(const leat_shape_context *context, uint32_t i);
// Reports and returns false.
bool leat_shape_fail(leat_shape_context *context, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

// Each is true, or reports and is false.
bool leat_shape_is_dtype(leat_shape_context *context, uint32_t input, leat_dtype dtype);
bool leat_shape_same_dtype(leat_shape_context *context, uint32_t first, uint32_t other);
// Of dims that only a check while running can tell about it is true too, if there is a list of
// such.
bool leat_shape_dims_equal(leat_shape_context *context, leat_dim a, leat_dim b, const char *format,
                           ...)
    __attribute__((format(printf, 4, 5))); // the words say where: "axis 1"
// Output 0 is as input 0; all inputs have its dtype (and, as the builder saw to, its shape).
bool leat_shape_like_input(leat_shape_context *context);
// What a claim says, with the values as they are written.
const char *leat_claim_text(leat_arena *arena, const leat_claim *claim);
// True, or a claim, unless the dims are known and `room` is negative: that is reported.
bool leat_shape_claim(leat_shape_context *context, const leat_claim *claim);
// No divisor in it is 0.
bool leat_shape_claim_divisors(leat_shape_context *context, leat_dim dim);
bool leat_shape_claim_counted(leat_shape_context *context, leat_dim count);    // an i32 counts them
bool leat_shape_axis(leat_shape_context *context, int64_t axis, int32_t rank); // 0 ≤ axis < rank
bool leat_shape_dim_ok(leat_shape_context *context, leat_dim dim); // no negative constant
bool leat_shape_binds(leat_shape_context *context, leat_dim dim);  // the node alone may bind it
bool leat_shape_of_dims(leat_shape_context *context, leat_dtype dtype, const leat_attr *dims,
                        leat_type *out);

#endif
