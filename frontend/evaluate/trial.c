// What is evaluated and taken back, such as a call for the types of what it would give. All that
// does so does it here, so that what evaluation changes is taken back in one place.
#include "frontend/evaluate/calls.h"
#include "frontend/evaluate/region.h"

ev_trial ev_trial_begin(evaluator *e, leat_graph *graph) {
  ev_trial trial = {.extent = ev_take_extent(e),
                    .graph = e->graph,
                    .region = e->region,
                    .outside = e->outside,
                    .orders = e->orders,
                    .effects = e->entry ? e->entry->effects.count : 0,
                    .nodes = e->nodes,
                    .mute = leat_diag_mute(e->diag, true)};
  if (graph) {
    graph->dims = e->graph->dims;
    e->graph = graph;
  }
  e->nodes = e->graph->nodes.count; // what was there before stays as it is
  e->region = NULL;                 // the next one that begins has an `outside` of its own
  leat_map_init(&e->orders, e->arena);
  return trial;
}

void ev_trial_end(evaluator *e, ev_trial *trial) {
  e->graph = trial->graph;
  trial->extent.dims = leat_dims_take_mark(e->graph->dims);
  ev_roll_back(e, &trial->extent);
  leat_diag_mute(e->diag, trial->mute);
  e->region = trial->region;
  e->outside = trial->outside;
  e->orders = trial->orders;
  e->nodes = trial->nodes;
  if (e->entry) e->entry->effects.count = trial->effects;
}

static ev type_of_leaf(evaluator *e, ev leaf, leat_span span) {
  leat_value tensor = ev_as_tensor(e, leaf, -1, span);
  if (!tensor.node) return ev_error();
  const leat_type *type = leat_value_type(tensor);
  bool weak = ev_is_weak(e, leaf) || ev_is_of_numbers(e, leaf);
  return (ev){
      .kind = EV_TYPE, .weak = weak, .type = leat_arena_memdup(e->arena, type, sizeof *type)};
}

static ev types_of(evaluator *e, ev value, leat_span span) {
  ev_leaves leaves = {0}, again = {0};
  ev form = ev_take_apart(e, value, value, &leaves, &again);
  ev *types = leat_new_array(e->arena, ev, (size_t)leaves.count + 1);
  for (uint32_t i = 0; i < leaves.count; i++) {
    types[i] = type_of_leaf(e, leaves.items[i].value, span);
    if (types[i].kind == EV_ERROR) return ev_error();
  }
  return form.kind == EV_ERROR ? form : ev_put_together(e, form, types);
}

ev ev_builtin_result_types(evaluator *e, const ev_builtin_call *call) {
  ev callee = call->args[0];
  if (callee.kind != EV_FUNCTION)
    return ev_fail(e, call->span, "`result_types` takes a function and what it is called with");
  const char *as = callee.function->definition ? leat_intern(e->strings, "result_types") : NULL;
  ev_trial trial = ev_trial_begin(e, NULL);
  ev result = ev_call(e, callee.function, call->rest, call->rest_count, call->span, as, NULL);
  if (ev_is_nothing(result))
    result = ev_fail(e, call->span, "`%s` gives no value", callee.function->name);
  ev types = result.kind == EV_ERROR ? result : types_of(e, result, call->span);
  ev_trial_end(e, &trial);
  return types;
}

ev ev_builtin_is_number(evaluator *e, const ev_builtin_call *call) {
  ev value = call->args[0];
  bool type = value.kind == EV_TYPE && value.weak;
  return ev_bool(type || ev_is_weak(e, value) || ev_is_of_numbers(e, value));
}

// Of nodes that the builtin stands behind: as if no dtype had been written.
ev ev_builtin_as_number(evaluator *e, const ev_builtin_call *call) {
  ev value = call->args[0];
  if (value.kind == EV_TENSOR && !ev_is_weak(e, value)) ev_make_weak(e, value.tensor, ev_none());
  return value;
}

// Each number, and each list of numbers, becomes a tensor.
ev ev_builtin_tensors(evaluator *e, const ev_builtin_call *call) {
  ev_leaves leaves = {0}, again = {0};
  ev form = ev_take_apart(e, call->args[0], call->args[0], &leaves, &again);
  ev *tensors = leat_new_array(e->arena, ev, (size_t)leaves.count + 1);
  for (uint32_t i = 0; i < leaves.count; i++) {
    ev leaf = leaves.items[i].value;
    tensors[i] = ev_tensor(ev_as_tensor(e, leaf, -1, call->span));
    if (tensors[i].kind == EV_ERROR) return ev_error();
    if (ev_is_of_numbers(e, leaf)) ev_make_weak(e, tensors[i].tensor, leaf);
  }
  return form.kind == EV_ERROR ? form : ev_put_together(e, form, tensors);
}
