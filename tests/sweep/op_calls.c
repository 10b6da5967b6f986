// Statements from the op table.
#include "tests/sweep/op_calls.h"

#include "base/half.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const leat_dtype computed[] = {LEAT_bool, LEAT_i8,  LEAT_i16, LEAT_i32, LEAT_i64,
                                      LEAT_u8,   LEAT_u16, LEAT_u32, LEAT_u64, LEAT_f16,
                                      LEAT_bf16, LEAT_f32, LEAT_f64, LEAT_c64, LEAT_c128};
enum {
  COMPUTED = sizeof computed / sizeof *computed,
  SHAPE_RANK = 4,
  MOST_BOUND = 1000,
  MOST_REUSED = 100000
};

// What kernel/math.c and math_*.c promise, and the rounding of the reference.
int op_ulps(leat_op op) {
  static const uint8_t ulps[LEAT_OP_COUNT] = {
      [LEAT_OP_exp] = 2,   [LEAT_OP_log] = 2,    [LEAT_OP_tanh] = 3,   [LEAT_OP_exp2] = 2,
      [LEAT_OP_expm1] = 2, [LEAT_OP_log2] = 2,   [LEAT_OP_log10] = 2,  [LEAT_OP_log1p] = 2,
      [LEAT_OP_sin] = 2,   [LEAT_OP_cos] = 2,    [LEAT_OP_tan] = 3,    [LEAT_OP_asin] = 2,
      [LEAT_OP_acos] = 2,  [LEAT_OP_atan] = 2,   [LEAT_OP_atan2] = 2,  [LEAT_OP_sinh] = 3,
      [LEAT_OP_cosh] = 2,  [LEAT_OP_asinh] = 3,  [LEAT_OP_acosh] = 3,  [LEAT_OP_atanh] = 3,
      [LEAT_OP_cbrt] = 2,  [LEAT_OP_hypot] = 2,  [LEAT_OP_pow] = 2,    [LEAT_OP_erf] = 2,
      [LEAT_OP_erfc] = 5,  [LEAT_OP_erfinv] = 5, [LEAT_OP_lgamma] = 9, [LEAT_OP_digamma] = 9,
  };
  return ulps[op];
}

bool op_cancels(leat_op op) {
  return op == LEAT_OP_lgamma || op == LEAT_OP_digamma;
}

// No complex numbers have parts of halves, and the functions of runtime/kernels take none.
bool op_takes(leat_op op, leat_dtype dtype) {
  const leat_op_info *info = leat_op_info_of(op);
  bool library = info->kind == LEAT_KIND_LIBRARY && info->dtypes == LEAT_CLASS_FLOAT;
  bool whole = library || op == LEAT_OP_complex || op == LEAT_OP_number_to_str;
  bool halves = whole && leat_dtype_is_half(dtype);
  return dtype != LEAT_str && !halves && leat_dtype_in_class(dtype, leat_op_info_of(op)->dtypes);
}

int op_variants(leat_op op) {
  return op == LEAT_OP_cast ? COMPUTED : 1;
}

// -- A call being written ------------------------------------------------------------------------

typedef struct call {
  program *p;
  leat_op op;
  leat_dtype dtype;
  int variant;
  leat_text text, label;
  int operands;
  test_value operand[3]; // the first few
  test_value out;        // what the call gives
  test_value second;     // its other output; without a name: it has none
  test_dim inner;        // of a matmul
} call;

// `and`, `or` and `not` are words of the language.
static bool is_word(leat_op op) {
  return op == LEAT_OP_and || op == LEAT_OP_or || op == LEAT_OP_not;
}

static void add_operand(call *c, const test_value *value) {
  const char *separator = is_word(c->op) ? leat_op_name(c->op) : ",";
  if (c->operands) leat_text_add(&c->text, "%s ", separator);
  if (c->operands) leat_text_add(&c->label, ", ");
  leat_text_add(&c->text, c->op == LEAT_OP_log && c->p->smooth ? "1 + abs(%s) " : "%s ",
                value->name);
  leat_text_add(&c->label, "%s: ", value->name);
  test_type_print(value, &c->label);
  if (c->operands < 3) c->operand[c->operands] = *value;
  c->operands++;
  c->out.bound = fmax(c->out.bound, value->bound);
  c->out.error = fmax(c->out.error, value->error);
}

static void add_words(call *c, const char *words) {
  leat_text_add(&c->text, "%s", words);
  leat_text_add(&c->label, "%s", words);
}

static void add_attribute(call *c, const char *name) {
  leat_text_add(&c->text, "%s%s=", c->operands ? ", " : "", name);
  leat_text_add(&c->label, ", %s=", name);
  c->operands++;
}

static void add_int(call *c, const char *name, int64_t value) {
  char words[32];
  snprintf(words, sizeof words, "%lld", (long long)value);
  add_attribute(c, name);
  add_words(c, words);
}

