// Calls with rules of their own, found again where the nodes that they gave are raised to: a body
// has such a call if it has all of its results.
#include "frontend/gradient/walk.h"

#include "frontend/values/region.h"

typedef struct arguments {
  const leat_web *web;
  leat_graph *graph;
  bool missing; // some
} arguments;

static ev argument(void *finding, ev item) {
  arguments *a = finding;
  if (item.kind != EV_TENSOR) return item;
  leat_value now = leat_raised_now(a->web, item.tensor);
  a->missing |= !now.node || !leat_region_reaches(a->graph, now.node);
  return a->missing ? ev_none() : ev_tensor(leat_region_inside(a->graph, now));
}

ev_found_calls ev_no_calls(evaluator *e, leat_span span) {
  ev_found_calls calls = {.e = e, .span = span};
  leat_map_init(&calls.last, e->arena);
  return calls;
}

void ev_find_call(const void *context, const leat_web *web, const leat_node *was, leat_node *now) {
  ev_found_calls *calls = (ev_found_calls *)context;
  evaluator *e = calls->e;
  const ev_call_record *record = leat_map_get(&e->records, was);
  if (!record) return;
  arguments a = {.web = web, .graph = now->graph};
  ev args = ev_with_items(e, (ev){.kind = EV_LIST, .list = record->args}, argument, &a);
  ev_found_result *found = leat_new(e->arena, ev_found_result);
  *found = (ev_found_result){.of = record,
                             .was = was,
                             .now = now,
                             .args = a.missing ? NULL : args.list,
                             .before = leat_map_get(&calls->last, was)};
  leat_map_set(&calls->last, was, found);
  leat_vec_push(e->arena, &calls->results, found);
}

// The one before it in the same graph; NULL: there is none.
static const ev_found_result *before(const ev_found_result *found) {
  const ev_found_result *other = found->before;
  while (other && other->now->graph != found->now->graph) other = other->before;
  return other;
}

// The result in that graph behind which there are `later` ones there; NULL: there is none.
static const ev_found_result *find_result(const ev_found_calls *calls, const leat_node *was,
                                          const leat_graph *graph, uint32_t later) {
  const ev_found_result *found = leat_map_get(&calls->last, was);
  while (found && found->now->graph != graph) found = found->before;
  while (found && later--) found = before(found);
  return found;
}

static ev origin(void *context, ev item) {
  (void)context;
  if (item.kind == EV_TENSOR) item.tensor = leat_region_origin(item.tensor);
  return item;
}

static bool refuse(const ev_found_calls *calls, const leat_node *at) {
  ev_fail(calls->e, calls->span,
          "the gradient goes through a call with a rule of its own, of which some results or "
          "arguments are dead where others are not");
  leat_note_at(calls->e->diag, at->span, "it is here");
  return false;
}

// The call that has that result, behind which there are `later` ones of it in its graph. False:
// reported.
static bool set_call(const ev_found_calls *calls, const ev_found_result *one, uint32_t later) {
  const ev_list *of = one->of->results;
  ev *results = leat_new_array(calls->e->arena, ev, of->count);
  const ev_found_result *first = one;
  for (uint32_t i = 0; i < of->count; i++) {
    leat_value was = of->items[i].tensor;
    const ev_found_result *result = find_result(calls, was.node, one->now->graph, later);
    if (!result) return refuse(calls, was.node);
    if (result->now->id < first->now->id) first = result;
    results[i] = ev_tensor((leat_value){result->now, was.port});
  }
  if (!first->args) return refuse(calls, first->now);
  ev args = ev_with_items(calls->e, (ev){.kind = EV_LIST, .list = first->args}, origin, NULL);
  ev_record_call(calls->e, one->of->rule, args.list, results, of->count);
  return true;
}

bool ev_set_found_calls(const ev_found_calls *calls) {
  for (uint32_t i = 0; i < calls->results.count; i++) {
    const ev_found_result *found = calls->results.items[i];
    uint32_t later = 0;
    const ev_found_result *last = find_result(calls, found->was, found->now->graph, 0);
    for (; last != found; last = before(last)) later++;
    if (!set_call(calls, found, later)) return false;
  }
  return true;
}
