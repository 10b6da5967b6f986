// Compile-time functions: what the language needs to know of values, types and the cluster.
#include "frontend/evaluate/calls.h"

#include "base/file.h"
#include "base/text.h"

#include <math.h>
#include <string.h>

static const leat_type *type_of(ev value) {
  return value.kind == EV_TYPE ? value.type : ev_tensor_type(value);
}

// Of anything that has one, or could be a tensor.
static const leat_type *type_argument(evaluator *e, const ev_builtin_call *call) {
  const leat_type *type = type_of(call->args[0]);
  if (type) return type;
  leat_value literal = ev_as_tensor(e, call->args[0], -1, call->span);
  return literal.node ? leat_value_type(literal) : NULL;
}

ev ev_builtin_shape(evaluator *e, const ev_builtin_call *call) {
  const leat_type *type = type_argument(e, call);
  if (!type) return ev_error();
  ev dims[LEAT_MAX_RANK];
  for (int32_t i = 0; i < type->rank; i++) dims[i] = ev_of_dim(type->dims[i]);
  return ev_make_list(e, dims, (uint32_t)type->rank);
}

ev ev_builtin_rank(evaluator *e, const ev_builtin_call *call) {
  const leat_type *type = type_argument(e, call);
  return type ? ev_int(type->rank) : ev_error();
}

ev ev_builtin_size(evaluator *e, const ev_builtin_call *call) {
  const leat_type *type = type_argument(e, call);
  leat_dim size;
  if (!type) return ev_error();
  return leat_type_elements(e->graph->dims, type, &size)
             ? ev_of_dim(size)
             : ev_fail(e, call->span, "the number of elements does not fit 64 bits");
}

ev ev_builtin_dtype(evaluator *e, const ev_builtin_call *call) {
  if (call->args[0].kind == EV_DTYPE) return call->args[0];
  const leat_type *type = type_argument(e, call);
  return type ? (ev){.kind = EV_DTYPE, .i = type->dtype} : ev_error();
}

ev ev_builtin_is_list(evaluator *e, const ev_builtin_call *call) {
  (void)e;
  return ev_bool(call->args[0].kind == EV_LIST);
}

ev ev_builtin_is_tensor(evaluator *e, const ev_builtin_call *call) {
  (void)e;
  return ev_bool(ev_tensor_type(call->args[0]) != NULL);
}

ev ev_builtin_is_int(evaluator *e, const ev_builtin_call *call) {
  (void)e;
  return ev_bool(call->args[0].kind == EV_INT);
}

// Numbers that stand in a list beside tensors become tensors of the dtype of the first.
ev ev_builtin_of_one_dtype(evaluator *e, const ev_builtin_call *call) {
  ev value = call->args[0];
  const leat_type *type = NULL;
  for (uint32_t i = 0; value.kind == EV_LIST && i < value.list->count && !type; i++)
    type = ev_tensor_type(value.list->items[i]);
  if (!type) return value;
  ev *items = leat_new_array(e->arena, ev, value.list->count);
  for (uint32_t i = 0; i < value.list->count; i++) {
    items[i] = value.list->items[i];
    if (items[i].kind == EV_INT || items[i].kind == EV_FLOAT)
      items[i] = ev_tensor(ev_as_tensor(e, items[i], (int)type->dtype, call->span));
  }
  return ev_make_list(e, items, value.list->count);
}

// range(count), range(start, stop) or range(start, stop, step), as Python's.
ev ev_builtin_range(evaluator *e, const ev_builtin_call *call) {
  int64_t bounds[] = {0, 0, 1};
  for (int i = 0; i < 3; i++) {
    if (call->args[i].kind == EV_NONE) continue;
    if (call->args[i].kind != EV_INT || call->args[i].i < -INT32_MAX || call->args[i].i > INT32_MAX)
      return ev_fail(e, call->span, "`range` takes ints of 31 bits, found %s%s",
                     ev_found_no_int(e, call->args[i]),
                     ev_is_tensor(call->args[i])
                         ? ", which is known only while running; `while` and `fori(n, f, init)` "
                           "loop then"
                         : "");
    bounds[i] = call->args[i].i;
  }
  if (call->args[1].kind == EV_NONE) bounds[1] = bounds[0], bounds[0] = 0;
  int64_t step = bounds[2], way = bounds[1] - bounds[0];
  if (!step) return ev_fail(e, call->span, "`range` steps by 0");
  int64_t count = (way > 0) == (step > 0) ? (way + step - (step > 0 ? 1 : -1)) / step : 0;
  if (count > EV_MAX_LIST)
    return ev_fail(e, call->span, "a list holds up to %d items, `range` would make %lld",
                   EV_MAX_LIST, (long long)count);
  ev *items = leat_new_array(e->arena, ev, (size_t)count + 1);
  for (int64_t i = 0; i < count; i++) items[i] = ev_int(bounds[0] + i * step);
  return ev_take_list(e, items, (uint32_t)count);
}

