// Lines of a REPL that run an entry. What it is fed becomes nodes at top level, so that it is any
// expression; whoever reads the lines runs the rest (frontend.h).
#include "frontend/evaluate/statements.h"

#include "frontend/evaluate/calls.h"
#include "frontend/evaluate/types.h"
#include "frontend/values/names.h"

// The entry that the statement calls, or NULL: it is something else.
static leat_entry *callee_of(const evaluator *e, const leat_stmt *stmt) {
  const leat_expr *call = stmt->values.count == 1 ? stmt->values.items[0] : NULL;
  bool top = e->interactive && !e->frame->caller && !e->at.entry && e->frame->scope == e->globals;
  if (!top || !call || call->kind != LEAT_EXPR_CALL || call->callee->kind != LEAT_EXPR_NAME)
    return NULL;
  const ev_binding *binding = ev_lookup(e->globals, call->callee->name);
  return binding && binding->value.kind == EV_ENTRY ? binding->value.entry : NULL;
}

// The parameter that the argument is for; params.count: none, which is reported.
static uint32_t find_param(evaluator *e, const leat_entry *entry, const ev_argument *arg,
                           uint32_t position) {
  uint32_t count = entry->params.count, i = arg->key ? 0 : position;
  const char **names = leat_new_array(e->arena, const char *, (size_t)count + 1);
  for (uint32_t k = 0; k < count; k++) names[k] = entry->params.items[k].name;
  while (arg->key && i < count && names[i] != arg->key) i++;
  if (i >= count && arg->key)
    ev_fail(e, arg->key_span, "`%s` has no parameter `%s`%s", entry->name, arg->key,
            ev_suggestion(e, arg->key, names, count));
  else if (i >= count)
    ev_fail(e, arg->span, "`%s` takes %u argument%s, found more", entry->name, count,
            count == 1 ? "" : "s");
  return i;
}

// Dims that are named are bound, and checked, when the entry runs.
static bool fits(const leat_type *declared, const leat_type *found) {
  bool same = declared->dtype == found->dtype && declared->rank == found->rank;
  for (int i = 0; same && i < declared->rank; i++) {
    leat_dim expected = declared->dims[i], size = found->dims[i];
    same =
        !leat_dim_is_const(expected) || !leat_dim_is_const(size) || leat_dim_equal(expected, size);
  }
  return same;
}

const char *ev_fetch_name(const evaluator *e, leat_value value) {
  if (!value.node || !value.port) return value.node ? value.node->name : NULL;
  return leat_intern_printf(e->strings, "%s:%u", value.node->name, value.port);
}

static const char *feed_of(evaluator *e, const leat_entry *entry, const leat_param *param,
                           const ev_argument *arg) {
  const leat_type *type = &param->node->outputs[0];
  leat_value value = ev_as_tensor(e, arg->value, (int)type->dtype, arg->span);
  if (value.node && !fits(type, leat_value_type(value)))
    ev_fail(e, arg->span, "%s: expected %s, found %s",
            ev_describe_value(e, param->name, entry->name), leat_type_text(e->arena, type),
            leat_type_text(e->arena, leat_value_type(value)));
  return ev_fetch_name(e, value);
}

static bool feed_all(evaluator *e, const leat_entry *entry, const leat_expr *call,
                     const char **feeds) {
  uint32_t count;
  const ev_argument *args = ev_arguments(e, &call->args, 0, &count);
  for (uint32_t i = 0, position = 0; args && i < count; i++) {
    uint32_t param = find_param(e, entry, &args[i], args[i].key ? 0 : position++);
    if (param >= entry->params.count) return false;
    if (feeds[param])
      ev_fail(e, args[i].span, "%s is given twice",
              ev_describe_value(e, entry->params.items[param].name, entry->name));
    feeds[param] = feed_of(e, entry, &entry->params.items[param], &args[i]);
  }
  for (uint32_t i = 0; i < entry->params.count && !ev_failed(e); i++)
    if (!feeds[i] && !entry->params.items[i].fallback)
      ev_fail(e, call->span, "%s is missing",
              ev_describe_value(e, entry->params.items[i].name, entry->name));
  return !ev_failed(e);
}

// Names that could not be bound later are found now, before anything runs.
static const char **targets_of(evaluator *e, const leat_entry *entry, const leat_stmt *stmt) {
  uint32_t count = stmt->targets.count;
  const char **names = leat_new_array(e->arena, const char *, (size_t)count + 1);
  if (count && count != entry->results.count)
    ev_fail_names(e, stmt, entry->results.count, "result", "results", NULL);
  for (uint32_t i = 0; i < count; i++) {
    const leat_binding *target = &stmt->targets.items[i];
    if (target->type || target->member || target->absolute)
      ev_fail(e, target->span, "a result of an entry is bound to a plain name");
    else if (target->name && ev_bind(e, e->globals, target->span, target->name, ev_error()))
      names[i] = target->name;
  }
  return names;
}

bool ev_entry_call(evaluator *e, const leat_stmt *stmt) {
  leat_entry *entry = callee_of(e, stmt);
  if (!entry) return false;
  const leat_expr *call = stmt->values.items[0];
  const char **feeds = leat_new_array(e->arena, const char *, (size_t)entry->params.count + 1);
  if (e->last->run.entry) ev_fail(e, stmt->span, "an entry is run by a line of its own");
  if (call->as) ev_fail(e, call->as->span, "`as` is for functions that hold state");
  if (!feed_all(e, entry, call, feeds)) return true;
  const char *const *targets = targets_of(e, entry, stmt);
  e->last->run = (leat_entry_run){entry->name, feeds, (int)entry->params.count, targets,
                                  (int)stmt->targets.count};
  return true;
}
