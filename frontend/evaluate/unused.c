// Parameters that nothing uses: often a name mistyped, or a layer that was left out.
//
// Asked of the text of a definition, once, however often it is called and whatever its calls leave
// out. A parameter is used where its name stands, in types too, and when its type alone says what
// a name is that is used: the N of `x: f32[N]`.
#include "frontend/evaluate/statements.h"

#include "frontend/evaluate/builtin.h"

#include <string.h>

typedef struct names {
  leat_map map; // interned name → itself
  evaluator *e;
} names;

static void use(names *used, const char *name) {
  if (name) leat_map_set(&used->map, name, (void *)name);
}

static bool is_used(const names *used, const char *name) {
  return leat_map_get(&used->map, name) != NULL;
}

static names no_names(evaluator *e) {
  names none = {.e = e};
  leat_map_init(&none.map, e->arena);
  return none;
}

// -- The names in a text ------------------------------------------------------------------------

static void use_expr(names *used, const leat_expr *expr);

static void use_exprs(names *used, const leat_exprs *exprs) {
  for (uint32_t i = 0; i < exprs->count; i++) use_expr(used, exprs->items[i]);
}

static void use_args(names *used, const leat_arguments *args) {
  for (uint32_t i = 0; i < args->count; i++) {
    const leat_expr *value = args->items[i].value;
    bool spread = value && value->kind == LEAT_EXPR_ELLIPSIS; // f(x, ...)
    spread ? use(used, leat_intern(used->e->strings, "...")) : use_expr(used, value);
  }
}

static void use_expr(names *used, const leat_expr *expr) {
  if (!expr) return;
  switch ((leat_expr_kind)expr->kind) {
  case LEAT_EXPR_NAME:
  case LEAT_EXPR_ELLIPSIS: use(used, expr->name); return; // a `...D` too
  case LEAT_EXPR_PATH: {                                  // $train/x
    const char *slash = strrchr(expr->path, '/');
    if (slash) use(used, leat_intern(used->e->strings, slash + 1));
    return;
  }
  case LEAT_EXPR_STRING:
    for (uint32_t i = 0; i < expr->part_count; i++) use_expr(used, expr->parts[i].expr);
    return;
  case LEAT_EXPR_LIST: use_exprs(used, &expr->list); return;
  case LEAT_EXPR_CALL:
    use_expr(used, expr->callee);
    use_args(used, &expr->args);
    use_expr(used, expr->as);
    return;
  case LEAT_EXPR_INDEX:
    use_expr(used, expr->base);
    use_exprs(used, &expr->items);
    return;
  case LEAT_EXPR_UNARY:
  case LEAT_EXPR_BINARY:
    use_expr(used, expr->left);
    use_expr(used, expr->right);
    return;
  case LEAT_EXPR_RANGE:
  case LEAT_EXPR_SLICE:
    use_expr(used, expr->begin);
    use_expr(used, expr->end);
    use_expr(used, expr->step);
    return;
  case LEAT_EXPR_VAR_TYPE: use_expr(used, expr->of); return;
  case LEAT_EXPR_FN:
  case LEAT_EXPR_INT:
  case LEAT_EXPR_FLOAT:
  case LEAT_EXPR_IMAGINARY:
  case LEAT_EXPR_BOOL:
  case LEAT_EXPR_NONE:
  case LEAT_EXPR_NEW_AXIS:
  case LEAT_EXPR_ANY_DIM: return;
  }
}

// Of targets, results and what a loop carries: not what they are called, but what is said of them.
static void use_bindings(names *used, const leat_bindings *bindings) {
  for (uint32_t i = 0; i < bindings->count; i++) {
    use_expr(used, bindings->items[i].member);
    use_expr(used, bindings->items[i].type);
    use_expr(used, bindings->items[i].value);
  }
}

static void use_stmts(names *used, const leat_stmts *stmts);

