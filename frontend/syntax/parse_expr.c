// Expressions and types. Infix operators are read by precedence climbing over their levels; a type
// is an expression of the few forms that stand in the place of one.
#include "frontend/syntax/parse.h"

#include "leat/dtype.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

// Of infix operators; `|>` makes a call, not an operation.
static const leat_operator operators[LEAT_TOKEN_COUNT] = {
    [LEAT_TOKEN_OR] = LEAT_OPERATOR_OR,
    [LEAT_TOKEN_AND] = LEAT_OPERATOR_AND,
    [LEAT_TOKEN_EQUAL_EQUAL] = LEAT_OPERATOR_EQUAL,
    [LEAT_TOKEN_NOT_EQUAL] = LEAT_OPERATOR_NOT_EQUAL,
    [LEAT_TOKEN_LESS] = LEAT_OPERATOR_LESS,
    [LEAT_TOKEN_LESS_EQUAL] = LEAT_OPERATOR_LESS_EQUAL,
    [LEAT_TOKEN_GREATER] = LEAT_OPERATOR_GREATER,
    [LEAT_TOKEN_GREATER_EQUAL] = LEAT_OPERATOR_GREATER_EQUAL,
    [LEAT_TOKEN_PLUS] = LEAT_OPERATOR_ADD,
    [LEAT_TOKEN_MINUS] = LEAT_OPERATOR_SUB,
    [LEAT_TOKEN_STAR] = LEAT_OPERATOR_MUL,
    [LEAT_TOKEN_SLASH] = LEAT_OPERATOR_DIV,
    [LEAT_TOKEN_SLASHES] = LEAT_OPERATOR_FLOOR_DIV,
    [LEAT_TOKEN_PERCENT] = LEAT_OPERATOR_REMAINDER,
    [LEAT_TOKEN_AT] = LEAT_OPERATOR_MATMUL,
    [LEAT_TOKEN_STARS] = LEAT_OPERATOR_POW,
};

static leat_expr *parse_infix(leat_parser *p, leat_level loosest);

leat_expr *leat_parser_new(leat_parser *p, leat_expr_kind kind, uint32_t begin) {
  leat_expr *e = leat_new(p->arena, leat_expr);
  e->kind = kind;
  e->height = 1;
  e->span = leat_parser_span(p, begin);
  return e;
}

void leat_parser_contain(leat_parser *p, leat_expr *e, const leat_expr *part) {
  if (!part || part->height < e->height) return;
  e->height = part->height + 1;
  if (part->height >= LEAT_MAX_NESTING)
    leat_parser_error(p, e->span, "this expression nests deeper than %d; give a part of it a name",
                      LEAT_MAX_NESTING);
}

static void contain_all(leat_parser *p, leat_expr *e, leat_exprs parts) {
  for (uint32_t i = 0; i < parts.count; i++) leat_parser_contain(p, e, parts.items[i]);
}

// -- Literals -------------------------------------------------------------------------------------

static leat_expr *parse_number(leat_parser *p) {
  leat_token token = p->token;
  bool is_int = leat_parser_at(p, LEAT_TOKEN_INT);
  leat_parser_advance(p);
  leat_expr_kind kind = leat_token_is_imaginary(&p->lexer, token) ? LEAT_EXPR_IMAGINARY
                        : is_int                                  ? LEAT_EXPR_INT
                                                                  : LEAT_EXPR_FLOAT;
  leat_expr *e = leat_parser_new(p, kind, token.begin);
  bool fits = is_int ? leat_token_int(&p->lexer, token, &e->magnitude)
                     : leat_token_float(&p->lexer, token, &e->number);
  if (!fits)
    leat_parser_error(p, e->span, "this number is too large for %s",
                      is_int ? "64 bits" : "f64 (infinity is written `inf`)");
  return e;
}

