// What completes a name that is being typed: all that something has.
#include "frontend/values/names.h"

#include "frontend/syntax/lexer.h"
#include "frontend/values/builtin.h"
#include "stdlib/stdlib.h"

#include <string.h>

// -- What completes ------------------------------------------------------------------------------

static void give(const ev_names *names, leat_name_taker *take, void *context) {
  for (uint32_t i = 0; i < names->count; i++) take(context, names->items[i]);
}

void leat_frontend_names(const leat_frontend *e, leat_name_taker *take, void *context) {
  leat_arena *scratch = leat_arena_create();
  ev_names names = {0};
  ev_names_in_scope(e, e->globals, scratch, &names);
  for (int kind = 0; kind < LEAT_TOKEN_COUNT; kind++)
    if (leat_token_is_keyword((leat_token_kind)kind))
      leat_vec_push(scratch, &names, leat_token_spelling((leat_token_kind)kind));
  give(&names, take, context);
  leat_arena_destroy(scratch);
}

// Nothing else can use an entry's values, nor those of a branch or a loop.
static bool is_usable(const leat_frontend *e, const leat_node *node) {
  return !node->entry && node->graph == e->graph;
}

void leat_frontend_paths(const leat_frontend *e, leat_name_taker *take, void *context) {
  for (uint32_t i = 0; i < e->graph->states.count; i++)
    take(context, e->graph->states.items[i]->name);
  for (uint32_t i = 0; i < e->aliases.count; i++) {
    const leat_value *value = e->aliases.entries[i].value;
    if (value && is_usable(e, value->node)) take(context, e->aliases.entries[i].key);
  }
  for (uint32_t i = 0; i < e->graph->nodes.count; i++) {
    const leat_node *node = e->graph->nodes.items[i];
    if (is_usable(e, node)) take(context, node->name);
  }
}

// Who takes names of what can be fetched.
typedef struct fetches {
  const leat_entry *entry; // whose names may be short
  leat_name_taker *take;
  void *context;
  leat_text all; // a name with `:all`
} fetches;

// What a loop's condition computes is nobody's else; what it is given is what the body is given.
static bool is_fetched(const leat_node *node, bool *in_loop) {
  *in_loop = false;
  for (const leat_graph *graph = node->graph; graph->owner; graph = graph->owner->graph) {
    if (graph->owner->op != LEAT_OP_while_loop) continue;
    if (graph == leat_node_body(graph->owner, 0) && node->op != LEAT_OP_parameter) return false;
    *in_loop = true;
  }
  return node->output_count && node->op != LEAT_OP_const;
}

static void give_fetch(fetches *f, const char *name, const leat_node *node) {
  bool in_loop;
  if (!is_fetched(node, &in_loop)) return;
  name = ev_name_within(f->entry, name);
  f->take(f->context, name);
  f->all.size = 0;
  leat_text_add(&f->all, "%s:all", name);
  if (in_loop) f->take(f->context, f->all.data);
}

static void give_nodes(void *context, leat_graph *graph) {
  for (uint32_t i = 0; i < graph->nodes.count; i++)
    give_fetch(context, graph->nodes.items[i]->name, graph->nodes.items[i]);
}

void leat_frontend_fetches(const leat_frontend *e, const leat_entry *entry, leat_name_taker *take,
                           void *context) {
  fetches f = {.entry = entry, .take = take, .context = context};
  for (uint32_t i = 0; i < e->graph->states.count; i++)
    take(context, e->graph->states.items[i]->name);
  for (uint32_t i = 0; i < e->aliases.count; i++) {
    const leat_value *value = e->aliases.entries[i].value;
    if (value) give_fetch(&f, e->aliases.entries[i].key, value->node);
  }
  leat_graph_visit(e->graph, give_nodes, &f);
  leat_text_finish(&f.all);
}

static void give_op(leat_op op, leat_name_taker *take, void *context) {
  char name[32];
  for (const char *at = leat_op_inputs(op); *at; at += strspn(at, ", ")) { // "x, indices"
    size_t size = strcspn(at, ", ");
    bool word = size < sizeof name && (*at & 0x80) == 0;
    memcpy(name, at, word ? size : 0);
    name[word ? size : 0] = '\0';
    if (*name) take(context, name);
    at += size;
  }
  for (int i = 0; i < leat_op_info_of(op)->attr_count; i++)
    take(context, leat_op_info_of(op)->attrs[i].name);
}

void leat_frontend_parameters(leat_frontend *e, const char *of, leat_name_taker *take,
                              void *context) {
  const leat_entry *entry = leat_graph_find_entry(e->graph, of);
  for (uint32_t i = 0; entry && i < entry->params.count; i++)
    take(context, entry->params.items[i].name);
  const ev_function *function = leat_map_get(&e->functions, leat_intern(e->strings, of));
  if (!function) function = ev_find_library(e, of);
  if (entry || !function) return;
  if (function->definition)
    for (uint32_t i = 0; i < function->definition->params.count; i++) {
      const leat_binding *param = &function->definition->params.items[i];
      if (!param->collects) take(context, param->name);
    }
  else if (function->builtin)
    for (int i = 0; function->builtin->params[i]; i++) take(context, function->builtin->params[i]);
  else
    give_op(function->op, take, context);
}
