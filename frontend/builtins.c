// Compile-time functions: what the language needs to know of values, types and the cluster.
#include "frontend/evaluator.h"

#include "base/npy.h"
#include "base/safetensors.h"

#include <math.h>
#include <string.h>

ev ev_builtin_argument(const ev_builtin_call *call, uint32_t position, const char *key) {
  for (uint32_t i = 0, p = 0; i < call->count; i++) {
    const ev_argument *arg = &call->args[i];
    if (arg->key ? !strcmp(arg->key, key) : p++ == position) return arg->value;
  }
  return (ev){.kind = EV_NONE};
}

// The arguments are exactly `count` positional ones.
static bool takes(evaluator *e, const ev_builtin_call *call, const char *name, uint32_t count) {
  bool positional = true;
  for (uint32_t i = 0; i < call->count; i++) positional = positional && !call->args[i].key;
  if (positional && call->count == count) return true;
  ev_fail(e, call->span, "`%s` takes %u argument%s by position, found %u", name, count,
          count == 1 ? "" : "s", call->count);
  return false;
}

static const leat_type *type_of(ev value) {
  if (value.kind == EV_TENSOR) return leat_value_type(value.tensor);
  if (value.kind == EV_STATE) return &value.state->type;
  return value.kind == EV_TYPE ? value.type : NULL;
}

static const leat_type *type_argument(evaluator *e, const ev_builtin_call *call, const char *name) {
  if (!takes(e, call, name, 1)) return NULL;
  const leat_type *type = type_of(call->args[0].value);
  if (type) return type;
  leat_value literal = ev_as_tensor(e, call->args[0].value, -1, call->span);
  return literal.node ? leat_value_type(literal) : NULL;
}

static ev builtin_shape(evaluator *e, const ev_builtin_call *call) {
  const leat_type *type = type_argument(e, call, "shape");
  if (!type) return ev_error();
  ev dims[LEAT_MAX_RANK];
  for (int32_t i = 0; i < type->rank; i++) dims[i] = ev_of_dim(type->dims[i]);
  return ev_make_list(e, dims, (uint32_t)type->rank);
}

static ev builtin_rank(evaluator *e, const ev_builtin_call *call) {
  const leat_type *type = type_argument(e, call, "rank");
  return type ? ev_int(type->rank) : ev_error();
}

static ev builtin_size(evaluator *e, const ev_builtin_call *call) {
  const leat_type *type = type_argument(e, call, "size");
  leat_dim size;
  if (!type) return ev_error();
  return leat_type_elements(e->graph->dims, type, &size)
             ? ev_of_dim(size)
             : ev_fail(e, call->span, "the number of elements does not fit 64 bits");
}

static ev builtin_dtype(evaluator *e, const ev_builtin_call *call) {
  if (call->count == 1 && call->args[0].value.kind == EV_DTYPE) return call->args[0].value;
  const leat_type *type = type_argument(e, call, "dtype");
  return type ? (ev){.kind = EV_DTYPE, .i = type->dtype} : ev_error();
}

static ev builtin_len(evaluator *e, const ev_builtin_call *call) {
  if (!takes(e, call, "len", 1)) return ev_error();
  ev value = call->args[0].value;
  if (value.kind != EV_LIST)
    return ev_fail(e, call->span, "`len` counts a list, found %s", ev_kind_name(value));
  return ev_int(value.list->count);
}

static ev builtin_is_list(evaluator *e, const ev_builtin_call *call) {
  return takes(e, call, "is_list", 1) ? ev_bool(call->args[0].value.kind == EV_LIST) : ev_error();
}

static ev builtin_range(evaluator *e, const ev_builtin_call *call) {
  if (!takes(e, call, "range", 1)) return ev_error();
  ev count = call->args[0].value;
  if (count.kind != EV_INT || count.i < 0 || count.i > 1000000)
    return ev_fail(e, call->span, "`range` takes an int from 0 to 1000000");
  ev *items = leat_new_array(e->arena, ev, (size_t)count.i + 1);
  for (int64_t i = 0; i < count.i; i++) items[i] = ev_int(i);
  return ev_make_list(e, items, (uint32_t)count.i);
}

// -- Compile-time numbers
// ------------------------------------------------------------------------------

static ev float_function(evaluator *e, const ev_builtin_call *call, const char *name,
                         double (*function)(double)) {
  if (!takes(e, call, name, 1)) return ev_error();
  ev value = call->args[0].value;
  if (value.kind != EV_INT && value.kind != EV_FLOAT)
    return ev_fail(e, call->span, "`%s` is of a compile-time number, found %s", name,
                   ev_kind_name(value));
  double x = value.kind == EV_INT ? (double)value.i : value.f;
  return (ev){.kind = EV_FLOAT, .f = function(x)};
}

