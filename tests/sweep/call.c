// Texts of calls, and what their operands are.
#include "tests/sweep/call.h"
#include "tests/sweep/op_calls.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MOST_REUSED = 100000 }; // elements of a value that is used again

bool op_is_word(leat_op op) {
  return op == LEAT_OP_and || op == LEAT_OP_or || op == LEAT_OP_not;
}

// How an operand stands in a smooth program: where the op's slope is bounded.
static const char *operand_form(leat_op op) {
  switch ((int)op) {
  case LEAT_OP_log:
  case LEAT_OP_log2:
  case LEAT_OP_log10: return "1 + abs(%s) ";
  case LEAT_OP_log1p: return "abs(%s) ";
  case LEAT_OP_cbrt:
  case LEAT_OP_acosh:
  case LEAT_OP_lgamma:
  case LEAT_OP_digamma:
  case LEAT_OP_atan2: return "2 + abs(%s) ";
  case LEAT_OP_tan:
  case LEAT_OP_asin:
  case LEAT_OP_acos:
  case LEAT_OP_atanh:
  case LEAT_OP_erfinv: return "0.5 * tanh(%s) ";
  }
  return "%s ";
}

static void add_operand(call *c, const test_value *value) {
  const char *separator = op_is_word(c->op) ? leat_op_name(c->op) : ",";
  if (c->operands) leat_text_add(&c->text, "%s ", separator);
  if (c->operands) leat_text_add(&c->label, ", ");
  const char *form = c->p->smooth ? operand_form(c->op) : "%s ";
  leat_text_add(&c->text, form, value->name);
  leat_text_add(&c->label, "%s: ", value->name);
  test_type_print(value, &c->label);
  if (c->operands < MOST_OPERANDS) c->operand[c->operands] = *value;
  c->operands++;
  c->out.bound = fmax(c->out.bound, value->bound);
  c->out.error = fmax(c->out.error, value->error);
}

void call_add_words(call *c, const char *words) {
  leat_text_add(&c->text, "%s", words);
  leat_text_add(&c->label, "%s", words);
}

void call_add_attribute(call *c, const char *name) {
  leat_text_add(&c->text, "%s%s=", c->operands ? ", " : "", name);
  leat_text_add(&c->label, ", %s=", name);
  c->operands++;
}

void call_add_int(call *c, const char *name, int64_t value) {
  char words[32];
  snprintf(words, sizeof words, "%lld", (long long)value);
  call_add_attribute(c, name);
  call_add_words(c, words);
}

void call_add_dims(call *c, const char *name, int count, const test_dim *dims) {
  leat_text words = {0};
  for (int i = 0; i < count; i++) {
    leat_text_add(&words, i ? ", " : "[");
    test_dim_print(dims[i], &words);
  }
  leat_text_add(&words, count ? "]" : "[]");
  call_add_attribute(c, name);
  call_add_words(c, words.data);
  leat_text_finish(&words);
}

void call_add_ints(call *c, const char *name, int count, const int64_t *ints) {
  test_dim dims[LEAT_MAX_RANK] = {0};
  for (int i = 0; i < count; i++) dims[i] = dim_const(ints[i]);
  call_add_dims(c, name, count, dims);
}

// -- Operands ------------------------------------------------------------------------------------

