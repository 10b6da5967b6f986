// A kernel as one C function. Each instruction is a declaration `type vN = …`; vector arithmetic is
// written with the operators of GNU vectors where they mean the same, else lane by lane. Carried
// values of loops and results of ifs are variables that the branches assign.
#include "targets/c/c.h"

#include <math.h>
#include <string.h>

typedef struct printer {
  leat_text *out;
  uint32_t *numbers, next; // of values by id
  int indent;
} printer;

// -- Pieces --------------------------------------------------------------------------------------

static void line(printer *p) {
  leat_text_add(p->out, "%*s", 2 * p->indent, "");
}

static void print_type(printer *p, leat_dtype dtype, int lanes) {
  leat_text_add(p->out, "%s", leat_dtype_name(dtype));
  if (lanes > 1) leat_text_add(p->out, "x%d", lanes);
}

static bool is_float(leat_dtype dtype) {
  return leat_dtype_kind_of(dtype) == LEAT_KIND_FLOAT;
}

// bool is a byte in memory, of which any but 0 is true.
static const char *memory_type(leat_dtype dtype) {
  return dtype == LEAT_bool ? "u8" : leat_dtype_name(dtype);
}

static void print_float(printer *p, leat_dtype dtype, double value) {
  const char *suffix = dtype == LEAT_f32 ? "f" : "";
  if (isnan(value))
    leat_text_add(p->out, "%s__builtin_nan%s(\"\")", signbit(value) ? "-" : "", suffix);
  else if (isinf(value))
    leat_text_add(p->out, "%s__builtin_inf%s()", value < 0 ? "-" : "", suffix);
  else {
    if (dtype == LEAT_f32)
      leat_text_add_f32(p->out, (float)value);
    else
      leat_text_add_f64(p->out, value);
    leat_text_add(p->out, "%s", suffix);
  }
}

static void print_constant(printer *p, k_value value) {
  if (is_float(value->dtype))
    print_float(p, value->dtype, value->imm.f);
  else if (value->dtype == LEAT_u64)
    leat_text_add(p->out, "%lluu", (unsigned long long)value->imm.i);
  else if (value->imm.i == INT64_MIN)
    leat_text_add(p->out, "INT64_MIN");
  else
    leat_text_add(p->out, "%lld", (long long)value->imm.i);
}

// A value where any expression may stand; of a constant vector its lane, which vector operators
// widen.
static void print_value(printer *p, k_value value) {
  if (value->op == K_CONST)
    print_constant(p, value);
  else
    leat_text_add(p->out, "v%u", p->numbers[value->id]);
}

// Lane i of a value, or the value itself when it is a scalar.
static void print_lane(printer *p, k_value value) {
  print_value(p, value);
  if (value->lanes > 1 && value->op != K_CONST) leat_text_add(p->out, "[i]");
}

static void begin_each(printer *p, k_value value) {
  leat_text_add(p->out, "LEAT_EACH(");
  print_type(p, value->dtype, value->lanes);
  leat_text_add(p->out, ", %d, ", value->lanes);
}

// A scalar, or a constant, in all lanes of the type that `like` has.
static void print_splat(printer *p, k_value like, k_value scalar) {
  leat_text_add(p->out, "LEAT_SPLAT(");
  print_type(p, like->dtype, like->lanes);
  leat_text_add(p->out, ", %d, ", like->lanes);
  print_value(p, scalar);
  leat_text_add(p->out, ")");
}

// A value of vector type even when it is constant.
static void print_whole(printer *p, k_value value) {
  if (value->lanes > 1 && value->op == K_CONST)
    print_splat(p, value, value);
  else
    print_value(p, value);
}

static void define(printer *p, k_value value) {
  p->numbers[value->id] = p->next++;
  line(p);
  print_type(p, value->dtype, value->lanes);
  leat_text_add(p->out, " v%u", p->numbers[value->id]);
}

static void print_buffer(printer *p, const k_buffer *buffer) {
  leat_text_add(p->out, "%c%u", buffer->space == K_SPACE_ARGUMENT ? 'b' : 'l', buffer->number);
}

