// leat._core.Step: a step that is prepared. Its results stay where it has computed them, where they
// are a good part of the memory that the step computes in: that is taken over then and kept as long
// as one of the arrays is, and the next run computes in other memory. What is small is copied, so
// that a list of losses keeps no list of arenas. What was made in a donated array is that array.
#include "python/core/core.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { SMALL = 4096, MOST_OF_MEMORY = 8 }; // bytes; the memory, at most, over a result in it
enum { BRIEF = 50000 };                    // ns

PyTypeObject *core_step_type;

PyObject *core_step_create(core_session *session, leat_step *step) {
  core_deferred *end = calloc(1, sizeof *end);
  core_step *self = end ? (core_step *)PyType_GenericAlloc(core_step_type, 0) : NULL;
  if (!self) {
    free(end);
    return end ? NULL : PyErr_NoMemory();
  }
  self->step = end->step = step;
  self->session = session;
  self->end = end;
  for (int i = 0; i < leat_step_feed_count(step); i++)
    self->donated |= leat_step_feed(step, i)->donated;
  Py_INCREF(session);
  return (PyObject *)self;
}

// It may be that another thread is in the session, which then destroys the step: this one has the
// GIL, which what runs there may wait for.
static void dealloc(PyObject *object) {
  core_step *self = (core_step *)object;
  core_session *session = self->session;
  PyTypeObject *type = Py_TYPE(object);
  if (session->session) {
    self->end->next = session->deferred;
    session->deferred = self->end;
  } else {
    free(self->end);
  }
  Py_DECREF(session);
  PyObject_Free(object);
  Py_DECREF(type);
}

// -- Running --------------------------------------------------------------------------------------

typedef struct run_memory {
  core_feed *feeds;
  leat_tensor *tensors, *results;
  bool *views;
  int feed_count, result_count;
} run_memory;

static bool is_view(core_step *self, const leat_tensor *result, int i, uint64_t memory) {
  int64_t bytes = leat_tensor_bytes(result);
  if (result->dtype == LEAT_str || bytes < SMALL) return false;
  return leat_step_is_constant(self->step, i) ||
         (uint64_t)bytes >= memory / MOST_OF_MEMORY; // none, where it lies elsewhere
}

// Two fetches may be one value: whoever writes to one array does not change the other.
static bool overlaps(const leat_tensor *results, const bool *views, int i) {
  const char *begin = results[i].data, *end = begin + leat_tensor_bytes(&results[i]);
  for (int k = 0; k < i; k++) {
    const char *other = results[k].data;
    if (views[k] && other < end && begin < other + leat_tensor_bytes(&results[k])) return true;
  }
  return false;
}

// The feed in whose memory the result lies, or -1.
static int donated_feed(const core_step *self, const run_memory *m, int result) {
  for (int i = 0; self->donated && i < m->feed_count; i++)
    if (leat_step_feed(self->step, i)->donated && m->tensors[i].data &&
        m->tensors[i].data == m->results[result].data)
      return i;
  return -1;
}

// *taken: whether some are views of the step's memory.
static void choose_views(core_step *self, const run_memory *m, bool *taken) {
  uint64_t memory = leat_step_memory(self->step);
  *taken = false;
  for (int i = 0; i < m->result_count; i++) {
    bool donated = donated_feed(self, m, i) >= 0;
    bool view = donated || is_view(self, &m->results[i], i, memory);
    m->views[i] = view && !overlaps(m->results, m->views, i);
    *taken |= m->views[i] && !donated;
  }
}

static bool is_all_of(const leat_tensor *result, const leat_tensor *feed) {
  bool same = result->rank == feed->rank;
  for (int i = 0; same && i < result->rank; i++) same = result->shape[i] == feed->shape[i];
  return same;
}

// A result that lies in a donated array: the array itself, or another over its memory.
static PyObject *give_back(const run_memory *m, PyObject *given, int feed, int result) {
  PyObject *array = PyTuple_GetItem(given, feed);
  if (is_all_of(&m->results[result], &m->tensors[feed])) return core_ref(array);
  return core_tensor_within(&m->results[result], array);
}

