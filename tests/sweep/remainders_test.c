// Sizes that leave every remainder. Contractions: the columns, rows and depths here leave each
// number of whole and part vectors, panels, blocks and tiles (codegen/contract_plan.c chooses them
// from the sizes). Sums over rows: whole and part panels of columns, rows by fours, blocks of rows
// (codegen/loop_panels.c). Transposes: whole and part squares and blocks (codegen/squares.c). cpu
// and c give what ref does whatever is left over. $LEAT_TEST_SEED draws which sizes meet.
#include "base/cpuid.h"
#include "tests/sweep/programs.h"
#include "tests/unit/check.h"

#include <stdlib.h>

enum { SEED = 5, FEW_ROWS = 4, ROUNDS = 12 };

static const test_way ways[] = {
    {.name = "ref", .options = {.target = "ref", .symbolic = true, .numerics = "strict"}},
    {.name = "cpu", .options = {.target = "cpu", .symbolic = true, .numerics = "strict"}},
    {.name = "c", .options = {.target = "c", .symbolic = true, .numerics = "strict"}},
};

static const int64_t columns[] = {1,  2,  3,  4,  7,   8,   15,  16,  17,  20,  24, 31,
                                  32, 33, 39, 47, 48,  49,  54,  63,  64,  65,  68, 79,
                                  80, 81, 83, 96, 100, 112, 113, 120, 127, 129, 144};
static const int64_t wide_columns[] = {80, 112, 160, 208, 272, 304, 320, 336};
static const int64_t rows[] = {5, 6, 7, 8, 9, 11, 12, 13, 14, 15, 16, 17, 20, 27, 29, 48, 80, 112};
static const int64_t depths[] = {1, 2, 8, 15, 16, 17, 31, 48, 80, 112, 129};
static const int64_t deep[] = {1025, 1040, 1535, 1536, 1537, 2049, 4096, 4097, 8200}; // in blocks
static const leat_dtype dtypes[] = {LEAT_f64, LEAT_i8, LEAT_i32, LEAT_f16, LEAT_u64, LEAT_c64};

#define COUNT(array) ((int64_t)(sizeof(array) / sizeof *(array)))
#define TURN(array, i) (array)[(i) % COUNT(array)]

// A result, called by its text and its last operand's type.
static void add_statement(program *p, test_match match, const test_value *last, const char *text) {
  test_value out = {.match = match};
  leat_text label = {0};
  snprintf(out.name, sizeof out.name, "y%u", p->results.count);
  leat_text_add(&p->body, "  %s = %s\n", out.name, text);
  leat_text_add(&label, "%s, which ends with ", text);
  test_type_print(last, &label);
  out.label = leat_arena_strndup(p->arena, label.data, label.size);
  leat_text_finish(&label);
  program_fetch(p, &out);
}

// -- Contractions --------------------------------------------------------------------------------

// y = a @ b of [rows, depth] and [depth, columns].
static void add(program *p, leat_dtype dtype, test_dim row, test_dim depth, test_dim column) {
  test_dim a[] = {row, depth}, b[] = {depth, column};
  test_value x = program_input(p, dtype, 2, a, FILL_PLAIN, dim_const(0));
  test_value y = program_input(p, dtype, 2, b, FILL_PLAIN, dim_const(0));
  add_statement(p, MATCH_VALUES, &y, leat_arena_printf(p->arena, "%s @ %s", x.name, y.name));
}

// y = a @ bᵀ of matrices alone or of two each. Few rows read b along k, more of them pack it so.
static void add_across(program *p, leat_dtype dtype, test_dim row, test_dim depth,
                       test_dim column) {
  test_dim a[] = {dim_const(2), row, depth}, b[] = {dim_const(2), column, depth};
  for (int batch = 0; batch < 2; batch++) {
    int rank = 2 + batch;
    test_value x = program_input(p, dtype, rank, a + !batch, FILL_PLAIN, dim_const(0));
    test_value y = program_input(p, dtype, rank, b + !batch, FILL_PLAIN, dim_const(0));
    add_statement(p, MATCH_VALUES, &y,
                  leat_arena_printf(p->arena, "matmul(%s, %s, transpose_b=true)", x.name, y.name));
  }
}

