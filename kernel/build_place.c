// Where the instructions of a kernel stand. A wanted one is an equal one that is visible here, or a
// new one in the outermost block that its operands allow without leaving an `if`; k_finish drops
// what nobody uses.
#include "kernel/build.h"

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

// -- Blocks ---------------------------------------------------------------------------------------

k_block *k_innermost(const k_builder *b) {
  return b->blocks.items[b->blocks.count - 1];
}

bool k_is_visible(const k_builder *b, k_value value) {
  const k_block *block = value->block;
  return block->depth < b->blocks.count && b->blocks.items[block->depth] == block;
}

k_instr *k_new_instr(k_builder *b, k_op op, leat_dtype dtype, int lanes) {
  k_instr *instr = leat_new(b->arena, k_instr);
  instr->op = op;
  instr->dtype = dtype;
  instr->lanes = (uint8_t)lanes;
  instr->id = b->kernel->instr_count++;
  return instr;
}

void k_set_args(k_builder *b, k_instr *instr, const k_value *args, uint32_t count) {
  instr->arg_count = count;
  if (count) instr->args = leat_arena_memdup(b->arena, args, count * sizeof *args);
}

void k_place(k_builder *b, k_block *block, k_instr *instr) {
  for (uint32_t i = 0; i < instr->arg_count; i++) assert(k_is_visible(b, instr->args[i]));
  instr->block = block;
  leat_vec_push(b->arena, &block->instrs, instr);
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

k_value k_find_or_place(k_builder *b, const k_instr *wanted) {
  bool pure = k_op_is_pure(wanted->op);
  uint64_t memory = pure ? 0 : b->cse->memory, hash = hash_instr(wanted) + memory;
  if (b->cse->entries.count >= b->cse->bucket_count) grow_buckets(b);
  uint32_t *bucket = bucket_of(b->cse, hash);
  for (uint32_t *link = bucket; *link;) {
    cse_entry *entry = &b->cse->entries.items[*link - 1];
    if (!k_is_visible(b, entry->instr)) {
      *link = entry->next; // its block has ended
      continue;
    }
    if (entry->hash == hash && entry->memory == memory && same(entry->instr, wanted))
      return entry->instr;
    link = &entry->next;
  }
  k_instr *instr = k_new_instr(b, wanted->op, wanted->dtype, wanted->lanes);
  instr->imm = wanted->imm;
  instr->buffer = wanted->buffer;
  k_set_args(b, instr, wanted->args, wanted->arg_count);
  k_place(b, pure ? outermost_for(b, instr) : k_innermost(b), instr);
  cse_entry entry = {.instr = instr, .hash = hash, .memory = memory, .next = *bucket};
  leat_vec_push(b->arena, &b->cse->entries, entry);
  *bucket = b->cse->entries.count;
  return instr;
}

void k_memory_changes(k_builder *b) {
  b->cse->memory++;
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
