// The math functions as kernels against libm: f32 from all over its range in steps that hit every
// exponent, f64 from the ranges where each has something to do, and the special values. f32 is
// compared with libm's f64, f64 with its long double.
#include "kernel/lowering.h"
#include "leat/artifact.h"
#include "runtime/object_load.h"
#include "tests/unit/check.h"
#include "tests/unit/generators.h"

#include <math.h>
#include <stdlib.h>

enum { COUNT = 4096, F32_STEP = 40009 };

typedef struct math_function {
  const char *name;
  k_value (*build)(k_builder *b, k_value x);
  double (*reference)(double x);
  long double (*long_reference)(long double x);
  double most_ulps;
  double ranges[3][2]; // of f64 values tried
} math_function;

// Powers: of all numbers, and those of numbers around 1 that are nearly too large or too small.
#define POWER(name, exponent)                                                                      \
  static k_value k_##name(k_builder *b, k_value x) {                                               \
    return k_pow(b, x, k_float(b, x->dtype, x->lanes, exponent));                                  \
  }                                                                                                \
  static double name(double x) {                                                                   \
    return pow(x, exponent);                                                                       \
  }                                                                                                \
  static long double name##l(long double x) {                                                      \
    return powl(x, exponent);                                                                      \
  }
POWER(near_root, 0.75)
POWER(half_power, 0.5)
POWER(quarter_down, -0.25)
POWER(quarters_down, -0.75)
POWER(cube, 3)
POWER(large_power, 237.5)
POWER(small_power, -253)