bool op_is_smooth(leat_op op) {
  switch ((int)op) {
  case LEAT_OP_add:
  case LEAT_OP_sub:
  case LEAT_OP_mul:
  case LEAT_OP_neg:
  case LEAT_OP_abs:
  case LEAT_OP_maximum:
  case LEAT_OP_minimum:
  case LEAT_OP_exp:
  case LEAT_OP_exp2:
  case LEAT_OP_expm1:
  case LEAT_OP_sinh:
  case LEAT_OP_cosh:
  case LEAT_OP_tanh:
  case LEAT_OP_sin:
  case LEAT_OP_cos:
  case LEAT_OP_atan:
  case LEAT_OP_erf:
  case LEAT_OP_erfc:
  case LEAT_OP_log:
  case LEAT_OP_log2:
  case LEAT_OP_log10:
  case LEAT_OP_log1p:
  case LEAT_OP_asinh:
  case LEAT_OP_hypot:
  case LEAT_OP_cbrt:
  case LEAT_OP_acosh:
  case LEAT_OP_lgamma:
  case LEAT_OP_digamma:
  case LEAT_OP_atan2:
  case LEAT_OP_tan:
  case LEAT_OP_asin:
  case LEAT_OP_acos:
  case LEAT_OP_atanh:
  case LEAT_OP_erfinv:
  case LEAT_OP_where:
  case LEAT_OP_sum:
  case LEAT_OP_max:
  case LEAT_OP_min:
  case LEAT_OP_matmul: return true;
  }
  return leat_op_info_of(op)->dtypes == LEAT_CLASS_ALL;
}

// As exp does.
static bool op_grows(leat_op op) {
  return op == LEAT_OP_exp || op == LEAT_OP_exp2 || op == LEAT_OP_expm1 || op == LEAT_OP_sinh ||
         op == LEAT_OP_cosh;
}

static bool may_use(const call *c, const test_value *value) {
  leat_dtype_kind kind = leat_dtype_kind_of(value->dtype);
  bool nan = !value->is_input && (kind == LEAT_KIND_FLOAT || kind == LEAT_KIND_COMPLEX);
  bool sees_sign = c->op == LEAT_OP_bitcast || c->op == LEAT_OP_copysign;
  if (sees_sign && nan) return false; // which NaN is computed, is not promised
  if (!c->p->smooth) return true;
  if (value->error > 0 && !op_is_smooth(c->op)) return false;
  return value->bound <= (c->op == LEAT_OP_tanh ? INFINITY : op_grows(c->op) ? 4 : MOST_BOUND);
}

static test_fill fill_of(const call *c) {
  bool sums = c->op == LEAT_OP_sum || c->op == LEAT_OP_matmul || c->op == LEAT_OP_scatter_add;
  bool turns = op_turns(c->op, c->dtype); // a power of large ones has any angle
  if (c->p->smooth || turns) return FILL_UNIT;
  return rng_percent(&c->p->random, sums ? 25 : 60) ? FILL_ANY : FILL_PLAIN;
}

static bool same_shape(const test_value *value, int rank, const test_dim *dims) {
  bool same = value->rank == rank;
  for (int i = 0; same && i < rank; i++) same = dim_same(value->dims[i], dims[i]);
  return same;
}

static bool broadcasts_to(const test_value *value, int rank, const test_dim *dims) {
  int added = rank - value->rank;
  bool fits = added >= 0;
  for (int i = 0; fits && i < value->rank; i++)
    fits = dim_is(value->dims[i], 1) || dim_same(value->dims[i], dims[added + i]);
  return fits;
}

// Picks one of those that are marked, rather a late one than an early one; -1: none is.
static int pick(program *p, const bool *marked) {
  for (uint32_t i = p->values.count; i-- > 0;)
    if (marked[i] && rng_percent(&p->random, p->values.items[i].used ? 15 : 40)) return (int)i;
  return -1;
}

static test_value use(call *c, int chosen) {
  c->p->values.items[chosen].used = true;
  add_operand(c, &c->p->values.items[chosen]);
  return c->p->values.items[chosen];
}

// A copy of an input that nobody else reads, so that an op may write its result over it.
static test_value copied(program *p, test_value input) {
  test_value copy = input;
  if (!p->aliased || input.rank == 0 || !dim_is_positive(input.dims[0])) return input;
  copy.name[0] = 'c';
  leat_text_add(&p->body, "  %s = scatter_set(%s, [0], gather(%s, [0], axis=0), axis=0)\n",
                copy.name, input.name, input.name);
  return copy;
}

