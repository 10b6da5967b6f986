// The kernel builder. Every value-making call goes through make(): it folds constants, drops
// identities, finds an equal instruction that is visible here, and else places a new one in the
// outermost block that its operands allow without leaving an `if`. A block's owner (loop, while,
// if) joins its parent only when it ends, so what moved out precedes it.
#include "kernel/kernel.h"

#include "base/map.h"

#include <assert.h>
#include <string.h>

// Pure instructions and loads by hash of what they compute; `memory` counts what may change memory,
// so that a load is only found again while nothing was stored. Entries of a block that has ended go
// when they are met.
typedef struct cse_entry {
  k_instr *instr;
  uint64_t hash, memory;
  uint32_t next; // index + 1 of the next entry of the bucket
} cse_entry;

enum { LEAST_BUCKETS = 1024 };

struct k_cse {
  uint64_t memory;
  uint32_t *buckets, bucket_count; // at least as many as entries
  leat_vec(cse_entry) entries;
};

// -- Blocks --------------------------------------------------------------------------------------

static k_block *innermost(const k_builder *b) {
  return b->blocks.items[b->blocks.count - 1];
}

static k_instr *innermost_owner(const k_builder *b) {
  return b->owners.items[b->owners.count - 1];
}

static bool visible(const k_builder *b, k_value value) {
  const k_block *block = value->block;
  return block->depth < b->blocks.count && b->blocks.items[block->depth] == block;
}

static k_instr *new_instr(k_builder *b, k_op op, leat_dtype dtype, int lanes) {
  k_instr *instr = leat_new(b->arena, k_instr);
  instr->op = op;
  instr->dtype = dtype;
  instr->lanes = (uint8_t)lanes;
  instr->id = b->kernel->instr_count++;
  return instr;
}

static void set_args(k_builder *b, k_instr *instr, const k_value *args, uint32_t count) {
  instr->arg_count = count;
  if (count) instr->args = leat_arena_memdup(b->arena, args, count * sizeof *args);
}

static void place(k_builder *b, k_block *block, k_instr *instr) {
  for (uint32_t i = 0; i < instr->arg_count; i++) assert(visible(b, instr->args[i]));
  instr->block = block;
  leat_vec_push(b->arena, &block->instrs, instr);
}

static void open_block(k_builder *b, k_instr *owner, int which) {
  k_block *block = leat_new(b->arena, k_block);
  block->depth = b->blocks.count;
  if (owner) owner->body[which] = block;
  leat_vec_push(b->arena, &b->blocks, block);
  leat_vec_push(b->arena, &b->owners, owner);
}

static void close_block(k_builder *b) {
  b->blocks.count--;
  b->owners.count--;
}

static void set_yields(k_builder *b, const k_value *yields, uint32_t count) {
  k_block *block = innermost(b);
  for (uint32_t i = 0; i < count; i++) {
    assert(visible(b, yields[i]));
    leat_vec_push(b->arena, &block->yields, yields[i]);
  }
}

static void add_phi(k_builder *b, leat_dtype dtype, int lanes, int64_t number) {
  k_block *block = innermost(b);
  k_instr *phi = new_instr(b, K_PHI, dtype, lanes);
  phi->imm.i = number;
  phi->block = block;
  leat_vec_push(b->arena, &block->phis, phi);
}

// Loop bodies let what does not vary move out; branches keep theirs, which may be costly and seldom
// run. Arguments cost nothing and are visible everywhere, whoever names them first.
static k_block *outermost_for(const k_builder *b, const k_instr *instr) {
  if (instr->op == K_SCALAR) return b->blocks.items[0];
  uint32_t depth = b->blocks.count - 1, least = 0;
  for (uint32_t i = 0; i < instr->arg_count; i++)
    if (instr->args[i]->block->depth > least) least = instr->args[i]->block->depth;
  while (depth > least && b->owners.items[depth]->op != K_IF) depth--;
  return b->blocks.items[depth];
}

