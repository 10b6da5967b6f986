// A table of character classes, and one function for each kind of token.
#include "frontend/syntax/lexer.h"

#include "base/name.h"
#include "base/number.h"
#include "base/text.h"
#include "frontend/syntax/habits.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LONGEST_TOKEN = 1 << 20 };

enum { SPACE = 1, DIGIT = 2, HEX = 4, LETTER = 8, PATH = 16 };

static const unsigned char classes[256] = {
    [' '] = SPACE,
    ['\t'] = SPACE,
    ['\r'] = SPACE,
    ['0' ... '9'] = DIGIT | HEX | PATH,
    ['a' ... 'f'] = LETTER | HEX | PATH,
    ['g' ... 'z'] = LETTER | PATH,
    ['A' ... 'F'] = LETTER | HEX | PATH,
    ['G' ... 'Z'] = LETTER | PATH,
    ['_'] = LETTER | PATH,
    ['/'] = PATH,
    ['-'] = PATH,
    ['.'] = PATH,
    ['?'] = PATH,
};

typedef struct spelling {
  unsigned char size;
  const char *text;
} spelling;

#define X(id, text) [LEAT_TOKEN_##id] = {sizeof text - 1, text},
static const spelling spellings[LEAT_TOKEN_COUNT] = {LEAT_KEYWORD_LIST(X) LEAT_PUNCTUATION_LIST(X)};
#undef X

bool leat_token_is_keyword(leat_token_kind kind) {
  return kind >= LEAT_TOKEN_GRAPH && kind < LEAT_TOKEN_ELLIPSIS;
}

const char *leat_token_spelling(leat_token_kind kind) {
  return spellings[kind].text;
}

leat_level leat_token_level(leat_token_kind kind) {
  switch ((int)kind) {
  case LEAT_TOKEN_OR: return LEAT_LEVEL_OR;
  case LEAT_TOKEN_AND: return LEAT_LEVEL_AND;
  case LEAT_TOKEN_EQUAL_EQUAL:
  case LEAT_TOKEN_NOT_EQUAL:
  case LEAT_TOKEN_LESS:
  case LEAT_TOKEN_LESS_EQUAL:
  case LEAT_TOKEN_GREATER:
  case LEAT_TOKEN_GREATER_EQUAL: return LEAT_LEVEL_COMPARISON;
  case LEAT_TOKEN_PIPE: return LEAT_LEVEL_PIPE;
  case LEAT_TOKEN_PLUS:
  case LEAT_TOKEN_MINUS: return LEAT_LEVEL_SUM;
  case LEAT_TOKEN_STAR:
  case LEAT_TOKEN_SLASH:
  case LEAT_TOKEN_SLASHES:
  case LEAT_TOKEN_PERCENT: return LEAT_LEVEL_PRODUCT;
  case LEAT_TOKEN_AT: return LEAT_LEVEL_MATMUL;
  case LEAT_TOKEN_STARS: return LEAT_LEVEL_POWER;
  }
  return LEAT_LEVEL_NO_INFIX;
}

bool leat_token_is_infix(leat_token_kind kind) {
  return leat_token_level(kind) != LEAT_LEVEL_NO_INFIX;
}

bool leat_token_ends_operand(leat_token_kind kind) {
  switch ((int)kind) {
  case LEAT_TOKEN_NAME:
  case LEAT_TOKEN_PATH:
  case LEAT_TOKEN_INT:
  case LEAT_TOKEN_FLOAT:
  case LEAT_TOKEN_STRING:
  case LEAT_TOKEN_ANY_DIM:
  case LEAT_TOKEN_TRUE:
  case LEAT_TOKEN_FALSE:
  case LEAT_TOKEN_NONE:
  case LEAT_TOKEN_NAN:
  case LEAT_TOKEN_INF:
  case LEAT_TOKEN_NEW_AXIS:
  case LEAT_TOKEN_CLOSE_PAREN:
  case LEAT_TOKEN_CLOSE_BRACKET: return true;
  }
  return false;
}

