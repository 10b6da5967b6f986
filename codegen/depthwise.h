// What the kernels of convolutions of channels share. What they read of x they copy into a ring of
// rows, a vector of channels at a time, with zeros where x has no element: there elements lie
// beside each other whatever the number of channels, and no window hangs over.
#ifndef LEAT_CODEGEN_DEPTHWISE_H
#define LEAT_CODEGEN_DEPTHWISE_H

#include "codegen/contract.h"

typedef struct leat_depthwise_kernel {
  leat_contraction c;
  leat_lower *w;
  k_builder *b;
  const leat_contraction_plan *p;
  const leat_depthwise_plan *to;
  const leat_node *node;
  leat_dtype dtype;
  const k_buffer *x, *other;                     // `other`: the weights, or the outputs' gradient
  const k_buffer *ring;                          // [slot, element of the row, channel]
  k_value image, first_row, end_row, first, end; // outputs of the tile: rows, and of a row
  k_value vector, end_vector;                    // vectors of channels
  k_value row, number;                           // at hand: row, and vector of the tile
  k_value channel, side;                         // of the piece, and from the vector's first one on
  k_value mask, piece_mask;                      // channels that exist; NULL: all
} leat_depthwise_kernel;

leat_depthwise_kernel leat_depthwise_begin(leat_lower *w);
// Where the tile is among `tiles`: [image, rows, part of a row, vectors]. Returns its number among
// those of the same vectors.
k_value leat_depthwise_place(leat_depthwise_kernel *s);
leat_dim leat_depthwise_tiles(leat_depthwise_kernel *s);
k_value leat_depthwise_times(const leat_depthwise_kernel *s, k_value x, int64_t factor);
k_value leat_depthwise_zero(const leat_depthwise_kernel *s, int lanes);
// Goes to the place along an axis of the result.
void leat_depthwise_put(leat_depthwise_kernel *s, int axis, k_value at);

// -- depthwise_ring.c -----------------------------------------------------------------------------

typedef void leat_depthwise_body(leat_depthwise_kernel *s, void *context);
// For each of the tile's vectors of channels, of which `c` has the column and the mask.
void leat_depthwise_vectors(leat_depthwise_kernel *s, leat_depthwise_body *body, void *context);
// For each row of the tile, when what its windows read is in the ring.
void leat_depthwise_rows(leat_depthwise_kernel *s, leat_depthwise_body *body, void *context);
// For each piece of the vector.
void leat_depthwise_pieces(leat_depthwise_kernel *s, leat_depthwise_body *body, void *context);
// First element of a row of x in the ring, of the vector of channels at hand.
k_value leat_depthwise_slot(const leat_depthwise_kernel *s, k_value row);
// Asks for what the windows of the next row read beside those of the plan's `high` of outputs of
// that number, which no row before does.
void leat_depthwise_prefetch(const leat_depthwise_kernel *s, k_value number);
// Where the first element of output 0's window is, times the base.
int64_t leat_depthwise_least_offset(const leat_window_axis *a);
int64_t leat_depthwise_floor_div(int64_t x, int64_t y);

// -- depthwise_windows.c --------------------------------------------------------------------------

// Elements of a window: of one of its rows, or all.
typedef struct leat_depthwise_taps {
  int first, count; // of a row: these
  k_value row;      // of the window; NULL: all of its rows
} leat_depthwise_taps;
int leat_depthwise_count(const leat_depthwise_kernel *s, const leat_depthwise_taps *taps);
k_value leat_depthwise_number(const leat_depthwise_kernel *s, const leat_depthwise_taps *taps,
                              int i); // in the window
typedef void leat_depthwise_taps_body(leat_depthwise_kernel *s, void *context,
                                      const leat_depthwise_taps *taps);
// Runs the body for all of a window, if the plan has its rows together; else, after `before` if
// that is not NULL, for some elements after the others.
void leat_depthwise_window(leat_depthwise_kernel *s, leat_depthwise_body *before,
                           leat_depthwise_taps_body *body, void *context);

// Some outputs beside each other, from `at` on, counted from the part's first one.
typedef struct leat_depthwise_outputs {
  const leat_depthwise_taps *taps;
  k_value number; // of such, the plan's `high` of outputs
  k_value at;
  int count;
} leat_depthwise_outputs;
typedef void leat_depthwise_outputs_body(leat_depthwise_kernel *s, void *context,
                                         const leat_depthwise_outputs *outputs, k_value *acc);
// For all of the part of the row, in ascending order, `acc` carried along.
void leat_depthwise_walk(leat_depthwise_kernel *s, const leat_depthwise_taps *taps,
                         leat_depthwise_outputs_body *body, void *context, k_value *acc,
                         uint32_t count);
// Of an output of the part, where its vector of sums begins, or of gradients.
k_value leat_depthwise_sums(const leat_depthwise_kernel *s, k_value output);
// Output `i` has x as its window's element `tap` of the taps: in the order of these for each.
typedef void leat_depthwise_use(leat_depthwise_kernel *s, void *context, int i, int tap, k_value x);
void leat_depthwise_elements(leat_depthwise_kernel *s, const leat_depthwise_outputs *outputs,
                             leat_depthwise_use *use, void *context);

#endif
