// The session API: build a graph from text, prepare a step, run it many times (white paper, section
// 2).
//
//     leat_session *s;
//     leat_step *step;
//     leat_session_create(&(leat_session_options){0}, &s);
//     const char *text = "entry f(a: f32[], b: f32[]) -> (y: f32[]) { y = a + b }";
//     leat_session_extend(s, text, 0, "f.leat");
//     leat_step_spec spec = {.entries = (const char *[]){"f"}, .entry_count = 1};
//     leat_session_prepare(s, &spec, &step);
//     float a = 1, b = 2;
//     leat_tensor feeds[] = {{LEAT_f32, 0, {0}, &a}, {LEAT_f32, 0, {0}, &b}}, y;
//     leat_step_run(step, feeds, &y); // *(float *)y.data == 3
//     leat_step_destroy(step);
//     leat_session_destroy(s);
//
// A failing call leaves the session as it was; leat_session_message says why, with the place in the
// text. A call that makes no sense (NULL, what was destroyed, a dtype or rank that is none) answers
// LEAT_INVALID and changes nothing; one that returns no status gives 0, NULL or nothing. Memory
// that runs out is LEAT_MEMORY; a restore, or a step, may have written some variables by then.
//
// Threads: a session and its steps are used by one thread at a time, any one; so is what they gave
// out. Different sessions are used by any threads at once. leat_session_interrupt may be called by
// any thread, and by a signal handler, at any time between the session's creation and its end. The
// functions of dtype.h and status.h depend on nothing.
#ifndef LEAT_H
#define LEAT_H

#include "leat/dtype.h"
#include "leat/status.h"