static leat_expr *parse_constant(leat_parser *p, leat_expr_kind kind) {
  leat_token token = p->token;
  leat_parser_advance(p);
  leat_expr *e = leat_parser_new(p, kind, token.begin);
  if (kind == LEAT_EXPR_BOOL) e->truth = token.kind == LEAT_TOKEN_TRUE;
  if (kind == LEAT_EXPR_FLOAT) e->number = token.kind == LEAT_TOKEN_NAN ? NAN : INFINITY;
  return e;
}

static leat_expr *parse_name_expr(leat_parser *p) {
  leat_token token = p->token;
  leat_parser_advance(p);
  leat_expr *e = leat_parser_new(p, LEAT_EXPR_NAME, token.begin);
  e->name = leat_parser_intern_name(p, token);
  return e;
}

void leat_parse_path(leat_parser *p, const char **out_path, uint32_t *out_port) {
  leat_token token = p->token;
  uint32_t digits = token.end; // of the port
  while (isdigit((unsigned char)p->lexer.text[digits - 1])) digits--;
  bool has_port = digits < token.end && p->lexer.text[digits - 1] == ':';
  unsigned long port = 0;
  errno = 0;
  if (has_port) port = strtoul(p->lexer.text + digits, NULL, 10);
  if (errno || port > UINT16_MAX)
    leat_parser_error(p, leat_parser_token_span(p), "a port is at most %d", UINT16_MAX);
  *out_path = leat_parser_intern_name(p, token);
  *out_port = (uint32_t)port;
  leat_parser_advance(p);
}

static leat_expr *parse_path_expr(leat_parser *p) {
  uint32_t begin = p->token.begin, port;
  const char *path;
  leat_parse_path(p, &path, &port);
  leat_expr *e = leat_parser_new(p, LEAT_EXPR_PATH, begin);
  e->path = path;
  e->port = port;
  return e;
}

// -- Calls and indices ----------------------------------------------------------------------------

static leat_expr *parse_ellipsis(leat_parser *p) {
  uint32_t begin = p->token.begin;
  leat_parser_advance(p);
  return leat_parser_new(p, LEAT_EXPR_ELLIPSIS, begin);
}

// fn($x: f32[8]) { … yield $y }
static leat_expr *parse_body(leat_parser *p) {
  leat_expr *e = leat_parser_new(p, LEAT_EXPR_FN, p->token.begin);
  leat_parser_advance(p);
  e->body = leat_new(p->arena, leat_stmt);
  e->body->kind = LEAT_STMT_FN;
  e->body->params = leat_parse_body_params(p);
  e->body->body = leat_parse_block(p, LEAT_ALLOW_YIELD);
  e->body->span = e->span = leat_parser_span(p, e->span.begin);
  return e;
}

static void parse_arg(leat_parser *p) {
  uint32_t begin = p->token.begin;
  leat_argument arg = {0};
  if (leat_parser_at(p, LEAT_TOKEN_ELLIPSIS)) {
    arg.value = parse_ellipsis(p);
  } else {
    arg.value = leat_parse_expr(p);
    if (leat_parser_at(p, LEAT_TOKEN_EQUAL)) {
      if (arg.value->kind != LEAT_EXPR_NAME)
        leat_parser_error(p, arg.value->span, "expected the name of a parameter before `=`");
      else
        arg.key = arg.value->name;
      leat_parser_advance(p);
      arg.value = leat_parser_at(p, LEAT_TOKEN_FN) ? parse_body(p) : leat_parse_expr(p);
    }
  }
  arg.span = leat_parser_span(p, begin);
  leat_vec_push(p->scratch, &p->args, arg);
}

static leat_expr *parse_call(leat_parser *p, leat_expr *callee, uint32_t begin) {
  uint32_t mark = p->args.count;
  leat_parser_list(p, LEAT_TOKEN_OPEN_PAREN, LEAT_TOKEN_CLOSE_PAREN, parse_arg);
  leat_expr *e = leat_parser_new(p, LEAT_EXPR_CALL, begin);
  e->callee = callee;
  LEAT_TAKE(p, args, mark, &e->args);
  leat_parser_contain(p, e, callee);
  for (uint32_t i = 0; i < e->args.count; i++) leat_parser_contain(p, e, e->args.items[i].value);
  return e;
}

