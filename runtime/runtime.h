// What runs compiled steps: the API that sessions, `leat` and ahead-of-time executables use.
//
//   leat_runtime    what the devices of a process share: threads, rendezvous, trace, transport
//   leat_store      the variables of one device, in containers
//   leat_program    one image, checked and ready: immutable, shared by everybody
//   leat_executor   a step's programs (one a local device) bound to their stores
//   leat_run        one run in flight: arenas and resolved arguments, reused from run to run
//
// An executor's feeds are those of its programs, in order; so are its fetches. Its dims are the
// programs' without duplicates, by name. Objects are thread-safe except a leat_run, which one
// thread at a time uses. Nothing here prints or exits; whatever waits has a deadline.
#ifndef LEAT_RUNTIME_RUNTIME_H
#define LEAT_RUNTIME_RUNTIME_H

#include "base/data_file.h"
#include "base/text.h"
#include "leat/artifact.h"
#include "leat/dtype.h"
#include "leat/status.h"
#include "runtime/checkpoint.h"
#include "runtime/transport.h"

#include <stdbool.h>

typedef struct leat_runtime leat_runtime;
typedef struct leat_store leat_store;
typedef struct leat_program leat_program;
typedef struct leat_executor leat_executor;
typedef struct leat_run leat_run;

// -- The process ----------------------------------------------------------------------------------

typedef struct leat_runtime_options {
  int threads;     // of a gang at most, the caller included; 0: cores / ranks on this host
  double grain;    // nanoseconds of work that are worth another thread; 0: 10,000
  double deadline; // seconds that a run may wait without progress; 0: 60
  // Seconds that a run may take: then it ends with LEAT_DEADLINE, and the variables are as before
  // it, for which those that it writes are copied; 0: any number.
  double limit;
  bool trace;                // keep trace rings
  uint64_t memory_limit;     // bytes of the arenas of a program; 0: any number
  leat_transport *transport; // NULL: alone. Taken over: destroyed with the runtime
  // What a print task says, one call a task, without a newline at the end; NULL: dropped.
  void (*print)(void *context, const char *text);
  void *print_context;
} leat_runtime_options;

LEAT_MUST_USE leat_status leat_runtime_create(const leat_runtime_options *options,
                                              leat_runtime **out, leat_error *error);
// The same without a transport and a trace, for steps of one device: no task of them sends or
// receives.
LEAT_MUST_USE leat_status leat_runtime_create_alone(const leat_runtime_options *options,
                                                    leat_runtime **out, leat_error *error);
// Another `limit` for the runs that begin from now on; none is in flight, and there is no
// transport.
LEAT_MUST_USE leat_status leat_runtime_set_limit(leat_runtime *runtime, double limit,
                                                 leat_error *error);
void leat_runtime_destroy(leat_runtime *runtime); // NULL is fine; its executors must be gone

// Messages of the session layer to other ranks, in order for each peer. `data` is copied.
LEAT_MUST_USE leat_status leat_runtime_send(leat_runtime *runtime, int peer, const void *data,
                                            size_t size, leat_error *error);
typedef struct leat_message {
  int peer;
  char *data; // malloc'ed, the receiver's; a NUL stands behind it
  size_t size;
} leat_message;
// Waits `seconds` at most for the next message of any peer (LEAT_DEADLINE: none came; LEAT_ABORTED
// with the cause: the transport has failed).
LEAT_MUST_USE leat_status leat_runtime_receive(leat_runtime *runtime, double seconds,
                                               leat_message *out, leat_error *error);

// Ends the step here and on all ranks, whether or not it runs already; the first cause is kept. A
// run that fails does this by itself.
void leat_runtime_abort(leat_runtime *runtime, uint64_t session, uint64_t step, leat_status status,
                        const char *message);

// While on, runs end with LEAT_ABORTED, those in flight behind the kernels that they are in, if
// these are no loops. A signal handler may call it.
void leat_runtime_interrupt(leat_runtime *runtime, bool on);
bool leat_runtime_is_interrupted(const leat_runtime *runtime);

// The name of the node that a run in flight computes, valid as long as it is; NULL: nobody knows. A
// signal handler may ask.
const char *leat_runtime_node(const leat_runtime *runtime);

// What was traced so far, as Chrome trace JSON (pid = rank, tid = thread).
void leat_runtime_trace(leat_runtime *runtime, leat_text *out);

