// Initial values: of variables, nodes that run once, and of an entry's parameters, constants.
//
// Both are evaluated apart from whatever surrounds the declaration, and both are pure: they depend
// on compile-time values, on `load` and on random bits keyed by the path.
#include "frontend/evaluate/statements.h"

#include "base/tensor.h"
#include "frontend/evaluate/calls.h"
#include "frontend/values/region.h"
#include "ops/ops.h"

#include <string.h>

// -- What surrounds -----------------------------------------------------------------------------

static ev_context enter(evaluator *e, leat_state *state) {
  ev_context around = ev_step_outermost(e);
  e->at.path = leat_intern_path(e->strings, state->name, "init");
  e->at.device = e->at.colocate = e->at.gradient_path = NULL;
  e->at.entry = NULL;
  e->at.initialising = state;
  return around;
}

// -- The value ----------------------------------------------------------------------------------

static bool gives(const leat_bindings *params, const leat_arguments *args, const char *name) {
  uint32_t positional = 0;
  for (uint32_t i = 0; i < args->count; i++) positional += !args->items[i].key;
  for (uint32_t i = 0; i < positional && i < params->count; i++)
    if (params->items[i].name == name) return true;
  return leat_arguments_find(args, name);
}

static bool has_parameter(const leat_bindings *params, const char *name) {
  for (uint32_t i = 0; i < params->count; i++)
    if (params->items[i].name == name) return true;
  return false;
}

// A function's parameter `out` that is not given is the type.
ev ev_value_as(evaluator *e, const leat_expr *init, const leat_type *type) {
  ev callee = init->kind == LEAT_EXPR_CALL && !init->as ? ev_callee(e, init->callee) : ev_none();
  if (callee.kind == EV_ERROR) return callee;
  const ev_function *function = callee.kind == EV_FUNCTION ? callee.function : NULL;
  const leat_bindings *params =
      function && function->definition ? &function->definition->params : NULL;
  const char *out = leat_intern(e->strings, "out");
  if (!params || !has_parameter(params, out) || gives(params, &init->args, out))
    return ev_expr(e, init, NULL);
  uint32_t count;
  ev_argument *args = ev_arguments(e, &init->args, 1, &count);
  if (!args) return ev_error();
  leat_type *copy = leat_arena_memdup(e->arena, type, sizeof *type);
  args[count++] =
      (ev_argument){.key = out, .value = {.kind = EV_TYPE, .type = copy}, .span = init->span};
  return ev_call(e, function, args, count, init->span, NULL, NULL);
}

static bool is_constant(ev value) {
  return ev_is_literal(value) || value.kind == EV_LIST;
}

// The tensor that it is, spread over the type where it has fewer axes.
static leat_value tensor_of(evaluator *e, ev value, const leat_state *state, leat_span span) {
  const leat_type *type = &state->type;
  leat_value none = {0};
  leat_value tensor = is_constant(value) ? ev_literal_tensor(e, value, type, NULL, span)
                                         : ev_as_tensor(e, value, (int)type->dtype, span);
  if (!tensor.node) return none;
  leat_builder builder = ev_builder(e, span);
  const leat_type *given = leat_value_type(tensor);
  if (given->dtype == type->dtype && given->rank <= type->rank)
    tensor = leat_build_broadcast(&builder, tensor, type);
  if (!tensor.node || leat_type_equal(leat_value_type(tensor), type)) return tensor;
  ev_fail(e, span, "the initial value of `%s`: expected %s, found %s%s", state->name,
          leat_type_text(e->arena, type), leat_type_text(e->arena, leat_value_type(tensor)),
          given->dtype == type->dtype ? "" : "; only `cast` converts");
  return none;
}

// -- Purity -------------------------------------------------------------------------------------

typedef leat_vec(const leat_node *) node_list;

// What an initialiser uses that was there before it.
typedef struct used {
  evaluator *e;
  leat_arena *scratch;
  uint32_t first; // of its nodes
  leat_map seen;  // leat_node * → itself
  bool inside;    // some is of an entry, or of an open body
} used;