static void add_dims(call *c, const char *name, int count, const test_dim *dims) {
  leat_text words = {0};
  for (int i = 0; i < count; i++) {
    leat_text_add(&words, i ? ", " : "[");
    test_dim_print(dims[i], &words);
  }
  leat_text_add(&words, count ? "]" : "[]");
  add_attribute(c, name);
  add_words(c, words.data);
  leat_text_finish(&words);
}

static void add_ints(call *c, const char *name, int count, const int64_t *ints) {
  test_dim dims[LEAT_MAX_RANK] = {0};
  for (int i = 0; i < count; i++) dims[i] = dim_const(ints[i]);
  add_dims(c, name, count, dims);
}

// -- Operands ------------------------------------------------------------------------------------

// In a smooth program only some ops may see values that differ between targets.
static bool op_is_smooth(leat_op op) {
  switch ((int)op) {
  case LEAT_OP_add:
  case LEAT_OP_sub:
  case LEAT_OP_mul:
  case LEAT_OP_neg:
  case LEAT_OP_abs:
  case LEAT_OP_maximum:
  case LEAT_OP_minimum:
  case LEAT_OP_exp:
  case LEAT_OP_log:
  case LEAT_OP_tanh:
  case LEAT_OP_where:
  case LEAT_OP_sum:
  case LEAT_OP_max:
  case LEAT_OP_min:
  case LEAT_OP_matmul: return true;
  }
  return leat_op_info_of(op)->dtypes == LEAT_CLASS_ALL;
}

static bool may_use(const call *c, const test_value *value) {
  leat_dtype_kind kind = leat_dtype_kind_of(value->dtype);
  bool nan = !value->is_input && (kind == LEAT_KIND_FLOAT || kind == LEAT_KIND_COMPLEX);
  if (c->op == LEAT_OP_bitcast && nan) return false; // which NaN is computed, is not promised
  if (!c->p->smooth) return true;
  if (value->error > 0 && !op_is_smooth(c->op)) return false;
  return value->bound <= (c->op == LEAT_OP_tanh ? INFINITY : c->op == LEAT_OP_exp ? 4 : MOST_BOUND);
}

