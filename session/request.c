// Looks up entries, then feeds, fetches and runs: a short name is one of the first entry.
#include "session/request.h"

#include "passes/inside.h"

#include <string.h>

typedef struct resolver {
  leat_session *session;
  leat_graph *graph;
  leat_arena *arena;
  leat_request *out;
  const leat_entry *within; // whose short names will do; NULL: all are whole
  bool several;             // entries: ports are called <entry>/<name> then, as prune does
} resolver;

// The entry whose value it is, where others are run; else NULL.
static const leat_entry *entry_not_run(const resolver *r, const char *path) {
  const char *slash = path ? strchr(path, '/') : NULL;
  if (!slash || !r->out->step.entries.count) return NULL;
  const char *name = leat_arena_strndup(r->arena, path, (size_t)(slash - path));
  const leat_entry *entry = leat_graph_find_entry(r->graph, name);
  for (uint32_t i = 0; i < r->out->step.entries.count; i++)
    if (r->out->step.entries.items[i] == entry) return NULL;
  return entry;
}

// What does what that node of a model file does; NULL: it is none that the text leaves out.
static const char *instead_of(const resolver *r, const char *name) {
  leat_bytes pairs = r->session->left_out;
  const char *at = pairs.data, *end = pairs.size ? at + pairs.size : at;
  for (const char *words; at < end; at = words + strlen(words) + 1) {
    words = at + strlen(at) + 1;
    if (strcmp(at, name) == 0) return words;
  }
  return NULL;
}

static leat_status unknown(const resolver *r, const char *what, const char *name,
                           const char *nearest) {
  const char *instead = instead_of(r, name);
  if (instead)
    return leat_fail(&r->session->error, LEAT_NOT_FOUND, "`%s` is left out of the text: %s", name,
                     instead);
  const leat_entry *other = entry_not_run(r, nearest);
  if (other)
    return leat_fail(&r->session->error, LEAT_NOT_FOUND,
                     "there is no %s `%s`; `%s` is of the entry `%s`, which is not run", what, name,
                     nearest, other->name);
  return leat_fail(&r->session->error, LEAT_NOT_FOUND, "there is no %s `%s`%s%s%s", what, name,
                   nearest ? "; did you mean `" : "", nearest ? nearest : "", nearest ? "`?" : "");
}

// A variable is state, which a step reads and writes: it is no edge of the graph.
static leat_status is_variable(const resolver *r, const char *name, const char *what) {
  return leat_fail(
      &r->session->error, LEAT_INVALID,
      "`%s` is a variable, which cannot be %s: its value is that of --restore FILE, of "
      "`%s := …` in an entry or the REPL, or of leat_variable_write",
      name, what, name);
}

// The nearest known name, or NULL; a port is not looked at. inside: it may be in a branch or a
// loop.
static const char *suggest(const resolver *r, const char *name, bool inside) {
  const char *colon = strrchr(name, ':');
  if (colon && !colon[1 + strspn(colon + 1, "0123456789")])
    name = leat_arena_strndup(r->arena, name, (size_t)(colon - name));
  const leat_entry *entry = r->within;
  if (!entry && r->graph->entries.count == 1) entry = r->graph->entries.items[0];
  return leat_frontend_suggest(r->session->frontend, entry, name, inside);
}

// "; there are x, y": of what an entry is fed there are few.
static const char *list_of_feeds(const resolver *r) {
  const char *list = "";
  for (uint32_t i = 0; i < r->out->feeds.count; i++)
    list = leat_arena_printf(r->arena, "%s%s%s", list, i ? ", " : "; there are ",
                             r->out->feeds.items[i].name);
  return list;
}

static leat_status unknown_feed(const resolver *r, const char *name) {
  uint32_t count = r->out->feeds.count;
  const char **names = leat_new_array(r->arena, const char *, count);
  for (uint32_t i = 0; i < count; i++) names[i] = r->out->feeds.items[i].name;
  if (leat_graph_find_state(r->graph, name)) return is_variable(r, name, "fed");
  const char *nearest = leat_nearest(name, names, count);
  if (!nearest) nearest = suggest(r, name, false);
  if (nearest) return unknown(r, "edge", name, nearest);
  return leat_fail(&r->session->error, LEAT_NOT_FOUND, "there is no edge `%s`%s", name,
                   list_of_feeds(r));
}

