// Copies and the edges between them. What a device has is found by keys, so that a tensor goes once
// to each device.
#include "passes/parts.h"

#include "passes/growing.h"

leat_node *leat_parts_find(const leat_partitioner *p, leat_copy_key key) {
  return leat_bytes_map_get(&p->copies, &key, sizeof key);
}

void leat_parts_keep(leat_partitioner *p, leat_copy_key key, leat_node *copy) {
  leat_bytes_map_set(&p->copies, &key, sizeof key, copy);
}

void leat_parts_list(leat_partitioner *p, uint32_t device, leat_node *node) {
  leat_vec_push(p->context->arena, &p->parts[device].order, node);
}

void leat_parts_list_home(leat_partitioner *p, const leat_node *node) {
  if (p->listed[node->id]) return;
  p->listed[node->id] = true;
  leat_parts_list(p, p->device[node->id], p->home[node->id]);
}

leat_node *leat_parts_copy(leat_partitioner *p, const leat_node *node, leat_entry *entry,
                           uint32_t device, const leat_value *inputs) {
  leat_part *part = &p->parts[device];
  leat_node like = *node;
  like.entry = entry;
  leat_node *copy = leat_clone_node(part->cloner, part->graph, &like, inputs);
  copy->device = p->context->devices[device].name;
  leat_parts_list(p, device, copy);
  return copy;
}

bool leat_parts_is_cheap(const leat_node *node) {
  bool local = node->info->flags & LEAT_FLAG_LOCAL && !node->control_count;
  return local && !leat_needs_extents(node);
}

uint32_t leat_parts_home(const leat_partitioner *p, leat_value value) {
  const leat_spanning *spanning = p->spanning[value.node->id];
  return spanning ? spanning->home[value.port] : p->device[value.node->id];
}

// The node's copy on the device; NULL: it has none there.
static leat_node *copy_at(const leat_partitioner *p, const leat_node *node, uint32_t device) {
  const leat_spanning *spanning = p->spanning[node->id];
  if (spanning) return spanning->copies[device];
  return p->device[node->id] == device ? p->home[node->id] : NULL;
}

static leat_value value_at_home(const leat_partitioner *p, leat_value value) {
  const leat_spanning *spanning = p->spanning[value.node->id];
  if (!spanning) return (leat_value){p->home[value.node->id], value.port};
  return (leat_value){spanning->copies[spanning->home[value.port]], spanning->port[value.port]};
}

// -- Sending -------------------------------------------------------------------------------------

static leat_node *new_node(leat_partitioner *p, uint32_t device, leat_op op, const char *name,
                           const leat_node *like, const leat_value *input, const leat_attr *attrs) {
  leat_part *part = &p->parts[device];
  leat_node *node = leat_graph_append(part->graph, op, leat_graph_unique_name(part->graph, name),
                                      input, input ? 1 : 0, attrs);
  node->device = p->context->devices[device].name;
  node->entry = leat_clone_entry(part->cloner, like->entry);
  node->span = like->span;
  leat_parts_list(p, device, node);
  return node;
}

static const char *path_below(const leat_partitioner *p, const leat_node *node, const char *last) {
  return leat_arena_printf(p->context->scratch, "%s/%s", node->name, last);
}

