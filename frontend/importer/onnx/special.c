// The ops for which a row does not say enough.
#include "frontend/importer/onnx/writer.h"

#include <string.h>

// A Constant is its value: a tensor, or one of the attributes that say it shorter.
static void write_constant(onnx_writer *w) {
  const onnx_attribute *a = onnx_attribute_of(w, "value");
  const char *name = onnx_first_output(w->node);
  onnx_value value = {.text = "0"};
  if (a && a->t) {
    onnx_bind(w, name, (onnx_value){NULL, a->t->data_type, false, a->t, false, false});
    return;
  }
  const onnx_attribute *sparse = onnx_attribute_of(w, "sparse_value");
  if (sparse && sparse->sparse_tensor) {
    onnx_bind(w, name, onnx_sparse_value(w, sparse->sparse_tensor, name));
    return;
  }
  static const struct {
    const char *name;
    int32_t data_type;
  } forms[] = {{"value_int", 7},    {"value_ints", 7},   {"value_float", 1},
               {"value_floats", 1}, {"value_string", 8}, {"value_strings", 8}};
  a = NULL;
  for (size_t i = 0; i < sizeof forms / sizeof *forms && !a; i++) {
    a = onnx_attribute_of(w, forms[i].name);
    value.data_type = forms[i].data_type;
  }
  const char *text = a ? onnx_attribute_text(w, a, 0) : NULL;
  if (text)
    value.text = text;
  else
    onnx_problem(w, a ? "its value is of a type that is not supported" : "it has no value");
  value.known = true;
  onnx_bind(w, name, value);
}

static void wrap(onnx_writer *w, leat_text *text, const char *function, const char *format) {
  const char *inner = leat_arena_strndup(w->arena, text->data, text->size);
  text->size = 0;
  leat_text_add(text, "%s(%s, \"%s\")", function, inner, format);
}

// Codes become numbers, and numbers codes (stdlib/onnx/onnx_codes.leat).
static void write_cast(onnx_writer *w, onnx_value x, int32_t to) {
  const onnx_dtype *dtype = onnx_dtype_of(to), *from = onnx_dtype_of(x.data_type);
  const onnx_attribute *rounding = onnx_attribute_of(w, "round_mode");
  leat_text text = {0};
  if (!dtype) onnx_problem(w, "it converts to a data type that is unknown");
  leat_text_add_string(&text, onnx_as_tensor(w, x));
  if (from && from->is_code) wrap(w, &text, "onnx_decode", from->name);
  if (dtype && dtype->is_code) {
    wrap(w, &text, "onnx_encode", dtype->name);
    text.size--; // it has more arguments
    if (!onnx_int(w, "saturate", 1)) leat_text_add_string(&text, ", saturate=false");
    if (rounding) leat_text_add(&text, ", round_mode=%s", onnx_attribute_text(w, rounding, 0));
    leat_text_add_string(&text, ")");
  } else {
    leat_text whole = {0};
    leat_text_add(&whole, "onnx_cast(%s, %s)", text.data,
                  dtype ? leat_dtype_name(dtype->carrier) : "f32");
    leat_text_finish(&text);
    text = whole;
  }
  onnx_line(w, "%s = %s", onnx_targets(w, 1, to), text.data);
  leat_text_finish(&text);
}

static void write_cast_to(onnx_writer *w) {
  onnx_value x = onnx_input(w, 0);
  if (x.text) write_cast(w, x, (int32_t)onnx_int(w, "to", 0));
}

// To the type of another value, which only the language may know.
static void write_cast_like(onnx_writer *w) {
  onnx_value x = onnx_input(w, 0), like = onnx_input(w, 1);
  if (!x.text || !like.text) {
    onnx_problem(w, "it has two inputs");
    onnx_targets(w, 1, 0);
  } else if (like.data_type) {
    write_cast(w, x, like.data_type);
  } else {
    onnx_line(w, "%s = onnx_cast(%s, dtype(%s))", onnx_targets(w, 1, 0), onnx_as_tensor(w, x),
              onnx_as_tensor(w, like));
  }
}

// Input i, which must be there, as a tensor.
static const char *needed_input(onnx_writer *w, size_t i) {
  onnx_value value = onnx_input(w, i);
  if (value.text) return onnx_as_tensor(w, value);
  onnx_problem(w, "its input %zu is missing", i);
  return "0";
}

