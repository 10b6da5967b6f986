// Nodes done again with other values in the place of some: what a body does, with its parameters
// given, or what depends on a value, with another one there. What they bind are dims of their own.
#include "frontend/values/region.h"
#include "frontend/values/tensors.h"
#include "ir/substitution.h"
#include "ops/turns.h"

ev_repetition ev_repetition_begin(evaluator *e) {
  ev_repetition r = {.e = e, .dims = leat_new(e->arena, leat_substitution)};
  *r.dims = leat_substitution_begin(e->graph->dims, e->arena);
  leat_map_init(&r.copies, e->arena);
  return r;
}

leat_value ev_repeated(const ev_repetition *r, leat_value value) {
  value = leat_region_origin(value);
  const leat_value *outputs = leat_map_get(&r->copies, value.node);
  return outputs ? outputs[value.port] : value;
}

void ev_stand_in(ev_repetition *r, const leat_node *node, leat_value value) {
  leat_map_set(&r->copies, node, leat_arena_memdup(r->e->arena, &value, sizeof value));
}

// The copy has the outputs of the node.
static void copy_stands_in(ev_repetition *r, const leat_node *node, leat_node *copy) {
  leat_value *outputs = leat_new_array(r->e->arena, leat_value, (size_t)node->output_count + 1);
  for (uint32_t i = 0; i <= node->output_count; i++) outputs[i] = (leat_value){copy, i};
  leat_map_set(&r->copies, node, outputs);
}

static bool can_repeat(const leat_node *node) {
  return node->op != LEAT_OP_parameter && node->op != LEAT_OP_yield && !leat_node_only_acts(node);
}

// -- Calls with rules of their own ----------------------------------------------------------------

static ev inside(void *graph, ev item) {
  if (item.kind == EV_TENSOR) item.tensor = leat_region_inside(graph, item.tensor);
  return item;
}

void ev_record_call(evaluator *e, const ev_function *rule, const ev_list *args, const ev *results,
                    uint32_t count) {
  ev_call_record *record = leat_new(e->arena, ev_call_record);
  leat_graph *graph = results[0].tensor.node->graph;
  record->rule = rule;
  record->args = ev_with_items(e, (ev){.kind = EV_LIST, .list = args}, inside, graph).list;
  record->results = ev_make_list(e, results, count).list;
  if (!record->results) return;
  record->first = results[0].tensor.node;
  for (uint32_t i = 0; i < count; i++) {
    const leat_node *node = results[i].tensor.node;
    if (node->id < record->first->id) record->first = node;
    ev_set(e, &e->records, node, record);
  }
}

static ev in_copy(void *repetition, ev item) {
  const ev_repetition *r = repetition;
  if (item.kind == EV_TENSOR) item.tensor = ev_repeated(r, item.tensor);
  if (item.kind == EV_DIM) item = ev_of_dim(leat_substitute_dim(r->dims, item.dim));
  return item;
}

// That the node is the first result of is a call with a rule of its own in the copy, too.
static void repeat_record(ev_repetition *r, const leat_node *node) {
  evaluator *e = r->e;
  const ev_call_record *record = leat_map_get(&e->records, node);
  if (!record || record->first != node) return;
  ev args = ev_with_items(e, (ev){.kind = EV_LIST, .list = record->args}, in_copy, r);
  ev results = ev_with_items(e, (ev){.kind = EV_LIST, .list = record->results}, in_copy, r);
  ev_record_call(e, record->rule, args.list, results.list->items, results.list->count);
}

void ev_repeat_records(ev_repetition *r) {
  for (uint32_t i = 0; i < r->copied.count; i++) repeat_record(r, r->copied.items[i]);
}

// Its nodes are copied already, in their order.
static void repeat_records_of_body(ev_repetition *r, const leat_graph *from, const leat_graph *to) {
  uint32_t count = from->nodes.count;
  for (uint32_t i = 0; i < count; i++) copy_stands_in(r, from->nodes.items[i], to->nodes.items[i]);
  for (uint32_t i = 0; i < count; i++) {
    const leat_node *node = from->nodes.items[i];
    for (int b = 0; b < node->info->attr_count; b++)
      if (leat_node_body(node, b))
        repeat_records_of_body(r, leat_node_body(node, b), leat_node_body(to->nodes.items[i], b));
    repeat_record(r, node);
  }
}

// -- A node ---------------------------------------------------------------------------------------

// What has an effect has it once.
static void repeat_bodies(ev_repetition *r, const leat_node *node, leat_node *copy) {
  for (int b = 0; b < node->info->attr_count; b++) {
    leat_graph *body = leat_node_body(copy, b);
    if (!body) continue;
    repeat_records_of_body(r, leat_node_body(node, b), body);
    leat_graph_drop_acts(body);
  }
  leat_node_set_op(copy, copy->op);
}

leat_node *ev_repeat_node(ev_repetition *r, const leat_node *node) {
  evaluator *e = r->e;
  leat_value *inputs = leat_new_array(e->arena, leat_value, node->input_count);
  for (uint32_t i = 0; i < node->input_count; i++)
    inputs[i] = leat_region_inside(e->at.body, ev_repeated(r, node->inputs[i]));
  const char *name = leat_intern(e->strings, leat_path_last(node->name));
  const char *path = leat_intern_path(e->strings, e->at.path, name);
  leat_node *copy =
      leat_graph_append_like(e->at.body, node, path, inputs, node->attrs, e->at.entry, r->dims);
  repeat_bodies(r, node, copy);
  for (uint32_t i = 0; i < node->control_count; i++) {
    const leat_value *control = leat_map_get(&r->copies, node->controls[i]);
    if (control) leat_node_add_control(e->at.body, copy, control->node);
  }
  if (leat_map_get(&e->zeros, node)) ev_set(e, &e->zeros, copy, copy);
  copy_stands_in(r, node, copy);
  leat_vec_push(e->arena, &r->copied, (leat_node *)node);
  return copy;
}

