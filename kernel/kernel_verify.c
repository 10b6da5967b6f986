// The verifier of kernels: types, operands that dominate their uses, shapes of loops, and the
// limits that keep the stack and the recursion of printers bounded. What it accepts, every target
// compiles.
#include "kernel/kernel.h"

enum { DEEPEST_NEST = 64 };

typedef struct verifier {
  const leat_kernel *kernel;
  leat_error *error;
  bool *known; // instrs that were defined before, by id; those of blocks that ended are forgotten
  int64_t local_bytes;
  int depth;
} verifier;

// Our own bug, in words: which kernel, which instruction, what about it.
#define WRONG(v, instr, format, ...)                                                               \
  leat_fail((v)->error, LEAT_INTERNAL, "kernel %s, %s #%u: " format, (v)->kernel->name,            \
            k_op_name((instr)->op), (instr)->id __VA_OPT__(, ) __VA_ARGS__)

static leat_status check_block(verifier *v, const k_block *block);

static bool supported(leat_dtype dtype) {
  leat_dtype_kind kind = leat_dtype_kind_of(dtype);
  if (kind == LEAT_KIND_FLOAT) return dtype == LEAT_f32 || dtype == LEAT_f64;
  return kind != LEAT_KIND_COMPLEX && kind != LEAT_KIND_STRING;
}

static bool lanes_exist(int lanes) {
  return lanes == 1 || lanes == 2 || lanes == 4 || lanes == 8 || lanes == LEAT_LANES;
}

static bool is(k_value value, leat_dtype dtype, int lanes) {
  return value->dtype == dtype && value->lanes == lanes;
}

static bool alike(k_value x, k_value y) {
  return x->dtype == y->dtype && x->lanes == y->lanes;
}

// The kinds of dtype that an element-wise op computes with.
static bool op_takes(k_op op, leat_dtype_kind kind) {
  bool is_bool = kind == LEAT_KIND_BOOL, is_float = kind == LEAT_KIND_FLOAT;
  switch ((int)op) {
  case K_SQRT:
  case K_FLOOR:
  case K_ROUND: return is_float;
  case K_REM:
  case K_SHL:
  case K_SHR: return !is_float && !is_bool;
  case K_AND:
  case K_OR:
  case K_XOR:
  case K_NOT: return !is_float;
  case K_EQ:
  case K_NE:
  case K_LT:
  case K_LE: return true;
  default: return !is_bool;
  }
}

static leat_status check_elementwise(verifier *v, const k_instr *instr) {
  k_value first = instr->args[0];
  bool compares = instr->op >= K_EQ && instr->op <= K_LE;
  for (uint32_t i = 1; i < instr->arg_count; i++)
    if (!alike(first, instr->args[i])) return WRONG(v, instr, "operands differ in type");
  if (!op_takes(instr->op, leat_dtype_kind_of(first->dtype)))
    return WRONG(v, instr, "no such operation on %s", leat_dtype_name(first->dtype));
  if (!is(instr, compares ? LEAT_bool : first->dtype, first->lanes))
    return WRONG(v, instr, "wrong type of the result");
  return LEAT_OK;
}

static leat_status check_result(verifier *v, const k_instr *instr) {
  const k_instr *region = instr->args[0];
  uint32_t i = (uint32_t)instr->imm.i, count;
  if (region->op == K_IF)
    count = region->body[0]->yields.count;
  else if (region->op == K_LOOP || region->op == K_WHILE)
    count = region->arg_count - (region->op == K_LOOP ? 3 : 0);
  else
    return WRONG(v, instr, "of what is neither loop nor if");
  if (instr->imm.i < 0 || i >= count) return WRONG(v, instr, "number %u of %u", i, count);
  k_value like = region->op == K_IF ? region->body[0]->yields.items[i] : k_loop_carried(region, i);
  return alike(instr, like) ? LEAT_OK : WRONG(v, instr, "wrong type");
}

