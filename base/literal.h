// Tensors as literals of the language: numbers, `true`, "strings", complex(1, 2), in nested lists.
#ifndef LEAT_BASE_LITERAL_H
#define LEAT_BASE_LITERAL_H

#include "base/text.h"
#include "leat/dtype.h"

// An element, perhaps not aligned: what reads back as it.
void leat_element_print(leat_dtype dtype, const void *element, leat_text *out);
// All elements. Of an empty tensor the lists do not say the whole shape.
void leat_tensor_print(const leat_tensor *tensor, leat_text *out);

#endif
