// A kernel run by walking it, one lane at a time with k_eval: slow and plain, what targets are
// compared with.
#ifndef LEAT_TESTS_UNIT_INTERPRET_H
#define LEAT_TESTS_UNIT_INTERPRET_H

#include "kernel/kernel.h"
#include "leat/artifact.h"

#include <stdlib.h>
#include <string.h>

typedef k_imm interpreted[LEAT_LANES];

typedef struct interpreter {
  const leat_kernel *kernel;
  const leat_call *call;
  const leat_arg *args;
  interpreted *values; // by instr id; of a region: none
  unsigned char **locals;
  int64_t tile;
  int32_t failed;
  int64_t value; // that it failed on
} interpreter;

static k_imm interpret_read(leat_dtype dtype, const void *from) {
  k_imm out = {.i = 0};
  float single;
  switch ((int)dtype) {
  case LEAT_f32: memcpy(&single, from, 4); return (k_imm){.f = single};
  case LEAT_bool: return (k_imm){.i = *(const unsigned char *)from != 0};
  default: memcpy(&out, from, leat_dtype_size(dtype)); return k_imm_wrap(dtype, out);
  }
}

static void interpret_write(leat_dtype dtype, void *to, k_imm value) {
  float single = (float)value.f;
  memcpy(to, dtype == LEAT_f32 ? (void *)&single : (void *)&value, leat_dtype_size(dtype));
}

static unsigned char *interpret_address(interpreter *p, const k_buffer *buffer, int64_t index) {
  unsigned char *base = buffer->space == K_SPACE_ARGUMENT ? p->args[buffer->number].pointer
                                                          : p->locals[buffer->number];
  return base + index * (int64_t)leat_dtype_size(buffer->dtype);
}

static void interpret_memory(interpreter *p, const k_instr *instr) {
  bool store = instr->op == K_STORE;
  uint32_t mask = store ? 2 : 1;
  int lanes = store ? instr->args[1]->lanes : instr->lanes;
  for (int i = 0; i < lanes; i++) {
    bool on = instr->arg_count <= mask || p->values[instr->args[mask]->id][i].i;
    const k_imm *index = p->values[instr->args[0]->id];
    int64_t at = instr->op == K_GATHER ? index[i].i : index[0].i + i;
    if (store && on)
      interpret_write(instr->buffer->dtype, interpret_address(p, instr->buffer, at),
                      p->values[instr->args[1]->id][i]);
    if (!store)
      p->values[instr->id][i] =
          on ? interpret_read(instr->dtype, interpret_address(p, instr->buffer, at))
             : (k_imm){.i = 0};
  }
}

static void interpret_block(interpreter *p, const k_block *block);

static void interpret_copy(interpreter *p, const k_value *to, const k_value *from, uint32_t count) {
  interpreted *copies = malloc((count + 1) * sizeof *copies);
  for (uint32_t i = 0; i < count; i++) memcpy(copies[i], p->values[from[i]->id], sizeof *copies);
  for (uint32_t i = 0; i < count; i++) memcpy(p->values[to[i]->id], copies[i], sizeof *copies);
  free(copies);
}

static void interpret_loop(interpreter *p, const k_instr *loop) {
  const k_block *body = loop->body[0];
  const k_value *phis = body->phis.items;
  uint32_t carried = loop->arg_count - 3;
  int64_t high = p->values[loop->args[1]->id][0].i, step = p->values[loop->args[2]->id][0].i;
  interpret_copy(p, phis + 1, loop->args + 3, carried);
  for (int64_t i = p->values[loop->args[0]->id][0].i; i < high && !p->failed; i += step) {
    p->values[phis[0]->id][0].i = i;
    interpret_block(p, body);
    interpret_copy(p, phis + 1, body->yields.items, carried);
  }
}

static void interpret_while(interpreter *p, const k_instr *loop) {
  const k_block *test = loop->body[0], *body = loop->body[1];
  interpret_copy(p, test->phis.items, loop->args, loop->arg_count);
  for (;;) {
    interpret_block(p, test);
    if (p->failed || !p->values[test->condition->id][0].i) return;
    interpret_block(p, body);
    interpret_copy(p, test->phis.items, body->yields.items, loop->arg_count);
  }
}

