// Frames: their memory, and what goes in and comes out. resolve.c sizes and places what is in them.
// It runs seldom: compiled for size.
#include "runtime/frame.h"

#include "base/memory.h"
#include "base/portable.h"
#include "base/str.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void leat_frame_init(leat_frame *frame, const leat_program *program,
                     leat_variable *const *variables, leat_prepared *const *prepared,
                     leat_arena *arena) {
  const leat_image *image = program->image;
  *frame = (leat_frame){
      .program = program,
      .variables = variables,
      .prepared = prepared,
      .dims = leat_new_array(arena, int64_t, image->dims.count + 1),
      .formulas = leat_new_array(arena, int64_t, image->formulas.count + 1),
      .formula_known = leat_new_array(arena, bool, image->formulas.count + 1),
      .refusals = leat_new_array(arena, const leat_image_claim *, image->tables.count),
      .arenas = leat_new_array(arena, leat_block, image->arenas.count),
      .grown = leat_new_array(arena, leat_grown, image->grown.count + 1),
      .buffers = leat_new_array(arena, leat_slot, image->buffers.count + 1),
      .args = leat_new_array(arena, leat_arg, image->args.count + 1),
      .arg_known = leat_new_array(arena, bool, image->args.count + 1),
      .launches = leat_new_array(arena, leat_launch_plan, image->launches.count + 1),
      .tasks = leat_new_array(arena, leat_task_plan, image->tasks.count + 1),
      .fetches = leat_new_array(arena, leat_tensor, image->fetches.count + 1),
      .fetch_copies = leat_new_array(arena, void *, image->fetches.count + 1),
      .feeds = leat_new_array(arena, void *, image->feeds.count + 1),
      .feed_copies = leat_new_array(arena, void *, image->feeds.count + 1),
      .heaps = leat_new_array(arena, leat_string_heap, image->regions.count + 1),
  };
  for (uint64_t i = 0; i <= image->regions.count; i++) leat_string_heap_init(&frame->heaps[i]);
  pthread_mutex_init(&frame->lock, NULL);
}

int32_t leat_call_explain(leat_call *call, leat_status status, const char *format, ...) {
  enum { LONGEST = 256 };
  char *says = leat_string_heap_allocate(call->heap, LONGEST);
  va_list words;
  va_start(words, format);
  if (says) vsnprintf(says, LONGEST, format, words);
  va_end(words);
  call->says = says;
  return (int32_t)status;
}

void leat_frame_clear(leat_frame *frame) {
  for (uint64_t i = 0; i <= frame->program->image->regions.count; i++)
    leat_string_heap_clear(&frame->heaps[i]);
}

static void free_arena(leat_frame *frame, uint64_t i) {
  if (!frame->program->view.arenas[i].within) free(frame->arenas[i].memory);
  frame->arenas[i] = (leat_block){0};
}

void leat_frame_lend(leat_frame *frame, void *memory, size_t size) {
  if (!frame->lent.memory) free(frame->arenas[0].memory);
  frame->arenas[0] = (leat_block){0};
  frame->lent = (leat_block){memory, size};
  frame->resolved = false;
}

void leat_frame_finish(leat_frame *frame) {
  if (!frame->program) return;
  const leat_image *image = frame->program->image;
  for (uint64_t i = 0; i <= image->regions.count; i++) leat_string_heap_finish(&frame->heaps[i]);
  for (uint64_t i = 0; i < image->fetches.count; i++) free(frame->fetch_copies[i]);
  for (uint64_t i = 0; i < image->feeds.count; i++) free(frame->feed_copies[i]);
  leat_frame_lend(frame, NULL, 0);
  for (uint64_t i = 0; i < image->arenas.count; i++) free_arena(frame, i);
  for (uint64_t i = 0; i < image->grown.count; i++) free(frame->grown[i].block.memory);
  pthread_mutex_destroy(&frame->lock);
}

