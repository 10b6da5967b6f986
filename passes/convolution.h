// Convolutions as the library writes them (stdlib/conv.leat): products of windows, for each group
// of channels, or for all. convolution.c recognises and makes them. Internal to passes/.
#ifndef LEAT_PASSES_CONVOLUTION_H
#define LEAT_PASSES_CONVOLUTION_H

#include "ops/build.h"

enum { LEAT_MOST_SPATIAL = (LEAT_MAX_RANK - 2) / 2 };

// How windows slide over x[N, spatial…, C].
typedef struct leat_sliding {
  int axes; // spatial ones
  leat_value x;
  leat_dim size[LEAT_MOST_SPATIAL];
  int64_t window[LEAT_MOST_SPATIAL], stride[LEAT_MOST_SPATIAL], dilation[LEAT_MOST_SPATIAL],
      base[LEAT_MOST_SPATIAL], before[LEAT_MOST_SPATIAL];
} leat_sliding;

// What is multiplied: windows[N, size…, C, window…] by w[window…, C / groups, O], or, for the
// gradient of such weights, by that of the outputs, [N, size…, O].
typedef struct leat_convolution_node {
  bool of_weights;
  leat_value windows, w;
  leat_type weights;
  int axes;
  int64_t groups, channels, outputs; // channels of x
} leat_convolution_node;

// Whether the node gives the outputs of a convolution, or, where there are groups, the gradient of
// its weights; channels and outputs are known.
bool leat_find_convolution(const leat_node *node, leat_convolution_node *out);
// Whether the windows slide along all axes between images and channels, over zeros outside of x.
bool leat_find_sliding(const leat_convolution_node *convolution, leat_sliding *out);

// Makes nodes like one that is there; {NULL} of what could not be made.
typedef struct leat_maker {
  leat_builder builder;
  const char *name;
} leat_maker;
leat_maker leat_maker_like(leat_graph *graph, leat_diag *diag, const leat_node *node);
leat_value leat_make_reshape(leat_maker *m, leat_value x, const leat_dim *dims, int rank);
leat_value leat_make_transpose(leat_maker *m, leat_value x, const int64_t *perm);
leat_value leat_make_broadcast(leat_maker *m, leat_value x, const leat_dim *dims, int rank);
leat_value leat_make_cast(leat_maker *m, leat_value x, leat_dtype dtype);
leat_value leat_make_product(leat_maker *m, leat_value x, leat_value y); // of elements
leat_value leat_make_matmul(leat_maker *m, leat_value a, leat_value b);
leat_value leat_make_sum(leat_maker *m, leat_value x, int first, int count); // along these axes
// So many elements along each axis from `start` on, in steps.
leat_value leat_make_slice(leat_maker *m, leat_value x, const int64_t *start, const leat_dim *size,
                           const int64_t *step);
leat_value leat_make_windows(leat_maker *m, const leat_sliding *s); // as a convolution has them
// Of s->axes axes from `first` on; `windowed` as in `unfold`.
leat_value leat_make_unfold(leat_maker *m, const leat_sliding *s, int first, bool windowed);
// The products of all windows, as the library writes them.
leat_value leat_make_convolution(leat_maker *m, const leat_sliding *s, leat_value w,
                                 int64_t groups);
// Of windows along two axes, one channel each.
leat_value leat_make_depthwise(leat_maker *m, const leat_sliding *s, leat_value w);
leat_value leat_make_depthwise_weights(leat_maker *m, const leat_sliding *s, leat_value dy);

#endif
