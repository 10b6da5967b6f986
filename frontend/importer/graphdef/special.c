// The nodes for which a row of ops.def does not say enough: constants, variables, control.
#include "frontend/importer/graphdef/writer.h"

#include <string.h>

static bool is_resource(const tf_node *node) {
  return tf_type(node, "T") == TENSORFLOW__DATA_TYPE__DT_RESOURCE;
}

static void write_const(tf_writer *w) {
  const tf_attr *a = tf_attribute(w->node, "value");
  if (!a || a->value_case != TENSORFLOW__ATTR_VALUE__VALUE_TENSOR) {
    tf_refuse(w, "it has no value");
    return;
  }
  tf_value value = tf_constant(w, a->tensor, w->node->def->name);
  const char *after = tf_after(w);
  if (!value.known || *after) {
    const char *made = tf_as_tensor(w, value);
    value.tensor = tf_targets(w, 1, value.data_type);
    tf_line(w, "%s = %s%s", value.tensor, made, after);
    if (!value.known) value.text = value.tensor;
  }
  tf_bind(w, 0, value);
}

// What TensorFlow reads of a variable that is a reference, `w/read`, is the variable's own memory:
// who waits for an assignment finds there what was assigned.
static void write_identity(tf_writer *w) {
  tf_value value = tf_input(w, 0);
  const char *after = tf_after(w);
  if (tf_begins_gradient(w->scope->block, w->node)) {
    tf_line(w, "%s = zeros_like(%s)", tf_targets(w, 1, value.data_type), value.text);
    return;
  }
  bool same = is_resource(w->node) || value.is_false || (value.fixed && !*after) || value.untyped ||
              value.left;
  bool alias = value.variable && !w->node->control_count && tf_is(w->node, "Identity");
  if (!same)
    tf_line(w, "%s = identity(%s)%s", tf_targets(w, 1, value.data_type), tf_as_tensor(w, value),
            after);
  value.variable = value.variable && same;
  if (same || alias) tf_bind(w, 0, value);
}

static void write_identity_n(tf_writer *w) {
  for (uint32_t i = 0; i < w->node->input_count; i++) tf_bind(w, i, tf_input(w, i));
}

static void write_variable(tf_writer *w) {
  const tf_variable *variable = tf_variable_of(w, w->node);
  if (variable && w->initialising)
    tf_line(w, "%s = %s", tf_targets(w, 1, tf_type(w->node, "dtype")), tf_initial(w, variable));
  else if (variable)
    tf_bind(w, 0,
            (tf_value){
                .text = variable->path, .data_type = tf_type(w->node, "dtype"), .variable = true});
}

// A step finds all variables initialised; whoever asks while one is, finds none.
static void write_is_initialized(tf_writer *w) {
  tf_value value = {.text = w->initialising ? "tensor(false)" : "tensor(true)",
                    .data_type = TENSORFLOW__DATA_TYPE__DT_BOOL,
                    .is_false = w->initialising};
  if (!w->initialising) {
    const char *name = tf_targets(w, 1, value.data_type);
    tf_line(w, "%s = %s", name, value.text);
    value.text = name;
  }
  tf_bind(w, 0, value);
}

static void write_placeholder(tf_writer *w) {
  const tf_values *values = &w->scope->values[w->node - w->scope->block->nodes];
  if (values->count) return; // a parameter
  tf_refuse(w, "a variable begins with what this placeholder is fed, which is not known then: "
               "begin it with a constant");
  tf_bind(w, 0, (tf_value){.text = "0"});
}

