// Nodes done again with other values in the place of some: what a body does, with its parameters
// given, or what depends on a value, with another one there. What they bind are dims of their own.
#include "frontend/values/region.h"
#include "frontend/values/tensors.h"
#include "ir/substitution.h"
#include "ops/turns.h"

ev_repetition ev_repetition_begin(evaluator *e, const leat_graph *from) {
  uint32_t count = from->nodes.count;
  leat_substitution *dims = leat_new(e->arena, leat_substitution);
  *dims = leat_substitution_begin(e->graph->dims, e->arena);
  leat_value **copies = leat_new_array(e->arena, leat_value *, (size_t)count + 1);
  return (ev_repetition){.e = e, .from = from, .count = count, .copies = copies, .dims = dims};
}

leat_value ev_repeated(const ev_repetition *r, leat_value value) {
  uint32_t id = value.node->id;
  return id < r->count && r->copies[id] ? r->copies[id][value.port] : value;
}

// The copy has the outputs of the node.
static void stand_in(const ev_repetition *r, const leat_node *node, leat_node *copy) {
  leat_value *outputs = leat_new_array(r->e->arena, leat_value, (size_t)node->output_count + 1);
  for (uint32_t i = 0; i <= node->output_count; i++) outputs[i] = (leat_value){copy, i};
  r->copies[node->id] = outputs;
}

static bool can_repeat(const leat_node *node) {
  return node->op != LEAT_OP_parameter && node->op != LEAT_OP_yield && !leat_node_only_acts(node);
}

static ev in_copy_of(void *repetition, ev item) {
  const ev_repetition *r = repetition;
  if (item.kind == EV_TENSOR) item.tensor = ev_repeated(r, item.tensor);
  if (item.kind == EV_DIM) item = ev_of_dim(leat_substitute_dim(r->dims, item.dim));
  return item;
}

static const ev_list *list_in_copy(const ev_repetition *r, const ev_list *list) {
  ev whole = {.kind = EV_LIST, .list = list};
  return ev_with_items(r->e, whole, in_copy_of, (void *)r).list;
}

void ev_record_call(evaluator *e, const ev_function *rule, const ev_list *args, const ev *results,
                    uint32_t count) {
  ev_call_record *record = leat_new(e->arena, ev_call_record);
  record->rule = rule;
  record->args = args;
  record->results = ev_make_list(e, results, count).list;
  if (!record->results) return;
  record->first = results[0].tensor.node;
  for (uint32_t i = 0; i < count; i++) {
    const leat_node *node = results[i].tensor.node;
    if (node->id < record->first->id) record->first = node;
    ev_set(e, &e->records, node, record);
  }
}

// A call with a rule of its own is one in the copy, too.
static void repeat_record(const ev_repetition *r, const ev_call_record *record) {
  evaluator *e = r->e;
  ev_call_record *copy = leat_arena_memdup(e->arena, record, sizeof *record);
  copy->args = list_in_copy(r, record->args);
  copy->results = list_in_copy(r, record->results);
  copy->first = r->copies[record->first->id][0].node;
  for (uint32_t i = 0; i < copy->results->count; i++)
    ev_set(e, &e->records, copy->results->items[i].tensor.node, copy);
}

void ev_repeat_records(const ev_repetition *r, const bool *repeated) {
  for (uint32_t i = 0; i < r->count; i++) {
    const leat_node *node = r->from->nodes.items[i];
    const ev_call_record *record = repeated[i] ? leat_map_get(&r->e->records, node) : NULL;
    if (record && record->first == node) repeat_record(r, record);
  }
}

// Its nodes are copied already, in their order.
static void repeat_records_of_body(const ev_repetition *outer, const leat_graph *from,
                                   const leat_graph *to) {
  ev_repetition r = ev_repetition_begin(outer->e, from);
  bool *all = leat_new_array(r.e->arena, bool, (size_t)r.count + 1);
  r.dims = outer->dims;
  for (uint32_t i = 0; i < r.count; i++) {
    const leat_node *node = from->nodes.items[i];
    stand_in(&r, node, to->nodes.items[i]);
    all[i] = true;
    for (int b = 0; b < node->info->attr_count; b++)
      if (leat_node_body(node, b))
        repeat_records_of_body(&r, leat_node_body(node, b), leat_node_body(to->nodes.items[i], b));
  }
  ev_repeat_records(&r, all);
}

// What has an effect has it once.
static void repeat_bodies(const ev_repetition *r, const leat_node *node, leat_node *copy) {
  for (int b = 0; b < node->info->attr_count; b++) {
    leat_graph *body = leat_node_body(copy, b);
    if (!body) continue;
    repeat_records_of_body(r, leat_node_body(node, b), body);
    leat_graph_drop_acts(body);
  }
  leat_node_set_op(copy, copy->op);
}

