// Where the state on parameter servers lives.
#ifndef LEAT_PASSES_STATE_HOME_H
#define LEAT_PASSES_STATE_HOME_H

#include "passes/pass.h"

// By state id of the session's graph: a device name for what belongs on the job `ps`, because its
// declaration says so or says nothing; else the declared constraint or NULL. A slot follows its
// variable.
const char **leat_state_homes(const leat_pass_context *context, const leat_graph *session);

#endif
