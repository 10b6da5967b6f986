// Entries: parameters become feeds, the body's nodes and effects are the entry's, named results are
// fetched.
#include "frontend/evaluate/statements.h"

#include "frontend/evaluate/calls.h"
#include "frontend/values/names.h"

#include <ctype.h>
#include <string.h>

// -- Types --------------------------------------------------------------------------------------

// In an entry an undeclared dim name is a run-time dim.
static void declare_dims(evaluator *e, const leat_expr *expr) {
  if (expr->kind == LEAT_EXPR_BINARY) {
    declare_dims(e, expr->left);
    declare_dims(e, expr->right);
  } else if (expr->kind == LEAT_EXPR_CALL) { // max(T, 2)
    for (uint32_t i = 0; i < expr->args.count; i++) declare_dims(e, expr->args.items[i].value);
  } else if (expr->kind == LEAT_EXPR_NAME && isupper((unsigned char)expr->name[0]) &&
             !ev_lookup(e->frame->scope, expr->name)) {
    leat_dim dim = leat_dim_named(e->graph->dims, expr->name, 0, INT64_MAX);
    ev_bind(e, e->frame->scope, expr->span, expr->name, ev_of_dim(dim));
  }
}

static void declare_dims_of(evaluator *e, const leat_expr *type) {
  if (type && type->kind == LEAT_EXPR_INDEX)
    for (uint32_t i = 0; i < type->items.count; i++) declare_dims(e, type->items.items[i]);
}

// -- Parameters and results ---------------------------------------------------------------------

static ev add_feed(evaluator *e, leat_entry *entry, leat_param added, leat_type *type,
                   leat_span span) {
  leat_attr attrs[] = {
      {.string = added.name}, {.i = entry->params.count}, {.type = type}, {.i = false}};
  leat_builder builder = ev_builder(e, span);
  builder.device = builder.colocate = NULL;
  bool bound = leat_map_get(&e->frame->scope->names, added.name); // which is told
  const char *path = leat_intern_path(e->strings, entry->name, added.name);
  if (!bound && leat_map_get(&e->fed, path) == entry)
    return ev_fail(e, span, "the entry has two parameters called `%s`", added.name);
  const char *name = ev_node_name(e, added.name, NULL);
  leat_value feed = leat_build(&builder, name, LEAT_OP_feed, NULL, 0, attrs);
  added.node = feed.node;
  if (feed.node) {
    leat_vec_push(e->arena, &entry->params, added);
    ev_set(e, &e->fed, path, entry);
  }
  return ev_tensor(feed);
}

static ev make_param(evaluator *e, leat_entry *entry, const leat_binding *param) {
  leat_type *type = leat_new(e->arena, leat_type);
  declare_dims_of(e, param->type);
  if (!ev_type_of(e, param->type, type)) return ev_error();
  leat_param added = {.name = param->name};
  if (param->value) {
    leat_tensor *fallback = leat_new(e->arena, leat_tensor);
    if (!ev_default(e, param, type, fallback)) return ev_error();
    added.fallback = fallback;
  }
  return add_feed(e, entry, added, type, param->span);
}

// A `?` of a type that stands there several times is another one in each place.
static leat_type *type_afresh(evaluator *e, const leat_type *type) {
  leat_type *copy = leat_arena_memdup(e->arena, type, sizeof *type);
  for (int i = 0; i < copy->rank; i++) {
    const leat_atom *atom = leat_dim_atom(copy->dims[i]);
    if (atom && atom->kind == LEAT_ATOM_ANONYMOUS)
      copy->dims[i] = leat_dim_anonymous(e->graph->dims, NULL);
  }
  return copy;
}

// A parameter whose type is a compile-time value: of a list there is a feed for each, as lists of
// results are called; of `none` there is none.
static ev params_of(evaluator *e, leat_entry *entry, const leat_binding *param, const char *name,
                    ev type) {
  if (type.kind == EV_NONE || type.kind == EV_ERROR) return type;
  if (type.kind == EV_TYPE)
    return add_feed(e, entry, (leat_param){.name = name}, type_afresh(e, type.type), param->span);
  if (type.kind != EV_LIST)
    return ev_fail(e, param->span, "`%s`: expected a type, a list of types or none, found %s", name,
                   ev_kind_name(type));
  uint32_t count = type.list->count;
  ev *items = leat_new_array(e->arena, ev, (size_t)count + 1);
  for (uint32_t i = 0; i < count; i++) {
    const char *each = leat_intern_printf(e->strings, "%s_%u", name, i);
    items[i] = params_of(e, entry, param, each, type.list->items[i]);
    if (items[i].kind == EV_ERROR) return ev_error();
  }
  return ev_take_list(e, items, count);
}

static ev param_value(evaluator *e, leat_entry *entry, const leat_binding *param) {
  const leat_expr *type = param->type;
  bool named = type->kind == LEAT_EXPR_NAME && ev_lookup(e->frame->scope, type->name);
  if (!named) return make_param(e, entry, param);
  if (param->value)
    return ev_fail(e, param->value->span,
                   "a parameter whose type is the value of `%s` has no default", type->name);
  return params_of(e, entry, param, param->name, ev_expr(e, type, NULL));
}

