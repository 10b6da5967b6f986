// Kernels: small imperative programs over buffers, in typed scalar and vector SSA with structured
// control flow.
//
// A kernel has one outer parallel space of tiles; its body is run once a tile and may hold loops
// with any bounds, `if`, `while`, local arrays, loads and stores at computed indices, and fail().
// Values are SSA; a vector has 2, 4, 8 or LEAT_LANES (16) lanes, the same number on every CPU, so
// that the order of roundings never depends on the machine. Nothing is contracted, reassociated or
// assumed finite by a target: an fma is one only where `fma` stands.
//
// Arguments are in one array of leat_arg (leat/artifact.h): first the buffers, then the i64
// scalars. Buffers may not overlap unless they are equal (in place: an element is loaded before it
// is stored at the same index).
//
// Kernels print (leat_kernel_print), and the text is the key of the object cache: same text, same
// code. So nothing in it names a step's nodes; a failing kernel leaves the number that it fails on
// in its leat_call and returns `site << 8 | status`, and the launch says what is wrong at a site.
#ifndef LEAT_KERNEL_KERNEL_H
#define LEAT_KERNEL_KERNEL_H

#include "base/arena.h"
#include "base/target_info.h"
#include "base/text.h"
#include "base/vec.h"
#include "leat/dtype.h"
#include "leat/status.h"

enum {
  LEAT_LANES = 16,
  LEAT_MOST_LOCAL_BYTES = 320 << 10, // of a kernel's local arrays, which are on a stack
};

// Registers of the machine that a vector of LEAT_LANES takes.
static inline int leat_vector_registers(const leat_target_info *target, leat_dtype dtype) {
  int bytes = LEAT_LANES * (int)leat_dtype_size(dtype);
  if (!target->vector_bytes) return LEAT_LANES;
  return bytes > target->vector_bytes ? bytes / target->vector_bytes : 1;
}

typedef struct k_instr k_instr;
typedef struct k_block k_block;
typedef const k_instr *k_value;
typedef struct leat_kernel leat_kernel;

// X(id, text, number of value operands); ARRAY-like operands are in `buffer`.
// clang-format off
#define K_OPS(X)                                                                                   \
  X(CONST, "const", 0)   /* of the instr's dtype and lanes (splat): imm.i or imm.f */              \
  X(SCALAR, "scalar", 0) /* i64 scalar number imm.i: args[buffer_count + imm.i] */                 \
  X(TILE, "tile", 0)     /* i64: the tile this run of the body is for */                           \
  X(PHI, "phi", 0)       /* block argument of a loop or while */                                   \
  X(RESULT, "result", 1) /* carried value imm.i of the loop/while/if args[0] after it ended */     \
  X(ADD, "add", 2)                                                                                 \
  X(SUB, "sub", 2)                                                                                 \
  X(MUL, "mul", 2)                                                                                 \
  X(DIV, "div", 2) /* integers: truncates; x/0 is 0, MIN/-1 is MIN */                              \
  X(REM, "rem", 2) /* integers: C's %; x%0 is 0. floats: fmod is not offered */                    \
  X(FMA, "fma", 3) /* a*b+c, one rounding; integers: wraps */                                      \
  X(NEG, "neg", 1)                                                                                 \
  X(ABS, "abs", 1)                                                                                 \
  X(MIN, "min", 2) /* floats: NaN if either is NaN; -0 < +0 */                                     \
  X(MAX, "max", 2)                                                                                 \
  X(SQRT, "sqrt", 1)                                                                               \
  X(FLOOR, "floor", 1)                                                                             \
  X(ROUND, "round", 1) /* to nearest, ties to even */                                              \
  X(EQ, "eq", 2)       /* comparisons give bool of the same lanes; floats ordered, NE unordered */ \
  X(NE, "ne", 2)                                                                                   \
  X(LT, "lt", 2)                                                                                   \
  X(LE, "le", 2)                                                                                   \
  X(AND, "and", 2) /* bool and integers */                                                         \
  X(OR, "or", 2)                                                                                   \
  X(XOR, "xor", 2)                                                                                 \
  X(NOT, "not", 1)                                                                                 \
  X(SHL, "shl", 2) /* a count outside 0 … bits-1 gives 0 (SHR of a negative: -1) */                \
  X(SHR, "shr", 2) /* arithmetic for signed dtypes */                                              \
  X(SELECT, "select", 3)   /* bool, a, b */                                                        \
  X(CAST, "cast", 1)       /* float → int truncates and saturates, NaN gives 0; x → bool is x != 0 */ \
  X(BITCAST, "bitcast", 1) /* same size */                                                         \
  X(SPLAT, "splat", 1)     /* scalar → `lanes` lanes */                                            \
  X(LANE, "lane", 0)       /* integer vector 0, 1, 2, … */                                         \
  X(HALF, "half", 1)       /* lower (imm.i 0) or upper (1) half of the lanes */                    \
  X(ZIP, "zip", 2)         /* a0 b0 a1 b1 …: the lower (imm.i 0) or upper (1) half of these */ \
  X(UNZIP, "unzip", 2)     /* of all lanes of a, then b: the even (imm.i 0) or the odd (1) ones */ \
  X(EXTRACT, "extract", 1) /* lane imm.i as a scalar */                                            \
  X(ANY, "any", 1)         /* bool vector → bool scalar */                                         \
  X(LOAD, "load", -1)      /* buffer[args[0] …+lanes), args[1] (may be absent): mask, off lanes give 0 */ \
  X(GATHER, "gather", -1)  /* buffer[args[0][lane]], args[0] an i64 vector, args[1]: mask */       \
  X(STORE, "store", -1)    /* buffer[args[0] …+lanes) = args[1], args[2] (may be absent): mask */  \
  X(PREFETCH, "prefetch", -1) /* buffer[args[0]] will be read: it may be brought near */ \
  X(LOCAL, "local", 0)     /* declares a local array: see buffer */                                \
  X(LOOP, "loop", -1)      /* args: low, high, step, then the initial carried values; body[0] */   \
  X(WHILE, "while", -1)    /* args: initial carried values; body[0] computes `condition`, body[1] the next ones */ \
  X(IF, "if", -1)          /* args[0]: condition; body[0], body[1] (may be NULL) yield carried values */ \
  X(BARRIER, "barrier", 0) /* all threads of the tile (one on CPUs) */                             \
  X(POLL, "poll", 0)       /* returns LEAT_ABORTED when the run is to end (leat_call) */           \
  X(FAIL_IF, "fail_if", -1) /* when the bool args[0] holds: returns site imm.i with status imm2, and leaves the       \
                               integer args[1]: of a vector the first lane where the bools args[2] hold */
