// An integer of any width is widened to 64 bits first, by its sign where it has one.
// It runs seldom: compiled for size.
#include "base/number.h"

#include "base/half.h"
#include "base/portable.h"

#include <locale.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

void leat_number_print(leat_dtype dtype, const void *number, leat_text *out) {
  size_t size = leat_dtype_size(dtype);
  int above = 64 - 8 * (int)size; // bits that the number has not
  uint64_t bits = 0;
  float narrow;
  double wide;
  switch ((int)leat_dtype_kind_of(dtype)) {
  case LEAT_KIND_SIGNED:
    memcpy(&bits, number, size); // little-endian: the low bytes
    leat_text_add_i64(out, (int64_t)(bits << above) >> above);
    break;
  case LEAT_KIND_UNSIGNED:
    memcpy(&bits, number, size);
    leat_text_add_u64(out, bits);
    break;
  case LEAT_KIND_FLOAT:
    if (dtype == LEAT_f32) {
      memcpy(&narrow, number, sizeof narrow);
      leat_text_add_f32(out, narrow);
    } else {
      memcpy(&wide, number, sizeof wide);
      leat_text_add_f64(out, wide);
    }
    break;
  }
}

int leat_hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  return (c | 32) >= 'a' && (c | 32) <= 'f' ? (c | 32) - 'a' + 10 : -1;
}

bool leat_integer_fits(leat_dtype dtype, int64_t value) {
  int bits = 8 * (int)leat_dtype_size(dtype);
  if (leat_dtype_kind_of(dtype) == LEAT_KIND_SIGNED)
    return bits == 64 || (value >= -((int64_t)1 << (bits - 1)) && value < (int64_t)1 << (bits - 1));
  return value >= 0 && (bits == 64 || value < (int64_t)1 << bits);
}

static locale_t c_locale; // stays 0 where there is no memory: then the process's own counts
static pthread_once_t c_locale_once = PTHREAD_ONCE_INIT;

static void make_c_locale(void) {
  c_locale = newlocale(LC_NUMERIC_MASK, "C", (locale_t)0);
}

static locale_t enter_c_locale(void) {
  pthread_once(&c_locale_once, make_c_locale);
  return uselocale(c_locale);
}

double leat_read_f64(const char *text, char **out_end) {
  locale_t before = enter_c_locale();
  double value = strtod(text, out_end);
  uselocale(before);
  return value;
}

float leat_read_f32(const char *text, char **out_end) {
  locale_t before = enter_c_locale();
  float value = strtof(text, out_end); // rounded once
  uselocale(before);
  return value;
}

// Without its sign; whether it has one.
static bool format_magnitude(leat_dtype dtype, const void *number, char notation, int precision,
                             leat_text *out) {
  double value;
  float narrow;
  if (notation == 'd') {
    leat_number_print(dtype, number, out);
    return out->data[0] == '-';
  }
  memcpy(&narrow, number, sizeof narrow);
  if (dtype == LEAT_f32)
    value = narrow;
  else
    memcpy(&value, number, sizeof value);
  locale_t before = enter_c_locale();
  if (notation == 'e')
    leat_text_add(out, "%.*e", precision, value);
  else if (notation == 'g')
    leat_text_add(out, "%.*g", precision, value);
  else
    leat_text_add(out, "%.*f", precision, value);
  uselocale(before);
  return out->data[0] == '-';
}

void leat_number_format(leat_dtype dtype, const void *number, const leat_number_style *style,
                        leat_text *out) {
  leat_text text = {0};
  bool negative = format_magnitude(dtype, number, style->notation, style->precision, &text);
  const char *digits = text.data + negative;
  bool spelled = *digits == 'i' || *digits == 'n'; // inf, nan
  char sign = negative ? '-' : style->fill == '+' || style->fill == ' ' ? style->fill : '\0';
  int size = (int)strlen(digits) + (sign != '\0');
  int blank = style->width > size ? style->width - size : 0;
  bool zeros = style->fill == '0' && !spelled, left = style->fill == '-';
  if (!zeros && !left) leat_text_add(out, "%*s", blank, "");
  if (sign) leat_text_add_n(out, &sign, 1);
  for (int i = 0; zeros && i < blank; i++) leat_text_add_n(out, "0", 1);
  leat_text_add_string(out, digits);
  if (left) leat_text_add(out, "%*s", blank, "");
  leat_text_finish(&text);
}

static const char *parse_integer(leat_dtype dtype, const char *text, void *out, bool *out_fits) {
  bool negative = *text == '-', has_sign = leat_dtype_kind_of(dtype) == LEAT_KIND_SIGNED;
  const char *digits = text + (negative || *text == '+'), *at = digits;
  uint64_t value = 0, most = UINT64_MAX >> (64 - 8 * leat_dtype_size(dtype) + has_sign);
  bool over = false;
  for (; *at >= '0' && *at <= '9'; at++) {
    over |= __builtin_mul_overflow(value, (uint64_t)10, &value);
    over |= __builtin_add_overflow(value, (uint64_t)(*at - '0'), &value);
  }
  if (at == digits || *at == '.') return NULL;
  if (negative) most = has_sign ? most + 1 : 0;
  *out_fits = !over && value <= most;
  if (negative) value = -value;
  memcpy(out, &value, leat_dtype_size(dtype)); // little-endian: the low bytes
  return at;
}

static const char *parse_float(leat_dtype dtype, const char *text, void *out) {
  char *end;
  if (dtype == LEAT_f32) {
    float value = leat_read_f32(text, &end);
    memcpy(out, &value, sizeof value);
  } else if (dtype == LEAT_f64) {
    double value = leat_read_f64(text, &end);
    memcpy(out, &value, sizeof value);
  } else {
    uint16_t half = leat_half_of(dtype, leat_read_f64(text, &end));
    memcpy(out, &half, sizeof half);
  }
  return end == text ? NULL : end;
}

static const char *parse_complex(leat_dtype dtype, const char *text, void *out) {
  double parts[2] = {0};
  char *end;
  double first = leat_read_f64(text, &end);
  if (end == text) return NULL;
  parts[*end == 'j'] = first;
  if (*end == '+' || *end == '-') {
    const char *second = end;
    parts[1] = leat_read_f64(second, &end);
    if (end == second || *end != 'j') return NULL;
  }
  float narrow[2] = {(float)parts[0], (float)parts[1]};
  if (dtype == LEAT_c64) memcpy(out, narrow, sizeof narrow);
  if (dtype == LEAT_c128) memcpy(out, parts, sizeof parts);
  return end + (*end == 'j');
}

static const char *parse_bool(const char *text, void *out) {
  bool truth = strncmp(text, "true", 4) == 0;
  if (!truth && strncmp(text, "false", 5) != 0) return NULL;
  memcpy(out, &truth, sizeof truth);
  return text + (truth ? 4 : 5);
}

const char *leat_number_parse(leat_dtype dtype, const char *text, void *out, bool *out_fits) {
  *out_fits = true;
  switch (leat_dtype_kind_of(dtype)) {
  case LEAT_KIND_BOOL: return parse_bool(text, out);
  case LEAT_KIND_SIGNED:
  case LEAT_KIND_UNSIGNED: return parse_integer(dtype, text, out, out_fits);
  case LEAT_KIND_FLOAT: return parse_float(dtype, text, out);
  case LEAT_KIND_COMPLEX: return parse_complex(dtype, text, out);
  case LEAT_KIND_STRING: break;
  }
  return NULL;
}
