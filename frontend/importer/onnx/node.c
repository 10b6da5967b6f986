// A node as a line of the text, by its row in ops.def.
#include "frontend/importer/onnx/trees.h"
#include "frontend/importer/row.h"

#include <ctype.h>
#include <string.h>

// -- Inputs, outputs, attributes ------------------------------------------------------------------

onnx_value onnx_input(onnx_writer *w, size_t i) {
  if (i >= w->node->n_input || !*w->node->input[i]) return (onnx_value){0};
  const onnx_value *value = onnx_find(w, w->node->input[i]);
  if (value) return *value;
  onnx_problem(w, "its input `%s` is made by no node before it", w->node->input[i]);
  return (onnx_value){.text = "0"};
}

// What is known while compiling becomes a tensor here, whatever it stands beside: `+` joins two
// lists.
const char *onnx_as_tensor(onnx_writer *w, onnx_value value) {
  if (!value.known) return value.text;
  const onnx_dtype *dtype = onnx_dtype_of(value.data_type);
  leat_dtype carrier = dtype ? dtype->carrier : LEAT_i64;
  if (strcmp(value.text, "[]") == 0)
    return leat_arena_printf(w->arena, "zeros(%s[0])", leat_dtype_name(carrier));
  if (carrier == LEAT_str) // which nothing is cast to
    return leat_arena_printf(w->arena, "tensor(%s)", value.text);
  return leat_arena_printf(w->arena, "cast(%s, %s)", value.text, leat_dtype_name(carrier));
}

// As numbers and lists, where it is known while compiling what they are.
const char *onnx_as_numbers(onnx_writer *w, onnx_value value) {
  bool may_be = !value.data_type || value.data_type == ONNX__TENSOR_PROTO__DATA_TYPE__INT64 ||
                value.data_type == ONNX__TENSOR_PROTO__DATA_TYPE__INT32 ||
                value.data_type == ONNX__TENSOR_PROTO__DATA_TYPE__BOOL;
  if (value.known || !may_be) return value.text;
  return leat_arena_printf(w->arena, "static_value(%s)", value.text);
}

static const onnx_attribute *given_attribute(const onnx_call *call, const char *name);

static const onnx_attribute *attribute_in(const onnx_call *call, const onnx_node *node,
                                          const char *name) {
  for (size_t i = 0; i < node->n_attribute; i++) {
    const onnx_attribute *a = node->attribute[i];
    if (!a->name || strcmp(a->name, name) != 0) continue;
    bool given = a->ref_attr_name && *a->ref_attr_name;
    return !given ? a : call ? given_attribute(call, a->ref_attr_name) : NULL;
  }
  return NULL;
}

// What the caller of a function gives for one of its attributes, or the function by itself.
static const onnx_attribute *given_attribute(const onnx_call *call, const char *name) {
  const onnx_attribute *found = attribute_in(call->outer, call->node, name);
  const Onnx__FunctionProto *f = call->function;
  for (size_t i = 0; i < f->n_attribute_proto && !found; i++)
    if (f->attribute_proto[i]->name && strcmp(f->attribute_proto[i]->name, name) == 0)
      found = f->attribute_proto[i];
  return found;
}

const onnx_attribute *onnx_attribute_of(const onnx_writer *w, const char *name) {
  return attribute_in(w->call, w->node, name);
}

int64_t onnx_int(onnx_writer *w, const char *name, int64_t otherwise) {
  const onnx_attribute *a = onnx_attribute_of(w, name);
  if (a && a->type != ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__INT)
    onnx_problem(w, "its attribute `%s` is no integer", name);
  return a ? a->i : otherwise;
}

// What the callers of functions call an output of theirs; the name itself of anything else.
static const char *caller_name(const onnx_call *call, const char *name) {
  for (; call; call = call->outer) {
    const char *outer = leat_bytes_map_get(&call->names, name, strlen(name));
    if (!outer) return name;
    name = outer;
  }
  return name;
}

const char *onnx_target(onnx_writer *w, size_t i, int32_t data_type) {
  const char *name = i < w->node->n_output ? w->node->output[i] : "";
  if (!*name) return "_";
  const char *id = onnx_identifier(w, caller_name(w->call, name));
  onnx_bind(w, name, (onnx_value){id, data_type, false, NULL, false, false});
  return id;
}

