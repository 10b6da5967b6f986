// Strings: their escapes, and the expressions in braces.
#include "base/number.h"
#include "frontend/syntax/parse.h"

#include <string.h>

static leat_span span_of(const leat_parser *p, uint32_t begin, uint32_t end) {
  return (leat_span){.source = p->source, .begin = begin, .end = end};
}

// The byte that the escape at `*at` (after its backslash) stands for; moves *at behind it.
static char read_escape(leat_parser *p, uint32_t *at, uint32_t end) {
  static const char escapes[] = "\\\"ntr{}", bytes[] = "\\\"\n\t\r{}";
  const char *text = p->lexer.text;
  uint32_t begin = *at - 1;
  char c = text[(*at)++];
  const char *found = c ? strchr(escapes, c) : NULL;
  if (found) return bytes[found - escapes];
  if (c == 'x' && *at + 2 <= end) {
    int high = leat_hex_digit(text[*at]), low = leat_hex_digit(text[*at + 1]);
    *at += 2;
    if (high >= 0 && low >= 0) return (char)(high << 4 | low);
  }
  leat_parser_error(p, span_of(p, begin, *at), "unknown escape; known are %s and \\xHH",
                    "\\\\ \\\" \\n \\t \\r \\{ \\}");
  return 0;
}

// The text from *at to the next `{` or to `end`.
static leat_string_part read_text(leat_parser *p, uint32_t *at, uint32_t end) {
  const char *text = p->lexer.text;
  uint32_t stop = *at;
  while (stop < end && text[stop] != '{') stop += text[stop] == '\\' ? 2 : 1;
  char *bytes = leat_arena_alloc(p->arena, stop - *at + 1);
  leat_string_part part = {.text = bytes};
  while (*at < stop) {
    char c = text[(*at)++];
    if (c == '}')
      leat_parser_error(p, span_of(p, *at - 1, *at), "`}` without `{`; a brace itself is `\\}`");
    bytes[part.size++] = c == '\\' ? read_escape(p, at, stop) : c;
  }
  return part;
}

// `{expr}` at *at, read by a lexer of its own.
static leat_string_part read_interpolation(leat_parser *p, uint32_t *at, uint32_t end) {
  const char *text = p->lexer.text;
  uint32_t begin = *at + 1;
  const char *brace = memchr(text + begin, '}', end - begin);
  if (!brace) {
    leat_parser_error(p, span_of(p, *at, *at + 1), "`{` without `}`; a brace itself is `\\{`");
    *at = end;
    return (leat_string_part){.text = ""};
  }
  leat_lexer lexer = p->lexer;
  leat_token token = p->token;
  leat_token previous = p->previous;
  uint32_t close = (uint32_t)(brace - text);
  leat_lexer_init(&p->lexer, text, begin, close);
  leat_parser_advance(p);
  leat_string_part part = {.expr = leat_parse_expr(p)};
  if (!leat_parser_at(p, LEAT_TOKEN_END)) leat_parser_fail(p, "`}`");
  p->lexer = lexer;
  p->token = token;
  p->previous = previous;
  *at = close + 1;
  return part;
}

leat_expr *leat_parse_string(leat_parser *p) {
  leat_token token = p->token;
  if (!leat_parser_at(p, LEAT_TOKEN_STRING)) {
    leat_parser_fail(p, "a string");
    return leat_parser_new(p, LEAT_EXPR_NONE, token.begin);
  }
  uint32_t mark = p->parts.count, at = token.begin + 1, end = token.end - 1;
  do {
    bool braced = at < end && p->lexer.text[at] == '{';
    leat_string_part part = braced ? read_interpolation(p, &at, end) : read_text(p, &at, end);
    leat_vec_push(p->scratch, &p->parts, part);
  } while (at < end);
  leat_parser_advance(p);
  leat_expr *e = leat_parser_new(p, LEAT_EXPR_STRING, token.begin);
  e->part_count = p->parts.count - mark;
  e->parts = leat_arena_memdup(p->arena, p->parts.items + mark, e->part_count * sizeof *e->parts);
  p->parts.count = mark;
  for (uint32_t i = 0; i < e->part_count; i++) leat_parser_contain(p, e, e->parts[i].expr);
  return e;
}
