// The variables of a graph: their types, and what they begin with, as a checkpoint or the Assign
// that a program runs first says.
#include "frontend/importer/graphdef/writer.h"

#include "base/literal.h"
#include "base/name.h"
#include "frontend/importer/protobuf/guard.h"

#include <string.h>

enum { MOST_INTEGERS = 64, MOST_OTHERS = 16 };

const char *tf_type_text(tf_writer *w, const leat_tensor *type) {
  leat_text text = {0};
  leat_text_add(&text, "%s[", leat_dtype_name(type->dtype));
  for (int32_t i = 0; i < type->rank; i++) {
    if (i) leat_text_add_string(&text, ", ");
    if (type->shape[i] < 0)
      leat_text_add_string(&text, "?");
    else
      leat_text_add_i64(&text, type->shape[i]);
  }
  leat_text_add_string(&text, "]");
  return leat_model_take_text(w->arena, &text);
}

// -- Constants ------------------------------------------------------------------------------------

static leat_status read_constant(const leat_model_file *model, const leat_weight *weight,
                                 leat_arena *arena, leat_tensor *out, leat_error *error) {
  (void)model;
  return tf_tensor_read(arena, weight->source, weight->name, out, error);
}

static leat_status read_saved(const leat_model_file *model, const leat_weight *weight,
                              leat_arena *arena, leat_tensor *out, leat_error *error) {
  (void)model;
  return tf_read_variable(arena, weight->source, out, error);
}

// One that is loaded already keeps its name, another one gets one that is free.
static const char *load(tf_writer *w, leat_weight weight) {
  const char *name = weight.name;
  for (unsigned i = 1;; i++) {
    size_t size = strlen(weight.name);
    const void *known = leat_bytes_map_get(&w->keys, weight.name, size);
    if (known == weight.source) break;
    if (!known) {
      leat_bytes_map_set(&w->keys, weight.name, size, (void *)(uintptr_t)weight.source);
      leat_vec_push(w->arena, &w->model->weights, weight);
      break;
    }
    weight.name = leat_arena_printf(w->arena, "%s_%u", name, i);
  }
  const char *file = w->options->data;
  return leat_arena_printf(w->arena, "load(%s, %s)", tf_quote(w, file, strlen(file)),
                           tf_quote(w, weight.name, strlen(weight.name)));
}

// `known`: as a number or a list of the text.
static const char *literal(tf_writer *w, const leat_tensor *value, bool known) {
  leat_text text = {0};
  leat_dtype_kind kind = leat_dtype_kind_of(value->dtype);
  bool plain = known || kind == LEAT_KIND_BOOL || kind == LEAT_KIND_STRING;
  if (leat_shape_elements(value->rank, value->shape) == 0 && !known) {
    leat_text_add(&text, "zeros(%s)", tf_type_text(w, value));
    return leat_model_take_text(w->arena, &text);
  }
  if (!known) leat_text_add_string(&text, plain ? "tensor(" : "cast(");
  leat_tensor_print(value, &text);
  if (!known && !plain) leat_text_add(&text, ", %s", leat_dtype_name(value->dtype));
  if (!known) leat_text_add_string(&text, ")");
  return leat_model_take_text(w->arena, &text);
}

tf_value tf_constant(tf_writer *w, const tf_tensor *tensor, const char *name) {
  leat_tensor value;
  leat_error error = {0};
  tf_value made = {.text = "0", .data_type = (int32_t)tensor->dtype};
  leat_status status = tf_tensor_type(tensor, name, &value, &error);
  if (status) {
    tf_refuse(w, "%s", error.message);
    return made;
  }
  int64_t count = leat_shape_elements(value.rank, value.shape);
  bool exact = value.dtype == LEAT_i32 || value.dtype == LEAT_i64 || value.dtype == LEAT_bool;
  made.known = made.fixed = exact && value.rank <= 1 && count <= MOST_INTEGERS;
  bool small = made.known || count <= MOST_OTHERS;
  if (small) status = tf_tensor_read(w->arena, tensor, name, &value, &error);
  if (status)
    tf_refuse(w, "%s", error.message);
  else
    made.text = small ? literal(w, &value, made.known)
                      : load(w, (leat_weight){name, value, read_constant, tensor});
  return made;
}

