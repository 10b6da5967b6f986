// Contractions of every remainder: the columns, rows and depths here leave each number of whole and
// part vectors, panels, blocks and tiles (codegen/contract_shape.c chooses them from the sizes), so
// that cpu and c give what ref does whatever is left over. $LEAT_TEST_SEED draws which sizes meet.
#include "tests/sweep/programs.h"
#include "tests/unit/check.h"

#include <stdlib.h>

enum { SEED = 5, FEW_ROWS = 4, ROUNDS = 12 };

static const test_way ways[] = {
    {.name = "ref", .options = {.target = "ref", .symbolic = true}},
    {.name = "cpu", .options = {.target = "cpu", .symbolic = true}},
    {.name = "c", .options = {.target = "c", .symbolic = true}},
};

static const int64_t columns[] = {1,  2,  15, 16, 17, 31, 32,  33,  47,  48,  49,  63,
                                  64, 65, 79, 80, 81, 96, 100, 112, 113, 127, 129, 144};
static const int64_t wide_columns[] = {80, 112, 160, 208, 272, 304, 320, 336};
static const int64_t rows[] = {5, 6, 7, 8, 9, 11, 12, 13, 14, 15, 16, 17, 20, 27, 29, 48, 80, 112};
static const int64_t depths[] = {1, 2, 8, 15, 16, 17, 31, 48, 80, 112, 129};
static const int64_t deep[] = {1025, 1040, 1535, 1536, 1537, 2049}; // summed in blocks
static const leat_dtype dtypes[] = {LEAT_f64, LEAT_i8, LEAT_i32, LEAT_f16, LEAT_u64, LEAT_c64};

#define COUNT(array) ((int64_t)(sizeof(array) / sizeof *(array)))
#define TURN(array, i) (array)[(i) % COUNT(array)]

// y = a @ b of [rows, depth] and [depth, columns].
static void add(program *p, leat_dtype dtype, test_dim row, test_dim depth, test_dim column) {
  test_dim a[] = {row, depth}, b[] = {depth, column};
  test_value x = program_input(p, dtype, 2, a, FILL_PLAIN, dim_const(0));
  test_value y = program_input(p, dtype, 2, b, FILL_PLAIN, dim_const(0));
  test_value out = {.match = MATCH_VALUES};
  leat_text label = {0};
  snprintf(out.name, sizeof out.name, "y%u", p->results.count);
  leat_text_add(&p->body, "  %s = %s @ %s\n", out.name, x.name, y.name);
  test_type_print(&x, &label);
  leat_text_add(&label, " @ ");
  test_type_print(&y, &label);
  out.label = leat_arena_strndup(p->arena, label.data, label.size);
  leat_text_finish(&label);
  program_fetch(p, &out);
}

static void add_sizes(program *p, leat_dtype dtype, int64_t row, int64_t depth, int64_t column) {
  add(p, dtype, dim_const(row), dim_const(depth), dim_const(column));
}

static void check_agrees(program *p, int way_count) {
  leat_text why = {0};
  if (program_agrees(p, ways, way_count, 1, &why, NULL))
    CHECK_FAILED("%s\n%s", why.data, program_text(p, false));
  leat_text_finish(&why);
  program_finish(p);
}

TEST(columns_that_leave_each_remainder) {
  program p;
  program_init(&p, SEED);
  int64_t turn = (int64_t)(test_seed() % 997);
  for (int64_t i = 0; i < COUNT(columns); i++)
    add_sizes(&p, LEAT_f32, TURN(rows, 7 * i + turn), TURN(depths, 5 * i + turn), columns[i]);
  check_agrees(&p, 2);
}

// Of few rows the panels are as wide as registers allow.
TEST(few_rows) {
  program p;
  program_init(&p, SEED);
  int64_t turn = (int64_t)(test_seed() % 997);
  for (int64_t i = 0; i < COUNT(wide_columns); i++)
    add_sizes(&p, LEAT_f32, 1 + i % FEW_ROWS, TURN(depths, i + turn), wide_columns[i]);
  check_agrees(&p, 2);
}

