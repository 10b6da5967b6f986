#include "session/loaded_step.h"

#include "session/cluster.h"

static leat_status load_parts(leat_session *session, leat_arena *arena, const leat_step_code *code,
                              leat_loaded_step *out) {
  for (uint32_t i = 0; i < code->parts.count; i++) {
    const leat_part_code *part = &code->parts.items[i];
    const leat_device *device = leat_devices_find(&session->devices, part->device);
    if (!device || !device->store)
      return leat_fail(&session->error, LEAT_INVALID, "%s is not a device of this process",
                       part->device);
    leat_program *program;
    leat_vec_reserve(arena, &out->programs, out->programs.count + 1u);
    LEAT_TRY(leat_step_load(part, &program, &session->error));
    leat_vec_push(arena, &out->programs, program);
    leat_vec_push(arena, &out->parts, (leat_part){program, device->store});
  }
  return LEAT_OK;
}

leat_status leat_loaded_step_start(leat_session *session, leat_arena *arena,
                                   const leat_step_code *code, leat_loaded_step *out) {
  LEAT_TRY(load_parts(session, arena, code, out));
  if (!out->parts.count) return LEAT_OK;
  leat_executor_options options = {0};
  if (session->cluster)
    options = (leat_executor_options){LEAT_CLUSTER_RUNS, leat_cluster_route, session};
  LEAT_TRY(leat_executor_create(session->runtime, out->parts.items, out->parts.count, &options,
                                &out->executor, &session->error));
  out->run = leat_run_acquire(out->executor);
  return out->run ? LEAT_OK : leat_fail(&session->error, LEAT_MEMORY, "no memory for a run");
}

void leat_loaded_step_finish(leat_loaded_step *step) {
  leat_run_release(step->run);
  leat_executor_destroy(step->executor);
  for (uint32_t i = 0; i < step->programs.count; i++) leat_program_destroy(step->programs.items[i]);
}
