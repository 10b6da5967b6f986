// kernel/ and its targets: what the builder folds, shares, moves and drops; what the verifier
// refuses; and every op on every dtype and number of lanes, with loops, branches, masks, local
// arrays and failures, through LLVM at each CPU level and through C, compared bit for bit with an
// interpreter.
#include "base/cpuid.h"
#include "kernel/kernel.h"
#include "runtime/object_load.h"
#include "tests/unit/check.h"
#include "tests/unit/generators.h"
#include "tests/unit/interpret.h"

#include <math.h>

// -- Cases: a kernel and its arguments -----------------------------------------------------------

enum { MOST_CASES = 256, MOST_BUFFERS = 40, ELEMENTS = 256, MOST_BYTES = ELEMENTS * 8 };

typedef struct test_case {
  leat_kernel *kernel;
  int64_t scalars[4], tiles;
  unsigned char inputs[MOST_BUFFERS][MOST_BYTES];
} test_case;

static leat_arena *arena;
static test_case *cases[MOST_CASES];
static size_t case_count;

static test_case *new_case(k_builder *b, const char *name, int64_t tiles) {
  if (!arena) arena = leat_arena_create();
  test_case *c = cases[case_count++] = leat_new(arena, test_case);
  c->tiles = tiles;
  k_begin(b, arena, name);
  return c;
}

static void finish_case(test_case *c, k_builder *b) {
  leat_error error = {0};
  c->kernel = k_finish(b);
  if (leat_kernel_verify(c->kernel, &error)) CHECK_FAILED("%s", error.message);
}

// Values at which integers and floats are most easily wrong.
static k_imm edge(leat_dtype dtype, uint32_t i) {
  static const double floats[] = {
      0.0,     -0.0,         1.0,           -1.0,   0.5,     -0.5,   1.5,    2.5,    -2.5,
      NAN,     INFINITY,     -INFINITY,     3e38,   -3e38,   1e-45,  127.5,  -129.0, 255.5,
      65536.0, 2147483648.0, -2147483904.0, 9.3e18, -9.3e18, 1.9e19, 1e-310, 0.1};
  static const int64_t ints[] = {
      0,         1,         -1,        2,         -2,   3,        7,        8,         15,
      31,        32,        63,        64,        100,  INT8_MIN, INT8_MAX, INT16_MIN, INT16_MAX,
      INT32_MIN, INT32_MAX, INT64_MIN, INT64_MAX, -100, 12345,    -54321};
  if (leat_dtype_kind_of(dtype) == LEAT_KIND_FLOAT)
    return k_imm_wrap(dtype, (k_imm){.f = floats[i % (sizeof floats / sizeof *floats)]});
  return k_imm_wrap(dtype, (k_imm){.i = ints[i % (sizeof ints / sizeof *ints)]});
}

// Another walk through the edges for each buffer, so that together they meet in many pairs.
static const k_buffer *input(test_case *c, k_builder *b, leat_dtype dtype) {
  const k_buffer *buffer = k_argument(b, dtype);
  uint32_t stride = 1 + 6 * buffer->number;
  for (uint32_t i = 0; i < ELEMENTS; i++)
    interpret_write(dtype, c->inputs[buffer->number] + i * leat_dtype_size(dtype),
                    edge(dtype, i * stride + i / 25));
  return buffer;
}

// -- Targets -------------------------------------------------------------------------------------

static bool same_element(leat_dtype dtype, const unsigned char *x, const unsigned char *y) {
  if (memcmp(x, y, leat_dtype_size(dtype)) == 0) return true;
  if (leat_dtype_kind_of(dtype) != LEAT_KIND_FLOAT) return false;
  return isnan(interpret_read(dtype, x).f) && isnan(interpret_read(dtype, y).f);
}