// -- Compile-time numbers -----------------------------------------------------------------------

ev ev_builtin_float(evaluator *e, const ev_builtin_call *call) {
  ev value = call->args[0];
  if (value.kind == EV_INT) return ev_float((double)value.i);
  if (value.kind == EV_FLOAT) return value;
  return ev_fail(e, call->span, "`float` is of a compile-time number, found %s%s",
                 ev_kind_name(value), ev_is_tensor(value) ? "; `cast(x, f32)` converts it" : "");
}

// -- The graph and the cluster ------------------------------------------------------------------

ev ev_builtin_default_seed(evaluator *e, const ev_builtin_call *call) {
  (void)call;
  const ev_binding *seed = leat_map_get(&e->globals->names, leat_intern(e->strings, "seed"));
  return seed && seed->value.kind == EV_INT ? seed->value : ev_int(0);
}

ev ev_builtin_tasks(evaluator *e, const ev_builtin_call *call) {
  ev name = call->args[0];
  if (name.kind != EV_STRING)
    return ev_fail(e, call->span, "`tasks` takes a job's name, found %s", ev_kind_name(name));
  const leat_frontend_options *options = &e->options;
  size_t jobs = options->job_count > 0 ? (size_t)options->job_count : 0;
  const char **names = leat_new_array(e->arena, const char *, jobs + 1);
  int tasks = jobs ? -1 : 1; // without a cluster this process is every job
  for (size_t i = 0; i < jobs; i++) {
    names[i] = options->jobs[i].name;
    if (!strcmp(names[i], name.text)) tasks = options->jobs[i].tasks;
  }
  if (tasks < 0)
    return ev_fail(e, call->span, "the cluster has no job `%s`%s", name.text,
                   ev_suggestion(e, name.text, names, jobs));
  ev *items = leat_new_array(e->arena, ev, (size_t)tasks + 1);
  for (int i = 0; i < tasks; i++) items[i] = ev_int(i);
  return ev_take_list(e, items, (uint32_t)tasks);
}

// What `on` takes apart: operations go to the worker, variables to ps.
ev ev_builtin_replica_device(evaluator *e, const ev_builtin_call *call) {
  static const char *const names[] = {"ps", "worker"};
  for (int i = 0; i < 2; i++)
    if (call->args[i].kind != EV_STRING)
      return ev_fail(e, call->span, "`%s` of `replica_device` is a device's name, found %s",
                     names[i], ev_kind_name(call->args[i]));
  ev list = ev_make_list(e, call->args, 2);
  if (list.kind == EV_LIST) ((ev_list *)list.list)->names = names;
  return list;
}

ev ev_builtin_static_assert(evaluator *e, const ev_builtin_call *call) {
  ev holds = call->args[0], message = call->args[1];
  if (ev_is_tensor(holds))
    return ev_fail(e, call->span,
                   "`static_assert` takes what is known while compiling, and this is known only "
                   "while running: `assert(p, message)` looks at it then");
  if (holds.kind != EV_BOOL || message.kind != EV_STRING)
    return ev_fail(e, call->span, "`static_assert` takes a compile-time bool and a message");
  return holds.i ? ev_nothing() : ev_fail(e, call->span, "%s", message.text);
}

// -- Tensors ------------------------------------------------------------------------------------

// The type of a tensor, or one of the shape of a list of numbers; NULL: a number.
static const leat_type *shape_type(ev value, leat_type *room) {
  if (value.kind != EV_LIST) return type_of(value);
  *room = (leat_type){.rank = 1, .dims = {leat_dim_const(value.list->count)}};
  return room;
}

