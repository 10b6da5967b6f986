// What names mean: bindings and families in scopes, functions, the one namespace of what lasts.
//
// A name is looked for in the scopes from the innermost out, then among the dtypes, the
// compile-time values of the language, the user's functions, and the library: stdlib/, builtins and
// ops. Code of the library does not see the user's names, so that no user breaks it.
#include "frontend/values/names.h"

#include "base/name.h"
#include "frontend/syntax/habits.h"
#include "frontend/syntax/parser.h"
#include "frontend/values/builtin.h"
#include "frontend/values/region.h"
#include "frontend/values/rows.h"
#include "frontend/values/tensors.h"
#include "stdlib/stdlib.h"

#include <string.h>

enum { MAX_MEMBERS = 400000 };

// -- Scopes -------------------------------------------------------------------------------------

ev_scope *ev_scope_new(evaluator *e, ev_scope *parent) {
  ev_scope *scope = leat_new(e->arena, ev_scope);
  scope->parent = parent;
  leat_map_init(&scope->names, e->arena);
  return scope;
}

void ev_scope_close(evaluator *e, ev_scope *outer) {
  ev_scope *block = e->frame->scope;
  block->closed_before = outer->closed;
  outer->closed = block;
  e->frame->scope = outer;
}

ev_scope *ev_scope_around(ev_scope *scope) {
  while (scope->turn) scope = scope->parent;
  return scope;
}

ev_binding *ev_lookup(const ev_scope *scope, const char *name) {
  for (; scope; scope = scope->parent) {
    ev_binding *binding = leat_map_get(&scope->names, name);
    if (binding) return binding;
  }
  return NULL;
}

static ev_claim_kind claim_of(ev value) {
  return value.kind == EV_STATE ? EV_VARIABLE : value.kind == EV_ENTRY ? EV_ENTRY_NAME : EV_BINDING;
}

void ev_note_binding(evaluator *e, const ev_binding *binding, const char *words) {
  leat_note_at(e->diag, binding->span, "%s%s", words,
               binding->carried ? "; the loop carries it, and `next` gives its next value" : "");
}

const ev_binding *ev_carried_as(const evaluator *e, leat_value value, const char **out_name) {
  for (const ev_scope *scope = e->frame->scope; scope; scope = scope->parent)
    for (uint32_t i = 0; i < scope->names.count; i++) {
      const ev_binding *binding = scope->names.entries[i].value;
      *out_name = scope->names.entries[i].key;
      if (binding && binding->carried && binding->value.kind == EV_TENSOR &&
          binding->value.tensor.node == value.node)
        return binding;
    }
  return NULL;
}

static bool check_unbound(evaluator *e, ev_scope *scope, leat_span span, const char *name,
                          ev value) {
  const ev_binding *old = leat_map_get(&scope->names, name);
  bool global = scope == e->globals, again = global && e->interactive;
  if (old && !again) {
    bool variable = old->value.kind == EV_STATE && value.kind != EV_STATE;
    ev_fail(e, span,
            variable ? "`%s` is a variable: `:=` gives it a value"
                     : "`%s` is bound twice in this scope",
            name);
    if (old->span.source) ev_note_binding(e, old, "the first binding is here");
    return false;
  }
  const ev_function *function = global && !again ? leat_map_get(&e->functions, name) : NULL;
  if (function) {
    ev_fail(e, span, "`%s` is a function already", name);
    leat_note_at(e->diag, function->definition->name_span, "it is defined here");
    return false;
  }
  return !global || ev_claim_name(e, claim_of(value), name, span);
}

static ev_binding *add_binding(evaluator *e, ev_scope *scope, leat_span span, const char *name,
                               ev value) {
  ev_binding *binding = leat_new(e->arena, ev_binding);
  *binding = (ev_binding){.value = value, .span = span};
  if (scope == e->globals)
    ev_set(e, &scope->names, name, binding);
  else // gone before anything can be rolled back
    leat_map_set(&scope->names, name, binding);
  return binding;
}

