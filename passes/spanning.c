// Regions on several devices: white paper, section 4.4. Each device that has work in the bodies
// gets a region of its own, in whose bodies sends and recvs connect what goes apart as it is
// outside. All of them run alike, for the predicate goes from where it is computed to the others,
// in each iteration; so what is sent in one is received in the other.
//
// A copy has those parameters that something on its device uses. Of a loop it then carries the
// value: the next one comes from where it is made. A result is taken from the copy where it is
// made.
#include "ops/turns.h"
#include "passes/parts.h"

#include <string.h>

// Inputs before those that the bodies have parameters for.
static uint32_t first_input(const leat_node *node) {
  return (uint32_t)node->info->min_inputs;
}

static uint32_t param_count(const leat_node *node) {
  return node->input_count - first_input(node);
}

// -- Which regions -------------------------------------------------------------------------------

static bool is_elsewhere(const leat_graph *body, const char *device) {
  for (uint32_t i = 0; i < body->nodes.count; i++) {
    const leat_node *node = body->nodes.items[i];
    if (node->device != device) return true;
    for (int k = 0; k < node->info->attr_count; k++)
      if (leat_node_body(node, k) && is_elsewhere(node->attrs[k].body, device)) return true;
  }
  return false;
}

bool leat_is_spanning(const leat_node *node) {
  if (node->info->kind != LEAT_KIND_REGION) return false;
  for (int k = 0; k < node->info->attr_count; k++)
    if (leat_node_body(node, k) && is_elsewhere(node->attrs[k].body, node->device)) return true;
  return false;
}

// -- Parameters ----------------------------------------------------------------------------------

static bool *use_of(const leat_spanning *s, uint32_t device, uint32_t param) {
  return &s->uses[device * param_count(s->node) + param];
}

static leat_node *parameter_copy(leat_partitioner *body, uint32_t device, uint32_t number) {
  leat_part *part = &body->parts[device];
  const leat_node *param = body->graph->params.items[number];
  leat_copy_key key = {param->id, 0, device};
  leat_node *copy = leat_parts_find(body, key);
  if (copy) return copy;
  copy = leat_clone_node(part->cloner, part->graph, param, NULL);
  copy->device = body->context->devices[device].name;
  leat_parts_keep(body, key, copy);
  return copy;
}

leat_value leat_spanning_parameter(leat_partitioner *p, const leat_node *param, uint32_t device) {
  uint32_t number = (uint32_t)leat_node_attr(param, "index")->i;
  *use_of(p->around, device, number) = true;
  return (leat_value){parameter_copy(p, device, number), 0};
}

// -- Results -------------------------------------------------------------------------------------

static leat_value yielded(const leat_spanning *s, uint32_t body, uint32_t result) {
  return s->bodies[body]->graph->yield->inputs[result];
}

// Of what is no more than passed on, or made wherever it is used, any device could have the result.
static bool is_anywhere(leat_value value) {
  return value.node->op == LEAT_OP_parameter || leat_parts_is_cheap(value.node);
}

static void find_homes(leat_spanning *s, uint32_t device) {
  for (uint32_t i = 0; i < s->node->output_count; i++) {
    s->home[i] = device;
    for (uint32_t b = leat_is_loop(s->node) ? 1 : 0; b < 2; b++) {
      leat_value value = yielded(s, b, i);
      if (is_anywhere(value)) continue;
      s->home[i] = leat_parts_home(s->bodies[b], value);
      break;
    }
    if (leat_is_loop(s->node)) *use_of(s, s->home[i], i) = true;
  }
}

// A loop's copy has all that it carries, a branch's only what others take from it.
static bool has_result(const leat_spanning *s, uint32_t device, uint32_t result) {
  return leat_is_loop(s->node) ? *use_of(s, device, result) : s->home[result] == device;
}

// -- What each device needs ----------------------------------------------------------------------

static bool takes_part(const leat_spanning *s, uint32_t device) {
  for (uint32_t b = 0; b < 2; b++)
    if (s->bodies[b]->parts[device].order.count) return true;
  for (uint32_t i = 0; i < s->node->output_count; i++)
    if (has_result(s, device, i)) return true;
  return false;
}

// What body number `b` yields on the device; answers how much.
static uint32_t collect_yield(leat_spanning *s, uint32_t b, uint32_t device, leat_value *out) {
  leat_partitioner *body = s->bodies[b];
  const leat_node *yield = body->graph->yield;
  bool condition = leat_is_loop(s->node) && b == 0;
  uint32_t count = 0;
  for (uint32_t i = 0; i < yield->input_count; i++)
    if (condition || has_result(s, device, i))
      out[count++] = leat_parts_value(body, yield->inputs[i], yield, device);
  return count;
}