// What was donated is nobody's to read any more: all its bits are set, which is NaN and -1. Who has
// a result there keeps it.
static void spoil_donated(const core_step *self, const run_memory *m) {
  for (int i = 0; self->donated && i < m->feed_count; i++) {
    bool spoils = leat_step_feed(self->step, i)->donated && m->tensors[i].data;
    for (int k = 0; k < m->result_count; k++)
      spoils = spoils && !(m->views[k] && donated_feed(self, m, k) == i);
    if (!spoils) continue;
    int byte = m->tensors[i].dtype == LEAT_bool ? 0 : 0xff;
    memset(m->tensors[i].data, byte, (size_t)leat_tensor_bytes(&m->tensors[i]));
  }
}

// A tuple of what people get.
static PyObject *give(core_step *self, const run_memory *m, PyObject *given) {
  core_holder *holder = NULL;
  leat_results *held;
  bool taken;
  const leat_tensor *results = m->results;
  const bool *views = m->views;
  int count = m->result_count;
  choose_views(self, m, &taken);
  if (taken && leat_step_take(self->step, &held) == LEAT_OK) {
    holder = core_holder_create(self, held);
    if (!holder) return NULL;
  }
  PyObject *out = PyTuple_New(count);
  for (int i = 0; out && i < count; i++) {
    bool constant = views[i] && leat_step_is_constant(self->step, i);
    int donated = views[i] ? donated_feed(self, m, i) : -1;
    PyObject *item = donated >= 0
                         ? give_back(m, given, donated, i)
                         : core_tensor_view(&results[i], views[i] ? holder : NULL, constant);
    if (!item || PyTuple_SetItem(out, i, item)) Py_CLEAR(out);
  }
  if (holder) core_holder_release(holder);
  spoil_donated(self, m);
  return out;
}

static void finish(run_memory *m) {
  for (int i = 0; i < m->feed_count; i++) core_feed_finish(&m->feeds[i]);
  free(m->feeds);
}

// One block; the feeds are empty.
static bool allocate(run_memory *m, const core_step *self) {
  size_t feeds = (size_t)leat_step_feed_count(self->step);
  size_t results = (size_t)leat_step_fetch_count(self->step);
  size_t size = feeds * (sizeof *m->feeds + sizeof *m->tensors) +
                results * (sizeof *m->results + sizeof *m->views) + 1;
  m->feeds = calloc(1, size);
  if (!m->feeds) return PyErr_NoMemory() != NULL;
  m->tensors = (leat_tensor *)(m->feeds + feeds);
  m->results = m->tensors + feeds;
  m->views = (bool *)(m->results + results);
  m->feed_count = (int)feeds;
  m->result_count = (int)results;
  return true;
}

static bool read_feeds(run_memory *m, const core_step *self, PyObject *given) {
  if (PyTuple_Size(given) != m->feed_count) {
    if (!PyErr_Occurred()) PyErr_Format(PyExc_TypeError, "expected %d feeds", m->feed_count);
    return false;
  }
  for (int i = 0; i < m->feed_count; i++) {
    PyObject *value = PyTuple_GetItem(given, i);
    if (value == Py_None) continue; // its default
    if (!core_feed_read(&m->feeds[i], value, leat_step_feed(self->step, i))) return false;
    m->tensors[i] = m->feeds[i].tensor;
  }
  return true;
}

static int64_t nanoseconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

// `deadline`: of each run of these; NULL: the session's.
static leat_status run_times(core_step *self, run_memory *m, long long times,
                             const double *deadline) {
  core_session *session = self->session;
  leat_status status = LEAT_OK;
  if (deadline) status = leat_session_set_deadline(session->session, *deadline);
  for (long long i = 0; i < times && !status; i++)
    status = leat_step_run(self->step, m->tensors, m->results);
  return status;
}

// The deadline is the session's again, which needs a thread.
static bool call_over(core_session *session) {
  if (!leat_session_set_deadline(session->session, session->deadline)) return true;
  return !PyErr_Occurred() && PyErr_NoMemory() != NULL;
}

