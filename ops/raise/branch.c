// Places what lives alike together. Of the items that are alive under a context some always are:
// they stay. Each other one is decided by a predicate that is known there, or, where none is
// enough, by what it is alive for: those that one decision is about are a `conditional`, which
// holds the same again, in a narrower context. A merge that is always alive is decided by what its
// inputs are: a result of the conditional.
//
// Two items of one decision between which another one stands cannot be in one conditional. Each
// item has a *level*: not below that of what it uses, above it where that is decided otherwise. So
// the items of one decision and level need no other that needs them.
#include "ops/raise/web.h"

#include <string.h>

enum { STAYS = UINT32_MAX };

typedef struct group {
  leat_truth decision;
  uint32_t level;
  leat_vec(uint32_t) members;
  leat_web_refs given; // what others use of what is in it
} group;

typedef struct plan {
  leat_web *web;
  uint32_t number;
  leat_truth context;
  leat_map known; // the variables that the context decides
  leat_web_items items;
  leat_truth *decisions; // by item
  bool *stays;
  uint32_t *levels, *groups_of;
  leat_vec(group) groups;
  uint32_t most; // levels
  uint32_t user; // item whose uses are looked at
  const leat_web_refs *wanted;
} plan;

// -- What items use and give ----------------------------------------------------------------------

bool leat_web_has_effect(const leat_web_item *item) {
  if (item->node) return item->node->node->effect;
  for (uint32_t i = 0; i < item->loop->items.count; i++)
    if (leat_web_has_effect(&item->loop->items.items[i])) return true;
  return false;
}

void leat_web_uses(const leat_web_item *item, leat_web_user use, void *context) {
  const leat_web_node *n = item->node;
  for (uint32_t i = 0; item->loop && i < item->loop->enters.count; i++)
    use(context, leat_web_through(item->loop->enters.items[i]->inputs[0]));
  for (uint32_t i = 0; i < item->choice_count; i++)
    use(context, leat_web_through(item->choices[i].value));
  for (uint32_t i = 0; n && !item->choices && i < n->input_count; i++)
    use(context, leat_web_through(n->inputs[i]));
}

// The item of the plan that gives the value; NULL: what was placed before.
static const leat_web_item *giver(const plan *p, leat_web_ref ref) {
  return ref.of->plan == p->number ? &p->items.items[ref.of->item] : NULL;
}

void leat_web_mark(const leat_web_items *items, uint32_t number) {
  for (uint32_t i = 0; i < items->count; i++) {
    const leat_web_item *item = &items->items[i];
    uint32_t count = item->loop ? item->loop->leaves.count : 1;
    for (uint32_t k = 0; k < count; k++) {
      leat_web_node *n = item->loop ? item->loop->leaves.items[k] : item->node;
      n->plan = number;
      n->item = i;
    }
  }
}

// -- What is alive in the context -----------------------------------------------------------------

static leat_truth live_here(const plan *p, leat_web_ref ref) {
  return leat_truth_and(&p->web->truths, leat_web_live(ref), p->context);
}

// Of a merge: the inputs that may be alive here, up to the first that always is.
static void take_choices(const plan *p, leat_web_item *item) {
  leat_web_choice *choices = leat_new_array(p->web->scratch, leat_web_choice, item->choice_count);
  uint32_t count = 0;
  for (uint32_t i = 0; i < item->choice_count; i++) {
    leat_truth live = live_here(p, item->choices[i].value);
    if (live == LEAT_NEVER) continue;
    choices[count++] = item->choices[i];
    if (live == item->live) break;
  }
  item->choices = choices;
  item->choice_count = count;
}

static void take_items(plan *p, const leat_web_items *items) {
  for (uint32_t i = 0; i < items->count; i++) {
    leat_web_item item = items->items[i];
    item.live = leat_truth_and(&p->web->truths, item.live, p->context);
    if (item.live == LEAT_NEVER) continue;
    if (item.choices) {
      item.live = LEAT_NEVER;
      for (uint32_t k = 0; k < item.choice_count; k++)
        item.live = leat_truth_or(&p->web->truths, item.live, live_here(p, item.choices[k].value));
      take_choices(p, &item);
    }
    leat_vec_push(p->web->scratch, &p->items, item);
  }
}

// -- Decisions ------------------------------------------------------------------------------------

// It is on one side of the predicate.
static bool is_decided(const plan *p, leat_truth live, leat_truth predicate) {
  leat_truths *truths = &p->web->truths;
  return leat_truth_implies(truths, live, predicate) ||
         leat_truth_and(truths, live, predicate) == LEAT_NEVER;
}

