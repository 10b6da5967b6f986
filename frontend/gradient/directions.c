// The Jacobian of several values with respect to others, times a direction: from the left, which is
// a walk of gradients that begins with it, and from the right. The first is linear in its
// direction, so that the second is the gradient of the first with respect to that; what the
// direction was does not matter then.
#include "frontend/gradient/walk.h"

#include "frontend/values/builtin.h"
#include "frontend/values/region.h"
#include "frontend/values/rows.h"
#include "ops/shape.h"

// One value, or a list of them.
typedef struct several {
  const ev *items;
  uint32_t count;
  bool list;
} several;

static several several_of(evaluator *e, ev value) {
  if (value.kind == EV_LIST) return (several){value.list->items, value.list->count, true};
  return (several){leat_arena_memdup(e->arena, &value, sizeof value), 1, false};
}

static ev in_form(evaluator *e, several of, const ev *items) {
  return of.list ? ev_take_list(e, items, of.count) : items[0];
}

// NULL: reported.
static leat_value *tensors_of(evaluator *e, several of, leat_span span) {
  leat_value *values = leat_new_array(e->arena, leat_value, (size_t)of.count + 1);
  for (uint32_t i = 0; i < of.count; i++) {
    values[i] = ev_as_tensor(e, of.items[i], -1, span);
    if (!values[i].node) return NULL;
  }
  return values;
}

static bool check_floats(evaluator *e, const leat_value *ys, uint32_t count, leat_span span) {
  for (uint32_t i = 0; i < count; i++) {
    leat_dtype dtype = leat_value_type(ys[i])->dtype;
    if (leat_dtype_in_class(dtype, LEAT_CLASS_INEXACT)) continue;
    ev_fail(e, span, "a derivative is of floats, `%s` is %s", ys[i].node->name,
            leat_dtype_name(dtype));
    return false;
  }
  return true;
}

static bool may_be(const evaluator *e, const leat_type *a, const leat_type *b) {
  if (a->dtype != b->dtype || a->rank != b->rank) return false;
  for (int32_t i = 0; i < a->rank; i++)
    if (!leat_dims_may_be_equal(e->graph, a->dims[i], b->dims[i])) return false;
  return true;
}

// What directions are given, for which argument, as messages call them.
typedef struct role {
  const char *what, *of;
  leat_span span;
} role;

// A direction of the value, which is of its type. EV_ERROR: reported.
static ev direction(evaluator *e, role role, ev given, ev of) {
  const leat_type *type = ev_tensor_type(of);
  leat_value value = ev_as_tensor(e, given, (int)type->dtype, role.span);
  if (!value.node) return ev_error();
  if (!may_be(e, leat_value_type(value), type))
    return ev_fail(e, role.span, "`%s` is of the type of `%s`, %s; found %s", role.what, role.of,
                   leat_type_text(e->arena, type),
                   leat_type_text(e->arena, leat_value_type(value)));
  leat_builder builder = ev_builder(e, role.span);
  return ev_tensor(leat_build_ensure(&builder, value, type));
}

// One for each value. NULL: reported.
static ev *directions(evaluator *e, role role, ev given, several of, const ev *values) {
  several from = of.list ? several_of(e, given) : (several){&given, 1, false};
  ev *out = leat_new_array(e->arena, ev, (size_t)of.count + 1);
  if (from.list != of.list || from.count != of.count) {
    ev_fail(e, role.span, "`%s` is a list of %u, as `%s` is; found %s", role.what, of.count,
            role.of,
            from.list ? leat_arena_printf(e->arena, "one of %u", from.count) : ev_kind_name(given));
    return NULL;
  }
  for (uint32_t i = 0; i < of.count; i++) {
    out[i] = direction(e, role, from.items[i], values[i]);
    if (out[i].kind == EV_ERROR) return NULL;
  }
  return out;
}

static ev *as_values(evaluator *e, const leat_value *tensors, uint32_t count) {
  ev *values = leat_new_array(e->arena, ev, (size_t)count + 1);
  for (uint32_t i = 0; i < count; i++) values[i] = ev_tensor(tensors[i]);
  return values;
}

static const char *call_them(evaluator *e, several ys, const leat_value *tensors) {
  if (ys.count != 1) return "none of the list";
  return leat_arena_printf(e->arena, "`%s`", tensors[0].node->name);
}

