// Programs that compute in two orders of axes: values are transposed, go through what computes
// element by element, joins, broadcasts and sums, and are transposed back; some turn again.
#include "tests/sweep/random_program.h"

#include <stdarg.h>
#include <stdio.h>

enum { RANK = 4, LEAST_STEPS = 5, MOST_STEPS = 25 };

// `turned`: the values in the other order, which have the axes of others as `perm` says.
typedef struct turning {
  program *p;
  leat_dtype dtype;
  int rank;
  int64_t perm[RANK], inverse[RANK];
  leat_vec(test_value) turned;
} turning;

// A statement of these words behind `NAME = `, whose value has the type of `like`.
__attribute__((format(printf, 3, 4))) static test_value state(program *p, const test_value *like,
                                                              const char *words, ...) {
  test_value value = {.dtype = like->dtype, .rank = like->rank, .match = MATCH_VALUES};
  for (int i = 0; i < value.rank; i++) value.dims[i] = like->dims[i];
  snprintf(value.name, sizeof value.name, "y%u", p->values.count);
  value.label = leat_arena_printf(p->arena, "%s", value.name);
  va_list args;
  va_start(args, words);
  char text[200];
  vsnprintf(text, sizeof text, words, args);
  va_end(args);
  leat_text_add(&p->body, "  %s = %s\n", value.name, text);
  leat_vec_push(p->arena, &p->values, value);
  return value;
}

static test_value transposed(program *p, const test_value *x, const int64_t *perm) {
  leat_text words = {0};
  test_value like = *x;
  for (int i = 0; i < x->rank; i++) {
    like.dims[i] = x->dims[perm[i]];
    leat_text_add(&words, "%s%d", i ? ", " : "", (int)perm[i]);
  }
  test_value y = state(p, &like, "transpose(%s, perm=[%s])", x->name, words.data);
  leat_text_finish(&words);
  return y;
}

// One of the last.
static const test_value *any(turning *t) {
  uint32_t last = t->turned.count - 1;
  return &t->turned.items[last - rng_below(&t->p->random, last < 4 ? last + 1 : 4)];
}

// One of the same shape but, with an axis, for its length along that; x itself if there is none.
static const test_value *beside(turning *t, const test_value *x, int axis) {
  const test_value *found = any(t);
  for (int i = 0; i < x->rank; i++)
    if (i != axis && !dim_same(found->dims[i], x->dims[i])) return x;
  return found;
}

static test_value input_of(turning *t, const test_value *shape) {
  return program_input(t->p, t->dtype, shape->rank, shape->dims, FILL_PLAIN, dim_const(0));
}

// With a value that broadcasts to x: of some of the last axes, or of length 1 along some.
static test_value with_broadcast(turning *t, const test_value *x) {
  test_value small = {0};
  for (int i = (int)rng_below(&t->p->random, x->rank + 1); i < x->rank; i++)
    small.dims[small.rank++] = rng_percent(&t->p->random, 50) ? dim_const(1) : x->dims[i];
  return state(t->p, x, "add(%s, %s)", x->name, input_of(t, &small).name);
}

static test_value joined(turning *t, const test_value *x) {
  int axis = (int)rng_below(&t->p->random, x->rank);
  const test_value *y = beside(t, x, axis);
  test_value like = *x;
  like.dims[axis].plus += y->dims[axis].plus;
  if (like.dims[axis].plus > 30) return *x;
  return state(t->p, &like, "concat([%s, %s], axis=%d)", x->name, y->name, axis);
}

static test_value next_value(turning *t, const test_value *x) {
  static const char *const pairs[] = {"add", "mul", "maximum"}, *const single[] = {"abs", "neg"};
  rng *random = &t->p->random;
  switch (rng_below(random, 8)) {
  case 0: return state(t->p, x, "%s(%s)", RNG_PICK(random, single), x->name);
  case 1:
  case 2: return with_broadcast(t, x);
  case 3:
  case 4: return joined(t, x);
  case 5:
    return state(t->p, x, "add(%s, sum(%s, axis=%d, keepdims=true))", x->name, x->name,
                 (int)rng_below(random, x->rank));
  }
  return state(t->p, x, "%s(%s, %s)", RNG_PICK(random, pairs), x->name, beside(t, x, -1)->name);
}

static void turn_back(turning *t, const test_value *x) {
  program *p = t->p;
  test_value y = transposed(p, x, rng_percent(&p->random, 85) ? t->inverse : t->perm);
  program_fetch(p, &y);
  if (rng_percent(&p->random, 60)) y = state(p, &y, "mul(%s, %s)", y.name, y.name);
  leat_vec_push(p->arena, &t->turned, transposed(p, &y, t->perm));
}

static void begin(turning *t) {
  rng *random = &t->p->random;
  test_value shape = {.rank = t->rank = 2 + (int)rng_below(random, RANK - 1)};
  for (int i = 0; i < t->rank; i++) {
    int j = (int)rng_below(random, i + 1);
    t->perm[i] = t->perm[j];
    t->perm[j] = i;
    shape.dims[i] = dim_const(1 + rng_below(random, 5));
  }
  for (int i = 0; i < t->rank; i++) t->inverse[t->perm[i]] = i;
  for (int i = 0; i < 3; i++) {
    test_value x = input_of(t, &shape);
    leat_vec_push(t->p->arena, &t->turned, transposed(t->p, &x, t->perm));
  }
}

void program_turning(program *p, uint64_t seed) {
  program_init(p, seed);
  turning t = {.p = p, .dtype = rng_percent(&p->random, 50) ? LEAT_f32 : LEAT_i32};
  begin(&t);
  for (int64_t n = LEAST_STEPS + rng_below(&p->random, MOST_STEPS); n > 0; n--) {
    const test_value x = *any(&t);
    if (rng_percent(&p->random, 25))
      turn_back(&t, &x);
    else
      leat_vec_push(p->arena, &t.turned, next_value(&t, &x));
  }
  turn_back(&t, any(&t));
}
