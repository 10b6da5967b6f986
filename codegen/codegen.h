// From one device's graph to an image and its kernels (stages.h has all stages).
//
//   fuse      groups of nodes that become one kernel
//   schedule  the order of groups, and the tasks that they make
//   recompute what is made again where it is read late, for memory
//   plan      arena offsets from lifetimes; in place where an input dies at the same index
//   lower     each group to a kernel; the contraction generator
//   image     the tables
#ifndef LEAT_CODEGEN_CODEGEN_H
#define LEAT_CODEGEN_CODEGEN_H

#include "base/map.h"
#include "base/target_info.h"
#include "ir/graph.h"
#include "kernel/kernel.h"
#include "leat/artifact.h"

// An entry whose runs an artifact counts: leat_image_entry.
typedef struct leat_counted_entry {
  const char *name;
  bool completes;
  uint64_t runs;
} leat_counted_entry;

// A variable that became a constant of an artifact: leat_image_frozen.
typedef struct leat_frozen_variable {
  const char *name;
  uint64_t checksum;
} leat_frozen_variable;

typedef leat_vec(leat_frozen_variable) leat_frozen_list;

// Where an artifact has what a `load` gives: leat_image_file.
typedef struct leat_placed_file {
  leat_file_kind kind;
  const char *file, *name;
  uint64_t size, where;
} leat_placed_file;

// How the right operands of a contraction lie, one matrix after the other, when they are packed:
// as panels of `width` columns, each [depth, width], the last one filled up with zeros.
typedef struct leat_panels {
  int64_t matrices, depth, columns, width;
} leat_panels;

// The tensors of data files that a graph loads. A session's are where the text says.
typedef struct leat_file_table {
  leat_map sizes; // of files: path, as a node has it → bytes
  // Of an artifact: where it has what a `load` gives or, with `panels`, has those that are made of
  // what `node` gives, whose value is the elements of one `load` in another order. They are not
  // WITHIN: it does not have them. NULL: files stay where they are.
  leat_status (*place)(void *context, const leat_node *node, const leat_panels *panels,
                       leat_placed_file *out, leat_error *error);
  void *context;
} leat_file_table;

// What people ask of the decisions (`leat inspect`), each part of which is written to `out`.
typedef struct leat_inspection {
  bool memory; // where values lie, and how long
  bool plan;   // how contractions are computed
  bool all;    // all of long lists, not the largest alone
  leat_text *out;
} leat_inspection;

typedef struct leat_codegen_options {
  const leat_target_info *target; // the machine that the code is for
  bool blis, keep_denormals;
  uint64_t memory_limit;             // bytes that a step's values are to take; 0: any number
  const char *entry, *about;         // of an artifact: what the image says of itself; NULL: nothing
  uint32_t level;                    // likewise, as leat_image.level
  const leat_counted_entry *entries; // of an artifact; in a session's steps the session counts
  uint32_t entry_count;
  leat_frozen_list frozen; // of an artifact
  const leat_file_table *files;
  // After each stage, for dumps: `text` is the stage's result in readable form. NULL: none.
  void (*dump)(void *context, const char *stage, const char *text);
  void *dump_context;
  const leat_inspection *inspection; // NULL: nobody asks
} leat_codegen_options;

// What a target compiles: kernels without duplicates, in the order of image->kernels, which has the
// functions of runtime/kernels among them, and the image, both in `arena`.
typedef struct leat_compiled {
  leat_image *image;
  leat_kernel **kernels;
  const char **symbols;
  uint32_t kernel_count;
} leat_compiled;

LEAT_MUST_USE leat_status leat_codegen(leat_graph *graph, leat_arena *arena, leat_diag *diag,
                                       const leat_codegen_options *options, leat_compiled *out,
                                       leat_error *error);

// Readable dump of an image: tables, tasks, launches, buffers.
void leat_image_print(const leat_image *image, leat_text *out);

#endif