static leat_port make_port(const resolver *r, const char *name, const leat_type *type,
                           bool has_fallback) {
  return (leat_port){.name = leat_arena_strndup(r->arena, name, strlen(name)),
                     .dtype = type->dtype,
                     .rank = type->rank,
                     .type = leat_type_text(r->arena, type),
                     .has_fallback = has_fallback};
}

static void add_feed(resolver *r, const char *name, leat_value value, bool has_fallback) {
  const leat_type *type = leat_value_type(value);
  leat_vec_push(r->arena, &r->out->feeds, make_port(r, name, type, has_fallback));
  leat_vec_push(r->arena, &r->out->feed_types, type);
  leat_vec_push(r->arena, &r->out->feed_spans, value.node->span);
}

static void add_fetch(resolver *r, const char *name, const leat_type *type) {
  leat_vec_push(r->arena, &r->out->fetches, make_port(r, name, type, false));
}

static const char *port_name(const resolver *r, const leat_entry *entry, const char *name) {
  return leat_intern_path(r->session->strings, r->several ? entry->name : "", name);
}

// "; there are f, g", or nothing.
static const char *list_of_entries(const resolver *r) {
  leat_text list = {0};
  for (int i = 0; i < leat_session_entry_count(r->session); i++)
    leat_text_add(&list, "%s%s", i ? ", " : "; there are ", leat_session_entry(r->session, i));
  const char *text = leat_arena_strndup(r->arena, list.data ? list.data : "", list.size);
  leat_text_finish(&list);
  return text;
}

static leat_status unknown_entry(const resolver *r, const char *name) {
  leat_vec(const char *) names = {0};
  for (int i = 0; i < leat_session_entry_count(r->session); i++)
    leat_vec_push(r->arena, &names, leat_session_entry(r->session, i));
  const char *nearest = leat_nearest(name, names.items, names.count);
  if (nearest || instead_of(r, name)) return unknown(r, "entry", name, nearest);
  return leat_fail(&r->session->error, LEAT_NOT_FOUND, "there is no entry `%s`%s", name,
                   list_of_entries(r));
}

// Whether the entry has errors, which are told.
static bool is_broken(const resolver *r, const char *name) {
  const leat_frontend *frontend = r->session->frontend;
  for (uint32_t i = 0; i < leat_frontend_broken_count(frontend); i++) {
    const leat_broken_entry *broken = leat_frontend_broken(frontend, i);
    if (strcmp(broken->name, name) != 0) continue;
    leat_diag_tell(r->session->diag, broken->errors);
    return true;
  }
  return false;
}

// Who runs another entry hears of it, once.
static void warn_of_broken(leat_session *session) {
  if (session->options.stop_after) return; // nothing runs
  for (uint32_t i = 0; i < leat_frontend_broken_count(session->frontend); i++) {
    leat_broken_entry *broken = leat_frontend_broken(session->frontend, i);
    leat_span span;
    const char *first = leat_withheld_first(broken->errors, &span);
    if (!broken->told)
      leat_warn_at(session->diag, span, "the entry `%s` cannot be run: %s", broken->name, first);
    broken->told = true;
  }
}

// A `fetch` that stands in the text, as in a dump.
static void add_written_fetch(resolver *r, const leat_node *node) {
  add_fetch(r, leat_node_attr(node, "name")->string, leat_value_type(node->inputs[0]));
}

static leat_status add_entry(resolver *r, const char *name) {
  leat_entry *entry = leat_graph_find_entry(r->graph, name);
  if (!entry) return is_broken(r, name) ? LEAT_INVALID : unknown_entry(r, name);
  leat_vec_push(r->arena, &r->out->step.entries, entry);
  for (uint32_t i = 0; i < entry->params.count; i++) {
    const leat_param *param = &entry->params.items[i];
    add_feed(r, port_name(r, entry, param->name), (leat_value){param->node, 0}, param->fallback);
  }
  for (uint32_t i = 0; i < entry->results.count; i++) {
    const leat_result *result = &entry->results.items[i];
    add_fetch(r, port_name(r, entry, result->name), leat_value_type(result->value));
  }
  for (uint32_t i = 0; i < entry->effects.count; i++)
    if (entry->effects.items[i]->op == LEAT_OP_fetch) add_written_fetch(r, entry->effects.items[i]);
  return LEAT_OK;
}

