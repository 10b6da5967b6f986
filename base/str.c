#define _GNU_SOURCE // memmem
#include "base/str.h"

#include "base/float_mode.h"
#include "base/number.h"
#include "base/portable.h"

#include <ctype.h>
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

static bool begins_character(char byte) {
  return ((unsigned char)byte & 0xc0) != 0x80;
}

int64_t leat_str_characters(leat_str a) {
  int64_t count = 0;
  for (uint64_t i = 0; i < a.size; i++) count += begins_character(a.data[i]);
  return count;
}

// Where character n begins, or the end. What goes on with none before it belongs to the first.
static int64_t character_at(leat_str a, int64_t n) {
  uint64_t i = 0;
  for (; i < a.size && n > 0; n--)
    for (i++; i < a.size && !begins_character(a.data[i]); i++) {
    }
  return (int64_t)i;
}

leat_str leat_str_character_part(leat_str a, int64_t start, int64_t size) {
  int64_t all = leat_str_characters(a);
  if (start < 0) start = start < -all ? 0 : start + all;
  if (start > all) start = all;
  if (size > all - start) size = all - start;
  int64_t begin = character_at(a, start), end = character_at(a, start + size);
  return leat_str_part(a, begin, end - begin);
}

void leat_str_show(leat_str a, leat_text *out) {
  bool cut = a.size > LEAT_STR_SHOWN;
  leat_text_add_quoted(out, a.data, cut ? LEAT_STR_SHOWN : a.size);
  if (cut) leat_text_add(out, "…");
}

bool leat_str_parse(leat_str a, leat_dtype dtype, void *to) {
  char text[LONGEST_NUMBER];
  bool fits;
  if (!a.size || a.size >= sizeof text || isspace((unsigned char)a.data[0])) return false;
  memcpy(text, a.data, a.size);
  text[a.size] = '\0';
  return leat_number_parse(dtype, text, to, &fits) == text + a.size && fits;
}

// -- Searching ------------------------------------------------------------------------------------

int64_t leat_str_find(leat_str a, leat_str part, int64_t from) {
  int64_t size = (int64_t)a.size;
  if (!part.size || from > size) return from > size ? -1 : from;
  if (from == size) return -1;
  const char *found = memmem(a.data + from, (size_t)(size - from), part.data, part.size);
  return found ? found - a.data : -1;
}

int64_t leat_str_rfind(leat_str a, leat_str part) {
  for (int64_t at = (int64_t)(a.size - part.size); a.size >= part.size && at >= 0; at--)
    if (!part.size || !memcmp(a.data + at, part.data, part.size)) return at;
  return -1;
}

int64_t leat_str_count(leat_str a, leat_str part) {
  int64_t count = 0;
  if (!part.size) return (int64_t)a.size + 1;
  for (int64_t at = 0; (at = leat_str_find(a, part, at)) >= 0; at += (int64_t)part.size) count++;
  return count;
}

bool leat_str_starts_with(leat_str a, leat_str part) {
  return a.size >= part.size && (!part.size || !memcmp(a.data, part.data, part.size));
}

bool leat_str_ends_with(leat_str a, leat_str part) {
  return a.size >= part.size &&
         (!part.size || !memcmp(a.data + (a.size - part.size), part.data, part.size));
}

leat_str leat_str_strip(leat_str a, leat_str bytes, bool left, bool right) {
  if (!bytes.size) return a;
  for (; left && a.size && memchr(bytes.data, a.data[0], bytes.size); a.size--) a.data++;
  while (right && a.size && memchr(bytes.data, a.data[a.size - 1], bytes.size)) a.size--;
  return a;
}

int64_t leat_str_split(leat_str a, leat_str separator, leat_str *out, int64_t n) {
  if (!separator.size) return 0;
  int64_t count = 0, at = 0, end = 0;
  for (; end >= 0; at = end + (int64_t)separator.size) {
    end = leat_str_find(a, separator, at);
    if (count++ < n) out[count - 1] = leat_str_part(a, at, (end < 0 ? (int64_t)a.size : end) - at);
  }
  for (int64_t i = count; i < n; i++) out[i] = (leat_str){"", 0};
  return count;
}

// -- New strings ----------------------------------------------------------------------------------

static bool add_str(leat_text *out, leat_str a) {
  if (!leat_text_reserve(out, a.size)) return false;
  if (a.size) leat_text_add_n(out, a.data, a.size);
  return true;
}

static bool add_changed(leat_text *out, leat_str a, char first, char last) {
  size_t begin = out->size;
  if (!add_str(out, a)) return false;
  for (size_t i = begin; i < out->size; i++)
    if (out->data[i] >= first && out->data[i] <= last) out->data[i] ^= 'a' ^ 'A';
  return true;
}

// A number is written as it is, also where computing would take it for zero.
static bool add_number(leat_text *out, leat_dtype dtype, const void *x, int64_t i) {
  enum { LONGEST = 64 };
  if (!leat_text_reserve(out, LONGEST)) return false;
  leat_float_mode before = leat_float_mode_begin(true);
  leat_number_print(dtype, (const char *)x + i * (int64_t)leat_dtype_size(dtype), out);
  leat_float_mode_end(before);
  return true;
}

bool leat_str_format_number(leat_dtype dtype, const void *x, int64_t i,
                            const leat_number_style *style, leat_text *out) {
  enum { LONGEST = 2 * LEAT_STR_WIDEST + 400 }; // 309 digits, a sign, a point
  if (!leat_text_reserve(out, LONGEST)) return false;
  const char *at = (const char *)x + i * (int64_t)leat_dtype_size(dtype);
  leat_float_mode before = leat_float_mode_begin(true);
  leat_number_format(dtype, at, style, out);
  leat_float_mode_end(before);
  return true;
}

