// The loops of version 1: frames, the stacks on which one leaves in each turn what its gradient
// takes, and the arrays of tensors that it reads and writes. What no edge of the graph says is
// found here.
#include "frontend/importer/graphdef/block.h"

// -- Frames ---------------------------------------------------------------------------------------

static tf_frame *find_frame(const tf_block *block, const char *name) {
  return leat_bytes_map_get(&block->frames_by_name, name, strlen(name));
}

static const char *name_of_frame(const tf_block *block, const tf_node *enter) {
  const tf_attr *a = tf_attribute(enter, "frame_name");
  if (!a || a->value_case != TENSORFLOW__ATTR_VALUE__VALUE_S) return "";
  return leat_arena_strndup(block->arena, (const char *)a->s.data, a->s.len);
}

// An outer one was found before those in it, so that none is in itself.
static tf_frame *entered(tf_block *block, const tf_node *enter, tf_frame *from) {
  const char *name = name_of_frame(block, enter);
  tf_frame *frame = find_frame(block, name);
  if (frame) return frame;
  frame = leat_new(block->arena, tf_frame);
  *frame = (tf_frame){.name = name,
                      .outer = from,
                      .number = block->frames.count,
                      .depth = from ? from->depth + 1 : 1};
  frame->outermost = from ? from->outermost : frame;
  leat_vec_push(block->arena, &block->frames, frame);
  leat_bytes_map_set(&block->frames_by_name, name, strlen(name), frame);
  return frame;
}

void tf_set_frame(tf_block *block, tf_node *node) {
  tf_frame *deepest = NULL;
  for (uint32_t i = 0; i < node->input_count + node->control_count; i++) {
    uint32_t from =
        i < node->input_count ? node->inputs[i].node : node->controls[i - node->input_count];
    tf_frame *frame = block->nodes[from].frame;
    if (frame && (!deepest || frame->depth > deepest->depth)) deepest = frame;
  }
  if (tf_is(node, "Enter")) deepest = entered(block, node, deepest);
  if (tf_is(node, "Exit") && deepest) deepest = deepest->outer;
  node->frame = deepest;
  if (tf_is(node, "LoopCond") && deepest) node->frame->cond = node;
  if (tf_is(node, "StackPushV2"))
    for (tf_frame *f = node->frame; f; f = f->outer) f->kept = true;
}

// -- Handles --------------------------------------------------------------------------------------

// A handle, or the flow of an array, comes into frames and branches as any value does.
static bool passes_on(const tf_node *node) {
  return node->input_count &&
         (tf_is(node, "Enter") || tf_is(node, "Switch") || tf_is(node, "Identity"));
}

// On the way of the handle that the node takes, from there to what made it: the next one.
static tf_node *next_on_way(const tf_block *block, const tf_node *node) {
  tf_node *from = node->input_count ? &block->nodes[node->inputs[0].node] : NULL;
  return from && passes_on(from) ? from : NULL;
}

tf_node *tf_made_by(const tf_block *block, const tf_node *node, const char *op) {
  const tf_node *last = node, *next;
  for (uint32_t i = 0; i < block->count && (next = next_on_way(block, last)); i++) last = next;
  tf_node *made = last->input_count ? &block->nodes[last->inputs[0].node] : NULL;
  return made && tf_is(made, op) ? made : NULL;
}

// -- Stacks ---------------------------------------------------------------------------------------

// Where a stack is popped, its handle is what was pushed, as far as that has a way of its own.
void tf_order_stacks(tf_block *block) {
  bool *handed = leat_new_array(block->arena, bool, (size_t)block->count + 1);
  for (uint32_t i = 0; i < block->count; i++) {
    bool pushes = tf_is(&block->nodes[i], "StackPushV2");
    tf_node *stack = pushes ? tf_made_by(block, &block->nodes[i], "StackV2") : NULL;
    if (!stack) continue;
    stack->filled_by = i + 1;
    for (const tf_node *at = &block->nodes[i]; at; at = next_on_way(block, at))
      handed[at - block->nodes] = true;
  }
  for (uint32_t i = 0; i < block->count; i++) {
    bool pops = tf_is(&block->nodes[i], "StackPopV2");
    const tf_node *stack = pops ? tf_made_by(block, &block->nodes[i], "StackV2") : NULL;
    tf_node *own = stack ? &block->nodes[i] : NULL, *next;
    while (own && (next = next_on_way(block, own)) && !handed[next - block->nodes]) own = next;
    if (own) own->behind = stack->filled_by;
  }
}

// -- Arrays ---------------------------------------------------------------------------------------

// The array whose handle the node takes.
static tf_node *array_of(const tf_block *block, const tf_node *node) {
  return tf_made_by(block, node, "TensorArrayV3");
}

// Whether the node takes the flow of an array and gives the next one.
static bool gives_flow(const tf_node *node) {
  return tf_is(node, "TensorArrayWriteV3") || tf_is(node, "TensorArrayScatterV3") ||
         tf_is(node, "TensorArraySplitV3");
}

static const tf_node *gradient_after(const tf_block *block, const tf_node *node) {
  for (uint32_t i = 0; i < node->control_count; i++)
    if (tf_is(&block->nodes[node->controls[i]], "TensorArrayGradV3"))
      return &block->nodes[node->controls[i]];
  return NULL;
}