static void run_case(const test_case *c, leat_kernel_function function, const char *target) {
  static _Alignas(64) unsigned char wanted[MOST_BUFFERS][MOST_BYTES], got[MOST_BUFFERS][MOST_BYTES];
  leat_arg wanted_args[MOST_BUFFERS + 4], got_args[MOST_BUFFERS + 4];
  uint32_t count = c->kernel->buffer_count;
  memcpy(wanted, c->inputs, sizeof wanted);
  memcpy(got, c->inputs, sizeof got);
  for (uint32_t i = 0; i < count; i++) {
    wanted_args[i].pointer = wanted[i];
    got_args[i].pointer = got[i];
  }
  for (uint32_t i = 0; i < 4; i++)
    wanted_args[count + i].value = got_args[count + i].value = c->scalars[i];
  leat_call wanted_call = {0}, call = {0};
  int32_t wanted_code = interpret(c->kernel, &wanted_call, wanted_args, 0, c->tiles);
  int32_t code = function(&call, got_args, 0, c->tiles);
  if (code != wanted_code || call.value != wanted_call.value)
    CHECK_FAILED("%s on %s returns %#x of %lld, not %#x of %lld", c->kernel->name, target, code,
                 (long long)call.value, wanted_code, (long long)wanted_call.value);
  for (uint32_t i = 0; i < count; i++) {
    leat_dtype dtype = c->kernel->buffers.items[i]->dtype;
    size_t size = leat_dtype_size(dtype);
    for (uint32_t j = 0; j < ELEMENTS; j++) {
      if (same_element(dtype, wanted[i] + j * size, got[i] + j * size)) continue;
      uint64_t w = 0, g = 0;
      memcpy(&w, wanted[i] + j * size, size);
      memcpy(&g, got[i] + j * size, size);
      CHECK_FAILED("%s on %s: buffer %u [%u] (%s) is %#llx, not %#llx", c->kernel->name, target, i,
                   j, leat_dtype_name(dtype), (unsigned long long)g, (unsigned long long)w);
      break;
    }
  }
}

static void run_cases(leat_codegen_compile compile, leat_cpu_level level, const char *target) {
  const leat_kernel *kernels[MOST_CASES];
  const char *symbols[MOST_CASES];
  leat_object object;
  leat_loaded_object *loaded;
  leat_error error = {0};
  for (size_t i = 0; i < case_count; i++) {
    kernels[i] = cases[i]->kernel;
    symbols[i] = leat_arena_printf(arena, "kernel_%zu", i);
  }
  leat_codegen_request request = {.kernels = kernels,
                                  .symbols = symbols,
                                  .kernel_count = case_count,
                                  .target = target_of(level)};
  if (compile(&request, &object, &error) ||
      leat_object_load(object.data, object.size, &loaded, &error)) {
    CHECK_FAILED("%s: %s", target, error.message);
    return;
  }
  leat_object_finish(&object);
  for (size_t i = 0; i < case_count; i++) {
    void *address = leat_object_symbol(loaded, symbols[i]);
    CHECK(address);
    if (address) run_case(cases[i], (leat_kernel_function)(uintptr_t)address, target);
  }
  leat_object_unload(loaded);
}

// -- Every op on every dtype ---------------------------------------------------------------------

static const leat_dtype dtypes[] = {LEAT_bool, LEAT_i8,  LEAT_i16, LEAT_i32, LEAT_i64, LEAT_u8,
                                    LEAT_u16,  LEAT_u32, LEAT_u64, LEAT_f32, LEAT_f64};
enum { DTYPES = sizeof dtypes / sizeof *dtypes };

// As kernel.h has it, in ops of bool, of integers and of floats.
static bool has_op(k_op op, leat_dtype dtype) {
  leat_dtype_kind kind = leat_dtype_kind_of(dtype);
  if (op >= K_EQ && op <= K_LE) return true;
  if (op >= K_AND && op <= K_NOT) return kind != LEAT_KIND_FLOAT;
  if (op == K_SHL || op == K_SHR || op == K_REM)
    return kind != LEAT_KIND_FLOAT && kind != LEAT_KIND_BOOL;
  if (op == K_SQRT || op == K_FLOOR || op == K_ROUND) return kind == LEAT_KIND_FLOAT;
  return kind != LEAT_KIND_BOOL;
}

static k_value apply(k_builder *b, k_op op, k_value x, k_value y, k_value z) {
  if (op == K_FMA) return k_fma(b, x, y, z);
  return k_op_arity(op) == 1 ? k_unary(b, op, x) : k_binary(b, op, x, y);
}

static void add_elementwise(leat_dtype dtype, int lanes) {
  k_builder b;
  const char *name = "elementwise";
  test_case *c = new_case(&b, name, ELEMENTS / lanes);
  const k_buffer *in[3], *flags = input(c, &b, LEAT_bool), *out[K_SHR + 1], *chosen;
  for (int i = 0; i < 3; i++) in[i] = input(c, &b, dtype);
  for (k_op op = K_ADD; op <= K_SHR; op++)
    out[op] =
        has_op(op, dtype) ? k_argument(&b, op >= K_EQ && op <= K_LE ? LEAT_bool : dtype) : NULL;
  chosen = k_argument(&b, dtype);
  k_value at = k_mul(&b, k_tile(&b), k_i64(&b, lanes)), x[3];
  for (int i = 0; i < 3; i++) x[i] = k_load(&b, in[i], at, lanes, NULL);
  for (k_op op = K_ADD; op <= K_SHR; op++)
    if (out[op]) k_store(&b, out[op], at, apply(&b, op, x[0], x[1], x[2]), NULL);
  k_value flag = k_load(&b, flags, at, lanes, NULL);
  k_store(&b, chosen, at, k_select(&b, flag, x[0], x[1]), NULL);
  finish_case(c, &b);
}

