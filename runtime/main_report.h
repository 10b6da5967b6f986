// What an executable says of itself and of how fast it is. Internal to runtime/.
#ifndef LEAT_RUNTIME_MAIN_REPORT_H
#define LEAT_RUNTIME_MAIN_REPORT_H

#include "leat/runtime.h"

// Its version, entries, variables, constants and files, on stdout.
void leat_info_print(const leat_model *model);

// Runs an entry `runs` times, 0: as often as a second allows, but for a first run, which is not
// measured; prints what one takes.
LEAT_MUST_USE leat_status leat_bench_run(leat_model *model, int entry, int runs,
                                         const leat_tensor *feeds, leat_tensor *fetches);

#endif
