// What nodes with bodies are given and give, made as little as they need (passes/regions.c).
//
// What a body needs is marked from its effects and the results that are needed back to its
// parameters; a carried value is needed when something outside uses it, or when what is needed
// inside does, which makes its next value needed too. A parameter of what is cheap becomes that
// itself, in place, under its name.
#include "ops/turns.h"
#include "passes/regions.h"

#include <string.h>

typedef struct narrowing {
  leat_regions *regions;
  leat_graph *graph; // around the node
  leat_region_node region;
  const bool *used; // by output: somebody outside uses it
  bool *fixed;      // by output: it is a value of outside, which `values` has
  bool *needed;     // by output
  leat_value *values;
  bool *live[LEAT_BODIES];  // by id
  bool *kept;               // by parameter
  leat_vec(uint32_t) order; // of the kept ones: the parameters that they were
  uint32_t *equal;          // by parameter: 1 + an earlier one of the same value, or 0
} narrowing;

// -- What is a value of outside ----------------------------------------------------------------

// What a body gives as result i, if that is an input that does not change; else {NULL}.
static leat_value passed_on(const narrowing *n, uint32_t body, uint32_t i) {
  const leat_region_node *region = &n->region;
  int64_t param = leat_region_param(region->bodies[body]->yield->inputs[i]);
  bool varies = param < 0 || (param < region->carried && param != i);
  return varies ? (leat_value){0} : leat_region_input(region, (uint32_t)param);
}

static void find_fixed(narrowing *n) {
  for (uint32_t i = 0; i < n->region.node->output_count; i++) {
    bool loop = n->region.yielding == 1;
    leat_value other = loop ? leat_region_input(&n->region, i) : passed_on(n, 0, i);
    leat_value last = passed_on(n, 1, i);
    n->fixed[i] =
        last.node && leat_value_same(last, other) && !leat_region_result_grows(n->region.node, i);
    n->values[i] = n->fixed[i] ? last : (leat_value){n->region.node, 0};
  }
}

// What is asked for of a loop that may have no end is behind that end: one result stays the loop's.
static void keep_endless(narrowing *n) {
  const leat_node *node = n->region.node;
  int64_t first = -1;
  if (node->op != LEAT_OP_while_loop || leat_loop_ends(node)) return;
  for (uint32_t i = node->output_count; i-- > 0;) {
    if (n->used[i] && !n->fixed[i]) return;
    if (n->used[i]) first = i;
  }
  if (first < 0) return;
  n->fixed[first] = false;
  n->values[first] = (leat_value){n->region.node, (uint32_t)first};
}

static bool varies(const narrowing *n, uint32_t param) {
  return param < n->region.carried && !n->fixed[param];
}

// -- What is needed ------------------------------------------------------------------------------

static void mark(narrowing *n, uint32_t body, leat_node *node) {
  leat_arena *scratch = n->regions->context->scratch;
  leat_node_list pending = {0};
  leat_vec_push(scratch, &pending, node);
  while (pending.count) {
    node = pending.items[--pending.count];
    if (n->live[body][node->id]) continue;
    n->live[body][node->id] = true;
    for (uint32_t i = 0; i < node->input_count; i++)
      leat_vec_push(scratch, &pending, node->inputs[i].node);
  }
}

static void mark_effects(narrowing *n, uint32_t body) {
  const leat_graph *graph = n->region.bodies[body];
  for (uint32_t i = 0; i < graph->nodes.count; i++) {
    leat_node *node = graph->nodes.items[i];
    bool results = node == graph->yield && body >= n->region.yielding;
    if (node->effect && !results) mark(n, body, node);
  }
}

static bool is_live(const narrowing *n, uint32_t param) {
  for (uint32_t b = 0; b < LEAT_BODIES; b++)
    if (n->live[b][n->region.bodies[b]->params.items[param]->id]) return true;
  return false;
}

static void find_needed(narrowing *n) {
  for (uint32_t b = 0; b < LEAT_BODIES; b++) mark_effects(n, b);
  for (bool more = true; more;) {
    more = false;
    for (uint32_t i = 0; i < n->region.node->output_count; i++) {
      bool inside = i < n->region.carried && is_live(n, i);
      bool used =
          n->used[i] || leat_region_result_grows(n->region.node, i); // somebody may have its dims
      if (n->fixed[i] || n->needed[i] || (!used && !inside)) continue;
      more = n->needed[i] = true;
      for (uint32_t b = n->region.yielding; b < LEAT_BODIES; b++)
        mark(n, b, n->region.bodies[b]->yield->inputs[i].node);
    }
  }
}

// Made where it is used, of nothing or of one scalar that is.
static bool is_cheap(const leat_node *node) {
  const leat_node *scalar = node->input_count ? node->inputs[0].node : NULL;
  if (!(node->info->flags & LEAT_FLAG_LOCAL)) return false;
  if (scalar) return !scalar->outputs[0].rank && !scalar->input_count && is_cheap(scalar);
  return node->op != LEAT_OP_const || node->outputs[0].rank == 0;
}

