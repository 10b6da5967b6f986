// Many kernels as one: a small program of launches, ifs and whiles becomes one kernel of one tile,
// whose memory is in registers as far as it is small. A loop of a few numbers then costs what its
// arithmetic costs.
//
// The program is a sequence of parts. Launches run one after the other, each all of its tiles; an
// if and a while look at a bool in memory, which launches before it, or of the while's condition,
// leave there. Each turn of a while looks whether the run is to end (K_POLL).
#ifndef LEAT_KERNEL_COMPOSE_H
#define LEAT_KERNEL_COMPOSE_H

#include "kernel/kernel.h"

enum {
  LEAT_MOST_COMPOSED = 2000,  // instructions
  LEAT_MOST_KEPT_BYTES = 256, // of memory that a loop keeps in registers
};

// Memory that launches name by the address of this record: one record, one memory. Two of them do
// not share a byte, not even in part: who reuses memory gives what shares it one record, or leaves
// it to `internal` memory, which has room of its own.
typedef struct k_memory {
  leat_dtype dtype; // as kernels hold it (k_dtype)
  int64_t count;    // elements (k_words times those of the tensor); 0: known only when it runs
  bool internal;    // of known size, and nobody else reads or writes it: no argument. It holds
                    // nothing before it is written
} k_memory;

// A number of a launch: as a leat_dim is, but that nothing is known of what is no constant.
typedef struct k_number {
  int64_t value;   // where `key` is NULL
  const void *key; // whose number it is: a scalar of the composed kernel
} k_number;

typedef enum k_part_kind { K_PART_LAUNCH, K_PART_IF, K_PART_WHILE } k_part_kind;
typedef struct k_part k_part;
typedef struct k_parts {
  const k_part *items;
  uint32_t count;
} k_parts;

struct k_part {
  k_part_kind kind;
  const leat_kernel *kernel;      // LAUNCH, and what it is given:
  const k_memory *const *buffers; // as many as it has
  const k_number *scalars;        // as many as it has
  k_number tiles;
  const k_memory *predicate; // IF, WHILE: the bool
  k_parts first, second;     // IF: then and else; WHILE: condition and body
};

// The composed kernel, one tile; what its arguments are, in order, and its scalars. Its fail sites
// are those of all launches, one after the other as the launches stand in the program.
typedef struct k_composed {
  leat_kernel *kernel;
  leat_vec(const k_memory *) buffers;
  leat_vec(k_number) scalars;
} k_composed;

// LEAT_UNSUPPORTED, with the reason, for what is better launched one by one: what has too many
// instructions or local arrays, or streams to memory, or has memory of several dtypes. Memory of a
// while that is small and of known size is loaded once and stored once, at the end: of a kernel
// that fails, nothing is stored there.
LEAT_MUST_USE leat_status leat_kernel_compose(leat_arena *arena, const char *name, k_parts parts,
                                              k_composed *out, leat_error *error);

#endif
