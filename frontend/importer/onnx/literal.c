// Constants: small ones stand in the text as numbers and lists, others are loaded.
#include "frontend/importer/onnx/writer.h"

#include "base/literal.h"

#include <string.h>

enum { MOST_INTEGERS = 64, MOST_OTHERS = 8 };

static bool is_integer(leat_dtype dtype) {
  leat_dtype_kind kind = leat_dtype_kind_of(dtype);
  return kind == LEAT_KIND_SIGNED || kind == LEAT_KIND_UNSIGNED;
}

bool onnx_literal(onnx_writer *w, const onnx_tensor *tensor, const char *name, onnx_value *out) {
  leat_tensor value;
  if (onnx_tensor_type(tensor, name, &value, NULL)) return false;
  int64_t count = leat_shape_elements(value.rank, value.shape);
  int64_t most = is_integer(value.dtype) ? MOST_INTEGERS : MOST_OTHERS;
  if (value.rank > 1 || count > most || leat_dtype_kind_of(value.dtype) == LEAT_KIND_COMPLEX ||
      onnx_dtype_of(tensor->data_type)->is_code)
    return false;
  if (onnx_tensor_read(w->arena, w->model->path, tensor, name, &value, NULL)) return false;
  leat_text text = {0};
  leat_tensor_print(&value, &text);
  *out = (onnx_value){
      leat_model_take_text(w->arena, &text), tensor->data_type, true, NULL, false, false};
  return true;
}

static leat_status read_weight(const leat_model_file *model, const leat_weight *weight,
                               leat_arena *arena, leat_tensor *out, leat_error *error) {
  return onnx_tensor_read(arena, model->path, weight->source, weight->name, out, error);
}

static leat_status read_kernel(const leat_model_file *model, const leat_weight *weight,
                               leat_arena *arena, leat_tensor *out, leat_error *error) {
  LEAT_TRY(read_weight(model, weight, arena, out, error));
  return onnx_window_first(arena, out, error);
}

// What can be trained, and is a variable then; a body of a loop has no state of its own.
static bool may_be_variable(const onnx_writer *w, const onnx_block *block,
                            const leat_tensor *type) {
  return !w->is_fixed && block->indent == 2 && !block->is_body &&
         leat_dtype_kind_of(type->dtype) == LEAT_KIND_FLOAT;
}

// "f32[64, 10]"
static void add_type(leat_text *out, const leat_tensor *type) {
  leat_text_add(out, "%s[", leat_dtype_name(type->dtype));
  for (int32_t i = 0; i < type->rank; i++)
    leat_text_add(out, "%s%lld", i ? ", " : "", (long long)type->shape[i]);
  leat_text_add_string(out, "]");
}

// The line that loads it, above all others of its function.
static const char *load(onnx_writer *w, onnx_block *block, const leat_weight *weight,
                        const char *name) {
  const char *id = onnx_identifier(w, name), *data = w->options->data;
  leat_text *out = &block->weights;
  if (w->options->trainable && may_be_variable(w, block, &weight->type)) {
    leat_text_add(out, "  var %s: ", id);
    add_type(out, &weight->type);
    leat_text_add_string(out, " = load(");
  } else {
    leat_text_add(out, "  %s = load(", id);
  }
  leat_text_add_quoted(out, data, strlen(data));
  leat_text_add_string(out, ", ");
  leat_text_add_quoted(out, weight->name, strlen(weight->name));
  leat_text_add_string(out, ")\n");
  return id;
}

// A small one that may be a variable has a name of its own in the file in any case, so that each
// text finds what it loads.
onnx_value onnx_constant(onnx_writer *w, onnx_block *block, const onnx_tensor *tensor,
                         const char *name, bool window_first) {
  leat_error error = {0};
  leat_tensor type;
  onnx_value value;
  if (onnx_tensor_check(w->arena, w->model->path, tensor, name, &error) ||
      onnx_tensor_type(tensor, name, &type, &error)) {
    onnx_problem(w, "%s", error.message);
    return (onnx_value){.text = "0"};
  }
  bool variable = may_be_variable(w, block, &type) && type.rank > 0 && tensor->name;
  bool literal = !(variable && w->options->trainable) && onnx_literal(w, tensor, name, &value);
  if (literal && !variable) return value;
  window_first = window_first && type.rank > 2 && type.dtype != LEAT_str;
  if (window_first) onnx_window_first(w->arena, &type, NULL);
  leat_weight weight = {leat_model_take_name(w->arena, &w->keys, NULL, name), type,
                        window_first ? read_kernel : read_weight, tensor};
  if (!literal || w->options->lists_all) leat_vec_push(w->arena, &w->model->weights, weight);
  if (literal) return value;
  return (onnx_value){.text = load(w, block, &weight, name),
                      .data_type = tensor->data_type,
                      .window_first = window_first};
}

