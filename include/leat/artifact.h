// The compiled artifact: what the compiler hands to the runtime, the same for JIT, disk cache and
// ahead-of-time objects.
//
// One device's part of a step is an *image*, a flat, position-independent, versioned block of
// little-endian records that can be mapped from a file or linked into .rodata, and an array of
// kernel entry points. The runtime checks every offset once (leat_program_load) and then runs it in
// place.
//
// An image holds tables. A *table* is a set of tasks that become ready by dependency count (white
// paper 3.1, at the grain of segments): table 0 is the step; others initialise a variable, or are
// run by a *region*, which is a branch or a loop. A *task* is a segment (launches in order, run by
// a gang of threads), an operation that may wait (send, recv) or that only the host can do (print,
// bind a dim), or a region. A region in which nothing waits may also stand among the launches of a
// segment.
#ifndef LEAT_ARTIFACT_H
#define LEAT_ARTIFACT_H

#include "leat/dtype.h"
#include "leat/status.h"

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define LEAT_IMAGE_MAGIC "leatimg"
enum { LEAT_IMAGE_VERSION = 24 };

// -- Kernels -------------------------------------------------------------------------------------

typedef union leat_arg {
  void *pointer;
  int64_t value;
} leat_arg;

typedef struct leat_string_heap leat_string_heap; // memory for what a kernel makes; opaque to it

// One call of a kernel: each thread that runs some of a launch's tiles has its own, so what made it
// fail stays with it.
typedef struct leat_call {
  int64_t value;    // the number that compiled code failed on
  const char *says; // why a function of libleat_rt failed; NULL: it does not say
  leat_string_heap *heap;
  const volatile bool *ends; // set when the run is to end: a kernel with a long loop looks at it
} leat_call;

// Runs tiles [tile_begin, tile_end), in this order, up to one that fails. args: the buffers, then
// the scalars. Returns 0, or site << 8 | leat_status, or LEAT_ABORTED when the call says that the
// run is to end.
typedef int32_t (*leat_kernel_function)(leat_call *call, const leat_arg *args, int64_t tile_begin,
                                        int64_t tile_end);

// Memory for strings that a kernel makes, for as long as anybody may need them; any thread may ask.
// NULL: there is none.
void *leat_string_heap_allocate(leat_string_heap *heap, uint64_t size);

// Says what makes the call fail, as part of the step's error. Returns the status.
int32_t leat_call_explain(leat_call *call, leat_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

// The functions of libleat_rt that steps call like kernels, and those of modules.
#define LIBRARY(name)                                                                              \
  int32_t leat_library_##name(leat_call *call, const leat_arg *args, int64_t tile_begin,           \
                              int64_t tile_end);
#define FOREIGN(module, name)                                                                      \
  int32_t leat_##module##_##name(leat_call *call, const leat_arg *args, int64_t tile_begin,        \
                                 int64_t tile_end);
#include "leat/library.def"

// c = a · b as BLIS computes it (LEAT_LAUNCH_GEMM): row-major matrices of f32 or f64, `batch` of
// each one after the other.
typedef struct leat_gemm {
  leat_dtype dtype;
  void *c;           // m × n
  const void *a, *b; // m × k and k × n; transposed k × m and n × k
  int64_t m, n, k, batch;
  bool transpose_a, transpose_b;
} leat_gemm;

// A tile of a product: down a matrix first, then across it, then on to the next one; less at the
// edges.
enum { LEAT_GEMM_ROWS = 256, LEAT_GEMM_COLUMNS = 512 };

typedef int32_t (*leat_gemm_function)(const leat_gemm *gemm, int64_t tile_begin, int64_t tile_end);

// The one there is, of the module leat-blis and of libleat_blis. It stands behind the last kernel
// in the array of entry points of an image that launches it.
int32_t leat_blis_gemm(const leat_gemm *gemm, int64_t tile_begin, int64_t tile_end);

// -- The image -----------------------------------------------------------------------------------

// `count` records at byte `offset` of the image; 8-byte aligned.
typedef struct leat_range {
  uint64_t offset;
  uint64_t count;
} leat_range;

// An index into `text`: a NUL-terminated UTF-8 string. 0 is "".
typedef uint32_t leat_text_index;

