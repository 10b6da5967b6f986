// A kernel as one C function. Each instruction is a declaration `type vN = …` of an expression
// (c_expression.c). Carried values of loops and results of ifs are variables that the branches
// assign.
#include "targets/c/c.h"
#include "targets/c/c_printer.h"

#include <string.h>

// -- Stores --------------------------------------------------------------------------------------

static void print_store(c_printer *p, const k_instr *instr) {
  k_value value = instr->args[1], mask = instr->arg_count > 2 ? instr->args[2] : NULL;
  c_line(p);
  int leading = c_leading_lanes(mask, value->lanes);
  if (leading && value->lanes > 1 && !p->plain) {
    leat_text_add(p->out, "LEAT_STORE(");
    c_print_type(p, value->dtype, value->lanes);
    leat_text_add(p->out, ", %d, ", leading);
    c_print_buffer(p, instr->buffer);
    leat_text_add(p->out, " + ");
    c_print_value(p, instr->args[0]);
    leat_text_add(p->out, ", ");
    c_print_whole(p, value);
    leat_text_add(p->out, ");\n");
    return;
  }
  if (value->lanes > 1) leat_text_add(p->out, "for (int i = 0; i < %d; i++) ", value->lanes);
  if (mask) {
    leat_text_add(p->out, "if (");
    c_print_lane(p, mask);
    leat_text_add(p->out, ") ");
  }
  c_print_element(p, instr, value->lanes);
  leat_text_add(p->out, " = ");
  c_print_lane(p, value);
  leat_text_add(p->out, ";\n");
}

// -- Control flow --------------------------------------------------------------------------------

static void print_block(c_printer *p, const k_block *block);

// Variables for carried values, from their initial ones.
static void declare_phis(c_printer *p, const k_value *phis, const k_value *initial,
                         uint32_t count) {
  for (uint32_t i = 0; i < count; i++) {
    c_define(p, phis[i]);
    leat_text_add(p->out, " = ");
    c_print_whole(p, initial[i]);
    leat_text_add(p->out, ";\n");
  }
}

static void assign(c_printer *p, const char *name, uint32_t to, k_value value) {
  c_line(p);
  leat_text_add(p->out, "%s%u = ", name, to);
  c_print_whole(p, value);
  leat_text_add(p->out, ";\n");
}

// All carried values change at once: one that becomes another of them goes through a copy.
static void assign_phis(c_printer *p, const k_block *block, const k_value *phis, uint32_t count) {
  for (uint32_t i = 0; i < count; i++) {
    k_value next = block->yields.items[i];
    if (next->op != K_PHI || next == phis[i]) continue;
    c_line(p);
    c_print_type(p, next->dtype, next->lanes);
    leat_text_add(p->out, " next%u = v%u;\n", i, p->numbers[next->id]);
  }
  for (uint32_t i = 0; i < count; i++) {
    k_value next = block->yields.items[i];
    if (next == phis[i]) continue;
    if (next->op == K_PHI) {
      c_line(p);
      leat_text_add(p->out, "v%u = next%u;\n", p->numbers[phis[i]->id], i);
    } else {
      assign(p, "v", p->numbers[phis[i]->id], next);
    }
  }
}

static void close(c_printer *p) {
  c_line(p);
  leat_text_add(p->out, "}\n");
}

static void print_loop(c_printer *p, const k_instr *loop) {
  const k_block *body = loop->body[0];
  uint32_t carried = loop->arg_count - 3, index = p->next++;
  declare_phis(p, body->phis.items + 1, loop->args + 3, carried);
  p->numbers[body->phis.items[0]->id] = index;
  c_line(p);
  leat_text_add(p->out, "for (i64 v%u = ", index);
  c_print_value(p, loop->args[0]);
  leat_text_add(p->out, "; v%u < ", index);
  c_print_value(p, loop->args[1]);
  leat_text_add(p->out, "; v%u += %lld) {\n", index, (long long)loop->args[2]->imm.i);
  print_block(p, body);
  p->indent++;
  assign_phis(p, body, body->phis.items + 1, carried);
  p->indent--;
  close(p);
}

static void print_while(c_printer *p, const k_instr *loop) {
  const k_block *test = loop->body[0];
  declare_phis(p, test->phis.items, loop->args, loop->arg_count);
  c_line(p);
  leat_text_add(p->out, "for (;;) {\n");
  print_block(p, test);
  p->indent++;
  c_line(p);
  leat_text_add(p->out, "if (!");
  c_print_value(p, test->condition);
  leat_text_add(p->out, ") break;\n");
  p->indent--;
  print_block(p, loop->body[1]);
  p->indent++;
  assign_phis(p, loop->body[1], test->phis.items, loop->arg_count);
  p->indent--;
  close(p);
}

