// What the files of the builder share: instructions and where they stand (build_place.c).
#ifndef LEAT_KERNEL_BUILD_H
#define LEAT_KERNEL_BUILD_H

#include "kernel/kernel.h"

k_block *k_innermost(const k_builder *b);
bool k_is_visible(const k_builder *b, k_value value); // from the innermost block
// A new instruction, in no block yet.
k_instr *k_new_instr(k_builder *b, k_op op, leat_dtype dtype, int lanes);
void k_set_args(k_builder *b, k_instr *instr, const k_value *args, uint32_t count);
void k_place(k_builder *b, k_block *block, k_instr *instr); // at the block's end
// An instruction like `wanted`: an equal one that is visible, or a new one.
k_value k_find_or_place(k_builder *b, const k_instr *wanted);
// An instruction of one result, no operand of which is a region and which reads no memory, once
// more, of other operands of the same types.
k_value k_again(k_builder *b, const k_instr *instr, const k_value *args);
// The body of another kernel, once more, at the end of the innermost block: build_copy.c. What is
// constant here folds, ifs and loops of one turn with it, and of few while there is room.
typedef struct k_copy {
  const leat_kernel *from;
  const k_buffer *const *buffers; // in place of its arguments, of the same dtypes
  const k_value *scalars;
  k_value tile;
  uint32_t first_site; // its sites follow it
  uint32_t *room;      // instructions that loops may become, of so many less when they have
} k_copy;
void k_copy_body(k_builder *b, const k_copy *copy);
// Loads before and after give different values.
void k_memory_changes(k_builder *b);

#endif
