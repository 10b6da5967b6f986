// Whole steps kept on disk. The key is all that a step's code depends on: the pruned graph's
// canonical text, the dims it is specialised to, devices, CPU, flags, the files it loads, and the
// build of the compiler. A hit runs no later pass and no code generator.
#ifndef LEAT_SESSION_STEP_CACHE_H
#define LEAT_SESSION_STEP_CACHE_H

#include "session/step_code.h"

// Adds the key of the step in `driver` (after prune).
void leat_step_cache_key(const leat_driver *driver, leat_text *out);

// False: it is not there, or damaged. Its pieces lie in out->arena.
bool leat_step_cache_get(leat_session *session, const leat_text *key, leat_step_code *out);
void leat_step_cache_put(leat_session *session, const leat_text *key, const leat_step_code *code);

#endif