void leat_frame_release(leat_frame *frame) {
  leat_frame_clear(frame);
  if (!frame->program->has_late) return;
  frame->resolved = false;
  for (uint64_t i = 1; i < frame->program->image->arenas.count; i++) free_arena(frame, i);
  for (uint64_t i = 0; i < frame->program->image->grown.count; i++) {
    free(frame->grown[i].block.memory);
    frame->grown[i] = (leat_grown){.usual = frame->grown[i].usual};
  }
}

leat_status leat_frame_reallocate(void **memory, uint64_t size, leat_error *error) {
  free(*memory);
  *memory = leat_memory_allocate(size);
  if (*memory) return LEAT_OK;
  return leat_fail(error, LEAT_MEMORY, "no memory for a buffer of %llu bytes",
                   (unsigned long long)size);
}

int64_t leat_frame_type_bytes(const leat_frame *frame, const leat_image_type *type) {
  leat_tensor tensor = {.dtype = (leat_dtype)type->dtype, .rank = (int32_t)type->rank};
  for (uint32_t i = 0; i < type->rank; i++)
    if (!frame->formula_known[type->shape_first + i]) return -1;
  memcpy(tensor.shape, frame->formulas + type->shape_first, type->rank * sizeof(int64_t));
  return leat_tensor_bytes(&tensor);
}

leat_status leat_frame_feed(leat_frame *frame, uint32_t feed, const leat_tensor *tensor,
                            leat_error *error) {
  const leat_program *program = frame->program;
  const leat_image_feed *record = &program->view.feeds[feed];
  void *data = tensor->data;
  bool copies = data && (uintptr_t)data % leat_dtype_alignment(tensor->dtype);
  int64_t bytes = data && !copies ? 0 : leat_frame_type_bytes(frame, &record->type);
  if (!data) {
    if (bytes >= 0)
      data = (void *)(uintptr_t)leat_program_data(program, record->fallback,
                                                  (leat_dtype)record->type.dtype, bytes);
    if (!data)
      return leat_fail(error, LEAT_INVALID, "damaged image: the default of feed `%s`",
                       leat_program_text(program, record->origin.name));
    copies = record->donated; // nobody writes to the image
  }
  if (copies) {
    LEAT_TRY(leat_frame_reallocate(&frame->feed_copies[feed], (uint64_t)bytes, error));
    data = memcpy(frame->feed_copies[feed], data, (size_t)bytes);
  }
  frame->feeds[feed] = data;
  for (uint32_t i = program->feed_first[feed]; i < program->feed_first[feed + 1]; i++)
    frame->args[program->feed_args[i]].pointer = data;
  return LEAT_OK;
}

void *leat_frame_buffer(const leat_frame *frame, uint32_t buffer) {
  const leat_image_buffer *record = &frame->program->view.buffers[buffer];
  return record->kind == LEAT_BUFFER_FEED ? frame->feeds[record->where]
                                          : frame->buffers[buffer].data;
}

bool leat_frame_holds(const leat_frame *frame, const leat_image_region *region) {
  return *(const uint8_t *)leat_frame_buffer(frame, region->predicate) != 0;
}

// -- Strings that loops make ----------------------------------------------------------------------

static leat_str *carried(const leat_frame *frame, const leat_image_region *loop, uint32_t i,
                         int64_t *count) {
  uint32_t number = frame->program->view.args[loop->carried_first + i].index;
  const leat_image_buffer *buffer = &frame->program->view.buffers[number];
  const leat_slot *slot = &frame->buffers[number];
  if (buffer->kind == LEAT_BUFFER_GROWN) { // its type is that of when the loop has ended
    const leat_grown *grown = &frame->grown[buffer->where];
    *count = leat_shape_elements((int32_t)buffer->type.rank, grown->shape);
    return grown->block.memory;
  }
  *count = slot->bytes / (int64_t)sizeof(leat_str);
  return slot->data;
}

