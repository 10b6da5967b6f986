// Calls with rules of their own, found again where the nodes that they gave are raised to: a body
// has such a call if it has all of its results. What it was called with is the body's by an
// identity.
#include "frontend/gradient/walk.h"

#include "frontend/evaluate/calls.h"

typedef struct arguments {
  const ev_found_calls *calls;
  const leat_web *web;
  leat_builder builder;
  leat_graph *graph;
  bool missing; // some
} arguments;

static ev argument(void *finding, ev item) {
  arguments *a = finding;
  if (item.kind != EV_TENSOR) return item;
  leat_value now = leat_raised_now(a->web, item.tensor);
  a->missing |= !now.node || now.node->graph != a->graph;
  if (a->missing) return ev_none();
  const char *name = leat_intern(a->graph->strings, "argument");
  const char *path = leat_intern_path(a->graph->strings, a->calls->e->path, name);
  return ev_tensor(leat_build(&a->builder, path, LEAT_OP_identity, &now, 1, NULL));
}

void ev_find_call(const void *context, const leat_web *web, const leat_node *was, leat_node *now) {
  ev_found_calls *calls = (ev_found_calls *)context;
  evaluator *e = calls->e;
  const ev_call_record *record = leat_map_get(&e->records, was);
  if (!record) return;
  arguments a = {
      .calls = calls, .web = web, .builder = ev_builder(e, now->span), .graph = now->graph};
  a.builder.graph = now->graph;
  ev args = {.kind = EV_LIST, .list = record->args};
  ev_found_result found = {.of = record, .was = was, .now = now};
  now->graph->nodes.count--; // it stands behind what it was called with
  args = ev_with_items(e, args, argument, &a);
  now->id = now->graph->nodes.count;
  leat_vec_push(now->graph->arena, &now->graph->nodes, now);
  if (!a.missing) found.args = args.list;
  leat_vec_push(e->arena, &calls->results, found);
}

// The n-th instance of that result in the graph; NULL: there is none.
static ev_found_result *find_result(const ev_found_calls *calls, const ev_call_record *of,
                                    const leat_node *result, const leat_graph *graph, uint32_t n) {
  for (uint32_t i = 0; i < calls->results.count; i++) {
    ev_found_result *found = &calls->results.items[i];
    bool is_it = found->of == of && found->was == result && found->now->graph == graph;
    if (is_it && n-- == 0) return found;
  }
  return NULL;
}

static bool refuse(const ev_found_calls *calls, const leat_node *at) {
  ev_fail(calls->e, calls->span,
          "the gradient goes through a call with a rule of its own, of which some results or "
          "arguments are dead where others are not");
  leat_note_at(calls->e->diag, at->span, "it is here");
  return false;
}

// The call that has that result, of which it is the n-th there. False: reported.
static bool set_call(ev_found_calls *calls, const ev_found_result *one, uint32_t n) {
  evaluator *e = calls->e;
  const ev_list *of = one->of->results;
  ev *results = leat_new_array(e->arena, ev, of->count);
  const ev_found_result *first = one;
  for (uint32_t i = 0; i < of->count; i++) {
    leat_value was = of->items[i].tensor;
    const ev_found_result *result = find_result(calls, one->of, was.node, one->now->graph, n);
    if (!result) return refuse(calls, was.node);
    if (result->now->id < first->now->id) first = result;
    results[i] = ev_tensor((leat_value){result->now, was.port});
  }
  if (first->args) ev_record_call(e, one->of->rule, first->args, results, of->count);
  return first->args || refuse(calls, first->now);
}

bool ev_set_found_calls(ev_found_calls *calls) {
  for (uint32_t i = 0; i < calls->results.count; i++) {
    const ev_found_result *found = &calls->results.items[i];
    uint32_t n = 0;
    for (uint32_t k = 0; k < i; k++) {
      const ev_found_result *other = &calls->results.items[k];
      n += other->of == found->of && other->was == found->was &&
           other->now->graph == found->now->graph;
    }
    if (!set_call(calls, found, n)) return false;
  }
  return true;
}
