// erf, erfc and erfinv.
//
//   erf     f64: a polynomial on 0 … 1 (erfc: to a half), 1 − erfc above. f32: to 0.85, and above
//   it
//           1 − e^(−x·P(x))
//   erfc    e^(−x²)·R(t) / (1 + 2x), t = (x − 3)/(x + 3): one polynomial of all x
//   erfinv  f64: a polynomial of sqrt(3 − log(1 − x²)) within 2^-15, and a step of fifth order.
//           f32: x times a polynomial of −log(1 − x²), one of two
//
// f64 is within 1.5 ulp (erf) and 4 (erfc, erfinv); f32 within 1, 3.5 and 3.5. tools/fit_math.py
// makes the polynomials of f32.
#include "kernel/math_parts.h"

#include <math.h>

// erf(x) / x − 1 as a polynomial of x² on 0 … 1.
static const double erf_twice[] = {
    0.1283791670955126,      -0.3761263890318375,     0.11283791670954879,
    -0.026866170645076792,   0.0052239776248180145,   -0.000854832698083379,
    0.0001205533111164271,   -1.4925595266831182e-05, 1.6461000484121368e-06,
    -1.6350312701054695e-07, 1.4659775274047436e-08,  -1.1372848856791674e-09,
    5.957176147748911e-11};
// (1 + 2x)·e^(x²)·erfc(x) as a polynomial of (x − 3)/(x + 3), for x to 28 and 10.2.
static const double erfc_twice[] = {
    1.2530080582697296,     -0.1356211061245807,    -0.047562294353446374,   0.12964515870270552,
    -0.11927366341552853,   0.06830802734580459,    -0.02377051491423367,    0.002529391788270445,
    0.001888690312003782,   -0.0007798320379611115, -0.00010515949033775975, 0.00012509815174864322,
    4.948147875576539e-06,  -2.009663087595395e-05, -7.275875746667183e-07,  3.463997532352904e-06,
    3.4899197889744293e-07, -6.050048623933503e-07, -1.311166137536459e-07,  9.186243026143847e-08,
    3.29163439676632e-08,   -8.500119502115306e-09, -4.210104975119195e-09};

static const double erf_single[] = {0.12837916,    -0.376125718, 0.112827174,
                                    -0.0268025473, 0.005051094,  -0.000631512464}; // on 0 … 0.85
static const double erfc_single[] = {1.25300806,   -0.135621104,    -0.0475623762,  0.129645039,
                                     -0.1192716,   0.0683104392,    -0.0237887747,  0.00250809457,
                                     0.0019548849, -0.000695769159, -0.000188337329};
static const k_coefficients erf_terms = K_COEFFICIENTS(erf_twice, erf_single);
static const k_coefficients erfc_terms = K_COEFFICIENTS(erfc_twice, erfc_single);
// −log(1 − erf(x)) / x − 1 on 0.85 … 4: what f32 has of it.
static const double erf_large[] = {0.12852955,    0.635666363,   0.105331021,
                                   -0.0229347521, 0.00322904792, -0.000215708461};

static bool is_single(k_value x) {
  return x->dtype == LEAT_f32;
}

// erf(x) for |x| of at most 1 (f32: 0.85).
static k_value erf_small(k_builder *b, k_value x) {
  return k_near_fma(b, x, k_series(b, k_mul(b, x, x), &erf_terms, is_single(x)), x);
}

// erfc(x) for x >= 0, f32: >= a half.
static k_value erfc_positive(k_builder *b, k_value x) {
  k_value most = k_real(b, x, is_single(x) ? 10.2 : 28), three = k_real(b, x, 3);
  x = k_select(b, k_lt(b, most, x), most, x);
  k_pair square = k_two_product(b, x, x);
  k_value t = k_binary(b, K_DIV, k_sub(b, x, three), k_add(b, x, three));
  k_value below = k_near_fma(b, x, k_real(b, x, 2), k_real(b, x, 1));
  k_value rest = k_binary(b, K_DIV, k_series(b, t, &erfc_terms, is_single(x)), below);
  return k_exp_times(b, k_unary(b, K_NEG, square.high), k_unary(b, K_NEG, square.low), rest);
}

// 1 − e^(−x·P(x)) for x >= 0.85.
static k_value erf_large_f32(k_builder *b, k_value x) {
  k_value most = k_real(b, x, 4), one = k_real(b, x, 1); // of which erf is 1
  x = k_select(b, k_lt(b, most, x), most, x);
  k_value rest = k_polynomial(b, x, erf_large, sizeof erf_large / sizeof *erf_large - 1);
  k_value power = k_near_fma(b, rest, x, x);
  return k_sub(b, one, k_exp(b, k_unary(b, K_NEG, power)));
}

k_value k_erf(k_builder *b, k_value x) {
  k_value magnitude = k_unary(b, K_ABS, x), one = k_real(b, x, 1), large;
  large = is_single(x) ? erf_large_f32(b, magnitude) : k_sub(b, one, erfc_positive(b, magnitude));
  k_value is_large = k_lt(b, k_real(b, x, is_single(x) ? 0.85 : 1), magnitude);
  return k_copysign(b, k_select(b, is_large, large, erf_small(b, magnitude)), x);
}