// An array of tensors is its elements, stacked: zeros at first. Where nothing says their shape all
// of it has to be scattered at once. Its handle says nothing more.
static void write_array(tf_writer *w) {
  const Tensorflow__TensorShapeProto *shape = tf_element_shape(w->node);
  leat_text dims = {0};
  leat_dtype dtype;
  if (!tf_dtype(tf_type(w->node, "dtype"), &dtype)) {
    tf_refuse(w, "its elements are of a data type that Leat lacks");
    return;
  }
  for (size_t i = 0; shape && i < shape->n_dim; i++)
    leat_text_add(&dims, ", %lld", (long long)shape->dim[i]->size);
  const char *size = tf_as_numbers(w, tf_input(w, 0)),
             *rest = leat_model_take_text(w->arena, &dims);
  tf_targets(w, 2, tf_type(w->node, "dtype"));
  const char *flow = w->scope->values[w->node - w->scope->block->nodes].items[1].text;
  if (!shape && w->node->like)
    tf_line(w, "%s = tf_array(%s, %s)", flow, size,
            tf_as_tensor(w, tf_edge_value(w, w->node->like)));
  else
    tf_line(w, "%s = tf_zeros([onnx_dim(%s)%s], %s)", flow, size, rest, leat_dtype_name(dtype));
  tf_bind(w, 0, (tf_value){.text = "0", .variable = true});
}

// One that may grow does so where there is no such element.
static void write_array_write(tf_writer *w) {
  const tf_node *array = tf_made_by(w->scope->block, w->node, "TensorArrayV3");
  bool grows = array && tf_int(array, "dynamic_size", 0);
  if (grows && w->node->frame) {
    tf_refuse(w,
              "an array that grows in a loop of version 1 is not supported: give TensorArray its "
              "size, or make the graph behind enable_control_flow_v2()");
    return;
  }
  tf_value index = tf_input(w, 1), value = tf_input(w, 2);
  const char *flow = tf_as_tensor(w, tf_input(w, 3)), *item = tf_as_tensor(w, value);
  const char *after = tf_after(w);
  tf_line(w, "%s = tf_array_write%s(%s, %s, %s)%s", tf_targets(w, 1, value.data_type),
          grows ? "_grown" : "", grows ? tf_as_numbers(w, index) : tf_as_tensor(w, index), item,
          flow, after);
}

// Its flow is said by the identity behind it.
static void write_array_gradient(tf_writer *w) {
  tf_bind(w, 0, (tf_value){.text = "0", .variable = true});
  tf_bind(w, 1, tf_input(w, 1));
}

// -- The paper's primitives -----------------------------------------------------------------------

// The value, or zeros of the type that the node's is to have.
static const char *like_text(tf_writer *w, tf_value value) {
  if (!w->node->like) return tf_as_tensor(w, value);
  const char *like = tf_as_tensor(w, tf_edge_value(w, w->node->like));
  return leat_arena_printf(w->arena, "zeros_like(%s)", like);
}

// Whether each turn has the same predicate: that decides no more than whether the loop runs.
static bool is_decided_outside(tf_writer *w) {
  const tf_node *from = &w->scope->block->nodes[w->node->inputs[1].node];
  return w->node->frame == NULL || (tf_is(from, "Enter") && tf_int(from, "is_constant", 0));
}

static void write_switch(tf_writer *w) {
  tf_value value = tf_input(w, 0), predicate = tf_input(w, 1);
  if (predicate.is_false) {
    tf_bind(w, 0, value);
    return;
  }
  if (value.variable || (value.now && (value.fixed || is_decided_outside(w)))) {
    for (uint32_t i = 0; i < 2; i++) tf_bind(w, i, value);
    return;
  }
  const char *targets = tf_targets(w, 2, value.data_type);
  const char *from = like_text(w, value);
  tf_line(w, "%s = switch(%s, %s)", targets, from, tf_as_tensor(w, predicate));
}

static bool is_back_edge(tf_writer *w, const tf_edge *edge) {
  return tf_is(&w->scope->block->nodes[edge->node], "NextIteration");
}

// The only input that there is while a variable's initial value is written.
static bool pass_merged(tf_writer *w) {
  for (uint32_t i = 0; w->initialising && i < w->node->input_count; i++) {
    const tf_edge *edge = &w->node->inputs[i];
    const tf_values *values = &w->scope->values[edge->node];
    if (edge->port >= values->count || !values->items[edge->port].text) continue;
    tf_bind(w, 0, values->items[edge->port]);
    return true;
  }
  return w->initialising;
}