static void add_casts(leat_dtype dtype, int lanes) {
  k_builder b;
  test_case *c = new_case(&b, "casts", ELEMENTS / lanes);
  const k_buffer *in = input(c, &b, dtype), *out[DTYPES], *bits[DTYPES];
  size_t size = leat_dtype_size(dtype);
  for (int i = 0; i < DTYPES; i++) {
    bool castable =
        dtype != LEAT_bool && dtypes[i] != LEAT_bool && leat_dtype_size(dtypes[i]) == size;
    bool from_float = leat_dtype_kind_of(dtype) == LEAT_KIND_FLOAT;
    out[i] = k_argument(&b, dtypes[i]);
    bits[i] = castable && !from_float ? k_argument(&b, dtypes[i]) : NULL; // NaNs keep no payload
  }
  k_value at = k_mul(&b, k_tile(&b), k_i64(&b, lanes)), x = k_load(&b, in, at, lanes, NULL);
  for (int i = 0; i < DTYPES; i++) {
    k_store(&b, out[i], at, k_cast(&b, dtypes[i], x), NULL);
    if (bits[i]) k_store(&b, bits[i], at, k_bitcast(&b, dtypes[i], x), NULL);
  }
  finish_case(c, &b);
}

// Constant operands print and fold in their own ways.
static void add_constants(leat_dtype dtype, int lanes) {
  k_builder b;
  test_case *c = new_case(&b, "constants", 4);
  bool is_float = leat_dtype_kind_of(dtype) == LEAT_KIND_FLOAT;
  const k_buffer *in = input(c, &b, dtype), *out = k_argument(&b, dtype),
                 *less = k_argument(&b, LEAT_bool);
  k_value at = k_mul(&b, k_tile(&b), k_i64(&b, lanes)), x = k_load(&b, in, at, lanes, NULL);
  for (uint32_t i = 0; i < 25; i++) {
    k_imm value = edge(dtype, i);
    k_value y = is_float ? k_float(&b, dtype, lanes, value.f) : k_int(&b, dtype, lanes, value.i);
    k_store(&b, less, at, k_lt(&b, y, x), NULL);
    k_value sum = dtype == LEAT_bool ? k_binary(&b, K_XOR, x, y) : k_add(&b, y, x);
    if (has_op(K_SHL, dtype)) sum = k_binary(&b, K_SHL, sum, y);
    x = k_select(&b, k_binary(&b, K_NE, sum, sum), x, sum);
  }
  k_store(&b, out, at, x, NULL);
  finish_case(c, &b);
}

// -- Memory and lanes ----------------------------------------------------------------------------

static void add_masked(leat_dtype dtype, int lanes) {
  k_builder b;
  test_case *c = new_case(&b, "masked", 5);
  const k_buffer *in = input(c, &b, dtype), *out = k_argument(&b, dtype),
                 *picked = k_argument(&b, dtype);
  k_value n = k_scalar(&b), at = k_mul(&b, k_tile(&b), k_i64(&b, lanes));
  c->scalars[0] = 4 * lanes + (lanes + 1) / 3;
  k_value each = k_add(&b, k_lane(&b, LEAT_i64, lanes), at), mask = k_lt(&b, each, n);
  k_store(&b, out, at, k_load(&b, in, at, lanes, mask), mask);
  k_value turned = k_sub(&b, k_sub(&b, n, k_i64(&b, 1)), each);
  k_store(&b, picked, at, k_gather(&b, in, turned, mask), NULL);
  k_value scattered = k_binary(&b, K_REM, k_mul(&b, each, k_i64(&b, 7)), k_i64(&b, ELEMENTS));
  k_store(&b, picked, k_add(&b, at, k_i64(&b, 128)), k_gather(&b, in, scattered, NULL), mask);
  finish_case(c, &b);
}

static void add_lanes(leat_dtype dtype) {
  k_builder b;
  test_case *c = new_case(&b, "lanes", 1);
  const k_buffer *in = input(c, &b, dtype), *out = k_argument(&b, dtype),
                 *any = k_argument(&b, LEAT_bool);
  k_value x = k_load(&b, in, k_i64(&b, 3), LEAT_LANES, NULL);
  int64_t to = 0;
  for (int lanes = LEAT_LANES; lanes > 1; lanes /= 2) {
    k_store(&b, out, k_i64(&b, to), k_half(&b, x, 1), NULL);
    k_store(&b, out, k_i64(&b, to + 16), k_splat(&b, lanes, k_extract(&b, x, lanes - 2)), NULL);
    k_value zero = k_cast(&b, dtype, k_int(&b, LEAT_i32, lanes, 0));
    k_store(&b, any, k_i64(&b, to), k_any(&b, k_binary(&b, K_EQ, x, zero)), NULL);
    x = k_half(&b, x, 0);
    to += 32;
  }
  k_store(&b, out, k_i64(&b, to), x, NULL);
  finish_case(c, &b);
}

