// Gradients where values may be dead (white paper 4.4): through the primitives switch and merge.
//
// The gradient of a value is alive where that is and what it is the gradient of. So what comes from
// a node that lives otherwise, as one behind a switch does, is merged with zeros that live like the
// value; that of a switch is that of the output which is alive, and that of an input of a merge is
// the merge's where it gives that input. How values live is only compared here: the pass `raise`
// knows, and leaves out what is alive nowhere.
#include "frontend/gradient/gradient.h"
#include "frontend/gradient/walk.h"

// -- What lives alike -----------------------------------------------------------------------------

static uint32_t both(uint32_t a, uint32_t b, uint32_t own) {
  if (a == EV_ALIVE || a == b) return b;
  return b == EV_ALIVE ? a : own;
}

static uint32_t class_of(const uint32_t *classes, uint32_t first, leat_value value) {
  uint32_t id = value.node->id;
  return id < first ? EV_ALIVE : classes[2 * (id - first) + (value.port > 0)];
}

uint32_t *ev_live_classes(const evaluator *e, uint32_t first, uint32_t count, leat_arena *arena) {
  uint32_t i = first;
  while (i < count && leat_op_last_phase(e->graph->nodes.items[i]->op) >= LEAT_PHASE_RAISED) i++;
  if (i == count) return NULL;
  uint32_t *classes = leat_new_array(arena, uint32_t, 2 * (size_t)(count - first));
  for (; i < count; i++) {
    const leat_node *node = e->graph->nodes.items[i];
    uint32_t *own = &classes[2 * (i - first)], new = 1 + 2 * (i - first), live = EV_ALIVE;
    for (uint32_t k = 0; k < node->input_count; k++)
      live = both(live, class_of(classes, first, node->inputs[k]), new);
    for (uint32_t k = 0; k < node->control_count; k++)
      live = both(live, class_of(classes, first, (leat_value){node->controls[k], 0}), new);
    bool primitive = leat_op_last_phase(node->op) < LEAT_PHASE_RAISED;
    own[0] = primitive ? new : live;
    own[1] = node->op == LEAT_OP_switch ? new + 1 : own[0];
  }
  return classes;
}

// -- Gradients that live so -----------------------------------------------------------------------

static ev dense(evaluator *e, ev gradient, leat_span span) {
  leat_value tensor = {0};
  if (gradient.kind != EV_ERROR) tensor = ev_as_tensor(e, gradient, -1, span);
  return tensor.node ? ev_tensor(tensor) : ev_error();
}

ev ev_alive_with(evaluator *e, ev gradient, leat_value alive, leat_span span) {
  ev of = ev_tensor(alive);
  ev choices[] = {ev_bool(false), ev_op(e, LEAT_OP_stop_gradient, &of, 1, NULL, span, NULL),
                  dense(e, gradient, span)};
  if (choices[1].kind == EV_ERROR || choices[2].kind == EV_ERROR) return ev_error();
  return ev_op(e, LEAT_OP_where, choices, 3, NULL, span, NULL);
}

ev ev_zeros_with(evaluator *e, leat_value like, bool with, leat_value zero, leat_span span) {
  const leat_type *type = leat_value_type(like);
  leat_builder builder = ev_builder(e, span);
  leat_value zeros = {0};
  if (zero.node) {
    leat_attr dtype = {.i = type->dtype};
    ev cast = ev_tensor(zero);
    if (leat_value_type(zero)->dtype != type->dtype)
      cast = ev_op(e, LEAT_OP_cast, &cast, 1, &dtype, span, NULL);
    if (cast.kind == EV_TENSOR) zeros = leat_build_broadcast(&builder, cast.tensor, type);
  } else {
    zeros = ev_literal_tensor(e, ev_int(0), type, NULL, span);
  }
  if (!zeros.node) return ev_error();
  return with ? ev_alive_with(e, ev_tensor(zeros), like, span) : ev_tensor(zeros);
}

ev ev_living(evaluator *e, const ev *gradients, uint32_t count, leat_span span) {
  ev *tensors = leat_new_array(e->arena, ev, count);
  for (uint32_t i = 0; i < count; i++) {
    tensors[i] = dense(e, gradients[i], span);
    if (tensors[i].kind == EV_ERROR) return ev_error();
  }
  ev merged = ev_op(e, LEAT_OP_merge, tensors, count, NULL, span, NULL);
  return merged.kind == EV_LIST ? merged.list->items[0] : ev_error();
}

ev ev_merged(evaluator *e, const leat_node *merge, uint32_t i, ev gradient, leat_span span) {
  ev numbers[] = {ev_tensor((leat_value){(leat_node *)merge, 1}), ev_int(i)};
  ev chosen[] = {dense(e, gradient, span), ev_error()};
  chosen[1] = ev_op(e, LEAT_OP_equal, numbers, 2, NULL, span, NULL);
  if (chosen[0].kind == EV_ERROR || chosen[1].kind == EV_ERROR) return ev_error();
  ev sides = ev_op(e, LEAT_OP_switch, chosen, 2, NULL, span, NULL);
  return sides.kind == EV_LIST ? sides.list->items[1] : ev_error();
}