static void interpret_lane(interpreter *p, const k_instr *instr, int lane) {
  k_imm *out = &p->values[instr->id][lane], args[3];
  for (uint32_t i = 0; i < instr->arg_count && i < 3 && instr->op != K_RESULT; i++)
    args[i] = p->values[instr->args[i]->id][lane];
  const k_imm *first = instr->arg_count ? p->values[instr->args[0]->id] : NULL;
  switch ((int)instr->op) {
  case K_CONST: *out = instr->imm; return;
  case K_SCALAR: out->i = p->args[p->kernel->buffer_count + instr->imm.i].value; return;
  case K_TILE: out->i = p->tile; return;
  case K_LANE: out->i = lane; return;
  case K_SPLAT: *out = first[0]; return;
  case K_HALF: *out = first[instr->imm.i * instr->lanes + lane]; return;
  case K_ZIP:
  case K_UNZIP: {
    int from = k_shuffle_lane(instr, lane);
    *out = p->values[instr->args[from / instr->lanes]->id][from % instr->lanes];
    return;
  }
  case K_EXTRACT: *out = first[instr->imm.i]; return;
  case K_ANY:
    out->i = 0;
    for (int i = 0; i < instr->args[0]->lanes; i++) out->i |= first[i].i;
    return;
  }
  *out = k_eval(instr->op, instr->args[instr->op == K_SELECT]->dtype, instr->dtype, args);
}

static void interpret_fail(interpreter *p, const k_instr *fail) {
  if (!p->values[fail->args[0]->id][0].i) return;
  int lane = 0;
  while (fail->arg_count > 2 && !p->values[fail->args[2]->id][lane].i) lane++;
  p->value = p->values[fail->args[1]->id][lane].i;
  p->failed = (int32_t)(fail->imm.i << 8 | fail->imm2);
}

static void interpret_instr(interpreter *p, const k_instr *instr) {
  switch ((int)instr->op) {
  case K_LOAD:
  case K_GATHER:
  case K_STORE: interpret_memory(p, instr); return;
  case K_LOOP: interpret_loop(p, instr); return;
  case K_WHILE: interpret_while(p, instr); return;
  case K_IF: {
    bool yes = p->values[instr->args[0]->id][0].i;
    if (instr->body[!yes]) interpret_block(p, instr->body[!yes]);
    return;
  }
  case K_FAIL_IF: interpret_fail(p, instr); return;
  case K_RESULT: {
    const k_instr *region = instr->args[0];
    uint32_t i = (uint32_t)instr->imm.i;
    bool yes = region->op == K_IF && p->values[region->args[0]->id][0].i;
    k_value from =
        region->op == K_IF ? region->body[!yes]->yields.items[i] : k_loop_carried(region, i);
    memcpy(p->values[instr->id], p->values[from->id], sizeof(interpreted));
    return;
  }
  case K_POLL:
    if (*p->call->ends) p->failed = LEAT_ABORTED;
    return;
  case K_LOCAL:
  case K_PREFETCH:
  case K_BARRIER: return;
  }
  for (int lane = 0; lane < instr->lanes; lane++) interpret_lane(p, instr, lane);
}

static void interpret_block(interpreter *p, const k_block *block) {
  for (uint32_t i = 0; i < block->instrs.count && !p->failed; i++)
    interpret_instr(p, block->instrs.items[i]);
}

static int32_t interpret(const leat_kernel *kernel, leat_call *call, const leat_arg *args,
                         int64_t begin, int64_t end) {
  enum { LOCAL_BYTES = 1 << 16 };
  interpreter p = {.kernel = kernel, .call = call, .args = args};
  p.values = calloc(kernel->instr_count + 1, sizeof *p.values);
  p.locals = calloc(kernel->local_count + 1, sizeof *p.locals);
  for (uint32_t i = 0; i < kernel->local_count; i++) p.locals[i] = calloc(1, LOCAL_BYTES);
  for (p.tile = begin; p.tile < end && !p.failed; p.tile++) interpret_block(&p, &kernel->body);
  for (uint32_t i = 0; i < kernel->local_count; i++) free(p.locals[i]);
  free(p.locals);
  free(p.values);
  call->value = p.value;
  return p.failed;
}

#endif
