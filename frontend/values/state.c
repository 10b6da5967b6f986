// State: how variables are read and written, and the order of what is done to them.
//
// Within an entry, operations on one state take effect in the order of the text. That is control
// edges: a write waits for the reads since the last write and for that write; a read waits for the
// last write.
#include "frontend/values/region.h"

#include "frontend/values/names.h"
#include "frontend/values/rows.h"
#include "frontend/values/tensors.h"

#include <string.h>

static ev_order *order_of(evaluator *e, leat_state *state) {
  ev_order *order = leat_map_get(&e->orders, state);
  if (!order) {
    order = leat_new(e->arena, ev_order);
    leat_map_set(&e->orders, state, order);
  }
  return order;
}

leat_value ev_last_read(evaluator *e, const leat_state *state) {
  if (e->at.region) return ev_region_last_read(e, state);
  const ev_order *order = leat_map_get(&e->orders, state);
  return (leat_value){order ? order->read : NULL, 0};
}

// Operations on a state run where it is, and are called after it, not after what surrounds them.
static leat_builder state_builder(evaluator *e, leat_span span) {
  leat_builder builder = ev_builder(e, span);
  builder.device = builder.colocate = NULL;
  return builder;
}

static const char *state_name(evaluator *e, const leat_state *state, const char *verb,
                              const char *hint) {
  if (hint) return ev_node_name(e, hint, NULL);
  const char *path = leat_intern_path(e->strings, state->name, verb);
  return leat_intern_path(e->strings, e->at.entry ? e->at.entry->name : "", path);
}

static bool check_outside_initialiser(evaluator *e, const leat_state *state, leat_span span) {
  if (e->at.initialising)
    ev_fail(e, span, "an initialiser is pure: that of `%s` cannot depend on the variable `%s`",
            e->at.initialising->name, state->name);
  return !e->at.initialising;
}

ev ev_read_as(evaluator *e, leat_state *state, const char *hint, leat_span span) {
  if (!check_outside_initialiser(e, state, span)) return ev_error();
  if (e->at.region) return ev_tensor(ev_region_read(e, state, span));
  ev_order *order = order_of(e, state);
  if (order->read) return ev_tensor((leat_value){order->read, 0});
  leat_builder builder = state_builder(e, span);
  leat_attr attr = {.state = state};
  const char *name = state_name(e, state, "read", hint);
  leat_value value = leat_build(&builder, name, LEAT_OP_read, NULL, 0, &attr);
  if (!value.node) return ev_error();
  if (order->write) leat_node_add_control(e->at.body, value.node, order->write);
  order->read = value.node;
  leat_vec_push(e->arena, &order->reads, value.node);
  return ev_tensor(value);
}

void ev_forget_reads(evaluator *e, uint32_t first) {
  for (uint32_t i = 0; i < e->orders.count; i++) {
    ev_order *order = e->orders.entries[i].value;
    if (order->read && order->read->graph == e->at.body && order->read->id >= first)
      order->read = NULL;
  }
}

leat_value ev_read(evaluator *e, leat_state *state, leat_span span) {
  ev value = ev_read_as(e, state, NULL, span);
  return value.kind == EV_TENSOR ? value.tensor : (leat_value){0};
}

// The variable is what a body computes until it is assigned behind the region.
static leat_node *write_in_region(evaluator *e, leat_op op, leat_state *state, leat_value value,
                                  leat_span span) {
  const leat_type *type = leat_value_type(value);
  if (!leat_type_equal(type, &state->type)) {
    ev_fail(e, span, "variable `%s` is %s, and this is %s", state->name,
            leat_type_text(e->arena, &state->type), leat_type_text(e->arena, type));
    return NULL;
  }
  if (op == LEAT_OP_assign_add) {
    leat_value terms[] = {ev_read(e, state, span), value};
    leat_builder builder = ev_builder(e, span);
    const char *name = ev_node_name(e, NULL, leat_op_name(LEAT_OP_add));
    value = leat_build(&builder, name, LEAT_OP_add, terms, 2, NULL);
  }
  if (!value.node) return NULL;
  ev_region_write(e, state, value);
  return value.node;
}

leat_node *ev_write(evaluator *e, leat_op op, leat_state *state, leat_value value, const char *hint,
                    leat_span span) {
  if (!check_outside_initialiser(e, state, span)) return NULL;
  leat_builder builder = state_builder(e, span);
  leat_attr attr = {.state = state};
  const char *name = state_name(e, state, op == LEAT_OP_assign ? "assign" : "update", hint);
  leat_node *node = NULL;
  value = leat_build_broadcast(&builder, value, &state->type);
  if (value.node && e->at.region) return write_in_region(e, op, state, value, span);
  if (value.node) node = leat_build(&builder, name, op, &value, 1, &attr).node;
  if (!node) {
    leat_note_at(e->diag, state->span, "`%s` is declared here", state->name);
    return NULL;
  }
  ev_order *order = order_of(e, state);
  leat_node_add_controls(e->at.body, node, order->reads.items, order->reads.count);
  if (order->write) leat_node_add_control(e->at.body, node, order->write);
  order->reads.count = 0;
  order->read = NULL;
  order->write = node;
  return node;
}

leat_state *ev_global_step(evaluator *e, leat_span span) {
  const char *name = leat_intern(e->strings, "global_step");
  leat_state *state = leat_graph_find_state(e->graph, name);
  if (state) return state;
  if (!ev_claim_name(e, EV_VARIABLE, name, span)) return NULL;
  leat_type type = leat_type_scalar(LEAT_i64);
  state = leat_graph_add_state(e->graph, name, &type);
  state->container = leat_intern(e->strings, "");
  state->trainable = false;
  leat_builder builder = {.graph = e->graph, .diag = e->diag, .span = span};
  state->init = leat_build_scalar_i64(&builder, "global_step/init/const", LEAT_i64, 0);
  return state;
}
