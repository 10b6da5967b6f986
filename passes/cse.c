// cse: equal nodes become one (Click, "Global code motion, global value numbering", 1995, as the
// white paper's 5.1).
//
//   needs   nodes in order
//   keeps   the first of equal nodes; random and effectful ops, and nodes that only serve initial
//           values, which are computed apart
//   equal   op, inputs, attributes, types, device and colocation constraints, and control edges as
//           a set; the inputs of ops that commute in either order; reads of a state with no write
//           of it between them
//
// In topological order, a node whose key is in the table is replaced by the node that put it
// there; since inputs have been replaced before, one walk finds all. A key is everything that
// counts, as bytes.
#include "passes/pass.h"
#include "passes/rewrite.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_TENSOR_BYTES = 1 << 16 }; // larger constants are equal when they are the same data

typedef struct merger {
  leat_arena *scratch;
  leat_bytes_map nodes; // key → the first node that has it
  uint32_t *writes;     // by state id: writes so far
  leat_vec(uint64_t) key;
} merger;

static void add_word(merger *m, uint64_t word) {
  leat_vec_push(m->scratch, &m->key, word);
}

static void add_pointer(merger *m, const void *pointer) {
  add_word(m, (uintptr_t)pointer);
}

static void add_bytes(merger *m, const void *bytes, size_t size) {
  size_t words = (size + 7) / 8, count = m->key.count;
  if (!size) return;
  leat_vec_reserve(m->scratch, &m->key, (uint32_t)(count + words));
  m->key.items[count + words - 1] = 0;
  memcpy(m->key.items + count, bytes, size);
  m->key.count += (uint32_t)words;
}

static void add_dim(merger *m, leat_dim dim) {
  add_word(m, (uint64_t)dim.value);
  add_pointer(m, dim.poly);
}

static void add_type(merger *m, const leat_type *type) {
  add_word(m, (uint64_t)type->dtype << 32 | (uint32_t)type->rank);
  for (int32_t i = 0; i < type->rank; i++) add_dim(m, type->dims[i]);
}

static void add_tensor(merger *m, const leat_tensor *tensor) {
  int64_t bytes = leat_tensor_bytes(tensor);
  add_word(m, (uint64_t)tensor->dtype << 32 | (uint32_t)tensor->rank);
  for (int32_t i = 0; i < tensor->rank; i++) add_word(m, (uint64_t)tensor->shape[i]);
  if (bytes <= MOST_TENSOR_BYTES)
    add_bytes(m, tensor->data, (size_t)bytes);
  else
    add_pointer(m, tensor->data);
}

static void add_attr(merger *m, leat_attr_kind kind, const leat_attr *attr) {
  switch (kind) {
  case LEAT_ATTR_INT:
  case LEAT_ATTR_BOOL:
  case LEAT_ATTR_DTYPE: add_word(m, (uint64_t)attr->i); break;
  case LEAT_ATTR_STRING: add_pointer(m, attr->string); break;
  case LEAT_ATTR_DIM: add_dim(m, attr->dim); break;
  case LEAT_ATTR_TYPE: add_type(m, attr->type); break;
  case LEAT_ATTR_TENSOR: add_tensor(m, attr->tensor); break;
  case LEAT_ATTR_STATE: add_pointer(m, attr->state); break;
  case LEAT_ATTR_GRAPH: add_pointer(m, attr->body); break;
  case LEAT_ATTR_INTS:
    add_word(m, attr->count);
    add_bytes(m, attr->ints, attr->count * sizeof *attr->ints);
    break;
  case LEAT_ATTR_DIMS:
    add_word(m, attr->count);
    for (uint32_t i = 0; i < attr->count; i++) add_dim(m, attr->dims[i]);
    break;
  }
}

static uint64_t value_word(leat_value value) {
  return (uint64_t)value.node->id << 32 | value.port;
}

static void add_inputs(merger *m, const leat_node *node, unsigned flags) {
  add_word(m, node->input_count);
  uint32_t first = m->key.count;
  for (uint32_t i = 0; i < node->input_count; i++) add_word(m, value_word(node->inputs[i]));
  uint64_t *words = m->key.items + first;
  if (!(flags & LEAT_FLAG_COMMUTES) || words[0] <= words[1]) return;
  uint64_t larger = words[0];
  words[0] = words[1];
  words[1] = larger;
}

static int compare_words(const void *a, const void *b) {
  uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
  return x < y ? -1 : x > y;
}

static void add_controls(merger *m, const leat_node *node) {
  uint32_t first = m->key.count, count = node->control_count;
  for (uint32_t i = 0; i < count; i++) add_word(m, node->controls[i]->id);
  if (count > 1) qsort(m->key.items + first, count, sizeof *m->key.items, compare_words);
}

static void make_key(merger *m, const leat_node *node) {
  const leat_op_info *info = node->info;
  const leat_state *state = leat_node_state(node);
  m->key.count = 0;
  add_word(m, node->op);
  add_inputs(m, node, info->flags);
  for (int i = 0; i < info->attr_count; i++) add_attr(m, info->attrs[i].kind, &node->attrs[i]);
  for (uint32_t i = 0; i < node->output_count; i++) add_type(m, &node->outputs[i]);
  add_pointer(m, node->device);
  add_pointer(m, node->colocate);
  add_pointer(m, node->op == LEAT_OP_run_count ? node->entry : NULL); // it counts the entry's Runs
  add_word(m, state ? m->writes[state->id] : 0);
  add_controls(m, node);
}

// The node that stands for all equal ones: an earlier one or `node` itself.
static leat_node *representative(merger *m, leat_node *node) {
  make_key(m, node);
  size_t size = m->key.count * sizeof *m->key.items;
  leat_node *first = leat_bytes_map_get(&m->nodes, m->key.items, size);
  if (first) return first;
  leat_bytes_map_set(&m->nodes, m->key.items, size, node);
  return node;
}

static bool may_merge(const leat_node *node) {
  const leat_op_info *info = node->info;
  return node->output_count == 1 && !(info->flags & (LEAT_FLAG_RANDOM | LEAT_FLAG_EFFECT));
}

leat_status leat_pass_cse(leat_pass_context *context) {
  leat_graph *graph = context->graph;
  merger m = {.scratch = context->scratch};
  leat_bytes_map_init(&m.nodes, context->scratch);
  m.writes = leat_new_array(context->scratch, uint32_t, graph->states.count);
  const bool *in_step = leat_step_nodes(graph, context->scratch);
  leat_rewriter r = leat_rewrite_begin(graph, context->scratch);
  for (uint32_t i = 0; i < r.count; i++) {
    leat_node *node = graph->nodes.items[i];
    leat_rewrite_inputs(&r, node);
    const leat_op_info *info = node->info;
    if (info->flags & LEAT_FLAG_STATE && info->flags & LEAT_FLAG_EFFECT)
      m.writes[leat_node_state(node)->id]++;
    leat_node *first = in_step[i] && may_merge(node) ? representative(&m, node) : node;
    if (first != node)
      leat_rewrite_replace(&r, node, (leat_value){first, 0});
    else
      leat_rewrite_keep(&r, node);
  }
  leat_rewrite_finish(&r);
  return LEAT_OK;
}