// -- Variables ------------------------------------------------------------------------------------

// A variable is created by the first executor that names it and keeps its dtype and shape. Locking:
// a task that touches variables holds its store's reader-writer lock (for writing when it may
// write one) while it runs, so what one task does is atomic; a store lock is never held while
// waiting for a message, so steps cannot deadlock. Uncontended it costs 20 ns.
LEAT_MUST_USE leat_status leat_store_create(leat_store **out, leat_error *error);
void leat_store_destroy(leat_store *store); // NULL is fine; executors on it must be gone

typedef struct leat_variable_info {
  const char *name, *container;
  leat_dtype dtype;
  int32_t rank;
  int64_t shape[LEAT_MAX_RANK];
  bool initialised, trainable;
} leat_variable_info;

size_t leat_store_count(leat_store *store); // variables; their order is that of creation
void leat_store_info(leat_store *store, size_t i, leat_variable_info *out);
// container NULL: "". LEAT_NOT_FOUND when there is none.
LEAT_MUST_USE leat_status leat_store_find(leat_store *store, const char *container,
                                          const char *name, leat_variable_info *out,
                                          leat_error *error);
// out->data is malloc'ed and the caller's.
LEAT_MUST_USE leat_status leat_store_read(leat_store *store, const char *container,
                                          const char *name, leat_tensor *out, leat_error *error);
// The variable must exist with this dtype and shape; it is initialised then.
LEAT_MUST_USE leat_status leat_store_write(leat_store *store, const char *container,
                                           const char *name, const leat_tensor *value,
                                           leat_error *error);
// The variables that the file has, by name; the others stay as they are. A file that does not fit
// (another dtype or shape, or, unless `partial`, one that is missing) changes nothing.
LEAT_MUST_USE leat_status leat_store_restore(leat_store *store, const leat_data_file *file,
                                             const char *path, bool partial, leat_error *error);
// Every initialised variable. A checkpoint that holds more is replaced only with `overwrite`.
LEAT_MUST_USE leat_status leat_store_save(leat_store *store, const char *path,
                                          const leat_run_counts *runs, bool overwrite,
                                          leat_error *error);
// Whether the file has no variable that the store lacks.
LEAT_MUST_USE leat_status leat_store_check_save(leat_store *store, const char *path,
                                                leat_error *error);

// -- Programs -------------------------------------------------------------------------------------

typedef struct leat_program_source {
  const void *image; // borrowed until the program is destroyed
  size_t size;
  const leat_kernel_function *kernels; // by number; then leat_blis_gemm if a launch is a GEMM
  size_t kernel_count;
  const void *weights; // what files WITHIN lie in; NULL: the image has none
  const char *base; // the directory that relative file names begin at; NULL: the working directory
  const struct leat_control *control;    // of leat_program_open; NULL: all is segments
  const struct leat_file_reader *reader; // of leat_program_open; NULL: the image has no files
  const struct leat_keeper *keeper;      // of leat_program_open; NULL: it has no variables
  void (*release)(void *context); // called when the program is destroyed; NULL: nothing to do
  void *release_context;
} leat_program_source;

// Checks every offset, count, index and formula, and reads the files. Garbage gives an error. On
// failure `release` is not called.
LEAT_MUST_USE leat_status leat_program_load(const leat_program_source *source, leat_program **out,
                                            leat_error *error);
// The same of an image that is linked beside its kernels, which is believed as they are: only its
// version is looked at. leat_program_read_files is to read its files, before the first run.
LEAT_MUST_USE leat_status leat_program_open(const leat_program_source *source, leat_program **out,
                                            leat_error *error);
// What has been read already stays. `base` as above.
LEAT_MUST_USE leat_status leat_program_read_files(leat_program *program, const char *base,
                                                  leat_error *error);
void leat_program_destroy(leat_program *program); // NULL is fine; executors on it must be gone
const leat_image *leat_program_image(const leat_program *program);
const char *leat_program_text(const leat_program *program, leat_text_index index);
// The metadata key of a file of weights beside an artifact: leat_image.beside, in 16 hex digits.
#define LEAT_WEIGHTS_ID "weights.id"
// What goes into leat_image_file.hash; {0, 0} there means unchecked.
void leat_file_hash(const void *data, size_t size, uint64_t out[2]);

