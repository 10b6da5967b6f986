// What the text of a definition says by itself, asked once, however often it is called and whatever
// its calls leave out.
//
// Parameters that nothing uses: often a name mistyped, or a layer that was left out. A parameter is
// used where its name stands, in types too, and when its type alone says what a name is that is
// used: the N of `x: f32[N]`.
//
// Names that nothing has, and types that are none, in functions that nothing calls: what is bound
// anywhere in a function counts as known in all of it.
#include "frontend/evaluate/statements.h"

#include "frontend/evaluate/types.h"
#include "frontend/values/builtin.h"
#include "frontend/values/names.h"

#include <ctype.h>
#include <string.h>

typedef struct names {
  leat_map map; // interned name → the first expression that is it
  evaluator *e;
} names;

static const leat_expr part_of_path; // a name that a `$path` ends with: nobody knows whose

static void use(names *used, const char *name, const leat_expr *as) {
  bool again = !name || (as != &part_of_path && leat_map_get(&used->map, name));
  if (!again) leat_map_set(&used->map, name, (void *)as);
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
    spread ? use(used, leat_intern(used->e->strings, "..."), value) : use_expr(used, value);
  }
}

static void use_expr(names *used, const leat_expr *expr) {
  if (!expr) return;
  switch ((leat_expr_kind)expr->kind) {
  case LEAT_EXPR_NAME:
  case LEAT_EXPR_ELLIPSIS: use(used, expr->name, expr); return; // a `...D` too
  case LEAT_EXPR_PATH: {                                        // $train/x
    const char *slash = strrchr(expr->path, '/');
    if (slash) use(used, leat_intern(used->e->strings, slash + 1), &part_of_path);
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

// -- Functions that nothing calls -----------------------------------------------------------------

static void know(ev_scope *scope, const char *name) {
  static ev_binding known;
  if (name) leat_map_set(&scope->names, name, &known);
}

static void know_stmts(ev_scope *scope, const leat_stmts *stmts);

static void know_bindings(ev_scope *scope, const leat_bindings *bindings) {
  for (uint32_t i = 0; i < bindings->count; i++) know(scope, bindings->items[i].name);
}

static void know_stmt(ev_scope *scope, const leat_stmt *stmt) {
  bool declares = stmt->kind == LEAT_STMT_VAR || stmt->kind == LEAT_STMT_QUEUE ||
                  stmt->kind == LEAT_STMT_MUTEX || stmt->kind == LEAT_STMT_FOR;
  if (declares) know(scope, stmt->name);
  know_bindings(scope, &stmt->targets);
  know_stmts(scope, &stmt->body);
  if (stmt->kind == LEAT_STMT_WHILE) know_bindings(scope, &stmt->carried);
  if (stmt->kind == LEAT_STMT_IF) know_stmts(scope, &stmt->otherwise);
}

static void know_stmts(ev_scope *scope, const leat_stmts *stmts) {
  for (uint32_t i = 0; i < stmts->count; i++) know_stmt(scope, stmts->items[i]);
}

// The capital names in the types of parameters, which a call says.
static void know_generic(ev_scope *scope, const leat_bindings *params, evaluator *e) {
  names found = no_names(e);
  for (uint32_t i = 0; i < params->count; i++) use_type(&params->items[i], &found, &found);
  for (uint32_t i = 0; i < found.map.count; i++)
    if (isupper((unsigned char)*(const char *)found.map.entries[i].key))
      know(scope, found.map.entries[i].key);
}

static void use_head(names *used, const leat_bindings *bindings) {
  for (uint32_t i = 0; i < bindings->count; i++) {
    const leat_expr *type = bindings->items[i].type;
    const leat_expr *tensor = type && type->kind == LEAT_EXPR_VAR_TYPE ? type->of : type;
    if (type && ev_check_type(used->e, type) && tensor && tensor->kind == LEAT_EXPR_INDEX)
      use_exprs(used, &tensor->items);
    use_expr(used, bindings->items[i].value);
  }
}

static void check_names(evaluator *e, const ev_function *function) {
  const leat_stmt *definition = function->definition;
  ev_frame frame = {.scope = ev_scope_new(e, e->globals),
                    .function = function,
                    .call = definition->span,
                    .instance = leat_intern(e->strings, "")};
  ev_frame *outer = e->frame;
  names used = no_names(e);
  know(frame.scope, leat_intern(e->strings, "global_step")); // which would be made
  know_bindings(frame.scope, &definition->params);
  know_bindings(frame.scope, &definition->results);
  know_generic(frame.scope, &definition->params, e);
  know_stmts(frame.scope, &definition->body);
  e->frame = &frame;
  use_head(&used, &definition->params);
  if (definition->kind == LEAT_STMT_FN) use_head(&used, &definition->results);
  use_stmts(&used, &definition->body);
  for (uint32_t i = 0; i < used.map.count && !e->stopped; i++) {
    const leat_expr *expr = used.map.entries[i].value;
    const char *name = used.map.entries[i].key;
    if (expr != &part_of_path && !ev_lookup(frame.scope, name)) ev_name(e, name, expr->span);
  }
  e->frame = outer;
}

void ev_check_definitions(evaluator *e, const leat_map *definitions) {
  for (uint32_t i = 0; i < definitions->count && !e->stopped; i++) {
    const ev_function *function = definitions->entries[i].value;
    bool written = function && function->definition &&
                   !leat_diag_is_imported(e->diag, function->definition->span.source);
    if (written) check_names(e, function);
  }
}