// Of all that the loop carries, packed. What is there more than once counts as often.
static uint64_t carried_bytes(const leat_frame *frame, const leat_image_region *loop) {
  uint64_t bytes = 0;
  for (uint32_t i = 0; i < loop->carried_count; i++) {
    int64_t count;
    const leat_str *strings = carried(frame, loop, i, &count);
    if (__builtin_add_overflow(bytes, leat_strs_packed_size(strings, count), &bytes))
      return UINT64_MAX;
  }
  return bytes;
}

static void keep_carried(leat_frame *frame, const leat_image_region *loop, leat_string_heap *heap) {
  leat_string_heap old;
  leat_string_heap_init(&old);
  leat_string_heap_move(heap, &old);
  leat_status status = LEAT_OK;
  for (uint32_t i = 0; i < loop->carried_count && !status; i++) {
    int64_t count;
    leat_str *strings = carried(frame, loop, i, &count);
    status = leat_string_heap_keep(heap, strings, strings, count);
  }
  if (status) leat_string_heap_move(&old, heap); // some lie there still
  leat_string_heap_finish(&old);
}

// Frees what a loop does not carry. That is at least half of the heap then: so each byte that is
// made pays for one that is copied, however little of what is carried an iteration makes.
static void renew(leat_frame *frame, const leat_image_region *loop, leat_string_heap *heap) {
  enum { LITTLE = 1 << 12 };
  if (heap->bytes < LITTLE || heap->bytes < heap->enough) return;
  uint64_t needed = carried_bytes(frame, loop);
  uint64_t enough = needed < UINT64_MAX / 2 ? 2 * needed : UINT64_MAX;
  if (heap->bytes >= enough) keep_carried(frame, loop, heap);
  heap->enough = enough;
}

bool leat_frame_goes_on(leat_frame *frame, const leat_image_region *loop) {
  const leat_program *program = frame->program;
  leat_string_heap *heap = leat_frame_heap(frame, loop->tables[1]);
  uint32_t owner = program->table_owners[loop->tables[1]];
  bool goes_on = leat_frame_holds(frame, loop);
  if (goes_on)
    renew(frame, loop, heap);
  else
    leat_string_heap_move(heap, leat_frame_heap(frame, program->task_tables[owner]));
  return goes_on;
}

// -- Results --------------------------------------------------------------------------------------

// Strings may lie in the client's feeds or in the image: a result has its own.
static leat_status fetch_strings(leat_frame *frame, leat_tensor *tensor, leat_error *error) {
  const leat_str *from = tensor->data;
  int64_t count = leat_shape_elements(tensor->rank, tensor->shape);
  leat_str *copy = leat_string_heap_allocate(&frame->heaps[0], (uint64_t)count * sizeof *copy);
  tensor->data = copy;
  if (copy && !leat_string_heap_keep(&frame->heaps[0], copy, from, count)) return LEAT_OK;
  return leat_fail(error, LEAT_MEMORY, "no memory for a result's strings");
}

leat_status leat_frame_fetch(leat_frame *frame, leat_store *store, uint32_t fetch, leat_tensor *out,
                             leat_error *error) {
  uint32_t index = frame->program->view.fetches[fetch].buffer;
  const leat_image_buffer *buffer = &frame->program->view.buffers[index];
  void *from = leat_frame_buffer(frame, index);
  leat_store_access access =
      buffer->kind == LEAT_BUFFER_VARIABLE ? LEAT_STORE_READ : LEAT_STORE_NONE;
  leat_status status = LEAT_OK;
  *out = frame->fetches[fetch];
  if (!frame->fetch_copies[fetch] || out->dtype == LEAT_str) out->data = from;
  leat_store_lock(store, access);
  if (out->dtype == LEAT_str)
    status = fetch_strings(frame, out, error);
  else if (out->data != from)
    memcpy(out->data, from, (size_t)frame->buffers[index].bytes);
  leat_store_unlock(store, access);
  return status;
}
