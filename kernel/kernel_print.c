// Kernels as text: a value a line, numbered from 0 in the order of the text, so that two kernels of
// one meaning that were built alike print alike whatever was built and dropped in between.
// Constants are shown where they are used.
//
//     kernel(b0: f32, b1: out f32, s0) {
//       t0: i64 = tile
//       v1: i64 = mul t0, 16
//       v2: f32x16 = load b0[v1]
//       …
//     }
#include "kernel/kernel.h"

#include <math.h>

static const struct {
  const char *name;
  int arity;
} rows[K_OP_COUNT] = {
#define X(id, text, args) [K_##id] = {text, args},
    K_OPS(X)
#undef X
};

const char *k_op_name(k_op op) {
  return rows[op].name;
}

int k_op_arity(k_op op) {
  return rows[op].arity;
}

int k_shuffle_lane(const k_instr *instr, int lane) {
  int which = (int)instr->imm.i, lanes = instr->lanes;
  if (instr->op == K_UNZIP) return 2 * lane + which;
  return which * (lanes / 2) + lane / 2 + lane % 2 * lanes;
}

bool k_op_is_pure(k_op op) {
  bool acts = op == K_PHI || op == K_LOCAL || op == K_BARRIER || op == K_POLL;
  return rows[op].arity >= 0 && !acts;
}

typedef struct printer {
  leat_text *out;
  uint32_t *numbers, next; // of instrs by id
  int indent;
} printer;

// Most of a kernel's text, which is the key of its code: without looking through a format.
static void print_number(printer *p, const char *head, int64_t number) {
  leat_text_add_string(p->out, head);
  leat_text_add_i64(p->out, number);
}

static void print_type(printer *p, k_value value) {
  leat_text_add_string(p->out, leat_dtype_name(value->dtype));
  if (value->lanes > 1) print_number(p, "x", value->lanes);
}

static void print_constant(printer *p, k_value value) {
  if (value->dtype == LEAT_bool)
    leat_text_add_string(p->out, value->imm.i ? "true" : "false");
  else if (leat_dtype_kind_of(value->dtype) != LEAT_KIND_FLOAT)
    leat_text_add_i64(p->out, value->imm.i);
  else if (isnan(value->imm.f))
    leat_text_add(p->out, "nan:%016llx", (unsigned long long)value->imm.i);
  else if (value->dtype == LEAT_f32)
    leat_text_add_f32(p->out, (float)value->imm.f);
  else
    leat_text_add_f64(p->out, value->imm.f);
}

static void print_value(printer *p, k_value value) {
  if (value->op == K_CONST)
    print_constant(p, value);
  else
    print_number(p, "v", p->numbers[value->id]);
}

static void print_values(printer *p, const k_value *values, uint32_t count) {
  for (uint32_t i = 0; i < count; i++) {
    if (i) leat_text_add_string(p->out, ", ");
    print_value(p, values[i]);
  }
}

static void print_buffer(printer *p, const k_buffer *buffer) {
  print_number(p, buffer->space == K_SPACE_ARGUMENT ? "b" : "l", buffer->number);
}

static void start_line(printer *p) {
  for (int i = 0; i < p->indent; i++) leat_text_add_string(p->out, "  ");
}

static void define(printer *p, k_value value) {
  p->numbers[value->id] = p->next++;
  print_value(p, value);
}

static void print_block(printer *p, const k_block *block);

// `(v3: i64, v4: f32 = v1) {`, the block, `yield v5`.
static void print_region(printer *p, const k_instr *region, int which, const k_value *initial) {
  const k_block *block = region->body[which];
  for (uint32_t i = 0; i < block->phis.count; i++) {
    leat_text_add_string(p->out, i ? ", " : " (");
    define(p, block->phis.items[i]);
    leat_text_add_string(p->out, ": ");
    print_type(p, block->phis.items[i]);
    bool index = region->op == K_LOOP && i == 0;
    if (index) continue;
    leat_text_add_string(p->out, " = ");
    print_value(p, initial[region->op == K_LOOP ? i - 1 : i]);
  }
  leat_text_add_string(p->out, block->phis.count ? ") {\n" : " {\n");
  print_block(p, block);
  start_line(p);
  leat_text_add_string(p->out, "}");
}

static void print_control(printer *p, const k_instr *instr) {
  define(p, instr);
  leat_text_add_string(p->out, " = ");
  leat_text_add_string(p->out, k_op_name(instr->op));
  if (instr->op != K_WHILE) leat_text_add_string(p->out, " ");
  if (instr->op == K_LOOP) print_values(p, instr->args, 3);
  if (instr->op == K_IF) print_values(p, instr->args, 1);
  print_region(p, instr, 0, instr->op == K_LOOP ? instr->args + 3 : instr->args);
  if (!instr->body[1]) return;
  leat_text_add_string(p->out, instr->op == K_IF ? " else" : " do");
  print_region(p, instr, 1, NULL);
}