// The same of numbers: codes become numbers.
static const char *numbers(onnx_writer *w, size_t i) {
  const char *text = needed_input(w, i);
  const onnx_dtype *dtype = onnx_dtype_of(onnx_input(w, i).data_type);
  if (!dtype || !dtype->is_code) return text;
  return leat_arena_printf(w->arena, "onnx_decode(%s, \"%s\")", text, dtype->name);
}

// `x, scale, zero_point=…, axis=…, block_size=…`.
static void add_quantised(onnx_writer *w, leat_text *out) {
  const char *x = numbers(w, 0), *scale = numbers(w, 1);
  leat_text_add(out, "%s, %s", x, scale);
  if (onnx_input(w, 2).text) leat_text_add(out, ", zero_point=%s", numbers(w, 2));
  if (onnx_attribute_of(w, "axis"))
    leat_text_add(out, ", axis=%lld", (long long)onnx_int(w, "axis", 1));
  if (onnx_attribute_of(w, "block_size"))
    leat_text_add(out, ", block_size=%lld", (long long)onnx_int(w, "block_size", 0));
}

// The type is the one asked for, else that of the zero point, else u8.
static void write_quantize(onnx_writer *w) {
  int32_t given = onnx_input(w, 2).text ? onnx_input(w, 2).data_type : 2;
  int32_t to = (int32_t)onnx_int(w, "output_dtype", given);
  const onnx_dtype *dtype = onnx_dtype_of(to ? to : given);
  leat_text text = {0};
  add_quantised(w, &text);
  if (dtype && dtype->is_code)
    onnx_line(w, "%s = onnx_quantize_to_code(%s, format=\"%s\"%s)", onnx_targets(w, 1, to),
              text.data, dtype->name, onnx_int(w, "saturate", 1) ? "" : ", saturate=false");
  else if (dtype)
    onnx_line(w, "%s = onnx_quantize(%s, to=%s)", onnx_targets(w, 1, to), text.data,
              leat_dtype_name(dtype->carrier));
  else // only the language knows the zero point's
    onnx_line(w, "%s = onnx_quantize(%s)", onnx_targets(w, 1, 0), text.data);
  leat_text_finish(&text);
}

static void write_dequantize(onnx_writer *w) {
  int32_t to = (int32_t)onnx_int(w, "output_dtype", 0);
  const onnx_dtype *dtype = onnx_dtype_of(to);
  leat_text text = {0};
  add_quantised(w, &text);
  if (dtype) leat_text_add(&text, ", to=%s", leat_dtype_name(dtype->carrier));
  onnx_line(w, "%s = onnx_dequantize(%s)", onnx_targets(w, 1, to ? to : onnx_input(w, 1).data_type),
            text.data);
  leat_text_finish(&text);
}

// Shape → a value everywhere, 0.0 of f32 when none is given.
static void write_constant_of_shape(onnx_writer *w) {
  const onnx_attribute *a = onnx_attribute_of(w, "value");
  onnx_value shape = onnx_input(w, 0), value = {.text = "0.0", .data_type = 1, .known = true};
  if (a && a->t) {
    onnx_tensor scalar = *a->t;
    scalar.n_dims = 0; // one element, of whatever shape
    if (!onnx_literal(w, &scalar, "value", &value))
      onnx_problem(w, "its value is not one number of a supported type");
  }
  const onnx_dtype *dtype = onnx_dtype_of(value.data_type);
  onnx_line(w, "%s = onnx_fill(%s, %s, %s)", onnx_targets(w, 1, value.data_type),
            shape.text ? onnx_as_numbers(w, shape) : "[]", value.text,
            dtype ? leat_dtype_name(dtype->carrier) : "f32");
}

// What there is stands for itself; what there is not is `none`.
static void write_optional(onnx_writer *w) {
  onnx_value x = onnx_input(w, 0);
  if (!x.text) x = (onnx_value){.text = "none"};
  if (w->node->n_output) onnx_bind(w, w->node->output[0], x);
}

static void write_optional_has_element(onnx_writer *w) {
  onnx_value x = onnx_input(w, 0);
  onnx_line(w, "%s = tensor(%s != none)", onnx_targets(w, 1, 9), x.text ? x.text : "none");
}

