#include "python/core/arrays.h"

enum { CODE_INT, CODE_UINT, CODE_FLOAT, CODE_BFLOAT = 4, CODE_COMPLEX, CODE_BOOL };

static const struct {
  char kind;
  uint8_t code;
} kinds[] = {
    [LEAT_KIND_BOOL] = {'b', CODE_BOOL},       [LEAT_KIND_SIGNED] = {'i', CODE_INT},
    [LEAT_KIND_UNSIGNED] = {'u', CODE_UINT},   [LEAT_KIND_FLOAT] = {'f', CODE_FLOAT},
    [LEAT_KIND_COMPLEX] = {'c', CODE_COMPLEX}, [LEAT_KIND_STRING] = {'O', UINT8_MAX},
};

char array_kind(leat_dtype dtype) {
  return dtype == LEAT_bf16 ? 'V' : kinds[leat_dtype_kind_of(dtype)].kind;
}

bool array_dtype(char kind, int size, leat_dtype *out) {
  for (int i = 0; i < LEAT_DTYPE_COUNT; i++) {
    *out = (leat_dtype)i;
    if (*out != LEAT_str && array_kind(*out) == kind && (int)leat_dtype_size(*out) == size)
      return true;
  }
  return false;
}

dlpack_dtype dlpack_dtype_of(leat_dtype dtype) {
  uint8_t code = dtype == LEAT_bf16 ? CODE_BFLOAT : kinds[leat_dtype_kind_of(dtype)].code;
  return (dlpack_dtype){code, (uint8_t)(8 * leat_dtype_size(dtype)), 1};
}

bool dlpack_dtype_read(dlpack_dtype dtype, leat_dtype *out) {
  for (int i = 0; i < LEAT_DTYPE_COUNT; i++) {
    *out = (leat_dtype)i;
    dlpack_dtype own = dlpack_dtype_of(*out);
    if (own.code == dtype.code && own.bits == dtype.bits && dtype.lanes == 1) return true;
  }
  return false;
}