static PyObject *run_with(core_step *self, run_memory *m, PyObject *given, long long times,
                          const double *deadline) {
  core_call call;
  if (!core_begin_brief(&call, self->session, self->brief)) return NULL;
  int64_t begin = nanoseconds();
  leat_status status = run_times(self, m, times, deadline);
  self->brief = nanoseconds() - begin < BRIEF;
  bool ok = core_ended(&call, status);
  if (deadline && !call_over(self->session)) ok = false;
  return core_finish(&call, ok ? give(self, m, given) : NULL);
}

// run((feed or None…), times, deadline or None)
static PyObject *run(PyObject *object, PyObject *args) {
  core_step *self = (core_step *)object;
  PyObject *feeds, *given = Py_None, *out = NULL;
  long long times;
  run_memory m = {0};
  if (!PyArg_ParseTuple(args, "O!L|O:run", &PyTuple_Type, &feeds, &times, &given)) return NULL;
  double seconds = given == Py_None ? 0 : PyFloat_AsDouble(given);
  const double *deadline = given == Py_None ? NULL : &seconds;
  if (PyErr_Occurred()) return NULL;
  if (!core_is_open(self->session)) return NULL;
  if (times < 1) {
    PyErr_SetString(PyExc_ValueError, "a step runs once at least");
    return NULL;
  }
  if (times > 1 && self->donated) {
    PyErr_SetString(PyExc_ValueError, "a donated array is there for one run, not for several");
    return NULL;
  }
  if (allocate(&m, self) && read_feeds(&m, self, feeds))
    out = run_with(self, &m, feeds, times, deadline);
  finish(&m);
  return out;
}

// -- What it takes and gives ----------------------------------------------------------------------

// [(name, dtype, rank, type, whether it may be left out)…]
static PyObject *ports(const core_step *self, int count,
                       const leat_port *(*get)(const leat_step *step, int i)) {
  PyObject *list = PyList_New(0);
  for (int i = 0; list && i < count; i++) {
    const leat_port *port = get(self->step, i);
    PyObject *item =
        Py_BuildValue("(NsiNN)", core_string(port->name), leat_dtype_name(port->dtype), port->rank,
                      core_string(port->type), PyBool_FromLong(port->has_fallback));
    if (!item || PyList_Append(list, item)) Py_CLEAR(list);
    Py_XDECREF(item);
  }
  return list;
}

static PyObject *get_feeds(PyObject *object, void *none) {
  const core_step *self = (core_step *)object;
  (void)none;
  return ports(self, leat_step_feed_count(self->step), leat_step_feed);
}

static PyObject *get_donated(PyObject *object, void *none) {
  const core_step *self = (core_step *)object;
  PyObject *list = PyList_New(0);
  (void)none;
  for (int i = 0; list && i < leat_step_feed_count(self->step); i++) {
    const leat_port *port = leat_step_feed(self->step, i);
    PyObject *name = port->donated ? core_string(port->name) : NULL;
    if (port->donated && (!name || PyList_Append(list, name))) Py_CLEAR(list);
    Py_XDECREF(name);
  }
  return list;
}

static PyObject *get_fetches(PyObject *object, void *none) {
  const core_step *self = (core_step *)object;
  (void)none;
  return ports(self, leat_step_fetch_count(self->step), leat_step_fetch);
}

// -- The type -------------------------------------------------------------------------------------

static PyGetSetDef members[] = {
    {"feeds", get_feeds, NULL, "[(name, dtype, rank, type, has_default)…]", NULL},
    {"fetches", get_fetches, NULL, "[(name, dtype, rank, type, False)…]", NULL},
    {"donated", get_donated, NULL, "names of the feeds that it may write to", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyMethodDef methods[] = {
    {"run", run, METH_VARARGS, "run((feed or None…), times, deadline or None) -> (result…)"},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot slots[] = {
    {Py_tp_dealloc, (void *)dealloc}, {Py_tp_getset, members}, {Py_tp_methods, methods}, {0, NULL}};

static PyType_Spec spec = {"leat._core.Step", sizeof(core_step), 0, Py_TPFLAGS_DEFAULT, slots};

bool core_step_register(PyObject *module) {
  core_step_type = (PyTypeObject *)PyType_FromSpec(&spec);
  return core_step_type &&
         PyModule_AddObject(module, "Step", core_ref((PyObject *)core_step_type)) == 0;
}
