// positions: where the elements of a tensor are true.
#include "leat/artifact.h"

#include <string.h>

enum { STEP = 8 }; // elements that are looked at together

static bool none_of(const uint8_t *p) {
  uint64_t word;
  memcpy(&word, p, sizeof word);
  return word == 0;
}

// Arguments: out, p, then how many elements p has, and how many of them are true. Every place is
// written where the next true one belongs, and stays if it is: no branch to guess.
int32_t leat_library_positions(leat_call *call, const leat_arg *args, int64_t tile_begin,
                               int64_t tile_end) {
  int64_t *out = args[0].pointer, count = args[2].value, size = args[3].value, found = 0, i = 0;
  const uint8_t *p = args[1].pointer;
  if (tile_begin == tile_end) return LEAT_OK;
  for (; count - i >= STEP && size - found >= STEP; i += STEP) {
    if (none_of(p + i)) continue;
    for (int64_t j = i; j < i + STEP; j++) {
      out[found] = j;
      found += p[j] != 0;
    }
  }
  for (; i < count; i++) {
    if (!p[i]) continue;
    if (found < size) out[found] = i;
    found++;
  }
  if (found == size) return LEAT_OK;
  return leat_call_explain(call, LEAT_INVALID, "%lld elements are true, not %lld", (long long)found,
                           (long long)size);
}
