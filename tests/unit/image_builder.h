// Images made by hand: records are added one by one, image_finish lays them out. Formulas are built
// from constants and dims: image_constant(b, 64), image_dim_formula(b, n).
#ifndef LEAT_TESTS_UNIT_IMAGE_BUILDER_H
#define LEAT_TESTS_UNIT_IMAGE_BUILDER_H

#include "leat/artifact.h"

#include <stdlib.h>
#include <string.h>

enum { IMAGE_MOST = 4096 }; // records of each kind

typedef struct image_builder {
#define X(name, type)                                                                              \
  type name[IMAGE_MOST];                                                                           \
  uint32_t name##_count;
  LEAT_IMAGE_RANGES(X)
#undef X
  leat_text_index device;
  int64_t arena;
} image_builder;

#define IMAGE_ADD(b, name, ...) ((b)->name[(b)->name##_count] = (__VA_ARGS__), (b)->name##_count++)

static inline leat_text_index image_text(image_builder *b, const char *text) {
  leat_text_index index = b->text_count;
  memcpy(b->text + index, text, strlen(text) + 1);
  b->text_count += (uint32_t)strlen(text) + 1;
  return index;
}

static inline image_builder *image_begin(const char *device) {
  image_builder *b = calloc(1, sizeof *b);
  image_text(b, "");
  b->device = image_text(b, device);
  IMAGE_ADD(b, arenas, (leat_image_arena){0}); // its size is known in the end
  return b;
}

static inline uint32_t image_constant(image_builder *b, int64_t value) {
  return IMAGE_ADD(b, formulas, (leat_formula){.value = value});
}

static inline uint32_t image_dim(image_builder *b, const char *name, int64_t low, int64_t high) {
  return IMAGE_ADD(b, dims,
                   (leat_image_dim){.name = image_text(b, name), .low = low, .high = high});
}

static inline uint32_t image_dim_formula(image_builder *b, uint32_t dim) {
  uint32_t word = IMAGE_ADD(b, code, LEAT_FORMULA_DIM | (int64_t)dim << 8);
  return IMAGE_ADD(b, formulas, (leat_formula){.code_first = word, .code_count = 1});
}

// One-dimensional, `size` a formula; a negative size: a scalar.
static inline leat_image_type image_type(leat_dtype dtype, int64_t size) {
  return (leat_image_type){
      .dtype = dtype, .rank = size >= 0, .shape_first = (uint32_t)(size >= 0 ? size : 0)};
}

static inline uint32_t image_buffer(image_builder *b, leat_buffer_kind kind, uint64_t where,
                                    leat_image_type type) {
  return IMAGE_ADD(b, buffers, (leat_image_buffer){.kind = kind, .where = where, .type = type});
}

// A new piece of the arena with room for `bytes`.
static inline uint32_t image_arena_buffer(image_builder *b, int64_t bytes, leat_image_type type) {
  uint32_t offset = image_constant(b, b->arena);
  b->arena += (bytes + 63) & ~(int64_t)63;
  return image_buffer(b, LEAT_BUFFER_ARENA, offset, type);
}

static inline uint32_t image_feed(image_builder *b, const char *name, leat_image_type type) {
  uint32_t feed =
      IMAGE_ADD(b, feeds, (leat_image_feed){.origin.name = image_text(b, name), .type = type});
  return image_buffer(b, LEAT_BUFFER_FEED, feed, type);
}

static inline void image_fetch(image_builder *b, const char *name, uint32_t buffer) {
  IMAGE_ADD(b, fetches, (leat_image_fetch){.name = image_text(b, name), .buffer = buffer});
}

// A launch of kernel `kernel` on up to four buffers, ended by a negative one.
static inline uint32_t image_launch(image_builder *b, uint32_t kernel, int64_t tiles, int64_t work,
                                    const int *buffers) {
  uint32_t first = b->args_count, count = 0;
  for (; buffers[count] >= 0; count++)
    IMAGE_ADD(b, args, (leat_image_arg){.index = (uint32_t)buffers[count]});
  return IMAGE_ADD(b, launches,
                   (leat_image_launch){.kind = LEAT_LAUNCH_KERNEL,
                                       .kernel = kernel,
                                       .arg_first = first,
                                       .arg_count = count,
                                       .tiles = image_constant(b, tiles),
                                       .work = image_constant(b, work),
                                       .node.name = image_text(b, "node")});
}

