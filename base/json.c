// It runs seldom: compiled for size.
#include "base/json.h"

#include "base/number.h"
#include "base/portable.h"
#include "base/text.h"

#include <string.h>

enum { DEEPEST = 64 };

void leat_json_skip_space(leat_json *json) {
  while (json->at < json->end &&
         (*json->at == ' ' || *json->at == '\t' || *json->at == '\n' || *json->at == '\r'))
    json->at++;
}

bool leat_json_accept(leat_json *json, char expected) {
  leat_json_skip_space(json);
  if (json->at == json->end || *json->at != expected) return false;
  json->at++;
  return true;
}

leat_status leat_json_expect(leat_json *json, char expected) {
  if (leat_json_accept(json, expected)) return LEAT_OK;
  return leat_fail(json->error, LEAT_INVALID, "%s lacks a '%c' where it should be", json->where,
                   expected);
}

static leat_status read_hex4(leat_json *json, uint32_t *out) {
  *out = 0;
  for (int i = 0; i < 4; i++, json->at++) {
    int digit = json->at < json->end ? leat_hex_digit(*json->at) : -1;
    if (digit < 0)
      return leat_fail(json->error, LEAT_INVALID, "%s has a \\u without four hex digits",
                       json->where);
    *out = *out << 4 | (uint32_t)digit;
  }
  return LEAT_OK;
}

static char *put_utf8(char *to, uint32_t code) {
  if (code < 0x80) {
    *to++ = (char)code;
  } else if (code < 0x800) {
    *to++ = (char)(0xc0 | code >> 6);
    *to++ = (char)(0x80 | (code & 0x3f));
  } else if (code < 0x10000) {
    *to++ = (char)(0xe0 | code >> 12);
    *to++ = (char)(0x80 | (code >> 6 & 0x3f));
    *to++ = (char)(0x80 | (code & 0x3f));
  } else {
    *to++ = (char)(0xf0 | code >> 18);
    *to++ = (char)(0x80 | (code >> 12 & 0x3f));
    *to++ = (char)(0x80 | (code >> 6 & 0x3f));
    *to++ = (char)(0x80 | (code & 0x3f));
  }
  return to;
}

// What follows `\u`: one code, or the two halves of a surrogate pair.
static leat_status read_unicode(leat_json *json, uint32_t *out) {
  uint32_t low;
  LEAT_TRY(read_hex4(json, out));
  if (*out >= 0xd800 && *out < 0xdc00 && json->end - json->at >= 2 &&
      memcmp(json->at, "\\u", 2) == 0) {
    json->at += 2;
    LEAT_TRY(read_hex4(json, &low));
    if (low >= 0xdc00 && low < 0xe000) *out = 0x10000 + ((*out - 0xd800) << 10) + (low - 0xdc00);
  }
  if (*out >= 0xd800 && *out < 0xe000)
    return leat_fail(json->error, LEAT_INVALID, "%s has half a surrogate pair", json->where);
  if (*out == 0)
    return leat_fail(json->error, LEAT_INVALID, "a string of %s has a NUL", json->where);
  return LEAT_OK;
}

static leat_status read_escape(leat_json *json) {
  static const char letters[] = "\"\\/bfnrt", meanings[] = "\"\\/\b\f\n\r\t";
  char letter = json->at < json->end ? *json->at++ : '\0';
  const char *found = letter ? strchr(letters, letter) : NULL;
  uint32_t code;
  if (found)
    code = (unsigned char)meanings[found - letters];
  else if (letter == 'u')
    LEAT_TRY(read_unicode(json, &code));
  else
    return leat_fail(json->error, LEAT_INVALID, "%s has an unknown escape in a string",
                     json->where);
  json->strings = put_utf8(json->strings, code);
  return LEAT_OK;
}

leat_status leat_json_string(leat_json *json, const char **out) {
  LEAT_TRY(leat_json_expect(json, '"'));
  *out = json->strings;
  while (json->at < json->end && *json->at != '"') {
    size_t length = leat_utf8_character(json->at, (size_t)(json->end - json->at));
    if (length == 0 || (unsigned char)*json->at < 0x20)
      return leat_fail(json->error, LEAT_INVALID, "a string of %s is not UTF-8 text", json->where);
    if (*json->at == '\\') {
      json->at++;
      LEAT_TRY(read_escape(json));
      continue;
    }
    memcpy(json->strings, json->at, length);
    json->strings += length;
    json->at += length;
  }
  *json->strings++ = '\0';
  return leat_json_expect(json, '"');
}

leat_status leat_json_size(leat_json *json, int64_t *out) {
  leat_json_skip_space(json);
  const char *first = json->at;
  int64_t value = 0;
  for (; json->at < json->end && *json->at >= '0' && *json->at <= '9'; json->at++)
    if (__builtin_mul_overflow(value, 10, &value) ||
        __builtin_add_overflow(value, *json->at - '0', &value))
      return leat_fail(json->error, LEAT_INVALID, "a number in %s is too large", json->where);
  if (json->at == first || (*first == '0' && json->at > first + 1))
    return leat_fail(json->error, LEAT_INVALID, "%s lacks a size where it should be", json->where);
  *out = value;
  return LEAT_OK;
}

// -- What nobody asked for ------------------------------------------------------------------------

// Passes over a string without decoding it.
static leat_status skip_string(leat_json *json) {
  char *strings = json->strings;
  const char *ignored;
  LEAT_TRY(leat_json_string(json, &ignored));
  json->strings = strings;
  return LEAT_OK;
}

// A number, true, false or null: letters, digits and what stands between them.
static leat_status skip_word(leat_json *json) {
  static const char letters[] = "+-.0123456789abcdefghijklmnopqrstuvwxyzE";
  const char *first = json->at;
  while (json->at < json->end && *json->at && strchr(letters, *json->at)) json->at++;
  if (json->at > first) return LEAT_OK;
  return leat_fail(json->error, LEAT_INVALID, "%s lacks a value where it should be", json->where);
}

static leat_status skip_key(leat_json *json, char closing) {
  if (closing != '}') return LEAT_OK;
  LEAT_TRY(skip_string(json));
  return leat_json_expect(json, ':');
}

leat_status leat_json_skip(leat_json *json) {
  char closing[DEEPEST]; // of the lists and objects that are open
  int depth = 0;
  do {
    if (leat_json_accept(json, '{') || leat_json_accept(json, '[')) {
      if (depth == DEEPEST)
        return leat_fail(json->error, LEAT_INVALID, "%s is nested too deep", json->where);
      closing[depth++] = json->at[-1] == '{' ? '}' : ']';
      if (!leat_json_accept(json, closing[depth - 1])) {
        LEAT_TRY(skip_key(json, closing[depth - 1]));
        continue;
      }
      depth--;
    } else {
      bool string = json->at < json->end && *json->at == '"';
      LEAT_TRY(string ? skip_string(json) : skip_word(json));
    }
    while (depth && leat_json_accept(json, closing[depth - 1])) depth--;
    if (!depth) break;
    LEAT_TRY(leat_json_expect(json, ','));
    LEAT_TRY(skip_key(json, closing[depth - 1]));
  } while (depth);
  return LEAT_OK;
}
