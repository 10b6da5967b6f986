// The ops that op_calls.c makes no calls of: constants, files, dims, run counts, state, messages
// and communication, in every dtype that they take, on the targets ref, cpu and c. And what fails
// while running: it fails alike.
#include "tests/sweep/op_calls.h"

#include "base/npy.h"
#include "base/safetensors.h"
#include "tests/unit/check.h"
#include "tests/unit/scratch.h"

#include <stdarg.h>

static const test_way targets[] = {
    {.name = "ref", .options = {.target = "ref", .devices = 2, .symbolic = true}},
    {.name = "cpu", .options = {.target = "cpu", .devices = 2, .symbolic = true}},
    {.name = "c", .options = {.target = "c", .devices = 2, .symbolic = true}},
};
enum { TARGETS = 3, SEED = 11 };

static const leat_dtype dtypes[] = {LEAT_bool, LEAT_i8,  LEAT_i16, LEAT_i32, LEAT_i64,  LEAT_u8,
                                    LEAT_u16,  LEAT_u32, LEAT_u64, LEAT_f16, LEAT_bf16, LEAT_f32,
                                    LEAT_f64,  LEAT_str, LEAT_c64, LEAT_c128};
enum { DTYPES = sizeof dtypes / sizeof *dtypes };

TEST(every_op_has_a_test) {
  for (int op = 0; op < LEAT_OP_COUNT; op++)
    if (!op_tested_by((leat_op)op))
      CHECK_FAILED("nothing in tests/sweep/ runs the op %s", leat_op_name((leat_op)op));
}

TEST(every_op_has_help) {
  for (int op = 0; op < LEAT_OP_COUNT; op++) {
    const leat_op_info *info = leat_op_info_of((leat_op)op);
    const char *inputs = leat_op_inputs((leat_op)op);
    int names = *inputs != '\0', wanted = info->max_inputs;
    for (const char *comma = inputs; (comma = strchr(comma, ',')); comma++) names++;
    if (wanted == LEAT_ANY_INPUTS) wanted = info->min_inputs + 1; // and `…`
    if (!*leat_op_help((leat_op)op) || names != wanted)
      CHECK_FAILED("ir/op_help.def lacks what %s gives, or names of its inputs", info->name);
  }
}

// -- Programs written by hand --------------------------------------------------------------------

__attribute__((format(printf, 2, 3))) static void fetch(program *p, const char *format, ...) {
  test_value value = {.match = MATCH_VALUES};
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(value.name, sizeof value.name, format, arguments);
  va_end(arguments);
  value.label = leat_arena_printf(p->arena, "%s", value.name);
  program_fetch(p, &value);
}

static void check_agrees(program *p, int rounds) {
  leat_text why = {0};
  if (program_agrees(p, targets, TARGETS, rounds, &why, NULL))
    CHECK_FAILED("%s\n%s", why.data, program_text(p, false));
  leat_text_finish(&why);
  program_finish(p);
}

static test_value input(program *p, leat_dtype dtype, int64_t rows, int64_t columns) {
  test_dim dims[] = {dim_const(rows), dim_const(columns)};
  return program_input(p, dtype, 2, dims, FILL_ANY, dim_const(0));
}

// Reads before, between and after the writes of a step; three steps.
TEST(state) {
  program p;
  program_init(&p, SEED);
  for (int i = 0; i < DTYPES; i++) {
    const char *name = leat_dtype_name(dtypes[i]);
    bool numeric = op_takes(LEAT_OP_assign_add, dtypes[i]);
    test_value x = input(&p, dtypes[i], 3, 2 * i + 1), y = input(&p, dtypes[i], 3, 2 * i + 1);
    leat_text_add(&p.declarations, "var v_%s: %s[3, %d] = %s\n", name, name, 2 * i + 1,
                  numeric                 ? "3"
                  : dtypes[i] == LEAT_str ? "\"three\""
                                          : "true");
    leat_text_add(&p.body, "  a_%s = identity(v_%s)\n  v_%s := %s\n  b_%s = identity(v_%s)\n", name,
                  name, name, x.name, name, name);
    if (numeric) leat_text_add(&p.body, "  v_%s += %s\n  v_%s += v_%s\n", name, y.name, name, name);
    fetch(&p, "a_%s", name);
    fetch(&p, "b_%s", name);
    fetch(&p, "v_%s", name);
  }
  check_agrees(&p, 3);
}