static bool decides(const plan *p, const leat_web_item *item, leat_truth predicate) {
  bool merge = item->choices && item->live == p->context;
  if (!merge) return is_decided(p, item->live, predicate);
  for (uint32_t i = 0; i < item->choice_count; i++)
    if (!is_decided(p, live_here(p, item->choices[i].value), predicate)) return false;
  return true;
}

static void find_known(plan *p) {
  leat_truth_support support = leat_truth_support_of(&p->web->truths, p->context);
  leat_map_init(&p->known, p->web->scratch);
  for (uint32_t i = 0; i < support.count; i++)
    if (is_decided(p, p->context, leat_truth_variable(&p->web->truths, support.items[i])))
      leat_map_set(&p->known, leat_truth_key(support.items[i]), p);
}

// The function without the predicates that the context decides.
static leat_truth in_context(const plan *p, leat_truth truth) {
  leat_truths *truths = &p->web->truths;
  leat_truth_support support = leat_truth_support_of(truths, truth);
  for (uint32_t i = 0; i < support.count; i++) {
    leat_truth holds = leat_truth_variable(truths, support.items[i]);
    if (leat_map_get(&p->known, leat_truth_key(support.items[i])))
      truth = leat_truth_given(truths, truth, support.items[i],
                               leat_truth_implies(truths, p->context, holds));
  }
  return truth;
}

// The oldest predicate that is known in the context and decides the item, else what it is alive
// for.
static leat_truth decision_of(const plan *p, const leat_web_item *item) {
  leat_truths *truths = &p->web->truths;
  bool merge = item->choices && item->live == p->context;
  leat_truth live = merge ? live_here(p, item->choices[0].value) : item->live;
  leat_truth_support support = leat_truth_support_of(truths, live);
  for (uint32_t i = 0; i < support.count; i++) {
    const leat_web_predicate *predicate = &p->web->predicates.items[support.items[i]];
    leat_truth holds = leat_truth_variable(truths, support.items[i]);
    if (!leat_map_get(&p->known, leat_truth_key(support.items[i])) &&
        leat_truth_implies(truths, p->context, predicate->live) && decides(p, item, holds))
      return holds;
  }
  return in_context(p, live);
}

static bool item_stays(const plan *p, const leat_web_item *item) {
  if (leat_web_is_outermost(item->node)) return true;
  return item->live == p->context && (!item->choices || item->choice_count == 1);
}

static void decide(plan *p) {
  p->decisions = leat_new_array(p->web->scratch, leat_truth, (size_t)p->items.count + 1);
  p->stays = leat_new_array(p->web->scratch, bool, (size_t)p->items.count + 1);
  for (uint32_t i = 0; i < p->items.count; i++) {
    const leat_web_item *item = &p->items.items[i];
    p->stays[i] = item_stays(p, item);
    // of what stays: whether it has to know
    p->decisions[i] = p->stays[i] ? in_context(p, item->live) : decision_of(p, item);
  }
}

// -- Levels ---------------------------------------------------------------------------------------

static void visit_predicates(const plan *p, leat_truth truth, leat_web_user use, void *context) {
  leat_truth_support support = leat_truth_support_of(&p->web->truths, truth);
  for (uint32_t i = 0; i < support.count; i++)
    use(context, p->web->predicates.items[support.items[i]].value);
}

// What the item uses where it is placed, and what decides there where it is alive.
static void visit_uses(const plan *p, const leat_web_item *item, leat_web_user use, void *context) {
  leat_web_uses(item, use, context);
  visit_predicates(p, item->live, use, context);
  for (uint32_t i = 0; i < item->choice_count; i++)
    visit_predicates(p, leat_web_live(item->choices[i].value), use, context);
}

// A result of a conditional, for who is in the same one, too.
static bool is_result(const plan *p, const leat_web_item *item, uint32_t i) {
  return !p->stays[i] && item->choices && item->live == p->context;
}

static void raise_level(void *context, leat_web_ref ref) {
  plan *p = context;
  uint32_t user = p->user;
  if (!giver(p, ref)) return;
  uint32_t used = ref.of->item, level = p->levels[used];
  bool apart = !p->stays[used] && (p->stays[user] || p->decisions[used] != p->decisions[user] ||
                                   is_result(p, &p->items.items[used], used));
  if (apart) level++;
  if (level > p->levels[user]) p->levels[user] = level;
}

