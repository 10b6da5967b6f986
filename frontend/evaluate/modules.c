// Texts: what they define, the parameters of their graph, the texts that they use.
#include "frontend/evaluate/statements.h"

#include "base/file.h"
#include "base/number.h"
#include "frontend/evaluate/calls.h"
#include "frontend/import.h"
#include "frontend/syntax/parser.h"
#include "frontend/values/names.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MAX_MODULES = 1000 };

// -- Definitions: known before anything is evaluated, so that their order does not matter --------

// The functions of model files all have the same names.
static void suggest_as(evaluator *e, const leat_stmt *stmt) {
  const char *path = leat_diag_source_name(e->diag, stmt->span.source);
  if (leat_diag_is_imported(e->diag, stmt->span.source))
    leat_note_at(e->diag, (leat_span){0}, "with `use \"%s\" as NAME` it is `NAME_%s`",
                 leat_path_last(path), stmt->name);
}

void ev_define(evaluator *e, const leat_stmt *stmt) {
  bool rule = stmt->kind == LEAT_STMT_GRADIENT;
  leat_map *map = rule ? &e->gradients : &e->functions;
  const ev_function *old = leat_map_get(map, stmt->name);
  if (old && old->definition == stmt) return;
  if (old && !e->interactive) {
    ev_fail(e, stmt->name_span, "%s `%s` is defined twice", rule ? "gradient rule" : "function",
            stmt->name);
    leat_note_at(e->diag, old->definition->name_span, "the first one is here");
    suggest_as(e, stmt);
    return;
  }
  ev_function *function = leat_new(e->arena, ev_function);
  *function = (ev_function){.name = stmt->name, .definition = stmt};
  ev_set(e, map, stmt->name, function);
}

static void define_all(evaluator *e, const leat_stmts *stmts) {
  for (uint32_t i = 0; i < stmts->count; i++) {
    const leat_stmt *stmt = stmts->items[i];
    if (stmt->kind == LEAT_STMT_FN || stmt->kind == LEAT_STMT_GRADIENT) ev_define(e, stmt);
    if (stmt->kind == LEAT_STMT_ENTRY || stmt->kind == LEAT_STMT_VAR || stmt->kind == LEAT_STMT_DIM)
      ev_set(e, &e->documented, stmt->name, (leat_stmt *)stmt);
    if (stmt->kind == LEAT_STMT_ON) define_all(e, &stmt->body);
  }
}

// A rule that no function or op has would never be used.
static void check_rules(evaluator *e, const leat_stmts *stmts) {
  for (uint32_t i = 0; i < stmts->count; i++) {
    const leat_stmt *stmt = stmts->items[i];
    if (stmt->kind == LEAT_STMT_GRADIENT && !ev_find_function(e, stmt->name))
      ev_fail(e, stmt->name_span, "there is no function or op `%s`", stmt->name);
  }
}

// -- graph NAME(seed: int = 1): parameters become names; --set gives their values ----------------

static bool is_written_plainly(const char *type) {
  return !strcmp(type, "int") || !strcmp(type, "float") || !strcmp(type, "bool") ||
         !strcmp(type, "str");
}

static bool parse_setting(evaluator *e, const char *name, const char *text, ev *out) {
  char *end = NULL;
  errno = 0;
  if (!strcmp(name, "str")) {
    *out = ev_text(e, text, strlen(text));
    return true;
  }
  if (!strcmp(name, "bool")) {
    *out = ev_bool(!strcmp(text, "true"));
    return out->i || !strcmp(text, "false");
  }
  if (!strcmp(name, "float"))
    *out = ev_float(leat_read_f64(text, &end));
  else if (!strcmp(name, "int"))
    *out = ev_int(strtoll(text, &end, 10));
  return end && *text && !*end && !errno;
}

// Lists, dtypes and functions are expressions, which see what the text defines.
static ev setting_expression(evaluator *e, const leat_binding *param, const char *text) {
  const char *name = leat_arena_printf(e->arena, "--set %s", param->name);
  uint32_t source = leat_diag_add_source(e->diag, name, text, strlen(text));
  const leat_stmts *stmts = &leat_parse(e->arena, e->strings, e->diag, source)->stmts;
  const leat_stmt *only = stmts->count == 1 ? stmts->items[0] : NULL;
  if (ev_failed(e)) return ev_error();
  if (!only || only->kind != LEAT_STMT_EXPR || only->values.count != 1)
    return ev_fail(e, (leat_span){source, 0, 0}, "expected an expression");
  const leat_expr *value = only->values.items[0];
  return ev_fit(e, param->type, ev_expr(e, value, NULL), value->span, param->name, NULL);
}

