// Calls of ops that move elements: shapes, windows, indices.
#include "tests/sweep/call.h"

#include <string.h>

// Splits a dim, puts two together, or puts in a 1.
void make_reshape(call *c) {
  program *p = c->p;
  test_value x = call_first(c);
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
  call_add_dims(c, "shape", c->out.rank, dims);
}

void make_transpose(call *c) {
  test_value x = call_first(c);
  int64_t perm[LEAT_MAX_RANK];
  for (int i = 0; i < x.rank; i++) {
    int j = (int)rng_below(&c->p->random, i + 1);
    perm[i] = perm[j];
    perm[j] = i;
  }
  for (int i = 0; i < x.rank; i++) c->out.dims[i] = x.dims[perm[i]];
  call_add_ints(c, "perm", x.rank, perm);
}

// Of a value that there is: along its dims of 1, and to more axes.
static void broadcast_value(call *c) {
  program *p = c->p;
  test_value x = call_first_operand(c, c->dtype, 0, SHAPE_RANK - 1, false);
  int added = (int)rng_below(&p->random, 2);
  c->out.rank = x.rank + added;
  for (int i = 0; i < c->out.rank; i++) {
    bool chosen = i < added || dim_is(x.dims[i - added], 1);
    if (chosen) program_shape(p, 1, 1, false, &c->out.dims[i]);
    if (!chosen) c->out.dims[i] = x.dims[i - added];
  }
}

void make_broadcast(call *c) {
  program *p = c->p;
  test_dim dims[LEAT_MAX_RANK];
  int64_t most = p->most_elements;
  p->most_elements = p->reuse ? 20 : most;
  if (p->reuse) {
    broadcast_value(c);
  } else {
    c->out.rank = program_shape(p, 0, SHAPE_RANK, false, c->out.dims);
    call_operand(c, c->dtype, call_narrowed(p, &c->out, dims), dims);
  }
  p->most_elements = most;
  c->out.dtype = c->dtype;
  for (int i = 0; i < c->out.rank; i++) program_bind(p, c->out.dims[i]);
  call_add_dims(c, "shape", c->out.rank, c->out.dims);
}

