// The module leat-zlib: the only code that sees zlib.
#ifndef LEAT_BASE_ZLIB_INFLATE_H
#define LEAT_BASE_ZLIB_INFLATE_H

#include "leat/status.h"

#include <stddef.h>

// As leat_data_extension.inflate (base/data_file.h).
typedef leat_status leat_inflater(const void *from, size_t from_size, void *to, size_t to_size,
                                  leat_error *error);

#endif
