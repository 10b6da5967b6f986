// Copies node by node; states and entries follow on demand, so the cost is that of what is copied.
#include "passes/clone.h"

leat_cloner leat_clone_begin(const leat_graph *from, leat_arena *arena, leat_arena *scratch) {
  leat_cloner cloner = {.from = from};
  cloner.to = leat_graph_create(arena, from->strings, from->name);
  cloner.to->dims = leat_dims_extend(from->dims, arena);
  leat_map_init(&cloner.states, scratch);
  leat_map_init(&cloner.entries, scratch);
  return cloner;
}

leat_node *leat_clone_node(leat_cloner *cloner, leat_graph *to, const leat_node *node,
                           const leat_value *inputs) {
  const leat_op_info *info = node->info;
  leat_attr attrs[LEAT_MAX_ATTRS];
  for (int i = 0; i < info->attr_count; i++) {
    attrs[i] = node->attrs[i];
    if (info->attrs[i].kind == LEAT_ATTR_STATE)
      attrs[i].state = leat_clone_state(cloner, node->attrs[i].state);
  }
  return leat_graph_append_like(to, node, node->name, inputs, attrs,
                                leat_clone_entry(cloner, node->entry), NULL);
}

leat_state *leat_clone_state(leat_cloner *cloner, const leat_state *state) {
  leat_state *copy = leat_map_get(&cloner->states, state);
  if (copy) return copy;
  copy = leat_graph_add_state(cloner->to, state->name, &state->type);
  uint32_t id = copy->id;
  *copy = *state;
  copy->id = id;
  copy->init = (leat_value){0};
  leat_map_set(&cloner->states, state, copy);
  return copy;
}

leat_entry *leat_clone_entry(leat_cloner *cloner, const leat_entry *entry) {
  if (!entry) return NULL;
  leat_entry *copy = leat_map_get(&cloner->entries, entry);
  if (copy) return copy;
  copy = leat_graph_add_entry(cloner->to, entry->name);
  copy->training = entry->training;
  copy->span = entry->span;
  leat_map_set(&cloner->entries, entry, copy);
  return copy;
}

static void clone_params(leat_cloner *cloner, const leat_entry *entry, leat_entry *copy) {
  for (uint32_t i = 0; i < entry->params.count; i++) {
    leat_param param = entry->params.items[i];
    param.node = leat_graph_find_node(cloner->to, param.node->name);
    if (param.node && param.node->op == LEAT_OP_feed)
      leat_vec_push(cloner->to->arena, &copy->params, param);
  }
}

void leat_clone_finish(leat_cloner *cloner) {
  leat_graph *to = cloner->to;
  leat_graph_renumber(to);
  for (uint32_t i = 0; i < cloner->entries.count; i++)
    clone_params(cloner, cloner->entries.entries[i].key, cloner->entries.entries[i].value);
  leat_graph_list_effects(to);
}
