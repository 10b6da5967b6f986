#include "frontend/importer/text.h"

#include "base/diag.h"
#include "base/name.h"
#include "leat/dtype.h"

#include <string.h>

char *leat_model_plain_name(leat_arena *arena, const char *name) {
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

const char *leat_model_print_name(leat_arena *arena, const char *plain) {
  leat_text text = {0};
  leat_name_print(plain, &text);
  return leat_model_take_text(arena, &text);
}

const char *leat_model_take_name(leat_arena *arena, leat_bytes_map *taken,
                                 const leat_bytes_map *kept, const char *name) {
  const char *id = name;
  size_t size = strlen(name);
  uintptr_t next = (uintptr_t)leat_bytes_map_get(taken, name, size);
  bool free = !next;
  for (; !free; next++) {
    id = leat_arena_printf(arena, "%s_%llu", name, (unsigned long long)next);
    free = !leat_bytes_map_get(taken, id, strlen(id)) &&
           !(kept && leat_bytes_map_get(kept, id, strlen(id)));
  }
  leat_bytes_map_set(taken, name, size, (void *)(next ? next : 1));
  if (id != name) leat_bytes_map_set(taken, id, strlen(id), (void *)1);
  return id;
}

const char *leat_model_take_text(leat_arena *arena, leat_text *text) {
  const char *copy = leat_arena_strndup(arena, text->data ? text->data : "", text->size);
  leat_text_finish(text);
  return copy;
}

void leat_model_line(leat_arena *arena, leat_text *lines, unsigned indent, const char *node,
                     const char *op, const char *format, va_list arguments) {
  leat_text_add(lines, "%*s", (int)indent, "");
  leat_text_add_v(lines, format, arguments);
  if (node)
    leat_text_add(lines, LEAT_DIAG_NODE "%s` (%s)", leat_model_plain_name(arena, node),
                  *op ? leat_model_plain_name(arena, op) : "");
  leat_text_add_string(lines, "\n");
}

void leat_model_say(leat_arena *arena, leat_sayings *to, const char *of, const char *format,
                    va_list arguments) {
  enum { MOST = 1000 };
  leat_text text = {0};
  leat_text_add_string(&text, of);
  leat_text_add_v(&text, format, arguments);
  bool said = to->count >= MOST;
  for (uint32_t i = 0; i < to->count && !said; i++) said = strcmp(to->items[i], text.data) == 0;
  if (!said) leat_vec_push(arena, to, leat_arena_strndup(arena, text.data, text.size));
  leat_text_finish(&text);
}