// clang-format on

typedef enum k_op {
#define X(id, text, args) K_##id,
  K_OPS(X)
#undef X
      K_OP_COUNT
} k_op;

typedef enum k_space { K_SPACE_ARGUMENT, K_SPACE_REGISTER, K_SPACE_SHARED } k_space;

// Memory a kernel touches: an argument or a local array.
typedef struct k_buffer {
  k_space space;
  leat_dtype dtype;
  uint32_t number; // argument number, or the local array's
  int64_t count;   // elements of a local array
  bool written;    // argument: some store goes to it
  bool streamed;   // argument: too large to stay in a cache; it begins at a multiple of 64 bytes
} k_buffer;

typedef union k_imm {
  int64_t i; // integers and bool, extended from their width as their dtype is signed or not
  double f;  // f32 and f64
} k_imm;

struct k_instr {
  k_op op;
  leat_dtype dtype; // of the result; LEAT_bool for none
  uint8_t lanes;    // 1: scalar; 0: no result
  uint32_t id;      // unique in the kernel, in the order of creation
  uint32_t arg_count;
  k_value *args;
  const k_buffer *buffer;
  k_imm imm;
  int64_t imm2; // FAIL_IF: status; PHI: what its value is a multiple of (k_multiple)
  k_block *body[2];
  k_block *block; // it is in, or is a block argument of
};

// A list of instructions with block arguments (PHIs: of a loop the index first, then the carried
// values) and the values it yields to the next iteration, or to the RESULTs of an `if`.
// `condition`: body[0] of a while, which also has its PHIs; body[1] of a while sees what body[0]
// computed.
struct k_block {
  leat_vec(k_instr *) instrs;
  leat_vec(k_value) phis;
  leat_vec(k_value) yields;
  k_value condition;
  uint32_t depth; // blocks around it
};

struct leat_kernel {
  leat_arena *arena;
  const char *name; // what it is, for people: not in the key
  uint32_t buffer_count, scalar_count, instr_count, local_count, site_count;
  leat_vec(k_buffer *) buffers; // arguments, by number
  k_block body;
};

// -- Building -------------------------------------------------------------------------------------
// The builder appends to the innermost open block. Constant operands fold, x+0 and x*1 of integers
// vanish, equal pure instructions of one block chain are made once (loads too, up to the next
// store), what does not vary in a loop is put before it, and k_finish drops what nobody uses, so
// lowering can be naive.
typedef struct k_builder {
  leat_arena *arena;
  leat_kernel *kernel;
  leat_vec(k_block *) blocks; // open blocks, innermost last
  leat_vec(k_instr *) owners; // the instr that owns each
  struct k_cse *cse;
  bool lacks_fma; // the machine has no such instruction: set behind k_begin
  bool brief;     // 30 bits of an f64 are enough
} k_builder;

void k_begin(k_builder *b, leat_arena *arena, const char *name);
leat_kernel *k_finish(k_builder *b);

const k_buffer *k_argument(k_builder *b, leat_dtype dtype); // all before the first k_scalar
k_value k_scalar(k_builder *b);
const k_buffer *k_local(k_builder *b, k_space space, leat_dtype dtype, int64_t count);
uint32_t k_site(k_builder *b); // a new fail site

