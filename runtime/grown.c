// Growing memory: what a branch gives, and what loops carry whose size is known when it is there.
// Where tasks append, each time something is put behind what is there (APPEND); where launches do,
// they find room for more than that (ROWS), and stop when it is used up. What there is room for is
// at least doubled, so that what is there moves seldom; the first time for as much as the last run
// had.
// It runs seldom: compiled for size.
#include "runtime/frame.h"

#include <stdlib.h>
#include <string.h>

enum { LEAST_ROWS = 16, LEAST_BYTES = 1 << 12 };

// Makes room for `least` bytes, of which the first `kept` are there already, or better for
// `wanted`; where these are too many, for half of what may be taken beyond those.
static leat_status reserve(leat_frame *frame, leat_block *block, uint64_t least, uint64_t wanted,
                           uint64_t kept, const leat_frame_limits *limits, leat_error *error) {
  if (least <= block->size && block->memory) return LEAT_OK;
  void *old = block->memory;
  *block = (leat_block){0};
  uint64_t size = wanted > least ? wanted : least;
  if (limits->memory) {
    uint64_t taken = leat_frame_memory(frame) + least;
    uint64_t left = taken < limits->memory ? limits->memory - taken : 0;
    if (size - least > left) size = least + left / 2;
  }
  leat_status status = leat_frame_check_memory(frame, size, limits, error);
  if (!kept) free(old), old = NULL;
  if (!status) status = leat_frame_reallocate(&block->memory, size, error);
  if (!status && kept) memcpy(block->memory, old, kept);
  if (!status) block->size = size;
  free(old);
  return status;
}

static bool fits_behind(const leat_grown *grown, const leat_tensor *tensor) {
  bool fits = tensor->rank > 0;
  for (int32_t k = 1; k < tensor->rank; k++) fits &= tensor->shape[k] == grown->shape[k];
  return fits;
}

leat_status leat_frame_grow(leat_frame *frame, uint32_t number, const leat_tensor *tensor,
                            bool append, const leat_frame_limits *limits, leat_error *error) {
  leat_grown *grown = &frame->grown[number];
  int64_t kept = append ? grown->bytes : 0, rows = append ? grown->shape[0] : 0;
  int64_t bytes = leat_tensor_bytes(tensor);
  const char *data = tensor->data, *old = grown->block.memory;
  bool inside = old && data >= old && data < old + grown->block.size; // a part of what is there
  if (append && !fits_behind(grown, tensor))
    return leat_fail(error, LEAT_INVALID, "damaged image: what is appended is of another shape");
  if (bytes > INT64_MAX / 2 - kept) return leat_fail(error, LEAT_MEMORY, "too much grows");
  uint64_t least = (uint64_t)(kept + bytes);
  pthread_mutex_lock(&frame->lock);
  leat_status status =
      reserve(frame, &grown->block, least, least + least / 2, (uint64_t)kept, limits, error);
  pthread_mutex_unlock(&frame->lock);
  LEAT_TRY(status);
  char *to = grown->block.memory;
  if (inside && append) data = to + (data - old);
  if (bytes) memmove(to + kept, data, (size_t)bytes);
  memcpy(grown->shape, tensor->shape, sizeof grown->shape);
  grown->shape[0] += rows;
  grown->bytes = kept + bytes;
  return LEAT_OK;
}

// -- Rows that launches append --------------------------------------------------------------------

// A tensor of one row.
static int64_t row_bytes(const leat_frame *frame, uint32_t number) {
  const leat_image_grown *record = &frame->program->view.grown[number];
  leat_tensor row = {.dtype = (leat_dtype)record->dtype, .rank = (int32_t)record->rank};
  memcpy(row.shape, frame->grown[number].shape, sizeof row.shape);
  row.shape[0] = 1;
  return leat_tensor_bytes(&row);
}

static int64_t *count_of(const leat_frame *frame, const leat_image_rows *rows) {
  return leat_frame_buffer(frame, rows->count);
}

static int64_t greater(int64_t a, int64_t b) {
  return a > b ? a : b;
}

// More than there was, for what did not fit; or as much as may be needed at first.
static leat_status make_room(leat_frame *frame, uint32_t number, bool first,
                             const leat_frame_limits *limits, leat_error *error) {
  leat_grown *grown = &frame->grown[number];
  int64_t row = row_bytes(frame, number), rows = grown->shape[0], all;
  int64_t had = row ? (int64_t)grown->block.size / row : grown->room;
  int64_t least = first ? rows : had + 1;
  rows = greater(greater(grown->usual, first ? rows : 2 * had), LEAST_ROWS);
  rows = greater(rows, row ? LEAST_BYTES / row : 0);
  if (had > INT64_MAX / 4 || __builtin_mul_overflow(rows, row, &all) || all > INT64_MAX / 4)
    return leat_fail(error, LEAT_MEMORY, "too much grows");
  pthread_mutex_lock(&frame->lock);
  leat_status status = reserve(frame, &grown->block, (uint64_t)(least * row), (uint64_t)all,
                               (uint64_t)grown->bytes, limits, error);
  pthread_mutex_unlock(&frame->lock);
  LEAT_TRY(status);
  grown->room = grown->shape[0] = row ? (int64_t)grown->block.size / row : rows;
  grown->bytes = grown->shape[0] * row;
  return LEAT_OK;
}

leat_status leat_frame_make_room(leat_frame *frame, const leat_image_region *region, bool first,
                                 const leat_frame_limits *limits, leat_error *error) {
  for (uint32_t i = 0; i < region->rows_count; i++) {
    const leat_image_rows *rows = &frame->program->view.rows[region->rows_first + i];
    if (first) *count_of(frame, rows) = frame->grown[rows->grown].shape[0];
    LEAT_TRY(make_room(frame, rows->grown, first, limits, error));
  }
  return LEAT_OK;
}

bool leat_frame_end_rows(leat_frame *frame, const leat_image_region *region) {
  for (uint32_t i = 0; i < region->rows_count; i++) {
    const leat_image_rows *rows = &frame->program->view.rows[region->rows_first + i];
    leat_grown *grown = &frame->grown[rows->grown];
    int64_t count = *count_of(frame, rows);
    if (count < 0 || count > grown->shape[0]) return false;
    grown->shape[0] = grown->usual = count;
    grown->bytes = count * row_bytes(frame, rows->grown);
  }
  return true;
}
