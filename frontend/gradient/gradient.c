// Gradients (white paper 4.1): one walk backwards from the loss, that calls for each op on the way
// the rule of the language (stdlib/grad.leat, or the user's) and adds what it returns to the graph.
//
// Only nodes that reach a target are visited. A call of a function with a rule of its own counts as
// one op: the gradients of its results are handed on at the first of them, when those of all are
// known. A gradient node is called <entry>/grad/<path of the forward node> and has its device
// constraints.
#include "frontend/gradient/walk.h"

#include "frontend/values/region.h"
#include "frontend/values/rows.h"

#include <string.h>

enum { NODES_A_STEP = 4 }; // walked over for a gradient, see ev_spend

// What the walk knows of a node of the forward graph.
typedef struct mark {
  bool on_path; // the loss depends on it
  bool reaches; // it depends on a target
  ev partial;   // the gradient of its first output, a tensor or rows, as summed so far; EV_ERROR:
                // none
  ev *others;   // the same of all outputs by port, the first left out; NULL: none yet
} mark;

typedef struct walk {
  evaluator *e;
  leat_span span;
  leat_arena *scratch;
  ev_numbered all; // the nodes of the forward graph
  mark *marks;     // by number
  uint32_t end;    // of the open body, when the walk began
} walk;

// NULL: the value is not of the forward graph.
static mark *mark_of(walk *w, leat_value value) {
  uint32_t number = ev_number_of(&w->all, value);
  return number < w->all.count ? &w->marks[number] : NULL;
}

// The gradient of a value, as summed so far; NULL: the value is not of the forward graph.
static ev *partial_of(walk *w, leat_value value) {
  value = leat_region_origin(value);
  mark *m = mark_of(w, value);
  if (!m || !value.port) return m ? &m->partial : NULL;
  size_t outputs = value.node->output_count;
  if (!m->others) m->others = leat_new_array(w->scratch, ev, outputs);
  return &m->others[value.port];
}

static const ev_call_record *record_of(const walk *w, const leat_node *node) {
  return leat_map_get(&w->e->records, node);
}

static bool is_float(leat_dtype dtype) {
  return leat_dtype_kind_of(dtype) == LEAT_KIND_FLOAT;
}

// -- What depends on what -----------------------------------------------------------------------

static uint32_t tensors_of(const walk *w, const ev_list *args, const leat_value **out) {
  leat_value *values = leat_new_array(w->scratch, leat_value, (size_t)args->count + 1);
  uint32_t count = 0;
  for (uint32_t i = 0; i < args->count; i++)
    if (args->items[i].kind == EV_TENSOR) values[count++] = args->items[i].tensor;
  *out = values;
  return count;
}

// The values that a node's gradient flows on to: its inputs; of the results of a call with a rule,
// the first has the call's arguments, the others hand theirs to the first.
static uint32_t sources(const walk *w, const leat_node *node, const leat_value **out) {
  const ev_call_record *record = record_of(w, node);
  if (record && record->first == node) return tensors_of(w, record->args, out);
  if (record) {
    for (uint32_t i = 0; i < record->results->count; i++)
      if (record->results->items[i].tensor.node == record->first)
        *out = &record->results->items[i].tensor;
    return 1;
  }
  bool ends = node->op == LEAT_OP_stop_gradient || ev_state_read(w->e, node);
  *out = node->inputs;
  return ends ? 0 : node->input_count;
}

// What a frame on the path leaves in a turn for the next one. True: now more is on it.
static bool mark_back_edges(walk *w) {
  bool more = false;
  for (uint32_t i = 0; i < w->all.count; i++) {
    const leat_node *node = w->all.nodes[i];
    const mark *to = node->op == LEAT_OP_next_iteration ? mark_of(w, node->inputs[1]) : NULL;
    bool *on_path = &w->marks[i].on_path;
    if (!to || !to->on_path || *on_path) continue;
    *on_path = more = true;
  }
  return more;
}