#define BUFFERS(...) ((const int[]){__VA_ARGS__, -1})

// A task without successors; image_order adds them.
static inline uint32_t image_task(image_builder *b, leat_task_kind kind, uint32_t first,
                                  uint32_t count, const char *name) {
  return IMAGE_ADD(
      b, tasks,
      (leat_image_task){
          .kind = kind, .first = first, .count = count, .node.name = image_text(b, name)});
}

// `after` runs after `before`; all successors of one task are given together.
static inline void image_order(image_builder *b, uint32_t before, uint32_t after) {
  leat_image_task *task = &b->tasks[before];
  if (task->successor_count == 0) task->successor_first = b->successors_count;
  task->successor_count++;
  IMAGE_ADD(b, successors, after);
  b->tasks[after].dependencies++;
}

// Its tables are added apart, by these numbers.
static inline uint32_t image_region(image_builder *b, uint32_t predicate, uint32_t first,
                                    uint32_t second) {
  return IMAGE_ADD(b, regions,
                   (leat_image_region){.predicate = predicate, .tables = {first, second}});
}

// The loop carries the strings of the buffer, and no others.
static inline void image_carry(image_builder *b, uint32_t loop, uint32_t buffer) {
  b->regions[loop].carried_first = IMAGE_ADD(b, args, (leat_image_arg){.index = buffer});
  b->regions[loop].carried_count = 1;
}

static inline uint32_t image_region_launch(image_builder *b, leat_launch_kind kind,
                                           uint32_t region) {
  return IMAGE_ADD(
      b, launches,
      (leat_image_launch){.kind = kind, .region = region, .node.name = image_text(b, "region")});
}

static inline uint32_t image_message(image_builder *b, uint32_t edge, uint32_t buffer,
                                     const char *peer) {
  return IMAGE_ADD(b, messages,
                   (leat_image_message){.edge = edge,
                                        .buffer = buffer,
                                        .peer = image_text(b, peer),
                                        .name = image_text(b, "tensor:0")});
}

// The image, 64-byte aligned and malloc'ed; ends the builder. A step of all tasks when no table was
// given.
static inline leat_image *image_finish(image_builder *b) {
  if (b->tables_count == 0) IMAGE_ADD(b, tables, (leat_image_table){.task_count = b->tasks_count});
  b->arenas[0].size = image_constant(b, b->arena);
  leat_image header = {.magic = LEAT_IMAGE_MAGIC,
                       .version = LEAT_IMAGE_VERSION,
                       .header_size = sizeof header,
                       .device = b->device,
                       .name = image_text(b, "step")};
  uint64_t size = sizeof header;
#define X(range, type)                                                                             \
  size = (size + 63) & ~(uint64_t)63;                                                              \
  header.range = (leat_range){size, b->range##_count};                                             \
  size += b->range##_count * sizeof(type);
  LEAT_IMAGE_RANGES(X)
#undef X
  header.size = size = (size + 63) & ~(uint64_t)63;
  char *image = aligned_alloc(64, size);
  memset(image, 0, size);
  memcpy(image, &header, sizeof header);
#define X(range, type)                                                                             \
  memcpy(image + header.range.offset, b->range, b->range##_count * sizeof(type));
  LEAT_IMAGE_RANGES(X)
#undef X
  free(b);
  return (leat_image *)image;
}

// Of kernel 0 alone, which makes `step/y` of `step/x`, both f32[elements], a tile an element.
static inline leat_image *image_of_one_kernel(int64_t elements, int64_t work) {
  image_builder *b = image_begin("/job:local/task:0/device:cpu:0");
  leat_text_index name = image_text(b, "step");
  IMAGE_ADD(b, kernels, (leat_image_kernel){.symbol = name, .title = name});
  leat_image_type vector = image_type(LEAT_f32, image_constant(b, elements));
  uint32_t x = image_feed(b, "step/x", vector), y = image_arena_buffer(b, 4 * elements, vector);
  uint32_t launch = image_launch(b, 0, elements, work, BUFFERS((int)y, (int)x));
  image_task(b, LEAT_TASK_SEGMENT, launch, 1, "step");
  image_fetch(b, "step/y", y);
  return image_finish(b);
}

#endif