static leat_status set_within(resolver *r, const leat_step_spec *spec) {
  if (r->out->step.entries.count)
    r->within = r->out->step.entries.items[0];
  else if (spec->within)
    r->within = leat_graph_find_entry(r->graph, spec->within);
  if (r->within || !spec->within) return LEAT_OK;
  return is_broken(r, spec->within) ? LEAT_INVALID : unknown_entry(r, spec->within);
}

// In the first entry a short name will do, and in the only one that there is.
static leat_value find_value(const resolver *r, const char *name) {
  leat_value found = leat_frontend_find(r->session->frontend, r->within, name);
  if (found.node || r->within || r->graph->entries.count != 1) return found;
  return leat_frontend_find(r->session->frontend, r->graph->entries.items[0], name);
}

// A parameter may be named among the feeds too: it is one already.
static bool is_parameter(const resolver *r, const char *name) {
  for (uint32_t i = 0; i < r->out->feeds.count; i++)
    if (strcmp(r->out->feeds.items[i].name, name) == 0) return true;
  return false;
}

// How the parameter that `value` is must be called among the feeds, or NULL.
static const char *parameter_name(const resolver *r, leat_value value) {
  for (uint32_t i = 0; i < r->out->step.entries.count; i++) {
    const leat_entry *entry = r->out->step.entries.items[i];
    for (uint32_t k = 0; k < entry->params.count; k++)
      if (entry->params.items[k].node == value.node)
        return port_name(r, entry, entry->params.items[k].name);
  }
  return NULL;
}

// What is in a branch or a loop runs as that does, and as often.
static leat_status is_inside(const resolver *r, const char *name, const leat_node *node,
                             const char *what, const char *instead) {
  const char *region = leat_node_outermost(node)->name;
  leat_error_at(r->session->diag, node->span, "`%s` cannot be %s: it is inside of `%s`, %s", name,
                what, region, instead);
  return LEAT_INVALID;
}

static leat_status add_named_feed(resolver *r, const char *name) {
  if (is_parameter(r, name)) return LEAT_OK;
  leat_value value = find_value(r, name);
  if (!value.node) return unknown_feed(r, name);
  if (value.node->graph->owner)
    return is_inside(
        r, name, value.node, "fed",
        "which may compute it many times or never; feed what goes in there, or make it "
        "a parameter");
  const char *parameter = parameter_name(r, value);
  if (parameter)
    return leat_fail(&r->session->error, LEAT_INVALID,
                     "`%s` is a parameter: it is fed as `%s` here", name, parameter);
  if (value.port >= value.node->output_count)
    return leat_fail(&r->session->error, LEAT_INVALID, "`%s` has no value that could be fed", name);
  for (uint32_t i = 0; i < r->out->step.feeds.count; i++)
    if (r->out->step.feeds.items[i].value.node == value.node &&
        r->out->step.feeds.items[i].value.port == value.port)
      return leat_fail(&r->session->error, LEAT_INVALID, "`%s` is fed twice", name);
  leat_result feed = {leat_intern(r->session->strings, name), value};
  leat_vec_push(r->arena, &r->out->step.feeds, feed);
  add_feed(r, name, value, false);
  return LEAT_OK;
}

static leat_status add_donated(resolver *r, const char *name) {
  for (uint32_t i = 0; i < r->out->feeds.count; i++) {
    leat_port *port = &r->out->feeds.items[i];
    if (strcmp(port->name, name) != 0) continue;
    if (port->dtype == LEAT_str)
      return leat_fail(&r->session->error, LEAT_INVALID,
                       "`%s` is %s: strings cannot be donated, only numbers", name, port->type);
    if (!port->donated) leat_vec_push(r->arena, &r->out->step.donated, i);
    port->donated = true;
    return LEAT_OK;
  }
  return leat_fail(&r->session->error, LEAT_NOT_FOUND, "there is no feed `%s` to be donated%s",
                   name, list_of_feeds(r));
}

// `NAME:all` is that of all iterations.
static bool takes_all(const resolver *r, const char **name) {
  static const char suffix[] = ":all";
  size_t size = strlen(*name), end = sizeof suffix - 1;
  bool all = size > end && strcmp(*name + size - end, suffix) == 0;
  if (all) *name = leat_intern_n(r->session->strings, *name, size - end);
  return all;
}

