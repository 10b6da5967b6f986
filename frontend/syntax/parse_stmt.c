// Statements: one function a keyword, in one table, and those that begin with none.
#include "frontend/syntax/parse.h"

#include "leat/dtype.h"

#include <string.h>

// -- What declarations are made of ----------------------------------------------------------------

static void parse_option(leat_parser *p) {
  uint32_t begin = p->token.begin;
  leat_argument option = {.key = leat_parse_name(p, "a name")};
  leat_parser_expect(p, LEAT_TOKEN_EQUAL);
  option.value = leat_parse_expr(p);
  option.span = leat_parser_span(p, begin);
  leat_vec_push(p->scratch, &p->args, option);
}

// { NAME "=" expression }
static leat_arguments parse_options(leat_parser *p) {
  leat_arguments options = {0};
  uint32_t mark = p->args.count;
  while (leat_parser_at(p, LEAT_TOKEN_NAME) && !p->panic) parse_option(p);
  LEAT_TAKE(p, args, mark, &options);
  return options;
}

// [ "on" expression ] [ "colocate" expression ] [ "after" list ]
static void parse_suffixes(leat_parser *p, leat_stmt *s) {
  if (leat_parser_accept(p, LEAT_TOKEN_ON)) s->on = leat_parse_expr(p);
  if (leat_parser_accept(p, LEAT_TOKEN_COLOCATE)) s->colocate = leat_parse_expr(p);
  if (leat_parser_accept(p, LEAT_TOKEN_AFTER)) s->after = leat_parse_list(p);
  bool again = leat_parser_at(p, LEAT_TOKEN_ON) || leat_parser_at(p, LEAT_TOKEN_COLOCATE) ||
               leat_parser_at(p, LEAT_TOKEN_AFTER);
  if (again)
    leat_parser_error(p, leat_parser_token_span(p),
                      "suffixes stand once each, in the order `on`, `colocate`, `after`");
}

static void push_binding(leat_parser *p, leat_binding binding, uint32_t begin) {
  binding.span = leat_parser_span(p, begin);
  leat_vec_push(p->scratch, &p->bindings, binding);
}

// "..." | NAME ":" type [ "=" expression ]
static void parse_param(leat_parser *p) {
  uint32_t begin = p->token.begin;
  leat_binding param = {0};
  if (leat_parser_accept(p, LEAT_TOKEN_ELLIPSIS)) {
    param.name = leat_intern(p->strings, "...");
    param.collects = true;
  } else {
    param.name = leat_parse_name(p, "the name of a parameter");
    if (!leat_parser_accept(p, LEAT_TOKEN_COLON))
      leat_parser_fail(p, "`:` and a type, such as `x: f32[N]`");
    param.type = leat_parse_type(p);
    if (leat_parser_accept(p, LEAT_TOKEN_EQUAL)) param.value = leat_parse_expr(p);
  }
  push_binding(p, param, begin);
}

static leat_bindings parse_params(leat_parser *p) {
  leat_bindings params = {0};
  uint32_t mark = p->bindings.count;
  leat_parser_list(p, LEAT_TOKEN_OPEN_PAREN, LEAT_TOKEN_CLOSE_PAREN, parse_param);
  LEAT_TAKE(p, bindings, mark, &params);
  for (uint32_t i = 0, collecting = 0; i < params.count; i++)
    if (params.items[i].collects && collecting++)
      leat_parser_error(p, params.items[i].span, "a second parameter `...`");
  return params;
}

static void parse_body_param(leat_parser *p) {
  uint32_t begin = p->token.begin;
  leat_binding param = {.absolute = true};
  if (leat_parser_at(p, LEAT_TOKEN_PATH))
    leat_parse_path(p, &param.name, &param.port);
  else
    leat_parser_fail(p, "a path, as dumps write bodies: `fn($x: f32[8]) { … yield $y }`");
  leat_parser_expect(p, LEAT_TOKEN_COLON);
  param.type = leat_parse_tensor_type(p);
  push_binding(p, param, begin);
}

leat_bindings leat_parse_body_params(leat_parser *p) {
  leat_bindings params = {0};
  uint32_t mark = p->bindings.count;
  leat_parser_list(p, LEAT_TOKEN_OPEN_PAREN, LEAT_TOKEN_CLOSE_PAREN, parse_body_param);
  LEAT_TAKE(p, bindings, mark, &params);
  return params;
}