// -- Finding them ---------------------------------------------------------------------------------

static bool is_variable(const tf_node *node) {
  static const char *const ops[] = {"Variable", "VariableV2", "VarHandleOp"};
  for (size_t i = 0; node->def && i < sizeof ops / sizeof *ops; i++)
    if (strcmp(node->def->op, ops[i]) == 0) return true;
  return false;
}

// Version 2's own name for variables that have none.
static const char anonymous[] = "cd2c89b7-88b7-44c8-ad83-06c2a9158347";

static const char *name_of(const tf_writer *w, const tf_node *node) {
  const char *shared = tf_string((tf_writer *)w, node, "shared_name");
  return *shared && strcmp(shared, anonymous) != 0 ? shared : node->def->name;
}

static tf_variable *find(const tf_writer *w, const char *name) {
  return leat_bytes_map_get(&w->variables, name, strlen(name));
}

tf_variable *tf_same_variable(const tf_writer *w, const tf_node *node) {
  return is_variable(node) ? find(w, name_of(w, node)) : NULL;
}

static bool is_assign(const tf_node *node) {
  return node->def &&
         (!strcmp(node->def->op, "Assign") || !strcmp(node->def->op, "AssignVariableOp"));
}

// Whether the value depends on nothing but constants.
static bool is_initial(tf_writer *w, uint32_t node) {
  const tf_block *block = w->graph;
  bool *needed = leat_new_array(w->arena, bool, block->count + 1);
  tf_mark(block, node, needed);
  for (uint32_t i = 0; i < block->count; i++)
    if (needed[i] && (is_variable(&block->nodes[i]) || block->nodes[i].effect ||
                      strncmp(block->nodes[i].def->op, "Placeholder", 11) == 0 ||
                      strncmp(block->nodes[i].def->op, "Restore", 7) == 0))
      return false;
  return true;
}

// The one that is called after the variable, else the first that depends on nothing.
static void note_assign(tf_writer *w, const tf_node *assign) {
  const tf_node *node = &w->graph->nodes[assign->inputs[0].node];
  tf_variable *v = tf_same_variable(w, node);
  if (!v) return;
  const char *expected = leat_arena_printf(w->arena, "%s/Assign", node->def->name);
  bool called = strcmp(expected, assign->def->name) == 0;
  if (called || (!v->initial && is_initial(w, assign->inputs[1].node))) v->initial = assign;
}

static const Tensorflow__CollectionDef *collection(const tf_writer *w, const char *name) {
  const Tensorflow__MetaGraphDef *meta = w->saved->meta;
  for (size_t i = 0; meta && i < meta->n_collection_def; i++)
    if (!strcmp(meta->collection_def[i]->key, name)) return meta->collection_def[i]->value;
  return NULL;
}

// A meta graph lists the variables that are trained; without such a list all are.
static void read_trainables(tf_writer *w) {
  const Tensorflow__CollectionDef *list = collection(w, "trainable_variables");
  if (!list || !list->bytes_list) return;
  for (uint32_t i = 0; i < w->all.count; i++) w->all.items[i]->untrained = true;
  for (size_t i = 0; i < list->bytes_list->n_value; i++) {
    const ProtobufCBinaryData *bytes = &list->bytes_list->value[i];
    const ProtobufCMessage *message;
    const char *name;
    if (leat_protobuf_unpack(w->arena, &tensorflow__variable_def__descriptor, w->model->path,
                             w->saved->kind, bytes->data, bytes->len, &message, NULL))
      continue;
    tf_split_input(w->arena, ((const Tensorflow__VariableDef *)message)->variable_name, &name);
    tf_variable *v = find(w, name);
    if (v) v->untrained = false;
  }
}

