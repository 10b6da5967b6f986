// Nodes done again with other values in the place of some: what a body does, with its parameters
// given, or what depends on a value, with another one there. What they bind are dims of their own.
#include "frontend/evaluate/calls.h"
#include "frontend/evaluate/region.h"
#include "ir/substitution.h"
#include "ops/turns.h"

typedef struct repetition {
  evaluator *e;
  const leat_graph *from;
  uint32_t count;     // of its nodes, before any is repeated
  leat_value *copies; // by id there: what stands for the node's first output; {NULL}: itself
  leat_substitution *dims;
} repetition;

static repetition begin(evaluator *e, const leat_graph *from) {
  uint32_t count = from->nodes.count;
  leat_substitution *dims = leat_new(e->arena, leat_substitution);
  *dims = leat_substitution_begin(e->graph->dims, e->arena);
  leat_value *copies = leat_new_array(e->arena, leat_value, (size_t)count + 1);
  return (repetition){.e = e, .from = from, .count = count, .copies = copies, .dims = dims};
}

static leat_value in_copy(const repetition *r, leat_value value) {
  if (value.node->id >= r->count) return value;
  leat_value copy = r->copies[value.node->id];
  return copy.node ? (leat_value){copy.node, copy.port + value.port} : value;
}

static bool can_repeat(const leat_node *node) {
  return node->op != LEAT_OP_parameter && node->op != LEAT_OP_yield && !leat_node_only_acts(node);
}

static ev in_copy_of(const repetition *r, ev value) {
  evaluator *e = r->e;
  if (value.kind == EV_TENSOR) value.tensor = in_copy(r, value.tensor);
  if (value.kind == EV_DIM) value = ev_of_dim(leat_substitute_dim(r->dims, value.dim));
  if (value.kind != EV_LIST) return value;
  ev_list *list = leat_arena_memdup(e->arena, value.list, sizeof *list);
  ev *items = leat_new_array(e->arena, ev, (size_t)list->count + 1);
  for (uint32_t i = 0; i < list->count; i++) items[i] = in_copy_of(r, list->items[i]);
  list->items = items;
  value.list = list;
  return value;
}

// A call with a rule of its own is one in the copy, too.
static void repeat_record(const repetition *r, const ev_call_record *record) {
  evaluator *e = r->e;
  ev_call_record *copy = leat_arena_memdup(e->arena, record, sizeof *record);
  copy->args = in_copy_of(r, (ev){.kind = EV_LIST, .list = record->args}).list;
  copy->results = in_copy_of(r, (ev){.kind = EV_LIST, .list = record->results}).list;
  copy->first = r->copies[record->first->id].node;
  for (uint32_t i = 0; i < copy->results->count; i++)
    ev_set(e, &e->records, copy->results->items[i].tensor.node, copy);
}

static void repeat_records(const repetition *r, const bool *repeated) {
  for (uint32_t i = 0; i < r->count; i++) {
    const leat_node *node = r->from->nodes.items[i];
    const ev_call_record *record = repeated[i] ? leat_map_get(&r->e->records, node) : NULL;
    if (record && record->first == node) repeat_record(r, record);
  }
}

// Its nodes are copied already, in their order.
static void repeat_records_of_body(const repetition *outer, const leat_graph *from,
                                   const leat_graph *to) {
  repetition r = begin(outer->e, from);
  bool *all = leat_new_array(r.e->arena, bool, (size_t)r.count + 1);
  r.dims = outer->dims;
  for (uint32_t i = 0; i < r.count; i++) {
    const leat_node *node = from->nodes.items[i];
    r.copies[i] = (leat_value){to->nodes.items[i], 0};
    all[i] = true;
    for (int b = 0; b < node->info->attr_count; b++)
      if (leat_node_body(node, b))
        repeat_records_of_body(&r, leat_node_body(node, b), leat_node_body(to->nodes.items[i], b));
  }
  repeat_records(&r, all);
}