bool ev_bind(evaluator *e, ev_scope *scope, leat_span span, const char *name, ev value) {
  if (!check_unbound(e, scope, span, name, value)) return false;
  add_binding(e, scope, span, name, value);
  return true;
}

const ev_binding *ev_bound_around(const evaluator *e, const char *name) {
  bool inside = e->at.entry || e->frame->function; // globals may be shadowed there
  const ev_scope *scope = e->frame->scope->parent;
  const ev_binding *outer = NULL;
  for (; !outer && scope && !(inside && scope == e->globals); scope = scope->parent)
    outer = leat_map_get(&scope->names, name);
  return outer;
}

static bool check_outside_turn(evaluator *e, const leat_binding *target) {
  const ev_binding *outer = ev_bound_around(e, target->name);
  if (!outer) return true;
  bool variable = outer->value.kind == EV_STATE;
  ev_fail(e, target->span,
          variable ? "`%s` is a variable: `:=` gives it a value"
                   : "`%s` is bound outside this `for`, where what a turn binds is not seen; "
                     "what each turn "
                     "makes of the one before is a family: `%s[0] = …`, then `%s[i + 1] = …`",
          target->name, target->name, target->name);
  leat_note_at(e->diag, outer->span, "it is bound here");
  return false;
}

bool ev_bind_in_turn(evaluator *e, const leat_binding *target, ev value) {
  ev_scope *scope = e->frame->scope, *around = ev_scope_around(scope);
  if (!check_outside_turn(e, target) || !ev_bind(e, scope, target->span, target->name, value))
    return false;
  if (!around->gone) {
    around->gone = leat_new(e->arena, leat_map);
    leat_map_init(around->gone, e->arena);
  }
  leat_map_set(around->gone, target->name, leat_map_get(&scope->names, target->name));
  return true;
}

// -- Families -----------------------------------------------------------------------------------

static const void *member_key(int64_t index) {
  return (const void *)(uintptr_t)(index + 1);
}

static ev_binding *family(evaluator *e, const leat_binding *target) {
  ev_scope *scope = e->frame->scope;
  while (scope->turn && !leat_map_get(&scope->names, target->name)) scope = scope->parent;
  ev_binding *binding = leat_map_get(&scope->names, target->name);
  if (!binding) {
    if (!check_unbound(e, scope, target->span, target->name, ev_none())) return NULL;
    binding = add_binding(e, scope, target->span, target->name, ev_none());
    binding->members = leat_new(e->arena, leat_map);
    leat_map_init(binding->members, e->arena);
  }
  if (binding->members) return binding;
  if (ev_is_tensor(binding->value))
    ev_fail(
        e, target->span,
        "`%s` is %s, of which no part is changed in place: `scatter_set(%s, indices, rows)` is one "
        "with new rows",
        target->name, ev_kind_name(binding->value), target->name);
  else if (binding->value.kind != EV_ERROR)
    ev_fail(e, target->span, "`%s` is bound already, and not as a family", target->name);
  return NULL;
}

void ev_bind_member(evaluator *e, const leat_binding *target, ev index, ev value) {
  if (index.kind == EV_ERROR) return;
  if (index.kind != EV_INT || index.i < 0 || index.i > MAX_MEMBERS) {
    ev_fail(
        e, target->member->span, "a family's member is called by an int from 0 to %d%s",
        MAX_MEMBERS,
        ev_is_tensor(index)
            ? leat_arena_printf(e->arena,
                                "; with row i set a tensor is `scatter_set(%s, i, row)`, which a "
                                "`while` may carry, and `scan` stacks what each turn gives",
                                target->name)
            : "");
    return;
  }
  ev_binding *binding = family(e, target);
  if (!binding) return;
  bool again = e->interactive && ev_scope_around(e->frame->scope) == e->globals;
  if (leat_map_get(binding->members, member_key(index.i)) && !again) {
    ev_fail(e, target->span, "`%s[%lld]` is bound twice", target->name, (long long)index.i);
    return;
  }
  ev *member = leat_arena_memdup(e->arena, &value, sizeof value);
  ev_set(e, binding->members, member_key(index.i), member);
}

