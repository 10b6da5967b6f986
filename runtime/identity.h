// What the ranks of a world must have been started with, as text: a line for each thing, its name,
// a tab, and this rank's value. Every rank sends its own to all others; where two differ, both ends
// say in what.
#ifndef LEAT_RUNTIME_IDENTITY_H
#define LEAT_RUNTIME_IDENTITY_H

#include <stdbool.h>
#include <stddef.h>

typedef struct leat_rank_identity {
  int rank;
  const char *text;
  size_t size;
} leat_rank_identity;

// Whether they are the same; else the first thing that differs, with both ranks and values, is
// written to `words`. `b` may hold anything.
bool leat_identity_same(const leat_rank_identity *a, const leat_rank_identity *b, char *words,
                        size_t words_size);

#endif
