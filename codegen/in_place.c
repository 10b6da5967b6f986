// In-place updates in bodies: what a branch or an inner loop gives to be carried on lies where it
// is carried, from its beginning on.
//
// First it is chosen where each result is made (`choose`): where it is carried; or, if it begins as
// what is carried for another of its type, there. Then they change places when the body ends, and
// two arrays are swapped, or made of each other in turns, without a copy of either.
//
// A result of a body is stored in a place (codegen/region.c). Here one is followed back, through
// scatters and the nodes with bodies that change it, to what it begins as: these are the *versions*
// of what the place holds. Each version is stored where it is made, and who uses it reads the place
// behind that; a node with bodies that makes one is given the place for its result, so that its own
// bodies are treated likewise. So there is nothing to copy: a branch that passes the value on does
// nothing, and an inner loop begins with what is there.
//
// Whatever uses a version is made to run before the next one, by control edges, unless it needs the
// next one itself: then units.c finds that the place is read after it has changed, and keeps a
// copy. What is made of a version and could be computed where it is used is stored then, an element
// that is read for later, say. Where messages of other devices come in nothing is done, for what
// would run before what may decide who waits for whom.
#include "base/heap.h"
#include "codegen/stages.h"
#include "ops/turns.h"

#include <assert.h>
#include <string.h>

enum {                      // less is copied soon …
  LEAST_BYTES = 4096,       // … and a kernel of its own keeps it in registers
  LEAST_ROTATED = 4 * 4096, // … in a loop that is one kernel, where nothing can change places
};

typedef enum version_kind {
  VERSION_SCATTER, // made from the one before, which is its first input
  VERSION_REGION,  // the result of a node with bodies, which may begin as the one before
  VERSION_PLACED,  // any value, stored so that the next version can begin with it
} version_kind;

typedef struct version {
  version_kind kind;
  leat_item *value;
  uint32_t begins;   // REGION: the input that the version before is, or LEAT_NO_INPUT
  leat_item *writes; // SCATTER, REGION: the node's first output; PLACED: the store
} version;

typedef struct updater {
  leat_table *table; // of the body, whose items are those of first outputs, with the yield
  leat_arena *arena;
  const leat_item *yield;
  leat_storage *place;
  leat_vec(version) versions; // the first one first
} updater;

// -- What a result begins as ----------------------------------------------------------------------

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
    if (!leat_type_equal(type, leat_value_type(value))) return LEAT_NO_INPUT;
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
  if (leat_is_loop(node)) return port;
  for (int i = 0; i < 2; i++) {
    const leat_graph *body = leat_node_body(node, i);
    uint32_t param = origin(body, body->yield->inputs[port]);
    if (param != LEAT_NO_INPUT) return first_with_parameter(node) + param;
  }
  return LEAT_NO_INPUT;
}

static bool is_taken(const leat_region_places *places, const leat_node *node, uint32_t input) {
  for (uint32_t i = 0; i < node->output_count; i++)
    if (places->kept[i] && places->begins[i] == input) return true;
  return false;
}

static bool reads(const leat_item *item, const leat_storage *place) {
  return item->held == place && item->node->output_count;
}

// The value of the same type that this one is a changed version of; NULL: it is made anew.
static leat_item *changed_value(leat_item *value) {
  const leat_node *node = value->node;
  bool region = node->info->kind == LEAT_KIND_REGION;
  if (!region && node->info->kind != LEAT_KIND_SCATTER) return NULL;
  uint32_t input = region ? input_of_result(node, value->port) : 0;
  if (input == LEAT_NO_INPUT) return NULL;
  leat_item *before = leat_item_first(value)->inputs[input];
  return leat_type_equal(leat_item_type(before), leat_item_type(value)) ? before : NULL;
}

// Whether the value is a version of what the place holds.
static bool is_version(const updater *u, leat_item *value) {
  if (!leat_type_equal(leat_item_type(value), &u->place->type)) return false;
  while (value && !reads(value, u->place)) value = changed_value(value);
  return value;
}

