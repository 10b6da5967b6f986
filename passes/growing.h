// What needs the extents of what grows in a region: it is where the region is, which alone knows
// them. Internal to passes/.
#ifndef LEAT_PASSES_GROWING_H
#define LEAT_PASSES_GROWING_H

#include "ir/graph.h"

// Whether a node of a body has a dim of what a region around it carries and lets grow, or gives
// such a result.
bool leat_needs_extents(const leat_node *node);

#endif
