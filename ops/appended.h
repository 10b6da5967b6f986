// What loops put behind what they carry.
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

#endif
