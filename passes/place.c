// place: chooses a device for every node and state (white paper, sections 3.2.1 and 4.3).
//
//   needs   devices; constraints on nodes and states
//   makes   node->device and state->device full names; colocation is then settled and cleared
//   rule    what must be together is one component with one set of devices (feasible.c). The step
//           is simulated in topological order; where a component is first met, its node goes to
//           the device on which it would end the soonest, waiting for the device and for inputs
//           from other devices, and the component with it. What is in bodies follows
//           (place_bodies.c)
//
// State has a device already (state_home.c). A node without inputs, or a broadcast, could be made
// anywhere; it waits for its first user and goes where that goes. Devices that have no room left
// are passed over. Initial values are computed where their state is.
#include "passes/cost.h"
#include "passes/feasible.h"
#include "passes/pass.h"
#include "passes/place_bodies.h"
#include "passes/rewrite.h"

enum { UNPLACED = UINT32_MAX };

typedef struct placer {
  leat_pass_context *context;
  leat_graph *graph;
  leat_cost_model cost;
  leat_feasible feasible;
  const bool *in_step;
  bool *initial;      // by node: placed because it serves an initial value
  uint32_t *device;   // by component
  double *finish;     // by node: when its results are there
  uint32_t *waiting;  // by node: uses still to come
  double *held;       // by node: bytes that its results take until then
  double *free_at;    // by device: when it can start something else
  double *used;       // by device: bytes of state, and of results that are still needed
  double *state_size; // by component: bytes of its states
} placer;

static uint32_t component_of(const placer *p, const leat_node *node) {
  return p->feasible.component[node->id];
}

static uint32_t device_of(const placer *p, const leat_node *node) {
  return p->device[component_of(p, node)];
}

static bool is_allowed(const placer *p, uint32_t component, uint32_t device) {
  return leat_device_set_has(p->feasible.set[component], device);
}

// -- Candidates ----------------------------------------------------------------------------

static bool has_room(const placer *p, uint32_t device, double bytes) {
  int64_t memory = p->context->devices[device].memory;
  return memory == 0 || p->used[device] + bytes <= (double)memory;
}

// Made where its first user is: sending it would cost more.
static bool waits_for_user(const leat_node *node) {
  bool local = node->info->flags & LEAT_FLAG_LOCAL;
  return local || (node->input_count == 0 && node->op != LEAT_OP_feed);
}

// When the result of `from` can be used on `device`. What waits for a user would be made there.
static double arrival(const placer *p, const leat_node *from, uint32_t device) {
  while (device_of(p, from) == UNPLACED && from->input_count) from = from->inputs[0].node;
  uint32_t source = device_of(p, from);
  if (source == UNPLACED) return 0;
  double bytes = leat_cost_result_bytes(from);
  return p->finish[from->id] + leat_cost_transfer(&p->cost, source, device, bytes);
}

// When `node` would end on `device`.
static double finish_on(const placer *p, const leat_node *node, leat_work work, uint32_t device) {
  double start = p->free_at[device];
  for (uint32_t i = 0; i < node->input_count; i++) {
    double ready = arrival(p, node->inputs[i].node, device);
    if (ready > start) start = ready;
  }
  for (uint32_t i = 0; i < node->control_count; i++) {
    double ready = arrival(p, node->controls[i], device);
    if (ready > start) start = ready;
  }
  return start + leat_cost_seconds(&p->cost, work, device);
}

static uint32_t best_device(const placer *p, const leat_node *node, leat_work work, double bytes) {
  uint32_t best = UNPLACED, component = component_of(p, node);
  double best_finish = 0;
  for (uint32_t i = 0; i < p->context->device_count; i++) {
    if (!is_allowed(p, component, i) || !has_room(p, i, bytes)) continue;
    double finish = finish_on(p, node, work, i);
    if (best != UNPLACED && finish >= best_finish) continue;
    best = i;
    best_finish = finish;
  }
  return best;
}

static leat_status report_full(const placer *p, const char *name, leat_span span, double bytes,
                               uint32_t component) {
  leat_error_at(p->context->diag, span, "no device that `%s` may be on has room for its %.0f bytes",
                name, bytes);
  for (uint32_t i = 0; i < p->context->device_count; i++)
    if (is_allowed(p, component, i))
      leat_note_at(p->context->diag, span, "%s: %.0f of %lld bytes are in use",
                   p->context->devices[i].name, p->used[i],
                   (long long)p->context->devices[i].memory);
  return LEAT_INVALID;
}

// -- The simulation ------------------------------------------------------------------------

static void settle(placer *p, uint32_t component, uint32_t device) {
  p->device[component] = device;
  p->used[device] += p->state_size[component];
}

// The device itself if the component may be there and fits, else the first that has room.
static leat_status settle_near(placer *p, uint32_t component, uint32_t device, const char *name,
                               leat_span span) {
  double bytes = p->state_size[component];
  if (p->device[component] != UNPLACED) return LEAT_OK;
  if (device == UNPLACED || !is_allowed(p, component, device) || !has_room(p, device, bytes)) {
    device = 0;
    while (device < p->context->device_count &&
           !(is_allowed(p, component, device) && has_room(p, device, bytes)))
      device++;
  }
  if (device == p->context->device_count) return report_full(p, name, span, bytes, component);
  settle(p, component, device);
  return LEAT_OK;
}