static bool is_used(const used *u, const leat_node *node) {
  return node->graph != u->e->at.body || node->id < u->first;
}

static bool is_outermost(const used *u, const leat_node *node) {
  return node->graph == u->e->graph && !node->entry;
}

static void add_used(const used *u, leat_value value, node_list *work) {
  const leat_node *node = leat_region_origin(value).node;
  if (is_used(u, node)) leat_vec_push(u->scratch, work, node);
}

// What is not pure among these nodes and those they are computed from, or NULL. Empties the list.
static const leat_node *impure(used *u, node_list *work) {
  while (work->count) {
    const leat_node *node = work->items[--work->count];
    if (!ev_is_pure(node->op) || node->op == LEAT_OP_parameter) return node;
    if (leat_map_get(&u->seen, node)) continue;
    leat_map_set(&u->seen, node, (void *)node);
    u->inside = u->inside || !is_outermost(u, node);
    for (uint32_t i = 0; i < node->input_count; i++)
      leat_vec_push(u->scratch, work, leat_region_origin(node->inputs[i]).node);
  }
  return NULL;
}

// The nodes of an initialiser are pure; those before, which it uses, must be so too.
static bool check_used(used *u, const leat_state *state, leat_value tensor, leat_span span) {
  node_list work = {0};
  add_used(u, tensor, &work);
  for (uint32_t i = u->first; i < u->e->at.body->nodes.count; i++) {
    const leat_node *node = u->e->at.body->nodes.items[i];
    for (uint32_t k = 0; k < node->input_count; k++) add_used(u, node->inputs[k], &work);
  }
  const leat_node *bad = impure(u, &work);
  if (bad)
    ev_fail(u->e, span, "an initialiser is pure: that of `%s` cannot depend on `%s` (%s)",
            state->name, bad->name, leat_op_name(bad->op));
  return !bad;
}

// What it uses of the entry, and of bodies that are open where it stands, is done again outside: it
// is the same there.
static leat_value take_outside(const used *u, leat_graph *body, leat_value tensor) {
  evaluator *e = u->e;
  leat_node *in_cycle;
  uint32_t end = e->graph->nodes.count;
  ev_repetition r = ev_repetition_begin(e);
  e->at.body = body;
  ev_numbered all = ev_number_nodes(e, true, u->scratch);
  e->at.body = e->graph;
  for (uint32_t i = 0; i < all.count; i++)
    if (leat_map_get(&u->seen, all.nodes[i]) && !is_outermost(u, all.nodes[i]))
      ev_repeat_node(&r, all.nodes[i]);
  for (uint32_t i = u->first; i < end; i++) {
    leat_node *node = e->graph->nodes.items[i];
    for (uint32_t k = 0; k < node->input_count; k++)
      node->inputs[k] = ev_repeated(&r, node->inputs[k]);
  }
  leat_graph_sort(e->graph, &in_cycle);
  return ev_repeated(&r, tensor);
}

static used begin_use(evaluator *e, uint32_t first) {
  used u = {.e = e, .scratch = leat_arena_create(), .first = first};
  leat_map_init(&u.seen, u.scratch);
  return u;
}

leat_value ev_initialiser(evaluator *e, const leat_stmt *stmt, leat_state *state) {
  ev_context around = enter(e, state);
  used u = begin_use(e, e->graph->nodes.count);
  leat_span span = stmt->init->span;
  ev value =
      stmt->absolute ? ev_expr(e, stmt->init, NULL) : ev_value_as(e, stmt->init, &state->type);
  leat_value tensor = tensor_of(e, value, state, span);
  if (tensor.node && !check_used(&u, state, tensor, span)) tensor.node = NULL;
  if (tensor.node && u.inside) tensor = take_outside(&u, around.body, tensor);
  leat_arena_destroy(u.scratch);
  e->at = around;
  return tensor;
}

// -- Constants ----------------------------------------------------------------------------------

typedef struct evaluation {
  evaluator *e;
  leat_arena *scratch;
  leat_map known; // node → its outputs
  leat_span span;
} evaluation;

