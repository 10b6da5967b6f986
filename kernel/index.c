// Index arithmetic of kernel/lowering.h. An index stays `base + lane × step` as long as it can,
// because a step of 1 makes a vector load and a step of 0 a scalar one; only when it cannot, it
// becomes a vector and its loads gathers.
#include "kernel/lowering.h"

#include <assert.h>

k_value leat_operand(leat_lowering *lowering, const leat_node *node, uint32_t i,
                     const leat_index *at) {
  assert(i < node->input_count);
  return lowering->value_at(lowering, node->inputs[i], at);
}

leat_index leat_index_const(leat_lowering *l, int64_t value) {
  return (leat_index){.base = k_i64(l->b, value)};
}

leat_index leat_index_of(leat_lowering *l, k_value value) {
  (void)l;
  assert(value->dtype == LEAT_i64);
  if (value->lanes == 1) return (leat_index){.base = value};
  if (value->op == K_SPLAT) return (leat_index){.base = value->args[0]};
  return (leat_index){.vector = value};
}

leat_index leat_index_add(leat_lowering *l, leat_index a, leat_index b) {
  if (!a.vector && !b.vector)
    return (leat_index){.base = k_add(l->b, a.base, b.base), .step = a.step + b.step};
  return (leat_index){.vector = k_add(l->b, leat_index_value(l, a), leat_index_value(l, b))};
}

leat_index leat_index_mul(leat_lowering *l, leat_index a, k_value scalar) {
  assert(scalar->lanes == 1 && scalar->dtype == LEAT_i64);
  int64_t step;
  if (a.vector) return (leat_index){.vector = k_mul(l->b, a.vector, scalar)};
  if (a.step == 0) return (leat_index){.base = k_mul(l->b, a.base, scalar)};
  if (scalar->op == K_CONST && !__builtin_mul_overflow(a.step, scalar->imm.i, &step))
    return (leat_index){.base = k_mul(l->b, a.base, scalar), .step = step};
  return (leat_index){.vector = k_mul(l->b, leat_index_value(l, a), scalar)};
}

// Indices are not negative, so a power of two divides by a shift.
static int log2_of(k_value scalar) {
  if (scalar->op != K_CONST || scalar->imm.i <= 0) return -1;
  uint64_t n = (uint64_t)scalar->imm.i;
  return (n & (n - 1)) == 0 ? __builtin_ctzll(n) : -1;
}

// q × m + c of a multiple m of a constant divisor: what its quotient and remainder are is known.
static bool divides(leat_lowering *l, k_value value, k_value scalar, k_value *quotient,
                    k_value *remainder) {
  int64_t more = 0, divisor = scalar->imm.i;
  if (scalar->op != K_CONST || divisor <= 0) return false;
  for (; value->op == K_ADD && value->args[1]->op == K_CONST; value = value->args[0])
    if (__builtin_add_overflow(more, value->args[1]->imm.i, &more)) return false;
  bool multiple =
      value->op == K_MUL && value->args[1]->op == K_CONST && value->args[1]->imm.i % divisor == 0;
  if (!multiple) return false;
  int64_t whole = more / divisor - (more % divisor < 0);
  k_value times = k_mul(l->b, value->args[0],
                        k_splat(l->b, value->lanes, k_i64(l->b, value->args[1]->imm.i / divisor)));
  *quotient = k_add(l->b, times, k_i64(l->b, whole));
  *remainder = k_splat(l->b, value->lanes, k_i64(l->b, more - whole * divisor));
  return true;
}

static void divide(leat_lowering *l, k_value value, k_value scalar, k_value *quotient,
                   k_value *remainder) {
  int shift = log2_of(scalar);
  if (divides(l, value, scalar, quotient, remainder)) return;
  if (shift > 0) {
    *quotient = k_binary(l->b, K_SHR, value, k_i64(l->b, shift));
    *remainder = k_binary(l->b, K_AND, value, k_i64(l->b, scalar->imm.i - 1));
  } else {
    *quotient = k_binary(l->b, K_DIV, value, scalar);
    *remainder = k_sub(l->b, value, k_mul(l->b, *quotient, scalar));
  }
}

// All lanes have the quotient of the first: they lie in a run, or one after the other from a
// multiple of their number, which the divisor is a multiple of, too.
static bool has_one_quotient(const leat_lowering *l, leat_index a, k_value scalar) {
  if (a.vector || a.step != 1) return false;
  if (l->run && scalar->op == K_CONST && scalar->imm.i % l->run == 0) return true;
  return k_multiple(a.base) % l->lanes == 0 && k_multiple(scalar) % l->lanes == 0;
}

void leat_index_divmod(leat_lowering *l, leat_index a, k_value scalar, leat_index *quotient,
                       leat_index *remainder) {
  assert(scalar->lanes == 1 && scalar->dtype == LEAT_i64);
  if (log2_of(scalar) == 0) {
    *quotient = a;
    *remainder = leat_index_const(l, 0);
    return;
  }
  bool in_base = !a.vector && (a.step == 0 || has_one_quotient(l, a, scalar));
  k_value q, r;
  divide(l, in_base ? a.base : leat_index_value(l, a), scalar, &q, &r);
  *quotient = leat_index_of(l, q);
  *remainder = leat_index_of(l, r);
  if (in_base) remainder->step = a.step;
}

k_value leat_index_value(leat_lowering *l, leat_index a) {
  if (a.vector || l->lanes == 1) return a.vector ? a.vector : a.base;
  if (a.step == 0) return k_splat(l->b, l->lanes, a.base);
  k_value lane = k_lane(l->b, LEAT_i64, l->lanes);
  return k_add(l->b, k_mul(l->b, lane, k_i64(l->b, a.step)), a.base);
}

k_value leat_index_check(leat_lowering *l, const leat_node *node, k_value index, leat_dim extent) {
  leat_fail_site site = {node, LEAT_SAYS_INDEX, {extent}, 1};
  if (index->dtype == LEAT_u64)
    index = k_binary(l->b, K_MIN, index, k_int(l->b, LEAT_u64, 1, INT64_MAX));
  k_value wide = k_cast(l->b, LEAT_i64, index), below = k_lt(l->b, wide, k_i64(l->b, 0));
  k_value above = k_binary(l->b, K_LE, l->dim(l, extent), wide);
  k_value bad = k_binary(l->b, K_OR, below, above);
  if (l->mask) bad = k_binary(l->b, K_AND, bad, l->mask);
  k_fail_if(l->b, bad, index, l->site(l, &site), LEAT_OUT_OF_RANGE);
  return wide;
}

// To put halves together, element by element, turns the bits of (row, column) by one; as often as a
// row's number has bits, and the rows' bits are the last ones.
void leat_turn(k_builder *b, k_value *rows, int count) {
  for (int bits = count; bits > 1; bits /= 2) {
    k_value turned[LEAT_LANES];
    for (int i = 0; i < count; i++)
      turned[i] = k_zip(b, rows[i / 2], rows[i / 2 + count / 2], i % 2);
    for (int i = 0; i < count; i++) rows[i] = turned[i];
  }
}
