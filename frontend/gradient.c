// Gradients (white paper 4.1): one walk backwards from the loss, that calls for each op on the way
// the rule of the language (stdlib/grad.leat, or the user's) and adds what it returns to the graph.
//
// Only nodes that reach a target are visited. A function with a rule of its own counts as one op
// there. A gradient node is called <entry>/grad/<path of the forward node> and has its device
// constraints.
#include "frontend/evaluator.h"

#include <string.h>

typedef struct walk {
  evaluator *e;
  leat_span span;
  uint32_t count;      // nodes of the forward graph: ids below
  bool *on_path;       // by id: the loss depends on it
  bool *reaches;       // by id: it depends on a target
  leat_value *partial; // by id: gradient of output 0 as summed so far
} walk;

static const ev_call_record *record_of(walk *w, const leat_node *node) {
  return leat_map_get(&w->e->records, node);
}

static bool is_float(leat_value value) {
  return leat_dtype_kind_of(leat_value_type(value)->dtype) == LEAT_KIND_FLOAT;
}

// The values that a node's gradient flows on to: its inputs, or the arguments of the call that it
// is the result of.
static uint32_t sources(walk *w, const leat_node *node, const leat_value **out) {
  const ev_call_record *record = record_of(w, node);
  if (!record) {
    *out = node->inputs;
    return node->op == LEAT_OP_stop_gradient ? 0 : node->input_count;
  }
  leat_value *values = leat_new_array(w->e->arena, leat_value, record->args->count + 1);
  uint32_t count = 0;
  for (uint32_t i = 0; i < record->args->count; i++) {
    ev arg = record->args->items[i];
    if (arg.kind == EV_TENSOR) values[count++] = arg.tensor;
    // A variable as argument was read in the body.
    if (arg.kind == EV_STATE) values[count++] = ev_tensor(ev_read(w->e, arg.state, w->span)).tensor;
  }
  *out = values;
  return count;
}

static void mark_path(walk *w, leat_node *loss) {
  w->on_path[loss->id] = true;
  for (uint32_t id = w->count; id-- > 0;) {
    if (!w->on_path[id]) continue;
    const leat_value *from;
    uint32_t count = sources(w, w->e->graph->nodes.items[id], &from);
    for (uint32_t i = 0; i < count; i++)
      if (from[i].node->id < w->count) w->on_path[from[i].node->id] = true;
  }
}

static void mark_reaching(walk *w, const ev *targets, uint32_t target_count) {
  leat_map wanted;
  leat_map_init(&wanted, w->e->arena);
  for (uint32_t i = 0; i < target_count; i++) {
    const void *key =
        targets[i].kind == EV_STATE ? (void *)targets[i].state : (void *)targets[i].tensor.node;
    leat_map_set(&wanted, key, (void *)key);
  }
  for (uint32_t id = 0; id < w->count; id++) {
    if (!w->on_path[id]) continue;
    const leat_node *node = w->e->graph->nodes.items[id];
    const leat_state *state = node->op == LEAT_OP_read ? leat_node_state(node) : NULL;
    w->reaches[id] = leat_map_get(&wanted, node) || (state && leat_map_get(&wanted, state));
    const leat_value *from;
    uint32_t count = sources(w, node, &from);
    for (uint32_t i = 0; i < count && !w->reaches[id]; i++)
      w->reaches[id] = from[i].node->id < w->count && w->reaches[from[i].node->id];
  }
}

// -- One rule
// --------------------------------------------------------------------------------------------

