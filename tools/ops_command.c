// leat ops: the primitives, from the op table, and the library's functions, from their own texts.
#include "base/file.h"
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

enum { NAME_COLUMN = 18, INPUTS_COLUMN = 21 };

static const char *class_text(leat_dtype_class class) {
  switch (class) {
  case LEAT_CLASS_ALL: return "any dtype";
  case LEAT_CLASS_ANY_DTYPE: return "any dtype but str";
  case LEAT_CLASS_NUMERIC: return "numbers";
  case LEAT_CLASS_ORDERED: return "bool, integers and floats";
  case LEAT_CLASS_REAL: return "integers and floats";
  case LEAT_CLASS_INEXACT: return "floats and complex numbers";
  case LEAT_CLASS_FLOAT: return "floats";
  case LEAT_CLASS_COMPLEX: return "complex numbers";
  case LEAT_CLASS_STRING: return "str";
  case LEAT_CLASS_INTEGER: return "integers";
  case LEAT_CLASS_BOOLEAN: return "bool";
  }
  return "";
}

static const char *attr_kind_text(leat_attr_kind kind) {
  switch (kind) {
  case LEAT_ATTR_INT: return "int";
  case LEAT_ATTR_BOOL: return "bool";
  case LEAT_ATTR_STRING: return "str";
  case LEAT_ATTR_DTYPE: return "dtype";
  case LEAT_ATTR_DIM: return "dim";
  case LEAT_ATTR_INTS: return "[int]";
  case LEAT_ATTR_DIMS: return "[dim]";
  case LEAT_ATTR_TYPE: return "type";
  case LEAT_ATTR_TENSOR: return "tensor";
  case LEAT_ATTR_STATE: return "state";
  case LEAT_ATTR_GRAPH: return "body";
  }
  return "";
}

// What stands behind the type of an attribute that a text may leave out.
static const char *absent_text(leat_attr_absent absent) {
  switch (absent) {
  case LEAT_ABSENT_REQUIRED: return "";
  case LEAT_ABSENT_ZERO: return " = 0";
  case LEAT_ABSENT_FALSE: return " = false";
  case LEAT_ABSENT_NONE: return " = []";
  case LEAT_ABSENT_EMPTY: return " = \"\"";
  case LEAT_ABSENT_LEFT: return " = \"left\"";
  case LEAT_ABSENT_F32: return " = f32";
  case LEAT_ABSENT_I32: return " = i32";
  case LEAT_ABSENT_ALL_AXES: return " = all axes";
  case LEAT_ABSENT_REVERSED: return " = the axes reversed";
  case LEAT_ABSENT_LAST_AXIS: return " = the last axis";
  case LEAT_ABSENT_ONLY_AXIS: return " = the only axis";
  case LEAT_ABSENT_ONES: return " = ones";
  case LEAT_ABSENT_EVEN_LENGTH: return " = the even one";
  case LEAT_ABSENT_PATH: return " = a hash of the node's path";
  }
  return "";
}

// pad                (x, value)            1 out  any dtype         before: [dim], after: [dim]
static void print_op(leat_op which) {
  const leat_op_info *op = leat_op_info_of(which);
  char inputs[32];
  snprintf(inputs, sizeof inputs, "(%s)", leat_op_inputs(which));
  int bytes_of_dots = op->max_inputs == LEAT_ANY_INPUTS ? 2 : 0; // `…` is one column of three bytes
  char outputs = op->outputs == LEAT_ANY_OUTPUTS ? 'n' : (char)('0' + op->outputs);
  printf("%-*s %-*s %c out  %-17s", NAME_COLUMN, op->name, INPUTS_COLUMN + bytes_of_dots, inputs,
         outputs, class_text(op->dtypes));
  for (int i = 0; i < op->attr_count; i++)
    printf("%s%s: %s%s", i ? ", " : " ", op->attrs[i].name, attr_kind_text(op->attrs[i].kind),
           absent_text(op->attrs[i].absent));
  printf("\n");
}

