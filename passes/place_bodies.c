// One walk over each body, outer ones first. What costs less to make again than to send goes where
// its first user is.
#include "passes/place_bodies.h"

#include "ops/cost.h"
#include "passes/growing.h"

typedef struct placer {
  const leat_pass_context *context;
  const leat_feasible *feasible;
} placer;

static bool waits_for_user(const leat_node *node) {
  return node->info->flags & LEAT_FLAG_LOCAL || (!node->input_count && !node->effect);
}

static bool is_allowed(const uint64_t *set, const leat_pass_context *context, const char *device) {
  for (uint32_t i = 0; set && i < context->device_count; i++)
    if (context->devices[i].name == device) return leat_device_set_has(set, i);
  return !set; // of what only serves initial values
}

// The device itself if the node may be there, else `home`, else the first where it may.
static const char *nearest(const placer *p, const leat_node *node, const char *device,
                           const char *home) {
  const uint64_t *set = leat_map_get(&p->feasible->in_bodies, node);
  if (is_allowed(set, p->context, device)) return device;
  if (is_allowed(set, p->context, home)) return home;
  uint32_t first = 0;
  while (!leat_device_set_has(set, first)) first++;
  return p->context->devices[first].name;
}

// Where most of what the node reads is made in the body.
static const char *most_read(const leat_node *node, const char *home) {
  const char *best = home;
  double most = -1;
  for (uint32_t i = 0; i < node->input_count; i++) {
    const leat_node *input = node->inputs[i].node;
    double bytes = leat_cost_bytes(leat_value_type(node->inputs[i]));
    if (leat_is_frame(input) || !input->device || bytes <= most) continue;
    most = bytes;
    best = input->device;
  }
  return best;
}

// What waited for a user, and what that waited for.
static void place_inputs(const placer *p, const leat_node *node, const char *device,
                         const char *home) {
  for (uint32_t i = 0; i < node->input_count; i++) {
    leat_node *input = node->inputs[i].node;
    while (!input->device) {
      input->device = nearest(p, input, device, home);
      if (input->input_count) input = input->inputs[0].node;
    }
  }
}

static bool place_bodies(const placer *p, const leat_node *node);

// -- What grows ----------------------------------------------------------------------------------

// False: reported.
static bool check_extents(const placer *p, const leat_node *node, const char *home) {
  const uint64_t *set = leat_map_get(&p->feasible->in_bodies, node);
  if (is_allowed(set, p->context, home)) return true;
  leat_error_at(p->context->diag, node->span,
                "this is put elsewhere and needs how much grows in `%s`, which only %s knows",
                node->graph->owner->name, home);
  return false;
}

// -- Bodies --------------------------------------------------------------------------------------

static bool place_node(const placer *p, leat_node *node, const char *home) {
  if (leat_needs_extents(node)) {
    node->device = home;
    if (!check_extents(p, node, home)) return false;
  } else if (node->op == LEAT_OP_parameter || waits_for_user(node)) {
    return true;
  } else if (!leat_is_frame(node)) {
    node->device = nearest(p, node, most_read(node, home), home);
  }
  place_inputs(p, node, node->device, home);
  return place_bodies(p, node);
}

static bool place_body(const placer *p, const leat_graph *body, const char *home) {
  for (uint32_t i = 0; i < body->nodes.count; i++) {
    leat_node *node = body->nodes.items[i];
    node->colocate = NULL;
    node->device = leat_is_frame(node) ? home : NULL;
    if (!place_node(p, node, home)) return false;
  }
  for (uint32_t i = 0; i < body->nodes.count; i++) {
    leat_node *node = body->nodes.items[i];
    if (!node->device) node->device = nearest(p, node, home, home); // nobody uses it
  }
  return true;
}

static bool place_bodies(const placer *p, const leat_node *node) {
  for (int i = 0; i < node->info->attr_count; i++)
    if (leat_node_body(node, i) && !place_body(p, node->attrs[i].body, node->device)) return false;
  return true;
}

leat_status leat_place_bodies(const leat_pass_context *context, const leat_feasible *feasible) {
  placer p = {context, feasible};
  for (uint32_t i = 0; i < context->graph->nodes.count; i++) {
    const leat_node *node = context->graph->nodes.items[i];
    if (node->device && !place_bodies(&p, node)) return LEAT_INVALID;
  }
  return LEAT_OK;
}
