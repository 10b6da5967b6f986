// Tokens, blocks and lines: what the parser goes on with after an error, and whole texts.
//
// After an error the rest of the statement is skipped: to the end of its line, or of the last of
// the lines that go on in deeper indentation inside an open bracket. A block that opens on the way
// is read for its own errors.
#include "frontend/syntax/habits.h"
#include "frontend/syntax/parse.h"

#include "leat/dtype.h"

#include <stdarg.h>
#include <string.h>

// -- Tokens and errors ----------------------------------------------------------------------------

// What is made of a text is many times its size. Where it is too much the text ends.
static void stop_reading(leat_parser *p) {
  p->panic = false;
  leat_parser_error(p, leat_parser_token_span(p), "reading a text takes more than %zu GB of memory",
                    LEAT_MAX_TEXT_MEMORY >> 30);
  p->stopped = true;
}

void leat_parser_advance(leat_parser *p) {
  p->previous = p->token;
  p->token = leat_lexer_next(&p->lexer);
  size_t used = leat_arena_used(p->arena) + leat_arena_used(p->scratch);
  if (used > p->most_memory && !p->stopped) stop_reading(p);
  if (p->stopped) p->token.kind = LEAT_TOKEN_END;
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
  uint32_t end = p->previous.end > begin ? p->previous.end : begin;
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
  const char *text = p->lexer.text + token.begin;
  const char *keyword = leat_token_is_keyword(token.kind) ? "the keyword " : "";
  const char *quote = token.kind == LEAT_TOKEN_NAME && *text == LEAT_NAME_QUOTE ? "" : "`";
  uint32_t size = token.end - token.begin;
  return leat_arena_printf(p->scratch, "%s%s%.*s%s%s", keyword, quote, size > 40 ? 40 : (int)size,
                           text, size > 40 ? "…" : "", quote);
}

// Of `lambda x` the `lambda`: a word that means something elsewhere, with another or a
// colon behind it.
static const char *habit_before(const leat_parser *p) {
  leat_token before = p->previous;
  bool goes_on = leat_parser_at(p, LEAT_TOKEN_NAME) || leat_parser_at(p, LEAT_TOKEN_COLON) ||
                 leat_token_is_keyword(p->token.kind);
  if (before.kind != LEAT_TOKEN_NAME || !goes_on) return NULL;
  return leat_habit_word(p->lexer.text + before.begin, before.end - before.begin);
}

