// Each item's own set comes from its device constraint and from what devices can run; union-find
// joins the items that must be together (an operation and its state, a slot and its variable,
// `colocate`); a component's set is the intersection.
//
// Feeds and fetches are where the client is. An operation on state is where the state is,
// whatever `on` surrounds it.
#include "passes/feasible.h"

#include "ir/device_name.h"
#include "passes/growing.h"

#include <string.h>

typedef struct finder {
  const leat_pass_context *context;
  leat_graph *graph;
  const bool *in_step;
  uint32_t words;       // of a set
  leat_map constraints; // name → set
  const uint64_t *every;
  const uint64_t **own; // by item: its own set
  leat_feasible *result;
  bool failed;
} finder;

// -- Items ---------------------------------------------------------------------------------

static const leat_node *node_of(const finder *f, uint32_t item) {
  return item < f->graph->nodes.count ? f->graph->nodes.items[item] : NULL;
}

static const leat_state *state_of(const finder *f, uint32_t item) {
  return f->graph->states.items[item - f->graph->nodes.count];
}

static const char *item_name(const finder *f, uint32_t item) {
  return node_of(f, item) ? node_of(f, item)->name : state_of(f, item)->name;
}

static leat_span item_span(const finder *f, uint32_t item) {
  return node_of(f, item) ? node_of(f, item)->span : state_of(f, item)->span;
}

// What binds the item itself; NULL: nothing.
static const char *item_constraint(const finder *f, uint32_t item) {
  const leat_node *node = node_of(f, item);
  if (!node) return state_of(f, item)->device;
  if (node->op == LEAT_OP_feed || node->op == LEAT_OP_fetch) return f->context->client_device;
  return leat_node_state(node) ? NULL : node->device;
}

static bool is_placed(const finder *f, uint32_t item) {
  return !node_of(f, item) || f->in_step[item];
}

// -- Sets ----------------------------------------------------------------------------------

static uint64_t *new_set(finder *f) {
  return leat_new_array(f->context->scratch, uint64_t, f->words);
}

static void add_device(uint64_t *set, uint32_t device) {
  set[device / 64] |= (uint64_t)1 << (device % 64);
}

static bool is_empty(const finder *f, const uint64_t *set) {
  for (uint32_t i = 0; i < f->words; i++)
    if (set[i]) return false;
  return true;
}

static const uint64_t *intersection(finder *f, const uint64_t *a, const uint64_t *b) {
  if (a == b || b == f->every) return a;
  if (a == f->every) return b;
  uint64_t *both = new_set(f);
  for (uint32_t i = 0; i < f->words; i++) both[i] = a[i] & b[i];
  return both;
}

// The devices that satisfy a constraint; NULL when it is no device name.
static const uint64_t *devices_of(finder *f, const char *constraint) {
  if (!constraint) return f->every;
  const uint64_t *known = leat_map_get(&f->constraints, constraint);
  if (known) return known;
  leat_device_name wanted, device;
  if (!leat_device_name_parse(f->graph->strings, constraint, &wanted)) return NULL;
  uint64_t *set = new_set(f);
  for (uint32_t i = 0; i < f->context->device_count; i++) {
    const leat_device_info *info = &f->context->devices[i];
    if (info->on_request && !wanted.type) continue;
    if (info->name == constraint ||
        (leat_device_name_parse(f->graph->strings, info->name, &device) &&
         leat_device_name_satisfies(device, wanted)))
      add_device(set, i);
  }
  leat_map_set(&f->constraints, constraint, set);
  return set;
}

static const uint64_t *that_can_run(finder *f, const leat_node *node, const uint64_t *set) {
  uint64_t *able = NULL;
  for (uint32_t i = 0; i < f->context->device_count; i++) {
    const leat_device_info *device = &f->context->devices[i];
    const char *why;
    if (!device->feasible || !leat_device_set_has(set, i) || device->feasible(node, &why)) continue;
    if (!able) able = memcpy(new_set(f), set, f->words * sizeof *set);
    able[i / 64] &= ~((uint64_t)1 << (i % 64));
  }
  return able ? able : set;
}

// -- Reports -------------------------------------------------------------------------------

