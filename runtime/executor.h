// The structures that the executor's files share: runtime.c (the process), exchange.c (its devices
// and others), executor.c (binding), keeper.c (variables), prepared.c (weights), prepare.c (dims,
// feeds), run.c (scheduling), task.c (tasks, no segments: control.c), transfer.c (sends, recvs),
// segment.c, walk.c (computing).
#ifndef LEAT_RUNTIME_EXECUTOR_H
#define LEAT_RUNTIME_EXECUTOR_H

#include "runtime/frame.h"
#include "runtime/pool.h"
#include "runtime/rendezvous.h"
#include "runtime/signal.h"
#include "runtime/trace.h"

#include <pthread.h>

// A step that was aborted, so that a run of it that begins later ends at once.
typedef struct leat_aborted_step {
  uint64_t session, step;
  leat_error error;
} leat_aborted_step;

// Seconds: no longer does who waits take to notice a signal, whose handler can wake nobody.
#define LEAT_LONGEST_WAIT 0.1

enum { LEAT_ABORTED_STEPS = 32 }; // are remembered

typedef struct leat_queued_message {
  struct leat_queued_message *next;
  leat_message message;
} leat_queued_message;

// Where all that computes for a run looks whether it is to end: at one bool, which no more than a
// signal handler may have to set. The runtime keeps it for ever, so that one may do so at any time.
typedef struct leat_ending {
  struct leat_ending *next;
  bool taken;        // by a run; runs_lock, as what follows
  int64_t began;     // the clock, of what is in flight; only where there is a limit
  _Atomic bool late; // `now` is set for that
  _Atomic bool now;
  char apart[64];           // kernels read `now`, and what follows is written for each launch
  _Atomic uint64_t flight;  // the number of the run in flight, from 1 on; 0: none is
  const char *_Atomic node; // that is computed, or was last; NULL: nobody knows
} leat_ending;

// Names a task of a run.
typedef struct leat_task_place {
  uint32_t part, task; // task: of the part's image
} leat_task_place;

// What several devices, here or in other processes, need of each other (exchange.c). A runtime that
// is made alone has none, and is linked without it.
typedef struct leat_exchange {
  void (*destroy)(leat_runtime *runtime);
  // A run that exchanges messages begins and ends; an aborted step fails it at once.
  void (*enter)(leat_runtime *runtime, leat_run *run);
  void (*leave)(leat_runtime *runtime, leat_run *run);
  // Ends the step here; returns how many recvs will not be called back.
  size_t (*close)(leat_runtime *runtime, uint64_t session, uint64_t step);
  void (*tell_abort)(leat_runtime *runtime, uint64_t session, uint64_t step,
                     const leat_error *error);        // to the other ranks
  bool (*send)(leat_run *run, leat_task_place place); // whether the task is complete
  bool (*receive)(leat_run *run, leat_task_place place);
  // ": DEVICE waits for tensor …", of the first that is on its way; the run's lock is held.
  void (*describe)(const leat_run *run, leat_text *out);
} leat_exchange;

struct leat_runtime {
  leat_pool *pool;
  leat_frame_limits limits;
  const leat_exchange *exchange; // NULL: alone
  leat_rendezvous *rendezvous;   // of the exchange
  leat_transport *transport;     // NULL: there are no other processes
  leat_trace *trace;             // NULL: off
  double deadline, limit;        // `limit`: changed by leat_runtime_set_limit alone
  struct leat_watch *watch;      // of the limit; NULL: there is none
  _Atomic bool interrupted;      // runs end, until it is taken back
  _Atomic uint64_t flights;      // runs that began
  leat_ending *_Atomic endings;  // of all runs; it only grows
  void (*print)(void *context, const char *text);
  void *print_context;
  pthread_mutex_t print_lock;

  pthread_mutex_t runs_lock; // of what follows; may be held while a run's lock is taken
  leat_run *runs;            // that exchange messages
  leat_aborted_step aborted[LEAT_ABORTED_STEPS];
  size_t aborted_count; // ever
  leat_error failure;   // of the transport

  pthread_mutex_t mail_lock; // of the messages that came
  leat_queued_message *mail, **mail_end;
  leat_signal mail_came;
};

typedef struct leat_message_state {
  int peer; // rank; -1: this process
  const char *label;
  _Atomic uint64_t bytes, count;
} leat_message_state;

// A program bound to its device's variables.
typedef struct leat_bound_part {
  const leat_program *program;
  leat_store *store;
  leat_variable **variables;                 // by variable number
  leat_prepared **prepared;                  // by number
  uint32_t *dims;                            // executor's dim number of each dim
  leat_message_state *messages;              // by message number
  const char **task_labels, **launch_labels; // for traces; NULL: off
  atomic_bool initialised;                   // all variables are
} leat_bound_part;

