// What matrix_real.h and turn_real.h have in every width of vectors.
#include "runtime/kernels/gemm_pass.h"

#include "runtime/kernels/turn_pass.h"
