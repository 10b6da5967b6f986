// How libFuzzer changes texts of the language, so that most of them still parse and reach what lies
// behind: pieces of a text (a word, a call, what brackets hold, a line) go, come again elsewhere,
// take another's place, or give way to a word that the language knows. A quarter of the changes are
// libFuzzer's own, of any bytes.
#include "tests/fuzz/fuzz.h"

#include "base/philox.h"
#include "frontend/syntax/lexer.h"
#include "ir/op.h"
#include "stdlib/stdlib.h"

#include <string.h>

enum { MOST_TOKENS = 256, MOST_PIECE = 1 << 12, MOST_CHANGES = 4 };

size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t most);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed);
size_t LLVMFuzzerCustomCrossOver(const uint8_t *data, size_t size, const uint8_t *other,
                                 size_t other_size, uint8_t *out, size_t most, unsigned seed);

typedef struct stream {
  uint32_t seed, drawn;
} stream;

static uint32_t below(stream *random, size_t bound) {
  uint32_t bits[4];
  leat_philox((uint32_t[]){random->drawn++, 0, 0, 0}, (uint32_t[]){random->seed, 0}, bits);
  return bound ? (uint32_t)(bits[0] % bound) : 0;
}

// -- Pieces of a text ----------------------------------------------------------------------------

typedef struct piece {
  size_t begin, end;
} piece;

typedef struct words {
  leat_token tokens[MOST_TOKENS];
  uint32_t count;
} words;

// What follows the beginning of any line. All but the last byte of the text, since the lexer may
// look at the one behind.
static void read_words(const uint8_t *text, size_t size, stream *random, words *out) {
  uint32_t end = size ? (uint32_t)size - 1 : 0, begin = below(random, end);
  leat_lexer lexer;
  while (begin > 0 && text[begin - 1] != '\n') begin--;
  leat_lexer_init(&lexer, (const char *)text, begin, end);
  for (out->count = 0; out->count < MOST_TOKENS; out->count++) {
    out->tokens[out->count] = leat_lexer_next(&lexer);
    if (out->tokens[out->count].kind == LEAT_TOKEN_END) return;
  }
}

static bool opens(leat_token_kind kind) {
  return kind == LEAT_TOKEN_OPEN_PAREN || kind == LEAT_TOKEN_OPEN_BRACKET ||
         kind == LEAT_TOKEN_OPEN_BRACE;
}

static bool closes(leat_token_kind kind) {
  return kind == LEAT_TOKEN_CLOSE_PAREN || kind == LEAT_TOKEN_CLOSE_BRACKET ||
         kind == LEAT_TOKEN_CLOSE_BRACE;
}

// The last token of what token `first` opens, or itself.
static uint32_t closing(const words *words, uint32_t first) {
  int depth = 0;
  for (uint32_t i = first; i < words->count; i++) {
    depth += opens(words->tokens[i].kind) - closes(words->tokens[i].kind);
    if (depth <= 0) return i;
  }
  return first;
}

// A piece: a token, with what it opens; a name with what is called or indexed; what is left of a
// line.
static piece any_piece(const words *words, size_t size, stream *random) {
  if (words->count == 0) return (piece){size, size};
  uint32_t first = below(random, words->count), last = closing(words, first);
  switch (below(random, 4)) {
  case 0:
    while (last + 1 < words->count && words->tokens[last].kind != LEAT_TOKEN_NEWLINE)
      last = closing(words, last + 1);
    break;
  case 1:
    if (last + 1 < words->count && opens(words->tokens[last + 1].kind))
      last = closing(words, last + 1);
    break;
  default: break;
  }
  return (piece){words->tokens[first].begin, words->tokens[last].end};
}

// -- Words of the language -----------------------------------------------------------------------