static void mark_sources(walk *w) {
  for (uint32_t number = w->all.count; number-- > 0;) {
    if (!w->marks[number].on_path) continue;
    const leat_value *from;
    uint32_t count = sources(w, w->all.nodes[number], &from);
    for (uint32_t i = 0; i < count; i++) {
      mark *m = mark_of(w, from[i]);
      if (m) m->on_path = true;
    }
  }
}

// What `losses` depend on.
static void mark_path(walk *w, const leat_value *losses, uint32_t loss_count) {
  ev_spend(w->e, w->all.count / NODES_A_STEP, w->span);
  for (uint32_t i = 0; i < loss_count; i++) {
    mark *m = mark_of(w, losses[i]);
    if (m) m->on_path = true;
  }
  do mark_sources(w);
  while (mark_back_edges(w));
}

static void mark_reaching(walk *w, const ev *targets, uint32_t target_count) {
  leat_map wanted;
  leat_map_init(&wanted, w->scratch);
  for (uint32_t i = 0; i < target_count; i++) // no gradient goes to a number that counts
    if (leat_dtype_in_class(ev_tensor_type(targets[i])->dtype, LEAT_CLASS_INEXACT))
      leat_map_set(&wanted, ev_target_key(targets[i]), w);
  for (uint32_t number = 0; number < w->all.count; number++) {
    if (!w->marks[number].on_path) continue;
    const leat_node *node = w->all.nodes[number];
    const leat_state *state = ev_state_read(w->e, node);
    bool reaches = leat_map_get(&wanted, node) || (state && leat_map_get(&wanted, state));
    const leat_value *from;
    uint32_t count = sources(w, node, &from);
    for (uint32_t i = 0; i < count && !reaches; i++) {
      const mark *m = mark_of(w, from[i]);
      reaches = m && m->reaches;
    }
    w->marks[number].reaches = reaches;
  }
}

// -- Names and places of gradient nodes ---------------------------------------------------------

static const char *gradient_name(evaluator *e, const leat_node *node) {
  if (!e->at.entry) return leat_intern_path(e->strings, "grad", node->name);
  const char *entry = e->at.entry->name, *path = node->name;
  size_t length = strlen(entry);
  if (!strncmp(path, entry, length) && path[length] == '/') path += length + 1;
  return leat_intern_join(e->strings, entry, "/grad/", path);
}

ev_context ev_enter(evaluator *e, const char *path, const leat_node *like) {
  ev_context around = e->at;
  e->at.gradient_path = path;
  e->at.device = like->device;
  e->at.colocate = like->colocate;
  return around;
}

static ev_context enter_node(evaluator *e, const leat_node *node) {
  return ev_enter(e, gradient_name(e, node), node);
}

// A number in the whole shape of `type`.
static leat_value filled(evaluator *e, int64_t number, const leat_type *type, leat_span span) {
  return ev_literal_tensor(e, ev_int(number), type, NULL, span);
}

// -- One rule -----------------------------------------------------------------------------------

static ev attr_value(evaluator *e, leat_attr_kind kind, const leat_attr *attr) {
  switch (kind) {
  case LEAT_ATTR_INT: return ev_int(attr->i);
  case LEAT_ATTR_BOOL: return ev_bool(attr->i);
  case LEAT_ATTR_STRING: return ev_text(e, attr->string, strlen(attr->string));
  case LEAT_ATTR_DTYPE: return (ev){.kind = EV_DTYPE, .i = attr->i};
  case LEAT_ATTR_DIM: return ev_of_dim(attr->dim);
  case LEAT_ATTR_TYPE: return (ev){.kind = EV_TYPE, .type = attr->type};
  case LEAT_ATTR_STATE: return ev_of_state(attr->state);
  case LEAT_ATTR_TENSOR:
  case LEAT_ATTR_GRAPH: return ev_none();
  case LEAT_ATTR_INTS:
  case LEAT_ATTR_DIMS: {
    ev *items = leat_new_array(e->arena, ev, (size_t)attr->count + 1);
    for (uint32_t i = 0; i < attr->count; i++)
      items[i] = kind == LEAT_ATTR_INTS ? ev_int(attr->ints[i]) : ev_of_dim(attr->dims[i]);
    return ev_take_list(e, items, attr->count);
  }
  }
  return ev_none();
}