// -- Common subexpressions -----------------------------------------------------------------------

static uint64_t hash_instr(const k_instr *instr) {
  struct {
    uint32_t op, dtype, lanes, buffer;
    int64_t imm, args[3];
  } key = {.op = instr->op, .dtype = instr->dtype, .lanes = instr->lanes, .imm = instr->imm.i};
  if (instr->buffer) key.buffer = instr->buffer->number;
  for (uint32_t i = 0; i < instr->arg_count; i++) key.args[i] = instr->args[i]->id;
  return leat_hash_bytes(&key, sizeof key, 0);
}

static bool same(const k_instr *x, const k_instr *y) {
  return x->op == y->op && x->dtype == y->dtype && x->lanes == y->lanes && x->imm.i == y->imm.i &&
         x->buffer == y->buffer && x->arg_count == y->arg_count &&
         (x->arg_count == 0 || memcmp(x->args, y->args, x->arg_count * sizeof *x->args) == 0);
}

static uint32_t *bucket_of(struct k_cse *cse, uint64_t hash) {
  return &cse->buckets[hash % cse->bucket_count];
}

static void grow_buckets(k_builder *b) {
  struct k_cse *cse = b->cse;
  cse->bucket_count = cse->bucket_count ? 2 * cse->bucket_count : LEAST_BUCKETS;
  cse->buckets = leat_new_array(b->arena, uint32_t, cse->bucket_count);
  for (uint32_t i = 0; i < cse->entries.count; i++) {
    uint32_t *bucket = bucket_of(cse, cse->entries.items[i].hash);
    cse->entries.items[i].next = *bucket;
    *bucket = i + 1;
  }
}

static k_value find_or_place(k_builder *b, const k_instr *wanted) {
  bool pure = k_op_is_pure(wanted->op);
  uint64_t memory = pure ? 0 : b->cse->memory, hash = hash_instr(wanted) + memory;
  if (b->cse->entries.count >= b->cse->bucket_count) grow_buckets(b);
  uint32_t *bucket = bucket_of(b->cse, hash);
  for (uint32_t *link = bucket; *link;) {
    cse_entry *entry = &b->cse->entries.items[*link - 1];
    if (!visible(b, entry->instr)) {
      *link = entry->next; // its block has ended
      continue;
    }
    if (entry->hash == hash && entry->memory == memory && same(entry->instr, wanted))
      return entry->instr;
    link = &entry->next;
  }
  k_instr *instr = new_instr(b, wanted->op, wanted->dtype, wanted->lanes);
  instr->imm = wanted->imm;
  instr->buffer = wanted->buffer;
  set_args(b, instr, wanted->args, wanted->arg_count);
  place(b, pure ? outermost_for(b, instr) : innermost(b), instr);
  cse_entry entry = {.instr = instr, .hash = hash, .memory = memory, .next = *bucket};
  leat_vec_push(b->arena, &b->cse->entries, entry);
  *bucket = b->cse->entries.count;
  return instr;
}

static void memory_changes(k_builder *b) {
  b->cse->memory++;
}

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
  return find_or_place(b, &wanted);
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
  case K_ADD:
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

static k_value make(k_builder *b, k_op op, leat_dtype dtype, int lanes, const k_value *args,
                    uint32_t count) {
  k_value copy[3];
  assert(count <= 3);
  for (uint32_t i = 0; i < count; i++) copy[i] = args[i];
  k_instr wanted = {.op = op, .dtype = dtype, .lanes = (uint8_t)lanes, .args = copy};
  wanted.arg_count = count;
  k_value known = count ? fold_constants(b, &wanted) : NULL;
  if (!known && count) known = identity(b, &wanted);
  return known ? known : find_or_place(b, &wanted);
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
  return find_or_place(b, &wanted);
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
  return find_or_place(b, &wanted);
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
  return find_or_place(b, &wanted);
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
  k_instr *instr = new_instr(b, K_LOCAL, LEAT_bool, 0);
  instr->buffer = buffer;
  place(b, innermost(b), instr);
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
  return find_or_place(b, &wanted);
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
  k_instr *store = new_instr(b, K_STORE, LEAT_bool, 0);
  store->buffer = buffer;
  set_args(b, store, args, count);
  place(b, innermost(b), store);
  if (buffer->space == K_SPACE_ARGUMENT) b->kernel->buffers.items[buffer->number]->written = true;
  memory_changes(b);
}

