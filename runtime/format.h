// Tensors as text for people, as NumPy prints them: nested brackets, columns aligned, shortest
// floats, long axes summarised with `...`.
#ifndef LEAT_RUNTIME_FORMAT_H
#define LEAT_RUNTIME_FORMAT_H

#include "base/text.h"
#include "leat/dtype.h"

enum { LEAT_FORMAT_THRESHOLD = 1000, LEAT_FORMAT_EDGE = 3 }; // summarised beyond; items kept

void leat_tensor_format(const leat_tensor *tensor, leat_text *out);
// One element, as in a tensor.
void leat_element_format(leat_dtype dtype, const void *element, leat_text *out);

#endif