static double same(double x) {
  return x;
}

static ev builtin_float(evaluator *e, const ev_builtin_call *call) {
  return float_function(e, call, "float", same);
}

static ev builtin_float_sqrt(evaluator *e, const ev_builtin_call *call) {
  return float_function(e, call, "float_sqrt", sqrt);
}

// -- The graph and the cluster
// ---------------------------------------------------------------------------

static ev builtin_default_seed(evaluator *e, const ev_builtin_call *call) {
  if (!takes(e, call, "default_seed", 0)) return ev_error();
  ev_binding *seed = leat_map_get(&e->globals->names, leat_intern(e->strings, "seed"));
  return seed && seed->value.kind == EV_INT ? seed->value : ev_int(0);
}

static ev builtin_tasks(evaluator *e, const ev_builtin_call *call) {
  if (!takes(e, call, "tasks", 1)) return ev_error();
  ev job = call->args[0].value;
  if (job.kind != EV_STRING)
    return ev_fail(e, call->span, "`tasks` takes a job's name, found %s", ev_kind_name(job));
  const leat_frontend_options *options = &e->options;
  int tasks = options->job_count ? -1 : 1; // without a cluster this process is every job
  for (int i = 0; i < options->job_count; i++)
    if (strlen(options->jobs[i].name) == job.size &&
        !memcmp(options->jobs[i].name, job.text, job.size))
      tasks = options->jobs[i].tasks;
  if (tasks < 0) return ev_fail(e, call->span, "the cluster has no job `%s`", job.text);
  ev *items = leat_new_array(e->arena, ev, (size_t)tasks + 1);
  for (int i = 0; i < tasks; i++) items[i] = ev_int(i);
  return ev_make_list(e, items, (uint32_t)tasks);
}

static ev builtin_static_assert(evaluator *e, const ev_builtin_call *call) {
  ev holds = ev_builtin_argument(call, 0, "condition");
  ev message = ev_builtin_argument(call, 1, "message");
  if (holds.kind != EV_BOOL || message.kind != EV_STRING)
    return ev_fail(e, call->span, "`static_assert` takes a compile-time bool and a message");
  return holds.i ? (ev){.kind = EV_NONE} : ev_fail(e, call->span, "%s", message.text);
}

// -- Tensors
// -----------------------------------------------------------------------------------------------

// Sums dy, whose shape is x's after a broadcast, down to the shape of x: added axes go, those that
// were 1 become 1 again.
static ev builtin_sum_like(evaluator *e, const ev_builtin_call *call) {
  if (!takes(e, call, "sum_like", 2)) return ev_error();
  leat_value dy = ev_as_tensor(e, call->args[0].value, -1, call->span);
  const leat_type *to = type_of(call->args[1].value);
  if (!dy.node || !to) return ev_error();
  const leat_type *from = leat_value_type(dy);
  int64_t *axes = leat_new_array(e->arena, int64_t, LEAT_MAX_RANK);
  uint32_t count = 0;
  for (int32_t i = 0; i < from->rank; i++) {
    int32_t j = i - (from->rank - to->rank);
    if (j < 0 || (leat_dim_is(to->dims[j], 1) && !leat_dim_is(from->dims[i], 1))) axes[count++] = i;
  }
  ev value = ev_tensor(dy);
  if (count) {
    leat_attr attrs[] = {{.count = count, .ints = axes}, {.i = 0}};
    value = ev_op(e, LEAT_OP_sum, &value, 1, attrs, call->span, NULL);
  }
  if (value.kind != EV_TENSOR) return value;
  const leat_type *now = leat_value_type(value.tensor);
  bool same_rank = now->rank == to->rank;
  leat_dim *dims = leat_arena_memdup(e->arena, to->dims, sizeof to->dims);
  leat_attr shape = {.count = (uint32_t)to->rank, .dims = dims};
  return same_rank ? value : ev_op(e, LEAT_OP_reshape, &value, 1, &shape, call->span, call->hint);
}

