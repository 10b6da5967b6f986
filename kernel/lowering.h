// Lowering an op by index: what an op's output element is, as kernel code, given where.
//
// Codegen decides loops, tiles, vectors and which nodes share a kernel; an op only answers "my
// value at this index" by asking for its operands' values at indices of its own choosing. So
// element-wise ops are one line, movement ops are index arithmetic, and everything of kind ELEMENT
// fuses with everything.
#ifndef LEAT_KERNEL_LOWERING_H
#define LEAT_KERNEL_LOWERING_H

#include "ir/graph.h"
#include "kernel/kernel.h"

// A position along one axis for each of the lanes being computed: base + lane × step, or, when
// `vector` is set, an i64 vector. With one lane: base.
typedef struct leat_index {
  k_value base;   // i64 scalar
  int64_t step;   // elements per lane; 0: the same for all lanes
  k_value vector; // NULL, or an i64 vector of `lanes` lanes that says it all
} leat_index;

// What is said where a kernel fails, word for word what ref_X says: each %lld is a number, the
// first one the value that it fails on, the others the site's dims.
#define LEAT_SAYS_INDEX "index %lld is out of range for an axis of %lld"
#define LEAT_SAYS_SLICE "axis %lld has %lld elements, not %lld from %lld by %lld"
#define LEAT_SAYS_NONE "there are no elements to choose from"
typedef struct leat_fail_site {
  const leat_node *node;
  const char *says;
  leat_dim dims[4];
  int dim_count;
} leat_fail_site;

typedef struct leat_lowering leat_lowering;
struct leat_lowering {
  k_builder *b;
  int lanes;    // 1 or LEAT_LANES: of every value that is asked for
  k_value mask; // lanes that count, or NULL for all
  int64_t run;  // of an index of step 1 those do not pass a multiple of this; 0: they may
  int word;     // of values of two words (k_words): which one is asked for
  // Codegen's: the value of a graph value at an index, of `lanes` lanes: loaded, or computed in
  // place.
  k_value (*value_at)(leat_lowering *lowering, leat_value value, const leat_index *at);
  k_value (*dim)(leat_lowering *lowering, leat_dim dim); // i64 scalar
  // The key of random numbers as an argument of the kernel: kernels that differ in it alone are
  // one.
  k_value (*key)(leat_lowering *lowering, int64_t value);                // i64 scalar
  uint32_t (*site)(leat_lowering *lowering, const leat_fail_site *site); // its number
  // Of the node's element at the index: its place among all, row by row.
  leat_index (*element)(leat_lowering *lowering, const leat_node *node, const leat_index *at);
};

// Operand number i of the node, at the index (one leat_index an axis of that operand; rank 0:
// anything).
k_value leat_operand(leat_lowering *lowering, const leat_node *node, uint32_t i,
                     const leat_index *at);

// Index arithmetic.
leat_index leat_index_const(leat_lowering *l, int64_t value);
leat_index leat_index_of(leat_lowering *l, k_value scalar_or_vector_i64);
leat_index leat_index_add(leat_lowering *l, leat_index a, leat_index b);
leat_index leat_index_mul(leat_lowering *l, leat_index a,
                          k_value scalar); // constant scalars keep a step
void leat_index_divmod(leat_lowering *l, leat_index a, k_value scalar, leat_index *quotient,
                       leat_index *remainder);
k_value leat_index_value(leat_lowering *l, leat_index a); // as an i64 of l->lanes lanes

// Rows, LEAT_LANES of them or a smaller power of two, become columns: of `count` rows each row has
// LEAT_LANES / count columns then, one after the other.
void leat_turn(k_builder *b, k_value *rows, int count);

// The node's index, an integer, as an i64; fails where it is none of 0 … extent - 1. A u64 beyond
// i64 counts as the largest i64, as in leat_load_index.
k_value leat_index_check(leat_lowering *l, const leat_node *node, k_value index, leat_dim extent);

// How a REDUCE op folds: `count` accumulators (argmax has value and position).
typedef struct leat_reducer {
  int count;
  leat_dtype (*dtype)(const leat_node *node, int i); // of accumulator i
  bool rounds;                                       // the order of folding floats changes bits
  void (*init)(leat_lowering *l, const leat_node *node, k_value *out); // of l->lanes lanes
  // The output element of a reduction of no elements; NULL: it has none, and that is an error.
  void (*of_none)(leat_lowering *l, const leat_node *node, k_value *out);
  void (*step)(leat_lowering *l, const leat_node *node, const k_value *acc, k_value x,
               k_value position, k_value *out);
  void (*merge)(leat_lowering *l, const leat_node *node, const k_value *a, const k_value *b,
                k_value *out);
  k_value (*finish)(leat_lowering *l, const leat_node *node,
                    const k_value *acc); // the output element
} leat_reducer;

// What ops/arithmetic.c and ops/bits.c say of the ops of these names, bit for bit.
k_value k_mod(k_builder *b, k_value x, k_value y);
k_value k_remainder(k_builder *b, k_value x, k_value y);
k_value k_floor_div(k_builder *b, k_value x, k_value y);
k_value k_gcd(k_builder *b, k_value x, k_value y);
k_value k_copysign(k_builder *b, k_value x, k_value y);
k_value k_popcount(k_builder *b, k_value x);
k_value k_leading_zeros(k_builder *b, k_value x);

// What kernels hold an element of a dtype as: f16 and bf16 are the u16 of their bits, and what
// consists of two words is two numbers one after the other: a complex number's parts, a string's
// address and size. kernel/elements.c.
leat_dtype k_dtype(leat_dtype dtype);
int k_words(leat_dtype dtype); // 1 or 2
// The conversion that op `cast` means, between dtypes of one word.
k_value k_convert(k_builder *b, leat_dtype from, leat_dtype to, k_value x);

// Math functions as polynomials over kernel instructions: the same on every target. f32 and f64;
// k_pow integers too.
k_value k_exp(k_builder *b, k_value x);
k_value k_log(k_builder *b, k_value x);
k_value k_tanh(k_builder *b, k_value x);
k_value k_exp2(k_builder *b, k_value x);
k_value k_expm1(k_builder *b, k_value x);
k_value k_log2(k_builder *b, k_value x);
k_value k_log10(k_builder *b, k_value x);
k_value k_log1p(k_builder *b, k_value x);
k_value k_sin(k_builder *b, k_value x);
k_value k_cos(k_builder *b, k_value x);
k_value k_tan(k_builder *b, k_value x);
k_value k_asin(k_builder *b, k_value x);
k_value k_acos(k_builder *b, k_value x);
k_value k_atan(k_builder *b, k_value x);
k_value k_sinh(k_builder *b, k_value x);
k_value k_cosh(k_builder *b, k_value x);
k_value k_asinh(k_builder *b, k_value x);
k_value k_acosh(k_builder *b, k_value x);
k_value k_atanh(k_builder *b, k_value x);
k_value k_cbrt(k_builder *b, k_value x);
k_value k_erf(k_builder *b, k_value x);
k_value k_erfc(k_builder *b, k_value x);
k_value k_erfinv(k_builder *b, k_value x);
k_value k_lgamma(k_builder *b, k_value x);
k_value k_digamma(k_builder *b, k_value x);
k_value k_pow(k_builder *b, k_value x, k_value y);
k_value k_atan2(k_builder *b, k_value y, k_value x);
k_value k_hypot(k_builder *b, k_value x, k_value y);

// Word number `element` (i64) of the stream that a key and a count (both i64) give, as u32: see
// ops/random.h. kernel/philox.c.
k_value k_philox(k_builder *b, k_value element, k_value count, k_value key);

#endif
