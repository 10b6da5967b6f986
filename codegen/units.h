// What the stages of codegen share: the nodes of a table as items, how items read each other, and
// the units (kernels, copies, waits) that they are grouped into.
//
// An item has iteration axes: the axes of its output, or of its input for a reduction. A unit of
// loops has a space, and each member's iteration axes are axes of it. An access says where a
// consumer reads a producer: `aligned` when at the consumer's own position (but for axes that
// broadcast), so that both can be computed in one pass over a space. An axis of extent 1 is axis -1
// everywhere.
//
// What a stage decides stands in these structs behind the file that writes it, in the order in
// which they do (stages.h); the others read it.
#ifndef LEAT_CODEGEN_UNITS_H
#define LEAT_CODEGEN_UNITS_H

#include "codegen/codegen.h"
#include "codegen/number_set.h"
#include "kernel/lowering.h"
#include "ops/cost.h"

typedef struct leat_item leat_item;
typedef struct leat_unit leat_unit;
typedef struct leat_table leat_table;
typedef struct leat_storage leat_storage;
typedef struct leat_codegen_state leat_codegen_state;
typedef struct leat_image_state leat_image_state; // image.c's
typedef struct leat_rotation leat_rotation;
typedef leat_vec(leat_storage *) leat_storages;
typedef leat_vec(leat_item *) leat_items;

typedef enum leat_role {
  LEAT_ROLE_LEAF,   // comes from outside: constant, file, feed, variable, run count, received
  LEAT_ROLE_FREE,   // computed in place by whoever needs it
  LEAT_ROLE_ALIAS,  // the memory of its input, with another shape
  LEAT_ROLE_WORK,   // member of a unit of loops
  LEAT_ROLE_EFFECT, // fetch, send, print, assign: reads memory
} leat_role;

typedef struct leat_access {
  leat_item *producer, *consumer;
  bool aligned;               // the consumer reads it along axes of its own
  const leat_item *view;      // if so, the producer; else an alias that it reads so, or NULL
  int8_t axis[LEAT_MAX_RANK]; // of an axis of the view: the consumer's iteration axis
} leat_access;

struct leat_item {
  // access.c
  leat_node *node;
  uint32_t port;       // the output that it is; 0 of a node that has none
  uint32_t position;   // in the table's items
  leat_item **inputs;  // what the node reads, of its first output's item
  leat_items controls; // likewise: must have run
  leat_storage *held;  // what changes while the table runs: a variable, or what a region carries. A
                       // leaf reads it, an effect stores its input there. NULL: neither
  leat_role role;
  bool wanted;      // somebody reads it in memory, as a whole
  bool once;        // WORK: must be a member, a cheap consumer would compute it too often
  int cost;         // instructions of computing it in place
  uint32_t readers; // edges to consumers
  leat_vec(leat_access *) reads;
  leat_vec(leat_access *) users;

  // region_results.c, in_place.c: of a body
  bool appends;         // an effect: behind what is held
  leat_rotation *moves; // an effect: there is nothing to store, places are exchanged; or NULL
  leat_item *behind;    // reads where the value was stored: its users have this one for it; or NULL

  // units.c
  bool copied; // a read: it is used after the variable has changed
  leat_unit *unit;

  // fuse.c
  int8_t axis[LEAT_MAX_RANK]; // of an iteration axis: the unit's axis
  leat_storage *storage;      // of a leaf or an output

  // loop_passes.c
  int pass;                // of a member: the pass over the inner axes that it belongs to
  int first_use, last_use; // passes that compute it
};

// Arena memory: a lifetime in units and an offset.
typedef struct leat_arena_place {
  // storage.c
  const leat_table *table; // which places it
  uint32_t slots;          // of a pool, which is that many values of its type: how many; else 0
  leat_storage *pool;      // the memory that this is slot number `slot` of; NULL: none
  uint32_t slot;

  // plan.c
  leat_vec(leat_unit *) touched; // who reads or writes it, in order
  bool lasts;                    // fetched, so nothing comes after it
  bool taken;                    // another one shares its memory
  leat_storage *shares; // the memory of this one, which ends where this begins; NULL: its own
  uint32_t arena;       // its number
  leat_dim offset;      // in bytes, in the table's memory
  leat_dim size;        // of a pool: bytes of a slot

  uint32_t piece; // image.c: of a slot: its arena in the image; 0: it has none yet
} leat_arena_place;

