// Texts: what it takes to add one to the graph, and to take it back when it has an error.
#include "frontend/frontend.h"

#include "base/file.h"
#include "frontend/evaluator.h"
#include "frontend/parser.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_SOURCE_BYTES = 64 << 20, MAX_MODULES = 1000 };

// What a text may have changed: how far everything had grown before it.
typedef struct mark {
  uint32_t nodes, states, entries, undo;
} mark;

static mark take_mark(const leat_frontend *e) {
  return (mark){.nodes = e->graph->nodes.count,
                .states = e->graph->states.count,
                .entries = e->graph->entries.count,
                .undo = e->undo.count};
}

static void roll_back(leat_frontend *e, const mark *to) {
  leat_graph_truncate(e->graph, to->nodes, to->states, to->entries);
  while (e->undo.count > to->undo) {
    ev_undo *change = &e->undo.items[--e->undo.count];
    leat_map_set(change->map, change->key, change->value);
  }
}

void ev_set(evaluator *e, leat_map *map, const void *key, void *value) {
  leat_vec_push(e->arena, &e->undo, (ev_undo){map, key, leat_map_get(map, key)});
  leat_map_set(map, key, value);
}

leat_frontend *leat_frontend_create(leat_arena *arena, leat_strings *strings, leat_diag *diag,
                                    const leat_frontend_options *options) {
  leat_frontend *e = leat_new(arena, leat_frontend);
  e->arena = arena;
  e->strings = strings;
  e->diag = diag;
  e->options = *options;
  e->graph = leat_graph_create(arena, strings, "main");
  leat_map *maps[] = {&e->functions, &e->gradients, &e->instances, &e->states,
                      &e->aliases,   &e->records,   &e->modules,   &e->orders};
  for (size_t i = 0; i < sizeof maps / sizeof *maps; i++) leat_map_init(maps[i], arena);
  e->globals = ev_scope_new(e, NULL);
  return e;
}

leat_graph *leat_frontend_graph(const leat_frontend *frontend) {
  return frontend->graph;
}

// -- Definitions are known before anything is evaluated, so that their order does not matter
// ----------

static void define(evaluator *e, leat_map *map, const leat_stmt *stmt) {
  const char *what = stmt->kind == LEAT_STMT_FN ? "function" : "gradient rule";
  const ev_function *old = leat_map_get(map, stmt->name);
  if (old && old->definition->span.source == stmt->span.source && !e->interactive) {
    leat_error_at(e->diag, stmt->name_span, "%s `%s` is defined twice", what, stmt->name);
    leat_note_at(e->diag, old->definition->name_span, "the first one is here");
    return;
  }
  ev_function *function = leat_new(e->arena, ev_function);
  *function = (ev_function){.name = stmt->name, .definition = stmt};
  ev_set(e, map, stmt->name, function);
}

static void define_all(evaluator *e, const leat_stmts *stmts) {
  for (uint32_t i = 0; i < stmts->count; i++) {
    const leat_stmt *stmt = stmts->items[i];
    if (stmt->kind == LEAT_STMT_FN) define(e, &e->functions, stmt);
    if (stmt->kind == LEAT_STMT_GRADIENT) define(e, &e->gradients, stmt);
  }
}

// -- Modules
// --------------------------------------------------------------------------------------------

static void evaluate_text(evaluator *e, const char *name, const char *text, size_t size);

// The file that `use "x.leat"` in `from` means: next to the text that names it.
static char *beside(evaluator *e, const char *from, const char *file) {
  const char *slash = strrchr(from, '/');
  if (file[0] == '/' || !slash) return leat_arena_strndup(e->arena, file, strlen(file));
  return leat_arena_printf(e->arena, "%.*s/%s", (int)(slash - from), from, file);
}

static void use(evaluator *e, const leat_stmt *stmt) {
  const char *file;
  if (!ev_string(e, stmt->file, &file)) return;
  const char *path =
      leat_intern(e->strings, beside(e, leat_diag_source_name(e->diag, stmt->span.source), file));
  static char open, done;
  const char *state = leat_map_get(&e->modules, path);
  if (state == &open) {
    leat_error_at(e->diag, stmt->span, "`%s` uses itself, directly or through what it uses", path);
    return;
  }
  if (state == &done) return;
  if (e->modules.count >= MAX_MODULES) {
    leat_error_at(e->diag, stmt->span, "more than %d modules", MAX_MODULES);
    return;
  }
  char *text = NULL;
  size_t size = 0;
  leat_error error = {0};
  if (leat_file_read(path, MAX_SOURCE_BYTES, &text, &size, &error)) {
    leat_error_at(e->diag, stmt->file->span, "%s", error.message);
    return;
  }
  ev_set(e, &e->modules, path, &open);
  evaluate_text(e, path, text, size);
  ev_set(e, &e->modules, path, &done);
  free(text);
}

