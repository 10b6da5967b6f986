// The loops of version 1, and the stacks on which one leaves in each turn what its gradient takes.
#include "frontend/graphdef/block.h"

// -- Frames ---------------------------------------------------------------------------------------

static tf_frame *find_frame(const tf_block *block, const char *name) {
  return leat_bytes_map_get(&block->frames_by_name, name, strlen(name));
}

static const char *name_of_frame(const tf_block *block, const tf_node *enter) {
  for (size_t i = 0; i < enter->def->n_attr; i++) {
    const tf_attr *a = enter->def->attr[i]->value;
    if (strcmp(enter->def->attr[i]->key, "frame_name") == 0 && a &&
        a->value_case == TENSORFLOW__ATTR_VALUE__VALUE_S)
      return leat_arena_strndup(block->arena, (const char *)a->s.data, a->s.len);
  }
  return "";
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

// -- Stacks ---------------------------------------------------------------------------------------

// A handle comes into frames and branches as any value does.
static bool passes_on(const tf_node *node) {
  return node->input_count &&
         (tf_is(node, "Enter") || tf_is(node, "Switch") || tf_is(node, "Identity"));
}

// The node nearest to the stack on the way of the handle, or the node itself; NULL: there is none.
static tf_node *nearest(const tf_block *block, const tf_node *node) {
  const tf_node *at = node;
  for (uint32_t i = 0; i < block->count && at->input_count; i++) {
    const tf_node *from = &block->nodes[at->inputs[0].node];
    if (tf_is(from, "StackV2")) return (tf_node *)at;
    if (!passes_on(from)) return NULL;
    at = from;
  }
  return NULL;
}

tf_node *tf_stack_of(const tf_block *block, const tf_node *node) {
  const tf_node *last = nearest(block, node);
  return last ? &block->nodes[last->inputs[0].node] : NULL;
}

// Where a stack is popped, its handle is what was pushed.
void tf_order_stacks(tf_block *block) {
  for (uint32_t i = 0; i < block->count; i++) {
    tf_node *stack =
        tf_is(&block->nodes[i], "StackPushV2") ? tf_stack_of(block, &block->nodes[i]) : NULL;
    if (stack) stack->pushes = i + 1;
  }
  for (uint32_t i = 0; i < block->count; i++) {
    tf_node *last = tf_is(&block->nodes[i], "StackPopV2") ? nearest(block, &block->nodes[i]) : NULL;
    if (last) last->behind = block->nodes[last->inputs[0].node].pushes;
  }
}
