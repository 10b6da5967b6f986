// Inputs of a graph's nodes are `name`, `name:port` and `^name`, those of a function's nodes
// `argument`, `name:output:number` and `^name`.
#include "frontend/importer/graphdef/block.h"

#include <stdlib.h>
#include <string.h>

static uint32_t read_port(const char *digits) {
  enum { MOST_DIGITS = 9 };
  size_t count = strspn(digits, "0123456789");
  bool number = count && count <= MOST_DIGITS && !digits[count];
  return number ? (uint32_t)strtoul(digits, NULL, 10) : TF_NO_PORT;
}

uint32_t tf_split_input(leat_arena *arena, const char *input, const char **out_name) {
  const char *colon = strrchr(input, ':');
  *out_name = colon ? leat_arena_strndup(arena, input, (size_t)(colon - input)) : input;
  return colon ? read_port(colon + 1) : 0;
}

static bool find(const tf_block *block, const char *name, uint32_t *out) {
  const tf_node *node = leat_bytes_map_get(&block->by_name, name, strlen(name));
  if (node) *out = (uint32_t)(node - block->nodes);
  return node;
}

static bool find_input(const tf_block *block, const char *input, tf_edge *out) {
  const char *name = input;
  *out = (tf_edge){0};
  if (!block->function) {
    out->port = tf_split_input(block->arena, input, &name);
  } else if (strchr(input, ':')) {
    out->port = tf_split_input(block->arena, input, &name);
    const char *colon = strrchr(name, ':');
    out->output = colon ? colon + 1 : "";
    if (colon) name = leat_arena_strndup(block->arena, name, (size_t)(colon - name));
  }
  return find(block, name, &out->node);
}

static void add_inputs(tf_block *block, tf_node *node, const tf_reporter *reporter) {
  const tf_node_def *def = node->def;
  node->inputs = leat_new_array(block->arena, tf_edge, def->n_input + 1);
  node->controls = leat_new_array(block->arena, uint32_t, def->n_input + 1);
  for (size_t i = 0; i < def->n_input; i++) {
    const char *input = def->input[i];
    tf_edge edge = {0};
    bool control = *input == '^', found;
    found = control ? find(block, input + 1, &edge.node) : find_input(block, input, &edge);
    bool number = edge.port != TF_NO_PORT;
    if (!found || !number) {
      const char *words = number ? "is of no node: the graph is cut"
                                 : "has no number from 0 on behind the colon: it is damaged";
      reporter->report(reporter->context, def,
                       leat_arena_printf(block->arena, "its input `%s` %s", input, words));
      continue;
    }
    block->nodes[edge.node].uses++;
    if (control)
      node->controls[node->control_count++] = edge.node;
    else
      node->inputs[node->input_count++] = edge;
  }
}

// What a switch decides goes on to all that takes it, up to the merges, and out of loops.
static void mark_conditional(tf_block *block) {
  uint32_t *order;
  bool *all = leat_new_array(block->arena, bool, block->count + block->argument_count + 1);
  memset(all, 1, block->count + block->argument_count);
  uint32_t count = tf_sort(block, all, &order);
  for (uint32_t i = 0; i < count; i++) {
    tf_node *node = &block->nodes[order[i]];
    bool conditional = tf_is(node, "Switch");
    tf_set_frame(block, node);
    if (tf_is(node, "Exit") && node->input_count) {
      const tf_frame *left = block->nodes[node->inputs[0].node].frame;
      node->conditional = left && left->conditional;
    }
    if (tf_is(node, "Merge") || tf_is(node, "Exit")) continue;
    for (uint32_t k = 0; k < node->input_count; k++)
      conditional = conditional || block->nodes[node->inputs[k].node].conditional;
    for (uint32_t k = 0; k < node->control_count; k++)
      conditional = conditional || block->nodes[node->controls[k]].conditional;
    node->conditional = conditional;
    if (conditional && tf_is(node, "Enter")) node->frame->conditional = true;
  }
}

static tf_block *make(leat_arena *arena, tf_node_def *const *nodes, size_t count, size_t arguments,
                      const tf_function *function, const tf_reporter *reporter) {
  tf_block *block = leat_new(arena, tf_block);
  *block = (tf_block){.arena = arena,
                      .count = (uint32_t)count,
                      .argument_count = (uint32_t)arguments,
                      .function = function};
  block->nodes = leat_new_array(arena, tf_node, count + arguments + 1);
  leat_bytes_map_init(&block->by_name, arena);
  leat_bytes_map_init(&block->frames_by_name, arena);
  for (size_t i = 0; i < arguments; i++) {
    const char *name = function->signature->input_arg[i]->name;
    leat_bytes_map_set(&block->by_name, name, strlen(name), &block->nodes[count + i]);
  }
  for (size_t i = 0; i < count; i++) {
    const char *name = nodes[i]->name;
    tf_effect effect = reporter->effect_of(reporter->context, nodes[i]);
    block->nodes[i] = (tf_node){.def = nodes[i], .effect = effect, .changes = effect == TF_CHANGES};
    if (leat_bytes_map_get(&block->by_name, name, strlen(name)))
      reporter->report(reporter->context, nodes[i], "another node has the same name");
    leat_bytes_map_set(&block->by_name, name, strlen(name), &block->nodes[i]);
  }
  for (size_t i = 0; i < count; i++) add_inputs(block, &block->nodes[i], reporter);
  tf_order_stacks(block);
  tf_order_arrays(block);
  mark_conditional(block);
  return block;
}