static ev input_list(evaluator *e, const leat_node *node) {
  ev *items = leat_new_array(e->arena, ev, (size_t)node->input_count + 1);
  for (uint32_t i = 0; i < node->input_count; i++) items[i] = ev_tensor(node->inputs[i]);
  return ev_take_list(e, items, node->input_count);
}

// A parameter called like an attribute is that; the others are the inputs in order, of a variadic
// op one list of them.
static void bind_op(walk *w, const leat_bindings *params, const leat_node *node, ev_scope *scope) {
  const leat_op_info *info = node->info;
  uint32_t input = 0;
  for (uint32_t i = 0; i < params->count; i++) {
    const leat_binding *param = &params->items[i];
    int attr = leat_op_attr_index(node->op, param->name);
    ev value;
    if (attr >= 0)
      value = attr_value(w->e, info->attrs[attr].kind, &node->attrs[attr]);
    else if (info->max_inputs == LEAT_ANY_INPUTS)
      value = input_list(w->e, node);
    else if (input < node->input_count)
      value = ev_tensor(node->inputs[input++]);
    else
      value = ev_fail(w->e, param->span, "`%s` has no input or attribute `%s`", info->name,
                      param->name);
    ev_bind(w->e, scope, param->span, param->name, value);
  }
}

static void bind_record(walk *w, const leat_bindings *params, const ev_call_record *record,
                        ev_scope *scope) {
  for (uint32_t i = 0; i < params->count; i++) {
    ev value = i < record->args->count ? record->args->items[i] : ev_none();
    ev_bind(w->e, scope, params->items[i].span, params->items[i].name, value);
  }
}

// The outputs and their gradients, zeros where the loss does not depend on one. False: the rule is
// for another number of outputs.
static bool bind_outputs(walk *w, const ev_function *rule, const leat_value *outputs,
                         uint32_t count, ev_scope *scope) {
  const leat_bindings *names = &rule->definition->results;
  if (names->count != 2 * count) {
    ev_fail(w->e, rule->definition->name_span,
            "this rule is for %u output%s, what it is a rule of has %u", names->count / 2,
            names->count == 2 ? "" : "s", count);
    return false;
  }
  for (uint32_t i = 0; i < count; i++) {
    const leat_binding *y = &names->items[i], *dy = &names->items[count + i];
    const ev *known = partial_of(w, outputs[i]);
    ev partial = known ? *known : ev_error();
    partial = ev_settle_rows(w->e, partial, w->span);
    if (partial.kind == EV_ERROR)
      partial = ev_tensor(ev_zeros(w->e, leat_value_type(outputs[i]), w->span));
    ev_bind(w->e, scope, y->span, y->name, ev_tensor(outputs[i]));
    ev_bind(w->e, scope, dy->span, dy->name, partial);
  }
  return true;
}

// All outputs of a node.
static uint32_t outputs_of(walk *w, leat_node *node, const leat_value **out) {
  uint32_t count = node->output_count;
  leat_value *values = leat_new_array(w->scratch, leat_value, count);
  for (uint32_t port = 0; port < count; port++) values[port] = (leat_value){node, port};
  *out = values;
  return count;
}

static ev call_rule(walk *w, const ev_function *rule, leat_node *node) {
  evaluator *e = w->e;
  const ev_call_record *record = record_of(w, node);
  const leat_bindings *params = &rule->definition->params;
  ev_frame frame = {.caller = e->frame,
                    .function = rule,
                    .call = w->span,
                    .scope = ev_scope_new(e, rule->library ? NULL : e->globals),
                    .instance = e->frame->instance,
                    .path = e->at.path,
                    .calls = e->frame->calls + 1,
                    .errors = leat_diag_errors(e->diag),
                    .result = ev_none()};
  frame.unnamed = &frame;
  e->frame = &frame;
  const leat_value *outputs;
  uint32_t count =
      record ? tensors_of(w, record->results, &outputs) : outputs_of(w, node, &outputs);
  if (record)
    bind_record(w, params, record, frame.scope);
  else
    bind_op(w, params, node, frame.scope);
  if (bind_outputs(w, rule, outputs, count, frame.scope)) ev_statements(e, &rule->definition->body);
  e->frame = frame.caller;
  if (e->stopped || leat_diag_errors(e->diag) == frame.errors)
    return e->stopped ? ev_error() : frame.result;
  leat_note_at(e->diag, node->span, "in the gradient of this, `%s`", node->name);
  return ev_error();
}

