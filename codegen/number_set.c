// A set of height h has numbers of h bits: those that begin with 0 in one half, those that begin
// with 1 in the other, without that bit. The set of height 0 that is not empty is `leaf`.
#include "codegen/number_set.h"

struct leat_number_set {
  const leat_number_set *halves[2];
};

static const leat_number_set leaf;

void leat_number_sets_init(leat_number_sets *sets, leat_arena *arena, uint32_t end) {
  *sets = (leat_number_sets){.arena = arena};
  leat_bytes_map_init(&sets->known, arena);
  while (sets->height < 32 && end >> sets->height) sets->height++;
}

static const leat_number_set *make(leat_number_sets *sets, const leat_number_set *halves[2]) {
  leat_number_set *set = leat_bytes_map_get(&sets->known, halves, sizeof set->halves);
  if (set) return set;
  set = leat_new(sets->arena, leat_number_set);
  set->halves[0] = halves[0];
  set->halves[1] = halves[1];
  leat_bytes_map_set(&sets->known, halves, sizeof set->halves, set);
  return set;
}

const leat_number_set *leat_number_set_join(leat_number_sets *sets, const leat_number_set *a,
                                            const leat_number_set *b) {
  if (a == b || !b) return a;
  if (!a) return b;
  const leat_number_set *halves[2];
  for (int i = 0; i < 2; i++) halves[i] = leat_number_set_join(sets, a->halves[i], b->halves[i]);
  return make(sets, halves);
}

const leat_number_set *leat_number_set_add(leat_number_sets *sets, const leat_number_set *set,
                                           uint32_t number) {
  const leat_number_set *alone = &leaf;
  for (int bit = 0; bit < sets->height; bit++) {
    const leat_number_set *halves[2] = {0};
    halves[number >> bit & 1] = alone;
    alone = make(sets, halves);
  }
  return leat_number_set_join(sets, set, alone);
}
