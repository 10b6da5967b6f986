// The value of an instruction as an expression: vector arithmetic with the operators of GNU vectors
// where they mean the same, else lane by lane.
#include "targets/c/c_printer.h"

#include <math.h>
#include <string.h>

// -- Pieces --------------------------------------------------------------------------------------

void c_line(c_printer *p) {
  leat_text_add(p->out, "%*s", 2 * p->indent, "");
}

void c_print_type(c_printer *p, leat_dtype dtype, int lanes) {
  leat_text_add(p->out, "%s", leat_dtype_name(dtype));
  if (lanes > 1) leat_text_add(p->out, "x%d", lanes);
}

static bool is_float(leat_dtype dtype) {
  return leat_dtype_kind_of(dtype) == LEAT_KIND_FLOAT;
}

const char *c_memory_type(leat_dtype dtype) {
  return dtype == LEAT_bool ? "u8" : leat_dtype_name(dtype);
}

// NaN by its bits: what <math.h> has may be negative.
static void print_float(c_printer *p, leat_dtype dtype, double value) {
  bool narrow = dtype == LEAT_f32;
  if (isnan(value))
    leat_text_add(p->out, "%sLEAT_NAN_%s", signbit(value) ? "-" : "", leat_dtype_name(dtype));
  else if (isinf(value))
    leat_text_add(p->out, "%s(%s)INFINITY", value < 0 ? "-" : "", leat_dtype_name(dtype));
  else if (narrow)
    leat_text_add_f32(p->out, (float)value);
  else
    leat_text_add_f64(p->out, value);
  if (narrow && isfinite(value)) leat_text_add(p->out, "f");
}

static void print_constant(c_printer *p, k_value value) {
  if (is_float(value->dtype))
    print_float(p, value->dtype, value->imm.f);
  else if (value->dtype == LEAT_u64)
    leat_text_add(p->out, "%lluu", (unsigned long long)value->imm.i);
  else if (value->imm.i == INT64_MIN)
    leat_text_add(p->out, "INT64_MIN");
  else
    leat_text_add(p->out, "%lld", (long long)value->imm.i);
}

void c_print_value(c_printer *p, k_value value) {
  if (value->op == K_CONST)
    print_constant(p, value);
  else
    leat_text_add(p->out, "v%u", p->numbers[value->id]);
  if (p->each && value->lanes > 1 && value->op != K_CONST) leat_text_add(p->out, ".lane[i]");
}

// How many lanes of it the expression that is printed is about.
static int lanes_of(const c_printer *p, k_value value) {
  return p->each ? 1 : value->lanes;
}

// "[…]" behind a vector's name.
static void print_at(c_printer *p, const char *format, int lane) {
  if (p->plain) leat_text_add(p->out, ".lane");
  leat_text_add(p->out, format, lane);
}

void c_print_lane(c_printer *p, k_value value) {
  c_print_value(p, value);
  if (lanes_of(p, value) > 1 && value->op != K_CONST) print_at(p, "[i]", 0);
}

static void begin_each(c_printer *p, k_value value) {
  leat_text_add(p->out, "LEAT_EACH(");
  c_print_type(p, value->dtype, value->lanes);
  leat_text_add(p->out, ", %d, ", value->lanes);
}

// A scalar, or a constant, in all lanes of the type that `like` has.
static void print_splat(c_printer *p, k_value like, k_value scalar) {
  leat_text_add(p->out, p->plain ? "leat_splat_" : "LEAT_SPLAT(");
  c_print_type(p, like->dtype, like->lanes);
  leat_text_add(p->out, p->plain ? "(" : ", %d, ", like->lanes);
  c_print_value(p, scalar);
  leat_text_add(p->out, ")");
}

void c_print_whole(c_printer *p, k_value value) {
  if (lanes_of(p, value) > 1 && value->op == K_CONST)
    print_splat(p, value, value);
  else
    c_print_value(p, value);
}

void c_define(c_printer *p, k_value value) {
  p->numbers[value->id] = p->next++;
  c_line(p);
  c_print_type(p, value->dtype, value->lanes);
  leat_text_add(p->out, " v%u", p->numbers[value->id]);
}