// -- Handing gradients on -----------------------------------------------------------------------

static bool wrong_type(walk *w, const ev_function *rule, ev gradient, leat_value to) {
  leat_arena *arena = w->e->arena;
  ev_fail(w->e, rule->definition->name_span, "the gradient rule gives %s for `%s`, which is %s",
          leat_type_text(arena, ev_tensor_type(gradient)), to.node->name,
          leat_type_text(arena, leat_value_type(to)));
  return false;
}

static ev sum_of(walk *w, ev a, ev b) {
  if (a.kind == EV_ERROR) return b;
  if (a.kind == EV_ROWS || b.kind == EV_ROWS) return ev_rows_add(w->e, a, b, w->span);
  ev terms[] = {a, b};
  return ev_op(w->e, LEAT_OP_add, terms, 2, NULL, w->span, NULL);
}

static bool accumulate(walk *w, const ev_function *rule, leat_value to, ev gradient) {
  const mark *m = mark_of(w, to);
  if (gradient.kind == EV_NONE || !m || !m->reaches) return true;
  if (gradient.kind != EV_ROWS) {
    int dtype = (int)leat_value_type(to)->dtype;
    gradient = ev_tensor(ev_as_tensor(w->e, gradient, dtype, w->span));
  }
  if (gradient.kind == EV_ERROR) return false;
  if (!leat_type_equal(ev_tensor_type(gradient), leat_value_type(to)))
    return wrong_type(w, rule, gradient, to);
  if (gradient.kind == EV_TENSOR && ev_is_zeros(w->e, gradient.tensor)) return true;
  ev *partial = partial_of(w, to);
  *partial = sum_of(w, *partial, gradient);
  return partial->kind != EV_ERROR;
}

// The arguments of a call get what the rule returns for the parameter; compile-time ones nothing.
static bool hand_to_arguments(walk *w, const ev_call_record *record, ev result) {
  bool several = result.kind == EV_LIST;
  uint32_t given = several ? result.list->count : 1, wanted = record->args->count;
  if (given > wanted) {
    ev_fail(w->e, record->rule->definition->name_span,
            "the rule of `%s` returns %u gradient%s for %u parameter%s",
            record->rule->definition->name, given, given == 1 ? "" : "s", wanted,
            wanted == 1 ? "" : "s");
    return false;
  }
  for (uint32_t i = 0; i < given; i++) {
    ev arg = record->args->items[i];
    if (arg.kind != EV_TENSOR) continue;
    ev gradient = several ? result.list->items[i] : result;
    if (!accumulate(w, record->rule, arg.tensor, gradient)) return false;
  }
  return true;
}

static bool hand_to_inputs(walk *w, const ev_function *rule, const leat_node *node, ev result) {
  bool several = result.kind == EV_LIST;
  uint32_t given = several ? result.list->count : 1;
  if (given != node->input_count) {
    ev_fail(w->e, rule->definition->name_span,
            "the rule of `%s` returns %u gradient%s for %u input%s", leat_op_name(node->op), given,
            given == 1 ? "" : "s", node->input_count, node->input_count == 1 ? "" : "s");
    return false;
  }
  for (uint32_t i = 0; i < given; i++)
    if (!accumulate(w, rule, node->inputs[i], several ? result.list->items[i] : result))
      return false;
  return true;
}

static bool wants(walk *w, leat_value value) {
  const mark *m = mark_of(w, value);
  return m && m->reaches && leat_dtype_in_class(leat_value_type(value)->dtype, LEAT_CLASS_INEXACT);
}