static void add_param(evaluator *e, leat_entry *entry, const leat_binding *param) {
  if (param->type && !param->collects) {
    ev value = param_value(e, entry, param);
    ev_bind(e, e->frame->scope, param->span, param->name, value);
  } else {
    ev_fail(e, param->span, "a parameter of an entry has a type: `%s: f32[…]`",
            param->collects ? "x" : param->name);
  }
}

static void note_result(evaluator *e, const leat_binding *result) {
  const ev_binding *bound = leat_map_get(&e->frame->scope->names, result->name);
  if (bound && bound->span.source) leat_note_at(e->diag, bound->span, "it is bound here");
}

static void add_tensor(evaluator *e, leat_entry *entry, const leat_binding *result,
                       const char *name, ev value, leat_map *added) {
  if (leat_map_get(added, name))
    ev_fail(e, result->span, "the entry has two results called `%s`", name);
  leat_map_set(added, name, entry);
  ev fitting = ev_fit(e, result->type, value, result->span, name, NULL);
  leat_value tensor = ev_as_tensor(e, fitting, -1, result->span);
  if (!tensor.node && value.kind != EV_ERROR) note_result(e, result);
  if (tensor.node) leat_vec_push(e->arena, &entry->results, (leat_result){name, tensor});
}

static bool holds_tensors(ev value) {
  for (uint32_t i = 0; value.kind == EV_LIST && i < value.list->count; i++)
    if (ev_is_tensor(value.list->items[i]) || holds_tensors(value.list->items[i])) return true;
  return false;
}

// A list of tensors is a result for each, as the members of a family are called.
static void add_values(evaluator *e, leat_entry *entry, const leat_binding *result,
                       const char *name, ev value, leat_map *added) {
  if (result->type || !holds_tensors(value)) {
    add_tensor(e, entry, result, name, value, added);
    return;
  }
  for (uint32_t i = 0; i < value.list->count; i++)
    add_values(e, entry, result, leat_intern_printf(e->strings, "%s_%u", name, i),
               value.list->items[i], added);
}

static void add_result(evaluator *e, leat_entry *entry, const leat_binding *result,
                       leat_map *added) {
  declare_dims_of(e, result->type);
  add_values(e, entry, result, result->name, ev_named_result(e, result), added);
}

// -- The step counter ---------------------------------------------------------------------------

// A completed Run of a training entry adds 1 to global_step, after all its other effects.
static void count_step(evaluator *e, leat_entry *entry, leat_span span) {
  leat_state *state = ev_global_step(e, span);
  if (!state) return;
  uint32_t effects = entry->effects.count;
  leat_builder builder = ev_builder(e, span);
  builder.device = builder.colocate = NULL;
  const char *name = leat_intern_printf(e->strings, "%s/global_step/one", entry->name);
  leat_value one = leat_build_scalar_i64(&builder, name, LEAT_i64, 1);
  leat_node *update = one.node ? ev_write(e, LEAT_OP_assign_add, state, one, NULL, span) : NULL;
  if (update) leat_node_add_controls(e->graph, update, entry->effects.items, effects);
}

// Canonical text spells everything out, the last effect too; a text of one device has its part.
static bool counts_steps(const evaluator *e, const leat_entry *entry, const leat_stmts *body) {
  bool canonical = !body->count || (body->items[0]->kind == LEAT_STMT_BIND &&
                                    body->items[0]->targets.items[0].absolute);
  return entry->training && !canonical && !e->graph->device;
}

// -- Entries ------------------------------------------------------------------------------------

static bool entry_attributes(evaluator *e, const leat_stmt *stmt, bool *training) {
  for (uint32_t i = 0; i < stmt->attributes.count; i++) {
    const leat_argument *attribute = &stmt->attributes.items[i];
    if (strcmp(attribute->key, "training") != 0) {
      ev_fail(e, attribute->span, "`%s` entries are not supported yet", attribute->key);
      return false;
    }
    *training = true;
  }
  return true;
}

bool ev_is_broken(const evaluator *e, const char *name) {
  for (uint32_t i = e->first_broken; i < e->broken.count; i++)
    if (e->broken.items[i]->name == name) return true;
  return false;
}

// The newest has the name; the old one is called <name>_1 from now on.
static void set_aside(evaluator *e, leat_entry *old) {
  leat_vec_push(e->arena, &e->renamed, (ev_renamed){old, old->name});
  leat_graph_rename_entry(e->graph, old, leat_graph_unique_name(e->graph, old->name));
}

