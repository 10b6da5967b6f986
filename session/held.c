// Values that a REPL computed: what a line runs of an entry, and tensors under names. A held value
// is a feed that no entry has; step.c feeds it.
#include "base/tensor.h"
#include "session/session.h"

#include <stdlib.h>

void leat_session_note_entry_run(leat_session *session) {
  const leat_entry_call *call = leat_frontend_entry_call(session->frontend);
  session->last.entry_run = (leat_entry_run){0};
  if (!call->entry) return;
  uint32_t count = call->entry->params.count;
  const char **feeds = leat_new_array(session->arena, const char *, (size_t)count + 1);
  for (uint32_t i = 0; i < count; i++)
    if (call->feeds[i].node) feeds[i] = leat_session_value_name(session, call->feeds[i]);
  session->last.entry_run = (leat_entry_run){.entry = call->entry->name,
                                        .feeds = feeds,
                                        .feed_count = (int)count,
                                        .targets = call->targets,
                                        .target_count = (int)call->target_count};
}

const leat_entry_run *leat_session_entry_run(const leat_session *session) {
  static const leat_entry_run none = {0};
  return leat_session_is_made(session) ? &session->last.entry_run : &none;
}

leat_status leat_session_hold(leat_session *session, const char *name, const leat_tensor *value) {
  leat_error *error = leat_session_begin(session);
  if (!error) return LEAT_INVALID;
  if (!name) return leat_session_refuse(session, "`name` is NULL");
  leat_status wrong = leat_tensor_check(value, name, error);
  if (wrong) return leat_session_end(session, wrong);
  leat_type type = leat_type_of_tensor(value);
  leat_tensor *copy = malloc(sizeof *copy);
  void *data = leat_tensor_clone(value);
  const char *feed = copy && data ? leat_frontend_hold(session->frontend, name, &type) : NULL;
  if (feed) {
    *copy = *value;
    copy->data = data;
    leat_map_set(&session->held, feed, copy);
    return leat_session_end(session, LEAT_OK);
  }
  leat_status status = copy && data ? LEAT_INVALID : LEAT_MEMORY;
  free(copy);
  free(data);
  return leat_session_end(session, status);
}

const leat_tensor *leat_session_held(const leat_session *session, const char *feed) {
  return leat_map_get(&session->held, leat_intern(session->strings, feed));
}

void leat_session_forget_held(leat_session *session) {
  for (uint32_t i = 0; i < session->held.count; i++) {
    leat_tensor *value = session->held.entries[i].value;
    free(value->data);
    free(value);
  }
}
