// The builder of kernels: values and memory. Every call that makes a value goes through make(),
// which folds constants and drops identities.
#include "kernel/build.h"

#include <assert.h>

// -- Folding -------------------------------------------------------------------------------------

static bool is_float(leat_dtype dtype) {
  return leat_dtype_kind_of(dtype) == LEAT_KIND_FLOAT;
}

static bool is_int(k_value value, int64_t n) {
  return value->op == K_CONST && !is_float(value->dtype) && value->imm.i == n;
}

static k_value constant(k_builder *b, leat_dtype dtype, int lanes, k_imm value) {
  k_instr wanted = {.op = K_CONST, .dtype = dtype, .lanes = (uint8_t)lanes};
  wanted.imm = k_imm_wrap(dtype, value);
  return k_find_or_place(b, &wanted);
}

static bool is_elementwise(k_op op) {
  return (op >= K_ADD && op <= K_SHR) || op == K_SELECT || op == K_CAST || op == K_BITCAST;
}

static k_value fold_constants(k_builder *b, const k_instr *wanted) {
  k_imm args[3];
  if (!is_elementwise(wanted->op)) return NULL;
  for (uint32_t i = 0; i < wanted->arg_count; i++) {
    if (wanted->args[i]->op != K_CONST) return NULL;
    args[i] = wanted->args[i]->imm;
  }
  leat_dtype dtype = wanted->args[wanted->op == K_SELECT]->dtype;
  k_imm value = k_eval(wanted->op, dtype, wanted->dtype, args);
  return constant(b, wanted->dtype, wanted->lanes, value);
}

// Identities of integers and bool, and of select: the operand that the result equals, or NULL.
static k_value identity(k_builder *b, const k_instr *wanted) {
  k_value x = wanted->args[0], y = wanted->arg_count > 1 ? wanted->args[1] : NULL;
  if (wanted->op == K_SELECT) {
    if (x->op == K_CONST) return x->imm.i ? y : wanted->args[2];
    return y == wanted->args[2] ? y : NULL;
  }
  if (is_float(x->dtype)) return NULL;
  switch ((int)wanted->op) {
  case K_ADD: // a place that was taken apart is put together: d * q + (at - d * q)
    if (y->op == K_SUB && y->args[1] == x) return y->args[0];
    /* fallthrough */
  case K_OR:
  case K_XOR:
    if (is_int(x, 0)) return y;
    return is_int(y, 0) ? x : NULL;
  case K_SUB:
  case K_SHL:
  case K_SHR: return is_int(y, 0) ? x : NULL;
  case K_MUL:
    if (is_int(x, 0) || is_int(y, 1)) return x;
    return is_int(y, 0) || is_int(x, 1) ? y : NULL;
  case K_DIV: return is_int(y, 1) ? x : NULL;
  case K_REM: return is_int(y, 1) ? constant(b, y->dtype, y->lanes, (k_imm){.i = 0}) : NULL;
  case K_AND:
    if (is_int(x, 0) || x == y) return x;
    if (is_int(y, 0)) return y;
    if (x->dtype != LEAT_bool) return NULL;
    return is_int(x, 1) ? y : is_int(y, 1) ? x : NULL;
  case K_NOT: return x->op == K_NOT ? x->args[0] : NULL;
  }
  return NULL;
}

// What the operands' ranges decide, or NULL.
static k_value decide(k_builder *b, const k_instr *wanted) {
  k_value x = wanted->args[0], y = wanted->arg_count > 1 ? wanted->args[1] : NULL;
  if (!y || x->dtype != LEAT_i64 || wanted->lanes != 1) return NULL;
  if (wanted->op < K_MIN || wanted->op > K_LE) return NULL;
  k_range of_x = k_range_of(b, x), of_y = k_range_of(b, y);
  bool below = of_x.high <= of_y.low, above = of_y.high <= of_x.low;
  switch ((int)wanted->op) {
  case K_MIN: return below ? x : above ? y : NULL;
  case K_MAX: return above ? x : below ? y : NULL;
  case K_LT:
    if (of_x.high < of_y.low) return constant(b, LEAT_bool, 1, (k_imm){.i = 1});
    return above ? constant(b, LEAT_bool, 1, (k_imm){.i = 0}) : NULL;
  case K_LE:
    if (below) return constant(b, LEAT_bool, 1, (k_imm){.i = 1});
    return of_y.high < of_x.low ? constant(b, LEAT_bool, 1, (k_imm){.i = 0}) : NULL;
  }
  return NULL;
}

