// Small programs for tests: a text with one entry, the tensors to feed it, and how its results are
// compared between targets, devices and ways of compiling.
//
// A program grows a statement at a time (op_calls.h makes statements from the op table). Every
// choice comes from an rng, so a program is its seed; what fails prints its text.
#ifndef LEAT_TESTS_SWEEP_PROGRAMS_H
#define LEAT_TESTS_SWEEP_PROGRAMS_H

#include "base/text.h"
#include "base/vec.h"
#include "leat/leat.h"

// -- Random choices ------------------------------------------------------------------------------

typedef struct rng {
  uint64_t state;
} rng;

uint64_t rng_next(rng *r);
int64_t rng_below(rng *r, int64_t n); // 0 … n - 1
bool rng_percent(rng *r, int percent);
#define RNG_PICK(r, array) (array)[rng_below((r), (int64_t)(sizeof(array) / sizeof *(array)))]
uint64_t test_seed(void); // $LEAT_TEST_SEED, else a constant

// -- Programs ------------------------------------------------------------------------------------

// The run-time dims of every program: N0, N1 may be 0; P0, P1 are at least 1; B is large at times.
enum { DIM_N0, DIM_N1, DIM_P0, DIM_P1, DIM_B, DIM_NAMES, DIM_CONST = -1 };

// times × the named dim + plus.
typedef struct test_dim {
  int name;
  int64_t times, plus;
} test_dim;

typedef enum test_match {
  MATCH_BITS,         // of NaNs too: what only moves
  MATCH_VALUES,       // any NaN is like any other
  MATCH_ULPS,         // `tolerance` in units of the last place
  MATCH_ULPS_OF_1,    // likewise, but those of 1 where the value is smaller
  MATCH_NEAR,         // `tolerance` as a difference
  MATCH_LARGEST,      // `tolerance` as a share of the largest number of the tensor
  MATCH_COMPLEX,      // ulps of the magnitude
  MATCH_ULPS_FLUSHED, // these two with no ulp below the least normal number
  MATCH_COMPLEX_FLUSHED,
} test_match;

double test_unit(leat_dtype dtype); // in the last place of 1

typedef struct test_value {
  char name[16];
  leat_dtype dtype;
  int rank;
  test_dim dims[LEAT_MAX_RANK];
  double bound, error; // of a smooth program: the largest magnitude, and how far targets may differ
  bool is_input, used; // by a statement
  const char *label;   // what it is, for messages
  int op;              // of the statement that gives it
  test_match match;    // of its values on different targets
  double tolerance;
} test_value;

typedef enum test_fill {
  FILL_ANY,   // special values, small ones, any bits
  FILL_PLAIN, // finite, of magnitudes whose sums round
  FILL_UNIT,  // -1 to 1
  FILL_INDEX, // 0 to limit - 1
  FILL_NEAR,  // -2 to limit + 1
} test_fill;

typedef struct test_input {
  test_value value;
  test_fill fill;
  test_dim limit;
} test_input;

typedef struct test_result {
  test_value value;
  int group; // the caller's: which case it belongs to
} test_result;

typedef struct test_pages {
  void *memory;
  size_t size;
} test_pages;

typedef struct program {
  leat_arena *arena;
  rng random;
  leat_text declarations, body;
  leat_vec(test_input) inputs;
  leat_vec(test_value) values; // inputs and results of statements
  leat_vec(test_result) results;
  leat_vec(test_pages) pages; // of feeds
  leat_status expected;       // of a run, but for what `shrunk` says
  bool shrinks;               // a run in which the dim `shrunk` is negative ends with an error
  test_dim shrunk;
  int64_t dims[DIM_NAMES]; // the values of the next run
  bool bound[DIM_NAMES];   // an input binds it

  // How statements are made.
  bool symbolic;         // shapes have run-time dims
  bool reuse;            // operands are values that there are, where any fits
  bool smooth;           // only ops that keep small differences small
  bool aliased;          // a call's operands are one value, where any fits, in memory of its own
  int64_t most_elements; // of operands; less than 1000: and no dim is B
  int64_t sizes[4];      // what constant dims are, unless they are 0
  bool flushes;          // subnormals are zero; else they are kept. By the seed
  int group;
} program;

