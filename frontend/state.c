// State: variables, the instances that name them, and the order of what is done to them.
//
// Within an entry, operations on one state take effect in the order of the text. That is control
// edges: a write waits for the reads since the last write and for that write; a read waits for the
// last write.
#include "frontend/evaluator.h"

#include <string.h>

// -- Instances
// ---------------------------------------------------------------------------------------

typedef struct instance {
  const ev_function *function;
  leat_span span;
} instance;

bool ev_enter_instance(evaluator *e, const ev_function *function, const char *path,
                       leat_span span) {
  const instance *known = leat_map_get(&e->instances, path);
  if (known && known->function->definition != function->definition) {
    ev_fail(e, span, "instance `%s` is of `%s` here and of `%s` elsewhere", path, function->name,
            known->function->name);
    leat_note_at(e->diag, known->span, "the other one is here");
    return false;
  }
  if (known) return true;
  if (leat_graph_find_entry(e->graph, path) || leat_graph_find_state(e->graph, path)) {
    ev_fail(e, span, "`%s` is the name of something else already", path);
    return false;
  }
  instance *made = leat_new(e->arena, instance);
  *made = (instance){function, span};
  ev_set(e, &e->instances, path, made);
  return true;
}

// -- Reads and writes
// ----------------------------------------------------------------------------------

static ev_order *order_of(evaluator *e, leat_state *state) {
  ev_order *order = leat_map_get(&e->orders, state);
  if (!order) {
    order = leat_new(e->arena, ev_order);
    leat_map_set(&e->orders, state, order);
  }
  return order;
}

ev ev_read_as(evaluator *e, leat_state *state, const char *hint, leat_span span) {
  ev_order *order = order_of(e, state);
  if (order->read && !hint) return ev_tensor((leat_value){order->read, 0});
  leat_builder builder = ev_builder(e, span);
  builder.device = NULL; // where the state is
  builder.colocate = NULL;
  leat_attr attr = {.state = state};
  const char *fallback = leat_intern_printf(e->strings, "%s/read", state->name);
  const char *scope = e->entry ? e->entry->name : NULL;
  const char *name = hint    ? ev_node_name(e, hint, NULL)
                     : scope ? leat_intern_printf(e->strings, "%s/%s", scope, fallback)
                             : fallback;
  leat_value value = leat_build(&builder, name, LEAT_OP_read, NULL, 0, &attr);
  if (!value.node) return ev_error();
  if (order->write) leat_node_add_control(e->graph, value.node, order->write);
  order->read = value.node;
  leat_vec_push(e->arena, &order->reads, value.node);
  return ev_tensor(value);
}

leat_value ev_read(evaluator *e, leat_state *state, leat_span span) {
  ev value = ev_read_as(e, state, NULL, span);
  return value.kind == EV_TENSOR ? value.tensor : (leat_value){0};
}

leat_node *ev_write(evaluator *e, leat_op op, leat_state *state, leat_value value, const char *hint,
                    leat_span span) {
  if (e->initialising) {
    ev_fail(e, span, "an initialiser is pure: it cannot write `%s`", state->name);
    return NULL;
  }
  leat_builder builder = ev_builder(e, span);
  builder.device = NULL;
  builder.colocate = NULL;
  value = leat_build_broadcast(&builder, value, &state->type);
  if (!value.node) return NULL;
  leat_attr attr = {.state = state};
  const char *verb = op == LEAT_OP_assign ? "assign" : "update";
  const char *name =
      e->entry ? leat_intern_printf(e->strings, "%s/%s/%s", e->entry->name, state->name, verb)
               : leat_intern_printf(e->strings, "%s/%s", state->name, verb);
  if (hint) name = ev_node_name(e, hint, NULL);
  leat_node *node = leat_build(&builder, name, op, &value, 1, &attr).node;
  if (!node) return NULL;
  ev_order *order = order_of(e, state);
  for (uint32_t i = 0; i < order->reads.count; i++)
    leat_node_add_control(e->graph, node, order->reads.items[i]);
  if (order->write) leat_node_add_control(e->graph, node, order->write);
  order->reads.count = 0;
  order->read = NULL;
  order->write = node;
  return node;
}

// v := e · v += e
void ev_assign(evaluator *e, const leat_stmt *stmt) {
  ev target = ev_expr(e, stmt->target, NULL);
  ev value = ev_expr(e, stmt->value, NULL);
  if (target.kind == EV_ERROR || value.kind == EV_ERROR) return;
  if (target.kind != EV_STATE) {
    ev_fail(e, stmt->target->span, "only a variable can be assigned, this is %s",
            ev_kind_name(target));
    return;
  }
  leat_value tensor = ev_as_tensor(e, value, (int)target.state->type.dtype, stmt->value->span);
  if (!tensor.node) return;
  leat_op op = stmt->kind == LEAT_STMT_ASSIGN ? LEAT_OP_assign : LEAT_OP_assign_add;
  ev_write(e, op, target.state, tensor, NULL, stmt->span);
}