void c_print_buffer(c_printer *p, const k_buffer *buffer) {
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
static void print_wrapping(c_printer *p, k_value value) {
  bool narrow = lanes_of(p, value) == 1 && leat_dtype_size(value->dtype) < 4;
  leat_text_add(p->out, "u%d", narrow ? 32 : 8 * (int)leat_dtype_size(value->dtype));
  if (lanes_of(p, value) > 1) leat_text_add(p->out, "x%d", value->lanes);
}

// One operand of a wrapping operator; the constants of vectors stay scalars.
static void print_wrapped(c_printer *p, k_value value) {
  if (lanes_of(p, value) > 1 && value->op == K_CONST) {
    leat_text_add(p->out, "(u%d)", 8 * (int)leat_dtype_size(value->dtype));
    leat_text_add(p->out, value->imm.i < 0 ? "(" : "");
    c_print_value(p, value);
    leat_text_add(p->out, value->imm.i < 0 ? ")" : "");
    return;
  }
  leat_text_add(p->out, "(");
  print_wrapping(p, value);
  leat_text_add(p->out, ")");
  c_print_value(p, value);
}

static void print_wrapping_op(c_printer *p, const k_instr *instr) {
  leat_text_add(p->out, "(");
  c_print_type(p, instr->dtype, lanes_of(p, instr));
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

static void print_binary(c_printer *p, const k_instr *instr) {
  c_print_value(p, instr->args[0]);
  leat_text_add(p->out, " %s ", operator_of(instr->op));
  c_print_value(p, instr->args[1]);
}

// Lanes of 0 and -1, as wide as the operands'. By a loop: where vectors are wider than the CPU's,
// gcc turns a loop into its vectors, but compares vectors lane by lane.
static void print_mask(c_printer *p, const k_instr *comparison) {
  int bits = 8 * (int)leat_dtype_size(comparison->args[0]->dtype);
  leat_text_add(p->out, "LEAT_EACH(i%dx%d, %d, -(", bits, comparison->lanes, comparison->lanes);
  c_print_lane(p, comparison->args[0]);
  leat_text_add(p->out, " %s ", operator_of(comparison->op));
  c_print_lane(p, comparison->args[1]);
  leat_text_add(p->out, "))");
}

static void print_comparison(c_printer *p, const k_instr *instr) {
  if (lanes_of(p, instr) == 1) {
    print_binary(p, instr);
    return;
  }
  leat_text_add(p->out, "LEAT_BOOL(boolx%d, ", instr->lanes);
  print_mask(p, instr);
  leat_text_add(p->out, ")");
}

// f(x, y, …) of the scalars, for each lane.
static void print_call(c_printer *p, const k_instr *instr, const char *function) {
  if (lanes_of(p, instr) > 1) begin_each(p, instr);
  leat_text_add(p->out, "%s(", function);
  for (uint32_t i = 0; i < instr->arg_count; i++) {
    if (i) leat_text_add(p->out, ", ");
    c_print_lane(p, instr->args[i]);
  }
  leat_text_add(p->out, lanes_of(p, instr) > 1 ? "))" : ")");
}

static void print_helper(c_printer *p, const k_instr *instr) {
  char function[64] = "leat_";
  strcat(strcat(function, k_op_name(instr->op)), "_");
  print_call(p, instr, strcat(function, leat_dtype_name(instr->dtype)));
}

static void print_not(c_printer *p, const k_instr *instr) {
  if (instr->dtype == LEAT_bool) {
    c_print_value(p, instr->args[0]);
    leat_text_add(p->out, " ^ 1");
    return;
  }
  leat_text_add(p->out, "(");
  c_print_type(p, instr->dtype, lanes_of(p, instr));
  leat_text_add(p->out, ")~");
  c_print_value(p, instr->args[0]);
}

// Shifts by a constant are operators; others check the count.
static void print_shift(c_printer *p, const k_instr *instr) {
  k_value count = instr->args[1];
  int64_t bits = 8 * (int64_t)leat_dtype_size(instr->dtype);
  if (count->op != K_CONST || count->imm.i < 0 || count->imm.i >= bits) {
    print_helper(p, instr);
    return;
  }
  leat_text_add(p->out, "(");
  c_print_type(p, instr->dtype, lanes_of(p, instr));
  leat_text_add(p->out, ")(");
  if (instr->op == K_SHL)
    print_wrapped(p, instr->args[0]);
  else
    c_print_value(p, instr->args[0]);
  leat_text_add(p->out, " %s %lld)", instr->op == K_SHL ? "<<" : ">>", (long long)count->imm.i);
}

// What a comparison gives lanes as wide as its operands' without bools of a byte between.
static bool is_mask_of(k_value condition, const k_instr *instr) {
  if (condition->op < K_EQ || condition->op > K_LE) return false;
  return leat_dtype_size(condition->args[0]->dtype) == leat_dtype_size(instr->dtype);
}

static void print_select(c_printer *p, const k_instr *instr) {
  if (lanes_of(p, instr) == 1) {
    c_print_value(p, instr->args[0]);
    leat_text_add(p->out, " ? ");
    c_print_value(p, instr->args[1]);
    leat_text_add(p->out, " : ");
    c_print_value(p, instr->args[2]);
    return;
  }
  bool is_mask = is_mask_of(instr->args[0], instr);
  leat_text_add(p->out, is_mask ? "LEAT_BLEND(" : "LEAT_SELECT(");
  c_print_type(p, instr->dtype, lanes_of(p, instr));
  leat_text_add(p->out, ", i%dx%d, ", 8 * (int)leat_dtype_size(instr->dtype), instr->lanes);
  if (is_mask)
    print_mask(p, instr->args[0]);
  else
    c_print_whole(p, instr->args[0]);
  for (int i = 1; i < 3; i++) {
    leat_text_add(p->out, ", ");
    c_print_whole(p, instr->args[i]);
  }
  leat_text_add(p->out, ")");
}

static void print_cast(c_printer *p, const k_instr *instr) {
  leat_dtype from = instr->args[0]->dtype, to = instr->dtype;
  if (is_float(from) && !is_float(to) && to != LEAT_bool) {
    char function[64] = "leat_";
    strcat(strcat(function, leat_dtype_name(from)), "_to_");
    print_call(p, instr, strcat(function, leat_dtype_name(to)));
  } else if (to == LEAT_bool) {
    if (lanes_of(p, instr) > 1) leat_text_add(p->out, "LEAT_BOOL(boolx%d, ", instr->lanes);
    c_print_value(p, instr->args[0]);
    leat_text_add(p->out, lanes_of(p, instr) > 1 ? " != 0)" : " != 0");
  } else if (lanes_of(p, instr) > 1) {
    leat_text_add(p->out, "__builtin_convertvector(");
    c_print_whole(p, instr->args[0]);
    leat_text_add(p->out, ", ");
    c_print_type(p, to, lanes_of(p, instr));
    leat_text_add(p->out, ")");
  } else {
    leat_text_add(p->out, "(%s)", leat_dtype_name(to));
    c_print_value(p, instr->args[0]);
  }
}

// The bits of one type as another.
static void open_bits(c_printer *p, leat_dtype to, leat_dtype from, int lanes) {
  leat_text_add(p->out, "LEAT_BITS(");
  c_print_type(p, to, lanes);
  leat_text_add(p->out, ", ");
  c_print_type(p, from, lanes);
  leat_text_add(p->out, ", ");
}

// By its sign bit: gcc joins `-x` with the fma that gave x, which changes the sign of a zero.
static void print_negated(c_printer *p, k_value x) {
  bool narrow = x->dtype == LEAT_f32;
  leat_dtype word = narrow ? LEAT_u32 : LEAT_u64;
  open_bits(p, x->dtype, word, lanes_of(p, x));
  open_bits(p, word, x->dtype, lanes_of(p, x));
  c_print_whole(p, x);
  leat_text_add(p->out, ") ^ %s)", narrow ? "0x80000000u" : "0x8000000000000000u");
}

// gcc 12 fuses `x * y - z` beside `x * y + z` in spite of -ffp-contract=off (its bug 106902).
static bool may_be_fused(const c_printer *p, const k_instr *instr) {
  return instr->op == K_SUB && lanes_of(p, instr) == 1 &&
         (instr->args[0]->op == K_MUL || instr->args[1]->op == K_MUL);
}

static void print_sum_with_negated(c_printer *p, const k_instr *instr) {
  c_print_value(p, instr->args[0]);
  leat_text_add(p->out, " + ");
  print_negated(p, instr->args[1]);
}

static void print_float_op(c_printer *p, const k_instr *instr) {
  if (instr->op == K_NEG) {
    print_negated(p, instr->args[0]);
  } else if (may_be_fused(p, instr)) {
    print_sum_with_negated(p, instr);
  } else if (operator_of(instr->op)) {
    print_binary(p, instr);
  } else {
    print_helper(p, instr);
  }
}

static void print_int_op(c_printer *p, const k_instr *instr) {
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

static void print_any(c_printer *p, const k_instr *instr) {
  leat_text_add(p->out, p->plain ? "leat_any_%d(" : "LEAT_ANY(", instr->args[0]->lanes);
  c_print_whole(p, instr->args[0]);
  leat_text_add(p->out, ")");
}

static void print_shuffle(c_printer *p, const k_instr *instr) {
  leat_text_add(p->out, "__builtin_shufflevector(");
  c_print_whole(p, instr->args[0]);
  leat_text_add(p->out, ", ");
  c_print_whole(p, instr->args[1]);
  for (int i = 0; i < instr->lanes; i++) leat_text_add(p->out, ", %d", k_shuffle_lane(instr, i));
  leat_text_add(p->out, ")");
}

// A lane of a vector, by a number or, of those that i counts, from there on.
static void print_part(c_printer *p, k_value vector, const char *format, int lane) {
  bool each = p->each;
  p->each = false;
  c_print_value(p, vector);
  if (vector->op != K_CONST) print_at(p, format, lane);
  p->each = each;
}

// Lane i of a K_ZIP or K_UNZIP.
static void print_shuffled(c_printer *p, const k_instr *instr) {
  int size = instr->args[0]->lanes;
  for (int i = 0; i < instr->lanes; i++) {
    int from = k_shuffle_lane(instr, i);
    bool last = i + 1 == instr->lanes;
    if (!last) leat_text_add(p->out, "i == %d ? ", i);
    print_part(p, instr->args[from / size], "[%d]", from % size);
    if (!last) leat_text_add(p->out, " : ");
  }
}

static void print_lanes_op(c_printer *p, const k_instr *instr) {
  k_value from = instr->arg_count ? instr->args[0] : NULL;
  int lanes = instr->lanes;
  if (instr->op == K_SPLAT && lanes_of(p, instr) > 1) {
    print_splat(p, instr, from);
    return;
  }
  if (lanes_of(p, instr) > 1) begin_each(p, instr);
  switch ((int)instr->op) {
  case K_SPLAT: c_print_value(p, from); break;
  case K_LANE: leat_text_add(p->out, lanes > 1 ? "i" : "0"); break;
  case K_EXTRACT: print_part(p, from, "[%d]", (int)instr->imm.i); break;
  case K_HALF: print_part(p, from, lanes > 1 ? "[%d + i]" : "[%d]", (int)instr->imm.i * lanes);
  }
  if (lanes_of(p, instr) > 1) leat_text_add(p->out, ")");
}

void c_print_element(c_printer *p, const k_instr *instr, int lanes) {
  c_print_buffer(p, instr->buffer);
  leat_text_add(p->out, "[");
  if (instr->op == K_GATHER) {
    c_print_lane(p, instr->args[0]);
  } else {
    c_print_value(p, instr->args[0]);
    if (lanes > 1) leat_text_add(p->out, " + i");
  }
  leat_text_add(p->out, instr->op != K_STORE && instr->buffer->dtype == LEAT_bool ? "] != 0" : "]");
}

int c_leading_lanes(k_value mask, int lanes) {
  if (!mask) return lanes;
  if (mask->op != K_LT || mask->args[0]->op != K_LANE || mask->args[1]->op != K_CONST) return 0;
  int64_t count = mask->args[1]->imm.i;
  return count >= lanes ? lanes : count > 0 ? (int)count : 0;
}

static void print_load(c_printer *p, const k_instr *instr) {
  k_value mask = instr->arg_count > 1 ? instr->args[1] : NULL;
  int leading = c_leading_lanes(mask, instr->lanes);
  if (leading && instr->op == K_LOAD && lanes_of(p, instr) > 1 && instr->dtype != LEAT_bool) {
    leat_text_add(p->out, "LEAT_LOAD(");
    c_print_type(p, instr->dtype, lanes_of(p, instr));
    leat_text_add(p->out, ", %d, ", leading);
    c_print_buffer(p, instr->buffer);
    leat_text_add(p->out, " + ");
    c_print_value(p, instr->args[0]);
    leat_text_add(p->out, ")");
    return;
  }
  if (lanes_of(p, instr) > 1) begin_each(p, instr);
  if (mask) {
    c_print_lane(p, mask);
    leat_text_add(p->out, " ? ");
  }
  c_print_element(p, instr, instr->lanes);
  if (mask) leat_text_add(p->out, " : 0");
  if (lanes_of(p, instr) > 1) leat_text_add(p->out, ")");
}

// -- All of them ---------------------------------------------------------------------------------

static void print_result(c_printer *p, const k_instr *instr) {
  const k_instr *region = instr->args[0];
  uint32_t i = (uint32_t)instr->imm.i;
  if (region->op == K_IF)
    leat_text_add(p->out, "r%u", p->numbers[region->id] + i);
  else
    c_print_value(p, k_loop_carried(region, i));
}

void c_print_expression(c_printer *p, const k_instr *instr) {
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
    open_bits(p, instr->dtype, instr->args[0]->dtype, lanes_of(p, instr));
    c_print_whole(p, instr->args[0]);
    leat_text_add(p->out, ")");
    return;
  case K_ZIP:
  case K_UNZIP: p->each ? print_shuffled(p, instr) : print_shuffle(p, instr); return;
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
