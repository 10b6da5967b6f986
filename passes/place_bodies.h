// Devices for what is in bodies, when all nodes outside of bodies have theirs. Internal to passes/.
//
// A body is no place to divide work that could stay together, for what is sent in it is sent each
// time that it runs: what nothing binds elsewhere is where most of its inputs are made in the body,
// else where the node is that holds the body. A region in which a value grows stays where it is.
#ifndef LEAT_PASSES_PLACE_BODIES_H
#define LEAT_PASSES_PLACE_BODIES_H

#include "passes/feasible.h"

// A value grows where all of its region cannot be: reported.
LEAT_MUST_USE leat_status leat_place_bodies(const leat_pass_context *context,
                                            const leat_feasible *feasible);

#endif
