// In-place updates in bodies: what a branch or an inner loop gives to be carried on lies where it
// is carried, from its beginning on.
//
// First it is chosen where each result is made (`choose`): where it is carried; or, if it begins as
// what is carried for another of its type, there. Then they change places when the body ends, and
// two arrays are swapped, or made of each other in turns, without a copy of either.
//
// A result of a body is assigned to a state (codegen/region.c). Here one is followed back, through
// scatters and the nodes with bodies that change it, to what it begins as: these are the
// *versions* of the state. Each version is assigned where it is made, and who uses it reads the
// state behind that; a node with bodies that makes one is given the state for its result, so that
// its own bodies are treated likewise. So there is nothing to copy: a branch that passes the value
// on does nothing, and an inner loop begins with what is there.
//
// Whatever uses a version is made to run before the next one, by control edges, unless it needs the
// next one itself: then units.c finds that the state is read after it has changed, and keeps a
// copy. What is made of a version and could be computed where it is used is stored then, an element
// that is read for later, say. Where messages of other devices come in nothing is done, for what
// would run before what may decide who waits for whom.
#include "codegen/units.h"

#include <assert.h>
#include <string.h>

enum {                      // less is copied soon …
  LEAST_BYTES = 4096,       // … and a kernel of its own keeps it in registers
  LEAST_ROTATED = 4 * 4096, // … in a loop that is one kernel, where nothing can change places
};

typedef enum version_kind {
  VERSION_SCATTER, // made from the one before, which is its first input
  VERSION_REGION,  // the result of a node with bodies, which may begin as the one before
  VERSION_PLACED,  // any value, assigned so that the next version can begin with it
} version_kind;

typedef struct version {
  version_kind kind;
  leat_value value;
  uint32_t begins;   // REGION: the input that the version before is, or LEAT_NO_INPUT
  leat_node *writes; // SCATTER, REGION: the node; PLACED: the assignment
} version;

typedef struct updater {
  leat_codegen_state *cg;
  leat_graph *body;
  leat_state *state;
  leat_vec(version) versions; // the first one first
} updater;

// -- What a result begins as ----------------------------------------------------------------------

static bool same_type(const leat_type *a, const leat_type *b) {
  bool same = a->dtype == b->dtype && a->rank == b->rank;
  for (int k = 0; same && k < a->rank; k++) same = leat_dim_equal(a->dims[k], b->dims[k]);
  return same;
}

static bool is_loop(const leat_node *node) {
  return node->op == LEAT_OP_while_loop;
}

static uint32_t first_with_parameter(const leat_node *node) {
  return node->input_count - leat_node_body(node, 0)->params.count;
}

static uint32_t input_of_result(const leat_node *node, uint32_t port);

// The number of the body's parameter that the value is an updated version of, or LEAT_NO_INPUT.
static uint32_t origin(const leat_graph *body, leat_value value) {
  const leat_type *type = leat_value_type(value);
  for (;;) {
    const leat_node *node = value.node;
    uint32_t next = 0;
    if (!same_type(type, leat_value_type(value))) return LEAT_NO_INPUT;
    if (node->info->kind == LEAT_KIND_REGION) {
      next = input_of_result(node, value.port);
    } else if (node->info->kind != LEAT_KIND_SCATTER) {
      for (uint32_t i = 0; i < body->params.count; i++)
        if (body->params.items[i] == node) return i;
      return LEAT_NO_INPUT;
    }
    if (next == LEAT_NO_INPUT) return LEAT_NO_INPUT;
    value = node->inputs[next];
  }
}

// The input that result `port` of the node begins as: of a branch one that either body updates.
static uint32_t input_of_result(const leat_node *node, uint32_t port) {
  if (leat_region_result_grows(node, port)) return LEAT_NO_INPUT;
  if (is_loop(node)) return port;
  for (int i = 0; i < 2; i++) {
    const leat_graph *body = leat_node_body(node, i);
    uint32_t param = origin(body, body->yield->inputs[port]);
    if (param != LEAT_NO_INPUT) return first_with_parameter(node) + param;
  }
  return LEAT_NO_INPUT;
}

static bool is_taken(const leat_region_states *states, const leat_node *node, uint32_t input) {
  for (uint32_t i = 0; i < node->output_count; i++)
    if (states->kept[i] && states->begins[i] == input) return true;
  return false;
}

static bool reads_state(leat_value value, const leat_state *state) {
  return value.node->op == LEAT_OP_read && leat_node_state(value.node) == state;
}