// Where bytes are.
struct leat_storage {
  // storage.c
  leat_buffer_kind kind;
  leat_type type;
  const leat_placed_file *placed; // of a FILE that an artifact has packed; else NULL
  bool donated;                   // a FEED that the step may write to
  union {
    const leat_state *state; // VARIABLE
    const leat_node *node;   // CONSTANT, FILE, FEED, RUN_COUNT; PREPARED: who alone reads it;
                             // ARENA: of whose results in bodies it is one; NULL: of none
    uint32_t grown;          // GROWN: its number; several may be of one, with other types
  };

  bool in_tile;     // row_chain.c: never whole: a kernel has a tile of its rows, in a local array
  uint32_t readers; // schedule.c: units that are to read it yet
  leat_arena_place place; // of an ARENA; of what is donated, who touches it in the step
};

typedef enum leat_unit_kind {
  LEAT_UNIT_LOOPS,    // element-wise ops and reductions over one space
  LEAT_UNIT_CONTRACT, // a contraction and what is done with its result in place
  LEAT_UNIT_SCATTER,
  LEAT_UNIT_CONCAT,  // nothing: what makes its parts stores them where it lies
  LEAT_UNIT_LIBRARY, // a call of a function of runtime/kernels
  LEAT_UNIT_COPY,    // storage to storage
  LEAT_UNIT_ROTATE,  // what a loop carries changes places
  LEAT_UNIT_ROOM,    // whether a loop turns again, which depends on the room that there is
  LEAT_UNIT_GEMM,    // BLIS
  LEAT_UNIT_REGION,  // a branch or a loop: of other tables
  LEAT_UNIT_TASK,    // of a kind of its own: it waits, or only the host can do it
} leat_unit_kind;

// A member's value and where it is stored.
typedef struct leat_output {
  leat_item *item;
  leat_storage *storage;
  const leat_node *into; // a concat, of which it is a part: from `offset` on along `axis`;
  int axis;              // NULL: it is the whole of the storage
  leat_dim offset;
} leat_output;

typedef struct leat_copy {
  leat_storage *from, *to;
  const leat_type *type;            // of what is copied, as whoever made it knows it
  leat_item *assign;                // the assignment that it carries out; NULL: none
  bool appends;                     // to what is there
  const struct leat_appended *rows; // by a launch of these; NULL: by a task
} leat_copy;

// A dim that is the extent of an axis of what grows.
typedef struct leat_extent {
  leat_dim dim;
  uint32_t grown, axis;
} leat_extent;
typedef leat_vec(leat_extent) leat_extents;

// What a loop appends to in each turn, by a launch in it (append.c).
typedef struct leat_appended {
  const leat_storage *to; // the loop's result
  leat_storage *all;      // the same memory, with room for rows to come
  leat_storage *count;    // i64: rows that are there
  leat_dim room, each;    // rows of `all`, and of what is appended
} leat_appended;

// What a branch or a loop runs: the tables of its bodies, in the order of the node's attributes.
// What they give is stored where the node's outputs lie; of a loop the first table computes the
// predicate.
typedef struct leat_region_tables {
  leat_table *tables[2];
  struct leat_launch *kernel; // from `prepare` on: the one kernel that it is; NULL: it is launched
  const char *why;            // launch by launch, for this reason
  leat_storage *predicate;
  leat_storage
      *goes_on; // of a loop: whether it turns again, as the predicate says, if there is room
  leat_vec(leat_appended) rows;     // of a loop
  leat_vec(leat_storage *) carried; // of a loop
  bool waits;                       // something in it waits, or is the host's: a task of its own
  bool exchanges;                   // it sends or receives
  leat_extents extents;             // of its results
  leat_vec(leat_storage *) panels;  // that launches in front of it make for products in it
} leat_region_tables;

// Where the outputs of a node with bodies lie, in which these hold what they are carried or give.
enum { LEAT_NO_INPUT = UINT32_MAX };
typedef struct leat_region_places {
  leat_storage **results;
  bool *kept;       // by result: it is a result of the node around, changed in place …
  uint32_t *begins; // … which this input is when the node begins; LEAT_NO_INPUT: none
} leat_region_places;

// Results that lie in each other's place, which is mended by exchanging places: each gets what the
// next one has, the last one what the first does.
struct leat_rotation {
  const leat_node *node;      // whose results they are
  leat_vec(uint32_t) results; // by number
  leat_storages places;
  leat_unit *unit; // that does it; NULL: there is none yet
};

