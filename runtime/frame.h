// One image's part of a run: its arenas, and everything about it that depends on the dims' values,
// resolved once and used from run to run. What depends on dims that tasks bind is resolved again in
// each run, bit by bit as they are bound; what depends on those of a region's table, in each of the
// table's turns (scope.h).
#ifndef LEAT_RUNTIME_FRAME_H
#define LEAT_RUNTIME_FRAME_H

#include "runtime/program.h"
#include "runtime/string_heap.h"

#include <pthread.h>

typedef struct leat_block { // an arena's memory
  void *memory;
  size_t size; // of a piece of another arena 0
} leat_block;

typedef struct leat_grown { // growing memory, and what was last put into it
  leat_block block;
  int64_t shape[LEAT_MAX_RANK], bytes;
  int64_t room;  // rows that launches find room for (ROWS)
  int64_t usual; // that the last run had
} leat_grown;

typedef struct leat_slot { // a buffer
  bool known;
  void *data;
  int64_t bytes;
} leat_slot;

typedef struct leat_launch_plan {
  bool known;
  int64_t tiles;
  double work;    // nanoseconds on one thread
  int32_t width;  // threads that it is worth
  int64_t turn;   // tiles that are computed before someone looks whether the run is interrupted
  int64_t taken;  // tiles that one of several threads takes at once
  uint64_t bytes; // of all its buffers, for traces
  const leat_prepared *makes; // it is left out while that is fresh; NULL: it prepares nothing
} leat_launch_plan;

typedef struct leat_task_plan {
  bool known;  // all that it works on has its place and size
  double work; // nanoseconds on one thread
} leat_task_plan;

typedef struct leat_frame {
  const leat_program *program;
  leat_variable *const *variables; // by variable number
  leat_prepared *const *prepared;  // by number
  int64_t *dims;                   // that it is resolved for; -1: not bound yet
  bool resolved;
  pthread_mutex_t lock; // of what follows, while dims are bound
  int64_t *formulas;    // values
  bool *formula_known;
  bool whole;                        // no formula overflows or divides by 0
  const leat_image_claim *failed;    // what the dims bound last did not hold for; NULL: all held
  const leat_image_claim **refusals; // of each region's table: what of it, or of one around it,
                                     // does not hold; NULL: it may begin
  leat_block *arenas;
  leat_block lent; // the client's memory for the first arena; NULL: it is allocated
  leat_grown *grown;
  leat_slot *buffers;
  leat_arg *args;
  bool *arg_known;
  leat_launch_plan *launches;
  leat_task_plan *tasks;
  leat_tensor *fetches; // data NULL: not known yet
  void **fetch_copies;  // memory for fetches that are feeds or variables; NULL: the buffer itself
  void **feeds;         // where each feed's data is
  void **feed_copies;   // memory for feeds that came unaligned
  int64_t run_count;
  leat_string_heap *heaps; // the step's, whose strings last until the next one, and each region's
} leat_frame;

typedef struct leat_frame_limits {
  int threads;
  double grain;    // nanoseconds that are worth a thread
  uint64_t memory; // bytes of all arenas and of what grows; 0: any number
} leat_frame_limits;

// frame.c
void leat_frame_init(leat_frame *frame, const leat_program *program,
                     leat_variable *const *variables, leat_prepared *const *prepared,
                     leat_arena *arena);
void leat_frame_finish(leat_frame *frame);
// 64-byte aligned memory in place of *memory.
LEAT_MUST_USE leat_status leat_frame_reallocate(void **memory, uint64_t size, leat_error *error);
// Bytes of a type, from the formulas' values; -1: impossible, or not known yet.
int64_t leat_frame_type_bytes(const leat_frame *frame, const leat_image_type *type);

// resolve.c
// Writes what an image says; each %lld in it is the next number: *first (NULL: there is none), then
// the scalars args[arg_first … arg_count).
void leat_frame_say(const leat_frame *frame, leat_text_index says, const int64_t *first,
                    uint32_t arg_first, uint32_t arg_count, leat_text *out);
