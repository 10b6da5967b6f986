// A contraction that is lowered to a kernel: its sizes and places (contract_shape.c), of which
// contract.c makes the code.
#ifndef LEAT_CODEGEN_CONTRACT_H
#define LEAT_CODEGEN_CONTRACT_H

#include "codegen/lower.h"

enum {
  LEAT_ACCUMULATORS = 28, // vector registers of 64 bytes for accumulators
  LEAT_MOST_VECTORS = 16, // vectors of columns
  LEAT_DEPTH_BLOCK = 512,
};

typedef struct leat_contraction {
  leat_lower *w;
  k_builder *b;
  leat_item *item;
  const k_buffer *a_buffer, *b_buffer; // a_buffer is NULL when a is computed: then `gathered`
                                       // has its elements from row first_row and first_k on
  const k_buffer *gathered;
  int64_t pitch;
  k_value first_row, first_k;
  bool packed;     // b_buffer is panels of b, each [depth, width of a panel], filled up with zeros
  bool transposed; // a is [k, row]
  unsigned batch_axes, row_axes; // of the unit's space
  int column_axis;               // -1: there is one column
  leat_dim batch_dim, row_dim, column_dim, depth_dim;
  k_value rows, columns, depth;
  k_value a_base, b_base; // first elements of the batch's matrices
  int high, wide;         // of a block in registers: rows, vectors of columns
  int64_t width;          // of a panel: columns
  bool deep;              // k goes in blocks of LEAT_DEPTH_BLOCK, which resume from a local c
  k_value column;         // the panel's first
  k_value masks[LEAT_MOST_VECTORS]; // which columns of each vector exist
  leat_stores stores;
} leat_contraction;

leat_contraction leat_contraction_of(leat_lower *w);
leat_dim leat_contraction_panels(leat_contraction *c);
// Rows of a tile. It and what follows need the operands' buffers.
int64_t leat_contraction_tile_rows(const leat_contraction *c, leat_dim panels);
// Room for `rows` rows of a, if it is computed.
void leat_contraction_begin_gathering(leat_contraction *c, int64_t rows);
// The place along `axes` of the unit's space, taken as one.
void leat_contraction_put(leat_contraction *c, unsigned axes, k_value linear);
void leat_contraction_place_batch(leat_contraction *c, k_value batch);
void leat_contraction_place_panel(leat_contraction *c, k_value number, leat_dim panels);

#endif