TEST(deep_ones_that_leave_each_remainder) {
  program p;
  program_init(&p, SEED);
  int64_t turn = (int64_t)(test_seed() % 997);
  for (int64_t i = 0; i < COUNT(deep); i++)
    add_sizes(&p, LEAT_f32, TURN(rows, 7 * i + turn), deep[i], TURN(columns, 5 * i + turn));
  check_agrees(&p, 2);
}

TEST(other_dtypes) {
  program p;
  program_init(&p, SEED);
  int64_t turn = (int64_t)(test_seed() % 997);
  for (int64_t i = 0; i < COUNT(dtypes); i++) {
    add_sizes(&p, dtypes[i], TURN(rows, 7 * i + turn), TURN(depths, i + turn), 80);
    add_sizes(&p, dtypes[i], TURN(rows, i + turn), 17, TURN(columns, 5 * i + turn));
  }
  check_agrees(&p, 2);
}

TEST(target_c) {
  program p;
  program_init(&p, SEED);
  int64_t turn = (int64_t)(test_seed() % 997);
  add_sizes(&p, LEAT_f32, 20, 8, 80);
  add_sizes(&p, LEAT_f32, 3, TURN(depths, turn), TURN(wide_columns, turn));
  add_sizes(&p, LEAT_f64, TURN(rows, turn), TURN(deep, turn), TURN(columns, turn));
  check_agrees(&p, 3);
}

// -- Sizes that are known only while running: one program, many sizes -----------------------------

static void compare(program *p, leat_tensor *const *outs) {
  for (uint32_t i = 0; i < p->results.count; i++) {
    leat_text why = {0};
    if (!tensor_matches(&outs[0][i], &outs[1][i], MATCH_VALUES, 0, &why))
      CHECK_FAILED("%s of P0 = %" PRId64 ", P1 = %" PRId64 ", N0 = %" PRId64 ": %s",
                   p->results.items[i].value.label, p->dims[DIM_P0], p->dims[DIM_P1],
                   p->dims[DIM_N0], why.data);
    leat_text_finish(&why);
  }
}

static void run_round(program *p, prepared *runs, int64_t round) {
  leat_tensor *outs[2];
  p->dims[DIM_P0] = TURN(rows, 7 * round);
  p->dims[DIM_P1] = round % 3 ? TURN(depths, round) : TURN(deep, round / 3);
  p->dims[DIM_N0] = TURN(columns, 5 * round);
  const leat_tensor *feeds = program_feeds(p);
  for (int way = 0; way < 2; way++) {
    outs[way] = tensors_create(p->results.count);
    CHECK_EQ_INT(prepared_run(&runs[way], feeds, outs[way]), LEAT_OK);
  }
  compare(p, outs);
  for (int way = 0; way < 2; way++) tensors_destroy(outs[way], p->results.count);
}

TEST(run_time_sizes) {
  program p;
  prepared runs[2];
  program_init(&p, test_seed());
  test_dim row = {DIM_P0, 1, 0}, depth = {DIM_P1, 1, 0}, column = {DIM_N0, 1, 0};
  add(&p, LEAT_f32, row, depth, column);
  add(&p, LEAT_f32, row, dim_const(8), dim_const(80));
  add(&p, LEAT_f32, dim_const(20), depth, dim_const(80));
  add(&p, LEAT_f32, dim_const(20), dim_const(8), column);
  add(&p, LEAT_f64, dim_const(3), depth, column);
  for (int way = 0; way < 2; way++)
    CHECK_EQ_INT(prepared_open(&runs[way], &p, &ways[way]), LEAT_OK);
  for (int64_t round = 0; round < ROUNDS && !check_failures; round++) run_round(&p, runs, round);
  for (int way = 0; way < 2; way++) prepared_close(&runs[way]);
  program_finish(&p);
}

CHECK_MAIN("contraction")
