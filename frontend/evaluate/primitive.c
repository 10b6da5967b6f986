// Calls of primitive ops: what the positional and named arguments of a call are to the op, and what
// the attributes are that it leaves out.
#include "frontend/evaluate/calls.h"

#include "base/str.h"
#include "frontend/evaluate/statements.h"
#include "frontend/evaluate/types.h"
#include "frontend/values/region.h"

#include <string.h>

// -- Attributes ---------------------------------------------------------------------------------

typedef struct op_call {
  leat_op op;
  leat_span span;
  const leat_op_info *info;
  ev *args; // inputs, as they are given
  leat_value *inputs;
  uint32_t input_count;
  const ev_argument *all;
  uint32_t all_count;
  const ev_argument *given[LEAT_MAX_ATTRS];
  leat_attr attrs[LEAT_MAX_ATTRS];
  const char *hint;
  const char *place; // that canonical text gives: at="file:line:column"
} op_call;

// Of the first input, which axes are of.
static int32_t rank_of(const op_call *call) {
  bool has_input = call->input_count && call->inputs[0].node;
  return has_input ? leat_value_type(call->inputs[0])->rank : 0;
}

// An axis counted from the end becomes one counted from the front.
static bool normal_axis(evaluator *e, int64_t *axis, int32_t rank, leat_span span) {
  if (*axis < -rank || *axis >= rank) {
    ev_fail(e, span, "there is no axis %lld in a tensor of rank %d", (long long)*axis, rank);
    return false;
  }
  if (*axis < 0) *axis += rank;
  return true;
}

// Ascending and distinct.
static bool sort_axes(evaluator *e, int64_t *axes, uint32_t count, leat_span span) {
  for (uint32_t i = 1; i < count; i++)
    for (uint32_t at = i; at > 0 && axes[at - 1] >= axes[at]; at--) {
      if (axes[at - 1] == axes[at]) {
        ev_fail(e, span, "axis %lld stands there twice", (long long)axes[at]);
        return false;
      }
      int64_t swap = axes[at];
      axes[at] = axes[at - 1];
      axes[at - 1] = swap;
    }
  return true;
}

// As many as a tensor has axes; of a region, of all that it lets grow.
static uint32_t most_items(const op_call *call) {
  return call->info->kind == LEAT_KIND_REGION ? EV_MAX_LIST : LEAT_MAX_RANK;
}

static bool int_list(evaluator *e, const op_call *call, const char *name, ev value, bool axes,
                     leat_span span, leat_attr *out) {
  value = ev_as_known(e, value);
  ev_list one = {.count = 1, .items = &(ev){.kind = EV_INT, .i = value.i}};
  if (value.kind == EV_INT) value = (ev){.kind = EV_LIST, .list = &one};
  if (value.kind != EV_LIST || value.list->count > most_items(call)) {
    ev_fail(e, span,
            "attribute `%s` of `%s`: expected an int or a list of at most %u ints, found %s", name,
            call->info->name, most_items(call),
            value.kind == EV_LIST ? "more" : ev_found_no_int(e, value));
    return false;
  }
  uint32_t count = value.list->count;
  int64_t *ints = leat_new_array(e->arena, int64_t, (size_t)count + 1);
  for (uint32_t i = 0; i < count; i++) {
    ev item = ev_as_known(e, value.list->items[i]);
    if (item.kind != EV_INT) {
      const char *late = item.kind == EV_DIM ? " that is known only while running" : "";
      ev_fail(e, span, "attribute `%s` of `%s`: expected ints, found %s%s", name, call->info->name,
              ev_found_no_int(e, item), late);
      return false;
    }
    ints[i] = item.i;
    if (axes && !normal_axis(e, &ints[i], rank_of(call), span)) return false;
  }
  out->count = count;
  out->ints = ints;
  return !axes || sort_axes(e, ints, count, span);
}

