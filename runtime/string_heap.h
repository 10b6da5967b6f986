// Memory of the strings that a step makes. The step has a heap, and each of its loops one for what
// an iteration makes, of which only what the loop carries outlives it (leat_frame_goes_on).
#ifndef LEAT_RUNTIME_STRING_HEAP_H
#define LEAT_RUNTIME_STRING_HEAP_H

#include "leat/artifact.h"

#include <pthread.h>

typedef struct leat_string_heap_block leat_string_heap_block;

struct leat_string_heap {
  pthread_mutex_t lock;           // of what follows
  leat_string_heap_block *blocks; // a list
  uint64_t bytes;                 // of all of them
  uint64_t enough;                // of them, to look whether they are still needed; set by who does
};

void leat_string_heap_init(leat_string_heap *heap);
void leat_string_heap_finish(leat_string_heap *heap);
void leat_string_heap_clear(leat_string_heap *heap); // nobody needs what is in it
// out[i] = x[i], with its bytes in the heap. out may be x; without memory it stays as it was.
LEAT_MUST_USE leat_status leat_string_heap_keep(leat_string_heap *heap, leat_str *out,
                                                const leat_str *x, int64_t count);
// What is in `from`, which nobody else uses now, is in `to` then.
void leat_string_heap_move(leat_string_heap *from, leat_string_heap *to);

#endif
