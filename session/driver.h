// The compile driver: pass → verify → dump, then codegen for each part. No pass prints; this does,
// to the session's log. Stages are the passes of pipeline.def between `frontend` and codegen's own.
#ifndef LEAT_SESSION_DRIVER_H
#define LEAT_SESSION_DRIVER_H

#include "codegen/codegen.h"
#include "session/session.h"

// One graph on its way through the passes. `context.graph` is the session's at first, the step's
// after prune; `context.parts` is what partition made.
typedef struct leat_driver {
  leat_session *session;
  leat_pass_context context;
  uint32_t next;                     // the pass that runs next
  leat_phase brought;                // of the texts: leat_brought_phase
  bool stopped;                      // stop_after has been reached: there is nothing more to do
  const char *entry, *about;         // for codegen, of an artifact
  uint32_t level;                    // likewise
  const leat_counted_entry *entries; // likewise
  uint32_t entry_count;
  leat_frozen_list frozen;           // likewise
  leat_file_table files;             // likewise; without `place` they stay where they are
  const leat_inspection *inspection; // for codegen; NULL: nobody asks
} leat_driver;

// What is made lives in `arena`. Symbolic, unless the caller sets the context's dim_values.
void leat_driver_init(leat_driver *driver, leat_session *session, leat_arena *arena,
                      const leat_step_request *step);
void leat_driver_finish(leat_driver *driver);
// Gives run-time dims of the texts their values: B=128.
LEAT_MUST_USE leat_status leat_driver_set_dims(leat_driver *driver, const leat_setting *dims,
                                               int count);

// Runs the passes up to the one called `last`; NULL: all that are left.
LEAT_MUST_USE leat_status leat_driver_run(leat_driver *driver, const char *last);
// One part → image and kernels, in the driver's arena.
LEAT_MUST_USE leat_status leat_driver_codegen(leat_driver *driver, leat_graph *part,
                                              leat_compiled *out);

void leat_print_kernels(const leat_compiled *code, leat_text *out); // for people

// The files that the graph's `load` nodes name become keys of `files`, each once.
void leat_files_of(leat_graph *graph, leat_map *files);
// Their sizes as they are now: leat_file_table.sizes.
LEAT_MUST_USE leat_status leat_file_sizes(leat_graph *graph, leat_arena *arena, leat_map *sizes,
                                          leat_error *error);

// The stages in their order; NULL: there are no more.
const char *leat_stage_name(uint32_t i);
// Whether there is such a stage, or a list of them separated by commas (or "all"); NULL is fine.
leat_status leat_stage_check(const char *stage, leat_error *error);
leat_status leat_stages_check(const char *stages, leat_error *error);
bool leat_stage_dumped(const leat_session *session, const char *stage);
void leat_session_log(leat_session *session, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
// The text of a stage, when it is to be dumped. `of`: the device, or NULL.
void leat_session_dump(leat_session *session, const char *stage, const char *of, const char *text);

double leat_seconds(void); // of a clock that only goes forward
// Logs what a stage took since `start`, when passes are timed.
void leat_session_time(leat_session *session, const char *stage, double start);

#endif