// The text of a value that an attribute names.
static const char *named_value(onnx_writer *w, const ProtobufCBinaryData *name) {
  const char *copy =
      leat_arena_strndup(w->arena, name->data ? (const char *)name->data : "", name->len);
  const onnx_value *value = onnx_find(w, copy);
  if (!value) onnx_problem(w, "no node before it makes `%s`", copy);
  return value ? onnx_as_tensor(w, *value) : "0";
}

// Of y with respect to `xs`; the inputs stand for these and for `zs`: where they are others, y is
// computed again of them.
static void write_gradient(onnx_writer *w) {
  const onnx_attribute *lists[] = {onnx_attribute_of(w, "xs"), onnx_attribute_of(w, "zs")};
  const onnx_attribute *y = onnx_attribute_of(w, "y");
  int count = (int)w->node->n_output;
  size_t named = (lists[0] ? lists[0]->n_strings : 0) + (lists[1] ? lists[1]->n_strings : 0);
  if (!lists[0] || !y || lists[0]->n_strings != w->node->n_output || named != w->node->n_input) {
    onnx_problem(w,
                 "it needs a `y`, an output for each of `xs`, and an input for each of these and "
                 "of `zs`");
    onnx_targets(w, count, 0);
    return;
  }
  leat_text of = {0}, by = {0}, at = {0};
  bool others = false;
  for (size_t i = 0; i < named; i++) {
    bool is_x = i < lists[0]->n_strings;
    const char *x = named_value(w, &lists[!is_x]->strings[is_x ? i : i - lists[0]->n_strings]);
    const char *input = needed_input(w, i);
    others = others || strcmp(x, input) != 0;
    leat_text_add(&of, "%s%s", i ? ", " : "", x);
    leat_text_add(&by, "%s%s", i ? ", " : "", input);
    if (is_x) leat_text_add(&at, "%s%s", i ? ", " : "", input);
  }
  const char *value = named_value(w, &y->s);
  if (others)
    value = leat_arena_printf(w->arena, "substitute(%s, [%s], [%s])", value, of.data, by.data);
  onnx_line(w, "%s = grad(sum(%s), [%s])%s", onnx_targets(w, count, onnx_input(w, 0).data_type),
            value, at.data, count == 1 ? "[0]" : "");
  leat_text_finish(&of);
  leat_text_finish(&by);
  leat_text_finish(&at);
}

// Maps from labels to scores, one for each row, are no tensor: the scores stand for them.
static void write_zip_map(onnx_writer *w) {
  const onnx_attribute *words = onnx_attribute_of(w, "classlabels_strings");
  const onnx_attribute *labels = words ? words : onnx_attribute_of(w, "classlabels_int64s");
  const char *scores = needed_input(w, 0);
  onnx_note(w, "for its maps stand their values, a column for each of the keys %s",
            labels ? onnx_attribute_text(w, labels, 0) : "[]");
  onnx_line(w, "%s = %s", onnx_targets(w, 1, onnx_input(w, 0).data_type), scores);
}

static void refuse_maps(onnx_writer *w) {
  onnx_problem(w, "it takes maps, which are no tensors: begin the model behind it, with an input "
                  "that is the tensor of its results");
  onnx_targets(w, (int)w->node->n_output, 0);
}

static const struct {
  const char *name;
  void (*write)(onnx_writer *w);
} specials[] = {
    {"cast", write_cast_to},
    {"if", onnx_write_if},
    {"loop", onnx_write_loop},
    {"optional", write_optional},
    {"optional_has_element", write_optional_has_element},
    {"scan", onnx_write_scan},
    {"sequence_map", onnx_write_sequence_map},
    {"cast_like", write_cast_like},
    {"constant", write_constant},
    {"constant_of_shape", write_constant_of_shape},
    {"dequantize", write_dequantize},
    {"flex_attention", onnx_write_flex_attention},
    {"gradient", write_gradient},
    {"maps", refuse_maps},
    {"quantize", write_quantize},
    {"zip_map", write_zip_map},
};

void onnx_write_special(onnx_writer *w, const char *name) {
  for (size_t i = 0; i < sizeof specials / sizeof *specials; i++)
    if (strcmp(specials[i].name, name) == 0) {
      specials[i].write(w);
      return;
    }
  onnx_problem(w, "this op is not supported yet");
  onnx_targets(w, (int)w->node->n_output, 0);
}
