// What runs before what in a step: see prune.c.
#include "passes/prune.h"

// Nodes without an entry first, then entry by entry; within each as they are.
static void group_by_entry(leat_pruner *p) {
  leat_graph *to = p->cloner.to;
  uint32_t groups = to->entries.count + 1,
           *starts = leat_new_array(p->context->scratch, uint32_t, groups + 1);
  uint32_t *group_of = leat_new_array(p->context->scratch, uint32_t, to->nodes.count);
  leat_map numbers;
  leat_map_init(&numbers, p->context->scratch);
  for (uint32_t i = 0; i < to->entries.count; i++)
    leat_map_set(&numbers, to->entries.items[i], (void *)(uintptr_t)(i + 1));
  for (uint32_t i = 0; i < to->nodes.count; i++) {
    group_of[i] = (uint32_t)(uintptr_t)leat_map_get(&numbers, to->nodes.items[i]->entry);
    starts[group_of[i] + 1]++;
  }
  for (uint32_t i = 0; i < groups; i++) starts[i + 1] += starts[i];
  leat_node **sorted = leat_new_array(to->arena, leat_node *, to->nodes.count);
  for (uint32_t i = 0; i < to->nodes.count; i++) sorted[starts[group_of[i]]++] = to->nodes.items[i];
  to->nodes.items = sorted;
  to->nodes.capacity = to->nodes.count;
  leat_graph_renumber(to);
}

// What was done to a state so far.
typedef struct chain {
  leat_node *write;            // the last one
  leat_vec(leat_node *) reads; // since then
} chain;

// `seen` has, by node id, 1 + the id of the last node that it is a control input of.
typedef struct controller {
  leat_pruner *p;
  chain *chains; // by state id
  uint32_t *seen;
  leat_vec(leat_node *) controls;
} controller;

static void add_control(controller *c, const leat_node *node, leat_node *before) {
  if (!before || before == node || c->seen[before->id] == node->id + 1) return;
  c->seen[before->id] = node->id + 1;
  leat_vec_push(c->p->context->scratch, &c->controls, before);
}

static void extend_chain(controller *c, leat_node *node) {
  chain *state = &c->chains[leat_node_state(node)->id];
  add_control(c, node, state->write);
  if (!node->effect) {
    leat_vec_push(c->p->context->scratch, &state->reads, node);
    return;
  }
  for (uint32_t i = 0; i < state->reads.count; i++) add_control(c, node, state->reads.items[i]);
  state->reads.count = 0;
  state->write = node;
}

// The control edges of a copy are those of its original that are still there, and those of its
// state's chain; what was made for a fetch has its own.
static void set_controls(leat_pruner *p) {
  leat_graph *to = p->cloner.to;
  controller c = {.p = p};
  c.chains = leat_new_array(p->context->scratch, chain, to->states.count);
  c.seen = leat_new_array(p->context->scratch, uint32_t, to->nodes.count);
  for (uint32_t i = 0; i < to->nodes.count; i++) {
    leat_node *node = to->nodes.items[i];
    c.controls.count = 0;
    for (uint32_t j = 0; j < node->control_count; j++) {
      leat_node *before = node->controls[j];
      add_control(&c, node, before->graph == to ? before : p->copies[before->id]);
    }
    if (leat_node_state(node)) extend_chain(&c, node);
    node->control_count = c.controls.count;
    node->controls = leat_new_array(to->arena, leat_node *, c.controls.count);
    for (uint32_t j = 0; j < c.controls.count; j++) node->controls[j] = c.controls.items[j];
  }
}

static bool is_sorted(const leat_graph *graph) {
  for (uint32_t i = 0; i < graph->nodes.count; i++) {
    const leat_node *node = graph->nodes.items[i];
    for (uint32_t j = 0; j < node->input_count; j++)
      if (node->inputs[j].node->id >= i) return false;
    for (uint32_t j = 0; j < node->control_count; j++)
      if (node->controls[j]->id >= i) return false;
  }
  return true;
}

static leat_status sort(leat_pruner *p) {
  leat_node *culprit;
  if (is_sorted(p->cloner.to) || leat_graph_sort(p->cloner.to, &culprit)) return LEAT_OK;
  leat_error_at(p->context->diag, culprit->span,
                "`%s` would have to run before and after itself: the entries of this Run cannot be "
                "executed in the order given",
                culprit->name);
  return LEAT_INVALID;
}

leat_status leat_prune_order(leat_pruner *p) {
  group_by_entry(p);
  set_controls(p);
  return sort(p);
}
