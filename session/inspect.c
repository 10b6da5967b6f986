#include "session/inspect.h"

#include "session/driver.h"
#include "session/request.h"

static leat_status inspect_part(leat_driver *driver, leat_graph *part) {
  leat_session *session = driver->session;
  const leat_target *target = leat_devices_find(&session->devices, part->device)->target;
  leat_compiled code;
  if (!target->generator)
    return leat_fail(&session->error, LEAT_UNSUPPORTED,
                     "the target `%s` runs op by op: there is nothing that is decided for it",
                     target->name);
  leat_text_add(driver->inspection->out, "On %s\n", part->device);
  return leat_driver_codegen(driver, part, &code);
}

static leat_status inspect(leat_driver *driver, const leat_inspect_options *options) {
  LEAT_TRY(leat_driver_set_dims(driver, options->dims, options->dim_count));
  LEAT_TRY(leat_driver_run(driver, NULL));
  for (uint32_t i = 0; i < driver->context.parts.count && !driver->stopped; i++)
    LEAT_TRY(inspect_part(driver, driver->context.parts.items[i]));
  return LEAT_OK;
}

static leat_status inspect_in(leat_session *session, const leat_step_spec *spec,
                              const leat_inspect_options *options, leat_text *text) {
  leat_arena *arena = leat_arena_create();
  leat_request request;
  leat_status status = leat_request_resolve(session, arena, spec, &request);
  if (!status) {
    leat_inspection asked = {
        .memory = options->memory, .plan = options->plan, .all = options->all, .out = text};
    leat_driver driver;
    leat_driver_init(&driver, session, arena, &request.step);
    driver.inspection = &asked;
    status = inspect(&driver, options);
    leat_driver_finish(&driver);
  }
  leat_arena_destroy(arena);
  return status;
}

leat_status leat_session_inspect(leat_session *session, const leat_step_spec *spec,
                                 const leat_inspect_options *options, char **out) {
  if (!leat_session_begin(session)) return LEAT_INVALID;
  leat_text text = {0};
  leat_status status;
  LEAT_RECOVER(status, inspect_in(session, spec, options, &text));
  *out = leat_text_take(&text);
  return leat_session_end(session, status);
}