// Of a branch: what is made anew may be made of a version, element by element.
static uint32_t version_among_inputs(const updater *u, const leat_item *item) {
  const leat_node *node = item->node;
  for (uint32_t i = first_with_parameter(node); !leat_is_loop(node) && i < node->input_count; i++)
    if (is_version(u, item->inputs[i])) return i;
  return LEAT_NO_INPUT;
}

// The version that the value is, and in *before the one before it, if it has one.
static bool version_of(const updater *u, leat_item *value, version *out, leat_item **before) {
  leat_item *first = leat_item_first(value);
  const leat_node *node = value->node;
  *out = (version){.value = value, .begins = LEAT_NO_INPUT, .writes = first};
  *before = NULL;
  if (!leat_type_equal(leat_item_type(value), &u->place->type)) return false;
  if (node->info->kind == LEAT_KIND_SCATTER) {
    *before = value->inputs[0];
    return true;
  }
  if (node->info->kind != LEAT_KIND_REGION || leat_region_result_grows(node, value->port))
    return false;
  const leat_region_places *places = leat_region_places_of(u->table->cg, node);
  if (places->results[value->port]) return false; // it has another place already
  uint32_t begins = input_of_result(node, value->port);
  if (begins == LEAT_NO_INPUT) begins = version_among_inputs(u, first);
  if (begins != LEAT_NO_INPUT && !is_taken(places, node, begins)) {
    out->begins = begins;
    *before = first->inputs[begins];
  }
  out->kind = VERSION_REGION;
  return true;
}

static version placed(const updater *u, leat_item *value) {
  return (version){.kind = VERSION_PLACED,
                   .value = value,
                   .begins = LEAT_NO_INPUT,
                   .writes = leat_item_store(u->table, value, u->place)};
}

static void find_versions(updater *u, leat_item *value) {
  leat_vec(version) found = {0}; // the last one first
  while (value && !reads(value, u->place)) {
    version v;
    leat_item *before;
    if (!version_of(u, value, &v, &before)) {
      if (found.count) leat_vec_push(u->arena, &found, placed(u, value));
      break;
    }
    leat_vec_push(u->arena, &found, v);
    value = before;
  }
  u->versions.count = 0;
  for (uint32_t i = found.count; i-- > 0;) leat_vec_push(u->arena, &u->versions, found.items[i]);
}

// -- The order ------------------------------------------------------------------------------------

// By item: numbers of versions, the one that the place holds when the body begins being 0.
typedef struct version_uses {
  uint32_t *needs; // the last that the node depends on
  uint32_t *reads; // 1 more than the last that it reads, itself or by what may be computed where it
                   // is used; 0: none
  uint32_t *made;  // the last that it makes
} version_uses;

static uint32_t greater(uint32_t a, uint32_t b) {
  return a > b ? a : b;
}

static void find_uses(const updater *u, version_uses *uses) {
  const leat_items *items = &u->table->items;
  for (uint32_t i = 0; i < items->count; i++) items->items[i]->position = i;
  for (uint32_t i = 0; i < u->versions.count; i++)
    if (u->versions.items[i].kind != VERSION_PLACED)
      uses->made[u->versions.items[i].writes->position] = i + 1;
  for (uint32_t i = 0; i < items->count; i++) {
    const leat_item *item = items->items[i];
    uint32_t needs = uses->made[i], last = 0;
    for (uint32_t k = 0; k < item->controls.count; k++)
      needs = greater(needs, uses->needs[item->controls.items[k]->position]);
    for (uint32_t k = 0; k < item->node->input_count; k++) {
      uint32_t input = leat_item_first(item->inputs[k])->position;
      needs = greater(needs, uses->needs[input]);
      bool direct = uses->made[input] || reads(item->inputs[k], u->place);
      if (direct) last = greater(last, 1 + uses->made[input]);
      if (item->inputs[k]->node->info->kind == LEAT_KIND_ELEMENT)
        last = greater(last, uses->reads[input]);
    }
    uses->needs[i] = needs;
    uses->reads[i] = last;
  }
}

// What input k is, of a version that is no more when the node runs, is stored before.
static void store_input(const version_uses *uses, const leat_item *item, uint32_t k) {
  leat_item *input = item->inputs[k];
  while (input->node->info->flags & LEAT_FLAG_ALIAS) input = input->inputs[0];
  uint32_t p = leat_item_first(input)->position, last = uses->reads[p];
  bool lazy = last && input->node->info->kind == LEAT_KIND_ELEMENT && uses->needs[p] < last;
  input->wanted |= lazy && uses->needs[item->position] >= last;
}