// What has an effect has it once.
static void repeat_bodies(const repetition *r, const leat_node *node, leat_node *copy) {
  for (int b = 0; b < node->info->attr_count; b++) {
    leat_graph *body = leat_node_body(copy, b);
    if (!body) continue;
    repeat_records_of_body(r, leat_node_body(node, b), body);
    leat_graph_drop_acts(body);
  }
  leat_node_set_op(copy, copy->op);
}

static void repeat_node(const repetition *r, const leat_node *node) {
  evaluator *e = r->e;
  leat_value *inputs = leat_new_array(e->arena, leat_value, node->input_count);
  for (uint32_t i = 0; i < node->input_count; i++) inputs[i] = in_copy(r, node->inputs[i]);
  const char *name = leat_intern(e->strings, leat_path_last(node->name));
  const char *path = leat_intern_path(e->strings, e->path, name);
  leat_node *copy =
      leat_graph_append_like(e->graph, node, path, inputs, node->attrs, e->entry, r->dims);
  repeat_bodies(r, node, copy);
  for (uint32_t i = 0; i < node->control_count; i++) {
    leat_node *control = r->copies[node->controls[i]->id].node;
    if (control) leat_node_add_control(e->graph, copy, control);
  }
  if (leat_map_get(&e->zeros, node)) ev_set(e, &e->zeros, copy, copy);
  r->copies[node->id] = (leat_value){copy, 0};
}

// -- A body -------------------------------------------------------------------------------------

leat_node *const *ev_region_repeat(evaluator *e, const leat_graph *body, const leat_value *params,
                                   leat_value *out) {
  repetition r = begin(e, body);
  bool *repeated = leat_new_array(e->arena, bool, (size_t)r.count + 1);
  leat_node **made = leat_new_array(e->arena, leat_node *, (size_t)r.count + 1);
  for (uint32_t i = 0; i < r.count; i++) {
    const leat_node *node = body->nodes.items[i];
    if (node->op == LEAT_OP_parameter) r.copies[i] = params[leat_node_attr(node, "index")->i];
    repeated[i] = can_repeat(node);
    if (!repeated[i]) continue;
    repeat_node(&r, node);
    made[i] = r.copies[i].node;
  }
  repeat_records(&r, repeated);
  for (uint32_t i = 0; i < body->yield->input_count; i++)
    out[i] = in_copy(&r, body->yield->inputs[i]);
  return made;
}

// -- What depends on a value --------------------------------------------------------------------

// What `asked` is made of, the dims that it has among it.
static void ask_inputs(const repetition *r, bool *asked) {
  for (uint32_t id = r->count; id-- > 0;) {
    const leat_node *node = r->from->nodes.items[id];
    for (uint32_t i = 0; asked[id] && i < node->input_count; i++)
      asked[node->inputs[i].node->id] = true;
    for (uint32_t i = 0; asked[id] && i < node->control_count; i++)
      if (node->controls[i]->op == LEAT_OP_bind) asked[node->controls[i]->id] = true;
  }
}

// All results of a call with a rule of its own are asked for, or none. True: now more are.
static bool ask_results(const repetition *r, bool *asked) {
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

static bool depends(const repetition *r, const leat_node *node, const bool *on) {
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
static bool *mark_between(const repetition *r, const leat_value *values, uint32_t count,
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
  repetition r = begin(e, e->graph);
  const bool *between = mark_between(&r, values, count, of, of_count);
  for (uint32_t i = 0; i < of_count; i++) r.copies[of[i].node->id] = by[i];
  for (uint32_t id = 0; id < r.count; id++) {
    if (!between[id]) continue;
    repeat_node(&r, e->graph->nodes.items[id]);
    leat_node_set_turns(r.copies[id].node); // what they counted by may be another value
  }
  repeat_records(&r, between);
  for (uint32_t i = 0; i < count; i++) values[i] = in_copy(&r, values[i]);
}