// Of captured inputs that are one value the first is kept.
static void find_kept(narrowing *n) {
  leat_bytes_map values; // that are captured → the parameter
  leat_bytes_map_init(&values, n->regions->context->scratch);
  for (uint32_t i = 0; i < n->region.params; i++) {
    leat_value input = leat_region_input(&n->region, i);
    uint64_t key[] = {(uintptr_t)input.node, input.port};
    if (varies(n, i)) {
      n->kept[i] = n->needed[i];
    } else if (is_live(n, i) && !is_cheap(input.node)) {
      n->equal[i] = (uint32_t)(uintptr_t)leat_bytes_map_get(&values, key, sizeof key);
      n->kept[i] = !n->equal[i];
      if (n->kept[i]) leat_bytes_map_set(&values, key, sizeof key, (void *)(uintptr_t)(i + 1));
    }
  }
}

// What is carried comes first.
static void find_order(narrowing *n) {
  leat_arena *scratch = n->regions->context->scratch;
  for (int captured = 0; captured < 2; captured++)
    for (uint32_t i = 0; i < n->region.params; i++)
      if (n->kept[i] && varies(n, i) != captured) leat_vec_push(scratch, &n->order, i);
}

static bool is_narrow(const narrowing *n) {
  for (uint32_t i = 0; i < n->region.node->output_count; i++)
    if (!n->needed[i]) return false;
  return n->order.count == n->region.params;
}

// -- The bodies ----------------------------------------------------------------------------------

static leat_node *copy_scalar(leat_graph *body, const leat_node *param, const leat_node *scalar) {
  const char *path = leat_intern_path(body->strings, param->name, "value");
  const char *name = leat_graph_unique_name(body, path);
  leat_node *copy = leat_graph_append(body, scalar->op, name, NULL, 0, scalar->attrs);
  copy->outputs = scalar->outputs;
  copy->entry = param->entry;
  copy->span = scalar->span;
  return copy;
}

// The parameter becomes what it is given.
static void make_cheap(leat_graph *body, leat_node *param, const leat_node *source) {
  if (source->input_count) {
    leat_value scalar = {copy_scalar(body, param, source->inputs[0].node), 0};
    param->inputs = leat_arena_memdup(body->arena, &scalar, sizeof scalar);
    param->input_count = 1;
  }
  leat_node_set_op(param, source->op);
  param->attrs = source->attrs;
}

static void narrow_parameter(const narrowing *n, uint32_t b, leat_rewriter *r, leat_node *param) {
  leat_graph *body = n->region.bodies[b];
  uint32_t i = (uint32_t)leat_node_attr(param, "index")->i;
  if (n->equal[i]) {
    leat_node *first = body->params.items[n->equal[i] - 1];
    leat_rewrite_replace(r, param, (leat_value){first, 0});
  } else if (n->kept[i]) {
    leat_rewrite_keep(r, param);
  } else if (n->live[b][param->id]) {
    make_cheap(body, param, leat_region_input(&n->region, i).node);
    leat_rewrite_keep(r, param);
  }
}

// A parameter is there from the start.
static void drop_vain_controls(leat_node *node) {
  uint32_t kept = 0;
  for (uint32_t i = 0; i < node->control_count; i++)
    if (node->controls[i]->op != LEAT_OP_parameter) node->controls[kept++] = node->controls[i];
  node->control_count = kept;
}

static void narrow_results(const narrowing *n, leat_node *yield) {
  uint32_t kept = 0;
  for (uint32_t i = 0; i < yield->input_count; i++)
    if (n->needed[i]) yield->inputs[kept++] = yield->inputs[i];
  yield->input_count = kept;
}

static void number_parameters(const narrowing *n, leat_graph *body) {
  leat_node_list params = {0};
  for (uint32_t i = 0; i < n->order.count; i++) {
    leat_node *param = body->params.items[n->order.items[i]];
    leat_node_set_attr(body, param, "index", (leat_attr){.i = i});
    leat_vec_push(body->arena, &params, param);
  }
  body->params = params;
}

static void narrow_body(const narrowing *n, uint32_t b) {
  leat_graph *body = n->region.bodies[b];
  for (uint32_t i = 0; i < body->nodes.count; i++) drop_vain_controls(body->nodes.items[i]);
  leat_rewriter r = leat_rewrite_begin(body, n->regions->context->scratch);
  for (uint32_t i = 0; i < r.count; i++) {
    leat_node *node = body->nodes.items[i];
    leat_rewrite_inputs(&r, node);
    if (node->op == LEAT_OP_parameter)
      narrow_parameter(n, b, &r, node);
    else
      leat_rewrite_keep(&r, node);
  }
  number_parameters(n, body);
  if (b >= n->region.yielding) narrow_results(n, body->yield);
  leat_rewrite_finish(&r);
}

