// Statements: one function a keyword, in one table; recovery at the ends of lines.
//
// After an error the rest of the statement is skipped: to the end of its line, or of the last of
// the lines that go on in deeper indentation inside an open bracket. A block that opens on the way
// is read for its own errors.
#include "frontend/habits.h"
#include "frontend/parse.h"

#include "leat/dtype.h"

#include <stdarg.h>
#include <string.h>

enum { LARGEST_SOURCE = 64 << 20 };

// Where a statement may stand.
enum {
  DEFINITIONS = 1, // at top level
  RETURN = 2,      // in a function or a gradient rule
  YIELD = 4,       // in an `if` with targets
  NEXT = 8,        // in a `while`
};

// -- Tokens and errors ----------------------------------------------------------------------------

void leat_parser_advance(leat_parser *p) {
  p->previous_end = p->token.end;
  p->token = leat_lexer_next(&p->lexer);
}

bool leat_parser_accept(leat_parser *p, leat_token_kind kind) {
  if (!leat_parser_at(p, kind)) return false;
  leat_parser_advance(p);
  return true;
}

bool leat_parser_expect(leat_parser *p, leat_token_kind kind) {
  if (leat_parser_accept(p, kind)) return true;
  char expected[16] = "`";
  leat_parser_fail(p, strcat(strcat(expected, leat_token_spelling(kind)), "`"));
  return false;
}

leat_span leat_parser_span(const leat_parser *p, uint32_t begin) {
  uint32_t end = p->previous_end > begin ? p->previous_end : begin;
  return (leat_span){.source = p->source, .begin = begin, .end = end};
}

leat_span leat_parser_token_span(const leat_parser *p) {
  return (leat_span){.source = p->source, .begin = p->token.begin, .end = p->token.end};
}

void leat_parser_error(leat_parser *p, leat_span span, const char *format, ...) {
  if (p->panic) return;
  p->panic = true;
  va_list arguments;
  va_start(arguments, format);
  char *words = leat_arena_vprintf(p->scratch, format, arguments);
  va_end(arguments);
  leat_error_at(p->diag, span, "%s", words);
}

static const char *describe_token(leat_parser *p) {
  leat_token token = p->token;
  switch ((int)token.kind) {
  case LEAT_TOKEN_END: // of the text, or of an interpolation in it
    return p->lexer.text[p->lexer.end] == '}' ? "`}`" : "the end of the text";
  case LEAT_TOKEN_NEWLINE: return "the end of the line";
  case LEAT_TOKEN_STRING: return "a string";
  }
  uint32_t size = token.end - token.begin;
  return leat_arena_printf(
      p->scratch, "%s`%.*s%s`", leat_token_is_keyword(token.kind) ? "the keyword " : "",
      size > 40 ? 40 : (int)size, p->lexer.text + token.begin, size > 40 ? "…" : "");
}

void leat_parser_fail(leat_parser *p, const char *expected) {
  leat_token token = p->token;
  const char *habit = leat_habit_word(p->lexer.text + token.begin, token.end - token.begin);
  if (token.problem || habit)
    leat_parser_error(p, leat_parser_token_span(p), "%s", token.problem ? token.problem : habit);
  else
    leat_parser_error(p, leat_parser_token_span(p), "expected %s, found %s", expected,
                      describe_token(p));
}

bool leat_parser_enter(leat_parser *p) {
  if (p->depth < LEAT_MAX_NESTING) return ++p->depth;
  leat_parser_error(p, leat_parser_token_span(p), "this nests deeper than %d", LEAT_MAX_NESTING);
  return false;
}

void leat_parser_leave(leat_parser *p) {
  p->depth--;
}

void leat_parser_close(leat_parser *p, leat_token open, leat_token_kind close,
                       const char *expected) {
  if (leat_parser_accept(p, close)) return;
  bool first = !p->panic;
  leat_parser_fail(p, expected);
  if (first && open.line != p->token.line)
    leat_note_at(p->diag, (leat_span){p->source, open.begin, open.end}, "for this bracket");
}

void leat_parser_list(leat_parser *p, leat_token_kind open, leat_token_kind close,
                      void (*item)(leat_parser *)) {
  leat_token bracket = p->token;
  if (!leat_parser_at(p, open)) {
    leat_parser_expect(p, open);
    return;
  }
  if (!leat_parser_enter(p)) return;
  leat_parser_advance(p);
  while (!leat_parser_at(p, close)) {
    item(p);
    if (!leat_parser_accept(p, LEAT_TOKEN_COMMA)) break;
  }
  leat_parser_close(p, bracket, close,
                    close == LEAT_TOKEN_CLOSE_PAREN ? "`,` or `)`" : "`,` or `]`");
  leat_parser_leave(p);
}

