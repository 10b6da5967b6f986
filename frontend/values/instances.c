// Instances: the calls of functions that hold state. The path of their names names the state.
//
// A call's name may be a path, and so may the name of state be: down from the instance that it
// stands in (`encode(x) as "net/encoder"`, `$encoder/w`), from the caller's (`../net`) or from the
// top (`/net`). Whatever has the same path is the same instance, so this is how state is shared.
#include "frontend/values/names.h"

#include "frontend/values/builtin.h"
#include "frontend/values/tensors.h"

#include <stdlib.h>
#include <string.h>

typedef struct instance {
  const ev_function *function;
  leat_span span;
} instance;

bool ev_enter_instance(evaluator *e, const ev_function *function, const char *path,
                       leat_span span) {
  const instance *known = leat_map_get(&e->instances, path);
  if (known && known->function->definition == function->definition) return true;
  // A function that a REPL defines again goes on with the state.
  bool again = known && e->interactive && !strcmp(known->function->name, function->name);
  if (known && !again) {
    ev_fail(e, span, "instance `%s` is of `%s` here and of `%s` elsewhere", path, function->name,
            known->function->name);
    leat_note_at(e->diag, known->span, "the other one is here");
    return false;
  }
  if (!known && !ev_claim_name(e, EV_INSTANCE, path, span)) return false;
  instance *made = leat_new(e->arena, instance);
  *made = (instance){function, span};
  ev_set(e, &e->instances, path, made);
  return true;
}

// -- Paths --------------------------------------------------------------------------------------

// Past the `/` or the `../` that the path begins with; NULL: reported.
static const char *begin_path(evaluator *e, const char *path, leat_span span, ev_instance *out) {
  const ev_frame *frame = e->frame;
  *out = (ev_instance){frame->instance, e->at.path, frame->unnamed};
  if (*path == '/') {
    const char *top = leat_intern(e->strings, "");
    *out = (ev_instance){top, e->at.entry ? e->at.entry->name : top, NULL};
    return path + 1;
  }
  while (!strncmp(path, "..", 2) && (path[2] == '/' || !path[2])) {
    if (!frame->caller) {
      ev_fail(e, span,
              "`..` is the instance that calls this function; nothing calls what stands here");
      return NULL;
    }
    *out = (ev_instance){frame->caller->instance, frame->path, frame->caller->unnamed};
    frame = frame->caller;
    path += path[2] ? 3 : 2;
  }
  return path;
}

bool ev_find_place(evaluator *e, const char *path, leat_span span, ev_instance *out) {
  path = begin_path(e, path, span, out);
  while (path && *path) {
    size_t size = strcspn(path, "/");
    const char *part = leat_intern_n(e->strings, path, size);
    if (!ev_check_path_part(e, part, span)) return false;
    out->instance = leat_intern_path(e->strings, out->instance, part);
    out->path = leat_intern_path(e->strings, out->path, part);
    path += size;
    if (*path) path++;
  }
  return path;
}

bool ev_find_state(evaluator *e, const char *path, leat_span span, leat_state **out) {
  bool led = *path == '/' || !strncmp(path, "../", 3);
  const char *inner = leat_intern_path(e->strings, e->frame->instance, path);
  ev_instance place = {.instance = inner};
  if (led && !e->at.absolute && !ev_find_place(e, path, span, &place)) return false;
  *out = e->at.absolute ? NULL : leat_graph_find_state(e->graph, place.instance);
  if (!*out) *out = leat_graph_find_state(e->graph, path);
  return true;
}

const char *ev_nearest_path(evaluator *e, const char *path, leat_span span) {
  ev_instance place;
  const char *near = NULL;
  if (ev_find_place(e, path, span, &place))
    near = leat_frontend_suggest(e, NULL, place.instance, false);
  return near ? near : leat_frontend_suggest(e, NULL, path, false);
}

// -- The variables of an instance ---------------------------------------------------------------

static int by_name(const void *a, const void *b) {
  return strcmp((*(leat_state *const *)a)->name, (*(leat_state *const *)b)->name);
}

static bool is_below(const char *name, const char *path) {
  size_t size = strlen(path);
  return !size || (!strncmp(name, path, size) && name[size] == '/');
}

// Without slots, and sorted, so that two instances of a function have them in the same order.
ev ev_builtin_variables(evaluator *e, const ev_builtin_call *call) {
  ev path = call->args[0];
  ev_instance place;
  if (path.kind != EV_STRING)
    return ev_fail(e, call->span,
                   "`variables` takes the path of an instance, such as \"net\", "
                   "found %s",
                   ev_kind_name(path));
  if (!ev_find_place(e, path.text, call->spans[0], &place)) return ev_error();
  const leat_graph *graph = e->graph;
  leat_state **states = leat_new_array(e->arena, leat_state *, (size_t)graph->states.count + 1);
  uint32_t count = 0;
  for (uint32_t i = 0; i < graph->states.count; i++) {
    leat_state *state = graph->states.items[i];
    if (!state->slot_of && is_below(state->name, place.instance)) states[count++] = state;
  }
  if (!count)
    return ev_fail(e, call->span, "nothing above declares a variable below `%s`", place.instance);
  qsort(states, count, sizeof(leat_state *), by_name);
  ev *items = leat_new_array(e->arena, ev, count);
  for (uint32_t i = 0; i < count; i++) items[i] = ev_of_state(states[i]);
  return ev_take_list(e, items, count);
}