// The value of a graph parameter: --set's, else the default.
static ev setting(evaluator *e, const leat_binding *param) {
  const leat_frontend_options *options = &e->options;
  for (int i = 0; i < options->setting_count; i++) {
    if (strcmp(options->setting_names[i], param->name)) continue;
    e->setting_known[i] = true;
    ev value;
    const leat_expr *type = param->type;
    const char *name = !type ? "int" : type->kind == LEAT_EXPR_NAME ? type->name : "";
    if (!is_written_plainly(name)) return setting_expression(e, param, options->setting_values[i]);
    if (parse_setting(e, name, options->setting_values[i], &value)) return value;
    return ev_fail(e, param->span, "--set %s=%s: that is no %s", param->name,
                   options->setting_values[i],
                   param->type ? ev_source_text(e, param->type->span) : "int");
  }
  if (!param->value)
    return ev_fail(e, param->span,
                   "the graph parameter `%s` has no default: give it with --set %s=…", param->name,
                   param->name);
  return ev_fit(e, param->type, ev_expr(e, param->value, NULL), param->span, param->name, NULL);
}

static void graph_line(evaluator *e, const leat_stmt *stmt) {
  const leat_argument *device =
      leat_arguments_find(&stmt->attributes, leat_intern(e->strings, "device"));
  e->graph->name = stmt->name;
  if (device && !ev_string(e, device->value, &e->graph->device)) return;
  for (uint32_t i = 0; i < stmt->params.count; i++) {
    const leat_binding *param = &stmt->params.items[i];
    ev_bind(e, e->globals, param->span, param->name, setting(e, param));
  }
}

static void check_settings(evaluator *e, const leat_stmt *graph, leat_span text) {
  uint32_t count = graph ? graph->params.count : 0;
  const char **names = leat_new_array(e->arena, const char *, (size_t)count + 1);
  for (uint32_t i = 0; i < count; i++) names[i] = graph->params.items[i].name;
  for (int i = 0; i < e->options.setting_count; i++)
    if (!e->setting_known[i])
      ev_fail(e, graph ? graph->name_span : text, "--set %s: the graph has no such parameter%s",
              e->options.setting_names[i],
              ev_suggestion(e, e->options.setting_names[i], names, count));
}

// -- Modules ------------------------------------------------------------------------------------

static void evaluate_file(evaluator *e, const char *path, const char *name, const char *text,
                          size_t size, bool used);

// "a/./b/../c" is "a/c", so that a file has one name.
static char *normal_path(char *path) {
  char *out = path;
  for (const char *in = path; *in;) {
    size_t size = strcspn(in, "/");
    bool up = size == 2 && in[0] == '.' && in[1] == '.';
    char *last = out;
    while (last > path && last[-1] != '/') last--;
    if (up && out > path && out[-1] == '/') { // drop the folder before, if there is one to drop
      char *folder = out - 1;
      while (folder > path && folder[-1] != '/') folder--;
      bool climbs = (size_t)(out - folder) == 3 && folder[0] == '.' && folder[1] == '.';
      if (folder < out - 1 && !climbs) {
        out = folder;
        in += size + (in[size] == '/');
        continue;
      }
    }
    bool here = size == 1 && in[0] == '.' && in[1] == '/';
    size_t take = size + (in[size] == '/');
    if (!here && !(size == 0 && out > path)) {
      memmove(out, in, take);
      out += take;
    }
    in += take;
  }
  *out = 0;
  return path;
}

// The file that `use "x.leat"` in `from` means: next to the text that names it.
static const char *beside(evaluator *e, const char *from, const char *file) {
  const char *slash = strrchr(from, '/');
  int folder = file[0] != '/' && slash ? (int)(slash + 1 - from) : 0;
  char *path = leat_arena_printf(e->arena, "%.*s%s", folder, from, file);
  return leat_intern(e->strings, normal_path(path));
}

