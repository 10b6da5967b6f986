// What the kernels of convolutions by Winograd's transforms share: where tiles are, and their
// elements, transformed.
#ifndef LEAT_CODEGEN_WINOGRAD_H
#define LEAT_CODEGEN_WINOGRAD_H

#include "codegen/contract.h"
#include "codegen/winograd_transform.h"

enum { LEAT_MOST_SQUARE = LEAT_MOST_PLACES * LEAT_MOST_PLACES };

typedef struct leat_winograd_kernel {
  leat_contraction c;
  leat_lower *w;
  k_builder *b;
  const leat_contraction_plan *p;
  const leat_winograd_plan *to;
  const leat_node *node;
  int places, tile, window;
  const k_buffer *room;
} leat_winograd_kernel;

leat_winograd_kernel leat_winograd_begin(leat_lower *w);
k_value leat_winograd_times(const leat_winograd_kernel *s, k_value x, int64_t factor);

// Along both axes: a square of `from` numbers a side becomes one of `to`.
typedef void leat_winograd_transform(const leat_winograd_kernel *s, const k_value *in,
                                     k_value *out);
leat_winograd_transform leat_winograd_transform_elements, leat_winograd_transform_window,
    leat_winograd_transform_outputs;
void leat_winograd_square(const leat_winograd_kernel *s, leat_winograd_transform *one_axis,
                          int from, int to, const k_value *in, k_value *out);

typedef struct leat_winograd_place {
  k_value image, row, column; // of the tile's first output
} leat_winograd_place;
leat_winograd_place leat_winograd_place_tile(const leat_winograd_kernel *s, k_value tile);

// An operand [N, rows, columns, channels] whose elements in each tile become transformed ones,
// [place, tile, channel - low], zeros where it has no element.
typedef struct leat_winograd_source {
  uint32_t input; // of the node
  const k_buffer *buffer;
  int64_t before[2];                  // zeros, before a tile's first element
  int side;                           // of a tile: elements along each axis
  leat_winograd_transform *transform; // from these to all places
  k_value low, high;                  // channels
  k_value to;                         // first element of room
  int64_t pitch;                      // from one tile to the next
} leat_winograd_source;
// Of tiles [first, first + count).
void leat_winograd_transform_block(const leat_winograd_kernel *s,
                                   const leat_winograd_source *source, k_value first,
                                   k_value count);

#endif