const char *leat_parser_intern(leat_parser *p, uint32_t begin, uint32_t end) {
  return leat_intern_n(p->strings, p->lexer.text + begin, end - begin);
}

const char *leat_parse_name(leat_parser *p, const char *what) {
  leat_token token = p->token;
  leat_dtype dtype;
  if (!leat_parser_at(p, LEAT_TOKEN_NAME)) {
    leat_parser_fail(p, what);
    return "";
  }
  const char *name = leat_parser_intern(p, token.begin, token.end);
  if (leat_dtype_parse(name, token.end - token.begin, &dtype))
    leat_parser_error(p, leat_parser_token_span(p), "`%s` is the name of a dtype; choose another",
                      name);
  leat_parser_advance(p);
  return name;
}

// -- Blocks ---------------------------------------------------------------------------------------

static void parse_line(leat_parser *p);

// Pushes the statements up to the end of the text, or to a `}`, which stays.
static void parse_lines(leat_parser *p) {
  for (;;) {
    while (leat_parser_accept(p, LEAT_TOKEN_NEWLINE)) {
    }
    if (leat_parser_at(p, LEAT_TOKEN_END) || leat_parser_at(p, LEAT_TOKEN_CLOSE_BRACE)) return;
    parse_line(p);
  }
}

// Past the brace that closes the one before the current token, without recursion.
static void skip_block(leat_parser *p) {
  for (size_t open = 1; open > 0 && !leat_parser_at(p, LEAT_TOKEN_END); leat_parser_advance(p))
    open += leat_parser_at(p, LEAT_TOKEN_OPEN_BRACE) - leat_parser_at(p, LEAT_TOKEN_CLOSE_BRACE);
}

static leat_stmts parse_block(leat_parser *p, unsigned allowed) {
  leat_stmts body = {0};
  leat_token open = p->token;
  if (!leat_parser_expect(p, LEAT_TOKEN_OPEN_BRACE)) return body;
  if (!leat_parser_enter(p)) {
    skip_block(p);
    return body;
  }
  bool panic = p->panic;
  unsigned outer = p->allowed;
  uint32_t stmt_begin = p->stmt_begin, indent = p->indent, mark = p->stmts.count;
  p->panic = false;
  p->allowed = allowed;
  parse_lines(p);
  LEAT_TAKE(p, stmts, mark, &body);
  p->panic = panic;
  p->allowed = outer;
  p->stmt_begin = stmt_begin;
  p->indent = indent;
  leat_parser_close(p, open, LEAT_TOKEN_CLOSE_BRACE, "`}`");
  leat_parser_leave(p);
  return body;
}

// -- What declarations are made of ----------------------------------------------------------------

static void parse_option(leat_parser *p) {
  uint32_t begin = p->token.begin;
  leat_arg option = {.key = leat_parse_name(p, "a name")};
  leat_parser_expect(p, LEAT_TOKEN_EQUAL);
  option.value = leat_parse_expr(p);
  option.span = leat_parser_span(p, begin);
  leat_vec_push(p->scratch, &p->args, option);
}

// { NAME "=" expression }
static leat_args parse_options(leat_parser *p) {
  leat_args options = {0};
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
  for (uint32_t i = 0; i + 1 < params.count; i++)
    if (params.items[i].collects)
      leat_parser_error(p, params.items[i].span, "`...` is the last parameter");
  return params;
}

// type | NAME ":" type [ "=" expression ]: a name begins both.
static void parse_result(leat_parser *p) {
  uint32_t begin = p->token.begin;
  leat_binding result = {.type = leat_parse_type(p)};
  if (leat_parser_accept(p, LEAT_TOKEN_COLON)) {
    if (result.type->kind == LEAT_EXPR_NAME)
      result.name = result.type->name;
    else
      leat_parser_error(p, result.type->span, "expected the name of a result before `:`");
    result.type = leat_parse_type(p);
    if (leat_parser_accept(p, LEAT_TOKEN_EQUAL)) result.value = leat_parse_expr(p);
  }
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
  s->body = parse_block(p, RETURN);
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
  s->body = parse_block(p, RETURN);
}

static const char *const entry_words[] = {"training", "background", "once", "parallel", "order"};
enum { ENTRY_WORDS = sizeof entry_words / sizeof *entry_words, ENTRY_FLAGS = 3 };

