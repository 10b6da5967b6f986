// See turns.h. Integers are taken for numbers without end, dims and what is compared with them for
// ones that 32 bits are enough for. A loop that is being made is looked at before its bodies know
// that they are its.
#include "ops/turns.h"

#include "ops/ref.h"
#include "ops/region.h"
#include "ops/shape.h"

// -- What is known -------------------------------------------------------------------------------

static bool is_integer(leat_value value) {
  return leat_dtype_in_class(leat_value_type(value)->dtype, LEAT_CLASS_INTEGER);
}

static const leat_node *owner_of(const leat_node *loop, const leat_graph *body) {
  for (int b = 0; loop && leat_node_body(loop, b); b++)
    if (leat_node_body(loop, b) == body) return loop;
  return body->owner;
}

// What is the same in each turn: what it is outside; else {NULL}. `loop` may be NULL.
static leat_value captured(const leat_node *loop, const leat_node *param) {
  const leat_node *owner = owner_of(loop, param->graph);
  uint32_t index = (uint32_t)leat_node_attr(param, "index")->i;
  if (!owner || (owner->op == LEAT_OP_while_loop && index < owner->output_count))
    return (leat_value){0};
  return owner->inputs[owner->input_count - param->graph->params.count + index];
}

// Whether an integer is the same one in the other dtype.
static bool cast_keeps(const leat_node *cast) {
  leat_dtype from = leat_value_type(cast->inputs[0])->dtype, to = cast->outputs[0].dtype;
  size_t before = leat_dtype_size(from), behind = leat_dtype_size(to);
  if (leat_dtype_kind_of(from) == leat_dtype_kind_of(to)) return behind >= before || behind >= 4;
  return leat_dtype_kind_of(to) == LEAT_KIND_SIGNED && behind > before;
}

// What a body's value, or one that only changes its dtype, is made of outside.
static leat_value source_of(const leat_node *loop, leat_value value) {
  while (value.node) {
    value = leat_region_origin(value);
    const leat_node *node = value.node;
    if (leat_value_type(value)->rank || !is_integer(value)) return (leat_value){0};
    if (node->op == LEAT_OP_parameter)
      value = captured(loop, node);
    else if (node->op == LEAT_OP_cast && cast_keeps(node))
      value = node->inputs[0];
    else
      break;
  }
  return value;
}

static bool find_given(const leat_node *loop, leat_value value, leat_dim *out) {
  const leat_node *node = source_of(loop, value).node;
  if (!node || (node->op != LEAT_OP_const && node->op != LEAT_OP_dim)) return false;
  const leat_attr *given = leat_node_attr(node, "value");
  bool constant = node->op == LEAT_OP_const;
  *out = constant ? leat_dim_const(leat_load_index(given->tensor, 0)) : given->dim;
  return true;
}

// What a loop has counted when it ends.
static bool find_counted(leat_value value, leat_dim *out) {
  leat_dims *dims = value.node->graph->dims;
  int64_t step;
  leat_dim turns;
  return leat_loop_step(value.node, value.port, &step) && leat_loop_turns(value.node, &turns) &&
         find_given(NULL, value.node->inputs[value.port], out) &&
         leat_dim_mul(dims, turns, leat_dim_const(step), &turns) &&
         leat_dim_add(dims, *out, turns, out);
}

bool leat_known_integer(leat_value value, leat_dim *out) {
  leat_value source = source_of(NULL, value);
  if (source.node && source.node->op == LEAT_OP_while_loop) return find_counted(source, out);
  return find_given(NULL, value, out);
}

// -- Loops ---------------------------------------------------------------------------------------

static bool is_parameter(leat_value value, uint32_t index) {
  return value.node->op == LEAT_OP_parameter &&
         leat_node_attr(value.node, "index")->i == (int64_t)index;
}

bool leat_loop_step(const leat_node *loop, uint32_t carried, int64_t *out) {
  const leat_node *next = leat_node_attr(loop, "body")->body->yield->inputs[carried].node;
  if (next->op != LEAT_OP_add && next->op != LEAT_OP_sub) return false;
  leat_value a = next->inputs[0], b = next->inputs[1];
  if (next->op == LEAT_OP_add && is_parameter(b, carried)) {
    leat_value other = a;
    a = b;
    b = other;
  }
  leat_dim by;
  if (!is_integer(a) || !is_parameter(a, carried) || !find_given(loop, b, &by)) return false;
  *out = next->op == LEAT_OP_sub ? -by.value : by.value;
  return leat_dim_is_const(by);
}

