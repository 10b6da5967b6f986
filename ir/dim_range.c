// Between which values a dim lies, by interval arithmetic over its polynomial. Bounds that
// overflow, or are not known, are infinite: INT64_MIN and INT64_MAX stand for that and stay it.
#include "ir/dim.h"

static int64_t clamp(__int128 x) {
  return x > INT64_MAX ? INT64_MAX : x < INT64_MIN ? INT64_MIN : (int64_t)x;
}

static bool is_infinite(int64_t x) {
  return x == INT64_MIN || x == INT64_MAX;
}

static int64_t add_bounds(int64_t a, int64_t b) {
  return is_infinite(a) ? a : is_infinite(b) ? b : clamp((__int128)a + b);
}

static leat_dim_range multiply_ranges(leat_dim_range x, leat_dim_range y) {
  int64_t corners[] = {clamp((__int128)x.low * y.low), clamp((__int128)x.low * y.high),
                       clamp((__int128)x.high * y.low), clamp((__int128)x.high * y.high)};
  leat_dim_range r = {corners[0], corners[0]};
  for (int i = 1; i < 4; i++) {
    if (corners[i] < r.low) r.low = corners[i];
    if (corners[i] > r.high) r.high = corners[i];
  }
  return r;
}

static int64_t floor_divide(int64_t a, int64_t b) { // b > 0
  return a / b - (a % b < 0);
}

static leat_dim_range divide_ranges(leat_dim_range a, leat_dim_range b) {
  if (b.low < 0) return (leat_dim_range){INT64_MIN, INT64_MAX};
  if (b.low == 0) b.low = 1; // division by zero is an error while running
  if (b.high < b.low) b.high = b.low;
  return (leat_dim_range){
      is_infinite(a.low) ? a.low : floor_divide(a.low, a.low < 0 ? b.low : b.high),
      is_infinite(a.high) ? a.high : floor_divide(a.high, a.high < 0 ? b.high : b.low)};
}

static leat_dim_range range_of_atom(const leat_atom *atom) {
  if (atom->name) return (leat_dim_range){atom->low, atom->high};
  leat_dim_range a = leat_dim_bounds(atom->a), b = leat_dim_bounds(atom->b);
  if (atom->kind == LEAT_ATOM_FLOORDIV) return divide_ranges(a, b);
  return (leat_dim_range){a.low > b.low ? a.low : b.low, a.high > b.high ? a.high : b.high};
}

leat_dim_range leat_dim_bounds(leat_dim dim) {
  if (!dim.poly) return (leat_dim_range){dim.value, dim.value};
  leat_dim_range total = {0, 0};
  for (uint32_t i = 0; i < dim.poly->count; i++) {
    const leat_term *term = &dim.poly->terms[i];
    leat_dim_range r = {term->coefficient, term->coefficient};
    for (uint32_t j = 0; j < term->count; j++)
      r = multiply_ranges(r, range_of_atom(term->atoms[j]));
    total = (leat_dim_range){add_bounds(total.low, r.low), add_bounds(total.high, r.high)};
  }
  return total;
}

static uint64_t magnitude(int64_t x) {
  return x < 0 ? 0 - (uint64_t)x : (uint64_t)x;
}

// Whether `value` less the constant term is a multiple of the other terms' common divisor.
static bool fits_divisor(const leat_poly *poly, int64_t value) {
  uint64_t divisor = 0;
  for (uint32_t i = 0; i < poly->count; i++) {
    const leat_term *term = &poly->terms[i];
    uint64_t x = magnitude(term->coefficient);
    if (!term->count && __builtin_sub_overflow(value, term->coefficient, &value)) return true;
    if (!term->count) continue;
    while (x) {
      uint64_t rest = divisor % x;
      divisor = x;
      x = rest;
    }
  }
  return magnitude(value) % divisor == 0;
}

bool leat_dim_may_be(leat_dim dim, int64_t value) {
  if (!dim.poly) return dim.value == value;
  leat_dim_range r = leat_dim_bounds(dim);
  return r.low <= value && value <= r.high && fits_divisor(dim.poly, value);
}
