// Ops on str. New strings lie in the step's heap: those of a tile are written one after the other,
// and then moved there at once.
#include "base/str.h"
#include "leat/artifact.h"
#include "runtime/kernels/rows.h"

#include <string.h>

// The elements of some tiles. scalars: how many elements there are, and how many a tile has.
typedef struct span {
  int64_t begin, end;
} span;

static span span_of(const leat_arg *scalars, int64_t tile_begin, int64_t tile_end) {
  int64_t count = scalars[0].value, each = scalars[1].value, end = tile_end * each;
  return (span){tile_begin * each, end < count ? end : count};
}

// Elements whose pointers are offsets into the text get the text's bytes.
static int32_t keep(leat_frame *frame, leat_text *text, leat_str *out, span s) {
  char *bytes = leat_frame_allocate(frame, text->size);
  if (bytes && text->size) memcpy(bytes, text->data, text->size);
  leat_text_finish(text);
  for (int64_t i = s.begin; bytes && i < s.end; i++) out[i].data = bytes + (uintptr_t)out[i].data;
  return bytes ? LEAT_OK : LEAT_MEMORY;
}

static int32_t make(leat_frame *frame, leat_str_maker maker, leat_dtype dtype, leat_str *out,
                    const void *x, const void *y, span s) {
  leat_text text = {0};
  for (int64_t i = s.begin; i < s.end; i++) {
    uintptr_t begin = text.size;
    leat_str_make(maker, dtype, x, y, i, &text);
    out[i] = (leat_str){(const char *)begin, text.size - begin};
  }
  return keep(frame, &text, out, s);
}

#define KERNEL(name)                                                                               \
  int32_t leat_library_##name(leat_frame *frame, const leat_arg *args, int64_t tile_begin,         \
                              int64_t tile_end)

// Arguments: out, x, and the scalars of span_of and more.
#define EACH(name, T, expression)                                                                  \
  KERNEL(name) {                                                                                   \
    (void)frame;                                                                                   \
    span s = span_of(args + 2, tile_begin, tile_end);                                              \
    T *out = args[0].pointer;                                                                      \
    const leat_str *x = args[1].pointer;                                                           \
    for (int64_t i = s.begin; i < s.end; i++) out[i] = expression;                                 \
    return LEAT_OK;                                                                                \
  }
EACH(str_length, int64_t, (int64_t)x[i].size)
EACH(str_hash, int64_t, leat_str_hash(x[i]))
EACH(substring, leat_str, leat_str_part(x[i], args[4].value, args[5].value)) // start, size

// Arguments: out, x, y, and the scalars of span_of.
KERNEL(str_compare) {
  (void)frame;
  span s = span_of(args + 3, tile_begin, tile_end);
  int32_t *out = args[0].pointer;
  const leat_str *x = args[1].pointer, *y = args[2].pointer;
  for (int64_t i = s.begin; i < s.end; i++) out[i] = leat_str_compare(x[i], y[i]);
  return LEAT_OK;
}

KERNEL(str_concat) {
  span s = span_of(args + 3, tile_begin, tile_end);
  return make(frame, LEAT_STR_CONCAT, LEAT_str, args[0].pointer, args[1].pointer, args[2].pointer,
              s);
}

KERNEL(str_lower) {
  span s = span_of(args + 2, tile_begin, tile_end);
  return make(frame, LEAT_STR_LOWER, LEAT_str, args[0].pointer, args[1].pointer, NULL, s);
}

KERNEL(str_upper) {
  span s = span_of(args + 2, tile_begin, tile_end);
  return make(frame, LEAT_STR_UPPER, LEAT_str, args[0].pointer, args[1].pointer, NULL, s);
}

// Arguments: out, x, and the scalars of span_of and the number's dtype.
KERNEL(number_to_str) {
  span s = span_of(args + 2, tile_begin, tile_end);
  return make(frame, LEAT_STR_OF_NUMBER, (leat_dtype)args[4].value, args[0].pointer,
              args[1].pointer, NULL, s);
}

static int32_t refuse(leat_frame *frame, const leat_arg *args, leat_dtype dtype, leat_str x,
                      int64_t i) {
  leat_text shown = {0};
  leat_str_show(x, &shown);
  leat_frame_explain(frame, args, LEAT_INVALID, "element %lld, %s, is no %s", (long long)i,
                     shown.data, leat_dtype_name(dtype));
  leat_text_finish(&shown);
  return LEAT_INVALID;
}

KERNEL(str_to_number) {
  span s = span_of(args + 2, tile_begin, tile_end);
  leat_dtype dtype = (leat_dtype)args[4].value;
  char *out = args[0].pointer;
  const leat_str *x = args[1].pointer;
  for (int64_t i = s.begin; i < s.end; i++)
    if (!leat_str_parse(x[i], dtype, out + (size_t)i * leat_dtype_size(dtype)))
      return refuse(frame, args, dtype, x[i], i);
  return LEAT_OK;
}

// Arguments: out, x, the separator, then the scalars of leat_library_rows.
KERNEL(join_strings) {
  const leat_arg *scalars = args + 3;
  const leat_rows rows = {scalars[1].value, scalars[2].value, scalars[3].value, scalars[4].value};
  leat_str *out = args[0].pointer;
  const leat_str *x = args[1].pointer, *separator = args[2].pointer;
  span s = {leat_rows_first(&rows, tile_begin), leat_rows_first(&rows, tile_end)};
  leat_text text = {0};
  for (int64_t i = s.begin; i < s.end; i++) {
    uintptr_t begin = text.size;
    leat_str_join(x + leat_rows_start(&rows, i, rows.n), rows.n, rows.inner, *separator, &text);
    out[i] = (leat_str){(const char *)begin, text.size - begin};
  }
  return keep(frame, &text, out, s);
}
