// leat._core.Session: a leat_session. Methods have the names of the public functions.
#include "python/core/core.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

PyTypeObject *core_session_type;

// -- Options --------------------------------------------------------------------------------------

typedef enum option_kind { TEXT, INT, FLAG, NUMBER } option_kind;

static const struct {
  const char *name;
  option_kind kind;
  size_t offset;
} option_table[] = {
#define OPTION(name, kind)                                                                         \
  { #name, kind, offsetof(leat_session_options, name) }
    OPTION(cluster, TEXT),     OPTION(devices, INT),      OPTION(target, TEXT),
    OPTION(threads, INT),      OPTION(cpu, TEXT),         OPTION(blis, FLAG),
    OPTION(symbolic, FLAG),    OPTION(cache, TEXT),       OPTION(dump_after, TEXT),
    OPTION(stop_after, TEXT),  OPTION(time_passes, FLAG), OPTION(interactive, FLAG),
    OPTION(path, TEXT),        OPTION(trace, FLAG),       OPTION(deadline, NUMBER),
    OPTION(memory_limit, INT), OPTION(overwrite, FLAG),   OPTION(denormals, TEXT),
    OPTION(numerics, TEXT),
#undef OPTION
};
enum { OPTIONS = sizeof option_table / sizeof *option_table };

// Texts are added to `kept`.
static bool set_option(leat_session_options *options, int i, PyObject *value, PyObject *kept) {
  char *at = (char *)options + option_table[i].offset;
  PyObject *bytes;
  switch (option_table[i].kind) {
  case TEXT: {
    const char *text = core_text(value, &bytes);
    bool ok = text && PyList_Append(kept, bytes) == 0;
    if (text) Py_DECREF(bytes);
    memcpy(at, (void *)&text, sizeof text);
    return ok;
  }
  case INT: {
    long number = PyLong_AsLong(value);
    int narrow = number > 2147483647 ? 2147483647 : number < -2147483647 ? -1 : (int)number;
    memcpy(at, &narrow, sizeof narrow);
    break;
  }
  case FLAG: *(bool *)at = PyObject_IsTrue(value) > 0; break;
  case NUMBER: {
    double number = PyFloat_AsDouble(value);
    memcpy(at, &number, sizeof number);
    break;
  }
  }
  return !PyErr_Occurred();
}

static int option_number(PyObject *name, PyObject *kept) {
  PyObject *bytes;
  const char *text = core_text(name, &bytes);
  if (!text || PyList_Append(kept, bytes)) return -1;
  Py_DECREF(bytes);
  for (int i = 0; i < OPTIONS; i++)
    if (!strcmp(option_table[i].name, text)) return i;
  PyErr_Format(PyExc_TypeError, "Session() has no option `%s`", text);
  return -1;
}

static bool read_options(leat_session_options *options, PyObject *given, PyObject *kept) {
  PyObject *name, *value;
  Py_ssize_t at = 0;
  while (PyDict_Next(given, &at, &name, &value)) {
    if (value == Py_None) continue;
    int i = option_number(name, kept);
    if (i < 0 || !set_option(options, i, value, kept)) return false;
  }
  return true;
}

// [name, value, name, value…]
static bool read_settings(leat_session_options *options, PyObject *given, PyObject **keep) {
  int count;
  const char **texts = core_texts(given, keep, &count);
  leat_setting *settings = texts ? calloc((size_t)count + 1, sizeof *settings) : NULL;
  if (!settings) return texts ? PyErr_NoMemory() != NULL : false;
  for (int i = 0; i + 1 < count; i += 2) settings[i / 2] = (leat_setting){texts[i], texts[i + 1]};
  options->settings = settings;
  options->setting_count = count / 2;
  return true;
}

// -- What the session says while it works ---------------------------------------------------------

static void say(PyObject *to, const char *text) {
  if (!to) return;
  PyGILState_STATE state = PyGILState_Ensure();
  PyObject *words = core_string(text);
  PyObject *done = words ? PyObject_CallFunctionObjArgs(to, words, NULL) : NULL;
  if (!done) PyErr_WriteUnraisable(to);
  Py_XDECREF(done);
  Py_XDECREF(words);
  PyGILState_Release(state);
}

static void on_print(void *context, const char *text) {
  say(((core_session *)context)->print, text);
}

static void on_log(void *context, const char *text) {
  say(((core_session *)context)->log, text);
}

// -- Life -----------------------------------------------------------------------------------------

// The GIL is free meanwhile: what ends in threads may want it.
static void destroy(core_session *self) {
  leat_session *session = self->session;
  self->session = NULL;
  while (self->deferred) {
    core_deferred *gone = self->deferred;
    self->deferred = gone->next;
    free(gone); // the session takes its steps with it
  }
  if (!session) return;
  PyThreadState *thread = PyEval_SaveThread();
  leat_session_destroy(session);
  PyEval_RestoreThread(thread);
}

void core_session_view_ends(core_session *self) {
  if (--self->views == 0 && self->closes) destroy(self);
}

static void dealloc(PyObject *object) {
  core_session *self = (core_session *)object;
  PyTypeObject *type = Py_TYPE(object);
  destroy(self);
  Py_XDECREF(self->print);
  Py_XDECREF(self->log);
  pthread_mutex_destroy(&self->lock);
  PyObject_Free(object);
  Py_DECREF(type);
}

static leat_status create(core_session *self, leat_session_options *options) {
  self->deadline = options->deadline;
  options->print = on_print;
  options->log = on_log;
  options->print_context = options->log_context = self;
  PyThreadState *thread = PyEval_SaveThread();
  leat_status status = leat_session_create(options, &self->session);
  PyEval_RestoreThread(thread);
  return status;
}

static PyObject *opened(core_session *self, leat_status status) {
  core_call call;
  if (!self->session) return PyErr_NoMemory();
  if (!core_begin(&call, self)) return NULL;
  bool ok = core_ended(&call, status);
  return core_finish(&call, ok ? core_ref((PyObject *)self) : NULL);
}

static PyObject *new_session(PyTypeObject *type, PyObject *args, PyObject *named) {
  PyObject *given, *settings, *print, *log, *kept = PyList_New(0), *setting_texts = NULL;
  leat_session_options options = {0};
  (void)named;
  if (!kept ||
      !PyArg_ParseTuple(args, "O!OOO:Session", &PyDict_Type, &given, &settings, &print, &log)) {
    Py_XDECREF(kept);
    return NULL;
  }
  core_session *self = (core_session *)PyType_GenericAlloc(type, 0);
  PyObject *out = NULL;
  if (self) {
    pthread_mutex_init(&self->lock, NULL);
    self->print = print == Py_None ? NULL : core_ref(print);
    self->log = log == Py_None ? NULL : core_ref(log);
    if (read_options(&options, given, kept) && read_settings(&options, settings, &setting_texts))
      out = opened(self, create(self, &options));
  }
  free((void *)options.settings);
  Py_XDECREF(setting_texts);
  Py_DECREF(kept);
  Py_XDECREF((PyObject *)self);
  return out;
}

static PyObject *close_session(PyObject *object, PyObject *none) {
  core_session *self = (core_session *)object;
  core_call call;
  (void)none;
  if (!self->session || self->closes) Py_RETURN_NONE;
  if (!core_begin(&call, self)) return NULL;
  call.quiet = true;
  bool ok = core_ended(&call, LEAT_OK);
  self->closes = true;
  if (!self->views) destroy(self);
  return core_finish(&call, ok ? core_ref(Py_None) : NULL);
}

// -- Texts ----------------------------------------------------------------------------------------

static PyObject *extend(PyObject *object, PyObject *args) {
  core_session *self = (core_session *)object;
  PyObject *text, *name, *text_bytes, *name_bytes;
  if (!PyArg_ParseTuple(args, "OO:extend", &text, &name)) return NULL;
  const char *words = core_text(text, &text_bytes);
  if (!words) return NULL;
  const char *called = core_text(name, &name_bytes);
  PyObject *out = NULL;
  core_call call;
  if (called && core_begin(&call, self)) {
    leat_status status = leat_session_extend(self->session, words, 0, called);
    out = core_finish(&call, core_ended(&call, status) ? core_ref(Py_None) : NULL);
  }
  if (called) Py_DECREF(name_bytes);
  Py_DECREF(text_bytes);
  return out;
}

// A function of a session and a text, which gives nothing.
static PyObject *call_with_text(PyObject *object, PyObject *value,
                                leat_status (*function)(leat_session *, const char *)) {
  core_session *self = (core_session *)object;
  PyObject *bytes, *out = NULL;
  core_call call;
  const char *text = core_text(value, &bytes);
  if (!text) return NULL;
  if (core_begin(&call, self)) {
    leat_status status = function(self->session, text);
    out = core_finish(&call, core_ended(&call, status) ? core_ref(Py_None) : NULL);
  }
  Py_DECREF(bytes);
  return out;
}

#define WITH_TEXT(name, function)                                                                  \
  static PyObject *name(PyObject *self, PyObject *text) {                                          \
    return call_with_text(self, text, function);                                                   \
  }
WITH_TEXT(extend_file, leat_session_extend_file)
WITH_TEXT(save, leat_session_save)
WITH_TEXT(check_save, leat_session_check_save)
WITH_TEXT(restore, leat_session_restore)
WITH_TEXT(restore_partial, leat_session_restore_partial)

// A function that makes a text.
static PyObject *call_for_text(PyObject *object, leat_status (*function)(leat_session *, char **)) {
  core_session *self = (core_session *)object;
  char *text = NULL;
  core_call call;
  if (!core_begin(&call, self)) return NULL;
  leat_status status = function(self->session, &text);
  PyObject *out = core_ended(&call, status) ? core_string(text) : NULL;
  free(text);
  return core_finish(&call, out);
}

#define FOR_TEXT(name, function)                                                                   \
  static PyObject *name(PyObject *self, PyObject *none) {                                          \
    (void)none;                                                                                    \
    return call_for_text(self, function);                                                          \
  }
FOR_TEXT(print, leat_session_print)
FOR_TEXT(trace, leat_session_trace)
FOR_TEXT(traffic, leat_session_traffic)

// -- What there is --------------------------------------------------------------------------------

// A list that is made with the GIL, of a session that is this thread's.
static PyObject *list_of(PyObject *object, PyObject *(*make)(const leat_session *session)) {
  core_session *self = (core_session *)object;
  core_call call;
  if (!core_begin(&call, self)) return NULL;
  call.quiet = true;
  return core_finish(&call, core_ended(&call, LEAT_OK) ? make(self->session) : NULL);
}

// Takes the item over; NULL where there is none.
static bool append(PyObject *list, PyObject *item) {
  bool ok = item && PyList_Append(list, item) == 0;
  Py_XDECREF(item);
  return ok;
}

#define LIST_OF(name, count, item)                                                                 \
  static PyObject *make_##name(const leat_session *session) {                                      \
    PyObject *list = PyList_New(0);                                                                \
    for (int i = 0; list && i < count(session); i++)                                               \
      if (!append(list, item)) Py_CLEAR(list);                                                     \
    return list;                                                                                   \
  }                                                                                                \
  static PyObject *name(PyObject *self, PyObject *none) {                                          \
    (void)none;                                                                                    \
    return list_of(self, make_##name);                                                             \
  }
LIST_OF(entries, leat_session_entry_count,
        Py_BuildValue("(NN)", core_string(leat_session_entry(session, i)),
                      PyBool_FromLong(leat_session_entry_trains(session, i))))
LIST_OF(variables, leat_session_variable_count,
        Py_BuildValue("(NN)", core_string(leat_session_variable(session, i)),
                      core_string(leat_session_slot_of(session, i))))
LIST_OF(shown, leat_session_shown_count, core_string(leat_session_shown(session, i)))

static PyObject *make_shown_text(const leat_session *session) {
  return core_string(leat_session_shown_text(session));
}

static PyObject *shown_text(PyObject *self, PyObject *none) {
  (void)none;
  return list_of(self, make_shown_text);
}

// Whether a call was in progress, in another thread.
static PyObject *stop(PyObject *object, PyObject *none) {
  core_session *self = (core_session *)object;
  (void)none;
  if (!core_is_open(self)) return NULL;
  bool idle = !pthread_mutex_trylock(&self->lock);
  if (idle) pthread_mutex_unlock(&self->lock);
  if (!idle) {
    self->stopped = true;
    leat_session_interrupt(self->session, true);
  }
  return PyBool_FromLong(!idle);
}

static PyObject *is_client(PyObject *object, PyObject *none) {
  core_session *self = (core_session *)object;
  (void)none;
  return PyBool_FromLong(leat_session_is_client(self->session));
}

static PyObject *serve(PyObject *object, PyObject *none) {
  core_session *self = (core_session *)object;
  core_call call;
  (void)none;
  if (!core_begin(&call, self)) return NULL;
  leat_status status = leat_session_serve(self->session);
  return core_finish(&call, core_ended(&call, status) ? core_ref(Py_None) : NULL);
}

static PyObject *describe(PyObject *object, PyObject *name) {
  core_session *self = (core_session *)object;
  PyObject *bytes, *out = NULL;
  core_call call;
  const char *text = core_text(name, &bytes);
  if (!text) return NULL;
  if (core_begin(&call, self)) {
    char *words = leat_session_describe(self->session, text);
    call.quiet = true;
    out = core_finish(&call, core_ended(&call, LEAT_OK) ? core_string(words) : NULL);
    free(words);
  }
  Py_DECREF(bytes);
  return out;
}

static void take_name(void *context, const char *name) {
  PyObject **list = context;
  if (*list && !append(*list, core_string(name))) Py_CLEAR(*list);
}

static PyObject *names(PyObject *object, PyObject *args) {
  core_session *self = (core_session *)object;
  int kind;
  const char *of;
  core_call call;
  if (!PyArg_ParseTuple(args, "iz:names", &kind, &of) || !core_begin(&call, self)) return NULL;
  call.quiet = true;
  PyObject *list = core_ended(&call, LEAT_OK) ? PyList_New(0) : NULL;
  if (list) leat_session_names(self->session, (leat_name_kind)kind, of, take_name, &list);
  return core_finish(&call, list);
}

// -- Variables ------------------------------------------------------------------------------------

static PyObject *read_variable(PyObject *object, PyObject *name) {
  core_session *self = (core_session *)object;
  PyObject *bytes, *out = NULL;
  leat_tensor value = {0};
  core_call call;
  const char *text = core_text(name, &bytes);
  if (!text) return NULL;
  if (core_begin(&call, self)) {
    leat_status status = leat_variable_read(self->session, text, &value);
    bool ok = core_ended(&call, status);
    if (ok)
      out = core_tensor_give(&value);
    else if (!status)
      free(value.data);
    core_finish(&call, out);
  }
  Py_DECREF(bytes);
  return out;
}

// (name, value, dtype): the dtype of a value that has none itself.
static PyObject *write_variable(PyObject *object, PyObject *args) {
  core_session *self = (core_session *)object;
  PyObject *value, *out = NULL;
  const char *name, *dtype;
  core_feed feed;
  core_call call;
  if (!PyArg_ParseTuple(args, "sOs:write", &name, &value, &dtype)) return NULL;
  leat_port port = {.name = name, .type = dtype};
  if (!leat_dtype_parse(dtype, strlen(dtype), &port.dtype)) port.dtype = LEAT_f32;
  if (!core_feed_read(&feed, value, &port)) return NULL;
  if (core_begin(&call, self)) {
    leat_status status = leat_variable_write(self->session, name, &feed.tensor);
    out = core_finish(&call, core_ended(&call, status) ? core_ref(Py_None) : NULL);
  }
  core_feed_finish(&feed);
  return out;
}

// -- Steps ----------------------------------------------------------------------------------------

static PyObject *prepare_step(core_session *self, const leat_step_spec *spec) {
  leat_step *step = NULL;
  core_call call;
  if (!core_begin(&call, self)) return NULL;
  leat_status status = leat_session_prepare(self->session, spec, &step);
  bool ok = core_ended(&call, status);
  PyObject *out = NULL;
  if (ok && !step) out = core_ref(Py_None);
  if (ok && step) out = core_step_create(self, step);
  if (!out) leat_step_destroy(step);
  return core_finish(&call, out);
}

static PyObject *prepare(PyObject *object, PyObject *args) {
  enum { LISTS = 5 };
  PyObject *given[LISTS], *keep[LISTS] = {0}, *out = NULL;
  leat_step_spec spec = {0};
  if (!PyArg_ParseTuple(args, "OOOOzO:prepare", &given[0], &given[1], &given[2], &given[3],
                        &spec.within, &given[4]))
    return NULL;
  const char *const **lists[] = {&spec.entries, &spec.feeds, &spec.fetches, &spec.runs,
                                 &spec.donated};
  int *counts[] = {&spec.entry_count, &spec.feed_count, &spec.fetch_count, &spec.run_count,
                   &spec.donated_count};
  bool ok = true;
  for (int i = 0; ok && i < LISTS; i++)
    ok = (*lists[i] = core_texts(given[i], &keep[i], counts[i]));
  if (ok) out = prepare_step((core_session *)object, &spec);
  for (int i = 0; i < LISTS; i++) Py_XDECREF(keep[i]);
  return out;
}

// -- The type -------------------------------------------------------------------------------------

static PyMethodDef methods[] = {
    {"close", close_session, METH_NOARGS, "ends it, when no array lies in its memory any more"},
    {"stop", stop, METH_NOARGS, "ends the call that another thread is in"},
    {"extend", extend, METH_VARARGS, "extend(text, name)"},
    {"extend_file", extend_file, METH_O, "extend_file(path)"},
    {"prepare", prepare, METH_VARARGS,
     "prepare(entries, feeds, fetches, runs, within, donated) -> Step"},
    {"print", print, METH_NOARGS, "the whole graph as canonical text"},
    {"trace", trace, METH_NOARGS, "what ran when, as Chrome trace JSON"},
    {"traffic", traffic, METH_NOARGS, "what every process has sent"},
    {"entries", entries, METH_NOARGS, "[(name, whether it is `training`)…]"},
    {"variables", variables, METH_NOARGS, "[(name, the variable that it is a slot of)…]"},
    {"shown", shown, METH_NOARGS, "names to fetch of the last text's expression statements"},
    {"shown_text", shown_text, METH_NOARGS, "the values of those decided while compiling"},
    {"names", names, METH_VARARGS, "names(kind, of)"},
    {"describe", describe, METH_O, "documentation and head of a function or an entry"},
    {"read", read_variable, METH_O, "a variable's value"},
    {"write", write_variable, METH_VARARGS, "write(name, value, dtype)"},
    {"save", save, METH_O, "save(path)"},
    {"check_save", check_save, METH_O, "check_save(path)"},
    {"restore", restore, METH_O, "restore(path)"},
    {"restore_partial", restore_partial, METH_O, "restore_partial(path)"},
    {"is_client", is_client, METH_NOARGS, "whether this process reads texts and runs steps"},
    {"serve", serve, METH_NOARGS, "serves the client until it ends"},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot slots[] = {{Py_tp_new, (void *)new_session},
                              {Py_tp_dealloc, (void *)dealloc},
                              {Py_tp_methods, methods},
                              {0, NULL}};

static PyType_Spec spec = {"leat._core.Session", sizeof(core_session), 0, Py_TPFLAGS_DEFAULT,
                           slots};

static PyObject *option_names(void) {
  PyObject *names = PyTuple_New(OPTIONS);
  for (int i = 0; names && i < OPTIONS; i++) {
    PyObject *name = core_string(option_table[i].name);
    if (!name || PyTuple_SetItem(names, i, name)) Py_CLEAR(names);
  }
  return names;
}

bool core_session_register(PyObject *module) {
  PyObject *names = option_names();
  if (!names || PyModule_AddObject(module, "option_names", names)) {
    Py_XDECREF(names);
    return false;
  }
  core_session_type = (PyTypeObject *)PyType_FromSpec(&spec);
  return core_session_type &&
         PyModule_AddObject(module, "Session", core_ref((PyObject *)core_session_type)) == 0;
}
