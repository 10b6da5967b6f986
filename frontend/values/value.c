// Compile-time values: making, comparing and printing them, and the limits on how much of them one
// text may make.
#include "frontend/values/value.h"

#include "frontend/values/names.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

ev ev_error(void) {
  return (ev){.kind = EV_ERROR};
}

ev ev_none(void) {
  return (ev){.kind = EV_NONE};
}

ev ev_nothing(void) {
  return (ev){.kind = EV_NONE, .i = 1};
}

bool ev_is_nothing(ev value) {
  return value.kind == EV_NONE && value.i;
}

ev ev_int(int64_t value) {
  return (ev){.kind = EV_INT, .i = value};
}

ev ev_float(double value) {
  return (ev){.kind = EV_FLOAT, .f = value};
}

ev ev_complex(double re, double im) {
  return (ev){.kind = EV_COMPLEX, .re = re, .im = im};
}

ev ev_bool(bool value) {
  return (ev){.kind = EV_BOOL, .i = value};
}

ev ev_text(evaluator *e, const char *text, size_t size) {
  return (ev){.kind = EV_STRING, .text = leat_arena_strndup(e->arena, text, size), .size = size};
}

ev ev_take_text(evaluator *e, leat_text *text, bool ok, leat_span span) {
  ev result = ev_error();
  if (text->size > EV_MAX_STRING)
    ev_fail(e, span, "a string of more than %d bytes", EV_MAX_STRING);
  else if (ok && ev_spend(e, text->size / 64, span))
    result = ev_text(e, text->data ? text->data : "", text->size);
  leat_text_finish(text);
  return result;
}

ev ev_tensor(leat_value value) {
  return value.node ? (ev){.kind = EV_TENSOR, .tensor = value} : ev_error();
}

ev ev_of_dim(leat_dim dim) {
  return leat_dim_is_const(dim) ? ev_int(dim.value) : (ev){.kind = EV_DIM, .dim = dim};
}

ev ev_of_state(leat_state *state) {
  return (ev){.kind = EV_STATE, .state = state};
}

// -- Lists --------------------------------------------------------------------------------------

static ev fail_list(evaluator *e) {
  e->stopped = true;
  return ev_fail(e, e->span, "a list of more than %d values, or nested more than %d deep",
                 EV_MAX_LIST, EV_MAX_LIST_HEIGHT);
}

ev *ev_new_items(evaluator *e, uint64_t count) {
  if (count <= EV_MAX_LIST) return leat_new_array(e->arena, ev, count + 1);
  fail_list(e);
  return NULL;
}

ev ev_take_list(evaluator *e, const ev *items, uint32_t count) {
  uint64_t weight = count;
  uint32_t height = 1;
  for (uint32_t i = 0; i < count; i++) {
    if (items[i].kind == EV_ERROR) return ev_error();
    if (items[i].kind != EV_LIST) continue;
    weight += items[i].list->weight;
    if (items[i].list->height >= height) height = items[i].list->height + 1;
  }
  if (weight > EV_MAX_LIST || height > EV_MAX_LIST_HEIGHT) return fail_list(e);
  if (!ev_spend(e, count, e->span)) return ev_error();
  ev_list *list = leat_new(e->arena, ev_list);
  *list = (ev_list){.count = count, .items = items, .weight = (uint32_t)weight, .height = height};
  return (ev){.kind = EV_LIST, .list = list};
}

ev ev_make_list(evaluator *e, const ev *items, uint32_t count) {
  return ev_take_list(e, leat_arena_memdup(e->arena, items, count * sizeof *items), count);
}

ev ev_with_items(evaluator *e, ev value, ev (*change)(void *context, ev item), void *context) {
  if (value.kind != EV_LIST) return change(context, value);
  ev_list *list = leat_arena_memdup(e->arena, value.list, sizeof *list);
  ev *items = leat_new_array(e->arena, ev, (size_t)list->count + 1);
  for (uint32_t i = 0; i < list->count; i++)
    items[i] = ev_with_items(e, list->items[i], change, context);
  list->items = items;
  value.list = list;
  return value;
}

ev ev_take_results(evaluator *e, const ev *items, uint32_t count) {
  ev list = ev_take_list(e, items, count);
  if (list.kind == EV_LIST) ((ev_list *)list.list)->results = true;
  return list;
}