static void set_levels(plan *p) {
  p->levels = leat_new_array(p->web->scratch, uint32_t, (size_t)p->items.count + 1);
  for (uint32_t i = 0; i < p->items.count; i++) {
    const leat_web_node *n = p->items.items[i].node;
    p->user = i;
    visit_uses(p, &p->items.items[i], raise_level, p);
    visit_predicates(p, p->decisions[i], raise_level, p);
    for (uint32_t k = 0; n && k < n->control_count; k++)
      raise_level(p, leat_web_through((leat_web_ref){n->controls[k], 0}));
    if (p->levels[i] > p->most) p->most = p->levels[i];
  }
}

// What is used late is computed late, beside what uses it.
static void sink(void *context, leat_web_ref ref) {
  plan *p = context;
  if (!giver(p, ref)) return;
  uint32_t used = ref.of->item, user = p->user;
  bool together = !p->stays[used] && !p->stays[user] && p->decisions[used] == p->decisions[user] &&
                  !is_result(p, &p->items.items[used], used);
  uint32_t most = together ? p->levels[user] : p->levels[user] ? p->levels[user] - 1 : 0;
  if (p->groups_of[used] == STAYS || most < p->groups_of[used]) p->groups_of[used] = most;
}

static void sink_levels(plan *p) {
  p->groups_of = leat_new_array(p->web->scratch, uint32_t, (size_t)p->items.count + 1);
  memset(p->groups_of, 0xff, p->items.count * sizeof *p->groups_of);
  for (uint32_t i = p->items.count; i-- > 0;) {
    bool sinks = !p->stays[i] && !is_result(p, &p->items.items[i], i);
    const leat_web_node *n = p->items.items[i].node;
    if (sinks && p->groups_of[i] != STAYS && p->groups_of[i] > p->levels[i])
      p->levels[i] = p->groups_of[i];
    p->user = i;
    visit_uses(p, &p->items.items[i], sink, p);
    visit_predicates(p, p->decisions[i], sink, p);
    for (uint32_t k = 0; n && k < n->control_count; k++)
      sink(p, leat_web_through((leat_web_ref){n->controls[k], 0}));
  }
}

// -- Groups ---------------------------------------------------------------------------------------

static uint32_t group_of(plan *p, leat_truth decision, uint32_t level) {
  for (uint32_t i = p->groups.count; i-- > 0;)
    if (p->groups.items[i].decision == decision && p->groups.items[i].level == level) return i;
  leat_vec_push(p->web->scratch, &p->groups, (group){.decision = decision, .level = level});
  return p->groups.count - 1;
}

static void make_groups(plan *p) {
  for (uint32_t i = 0; i < p->items.count; i++) {
    p->groups_of[i] = p->stays[i] ? STAYS : group_of(p, p->decisions[i], p->levels[i]);
    if (!p->stays[i]) leat_vec_push(p->web->scratch, &p->groups.items[p->groups_of[i]].members, i);
  }
}

static void give(plan *p, leat_web_ref ref) {
  group *from = &p->groups.items[p->groups_of[ref.of->item]];
  for (uint32_t i = 0; i < from->given.count; i++)
    if (from->given.items[i].of == ref.of && from->given.items[i].port == ref.port) return;
  leat_vec_push(p->web->scratch, &from->given, ref);
}

static void see_use(void *context, leat_web_ref ref) {
  plan *p = context;
  if (!giver(p, ref)) return;
  uint32_t from = p->groups_of[ref.of->item];
  if (from != STAYS && from != p->groups_of[p->user]) give(p, ref);
}

static void find_given(plan *p) {
  for (uint32_t i = 0; i < p->items.count; i++) {
    p->user = i;
    visit_uses(p, &p->items.items[i], see_use, p);
  }
  p->user = p->items.count; // none of them: a decision, or who wants it behind
  p->groups_of[p->user] = STAYS;
  for (uint32_t i = 0; i < p->items.count; i++) visit_predicates(p, p->decisions[i], see_use, p);
  for (uint32_t i = 0; i < p->wanted->count; i++) see_use(p, leat_web_through(p->wanted->items[i]));
}

// -- Conditionals ---------------------------------------------------------------------------------

static leat_web_items members_of(const plan *p, const group *g) {
  leat_web_items members = {0};
  for (uint32_t i = 0; i < g->members.count; i++)
    leat_vec_push(p->web->scratch, &members, p->items.items[g->members.items[i]]);
  return members;
}

static bool is_alive(const plan *p, leat_web_ref ref, leat_truth side) {
  const leat_web_item *item = giver(p, ref);
  return leat_truth_and(&p->web->truths, item->live, side) != LEAT_NEVER;
}

