// Nodes: where and under which name they are made, and how values become the inputs of an op.
#include "frontend/values/tensors.h"

#include "frontend/values/names.h"
#include "frontend/values/rows.h"

// -- Inputs -------------------------------------------------------------------------------------

bool ev_is_random(leat_op op) {
  return leat_op_info_of(op)->flags & LEAT_FLAG_RANDOM;
}

// Which inputs of an op share its dtype, so that a literal there takes it.
static bool input_has_op_dtype(leat_op op, uint32_t input) {
  return (int)input != leat_op_info_of(op)->apart;
}

// Of what meets a complex literal: an f32 or f64 becomes complex too; -1: it stays as it is.
static int widened(leat_op op, const ev *inputs, uint32_t count, int dtype) {
  if (dtype != LEAT_f32 && dtype != LEAT_f64) return -1;
  for (uint32_t i = 0; i < count; i++)
    if (ev_has_kind(inputs[i], EV_COMPLEX) && input_has_op_dtype(op, i))
      return dtype == LEAT_f32 ? LEAT_c64 : LEAT_c128;
  return -1;
}

static leat_value as_dtype(evaluator *e, leat_value value, int dtype, leat_span span) {
  leat_attr attr = {.i = dtype};
  leat_builder builder = ev_builder(e, span);
  if (!value.node || (int)leat_value_type(value)->dtype == dtype) return value;
  return leat_build(&builder, ev_node_name(e, NULL, "cast"), LEAT_OP_cast, &value, 1, &attr);
}

// What a loop carries has the dtype of its first value, which is often a number of the text.
static void note_carried(evaluator *e, leat_value value, leat_dtype wanted) {
  const char *name;
  const ev_binding *carried = ev_in_library(e->frame) ? NULL : ev_carried_as(e, value, &name);
  if (!carried) return;
  leat_type type = *leat_value_type(value);
  type.dtype = wanted;
  leat_note_at(e->diag, carried->span,
               "the loop carries `%s` as %s, which its first value is; `%s: %s = …` says another",
               name, leat_type_text(e->arena, leat_value_type(value)), name,
               leat_type_text(e->arena, &type));
}

static void note_all_carried(evaluator *e, const leat_value *inputs, uint32_t count) {
  for (uint32_t i = 0; i < count; i++)
    for (uint32_t k = 0; k < count; k++) {
      leat_dtype dtype = leat_value_type(inputs[k])->dtype;
      if (dtype != leat_value_type(inputs[i])->dtype) note_carried(e, inputs[i], dtype);
    }
}

bool ev_as_inputs(evaluator *e, leat_op op, const ev *inputs, uint32_t count, leat_span span,
                  leat_value *out, bool *out_weak) {
  ev_meeting meeting = ev_meet(e, op, inputs, count);
  int dtype = meeting.dtype, wide = widened(op, inputs, count, dtype);
  if (wide >= 0) dtype = wide;
  bool exact = op == LEAT_OP_cast || ev_is_random(op);
  for (uint32_t i = 0; i < count; i++) {
    bool shares = input_has_op_dtype(op, i);
    int want = ev_is_random(op) ? LEAT_i64 : shares ? dtype : -1;
    if (op == LEAT_OP_cast) want = ev_exact_dtype(inputs[i]); // cast(0.1, f64) rounds once
    bool typed = inputs[i].kind == EV_TENSOR && inputs[i].typed;
    out[i] = typed ? inputs[i].tensor : ev_as_tensor(e, inputs[i], want, span);
    if (!out[i].node) return false;
    leat_dtype found = leat_value_type(out[i])->dtype;
    bool promotes = meeting.promotes && shares && leat_dtype_in_class(found, LEAT_CLASS_INTEGER);
    if ((wide >= 0 && want == wide) || promotes) out[i] = as_dtype(e, out[i], dtype, span);
    if (!out[i].node) return false;
    bool number = ev_takes_dtype(inputs[i]) &&
                  (!ev_has_kind(inputs[i], EV_TENSOR) || ev_is_of_numbers(e, inputs[i]));
    if (shares && meeting.weak && !exact && number) ev_make_weak(e, out[i], inputs[i]);
  }
  *out_weak = meeting.weak && !exact && ev_is_pure(op);
  return true;
}

bool ev_is_pure(leat_op op) {
  const leat_op_info *info = leat_op_info_of(op);
  return !(info->flags & (LEAT_FLAG_EFFECT | LEAT_FLAG_STATE)) &&
         info->leaf != LEAT_LEAF_RUN_COUNT && info->leaf != LEAT_LEAF_FEED;
}

static bool check_pure(evaluator *e, leat_op op, leat_span span) {
  if (!e->at.initialising) return true;
  bool pure = ev_is_pure(op);
  if (!pure)
    ev_fail(e, span, "an initialiser is pure: `%s` has no place in that of `%s`", leat_op_name(op),
            e->at.initialising->name);
  return pure;
}