// What stands where a result's name may, or its type alone; NULL: it is a type.
static const char *result_name(leat_parser *p, const leat_expr *first, bool keyword, bool typed) {
  leat_dtype dtype;
  const char *name = first->kind == LEAT_EXPR_NAME && !keyword ? first->name : NULL;
  if (!name && typed)
    leat_parser_error(p, first->span, "expected the name of a result before `:`%s",
                      keyword ? ", found a keyword" : "");
  if (name && !typed && leat_dtype_parse(name, strlen(name), &dtype))
    leat_parser_error(p, first->span, "`%s` is a dtype; the type of a scalar is `%s[]`", name,
                      name);
  else if (name)
    leat_parser_check_name(p, first->span, name);
  return name;
}

// type | NAME [ ":" type [ "=" expression ] ]: a name begins both.
static void parse_result(leat_parser *p) {
  uint32_t begin = p->token.begin;
  bool keyword = leat_token_is_keyword(p->token.kind);
  leat_expr *first = leat_parse_type(p);
  bool typed = leat_parser_accept(p, LEAT_TOKEN_COLON);
  leat_binding result = {.name = result_name(p, first, keyword, typed)};
  if (typed || !result.name) result.type = typed ? leat_parse_type(p) : first;
  if (typed && leat_parser_accept(p, LEAT_TOKEN_EQUAL)) result.value = leat_parse_expr(p);
  push_binding(p, result, begin);
}

// [ "->" ( type | "(" … ")" ) ]
static leat_bindings parse_results(leat_parser *p) {
  leat_bindings results = {0};
  if (!leat_parser_accept(p, LEAT_TOKEN_ARROW)) return results;
  uint32_t mark = p->bindings.count;
  if (leat_parser_at(p, LEAT_TOKEN_OPEN_PAREN))
    leat_parser_list(p, LEAT_TOKEN_OPEN_PAREN, LEAT_TOKEN_CLOSE_PAREN, parse_result);
  else
    push_binding(p, (leat_binding){.type = leat_parse_type(p)}, p->token.begin);
  LEAT_TAKE(p, bindings, mark, &results);
  return results;
}

// The name that a statement defines.
static void parse_stmt_name(leat_parser *p, leat_stmt *s, const char *what) {
  uint32_t begin = p->token.begin;
  s->name = leat_parse_name(p, what);
  s->name_span = leat_parser_span(p, begin);
}

// The same for state, whose name a dump writes as `$path`.
static void parse_state_name(leat_parser *p, leat_stmt *s, const char *what) {
  uint32_t port = 0;
  if (!leat_parser_at(p, LEAT_TOKEN_PATH)) {
    parse_stmt_name(p, s, what);
    return;
  }
  s->name_span = leat_parser_token_span(p);
  s->absolute = true;
  leat_parse_path(p, &s->name, &port);
  if (port) leat_parser_error(p, s->name_span, "state has no port");
}

// -- Definitions ----------------------------------------------------------------------------------

static void parse_graph(leat_parser *p, leat_stmt *s) {
  if (p->stmts.count > 0)
    leat_parser_error(p, leat_parser_span(p, p->stmt_begin),
                      "`graph` is the first statement of a text");
  parse_stmt_name(p, s, "the name of the graph");
  if (leat_parser_at(p, LEAT_TOKEN_OPEN_PAREN)) s->params = parse_params(p);
  s->attributes = parse_options(p);
}

static void parse_use(leat_parser *p, leat_stmt *s) {
  s->file = leat_parse_string(p);
  if (leat_parser_accept(p, LEAT_TOKEN_AS))
    parse_stmt_name(p, s, "the name that its functions begin with");
  s->options = parse_options(p);
}

static void parse_dim(leat_parser *p, leat_stmt *s) {
  parse_stmt_name(p, s, "the name of a dimension");
  if (!leat_parser_accept(p, LEAT_TOKEN_IN)) return;
  s->bounds = leat_parse_range(p);
  if (s->bounds->kind != LEAT_EXPR_RANGE)
    leat_parser_error(p, s->bounds->span, "expected bounds, such as `1..4096`");
}

static void parse_fn(leat_parser *p, leat_stmt *s) {
  parse_stmt_name(p, s, "the name of a function");
  s->params = parse_params(p);
  s->results = parse_results(p);
  s->body = leat_parse_block(p, LEAT_ALLOW_RETURN);
}

