// How long computing takes: the one estimate that all ask who decide by it, passes, code generation
// and the library's calls.
//
// It ranks ways, so it is coarse. Its rates are fitted to one core of a Xeon with AVX-512 (Emerald
// Rapids), of which ir/op_cost.def says what an element of each op takes; other machines take
// longer by the registers that a vector fills there. A dim that is known only while running counts
// as LEAT_UNKNOWN_EXTENT.
#ifndef LEAT_OPS_COST_H
#define LEAT_OPS_COST_H

#include "base/target_info.h"
#include "ops/ops.h"

enum {
  LEAT_UNKNOWN_EXTENT = 64,
  LEAT_LAUNCH_NANOSECONDS = 50, // to start anything
  // Bytes a nanosecond that a core reads or writes: of what was touched not long ago, which lies in
  // a second or third cache, and of what was not.
  LEAT_CACHE_RATE = 50,
  LEAT_MEMORY_RATE = 12,
};

// What is to be done: nanoseconds of computing, and bytes that are read and written.
typedef struct leat_work {
  double computing, bytes;
} leat_work;

double leat_cost_extent(leat_dim dim);
double leat_cost_elements(const leat_dim *dims, int rank);
double leat_cost_bytes(const leat_type *type);
double leat_cost_result_bytes(const leat_node *node); // of all outputs

// Nanoseconds that an instruction takes, and an op, of an element that is computed in vectors.
double leat_cost_instruction(const leat_target_info *target);
double leat_cost_element(const leat_target_info *target, leat_op op);
// Floating-point operations a nanosecond, of products whose operands lie well.
double leat_cost_flops(const leat_target_info *target, leat_dtype dtype);
double leat_cost_computing(const leat_target_info *target, const leat_node *node); // nanoseconds
// Of a node by itself. What only renames elements, is fed, loaded or constant is no work.
leat_work leat_cost_work(const leat_target_info *target, const leat_node *node);

// -- cost_convolution.c ---------------------------------------------------------------------------

// Of f32, by square windows in steps of 1, or the gradient of its weights.
typedef struct leat_convolution {
  int window;
  bool weights;
  double images, down, across, channels, outputs; // `down` and `across`: outputs of an image
} leat_convolution;

// Of a node that is one by Winograd's transforms.
leat_convolution leat_convolution_of(const leat_node *node);
// Nanoseconds: by transforms of tiles of `tile` outputs a side; 0: by products of its windows.
double leat_cost_convolution(const leat_target_info *target, const leat_convolution *convolution,
                             int tile);
// Nanoseconds of a convolution of channels, or of the gradient of its weights, of so many images,
// as codegen/depthwise.c computes it, and as sums over unfolded windows.
double leat_cost_depthwise(const leat_target_info *target, leat_dtype dtype,
                           const leat_depthwise *what, double images);
double leat_cost_window_sums(const leat_target_info *target, leat_dtype dtype,
                             const leat_depthwise *what, double images);

// -------------------------------------------------------------------------------------------------

double leat_cost_nanoseconds(leat_work work); // its bytes in caches
double leat_cost_copy(const leat_type *type); // nanoseconds of reading and writing a value

#endif