static const char *list_devices(const finder *f, const uint64_t *set) {
  enum { MOST_LISTED = 8 };
  const char *list = "";
  uint32_t listed = 0, count = 0;
  for (uint32_t i = 0; i < f->context->device_count; i++) {
    if (set && !leat_device_set_has(set, i)) continue;
    if (count++ >= MOST_LISTED) continue;
    list = leat_arena_printf(f->context->scratch, "%s%s%s", list, listed++ ? ", " : "",
                             f->context->devices[i].name);
  }
  if (count <= MOST_LISTED) return list;
  return leat_arena_printf(f->context->scratch, "%s and %u more", list, count - MOST_LISTED);
}

// What asks for a device.
typedef struct asker {
  const char *name, *constraint;
  leat_span span;
} asker;

static void report_no_name(finder *f, const asker *what) {
  f->failed = true;
  leat_error_at(f->context->diag, what->span,
                "`%s` is not a device name: [/job:NAME][/task:N][/device:TYPE[:N]]",
                what->constraint);
}

static void report_unsatisfied(finder *f, const asker *what) {
  f->failed = true;
  leat_error_at(f->context->diag, what->span,
                "no device satisfies `%s`, which `%s` asks for; there are: %s", what->constraint,
                what->name, list_devices(f, NULL));
}

static void report_unable(finder *f, const leat_node *node, const uint64_t *allowed) {
  f->failed = true;
  leat_error_at(f->context->diag, node->span, "no device can run `%s` (%s); allowed are: %s",
                node->name, leat_op_name(node->op), list_devices(f, allowed));
  for (uint32_t i = 0; i < f->context->device_count; i++) {
    const leat_device_info *device = &f->context->devices[i];
    const char *why = NULL;
    if (device->feasible && leat_device_set_has(allowed, i) && !device->feasible(node, &why) && why)
      leat_note_at(f->context->diag, node->span, "%s: %s", device->name, why);
  }
}

static const char *say_constraint(const finder *f, uint32_t item) {
  const char *constraint = item_constraint(f, item);
  return constraint ? constraint : list_devices(f, f->own[item]);
}

// `item` cannot be where an earlier item of its component must be.
static void report_contradiction(finder *f, uint32_t item) {
  uint32_t other = f->result->item_count;
  for (uint32_t i = 0; i < item; i++) {
    bool together = is_placed(f, i) && f->result->component[i] == f->result->component[item];
    if (!together || f->own[i] == f->every) continue;
    if (other == f->result->item_count) other = i; // if no two contradict, many do together
    if (!is_empty(f, intersection(f, f->own[i], f->own[item]))) continue;
    other = i;
    break;
  }
  f->failed = true;
  leat_error_at(f->context->diag, item_span(f, item),
                "`%s` must be on %s and share the device of `%s`, which must be on %s",
                item_name(f, item), say_constraint(f, item), item_name(f, other),
                say_constraint(f, other));
  leat_note_at(f->context->diag, item_span(f, other), "`%s` is bound here", item_name(f, other));
}

// -- Components ----------------------------------------------------------------------------

static uint32_t find(uint32_t *parent, uint32_t item) {
  while (parent[item] != item) item = parent[item] = parent[parent[item]];
  return item;
}

// The smaller number stands for both.
static void join(finder *f, uint32_t a, uint32_t b) {
  uint32_t *parent = f->result->component;
  a = find(parent, a);
  b = find(parent, b);
  if (a < b)
    parent[b] = a;
  else
    parent[a] = b;
}

// `node` may be in a body: what holds it is where all in it is.
static void join_named(finder *f, const leat_node *node) {
  const leat_node *target = leat_graph_find_node(f->graph, node->colocate);
  const leat_state *state = leat_graph_find_state(f->graph, node->colocate);
  uint32_t item = leat_node_outermost(node)->id;
  if (target) target = leat_node_outermost(target);
  if (target && f->in_step[target->id])
    join(f, item, target->id);
  else if (state)
    join(f, item, f->graph->nodes.count + state->id);
  else if (!target) {
    f->failed = true;
    leat_error_at(f->context->diag, node->span,
                  "`%s` is to share the device of `%s`, which is nothing", node->name,
                  node->colocate);
  }
}

static void join_body(void *context, leat_graph *body) {
  const finder *f = context;
  for (uint32_t i = 0; i < body->nodes.count; i++) {
    const leat_node *node = body->nodes.items[i];
    if (node->colocate && f->in_step[leat_node_outermost(node)->id]) join_named(context, node);
  }
}

