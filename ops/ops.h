// What an op means: the prototypes that every row of ops.def promises. One file a family defines
// them.
//
//   shape_X   types of the outputs from the inputs' and the attributes
//   ref_X     the meaning: a plain, slow, obviously right evaluation over whole tensors
//   lower_X   kind ELEMENT: the value at an index, as kernel code (kernel/lowering.h)
//   reduce_X  kind REDUCE: how to fold
//   library_X kind LIBRARY: how to call the runtime's function
#ifndef LEAT_OPS_OPS_H
#define LEAT_OPS_OPS_H

#include "base/target_info.h"
#include "ir/graph.h"
#include "kernel/lowering.h"
#include "leat/status.h"

// The node has its inputs and attributes; the rule fills outputs[0 … output_count). Reports with
// leat_error_at at node->span and returns false when they do not fit. BROADCASTS ops see inputs of
// one shape and one dtype.
typedef struct leat_dim_pair {
  leat_dim a, b;
} leat_dim_pair;
typedef leat_vec(leat_dim_pair) leat_dim_pairs;

// What must hold of dims and only a running step can tell: that `room` is not negative. Else the
// step ends and `says` why, in which each %lld stands for the next of `values`.
enum { LEAT_MAX_CLAIM_VALUES = 2 };
typedef struct leat_claim {
  leat_dim room;
  const char *says;
  uint32_t count;
  leat_dim values[LEAT_MAX_CLAIM_VALUES];
} leat_claim;
typedef leat_vec(leat_claim) leat_claims;

typedef struct leat_shape_context {
  leat_graph *graph;
  leat_diag *diag;
  const leat_node *node;
  leat_type *outputs;
  leat_dim_pairs *checks; // dims that must be equal, as far as is known; NULL: that is an error
  leat_claims *claims;    // of the node; NULL: they are not asked for
} leat_shape_context;

// Inputs are dense row-major; outputs have dtype, shape and zeroed memory. No errors but
// out-of-range indices and the like, reported in *error.
typedef struct leat_ref_context {
  const leat_node *node;
  const leat_tensor *inputs;
  leat_tensor *outputs;
  const int64_t *dim_values; // by atom id: the step's values of the dims
  const bool *dim_known;
  uint32_t replica;
  leat_arena *arena; // what strings that are made lie in; leat_ref_evaluate sets it
  leat_error *error;
} leat_ref_context;

typedef bool (*leat_shape_function)(leat_shape_context *context);
typedef leat_status (*leat_ref_function)(leat_ref_context *context);
typedef k_value (*leat_lower_function)(leat_lowering *lowering, const leat_node *node,
                                       const leat_index *at);

// The call of a function of runtime/kernels that computes a node of kind LIBRARY: it is called like
// a kernel (leat_kernel_function), with the node's outputs, its inputs and, when `scratch` is not
// 0, a scratch buffer, all dense, and then the scalars. Inputs are never overwritten.
enum { LEAT_MAX_LIBRARY_SCALARS = 24 };
typedef struct leat_library_call {
  const char *function; // a row of include/leat/library.def
  const char *module;   // NULL: none, but libleat_rt
  leat_dim tiles;       // independent parts of the work: rows, matrices of a batch
  leat_dim scratch;     // bytes, for all tiles together; 0: none
  leat_dim scalars[LEAT_MAX_LIBRARY_SCALARS]; // dtypes, extents, attributes: what it needs to know
  uint32_t scalar_count;
  double work; // nanoseconds a tile takes on one core, roughly
} leat_library_call;

// False: dims overflow.
typedef bool (*leat_library_function)(leat_dims *dims, const leat_node *node,
                                      leat_library_call *out);

#define SHAPE(name) bool shape_##name(leat_shape_context *context);
#define CODE_STRUCTURE(name)
#define CODE_ELEMENT(name)                                                                         \
  leat_status ref_##name(leat_ref_context *context);                                               \
  k_value lower_##name(leat_lowering *lowering, const leat_node *node, const leat_index *at);