// NAME [ "=" expression ]
static void parse_entry_word(leat_parser *p) {
  leat_span span = leat_parser_token_span(p);
  leat_arg word = {.key = leat_parse_name(p, "a name")};
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
                        "a result of an entry has a name: `-> (loss: f32[])`");
  s->body = parse_block(p, 0);
}

// -- State ----------------------------------------------------------------------------------------

static void parse_var(leat_parser *p, leat_stmt *s) {
  parse_state_name(p, s, "the name of a variable");
  leat_parser_expect(p, LEAT_TOKEN_COLON);
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
  s->body = parse_block(p, p->allowed);
}

static void parse_for(leat_parser *p, leat_stmt *s) {
  parse_stmt_name(p, s, "the name of a loop variable");
  leat_parser_expect(p, LEAT_TOKEN_IN);
  s->over = leat_parse_range(p);
  s->body = parse_block(p, p->allowed);
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
  s->body = parse_block(p, allowed);
  s->has_else = leat_parser_accept(p, LEAT_TOKEN_ELSE);
  if (!s->has_else) return;
  s->otherwise =
      leat_parser_at(p, LEAT_TOKEN_IF) ? parse_else_if(p, allowed) : parse_block(p, allowed);
}

static void parse_if(leat_parser *p, leat_stmt *s) {
  parse_if_inside(p, s, s->targets.count ? (p->allowed & RETURN) | YIELD : p->allowed);
  parse_suffixes(p, s);
}

// ( NAME | PATH ) [ ":" type ] "=" expression
static void parse_carried(leat_parser *p) {
  uint32_t begin = p->token.begin;
  leat_binding carried = {.absolute = leat_parser_at(p, LEAT_TOKEN_PATH)};
  if (carried.absolute)
    leat_parse_path(p, &carried.name, &carried.port);
  else
    carried.name = leat_parse_name(p, "the name of a value that the loop carries");
  if (leat_parser_accept(p, LEAT_TOKEN_COLON)) carried.type = leat_parse_tensor_type(p);
  leat_parser_expect(p, LEAT_TOKEN_EQUAL);
  carried.value = leat_parse_expr(p);
  push_binding(p, carried, begin);
}

static void parse_while(leat_parser *p, leat_stmt *s) {
  uint32_t mark = p->bindings.count;
  leat_parser_list(p, LEAT_TOKEN_OPEN_PAREN, LEAT_TOKEN_CLOSE_PAREN, parse_carried);
  LEAT_TAKE(p, bindings, mark, &s->carried);
  s->condition = leat_parse_expr(p);
  s->body = parse_block(p, NEXT);
  parse_suffixes(p, s);
}

static bool ends_line(const leat_parser *p) {
  return leat_parser_at(p, LEAT_TOKEN_NEWLINE) || leat_parser_at(p, LEAT_TOKEN_CLOSE_BRACE) ||
         leat_parser_at(p, LEAT_TOKEN_END);
}

static void parse_leave(leat_parser *p, leat_stmt *s) {
  if (!ends_line(p)) s->values = leat_parse_exprs(p);
}

// -- Statements that begin with no keyword --------------------------------------------------------

// An expression that turned out to stand left of a `=`.
static leat_binding as_target(leat_parser *p, const leat_expr *e, leat_expr *type) {
  leat_binding target = {.span = e->span, .type = type};
  const leat_expr *named = e->kind == LEAT_EXPR_INDEX ? e->base : e;
  leat_dtype dtype;
  if (e->kind == LEAT_EXPR_PATH) {
    target.name = e->path;
    target.port = e->port;
    target.absolute = true;
  } else if (named->kind != LEAT_EXPR_NAME) {
    leat_parser_error(p, e->span, "expected a name, `name[i]` or a path left of `=`");
  } else if (leat_dtype_parse(named->name, strlen(named->name), &dtype)) {
    leat_parser_error(p, named->span, "`%s` is the name of a dtype; choose another", named->name);
  } else {
    target.name = named->name;
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
    leat_parser_expect(p, LEAT_TOKEN_EQUAL);
  }
  parse_suffixes(p, s);
}

// -- Lines ----------------------------------------------------------------------------------------

typedef struct statement {
  leat_stmt_kind kind;
  void (*parse)(leat_parser *p, leat_stmt *s); // after the keyword
  unsigned needs;                              // that must be in p->allowed; 0: stands anywhere
} statement;

