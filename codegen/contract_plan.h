// How a contraction is computed, decided once, before memory is planned: a function of its sizes,
// its dtype and the machine. Nothing in it changes an element's own sum, so it is free.
#ifndef LEAT_CODEGEN_CONTRACT_PLAN_H
#define LEAT_CODEGEN_CONTRACT_PLAN_H

#include "codegen/units.h"
#include "ops/ops.h"

enum {
  LEAT_ACCUMULATORS = 28, // at most
  LEAT_MOST_VECTORS = 16, // vectors of columns
  LEAT_MOST_STRIPS = 8,   // of a, side by side
  LEAT_DEPTH_BLOCK = 256, // elements of k, of a deep contraction
  // Rows from one panel's piece to the next: one more, so that all do not collide in a cache.
  LEAT_PIECE_ROWS = LEAT_DEPTH_BLOCK + 1,
  LEAT_MOST_TILE_BYTES = 224 << 10, // of what a chain of units has of a tile's rows
};

static inline int64_t leat_divide_up(int64_t x, int64_t unit) {
  return (x + unit - 1) / unit;
}

static inline int64_t leat_round_up(int64_t x, int64_t unit) {
  return leat_divide_up(x, unit) * unit;
}

static inline int64_t leat_at_least_one(int64_t x) {
  return x < 1 ? 1 : x;
}

// A convolution by transforms: each place of a tile of x and of its outputs has a product of its
// own, [tiles, channels] by [channels, outputs], of transformed elements. Tiles are computed
// `block` at a time, so that all that is made of them stays in a cache; who has computed some of
// them has room for a block.
typedef struct leat_winograd_plan {
  leat_winograd what;
  int places;           // of a tile along each axis: what its outputs read
  int64_t channels;     // that are summed
  int64_t down, across; // tiles of an image
  leat_dim tiles;       // of all images
  int64_t block, pitch; // tiles; elements from one transformed tile to the next
  leat_dim blocks, rooms;
  // Elements of room: for a block of x, for those of what it is multiplied with or gives, for the
  // sums of weights, and in all.
  int64_t transformed, others, sums, room;
} leat_winograd_plan;

// A convolution of which each output reads one channel: rows of outputs, some of them at a time in
// registers, of as many channels as fill one. What they read is in a ring of rows.
typedef struct leat_depthwise_plan {
  leat_depthwise what;
  int lanes, high;      // channels, outputs beside each other
  bool together;        // all of a window: its weights, or their sums, are in registers; else …
  int taps;             // … so many of one of its rows at most
  int64_t part;         // of a row: outputs of a tile
  int64_t slots, pitch; // of the ring: rows, and elements of each
  int64_t tile_rows;    // a tile is so many rows of an image
  int64_t down, across; // tiles of an image
} leat_depthwise_plan;

typedef enum leat_operand_way {
  LEAT_OPERAND_DIRECT,   // read where it lies
  LEAT_OPERAND_GATHERED, // a: into a local array, a tile's rows at a time
  LEAT_OPERAND_PACKED,   // b: as panels, each [depth, width] filled up with whatever numbers, which
                         // a kernel before makes
  LEAT_OPERAND_PREPARED, // b: as PACKED, but made once, and anew when its variable was assigned
  LEAT_OPERAND_STORED,   // b: an artifact has its panels
  LEAT_OPERAND_TILED,    // b: as PACKED, by each tile for itself, LEAT_DEPTH_BLOCK rows at a time
  LEAT_OPERAND_TURNED,   // b, which lies along k: squares of it are turned in registers
  LEAT_OPERAND_MADE,     // a: by the units of its chain, a tile's rows at a time
} leat_operand_way;

// What is held in registers while k runs.
typedef struct leat_block {
  int high, wide, lanes; // rows by vectors of columns, of so many elements
} leat_block;