bool leat_loop_counts(const leat_node *loop, uint32_t carried) {
  int64_t step;
  leat_dim first;
  return leat_loop_step(loop, carried, &step) && step == 1 &&
         leat_known_integer(loop->inputs[carried], &first) && leat_dim_is(first, 0);
}

// A carried value that begins with `first` and nears `last` by 1 in each turn.
typedef struct counter {
  bool up;
  leat_dim first, last;
} counter;

// low < high, of which one counts.
static bool find_compared(const leat_node *loop, leat_value low, leat_value high, counter *out) {
  bool up = low.node->op == LEAT_OP_parameter && !captured(loop, low.node).node;
  const leat_node *param = up ? low.node : high.node;
  int64_t step;
  if (param->op != LEAT_OP_parameter) return false;
  uint32_t index = (uint32_t)leat_node_attr(param, "index")->i;
  out->up = up;
  return index < loop->output_count && leat_loop_step(loop, index, &step) &&
         step == (up ? 1 : -1) && leat_known_integer(loop->inputs[index], &out->first) &&
         find_given(loop, up ? high : low, &out->last);
}

static bool find_counter(const leat_node *loop, const leat_node *holds, counter *out) {
  if (holds->op == LEAT_OP_and)
    return find_counter(loop, holds->inputs[0].node, out) ||
           find_counter(loop, holds->inputs[1].node, out);
  if (holds->op == LEAT_OP_less)
    return find_compared(loop, holds->inputs[0], holds->inputs[1], out);
  return holds->op == LEAT_OP_greater &&
         find_compared(loop, holds->inputs[1], holds->inputs[0], out);
}

static const leat_node *condition_of(const leat_node *loop) {
  return leat_node_attr(loop, "condition")->body->yield->inputs[0].node;
}

typedef struct dim_search {
  const leat_graph *around; // the loop
  bool inside;
} dim_search;

static void see_atom(void *context, const leat_atom *atom) {
  dim_search *search = context;
  const leat_node *binder = leat_graph_binder(search->around, atom);
  const leat_graph *graph = search->around;
  while (binder && graph && graph != binder->graph)
    graph = graph->owner ? graph->owner->graph : NULL;
  search->inside |= binder && !graph;
}

// At most so many times, as the condition says. A dim that a turn binds is another one in the next.
static bool find_most(const leat_node *loop, const leat_graph *around, leat_dim *out) {
  leat_dims *dims = condition_of(loop)->graph->dims;
  dim_search search = {.around = around};
  counter c;
  if (!find_counter(loop, condition_of(loop), &c) ||
      !leat_dim_sub(dims, c.up ? c.last : c.first, c.up ? c.first : c.last, out) ||
      !leat_dim_max(dims, *out, leat_dim_const(0), out))
    return false;
  leat_dim_visit(*out, see_atom, &search);
  return !search.inside;
}

// -- The attribute -------------------------------------------------------------------------------

// So many times, as the condition says which nothing else ends.
static bool find_turns(const leat_node *loop, const leat_graph *around, leat_dim *out) {
  return condition_of(loop)->op != LEAT_OP_and && find_most(loop, around, out);
}

void leat_loop_set_turns(leat_node *loop) {
  leat_graph *graph = loop->graph;
  leat_dim *turns = leat_new(graph->arena, leat_dim);
  leat_attr attr = {.dims = turns};
  attr.count = find_turns(loop, graph, turns);
  leat_node_list binders = {0};
  leat_node_set_attr(graph, loop, "turns", attr);
  if (!attr.count || leat_dim_is_const(*turns)) return;
  leat_node_find_binders(graph, loop, graph->arena, &binders);
  leat_node_add_controls(graph, loop, binders.items, binders.count);
}

void leat_node_set_turns(leat_node *node) {
  if (node->op == LEAT_OP_while_loop) leat_loop_set_turns(node);
  for (int k = 0; k < node->info->attr_count; k++) {
    const leat_graph *body = leat_node_body(node, k);
    for (uint32_t i = 0; body && i < body->nodes.count; i++)
      leat_node_set_turns(body->nodes.items[i]);
  }
}