// Whether it is known how two extents broadcast, if they do.
static bool are_decided(leat_dim n, leat_dim m) {
  return leat_dim_is(n, 1) || leat_dim_is(m, 1) || leat_dim_equal(n, m) ||
         (leat_dim_is_const(n) && leat_dim_is_const(m));
}

ev ev_builtin_broadcasts(evaluator *e, const ev_builtin_call *call) {
  ev list = call->args[0];
  if (list.kind != EV_LIST) return ev_fail(e, call->span, "`broadcasts` takes a list of tensors");
  leat_dim common[LEAT_MAX_RANK];
  leat_type room;
  for (int32_t i = 0; i < LEAT_MAX_RANK; i++) common[i] = leat_dim_const(1);
  for (uint32_t k = 0; k < list.list->count; k++) {
    const leat_type *type = shape_type(list.list->items[k], &room);
    for (int32_t i = 0; type && i < type->rank; i++) {
      leat_dim n = type->dims[type->rank - 1 - i];
      if (!are_decided(n, common[i])) return ev_bool(false);
      if (!leat_dim_is(n, 1)) common[i] = n;
    }
  }
  return ev_bool(true);
}

// Sums dy, whose shape is x's after a broadcast, down to the shape of x: added axes go, those that
// were 1 become 1 again.
ev ev_builtin_sum_like(evaluator *e, const ev_builtin_call *call) {
  leat_value dy = ev_as_tensor(e, call->args[0], -1, call->span);
  const leat_type *to = type_of(call->args[1]);
  if (!dy.node) return ev_error();
  const leat_type *from = leat_value_type(dy);
  if (!to || to->rank > from->rank)
    return ev_fail(e, call->span, "`sum_like` takes a tensor and one that was broadcast to it");
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
  if (value.kind != EV_TENSOR || leat_value_type(value.tensor)->rank == to->rank) return value;
  leat_attr shape = {.count = (uint32_t)to->rank};
  shape.dims = leat_arena_memdup(e->arena, to->dims, sizeof to->dims);
  return ev_op(e, LEAT_OP_reshape, &value, 1, &shape, call->span, call->hint);
}

ev ev_builtin_dynamic(evaluator *e, const ev_builtin_call *call) {
  return ev_dynamic(e, call->args[0], call->span);
}

// -- Files --------------------------------------------------------------------------------------

// A text loads several tensors of one file: it is opened once.
static leat_status open_file(evaluator *e, const char *path, leat_error *error) {
  path = leat_intern(e->strings, path);
  if (e->loaded_path == path) return LEAT_OK;
  leat_data_file_close(&e->loaded);
  e->loaded_path = NULL;
  LEAT_TRY(leat_file_check_regular(path, error));
  LEAT_TRY(leat_data_file_open(&e->loaded, path, false, error));
  e->loaded_path = path;
  return LEAT_OK;
}

static const char *suggest_tensor(evaluator *e, const char *name) {
  const leat_data_file *file = &e->loaded;
  const char **names = leat_new_array(e->arena, const char *, file->count + 1);
  size_t count = 0;
  for (size_t i = 0; i < file->count; i++)
    if (*file->tensors[i].name) names[count++] = file->tensors[i].name;
  return ev_suggestion(e, name, names, count);
}

static bool tensor_type(evaluator *e, const char *path, const char *name, leat_span span,
                        leat_type *out) {
  leat_error error = {0};
  leat_status status = open_file(e, path, &error);
  const leat_tensor *tensor = status ? NULL : leat_data_file_find(&e->loaded, name);
  const char *near = status || tensor || !*name ? "" : suggest_tensor(e, name);
  if (tensor)
    *out = leat_type_of_tensor(tensor);
  else if (*near)
    ev_fail(e, span, "%s has no tensor `%s`%s", path, name, near);
  else if (status || (status = leat_data_file_lacks(&e->loaded, name, &error)))
    ev_fail(e, span, "%s", error.message);
  return tensor != NULL;
}

// Tables of text are no data files, though people try.
static bool check_format(evaluator *e, const char *path, leat_span span) {
  static const char *const tables[] = {".csv", ".tsv", ".txt"};
  bool table = false;
  for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
    table = table || leat_ends_with(path, tables[i]);
  if (!table) return true;
  ev_fail(e, span,
          "`load` reads .npy, .npz and .safetensors files, not %s; NumPy makes one of a table: "
          "`np.save(\"a.npy\", np.loadtxt(\"a.csv\", delimiter=\",\", dtype=\"f4\"))`, see "
          "docs/howto/data.md",
          path);
  return false;
}

