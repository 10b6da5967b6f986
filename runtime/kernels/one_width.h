// The vectors of VECTOR_BYTES, or without it single numbers, and PASS over them: see each_width.h.
#ifndef __GNUC__
#error "transforms and factorisations need vectors: compile this with gcc or clang"
#endif
#ifdef VECTOR_BYTES
enum { NAME(LANES) = VECTOR_BYTES / sizeof(REAL) };
typedef REAL NAME(vector)
    __attribute__((vector_size(VECTOR_BYTES), aligned(sizeof(REAL)), may_alias));
#else
enum { NAME(LANES) = 1 };
typedef REAL NAME(vector);
#endif
#define V NAME(vector)
#define INLINE TARGET static inline __attribute__((always_inline))
#include PASS
#undef INLINE
#undef V
#undef NAME
#undef TARGET
#undef VECTOR_BYTES
