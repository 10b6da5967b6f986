// Entries: parameters become feeds, the body's nodes and effects are the entry's, named results are
// fetched.
#include "frontend/evaluator.h"

#include <ctype.h>
#include <string.h>

// In an entry an undeclared dim name is a run-time dim.
static void declare_dims(evaluator *e, const leat_expr *expr) {
  switch (expr->kind) {
  case LEAT_EXPR_NAME:
    if (isupper((unsigned char)expr->name[0]) && !ev_lookup(e->frame->scope, expr->name)) {
      leat_dim dim = leat_dim_named(e->graph->dims, expr->name, 0, INT64_MAX);
      ev_bind(e, e->frame->scope, expr->span, expr->name, ev_of_dim(dim));
    }
    return;
  case LEAT_EXPR_BINARY:
    declare_dims(e, expr->left);
    declare_dims(e, expr->right);
    return;
  default: return;
  }
}

static bool entry_type(evaluator *e, const leat_expr *expr, leat_type *out) {
  if (expr->kind == LEAT_EXPR_INDEX)
    for (uint32_t i = 0; i < expr->items.count; i++) declare_dims(e, expr->items.items[i]);
  return ev_type_of(e, expr, out);
}

static void add_param(evaluator *e, leat_entry *entry, const leat_binding *param) {
  leat_type type;
  if (!param->type) {
    ev_fail(e, param->span, "a parameter of an entry has a type: `%s: f32[…]`", param->name);
    return;
  }
  if (!entry_type(e, param->type, &type)) return;
  leat_param added = {.name = param->name};
  if (param->value) {
    ev value = ev_expr(e, param->value, NULL);
    leat_tensor *tensor = leat_new(e->arena, leat_tensor);
    if (value.kind == EV_ERROR || !ev_literal(e, value, &type, param->value->span, tensor)) return;
    added.fallback = tensor;
  }
  leat_attr attrs[] = {{.string = param->name},
                       {.type = leat_arena_memdup(e->arena, &type, sizeof type)}};
  leat_builder builder = ev_builder(e, param->span);
  builder.device = builder.colocate = NULL;
  leat_value feed =
      leat_build(&builder, ev_node_name(e, param->name, NULL), LEAT_OP_feed, NULL, 0, attrs);
  if (!feed.node) return;
  added.node = feed.node;
  leat_vec_push(e->arena, &entry->params, added);
  ev_bind(e, e->frame->scope, param->span, param->name, ev_tensor(feed));
}

static void add_result(evaluator *e, leat_entry *entry, const leat_binding *result) {
  if (!result->name) {
    ev_fail(e, result->span, "a result of an entry has a name: `-> (loss: f32[])`");
    return;
  }
  ev value;
  if (result->value) {
    value = ev_expr(e, result->value, NULL);
  } else {
    ev_binding *binding = leat_map_get(&e->frame->scope->names, result->name);
    if (!binding) {
      ev_fail(e, result->span, "the entry binds no `%s` for this result", result->name);
      return;
    }
    value = binding->value;
  }
  leat_type declared;
  int dtype = -1;
  if (result->type && entry_type(e, result->type, &declared)) dtype = (int)declared.dtype;
  leat_value tensor = ev_as_tensor(e, value, dtype, result->span);
  if (!tensor.node) return;
  if (result->type && !ev_check_type(e, result->type, tensor, result->span, result->name)) return;
  leat_vec_push(e->arena, &entry->results, (leat_result){result->name, tensor});
}

static leat_state *global_step(evaluator *e, leat_span span) {
  leat_state *state = leat_graph_find_state(e->graph, "global_step");
  if (state) return state;
  leat_type type = leat_type_scalar(LEAT_i64);
  state = leat_graph_add_state(e->graph, "global_step", &type);
  state->container = leat_intern(e->strings, "");
  leat_builder builder = {.graph = e->graph, .diag = e->diag, .span = span};
  state->init = leat_build_scalar_i64(&builder, "global_step/init/const", LEAT_i64, 0);
  return state;
}

// A completed Run of a training entry adds 1 to global_step, after all its other effects.
static void count_step(evaluator *e, leat_entry *entry, leat_span span) {
  leat_state *state = global_step(e, span);
  uint32_t effects = entry->effects.count;
  leat_builder builder = ev_builder(e, span);
  builder.device = builder.colocate = NULL;
  const char *name = leat_intern_printf(e->strings, "%s/global_step/one", entry->name);
  leat_value one = leat_build_scalar_i64(&builder, name, LEAT_i64, 1);
  leat_node *update = one.node ? ev_write(e, LEAT_OP_assign_add, state, one, NULL, span) : NULL;
  for (uint32_t i = 0; update && i < effects; i++)
    leat_node_add_control(e->graph, update, entry->effects.items[i]);
}

static bool entry_attributes(evaluator *e, const leat_stmt *stmt, bool *training) {
  for (uint32_t i = 0; i < stmt->attributes.count; i++) {
    const leat_arg *attribute = &stmt->attributes.items[i];
    if (!strcmp(attribute->key, "training") && !attribute->value) {
      *training = true;
      continue;
    }
    bool known = !strcmp(attribute->key, "background") || !strcmp(attribute->key, "once") ||
                 !strcmp(attribute->key, "parallel");
    ev_fail(e, attribute->span,
            known ? "`%s` entries are not supported yet" : "an entry can be `training`, not `%s`",
            attribute->key);
    return false;
  }
  return true;
}

// Canonical text spells everything out, the last effect too.
static bool is_canonical(const leat_stmt *stmt) {
  const leat_stmts *body = &stmt->body;
  return body->count && body->items[0]->kind == LEAT_STMT_BIND && body->items[0]->targets.count &&
         body->items[0]->targets.items[0].absolute;
}

void ev_entry(evaluator *e, const leat_stmt *stmt) {
  bool training = false;
  if (!entry_attributes(e, stmt, &training)) return;
  const char *name = stmt->name;
  if (leat_graph_find_entry(e->graph, name) || leat_graph_find_state(e->graph, name) ||
      leat_graph_find_node(e->graph, name) || leat_map_get(&e->instances, name)) {
    ev_fail(e, stmt->name_span, "`%s` is the name of something else already", name);
    return;
  }
  leat_entry *entry = leat_graph_add_entry(e->graph, name);
  entry->training = training;
  entry->span = stmt->span;
  if (!ev_bind(e, e->globals, stmt->name_span, name, (ev){.kind = EV_ENTRY})) return;
  ev_frame frame = {.scope = ev_scope_new(e, e->globals),
                    .call = stmt->span,
                    .device = e->frame->device,
                    .instance = leat_intern(e->strings, "")};
  ev_frame *outer = e->frame;
  const char *path = e->path;
  uint32_t pending = e->pending.count;
  e->frame = &frame;
  e->entry = entry;
  e->path = name;
  e->training = training;
  leat_map_init(&e->orders, e->arena);
  uint32_t errors = leat_diag_errors(e->diag);
  for (uint32_t i = 0; i < stmt->params.count; i++) add_param(e, entry, &stmt->params.items[i]);
  if (leat_diag_errors(e->diag) == errors) ev_statements(e, &stmt->body);
  for (uint32_t i = 0; i < stmt->results.count && leat_diag_errors(e->diag) == errors; i++)
    add_result(e, entry, &stmt->results.items[i]);
  if (training && !is_canonical(stmt) && leat_diag_errors(e->diag) == errors)
    count_step(e, entry, stmt->span);
  ev_resolve_pending(e, pending);
  e->frame = outer;
  e->entry = NULL;
  e->path = path;
  e->training = false;
  leat_map_init(&e->orders, e->arena);
}