// What reads a version runs before the next is written, where it can.
static void order_uses(updater *u) {
  uint32_t count = u->table->items.count;
  leat_arena *scratch = u->table->cg->scratch;
  version_uses uses = {leat_new_array(scratch, uint32_t, count),
                       leat_new_array(scratch, uint32_t, count),
                       leat_new_array(scratch, uint32_t, count)};
  find_uses(u, &uses);
  for (uint32_t i = 0; i < count; i++) {
    leat_item *item = u->table->items.items[i];
    for (uint32_t k = 0; k < item->node->input_count; k++) store_input(&uses, item, k);
    if (!uses.reads[i] || item == u->yield) continue;
    uint32_t number = uses.reads[i] - 1; // and version `number + 1` is items[number]
    if (number >= u->versions.count || uses.needs[i] > number) continue;
    leat_item *writes = u->versions.items[number].writes;
    if (writes != item) leat_vec_push(u->arena, &writes->controls, item);
  }
}

// -- The versions as stores and reads -------------------------------------------------------------

static void use_instead(leat_item *user, const leat_item *old, leat_item *value) {
  for (uint32_t k = 0; k < user->node->input_count; k++)
    if (user->inputs[k] == old) user->inputs[k] = value;
}

static void keep_result(const updater *u, const version *v) {
  leat_region_places *places = leat_region_places_of(u->table->cg, v->value->node);
  places->results[v->value->port] = u->place;
  places->kept[v->value->port] = true;
  places->begins[v->value->port] = v->begins;
}

static void write_versions(updater *u) {
  uint32_t count = u->table->items.count;
  for (uint32_t i = 0; i < u->versions.count; i++) {
    version *v = &u->versions.items[i];
    bool placed = v->kind == VERSION_PLACED;
    leat_item *store = placed ? v->writes : leat_item_store(u->table, v->value, u->place);
    leat_item *read = leat_item_behind(u->table, store);
    if (placed) {
      use_instead(u->versions.items[i + 1].writes, v->value, read);
      continue;
    }
    for (uint32_t k = 0; k < count; k++) use_instead(u->table->items.items[k], v->value, read);
    v->value->behind = read;
    if (v->kind == VERSION_REGION) keep_result(u, v);
  }
}

// -- Sorting --------------------------------------------------------------------------------------

// What an item runs after, one by one; NULL: there is no more.
static leat_item *runs_after(const leat_item *item, uint32_t i) {
  uint32_t inputs = item->node->input_count;
  if (i < inputs) return leat_item_first(item->inputs[i]);
  return i - inputs < item->controls.count ? item->controls.items[i - inputs] : NULL;
}

// In the order of their positions among those that are ready.
static void sort(leat_table *table) {
  leat_items *items = &table->items;
  leat_arena *scratch = table->cg->scratch;
  uint32_t *waiting = leat_new_array(scratch, uint32_t, items->count), sorted = 0;
  leat_items *users = leat_new_array(scratch, leat_items, items->count);
  leat_item **old = leat_new_array(scratch, leat_item *, items->count), *before;
  leat_heap ready = {0};
  for (uint32_t i = 0; i < items->count; i++) items->items[i]->position = i;
  for (uint32_t i = 0; i < items->count; i++) {
    old[i] = items->items[i];
    for (; (before = runs_after(old[i], waiting[i])); waiting[i]++)
      leat_vec_push(scratch, &users[before->position], old[i]);
    if (!waiting[i]) leat_heap_push(scratch, &ready, i);
  }
  while (ready.count) {
    uint64_t next = leat_heap_pop(&ready);
    items->items[sorted++] = old[next];
    for (uint32_t i = 0; i < users[next].count; i++) {
      uint32_t user = users[next].items[i]->position;
      if (!--waiting[user]) leat_heap_push(scratch, &ready, user);
    }
  }
  assert(sorted == items->count);
}