tf_block *tf_block_of_graph(leat_arena *arena, const Tensorflow__GraphDef *graph,
                            const tf_reporter *reporter) {
  return make(arena, graph->node, graph->n_node, 0, NULL, reporter);
}

tf_block *tf_block_of_function(leat_arena *arena, const tf_function *function,
                               const tf_reporter *reporter) {
  return make(arena, function->node_def, function->n_node_def, function->signature->n_input_arg,
              function, reporter);
}

// -- Order ----------------------------------------------------------------------------------------

// What the node stands behind: its inputs, those of control edges, and what no edge says.
static uint32_t before_count(const tf_node *node) {
  return node->input_count + node->control_count + (node->behind != 0);
}

static uint32_t before(const tf_node *node, uint32_t i) {
  if (i < node->input_count) return node->inputs[i].node;
  i -= node->input_count;
  return i < node->control_count ? node->controls[i] : node->behind - 1;
}

void tf_mark(const tf_block *block, uint32_t node, bool *needed) {
  leat_vec(uint32_t) list = {0};
  if (needed[node]) return;
  needed[node] = true;
  leat_vec_push(block->arena, &list, node);
  for (uint32_t i = 0; i < list.count; i++) {
    const tf_node *user = &block->nodes[list.items[i]];
    for (uint32_t k = 0; k < before_count(user); k++) {
      uint32_t from = before(user, k);
      if (needed[from]) continue;
      needed[from] = true;
      leat_vec_push(block->arena, &list, from);
    }
  }
}

// A heap of keys, the least on top: nodes without an effect first, then by their places.
typedef leat_vec(uint64_t) heap;

static void push(leat_arena *arena, heap *h, uint64_t key) {
  leat_vec_push(arena, h, key);
  for (uint32_t i = h->count - 1; i && h->items[(i - 1) / 2] > h->items[i]; i = (i - 1) / 2) {
    uint64_t above = h->items[(i - 1) / 2];
    h->items[(i - 1) / 2] = h->items[i];
    h->items[i] = above;
  }
}

static uint64_t pop(heap *h) {
  uint64_t least = h->items[0];
  h->items[0] = h->items[--h->count];
  for (uint32_t i = 0, below; (below = 2 * i + 1) < h->count; i = below) {
    if (below + 1 < h->count && h->items[below + 1] < h->items[below]) below++;
    if (h->items[i] <= h->items[below]) break;
    uint64_t kept = h->items[i];
    h->items[i] = h->items[below];
    h->items[below] = kept;
  }
  return least;
}

typedef struct sorter {
  const tf_block *block;
  const bool *needed;
  uint32_t *waits;           // for so many edges
  uint32_t *first, *targets; // the users of node n are targets[first[n]] up to first[n + 1]
  heap ready;
} sorter;

static uint64_t key_of(const sorter *s, uint32_t node) {
  return ((uint64_t)s->block->nodes[node].effect << 32) | node;
}

// Calls what it does for each edge but the back edges of loops.
static void each_edge(sorter *s, void (*take)(sorter *, uint32_t from, uint32_t to)) {
  const tf_block *block = s->block;
  for (uint32_t i = 0; i < block->count; i++) {
    const tf_node *node = &block->nodes[i];
    for (uint32_t k = 0; k < before_count(node); k++) {
      uint32_t from = before(node, k);
      bool back = tf_is(node, "Merge") && tf_is(&block->nodes[from], "NextIteration");
      if (!back && s->needed[i] && s->needed[from]) take(s, from, i);
    }
  }
}

static void count_edge(sorter *s, uint32_t from, uint32_t to) {
  s->waits[to]++;
  s->first[from + 1]++;
}

static void place_edge(sorter *s, uint32_t from, uint32_t to) {
  s->targets[s->first[from]++] = to;
}

uint32_t tf_sort(const tf_block *block, const bool *needed, uint32_t **out) {
  uint32_t all = block->count + block->argument_count, count = 0;
  sorter s = {.block = block, .needed = needed};
  s.waits = leat_new_array(block->arena, uint32_t, all + 1);
  s.first = leat_new_array(block->arena, uint32_t, all + 2);
  *out = leat_new_array(block->arena, uint32_t, all + 1);
  each_edge(&s, count_edge);
  for (uint32_t i = 0; i < all; i++) s.first[i + 1] += s.first[i];
  s.targets = leat_new_array(block->arena, uint32_t, s.first[all] + 1);
  each_edge(&s, place_edge); // first[n] is where the next node's begin now
  for (uint32_t i = 0; i < all; i++)
    if (needed[i] && !s.waits[i]) push(block->arena, &s.ready, key_of(&s, i));
  while (s.ready.count) {
    uint32_t node = (uint32_t)pop(&s.ready);
    (*out)[count++] = node;
    for (uint32_t e = node ? s.first[node - 1] : 0; e < s.first[node]; e++)
      if (!--s.waits[s.targets[e]]) push(block->arena, &s.ready, key_of(&s, s.targets[e]));
  }
  return count;
}

uint32_t tf_count(const bool *needed, uint32_t count) {
  uint32_t found = 0;
  for (uint32_t i = 0; i < count; i++) found += needed[i];
  return found;
}