const char *onnx_targets(onnx_writer *w, int count, int32_t data_type) {
  leat_text text = {0};
  for (int i = 0; i < count; i++)
    leat_text_add(&text, "%s%s", i ? ", " : "", onnx_target(w, (size_t)i, data_type));
  return leat_model_take_text(w->arena, &text);
}

// -- A row ----------------------------------------------------------------------------------------

enum { MOST_INPUTS = 1 << 16 };

typedef struct row_writer {
  onnx_writer *w;
  leat_row_arguments *args;
  bool raw; // as what they are, not as tensors
} row_writer;

static const char *input_text(void *context, const leat_row_input *input, size_t i) {
  const row_writer *row = context;
  onnx_writer *w = row->w;
  onnx_value value = onnx_input(w, i);
  char kind = input->kind;
  if (!value.text && !input->name.size && !input->in_list) {
    onnx_problem(w, "its input %zu is missing", i);
    return "0";
  }
  if (!value.text) return NULL;
  if (value.window_first && kind == 'w') leat_text_add(&row->args->named, ", window_first=true");
  if ((row->raw && !input->in_list) || kind == 's') return value.text;
  const char *text = kind == 'k' ? onnx_as_numbers(w, value) : onnx_as_tensor(w, value);
  return kind == 'f' ? onnx_forest_text(w, text, &row->args->named) : text;
}

static void add_inputs(onnx_writer *w, const onnx_op *op, leat_row_arguments *args, bool raw) {
  row_writer row = {w, args, raw};
  size_t i = leat_row_add_inputs(w->arena, op->inputs, w->node->n_input, input_text, &row, args);
  for (; i < w->node->n_input; i++)
    if (*w->node->input[i]) onnx_problem(w, "it has more inputs than are supported, %zu", i);
}

// Whether what the node gives for one that may be but one value is that, or nothing.
static bool is_value(onnx_writer *w, const onnx_attribute *a, leat_word only) {
  if (!only.size) return true;
  if (a->type == ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__STRING)
    return a->s.len == only.size && memcmp(a->s.data, only.at, only.size) == 0;
  const char *text = onnx_attribute_text(w, a, 0);
  return text && leat_word_is(only, text);
}

// Each is in the row's column, once. What a row does not name would be dropped without a word.
static void check_attributes(onnx_writer *w, const onnx_op *op) {
  const onnx_node *node = w->node;
  for (size_t i = 0; i < node->n_attribute; i++) {
    const char *name = node->attribute[i]->name ? node->attribute[i]->name : "";
    const onnx_attribute *a = onnx_attribute_of(w, name);
    leat_row_attribute row;
    if (!a) continue; // it refers to one that nobody gives
    if (!leat_row_find_attribute(op->attributes, name, &row))
      onnx_problem(w, "its attribute `%s` is not supported; there are: %s", name,
                   *op->attributes ? op->attributes : "none");
    else if (!is_value(w, a, row.only))
      onnx_problem(w, "its attribute `%s` is supported only as %.*s", name, (int)row.only.size,
                   row.only.at);
    for (size_t k = 0; k < i; k++)
      if (node->attribute[k]->name && strcmp(node->attribute[k]->name, name) == 0)
        onnx_problem(w, "its attribute `%s` is given twice", name);
  }
}

static void add_attribute(onnx_writer *w, const onnx_op *op, const onnx_attribute *own,
                          leat_row_arguments *args) {
  leat_row_attribute row;
  const onnx_attribute *a = own->name ? onnx_attribute_of(w, own->name) : NULL;
  if (!a || !leat_row_find_attribute(op->attributes, own->name, &row) || row.passed_over) return;
  const char *value = onnx_attribute_text(w, a, row.type);
  if (value)
    leat_row_add_named(args, row.name, value);
  else
    onnx_problem(w, "its attribute `%s` is of a type that is not supported", own->name);
}

static int32_t type_given(onnx_writer *w, const onnx_op *op) {
  if (!*op->gives) return onnx_input(w, 0).data_type;
  if (isdigit((unsigned char)*op->gives))
    return onnx_input(w, (size_t)(*op->gives - '0')).data_type;
  for (int32_t i = 1; onnx_dtype_of(i); i++)
    if (strcmp(leat_dtype_name(onnx_dtype_of(i)->carrier), op->gives) == 0) return i;
  return 0;
}