// An operand that the call has already; -1: none is of this type.
static int same_operand(const call *c, leat_dtype dtype, int rank, const test_dim *dims) {
  for (int i = 0; i < c->operands && i < MOST_OPERANDS; i++)
    if (c->operand[i].dtype == dtype && same_shape(&c->operand[i], rank, dims)) return i;
  return -1;
}

test_value call_operand(call *c, leat_dtype dtype, int rank, const test_dim *dims) {
  program *p = c->p;
  bool broadcasts = leat_op_info_of(c->op)->flags & LEAT_FLAG_BROADCASTS;
  int same = p->aliased ? same_operand(c, dtype, rank, dims) : -1;
  if (same >= 0) {
    test_value again = c->operand[same];
    add_operand(c, &again);
    return again;
  }
  if (p->reuse && rng_percent(&p->random, 90)) {
    bool *marked = leat_new_array(p->arena, bool, p->values.count + 1);
    for (uint32_t i = 0; i < p->values.count; i++) {
      const test_value *value = &p->values.items[i];
      marked[i] = value->dtype == dtype && may_use(c, value) &&
                  (broadcasts ? broadcasts_to(value, rank, dims) : same_shape(value, rank, dims));
    }
    int chosen = pick(p, marked);
    if (chosen >= 0) return use(c, chosen);
  }
  test_value value = copied(p, program_input(p, dtype, rank, dims, fill_of(c), dim_const(0)));
  add_operand(c, &value);
  return value;
}

test_value call_index_operand(call *c, leat_dtype dtype, int rank, const test_dim *dims,
                              test_fill fill, test_dim limit) {
  test_value value = program_input(c->p, dtype, rank, dims, fill, limit);
  add_operand(c, &value);
  return value;
}

static bool is_nonempty(const test_value *value) {
  for (int i = 0; i < value->rank; i++)
    if (!dim_is_positive(value->dims[i])) return false;
  return true;
}

static bool is_small(const test_value *value) {
  int64_t elements = 1;
  for (int i = 0; i < value->rank; i++) elements *= dim_most(value->dims[i]);
  return elements <= MOST_REUSED;
}

test_value call_first_operand(call *c, leat_dtype dtype, int least_rank, int most_rank,
                              bool nonempty) {
  program *p = c->p;
  int chosen = -1;
  test_value value;
  if (p->aliased) nonempty = true, least_rank = least_rank ? least_rank : 1;
  if (p->reuse && rng_percent(&p->random, 95)) {
    bool *marked = leat_new_array(p->arena, bool, p->values.count + 1);
    for (uint32_t i = 0; i < p->values.count; i++) {
      const test_value *v = &p->values.items[i];
      marked[i] = v->dtype == dtype && v->rank >= least_rank && v->rank <= most_rank &&
                  (!nonempty || is_nonempty(v)) && is_small(v) && may_use(c, v);
    }
    chosen = pick(p, marked);
  }
  if (chosen >= 0) {
    value = use(c, chosen);
  } else {
    test_dim dims[LEAT_MAX_RANK];
    int rank = program_shape(p, least_rank, most_rank, nonempty, dims);
    value = copied(p, program_input(p, dtype, rank, dims, fill_of(c), dim_const(0)));
    add_operand(c, &value);
  }
  c->out.dtype = dtype;
  c->out.rank = value.rank;
  memcpy(c->out.dims, value.dims, sizeof value.dims);
  return value;
}

test_value call_first(call *c) {
  return call_first_operand(c, c->dtype, 0, SHAPE_RANK, false);
}

int call_narrowed(program *p, const test_value *shape, test_dim *out) {
  int dropped = rng_percent(&p->random, 30) ? (int)rng_below(&p->random, shape->rank + 1) : 0;
  for (int i = dropped; i < shape->rank; i++)
    out[i - dropped] = rng_percent(&p->random, 20) ? dim_const(1) : shape->dims[i];
  return shape->rank - dropped;
}