// A kernel call of a unit; `args` in the order of the kernel's.
typedef struct leat_launch {
  leat_launch_kind kind;
  leat_kernel *kernel;        // of a KERNEL that is made here, else NULL
  const char *title;          // of that kernel
  const char *function;       // of a KERNEL of runtime/kernels its symbol, else NULL
  leat_region_tables *region; // of an IF or a WHILE
  leat_vec(leat_storage *) buffers;
  leat_vec(leat_dim) scalars;
  leat_vec(uint32_t) keys; // of the scalars, those that are of random numbers
  leat_vec(leat_fail_site) sites;
  leat_dim tiles, work; // work: nanoseconds
} leat_launch;

// A value that is made again lies elsewhere for those who read it then.
typedef struct leat_instead {
  const leat_storage *of;
  leat_storage *is;
} leat_instead;

struct leat_unit {
  // units.c
  leat_unit_kind kind;
  leat_vec(leat_item *) members; // sorted by position when fusing is over
  leat_vec(leat_unit *) before;  // must have run: data, control, overwriting
  leat_vec(leat_unit *) fences;  // of those, the ones by control edge: never merged with
  leat_unit *prev, *next;        // the order: before all that need it
  int64_t label;                 // ascends along the order
  uint64_t mark;                 // of a search
  const leat_number_set
      *recvs; // that it needs, directly or not, by position; NULL: nothing is sent

  // units.c, of one item; fuse.c, of several
  int rank; // the space
  leat_dim dims[LEAT_MAX_RANK];
  unsigned reduced;   // axes that its reductions fold; 0: none
  unsigned innermost; // of those, the axes that are the innermost logical axis (ops/reduce.c)
  bool by_lanes;      // rule 1 of ops/reduce.c: that axis is innermost in the input
  int reductions;     // members that fold

  // fuse.c
  leat_unit *into; // merged into this one; NULL: it stands
  bool has_rows;   // some member has the axes outside `inner` only
  leat_vec(leat_output) outputs;

  // row_chain.c
  leat_unit *chained;          // it is in the chain of this one; NULL: in none
  leat_vec(leat_unit *) chain; // CONTRACT: what it makes as well, a tile of rows at a time, in
                               // order: a product, and loops over its rows

  // schedule.c
  uint32_t position; // in the order
  uint32_t task;

  // `prepare`. Of its launches alone; NULL: none. Packed operands or numbers of blocks; sums of
  // parts of k, or transformed tiles.
  leat_storage *scratch, *parts;

  union {
    leat_copy copy;                                  // COPY
    const struct leat_contraction_plan *contraction; // CONTRACT, from `prepare` on
    const leat_rotation *rotation;                   // ROTATE
    const leat_node *room_for;                       // ROOM: the loop
    const struct leat_library_call *call;            // LIBRARY, from `prepare` on
    leat_region_tables region;                       // REGION
    leat_storage *received;                          // TASK: what a recv fills; NULL: it is another
  };

  // recompute.c
  leat_unit *again; // it does again what this one does, by the same launches; NULL: it is the first
  leat_vec(leat_instead) instead; // what it has in the place of the storage that its launches name

  leat_vec(leat_launch *) launches; // lower_unit.c
};

// A segment, or one unit that is a task of its own.
typedef struct leat_task {
  leat_vec(leat_unit *) units; // in order
  leat_vec(uint32_t) needs;    // tasks that must have ended, once each
  leat_vec(uint32_t) successors;
} leat_task;

typedef struct leat_fetched {
  const leat_node *node;
  leat_storage *storage;
  const leat_type *type;
} leat_fetched;

// An arena for the values whose sizes need the same run-time dims, which tasks of the step, or of
// the body, bind.
typedef struct leat_arena_plan {
  leat_dim needs;          // the sum of those dims, which stands for the set
  leat_dim size;           // bytes: the greatest of all tables
  const leat_table *table; // of the body whose alone it is; NULL: any
  uint32_t number;         // of a body's own: in the step's list
  uint32_t within;         // of the slot of a pool: the number of the arena it lies in + 1; else 0
  leat_dim where;          // of such: there
} leat_arena_plan;
typedef leat_vec(leat_arena_plan) leat_arena_plans;

// One table: the step, the initialisation of a variable, or a body.
struct leat_table {
  // Whoever makes it: codegen.c, region.c.
  leat_codegen_state *cg;
  leat_state *initialises; // of a variable, else NULL
  const leat_graph *body;  // of a body, else NULL
  leat_table *around;      // of a body: the one that has its region …
  leat_unit *region;       // … which is this
  leat_item **item_of;     // by node id: one for each output; NULL: not in this table

