// sort, argsort and top_k: the elements of a row become keys (order.h), whose order radix.h finds.
// What compares equal keeps its order, in both directions: for a falling order the keys are
// complemented. Strings, which no key orders, are merged.
#include "base/str.h"
#include "leat/artifact.h"
#include "runtime/kernels/order.h"
#include "runtime/kernels/rows.h"

#define KEY uint32_t
#define PAIR uint64_t
#define KEY_OF(pair) ((uint32_t)((pair) >> 32))
#define PLACE_OF(pair) ((uint32_t)(pair))
#define MAKE_PAIR(key, place) ((uint64_t)(key) << 32 | (uint64_t)(place))
#define NAME(name) name##_uint32_t
#include "runtime/kernels/radix.h"

typedef struct wide_pair {
  uint64_t key, place;
} wide_pair;

#define KEY uint64_t
#define PAIR wide_pair
#define KEY_OF(pair) ((pair).key)
#define PLACE_OF(pair) ((pair).place)
#define MAKE_PAIR(key, place) ((wide_pair){key, (uint64_t)(place)})
#define NAME(name) name##_uint64_t
#include "runtime/kernels/radix.h"

#define PAIR_SIZE_uint32_t sizeof(uint64_t)
#define PAIR_SIZE_uint64_t sizeof(wide_pair)

typedef struct row {
  leat_dtype dtype;
  const void *x; // n elements, `stride` apart
  int64_t n, stride, wanted;
  bool descending;
  void *room; // 16 bytes an element, of those of 8 bytes and more 32
} row;

// A string's first bytes as a number that orders it among those that begin otherwise.
static uint64_t beginning(leat_str x) {
  uint64_t key = 0;
  for (uint64_t i = 0; i < sizeof key; i++)
    key = key << 8 | (i < x.size ? (unsigned char)x.data[i] : 0);
  return key;
}

// Whether b comes before a, which is in front of it.
static bool is_behind(const row *r, wide_pair a, wide_pair b) {
  if (a.key != b.key) return r->descending ? a.key < b.key : a.key > b.key;
  const leat_str *x = r->x;
  int order = leat_str_compare(x[(int64_t)a.place * r->stride], x[(int64_t)b.place * r->stride]);
  return r->descending ? order < 0 : order > 0;
}

static void merge(const row *r, const wide_pair *from, wide_pair *to, int64_t half, int64_t n) {
  int64_t left = 0, right = half;
  for (int64_t i = 0; i < n; i++) {
    bool takes_right = left == half || (right < n && is_behind(r, from[left], from[right]));
    to[i] = from[takes_right ? right++ : left++];
  }
}

static const uint32_t *order_of_strings(const row *r) {
  wide_pair *pairs = r->room, *other = pairs + r->n;
  for (int64_t i = 0; i < r->n; i++)
    pairs[i] = (wide_pair){beginning(((const leat_str *)r->x)[i * r->stride]), (uint64_t)i};
  for (int64_t half = 1; half < r->n; half *= 2) {
    for (int64_t i = 0; i < r->n; i += 2 * half) {
      int64_t rest = r->n - i;
      merge(r, pairs + i, other + i, half < rest ? half : rest, 2 * half < rest ? 2 * half : rest);
    }
    wide_pair *swap = pairs;
    pairs = other;
    other = swap;
  }
  uint32_t *places = (uint32_t *)other;
  for (int64_t i = 0; i < r->wanted; i++) places[i] = (uint32_t)pairs[i].place;
  return places;
}