// -- Arithmetic ----------------------------------------------------------------------------------

static const char *operator_of(k_op op) {
  switch ((int)op) {
  case K_ADD: return "+";
  case K_SUB: return "-";
  case K_MUL: return "*";
  case K_DIV: return "/";
  case K_EQ: return "==";
  case K_NE: return "!=";
  case K_LT: return "<";
  case K_LE: return "<=";
  case K_AND: return "&";
  case K_OR: return "|";
  case K_XOR: return "^";
  }
  return NULL;
}

// The type in which integers are added and multiplied so that they wrap: unsigned, and not promoted
// to int.
static void print_wrapping(printer *p, k_value value) {
  bool narrow = value->lanes == 1 && leat_dtype_size(value->dtype) < 4;
  leat_text_add(p->out, "u%d", narrow ? 32 : 8 * (int)leat_dtype_size(value->dtype));
  if (value->lanes > 1) leat_text_add(p->out, "x%d", value->lanes);
}

// One operand of a wrapping operator; the constants of vectors stay scalars.
static void print_wrapped(printer *p, k_value value) {
  if (value->lanes > 1 && value->op == K_CONST) {
    leat_text_add(p->out, "(u%d)", 8 * (int)leat_dtype_size(value->dtype));
    leat_text_add(p->out, value->imm.i < 0 ? "(" : "");
    print_value(p, value);
    leat_text_add(p->out, value->imm.i < 0 ? ")" : "");
    return;
  }
  leat_text_add(p->out, "(");
  print_wrapping(p, value);
  leat_text_add(p->out, ")");
  print_value(p, value);
}

static void print_wrapping_op(printer *p, const k_instr *instr) {
  leat_text_add(p->out, "(");
  print_type(p, instr->dtype, instr->lanes);
  leat_text_add(p->out, ")(");
  if (instr->op == K_NEG) leat_text_add(p->out, "0 - ");
  print_wrapped(p, instr->args[0]);
  if (instr->arg_count > 1) {
    leat_text_add(p->out, " %s ", operator_of(instr->op == K_FMA ? K_MUL : instr->op));
    print_wrapped(p, instr->args[1]);
  }
  if (instr->arg_count > 2) {
    leat_text_add(p->out, " + ");
    print_wrapped(p, instr->args[2]);
  }
  leat_text_add(p->out, ")");
}

static void print_binary(printer *p, const k_instr *instr) {
  print_value(p, instr->args[0]);
  leat_text_add(p->out, " %s ", operator_of(instr->op));
  print_value(p, instr->args[1]);
}

// Lanes of 0 and -1, as wide as the operands'. By a loop: where vectors are wider than the CPU's,
// gcc turns a loop into its vectors, but compares vectors lane by lane.
static void print_mask(printer *p, const k_instr *comparison) {
  int bits = 8 * (int)leat_dtype_size(comparison->args[0]->dtype);
  leat_text_add(p->out, "LEAT_EACH(i%dx%d, %d, -(", bits, comparison->lanes, comparison->lanes);
  print_lane(p, comparison->args[0]);
  leat_text_add(p->out, " %s ", operator_of(comparison->op));
  print_lane(p, comparison->args[1]);
  leat_text_add(p->out, "))");
}

static void print_comparison(printer *p, const k_instr *instr) {
  if (instr->lanes == 1) {
    print_binary(p, instr);
    return;
  }
  leat_text_add(p->out, "LEAT_BOOL(boolx%d, ", instr->lanes);
  print_mask(p, instr);
  leat_text_add(p->out, ")");
}

// f(x, y, …) of the scalars, for each lane.
static void print_call(printer *p, const k_instr *instr, const char *function) {
  if (instr->lanes > 1) begin_each(p, instr);
  leat_text_add(p->out, "%s(", function);
  for (uint32_t i = 0; i < instr->arg_count; i++) {
    if (i) leat_text_add(p->out, ", ");
    print_lane(p, instr->args[i]);
  }
  leat_text_add(p->out, instr->lanes > 1 ? "))" : ")");
}

