// Texts: what it takes to add one to the graph, and to take it back when it has an error.
#include "frontend/frontend.h"

#include "frontend/evaluate/evaluate.h"
#include "frontend/values/builtin.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

leat_frontend *leat_frontend_create(leat_arena *arena, leat_strings *strings, leat_diag *diag,
                                    const leat_frontend_options *options) {
  leat_frontend *e = leat_new(arena, leat_frontend);
  e->arena = arena;
  e->strings = strings;
  e->diag = diag;
  e->options = *options;
  e->builtins = ev_builtins();
  e->setting_known = leat_new_array(arena, bool, (size_t)options->setting_count + 1);
  e->graph = leat_graph_create(arena, strings, "main");
  leat_map *maps[] = {&e->functions, &e->library,    &e->gradients,   &e->library_gradients,
                      &e->claims,    &e->instances,  &e->states,      &e->aliases,
                      &e->records,   &e->dense,      &e->zeros,       &e->modules,
                      &e->orders,    &e->documented, &e->slot_makers, &e->body_reads,
                      &e->fed,       &e->weak};
  for (size_t i = 0; i < sizeof maps / sizeof *maps; i++) leat_map_init(maps[i], arena);
  e->globals = ev_scope_new(e, NULL);
  return e;
}

leat_graph *leat_frontend_graph(const leat_frontend *frontend) {
  return frontend->graph;
}

// -- Texts --------------------------------------------------------------------------------------

static void begin(leat_frontend *e, ev_frame *top, unsigned flags) {
  e->interactive = flags & LEAT_EXTEND_INTERACTIVE;
  e->leaves_out = flags & LEAT_EXTEND_LEAVES_OUT;
  e->errors = leat_diag_errors(e->diag);
  e->first_broken = e->broken.count;
  e->stopped = false;
  e->depth = 0;
  e->steps = 0;
  e->used = leat_arena_used(e->arena);
  e->nodes = e->graph->nodes.count;
  e->renamed.count = e->whole.count = 0;
  e->replaced.count = e->undo.count = e->pending.count = e->open_modules.count = 0;
  e->known = (leat_text){0};
  e->last = leat_new(e->arena, leat_last_text);
  leat_map_init(&e->orders, e->arena); // what earlier texts did was earlier Runs
  e->frame = top;
  e->at = (ev_context){.body = e->graph, .path = leat_intern(e->strings, "")};
}

// Of a text that is refused for other errors too, or that has no entry left.
static void tell_broken(leat_frontend *e) {
  for (uint32_t i = e->first_broken; i < e->broken.count; i++)
    leat_diag_tell(e->diag, e->broken.items[i]->errors);
  e->broken.count = e->first_broken;
}

// Of earlier texts: those whose name this text has given to another entry.
static void forget_replaced(leat_frontend *e) {
  uint32_t kept = 0;
  for (uint32_t i = 0; i < e->broken.count; i++) {
    const char *name = e->broken.items[i]->name;
    bool replaced = leat_graph_find_entry(e->graph, name) || ev_is_broken(e, name);
    if (i >= e->first_broken || !replaced) e->broken.items[kept++] = e->broken.items[i];
  }
  e->broken.count = kept;
}

uint32_t leat_frontend_broken_count(const leat_frontend *frontend) {
  return frontend->broken.count;
}

leat_broken_entry *leat_frontend_broken(const leat_frontend *frontend, uint32_t i) {
  return frontend->broken.items[i];
}

const leat_withheld *leat_frontend_whole(const leat_frontend *frontend, uint32_t i) {
  return i < frontend->whole.count ? frontend->whole.items[i] : NULL;
}

static void close_loaded(void *frontend) {
  leat_frontend *e = frontend;
  leat_data_file_close(&e->loaded);
  e->loaded_path = NULL;
}

// What it does at top level, nodes from `first` on.
static void note_effects(leat_frontend *e, uint32_t first) {
  for (uint32_t i = first; i < e->graph->nodes.count; i++) {
    const leat_node *node = e->graph->nodes.items[i];
    if (node->effect && !node->entry) leat_vec_push(e->arena, &e->last->effects, node->name);
  }
}

const leat_last_text *leat_frontend_extend(leat_frontend *e, const char *name, const char *text,
                                           size_t size, unsigned flags) {
  ev_frame top = {.instance = leat_intern(e->strings, ""), .scope = e->globals};
  leat_cleanup cleanup;
  leat_cleanup_hold(&cleanup, close_loaded, e);
  begin(e, &top, flags);
  ev_extent before = ev_take_extent(e);
  ev_evaluate_text(e, name, text, size);
  ev_resolve_pending(e, 0);
  e->frame = NULL;
  e->last->known = leat_arena_strndup(e->arena, e->known.data ? e->known.data : "", e->known.size);
  leat_text_finish(&e->known);
  leat_cleanup_run(&cleanup);
  bool left = !ev_failed(e) && e->graph->entries.count > before.entries;
  if (!left) tell_broken(e);
  if (ev_failed(e)) {
    ev_roll_back(e, &before);
    return NULL;
  }
  forget_replaced(e);
  note_effects(e, before.nodes);
  return e->last;
}