void tf_find_variables(tf_writer *w) {
  const tf_block *block = w->graph;
  for (uint32_t i = 0; i < block->count; i++) {
    if (!is_variable(&block->nodes[i])) continue;
    const char *name = name_of(w, &block->nodes[i]);
    if (find(w, name)) continue;
    leat_text path = {0};
    tf_variable *v = leat_new(w->arena, tf_variable);
    leat_path_print(leat_model_plain_name(w->arena, tf_global(w, name)), &path);
    *v = (tf_variable){
        .node = &block->nodes[i], .name = name, .path = leat_model_take_text(w->arena, &path)};
    leat_bytes_map_set(&w->variables, name, strlen(name), v);
    leat_vec_push(w->arena, &w->all, v);
  }
  for (uint32_t i = 0; i < block->count; i++)
    if (is_assign(&block->nodes[i]) && block->nodes[i].input_count == 2)
      note_assign(w, &block->nodes[i]);
  read_trainables(w);
  tf_find_restored(w);
}

bool tf_initialises(const tf_writer *w, const tf_node *node) {
  if (!is_assign(node) || !node->input_count) return false;
  const tf_variable *v = tf_same_variable(w, &w->graph->nodes[node->inputs[0].node]);
  return v && v->initial == node;
}

// -- Declaring them -------------------------------------------------------------------------------

// The variable that the value is, as it stands; NULL: it is none.
static tf_variable *variable_read(const tf_writer *w, const tf_edge *value) {
  const tf_node *node = &w->graph->nodes[value->node];
  while ((tf_is(node, "Identity") || tf_is(node, "ReadVariableOp")) && node->input_count)
    node = &w->graph->nodes[node->inputs[0].node];
  return tf_same_variable(w, node);
}

// What the checkpoint has of the variable, or of one that is nothing but its copy.
static const tf_bundle_entry *find_saved(const tf_writer *w, const tf_variable *v) {
  const tf_bundle_entry *saved = tf_find_saved(w->saved, v->key, v->name);
  for (uint32_t i = 0; !saved && !v->initial && i < w->all.count; i++) {
    const tf_variable *copy = w->all.items[i];
    bool is_copy = copy->initial && variable_read(w, &copy->initial->inputs[1]) == v;
    if (is_copy) saved = tf_find_saved(w->saved, copy->key, copy->name);
  }
  return saved;
}

// As the node says, or else what it begins with.
static bool read_type(tf_writer *w, tf_variable *v) {
  const tf_attr *shape = tf_attribute(v->node, "shape");
  const tf_bundle_entry *saved = find_saved(w, v);
  bool known = shape && shape->value_case == TENSORFLOW__ATTR_VALUE__VALUE_SHAPE &&
               !shape->shape->unknown_rank && shape->shape->n_dim <= LEAT_MAX_RANK;
  if (!tf_dtype(tf_type(v->node, "dtype"), &v->type.dtype)) {
    tf_refuse(w, "variable `%s` is of a data type that Leat lacks", v->name);
    return false;
  }
  for (size_t i = 0; known && i < shape->shape->n_dim; i++) {
    v->type.shape[v->type.rank++] = shape->shape->dim[i]->size;
    known = shape->shape->dim[i]->size >= 0;
  }
  if (!known && saved) {
    v->type = saved->type;
    known = true;
  }
  const tf_node *first = v->initial ? &w->graph->nodes[v->initial->inputs[1].node] : NULL;
  const tf_attr *value = first ? tf_attribute(first, "value") : NULL;
  if (!known && value && value->value_case == TENSORFLOW__ATTR_VALUE__VALUE_TENSOR)
    known = !tf_tensor_type(value->tensor, v->name, &v->type, NULL);
  if (!known)
    tf_refuse(w, "variable `%s` has a shape that is not known: give it one where it is made",
              v->name);
  return known;
}

static const char *initial_value(tf_writer *w, const tf_variable *v, const tf_edge *value) {
  const tf_values *values = &w->scope->values[value->node];
  bool there = value->port < values->count && values->items[value->port].text;
  if (there) return tf_as_tensor(w, values->items[value->port]);
  tf_refuse(w, "what variable `%s` begins with is not known: begin it with a constant", v->name);
  return "0";
}

