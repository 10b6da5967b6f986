// What things are called: nodes and where they are made, the one namespace of what lasts, and which
// name is meant by one that nothing has.
#include "frontend/values/names.h"

#include "base/name.h"
#include "frontend/syntax/habits.h"

#include <string.h>

leat_builder ev_builder(evaluator *e, leat_span span) {
  return (leat_builder){.graph = e->at.body,
                        .diag = e->diag,
                        .span = ev_place(e, span),
                        .device = e->at.device,
                        .colocate = e->at.colocate,
                        .entry = e->at.entry,
                        .place = e->at.place,
                        .infers = !e->at.absolute};
}

const char *ev_node_name(evaluator *e, const char *hint, const char *fallback) {
  if (e->at.gradient_path) return e->at.gradient_path;
  const char *name = hint ? hint : fallback;
  return leat_intern_path(e->strings, e->at.path, name);
}

const char *ev_name_within(const leat_entry *entry, const char *name) {
  size_t size = entry ? strlen(entry->name) : 0;
  bool below = size && strncmp(name, entry->name, size) == 0 && name[size] == '/';
  return below ? name + size + 1 : name;
}

// -- The one namespace --------------------------------------------------------------------------

typedef struct claim {
  ev_claim_kind kind;
  leat_span span;
} claim;

bool ev_claim_name(evaluator *e, ev_claim_kind kind, const char *name, leat_span span) {
  static const char *const kinds[] = {"a binding", "a variable", "an instance", "an entry"};
  const claim *old = leat_map_get(&e->claims, name);
  if (old && old->kind == kind) return true;
  if (old || (kind != EV_BINDING && leat_graph_find_node(e->graph, name))) {
    bool assigned = kind == EV_BINDING && old && old->kind == EV_VARIABLE;
    const char *way_out =
        assigned ? ": `:=` gives it a value"
        : kind == EV_INSTANCE
            ? leat_arena_printf(e->arena, " already; this call may be named `as %s_net`", name)
            : " already; entries, variables, instances and top-level names share one namespace";
    ev_fail(e, span, "`%s` is %s%s", name, old ? kinds[old->kind] : "the name of a node", way_out);
    if (old) leat_note_at(e->diag, old->span, "it is made here");
    return false;
  }
  claim *made = leat_new(e->arena, claim);
  *made = (claim){kind, span};
  ev_set(e, &e->claims, name, made);
  return true;
}

bool ev_check_path_part(evaluator *e, const char *name, leat_span span) {
  if (leat_is_blank(name)) {
    ev_fail(e, span, "%s", leat_habit_word(name, strlen(name)));
    return false;
  }
  const char *problem = leat_name_problem(name, strlen(name));
  if (problem) ev_fail(e, span, "`%s` cannot be a part of a path: %s", name, problem);
  return !problem;
}

// -- What is suggested ---------------------------------------------------------------------------

// What stands below something else under that name, the nearest to the top: `net/tok/table` for
// `tok/table`.
static const char *find_below(const char *name, const char *const *names, size_t count) {
  size_t length = strlen(name), least = SIZE_MAX;
  const char *found = NULL;
  for (size_t i = 0; i < count; i++) {
    size_t size = strlen(names[i]);
    bool ends = size > length && !memcmp(names[i] + size - length, name, length);
    if (!ends || names[i][size - length - 1] != '/' || size >= least) continue;
    found = names[i];
    least = size;
  }
  return found;
}

typedef struct known_names {
  leat_arena *arena;
  const leat_entry *entry; // short names too
  bool inside;             // of branches and loops too
  leat_vec(const char *) names;
} known_names;

static void add_known(known_names *known, const char *name, const leat_node *node) {
  const char *within = ev_name_within(known->entry, name);
  if (node->op == LEAT_OP_yield || (node->graph->owner && !known->inside)) return;
  leat_vec_push(known->arena, &known->names, name);
  if (within != name) leat_vec_push(known->arena, &known->names, within);
}

static void add_nodes(void *context, leat_graph *graph) {
  for (uint32_t i = 0; i < graph->nodes.count; i++)
    add_known(context, graph->nodes.items[i]->name, graph->nodes.items[i]);
}

const char *leat_frontend_suggest(const leat_frontend *e, const leat_entry *entry, const char *name,
                                  bool inside) {
  known_names known = {.arena = e->arena, .entry = entry, .inside = inside};
  for (uint32_t i = 0; i < e->graph->states.count; i++)
    leat_vec_push(e->arena, &known.names, e->graph->states.items[i]->name);
  for (uint32_t i = 0; i < e->aliases.count; i++) {
    const leat_value *value = e->aliases.entries[i].value;
    if (value) add_known(&known, e->aliases.entries[i].key, value->node);
  }
  leat_graph_visit(e->graph, add_nodes, &known);
  const char *found = find_below(name, known.names.items, known.names.count);
  const char *last = inside ? strrchr(name, '/') : NULL; // of `h/z`, perhaps `h/body/z`, the z
  if (!found) found = leat_nearest(name, known.names.items, known.names.count);
  return found || !last ? found : find_below(last + 1, known.names.items, known.names.count);
}
