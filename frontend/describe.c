// Definitions as people read them: the `##` lines above, then the head up to its `{`; and what
// names are.
#include "base/name.h"
#include "frontend/syntax/parser.h"
#include "frontend/values/builtin.h"
#include "frontend/values/evaluator.h"

#include <string.h>

void leat_frontend_entry_doc(const leat_frontend *e, const char *name, leat_text *out) {
  const leat_stmt *stmt = leat_map_get(&e->documented, leat_intern(e->strings, name));
  for (const char *line = stmt ? stmt->doc : NULL; line;) {
    size_t size = strcspn(line, "\n"), space = *line == ' ';
    leat_text_add(out, "%.*s\n", (int)(size - space), line + space);
    line = line[size] ? line + size + 1 : NULL;
  }
}

static void describe_head(const leat_diag *diag, const leat_stmt *stmt, leat_text *out) {
  size_t size;
  const char *text = leat_diag_source_text(diag, stmt->span.source, &size);
  const char *head = text + stmt->span.begin, *end = text + stmt->span.end;
  const char *brace = memchr(head, '{', (size_t)(end - head));
  if (brace) end = brace;
  while (end > head && strchr(" \t\r\n", end[-1])) end--;
  leat_text_add_n(out, head, (size_t)(end - head));
  leat_text_add(out, "\n");
}

static void describe(const leat_diag *diag, const leat_stmt *stmt, leat_text *out) {
  for (const char *line = stmt->doc; line;) {
    size_t size = strcspn(line, "\n");
    leat_text_add(out, "##%s%.*s\n", line[0] == ' ' || !size ? "" : " ", (int)size, line);
    line = line[size] ? line + size + 1 : NULL;
  }
  describe_head(diag, stmt, out);
}

// -- Names ----------------------------------------------------------------------------------------

enum { MOST_OF_VALUE = 60 }; // bytes, of what is known while compiling

static void show_value(const char *name, ev value, leat_arena *scratch, leat_text *out) {
  const leat_type *type = ev_tensor_type(value);
  if (value.kind == EV_STATE) leat_text_add(out, "var ");
  leat_name_print(name, out);
  leat_text shown = {0};
  if (type)
    leat_text_add(out, ": %s\n", leat_type_text(scratch, type));
  else
    ev_print(value, &shown);
  if (shown.size > MOST_OF_VALUE)
    leat_text_add(out, " is %s\n", ev_kind_name(value));
  else if (!type)
    leat_text_add(out, " = %s\n", shown.data ? shown.data : "");
  leat_text_finish(&shown);
}

void leat_frontend_show_names(const leat_frontend *e, leat_text *out) {
  leat_arena *scratch = leat_arena_create();
  const leat_map *names = &e->globals->names, *functions = &e->functions;
  for (uint32_t i = 0; i < names->count; i++) {
    const ev_binding *binding = names->entries[i].value;
    const char *name = names->entries[i].key;
    const leat_stmt *stmt = leat_map_get(&e->documented, name);
    if (!binding || !strcmp(name, "_")) continue;
    if (binding->members)
      leat_text_add(out, "%s[…], a family of %u\n", name, binding->members->count);
    else if (binding->value.kind == EV_ENTRY && stmt)
      describe_head(e->diag, stmt, out);
    else if (binding->value.kind != EV_ENTRY)
      show_value(name, binding->value, scratch, out);
  }
  for (uint32_t i = 0; i < functions->count; i++) {
    const ev_function *function = functions->entries[i].value;
    if (function) describe_head(e->diag, function->definition, out);
  }
  leat_arena_destroy(scratch);
}

bool leat_frontend_describe(const leat_frontend *e, const char *name, leat_text *out) {
  const char *key = leat_intern(e->strings, name);
  const ev_function *found[] = {leat_map_get(&e->functions, key), leat_map_get(&e->gradients, key)};
  const leat_stmt *other = leat_map_get(&e->documented, key);
  for (size_t i = 0; i < sizeof found / sizeof *found; i++)
    if (found[i]) describe(e->diag, found[i]->definition, out);
  if (other) describe(e->diag, other, out);
  return found[0] || found[1] || other;
}

bool leat_describe_text(leat_diag *diag, uint32_t source, leat_text *out) {
  leat_arena *arena = leat_arena_create();
  uint32_t errors = leat_diag_errors(diag);
  const leat_ast_file *file = leat_parse(arena, leat_strings_create(arena), diag, source);
  bool ok = leat_diag_errors(diag) == errors;
  for (uint32_t i = 0; ok && i < file->stmts.count; i++) {
    const leat_stmt *stmt = file->stmts.items[i];
    bool shown = stmt->kind == LEAT_STMT_FN || stmt->kind == LEAT_STMT_GRADIENT ||
                 stmt->kind == LEAT_STMT_ENTRY || stmt->doc;
    if (shown) describe(diag, stmt, out);
  }
  leat_arena_destroy(arena);
  return ok;
}

static void find_entries(const leat_stmts *stmts,
                         void (*found)(void *context, const char *name, const char *help),
                         void *context) {
  for (uint32_t i = 0; i < stmts->count; i++) {
    const leat_stmt *stmt = stmts->items[i];
    bool holds = stmt->kind == LEAT_STMT_ON || stmt->kind == LEAT_STMT_FOR;
    const char *help = stmt->doc ? stmt->doc : "";
    if (stmt->kind == LEAT_STMT_ENTRY && stmt->name)
      found(context, stmt->name, help + strspn(help, " "));
    else if (holds || stmt->kind == LEAT_STMT_IF)
      find_entries(&stmt->body, found, context);
  }
}

void leat_find_entries(leat_diag *diag, uint32_t source,
                       void (*found)(void *context, const char *name, const char *help),
                       void *context) {
  leat_arena *arena = leat_arena_create();
  find_entries(&leat_parse(arena, leat_strings_create(arena), diag, source)->stmts, found, context);
  leat_arena_destroy(arena);
}