// What an error names: a node, a feed or a variable, and "file:line:column" in the user's text, or
// the node of a model file (leat_diag_place); "" where that is not known, or nothing fails.
typedef struct leat_image_origin {
  leat_text_index name, place;
} leat_image_origin;

// Numbers known only when the dims are: with code_count 0 the constant `value`; else a program in
// reverse Polish notation, `code_count` words from `code`[code_first].
typedef struct leat_formula {
  int64_t value;
  uint32_t code_first, code_count;
} leat_formula;

// Words of formula code: the operation in the low 8 bits, for PUSH and DIM the operand in the rest
// (signed, shifted by 8).
enum leat_formula_op {
  LEAT_FORMULA_PUSH, // a constant
  LEAT_FORMULA_DIM,  // the value of dim number n
  LEAT_FORMULA_ADD,
  LEAT_FORMULA_MUL,
  LEAT_FORMULA_FLOORDIV, // rounds down; by zero is an error
  LEAT_FORMULA_MAX,
};

typedef struct leat_image_dim {
  leat_text_index name;
  uint32_t reserved;
  int64_t low, high; // bounds, inclusive
} leat_image_dim;

// dtype and shape of something: rank formulas from formulas[shape_first].
typedef struct leat_image_type {
  uint32_t dtype, rank;
  uint32_t shape_first;
  uint32_t reserved;
} leat_image_type;

// A tensor of str in `data`, from byte `where`: `count` elements, whose pointers are offsets into
// `data`. Program loading makes pointers of them. In the order of the places, none overlapping.
typedef struct leat_image_strings {
  uint64_t where, count;
} leat_image_strings;

// A block of memory of formulas[size] bytes, allocated as soon as all dims in it are known: arena 0
// when the step begins, the others when the last of their dims was bound. Of a region's table that
// a claim refuses nothing is allocated. A *piece* has no memory of its own: it lies in another
// arena, at byte formulas[where], until a launch ROTATE gives it the place of another piece.
typedef struct leat_image_arena {
  uint32_t size;
  uint32_t table;  // 0: the step's; of a piece that of the arena it lies in
  uint32_t within; // of a piece: arenas[within - 1], which is none; 0: it is no piece
  uint32_t where;
} leat_image_arena;

typedef enum leat_buffer_kind {
  LEAT_BUFFER_ARENA,     // at byte formulas[where] of arenas[arena]
  LEAT_BUFFER_VARIABLE,  // variable number `where`
  LEAT_BUFFER_FEED,      // feed number `where`: the client's memory; several may be one feed
  LEAT_BUFFER_CONSTANT,  // at byte `where` of the range `data`
  LEAT_BUFFER_FILE,      // file tensor number `where`
  LEAT_BUFFER_RUN_COUNT, // i64: earlier runs of this entry by this client
  LEAT_BUFFER_GROWN,     // what was last put into growing memory number `where`
  LEAT_BUFFER_PREPARED,  // prepared value number `where`
} leat_buffer_kind;

// Memory of a size that is known when something is put into it (GROW, APPEND), for what a loop
// carries or a branch gives.
typedef struct leat_image_grown {
  uint32_t dtype, rank;
} leat_image_grown;

// A dim that then has the extent of an axis of what is in growing memory.
typedef struct leat_image_extent {
  uint32_t dim, grown, axis;
} leat_image_extent;

typedef struct leat_image_buffer {
  uint32_t kind;
  uint32_t arena; // ARENA: which one
  uint64_t where;
  leat_image_type type;
} leat_image_buffer;

typedef struct leat_image_kernel {
  leat_text_index
      symbol;            // unique in the image; "k_<hash of the text>" or a function of library.def
  leat_text_index title; // for people: "relu(matmul+bias)"
} leat_image_kernel;

typedef struct leat_image_arg {
  uint32_t is_scalar; // 0: buffer number `index`; 1: formulas[index]
  uint32_t index;
} leat_image_arg;

// Where a kernel can fail.
typedef struct leat_image_site {
  leat_image_origin node;
  leat_text_index says;          // why; each %lld is a number: leat_call's value, then …
  uint32_t arg_first, arg_count; // … these scalars
} leat_image_site;