static void print_helper(printer *p, const k_instr *instr) {
  char function[64] = "leat_";
  strcat(strcat(function, k_op_name(instr->op)), "_");
  print_call(p, instr, strcat(function, leat_dtype_name(instr->dtype)));
}

static void print_not(printer *p, const k_instr *instr) {
  if (instr->dtype == LEAT_bool) {
    print_value(p, instr->args[0]);
    leat_text_add(p->out, " ^ 1");
    return;
  }
  leat_text_add(p->out, "(");
  print_type(p, instr->dtype, instr->lanes);
  leat_text_add(p->out, ")~");
  print_value(p, instr->args[0]);
}

// Shifts by a constant are operators; others check the count.
static void print_shift(printer *p, const k_instr *instr) {
  k_value count = instr->args[1];
  int64_t bits = 8 * (int64_t)leat_dtype_size(instr->dtype);
  if (count->op != K_CONST || count->imm.i < 0 || count->imm.i >= bits) {
    print_helper(p, instr);
    return;
  }
  leat_text_add(p->out, "(");
  print_type(p, instr->dtype, instr->lanes);
  leat_text_add(p->out, ")(");
  if (instr->op == K_SHL)
    print_wrapped(p, instr->args[0]);
  else
    print_value(p, instr->args[0]);
  leat_text_add(p->out, " %s %lld)", instr->op == K_SHL ? "<<" : ">>", (long long)count->imm.i);
}

// What a comparison gives lanes as wide as its operands' without bools of a byte between.
static bool is_mask_of(k_value condition, const k_instr *instr) {
  if (condition->op < K_EQ || condition->op > K_LE) return false;
  return leat_dtype_size(condition->args[0]->dtype) == leat_dtype_size(instr->dtype);
}

static void print_select(printer *p, const k_instr *instr) {
  if (instr->lanes == 1) {
    print_value(p, instr->args[0]);
    leat_text_add(p->out, " ? ");
    print_value(p, instr->args[1]);
    leat_text_add(p->out, " : ");
    print_value(p, instr->args[2]);
    return;
  }
  bool is_mask = is_mask_of(instr->args[0], instr);
  leat_text_add(p->out, is_mask ? "LEAT_BLEND(" : "LEAT_SELECT(");
  print_type(p, instr->dtype, instr->lanes);
  leat_text_add(p->out, ", i%dx%d, ", 8 * (int)leat_dtype_size(instr->dtype), instr->lanes);
  if (is_mask)
    print_mask(p, instr->args[0]);
  else
    print_whole(p, instr->args[0]);
  for (int i = 1; i < 3; i++) {
    leat_text_add(p->out, ", ");
    print_whole(p, instr->args[i]);
  }
  leat_text_add(p->out, ")");
}

static void print_cast(printer *p, const k_instr *instr) {
  leat_dtype from = instr->args[0]->dtype, to = instr->dtype;
  if (is_float(from) && !is_float(to) && to != LEAT_bool) {
    char function[64] = "leat_";
    strcat(strcat(function, leat_dtype_name(from)), "_to_");
    print_call(p, instr, strcat(function, leat_dtype_name(to)));
  } else if (to == LEAT_bool) {
    if (instr->lanes > 1) leat_text_add(p->out, "LEAT_BOOL(boolx%d, ", instr->lanes);
    print_value(p, instr->args[0]);
    leat_text_add(p->out, instr->lanes > 1 ? " != 0)" : " != 0");
  } else if (instr->lanes > 1) {
    leat_text_add(p->out, "__builtin_convertvector(");
    print_whole(p, instr->args[0]);
    leat_text_add(p->out, ", ");
    print_type(p, to, instr->lanes);
    leat_text_add(p->out, ")");
  } else {
    leat_text_add(p->out, "(%s)", leat_dtype_name(to));
    print_value(p, instr->args[0]);
  }
}