// c[batch, row, column] = Σ a[batch, row, k] · b[batch, k, column].
typedef struct leat_contraction_plan {
  const leat_item *item;
  leat_operand_way a, b;
  bool transposed;               // a is [k, row]
  bool across;                   // b lies along k: what packs it turns it …
  int square;                    // … in squares of so many elements, which registers hold …
  int squares;                   // … of b turned by a product: so many side by side
  bool reads_over;               // what hangs over b's rows is read, but of the last: masks cost
  bool one_b;                    // for all batches, which are more rows
  const leat_unit *packed;       // for this product before: these are its panels; NULL: its own
  leat_unit *ahead_of;           // of a loop or branch: its panels are made in front; NULL: here
  unsigned batch_axes, row_axes; // of the unit's space
  int column_axis;               // -1: there is one column
  leat_dim batch, rows, columns, depth;
  int high, wide;  // of a block in registers: rows, vectors of columns
  int64_t width;   // of a panel: columns
  leat_dim panels; // of all columns
  leat_block last; // of the last panel, to which fewer columns are left; high 0: as of the others
  bool deep;       // k goes in blocks of LEAT_DEPTH_BLOCK, which resume from a local c
  int ahead;       // rows of b that are asked for before they are read; 0: none
  bool long_sums;  // of more than LEAT_PRODUCT_BLOCK products, or it is not known
  bool split;      // of these sums each of LEAT_PRODUCT_BLOCK is a tile's; they are added behind it
  leat_dim parts;  // of k: how many such tiles, or 1
  int tile_panels; // a tile is so many panels …
  int64_t tile_rows;       // … by so many rows …
  int64_t gathered_rows;   // … of which so many of a are gathered together
  leat_dim groups, blocks; // tiles along the columns, along the rows
  int64_t gathered, pitch; // of a, in elements: room, and from one row (or k) to the next
  int strips, strip_lanes; // of a by columns, block by block: so many are gathered in one go
  int gathered_vectors;    // of a row (or k): what is gathered in one go
  int64_t run;             // elements of a row (or k) that lie together, as a's are; 0: unknown
  const leat_winograd_plan *winograd;   // NULL, and …
  const leat_depthwise_plan *depthwise; // … NULL: it is a product of matrices
} leat_contraction_plan;

leat_dim leat_contraction_matrices(const leat_contraction_plan *plan); // of b
bool leat_contraction_has_panels(const leat_contraction_plan *plan);
bool leat_contraction_packs(const leat_contraction_plan *plan); // by a kernel before
// Vectors of columns that are computed together, and the most rows.
int leat_contraction_wide(const leat_target_info *target, leat_dim rows, leat_dim columns,
                          leat_dtype dtype);
int leat_contraction_most_high(const leat_target_info *target, int wide, leat_dtype dtype);
// The plan of a convolution by transforms, with room for blocks of tiles. Returns the type of its
// transformed weights.
leat_type leat_winograd_prepare(leat_table *table, leat_unit *unit, leat_contraction_plan *plan);
// Of the weights' gradient, with room for blocks of tiles and for their sums.
void leat_winograd_prepare_weights(leat_table *table, leat_unit *unit, leat_contraction_plan *plan);

// The plan of a convolution of channels, or of its weights' gradient, with room for sums.
void leat_depthwise_prepare(leat_table *table, leat_unit *unit, leat_contraction_plan *plan);

// -- panels_home.c --------------------------------------------------------------------------------
// Where the panels of a value may be made: in this table, in front of the region, if there is one.
typedef struct leat_panels_home {
  leat_table *table;
  leat_unit *region;
  bool kept;        // of what is the same in all runs: once …
  bool in_variable; // … but for some of it, when it is assigned
} leat_panels_home;
leat_panels_home leat_panels_find_home(leat_table *table, leat_value b);
// Launches of a body that make panels ahead of its region, or one around, become that one's.
void leat_panels_move_out(const leat_table *body);

void leat_contraction_plan_print(const leat_contraction_plan *plan, leat_text *out);

#endif
