// Sums over the turns of a loop that are made behind it: choose_sums.c finds them, sums_behind.c
// makes them. Internal to passes/.
#ifndef LEAT_PASSES_CHOOSE_SUMS_H
#define LEAT_PASSES_CHOOSE_SUMS_H

#include "passes/regions.h"

typedef leat_vec(leat_value) leat_value_list;

// What a turn has of an operand, and where all turns' are: made outside of what the loop is given,
// or in what it fills.
typedef struct leat_sum_operand {
  leat_value value;  // in the body
  leat_value source; // that it is a reshape of, or itself
  bool given;
  uint32_t filled; // if it is not: the number of the rows
  leat_value rows; // outside
} leat_sum_operand;

// What a turn adds to a result of the loop: a product, or what is summed over the first axes.
typedef struct leat_sum_term {
  uint32_t result;
  const leat_node *next;        // in the body: what the result was to become
  const leat_node *of;          // in the body
  bool turned;                  // of a product: it is transposed
  uint32_t axes;                // of a sum: so many, or none
  leat_sum_operand operands[2]; // a sum has one
} leat_sum_term;

typedef struct leat_sums {
  leat_pass_context *context;
  leat_graph *graph; // around the loop
  leat_region_node region;
  leat_graph *body;
  leat_row_maker *maker;
  leat_dim turns;
  leat_value row; // in the body: which turn it is, in some order
  uint32_t *uses; // by id, in the body
  bool *summed;   // by result
  leat_vec(leat_sum_term) terms;
  leat_value_list filled; // in the body: what rows are kept of
  uint32_t first_filled;  // carried value that is such rows
} leat_sums;

// Says of each loop of the graph that says nothing yet how its sums over turns are made.
void leat_choose_sums(leat_pass_context *context, leat_graph *graph);

// -- sums_behind.c --------------------------------------------------------------------------------
// In front of the loop, which is not kept yet: it fills rows, and what it added to stays.
void leat_sums_take_out(leat_sums *s);
// Behind it: who used a result uses that and all that the turns add.
void leat_sums_put_behind(const leat_sums *s, leat_rewriter *r);

#endif