static void write_merge(tf_writer *w) {
  if (pass_merged(w)) return;
  leat_text inputs = {0};
  int32_t type = 0;
  for (uint32_t i = 0; i < w->node->input_count; i++) {
    if (is_back_edge(w, &w->node->inputs[i])) continue;
    tf_value value = tf_input(w, i);
    type = value.data_type;
    leat_text_add(&inputs, "%s%s", inputs.size ? ", " : "", tf_as_tensor(w, value));
  }
  const char *list = leat_model_take_text(w->arena, &inputs);
  tf_line(w, "%s = merge(%s)", tf_targets(w, 2, type), list);
}

static void write_enter(tf_writer *w) {
  tf_value value = tf_input(w, 0);
  bool constant = tf_int(w->node, "is_constant", 0);
  if (value.variable) {
    tf_bind(w, 0, value);
    return;
  }
  const char *from = like_text(w, value);
  const char *name = tf_targets(w, 1, value.data_type);
  tf_line(w, "%s = enter(%s, frame=%s%s)", name, from, tf_frame_name(w, w->node->frame),
          constant ? ", is_constant=true" : "");
  if (!constant || w->node->like || (!value.fixed && !value.now)) return;
  if (value.fixed)
    value.tensor = name;
  else
    value.text = name;
  tf_bind(w, 0, value);
}

// Whether what is next is what the merge gives and more rows, as sparse gradients add up in a loop.
static bool appends(const tf_block *block, const tf_node *next, const tf_node *merge) {
  const tf_node *value = next->input_count ? &block->nodes[next->inputs[0].node] : NULL;
  if (!value || !tf_is(value, "ConcatV2") || !value->input_count) return false;
  const tf_node *before = &block->nodes[value->inputs[0].node];
  return tf_is(before, "Switch") && before->input_count &&
         &block->nodes[before->inputs[0].node] == merge;
}

static void write_next_iteration(tf_writer *w) {
  const tf_block *block = w->scope->block;
  uint32_t self = (uint32_t)(w->node - block->nodes);
  const char *value = tf_as_tensor(w, tf_input(w, 0));
  for (uint32_t i = 0; i < block->count; i++) {
    const tf_node *merge = &block->nodes[i];
    for (uint32_t k = 0; tf_is(merge, "Merge") && k < merge->input_count; k++) {
      const tf_values *values = &w->scope->values[i];
      if (merge->inputs[k].node != self || !values->count) continue;
      if (appends(block, w->node, merge))
        tf_refuse(w,
                  "its loop carries a tensor that gets more rows, as the gradient of a tf.gather "
                  "of a table in a loop does: read the rows before the loop");
      tf_line(w, "next_iteration(%s, %s)", value, values->items[0].text);
      return;
    }
  }
}

// -- Effects --------------------------------------------------------------------------------------

// Leat counts the steps of a training entry itself, behind all of it: what comes here meanwhile
// finds the next number.
static void write_count(tf_writer *w, tf_value variable) {
  const char *name = tf_name(w, w->node->def->name);
  tf_line(w, "%s = %s + 1", name, variable.text);
  w->step = name;
  w->step_path = variable.text;
  tf_bind(w, 0, (tf_value){.text = name, .data_type = variable.data_type});
}

// `how` is `(":=")`.
static void write_assign(tf_writer *w, const char *how) {
  tf_value variable = tf_input(w, 0);
  if (w->node == w->counts) {
    write_count(w, variable);
    return;
  }
  const char *value = tf_as_tensor(w, tf_input(w, 1)), *after = tf_after(w);
  if (!variable.variable) {
    tf_refuse(w, "what it assigns to is no variable of the graph");
    return;
  }
  tf_bind(w, 0, variable);
  if (strstr(how, "-="))
    tf_line(w, "%s += -%s%s", variable.text, value, after);
  else
    tf_line(w, "%s %s %s%s", variable.text, strstr(how, "+=") ? "+=" : ":=", value, after);
}