void k_barrier(k_builder *b) {
  place(b, innermost(b), new_instr(b, K_BARRIER, LEAT_bool, 0));
  memory_changes(b);
}

void k_fail_if(k_builder *b, k_value condition, uint32_t site, leat_status status) {
  assert(condition->dtype == LEAT_bool && condition->lanes == 1 && site < b->kernel->site_count);
  if (is_int(condition, 0)) return;
  k_instr *fail = new_instr(b, K_FAIL_IF, LEAT_bool, 0);
  set_args(b, fail, &condition, 1);
  fail->imm.i = site;
  fail->imm2 = status;
  place(b, innermost(b), fail);
}

// -- Control flow --------------------------------------------------------------------------------

static k_instr *begin_region(k_builder *b, k_op op, const k_value *args, uint32_t count) {
  k_instr *region = new_instr(b, op, LEAT_bool, 0);
  set_args(b, region, args, count);
  region->block = innermost(b);
  memory_changes(b); // what the body stores reaches the loads of its next iteration
  return region;
}

// The innermost block was the last of its owner: the owner joins the block around it.
static k_instr *end_region(k_builder *b, k_op op) {
  k_instr *region = innermost_owner(b);
  assert(region && region->op == op);
  close_block(b);
  if (op == K_WHILE) close_block(b);
  place(b, innermost(b), region);
  return region;
}

k_instr *k_loop_begin(k_builder *b, k_value low, k_value high, int64_t step, const k_value *initial,
                      uint32_t count) {
  k_value *args = leat_new_array(b->arena, k_value, count + 3);
  args[0] = low;
  args[1] = high;
  args[2] = k_i64(b, step);
  for (uint32_t i = 0; i < count; i++) args[3 + i] = initial[i];
  assert(step > 0 && low->dtype == LEAT_i64 && high->dtype == LEAT_i64);
  k_instr *loop = begin_region(b, K_LOOP, args, count + 3);
  open_block(b, loop, 0);
  add_phi(b, LEAT_i64, 1, 0);
  for (uint32_t i = 0; i < count; i++) add_phi(b, initial[i]->dtype, initial[i]->lanes, i + 1);
  return loop;
}

k_value k_loop_index(const k_instr *loop) {
  assert(loop->op == K_LOOP);
  return loop->body[0]->phis.items[0];
}

k_value k_loop_carried(const k_instr *loop, uint32_t i) {
  assert(loop->op == K_LOOP || loop->op == K_WHILE);
  return loop->body[0]->phis.items[loop->op == K_LOOP ? i + 1 : i];
}

void k_loop_end(k_builder *b, const k_value *next, uint32_t count) {
  set_yields(b, next, count);
  const k_instr *loop = end_region(b, K_LOOP);
  assert(loop->arg_count == count + 3);
  (void)loop;
}

k_instr *k_while_begin(k_builder *b, const k_value *initial, uint32_t count) {
  k_instr *loop = begin_region(b, K_WHILE, initial, count);
  open_block(b, loop, 0);
  for (uint32_t i = 0; i < count; i++) add_phi(b, initial[i]->dtype, initial[i]->lanes, i);
  return loop;
}

void k_while_do(k_builder *b, k_value condition) {
  k_instr *loop = innermost_owner(b);
  assert(loop->op == K_WHILE && visible(b, condition));
  innermost(b)->condition = condition;
  open_block(b, loop, 1);
}

