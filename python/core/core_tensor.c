// leat._core.Tensor: memory that Python's arrays view, through NumPy's array interface and DLPack.
// It is malloc'ed, or a step's, which is kept as long as one of its tensors is.
#include "python/core/arrays.h"
#include "python/core/core.h"

#include <stdlib.h>
#include <string.h>

typedef struct core_tensor {
  PyObject_HEAD leat_tensor tensor;
  core_holder *holder; // NULL: the data is malloc'ed, or …
  PyObject *array;     // … this array's, which was donated; NULL: none's
  bool read_only;
  int64_t strides[LEAT_MAX_RANK]; // bytes
} core_tensor;

static PyTypeObject *tensor_type;

// -- Memory of steps ------------------------------------------------------------------------------

core_holder *core_holder_create(core_step *step, leat_results *results) {
  core_holder *holder = malloc(sizeof *holder);
  if (!holder) {
    leat_results_release(results);
    PyErr_NoMemory();
    return NULL;
  }
  *holder = (core_holder){.tensors = 1, .results = results, .step = step};
  Py_INCREF(step);
  step->session->views++;
  return holder;
}

void core_holder_release(core_holder *holder) {
  if (--holder->tensors) return;
  core_step *step = holder->step;
  leat_results_release(holder->results);
  free(holder);
  core_session_view_ends(step->session);
  Py_DECREF(step);
}

// -- Life -----------------------------------------------------------------------------------------

static core_tensor *create(const leat_tensor *tensor) {
  core_tensor *self = (core_tensor *)PyType_GenericAlloc(tensor_type, 0);
  if (!self) return NULL;
  self->tensor = *tensor;
  int64_t stride = (int64_t)leat_dtype_size(tensor->dtype);
  for (int i = tensor->rank - 1; i >= 0; i--) {
    self->strides[i] = stride;
    stride *= tensor->shape[i] > 0 ? tensor->shape[i] : 1;
  }
  return self;
}

static PyObject *wrapped(core_tensor *self) {
  PyObject *out = PyObject_CallFunctionObjArgs(core_hook.wrap, (PyObject *)self, NULL);
  Py_DECREF((PyObject *)self);
  return out;
}

// [bytes…] of a tensor of str, with its shape.
static PyObject *strings_of(const leat_tensor *tensor) {
  const leat_str *items = tensor->data;
  int64_t count = leat_shape_elements(tensor->rank, tensor->shape);
  PyObject *list = PyList_New(count), *shape = PyTuple_New(tensor->rank);
  bool ok = list && shape;
  for (int64_t i = 0; ok && i < count; i++) {
    PyObject *bytes = PyBytes_FromStringAndSize(items[i].data, (Py_ssize_t)items[i].size);
    ok = bytes && PyList_SetItem(list, i, bytes) == 0;
  }
  for (int i = 0; ok && i < tensor->rank; i++)
    ok = PyTuple_SetItem(shape, i, PyLong_FromLongLong(tensor->shape[i])) == 0;
  PyObject *both = ok ? Py_BuildValue("(OO)", list, shape) : NULL;
  PyObject *out = both ? PyObject_CallFunctionObjArgs(core_hook.wrap, both, NULL) : NULL;
  Py_XDECREF(both);
  Py_XDECREF(list);
  Py_XDECREF(shape);
  return out;
}

PyObject *core_tensor_give(const leat_tensor *tensor) {
  if (tensor->dtype == LEAT_str) {
    PyObject *strings = strings_of(tensor);
    free(tensor->data);
    return strings;
  }
  core_tensor *self = create(tensor);
  if (self) return wrapped(self);
  free(tensor->data);
  return NULL;
}

static PyObject *copy_of(const leat_tensor *tensor) {
  leat_tensor copy = *tensor;
  int64_t bytes = leat_tensor_bytes(tensor);
  copy.data = malloc(bytes > 0 ? (size_t)bytes : 1);
  if (!copy.data) return PyErr_NoMemory();
  memcpy(copy.data, tensor->data, (size_t)bytes);
  return core_tensor_give(&copy);
}

PyObject *core_tensor_view(const leat_tensor *tensor, core_holder *holder, bool read_only) {
  if (tensor->dtype == LEAT_str) return strings_of(tensor);
  if (!holder) return copy_of(tensor);
  core_tensor *self = create(tensor);
  if (!self) return NULL;
  self->holder = holder;
  self->read_only = read_only;
  holder->tensors++;
  return wrapped(self);
}

PyObject *core_tensor_within(const leat_tensor *tensor, PyObject *array) {
  core_tensor *self = create(tensor);
  if (!self) return NULL;
  self->array = core_ref(array);
  return wrapped(self);
}

static void dealloc(PyObject *object) {
  core_tensor *self = (core_tensor *)object;
  PyTypeObject *type = Py_TYPE(object);
  if (self->holder)
    core_holder_release(self->holder);
  else if (self->array)
    Py_DECREF(self->array);
  else
    free(self->tensor.data);
  PyObject_Free(object);
  Py_DECREF(type);
}

// -- What it says ---------------------------------------------------------------------------------

static PyObject *get_dtype(PyObject *self, void *none) {
  (void)none;
  return core_string(leat_dtype_name(((core_tensor *)self)->tensor.dtype));
}

static PyObject *get_shape(PyObject *self, void *none) {
  const leat_tensor *tensor = &((core_tensor *)self)->tensor;
  PyObject *shape = PyTuple_New(tensor->rank);
  (void)none;
  for (int i = 0; shape && i < tensor->rank; i++)
    if (PyTuple_SetItem(shape, i, PyLong_FromLongLong(tensor->shape[i]))) Py_CLEAR(shape);
  return shape;
}

