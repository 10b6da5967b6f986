// Variables: what declares one, again and again, and what assigns it.
#include "frontend/evaluate/statements.h"

#include "frontend/evaluate/calls.h"
#include "frontend/values/names.h"
#include "frontend/values/region.h"
#include "frontend/values/rows.h"

#include <string.h>

// -- Assignments ----------------------------------------------------------------------------------

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
    p.a = leat_region_origin(p.a);
    p.b = leat_region_origin(p.b);
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
  ev_trial trial;
  ev_trial_begin(e, &trial, leat_graph_create(e->arena, e->strings, e->graph->name));
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
  if (e->at.initialising) {
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
  state->trainable = options->trainable && !e->at.slots_of;
  state->slot_of = options->slot_of ? options->slot_of
                   : e->at.slots_of ? e->at.slots_of->name
                                    : NULL;
  state->container = options->container;
  state->device = e->frame->device;
  if (!state->device && !state->slot_of && !stmt->absolute) state->device = e->at.state_device;
  state->span = ev_place(e, stmt->span);
  state->place = options->place;
  ev_set(e, &e->states, state, (void *)stmt);
  if (stmt->init) state->init = ev_initialiser(e, stmt, state);
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
