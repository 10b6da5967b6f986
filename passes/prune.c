// prune: copies out of the session's graph what one Run executes.
//
//   needs   the session's graph in context->graph, the request in its terms; in it a read waits
//           for the last write of its state, and a write for that and for the reads since
//   refuses a named dim that no feed gives a value
//   places  what may fail while running has its place in the user's text
//   gives   what is fetched of a branch or a loop (passes/inside.h)
//   makes   a new graph in context->arena: feeds are `feed` nodes, what is fetched ends in `fetch`
//           nodes (parameters and results are named <entry>/<name> there when the Run has several
//           entries), each with its place among the step's feeds or fetches as `index`; entries
//           keep only parameters and effects; state has its device
//   keeps   with a region what it assigns: who takes a value of it finds the variables as it left
//           them
//   orders  nodes without an entry, then entry by entry as the Run gives them; operations on one
//           state are chained in that order by control edges, and a variable fetched by its name
//           is read after them all
//
// A control edge from a node with an effect keeps that node; from any other it only orders, and
// falls with the node. An edge that orders two operations on one state keeps the earlier one
// only for reads, and only inside an entry: statements at top level have had their effect when
// they were entered. The cost is that of the step, and a few bytes a node of the session's
// graph.
#include "ops/turns.h"
#include "passes/clone.h"
#include "passes/inside.h"
#include "passes/pass.h"
#include "passes/rewrite.h"
#include "passes/state_home.h"

#include <string.h>

// How much of a node the step needs.
typedef enum need {
  NEED_NOTHING,
  NEED_VALUE,
  NEED_HISTORY, // and the earlier effects on its state
} need;

typedef struct pruner {
  leat_pass_context *context;
  const leat_graph *session;
  const leat_step_request *request;
  uint8_t *needs;    // of the step, by id
  bool *initial;     // needed by a state's initial value, by id
  bool *fed;         // some output is fed, by id
  leat_map next;     // merge → leat_node_list: its next_iteration, or, wrongly, several
  leat_map *assigns; // region → leat_node_list: what it leaves in variables; NULL: not looked for
  bool *web;         // by id: it may be dead, or of a frame; NULL: nothing is
  leat_node **copies; // by id
  leat_value *feeds;  // `feed` nodes, in the order of request->feeds
  const char **homes; // by state id of the session's graph
  uint32_t fetches;   // made so far
  leat_cloner cloner;
  leat_vec(leat_node *) pending;
  leat_vec(leat_value) inputs; // of the node that is copied
} pruner;

static bool has_effect(const leat_node *node) {
  return node->effect;
}

static bool reads_state(const leat_node *node) {
  return node->op == LEAT_OP_read || node->op == LEAT_OP_assign_add;
}

// -- What the step needs -------------------------------------------------------------------

static const leat_value *find_feed(const pruner *p, leat_value value) {
  if (!p->fed[value.node->id]) return NULL;
  for (uint32_t i = 0; i < p->request->feeds.count; i++) {
    leat_value fed = p->request->feeds.items[i].value;
    if (fed.node == value.node && fed.port == value.port) return &p->feeds[i];
  }
  return NULL;
}

static void want_computed(pruner *p, leat_node *node, need level) {
  if (reads_state(node)) level = NEED_HISTORY;
  if (p->needs[node->id] >= level) return;
  p->needs[node->id] = (uint8_t)level;
  leat_vec_push(p->context->scratch, &p->pending, node);
}

static void want(pruner *p, leat_node *node, need level) {
  if (!p->fed[node->id] || node->output_count > 1) want_computed(p, node, level);
}

static void want_value(pruner *p, leat_value value) {
  if (!find_feed(p, value)) want(p, value.node, NEED_VALUE);
}

static void want_control(pruner *p, const leat_node *node, leat_node *before) {
  if (!has_effect(before) && !(p->web && p->web[before->id])) return;
  bool orders_state = leat_node_state(node) && leat_node_state(node) == leat_node_state(before);
  if (!orders_state)
    want(p, before, NEED_VALUE);
  else if (p->needs[node->id] == NEED_HISTORY && node->entry && node->entry == before->entry)
    want(p, before, NEED_HISTORY);
}

