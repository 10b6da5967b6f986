// What loops put behind what they carry, or into it row by row.
#ifndef LEAT_OPS_APPENDED_H
#define LEAT_OPS_APPENDED_H

#include "ops/build.h"

// Whether result i of the node is what a loop carries there, with something behind it along axis 0:
// then no turn has to copy what has grown before.
bool leat_loop_appends(const leat_node *node, uint32_t i);
// Whether that is all that the loop does with it: what is put behind is of one type in each turn,
// and no turn reads what is there, or how much.
bool leat_loop_only_appends(const leat_node *loop, uint32_t i);
// Makes what the builder's body puts behind what is carried one tensor, of whatever parts.
void leat_append_at_once(leat_builder *builder, const char *name, leat_value carried,
                         leat_node *next);

// Whether each turn sets the row of its number, counted from 0: what was there before is what was
// there before the loop.
bool leat_loop_sets_row(const leat_node *loop, uint32_t i);
// The value of the body that is put into result i as the row of each turn, in their order: of those
// that are set, or of all; {NULL}: there is none.
leat_value leat_loop_row_put(const leat_node *loop, uint32_t i);
// Whether the node reads, of what the scatter changes, what it was.
bool leat_reads_what_changes(const leat_node *node, const leat_node *scatter);
leat_value leat_reshape_origin(leat_value value); // what has the same elements

#endif
