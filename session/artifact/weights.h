// The tensors of data files that an artifact needs, and where it has them: within it, beside it, or
// where the text says (leat build --weights). They are written as they lie in the files, which may
// be larger than memory: nothing here copies one whole, but those that a contraction wants packed
// and of which there are not too many.
#ifndef LEAT_SESSION_ARTIFACT_WEIGHTS_H
#define LEAT_SESSION_ARTIFACT_WEIGHTS_H

#include "base/data_file.h"
#include "codegen/codegen.h"
#include "session/artifact.h"

typedef struct leat_weights {
  leat_arena *arena;
  leat_weights_kind kind;
  bool packs;           // EMBED: panels, too
  const char *file;     // BESIDE: its path
  leat_bytes_map files; // path → leat_data_file *
  leat_vec(leat_data_file *) opened;
  leat_bytes_map placed;               // what has a place, by key_of → leat_placed_file
  leat_vec(leat_named_tensor) tensors; // BESIDE: what the file holds
  leat_vec(leat_bytes) pieces;         // EMBED: one behind the other
  uint64_t size;                       // of the pieces
  uint64_t packed;                     // bytes of these that are panels
} leat_weights;

// Whether a value is a constant, which passes may compute with, not a weight: a small one, and any
// strings.
bool leat_is_constant(const leat_tensor *value);

// The files stay open until leat_weights_finish. `output`: of the artifact, beside which
// OUTPUT.safetensors may stand.
void leat_weights_start(leat_weights *weights, leat_arena *arena, leat_weights_kind kind,
                        const char *output);
void leat_weights_finish(leat_weights *weights);

// Of what a graph loads, strings and small tensors become constants, unless the kind is LOAD.
LEAT_MUST_USE leat_status leat_weights_take_small(leat_weights *weights, leat_graph *graph,
                                                  leat_error *error);
// leat_file_table.place, which gives what is asked for a place. Panels are made in memory, so there
// is a limit to the bytes of all, and only for what is embedded.
LEAT_MUST_USE leat_status leat_weights_place(void *weights, const leat_node *node,
                                             const leat_panels *panels, leat_placed_file *out,
                                             leat_error *error);
// Writes the file of BESIDE, if it has tensors, and returns what its metadata say that it is.
LEAT_MUST_USE leat_status leat_weights_write_file(leat_weights *weights, uint64_t *out_id,
                                                  leat_error *error);

#endif
