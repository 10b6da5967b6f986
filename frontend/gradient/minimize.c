// What texts ask gradients for: grad, trainables, and apply and minimize, which call an optimiser
// once for each variable, below its name and where it is.
#include "frontend/gradient/walk.h"

#include "frontend/values/builtin.h"
#include "frontend/values/rows.h"

#include <string.h>

// -- grad and trainables ------------------------------------------------------------------------

// The tensor of which gradients are asked: the value, or the sum of a list of losses. No node:
// reported.
static leat_value loss_of(evaluator *e, ev value, leat_span span) {
  if (value.kind != EV_LIST || !value.list->count) return ev_as_tensor(e, value, -1, span);
  ev sum = value.list->items[0];
  for (uint32_t i = 1; i < value.list->count; i++)
    sum = ev_operator(e, LEAT_OPERATOR_ADD, sum, value.list->items[i], span, NULL);
  return ev_as_tensor(e, sum, -1, span);
}

ev ev_builtin_grad(evaluator *e, const ev_builtin_call *call) {
  leat_value loss = loss_of(e, call->args[0], call->span);
  if (!loss.node) return ev_error();
  ev targets = call->args[1];
  if (targets.kind == EV_LIST) return ev_loss_gradients(e, loss, targets, call->span);
  ev list = ev_loss_gradients(e, loss, ev_make_list(e, &targets, 1), call->span);
  return list.kind == EV_LIST ? list.list->items[0] : list; // grad(loss, w) is one gradient
}

ev ev_builtin_trainables(evaluator *e, const ev_builtin_call *call) {
  leat_value loss = loss_of(e, call->args[0], call->span);
  return loss.node ? ev_trainables(e, loss, call->span) : ev_error();
}

// -- apply and minimize -------------------------------------------------------------------------

typedef struct application {
  ev optimiser, vars, gradients;
  const char *name;        // of the optimiser's instances: what its slots are below
  bool named;              // by the call, not after the optimiser
  const ev_argument *rest; // for the optimiser
  uint32_t rest_count;
  leat_span span, optimiser_span, vars_span;
} application;

// The call that first made slots of a variable under a name.
typedef struct slot_maker {
  leat_span span;
  const char *instance;    // that it stands in
  const leat_entry *entry; // or NULL
  const char *entry_name;  // the entry has another when a REPL has defined it again
} slot_maker;

static bool is_superseded(const slot_maker *maker) {
  return maker && maker->entry && maker->entry->name != maker->entry_name;
}

// Slots are shared by calls that say so: by their name=, or as one call in one named instance.
static bool check_shared(evaluator *e, const application *a, const leat_state *state,
                         const slot_maker *maker) {
  bool same_call = maker && maker->span.source == a->span.source &&
                   maker->span.begin == a->span.begin && *maker->instance;
  if (!maker || a->named || (same_call && maker->instance == e->frame->instance)) return true;
  if (is_superseded(maker)) return true;
  ev_fail(e, a->span,
          "`%s` has slots of `%s` for another update already: name=\"…\" gives this one its own, "
          "name=\"%s\" says that it shares them",
          state->name, a->name, a->name);
  leat_note_at(e->diag, ev_place(e, maker->span), "the other update is here");
  return false;
}

static void remember_slots(evaluator *e, const application *a, const char *path) {
  slot_maker *maker = leat_new(e->arena, slot_maker);
  const char *name = e->at.entry ? e->at.entry->name : NULL;
  *maker = (slot_maker){a->span, e->frame->instance, e->at.entry, name};
  ev_set(e, &e->slot_makers, path, maker);
}

// One update: the optimiser is an instance below its variable, which its slots belong to.
static bool update(evaluator *e, const application *a, leat_state *state, ev gradient) {
  const char *slots = leat_intern_path(e->strings, state->name, a->name);
  const slot_maker *maker = leat_map_get(&e->slot_makers, slots);
  uint32_t states = e->graph->states.count;
  if (!check_shared(e, a, state, maker)) return false;
  ev_argument *args = leat_new_array(e->arena, ev_argument, (size_t)a->rest_count + 2);
  args[0] = (ev_argument){.value = ev_of_state(state), .span = a->span};
  args[1] = (ev_argument){.value = gradient, .span = a->span};
  if (a->rest_count) memcpy(args + 2, a->rest, a->rest_count * sizeof *a->rest);
  ev_frame *outer = e->frame;
  ev_frame frame = {.caller = outer,
                    .scope = outer->scope,
                    .call = a->span,
                    .instance = state->name,
                    .path = e->at.path,
                    .calls = outer->calls + 1};
  const ev_context around = e->at;
  e->frame = &frame;
  e->at.path = leat_intern_path(e->strings, e->at.entry ? e->at.entry->name : "", state->name);
  e->at.device = NULL;
  e->at.colocate = state->name;
  e->at.slots_of = state;
  ev result = ev_call(e, a->optimiser.function, args, a->rest_count + 2, a->span, a->name, NULL);
  e->frame = outer;
  e->at = around;
  if (e->graph->states.count > states || is_superseded(maker)) remember_slots(e, a, slots);
  return result.kind != EV_ERROR;
}

