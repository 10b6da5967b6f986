// What is evaluated and taken back, such as a call for the types of what it would give. All that
// does so does it here, so that what evaluation changes is taken back in one place.
#include "frontend/evaluate/calls.h"
#include "frontend/values/region.h"

#include <string.h>

void ev_trial_begin(evaluator *e, ev_trial *trial, leat_graph *graph) {
  leat_builder builder = ev_builder(e, e->span);
  *trial = (ev_trial){.extent = ev_take_extent(e),
                      .around = e->at,
                      .graph = e->graph,
                      .apart = leat_region_begin(&builder, "trial"),
                      .orders = e->orders,
                      .nodes = e->nodes,
                      .mute = leat_diag_mute(e->diag, true)};
  trial->apart.apart = true;
  if (graph) {
    graph->dims = e->graph->dims;
    e->graph = e->at.body = graph;
  } else {
    e->at.body = leat_region_open(&trial->apart);
  }
  e->nodes = e->graph->nodes.count; // what was there before stays as it is
  e->at.region = NULL;
  leat_map_init(&e->orders, e->arena);
}

void ev_trial_end(evaluator *e, ev_trial *trial) {
  e->graph = trial->graph;
  leat_region_drop(&trial->apart);
  trial->extent.dims = leat_dims_take_mark(e->graph->dims);
  trial->extent.asked = e->asked.count;
  ev_roll_back(e, &trial->extent);
  leat_diag_mute(e->diag, trial->mute);
  e->at = trial->around;
  e->orders = trial->orders;
  e->nodes = trial->nodes;
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

// -- The types of what a call gives ---------------------------------------------------------------

// What the types follow from: of tensors the type, but for integers, whose values may decide a
// shape.
static ev part_of_key(evaluator *e, ev value) {
  if (value.kind == EV_LIST) {
    ev *items = leat_new_array(e->arena, ev, (size_t)value.list->count + 1);
    for (uint32_t i = 0; i < value.list->count; i++)
      items[i] = part_of_key(e, value.list->items[i]);
    return ev_take_list(e, items, value.list->count);
  }
  if (value.kind != EV_TENSOR || ev_rank_of(leat_value_type(value.tensor)->dtype) < 2) return value;
  return (ev){.kind = EV_TYPE,
              .weak = ev_is_weak(e, value),
              .typed = ev_runs(e, value.tensor), // it is carried, and as wide as it runs
              .type = leat_value_type(value.tensor)};
}

// The function and its arguments as a list; EV_ERROR: it is asked each time.
static ev key_of(evaluator *e, const ev_builtin_call *call) {
  ev *items = leat_new_array(e->arena, ev, 2 * (size_t)call->rest_count + 1);
  uint32_t count = 0;
  items[count++] = call->args[0];
  for (uint32_t i = 0; i < call->rest_count; i++) {
    const char *name = call->rest[i].key;
    items[count++] = name ? ev_text(e, name, strlen(name)) : ev_none();
    items[count++] = part_of_key(e, call->rest[i].value);
  }
  return e->at.on_numbers ? ev_error() : ev_take_list(e, items, count);
}

static bool is_same(ev a, ev b) {
  bool same =
      a.kind == b.kind && a.typed == b.typed && a.weak == b.weak && a.quotient == b.quotient;
  if (a.kind != EV_LIST) return same && ev_equal(a, b);
  same = same && a.list->count == b.list->count;
  for (uint32_t i = 0; same && i < a.list->count; i++)
    same = is_same(a.list->items[i], b.list->items[i]);
  return same;
}

// Loops in each other ask for the same again, once for each loop around.
static const ev *find_known(const evaluator *e, ev key) {
  for (uint32_t i = 0; i < e->asked.count && key.kind == EV_LIST; i++)
    if (is_same(e->asked.items[i].key, key)) return &e->asked.items[i].types;
  return NULL;
}

// Dims that the trial has made are those of one call.
static bool made_dims(const evaluator *e, leat_dims_mark before) {
  leat_dims_mark now = leat_dims_take_mark(e->graph->dims);
  return now.atoms != before.atoms || now.last_question != before.last_question;
}

ev ev_builtin_result_types(evaluator *e, const ev_builtin_call *call) {
  ev callee = call->args[0];
  if (callee.kind != EV_FUNCTION)
    return ev_fail(e, call->span, "`result_types` takes a function and what it is called with");
  ev key = key_of(e, call);
  const ev *known = find_known(e, key);
  if (known) return *known;
  leat_dims_mark dims = leat_dims_take_mark(e->graph->dims);
  const char *as = callee.function->definition ? leat_intern(e->strings, "result_types") : NULL;
  ev_loops *loops = e->loops;
  ev_trial trial;
  ev_trial_begin(e, &trial, NULL);
  e->loops = NULL; // those in it are tried for themselves, once
  ev result = ev_call(e, callee.function, call->rest, call->rest_count, call->span, as, NULL);
  if (ev_is_nothing(result))
    result = ev_fail(e, call->span, "`%s` gives no value", callee.function->name);
  ev types = result.kind == EV_ERROR ? result : types_of(e, result, call->span);
  ev_trial_end(e, &trial);
  e->loops = loops;
  if (types.kind != EV_ERROR && key.kind == EV_LIST && !made_dims(e, dims))
    leat_vec_push(e->arena, &e->asked, ((ev_asked){key, types}));
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