// reshape(x, [2, -1]): the one -1 is what is left of the elements.
static ev fill_hole(evaluator *e, const op_call *call, ev shape, leat_span span) {
  leat_dims *dims = e->graph->dims;
  leat_dim known = leat_dim_const(1), left;
  ev items[LEAT_MAX_RANK], *hole = NULL;
  if (shape.kind != EV_LIST || shape.list->count > LEAT_MAX_RANK) return shape;
  for (uint32_t i = 0; i < shape.list->count; i++) {
    items[i] = ev_as_known(e, shape.list->items[i]);
    if (items[i].kind == EV_INT && items[i].i == -1 && !hole) {
      hole = &items[i];
      continue;
    }
    leat_dim dim;
    if (!ev_as_dim(e, items[i], span, &dim)) return ev_error();
    if (!leat_dim_mul(dims, known, dim, &known)) return shape; // the shape rule says so
  }
  if (!hole) return shape;
  if (leat_dim_is(known, 0) || !leat_type_elements(dims, leat_value_type(call->inputs[0]), &left) ||
      !leat_dim_floordiv(dims, left, known, &left))
    return ev_fail(e, span, "there is no dimension for the -1");
  *hole = ev_of_dim(left);
  return ev_make_list(e, items, shape.list->count);
}

static bool shape_list(evaluator *e, const op_call *call, ev value, leat_span span,
                       leat_attr *out) {
  if (value.kind == EV_TYPE) {
    out->count = (uint32_t)value.type->rank;
    out->dims = value.type->dims;
    return true;
  }
  leat_dim *dims;
  value = ev_as_known(e, value);
  if (call->op == LEAT_OP_reshape && !e->at.absolute) value = fill_hole(e, call, value, span);
  // Padding by a negative number takes elements away.
  bool signed_too = call->op == LEAT_OP_pad || e->at.absolute;
  if (signed_too ? !ev_as_offsets(e, value, most_items(call), span, &dims, &out->count)
                 : !ev_as_dims(e, value, span, &dims, &out->count))
    return false;
  out->dims = dims;
  return true;
}

static bool expect(evaluator *e, const op_call *call, const char *name, ev_kind kind,
                   const char *expected, ev found, leat_span span) {
  if (found.kind == kind) return true;
  ev_fail(e, span, "attribute `%s` of `%s`: expected %s, found %s", name, call->info->name,
          expected, kind == EV_INT ? ev_found_no_int(e, found) : ev_kind_name(found));
  return false;
}

static bool convert_attr(evaluator *e, const op_call *call, int index, leat_attr *out) {
  const leat_attr_info *info = &call->info->attrs[index];
  ev value = call->given[index]->value;
  leat_span span = call->given[index]->span;
  const char *name = info->name;
  // Of users; what a pass has left, the shape rule judges.
  bool axis = !strcmp(name, "axis") && call->op != LEAT_OP_iota && !e->at.absolute;
  switch (info->kind) {
  case LEAT_ATTR_INT:
    value = ev_as_known(e, value);
    out->i = value.i;
    return expect(e, call, name, EV_INT, "an int", value, span) &&
           (!axis || normal_axis(e, &out->i, rank_of(call), span));
  case LEAT_ATTR_BOOL:
    out->i = value.i;
    return expect(e, call, name, EV_BOOL, "a bool", value, span);
  case LEAT_ATTR_STRING:
    if (!expect(e, call, name, EV_STRING, "a string", value, span)) return false;
    if (memchr(value.text, 0, value.size)) {
      ev_fail(e, span, "a string without NUL is wanted here");
      return false;
    }
    out->string = leat_intern_n(e->strings, value.text, value.size);
    return true;
  case LEAT_ATTR_DTYPE:
    out->i = value.i;
    return expect(e, call, name, EV_DTYPE, "a dtype", value, span);
  case LEAT_ATTR_DIM: return (e->at.absolute ? ev_as_offset : ev_as_dim)(e, value, span, &out->dim);
  case LEAT_ATTR_INTS: return int_list(e, call, name, value, axis, span, out);
  case LEAT_ATTR_DIMS: return shape_list(e, call, value, span, out);
  case LEAT_ATTR_TYPE:
    out->type = value.type;
    return expect(e, call, name, EV_TYPE, "a type", value, span);
  case LEAT_ATTR_STATE:
    out->state = value.state;
    return expect(e, call, name, EV_STATE, "a variable", value, span);
  case LEAT_ATTR_GRAPH:
    out->body = value.body;
    return expect(e, call, name, EV_BODY, "a body", value, span);
  case LEAT_ATTR_TENSOR: break;
  }
  ev_fail(e, span, "attribute `%s` of `%s`: write the value itself", name, call->info->name);
  return false;
}