static void use_all(evaluator *e, const leat_stmts *stmts) {
  for (uint32_t i = 0; i < stmts->count; i++)
    if (stmts->items[i]->kind == LEAT_STMT_USE) use(e, stmts->items[i]);
}

static void evaluate_text(evaluator *e, const char *name, const char *text, size_t size) {
  uint32_t source = leat_diag_add_source(e->diag, name, text, size);
  leat_ast_file *file = leat_parse(e->arena, e->strings, e->diag, source);
  if (leat_diag_errors(e->diag)) return;
  use_all(e, &file->stmts);
  define_all(e, &file->stmts);
  ev_statements(e, &file->stmts);
}

bool leat_frontend_extend(leat_frontend *e, const char *name, const char *text, size_t size,
                          bool interactive) {
  mark before = take_mark(e);
  const char *graph_name = e->graph->name, *graph_device = e->graph->device;
  ev_frame top = {.instance = leat_intern(e->strings, ""), .scope = e->globals};
  e->frame = &top;
  e->path = leat_intern(e->strings, "");
  e->device = e->colocate = e->gradient_path = NULL;
  e->interactive = interactive;
  e->training = e->stopped = false;
  e->steps = 0;
  e->shown.count = 0;
  e->pending.count = 0;
  e->shown_text = (leat_text){0};
  evaluate_text(e, name, text, size);
  ev_resolve_pending(e, 0);
  e->frame = NULL;
  e->shown_static = leat_arena_strndup(e->arena, e->shown_text.data ? e->shown_text.data : "",
                                       e->shown_text.size);
  leat_text_finish(&e->shown_text);
  if (!leat_diag_errors(e->diag)) {
    leat_graph_renumber(e->graph);
    return true;
  }
  roll_back(e, &before);
  e->graph->name = graph_name;
  e->graph->device = graph_device;
  e->shown.count = 0;
  return false;
}

// -- Names for feeds and fetches
// ------------------------------------------------------------------------

static leat_value find_path(const leat_frontend *e, const char *path) {
  const char *colon = strrchr(path, ':');
  uint32_t port = 0;
  if (colon && colon[1]) {
    char *end;
    unsigned long number = strtoul(colon + 1, &end, 10);
    if (*end || number > UINT32_MAX) return (leat_value){0};
    port = (uint32_t)number;
  }
  size_t length = colon ? (size_t)(colon - path) : strlen(path);
  const char *name = leat_intern_n(e->strings, path, length);
  leat_node *node = leat_graph_find_node(e->graph, name);
  if (node) {
    bool there = port < (uint32_t)leat_op_info_of(node->op)->outputs || (!port && !colon);
    return there ? (leat_value){node, port} : (leat_value){0};
  }
  const leat_value *alias = leat_map_get(&e->aliases, name);
  return alias && !port ? *alias : (leat_value){0};
}

leat_value leat_frontend_find(const leat_frontend *e, const leat_entry *entry, const char *name) {
  if (entry) {
    const char *path = leat_intern_printf(e->strings, "%s/%s", entry->name, name);
    leat_value found = find_path(e, path);
    if (found.node) return found;
  }
  return find_path(e, name);
}

const char *leat_frontend_suggest(const leat_frontend *e, const char *name) {
  const leat_graph *graph = e->graph;
  uint32_t count = graph->nodes.count + graph->states.count + e->aliases.count;
  const char **names = leat_new_array(e->arena, const char *, count + 1);
  uint32_t n = 0;
  for (uint32_t i = 0; i < graph->states.count; i++) names[n++] = graph->states.items[i]->name;
  for (uint32_t i = 0; i < e->aliases.count; i++)
    if (e->aliases.entries[i].value) names[n++] = e->aliases.entries[i].key;
  for (uint32_t i = 0; i < graph->nodes.count; i++) names[n++] = graph->nodes.items[i]->name;
  return leat_nearest(name, names, n);
}

uint32_t leat_frontend_shown_count(const leat_frontend *frontend) {
  return frontend->shown.count;
}
leat_value leat_frontend_shown(const leat_frontend *frontend, uint32_t i) {
  return frontend->shown.items[i];
}
const char *leat_frontend_shown_text(const leat_frontend *frontend) {
  return frontend->shown_static ? frontend->shown_static : "";
}
