#include "base/str.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { LONGEST_NUMBER = 400 };

int leat_str_compare(leat_str a, leat_str b) {
  uint64_t common = a.size < b.size ? a.size : b.size;
  int order = common ? memcmp(a.data, b.data, common) : 0;
  return order ? (order > 0) - (order < 0) : (a.size > b.size) - (a.size < b.size);
}

int64_t leat_str_hash(leat_str a) {
  uint64_t hash = 0xcbf29ce484222325u;
  for (uint64_t i = 0; i < a.size; i++) hash = (hash ^ (unsigned char)a.data[i]) * 0x100000001b3u;
  return (int64_t)hash;
}

leat_str leat_str_part(leat_str a, int64_t start, int64_t size) {
  int64_t all = (int64_t)a.size;
  if (start < 0) start = start < -all ? 0 : start + all;
  if (start > all) start = all;
  if (size > all - start) size = all - start;
  return (leat_str){size ? a.data + start : "", (uint64_t)size};
}

bool leat_str_parse(leat_str a, leat_dtype dtype, void *to) {
  char text[LONGEST_NUMBER], *end = text;
  if (!a.size || a.size >= sizeof text || isspace((unsigned char)a.data[0])) return false;
  memcpy(text, a.data, a.size);
  text[a.size] = '\0';
  errno = 0;
  if (leat_dtype_kind_of(dtype) == LEAT_KIND_SIGNED) {
    long long value = strtoll(text, &end, 10);
    if (errno || (dtype == LEAT_i32 && value != (int32_t)value)) return false;
    memcpy(to, &value, leat_dtype_size(dtype)); // little-endian: the low bytes
  } else if (dtype == LEAT_f32) {
    float value = strtof(text, &end);
    memcpy(to, &value, sizeof value);
  } else {
    double value = strtod(text, &end);
    memcpy(to, &value, sizeof value);
  }
  return end == text + a.size;
}

// -- New strings ----------------------------------------------------------------------------------

static void add_str(leat_text *out, leat_str a) {
  if (a.size) leat_text_add_n(out, a.data, a.size);
}

static void add_changed(leat_text *out, leat_str a, char first, char last) {
  size_t begin = out->size;
  add_str(out, a);
  for (size_t i = begin; i < out->size; i++)
    if (out->data[i] >= first && out->data[i] <= last) out->data[i] ^= 'a' ^ 'A';
}

static void add_number(leat_text *out, leat_dtype dtype, const void *x, int64_t i) {
  switch ((int)dtype) {
  case LEAT_i8: leat_text_add(out, "%d", ((const int8_t *)x)[i]); break;
  case LEAT_i16: leat_text_add(out, "%d", ((const int16_t *)x)[i]); break;
  case LEAT_i32: leat_text_add(out, "%" PRId32, ((const int32_t *)x)[i]); break;
  case LEAT_i64: leat_text_add(out, "%" PRId64, ((const int64_t *)x)[i]); break;
  case LEAT_u8: leat_text_add(out, "%u", ((const uint8_t *)x)[i]); break;
  case LEAT_u16: leat_text_add(out, "%u", ((const uint16_t *)x)[i]); break;
  case LEAT_u32: leat_text_add(out, "%" PRIu32, ((const uint32_t *)x)[i]); break;
  case LEAT_u64: leat_text_add(out, "%" PRIu64, ((const uint64_t *)x)[i]); break;
  case LEAT_f32: leat_text_add_f32(out, ((const float *)x)[i]); break;
  case LEAT_f64: leat_text_add_f64(out, ((const double *)x)[i]); break;
  }
}

void leat_str_make(leat_str_maker maker, leat_dtype dtype, const void *x, const void *y, int64_t i,
                   leat_text *out) {
  const leat_str *strings = x, *others = y;
  switch (maker) {
  case LEAT_STR_CONCAT:
    add_str(out, strings[i]);
    add_str(out, others[i]);
    break;
  case LEAT_STR_LOWER: add_changed(out, strings[i], 'A', 'Z'); break;
  case LEAT_STR_UPPER: add_changed(out, strings[i], 'a', 'z'); break;
  case LEAT_STR_OF_NUMBER: add_number(out, dtype, x, i); break;
  }
}

void leat_str_join(const leat_str *x, int64_t n, int64_t stride, leat_str separator,
                   leat_text *out) {
  for (int64_t i = 0; i < n; i++) {
    if (i) add_str(out, separator);
    add_str(out, x[i * stride]);
  }
}
