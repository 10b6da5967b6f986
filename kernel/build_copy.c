// The builder of kernels: the body of one kernel inside another, instruction by instruction, so
// that what the other knows (its scalars, that there is one tile) folds and simplifies as if it had
// been built there.
#include "kernel/build.h"

enum { MOST_UNROLLED = 256 }; // instructions, of one loop

typedef struct copier {
  k_builder *b;
  const k_copy *copy;
  leat_arena *scratch;
  k_value *values;   // by id of what is copied; of a region: the new one, or NULL and …
  k_value **results; // … what its results are, when nothing is left of it but these
  const k_buffer **locals;
  int unrolling; // loops around, whose size has that of inner ones
} copier;

static void copy_block(copier *c, const k_block *block);

static k_value new_value(const copier *c, k_value value) {
  return c->values[value->id];
}

static k_value *new_values(const copier *c, const k_value *values, uint32_t count) {
  k_value *out = leat_new_array(c->scratch, k_value, count);
  for (uint32_t i = 0; i < count; i++) out[i] = new_value(c, values[i]);
  return out;
}

static k_value *new_yields(const copier *c, const k_block *block) {
  return new_values(c, block->yields.items, block->yields.count);
}

// -- Memory ---------------------------------------------------------------------------------------

static const k_buffer *new_buffer(const copier *c, const k_buffer *buffer) {
  if (buffer->space == K_SPACE_ARGUMENT) return c->copy->buffers[buffer->number];
  return c->locals[buffer->number];
}

// Whether no lane leaves the local array, masked or not. Then no mask need be on the access, which
// would keep the array from becoming registers.
static bool stays_inside(const k_buffer *buffer, k_value index, int lanes) {
  return buffer->space == K_SPACE_REGISTER && index->op == K_CONST && index->imm.i >= 0 &&
         index->imm.i <= buffer->count - lanes;
}

static k_value zero_of(k_builder *b, leat_dtype dtype, int lanes) {
  bool is_float = leat_dtype_kind_of(dtype) == LEAT_KIND_FLOAT;
  return is_float ? k_float(b, dtype, lanes, 0) : k_int(b, dtype, lanes, 0);
}

static k_value copy_load(copier *c, const k_instr *load) {
  const k_buffer *buffer = new_buffer(c, load->buffer);
  k_value index = new_value(c, load->args[0]);
  k_value mask = load->arg_count > 1 ? new_value(c, load->args[1]) : NULL;
  if (load->op == K_GATHER) return k_gather(c->b, buffer, index, mask);
  if (!mask || !stays_inside(buffer, index, load->lanes))
    return k_load(c->b, buffer, index, load->lanes, mask);
  k_value all = k_load(c->b, buffer, index, load->lanes, NULL);
  return k_select(c->b, mask, all, zero_of(c->b, load->dtype, load->lanes));
}

static void copy_store(copier *c, const k_instr *store) {
  const k_buffer *buffer = new_buffer(c, store->buffer);
  k_value index = new_value(c, store->args[0]), value = new_value(c, store->args[1]);
  k_value mask = store->arg_count > 2 ? new_value(c, store->args[2]) : NULL;
  if (mask && stays_inside(buffer, index, value->lanes)) {
    value = k_select(c->b, mask, value, k_load(c->b, buffer, index, value->lanes, NULL));
    mask = NULL;
  }
  k_store(c->b, buffer, index, value, mask);
}

// -- Regions --------------------------------------------------------------------------------------

static void set_phis(copier *c, const k_value *phis, const k_value *values, uint32_t count) {
  for (uint32_t i = 0; i < count; i++) c->values[phis[i]->id] = values[i];
}

// How often a loop from `low` to `high` turns; -1: it is not known, or more often than is counted.
static int64_t turns_of(const k_instr *loop, k_value low, k_value high) {
  int64_t step = loop->args[2]->imm.i, length;
  if (low->op != K_CONST || high->op != K_CONST) return -1;
  if (low->imm.i >= high->imm.i) return 0;
  if (__builtin_sub_overflow(high->imm.i, low->imm.i, &length)) return -1;
  return length / step + (length % step != 0);
}

// Instructions of a loop's turns one after the other; more than `most`: so many, or not known, or
// with local arrays, which would be one for each turn.
static uint32_t unrolled_size(const k_block *body, int64_t turns, uint32_t most) {
  uint32_t size = 0;
  for (uint32_t i = 0; i < body->instrs.count && size <= most; i++) {
    const k_instr *instr = body->instrs.items[i];
    uint32_t inner = 1;
    if (instr->op == K_LOCAL || instr->op == K_WHILE) return most + 1;
    if (instr->op == K_LOOP)
      inner = unrolled_size(instr->body[0], turns_of(instr, instr->args[0], instr->args[1]), most);
    for (int j = 0; instr->op == K_IF && j < 2; j++)
      if (instr->body[j]) inner += unrolled_size(instr->body[j], 1, most);
    size += inner;
  }
  if (turns < 0 || (size && turns > most / size)) return most + 1;
  return size * (uint32_t)turns;
}

// All turns, each with the index as a constant. Returns what they carry out.
static k_value *unroll(copier *c, const k_instr *loop, k_value low, int64_t turns,
                       k_value *carried) {
  const k_block *body = loop->body[0];
  uint32_t count = loop->arg_count - 3;
  for (int64_t i = 0; i < turns; i++) {
    c->values[body->phis.items[0]->id] = k_i64(c->b, low->imm.i + i * loop->args[2]->imm.i);
    set_phis(c, body->phis.items + 1, carried, count);
    copy_block(c, body);
    carried = new_yields(c, body);
  }
  return carried;
}