#ifdef __cplusplus
extern "C" {
#endif

#define LEAT_VERSION "0.1.0"

typedef struct leat_session leat_session;
typedef struct leat_step leat_step;
typedef struct leat_results leat_results;

typedef struct leat_setting {
  const char *name, *value;
} leat_setting;

typedef struct leat_session_options {
  const char *cluster; // "ps=1,worker=2"; NULL: this process is every job
  int devices;         // virtual CPU devices of this process; 0: 1
  const char *target;  // "cpu" (default), "c", "ref"
  int threads;         // 0: cores / ranks on this host
  const char *cpu;     // instruction set: "host" (default), "x86-64", "x86-64-v2", "x86-64-v3", …
  bool blis;           // BLIS carries plain dense matmuls
  bool symbolic;       // do not specialise to the dims' values
  const char *cache;   // "off", or a directory; NULL: the user's
  const char *dump_after; // stages separated by commas, or "all": passes, fuse, schedule, plan,
                          // lower, image, code, asm
  const char *stop_after; // a stage
  bool time_passes;
  void (*log)(void *context, const char *text); // dumps and timings; NULL: dropped. Called by the
                                                // thread that calls the session
  void *log_context;
  void (*print)(void *context,
                const char *text); // what print nodes say, a line a call; NULL: dropped. Called by
                                   // any thread of the step, one at a time
  void *print_context;
  bool interactive;             // a REPL: a top-level name may be bound again, the newest wins
  const leat_setting *settings; // graph parameters (--set)
  int setting_count;
  const char *path; // folders between `:` where `use` looks after the text's own; then $LEAT_PATH
  bool trace;       // keep trace rings (see leat_session_trace)
  // Seconds that a Run may take; 0: any number. Then it ends with LEAT_DEADLINE, and the variables
  // are as before it, for which those that it writes are copied. Of a cluster: seconds that it may
  // wait for others without progress; 0: 60.
  double deadline;
  int memory_limit; // MiB that the values of a step may take on each device; 0: any number
  bool overwrite;   // leat_session_save may replace any checkpoint
  // Subnormal numbers (denormals) of f32 and f64 are "zero" (default) to what computes with them,
  // and so are results that would be such, or "keep": they are numbers like others, and slow.
  const char *denormals;
  // "fast" (default): sums may be made in an order, or by a method, of their own where that gains;
  // "strict": each is the one that its op's meaning says, as `ref` computes it.
  const char *numerics;
  const void *reserved[LEAT_RESERVED - 2];
} leat_session_options;

// *out is valid (for leat_session_message and leat_session_destroy) even on failure; NULL when
// there is no memory even for that.
LEAT_MUST_USE leat_status leat_session_create(const leat_session_options *options,
                                              leat_session **out);
// With its steps. NULL is fine.
void leat_session_destroy(leat_session *session);
// What went wrong last (and warnings), as text for people; "" when all is well. Valid until the
// next call.
const char *leat_session_message(const leat_session *session);
// The same one by one, for a program that shows it in its own way: in the order of the message, a
// note behind what it belongs to. A failing step's is the place of what failed. 0 and NULL when all
// is well. Valid until the next call.
int leat_session_problem_count(const leat_session *session);
const leat_problem *leat_session_problem(const leat_session *session, int i);

// Adds text to the graph; size 0: strlen. `name` is shown in messages and is what `load` and `use`
// are relative to. An entry with errors, beside others that have none, does not stop the text: who
// prepares that entry gets its errors, who prepares another a warning.
LEAT_MUST_USE leat_status leat_session_extend(leat_session *session, const char *text, size_t size,
                                              const char *name);
LEAT_MUST_USE leat_status leat_session_extend_file(leat_session *session, const char *path);

int leat_session_entry_count(const leat_session *session);
const char *leat_session_entry(const leat_session *session, int i);
bool leat_session_entry_trains(const leat_session *session, int i); // it is `training`
// For a REPL, of the last text at top level: the names to fetch of its expression statements, those
// to run of its statements with an effect, and the values that were decided while compiling, as
// text ("" when there are none). Valid until the next extend.
int leat_session_shown_count(const leat_session *session);
const char *leat_session_shown(const leat_session *session, int i);
int leat_session_effect_count(const leat_session *session);
const char *leat_session_effect(const leat_session *session, int i);
const char *leat_session_shown_text(const leat_session *session);
// What the last text at top level runs: `train(lr=0.1)`, `a, b = predict(x)`. Its feeds are to be
// fetched first; then the entry is run, and its results are held under the targets' names.
typedef struct leat_entry_run {
  const char *entry;        // NULL: the last text runs none
  const char *const *feeds; // by parameter: the name to fetch its value by; NULL: its default
  int feed_count;
  const char *const *targets; // names for the results; NULL: of no interest
  int target_count;           // 0: no name is bound
} leat_entry_run;
// Valid until the next extend.
const leat_entry_run *leat_session_entry_run(const leat_session *session);
// Binds a name at top level to a value, which later texts use; the newest wins. The value is
// copied, and fed to every step that needs it, until the session ends.
LEAT_MUST_USE leat_status leat_session_hold(leat_session *session, const char *name,
                                            const leat_tensor *value);
// The documentation and head of a function that the session's texts define, malloc'ed; NULL: none.
char *leat_session_describe(const leat_session *session, const char *name);
// The same of what Leat itself has: an op, a function of the library, one of compile time.
char *leat_describe(const char *name);
// For a program that completes what somebody types: the names that there are, one a call of `take`.
typedef enum leat_name_kind {
  LEAT_NAMES,      // that mean something at top level
  LEAT_PATHS,      // of state and nodes that a text can use: "net/hidden/w"
  LEAT_FETCHES,    // what can be fetched, as is said within the entry `of` (NULL: in none)
  LEAT_PARAMETERS, // of the function, op or entry called `of`
  LEAT_STAGES,     // of compiling
} leat_name_kind;
void leat_session_names(leat_session *session, leat_name_kind kind, const char *of,
                        void (*take)(void *context, const char *name), void *context);
// The whole graph as canonical text; the caller frees *out.
LEAT_MUST_USE leat_status leat_session_print(leat_session *session, char **out);

// What a Run executes: entries in order (their results are fetched first), then names to fetch,
// then names to run only. Feeds: the parameters of the entries come first, in order; then the names
// in `feeds` that are not among them.
typedef struct leat_step_spec {
  const char *const *entries;
  int entry_count;
  const char *const *feeds; // further edges to feed, by any of their names: "net/h", "train/h:0"
  int feed_count;
  const char *const *fetches; // further edges or variables to fetch; in a loop: of the last
                              // iteration, "train/t/z:all" of all
  int fetch_count;
  const char *const *runs;
  int run_count;
  const char *within; // where `entries` is empty: the entry that short names are of, of which only
                      // what is fetched is computed; NULL: of the graph's only one
  // Feeds, by the names of the step's ports, whose memory is given to the step: it may make
  // results, and values in between, in it. See leat_step_run.
  const char *const *donated;
  int donated_count;
  const void *reserved[LEAT_RESERVED - 2];
} leat_step_spec;

// *out is NULL when all is well but `stop_after` ended the compilation.
LEAT_MUST_USE leat_status leat_session_prepare(leat_session *session, const leat_step_spec *spec,
                                               leat_step **out);
void leat_step_destroy(leat_step *step);
// Changes these two options for what is prepared from now on; NULL: nothing is dumped, all is
// compiled.
LEAT_MUST_USE leat_status leat_session_set_dumps(leat_session *session, const char *dump_after,
                                                 const char *stop_after);

// Changes `deadline` for what runs from now on. A process of a cluster has that which it began
// with: LEAT_UNSUPPORTED.
LEAT_MUST_USE leat_status leat_session_set_deadline(leat_session *session, double seconds);

typedef struct leat_port {
  const char *name;
  leat_dtype dtype;
  int rank;
  const char *type;  // "f32[B, 10]"
  bool has_fallback; // a feed that may be left out: data NULL
  bool donated;      // a feed that the step may write to
} leat_port;

int leat_step_feed_count(const leat_step *step);
int leat_step_fetch_count(const leat_step *step);
const leat_port *leat_step_feed(const leat_step *step, int i);
const leat_port *leat_step_fetch(const leat_step *step, int i);

// Runs once. feeds[i].data is read during the call; a feed with data NULL takes its default.
// fetches[i] is filled in; its data belongs to the step and is valid until its next run or its end.
// A donated feed lies in memory that the caller can write to and that no other feed overlaps
// (LEAT_INVALID). A result may lie there afterwards, fetches[i].data == feeds[k].data: it is the
// caller's then, as long as that memory is there, and may be donated to the next run. Where none
// does, and where the run has failed, what is there means nothing. What comes unaligned is copied
// first, and stays as it is.
LEAT_MUST_USE leat_status leat_step_run(leat_step *step, const leat_tensor *feeds,
                                        leat_tensor *fetches);

// Takes over what the last run has fetched: the data stays where it is, as it is, until *out is
// released, and the step's next run computes in other memory. All that the run computed in is kept
// so long, leat_step_memory bytes; whoever wants a small part of it for long had better copy that.
LEAT_MUST_USE leat_status leat_step_take(leat_step *step, leat_results **out);
uint64_t leat_step_memory(const leat_step *step);
// Whether fetch i of the last run is a constant of the program or of a file, which nobody may write
// to; a taken one lives as long as the results.
bool leat_step_is_constant(const leat_step *step, int i);
// NULL is fine, and so are results whose step is destroyed, which released them. Any thread may
// call it while another uses the step, but not while one destroys it.
void leat_results_release(leat_results *results);

// While on, calls of this session that read a text, compile or run end soon with LEAT_ABORTED: a
// text between its statements and calls, a compilation between passes and kernels, a step between
// kernels, or the parts of a long one; what it did to variables until then is done, as when a step
// fails. Any thread and any signal handler may call it. Off lets the session work again.
void leat_session_interrupt(leat_session *session, bool on);

// Variables by name ("net/hidden/w"); the data of `out` is the caller's to free().
int leat_session_variable_count(const leat_session *session);
const char *leat_session_variable(const leat_session *session, int i);
// The variable that it is an optimiser's slot of; NULL: it is none.
const char *leat_session_slot_of(const leat_session *session, int i);
LEAT_MUST_USE leat_status leat_variable_read(leat_session *session, const char *name,
                                             leat_tensor *out);
LEAT_MUST_USE leat_status leat_variable_write(leat_session *session, const char *name,
                                              const leat_tensor *value);
// Every initialised variable, and how often entries had run, to and from a safetensors file. A
// checkpoint with variables that have no value here, or of a later global_step, is not replaced,
// unless the option `overwrite` says so. leat_session_check_save tells before the work what is
// known then: whether the file can be written, and its variables are the graph's. A file that is
// damaged (it has checksums), or that lacks a variable which had a value when it was saved,
// restores nothing; a partial restore takes what there is of a whole file, with a warning.
LEAT_MUST_USE leat_status leat_session_check_save(leat_session *session, const char *path);
LEAT_MUST_USE leat_status leat_session_save(leat_session *session, const char *path);
LEAT_MUST_USE leat_status leat_session_restore(leat_session *session, const char *path);
LEAT_MUST_USE leat_status leat_session_restore_partial(leat_session *session, const char *path);

// In a cluster of several processes one is the client: only it reads texts and runs steps. The
// others serve it until it ends (leat_session_serve returns then). Alone, a process is the client.
bool leat_session_is_client(const leat_session *session);
LEAT_MUST_USE leat_status leat_session_serve(leat_session *session);
// What every process has sent to others so far, a line a tensor and a line for control bytes; the
// caller frees *out.
LEAT_MUST_USE leat_status leat_session_traffic(leat_session *session, char **out);

// What the runtime did since the session began, as Chrome trace JSON; the caller frees *out.
LEAT_MUST_USE leat_status leat_session_trace(leat_session *session, char **out);

#ifdef __cplusplus
}
#endif

#endif
