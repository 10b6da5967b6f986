// Writing a node by its row.
#include "frontend/importer/row.h"

#include <string.h>

bool leat_next_word(const char **at, leat_word *out) {
  *at += strspn(*at, " ");
  *out = (leat_word){*at, strcspn(*at, " ")};
  *at += out->size;
  return out->size > 0;
}

bool leat_row_is_expression(const char *column) {
  return strchr(column, '$') || *column == '[';
}

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
  if (leat_row_is_expression(column)) return write_expression(column, args, out);
  write_call(column, args, out);
  return true;
}