void leat_lexer_init(leat_lexer *lexer, const char *text, uint32_t begin, uint32_t end) {
  *lexer = (leat_lexer){.text = text, .at = begin, .end = end, .line = begin};
}

// The next byte `ahead` of the current one; NUL past the end.
static unsigned char peek(const leat_lexer *lexer, uint32_t ahead) {
  return lexer->end - lexer->at > ahead ? (unsigned char)lexer->text[lexer->at + ahead] : 0;
}

static bool next_is(const leat_lexer *lexer, uint32_t ahead, int class) {
  return classes[peek(lexer, ahead)] & class;
}

static void skip(leat_lexer *lexer, int class) {
  while (next_is(lexer, 0, class)) lexer->at++;
}

static bool is_spelled(leat_token_kind kind, const char *word, uint32_t size) {
  return spellings[kind].size == size && spellings[kind].text[0] == word[0] &&
         memcmp(spellings[kind].text, word, size) == 0;
}

// Whether a suffix may begin here.
static bool behind_operand(const leat_lexer *lexer) {
  return leat_token_ends_operand(lexer->latest) || lexer->latest == LEAT_TOKEN_CLOSE_BRACE;
}

// Whether a letter of another alphabet than ours is next, as far as its code tells: what is none is
// among the symbols, or is a sign that habits.c knows.
static bool at_foreign_letter(const leat_lexer *lexer) {
  const unsigned char *at = (const unsigned char *)lexer->text + lexer->at;
  size_t length = leat_utf8_character((const char *)at, lexer->end - lexer->at), other;
  if (length < 2 || leat_habit_sign((const char *)at, length, &other)) return false;
  if (length == 2) return at[0] > 0xc2 || at[1] == 0xaa || at[1] == 0xb5 || at[1] == 0xba;
  bool symbols = at[0] == 0xe2 && at[1] < 0xba, marks = at[0] == 0xe3 && at[1] == 0x80;
  return length == 3 ? at[0] < 0xee && !symbols && !marks : at[0] == 0xf0 && at[1] >= 0xa0;
}

// The rest of a word that has such letters.
static const char *lex_foreign_word(leat_lexer *lexer) {
  for (; lexer->at < lexer->end; skip(lexer, LETTER | DIGIT)) {
    if (!at_foreign_letter(lexer)) break;
    lexer->at += (uint32_t)leat_utf8_character(lexer->text + lexer->at, lexer->end - lexer->at);
  }
  return "a name has the letters a to z and A to Z, digits and `_`; with any others it stands in "
         "backquotes, wherever it is used";
}

static leat_token_kind lex_word(leat_lexer *lexer) {
  const char *word = lexer->text + lexer->at;
  uint32_t begin = lexer->at;
  skip(lexer, LETTER | DIGIT);
  leat_token_kind kind = LEAT_TOKEN_GRAPH;
  while (leat_token_is_keyword(kind) && !is_spelled(kind, word, lexer->at - begin)) kind++;
  bool suffix = kind == LEAT_TOKEN_AFTER || kind == LEAT_TOKEN_COLOCATE;
  bool named = lexer->latest >= LEAT_TOKEN_GRAPH && lexer->latest <= LEAT_TOKEN_MUTEX;
  bool op = kind == LEAT_TOKEN_DIM && peek(lexer, 0) == '(' && !named; // dim(value=N), in dumps
  bool keyword = leat_token_is_keyword(kind) && (!suffix || behind_operand(lexer)) && !op;
  return keyword ? kind : LEAT_TOKEN_NAME;
}

// Digits, with single `_` between them; false when there is none or a `_` stands elsewhere.
static bool lex_digits(leat_lexer *lexer, int class) {
  do {
    if (!next_is(lexer, 0, class)) return false;
    skip(lexer, class);
  } while (peek(lexer, 0) == '_' && ++lexer->at);
  return true;
}

