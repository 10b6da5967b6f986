// What is a word, and how anything else is written as a name.
#include "frontend/onnx/names.h"

#include "base/name.h"
#include "leat/dtype.h"

#include <ctype.h>
#include <string.h>

char *onnx_plain_name(leat_arena *arena, const char *name) {
  leat_dtype dtype;
  char *plain = leat_arena_printf(arena, "%s", *name ? name : "value");
  size_t size = strlen(plain);
  for (size_t at = 0, length; at < size; at += length) {
    length = leat_utf8_character(plain + at, size - at);
    if (length && !leat_name_problem(plain + at, length)) continue;
    plain[at] = '_';
    length = 1;
  }
  bool reserved = strcmp(plain, "_") == 0 || leat_dtype_parse(plain, size, &dtype);
  return reserved ? leat_arena_printf(arena, "%s_", plain) : plain;
}

const char *onnx_print_name(leat_arena *arena, const char *name) {
  leat_text text = {0};
  leat_name_print(name, &text);
  const char *copy = leat_arena_strndup(arena, text.data, text.size);
  leat_text_finish(&text);
  return copy;
}

void onnx_reserve_words(leat_bytes_map *taken, const char *pattern) {
  while (*pattern) {
    size_t size = 0;
    while (isalnum((unsigned char)pattern[size]) || pattern[size] == '_') size++;
    if (size) leat_bytes_map_set(taken, pattern, size, (void *)1);
    pattern += size ? size : 1;
  }
}