static k_value make(k_builder *b, k_op op, leat_dtype dtype, int lanes, const k_value *args,
                    uint32_t count) {
  k_value copy[3];
  assert(count <= 3);
  for (uint32_t i = 0; i < count; i++) copy[i] = args[i];
  k_instr wanted = {.op = op, .dtype = dtype, .lanes = (uint8_t)lanes, .args = copy};
  wanted.arg_count = count;
  k_value known = count ? fold_constants(b, &wanted) : NULL;
  if (!known && count) known = identity(b, &wanted);
  if (!known && count) known = decide(b, &wanted);
  return known ? known : k_find_or_place(b, &wanted);
}

// -- Values --------------------------------------------------------------------------------------

k_value k_int(k_builder *b, leat_dtype dtype, int lanes, int64_t value) {
  assert(!is_float(dtype));
  return constant(b, dtype, lanes, (k_imm){.i = value});
}

k_value k_float(k_builder *b, leat_dtype dtype, int lanes, double value) {
  assert(is_float(dtype));
  return constant(b, dtype, lanes, (k_imm){.f = value});
}

k_value k_i64(k_builder *b, int64_t value) {
  return k_int(b, LEAT_i64, 1, value);
}

k_value k_tile(k_builder *b) {
  return make(b, K_TILE, LEAT_i64, 1, NULL, 0);
}

k_value k_lane(k_builder *b, leat_dtype dtype, int lanes) {
  return make(b, K_LANE, dtype, lanes, NULL, 0);
}

k_value k_scalar(k_builder *b) {
  k_instr wanted = {.op = K_SCALAR, .dtype = LEAT_i64, .lanes = 1};
  wanted.imm.i = b->kernel->scalar_count++;
  return k_find_or_place(b, &wanted);
}

k_value k_splat(k_builder *b, int lanes, k_value a) {
  if (a->lanes == lanes) return a;
  assert(a->lanes == 1);
  if (a->op == K_CONST) return constant(b, a->dtype, lanes, a->imm);
  return make(b, K_SPLAT, a->dtype, lanes, &a, 1);
}

// Splats scalar operands to the lanes of the others.
static int agree(k_builder *b, k_value *args, uint32_t count) {
  int lanes = 1;
  for (uint32_t i = 0; i < count; i++)
    if (args[i]->lanes > lanes) lanes = args[i]->lanes;
  for (uint32_t i = 0; i < count; i++) args[i] = k_splat(b, lanes, args[i]);
  return lanes;
}

k_value k_unary(k_builder *b, k_op op, k_value a) {
  assert(k_op_arity(op) == 1 && is_elementwise(op));
  return make(b, op, a->dtype, a->lanes, &a, 1);
}

k_value k_binary(k_builder *b, k_op op, k_value x, k_value y) {
  k_value args[] = {x, y};
  assert(k_op_arity(op) == 2 && x->dtype == y->dtype);
  int lanes = agree(b, args, 2);
  bool compares = op >= K_EQ && op <= K_LE;
  return make(b, op, compares ? LEAT_bool : x->dtype, lanes, args, 2);
}

k_value k_fma(k_builder *b, k_value x, k_value y, k_value z) {
  k_value args[] = {x, y, z};
  assert(x->dtype == y->dtype && y->dtype == z->dtype);
  int lanes = agree(b, args, 3);
  return make(b, K_FMA, x->dtype, lanes, args, 3);
}

k_value k_mul_add(k_builder *b, k_value x, k_value y, k_value z) {
  bool splits = b->lacks_fma && leat_dtype_kind_of(x->dtype) == LEAT_KIND_FLOAT;
  return splits ? k_add(b, k_mul(b, x, y), z) : k_fma(b, x, y, z);
}

k_value k_select(k_builder *b, k_value condition, k_value x, k_value y) {
  k_value args[] = {condition, x, y};
  assert(condition->dtype == LEAT_bool && x->dtype == y->dtype);
  int lanes = agree(b, args, 3);
  return make(b, K_SELECT, x->dtype, lanes, args, 3);
}

k_value k_cast(k_builder *b, leat_dtype dtype, k_value a) {
  if (a->dtype == dtype) return a;
  if (a->op == K_SPLAT) return k_splat(b, a->lanes, k_cast(b, dtype, a->args[0]));
  return make(b, K_CAST, dtype, a->lanes, &a, 1);
}