static ev attr_value(evaluator *e, leat_attr_kind kind, const leat_attr *attr) {
  switch (kind) {
  case LEAT_ATTR_INT: return ev_int(attr->i);
  case LEAT_ATTR_BOOL: return ev_bool(attr->i);
  case LEAT_ATTR_STRING:
    return (ev){.kind = EV_STRING, .text = attr->string, .size = strlen(attr->string)};
  case LEAT_ATTR_DTYPE: return (ev){.kind = EV_DTYPE, .i = attr->i};
  case LEAT_ATTR_DIM: return ev_of_dim(attr->dim);
  case LEAT_ATTR_TYPE: return (ev){.kind = EV_TYPE, .type = attr->type};
  case LEAT_ATTR_STATE: return (ev){.kind = EV_STATE, .state = attr->state};
  case LEAT_ATTR_TENSOR: return (ev){.kind = EV_NONE};
  case LEAT_ATTR_INTS:
  case LEAT_ATTR_DIMS: {
    ev *items = leat_new_array(e->arena, ev, attr->count + 1);
    for (uint32_t i = 0; i < attr->count; i++)
      items[i] = kind == LEAT_ATTR_INTS ? ev_int(attr->ints[i]) : ev_of_dim(attr->dims[i]);
    return ev_make_list(e, items, attr->count);
  }
  }
  return (ev){.kind = EV_NONE};
}

// A parameter called like an attribute is that; the others are the inputs in order, of a variadic
// op one list of them.
static void bind_op(walk *w, const ev_function *rule, const leat_node *node, ev_scope *scope) {
  const leat_op_info *info = leat_op_info_of(node->op);
  const leat_bindings *params = &rule->definition->params;
  uint32_t input = 0;
  for (uint32_t i = 0; i < params->count; i++) {
    const char *name = params->items[i].name;
    int attr = leat_op_attr_index(node->op, name);
    ev value = ev_error();
    if (attr >= 0) {
      value = attr_value(w->e, info->attrs[attr].kind, &node->attrs[attr]);
    } else if (info->max_inputs == LEAT_ANY_INPUTS) {
      ev *items = leat_new_array(w->e->arena, ev, node->input_count + 1);
      for (uint32_t k = 0; k < node->input_count; k++) items[k] = ev_tensor(node->inputs[k]);
      value = ev_make_list(w->e, items, node->input_count);
    } else if (input < node->input_count) {
      value = ev_tensor(node->inputs[input++]);
    } else {
      ev_fail(w->e, params->items[i].span, "`%s` has no input or attribute `%s`", info->name, name);
    }
    ev_bind(w->e, scope, params->items[i].span, name, value);
  }
}

static void bind_record(walk *w, const ev_call_record *record, ev_scope *scope) {
  const leat_bindings *params = &record->rule->definition->params;
  for (uint32_t i = 0; i < params->count; i++) {
    ev value = i < record->args->count ? record->args->items[i] : (ev){.kind = EV_NONE};
    ev_bind(w->e, scope, params->items[i].span, params->items[i].name, value);
  }
}

static const char *gradient_name(evaluator *e, const leat_node *node) {
  if (!e->entry) return leat_intern_printf(e->strings, "grad/%s", node->name);
  const char *entry = e->entry->name, *path = node->name;
  size_t length = strlen(entry);
  if (!strncmp(path, entry, length) && path[length] == '/') path += length + 1;
  return leat_intern_printf(e->strings, "%s/grad/%s", entry, path);
}

// What surrounds a gradient node: the forward node's name and constraints.
typedef struct surroundings {
  const char *gradient_path, *device, *colocate;
} surroundings;

static surroundings enter_node(evaluator *e, const leat_node *node) {
  surroundings saved = {e->gradient_path, e->device, e->colocate};
  e->gradient_path = gradient_name(e, node);
  e->device = node->device;
  e->colocate = node->colocate;
  return saved;
}

static void leave_node(evaluator *e, surroundings saved) {
  e->gradient_path = saved.gradient_path;
  e->device = saved.device;
  e->colocate = saved.colocate;
}

