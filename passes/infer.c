// infer: puts the values that a step's feeds give to named dims in their place.
//
//   needs   dim_values and dim_known by atom id; without them it does nothing
//   keeps   the nodes, but for checks that are decided; changes dims in types and attributes, and
//           infers the types of the nodes that it changed again, in order
#include "ops/build.h"
#include "ops/shape.h"
#include "passes/pass.h"

typedef struct inferrer {
  leat_pass_context *context;
  leat_dims *dims;
  uint32_t count;   // of atoms that the arrays hold
  leat_dim *values; // by atom id
  bool *known;
  bool failed; // a dim overflowed
} inferrer;

// Dims grow while they are substituted: an atom that is new has no value.
static void hold_all_atoms(inferrer *in) {
  uint32_t count = leat_dims_atom_count(in->dims);
  if (count <= in->count) return;
  leat_dim *values = leat_new_array(in->context->scratch, leat_dim, (size_t)count * 2);
  bool *known = leat_new_array(in->context->scratch, bool, (size_t)count * 2);
  for (uint32_t i = 0; i < in->count; i++) {
    values[i] = in->values[i];
    known[i] = in->known[i];
  }
  in->count = count * 2;
  in->values = values;
  in->known = known;
}

static leat_dim put_in(inferrer *in, leat_dim dim) {
  leat_dim result = dim;
  if (leat_dim_is_const(dim)) return dim;
  hold_all_atoms(in);
  if (!leat_dim_substitute(in->dims, dim, in->values, in->known, &result)) in->failed = true;
  return result;
}

static bool type_is_open(const leat_type *type) {
  return !leat_type_is_static(type);
}

static const leat_type *put_in_type(inferrer *in, const leat_type *type) {
  if (!type_is_open(type)) return type;
  leat_type *closed = leat_arena_memdup(in->context->graph->arena, type, sizeof *type);
  for (int32_t i = 0; i < type->rank; i++) closed->dims[i] = put_in(in, type->dims[i]);
  return closed;
}

static leat_attr put_in_dims(inferrer *in, leat_attr attr) {
  leat_dim *closed = leat_new_array(in->context->graph->arena, leat_dim, attr.count);
  for (uint32_t i = 0; i < attr.count; i++) closed[i] = put_in(in, attr.dims[i]);
  attr.dims = closed;
  return attr;
}

static bool is_open(const leat_node *node) {
  const leat_op_info *info = node->info;
  for (uint32_t i = 0; i < node->output_count; i++)
    if (type_is_open(&node->outputs[i])) return true;
  for (int i = 0; i < info->attr_count; i++) {
    const leat_attr *attr = &node->attrs[i];
    if (info->attrs[i].kind == LEAT_ATTR_DIM && !leat_dim_is_const(attr->dim)) return true;
    for (uint32_t j = 0; info->attrs[i].kind == LEAT_ATTR_DIMS && j < attr->count; j++)
      if (!leat_dim_is_const(attr->dims[j])) return true;
  }
  return false;
}

static void put_in_attrs(inferrer *in, leat_node *node) {
  leat_graph *graph = in->context->graph;
  const leat_op_info *info = node->info;
  for (int i = 0; i < info->attr_count; i++) {
    leat_attr attr = node->attrs[i];
    if (info->attrs[i].kind == LEAT_ATTR_DIM)
      attr.dim = put_in(in, attr.dim);
    else if (info->attrs[i].kind == LEAT_ATTR_DIMS)
      attr = put_in_dims(in, attr);
    else if (info->attrs[i].kind == LEAT_ATTR_TYPE)
      attr.type = put_in_type(in, attr.type);
    else
      continue;
    leat_node_set_attr(graph, node, info->attrs[i].name, attr);
  }
}

// "2*B = 4", or just the number.
static const char *dim_text(const inferrer *in, leat_dim dim, leat_dim value) {
  leat_arena *arena = in->context->graph->arena;
  const char *text = leat_dim_text(arena, dim);
  if (leat_dim_is_const(dim)) return text;
  return leat_arena_printf(arena, "%s = %s", text, leat_dim_text(arena, value));
}

// Says of a tensor whose dims are not those that they have to be what both are called, as nobody
// can once they are numbers.
static bool check_shape(inferrer *in, const leat_node *node) {
  const leat_node *x = node->inputs[0].node;
  const leat_type *found = leat_value_type(node->inputs[0]);
  const leat_attr *shape = leat_node_attr(node, "shape");
  for (int32_t i = 0; i < found->rank; i++) {
    leat_dim is = put_in(in, found->dims[i]), needed = put_in(in, shape->dims[i]);
    if (leat_dims_may_be_equal(in->context->graph, is, needed)) continue;
    leat_error_at(in->context->diag, node->span, "axis %d of `%s` is %s, and has to be %s here", i,
                  x->name, dim_text(in, found->dims[i], is), dim_text(in, shape->dims[i], needed));
    return false;
  }
  return true;
}

static bool is_decided(const leat_node *node) {
  return node->op == LEAT_OP_check_dims && leat_dim_is_const(leat_node_attr(node, "room")->dim);
}

// The shape rule has found that they hold.
static void drop_decided(leat_graph *graph) {
  uint32_t kept = 0;
  for (uint32_t i = 0; i < graph->entries.count; i++) {
    leat_entry *entry = graph->entries.items[i];
    uint32_t effects = 0;
    for (uint32_t j = 0; j < entry->effects.count; j++)
      if (!is_decided(entry->effects.items[j]))
        entry->effects.items[effects++] = entry->effects.items[j];
    entry->effects.count = effects;
  }
  for (uint32_t i = 0; i < graph->nodes.count; i++)
    if (!is_decided(graph->nodes.items[i])) graph->nodes.items[kept++] = graph->nodes.items[i];
  graph->nodes.count = kept;
  leat_graph_renumber(graph);
}

leat_status leat_pass_infer(leat_pass_context *context) {
  if (!context->dim_values) return LEAT_OK;
  leat_graph *graph = context->graph;
  inferrer in = {.context = context, .dims = graph->dims};
  uint32_t atoms = leat_dims_atom_count(graph->dims); // those that the session knows of
  hold_all_atoms(&in);
  for (uint32_t i = 0; i < atoms; i++) {
    in.known[i] = context->dim_known[i];
    if (in.known[i]) in.values[i] = leat_dim_const(context->dim_values[i]);
  }

  for (uint32_t i = 0; i < graph->nodes.count; i++) {
    const leat_node *node = graph->nodes.items[i];
    if (node->op == LEAT_OP_ensure_shape && !check_shape(&in, node)) return LEAT_INVALID;
  }
  for (uint32_t i = 0; i < graph->states.count; i++)
    graph->states.items[i]->type = *put_in_type(&in, &graph->states.items[i]->type);
  for (uint32_t i = 0; i < graph->nodes.count; i++) {
    leat_node *node = graph->nodes.items[i];
    if (!is_open(node)) continue;
    put_in_attrs(&in, node);
    if (in.failed) {
      leat_error_at(context->diag, node->span, "a dim of `%s` is too large", node->name);
      return LEAT_INVALID;
    }
    if (!leat_infer_node(graph, context->diag, node)) return LEAT_INVALID;
  }
  drop_decided(graph);
  return LEAT_OK;
}