static void ints_of_axes(evaluator *e, leat_attr *out, uint32_t rank, leat_attr_absent which) {
  int64_t *ints = leat_new_array(e->arena, int64_t, (size_t)rank + 1);
  for (uint32_t i = 0; i < rank; i++)
    ints[i] = which == LEAT_ABSENT_ONES ? 1 : which == LEAT_ABSENT_REVERSED ? rank - 1 - i : i;
  out->count = rank;
  out->ints = ints;
}

// 2 (m - 1), the even one of the two lengths that rfft makes m numbers of.
static bool even_length(evaluator *e, const op_call *call, leat_dim *out) {
  int32_t rank = rank_of(call);
  leat_dims *dims = e->graph->dims;
  if (!rank) *out = leat_dim_const(0); // the shape rule says so
  return !rank || (leat_dim_sub(dims, leat_value_type(call->inputs[0])->dims[rank - 1],
                                leat_dim_const(1), out) &&
                   leat_dim_mul(dims, *out, leat_dim_const(2), out));
}

// What random numbers are keyed by. Part of the language: it never changes.
static int64_t path_key(const char *path) {
  return leat_str_hash((leat_str){path, strlen(path)});
}

// What an attribute is when the call does not give it; false: it must be given.
static bool default_attr(evaluator *e, const op_call *call, const leat_attr_info *info,
                         leat_attr *out) {
  int32_t rank = rank_of(call);
  switch (info->absent) {
  case LEAT_ABSENT_REQUIRED: return false;
  case LEAT_ABSENT_ZERO:
  case LEAT_ABSENT_FALSE: out->i = 0; return true;
  case LEAT_ABSENT_TRUE: out->i = 1; return true;
  case LEAT_ABSENT_NONE: out->count = 0; return true;
  case LEAT_ABSENT_EMPTY: out->string = leat_intern(e->strings, ""); return true;
  case LEAT_ABSENT_LEFT: out->string = leat_intern(e->strings, "left"); return true;
  case LEAT_ABSENT_F32: out->i = LEAT_f32; return true;
  case LEAT_ABSENT_I32: out->i = LEAT_i32; return true;
  case LEAT_ABSENT_ALL_AXES:
  case LEAT_ABSENT_REVERSED:
  case LEAT_ABSENT_ONES: ints_of_axes(e, out, (uint32_t)rank, info->absent); return true;
  case LEAT_ABSENT_LAST_AXIS:
  case LEAT_ABSENT_ONLY_AXIS:
    out->i = rank ? rank - 1 : 0;
    return info->absent == LEAT_ABSENT_LAST_AXIS || rank <= 1;
  case LEAT_ABSENT_EVEN_LENGTH: return even_length(e, call, &out->dim);
  case LEAT_ABSENT_PATH:
    out->i =
        path_key(leat_graph_unique_name(e->graph, ev_node_name(e, call->hint, call->info->name)));
    return true;
  }
  return false;
}

static bool set_attrs(evaluator *e, op_call *call) {
  for (int i = 0; i < call->info->attr_count; i++) {
    const ev_argument *given = call->given[i];
    if (given && given->value.kind != EV_NONE) { // none is as if it were not given
      if (!convert_attr(e, call, i, &call->attrs[i])) return false;
    } else if (!default_attr(e, call, &call->info->attrs[i], &call->attrs[i])) {
      ev_fail(e, call->span, "`%s` needs `%s=`", call->info->name, call->info->attrs[i].name);
      return false;
    }
  }
  return true;
}

// -- Arguments ----------------------------------------------------------------------------------

// "2 inputs (x, value)"
static const char *inputs_text(evaluator *e, const op_call *call) {
  const char *names = leat_op_inputs(call->op);
  int count = call->info->min_inputs;
  if (!count) return "no input";
  return leat_arena_printf(e->arena, "%s%d input%s (%s)",
                           call->info->max_inputs == count ? "" : "at least ", count,
                           count == 1 ? "" : "s", names);
}

// "2 attributes (before, after)"
static const char *attrs_text(evaluator *e, const leat_op_info *info) {
  if (!info->attr_count) return "no attribute";
  const char *names = "";
  for (int i = 0; i < info->attr_count; i++) {
    const leat_attr_info *attr = &info->attrs[i];
    bool list = attr->kind == LEAT_ATTR_INTS || attr->kind == LEAT_ATTR_DIMS;
    names = leat_arena_printf(e->arena, "%s%s%s%s", names, i ? ", " : "", attr->name,
                              list ? "=[…]" : "");
  }
  return leat_arena_printf(e->arena, "%d attribute%s (%s)", info->attr_count,
                           info->attr_count == 1 ? "" : "s", names);
}