static void join_all(finder *f) {
  leat_graph *graph = f->graph;
  leat_graph_visit(graph, join_body, f);
  for (uint32_t i = 0; i < graph->nodes.count; i++) {
    const leat_node *node = graph->nodes.items[i];
    if (!f->in_step[i]) continue;
    if (leat_node_state(node)) join(f, i, graph->nodes.count + leat_node_state(node)->id);
  }
  for (uint32_t i = 0; i < graph->states.count; i++) {
    const char *owner_name = graph->states.items[i]->slot_of;
    const leat_state *owner = owner_name ? leat_graph_find_state(graph, owner_name) : NULL;
    if (owner) join(f, graph->nodes.count + i, graph->nodes.count + owner->id);
  }
}

// The devices that the node may be on for its own sake; all of them after an error.
static const uint64_t *own_set(finder *f, const leat_node *node, const asker *what) {
  const uint64_t *allowed = devices_of(f, what->constraint);
  if (!allowed) {
    report_no_name(f, what);
    return f->every;
  }
  if (is_empty(f, allowed)) {
    report_unsatisfied(f, what);
    return f->every;
  }
  const uint64_t *able = node ? that_can_run(f, node, allowed) : allowed;
  if (!is_empty(f, able)) return able;
  report_unable(f, node, allowed);
  return f->every;
}

static const uint64_t *find_body_sets(finder *f, const leat_graph *body, const uint64_t *set);

// What of `own` all that is in the node's bodies may be on; if that is nothing, they go apart.
static const uint64_t *narrow_by_bodies(finder *f, const leat_node *node, const uint64_t *own) {
  const uint64_t *all = own;
  for (int i = 0; i < node->info->attr_count; i++)
    if (leat_node_body(node, i)) all = find_body_sets(f, node->attrs[i].body, all);
  return all;
}

// Of what is in the body; answers what of `set` all of it may be on.
static const uint64_t *find_body_sets(finder *f, const leat_graph *body, const uint64_t *set) {
  for (uint32_t i = 0; i < body->nodes.count; i++) {
    leat_node *node = body->nodes.items[i];
    if (leat_is_frame(node)) continue;
    asker what = {node->name, node->device, node->span};
    const uint64_t *own = own_set(f, node, &what), *all = narrow_by_bodies(f, node, own);
    bool bound = is_empty(f, all) || leat_needs_extents(node);
    leat_map_set(&f->result->in_bodies, node, (void *)(bound ? own : all));
    set = intersection(f, set, all);
  }
  return set;
}

static void find_own_set(finder *f, uint32_t item) {
  const leat_node *node = node_of(f, item);
  asker what = {item_name(f, item), item_constraint(f, item), item_span(f, item)};
  const uint64_t *own = own_set(f, node, &what), *all = own;
  if (node) all = narrow_by_bodies(f, node, own);
  f->own[item] = is_empty(f, all) ? own : all;
}

// Narrows the component's set by the item's; an empty intersection is reported once and left out.
static void narrow(finder *f, uint32_t item) {
  uint32_t root = f->result->component[item];
  const uint64_t *both = intersection(f, f->result->set[root], f->own[item]);
  if (is_empty(f, both))
    report_contradiction(f, item);
  else
    f->result->set[root] = both;
}

leat_status leat_find_feasible(const leat_pass_context *context, const bool *in_step,
                               leat_feasible *out) {
  leat_arena *scratch = context->scratch;
  uint32_t count = context->graph->nodes.count + context->graph->states.count;
  out->item_count = count;
  out->component = leat_new_array(scratch, uint32_t, count);
  out->set = leat_new_array(scratch, const uint64_t *, count);

  finder f = {.context = context, .graph = context->graph, .in_step = in_step, .result = out};
  f.words = (context->device_count + 63) / 64;
  f.own = leat_new_array(scratch, const uint64_t *, count);
  leat_map_init(&f.constraints, scratch);
  leat_map_init(&out->in_bodies, scratch);
  uint64_t *every = new_set(&f);
  for (uint32_t i = 0; i < context->device_count; i++)
    if (!context->devices[i].on_request) add_device(every, i);
  f.every = every;

  for (uint32_t i = 0; i < count; i++) {
    out->component[i] = i;
    out->set[i] = every;
  }
  join_all(&f);
  for (uint32_t i = 0; i < count; i++) {
    out->component[i] = find(out->component, i);
    if (!is_placed(&f, i)) continue;
    find_own_set(&f, i);
    narrow(&f, i);
  }
  return f.failed ? LEAT_INVALID : LEAT_OK;
}