// By its sign bit: gcc joins `-x` with the fma that gave x, which changes the sign of a zero.
static void print_negated(printer *p, k_value x) {
  bool narrow = x->dtype == LEAT_f32;
  leat_text_add(p->out, "LEAT_BITS(");
  print_type(p, x->dtype, x->lanes);
  leat_text_add(p->out, ", LEAT_BITS(");
  print_type(p, narrow ? LEAT_u32 : LEAT_u64, x->lanes);
  leat_text_add(p->out, ", ");
  print_whole(p, x);
  leat_text_add(p->out, ") ^ %s)", narrow ? "0x80000000u" : "0x8000000000000000u");
}

// gcc 12 fuses `x * y - z` beside `x * y + z` in spite of -ffp-contract=off (its bug 106902).
static bool may_be_fused(const k_instr *instr) {
  return instr->op == K_SUB && instr->lanes == 1 &&
         (instr->args[0]->op == K_MUL || instr->args[1]->op == K_MUL);
}

static void print_sum_with_negated(printer *p, const k_instr *instr) {
  print_value(p, instr->args[0]);
  leat_text_add(p->out, " + ");
  print_negated(p, instr->args[1]);
}

static void print_float_op(printer *p, const k_instr *instr) {
  if (instr->op == K_NEG) {
    print_negated(p, instr->args[0]);
  } else if (may_be_fused(instr)) {
    print_sum_with_negated(p, instr);
  } else if (operator_of(instr->op)) {
    print_binary(p, instr);
  } else {
    print_helper(p, instr);
  }
}

static void print_int_op(printer *p, const k_instr *instr) {
  switch ((int)instr->op) {
  case K_ADD:
  case K_SUB:
  case K_MUL:
  case K_FMA:
  case K_NEG: print_wrapping_op(p, instr); break;
  case K_AND:
  case K_OR:
  case K_XOR: print_binary(p, instr); break;
  case K_NOT: print_not(p, instr); break;
  case K_SHL:
  case K_SHR: print_shift(p, instr); break;
  default: print_helper(p, instr);
  }
}

// -- Lanes and memory ----------------------------------------------------------------------------

static void print_any(printer *p, const k_instr *instr) {
  int lanes = instr->args[0]->lanes;
  for (int i = 0; i < lanes; i++) {
    if (i) leat_text_add(p->out, " | ");
    print_value(p, instr->args[0]);
    if (lanes > 1) leat_text_add(p->out, "[%d]", i);
  }
}

static void print_shuffle(printer *p, const k_instr *instr) {
  leat_text_add(p->out, "__builtin_shufflevector(");
  print_whole(p, instr->args[0]);
  leat_text_add(p->out, ", ");
  print_whole(p, instr->args[1]);
  for (int i = 0; i < instr->lanes; i++) leat_text_add(p->out, ", %d", k_shuffle_lane(instr, i));
  leat_text_add(p->out, ")");
}

static void print_lanes_op(printer *p, const k_instr *instr) {
  if (instr->op == K_SPLAT) {
    print_splat(p, instr, instr->args[0]);
    return;
  }
  if (instr->lanes > 1) begin_each(p, instr);
  if (instr->op == K_LANE)
    leat_text_add(p->out, instr->lanes > 1 ? "i" : "0");
  else
    print_value(p, instr->args[0]);
  if (instr->op == K_EXTRACT) leat_text_add(p->out, "[%lld]", (long long)instr->imm.i);
  if (instr->op == K_HALF)
    leat_text_add(p->out, instr->lanes > 1 ? "[%d + i]" : "[%d]", (int)instr->imm.i * instr->lanes);
  if (instr->lanes > 1) leat_text_add(p->out, ")");
}

// The element for lane i: of a gather at index v[i], else at index + i.
static void print_element(printer *p, const k_instr *instr, int lanes) {
  print_buffer(p, instr->buffer);
  leat_text_add(p->out, "[");
  if (instr->op == K_GATHER) {
    print_lane(p, instr->args[0]);
  } else {
    print_value(p, instr->args[0]);
    if (lanes > 1) leat_text_add(p->out, " + i");
  }
  leat_text_add(p->out, instr->op != K_STORE && instr->buffer->dtype == LEAT_bool ? "] != 0" : "]");
}