// A function of the nodes that the value needs, and its call.
static const char *write_initial(tf_writer *w, const tf_variable *v) {
  const tf_edge *value = &v->initial->inputs[1];
  bool *needed = leat_new_array(w->arena, bool, w->graph->count + 1);
  tf_scope scope = {.block = w->graph, .prefix = ""}, *outer = w->scope;
  tf_aside aside = tf_step_aside(w);
  bool initialising = w->initialising;
  scope.values = leat_new_array(w->arena, tf_values, w->graph->count + 1);
  tf_mark(w->graph, value->node, needed);
  w->scope = &scope;
  w->initialising = true;
  tf_write_nodes(w, needed);
  tf_line(w, "return %s", initial_value(w, v, value));
  w->initialising = initialising;
  w->scope = outer;
  leat_text lines = tf_step_back(w, aside);
  const char *name = tf_written(w, tf_global(w, leat_arena_printf(w->arena, "%s/init", v->name)));
  leat_text_add(&w->head, "\nfn %s() {\n%s}\n", name, leat_model_take_text(w->arena, &lines));
  return leat_arena_printf(w->arena, "%s()", name);
}

// The number that a constant is everywhere, which is written once in a file; NULL: it is no such.
static const char *repeated_number(tf_writer *w, const tf_tensor *tensor, const char *name) {
  Tensorflow__TensorProto one = *tensor;
  leat_text text = {0};
  leat_tensor value;
  size_t numbers =
      tensor->n_float_val + tensor->n_double_val + tensor->n_int_val + tensor->n_int64_val;
  if (numbers != 1 || tensor->tensor_content.len) return NULL;
  one.tensor_shape = NULL;
  if (tf_tensor_read(w->arena, &one, name, &value, NULL)) return NULL;
  leat_tensor_print(&value, &text);
  return leat_model_take_text(w->arena, &text);
}

static const char *initial_text(tf_writer *w, const tf_variable *v) {
  const tf_bundle_entry *saved = find_saved(w, v);
  if (saved) return load(w, (leat_weight){v->name, saved->type, read_saved, saved});
  if (!v->initial && w->saved->bundle.count)
    tf_refuse(w,
              "variable `%s` is not in the checkpoint beside the graph, and nothing else says "
              "what it begins with",
              v->name);
  if (!v->initial) return "zeros()";
  const tf_node *first = &w->graph->nodes[v->initial->inputs[1].node];
  const tf_attr *value = tf_attribute(first, "value");
  bool constant = !strcmp(first->def->op, "Const") && value &&
                  value->value_case == TENSORFLOW__ATTR_VALUE__VALUE_TENSOR;
  if (!constant) return write_initial(w, v);
  const char *everywhere = repeated_number(w, value->tensor, v->name);
  return everywhere ? everywhere : tf_constant(w, value->tensor, first->def->name).text;
}

static void declare(tf_writer *w, tf_variable *v) {
  if (!read_type(w, v)) {
    v->refused = true;
    return;
  }
  v->begins = initial_text(w, v);
  bool number = leat_dtype_kind_of(v->type.dtype) == LEAT_KIND_FLOAT;
  leat_text_add(&w->head, "\nvar %s: %s = %s%s\n", tf_written(w, tf_global(w, v->name)),
                tf_type_text(w, &v->type), v->begins,
                v->untrained || !number ? " trainable=false" : "");
}

const char *tf_initial(tf_writer *w, const tf_variable *v) {
  const char *type = tf_type_text(w, &v->type);
  if (strcmp(v->begins, "zeros()") == 0) return leat_arena_printf(w->arena, "zeros(%s)", type);
  return leat_arena_printf(w->arena, "tf_initial(%s, %s)", type, v->begins);
}

tf_variable *tf_variable_of(tf_writer *w, const tf_node *node) {
  tf_variable *v = find(w, name_of(w, node));
  if (!v->declared) {
    v->declared = true;
    declare(w, v);
  }
  if (!v->begins && !v->refused) {
    tf_refuse(w, "variable `%s` begins with what depends on itself", v->name);
    v->refused = true;
  }
  if (v->refused) tf_bind(w, 0, (tf_value){.text = "0"});
  return v->refused ? NULL : v;
}