// -- Control flow --------------------------------------------------------------------------------

// Fibonacci numbers: carried values that change places.
static void add_loop(void) {
  k_builder b;
  test_case *c = new_case(&b, "loop", 20);
  const k_buffer *out = k_argument(&b, LEAT_i64);
  k_value first[] = {k_i64(&b, 0), k_i64(&b, 1)}, tile = k_tile(&b);
  k_instr *loop = k_loop_begin(&b, k_i64(&b, 0), tile, 1, first, 2);
  k_value x = k_loop_carried(loop, 0), y = k_loop_carried(loop, 1);
  k_loop_end(&b, (k_value[]){y, k_add(&b, x, y)}, 2);
  k_store(&b, out, tile, k_result(&b, loop, 0), NULL);
  k_store(&b, out, k_add(&b, tile, k_i64(&b, 32)), k_result(&b, loop, 1), NULL);
  finish_case(c, &b);
}

// A local array, a loop that fills it, one that sums it backwards with steps of 3, in vectors and
// scalars.
static void add_local(void) {
  k_builder b;
  test_case *c = new_case(&b, "local", 3);
  const k_buffer *in = input(c, &b, LEAT_f32), *out = k_argument(&b, LEAT_f32);
  k_value zero = k_float(&b, LEAT_f32, 1, 0), at = k_mul(&b, k_tile(&b), k_i64(&b, 48));
  const k_buffer *local = k_local(&b, K_SPACE_REGISTER, LEAT_f32, 48);
  k_instr *fill = k_loop_begin(&b, k_i64(&b, 0), k_i64(&b, 48), LEAT_LANES, NULL, 0);
  k_value i = k_loop_index(fill);
  k_value x = k_load(&b, in, k_add(&b, at, i), LEAT_LANES, NULL);
  k_store(&b, local, i, k_binary(&b, K_MIN, x, k_float(&b, LEAT_f32, 1, 2)), NULL);
  k_loop_end(&b, NULL, 0);
  k_barrier(&b);
  k_instr *sum = k_loop_begin(&b, k_i64(&b, 0), k_i64(&b, 48), 3, &zero, 1);
  k_value back = k_sub(&b, k_i64(&b, 47), k_loop_index(sum));
  k_value term = k_load(&b, local, back, 1, NULL);
  term =
      k_select(&b, k_lt(&b, k_unary(&b, K_ABS, term), k_float(&b, LEAT_f32, 1, 100)), term, zero);
  k_value total = k_add(&b, k_loop_carried(sum, 0), term);
  k_store(&b, out, k_add(&b, at, k_loop_index(sum)), total, NULL);
  k_loop_end(&b, &total, 1);
  k_store(&b, out, k_add(&b, k_i64(&b, 200), k_tile(&b)), k_result(&b, sum, 0), NULL);
  finish_case(c, &b);
}

// The number of Collatz steps: a while, with an if inside that yields, and one that only stores.
static void add_while(void) {
  k_builder b;
  test_case *c = new_case(&b, "while", 60);
  const k_buffer *out = k_argument(&b, LEAT_i64), *high = k_argument(&b, LEAT_bool);
  k_value first[] = {k_add(&b, k_tile(&b), k_i64(&b, 1)), k_i64(&b, 0)};
  k_instr *loop = k_while_begin(&b, first, 2);
  k_value n = k_loop_carried(loop, 0), steps = k_loop_carried(loop, 1);
  k_value rest = k_binary(&b, K_REM, n, k_i64(&b, 2));
  k_while_do(&b, k_binary(&b, K_NE, n, k_i64(&b, 1)));
  k_instr *branch = k_if_begin(&b, k_binary(&b, K_EQ, rest, k_i64(&b, 0)));
  k_value half = k_binary(&b, K_DIV, n, k_i64(&b, 2));
  k_if_else(&b, &half, 1);
  k_value more = k_fma(&b, n, k_i64(&b, 3), k_i64(&b, 1));
  k_if_end(&b, &more, 1);
  k_while_end(&b, (k_value[]){k_result(&b, branch, 0), k_add(&b, steps, k_i64(&b, 1))}, 2);
  k_value count = k_result(&b, loop, 1);
  k_if_begin(&b, k_lt(&b, k_i64(&b, 20), count));
  k_store(&b, high, k_tile(&b), k_int(&b, LEAT_bool, 1, 1), NULL);
  k_if_end(&b, NULL, 0);
  k_store(&b, out, k_tile(&b), count, NULL);
  finish_case(c, &b);
}