// The type of what a value is fetched as; NULL: reported.
static const leat_type *fetched_type(const resolver *r, const leat_wanted *wanted) {
  leat_type *type = leat_arena_memdup(r->arena, leat_value_type(wanted->value), sizeof *type);
  if (!leat_is_inside(wanted->value) && !wanted->all) return type;
  leat_dims *dims = leat_dims_extend(r->graph->dims, r->arena);
  return leat_inside_type(dims, r->session->diag, wanted, type) ? type : NULL;
}

static leat_status add_named_fetch(resolver *r, const char *name) {
  leat_state *state = leat_graph_find_state(r->graph, name);
  leat_wanted wanted = {.name = leat_intern(r->session->strings, name)};
  const leat_type *type = state ? &state->type : NULL;
  if (!state) {
    wanted.value = find_value(r, name);
    wanted.all = !wanted.value.node && takes_all(r, &name);
    if (wanted.all) wanted.value = find_value(r, name);
    if (!wanted.value.node) return unknown(r, "value", name, suggest(r, name, true));
    if (wanted.value.port >= wanted.value.node->output_count)
      return leat_fail(&r->session->error, LEAT_INVALID,
                       "`%s` has no value that could be fetched%s", name,
                       leat_is_inside(wanted.value) ? "" : "; it can be run");
    type = fetched_type(r, &wanted);
    if (!type) return LEAT_INVALID;
  }
  leat_vec_push(r->arena, &r->out->step.fetches, wanted);
  add_fetch(r, wanted.name, type);
  return LEAT_OK;
}

static leat_status add_run(resolver *r, const char *name) {
  leat_node *node = leat_graph_find_node(r->graph, name);
  if (!node) {
    node = find_value(r, name).node;
    if (!node && leat_graph_find_state(r->graph, name)) return is_variable(r, name, "run");
    if (!node) return unknown(r, "node", name, suggest(r, name, false));
  }
  if (node->graph->owner) return is_inside(r, name, node, "run", "which runs as a whole; run that");
  leat_vec_push(r->arena, &r->out->step.runs, node);
  if (leat_step_fetches_run(&r->out->step, node)) add_written_fetch(r, node);
  return LEAT_OK;
}

// The entry that the step belongs to: the one that is run, or that of the first fetched node.
static const char *counted_entry(const leat_step_request *step) {
  if (step->entries.count) return step->entries.items[0]->name;
  for (uint32_t i = 0; i < step->fetches.count; i++) {
    const leat_node *node = step->fetches.items[i].value.node;
    if (node && node->entry) return node->entry->name;
  }
  for (uint32_t i = 0; i < step->runs.count; i++)
    if (step->runs.items[i]->entry) return step->runs.items[i]->entry->name;
  return NULL;
}

leat_status leat_request_resolve(leat_session *session, leat_arena *arena,
                                 const leat_step_spec *spec, leat_request *out) {
  *out = (leat_request){0};
  resolver r = {.session = session,
                .graph = leat_frontend_graph(session->frontend),
                .arena = arena,
                .out = out,
                .several = spec->entry_count > 1};
  if (!spec->entry_count && !spec->fetch_count && !spec->run_count)
    return leat_fail(&session->error, LEAT_INVALID, "nothing to run: name an entry or a fetch%s",
                     list_of_entries(&r));
  for (int i = 0; i < spec->entry_count; i++) LEAT_TRY(add_entry(&r, spec->entries[i]));
  LEAT_TRY(set_within(&r, spec));
  for (int i = 0; i < spec->feed_count; i++) LEAT_TRY(add_named_feed(&r, spec->feeds[i]));
  for (int i = 0; i < spec->donated_count; i++) LEAT_TRY(add_donated(&r, spec->donated[i]));
  for (int i = 0; i < spec->fetch_count; i++) LEAT_TRY(add_named_fetch(&r, spec->fetches[i]));
  for (int i = 0; i < spec->run_count; i++) LEAT_TRY(add_run(&r, spec->runs[i]));
  warn_of_broken(session);
  out->count_of = counted_entry(&out->step);
  return LEAT_OK;
}