static const char *rest_of(tf_writer *w, size_t first) {
  leat_text list = {0};
  for (size_t i = first; i < w->node->input_count; i++)
    leat_text_add(&list, ", %s", tf_as_tensor(w, tf_input(w, i)));
  return leat_model_take_text(w->arena, &list);
}

static void write_print(tf_writer *w) {
  const char *message = tf_string(w, w->node, "message"), *after = tf_after(w);
  tf_value value = tf_input(w, 0);
  tf_line(w, "print(%s%s)%s", tf_quote(w, message, strlen(message)), rest_of(w, 1), after);
  tf_bind(w, 0, value);
}

// A text of values that only prints: what it is of is shown there, as `print` does.
static void write_print_formatted(tf_writer *w) {
  const tf_block *block = w->scope->block;
  const tf_node *outer = w->node;
  const tf_node *text = outer->input_count ? &block->nodes[outer->inputs[0].node] : outer;
  const char *after = tf_after(w);
  if (!text->def || strcmp(text->def->op, "StringFormat") != 0) {
    tf_line(w, "print(\"\"%s)%s", rest_of(w, 0), after);
    return;
  }
  const char *message = tf_string(w, text, "template");
  w->node = text;
  const char *values = rest_of(w, 0);
  w->node = outer;
  tf_line(w, "print(%s%s)%s", tf_quote(w, message, strlen(message)), values, after);
}

static void write_formatted(tf_writer *w) {
  tf_bind(w, 0, (tf_value){.text = "0", .untold = true});
}

static void write_assert(tf_writer *w) {
  const char *name = w->node->def->name, *after = tf_after(w);
  tf_line(w, "assert(%s, %s%s)%s", tf_as_tensor(w, tf_input(w, 0)), tf_quote(w, name, strlen(name)),
          rest_of(w, 1), after);
}

void tf_write_special(tf_writer *w, const char *name) {
  static const struct {
    const char *name;
    void (*write)(tf_writer *w);
  } specials[] = {{"const", write_const},
                  {"identity", write_identity},
                  {"identity_n", write_identity_n},
                  {"variable", write_variable},
                  {"placeholder", write_placeholder},
                  {"is_initialized", write_is_initialized},
                  {"table", tf_write_table},
                  {"lookup", tf_write_lookup},
                  {"table_size", tf_write_table_size},
                  {"table_export", tf_write_table_export},
                  {"array", write_array},
                  {"array_write", write_array_write},
                  {"array_gradient", write_array_gradient},
                  {"switch", write_switch},
                  {"merge", write_merge},
                  {"enter", write_enter},
                  {"next_iteration", write_next_iteration},
                  {"print", write_print},
                  {"print_formatted", write_print_formatted},
                  {"formatted", write_formatted},
                  {"assert", write_assert},
                  {"call", tf_write_call},
                  {"if", tf_write_if},
                  {"case", tf_write_case},
                  {"optional", tf_write_optional},
                  {"none", tf_write_none},
                  {"optional_value", tf_write_optional_value},
                  {"while", tf_write_while},
                  {"list", tf_write_list},
                  {"list_set", tf_write_list_set},
                  {"list_scatter", tf_write_list_scatter},
                  {"list_scatter_into", tf_write_list_scatter_into},
                  {"list_push", tf_write_list_push},
                  {"list_pop", tf_write_list_pop},
                  {"list_length", tf_write_list_length},
                  {"list_stack", tf_write_list_stack},
                  {"stack", tf_write_stack},
                  {"push", tf_write_push},
                  {"pop", tf_write_pop}};
  if (strncmp(name, "assign", 6) == 0) write_assign(w, name + 6);
  for (size_t i = 0; i < sizeof specials / sizeof *specials; i++)
    if (strcmp(specials[i].name, name) == 0) specials[i].write(w);
}