// One variable stands for a list of it.
static ev as_list(evaluator *e, ev value) {
  bool one = value.kind == EV_STATE || value.kind == EV_TENSOR || value.kind == EV_ROWS;
  return one ? ev_make_list(e, &value, 1) : value;
}

// A number where the call has something of its own is most often one of the optimiser's.
static const char *by_name(evaluator *e, const application *a, ev found, leat_span span) {
  const leat_bindings *params = &a->optimiser.function->definition->params;
  if (!ev_is_literal(found) || params->count < 3 || params->items[2].collects) return "";
  return leat_arena_printf(e->arena, "; what is the optimiser's own goes by name: `%s=%s`",
                           params->items[2].name, ev_source_text(e, span));
}

static bool check_optimiser(evaluator *e, application *a, ev name, leat_span name_span) {
  const ev_function *function = a->optimiser.kind == EV_FUNCTION ? a->optimiser.function : NULL;
  if (!function || !function->definition) {
    ev_fail(e, a->optimiser_span, "expected an optimiser such as `sgd`, found %s",
            function ? "an op" : ev_kind_name(a->optimiser));
    return false;
  }
  a->name = function->name;
  if (name.kind == EV_NONE) return true;
  if (name.kind != EV_STRING) {
    ev_fail(e, name_span, "the `name` of an optimiser's slots is a string, found %s%s",
            ev_kind_name(name), by_name(e, a, name, name_span));
    return false;
  }
  a->name = leat_intern(e->strings, name.text);
  a->named = true;
  return true; // the call checks that it can be a part of a path
}

static bool check_vars(evaluator *e, const application *a) {
  if (a->vars.kind != EV_LIST) {
    ev_fail(e, a->vars_span, "expected a list of variables, found %s%s", ev_kind_name(a->vars),
            by_name(e, a, a->vars, a->vars_span));
    return false;
  }
  if (!ev_check_targets(e, a->vars, false, a->vars_span)) return false;
  for (uint32_t i = 0; i < a->vars.list->count; i++) {
    ev variable = a->vars.list->items[i];
    if (variable.kind == EV_STATE) continue;
    ev_fail(e, a->vars_span, "an optimiser updates variables, not %s", ev_kind_name(variable));
    return false;
  }
  return true;
}

static ev apply(evaluator *e, const application *a) {
  uint32_t count = a->vars.list->count;
  if (!ev_check_targets(e, a->gradients, true, a->span)) return ev_error();
  if (count != a->gradients.list->count)
    return ev_fail(e, a->span, "%u variables and %u gradients", count, a->gradients.list->count);
  for (uint32_t i = 0; i < count; i++)
    if (!update(e, a, a->vars.list->items[i].state, a->gradients.list->items[i])) return ev_error();
  return ev_nothing();
}

ev ev_builtin_apply(evaluator *e, const ev_builtin_call *call) {
  application a = {.optimiser = call->args[0],
                   .vars = as_list(e, call->args[1]),
                   .gradients = as_list(e, call->args[2]),
                   .rest = call->rest,
                   .rest_count = call->rest_count,
                   .span = call->span,
                   .optimiser_span = call->spans[0],
                   .vars_span = call->spans[1]};
  return check_optimiser(e, &a, call->args[3], call->spans[3]) && check_vars(e, &a) ? apply(e, &a)
                                                                                    : ev_error();
}

static ev clipped(evaluator *e, ev gradients, ev norm, leat_span span) {
  const ev_function *clip = ev_find_library(e, "clip_by_global_norm");
  ev_argument args[] = {{.value = gradients, .span = span}, {.value = norm, .span = span}};
  return ev_call(e, clip, args, 2, span, NULL, NULL);
}

ev ev_builtin_minimize(evaluator *e, const ev_builtin_call *call) {
  leat_value loss = loss_of(e, call->args[0], call->spans[0]);
  if (!loss.node) return ev_error();
  application a = {.optimiser = call->args[1],
                   .vars = as_list(e, call->args[2]),
                   .rest = call->rest,
                   .rest_count = call->rest_count,
                   .span = call->span,
                   .optimiser_span = call->spans[1],
                   .vars_span = call->spans[2]};
  if (a.vars.kind == EV_NONE) a.vars = ev_trainables(e, loss, call->span);
  if (a.vars.kind == EV_ERROR) return ev_error();
  if (!check_optimiser(e, &a, call->args[3], call->spans[3]) || !check_vars(e, &a))
    return ev_error();
  if (!a.vars.list->count)
    return ev_fail(e, a.span, "the loss depends on no trainable variable: nothing to minimise");
  a.gradients = ev_loss_gradients(e, loss, a.vars, a.span);
  if (a.gradients.kind == EV_LIST && call->args[4].kind != EV_NONE)
    a.gradients = clipped(e, a.gradients, call->args[4], a.span);
  return a.gradients.kind == EV_LIST ? apply(e, &a) : ev_error();
}
