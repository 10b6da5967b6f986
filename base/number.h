// Numbers as all layers print them, and what an integer dtype holds.
#ifndef LEAT_BASE_NUMBER_H
#define LEAT_BASE_NUMBER_H

#include "base/text.h"
#include "leat/dtype.h"

// An integer, an f32 or an f64, perhaps not aligned: the shortest digits that read back as it.
void leat_number_print(leat_dtype dtype, const void *number, leat_text *out);

// Whether an integer dtype has the value; of u64 those up to INT64_MAX.
bool leat_integer_fits(leat_dtype dtype, int64_t value);

#endif
