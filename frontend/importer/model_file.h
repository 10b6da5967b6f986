// A model file that is open: what every importer does the same. model_file.c is linked into each
// importer's module, with the copy of libleat that the module has: recovery points are set there.
// It is the module's leat_importer, to which the importer gives leat_model_read and
// leat_model_write.
#ifndef LEAT_FRONTEND_IMPORTER_MODEL_FILE_H
#define LEAT_FRONTEND_IMPORTER_MODEL_FILE_H

#include "base/arena.h"
#include "base/vec.h"
#include "frontend/import.h"

// A tensor that the text loads.
typedef struct leat_weight {
  const char *name; // that no other one has
  leat_tensor type; // without data
  // What reads it, with its data, which lies in the file or is made in the arena, and of what.
  leat_status (*read)(const leat_model_file *model, const struct leat_weight *weight,
                      leat_arena *arena, leat_tensor *out, leat_error *error);
  const void *source;
} leat_weight;

typedef leat_vec(const char *) leat_sayings;

struct leat_model_file {
  leat_arena *arena; // which this lies in, too
  const char *path;
  const void *content;           // what the importer read
  leat_vec(leat_weight) weights; // of the last write
  leat_named_tensor *tensors;    // the same, sorted; NULL: they are not listed yet
  leat_arena **made;             // what was made of each; NULL: nothing
  leat_sayings problems, notes;  // of the last write
};

// The importer's own. Reads what lies in memory: fills in `content`.
LEAT_MUST_USE leat_status leat_model_read(leat_model_file *model, const void *bytes, size_t size,
                                          leat_error *error);
// Writes the text, malloc'ed, and fills in weights, problems and notes, of which there are none
// yet.
LEAT_MUST_USE leat_status leat_model_write(leat_model_file *model,
                                           const leat_import_options *options, char **out);

// What a function of the text is called: `use … as NAME` puts NAME_ in front.
const char *leat_model_function(leat_arena *arena, const leat_import_options *options,
                                const char *name);

#endif
