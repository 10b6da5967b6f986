// The parser and the formatter on any text; what was formatted formats to itself, and says the
// same: the same tokens, in the same statements, with the same comments and documentation.
#include "tests/fuzz/fuzz.h"

#include "frontend/format.h"
#include "frontend/lexer.h"
#include "frontend/parser.h"

#include <stdlib.h>
#include <string.h>

// The next token; of several newlines, between which nothing stands but comments, the first.
static leat_token next_token(leat_lexer *lexer, bool *newline) {
  leat_token token;
  do {
    token = leat_lexer_next(lexer);
  } while (token.kind == LEAT_TOKEN_NEWLINE && *newline);
  if (token.kind != LEAT_TOKEN_COMMENT) *newline = token.kind == LEAT_TOKEN_NEWLINE;
  return token;
}

// The bytes of a token; of a comment the words, for the space in front of them may change.
static size_t words_of(const leat_lexer *lexer, leat_token token, const char **words) {
  const char *end = lexer->text + token.end;
  *words = lexer->text + token.begin;
  if (token.kind == LEAT_TOKEN_COMMENT) {
    while (*words < end && strchr("# \t", **words)) ++*words;
    while (end > *words && strchr(" \t\r", end[-1])) end--;
  }
  return (size_t)(end - *words);
}

static bool same_token(const leat_lexer *x, leat_token a, const leat_lexer *y, leat_token b) {
  uint64_t i, j;
  double f, g;
  const char *s, *t;
  if (a.kind != b.kind || (x->doc_end > x->doc_begin) != (y->doc_end > y->doc_begin)) return false;
  if (a.kind == LEAT_TOKEN_NEWLINE || a.kind == LEAT_TOKEN_END) return true;
  if (a.kind == LEAT_TOKEN_INT && leat_token_int(x, a, &i))
    return leat_token_int(y, b, &j) && i == j;
  if (a.kind == LEAT_TOKEN_FLOAT && leat_token_float(x, a, &f))
    return leat_token_float(y, b, &g) && memcmp(&f, &g, sizeof f) == 0 &&
           leat_token_is_imaginary(x, a) == leat_token_is_imaginary(y, b);
  size_t size = words_of(x, a, &s);
  return words_of(y, b, &t) == size && memcmp(s, t, size) == 0;
}

static bool say_the_same(const char *text, size_t size, const leat_text *formatted) {
  leat_lexer x, y;
  leat_token a, b;
  bool newline_of_a = true, newline_of_b = true;
  leat_lexer_init(&x, text, 0, (uint32_t)size);
  leat_lexer_init(&y, formatted->data, 0, (uint32_t)formatted->size);
  x.comments = y.comments = true;
  do {
    a = next_token(&x, &newline_of_a);
    b = next_token(&y, &newline_of_b);
    if (!same_token(&x, a, &y, b)) return false;
  } while (a.kind != LEAT_TOKEN_END);
  return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  leat_arena *arena = leat_arena_create();
  leat_diag *diag = leat_diag_create(arena);
  leat_text once = {0}, twice = {0}, messages = {0};
  leat_parse_is_incomplete(size ? (const char *)data : "", size);
  uint32_t source = leat_diag_add_source(diag, "input", size ? (const char *)data : "", size);
  const char *text = leat_diag_source_text(diag, source, &size);
  if (leat_format(diag, source, &once) && once.data) {
    uint32_t again = leat_diag_add_source(diag, "formatted", once.data, once.size);
    if (!leat_format(diag, again, &twice) || strcmp(once.data, twice.data) != 0) abort();
    if (!say_the_same(text, size, &once)) abort();
  }
  leat_diag_print(diag, &messages);
  leat_text_finish(&once);
  leat_text_finish(&twice);
  leat_text_finish(&messages);
  leat_arena_destroy(arena);
  return 0;
}