void leat_parser_fail(leat_parser *p, const char *expected) {
  leat_token token = p->token;
  const char *written = habit_before(p);
  if (written) {
    leat_parser_error(p, (leat_span){p->source, p->previous.begin, p->previous.end}, "%s", written);
    return;
  }
  bool keyword = leat_token_is_keyword(token.kind); // a name may be one of the user's
  const char *word = p->lexer.text + token.begin, *part = NULL;
  if (token.problem && *word == '.' && token.end == token.begin + 1)
    part = leat_habit_part(word, p->lexer.end - token.begin, p->scratch);
  if (part) token.problem = part;
  const char *habit = keyword ? leat_habit_word(word, token.end - token.begin) : NULL;
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

const char *leat_parser_intern_name(leat_parser *p, leat_token token) {
  uint32_t begin, end;
  leat_token_name(&p->lexer, token, &begin, &end);
  return leat_intern_n(p->strings, p->lexer.text + begin, end - begin);
}

void leat_parser_check_name(leat_parser *p, leat_span span, const char *name) {
  leat_dtype dtype;
  if (leat_dtype_parse(name, strlen(name), &dtype))
    leat_parser_error(p, span, "`%s` is the name of a dtype; choose another", name);
  else if (leat_is_blank(name))
    leat_parser_error(p, span, "%s", leat_habit_word(name, strlen(name)));
}

const char *leat_parse_name(leat_parser *p, const char *what) {
  leat_token token = p->token;
  if (!leat_parser_at(p, LEAT_TOKEN_NAME)) {
    leat_parser_fail(p, what);
    return "";
  }
  const char *name = leat_parser_intern_name(p, token);
  leat_parser_check_name(p, leat_parser_token_span(p), name);
  leat_parser_advance(p);
  return name;
}

bool leat_parser_ends_line(const leat_parser *p) {
  return leat_parser_at(p, LEAT_TOKEN_NEWLINE) || leat_parser_at(p, LEAT_TOKEN_CLOSE_BRACE) ||
         leat_parser_at(p, LEAT_TOKEN_END);
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

// A body has its results on its last line.
static void check_end(leat_parser *p, const leat_stmts *body) {
  for (uint32_t i = 0; i + 1 < body->count; i++) {
    leat_stmt_kind kind = body->items[i]->kind;
    if (kind == LEAT_STMT_YIELD || kind == LEAT_STMT_NEXT)
      leat_parser_error(p, body->items[i]->span, "`%s` is the last statement where it stands",
                        kind == LEAT_STMT_YIELD ? "yield" : "next");
  }
}

leat_stmts leat_parse_block(leat_parser *p, unsigned allowed) {
  leat_stmts body = {0};
  leat_token open = p->token;
  if (!leat_parser_accept(p, LEAT_TOKEN_OPEN_BRACE)) {
    leat_parser_fail(p, leat_parser_at(p, LEAT_TOKEN_NEWLINE) ? "`{` on this line"
                        : leat_parser_at(p, LEAT_TOKEN_COLON) ? "a block in braces, `{ … }`"
                                                              : "`{`");
    return body;
  }
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
  check_end(p, &body);
  p->panic = panic;
  p->allowed = outer;
  p->stmt_begin = stmt_begin;
  p->indent = indent;
  leat_parser_close(p, open, LEAT_TOKEN_CLOSE_BRACE, "`}`");
  leat_parser_leave(p);
  return body;
}

// -- Lines ----------------------------------------------------------------------------------------

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
  if (leat_parser_at(p, LEAT_TOKEN_IF) || leat_parser_at(p, LEAT_TOKEN_ANY_DIM)) {
    leat_parser_error(p, leat_parser_token_span(p), "%s`where(p, x, y)` chooses between two values",
                      leat_parser_at(p, LEAT_TOKEN_IF) ? "`if` begins a statement; " : "");
    return;
  }
  if (leat_parser_at(p, LEAT_TOKEN_ARROW)) {
    size_t size;
    leat_parser_error(p, leat_parser_token_span(p), "%s", leat_habit_sign("=>", 2, &size));
    return;
  }
  const char *near = first ? nearest_keyword(first->name, LEAT_TOKEN_GRAPH, LEAT_TOKEN_NEXT) : NULL;
  if (near) {
    leat_parser_error(p, first->span, "no statement begins with `%s`; did you mean `%s`?",
                      first->name, near);
    return;
  }
  if (leat_parser_at(p, LEAT_TOKEN_NAME)) {
    const char *name = leat_parser_intern_name(p, p->token);
    habit = p->previous.kind == LEAT_TOKEN_CLOSE_BRACE ? leat_habit_word(name, strlen(name)) : NULL;
    if (habit) { // } elif x {
      leat_parser_error(p, leat_parser_token_span(p), "%s", habit);
      return;
    }
    near = nearest_keyword(name, LEAT_TOKEN_COLOCATE, LEAT_TOKEN_ELSE);
    if (near) {
      leat_parser_error(p, leat_parser_token_span(p),
                        "expected the end of the line, found `%s`; did you mean `%s`?", name, near);
      return;
    }
  }
  const leat_token *before = &p->previous;
  bool prefix = leat_parser_at(p, LEAT_TOKEN_STRING) && before->kind == LEAT_TOKEN_NAME &&
                before->end == p->token.begin && before->end - before->begin <= 2;
  if (prefix) {
    leat_parser_error(p, leat_parser_token_span(p),
                      "nothing stands before a string's quotes: each has values in it, "
                      "`\"block{i}\"`, and `\\` before what is meant as it stands");
    return;
  }
  leat_token_kind kind = p->token.kind;
  bool argument = kind == LEAT_TOKEN_NAME || kind == LEAT_TOKEN_STRING || kind == LEAT_TOKEN_INT ||
                  kind == LEAT_TOKEN_FLOAT;
  bool call = first && s->values.items[0] == first && argument;
  const char *expected = "the end of the line";
  if (call)
    expected = leat_arena_printf(p->scratch, "%s, or the brackets of a call, `%s(…)`", expected,
                                 first->name);
  leat_parser_fail(p, expected);
}

// Skips the rest of a statement that had an error.
static void recover(leat_parser *p) {
  while (!leat_parser_at(p, LEAT_TOKEN_END) && !leat_parser_at(p, LEAT_TOKEN_NEWLINE)) {
    if (leat_parser_at(p, LEAT_TOKEN_CLOSE_BRACE) && p->depth > 0) break;
    bool closes =
        leat_parser_at(p, LEAT_TOKEN_CLOSE_PAREN) || leat_parser_at(p, LEAT_TOKEN_CLOSE_BRACKET);
    bool new_line = p->previous.end <= p->token.line && p->token.begin > p->stmt_begin;
    if (new_line && !closes && p->token.begin - p->token.line <= p->indent) break;
    if (leat_parser_at(p, LEAT_TOKEN_OPEN_BRACE)) {
      p->lexer.open = 0;
      leat_parse_block(p, LEAT_ALLOW_RETURN | LEAT_ALLOW_YIELD | LEAT_ALLOW_NEXT);
    } else {
      leat_parser_advance(p);
    }
  }
  p->lexer.open =
      leat_parser_at(p, LEAT_TOKEN_OPEN_PAREN) || leat_parser_at(p, LEAT_TOKEN_OPEN_BRACKET);
  p->panic = false;
}

static void parse_line(leat_parser *p) {
  p->stmt_begin = p->token.begin;
  p->indent = p->token.begin - p->token.line;
  const char *doc = read_doc(p);
  leat_stmt *s = leat_parse_stmt(p);
  s->doc = doc;
  if (!p->panic && !leat_parser_ends_line(p)) report_rest(p, s);
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
  if (size > LEAT_LARGEST_SOURCE) {
    leat_error_at(diag, (leat_span){.source = source}, "a text is at most %d MiB",
                  LEAT_LARGEST_SOURCE >> 20);
    return file;
  }
  leat_parser parser = {.arena = arena,
                        .scratch = leat_arena_create(),
                        .most_memory = leat_arena_used(arena) + LEAT_MAX_TEXT_MEMORY,
                        .strings = strings,
                        .diag = diag,
                        .source = source,
                        .allowed = LEAT_ALLOW_DEFINITIONS};
  leat_lexer_init(&parser.lexer, text, 0, (uint32_t)size);
  file->stmts = parse_text(&parser);
  leat_arena_destroy(parser.scratch);
  return file;
}

bool leat_parse_is_incomplete(const char *text, size_t size) {
  if (size > LEAT_LARGEST_SOURCE) return false;
  leat_lexer lexer;
  leat_lexer_init(&lexer, text, 0, (uint32_t)size);
  size_t braces = 0;
  for (leat_token last = {0};;) {
    leat_token token = leat_lexer_next(&lexer);
    if (token.kind == LEAT_TOKEN_END)
      return braces > 0 || lexer.open > 0 || lexer.doc_end > lexer.doc_begin ||
             leat_token_is_infix(last.kind);
    last = token;
    if (token.kind == LEAT_TOKEN_OPEN_BRACE) braces++;
    if (token.kind == LEAT_TOKEN_CLOSE_BRACE) braces -= braces > 0;
  }
}