static void print_flags(const leat_op_info *op) {
  static const struct {
    leat_op_flags flag;
    const char *text;
  } flags[] = {
      {LEAT_FLAG_BROADCASTS, "its inputs are broadcast to one shape"},
      {LEAT_FLAG_COMMUTES, "the order of its inputs is free"},
      {LEAT_FLAG_EFFECT, "it runs though nobody uses its result"},
      {LEAT_FLAG_STATE, "it reads or writes a state"},
      {LEAT_FLAG_RANDOM, "it is random: never merged, never folded"},
      {LEAT_FLAG_EXACT, "its result is exact or correctly rounded"},
      {LEAT_FLAG_FAILS, "a running step may fail in it"},
      {LEAT_FLAG_FAILS_LATE, "a running step may fail in it, where dims are known only then"},
  };
  for (int i = 0; i < TOOL_COUNT(flags); i++)
    if (op->flags & (unsigned)flags[i].flag) printf("  %s\n", flags[i].text);
}

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
  printf("%-*s %.*s\n", NAME_COLUMN, entry->name, (int)(end - text), text);
}

// The definition up to its body, with the comment above it.
static void print_definition(const leat_stdlib_entry *entry) {
  const char *text = text_of(entry);
  size_t size = entry->size;
  for (const char *line = text; line < text + size;) {
    size_t length = strcspn(line, "\n");
    if (line + length > text + size) length = (size_t)(text + size - line);
    printf("%.*s\n", (int)length, line);
    if (strncmp(line, "##", 2) != 0 && memchr(line, '{', length)) return;
    line += length + 1;
  }
}

static const char *builtin_help(const char *name) {
  uint32_t i = 0;
  while (leat_builtin_name(i) && strcmp(leat_builtin_name(i), name)) i++;
  return leat_builtin_help(i);
}

// What a keyword begins, which is neither an op nor a function; false: it is none.
static bool show_keyword(const char *name) {
  const char *advice = leat_habit_word(name, strlen(name));
  int kind = 0;
  while (kind < LEAT_TOKEN_COUNT && !(leat_token_is_keyword((leat_token_kind)kind) &&
                                      !strcmp(leat_token_spelling((leat_token_kind)kind), name)))
    kind++;
  if (advice && kind < LEAT_TOKEN_COUNT) printf("%s\n", advice);
  return advice && kind < LEAT_TOKEN_COUNT;
}

static bool show_one(const char *name) {
  leat_op op;
  const leat_stdlib_entry *function = leat_stdlib_find(LEAT_STDLIB_FN, name);
  const char *help = builtin_help(name);
  bool found = leat_op_parse(name, strlen(name), &op);
  if (found) {
    print_op(op);
    printf("  %s\n", leat_op_help(op));
    print_flags(leat_op_info_of(op));
  }
  if (function) print_definition(function);
  if (help) printf("%s\n", help);
  const leat_stdlib_entry *rule = leat_stdlib_find(LEAT_STDLIB_GRADIENT, name);
  if (rule) printf("its gradient is in %s\n", leat_stdlib_files[rule->file].name);
  return found || function || help;
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
    fprintf(stderr, "error: %s\n", advice);
    return TOOL_FAILED;
  }
  tool_list names = tool_op_names();
  const char *nearest = leat_nearest(name, names.items, names.count);
  fprintf(stderr, "error: there is no op or function `%s`%s%s%s\n", name,
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
    fprintf(stderr, "error: %s\n", error.message);
    return TOOL_FAILED;
  }
  leat_arena *arena = leat_arena_create();
  leat_diag *diag = leat_diag_create(arena);
  leat_text out = {0};
  bool ok = leat_describe_text(diag, leat_diag_add_source(diag, path, text, size), &out);
  if (!ok) leat_diag_print(diag, &out);
  fputs(out.data ? out.data : "", ok ? stdout : stderr);
  leat_text_finish(&out);
  leat_arena_destroy(arena);
  free(text);
  return ok ? TOOL_OK : TOOL_FAILED;
}

static int show_all(void) {
  printf("Primitives:\n");
  for (int i = 0; i < LEAT_OP_COUNT; i++) print_op((leat_op)i);
  printf("\nFunctions of the library:\n");
  for (uint32_t i = 0; i < leat_stdlib_index_count; i++) print_summary(&leat_stdlib_index[i]);
  printf("\nFunctions of compile time:\n");
  for (uint32_t i = 0; leat_builtin_name(i); i++) printf("%s\n", leat_builtin_help(i));
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