// 12 · 1_000 · 0xff · 1.5 · 1e-3 · 2.5j; not 1. (so that 0..12 is a range) and not .5.
static bool lex_number(leat_lexer *lexer, leat_token_kind *out_kind) {
  *out_kind = LEAT_TOKEN_INT;
  bool hex = peek(lexer, 0) == '0' && peek(lexer, 1) == 'x';
  if (hex) lexer->at += 2;
  if (!lex_digits(lexer, hex ? HEX : DIGIT)) return false;
  if (!hex && peek(lexer, 0) == '.' && peek(lexer, 1) != '.') {
    *out_kind = LEAT_TOKEN_FLOAT;
    lexer->at++;
    if (!lex_digits(lexer, DIGIT)) return false;
  }
  if (!hex && (peek(lexer, 0) | 0x20) == 'e') {
    *out_kind = LEAT_TOKEN_FLOAT;
    lexer->at += peek(lexer, 1) == '-' || peek(lexer, 1) == '+' ? 2 : 1;
    if (!lex_digits(lexer, DIGIT)) return false;
  }
  if (!hex && peek(lexer, 0) == 'j') {
    *out_kind = LEAT_TOKEN_FLOAT;
    lexer->at++;
  }
  return !next_is(lexer, 0, LETTER | DIGIT);
}

// `any text`; what is wrong with it, or NULL.
static const char *lex_quoted(leat_lexer *lexer) {
  uint32_t begin = ++lexer->at;
  while (lexer->at < lexer->end && lexer->text[lexer->at] != LEAT_NAME_QUOTE &&
         lexer->text[lexer->at] != '\n')
    lexer->at++;
  if (peek(lexer, 0) != LEAT_NAME_QUOTE) return "this name is not closed at the end of its line";
  return leat_name_problem(lexer->text + begin, lexer->at++ - begin);
}

// A port follows directly: `$a:1`, but `$a: f32[]`. What is wrong, or NULL.
static const char *lex_path(leat_lexer *lexer) {
  const char *problem = NULL;
  lexer->at++;
  if (peek(lexer, 0) == LEAT_NAME_QUOTE)
    problem = lex_quoted(lexer);
  else if (!next_is(lexer, 0, PATH))
    return "expected a path after `$`";
  else
    skip(lexer, PATH);
  if (!problem && peek(lexer, 0) == ':' && next_is(lexer, 1, DIGIT)) {
    lexer->at++;
    skip(lexer, DIGIT);
  }
  return problem;
}

// To the closing quote; no quote stands inside {…}, so the first one that is not escaped ends it.
static bool lex_string(leat_lexer *lexer) {
  lexer->at++;
  while (lexer->at < lexer->end && lexer->text[lexer->at] != '\n') {
    char c = lexer->text[lexer->at++];
    if (c == '"') return true;
    if (c == '\\' && lexer->at < lexer->end && lexer->text[lexer->at] != '\n') lexer->at++;
  }
  return false;
}

static bool lex_punctuation(leat_lexer *lexer, leat_token_kind *out_kind) {
  char c = lexer->text[lexer->at];
  for (leat_token_kind kind = LEAT_TOKEN_ELLIPSIS; kind < LEAT_TOKEN_COUNT; kind++) {
    uint32_t size = spellings[kind].size;
    if (spellings[kind].text[0] != c || lexer->end - lexer->at < size ||
        memcmp(spellings[kind].text, lexer->text + lexer->at, size) != 0)
      continue;
    lexer->at += size;
    *out_kind = kind;
    return true;
  }
  return false;
}

static void open_block(leat_lexer *lexer) {
  if (lexer->blocks < LEAT_MAX_BLOCKS) lexer->open_around[lexer->blocks] = (uint16_t)lexer->open;
  lexer->blocks++;
  lexer->open = 0;
}

