// Random programs from the op table.
#include "tests/sweep/random_program.h"

#include <string.h>

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

// The call, with the operand where %s stands.
static void add_call(leat_text *out, const char *call, const char *operand) {
  for (const char *at; (at = strstr(call, "%s")); call = at + 2)
    leat_text_add(out, "%.*s%s", (int)(at - call), call, operand);
  leat_text_add(out, "%s", call);
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

// Something whose size a run-time dim may make negative, of which the elements, fused or not, or
// only the shape are wanted.
static void add_shrinking(program *p) {
  static const char *const makes[] = {
      "iota([%s], axis=0, dtype=i64)", "zeros(i64[%s])", "sum(eye(%s, dtype=i64), axis=0)",
      "sum(one_hot([0, 1], %s, dtype=i64), axis=0)", "cast(random_bits([%s], seed=1), i64)"};
  static const char *const uses[] = {"sum(%s)",
                                     "sort(%s)",
                                     "shape_of(%s)",
                                     "cumsum(%s, axis=0)",
                                     "shape_of(cumsum(%s, axis=0))",
                                     "concat([%s, %s], axis=0)",
                                     "%s * 2"};
  p->shrinks = true;
  p->shrunk = (test_dim){DIM_N0 + (int)rng_below(&p->random, 2), 1, -1 - rng_below(&p->random, 5)};
  program_bind(p, (test_dim){p->shrunk.name, 1, 0});
  leat_text dim = {0}, made = {0};
  test_dim_print(p->shrunk, &dim);
  add_call(&made, RNG_PICK(&p->random, makes), dim.data);
  leat_text_add(&p->body, "  shrunk = %s\n  used = ", made.data);
  add_call(&p->body, RNG_PICK(&p->random, uses), "shrunk");
  leat_text_add(&p->body, "\n");
  program_fetch(p, &(test_value){.name = "used", .label = "what may shrink"});
  leat_text_finish(&dim);
  leat_text_finish(&made);
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
  if (p->symbolic && rng_percent(&p->random, 30)) add_shrinking(p);
}