// After a mistake, perhaps just because of it.
static ev not_bound(evaluator *e, int64_t index, leat_span span) {
  if (ev_failed(e)) return ev_error();
  return ev_fail(e, span, "member %lld of this family is not bound yet", (long long)index);
}

ev ev_member(evaluator *e, const ev_binding *binding, int64_t index, leat_span span) {
  bool there = index >= 0 && index <= MAX_MEMBERS;
  const ev *member = there ? leat_map_get(binding->members, member_key(index)) : NULL;
  return member ? *member : not_bound(e, index, span);
}

// A family as a whole is a list.
static ev family_list(evaluator *e, const ev_binding *binding, leat_span span) {
  const leat_map *members = binding->members;
  uint32_t count = 0;
  while (leat_map_get(members, member_key(count))) count++;
  for (uint32_t i = 0; i < members->count; i++)
    if (members->entries[i].value && (uintptr_t)members->entries[i].key > count)
      return not_bound(e, count, span);
  ev *items = leat_new_array(e->arena, ev, (size_t)count + 1);
  for (uint32_t i = 0; i < count; i++) items[i] = *(ev *)leat_map_get(members, member_key(i));
  return ev_take_list(e, items, count);
}

// -- Functions ----------------------------------------------------------------------------------

// A definition of stdlib/, parsed when it is first used.
static ev_function *library_definition(evaluator *e, leat_stdlib_kind kind, const char *name) {
  const leat_stdlib_entry *entry = leat_stdlib_find(kind, name);
  if (!entry) return NULL;
  const leat_stdlib_file *file = &leat_stdlib_files[entry->file];
  uint32_t source =
      leat_diag_add_source(e->diag, file->name, file->text + entry->offset, entry->size);
  leat_diag_set_first_line(e->diag, source, entry->line);
  leat_ast_file *ast = leat_parse(e->arena, e->strings, e->diag, source);
  if (ast->stmts.count != 1) return NULL;
  ev_function *function = leat_new(e->arena, ev_function);
  *function = (ev_function){.name = name, .definition = ast->stmts.items[0], .library = true};
  return function;
}

static ev_function *builtin_or_op(evaluator *e, const char *name) {
  const ev_builtin *builtin = e->builtins;
  while (builtin->name && strcmp(builtin->name, name)) builtin++;
  leat_op op = LEAT_OP_COUNT;
  if (!builtin->name && !leat_op_parse(name, strlen(name), &op)) return NULL;
  ev_function *function = leat_new(e->arena, ev_function);
  *function = (ev_function){.name = name, .builtin = builtin->name ? builtin : NULL, .op = op};
  return function;
}

const ev_function *ev_find_library(evaluator *e, const char *name) {
  name = leat_intern(e->strings, name);
  ev_function *found = leat_map_get(&e->library, name);
  if (found) return found;
  found = library_definition(e, LEAT_STDLIB_FN, name);
  if (!found) found = builtin_or_op(e, name);
  if (found) leat_map_set(&e->library, name, found); // stays, whatever becomes of the text
  return found;
}

const ev_function *ev_find_function(evaluator *e, const char *name) {
  const ev_function *found = ev_in_library(e->frame) ? NULL : leat_map_get(&e->functions, name);
  return found ? found : ev_find_library(e, name);
}

const ev_function *ev_find_gradient(evaluator *e, const char *name) {
  name = leat_intern(e->strings, name);
  const ev_function *users = leat_map_get(&e->gradients, name);
  if (users) return users;
  ev_function *found = leat_map_get(&e->library_gradients, name);
  if (found) return found;
  found = library_definition(e, LEAT_STDLIB_GRADIENT, name);
  if (found) leat_map_set(&e->library_gradients, name, found);
  return found;
}

// -- Lookup -------------------------------------------------------------------------------------