static void close_block(leat_lexer *lexer) {
  if (!lexer->blocks) return;
  lexer->blocks--;
  lexer->open = lexer->blocks < LEAT_MAX_BLOCKS ? lexer->open_around[lexer->blocks] : 0;
}

// The lines of a block are lines, also of one that stands in brackets.
static void count_brackets(leat_lexer *lexer, leat_token_kind kind) {
  if (kind == LEAT_TOKEN_OPEN_BRACE) open_block(lexer);
  if (kind == LEAT_TOKEN_CLOSE_BRACE) close_block(lexer);
  if (kind == LEAT_TOKEN_OPEN_PAREN || kind == LEAT_TOKEN_OPEN_BRACKET) lexer->open++;
  if (kind == LEAT_TOKEN_CLOSE_PAREN || kind == LEAT_TOKEN_CLOSE_BRACKET)
    lexer->open -= lexer->open > 0;
}

// Leaves the lexer after a character that begins no token: all of it, when it has several bytes.
static void skip_character(leat_lexer *lexer) {
  do lexer->at++;
  while ((peek(lexer, 0) & 0xc0) == 0x80);
}

// A sign of another language.
static bool lex_habit(leat_lexer *lexer, leat_token *token) {
  size_t size;
  token->problem = leat_habit_sign(lexer->text + lexer->at, lexer->end - lexer->at, &size);
  lexer->at += (uint32_t)size;
  return token->problem;
}

// Whether a sign of another language begins here, and like one of ours: `**`, `-=`, a `//` that
// nothing stands before.
static bool at_longer_sign(const leat_lexer *lexer) {
  unsigned char c = peek(lexer, 0), next = peek(lexer, 1);
  if (!c || !next) return false;
  if (c == '/' && next == c) return !leat_token_ends_operand(lexer->latest);
  return (strchr("*<>+", c) && next == c) || (strchr("-*/", c) && next == '=') ||
         (c == '/' && next == '*') || (c == '=' && next == '>');
}

static void lex_significant(leat_lexer *lexer, leat_token *token) {
  unsigned char c = peek(lexer, 0);
  if (classes[c] & LETTER) {
    token->kind = lex_word(lexer);
    if (at_foreign_letter(lexer)) token->problem = lex_foreign_word(lexer);
  } else if (at_foreign_letter(lexer)) {
    token->problem = lex_foreign_word(lexer);
  } else if (classes[c] & DIGIT) {
    if (!lex_number(lexer, &token->kind)) {
      skip(lexer, LETTER | DIGIT);
      token->problem = "malformed number";
    }
  } else if (c == '$') {
    token->kind = LEAT_TOKEN_PATH;
    token->problem = lex_path(lexer);
  } else if (c == LEAT_NAME_QUOTE) {
    token->kind = LEAT_TOKEN_NAME;
    token->problem = lex_quoted(lexer);
  } else if (c == '"') {
    token->kind = LEAT_TOKEN_STRING;
    if (!lex_string(lexer)) token->problem = "this string is not closed at the end of its line";
  } else if (c == '?') {
    token->kind = LEAT_TOKEN_ANY_DIM;
    lexer->at++;
    skip(lexer, DIGIT);
  } else if (c == '.' && next_is(lexer, 1, DIGIT)) {
    lexer->at++;
    skip(lexer, LETTER | DIGIT);
    token->problem = "a number begins with a digit: write `0.5`, not `.5`";
  } else if (at_longer_sign(lexer) && lex_habit(lexer, token)) {
    return;
  } else if (lex_punctuation(lexer, &token->kind)) {
    count_brackets(lexer, token->kind);
  } else if (!lex_habit(lexer, token)) {
    skip_character(lexer);
    token->problem = "no statement has this character";
  }
}

