// partition: one graph a device, joined by send and recv (white paper, sections 3.2.2 and 5.2).
//
//   needs   every node and state on a device (place)
//   makes   context->parts, in the order of the devices, each with graph->device; keeps the graph
//   edges   a tensor goes once to each device that uses it, as one send and one recv with the same
//           number; numbers are dense, in the order of the first uses. A control edge between
//           devices is a bool that is sent. Values that cost less to make than to send (constants,
//           iota) are made where they are used.
//   dims    a dim that is bound while running is bound again, from the count that is sent, on every
//           device that has it
//   checks  of dims are in every part that has the dims
//   delay   each recv waits, by a control edge, for what leat_critical_path_delay answers
//
// Initial values of a device's state are computed there, from copies.
#include "passes/parts.h"
#include "passes/rewrite.h"

#include <stdlib.h>

// -- Initial values ------------------------------------------------------------------------

static leat_node *initial_copy(leat_partitioner *p, const leat_node *node, uint32_t device) {
  bool here = p->home[node->id] && p->device[node->id] == device;
  if (here && node->input_count == 0) {
    leat_parts_list_home(p, node);
    return p->home[node->id];
  }
  leat_copy_key key = {node->id, LEAT_COPY_INITIAL, device};
  leat_node *copy = leat_parts_find(p, key);
  if (copy) return copy;
  leat_vec(leat_value) inputs = {0};
  for (uint32_t i = 0; i < node->input_count; i++) {
    leat_copy_key input = {node->inputs[i].node->id, LEAT_COPY_INITIAL, device};
    leat_node *made = leat_parts_find(p, input);
    if (!made) made = p->home[node->inputs[i].node->id];
    leat_vec_push(p->context->scratch, &inputs, (leat_value){made, node->inputs[i].port});
  }
  copy = leat_parts_copy(p, node, node->entry, device, inputs.items);
  leat_parts_keep(p, key, copy);
  return copy;
}

static int compare_ids(const void *a, const void *b) {
  uint32_t x = (*(leat_node *const *)a)->id, y = (*(leat_node *const *)b)->id;
  return x < y ? -1 : x > y;
}

// Copies what the initial value needs, inputs before users. `seen` by node id: the last state that
// met it.
static void copy_initial_value(leat_partitioner *p, const leat_state *state, uint32_t device,
                               uint32_t *seen) {
  leat_vec(leat_node *) needed = {0};
  leat_arena *scratch = p->context->scratch;
  leat_state *copy = leat_clone_state(p->parts[device].cloner, state);
  if (!state->init.node) return;
  leat_vec_push(scratch, &needed, state->init.node);
  seen[state->init.node->id] = state->id + 1;
  for (uint32_t i = 0; i < needed.count; i++) {
    const leat_node *node = needed.items[i];
    for (uint32_t j = 0; j < node->input_count; j++) {
      leat_node *input = node->inputs[j].node;
      if (seen[input->id] == state->id + 1) continue;
      seen[input->id] = state->id + 1;
      leat_vec_push(scratch, &needed, input);
    }
  }
  qsort(needed.items, needed.count, sizeof *needed.items, compare_ids);
  for (uint32_t i = 0; i < needed.count; i++) initial_copy(p, needed.items[i], device);
  copy->init = (leat_value){initial_copy(p, state->init.node, device), state->init.port};
}

// -- The pass ------------------------------------------------------------------------------

static void begin_parts(leat_partitioner *p) {
  leat_pass_context *context = p->context;
  p->parts = leat_new_array(context->scratch, leat_part, context->device_count);
  for (uint32_t i = 0; i < context->device_count; i++) {
    leat_cloner *cloner = leat_new(context->scratch, leat_cloner);
    *cloner = leat_clone_begin(p->graph, context->arena, context->scratch);
    cloner->to->device = context->devices[i].name;
    p->parts[i] = (leat_part){.cloner = cloner, .graph = cloner->to};
  }
}

static void number_devices(const leat_pass_context *context, leat_map *numbers) {
  leat_map_init(numbers, context->scratch);
  for (uint32_t i = 0; i < context->device_count; i++)
    leat_map_set(numbers, context->devices[i].name, (void *)(uintptr_t)(i + 1));
}

static void copy_initial_values(leat_partitioner *p) {
  uint32_t *seen = leat_new_array(p->context->scratch, uint32_t, p->graph->nodes.count);
  for (uint32_t i = 0; i < p->graph->states.count; i++) {
    const leat_state *state = p->graph->states.items[i];
    uint32_t device = (uint32_t)(uintptr_t)leat_map_get(p->numbers, state->device) - 1;
    copy_initial_value(p, state, device, seen);
  }
}

static void finish(const leat_partitioner *p) {
  leat_pass_context *context = p->context;
  context->parts.count = 0;
  for (uint32_t i = 0; i < context->device_count; i++) {
    const leat_part *made = &p->parts[i];
    if (!made->order.count && !made->graph->states.count) continue;
    made->graph->nodes = made->order;
    leat_clone_finish(made->cloner);
    leat_vec_push(context->arena, &context->parts, made->graph);
  }
}

leat_status leat_pass_partition(leat_pass_context *context) {
  leat_map numbers;
  uint32_t edges = 0, errors = leat_diag_errors(context->diag);
  leat_partitioner p = {
      .context = context, .graph = context->graph, .numbers = &numbers, .edges = &edges};
  number_devices(context, &numbers);
  p.in_step = leat_step_nodes(p.graph, context->scratch);
  begin_parts(&p);
  leat_parts_begin(&p);
  copy_initial_values(&p);
  leat_cost_model cost = leat_cost_model_create(context);
  leat_critical_path path = leat_critical_path_find(&cost, p.in_step, p.device);
  p.cost = &cost;
  p.path = &path;
  leat_parts_connect(&p);
  leat_parts_copy_checks(&p);
  finish(&p);
  return leat_diag_errors(context->diag) == errors ? LEAT_OK : LEAT_INVALID;
}