static bool is_input_name(leat_op op, const char *key) {
  size_t size = strlen(key);
  for (const char *name = leat_op_inputs(op); *name; name += strspn(name, ", ")) {
    size_t length = strcspn(name, ",");
    if (length == size && !memcmp(name, key, size)) return true;
    name += length;
  }
  return false;
}

static bool unknown_attr(evaluator *e, const op_call *call, const ev_argument *arg) {
  if (is_input_name(call->op, arg->key)) {
    ev_fail(e, arg->key_span, "inputs go by position, not by name: `%s(%s)`", call->info->name,
            leat_op_inputs(call->op));
    return false;
  }
  const char *names[LEAT_MAX_ATTRS];
  int count = call->info->attr_count;
  for (int i = 0; i < count; i++) names[i] = call->info->attrs[i].name;
  ev_fail(e, arg->key_span, "`%s` has no attribute `%s`%s", call->info->name, arg->key,
          ev_suggestion(e, arg->key, names, (size_t)count));
  return false;
}

// reshape(x, 2, 3): what is one too many goes into the list that the last attribute is.
static const char *as_one_list(evaluator *e, const op_call *call) {
  const leat_op_info *info = call->info;
  const leat_attr_info *last = info->attr_count ? &info->attrs[info->attr_count - 1] : NULL;
  if (!last || (last->kind != LEAT_ATTR_INTS && last->kind != LEAT_ATTR_DIMS)) return "";
  return ev_as_one_list(e, last->name, call->all, call->all_count,
                        call->input_count + (uint32_t)info->attr_count - 1);
}

static bool give_attr(evaluator *e, op_call *call, const ev_argument *arg, int attr) {
  const leat_op_info *info = call->info;
  if (call->op == LEAT_OP_dim && attr > 0 && arg->value.kind != EV_BOOL) {
    ev_fail(e, arg->span, "`dim` takes a dimension alone; that of a tensor is `shape(x)[0]`");
    return false;
  }
  if (attr >= info->attr_count) {
    ev_fail(e, arg->span, "`%s` takes %s and %s, found more%s", info->name, inputs_text(e, call),
            attrs_text(e, info), as_one_list(e, call));
    return false;
  }
  if (call->given[attr]) {
    ev_fail(e, arg->span, "attribute `%s` of `%s` is given twice", info->attrs[attr].name,
            info->name);
    return false;
  }
  call->given[attr] = arg;
  return true;
}

// Of canonical text: the place in the text that it came from.
static bool give_place(evaluator *e, op_call *call, const ev_argument *arg) {
  if (arg->value.kind != EV_STRING || memchr(arg->value.text, 0, arg->value.size)) {
    ev_fail(e, arg->span, "`at` is a place: at=\"file:line:column\"");
    return false;
  }
  call->place = leat_intern_n(e->strings, arg->value.text, arg->value.size);
  return true;
}

static bool holds_tensor(ev list) {
  for (uint32_t i = 0; i < list.list->count; i++)
    if (list.list->items[i].kind == EV_TENSOR || list.list->items[i].kind == EV_STATE) return true;
  return false;
}

// Positional arguments are the inputs, then attributes in the table's order. Of a variadic op all
// are inputs, a list's items too, but for a string; of a random op none: the count goes by name.
static bool sort_arguments(evaluator *e, op_call *call, const ev_argument *args, uint32_t count) {
  bool random = ev_is_random(call->op) && !e->at.absolute;
  bool variadic = call->info->max_inputs == LEAT_ANY_INPUTS;
  int next_attr = random ? 2 : 0; // seed and key go by name
  for (uint32_t i = 0; i < count; i++) {
    const ev_argument *arg = &args[i];
    bool room = variadic ? arg->value.kind != EV_STRING
                         : !random && call->input_count < (uint32_t)call->info->max_inputs;
    if (arg->key && random && !strcmp(arg->key, "count") && !call->input_count) {
      call->args[call->input_count++] = arg->value;
    } else if (arg->key && e->at.absolute && !strcmp(arg->key, "at")) {
      if (!give_place(e, call, arg)) return false;
    } else if (arg->key) {
      int attr = leat_op_attr_index(call->op, arg->key);
      if (attr < 0) return unknown_attr(e, call, arg);
      if (!give_attr(e, call, arg, attr)) return false;
    } else if (variadic && arg->value.kind == EV_LIST && holds_tensor(arg->value)) {
      for (uint32_t k = 0; k < arg->value.list->count; k++)
        call->args[call->input_count++] = arg->value.list->items[k];
    } else if (room) {
      call->args[call->input_count++] = arg->value;
    } else if (!give_attr(e, call, arg, next_attr++)) {
      return false;
    }
  }
  return true;
}

