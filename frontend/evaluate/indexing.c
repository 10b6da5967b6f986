// x[…]: NumPy's basic indexing as slice and reshape, integer tensors (index_tensors.c), a mask as
// the places where it is true, a list's member.
#include "frontend/evaluate/calls.h"

#include "frontend/evaluate/statements.h"
#include "frontend/values/names.h"
#include "ops/shape.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_ITEMS = 2 * LEAT_MAX_RANK };

// What x[…] does to one axis of x, or adds to the result.
typedef struct axis_plan {
  leat_dim start, size;
  int64_t step;
} axis_plan;

typedef struct index_plan {
  axis_plan axes[LEAT_MAX_RANK];
  int32_t rank;     // of x
  const ev *values; // of each item that is one
  // The axis of x that each axis of the result comes from; -1: a new 1.
  int32_t result[MAX_ITEMS + LEAT_MAX_RANK], result_rank;
  ev_indices indices;
} index_plan;

// x[t] of a family, which is no list until it is asked for as a whole.
static const ev_binding *family_of(evaluator *e, const leat_expr *expr) {
  if (expr->base->kind != LEAT_EXPR_NAME || expr->items.count != 1) return NULL;
  if (expr->items.items[0]->kind == LEAT_EXPR_SLICE) return NULL;
  const ev_binding *binding = ev_lookup(e->frame->scope, expr->base->name);
  return binding && binding->members ? binding : NULL;
}

static ev family_member(evaluator *e, const leat_expr *expr, const ev_binding *family) {
  const leat_expr *item = expr->items.items[0];
  ev index = ev_expr(e, item, NULL);
  if (index.kind == EV_ERROR) return index;
  if (index.kind == EV_INT && index.i >= 0) return ev_member(e, family, index.i, item->span);
  ev list = ev_expr(e, expr->base, NULL);
  return list.kind == EV_LIST ? ev_item(e, item, list) : ev_error();
}

static bool too_large(evaluator *e, const leat_expr *item) {
  ev_fail(e, item->span, "this index has too many terms or digits");
  return false;
}

// A bound of a slice, as the number of elements before it.
typedef struct slice_bound {
  enum { FROM_FRONT, FROM_END, OF_DIMS } from;
  leat_dim asked; // as written
  leat_dim place; // the nearest place of the axis, which only an int can miss
} slice_bound;

// `after` is 1 when what is written is the element before the bound. What is not written leaves
// *bound as it is.
static bool read_bound(evaluator *e, const leat_expr *written, leat_dim dim, int64_t after,
                       slice_bound *bound) {
  const int64_t most = INT64_MAX / 2; // longer than any axis
  leat_dims *dims = e->graph->dims;
  ev value = written ? ev_expr(e, written, NULL) : ev_none();
  value = ev_as_known(e, value);
  if (value.kind == EV_ERROR) return false;
  if (value.kind == EV_NONE) return true;
  if (value.kind != EV_INT && value.kind != EV_DIM) {
    ev_fail(e, written->span, "a slice's bounds are ints and dims, found %s%s",
            ev_found_no_int(e, value),
            value.quotient
                ? ""
                : ev_as_dynamic(e, value, written->span, "; `gather` takes tensors of indices"));
    return false;
  }
  bool is_int = value.kind == EV_INT;
  bound->from = !is_int ? OF_DIMS : value.i < 0 ? FROM_END : FROM_FRONT;
  int64_t offset = after + (value.i < -most ? -most : value.i > most ? most : value.i);
  leat_dim from = bound->from == FROM_END ? dim : is_int ? leat_dim_const(0) : value.dim;
  if (!leat_dim_add(dims, from, leat_dim_const(is_int ? offset : after), &bound->asked))
    return too_large(e, written);
  bound->place = bound->asked;
  if (!is_int || offset == 0) return true;
  bool ok = bound->from == FROM_END
                ? leat_dim_max(dims, bound->asked, leat_dim_const(0), &bound->place)
                : leat_dim_min(dims, bound->asked, dim, &bound->place);
  return ok || too_large(e, written);
}

