// What does not vary in a loop is computed in front of it (passes/regions.c).
//
// A node of a body is *invariant* if all that it is computed from is: captured parameters and other
// such nodes; it has no effect, no state, no random numbers, and cannot fail, since the loop may
// turn not once. Values that the body needs of invariant nodes *cross* into it as new inputs. What
// costs next to nothing never crosses, what it is computed from may; products, scatters and library
// calls always do. Of the others an iteration must save time: what it takes to compute the value
// from what is in memory anyway, less what it takes to read it.
//
// A crossing node moves out under its name; what it is computed from moves too, or is copied where
// the body needs it as well.
#include "ops/build.h"
#include "passes/regions.h"

#include <string.h>

// By an iteration, at least: starting a kernel takes more.
enum { NANOSECONDS_SAVED = 10 };

typedef struct hoister {
  leat_regions *regions;
  leat_arena *scratch;
  leat_graph *graph; // around the loop
  leat_region_node region;
  leat_graph *body;
  leat_node **nodes; // of the body, as it was
  uint32_t count;
  bool *invariant, *crosses, *needed, *stays; // by id: needed outside; needed inside
  uint32_t *seen, seen_by;                    // by id
  leat_map outside;                           // node → what stands for it outside
} hoister;

// -- What does not vary --------------------------------------------------------------------------

static void find_invariant(hoister *h) {
  for (uint32_t i = 0; i < h->count; i++) {
    const leat_node *node = h->nodes[i];
    int64_t param = leat_region_param((leat_value){h->nodes[i], 0});
    h->invariant[i] = param >= 0 ? param >= h->region.carried
                                 : leat_region_may_move(h->regions->context->diag, node);
    for (uint32_t j = 0; j < node->input_count; j++)
      h->invariant[i] &= h->invariant[node->inputs[j].node->id];
  }
}

static bool is_given(const leat_node *node) {
  leat_op_leaf leaf = node->info->leaf;
  return leat_leaf_is_fixed(leaf) || leaf == LEAT_LEAF_PARAMETER;
}

// -- What crosses --------------------------------------------------------------------------------

static double nanoseconds(leat_work work) {
  return work.computing + work.bytes / LEAT_MEMORY_RATE;
}

// What an iteration saves that reads the element-wise op's or the reduction's result; less than
// that where it is enough.
static double saves(hoister *h, leat_node *node) {
  leat_node_list pending = {0};
  leat_work work = {.bytes = -leat_cost_result_bytes(node)};
  leat_vec_push(h->scratch, &pending, node);
  h->seen_by++;
  while (pending.count && nanoseconds(work) < NANOSECONDS_SAVED) {
    const leat_node *at = pending.items[--pending.count];
    bool in_memory = at != node && (is_given(at) || at->info->kind != LEAT_KIND_ELEMENT);
    if (h->seen[at->id] == h->seen_by) continue;
    h->seen[at->id] = h->seen_by;
    if (in_memory)
      work.bytes += leat_cost_result_bytes(at);
    else
      work.computing += leat_cost_work(h->regions->context->target, at).computing;
    for (uint32_t i = 0; !in_memory && i < at->input_count; i++)
      leat_vec_push(h->scratch, &pending, at->inputs[i].node);
  }
  return nanoseconds(work);
}

static bool is_worth_it(hoister *h, leat_node *node) {
  leat_op_kind kind = node->info->kind;
  if (node->info->flags & LEAT_FLAG_INLINE) return false;
  bool computes = kind == LEAT_KIND_ELEMENT || kind == LEAT_KIND_REDUCE;
  return !computes || saves(h, node) >= NANOSECONDS_SAVED;
}

// The invariant values that `node` needs, or what they are computed from.
static bool find_crossing(hoister *h, const leat_node *node, bool *considered) {
  leat_node_list pending = {0};
  bool found = false;
  for (uint32_t i = 0; i < node->input_count; i++)
    leat_vec_push(h->scratch, &pending, node->inputs[i].node);
  while (pending.count) {
    leat_node *at = pending.items[--pending.count];
    if (!h->invariant[at->id] || is_given(at) || considered[at->id]) continue;
    considered[at->id] = true;
    h->crosses[at->id] = is_worth_it(h, at);
    found |= h->crosses[at->id];
    for (uint32_t i = 0; !h->crosses[at->id] && i < at->input_count; i++)
      leat_vec_push(h->scratch, &pending, at->inputs[i].node);
  }
  return found;
}

static bool find_all_crossing(hoister *h) {
  bool *considered = leat_new_array(h->scratch, bool, h->count), found = false;
  for (uint32_t i = 0; i < h->count; i++)
    if (!h->invariant[i]) found |= find_crossing(h, h->nodes[i], considered);
  return found;
}

static void find_places(hoister *h) {
  for (uint32_t i = h->count; i-- > 0;) {
    const leat_node *node = h->nodes[i];
    h->needed[i] |= h->crosses[i];
    h->stays[i] |= !h->invariant[i];
    for (uint32_t j = 0; j < node->input_count; j++) {
      uint32_t id = node->inputs[j].node->id;
      h->needed[id] |= h->needed[i];
      h->stays[id] |= h->stays[i] && !h->crosses[id];
    }
  }
}