static void add_to_list(pruner *p, leat_map *map, const leat_node *key, leat_node *node) {
  leat_node_list *list = leat_map_get(map, key);
  if (!list) {
    list = leat_new(p->context->scratch, leat_node_list);
    leat_map_set(map, key, list);
  }
  leat_vec_push(p->context->scratch, list, node);
}

static void find_assigns(pruner *p) {
  if (p->assigns) return;
  p->assigns = leat_new(p->context->scratch, leat_map);
  leat_map_init(p->assigns, p->context->scratch);
  for (uint32_t i = 0; i < p->session->nodes.count; i++) {
    leat_node *node = p->session->nodes.items[i];
    if (node->op == LEAT_OP_assign && node->inputs[0].node->info->kind == LEAT_KIND_REGION)
      add_to_list(p, p->assigns, node->inputs[0].node, node);
  }
}

// What it prints happens because it runs, and so does what it assigns.
static void want_assigns(pruner *p, const leat_node *region) {
  find_assigns(p);
  const leat_node_list *list = leat_map_get(p->assigns, region);
  for (uint32_t i = 0; list && i < list->count; i++) want(p, list->items[i], NEED_VALUE);
}

static void want_ancestors(pruner *p) {
  while (p->pending.count) {
    const leat_node *node = p->pending.items[--p->pending.count];
    for (uint32_t i = 0; i < node->input_count; i++) want_value(p, node->inputs[i]);
    for (uint32_t i = 0; i < node->control_count; i++) want_control(p, node, node->controls[i]);
    if (node->info->kind == LEAT_KIND_REGION) want_assigns(p, node);
    const leat_node_list *next = p->web ? leat_map_get(&p->next, node) : NULL;
    for (uint32_t i = 0; next && i < next->count; i++) want(p, next->items[i], NEED_VALUE);
  }
}

static bool is_in_web(const pruner *p, const leat_node *node) {
  bool in = leat_op_last_phase(node->op) < LEAT_PHASE_RAISED;
  for (uint32_t i = 0; i < node->input_count && !in; i++) in = p->web[node->inputs[i].node->id];
  for (uint32_t i = 0; i < node->control_count && !in; i++) in = p->web[node->controls[i]->id];
  return in;
}

// Where primitives of control flow stand (passes/raise.h) a back edge goes to what is needed, and
// what runs after a dead node is dead, too.
static void find_web(pruner *p) {
  const leat_graph *session = p->session;
  uint32_t first = 0;
  while (first < session->nodes.count &&
         leat_op_last_phase(session->nodes.items[first]->op) >= LEAT_PHASE_RAISED)
    first++;
  if (first == session->nodes.count) return;
  p->web = leat_new_array(p->context->scratch, bool, session->nodes.count);
  leat_map_init(&p->next, p->context->scratch);
  for (uint32_t i = first; i < session->nodes.count; i++) {
    leat_node *node = session->nodes.items[i];
    p->web[i] = is_in_web(p, node);
    if (node->op == LEAT_OP_next_iteration) add_to_list(p, &p->next, node->inputs[1].node, node);
  }
}

static void want_request(pruner *p) {
  const leat_step_request *request = p->request;
  for (uint32_t i = 0; i < request->entries.count; i++) {
    const leat_entry *entry = request->entries.items[i];
    for (uint32_t j = 0; j < entry->params.count; j++)
      want(p, entry->params.items[j].node, NEED_VALUE);
    for (uint32_t j = 0; j < entry->results.count; j++)
      want_value(p, entry->results.items[j].value);
    for (uint32_t j = 0; j < entry->effects.count; j++)
      want(p, entry->effects.items[j], NEED_VALUE);
  }
  for (uint32_t i = 0; i < request->fetches.count; i++) {
    leat_value value = request->fetches.items[i].value;
    if (leat_is_inside(value))
      want_computed(p, (leat_node *)leat_node_outermost(value.node), NEED_VALUE);
    else if (value.node)
      want_value(p, value);
  }
  for (uint32_t i = 0; i < request->runs.count; i++) want(p, request->runs.items[i], NEED_VALUE);
  want_ancestors(p);
}