// What must hold of dims. It is looked at when all of its dims have a value, before memory is sized
// by them; a `room` below 0 ends the step, of a region's table when that begins.
typedef struct leat_image_claim {
  leat_image_origin node;
  leat_text_index says;          // why; each %lld is one of …
  uint32_t room;                 // formulas[room]
  uint32_t arg_first, arg_count; // … these scalars
  uint32_t table;                // whose; 0: the step's
} leat_image_claim;

typedef enum leat_launch_kind {
  LEAT_LAUNCH_KERNEL,
  LEAT_LAUNCH_COPY, // buffer args[0] = buffer args[1], whole. Strings come with their bytes into a
                    // variable, which owns them, and out of one; kernels take no such buffer
  LEAT_LAUNCH_GEMM, // BLIS: c = a · b: args c, a, b, then scalars m, n, k, transpose_a,
                    // transpose_b, batch
  LEAT_LAUNCH_ROTATE, // the arenas of the buffers args, all pieces and as large as each other,
                      // change places: each has then what the next one had, the last what the
                      // first had
  // A region, each of whose tables is empty or one SEGMENT. They have no arguments; tiles and work
  // are those of the launches inside.
  LEAT_LAUNCH_IF,
  LEAT_LAUNCH_WHILE,
} leat_launch_kind;

static inline bool leat_launch_has_region(uint32_t kind) {
  return kind == LEAT_LAUNCH_IF || kind == LEAT_LAUNCH_WHILE;
}

typedef struct leat_image_launch {
  uint32_t kind;
  union {
    uint32_t kernel; // KERNEL
    uint32_t region; // IF, WHILE
  };
  uint32_t arg_first, arg_count;
  uint32_t tiles;                  // formulas[tiles]
  uint32_t work;                   // formulas[work]: estimated nanoseconds on one core, all tiles
  uint32_t site_first, site_count; // sites[…], by the numbers that its kernel returns
  leat_image_origin node;          // that it computes last
} leat_image_launch;

// What one launch makes of variables that no task of the step writes, of constants and of files
// alone, in the same way in each run: it is kept beside the device's variables, for all steps that
// need the same, and the launch is left out unless one of these variables was assigned since. What
// reads it runs behind the launch. The launch is of a KERNEL, whose first argument is the value's
// buffer.
typedef struct leat_image_prepared {
  uint32_t launch;
} leat_image_prepared;

// What the range [first, first + count) of a task is one of.
typedef enum leat_task_range {
  LEAT_RANGE_LAUNCHES,
  LEAT_RANGE_MESSAGE, // one
  LEAT_RANGE_ARGS,    // buffers
  LEAT_RANGE_REGION,  // one
} leat_task_range;

// X(kind, the op that becomes such a task by itself, its range). SEND hands its message's buffer to
// the edge, RECV waits for the edge's tensor and fills it. PRINT shows its buffers behind
// `message`. BIND gives `dim` the i64 in its buffer; what needs the dim depends on this task. Of an
// ASSERT all of the bools in the first buffer must be true, else the step fails with `message` and
// with what the others hold there.
#define LEAT_OP_TASKS(X)                                                                           \
  X(SEND, send, MESSAGE)                                                                           \
  X(RECV, recv, MESSAGE)                                                                           \
  X(PRINT, print, ARGS)                                                                            \
  X(BIND, bind, ARGS)                                                                              \
  X(ASSERT, assert, ARGS)
// What many ops become together is a segment, run by a gang of threads; the ops that hold bodies
// become tasks or launches. GROW puts its buffer into the growing memory `grown`, APPEND behind
// what is there, along axis 0. ROWS is a loop whose launches append themselves: its first table
// runs it as long as there is room, and again when there is more.
#define LEAT_TASKS(X)                                                                              \
  X(SEGMENT, segment, LAUNCHES)                                                                    \
  X(GROW, grow, ARGS)                                                                              \
  X(APPEND, append, ARGS)                                                                          \
  X(IF, conditional, REGION)                                                                       \
  X(WHILE, while_loop, REGION)                                                                     \
  X(ROWS, rows, REGION)                                                                            \
  LEAT_OP_TASKS(X)

typedef enum leat_task_kind {
#define X(kind, op, range) LEAT_TASK_##kind,
  LEAT_TASKS(X)
#undef X
      LEAT_TASK_COUNT
} leat_task_kind;

