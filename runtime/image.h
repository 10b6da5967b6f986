// The checked view of an image: after leat_image_check every offset, count and index in it holds,
// every formula is well-formed and every table's dependency counts come out. What depends on the
// dims' values is checked when they are known (frame.c).
#ifndef LEAT_RUNTIME_IMAGE_H
#define LEAT_RUNTIME_IMAGE_H

#include "leat/artifact.h"

#include <stdbool.h>
#include <stddef.h>

typedef struct leat_view {
  const leat_image *image;
#define X(name, type) const type *name;
  LEAT_IMAGE_RANGES(X)
#undef X
} leat_view;

// Of a checked image.
static inline const char *leat_view_text(const leat_view *view, leat_text_index index) {
  return view->text + index;
}

enum { // leat_image_variable.flags
  LEAT_VARIABLE_TRAINABLE = 1,
  LEAT_VARIABLE_WRITTEN = 2,
  LEAT_VARIABLE_INITIAL = 4,
};

enum {
  LEAT_IMAGE_ALIGNMENT = 64,
  LEAT_FORMULA_DEPTH = 32,
  LEAT_REGION_DEPTH = 64, // regions in regions
  LEAT_NO_DIM = -1
};

// Whether the words are a program that leaves one value; part of leat_image_check.
bool leat_formula_check(const int64_t *code, uint32_t count, uint64_t dim_count);

// image_tables.c, part of leat_image_check: whether the tables of an image are sound, whose records
// are.
LEAT_MUST_USE leat_status leat_tables_check(const leat_view *view, leat_error *error);

// How many records a task has that may run regions, and the region that record i runs; NULL: none.
uint32_t leat_task_regions(const leat_image_task *task);
const leat_image_region *leat_task_region(const leat_view *view, const leat_image_task *task,
                                          uint32_t i);
bool leat_task_loops(const leat_view *view, const leat_image_task *task,
                     uint32_t i); // it is a loop

// `image` must be aligned to LEAT_IMAGE_ALIGNMENT.
LEAT_MUST_USE leat_status leat_image_check(const void *image, size_t size, leat_view *out,
                                           leat_error *error);

// The view of an image that is believed, if it is of this version.
LEAT_MUST_USE leat_status leat_image_open(const leat_image *image, leat_view *out,
                                          leat_error *error);

// The number of the tensor of str that begins at byte `where` of `data`; -1: there is none.
int64_t leat_view_strings(const leat_view *view, uint64_t where);

// Whether a launch is a GEMM; of an image that was checked or comes straight from the compiler.
bool leat_image_calls_blis(const leat_image *image);
// Whether some task is no segment, or there is a branch or a loop; of the same.
bool leat_image_controls(const leat_image *image);

// LEAT_UNSUPPORTED: this CPU is below the level that the image is for.
LEAT_MUST_USE leat_status leat_image_check_level(const leat_image *image, leat_error *error);
// Of how many levels the entry is that an artifact's steps begin with.
size_t leat_count_levels(const leat_built_step *steps);
// The highest of these that this CPU has, or the lowest.
const leat_built_step *leat_choose_level(const leat_built_step *steps);

// The value of a checked formula for these values of the dims; false: overflow or division by zero.
bool leat_formula_value(const leat_view *view, uint32_t formula, const int64_t *dims, int64_t *out);
bool leat_formula_is_constant(const leat_view *view, uint32_t formula); // needs no dims
// Whether all dims that it needs have a value; one that has none is -1.
bool leat_formula_is_bound(const leat_view *view, uint32_t formula, const int64_t *dims);
// The dim that a word of its code is, or LEAT_NO_DIM.
int64_t leat_formula_word_dim(int64_t word);
// The dim a formula consists of, or LEAT_NO_DIM.
int64_t leat_formula_dim(const leat_view *view, uint32_t formula);
// Shape and bytes of a checked type; false: overflow, a negative dim or division by zero.
bool leat_type_value(const leat_view *view, const leat_image_type *type, const int64_t *dims,
                     int64_t shape[LEAT_MAX_RANK], int64_t *out_bytes);

// The alignment that the elements of a dtype need.
static inline size_t leat_dtype_alignment(leat_dtype dtype) {
  size_t size = leat_dtype_size(dtype);
  return size < 8 ? size : 8;
}

#endif
