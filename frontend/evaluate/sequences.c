// Lists and strings while compiling: items, slices, and the functions that take them apart and join
// them. A string is a sequence of bytes.
#include "frontend/evaluate/calls.h"

#include "base/str.h"
#include "frontend/evaluate/statements.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int64_t length_of(ev sequence) {
  return sequence.kind == EV_LIST ? (int64_t)sequence.list->count : (int64_t)sequence.size;
}

static const char *noun(ev sequence) {
  return sequence.kind == EV_LIST ? "list" : "string";
}

static ev item_at(evaluator *e, ev sequence, int64_t i) {
  return sequence.kind == EV_LIST ? sequence.list->items[i] : ev_text(e, sequence.text + i, 1);
}

// -- Items and slices ---------------------------------------------------------------------------

// A part of a slice, which is an int; `otherwise` when it is not written or `none`.
static bool slice_part(evaluator *e, const leat_expr *expr, ev sequence, int64_t otherwise,
                       int64_t *out) {
  ev value = expr ? ev_expr(e, expr, NULL) : ev_none();
  if (value.kind == EV_INT || value.kind == EV_NONE)
    *out = value.kind == EV_INT ? value.i : otherwise;
  else if (value.kind != EV_ERROR)
    ev_fail(e, expr->span, "a %s is sliced by ints, found %s", noun(sequence),
            ev_found_no_int(e, value));
  return value.kind == EV_INT || value.kind == EV_NONE;
}

// A bound counted from the end or outside becomes the nearest one that a slice of this direction
// has.
static int64_t clamp_bound(int64_t bound, int64_t count, bool down) {
  int64_t low = down ? -1 : 0, high = down ? count - 1 : count;
  if (bound < 0) bound += count;
  return bound < low ? low : bound > high ? high : bound;
}

static ev pick(evaluator *e, ev sequence, int64_t begin, int64_t size, int64_t step) {
  if (sequence.kind == EV_LIST && step == 1)
    return ev_take_list(e, sequence.list->items + begin, (uint32_t)size);
  if (!ev_spend(e, (uint64_t)size / 64, e->span)) return ev_error();
  if (sequence.kind == EV_STRING) {
    char *text = leat_arena_alloc(e->arena, (size_t)size + 1);
    for (int64_t i = 0; i < size; i++) text[i] = sequence.text[begin + i * step];
    return ev_text(e, text, (size_t)size);
  }
  ev *items = leat_new_array(e->arena, ev, (size_t)size + 1);
  for (int64_t i = 0; i < size; i++) items[i] = sequence.list->items[begin + i * step];
  return ev_take_list(e, items, (uint32_t)size);
}

static ev slice(evaluator *e, const leat_expr *item, ev sequence) {
  int64_t count = length_of(sequence), begin, end, step;
  if (!slice_part(e, item->step, sequence, 1, &step)) return ev_error();
  if (step == 0) return ev_fail(e, item->step->span, "a slice's step is an int, not 0");
  bool down = step < 0;
  if (!slice_part(e, item->begin, sequence, down ? INT64_MAX : 0, &begin) ||
      !slice_part(e, item->end, sequence, down ? INT64_MIN : INT64_MAX, &end))
    return ev_error();
  begin = clamp_bound(begin, count, down);
  end = end == INT64_MIN ? -1 : clamp_bound(end, count, down);
  uint64_t way = down ? (uint64_t)(begin - end) : (uint64_t)(end - begin);
  uint64_t stride = down ? 0 - (uint64_t)step : (uint64_t)step;
  bool empty = down ? begin <= end : begin >= end;
  int64_t size = empty ? 0 : (int64_t)((way - 1) / stride + 1);
  return pick(e, sequence, size ? begin : 0, size, size > 1 ? step : 1);
}

ev ev_item(evaluator *e, const leat_expr *item, ev sequence) {
  ev index = ev_expr(e, item, NULL);
  if (index.kind == EV_ERROR) return index;
  if (index.kind != EV_INT)
    return ev_fail(e, item->span, "a %s is indexed by an int, found %s", noun(sequence),
                   ev_found_no_int(e, index));
  int64_t count = length_of(sequence), i = index.i < 0 ? index.i + count : index.i;
  if (i >= 0 && i < count) return item_at(e, sequence, i);
  return ev_fail(e, item->span, "index %lld of a %s of %lld", (long long)index.i, noun(sequence),
                 (long long)count);
}