leat_node *ev_repeat_node(const ev_repetition *r, const leat_node *node) {
  evaluator *e = r->e;
  leat_value *inputs = leat_new_array(e->arena, leat_value, node->input_count);
  for (uint32_t i = 0; i < node->input_count; i++) inputs[i] = ev_repeated(r, node->inputs[i]);
  const char *name = leat_intern(e->strings, leat_path_last(node->name));
  const char *path = leat_intern_path(e->strings, e->path, name);
  leat_node *copy =
      leat_graph_append_like(e->graph, node, path, inputs, node->attrs, e->entry, r->dims);
  repeat_bodies(r, node, copy);
  for (uint32_t i = 0; i < node->control_count; i++) {
    const leat_value *control = r->copies[node->controls[i]->id];
    if (control) leat_node_add_control(e->graph, copy, control->node);
  }
  if (leat_map_get(&e->zeros, node)) ev_set(e, &e->zeros, copy, copy);
  stand_in(r, node, copy);
  return copy;
}

// -- A body -------------------------------------------------------------------------------------

leat_node *const *ev_region_repeat(evaluator *e, const leat_graph *body, const leat_value *params,
                                   leat_value *out) {
  ev_repetition r = ev_repetition_begin(e, body);
  bool *repeated = leat_new_array(e->arena, bool, (size_t)r.count + 1);
  leat_node **made = leat_new_array(e->arena, leat_node *, (size_t)r.count + 1);
  for (uint32_t i = 0; i < r.count; i++) {
    const leat_node *node = body->nodes.items[i];
    if (node->op == LEAT_OP_parameter)
      r.copies[i] =
          leat_arena_memdup(e->arena, &params[leat_node_attr(node, "index")->i], sizeof *params);
    repeated[i] = can_repeat(node);
    if (repeated[i]) made[i] = ev_repeat_node(&r, node);
  }
  ev_repeat_records(&r, repeated);
  for (uint32_t i = 0; i < body->yield->input_count; i++)
    out[i] = ev_repeated(&r, body->yield->inputs[i]);
  return made;
}

// -- What depends on a value --------------------------------------------------------------------

// What `asked` is made of, the dims that it has among it.
static void ask_inputs(const ev_repetition *r, bool *asked) {
  for (uint32_t id = r->count; id-- > 0;) {
    const leat_node *node = r->from->nodes.items[id];
    for (uint32_t i = 0; asked[id] && i < node->input_count; i++)
      asked[node->inputs[i].node->id] = true;
    for (uint32_t i = 0; asked[id] && i < node->control_count; i++)
      if (node->controls[i]->op == LEAT_OP_bind) asked[node->controls[i]->id] = true;
  }
}

// All results of a call with a rule of its own are asked for, or none. True: now more are.
static bool ask_results(const ev_repetition *r, bool *asked) {
  bool more = false;
  for (uint32_t id = 0; id < r->count; id++) {
    const ev_call_record *record =
        asked[id] ? leat_map_get(&r->e->records, r->from->nodes.items[id]) : NULL;
    for (uint32_t i = 0; record && i < record->results->count; i++) {
      bool *result = &asked[record->results->items[i].tensor.node->id];
      more = more || !*result;
      *result = true;
    }
  }
  return more;
}

static bool depends(const ev_repetition *r, const leat_node *node, const bool *on) {
  const ev_call_record *record = leat_map_get(&r->e->records, node);
  for (uint32_t i = 0; record && i < record->args->count; i++) {
    ev arg = record->args->items[i];
    if (arg.kind == EV_TENSOR && on[arg.tensor.node->id]) return true;
  }
  for (uint32_t i = 0; i < node->input_count; i++)
    if (on[node->inputs[i].node->id]) return true;
  for (uint32_t i = 0; i < node->control_count; i++)
    if (node->controls[i]->op == LEAT_OP_bind && on[node->controls[i]->id]) return true;
  return false;
}

// What the values are made of that depends on some of `of`, which are left out.
static bool *mark_between(const ev_repetition *r, const leat_value *values, uint32_t count,
                          const leat_value *of, uint32_t of_count) {
  bool *asked = leat_new_array(r->e->arena, bool, (size_t)r->count + 1);
  bool *between = leat_new_array(r->e->arena, bool, (size_t)r->count + 1);
  for (uint32_t i = 0; i < count; i++) asked[values[i].node->id] = true;
  do ask_inputs(r, asked);
  while (ask_results(r, asked));
  for (uint32_t i = 0; i < of_count; i++) between[of[i].node->id] = true;
  for (uint32_t id = 0; id < r->count; id++) {
    const leat_node *node = r->from->nodes.items[id];
    between[id] = between[id] || (asked[id] && can_repeat(node) && depends(r, node, between));
  }
  for (uint32_t i = 0; i < of_count; i++) between[of[i].node->id] = false;
  return between;
}

void ev_substitute(evaluator *e, leat_value *values, uint32_t count, const leat_value *of,
                   const leat_value *by, uint32_t of_count) {
  ev_repetition r = ev_repetition_begin(e, e->graph);
  const bool *between = mark_between(&r, values, count, of, of_count);
  for (uint32_t i = 0; i < of_count; i++)
    r.copies[of[i].node->id] = leat_arena_memdup(e->arena, &by[i], sizeof *by);
  for (uint32_t id = 0; id < r.count; id++) {
    if (!between[id]) continue;
    leat_node *copy = ev_repeat_node(&r, e->graph->nodes.items[id]);
    leat_node_set_turns(copy); // what they counted by may be another value
  }
  ev_repeat_records(&r, between);
  for (uint32_t i = 0; i < count; i++) values[i] = ev_repeated(&r, values[i]);
}
