// A call of the library. While it lasts the GIL is free, so that other threads of Python go on; one
// thread at a time is in a session, and who waits for it has no GIL; and ^C ends what the main
// thread compiles or runs, for Python's own handler only notes that it came.
#include "python/core/core.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { MILLISECOND = 1000000, LOOK = 50 * MILLISECOND, SECOND = 1000 * MILLISECOND }; // ns

// -- ^C -------------------------------------------------------------------------------------------

// Of the main thread, which Python runs its handlers in.
static _Atomic(leat_session *) watched;
static _Atomic bool came;
static struct sigaction first, previous; // that were there before; `first`: at the first call

static void on_interrupt(int number, siginfo_t *info, void *context) {
  static __thread volatile sig_atomic_t within; // a handler behind, which has come before since
  const struct sigaction *next = within++ ? &first : &previous;
  leat_session *session = atomic_load(&watched);
  if (session) {
    atomic_store(&came, true);
    leat_session_interrupt(session, true);
  }
  if (next->sa_flags & SA_SIGINFO)
    next->sa_sigaction(number, info, context);
  else if (next->sa_handler != SIG_DFL && next->sa_handler != SIG_IGN)
    next->sa_handler(number);
  within--;
}

static bool is_main_thread(void) {
  static __thread int known; // 1: it is, 2: it is not
  if (!known) known = syscall(SYS_gettid) == getpid() ? 1 : 2;
  return known == 1;
}

static bool stand_before_handler(void) {
  struct sigaction now, action = {.sa_flags = SA_SIGINFO};
  if (sigaction(SIGINT, NULL, &now)) return false;
  if (now.sa_flags & SA_SIGINFO && now.sa_sigaction == on_interrupt) return true;
  if (!(now.sa_flags & SA_SIGINFO) && (now.sa_handler == SIG_DFL || now.sa_handler == SIG_IGN))
    return false;
  action.sa_sigaction = on_interrupt;
  action.sa_flags |= now.sa_flags;
  action.sa_mask = now.sa_mask;
  previous = now;
  if (!first.sa_handler) first = now;
  return sigaction(SIGINT, &action, NULL) == 0;
}

// Stands before the handler that there is, if it is one, and stays until somebody sets another.
// Whether somebody did takes longer to find out than a brief step: there it is looked at once a
// millisecond.
static bool stands_before_handler(bool brief) {
  static int64_t looked;
  static bool stood;
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC_COARSE, &time);
  int64_t now = (int64_t)time.tv_sec * SECOND + time.tv_nsec;
  if (brief && now - looked < MILLISECOND) return stood;
  looked = now;
  return stood = stand_before_handler();
}

// Only where Python, or somebody else, handles ^C at all.
static void watch(core_call *call, bool brief) {
  call->watched_before = atomic_load(&watched);
  call->watches = is_main_thread() && (call->watched_before || stands_before_handler(brief));
  if (call->watches) atomic_store(&watched, call->self->session);
}

static void stop_watching(core_call *call) {
  if (call->watches) atomic_store(&watched, call->watched_before);
}

// -- The call -------------------------------------------------------------------------------------

static void destroy_deferred(core_session *self) {
  while (self->deferred) {
    core_deferred *gone = self->deferred;
    self->deferred = gone->next;
    leat_step_destroy(gone->step);
    free(gone);
  }
}

bool core_is_open(const core_session *self) {
  if (self->session && !self->closes) return true;
  PyErr_SetString(PyExc_ValueError, "the session is closed");
  return false;
}

// Looks now and then whether ^C came.
static bool wait_for_lock(core_session *self) {
  while (pthread_mutex_trylock(&self->lock)) {
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += LOOK;
    if (until.tv_nsec >= SECOND) until.tv_sec++, until.tv_nsec -= SECOND;
    PyThreadState *thread = PyEval_SaveThread();
    bool taken = !pthread_mutex_timedlock(&self->lock, &until);
    PyEval_RestoreThread(thread);
    if (taken) return true;
    if (PyErr_CheckSignals()) return false;
  }
  return true;
}

bool core_begin(core_call *call, core_session *self) {
  return core_begin_brief(call, self, false);
}

bool core_begin_brief(core_call *call, core_session *self, bool brief) {
  *call = (core_call){.self = self};
  if (!core_is_open(self)) return false;
  Py_INCREF(self);
  if (!wait_for_lock(self)) {
    Py_DECREF(self);
    return false;
  }
  if (!core_is_open(self)) {
    pthread_mutex_unlock(&self->lock);
    Py_DECREF(self);
    return false;
  }
  destroy_deferred(self);
  watch(call, brief);
  call->thread = PyEval_SaveThread();
  return true;
}

// [(severity, file, line, column, message)…]
static PyObject *problems_of(const leat_session *session) {
  static const char *const severities[] = {"error", "warning", "note"};
  PyObject *list = PyList_New(0);
  for (int i = 0; list && i < leat_session_problem_count(session); i++) {
    const leat_problem *problem = leat_session_problem(session, i);
    PyObject *item =
        Py_BuildValue("(sNiiN)", severities[problem->severity], core_string(problem->file),
                      problem->line, problem->column, core_string(problem->message));
    if (!item || PyList_Append(list, item)) Py_CLEAR(list);
    Py_XDECREF(item);
  }
  return list;
}

static void raise_failure(const leat_session *session, leat_status status) {
  PyObject *problems = problems_of(session);
  if (!problems) return;
  PyObject *error = PyObject_CallFunction(core_hook.error, "sNN", leat_status_name(status),
                                          core_string(leat_session_message(session)), problems);
  if (error) PyErr_SetObject((PyObject *)Py_TYPE(error), error);
  Py_XDECREF(error);
}

static bool warn(const leat_session *session) {
  const char *message = leat_session_message(session);
  if (!message[0]) return true;
  PyObject *words = core_string(message);
  PyObject *done = words ? PyObject_CallFunctionObjArgs(core_hook.warn, words, NULL) : NULL;
  Py_XDECREF(words);
  Py_XDECREF(done);
  return done != NULL;
}

bool core_ended(core_call *call, leat_status status) {
  leat_session *session = call->self->session;
  stop_watching(call);
  PyEval_RestoreThread(call->thread);
  if (call->watches && atomic_exchange(&came, false)) {
    leat_session_interrupt(session, false);
    if (PyErr_CheckSignals()) return false;
  }
  if (status) raise_failure(session, status);
  return !status && (call->quiet || warn(session));
}

PyObject *core_finish(core_call *call, PyObject *out) {
  if (call->self->stopped) leat_session_interrupt(call->self->session, false);
  call->self->stopped = false;
  pthread_mutex_unlock(&call->self->lock);
  Py_DECREF(call->self);
  return out;
}
