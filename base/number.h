// Numbers as all layers print and read them, and what an integer dtype holds.
#ifndef LEAT_BASE_NUMBER_H
#define LEAT_BASE_NUMBER_H

#include "base/text.h"
#include "leat/dtype.h"

// An integer, an f32 or an f64, perhaps not aligned: the shortest digits that read back as it.
void leat_number_print(leat_dtype dtype, const void *number, leat_text *out);
// As printf writes it, in C's locale: an integer in notation `d`, f32 or f64 in `f`, `e` or `g`.
typedef struct leat_number_style {
  char notation, fill; // fill: a flag of printf, or 0
  int precision, width;
} leat_number_style;
void leat_number_format(leat_dtype dtype, const void *number, const leat_number_style *style,
                        leat_text *out);

// The element that `text` begins with goes to `out`, perhaps not aligned: true or false, a decimal
// integer, a float as strtod has it, a complex number as it is printed or one part of it (1.5-2j,
// 2j, 1.5). Returns where it ends; NULL: there is none. *out_fits: whether an integer dtype has it.
const char *leat_number_parse(leat_dtype dtype, const char *text, void *out, bool *out_fits);

// As strtod and strtof have it in the C locale: with a decimal point, whatever the process has set.
// errno is theirs.
double leat_read_f64(const char *text, char **out_end);
float leat_read_f32(const char *text, char **out_end);

// Its value; -1: it is none.
int leat_hex_digit(char c);

// Whether an integer dtype has the value; of u64 those up to INT64_MAX.
bool leat_integer_fits(leat_dtype dtype, int64_t value);

#endif