// `as` NAME or STRING, after a call: becomes part of it.
static void parse_as(leat_parser *p, leat_expr *call) {
  bool indexed = call->kind == LEAT_EXPR_INDEX && call->base->kind == LEAT_EXPR_CALL;
  if (call->kind != LEAT_EXPR_CALL || call->as)
    leat_parser_error(p, leat_parser_token_span(p), "%s",
                      call->kind == LEAT_EXPR_CALL ? "this call has a name already"
                      : indexed ? "`as` names a call, and stands right behind it: "
                                  "`f(x) as name[:, 0]`, not `f(x)[:, 0] as name`"
                                : "`as` names a call, and this is none");
  leat_parser_advance(p);
  leat_expr *name;
  if (leat_parser_at(p, LEAT_TOKEN_NAME)) {
    leat_expr *identifier = parse_name_expr(p);
    name = leat_parser_new(p, LEAT_EXPR_STRING, identifier->span.begin);
    name->part_count = 1;
    name->parts = leat_new(p->arena, leat_string_part);
    *name->parts = (leat_string_part){.text = identifier->name, .size = strlen(identifier->name)};
  } else if (leat_parser_at(p, LEAT_TOKEN_STRING)) {
    name = leat_parse_string(p);
  } else {
    leat_parser_fail(p, "a name or a string after `as`");
    return;
  }
  if (call->kind != LEAT_EXPR_CALL) return;
  call->as = name;
  call->span.end = p->previous.end;
  leat_parser_contain(p, call, name);
}

// x · a:b:c · : · ::2, after the first expression if there is one.
static leat_expr *parse_slice(leat_parser *p, uint32_t begin, leat_expr *first) {
  leat_expr *bounds[3] = {first};
  for (int i = 1; i < 3 && leat_parser_accept(p, LEAT_TOKEN_COLON); i++)
    if (!leat_parser_at(p, LEAT_TOKEN_COLON) && !leat_parser_at(p, LEAT_TOKEN_COMMA) &&
        !leat_parser_at(p, LEAT_TOKEN_CLOSE_BRACKET))
      bounds[i] = leat_parse_expr(p);
  leat_expr *e = leat_parser_new(p, LEAT_EXPR_SLICE, begin);
  e->begin = bounds[0];
  e->end = bounds[1];
  e->step = bounds[2];
  for (int i = 0; i < 3; i++) leat_parser_contain(p, e, bounds[i]);
  return e;
}

static leat_expr *parse_any_dim(leat_parser *p) {
  leat_token token = p->token;
  leat_parser_advance(p);
  leat_expr *e = leat_parser_new(p, LEAT_EXPR_ANY_DIM, token.begin);
  errno = 0;
  unsigned long number = 0;
  if (token.end > token.begin + 1) number = strtoul(p->lexer.text + token.begin + 1, NULL, 10);
  if (errno || number > UINT32_MAX)
    leat_parser_error(p, e->span, "the number of a `?` has at most 32 bits");
  e->number_of_dim = (uint32_t)number;
  return e;
}

// What stands between the commas of NAME[…].
static void parse_item(leat_parser *p) {
  uint32_t begin = p->token.begin;
  leat_expr *item;
  if (leat_parser_at(p, LEAT_TOKEN_ELLIPSIS)) {
    item = parse_ellipsis(p);
    if (leat_parser_at(p, LEAT_TOKEN_NAME)) {
      item->name = leat_parse_name(p, "the name of the dims");
      item->span.end = p->previous.end;
    }
  } else if (leat_parser_at(p, LEAT_TOKEN_NEW_AXIS)) {
    item = parse_constant(p, LEAT_EXPR_NEW_AXIS);
  } else {
    item = leat_parser_at(p, LEAT_TOKEN_COLON) ? NULL : leat_parse_expr(p);
    if (leat_parser_at(p, LEAT_TOKEN_COLON)) item = parse_slice(p, begin, item);
  }
  leat_vec_push(p->scratch, &p->exprs, item);
}

