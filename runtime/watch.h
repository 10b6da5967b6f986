// What ends runs that take longer than a runtime lets them. Internal to runtime/.
#ifndef LEAT_RUNTIME_WATCH_H
#define LEAT_RUNTIME_WATCH_H

#include "leat/status.h"

struct leat_runtime;
typedef struct leat_watch leat_watch;

LEAT_MUST_USE leat_status leat_watch_start(struct leat_runtime *runtime, leat_error *error);
void leat_watch_end(leat_watch *watch); // NULL is fine

#endif
