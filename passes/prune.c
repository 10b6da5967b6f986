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
#include "passes/prune.h"

#include "ops/turns.h"
#include "passes/rewrite.h"
#include "passes/state_home.h"

// -- Copies ---------------------------------------------------------------------------------------

bool leat_step_has_entry(const leat_step_request *step, const leat_entry *entry) {
  for (uint32_t i = 0; i < step->entries.count; i++)
    if (step->entries.items[i] == entry) return true;
  return false;
}

bool leat_step_fetches_run(const leat_step_request *step, const leat_node *node) {
  return node->op == LEAT_OP_fetch && !leat_step_has_entry(step, node->entry);
}

leat_state *leat_prune_copy_state(leat_pruner *p, const leat_state *state) {
  leat_state *copy = leat_clone_state(&p->cloner, state);
  copy->device = p->homes[state->id];
  return copy;
}

static void copy_node(leat_pruner *p, const leat_node *node) {
  size_t count = node->input_count;
  leat_value *inputs = leat_new_array(p->context->scratch, leat_value, count + 1);
  for (uint32_t i = 0; i < count; i++) inputs[i] = leat_prune_copy_of(p, node->inputs[i]);
  if (leat_node_state(node)) leat_prune_copy_state(p, leat_node_state(node));
  leat_node *copy = p->copies[node->id] = leat_clone_node(&p->cloner, p->cloner.to, node, inputs);
  // What they counted by may be fed.
  if (p->request->feeds.count) leat_node_set_turns(copy);
  copy->controls = node->controls; // the originals, until set_controls
  copy->control_count = node->control_count;
}

// -- Devices -------------------------------------------------------------------------------

// What shares its device with something that the step has not takes over the constraints of that.
static void inherit_constraints(leat_pruner *p, leat_node *node) {
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
  const leat_pruner *p = context;
  for (uint32_t i = 0; i < graph->nodes.count; i++) {
    leat_node *node = graph->nodes.items[i];
    if (!node->place && (node->op == LEAT_OP_feed || leat_node_may_fail(node)))
      node->place = leat_place_of(p->context, node->span);
  }
}

static void find_places(leat_pruner *p) {
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
static leat_status check_dims(leat_pruner *p) {
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

static leat_status check_entries(leat_pruner *p) {
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

// Entries of which the Run needs only some nodes come first.
static void copy_entries(leat_pruner *p) {
  const leat_entry *last = NULL;
  for (uint32_t i = 0; i < p->session->nodes.count; i++) {
    const leat_entry *entry = p->session->nodes.items[i]->entry;
    bool needed = p->needs[i] || p->initial[i] || p->fed[i];
    if (!needed || !entry || entry == last) continue;
    last = entry;
    if (!leat_step_has_entry(p->request, entry)) leat_clone_entry(&p->cloner, entry);
  }
  for (uint32_t i = 0; i < p->request->entries.count; i++)
    leat_clone_entry(&p->cloner, p->request->entries.items[i]);
}

static void copy_initial_values(leat_pruner *p) {
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
  leat_pruner p = {.context = context, .session = session, .request = request};
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
  LEAT_TRY(leat_prune_find_needs(&p));

  copy_entries(&p);
  leat_prune_copy_feeds(&p);
  for (uint32_t i = 0; i < session->nodes.count; i++)
    if (p.needs[i] || p.initial[i]) copy_node(&p, session->nodes.items[i]);
  LEAT_TRY(leat_prune_number_feeds(&p));
  leat_prune_add_fetches(&p);
  copy_initial_values(&p);

  LEAT_TRY(leat_prune_order(&p));
  leat_clone_finish(&p.cloner);
  for (uint32_t i = 0; i < p.cloner.to->nodes.count; i++)
    inherit_constraints(&p, p.cloner.to->nodes.items[i]);
  find_places(&p);
  LEAT_TRY(check_dims(&p));
  context->graph = p.cloner.to;
  return LEAT_OK;
}