static void print_load(printer *p, const k_instr *instr) {
  k_value mask = instr->arg_count > 1 ? instr->args[1] : NULL;
  if (!mask && instr->op == K_LOAD && instr->lanes > 1 && instr->dtype != LEAT_bool) {
    leat_text_add(p->out, "LEAT_LOAD(");
    print_type(p, instr->dtype, instr->lanes);
    leat_text_add(p->out, ", ");
    print_buffer(p, instr->buffer);
    leat_text_add(p->out, " + ");
    print_value(p, instr->args[0]);
    leat_text_add(p->out, ")");
    return;
  }
  if (instr->lanes > 1) begin_each(p, instr);
  if (mask) {
    print_lane(p, mask);
    leat_text_add(p->out, " ? ");
  }
  print_element(p, instr, instr->lanes);
  if (mask) leat_text_add(p->out, " : 0");
  if (instr->lanes > 1) leat_text_add(p->out, ")");
}

static void print_store(printer *p, const k_instr *instr) {
  k_value value = instr->args[1], mask = instr->arg_count > 2 ? instr->args[2] : NULL;
  line(p);
  if (!mask && value->lanes > 1) {
    leat_text_add(p->out, "LEAT_STORE(");
    print_type(p, value->dtype, value->lanes);
    leat_text_add(p->out, ", ");
    print_buffer(p, instr->buffer);
    leat_text_add(p->out, " + ");
    print_value(p, instr->args[0]);
    leat_text_add(p->out, ", ");
    print_whole(p, value);
    leat_text_add(p->out, ");\n");
    return;
  }
  if (value->lanes > 1) leat_text_add(p->out, "for (int i = 0; i < %d; i++) ", value->lanes);
  if (mask) {
    leat_text_add(p->out, "if (");
    print_lane(p, mask);
    leat_text_add(p->out, ") ");
  }
  print_element(p, instr, value->lanes);
  leat_text_add(p->out, " = ");
  print_lane(p, value);
  leat_text_add(p->out, ";\n");
}

// -- Control flow --------------------------------------------------------------------------------

static void print_block(printer *p, const k_block *block);

// Variables for carried values, from their initial ones.
static void declare_phis(printer *p, const k_value *phis, const k_value *initial, uint32_t count) {
  for (uint32_t i = 0; i < count; i++) {
    define(p, phis[i]);
    leat_text_add(p->out, " = ");
    print_whole(p, initial[i]);
    leat_text_add(p->out, ";\n");
  }
}

static void assign(printer *p, const char *name, uint32_t to, k_value value) {
  line(p);
  leat_text_add(p->out, "%s%u = ", name, to);
  print_whole(p, value);
  leat_text_add(p->out, ";\n");
}

// All carried values change at once: one that becomes another of them goes through a copy.
static void assign_phis(printer *p, const k_block *block, const k_value *phis, uint32_t count) {
  for (uint32_t i = 0; i < count; i++) {
    k_value next = block->yields.items[i];
    if (next->op != K_PHI || next == phis[i]) continue;
    line(p);
    print_type(p, next->dtype, next->lanes);
    leat_text_add(p->out, " next%u = v%u;\n", i, p->numbers[next->id]);
  }
  for (uint32_t i = 0; i < count; i++) {
    k_value next = block->yields.items[i];
    if (next == phis[i]) continue;
    if (next->op == K_PHI) {
      line(p);
      leat_text_add(p->out, "v%u = next%u;\n", p->numbers[phis[i]->id], i);
    } else {
      assign(p, "v", p->numbers[phis[i]->id], next);
    }
  }
}

static void close(printer *p) {
  line(p);
  leat_text_add(p->out, "}\n");
}