// Whether the value is a version of the state.
static bool is_version(const updater *u, leat_value value) {
  while (!reads_state(value, u->state)) {
    const leat_node *node = value.node;
    if (!same_type(leat_value_type(value), &u->state->type)) return false;
    bool region = node->info->kind == LEAT_KIND_REGION;
    if (!region && node->info->kind != LEAT_KIND_SCATTER) return false;
    uint32_t next = region ? input_of_result(node, value.port) : 0;
    if (next == LEAT_NO_INPUT) return false;
    value = node->inputs[next];
  }
  return true;
}

// Of a branch: what is made anew may be made of a version, element by element.
static uint32_t version_among_inputs(const updater *u, const leat_node *node) {
  for (uint32_t i = first_with_parameter(node); !is_loop(node) && i < node->input_count; i++)
    if (is_version(u, node->inputs[i])) return i;
  return LEAT_NO_INPUT;
}

// The version that the value is, and in *before the one before it, if it has one.
static bool version_of(updater *u, leat_value value, version *out, leat_value *before) {
  leat_node *node = value.node;
  *out = (version){.value = value, .begins = LEAT_NO_INPUT, .writes = node};
  *before = (leat_value){0};
  if (!same_type(leat_value_type(value), &u->state->type)) return false;
  if (node->info->kind == LEAT_KIND_SCATTER) {
    *before = node->inputs[0];
    return true;
  }
  if (node->info->kind != LEAT_KIND_REGION || leat_region_result_grows(node, value.port))
    return false;
  const leat_region_states *states = leat_region_states_of(u->cg, node);
  if (states->results[value.port]) return false; // it has another place already
  uint32_t begins = input_of_result(node, value.port);
  if (begins == LEAT_NO_INPUT) begins = version_among_inputs(u, node);
  if (begins != LEAT_NO_INPUT && !is_taken(states, node, begins)) {
    out->begins = begins;
    *before = node->inputs[begins];
  }
  out->kind = VERSION_REGION;
  return true;
}

static version placed(updater *u, leat_value value) {
  return (version){.kind = VERSION_PLACED,
                   .value = value,
                   .begins = LEAT_NO_INPUT,
                   .writes = leat_region_append(u->body, LEAT_OP_assign, u->state, &value)};
}

static void find_versions(updater *u, leat_value value) {
  leat_vec(version) found = {0}; // the last one first
  while (value.node && !reads_state(value, u->state)) {
    version v;
    leat_value before;
    if (!version_of(u, value, &v, &before)) {
      if (found.count) leat_vec_push(u->cg->arena, &found, placed(u, value));
      break;
    }
    leat_vec_push(u->cg->arena, &found, v);
    value = before;
  }
  u->versions.count = 0;
  for (uint32_t i = found.count; i-- > 0;)
    leat_vec_push(u->cg->arena, &u->versions, found.items[i]);
}

// -- The order ------------------------------------------------------------------------------------

// By node id: numbers of versions, the one that the state holds when the body begins being 0.
typedef struct version_uses {
  uint32_t *needs; // the last that the node depends on
  uint32_t *reads; // the last that it reads, itself or by what may be computed where it is used
  uint32_t *made;  // the last that it makes
} version_uses;

static uint32_t greater(uint32_t a, uint32_t b) {
  return a > b ? a : b;
}

static void find_uses(const updater *u, version_uses *uses) {
  const leat_graph *body = u->body;
  for (uint32_t i = 0; i < u->versions.count; i++)
    if (u->versions.items[i].kind != VERSION_PLACED)
      uses->made[u->versions.items[i].value.node->id] = i + 1;
  for (uint32_t i = 0; i < body->nodes.count; i++) {
    const leat_node *node = body->nodes.items[i];
    uint32_t needs = uses->made[i], reads = 0;
    for (uint32_t k = 0; k < node->input_count + node->control_count; k++) {
      const leat_node *input =
          k < node->input_count ? node->inputs[k].node : node->controls[k - node->input_count];
      needs = greater(needs, uses->needs[input->id]);
      if (k >= node->input_count) continue;
      bool direct = uses->made[input->id] || reads_state(node->inputs[k], u->state);
      bool inside = input->info->kind == LEAT_KIND_ELEMENT;
      if (direct) reads = greater(reads, 1 + uses->made[input->id]);
      if (inside) reads = greater(reads, uses->reads[input->id]);
    }
    uses->needs[i] = needs;
    uses->reads[i] = reads; // 1 more than the version's number; 0: none
  }
}

