// Subnormal numbers: zero by default, kept on request, whoever computes; and the caller's mode of
// floats is what it was.
#include "base/float_mode.h"
#include "tests/unit/opened.h"
#include "tests/unit/scratch.h"

#include <float.h>
#include <stdlib.h>

enum { MANY = 1 << 20 };

static const char text[] =
    "entry halves(x: f32[N], z: f64[2], h: bf16[2], k: f16[2]) -> "
    "(y: f32[N], w: f64[2], g: bf16[2], m: f16[2], moved: f32[N], is: bool[N]) {\n"
    "  y = x * 0.5\n"
    "  w = z * 0.5\n"
    "  g = h * 0.5\n"
    "  m = k * 0.5\n"
    "  moved = -flip(x)\n"
    "  is = x != 0\n"
    "}\n"
    "entry known() -> (small: f32[2]) { small = broadcast(1e-40, [2]) }\n"
    "entry finds(x: f32[2], i: i32[]) -> (y: f32[]) { y = x[i] * 0.5 }\n";

static const char *const targets[] = {"cpu", "c", "ref"};
enum { TARGETS = 3 };

// All but MXCSR's flags, which say what has happened since somebody asked.
static leat_float_mode control(void) {
  return leat_float_mode_of_thread() & ~(leat_float_mode)0x3f;
}

static leat_session *open_in(const char *target, const char *denormals, int threads,
                             const char *cache) {
  leat_session_options options = {
      .target = target, .denormals = denormals, .cache = cache, .threads = threads};
  return open_session_with(text, &options);
}

// `count` elements, all the least normal ones of their dtypes but for f16, of which it is the least
// of all but one.
static void check_halves(leat_session *session, int64_t count, bool kept) {
  float *x = malloc((size_t)count * sizeof *x);
  for (int64_t i = 0; i < count; i++) x[i] = i % 2 ? -FLT_MIN : FLT_MIN;
  double z[] = {DBL_MIN, -DBL_MIN};
  uint16_t h[] = {0x0080, 0x8080}, k[] = {0x0002, 0x0402}; // 2^-126; 2 and 1026 times 2^-24
  leat_tensor feeds[] = {{LEAT_f32, 1, {count}, x},
                         {LEAT_f64, 1, {2}, z},
                         {LEAT_bf16, 1, {2}, h},
                         {LEAT_f16, 1, {2}, k}};
  leat_tensor out[6];
  leat_step *step = prepare(session, "halves");
  leat_float_mode before = control();
  CHECK_EQ_INT(leat_step_run(step, feeds, out), LEAT_OK);
  CHECK(control() == before);
  int64_t wrong = 0;
  for (int64_t i = 0; i < count; i++) {
    uint32_t half = i % 2 << 31 | (kept ? 0x00400000 : 0);
    wrong += ((uint32_t *)out[0].data)[i] != half;
    wrong += ((float *)out[4].data)[i] != -x[count - 1 - i] || !((bool *)out[5].data)[i];
  }
  CHECK_EQ_INT(wrong, 0);
  const uint64_t *w = out[1].data;
  CHECK_EQ_INT(w[0], kept ? 1ull << 51 : 0);
  CHECK_EQ_INT(w[1], 1ull << 63 | (kept ? 1ull << 51 : 0));
  const uint16_t *g = out[2].data, *m = out[3].data;
  CHECK_EQ_INT(g[0], kept ? 0x40 : 0);
  CHECK_EQ_INT(g[1], 0x8000 | (kept ? 0x40 : 0));
  CHECK_EQ_INT(m[0], 0x0001);
  CHECK_EQ_INT(m[1], 0x0201);
  leat_step_destroy(step);
  free(x);
}

static void check_subnormal_operands(leat_session *session, bool kept) {
  uint32_t x[] = {0x00000001, 0x807fffff};
  uint64_t z[] = {1, 1ull << 63 | 1};
  uint16_t h[] = {0x0002, 0x8001}, k[] = {0x8002, 0x03fe};
  leat_tensor feeds[] = {
      {LEAT_f32, 1, {2}, x}, {LEAT_f64, 1, {2}, z}, {LEAT_bf16, 1, {2}, h}, {LEAT_f16, 1, {2}, k}};
  leat_tensor out[6];
  leat_step *step = prepare(session, "halves");
  CHECK_EQ_INT(leat_step_run(step, feeds, out), LEAT_OK);
  const uint32_t *y = out[0].data, *moved = out[4].data;
  CHECK_EQ_INT(y[0], 0);
  CHECK_EQ_INT(y[1], kept ? 0x80400000 : 0x80000000);
  CHECK_EQ_INT(moved[0], 0x007fffff); // what only moves is as it was
  CHECK_EQ_INT(moved[1], 0x80000001);
  CHECK_EQ_INT(((bool *)out[5].data)[0], kept);
  CHECK_EQ_INT(((uint64_t *)out[1].data)[1], 1ull << 63);
  CHECK_EQ_INT(((uint16_t *)out[2].data)[0], kept ? 1 : 0);
  CHECK_EQ_INT(((uint16_t *)out[3].data)[0], 0x8001);
  CHECK_EQ_INT(((uint16_t *)out[3].data)[1], 0x01ff);
  leat_step_destroy(step);
}

