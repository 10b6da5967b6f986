// What an executable says of itself and of how fast it is. Internal to runtime/.
#ifndef LEAT_RUNTIME_MAIN_REPORT_H
#define LEAT_RUNTIME_MAIN_REPORT_H

#include "leat/runtime.h"

// Its version, entries, variables, constants and files, on stdout.
void leat_info_print(const leat_model *model);

// Runs `runs` times, 0: as often as a second allows, but for a first run, which is not measured;
// prints what one takes. `run` says whether there may be another.
LEAT_MUST_USE leat_status leat_bench_run(leat_model *model, int runs,
                                         leat_status (*run)(void *context, bool *goes_on),
                                         void *context);

#endif
