// Lists of tensors, as version 2 has them: a tensor of all elements. What is pushed is appended; of
// what was popped only the number is left. A list whose elements have no shape in the graph is made
// when the first is there.
#include "frontend/importer/graphdef/writer.h"

#include <string.h>

static int32_t element_type(const tf_writer *w) {
  return tf_type(w->node, "element_dtype");
}

void tf_write_list(tf_writer *w) {
  leat_dtype dtype;
  tf_value shape = tf_input(w, 0);
  const char *count = tf_is(w->node, "EmptyTensorList") ? "0" : tf_as_numbers(w, tf_input(w, 1));
  if (!tf_dtype(element_type(w), &dtype)) {
    tf_refuse(w, "lists of lists are not supported, as loops in loops have for their gradients: "
                 "make the graph behind disable_control_flow_v2()");
    return;
  }
  if (!shape.fixed || (shape.known && strchr(shape.text, '-'))) {
    tf_bind(w, 0, (tf_value){.text = "0", .data_type = element_type(w), .untyped = count});
    return;
  }
  tf_line(w, "%s = tf_zeros([onnx_dim(%s)] + onnx_dims(%s), %s)", tf_targets(w, 1, element_type(w)),
          count, shape.text, leat_dtype_name(dtype));
}

tf_value tf_typed_list(tf_writer *w, tf_value list, const char *item) {
  if (!list.untyped) return list;
  const char *name = tf_name(w, leat_arena_printf(w->arena, "%s/list", w->node->def->name));
  tf_line(w, "%s = tf_array(%s, %s)", name, list.untyped, item);
  return (tf_value){.text = name, .data_type = list.data_type};
}

static bool resizes(const tf_node *set) {
  return tf_int(set, "resize_if_index_out_of_bounds", 0);
}

void tf_write_list_set(tf_writer *w) {
  bool grows = resizes(w->node);
  tf_value at = tf_input(w, 1);
  const char *index = grows ? tf_as_numbers(w, at) : tf_as_tensor(w, at),
             *item = tf_as_tensor(w, tf_input(w, 2));
  tf_value list = tf_typed_list(w, tf_input(w, 0), item);
  const char *all = tf_as_tensor(w, list);
  tf_line(w, "%s = tf_array_write%s(%s, %s, %s)", tf_targets(w, 1, element_type(w)),
          grows ? "_grown" : "", index, item, all);
}

// One of all values; the indices say which is which.
void tf_write_list_scatter(tf_writer *w) {
  const char *values = tf_as_tensor(w, tf_input(w, 0));
  tf_value indices = tf_input(w, 1), count = tf_input(w, 3);
  tf_line(w, "%s = tf_list_scattered(%s, %s, %s)", tf_targets(w, 1, element_type(w)), values,
          tf_as_numbers(w, indices), tf_as_numbers(w, count));
}

void tf_write_list_scatter_into(tf_writer *w) {
  tf_value list = tf_input(w, 0), indices = tf_input(w, 2);
  const char *values = tf_as_tensor(w, tf_input(w, 1));
  const char *name = tf_targets(w, 1, element_type(w));
  if (list.untyped)
    tf_line(w, "%s = tf_list_scattered(%s, %s, %s)", name, values, tf_as_numbers(w, indices),
            list.untyped);
  else
    tf_line(w, "%s = tf_array_scatter(%s, %s, %s)", name, tf_as_tensor(w, indices), values,
            tf_as_tensor(w, list));
}

void tf_write_list_push(tf_writer *w) {
  if (tf_input(w, 0).each) {
    tf_bind(w, 0, tf_input(w, 0));
    return;
  }
  const char *item = tf_as_tensor(w, tf_input(w, 1));
  tf_value list = tf_typed_list(w, tf_input(w, 0), item);
  const char *all = list.text, *left = list.left;
  if (left) all = leat_arena_printf(w->arena, "%s[:dynamic(%s)]", all, left);
  tf_line(w, "%s = tf_list_push(%s, %s)", tf_targets(w, 1, element_type(w)), all, item);
}

const char *tf_list_left(tf_writer *w, tf_value list) {
  return list.left ? list.left : leat_arena_printf(w->arena, "tf_list_left(%s)", list.text);
}

void tf_write_list_pop(tf_writer *w) {
  tf_value list = tf_input(w, 0);
  if (list.untyped) {
    tf_refuse(w, "nothing is in the list that it takes from");
    return;
  }
  if (list.each) {
    tf_bind(w, 0, list);
    list.each = false;
    tf_bind(w, 1, list);
    return;
  }
  const char *name = w->node->def->name, *before = tf_list_left(w, list);
  list.left = tf_name(w, leat_arena_printf(w->arena, "%s/left", name));
  tf_line(w, "%s = %s - 1", list.left, before);
  tf_targets(w, 2, element_type(w));
  tf_line(w, "%s = tf_array_read(%s, %s)",
          w->scope->values[w->node - w->scope->block->nodes].items[1].text, list.left, list.text);
  tf_bind(w, 0, list);
}

void tf_write_list_length(tf_writer *w) {
  tf_value list = tf_input(w, 0);
  const char *name = tf_targets(w, 1, TENSORFLOW__DATA_TYPE__DT_INT32);
  if (list.left)
    tf_line(w, "%s = identity(%s)", name, list.left);
  else if (list.untyped)
    tf_line(w, "%s = cast(%s, i32)", name, list.untyped);
  else
    tf_line(w, "%s = tf_array_size(%s)", name, list.text);
  w->scope->values[w->node - w->scope->block->nodes].items[0].fixed = !list.left;
}

void tf_write_list_stack(tf_writer *w) {
  tf_value list = tf_input(w, 0);
  const char *left = list.left;
  list.left = NULL;
  const char *all = tf_as_tensor(w, list);
  if (left) all = leat_arena_printf(w->arena, "%s[:dynamic(%s)]", all, left);
  tf_line(w, "%s = identity(%s)", tf_targets(w, 1, element_type(w)), all);
}

// -- Lists in loops -------------------------------------------------------------------------------

tf_list_change tf_list_changes(const tf_block *body, uint32_t i) {
  tf_list_change change = {0};
  tf_edge at;
  const Tensorflow__OpDef *signature = body->function->signature;
  if (!tf_find_returned(body, signature->output_arg[i]->name, &at)) return change;
  for (uint32_t steps = 0; steps < body->count && at.node < body->count; steps++) {
    const tf_node *node = &body->nodes[at.node];
    bool sets = tf_is(node, "TensorListSetItem"), pushes = tf_is(node, "TensorListPushBack");
    bool pops = tf_is(node, "TensorListPopBack"), loop = strstr(node->def->op, "While");
    bool branch = strstr(node->def->op, "If") || strstr(node->def->op, "Case");
    uint32_t item = sets ? 2 : 1, next = loop ? at.port : 0;
    // What a loop or a branch in the loop does to it is not looked at.
    change.grows |= branch;
    change.pushes |= pushes || loop;
    change.grows |= sets && resizes(node);
    change.pops |= pops || loop;
    if ((sets || pushes) && item < node->input_count) change.item = &node->inputs[item];
    if (!(sets || pushes || pops || loop || tf_is(node, "Identity"))) break;
    if (next >= node->input_count) break;
    at = node->inputs[next];
  }
  return change;
}