static bool place_side(plan *p, const group *g, const leat_web_items *members, leat_truth side,
                       const bool *alive, leat_value *results) {
  leat_web_refs wanted = {0};
  for (uint32_t i = 0; i < g->given.count; i++)
    if (alive[i]) leat_vec_push(p->web->scratch, &wanted, g->given.items[i]);
  if (!leat_web_place(p->web, side, members, &wanted)) return false;
  for (uint32_t i = 0; i < g->given.count; i++)
    results[i] =
        alive[i] ? leat_web_now(g->given.items[i]) : leat_web_zeros(p->web, g->given.items[i]);
  return true;
}

// What it is called after, and stands where: a merge, if there is one.
static const leat_web_node *namesake(const plan *p, const group *g) {
  const leat_web_item *first = &p->items.items[g->members.items[0]];
  for (uint32_t i = 0; i < g->members.count; i++)
    if (p->items.items[g->members.items[i]].choices)
      return p->items.items[g->members.items[i]].node;
  return first->loop ? first->loop->enters.items[0] : first->node;
}

static bool place_group(plan *p, const group *g) {
  leat_web *web = p->web;
  leat_web_items members = members_of(p, g);
  const leat_web_node *named = namesake(p, g);
  leat_builder builder = leat_web_builder(web, named);
  uint32_t count = g->given.count;
  leat_truth sides[2] = {g->decision, leat_truth_not(&web->truths, g->decision)};
  leat_value predicate = leat_web_compute(web, named, g->decision), *results[2];
  const char *path = named->node->op == LEAT_OP_merge
                         ? named->node->name
                         : leat_intern_path(web->graph->strings, named->node->name, "alive");
  leat_graph *around = web->graph;
  leat_region region = leat_region_begin(&builder, leat_graph_unique_name(around, path));
  bool *alive[2];
  for (int i = 0; i < 2; i++) {
    sides[i] = leat_truth_and(&web->truths, sides[i], p->context);
    alive[i] = leat_new_array(web->scratch, bool, (size_t)count + 1);
    for (uint32_t k = 0; k < count; k++) alive[i][k] = is_alive(p, g->given.items[k], sides[i]);
  }
  for (int i = 0; i < 2; i++) {
    results[i] = leat_new_array(web->scratch, leat_value, (size_t)count + 1);
    web->graph = leat_region_open(&region);
    if (!place_side(p, g, &members, sides[i], alive[i], results[i])) return false;
    leat_region_close(&region);
    web->graph = around;
  }
  for (int i = 0; i < 2; i++)
    for (uint32_t k = 0; k < count; k++) leat_region_give(&region, (uint32_t)i, results[i][k]);
  leat_node *node = leat_region_end(&region, LEAT_OP_conditional, &predicate).node;
  for (uint32_t k = 0; node && k < count; k++) {
    leat_web_node *given = g->given.items[k].of;
    given->now[g->given.items[k].port] = (leat_value){node, k};
    if (given->node->op == LEAT_OP_merge) given->placed = node;
  }
  return node;
}

// -- The plan -------------------------------------------------------------------------------------

static bool place_item(leat_web *web, const leat_web_item *item) {
  if (item->loop) return leat_web_place_loop(web, item->loop);
  if (item->choices) return leat_web_place_merge(web, item);
  return leat_web_place_node(web, item->node, item->live);
}

static bool place_level(plan *p, uint32_t level) {
  for (uint32_t i = 0; i < p->items.count; i++)
    if (p->stays[i] && p->levels[i] == level && !place_item(p->web, &p->items.items[i]))
      return false;
  for (uint32_t i = 0; i < p->groups.count; i++)
    if (p->groups.items[i].level == level && !place_group(p, &p->groups.items[i])) return false;
  return true;
}

bool leat_web_place(leat_web *web, leat_truth context, const leat_web_items *items,
                    const leat_web_refs *wanted) {
  plan p = {.web = web, .number = ++web->plans, .context = context, .wanted = wanted};
  if (items->count > 0 && web->truths.full)
    return leat_web_fail(web, &web->nodes[0], "%s", leat_web_too_many);
  find_known(&p);
  take_items(&p, items);
  leat_web_mark(&p.items, p.number);
  decide(&p);
  set_levels(&p);
  sink_levels(&p);
  make_groups(&p);
  find_given(&p);
  for (uint32_t level = 0; level <= p.most; level++)
    if (!place_level(&p, level)) return false;
  return true;
}