static ev predefined_value(evaluator *e, const char *name, leat_span span) {
  const leat_frontend_options *options = &e->options;
  if (!strcmp(name, "pi")) return ev_float(3.141592653589793);
  if (!strcmp(name, "training")) return ev_bool(e->at.training);
  if (!strcmp(name, "task")) return ev_int(options->job ? options->task : 0);
  if (!strcmp(name, "job")) {
    const char *job = options->job ? options->job : "worker";
    return ev_text(e, job, strlen(job));
  }
  if (!strcmp(name, "global_step")) {
    leat_state *state = ev_global_step(e, span);
    return state ? ev_of_state(state) : ev_error();
  }
  return ev_none();
}

// What a `for` above bound in its turns.
static const ev_binding *gone_with_turn(const ev_scope *scope, const char *name) {
  const ev_binding *found = NULL;
  for (; scope && !found; scope = scope->parent)
    if (scope->gone) found = leat_map_get(scope->gone, name);
  return found;
}

// What a block that ended here, or in one of these, bound.
static const ev_binding *gone_with_block(const ev_scope *scope, const char *name) {
  const ev_binding *found = NULL;
  for (; scope && !found; scope = scope->parent)
    for (const ev_scope *block = scope->closed; block && !found; block = block->closed_before)
      found = leat_map_get(&block->names, name);
  return found;
}

void ev_note_gone(evaluator *e, const char *name) {
  const ev_binding *gone = gone_with_block(e->frame->scope, name);
  if (gone)
    leat_note_at(e->diag, gone->span,
                 "it is bound here, in a block whose names end with it; what it gives has targets: "
                 "`%s = if … { … yield … } else { … yield … }`, `t, %s = while (…) …`",
                 name, name);
}

static ev tell_of_broken(evaluator *e, const leat_broken_entry *broken, leat_span span) {
  leat_span where;
  const char *first = leat_withheld_first(broken->errors, &where);
  ev_fail(e, span, "the entry `%s` has errors and cannot be run", broken->name);
  leat_note_at(e->diag, where, "%s", first);
  return ev_error();
}

// How a line of a REPL is shown what no text can use: "; `:fetch t/z` shows it", or "".
static const char *shown_by(const evaluator *e, const char *path) {
  bool line = e->interactive && !e->at.entry && !e->frame->caller;
  return line ? leat_arena_printf(e->arena, "; `:fetch %s` shows it", path) : "";
}

// What was bound to a name that is gone is still found by its path.
static const char *fetch_of(const evaluator *e, ev value) {
  if (value.kind != EV_TENSOR) return "";
  for (uint32_t i = 0; i < e->aliases.count; i++) {
    const leat_value *alias = e->aliases.entries[i].value;
    if (alias && alias->node == value.tensor.node && alias->port == value.tensor.port)
      return shown_by(e, e->aliases.entries[i].key);
  }
  return value.tensor.port ? "" : shown_by(e, value.tensor.node->name);
}

static ev unknown_name(evaluator *e, const char *name, leat_span span) {
  const char *habit = leat_habit_word(name, strlen(name));
  if (habit) return ev_fail(e, span, "%s", habit);
  for (uint32_t i = 0; i < e->broken.count; i++)
    if (e->broken.items[i]->name == name) return tell_of_broken(e, e->broken.items[i], span);
  const ev_binding *gone = gone_with_turn(e->frame->scope, name);
  if (gone) {
    ev_fail(e, span,
            "`%s` is bound inside a `for` and gone with each turn; a family is kept: `%s[i] = …`",
            name, name);
    leat_note_at(e->diag, gone->span, "it is bound here");
    return ev_error();
  }
  gone = gone_with_block(e->frame->scope, name);
  if (gone) {
    ev_fail(e, span,
            "`%s` is bound inside of an `if` or a `while`, which gives what it yields or carries, "
            "and nothing else%s",
            name, fetch_of(e, gone->value));
    leat_note_at(e->diag, gone->span, "it is bound here");
    return ev_error();
  }
  leat_arena *scratch = leat_arena_create();
  ev_names names = {0};
  ev_names_in_scope(e, e->frame->scope, scratch, &names);
  ev value = ev_fail(e, span, "unknown name `%s`%s", name,
                     ev_suggestion(e, name, names.items, names.count));
  leat_arena_destroy(scratch);
  return value;
}

