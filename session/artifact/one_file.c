// A line "//@ …" begins each piece: "//@ public", "//@ private", and "//@ unit base/arena.c",
// behind which stand two more, what it defines and which units it needs.
#include "session/artifact/one_file.h"

#include "base/installed.h"

#include <string.h>

static const char name[] = "leat_rt.c", mark[] = "//@ ";

// -- Words ---------------------------------------------------------------------------------------

// The next word of the list, which is cut off; false at its end.
static bool next_word(leat_bytes *list, leat_bytes *out) {
  const char *at = list->data, *end = at + list->size;
  while (at < end && *at == ' ') at++;
  const char *space = at < end ? memchr(at, ' ', (size_t)(end - at)) : NULL;
  *out = (leat_bytes){at, (size_t)((space ? space : end) - at)};
  *list = (leat_bytes){at + out->size, (size_t)(end - at) - out->size};
  return out->size;
}

static bool starts_with(leat_bytes text, const char *start) {
  return text.size >= strlen(start) && memcmp(text.data, start, strlen(start)) == 0;
}

static bool lists(leat_bytes list, leat_bytes word) {
  for (leat_bytes item; next_word(&list, &item);)
    if (item.size == word.size && memcmp(item.data, word.data, word.size) == 0) return true;
  return false;
}

// -- Reading -------------------------------------------------------------------------------------

// The line without its end, which is cut off.
static leat_bytes next_line(leat_bytes *text) {
  const char *end = memchr(text->data, '\n', text->size);
  leat_bytes line = {text->data, end ? (size_t)(end - (const char *)text->data) : text->size};
  size_t cut = line.size + (end != NULL);
  *text = (leat_bytes){(const char *)text->data + cut, text->size - cut};
  return line;
}

// Up to the next mark.
static leat_bytes next_piece(leat_bytes *text) {
  leat_bytes piece = {text->data, 0};
  while (text->size && !starts_with(*text, mark)) next_line(text);
  piece.size = (size_t)((const char *)text->data - (const char *)piece.data);
  return piece;
}

// "//@ needs base/arena.c base/text.c" → "base/arena.c base/text.c"
static leat_bytes next_list(leat_bytes *text) {
  leat_bytes line = next_line(text), word;
  next_word(&line, &word);
  next_word(&line, &word);
  return line;
}

// A unit defines its own name too, by which others need it.
static leat_joined_unit read_unit(leat_arena *arena, leat_bytes title, leat_bytes *text) {
  leat_bytes defines = next_list(text);
  leat_joined_unit unit = {.needs = next_list(text)};
  next_word(&title, &(leat_bytes){0}); // "unit"
  const char *all = leat_arena_printf(arena, "%.*s %.*s", (int)title.size, (const char *)title.data,
                                      (int)defines.size, (const char *)defines.data);
  unit.defines = (leat_bytes){all, strlen(all)};
  unit.text = next_piece(text);
  return unit;
}

static uint32_t count_units(leat_bytes text) {
  uint32_t count = 0;
  while (text.size) count += starts_with(next_line(&text), "//@ unit");
  return count;
}

leat_status leat_joined_read(leat_arena *arena, leat_joined *out, leat_error *error) {
  char path[LEAT_PATH_SIZE];
  leat_file_view view;
  *out = (leat_joined){0};
  if (!leat_directory_find(leat_runtime_directories, name, path))
    return leat_fail(error, LEAT_NOT_FOUND, "the runtime's source, %s, is in none of %s", name,
                     leat_runtime_directories);
  LEAT_TRY(leat_file_view_open(&view, path, error));
  leat_bytes text = {leat_arena_strndup(arena, (const char *)view.data, view.size), view.size};
  leat_file_view_close(&view);
  out->units = leat_new_array(arena, leat_joined_unit, (size_t)count_units(text) + 1);
  while (text.size) {
    leat_bytes title = next_line(&text);
    next_word(&title, &(leat_bytes){0}); // the mark
    if (starts_with(title, " public"))
      out->public = next_piece(&text);
    else if (starts_with(title, " private"))
      out->private = next_piece(&text);
    else
      out->units[out->count++] = read_unit(arena, title, &text);
  }
  return LEAT_OK;
}

// -- Taking --------------------------------------------------------------------------------------

static void take_word(leat_joined *joined, leat_bytes word);

static void take_unit(leat_joined *joined, leat_joined_unit *unit) {
  if (unit->taken) return;
  unit->taken = true;
  leat_bytes needs = unit->needs;
  for (leat_bytes word; next_word(&needs, &word);) take_word(joined, word);
}

static void take_word(leat_joined *joined, leat_bytes word) {
  for (uint32_t i = 0; i < joined->count; i++)
    if (lists(joined->units[i].defines, word)) take_unit(joined, &joined->units[i]);
}

void leat_joined_take(leat_joined *joined, const char *symbol) {
  take_word(joined, (leat_bytes){symbol, strlen(symbol)});
}

void leat_joined_take_public(leat_joined *joined) {
  for (uint32_t i = 0; i < joined->count; i++) {
    leat_bytes defines = joined->units[i].defines;
    for (leat_bytes word; next_word(&defines, &word);)
      if (starts_with(word, "leat_model_") || starts_with(word, "leat_dtype_"))
        take_unit(joined, &joined->units[i]);
  }
}

void leat_joined_print(const leat_joined *joined, leat_text *out) {
  for (uint32_t i = 0; i < joined->count; i++)
    if (joined->units[i].taken)
      leat_text_add_n(out, joined->units[i].text.data, joined->units[i].text.size);
}