// -- Outside -------------------------------------------------------------------------------------

static leat_value outside(const hoister *h, leat_value value) {
  int64_t param = leat_region_param(value);
  if (param >= 0) return leat_region_input(&h->region, (uint32_t)param);
  return (leat_value){leat_map_get(&h->outside, value.node), value.port};
}

// Its id stays what it is in the body until that is rewritten.
static leat_node *move(hoister *h, leat_node *node, leat_value *inputs) {
  node->graph = h->graph;
  node->inputs = inputs;
  leat_vec_push(h->graph->arena, &h->graph->nodes, node);
  return node;
}

static leat_node *copy(hoister *h, const leat_node *node, const leat_value *inputs) {
  const char *name = leat_graph_unique_name(h->graph, node->name);
  leat_node *to =
      leat_graph_append(h->graph, node->op, name, inputs, node->input_count, node->attrs);
  to->outputs = node->outputs;
  to->span = node->span;
  to->place = node->place;
  return to;
}

static void take_out(hoister *h, leat_node *node) {
  leat_value *inputs = leat_new_array(h->graph->arena, leat_value, node->input_count);
  for (uint32_t i = 0; i < node->input_count; i++) inputs[i] = outside(h, node->inputs[i]);
  leat_node *out = h->stays[node->id] ? copy(h, node, inputs) : move(h, node, inputs);
  out->entry = h->region.node->entry;
  leat_region_wait_for_dims(h->graph, out);
  leat_map_set(&h->outside, node, out);
}

// -- The bodies ---------------------------------------------------------------------------------

// In front of all else; in the body that they cross into they stand for the nodes.
static void add_parameters(hoister *h, leat_graph *body, leat_value **values) {
  for (uint32_t i = 0; i < h->count; i++) {
    leat_node *node = h->nodes[i];
    if (!h->crosses[i]) continue;
    values[i] = leat_new_array(h->scratch, leat_value, node->output_count);
    for (uint32_t port = 0; port < node->output_count; port++)
      values[i][port] = leat_region_add_parameter(&h->region, body, (leat_value){node, port});
  }
}

static void rewrite_body(hoister *h, leat_graph *body) {
  leat_value **values = leat_new_array(h->scratch, leat_value *, h->count);
  leat_rewriter r = leat_rewrite_begin(body, h->scratch);
  add_parameters(h, body, values);
  for (uint32_t i = 0; i < r.count; i++) {
    leat_node *node = body->nodes.items[i];
    bool crosses = body == h->body && h->crosses[i];
    bool moves = node->graph != body;
    if (!moves) leat_rewrite_inputs(&r, node);
    if (crosses)
      leat_rewrite_replace_all(&r, node, values[i]);
    else if (!moves)
      leat_rewrite_keep(&r, node);
  }
  leat_rewrite_finish(&r);
}

static void add_inputs(const hoister *h) {
  leat_vec(leat_value) crossing = {0};
  for (uint32_t i = 0; i < h->count; i++)
    for (uint32_t port = 0; h->crosses[i] && port < h->nodes[i]->output_count; port++)
      leat_vec_push(h->scratch, &crossing, (leat_value){h->nodes[i], port});
  leat_region_add_inputs(h->graph, &h->region, crossing.items, crossing.count);
}

static void hoist_body(hoister *h, uint32_t number) {
  leat_graph *graph = h->graph;
  uint32_t first = graph->nodes.count;
  h->body = h->region.bodies[number];
  h->nodes = h->body->nodes.items;
  h->count = h->body->nodes.count;
  h->invariant = leat_new_array(h->scratch, bool, h->count);
  h->crosses = leat_new_array(h->scratch, bool, h->count);
  h->needed = leat_new_array(h->scratch, bool, h->count);
  h->stays = leat_new_array(h->scratch, bool, h->count);
  h->seen = leat_new_array(h->scratch, uint32_t, h->count);
  find_invariant(h);
  if (!find_all_crossing(h)) return;
  find_places(h);
  leat_map_init(&h->outside, h->scratch);
  for (uint32_t i = 0; i < h->count; i++)
    if (h->needed[i] && h->nodes[i]->op != LEAT_OP_parameter) take_out(h, h->nodes[i]);
  for (uint32_t b = 0; b < LEAT_BODIES; b++) rewrite_body(h, h->region.bodies[b]);
  for (uint32_t i = first; i < graph->nodes.count; i++) graph->nodes.items[i]->id = i;
  add_inputs(h);
  leat_region_changed(h->regions, graph, h->region.node);
}

static void hoist(leat_regions *regions, leat_graph *graph, leat_node *loop) {
  for (uint32_t b = 0; b < LEAT_BODIES; b++) {
    hoister h = {.regions = regions,
                 .scratch = regions->context->scratch,
                 .graph = graph,
                 .region = leat_region_node_of(loop)};
    hoist_body(&h, b);
  }
}

void leat_regions_hoist(leat_regions *regions, leat_graph *graph) {
  leat_regions_visit_loops(regions, graph, hoist);
}