// What waited for `node`, and what that waited for, goes to its device.
static leat_status settle_inputs(placer *p, const leat_node *node, uint32_t device) {
  for (uint32_t i = 0; i < node->input_count; i++) {
    const leat_node *input = node->inputs[i].node;
    while (device_of(p, input) == UNPLACED) {
      p->finish[input->id] = arrival(p, input, device);
      LEAT_TRY(settle_near(p, component_of(p, input), device, input->name, input->span));
      if (input->input_count) input = input->inputs[0].node;
    }
  }
  return LEAT_OK;
}

static void release(placer *p, const leat_node *node) {
  if (--p->waiting[node->id] == 0) p->used[device_of(p, node)] -= p->held[node->id];
}

static leat_status place_node(placer *p, const leat_node *node) {
  uint32_t component = component_of(p, node);
  leat_work work = leat_cost_work(p->context->target, node);
  double result = leat_cost_result_bytes(node);
  if (waits_for_user(node) && p->device[component] == UNPLACED) return LEAT_OK;
  if (p->device[component] == UNPLACED) {
    double bytes = result + p->state_size[component];
    uint32_t device = best_device(p, node, work, bytes);
    if (device == UNPLACED) return report_full(p, node->name, node->span, bytes, component);
    settle(p, component, device);
  }
  uint32_t device = p->device[component];
  LEAT_TRY(settle_inputs(p, node, device));
  p->finish[node->id] = p->free_at[device] = finish_on(p, node, work, device);
  p->held[node->id] = p->waiting[node->id] ? result : 0;
  p->used[device] += p->held[node->id];
  for (uint32_t i = 0; i < node->input_count; i++) release(p, node->inputs[i].node);
  return LEAT_OK;
}

static void prepare(placer *p) {
  leat_arena *scratch = p->context->scratch;
  uint32_t nodes = p->graph->nodes.count, items = p->feasible.item_count;
  p->device = leat_new_array(scratch, uint32_t, items);
  p->state_size = leat_new_array(scratch, double, items);
  p->finish = leat_new_array(scratch, double, nodes);
  p->initial = leat_new_array(scratch, bool, nodes);
  p->waiting = leat_new_array(scratch, uint32_t, nodes);
  p->held = leat_new_array(scratch, double, nodes);
  p->free_at = leat_new_array(scratch, double, p->context->device_count);
  p->used = leat_new_array(scratch, double, p->context->device_count);
  for (uint32_t i = 0; i < items; i++) p->device[i] = UNPLACED;
  for (uint32_t i = 0; i < nodes; i++) {
    const leat_node *node = p->graph->nodes.items[i];
    for (uint32_t j = 0; p->in_step[i] && j < node->input_count; j++)
      p->waiting[node->inputs[j].node->id]++;
  }
  for (uint32_t i = 0; i < p->graph->states.count; i++)
    p->state_size[p->feasible.component[nodes + i]] +=
        leat_cost_bytes(&p->graph->states.items[i]->type);
}

// -- The result ----------------------------------------------------------------------------

// What only serves initial values is where the state is (for several states, where the first is;
// partition makes copies for the others).
static void place_initial(placer *p, const leat_state *state) {
  leat_vec(leat_node *) pending = {0};
  leat_arena *scratch = p->context->scratch;
  if (state->init.node) leat_vec_push(scratch, &pending, state->init.node);
  while (pending.count) {
    leat_node *node = pending.items[--pending.count];
    if (p->in_step[node->id] || p->initial[node->id]) continue;
    p->initial[node->id] = true;
    node->device = state->device;
    for (uint32_t i = 0; i < node->input_count; i++)
      leat_vec_push(scratch, &pending, node->inputs[i].node);
  }
}

static uint32_t client_device(const placer *p) {
  uint32_t device = 0;
  while (device < p->context->device_count &&
         p->context->devices[device].name != p->context->client_device)
    device++;
  return device < p->context->device_count ? device : UNPLACED;
}

// What nobody waited for is where the client is.
static leat_status write_devices(placer *p) {
  leat_graph *graph = p->graph;
  uint32_t client = client_device(p);
  for (uint32_t i = 0; i < graph->states.count; i++) {
    leat_state *state = graph->states.items[i];
    uint32_t component = p->feasible.component[graph->nodes.count + i];
    LEAT_TRY(settle_near(p, component, UNPLACED, state->name, state->span));
    state->device = p->context->devices[p->device[component]].name;
    place_initial(p, state);
  }
  for (uint32_t i = 0; i < graph->nodes.count; i++) {
    leat_node *node = graph->nodes.items[i];
    node->colocate = NULL;
    if (!p->in_step[i]) continue;
    LEAT_TRY(settle_near(p, component_of(p, node), client, node->name, node->span));
    node->device = p->context->devices[device_of(p, node)].name;
  }
  return leat_place_bodies(p->context, &p->feasible);
}

leat_status leat_pass_place(leat_pass_context *context) {
  placer p = {.context = context, .graph = context->graph};
  p.in_step = leat_step_nodes(context->graph, context->scratch);
  p.cost = leat_cost_model_create(context);
  LEAT_TRY(leat_find_feasible(context, p.in_step, &p.feasible));
  prepare(&p);
  for (uint32_t i = 0; i < p.graph->nodes.count; i++)
    if (p.in_step[i]) LEAT_TRY(place_node(&p, p.graph->nodes.items[i]));
  return write_devices(&p);
}