// The TensorArrayGradV3 of whose array the node gives the flow, as far as `fuel` lasts; NULL: it
// is of none. What adds flows, or carries one, has it by some input.
static const tf_node *find_gradient(const tf_block *block, const tf_node *node, uint32_t *fuel) {
  if (!*fuel) return NULL;
  --*fuel;
  if (gives_flow(node)) return tf_made_by(block, node, "TensorArrayGradV3");
  const tf_node *found = tf_is(node, "Identity") ? gradient_after(block, node) : NULL;
  bool adds = tf_is(node, "AddV2") || tf_is(node, "Add") || tf_is(node, "AddN");
  bool carries = passes_on(node) || tf_is(node, "Merge") || tf_is(node, "NextIteration") ||
                 tf_is(node, "Exit");
  bool chooses = tf_is(node, "Merge") && node->input_count == 2 &&
                 !tf_is(&block->nodes[node->inputs[1].node], "NextIteration");
  uint32_t most = adds || chooses ? node->input_count : carries;
  for (uint32_t i = 0; !found && i < most && i < node->input_count; i++)
    found = find_gradient(block, &block->nodes[node->inputs[i].node], fuel);
  return found;
}

static const tf_node *gradient_of_flow(const tf_block *block, const tf_node *node) {
  enum { MOST_STEPS = 100 };
  uint32_t fuel = MOST_STEPS;
  return find_gradient(block, node, &fuel);
}

// What the flow that the node passes on, or carries, was before; NULL: it does neither.
static const tf_node *flow_before(const tf_block *block, const tf_node *node) {
  bool carries = passes_on(node) || tf_is(node, "Merge") || tf_is(node, "Exit");
  if (carries && node->input_count) return &block->nodes[node->inputs[0].node];
  const tf_node *stack = tf_is(node, "StackPopV2") ? tf_made_by(block, node, "StackV2") : NULL;
  const tf_node *push = stack && stack->filled_by ? &block->nodes[stack->filled_by - 1] : NULL;
  return push && push->input_count > 1 ? &block->nodes[push->inputs[1].node] : NULL;
}

// Whether it is the flow of an array that is no gradient.
static bool is_own_flow(const tf_block *block, const tf_node *node) {
  for (uint32_t i = 0; node && i < block->count; i++) {
    if (gives_flow(node)) return array_of(block, node);
    if (tf_is(node, "TensorArrayV3")) return true;
    if (tf_is(node, "Identity") && gradient_after(block, node)) return false;
    node = flow_before(block, node);
  }
  return false;
}

bool tf_begins_gradient(const tf_block *block, const tf_node *node) {
  return node->input_count && gradient_after(block, node) &&
         is_own_flow(block, &block->nodes[node->inputs[0].node]);
}

static void set_like(tf_node *node, const tf_edge *like) {
  node->like = like;
  node->behind = like->node + 1;
}

// An array whose elements have no shape is scattered, all of it, or is as what is written to it.
static void find_elements(tf_block *block, const tf_node *node) {
  tf_node *array = gives_flow(node) && node->input_count > 2 ? array_of(block, node) : NULL;
  if (!array || array->like || array->filled_by || tf_element_shape(array)) return;
  if (tf_is(node, "TensorArrayScatterV3") || tf_is(node, "TensorArraySplitV3")) {
    array->filled_by = (uint32_t)(node - block->nodes) + 1;
    return;
  }
  bool *needed = leat_new_array(block->arena, bool, block->count + block->argument_count + 1);
  tf_mark(block, node->inputs[2].node, needed);
  if (!needed[array - block->nodes]) set_like(array, &node->inputs[2]);
}

// TensorFlow says 0 for what a flow's gradient begins with, or is where a branch is not taken: here
// it is of the array's type.
static void find_zero(tf_block *block, const tf_edge *input, const tf_edge *other) {
  tf_node *node = &block->nodes[input->node];
  bool zero = (tf_is(node, "Enter") || tf_is(node, "Switch")) && node->input_count &&
              tf_is(&block->nodes[node->inputs[0].node], "Const");
  const tf_node *gradient = zero ? gradient_of_flow(block, &block->nodes[other->node]) : NULL;
  const tf_node *array = gradient ? array_of(block, gradient) : NULL;
  if (!array) return;
  tf_edge *flow = leat_new(block->arena, tf_edge);
  *flow = (tf_edge){.node = (uint32_t)(array - block->nodes), .port = 1};
  if (array->filled_by) *flow = (tf_edge){.node = array->filled_by - 1};
  set_like(node, flow);
}

static void find_zeros(tf_block *block, const tf_node *merge) {
  if (!tf_is(merge, "Merge") || merge->input_count != 2) return;
  for (int i = 0; i < 2; i++) find_zero(block, &merge->inputs[i], &merge->inputs[1 - i]);
}

void tf_order_arrays(tf_block *block) {
  bool any = false, gradients = false;
  for (uint32_t i = 0; i < block->count; i++) {
    any |= tf_is(&block->nodes[i], "TensorArrayV3");
    gradients |= tf_is(&block->nodes[i], "TensorArrayGradV3");
  }
  for (uint32_t i = 0; any && i < block->count; i++) find_elements(block, &block->nodes[i]);
  for (uint32_t i = 0; gradients && i < block->count; i++) find_zeros(block, &block->nodes[i]);
}

const Tensorflow__TensorShapeProto *tf_element_shape(const tf_node *array) {
  const tf_attr *a = tf_attribute(array, "element_shape");
  const Tensorflow__TensorShapeProto *shape =
      a && a->value_case == TENSORFLOW__ATTR_VALUE__VALUE_SHAPE ? a->shape : NULL;
  bool known = shape && !shape->unknown_rank;
  for (size_t i = 0; known && i < shape->n_dim; i++) known = shape->dim[i]->size >= 0;
  return known ? shape : NULL;
}