static ev builtin_load(evaluator *e, const ev_builtin_call *call) {
  ev file = ev_builtin_argument(call, 0, "file"), name = ev_builtin_argument(call, 1, "name");
  ev known = ev_builtin_argument(call, 2, "type"); // canonical text says it
  if (file.kind != EV_STRING || (name.kind != EV_STRING && name.kind != EV_NONE))
    return ev_fail(e, call->span, "`load` takes a file and the name of a tensor in it");
  const char *path = leat_intern_n(e->strings, file.text, file.size);
  const char *from = leat_diag_source_name(e->diag, call->span.source);
  const char *slash = from ? strrchr(from, '/') : NULL;
  if (slash && path[0] != '/' && !e->absolute)
    path = leat_intern_printf(e->strings, "%.*s/%s", (int)(slash - from), from, path);
  const char *tensor = name.kind == EV_STRING ? leat_intern_n(e->strings, name.text, name.size)
                                              : leat_intern(e->strings, "");
  leat_type *type = leat_new(e->arena, leat_type);
  if (known.kind == EV_TYPE)
    *type = *known.type;
  else if (!ev_file_type(e, path, tensor, call->span, type))
    return ev_error();
  leat_attr attrs[] = {{.string = path}, {.string = tensor}, {.type = type}};
  return ev_op(e, LEAT_OP_load, NULL, 0, attrs, call->span, call->hint);
}

bool ev_file_type(evaluator *e, const char *path, const char *name, leat_span span,
                  leat_type *out) {
  leat_error error = {0};
  size_t length = strlen(path);
  if (length > 4 && !strcmp(path + length - 4, ".npy")) {
    leat_npy npy = {0};
    if (leat_npy_open(&npy, path, &error)) {
      ev_fail(e, span, "%s", error.message);
      return false;
    }
    *out = leat_type_of_tensor(&npy.tensor);
    leat_npy_close(&npy);
    return true;
  }
  leat_safetensors file = {0};
  if (leat_safetensors_open(&file, path, &error)) {
    ev_fail(e, span, "%s", error.message);
    return false;
  }
  const leat_tensor *tensor = leat_safetensors_find(&file, name);
  if (tensor)
    *out = leat_type_of_tensor(tensor);
  else {
    const char **names = leat_new_array(e->arena, const char *, file.count + 1);
    for (uint32_t i = 0; i < file.count; i++) names[i] = file.tensors[i].name;
    const char *near = leat_nearest(name, names, file.count);
    ev_fail(e, span, "%s has no tensor `%s`%s%s%s", path, name, near ? "; did you mean `" : "",
            near ? near : "", near ? "`?" : "");
  }
  leat_safetensors_close(&file);
  return tensor != NULL;
}

// -- The table
// ---------------------------------------------------------------------------------------------

static const ev_builtin builtins[] = {
    {"shape", "shape(x): the dimensions of a tensor, variable or type, as a list", builtin_shape},
    {"rank", "rank(x): the number of dimensions", builtin_rank},
    {"size", "size(x): the number of elements", builtin_size},
    {"dtype", "dtype(x): the element type", builtin_dtype},
    {"len", "len(list): the number of items", builtin_len},
    {"is_list", "is_list(x): whether a compile-time value is a list", builtin_is_list},
    {"range", "range(n): the list 0, 1, …, n - 1", builtin_range},
    {"float", "float(n): a compile-time number as a float", builtin_float},
    {"float_sqrt", "float_sqrt(x): the square root of a compile-time number", builtin_float_sqrt},
    {"default_seed", "default_seed(): the graph's parameter `seed`, or 0", builtin_default_seed},
    {"tasks", "tasks(job): the numbers of a job's tasks", builtin_tasks},
    {"static_assert", "static_assert(condition, message): an error while compiling",
     builtin_static_assert},
    {"sum_like", "sum_like(dy, x): dy summed down to the shape that x had before a broadcast",
     builtin_sum_like},
    {"load", "load(file, name): a tensor of a .safetensors or .npy file", builtin_load},
    {"grad", "grad(loss, [a, b]): the gradients of a loss", ev_builtin_grad},
    {"trainables", "trainables(loss): the trainable variables that reach a loss",
     ev_builtin_trainables},
    {"apply", "apply(optimiser, vars, grads, …): updates variables by their gradients",
     ev_builtin_apply},
    {"minimize", "minimize(loss, optimiser, vars=…, clip_norm=…, …): gradients and updates",
     ev_builtin_minimize},
};

const ev_builtin *ev_builtin_at(uint32_t i) {
  return i < sizeof builtins / sizeof *builtins ? &builtins[i] : NULL;
}

const ev_builtin *ev_find_builtin(const char *name) {
  for (uint32_t i = 0; ev_builtin_at(i); i++)
    if (!strcmp(builtins[i].name, name)) return &builtins[i];
  return NULL;
}