// -- Asking -------------------------------------------------------------------------------------

bool ev_is_literal(ev value) {
  return value.kind == EV_INT || value.kind == EV_FLOAT || value.kind == EV_COMPLEX ||
         value.kind == EV_BOOL;
}

bool ev_is_tensor(ev value) {
  return value.kind == EV_TENSOR || value.kind == EV_STATE || value.kind == EV_ROWS;
}

bool ev_takes_dtype(ev value) {
  return ev_is_literal(value) || value.kind == EV_LIST || value.kind == EV_DIM;
}

const leat_type *ev_tensor_type(ev value) {
  switch ((int)value.kind) {
  case EV_TENSOR: return leat_value_type(value.tensor);
  case EV_STATE: return &value.state->type;
  case EV_ROWS: return &value.rows->type;
  }
  return NULL;
}

const char *ev_kind_name(ev value) {
  switch (value.kind) {
  case EV_ERROR: return "an error";
  case EV_NONE: return ev_is_nothing(value) ? "a call that gives no value" : "none";
  case EV_TENSOR: return "a tensor";
  case EV_INT: return "an int";
  case EV_FLOAT: return "a float";
  case EV_COMPLEX: return "a complex number";
  case EV_BOOL: return "a bool";
  case EV_STRING: return "a string";
  case EV_DTYPE: return "a dtype";
  case EV_TYPE: return "a type";
  case EV_DIM: return "a dimension";
  case EV_FUNCTION: return "a function";
  case EV_LIST: return "a list";
  case EV_STATE: return "a variable";
  case EV_ROWS: return "sparse rows";
  case EV_ENTRY: return "an entry";
  case EV_BODY: return "a body";
  }
  return "?";
}

const char *ev_found_no_int(evaluator *e, ev value) {
  bool tensor = value.kind == EV_TENSOR;
  bool quotient = tensor ? leat_is_quotient(value.tensor) : value.quotient;
  if (!quotient) return ev_kind_name(value);
  return leat_arena_printf(e->arena, "%s" LEAT_QUOTIENT_HINT,
                           tensor ? leat_type_text(e->arena, leat_value_type(value.tensor))
                                  : ev_kind_name(value));
}

bool ev_equal(ev a, ev b) {
  if (a.kind != b.kind) {
    bool numbers =
        (a.kind == EV_INT && b.kind == EV_FLOAT) || (a.kind == EV_FLOAT && b.kind == EV_INT);
    return numbers && (a.kind == EV_INT ? (double)a.i == b.f : a.f == (double)b.i);
  }
  switch (a.kind) {
  case EV_ERROR:
  case EV_NONE: return true;
  case EV_TENSOR: return a.tensor.node == b.tensor.node && a.tensor.port == b.tensor.port;
  case EV_INT:
  case EV_BOOL:
  case EV_DTYPE: return a.i == b.i;
  case EV_FLOAT: return a.f == b.f;
  case EV_COMPLEX: return a.re == b.re && a.im == b.im;
  case EV_STRING: return a.size == b.size && !memcmp(a.text, b.text, a.size);
  case EV_TYPE: return leat_type_equal(a.type, b.type);
  case EV_DIM: return leat_dim_equal(a.dim, b.dim);
  case EV_FUNCTION: return a.function == b.function;
  case EV_STATE: return a.state == b.state;
  case EV_ROWS: return a.rows == b.rows;
  case EV_ENTRY: return a.entry == b.entry;
  case EV_BODY: return a.body == b.body;
  case EV_LIST:
    if (a.list->count != b.list->count) return false;
    for (uint32_t i = 0; i < a.list->count; i++)
      if (!ev_equal(a.list->items[i], b.list->items[i])) return false;
    return true;
  }
  return false;
}

static void print_list(const ev_list *list, leat_text *out) {
  leat_text_add(out, "[");
  for (uint32_t i = 0; i < list->count && out->size <= EV_MAX_STRING; i++) {
    if (i) leat_text_add(out, ", ");
    ev_print(list->items[i], out);
  }
  leat_text_add(out, "]");
}

