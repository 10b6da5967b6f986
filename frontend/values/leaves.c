// What a region takes and gives: tensors, and lists of them, which are taken apart for its node and
// put together again.
#include "frontend/values/region.h"

#include <string.h>

// Numbers in a list are one tensor.
static bool holds_tensors(ev value) {
  if (value.kind != EV_LIST) return false;
  for (uint32_t i = 0; i < value.list->count; i++)
    if (ev_tensor_type(value.list->items[i]) || holds_tensors(value.list->items[i])) return true;
  return !value.list->count;
}

static ev take_apart(evaluator *e, ev a, ev b, const char *place, ev_leaves *out_a,
                     ev_leaves *out_b) {
  if (a.kind == EV_ERROR || b.kind == EV_ERROR) return ev_error();
  if (!holds_tensors(a) && !holds_tensors(b)) {
    leat_vec_push(e->arena, out_a, (ev_leaf){a, place});
    leat_vec_push(e->arena, out_b, (ev_leaf){b, place});
    return ev_int(out_a->count - 1);
  }
  if (a.kind != EV_LIST || b.kind != EV_LIST || a.list->count != b.list->count) return ev_none();
  uint32_t count = a.list->count;
  ev *items = leat_new_array(e->arena, ev, (size_t)count + 1);
  for (uint32_t i = 0; i < count; i++) {
    const char *inner = leat_arena_printf(e->arena, "%s[%u]", place, i);
    items[i] = take_apart(e, a.list->items[i], b.list->items[i], inner, out_a, out_b);
    if (items[i].kind == EV_NONE || items[i].kind == EV_ERROR) return items[i];
  }
  return ev_take_list(e, items, count);
}

ev ev_take_apart(evaluator *e, ev a, ev b, ev_leaves *out_a, ev_leaves *out_b) {
  return take_apart(e, a, b, "", out_a, out_b);
}

ev ev_put_together(evaluator *e, ev form, const ev *leaves) {
  if (form.kind != EV_LIST) return leaves[form.i];
  ev *items = leat_new_array(e->arena, ev, (size_t)form.list->count + 1);
  for (uint32_t i = 0; i < form.list->count; i++)
    items[i] = ev_put_together(e, form.list->items[i], leaves);
  return ev_take_list(e, items, form.list->count);
}

const char *ev_leaf_name(evaluator *e, const char *name, const ev_leaf *leaf) {
  char *made = leat_arena_memdup(e->arena, leaf->place, strlen(leaf->place) + 1);
  size_t size = 0;
  for (const char *c = leaf->place; *c; c++)
    if (*c != ']') made[size++] = *c == '[' ? '_' : *c;
  made[size] = '\0';
  return leat_intern_printf(e->strings, "%s%s", name, made);
}

const char *ev_form_text(evaluator *e, ev value) {
  const leat_type *type = ev_tensor_type(value);
  if (type) return leat_type_text(e->arena, type);
  if (!holds_tensors(value)) return ev_kind_name(value);
  const char *items = "";
  for (uint32_t i = 0; i < value.list->count; i++)
    items = leat_arena_printf(e->arena, "%s%s%s", items, i ? ", " : "",
                              ev_form_text(e, value.list->items[i]));
  return leat_arena_printf(e->arena, "[%s]", items);
}
