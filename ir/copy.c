// Copies of nodes with the bodies that they hold.
#include "ir/substitution.h"

static const leat_type *substitute_outputs(leat_graph *to, const leat_node *node,
                                           leat_substitution *dims) {
  if (!dims->count) return node->outputs;
  leat_type *outputs = leat_new_array(to->arena, leat_type, node->output_count);
  for (uint32_t i = 0; i < node->output_count; i++)
    outputs[i] = leat_substitute_type(dims, &node->outputs[i]);
  return outputs;
}

static leat_dim replace(leat_graph *to, leat_substitution *dims, leat_dim dim) {
  leat_dim own = leat_dim_anonymous(to->dims, NULL);
  leat_substitution_set(dims, leat_dim_atom(dim), own);
  return own;
}

// What grows has other dims in the copies of the bodies.
static void replace_in_bodies(leat_graph *to, const leat_node *node, leat_substitution *dims) {
  for (int b = 0; node->op == LEAT_OP_while_loop && leat_node_body(node, b); b++)
    for (uint32_t i = 0; i < node->output_count; i++) {
      const leat_type *type = &node->attrs[b].body->params.items[i]->outputs[0];
      for (int32_t k = 0; k < type->rank; k++)
        if (leat_region_grows(node, i, k)) replace(to, dims, type->dims[k]);
    }
}

// What the node binds.
static void replace_bound(leat_graph *to, const leat_node *node, leat_attr *attrs,
                          leat_substitution *dims) {
  uint32_t count;
  const leat_dim *bound = leat_node_binds(node, &count);
  leat_dim *own = leat_new_array(to->arena, leat_dim, count);
  for (uint32_t i = 0; i < count; i++) own[i] = replace(to, dims, bound[i]);
  if (node->op == LEAT_OP_bind)
    attrs[0].dim = own[0];
  else if (count)
    attrs[leat_op_attr_index(node->op, "dims")].dims = own;
}

leat_node *leat_graph_append_like(leat_graph *to, const leat_node *node, const char *name,
                                  const leat_value *inputs, const leat_attr *attrs,
                                  leat_entry *entry, leat_substitution *dims) {
  leat_attr copies[LEAT_MAX_ATTRS];
  if (dims) replace_in_bodies(to, node, dims);
  for (int i = 0; i < node->info->attr_count; i++) {
    copies[i] = attrs[i];
    if (leat_node_body(node, i))
      copies[i].body = leat_graph_copy_body(attrs[i].body, to, entry, dims);
  }
  if (dims) replace_bound(to, node, copies, dims);
  const leat_type *outputs = dims ? substitute_outputs(to, node, dims) : node->outputs;
  leat_node *copy = leat_graph_append_typed(to, node->op, leat_graph_unique_name(to, name), inputs,
                                            node->input_count, copies, outputs);
  if (dims) leat_substitute_attrs(dims, to, copy);
  copy->device = node->device;
  copy->colocate = node->colocate;
  copy->entry = entry;
  copy->span = node->span;
  copy->place = node->place;
  return copy;
}

static leat_node *copy_node(leat_graph *to, const leat_node *node, leat_entry *entry,
                            leat_substitution *dims) {
  leat_node *const *copies = to->nodes.items; // ids are the same in both
  leat_value *inputs = leat_new_array(to->arena, leat_value, node->input_count);
  for (uint32_t i = 0; i < node->input_count; i++)
    inputs[i] = (leat_value){copies[node->inputs[i].node->id], node->inputs[i].port};
  leat_node *copy = leat_graph_append_like(to, node, node->name, inputs, node->attrs, entry, dims);
  copies = to->nodes.items;
  copy->control_count = node->control_count;
  copy->controls = leat_new_array(to->arena, leat_node *, node->control_count);
  for (uint32_t i = 0; i < node->control_count; i++)
    copy->controls[i] = copies[node->controls[i]->id];
  return copy;
}

bool leat_node_only_acts(const leat_node *node) {
  return node->effect && !node->output_count && node->op != LEAT_OP_yield &&
         node->op != LEAT_OP_bind;
}

void leat_graph_drop_acts(leat_graph *body) {
  uint32_t kept = 0;
  for (uint32_t i = 0; i < body->nodes.count; i++) {
    leat_node *node = body->nodes.items[i];
    uint32_t controls = 0;
    for (uint32_t k = 0; k < node->control_count; k++)
      if (!leat_node_only_acts(node->controls[k])) node->controls[controls++] = node->controls[k];
    node->control_count = controls;
    if (!leat_node_only_acts(node)) body->nodes.items[kept++] = node;
  }
  body->nodes.count = kept;
  leat_graph_renumber(body);
  for (uint32_t i = 0; i < kept; i++) {
    leat_node *node = body->nodes.items[i];
    for (int b = 0; b < node->info->attr_count; b++)
      if (leat_node_body(node, b)) leat_graph_drop_acts(leat_node_body(node, b));
    leat_node_set_op(node, node->op);
  }
}

leat_graph *leat_graph_copy_body(const leat_graph *body, leat_graph *outer, leat_entry *entry,
                                 leat_substitution *dims) {
  leat_graph *to = leat_graph_create_body(outer);
  for (uint32_t i = 0; i < body->nodes.count; i++) {
    const leat_node *node = body->nodes.items[i];
    copy_node(to, node, entry ? entry : node->entry, dims);
  }
  for (uint32_t i = 0; i < body->params.count; i++)
    leat_vec_push(to->arena, &to->params, to->nodes.items[body->params.items[i]->id]);
  return to;
}