// Marks what the initial value of `state` is computed from.
static leat_status want_initial(pruner *p, const leat_state *state) {
  if (!state->init.node) return LEAT_OK;
  leat_vec_push(p->context->scratch, &p->pending, state->init.node);
  while (p->pending.count) {
    leat_node *node = p->pending.items[--p->pending.count];
    if (p->initial[node->id]) continue;
    p->initial[node->id] = true;
    if (p->fed[node->id]) {
      leat_error_at(p->context->diag, node->span,
                    "`%s` cannot be fed: the initial value of `%s` is computed from it", node->name,
                    state->name);
      return LEAT_INVALID;
    }
    for (uint32_t i = 0; i < node->input_count; i++)
      leat_vec_push(p->context->scratch, &p->pending, node->inputs[i].node);
  }
  return LEAT_OK;
}

// What a parameter or result is called outside: the entry's name comes first when there are
// several.
static const char *port_name(const pruner *p, const leat_entry *entry, const char *name) {
  bool several = p->request->entries.count > 1;
  return leat_intern_path(p->session->strings, several ? entry->name : "", name);
}

// -- Copies --------------------------------------------------------------------------------

static leat_state *copy_state(pruner *p, const leat_state *state) {
  leat_state *copy = leat_clone_state(&p->cloner, state);
  copy->device = p->homes[state->id];
  return copy;
}

static uint32_t count_params(const pruner *p) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < p->request->entries.count; i++)
    count += p->request->entries.items[i]->params.count;
  return count;
}

static void copy_feeds(pruner *p) {
  for (uint32_t i = 0; i < p->request->feeds.count; i++) {
    leat_value fed = p->request->feeds.items[i].value;
    leat_graph *to = p->cloner.to;
    leat_attr attrs[] = {
        {.string = p->request->feeds.items[i].name},
        {.i = count_params(p) + i},
        {.type = leat_arena_memdup(to->arena, leat_value_type(fed), sizeof(leat_type))},
        {.i = false}};
    const char *name = fed.node->name; // free: a node whose only output is fed is not copied
    if (fed.node->output_count > 1) {  // by its port, for others of the node may be fed too
      const char *path = leat_intern_printf(to->strings, "%s/feed_%u", name, fed.port);
      name = leat_graph_unique_name(p->context->graph, path);
    }
    leat_node *feed = leat_graph_append(to, LEAT_OP_feed, name, NULL, 0, attrs);
    feed->outputs = attrs[2].type;
    feed->entry = leat_clone_entry(&p->cloner, fed.node->entry);
    feed->span = fed.node->span;
    p->feeds[i] = (leat_value){feed, 0};
  }
}

static leat_value copy_of(const pruner *p, leat_value value) {
  const leat_value *feed = find_feed(p, value);
  return feed ? *feed : (leat_value){p->copies[value.node->id], value.port};
}

static bool has_entry(const leat_step_request *step, const leat_entry *entry) {
  for (uint32_t i = 0; i < step->entries.count; i++)
    if (step->entries.items[i] == entry) return true;
  return false;
}

bool leat_step_fetches_run(const leat_step_request *step, const leat_node *node) {
  return node->op == LEAT_OP_fetch && !has_entry(step, node->entry);
}

static bool is_requested(const pruner *p, const leat_entry *entry) {
  return has_entry(p->request, entry);
}

static void name_param(pruner *p, const leat_param *param, const char *name, uint32_t index) {
  leat_node *copy = p->copies[param->node->id];
  if (!copy) return;
  leat_node_set_attr(p->cloner.to, copy, "name", (leat_attr){.string = name});
  leat_node_set_attr(p->cloner.to, copy, "index", (leat_attr){.i = index});
}

