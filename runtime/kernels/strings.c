// Ops on str. New strings lie in the call's heap: those of a tile are written one after the other,
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

// args: out first, whose elements' pointers are offsets into the text: they get the text's bytes.
// made: there was memory for all of it.
static int32_t keep(leat_call *call, const leat_arg *args, bool made, leat_text *text, span s) {
  leat_str *out = args[0].pointer;
  char *bytes = made ? leat_string_heap_allocate(call->heap, text->size) : NULL;
  if (bytes && text->size) memcpy(bytes, text->data, text->size);
  leat_text_finish(text);
  for (int64_t i = s.begin; bytes && i < s.end; i++) out[i].data = bytes + (uintptr_t)out[i].data;
  if (bytes) return LEAT_OK;
  return leat_call_explain(call, LEAT_MEMORY, "no memory for the new strings");
}

// args: out, then the inputs.
static int32_t make(leat_call *call, leat_str_maker maker, leat_dtype dtype, const leat_arg *args,
                    int count, span s) {
  const void *inputs[3];
  leat_str *out = args[0].pointer;
  leat_text text = {0};
  for (int i = 0; i < count; i++) inputs[i] = args[1 + i].pointer;
  bool made = true;
  for (int64_t i = s.begin; made && i < s.end; i++) {
    uintptr_t begin = text.size;
    made = leat_str_make(maker, dtype, inputs, i, &text);
    out[i] = (leat_str){(const char *)begin, text.size - begin};
  }
  return keep(call, args, made, &text, s);
}

#define KERNEL(function)                                                                           \
  int32_t function(leat_call *call, const leat_arg *args, int64_t tile_begin, int64_t tile_end)

// Arguments: out, x, and the scalars of span_of and more.
#define EACH(function, T, expression)                                                              \
  KERNEL(function) {                                                                               \
    (void)call;                                                                                    \
    span s = span_of(args + 2, tile_begin, tile_end);                                              \
    T *out = args[0].pointer;                                                                      \
    const leat_str *x = args[1].pointer;                                                           \
    for (int64_t i = s.begin; i < s.end; i++) out[i] = expression;                                 \
    return LEAT_OK;                                                                                \
  }
EACH(leat_library_str_length, int64_t, // utf8
     args[4].value ? leat_str_characters(x[i]) : (int64_t)x[i].size)
EACH(leat_library_str_hash, int64_t, leat_str_hash(x[i]))
EACH(leat_library_substring, leat_str,
     (args[6].value ? leat_str_character_part : leat_str_part)(x[i], args[4].value,
                                                               args[5].value)) // start, size, utf8

// Arguments: out, x, y, and the scalars of span_of and more.
#define EACH_PAIR(function, T, expression)                                                         \
  KERNEL(function) {                                                                               \
    (void)call;                                                                                    \
    span s = span_of(args + 3, tile_begin, tile_end);                                              \
    T *out = args[0].pointer;                                                                      \
    const leat_str *x = args[1].pointer, *y = args[2].pointer;                                     \
    for (int64_t i = s.begin; i < s.end; i++) out[i] = expression;                                 \
    return LEAT_OK;                                                                                \
  }
EACH_PAIR(leat_library_str_compare, int32_t, leat_str_compare(x[i], y[i]))
EACH_PAIR(leat_library_str_find, int64_t, leat_str_find(x[i], y[i], 0))
EACH_PAIR(leat_library_str_rfind, int64_t, leat_str_rfind(x[i], y[i]))
EACH_PAIR(leat_library_str_count, int64_t, leat_str_count(x[i], y[i]))
EACH_PAIR(leat_library_str_starts_with, bool, leat_str_starts_with(x[i], y[i]))
EACH_PAIR(leat_library_str_ends_with, bool, leat_str_ends_with(x[i], y[i]))
EACH_PAIR(leat_library_strip_string, leat_str, // left, right
          leat_str_strip(x[i], y[i], args[5].value != 0, args[6].value != 0))

// Arguments: out, the inputs, and the scalars of span_of.
#define MAKE(function, maker, count)                                                               \
  KERNEL(function) {                                                                               \
    span s = span_of(args + 1 + (count), tile_begin, tile_end);                                    \
    return make(call, maker, LEAT_str, args, count, s);                                            \
  }