k_value k_erfc(k_builder *b, k_value x) {
  k_value magnitude = k_unary(b, K_ABS, x), tail = erfc_positive(b, magnitude);
  k_value other = k_sub(b, k_real(b, x, 2), tail);
  k_value result = k_select(b, k_less_than(b, x, 0), other, tail);
  k_value small = k_sub(b, k_real(b, x, 1), erf_small(b, x));
  return k_select(b, k_less_than(b, magnitude, 0.5), small, result);
}

// -- erfinv --------------------------------------------------------------------------------------

// erfinv(x) / x as a polynomial of sqrt(3 − log(1 − x²)) − 4.
static const double erfinv_terms[] = {
    3.4418473753,       1.11846234459,      -0.028986461776,   0.0064271384499,   -0.00143823319863,
    0.00164741257015,   -0.000165787287099, -0.00134497199141, 0.000622219941313, 0.000152588505189,
    -0.000107142948238, -4.73516640298e-06, 5.57269718841e-06};

// For f32, erfinv(x) / x as polynomials of w = −log(1 − x²), to 5.5, and from there to 16 of w −
// 10: of w itself, their terms would cancel.
static const double erfinv_center[] = {
    0.886226908,    0.232014267,    0.0115460245,   -0.00232847251, -0.000133855834,
    4.84424138e-05, 2.60992895e-06, -1.6950008e-06, 1.90109925e-07, -7.38283995e-09};
static const double erfinv_edge[] = {
    2.995746,       0.158781679,    -0.00380746682, 0.000171450477, -8.36982732e-06,
    3.06540913e-07, 7.56753168e-09, -4.3679594e-09, 6.41701468e-10, -3.58569823e-11};

static k_value erfinv_f32(k_builder *b, k_value x) {
  k_value square = k_near_fma(b, k_unary(b, K_NEG, x), x, k_real(b, x, 1));
  k_value w = k_unary(b, K_NEG, k_log_normal(b, square)), is_edge = k_lt(b, k_real(b, x, 5.5), w);
  int degree = sizeof erfinv_center / sizeof *erfinv_center - 1;
  k_value ratio = k_polynomial(b, w, erfinv_center, degree);
  k_instr *branch = k_if_begin(b, k_any(b, is_edge));
  k_value edge = k_polynomial(b, k_sub(b, w, k_real(b, x, 10)), erfinv_edge, degree);
  k_value all = k_select(b, is_edge, edge, ratio);
  k_if_else(b, &all, 1);
  k_if_end(b, &ratio, 1);
  return k_mul(b, x, k_result(b, branch, 0));
}

static k_value erfinv_guess(k_builder *b, k_value x) {
  k_value one = k_real(b, x, 1), product = k_mul(b, k_sub(b, one, x), k_add(b, one, x));
  k_value v = k_unary(b, K_SQRT, k_sub(b, k_real(b, x, 3), k_log(b, product)));
  v = k_sub(b, v, k_real(b, x, 4));
  return k_mul(b, x, k_polynomial(b, v, erfinv_terms, sizeof erfinv_terms / sizeof(double) - 1));
}

// With u = (erf(y) − x) / erf'(y) the inverse is y − u + y·u² − (8y²+2)/6·u³ + (48y³+28y)/24·u⁴ − …
// It is linear near 0, so that there x is lifted, whose error would be denormal.
static k_value erfinv_f64(k_builder *b, k_value x) {
  k_value tiny = k_less_than(b, x, 0x1p-900);
  x = k_mul(b, x, k_select(b, tiny, k_real(b, x, 0x1p200), k_real(b, x, 1)));
  k_value y = erfinv_guess(b, x), one = k_real(b, x, 1), square = k_mul(b, y, y);
  k_value small = k_sub(b, erf_small(b, y), x);
  k_value large = k_sub(b, k_sub(b, one, x), erfc_positive(b, y));
  k_value u = k_mul(b, k_select(b, k_less_than(b, x, 0.5), small, large), k_exp(b, square));
  u = k_mul(b, u, k_real(b, x, 0x1.c5bf891b4ef6bp-1)); // sqrt(π)/2
  k_value third = k_near_fma(b, square, k_real(b, x, -4.0 / 3), k_real(b, x, -1.0 / 3));
  k_value fourth = k_mul(b, y, k_near_fma(b, square, k_real(b, x, 2), k_real(b, x, 7.0 / 6)));
  k_value series = k_near_fma(b, u, k_near_fma(b, u, fourth, third), y);
  y = k_add(b, y, k_mul(b, u, k_near_fma(b, u, series, k_real(b, x, -1))));
  return k_mul(b, y, k_select(b, tiny, k_real(b, x, 0x1p-200), k_real(b, x, 1)));
}

k_value k_erfinv(k_builder *b, k_value x) {
  k_value magnitude = k_unary(b, K_ABS, x), one = k_real(b, x, 1);
  k_value is_inside = k_lt(b, magnitude, one);
  k_value inside = k_select(b, is_inside, magnitude, k_real(b, x, 0.5));
  k_value result = is_single(x) ? erfinv_f32(b, inside) : erfinv_f64(b, inside);
  k_value edge =
      k_select(b, k_binary(b, K_EQ, magnitude, one), k_real(b, x, INFINITY), k_real(b, x, NAN));
  return k_copysign(b, k_select(b, is_inside, result, edge), x);
}
