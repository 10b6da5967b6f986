// Values known while compiling: what a small tensor of integers or truth values holds, as numbers
// and dims, so that shapes may be computed by ops.
#ifndef LEAT_OPS_KNOWN_H
#define LEAT_OPS_KNOWN_H

#include "ops/ops.h"

// Fills in node->elements, from those of its inputs. Integers of 32 bits and more that are no
// constants are taken for numbers without end, as dims are.
void leat_infer_elements(leat_graph *graph, leat_node *node);
// In row-major order, as many as the value has; NULL: none of them is known.
const leat_element *leat_known_elements(leat_value value);

#endif
