// Growing text, quoting, and the shortest decimals of floats. Nothing here depends on the locale:
// of what printf wrote the digits are kept, after strtod, which expects the same decimal point, has
// confirmed them.
// It runs seldom: compiled for size.
#include "base/text.h"

#include "base/printable.h"

#include "base/portable.h"
#include "base/recovery.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// What a text's data lies in.
typedef struct block {
  leat_held held;
  char data[];
} block;

static block *block_of(const leat_text *text) {
  return text->data ? (block *)(text->data - offsetof(block, data)) : NULL;
}

static void release(leat_held *held) {
  free(held);
}

bool leat_text_reserve(leat_text *text, size_t extra) {
  size_t needed;
  if (__builtin_add_overflow(text->size, extra, &needed) || needed > PTRDIFF_MAX / 2) return false;
  needed++; // the terminator
  if (needed <= text->capacity) return true;
  size_t capacity = text->capacity * 2;
  if (capacity < 64) capacity = 64;
  if (capacity < needed) capacity = needed;
  block *grown = realloc(block_of(text), sizeof *grown + capacity);
  if (!grown) return false;
  if (text->data)
    leat_held_moved(&grown->held);
  else
    leat_hold(&grown->held, release);
  text->data = grown->data;
  text->capacity = capacity;
  return true;
}

static bool reserve(leat_text *text, size_t extra) {
  if (leat_text_reserve(text, extra)) return true;
  if (leat_can_recover()) leat_out_of_memory();
  text->cut = true;
  return false;
}

void leat_text_add_n(leat_text *text, const char *data, size_t size) {
  if (!reserve(text, size)) return;
  // For size gcc makes of a memcpy `rep movsb`, which is slow for what is short.
  if (size) memmove(text->data + text->size, data, size);
  text->size += size;
  text->data[text->size] = '\0';
}

void leat_text_add_v(leat_text *text, const char *format, va_list arguments) {
  enum { USUAL = 64 }; // most pieces fit it: they are written once
  if (!reserve(text, USUAL)) return;
  va_list again;
  va_copy(again, arguments);
  size_t room = text->capacity - text->size;
  int length = vsnprintf(text->data + text->size, room, format, arguments);
  if (length >= 0 && (size_t)length >= room) {
    if (reserve(text, (size_t)length))
      vsnprintf(text->data + text->size, (size_t)length + 1, format, again);
    else
      length = 0;
  }
  if (length > 0) text->size += (size_t)length;
  text->data[text->size] = '\0';
  va_end(again);
}

void leat_text_add(leat_text *text, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  leat_text_add_v(text, format, arguments);
  va_end(arguments);
}

void leat_text_add_string(leat_text *text, const char *string) {
  leat_text_add_n(text, string, strlen(string));
}

void leat_text_add_u64(leat_text *text, uint64_t value) {
  char digits[20], *first = digits + sizeof digits;
  do {
    *--first = (char)('0' + value % 10);
  } while (value /= 10);
  leat_text_add_n(text, first, (size_t)(digits + sizeof digits - first));
}

void leat_text_add_i64(leat_text *text, int64_t value) {
  if (value < 0) leat_text_add_n(text, "-", 1);
  leat_text_add_u64(text, value < 0 ? -(uint64_t)value : (uint64_t)value);
}

size_t leat_utf8_character(const char *text, size_t size) {
  static const uint32_t smallest[] = {[2] = 0x80, [3] = 0x800, [4] = 0x10000};
  const unsigned char *bytes = (const unsigned char *)text;
  if (size == 0) return 0;
  if (bytes[0] < 0x80) return 1;
  size_t length = bytes[0] >= 0xf0 ? 4 : bytes[0] >= 0xe0 ? 3 : 2;
  if (bytes[0] < 0xc2 || bytes[0] > 0xf4 || size < length) return 0;
  uint32_t code = bytes[0] & (0xffu >> (length + 1));
  for (size_t i = 1; i < length; i++) {
    if ((bytes[i] & 0xc0) != 0x80) return 0;
    code = code << 6 | (bytes[i] & 0x3f);
  }
  bool surrogate = code >= 0xd800 && code <= 0xdfff;
  return code < smallest[length] || code > 0x10ffff || surrogate ? 0 : length;
}

