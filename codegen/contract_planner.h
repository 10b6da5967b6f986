// A contraction's plan in the making: contract_plan.c, but for its tiles (contract_tiles.c).
#ifndef LEAT_CODEGEN_CONTRACT_PLANNER_H
#define LEAT_CODEGEN_CONTRACT_PLANNER_H

#include "codegen/contract_plan.h"
#include "codegen/lower.h"

typedef struct leat_contraction_planner {
  leat_lower w; // for the arithmetic of dims
  const leat_target_info *target;
  leat_dtype dtype;
  leat_contraction_plan *p;
} leat_contraction_planner;

// The panels of a tile: all, if their b stays in a cache.
int leat_contraction_most_panels(const leat_contraction_planner *s);
void leat_contraction_choose_tile(leat_contraction_planner *s);
// The same rows for both products of a unit with a chain.
void leat_contraction_choose_chain_tile(leat_contraction_planner *first,
                                        leat_contraction_planner *last, const leat_unit *unit);

#endif
