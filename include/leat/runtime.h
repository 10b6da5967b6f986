// Compiled models in a user's program: what `leat build -o model.o` makes, linked with libleat_rt.
//
//     #include "digits.h"             // made beside digits.o
//     digits_model *m;
//     digits_predict_inputs in = {.B = 1, .x = pixels};
//     digits_predict_outputs out;
//     digits_create(NULL, &m);
//     digits_predict(m, &in, &out);   // out.class_[0]; the model's until its next run
//     digits_destroy(m);
//
// That header's functions are made of those here, which know a model by what it says of itself:
//
//     leat_model_create(digits_steps, NULL, &m);
//     leat_tensor x = {LEAT_f32, 2, {1, 64}, pixels}, y;
//     leat_model_run(m, leat_model_find_entry(m, "predict"), &x, &y); // y: i32[1]
//
// A failing call returns a status and leaves the model as it was; leat_model_message says why. A
// call that makes no sense (NULL, a model that was destroyed, a dtype or rank that is none) answers
// LEAT_INVALID and changes nothing; one that returns no status gives 0, NULL, a dtype that is none
// or rank -1.
//
// Threads: a model is used by one thread at a time, any one; different models, of one image too, by
// any threads at once. A run computes in the mode of floats that the model was built with (`leat
// build --denormals`); the caller's is afterwards what it was.
#ifndef LEAT_RUNTIME_API_H
#define LEAT_RUNTIME_API_H

#include "leat/artifact.h"
#include "leat/dtype.h"
#include "leat/status.h"

#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct leat_model leat_model;

typedef struct leat_model_options {
  int threads; // 0: as many as cores
  // Seconds that a run may take; 0: any number. Then it ends with LEAT_DEADLINE, and the variables
  // are as before it.
  double deadline;
  // The directory of the files the model loads; NULL: the working directory, or of weights that
  // were built to lie beside it its own.
  const char *base;
  // What print nodes say; NULL: dropped. Called by any thread of the run, one at a time.
  void (*print)(void *context, const char *text);
  void *print_context;
  bool overwrite; // leat_model_save may replace any checkpoint
  const void *reserved[LEAT_RESERVED];
} leat_model_options;

// `steps` is what leat build made, NAME_steps; options NULL: all are 0. *out is valid (for
// leat_model_message and leat_model_destroy) even on failure, unless memory ran out; then it is
// NULL. The files that an entry reads are opened by its first run.
LEAT_MUST_USE leat_status leat_model_create(const leat_built_step *steps,
                                            const leat_model_options *options, leat_model **out);
void leat_model_destroy(leat_model *model); // NULL is fine
const char *leat_model_message(const leat_model *model);

// What can be run is numbered as leat build was told it: the entries of the text, or several that
// one run does together, "train+eval". They share the variables.
int leat_model_entry_count(const leat_model *model);
const char *leat_model_entry_name(const leat_model *model, int entry);
const char *leat_model_entry_about(const leat_model *model, int entry); // its documentation, or ""
int leat_model_find_entry(const leat_model *model, const char *name);   // -1: there is none

// Feeds and fetches are numbered in the order of the entry's declaration.
int leat_model_feed_count(const leat_model *model, int entry);
int leat_model_fetch_count(const leat_model *model, int entry);
const char *leat_model_feed_name(const leat_model *model, int entry, int i);
const char *leat_model_fetch_name(const leat_model *model, int entry, int i);
const char *leat_model_feed_type(const leat_model *model, int entry, int i); // "f32[B, 64]"
const char *leat_model_fetch_type(const leat_model *model, int entry, int i);
leat_dtype leat_model_feed_dtype(const leat_model *model, int entry, int i);
int leat_model_feed_rank(const leat_model *model, int entry, int i);
bool leat_model_feed_has_fallback(const leat_model *model, int entry, int i);
// `leat build --donate`: the run may write to it, and no other feed lies in its memory. A result
// may lie there then, fetches[k].data == feeds[i].data: it is the caller's as that memory is. Where
// none does, what is there means nothing.
bool leat_model_feed_is_donated(const leat_model *model, int entry, int i);

// feeds[i].data NULL takes the feed's default. fetches[i].data belongs to the model and is valid
// until its next run.
LEAT_MUST_USE leat_status leat_model_run(leat_model *model, int entry, const leat_tensor *feeds,
                                         leat_tensor *fetches);

// The memory that runs compute in is the model's, which takes what the largest run so far needed
// and keeps it, so that a run allocates nothing; or the caller's, which all entries use, and which
// is 64-byte aligned: NULL gives it back. leat_model_memory says how much a run with feeds of these
// shapes needs; their data is not read. (Values of a size that only the run knows, strings that it
// makes, and what is fetched of feeds and variables still are the model's.) A run that needs more
// than it was lent answers LEAT_MEMORY.
LEAT_MUST_USE leat_status leat_model_memory(leat_model *model, int entry, const leat_tensor *feeds,
                                            size_t *out);
LEAT_MUST_USE leat_status leat_model_lend(leat_model *model, void *memory, size_t size);

// A tensor over data that is only read.
static inline leat_tensor leat_tensor_over(leat_dtype dtype, int32_t rank, const void *data) {
  leat_tensor tensor;
  memset(&tensor, 0, sizeof tensor);
  tensor.dtype = dtype;
  tensor.rank = rank;
  memcpy(&tensor.data, &data, sizeof data);
  return tensor;
}

// The variables that the entries have, by name. What is read is malloc'ed and the caller's; what is
// written has the variable's dtype and shape. LEAT_NOT_FOUND: there is none of that name, as of
// what leat build --vars made a constant.
int leat_model_variable_count(const leat_model *model);
const char *leat_model_variable_name(const leat_model *model, int i);
const char *leat_model_variable_type(const leat_model *model, int i); // "f32[64, 10]"
LEAT_MUST_USE leat_status leat_model_variable_read(leat_model *model, const char *name,
                                                   leat_tensor *out);
LEAT_MUST_USE leat_status leat_model_variable_write(leat_model *model, const char *name,
                                                    const leat_tensor *value);

// Variables and how often the entries had run (run_count(), for random numbers), from and to a
// checkpoint as `leat run` writes and reads it. A checkpoint with variables that the model lacks,
// or of a later global_step, is not replaced, unless the option `overwrite` says so;
// leat_model_check_save tells before a run what is known then, whether the file can be written,
// too. A file that is damaged (it has checksums), that lacks a variable or has another value of one
// that `leat build --vars` made a constant restores nothing; a partial restore takes what there is
// of a whole file, and keeps the constants.
LEAT_MUST_USE leat_status leat_model_restore(leat_model *model, const char *path);
LEAT_MUST_USE leat_status leat_model_restore_partial(leat_model *model, const char *path);
LEAT_MUST_USE leat_status leat_model_check_save(leat_model *model, const char *path);
LEAT_MUST_USE leat_status leat_model_save(leat_model *model, const char *path);

// `main` of an executable that `leat build` makes: see its --help. Returns the exit code. `saving`
// is leat_saves_variables where there is something to restore and save, else NULL.
struct leat_executable_saving;
int leat_executable_main(const leat_built_step *steps,
                         const struct leat_executable_saving *(*saving)(void), int argc,
                         char **argv);
const struct leat_executable_saving *leat_saves_variables(void);

#ifdef __cplusplus
}
#endif

#endif
