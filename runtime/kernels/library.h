// The functions of include/leat/library.def by their symbols.
#ifndef LEAT_RUNTIME_KERNELS_LIBRARY_H
#define LEAT_RUNTIME_KERNELS_LIBRARY_H

#include "leat/artifact.h"

leat_kernel_function leat_library_find(const char *symbol); // of libleat_rt; NULL: no such function
const char *leat_library_module(const char *symbol);        // whose it is; NULL: no module's

#endif