  // access.c
  leat_items items; // topological
  bool has_checks;  // of a body: it may not be able to run

  // units.c
  leat_unit *head, *tail; // the units in order, until `schedule`
  uint64_t searches;
  leat_vec(leat_fetched) fetches;

  // schedule.c
  leat_vec(leat_unit *) units; // the schedule
  leat_vec(leat_task) tasks;

  // `prepare`
  leat_map packed;      // type of a b, which is the value's own → the last unit that packs it
  bool in_kernel;       // of a body: its region is one kernel, which has its values
  leat_storage *memory; // of a body: a piece of the table around it, which is its first arena;
                        // NULL: that is its own, for it has checks
  leat_extents extents; // of a body: of what its loop carries

  // plan.c
  uint8_t
      *after; // n² of n tasks: after[a × n + b]: b runs when a has ended; NULL: too many, or one
  leat_storages planned;   // what it has in arenas, by who touches it first
  leat_storages given;     // of the step, in the same order: the feeds that are donated
  leat_arena_plans arenas; // of a body: the first for what is known when it begins

  uint32_t number; // image.c: in the image
};

struct leat_codegen_state {
  leat_graph *graph;
  leat_arena *arena;
  leat_arena *scratch; // emptied when the next unit is lowered
  leat_diag *diag;
  const leat_codegen_options *options;
  leat_error *error;
  leat_image_state *image;
  leat_item **item_of;      // room for leat_table.item_of
  leat_storage **variables; // by state id
  bool *assigned;           // by state id: the step does
  leat_vec(leat_storage *) prepared;
  leat_map leaves;                   // node → leat_storage of constants, files, feeds, parameters
  leat_map region_places;            // node with bodies → leat_region_places
  leat_bytes_map recipes;            // of units that are lowered (alike.c)
  leat_vec(leat_table *) tables;     // the step, then what initialises variables
  leat_arena_plans arenas;           // the first for what is known when the step begins
  leat_vec(const leat_type *) grown; // by number
};

// -- access.c -------------------------------------------------------------------------------------
leat_item *leat_item_of(const leat_table *table, leat_value value); // as those see it who use it
leat_item *leat_item_first(const leat_item *item);                  // of the node's outputs
// What stores the value in a place, and what reads there when that has run: behind all items.
leat_item *leat_item_store(leat_table *table, leat_item *value, leat_storage *place);
leat_item *leat_item_behind(leat_table *table, leat_item *store);
const leat_type *leat_item_type(const leat_item *item);
const leat_type *leat_item_space(const leat_item *item); // type whose axes are iterated
bool leat_item_reduces(const leat_item *item);           // a reduction over more than one element
// Iteration axis of axis k of the item's result; -1: none (extent 1).
int leat_item_result_axis(const leat_item *item, int k);
// For each axis of operand i the iteration axis of the node; false: it is read elsewhere than at
// the node's position.
bool leat_item_operand_axes(const leat_node *node, uint32_t i, int8_t *axis);
leat_item *leat_item_memory(leat_table *table, leat_value value); // the item behind aliases
leat_item *leat_item_operand(const leat_item *item, uint32_t i);  // likewise, of an input
// So many of its first reads are copied before it runs: the first values of what a loop carries.
uint32_t leat_item_copied_reads(const leat_item *item);

// -- storage.c ------------------------------------------------------------------------------------
leat_storage *leat_storage_arena(const leat_table *table, const leat_type *type);
// What is in an arena of its own becomes one more slot of a pool; NULL: of a new one.
void leat_storage_move_to_pool(leat_storage *storage, leat_storage *pool);
// What grows, as a value of this type.
leat_storage *leat_storage_grown(leat_codegen_state *cg, uint32_t number, const leat_type *type);
leat_storage *leat_storage_variable(leat_codegen_state *cg, const leat_state *state);
// Strings whose bytes go when they are assigned: only a copy takes them out and puts others in.
// What a region carries owns none.
bool leat_storage_owns_strings(const leat_storage *storage);
leat_storage *leat_storage_leaf(leat_codegen_state *cg,
                                leat_node *node); // const, load, feed, run_count
// What is prepared for a node, as a value of this type, which is static.
leat_storage *leat_storage_prepared(leat_codegen_state *cg, const leat_node *node,
                                    const leat_type *type);
// Whether it holds the same in all runs, until a variable is assigned that the step does not.
bool leat_storage_is_kept(const leat_codegen_state *cg, const leat_storage *storage);
// What an artifact has packed, as a value of this type.
leat_storage *leat_storage_packed(leat_codegen_state *cg, const leat_placed_file *placed,
                                  const leat_type *type);