// The elements from one bound to another. Those that bounds on different sides ask for may be
// fewer than none; bounds of dims have to be in order.
static bool between(leat_dims *dims, const slice_bound *low, const slice_bound *high,
                    leat_dim *out) {
  leat_dim asked, none = leat_dim_const(0);
  if (!leat_dim_sub(dims, high->asked, low->asked, &asked) ||
      !leat_dim_sub(dims, high->place, low->place, out))
    return false;
  if (leat_dim_is_const(asked) && asked.value <= 0) *out = none;
  if (low->from == OF_DIMS || high->from == OF_DIMS || low->from == high->from) return true;
  return leat_dim_max(dims, low->from == FROM_FRONT ? asked : *out, none, out);
}

// Of `size` elements every so manyth: 1 + (size - 1) / step.
static bool in_steps(leat_dims *dims, leat_dim size, int64_t step, leat_dim *out) {
  *out = size;
  if (step == 1 || leat_dim_is(size, 0)) return true;
  leat_dim one = leat_dim_const(1), steps;
  return leat_dim_sub(dims, size, one, &steps) &&
         leat_dim_floordiv(dims, steps, leat_dim_const(step), &steps) &&
         leat_dim_add(dims, steps, one, out);
}

// Down an axis go the same elements as up, from the last of them on.
static bool slice_axis(evaluator *e, const leat_expr *item, leat_dim dim, axis_plan *plan) {
  ev step = item->step ? ev_as_known(e, ev_expr(e, item->step, NULL)) : ev_int(1);
  if (step.kind != EV_INT || step.i == 0) {
    if (step.kind != EV_ERROR) ev_fail(e, item->step->span, "a slice's step is an int, not 0");
    return false;
  }
  leat_dims *dims = e->graph->dims;
  bool down = step.i < 0;
  slice_bound low = {.from = FROM_FRONT}, high = {FROM_END, dim, dim};
  if (!read_bound(e, item->begin, dim, down, down ? &high : &low) ||
      !read_bound(e, item->end, dim, down, down ? &low : &high))
    return false;
  plan->step = step.i;
  plan->start = low.place;
  bool ok =
      between(dims, &low, &high, &plan->size) &&
      in_steps(dims, plan->size, step.i == INT64_MIN ? INT64_MAX : llabs(step.i), &plan->size) &&
      (!down || leat_dim_sub(dims, high.place, leat_dim_const(1), &plan->start));
  if (leat_dim_is(plan->size, 0)) plan->start = leat_dim_const(0);
  return ok || too_large(e, item);
}

static bool point_axis(evaluator *e, const leat_expr *item, int64_t index, leat_dim dim,
                       axis_plan *plan) {
  *plan = (axis_plan){leat_dim_const(index), leat_dim_const(1), 1};
  if (leat_dim_is_const(dim)) {
    if (index < -dim.value || index >= dim.value) {
      ev_fail(e, item->span, "index %lld of a dimension of %lld", (long long)index,
              (long long)dim.value);
      return false;
    }
    if (index < 0) plan->start = leat_dim_const(index + dim.value);
    return true;
  }
  return index >= 0 || leat_dim_add(e->graph->dims, dim, plan->start, &plan->start) ||
         too_large(e, item);
}

static bool plan_item(evaluator *e, const leat_expr *item, uint32_t number, const leat_type *type,
                      int32_t axis, index_plan *plan) {
  axis_plan *a = &plan->axes[axis];
  leat_dim dim = type->dims[axis];
  *a = (axis_plan){.start = leat_dim_const(0), .size = dim, .step = 1};
  if (item->kind == LEAT_EXPR_SLICE) {
    plan->result[plan->result_rank++] = axis;
    return slice_axis(e, item, dim, a);
  }
  ev value = plan->values[number];
  ev_add_index(&plan->indices, number);
  if (value.kind == EV_INT) return point_axis(e, item, value.i, dim, a);
  plan->result[plan->result_rank++] = axis;
  return ev_add_index_tensor(e, &plan->indices, value, plan->result_rank - 1, item->span);
}