// The places of the first `wanted` elements.
static const uint32_t *order_of(const row *r) {
#define ORDER(ID, T, KEY, TO_KEY)                                                                  \
  case ID: {                                                                                       \
    const T *x = r->x;                                                                             \
    KEY mask = r->descending ? (KEY)-1 : 0;                                                        \
    KEY *keys = (KEY *)((char *)r->room + (size_t)r->n * PAIR_SIZE_##KEY);                         \
    for (int64_t i = 0; i < r->n; i++) {                                                           \
      T element = x[i * r->stride];                                                                \
      keys[i] = TO_KEY(element, T, KEY) ^ mask;                                                    \
    }                                                                                              \
    return order_##KEY(r->room, r->n, r->wanted);                                                  \
  }
  switch ((int)r->dtype) { LEAT_ORDERED_CASES(ORDER) }
#undef ORDER
  return order_of_strings(r);
}

// out[i] = x[places[i]]
static void pick(const row *r, const uint32_t *places, void *out) {
#define PICK(SIZE, T)                                                                              \
  case SIZE: {                                                                                     \
    const T *x = r->x;                                                                             \
    T *to = out;                                                                                   \
    for (int64_t i = 0; i < r->wanted; i++) to[i * r->stride] = x[places[i] * r->stride];          \
    break;                                                                                         \
  }
  switch (leat_dtype_size(r->dtype)) {
    PICK(1, uint8_t)
    PICK(2, uint16_t)
    PICK(4, uint32_t)
    PICK(8, uint64_t)
    PICK(sizeof(leat_str), leat_str)
  }
#undef PICK
}

// Of the tiles' rows the first `wanted` elements in their order, and their places; either may be
// NULL. scalars: dtype, rows, tiles, n, inner, descending, wanted.
static int32_t order_rows(leat_call *call, void *values, int32_t *places, const void *x, void *room,
                          const leat_arg *scalars, int64_t tile_begin, int64_t tile_end) {
  const leat_rows rows = {scalars[1].value, scalars[2].value, scalars[3].value, scalars[4].value};
  row r = {.dtype = (leat_dtype)scalars[0].value,
           .n = rows.n,
           .stride = rows.inner,
           .wanted = scalars[6].value,
           .descending = scalars[5].value != 0};
  size_t size = leat_dtype_size(r.dtype), pair = size >= 8 ? sizeof(wide_pair) : sizeof(uint64_t);
  if (r.wanted > r.n)
    return leat_call_explain(call, LEAT_OUT_OF_RANGE, "k is %lld, but the axis has %lld elements",
                             (long long)r.wanted, (long long)r.n);
  if (r.n > INT32_MAX)
    return leat_call_explain(call, LEAT_OUT_OF_RANGE,
                             "%lld elements are more than an i32 can count", (long long)r.n);
  r.room = (char *)room + (size_t)tile_begin * (size_t)r.n * 2 * pair;
  int64_t end = leat_rows_first(&rows, tile_end);
  for (int64_t i = leat_rows_first(&rows, tile_begin); i < end; i++) {
    r.x = (const char *)x + (size_t)leat_rows_start(&rows, i, r.n) * size;
    const uint32_t *order = order_of(&r);
    int64_t start = leat_rows_start(&rows, i, r.wanted);
    if (values) pick(&r, order, (char *)values + (size_t)start * size);
    for (int64_t k = 0; places && k < r.wanted; k++)
      places[start + k * r.stride] = (int32_t)order[k];
  }
  return LEAT_OK;
}

// Arguments: out, x, room, then the scalars of order_rows.
int32_t leat_library_sort(leat_call *call, const leat_arg *args, int64_t tile_begin,
                          int64_t tile_end) {
  return order_rows(call, args[0].pointer, NULL, args[1].pointer, args[2].pointer, args + 3,
                    tile_begin, tile_end);
}

// The same; out is i32.
int32_t leat_library_argsort(leat_call *call, const leat_arg *args, int64_t tile_begin,
                             int64_t tile_end) {
  return order_rows(call, NULL, args[0].pointer, args[1].pointer, args[2].pointer, args + 3,
                    tile_begin, tile_end);
}

// Arguments: values, indices, x, room, then the scalars of order_rows.
int32_t leat_library_top_k(leat_call *call, const leat_arg *args, int64_t tile_begin,
                           int64_t tile_end) {
  return order_rows(call, args[0].pointer, args[1].pointer, args[2].pointer, args[3].pointer,
                    args + 4, tile_begin, tile_end);
}