static inline leat_task_range leat_task_range_of(uint32_t kind) {
  static const leat_task_range ranges[LEAT_TASK_COUNT] = {
#define X(kind, op, range) LEAT_RANGE_##range,
      LEAT_TASKS(X)
#undef X
  };
  return ranges[kind];
}

typedef struct leat_image_task {
  uint32_t kind;
  uint32_t first, count;                     // of the kind's range
  uint32_t dependencies;                     // how many tasks name this one as successor
  uint32_t successor_first, successor_count; // successors[…]: task numbers, relative to the table
  leat_image_origin node;                    // of traces and errors
  union {
    leat_text_index message; // PRINT, ASSERT
    uint32_t dim;            // BIND
    uint32_t grown;          // GROW, APPEND
  };
} leat_image_task;

typedef struct leat_image_table {
  uint32_t task_first, task_count;
  uint32_t extent_first, extent_count; // of a region's: bound each time that it begins
} leat_image_table;

// A branch or a loop; which, says the one task or launch that runs it. Its tables are its own, and
// their numbers are greater than that of the table which it stands in. The predicate is one bool.
typedef struct leat_image_region {
  uint32_t predicate; // buffer
  uint32_t tables[2]; // IF: run when it is true, when it is false. WHILE: what computes it, and
                      // what is run, before the first again, as long as it is true. ROWS: what is
                      // run, again as long as it is true, then there is no room; nothing
  uint32_t carried_first, carried_count; // args[…]: buffers, in arenas or growing, of the strings
                                         // that a loop carries; what else of str its tables make
                                         // nobody needs when the predicate is computed
  uint32_t extent_first, extent_count;   // bound when it has run, in the table that it stands in
  uint32_t rows_first, rows_count;       // of ROWS: rows[…]
} leat_image_region;

// Growing memory that launches append to: while they run it has more rows, as the extents of their
// table say, than are there, which is the i64 in the buffer `count`.
typedef struct leat_image_rows {
  uint32_t grown, count;
} leat_image_rows;

// Turns of a loop, about whose number nothing is known, in estimates of its work.
enum { LEAT_ROUNDS = 16 };

typedef struct leat_image_message {
  uint32_t edge; // the same number on both ends
  uint32_t buffer;
  uint32_t lag; // of a recv of bools that nobody reads: its task is complete when all but the last
                // so many have come that it has asked for in the run
  leat_text_index peer; // full device name of the other end
  leat_text_index name; // the tensor: "train/h:0"
} leat_image_message;

typedef struct leat_image_variable {
  leat_image_origin origin;
  leat_image_type type;
  leat_text_index container;
  uint32_t table; // the table that initialises it; 0: none (must have been restored)
  uint32_t
      flags; // 1: trainable · 2: some task of table 0 writes it · 4: initial value at data[initial]
  uint32_t reserved;
  uint64_t initial;
} leat_image_variable;

// Feeds and fetches stand in the order of the step's request: of an entry that of its declaration.
// Behind the feeds of the request come parameters of other entries, which have fallbacks, and what
// the session holds.
typedef struct leat_image_feed {
  leat_image_origin origin;
  uint32_t has_fallback; // 1: when not fed, the bytes at data[fallback]
  uint32_t donated;      // 1: it may be written to, and what is fetched of it is not copied
  uint64_t fallback;
  leat_image_type type; // dims bind or check against it
} leat_image_feed;

typedef struct leat_image_fetch {
  leat_text_index name;
  uint32_t buffer;
} leat_image_fetch;

typedef enum leat_file_kind {
  LEAT_FILE_NAMED,  // in the data file `file`, relative to where the program is run, or is told
  LEAT_FILE_WITHIN, // at byte `where` of the weights that the artifact holds
  LEAT_FILE_BESIDE, // in the data file `file`, in the folder of the executable or shared object
} leat_file_kind;

// A tensor of a data file (of an npy: name ""), known when the program is loaded.
typedef struct leat_image_file {
  uint32_t kind;
  leat_text_index file, name;
  uint32_t reserved;
  uint64_t size;    // of the whole file, checked; 0: any
  uint64_t hash[2]; // of the tensor's bytes, checked when the file is not the compiler's own
  uint64_t where;   // WITHIN: a multiple of 64
  leat_image_type type;
} leat_image_file;

