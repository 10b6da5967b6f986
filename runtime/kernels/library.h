// The functions of include/leat/library.def by their symbols, `leat_library_<name>`.
#ifndef LEAT_RUNTIME_KERNELS_LIBRARY_H
#define LEAT_RUNTIME_KERNELS_LIBRARY_H

#include "leat/artifact.h"

leat_kernel_function leat_library_find(const char *symbol); // NULL: no such function

#endif