static const char *any_literal(stream *random) {
  static const char *const literals[] = {"0",
                                         "1",
                                         "2",
                                         "3",
                                         "-1",
                                         "7",
                                         "9223372036854775807",
                                         "0.5",
                                         "1e300",
                                         "1e-40",
                                         "2.0",
                                         "[]",
                                         "[0]",
                                         "[1, 2]",
                                         "\"\"",
                                         "\"a{0}\"",
                                         "\"ij,jk->ik\"",
                                         "f32[]",
                                         "f32[2, 3]",
                                         "i32[N]",
                                         "str[?]",
                                         "T[...D]",
                                         "[:, 1]",
                                         "[::-1]",
                                         "[None]",
                                         "[...]",
                                         "axis=",
                                         "axis=-1",
                                         "grad(",
                                         "\n}\n",
                                         "\n\n",
                                         "# c\n",
                                         "\n## d\n",
                                         "(# c\n",
                                         "[\n",
                                         "entry e() {\n",
                                         "fn f(x) {\n return x\n}\n"};
  return literals[below(random, sizeof literals / sizeof *literals)];
}

static const char *any_word(stream *random) {
  static const leat_token_kind first_spelled = LEAT_TOKEN_ANY_DIM + 1;
  const leat_op_info *op = leat_op_info_of((leat_op)below(random, LEAT_OP_COUNT));
  switch (below(random, 6)) {
  case 0:
    return leat_token_spelling(first_spelled + below(random, LEAT_TOKEN_COUNT - first_spelled));
  case 1: return leat_stdlib_index[below(random, leat_stdlib_index_count)].name;
  case 2: return leat_dtype_name((leat_dtype)below(random, LEAT_DTYPE_COUNT));
  case 3: return op->attr_count ? op->attrs[below(random, (size_t)op->attr_count)].name : op->name;
  case 4: return op->name;
  default: return any_literal(random);
  }
}

// -- Changes -------------------------------------------------------------------------------------

// Puts `from` in the place of `at`, apart from what stands beside it; as it was when there is no
// room.
static size_t splice(uint8_t *text, size_t size, size_t most, piece at, const void *from,
                     size_t length) {
  uint8_t copy[MOST_PIECE + 2]; // `from` may lie in the text
  size_t spaces = length > 0 ? 2 : 0, left = size - at.end;
  if (length > MOST_PIECE || at.begin + length + spaces + left > most) return size;
  memset(copy, ' ', sizeof copy);
  if (length > 0) memcpy(copy + 1, from, length);
  memmove(text + at.begin + length + spaces, text + at.end, left);
  memcpy(text + at.begin, copy, length + spaces);
  return at.begin + length + spaces + left;
}

static size_t change(uint8_t *text, size_t size, size_t most, const uint8_t *other,
                     size_t other_size, stream *random) {
  words found;
  read_words(text, size, random, &found);
  piece at = any_piece(&found, size, random);
  if (below(random, 3) == 0) at.end = at.begin; // what was there stays
  uint32_t way = below(random, 8);
  if (way == 0) return splice(text, size, most, at, NULL, 0);
  if (way < 4) {
    const char *word = any_word(random);
    return splice(text, size, most, at, word, strlen(word));
  }
  read_words(other, other_size, random, &found);
  piece from = any_piece(&found, other_size, random);
  return splice(text, size, most, at, other + from.begin, from.end - from.begin);
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed) {
  stream random = {.seed = seed};
  if (below(&random, 4) == 0) return LLVMFuzzerMutate(data, size, most);
  for (uint32_t left = 1 + below(&random, MOST_CHANGES); left > 0; left--)
    size = change(data, size, most, data, size, &random);
  return size;
}

size_t LLVMFuzzerCustomCrossOver(const uint8_t *data, size_t size, const uint8_t *other,
                                 size_t other_size, uint8_t *out, size_t most, unsigned seed) {
  stream random = {.seed = seed};
  if (size > most) size = most;
  memcpy(out, data, size);
  for (uint32_t left = 1 + below(&random, MOST_CHANGES); left > 0; left--)
    size = change(out, size, most, other, other_size, &random);
  return size;
}