// Of an artifact: an entry whose runs are counted. run_count() is the count of the first.
typedef struct leat_image_entry {
  leat_text_index name;
  uint32_t completes; // 1: a run of the step is one of the entry
  uint64_t runs;      // before the first here
} leat_image_entry;

// Of an artifact: a variable that `leat build --vars` made a constant.
typedef struct leat_image_frozen {
  leat_text_index name;
  uint32_t reserved;
  uint64_t checksum; // of its dtype, shape and value
} leat_image_frozen;

// X(range of the image, type of its records). `data` is 64-byte aligned.
#define LEAT_IMAGE_RANGES(X)                                                                       \
  X(text, char)                                                                                    \
  X(data, uint8_t)                                                                                 \
  X(strings, leat_image_strings)                                                                   \
  X(code, int64_t)                                                                                 \
  X(formulas, leat_formula)                                                                        \
  X(dims, leat_image_dim)                                                                          \
  X(arenas, leat_image_arena)                                                                      \
  X(grown, leat_image_grown)                                                                       \
  X(extents, leat_image_extent)                                                                    \
  X(buffers, leat_image_buffer)                                                                    \
  X(kernels, leat_image_kernel)                                                                    \
  X(args, leat_image_arg)                                                                          \
  X(sites, leat_image_site)                                                                        \
  X(claims, leat_image_claim)                                                                      \
  X(launches, leat_image_launch)                                                                   \
  X(prepared, leat_image_prepared)                                                                 \
  X(tasks, leat_image_task)                                                                        \
  X(successors, uint32_t)                                                                          \
  X(tables, leat_image_table)                                                                      \
  X(regions, leat_image_region)                                                                    \
  X(rows, leat_image_rows)                                                                         \
  X(messages, leat_image_message)                                                                  \
  X(variables, leat_image_variable)                                                                \
  X(feeds, leat_image_feed)                                                                        \
  X(fetches, leat_image_fetch)                                                                     \
  X(files, leat_image_file)                                                                        \
  X(entries, leat_image_entry)                                                                     \
  X(frozen, leat_image_frozen)

typedef struct leat_image {
  char magic[8]; // LEAT_IMAGE_MAGIC
  uint32_t version;
  uint32_t header_size;    // sizeof(leat_image)
  uint64_t size;           // bytes of the whole image
  leat_text_index device;  // full device name
  leat_text_index name;    // the step, for people
  leat_text_index entry;   // of an artifact: what its user calls the step, "predict", "train+eval"
  leat_text_index about;   // of an artifact: what documents that; lines
  uint32_t level;          // of an artifact for x86-64: the CPU level that its kernels are for, 1
                           // being the lowest; 0: there is one kind of code, which runs here
  uint32_t keep_denormals; // 1: subnormal numbers are computed with; 0: they are zeros where the
                           // machine has that mode
  uint64_t weights;        // bytes that files WITHIN lie in
  uint64_t beside;         // what the metadata of the file BESIDE say that it is (weights.id)
#define X(name, type) leat_range name;
  LEAT_IMAGE_RANGES(X)
#undef X
} leat_image;

// What reads the files of an image. It is part of a program only where a step names it.
struct leat_file_reader;
const struct leat_file_reader *leat_reads_files(void);

// Likewise what runs its branches, loops and all tasks that are no segments.
struct leat_control;
const struct leat_control *leat_runs_control(void);

// And what finds its variables and gives them their first values, and keeps what is prepared.
struct leat_keeper;
const struct leat_keeper *leat_keeps_variables(void);

// A step that can be run: an image, which says what it takes and gives, the entry points of its
// kernels, in the order in which the image numbers them, what it needs of the three above, and the
// weights that the artifact holds, which all of its steps share. An artifact is an array of these,
// behind the last of which one stands whose image is NULL. An entry that was compiled for several
// CPU levels is as many, by ascending level, of which the highest that the CPU has is taken: an
// image of a level that is no higher than the one before is another entry's.
typedef struct leat_built_step {
  const leat_image *image;
  const leat_kernel_function *kernels;
  const struct leat_file_reader *(*files)(void);
  const struct leat_control *(*control)(void);
  const struct leat_keeper *(*keeper)(void);
  const void *weights; // NULL: it holds none
} leat_built_step;

#ifdef __cplusplus
}
#endif

#endif