// y = aᵀ @ b of two matrices each.
static void add_by_columns(program *p, leat_dtype dtype, test_dim row, test_dim depth,
                           test_dim column) {
  test_dim a[] = {dim_const(2), depth, row}, b[] = {dim_const(2), depth, column};
  test_value x = program_input(p, dtype, 3, a, FILL_PLAIN, dim_const(0));
  test_value y = program_input(p, dtype, 3, b, FILL_PLAIN, dim_const(0));
  add_statement(p, MATCH_VALUES, &y,
                leat_arena_printf(p->arena, "matmul(%s, %s, transpose_a=true)", x.name, y.name));
}

static void add_sizes(program *p, leat_dtype dtype, int64_t row, int64_t depth, int64_t column) {
  add(p, dtype, dim_const(row), dim_const(depth), dim_const(column));
}

// Few registers leave other remainders: one of the CPU levels that round like this machine's.
static const char *drawn_level(void) {
  leat_cpu_level host = leat_cpu_host_level();
  uint64_t levels = host > LEAT_CPU_AVX2 ? host - LEAT_CPU_AVX2 + 1 : 1;
  return leat_cpu_level_name((leat_cpu_level)(host - test_seed() / 7 % levels));
}

static void check_agrees(program *p, int way_count) {
  leat_text why = {0};
  test_way level = ways[1], all[] = {ways[0], ways[1], ways[2], ways[2]};
  level.name = level.options.cpu = drawn_level();
  all[way_count] = level;
  if (program_agrees(p, all, way_count + 1, 1, &why, NULL))
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

TEST(operands_that_lie_across) {
  static const leat_dtype wanted[] = {LEAT_f32, LEAT_f64, LEAT_i32, LEAT_i8};
  program p;
  program_init(&p, SEED);
  int64_t turn = (int64_t)(test_seed() % 997);
  for (int64_t row = 1; row <= 10; row++)
    add_across(&p, TURN(wanted, row), dim_const(row), dim_const(TURN(depths, 3 * row + turn)),
               dim_const(TURN(columns, 5 * row + turn)));
  for (int64_t i = 0; i < COUNT(deep); i++)
    add_across(&p, LEAT_f32, dim_const(i % 2 ? i : 50 + i), dim_const(deep[i]),
               dim_const(TURN(columns, 7 * i + turn)));
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

// Of rows and a b that tiles pack for themselves, along and across; some of it is far apart.
TEST(rows_of_one_tile) {
  program p;
  program_init(&p, SEED);
  int64_t turn = (int64_t)(test_seed() % 997);
  for (int64_t i = 0; i < COUNT(rows); i += 6) {
    add_sizes(&p, LEAT_f32, 48 + (turn + i) % 17, 760 + turn % 23, 336 + (turn + i) % 48);
    add_sizes(&p, LEAT_f32, TURN(rows, i + turn), 515 + turn % 7, 512);
    add_across(&p, LEAT_f32, dim_const(5 + (turn + 7 * i) % 60), dim_const(760 + turn % 23),
               dim_const(336 + (turn + i) % 48));
  }
  check_agrees(&p, 2);
}

// So long that parts of them are summed by tiles of their own: of all operands that there are.
TEST(long_sums) {
  program p;
  program_init(&p, SEED);
  int64_t turn = (int64_t)(test_seed() % 7);
  add_sizes(&p, LEAT_f32, 1 + turn, 12288 + turn, 20);
  add_sizes(&p, LEAT_f32, 33, 12289, 64 + turn);
  add_sizes(&p, LEAT_f64, 17, 16384, 3 + turn);
  add_across(&p, LEAT_f32, dim_const(2 + turn), dim_const(12300), dim_const(19));
  add_across(&p, LEAT_f32, dim_const(9 + turn), dim_const(12303), dim_const(33));
  test_dim a[] = {dim_const(13000), dim_const(29 + turn)}, b[] = {dim_const(13000), dim_const(70)};
  test_value x = program_input(&p, LEAT_f32, 2, a, FILL_PLAIN, dim_const(0));
  test_value y = program_input(&p, LEAT_f32, 2, b, FILL_PLAIN, dim_const(0));
  add_statement(&p, MATCH_VALUES, &y,
                leat_arena_printf(p.arena, "matmul(%s, %s, transpose_a=true)", x.name, y.name));
  check_agrees(&p, 2);
}

// The windows of a convolution, of which a tile gathers some rows at a time.
TEST(gathered_operands) {
  static const int64_t channels[] = {1, 3, 16, 32, 20};
  program p;
  program_init(&p, SEED);
  int64_t turn = (int64_t)(test_seed() % 5);
  for (int64_t i = 0; i < COUNT(channels); i++) {
    int64_t extent = i == turn ? 115 : 12 + turn, out = TURN(columns, 7 * i + turn);
    test_dim image[] = {dim_const(1), dim_const(extent), dim_const(extent + i),
                        dim_const(channels[i])};
    test_dim window[] = {dim_const(3), dim_const(3), dim_const(channels[i]), dim_const(out)};
    test_value x = program_input(&p, LEAT_f32, 4, image, FILL_PLAIN, dim_const(0));
    test_value w = program_input(&p, LEAT_f32, 4, window, FILL_PLAIN, dim_const(0));
    const char *call = leat_arena_printf(p.arena, "conv(%s, %s, padding=\"same\")", x.name, w.name);
    add_statement(&p, MATCH_VALUES, &w, call);
    for (int k = 0; k < 2; k++)
      add_statement(&p, MATCH_VALUES, &w,
                    leat_arena_printf(p.arena, "grad(sum(%s), %s)", call, (k ? w : x).name));
  }
  check_agrees(&p, 2);
}

// Of a that lies by columns the rows of each block are copied together.
TEST(rows_in_strips) {
  static const leat_dtype wanted[] = {LEAT_f32, LEAT_f64, LEAT_i32, LEAT_f32};
  static const int64_t many[] = {64, 65, 66, 67, 69, 70, 71, 96, 112, 131, 200, 257};
  static const int64_t deeps[] = {1, 2, 17, 129, 300, 1025};
  program p;
  program_init(&p, SEED);
  int64_t turn = (int64_t)(test_seed() % 997);
  for (int64_t i = 0; i < COUNT(many); i++)
    add_by_columns(&p, TURN(wanted, i + turn), dim_const(many[i]), dim_const(TURN(deeps, i + turn)),
                   dim_const(128 + TURN(columns, 5 * i + turn)));
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
  add_across(&p, LEAT_f32, dim_const(1 + turn % 20), dim_const(40), dim_const(TURN(columns, turn)));
  add_by_columns(&p, LEAT_f32, dim_const(64 + turn % 9), dim_const(40), dim_const(128));
  check_agrees(&p, 3);
}

// -- Sums over rows ------------------------------------------------------------------------------

static const int64_t lengths[] = {255, 256, 257, 271, 272, 511, 513, 1023, 1024, 1025, 1040, 2065};
static const int64_t heights[] = {15, 16, 17, 18, 19, 23, 100, 1023, 1024, 1025, 1031, 2050};
static const char *const folds[] = {"sum(%s, axis=%d)", "max(%s, axis=%d)", "argmin(%s, axis=%d)",
                                    "mean(%s * 3, axis=%d)"};

static void add_fold(program *p, leat_dtype dtype, const char *fold, int rank, test_dim *dims) {
  test_value x = program_input(p, dtype, rank, dims, FILL_PLAIN, dim_const(0));
  add_statement(p, MATCH_VALUES, &x, leat_arena_printf(p->arena, fold, x.name, rank - 2));
}

// Several results of a matrix in one kernel, one of which is of all elements.
static void add_folds(program *p, test_dim row, test_dim column) {
  test_dim dims[] = {row, column};
  test_value x = program_input(p, LEAT_f32, 2, dims, FILL_PLAIN, dim_const(0));
  test_value y = program_input(p, LEAT_f32, 1, &column, FILL_PLAIN, dim_const(0));
  test_value all = {.match = MATCH_VALUES, .name = "all", .label = "all"};
  leat_text_add(&p->body, "  all = %s * 2 + %s\n", x.name, y.name);
  program_fetch(p, &all);
  add_statement(p, MATCH_VALUES, &x, "sum(all, axis=0)");
  add_statement(p, MATCH_VALUES, &x, "sum(all * all, axis=0)");
}

static void add_all_folds(program *p, int64_t turn, int64_t count) {
  for (int64_t i = 0; i < count; i++) {
    test_dim height = dim_const(TURN(heights, 5 * i + turn)), length = dim_const(lengths[i]);
    test_dim dims[] = {dim_const(1 + i % 3), height, length};
    leat_dtype dtype = (i + turn) % 2 ? LEAT_f32 : TURN(dtypes, i / 2 + turn);
    const char *fold = dtype == LEAT_c64 ? folds[0] : TURN(folds, i + turn);
    add_fold(p, dtype, fold, 2 + i % 2, dims + !(i % 2));
  }
  test_dim two_arrays[] = {dim_const(17), dim_const(1025)};
  add_fold(p, LEAT_f32, "argmin(%s, axis=%d)", 2, two_arrays);
  add_folds(p, dim_const(TURN(heights, turn)), dim_const(TURN(lengths, 7 * turn)));
}

TEST(sums_over_rows) {
  program p;
  program_init(&p, SEED);
  add_all_folds(&p, (int64_t)(test_seed() % 997), COUNT(lengths));
  check_agrees(&p, 2);
}

TEST(sums_over_rows_by_target_c) {
  program p;
  program_init(&p, SEED);
  add_all_folds(&p, (int64_t)(test_seed() % 991), 3);
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
  add_across(&p, LEAT_f32, dim_const(4), depth, column);
  add_across(&p, LEAT_f32, row, depth, column);
  add_by_columns(&p, LEAT_f32, row, depth, dim_const(130));
  test_dim high[] = {depth, column};
  add_fold(&p, LEAT_f32, folds[0], 2, high);
  add_folds(&p, depth, column);
  for (int way = 0; way < 2; way++)
    CHECK_EQ_INT(prepared_open(&runs[way], &p, &ways[way]), LEAT_OK);
  for (int64_t round = 0; round < ROUNDS && !check_failures; round++) run_round(&p, runs, round);
  for (int way = 0; way < 2; way++) prepared_close(&runs[way]);
  program_finish(&p);
}

// -- Transposes ----------------------------------------------------------------------------------

typedef struct turned {
  leat_dtype dtype;
  int64_t dims[3];
  const char *perm;
} turned;

// Squares are of 16 by as many elements as a cache line has; blocks of up to 1024 by 256.
static const turned moves[] = {
    {LEAT_f32, {1, 17, 16}, "[0, 2, 1]"},    {LEAT_f32, {1, 16, 17}, "[0, 2, 1]"},
    {LEAT_f32, {3, 15, 33}, "[0, 2, 1]"},    {LEAT_f32, {1, 80, 112}, "[0, 2, 1]"},
    {LEAT_f32, {1, 3, 47}, "[0, 2, 1]"},     {LEAT_f32, {1, 47, 3}, "[0, 2, 1]"},
    {LEAT_f32, {1, 1030, 41}, "[0, 2, 1]"},  {LEAT_f32, {1, 41, 1030}, "[0, 2, 1]"},
    {LEAT_f32, {33, 5, 20}, "[2, 1, 0]"},    {LEAT_f32, {19, 6, 31}, "[2, 0, 1]"},
    {LEAT_f32, {18, 6, 35}, "[1, 2, 0]"},    {LEAT_u8, {1, 65, 127}, "[0, 2, 1]"},
    {LEAT_u8, {1, 100, 17}, "[0, 2, 1]"},    {LEAT_i16, {1, 33, 50}, "[0, 2, 1]"},
    {LEAT_f64, {1, 17, 23}, "[0, 2, 1]"},    {LEAT_c64, {1, 31, 17}, "[0, 2, 1]"},
    {LEAT_c128, {1, 20, 9}, "[0, 2, 1]"},    {LEAT_bool, {2, 21, 70}, "[0, 2, 1]"},
    {LEAT_f32, {300, 1, 1024}, "[2, 1, 0]"}, // rows are pages apart: smaller blocks
    {LEAT_f32, {20, 4096, 20}, "[2, 1, 0]"}, // on both sides many: by a local array
};

static void add_transpose(program *p, leat_dtype dtype, const test_dim *dims, const char *perm) {
  test_value x = program_input(p, dtype, 3, dims, FILL_ANY, dim_const(0));
  add_statement(p, MATCH_BITS, &x,
                leat_arena_printf(p->arena, "transpose(%s, perm=%s)", x.name, perm));
}

TEST(transposes) {
  program p;
  program_init(&p, SEED);
  for (int64_t i = 0; i < COUNT(moves); i++) {
    test_dim dims[3];
    for (int k = 0; k < 3; k++) dims[k] = dim_const(moves[i].dims[k]);
    add_transpose(&p, moves[i].dtype, dims, moves[i].perm);
  }
  check_agrees(&p, 2);
}

CHECK_MAIN("remainders")