static ev call_rule(walk *w, const ev_function *rule, const leat_node *node, leat_value dy) {
  evaluator *e = w->e;
  const ev_call_record *record = record_of(w, node);
  ev_frame frame = {.caller = e->frame,
                    .function = rule,
                    .call = w->span,
                    .scope = ev_scope_new(e, e->globals),
                    .instance = e->frame->instance,
                    .result = {.kind = EV_NONE}};
  frame.unnamed = &frame;
  ev_frame *outer = e->frame;
  e->frame = &frame;
  if (record)
    bind_record(w, record, frame.scope);
  else
    bind_op(w, rule, node, frame.scope);
  const leat_bindings *results = &rule->definition->results;
  if (results->count == 2) {
    const leat_binding *y = &results->items[0], *d = &results->items[1];
    ev_bind(e, frame.scope, y->span, y->name, ev_tensor((leat_value){(leat_node *)node, 0}));
    ev_bind(e, frame.scope, d->span, d->name, ev_tensor(dy));
    ev_statements(e, &rule->definition->body);
  } else {
    ev_fail(e, rule->definition->span, "a rule for an op of one output says `-> y, dy`");
  }
  e->frame = outer;
  return frame.result;
}

static bool accumulate(walk *w, leat_value to, ev gradient) {
  if (gradient.kind == EV_NONE || to.node->id >= w->count || !w->reaches[to.node->id]) return true;
  leat_value value = ev_as_tensor(w->e, gradient, (int)leat_value_type(to)->dtype, w->span);
  if (!value.node) return false;
  if (!leat_type_equal(leat_value_type(value), leat_value_type(to))) {
    leat_text found = {0}, expected = {0};
    leat_type_print(leat_value_type(value), &found);
    leat_type_print(leat_value_type(to), &expected);
    ev_fail(w->e, w->span, "the gradient rule gives %s for `%s`, which is %s", found.data,
            to.node->name, expected.data);
    leat_text_finish(&found);
    leat_text_finish(&expected);
    return false;
  }
  leat_value *sum = &w->partial[to.node->id];
  if (sum->node) {
    ev terms[] = {ev_tensor(*sum), ev_tensor(value)};
    value = ev_op(w->e, LEAT_OP_add, terms, 2, NULL, w->span, NULL).tensor;
  }
  *sum = value;
  return value.node != NULL;
}

static bool no_rule(walk *w, const leat_node *node) {
  ev_fail(w->e, w->span, "the gradient goes through `%s` (op `%s`), which has no gradient rule",
          node->name, leat_op_name(node->op));
  if (node->span.source) leat_note_at(w->e->diag, node->span, "it is made here");
  return false;
}

// Hands the gradient of a node on to what it was computed from.
static bool pass_on(walk *w, leat_node *node) {
  const leat_value *to;
  uint32_t count = sources(w, node, &to), wanted = 0;
  for (uint32_t i = 0; i < count; i++)
    wanted += to[i].node->id < w->count && w->reaches[to[i].node->id] && is_float(to[i]);
  if (!wanted) return true;
  const ev_call_record *record = record_of(w, node);
  const ev_function *rule = record ? record->rule : ev_find_gradient(w->e, leat_op_name(node->op));
  if (!rule) return no_rule(w, node);
  ev result = call_rule(w, rule, node, w->partial[node->id]);
  if (result.kind == EV_ERROR || leat_diag_errors(w->e->diag)) return false;
  bool several = result.kind == EV_LIST;
  uint32_t given = several ? result.list->count : 1;
  if (record) { // one for each parameter of the rule; compile-time ones get none
    uint32_t k = 0;
    for (uint32_t i = 0; i < record->args->count && i < given; i++) {
      ev arg = record->args->items[i];
      if (arg.kind != EV_TENSOR && arg.kind != EV_STATE) continue;
      if (!accumulate(w, to[k++], several ? result.list->items[i] : result)) return false;
    }
    return true;
  }
  if (given != count) {
    ev_fail(w->e, rule->definition->span, "the rule of `%s` returns %u gradients for %u inputs",
            leat_op_name(node->op), given, count);
    return false;
  }
  for (uint32_t i = 0; i < count; i++)
    if (!accumulate(w, to[i], several ? result.list->items[i] : result)) return false;
  return true;
}

// -- The walk
// ----------------------------------------------------------------------------------------------

