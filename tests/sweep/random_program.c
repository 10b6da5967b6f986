// Random programs from the op table.
#include "tests/sweep/random_program.h"

enum { LEAST_OPS = 5, MOST_OPS = 40 };

// The dtypes of a program: mostly one, so that its values meet, and bools, which comparisons make.
// Of complex numbers no bounds are known.
static leat_dtype dtype_for(program *p, leat_dtype main_dtype) {
  static const leat_dtype others[] = {LEAT_f32, LEAT_f64, LEAT_i32,  LEAT_bool, LEAT_i64,
                                      LEAT_u8,  LEAT_f16, LEAT_bf16, LEAT_i8,   LEAT_i16,
                                      LEAT_u16, LEAT_u32, LEAT_u64,  LEAT_c64,  LEAT_c128};
  int complex = p->smooth ? 2 : 0;
  if (rng_percent(&p->random, 85)) return main_dtype;
  return others[rng_below(&p->random, (int64_t)(sizeof others / sizeof *others) - complex)];
}

// Contractions, reductions and what only moves stand among the element-wise ops more often than the
// table has them.
static leat_op random_op(program *p, bool any) {
  static const leat_op frequent[] = {LEAT_OP_sum,     LEAT_OP_matmul, LEAT_OP_broadcast,
                                     LEAT_OP_reshape, LEAT_OP_max,    LEAT_OP_transpose,
                                     LEAT_OP_mul,     LEAT_OP_add,    LEAT_OP_tanh};
  for (;;) {
    leat_op op = rng_percent(&p->random, 50) ? RNG_PICK(&p->random, frequent)
                                             : (leat_op)rng_below(&p->random, LEAT_OP_COUNT);
    if (op_calls_cover(op) && (any || p->smooth || !op_ulps(op, LEAT_f64))) return op;
  }
}

// Most of what nobody reads, and some of the rest.
static void fetch_results(program *p) {
  for (uint32_t i = 0; i < p->values.count; i++) {
    const test_value *value = &p->values.items[i];
    bool last = i + 1 == p->values.count;
    if (!value->is_input && (last || rng_percent(&p->random, value->used ? 15 : 90)))
      program_fetch(p, value);
  }
}

void program_random(program *p, uint64_t seed, bool any) {
  static const leat_dtype mains[] = {LEAT_f32, LEAT_f64, LEAT_i32, LEAT_c64};
  static const int64_t sizes[] = {2, 3, 5, 7, 16, 17, 31, 33, 64, 100};
  program_init(p, seed);
  p->reuse = true;
  for (int i = 0; i < 4; i++) p->sizes[i] = i ? RNG_PICK(&p->random, sizes) : 1;
  p->smooth = !any && rng_percent(&p->random, 35);
  p->symbolic = rng_percent(&p->random, 40);
  leat_dtype main_dtype = p->smooth && rng_percent(&p->random, 50)
                              ? LEAT_f32
                              : mains[rng_below(&p->random, p->smooth ? 3 : 4)];
  int64_t count = LEAST_OPS + rng_below(&p->random, MOST_OPS - LEAST_OPS + 1);
  for (int64_t tries = 0; count > 0 && tries < 1000; tries++) {
    leat_op op = random_op(p, any);
    leat_dtype dtype = dtype_for(p, main_dtype);
    int variant = (int)rng_below(&p->random, op_variants(op));
    bool rounds = !any && !p->smooth && op_ulps(op, dtype);
    if (!rounds && op_call(p, op, dtype, variant)) count--;
  }
  fetch_results(p);
}