k_value k_bitcast(k_builder *b, leat_dtype dtype, k_value a) {
  assert(leat_dtype_size(dtype) == leat_dtype_size(a->dtype));
  return a->dtype == dtype ? a : make(b, K_BITCAST, dtype, a->lanes, &a, 1);
}

static k_value part(k_builder *b, k_op op, k_value a, int lanes, int64_t which) {
  if (a->op == K_CONST) return constant(b, a->dtype, lanes, a->imm);
  if (a->op == K_SPLAT) return k_splat(b, lanes, a->args[0]);
  k_instr wanted = {.op = op, .dtype = a->dtype, .lanes = (uint8_t)lanes, .args = &a};
  wanted.arg_count = 1;
  wanted.imm.i = which;
  return k_find_or_place(b, &wanted);
}

k_value k_half(k_builder *b, k_value a, int which) {
  assert(a->lanes >= 2 && (which == 0 || which == 1));
  return part(b, K_HALF, a, a->lanes / 2, which);
}

static k_value shuffle(k_builder *b, k_op op, k_value x, k_value y, int which) {
  k_value both[] = {x, y};
  assert(x->lanes >= 2 && x->lanes == y->lanes && x->dtype == y->dtype);
  k_instr wanted = {.op = op, .dtype = x->dtype, .lanes = x->lanes, .args = both};
  wanted.arg_count = 2;
  wanted.imm.i = which;
  return k_find_or_place(b, &wanted);
}

k_value k_zip(k_builder *b, k_value x, k_value y, int which) {
  return shuffle(b, K_ZIP, x, y, which);
}

k_value k_unzip(k_builder *b, k_value x, k_value y, int which) {
  return shuffle(b, K_UNZIP, x, y, which);
}

k_value k_extract(k_builder *b, k_value a, int lane) {
  assert(lane >= 0 && lane < a->lanes);
  return a->lanes == 1 ? a : part(b, K_EXTRACT, a, 1, lane);
}

k_value k_any(k_builder *b, k_value a) {
  assert(a->dtype == LEAT_bool);
  if (a->lanes == 1) return a;
  if (a->op == K_CONST || a->op == K_SPLAT) return k_extract(b, a, 0);
  return make(b, K_ANY, LEAT_bool, 1, &a, 1);
}

k_value k_again(k_builder *b, const k_instr *instr, const k_value *args) {
  switch ((int)instr->op) {
  case K_CONST: return constant(b, instr->dtype, instr->lanes, instr->imm);
  case K_CAST: return k_cast(b, instr->dtype, args[0]);
  case K_SPLAT: return k_splat(b, instr->lanes, args[0]);
  case K_HALF: return k_half(b, args[0], (int)instr->imm.i);
  case K_ZIP:
  case K_UNZIP: return shuffle(b, instr->op, args[0], args[1], (int)instr->imm.i);
  case K_EXTRACT: return k_extract(b, args[0], (int)instr->imm.i);
  case K_ANY: return k_any(b, args[0]);
  }
  return make(b, instr->op, instr->dtype, instr->lanes, args, instr->arg_count);
}

// -- Memory --------------------------------------------------------------------------------------

const k_buffer *k_argument(k_builder *b, leat_dtype dtype) {
  assert(b->kernel->scalar_count == 0);
  k_buffer *buffer = leat_new(b->arena, k_buffer);
  *buffer = (k_buffer){.space = K_SPACE_ARGUMENT, .dtype = dtype};
  buffer->number = b->kernel->buffer_count++;
  leat_vec_push(b->arena, &b->kernel->buffers, buffer);
  return buffer;
}

const k_buffer *k_local(k_builder *b, k_space space, leat_dtype dtype, int64_t count) {
  assert(space != K_SPACE_ARGUMENT && count > 0);
  k_buffer *buffer = leat_new(b->arena, k_buffer);
  *buffer = (k_buffer){.space = space, .dtype = dtype, .count = count};
  buffer->number = b->kernel->local_count++;
  k_instr *instr = k_new_instr(b, K_LOCAL, LEAT_bool, 0);
  instr->buffer = buffer;
  k_place(b, k_innermost(b), instr);
  return buffer;
}

uint32_t k_site(k_builder *b) {
  return b->kernel->site_count++;
}