static leat_status name_default(pruner *p, const leat_entry *entry, const leat_param *param,
                                uint32_t index) {
  const leat_node *node = param->node;
  if (p->copies[node->id] && !param->fallback) {
    leat_error_at(p->context->diag, node->span,
                  "`%s` must be fed: this Run needs it and does not execute the entry `%s`",
                  node->name, entry->name);
    return LEAT_INVALID;
  }
  name_param(p, param, node->name, index);
  return LEAT_OK;
}

// A feed that is no parameter: the session has its value.
static bool is_held(const pruner *p, const leat_node *node) {
  return node->op == LEAT_OP_feed && !node->entry && p->copies[node->id];
}

// The order of the feeds: parameters as the Run gives the entries, then what is fed by its name,
// then parameters of other entries, which must have defaults, then what the session holds.
static leat_status name_params(pruner *p) {
  uint32_t index = 0;
  for (uint32_t i = 0; i < p->request->entries.count; i++) {
    const leat_entry *entry = p->request->entries.items[i];
    for (uint32_t j = 0; j < entry->params.count; j++)
      name_param(p, &entry->params.items[j], port_name(p, entry, entry->params.items[j].name),
                 index++);
  }
  index += p->request->feeds.count;
  for (uint32_t i = 0; i < p->cloner.entries.count; i++) {
    const leat_entry *entry = p->cloner.entries.entries[i].key;
    for (uint32_t j = 0; !is_requested(p, entry) && j < entry->params.count; j++)
      LEAT_TRY(name_default(p, entry, &entry->params.items[j], index++));
  }
  for (uint32_t i = 0; i < p->session->nodes.count; i++)
    if (is_held(p, p->session->nodes.items[i]))
      leat_node_set_attr(p->cloner.to, p->copies[i], "index", (leat_attr){.i = index++});
  return LEAT_OK;
}

// Whatever a dump says that is read again: who runs the step gives its memory away, or does not.
static void mark_donated(const pruner *p) {
  const leat_graph *graph = p->cloner.to;
  for (uint32_t i = 0; i < graph->nodes.count; i++) {
    leat_node *feed = graph->nodes.items[i];
    bool donated = false;
    if (feed->op != LEAT_OP_feed) continue;
    for (uint32_t k = 0; k < p->request->donated.count; k++)
      donated |= p->request->donated.items[k] == leat_node_attr(feed, "index")->i;
    leat_node_set_attr(p->cloner.to, feed, "donated", (leat_attr){.i = donated});
  }
}

static void copy_node(pruner *p, const leat_node *node) {
  p->inputs.count = 0;
  for (uint32_t i = 0; i < node->input_count; i++)
    leat_vec_push(p->context->scratch, &p->inputs, copy_of(p, node->inputs[i]));
  if (leat_node_state(node)) copy_state(p, leat_node_state(node));
  leat_node *copy = p->copies[node->id] =
      leat_clone_node(&p->cloner, p->cloner.to, node, p->inputs.items);
  // What they counted by may be fed.
  if (p->request->feeds.count) leat_node_set_turns(copy);
  copy->controls = node->controls; // the originals, until set_controls
  copy->control_count = node->control_count;
}

// -- Results -------------------------------------------------------------------------------

// A node's name has no `:`.
static const char *fetch_path(const pruner *p, const char *name) {
  char *path = leat_arena_strndup(p->context->scratch, name, strlen(name));
  for (char *at = path; (at = strchr(at, ':'));) *at = '_';
  return leat_graph_unique_name(p->cloner.to, leat_intern_path(p->session->strings, "fetch", path));
}

static void fetch(pruner *p, leat_entry *entry, const char *name, leat_value value,
                  leat_span span) {
  leat_graph *to = p->cloner.to;
  leat_attr attrs[] = {{.string = name}, {.i = p->fetches++}};
  const char *path = fetch_path(p, name);
  leat_node *node = leat_graph_append(to, LEAT_OP_fetch, path, &value, 1, attrs);
  node->entry = entry;
  node->span = span;
}