// Room for all of it at once: a short text may become one that fits no memory.
static bool reserve_replaced(leat_text *out, leat_str x, leat_str part, leat_str by) {
  uint64_t count = (uint64_t)leat_str_count(x, part), added, size = x.size - count * part.size;
  return !__builtin_mul_overflow(count, by.size, &added) &&
         !__builtin_add_overflow(size, added, &size) && leat_text_reserve(out, size);
}

static bool add_replaced(leat_text *out, leat_str x, leat_str part, leat_str by) {
  int64_t at = 0, next;
  if (!reserve_replaced(out, x, part, by)) return false;
  while ((next = leat_str_find(x, part, at)) >= 0) {
    int64_t end = next + (int64_t)part.size;
    add_str(out, leat_str_part(x, at, next - at));
    add_str(out, by);
    if (!part.size && next == (int64_t)x.size) return true;
    if (!part.size) add_str(out, leat_str_part(x, end++, 1));
    at = end;
  }
  return add_str(out, leat_str_part(x, at, (int64_t)x.size - at));
}

bool leat_str_make(leat_str_maker maker, leat_dtype dtype, const void *const *inputs, int64_t i,
                   leat_text *out) {
  const leat_str *x = inputs[0];
  switch (maker) {
  case LEAT_STR_CONCAT: return add_str(out, x[i]) && add_str(out, ((const leat_str *)inputs[1])[i]);
  case LEAT_STR_REPLACE:
    return add_replaced(out, x[i], ((const leat_str *)inputs[1])[i],
                        ((const leat_str *)inputs[2])[i]);
  case LEAT_STR_LOWER: return add_changed(out, x[i], 'A', 'Z');
  case LEAT_STR_UPPER: return add_changed(out, x[i], 'a', 'z');
  case LEAT_STR_OF_NUMBER: return add_number(out, dtype, inputs[0], i);
  }
  return true;
}

bool leat_str_join(const leat_str *x, int64_t n, int64_t stride, leat_str separator,
                   leat_text *out) {
  for (int64_t i = 0; i < n; i++)
    if ((i && !add_str(out, separator)) || !add_str(out, x[i * stride])) return false;
  return true;
}

// -- Whose the bytes are -------------------------------------------------------------------------

bool leat_strs_have_bytes(const leat_str *x, int64_t n) {
  for (int64_t i = 0; i < n; i++)
    if (!x[i].data && x[i].size) return false;
  return true;
}

uint64_t leat_strs_bytes(const leat_str *x, int64_t n) {
  uint64_t bytes = 0;
  for (int64_t i = 0; i < n; i++)
    if (__builtin_add_overflow(bytes, x[i].size, &bytes) || bytes > PTRDIFF_MAX) return UINT64_MAX;
  return bytes;
}

void leat_strs_copy(leat_str *out, const leat_str *x, int64_t n, char *bytes) {
  for (int64_t i = 0; i < n; i++) {
    leat_str from = x[i];
    if (from.size) memcpy(bytes, from.data, from.size);
    out[i] = (leat_str){bytes, from.size};
    bytes += from.size;
  }
}

bool leat_str_own(leat_str *to, leat_str from) {
  char *bytes = from.size ? malloc(from.size) : NULL;
  if (from.size && !bytes) return false;
  if (from.size) memcpy(bytes, from.data, from.size);
  free((char *)to->data);
  *to = (leat_str){bytes, from.size};
  return true;
}

void leat_strs_disown(leat_str *x, int64_t n) {
  for (int64_t i = 0; i < n; i++) {
    free((char *)x[i].data);
    x[i] = (leat_str){0};
  }
}

uint64_t leat_strs_packed_size(const leat_str *x, int64_t n) {
  uint64_t bytes = leat_strs_bytes(x, n), size;
  if (__builtin_add_overflow(bytes, (uint64_t)n * sizeof(uint64_t), &size)) return UINT64_MAX;
  return size > PTRDIFF_MAX ? UINT64_MAX : size;
}

void leat_strs_pack(const leat_str *x, int64_t n, void *to) {
  char *size = to, *bytes = size + (size_t)n * sizeof(uint64_t);
  for (int64_t i = 0; i < n; i++, size += sizeof(uint64_t)) {
    memcpy(size, &x[i].size, sizeof x[i].size);
    if (x[i].size) memcpy(bytes, x[i].data, x[i].size);
    bytes += x[i].size;
  }
}

bool leat_strs_point(leat_str *out, int64_t n, const void *sizes, const void *bytes,
                     uint64_t byte_count) {
  const char *size = sizes, *at = bytes;
  for (int64_t i = 0; i < n; i++, size += sizeof(uint64_t)) {
    memcpy(&out[i].size, size, sizeof out[i].size);
    if (out[i].size > byte_count) return false;
    out[i].data = at;
    at += out[i].size;
    byte_count -= out[i].size;
  }
  return byte_count == 0;
}

bool leat_strs_unpack(leat_str *out, int64_t n, const void *from, uint64_t size) {
  if ((uint64_t)n > size / sizeof(uint64_t)) return false;
  uint64_t sizes = (uint64_t)n * sizeof(uint64_t);
  return leat_strs_point(out, n, from, (const char *)from + sizes, size - sizes);
}