// Whether a gradient has come to the node, or to any result of the call that it is the first of.
static bool has_gradient(walk *w, leat_node *node, const ev_call_record *record) {
  const leat_value *outputs;
  uint32_t count =
      record ? tensors_of(w, record->results, &outputs) : outputs_of(w, node, &outputs);
  for (uint32_t i = 0; i < count; i++) {
    const ev *partial = partial_of(w, outputs[i]);
    if (partial && partial->kind != EV_ERROR) return true;
  }
  return false;
}

static bool no_rule(walk *w, const leat_node *node) {
  if (leat_is_primitive(node))
    ev_fail(w->e, w->span,
            "the gradient goes out of a frame through `%s` (op `%s`): of what is in a frame there "
            "are gradients in one turn, of what leaves it through all",
            node->name, leat_op_name(node->op));
  else
    ev_fail(w->e, w->span, "the gradient goes through `%s` (op `%s`), which has no gradient rule",
            node->name, leat_op_name(node->op));
  leat_note_at(w->e->diag, node->span, "it is made here");
  return false;
}

// A node with bodies: the gradient is a node with bodies, too.
static bool pass_through(walk *w, leat_node *node) {
  ev *partials = leat_new_array(w->scratch, ev, node->output_count);
  ev *gradients = leat_new_array(w->scratch, ev, node->input_count);
  bool *wanted = leat_new_array(w->scratch, bool, node->input_count);
  for (uint32_t i = 0; i < node->output_count; i++)
    partials[i] = *partial_of(w, (leat_value){node, i});
  for (uint32_t i = 0; i < node->input_count; i++) wanted[i] = wants(w, node->inputs[i]);
  if (!ev_region_gradients(w->e, node, partials, wanted, gradients, w->span)) return false;
  for (uint32_t i = 0; i < node->input_count; i++)
    if (wanted[i] && gradients[i].kind != EV_ERROR &&
        !accumulate(w, NULL, node->inputs[i], gradients[i]))
      return false;
  return true;
}

static bool pass_on(walk *w, leat_node *node) {
  const ev_call_record *record = record_of(w, node);
  if (record && record->first != node) return true; // the first one does
  const leat_value *to;
  uint32_t count = sources(w, node, &to);
  bool wanted = false;
  for (uint32_t i = 0; i < count; i++) wanted = wanted || wants(w, to[i]);
  if (!wanted || !has_gradient(w, node, record)) return true;
  if (!record && node->info->kind == LEAT_KIND_REGION) return pass_through(w, node);
  const ev_function *rule = record ? record->rule : ev_find_gradient(w->e, leat_op_name(node->op));
  if (!rule) return no_rule(w, node);
  ev result = call_rule(w, rule, node);
  if (result.kind == EV_ERROR) return false;
  return record ? hand_to_arguments(w, record, result) : hand_to_inputs(w, rule, node, result);
}

// -- The walk -----------------------------------------------------------------------------------

static bool walk_back(walk *w) {
  evaluator *e = w->e;
  for (uint32_t i = w->all.count; i-- > 0;) {
    leat_node *node = w->all.nodes[i];
    if (!w->marks[i].reaches || node->input_count == 0) continue;
    if (!ev_spend(e, 1, w->span)) return false;
    ev_context around = enter_node(e, node);
    bool ok = pass_on(w, node);
    e->at = around;
    if (!ok) return false;
  }
  return true;
}

// What is read behind an assignment in a body has handed its gradient on.
static leat_state *read_here(const walk *w, const leat_node *node) {
  return record_of(w, node) ? NULL : ev_state_read(w->e, node);
}

// The gradient of a variable is the sum over its reads.
static bool sum_reads(walk *w, leat_map *sums) {
  leat_map_init(sums, w->scratch);
  for (uint32_t i = 0; i < w->all.count; i++) {
    const leat_node *node = w->all.nodes[i];
    const ev *partial = &w->marks[i].partial;
    leat_state *state = partial->kind == EV_ERROR ? NULL : read_here(w, node);
    if (!state) continue;
    ev *sum = leat_map_get(sums, state);
    if (!sum) leat_map_set(sums, state, sum = leat_new(w->scratch, ev));
    ev_context around = enter_node(w->e, node);
    *sum = sum_of(w, *sum, *partial);
    w->e->at = around;
    if (sum->kind == EV_ERROR) return false;
  }
  return true;
}

