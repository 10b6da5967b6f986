// Transposes that undo each other across what computes element by element: of images that are
// stored channels last and programs that write them channels second, each layer has a pair.
#ifndef LEAT_PASSES_LAYOUT_H
#define LEAT_PASSES_LAYOUT_H

#include "ops/build.h"

typedef struct leat_layout {
  leat_graph *graph;
  leat_diag *diag;
  leat_bytes_map known; // (node, perm) → what is known of its transpose
} leat_layout;

bool leat_is_identity(const leat_attr *perm);

void leat_layout_init(leat_layout *layout, leat_graph *graph, leat_diag *diag, leat_arena *scratch);

// What a transpose of the value is where that needs none: transposes by the inverse above cancel,
// what is between them and the value is built in the other order of axes, and broadcasts are made
// so. No element changes. {NULL}: there is nothing to cancel, or something in between is no such
// op.
leat_value leat_layout_cancel(leat_layout *layout, leat_value value, const leat_attr *perm);

#endif