static void parse_untyped(leat_parser *p) {
  uint32_t begin = p->token.begin;
  leat_binding binding = {.name = leat_parse_name(p, "a name")};
  push_binding(p, binding, begin);
}

static void parse_gradient(leat_parser *p, leat_stmt *s) {
  parse_stmt_name(p, s, "the name of an op or a function");
  uint32_t mark = p->bindings.count;
  leat_parser_list(p, LEAT_TOKEN_OPEN_PAREN, LEAT_TOKEN_CLOSE_PAREN, parse_untyped);
  LEAT_TAKE(p, bindings, mark, &s->params);
  leat_parser_expect(p, LEAT_TOKEN_ARROW);
  do parse_untyped(p);
  while (leat_parser_accept(p, LEAT_TOKEN_COMMA));
  LEAT_TAKE(p, bindings, mark, &s->results);
  if (s->results.count % 2)
    leat_parser_error(p, s->results.items[0].span,
                      "expected the outputs, then as many gradients: `y, dy`");
  s->body = leat_parse_block(p, LEAT_ALLOW_RETURN);
}

static const char *const entry_words[] = {"training", "background", "once", "parallel", "order"};
enum { ENTRY_WORDS = sizeof entry_words / sizeof *entry_words, ENTRY_FLAGS = 3 };

// NAME [ "=" expression ]
static void parse_entry_word(leat_parser *p) {
  leat_span span = leat_parser_token_span(p);
  leat_argument word = {.key = leat_parse_name(p, "a name")};
  int known = 0;
  while (known < ENTRY_WORDS && strcmp(word.key, entry_words[known]) != 0) known++;
  if (known == ENTRY_WORDS) {
    const char *near = leat_nearest(word.key, entry_words, ENTRY_WORDS);
    leat_parser_error(p, span, "expected `->` or `{`, found `%s`%s%s%s", word.key,
                      near ? "; did you mean `" : "", near ? near : "", near ? "`?" : "");
  } else if (known >= ENTRY_FLAGS) {
    leat_parser_expect(p, LEAT_TOKEN_EQUAL);
    word.value = leat_parse_expr(p);
  }
  word.span = leat_parser_span(p, span.begin);
  leat_vec_push(p->scratch, &p->args, word);
}

static void parse_entry(leat_parser *p, leat_stmt *s) {
  parse_stmt_name(p, s, "the name of an entry");
  s->params = parse_params(p);
  uint32_t mark = p->args.count;
  while (leat_parser_at(p, LEAT_TOKEN_NAME)) parse_entry_word(p);
  LEAT_TAKE(p, args, mark, &s->attributes);
  s->results = parse_results(p);
  for (uint32_t i = 0; i < s->results.count; i++)
    if (!s->results.items[i].name)
      leat_parser_error(p, s->results.items[i].span,
                        "a result of an entry has a name: `-> (loss: f32[])`, or just `-> (loss)`");
  s->body = leat_parse_block(p, 0);
}

// -- State ----------------------------------------------------------------------------------------

static void parse_var(leat_parser *p, leat_stmt *s) {
  parse_state_name(p, s, "the name of a variable");
  if (!leat_parser_accept(p, LEAT_TOKEN_COLON))
    leat_parser_fail(p, "`:` and a type, such as `var w: f32[3] = 0`");
  s->type = leat_parse_tensor_type(p);
  if (leat_parser_accept(p, LEAT_TOKEN_EQUAL)) s->init = leat_parse_expr(p);
  s->options = parse_options(p);
  parse_suffixes(p, s);
}

static void parse_queue(leat_parser *p, leat_stmt *s) {
  parse_state_name(p, s, "the name of a queue");
  leat_parser_expect(p, LEAT_TOKEN_COLON);
  s->type = leat_parse_tuple_type(p);
  s->options = parse_options(p);
  parse_suffixes(p, s);
}

static void parse_mutex(leat_parser *p, leat_stmt *s) {
  parse_state_name(p, s, "the name of a mutex");
  s->options = parse_options(p);
  parse_suffixes(p, s);
}

// -- Control --------------------------------------------------------------------------------------

static void parse_on(leat_parser *p, leat_stmt *s) {
  s->on = leat_parse_expr(p);
  s->body = leat_parse_block(p, p->allowed & ~LEAT_ALLOW_ENDS);
}

