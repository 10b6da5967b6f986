// Whether somebody wants it to end.
#include "session/session.h"

leat_status leat_session_check(leat_session *session) {
  if (!leat_runtime_is_interrupted(session->runtime)) return LEAT_OK;
  return leat_fail(&session->error, LEAT_ABORTED, "interrupted");
}
