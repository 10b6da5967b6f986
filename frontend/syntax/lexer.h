// Text to tokens, one at a time. A token is a place in the text; nothing is copied, and an error is
// a token too: it is the parser that reports it, or skips it.
//
// A newline is a token outside brackets and white space inside ( and [. Comments are white space
// unless asked for; the `##` lines directly above a token are remembered with it.
#ifndef LEAT_FRONTEND_LEXER_H
#define LEAT_FRONTEND_LEXER_H

#include "base/name.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// X(id, spelling), as LEAT_KEYWORD_LIST. The longer of two that begin alike comes first.
#define LEAT_PUNCTUATION_LIST(X)                                                                   \
  X(ELLIPSIS, "...")                                                                               \
  X(RANGE, "..")                                                                                   \
  X(PIPE, "|>")                                                                                    \
  X(ARROW, "->")                                                                                   \
  X(ASSIGN, ":=")                                                                                  \
  X(UPDATE, "+=")                                                                                  \
  X(EQUAL_EQUAL, "==")                                                                             \
  X(NOT_EQUAL, "!=")                                                                               \
  X(LESS_EQUAL, "<=")                                                                              \
  X(GREATER_EQUAL, ">=")                                                                           \
  X(LESS, "<")                                                                                     \
  X(GREATER, ">")                                                                                  \
  X(EQUAL, "=")                                                                                    \
  X(PLUS, "+")                                                                                     \
  X(MINUS, "-")                                                                                    \
  X(STARS, "**")                                                                                   \
  X(STAR, "*")                                                                                     \
  X(SLASHES, "//")                                                                                 \
  X(SLASH, "/")                                                                                    \
  X(PERCENT, "%")                                                                                  \
  X(AT, "@")                                                                                       \
  X(COMMA, ",")                                                                                    \
  X(COLON, ":")                                                                                    \
  X(OPEN_PAREN, "(")                                                                               \
  X(CLOSE_PAREN, ")")                                                                              \
  X(OPEN_BRACKET, "[")                                                                             \
  X(CLOSE_BRACKET, "]")                                                                            \
  X(OPEN_BRACE, "{")                                                                               \
  X(CLOSE_BRACE, "}")

typedef enum leat_token_kind {
  LEAT_TOKEN_END,     // of the text
  LEAT_TOKEN_BAD,     // no token; leat_token.problem says why
  LEAT_TOKEN_NEWLINE, // outside brackets, and not behind an infix operator
  LEAT_TOKEN_COMMENT, // only when lexer.comments is set
  LEAT_TOKEN_NAME,    // h · `any text`
  LEAT_TOKEN_PATH,    // $train/net/h:1 · $`any text`:1
  LEAT_TOKEN_INT,     // 12 · 1_000 · 0xff
  LEAT_TOKEN_FLOAT,   // 1.5 · 1e-3 · 2.5j
  LEAT_TOKEN_STRING,  // with its quotes
  LEAT_TOKEN_ANY_DIM, // ? · ?3
#define X(id, spelling) LEAT_TOKEN_##id,
  LEAT_KEYWORD_LIST(X) LEAT_PUNCTUATION_LIST(X)
#undef X
      LEAT_TOKEN_COUNT
} leat_token_kind;

// "fn", "->"; NULL for the kinds that have no one spelling.
const char *leat_token_spelling(leat_token_kind kind);
bool leat_token_is_keyword(leat_token_kind kind);

// How tight operators bind, from loose to tight.
typedef enum leat_level {
  LEAT_LEVEL_NO_INFIX,
  LEAT_LEVEL_OR,
  LEAT_LEVEL_AND,
  LEAT_LEVEL_NOT,
  LEAT_LEVEL_COMPARISON,
  LEAT_LEVEL_PIPE,
  LEAT_LEVEL_SUM,
  LEAT_LEVEL_PRODUCT,
  LEAT_LEVEL_NEGATION,
  LEAT_LEVEL_MATMUL,
  LEAT_LEVEL_POWER,
  LEAT_LEVEL_POSTFIX,
} leat_level;

leat_level leat_token_level(leat_token_kind kind); // as an infix operator
// Whether it stands between two operands, so that a line which ends with it goes on.
bool leat_token_is_infix(leat_token_kind kind);
// Whether an operand may end with it: a name, a literal, `)`, `]`.
bool leat_token_ends_operand(leat_token_kind kind);

typedef struct leat_token {
  leat_token_kind kind;
  uint32_t begin, end; // bytes of the text
  uint32_t line;       // where its line begins
  const char *problem; // BAD: what is wrong, in words
} leat_token;

enum { LEAT_MAX_BLOCKS = 260 }; // more than nest in a text that parses

typedef struct leat_lexer {
  const char *text;
  uint32_t at, end;                      // what is left of it
  uint32_t line;                         // where the current line begins
  uint32_t open;                         // ( and [ not closed yet, in the innermost block
  uint32_t blocks;                       // { not closed yet
  uint16_t open_around[LEAT_MAX_BLOCKS]; // what `open` is around each of them
  leat_token_kind latest;                // the token before
  uint32_t doc_begin, doc_end; // the `##` lines directly above the latest token; equal: none
  bool comments;               // make tokens of comments
} leat_lexer;

// Reads bytes [begin, end) of `text`, which outlives the lexer and has a byte at text[end]; at most
// 4 GiB.
void leat_lexer_init(leat_lexer *lexer, const char *text, uint32_t begin, uint32_t end);
leat_token leat_lexer_next(leat_lexer *lexer); // END for ever when nothing is left

// What a NAME says, or a PATH without its `$` and port: bytes [*out_begin, *out_end) of the text.
void leat_token_name(const leat_lexer *lexer, leat_token token, uint32_t *out_begin,
                     uint32_t *out_end);

// The value of an INT or a FLOAT; false when it has more than 127 characters or does not fit its 64
// bits.
bool leat_token_int(const leat_lexer *lexer, leat_token token, uint64_t *out);
bool leat_token_float(const leat_lexer *lexer, leat_token token, double *out);
bool leat_token_is_imaginary(const leat_lexer *lexer, leat_token token); // a FLOAT with its `j`

#endif