// A number of the text is what that says.
static void check_known(leat_session *session) {
  leat_tensor small;
  leat_step *step = prepare(session, "known");
  CHECK_EQ_INT(leat_step_run(step, NULL, &small), LEAT_OK);
  CHECK_EQ_INT(((uint32_t *)small.data)[1], 71362); // 1e-40
  leat_step_destroy(step);
}

#define NEEDS_THE_MODE                                                                             \
  if (!leat_denormals_can_be_zero()) CHECK_SKIP("this machine keeps subnormal numbers")

TEST(zero_unless_they_are_kept) {
  static const char *const modes[] = {NULL, "zero", "keep"};
  NEEDS_THE_MODE;
  for (int target = 0; target < TARGETS; target++)
    for (int mode = 0; mode < 3; mode++) {
      leat_session *session = open_in(targets[target], modes[mode], 1, "off");
      check_halves(session, 2, mode == 2);
      check_halves(session, 37, mode == 2);
      check_subnormal_operands(session, mode == 2);
      check_known(session);
      leat_session_destroy(session);
    }
}

TEST(every_thread_is_told) {
  NEEDS_THE_MODE;
  for (int kept = 0; kept < 2; kept++) {
    leat_session *session = open_in("cpu", kept ? "keep" : "zero", 4, "off");
    for (int i = 0; i < 3; i++) check_halves(session, MANY, kept);
    leat_session_destroy(session);
  }
}

// Whatever the caller's mode is, it stays, and changes nothing; a step that fails too.
TEST(callers_have_a_mode_of_their_own) {
  NEEDS_THE_MODE;
  for (int caller = 0; caller < 2; caller++)
    for (int kept = 0; kept < 2; kept++) {
      leat_float_mode first = leat_float_mode_begin(!caller);
      leat_float_mode before = control();
      leat_session *session = open_in("cpu", kept ? "keep" : "zero", 2, "off");
      check_halves(session, 4, kept);
      check_subnormal_operands(session, kept);
      check_known(session);
      float x[] = {1, 2};
      int32_t beyond = 7;
      leat_tensor feeds[] = {{LEAT_f32, 1, {2}, x}, {LEAT_i32, 0, {0}, &beyond}}, out;
      leat_step *step = prepare(session, "finds");
      CHECK(leat_step_run(step, feeds, &out) != LEAT_OK);
      leat_session_destroy(session);
      leat_float_mode after = control();
      leat_float_mode_end(first);
      CHECK(before == after);
      CHECK_EQ_INT(leat_denormals_are_zero(), 0);
    }
}

// What is folded while compiling is what a run would have computed.
TEST(constants_are_computed_alike) {
  static const char folded[] = "entry f(one: f32[2]) -> (known: f32[2], found: f32[2]) {\n"
                               "  tiny = cast(iota([2]) + 1, f32) * 1e-30\n"
                               "  known = tiny * 1e-10\n"
                               "  found = tiny * one * 1e-10\n"
                               "}\n";
  NEEDS_THE_MODE;
  for (int kept = 0; kept < 2; kept++) {
    leat_session *session = open_in("cpu", kept ? "keep" : "zero", 1, "off");
    float ones[] = {1, 1};
    leat_tensor one = {LEAT_f32, 1, {2}, ones}, out[2];
    CHECK_EQ_INT(leat_session_extend(session, folded, 0, "folded.leat"), LEAT_OK);
    leat_step *step = prepare(session, "f");
    CHECK_EQ_INT(leat_step_run(step, &one, out), LEAT_OK);
    CHECK(memcmp(out[0].data, out[1].data, 8) == 0);
    CHECK_EQ_INT(((uint32_t *)out[0].data)[1] != 0, kept);
    leat_session_destroy(session);
  }
}

TEST(cached_steps_are_of_one_mode) {
  char folder[SCRATCH_PATH];
  NEEDS_THE_MODE;
  scratch_path(folder, "cache");
  for (int i = 0; i < 4; i++) {
    leat_session *session = open_in("cpu", i % 2 ? "keep" : "zero", 1, folder);
    check_halves(session, 5, i % 2);
    leat_session_destroy(session);
  }
}

CHECK_MAIN("denormals")