static bool unrolls(copier *c, const k_instr *loop, int64_t turns) {
  uint32_t most = *c->copy->room < MOST_UNROLLED ? *c->copy->room : MOST_UNROLLED;
  if (turns == 1 || c->unrolling) return true;
  uint32_t size = unrolled_size(loop->body[0], turns, most);
  if (size > most) return false;
  *c->copy->room -= size;
  return true;
}

static void copy_loop(copier *c, const k_instr *loop) {
  const k_block *body = loop->body[0];
  uint32_t carried = loop->arg_count - 3;
  k_value low = new_value(c, loop->args[0]), high = new_value(c, loop->args[1]);
  k_value *initial = new_values(c, loop->args + 3, carried);
  int64_t turns = turns_of(loop, low, high);
  if (unrolls(c, loop, turns)) {
    c->unrolling += turns > 1;
    c->results[loop->id] = unroll(c, loop, low, turns, initial);
    c->unrolling -= turns > 1;
    return;
  }
  const k_instr *copy = k_loop_begin(c->b, low, high, loop->args[2]->imm.i, initial, carried);
  set_phis(c, body->phis.items, copy->body[0]->phis.items, carried + 1);
  copy_block(c, body);
  k_loop_end(c->b, new_yields(c, body), carried);
  c->values[loop->id] = copy;
}

static void copy_while(copier *c, const k_instr *loop) {
  const k_block *test = loop->body[0], *body = loop->body[1];
  k_value *initial = new_values(c, loop->args, loop->arg_count);
  const k_instr *copy = k_while_begin(c->b, initial, loop->arg_count);
  set_phis(c, test->phis.items, copy->body[0]->phis.items, loop->arg_count);
  copy_block(c, test);
  k_while_do(c->b, new_value(c, test->condition));
  copy_block(c, body);
  k_while_end(c->b, new_yields(c, body), loop->arg_count);
  c->values[loop->id] = copy;
}

static void copy_if(copier *c, const k_instr *branch) {
  const k_block *yes = branch->body[0], *no = branch->body[1];
  k_value condition = new_value(c, branch->args[0]);
  if (condition->op == K_CONST) {
    const k_block *taken = condition->imm.i ? yes : no;
    if (!taken) return;
    copy_block(c, taken);
    c->results[branch->id] = new_yields(c, taken);
    return;
  }
  const k_instr *copy = k_if_begin(c->b, condition);
  copy_block(c, yes);
  if (no) {
    k_if_else(c->b, new_yields(c, yes), yes->yields.count);
    copy_block(c, no);
  }
  k_if_end(c->b, no ? new_yields(c, no) : NULL, yes->yields.count);
  c->values[branch->id] = copy;
  c->results[branch->id] = NULL; // those of another turn
}

static k_value copy_result(const copier *c, const k_instr *result) {
  const k_instr *region = result->args[0];
  uint32_t i = (uint32_t)result->imm.i;
  if (c->results[region->id]) return c->results[region->id][i];
  return k_result(c->b, new_value(c, region), i);
}

// -- Instructions ---------------------------------------------------------------------------------

static void copy_fail(copier *c, const k_instr *fail) {
  k_value condition = new_value(c, fail->args[fail->arg_count > 2 ? 2 : 0]);
  k_fail_if(c->b, condition, new_value(c, fail->args[1]),
            c->copy->first_site + (uint32_t)fail->imm.i, (leat_status)fail->imm2);
}

static k_value copy_value(copier *c, const k_instr *instr) {
  k_value args[3];
  switch ((int)instr->op) {
  case K_SCALAR: return c->copy->scalars[instr->imm.i];
  case K_TILE: return c->copy->tile;
  case K_RESULT: return copy_result(c, instr);
  case K_LOAD:
  case K_GATHER: return copy_load(c, instr);
  }
  for (uint32_t i = 0; i < instr->arg_count; i++) args[i] = new_value(c, instr->args[i]);
  return k_again(c->b, instr, args);
}

static void copy_instr(copier *c, const k_instr *instr) {
  const k_buffer *local = instr->buffer;
  switch ((int)instr->op) {
  case K_LOOP: copy_loop(c, instr); break;
  case K_WHILE: copy_while(c, instr); break;
  case K_IF: copy_if(c, instr); break;
  case K_STORE: copy_store(c, instr); break;
  case K_PREFETCH:
    k_prefetch(c->b, new_buffer(c, instr->buffer), new_value(c, instr->args[0]));
    break;
  case K_FAIL_IF: copy_fail(c, instr); break;
  case K_BARRIER: k_barrier(c->b); break;
  case K_POLL: k_poll(c->b); break;
  case K_LOCAL:
    c->locals[local->number] = k_local(c->b, local->space, local->dtype, local->count);
    break;
  default: c->values[instr->id] = copy_value(c, instr);
  }
}

static void copy_block(copier *c, const k_block *block) {
  for (uint32_t i = 0; i < block->instrs.count; i++) copy_instr(c, block->instrs.items[i]);
}

void k_copy_body(k_builder *b, const k_copy *copy) {
  leat_arena *scratch = leat_arena_create();
  copier c = {.b = b, .copy = copy, .scratch = scratch};
  c.values = leat_new_array(scratch, k_value, copy->from->instr_count);
  c.results = leat_new_array(scratch, k_value *, copy->from->instr_count);
  c.locals = leat_new_array(scratch, const k_buffer *, copy->from->local_count);
  copy_block(&c, &copy->from->body);
  leat_arena_destroy(scratch);
}
