// A bytes map from text to the one copy of it.
#include "base/intern.h"

#include "base/map.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

struct leat_strings {
  leat_arena *arena;
  leat_bytes_map texts;
};

leat_strings *leat_strings_create(leat_arena *arena) {
  leat_strings *strings = leat_new(arena, leat_strings);
  strings->arena = arena;
  leat_bytes_map_init(&strings->texts, arena);
  return strings;
}

const char *leat_intern_n(leat_strings *strings, const char *text, size_t length) {
  char *known = leat_bytes_map_get(&strings->texts, text, length);
  if (known) return known;
  char *copy = leat_arena_strndup(strings->arena, text, length);
  leat_bytes_map_set(&strings->texts, copy, length, copy);
  return copy;
}

const char *leat_intern(leat_strings *strings, const char *text) {
  return leat_intern_n(strings, text, strlen(text));
}

const char *leat_intern_printf(leat_strings *strings, const char *format, ...) {
  char buffer[256]; // most names fit and leave nothing behind in the arena
  va_list arguments, again;
  va_start(arguments, format);
  va_copy(again, arguments);
  int length = vsnprintf(buffer, sizeof buffer, format, arguments);
  const char *text = buffer;
  if (length < 0 || (size_t)length >= sizeof buffer)
    text = leat_arena_vprintf(strings->arena, format, again);
  va_end(again);
  va_end(arguments);
  return leat_intern(strings, text);
}