static bool make_plan(evaluator *e, const leat_expr *expr, const leat_type *type,
                      index_plan *plan) {
  uint32_t count = expr->items.count;
  int32_t taken = 0;
  bool dots = false;
  for (uint32_t i = 0; i < count; i++) {
    leat_expr_kind kind = expr->items.items[i]->kind;
    if (dots && kind == LEAT_EXPR_ELLIPSIS) {
      ev_fail(e, expr->items.items[i]->span, "an index has at most one `...`");
      return false;
    }
    dots = dots || kind == LEAT_EXPR_ELLIPSIS;
    taken += kind != LEAT_EXPR_ELLIPSIS && kind != LEAT_EXPR_NEW_AXIS;
  }
  plan->rank = type->rank;
  if (taken > type->rank || count > MAX_ITEMS) {
    ev_fail(e, expr->span, "%u ind%s into a tensor of rank %d", count, count == 1 ? "ex" : "ices",
            type->rank);
    return false;
  }
  int32_t axis = 0, skip = type->rank - taken;
  for (uint32_t i = 0; i <= count; i++) {
    bool end = i == count;
    const leat_expr *item = end ? NULL : expr->items.items[i];
    if ((end && !dots) || (item && item->kind == LEAT_EXPR_ELLIPSIS)) {
      for (; skip > 0; skip--, axis++) {
        plan->axes[axis] =
            (axis_plan){.start = leat_dim_const(0), .size = type->dims[axis], .step = 1};
        plan->result[plan->result_rank++] = axis;
      }
    } else if (item && item->kind == LEAT_EXPR_NEW_AXIS) {
      plan->result[plan->result_rank++] = -1;
    } else if (item && !plan_item(e, item, i, type, axis++, plan)) {
      return false;
    }
  }
  if (plan->result_rank > LEAT_MAX_RANK) {
    ev_fail(e, expr->span, "the result would have %d dimensions, at most %d are possible",
            plan->result_rank, LEAT_MAX_RANK);
    return false;
  }
  return true;
}

static bool is_whole(const leat_type *type, const index_plan *plan) {
  for (int32_t i = 0; i < plan->rank; i++)
    if (!leat_dim_is(plan->axes[i].start, 0) || plan->axes[i].step != 1 ||
        !leat_dim_equal(plan->axes[i].size, type->dims[i]))
      return false;
  return true;
}

// What is taken of numbers is numbers.
static ev taken(evaluator *e, leat_op op, ev from, const leat_attr *attrs, leat_span span,
                const char *hint) {
  leat_builder builder = ev_builder(e, span);
  const char *name = ev_node_name(e, hint, leat_op_name(op));
  ev part = ev_tensor(leat_build(&builder, name, op, &from.tensor, 1, attrs));
  if (ev_is_weak(e, from)) ev_note_weak(e, part, &from.tensor, 1);
  return part;
}

static ev sliced(evaluator *e, ev value, const index_plan *plan, leat_span span, const char *hint) {
  leat_dim *start = leat_new_array(e->arena, leat_dim, LEAT_MAX_RANK);
  leat_dim *size = leat_new_array(e->arena, leat_dim, LEAT_MAX_RANK);
  int64_t *step = leat_new_array(e->arena, int64_t, LEAT_MAX_RANK);
  uint32_t rank = (uint32_t)plan->rank;
  for (uint32_t i = 0; i < rank; i++) {
    start[i] = plan->axes[i].start;
    size[i] = plan->axes[i].size;
    step[i] = plan->axes[i].step;
  }
  leat_attr attrs[] = {
      {.count = rank, .dims = start}, {.count = rank, .dims = size}, {.count = rank, .ints = step}};
  return taken(e, LEAT_OP_slice, value, attrs, span, hint);
}

