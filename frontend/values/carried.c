// What is found of what loops carry. What begins with a number has the dtype that `next` gives it,
// and for as long as that is a number too, its own: of floats f64, and where a count is compared
// with an integer that holds more, that. What is declared `any` grows along the axes of which
// `next` gives another extent. Both are found by trying the loop: it is evaluated, taken back, and
// evaluated again with what was found, until nothing changes. Loops in it are not tried for
// themselves: what is found of them is noted in their order, so that the work grows with the depth
// of nesting, and does not double with each loop around.
#include "frontend/values/tensors.h"

#include "frontend/values/names.h"
#include "frontend/values/region.h"

// -- Dtypes -------------------------------------------------------------------------------------

int ev_rank_of(leat_dtype dtype) {
  if (leat_dtype_in_class(dtype, LEAT_CLASS_INTEGER)) return 1;
  if (leat_dtype_in_class(dtype, LEAT_CLASS_FLOAT)) return 2;
  return leat_dtype_in_class(dtype, LEAT_CLASS_COMPLEX) ? 3 : 0;
}

leat_dtype ev_running_dtype(leat_dtype own) {
  int rank = ev_rank_of(own);
  return rank == 2 ? LEAT_f64 : rank == 3 ? LEAT_c128 : own;
}

bool ev_holds_more(leat_dtype than, leat_dtype dtype) {
  size_t a = leat_dtype_size(than), b = leat_dtype_size(dtype);
  bool more_positive = leat_dtype_kind_of(than) == LEAT_KIND_SIGNED &&
                       leat_dtype_kind_of(dtype) == LEAT_KIND_UNSIGNED;
  return ev_rank_of(than) == ev_rank_of(dtype) && (b > a || (b == a && more_positive));
}

// -- What is found ------------------------------------------------------------------------------

static void change(evaluator *e, ev_carry *carry, leat_dtype dtype, bool weak) {
  carry->dtype = dtype;
  carry->weak = weak;
  carry->counts = weak && carry->counts;
  e->loops->changed = true;
}

void ev_carry_grow(evaluator *e, ev_carry *carry, uint32_t axes) {
  if (!e->loops->trying || !(axes & ~carry->grows)) return;
  carry->grows |= axes;
  e->loops->grew = true;
}

void ev_carry_widen(evaluator *e, ev_carry *carry, leat_dtype dtype) {
  if (carry->weak && ev_holds_more(carry->dtype, dtype)) change(e, carry, dtype, true);
}

void ev_carry_next(evaluator *e, ev_carry *carry, ev next) {
  if (!e->loops || !e->loops->trying || !carry->weak) return;
  const leat_type *type = ev_tensor_type(next);
  bool weak = !type || ev_is_weak(e, next);
  int dtype = weak ? ev_dtype_of_numbers(e, next) : (int)type->dtype;
  bool runs = weak && type && ev_runs(e, next.tensor);
  if (dtype < 0) return;
  if (weak) dtype = (int)ev_running_dtype((leat_dtype)dtype);
  int rank = ev_rank_of((leat_dtype)dtype), is = ev_rank_of(carry->dtype);
  if (rank > is || (!weak && rank == is)) change(e, carry, (leat_dtype)dtype, weak);
  if (runs) ev_carry_widen(e, carry, (leat_dtype)dtype);
}

static bool counts_on(leat_operator operator) {
  switch ((int)operator) {
  case LEAT_OPERATOR_NEG:
  case LEAT_OPERATOR_ADD:
  case LEAT_OPERATOR_SUB:
  case LEAT_OPERATOR_MUL:
  case LEAT_OPERATOR_FLOOR_DIV:
  case LEAT_OPERATOR_REMAINDER: return true;
  }
  return false;
}

bool ev_only_counts(evaluator *e, const leat_expr *next, const char *name) {
  const ev_binding *other;
  switch ((int)next->kind) {
  case LEAT_EXPR_INT: return true;
  case LEAT_EXPR_NAME:
    other = ev_lookup(e->frame->scope, next->name);
    return next->name == name || (other && other->value.kind == EV_INT);
  case LEAT_EXPR_UNARY: return counts_on(next->operator) && ev_only_counts(e, next->right, name);
  case LEAT_EXPR_BINARY:
    return counts_on(next->operator) && ev_only_counts(e, next->left, name) &&
           ev_only_counts(e, next->right, name);
  }
  return false;
}

// -- What is known ------------------------------------------------------------------------------

ev_carry *ev_carries_new(evaluator *e, const ev *first, uint32_t count) {
  ev_carry *carries = leat_new_array(e->arena, ev_carry, (size_t)count + 1);
  for (uint32_t k = 0; k < count; k++) {
    leat_dtype dtype = ev_tensor_type(first[k])->dtype;
    bool weak = ev_is_weak(e, first[k]);
    carries[k] = (ev_carry){.dtype = weak ? ev_running_dtype(dtype) : dtype, .weak = weak};
  }
  return carries;
}

void ev_carry_add(evaluator *e, const leat_stmt *loop, ev_carry *carries, uint32_t count) {
  ev_loop_types types = {.loop = loop, .count = count, .carries = carries};
  leat_vec_push(e->arena, &e->loops->known, types);
  e->loops->next = e->loops->known.count;
}

ev_carry *ev_carries_known(evaluator *e, const leat_stmt *loop, const ev *first, uint32_t count) {
  ev_loops *loops = e->loops;
  if (!loops || loops->next >= loops->known.count) return NULL;
  const ev_loop_types *known = &loops->known.items[loops->next];
  if (known->loop != loop || known->count != count) { // what is behind it is not what it was
    loops->known.count = loops->next;
    return NULL;
  }
  loops->next++;
  for (uint32_t k = 0; k < count; k++) {
    const leat_type *type = ev_tensor_type(first[k]);
    if (ev_is_weak(e, first[k])) continue;
    known->carries[k] = (ev_carry){.dtype = type->dtype, .grows = known->carries[k].grows};
  }
  return known->carries;
}

bool ev_carries_open(const ev_loops *loops) {
  if (loops->grew) return true;
  for (uint32_t i = 0; i < loops->known.count && loops->changed; i++)
    for (uint32_t k = 0; k < loops->known.items[i].count; k++) {
      const ev_carry *carry = &loops->known.items[i].carries[k];
      if (carry->weak && !carry->counts) return true;
    }
  return false;
}
