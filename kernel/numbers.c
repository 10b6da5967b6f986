// See numbers.h. Both walks meet the places in the same order.
#include "kernel/numbers.h"

#include <math.h>
#include <string.h>

enum {             // in an innermost loop
  MOST_PLACES = 8, // that are computed in front of it
  MOST_STRIDES = 2,
  MOST_FLOATS = 4,
};

// Where an instruction stands.
typedef struct surroundings {
  bool in_loop, innermost, strides; // strides: those of an innermost loop are numbers
} surroundings;

static bool has_loop(const k_block *block) {
  if (!block) return false;
  for (uint32_t i = 0; i < block->instrs.count; i++) {
    const k_instr *instr = block->instrs.items[i];
    if (instr->op == K_LOOP || instr->op == K_WHILE || has_loop(instr->body[0]) ||
        has_loop(instr->body[1]))
      return true;
  }
  return false;
}

static surroundings inside(const k_instr *region, surroundings around) {
  if (region->op == K_IF) return around;
  around.in_loop = true;
  around.innermost = !has_loop(region->body[0]) && !has_loop(region->body[1]);
  return around;
}

static bool is_float(k_value value) {
  return leat_dtype_kind_of(value->dtype) == LEAT_KIND_FLOAT;
}

static bool takes_float(const k_instr *instr, uint32_t operand, surroundings at) {
  switch ((int)instr->op) {
  case K_ADD:
  case K_SUB:
  case K_MUL:
  case K_FMA:
  case K_MIN:
  case K_MAX:
  case K_EQ:
  case K_NE:
  case K_LT:
  case K_LE:
  case K_SELECT: return true;
  case K_DIV: return operand == 0 || !at.in_loop;
  }
  return false;
}

static bool takes_place(const k_instr *instr, uint32_t operand, surroundings at) {
  switch ((int)instr->op) {
  case K_MUL: return !at.innermost || at.strides;
  case K_ADD:
  case K_SUB:
  case K_MIN:
  case K_MAX:
  case K_EQ:
  case K_NE:
  case K_LT:
  case K_LE:
  case K_AND:
  case K_SHR: return !at.innermost;
  case K_LOAD:
  case K_STORE: return !at.innermost && operand == 0 && instr->buffer->space == K_SPACE_ARGUMENT;
  case K_DIV: return !at.in_loop;
  case K_LOOP: return operand < 2;
  }
  return false;
}

static bool is_number(const k_instr *instr, uint32_t operand, surroundings at) {
  k_value value = instr->args[operand];
  if (value->op != K_CONST) return false;
  if (value->dtype == LEAT_i64 && value->lanes == 1) return takes_place(instr, operand, at);
  if (!is_float(value) || !takes_float(instr, operand, at)) return false;
  return value->dtype == LEAT_f32 ? isnormal((float)value->imm.f) : isnormal(value->imm.f);
}

// -- The shape ------------------------------------------------------------------------------------

typedef struct writer {
  leat_arena *arena;
  k_numbers *out;
  uint32_t *order, next; // of values by id, in which they are met
} writer;

static void put(writer *w, int64_t word) {
  leat_text_add_n(&w->out->shape, (const char *)&word, sizeof word);
}

static void put_type(writer *w, k_value value) {
  put(w, (int64_t)value->dtype << 8 | value->lanes);
}

static void put_value(writer *w, k_value value) {
  bool constant = value->op == K_CONST;
  put(w, constant ? -1 : (int64_t)w->order[value->id]);
  if (!constant) return;
  put_type(w, value);
  put(w, value->imm.i);
}

static void put_operand(writer *w, k_instr *instr, uint32_t operand, surroundings at) {
  k_value *place = &instr->args[operand];
  if (!is_number(instr, operand, at)) {
    put_value(w, *place);
    return;
  }
  put(w, -2);
  put_type(w, *place);
  leat_vec_push(w->arena, &w->out->places, place);
}

static void put_buffer(writer *w, const k_buffer *buffer) {
  put(w, buffer ? (int64_t)buffer->space << 32 | buffer->number : -1);
  if (buffer) put(w, buffer->count);
}

static void put_block(writer *w, k_block *block, surroundings at) {
  put(w, block ? (int64_t)block->phis.count : -1);
  if (!block) return;
  for (uint32_t i = 0; i < block->phis.count; i++) {
    w->order[block->phis.items[i]->id] = w->next++;
    put_type(w, block->phis.items[i]);
    put(w, block->phis.items[i]->imm2);
  }
  for (uint32_t i = 0; i < block->instrs.count; i++) {
    k_instr *instr = block->instrs.items[i];
    if (instr->op == K_CONST) continue;
    w->order[instr->id] = w->next++;
    put(w, instr->op);
    put_type(w, instr);
    put(w, instr->imm.i);
    put(w, instr->imm2);
    put_buffer(w, instr->buffer);
    put(w, instr->arg_count);
    for (uint32_t j = 0; j < instr->arg_count; j++) put_operand(w, instr, j, at);
    for (int j = 0; j < 2; j++) put_block(w, instr->body[j], inside(instr, at));
  }
  put(w, block->yields.count);
  for (uint32_t i = 0; i < block->yields.count; i++) put_value(w, block->yields.items[i]);
  if (block->condition) put_value(w, block->condition);
}