// -- The node ------------------------------------------------------------------------------------

// What grows is needed: its axes have other numbers.
static void narrow_axes(const narrowing *n) {
  leat_attr axes = *leat_node_attr(n->region.node, "axes");
  int64_t *numbers = leat_arena_memdup(n->graph->arena, axes.ints, axes.count * sizeof *numbers);
  for (uint32_t k = 0; k < axes.count; k++) {
    uint32_t port = n->values[numbers[k] / LEAT_MAX_RANK].port;
    numbers[k] = (int64_t)port * LEAT_MAX_RANK + numbers[k] % LEAT_MAX_RANK;
  }
  axes.ints = numbers;
  leat_node_set_attr(n->graph, n->region.node, "axes", axes);
}

static void narrow_node(narrowing *n) {
  leat_node *node = n->region.node;
  leat_arena *arena = n->graph->arena;
  uint32_t count = n->region.first, ports = 0;
  leat_value *inputs = leat_new_array(arena, leat_value, node->input_count);
  leat_type *outputs = leat_new_array(arena, leat_type, node->output_count);
  memcpy(inputs, node->inputs, count * sizeof *inputs);
  for (uint32_t i = 0; i < n->order.count; i++)
    inputs[count++] = leat_region_input(&n->region, n->order.items[i]);
  for (uint32_t i = 0; i < node->output_count; i++) {
    if (!n->needed[i]) continue;
    outputs[ports] = node->outputs[i];
    n->values[i].port = ports++;
  }
  narrow_axes(n);
  node->inputs = inputs;
  node->input_count = count;
  node->outputs = outputs;
  leat_node_set_op(node, node->op);
  leat_region_effects(n->graph, node, &node, 1); // that there were checks may have been decided
}

static bool narrow(narrowing *n, leat_node *node) {
  leat_arena *scratch = n->regions->context->scratch;
  n->region = leat_region_node_of(node);
  n->fixed = leat_new_array(scratch, bool, node->output_count);
  n->needed = leat_new_array(scratch, bool, node->output_count);
  n->values = leat_new_array(scratch, leat_value, node->output_count);
  n->kept = leat_new_array(scratch, bool, n->region.params);
  n->equal = leat_new_array(scratch, uint32_t, n->region.params);
  for (uint32_t b = 0; b < LEAT_BODIES; b++)
    n->live[b] = leat_new_array(scratch, bool, n->region.bodies[b]->nodes.count);
  find_fixed(n);
  keep_endless(n);
  find_needed(n);
  find_kept(n);
  find_order(n);
  if (is_narrow(n)) return false;
  for (uint32_t b = 0; b < LEAT_BODIES; b++) narrow_body(n, b);
  narrow_node(n);
  return true;
}

// -- The graph -----------------------------------------------------------------------------------

static void use(bool **used, leat_value value) {
  if (value.node && used[value.node->id]) used[value.node->id][value.port] = true;
}

// By id, of nodes with bodies: by output, whether somebody uses it.
static bool **find_used(const leat_graph *graph, leat_arena *scratch) {
  bool **used = leat_new_array(scratch, bool *, graph->nodes.count);
  for (uint32_t i = 0; i < graph->nodes.count; i++) {
    const leat_node *node = graph->nodes.items[i];
    bool region = node->info->kind == LEAT_KIND_REGION;
    if (region) used[i] = leat_new_array(scratch, bool, (size_t)node->output_count + 1);
    for (uint32_t j = 0; j < node->input_count; j++) use(used, node->inputs[j]);
  }
  for (uint32_t i = 0; i < graph->states.count; i++) use(used, graph->states.items[i]->init);
  for (uint32_t i = 0; i < graph->entries.count; i++)
    for (uint32_t j = 0; j < graph->entries.items[i]->results.count; j++)
      use(used, graph->entries.items[i]->results.items[j].value);
  return used;
}

void leat_regions_narrow(leat_regions *regions, leat_graph *graph) {
  leat_arena *scratch = regions->context->scratch;
  bool **used = find_used(graph, scratch);
  leat_rewriter r = leat_rewrite_begin(graph, scratch);
  for (uint32_t i = 0; i < r.count; i++) {
    leat_node *node = graph->nodes.items[i];
    leat_rewrite_inputs(&r, node);
    narrowing n = {.regions = regions, .graph = graph, .used = used[i]};
    uint32_t outputs = node->output_count;
    bool narrowed = node->info->kind == LEAT_KIND_REGION && narrow(&n, node);
    leat_rewrite_keep(&r, node);
    if (!narrowed) continue;
    leat_region_changed(regions, graph, node);
    leat_rewrite_outputs(&r, node, n.values, outputs);
  }
  leat_rewrite_finish(&r);
}
