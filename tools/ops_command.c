// leat ops: the primitives, from the op table, and the library's functions, from their own texts.
#include "base/diag.h"
#include "frontend/stdlib.h"
#include "ir/op.h"
#include "tools/options.h"

#include <stdio.h>
#include <string.h>

enum { NAME_COLUMN = 18 };

static const char *class_text(leat_dtype_class class) {
  switch (class) {
  case LEAT_CLASS_ALL: return "any dtype";
  case LEAT_CLASS_ANY_DTYPE: return "any dtype but str";
  case LEAT_CLASS_NUMERIC: return "numbers";
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
  }
  return "";
}

// add(2 inputs) -> 1 of numbers · commutes, broadcasts
static void print_op(const leat_op_info *op) {
  char inputs[32];
  if (op->max_inputs == LEAT_ANY_INPUTS)
    snprintf(inputs, sizeof inputs, "%d or more", op->min_inputs);
  else
    snprintf(inputs, sizeof inputs, "%d", op->min_inputs);
  printf("%-*s %-9s in, %d out  %-17s", NAME_COLUMN, op->name, inputs, op->outputs,
         class_text(op->dtypes));
  for (int i = 0; i < op->attr_count; i++)
    printf("%s%s: %s", i ? ", " : " ", op->attrs[i].name, attr_kind_text(op->attrs[i].kind));
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
  };
  for (int i = 0; i < TOOL_COUNT(flags); i++)
    if (op->flags & (unsigned)flags[i].flag) printf("  %s\n", flags[i].text);
}

// The definition up to its body, with the comment above it.
static void print_definition(const leat_stdlib_entry *entry) {
  const char *text = leat_stdlib_files[entry->file].text + entry->offset;
  size_t size = entry->size;
  for (const char *line = text; line < text + size;) {
    size_t length = strcspn(line, "\n");
    if (line + length > text + size) length = (size_t)(text + size - line);
    printf("%.*s\n", (int)length, line);
    if (strncmp(line, "##", 2) != 0 && memchr(line, '{', length)) return;
    line += length + 1;
  }
}

static int show_one(const char *name) {
  leat_op op;
  const leat_stdlib_entry *function = leat_stdlib_find(LEAT_STDLIB_FN, name);
  bool found = leat_op_parse(name, strlen(name), &op);
  if (found) print_op(leat_op_info_of(op)), print_flags(leat_op_info_of(op));
  if (function) print_definition(function);
  const leat_stdlib_entry *rule = leat_stdlib_find(LEAT_STDLIB_GRADIENT, name);
  if (rule) printf("its gradient is in %s\n", leat_stdlib_files[rule->file].name);
  return found || function ? TOOL_OK : TOOL_FAILED;
}

static int report_unknown(const char *name) {
  const char *names[1024];
  size_t count = 0;
  for (int i = 0; i < LEAT_OP_COUNT && count < 1024; i++) names[count++] = leat_op_name((leat_op)i);
  for (uint32_t i = 0; i < leat_stdlib_index_count && count < 1024; i++)
    names[count++] = leat_stdlib_index[i].name;
  const char *nearest = leat_nearest(name, names, count);
  fprintf(stderr, "error: there is no op or function `%s`%s%s%s\n", name,
          nearest ? "; did you mean `" : "", nearest ? nearest : "", nearest ? "`?" : "");
  return TOOL_FAILED;
}

static int show_all(void) {
  printf("Primitives:\n");
  for (int i = 0; i < LEAT_OP_COUNT; i++) print_op(leat_op_info_of((leat_op)i));
  printf("\nFunctions of the library:\n");
  for (uint32_t i = 0; i < leat_stdlib_index_count; i++)
    if (leat_stdlib_index[i].kind == LEAT_STDLIB_FN)
      printf("%-*s %s\n", NAME_COLUMN, leat_stdlib_index[i].name,
             leat_stdlib_files[leat_stdlib_index[i].file].name);
  return TOOL_OK;
}

static int run(const tool_command *command, int argc, char **argv) {
  int first, status, worst = TOOL_OK;
  const tool_options groups[] = {{"Options", NULL, 0}};
  if (!tool_parse(command, groups, TOOL_COUNT(groups), argc, argv, &first, &status)) return status;
  if (first == argc) return show_all();
  for (int i = first; i < argc; i++)
    if (show_one(argv[i])) worst = report_unknown(argv[i]);
  return worst;
}

const tool_command ops_command = {"ops", "[NAME…]", "list primitives and library functions", run};
