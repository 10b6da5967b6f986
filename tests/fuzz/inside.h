// What a reader of any bytes must keep to: a tensor that it made no copy of lies inside them.
#ifndef LEAT_TESTS_FUZZ_INSIDE_H
#define LEAT_TESTS_FUZZ_INSIDE_H

#include "leat/dtype.h"

#include <stdint.h>
#include <stdlib.h>

static inline void expect_inside(const leat_tensor *tensor, const uint8_t *data, size_t size) {
  const uint8_t *begin = tensor->data;
  int64_t bytes = leat_tensor_bytes(tensor);
  if (begin < data || begin > data + size || bytes < 0 || bytes > data + size - begin) abort();
}

#endif