static const statement statements[LEAT_TOKEN_COUNT] = {
    [LEAT_TOKEN_GRAPH] = {LEAT_STMT_GRAPH, parse_graph, DEFINITIONS},
    [LEAT_TOKEN_USE] = {LEAT_STMT_USE, parse_use, DEFINITIONS},
    [LEAT_TOKEN_DIM] = {LEAT_STMT_DIM, parse_dim, DEFINITIONS},
    [LEAT_TOKEN_FN] = {LEAT_STMT_FN, parse_fn, DEFINITIONS},
    [LEAT_TOKEN_GRADIENT] = {LEAT_STMT_GRADIENT, parse_gradient, DEFINITIONS},
    [LEAT_TOKEN_ENTRY] = {LEAT_STMT_ENTRY, parse_entry, DEFINITIONS},
    [LEAT_TOKEN_VAR] = {LEAT_STMT_VAR, parse_var, 0},
    [LEAT_TOKEN_QUEUE] = {LEAT_STMT_QUEUE, parse_queue, 0},
    [LEAT_TOKEN_MUTEX] = {LEAT_STMT_MUTEX, parse_mutex, 0},
    [LEAT_TOKEN_ON] = {LEAT_STMT_ON, parse_on, 0},
    [LEAT_TOKEN_FOR] = {LEAT_STMT_FOR, parse_for, 0},
    [LEAT_TOKEN_IF] = {LEAT_STMT_IF, parse_if, 0},
    [LEAT_TOKEN_WHILE] = {LEAT_STMT_WHILE, parse_while, 0},
    [LEAT_TOKEN_RETURN] = {LEAT_STMT_RETURN, parse_leave, RETURN},
    [LEAT_TOKEN_YIELD] = {LEAT_STMT_YIELD, parse_leave, YIELD},
    [LEAT_TOKEN_NEXT] = {LEAT_STMT_NEXT, parse_leave, NEXT},
};

static const char *const places[] = {
    [DEFINITIONS] = "at top level",
    [RETURN] = "in a function or a gradient rule",
    [YIELD] = "in an `if` with targets",
    [NEXT] = "in a `while`",
};

// The `##` lines above the current token, without their marks.
static const char *read_doc(leat_parser *p) {
  uint32_t at = p->lexer.doc_begin, end = p->lexer.doc_end;
  if (at == end) return NULL;
  char *doc = leat_arena_alloc(p->arena, end - at + 1);
  const char *text = p->lexer.text;
  size_t size = 0;
  while (at < end) {
    at += 2; // the mark
    if (text[at] == ' ') at++;
    while (at < end && text[at] != '\n') doc[size++] = text[at++];
    while (size && strchr(" \t\r", doc[size - 1])) size--;
    while (at < end && text[at] != '#') at++;
    if (at < end) doc[size++] = '\n';
  }
  doc[size] = '\0';
  return doc;
}

// The name that the statement begins with, if it is an expression.
static const leat_expr *first_name(const leat_stmt *s) {
  const leat_expr *e = s->kind == LEAT_STMT_EXPR ? s->values.items[0] : NULL;
  if (e && e->kind == LEAT_EXPR_CALL) e = e->callee;
  return e && e->kind == LEAT_EXPR_NAME ? e : NULL;
}

static const char *nearest_keyword(const char *name, leat_token_kind from, leat_token_kind to) {
  const char *candidates[LEAT_TOKEN_COUNT];
  size_t count = 0;
  for (leat_token_kind kind = from; kind <= to; kind++)
    candidates[count++] = leat_token_spelling(kind);
  return leat_nearest(name, candidates, count);
}

// Reports what goes on behind a whole statement: most often a misspelled keyword.
static void report_rest(leat_parser *p, const leat_stmt *s) {
  const leat_expr *first = first_name(s);
  const char *habit = first ? leat_habit_word(first->name, strlen(first->name)) : NULL;
  if (habit) {
    leat_parser_error(p, first->span, "%s", habit);
    return;
  }
  if (leat_parser_at(p, LEAT_TOKEN_IF)) {
    leat_parser_error(p, leat_parser_token_span(p),
                      "`if` begins a statement; `where(p, x, y)` chooses between two values");
    return;
  }
  const char *near = first ? nearest_keyword(first->name, LEAT_TOKEN_GRAPH, LEAT_TOKEN_NEXT) : NULL;
  if (near) {
    leat_parser_error(p, first->span, "no statement begins with `%s`; did you mean `%s`?",
                      first->name, near);
    return;
  }
  if (leat_parser_at(p, LEAT_TOKEN_NAME)) {
    const char *name = leat_parser_intern(p, p->token.begin, p->token.end);
    near = nearest_keyword(name, LEAT_TOKEN_COLOCATE, LEAT_TOKEN_ELSE);
    if (near) {
      leat_parser_error(p, leat_parser_token_span(p),
                        "expected the end of the line, found `%s`; did you mean `%s`?", name, near);
      return;
    }
  }
  leat_parser_fail(p, "the end of the line");
}