MAKE(leat_library_str_concat, LEAT_STR_CONCAT, 2)
MAKE(leat_library_str_replace, LEAT_STR_REPLACE, 3)
MAKE(leat_library_str_lower, LEAT_STR_LOWER, 1)
MAKE(leat_library_str_upper, LEAT_STR_UPPER, 1)

// Arguments: out, x, the separator, the scalars of span_of for x, and how many pieces there may be.
KERNEL(leat_library_split_strings) {
  span s = span_of(args + 3, tile_begin, tile_end);
  leat_str *out = args[0].pointer;
  const leat_str *x = args[1].pointer, *separator = args[2].pointer;
  int64_t size = args[5].value;
  for (int64_t i = s.begin; i < s.end; i++) {
    int64_t count = leat_str_split(x[i], *separator, out + i * size, size);
    if (!count) return leat_call_explain(call, LEAT_INVALID, "the separator is empty");
    if (count > size)
      return leat_call_explain(call, LEAT_INVALID, "element %lld: %lld pieces, not %lld",
                               (long long)i, (long long)count, (long long)size);
  }
  return LEAT_OK;
}

// Arguments: out, x, and the scalars of span_of and the number's dtype.
KERNEL(leat_library_number_to_str) {
  span s = span_of(args + 2, tile_begin, tile_end);
  return make(call, LEAT_STR_OF_NUMBER, (leat_dtype)args[4].value, args, 1, s);
}

// Arguments: out, x, the scalars of span_of, the number's dtype, and what leat_number_style has.
KERNEL(leat_library_format_number) {
  span s = span_of(args + 2, tile_begin, tile_end);
  leat_str *out = args[0].pointer;
  leat_number_style style = {.notation = (char)args[5].value,
                             .fill = (char)args[6].value,
                             .precision = (int)args[7].value,
                             .width = (int)args[8].value};
  leat_text text = {0};
  bool made = true;
  for (int64_t i = s.begin; made && i < s.end; i++) {
    uintptr_t begin = text.size;
    made = leat_str_format_number((leat_dtype)args[4].value, args[1].pointer, i, &style, &text);
    out[i] = (leat_str){(const char *)begin, text.size - begin};
  }
  return keep(call, args, made, &text, s);
}

static int32_t refuse(leat_call *call, leat_dtype dtype, leat_str x, int64_t i) {
  leat_text shown = {0};
  leat_str_show(x, &shown);
  leat_call_explain(call, LEAT_INVALID, "element %lld, %s, is no %s", (long long)i, shown.data,
                    leat_dtype_name(dtype));
  leat_text_finish(&shown);
  return LEAT_INVALID;
}

KERNEL(leat_library_str_to_number) {
  span s = span_of(args + 2, tile_begin, tile_end);
  leat_dtype dtype = (leat_dtype)args[4].value;
  char *out = args[0].pointer;
  const leat_str *x = args[1].pointer;
  for (int64_t i = s.begin; i < s.end; i++)
    if (!leat_str_parse(x[i], dtype, out + (size_t)i * leat_dtype_size(dtype)))
      return refuse(call, dtype, x[i], i);
  return LEAT_OK;
}

// Arguments: out, x, the separator, then the scalars of leat_library_rows.
KERNEL(leat_library_join_strings) {
  const leat_arg *scalars = args + 3;
  const leat_rows rows = {scalars[1].value, scalars[2].value, scalars[3].value, scalars[4].value};
  leat_str *out = args[0].pointer;
  const leat_str *x = args[1].pointer, *separator = args[2].pointer;
  span s = {leat_rows_first(&rows, tile_begin), leat_rows_first(&rows, tile_end)};
  leat_text text = {0};
  bool made = true;
  for (int64_t i = s.begin; made && i < s.end; i++) {
    uintptr_t begin = text.size;
    const leat_str *row = x + leat_rows_start(&rows, i, rows.n);
    made = leat_str_join(row, rows.n, rows.inner, *separator, &text);
    out[i] = (leat_str){(const char *)begin, text.size - begin};
  }
  return keep(call, args, made, &text, s);
}