bool leat_loop_turns(const leat_node *loop, leat_dim *out) {
  const leat_attr *turns = leat_node_attr(loop, "turns");
  if (turns->count) *out = turns->dims[0];
  return turns->count;
}

bool leat_loop_most_turns(const leat_node *loop, leat_dim *out) {
  return leat_loop_turns(loop, out) || find_most(loop, loop->graph, out);
}

bool leat_loop_turns_hold(const leat_node *loop, const leat_graph *around, leat_dim *is) {
  leat_dim says;
  return !leat_loop_turns(loop, &says) || !find_turns(loop, around, is) ||
         leat_dims_may_be_equal(around, says, *is);
}

leat_status leat_verify_turns(const leat_graph *graph, leat_error *error) {
  for (uint32_t i = 0; i < graph->nodes.count; i++) {
    const leat_node *node = graph->nodes.items[i];
    leat_dim is;
    for (int k = 0; k < node->info->attr_count; k++)
      if (leat_node_body(node, k)) LEAT_TRY(leat_verify_turns(leat_node_body(node, k), error));
    if (node->op == LEAT_OP_while_loop && !leat_loop_turns_hold(node, graph, &is))
      return leat_fail(error, LEAT_INTERNAL, "verify: node $%s turns %s times", node->name,
                       leat_dim_text(graph->arena, is));
  }
  return LEAT_OK;
}

// -- Its end -------------------------------------------------------------------------------------

// A counter of the loop, which goes up, or down, and is compared with what is the same in each
// turn.
static bool nears(const leat_node *loop, leat_value value, leat_value end, bool up) {
  if (value.node->op != LEAT_OP_parameter) return false;
  uint32_t index = (uint32_t)leat_node_attr(value.node, "index")->i;
  leat_dim given;
  bool same = find_given(loop, end, &given) ||
              (end.node->op == LEAT_OP_parameter && captured(loop, end.node).node);
  int64_t step;
  return index < loop->output_count && same && leat_loop_step(loop, index, &step) &&
         (up ? step > 0 : step < 0);
}

static bool ends(const leat_node *loop, const leat_node *holds) {
  switch ((int)holds->op) {
  case LEAT_OP_and: return ends(loop, holds->inputs[0].node) || ends(loop, holds->inputs[1].node);
  case LEAT_OP_less:
  case LEAT_OP_less_equal:
    return nears(loop, holds->inputs[0], holds->inputs[1], true) ||
           nears(loop, holds->inputs[1], holds->inputs[0], false);
  case LEAT_OP_greater:
  case LEAT_OP_greater_equal:
    return nears(loop, holds->inputs[0], holds->inputs[1], false) ||
           nears(loop, holds->inputs[1], holds->inputs[0], true);
  }
  return false;
}

bool leat_loop_ends(const leat_node *loop) {
  leat_dim turns;
  return leat_loop_turns(loop, &turns) || ends(loop, condition_of(loop));
}

// -- Which turn it is ----------------------------------------------------------------------------

// The number of the turn, or, where a value counts down, of those that are left behind it.
static leat_value row_of(const leat_node *loop, uint32_t carried) {
  const leat_graph *body = leat_node_attr(loop, "body")->body;
  leat_dim first, turns;
  int64_t step;
  if (!leat_loop_step(loop, carried, &step) || !leat_known_integer(loop->inputs[carried], &first) ||
      !leat_loop_turns(loop, &turns))
    return (leat_value){0};
  if (step == 1 && leat_dim_is(first, 0)) return (leat_value){body->params.items[carried], 0};
  if (step == -1 && leat_dim_equal(first, turns)) return body->yield->inputs[carried];
  return (leat_value){0};
}

leat_value leat_loop_row(const leat_node *loop) {
  for (uint32_t i = 0; i < loop->output_count; i++) {
    leat_value row = row_of(loop, i);
    if (row.node) return row;
  }
  return (leat_value){0};
}

bool leat_loop_is_row(const leat_node *loop, leat_value value) {
  for (uint32_t i = 0; i < loop->output_count; i++) {
    leat_value row = row_of(loop, i);
    if (row.node == value.node && row.port == value.port) return true;
  }
  return false;
}