// Of few elements, and in time that grows with them alone.
static bool may_evaluate(const leat_node *node) {
  leat_op_kind kind = node->info->kind;
  int64_t elements = leat_type_static_elements(&node->outputs[0]);
  bool small = elements >= 0 && elements <= EV_MAX_LITERAL / 16;
  return small &&
         (kind == LEAT_KIND_ELEMENT || kind == LEAT_KIND_REDUCE || kind == LEAT_KIND_SCATTER);
}

static const leat_tensor *evaluate_node(evaluation *v, const leat_node *node) {
  if (node->op == LEAT_OP_const) return node->attrs[0].tensor;
  leat_error error = {0};
  leat_tensor *inputs = leat_new_array(v->scratch, leat_tensor, (size_t)node->input_count + 1);
  for (uint32_t i = 0; i < node->input_count; i++) {
    leat_value input = leat_region_origin(node->inputs[i]);
    inputs[i] = ((const leat_tensor *)leat_map_get(&v->known, input.node))[input.port];
  }
  leat_ref_context context = {.node = node, .inputs = inputs, .error = &error};
  if (!may_evaluate(node))
    ev_fail(v->e, v->span, "this is computed while compiling, where `%s` of %s is not",
            leat_op_name(node->op), leat_type_text(v->e->arena, &node->outputs[0]));
  else if (leat_ref_evaluate(v->scratch, &context))
    ev_fail(v->e, v->span, "%s", error.message);
  else
    return context.outputs;
  return NULL;
}

// By reference, what a node needs before the node.
static bool evaluate(evaluation *v, leat_value value) {
  leat_vec(const leat_node *) work = {0};
  leat_vec_push(v->scratch, &work, value.node);
  while (work.count) {
    const leat_node *node = work.items[work.count - 1];
    uint32_t before = work.count;
    for (uint32_t i = 0; i < node->input_count; i++) {
      const leat_node *input = leat_region_origin(node->inputs[i]).node;
      if (!leat_map_get(&v->known, input)) leat_vec_push(v->scratch, &work, input);
    }
    if (work.count > before) continue;
    const leat_tensor *outputs = evaluate_node(v, node);
    if (!outputs) return false;
    leat_map_set(&v->known, node, (void *)outputs);
    work.count--;
  }
  return true;
}

bool ev_constant_of(evaluator *e, leat_value value, leat_span span, leat_tensor *out) {
  evaluation v = {.e = e, .scratch = leat_arena_create(), .span = span};
  leat_map_init(&v.known, v.scratch);
  bool ok = evaluate(&v, value);
  if (ok) {
    const leat_tensor *outputs = leat_map_get(&v.known, value.node);
    *out = *leat_tensor_copy(e->arena, &outputs[value.port]);
  }
  leat_arena_destroy(v.scratch);
  return ok;
}

// The nodes that it is computed from leave no trace.
bool ev_default(evaluator *e, const leat_binding *param, const leat_type *type, leat_tensor *out) {
  leat_state stand_in = {.name = leat_intern_path(e->strings, e->at.path, param->name),
                         .type = *type};
  leat_span span = param->value->span;
  ev_context around = enter(e, &stand_in);
  ev_trial trial;
  ev_trial_begin(e, &trial, NULL);
  leat_diag_mute(e->diag, trial.mute); // it is evaluated only here
  ev value = ev_value_as(e, param->value, type);
  bool literal = is_constant(value) || value.kind == EV_STRING;
  bool ok = value.kind != EV_ERROR;
  if (ok && !literal && !leat_type_is_static(type)) {
    ev_fail(e, span,
            "a default is computed while compiling, where the dimensions of %s are not known",
            leat_type_text(e->arena, type));
    ok = false;
  } else if (ok && literal) {
    ok = ev_literal(e, value, type, span, out);
  } else if (ok) {
    leat_value tensor = tensor_of(e, value, &stand_in, span);
    used u = begin_use(e, 0);
    ok = tensor.node && check_used(&u, &stand_in, tensor, span) &&
         ev_constant_of(e, tensor, span, out);
    leat_arena_destroy(u.scratch);
  }
  ev_trial_end(e, &trial);
  e->at = around;
  return ok;
}
