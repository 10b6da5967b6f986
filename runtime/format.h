// Tensors as text for people, as NumPy prints them: nested brackets, columns aligned, shortest
// floats, long axes summarised with `...`.
#ifndef LEAT_RUNTIME_FORMAT_H
#define LEAT_RUNTIME_FORMAT_H

#include "base/text.h"
#include "leat/dtype.h"

enum { LEAT_FORMAT_THRESHOLD = 1000, LEAT_FORMAT_EDGE = 3 }; // summarised beyond; items kept

void leat_tensor_format(const leat_tensor *tensor, leat_text *out);
// "y: f32[2, 3]"; without a name the type alone.
void leat_type_format(const char *name, const leat_tensor *tensor, leat_text *out);
// "y: f32[3] = [1.0 2.0 3.0]", as results are shown.
void leat_result_format(const char *name, const leat_tensor *tensor, leat_text *out);
// One element, as in a tensor.
void leat_element_format(leat_dtype dtype, const void *element, leat_text *out);

#endif
