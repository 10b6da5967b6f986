// Compiled models in a user's program: what `leat build -o model.o` makes, linked with libleat_rt.
//
//     #include "model.h"              // declares model_image and model_kernels
//     leat_model *m;
//     leat_model_create(&model_image, model_kernels, &(leat_model_options){0}, &m);
//     leat_tensor x = {LEAT_f32, 2, {1, 64}, pixels}, y;
//     leat_model_run(m, &x, &y);      // y.data: f32[1, 10], the model's until its next run
//     leat_model_destroy(m);
//
// A failing call returns a status and leaves the model as it was; leat_model_message says why. A
// call that makes no sense (NULL, a model that was destroyed, a dtype or rank that is none) answers
// LEAT_INVALID and changes nothing; one that returns no status gives 0, NULL, a dtype that is none
// or rank -1.
//
// Threads: a model is used by one thread at a time, any one; different models, of one image too, by
// any threads at once.
#ifndef LEAT_RUNTIME_API_H
#define LEAT_RUNTIME_API_H

#include "leat/artifact.h"
#include "leat/dtype.h"
#include "leat/status.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct leat_model leat_model;

typedef struct leat_model_options {
  int threads;      // 0: as many as cores
  double deadline;  // seconds a run may take without progress; 0: 60
  const char *base; // the directory of the files the model loads; NULL: the working directory
  // What print nodes say; NULL: dropped. Called by any thread of the run, one at a time.
  void (*print)(void *context, const char *text);
  void *print_context;
  bool overwrite; // leat_model_save may replace any checkpoint
  const void *reserved[LEAT_RESERVED];
} leat_model_options;

// `kernels` is what leat build made beside the image. *out is valid (for leat_model_message and
// leat_model_destroy) even on failure, unless memory ran out; then it is NULL.
LEAT_MUST_USE leat_status leat_model_create(const leat_image *image,
                                            const leat_kernel_function *kernels,
                                            const leat_model_options *options, leat_model **out);
void leat_model_destroy(leat_model *model); // NULL is fine
const char *leat_model_message(const leat_model *model);

// Feeds and fetches are numbered in the order of the entry's declaration.
int leat_model_feed_count(const leat_model *model);
int leat_model_fetch_count(const leat_model *model);
const char *leat_model_feed_name(const leat_model *model, int i);
const char *leat_model_fetch_name(const leat_model *model, int i);
const char *leat_model_feed_type(const leat_model *model, int i); // "f32[B, 64]"
const char *leat_model_fetch_type(const leat_model *model, int i);
leat_dtype leat_model_feed_dtype(const leat_model *model, int i);
int leat_model_feed_rank(const leat_model *model, int i);
bool leat_model_feed_has_fallback(const leat_model *model, int i);

// feeds[i].data NULL takes the feed's default. fetches[i].data belongs to the model and is valid
// until its next run.
LEAT_MUST_USE leat_status leat_model_run(leat_model *model, const leat_tensor *feeds,
                                         leat_tensor *fetches);

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

// `main` of an executable that `leat build` makes: see its --help. Returns the exit code.
int leat_executable_main(const leat_image *image, const leat_kernel_function *kernels, int argc,
                         char **argv);

#ifdef __cplusplus
}
#endif

#endif
