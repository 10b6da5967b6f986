// What a checkpoint holds, in memory: the variables that have a value, and how often entries had
// run. Saving writes one; a run that may have to go back keeps one.
#ifndef LEAT_SESSION_SNAPSHOT_H
#define LEAT_SESSION_SNAPSHOT_H

#include "leat/leat.h"

typedef struct leat_snapshot leat_snapshot;

// *out is the caller's; NULL on failure.
LEAT_MUST_USE leat_status leat_snapshot_take(leat_session *session, leat_snapshot **out);
void leat_snapshot_destroy(leat_snapshot *snapshot); // NULL is fine

// The session is again as it was when it was taken; what had no value then keeps the one it has.
LEAT_MUST_USE leat_status leat_snapshot_put_back(leat_session *session,
                                                 const leat_snapshot *snapshot);
// As leat_session_save; asks no other process.
LEAT_MUST_USE leat_status leat_snapshot_write(leat_session *session, const leat_snapshot *snapshot,
                                              const char *path);

#endif