leat_storage *leat_storage_owner(leat_storage *storage); // whose memory it has
// Positions of the first and last units that need a value of an arena.
void leat_storage_life(const leat_storage *storage, uint32_t *first, uint32_t *last); // offsets.c

// -- units.c: units and their order ---------------------------------------------------------------
leat_unit *leat_unit_of(leat_unit *unit);       // after merges
leat_unit *leat_unit_launcher(leat_unit *unit); // whose launches do it: after merges and chains
// Whether all that the second needs, but the first, can run before the first; then it is moved
// there and the second taken out of the order.
bool leat_units_merge_order(leat_table *table, leat_unit *first, leat_unit *second);
// The other one, which is in no order, in the place of the unit.
void leat_units_replace(leat_table *table, leat_unit *unit, leat_unit *other);
void leat_units_remove(leat_table *table, leat_unit *unit);
bool leat_uses_blis(const leat_codegen_state *cg, const leat_node *node); // of a contraction
leat_task_kind leat_unit_task_kind(const leat_unit *unit); // SEGMENT: it is part of one
bool leat_unit_sends(const leat_unit *unit);               // itself or in its tables
bool leat_unit_receives(const leat_unit *unit);            // itself or in its tables
leat_storage *leat_unit_filled(const leat_unit *unit);     // by a COPY or a recv; NULL: none
const char *leat_unit_kind_name(const leat_unit *unit);    // of a TASK: what its op is called
// Of loops, how often a row is gone over: each member in a pass of its own number, as reductions
// end.
int leat_unit_find_passes(const leat_unit *unit);

// -- fuse.c ---------------------------------------------------------------------------------------
// Whether it must run behind the other by a control edge.
bool leat_unit_is_fenced(const leat_unit *unit, const leat_unit *from);
bool leat_item_is_full(
    const leat_item *item); // iterates the whole space of its unit, not only rows
// So that it must be in memory, unless it is free.
bool leat_item_is_read_outside(const leat_item *item);
// Whether the access reads, at each position, the element of the same index as value's.
bool leat_access_is_same_element(const leat_access *access, const leat_item *value);
// A reduction of so few and so long rows that threads should share one.
bool leat_unit_is_long(const leat_unit *unit);
// Mask of the inner axes: the reduced ones, or the last.
unsigned leat_unit_inner(const leat_unit *unit);

// -- row_chain.c ----------------------------------------------------------------------------------
// The node of a contraction's unit that multiplies.
leat_item *leat_unit_product(const leat_unit *unit);
// How large a chain's rows are, in bytes, of all that is in a tile alone.
int64_t leat_chain_row_bytes(const leat_unit *unit);

// -- plan.c ---------------------------------------------------------------------------------------
// What a unit reads and writes in memory, once each.
leat_storages leat_unit_reads(leat_arena *arena, const leat_unit *unit);
leat_storages leat_unit_writes(leat_arena *arena, const leat_unit *unit);
// The storage that the unit has for what its launches and items name.
leat_storage *leat_unit_storage(const leat_unit *unit, leat_storage *named);
// Whether all of it is over, whatever runs beside it, when `b` begins.
bool leat_unit_runs_before(const leat_table *table, const leat_unit *a, const leat_unit *b);
// Whether the unit reads nothing at the output's element once that is stored: of loops in several
// passes this is what the last one makes.
bool leat_unit_makes_last(const leat_unit *unit, const leat_item *item);

// -- region_results.c -----------------------------------------------------------------------------
// Where a result of a node with bodies goes.
leat_storage *leat_region_result(leat_table *table, const leat_node *node, uint32_t i);
leat_region_places *leat_region_places_of(leat_codegen_state *cg, const leat_node *node);
// The place that the parameter of a table's body is carried in; NULL: it lies where the input does.
leat_storage *leat_region_held(const leat_table *body, const leat_node *param);

// -- append.c -------------------------------------------------------------------------------------
// Whether launches do all of it, but that tasks make room for what they append.
bool leat_region_is_launched(const leat_node *node);
// What the table's launches append to; NULL: a task appends to it.
const leat_appended *leat_append_of(const leat_table *body, const leat_storage *to);

// -- cost.c ---------------------------------------------------------------------------------------
leat_work leat_unit_work(const leat_table *table, const leat_unit *unit);
double leat_unit_estimate(const leat_table *table,
                          const leat_unit *unit); // nanoseconds of one core

#endif