// -- Variables
// -------------------------------------------------------------------------------------------

typedef struct var_options {
  bool trainable;
  const char *slot_of, *container;
} var_options;

static bool options_of(evaluator *e, const leat_stmt *stmt, var_options *out) {
  *out = (var_options){.trainable = true, .container = leat_intern(e->strings, "")};
  for (uint32_t i = 0; i < stmt->options.count; i++) {
    const leat_arg *option = &stmt->options.items[i];
    const char *key = option->key ? option->key : "";
    if (!strcmp(key, "slot_of") && option->value->kind == LEAT_EXPR_PATH) {
      out->slot_of = option->value->path; // a part of a graph may have a slot without its variable
      continue;
    }
    ev value = ev_expr(e, option->value, NULL);
    if (value.kind == EV_ERROR) return false;
    if (!strcmp(key, "trainable") && value.kind == EV_BOOL) {
      out->trainable = value.i;
    } else if (!strcmp(key, "container") && value.kind == EV_STRING) {
      out->container = leat_intern_n(e->strings, value.text, value.size);
    } else {
      ev_fail(e, option->span,
              "a variable's options are trainable=true|false and container=\"…\", not `%s=` %s",
              key, ev_kind_name(value));
      return false;
    }
  }
  return true;
}

static bool has_parameter(const ev_function *function, const char *name) {
  const leat_bindings *params = &function->definition->params;
  for (uint32_t i = 0; i < params->count; i++)
    if (params->items[i].name && !strcmp(params->items[i].name, name)) return true;
  return false;
}

// The initialiser's value. A function's parameter `out` that is not given is the variable's type.
static ev initial_value(evaluator *e, const leat_expr *init, const leat_type *type) {
  if (init->kind != LEAT_EXPR_CALL) return ev_expr(e, init, NULL);
  ev callee = ev_expr(e, init->callee, NULL);
  const ev_function *function = callee.kind == EV_FUNCTION ? callee.function : NULL;
  bool takes_out = function && function->definition && has_parameter(function, "out");
  const char *out = leat_intern(e->strings, "out");
  if (!takes_out || leat_args_find(&init->args, out)) return ev_expr(e, init, NULL);
  ev_argument *args = leat_new_array(e->arena, ev_argument, init->args.count + 1);
  uint32_t positional = 0;
  for (uint32_t i = 0; i < init->args.count; i++) {
    const leat_arg *arg = &init->args.items[i];
    args[i] = (ev_argument){arg->key, ev_expr(e, arg->value, NULL), arg->value->span};
    positional += !arg->key;
  }
  const leat_bindings *params = &function->definition->params;
  for (uint32_t i = 0; i < positional && i < params->count; i++)
    if (params->items[i].name == out) return ev_expr(e, init, NULL); // given by position
  leat_type *copy = leat_arena_memdup(e->arena, type, sizeof *type);
  args[init->args.count] = (ev_argument){out, {.kind = EV_TYPE, .type = copy}, init->span};
  return ev_call(e, function, args, init->args.count + 1, init->span, NULL, NULL);
}

static leat_value initialiser(evaluator *e, const leat_stmt *stmt, leat_state *state,
                              const leat_type *type) {
  if (stmt->absolute) {
    ev value = ev_expr(e, stmt->init, NULL);
    return value.kind == EV_TENSOR ? value.tensor : (leat_value){0};
  }
  // Evaluated apart from whatever surrounds the declaration.
  const char *path = e->path, *device = e->device, *colocate = e->colocate;
  leat_entry *entry = e->entry;
  leat_state *outer = e->initialising;
  e->path = leat_intern_printf(e->strings, "%s/init", state->name);
  e->device = e->colocate = NULL;
  e->entry = NULL;
  e->initialising = state;
  ev value = initial_value(e, stmt->init, type);
  leat_value tensor = ev_as_tensor(e, value, (int)type->dtype, stmt->init->span);
  if (tensor.node) {
    leat_builder builder = ev_builder(e, stmt->init->span);
    if (leat_value_type(tensor)->dtype == type->dtype)
      tensor = leat_build_broadcast(&builder, tensor, type);
  }
  e->path = path;
  e->device = device;
  e->colocate = colocate;
  e->entry = entry;
  e->initialising = outer;
  return tensor;
}

