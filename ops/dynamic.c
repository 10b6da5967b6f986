// Dims that are known only while running: their binding, the checks that two dims are equal where
// their forms do not say so, and the op that most of them come from.
#include "ops/ref.h"
#include "ops/shape.h"

#include <string.h>

bool shape_bind(leat_shape_context *context) {
  const leat_type *count = leat_shape_input(context, 0);
  if (count->dtype != LEAT_i64 || count->rank != 0)
    return leat_shape_fail(context, "a dim is bound to an i64 scalar");
  return leat_shape_binds(context, leat_node_attr(context->node, "size")->dim);
}

bool leat_shape_binds(leat_shape_context *context, leat_dim dim) {
  const leat_atom *atom = leat_dim_atom(dim);
  if (!atom || atom->kind != LEAT_ATOM_ANONYMOUS)
    return leat_shape_fail(context, "only a dim like `?1` is bound");
  const leat_node *binder = leat_graph_binder(context->graph, atom);
  if (binder && binder != context->node && binder->name != context->node->name)
    return leat_shape_fail(context, "`%s` binds %s already", binder->name, atom->name);
  return true;
}

// Whether it holds is for the pass `infer` and the runtime: what it stands in may never run.
bool shape_check_dims(leat_shape_context *context) {
  uint32_t count = leat_node_attr(context->node, "values")->count;
  return count <= LEAT_MAX_CLAIM_VALUES ||
         leat_shape_fail(context, "%u values, at most %d are supported", count,
                         LEAT_MAX_CLAIM_VALUES);
}

const char *leat_check_text(leat_arena *arena, const leat_node *check) {
  const leat_attr *values = leat_node_attr(check, "values");
  leat_claim claim = {.says = leat_node_attr(check, "says")->string, .count = values->count};
  for (uint32_t i = 0; i < values->count; i++) claim.values[i] = values->dims[i];
  return leat_claim_text(arena, &claim);
}

static bool claim_divisor(leat_shape_context *context, const leat_atom *atom) {
  leat_arena *arena = context->graph->arena;
  leat_dims *dims = context->graph->dims;
  leat_claim claim = {.count = 1, .values = {atom->b}}; // its square is at least 1
  bool fits = leat_dim_mul(dims, atom->b, atom->b, &claim.room) &&
              leat_dim_sub(dims, claim.room, leat_dim_const(1), &claim.room);
  claim.says = leat_arena_printf(arena, "%s is divided by %s = %%lld",
                                 leat_dim_text(arena, atom->a), leat_dim_text(arena, atom->b));
  return !fits || leat_shape_claim(context, &claim);
}

bool leat_shape_claim_divisors(leat_shape_context *context, leat_dim dim) {
  bool ok = true;
  for (uint32_t i = 0; dim.poly && i < dim.poly->count; i++) {
    const leat_term *term = &dim.poly->terms[i];
    for (uint32_t j = 0; ok && j < term->count; j++) {
      const leat_atom *atom = term->atoms[j];
      if (atom->name) continue;
      ok = leat_shape_claim_divisors(context, atom->a) &&
           leat_shape_claim_divisors(context, atom->b);
      if (ok && atom->kind == LEAT_ATOM_FLOORDIV && !leat_dim_is_const(atom->b))
        ok = claim_divisor(context, atom);
    }
  }
  return ok;
}

bool leat_type_needs_check(leat_graph *graph, const leat_type *type) {
  leat_claims claims = {0};
  leat_shape_context context = {.graph = graph, .claims = &claims};
  bool may_be = true;
  for (int32_t i = 0; may_be && i < type->rank; i++)
    may_be = leat_dim_bounds(type->dims[i]).low >= 0 &&
             leat_shape_claim_divisors(&context, type->dims[i]) && !claims.count;
  return !may_be;
}

// "B = %lld", or what stands for a number.
static const char *value_of(leat_arena *arena, leat_dim dim) {
  if (leat_dim_is_const(dim)) return "%lld";
  return leat_arena_printf(arena, "%s = %%lld", leat_dim_text(arena, dim));
}

static bool claim_equal(leat_shape_context *context, int32_t axis, leat_dim is, leat_dim wanted) {
  leat_arena *arena = context->graph->arena;
  leat_claim claim = {.count = 2, .values = {is, wanted}};
  claim.says = leat_arena_printf(arena, "axis %d: %s and %s differ", axis, value_of(arena, is),
                                 value_of(arena, wanted));
  for (int way = 0; way < 2; way++) {
    if (!leat_dim_sub(context->graph->dims, way ? is : wanted, way ? wanted : is, &claim.room))
      return leat_shape_fail(context, "axis %d: numbers too large", axis);
    if (!leat_shape_claim(context, &claim)) return false;
  }
  return true;
}

bool shape_ensure_shape(leat_shape_context *context) {
  const leat_type *x = leat_shape_input(context, 0);
  const leat_attr *shape = leat_node_attr(context->node, "shape");
  leat_type *out = &context->outputs[0];
  if (!leat_shape_of_dims(context, x->dtype, shape, out)) return false;
  if (out->rank != x->rank)
    return leat_shape_fail(context, "rank %d expected, found %d", out->rank, x->rank);
  for (int32_t i = 0; i < x->rank; i++) {
    if (!leat_dims_may_be_equal(context->graph, x->dims[i], out->dims[i]))
      return leat_shape_dims_equal(context, x->dims[i], out->dims[i], "axis %d", i);
    if (!claim_equal(context, i, x->dims[i], out->dims[i])) return false;
  }
  return true;
}

leat_status ref_ensure_shape(leat_ref_context *context) {
  const leat_tensor *x = &context->inputs[0], *out = &context->outputs[0];
  for (int32_t i = 0; i < x->rank; i++)
    if (x->shape[i] != out->shape[i])
      return leat_ref_fail(context, LEAT_INVALID, "axis %d: %lld and %lld differ", i,
                           (long long)x->shape[i], (long long)out->shape[i]);
  int64_t bytes = leat_tensor_bytes(x);
  if (bytes) memcpy(out->data, x->data, (size_t)bytes);
  return LEAT_OK;
}

// Where the elements are true, in row-major order. `size` is how many they are: any other number of
// them is an error while running.
bool shape_positions(leat_shape_context *context) {
  leat_dim size = leat_node_attr(context->node, "size")->dim;
  leat_type *out = &context->outputs[0];
  *out = (leat_type){.dtype = LEAT_i64, .rank = 1, .dims = {size}};
  return leat_shape_dim_ok(context, size);
}

leat_status ref_positions(leat_ref_context *context) {
  const bool *p = context->inputs[0].data;
  int64_t *out = context->outputs[0].data, size = context->outputs[0].shape[0], found = 0;
  for (int64_t i = 0; i < leat_ref_count(&context->inputs[0]); i++) {
    if (!p[i]) continue;
    if (found < size) out[found] = i;
    found++;
  }
  if (found == size) return LEAT_OK;
  return leat_ref_fail(context, LEAT_INVALID, "%lld elements are true, not %lld", (long long)found,
                       (long long)size);
}

bool library_positions(leat_dims *dims, const leat_node *node, leat_library_call *out) {
  leat_dim count;
  if (!leat_type_elements(dims, leat_value_type(node->inputs[0]), &count)) return false;
  double elements = leat_dim_is_const(count) ? (double)count.value : 1;
  *out = (leat_library_call){.function = "positions",
                             .tiles = leat_dim_const(1),
                             .scalars = {count, leat_node_attr(node, "size")->dim},
                             .scalar_count = 2,
                             .work = elements};
  return true;
}
