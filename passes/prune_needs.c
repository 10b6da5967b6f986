// What of the session's graph a step needs: see prune.c.
#include "passes/inside.h"
#include "passes/prune.h"

// How much of a node the step needs.
typedef enum need {
  NEED_NOTHING,
  NEED_VALUE,
  NEED_HISTORY, // and the earlier effects on its state
} need;

typedef struct search {
  leat_pruner *p;
  leat_map next;     // merge → leat_node_list: its next_iteration, or, wrongly, several
  leat_map *assigns; // region → leat_node_list: what it leaves in variables; NULL: not looked for
  bool *web;         // by id: it may be dead, or of a frame; NULL: nothing is
  leat_vec(leat_node *) pending;
} search;

static bool reads_state(const leat_node *node) {
  return node->op == LEAT_OP_read || node->op == LEAT_OP_assign_add;
}

static void want_computed(search *s, leat_node *node, need level) {
  if (reads_state(node)) level = NEED_HISTORY;
  if (s->p->needs[node->id] >= level) return;
  s->p->needs[node->id] = (uint8_t)level;
  leat_vec_push(s->p->context->scratch, &s->pending, node);
}

static void want(search *s, leat_node *node, need level) {
  if (!s->p->fed[node->id] || node->output_count > 1) want_computed(s, node, level);
}

static void want_value(search *s, leat_value value) {
  if (!leat_prune_feed(s->p, value)) want(s, value.node, NEED_VALUE);
}

static void want_control(search *s, const leat_node *node, leat_node *before) {
  if (!before->effect && !(s->web && s->web[before->id])) return;
  bool orders_state = leat_node_state(node) && leat_node_state(node) == leat_node_state(before);
  if (!orders_state)
    want(s, before, NEED_VALUE);
  else if (s->p->needs[node->id] == NEED_HISTORY && node->entry && node->entry == before->entry)
    want(s, before, NEED_HISTORY);
}

static void add_to_list(search *s, leat_map *map, const leat_node *key, leat_node *node) {
  leat_node_list *list = leat_map_get(map, key);
  if (!list) {
    list = leat_new(s->p->context->scratch, leat_node_list);
    leat_map_set(map, key, list);
  }
  leat_vec_push(s->p->context->scratch, list, node);
}

static void find_assigns(search *s) {
  if (s->assigns) return;
  s->assigns = leat_new(s->p->context->scratch, leat_map);
  leat_map_init(s->assigns, s->p->context->scratch);
  for (uint32_t i = 0; i < s->p->session->nodes.count; i++) {
    leat_node *node = s->p->session->nodes.items[i];
    if (node->op == LEAT_OP_assign && node->inputs[0].node->info->kind == LEAT_KIND_REGION)
      add_to_list(s, s->assigns, node->inputs[0].node, node);
  }
}

// What it prints happens because it runs, and so does what it assigns.
static void want_assigns(search *s, const leat_node *region) {
  find_assigns(s);
  const leat_node_list *list = leat_map_get(s->assigns, region);
  for (uint32_t i = 0; list && i < list->count; i++) want(s, list->items[i], NEED_VALUE);
}

static void want_ancestors(search *s) {
  while (s->pending.count) {
    const leat_node *node = s->pending.items[--s->pending.count];
    for (uint32_t i = 0; i < node->input_count; i++) want_value(s, node->inputs[i]);
    for (uint32_t i = 0; i < node->control_count; i++) want_control(s, node, node->controls[i]);
    if (node->info->kind == LEAT_KIND_REGION) want_assigns(s, node);
    const leat_node_list *next = s->web ? leat_map_get(&s->next, node) : NULL;
    for (uint32_t i = 0; next && i < next->count; i++) want(s, next->items[i], NEED_VALUE);
  }
}

static bool is_in_web(const search *s, const leat_node *node) {
  bool in = leat_op_last_phase(node->op) < LEAT_PHASE_RAISED;
  for (uint32_t i = 0; i < node->input_count && !in; i++) in = s->web[node->inputs[i].node->id];
  for (uint32_t i = 0; i < node->control_count && !in; i++) in = s->web[node->controls[i]->id];
  return in;
}

// Where primitives of control flow stand (passes/raise.h) a back edge goes to what is needed, and
// what runs after a dead node is dead, too.
static void find_web(search *s) {
  const leat_graph *session = s->p->session;
  uint32_t first = 0;
  while (first < session->nodes.count &&
         leat_op_last_phase(session->nodes.items[first]->op) >= LEAT_PHASE_RAISED)
    first++;
  if (first == session->nodes.count) return;
  s->web = leat_new_array(s->p->context->scratch, bool, session->nodes.count);
  leat_map_init(&s->next, s->p->context->scratch);
  for (uint32_t i = first; i < session->nodes.count; i++) {
    leat_node *node = session->nodes.items[i];
    s->web[i] = is_in_web(s, node);
    if (node->op == LEAT_OP_next_iteration) add_to_list(s, &s->next, node->inputs[1].node, node);
  }
}

static void want_request(search *s) {
  const leat_step_request *request = s->p->request;
  for (uint32_t i = 0; i < request->entries.count; i++) {
    const leat_entry *entry = request->entries.items[i];
    for (uint32_t j = 0; j < entry->params.count; j++)
      want(s, entry->params.items[j].node, NEED_VALUE);
    for (uint32_t j = 0; j < entry->results.count; j++)
      want_value(s, entry->results.items[j].value);
    for (uint32_t j = 0; j < entry->effects.count; j++)
      want(s, entry->effects.items[j], NEED_VALUE);
  }
  for (uint32_t i = 0; i < request->fetches.count; i++) {
    leat_value value = request->fetches.items[i].value;
    if (leat_is_inside(value))
      want_computed(s, (leat_node *)leat_node_outermost(value.node), NEED_VALUE);
    else if (value.node)
      want_value(s, value);
  }
  for (uint32_t i = 0; i < request->runs.count; i++) want(s, request->runs.items[i], NEED_VALUE);
  want_ancestors(s);
}

// Marks what the initial value of `state` is computed from.
static leat_status want_initial(search *s, const leat_state *state) {
  if (!state->init.node) return LEAT_OK;
  leat_vec_push(s->p->context->scratch, &s->pending, state->init.node);
  while (s->pending.count) {
    leat_node *node = s->pending.items[--s->pending.count];
    if (s->p->initial[node->id]) continue;
    s->p->initial[node->id] = true;
    if (s->p->fed[node->id]) {
      leat_error_at(s->p->context->diag, node->span,
                    "`%s` cannot be fed: the initial value of `%s` is computed from it", node->name,
                    state->name);
      return LEAT_INVALID;
    }
    for (uint32_t i = 0; i < node->input_count; i++)
      leat_vec_push(s->p->context->scratch, &s->pending, node->inputs[i].node);
  }
  return LEAT_OK;
}

leat_status leat_prune_find_needs(leat_pruner *p) {
  search s = {.p = p};
  find_web(&s);
  want_request(&s);
  for (uint32_t i = 0; i < p->request->fetches.count; i++) {
    const leat_wanted *fetch = &p->request->fetches.items[i];
    if (!fetch->value.node)
      LEAT_TRY(want_initial(&s, leat_graph_find_state(p->session, fetch->name)));
  }
  for (uint32_t i = 0; i < p->session->nodes.count; i++) {
    const leat_state *state = p->needs[i] ? leat_node_state(p->session->nodes.items[i]) : NULL;
    if (state) LEAT_TRY(want_initial(&s, state));
  }
  return LEAT_OK;
}