// A fetch that stands in the text is one of the step's.
static void number_fetch(pruner *p, const leat_node *node) {
  leat_node_set_attr(p->cloner.to, p->copies[node->id], "index", (leat_attr){.i = p->fetches++});
}

// The entry's results, then the fetches that are written in it.
static void fetch_results(pruner *p, const leat_entry *entry) {
  for (uint32_t i = 0; i < entry->results.count; i++) {
    const leat_result *result = &entry->results.items[i];
    fetch(p, leat_clone_entry(&p->cloner, entry), port_name(p, entry, result->name),
          copy_of(p, result->value), result->value.node->span);
  }
  for (uint32_t i = 0; i < entry->effects.count; i++)
    if (entry->effects.items[i]->op == LEAT_OP_fetch) number_fetch(p, entry->effects.items[i]);
}

// A read of a variable that is fetched by its name; it stands in the last entry and is chained
// after the others.
static leat_value read_at_the_end(pruner *p, const leat_state *state, leat_entry *last) {
  leat_graph *to = p->cloner.to;
  leat_attr attr = {.state = copy_state(p, state)};
  const char *path =
      leat_graph_unique_name(to, leat_intern_printf(to->strings, "fetch/%s/read", state->name));
  leat_node *read = leat_graph_append(to, LEAT_OP_read, path, NULL, 0, &attr);
  read->outputs = leat_arena_memdup(to->arena, &state->type, sizeof(leat_type));
  read->entry = last;
  read->span = state->span;
  return (leat_value){read, 0};
}

// A copied body has its nodes in the same order.
static leat_value copy_inside(const pruner *p, leat_value value) {
  const leat_node *owner = value.node->graph->owner;
  if (!owner) return (leat_value){p->copies[value.node->id], value.port};
  const leat_node *copy = copy_inside(p, (leat_value){(leat_node *)owner, 0}).node;
  int i = 0;
  while (leat_node_body(owner, i) != value.node->graph) i++;
  return (leat_value){leat_node_body(copy, i)->nodes.items[value.node->id], value.port};
}

// Before any of them makes its bodies other ones.
static leat_value *find_inside(const pruner *p) {
  uint32_t count = p->request->fetches.count;
  leat_value *values = leat_new_array(p->context->scratch, leat_value, (size_t)count + 1);
  for (uint32_t i = 0; i < count; i++) {
    leat_value value = p->request->fetches.items[i].value;
    if (leat_is_inside(value)) values[i] = copy_inside(p, value);
  }
  return values;
}

static void fetch_others(pruner *p) {
  leat_graph *to = p->cloner.to;
  leat_entry *last = to->entries.count ? to->entries.items[to->entries.count - 1] : NULL;
  const leat_value *inside = find_inside(p);
  for (uint32_t i = 0; i < p->request->fetches.count; i++) {
    const leat_wanted *wanted = &p->request->fetches.items[i];
    if (wanted->value.node) {
      leat_value value = inside[i].node ? leat_inside_take(p->context, to, wanted, inside[i])
                                        : copy_of(p, wanted->value);
      fetch(p, value.node->entry, wanted->name, value, value.node->span);
    } else {
      const leat_state *state = leat_graph_find_state(p->session, wanted->name);
      fetch(p, last, wanted->name, read_at_the_end(p, state, last), state->span);
    }
  }
  for (uint32_t i = 0; i < p->request->runs.count; i++)
    if (leat_step_fetches_run(p->request, p->request->runs.items[i]))
      number_fetch(p, p->request->runs.items[i]);
}

// -- Order ---------------------------------------------------------------------------------