// Results of an `if` are variables rN…, numbered from the number of the `if`.
static void print_if(c_printer *p, const k_instr *branch) {
  uint32_t count = branch->body[0]->yields.count, first = p->next;
  p->numbers[branch->id] = first;
  p->next += count;
  for (uint32_t i = 0; i < count; i++) {
    k_value like = branch->body[0]->yields.items[i];
    c_line(p);
    c_print_type(p, like->dtype, like->lanes);
    leat_text_add(p->out, " r%u;\n", first + i);
  }
  c_line(p);
  leat_text_add(p->out, "if (");
  c_print_value(p, branch->args[0]);
  leat_text_add(p->out, ") {\n");
  for (int side = 0; side < 2 && branch->body[side]; side++) {
    if (side) {
      c_line(p);
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

// The value in the first lane that is on.
static void print_first(c_printer *p, k_value on, k_value value) {
  leat_text_add(p->out, "int i = 0;\n");
  c_line(p);
  leat_text_add(p->out, "while (!");
  c_print_lane(p, on);
  leat_text_add(p->out, ") i++;\n");
  c_line(p);
  leat_text_add(p->out, "call->value = ");
  c_print_lane(p, value);
  leat_text_add(p->out, ";\n");
}

static void print_fail(c_printer *p, const k_instr *fail) {
  c_line(p);
  leat_text_add(p->out, "if (LEAT_RARE(");
  c_print_value(p, fail->args[0]);
  leat_text_add(p->out, ")) { // %s\n", leat_status_name((leat_status)fail->imm2));
  p->indent++;
  c_line(p);
  k_value on = fail->arg_count > 2 ? fail->args[2] : NULL;
  if (on && p->plain) {
    print_first(p, on, fail->args[1]);
  } else {
    leat_text_add(p->out, on ? "call->value = LEAT_FIRST(" : "call->value = ");
    if (on) c_print_whole(p, on);
    if (on) leat_text_add(p->out, ", ");
    c_print_whole(p, fail->args[1]);
    leat_text_add(p->out, on ? ");\n" : ";\n");
  }
  c_line(p);
  leat_text_add(p->out, "return %lld << 8 | %lld;\n", (long long)fail->imm.i,
                (long long)fail->imm2);
  p->indent--;
  close(p);
}

// -- Instructions --------------------------------------------------------------------------------

static void print_definition(c_printer *p, const k_instr *instr) {
  c_define(p, instr);
  p->each = p->plain && instr->lanes > 1 && instr->op != K_RESULT;
  if (p->each) {
    leat_text_add(p->out, ";\n");
    c_line(p);
    leat_text_add(p->out, "for (int i = 0; i < %d; i++) v%u.lane[i]", instr->lanes,
                  p->numbers[instr->id]);
  }
  leat_text_add(p->out, " = ");
  c_print_expression(p, instr);
  leat_text_add(p->out, ";\n");
  p->each = false;
}

static void print_instr(c_printer *p, const k_instr *instr) {
  switch ((int)instr->op) {
  case K_CONST:
  case K_BARRIER: break; // one thread runs a tile
  case K_LOOP: print_loop(p, instr); break;
  case K_WHILE: print_while(p, instr); break;
  case K_IF: print_if(p, instr); break;
  case K_STORE: print_store(p, instr); break;
  case K_LOCAL:
    c_line(p);
    leat_text_add(p->out, "_Alignas(64) %s l%u[%lld];\n", c_memory_type(instr->buffer->dtype),
                  instr->buffer->number, (long long)instr->buffer->count);
    break;
  case K_FAIL_IF: print_fail(p, instr); break;
  case K_PREFETCH:
    c_line(p);
    leat_text_add(p->out, "LEAT_PREFETCH(");
    c_print_buffer(p, instr->buffer);
    leat_text_add(p->out, " + ");
    c_print_value(p, instr->args[0]);
    leat_text_add(p->out, ");\n");
    break;
  case K_POLL:
    c_line(p);
    leat_text_add(p->out, "if (LEAT_RARE(*call->ends)) return %d;\n", LEAT_ABORTED);
    break;
  default: print_definition(p, instr);
  }
}

static void print_block(c_printer *p, const k_block *block) {
  p->indent++;
  for (uint32_t i = 0; i < block->instrs.count; i++) print_instr(p, block->instrs.items[i]);
  p->indent--;
}

// -- Files ---------------------------------------------------------------------------------------

// `own`: a CPU level that the function alone may use, or NULL.
static void print_kernel(const leat_kernel *kernel, const char *symbol, const leat_target_info *own,
                         bool plain, leat_text *out) {
  leat_arena *scratch = leat_arena_create();
  c_printer p = {.out = out, .indent = 1, .plain = plain};
  p.numbers = leat_new_array(scratch, uint32_t, kernel->instr_count);
  leat_text_add(out, "\n// %s\n", kernel->name);
  if (own) leat_text_add(out, "__attribute__((target(\"arch=%s\")))\n", own->name);
  leat_text_add(out,
                "int32_t %s(leat_call *call, const leat_arg *args, int64_t tile_begin,\n"
                "    int64_t tile_end) {\n  (void)call;\n",
                symbol);
  for (uint32_t i = 0; i < kernel->buffer_count; i++) {
    const k_buffer *buffer = kernel->buffers.items[i];
    const char *qualifier = buffer->written ? "" : "const ", *type = c_memory_type(buffer->dtype);
    leat_text_add(out, "  %s%s *b%u = args[%u].pointer;\n", qualifier, type, i, i);
  }
  for (uint32_t i = 0; i < kernel->scalar_count; i++)
    leat_text_add(out, "  const i64 s%u = args[%u].value;\n", i, kernel->buffer_count + i);
  leat_text_add(out, "  for (i64 tile = tile_begin; tile < tile_end; tile++) {\n");
  print_block(&p, &kernel->body);
  leat_text_add(out, "  }\n  return 0;\n}\n");
  leat_arena_destroy(scratch);
}

// A piece of a string literal, which compilers read much faster than numbers. An escape in front of
// a digit has all of its own; a question mark is one for the sake of trigraphs.
static void print_bytes(const unsigned char *bytes, size_t size, leat_text *out) {
  enum { MOST_DIGITS = 3 };
  for (size_t i = 0; i < size; i++) {
    unsigned char byte = bytes[i];
    char spelt[1 + MOST_DIGITS], *at = spelt;
    bool full = i + 1 < size && bytes[i + 1] >= '0' && bytes[i + 1] <= '7';
    if (byte >= ' ' && byte <= '~' && !strchr("\"\\?", byte))
      *at++ = (char)byte;
    else {
      *at++ = '\\';
      if (full || byte >= 64) *at++ = (char)('0' + byte / 64);
      if (full || byte >= 8) *at++ = (char)('0' + byte / 8 % 8);
      *at++ = (char)('0' + byte % 8);
    }
    leat_text_add_n(out, spelt, (size_t)(at - spelt));
  }
}

static void print_data(const leat_object_data *data, leat_text *out) {
  enum { LINE = 64 };
  const unsigned char *bytes = data->data;
  leat_text_add(out, "\n_Alignas(64) const unsigned char %s[] = // of %zu bytes", data->symbol,
                data->size);
  size_t at = 0;
  do {
    leat_text_add(out, "\n    \"");
    print_bytes(bytes + at, data->size - at < LINE ? data->size - at : LINE, out);
    leat_text_add(out, "\"");
    at += LINE;
  } while (at < data->size);
  leat_text_add(out, ";\n");
}

static void print_pointers(const leat_object_pointers *pointers, leat_text *out) {
  leat_text_add(out, "\nconst void *const %s[%zu] = {", pointers->symbol, pointers->count);
  for (size_t i = 0; i < pointers->count; i++)
    if (pointers->targets[i])
      leat_text_add(out, "\n  (const void *)&%s,", pointers->targets[i]);
    else
      leat_text_add(out, "\n  (const void *)0,");
  leat_text_add(out, "\n};\n");
}

void leat_c_print_file(const leat_codegen_request *request, leat_text *out) {
  leat_c_prelude(request->plain, out);
  for (size_t i = 0; i < request->kernel_count; i++)
    print_kernel(request->kernels[i], request->symbols[i],
                 request->kernel_targets ? request->kernel_targets[i] : NULL, request->plain, out);
  leat_text_add(out, "\n");
  for (size_t i = 0; i < request->data_count; i++)
    leat_text_add(out, "extern const unsigned char %s[];\n", request->data[i].symbol);
  for (size_t i = 0; i < request->pointers_count; i++) print_pointers(&request->pointers[i], out);
}

void leat_c_print_data(const leat_codegen_request *request, leat_text *out) {
  for (size_t i = 0; i < request->data_count; i++)
    if (request->data[i].data) print_data(&request->data[i], out);
}