static void add_fail(void) {
  k_builder b;
  test_case *c = new_case(&b, "fail", 10);
  const k_buffer *out = k_argument(&b, LEAT_i64);
  k_value limit = k_scalar(&b), tile = k_tile(&b);
  c->scalars[0] = 6;
  uint32_t never = k_site(&b), site = k_site(&b);
  k_fail_if(&b, k_lt(&b, tile, k_i64(&b, 0)), tile, never, LEAT_INVALID);
  k_instr *loop = k_loop_begin(&b, k_i64(&b, 0), tile, 1, NULL, 0);
  k_fail_if(&b, k_lt(&b, limit, k_loop_index(loop)), k_loop_index(loop), site, LEAT_OUT_OF_RANGE);
  k_loop_end(&b, NULL, 0);
  k_store(&b, out, tile, k_add(&b, tile, k_i64(&b, 1)), NULL);
  finish_case(c, &b);
}

// In tile 4 the upper half of the lanes fails, on values of the dtype.
static void add_fail_lanes(leat_dtype dtype, int lanes) {
  k_builder b;
  test_case *c = new_case(&b, "fail of lanes", 10);
  const k_buffer *out = k_argument(&b, LEAT_i64);
  k_value half = k_scalar(&b), lane = k_lane(&b, LEAT_i64, lanes);
  c->scalars[0] = lanes / 2;
  k_value values = k_cast(&b, dtype, k_mul(&b, k_add(&b, lane, k_tile(&b)), k_i64(&b, -77)));
  k_value upper = k_binary(&b, K_LE, half, lane), none = k_lt(&b, lane, k_i64(&b, 0));
  k_value now = k_binary(&b, K_EQ, k_tile(&b), k_i64(&b, 4));
  uint32_t site = k_site(&b);
  k_store(&b, out, k_tile(&b), k_tile(&b), NULL);
  k_fail_if(&b, none, k_tile(&b), site, LEAT_INVALID);
  k_fail_if(&b, k_binary(&b, K_AND, none, upper), values, site, LEAT_INVALID);
  k_fail_if(&b, k_binary(&b, K_AND, now, upper), values, site, LEAT_OUT_OF_RANGE);
  finish_case(c, &b);
}

static void add_all_cases(void) {
  static const int lanes[] = {1, 2, 4, 8, LEAT_LANES};
  if (case_count) return;
  for (int d = 0; d < DTYPES; d++) {
    for (int i = 0; i < 5; i += 4) { // scalars and whole vectors
      add_elementwise(dtypes[d], lanes[i]);
      add_casts(dtypes[d], lanes[i]);
      add_constants(dtypes[d], lanes[i]);
    }
    for (int i = 0; i < 5; i++) add_masked(dtypes[d], lanes[i]);
    add_lanes(dtypes[d]);
  }
  add_loop();
  add_local();
  add_while();
  add_fail();
  for (int i = 0; i < 5; i++) {
    add_fail_lanes(LEAT_i64, lanes[i]);
    add_fail_lanes(LEAT_i16, lanes[i]);
    add_fail_lanes(LEAT_u8, lanes[i]);
  }
}

TEST(llvm_agrees_with_the_interpreter) {
  leat_codegen_compile compile = llvm_generator();
  add_all_cases();
  if (!compile) CHECK_SKIP("this build has no LLVM");
  run_cases(compile, leat_cpu_host_level(), "LLVM, host");
  int levels = (int)leat_cpu_host_level() + 1 - (int)LEAT_CPU_BASELINE;
  int drawn = (int)LEAT_CPU_BASELINE + check_seed() % levels;
  leat_cpu_level level = (leat_cpu_level)drawn;
  run_cases(compile, level, leat_cpu_level_name(level));
}

TEST(c_agrees_with_the_interpreter) {
  leat_codegen_compile compile = c_generator();
  add_all_cases();
  if (!compile) CHECK_SKIP("there is no C compiler");
  run_cases(compile, leat_cpu_host_level(), "C");
}

// -- The builder, the printer and the verifier ---------------------------------------------------

static void check_text(k_builder *b, const char *wanted) {
  leat_text text = {0};
  leat_error error = {0};
  const leat_kernel *kernel = k_finish(b);
  if (leat_kernel_verify(kernel, &error)) CHECK_FAILED("%s", error.message);
  leat_kernel_print(kernel, &text);
  CHECK_EQ_STR(text.data, wanted);
  leat_text_finish(&text);
}

