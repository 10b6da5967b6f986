// Includes PASS, the path of a header, once for single numbers and once for each width of vectors
// of REAL that a CPU may have, the WIDEST of so many bytes; a compiler without GNU C's vectors has
// single numbers alone. It names what it defines NAME(x) and marks it TARGET; V is the vector of
// LANES numbers.
#ifndef __GNUC__
#define WIDEST 0
#elif defined __x86_64__
#define WIDEST 64
#else
#define WIDEST 16
#endif
#define NAME(x) R(x##_1)
#define TARGET
#include "runtime/kernels/one_width.h"
#if WIDEST >= 16
#define NAME(x) R(x##_16)
#define TARGET
#define VECTOR_BYTES 16
#include "runtime/kernels/one_width.h"
#endif
#if WIDEST == 64
#define NAME(x) R(x##_32)
#define TARGET __attribute__((target("avx2")))
#define VECTOR_BYTES 32
#include "runtime/kernels/one_width.h"
#define NAME(x) R(x##_64)
#define TARGET __attribute__((target("avx512f")))
#define VECTOR_BYTES 64
#include "runtime/kernels/one_width.h"
#endif
#undef PASS