static void print_loop(printer *p, const k_instr *loop) {
  const k_block *body = loop->body[0];
  uint32_t carried = loop->arg_count - 3, index = p->next++;
  declare_phis(p, body->phis.items + 1, loop->args + 3, carried);
  p->numbers[body->phis.items[0]->id] = index;
  line(p);
  leat_text_add(p->out, "for (i64 v%u = ", index);
  print_value(p, loop->args[0]);
  leat_text_add(p->out, "; v%u < ", index);
  print_value(p, loop->args[1]);
  leat_text_add(p->out, "; v%u += %lld) {\n", index, (long long)loop->args[2]->imm.i);
  print_block(p, body);
  p->indent++;
  assign_phis(p, body, body->phis.items + 1, carried);
  p->indent--;
  close(p);
}

static void print_while(printer *p, const k_instr *loop) {
  const k_block *test = loop->body[0];
  declare_phis(p, test->phis.items, loop->args, loop->arg_count);
  line(p);
  leat_text_add(p->out, "for (;;) {\n");
  print_block(p, test);
  p->indent++;
  line(p);
  leat_text_add(p->out, "if (!");
  print_value(p, test->condition);
  leat_text_add(p->out, ") break;\n");
  p->indent--;
  print_block(p, loop->body[1]);
  p->indent++;
  assign_phis(p, loop->body[1], test->phis.items, loop->arg_count);
  p->indent--;
  close(p);
}

// Results of an `if` are variables rN…, numbered from the number of the `if`.
static void print_if(printer *p, const k_instr *branch) {
  uint32_t count = branch->body[0]->yields.count, first = p->next;
  p->numbers[branch->id] = first;
  p->next += count;
  for (uint32_t i = 0; i < count; i++) {
    k_value like = branch->body[0]->yields.items[i];
    line(p);
    print_type(p, like->dtype, like->lanes);
    leat_text_add(p->out, " r%u;\n", first + i);
  }
  line(p);
  leat_text_add(p->out, "if (");
  print_value(p, branch->args[0]);
  leat_text_add(p->out, ") {\n");
  for (int side = 0; side < 2 && branch->body[side]; side++) {
    if (side) {
      line(p);
      leat_text_add(p->out, "} else {\n");
    }
    print_block(p, branch->body[side]);
    p->indent++;
    for (uint32_t i = 0; i < count; i++)
      assign(p, "r", first + i, branch->body[side]->yields.items[i]);
    p->indent--;
  }
  close(p);
}

static void print_result(printer *p, const k_instr *instr) {
  const k_instr *region = instr->args[0];
  uint32_t i = (uint32_t)instr->imm.i;
  if (region->op == K_IF)
    leat_text_add(p->out, "r%u", p->numbers[region->id] + i);
  else
    print_value(p, k_loop_carried(region, i));
}

// -- Instructions --------------------------------------------------------------------------------

static void print_expression(printer *p, const k_instr *instr) {
  switch ((int)instr->op) {
  case K_SCALAR: leat_text_add(p->out, "s%lld", (long long)instr->imm.i); return;
  case K_TILE: leat_text_add(p->out, "tile"); return;
  case K_RESULT: print_result(p, instr); return;
  case K_EQ:
  case K_NE:
  case K_LT:
  case K_LE: print_comparison(p, instr); return;
  case K_SELECT: print_select(p, instr); return;
  case K_CAST: print_cast(p, instr); return;
  case K_BITCAST:
    leat_text_add(p->out, "LEAT_BITS(");
    print_type(p, instr->dtype, instr->lanes);
    leat_text_add(p->out, ", ");
    print_whole(p, instr->args[0]);
    leat_text_add(p->out, ")");
    return;
  case K_ZIP:
  case K_UNZIP: print_shuffle(p, instr); return;
  case K_SPLAT:
  case K_LANE:
  case K_HALF:
  case K_EXTRACT: print_lanes_op(p, instr); return;
  case K_ANY: print_any(p, instr); return;
  case K_LOAD:
  case K_GATHER: print_load(p, instr); return;
  }
  if (is_float(instr->dtype))
    print_float_op(p, instr);
  else
    print_int_op(p, instr);
}