TEST(builder_folds_and_shares) {
  leat_arena *own = leat_arena_create();
  k_builder b;
  k_begin(&b, own, "fold");
  const k_buffer *in = k_argument(&b, LEAT_f32), *out = k_argument(&b, LEAT_f32);
  k_value n = k_scalar(&b), zero = k_i64(&b, 0), one = k_i64(&b, 1);
  k_value seven = k_add(&b, k_mul(&b, k_i64(&b, 3), k_i64(&b, 2)), one);
  CHECK(seven == k_i64(&b, 7));
  CHECK(k_add(&b, n, zero) == n);
  CHECK(k_mul(&b, one, n) == n);
  CHECK(k_mul(&b, n, zero) == zero);
  CHECK(k_binary(&b, K_DIV, n, one) == n);
  CHECK(k_add(&b, n, seven) == k_add(&b, n, seven));
  k_value rows = k_mul(&b, k_binary(&b, K_DIV, n, seven), seven); // a place that is taken apart
  CHECK(k_add(&b, rows, k_binary(&b, K_SUB, n, rows)) == n);
  CHECK(k_select(&b, k_int(&b, LEAT_bool, 1, 1), n, seven) == n);
  CHECK(k_extract(&b, k_splat(&b, 16, n), 5) == n);
  CHECK(k_load(&b, in, n, 16, NULL) == k_load(&b, in, n, 16, k_int(&b, LEAT_bool, 16, 1)));
  k_value x = k_load(&b, in, n, 16, NULL);
  k_store(&b, out, n, x, NULL);
  k_value again = k_load(&b, in, n, 16, NULL); // `out` may be `in`
  CHECK(again != x);
  k_store(&b, out, seven, k_mul(&b, x, k_float(&b, LEAT_f32, 1, 1)), NULL); // 1 * NaN is not x
  check_text(&b, "kernel(b0: f32, b1: out f32; 1 scalars) {\n"
                 "  v0: i64 = scalar #0\n"
                 "  v1: f32x16 = load b0[v0]\n"
                 "  store b1[v0] = f32x16 v1\n"
                 "  v2: f32x16 = mul v1, 1.0\n"
                 "  store b1[7] = f32x16 v2\n"
                 "}\n");
  leat_arena_destroy(own);
}

TEST(builder_knows_identities) {
  leat_arena *own = leat_arena_create();
  k_builder b;
  k_begin(&b, own, "identities");
  k_value n = k_scalar(&b), m = k_scalar(&b), zero = k_i64(&b, 0), one = k_i64(&b, 1);
  k_value p = k_lt(&b, n, m), q = k_lt(&b, m, n);
  k_value no = k_int(&b, LEAT_bool, 1, 0), yes = k_int(&b, LEAT_bool, 1, 1);
  const struct {
    k_op op;
    k_value x, y, is;
  } known[] = {
      {K_ADD, n, zero, n},    {K_ADD, zero, n, n},    {K_OR, n, zero, n},     {K_OR, zero, n, n},
      {K_XOR, n, zero, n},    {K_XOR, zero, n, n},    {K_SUB, n, zero, n},    {K_SHL, n, zero, n},
      {K_SHR, n, zero, n},    {K_MUL, n, zero, zero}, {K_MUL, zero, n, zero}, {K_MUL, n, one, n},
      {K_MUL, one, n, n},     {K_DIV, n, one, n},     {K_REM, n, one, zero},  {K_AND, n, n, n},
      {K_AND, n, zero, zero}, {K_AND, zero, n, zero}, {K_AND, p, no, no},     {K_AND, no, p, no},
      {K_AND, p, yes, p},     {K_AND, yes, p, p},     {K_AND, p, p, p},
  };
  for (size_t i = 0; i < sizeof known / sizeof *known; i++)
    if (k_binary(&b, known[i].op, known[i].x, known[i].y) != known[i].is)
      CHECK_FAILED("known[%zu]", i);
  const struct {
    k_op op;
    k_value x, y;
  } unknown[] = {{K_SUB, zero, n}, {K_DIV, one, n}, {K_REM, one, n}, {K_SHL, zero, n},
                 {K_SHR, one, n},  {K_AND, n, one}, {K_AND, n, m},   {K_AND, p, q}};
  for (size_t i = 0; i < sizeof unknown / sizeof *unknown; i++)
    if (k_binary(&b, unknown[i].op, unknown[i].x, unknown[i].y)->op != unknown[i].op)
      CHECK_FAILED("unknown[%zu]", i);
  CHECK(k_unary(&b, K_NOT, k_unary(&b, K_NOT, p)) == p);
  leat_arena_destroy(own);
}