void k_while_end(k_builder *b, const k_value *next, uint32_t count) {
  set_yields(b, next, count);
  const k_instr *loop = end_region(b, K_WHILE);
  assert(loop->arg_count == count);
  (void)loop;
}

k_instr *k_if_begin(k_builder *b, k_value condition) {
  assert(condition->dtype == LEAT_bool && condition->lanes == 1);
  k_instr *branch = begin_region(b, K_IF, &condition, 1);
  open_block(b, branch, 0);
  return branch;
}

void k_if_else(k_builder *b, const k_value *yields, uint32_t count) {
  k_instr *branch = innermost_owner(b);
  assert(branch->op == K_IF && !branch->body[1]);
  set_yields(b, yields, count);
  close_block(b);
  open_block(b, branch, 1);
}

void k_if_end(k_builder *b, const k_value *yields, uint32_t count) {
  set_yields(b, yields, count);
  const k_instr *branch = end_region(b, K_IF);
  assert(branch->body[1] ? branch->body[0]->yields.count == count : count == 0);
  (void)branch;
}

k_value k_result(k_builder *b, const k_instr *region, uint32_t i) {
  k_value like = region->op == K_IF ? region->body[0]->yields.items[i] : k_loop_carried(region, i);
  k_instr wanted = {.op = K_RESULT, .dtype = like->dtype, .lanes = like->lanes, .arg_count = 1};
  wanted.args = &(k_value){region};
  wanted.imm.i = i;
  return find_or_place(b, &wanted);
}

// -- Begin and finish ----------------------------------------------------------------------------

void k_begin(k_builder *b, leat_arena *arena, const char *name) {
  *b = (k_builder){.arena = arena, .kernel = leat_new(arena, leat_kernel)};
  b->cse = leat_new(arena, struct k_cse);
  b->kernel->arena = arena;
  b->kernel->name = name;
  k_block *body = &b->kernel->body;
  leat_vec_push(arena, &b->blocks, body);
  leat_vec_push(arena, &b->owners, NULL);
}

static void count_uses(const k_block *block, uint32_t *uses) {
  if (!block) return;
  for (uint32_t i = 0; i < block->instrs.count; i++) {
    const k_instr *instr = block->instrs.items[i];
    for (uint32_t j = 0; j < instr->arg_count; j++) uses[instr->args[j]->id]++;
    count_uses(instr->body[0], uses);
    count_uses(instr->body[1], uses);
  }
  for (uint32_t i = 0; i < block->yields.count; i++) uses[block->yields.items[i]->id]++;
  if (block->condition) uses[block->condition->id]++;
}

// From the last instruction to the first, so that what only dead ones used is dead when its turn
// comes.
static void drop_unused(k_block *block, uint32_t *uses) {
  uint32_t kept = block->instrs.count;
  for (uint32_t i = block->instrs.count; i-- > 0;) {
    k_instr *instr = block->instrs.items[i];
    bool removable = k_op_is_pure(instr->op) || instr->op == K_LOAD || instr->op == K_GATHER;
    if (removable && uses[instr->id] == 0) {
      for (uint32_t j = 0; j < instr->arg_count; j++) uses[instr->args[j]->id]--;
      continue;
    }
    if (instr->body[1]) drop_unused(instr->body[1], uses);
    if (instr->body[0]) drop_unused(instr->body[0], uses);
    block->instrs.items[--kept] = instr;
  }
  block->instrs.count -= kept;
  if (!kept) return;
  memmove(block->instrs.items, block->instrs.items + kept,
          block->instrs.count * sizeof *block->instrs.items);
}

leat_kernel *k_finish(k_builder *b) {
  assert(b->blocks.count == 1);
  uint32_t *uses = leat_new_array(b->arena, uint32_t, b->kernel->instr_count);
  count_uses(&b->kernel->body, uses);
  drop_unused(&b->kernel->body, uses);
  return b->kernel;
}
