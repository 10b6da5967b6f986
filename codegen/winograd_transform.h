// Winograd's transforms along one axis (Lavin and Gray, 2015): `places` elements and a window give
// places - window + 1 outputs. Of 4 places the points are 0, 1, -1, of 6 they are 0, ±√½, ±√2 (and
// infinity, in both): with these roundings are a fifth of those with 0, ±1, ±2.
#ifndef LEAT_CODEGEN_WINOGRAD_TRANSFORM_H
#define LEAT_CODEGEN_WINOGRAD_TRANSFORM_H

#include "kernel/kernel.h"

enum { LEAT_MOST_PLACES = 6 };

// The elements, transformed: as many.
void leat_winograd_elements(k_builder *b, int places, const k_value *x, k_value *out);
// The `window` elements of a window, as `places`.
void leat_winograd_window(k_builder *b, int places, int window, const k_value *w, k_value *out);
// `tile` outputs, of the sums of products at all places.
void leat_winograd_outputs(k_builder *b, int places, int tile, const k_value *sums, k_value *out);

#endif
