// Lowering a unit to a kernel: the state that loops and contractions share.
#ifndef LEAT_CODEGEN_LOWER_H
#define LEAT_CODEGEN_LOWER_H

#include "codegen/units.h"
#include "kernel/lowering.h"

enum { LEAT_TILE_NANOSECONDS = 8000 }; // what a tile should cost

// Axes of the space that are taken as one, and the place along it. What has them one after the
// other is read at that place, not at one along each.
typedef struct leat_joined_axes {
  unsigned axes; // 0: none
  leat_index place;
} leat_joined_axes;

// A value that was computed at an index, for the next who asks.
typedef struct leat_memo {
  int lanes, word;
  k_value mask;
  leat_index at[LEAT_MAX_RANK];
  k_value value;
} leat_memo;

// What is known of a node in the kernel being made.
typedef struct leat_fact {
  const k_buffer *buffer; // NULL: computed
  k_value substitute;
  const k_buffer *row; // kept by pass row_pass for later ones
  int row_pass;
  unsigned spans; // flat: bit 0: the leading axes, bit 1: the others
  leat_vec(leat_memo) memos;
} leat_fact;

typedef struct leat_lower {
  leat_lowering l; // first: what ops see
  k_builder builder;
  leat_table *table;
  leat_unit *unit;
  leat_launch *launch;
  leat_map facts;            // node → leat_fact
  leat_map buffers;          // leat_storage → k_buffer
  leat_vec(k_value) scalars; // of launch->scalars
  // The axes that loops run over: the unit's, or, when `flat`, two: the unit's first `leading` axes
  // as one and the others as one. `at`: where the kernel is.
  bool flat;
  int leading;
  bool general; // numbers are arguments: kernels that differ in them alone are one
  int rank;
  leat_dim dims[LEAT_MAX_RANK];
  unsigned reduced, innermost; // as in leat_unit, of these axes
  leat_index at[LEAT_MAX_RANK];
  leat_joined_axes joined[2];
  k_value inner; // the first lane's place, along the axes that lanes lie along
  int pass;
  k_value origin; // of a chain: the number of the first element of the tile's rows
} leat_lower;

leat_fact *leat_lower_fact(leat_lower *lower, const leat_item *item);
// Sets `flat` and `leading`, if two axes are enough.
void leat_lower_choose_flat(leat_lower *lower);

// Collects the arguments and begins the kernel. `bare`: for code that has nothing to do with
// members.
leat_lower *leat_lower_begin(leat_table *table, leat_unit *unit);
leat_lower *leat_lower_begin_bare(leat_table *table, leat_unit *unit, const char *title);
void leat_lower_end(leat_lower *lower, leat_dim tiles, double work);
// Of a unit with a chain, for tiles of so many rows: *out_bytes is what these take. The kernel goes
// on with one of the units.
leat_lower *leat_lower_begin_chain(leat_table *table, leat_unit *unit, int64_t rows,
                                   int64_t *out_bytes);
void leat_lower_enter(leat_lower *lower, leat_unit *part);

// What the item reads in memory becomes arguments.
void leat_lower_reads(leat_lower *lower, const leat_item *item);
void leat_lower_reads_of(leat_lower *lower, leat_value value); // what the value is computed from
const k_buffer *leat_lower_buffer(leat_lower *lower, const leat_storage *storage);
k_value leat_lower_dim(leat_lower *lower, leat_dim dim);
// A member's value here; of a reduction or contraction what was substituted.
k_value leat_lower_item(leat_lower *lower, const leat_item *item);
// A member's operand at the member's position in the space.
k_value leat_lower_operand(leat_lower *lower, const leat_item *item, uint32_t i);
// Loads what the members read that does not depend on the axes `inner`.
void leat_lower_prime(leat_lower *lower, unsigned inner); // axes of the unit
// Whether members read memory along the axis, and not the same at all other places.
bool leat_lower_reads_along(leat_lower *lower, int axis);
// Asks for the lines of memory that the members will read along the axis, at its place.
void leat_lower_prefetch(leat_lower *lower, int axis);
void leat_lower_substitute(leat_lower *lower, const leat_item *item, k_value value);
// Keeps the item's values of pass `pass` in `row` for later passes.
void leat_lower_keep(leat_lower *lower, const leat_item *item, const k_buffer *row, int pass);
// Index of the item's element here in its own memory.
leat_index leat_lower_element(leat_lower *lower, const leat_item *item);

// Outputs: computed all, then stored all, so that writing in place overwrites nothing too early.
typedef struct leat_pending {
  const k_buffer *buffer;
  k_value index, value, mask;
} leat_pending;
typedef leat_vec(leat_pending) leat_stores;
// What an output is stored to: past the caches when it does not fit into them.
const k_buffer *leat_lower_output(leat_lower *lower, const leat_output *output);
void leat_lower_store(leat_lower *lower, leat_stores *stores, const leat_output *output);
void leat_lower_flush(leat_lower *lower, leat_stores *stores);

// The lanes below `rest`, an i64 scalar; NULL when a constant says all.
k_value leat_lower_mask(leat_lower *lower, k_value rest);

// Dims arithmetic; what overflows is in the state's error.
leat_dim leat_lower_product(leat_lower *lower, const leat_dim *dims, int count);
leat_dim leat_lower_ceil_div(leat_lower *lower, leat_dim a, int64_t b);

// Makes the launches of a unit of loops or a contraction, by those of a unit like it that was
// lowered before, where there is one (alike.c).
void leat_lower_alike(leat_table *table, leat_unit *unit);
void leat_lower_alone(leat_table *table, leat_unit *unit);

void leat_lower_loops(leat_table *table, leat_unit *unit);
// The rows [low, high) of the unit that the kernel is at, with local arrays of so many bytes.
void leat_lower_rows(leat_lower *lower, k_value low, k_value high, int64_t room);
void leat_lower_contract(leat_table *table, leat_unit *unit);
void leat_lower_scatter(leat_table *table, leat_unit *unit);
void leat_lower_library(leat_table *table, leat_unit *unit);

#endif
