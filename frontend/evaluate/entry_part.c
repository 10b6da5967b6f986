// An entry of a model file that has an error: what of it has none is an entry all the same, without
// the results that need what has one. Each of these is known as an entry that cannot be run.
#include "frontend/evaluate/statements.h"

#include "frontend/evaluate/calls.h"
#include "frontend/values/names.h"

static bool is_error(const evaluator *e, const char *name) {
  const ev_binding *binding = name ? leat_map_get(&e->frame->scope->names, name) : NULL;
  return binding && !binding->members && binding->value.kind == EV_ERROR;
}

static bool binds_error(const evaluator *e, const leat_stmt *stmt) {
  for (uint32_t i = 0; i < stmt->targets.count; i++)
    if (is_error(e, stmt->targets.items[i].name)) return true;
  return false;
}

// Of a call, as importers write them: whether it is given what has an error.
static bool takes_error(const evaluator *e, const leat_stmt *stmt) {
  const leat_expr *call = stmt->values.count == 1 ? stmt->values.items[0] : NULL;
  if (!call || call->kind != LEAT_EXPR_CALL) return true;
  for (uint32_t i = 0; i < call->args.count; i++) {
    const leat_expr *arg = call->args.items[i].value;
    if (arg->kind == LEAT_EXPR_NAME && is_error(e, arg->name)) return true;
  }
  return false;
}

// What only binds names can be left out alone; what has an effect and an error is needed by all.
static bool can_go(const evaluator *e, const leat_stmt *stmt, bool failed, bool *out_goes) {
  *out_goes = failed || binds_error(e, stmt);
  if (stmt->targets.count) return true;
  if (stmt->kind == LEAT_STMT_EXPR) return !failed && !takes_error(e, stmt);
  return !*out_goes && stmt->kind != LEAT_STMT_ASSIGN && stmt->kind != LEAT_STMT_UPDATE;
}

const leat_stmt *ev_entry_part(evaluator *e, const leat_stmt *stmt, const bool *failed,
                               leat_bindings *out_missing) {
  leat_stmt *part = leat_arena_memdup(e->arena, stmt, sizeof *stmt);
  part->body.items = leat_new_array(e->arena, leat_stmt *, (size_t)stmt->body.count + 1);
  part->results.items = leat_new_array(e->arena, leat_binding, (size_t)stmt->results.count + 1);
  out_missing->items = leat_new_array(e->arena, leat_binding, (size_t)stmt->results.count + 1);
  part->body.count = part->results.count = out_missing->count = 0;
  for (uint32_t i = 0; i < stmt->body.count; i++) {
    bool goes;
    if (!can_go(e, stmt->body.items[i], failed[i], &goes)) return NULL;
    if (!goes) part->body.items[part->body.count++] = stmt->body.items[i];
  }
  for (uint32_t i = 0; i < stmt->results.count; i++) {
    leat_bindings *to = is_error(e, stmt->results.items[i].name) ? out_missing : &part->results;
    to->items[to->count++] = stmt->results.items[i];
  }
  return part->results.count && out_missing->count ? part : NULL;
}
