// erf, erfc and erfinv.
//
//   erf     a polynomial on 0 … 1 (erfc: to a half), 1 − erfc above
//   erfc    e^(−x²)·R(t) / (1 + 2x), t = (x − 3)/(x + 3): one polynomial of all x
//   erfinv  a polynomial of sqrt(3 − log(1 − x²)) within 2^-15, and a step of fifth order (f32:
//   third)
//
// f64 is within 1.5 ulp (erf) and 4 (erfc, erfinv); f32 within 0.51, erfinv 1.
#include "kernel/math_parts.h"

#include <math.h>

// erf(x) / x − 1 as a polynomial of x² on 0 … 1.
static const double erf_full[] = {
    0.1283791670955126,      -0.3761263890318375,     0.11283791670954879,
    -0.026866170645076792,   0.0052239776248180145,   -0.000854832698083379,
    0.0001205533111164271,   -1.4925595266831182e-05, 1.6461000484121368e-06,
    -1.6350312701054695e-07, 1.4659775274047436e-08,  -1.1372848856791674e-09,
    5.957176147748911e-11};
static const double erf_brief[] = {
    0.12837916706154343,  -0.3761263846802871,    0.11283782495236845,    -0.026865430727670243,
    0.005221031807858023, -0.0008484080405535107, 0.00011265959025606609, -9.667044571486996e-06};
// (1 + 2x)·e^(x²)·erfc(x) as a polynomial of (x − 3)/(x + 3), for x to 28 and 10.2.
static const double erfc_full[] = {
    1.2530080582697296,     -0.1356211061245807,    -0.047562294353446374,   0.12964515870270552,
    -0.11927366341552853,   0.06830802734580459,    -0.02377051491423367,    0.002529391788270445,
    0.001888690312003782,   -0.0007798320379611115, -0.00010515949033775975, 0.00012509815174864322,
    4.948147875576539e-06,  -2.009663087595395e-05, -7.275875746667183e-07,  3.463997532352904e-06,
    3.4899197889744293e-07, -6.050048623933503e-07, -1.311166137536459e-07,  9.186243026143847e-08,
    3.29163439676632e-08,   -8.500119502115306e-09, -4.210104975119195e-09};
static const double erfc_brief[] = {
    1.2530080589497452,   -0.13562111146880587,   -0.04756238429148228,    0.12964536701032092,
    -0.11927164483815812, 0.0683064417936708,     -0.023787288137893638,   0.0025279479024525693,
    0.001947854952370501, -0.0007398132267707949, -0.00017877597185293593, 3.698943628240467e-05};
static const k_coefficients erf_terms = K_COEFFICIENTS(erf_full, erf_brief);
static const k_coefficients erfc_terms = K_COEFFICIENTS(erfc_full, erfc_brief);

// erf(x) for |x| of at most 1.
static k_value erf_small(k_builder *b, k_value x, bool brief) {
  k_value z = k_mul(b, x, x);
  return k_fma(b, x, k_series(b, z, &erf_terms, brief), x);
}

// erfc(x) for x >= 0.
static k_value erfc_positive(k_builder *b, k_value x, bool brief) {
  k_value most = k_real(b, x, brief ? 10.2 : 28), three = k_real(b, x, 3);
  x = k_select(b, k_lt(b, most, x), most, x);
  k_pair square = k_two_product(b, x, x);
  k_value e = k_exp_f64(b, k_unary(b, K_NEG, square.high), brief);
  if (!brief) e = k_fma(b, k_unary(b, K_NEG, e), square.low, e);
  k_value t = k_binary(b, K_DIV, k_sub(b, x, three), k_add(b, x, three));
  k_value below = k_fma(b, x, k_real(b, x, 2), k_real(b, x, 1));
  return k_mul(b, e, k_binary(b, K_DIV, k_series(b, t, &erfc_terms, brief), below));
}

