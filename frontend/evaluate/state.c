// State: variables, and the order of what is done to them.
//
// Within an entry, operations on one state take effect in the order of the text. That is control
// edges: a write waits for the reads since the last write and for that write; a read waits for the
// last write.
#include "frontend/evaluate/statements.h"

#include "frontend/evaluate/calls.h"
#include "frontend/evaluate/names.h"
#include "frontend/evaluate/region.h"
#include "frontend/evaluate/rows.h"

#include <string.h>

// -- Reads and writes ---------------------------------------------------------------------------

static ev_order *order_of(evaluator *e, leat_state *state) {
  ev_order *order = leat_map_get(&e->orders, state);
  if (!order) {
    order = leat_new(e->arena, ev_order);
    leat_map_set(&e->orders, state, order);
  }
  return order;
}

leat_value ev_last_read(evaluator *e, const leat_state *state) {
  if (e->region) return ev_region_last_read(e, state);
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
  return leat_intern_path(e->strings, e->entry ? e->entry->name : "", path);
}

static bool check_outside_initialiser(evaluator *e, const leat_state *state, leat_span span) {
  if (e->initialising)
    ev_fail(e, span, "an initialiser is pure: that of `%s` cannot depend on the variable `%s`",
            e->initialising->name, state->name);
  return !e->initialising;
}

ev ev_read_as(evaluator *e, leat_state *state, const char *hint, leat_span span) {
  if (!check_outside_initialiser(e, state, span)) return ev_error();
  if (e->region) return ev_tensor(ev_region_read(e, state, span));
  ev_order *order = order_of(e, state);
  if (order->read) return ev_tensor((leat_value){order->read, 0});
  leat_builder builder = state_builder(e, span);
  leat_attr attr = {.state = state};
  const char *name = state_name(e, state, "read", hint);
  leat_value value = leat_build(&builder, name, LEAT_OP_read, NULL, 0, &attr);
  if (!value.node) return ev_error();
  if (order->write) leat_node_add_control(e->graph, value.node, order->write);
  order->read = value.node;
  leat_vec_push(e->arena, &order->reads, value.node);
  return ev_tensor(value);
}