static void parse_for(leat_parser *p, leat_stmt *s) {
  parse_stmt_name(p, s, "the name of a loop variable");
  leat_parser_expect(p, LEAT_TOKEN_IN);
  s->over = leat_parse_range(p);
  s->body = leat_parse_block(p, p->allowed & ~LEAT_ALLOW_ENDS);
}

static leat_stmt *new_stmt(leat_parser *p, leat_stmt_kind kind) {
  leat_stmt *s = leat_new(p->arena, leat_stmt);
  s->kind = kind;
  return s;
}

static void parse_if_inside(leat_parser *p, leat_stmt *s, unsigned allowed);

// After `else if`: an `if` alone in the block of an `else`.
static leat_stmts parse_else_if(leat_parser *p, unsigned allowed) {
  leat_stmts otherwise = {0};
  uint32_t mark = p->stmts.count, begin = p->token.begin;
  leat_parser_advance(p);
  if (!leat_parser_enter(p)) return otherwise;
  leat_stmt *nested = new_stmt(p, LEAT_STMT_IF);
  parse_if_inside(p, nested, allowed);
  nested->span = leat_parser_span(p, begin);
  leat_parser_leave(p);
  leat_vec_push(p->scratch, &p->stmts, nested);
  LEAT_TAKE(p, stmts, mark, &otherwise);
  return otherwise;
}

static void parse_if_inside(leat_parser *p, leat_stmt *s, unsigned allowed) {
  s->condition = leat_parse_expr(p);
  s->body = leat_parse_block(p, allowed);
  s->has_else = leat_parser_accept(p, LEAT_TOKEN_ELSE);
  if (!s->has_else) return;
  s->otherwise =
      leat_parser_at(p, LEAT_TOKEN_IF) ? parse_else_if(p, allowed) : leat_parse_block(p, allowed);
}

static void parse_if(leat_parser *p, leat_stmt *s) {
  unsigned allowed = p->allowed & ~LEAT_ALLOW_ENDS;
  if (s->targets.count) allowed = (allowed & LEAT_ALLOW_RETURN) | LEAT_ALLOW_YIELD;
  parse_if_inside(p, s, allowed);
  parse_suffixes(p, s);
}

static const char carries[] = "what the loop carries, `i = while (i = 0) i < n { next i + 1 }`";

// ( NAME | PATH ) [ ":" type ] "=" expression
static void parse_carried(leat_parser *p) {
  uint32_t begin = p->token.begin;
  leat_binding carried = {.absolute = leat_parser_at(p, LEAT_TOKEN_PATH)};
  if (carried.absolute)
    leat_parse_path(p, &carried.name, &carried.port);
  else
    carried.name = leat_parse_name(p, "the name of a value that the loop carries");
  if (leat_parser_accept(p, LEAT_TOKEN_COLON)) carried.type = leat_parse_tensor_type(p);
  if (!leat_parser_accept(p, LEAT_TOKEN_EQUAL)) leat_parser_fail(p, carries);
  carried.value = leat_parse_expr(p);
  push_binding(p, carried, begin);
}

static void parse_while(leat_parser *p, leat_stmt *s) {
  if (!leat_parser_at(p, LEAT_TOKEN_OPEN_PAREN)) leat_parser_fail(p, carries);
  uint32_t mark = p->bindings.count;
  leat_parser_list(p, LEAT_TOKEN_OPEN_PAREN, LEAT_TOKEN_CLOSE_PAREN, parse_carried);
  LEAT_TAKE(p, bindings, mark, &s->carried);
  s->condition = leat_parse_expr(p);
  s->options = parse_options(p);
  s->body = leat_parse_block(p, (p->allowed & LEAT_ALLOW_RETURN) | LEAT_ALLOW_NEXT);
  parse_suffixes(p, s);
}

static void parse_leave(leat_parser *p, leat_stmt *s) {
  if (!leat_parser_ends_line(p)) s->values = leat_parse_exprs(p);
}

// -- Statements that begin with no keyword --------------------------------------------------------