TEST(multiples_of_indices_are_known) {
  leat_arena *own = leat_arena_create();
  k_builder b;
  k_begin(&b, own, "multiples");
  k_value n = k_scalar(&b), low = k_mul(&b, k_tile(&b), k_i64(&b, 48));
  CHECK_EQ_INT(k_multiple(n), 1);
  CHECK_EQ_INT(k_multiple(k_i64(&b, 0)), 64);
  CHECK_EQ_INT(k_multiple(k_i64(&b, -24)), 8);
  CHECK_EQ_INT(k_multiple(low), 16);
  k_instr *loop = k_loop_begin(&b, low, n, 8, NULL, 0);
  k_value i = k_loop_index(loop);
  CHECK_EQ_INT(k_multiple(i), 8);
  CHECK_EQ_INT(k_multiple(k_add(&b, k_mul(&b, i, k_i64(&b, 6)), low)), 16);
  CHECK_EQ_INT(k_multiple(k_add(&b, i, n)), 1);
  k_loop_end(&b, NULL, 0);
  k_finish(&b);
  leat_arena_destroy(own);
}

// Comparisons that hold, or do not, wherever a loop is; what is only known while running stays.
TEST(ranges_decide_comparisons) {
  leat_arena *own = leat_arena_create();
  k_builder b;
  k_begin(&b, own, "ranges");
  k_value n = k_scalar(&b), five = k_i64(&b, 5);
  k_instr *loop = k_loop_begin(&b, k_binary(&b, K_MAX, n, k_i64(&b, 2)), five, 1, NULL, 0);
  k_value i = k_loop_index(loop), place = k_sub(&b, k_mul(&b, i, k_i64(&b, 3)), k_i64(&b, 6));
  k_value seven = k_i64(&b, 7), quotient = k_binary(&b, K_DIV, i, seven);
  k_value rest = k_sub(&b, i, k_mul(&b, quotient, seven)),
          half = k_binary(&b, K_SHR, i, k_i64(&b, 1));
  k_value low_bits = k_binary(&b, K_AND, n, k_i64(&b, 3)), end = k_binary(&b, K_MIN, n, five);
  k_value down = k_sub(&b, k_i64(&b, 0), i);
  const struct {
    k_op op;
    k_value x, y;
    int64_t is;
  } known[] = {{K_LE, k_i64(&b, 0), place, 1},
               {K_LT, place, k_i64(&b, 7), 1},
               {K_LT, place, k_i64(&b, 0), 0},
               {K_LE, k_i64(&b, 7), place, 0},
               {K_LT, rest, seven, 1},
               {K_LT, half, k_i64(&b, 3), 1},
               {K_LE, k_i64(&b, 1), half, 1},
               {K_LE, low_bits, k_i64(&b, 3), 1},
               {K_LT, low_bits, k_i64(&b, 0), 0},
               {K_LE, end, five, 1},
               {K_LE, down, k_i64(&b, -2), 1},
               {K_LE, k_i64(&b, -4), down, 1}};
  for (size_t k = 0; k < sizeof known / sizeof *known; k++)
    if (k_binary(&b, known[k].op, known[k].x, known[k].y) != k_int(&b, LEAT_bool, 1, known[k].is))
      CHECK_FAILED("known[%zu]", k);
  CHECK(k_binary(&b, K_MIN, place, k_i64(&b, 6)) == place);
  CHECK(k_binary(&b, K_MAX, k_i64(&b, 0), place) == place);
  const struct {
    k_op op;
    k_value x, y;
  } open[] = {{K_LE, k_i64(&b, 1), place},
              {K_LT, place, k_i64(&b, 6)},
              {K_LE, k_i64(&b, 0), end},
              {K_LT, n, five},
              {K_LE, low_bits, k_i64(&b, 2)},
              {K_LT, k_mul(&b, i, n), five},
              {K_LT, k_add(&b, i, k_i64(&b, INT64_MAX)), five}};
  for (size_t k = 0; k < sizeof open / sizeof *open; k++)
    if (k_binary(&b, open[k].op, open[k].x, open[k].y)->op != open[k].op)
      CHECK_FAILED("open[%zu]", k);
  CHECK(k_binary(&b, K_MIN, place, five)->op == K_MIN);
  k_loop_end(&b, NULL, 0);
  CHECK(k_lt(&b, k_tile(&b), five)->op == K_LT);
  k_finish(&b);
  leat_arena_destroy(own);
}

