// What Leat itself has under a name, as people read it: ops from the op table, functions of the
// library from their own texts, and those of compile time.
#include "frontend/frontend.h"
#include "stdlib/stdlib.h"

#include <stdio.h>
#include <string.h>

enum { NAME_COLUMN = LEAT_HELP_COLUMN, INPUTS_COLUMN = 21 };

static const char *class_text(leat_dtype_class class) {
  switch (class) {
  case LEAT_CLASS_ALL: return "any dtype";
  case LEAT_CLASS_ANY_DTYPE: return "any dtype but str";
  case LEAT_CLASS_NUMERIC: return "numbers";
  case LEAT_CLASS_ORDERED: return "bool, integers, floats and strings";
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
  case LEAT_ABSENT_TRUE: return " = true";
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
void leat_describe_op(leat_op which, leat_text *out) {
  const leat_op_info *op = leat_op_info_of(which);
  char inputs[32];
  snprintf(inputs, sizeof inputs, "(%s)", leat_op_inputs(which));
  int bytes_of_dots = op->max_inputs == LEAT_ANY_INPUTS ? 2 : 0; // `…` is one column of three bytes
  char outputs = op->outputs == LEAT_ANY_OUTPUTS ? 'n' : (char)('0' + op->outputs);
  leat_text_add(out, "%-*s %-*s %c out  %-17s", NAME_COLUMN, op->name,
                INPUTS_COLUMN + bytes_of_dots, inputs, outputs, class_text(op->dtypes));
  for (int i = 0; i < op->attr_count; i++)
    leat_text_add(out, "%s%s: %s%s", i ? ", " : " ", op->attrs[i].name,
                  attr_kind_text(op->attrs[i].kind), absent_text(op->attrs[i].absent));
  leat_text_add(out, "\n");
}

static void describe_flags(const leat_op_info *op, leat_text *out) {
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
  for (size_t i = 0; i < sizeof flags / sizeof *flags; i++)
    if (op->flags & (unsigned)flags[i].flag) leat_text_add(out, "  %s\n", flags[i].text);
}

// Up to its body, with the comment above it.
static void describe_definition(const leat_stdlib_entry *entry, leat_text *out) {
  const char *text = leat_stdlib_files[entry->file].text + entry->offset;
  const char *end = text + entry->size;
  for (const char *line = text; line < end;) {
    size_t length = strcspn(line, "\n");
    leat_text_add(out, "%.*s\n", (int)length, line);
    if (strncmp(line, "##", 2) != 0 && memchr(line, '{', length)) return;
    line += length + 1;
  }
}

static const char *builtin_help(const char *name) {
  uint32_t i = 0;
  while (leat_builtin_name(i) && strcmp(leat_builtin_name(i), name)) i++;
  return leat_builtin_help(i);
}

bool leat_describe_own(const char *name, leat_text *out) {
  leat_op op;
  const leat_stdlib_entry *function = leat_stdlib_find(LEAT_STDLIB_FN, name);
  const char *help = builtin_help(name);
  bool found = leat_op_parse(name, strlen(name), &op);
  if (found) {
    leat_describe_op(op, out);
    leat_text_add(out, "  %s\n", leat_op_help(op));
    describe_flags(leat_op_info_of(op), out);
  }
  if (function) describe_definition(function, out);
  if (help) leat_text_add(out, "%s\n", help);
  const leat_stdlib_entry *rule = leat_stdlib_find(LEAT_STDLIB_GRADIENT, name);
  if (rule) leat_text_add(out, "its gradient is in %s\n", leat_stdlib_files[rule->file].name);
  return found || function || help;
}