// The file itself, else the first one of that name in the folders of the search path.
static const char *find_module(evaluator *e, const char *from, const char *file) {
  const char *first = beside(e, from, file);
  if (file[0] == '/' || leat_map_get(&e->modules, first) || access(first, F_OK) == 0) return first;
  for (const char *at = e->options.path; at && *at;) {
    size_t size = strcspn(at, ":");
    const char *path = beside(e, "", leat_arena_printf(e->arena, "%.*s/%s", (int)size, at, file));
    if (size && (leat_map_get(&e->modules, path) || access(path, F_OK) == 0)) return path;
    at += size + (at[size] == ':');
  }
  return first;
}

// What e->modules says of a file.
static char module_open, module_done, module_trainable;

// What a `use` asks for.
typedef struct used {
  const leat_stmt *stmt;
  const char *path, *key; // its name in e->modules: a model file may be used under several names
  bool trainable;
} used;

// What is used has the names of all, and the graph is called as it was.
static void evaluate_used(evaluator *e, const used *u, const char *text, size_t size,
                          bool imported) {
  const char *graph_name = e->graph->name;
  ev_scope *scope = e->frame->scope;
  bool was_imported = leat_diag_set_imported(e->diag, imported);
  e->frame->scope = e->globals;
  evaluate_file(e, u->key, u->path, text, size, true);
  e->frame->scope = scope;
  e->graph->name = graph_name;
  leat_diag_set_imported(e->diag, was_imported);
}

// A text, or a model file of another system as one, which nobody wrote so that it could warn.
static void evaluate_view(evaluator *e, const used *u, const leat_file_view *view) {
  char *text;
  leat_error error = {0};
  const leat_stmt *stmt = u->stmt;
  const char *path = u->path;
  const leat_import_options options = {.data = leat_path_last(path),
                                       .as = stmt->name,
                                       .trainable = u->trainable,
                                       .is_used = true,
                                       .says_nodes = true};
  leat_status status = leat_import_text(path, (leat_bytes){view->data, view->size}, &options,
                                        e->diag, &text, &error);
  if (!status) status = leat_file_view_check(view, path, &error);
  const char *data = text ? text : (const char *)view->data;
  size_t size = text ? strlen(text) : view->size;
  leat_cleanup cleanup;
  leat_cleanup_hold(&cleanup, free, text);
  if (status == LEAT_UNSUPPORTED && !*error.message)
    ev_fail(e, stmt->file->span,
            "'%s' cannot be used: what of it cannot be compiled is listed above", path);
  else if (status)
    ev_fail(e, stmt->file->span, "%s", error.message);
  else if (!text && stmt->options.count)
    ev_fail(e, stmt->options.items[0].span,
            "'%s' is a text, which says itself what its variables are: of model files of other "
            "systems alone weights are made variables",
            path);
  else if (!text && stmt->name)
    ev_fail(e, stmt->name_span,
            "'%s' is a text, whose functions are called as it says: those of model files of other "
            "systems alone get names by `as`",
            path);
  else if (size > LEAT_LARGEST_SOURCE)
    ev_fail(e, stmt->file->span, "'%s' has more than %d bytes", path, LEAT_LARGEST_SOURCE);
  else
    evaluate_used(e, u, data, size, text != NULL);
  leat_cleanup_run(&cleanup);
}

static void close_view(void *view) {
  leat_file_view_close(view);
}

static void evaluate_module(evaluator *e, const used *u) {
  leat_file_view view = {0};
  leat_error error = {0};
  if (!ev_spend(e, 1, u->stmt->file->span)) return;
  if (leat_file_check_regular(u->path, &error) || leat_file_view_map(&view, u->path, &error)) {
    ev_fail(e, u->stmt->file->span, "%s", error.message);
    return;
  }
  leat_cleanup cleanup;
  leat_cleanup_hold(&cleanup, close_view, &view);
  evaluate_view(e, u, &view);
  if (u->trainable && !ev_failed(e)) ev_set(e, &e->modules, u->key, &module_trainable);
  leat_cleanup_run(&cleanup);
}

// "a.leat, b.leat, a.leat"
static const char *cycle_of(evaluator *e, const char *path) {
  const char *chain = path;
  for (uint32_t i = e->open_modules.count; i-- > 0 && e->open_modules.items[i] != path;)
    chain = leat_arena_printf(e->arena, "%s, %s", e->open_modules.items[i], chain);
  return leat_arena_printf(e->arena, "%s, %s", path, chain);
}