static leat_status check_lanes(verifier *v, const k_instr *instr) {
  k_value x = instr->args[0];
  bool right = false;
  switch ((int)instr->op) {
  case K_SPLAT: right = is(x, instr->dtype, 1); break;
  case K_HALF: right = is(x, instr->dtype, 2 * instr->lanes) && (instr->imm.i | 1) == 1; break;
  case K_ZIP:
  case K_UNZIP:
    right = alike(x, instr) && alike(instr->args[1], instr) && (instr->imm.i | 1) == 1;
    break;
  case K_EXTRACT:
    right = x->dtype == instr->dtype && instr->lanes == 1 && instr->imm.i >= 0 &&
            instr->imm.i < x->lanes;
    break;
  case K_ANY: right = x->dtype == LEAT_bool && is(instr, LEAT_bool, 1); break;
  case K_CAST: right = x->lanes == instr->lanes; break;
  case K_BITCAST:
    right = x->lanes == instr->lanes && x->dtype != LEAT_bool && instr->dtype != LEAT_bool &&
            leat_dtype_size(x->dtype) == leat_dtype_size(instr->dtype);
    break;
  case K_SELECT:
    right = is(x, LEAT_bool, instr->lanes) && alike(instr->args[1], instr) &&
            alike(instr->args[2], instr);
    break;
  }
  return right ? LEAT_OK : WRONG(v, instr, "operands or result have wrong types");
}

static leat_status check_buffer(verifier *v, const k_instr *instr) {
  const k_buffer *buffer = instr->buffer;
  if (!buffer || !supported(buffer->dtype)) return WRONG(v, instr, "no buffer");
  bool argument = buffer->space == K_SPACE_ARGUMENT;
  if (buffer->number >= (argument ? v->kernel->buffer_count : v->kernel->local_count))
    return WRONG(v, instr, "buffer %u does not exist", buffer->number);
  if (argument && v->kernel->buffers.items[buffer->number] != buffer)
    return WRONG(v, instr, "a buffer of another kernel");
  return LEAT_OK;
}

static leat_status check_memory(verifier *v, const k_instr *instr) {
  LEAT_TRY(check_buffer(v, instr));
  bool store = instr->op == K_STORE;
  uint32_t mask = store ? 2 : 1;
  if (instr->arg_count < mask || instr->arg_count > mask + 1)
    return WRONG(v, instr, "%u operands", instr->arg_count);
  k_value accessed = store ? instr->args[1] : instr;
  if (accessed->dtype != instr->buffer->dtype) return WRONG(v, instr, "wrong element type");
  if (!is(instr->args[0], LEAT_i64, instr->op == K_GATHER ? accessed->lanes : 1))
    return WRONG(v, instr, "the index has the wrong type");
  if (instr->arg_count > mask && !is(instr->args[mask], LEAT_bool, accessed->lanes))
    return WRONG(v, instr, "the mask has the wrong type");
  return LEAT_OK;
}

static leat_status check_prefetch(verifier *v, const k_instr *instr) {
  LEAT_TRY(check_buffer(v, instr));
  if (instr->arg_count != 1) return WRONG(v, instr, "%u operands", instr->arg_count);
  if (!is(instr->args[0], LEAT_i64, 1)) return WRONG(v, instr, "the index has the wrong type");
  return LEAT_OK;
}

static leat_status check_local(verifier *v, const k_instr *instr) {
  LEAT_TRY(check_buffer(v, instr));
  int64_t bytes;
  int64_t size = (int64_t)leat_dtype_size(instr->buffer->dtype);
  if (instr->buffer->count <= 0 || __builtin_mul_overflow(instr->buffer->count, size, &bytes) ||
      bytes > LEAT_MOST_LOCAL_BYTES - v->local_bytes)
    return WRONG(v, instr, "local arrays take more than %d bytes", LEAT_MOST_LOCAL_BYTES);
  v->local_bytes += bytes;
  return LEAT_OK;
}

// -- Regions -------------------------------------------------------------------------------------

static leat_status check_known(verifier *v, const k_instr *user, k_value value) {
  if (value && value->id < v->kernel->instr_count && v->known[value->id]) return LEAT_OK;
  return WRONG(v, user, "operand #%u is not defined here", value ? value->id : 0);
}

static leat_status check_yields(verifier *v, const k_instr *region, const k_block *block,
                                const k_value *like, uint32_t count) {
  if (block->yields.count != count)
    return WRONG(v, region, "yields %u values, not %u", block->yields.count, count);
  for (uint32_t i = 0; i < count; i++) {
    LEAT_TRY(check_known(v, region, block->yields.items[i]));
    if (!alike(block->yields.items[i], like[i]))
      return WRONG(v, region, "yield %u differs in type", i);
  }
  return LEAT_OK;
}

