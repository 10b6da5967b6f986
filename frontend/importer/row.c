// See row.h.
#include "frontend/importer/row.h"

#include <string.h>

bool leat_next_word(const char **at, leat_word *out) {
  *at += strspn(*at, " ");
  *out = (leat_word){*at, strcspn(*at, " ")};
  *at += out->size;
  return out->size > 0;
}

bool leat_word_is(leat_word word, const char *text) {
  return strlen(text) == word.size && memcmp(text, word.at, word.size) == 0;
}

uint32_t leat_count_words(const char *column) {
  leat_word each;
  uint32_t count = 0;
  while (leat_next_word(&column, &each)) count++;
  return count;
}

// -- Inputs ---------------------------------------------------------------------------------------

static leat_row_input read_input(leat_word word) {
  leat_row_input input = {.in_list = word.at[0] == '*'};
  const char *equals = memchr(word.at, '=', word.size), *end = word.at + word.size;
  input.kind = !input.in_list ? word.at[0] : word.size > 1 ? word.at[1] : 't';
  if (equals) input.name = (leat_word){equals + 1, (size_t)(end - equals - 1)};
  return input;
}

size_t leat_row_add_inputs(leat_arena *arena, const char *column, size_t count, leat_row_text *text,
                           void *context, leat_row_arguments *args) {
  size_t i = 0, behind = leat_count_words(column);
  leat_word word;
  while (leat_next_word(&column, &word)) {
    leat_row_input input = read_input(word);
    behind--;
    size_t end = !input.in_list ? i + 1 : count > i + behind ? count - behind : i;
    leat_text list = {0};
    for (size_t first = i; i < end; i++) {
      const char *given = text(context, &input, i);
      if (input.in_list)
        leat_text_add(&list, "%s%s", i > first ? ", " : "", given ? given : "none");
      else if (given && input.name.size)
        leat_row_add_named(args, input.name, given);
      else if (given)
        leat_vec_push(arena, &args->items, given);
    }
    if (input.in_list)
      leat_vec_push(arena, &args->items,
                    leat_arena_printf(arena, "[%s]", list.size ? list.data : ""));
    leat_text_finish(&list);
  }
  return i;
}

// -- Attributes -----------------------------------------------------------------------------------

bool leat_row_find_attribute(const char *column, const char *name, leat_row_attribute *out) {
  size_t size = strlen(name);
  leat_word word;
  while (leat_next_word(&column, &word)) {
    const char *at = word.at + (*word.at == '!'), *end = word.at + word.size;
    size_t length = 0;
    while (at + length < end && !strchr(">:=", at[length])) length++;
    bool all = length && at[length - 1] == '*';
    size_t same = length - all;
    if (!(all ? same < size : same == size) || memcmp(at, name, same) != 0) continue;
    const char *equals = memchr(at, '=', (size_t)(end - at)), *rest = equals ? equals : end;
    const char *colon = memchr(at, ':', (size_t)(rest - at)), *named = colon ? colon : rest;
    const char *arrow = memchr(at, '>', (size_t)(named - at)), *from = arrow ? arrow + 1 : at;
    *out = (leat_row_attribute){.name = {from, (size_t)(named - from)},
                                .type = colon ? colon[1] : 0,
                                .passed_over = *word.at == '!'};
    if (equals) out->only = (leat_word){equals + 1, (size_t)(end - equals - 1)};
    return true;
  }
  return false;
}

void leat_row_add_named(leat_row_arguments *args, leat_word name, const char *value) {
  leat_text_add(&args->named, ", %.*s=%s", (int)name.size, name.at, value);
}

// -- The line -------------------------------------------------------------------------------------

static bool write_expression(const char *column, const leat_row_arguments *args, leat_text *out) {
  uint32_t next = 0;
  for (const char *c = column; *c; c++) {
    if (*c != '$')
      leat_text_add_n(out, c, 1);
    else if (next < args->items.count)
      leat_text_add_string(out, args->items.items[next++]);
    else
      return false;
  }
  return true;
}

// The arguments, then what stands in the brackets.
static void write_call(const char *column, const leat_row_arguments *args, leat_text *out) {
  int size = (int)strcspn(column, "("), more = (int)strlen(column) - size - 2;
  leat_text rest = {0};
  for (uint32_t i = 0; i < args->items.count; i++)
    leat_text_add(&rest, ", %s", args->items.items[i]);
  if (args->named.size) leat_text_add_string(&rest, args->named.data);
  if (more > 0) leat_text_add(&rest, ", %.*s", more, column + size + 1);
  leat_text_add(out, "%.*s(%s)", size, column, rest.size ? rest.data + 2 : "");
  leat_text_finish(&rest);
}

bool leat_row_write(const char *column, const leat_row_arguments *args, leat_text *out) {
  if (strchr(column, '$') || *column == '[') return write_expression(column, args, out);
  write_call(column, args, out);
  return true;
}
