// The constants of the order in which sums are added (ops/reduce.c says how). Part of what compiled
// code promises: the same bits as by reference, on every target.
#ifndef LEAT_OPS_REDUCE_H
#define LEAT_OPS_REDUCE_H

enum {
  LEAT_REDUCE_LANES = 16,          // accumulators along an innermost reduced axis
  LEAT_REDUCE_BLOCK_INNER = 16384, // elements of it that are folded to one number
  LEAT_REDUCE_BLOCK_OUTER = 1024,  // the same when the innermost axis stays
  LEAT_PRODUCT_BLOCK = 4096,       // products of a contraction that are added up to one number, k
                                   // ascending; these are then added in order
};

#endif