static leat_value zeros_like(walk *w, const leat_type *type) {
  ev zero = ev_int(0);
  return ev_literal_tensor(w->e, zero, type, ev_node_name(w->e, "zeros", NULL), w->span);
}

// The gradient of a target: of a variable, the sum over its reads.
static leat_value collect(walk *w, ev target) {
  if (target.kind == EV_TENSOR)
    return target.tensor.node->id < w->count ? w->partial[target.tensor.node->id] : (leat_value){0};
  leat_value sum = {0};
  for (uint32_t id = 0; id < w->count; id++) {
    const leat_node *node = w->e->graph->nodes.items[id];
    if (!w->on_path[id] || node->op != LEAT_OP_read || leat_node_state(node) != target.state)
      continue;
    leat_value partial = w->partial[id];
    if (!partial.node) continue;
    if (sum.node) {
      ev terms[] = {ev_tensor(sum), ev_tensor(partial)};
      partial = ev_op(w->e, LEAT_OP_add, terms, 2, NULL, w->span, NULL).tensor;
    }
    sum = partial;
  }
  return sum;
}

static bool check_loss(evaluator *e, leat_value loss, leat_span span) {
  const leat_type *type = leat_value_type(loss);
  if (type->rank == 0 && is_float(loss)) return true;
  leat_text text = {0};
  leat_type_print(type, &text);
  ev_fail(e, span, "a loss is a scalar of floats, this is %s", text.data);
  leat_text_finish(&text);
  return false;
}

bool ev_gradients(evaluator *e, leat_value loss, const ev *targets, uint32_t count, ev *out,
                  leat_span span) {
  if (!check_loss(e, loss, span)) return false;
  walk w = {.e = e, .span = span};
  leat_graph_renumber(e->graph);
  w.count = loss.node->id + 1;
  w.on_path = leat_new_array(e->arena, bool, w.count);
  w.reaches = leat_new_array(e->arena, bool, w.count);
  w.partial = leat_new_array(e->arena, leat_value, w.count);
  mark_path(&w, loss.node);
  mark_reaching(&w, targets, count);
  surroundings saved = enter_node(e, loss.node);
  ev one = ev_int(1);
  w.partial[loss.node->id] =
      ev_literal_tensor(e, one, leat_value_type(loss), e->gradient_path, span);
  leave_node(e, saved);
  for (uint32_t id = w.count; id-- > 0;) {
    leat_node *node = e->graph->nodes.items[id];
    if (!w.on_path[id] || !w.reaches[id] || !w.partial[id].node) continue;
    if (node->op == LEAT_OP_read) continue;
    saved = enter_node(e, node);
    bool ok = pass_on(&w, node);
    leave_node(e, saved);
    if (!ok) return false;
  }
  for (uint32_t i = 0; i < count; i++) {
    leat_value gradient = collect(&w, targets[i]);
    const leat_type *type =
        targets[i].kind == EV_STATE ? &targets[i].state->type : leat_value_type(targets[i].tensor);
    if (!gradient.node) {
      const char *name =
          targets[i].kind == EV_STATE ? targets[i].state->name : targets[i].tensor.node->name;
      leat_warn_at(e->diag, span, "the loss does not depend on `%s`: its gradient is zero", name);
      gradient = zeros_like(&w, type);
    }
    out[i] = ev_tensor(gradient);
  }
  return true;
}

// -- grad, trainables
// ----------------------------------------------------------------------------------------

static bool loss_of(evaluator *e, const ev_builtin_call *call, leat_value *out) {
  ev loss = ev_builtin_argument(call, 0, "loss");
  *out = ev_as_tensor(e, loss, -1, call->span);
  return out->node != NULL;
}

static bool check_targets(evaluator *e, ev targets, leat_span span) {
  if (targets.kind != EV_LIST) {
    ev_fail(e, span, "expected a list of variables or tensors, found %s", ev_kind_name(targets));
    return false;
  }
  for (uint32_t i = 0; i < targets.list->count; i++) {
    ev target = targets.list->items[i];
    if (target.kind == EV_STATE || target.kind == EV_TENSOR) continue;
    ev_fail(e, span, "a gradient is with respect to a variable or a tensor, not %s",
            ev_kind_name(target));
    return false;
  }
  return true;
}

