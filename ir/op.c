// The op table of ir/ops.def as data.
#include "ir/op.h"

#include <assert.h>
#include <string.h>

// The number of attributes of each row.
enum {
#define A(kind, name, absent) +1
#define OP(name, min, max, outputs, dtypes, apart, kind, leaf, reads, zeros, flags, attributes)    \
  ATTRS_##name = 0 attributes,
#include "ir/ops.def"
};

// The table's short words.
enum {
  ANY = LEAT_ANY_INPUTS,
  COMMUTES = LEAT_FLAG_COMMUTES,
  EFFECT = LEAT_FLAG_EFFECT,
  STATE = LEAT_FLAG_STATE,
  RANDOM = LEAT_FLAG_RANDOM,
  EXACT = LEAT_FLAG_EXACT,
  BROADCASTS = LEAT_FLAG_BROADCASTS,
  FAILS = LEAT_FLAG_FAILS,
  FAILS_LATE = LEAT_FLAG_FAILS_LATE,
  ALIAS = LEAT_FLAG_ALIAS,
  INLINE = LEAT_FLAG_INLINE,
  LOCAL = LEAT_FLAG_LOCAL,
  FROM_STEP = LEAT_FLAG_FROM_STEP,
  FROM_CHECKED = LEAT_FLAG_FROM_CHECKED,
  FROM_PART = LEAT_FLAG_FROM_PART,
  UNTIL_RAISED = LEAT_FLAG_UNTIL_RAISED,
  UNTIL_LEGAL = LEAT_FLAG_UNTIL_LEGAL,
  KEEPS = LEAT_FLAG_KEEPS,
  NONE = -1,
  FIRST = 0,
  SECOND = 1,
};

static const leat_op_info table[LEAT_OP_COUNT] = {
#define A(kind, name, absent) {LEAT_ATTR_##kind, #name, LEAT_ABSENT_##absent},
#define OP(name, min, max, outputs, dtypes, apart, kind, leaf, reads, zeros, flags, attributes)    \
  [LEAT_OP_##name] = {#name,                                                                       \
                      min,                                                                         \
                      max,                                                                         \
                      outputs,                                                                     \
                      LEAT_CLASS_##dtypes,                                                         \
                      apart,                                                                       \
                      LEAT_KIND_##kind,                                                            \
                      LEAT_LEAF_##leaf,                                                            \
                      LEAT_READS_##reads,                                                          \
                      LEAT_ZEROS_##zeros,                                                          \
                      flags,                                                                       \
                      ATTRS_##name,                                                                \
                      {attributes}},
#include "ir/ops.def"
};

// Code generation knows an output without code by where it comes from, and by nothing else.
#define A(kind, name, absent)
#define OP(name, min, max, outputs, dtypes, apart, kind, leaf, reads, zeros, flags, attributes)    \
  _Static_assert((LEAT_LEAF_##leaf != LEAT_LEAF_NONE) ==                                           \
                     (LEAT_KIND_##kind == LEAT_KIND_STRUCTURE && (outputs) != 0 &&                 \
                      !((flags)&LEAT_FLAG_UNTIL_RAISED)),                                          \
                 "ir/ops.def: " #name ": an output that no code makes is some kind of leaf");
#include "ir/ops.def"

leat_phase leat_op_first_phase(leat_op op) {
  unsigned flags = table[op].flags;
  return flags & FROM_PART      ? LEAT_PHASE_PART
         : flags & FROM_CHECKED ? LEAT_PHASE_CHECKED
         : flags & FROM_STEP    ? LEAT_PHASE_STEP
                                : LEAT_PHASE_TEXT;
}

leat_phase leat_op_last_phase(leat_op op) {
  unsigned flags = table[op].flags;
  return flags & UNTIL_RAISED  ? LEAT_PHASE_STEP
         : flags & UNTIL_LEGAL ? LEAT_PHASE_PART
                               : LEAT_PHASE_LEGAL;
}

const char *leat_phase_name(leat_phase phase) {
  static const char *const names[] = {"text", "step", "raised", "checked", "part", "legal"};
  return names[phase];
}

static const struct {
  const char *inputs, *gives;
} help[LEAT_OP_COUNT] = {
#define HELP(name, inputs, gives) [LEAT_OP_##name] = {inputs, gives},
#include "ir/op_help.def"
};

const char *leat_op_help(leat_op op) {
  return help[op].gives ? help[op].gives : "";
}

const char *leat_op_inputs(leat_op op) {
  return help[op].inputs ? help[op].inputs : "";
}

const leat_op_info *leat_op_info_of(leat_op op) {
  assert((size_t)op < LEAT_OP_COUNT);
  return &table[op];
}

bool leat_leaf_is_fixed(leat_op_leaf leaf) {
  return leaf == LEAT_LEAF_CONSTANT || leaf == LEAT_LEAF_FILE;
}

static const leat_op_cost costs[LEAT_OP_COUNT] = {
#define COST(name, instructions, picoseconds) [LEAT_OP_##name] = {instructions, picoseconds},
#include "ir/op_cost.def"
};

leat_op_cost leat_op_cost_of(leat_op op) {
  return costs[op].instructions ? costs[op] : (leat_op_cost){1, LEAT_INSTRUCTION_PICOSECONDS};
}

bool leat_op_parse(const char *name, size_t length, leat_op *out) {
  for (size_t op = 0; op < LEAT_OP_COUNT; op++) {
    if (strlen(table[op].name) != length || memcmp(table[op].name, name, length)) continue;
    *out = (leat_op)op;
    return true;
  }
  return false;
}

const char *leat_op_name(leat_op op) {
  return leat_op_info_of(op)->name;
}

bool leat_op_computes(leat_op op) {
  return leat_op_info_of(op)->dtypes != LEAT_CLASS_ALL && leat_op_attr_index(op, "dtype") < 0;
}

bool leat_dtype_in_class(leat_dtype dtype, leat_dtype_class class) {
  leat_dtype_kind kind = leat_dtype_kind_of(dtype);
  bool integer = kind == LEAT_KIND_SIGNED || kind == LEAT_KIND_UNSIGNED;
  switch (class) {
  case LEAT_CLASS_ALL: return true;
  case LEAT_CLASS_ANY_DTYPE: return kind != LEAT_KIND_STRING;
  case LEAT_CLASS_NUMERIC: return kind != LEAT_KIND_STRING && kind != LEAT_KIND_BOOL;
  case LEAT_CLASS_ORDERED: return kind != LEAT_KIND_COMPLEX;
  case LEAT_CLASS_REAL: return integer || kind == LEAT_KIND_FLOAT;
  case LEAT_CLASS_INEXACT: return kind == LEAT_KIND_FLOAT || kind == LEAT_KIND_COMPLEX;
  case LEAT_CLASS_FLOAT: return kind == LEAT_KIND_FLOAT;
  case LEAT_CLASS_COMPLEX: return kind == LEAT_KIND_COMPLEX;
  case LEAT_CLASS_STRING: return kind == LEAT_KIND_STRING;
  case LEAT_CLASS_INTEGER: return integer;
  case LEAT_CLASS_BOOLEAN: return kind == LEAT_KIND_BOOL;
  }
  return false;
}

int leat_op_attr_index(leat_op op, const char *name) {
  const leat_op_info *info = leat_op_info_of(op);
  for (int i = 0; i < info->attr_count; i++)
    if (strcmp(info->attrs[i].name, name) == 0) return i;
  return -1;
}