ev ev_index_sequence(evaluator *e, const leat_expr *expr, ev sequence) {
  if (expr->items.count != 1)
    return ev_fail(e, expr->span, "a %s has one index, found %u", noun(sequence),
                   expr->items.count);
  const leat_expr *item = expr->items.items[0];
  return item->kind == LEAT_EXPR_SLICE ? slice(e, item, sequence) : ev_item(e, item, sequence);
}

// -- Operators ----------------------------------------------------------------------------------

static ev append_lists(evaluator *e, ev left, ev right) {
  uint32_t a = left.list->count, b = right.list->count;
  ev *items = ev_new_items(e, (uint64_t)a + b);
  if (!items) return ev_error();
  if (a) memcpy(items, left.list->items, a * sizeof *items);
  if (b) memcpy(items + a, right.list->items, b * sizeof *items);
  return ev_take_list(e, items, a + b);
}

static ev append_strings(evaluator *e, ev left, ev right, leat_span span) {
  size_t size = left.size + right.size;
  if (size > EV_MAX_STRING)
    return ev_fail(e, span, "a string of more than %d bytes", EV_MAX_STRING);
  if (!ev_spend(e, size / 64, span)) return ev_error();
  char *text = leat_arena_alloc(e->arena, size + 1);
  memcpy(text, left.text, left.size);
  memcpy(text + left.size, right.text, right.size);
  text[size] = '\0';
  return (ev){.kind = EV_STRING, .text = text, .size = size};
}

ev ev_append(evaluator *e, ev left, ev right, leat_span span) {
  return left.kind == EV_LIST ? append_lists(e, left, right) : append_strings(e, left, right, span);
}

static leat_str str_of(ev string) {
  return (leat_str){string.text, string.size};
}

int ev_compare_strings(ev left, ev right) {
  return leat_str_compare(str_of(left), str_of(right));
}

// -- Functions ----------------------------------------------------------------------------------

static bool expect_string(evaluator *e, const ev_builtin_call *call, const char *what, ev value) {
  if (value.kind == EV_STRING) return true;
  ev_fail(e, call->span, "%s is a string, found %s", what, ev_kind_name(value));
  return false;
}

ev ev_builtin_len(evaluator *e, const ev_builtin_call *call) {
  ev value = call->args[0];
  if (value.kind == EV_LIST || value.kind == EV_STRING) return ev_int(length_of(value));
  return ev_fail(e, call->span, "`len` counts a list or a string, found %s%s", ev_kind_name(value),
                 ev_is_tensor(value) ? "; `shape(x)[0]` is its first dimension" : "");
}

ev ev_builtin_str_find(evaluator *e, const ev_builtin_call *call) {
  ev text = call->args[0], part = call->args[1];
  if (ev_is_tensor(text) || ev_is_tensor(part))
    return ev_op(e, LEAT_OP_str_find, call->args, 2, NULL, call->span, call->hint);
  if (!expect_string(e, call, "what `str_find` searches", text) ||
      !expect_string(e, call, "what `str_find` looks for", part))
    return ev_error();
  if (!ev_spend(e, text.size / 64, call->span)) return ev_error();
  return ev_int(leat_str_find(str_of(text), str_of(part), 0));
}

// What is split must be strings, and the separator one string.
static bool expect_strings(evaluator *e, leat_span span, const char *what, ev value, bool one) {
  const leat_type *type = ev_tensor_type(value);
  if (value.kind == EV_STRING || (type && type->dtype == LEAT_str && !(one && type->rank)))
    return true;
  ev_fail(e, span, "%s is %s, found %s", what, one ? "a string" : "of strings",
          type ? leat_type_text(e->arena, type) : ev_kind_name(value));
  return false;
}

