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
// Every node's own copy is made first, so that its name is its own; then the walk in topological
// order connects the copies and lists them in their new order. Initial values of a device's
// state are computed there, from copies.
#include "passes/clone.h"
#include "passes/critical_path.h"
#include "passes/pass.h"
#include "passes/rewrite.h"

#include <stdlib.h>

typedef struct part {
  leat_cloner cloner;
  leat_vec(leat_node *) order;
  leat_node *token; // what is sent for control edges; NULL: none yet
} part;

// Which copy: of a node's output on a device that is not its own, or (port INITIAL) of a node for
// initial values there.
typedef struct copy_key {
  uint32_t node, port, device;
} copy_key;

enum { INITIAL = UINT32_MAX, CONTROL = UINT32_MAX - 1, BINDER = UINT32_MAX - 2 };

typedef struct partitioner {
  leat_pass_context *context;
  const leat_graph *graph;
  const bool *in_step;
  part *parts;           // by device
  uint32_t *device;      // by node id
  leat_node **home;      // by node id: the copy on the node's own device
  bool *listed;          // by node id: that copy is in its part's order
  leat_bytes_map copies; // copy_key → leat_node
  leat_cost_model cost;
  leat_critical_path path;
  uint32_t edges;
} partitioner;

static leat_node *find_copy(const partitioner *p, copy_key key) {
  return leat_bytes_map_get(&p->copies, &key, sizeof key);
}

static void keep_copy(partitioner *p, copy_key key, leat_node *copy) {
  leat_bytes_map_set(&p->copies, &key, sizeof key, copy);
}

static void list(partitioner *p, uint32_t device, leat_node *node) {
  leat_vec_push(p->context->arena, &p->parts[device].order, node);
}

static void list_home(partitioner *p, const leat_node *node) {
  if (p->listed[node->id]) return;
  p->listed[node->id] = true;
  list(p, p->device[node->id], p->home[node->id]);
}

// A copy on `device` besides the node's own, called as like it as possible.
static leat_node *extra_copy(partitioner *p, const leat_node *node, leat_entry *entry,
                             uint32_t device, const leat_value *inputs) {
  leat_cloner *cloner = &p->parts[device].cloner;
  leat_node renamed = *node;
  renamed.name = leat_graph_unique_name(cloner->to, node->name);
  renamed.entry = entry;
  leat_node *copy = leat_clone_node(cloner, &renamed, inputs);
  copy->device = p->context->devices[device].name;
  list(p, device, copy);
  return copy;
}

// -- Initial values ------------------------------------------------------------------------

static leat_node *initial_copy(partitioner *p, const leat_node *node, uint32_t device) {
  bool shared = node->input_count == 0 && p->in_step[node->id] && p->device[node->id] == device;
  if (shared) {
    list_home(p, node);
    return p->home[node->id];
  }
  copy_key key = {node->id, INITIAL, device};
  leat_node *copy = find_copy(p, key);
  if (copy) return copy;
  leat_vec(leat_value) inputs = {0};
  for (uint32_t i = 0; i < node->input_count; i++) {
    copy_key input = {node->inputs[i].node->id, INITIAL, device};
    leat_node *made = find_copy(p, input);
    if (!made) made = p->home[node->inputs[i].node->id];
    leat_vec_push(p->context->scratch, &inputs, (leat_value){made, node->inputs[i].port});
  }
  copy = extra_copy(p, node, node->entry, device, inputs.items);
  keep_copy(p, key, copy);
  return copy;
}

static int compare_ids(const void *a, const void *b) {
  uint32_t x = (*(leat_node *const *)a)->id, y = (*(leat_node *const *)b)->id;
  return x < y ? -1 : x > y;
}