static test_fill fill_of(const call *c) {
  bool sums = c->op == LEAT_OP_sum || c->op == LEAT_OP_matmul || c->op == LEAT_OP_scatter_add;
  if (c->p->smooth) return FILL_UNIT;
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

// An operand of a given type, or, where the op broadcasts, one that broadcasts to it.
static test_value operand(call *c, leat_dtype dtype, int rank, const test_dim *dims) {
  program *p = c->p;
  bool broadcasts = leat_op_info_of(c->op)->flags & LEAT_FLAG_BROADCASTS;
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
  test_value value = program_input(p, dtype, rank, dims, fill_of(c), dim_const(0));
  add_operand(c, &value);
  return value;
}

// An index operand: its values are below the limit, or near it.
static test_value index_operand(call *c, leat_dtype dtype, int rank, const test_dim *dims,
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

// An operand of any shape; the result has its type until the op says otherwise.
static test_value first_operand(call *c, leat_dtype dtype, int least_rank, int most_rank,
                                bool nonempty) {
  program *p = c->p;
  int chosen = -1;
  test_value value;
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
    value = program_input(p, dtype, rank, dims, fill_of(c), dim_const(0));
    add_operand(c, &value);
  }
  c->out.dtype = dtype;
  c->out.rank = value.rank;
  memcpy(c->out.dims, value.dims, sizeof value.dims);
  return value;
}

static test_value first(call *c) {
  return first_operand(c, c->dtype, 0, SHAPE_RANK, false);
}

// The shape of an operand that broadcasts to `shape`.
static int narrowed(program *p, const test_value *shape, test_dim *out) {
  int dropped = rng_percent(&p->random, 30) ? (int)rng_below(&p->random, shape->rank + 1) : 0;
  for (int i = dropped; i < shape->rank; i++)
    out[i - dropped] = rng_percent(&p->random, 20) ? dim_const(1) : shape->dims[i];
  return shape->rank - dropped;
}

// -- Ops -----------------------------------------------------------------------------------------

static leat_dtype operand_dtype(const call *c, int i) {
  return c->op == LEAT_OP_where && i == 0 ? LEAT_bool : c->dtype;
}

static bool is_comparison(leat_op op) {
  switch ((int)op) {
  case LEAT_OP_equal:
  case LEAT_OP_not_equal:
  case LEAT_OP_less:
  case LEAT_OP_less_equal:
  case LEAT_OP_greater:
  case LEAT_OP_greater_equal: return true;
  }
  return false;
}

static leat_dtype result_dtype(const call *c) {
  bool complex = leat_dtype_kind_of(c->dtype) == LEAT_KIND_COMPLEX;
  if (is_comparison(c->op)) return LEAT_bool;
  if (c->op == LEAT_OP_complex) return c->dtype == LEAT_f32 ? LEAT_c64 : LEAT_c128;
  if (complex && (c->op == LEAT_OP_real || c->op == LEAT_OP_imag || c->op == LEAT_OP_abs))
    return c->dtype == LEAT_c64 ? LEAT_f32 : LEAT_f64;
  return c->dtype;
}

// Element-wise: operands of one shape, or broadcast to that of one of them.
static void call_elementwise(call *c) {
  program *p = c->p;
  int count = leat_op_info_of(c->op)->min_inputs, wide = (int)rng_below(&p->random, count);
  bool broadcasts = count > 1 && !p->reuse && rng_percent(&p->random, 40);
  test_dim dims[LEAT_MAX_RANK];
  if (!broadcasts) {
    test_value shape = first_operand(c, operand_dtype(c, 0), 0, SHAPE_RANK, false);
    for (int i = 1; i < count; i++) operand(c, operand_dtype(c, i), shape.rank, shape.dims);
  } else {
    c->out.rank = program_shape(p, 0, SHAPE_RANK, false, c->out.dims);
    for (int i = 0; i < count; i++) {
      int rank = c->out.rank;
      memcpy(dims, c->out.dims, sizeof dims);
      if (i != wide) rank = narrowed(p, &c->out, dims);
      operand(c, operand_dtype(c, i), rank, dims);
    }
  }
  c->out.dtype = result_dtype(c);
}

static void call_cast(call *c) {
  first(c);
  bool complex = leat_dtype_kind_of(c->dtype) == LEAT_KIND_COMPLEX; // no cast to others
  c->out.dtype = !complex ? computed[c->variant] : c->variant % 2 ? LEAT_c64 : LEAT_c128;
  add_words(c, ", ");
  add_words(c, leat_dtype_name(c->out.dtype));
}

static void call_bitcast(call *c) {
  static const leat_dtype to[][4] = {[1] = {LEAT_i8, LEAT_u8, LEAT_i8, LEAT_u8},
                                     [2] = {LEAT_i16, LEAT_u16, LEAT_f16, LEAT_bf16},
                                     [4] = {LEAT_i32, LEAT_u32, LEAT_f32, LEAT_f32},
                                     [8] = {LEAT_i64, LEAT_u64, LEAT_f64, LEAT_f64}};
  first(c);
  c->out.dtype = to[leat_dtype_size(c->dtype)][rng_below(&c->p->random, 4)];
  add_words(c, ", ");
  add_words(c, leat_dtype_name(c->out.dtype));
}

// Splits a dim, puts two together, or puts in a 1.
static void call_reshape(call *c) {
  program *p = c->p;
  test_value x = first(c);
  int at = (int)rng_below(&p->random, x.rank + 1);
  test_dim *dims = c->out.dims, here = at < x.rank ? x.dims[at] : dim_const(1);
  test_dim next = at + 1 < x.rank ? x.dims[at + 1] : dim_const(1);
  bool joins = at + 1 < x.rank && (here.name == DIM_CONST || next.name == DIM_CONST);
  bool splits = here.name == DIM_CONST && here.plus > 1 && here.plus % 2 == 0;
  if (joins && rng_percent(&p->random, 60)) {
    test_dim times = here.name == DIM_CONST ? here : next;
    test_dim base = here.name == DIM_CONST ? next : here;
    base.times *= times.plus;
    base.plus *= times.plus;
    dims[at] = base.name != DIM_CONST && base.times == 0 ? dim_const(0) : base;
    memmove(dims + at + 1, dims + at + 2, (size_t)(x.rank - at - 2) * sizeof *dims);
    c->out.rank--;
  } else {
    memmove(dims + at + 1, dims + at, (size_t)(x.rank - at) * sizeof *dims);
    dims[at] = dim_const(splits ? 2 : 1);
    if (splits) dims[at + 1] = dim_const(here.plus / 2);
    c->out.rank++;
  }
  add_dims(c, "shape", c->out.rank, dims);
}

static void call_transpose(call *c) {
  test_value x = first(c);
  int64_t perm[LEAT_MAX_RANK];
  for (int i = 0; i < x.rank; i++) {
    int j = (int)rng_below(&c->p->random, i + 1);
    perm[i] = perm[j];
    perm[j] = i;
  }
  for (int i = 0; i < x.rank; i++) c->out.dims[i] = x.dims[perm[i]];
  add_ints(c, "perm", x.rank, perm);
}

// Of a value that there is: along its dims of 1, and to more axes.
static void broadcast_value(call *c) {
  program *p = c->p;
  test_value x = first_operand(c, c->dtype, 0, SHAPE_RANK - 1, false);
  int added = (int)rng_below(&p->random, 2);
  c->out.rank = x.rank + added;
  for (int i = 0; i < c->out.rank; i++) {
    bool chosen = i < added || dim_is(x.dims[i - added], 1);
    if (chosen) program_shape(p, 1, 1, false, &c->out.dims[i]);
    if (!chosen) c->out.dims[i] = x.dims[i - added];
  }
}

static void call_broadcast(call *c) {
  program *p = c->p;
  test_dim dims[LEAT_MAX_RANK];
  int64_t most = p->most_elements;
  p->most_elements = p->reuse ? 20 : most;
  if (p->reuse) {
    broadcast_value(c);
  } else {
    c->out.rank = program_shape(p, 0, SHAPE_RANK, false, c->out.dims);
    operand(c, c->dtype, narrowed(p, &c->out, dims), dims);
  }
  p->most_elements = most;
  c->out.dtype = c->dtype;
  for (int i = 0; i < c->out.rank; i++) program_bind(p, c->out.dims[i]);
  add_dims(c, "shape", c->out.rank, c->out.dims);
}

// Operands after the first differ along the axis by a constant.
static void call_concat(call *c) {
  program *p = c->p;
  test_value x = first_operand(c, c->dtype, 1, SHAPE_RANK, false);
  int axis = (int)rng_below(&p->random, x.rank);
  for (int64_t more = rng_below(&p->random, 3); more > 0; more--) {
    test_dim dims[LEAT_MAX_RANK];
    memcpy(dims, x.dims, sizeof dims);
    if (x.dims[axis].name != DIM_CONST && rng_percent(&p->random, 50)) {
      c->out.dims[axis].times += x.dims[axis].times;
      c->out.dims[axis].plus += x.dims[axis].plus;
    } else {
      dims[axis] = dim_const(rng_below(&p->random, 20));
      c->out.dims[axis].plus += dims[axis].plus;
    }
    operand(c, c->dtype, x.rank, dims);
  }
  add_int(c, "axis", axis);
}

// Of an axis with a constant extent any part, also backwards; of a run-time one what it is sure to
// have.
static void slice_axis(program *p, test_dim extent, int64_t *start, test_dim *size, int64_t *step) {
  *start = 0;
  *size = extent;
  *step = 1;
  if (rng_percent(&p->random, 30)) return;
  if (extent.name != DIM_CONST) {
    *start = rng_below(&p->random, extent.plus + 1);
    size->plus -= *start + rng_below(&p->random, extent.plus - *start + 1);
  } else if (extent.plus > 0) {
    static const int64_t steps[] = {1, 1, 2, 3, -1, -2};
    *step = RNG_PICK(&p->random, steps);
    *start = rng_below(&p->random, extent.plus);
    int64_t room = *step > 0 ? (extent.plus - 1 - *start) / *step : *start / -*step;
    *size = dim_const(rng_below(&p->random, room + 2));
  }
}

static void call_slice(call *c) {
  test_value x = first(c);
  int64_t start[LEAT_MAX_RANK], step[LEAT_MAX_RANK];
  for (int i = 0; i < x.rank; i++)
    slice_axis(c->p, x.dims[i], &start[i], &c->out.dims[i], &step[i]);
  add_ints(c, "start", x.rank, start);
  add_dims(c, "size", x.rank, c->out.dims);
  add_ints(c, "step", x.rank, step);
}

static void call_pad(call *c) {
  test_value x = first(c);
  int64_t before[LEAT_MAX_RANK], after[LEAT_MAX_RANK];
  operand(c, c->dtype, 0, NULL);
  for (int i = 0; i < x.rank; i++) {
    before[i] = rng_percent(&c->p->random, 50) ? rng_below(&c->p->random, 7) - 2 : 0;
    after[i] = rng_percent(&c->p->random, 50) ? rng_below(&c->p->random, 18) : 0;
    if (before[i] < 0) after[i] += 2; // more is never taken away than there is
    c->out.dims[i].plus += before[i] + after[i];
  }
  add_ints(c, "before", x.rank, before);
  add_ints(c, "after", x.rank, after);
}

// Windows along some axes, which at times hang over, lie apart, or leave elements out.
static void call_unfold(call *c) {
  static const char *const names[] = {"window", "stride", "dilation", "base", "before"};
  program *p = c->p;
  int64_t axes[LEAT_MAX_RANK], numbers[5][LEAT_MAX_RANK], most = p->most_elements;
  bool windowed = rng_percent(&p->random, 40);
  test_dim dims[LEAT_MAX_RANK], sizes[LEAT_MAX_RANK];
  int count = 0;
  p->most_elements = most / 10;
  int rank = program_shape(p, 1, 3, false, dims);
  p->most_elements = most;
  for (int i = 0; i < rank; i++) {
    if (count == 2 || rng_percent(&p->random, 40)) continue;
    for (int j = 0; j < 4; j++) numbers[j][count] = 1 + rng_below(&p->random, 3);
    if (rng_percent(&p->random, 50)) numbers[3][count] = 1;
    if (rng_percent(&p->random, 30)) numbers[2][count] *= -1;
    numbers[4][count] = rng_below(&p->random, 8) - 3;
    sizes[count] = rng_percent(&p->random, 50) ? dims[i] : dim_const(rng_below(&p->random, 20));
    if (windowed) dims[rank + count] = dim_const(numbers[0][count]);
    axes[count++] = i;
  }
  operand(c, c->dtype, rank + (windowed ? count : 0), dims);
  operand(c, c->dtype, 0, NULL);
  c->out.rank = rank + count;
  memcpy(c->out.dims, dims, sizeof dims);
  for (int i = 0; i < count; i++) {
    c->out.dims[axes[i]] = sizes[i];
    c->out.dims[rank + i] = dim_const(numbers[0][i]);
  }
  c->out.dtype = c->dtype;
  add_ints(c, "axes", count, axes);
  add_dims(c, "size", count, sizes);
  for (int j = 0; j < 5; j++) add_ints(c, names[j], count, numbers[j]);
  add_attribute(c, "windowed");
  add_words(c, windowed ? "true" : "false");
}

static leat_dtype index_dtype(program *p) {
  return rng_percent(&p->random, 50) ? LEAT_i32 : LEAT_i64;
}

// Rows along an axis: the shape of x with the axis replaced by that of the indices.
static test_value gathered(const test_value *x, int axis, const test_value *indices) {
  test_value out = {.dtype = x->dtype};
  for (int i = 0; i < axis; i++) out.dims[out.rank++] = x->dims[i];
  for (int i = 0; i < indices->rank; i++) out.dims[out.rank++] = indices->dims[i];
  for (int i = axis + 1; i < x->rank; i++) out.dims[out.rank++] = x->dims[i];
  return out;
}

static test_value index_into(call *c, const test_value *x, int *axis) {
  test_dim dims[LEAT_MAX_RANK];
  int64_t most = c->p->most_elements;
  *axis = (int)rng_below(&c->p->random, x->rank);
  c->p->most_elements = 40;
  int rank = program_shape(c->p, 0, 2, false, dims);
  c->p->most_elements = most;
  return index_operand(c, index_dtype(c->p), rank, dims, FILL_INDEX, x->dims[*axis]);
}

static void call_gather(call *c) {
  int axis;
  test_value x = first_operand(c, c->dtype, 1, SHAPE_RANK - 1, true);
  test_value indices = index_into(c, &x, &axis);
  test_value rows = gathered(&x, axis, &indices);
  c->out.rank = rows.rank;
  memcpy(c->out.dims, rows.dims, sizeof rows.dims);
  add_int(c, "axis", axis);
}

static void call_scatter(call *c) {
  int axis;
  test_value x = first_operand(c, c->dtype, 1, SHAPE_RANK - 1, true);
  test_value indices = index_into(c, &x, &axis), updates = gathered(&x, axis, &indices);
  operand(c, c->dtype, updates.rank, updates.dims);
  add_int(c, "axis", axis);
}

static void call_check_index(call *c) {
  test_dim dims[LEAT_MAX_RANK], extent = dim_const(1 + rng_below(&c->p->random, 20));
  int rank = program_shape(c->p, 0, SHAPE_RANK, false, dims);
  test_value x = index_operand(c, c->dtype, rank, dims, FILL_INDEX, extent);
  c->out.dtype = c->dtype;
  c->out.rank = rank;
  memcpy(c->out.dims, x.dims, sizeof x.dims);
  add_int(c, "extent", extent.plus);
}

static void call_one_hot(call *c) {
  static const leat_dtype dtypes[] = {LEAT_f32,  LEAT_f64, LEAT_i32, LEAT_u8,
                                      LEAT_bool, LEAT_i64, LEAT_f16, LEAT_bf16};
  test_dim dims[LEAT_MAX_RANK], depth = dim_const(rng_below(&c->p->random, 20));
  int rank = program_shape(c->p, 0, 2, false, dims);
  test_value x = index_operand(c, c->dtype, rank, dims, FILL_NEAR, depth);
  c->out.rank = rank;
  memcpy(c->out.dims, x.dims, sizeof x.dims);
  c->out.dims[c->out.rank++] = depth;
  c->out.dtype = RNG_PICK(&c->p->random, dtypes);
  add_int(c, "depth", depth.plus);
  add_attribute(c, "dtype");
  add_words(c, leat_dtype_name(c->out.dtype));
}

static void call_iota(call *c) {
  c->out.dtype = c->dtype;
  c->out.rank = program_shape(c->p, 1, SHAPE_RANK, false, c->out.dims);
  for (int i = 0; i < c->out.rank; i++) program_bind(c->p, c->out.dims[i]);
  add_dims(c, "shape", c->out.rank, c->out.dims);
  add_int(c, "axis", rng_below(&c->p->random, c->out.rank));
  add_attribute(c, "dtype");
  add_words(c, leat_dtype_name(c->dtype));
}

// Reductions: any set of axes. A choice needs something to choose from.
static void call_reduction(call *c) {
  bool chooses = c->op == LEAT_OP_argmax || c->op == LEAT_OP_argmin;
  bool any_count = !chooses && c->op != LEAT_OP_max && c->op != LEAT_OP_min,
       keepdims = rng_percent(&c->p->random, 30);
  test_value x = first_operand(c, c->dtype, 0, SHAPE_RANK, !any_count);
  int64_t axes[LEAT_MAX_RANK];
  int count = 0, all = rng_percent(&c->p->random, 25);
  c->out.rank = 0;
  for (int i = 0; i < x.rank; i++) {
    bool reduced = all || rng_percent(&c->p->random, 50);
    if (reduced) axes[count++] = i;
    if (!reduced || keepdims) c->out.dims[c->out.rank++] = reduced ? dim_const(1) : x.dims[i];
  }
  add_ints(c, "axis", count, axes);
  add_attribute(c, "keepdims");
  add_words(c, keepdims ? "true" : "false");
  c->out.dtype = chooses ? LEAT_i32 : c->dtype;
}

static void matrix(test_dim *dims, int batch, test_dim row, test_dim column, bool transposed) {
  dims[batch] = transposed ? column : row;
  dims[batch + 1] = transposed ? row : column;
}

static void call_matmul(call *c) {
  program *p = c->p;
  bool transpose_a = rng_percent(&p->random, 30), transpose_b = rng_percent(&p->random, 30);
  test_value a = first_operand(c, c->dtype, 2, 3, false);
  int batch = a.rank - 2, shared = rng_percent(&p->random, 50) ? batch : 0;
  test_dim row = a.dims[batch + transpose_a], inner = a.dims[batch + !transpose_a], column[1];
  test_dim b[LEAT_MAX_RANK];
  c->inner = inner;
  int64_t most = p->most_elements;
  p->most_elements = 70;
  program_shape(p, 1, 1, false, column);
  p->most_elements = most;
  memcpy(b, a.dims, sizeof b);
  matrix(b, shared, inner, *column, transpose_b);
  operand(c, c->dtype, shared + 2, b);
  matrix(c->out.dims, batch, row, *column, false);
  add_attribute(c, "transpose_a");
  add_words(c, transpose_a ? "true" : "false");
  add_attribute(c, "transpose_b");
  add_words(c, transpose_b ? "true" : "false");
}

// Along one axis, in either direction; top_k needs as many elements as it takes.
static void call_sort(call *c) {
  test_value x = first_operand(c, c->dtype, 1, SHAPE_RANK, false);
  int axis = (int)rng_below(&c->p->random, x.rank);
  if (c->op == LEAT_OP_top_k) {
    int64_t most = x.dims[axis].plus; // a run-time dim has at least these
    c->out.dims[axis] = dim_const(rng_below(&c->p->random, most + 1));
    add_int(c, "k", c->out.dims[axis].plus);
    c->second = c->out;
    c->second.dtype = LEAT_i32;
    snprintf(c->second.name, sizeof c->second.name, "p%u", c->p->values.count);
  } else {
    add_attribute(c, "descending");
    add_words(c, rng_percent(&c->p->random, 50) ? "true" : "false");
  }
  add_int(c, "axis", axis);
  if (c->op == LEAT_OP_argsort) c->out.dtype = LEAT_i32;
}

// Whether or not what is searched is sorted.
static void call_searchsorted(call *c) {
  test_dim dims[LEAT_MAX_RANK];
  first_operand(c, c->dtype, 1, 1, false);
  c->out.rank = program_shape(c->p, 0, 3, false, dims);
  operand(c, c->dtype, c->out.rank, dims);
  memcpy(c->out.dims, dims, sizeof dims);
  c->out.dtype = LEAT_i32;
  add_attribute(c, "side");
  add_words(c, rng_percent(&c->p->random, 50) ? "\"left\"" : "\"right\"");
}

static void call_cumulation(call *c) {
  test_value x = first_operand(c, c->dtype, 1, SHAPE_RANK, false);
  add_int(c, "axis", rng_below(&c->p->random, x.rank));
  add_attribute(c, "reverse");
  add_words(c, rng_percent(&c->p->random, 50) ? "true" : "false");
  add_attribute(c, "exclusive");
  add_words(c, rng_percent(&c->p->random, 50) ? "true" : "false");
}

static void call_random_bits(call *c) {
  c->out.dtype = LEAT_u32;
  c->out.rank = program_shape(c->p, 0, SHAPE_RANK, false, c->out.dims);
  for (int i = 0; i < c->out.rank; i++) program_bind(c->p, c->out.dims[i]);
  add_dims(c, "shape", c->out.rank, c->out.dims);
  add_int(c, "seed", (int64_t)rng_next(&c->p->random) >> 1);
}

static void call_permutation(call *c) {
  program_shape(c->p, 1, 1, false, c->out.dims);
  c->out.dtype = LEAT_i32;
  c->out.rank = 1;
  program_bind(c->p, c->out.dims[0]);
  add_attribute(c, "n");
  leat_text words = {0};
  test_dim_print(c->out.dims[0], &words);
  add_words(c, words.data);
  leat_text_finish(&words);
  add_int(c, "seed", (int64_t)rng_next(&c->p->random) >> 1);
  add_int(c, "count", rng_below(&c->p->random, 1 << 20));
}

typedef void (*call_function)(call *c);

static const call_function functions[LEAT_OP_COUNT] = {
    [LEAT_OP_cast] = call_cast,
    [LEAT_OP_bitcast] = call_bitcast,
    [LEAT_OP_reshape] = call_reshape,
    [LEAT_OP_transpose] = call_transpose,
    [LEAT_OP_broadcast] = call_broadcast,
    [LEAT_OP_concat] = call_concat,
    [LEAT_OP_slice] = call_slice,
    [LEAT_OP_pad] = call_pad,
    [LEAT_OP_unfold] = call_unfold,
    [LEAT_OP_gather] = call_gather,
    [LEAT_OP_check_index] = call_check_index,
    [LEAT_OP_one_hot] = call_one_hot,
    [LEAT_OP_iota] = call_iota,
    [LEAT_OP_matmul] = call_matmul,
    [LEAT_OP_sort] = call_sort,
    [LEAT_OP_argsort] = call_sort,
    [LEAT_OP_top_k] = call_sort,
    [LEAT_OP_searchsorted] = call_searchsorted,
    [LEAT_OP_cumsum] = call_cumulation,
    [LEAT_OP_cumprod] = call_cumulation,
    [LEAT_OP_cummax] = call_cumulation,
    [LEAT_OP_cummin] = call_cumulation,
    [LEAT_OP_random_bits] = call_random_bits,
    [LEAT_OP_permutation] = call_permutation,
};

static call_function function_of(leat_op op) {
  const leat_op_info *info = leat_op_info_of(op);
  if (functions[op]) return functions[op];
  if (info->kind == LEAT_KIND_REDUCE) return call_reduction;
  if (info->kind == LEAT_KIND_SCATTER) return call_scatter;
  bool plain = info->kind == LEAT_KIND_ELEMENT && !info->attr_count && info->min_inputs > 0;
  return plain ? call_elementwise : NULL;
}

bool op_calls_cover(leat_op op) {
  return function_of(op) != NULL;
}

// The ops of programs that are written by hand.
const char *op_tested_by(leat_op op) {
  static const char structure[] = "structure_test", linalg[] = "linalg_sweep_test";
  static const char *const others[LEAT_OP_COUNT] = {
      [LEAT_OP_const] = structure,
      [LEAT_OP_load] = structure,
      [LEAT_OP_feed] = structure,
      [LEAT_OP_fetch] = structure,
      [LEAT_OP_read] = structure,
      [LEAT_OP_assign] = structure,
      [LEAT_OP_print] = structure,
      [LEAT_OP_assert] = structure,
      [LEAT_OP_assign_add] = structure,
      [LEAT_OP_run_count] = structure,
      [LEAT_OP_send] = structure,
      [LEAT_OP_recv] = structure,
      [LEAT_OP_dim] = structure,
      [LEAT_OP_bind] = structure,
      [LEAT_OP_check_dims] = structure,
      [LEAT_OP_ensure_shape] = structure,
      [LEAT_OP_positions] = structure,
      [LEAT_OP_str_compare] = structure,
      [LEAT_OP_str_concat] = structure,
      [LEAT_OP_str_length] = structure,
      [LEAT_OP_str_hash] = structure,
      [LEAT_OP_str_lower] = structure,
      [LEAT_OP_str_upper] = structure,
      [LEAT_OP_substring] = structure,
      [LEAT_OP_str_to_number] = structure,
      [LEAT_OP_number_to_str] = structure,
      [LEAT_OP_join_strings] = structure,
      [LEAT_OP_cholesky] = linalg,
      [LEAT_OP_lu] = linalg,
      [LEAT_OP_triangular_solve] = linalg,
      [LEAT_OP_qr] = linalg,
      [LEAT_OP_eigh] = linalg,
      [LEAT_OP_svd] = linalg,
      [LEAT_OP_fft] = linalg,
      [LEAT_OP_ifft] = linalg,
      [LEAT_OP_rfft] = linalg,
      [LEAT_OP_irfft] = linalg,
  };
  return op_calls_cover(op) ? "sweep_test" : others[op];
}

// -- How far results may differ ------------------------------------------------------------------

static double unit_of(leat_dtype dtype) {
  return dtype == LEAT_f16    ? 0x1p-10
         : dtype == LEAT_bf16 ? 0x1p-7
         : dtype == LEAT_f32  ? 0x1p-23
                              : 0x1p-52;
}

// Elements that go into one of the result.
static double terms(const call *c) {
  const test_value *x = &c->operand[0];
  double in = 1, out = 1;
  if (c->op == LEAT_OP_matmul) return (double)dim_most(c->inner);
  for (int i = 0; i < x->rank; i++) in *= (double)dim_most(x->dims[i]);
  for (int i = 0; i < c->out.rank; i++) out *= (double)dim_most(c->out.dims[i]);
  return out > 0 ? in / out : 1;
}

// Bounds of the result of a smooth op from those of its operands.
static void propagate(call *c) {
  double b0 = c->operand[0].bound, b1 = c->operand[1].bound, e0 = c->operand[0].error;
  double e1 = c->operand[1].error, bound = c->out.bound, error = c->out.error;
  double unit = unit_of(c->dtype);
  switch ((int)c->op) {
  case LEAT_OP_add:
  case LEAT_OP_sub: bound = b0 + b1, error = e0 + e1; break;
  case LEAT_OP_mul: bound = b0 * b1, error = e0 * b1 + e1 * b0; break;
  case LEAT_OP_sum: bound = b0 * terms(c), error = e0 * terms(c); break;
  case LEAT_OP_prod:
  case LEAT_OP_scatter_mul:
  case LEAT_OP_scatter_add:
  case LEAT_OP_cumsum:
  case LEAT_OP_cumprod:
  case LEAT_OP_cummax: // of no elements
  case LEAT_OP_cummin: bound = INFINITY; break;
  case LEAT_OP_matmul: bound = b0 * b1 * terms(c), error = (e0 * b1 + e1 * b0) * terms(c); break;
  case LEAT_OP_exp: bound = exp(b0), error = (e0 + 4 * unit) * bound; break;
  case LEAT_OP_tanh: bound = 1, error = e0 + 4 * unit; break;
  case LEAT_OP_log: bound = fmax(1, log1p(b0)), error = e0 + 4 * unit * bound; break;
  case LEAT_OP_one_hot:
  case LEAT_OP_iota: bound = MOST_BOUND; break;
  }
  c->out.bound = bound;
  c->out.error = error > 0 ? error + unit * bound * fmax(4, terms(c)) : 0;
}

// -- Statements ----------------------------------------------------------------------------------

static void write_statement(call *c) {
  leat_text *body = &c->p->body;
  const char *name = leat_op_name(c->op), *operands = c->text.data ? c->text.data : "";
  const char *comma = *c->second.name ? ", " : "";
  leat_text_add(body, "  %s%s%s = ", c->out.name, comma, c->second.name);
  if (!is_word(c->op))
    leat_text_add(body, "%s(%s)\n", name, operands);
  else
    leat_text_add(body, "%s%s\n", c->op == LEAT_OP_not ? "not " : "", operands);
}

// What the value is called in messages, and how near it must be on other targets.
static void describe(call *c) {
  const leat_op_info *info = leat_op_info_of(c->op);
  const char *operands = c->label.data ? c->label.data : "";
  c->out.label = leat_arena_printf(c->p->arena, "%s of %s: %s = %s(%s)", info->name,
                                   leat_dtype_name(c->dtype), c->out.name, info->name, operands);
  bool moves = info->dtypes == LEAT_CLASS_ALL && !c->p->reuse; // and its operands are inputs
  c->out.match = moves ? MATCH_BITS : MATCH_VALUES;
  if (c->p->smooth && c->out.error > 0) {
    c->out.match = MATCH_NEAR;
    c->out.tolerance = c->out.error;
  } else if (op_ulps(c->op)) {
    c->out.match = op_cancels(c->op) ? MATCH_ULPS_OF_1 : MATCH_ULPS;
    c->out.tolerance = op_ulps(c->op);
  }
}

// Integers, which are the same everywhere.
static void add_second(call *c) {
  c->second.label = c->out.label;
  c->second.match = MATCH_VALUES;
  leat_vec_push(c->p->arena, &c->p->values, c->second);
}

bool op_call(program *p, leat_op op, leat_dtype dtype, int variant) {
  call c = {.p = p, .op = op, .dtype = dtype, .variant = variant};
  bool possible = function_of(op) && op_takes(op, dtype) &&
                  !(p->smooth && op_ulps(op) && !op_is_smooth(op)); // no bounds are known
  if (possible) {
    function_of(op)(&c);
    propagate(&c);
    snprintf(c.out.name, sizeof c.out.name, "y%u", p->values.count);
    describe(&c);
    write_statement(&c);
    leat_vec_push(p->arena, &p->values, c.out);
    if (*c.second.name) add_second(&c);
  }
  leat_text_finish(&c.text);
  leat_text_finish(&c.label);
  return possible;
}
