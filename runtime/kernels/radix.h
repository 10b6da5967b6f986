// A template: the order of a row of keys. Whoever includes it defines KEY (an unsigned type), PAIR
// (the type of a key with its place), KEY_OF(pair), PLACE_OF(pair), MAKE_PAIR(key, place) and
// NAME(name), which makes the functions' names; all are undefined again at the end.
//
// A radix sort from the least significant digit up, so it is stable: all digits are counted in one
// walk, digits that all keys share are skipped, and each other one is one walk that puts the pairs
// where their digit begins. Short rows are sorted by insertion.

static int NAME(digit)(KEY key, int number, int width) {
  return (int)(key >> number * width & (KEY)((1 << width) - 1));
}

// Returns where the result is: `from` or `to`.
static PAIR *NAME(radix)(PAIR *from, PAIR *to, int64_t n, int width, uint32_t *counts) {
  const int buckets = 1 << width, digits = ((int)sizeof(KEY) * 8 + width - 1) / width;
  memset(counts, 0, (size_t)(digits * buckets) * sizeof *counts);
  for (int64_t i = 0; i < n; i++)
    for (int d = 0; d < digits; d++) counts[d * buckets + NAME(digit)(KEY_OF(from[i]), d, width)]++;
  for (int d = 0; d < digits; d++) {
    uint32_t *start = counts + d * buckets, sum = 0;
    bool shared = false;
    for (int b = 0; b < buckets; b++) {
      uint32_t count = start[b];
      shared |= count == n;
      start[b] = sum;
      sum += count;
    }
    if (shared) continue;
    for (int64_t i = 0; i < n; i++) to[start[NAME(digit)(KEY_OF(from[i]), d, width)]++] = from[i];
    PAIR *swap = from;
    from = to;
    to = swap;
  }
  return from;
}

static void NAME(insertion)(PAIR *x, int64_t n) {
  for (int64_t i = 1; i < n; i++) {
    PAIR pair = x[i];
    int64_t at = i;
    for (; at > 0 && KEY_OF(x[at - 1]) > KEY_OF(pair); at--) x[at] = x[at - 1];
    x[at] = pair;
  }
}

static PAIR *NAME(sort)(PAIR *from, PAIR *to, int64_t n) {
  enum { FEW = 48, MANY = 1 << 15, NARROW = 8, WIDE = 11 };
  uint32_t counts[(sizeof(KEY) * 8 + WIDE - 1) / WIDE << WIDE];
  if (n > MANY) return NAME(radix)(from, to, n, WIDE, counts);
  if (n > FEW) return NAME(radix)(from, to, n, NARROW, counts);
  NAME(insertion)(from, n);
  return from;
}

// A key that at least `wanted` of the n keys do not exceed, found among every so manyth of them:
// when these stand for all, about as many keys do not exceed it as were looked at. There is room
// for n pairs.
static KEY NAME(bound)(const KEY *keys, int64_t n, int64_t wanted, PAIR *room) {
  int64_t step = 1;
  while (wanted > 0 && (step + 1) * (step + 1) * wanted <= n) step++;
  if (step == 1) return (KEY)-1;
  int64_t count = n / step;
  for (int64_t i = 0; i < count; i++) room[i] = MAKE_PAIR(keys[i * step], i);
  return KEY_OF(NAME(sort)(room, room + count, count)[wanted - 1]);
}

// The places of the first `wanted` of n keys in their order; n is at most INT32_MAX. `room` is for
// 2 n pairs, in whose second half the keys are.
static uint32_t *NAME(order)(void *room, int64_t n, int64_t wanted) {
  PAIR *pairs = room, *other = pairs + n, *sorted;
  const KEY *keys = (const KEY *)other;
  const KEY bound = NAME(bound)(keys, n, wanted, pairs);
  int64_t count = 0;
  for (int64_t i = 0; i < n; i++)
    if (keys[i] <= bound) pairs[count++] = MAKE_PAIR(keys[i], i);
  sorted = NAME(sort)(pairs, other, count);
  uint32_t *places = (uint32_t *)(sorted == pairs ? other : pairs);
  for (int64_t i = 0; i < wanted; i++) places[i] = (uint32_t)PLACE_OF(sorted[i]);
  return places;
}

#undef KEY
#undef PAIR
#undef KEY_OF
#undef PLACE_OF
#undef MAKE_PAIR
#undef NAME