// -- A body -------------------------------------------------------------------------------------

leat_node *const *ev_region_repeat(evaluator *e, const leat_graph *body, const leat_value *params,
                                   leat_value *out) {
  ev_repetition r = ev_repetition_begin(e);
  leat_node **made = leat_new_array(e->arena, leat_node *, (size_t)body->nodes.count + 1);
  for (uint32_t i = 0; i < body->nodes.count; i++) {
    const leat_node *node = body->nodes.items[i];
    if (node->op == LEAT_OP_parameter)
      ev_stand_in(&r, node, params[leat_node_attr(node, "index")->i]);
    if (can_repeat(node)) made[i] = ev_repeat_node(&r, node);
  }
  ev_repeat_records(&r);
  for (uint32_t i = 0; i < body->yield->input_count; i++)
    out[i] = ev_repeated(&r, body->yield->inputs[i]);
  return made;
}

// -- What depends on a value --------------------------------------------------------------------

// The nodes that there are.
typedef struct search {
  const evaluator *e;
  ev_numbered all;
} search;

static bool *mark_of(const search *s, bool *marks, leat_value value) {
  return &marks[ev_number_of(&s->all, value)];
}

// What `asked` is made of, the dims that it has among it.
static void ask_inputs(const search *s, bool *asked) {
  for (uint32_t number = s->all.count; number-- > 0;) {
    const leat_node *node = s->all.nodes[number];
    if (!asked[number]) continue;
    for (uint32_t i = 0; i < node->input_count; i++) *mark_of(s, asked, node->inputs[i]) = true;
    for (uint32_t i = 0; i < node->control_count; i++)
      if (node->controls[i]->op == LEAT_OP_bind)
        *mark_of(s, asked, (leat_value){node->controls[i], 0}) = true;
  }
}

// All results of a call with a rule of its own are asked for, or none. True: now more are.
static bool ask_results(const search *s, bool *asked) {
  bool more = false;
  for (uint32_t number = 0; number < s->all.count; number++) {
    const ev_call_record *record =
        asked[number] ? leat_map_get(&s->e->records, s->all.nodes[number]) : NULL;
    for (uint32_t i = 0; record && i < record->results->count; i++) {
      bool *result = mark_of(s, asked, record->results->items[i].tensor);
      more = more || !*result;
      *result = true;
    }
  }
  return more;
}

static bool depends(const search *s, const leat_node *node, bool *on) {
  const ev_call_record *record = leat_map_get(&s->e->records, node);
  for (uint32_t i = 0; record && i < record->args->count; i++) {
    ev arg = record->args->items[i];
    if (arg.kind == EV_TENSOR && *mark_of(s, on, arg.tensor)) return true;
  }
  for (uint32_t i = 0; i < node->input_count; i++)
    if (*mark_of(s, on, node->inputs[i])) return true;
  for (uint32_t i = 0; i < node->control_count; i++)
    if (node->controls[i]->op == LEAT_OP_bind &&
        *mark_of(s, on, (leat_value){node->controls[i], 0}))
      return true;
  return false;
}

// What the values are made of that depends on some of `of`, which are left out.
static bool *mark_between(const search *s, const leat_value *values, uint32_t count,
                          const leat_value *of, uint32_t of_count) {
  leat_arena *arena = s->e->arena;
  bool *asked = leat_new_array(arena, bool, (size_t)s->all.count + 1);
  bool *between = leat_new_array(arena, bool, (size_t)s->all.count + 1);
  for (uint32_t i = 0; i < count; i++) *mark_of(s, asked, values[i]) = true;
  do ask_inputs(s, asked);
  while (ask_results(s, asked));
  for (uint32_t i = 0; i < of_count; i++) *mark_of(s, between, of[i]) = true;
  for (uint32_t number = 0; number < s->all.count; number++) {
    const leat_node *node = s->all.nodes[number];
    between[number] =
        between[number] || (asked[number] && can_repeat(node) && depends(s, node, between));
  }
  for (uint32_t i = 0; i < of_count; i++) *mark_of(s, between, of[i]) = false;
  return between;
}

void ev_substitute(evaluator *e, leat_value *values, uint32_t count, const leat_value *of,
                   const leat_value *by, uint32_t of_count) {
  ev_repetition r = ev_repetition_begin(e);
  search s = {e, ev_number_nodes(e, true, e->arena)};
  const bool *between = mark_between(&s, values, count, of, of_count);
  for (uint32_t i = 0; i < of_count; i++) ev_stand_in(&r, leat_region_origin(of[i]).node, by[i]);
  for (uint32_t number = 0; number < s.all.count; number++) {
    if (!between[number]) continue;
    leat_node *copy = ev_repeat_node(&r, s.all.nodes[number]);
    leat_node_set_turns(copy); // what they counted by may be another value
  }
  ev_repeat_records(&r);
  for (uint32_t i = 0; i < count; i++) values[i] = ev_repeated(&r, values[i]);
}
