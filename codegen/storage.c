// Storage: where the values of leaves, variables and outputs are. Variables and leaves have one
// each, whichever tables use them.
#include "codegen/units.h"

#include <assert.h>

static leat_storage *new_storage(leat_codegen_state *cg, leat_buffer_kind kind,
                                 const leat_type *type) {
  leat_storage *storage = leat_new(cg->arena, leat_storage);
  storage->kind = kind;
  storage->type = *type;
  return storage;
}

leat_storage *leat_storage_arena(const leat_table *table, const leat_type *type) {
  leat_storage *storage = new_storage(table->cg, LEAT_BUFFER_ARENA, type);
  storage->place.table = table;
  return storage;
}

void leat_storage_move_to_pool(leat_storage *storage, leat_storage *pool) {
  if (!pool) pool = leat_storage_arena(storage->place.table, &storage->type);
  storage->place.pool = pool;
  storage->place.slot = pool->place.slots++;
}

leat_storage *leat_storage_grown(leat_codegen_state *cg, uint32_t number, const leat_type *type) {
  leat_storage *storage = new_storage(cg, LEAT_BUFFER_GROWN, type);
  storage->grown = number;
  return storage;
}

leat_storage *leat_storage_variable(leat_codegen_state *cg, const leat_state *state) {
  leat_storage **storage = &cg->variables[state->id];
  if (!*storage) {
    *storage = new_storage(cg, LEAT_BUFFER_VARIABLE, &state->type);
    (*storage)->state = state;
  }
  return *storage;
}

bool leat_storage_owns_strings(const leat_storage *storage) {
  return storage->kind == LEAT_BUFFER_VARIABLE && storage->type.dtype == LEAT_str;
}

static leat_buffer_kind kind_of_leaf(leat_op_leaf leaf) {
  switch (leaf) {
  case LEAT_LEAF_CONSTANT: return LEAT_BUFFER_CONSTANT;
  case LEAT_LEAF_FILE: return LEAT_BUFFER_FILE;
  case LEAT_LEAF_FEED: return LEAT_BUFFER_FEED;
  case LEAT_LEAF_RUN_COUNT: return LEAT_BUFFER_RUN_COUNT;
  case LEAT_LEAF_NONE:
  case LEAT_LEAF_PARAMETER: // what the body is given
  case LEAT_LEAF_VARIABLE:
  case LEAT_LEAF_RECEIVED: break;
  }
  assert(!"the memory of a leaf");
  return LEAT_BUFFER_ARENA;
}

leat_storage *leat_storage_leaf(leat_codegen_state *cg, leat_node *node) {
  leat_storage *storage = leat_map_get(&cg->leaves, node);
  if (storage) return storage;
  leat_buffer_kind kind = kind_of_leaf(node->info->leaf);
  storage = new_storage(cg, kind, &node->outputs[0]);
  storage->node = node;
  storage->donated = kind == LEAT_BUFFER_FEED && leat_node_attr(node, "donated")->i;
  leat_map_set(&cg->leaves, node, storage);
  return storage;
}

leat_storage *leat_storage_prepared(leat_codegen_state *cg, const leat_node *node,
                                    const leat_type *type) {
  leat_storage *storage = new_storage(cg, LEAT_BUFFER_PREPARED, type);
  storage->node = node;
  leat_vec_push(cg->arena, &cg->prepared, storage);
  return storage;
}

bool leat_storage_is_kept(const leat_codegen_state *cg, const leat_storage *storage) {
  switch (storage->kind) {
  case LEAT_BUFFER_CONSTANT:
  case LEAT_BUFFER_FILE: return true;
  case LEAT_BUFFER_VARIABLE: return !cg->assigned[storage->state->id];
  case LEAT_BUFFER_ARENA:
  case LEAT_BUFFER_FEED:
  case LEAT_BUFFER_RUN_COUNT:
  case LEAT_BUFFER_GROWN:
  case LEAT_BUFFER_PREPARED: break;
  }
  return false;
}

leat_storage *leat_storage_packed(leat_codegen_state *cg, const leat_placed_file *placed,
                                  const leat_type *type) {
  leat_storage *storage = new_storage(cg, LEAT_BUFFER_FILE, type);
  storage->placed = placed;
  return storage;
}

leat_storage *leat_storage_owner(leat_storage *storage) {
  while (storage->kind == LEAT_BUFFER_ARENA && storage->place.shares)
    storage = storage->place.shares;
  return storage;
}