typedef struct leat_port_place { // feed or fetch number `index` of a part
  uint32_t part, index;
} leat_port_place;

struct leat_executor {
  leat_runtime *runtime;
  leat_arena *arena;
  uint64_t session;
  leat_bound_part *parts;
  uint32_t part_count;
  const char **dims;
  uint32_t dim_count;
  leat_port_place *feeds, *fetches, *sends; // sends: task-order message numbers
  uint32_t feed_count, fetch_count, send_count;
  struct leat_feed_range *ranges; // room for those of all feeds; NULL: none is donated
  uint32_t most_tasks;            // of all parts together, in the largest tables
  bool has_messages;              // some task sends or receives
  bool has_remote;                // some of them from or to another rank
  bool abandoned;                 // some run is: memory that it refers to is never freed
  pthread_mutex_t lock;           // of the list below
  leat_run *idle;
};

// A send or recv on its way; what its callback is given.
typedef struct leat_transfer {
  leat_run *run;
  leat_task_place place;
  uint32_t on_way; // of a recv that lags there may be several at once
  bool waiting;    // its task does, for more of them than it may lag
  void *copy;      // of what is sent; malloc'ed
  int64_t begin;
  uint32_t count; // how often it began in this run: in loops
} leat_transfer;

// Where a task that is a region stands.
typedef struct leat_region_state {
  bool began;
  bool decides; // of a loop: what computes the predicate has run, or runs
  int64_t begin;
} leat_region_state;

enum { LEAT_NO_TABLE = UINT32_MAX };

struct leat_run {
  leat_executor *executor;
  leat_run *next_idle;
  leat_run *next_active, **active_at; // in the runtime's list
  leat_arena *arena;
  leat_frame *frames;
  int64_t *dims;
  uint64_t step;
  bool abandoned; // a transfer never ended: its memory must not be used again
  leat_ending *ending;

  pthread_mutex_t lock; // of what follows
  leat_signal changed;  // raised for the driver when it waits
  bool driver_waits;
  uint32_t *tables;            // of each part: the one to run, or LEAT_NO_TABLE
  uint32_t **pending;          // of each part and task: dependencies that are not complete
  uint32_t **unfinished;       // of each part and table of a region: tasks that are not complete
  leat_region_state **regions; // of each part and region
  leat_task_place *ready;      // a ring
  uint32_t ready_first, ready_count, ready_capacity;
  size_t remaining;         // tasks of the chosen tables that are not complete
  size_t working;           // threads inside of tasks, and helpers on their way
  size_t transfers;         // recvs that wait, sends on their way
  uint64_t progress;        // counts completed tasks
  leat_transfer **transfer; // of each part and task that sends or receives
  void ***kept; // of each part and variable: a copy of what it held before, or NULL (keeper.c)
  _Atomic bool failed;
  leat_error error; // the first cause
};

// executor.c. "feed `x` (file:line:column)" and what is wrong with it, as LEAT_INVALID.
leat_status leat_executor_wrong_feed(const leat_executor *executor, size_t i, leat_error *error,
                                     const char *format, ...) __attribute__((format(printf, 4, 5)));
// Compares the whole shape of a feed with what the frame was resolved for.
LEAT_MUST_USE leat_status leat_executor_check_feed(const leat_executor *executor, size_t i,
                                                   const leat_tensor *tensor,
                                                   const leat_frame *frame, leat_error *error);

static inline const leat_image_task *leat_run_task_of(const leat_run *run, leat_task_place place) {
  return &run->frames[place.part].program->view.tasks[place.task];
}

// Of the strings that the task makes.
static inline leat_string_heap *leat_run_heap(const leat_run *run, leat_task_place place) {
  const leat_frame *frame = &run->frames[place.part];
  return leat_frame_heap(frame, frame->program->task_tables[place.task]);
}

static inline const char *leat_run_device(const leat_run *run, uint32_t part) {
  const leat_program *program = run->frames[part].program;
  return leat_program_text(program, program->image->device);
}

// prepared.c, of the keeper. Finds what the program's launches prepare.
struct leat_walk;
LEAT_MUST_USE leat_status leat_prepared_bind(leat_executor *executor, leat_bound_part *part,
                                             leat_error *error);
bool leat_prepared_lend(struct leat_walk *walk, uint32_t launch);
void leat_prepared_take_back(struct leat_walk *walk, uint32_t launch);

