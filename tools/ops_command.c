// leat ops: the primitives, from the op table, and the library's functions, from their own texts.
#include "base/file.h"
#include "base/show.h"
#include "base/vec.h"
#include "frontend/frontend.h"
#include "frontend/syntax/habits.h"
#include "frontend/syntax/lexer.h"
#include "stdlib/stdlib.h"
#include "tools/describe.h"
#include "tools/forms.h"
#include "tools/options.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *text_of(const leat_stdlib_entry *entry) {
  return leat_stdlib_files[entry->file].text + entry->offset;
}

// A function that is meant for all, by the first sentence, or line, of its `##` comment.
static void print_summary(const leat_stdlib_entry *entry) {
  const char *text = text_of(entry);
  if (entry->kind != LEAT_STDLIB_FN || strncmp(text, "## ", 3) != 0) return;
  text += 3;
  const char *end = text + strcspn(text, "\n");
  for (const char *dot = text; (dot = memchr(dot, '.', (size_t)(end - dot))); dot++)
    if (dot[1] == ' ' && islower((unsigned char)dot[-1])) end = dot + 1; // not an initial's
  leat_show(stdout, "%-*s %.*s\n", LEAT_HELP_COLUMN, entry->name, (int)(end - text), text);
}

static void put(leat_text *text, FILE *to) {
  leat_show(to, "%s", text->data ? text->data : "");
  leat_text_finish(text);
}

// What a keyword begins, which is neither an op nor a function; false: it is none.
static bool show_keyword(const char *name) {
  const char *advice = leat_habit_word(name, strlen(name));
  int kind = 0;
  while (kind < LEAT_TOKEN_COUNT && !(leat_token_is_keyword((leat_token_kind)kind) &&
                                      !strcmp(leat_token_spelling((leat_token_kind)kind), name)))
    kind++;
  if (advice && kind < LEAT_TOKEN_COUNT) leat_show(stdout, "%s\n", advice);
  return advice && kind < LEAT_TOKEN_COUNT;
}

static bool show_one(const char *name) {
  leat_text text = {0};
  bool found = leat_describe_own(name, &text);
  put(&text, stdout);
  return found;
}

tool_list tool_op_names(void) {
  tool_list names = {0};
  for (int i = 0; i < LEAT_OP_COUNT; i++)
    leat_vec_push(tool_arena(), &names, leat_op_name((leat_op)i));
  for (uint32_t i = 0; i < leat_stdlib_index_count; i++)
    if (leat_stdlib_index[i].kind == LEAT_STDLIB_FN)
      leat_vec_push(tool_arena(), &names, leat_stdlib_index[i].name);
  for (uint32_t i = 0; leat_builtin_name(i); i++)
    leat_vec_push(tool_arena(), &names, leat_builtin_name(i));
  return names;
}

static int report_unknown(const char *name) {
  const char *advice = leat_habit_word(name, strlen(name));
  if (advice) {
    leat_show(stderr, "error: %s\n", advice);
    return TOOL_FAILED;
  }
  tool_list names = tool_op_names();
  const char *nearest = leat_nearest(name, names.items, names.count);
  leat_show(stderr, "error: there is no op or function `%s`%s%s%s\n", name,
            nearest ? "; did you mean `" : "", nearest ? nearest : "", nearest ? "`?" : "");
  return TOOL_FAILED;
}

int tool_describe(const char *name) {
  return show_one(name) || show_keyword(name) ? TOOL_OK : report_unknown(name);
}

// What a user's own file defines.
static int show_file(const char *path) {
  leat_error error = {0};
  char *text;
  size_t size;
  if (leat_file_read(path, LEAT_LARGEST_SOURCE, &text, &size, &error)) {
    leat_show(stderr, "error: %s\n", error.message);
    return TOOL_FAILED;
  }
  leat_arena *arena = leat_arena_create();
  leat_diag *diag = leat_diag_create(arena);
  leat_text out = {0};
  bool ok = leat_describe_text(diag, leat_diag_add_source(diag, path, text, size), &out);
  if (!ok) leat_diag_print(diag, &out);
  put(&out, ok ? stdout : stderr);
  leat_arena_destroy(arena);
  free(text);
  return ok ? TOOL_OK : TOOL_FAILED;
}

static int show_all(void) {
  leat_show(stdout, "Primitives:\n");
  for (int i = 0; i < LEAT_OP_COUNT; i++) {
    leat_text op = {0};
    leat_describe_op((leat_op)i, &op);
    put(&op, stdout);
  }
  leat_show(stdout, "\nFunctions of the library:\n");
  for (uint32_t i = 0; i < leat_stdlib_index_count; i++) print_summary(&leat_stdlib_index[i]);
  leat_show(stdout, "\nFunctions of compile time:\n");
  for (uint32_t i = 0; leat_builtin_name(i); i++) leat_show(stdout, "%s\n", leat_builtin_help(i));
  return TOOL_OK;
}

static bool is_file(const char *name) {
  size_t size = strlen(name);
  return size > 5 && strcmp(name + size - 5, ".leat") == 0;
}

static int run(const tool_command *command, int argc, char **argv) {
  int first, status, worst = TOOL_OK;
  const tool_options groups[] = {{"Options", NULL, 0}};
  if (!tool_parse(command, groups, TOOL_COUNT(groups), argc, argv, &first, &status)) return status;
  if (first == argc) return show_all();
  for (int i = first; i < argc; i++) {
    status = is_file(argv[i]) ? show_file(argv[i]) : tool_describe(argv[i]);
    if (status) worst = status;
  }
  return worst;
}

const tool_command ops_command = {"ops", "[NAME | FILE.leat]…",
                                  "list primitives and functions, or describe some", run};
