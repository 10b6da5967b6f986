// How near the functions are: each op with a tolerance (tests/sweep/op_errors.c) on values from
// where functions have something to do, f16 and bf16 on all there are, f32 in steps that hit every
// exponent. Fails where cpu is further from ref than stated.
//
//     near_test [DTYPE [OP [ROUNDS]]]
//
// With ROUNDS it says the most that was seen of each, and fails too where more than 1 more is
// stated than that: 1000 are wide, 65536 are each f32 of a function of one. Seeded by
// $LEAT_TEST_SEED; so is whether subnormals are zero or kept, where nothing is asked for.
#include "base/half.h"
#include "tests/sweep/op_calls.h"
#include "tests/unit/kernel_cache.h"

#include <complex.h>
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COUNT = 1 << 16, EACH_F32 = 65536, MOST_OPERANDS = 2, MOST_CONDITION = 1 << 20 };

// -- Values --------------------------------------------------------------------------------------

static double unit(rng *r) { // -1 to 1
  return (double)(int64_t)rng_next(r) * 0x1p-63;
}

static double near_one(rng *r) {
  return 1 + ldexp(unit(r), -(int)rng_below(r, 54));
}

static double any_bits(rng *r, bool wide) {
  uint64_t bits = rng_next(r);
  double x;
  float single;
  memcpy(&x, &bits, sizeof x);
  memcpy(&single, &bits, sizeof single);
  return wide ? x : single;
}

static double special(rng *r) {
  static const double all[] = {0,        1,         2,        0.5,     INFINITY, NAN,     0x1p-1074,
                               0x1p-149, 0x1p-1030, 0x1p-130, DBL_MAX, FLT_MAX,  DBL_MIN, FLT_MIN};
  return copysign(RNG_PICK(r, all), unit(r));
}

// Of all magnitudes; near whole numbers, halves of them, zeros of sines and exponents that
// overflow.
static double interesting(rng *r, bool wide) {
  static const double quarter = 0x1.921fb54442d18p-1; // of a turn's half
  switch (rng_below(r, 16)) {
  case 0:
  case 1:
  case 2: return any_bits(r, wide);
  case 3:
  case 4: return unit(r) * 750;
  case 5: return unit(r) * 100;
  case 6:
  case 7: return (double)(rng_below(r, 81) - 40) / 2 * near_one(r);
  case 8:
  case 9: return (double)(rng_below(r, 2001) - 1000) * quarter * near_one(r);
  case 10: return copysign(near_one(r), unit(r));
  case 11:
  case 12: return ldexp(unit(r), (int)rng_below(r, 96) - 43);
  case 13: return ldexp(unit(r), (int)rng_below(r, 9) - 4);
  case 14: return rng_percent(r, 25) ? special(r) : (double)(rng_below(r, 401) - 200) * near_one(r);
  }
  return unit(r);
}

// A number that has to do with x: as large, what its power neither overflows nor vanishes by, what
// makes x a point near the unit circle.
static double partner(rng *r, double x, bool wide) {
  switch (rng_below(r, 4)) {
  case 0: return x * near_one(r);
  case 1: return 750 * unit(r) / log(fabs(x));
  case 2: return copysign(sqrt(fabs(1 - x * x)), unit(r)) * near_one(r);
  }
  return interesting(r, wide);
}

static void put(leat_dtype word, void *data, int64_t i, double x) {
  if (word == LEAT_f64)
    ((double *)data)[i] = x;
  else if (word == LEAT_f32)
    ((float *)data)[i] = (float)x;
  else
    ((uint16_t *)data)[i] = leat_half_of(word, x);
}

// Numbers of the first operand with those of the second, or with their imaginary parts.
static void fill_pairs(rng *r, leat_dtype word, void *first, void *second, int step) {
  bool wide = word == LEAT_f64;
  for (int64_t i = 0; i < COUNT; i++) {
    double x = interesting(r, wide), y = partner(r, x, wide);
    put(word, first, i * step, x);
    put(word, second, i * step, y);
  }
}

// Round -1 of f32 is one of those that may be hard, the others share all there are.
static void fill_single(rng *r, leat_dtype dtype, int64_t round, void *data) {
  for (int64_t i = 0; i < COUNT; i++)
    if (leat_dtype_is_half(dtype))
      ((uint16_t *)data)[i] = (uint16_t)i;
    else if (dtype == LEAT_f32 && round >= 0)
      ((uint32_t *)data)[i] = (uint32_t)(i * EACH_F32 + round);
    else
      put(dtype, data, i, interesting(r, dtype == LEAT_f64));
}