// What is differentiated, with respect to what.
typedef struct derivative {
  several ys, xs;
  const leat_value *y;
  ev targets; // the xs
} derivative;

static bool begin(evaluator *e, const ev_builtin_call *call, derivative *out) {
  out->ys = several_of(e, call->args[0]);
  out->xs = several_of(e, call->args[1]);
  out->y = tensors_of(e, out->ys, call->span);
  out->targets = ev_take_list(e, out->xs.items, out->xs.count);
  return out->y && check_floats(e, out->y, out->ys.count, call->span) &&
         ev_check_targets(e, out->targets, false, call->span);
}

ev ev_builtin_vjp(evaluator *e, const ev_builtin_call *call) {
  derivative d;
  if (!begin(e, call, &d)) return ev_error();
  role left = {"u", "y", call->spans[2]};
  const ev *u = directions(e, left, call->args[2], d.ys, as_values(e, d.y, d.ys.count));
  if (!u) return ev_error();
  bool quiet = call->args[3].kind == EV_BOOL && !call->args[3].i;
  const char *of = quiet ? NULL : call_them(e, d.ys, d.y);
  ev_seeds seeds = {d.y, u, d.ys.count};
  ev list = ev_gradient_list(e, &seeds, of, d.targets, call->span);
  return list.kind == EV_LIST ? in_form(e, d.xs, list.list->items) : list;
}

// A direction of its own for each value.
static ev *any_directions(evaluator *e, const leat_value *ys, uint32_t count, leat_span span) {
  ev *out = leat_new_array(e->arena, ev, (size_t)count + 1);
  for (uint32_t i = 0; i < count; i++)
    out[i] = ev_tensor(ev_literal_tensor(e, ev_int(1), leat_value_type(ys[i]), NULL, span));
  return out;
}

ev ev_builtin_jvp(evaluator *e, const ev_builtin_call *call) {
  derivative d;
  if (!begin(e, call, &d)) return ev_error();
  role right = {"v", "x", call->spans[2]};
  const ev *v = directions(e, right, call->args[2], d.xs, d.xs.items);
  if (!v) return ev_error();
  const ev *u = any_directions(e, d.y, d.ys.count, call->span);
  ev_seeds seeds = {d.y, u, d.ys.count};
  ev list = ev_gradient_list(e, &seeds, call_them(e, d.ys, d.y), d.targets, call->span);
  if (list.kind != EV_LIST) return list;
  several gradients = {list.list->items, d.xs.count, true};
  ev_seeds again = {tensors_of(e, gradients, call->span), v, d.xs.count};
  if (!again.ys) return ev_error();
  list = ev_gradient_list(e, &again, NULL, ev_take_list(e, u, d.ys.count), call->span);
  return list.kind == EV_LIST ? in_form(e, d.ys, list.list->items) : list;
}

// What stands in the place of x[i]; no node: an error was said.
static leat_value in_place_of(evaluator *e, leat_value x, ev by, leat_span span) {
  leat_value value = ev_as_tensor(e, by, (int)leat_value_type(x)->dtype, span);
  if (!value.node) return value;
  if (x.node->output_count == 1 && leat_type_equal(leat_value_type(x), leat_value_type(value)))
    return value;
  ev_fail(e, span, "what stands in the place of %s is one, found %s",
          leat_type_text(e->arena, leat_value_type(x)),
          leat_type_text(e->arena, leat_value_type(value)));
  return (leat_value){0};
}

ev ev_builtin_substitute(evaluator *e, const ev_builtin_call *call) {
  several ys = several_of(e, call->args[0]), xs = several_of(e, call->args[1]);
  several by = several_of(e, call->args[2]);
  leat_value *y = tensors_of(e, ys, call->span), *x = tensors_of(e, xs, call->span);
  if (!y || !x) return ev_error();
  if (xs.count != by.count)
    return ev_fail(e, call->span, "%u values stand in the place of %u", by.count, xs.count);
  leat_value *others = leat_new_array(e->arena, leat_value, (size_t)xs.count + 1);
  for (uint32_t i = 0; i < xs.count; i++) {
    others[i] = in_place_of(e, x[i], by.items[i], call->span);
    if (!others[i].node) return ev_error();
  }
  ev_substitute(e, y, ys.count, x, others, xs.count);
  return in_form(e, ys, as_values(e, y, ys.count));
}