// Sizes that are known only while running, on two devices; each is checked against another.
TEST(run_time_dims) {
  program p;
  program_init(&p, SEED);
  for (int i = 0; i < DTYPES; i++) {
    const char *name = leat_dtype_name(dtypes[i]);
    test_value x = input(&p, dtypes[i], 1, 2 * i);
    leat_text_add(&p.body, "  k_%s = dynamic(reshape(sum(iota([%d], 0, i32)), []))\n", name, 4);
    leat_text_add(&p.body, "  a_%s = broadcast(%s, [k_%s, %d])\n", name, x.name, name, 2 * i);
    leat_text_add(&p.body,
                  "  b_%s = concat([a_%s, transpose(transpose(a_%s))], axis=0)"
                  " on \"/device:cpu:1\"\n",
                  name, name, name);
    leat_text_add(&p.body, "  c_%s = equal(b_%s, broadcast(%s, [12, %d]))\n", name, name, x.name,
                  2 * i);
    leat_text_add(&p.body, "  d_%s = b_%s[c_%s]\n  e_%s = nonzero(b_%s%s)\n", name, name, name,
                  name, name, dtypes[i] == LEAT_str ? " != \"\"" : "");
    for (int c = 'b'; c <= 'e'; c++) fetch(&p, "%c_%s", c, name);
  }
  check_agrees(&p, 2);
}

// Strings that numbers spell.
TEST(strings) {
  static const int sizes[] = {0, 1, 7, 700};
  program p;
  program_init(&p, SEED);
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
    int n = sizes[i];
    test_value x = input(&p, LEAT_i64, 3, n), y = input(&p, LEAT_f64, 3, n);
    leat_text_add(&p.body, "  s%d = number_to_str(%s)\n  t%d = number_to_str(%s)\n", n, x.name, n,
                  y.name);
    leat_text_add(&p.body, "  a%d = str_to_number(s%d, i64)\n", n, n);
    leat_text_add(&p.body,
                  "  u%d = format_number(%s, notation=\"d\", width=9, fill=\"0\")\n"
                  "  v%d = format_number(%s, notation=\"e\", precision=5, width=14, fill=\"-\")\n",
                  n, x.name, n, y.name);
    for (int c = 's'; c <= 'v'; c++) fetch(&p, "%c%d", c, n);
    fetch(&p, "a%d", n);
  }
  check_agrees(&p, 2);
}

TEST(messages) {
  program p;
  program_init(&p, SEED);
  for (int i = 0; i < DTYPES; i++) {
    test_value x = input(&p, dtypes[i], 2, 3), scalar;
    scalar = program_input(&p, dtypes[i], 0, NULL, FILL_ANY, dim_const(0));
    leat_text_add(&p.body, "  print(%s, %s, message=\"%s: \")\n", x.name, scalar.name,
                  leat_dtype_name(dtypes[i]));
    leat_text_add(&p.body, "  print(transpose(%s))\n", x.name);
  }
  check_agrees(&p, 2);
}

// To another device and back.
static void add_trips(program *p) {
  program_init(p, SEED);
  for (int i = 0; i < DTYPES; i++) {
    const char *name = leat_dtype_name(dtypes[i]);
    test_value x = input(p, dtypes[i], 5, i);
    leat_text_add(&p->body, "  a_%s = transpose(%s) on \"/device:cpu:1\"\n", name, x.name);
    leat_text_add(&p->body, "  b_%s = transpose(a_%s) on \"/device:cpu:0\"\n", name, name);
    fetch(p, "a_%s", name);
    fetch(p, "b_%s", name);
  }
}

TEST(two_devices) {
  program p;
  add_trips(&p);
  check_agrees(&p, 2);
}

static int count_of(const char *text, const char *words) {
  int count = 0;
  while (text && (text = strstr(text, words))) count++, text++;
  return count;
}

TEST(two_devices_exchange_each_value_once) {
  program p;
  prepared run;
  add_trips(&p);
  test_way way = {.options = {.devices = 2, .dump_after = "partition", .stop_after = "partition"}};
  CHECK_EQ_INT(prepared_open(&run, &p, &way), LEAT_OK);
  CHECK_EQ_STR(prepared_message(&run), "");
  CHECK_EQ_INT(count_of(run.log.data, " = send("), 2 * DTYPES);
  CHECK_EQ_INT(count_of(run.log.data, " = recv("), 2 * DTYPES);
  prepared_close(&run);
  program_finish(&p);
}

// -- Values from files and texts -----------------------------------------------------------------