static leat_expr *parse_index(leat_parser *p, leat_expr *base, uint32_t begin) {
  uint32_t mark = p->exprs.count;
  leat_parser_list(p, LEAT_TOKEN_OPEN_BRACKET, LEAT_TOKEN_CLOSE_BRACKET, parse_item);
  leat_expr *e = leat_parser_new(p, LEAT_EXPR_INDEX, begin);
  e->base = base;
  LEAT_TAKE(p, exprs, mark, &e->items);
  leat_parser_contain(p, e, base);
  contain_all(p, e, e->items);
  return e;
}

// -- Expressions ----------------------------------------------------------------------------------

static void parse_element(leat_parser *p) {
  leat_expr *element = leat_parse_expr(p);
  leat_vec_push(p->scratch, &p->exprs, element);
}

leat_exprs leat_parse_list(leat_parser *p) {
  leat_exprs list = {0};
  uint32_t mark = p->exprs.count;
  leat_parser_list(p, LEAT_TOKEN_OPEN_BRACKET, LEAT_TOKEN_CLOSE_BRACKET, parse_element);
  LEAT_TAKE(p, exprs, mark, &list);
  return list;
}

static leat_expr *parse_list_expr(leat_parser *p) {
  uint32_t begin = p->token.begin;
  leat_exprs list = leat_parse_list(p);
  leat_expr *e = leat_parser_new(p, LEAT_EXPR_LIST, begin);
  e->list = list;
  contain_all(p, e, list);
  return e;
}

static leat_expr *parse_group(leat_parser *p) {
  leat_token open = p->token;
  if (!leat_parser_enter(p)) return leat_parser_new(p, LEAT_EXPR_NONE, open.begin);
  leat_parser_advance(p);
  leat_expr *e = leat_parse_expr(p);
  if (leat_parser_at(p, LEAT_TOKEN_COMMA))
    leat_parser_error(p, leat_parser_token_span(p),
                      "parentheses hold one expression; several values stand without, `next a, b`, "
                      "a list is written "
                      "[a, b], a tensor's type f32[2, 3]");
  leat_parser_close(p, open, LEAT_TOKEN_CLOSE_PAREN, "`)`");
  leat_parser_leave(p);
  return e;
}

static leat_expr *parse_primary(leat_parser *p) {
  switch ((int)p->token.kind) {
  case LEAT_TOKEN_AND: // where no operator can stand it is the op: and(a, b), as dumps write it
  case LEAT_TOKEN_OR:
  case LEAT_TOKEN_NAME: return parse_name_expr(p);
  case LEAT_TOKEN_PATH: return parse_path_expr(p);
  case LEAT_TOKEN_INT:
  case LEAT_TOKEN_FLOAT: return parse_number(p);
  case LEAT_TOKEN_STRING: return leat_parse_string(p);
  case LEAT_TOKEN_TRUE:
  case LEAT_TOKEN_FALSE: return parse_constant(p, LEAT_EXPR_BOOL);
  case LEAT_TOKEN_NONE: return parse_constant(p, LEAT_EXPR_NONE);
  case LEAT_TOKEN_NAN:
  case LEAT_TOKEN_INF: return parse_constant(p, LEAT_EXPR_FLOAT);
  case LEAT_TOKEN_ANY_DIM: return parse_any_dim(p);
  case LEAT_TOKEN_OPEN_BRACKET: return parse_list_expr(p);
  case LEAT_TOKEN_OPEN_PAREN: return parse_group(p);
  }
  leat_parser_fail(p, "an expression");
  return leat_parser_new(p, LEAT_EXPR_NONE, p->token.begin);
}

static leat_expr *parse_postfix(leat_parser *p) {
  uint32_t begin = p->token.begin;
  leat_expr *e = parse_primary(p);
  while (!p->panic) {
    if (leat_parser_at(p, LEAT_TOKEN_OPEN_PAREN))
      e = parse_call(p, e, begin);
    else if (leat_parser_at(p, LEAT_TOKEN_OPEN_BRACKET))
      e = parse_index(p, e, begin);
    else if (leat_parser_at(p, LEAT_TOKEN_AS))
      parse_as(p, e);
    else
      break;
  }
  return e;
}