#define CODE_REDUCE(name)                                                                          \
  leat_status ref_##name(leat_ref_context *context);                                               \
  extern const leat_reducer reduce_##name;
#define CODE_SCATTER(name) leat_status ref_##name(leat_ref_context *context);
#define CODE_CONTRACT(name) leat_status ref_##name(leat_ref_context *context);
#define CODE_LIBRARY(name)                                                                         \
  leat_status ref_##name(leat_ref_context *context);                                               \
  bool library_##name(leat_dims *dims, const leat_node *node, leat_library_call *out);
#define CODE_HOST(name)
#define CODE_REGION(name)
#define OP(name, min, max, outputs, dtypes, apart, kind, ...) SHAPE(name) CODE_##kind(name)
#include "ir/ops.def"
#undef SHAPE
#undef CODE_STRUCTURE
#undef CODE_ELEMENT
#undef CODE_REDUCE
#undef CODE_SCATTER
#undef CODE_CONTRACT
#undef CODE_LIBRARY
#undef CODE_HOST
#undef CODE_REGION

leat_shape_function leat_shape_of(leat_op op);
leat_ref_function leat_ref_of(leat_op op);         // NULL for STRUCTURE, HOST, REGION
leat_lower_function leat_lower_of(leat_op op);     // NULL for other kinds than ELEMENT
const leat_reducer *leat_reducer_of(leat_op op);   // NULL for other kinds than REDUCE
leat_library_function leat_library_of(leat_op op); // NULL for other kinds than LIBRARY

// What slides along the axis number i of those of an unfold; false: of other nodes, and of more.
typedef struct leat_window {
  int axis, within;  // of the result: that of the windows, and that of a window's elements
  int64_t low, high; // windows at [low, high) do not hang over
  int64_t period;    // windows so far apart read between the same elements of the operand
} leat_window;
bool leat_window_of(const leat_node *node, uint32_t i, leat_window *out);

// What a contraction does: matrices, or a convolution by Winograd's transforms.
typedef struct leat_winograd {
  int tile;     // outputs along an axis that are computed together; 0: matrices
  int window;   // elements of one along an axis: 3 or 5
  bool weights; // what is computed is their gradient, of x and the outputs' gradient
  bool turned;
  int64_t before[2];
} leat_winograd;
leat_winograd leat_winograd_of(const leat_node *node);
// Bytes for a block of transformed tiles: half of a core's second cache.
static inline int64_t leat_winograd_room(const leat_target_info *target) {
  return target->l2 / 2;
}
// How windows slide along an axis of x, as in `unfold`: `size` of them.
typedef struct leat_window_axis {
  int64_t extent, size, window, stride, dilation, base, before;
} leat_window_axis;
// A convolution of which each output reads one channel.
enum { LEAT_MOST_WINDOW = 64 }; // elements of such a window along an axis
typedef struct leat_depthwise {
  leat_window_axis axes[2]; // a window of 0 elements: it is none
  int64_t channels;
  bool weights; // what is computed is their gradient, of x and the outputs' gradient
} leat_depthwise;
leat_depthwise leat_depthwise_of(const leat_node *node);
// Rows of x that the windows of a row of outputs reach over, and elements that those of `outputs`
// beside each other do.
int64_t leat_depthwise_slots(const leat_depthwise *what);
int64_t leat_depthwise_pitch(const leat_depthwise *what, int64_t outputs);
// Elements, of LEAT_LANES channels each, of the rows that are near at once: windows that reach over
// more are none that can be computed so.
enum { LEAT_MOST_RING = 1536, LEAT_FARTHEST = 1 << 20 };
bool leat_depthwise_fits(const leat_depthwise *what);
static inline bool leat_is_depthwise(const leat_node *node) {
  return leat_depthwise_of(node).axes[0].window != 0;
}
leat_dim leat_contraction_depth(const leat_node *node); // products of matrices that are summed

// Evaluates one node with ref_X; context->outputs is set, allocated in the arena. Dims must be
// known.
leat_status leat_ref_evaluate(leat_arena *arena, leat_ref_context *context);

#endif
