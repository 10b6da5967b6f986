// Two walks over the same elements: the first writes each for itself and finds the widest, the
// second puts them where they belong.
// It runs seldom: compiled for size.
#include "runtime/format.h"

#include "base/half.h"
#include "base/number.h"

#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

// Five (f16) or four (bf16) significant digits always read back as the same 16 bits.
static void add_short_float(leat_text *out, double value, int digits) {
  size_t begin = out->size;
  leat_text_add(out, "%.*g", digits, value);
  if (!strpbrk(out->data + begin, ".en")) leat_text_add(out, ".0");
}

static void add_complex(leat_text *out, double real, double imaginary, bool single) {
  if (single)
    leat_text_add_f32(out, (float)real);
  else
    leat_text_add_f64(out, real);
  if (!signbit(imaginary) || imaginary != imaginary) leat_text_add(out, "+");
  if (single)
    leat_text_add_f32(out, (float)imaginary);
  else
    leat_text_add_f64(out, imaginary);
  leat_text_add(out, "j");
}

// Elements may lie unaligned, as in a file.
#define READ(type, from)                                                                           \
  ({                                                                                               \
    type value_;                                                                                   \
    memcpy(&value_, (from), sizeof value_);                                                        \
    value_;                                                                                        \
  })

void leat_element_format(leat_dtype dtype, const void *element, leat_text *out) {
  const char *at = element;
  switch (dtype) {
  case LEAT_bool: leat_text_add(out, *at ? "true" : "false"); break;
  case LEAT_f16: add_short_float(out, leat_half_value(dtype, READ(uint16_t, at)), 5); break;
  case LEAT_bf16: add_short_float(out, leat_half_value(dtype, READ(uint16_t, at)), 4); break;
  case LEAT_c64:
    add_complex(out, (double)READ(float, at), (double)READ(float, at + 4), true);
    break;
  case LEAT_c128: add_complex(out, READ(double, at), READ(double, at + 8), false); break;
  case LEAT_str: {
    const char *text = READ(const char *, at);
    leat_text_add_quoted(out, text, (size_t)READ(uint64_t, at + 8));
    break;
  }
  default: leat_number_print(dtype, at, out);
  }
}

typedef struct formatter {
  const leat_tensor *tensor;
  leat_text *out, elements; // out NULL: the first walk; each element ends with a 0
  size_t next, width;       // in `elements`, the next to be placed; of the widest
  bool summarise;
} formatter;

static void format_element(formatter *f, const char *element) {
  if (!f->out) {
    size_t begin = f->elements.size;
    leat_element_format(f->tensor->dtype, element, &f->elements);
    size_t size = f->elements.size - begin;
    if (size > f->width) f->width = size;
    leat_text_add_n(&f->elements, "", 1);
    return;
  }
  if (f->next >= f->elements.size) return; // there was no memory for it
  const char *text = f->elements.data + f->next;
  size_t size = strlen(text);
  leat_text_add(f->out, "%*s", (int)(f->width - size), "");
  leat_text_add_n(f->out, text, size);
  f->next += size + 1;
}

static void add_separator(formatter *f, int32_t axis) {
  if (!f->out) return;
  int32_t inner = f->tensor->rank - axis - 1; // axes inside of this one
  for (int32_t i = 0; i < inner; i++) leat_text_add(f->out, "\n");
  if (inner)
    leat_text_add(f->out, "%*s", (int)axis + 1, "");
  else
    leat_text_add(f->out, " ");
}

// The block at `data`, whose outermost axis is `axis`; at most LEAT_MAX_RANK deep.
static void format_axis(formatter *f, int32_t axis, const char *data) {
  const leat_tensor *tensor = f->tensor;
  if (axis == tensor->rank) {
    format_element(f, data);
    return;
  }
  int64_t count = tensor->shape[axis];
  int64_t stride = leat_shape_elements(tensor->rank - axis - 1, tensor->shape + axis + 1) *
                   (int64_t)leat_dtype_size(tensor->dtype);
  if (f->out) leat_text_add(f->out, "[");
  for (int64_t i = 0; i < count; i++) {
    if (f->summarise && count > 2 * LEAT_FORMAT_EDGE && i == LEAT_FORMAT_EDGE) {
      if (f->out) leat_text_add(f->out, "...");
      i = count - LEAT_FORMAT_EDGE;
      add_separator(f, axis);
    }
    format_axis(f, axis + 1, data + i * stride);
    if (i + 1 < count) add_separator(f, axis);
  }
  if (f->out) leat_text_add(f->out, "]");
}

void leat_tensor_format(const leat_tensor *tensor, leat_text *out) {
  int64_t elements = leat_shape_elements(tensor->rank, tensor->shape);
  if (elements == 0) {
    leat_text_add(out, "[]");
    return;
  }
  formatter f = {.tensor = tensor, .summarise = elements > LEAT_FORMAT_THRESHOLD};
  format_axis(&f, 0, tensor->data);
  f.out = out;
  format_axis(&f, 0, tensor->data);
  leat_text_finish(&f.elements);
}

void leat_type_format(const char *name, const leat_tensor *tensor, leat_text *out) {
  leat_text_add(out, "%s%s%s[", name ? name : "", name ? ": " : "", leat_dtype_name(tensor->dtype));
  for (int i = 0; i < tensor->rank; i++)
    leat_text_add(out, "%s%" PRId64, i ? ", " : "", tensor->shape[i]);
  leat_text_add(out, "]");
}

void leat_result_format(const char *name, const leat_tensor *tensor, leat_text *out) {
  leat_type_format(name, tensor, out);
  leat_text_add(out, tensor->rank > 1 ? " =\n" : " = ");
  leat_tensor_format(tensor, out);
}