// `-12` is a literal, so that the smallest integer can be written.
static leat_expr *negate(leat_parser *p, leat_expr *right, uint32_t begin) {
  bool literal = (right->kind == LEAT_EXPR_INT && !right->negative) ||
                 (right->kind == LEAT_EXPR_FLOAT && !signbit(right->number));
  if (literal) {
    right->span.begin = begin;
    if (right->kind == LEAT_EXPR_FLOAT) {
      right->number = -right->number;
    } else {
      right->negative = true;
      if (right->magnitude > (uint64_t)INT64_MAX + 1)
        leat_parser_error(p, right->span, "this number is too small for 64 bits");
    }
    return right;
  }
  leat_expr *e = leat_parser_new(p, LEAT_EXPR_UNARY, begin);
  e->operator= LEAT_OPERATOR_NEG;
  e->right = right;
  leat_parser_contain(p, e, right);
  return e;
}

// A prefix operator stands where an operand of its own level or a looser one may.
static leat_expr *parse_operand(leat_parser *p, leat_level loosest) {
  uint32_t begin = p->token.begin;
  bool is_not = leat_parser_at(p, LEAT_TOKEN_NOT) && loosest <= LEAT_LEVEL_NOT;
  if (!is_not && !leat_parser_at(p, LEAT_TOKEN_MINUS)) return parse_postfix(p);
  if (!leat_parser_enter(p)) return leat_parser_new(p, LEAT_EXPR_NONE, begin);
  leat_parser_advance(p);
  // After `@` a minus takes one factor only: x @ -w @ v is (x @ (-w)) @ v.
  leat_level operand = is_not                        ? LEAT_LEVEL_NOT
                       : loosest > LEAT_LEVEL_MATMUL ? LEAT_LEVEL_POWER
                                                     : LEAT_LEVEL_MATMUL;
  leat_expr *right = parse_infix(p, operand);
  leat_parser_leave(p);
  if (!is_not) return negate(p, right, begin);
  leat_expr *e = leat_parser_new(p, LEAT_EXPR_UNARY, begin);
  e->operator= LEAT_OPERATOR_NOT;
  e->right = right;
  leat_parser_contain(p, e, right);
  return e;
}

// x |> f(a) is f(x, a).
static leat_expr *pipe_into(leat_parser *p, leat_expr *first, leat_expr *call, uint32_t begin) {
  if (call->kind != LEAT_EXPR_CALL) {
    leat_parser_error(p, call->span, "expected a call after `|>`, such as `relu()`");
    return call;
  }
  leat_arguments args = {.count = call->args.count + 1};
  args.items = leat_new_array(p->arena, leat_argument, args.count);
  args.items[0] = (leat_argument){.span = first->span, .value = first};
  if (call->args.count)
    memcpy(args.items + 1, call->args.items, call->args.count * sizeof *args.items);
  call->args = args;
  call->span = leat_parser_span(p, begin);
  leat_parser_contain(p, call, first);
  return call;
}

static leat_expr *parse_infix(leat_parser *p, leat_level loosest) {
  uint32_t begin = p->token.begin;
  leat_expr *left = parse_operand(p, loosest);
  while (!p->panic) {
    leat_token_kind kind = p->token.kind;
    leat_level level = leat_token_level(kind);
    if (level == LEAT_LEVEL_NO_INFIX || level < loosest) break;
    leat_parser_advance(p);
    // A power of a power is of its right: x ** y ** z is x ** (y ** z).
    leat_expr *right = parse_infix(p, level == LEAT_LEVEL_POWER ? level : level + 1);
    if (level == LEAT_LEVEL_PIPE) {
      left = pipe_into(p, left, right, begin);
      continue;
    }
    leat_expr *e = leat_parser_new(p, LEAT_EXPR_BINARY, begin);
    e->operator= operators[kind];
    e->left = left;
    e->right = right;
    leat_parser_contain(p, e, left);
    leat_parser_contain(p, e, right);
    left = e;
    if (level == LEAT_LEVEL_COMPARISON && leat_token_level(p->token.kind) == level)
      leat_parser_error(p, leat_parser_token_span(p),
                        "comparisons do not chain; join two with `and`");
  }
  return left;
}