TEST(builder_moves_out_of_loops_not_of_branches) {
  leat_arena *own = leat_arena_create();
  k_builder b;
  k_begin(&b, own, "move");
  const k_buffer *out = k_argument(&b, LEAT_i64);
  k_value n = k_scalar(&b), zero = k_i64(&b, 0);
  k_instr *loop = k_loop_begin(&b, zero, n, 2, &zero, 1);
  k_value square = k_mul(&b, n, n), sum = k_add(&b, k_loop_carried(loop, 0), square);
  k_if_begin(&b, k_lt(&b, sum, n));
  k_store(&b, out, sum, k_binary(&b, K_DIV, n, k_i64(&b, 3)), NULL);
  k_if_end(&b, NULL, 0);
  k_loop_end(&b, &sum, 1);
  k_store(&b, out, zero, k_binary(&b, K_DIV, n, k_i64(&b, 3)), NULL); // the one above is not seen
  k_fail_if(&b, k_lt(&b, n, zero), n, k_site(&b), LEAT_INVALID);
  k_store(&b, out, n, k_result(&b, loop, 0), NULL);
  check_text(&b, "kernel(b0: out i64; 1 scalars) {\n"
                 "  v0: i64 = scalar #0\n"
                 "  v1: i64 = mul v0, v0\n"
                 "  v2 = loop 0, v0, 2 (v3: i64, v4: i64 = 0) {\n"
                 "    v5: i64 = add v4, v1\n"
                 "    v6: bool = lt i64 v5, v0\n"
                 "    v7 = if v6 {\n"
                 "      v8: i64 = div v0, 3\n"
                 "      store b0[v5] = i64 v8\n"
                 "    }\n"
                 "    yield v5\n"
                 "  }\n"
                 "  v9: i64 = div v0, 3\n"
                 "  store b0[0] = i64 v9\n"
                 "  v10: bool = lt i64 v0, 0\n"
                 "  fail_if v10 #0: invalid input, v0\n"
                 "  v11: i64 = result v2 #0\n"
                 "  store b0[v0] = i64 v11\n"
                 "}\n");
  leat_arena_destroy(own);
}

// A small right kernel with one thing made wrong after it was built.
static void check_refused(void (*spoil)(k_instr *load, k_instr *store), const char *wanted) {
  leat_arena *own = leat_arena_create();
  k_builder b;
  leat_error error = {0};
  k_begin(&b, own, "spoilt");
  const k_buffer *in = k_argument(&b, LEAT_f32), *out = k_argument(&b, LEAT_f32);
  k_value load = k_load(&b, in, k_tile(&b), 1, NULL);
  k_store(&b, out, k_tile(&b), load, NULL);
  leat_kernel *kernel = k_finish(&b);
  CHECK_EQ_INT(leat_kernel_verify(kernel, &error), LEAT_OK);
  spoil(kernel->body.instrs.items[1], kernel->body.instrs.items[2]);
  CHECK(leat_kernel_verify(kernel, &error));
  if (!strstr(error.message, wanted)) CHECK_FAILED("'%s', not '%s'", error.message, wanted);
  leat_arena_destroy(own);
}

static void spoil_order(k_instr *load, k_instr *store) {
  load->args[0] = store->args[1]; // itself
}

static void spoil_dtype(k_instr *load, k_instr *store) {
  (void)store;
  load->dtype = LEAT_i32;
}

static void spoil_lanes(k_instr *load, k_instr *store) {
  (void)store;
  load->lanes = 3;
}

static void spoil_count(k_instr *load, k_instr *store) {
  (void)load;
  store->arg_count = 1;
}

static void spoil_support(k_instr *load, k_instr *store) {
  (void)store;
  load->dtype = LEAT_c64;
}

TEST(verifier_refuses) {
  check_refused(spoil_order, "is not defined here");
  check_refused(spoil_dtype, "wrong element type");
  check_refused(spoil_lanes, "values of type f32 in 3 lanes");
  check_refused(spoil_count, "1 operands");
  check_refused(spoil_support, "values of type c64");
}

TEST(verifier_refuses_steps_that_lead_nowhere) {
  for (int64_t step = -1; step <= 1; step++) {
    leat_arena *own = leat_arena_create();
    k_builder b;
    leat_error error = {0};
    k_begin(&b, own, "steps");
    k_value wanted = k_i64(&b, step);
    k_instr *loop = k_loop_begin(&b, k_i64(&b, 0), k_tile(&b), 1, NULL, 0);
    k_loop_end(&b, NULL, 0);
    loop->args[2] = wanted;
    CHECK_EQ_INT(leat_kernel_verify(k_finish(&b), &error), step > 0 ? LEAT_OK : LEAT_INTERNAL);
    if (step <= 0) CHECK(strstr(error.message, "the step is a positive constant"));
    leat_arena_destroy(own);
  }
}

TEST(verifier_bounds_the_stack) {
  leat_arena *own = leat_arena_create();
  k_builder b;
  leat_error error = {0};
  k_begin(&b, own, "large");
  k_local(&b, K_SPACE_REGISTER, LEAT_f64, (int64_t)1 << 60);
  CHECK(leat_kernel_verify(k_finish(&b), &error));
  CHECK(strstr(error.message, "local arrays take more than"));
  leat_arena_destroy(own);
}

CHECK_MAIN("kernel")