// Copies what the initial value needs, inputs before users. `seen` by node id: the last state that
// met it.
static void copy_initial_value(partitioner *p, const leat_state *state, uint32_t device,
                               uint32_t *seen) {
  leat_vec(leat_node *) needed = {0};
  leat_arena *scratch = p->context->scratch;
  leat_state *copy = leat_clone_state(&p->parts[device].cloner, state);
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

// -- Edges between devices -----------------------------------------------------------------

static leat_node *new_node(partitioner *p, uint32_t device, leat_op op, const char *name,
                           const leat_node *like, const leat_value *input, const leat_attr *attrs) {
  leat_cloner *cloner = &p->parts[device].cloner;
  leat_node *node = leat_graph_append(cloner->to, op, leat_graph_unique_name(cloner->to, name),
                                      input, input ? 1 : 0, attrs);
  node->device = p->context->devices[device].name;
  node->entry = leat_clone_entry(cloner, like->entry);
  node->span = like->span;
  list(p, device, node);
  return node;
}

static const char *path_below(const partitioner *p, const leat_node *node, const char *last) {
  return leat_arena_printf(p->context->scratch, "%s/%s", node->name, last);
}

// A scalar that says no more than that it is there.
static leat_value token_of(partitioner *p, uint32_t device) {
  part *from = &p->parts[device];
  if (from->token) return (leat_value){from->token, 0};
  leat_arena *arena = p->context->arena;
  leat_type *type = leat_new(arena, leat_type);
  *type = leat_type_scalar(LEAT_bool);
  leat_tensor *yes = leat_new(arena, leat_tensor);
  *yes = (leat_tensor){.dtype = LEAT_bool, .data = leat_arena_memdup(arena, &(bool){true}, 1)};
  leat_attr value = {.tensor = yes};
  leat_node top = {0};
  from->token = new_node(p, device, LEAT_OP_const, "token", &top, NULL, &value);
  from->token->outputs = type;
  return (leat_value){from->token, 0};
}

static leat_node *local_binder(partitioner *p, const leat_node *binder, const leat_node *user);

// The binders, on the device of `user`, of the run-time dims of a recv with these attributes.
static leat_node_list local_binders(partitioner *p, const leat_attr *received,
                                    const leat_node *user) {
  leat_node recv = {.attrs = received};
  leat_node_set_op(&recv, LEAT_OP_recv);
  leat_node_list binders = {0};
  leat_node_find_binders(p->graph, &recv, p->context->scratch, &binders);
  for (uint32_t i = 0; i < binders.count; i++)
    binders.items[i] = local_binder(p, binders.items[i], user);
  return binders;
}

// Sends `value`, which is on producer's device, to that of `user`, who needs it first; answers the
// recv there. Both ends are named after `producer`.
static leat_node *connect(partitioner *p, const leat_node *producer, leat_value value,
                          const leat_node *user, leat_node **out_send) {
  uint32_t from = p->device[producer->id], to = p->device[user->id], edge = p->edges++;
  const leat_device_info *devices = p->context->devices;
  const leat_type *type = leat_value_type(value);
  leat_attr sent[] = {{.i = edge}, {.string = devices[to].name}};
  leat_attr received[] = {{.i = edge}, {.string = devices[from].name}, {.type = type}};
  leat_node_list binders = local_binders(p, received, user);
  *out_send =
      new_node(p, from, LEAT_OP_send, path_below(p, producer, "send"), producer, &value, sent);
  leat_node *recv =
      new_node(p, to, LEAT_OP_recv, path_below(p, producer, "recv"), user, NULL, received);
  recv->outputs = type;
  for (uint32_t i = 0; i < binders.count; i++)
    leat_node_add_control(p->parts[to].cloner.to, recv, binders.items[i]);
  double seconds = leat_cost_transfer(&p->cost, from, to, leat_cost_bytes(&p->cost, type));
  leat_node *delay = leat_critical_path_delay(&p->path, producer, user, seconds);
  if (delay) leat_node_add_control(p->parts[to].cloner.to, recv, p->home[delay->id]);
  return recv;
}

// Making it again costs less than sending it.
static bool is_cheap(const leat_node *node) {
  return node->info->flags & LEAT_FLAG_LOCAL && !node->control_count;
}

// The value on the device of its user. What is made there stands in the entry of its first user.
static leat_value local_value(partitioner *p, leat_value value, const leat_node *user) {
  uint32_t device = p->device[user->id];
  const leat_node *node = value.node;
  leat_value at_home = {p->home[node->id], value.port};
  if (p->device[node->id] == device) return at_home;
  copy_key key = {node->id, value.port, device};
  leat_node *copy = find_copy(p, key), *send;
  if (copy) return (leat_value){copy, 0};
  if (is_cheap(node)) {
    leat_value input = {0};
    if (node->input_count) input = local_value(p, node->inputs[0], user);
    copy = extra_copy(p, node, user->entry, device, &input);
  } else {
    copy = connect(p, node, at_home, user, &send);
  }
  keep_copy(p, key, copy);
  return (leat_value){copy, 0};
}

// What binds the dim on the device of `user`.
static leat_node *local_binder(partitioner *p, const leat_node *binder, const leat_node *user) {
  uint32_t device = p->device[user->id];
  if (p->device[binder->id] == device) return p->home[binder->id];
  copy_key key = {binder->id, BINDER, device};
  leat_node *copy = find_copy(p, key);
  if (copy) return copy;
  leat_value count = local_value(p, binder->inputs[0], user);
  copy = extra_copy(p, binder, user->entry, device, &count);
  keep_copy(p, key, copy);
  return copy;
}

// What one device tells a node elsewhere that waits for several of its nodes: that all have ended.
typedef struct token {
  leat_node *send;
  leat_vec(leat_node *) after;
} token;

// The recv that brings the end of `before` to the device of `user`, if there is one; what waits for
// several nodes of one device waits for one token, which is sent after them all. NULL: nothing to
// wait for.
static leat_node *remote_control(partitioner *p, token *tokens, const leat_node *before,
                                 const leat_node *user) {
  uint32_t from = p->device[before->id], to = p->device[user->id];
  if (before->op == LEAT_OP_bind) return local_binder(p, before, user);
  leat_node *recv = find_copy(p, (copy_key){before->id, 0, to});
  if (recv || (is_cheap(before) && !before->input_count)) return recv;
  recv = find_copy(p, (copy_key){before->id, CONTROL, to});
  if (recv) return recv;
  leat_vec_push(p->context->scratch, &tokens[from].after, p->home[before->id]);
  if (tokens[from].send) return NULL;
  recv = connect(p, before, token_of(p, from), user, &tokens[from].send);
  keep_copy(p, (copy_key){before->id, CONTROL, to}, recv);
  return recv;
}

static void connect_controls(partitioner *p, const leat_node *node) {
  leat_node *copy = p->home[node->id];
  leat_node **controls = leat_new_array(p->context->arena, leat_node *, node->control_count);
  token *tokens = NULL; // by device
  uint32_t count = 0;
  for (uint32_t i = 0; i < node->control_count; i++) {
    const leat_node *before = node->controls[i];
    leat_node *here = p->home[before->id];
    if (p->in_step[before->id] && p->device[before->id] != p->device[node->id]) {
      if (!tokens) tokens = leat_new_array(p->context->scratch, token, p->context->device_count);
      here = remote_control(p, tokens, before, node);
    }
    if (here) controls[count++] = here;
  }
  copy->controls = controls;
  copy->control_count = count;
  for (uint32_t i = 0; tokens && i < p->context->device_count; i++)
    if (tokens[i].send)
      leat_node_add_controls(p->parts[i].cloner.to, tokens[i].send, tokens[i].after.items,
                             tokens[i].after.count);
}

static void connect_inputs(partitioner *p, const leat_node *node) {
  for (uint32_t i = 0; i < node->input_count; i++)
    p->home[node->id]->inputs[i] = local_value(p, node->inputs[i], node);
  if (node->control_count) connect_controls(p, node);
}

// -- Checks --------------------------------------------------------------------------------

// Whether the part on the device has a value for all dims of the check; its binders there.
static bool has_dims(const partitioner *p, const leat_node *check, uint32_t device,
                     leat_node_list *binders) {
  leat_node_find_binders(p->graph, check, p->context->scratch, binders);
  for (uint32_t i = 0; i < binders->count; i++) {
    const leat_node *binder = binders->items[i];
    bool home = p->device[binder->id] == device;
    binders->items[i] =
        home ? p->home[binder->id] : find_copy(p, (copy_key){binder->id, BINDER, device});
    if (!binders->items[i]) return false;
  }
  return true;
}

// A part sizes memory by the dims that it has, so each checks all that it can.
static void copy_check(partitioner *p, const leat_node *check) {
  for (uint32_t device = 0; device < p->context->device_count; device++) {
    leat_node_list binders = {0};
    if (device == p->device[check->id] || !p->parts[device].order.count) continue;
    if (!has_dims(p, check, device, &binders)) continue;
    leat_node *copy = extra_copy(p, check, check->entry, device, NULL);
    leat_node_add_controls(p->parts[device].cloner.to, copy, binders.items, binders.count);
  }
}

// -- The pass ------------------------------------------------------------------------------

static void begin(partitioner *p) {
  leat_pass_context *context = p->context;
  leat_map numbers; // device name → 1 + its number
  leat_map_init(&numbers, context->scratch);
  p->parts = leat_new_array(context->scratch, part, context->device_count);
  for (uint32_t i = 0; i < context->device_count; i++) {
    leat_map_set(&numbers, context->devices[i].name, (void *)(uintptr_t)(i + 1));
    p->parts[i].cloner = leat_clone_begin(p->graph, context->arena, context->scratch);
    p->parts[i].cloner.to->device = context->devices[i].name;
  }
  p->device = leat_new_array(context->scratch, uint32_t, p->graph->nodes.count);
  p->home = leat_new_array(context->scratch, leat_node *, p->graph->nodes.count);
  p->listed = leat_new_array(context->scratch, bool, p->graph->nodes.count);
  leat_bytes_map_init(&p->copies, context->scratch);
  for (uint32_t i = 0; i < p->graph->nodes.count; i++) {
    const leat_node *node = p->graph->nodes.items[i];
    p->device[i] = (uint32_t)(uintptr_t)leat_map_get(&numbers, node->device) - 1;
    if (p->in_step[i])
      p->home[i] = leat_clone_node(&p->parts[p->device[i]].cloner, node, node->inputs);
  }
  uint32_t *seen = leat_new_array(context->scratch, uint32_t, p->graph->nodes.count);
  for (uint32_t i = 0; i < p->graph->states.count; i++) {
    const leat_state *state = p->graph->states.items[i];
    uint32_t device = (uint32_t)(uintptr_t)leat_map_get(&numbers, state->device) - 1;
    copy_initial_value(p, state, device, seen);
  }
}

static void finish(partitioner *p) {
  leat_pass_context *context = p->context;
  context->parts.count = 0;
  for (uint32_t i = 0; i < context->device_count; i++) {
    part *made = &p->parts[i];
    leat_graph *graph = made->cloner.to;
    if (!made->order.count && !graph->states.count) continue;
    graph->nodes.items = made->order.items;
    graph->nodes.count = made->order.count;
    graph->nodes.capacity = made->order.capacity;
    leat_clone_finish(&made->cloner);
    leat_vec_push(context->arena, &context->parts, graph);
  }
}

leat_status leat_pass_partition(leat_pass_context *context) {
  partitioner p = {.context = context, .graph = context->graph};
  uint32_t errors = leat_diag_errors(context->diag);
  p.in_step = leat_step_nodes(p.graph, context->scratch);
  begin(&p);
  p.cost = leat_cost_model_create(context);
  p.path = leat_critical_path_find(&p.cost, p.in_step, p.device);
  for (uint32_t i = 0; i < p.graph->nodes.count; i++) {
    if (!p.in_step[i]) continue;
    connect_inputs(&p, p.graph->nodes.items[i]);
    list_home(&p, p.graph->nodes.items[i]);
  }
  for (uint32_t i = 0; i < p.graph->nodes.count; i++)
    if (p.graph->nodes.items[i]->op == LEAT_OP_check_dims) copy_check(&p, p.graph->nodes.items[i]);
  finish(&p);
  return leat_diag_errors(context->diag) == errors ? LEAT_OK : LEAT_INVALID;
}
