// The builder of kernels: loops, whiles and ifs. A block's owner joins its parent only when it
// ends, so that what moved out of the block precedes it.
#include "kernel/build.h"

#include <assert.h>

// -- Blocks ---------------------------------------------------------------------------------------

static k_instr *innermost_owner(const k_builder *b) {
  return b->owners.items[b->owners.count - 1];
}

static void open_block(k_builder *b, k_instr *owner, int which) {
  k_block *block = leat_new(b->arena, k_block);
  block->depth = b->blocks.count;
  owner->body[which] = block;
  leat_vec_push(b->arena, &b->blocks, block);
  leat_vec_push(b->arena, &b->owners, owner);
}

static void close_block(k_builder *b) {
  b->blocks.count--;
  b->owners.count--;
}

static void set_yields(k_builder *b, const k_value *yields, uint32_t count) {
  k_block *block = k_innermost(b);
  for (uint32_t i = 0; i < count; i++) {
    assert(k_is_visible(b, yields[i]));
    leat_vec_push(b->arena, &block->yields, yields[i]);
  }
}

static void add_phi(k_builder *b, leat_dtype dtype, int lanes, int64_t number, int64_t multiple) {
  k_block *block = k_innermost(b);
  k_instr *phi = k_new_instr(b, K_PHI, dtype, lanes);
  phi->imm.i = number;
  phi->imm2 = multiple;
  phi->block = block;
  leat_vec_push(b->arena, &block->phis, phi);
}

// -- Regions --------------------------------------------------------------------------------------

static k_instr *begin_region(k_builder *b, k_op op, const k_value *args, uint32_t count) {
  k_instr *region = k_new_instr(b, op, LEAT_bool, 0);
  k_set_args(b, region, args, count);
  region->block = k_innermost(b);
  k_memory_changes(b); // what the body stores reaches the loads of its next iteration
  return region;
}

// The innermost block was the last of its owner: the owner joins the block around it.
static k_instr *end_region(k_builder *b, k_op op) {
  k_instr *region = innermost_owner(b);
  assert(region && region->op == op);
  close_block(b);
  if (op == K_WHILE) close_block(b);
  k_place(b, k_innermost(b), region);
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
  int64_t first = k_multiple(low), next = k_multiple(args[2]);
  add_phi(b, LEAT_i64, 1, 0, first < next ? first : next);
  for (uint32_t i = 0; i < count; i++) add_phi(b, initial[i]->dtype, initial[i]->lanes, i + 1, 1);
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
  for (uint32_t i = 0; i < count; i++) add_phi(b, initial[i]->dtype, initial[i]->lanes, i, 1);
  return loop;
}

void k_while_do(k_builder *b, k_value condition) {
  k_instr *loop = innermost_owner(b);
  assert(loop->op == K_WHILE && k_is_visible(b, condition));
  k_innermost(b)->condition = condition;
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
  return k_find_or_place(b, &wanted);
}
