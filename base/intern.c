// A bytes map from text to the one copy of it.
#include "base/intern.h"

#include "base/map.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { USUAL = 256 }; // most names fit it, and leave nothing behind in the arena

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
  return leat_bytes_map_keep(&strings->texts, text, length);
}

const char *leat_intern(leat_strings *strings, const char *text) {
  return leat_intern_n(strings, text, strlen(text));
}

const char *leat_intern_join(leat_strings *strings, const char *a, const char *b, const char *c) {
  char buffer[USUAL];
  size_t sizes[] = {strlen(a), strlen(b), strlen(c)}, size = sizes[0] + sizes[1] + sizes[2];
  char *text = size < sizeof buffer ? buffer : leat_arena_alloc(strings->arena, size);
  memcpy(text, a, sizes[0]);
  memcpy(text + sizes[0], b, sizes[1]);
  memcpy(text + sizes[0] + sizes[1], c, sizes[2]);
  return leat_intern_n(strings, text, size);
}

const char *leat_intern_path(leat_strings *strings, const char *folder, const char *name) {
  return *folder ? leat_intern_join(strings, folder, "/", name) : leat_intern(strings, name);
}

const char *leat_path_last(const char *path) {
  const char *slash = strrchr(path, '/');
  return slash ? slash + 1 : path;
}

const char *leat_intern_printf(leat_strings *strings, const char *format, ...) {
  char buffer[USUAL];
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