k_value k_int(k_builder *b, leat_dtype dtype, int lanes, int64_t value);
k_value k_float(k_builder *b, leat_dtype dtype, int lanes, double value);
k_value k_i64(k_builder *b, int64_t value); // scalar i64
k_value k_tile(k_builder *b);
// Any op of one to three value operands: operands must agree in dtype and lanes, a scalar operand
// is splat to the others' lanes. K_CAST and K_BITCAST have their own.
k_value k_unary(k_builder *b, k_op op, k_value a);
k_value k_binary(k_builder *b, k_op op, k_value x, k_value y);
k_value k_fma(k_builder *b, k_value x, k_value y, k_value z);
// x·y + z, rounded once where the machine has such an instruction, else twice.
k_value k_mul_add(k_builder *b, k_value x, k_value y, k_value z);
k_value k_select(k_builder *b, k_value condition, k_value x, k_value y);
k_value k_cast(k_builder *b, leat_dtype dtype, k_value a);
k_value k_bitcast(k_builder *b, leat_dtype dtype, k_value a);
k_value k_splat(k_builder *b, int lanes, k_value a);
k_value k_lane(k_builder *b, leat_dtype dtype, int lanes);
k_value k_half(k_builder *b, k_value a, int which);
k_value k_zip(k_builder *b, k_value x, k_value y, int which);
k_value k_unzip(k_builder *b, k_value x, k_value y, int which);
k_value k_extract(k_builder *b, k_value a, int lane);
k_value k_any(k_builder *b, k_value a);
k_value k_load(k_builder *b, const k_buffer *buffer, k_value index, int lanes, k_value mask);
k_value k_gather(k_builder *b, const k_buffer *buffer, k_value indices, k_value mask);
void k_store(k_builder *b, const k_buffer *buffer, k_value index, k_value value, k_value mask);

#define k_add(b, x, y) k_binary((b), K_ADD, (x), (y))
#define k_sub(b, x, y) k_binary((b), K_SUB, (x), (y))
#define k_mul(b, x, y) k_binary((b), K_MUL, (x), (y))
#define k_lt(b, x, y) k_binary((b), K_LT, (x), (y))

// for (index = low; index < high; index += step): returns the loop; carried values are PHIs inside.
k_instr *k_loop_begin(k_builder *b, k_value low, k_value high, int64_t step, const k_value *initial,
                      uint32_t count);
k_value k_loop_index(const k_instr *loop);
k_value k_loop_carried(const k_instr *loop, uint32_t i); // inside
void k_loop_end(k_builder *b, const k_value *next, uint32_t count);
k_value k_result(k_builder *b, const k_instr *loop_or_if, uint32_t i); // after
k_instr *k_while_begin(k_builder *b, const k_value *initial,
                       uint32_t count);           // opens the condition's block
void k_while_do(k_builder *b, k_value condition); // opens the body
void k_while_end(k_builder *b, const k_value *next, uint32_t count);
k_instr *k_if_begin(k_builder *b, k_value condition);
void k_if_else(k_builder *b, const k_value *yields, uint32_t count);
void k_if_end(k_builder *b, const k_value *yields, uint32_t count);
// Fails where the condition holds in some lane, on the value in the first such lane: an integer,
// which may be a scalar. It is better not widened: wide values that are used twice keep LLVM from
// gathering at the narrow ones.
void k_fail_if(k_builder *b, k_value condition, k_value value, uint32_t site, leat_status status);
// Stores to the argument need leave nothing in a cache.
void k_stream(k_builder *b, const k_buffer *argument);
// A power of two, up to 64, that the i64 is known to be a multiple of.
int64_t k_multiple(k_value value);
// What is known of an i64 scalar, bounds included.
typedef struct k_range {
  int64_t low, high;
} k_range;
k_range k_range_of(const k_builder *b, k_value value);
void k_barrier(k_builder *b);
// The index may be outside of the buffer, as far as it fits in an i64.
void k_prefetch(k_builder *b, const k_buffer *buffer, k_value index);
void k_poll(k_builder *b); // once an iteration of what may run for ever

void leat_kernel_print(const leat_kernel *kernel, leat_text *out);
LEAT_MUST_USE leat_status leat_kernel_verify(const leat_kernel *kernel, leat_error *error);
const char *k_op_name(k_op op);
int k_op_arity(k_op op); // number of value operands, or -1
// ZIP, UNZIP: which lane of its operands, one after the other, a lane is.
int k_shuffle_lane(const k_instr *instr, int lane);
bool k_op_is_pure(k_op op); // depends on nothing but its operands and immediates, and has no effect

// What an element-wise op (ADD … BITCAST) gives for one lane: `dtype` is that of the operands (of
// args[1] for SELECT), `to` that of the result. This is the meaning that every target follows bit
// for bit (but for the payload of NaNs).
k_imm k_eval(k_op op, leat_dtype dtype, leat_dtype to, const k_imm *args);
k_imm k_imm_wrap(leat_dtype dtype,
                 k_imm value); // as a value of the dtype: wrapped, or rounded to f32

#endif
