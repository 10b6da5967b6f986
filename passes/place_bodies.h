// Devices for what is in bodies, when all nodes outside of bodies have theirs. Internal to passes/.
//
// A body is no place to divide work that could stay together, for what is sent in it is sent each
// time that it runs: what nothing binds elsewhere is where most of its inputs are made in the body,
// else where the node is that holds the body. What a region lets grow stays where the region is,
// with all that needs its extents.
#ifndef LEAT_PASSES_PLACE_BODIES_H
#define LEAT_PASSES_PLACE_BODIES_H

#include "passes/feasible.h"

// Something needs the extents of what grows and is to be elsewhere: reported.
LEAT_MUST_USE leat_status leat_place_bodies(const leat_pass_context *context,
                                            const leat_feasible *feasible);

#endif
