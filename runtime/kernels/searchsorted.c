// searchsorted: where each of some values belongs in a sorted row.
#include "base/str.h"
#include "leat/artifact.h"
#include "runtime/kernels/order.h"

// The first place whose element is not below the key, or, for the right side, above it. Each turn
// halves what is left without a branch, so that the loads of several values overlap.
#define DEFINE_SEARCH(ID, T, KEY, TO_KEY)                                                          \
  static void search_##ID(const void *sorted, int64_t n, const void *values, int32_t *out,         \
                          int64_t begin, int64_t end, bool right) {                                \
    for (int64_t i = begin; i < end; i++) {                                                        \
      T value = ((const T *)values)[i];                                                            \
      KEY key = TO_KEY(value, T, KEY);                                                             \
      const T *low = sorted;                                                                       \
      for (int64_t left = n; left > 0;) {                                                          \
        int64_t half = (left + 1) / 2;                                                             \
        T element = low[half - 1];                                                                 \
        KEY other = TO_KEY(element, T, KEY);                                                       \
        bool goes_on = other < key || (right && other == key);                                     \
        low += goes_on ? half : 0;                                                                 \
        left = goes_on ? left - half : half - 1;                                                   \
      }                                                                                            \
      out[i] = (int32_t)(low - (const T *)sorted);                                                 \
    }                                                                                              \
  }
LEAT_ORDERED_CASES(DEFINE_SEARCH)

static void search_strings(const leat_str *sorted, int64_t n, const leat_str *values, int32_t *out,
                           int64_t begin, int64_t end, bool right) {
  for (int64_t i = begin; i < end; i++) {
    int64_t low = 0;
    for (int64_t left = n; left > 0;) {
      int64_t half = (left + 1) / 2;
      bool goes_on = leat_str_compare(sorted[low + half - 1], values[i]) < (right ? 1 : 0);
      low += goes_on ? half : 0;
      left = goes_on ? left - half : half - 1;
    }
    out[i] = (int32_t)low;
  }
}

// Arguments: out, sorted, values, then dtype, n, how many values, values a tile, right.
int32_t leat_library_searchsorted(leat_call *call, const leat_arg *args, int64_t tile_begin,
                                  int64_t tile_end) {
  int64_t n = args[4].value, count = args[5].value, each = args[6].value;
  int64_t begin = tile_begin * each, end = tile_end * each < count ? tile_end * each : count;
  bool right = args[7].value != 0;
#define SEARCH(ID, T, KEY, TO_KEY)                                                                 \
  case ID:                                                                                         \
    search_##ID(args[1].pointer, n, args[2].pointer, args[0].pointer, begin, end, right);          \
    break;
  switch ((int)args[3].value) {
    LEAT_ORDERED_CASES(SEARCH)
  case LEAT_str:
    search_strings(args[1].pointer, n, args[2].pointer, args[0].pointer, begin, end, right);
  }
#undef SEARCH
  if (n <= INT32_MAX) return LEAT_OK;
  return leat_call_explain(call, LEAT_OUT_OF_RANGE, "%lld elements are more than an i32 can count",
                           (long long)n);
}