// Operands after the first differ along the axis by a constant.
void make_concat(call *c) {
  program *p = c->p;
  test_value x = call_first_operand(c, c->dtype, 1, SHAPE_RANK, false);
  int axis = (int)rng_below(&p->random, x.rank);
  int64_t more = rng_below(&p->random, 3);
  if (p->aliased) more = 2;
  for (; more > 0; more--) {
    test_dim dims[LEAT_MAX_RANK];
    memcpy(dims, x.dims, sizeof dims);
    bool varies = x.dims[axis].name != DIM_CONST && rng_percent(&p->random, 50);
    if (varies || p->aliased) {
      c->out.dims[axis].times += x.dims[axis].times;
      c->out.dims[axis].plus += x.dims[axis].plus;
    } else {
      dims[axis] = dim_const(rng_below(&p->random, 20));
      c->out.dims[axis].plus += dims[axis].plus;
    }
    call_operand(c, c->dtype, x.rank, dims);
  }
  call_add_int(c, "axis", axis);
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

void make_slice(call *c) {
  test_value x = call_first(c);
  int64_t start[LEAT_MAX_RANK], step[LEAT_MAX_RANK];
  for (int i = 0; i < x.rank; i++)
    slice_axis(c->p, x.dims[i], &start[i], &c->out.dims[i], &step[i]);
  call_add_ints(c, "start", x.rank, start);
  call_add_dims(c, "size", x.rank, c->out.dims);
  call_add_ints(c, "step", x.rank, step);
}

void make_pad(call *c) {
  test_value x = call_first(c);
  test_dim before[LEAT_MAX_RANK], after[LEAT_MAX_RANK];
  call_operand(c, c->dtype, 0, NULL);
  for (int i = 0; i < x.rank; i++) {
    before[i] = dim_const(rng_percent(&c->p->random, 50) ? rng_below(&c->p->random, 7) - 2 : 0);
    after[i] = dim_const(rng_percent(&c->p->random, 50) ? rng_below(&c->p->random, 18) : 0);
    if (before[i].plus < 0) after[i].plus += 2; // more is never taken away than there is
    c->out.dims[i].plus += before[i].plus + after[i].plus;
    if (!c->p->symbolic || x.dims[i].name != DIM_CONST || rng_percent(&c->p->random, 80)) continue;
    test_dim *late = rng_percent(&c->p->random, 50) ? &before[i] : &after[i];
    late->name = c->out.dims[i].name = DIM_P0;
    late->times = c->out.dims[i].times = 1;
    program_bind(c->p, *late);
  }
  call_add_dims(c, "before", x.rank, before);
  call_add_dims(c, "after", x.rank, after);
}

// Windows along some axes, which at times hang over, lie apart, or leave elements out.
void make_unfold(call *c) {
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
  call_operand(c, c->dtype, rank + (windowed ? count : 0), dims);
  call_operand(c, c->dtype, 0, NULL);
  c->out.rank = rank + count;
  memcpy(c->out.dims, dims, sizeof dims);
  for (int i = 0; i < count; i++) {
    c->out.dims[axes[i]] = sizes[i];
    c->out.dims[rank + i] = dim_const(numbers[0][i]);
  }
  c->out.dtype = c->dtype;
  call_add_ints(c, "axes", count, axes);
  call_add_dims(c, "size", count, sizes);
  for (int j = 0; j < 5; j++) call_add_ints(c, names[j], count, numbers[j]);
  call_add_attribute(c, "windowed");
  call_add_words(c, windowed ? "true" : "false");
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
  if (c->p->aliased) rank = 1, dims[0] = x->dims[*axis]; // of a scatter: updates like x
  return call_index_operand(c, index_dtype(c->p), rank, dims, FILL_INDEX, x->dims[*axis]);
}

void make_gather(call *c) {
  int axis;
  test_value x = call_first_operand(c, c->dtype, 1, SHAPE_RANK - 1, true);
  test_value indices = index_into(c, &x, &axis);
  test_value rows = gathered(&x, axis, &indices);
  c->out.rank = rows.rank;
  memcpy(c->out.dims, rows.dims, sizeof rows.dims);
  call_add_int(c, "axis", axis);
}

void make_scatter(call *c) {
  int axis;
  test_value x = call_first_operand(c, c->dtype, 1, SHAPE_RANK - 1, true);
  test_value indices = index_into(c, &x, &axis), updates = gathered(&x, axis, &indices);
  call_operand(c, c->dtype, updates.rank, updates.dims);
  call_add_int(c, "axis", axis);
}

void make_check_index(call *c) {
  test_dim dims[LEAT_MAX_RANK], extent = dim_const(1 + rng_below(&c->p->random, 20));
  int rank = program_shape(c->p, 0, SHAPE_RANK, false, dims);
  test_value x = call_index_operand(c, c->dtype, rank, dims, FILL_INDEX, extent);
  c->out.dtype = c->dtype;
  c->out.rank = rank;
  memcpy(c->out.dims, x.dims, sizeof x.dims);
  call_add_int(c, "extent", extent.plus);
}

void make_one_hot(call *c) {
  static const leat_dtype dtypes[] = {LEAT_f32,  LEAT_f64, LEAT_i32, LEAT_u8,
                                      LEAT_bool, LEAT_i64, LEAT_f16, LEAT_bf16};
  test_dim dims[LEAT_MAX_RANK], depth = dim_const(rng_below(&c->p->random, 20));
  int rank = program_shape(c->p, 0, 2, false, dims);
  test_value x = call_index_operand(c, c->dtype, rank, dims, FILL_NEAR, depth);
  c->out.rank = rank;
  memcpy(c->out.dims, x.dims, sizeof x.dims);
  c->out.dims[c->out.rank++] = depth;
  c->out.dtype = RNG_PICK(&c->p->random, dtypes);
  call_add_int(c, "depth", depth.plus);
  call_add_attribute(c, "dtype");
  call_add_words(c, leat_dtype_name(c->out.dtype));
}

void make_iota(call *c) {
  c->out.dtype = c->dtype;
  c->out.rank = program_shape(c->p, 1, SHAPE_RANK, false, c->out.dims);
  for (int i = 0; i < c->out.rank; i++) program_bind(c->p, c->out.dims[i]);
  call_add_dims(c, "shape", c->out.rank, c->out.dims);
  call_add_int(c, "axis", rng_below(&c->p->random, c->out.rank));
  call_add_attribute(c, "dtype");
  call_add_words(c, leat_dtype_name(c->dtype));
}