// donated.c. What runs may write to must be there once.
void leat_executor_find_donated(leat_executor *executor);
LEAT_MUST_USE leat_status leat_executor_check_donated(const leat_executor *executor,
                                                      const leat_tensor *feeds, leat_error *error);

// prepare.c. Resolves the frames for run->dims; with `checks`, what must hold of these holds.
LEAT_MUST_USE leat_status leat_run_resolve(leat_run *run, bool checks, leat_error *error);
// Binds the dims and the feeds, and begins anew what counts and keeps in a run.
LEAT_MUST_USE leat_status leat_run_prepare(leat_run *run, const leat_run_request *request,
                                           leat_error *error);

// task.c. Ends the run with "DEVICE: node `path` (file:line:column): " and the words.
void leat_run_fail_node(leat_run *run, leat_task_place place, leat_image_origin node,
                        leat_status status, const char *format, ...)
    __attribute__((format(printf, 5, 6)));
void leat_run_fail_claim(leat_run *run, leat_task_place place, const leat_image_claim *claim);

// run.c. From whom: the rank that the failure came from, or -1.
void leat_run_fail(leat_run *run, int from, leat_status status, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
// Whether the run is to end: it has failed, be it elsewhere, or is interrupted.
static inline bool leat_run_is_over(const leat_run *run) {
  return atomic_load_explicit(&run->ending->now, memory_order_relaxed);
}
// The same as kernels look at it, which know no atomics: they go on until it is true once.
static inline const volatile bool *leat_run_is_over_at(const leat_run *run) {
  _Static_assert(sizeof run->ending->now == sizeof(bool), "an atomic bool is a bool");
  return (const volatile bool *)&run->ending->now;
}
// It computes this node now.
static inline void leat_run_is_at(const leat_run *run, const leat_program *program,
                                  const leat_image_origin *node) {
  atomic_store_explicit(&run->ending->node, leat_view_text(&program->view, node->name),
                        memory_order_relaxed);
}
bool leat_run_ends(leat_run *run); // the same; what has no cause yet has been interrupted
void leat_run_destroy(leat_run *run);
// Runs a table of each part, run->tables says which.
LEAT_MUST_USE leat_status leat_run_tables(leat_run *run, leat_error *error);
// Begins a table of a region, whose task comes to its turn again when the table is complete.
void leat_run_begin_table(leat_run *run, leat_task_place region, uint32_t table);
// A tensor begins its way, and has come to its end; the task is complete when no more than `lag`
// are on their way: whether that is so at once; else, if all were whole, it is completed here.
bool leat_run_transfer_began(leat_transfer *transfer, uint32_t lag);
void leat_run_transfer_ended(leat_transfer *transfer, uint32_t lag, bool whole);

// runtime.c. A place to look at, for as long as the run is there; NULL: there is no memory.
leat_ending *leat_runtime_take_ending(leat_runtime *runtime);
void leat_runtime_return_ending(leat_runtime *runtime, leat_ending *ending); // NULL is fine
// Before a run begins: it goes on, unless the runtime is interrupted.
void leat_runtime_clear_ending(leat_runtime *runtime, leat_ending *ending);
// A run is in flight from then on, until it lands.
void leat_runtime_take_off(leat_runtime *runtime, leat_ending *ending);
void leat_runtime_land(leat_runtime *runtime, leat_ending *ending);

// task.c. Returns whether the task is complete; otherwise it has failed, a callback will complete
// it or a table of its region has begun. No lock is held.
bool leat_run_task(leat_run *run, leat_task_place place);
static inline int64_t leat_run_clock(const leat_run *run) { // 0: nothing is traced
  return __builtin_expect(run->executor->runtime->trace != NULL, 0) ? leat_clock() : 0;
}
void leat_run_trace(leat_run *run, leat_task_place place, leat_trace_kind kind, int64_t begin,
                    uint64_t bytes);

// transfer.c, for the exchange. Each returns whether the task is complete.
bool leat_transfer_send(leat_run *run, leat_task_place place);
bool leat_transfer_receive(leat_run *run, leat_task_place place);
// ": DEVICE waits for tensor …", of the first that is on its way; the run's lock is held.
void leat_transfer_describe(const leat_run *run, leat_text *out);

// How a segment failed: of what the threads of a launch met, that of the lowest tiles.
typedef struct leat_failure {
  int32_t result;                  // what the kernel returned; 0: the segment did not fail
  const leat_image_claim *refusal; // of a table that was to begin; NULL: a kernel failed
  uint32_t launch;
  leat_call call;
} leat_failure;

// segment.c. Runs a segment's launches, each on as many threads as it is worth.
leat_failure leat_segment_run(leat_run *run, leat_task_place place);

#endif
