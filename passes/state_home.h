// Where state lives.
#ifndef LEAT_PASSES_STATE_HOME_H
#define LEAT_PASSES_STATE_HOME_H

#include "passes/pass.h"

// By state id of the session's graph: its device. Where a declaration allows none, the
// declaration's constraint, so that `place` says so.
const char **leat_state_homes(const leat_pass_context *context, const leat_graph *session);

#endif