static leat_dtype word_of(leat_dtype dtype) {
  return dtype == LEAT_c64 ? LEAT_f32 : dtype == LEAT_c128 ? LEAT_f64 : dtype;
}

static void fill(rng *r, leat_dtype dtype, int operands, int64_t round, void *const *data) {
  leat_dtype word = word_of(dtype);
  if (word != dtype) {
    for (int i = 0; i < operands; i++)
      fill_pairs(r, word, data[i], (char *)data[i] + leat_dtype_size(word), 2);
  } else if (operands == 1) {
    fill_single(r, dtype, round, data[0]);
  } else {
    fill_pairs(r, word, data[0], data[1], 1);
  }
}

// -- Comparing -----------------------------------------------------------------------------------

enum { REF, CPU, TARGETS };

typedef struct compared {
  leat_op op;
  leat_dtype dtype;
  int operands;
  bool flushes; // subnormals are zero; else they are kept
  leat_session *sessions[TARGETS];
  leat_step *steps[TARGETS];
  leat_tensor feeds[MOST_OPERANDS];
  double most;                       // seen
  double _Complex at[MOST_OPERANDS]; // there
} compared;

static leat_status prepare(compared *c, const char *target, leat_session **session,
                           leat_step **step) {
  const char *entry = "f", *fetch = "y";
  leat_session_options options = {.target = target, .denormals = c->flushes ? "zero" : "keep"};
  leat_step_spec spec = {.entries = &entry, .entry_count = 1, .fetches = &fetch, .fetch_count = 1};
  char text[200], type[40];
  snprintf(type, sizeof type, "%s[%d]", leat_dtype_name(c->dtype), COUNT);
  snprintf(text, sizeof text,
           c->operands == 1 ? "entry f(a: %s) {\n  y = %s(a)\n}\n"
                            : "entry f(a: %1$s, b: %1$s) {\n  y = %2$s(a, b)\n}\n",
           type, leat_op_name(c->op));
  LEAT_TRY(create_session(&options, session));
  LEAT_TRY(leat_session_extend(*session, text, 0, "near.leat"));
  return leat_session_prepare(*session, &spec, step);
}

static double _Complex element(const leat_tensor *tensor, int64_t at) {
  leat_dtype word = word_of(tensor->dtype);
  const char *x = (const char *)tensor->data + (size_t)at * leat_dtype_size(tensor->dtype);
  double parts[2] = {0, 0};
  for (size_t k = 0; k < leat_dtype_size(tensor->dtype) / leat_dtype_size(word); k++)
    parts[k] = word == LEAT_f64   ? ((const double *)(const void *)x)[k]
               : word == LEAT_f32 ? ((const float *)(const void *)x)[k]
                                  : leat_half_value(word, *(const uint16_t *)(const void *)x);
  return __builtin_complex(parts[0], parts[1]);
}

// What a rounding of the operands does to a result, of which op_turns says that tolerances grow
// with it.
static double condition(const compared *c, int64_t i) {
  if (!op_turns(c->op, c->dtype)) return 1;
  double _Complex a = element(&c->feeds[0], i), b = element(&c->feeds[1], i);
  return a == 0 ? 1 : 1 + cabs(b) * cabs(clog(a));
}

static leat_status compare(compared *c, rng *r, int64_t round) {
  leat_tensor out[TARGETS];
  void *data[MOST_OPERANDS] = {c->feeds[0].data, c->feeds[1].data};
  fill(r, c->dtype, c->operands, round, data);
  for (int i = 0; i < TARGETS; i++) LEAT_TRY(leat_step_run(c->steps[i], c->feeds, &out[i]));
  test_match match = op_match(c->op, out[REF].dtype);
  if (c->flushes) {
    match = match_flushed(match);
    for (int i = 0; i < TARGETS; i++) tensor_flush(&out[i]);
  }
  for (int64_t i = 0; i < COUNT; i++) {
    double distance = tensor_distance(&out[REF], &out[CPU], i, match);
    if (distance <= c->most) continue;
    double grown = condition(c, i);
    bool infinite = !isfinite(cabs(element(&out[REF], i))), turned = grown > 1 && infinite;
    turned = turned || !(grown <= MOST_CONDITION); // any direction is right
    if (turned || !(distance / grown > c->most)) continue;
    c->most = distance / grown;
    for (int k = 0; k < c->operands; k++) c->at[k] = element(&c->feeds[k], i);
  }
  return LEAT_OK;
}

