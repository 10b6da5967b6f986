// The vectors of VECTOR_BYTES, or without it single numbers, and PASS over them: see each_width.h.
#if defined __clang__ || !defined __GNUC__ // clang unrolls short loops by itself
#define UNROLL
#else
#define UNROLL _Pragma("GCC unroll 8")
#endif
#ifdef VECTOR_BYTES
typedef REAL NAME(vector)
    __attribute__((vector_size(VECTOR_BYTES), aligned(sizeof(REAL)), may_alias));
#else
typedef REAL NAME(vector);
#endif
#define V NAME(vector)
#define LANES ((int)(sizeof(V) / sizeof(REAL)))
#define INLINE TARGET static inline __attribute__((always_inline))
#include PASS
#undef INLINE
#undef LANES
#undef V
#undef NAME
#undef TARGET
#undef VECTOR_BYTES