// Whether two initialisers compute the same: the same ops with the same attributes, whatever the
// nodes are called.
static bool same_value(leat_value a, leat_value b, int depth) {
  if (a.node == b.node) return a.port == b.port;
  if (depth > 100 || a.node->op != b.node->op || a.port != b.port) return false;
  if (a.node->input_count != b.node->input_count) return false;
  bool random = leat_op_info_of(a.node->op)->flags & LEAT_FLAG_RANDOM; // keyed by the node's path
  if (!random && !leat_attrs_equal(a.node->op, a.node->attrs, b.node->attrs)) return false;
  for (uint32_t i = 0; i < a.node->input_count; i++)
    if (!same_value(a.node->inputs[i], b.node->inputs[i], depth + 1)) return false;
  return true;
}

// The same path is the same state: another declaration of it must say the same.
static void check_again(evaluator *e, const leat_stmt *stmt, leat_state *state,
                        const leat_type *type) {
  const leat_stmt *first = leat_map_get(&e->states, state);
  leat_span there = first ? first->span : state->span;
  if (!leat_type_equal(type, &state->type)) {
    leat_text here = {0}, before = {0};
    leat_type_print(type, &here);
    leat_type_print(&state->type, &before);
    ev_fail(e, stmt->span, "variable `%s` is %s here and %s elsewhere", state->name, here.data,
            before.data);
    leat_note_at(e->diag, there, "the other declaration is here");
    leat_text_finish(&here);
    leat_text_finish(&before);
    return;
  }
  if (!stmt->init || !state->init.node) return;
  uint32_t nodes = e->graph->nodes.count;
  leat_value again = initialiser(e, stmt, state, type);
  bool same = again.node && same_value(again, state->init, 0);
  leat_graph_truncate(e->graph, nodes, e->graph->states.count, e->graph->entries.count);
  if (again.node && !same) {
    ev_fail(e, stmt->span, "variable `%s` is initialised in two ways", state->name);
    leat_note_at(e->diag, there, "the other declaration is here");
  }
}

static bool check_named(evaluator *e, const leat_stmt *stmt) {
  const ev_frame *unnamed = e->frame->unnamed;
  if (!unnamed || stmt->absolute) return true;
  ev_fail(e, unnamed->call,
          "`%s` holds state, so this call needs a name: `%s(…) as NAME` names its variables",
          unnamed->function->name, unnamed->function->name);
  leat_note_at(e->diag, stmt->span, "this is the state");
  return false;
}

void ev_var(evaluator *e, const leat_stmt *stmt) {
  const char *prefix = e->frame->instance;
  const char *path = stmt->absolute || !*prefix
                         ? stmt->name
                         : leat_intern_printf(e->strings, "%s/%s", prefix, stmt->name);
  leat_type type;
  var_options options;
  if (!check_named(e, stmt) || !ev_type_of(e, stmt->type, &type) || !options_of(e, stmt, &options))
    return;
  if (e->initialising) {
    ev_fail(e, stmt->span, "an initialiser is pure: it cannot declare a variable");
    return;
  }
  leat_state *state = leat_graph_find_state(e->graph, path);
  if (state) {
    // Twice in one scope, or two top-level lines, is a mistake; through an instance it is the same
    // one.
    if (!*prefix && !e->interactive) {
      ev_bind(e, e->frame->scope, stmt->name_span, stmt->name,
              (ev){.kind = EV_STATE, .state = state});
      return;
    }
    check_again(e, stmt, state, &type);
  } else if (leat_graph_find_node(e->graph, path) || leat_graph_find_entry(e->graph, path)) {
    ev_fail(e, stmt->name_span, "`%s` is the name of something else already", path);
    return;
  } else {
    state = leat_graph_add_state(e->graph, path, &type);
    state->trainable = options.trainable && !e->slots_of;
    state->slot_of = options.slot_of ? options.slot_of : e->slots_of ? e->slots_of->name : NULL;
    state->container = options.container;
    state->device = e->frame->device;
    state->span = stmt->span;
    ev_set(e, &e->states, state, (void *)stmt);
    if (stmt->init) {
      state->init = initialiser(e, stmt, state, &type);
      if (state->init.node && !leat_type_equal(leat_value_type(state->init), &type))
        ev_check_type(e, stmt->type, state->init, stmt->init->span, stmt->name);
    }
  }
  if (!stmt->absolute)
    ev_bind(e, e->frame->scope, stmt->name_span, stmt->name,
            (ev){.kind = EV_STATE, .state = state});
}