static ev unreached(walk *w, const char *of, ev target) {
  bool is_state = target.kind == EV_STATE;
  const leat_type *type = is_state ? &target.state->type : leat_value_type(target.tensor);
  if (of)
    leat_warn_at(w->e->diag, ev_place(w->e, w->span),
                 "%s does not depend on `%s`: its gradient is zero", of,
                 is_state ? target.state->name : target.tensor.node->name);
  return ev_tensor(filled(w->e, 0, type, w->span));
}

// What is asked of `targets` is found at those of the webs.
static bool collect(walk *w, const ev_webs *webs, const char *of, const ev *targets, uint32_t count,
                    ev *out) {
  leat_map sums; // leat_state * → ev *
  if (!sum_reads(w, &sums)) return false;
  ev_made made = ev_made_since(w->e, w->end, w->scratch);
  for (uint32_t i = 0; i < count; i++) {
    ev at = webs->targets[i];
    const ev *sum = at.kind == EV_STATE ? leat_map_get(&sums, at.state) : partial_of(w, at.tensor);
    out[i] = sum && sum->kind != EV_ERROR ? *sum : unreached(w, of, targets[i]);
    out[i] = ev_join_products(w->e, &made, ev_settle_rows(w->e, out[i], w->span), w->span);
    out[i] = ev_dead_again(w->e, webs, i, out[i], w->span);
    if (out[i].kind == EV_ERROR) return false;
  }
  return true;
}

bool ev_check_targets(evaluator *e, ev targets, bool may_be_rows, leat_span span) {
  if (targets.kind != EV_LIST) {
    ev_fail(e, span, "expected a list of variables or tensors, found %s", ev_kind_name(targets));
    return false;
  }
  for (uint32_t i = 0; i < targets.list->count; i++) {
    ev target = targets.list->items[i];
    if (target.kind == EV_ROWS && may_be_rows) continue;
    if (target.kind != EV_STATE && target.kind != EV_TENSOR) {
      ev_fail(e, span, "a gradient is with respect to a variable or a tensor, not %s%s",
              ev_kind_name(target),
              target.kind == EV_ROWS ? ": `row_values` gives their values" : "");
      return false;
    }
    leat_dtype dtype =
        target.kind == EV_STATE ? target.state->type.dtype : leat_value_type(target.tensor)->dtype;
    if (leat_dtype_in_class(dtype, LEAT_CLASS_INEXACT)) continue;
    ev_fail(e, span, "a gradient is with respect to floats, `%s` is %s",
            target.kind == EV_STATE ? target.state->name : target.tensor.node->name,
            leat_dtype_name(dtype));
    return false;
  }
  return true;
}

static bool check_loss(evaluator *e, leat_value loss, leat_span span) {
  const leat_type *type = leat_value_type(loss);
  if (type->rank == 0 && is_float(type->dtype)) return true;
  ev_fail(e, span, "a loss is a scalar of floats, this is %s%s", leat_type_text(e->arena, type),
          type->rank && is_float(type->dtype) ? "; `mean` and `sum` make one of it" : "");
  return false;
}

// -- What is asked of the walk ------------------------------------------------------------------

// Loops that have become others meanwhile; ids change.
static void replace_loops(evaluator *e, uint32_t from) {
  for (uint32_t i = from; i < e->replaced.count; i++)
    leat_graph_take_over(e->at.body, e->replaced.items[i].loop, e->replaced.items[i].by);
  e->replaced.count = from;
}

// As far as ys go. around: not through the open body alone.
static walk begin(evaluator *e, bool around, const leat_value *ys, uint32_t count, leat_span span) {
  walk w = {.e = e, .span = span, .scratch = leat_arena_create(), .end = e->at.body->nodes.count};
  w.all = ev_number_nodes(e, around, w.scratch);
  uint32_t end = 0;
  for (uint32_t i = 0; i < count; i++) {
    uint32_t number = ev_number_of(&w.all, ys[i]);
    if (number >= end && number < w.all.count) end = number + 1;
  }
  w.all.count = end;
  w.marks = leat_new_array(w.scratch, mark, (size_t)end + 1);
  return w;
}

