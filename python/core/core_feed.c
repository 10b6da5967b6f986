// Python's arrays as tensors that borrow their memory. What has no array's interface (numbers,
// lists), or lies otherwise than row by row, the package's `convert` makes an array of first, or of
// strings a list.
#include "python/core/arrays.h"
#include "python/core/core.h"

#include <stdlib.h>
#include <string.h>

// What an attempt to read came to.
typedef enum outcome { FAILED, OTHER, READ } outcome;

static char nothing; // where an array without elements lies: NULL is no array

static outcome finish(leat_tensor *out, void *data) {
  out->data = data ? data : &nothing;
  return READ;
}

// -- NumPy's array interface ----------------------------------------------------------------------

static outcome read_array(core_feed *feed, PyObject *value, leat_dtype dtype) {
  enum { NEEDED = ARRAY_C_CONTIGUOUS | ARRAY_ALIGNED | ARRAY_NATIVE };
  PyObject *capsule = PyObject_GetAttrString(value, "__array_struct__");
  if (!capsule) {
    if (!PyErr_ExceptionMatches(PyExc_AttributeError)) return FAILED;
    PyErr_Clear();
    return OTHER;
  }
  feed->keep = capsule;
  const array_interface *array = PyCapsule_GetPointer(capsule, NULL);
  if (!array) return FAILED;
  if (array->two != 2 || array->rank > LEAT_MAX_RANK || (array->flags & NEEDED) != NEEDED ||
      !array_dtype(array->kind, array->size, &feed->tensor.dtype))
    return OTHER;
  if (!array->rank && feed->tensor.dtype != dtype) return OTHER; // a number
  feed->tensor.rank = array->rank;
  for (int i = 0; i < array->rank; i++) feed->tensor.shape[i] = array->shape[i];
  return finish(&feed->tensor, array->data);
}

// -- DLPack ---------------------------------------------------------------------------------------

static bool is_row_by_row(const dlpack_tensor *tensor) {
  int64_t stride = 1;
  for (int i = tensor->rank - 1; tensor->strides && i >= 0; i--) {
    if (tensor->shape[i] != 1 && tensor->strides[i] != stride) return false;
    stride *= tensor->shape[i];
  }
  return true;
}

static outcome read_shared(core_feed *feed, PyObject *value) {
  PyObject *capsule = PyObject_CallMethod(value, "__dlpack__", NULL);
  if (!capsule) {
    if (!PyErr_ExceptionMatches(PyExc_AttributeError)) return FAILED;
    PyErr_Clear();
    return OTHER;
  }
  Py_XDECREF(feed->keep);
  feed->keep = capsule; // its end gives the tensor back, as nobody takes it
  const dlpack_managed *managed = PyCapsule_GetPointer(capsule, "dltensor");
  if (!managed) return FAILED;
  const dlpack_tensor *tensor = &managed->tensor;
  if (tensor->device.kind != DLPACK_CPU && tensor->device.kind != DLPACK_CUDA_HOST) {
    PyErr_SetString(PyExc_ValueError, "an array of another device: bring it to the CPU first");
    return FAILED;
  }
  if (tensor->rank > LEAT_MAX_RANK || !is_row_by_row(tensor) ||
      !dlpack_dtype_read(tensor->dtype, &feed->tensor.dtype))
    return OTHER;
  feed->tensor.rank = tensor->rank;
  for (int i = 0; i < tensor->rank; i++) feed->tensor.shape[i] = tensor->shape[i];
  return finish(&feed->tensor, (char *)tensor->data + tensor->offset);
}

// -- What `convert` gives -------------------------------------------------------------------------

static bool read_shape(leat_tensor *out, PyObject *shape) {
  Py_ssize_t rank = PyTuple_Size(shape);
  if (rank > LEAT_MAX_RANK) PyErr_Format(PyExc_ValueError, "a rank above %d", LEAT_MAX_RANK);
  if (rank < 0 || rank > LEAT_MAX_RANK) return false;
  out->rank = (int32_t)rank;
  for (int i = 0; i < rank; i++) out->shape[i] = PyLong_AsLongLong(PyTuple_GetItem(shape, i));
  return !PyErr_Occurred();
}

