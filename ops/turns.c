// See turns.h. Integers are taken for numbers without end, dims and what is compared with them for
// ones that 32 bits are enough for.
#include "ops/turns.h"

#include "ops/ref.h"

// -- What is known -------------------------------------------------------------------------------

static bool is_integer(leat_value value) {
  return leat_dtype_in_class(leat_value_type(value)->dtype, LEAT_CLASS_INTEGER);
}

// What is the same in each turn: what it is outside; else {NULL}.
static leat_value captured(const leat_node *param) {
  const leat_node *owner = param->graph->owner;
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
static leat_value source_of(leat_value value) {
  while (value.node) {
    const leat_node *node = value.node;
    if (leat_value_type(value)->rank || !is_integer(value)) return (leat_value){0};
    if (node->op == LEAT_OP_parameter)
      value = captured(node);
    else if (node->op == LEAT_OP_cast && cast_keeps(node))
      value = node->inputs[0];
    else
      break;
  }
  return value;
}

static bool find_given(leat_value value, leat_dim *out) {
  const leat_node *node = source_of(value).node;
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
  bool exact;
  return leat_loop_step(value.node, value.port, &step) &&
         leat_loop_turns(value.node, &turns, &exact) && exact &&
         find_given(value.node->inputs[value.port], out) &&
         leat_dim_mul(dims, turns, leat_dim_const(step), &turns) &&
         leat_dim_add(dims, *out, turns, out);
}

bool leat_known_integer(leat_value value, leat_dim *out) {
  leat_value source = source_of(value);
  if (source.node && source.node->op == LEAT_OP_while_loop) return find_counted(source, out);
  return find_given(value, out);
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
  if (!is_integer(a) || !is_parameter(a, carried) || !find_given(b, &by)) return false;
  *out = next->op == LEAT_OP_sub ? -by.value : by.value;
  return leat_dim_is_const(by);
}

// A carried value that begins with `first` and nears `last` by 1 in each turn.
typedef struct counter {
  uint32_t index;
  bool up;
  leat_dim first, last;
} counter;

// low < high, of which one counts.
static bool find_compared(const leat_node *loop, leat_value low, leat_value high, counter *out) {
  bool up = low.node->op == LEAT_OP_parameter && !captured(low.node).node;
  const leat_node *param = up ? low.node : high.node;
  int64_t step;
  if (param->op != LEAT_OP_parameter) return false;
  *out = (counter){.index = (uint32_t)leat_node_attr(param, "index")->i, .up = up};
  return out->index < loop->output_count && leat_loop_step(loop, out->index, &step) &&
         step == (up ? 1 : -1) && leat_known_integer(loop->inputs[out->index], &out->first) &&
         find_given(up ? high : low, &out->last);
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

bool leat_loop_turns(const leat_node *loop, leat_dim *out, bool *exact) {
  const leat_node *holds = condition_of(loop);
  leat_dims *dims = loop->graph->dims;
  counter c;
  *exact = holds->op != LEAT_OP_and;
  return find_counter(loop, holds, &c) &&
         leat_dim_sub(dims, c.up ? c.last : c.first, c.up ? c.first : c.last, out) &&
         leat_dim_max(dims, *out, leat_dim_const(0), out);
}

// A counter of the loop, which goes up, or down, and is compared with what is the same in each
// turn.
static bool nears(const leat_node *loop, leat_value value, leat_value end, bool up) {
  if (value.node->op != LEAT_OP_parameter) return false;
  uint32_t index = (uint32_t)leat_node_attr(value.node, "index")->i;
  bool same = end.node->op == LEAT_OP_const ||
              (end.node->op == LEAT_OP_parameter && captured(end.node).node);
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
  bool exact;
  return leat_loop_turns(loop, &turns, &exact) || ends(loop, condition_of(loop));
}

leat_value leat_loop_row(const leat_node *loop) {
  const leat_graph *body = leat_node_attr(loop, "body")->body;
  counter c;
  if (!find_counter(loop, condition_of(loop), &c)) return (leat_value){0};
  if (c.up && leat_dim_is(c.first, 0)) return (leat_value){body->params.items[c.index], 0};
  if (!c.up && leat_dim_is(c.last, 0)) return body->yield->inputs[c.index];
  return (leat_value){0};
}
