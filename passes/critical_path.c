// One walk forwards for the earliest times, one backwards for the latest. Both ignore that a device
// does one thing at a time: they bound the true times from outside.
#include "passes/critical_path.h"

enum { MOST_STEPS_BACK = 256 };

typedef struct finder {
  const leat_cost_model *cost;
  const leat_graph *graph;
  const bool *in_step;
  const uint32_t *device;
  double *seconds; // by node id
  leat_critical_path path;
} finder;

static double transfer(const finder *f, const leat_node *from, const leat_node *to, double bytes) {
  return leat_cost_transfer(f->cost, f->device[from->id], f->device[to->id], bytes);
}

static void find_earliest(finder *f, const leat_node *node) {
  double start = 0, last_input = 0;
  for (uint32_t i = 0; i < node->input_count; i++) {
    leat_node *from = node->inputs[i].node;
    double end = f->path.earliest_end[from->id];
    double ready = end + transfer(f, from, node, leat_cost_bytes(leat_value_type(node->inputs[i])));
    if (ready > start) start = ready;
    bool local = f->device[from->id] == f->device[node->id];
    if (!local || end < last_input) continue;
    last_input = end;
    f->path.before[node->id] = from;
  }
  for (uint32_t i = 0; i < node->control_count; i++) {
    const leat_node *from = node->controls[i];
    double ready = f->path.earliest_end[from->id] + transfer(f, from, node, 0);
    if (ready > start) start = ready;
  }
  f->path.earliest_end[node->id] = start + f->seconds[node->id];
}

// Before: latest_start[node] is when it must have ended. Its inputs are bounded by it.
static void find_latest(finder *f, const leat_node *node) {
  double *latest = f->path.latest_start;
  latest[node->id] -= f->seconds[node->id];
  double start = latest[node->id];
  for (uint32_t i = 0; i < node->input_count; i++) {
    const leat_node *from = node->inputs[i].node;
    double end = start - transfer(f, from, node, leat_cost_bytes(leat_value_type(node->inputs[i])));
    if (end < latest[from->id]) latest[from->id] = end;
  }
  for (uint32_t i = 0; i < node->control_count; i++) {
    const leat_node *from = node->controls[i];
    double end = start - transfer(f, from, node, 0);
    if (end < latest[from->id]) latest[from->id] = end;
  }
}

leat_critical_path leat_critical_path_find(const leat_cost_model *cost, const bool *in_step,
                                           const uint32_t *device) {
  leat_arena *scratch = cost->context->scratch;
  const leat_graph *graph = cost->context->graph;
  uint32_t count = graph->nodes.count;
  finder f = {.cost = cost, .graph = graph, .in_step = in_step, .device = device};
  f.seconds = leat_new_array(scratch, double, count);
  f.path.earliest_end = leat_new_array(scratch, double, count);
  f.path.latest_start = leat_new_array(scratch, double, count);
  f.path.before = leat_new_array(scratch, leat_node *, count);
  double end = 0;
  for (uint32_t i = 0; i < count; i++) {
    if (!in_step[i]) continue;
    const leat_node *node = graph->nodes.items[i];
    f.seconds[i] = leat_cost_seconds(cost, leat_cost_work(cost->context->target, node), device[i]);
    find_earliest(&f, node);
    if (f.path.earliest_end[i] > end) end = f.path.earliest_end[i];
  }
  for (uint32_t i = 0; i < count; i++) f.path.latest_start[i] = end;
  for (uint32_t i = count; i-- > 0;)
    if (in_step[i]) find_latest(&f, graph->nodes.items[i]);
  return f.path;
}

// Code generation ends a kernel with it: waiting for it to be done splits no fused group.
static bool ends_kernel(const leat_node *node) {
  switch (node->info->kind) {
  case LEAT_KIND_REDUCE:
  case LEAT_KIND_SCATTER:
  case LEAT_KIND_CONTRACT:
  case LEAT_KIND_LIBRARY:
  case LEAT_KIND_HOST:
  case LEAT_KIND_REGION: return true;
  case LEAT_KIND_STRUCTURE:
  case LEAT_KIND_ELEMENT: return false;
  }
  return false;
}

leat_node *leat_critical_path_delay(const leat_critical_path *path, const leat_node *producer,
                                    const leat_node *user, double transfer_seconds) {
  // An element-wise user may share the kernel that its input ends; the one before that is safe.
  bool shared = user->info->kind == LEAT_KIND_ELEMENT;
  double latest = path->latest_start[user->id] - transfer_seconds;
  leat_node *node = path->before[user->id];
  for (int steps = 0; node && steps < MOST_STEPS_BACK; steps++, node = path->before[node->id]) {
    if (!ends_kernel(node)) continue;
    if (!shared && path->earliest_end[node->id] <= latest)
      return path->earliest_end[producer->id] < path->earliest_end[node->id] ? node : NULL;
    shared = false;
  }
  return NULL;
}