static void forget(verifier *v, const k_block *block) {
  for (uint32_t i = 0; i < block->phis.count; i++) v->known[block->phis.items[i]->id] = false;
  for (uint32_t i = 0; i < block->instrs.count; i++) v->known[block->instrs.items[i]->id] = false;
}

static leat_status check_loop(verifier *v, const k_instr *loop) {
  const k_block *body = loop->body[0];
  if (loop->arg_count < 3 || !body || body->phis.count != loop->arg_count - 2)
    return WRONG(v, loop, "malformed");
  for (int i = 0; i < 3; i++)
    if (!is(loop->args[i], LEAT_i64, 1)) return WRONG(v, loop, "bounds are scalars of i64");
  if (loop->args[2]->op != K_CONST || loop->args[2]->imm.i <= 0)
    return WRONG(v, loop, "the step is a positive constant");
  if (!is(body->phis.items[0], LEAT_i64, 1)) return WRONG(v, loop, "the index is an i64");
  for (uint32_t i = 3; i < loop->arg_count; i++)
    if (!alike(loop->args[i], body->phis.items[i - 2]))
      return WRONG(v, loop, "initial value %u", i - 3);
  LEAT_TRY(check_block(v, body));
  LEAT_TRY(check_yields(v, loop, body, loop->args + 3, loop->arg_count - 3));
  forget(v, body);
  return LEAT_OK;
}

static leat_status check_while(verifier *v, const k_instr *loop) {
  const k_block *test = loop->body[0], *body = loop->body[1];
  if (!test || !body || test->phis.count != loop->arg_count || !test->condition)
    return WRONG(v, loop, "malformed");
  for (uint32_t i = 0; i < loop->arg_count; i++)
    if (!alike(loop->args[i], test->phis.items[i])) return WRONG(v, loop, "initial value %u", i);
  LEAT_TRY(check_block(v, test));
  LEAT_TRY(check_known(v, loop, test->condition));
  if (!is(test->condition, LEAT_bool, 1)) return WRONG(v, loop, "the condition is a bool");
  LEAT_TRY(check_block(v, body));
  LEAT_TRY(check_yields(v, loop, body, loop->args, loop->arg_count));
  forget(v, body);
  forget(v, test);
  return LEAT_OK;
}

static leat_status check_if(verifier *v, const k_instr *branch) {
  const k_block *yes = branch->body[0], *no = branch->body[1];
  if (branch->arg_count != 1 || !yes || (!no && yes->yields.count))
    return WRONG(v, branch, "malformed");
  if (!is(branch->args[0], LEAT_bool, 1)) return WRONG(v, branch, "the condition is a bool");
  LEAT_TRY(check_block(v, yes));
  LEAT_TRY(check_yields(v, branch, yes, yes->yields.items, yes->yields.count));
  forget(v, yes);
  if (!no) return LEAT_OK;
  LEAT_TRY(check_block(v, no));
  LEAT_TRY(check_yields(v, branch, no, yes->yields.items, yes->yields.count));
  forget(v, no);
  return LEAT_OK;
}

// -- Instructions --------------------------------------------------------------------------------

static leat_status check_fail(verifier *v, const k_instr *fail) {
  if (fail->arg_count < 2 || fail->arg_count > 3 || !is(fail->args[0], LEAT_bool, 1))
    return WRONG(v, fail, "the condition is a bool");
  int lanes = fail->arg_count == 3 ? fail->args[1]->lanes : 1;
  if (fail->args[1]->lanes != lanes || !op_takes(K_SHL, leat_dtype_kind_of(fail->args[1]->dtype)))
    return WRONG(v, fail, "the value is an integer");
  if (fail->arg_count == 3 && !is(fail->args[2], LEAT_bool, lanes))
    return WRONG(v, fail, "the lanes are not told by bools");
  if (fail->imm.i < 0 || fail->imm.i >= v->kernel->site_count || fail->imm2 <= 0 ||
      fail->imm2 > 255)
    return WRONG(v, fail, "site %lld, status %lld", (long long)fail->imm.i, (long long)fail->imm2);
  return LEAT_OK;
}

