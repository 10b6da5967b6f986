// codegen/number_set.h: equal sets are one pointer, whatever they were made of.
#include "codegen/number_set.h"
#include "tests/unit/check.h"

enum { COUNT = 200 };

static const leat_number_set *from(leat_number_sets *sets, uint32_t first, uint32_t step) {
  const leat_number_set *set = NULL;
  for (uint32_t i = first; i < COUNT; i += step) set = leat_number_set_add(sets, set, i);
  return set;
}

TEST(equal_sets_are_one_pointer) {
  leat_arena *arena = leat_arena_create();
  leat_number_sets sets;
  leat_number_sets_init(&sets, arena, COUNT);
  const leat_number_set *all = from(&sets, 0, 1), *even = from(&sets, 0, 2),
                        *odd = from(&sets, 1, 2);
  CHECK(even != odd && even != all && odd != all);
  CHECK(leat_number_set_join(&sets, even, odd) == all);
  CHECK(leat_number_set_join(&sets, odd, even) == all);
  CHECK(leat_number_set_join(&sets, all, odd) == all);
  CHECK(leat_number_set_join(&sets, NULL, odd) == odd);
  CHECK(leat_number_set_join(&sets, odd, NULL) == odd);
  CHECK(leat_number_set_add(&sets, odd, 7) == odd);
  CHECK(leat_number_set_add(&sets, odd, 8) != odd);
  const leat_number_set *backwards = NULL;
  for (uint32_t i = COUNT; i-- > 0;) backwards = leat_number_set_add(&sets, backwards, i);
  CHECK(backwards == all);
  leat_arena_destroy(arena);
}

TEST(a_chain_of_sets_shares_all_but_its_ends) {
  enum { LONG = 10000 };
  leat_arena *arena = leat_arena_create();
  leat_number_sets sets;
  leat_number_sets_init(&sets, arena, LONG);
  const leat_number_set *set = NULL;
  for (uint32_t i = 0; i < LONG; i++) set = leat_number_set_add(&sets, set, i);
  CHECK(sets.known.count < 30 * LONG);
  leat_arena_destroy(arena);
}

CHECK_MAIN("number_set")