// `onnx_max_pool|onnx_max_pool_indexed`: the first where only the first result is wanted.
static const char *pattern_of(onnx_writer *w, const onnx_op *op, int *count) {
  const char *bar = strchr(op->write, '|');
  bool more = false;
  for (size_t i = 1; i < w->node->n_output; i++) more = more || *w->node->output[i];
  *count = op->outputs ? op->outputs : (int)w->node->n_output;
  if (!bar) return op->write;
  if (more) return bar + 1;
  *count = 1;
  return leat_arena_strndup(w->arena, op->write, (size_t)(bar - op->write));
}

// Whether numbers of the text may stand beside a tensor: they are of its dtype then.
static bool stands_beside(onnx_writer *w, const onnx_op *op) {
  bool beside = false;
  for (size_t i = 0; strchr(op->write, '$') && i < w->node->n_input; i++) {
    onnx_value value = onnx_input(w, i);
    beside = beside || (value.text && !value.known);
  }
  return beside;
}

static void write_row(onnx_writer *w, const onnx_op *op) {
  int count;
  const char *pattern = pattern_of(w, op, &count);
  leat_row_arguments args = {0};
  leat_text line = {0};
  add_inputs(w, op, &args, stands_beside(w, op));
  for (size_t i = 0; i < w->node->n_attribute; i++)
    add_attribute(w, op, w->node->attribute[i], &args);
  if (!op->outputs) leat_text_add(&args.named, ", outputs=%zu", w->node->n_output);
  if (!leat_row_write(pattern, &args, &line)) onnx_problem(w, "it has too few inputs");
  if (op->outputs && w->node->n_output > (size_t)op->outputs)
    onnx_problem(w, "it has %zu outputs, of which %d are supported", w->node->n_output,
                 op->outputs);
  int32_t given = type_given(w, op);
  const char *text = line.size ? line.data : "0";
  onnx_line(w, "%s = %s%s", onnx_targets(w, count, given), text,
            !op->outputs && count == 1 ? "[0]" : "");
  leat_text_finish(&args.named);
  leat_text_finish(&line);
}

// -- Any node -------------------------------------------------------------------------------------

enum { MOST_NODES = 2000000, MOST_ATTRIBUTES = 100 };

static void bind_nothing(onnx_writer *w) {
  onnx_targets(w, (int)w->node->n_output, 0);
}

static void say_unsupported(onnx_writer *w) {
  const char *domain = w->node->domain, *name = w->node->op_type ? w->node->op_type : "";
  const onnx_op *earliest = onnx_op_earliest(domain, name);
  if (earliest && onnx_version(w, domain))
    onnx_problem(w, "is supported from opset %lld on: convert the model to a newer one",
                 (long long)earliest->since);
  else if (earliest)
    onnx_problem(w, "the model does not say of which opset its nodes are");
  else
    onnx_problem(w, "this op is not supported: write it as others, or as a function of the model");
  bind_nothing(w);
}

static void write_op(onnx_writer *w, const onnx_op *op) {
  check_attributes(w, op);
  if (op->write[0] != '!')
    write_row(w, op);
  else
    onnx_write_special(w, op->write + 1);
}

void onnx_write_node(onnx_writer *w) {
  if (w->work++ == MOST_NODES) onnx_problem(w, "there are more than %d nodes", MOST_NODES);
  if (w->node->n_attribute > MOST_ATTRIBUTES)
    onnx_problem(w, "it has more than %d attributes", MOST_ATTRIBUTES);
  if (w->work > MOST_NODES || w->node->n_attribute > MOST_ATTRIBUTES) return;
  const Onnx__FunctionProto *function = onnx_function_of(w, w->node);
  const char *name = w->node->op_type ? w->node->op_type : "";
  const onnx_op *op = onnx_op_find(w->node->domain, name, onnx_version(w, w->node->domain));
  if (function)
    onnx_write_function(w, function);
  else if (!op)
    say_unsupported(w);
  else
    write_op(w, op);
}