static k_value erf_f64(k_builder *b, k_value x, bool brief) {
  k_value magnitude = k_unary(b, K_ABS, x), one = k_real(b, x, 1);
  k_value large = k_sub(b, one, erfc_positive(b, magnitude, brief));
  k_value result = k_select(b, k_lt(b, one, magnitude), large, erf_small(b, magnitude, brief));
  return k_copysign(b, result, x);
}

k_value k_erf(k_builder *b, k_value x) {
  return k_in_f64(b, x, erf_f64);
}

static k_value erfc_f64(k_builder *b, k_value x, bool brief) {
  k_value magnitude = k_unary(b, K_ABS, x);
  k_value tail = erfc_positive(b, magnitude, brief), near_zero = k_less_than(b, magnitude, 0.5);
  k_value other = k_sub(b, k_real(b, x, 2), tail);
  k_value result = k_select(b, k_less_than(b, x, 0), other, tail);
  k_value small = k_sub(b, k_real(b, x, 1), erf_small(b, x, brief));
  return k_select(b, near_zero, small, result);
}

k_value k_erfc(k_builder *b, k_value x) {
  return k_in_f64(b, x, erfc_f64);
}

// erfinv(x) / x as a polynomial of sqrt(3 − log(1 − x²)) − 4.
static const double erfinv_terms[] = {
    3.4418473753,       1.11846234459,      -0.028986461776,   0.0064271384499,   -0.00143823319863,
    0.00164741257015,   -0.000165787287099, -0.00134497199141, 0.000622219941313, 0.000152588505189,
    -0.000107142948238, -4.73516640298e-06, 5.57269718841e-06};

static k_value erfinv_guess(k_builder *b, k_value x) {
  k_value one = k_real(b, x, 1), product = k_mul(b, k_sub(b, one, x), k_add(b, one, x));
  k_value v = k_unary(b, K_SQRT, k_sub(b, k_real(b, x, 3), k_log(b, product)));
  v = k_sub(b, v, k_real(b, x, 4));
  return k_mul(b, x, k_polynomial(b, v, erfinv_terms, sizeof erfinv_terms / sizeof(double) - 1));
}

// With u = (erf(y) − x) / erf'(y) the inverse is y − u + y·u² − (8y²+2)/6·u³ + (48y³+28y)/24·u⁴ − …
static k_value erfinv_step(k_builder *b, k_value x, k_value y, bool brief) {
  k_value one = k_real(b, x, 1), near_zero = k_less_than(b, x, 0.5), square = k_mul(b, y, y);
  k_value small = k_sub(b, erf_small(b, y, brief), x);
  k_value large = k_sub(b, k_sub(b, one, x), erfc_positive(b, y, brief));
  k_value u = k_mul(b, k_select(b, near_zero, small, large), k_exp_f64(b, square, brief));
  u = k_mul(b, u, k_real(b, x, 0x1.c5bf891b4ef6bp-1)); // sqrt(π)/2
  k_value third = k_fma(b, square, k_real(b, x, -4.0 / 3), k_real(b, x, -1.0 / 3));
  k_value fourth = k_mul(b, y, k_fma(b, square, k_real(b, x, 2), k_real(b, x, 7.0 / 6)));
  k_value series = brief ? y : k_fma(b, u, k_fma(b, u, fourth, third), y);
  return k_add(b, y, k_mul(b, u, k_fma(b, u, series, k_real(b, x, -1))));
}

static k_value erfinv_f64(k_builder *b, k_value x, bool brief) {
  k_value magnitude = k_unary(b, K_ABS, x), one = k_real(b, x, 1);
  k_value inside = k_select(b, k_lt(b, magnitude, one), magnitude, k_real(b, x, 0.5));
  k_value result = erfinv_step(b, inside, erfinv_guess(b, inside), brief);
  k_value edge =
      k_select(b, k_binary(b, K_EQ, magnitude, one), k_real(b, x, INFINITY), k_real(b, x, NAN));
  result = k_select(b, k_lt(b, magnitude, one), result, edge);
  return k_copysign(b, result, x);
}

k_value k_erfinv(k_builder *b, k_value x) {
  return k_in_f64(b, x, erfinv_f64);
}