// What input k is, of a version that is no more when the node runs, is stored before.
static void store_input(updater *u, const version_uses *uses, const leat_node *node, uint32_t k) {
  leat_node *input = node->inputs[k].node;
  while (input->info->flags & LEAT_FLAG_ALIAS) input = input->inputs[0].node;
  uint32_t reads = uses->reads[input->id];
  bool lazy = reads && input->info->kind == LEAT_KIND_ELEMENT && uses->needs[input->id] < reads;
  if (lazy && uses->needs[node->id] >= reads) leat_map_set(&u->cg->stored, input, input);
}

// What reads a version runs before the next is written, where it can.
static void order_uses(updater *u) {
  uint32_t count = u->body->nodes.count;
  leat_arena *arena = u->cg->arena;
  version_uses uses = {leat_new_array(arena, uint32_t, count),
                       leat_new_array(arena, uint32_t, count),
                       leat_new_array(arena, uint32_t, count)};
  leat_node_list *before = leat_new_array(arena, leat_node_list, (size_t)u->versions.count + 1);
  find_uses(u, &uses);
  for (uint32_t i = 0; i < count; i++) {
    leat_node *node = u->body->nodes.items[i];
    for (uint32_t k = 0; k < node->input_count; k++) store_input(u, &uses, node, k);
    if (!uses.reads[i] || node == u->body->yield) continue;
    uint32_t version = uses.reads[i] - 1; // and version `version + 1` is items[version]
    if (version < u->versions.count && uses.needs[i] <= version &&
        u->versions.items[version].writes != node)
      leat_vec_push(arena, &before[version], node);
  }
  for (uint32_t i = 0; i < u->versions.count; i++)
    leat_node_add_controls(u->body, u->versions.items[i].writes, before[i].items, before[i].count);
}

// -- The versions as assignments and reads --------------------------------------------------------

static void use_instead(leat_node *user, leat_value old, leat_value value) {
  for (uint32_t k = 0; k < user->input_count; k++)
    if (user->inputs[k].node == old.node && user->inputs[k].port == old.port)
      user->inputs[k] = value;
}

static void keep_result(updater *u, const version *v) {
  leat_region_states *states = leat_region_states_of(u->cg, v->value.node);
  states->results[v->value.port] = u->state;
  states->kept[v->value.port] = true;
  states->begins[v->value.port] = v->begins;
}

static void write_versions(updater *u) {
  leat_graph *body = u->body;
  uint32_t count = body->nodes.count;
  for (uint32_t i = 0; i < u->versions.count; i++) {
    version *v = &u->versions.items[i];
    bool placed = v->kind == VERSION_PLACED;
    leat_node *assign =
        placed ? v->writes : leat_region_append(body, LEAT_OP_assign, u->state, &v->value);
    leat_node *read = leat_region_read_behind(body, u->state, assign);
    if (placed)
      use_instead(u->versions.items[i + 1].value.node, v->value, (leat_value){read, 0});
    else
      for (uint32_t k = 0; k < count; k++)
        use_instead(body->nodes.items[k], v->value, (leat_value){read, 0});
    if (v->kind == VERSION_REGION) keep_result(u, v);
  }
}

static void update(updater *u, uint32_t result) {
  leat_node *in_cycle;
  find_versions(u, u->body->yield->inputs[result]);
  if (!u->versions.count) return;
  order_uses(u);
  write_versions(u);
  bool sorted = leat_graph_sort(u->body, &in_cycle);
  assert(sorted);
  (void)sorted;
}

// -------------------------------------------------------------------------------------------------

static bool is_large(const leat_type *type, int64_t least) {
  int64_t count = leat_type_static_elements(type);
  return count < 0 || count * (int64_t)leat_dtype_size(type->dtype) >= least;
}

static bool receives(const leat_graph *body) {
  for (uint32_t i = 0; i < body->nodes.count; i++) {
    const leat_node *node = body->nodes.items[i];
    if (node->op == LEAT_OP_recv) return true;
    for (int k = 0; k < node->info->attr_count; k++)
      if (leat_node_body(node, k) && receives(leat_node_body(node, k))) return true;
  }
  return false;
}

static bool is_updated(const leat_graph *body, const leat_state *state, uint32_t result) {
  return state->type.dtype != LEAT_str && is_large(&state->type, LEAST_BYTES) &&
         !leat_region_result_grows(body->owner, result);
}

