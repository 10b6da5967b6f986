#include "base/name.h"

#include <string.h>

static bool is_letter(char c) {
  return ((c | 32) >= 'a' && (c | 32) <= 'z') || c == '_';
}

static bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

const char *leat_name_problem(const char *name, size_t size) {
  if (!size) return "a name has at least one character";
  for (size_t at = 0, length; at < size; at += length) {
    length = leat_utf8_character(name + at, size - at);
    if (!length) return "a name is UTF-8";
    if ((unsigned char)name[at] < 0x20 || name[at] == 0x7f || name[at] == LEAT_NAME_QUOTE)
      return "a name has no control characters and no backquotes";
  }
  return NULL;
}

bool leat_name_is_keyword(const char *name, size_t size) {
#define X(id, spelling)                                                                            \
  if (size == sizeof spelling - 1 && memcmp(name, spelling, size) == 0) return true;
  LEAT_KEYWORD_LIST(X)
#undef X
  return false;
}

bool leat_name_is_word(const char *name, size_t size) {
  size_t at = 0;
  while (at < size && (is_letter(name[at]) || (at && is_digit(name[at])))) at++;
  return size && at == size && !leat_name_is_keyword(name, size);
}

static bool is_between(char c) {
  return c == '/' || c == '-' || c == '.' || c == '?';
}

bool leat_path_is_word(const char *path, size_t size) {
  size_t at = 0;
  while (at < size && (is_letter(path[at]) || is_digit(path[at]) || is_between(path[at]))) at++;
  return size && at == size;
}

static void print(const char *name, size_t size, bool word, leat_text *out) {
  const char quote = LEAT_NAME_QUOTE;
  if (!word) leat_text_add_n(out, &quote, 1);
  leat_text_add_n(out, name, size);
  if (!word) leat_text_add_n(out, &quote, 1);
}

void leat_name_print(const char *name, leat_text *out) {
  size_t size = strlen(name);
  print(name, size, leat_name_is_word(name, size), out);
}

void leat_path_print(const char *path, leat_text *out) {
  leat_text_add_n(out, "$", 1);
  size_t size = strlen(path);
  print(path, size, leat_path_is_word(path, size), out);
}

const char *leat_name_given(const char *text, size_t *out_size, const char **out_value) {
  const char *name = *text == LEAT_NAME_QUOTE ? text + 1 : text;
  const char *end = strchr(name, name > text ? LEAT_NAME_QUOTE : '=');
  if (!end || end == name) return NULL;
  const char *equals = name > text ? end + 1 : end;
  if (*equals != '=') return NULL;
  *out_size = (size_t)(end - name);
  *out_value = equals + 1;
  return name;
}