// Skips the comment at lexer->at; a `##` line joins the lines of `##` directly above it.
static void skip_comment(leat_lexer *lexer, uint32_t *doc_begin, uint32_t *doc_end) {
  uint32_t begin = lexer->at;
  const char *newline = memchr(lexer->text + begin, '\n', lexer->end - begin);
  lexer->at = newline ? (uint32_t)(newline - lexer->text) : lexer->end;
  uint32_t first = lexer->line;
  while (classes[(unsigned char)lexer->text[first]] & SPACE) first++;
  if (first != begin || begin + 1 >= lexer->end || lexer->text[begin + 1] != '#') return;
  if (*doc_begin == *doc_end) *doc_begin = begin;
  *doc_end = lexer->at;
}

leat_token leat_lexer_next(leat_lexer *lexer) {
  // The latest token was a newline when lines of documentation are carried on over it.
  bool carried = lexer->at == lexer->line;
  uint32_t doc_begin = carried ? lexer->doc_begin : 0, doc_end = carried ? lexer->doc_end : 0;
  leat_token token = {.kind = LEAT_TOKEN_END};
  for (;;) {
    skip(lexer, SPACE);
    token.begin = lexer->at;
    token.line = lexer->line;
    if (lexer->at >= lexer->end) break;
    char c = lexer->text[lexer->at];
    if (c == '#') {
      skip_comment(lexer, &doc_begin, &doc_end);
      token.kind = LEAT_TOKEN_COMMENT;
      if (lexer->comments) break;
    } else if (c == '\n') {
      bool blank =
          doc_end <= lexer->line; // no documentation on this line: it belongs to nothing below
      if (blank) doc_begin = doc_end = 0;
      lexer->line = ++lexer->at;
      token.kind = LEAT_TOKEN_NEWLINE;
      if (lexer->open == 0 && !leat_token_is_infix(lexer->latest)) break;
    } else {
      lex_significant(lexer, &token);
      if (lexer->at - token.begin > LONGEST_TOKEN) token.problem = "this is longer than 1 MiB";
      if (token.problem) token.kind = LEAT_TOKEN_BAD;
      break;
    }
    token.kind = LEAT_TOKEN_END;
  }
  token.end = lexer->at;
  if (token.kind != LEAT_TOKEN_COMMENT) lexer->latest = token.kind;
  lexer->doc_begin = doc_begin;
  lexer->doc_end = doc_end;
  return token;
}

void leat_token_name(const leat_lexer *lexer, leat_token token, uint32_t *out_begin,
                     uint32_t *out_end) {
  const char *text = lexer->text;
  bool path = token.kind == LEAT_TOKEN_PATH;
  *out_begin = token.begin + path;
  bool quoted = text[*out_begin] == LEAT_NAME_QUOTE;
  *out_begin += quoted;
  char ends = quoted ? LEAT_NAME_QUOTE : ':';
  const char *end = memchr(text + *out_begin, ends, token.end - *out_begin);
  *out_end = end ? (uint32_t)(end - text) : token.end;
}

// The number without its `_`.
static leat_text plain_number(const leat_lexer *lexer, leat_token token) {
  const char *at = lexer->text + token.begin, *end = lexer->text + token.end;
  leat_text plain = {0};
  while (at < end) {
    const char *stop = at;
    while (stop < end && *stop != '_') stop++;
    leat_text_add_n(&plain, at, (size_t)(stop - at));
    at = stop + 1;
  }
  return plain;
}

bool leat_token_int(const leat_lexer *lexer, leat_token token, uint64_t *out) {
  leat_text digits = plain_number(lexer, token);
  errno = 0;
  *out = strtoull(digits.data, NULL, digits.data[1] == 'x' ? 16 : 10);
  leat_text_finish(&digits);
  return errno == 0;
}

bool leat_token_is_imaginary(const leat_lexer *lexer, leat_token token) {
  return token.kind == LEAT_TOKEN_FLOAT && lexer->text[token.end - 1] == 'j';
}

bool leat_token_float(const leat_lexer *lexer, leat_token token, double *out) {
  leat_text digits = plain_number(lexer, token);
  *out = leat_read_f64(digits.data, NULL);
  leat_text_finish(&digits);
  return isfinite(*out);
}