// Of the C library's names.
#define FUNCTION(name, most_ulps, ...)                                                             \
  { #name, k_##name, name, name##l, most_ulps, __VA_ARGS__ }
static const math_function functions[] = {
    FUNCTION(exp, 1, {{-1, 1}, {-750, 715}, {-1e-5, 1e-5}}),
    FUNCTION(log, 1, {{0.5, 2}, {0, 1e4}, {0, 1e-307}}),
    FUNCTION(tanh, 2, {{-1, 1}, {-25, 25}, {-1e-5, 1e-5}}),
    FUNCTION(exp2, 1, {{-1, 1}, {-1080, 1026}, {-1e-5, 1e-5}}),
    FUNCTION(expm1, 2, {{-1, 1}, {-60, 711}, {-1e-5, 1e-5}}),
    FUNCTION(log2, 1.1, {{0.5, 2}, {0, 1e4}, {0, 1e-307}}),
    FUNCTION(log10, 1, {{0.5, 2}, {0, 1e4}, {0, 1e-307}}),
    FUNCTION(log1p, 1.5, {{-1, 2}, {0, 1e17}, {-1e-5, 1e-5}}),
    FUNCTION(sin, 1, {{-4, 4}, {-1e6, 1e6}, {-1e22, 1e22}}),
    FUNCTION(cos, 1, {{-4, 4}, {-1e6, 1e6}, {-1e22, 1e22}}),
    FUNCTION(tan, 2.5, {{-4, 4}, {-1e6, 1e6}, {-1e22, 1e22}}),
    FUNCTION(asin, 1, {{-1, 1}, {-0.6, 0.6}, {-1e-5, 1e-5}}),
    FUNCTION(acos, 1, {{-1, 1}, {-0.6, 0.6}, {0.9999, 1}}),
    FUNCTION(atan, 2, {{-3, 3}, {-1e3, 1e3}, {-1e-5, 1e-5}}),
    FUNCTION(sinh, 3, {{-1, 1}, {-712, 712}, {-1e-5, 1e-5}}),
    FUNCTION(cosh, 2, {{-1, 1}, {-712, 712}, {-30, 30}}),
    FUNCTION(asinh, 2, {{-2, 2}, {-1e10, 1e10}, {-1e-5, 1e-5}}),
    FUNCTION(acosh, 3, {{1, 2}, {1, 1e10}, {1, 1.00001}}),
    FUNCTION(atanh, 2, {{-1, 1}, {-0.3, 0.3}, {-1e-5, 1e-5}}),
    FUNCTION(cbrt, 1, {{-8, 8}, {-1e300, 1e300}, {-1e-307, 1e-307}}),
    FUNCTION(near_root, 1, {{0, 2}, {0, 1e300}, {-1, 1}}),
    FUNCTION(half_power, 1, {{0, 2}, {0, 1e300}, {-1, 1}}),
    FUNCTION(quarter_down, 1, {{0, 2}, {0, 1e300}, {-1, 1}}),
    FUNCTION(quarters_down, 1, {{0, 2}, {0, 1e300}, {-1, 1}}),
    FUNCTION(cube, 2, {{-2, 2}, {0, 1e100}, {0, 1e-105}}),
    FUNCTION(large_power, 2, {{0.5, 2}, {0.1, 18}, {0.99, 1.01}}),
    FUNCTION(small_power, 2, {{0.5, 2}, {-18, 18}, {0.99, 1.01}}),
    FUNCTION(erf, 1.5, {{-1, 1}, {-6, 6}, {-1e-5, 1e-5}}),
    FUNCTION(erfc, 4, {{-1, 1}, {-6, 28}, {0, 10}}),
};
enum { FUNCTIONS = sizeof functions / sizeof *functions };

// A kernel that applies the function to 16 elements a tile.
// NULL: that has failed.
static leat_loaded_object *compile(const math_function *f, leat_dtype dtype,
                                   leat_codegen_compile generate) {
  leat_error error = {0};
  leat_object object = {0};
  leat_loaded_object *loaded = NULL;
  k_builder b;
  leat_arena *arena = leat_arena_create();
  k_begin(&b, arena, f->name);
  const k_buffer *in = k_argument(&b, dtype), *out = k_argument(&b, dtype);
  k_value at = k_mul(&b, k_tile(&b), k_i64(&b, LEAT_LANES));
  k_store(&b, out, at, f->build(&b, k_load(&b, in, at, LEAT_LANES, NULL)), NULL);
  const leat_kernel *kernel = k_finish(&b);
  if (leat_kernel_verify(kernel, &error)) CHECK_FAILED("%s", error.message);
  leat_codegen_request request = {.kernels = &kernel,
                                  .symbols = &(const char *){"f"},
                                  .kernel_count = 1,
                                  .target = target_of(leat_cpu_host_level())};
  if (generate(&request, &object, &error) ||
      leat_object_load(object.data, object.size, &loaded, &error))
    CHECK_FAILED("%s: %s", f->name, error.message);
  leat_object_finish(&object);
  leat_arena_destroy(arena);
  return loaded;
}

static void apply(const leat_loaded_object *object, void *in, void *out) {
  void *address = leat_object_symbol(object, "f");
  leat_arg args[] = {{.pointer = in}, {.pointer = out}};
  ((leat_kernel_function)(uintptr_t)address)(NULL, args, 0, COUNT / LEAT_LANES);
}

// The distance in units of the last place of the wanted value.
static double ulps(long double got, long double wanted, bool single) {
  long double rounded = single ? (long double)(float)wanted : (long double)(double)wanted;
  if (isnan(rounded) || isinf(rounded) || rounded == 0)
    return (isnan(rounded) && isnan(got)) || (got == rounded && signbit(got) == signbit(rounded))
               ? 0
               : fabsl(got - wanted) / (single ? 0x1p-149L : 0x1p-1074L);
  if (isnan(got) || isinf(got)) return INFINITY;
  int exponent, least = single ? -149 : -1074;
  frexpl(wanted, &exponent);
  exponent -= single ? 24 : 53;
  return fabsl(got - wanted) / ldexpl(1, exponent < least ? least : exponent);
}

static void check_f32(const math_function *f, const leat_loaded_object *object) {
  static _Alignas(64) float in[COUNT], out[COUNT];
  double worst = 0;
  float at = 0;
  for (uint64_t bits = 0; bits <= UINT32_MAX;) {
    for (int i = 0; i < COUNT; i++, bits += F32_STEP) {
      uint32_t word = (uint32_t)bits;
      memcpy(&in[i], &word, sizeof word);
    }
    apply(object, in, out);
    for (int i = 0; i < COUNT; i++) {
      double error = ulps(out[i], f->reference(in[i]), true);
      if (error > worst) worst = error, at = in[i];
    }
  }
  if (worst > f->most_ulps) CHECK_FAILED("%s of f32 %a is %.3f ulp off", f->name, at, worst);
}

static void check_f64(const math_function *f, const leat_loaded_object *object) {
  static _Alignas(64) double in[COUNT], out[COUNT];
  double worst = 0, at = 0;
  uint64_t random = 1;
  for (int round = 0; round < 64; round++) {
    const double *range = f->ranges[round % 3];
    for (int i = 0; i < COUNT; i++) {
      random = random * 6364136223846793005u + 1442695040888963407u;
      in[i] = range[0] + (range[1] - range[0]) * ((double)(random >> 11) * 0x1p-53);
      if (round % 8 == 7) memcpy(&in[i], &random, sizeof random); // any bits
    }
    apply(object, in, out);
    for (int i = 0; i < COUNT; i++) {
      double error = ulps(out[i], f->long_reference(in[i]), false);
      if (error > worst) worst = error, at = in[i];
    }
  }
  if (worst > f->most_ulps) CHECK_FAILED("%s of f64 %a is %.3f ulp off", f->name, at, worst);
}

static void check_special(const math_function *f, const leat_loaded_object *object, bool single) {
  static const double special[] = {0.0,      -0.0,   1.0,    -1.0,     INFINITY, -INFINITY,
                                   NAN,      1e-45,  -1e-45, 0x1p-126, 5e-324,   -5e-324,
                                   88.72283, 88.73,  -87.3,  -87.4,    -103.9,   -104.5,
                                   709.78,   709.79, -708.5, -745.1,   -745.2,   1e300};
  static _Alignas(64) float in32[COUNT], out32[COUNT];
  static _Alignas(64) double in64[COUNT], out64[COUNT];
  int count = sizeof special / sizeof *special;
  for (int i = 0; i < count; i++) in64[i] = special[i], in32[i] = (float)special[i];
  apply(object, single ? (void *)in32 : (void *)in64, single ? (void *)out32 : (void *)out64);
  for (int i = 0; i < count; i++) {
    double x = single ? in32[i] : in64[i], got = single ? out32[i] : out64[i];
    double error = ulps(got, f->long_reference(x), single);
    if (error > f->most_ulps) CHECK_FAILED("%s(%g) is %g, %.3f ulp off", f->name, x, got, error);
  }
}

static void check_function(const math_function *f, leat_codegen_compile generate) {
  for (int single = 0; single < 2; single++) {
    leat_loaded_object *object = compile(f, single ? LEAT_f32 : LEAT_f64, generate);
    if (!object) return;
    check_special(f, object, single);
    if (single)
      check_f32(f, object);
    else
      check_f64(f, object);
    leat_object_unload(object);
  }
}

TEST(functions) {
  leat_codegen_compile generate = any_generator();
  if (!generate) CHECK_SKIP("there is neither LLVM nor a C compiler");
  for (int i = 0; i < FUNCTIONS; i++) check_function(&functions[i], generate);
}

CHECK_MAIN("kernel_math")
