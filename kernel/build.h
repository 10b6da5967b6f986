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
// Loads before and after give different values.
void k_memory_changes(k_builder *b);

#endif