static void print_memory(printer *p, const k_instr *instr) {
  bool store = instr->op == K_STORE;
  leat_text_add_string(p->out, k_op_name(instr->op));
  leat_text_add_string(p->out, " ");
  print_buffer(p, instr->buffer);
  leat_text_add_string(p->out, "[");
  print_value(p, instr->args[0]);
  leat_text_add_string(p->out, "]");
  if (store) {
    leat_text_add_string(p->out, " = ");
    print_type(p, instr->args[1]);
    leat_text_add_string(p->out, " ");
    print_value(p, instr->args[1]);
  }
  uint32_t mask = store ? 2 : 1;
  if (instr->arg_count <= mask) return;
  leat_text_add_string(p->out, " where ");
  print_value(p, instr->args[mask]);
}

static void print_pure(printer *p, const k_instr *instr) {
  leat_text_add_string(p->out, k_op_name(instr->op));
  if (instr->op == K_CAST || instr->op == K_BITCAST || (instr->op >= K_EQ && instr->op <= K_LE)) {
    leat_text_add_string(p->out, " ");
    print_type(p, instr->args[0]);
  }
  if (instr->arg_count) leat_text_add_string(p->out, " ");
  print_values(p, instr->args, instr->arg_count);
  bool numbered = instr->op == K_SCALAR || instr->op == K_RESULT || instr->op == K_HALF ||
                  instr->op == K_ZIP || instr->op == K_UNZIP || instr->op == K_EXTRACT;
  if (numbered) print_number(p, " #", instr->imm.i);
}

static void print_instr(printer *p, const k_instr *instr) {
  if (instr->op == K_CONST) return;
  start_line(p);
  if (instr->lanes) {
    define(p, instr);
    leat_text_add_string(p->out, ": ");
    print_type(p, instr);
    leat_text_add_string(p->out, " = ");
  }
  switch ((int)instr->op) {
  case K_LOAD:
  case K_GATHER:
  case K_PREFETCH:
  case K_STORE: print_memory(p, instr); break;
  case K_LOOP:
  case K_WHILE:
  case K_IF: print_control(p, instr); break;
  case K_LOCAL:
    leat_text_add_string(p->out, "local ");
    print_buffer(p, instr->buffer);
    leat_text_add(p->out, ": %s %s[%lld]",
                  instr->buffer->space == K_SPACE_SHARED ? "shared" : "register",
                  leat_dtype_name(instr->buffer->dtype), (long long)instr->buffer->count);
    break;
  case K_FAIL_IF:
    leat_text_add_string(p->out, "fail_if ");
    print_value(p, instr->args[0]);
    leat_text_add(p->out, " #%lld: %s, ", (long long)instr->imm.i,
                  leat_status_name((leat_status)instr->imm2));
    print_value(p, instr->args[1]);
    if (instr->arg_count > 2) leat_text_add_string(p->out, " where ");
    if (instr->arg_count > 2) print_value(p, instr->args[2]);
    break;
  default: print_pure(p, instr);
  }
  leat_text_add_string(p->out, "\n");
}

static void print_block(printer *p, const k_block *block) {
  p->indent++;
  for (uint32_t i = 0; i < block->instrs.count; i++) print_instr(p, block->instrs.items[i]);
  if (block->condition || block->yields.count) {
    start_line(p);
    leat_text_add_string(p->out, block->condition ? "while " : "yield ");
    if (block->condition)
      print_value(p, block->condition);
    else
      print_values(p, block->yields.items, block->yields.count);
    leat_text_add_string(p->out, "\n");
  }
  p->indent--;
}

void leat_kernel_print(const leat_kernel *kernel, leat_text *out) {
  leat_arena *scratch = leat_arena_create();
  printer p = {.out = out, .numbers = leat_new_array(scratch, uint32_t, kernel->instr_count)};
  leat_text_add_string(out, "kernel(");
  for (uint32_t i = 0; i < kernel->buffer_count; i++) {
    const k_buffer *buffer = kernel->buffers.items[i];
    leat_text_add(out, "%sb%u: %s%s%s", i ? ", " : "", i, buffer->written ? "out " : "",
                  buffer->streamed ? "streamed " : "", leat_dtype_name(buffer->dtype));
  }
  if (kernel->scalar_count) leat_text_add(out, "; %u scalars", kernel->scalar_count);
  leat_text_add_string(out, ") {\n");
  print_block(&p, &kernel->body);
  leat_text_add_string(out, "}\n");
  leat_arena_destroy(scratch);
}
