// What a loop is given that the loss depends on, through however many turns: the rest has no
// gradient, so that nothing that is infinite or NaN there gets into those that are wanted.
//
// That is found output by output, in the bodies of bodies, too: which of what an inner loop carries
// goes into what the outer one does.
#include "frontend/gradient/walk.h"

#include "frontend/gradient/reversal.h"

typedef struct needs {
  evaluator *e;
  leat_arena *scratch;
  const leat_graph *graph;
  bool **needed; // by id: of a node's outputs; NULL: none is
} needs;

static needs begin(evaluator *e, leat_arena *scratch, const leat_graph *graph) {
  bool **needed = leat_new_array(scratch, bool *, (size_t)graph->nodes.count + 1);
  return (needs){.e = e, .scratch = scratch, .graph = graph, .needed = needed};
}

static void need(needs *n, leat_value value) {
  bool **needed = &n->needed[value.node->id];
  if (!ev_has_gradient(value)) return;
  if (!*needed) *needed = leat_new_array(n->scratch, bool, value.node->output_count);
  (*needed)[value.port] = true;
}

static bool is_needed(const needs *n, const leat_node *node, uint32_t port) {
  return n->needed[node->id] && n->needed[node->id][port];
}

static void find(needs *n);

static void need_in_branches(needs *n, const leat_node *node) {
  for (int b = 0; b < LEAT_REGION_BODIES; b++) {
    const leat_graph *body = leat_node_body(node, b);
    needs inside = begin(n->e, n->scratch, body);
    for (uint32_t i = 0; i < node->output_count; i++)
      if (is_needed(n, node, i)) need(&inside, body->yield->inputs[i]);
    find(&inside);
    for (uint32_t i = 0; i < body->params.count; i++)
      if (is_needed(&inside, body->params.items[i], 0)) need(n, node->inputs[i + 1]);
  }
}

// needed: by input of the loop; those that are carried say at first which results are.
static void find_in_loop(evaluator *e, leat_arena *scratch, const leat_node *loop, bool *needed) {
  const leat_graph *body = leat_node_attr(loop, "body")->body;
  needs inside = begin(e, scratch, body);
  for (bool more = true; more;) {
    more = false;
    for (uint32_t i = 0; i < loop->output_count; i++)
      if (needed[i]) need(&inside, body->yield->inputs[i]);
    find(&inside);
    for (uint32_t i = 0; i < loop->input_count; i++) {
      if (needed[i] || !is_needed(&inside, body->params.items[i], 0)) continue;
      needed[i] = true;
      more = more || i < loop->output_count;
    }
  }
}

static void need_in_loop(needs *n, const leat_node *loop) {
  bool *needed = leat_new_array(n->scratch, bool, (size_t)loop->input_count + 1);
  for (uint32_t i = 0; i < loop->output_count; i++) needed[i] = is_needed(n, loop, i);
  find_in_loop(n->e, n->scratch, loop, needed);
  for (uint32_t i = 0; i < loop->input_count; i++)
    if (needed[i]) need(n, loop->inputs[i]);
}

// As the walk of gradients goes: through a call with a rule of its own to what it was given.
static void need_record(needs *n, const ev_call_record *record, const leat_node *node) {
  if (record->first != node) {
    for (uint32_t i = 0; i < record->results->count; i++)
      if (record->results->items[i].tensor.node == record->first)
        need(n, record->results->items[i].tensor);
    return;
  }
  for (uint32_t i = 0; i < record->args->count; i++)
    if (record->args->items[i].kind == EV_TENSOR) need(n, record->args->items[i].tensor);
}

static void find(needs *n) {
  for (uint32_t id = n->graph->nodes.count; id-- > 0;) {
    const leat_node *node = n->graph->nodes.items[id];
    const ev_call_record *record = n->needed[id] ? leat_map_get(&n->e->records, node) : NULL;
    if (!n->needed[id]) continue;
    if (record)
      need_record(n, record, node);
    else if (node->op == LEAT_OP_conditional)
      need_in_branches(n, node);
    else if (node->op == LEAT_OP_while_loop)
      need_in_loop(n, node);
    else if (node->op != LEAT_OP_stop_gradient)
      for (uint32_t i = 0; i < node->input_count; i++) need(n, node->inputs[i]);
  }
}

bool *ev_needed(const reversal *r) {
  leat_arena *scratch = leat_arena_create();
  bool *needed = leat_new_array(r->e->arena, bool, (size_t)r->node->input_count + 1);
  for (uint32_t i = 0; i < r->carried; i++) needed[i] = r->partials[i].kind != EV_ERROR;
  find_in_loop(r->e, scratch, r->node, needed);
  leat_arena_destroy(scratch);
  return needed;
}