static uint32_t count_uses(const leat_spanning *s) {
  uint32_t count = 0, all = s->bodies[0]->context->device_count * param_count(s->node);
  for (uint32_t i = 0; i < all; i++) count += s->uses[i];
  return count;
}

// What is carried must be made for the next iteration, of which more may have to be carried.
static void settle(leat_spanning *s, leat_value *scratch) {
  uint32_t devices = s->bodies[0]->context->device_count, before;
  do {
    before = count_uses(s);
    for (uint32_t d = 0; d < devices; d++)
      for (uint32_t b = 0; takes_part(s, d) && b < 2; b++) collect_yield(s, b, d, scratch);
  } while (count_uses(s) != before);
}

// -- Copies --------------------------------------------------------------------------------------

// The numbers of the parameters that the device has, what is carried first.
static uint32_t collect_params(const leat_spanning *s, uint32_t device, uint32_t *out) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < param_count(s->node); i++)
    if (*use_of(s, device, i)) out[count++] = i;
  return count;
}

static leat_graph *finish_body(leat_spanning *s, uint32_t b, uint32_t device,
                               const uint32_t *params, uint32_t param_count) {
  leat_partitioner *body = s->bodies[b];
  leat_part *part = &body->parts[device];
  leat_graph *graph = part->graph;
  leat_arena *arena = graph->arena;
  const leat_node *yield = body->graph->yield;
  leat_value *results = leat_new_array(body->context->scratch, leat_value, yield->input_count);
  uint32_t count = collect_yield(s, b, device, results);
  leat_node *end = leat_graph_append(
      graph, LEAT_OP_yield, leat_graph_unique_name(graph, yield->name), results, count, NULL);
  end->device = body->context->devices[device].name;
  end->span = yield->span;
  leat_node_list nodes = {0};
  for (uint32_t i = 0; i < param_count; i++) {
    leat_node *param = parameter_copy(body, device, params[i]);
    leat_node_set_attr(graph, param, "index", (leat_attr){.i = i});
    leat_vec_push(arena, &graph->params, param);
    leat_vec_push(arena, &nodes, param);
  }
  for (uint32_t i = 0; i < part->order.count; i++)
    leat_vec_push(arena, &nodes, part->order.items[i]);
  leat_vec_push(arena, &nodes, end);
  graph->nodes = nodes;
  leat_graph_renumber(graph);
  return graph;
}

// Which output of the device's copy each result is, with its type.
static leat_type *number_results(leat_spanning *s, uint32_t device, leat_arena *arena) {
  leat_type *types = leat_new_array(arena, leat_type, s->node->output_count);
  uint32_t count = 0;
  for (uint32_t i = 0; i < s->node->output_count; i++) {
    if (!has_result(s, device, i)) continue;
    if (s->home[i] == device) s->port[i] = count;
    types[count++] = s->node->outputs[i];
  }
  return types;
}

// The copy binds the extents of what grows and it has.
static void number_growing(const leat_spanning *s, uint32_t device, leat_arena *arena,
                           leat_attr *attrs) {
  const leat_attr *all = leat_node_attr(s->node, "axes");
  leat_attr *axes = &attrs[leat_op_attr_index(s->node->op, "axes")];
  leat_attr *dims = &attrs[leat_op_attr_index(s->node->op, "dims")];
  int64_t *numbers = leat_new_array(arena, int64_t, all->count);
  leat_dim *extents = leat_new_array(arena, leat_dim, all->count);
  axes->count = 0;
  for (uint32_t k = 0; k < all->count; k++) {
    uint32_t result = (uint32_t)(all->ints[k] / LEAT_MAX_RANK);
    if (!has_result(s, device, result)) continue;
    numbers[axes->count] = (int64_t)s->port[result] * LEAT_MAX_RANK + all->ints[k] % LEAT_MAX_RANK;
    extents[axes->count++] = dims->dims[k];
  }
  axes->ints = numbers;
  dims->dims = extents;
  dims->count = axes->count;
}