// A scalar that says no more than that it is there.
static leat_value token_of(leat_partitioner *p, uint32_t device) {
  leat_part *from = &p->parts[device];
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

// The binders, on the device, of the run-time dims of a recv there with these attributes.
static leat_node_list local_binders(leat_partitioner *p, const leat_attr *received,
                                    const leat_node *user, uint32_t device) {
  leat_node recv = {.attrs = received};
  leat_node_set_op(&recv, LEAT_OP_recv);
  leat_node_list binders = {0}, there = {0};
  leat_node_find_binders(p->graph, &recv, p->context->scratch, &binders);
  for (uint32_t i = 0; i < binders.count; i++)
    leat_parts_list_binders(p, binders.items[i], user, device, &there);
  return there;
}

// The two devices of an edge.
typedef struct way {
  uint32_t from, to;
} way;

// The recv waits for what leat_critical_path_delay answers.
static void delay(leat_partitioner *p, leat_node *recv, const leat_node *producer,
                  const leat_node *user, way way) {
  if (!p->path || p->device[user->id] != way.to) return;
  double bytes = leat_cost_bytes(&recv->outputs[0]);
  double seconds = leat_cost_transfer(p->cost, way.from, way.to, bytes);
  const leat_node *before = leat_critical_path_delay(p->path, producer, user, seconds);
  leat_node *here = before ? copy_at(p, before, way.to) : NULL;
  if (here) leat_node_add_control(p->parts[way.to].graph, recv, here);
}

// Sends `value` to where `user` is the first that needs it; answers the recv there, which lags by
// so many. Both ends are named after `producer`.
static leat_node *connect(leat_partitioner *p, const leat_node *producer, leat_value value,
                          const leat_node *user, way way, int64_t lag, leat_node **out_send) {
  const leat_device_info *devices = p->context->devices;
  uint32_t edge = (*p->edges)++;
  const leat_type *type = leat_value_type(value);
  leat_attr sent[] = {{.i = edge}, {.string = devices[way.to].name}};
  leat_attr received[] = {
      {.i = edge}, {.string = devices[way.from].name}, {.type = type}, {.i = lag}};
  leat_node_list binders = local_binders(p, received, user, way.to);
  *out_send =
      new_node(p, way.from, LEAT_OP_send, path_below(p, producer, "send"), producer, &value, sent);
  leat_node *recv =
      new_node(p, way.to, LEAT_OP_recv, path_below(p, producer, "recv"), user, NULL, received);
  recv->outputs = type;
  for (uint32_t i = 0; i < binders.count; i++)
    leat_node_add_control(p->parts[way.to].graph, recv, binders.items[i]);
  delay(p, recv, producer, user, way);
  return recv;
}

// What is made there stands in the entry of its first user.
leat_value leat_parts_value(leat_partitioner *p, leat_value value, const leat_node *user,
                            uint32_t device) {
  const leat_node *node = value.node;
  if (node->op == LEAT_OP_parameter) return leat_spanning_parameter(p, node, device);
  leat_value at_home = value_at_home(p, value);
  uint32_t from = leat_parts_home(p, value);
  if (from == device) return at_home;
  leat_copy_key key = {node->id, value.port, device};
  leat_node *copy = leat_parts_find(p, key), *send;
  if (copy) return (leat_value){copy, 0};
  if (leat_parts_is_cheap(node)) {
    leat_value input = {0};
    if (node->input_count) input = leat_parts_value(p, node->inputs[0], user, device);
    copy = leat_parts_copy(p, node, user->entry, device, &input);
  } else {
    copy = connect(p, node, at_home, user, (way){from, device}, 0, &send);
  }
  leat_parts_keep(p, key, copy);
  return (leat_value){copy, 0};
}

// Dims of what a region lets grow are bound elsewhere one after the other; the last `bind`.
static leat_node *bind_growing(leat_partitioner *p, const leat_node *region, const leat_node *user,
                               uint32_t device) {
  uint32_t count, from = p->device[region->id];
  const leat_dim *dims = leat_node_binds(region, &count);
  leat_node *last = NULL, *send;
  for (uint32_t k = 0; k < count; k++) {
    leat_attr extent[] = {{.dim = dims[k]}, {.i = false}}, size = {.dim = dims[k]};
    leat_type *type = leat_new(p->context->arena, leat_type);
    *type = leat_type_scalar(LEAT_i64);
    leat_node *here =
        new_node(p, from, LEAT_OP_dim, path_below(p, region, "extent"), region, NULL, extent);
    here->outputs = type;
    leat_node_add_control(p->parts[from].graph, here, copy_at(p, region, from));
    leat_value there = {
        connect(p, region, (leat_value){here, 0}, user, (way){from, device}, 0, &send), 0};
    leat_node *bind =
        new_node(p, device, LEAT_OP_bind, path_below(p, region, "bind"), user, &there, &size);
    if (last) leat_node_add_control(p->parts[device].graph, bind, last);
    last = bind;
  }
  return last;
}

static leat_node *binder_on(leat_partitioner *p, const leat_node *binder, const leat_node *user,
                            uint32_t device) {
  if (p->device[binder->id] == device) return copy_at(p, binder, device);
  leat_copy_key key = {binder->id, LEAT_COPY_BINDER, device};
  leat_node *copy = leat_parts_find(p, key);
  if (copy) return copy;
  if (binder->op == LEAT_OP_bind) {
    leat_value count = leat_parts_value(p, binder->inputs[0], user, device);
    copy = leat_parts_copy(p, binder, user->entry, device, &count);
  } else {
    copy = bind_growing(p, binder, user, device);
  }
  leat_parts_keep(p, key, copy);
  return copy;
}

void leat_parts_list_binders(leat_partitioner *p, const leat_node *binder, const leat_node *user,
                             uint32_t device, leat_node_list *out) {
  leat_node *bind = binder_on(p, binder, user, device);
  bool several = p->device[binder->id] != device && binder->op != LEAT_OP_bind;
  while (bind) {
    leat_vec_push(p->context->scratch, out, bind);
    bind = several && bind->control_count ? bind->controls[0] : NULL;
  }
}

leat_node *leat_parts_token(leat_partitioner *p, const leat_node *like, uint32_t from, uint32_t to,
                            int64_t lag, leat_node **out_send) {
  return connect(p, like, token_of(p, from), like, (way){from, to}, lag, out_send);
}

// -- Control edges --------------------------------------------------------------------------------

// What one device tells a node elsewhere that waits for several of its nodes: that all have ended.
typedef struct token {
  leat_node *send;
  leat_node_list after;
} token;

// The recv that brings the end of `before` to where `user` is, if there is one; what waits for
// several nodes of one device waits for one token, which is sent after them all. NULL: nothing to
// wait for.
static leat_node *remote_control(leat_partitioner *p, token *tokens, const leat_node *before,
                                 const leat_node *user, way way) {
  bool whole = !p->spanning[before->id]; // else a result says nothing of the other results
  leat_copy_key key = {before->id, LEAT_COPY_CONTROL, way.to};
  leat_node *recv = whole ? leat_parts_find(p, (leat_copy_key){before->id, 0, way.to}) : NULL;
  if (recv || (leat_parts_is_cheap(before) && !before->input_count)) return recv;
  recv = whole ? leat_parts_find(p, key) : NULL;
  if (recv) return recv;
  token *sent = &tokens[way.from];
  leat_vec_push(p->context->scratch, &sent->after, copy_at(p, before, way.from));
  if (sent->send) return NULL;
  recv = connect(p, before, token_of(p, way.from), user, way, 0, &sent->send);
  if (whole) leat_parts_keep(p, key, recv);
  return recv;
}

// What `user` on the device waits for where `before` is; a region may be on several devices.
static void wait_for(leat_partitioner *p, token *tokens, const leat_node *before,
                     const leat_node *user, uint32_t device, leat_node_list *waits) {
  for (uint32_t from = 0; from < p->context->device_count; from++) {
    leat_node *wait = copy_at(p, before, from);
    if (!wait) continue;
    if (from != device) wait = remote_control(p, tokens, before, user, (way){from, device});
    if (wait) leat_vec_push(p->context->scratch, waits, wait);
  }
}

// A dim is bound on each device that has it.
static void wait_for_dim(leat_partitioner *p, const leat_node *binder, const leat_node *user,
                         uint32_t device, leat_node_list *waits) {
  if (p->spanning[user->id]) return; // each copy waits for its own dims
  leat_parts_list_binders(p, binder, user, device, waits);
}

void leat_parts_connect_controls(leat_partitioner *p, const leat_node *node, leat_node *copy,
                                 uint32_t device) {
  leat_node_list waits = {0};
  token *tokens = leat_new_array(p->context->scratch, token, p->context->device_count);
  for (uint32_t i = 0; i < node->control_count; i++) {
    const leat_node *before = node->controls[i];
    bool binds = before->op == LEAT_OP_bind || leat_region_lets_grow(before);
    if (binds) wait_for_dim(p, before, node, device, &waits);
    if (!binds || p->spanning[before->id]) wait_for(p, tokens, before, node, device, &waits);
  }
  leat_node_add_controls(p->parts[device].graph, copy, waits.items, waits.count);
  for (uint32_t i = 0; i < p->context->device_count; i++)
    if (tokens[i].send)
      leat_node_add_controls(p->parts[i].graph, tokens[i].send, tokens[i].after.items,
                             tokens[i].after.count);
}

// -- The walk ------------------------------------------------------------------------------------

static bool in_step(const leat_partitioner *p, const leat_node *node) {
  return !p->in_step || p->in_step[node->id];
}

// A parameter has no copy but on demand; what is yielded is for spanning.c to say.
void leat_parts_begin(leat_partitioner *p) {
  leat_arena *scratch = p->context->scratch;
  uint32_t count = p->graph->nodes.count;
  p->device = leat_new_array(scratch, uint32_t, count);
  p->home = leat_new_array(scratch, leat_node *, count);
  p->spanning = leat_new_array(scratch, leat_spanning *, count);
  p->listed = leat_new_array(scratch, bool, count);
  leat_bytes_map_init(&p->copies, scratch);
  for (uint32_t i = 0; i < count; i++) {
    const leat_node *node = p->graph->nodes.items[i];
    p->device[i] = (uint32_t)(uintptr_t)leat_map_get(p->numbers, node->device) - 1;
    if (!in_step(p, node) || leat_is_frame(node) || leat_is_spanning(node)) continue;
    const leat_part *part = &p->parts[p->device[i]];
    p->home[i] = leat_clone_node(part->cloner, part->graph, node, node->inputs);
  }
}

static void connect_node(leat_partitioner *p, const leat_node *node) {
  leat_node *copy = p->home[node->id];
  uint32_t device = p->device[node->id];
  for (uint32_t i = 0; i < node->input_count; i++)
    copy->inputs[i] = leat_parts_value(p, node->inputs[i], node, device);
  if (node->control_count) leat_parts_connect_controls(p, node, copy, device);
  leat_parts_list_home(p, node);
}

void leat_parts_connect(leat_partitioner *p) {
  for (uint32_t i = 0; i < p->graph->nodes.count; i++) {
    const leat_node *node = p->graph->nodes.items[i];
    if (!in_step(p, node) || leat_is_frame(node)) continue;
    if (leat_is_spanning(node))
      leat_spanning_connect(p, node);
    else
      connect_node(p, node);
  }
}

// -- Checks --------------------------------------------------------------------------------------

// Whether the part on the device has a value for all dims of the check; its binders there.
static bool has_dims(leat_partitioner *p, const leat_node *check, uint32_t device,
                     leat_node_list *binders) {
  leat_node_list needed = {0};
  leat_node_find_binders(p->graph, check, p->context->scratch, &needed);
  for (uint32_t i = 0; i < needed.count; i++) {
    const leat_node *binder = needed.items[i];
    leat_copy_key key = {binder->id, LEAT_COPY_BINDER, device};
    if (p->device[binder->id] != device && !leat_parts_find(p, key)) return false;
    leat_parts_list_binders(p, binder, check, device, binders);
  }
  return true;
}

static void copy_check(leat_partitioner *p, const leat_node *check) {
  for (uint32_t device = 0; device < p->context->device_count; device++) {
    leat_node_list binders = {0};
    if (device == p->device[check->id] || !p->parts[device].order.count) continue;
    if (!has_dims(p, check, device, &binders)) continue;
    leat_node *copy = leat_parts_copy(p, check, check->entry, device, NULL);
    leat_node_add_controls(p->parts[device].graph, copy, binders.items, binders.count);
  }
}

void leat_parts_copy_checks(leat_partitioner *p) {
  for (uint32_t i = 0; i < p->graph->nodes.count; i++)
    if (p->graph->nodes.items[i]->op == LEAT_OP_check_dims &&
        !leat_needs_extents(p->graph->nodes.items[i]))
      copy_check(p, p->graph->nodes.items[i]);
}
