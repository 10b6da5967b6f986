// Ops: what ops.def says of each, as an enum and a table.
#ifndef LEAT_IR_OP_H
#define LEAT_IR_OP_H

#include "leat/dtype.h"

#include <stdbool.h>
#include <stddef.h>

typedef enum leat_op {
#define OP(name, ...) LEAT_OP_##name,
#include "ir/ops.def"
  LEAT_OP_COUNT
} leat_op;

// How code is made from an op.
typedef enum leat_op_kind {
  LEAT_KIND_STRUCTURE, // no code of its own: codegen knows each
  LEAT_KIND_ELEMENT,   // an output element is an expression of input elements: fuses by index
                       // (lower_X)
  LEAT_KIND_REDUCE,    // folds elements along axes (reduce_X)
  LEAT_KIND_SCATTER,   // writes at computed places
  LEAT_KIND_CONTRACT,  // goes through the contraction generator
  LEAT_KIND_LIBRARY,   // no loops worth generating: a function of runtime/kernels, called like a
                       // kernel (library_X)
  LEAT_KIND_HOST,      // a function of the runtime, called by the executor
  LEAT_KIND_REGION,    // of its bodies
} leat_op_kind;

// Where what a STRUCTURE op gives comes from.
typedef enum leat_op_leaf {
  LEAT_LEAF_NONE, // it gives nothing, or is none
  LEAT_LEAF_CONSTANT,
  LEAT_LEAF_FILE,
  LEAT_LEAF_FEED,
  LEAT_LEAF_PARAMETER, // of a body
  LEAT_LEAF_VARIABLE,
  LEAT_LEAF_RUN_COUNT,
  LEAT_LEAF_RECEIVED, // from another device
} leat_op_leaf;

typedef enum leat_dtype_class {
  LEAT_CLASS_ALL,       // every dtype, str included
  LEAT_CLASS_ANY_DTYPE, // every dtype but str
  LEAT_CLASS_NUMERIC,   // integers, floats and complex numbers
  LEAT_CLASS_ORDERED,   // every dtype but complex numbers: what is sorted
  LEAT_CLASS_REAL,      // integers and floats
  LEAT_CLASS_INEXACT,   // floats and complex numbers
  LEAT_CLASS_FLOAT,
  LEAT_CLASS_COMPLEX,
  LEAT_CLASS_INTEGER,
  LEAT_CLASS_BOOLEAN,
  LEAT_CLASS_STRING,
} leat_dtype_class;

// Where an element of the output reads those of the inputs; of a REDUCE, of its operand's index.
typedef enum leat_op_reads {
  LEAT_READS_WHOLE,     // no element by itself
  LEAT_READS_SAME,      // at its own index
  LEAT_READS_INDEX,     // at the first axes of its index, and it depends on all of it
  LEAT_READS_RESHAPED,  // at the index with other axes of extent 1
  LEAT_READS_BROADCAST, // at the last axes of the index
  LEAT_READS_PERMUTED,  // at the index with its axes in another order
  LEAT_READS_PICKED,    // at a place that it computes, each element at most once
  LEAT_READS_PLACES,    // at a place that it computes, or a scalar
  LEAT_READS_GATHERED,  // input 1 at the axes behind `axis`, and input 0 where that says
} leat_op_reads;

// The inputs that, being zeros, make the output zeros, as bits.
typedef enum leat_op_zeros {
  LEAT_ZEROS_NONE = 0,
  LEAT_ZEROS_FIRST = 1,
  LEAT_ZEROS_SECOND = 2,
  LEAT_ZEROS_BOTH = 3,
  LEAT_ZEROS_UPDATED = 5, // of a scatter: what is updated and the updates
  LEAT_ZEROS_CHOICES = 6, // of a `where`
  LEAT_ZEROS_EITHER = 3 | 1 << 7,
} leat_op_zeros;

typedef enum leat_op_flags {
  LEAT_FLAG_COMMUTES = 1,
  LEAT_FLAG_EFFECT = 2,
  LEAT_FLAG_STATE = 4,
  LEAT_FLAG_RANDOM = 8,
  LEAT_FLAG_EXACT = 16,
  LEAT_FLAG_BROADCASTS = 32,
  LEAT_FLAG_FAILS = 64,
  LEAT_FLAG_FAILS_LATE = 128,
  LEAT_FLAG_ALIAS = 256,
  LEAT_FLAG_INLINE = 512,
  LEAT_FLAG_LOCAL = 1024,
  LEAT_FLAG_FROM_STEP = 2048,
  LEAT_FLAG_FROM_CHECKED = 4096,
  LEAT_FLAG_FROM_PART = 8192,
  LEAT_FLAG_UNTIL_RAISED = 16384,
  LEAT_FLAG_UNTIL_LEGAL = 32768,
  LEAT_FLAG_KEEPS = 65536,
} leat_op_flags;