// A trainable that was declared with an axis of 1 and is repeated along it has fewer parameters
// than the shape it is used in suggests. Axes added in front (a bias) are what its definition asks
// for.
static void warn_of_lost_parameters(evaluator *e, const leat_node *node, const leat_value *given,
                                    uint32_t count, leat_span span) {
  for (uint32_t i = 0; i < count; i++) {
    const leat_node *read = given[i].node;
    if (node->inputs[i].node == read || read->op != LEAT_OP_read ||
        !read->attrs[0].state->trainable)
      continue;
    const leat_state *state = read->attrs[0].state;
    const leat_type *used = leat_value_type(node->inputs[i]);
    int32_t added = used->rank - state->type.rank;
    for (int32_t axis = 0; axis < state->type.rank; axis++) {
      if (!leat_dim_is(state->type.dims[axis], 1) || leat_dim_is(used->dims[axis + added], 1))
        continue;
      leat_warn_at(
          e->diag, ev_place(e, span),
          "the trainable `%s` is %s and is repeated along its axis %d to be %s; if that is "
          "meant, say `broadcast`",
          state->name, leat_type_text(e->arena, &state->type), axis,
          leat_type_text(e->arena, used));
      leat_note_at(e->diag, state->span, "it is declared here");
      break;
    }
  }
}

// What a call of the op gives: its output, or the list of them.
static ev results_of(evaluator *e, leat_value first) {
  uint32_t count = first.node ? first.node->output_count : 0;
  if (count <= 1) return ev_tensor(first);
  ev *items = leat_new_array(e->arena, ev, count);
  for (uint32_t port = 0; port < count; port++)
    items[port] = ev_tensor((leat_value){first.node, port});
  return ev_take_results(e, items, count);
}

ev ev_build(evaluator *e, leat_op op, const leat_value *inputs, uint32_t count,
            const leat_attr *attrs, leat_span span, const char *hint) {
  if (!check_pure(e, op, span)) return ev_error();
  leat_builder builder = ev_builder(e, span);
  const char *name = ev_node_name(e, hint, leat_op_name(op));
  leat_value value = leat_build(&builder, name, op, inputs, count, attrs);
  if (!value.node) note_all_carried(e, inputs, count);
  bool plain = value.node && value.node->op == op; // not what the op is written in terms of
  if (plain && !e->at.gradient_path) warn_of_lost_parameters(e, value.node, inputs, count, span);
  if (plain && e->at.gradient_path) value = ev_fold_zeros(e, value, span);
  return results_of(e, value);
}

ev ev_op(evaluator *e, leat_op op, const ev *inputs, uint32_t count, const leat_attr *attrs,
         leat_span span, const char *hint) {
  leat_value few[4];
  leat_value *values = count <= 4 ? few : leat_new_array(e->arena, leat_value, count);
  bool weak;
  if (!ev_as_inputs(e, op, inputs, count, span, values, &weak)) return ev_error();
  ev result = ev_build(e, op, values, count, attrs, span, hint);
  if (weak) ev_note_weak(e, result, values, count);
  return result;
}

// -- Values of their own --------------------------------------------------------------------------

static bool is_passed_on(const evaluator *e, ev value, uint32_t first) {
  const leat_node *node = value.kind == EV_TENSOR ? value.tensor.node : NULL;
  return node && (node->graph != e->at.body || node->id < first);
}

static bool passes_on(const evaluator *e, const ev_list *list, uint32_t first) {
  for (uint32_t i = 0; i < list->count; i++)
    if (is_passed_on(e, list->items[i], first)) return true;
  return false;
}

static ev own_tensor(evaluator *e, ev value, uint32_t first, leat_span span, const char *hint) {
  if (!is_passed_on(e, value, first)) return value;
  ev own = ev_build(e, LEAT_OP_identity, &value.tensor, 1, NULL, span, hint);
  if (ev_is_weak(e, value)) ev_note_weak(e, own, &value.tensor, 1);
  return own;
}

ev ev_own(evaluator *e, ev result, uint32_t first, leat_span span, const char *hint) {
  bool users =
      !ev_in_library(e->frame) && !e->at.initialising && !e->at.gradient_path && !e->at.absolute;
  if (!users) return result;
  if (result.kind != EV_LIST) return own_tensor(e, result, first, span, hint);
  if (!passes_on(e, result.list, first)) return result;
  ev_list *list = leat_arena_memdup(e->arena, result.list, sizeof *list);
  ev *items = leat_new_array(e->arena, ev, (size_t)list->count + 1);
  for (uint32_t i = 0; i < list->count; i++)
    items[i] = own_tensor(e, list->items[i], first, span, NULL);
  list->items = items;
  result.list = list;
  return result;
}