static leat_entry *new_entry(evaluator *e, const leat_stmt *stmt) {
  bool training = false;
  if (!entry_attributes(e, stmt, &training)) return NULL;
  leat_entry *old = leat_graph_find_entry(e->graph, stmt->name);
  if (old && e->interactive) {
    set_aside(e, old);
  } else if (old || ev_is_broken(e, stmt->name)) {
    ev_fail(e, stmt->name_span, "there is an entry `%s` already", stmt->name);
    return NULL;
  }
  if (!ev_claim_name(e, EV_ENTRY_NAME, stmt->name, stmt->name_span)) return NULL;
  leat_entry *entry = leat_graph_add_entry(e->graph, stmt->name);
  entry->training = training;
  entry->span = stmt->span;
  ev value = {.kind = EV_ENTRY, .entry = entry};
  return ev_bind(e, e->globals, stmt->name_span, stmt->name, value) ? entry : NULL;
}

// One by one, so that it is known which have errors.
static void statements_of(evaluator *e, const leat_stmt *stmt, bool *failed) {
  for (uint32_t i = 0; i < stmt->body.count && !e->stopped; i++) {
    uint32_t errors = leat_diag_errors(e->diag);
    ev_statements(e, &(leat_stmts){&stmt->body.items[i], 1});
    failed[i] = leat_diag_errors(e->diag) != errors;
  }
}

// What is left of an entry that has errors, and which of its results are not.
typedef struct entry_rest {
  const leat_stmt *stmt; // NULL: nothing
  leat_bindings missing;
} entry_rest;

static void entry_body(evaluator *e, leat_entry *entry, const leat_stmt *stmt, entry_rest *rest) {
  uint32_t pending = e->pending.count, errors = leat_diag_errors(e->diag);
  bool imported = leat_diag_is_imported(e->diag, stmt->span.source);
  bool *failed = leat_new_array(e->arena, bool, (size_t)stmt->body.count + 1);
  for (uint32_t i = 0; i < stmt->params.count; i++) add_param(e, entry, &stmt->params.items[i]);
  if (imported)
    statements_of(e, stmt, failed);
  else
    ev_statements(e, &stmt->body);
  if (imported && leat_diag_errors(e->diag) != errors && !e->stopped)
    rest->stmt = ev_entry_part(e, stmt, failed, &rest->missing);
  bool ok = leat_diag_errors(e->diag) == errors && !e->stopped;
  leat_map added; // results, by name
  leat_map_init(&added, e->arena);
  for (uint32_t i = 0; i < stmt->results.count && ok; i++)
    add_result(e, entry, &stmt->results.items[i], &added);
  if (ok && counts_steps(e, entry, &stmt->body)) count_step(e, entry, stmt->span);
  ev_resolve_pending(e, pending);
}

static void evaluate_entry(evaluator *e, const leat_stmt *stmt, entry_rest *rest) {
  leat_entry *entry = new_entry(e, stmt);
  if (!entry) return;
  ev_frame frame = {.scope = ev_scope_new(e, e->globals),
                    .call = stmt->span,
                    .device = e->frame->device,
                    .instance = leat_intern(e->strings, "")};
  ev_frame *outer = e->frame;
  const ev_context around = e->at;
  leat_map orders = e->orders;
  leat_map_init(&e->orders, e->arena);
  e->frame = &frame;
  e->at.entry = entry;
  e->at.path = stmt->name;
  e->at.training = entry->training;
  entry_body(e, entry, stmt, rest);
  e->frame = outer;
  e->at = around;
  e->orders = orders;
}

// An entry with errors is as if it were not there, for those who want another.
static leat_broken_entry *leave_out(evaluator *e, const char *name, const leat_withheld *errors) {
  leat_broken_entry *broken = leat_new(e->arena, leat_broken_entry);
  *broken = (leat_broken_entry){.name = name, .errors = errors};
  leat_vec_push(e->arena, &e->broken, broken);
  return broken;
}

void ev_leave_out(evaluator *e, const leat_stmt *stmt, const leat_withheld *errors) {
  leat_broken_entry *broken = leave_out(e, stmt->name, errors);
  for (uint32_t i = 0; i < stmt->attributes.count; i++)
    if (!strcmp(stmt->attributes.items[i].key, "training")) broken->training = true;
}

void ev_entry(evaluator *e, const leat_stmt *stmt) {
  ev_extent before = ev_take_extent(e);
  leat_diag_mark mark = leat_diag_take_mark(e->diag);
  bool taken = leat_map_get(&e->claims, stmt->name) || ev_is_broken(e, stmt->name);
  entry_rest rest = {0};
  evaluate_entry(e, stmt, &rest);
  if (taken || e->stopped || !e->leaves_out) return;
  const leat_withheld *errors = leat_diag_withhold(e->diag, mark, (leat_span){0});
  if (!errors) return;
  ev_roll_back(e, &before);
  if (!rest.stmt) {
    bool imported = leat_diag_is_imported(e->diag, stmt->span.source);
    bool some = rest.missing.count < stmt->results.count; // of which nobody knows who needs what
    if (imported && some) leat_vec_push(e->arena, &e->whole, errors);
    ev_leave_out(e, stmt, errors);
    return;
  }
  for (uint32_t i = 0; i < rest.missing.count; i++)
    leave_out(e, rest.missing.items[i].name, errors);
  ev_entry(e, rest.stmt);
}
