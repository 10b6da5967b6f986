// A contraction that is lowered to kernels by its plan: what packs b (contract_operands.c), and the
// products (contract.c).
#ifndef LEAT_CODEGEN_CONTRACT_H
#define LEAT_CODEGEN_CONTRACT_H

#include "codegen/contract_plan.h"
#include "codegen/lower.h"

typedef struct leat_contraction {
  const leat_contraction_plan *p;
  leat_lower *w;
  k_builder *b;
  const k_buffer *a_buffer, *b_buffer; // NULL: computed in place, or …
  const k_buffer *gathered;            // … a's elements from row first_row and first_k on
  k_value first_row, first_k;
  const k_buffer *local; // the c of a deep tile, panel by panel
  const k_buffer *piece; // of each panel, which the tile has packed: rows from piece_k; NULL: none
  k_value piece_k;
  k_value rows, columns, depth;
  k_value matrix, a_base;             // of the batch: b's number, a's first element
  k_value first_panel, end_panel;     // of the tile
  leat_block block;                   // of the panel
  k_value column, b_base, local_base; // of the panel: the first column, element of b, of c
  k_value masks[LEAT_MOST_VECTORS];   // which columns of each vector exist; NULL: all
  bool inside; // rows of b are read behind which others stand, so that they need no masks
  leat_stores stores;
} leat_contraction;

leat_contraction leat_contraction_begin(leat_lower *w);
leat_contraction leat_contraction_begin_bare(leat_lower *w); // without operands
void leat_contraction_pack(leat_table *table, leat_unit *unit);
// Row k of b at the panel's columns, vector by vector.
void leat_contraction_load_b(leat_contraction *c, k_value k, k_value *columns);
// Of rows [low, end) of a b that is read where it lies, the first behind which there may be no
// elements where a panel hangs over; NULL: no panel does, or it is not known.
k_value leat_contraction_inside(const leat_contraction *c, k_value low, k_value end);
// Rows [low, end) of the tile's panels become pieces.
void leat_contraction_pack_pieces(leat_contraction *c, k_value low, k_value end);
// Vector number j of a row, which the kernel is at, of the panel is done with.
void leat_contraction_finish(leat_contraction *c, int j, k_value value);
// winograd.c
void leat_lower_winograd(leat_table *table, leat_unit *unit);
void leat_lower_winograd_weights(leat_table *table, leat_unit *unit); // winograd_weights.c
// depthwise.c
void leat_lower_depthwise(leat_table *table, leat_unit *unit);
void leat_lower_depthwise_weights(leat_table *table, leat_unit *unit); // depthwise_weights.c

// The place along `axes` of the unit's space, taken as one.
void leat_contraction_put(leat_contraction *c, unsigned axes, k_value linear);
void leat_contraction_place_columns(leat_contraction *c, k_value panel);
// The same of panels of which all columns exist, and of the last one, which has a block of its own.
void leat_contraction_place_whole(leat_contraction *c, k_value panel);
void leat_contraction_place_last(leat_contraction *c);

// LEAT_LANES elements of operand i's last axis from `at` on, those below `end`; the axes before the
// last two are where the kernel is.
k_value leat_contraction_operand(leat_contraction *c, uint32_t i, k_value row, k_value at,
                                 k_value end);
// A square of b, read along k: rows of it from k on, at as many columns from `column` on.
void leat_contraction_read_square(leat_contraction *c, k_value k, k_value column, k_value *rows);

// Rows [low, high) of a, for k in [from, end), become what leat_contraction_gathered reads: of row
// number i behind `row`, which a block begins at.
void leat_contraction_gather(leat_contraction *c, k_value low, k_value high, k_value from,
                             k_value end);
k_value leat_contraction_gathered(leat_contraction *c, k_value row, int i, k_value k);

#endif