void leat_text_add_quoted(leat_text *text, const char *data, size_t size) {
  static const char special[] = "\\\"\n\t\r{}", escape[] = "\\\"ntr{}";
  leat_text_add_n(text, "\"", 1);
  for (size_t i = 0; i < size;) {
    unsigned char c = (unsigned char)data[i];
    const char *found = c ? strchr(special, c) : NULL;
    size_t whole = leat_utf8_character(data + i, size - i);
    if (found)
      leat_text_add(text, "\\%c", escape[found - special]);
    else if (!whole || leat_is_control(data + i, whole))
      for (size_t k = 0; k < (whole ? whole : 1); k++)
        leat_text_add(text, "\\x%02x", (unsigned char)data[i + k]);
    else
      leat_text_add_n(text, data + i, whole);
    i += whole ? whole : 1;
  }
  leat_text_add_n(text, "\"", 1);
}

static bool reads_back(const char *decimal, double value, bool single) {
  return single ? strtof(decimal, NULL) == (float)value : strtod(decimal, NULL) == value;
}

// The fewest digits that read back, as d.dde+dd: from FLT_DIG (DBL_DIG) on, for as many are kept by
// every number, so that a decimal with fewer is that one without zeros at its end; only denormals
// keep less.
static void find_decimal(double value, bool single, char *decimal, size_t room) {
  bool normal = fabs(value) >= (single ? (double)FLT_MIN : DBL_MIN) || value == 0;
  int most = single ? 9 : 17, digits = normal ? single ? FLT_DIG : DBL_DIG : 1;
  do {
    snprintf(decimal, room, "%.*e", digits - 1, value);
  } while (digits++ < most && !reads_back(decimal, value, single));
}

// Written plainly where that takes no more than `places` places, else as 1.5e+20.
static void add_decimal(leat_text *text, double value, int places, bool single) {
  if (isnan(value) || isinf(value)) {
    leat_text_add_string(text, isnan(value) ? "nan" : value < 0 ? "-inf" : "inf");
    return;
  }
  char decimal[64], digits[64];
  int count = 0;
  find_decimal(value, single, decimal, sizeof decimal);
  const char *at = decimal;
  for (; *at != 'e'; at++) // the point is one or more bytes in some locales
    if (*at >= '0' && *at <= '9') digits[count++] = *at;
  int exponent = atoi(at + 1);
  bool plain = exponent >= -5 && exponent < places - 1;
  while (count > 1 && digits[count - 1] == '0') count--;
  if (decimal[0] == '-') leat_text_add_n(text, "-", 1);
  if (plain && exponent < 0) leat_text_add_n(text, "0.0000", (size_t)(1 - exponent));
  int whole = !plain ? 1 : exponent < 0 ? 0 : exponent + 1; // digits before the point
  while (count < whole + (plain && whole)) digits[count++] = '0';
  leat_text_add_n(text, digits, (size_t)whole);
  if (whole && count > whole) leat_text_add_n(text, ".", 1);
  leat_text_add_n(text, digits + whole, (size_t)(count - whole));
  if (!plain) leat_text_add(text, "e%+03d", exponent);
}

void leat_text_add_f64(leat_text *text, double value) {
  add_decimal(text, value, 17, false);
}

void leat_text_add_f32(leat_text *text, float value) {
  add_decimal(text, value, 9, true);
}

char *leat_text_take(leat_text *text) {
  block *taken = block_of(text);
  if (!taken) return NULL;
  leat_let_go(&taken->held);
  memmove(taken, text->data, text->size + 1);
  *text = (leat_text){0};
  return (char *)taken;
}

bool leat_ends_with(const char *text, const char *end) {
  size_t length = strlen(text), size = strlen(end);
  return length > size && strcmp(text + length - size, end) == 0;
}

void leat_text_finish(leat_text *text) {
  block *last = block_of(text);
  if (last) leat_let_go(&last->held);
  free(last);
  *text = (leat_text){0};
}
