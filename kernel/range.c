// Between which numbers an i64 scalar lies, by what it is made of. Comparisons that this decides
// are constants, so that code for places that are known to be inside asks no more whether they are.
#include "kernel/build.h"

enum { DEPTH = 6 };

static const k_range anything = {INT64_MIN, INT64_MAX};

static k_range range_of(const k_builder *b, k_value value, int depth);

static int64_t least_of(int64_t x, int64_t y) {
  return x < y ? x : y;
}

static int64_t most_of(int64_t x, int64_t y) {
  return x > y ? x : y;
}

static k_range sum(k_range x, k_range y) {
  k_range out;
  bool wraps = __builtin_add_overflow(x.low, y.low, &out.low);
  wraps |= __builtin_add_overflow(x.high, y.high, &out.high);
  return wraps ? anything : out;
}

static k_range difference(k_range x, k_range y) {
  k_range out;
  bool wraps = __builtin_sub_overflow(x.low, y.high, &out.low);
  wraps |= __builtin_sub_overflow(x.high, y.low, &out.high);
  return wraps ? anything : out;
}

static k_range product(k_range x, int64_t factor) {
  k_range out;
  bool wraps = __builtin_mul_overflow(factor < 0 ? x.high : x.low, factor, &out.low);
  wraps |= __builtin_mul_overflow(factor < 0 ? x.low : x.high, factor, &out.high);
  return wraps ? anything : out;
}

// The index of a loop that runs from `low` up to `high`.
static k_range index_of_loop(const k_builder *b, k_value phi, int depth) {
  if (!k_is_visible(b, phi)) return anything;
  const k_instr *owner = b->owners.items[phi->block->depth];
  if (!owner || owner->op != K_LOOP || phi->block->phis.items[0] != phi) return anything;
  k_range high = range_of(b, owner->args[1], depth);
  return (k_range){range_of(b, owner->args[0], depth).low,
                   high.high == INT64_MIN ? high.high : high.high - 1};
}

// x - x / d * d, of what is not negative.
static bool is_remainder(const k_builder *b, k_value x, k_value y, int depth, int64_t *divisor) {
  if (y->op != K_MUL || y->args[1]->op != K_CONST) return false;
  *divisor = y->args[1]->imm.i;
  k_value quotient = y->args[0];
  return quotient->op == K_DIV && quotient->args[0] == x && quotient->args[1] == y->args[1] &&
         *divisor > 0 && range_of(b, x, depth).low >= 0;
}

static k_range of_two(const k_builder *b, k_value value, int depth) {
  k_value args[] = {value->args[0], value->args[1]};
  k_range x = range_of(b, args[0], depth), y = range_of(b, args[1], depth);
  bool constant = args[1]->op == K_CONST;
  int64_t number = constant ? args[1]->imm.i : 0;
  switch ((int)value->op) {
  case K_ADD: return sum(x, y);
  case K_SUB:
    if (is_remainder(b, args[0], args[1], depth, &number)) return (k_range){0, number - 1};
    return difference(x, y);
  case K_MUL: return constant ? product(x, number) : anything;
  case K_DIV: return number > 0 ? (k_range){x.low / number, x.high / number} : anything;
  case K_SHR:
    return constant && number >= 0 && number < 64 ? (k_range){x.low >> number, x.high >> number}
                                                  : anything;
  case K_AND: return number > 0 ? (k_range){0, number} : anything;
  case K_MIN: return (k_range){least_of(x.low, y.low), least_of(x.high, y.high)};
  case K_MAX: return (k_range){most_of(x.low, y.low), most_of(x.high, y.high)};
  }
  return anything;
}

static k_range range_of(const k_builder *b, k_value value, int depth) {
  if (value->op == K_CONST) return (k_range){value->imm.i, value->imm.i};
  if (depth == DEPTH) return anything;
  if (value->op == K_PHI) return index_of_loop(b, value, depth + 1);
  return value->op >= K_ADD && value->op <= K_SHR && value->arg_count == 2
             ? of_two(b, value, depth + 1)
             : anything;
}

k_range k_range_of(const k_builder *b, k_value value) {
  bool known = value->dtype == LEAT_i64 && value->lanes == 1;
  return known ? range_of(b, value, 0) : anything;
}