// An expression that turned out to stand left of a `=`.
static leat_binding as_target(leat_parser *p, const leat_expr *e, leat_expr *type) {
  leat_binding target = {.span = e->span, .type = type};
  const leat_expr *named = e->kind == LEAT_EXPR_INDEX ? e->base : e;
  if (e->kind == LEAT_EXPR_PATH) {
    target.name = e->path;
    target.port = e->port;
    target.absolute = true;
  } else if (named->kind != LEAT_EXPR_NAME) {
    leat_parser_error(p, e->span, "expected a name, `name[i]` or a path left of `=`");
  } else if (named != e || !leat_is_blank(named->name)) {
    leat_parser_check_name(p, named->span, target.name = named->name);
  }
  if (e->kind != LEAT_EXPR_INDEX) return target;
  if (e->items.count == 1 && e->items.items[0]->kind < LEAT_EXPR_RANGE)
    target.member = e->items.items[0];
  else
    leat_parser_error(p, e->span, "a member of a family has one index: `x[t]`");
  return target;
}

// expression [ ":" type ], kept as a binding until a `=` follows or does not
static void parse_item(leat_parser *p) {
  uint32_t begin = p->token.begin;
  leat_binding item = {.value = leat_parse_expr(p)};
  if (leat_parser_accept(p, LEAT_TOKEN_COLON)) item.type = leat_parse_tensor_type(p);
  push_binding(p, item, begin);
}

static leat_bindings parse_items(leat_parser *p) {
  leat_bindings items = {0};
  uint32_t mark = p->bindings.count;
  do parse_item(p);
  while (leat_parser_accept(p, LEAT_TOKEN_COMMA));
  LEAT_TAKE(p, bindings, mark, &items);
  return items;
}

static void parse_bound(leat_parser *p, leat_stmt *s) {
  if (leat_parser_accept(p, LEAT_TOKEN_IF)) {
    s->kind = LEAT_STMT_IF;
    parse_if(p, s);
  } else if (leat_parser_accept(p, LEAT_TOKEN_WHILE)) {
    s->kind = LEAT_STMT_WHILE;
    parse_while(p, s);
  } else {
    s->kind = LEAT_STMT_BIND;
    s->values = leat_parse_exprs(p);
    parse_suffixes(p, s);
  }
}

// `t/z:all` is how a fetch is written.
static void expect_equal(leat_parser *p, const leat_binding *item) {
  bool fetch = item->type && item->type->kind == LEAT_EXPR_NAME &&
               item->type->name == leat_intern(p->strings, "all");
  if (fetch && !leat_parser_at(p, LEAT_TOKEN_EQUAL))
    leat_parser_error(
        p, item->span,
        "`:all` is of what is fetched: by `leat run --fetch NAME:all`, or by the line "
        "`:fetch NAME:all` in `leat repl`");
  else
    leat_parser_expect(p, LEAT_TOKEN_EQUAL);
}

// items [ "=" … | ":=" expression | "+=" expression ]
static void parse_simple(leat_parser *p, leat_stmt *s) {
  leat_bindings items = parse_items(p);
  if (leat_parser_accept(p, LEAT_TOKEN_EQUAL)) {
    for (uint32_t i = 0; i < items.count; i++)
      items.items[i] = as_target(p, items.items[i].value, items.items[i].type);
    s->targets = items;
    parse_bound(p, s);
    return;
  }
  bool plain = items.count == 1 && !items.items[0].type;
  if (plain && (leat_parser_at(p, LEAT_TOKEN_ASSIGN) || leat_parser_at(p, LEAT_TOKEN_UPDATE))) {
    s->kind = leat_parser_at(p, LEAT_TOKEN_ASSIGN) ? LEAT_STMT_ASSIGN : LEAT_STMT_UPDATE;
    leat_parser_advance(p);
    s->target = items.items[0].value;
    s->value = leat_parse_expr(p);
  } else if (plain) {
    s->kind = LEAT_STMT_EXPR;
    s->values.count = 1;
    s->values.items = leat_arena_memdup(p->arena, &items.items[0].value, sizeof(leat_expr *));
  } else {
    expect_equal(p, &items.items[0]);
  }
  parse_suffixes(p, s);
}

// -- All statements ------------------------------------------------------------------------------

typedef struct statement {
  leat_stmt_kind kind;
  void (*parse)(leat_parser *p, leat_stmt *s); // after the keyword
  unsigned needs;                              // that must be in p->allowed; 0: stands anywhere
} statement;

