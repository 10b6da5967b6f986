// NumPy's .npy files (numpy.lib.format): versions 1.0, 2.0 and 3.0 are read, 1.0 is written.
//
// Stated limits: a header of at most 65,535 bytes, rank at most LEAT_MAX_RANK, little-endian, the
// file ends with its data. Fortran order is read, C order written. Text is read: bytes (`|S5`) and
// code points (`<U5`), which become UTF-8, without the NULs at an element's end, which NumPy adds;
// strings are written as code points where all are UTF-8, else as bytes, each with NULs up to the
// longest. bf16 is two bytes of anything, and one byte of anything a u8: the code of a float8 or an
// int4.
#ifndef LEAT_BASE_NPY_H
#define LEAT_BASE_NPY_H

#include "base/file.h"
#include "base/text.h"
#include "leat/dtype.h"

typedef struct leat_npy {
  leat_tensor tensor; // its data is read-only and valid until closed, perhaps not aligned; it lies
                      // in the file, or in `made`
  leat_file_view file;
  void *made; // what does not lie in the file as a tensor does; NULL: nothing
} leat_npy;

// Reads a whole .npy file that lies in memory, which is borrowed until closed.
LEAT_MUST_USE leat_status leat_npy_parse(leat_npy *out, const void *bytes, size_t size,
                                         leat_error *error);

// Dtype and shape of one that has `size` bytes, of which the first `known` are there: the header,
// or more than any header has.
enum { LEAT_NPY_LARGEST_HEADER = 65535 + 12 };
LEAT_MUST_USE leat_status leat_npy_describe(leat_tensor *out, const void *bytes, size_t known,
                                            uint64_t size, leat_error *error);

LEAT_MUST_USE leat_status leat_npy_open(leat_npy *out, const char *path, leat_error *error);
void leat_npy_close(leat_npy *npy);

// Adds the header that goes before the tensor's data: a multiple of 64 bytes.
void leat_npy_add_header(leat_text *out, const leat_tensor *tensor);
LEAT_MUST_USE leat_status leat_npy_write(const char *path, const leat_tensor *tensor,
                                         leat_error *error);

#endif