// Of a tensor the library's `split_tensor`.
ev ev_builtin_str_split(evaluator *e, const ev_builtin_call *call) {
  ev text = call->args[0], separator = call->args[1];
  if (ev_is_tensor(text) || ev_is_tensor(separator)) {
    if (!expect_strings(e, call->spans[0], "what `str_split` splits", text, false) ||
        !expect_strings(e, call->spans[1], "the separator of `str_split`", separator, true))
      return ev_error();
    ev_argument args[] = {{.value = text, .span = call->spans[0]},
                          {.value = separator, .span = call->spans[1]}};
    return ev_call(e, ev_find_library(e, "split_tensor"), args, 2, call->span, NULL, call->hint);
  }
  if (!expect_string(e, call, "what `str_split` splits", text) ||
      !expect_string(e, call, "the separator of `str_split`", separator))
    return ev_error();
  if (!separator.size) return ev_fail(e, call->span, "the separator of `str_split` is empty");
  int64_t count = leat_str_split(str_of(text), str_of(separator), NULL, 0);
  if (!ev_spend(e, (uint64_t)count, call->span)) return ev_error();
  ev *items = ev_new_items(e, (uint64_t)count);
  if (!items) return ev_error();
  leat_str *parts = leat_new_array(e->arena, leat_str, (size_t)count);
  leat_str_split(str_of(text), str_of(separator), parts, count);
  for (int64_t i = 0; i < count; i++) items[i] = ev_text(e, parts[i].data, parts[i].size);
  return ev_take_list(e, items, (uint32_t)count);
}

// Of a tensor: along an axis, the last one unless told.
static ev join_tensor(evaluator *e, const ev_builtin_call *call) {
  leat_value tensor = ev_as_tensor(e, call->args[0], LEAT_str, call->span);
  ev axis = call->args[2];
  if (!tensor.node) return ev_error();
  int32_t rank = leat_value_type(tensor)->rank;
  if (axis.kind != EV_INT && axis.kind != EV_NONE)
    return ev_fail(e, call->span, "an axis is an int, found %s", ev_found_no_int(e, axis));
  int64_t wanted = axis.kind == EV_INT ? axis.i : -1;
  leat_attr attr = {.i = wanted < 0 ? wanted + rank : wanted};
  ev inputs[] = {ev_tensor(tensor), call->args[1]};
  return ev_op(e, LEAT_OP_join_strings, inputs, 2, &attr, call->span, NULL);
}

ev ev_builtin_str_join(evaluator *e, const ev_builtin_call *call) {
  ev list = call->args[0], separator = call->args[1];
  bool tensors = ev_is_tensor(list) || ev_is_tensor(separator);
  if (tensors || call->args[2].kind != EV_NONE) return join_tensor(e, call);
  if (list.kind != EV_LIST)
    return ev_fail(e, call->span, "`str_join` joins a list of strings, found %s",
                   ev_kind_name(list));
  if (!expect_string(e, call, "the separator of `str_join`", separator)) return ev_error();
  leat_text text = {0};
  bool ok = true;
  for (uint32_t i = 0; i < list.list->count && ok && text.size <= EV_MAX_STRING; i++) {
    ev item = list.list->items[i];
    ok = expect_string(e, call, "what `str_join` joins", item);
    if (ok && i) leat_text_add_n(&text, separator.text, separator.size);
    if (ok) leat_text_add_n(&text, item.text, item.size);
  }
  return ev_take_text(e, &text, ok, call->span);
}

static ev parse_int(evaluator *e, const ev_builtin_call *call, ev text) {
  char *end = NULL;
  errno = 0;
  long long value = strtoll(text.text, &end, 10);
  bool number = text.size && !isspace((unsigned char)text.text[0]) && end == text.text + text.size;
  if (number && !errno) return ev_int(value);
  return ev_fail(e, call->span, "\"%.40s\" is no int of 64 bits", text.text);
}

// int("12") · int(2.7), which drops the fraction
ev ev_builtin_int(evaluator *e, const ev_builtin_call *call) {
  ev value = call->args[0];
  if (value.kind == EV_STRING) return parse_int(e, call, value);
  if (value.kind == EV_INT || value.kind == EV_DIM) return value;
  if (value.kind == EV_BOOL) return ev_int(value.i);
  if (value.kind != EV_FLOAT)
    return ev_fail(e, call->span, "`int` is of a compile-time number or a string, found %s%s",
                   ev_kind_name(value), ev_is_tensor(value) ? "; `cast(x, i32)` converts it" : "");
  if (!(value.f > -0x1p63 && value.f < 0x1p63))
    return ev_fail(e, call->span, "%g is no int of 64 bits", value.f);
  return ev_int((int64_t)value.f);
}
