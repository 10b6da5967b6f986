// What a convolution takes by Winograd's transforms (codegen/winograd.c), as products of its
// windows, and, of channels, by rows (codegen/depthwise.c) and as sums over windows: shares of the
// rates of plain products and of caches.
#include "ops/cost.h"
#include "ops/ops.h"

#include <math.h>

// What is reached by products of windows, by products of transformed tiles, and by weights that are
// read again beside these.
static const double direct = 13.0 / 16, multiplied = 11.0 / 16, again = 0.8;
static const double transform = 40.0 / 3; // instructions for an element of a tile

static double count_tiles(const leat_convolution *c, double tile) {
  return c->images * ceil(c->down / tile) * ceil(c->across / tile);
}

// Of a transformed tile.
static double elements_of(const leat_convolution *c, double tile) {
  double places = tile + c->window - 1;
  return places * places;
}

static double by_products(const leat_target_info *target, const leat_convolution *c) {
  double windows = c->images * c->down * c->across, each = (double)c->window * c->window;
  return 2 * each * windows * c->channels * c->outputs /
         (direct * leat_cost_flops(target, LEAT_f32));
}

// To transform the elements of all tiles, and to multiply them.
static double for_tiles(const leat_target_info *target, const leat_convolution *c, double tile) {
  double elements = count_tiles(c, tile) * elements_of(c, tile);
  return 2 * elements * c->channels * c->outputs /
             (multiplied * leat_cost_flops(target, LEAT_f32)) +
         elements * (c->channels + c->outputs) * transform * leat_cost_instruction(target);
}

// The transformed weights are read for each block of tiles.
static double for_weights(double weights, double blocks) {
  return 4 * weights * (1.0 / LEAT_MEMORY_RATE + (blocks - 1) / (again * LEAT_CACHE_RATE));
}

// The sums of all places are read and written for each block of tiles, and added at the end.
static double for_sums(double sums, double blocks, double room) {
  double rate = 4 * sums < room ? again * LEAT_CACHE_RATE : LEAT_MEMORY_RATE;
  return 4 * sums * (2 * blocks / rate + 10.0 / LEAT_MEMORY_RATE);
}

double leat_cost_convolution(const leat_target_info *target, const leat_convolution *c, int tile) {
  if (!tile) return by_products(target, c);
  double room = (double)leat_winograd_room(target), each = elements_of(c, tile);
  double weights = each * c->channels * c->outputs; // or their sums
  double blocks = ceil(count_tiles(c, tile) * 4 * each * (c->channels + 64) / room);
  double beside = c->weights ? for_sums(weights, blocks, room) : for_weights(weights, blocks);
  return for_tiles(target, c, tile) + beside;
}

leat_convolution leat_convolution_of(const leat_node *node) {
  leat_winograd what = leat_winograd_of(node);
  const leat_type *w = leat_value_type(node->inputs[1]), *x = leat_value_type(node->inputs[0]);
  const leat_type *y = what.weights ? w : &node->outputs[0];
  return (leat_convolution){.window = what.window,
                            .weights = what.weights,
                            .images = leat_cost_extent(y->dims[0]),
                            .down = leat_cost_extent(y->dims[1]),
                            .across = leat_cost_extent(y->dims[2]),
                            .channels = leat_cost_extent(x->dims[3]),
                            .outputs = leat_cost_extent(y->dims[3])};
}

// -- Of channels ----------------------------------------------------------------------------------

// What fmas of a window reach, and instructions of a vector that is copied, or done with. Of sums
// over windows, whose products are rounded: what loads and masks cost beside two instructions.
static const double by_channels = 0.8, copied = 2, loaded = 1.2, masked = 5;

static double vectors_of(const leat_depthwise *what) {
  return ceil((double)what->channels / LEAT_LANES);
}

static double places_of(const leat_depthwise *what, double images) {
  return images * (double)(what->axes[0].size * what->axes[1].size);
}

// Elements of windows that are there: of those between elements, a part.
static double taps_of(const leat_depthwise *what) {
  double taps = 1;
  for (int i = 0; i < 2; i++) taps *= (double)what->axes[i].window / (double)what->axes[i].base;
  return taps;
}

// To read and write so many elements: the more the farther they are.
static double for_bytes(const leat_target_info *target, leat_dtype dtype, double elements) {
  double bytes = elements * (double)leat_dtype_size(dtype), rate = LEAT_CACHE_RATE;
  if (bytes > 2.0 * (double)target->l2) rate = LEAT_CACHE_RATE / 2.0;
  if (bytes > (double)target->l3 / 2) rate = LEAT_MEMORY_RATE;
  return bytes / rate;
}

static double elements_of_images(const leat_depthwise *what, double images) {
  double x = (double)(what->axes[0].extent * what->axes[1].extent);
  return (images * x + places_of(what, images)) * (double)what->channels;
}

// What is copied waits for memory before anything is computed of it.
double leat_cost_depthwise(const leat_target_info *target, leat_dtype dtype,
                           const leat_depthwise *what, double images) {
  double x = images * (double)(what->axes[0].extent * what->axes[1].extent);
  double products = 2 * places_of(what, images) * vectors_of(what) * LEAT_LANES * taps_of(what);
  return products / (by_channels * leat_cost_flops(target, dtype)) +
         (x + places_of(what, images)) * vectors_of(what) * LEAT_LANES * copied *
             leat_cost_instruction(target) +
         for_bytes(target, dtype, elements_of_images(what, images));
}

// It waits while it computes.
double leat_cost_window_sums(const leat_target_info *target, leat_dtype dtype,
                             const leat_depthwise *what, double images) {
  double each = 2 * taps_of(what) * loaded * leat_cost_instruction(target);
  if (what->channels % LEAT_LANES && !target->broadcasts) each *= masked;
  double computing = places_of(what, images) * vectors_of(what) * LEAT_LANES * each;
  return fmax(computing, for_bytes(target, dtype, elements_of_images(what, images)));
}