static leat_status check_kind(verifier *v, const k_instr *instr) {
  switch ((int)instr->op) {
  case K_CONST: return LEAT_OK;
  case K_SCALAR:
    if (!is(instr, LEAT_i64, 1) || instr->imm.i < 0 || instr->imm.i >= v->kernel->scalar_count)
      return WRONG(v, instr, "no such scalar");
    return LEAT_OK;
  case K_TILE: return is(instr, LEAT_i64, 1) ? LEAT_OK : WRONG(v, instr, "not an i64");
  case K_PHI: return WRONG(v, instr, "outside the arguments of a block");
  case K_LANE:
    if (!op_takes(K_SHL, leat_dtype_kind_of(instr->dtype)))
      return WRONG(v, instr, "not an integer");
    return LEAT_OK;
  case K_RESULT: return check_result(v, instr);
  case K_SELECT:
  case K_CAST:
  case K_BITCAST:
  case K_SPLAT:
  case K_HALF:
  case K_ZIP:
  case K_UNZIP:
  case K_EXTRACT:
  case K_ANY: return check_lanes(v, instr);
  case K_LOAD:
  case K_GATHER:
  case K_STORE: return check_memory(v, instr);
  case K_PREFETCH: return check_prefetch(v, instr);
  case K_LOCAL: return check_local(v, instr);
  case K_LOOP: return check_loop(v, instr);
  case K_WHILE: return check_while(v, instr);
  case K_IF: return check_if(v, instr);
  case K_BARRIER:
  case K_POLL: return LEAT_OK;
  case K_FAIL_IF: return check_fail(v, instr);
  }
  return check_elementwise(v, instr);
}

static leat_status check_instr(verifier *v, const k_instr *instr) {
  int arity = k_op_arity(instr->op);
  if (instr->id >= v->kernel->instr_count || v->known[instr->id])
    return WRONG(v, instr, "defined twice");
  if (arity >= 0 && instr->arg_count != (uint32_t)arity)
    return WRONG(v, instr, "%u operands, not %d", instr->arg_count, arity);
  for (uint32_t i = 0; i < instr->arg_count; i++) {
    LEAT_TRY(check_known(v, instr, instr->args[i]));
    bool region = instr->args[i]->lanes == 0;
    if (region != (instr->op == K_RESULT)) return WRONG(v, instr, "operand %u has no value", i);
  }
  if (instr->lanes && (!lanes_exist(instr->lanes) || !supported(instr->dtype)))
    return leat_fail(v->error, LEAT_UNSUPPORTED, "kernel %s: values of type %s in %d lanes",
                     v->kernel->name, leat_dtype_name(instr->dtype), instr->lanes);
  LEAT_TRY(check_kind(v, instr));
  v->known[instr->id] = true;
  return LEAT_OK;
}

static leat_status check_block(verifier *v, const k_block *block) {
  if (++v->depth > DEEPEST_NEST)
    return leat_fail(v->error, LEAT_UNSUPPORTED, "kernel %s nests more than %d deep",
                     v->kernel->name, DEEPEST_NEST);
  for (uint32_t i = 0; i < block->phis.count; i++) v->known[block->phis.items[i]->id] = true;
  for (uint32_t i = 0; i < block->instrs.count; i++)
    LEAT_TRY(check_instr(v, block->instrs.items[i]));
  v->depth--;
  return LEAT_OK;
}

leat_status leat_kernel_verify(const leat_kernel *kernel, leat_error *error) {
  leat_arena *scratch = leat_arena_create();
  verifier v = {.kernel = kernel, .error = error};
  v.known = leat_new_array(scratch, bool, kernel->instr_count);
  leat_status status = check_block(&v, &kernel->body);
  for (uint32_t i = 0; i < kernel->buffer_count && !status; i++)
    if (!supported(kernel->buffers.items[i]->dtype))
      status = leat_fail(error, LEAT_UNSUPPORTED, "kernel %s: a buffer of %s", kernel->name,
                         leat_dtype_name(kernel->buffers.items[i]->dtype));
  leat_arena_destroy(scratch);
  return status;
}