ev ev_builtin_load(evaluator *e, const ev_builtin_call *call) {
  ev file = call->args[0], name = call->args[1];
  if (file.kind != EV_STRING || (name.kind != EV_STRING && name.kind != EV_NONE) ||
      memchr(file.text, 0, file.size))
    return ev_fail(e, call->span, "`load` takes a file and the name of a tensor in it");
  const char *path = leat_intern_n(e->strings, file.text, file.size);
  const char *from = leat_diag_source_name(e->diag, call->span.source);
  const char *slash = from ? strrchr(from, '/') : NULL;
  if (slash && path[0] != '/')
    path = leat_intern_printf(e->strings, "%.*s/%s", (int)(slash - from), from, path);
  if (!check_format(e, path, call->span)) return ev_error();
  const char *tensor = leat_intern(e->strings, name.kind == EV_STRING ? name.text : "");
  leat_type *type = leat_new(e->arena, leat_type);
  bool known = tensor_type(e, path, tensor, call->span, type);
  leat_attr attrs[] = {{.string = path}, {.string = tensor}, {.type = type}};
  return known ? ev_op(e, LEAT_OP_load, NULL, 0, attrs, call->span, call->hint) : ev_error();
}

// -- Not yet ------------------------------------------------------------------------------------

ev ev_builtin_of_queue(evaluator *e, const ev_builtin_call *call) {
  return ev_fail(e, call->span, "queues are not supported yet");
}

// -- Calls --------------------------------------------------------------------------------------

static uint32_t param_count(const ev_builtin *builtin) {
  uint32_t count = 0;
  while (builtin->params[count]) count++;
  return count;
}

static bool give(evaluator *e, const ev_builtin *builtin, const ev_argument *arg, uint32_t position,
                 ev_builtin_call *call, bool *given) {
  uint32_t count = param_count(builtin), i = arg->key ? 0 : position;
  while (arg->key && i < count && strcmp(builtin->params[i], arg->key)) i++;
  if (i >= count) {
    if (arg->key)
      ev_fail(e, arg->key_span, "`%s` has no parameter `%s`%s", builtin->name, arg->key,
              ev_suggestion(e, arg->key, builtin->params, count));
    else
      ev_fail(e, arg->span, "`%s` takes %u argument%s by position, found more", builtin->name,
              count, count == 1 ? "" : "s");
    return false;
  }
  if (given[i]) {
    ev_fail(e, arg->span, "argument `%s` of `%s` is given twice", builtin->params[i],
            builtin->name);
    return false;
  }
  given[i] = true;
  call->args[i] = arg->value;
  call->spans[i] = arg->span;
  return true;
}

static bool is_param(const ev_builtin *builtin, const char *key) {
  for (uint32_t i = 0; builtin->params[i]; i++)
    if (!strcmp(builtin->params[i], key)) return true;
  return false;
}

ev ev_call_builtin(evaluator *e, const ev_builtin *builtin, const ev_argument *args, uint32_t count,
                   leat_span span, const char *hint) {
  ev_builtin_call call = {.span = span, .hint = hint};
  bool given[EV_MAX_PARAMS] = {0};
  uint32_t position = 0;
  ev_argument *rest = leat_new_array(e->arena, ev_argument, (size_t)count + 1);
  for (uint32_t i = 0; i < EV_MAX_PARAMS; i++) call.args[i] = ev_none();
  for (uint32_t i = 0; i < count; i++) {
    bool named =
        (builtin->collects & EV_COLLECTS_NAMED) && args[i].key && !is_param(builtin, args[i].key);
    bool further = (builtin->collects & EV_COLLECTS_POSITIONAL) && !args[i].key &&
                   position >= param_count(builtin);
    if (named || further)
      rest[call.rest_count++] = args[i];
    else if (!give(e, builtin, &args[i], position, &call, given))
      return ev_error();
    position += !args[i].key;
  }
  for (uint32_t i = 0; i < builtin->required; i++)
    if (!given[i])
      return ev_fail(e, span, "argument `%s` of `%s` is missing: `%.*s`", builtin->params[i],
                     builtin->name, (int)strcspn(builtin->help, ":"), builtin->help);
  call.rest = rest;
  return builtin->evaluate(e, &call);
}
