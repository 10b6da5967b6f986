// A launch ROTATE: wherever a frame has written down where what lies in a piece is, it is written
// anew.
#include "runtime/rotate.h"

static uint32_t piece_of(const leat_view *view, const leat_image_launch *launch, uint32_t i) {
  return view->buffers[view->args[launch->arg_first + i].index].arena;
}

static bool same_scopes(const leat_view *view, const uint32_t *scopes) {
  for (uint32_t i = 0; i < view->image->launches.count; i++) {
    const leat_image_launch *launch = &view->launches[i];
    for (uint32_t k = 1; launch->kind == LEAT_LAUNCH_ROTATE && k < launch->arg_count; k++)
      if (scopes[piece_of(view, launch, k)] != scopes[piece_of(view, launch, 0)]) return false;
  }
  return true;
}

static bool is_in_piece(const leat_view *view, const leat_image_buffer *buffer) {
  return buffer->kind == LEAT_BUFFER_ARENA && view->arenas[buffer->arena].within;
}

bool leat_pieces_find(leat_program *program, const uint32_t *scopes) {
  const leat_view *view = &program->view;
  leat_arena *arena = program->arena;
  leat_piece *pieces = leat_new_array(arena, leat_piece, program->image->arenas.count);
  program->pieces = pieces;
  for (uint32_t i = 0; i < program->image->buffers.count; i++)
    if (is_in_piece(view, &view->buffers[i]))
      leat_vec_push(arena, &pieces[view->buffers[i].arena].buffers, i);
  for (uint32_t i = 0; i < program->image->args.count; i++) {
    const leat_image_arg *arg = &view->args[i];
    if (!arg->is_scalar && is_in_piece(view, &view->buffers[arg->index]))
      leat_vec_push(arena, &pieces[view->buffers[arg->index].arena].args, i);
  }
  return same_scopes(view, scopes);
}

static void write_places(leat_frame *frame, uint32_t number) {
  const leat_view *view = &frame->program->view;
  const leat_piece *piece = &frame->program->pieces[number];
  for (uint32_t k = 0; k < piece->buffers.count; k++) {
    uint32_t i = piece->buffers.items[k];
    if (frame->buffers[i].known)
      frame->buffers[i].data =
          (char *)frame->arenas[number].memory + frame->formulas[view->buffers[i].where];
  }
  for (uint32_t k = 0; k < piece->args.count; k++) {
    uint32_t i = piece->args.items[k];
    if (frame->arg_known[i]) frame->args[i].pointer = frame->buffers[view->args[i].index].data;
  }
}

void leat_frame_rotate(leat_frame *frame, uint32_t number) {
  const leat_view *view = &frame->program->view;
  const leat_image_launch *launch = &view->launches[number];
  bool binds = frame->program->has_late; // what another task binds may place others meanwhile
  if (binds) pthread_mutex_lock(&frame->lock);
  void *first = frame->arenas[piece_of(view, launch, 0)].memory;
  for (uint32_t i = 0; i < launch->arg_count; i++)
    frame->arenas[piece_of(view, launch, i)].memory =
        i + 1 < launch->arg_count ? frame->arenas[piece_of(view, launch, i + 1)].memory : first;
  for (uint32_t i = 0; i < launch->arg_count; i++) write_places(frame, piece_of(view, launch, i));
  if (binds) pthread_mutex_unlock(&frame->lock);
}