TEST(files) {
  program p;
  char path[SCRATCH_PATH], npy[SCRATCH_PATH]; // safetensors files hold no c128, the last
  leat_error error = {0};
  leat_named_tensor tensors[DTYPES];
  program_init(&p, SEED);
  scratch_path(path, "data.safetensors");
  scratch_path(npy, "data.npy");
  for (int i = 0; i < DTYPES; i++) {
    const char *name = leat_dtype_name(dtypes[i]);
    input(&p, dtypes[i], 4, i);
    if (i + 1 < DTYPES) leat_text_add(&p.body, "  r_%s = load(\"%s\", \"%s\")\n", name, path, name);
    if (i + 1 == DTYPES) leat_text_add(&p.body, "  r_%s = load(\"%s\")\n", name, npy);
    leat_text_add(&p.body, "  t_%s = transpose(r_%s)\n", name, name);
    fetch(&p, "r_%s", name);
    fetch(&p, "t_%s", name);
    tensors[i].name = name;
  }
  leat_tensor *data = program_feeds(&p);
  for (int i = 0; i < DTYPES; i++) tensors[i].tensor = data[i];
  if (leat_safetensors_write(path, tensors, DTYPES - 1, NULL, 0, &error) ||
      leat_npy_write(npy, &data[DTYPES - 1], &error))
    CHECK_FAILED("%s", error.message);
  check_agrees(&p, 1);
}

typedef struct literal {
  const char *type, *text;
  leat_dtype dtype;
  union {
    int64_t i;
    uint64_t u;
    double f64;
    float f32;
  } value;
} literal;

static const literal literals[] = {
    {"bool[1]", "[true]", LEAT_bool, {.i = 1}},
    {"i8[1]", "[-128]", LEAT_i8, {.i = INT8_MIN}},
    {"i16[1]", "[-32768]", LEAT_i16, {.i = INT16_MIN}},
    {"i32[1]", "[-2147483648]", LEAT_i32, {.i = INT32_MIN}},
    {"i64[1]", "[-9223372036854775808]", LEAT_i64, {.i = INT64_MIN}},
    {"u8[1]", "[255]", LEAT_u8, {.i = UINT8_MAX}},
    {"u16[1]", "[65535]", LEAT_u16, {.i = UINT16_MAX}},
    {"u32[1]", "[0xffff_ffff]", LEAT_u32, {.i = UINT32_MAX}},
    {"u64[1]", "[18446744073709551615]", LEAT_u64, {.u = UINT64_MAX}},
    {"u64[1]", "[9223372036854775809]", LEAT_u64, {.u = (1ull << 63) + 1}},
    {"f32[1]", "[1e-45]", LEAT_f32, {.f32 = 1e-45f}},
    {"f32[1]", "[-0.0]", LEAT_f32, {.f32 = -0.0f}},
    {"f64[1]", "[-inf]", LEAT_f64, {.f64 = -__builtin_inf()}},
    {"f64[1]", "[0.1]", LEAT_f64, {.f64 = 0.1}},
};
enum { LITERALS = sizeof literals / sizeof *literals };

// Every literal has its value on every target.
TEST(constants) {
  for (int t = 0; t < TARGETS; t++) {
    program p;
    prepared run;
    leat_tensor out[LITERALS];
    program_init(&p, SEED);
    for (int i = 0; i < LITERALS; i++) {
      leat_text_add(&p.body, "  k%d: %s = %s\n", i, literals[i].type, literals[i].text);
      fetch(&p, "k%d", i);
    }
    leat_status status = prepared_open(&run, &p, &targets[t]);
    if (!status) status = prepared_run(&run, NULL, out);
    if (status) CHECK_FAILED("%s: %s", targets[t].name, prepared_message(&run));
    for (int i = 0; i < LITERALS && !status; i++) {
      leat_text why = {0};
      leat_tensor want = {literals[i].dtype, 1, {1}, (void *)(uintptr_t)&literals[i].value};
      if (!tensor_matches(&want, &out[i], MATCH_BITS, 0, &why))
        CHECK_FAILED("%s: %s: %s", targets[t].name, literals[i].text, why.data);
      leat_text_finish(&why);
      free(out[i].data);
    }
    prepared_close(&run);
    program_finish(&p);
  }
}

TEST(dims_and_run_counts) {
  program p;
  program_init(&p, SEED);
  p.symbolic = true;
  for (int i = 0; i < DIM_NAMES; i++) program_bind(&p, (test_dim){i, 1, 0});
  leat_text_add(&p.body, "  d0 = identity(N0)\n  d1 = identity(2*P0*P1 + 3*B)\n");
  leat_text_add(&p.body, "  d4 = cast(B, f32) / 7\n  d5 = x0 + cast(N0 * 2, u8)\n");
  leat_text_add(&p.body, "  d2 = identity(run_count())\n  d3 = N1 + run_count()\n");
  for (int i = 0; i < 6; i++) fetch(&p, "d%d", i);
  check_agrees(&p, 4);
}

// -- What fails while running --------------------------------------------------------------------