static leat_status measure(compared *c, int64_t rounds) {
  static const char *const targets[TARGETS] = {"ref", "cpu"};
  rng r = {test_seed() + (uint64_t)c->op};
  bool all = leat_dtype_is_half(c->dtype) && c->operands == 1;
  int64_t first = rng_below(&r, EACH_F32), step = EACH_F32 / rounds;
  for (int i = 0; i < TARGETS; i++) LEAT_TRY(prepare(c, targets[i], &c->sessions[i], &c->steps[i]));
  for (int64_t round = 0; round < (all ? 1 : rounds); round++)
    LEAT_TRY(compare(c, &r, (first + round * step) % EACH_F32));
  return all ? LEAT_OK : compare(c, &r, -1);
}

// One more than was seen; of what cancels, of which the worst is seldom seen, half as much again.
static double most_stated(const compared *c) {
  return ceil(c->most * (op_cancels(c->op) ? 1.5 : 1)) + 1;
}

// Whether the op is as near as it is said to be, and, after many rounds, is said to be as near as
// it is.
static bool check(leat_op op, leat_dtype dtype, bool flushes, int64_t rounds) {
  compared c = {
      .op = op, .dtype = dtype, .operands = leat_op_info_of(op)->min_inputs, .flushes = flushes};
  for (int i = 0; i < c.operands; i++)
    c.feeds[i] = (leat_tensor){dtype, 1, {COUNT}, calloc(COUNT, leat_dtype_size(dtype))};
  leat_status status = measure(&c, rounds);
  int stated = op_ulps(op, dtype);
  bool right = !status && c.most <= stated && (rounds == 1 || stated <= most_stated(&c));
  if (status)
    for (int i = 0; i < TARGETS; i++)
      if (c.sessions[i]) printf("%s\n", leat_session_message(c.sessions[i]));
  if (!right || rounds > 1)
    printf("%s of %s%s: %.3f seen, %d stated: of (%a, %a), (%a, %a)\n", leat_op_name(op),
           leat_dtype_name(dtype), flushes ? ", flushing" : "", c.most, stated, creal(c.at[0]),
           cimag(c.at[0]), creal(c.at[1]), cimag(c.at[1]));
  fflush(stdout);
  for (int i = 0; i < TARGETS; i++) {
    leat_step_destroy(c.steps[i]);
    leat_session_destroy(c.sessions[i]);
  }
  for (int i = 0; i < c.operands; i++) free(c.feeds[i].data);
  return right;
}

int main(int argc, char **argv) {
  if (lists_dtypes(&argc, &argv)) return 0;
  const char *only_dtype = argc > 1 ? argv[1] : NULL, *only_op = argc > 2 ? argv[2] : NULL;
  int64_t rounds = argc > 3 ? atoll(argv[3]) : 1;
  bool sanitized = getenv("LEAT_SANITIZED");
  int passed = 0, failed = 0, skipped = 0;
  for (int d = 0; d < LEAT_DTYPE_COUNT; d++)
    for (int op = 0; op < LEAT_OP_COUNT; op++) {
      leat_dtype dtype = (leat_dtype)d;
      if (only_dtype && strcmp(only_dtype, leat_dtype_name(dtype)) != 0) continue;
      if (only_op && *only_op && strcmp(only_op, leat_op_name((leat_op)op)) != 0) continue;
      if (!op_takes((leat_op)op, dtype) || !op_ulps((leat_op)op, dtype)) continue;
      // Takes long: half run, with a slow build an eighth.
      bool asked = only_dtype || only_op || rounds > 1;
      bool left_out = !asked && (test_seed() + (uint64_t)op) % (sanitized ? 8 : 2);
      bool flushes = (test_seed() / 8 + (uint64_t)(op + d)) % 2;
      bool right = left_out || (check((leat_op)op, dtype, flushes, rounds) &&
                                (!asked || check((leat_op)op, dtype, !flushes, rounds)));
      *(left_out ? &skipped : right ? &passed : &failed) += 1;
    }
  printf("near: %d passed, %d failed, %d skipped\n", passed, failed, skipped);
  return failed != 0;
}