// Nodes without an entry first, then entry by entry; within each as they are.
static void group_by_entry(pruner *p) {
  leat_graph *to = p->cloner.to;
  uint32_t groups = to->entries.count + 1,
           *starts = leat_new_array(p->context->scratch, uint32_t, groups + 1);
  uint32_t *group_of = leat_new_array(p->context->scratch, uint32_t, to->nodes.count);
  leat_map numbers;
  leat_map_init(&numbers, p->context->scratch);
  for (uint32_t i = 0; i < to->entries.count; i++)
    leat_map_set(&numbers, to->entries.items[i], (void *)(uintptr_t)(i + 1));
  for (uint32_t i = 0; i < to->nodes.count; i++) {
    group_of[i] = (uint32_t)(uintptr_t)leat_map_get(&numbers, to->nodes.items[i]->entry);
    starts[group_of[i] + 1]++;
  }
  for (uint32_t i = 0; i < groups; i++) starts[i + 1] += starts[i];
  leat_node **sorted = leat_new_array(to->arena, leat_node *, to->nodes.count);
  for (uint32_t i = 0; i < to->nodes.count; i++) sorted[starts[group_of[i]]++] = to->nodes.items[i];
  to->nodes.items = sorted;
  to->nodes.capacity = to->nodes.count;
  leat_graph_renumber(to);
}

// What was done to a state so far.
typedef struct chain {
  leat_node *write;            // the last one
  leat_vec(leat_node *) reads; // since then
} chain;

// `seen` has, by node id, 1 + the id of the last node that it is a control input of.
typedef struct controller {
  pruner *p;
  chain *chains; // by state id
  uint32_t *seen;
  leat_vec(leat_node *) controls;
} controller;

static void add_control(controller *c, const leat_node *node, leat_node *before) {
  if (!before || before == node || c->seen[before->id] == node->id + 1) return;
  c->seen[before->id] = node->id + 1;
  leat_vec_push(c->p->context->scratch, &c->controls, before);
}

static void extend_chain(controller *c, leat_node *node) {
  chain *state = &c->chains[leat_node_state(node)->id];
  add_control(c, node, state->write);
  if (!has_effect(node)) {
    leat_vec_push(c->p->context->scratch, &state->reads, node);
    return;
  }
  for (uint32_t i = 0; i < state->reads.count; i++) add_control(c, node, state->reads.items[i]);
  state->reads.count = 0;
  state->write = node;
}

// The control edges of a copy are those of its original that are still there, and those of its
// state's chain; what was made for a fetch has its own.
static void set_controls(pruner *p) {
  leat_graph *to = p->cloner.to;
  controller c = {.p = p};
  c.chains = leat_new_array(p->context->scratch, chain, to->states.count);
  c.seen = leat_new_array(p->context->scratch, uint32_t, to->nodes.count);
  for (uint32_t i = 0; i < to->nodes.count; i++) {
    leat_node *node = to->nodes.items[i];
    c.controls.count = 0;
    for (uint32_t j = 0; j < node->control_count; j++) {
      leat_node *before = node->controls[j];
      add_control(&c, node, before->graph == to ? before : p->copies[before->id]);
    }
    if (leat_node_state(node)) extend_chain(&c, node);
    node->control_count = c.controls.count;
    node->controls = leat_new_array(to->arena, leat_node *, c.controls.count);
    for (uint32_t j = 0; j < c.controls.count; j++) node->controls[j] = c.controls.items[j];
  }
}

static bool is_sorted(const leat_graph *graph) {
  for (uint32_t i = 0; i < graph->nodes.count; i++) {
    const leat_node *node = graph->nodes.items[i];
    for (uint32_t j = 0; j < node->input_count; j++)
      if (node->inputs[j].node->id >= i) return false;
    for (uint32_t j = 0; j < node->control_count; j++)
      if (node->controls[j]->id >= i) return false;
  }
  return true;
}

static leat_status sort(pruner *p) {
  leat_node *culprit;
  if (is_sorted(p->cloner.to) || leat_graph_sort(p->cloner.to, &culprit)) return LEAT_OK;
  leat_error_at(p->context->diag, culprit->span,
                "`%s` would have to run before and after itself: the entries of this Run cannot be "
                "executed in the order given",
                culprit->name);
  return LEAT_INVALID;
}

// -- Devices -------------------------------------------------------------------------------