static void update(updater *u, uint32_t result) {
  find_versions(u, u->yield->inputs[result]);
  if (!u->versions.count) return;
  order_uses(u);
  write_versions(u);
  sort(u->table);
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

static bool is_updated(const leat_node *owner, const leat_storage *place, uint32_t result) {
  return place->type.dtype != LEAT_str && is_large(&place->type, LEAST_BYTES) &&
         !leat_region_result_grows(owner, result);
}

// -- Where results are made -----------------------------------------------------------------------

enum { NOWHERE = UINT32_MAX };

typedef struct chooser {
  const leat_item *yield;
  leat_storage *const *places;
  uint32_t count;
  uint32_t *made_in; // by result: the number of the place, or NOWHERE yet
  uint32_t *taken;   // by place: the result that is made there, or NOWHERE
} chooser;

static void make_in(chooser *c, uint32_t result, uint32_t place) {
  c->made_in[result] = place;
  c->taken[place] = result;
}

// The place whose value the result begins as, or is if *whole; NOWHERE: none of its node's.
static uint32_t begins_in(const chooser *c, uint32_t result, bool *whole) {
  leat_item *value = c->yield->inputs[result];
  for (*whole = true; value && !value->held; *whole = false) value = changed_value(value);
  uint32_t i = 0;
  while (value && i < c->count && c->places[i] != value->held) i++;
  return value && i < c->count ? i : NOWHERE;
}

// Places that are to be changed lie in one piece of memory: of results of one node.
static bool can_change(const chooser *c, uint32_t a, uint32_t b) {
  const leat_storage *x = c->places[a], *y = c->places[b];
  const leat_node *owner = c->yield->node->graph->owner;
  return leat_type_equal(&x->type, &y->type) && is_updated(owner, x, a) &&
         is_updated(owner, y, b) && is_large(&x->type, LEAST_ROTATED) && x->node == y->node;
}

// The results that begin as a place's value, or those that are one, where they are.
static void choose_beginnings(chooser *c, bool own, bool wholes) {
  for (uint32_t i = 0; i < c->count; i++) {
    bool whole;
    uint32_t place = begins_in(c, i, &whole);
    if (place == NOWHERE || c->made_in[i] != NOWHERE || c->taken[place] != NOWHERE) continue;
    if ((own ? place == i : can_change(c, i, place)) && (whole || !wholes)) make_in(c, i, place);
  }
}

// The rest where they are carried; where another one is made there, where that is carried, and so
// on: so as few as possible change places.
static void choose_rest(chooser *c) {
  for (uint32_t i = 0; i < c->count; i++) {
    uint32_t place = i;
    while (c->made_in[i] == NOWHERE && c->taken[place] != NOWHERE) place = c->taken[place];
    if (c->made_in[i] == NOWHERE) make_in(c, i, place);
  }
}

static leat_storage **choose(const updater *u, leat_storage *const *places) {
  uint32_t count = u->yield->node->input_count;
  leat_storage **chosen = leat_new_array(u->arena, leat_storage *, (size_t)count + 1);
  chooser c = {u->yield, places, count, leat_new_array(u->arena, uint32_t, (size_t)count + 1),
               leat_new_array(u->arena, uint32_t, (size_t)count + 1)};
  for (uint32_t i = 0; i < count; i++) c.made_in[i] = c.taken[i] = NOWHERE;
  for (int part = 0; part < 2; part++) { // what is changed is copied, if it stays as it is, too
    choose_beginnings(&c, true, !part);
    choose_beginnings(&c, false, !part);
  }
  choose_rest(&c);
  for (uint32_t i = 0; i < count; i++) chosen[i] = places[c.made_in[i]];
  return chosen;
}

// -------------------------------------------------------------------------------------------------

leat_storage **leat_region_update_in_place(leat_table *body, leat_item *yield,
                                           leat_storage **results) {
  updater u = {.table = body, .arena = body->cg->arena, .yield = yield};
  if (receives(body->body)) return results;
  leat_storage **places = choose(&u, results);
  for (uint32_t i = 0; i < yield->node->input_count; i++) {
    u.place = places[i];
    if (is_updated(body->body->owner, u.place, i)) update(&u, i);
  }
  return places;
}