void ev_forget_reads(evaluator *e, uint32_t first) {
  for (uint32_t i = 0; i < e->orders.count; i++) {
    ev_order *order = e->orders.entries[i].value;
    if (order->read && order->read->id >= first) order->read = NULL;
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
  if (op == LEAT_OP_assign_add) {
    ev sum = ev_operator(e, LEAT_OPERATOR_ADD, ev_tensor(ev_read(e, state, span)), ev_tensor(value),
                         span, NULL);
    value = sum.kind == EV_TENSOR ? sum.tensor : (leat_value){0};
  }
  if (!value.node) return NULL;
  if (!leat_type_equal(type, &state->type)) {
    ev_fail(e, span, "variable `%s` is %s, and this is %s", state->name,
            leat_type_text(e->arena, &state->type), leat_type_text(e->arena, type));
    return NULL;
  }
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
  if (value.node && e->region) return write_in_region(e, op, state, value, span);
  if (value.node) node = leat_build(&builder, name, op, &value, 1, &attr).node;
  if (!node) {
    leat_note_at(e->diag, state->span, "`%s` is declared here", state->name);
    return NULL;
  }
  ev_order *order = order_of(e, state);
  leat_node_add_controls(e->graph, node, order->reads.items, order->reads.count);
  if (order->write) leat_node_add_control(e->graph, node, order->write);
  order->reads.count = 0;
  order->read = NULL;
  order->write = node;
  return node;
}

// What a region itself leaves in a variable is assigned from its result as it is, by which prune
// knows that it belongs to the region; what a text assigns is a value of its own.
static leat_value apart_from_region(evaluator *e, leat_value value, leat_span span) {
  leat_builder builder = ev_builder(e, span);
  if (value.node->info->kind != LEAT_KIND_REGION) return value;
  return leat_build(&builder, ev_node_name(e, NULL, "identity"), LEAT_OP_identity, &value, 1, NULL);
}

// v := e · v += e
void ev_assign(evaluator *e, const leat_stmt *stmt) {
  const char *name = stmt->target->kind == LEAT_EXPR_NAME ? stmt->target->name : NULL;
  if (name && !leat_is_blank(name) && !ev_lookup(e->frame->scope, name) &&
      strcmp(name, "global_step")) {
    ev_fail(e, stmt->target->span, "no variable is called `%s`; `%s = …` binds a name", name, name);
    return;
  }
  ev target = ev_expr(e, stmt->target, NULL);
  ev value = ev_expr(e, stmt->value, NULL);
  if (target.kind == EV_ERROR || value.kind == EV_ERROR) return;
  if (target.kind != EV_STATE) {
    bool part = stmt->target->kind == LEAT_EXPR_INDEX;
    ev_fail(e, stmt->target->span, "only a variable can be assigned, this is %s%s",
            ev_kind_name(target),
            part ? "; one with new rows is `v := scatter_set(v, indices, rows)`" : "");
    const ev_binding *binding = name ? ev_lookup(e->frame->scope, name) : NULL;
    if (binding) ev_note_binding(e, binding, "it is bound here");
    return;
  }
  leat_op op = stmt->kind == LEAT_STMT_ASSIGN ? LEAT_OP_assign : LEAT_OP_assign_add;
  bool rows = op == LEAT_OP_assign_add && value.kind == EV_ROWS &&
              leat_type_equal(ev_tensor_type(value), &target.state->type);
  if (rows) { // only those rows of the variable are touched
    ev old = ev_read_as(e, target.state, NULL, stmt->span);
    value = old.kind == EV_ERROR ? old : ev_rows_add(e, old, value, stmt->span);
    op = LEAT_OP_assign;
  }
  leat_value tensor = ev_as_tensor(e, value, (int)target.state->type.dtype, stmt->value->span);
  if (tensor.node) tensor = apart_from_region(e, tensor, stmt->span);
  if (tensor.node) ev_write(e, op, target.state, tensor, NULL, stmt->span);
}

// -- The same variable again --------------------------------------------------------------------

typedef struct pair {
  leat_value a, b;
} pair;

// Whether two initialisers compute the same: the same ops with the same attributes, whatever the
// nodes are called. Each node is compared once.
static bool same_value(evaluator *e, leat_value a, leat_value b) {
  leat_map compared; // node of a → node of b
  leat_vec(pair) work = {0};
  leat_map_init(&compared, e->arena);
  leat_vec_push(e->arena, &work, (pair){a, b});
  while (work.count) {
    pair p = work.items[--work.count];
    const leat_node *x = p.a.node, *y = p.b.node;
    if (p.a.port != p.b.port) return false;
    if (x == y) continue;
    const leat_node *before = leat_map_get(&compared, x);
    if (before == y) continue;
    if (before || x->op != y->op || x->input_count != y->input_count ||
        !leat_attrs_equal(x->op, x->attrs, y->attrs))
      return false;
    leat_map_set(&compared, x, (void *)y);
    for (uint32_t i = 0; i < x->input_count; i++)
      leat_vec_push(e->arena, &work, (pair){x->inputs[i], y->inputs[i]});
  }
  return true;
}

// Evaluates the initialiser again in a graph of its own, where its nodes get the names, and random
// numbers the keys, that they have in the real one.
static void check_initialiser(evaluator *e, const leat_stmt *stmt, leat_state *state,
                              leat_span there) {
  ev_trial trial = ev_trial_begin(e, leat_graph_create(e->arena, e->strings, e->graph->name));
  leat_value again = ev_initialiser(e, stmt, state);
  ev_trial_end(e, &trial);
  if (!again.node || same_value(e, again, state->init)) return;
  ev_fail(e, stmt->span, "variable `%s` is initialised in two ways", state->name);
  leat_note_at(e->diag, there, "the other declaration is here");
}

// The same path is the same state: another declaration of it must say the same.
static void check_again(evaluator *e, const leat_stmt *stmt, leat_state *state,
                        const leat_type *type) {
  const leat_stmt *first = leat_map_get(&e->states, state);
  leat_span there = first ? first->span : state->span;
  if (!leat_type_equal(type, &state->type)) {
    ev_fail(e, stmt->span, "variable `%s` is %s here and %s elsewhere", state->name,
            leat_type_text(e->arena, type), leat_type_text(e->arena, &state->type));
    leat_note_at(e->diag, there, "the other declaration is here");
  } else if (first && !stmt->init != !first->init) {
    ev_fail(e, stmt->span, "variable `%s` has an initial value in one place only", state->name);
    leat_note_at(e->diag, there, "the other declaration is here");
  } else if (state->init.node) {
    check_initialiser(e, stmt, state, there);
  }
}

// -- Variables ----------------------------------------------------------------------------------

typedef struct var_options {
  bool trainable;
  const char *slot_of, *container;
  const char *place; // of canonical text: where the declaration stood
} var_options;

static bool set_option(evaluator *e, const leat_argument *option, ev value, bool absolute,
                       var_options *out) {
  if (!strcmp(option->key, "trainable") && value.kind == EV_BOOL)
    out->trainable = value.i;
  else if (!strcmp(option->key, "slot_of") && value.kind == EV_STATE)
    out->slot_of = value.state->name;
  else if (!strcmp(option->key, "container") && value.kind == EV_STRING &&
           !memchr(value.text, 0, value.size))
    out->container = leat_intern_n(e->strings, value.text, value.size);
  else if (absolute && !strcmp(option->key, "at") && value.kind == EV_STRING &&
           !memchr(value.text, 0, value.size))
    out->place = leat_intern_n(e->strings, value.text, value.size);
  else if (value.kind != EV_ERROR)
    value = ev_fail(e, option->span,
                    "a variable's options are trainable=true|false and container=\"…\"; here "
                    "`%s` is %s",
                    option->key, ev_kind_name(value));
  return value.kind != EV_ERROR;
}

static bool options_of(evaluator *e, const leat_stmt *stmt, var_options *out) {
  *out = (var_options){.trainable = true, .container = leat_intern(e->strings, "")};
  for (uint32_t i = 0; i < stmt->options.count; i++) {
    const leat_argument *option = &stmt->options.items[i];
    if (!set_option(e, option, ev_expr(e, option->value, NULL), stmt->absolute, out)) return false;
  }
  return true;
}

static bool check_place(evaluator *e, const leat_stmt *stmt, const leat_type *type) {
  ev_frame *unnamed = e->frame->unnamed;
  if (e->initialising) {
    ev_fail(e, stmt->span, "an initialiser is pure: it cannot declare a variable");
    return false;
  }
  if (unnamed && !stmt->absolute) {
    ev_fail(e, unnamed->call,
            "`%s` holds state, so this call needs a name: `%s(…) as NAME` names its variables",
            unnamed->function->name, unnamed->function->name);
    leat_note_at(e->diag, stmt->span, "this is the state");
    unnamed->blamed = true;
    e->frame->returned = true; // the rest would say the same
    return false;
  }
  if (!leat_type_is_static(type))
    ev_fail(e, stmt->type->span,
            "the dimensions of a variable must be known while compiling; here it would be %s",
            leat_type_text(e->arena, type));
  return leat_type_is_static(type);
}

static leat_state *add_state(evaluator *e, const leat_stmt *stmt, const char *path,
                             const leat_type *type, const var_options *options) {
  if (!ev_claim_name(e, EV_VARIABLE, path, stmt->name_span)) return NULL;
  leat_state *state = leat_graph_add_state(e->graph, path, type);
  state->trainable = options->trainable && !e->slots_of;
  state->slot_of = options->slot_of ? options->slot_of : e->slots_of ? e->slots_of->name : NULL;
  state->container = options->container;
  state->device = e->frame->device;
  if (!state->device && !state->slot_of && !stmt->absolute) state->device = e->state_device;
  state->span = ev_place(e, stmt->span);
  state->place = options->place;
  ev_set(e, &e->states, state, (void *)stmt);
  if (stmt->init) state->init = ev_initialiser(e, stmt, state);
  ev_region_leave_out(e, state->init);
  return state;
}

static leat_state *declare(evaluator *e, const leat_stmt *stmt) {
  const char *prefix = stmt->absolute ? "" : e->frame->instance;
  const char *path = leat_intern_path(e->strings, prefix, stmt->name);
  leat_type type;
  var_options options;
  if (!ev_type_of(e, stmt->type, &type) || !options_of(e, stmt, &options) ||
      !check_place(e, stmt, &type))
    return NULL;
  leat_state *state = leat_graph_find_state(e->graph, path);
  if (!state) return add_state(e, stmt, path, &type, &options);
  check_again(e, stmt, state, &type);
  return state;
}

void ev_var(evaluator *e, const leat_stmt *stmt) {
  ev_scope *scope = e->frame->scope;
  if (scope->turn) {
    ev_fail(e, stmt->span,
            "inside `for` a variable would be declared once a turn: call a "
            "function that holds it, `… as \"name{i}\"`");
    return;
  }
  leat_state *state = declare(e, stmt);
  if (stmt->absolute || (!state && leat_map_get(&scope->names, stmt->name))) return;
  ev value = state ? ev_of_state(state) : ev_error();
  ev_bind(e, scope, stmt->name_span, stmt->name, value);
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
  ev_region_leave_out(e, state->init);
  return state;
}