// The gradients of ys, which come from outside, stand where their walk begins.
static bool begin_with(walk *w, const ev_seeds *seeds) {
  for (uint32_t i = 0; i < seeds->count; i++) {
    leat_value y = seeds->ys[i];
    ev *partial = partial_of(w, y), given = seeds->dys[i];
    if (!partial || given.kind == EV_ERROR) continue;
    ev_context around = enter_node(w->e, y.node);
    *partial = sum_of(w, *partial, given);
    w->e->at = around;
    if (partial->kind == EV_ERROR) return false;
  }
  return true;
}

ev ev_gradient_list(evaluator *e, const ev_seeds *seeds, const char *of, ev targets,
                    leat_span span) {
  uint32_t count = targets.list->count;
  ev *gradients = leat_new_array(e->arena, ev, (size_t)count + 1);
  ev_webs webs;
  if (!ev_raise_webs(e, true, seeds, targets.list->items, count, span, &webs)) return ev_error();
  walk w = begin(e, true, webs.seeds.ys, seeds->count, span);
  mark_path(&w, webs.seeds.ys, seeds->count);
  mark_reaching(&w, webs.targets, count);
  uint32_t replaced = e->replaced.count;
  bool ok = begin_with(&w, &webs.seeds) && walk_back(&w) &&
            collect(&w, &webs, of, targets.list->items, count, gradients);
  leat_arena_destroy(w.scratch);
  if (ok) replace_loops(e, replaced);
  return ok ? ev_take_list(e, gradients, count) : ev_error();
}

ev ev_loss_gradients(evaluator *e, leat_value loss, ev targets, leat_span span) {
  if (!ev_check_targets(e, targets, false, span) || !check_loss(e, loss, span)) return ev_error();
  ev_context around = enter_node(e, loss.node);
  ev one = ev_tensor(filled(e, 1, leat_value_type(loss), span));
  e->at = around;
  ev_seeds seeds = {&loss, &one, 1};
  return ev_gradient_list(e, &seeds, "the loss", targets, span);
}

ev ev_trainables(evaluator *e, leat_value loss, leat_span span) {
  walk w = begin(e, true, &loss, 1, span);
  mark_path(&w, &loss, 1);
  bool *used = leat_new_array(w.scratch, bool, (size_t)e->graph->states.count + 1);
  for (uint32_t i = 0; i < w.all.count; i++) {
    const leat_state *state = w.marks[i].on_path ? ev_state_read(e, w.all.nodes[i]) : NULL;
    if (state) used[state->id] = true;
  }
  ev *states = leat_new_array(e->arena, ev, (size_t)e->graph->states.count + 1);
  uint32_t count = 0;
  for (uint32_t i = 0; i < e->graph->states.count; i++) {
    leat_state *state = e->graph->states.items[i];
    if (used[i] && state->trainable && is_float(state->type.dtype))
      states[count++] = ev_of_state(state);
  }
  leat_arena_destroy(w.scratch);
  return ev_take_list(e, states, count);
}

bool ev_gradients_between(evaluator *e, const leat_value *ys, const ev *dys, uint32_t count,
                          const ev *targets, uint32_t target_count, ev *out, leat_span span) {
  ev_seeds seeds = {ys, dys, count};
  ev_webs webs;
  if (!ev_raise_webs(e, false, &seeds, targets, target_count, span, &webs)) return false;
  walk w = begin(e, false, webs.seeds.ys, count, span);
  mark_path(&w, webs.seeds.ys, count);
  mark_reaching(&w, targets, target_count);
  uint32_t replaced = e->replaced.count;
  bool ok = begin_with(&w, &webs.seeds) && walk_back(&w);
  for (uint32_t i = 0; i < target_count && ok; i++) {
    const ev *partial = partial_of(&w, targets[i].tensor);
    out[i] = partial ? *partial : ev_error();
  }
  leat_arena_destroy(w.scratch);
  if (ok) replace_loops(e, replaced);
  return ok;
}