static void print_instr(printer *p, const k_instr *instr) {
  switch ((int)instr->op) {
  case K_CONST:
  case K_BARRIER: break; // one thread runs a tile
  case K_LOOP: print_loop(p, instr); break;
  case K_WHILE: print_while(p, instr); break;
  case K_IF: print_if(p, instr); break;
  case K_STORE: print_store(p, instr); break;
  case K_LOCAL:
    line(p);
    leat_text_add(p->out, "_Alignas(64) %s l%u[%lld];\n", memory_type(instr->buffer->dtype),
                  instr->buffer->number, (long long)instr->buffer->count);
    break;
  case K_FAIL_IF:
    line(p);
    leat_text_add(p->out, "if (");
    print_value(p, instr->args[0]);
    leat_text_add(p->out, ") return %lld << 8 | %lld; // %s\n", (long long)instr->imm.i,
                  (long long)instr->imm2, leat_status_name((leat_status)instr->imm2));
    break;
  default:
    define(p, instr);
    leat_text_add(p->out, " = ");
    print_expression(p, instr);
    leat_text_add(p->out, ";\n");
  }
}

static void print_block(printer *p, const k_block *block) {
  p->indent++;
  for (uint32_t i = 0; i < block->instrs.count; i++) print_instr(p, block->instrs.items[i]);
  p->indent--;
}

// -- Files ---------------------------------------------------------------------------------------

static void print_kernel(const leat_kernel *kernel, const char *symbol, leat_text *out) {
  leat_arena *scratch = leat_arena_create();
  printer p = {.out = out, .indent = 1};
  p.numbers = leat_new_array(scratch, uint32_t, kernel->instr_count);
  leat_text_add(out, "\n// %s\n", kernel->name);
  leat_text_add(out,
                "int32_t %s(leat_frame *frame, const leat_arg *args, int64_t tile_begin,\n"
                "    int64_t tile_end) {\n  (void)frame;\n",
                symbol);
  for (uint32_t i = 0; i < kernel->buffer_count; i++) {
    const k_buffer *buffer = kernel->buffers.items[i];
    const char *qualifier = buffer->written ? "" : "const ", *type = memory_type(buffer->dtype);
    leat_text_add(out, "  %s%s *b%u = args[%u].pointer;\n", qualifier, type, i, i);
  }
  for (uint32_t i = 0; i < kernel->scalar_count; i++)
    leat_text_add(out, "  const i64 s%u = args[%u].value;\n", i, kernel->buffer_count + i);
  leat_text_add(out, "  for (i64 tile = tile_begin; tile < tile_end; tile++) {\n");
  print_block(&p, &kernel->body);
  leat_text_add(out, "  }\n  return 0;\n}\n");
  leat_arena_destroy(scratch);
}

static void print_data(const leat_object_data *data, leat_text *out) {
  const unsigned char *bytes = data->data;
  leat_text_add(out, "\n_Alignas(64) const unsigned char %s[%zu] = {", data->symbol, data->size);
  for (size_t i = 0; i < data->size; i++)
    leat_text_add(out, "%s%u,", i % 24 == 0 ? "\n" : "", bytes[i]);
  leat_text_add(out, "\n};\n");
}

static void print_pointers(const leat_object_pointers *pointers, leat_text *out) {
  leat_text_add(out, "\nconst void *const %s[%zu] = {", pointers->symbol, pointers->count);
  for (size_t i = 0; i < pointers->count; i++)
    leat_text_add(out, "\n  (const void *)&%s,", pointers->targets[i]);
  leat_text_add(out, "\n};\n");
}

void leat_c_print_file(const leat_codegen_request *request, leat_text *out) {
  leat_c_prelude(out);
  for (size_t i = 0; i < request->kernel_count; i++)
    print_kernel(request->kernels[i], request->symbols[i], out);
  for (size_t i = 0; i < request->data_count; i++) print_data(&request->data[i], out);
  for (size_t i = 0; i < request->pointers_count; i++) print_pointers(&request->pointers[i], out);
}
