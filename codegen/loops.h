// Kernels of loops: what one file knows of rows and tiles (lower_loops.c), another of the passes
// over a row's elements (loop_passes.c), a third of many columns at once (loop_panels.c), a fourth
// of squares instead of rows (squares.c).
#ifndef LEAT_CODEGEN_LOOPS_H
#define LEAT_CODEGEN_LOOPS_H

#include "codegen/lower.h"

enum {
  LEAT_MOST_ACCUMULATORS = 64, // of one pass
  LEAT_MOST_STRAIGHT = 128,    // vectors of a window's elements that become straight code
  LEAT_MOST_SIDE_BY_SIDE = 4, // vectors of a row that becomes straight code, or of its outputs that
                              // a pass makes at once: or fewer, as registers have room for
};

// A reduction of few and long rows is two kernels, so that threads share it: the first folds each
// block of ops/reduce.c to one number, the second folds these.
typedef enum leat_fold_part { LEAT_FOLD_ALL, LEAT_FOLD_BLOCKS, LEAT_FOLD_TOTALS } leat_fold_part;

// Axes of the unit that windows slide along, with the positions [low, high) at which none of them
// hangs over, and those that count the elements of a window. Of positions that are a multiple of
// `period` apart the same elements of a window are there.
typedef struct leat_windows {
  unsigned slides, within;
  int64_t low[LEAT_MAX_RANK], high[LEAT_MAX_RANK], period[LEAT_MAX_RANK];
} leat_windows;

typedef struct leat_loops {
  leat_lower *w;
  leat_unit *unit;
  k_builder *b;
  bool by_lanes;      // vectors along the inner axes
  unsigned inner;     // axes of the passes
  unsigned lanes;     // axes that vectors run along, one after the other: 0 is one lane
  unsigned steps;     // reduced axes outside `lanes`
  unsigned side;      // of the others those whose rows are made at once
  unsigned rows;      // what is left
  k_value length;     // elements along `lanes`
  k_value step_count; // along `steps`
  leat_dim row_count;
  int passes;
  int side_by_side; // vectors at most
  bool unrolled;    // the passes are straight code
  bool panels;      // rule 2: many columns at once, in local arrays
  k_value step;     // number of the element along `steps`
  // Rule 2: vectors of outputs side by side, `wide` of each of `tall` rows, the first output of all
  // and of the one at hand.
  int wide, tall;
  bool whole; // all of them exist
  k_value columns, column, column_mask;
  k_value results[LEAT_MOST_ACCUMULATORS]; // of each vector's reductions, in the order of members
  leat_fold_part part;
  const k_buffer *scratch; // the blocks' numbers: [row, block], for rule 2 [row, block, output]
  k_value row_number, side_number; // of rows made at once, and which of them
  leat_stores stores;
  int64_t room;          // bytes for local arrays
  uint32_t accumulators; // of this pass, for one vector
  leat_windows windows;
} leat_loops;

bool leat_is_at_most(k_value value, int64_t most); // a constant that is

// -- lower_loops.c
// Sets the position on `axes` from the number of the element along them.
void leat_loops_put(leat_loops *loops, unsigned axes, leat_index linear);

// -- loop_panels.c
bool leat_loops_fit_panels(const leat_loops *loops); // whether rows are to be read by panels
// Outputs [low, high) of a row, or a block of theirs; low is a multiple of LEAT_LANES.
void leat_loops_panels(leat_loops *loops, k_value low, k_value high, k_value block);

// -- squares.c
// The axis that squares lie along besides the last one; -1: the unit is not to be cut into squares.
int leat_loops_across(const leat_loops *loops);
leat_dim leat_loops_squares(leat_loops *loops, int across); // how many tiles it made

// -- windows.c
void leat_windows_find(leat_loops *loops); // in what the members read
// The last of the axes, if windows slide along it and some are inside; else -1.
int leat_windows_run(const leat_loops *loops, unsigned axes);
// Runs the body for the positions [begin, end) along that one, where the kernel is along the
// others; in ascending order if `acc` is not NULL, which is carried.
typedef void leat_run_body(leat_loops *loops, void *context, k_value position, k_value *acc);
void leat_windows_walk(leat_loops *loops, unsigned axes, k_value begin, k_value end,
                       leat_run_body *body, void *context, k_value *acc, uint32_t count);

// -- loop_passes.c
void leat_loops_find_passes(leat_loops *loops);
uint32_t leat_loops_accumulators(const leat_loops *loops, int pass); // pass -1: of all
// The elements [low, high) along the lanes; low is a multiple of LEAT_LANES.
void leat_loops_vectors(leat_loops *loops, k_value low, k_value high, k_value *acc);
// All that is done for one row, or for vectors of outputs side by side in a row.
void leat_loops_row(leat_loops *loops);
// Only one block of it, whose number goes to `scratch`.
void leat_loops_block(leat_loops *loops, k_value block);
// Does one thing with every accumulator of the pass: to[i] = init · merge(a[i], b[i]) · step(a[i],
// the operand here) · and for FINISH the result stands for the reduction.
typedef enum leat_fold_step {
  LEAT_FOLD_INIT,
  LEAT_FOLD_MERGE,
  LEAT_FOLD_STEP,
  LEAT_FOLD_FINISH
} leat_fold_step;
void leat_loops_fold(leat_loops *loops, leat_fold_step what, const k_value *a, const k_value *b,
                     k_value position, k_value *to);
bool leat_loops_one_block(const leat_loops *loops); // rule 2: the order of sums knows no blocks
// Rule 2, for one vector of outputs: goes to it, folds an element, finishes and stores the results,
// stores those of a block.
void leat_loops_at_columns(leat_loops *loops, k_value column, k_value mask);
void leat_loops_step(leat_loops *loops, k_value number, k_value *acc);
void leat_loops_finish_columns(leat_loops *loops, const k_value *acc);
void leat_loops_keep_block(leat_loops *loops, k_value block, const k_value *acc);
int64_t leat_loops_block_size(const leat_loops *loops); // elements: ops/reduce.h

#endif
