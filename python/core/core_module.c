// The module, what the package hands it, and texts.
#include "leat/keywords.h"
#include "python/core/core.h"

#include <stdlib.h>
#include <string.h>

core_hooks core_hook;

// -- Texts ----------------------------------------------------------------------------------------

const char *core_text(PyObject *value, PyObject **keep) {
  char *text = NULL;
  if (PyBytes_Check(value)) {
    Py_INCREF(value);
    *keep = value;
  } else if (PyUnicode_Check(value)) {
    *keep = PyUnicode_AsEncodedString(value, "utf-8", "surrogateescape");
  } else {
    *keep = NULL;
    PyErr_SetString(PyExc_TypeError, "expected a str");
  }
  if (!*keep || PyBytes_AsStringAndSize(*keep, &text, NULL) == 0) return text;
  Py_DECREF(*keep);
  *keep = NULL;
  return NULL;
}

// A capsule owns the array, the list what its members point to.
static void free_capsule(PyObject *capsule) {
  free(PyCapsule_GetPointer(capsule, NULL));
}

const char **core_texts(PyObject *values, PyObject **keep, int *count) {
  Py_ssize_t size = PySequence_Size(values);
  *keep = NULL;
  if (size < 0) return NULL;
  const char **texts = calloc((size_t)size + 1, sizeof *texts);
  if (!texts) return (const char **)PyErr_NoMemory();
  PyObject *owner = PyCapsule_New((void *)texts, NULL, free_capsule), *list = PyList_New(0);
  *keep = owner && list ? Py_BuildValue("(NN)", owner, list) : NULL;
  bool ok = *keep != NULL;
  for (Py_ssize_t i = 0; ok && i < size; i++) {
    PyObject *item = PySequence_GetItem(values, i), *bytes = NULL;
    texts[i] = item ? core_text(item, &bytes) : NULL;
    ok = texts[i] && PyList_Append(list, bytes) == 0;
    Py_XDECREF(bytes);
    Py_XDECREF(item);
  }
  *count = (int)size;
  if (ok) return texts;
  Py_CLEAR(*keep);
  return NULL;
}

PyObject *core_string(const char *text) {
  if (!text) Py_RETURN_NONE;
  return PyUnicode_DecodeUTF8(text, (Py_ssize_t)strlen(text), "surrogateescape");
}

// -- The module -----------------------------------------------------------------------------------

static PyObject *configure(PyObject *module, PyObject *args, PyObject *named) {
  static char *names[] = {"error", "warn", "convert", "wrap", NULL};
  core_hooks hook;
  (void)module;
  if (!PyArg_ParseTupleAndKeywords(args, named, "OOOO:configure", names, &hook.error, &hook.warn,
                                   &hook.convert, &hook.wrap))
    return NULL;
  Py_INCREF(hook.error);
  Py_INCREF(hook.warn);
  Py_INCREF(hook.convert);
  Py_INCREF(hook.wrap);
  core_hooks old = core_hook;
  core_hook = hook;
  Py_XDECREF(old.error);
  Py_XDECREF(old.warn);
  Py_XDECREF(old.convert);
  Py_XDECREF(old.wrap);
  Py_RETURN_NONE;
}

static PyObject *describe(PyObject *module, PyObject *name) {
  PyObject *bytes;
  const char *text = core_text(name, &bytes);
  (void)module;
  if (!text) return NULL;
  char *words = leat_describe(text);
  PyObject *out = core_string(words);
  free(words);
  Py_DECREF(bytes);
  return out;
}

static PyMethodDef functions[] = {
    {"describe", describe, METH_O, "what Leat itself has under a name"},
    {"configure", CORE_CALL(configure), METH_VARARGS | METH_KEYWORDS,
     "configure(error, warn, convert, wrap): what the package says"},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef definition = {PyModuleDef_HEAD_INIT,
                                        "leat._core",
                                        "Sessions, steps and tensors of libleat.",
                                        -1,
                                        functions,
                                        NULL,
                                        NULL,
                                        NULL,
                                        NULL};

PyMODINIT_FUNC PyInit__core(void);

// Each with a blank in front.
#define KEYWORD(id, spelling) " " spelling
#define DTYPE(id, size, kind) " " #id

PyMODINIT_FUNC PyInit__core(void) {
  PyObject *module = PyModule_Create(&definition);
  if (!module) return NULL;
  bool ok = core_session_register(module) && core_step_register(module) &&
            core_tensor_register(module) &&
            !PyModule_AddStringConstant(module, "version", LEAT_VERSION) &&
            !PyModule_AddStringConstant(module, "keywords", LEAT_KEYWORD_LIST(KEYWORD)) &&
            !PyModule_AddStringConstant(module, "dtypes", LEAT_DTYPE_LIST(DTYPE));
  if (ok) return module;
  Py_DECREF(module);
  return NULL;
}
