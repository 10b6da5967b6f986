// Line by line; a line that is missing, or no line at all, differs too.
#include "runtime/identity.h"

#include <stdio.h>
#include <string.h>

enum { MOST_SHOWN = 120 }; // bytes of a name or value

typedef struct piece {
  const char *text;
  int size;
} piece;

static piece piece_of(const char *text, size_t size) {
  return (piece){text, size < MOST_SHOWN ? (int)size : MOST_SHOWN};
}

typedef struct line {
  const char *text;
  size_t size;
  piece name, value;
} line;

static line take_line(leat_rank_identity *from) {
  const char *end = from->size ? memchr(from->text, '\n', from->size) : NULL;
  line l = {.text = from->text, .size = end ? (size_t)(end - from->text) : from->size};
  const char *tab = l.size ? memchr(l.text, '\t', l.size) : NULL;
  size_t name = tab ? (size_t)(tab - l.text) : 0, skipped = tab ? name + 1 : 0;
  l.name = piece_of(l.text, name);
  l.value = piece_of(l.text + skipped, l.size - skipped);
  from->text += l.size + !!end;
  from->size -= l.size + !!end;
  return l;
}

bool leat_identity_same(const leat_rank_identity *a, const leat_rank_identity *b, char *words,
                        size_t words_size) {
  leat_rank_identity left = *a, right = *b;
  while (left.size || right.size) {
    line mine = take_line(&left), theirs = take_line(&right);
    if (mine.size == theirs.size && !memcmp(mine.text, theirs.text, mine.size)) continue;
    piece name = mine.name.size ? mine.name : theirs.name;
    snprintf(words, words_size,
             "all ranks must be started with the same %.*s: rank %d has %.*s, rank %d has %.*s",
             name.size, name.text, a->rank, mine.value.size, mine.value.text, b->rank,
             theirs.value.size, theirs.value.text);
    return false;
  }
  return true;
}