// The claim as an error.
leat_status leat_frame_fail(const leat_frame *frame, const leat_image_claim *claim,
                            leat_error *error);
leat_status leat_frame_too_large(const leat_frame *frame, leat_error *error); // it is not whole
// Resolves, for the values in frame->dims, all that they are enough for, but what is in tables that
// are refused. With `checks`, claims of the step that do not hold are errors; `frame->failed` is
// the first then.
LEAT_MUST_USE leat_status leat_frame_resolve(leat_frame *frame, const leat_frame_limits *limits,
                                             bool checks, leat_error *error);
// A region's table begins: its tasks will bind its dims again, and what grows has others.
LEAT_MUST_USE leat_status leat_frame_begin_table(leat_frame *frame, uint32_t table,
                                                 const leat_frame_limits *limits,
                                                 leat_error *error);
// A region has run, so that what grew in it has its dims.
LEAT_MUST_USE leat_status leat_frame_end_region(leat_frame *frame, const leat_image_region *region,
                                                const leat_frame_limits *limits, leat_error *error);
// Bytes of all arenas whose size is known, of what grows and of what is prepared; and whether so
// many more may be taken.
uint64_t leat_frame_memory(const leat_frame *frame);
LEAT_MUST_USE leat_status leat_frame_check_memory(const leat_frame *frame, uint64_t more,
                                                  const leat_frame_limits *limits,
                                                  leat_error *error);

// grown.c
// Copies the tensor into growing memory, or behind what is there; then it has the shape of that but
// for axis 0.
LEAT_MUST_USE leat_status leat_frame_grow(leat_frame *frame, uint32_t number,
                                          const leat_tensor *tensor, bool append,
                                          const leat_frame_limits *limits, leat_error *error);
// Makes room for more than is there of what launches of the region append to; `first`: it begins.
LEAT_MUST_USE leat_status leat_frame_make_room(leat_frame *frame, const leat_image_region *region,
                                               bool first, const leat_frame_limits *limits,
                                               leat_error *error);
// The launches have ended: what they have appended is there. False: that cannot be.
bool leat_frame_end_rows(leat_frame *frame, const leat_image_region *region);

// resolve.c
// A task has bound the dim: resolves what becomes known by it, and checks it. A dim that has a
// value already is compared.
LEAT_MUST_USE leat_status leat_frame_bind(leat_frame *frame, uint32_t dim, int64_t value,
                                          const leat_frame_limits *limits, leat_error *error);

// frame.c
// The first arena is the client's memory from now on; NULL: it is allocated.
void leat_frame_lend(leat_frame *frame, void *memory, size_t size);
void leat_frame_clear(leat_frame *frame);   // nobody needs the strings of the last step
void leat_frame_release(leat_frame *frame); // frees all arenas but the first: the step has ended
// Lets the arguments point at the client's memory; data NULL: at the fallback. The tensor's type
// has been checked.
LEAT_MUST_USE leat_status leat_frame_feed(leat_frame *frame, uint32_t feed,
                                          const leat_tensor *tensor, leat_error *error);
void *leat_frame_buffer(const leat_frame *frame, uint32_t buffer); // where its data is
bool leat_frame_holds(const leat_frame *frame, const leat_image_region *region); // its predicate
// The heap of the strings that a table makes.
static inline leat_string_heap *leat_frame_heap(const leat_frame *frame, uint32_t table) {
  return &frame->heaps[frame->program->table_heaps[table]];
}
// The predicate of a loop, between two iterations. Of the strings that these made it frees what is
// not carried, when that is much. What has been made when the loop ends belongs to the table
// around.
bool leat_frame_goes_on(leat_frame *frame, const leat_image_region *loop);
LEAT_MUST_USE leat_status leat_frame_fetch(leat_frame *frame, leat_store *store, uint32_t fetch,
                                           leat_tensor *out, leat_error *error);

#endif