// -- Where results are made -----------------------------------------------------------------------

enum { NOWHERE = UINT32_MAX };

typedef struct chooser {
  leat_codegen_state *cg;
  const leat_graph *body;
  leat_state *const *states;
  uint32_t count;
  uint32_t *made_in; // by result: the number of the state, or NOWHERE yet
  uint32_t *taken;   // by state: the result that is made there, or NOWHERE
} chooser;

static void make_in(chooser *c, uint32_t result, uint32_t state) {
  c->made_in[result] = state;
  c->taken[state] = result;
}

// The state whose value the result begins as, or is if *whole; NOWHERE: none of its node's.
static uint32_t begins_in(const chooser *c, uint32_t result, bool *whole) {
  leat_value value = c->body->yield->inputs[result];
  const leat_type *type = leat_value_type(value);
  for (*whole = true; value.node->op != LEAT_OP_read; *whole = false) {
    const leat_node *node = value.node;
    bool region = node->info->kind == LEAT_KIND_REGION;
    uint32_t input = region ? input_of_result(node, value.port) : 0;
    if (!region && node->info->kind != LEAT_KIND_SCATTER) return NOWHERE;
    if (input == LEAT_NO_INPUT) return NOWHERE;
    value = node->inputs[input];
    if (!same_type(type, leat_value_type(value))) return NOWHERE;
  }
  uint32_t i = 0;
  while (i < c->count && c->states[i] != leat_node_state(value.node)) i++;
  return i < c->count ? i : NOWHERE;
}

// Places that are to be changed lie in one piece of memory: of results of one node.
static bool can_change(const chooser *c, uint32_t a, uint32_t b) {
  const leat_map *homes = &c->cg->homes;
  return same_type(&c->states[a]->type, &c->states[b]->type) &&
         leat_map_get(homes, c->states[a]) == leat_map_get(homes, c->states[b]) &&
         is_updated(c->body, c->states[a], a) && is_updated(c->body, c->states[b], b) &&
         is_large(&c->states[a]->type, LEAST_ROTATED);
}

// The results that begin as a state, or those that are one, where they are.
static void choose_beginnings(chooser *c, bool own, bool wholes) {
  for (uint32_t i = 0; i < c->count; i++) {
    bool whole;
    uint32_t state = begins_in(c, i, &whole);
    if (state == NOWHERE || c->made_in[i] != NOWHERE || c->taken[state] != NOWHERE) continue;
    if ((own ? state == i : can_change(c, i, state)) && (whole || !wholes)) make_in(c, i, state);
  }
}

// The rest where they are carried; where another one is made there, where that is carried, and so
// on: so as few as possible change places.
static void choose_rest(chooser *c) {
  for (uint32_t i = 0; i < c->count; i++) {
    uint32_t state = i;
    while (c->made_in[i] == NOWHERE && c->taken[state] != NOWHERE) state = c->taken[state];
    if (c->made_in[i] == NOWHERE) make_in(c, i, state);
  }
}

static leat_state **choose(leat_codegen_state *cg, const leat_graph *body,
                           leat_state *const *states) {
  uint32_t count = body->owner->output_count;
  leat_state **placed = leat_new_array(cg->arena, leat_state *, (size_t)count + 1);
  chooser c = {cg,
               body,
               states,
               count,
               leat_new_array(cg->arena, uint32_t, (size_t)count + 1),
               leat_new_array(cg->arena, uint32_t, (size_t)count + 1)};
  for (uint32_t i = 0; i < count; i++) c.made_in[i] = c.taken[i] = NOWHERE;
  for (int part = 0; part < 2; part++) { // what is changed is copied, if it stays as it is, too
    choose_beginnings(&c, true, !part);
    choose_beginnings(&c, false, !part);
  }
  choose_rest(&c);
  for (uint32_t i = 0; i < count; i++) placed[i] = states[c.made_in[i]];
  return placed;
}

// -------------------------------------------------------------------------------------------------

void leat_region_update_in_place(leat_codegen_state *cg, leat_graph *body,
                                 leat_state *const *states, leat_state ***out) {
  updater u = {.cg = cg, .body = body};
  if (receives(body)) return;
  *out = choose(cg, body, states);
  for (uint32_t i = 0; i < body->owner->output_count; i++) {
    u.state = (*out)[i];
    if (is_updated(body, u.state, i)) update(&u, i);
  }
}