// ([bytes…], shape)
static bool read_strings(core_feed *feed, PyObject *list) {
  Py_ssize_t count = PyList_Size(list);
  leat_str *strings = feed->strings = calloc((size_t)count + 1, sizeof *strings);
  if (!strings) return PyErr_NoMemory() != NULL;
  for (Py_ssize_t i = 0; i < count; i++) {
    char *data;
    Py_ssize_t size;
    if (PyBytes_AsStringAndSize(PyList_GetItem(list, i), &data, &size)) return false;
    strings[i] = (leat_str){data, (uint64_t)size};
  }
  feed->tensor.dtype = LEAT_str;
  feed->tensor.data = strings;
  return true;
}

// (bytes, dtype, shape), where there is no NumPy
static bool read_bytes(core_feed *feed, PyObject *bytes, PyObject *dtype) {
  PyObject *keep;
  const char *name = core_text(dtype, &keep);
  if (!name) return false;
  size_t size = strlen(name);
  bool known = leat_dtype_parse(name, size, &feed->tensor.dtype);
  Py_DECREF(keep);
  char *data = PyBytes_AsString(bytes);
  bool ok = known && data && PyBytes_Size(bytes) == leat_tensor_bytes(&feed->tensor);
  if (!ok && !PyErr_Occurred()) PyErr_SetString(PyExc_ValueError, "bytes of another shape");
  feed->tensor.data = data;
  return ok;
}

static bool read_tuple(core_feed *feed, PyObject *tuple) {
  Py_ssize_t size = PyTuple_Size(tuple);
  if (!read_shape(&feed->tensor, PyTuple_GetItem(tuple, size - 1))) return false;
  if (size == 2) return read_strings(feed, PyTuple_GetItem(tuple, 0));
  return read_bytes(feed, PyTuple_GetItem(tuple, 0), PyTuple_GetItem(tuple, 1));
}

static bool read_converted(core_feed *feed, PyObject *value, const leat_port *port) {
  PyObject *converted =
      PyObject_CallFunction(core_hook.convert, "OssN", value, port->name,
                            leat_dtype_name(port->dtype), core_string(port->type));
  Py_XDECREF(feed->keep);
  feed->keep = NULL;
  if (!converted) return false;
  if (PyTuple_Check(converted)) {
    bool ok = read_tuple(feed, converted);
    feed->keep = converted;
    return ok;
  }
  outcome read = read_array(feed, converted, feed->tensor.dtype);
  if (read == OTHER && !feed->keep) read = read_shared(feed, converted);
  if (read == OTHER)
    PyErr_Format(PyExc_TypeError, "feed `%s` is %s, not of a dtype that Leat lacks", port->name,
                 port->type);
  PyObject *both = read == READ ? PyTuple_Pack(2, converted, feed->keep) : NULL;
  Py_XDECREF(feed->keep);
  feed->keep = both;
  Py_DECREF(converted);
  return both != NULL;
}

// Nothing that would become another array first: whose memory would be given away?
static bool read_donated(core_feed *feed, PyObject *value, const leat_port *port) {
  outcome read = read_array(feed, value, port->dtype);
  if (read == FAILED) return false;
  const array_interface *array = read == READ ? PyCapsule_GetPointer(feed->keep, NULL) : NULL;
  if (!array)
    PyErr_Format(PyExc_TypeError,
                 "feed `%s` is donated: it must be an array of %s that lies row by row, as "
                 "numpy.ascontiguousarray gives one",
                 port->name, leat_dtype_name(port->dtype));
  else if (!(array->flags & ARRAY_WRITEABLE))
    PyErr_Format(PyExc_ValueError, "feed `%s` is donated, and the array is read-only: copy it",
                 port->name);
  return !PyErr_Occurred();
}

bool core_feed_read(core_feed *feed, PyObject *value, const leat_port *port) {
  *feed = (core_feed){.tensor = {.dtype = port->dtype}};
  if (port->donated) {
    bool ok = read_donated(feed, value, port);
    if (!ok) core_feed_finish(feed);
    return ok;
  }
  outcome read = port->dtype == LEAT_str ? OTHER : read_array(feed, value, port->dtype);
  if (read == OTHER && port->dtype != LEAT_str && !feed->keep) read = read_shared(feed, value);
  bool ok = read == READ || (read == OTHER && read_converted(feed, value, port));
  if (!ok) core_feed_finish(feed);
  return ok;
}

void core_feed_finish(core_feed *feed) {
  Py_CLEAR(feed->keep);
  free(feed->strings);
  feed->strings = NULL;
}