static leat_node *make_node(leat_partitioner *p, leat_spanning *s, uint32_t device) {
  const leat_node *node = s->node;
  leat_part *part = &p->parts[device];
  leat_arena *scratch = p->context->scratch;
  leat_value *inputs = leat_new_array(scratch, leat_value, node->input_count);
  uint32_t *params = leat_new_array(scratch, uint32_t, param_count(node));
  uint32_t count = collect_params(s, device, params), first = first_input(node);
  for (uint32_t i = 0; i < first; i++)
    inputs[i] = leat_parts_value(p, node->inputs[i], node, device);
  for (uint32_t i = 0; i < count; i++)
    inputs[first + i] = leat_parts_value(p, node->inputs[first + params[i]], node, device);
  leat_attr attrs[LEAT_MAX_ATTRS];
  memcpy(attrs, node->attrs, (size_t)node->info->attr_count * sizeof *attrs);
  for (uint32_t b = 0; b < 2; b++)
    attrs[b] = (leat_attr){.body = finish_body(s, b, device, params, count)};
  leat_type *outputs = number_results(s, device, p->context->arena);
  number_growing(s, device, p->context->arena, attrs);
  leat_dim turns; // a dim that running shows is not sent for that alone
  if (leat_is_loop(node) && leat_loop_turns(node, &turns) && !leat_dim_is_const(turns))
    attrs[leat_op_attr_index(node->op, "turns")].count = 0;
  leat_node *copy =
      leat_graph_append(part->graph, node->op, leat_graph_unique_name(part->graph, node->name),
                        inputs, first + count, attrs);
  copy->outputs = outputs;
  copy->device = p->context->devices[device].name;
  copy->entry = leat_clone_entry(part->cloner, node->entry);
  copy->span = node->span;
  copy->place = node->place;
  return copy;
}

// Each copy runs after what the region does, and after what binds dims that are in it.
static void order(leat_partitioner *p, const leat_spanning *s, uint32_t device) {
  leat_node *copy = s->copies[device];
  leat_node_list binders = {0}, there = {0};
  leat_parts_connect_controls(p, s->node, copy, device);
  leat_node_find_binders(p->graph, copy, p->context->scratch, &binders);
  for (uint32_t i = 0; i < binders.count; i++)
    if (binders.items[i] != s->node)
      leat_parts_list_binders(p, binders.items[i], s->node, device, &there);
  leat_node_add_controls(p->parts[device].graph, copy, there.items, there.count);
  leat_parts_list(p, device, copy);
}

// -- The region ----------------------------------------------------------------------------------

static leat_partitioner *begin_body(leat_partitioner *outer, leat_spanning *s,
                                    const leat_graph *body) {
  uint32_t devices = outer->context->device_count;
  leat_partitioner *p = leat_new(outer->context->scratch, leat_partitioner);
  *p = (leat_partitioner){.context = outer->context,
                          .graph = body,
                          .around = s,
                          .numbers = outer->numbers,
                          .edges = outer->edges};
  p->parts = leat_new_array(outer->context->scratch, leat_part, devices);
  for (uint32_t d = 0; d < devices; d++) {
    p->parts[d].cloner = outer->parts[d].cloner;
    p->parts[d].graph = leat_graph_create_body(outer->parts[d].graph);
  }
  leat_parts_begin(p);
  return p;
}

void leat_spanning_connect(leat_partitioner *p, const leat_node *node) {
  leat_arena *scratch = p->context->scratch;
  uint32_t devices = p->context->device_count, results = node->output_count;
  leat_spanning *s = p->spanning[node->id] = leat_new(scratch, leat_spanning);
  s->node = node;
  s->uses = leat_new_array(scratch, bool, (size_t)devices *param_count(node));
  s->home = leat_new_array(scratch, uint32_t, results);
  s->port = leat_new_array(scratch, uint32_t, results);
  s->copies = leat_new_array(scratch, leat_node *, devices);
  for (uint32_t b = 0; b < 2; b++) {
    s->bodies[b] = begin_body(p, s, node->attrs[b].body);
    leat_parts_connect(s->bodies[b]);
  }
  find_homes(s, p->device[node->id]);
  settle(s, leat_new_array(scratch, leat_value, results + 1));
  if (leat_is_loop(node)) leat_spanning_bound(s);
  for (uint32_t b = 0; b < 2; b++) leat_parts_copy_checks(s->bodies[b]);
  for (uint32_t d = 0; d < devices; d++)
    if (takes_part(s, d)) s->copies[d] = make_node(p, s, d);
  for (uint32_t d = 0; d < devices; d++)
    if (s->copies[d]) order(p, s, d);
}