void k_numbers_find(leat_kernel *kernel, bool strides, leat_arena *arena, k_numbers *out) {
  *out = (k_numbers){0};
  writer w = {.arena = arena, .out = out};
  w.order = leat_new_array(arena, uint32_t, (size_t)kernel->instr_count + 1);
  put(&w, kernel->buffer_count);
  put(&w, kernel->scalar_count);
  put(&w, kernel->site_count);
  for (uint32_t i = 0; i < kernel->buffers.count; i++) {
    const k_buffer *buffer = kernel->buffers.items[i];
    put(&w, (int64_t)buffer->dtype << 2 | buffer->written << 1 | buffer->streamed);
  }
  put_block(&w, &kernel->body, (surroundings){.strides = strides});
}

// -- What it costs --------------------------------------------------------------------------------

typedef struct counter {
  const bool *chosen; // of the next place
  bool *varies;       // by id: an i64 that is made of a chosen number
  uint32_t *order, next;
  uint32_t *counted; // by id: the innermost loop that it was counted in
  uint32_t loop, begin, places, strides, floats;
  bool too_many;
} counter;

static void count_operand(counter *c, const k_instr *instr, uint32_t operand, surroundings at) {
  k_value value = instr->args[operand];
  if (is_number(instr, operand, at)) {
    if (!*c->chosen++) return;
    c->floats += at.innermost && is_float(value);
    c->strides += at.innermost && !is_float(value) && instr->op != K_LOOP;
    c->varies[instr->id] |= instr->dtype == LEAT_i64 && instr->lanes == 1;
    return;
  }
  if (value->op == K_CONST || !c->varies[value->id]) return;
  c->varies[instr->id] |= instr->dtype == LEAT_i64 && instr->lanes == 1;
  bool outside = at.innermost && c->order[value->id] < c->begin;
  if (!outside || c->counted[value->id] == c->loop) return;
  c->counted[value->id] = c->loop;
  c->places++;
}

static void count_block(counter *c, const k_block *block, surroundings at) {
  if (!block) return;
  for (uint32_t i = 0; i < block->phis.count; i++) c->order[block->phis.items[i]->id] = c->next++;
  for (uint32_t i = 0; i < block->instrs.count; i++) {
    const k_instr *instr = block->instrs.items[i];
    if (instr->op == K_CONST) continue;
    for (uint32_t j = 0; j < instr->arg_count; j++) count_operand(c, instr, j, at);
    c->order[instr->id] = c->next++;
    surroundings in = inside(instr, at);
    if (instr->op != K_IF && in.innermost) {
      c->loop++;
      c->begin = c->next;
      c->places = c->strides = c->floats = 0;
    }
    for (int j = 0; j < 2; j++) count_block(c, instr->body[j], in);
    c->too_many |= in.innermost && (c->places > MOST_PLACES || c->strides > MOST_STRIDES ||
                                    c->floats > MOST_FLOATS);
  }
}

bool k_numbers_are_cheap(const leat_kernel *kernel, bool strides, leat_arena *scratch,
                         const bool *chosen) {
  size_t count = (size_t)kernel->instr_count + 1;
  counter c = {.chosen = chosen,
               .varies = leat_new_array(scratch, bool, count),
               .order = leat_new_array(scratch, uint32_t, count),
               .counted = leat_new_array(scratch, uint32_t, count)};
  count_block(&c, &kernel->body, (surroundings){.strides = strides});
  return !c.too_many;
}

// -- Arguments ------------------------------------------------------------------------------------

static k_value add_value(leat_kernel *kernel, uint32_t *at, k_instr wanted, k_value operand) {
  k_block *body = &kernel->body;
  k_instr *instr = leat_new(kernel->arena, k_instr);
  *instr = wanted;
  instr->id = kernel->instr_count++;
  instr->block = body;
  if (operand) {
    instr->arg_count = 1;
    instr->args = leat_arena_memdup(kernel->arena, &operand, sizeof operand);
  }
  leat_vec_push(kernel->arena, &body->instrs, instr);
  memmove(body->instrs.items + *at + 1, body->instrs.items + *at,
          (body->instrs.count - 1 - *at) * sizeof *body->instrs.items);
  body->instrs.items[(*at)++] = instr;
  return instr;
}

k_value k_number_argument(leat_kernel *kernel, uint32_t scalar, k_value number) {
  uint32_t at = 0;
  k_instr argument = {.op = K_SCALAR, .dtype = LEAT_i64, .lanes = 1, .imm.i = scalar};
  k_value value = add_value(kernel, &at, argument, NULL);
  if (!is_float(number)) return value;
  value = add_value(kernel, &at, (k_instr){.op = K_BITCAST, .dtype = LEAT_f64, .lanes = 1}, value);
  if (number->dtype != LEAT_f64)
    value =
        add_value(kernel, &at, (k_instr){.op = K_CAST, .dtype = number->dtype, .lanes = 1}, value);
  if (number->lanes == 1) return value;
  k_instr splat = {.op = K_SPLAT, .dtype = number->dtype, .lanes = number->lanes};
  return add_value(kernel, &at, splat, value);
}