static ev gradient_list(evaluator *e, leat_value loss, ev targets, leat_span span) {
  if (!check_targets(e, targets, span)) return ev_error();
  ev *gradients = leat_new_array(e->arena, ev, targets.list->count + 1);
  if (!ev_gradients(e, loss, targets.list->items, targets.list->count, gradients, span))
    return ev_error();
  return ev_make_list(e, gradients, targets.list->count);
}

ev ev_builtin_grad(evaluator *e, const ev_builtin_call *call) {
  leat_value loss;
  if (!loss_of(e, call, &loss)) return ev_error();
  ev targets = ev_builtin_argument(call, 1, "targets");
  if (targets.kind == EV_LIST) return gradient_list(e, loss, targets, call->span);
  ev list = gradient_list(e, loss, ev_make_list(e, &targets, 1), call->span);
  return list.kind == EV_LIST ? list.list->items[0] : list; // grad(loss, w) is one gradient
}

static ev trainables(evaluator *e, leat_value loss) {
  leat_graph_renumber(e->graph);
  walk w = {.e = e, .count = loss.node->id + 1};
  w.on_path = leat_new_array(e->arena, bool, w.count);
  mark_path(&w, loss.node);
  bool *used = leat_new_array(e->arena, bool, e->graph->states.count + 1);
  for (uint32_t id = 0; id < w.count; id++) {
    const leat_node *node = e->graph->nodes.items[id];
    if (w.on_path[id] && node->op == LEAT_OP_read) used[leat_node_state(node)->id] = true;
  }
  ev *states = leat_new_array(e->arena, ev, e->graph->states.count + 1);
  uint32_t count = 0;
  for (uint32_t i = 0; i < e->graph->states.count; i++) {
    leat_state *state = e->graph->states.items[i];
    if (used[i] && state->trainable) states[count++] = (ev){.kind = EV_STATE, .state = state};
  }
  return ev_make_list(e, states, count);
}

ev ev_builtin_trainables(evaluator *e, const ev_builtin_call *call) {
  leat_value loss;
  return loss_of(e, call, &loss) ? trainables(e, loss) : ev_error();
}

// -- apply, minimize
// -----------------------------------------------------------------------------------------

// One update: the optimiser is an instance below its variable, which its slots belong to; it runs
// where the variable is.
static bool update(evaluator *e, const ev_function *optimiser, const char *name, ev variable,
                   ev gradient, const ev_argument *rest, uint32_t rest_count, leat_span span) {
  ev_argument *args = leat_new_array(e->arena, ev_argument, rest_count + 2);
  args[0] = (ev_argument){NULL, variable, span};
  args[1] = (ev_argument){NULL, gradient, span};
  if (rest_count) memcpy(args + 2, rest, rest_count * sizeof *rest);
  leat_state *state = variable.state, *outer_slots = e->slots_of;
  ev_frame *outer = e->frame;
  ev_frame frame = {.caller = outer, .scope = outer->scope, .call = span, .instance = state->name};
  const char *path = e->path, *device = e->device, *colocate = e->colocate;
  e->frame = &frame;
  e->path =
      e->entry ? leat_intern_printf(e->strings, "%s/%s", e->entry->name, state->name) : state->name;
  e->device = NULL;
  e->colocate = state->name;
  e->slots_of = state;
  ev result = ev_call(e, optimiser, args, rest_count + 2, span, name, NULL);
  e->frame = outer;
  e->path = path;
  e->device = device;
  e->colocate = colocate;
  e->slots_of = outer_slots;
  return result.kind != EV_ERROR;
}

typedef struct application {
  ev optimiser, vars, gradients;
  const char *name;
  ev_argument *rest;
  uint32_t rest_count;
} application;