typedef struct leat_port_info {
  const char *name;
  leat_dtype dtype;
  int32_t rank;
  int64_t shape[LEAT_MAX_RANK];    // constant dims; -1: known at run time
  const char *dims[LEAT_MAX_RANK]; // of a -1 that is just one named dim its name, else NULL
  bool has_fallback;               // a feed that may be left out
  bool donated;                    // a feed that the step may write to
} leat_port_info;

void leat_port_print(const leat_port_info *port, leat_text *out); // "f32[B, 10]"
// The same of a tensor: "f32[2, 10]".
void leat_tensor_type_print(leat_dtype dtype, int32_t rank, const int64_t *shape, leat_text *out);

// -- Running --------------------------------------------------------------------------------------

typedef struct leat_part {
  const leat_program *program; // borrowed
  leat_store *store;           // borrowed; one store for each device
} leat_part;

typedef struct leat_executor_options {
  uint64_t session; // with the step's number the name of a run, the same on all ranks
  // The rank that holds a device, from its full name; negative: unknown. NULL: all are here.
  int (*route)(void *context, const char *device);
  void *route_context;
} leat_executor_options;

LEAT_MUST_USE leat_status leat_executor_create(leat_runtime *runtime, const leat_part *parts,
                                               size_t count, const leat_executor_options *options,
                                               leat_executor **out, leat_error *error);
void leat_executor_destroy(leat_executor *executor); // NULL is fine; its runs must be released

size_t leat_executor_feed_count(const leat_executor *executor);
size_t leat_executor_fetch_count(const leat_executor *executor);
void leat_executor_feed(const leat_executor *executor, size_t i, leat_port_info *out);
void leat_executor_fetch(const leat_executor *executor, size_t i, leat_port_info *out);
// Whether what is fetched lies in the program, in all runs the same.
bool leat_executor_fetch_is_constant(const leat_executor *executor, size_t i);
size_t leat_executor_dim_count(const leat_executor *executor);
const char *leat_executor_dim(const leat_executor *executor, size_t i);

// Finds the dims' values in the shapes of the feeds (NULL data: its default). dims[i] stays as it
// was where no feed says; initialise with -1. A mismatch names feed, axis, expected and found.
LEAT_MUST_USE leat_status leat_executor_bind(const leat_executor *executor,
                                             const leat_tensor *feeds, int64_t *dims,
                                             leat_error *error);

// A run and its memory from the executor's pool, or a new one; NULL: no memory.
leat_run *leat_run_acquire(leat_executor *executor);
// The values of its runs lie in the client's memory from now on, but those of a size that only the
// run knows; NULL: in its own. 64-byte aligned.
void leat_run_lend(leat_run *run, void *memory, size_t size);
void leat_run_release(leat_run *run); // NULL is fine; what it fetched is invalid then

// Bytes of the memory that the run computes in, as far as it is known before a run.
uint64_t leat_run_memory(const leat_run *run);

typedef struct leat_run_request {
  uint64_t step;            // distinct for the runs of a session that are in flight
  int64_t run_count;        // earlier runs of this entry by this client
  const leat_tensor *feeds; // one for each feed; data NULL: its default. Read during the call
  const int64_t *dims;      // one for each dim, or NULL: bound from the feeds
} leat_run_request;

// Initialises the variables that are not, then runs the step. fetches[i] is filled in; its data is
// valid until the run is executed again or released. One failure fails the step on all ranks; the
// error is the first cause and names device and node or edge.
LEAT_MUST_USE leat_status leat_run_execute(leat_run *run, const leat_run_request *request,
                                           leat_tensor *fetches, leat_error *error);
// Only initialises the variables of the executor's programs.
LEAT_MUST_USE leat_status leat_run_initialise(leat_run *run, leat_error *error);

// Every send of the executor, and what it carried so far.
typedef struct leat_send_info {
  uint32_t edge;
  const char *name;   // the tensor
  const char *device; // that receives it
  int peer;           // its rank; -1: a device of this process
  uint64_t bytes;     // payload so far
  uint64_t count;     // tensors so far
} leat_send_info;

size_t leat_executor_send_count(const leat_executor *executor);
void leat_executor_send(const leat_executor *executor, size_t i, leat_send_info *out);

#endif