bool leat_frontend_check_definitions(leat_frontend *e) {
  ev_frame top = {.instance = leat_intern(e->strings, ""), .scope = e->globals};
  begin(e, &top, 0);
  ev_check_definitions(e, &e->functions);
  ev_check_definitions(e, &e->gradients);
  e->frame = NULL;
  return !ev_failed(e);
}

// -- Values that were computed --------------------------------------------------------------------

const char *leat_frontend_hold(leat_frontend *e, const char *name, const leat_type *type) {
  ev_frame top = {.instance = leat_intern(e->strings, ""), .scope = e->globals};
  begin(e, &top, LEAT_EXTEND_INTERACTIVE);
  ev_extent before = ev_take_extent(e);
  name = leat_intern(e->strings, name);
  bool last = strcmp(name, "_") == 0;
  const char *path = leat_graph_unique_name(e->graph, ev_node_name(e, last ? NULL : name, "last"));
  leat_attr attrs[] = {{.string = leat_intern_printf(e->strings, "held/%s", path)},
                       {.i = 0},
                       {.type = leat_arena_memdup(e->arena, type, sizeof *type)},
                       {.i = false}};
  leat_builder builder = ev_builder(e, (leat_span){0});
  leat_value feed = leat_build(&builder, path, LEAT_OP_feed, NULL, 0, attrs);
  if (feed.node && ev_bind(e, e->globals, (leat_span){0}, name, ev_tensor(feed)) && !last)
    ev_add_alias(e, name, ev_tensor(feed));
  e->frame = NULL;
  if (ev_failed(e)) ev_roll_back(e, &before);
  return ev_failed(e) ? NULL : attrs[0].string;
}

// -- Names for feeds and fetches ----------------------------------------------------------------

// A loop that gradients go through has other bodies now, with nodes of the same names.
static leat_value aliased(const leat_frontend *e, leat_value value) {
  if (value.node->graph->owner) value.node = leat_graph_find_node(e->graph, value.node->name);
  return value;
}

static leat_value find_output(const leat_frontend *e, const char *name, uint32_t port) {
  const leat_value *alias = leat_map_get(&e->aliases, name);
  if (alias && !port) return aliased(e, *alias);
  return (leat_value){leat_graph_find_node(e->graph, name), port};
}

// What ends like a port may be a name as a whole, which it is first.
static leat_value find_path(const leat_frontend *e, const char *path) {
  leat_value whole = find_output(e, leat_intern(e->strings, path), 0);
  const char *colon = strrchr(path, ':');
  if (whole.node || !colon || !isdigit((unsigned char)colon[1])) return whole;
  char *end;
  unsigned long port = strtoul(colon + 1, &end, 10);
  if (*end || port > UINT32_MAX) return whole;
  const char *name = leat_intern_n(e->strings, path, (size_t)(colon - path));
  leat_value found = find_output(e, name, (uint32_t)port);
  bool there = found.node && found.port < found.node->output_count;
  return there ? found : (leat_value){0};
}

// The longest path in which names of regions are looked for.
enum { LONGEST_PATH = 4096 };

// What names inside of the region begin with: its own, or what that was before it got a number, as
// a later `k_1`, whose bodies say so.
static const char *path_inside(const leat_frontend *e, const leat_node *region, bool numbered) {
  const char *yield = leat_node_body(region, 0)->yield->name, *end = strrchr(yield, '/');
  return numbered && end ? leat_intern_n(e->strings, yield, (size_t)(end - yield)) : region->name;
}

// A region of several values goes by the name of each: `y/z` is `k/z`, behind `k, y = while …`.
static const char *path_through_regions(const leat_frontend *e, const char *path, bool numbered) {
  if (strlen(path) > LONGEST_PATH) return path;
  for (const char *slash = strchr(path, '/'); slash; slash = strchr(slash + 1, '/')) {
    const char *outer = leat_intern_n(e->strings, path, (size_t)(slash - path));
    const leat_value *alias = leat_map_get(&e->aliases, outer);
    if (!alias || alias->node->info->kind != LEAT_KIND_REGION) continue;
    const char *inside = path_inside(e, alias->node, numbered);
    path = leat_intern_path(e->strings, inside, slash + 1);
    slash = path + strlen(inside);
  }
  return path;
}

static leat_value find(const leat_frontend *e, const char *path) {
  leat_value found = find_path(e, path);
  for (int numbered = 1; !found.node && numbered >= 0; numbered--)
    found = find_path(e, path_through_regions(e, path, numbered));
  return found;
}

leat_value leat_frontend_find(const leat_frontend *e, const leat_entry *entry, const char *name) {
  leat_value found = {0};
  if (entry) found = find(e, leat_intern_path(e->strings, entry->name, name));
  return found.node ? found : find(e, name);
}