// What shares its device with something that the step has not takes over the constraints of that.
static void inherit_constraints(pruner *p, leat_node *node) {
  enum { MOST_STEPS = 64 }; // colocation may run in a circle
  leat_graph *to = p->cloner.to;
  for (int step = 0; node->colocate && step < MOST_STEPS; step++) {
    if (leat_graph_find_node(to, node->colocate) || leat_graph_find_state(to, node->colocate))
      return;
    const leat_node *target = leat_graph_find_node(p->session, node->colocate);
    const leat_state *state = leat_graph_find_state(p->session, node->colocate);
    if (!target && !state) return; // place says so
    leat_constrain_device(to, node, target ? target->device : p->homes[state->id]);
    node->colocate = target ? target->colocate : NULL;
  }
}

// -- Places --------------------------------------------------------------------------------

// Where in the user's text stands what may fail while running: spans end with the session's texts,
// places go on into other processes and files.
static void find_places_in(void *context, leat_graph *graph) {
  const pruner *p = context;
  for (uint32_t i = 0; i < graph->nodes.count; i++) {
    leat_node *node = graph->nodes.items[i];
    if (!node->place && (node->op == LEAT_OP_feed || leat_node_may_fail(node)))
      node->place = leat_place_of(p->context, node->span);
  }
}

static void find_places(pruner *p) {
  leat_graph *to = p->cloner.to;
  leat_graph_visit(to, find_places_in, p);
  for (uint32_t i = 0; i < to->states.count; i++) {
    leat_state *state = to->states.items[i];
    if (!state->place && !state->init.node) state->place = leat_place_of(p->context, state->span);
  }
}

// -- Dims ----------------------------------------------------------------------------------

typedef struct unbound {
  const bool *bound; // by atom id
  const leat_atom *atom;
} unbound;

static void see_atom(void *context, const leat_atom *atom) {
  unbound *found = context;
  if (atom->kind == LEAT_ATOM_NAMED && !found->bound[atom->id]) found->atom = atom;
}

static void see_type(unbound *found, const leat_type *type) {
  for (int32_t i = 0; i < type->rank; i++) leat_dim_visit(type->dims[i], see_atom, found);
}

static void see_node(unbound *found, const leat_node *node) {
  const leat_op_info *info = node->info;
  for (uint32_t i = 0; i < node->output_count; i++) see_type(found, &node->outputs[i]);
  for (int i = 0; i < info->attr_count; i++) {
    const leat_graph *body = leat_node_body(node, i);
    if (info->attrs[i].kind == LEAT_ATTR_DIM) leat_dim_visit(node->attrs[i].dim, see_atom, found);
    for (uint32_t j = 0; body && j < body->nodes.count; j++) see_node(found, body->nodes.items[j]);
  }
}

// A named dim has the value that an axis of a feed has which is that dim alone.
static leat_status check_dims(pruner *p) {
  leat_graph *to = p->cloner.to;
  bool *bound = leat_new_array(p->context->scratch, bool, leat_dims_atom_count(to->dims));
  for (uint32_t i = 0; i < to->nodes.count; i++) {
    const leat_node *node = to->nodes.items[i];
    for (int32_t k = 0; node->op == LEAT_OP_feed && k < node->outputs[0].rank; k++) {
      const leat_atom *atom = leat_dim_atom(node->outputs[0].dims[k]);
      if (atom) bound[atom->id] = true;
    }
  }
  unbound found = {.bound = bound};
  for (uint32_t i = 0; i < to->nodes.count && !found.atom; i++) {
    see_node(&found, to->nodes.items[i]);
    if (found.atom)
      leat_error_at(p->context->diag, to->nodes.items[i]->span,
                    "no axis that is fed is the dim `%s`, so that it has no value; a dim that is "
                    "known only while running is written `?`",
                    found.atom->name);
  }
  return found.atom ? LEAT_INVALID : LEAT_OK;
}

// -- The pass ------------------------------------------------------------------------------