static PyObject *get_read_only(PyObject *self, void *none) {
  (void)none;
  return PyBool_FromLong(((core_tensor *)self)->read_only);
}

static PyObject *to_bytes(PyObject *self, PyObject *none) {
  const leat_tensor *tensor = &((core_tensor *)self)->tensor;
  (void)none;
  return PyBytes_FromStringAndSize(tensor->data, (Py_ssize_t)leat_tensor_bytes(tensor));
}

// -- NumPy's array interface ----------------------------------------------------------------------

typedef struct shown_array {
  array_interface interface;
  intptr_t shape[LEAT_MAX_RANK], strides[LEAT_MAX_RANK];
} shown_array;

static void free_array(PyObject *capsule) {
  free(PyCapsule_GetPointer(capsule, NULL));
  Py_XDECREF((PyObject *)PyCapsule_GetContext(capsule));
}

static PyObject *get_array(PyObject *object, void *none) {
  core_tensor *self = (core_tensor *)object;
  shown_array *array = calloc(1, sizeof *array);
  (void)none;
  if (!array) return PyErr_NoMemory();
  for (int i = 0; i < self->tensor.rank; i++) {
    array->shape[i] = (intptr_t)self->tensor.shape[i];
    array->strides[i] = (intptr_t)self->strides[i];
  }
  array->interface = (array_interface){.two = 2,
                                       .rank = self->tensor.rank,
                                       .kind = array_kind(self->tensor.dtype),
                                       .size = (int)leat_dtype_size(self->tensor.dtype),
                                       .flags = ARRAY_C_CONTIGUOUS | ARRAY_ALIGNED | ARRAY_NATIVE |
                                                (self->read_only ? 0 : ARRAY_WRITEABLE),
                                       .shape = array->shape,
                                       .strides = array->strides,
                                       .data = self->tensor.data};
  PyObject *capsule = PyCapsule_New(array, NULL, free_array);
  if (!capsule)
    free(array);
  else if (!PyCapsule_SetContext(capsule, object))
    Py_INCREF(object);
  return capsule;
}

// -- DLPack ---------------------------------------------------------------------------------------

typedef struct shared_tensor {
  dlpack_managed managed;
  int64_t shape[LEAT_MAX_RANK];
} shared_tensor;

// By whoever took the tensor, in any thread.
static void end_sharing(dlpack_managed *managed) {
  PyGILState_STATE state = PyGILState_Ensure();
  Py_DECREF((PyObject *)managed->context);
  free(managed);
  PyGILState_Release(state);
}

// Nobody took it.
static void free_shared(PyObject *capsule) {
  if (PyCapsule_IsValid(capsule, "dltensor"))
    end_sharing(PyCapsule_GetPointer(capsule, "dltensor"));
}

static PyObject *dlpack(PyObject *object, PyObject *args, PyObject *named) {
  core_tensor *self = (core_tensor *)object;
  (void)args, (void)named; // of one version and on one device it can be alone
  if (self->read_only) {
    PyErr_SetString(PyExc_BufferError, "a constant of the program: copy it first");
    return NULL;
  }
  shared_tensor *shared = calloc(1, sizeof *shared);
  if (!shared) return PyErr_NoMemory();
  memcpy(shared->shape, self->tensor.shape, sizeof shared->shape);
  shared->managed = (dlpack_managed){.tensor = {.data = self->tensor.data,
                                                .device = {DLPACK_CPU, 0},
                                                .rank = self->tensor.rank,
                                                .dtype = dlpack_dtype_of(self->tensor.dtype),
                                                .shape = shared->shape},
                                     .context = core_ref(object),
                                     .end = end_sharing};
  PyObject *capsule = PyCapsule_New(&shared->managed, "dltensor", free_shared);
  if (!capsule) end_sharing(&shared->managed);
  return capsule;
}

static PyObject *dlpack_device(PyObject *self, PyObject *none) {
  (void)self, (void)none;
  return Py_BuildValue("(ii)", DLPACK_CPU, 0);
}

// -- The type -------------------------------------------------------------------------------------

static PyGetSetDef members[] = {
    {"dtype", get_dtype, NULL, "its name, as f32", NULL},
    {"shape", get_shape, NULL, "its extents", NULL},
    {"read_only", get_read_only, NULL, "whether it is a constant of the program", NULL},
    {"__array_struct__", get_array, NULL, "for NumPy", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyMethodDef methods[] = {
    {"tobytes", to_bytes, METH_NOARGS, "a copy of its bytes, row by row"},
    {"__dlpack__", CORE_CALL(dlpack), METH_VARARGS | METH_KEYWORDS, "for from_dlpack"},
    {"__dlpack_device__", dlpack_device, METH_NOARGS, "the processor"},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot slots[] = {
    {Py_tp_dealloc, (void *)dealloc}, {Py_tp_getset, members}, {Py_tp_methods, methods}, {0, NULL}};

static PyType_Spec spec = {"leat._core.Tensor", sizeof(core_tensor), 0, Py_TPFLAGS_DEFAULT, slots};

bool core_tensor_register(PyObject *module) {
  tensor_type = (PyTypeObject *)PyType_FromSpec(&spec);
  return tensor_type &&
         PyModule_AddObject(module, "Tensor", core_ref((PyObject *)tensor_type)) == 0;
}
