// The names of a leat_step_spec, looked up in the session's graph.
#ifndef LEAT_SESSION_REQUEST_H
#define LEAT_SESSION_REQUEST_H

#include "session/session.h"

// A step's request and its ports, in the order in which leat_step_run takes and gives them. `name`
// of a port is what the compiled step calls it too.
typedef struct leat_request {
  leat_step_request step;
  leat_vec(leat_port) feeds;
  leat_vec(leat_port) fetches;
  leat_vec(const leat_type *) feed_types;
  leat_vec(leat_span) feed_spans; // where what is fed stands in the text
  const char *count_of;           // the entry whose runs run_count() counts; NULL: none
} leat_request;

// Everything is in `arena`. Unknown names are reported with the nearest known one.
leat_status leat_request_resolve(leat_session *session, leat_arena *arena,
                                 const leat_step_spec *spec, leat_request *out);

#endif
