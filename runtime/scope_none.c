// The scopes of a program of segments alone: no task binds a dim, so all is of the step.
// It runs seldom: compiled for size.
#include "runtime/scope.h"

#include "runtime/program.h"

static void take_all(leat_arena *arena, leat_numbers *out, uint64_t count) {
  for (uint32_t i = 0; i < count; i++) leat_vec_push(arena, out, i);
}

bool leat_scopes_none(leat_program *program) {
  const leat_image *image = program->image;
  leat_arena *arena = program->arena;
  leat_scope *scope = leat_new_array(arena, leat_scope, image->tables.count);
  program->scopes = scope;
  program->dim_scopes = leat_new_array(arena, uint32_t, image->dims.count + 1);
  program->late = leat_new_array(arena, bool, image->dims.count + 1);
  take_all(arena, &scope->formulas, image->formulas.count);
  take_all(arena, &scope->arenas, image->arenas.count);
  take_all(arena, &scope->buffers, image->buffers.count);
  take_all(arena, &scope->args, image->args.count);
  take_all(arena, &scope->launches, image->launches.count);
  take_all(arena, &scope->tasks, image->tasks.count);
  take_all(arena, &scope->claims, image->claims.count);
  take_all(arena, &scope->tables, image->tables.count);
  return true;
}
