// The functions that compiled steps call like kernels, from include/leat/library.def.
#ifndef LEAT_RUNTIME_KERNELS_H
#define LEAT_RUNTIME_KERNELS_H

#include "leat/artifact.h"

#define LIBRARY(name)                                                                              \
  int32_t leat_library_##name(leat_frame *frame, const leat_arg *args, int64_t tile_begin,         \
                              int64_t tile_end);
#include "leat/library.def"

#endif