static void check_fails(const char *body, leat_dtype indices, int64_t limit, leat_status status) {
  program p;
  program_init(&p, SEED);
  test_dim dims[] = {dim_const(37), dim_const(5)};
  program_input(&p, LEAT_f32, 2, dims, FILL_PLAIN, dim_const(0));
  program_input(&p, indices, 1, dims, FILL_INDEX, dim_const(limit));
  program_input(&p, LEAT_f32, 2, dims, FILL_PLAIN, dim_const(0));
  leat_text_add(&p.body, "  y = %s\n", body);
  fetch(&p, "y");
  p.expected = status;
  check_agrees(&p, 2);
}

TEST(indices_out_of_range) {
  check_fails("gather(x0, x1, axis=0)", LEAT_i32, 1000, LEAT_OUT_OF_RANGE);
  check_fails("gather(x0, x1 - 90, axis=1)", LEAT_i64, 100, LEAT_OUT_OF_RANGE);
  check_fails("scatter_add(x0, x1, x2, axis=0)", LEAT_i64, 1000, LEAT_OUT_OF_RANGE);
  check_fails("scatter_set(x0, x1, x2, axis=0)", LEAT_i32, 1000, LEAT_OUT_OF_RANGE);
  check_fails("check_index(x1, extent=30) + 1", LEAT_i32, 1000, LEAT_OUT_OF_RANGE);
  check_fails("sum(gather(x0, x1 * 1000000007, axis=0) * x2)", LEAT_i64, 1000, LEAT_OUT_OF_RANGE);
}

TEST(indices_in_range) {
  check_fails("gather(x0, x1, axis=0)", LEAT_i32, 37, LEAT_OK);
  check_fails("scatter_set(x0, x1, x2, axis=0)", LEAT_i32, 37, LEAT_OK);
  check_fails("scatter_add(x0, x1, x2, axis=0)", LEAT_i32, 37, LEAT_OK);
}

// What the assertion found is in the message, the same on ref and cpu.
TEST(assertions) {
  for (int i = 0; i < DTYPES; i++) {
    program p;
    char *said[2] = {0};
    program_init(&p, SEED);
    test_value x = input(&p, dtypes[i], 2, 3);
    leat_text_add(&p.body, "  assert(iota([2, 3], axis=1, dtype=i32) < 1, %s, transpose(%s))\n",
                  x.name, x.name);
    fetch(&p, "x0");
    const leat_tensor *feeds = program_feeds(&p);
    for (int t = 0; t < 2; t++) {
      prepared run;
      leat_tensor out[1];
      CHECK_EQ_INT(prepared_open(&run, &p, &targets[t]), LEAT_OK);
      CHECK_EQ_INT(prepared_run(&run, feeds, out), LEAT_INVALID);
      said[t] = strdup(prepared_message(&run));
      prepared_close(&run);
    }
    CHECK_EQ_STR(said[1], said[0]);
    CHECK(strstr(said[0], "; element [0, 1] and 3 more: "));
    for (int t = 0; t < 2; t++) free(said[t]);
    program_finish(&p);
  }
}

TEST(nothing_to_choose_from) {
  for (int i = 0; i < 2; i++) {
    program p;
    program_init(&p, SEED);
    test_dim dims[] = {{DIM_N0, 1, 0}, dim_const(5)};
    program_input(&p, LEAT_f32, 2, dims, FILL_PLAIN, dim_const(0));
    leat_text_add(&p.body, "  y = %s(x1, axis=0)\n", i ? "max" : "sum");
    fetch(&p, "y");
    p.dims[DIM_N0] = 0;
    p.expected = i ? LEAT_INVALID : LEAT_OK;
    check_agrees(&p, 1);
  }
}

// A slice of run-time dims, inside x and beyond its end.
TEST(slices_out_of_range) {
  static const int64_t sizes[] = {0, 14, 15, 1000};
  for (int i = 0; i < 4; i++) {
    program p;
    program_init(&p, SEED);
    test_dim x[] = {{DIM_P0, 1, 0}, dim_const(3)}, size[] = {{DIM_N0, 1, 0}};
    test_value in = program_input(&p, LEAT_f32, 2, x, FILL_PLAIN, dim_const(0));
    program_bind(&p, size[0]);
    leat_text_add(&p.body, "  y = slice(%s, start=[2, 0], size=[N0, 3])\n", in.name);
    leat_text_add(&p.body, "  z = sum(y * 2, axis=0)\n");
    fetch(&p, i % 2 ? "z" : "y");
    p.dims[DIM_P0] = 16;
    p.dims[DIM_N0] = sizes[i];
    p.expected = sizes[i] > 14 ? LEAT_OUT_OF_RANGE : LEAT_OK;
    check_agrees(&p, 1);
  }
}

CHECK_MAIN("structure")