// Drops and adds axes of 1. Axes to be gathered are kept by their size here.
static ev reshaped(evaluator *e, ev value, const index_plan *plan, leat_span span,
                   const char *hint) {
  leat_dim *shape = leat_new_array(e->arena, leat_dim, LEAT_MAX_RANK);
  for (int32_t i = 0; i < plan->result_rank; i++)
    shape[i] = plan->result[i] < 0 ? leat_dim_const(1) : plan->axes[plan->result[i]].size;
  bool same = plan->result_rank == plan->rank;
  for (int32_t i = 0; same && i < plan->rank; i++) same = plan->result[i] == i;
  if (same) return value;
  leat_attr attr = {.count = (uint32_t)plan->result_rank, .dims = shape};
  return taken(e, LEAT_OP_reshape, value, &attr, span, hint);
}

// -- Masks --------------------------------------------------------------------------------------

static bool is_value(const leat_expr *item) {
  return item->kind != LEAT_EXPR_SLICE && item->kind != LEAT_EXPR_ELLIPSIS &&
         item->kind != LEAT_EXPR_NEW_AXIS;
}

// Each item's value, an int or a tensor; NULL: reported.
static ev *item_values(evaluator *e, const leat_expr *expr) {
  ev *values = leat_new_array(e->arena, ev, (size_t)expr->items.count + 1);
  for (uint32_t i = 0; i < expr->items.count; i++) {
    const leat_expr *item = expr->items.items[i];
    if (!is_value(item)) continue;
    values[i] = ev_expr(e, item, NULL);
    if (values[i].kind != EV_ERROR && values[i].kind != EV_INT)
      values[i] = ev_tensor(ev_as_tensor(e, values[i], -1, item->span));
    if (values[i].kind == EV_ERROR) return NULL;
  }
  return values;
}

static bool is_mask(ev value) {
  return value.kind == EV_TENSOR && leat_value_type(value.tensor)->dtype == LEAT_bool &&
         leat_value_type(value.tensor)->rank > 0;
}

// How many axes of x an item is about.
static int32_t axes_of(const leat_expr *item, ev value) {
  if (is_mask(value)) return leat_value_type(value.tensor)->rank;
  return item->kind == LEAT_EXPR_SLICE || is_value(item);
}

// The axis of x that item `number` begins at; -1: x has not so many axes.
static int32_t first_axis(const leat_expr *expr, const ev *values, uint32_t number, int32_t rank) {
  int32_t before = 0, all = 0;
  bool dots = false;
  for (uint32_t i = 0; i < expr->items.count; i++) {
    int32_t axes = axes_of(expr->items.items[i], values[i]);
    all += axes;
    if (i >= number) continue;
    before += axes;
    dots |= expr->items.items[i]->kind == LEAT_EXPR_ELLIPSIS;
  }
  if (all > rank) return -1;
  return dots ? rank - all + before : before;
}

// The axes of x that the mask covers become one.
static ev merge_axes(evaluator *e, ev x, int32_t axis, int32_t count, leat_span span) {
  const leat_type *type = leat_value_type(x.tensor);
  leat_dim *shape = leat_new_array(e->arena, leat_dim, LEAT_MAX_RANK);
  leat_attr attr = {.count = (uint32_t)(type->rank - count + 1), .dims = shape};
  for (int32_t i = 0; i < type->rank; i++) {
    int32_t to = i <= axis ? i : i < axis + count ? axis : i - count + 1;
    if (to != axis || i == axis)
      shape[to] = type->dims[i];
    else if (!leat_dim_mul(e->graph->dims, shape[to], type->dims[i], &shape[to]))
      return ev_fail(e, span, "this index has too many terms or digits");
  }
  return taken(e, LEAT_OP_reshape, x, &attr, span, NULL);
}