static bool has_no_tensor(ev value) {
  static const ev_kind kinds[] = {EV_NONE, EV_DTYPE, EV_TYPE, EV_FUNCTION, EV_ENTRY, EV_BODY};
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
    if (ev_has_kind(value, kinds[i])) return true;
  return false;
}

// What print and assert show: the first string is the message; all else is a tensor, whatever the
// dtypes of the others are; what cannot be one, such as a dtype, becomes a string. NULL: reported.
static const ev_argument *as_shown(evaluator *e, const ev_argument *args, uint32_t count) {
  ev_argument *shown = leat_arena_memdup(e->arena, args, count * sizeof *args);
  bool has_message = false;
  for (uint32_t i = 0; i < count; i++) has_message = has_message || args[i].key;
  for (uint32_t i = 0; i < count; i++) {
    ev *value = &shown[i].value;
    bool message = value->kind == EV_STRING && !has_message;
    has_message = has_message || message;
    if (message || args[i].key) continue;
    leat_text text = {0};
    if (has_no_tensor(*value)) {
      ev_print(*value, &text);
      *value = ev_take_text(e, &text, true, args[i].span);
    }
    if (value->kind == EV_LIST && holds_tensor(*value)) continue;
    *value = ev_tensor(ev_as_tensor(e, *value, -1, args[i].span));
    value->typed = true;
    if (value->kind == EV_ERROR) return NULL;
  }
  return shown;
}

static uint32_t room_for_inputs(const ev_argument *args, uint32_t count) {
  uint32_t room = count + 1;
  for (uint32_t i = 0; i < count; i++)
    if (args[i].value.kind == EV_LIST) room += args[i].value.list->count;
  return room;
}

// random_bits and permutation count by run_count() unless told; in an initialiser by 0.
static void default_count(evaluator *e, op_call *call) {
  if (!ev_is_random(call->op) || call->input_count) return;
  call->args[0] = e->at.initialising || !e->at.entry
                      ? ev_int(0)
                      : ev_op(e, LEAT_OP_run_count, NULL, 0, NULL, call->span, NULL);
  call->input_count = 1;
}

// In a loop it counts the iterations, too.
static void count_iterations(evaluator *e, op_call *call) {
  if (ev_is_random(call->op)) call->args[0] = ev_region_count(e, call->args[0], call->span);
}

static bool check_count(evaluator *e, const op_call *call) {
  if (call->input_count >= (uint32_t)call->info->min_inputs) return true;
  ev_fail(e, call->span, "`%s` takes %s, found %u", call->info->name, inputs_text(e, call),
          call->input_count);
  return false;
}

// read, assign and assign_add by name keep the order of the text as statements do.
static ev state_op(evaluator *e, op_call *call) {
  if (!set_attrs(e, call)) return ev_error();
  leat_state *state = call->attrs[0].state;
  if (call->op == LEAT_OP_read) return ev_read_as(e, state, call->hint, call->span);
  leat_value value = ev_as_tensor(e, call->args[0], (int)state->type.dtype, call->span);
  bool done = value.node && ev_write(e, call->op, state, value, call->hint, call->span);
  return done ? ev_nothing() : ev_error();
}

// A real number is its own real part.
static bool is_real(ev value) {
  const leat_type *type = ev_tensor_type(value);
  if (type) return type->dtype != LEAT_str && !leat_dtype_in_class(type->dtype, LEAT_CLASS_COMPLEX);
  return !ev_has_kind(value, EV_COMPLEX) && !ev_has_kind(value, EV_STRING);
}

static bool is_truth(ev value) {
  const leat_type *type = ev_tensor_type(value);
  return type && type->dtype == LEAT_bool;
}