// How far a graph is on its way through the passes (passes/pipeline.def says where each leaves it).
typedef enum leat_phase {
  LEAT_PHASE_TEXT,    // the session's: what texts say
  LEAT_PHASE_STEP,    // of one step, whose feeds and fetches are nodes
  LEAT_PHASE_RAISED,  // whose control flow is regions
  LEAT_PHASE_CHECKED, // with what must hold of run-time dims
  LEAT_PHASE_PART,    // of one device
  LEAT_PHASE_LEGAL,   // as kernels compute
} leat_phase;

typedef enum leat_attr_kind {
  LEAT_ATTR_INT,
  LEAT_ATTR_BOOL,
  LEAT_ATTR_STRING, // interned
  LEAT_ATTR_DTYPE,
  LEAT_ATTR_DIM,
  LEAT_ATTR_INTS,
  LEAT_ATTR_DIMS,
  LEAT_ATTR_TYPE,
  LEAT_ATTR_TENSOR, // a constant's value
  LEAT_ATTR_STATE,  // a leat_state
  LEAT_ATTR_GRAPH,  // a body
} leat_attr_kind;

// What an attribute is where a text does not give it.
typedef enum leat_attr_absent {
  LEAT_ABSENT_REQUIRED, // an error
  LEAT_ABSENT_ZERO,
  LEAT_ABSENT_FALSE,
  LEAT_ABSENT_TRUE,
  LEAT_ABSENT_EMPTY, // ""
  LEAT_ABSENT_NONE,  // no elements; texts leave it out then
  LEAT_ABSENT_LEFT,  // "left"
  LEAT_ABSENT_F32,
  LEAT_ABSENT_I32,
  LEAT_ABSENT_ALL_AXES, // of the first input, as those below
  LEAT_ABSENT_REVERSED, // the axes, from the last to the first
  LEAT_ABSENT_LAST_AXIS,
  LEAT_ABSENT_ONLY_AXIS,   // where there is one, else an error
  LEAT_ABSENT_ONES,        // one for each axis
  LEAT_ABSENT_EVEN_LENGTH, // of the two lengths that rfft makes as many numbers of
  LEAT_ABSENT_PATH,        // a hash of the node's path
} leat_attr_absent;

typedef struct leat_attr_info {
  leat_attr_kind kind;
  const char *name;
  leat_attr_absent absent;
} leat_attr_info;

enum { LEAT_ANY_INPUTS = -1, LEAT_ANY_OUTPUTS = -1, LEAT_MAX_ATTRS = 8 };

typedef struct leat_op_info {
  const char *name;
  int min_inputs, max_inputs; // max LEAT_ANY_INPUTS: variadic
  int outputs;                // LEAT_ANY_OUTPUTS: as many as its last body has results
  leat_dtype_class dtypes;
  int apart; // the input that has a dtype of its own; -1: none
  leat_op_kind kind;
  leat_op_leaf leaf;
  leat_op_reads reads;
  leat_op_zeros zeros;
  unsigned flags; // leat_op_flags
  int attr_count;
  leat_attr_info attrs[LEAT_MAX_ATTRS];
} leat_op_info;

const leat_op_info *leat_op_info_of(leat_op op);
// Whether the leaf is the same in all runs: a constant, or of a file.
bool leat_leaf_is_fixed(leat_op_leaf leaf);
bool leat_op_parse(const char *name, size_t length, leat_op *out);
const char *leat_op_name(leat_op op);
// Of ir/op_help.def: what the op gives, in a line, and the names of its inputs, "x, indices".
const char *leat_op_help(leat_op op);
const char *leat_op_inputs(leat_op op);
// The phases between which a graph may have the op, both included.
leat_phase leat_op_first_phase(leat_op op);
leat_phase leat_op_last_phase(leat_op op);
const char *leat_phase_name(leat_phase phase); // "legal"
// What an element costs that is computed with 15 others, in vectors, its operands at hand:
// estimates (ir/op_cost.def).
enum { LEAT_INSTRUCTION_PICOSECONDS = 15 }; // half a cycle for a vector

typedef struct leat_op_cost {
  int instructions; // of a kernel: how long its code is
  int picoseconds;  // on one core
} leat_op_cost;

leat_op_cost leat_op_cost_of(leat_op op);
// False: elements of its inputs come out as they are, so that it takes any dtype, or it converts
// to the dtype of its attribute `dtype`.
bool leat_op_computes(leat_op op);
bool leat_dtype_in_class(leat_dtype dtype, leat_dtype_class class);
int leat_op_attr_index(leat_op op, const char *name); // -1: the op has none of that name

#endif
