// How others hand arrays around: NumPy's array interface (numpy.org, "The array interface
// protocol", version 3, C side) and DLPack (dmlc/dlpack, the structures before version 1). Both are
// binary interfaces: the members, their order and their types are theirs.
#ifndef LEAT_PYTHON_ARRAYS_H
#define LEAT_PYTHON_ARRAYS_H

#include "leat/dtype.h"

typedef struct array_interface {
  int two; // 2
  int rank;
  char kind; // of an element: `b` bool, `i`, `u`, `f`, `c`; `V` what NumPy has no name for
  int size;  // of an element, in bytes
  int flags;
  intptr_t *shape, *strides; // strides in bytes
  void *data;
  void *description;
} array_interface;

enum {
  ARRAY_C_CONTIGUOUS = 0x1,
  ARRAY_ALIGNED = 0x100,
  ARRAY_NATIVE = 0x200, // byte order
  ARRAY_WRITEABLE = 0x400,
};

typedef struct dlpack_device {
  int kind, number;
} dlpack_device_id;

enum { DLPACK_CPU = 1, DLPACK_CUDA_HOST = 3 };

typedef struct dlpack_dtype {
  uint8_t code, bits;
  uint16_t lanes;
} dlpack_dtype;

typedef struct dlpack_tensor {
  void *data;
  dlpack_device_id device;
  int32_t rank;
  dlpack_dtype dtype;
  int64_t *shape, *strides; // strides in elements; NULL: row by row
  uint64_t offset;          // bytes
} dlpack_tensor;

typedef struct dlpack_managed {
  dlpack_tensor tensor;
  void *context;
  void (*end)(struct dlpack_managed *managed);
} dlpack_managed;

char array_kind(leat_dtype dtype);
// False: there is no such dtype.
bool array_dtype(char kind, int size, leat_dtype *out);
dlpack_dtype dlpack_dtype_of(leat_dtype dtype);
bool dlpack_dtype_read(dlpack_dtype dtype, leat_dtype *out);

#endif