// What a call of an op stands for where NumPy's function of the name is more than the op: its other
// `where`, how many of a bool are true, parts of real numbers. NULL: the op.
static const char *stands_for(leat_op op, const ev_argument *args, uint32_t count) {
  if (op == LEAT_OP_sum && count && is_truth(args[0].value)) return "count_nonzero";
  if (count != 1 || args[0].key) return NULL;
  if (op == LEAT_OP_where) return "nonzero";
  if (op == LEAT_OP_real && is_real(args[0].value)) return "identity";
  return op == LEAT_OP_imag && is_real(args[0].value) ? "zeros_like" : NULL;
}

static ev for_dumps(evaluator *e, leat_op op, leat_span span) {
  return ev_fail(e, span, "dumps write `%s(…)`, who writes a text `%s`", leat_op_name(op),
                 op == LEAT_OP_while_loop
                     ? "t, h = while (t = 0, h = x) t < n { … next t + 1, h * 2 }"
                     : "y = if p { … yield x } else { … yield z }");
}

// Numbers that are cast to what holds more are computed in that.
static void settle_cast(evaluator *e, op_call *call) {
  const ev_argument *to = call->given[leat_op_attr_index(LEAT_OP_cast, "dtype")];
  ev *x = &call->args[0];
  if (!to || to->value.kind != EV_DTYPE || !ev_is_weak(e, *x)) return;
  leat_dtype from = leat_value_type(x->tensor)->dtype, dtype = (leat_dtype)to->value.i;
  bool more = ev_rank_of(dtype) > ev_rank_of(from) || ev_holds_more(from, dtype);
  if (more && ev_rank_of(from) > 1) *x = ev_tensor(ev_settle(e, x->tensor, dtype, call->span));
}

// It has the dtype that nobody wrote, or one that numbers have.
static bool gives_number(const evaluator *e, const op_call *call) {
  int at = leat_op_attr_index(call->op, "dtype");
  if (at < 0 || ev_is_random(call->op)) return false;
  const ev_argument *dtype = call->given[at];
  for (uint32_t i = 0; i < call->input_count; i++)
    if (!ev_is_weak(e, call->args[i]) && !ev_is_of_numbers(e, call->args[i])) return false;
  return dtype ? dtype->value.weak : !call->input_count;
}

static void note_number(evaluator *e, const op_call *call, leat_value result) {
  bool runs = call->input_count && ev_runs(e, call->inputs[0]);
  if (runs)
    ev_make_carried(e, result, NULL);
  else
    ev_make_weak(e, result, ev_none());
}

ev ev_call_op(evaluator *e, leat_op op, const ev_argument *args, uint32_t count, leat_span span,
              const char *hint) {
  const char *other = e->at.absolute ? NULL : stands_for(op, args, count);
  if (other) return ev_call(e, ev_find_library(e, other), args, count, span, NULL, hint);
  if (leat_op_info_of(op)->kind == LEAT_KIND_REGION && !e->at.absolute)
    return for_dumps(e, op, span);
  op_call call = {.op = op,
                  .span = span,
                  .info = leat_op_info_of(op),
                  .all = args,
                  .all_count = count,
                  .hint = hint};
  uint32_t room = room_for_inputs(args, count);
  call.args = leat_new_array(e->arena, ev, room);
  call.inputs = leat_new_array(e->arena, leat_value, room);
  bool shows = (op == LEAT_OP_print || op == LEAT_OP_assert) && !e->at.absolute;
  if (shows) args = as_shown(e, args, count);
  if (!args || !sort_arguments(e, &call, args, count)) return ev_error();
  default_count(e, &call);
  if (!check_count(e, &call)) return ev_error();
  if (op == LEAT_OP_assert && !e->at.absolute && ev_holds(call.args[0])) return ev_nothing();
  count_iterations(e, &call);
  if ((call.info->flags & LEAT_FLAG_STATE) && !e->at.absolute) return state_op(e, &call);
  if (op == LEAT_OP_cast) settle_cast(e, &call);
  bool weak;
  if (!ev_as_inputs(e, op, call.args, call.input_count, span, call.inputs, &weak) ||
      !set_attrs(e, &call))
    return ev_error();
  e->at.place = call.place;
  ev result = ev_build(e, op, call.inputs, call.input_count, call.attrs, span, hint);
  e->at.place = NULL;
  if (weak) ev_note_weak(e, result, call.inputs, call.input_count);
  if (result.kind == EV_TENSOR && gives_number(e, &call)) note_number(e, &call, result.tensor);
  bool gives = result.kind != EV_TENSOR || result.tensor.node->output_count;
  return gives ? result : ev_nothing();
}