static bool always(k_value mask) {
  return !mask || is_int(mask, 1);
}

static k_value read(k_builder *b, k_op op, const k_buffer *buffer, k_value index, int lanes,
                    k_value mask) {
  k_value args[] = {index, mask};
  k_instr wanted = {.op = op, .dtype = buffer->dtype, .lanes = (uint8_t)lanes, .args = args};
  wanted.buffer = buffer;
  wanted.arg_count = always(mask) ? 1 : 2;
  if (wanted.arg_count == 2) args[1] = k_splat(b, lanes, mask);
  return k_find_or_place(b, &wanted);
}

k_value k_load(k_builder *b, const k_buffer *buffer, k_value index, int lanes, k_value mask) {
  assert(index->dtype == LEAT_i64 && index->lanes == 1);
  return read(b, K_LOAD, buffer, index, lanes, mask);
}

k_value k_gather(k_builder *b, const k_buffer *buffer, k_value indices, k_value mask) {
  assert(indices->dtype == LEAT_i64);
  k_op op = indices->lanes == 1 ? K_LOAD : K_GATHER;
  return read(b, op, buffer, indices, indices->lanes, mask);
}

void k_store(k_builder *b, const k_buffer *buffer, k_value index, k_value value, k_value mask) {
  assert(index->dtype == LEAT_i64 && index->lanes == 1 && value->dtype == buffer->dtype);
  k_value args[] = {index, value, mask};
  uint32_t count = always(mask) ? 2 : 3;
  if (count == 3) args[2] = k_splat(b, value->lanes, mask);
  k_instr *store = k_new_instr(b, K_STORE, LEAT_bool, 0);
  store->buffer = buffer;
  k_set_args(b, store, args, count);
  k_place(b, k_innermost(b), store);
  if (buffer->space == K_SPACE_ARGUMENT) b->kernel->buffers.items[buffer->number]->written = true;
  k_memory_changes(b);
}

void k_prefetch(k_builder *b, const k_buffer *buffer, k_value index) {
  assert(index->dtype == LEAT_i64 && index->lanes == 1);
  if (buffer->space != K_SPACE_ARGUMENT) return;
  k_instr *prefetch = k_new_instr(b, K_PREFETCH, LEAT_bool, 0);
  prefetch->buffer = buffer;
  k_set_args(b, prefetch, &index, 1);
  k_place(b, k_innermost(b), prefetch);
}

static int64_t multiple(k_value value, int depth) {
  enum { MOST = 64, DEPTH = 6 };
  if (value->op == K_CONST) {
    int64_t lowest = (int64_t)((uint64_t)value->imm.i & -(uint64_t)value->imm.i);
    return lowest > 0 && lowest < MOST ? lowest : MOST;
  }
  if (value->op == K_PHI) return value->imm2;
  bool known = value->op == K_ADD || value->op == K_SUB || value->op == K_MUL || value->op == K_MIN;
  if (!known || depth == DEPTH) return 1;
  int64_t x = multiple(value->args[0], depth + 1), y = multiple(value->args[1], depth + 1);
  if (value->op == K_MUL) return x * y < MOST ? x * y : MOST;
  return x < y ? x : y;
}

int64_t k_multiple(k_value value) {
  return multiple(value, 0);
}

void k_stream(k_builder *b, const k_buffer *argument) {
  assert(argument->space == K_SPACE_ARGUMENT);
  b->kernel->buffers.items[argument->number]->streamed = true;
}

void k_barrier(k_builder *b) {
  k_place(b, k_innermost(b), k_new_instr(b, K_BARRIER, LEAT_bool, 0));
  k_memory_changes(b);
}

void k_poll(k_builder *b) {
  k_place(b, k_innermost(b), k_new_instr(b, K_POLL, LEAT_bool, 0));
}

void k_fail_if(k_builder *b, k_value condition, k_value value, uint32_t site, leat_status status) {
  if (value->op == K_SPLAT) value = value->args[0];
  assert(value->lanes == 1 || value->lanes == condition->lanes);
  k_value args[] = {k_any(b, condition), value, condition};
  if (is_int(args[0], 0)) return;
  k_instr *fail = k_new_instr(b, K_FAIL_IF, LEAT_bool, 0);
  k_set_args(b, fail, args, value->lanes == 1 ? 2 : 3);
  fail->imm.i = site;
  fail->imm2 = status;
  k_place(b, k_innermost(b), fail);
}