void ev_print(ev value, leat_text *out) {
  switch (value.kind) {
  case EV_ERROR:
  case EV_NONE: leat_text_add(out, "none"); return;
  case EV_TENSOR: leat_text_add(out, "%s", value.tensor.node->name); return;
  case EV_INT: leat_text_add(out, "%lld", (long long)value.i); return;
  case EV_FLOAT: leat_text_add_f64(out, value.f); return;
  case EV_COMPLEX:
    leat_text_add(out, "complex(");
    leat_text_add_f64(out, value.re);
    leat_text_add(out, ", ");
    leat_text_add_f64(out, value.im);
    leat_text_add(out, ")");
    return;
  case EV_BOOL: leat_text_add(out, value.i ? "true" : "false"); return;
  case EV_STRING: leat_text_add_quoted(out, value.text, value.size); return;
  case EV_DTYPE: leat_text_add(out, "%s", leat_dtype_name((leat_dtype)value.i)); return;
  case EV_TYPE: leat_type_print(value.type, out); return;
  case EV_DIM: leat_dim_print(value.dim, out); return;
  case EV_FUNCTION: leat_text_add(out, "%s", value.function->name); return;
  case EV_STATE: leat_text_add(out, "%s", value.state->name); return;
  case EV_ROWS: leat_text_add(out, "sparse rows"); return;
  case EV_ENTRY: leat_text_add(out, "%s", value.entry->name); return;
  case EV_BODY: leat_text_add_string(out, "fn"); return;
  case EV_LIST: print_list(value.list, out); return;
  }
}

// -- Errors and limits --------------------------------------------------------------------------

bool ev_in_library(const ev_frame *frame) {
  return frame->function && frame->function->library;
}

leat_span ev_place(const evaluator *e, leat_span span) {
  // A function of the user's may be called by one of the library.
  for (const ev_frame *f = e->frame; f; f = f->caller)
    if (ev_in_library(f) && span.source == f->function->definition->span.source) span = f->call;
  return span;
}

ev ev_fail(evaluator *e, leat_span span, const char *format, ...) {
  char message[1024];
  va_list args;
  va_start(args, format);
  vsnprintf(message, sizeof message, format, args);
  va_end(args);
  leat_error_at(e->diag, ev_place(e, span), "%s", message);
  if (leat_diag_errors(e->diag) - e->errors >= EV_MAX_ERRORS) e->stopped = true;
  return ev_error();
}

bool ev_failed(const evaluator *e) {
  return leat_diag_errors(e->diag) > e->errors;
}

const char *ev_suggestion(evaluator *e, const char *name, const char *const *candidates,
                          size_t count) {
  enum { MOST_LISTED = 12 };
  if (leat_diag_is_full(e->diag)) return ""; // nobody would read it
  const char *near = leat_nearest(name, candidates, count);
  if (near) return leat_arena_printf(e->arena, "; did you mean `%s`?", near);
  if (count > MOST_LISTED) return "";
  const char *listed = "";
  for (size_t i = 0; i < count; i++) {
    const char *before = i == 0          ? (count == 1 ? "; there is" : "; there are")
                         : i + 1 < count ? ","
                                         : " and";
    listed = leat_arena_printf(e->arena, "%s%s `%s`", listed, before, candidates[i]);
  }
  return listed;
}

bool ev_spend(evaluator *e, uint64_t steps, leat_span span) {
  if (e->stopped) return false;
  e->steps += steps;
  uint64_t most = e->options.most_steps ? e->options.most_steps : EV_MAX_STEPS;
  uint32_t inside = e->at.body == e->graph ? 0 : e->at.body->nodes.count;
  bool many = e->graph->nodes.count - e->nodes + inside > EV_MAX_NODES;
  bool interrupted = e->options.is_interrupted && e->options.is_interrupted(e->options.context);
  bool large = leat_arena_used(e->arena) - e->used > LEAT_MAX_TEXT_MEMORY;
  if (e->steps <= most && !many && !large && !interrupted) return true;
  e->stopped = true;
  if (interrupted)
    ev_fail(e, span, "interrupted");
  else if (many)
    ev_fail(e, span, "a text of more than %d operations", EV_MAX_NODES);
  else if (e->steps > most)
    ev_fail(e, span, "compile time takes more than %llu statements, calls and list items",
            (unsigned long long)most);
  else
    ev_fail(e, span, "compile time takes more than %zu GB of memory", LEAT_MAX_TEXT_MEMORY >> 30);
  return false;
}