leat_expr *leat_parse_expr(leat_parser *p) {
  return parse_infix(p, LEAT_LEVEL_OR);
}

leat_exprs leat_parse_exprs(leat_parser *p) {
  leat_exprs list = {0};
  uint32_t mark = p->exprs.count;
  do parse_element(p);
  while (leat_parser_accept(p, LEAT_TOKEN_COMMA));
  LEAT_TAKE(p, exprs, mark, &list);
  return list;
}

leat_expr *leat_parse_range(leat_parser *p) {
  uint32_t begin = p->token.begin;
  leat_expr *first = leat_parse_expr(p);
  if (!leat_parser_accept(p, LEAT_TOKEN_RANGE)) return first;
  leat_expr *last = leat_parse_expr(p);
  leat_expr *e = leat_parser_new(p, LEAT_EXPR_RANGE, begin);
  e->begin = first;
  e->end = last;
  leat_parser_contain(p, e, first);
  leat_parser_contain(p, e, last);
  return e;
}

// -- Types ----------------------------------------------------------------------------------------

leat_expr *leat_parse_tensor_type(leat_parser *p) {
  uint32_t begin = p->token.begin;
  if (!leat_parser_at(p, LEAT_TOKEN_NAME)) {
    leat_parser_fail(p, "a type, such as `f32[N, 64]`");
    return leat_parser_new(p, LEAT_EXPR_NONE, begin);
  }
  leat_expr *name = parse_name_expr(p);
  return leat_parser_at(p, LEAT_TOKEN_OPEN_BRACKET) ? parse_index(p, name, begin) : name;
}

static void parse_element_type(leat_parser *p) {
  leat_expr *type = leat_parse_type(p);
  leat_vec_push(p->scratch, &p->exprs, type);
}

static leat_expr *parse_types(leat_parser *p, leat_token_kind open, leat_token_kind close) {
  uint32_t begin = p->token.begin, mark = p->exprs.count;
  leat_parser_list(p, open, close, parse_element_type);
  leat_expr *e = leat_parser_new(p, LEAT_EXPR_LIST, begin);
  LEAT_TAKE(p, exprs, mark, &e->list);
  contain_all(p, e, e->list);
  return e;
}

leat_expr *leat_parse_tuple_type(leat_parser *p) {
  return parse_types(p, LEAT_TOKEN_OPEN_PAREN, LEAT_TOKEN_CLOSE_PAREN);
}

static leat_expr *parse_list_type(leat_parser *p) {
  leat_expr *e = parse_types(p, LEAT_TOKEN_OPEN_BRACKET, LEAT_TOKEN_CLOSE_BRACKET);
  if (e->list.count != 1)
    leat_parser_error(p, e->span, "expected the type of the list's elements, such as `[int]`");
  return e;
}

leat_expr *leat_parse_type(leat_parser *p) {
  uint32_t begin = p->token.begin;
  switch ((int)p->token.kind) {
  case LEAT_TOKEN_OPEN_BRACKET: return parse_list_type(p);
  case LEAT_TOKEN_FN:
  case LEAT_TOKEN_QUEUE:
  case LEAT_TOKEN_MUTEX: return parse_name_expr(p);
  case LEAT_TOKEN_VAR: {
    leat_parser_advance(p);
    leat_expr *of = leat_parser_at(p, LEAT_TOKEN_NAME) ? leat_parse_tensor_type(p) : NULL;
    leat_expr *e = leat_parser_new(p, LEAT_EXPR_VAR_TYPE, begin);
    e->of = of;
    leat_parser_contain(p, e, of);
    return e;
  }
  }
  return leat_parse_tensor_type(p);
}
