// The formats that base/ reads itself. For base/data_*.c and base/npz.c alone.
#ifndef LEAT_BASE_DATA_FORMATS_H
#define LEAT_BASE_DATA_FORMATS_H

#include "base/data_file.h"

extern const leat_data_format leat_npy_format, leat_npz_format, leat_safetensors_format,
    leat_safetensors_index_format;

// Of an open file, which is closed with it and on failure.
LEAT_MUST_USE leat_status leat_data_file_take(leat_data_file *out, const char *path,
                                              leat_file_view view, leat_error *error);
// Lists the tensors of one that has its path and its view; on failure it is closed.
LEAT_MUST_USE leat_status leat_data_file_open_view(leat_data_file *out,
                                                   const leat_data_format *format, bool verified,
                                                   leat_error *error);

// The process's; all zero at first.
leat_data_extension leat_data_extended(void);

#endif
