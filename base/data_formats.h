// The formats that base/ reads itself. For base/data_*.c alone.
#ifndef LEAT_BASE_DATA_FORMATS_H
#define LEAT_BASE_DATA_FORMATS_H

#include "base/data_file.h"

extern const leat_data_format leat_npy_format, leat_npz_format, leat_safetensors_format,
    leat_safetensors_index_format;

// The process's; all zero at first.
leat_data_extension leat_data_extended(void);

#endif