static ev apply(evaluator *e, const application *a, leat_span span) {
  if (a->optimiser.kind != EV_FUNCTION)
    return ev_fail(e, span, "expected an optimiser such as `sgd`, found %s",
                   ev_kind_name(a->optimiser));
  if (!check_targets(e, a->vars, span) || !check_targets(e, a->gradients, span)) return ev_error();
  if (a->vars.list->count != a->gradients.list->count)
    return ev_fail(e, span, "%u variables and %u gradients", a->vars.list->count,
                   a->gradients.list->count);
  for (uint32_t i = 0; i < a->vars.list->count; i++) {
    ev variable = a->vars.list->items[i];
    if (variable.kind != EV_STATE)
      return ev_fail(e, span, "an optimiser updates variables, not %s", ev_kind_name(variable));
    if (!update(e, a->optimiser.function, a->name, variable, a->gradients.list->items[i], a->rest,
                a->rest_count, span))
      return ev_error();
  }
  return (ev){.kind = EV_NONE};
}

// Takes `position`s and named ones of `known` out of the arguments; the others are for the
// optimiser.
static bool split(evaluator *e, const ev_builtin_call *call, const char *const *known,
                  uint32_t positional, application *a) {
  a->rest = leat_new_array(e->arena, ev_argument, call->count + 1);
  uint32_t position = 0;
  for (uint32_t i = 0; i < call->count; i++) {
    const ev_argument *arg = &call->args[i];
    if (!arg->key) {
      if (position++ < positional) continue;
      ev_fail(e, arg->span, "at most %u arguments go by position here", positional);
      return false;
    }
    bool ours = false;
    for (const char *const *k = known; *k; k++) ours = ours || !strcmp(*k, arg->key);
    if (!ours) a->rest[a->rest_count++] = *arg;
  }
  if (a->optimiser.kind == EV_FUNCTION) a->name = a->optimiser.function->name;
  ev name = ev_builtin_argument(call, UINT32_MAX, "name");
  if (name.kind == EV_STRING) a->name = leat_intern_n(e->strings, name.text, name.size);
  return true;
}

ev ev_builtin_apply(evaluator *e, const ev_builtin_call *call) {
  static const char *const known[] = {"optimiser", "vars", "grads", "name", NULL};
  application a = {.optimiser = ev_builtin_argument(call, 0, "optimiser"),
                   .vars = ev_builtin_argument(call, 1, "vars"),
                   .gradients = ev_builtin_argument(call, 2, "grads")};
  return split(e, call, known, 3, &a) ? apply(e, &a, call->span) : ev_error();
}

static ev clipped(evaluator *e, ev gradients, ev norm, leat_span span) {
  const ev_function *clip = ev_find_function(e, leat_intern(e->strings, "clip_by_global_norm"));
  ev_argument args[] = {{NULL, gradients, span}, {NULL, norm, span}};
  return clip ? ev_call(e, clip, args, 2, span, NULL, NULL) : ev_error();
}

ev ev_builtin_minimize(evaluator *e, const ev_builtin_call *call) {
  static const char *const known[] = {"loss", "optimiser", "vars", "name", "clip_norm", NULL};
  leat_value loss;
  if (!loss_of(e, call, &loss)) return ev_error();
  application a = {.optimiser = ev_builtin_argument(call, 1, "optimiser"),
                   .vars = ev_builtin_argument(call, UINT32_MAX, "vars")};
  if (!split(e, call, known, 2, &a)) return ev_error();
  if (a.vars.kind == EV_NONE) a.vars = trainables(e, loss);
  a.gradients = gradient_list(e, loss, a.vars, call->span);
  if (a.gradients.kind == EV_ERROR) return ev_error();
  ev norm = ev_builtin_argument(call, UINT32_MAX, "clip_norm");
  if (norm.kind != EV_NONE) a.gradients = clipped(e, a.gradients, norm, call->span);
  return a.gradients.kind == EV_ERROR ? ev_error() : apply(e, &a, call->span);
}
