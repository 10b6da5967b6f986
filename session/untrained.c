// Finds the trainable variables that an entry's results depend on.
#include "session/session.h"

#include "passes/pass.h"

typedef struct search {
  const leat_session *session;
  leat_arena *scratch;
  bool *seen; // by node id
  leat_vec(const leat_node *) pending;
} search;

static void want(search *s, const leat_node *node) {
  if (!node || s->seen[node->id]) return;
  s->seen[node->id] = true;
  leat_vec_push(s->scratch, &s->pending, node);
}

static bool assigns(const leat_entry *entry, const leat_state *state) {
  for (uint32_t i = 0; i < entry->effects.count; i++)
    if (leat_node_state(entry->effects.items[i]) == state) return true;
  return false;
}

// What a variable that was read from a file begins with is no mere initial value.
static bool begins_with_file(search *s, const leat_state *state) {
  leat_vec(const leat_node *) pending = {0};
  leat_map seen;
  leat_map_init(&seen, s->scratch);
  if (state->init.node) leat_vec_push(s->scratch, &pending, state->init.node);
  while (pending.count) {
    const leat_node *node = pending.items[--pending.count];
    if (node->op == LEAT_OP_load) return true;
    if (leat_map_get(&seen, node)) continue;
    leat_map_set(&seen, node, (void *)node);
    for (uint32_t i = 0; i < node->input_count; i++)
      leat_vec_push(s->scratch, &pending, node->inputs[i].node);
  }
  return false;
}

static bool is_weight(search *s, const leat_state *state) {
  return state->trainable && leat_dtype_kind_of(state->type.dtype) == LEAT_KIND_FLOAT &&
         !begins_with_file(s, state);
}

// The first variable found that still has its initial value, or NULL.
static const leat_state *find_untrained(search *s, const leat_entry *entry) {
  for (uint32_t i = 0; i < entry->results.count; i++) want(s, entry->results.items[i].value.node);
  for (uint32_t i = 0; i < entry->effects.count; i++) want(s, entry->effects.items[i]);
  while (s->pending.count) {
    const leat_node *node = s->pending.items[--s->pending.count];
    const leat_state *state = leat_node_state(node);
    if (state && !assigns(entry, state) && !leat_map_get(&s->session->known, state->name) &&
        is_weight(s, state))
      return state;
    for (uint32_t i = 0; i < node->input_count; i++) want(s, node->inputs[i].node);
  }
  return NULL;
}

void leat_session_warn_untrained(leat_session *session, const leat_step_request *step) {
  if (session->options.stop_after) return; // nothing will run
  const leat_graph *graph = leat_frontend_graph(session->frontend);
  search s = {.session = session, .scratch = leat_arena_create()};
  s.seen = leat_new_array(s.scratch, bool, graph->nodes.count);
  for (uint32_t i = 0; i < step->entries.count; i++) {
    const leat_entry *entry = step->entries.items[i];
    session->trains = session->trains || entry->training;
    const leat_state *state = session->trains ? NULL : find_untrained(&s, entry);
    if (state)
      leat_warn_at(session->diag, entry->span,
                   "`%s` is no training entry, and `%s` was not restored: it has its initial value",
                   entry->name, state->name);
  }
  leat_arena_destroy(s.scratch);
}