static const statement statements[LEAT_TOKEN_COUNT] = {
    [LEAT_TOKEN_GRAPH] = {LEAT_STMT_GRAPH, parse_graph, LEAT_ALLOW_DEFINITIONS},
    [LEAT_TOKEN_USE] = {LEAT_STMT_USE, parse_use, LEAT_ALLOW_DEFINITIONS},
    [LEAT_TOKEN_DIM] = {LEAT_STMT_DIM, parse_dim, LEAT_ALLOW_DEFINITIONS},
    [LEAT_TOKEN_FN] = {LEAT_STMT_FN, parse_fn, LEAT_ALLOW_DEFINITIONS},
    [LEAT_TOKEN_GRADIENT] = {LEAT_STMT_GRADIENT, parse_gradient, LEAT_ALLOW_DEFINITIONS},
    [LEAT_TOKEN_ENTRY] = {LEAT_STMT_ENTRY, parse_entry, LEAT_ALLOW_DEFINITIONS},
    [LEAT_TOKEN_VAR] = {LEAT_STMT_VAR, parse_var, 0},
    [LEAT_TOKEN_QUEUE] = {LEAT_STMT_QUEUE, parse_queue, 0},
    [LEAT_TOKEN_MUTEX] = {LEAT_STMT_MUTEX, parse_mutex, 0},
    [LEAT_TOKEN_ON] = {LEAT_STMT_ON, parse_on, 0},
    [LEAT_TOKEN_FOR] = {LEAT_STMT_FOR, parse_for, 0},
    [LEAT_TOKEN_IF] = {LEAT_STMT_IF, parse_if, 0},
    [LEAT_TOKEN_WHILE] = {LEAT_STMT_WHILE, parse_while, 0},
    [LEAT_TOKEN_RETURN] = {LEAT_STMT_RETURN, parse_leave, LEAT_ALLOW_RETURN},
    [LEAT_TOKEN_YIELD] = {LEAT_STMT_YIELD, parse_leave, LEAT_ALLOW_YIELD},
    [LEAT_TOKEN_NEXT] = {LEAT_STMT_NEXT, parse_leave, LEAT_ALLOW_NEXT},
};

static const char *const places[] = {
    [LEAT_ALLOW_DEFINITIONS] = "at top level",
    [LEAT_ALLOW_RETURN] =
        "in a function or a gradient rule; an entry binds its results, `-> (y: f32[]) { y = … }`",
    [LEAT_ALLOW_YIELD] = "at the end of each side of an `if` with targets",
    [LEAT_ALLOW_NEXT] = "at the end of a `while`",
};

static void parse_keyword(leat_parser *p, leat_stmt *s, const statement *known) {
  leat_token keyword = p->token;
  leat_parser_advance(p);
  if (leat_parser_at(p, LEAT_TOKEN_EQUAL) || leat_parser_at(p, LEAT_TOKEN_COMMA))
    leat_parser_error(p, leat_parser_span(p, keyword.begin),
                      "`%s` is a keyword; choose another name", leat_token_spelling(keyword.kind));
  else if (known->needs && !(p->allowed & known->needs))
    leat_parser_error(p, leat_parser_span(p, keyword.begin), "`%s` stands %s%s",
                      leat_token_spelling(keyword.kind), places[known->needs],
                      known->needs == LEAT_ALLOW_YIELD && p->allowed & LEAT_ALLOW_NEXT
                          ? "; a `while` ends in `next`"
                          : "");
  known->parse(p, s);
}

// An infix operator that is neither a sign nor, as `and` is, the name of an op.
static bool begins_with_infix(const leat_parser *p) {
  leat_token_kind kind = p->token.kind;
  return leat_token_is_infix(kind) && !leat_token_is_keyword(kind) && kind != LEAT_TOKEN_MINUS;
}

leat_stmt *leat_parse_stmt(leat_parser *p) {
  const statement *known = &statements[p->token.kind];
  leat_stmt *s = new_stmt(p, known->kind);
  if (known->parse)
    parse_keyword(p, s, known);
  else if (leat_parser_at(p, LEAT_TOKEN_ELSE))
    leat_parser_fail(p, "a statement (an `else` stands on the line of the `}` before it)");
  else if (begins_with_infix(p))
    leat_parser_error(
        p, leat_parser_token_span(p),
        "an expression goes on behind an operator: `%s` stands at the end of the line before",
        leat_token_spelling(p->token.kind));
  else
    parse_simple(p, s);
  s->span = leat_parser_span(p, p->stmt_begin);
  return s;
}
