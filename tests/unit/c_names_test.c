// Names of texts as identifiers of C.
#include "session/artifact/c_names.h"
#include "tests/unit/check.h"

TEST(names_are_spelled_once) {
  static const char *const cases[][2] = {
      {"x", "x"},
      {"input.1", "input_1"},
      {"input_1", "input_1_"},
      {"input-1", "input_1_2"},
      {"a/b:c", "a_b_c"},
      {"1x", "x_1x"},
      {"_x", "x_x"},
      {"é", "x_"},
      {"...", "x_2"},
      {"class", "class_"},
      {"class_", "class_2"},
      {"net/w.", "net_w"},
      {"a__b", "a_b"},
      {"", "x_3"},
      {"a b", "a_b_"},
  };
  leat_arena *arena = leat_arena_create();
  leat_c_scope scope;
  leat_c_scope_init(&scope, arena);
  leat_c_scope_take_keywords(&scope);
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    CHECK_EQ_STR(leat_c_name(&scope, cases[i][0]), cases[i][1]);
  leat_arena_destroy(arena);
}

TEST(keywords_are_taken_where_names_stand_alone) {
  leat_arena *arena = leat_arena_create();
  leat_c_scope scope;
  leat_c_scope_init(&scope, arena);
  leat_c_scope_take(&scope, "create");
  CHECK_EQ_STR(leat_c_name(&scope, "class"), "class");
  CHECK_EQ_STR(leat_c_name(&scope, "create"), "create_");
  leat_arena_destroy(arena);
}

CHECK_MAIN("c_names")
