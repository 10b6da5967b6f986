// The module leat._core: sessions, steps and tensors of the public C API as Python objects, in
// Python's limited API (one binary for 3.9 and all later versions). What people call is the package
// around it (python/leat/), which hands the module what is easier said in Python (core_hooks).
//
//   core_module.c   the module, exceptions and texts     core_session.c  sessions
//   core_call.c     a call: the GIL, the lock, ^C         core_step.c     steps
//   core_feed.c     Python's arrays → tensors            core_tensor.c   tensors → Python's arrays
#ifndef LEAT_PYTHON_CORE_H
#define LEAT_PYTHON_CORE_H

#define PY_SSIZE_T_CLEAN
#define Py_LIMITED_API 0x03090000
#include <Python.h>

#include "leat/leat.h"

#include <pthread.h>
#include <signal.h>

#define CORE_CALL(function) ((PyCFunction)(void (*)(void))(function))

// Py_NewRef is one of 3.10.
static inline PyObject *core_ref(PyObject *object) {
  Py_INCREF(object);
  return object;
}

// -- What the package says (core_module.c) --------------------------------------------------------

typedef struct core_hooks {
  PyObject *error;   // (status, message, problems) → the exception to raise
  PyObject *warn;    // (message): a warning, which may be an exception
  PyObject *convert; // (value, name, dtype, type) → what core_feed.c can read
  PyObject *wrap;    // (Tensor) → what people get
} core_hooks;
extern core_hooks core_hook;

// -- Sessions (core_session.c) --------------------------------------------------------------------

// A step that nobody has any more, to be destroyed as soon as the session is free.
typedef struct core_deferred {
  leat_step *step;
  struct core_deferred *next;
} core_deferred;

typedef struct core_session {
  PyObject_HEAD leat_session *session; // NULL: closed
  pthread_mutex_t lock; // one thread at a time uses a session; nobody who has the GIL waits for it
  PyObject *print, *log;
  double deadline;         // its option
  PyObject *settings;      // keeps their texts
  core_deferred *deferred; // under the GIL
  int views;               // of its memory; under the GIL
  bool closes;             // when the last of them is gone
  bool stopped;            // the call that is in progress is to end; under the GIL
} core_session;

extern PyTypeObject *core_session_type;
bool core_session_register(PyObject *module);
void core_session_view_ends(core_session *self);

// -- Calls (core_call.c) --------------------------------------------------------------------------

// A call of the library, which others and ^C may come into:
//
//     core_call call;
//     if (!core_begin(&call, self)) return NULL;
//     leat_status status = leat_…(self->session, …); // the GIL is free, the session this thread's
//     PyObject *out = core_ended(&call, status) ? … : NULL;
//     return core_finish(&call, out);
typedef struct core_call {
  core_session *self;
  PyThreadState *thread;
  bool watches;
  bool quiet; // it only looks at something: what the call before said is no concern of it
  leat_session *watched_before;
} core_call;

bool core_is_open(const core_session *self);          // false: an exception is set
bool core_begin(core_call *call, core_session *self); // false: the session is closed, an exception
// The same of what is likely to be over in microseconds.
bool core_begin_brief(core_call *call, core_session *self, bool brief);
// Takes the GIL. False: an exception is set, for the call failed, its warnings are errors, or
// somebody typed ^C.
bool core_ended(core_call *call, leat_status status);
PyObject *core_finish(core_call *call, PyObject *out); // the session is others'

// -- Steps (core_step.c) --------------------------------------------------------------------------

typedef struct core_step {
  PyObject_HEAD leat_step *step;
  core_session *session;
  core_deferred *end; // made beforehand, as its end cannot fail
  bool brief;         // its last run was over soon
  bool donated;       // some feed is
} core_step;

extern PyTypeObject *core_step_type;
bool core_step_register(PyObject *module);
PyObject *core_step_create(core_session *session, leat_step *step);

// -- Tensors to Python (core_tensor.c) ------------------------------------------------------------

// Memory of a step that several tensors lie in.
typedef struct core_holder {
  int tensors; // under the GIL
  leat_results *results;
  core_step *step;
} core_holder;

bool core_tensor_register(PyObject *module);
// What people get of a tensor whose memory is malloc'ed, which this takes over even on failure.
PyObject *core_tensor_give(const leat_tensor *tensor);
// Of one that lies in the holder's memory.
PyObject *core_tensor_view(const leat_tensor *tensor, core_holder *holder, bool read_only);
PyObject *core_tensor_within(const leat_tensor *tensor, PyObject *array); // in an array's memory
core_holder *core_holder_create(core_step *step, leat_results *results);  // takes them over
void core_holder_release(core_holder *holder);

// -- Python's arrays as tensors (core_feed.c) -----------------------------------------------------

typedef struct core_feed {
  leat_tensor tensor; // borrowed from what is kept
  PyObject *keep;
  void *strings;
} core_feed;

// What `value` says, of the dtype (a name) if it says none itself; of a donated feed it is an array
// that can be written to. False: an exception is set.
bool core_feed_read(core_feed *feed, PyObject *value, const leat_port *port);
void core_feed_finish(core_feed *feed);

// -- Texts (core_module.c) ------------------------------------------------------------------------

// The bytes of a str, or a bytes; *keep owns them. NULL: an exception is set.
const char *core_text(PyObject *value, PyObject **keep);
// The same of all of a sequence; the strings live as long as *keep. NULL where an exception is set.
const char **core_texts(PyObject *values, PyObject **keep, int *count);
PyObject *core_string(const char *text); // None of NULL; what is no UTF-8 is escaped

#endif
