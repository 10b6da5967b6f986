// What a text, or an entry, changes, and how it is taken back when it has an error.
#include "frontend/values/evaluator.h"

void ev_set(evaluator *e, leat_map *map, const void *key, void *value) {
  leat_vec_push(e->arena, &e->undo, (ev_undo){map, key, leat_map_get(map, key)});
  leat_map_set(map, key, value);
}

ev_extent ev_take_extent(const leat_frontend *e) {
  return (ev_extent){.nodes = e->graph->nodes.count,
                     .states = e->graph->states.count,
                     .entries = e->graph->entries.count,
                     .undo = e->undo.count,
                     .pending = e->pending.count,
                     .renamed = e->renamed.count,
                     .replaced = e->replaced.count,
                     .asked = e->asked.count,
                     .dims = leat_dims_take_mark(e->graph->dims),
                     .name = e->graph->name,
                     .device = e->graph->device};
}

void ev_roll_back(leat_frontend *e, const ev_extent *to) {
  while (e->undo.count > to->undo) {
    ev_undo *change = &e->undo.items[--e->undo.count];
    leat_map_set(change->map, change->key, change->value);
  }
  leat_graph_truncate(e->graph, to->nodes, to->states, to->entries);
  while (e->renamed.count > to->renamed) {
    const ev_renamed *last = &e->renamed.items[--e->renamed.count];
    bool is_there = leat_graph_find_entry(e->graph, last->entry->name) == last->entry;
    if (is_there) leat_graph_rename_entry(e->graph, last->entry, last->name);
  }
  leat_dims_truncate(e->graph->dims, to->dims);
  e->graph->name = to->name;
  e->graph->device = to->device;
  e->pending.count = to->pending;
  e->replaced.count = to->replaced;
  e->asked.count = to->asked;
}