// Puts the places where a mask is true in its place.
static bool apply_mask(evaluator *e, const leat_expr *item, int32_t axis, ev *x, ev *value) {
  const leat_type *type = leat_value_type(x->tensor);
  leat_type covered = {.dtype = LEAT_bool, .rank = leat_value_type(value->tensor)->rank};
  for (int32_t i = 0; i < covered.rank; i++) {
    leat_dim of_mask = leat_value_type(value->tensor)->dims[i];
    covered.dims[i] = type->dims[axis + i];
    if (leat_dims_may_be_equal(e->graph, of_mask, covered.dims[i])) continue;
    leat_text is = {0}, wanted = {0};
    leat_dim_print(of_mask, &is);
    leat_dim_print(covered.dims[i], &wanted);
    ev_fail(e, item->span, "a mask with %s on axis %d, where axis %d of the tensor has %s", is.data,
            i, axis + i, wanted.data);
    leat_text_finish(&is);
    leat_text_finish(&wanted);
    return false;
  }
  leat_builder builder = ev_builder(e, item->span);
  ev_argument mask = {.value = *value, .span = item->span};
  mask.value = ev_tensor(leat_build_ensure(&builder, value->tensor, &covered));
  if (covered.rank > 1) *x = merge_axes(e, *x, axis, covered.rank, item->span);
  if (x->kind == EV_ERROR || mask.value.kind == EV_ERROR) return false;
  *value = ev_call(e, ev_find_library(e, "flatnonzero"), &mask, 1, item->span, NULL, NULL);
  return value->kind == EV_TENSOR;
}

static bool apply_masks(evaluator *e, const leat_expr *expr, ev *values, ev *x) {
  for (uint32_t i = 0; i < expr->items.count; i++) {
    if (!is_mask(values[i])) continue;
    int32_t axis = first_axis(expr, values, i, leat_value_type(x->tensor)->rank);
    if (axis < 0) {
      ev_fail(e, expr->span, "more indices than a tensor of rank %d has axes",
              leat_value_type(x->tensor)->rank);
      return false;
    }
    if (!apply_mask(e, expr->items.items[i], axis, x, &values[i])) return false;
  }
  return true;
}

// -- Tensors ------------------------------------------------------------------------------------

static ev index_tensor(evaluator *e, const leat_expr *expr, ev base, const char *hint) {
  ev value = base.kind == EV_TENSOR ? base : ev_tensor(ev_as_tensor(e, base, -1, expr->base->span));
  uint32_t first_node = e->at.body->nodes.count;
  if (value.kind == EV_ERROR) return value;
  ev *values = item_values(e, expr);
  if (!values || !apply_masks(e, expr, values, &value)) return ev_error();
  const leat_type *type = leat_value_type(value.tensor);
  index_plan plan = {.values = values};
  if (!make_plan(e, expr, type, &plan)) return ev_error();
  bool slices = !is_whole(type, &plan);
  bool gathers = plan.indices.count;
  if (slices) value = sliced(e, value, &plan, expr->span, gathers ? NULL : hint);
  if (value.kind == EV_ERROR) return value;
  value = reshaped(e, value, &plan, expr->span, gathers ? NULL : hint);
  if (!gathers || value.kind == EV_ERROR) return ev_own(e, value, first_node, expr->span, hint);
  return ev_index_by_tensors(e, &plan.indices, value, expr->span, hint);
}

ev ev_index(evaluator *e, const leat_expr *expr, const char *hint) {
  const ev_binding *family = family_of(e, expr);
  if (family) return family_member(e, expr, family);
  ev base = ev_expr(e, expr->base, NULL);
  if (base.kind == EV_ERROR) return base;
  if (base.kind == EV_LIST || base.kind == EV_STRING) return ev_index_sequence(e, expr, base);
  return index_tensor(e, expr, base, hint);
}
