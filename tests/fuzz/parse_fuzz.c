// The parser and the formatter on any text; what was formatted formats to itself, and says the
// same: the same tokens, in the same statements, with the same comments and documentation.
#include "tests/fuzz/fuzz.h"

#include "frontend/syntax/format.h"
#include "frontend/syntax/lexer.h"
#include "frontend/syntax/parser.h"

#include <stdlib.h>
#include <string.h>

typedef struct reader {
  leat_lexer lexer;
  leat_token token;
  bool begins; // a statement: newlines stand in front, and comments perhaps
} reader;

static void next_token(reader *r) {
  r->begins = r->begins && r->token.kind == LEAT_TOKEN_COMMENT;
  for (;;) {
    r->token = leat_lexer_next(&r->lexer);
    if (r->token.kind != LEAT_TOKEN_NEWLINE) return;
    r->begins = true;
  }
}

// The bytes of a token; of a comment the words, for the space in front of them may change.
static size_t words_of(const reader *r, const char **words) {
  const char *end = r->lexer.text + r->token.end;
  *words = r->lexer.text + r->token.begin;
  if (r->token.kind == LEAT_TOKEN_COMMENT) {
    while (*words < end && strchr("# \t", **words)) ++*words;
    while (end > *words && strchr(" \t\r", end[-1])) end--;
  }
  return (size_t)(end - *words);
}

static bool same_number(const reader *a, const reader *b) {
  uint64_t i, j;
  double x, y;
  if (a->token.kind == LEAT_TOKEN_INT)
    return leat_token_int(&a->lexer, a->token, &i) && leat_token_int(&b->lexer, b->token, &j) &&
           i == j;
  return leat_token_float(&a->lexer, a->token, &x) && leat_token_float(&b->lexer, b->token, &y) &&
         x == y &&
         leat_token_is_imaginary(&a->lexer, a->token) ==
             leat_token_is_imaginary(&b->lexer, b->token);
}

// A name, or a path with its port: quotes that a word has may go.
static bool same_name(const reader *a, const reader *b) {
  uint32_t a_begin, a_end, b_begin, b_end;
  leat_token_name(&a->lexer, a->token, &a_begin, &a_end);
  leat_token_name(&b->lexer, b->token, &b_begin, &b_end);
  const char *x = a->lexer.text, *y = b->lexer.text;
  uint32_t size = a_end - a_begin;
  if (b_end - b_begin != size || memcmp(x + a_begin, y + b_begin, size) != 0) return false;
  a_end += a_end < a->token.end && x[a_end] == '`';
  b_end += b_end < b->token.end && y[b_end] == '`';
  size = a->token.end - a_end;
  return b->token.end - b_end == size && memcmp(x + a_end, y + b_end, size) == 0;
}

static bool same_token(const reader *a, const reader *b) {
  leat_token_kind kind = a->token.kind;
  const char *x, *y;
  if (b->token.kind != kind) return false;
  if (kind == LEAT_TOKEN_END) return true;
  bool documented = a->lexer.doc_end > a->lexer.doc_begin;
  if (kind != LEAT_TOKEN_COMMENT && a->begins != b->begins) return false;
  if (documented != (b->lexer.doc_end > b->lexer.doc_begin)) return false;
  if (kind == LEAT_TOKEN_NAME || kind == LEAT_TOKEN_PATH) return same_name(a, b);
  size_t size = words_of(a, &x);
  if (words_of(b, &y) == size && memcmp(x, y, size) == 0) return true;
  return (kind == LEAT_TOKEN_INT || kind == LEAT_TOKEN_FLOAT) && same_number(a, b);
}

static bool say_the_same(const char *text, size_t size, const leat_text *formatted) {
  reader a = {.begins = true}, b = {.begins = true};
  leat_lexer_init(&a.lexer, text, 0, (uint32_t)size);
  leat_lexer_init(&b.lexer, formatted->data, 0, (uint32_t)formatted->size);
  a.lexer.comments = b.lexer.comments = true;
  a.token.kind = b.token.kind = LEAT_TOKEN_COMMENT; // nothing stands in front of the first
  do {
    next_token(&a);
    next_token(&b);
    if (!same_token(&a, &b)) return false;
  } while (a.token.kind != LEAT_TOKEN_END);
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