static void use_stmt(names *used, const leat_stmt *stmt) {
  use_expr(used, stmt->on);
  use_expr(used, stmt->colocate);
  use_exprs(used, &stmt->after);
  use_args(used, &stmt->options);
  use_bindings(used, &stmt->targets);
  use_exprs(used, &stmt->values);
  use_stmts(used, &stmt->body);
  switch (stmt->kind) {
  case LEAT_STMT_VAR:
  case LEAT_STMT_QUEUE:
    use_expr(used, stmt->type);
    use_expr(used, stmt->init);
    return;
  case LEAT_STMT_ASSIGN:
  case LEAT_STMT_UPDATE:
    use_expr(used, stmt->target);
    use_expr(used, stmt->value);
    return;
  case LEAT_STMT_FOR: use_expr(used, stmt->over); return;
  case LEAT_STMT_IF:
  case LEAT_STMT_WHILE:
    use_expr(used, stmt->condition);
    use_stmts(used, &stmt->otherwise);
    use_bindings(used, &stmt->carried);
    return;
  case LEAT_STMT_GRAPH:
  case LEAT_STMT_USE:
  case LEAT_STMT_DIM:
  case LEAT_STMT_FN:
  case LEAT_STMT_GRADIENT:
  case LEAT_STMT_ENTRY:
  case LEAT_STMT_MUTEX:
  case LEAT_STMT_BIND:
  case LEAT_STMT_EXPR:
  case LEAT_STMT_ON:
  case LEAT_STMT_RETURN:
  case LEAT_STMT_YIELD:
  case LEAT_STMT_NEXT: return;
  }
}

static void use_stmts(names *used, const leat_stmts *stmts) {
  for (uint32_t i = 0; i < stmts->count; i++) use_stmt(used, stmts->items[i]);
}

// -- The parameters -----------------------------------------------------------------------------

// The names in the parameter's type, which its argument says where they stand alone; what computes
// with some may need other arguments that say them.
static void use_type(const leat_binding *param, names *said, names *computed) {
  const leat_expr *type = param->type;
  if (type && type->kind == LEAT_EXPR_VAR_TYPE) type = type->of;
  if (!type || type->kind != LEAT_EXPR_INDEX) return;
  leat_dtype dtype;
  bool variable = type->base->kind != LEAT_EXPR_NAME ||
                  !leat_dtype_parse(type->base->name, strlen(type->base->name), &dtype);
  if (variable) use_expr(said, type->base);
  for (uint32_t i = 0; i < type->items.count; i++) {
    leat_expr_kind kind = type->items.items[i]->kind;
    bool alone = kind == LEAT_EXPR_NAME || kind == LEAT_EXPR_ELLIPSIS;
    use_expr(alone ? said : computed, type->items.items[i]);
  }
}

// Whether the argument says what a name is that `body` uses and no parameter that is used says.
static bool says_more(const leat_binding *param, const names *body, const names *known) {
  names said = no_names(body->e);
  use_type(param, &said, &said);
  for (uint32_t i = 0; i < said.map.count; i++) {
    const char *name = said.map.entries[i].key;
    if (is_used(body, name) && !is_used(known, name)) return true;
  }
  return false;
}

static void check_params(evaluator *e, const leat_stmt *definition) {
  const leat_bindings *params = &definition->params;
  names body = no_names(e), head = no_names(e), known = no_names(e);
  use_bindings(&body, &definition->results);
  use_stmts(&body, &definition->body);
  use_bindings(&head, params);
  for (uint32_t i = 0; i < params->count; i++) {
    names unsaid = no_names(e);
    bool used = is_used(&body, params->items[i].name);
    use_type(&params->items[i], used ? &known : &unsaid, &body);
  }
  for (uint32_t i = 0; i < params->count; i++) {
    const leat_binding *param = &params->items[i];
    bool used = is_used(&body, param->name) || is_used(&head, param->name);
    if (used || param->name[0] == '_' || says_more(param, &body, &known)) continue;
    if (param->collects)
      leat_warn_at(e->diag, param->span, "nothing in `%s` passes on what `...` collects",
                   definition->name);
    else
      leat_warn_at(e->diag, param->span,
                   "nothing in `%s` uses the parameter `%s`; `_%s` says that it may be so",
                   definition->name, param->name, param->name);
  }
}

// What passes leave of an entry need not use all that it is fed.
static bool is_canonical(const leat_stmt *entry) {
  const leat_stmt *first = entry->body.count ? entry->body.items[0] : NULL;
  return !first || (first->kind == LEAT_STMT_BIND && first->targets.items[0].absolute);
}

void ev_warn_unused(evaluator *e, const leat_stmts *stmts) {
  for (uint32_t i = 0; i < stmts->count; i++) {
    const leat_stmt *stmt = stmts->items[i];
    bool entry = stmt->kind == LEAT_STMT_ENTRY, block = stmt->kind == LEAT_STMT_ON ||
                                                        stmt->kind == LEAT_STMT_FOR ||
                                                        stmt->kind == LEAT_STMT_IF;
    if (stmt->kind == LEAT_STMT_FN || (entry && !is_canonical(stmt))) check_params(e, stmt);
    if (block) ev_warn_unused(e, &stmt->body);
    if (stmt->kind == LEAT_STMT_IF) ev_warn_unused(e, &stmt->otherwise);
  }
}
