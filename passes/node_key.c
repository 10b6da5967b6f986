// See node_key.h.
#include "passes/node_key.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_TENSOR_BYTES = 1 << 16 }; // larger constants are equal when they are the same data

void leat_node_key_add(leat_node_key *key, uint64_t word) {
  leat_vec_push(key->scratch, &key->words, word);
}

static void add_pointer(leat_node_key *key, const void *pointer) {
  leat_node_key_add(key, (uintptr_t)pointer);
}

static void add_bytes(leat_node_key *key, const void *bytes, size_t size) {
  size_t words = (size + 7) / 8, count = key->words.count;
  if (!size) return;
  leat_vec_reserve(key->scratch, &key->words, (uint32_t)(count + words));
  key->words.items[count + words - 1] = 0;
  memcpy(key->words.items + count, bytes, size);
  key->words.count += (uint32_t)words;
}

static void add_dim(leat_node_key *key, leat_dim dim) {
  leat_node_key_add(key, (uint64_t)dim.value);
  add_pointer(key, dim.poly);
}

static void add_type(leat_node_key *key, const leat_type *type) {
  leat_node_key_add(key, (uint64_t)type->dtype << 32 | (uint32_t)type->rank);
  for (int32_t i = 0; i < type->rank; i++) add_dim(key, type->dims[i]);
}

static void add_tensor(leat_node_key *key, const leat_tensor *tensor) {
  int64_t bytes = leat_tensor_bytes(tensor);
  leat_node_key_add(key, (uint64_t)tensor->dtype << 32 | (uint32_t)tensor->rank);
  for (int32_t i = 0; i < tensor->rank; i++) leat_node_key_add(key, (uint64_t)tensor->shape[i]);
  if (bytes <= MOST_TENSOR_BYTES)
    add_bytes(key, tensor->data, (size_t)bytes);
  else
    add_pointer(key, tensor->data);
}

static void add_attr(leat_node_key *key, leat_attr_kind kind, const leat_attr *attr) {
  switch (kind) {
  case LEAT_ATTR_INT:
  case LEAT_ATTR_BOOL:
  case LEAT_ATTR_DTYPE: leat_node_key_add(key, (uint64_t)attr->i); break;
  case LEAT_ATTR_STRING: add_pointer(key, attr->string); break;
  case LEAT_ATTR_DIM: add_dim(key, attr->dim); break;
  case LEAT_ATTR_TYPE: add_type(key, attr->type); break;
  case LEAT_ATTR_TENSOR: add_tensor(key, attr->tensor); break;
  case LEAT_ATTR_STATE: add_pointer(key, attr->state); break;
  case LEAT_ATTR_GRAPH: add_pointer(key, attr->body); break;
  case LEAT_ATTR_INTS:
    leat_node_key_add(key, attr->count);
    add_bytes(key, attr->ints, attr->count * sizeof *attr->ints);
    break;
  case LEAT_ATTR_DIMS:
    leat_node_key_add(key, attr->count);
    for (uint32_t i = 0; i < attr->count; i++) add_dim(key, attr->dims[i]);
    break;
  }
}

static uint64_t value_word(leat_value value) {
  return (uint64_t)value.node->id << 32 | value.port;
}

static void add_inputs(leat_node_key *key, const leat_node *node, const leat_value *inputs) {
  leat_node_key_add(key, node->input_count);
  uint32_t first = key->words.count;
  for (uint32_t i = 0; i < node->input_count; i++) leat_node_key_add(key, value_word(inputs[i]));
  uint64_t *words = key->words.items + first;
  if (!(node->info->flags & LEAT_FLAG_COMMUTES) || words[0] <= words[1]) return;
  uint64_t larger = words[0];
  words[0] = words[1];
  words[1] = larger;
}

static int compare_words(const void *a, const void *b) {
  uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
  return x < y ? -1 : x > y;
}

static void add_controls(leat_node_key *key, const leat_node *node) {
  uint32_t first = key->words.count, count = node->control_count;
  for (uint32_t i = 0; i < count; i++) leat_node_key_add(key, node->controls[i]->id);
  if (count > 1) qsort(key->words.items + first, count, sizeof *key->words.items, compare_words);
}

void leat_node_key_make(leat_node_key *key, const leat_node *node, const leat_value *inputs) {
  const leat_op_info *info = node->info;
  key->words.count = 0;
  leat_node_key_add(key, node->op);
  add_inputs(key, node, inputs);
  for (int i = 0; i < info->attr_count; i++) add_attr(key, info->attrs[i].kind, &node->attrs[i]);
  for (uint32_t i = 0; i < node->output_count; i++) add_type(key, &node->outputs[i]);
  add_pointer(key, node->device);
  add_pointer(key, node->colocate);
  add_pointer(key,
              node->op == LEAT_OP_run_count ? node->entry : NULL); // it counts the entry's Runs
  add_controls(key, node);
}

void *leat_node_key_find(const leat_node_key *key, const leat_bytes_map *nodes) {
  return leat_bytes_map_get(nodes, key->words.items, key->words.count * sizeof *key->words.items);
}

void leat_node_key_put(const leat_node_key *key, leat_bytes_map *nodes, leat_node *node) {
  leat_bytes_map_set(nodes, key->words.items, key->words.count * sizeof *key->words.items, node);
}