// Whether weights of a model file are variables.
static bool use_options(evaluator *e, const leat_stmt *stmt, bool *trainable) {
  *trainable = false;
  for (uint32_t i = 0; i < stmt->options.count; i++) {
    const leat_argument *option = &stmt->options.items[i];
    ev value = ev_expr(e, option->value, NULL);
    if (value.kind == EV_ERROR) return false;
    if (strcmp(option->key, "trainable") || value.kind != EV_BOOL) {
      ev_fail(e, option->span, "the option of `use` is trainable=true|false; here `%s` is %s",
              option->key, ev_kind_name(value));
      return false;
    }
    *trainable = value.i;
  }
  return true;
}

void ev_use(evaluator *e, const leat_stmt *stmt) {
  const char *file;
  used u = {.stmt = stmt};
  if (!ev_string(e, stmt->file, &file) || !use_options(e, stmt, &u.trainable)) return;
  const char *path = find_module(e, leat_diag_source_name(e->diag, stmt->span.source), file);
  u.path = u.key = path;
  if (stmt->name) u.key = leat_intern_printf(e->strings, "%s as %s", path, stmt->name);
  const char *state = leat_map_get(&e->modules, u.key);
  if (state == &module_open)
    ev_fail(e, stmt->span, "a text cannot use itself: each of %s uses the next", cycle_of(e, path));
  else if (state && (state == &module_trainable) != u.trainable)
    ev_fail(e, stmt->span, "'%s' is used already, with trainable=%s", path,
            u.trainable ? "false" : "true");
  else if (!state && e->modules.count >= MAX_MODULES)
    ev_fail(e, stmt->span, "more than %d modules", MAX_MODULES);
  else if (!state)
    evaluate_module(e, &u);
}

// -- Texts --------------------------------------------------------------------------------------

// The entries in which the parser found errors.
static void leave_out_unread(evaluator *e, leat_stmts *stmts, leat_diag_mark mark) {
  uint32_t kept = 0;
  for (uint32_t i = 0; i < stmts->count; i++) {
    leat_stmt *stmt = stmts->items[i];
    bool entry = stmt->kind == LEAT_STMT_ENTRY;
    const leat_withheld *errors = entry ? leat_diag_withhold(e->diag, mark, stmt->span) : NULL;
    if (errors)
      ev_leave_out(e, stmt, errors);
    else
      stmts->items[kept++] = stmt;
  }
  stmts->count = kept;
}

static void evaluate_text(evaluator *e, const char *name, const char *text, size_t size,
                          bool used) {
  uint32_t source = leat_diag_add_source(e->diag, name, text, size);
  leat_diag_mark mark = leat_diag_take_mark(e->diag);
  uint32_t broken = e->broken.count;
  leat_stmts *stmts = &leat_parse(e->arena, e->strings, e->diag, source)->stmts;
  if (ev_failed(e) && e->leaves_out) leave_out_unread(e, stmts, mark);
  if (ev_failed(e)) return;
  define_all(e, stmts);
  bool has_graph = stmts->count && stmts->items[0]->kind == LEAT_STMT_GRAPH;
  if (has_graph) graph_line(e, stmts->items[0]); // what is used may use the parameters
  for (uint32_t i = 0; i < stmts->count; i++)
    if (stmts->items[i]->kind == LEAT_STMT_USE) ev_use(e, stmts->items[i]);
  if (!used && !e->interactive)
    check_settings(e, has_graph ? stmts->items[0] : NULL, (leat_span){source, 0, 0});
  if (ev_failed(e)) return; // whatever is missing now is missing because of that
  check_rules(e, stmts);
  ev_statements(e, stmts);
  if (!ev_failed(e) && e->broken.count == broken) ev_warn_unused(e, stmts);
}

// While it is open, nothing that it uses can use it.
static void evaluate_file(evaluator *e, const char *path, const char *name, const char *text,
                          size_t size, bool used) {
  ev_set(e, &e->modules, path, &module_open);
  leat_vec_push(e->arena, &e->open_modules, path);
  evaluate_text(e, name, text, size, used);
  e->open_modules.count--;
  ev_set(e, &e->modules, path, &module_done);
}

void ev_evaluate_text(evaluator *e, const char *name, const char *text, size_t size) {
  evaluate_file(e, beside(e, "", name), name, text, size, false);
}