// Skips the rest of a statement that had an error.
static void recover(leat_parser *p) {
  while (!leat_parser_at(p, LEAT_TOKEN_END) && !leat_parser_at(p, LEAT_TOKEN_NEWLINE)) {
    if (leat_parser_at(p, LEAT_TOKEN_CLOSE_BRACE) && p->depth > 0) break;
    bool closes =
        leat_parser_at(p, LEAT_TOKEN_CLOSE_PAREN) || leat_parser_at(p, LEAT_TOKEN_CLOSE_BRACKET);
    bool new_line = p->previous_end <= p->token.line && p->token.begin > p->stmt_begin;
    if (new_line && !closes && p->token.begin - p->token.line <= p->indent) break;
    if (leat_parser_at(p, LEAT_TOKEN_OPEN_BRACE)) {
      p->lexer.open = 0;
      parse_block(p, RETURN | YIELD | NEXT);
    } else {
      leat_parser_advance(p);
    }
  }
  p->lexer.open =
      leat_parser_at(p, LEAT_TOKEN_OPEN_PAREN) || leat_parser_at(p, LEAT_TOKEN_OPEN_BRACKET);
  p->panic = false;
}

static void parse_keyword(leat_parser *p, leat_stmt *s, const statement *known) {
  leat_token keyword = p->token;
  leat_parser_advance(p);
  if (known->needs && !(p->allowed & known->needs))
    leat_parser_error(p, leat_parser_span(p, keyword.begin), "`%s` stands %s",
                      leat_token_spelling(keyword.kind), places[known->needs]);
  known->parse(p, s);
}

static void parse_line(leat_parser *p) {
  p->stmt_begin = p->token.begin;
  p->indent = p->token.begin - p->token.line;
  const statement *known = &statements[p->token.kind];
  leat_stmt *s = new_stmt(p, known->kind);
  s->doc = read_doc(p);
  if (known->parse)
    parse_keyword(p, s, known);
  else if (leat_parser_at(p, LEAT_TOKEN_ELSE))
    leat_parser_fail(p, "a statement (an `else` stands on the line of the `}` before it)");
  else
    parse_simple(p, s);
  s->span = leat_parser_span(p, p->stmt_begin);
  if (!p->panic && !ends_line(p)) report_rest(p, s);
  if (p->panic)
    recover(p);
  else
    leat_vec_push(p->scratch, &p->stmts, s);
}

// -- Texts ----------------------------------------------------------------------------------------

static leat_stmts parse_text(leat_parser *p) {
  leat_stmts stmts = {0};
  leat_parser_advance(p);
  for (parse_lines(p); !leat_parser_at(p, LEAT_TOKEN_END); parse_lines(p)) {
    leat_parser_error(p, leat_parser_token_span(p), "this `}` closes nothing");
    p->panic = false;
    leat_parser_advance(p);
  }
  LEAT_TAKE(p, stmts, 0, &stmts);
  return stmts;
}

leat_ast_file *leat_parse(leat_arena *arena, leat_strings *strings, leat_diag *diag,
                          uint32_t source) {
  leat_ast_file *file = leat_new(arena, leat_ast_file);
  file->source = source;
  size_t size;
  const char *text = leat_diag_source_text(diag, source, &size);
  if (size > LARGEST_SOURCE) {
    leat_error_at(diag, (leat_span){.source = source}, "a text is at most %d MiB",
                  LARGEST_SOURCE >> 20);
    return file;
  }
  leat_parser parser = {.arena = arena,
                        .scratch = leat_arena_create(),
                        .strings = strings,
                        .diag = diag,
                        .source = source,
                        .allowed = DEFINITIONS};
  leat_lexer_init(&parser.lexer, text, 0, (uint32_t)size);
  file->stmts = parse_text(&parser);
  leat_arena_destroy(parser.scratch);
  return file;
}

bool leat_parse_is_incomplete(const char *text, size_t size) {
  if (size > LARGEST_SOURCE) return false;
  leat_lexer lexer;
  leat_lexer_init(&lexer, text, 0, (uint32_t)size);
  size_t braces = 0;
  for (;;) {
    leat_token token = leat_lexer_next(&lexer);
    if (token.kind == LEAT_TOKEN_END) return braces > 0 || lexer.open > 0;
    if (token.kind == LEAT_TOKEN_OPEN_BRACE) braces++;
    if (token.kind == LEAT_TOKEN_CLOSE_BRACE) braces -= braces > 0;
  }
}