static leat_status check_entries(pruner *p) {
  for (uint32_t i = 0; i < p->request->entries.count; i++) {
    const leat_entry *entry = p->request->entries.items[i];
    for (uint32_t j = 0; j < i; j++) {
      if (p->request->entries.items[j] != entry) continue;
      leat_error_at(p->context->diag, entry->span, "a Run executes the entry `%s` twice",
                    entry->name);
      return LEAT_INVALID;
    }
  }
  return LEAT_OK;
}

static leat_status find_needs(pruner *p) {
  find_web(p);
  want_request(p);
  for (uint32_t i = 0; i < p->request->fetches.count; i++) {
    const leat_wanted *fetch = &p->request->fetches.items[i];
    if (!fetch->value.node)
      LEAT_TRY(want_initial(p, leat_graph_find_state(p->session, fetch->name)));
  }
  for (uint32_t i = 0; i < p->session->nodes.count; i++) {
    const leat_state *state = p->needs[i] ? leat_node_state(p->session->nodes.items[i]) : NULL;
    if (state) LEAT_TRY(want_initial(p, state));
  }
  return LEAT_OK;
}

// Entries of which the Run needs only some nodes come first.
static void copy_entries(pruner *p) {
  const leat_entry *last = NULL;
  for (uint32_t i = 0; i < p->session->nodes.count; i++) {
    const leat_entry *entry = p->session->nodes.items[i]->entry;
    bool needed = p->needs[i] || p->initial[i] || p->fed[i];
    if (!needed || !entry || entry == last) continue;
    last = entry;
    if (!is_requested(p, entry)) leat_clone_entry(&p->cloner, entry);
  }
  for (uint32_t i = 0; i < p->request->entries.count; i++)
    leat_clone_entry(&p->cloner, p->request->entries.items[i]);
}

static void copy_initial_values(pruner *p) {
  for (uint32_t i = 0; i < p->cloner.states.count; i++) {
    const leat_state *state = p->cloner.states.entries[i].key;
    leat_state *copy = p->cloner.states.entries[i].value;
    if (state->init.node)
      copy->init = (leat_value){p->copies[state->init.node->id], state->init.port};
  }
}

leat_status leat_pass_prune(leat_pass_context *context) {
  leat_arena *scratch = context->scratch;
  const leat_graph *session = context->graph;
  const leat_step_request *request = context->step;
  pruner p = {.context = context, .session = session, .request = request};
  p.needs = leat_new_array(scratch, uint8_t, session->nodes.count);
  p.initial = leat_new_array(scratch, bool, session->nodes.count);
  p.fed = leat_new_array(scratch, bool, session->nodes.count);
  p.copies = leat_new_array(scratch, leat_node *, session->nodes.count);
  p.feeds = leat_new_array(scratch, leat_value, request->feeds.count);
  p.homes = leat_state_homes(context, session);
  p.cloner = leat_clone_begin(session, context->arena, scratch);
  for (uint32_t i = 0; i < request->feeds.count; i++)
    p.fed[request->feeds.items[i].value.node->id] = true;
  LEAT_TRY(check_entries(&p));
  LEAT_TRY(find_needs(&p));

  copy_entries(&p);
  copy_feeds(&p);
  for (uint32_t i = 0; i < session->nodes.count; i++)
    if (p.needs[i] || p.initial[i]) copy_node(&p, session->nodes.items[i]);
  LEAT_TRY(name_params(&p));
  mark_donated(&p);
  for (uint32_t i = 0; i < request->entries.count; i++)
    fetch_results(&p, request->entries.items[i]);
  fetch_others(&p);
  copy_initial_values(&p);

  group_by_entry(&p);
  set_controls(&p);
  LEAT_TRY(sort(&p));
  leat_clone_finish(&p.cloner);
  for (uint32_t i = 0; i < p.cloner.to->nodes.count; i++)
    inherit_constraints(&p, p.cloner.to->nodes.items[i]);
  find_places(&p);
  LEAT_TRY(check_dims(&p));
  context->graph = p.cloner.to;
  return LEAT_OK;
}