ev ev_name(evaluator *e, const char *name, leat_span span) {
  const ev_binding *binding = ev_lookup(e->frame->scope, name);
  if (binding) return binding->members ? family_list(e, binding, span) : binding->value;
  leat_dtype dtype;
  if (leat_dtype_parse(name, strlen(name), &dtype)) return (ev){.kind = EV_DTYPE, .i = dtype};
  ev value = predefined_value(e, name, span);
  if (value.kind != EV_NONE) return value;
  const ev_function *function = ev_find_function(e, name);
  return function ? (ev){.kind = EV_FUNCTION, .function = function} : unknown_name(e, name, span);
}

// $train/net/h:1. What an entry makes is the entry's: elsewhere it would run as part of another.
ev ev_path(evaluator *e, const leat_expr *expr) {
  leat_state *state;
  if (!ev_find_state(e, expr->path, expr->span, &state)) return ev_error();
  if (!state && !strcmp(expr->path, "global_step")) state = ev_global_step(e, expr->span);
  if (state && !expr->port) return ev_of_state(state);
  const leat_value *alias = leat_map_get(&e->aliases, expr->path);
  leat_node *node = leat_graph_find_node(e->graph, expr->path);
  leat_value value = alias && !expr->port ? *alias : (leat_value){node, expr->port};
  if (!value.node && (state || alias))
    return ev_fail(e, expr->span, "`$%s` is one value: it has no output %u", expr->path,
                   expr->port);
  if (!value.node) {
    const char *near = ev_nearest_path(e, expr->path, expr->span);
    return ev_fail(e, expr->span, "nothing above is called `$%s`%s%s%s", expr->path,
                   near ? "; did you mean `$" : "", near ? near : "", near ? "`?" : "");
  }
  if (value.port >= value.node->output_count)
    return ev_fail(e, expr->span, "`%s` (%s) has no output %u", value.node->name,
                   leat_op_name(value.node->op), value.port);
  if (!leat_region_reaches(e->at.body, value.node))
    return ev_fail(e, expr->span,
                   "`$%s` is inside of `%s`: a loop or a branch gives what it carries or yields%s",
                   expr->path, leat_node_outermost(value.node)->name, shown_by(e, expr->path));
  if (value.node->entry && !e->at.entry)
    return ev_fail(e, expr->span, "`$%s` is of the entry `%s`: nothing outside can use it%s",
                   expr->path, value.node->entry->name, shown_by(e, expr->path));
  return ev_tensor(value);
}

// -- All of them ---------------------------------------------------------------------------------

// Values of the language that no text binds.
static const char *const predefined[] = {"training", "job",  "task", "global_step",
                                         "pi",       "true", "false"};

static void add_keys(const leat_map *map, leat_arena *arena, ev_names *out) {
  for (uint32_t i = 0; i < map->count; i++)
    if (map->entries[i].value) leat_vec_push(arena, out, map->entries[i].key);
}

void ev_names_in_scope(const evaluator *e, const ev_scope *scope, leat_arena *arena,
                       ev_names *out) {
  for (; scope; scope = scope->parent) add_keys(&scope->names, arena, out);
  add_keys(&e->functions, arena, out);
  for (uint32_t i = 0; i < leat_stdlib_index_count; i++)
    leat_vec_push(arena, out, leat_stdlib_index[i].name);
  for (int dtype = 0; dtype < LEAT_DTYPE_COUNT; dtype++)
    leat_vec_push(arena, out, leat_dtype_name((leat_dtype)dtype));
  for (const ev_builtin *b = e->builtins; b->name; b++) leat_vec_push(arena, out, b->name);
  for (int op = 0; op < LEAT_OP_COUNT; op++) leat_vec_push(arena, out, leat_op_name((leat_op)op));
  for (size_t i = 0; i < sizeof predefined / sizeof *predefined; i++)
    leat_vec_push(arena, out, predefined[i]);
}