onnx_value onnx_sparse_value(onnx_writer *w, const onnx_sparse *sparse, const char *name) {
  onnx_tensor *dense;
  leat_error error = {0};
  if (!onnx_dense(w->arena, w->model->path, sparse, name, &w->dense_left, &dense, &error))
    return (onnx_value){NULL, dense->data_type, false, dense, false, false};
  onnx_problem(w, "%s", error.message);
  return (onnx_value){.text = "0"};
}

// -- Attributes -----------------------------------------------------------------------------------

static void add_float(leat_text *out, const void *x, size_t i) {
  leat_text_add_f32(out, ((const float *)x)[i]);
}

static void add_int(leat_text *out, const void *x, size_t i) {
  leat_text_add_i64(out, ((const int64_t *)x)[i]);
}

static void add_quoted(leat_text *out, const void *x, size_t i) {
  const ProtobufCBinaryData *string = (const ProtobufCBinaryData *)x + i;
  leat_text_add_quoted(out, string->len ? (const char *)string->data : "", string->len);
}

static const char *list_text(onnx_writer *w, const void *x, size_t count,
                             void (*add)(leat_text *out, const void *x, size_t i)) {
  leat_text text = {0};
  leat_text_add_string(&text, "[");
  for (size_t i = 0; i < count; i++) {
    if (i) leat_text_add_string(&text, ", ");
    add(&text, x, i);
  }
  leat_text_add_string(&text, "]");
  return leat_model_take_text(w->arena, &text);
}

const char *onnx_ints(onnx_writer *w, const int64_t *x, size_t count) {
  return list_text(w, x, count, add_int);
}

static const char *number_text(onnx_writer *w, int64_t i, char kind) {
  if (kind == 'b') return i ? "true" : "false";
  if (kind != 'd') return leat_arena_printf(w->arena, "%lld", (long long)i);
  const onnx_dtype *dtype = onnx_dtype_of(i);
  if (dtype && !dtype->is_code) return leat_dtype_name(dtype->carrier);
  onnx_problem(w, "data type %s cannot be made here", dtype ? dtype->name : "unknown");
  return NULL;
}

static const char *one_text(onnx_writer *w, const void *x,
                            void (*add)(leat_text *out, const void *x, size_t i)) {
  leat_text text = {0};
  add(&text, x, 0);
  return leat_model_take_text(w->arena, &text);
}

onnx_tensor *onnx_vector(onnx_writer *w, int32_t data_type, size_t count) {
  onnx_tensor *tensor = leat_new(w->arena, onnx_tensor);
  onnx__tensor_proto__init(tensor);
  tensor->data_type = data_type;
  tensor->dims = leat_new(w->arena, int64_t);
  tensor->n_dims = 1;
  *tensor->dims = (int64_t)count;
  return tensor;
}

const char *onnx_tensor_text(onnx_writer *w, const onnx_tensor *tensor, const char *name) {
  const char *key = leat_arena_printf(w->arena, "%s_%s", onnx_first_output(w->node), name);
  return onnx_as_tensor(w, onnx_constant(w, w->block, tensor, key, false));
}

// A list as the tensor that it is.
static onnx_tensor *list_tensor(onnx_writer *w, const onnx_attribute *a) {
  onnx_tensor *tensor = onnx_vector(w, 0, 0);
  switch ((int)a->type) {
  case ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__FLOATS:
    tensor->data_type = ONNX__TENSOR_PROTO__DATA_TYPE__FLOAT;
    tensor->float_data = a->floats;
    tensor->n_float_data = a->n_floats;
    break;
  case ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__INTS:
    tensor->data_type = ONNX__TENSOR_PROTO__DATA_TYPE__INT64;
    tensor->int64_data = a->ints;
    tensor->n_int64_data = a->n_ints;
    break;
  case ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__STRINGS:
    tensor->data_type = ONNX__TENSOR_PROTO__DATA_TYPE__STRING;
    tensor->string_data = a->strings;
    tensor->n_string_data = a->n_strings;
    break;
  default: return NULL;
  }
  *tensor->dims = (int64_t)(a->n_floats + a->n_ints + a->n_strings);
  tensor->name = a->name;
  return tensor;
}

const char *onnx_attribute_text(onnx_writer *w, const onnx_attribute *a, char kind) {
  const onnx_tensor *list = kind == 't' ? list_tensor(w, a) : NULL;
  if (list) return onnx_tensor_text(w, list, a->name);
  switch ((int)a->type) {
  case ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__FLOAT: return one_text(w, &a->f, add_float);
  case ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__INT: return number_text(w, a->i, kind);
  case ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__STRING: return one_text(w, &a->s, add_quoted);
  case ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__FLOATS:
    return list_text(w, a->floats, a->n_floats, add_float);
  case ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__INTS: return onnx_ints(w, a->ints, a->n_ints);
  case ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__STRINGS:
    return list_text(w, a->strings, a->n_strings, add_quoted);
  case ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__TENSOR:
    return a->t ? onnx_tensor_text(w, a->t, a->name) : NULL;
  }
  return NULL;
}