void program_init(program *p, uint64_t seed);
void program_finish(program *p);
// Adds a parameter to the entry. `limit` matters to FILL_INDEX and FILL_NEAR.
test_value program_input(program *p, leat_dtype dtype, int rank, const test_dim *dims,
                         test_fill fill, test_dim limit);
// A run-time dim is bound where it stands alone: sees to it that a parameter does so.
void program_bind(program *p, test_dim dim);
// A random shape; `nonempty`: of no dim that is or may be 0. Returns the rank.
int program_shape(program *p, int least_rank, int most_rank, bool nonempty, test_dim *out);
void program_fetch(program *p, const test_value *value);
// Chooses values of the run-time dims for the next run.
void program_choose_dims(program *p);
leat_status program_expected(const program *p);  // of that run
const char *program_denormals(const program *p); // as the option says it
// In the program's arena. `spread`: every other statement is on the second device.
char *program_text(const program *p, bool spread);
// Fills new tensors for all inputs, which belong to the program. Whoever reads or writes behind
// what they hold is stopped by the system.
leat_tensor *program_feeds(program *p);

test_dim dim_const(int64_t value);
bool dim_same(test_dim a, test_dim b);
bool dim_is(test_dim dim, int64_t value);
bool dim_is_positive(test_dim dim); // whatever the run-time dims are
int64_t dim_value(const program *p, test_dim dim);
int64_t dim_most(test_dim dim); // the largest that it may be
void test_dim_print(test_dim dim, leat_text *out);
void test_type_print(const test_value *value, leat_text *out); // f32[N0, 3]

// -- Running -------------------------------------------------------------------------------------

// A way of compiling and running a program.
typedef struct test_way {
  const char *name;
  leat_session_options options;
  bool spread;  // over two devices
  bool alone;   // each statement a step of its own; of programs without run-time dims
  bool least;   // in the least memory: what can be made again is not kept
  bool donates; // the feeds, each run a copy of its own
} test_way;

// A program prepared in a session of its own.
typedef struct prepared {
  const program *program;
  leat_session *session;
  leat_step *step; // NULL: each statement has its own
  leat_text said;  // what print nodes said
  leat_text log;   // dumps
  bool donates;
} prepared;
extern int prepared_donated; // results that were made in a feed so far

// The callbacks and the cache of the way's options are ours. On failure prepared_message says why;
// close it too.
leat_status prepared_open(prepared *out, const program *p, const test_way *way);
// out: one tensor a result, whose data is the caller's to release.
leat_status prepared_run(prepared *run, const leat_tensor *feeds, leat_tensor *out);
// The same, a step a statement (program_alone.c).
leat_status program_run_alone(prepared *run, const leat_tensor *feeds, leat_tensor *out);
const char *prepared_message(const prepared *run);
void prepared_close(prepared *run);

leat_tensor *tensors_create(size_t count);
void tensors_destroy(leat_tensor *tensors, size_t count);

// Runs the program all ways, `rounds` times each, on feeds and run-time dims that are chosen anew
// for each round. All must end with the status p->expected, and say and give what ways[0] does.
// Otherwise `why` says how they do not. LEAT_OK: they agree. LEAT_MISMATCH: results differ, of the
// groups that are marked in `wrong` (NULL: not wanted). Other: a way failed, or did not fail.
leat_status program_agrees(program *p, const test_way *ways, int way_count, int rounds,
                           leat_text *why, bool *wrong);

// -- Comparing -----------------------------------------------------------------------------------

// Of what was computed while subnormals are zero: those that only moved become zeros, as another
// target may have made of them, and no error below the least normal number counts as more than 1.
void tensor_flush(leat_tensor *tensor);
test_match match_flushed(test_match match);
// False: adds the first difference, with both values, to `why`.
bool tensor_matches(const leat_tensor *want, const leat_tensor *got, test_match match,
                    double tolerance, leat_text *why);
// How far element i of a tensor of the same type is away, in what `match` counts in.
double tensor_distance(const leat_tensor *want, const leat_tensor *got, int64_t i,
                       test_match match);

#endif
