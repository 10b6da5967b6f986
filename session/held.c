// A REPL's lines: what the last one shows and runs, and values that were computed, under names. A
// held value is a feed that no entry has; step.c feeds it.
#include "base/tensor.h"
#include "session/session.h"

#include <stdlib.h>

static const leat_last_text *last_text(const leat_session *session) {
  static const leat_last_text none = {.known = ""};
  return leat_session_is_made(session) && session->last ? session->last : &none;
}

int leat_session_shown_count(const leat_session *session) {
  return (int)last_text(session)->shown.count;
}

const char *leat_session_shown(const leat_session *session, int i) {
  bool is_one = i >= 0 && i < leat_session_shown_count(session);
  return is_one ? session->last->shown.items[i] : NULL;
}

int leat_session_effect_count(const leat_session *session) {
  return (int)last_text(session)->effects.count;
}

const char *leat_session_effect(const leat_session *session, int i) {
  bool is_one = i >= 0 && i < leat_session_effect_count(session);
  return is_one ? session->last->effects.items[i] : NULL;
}

const char *leat_session_shown_text(const leat_session *session) {
  return last_text(session)->known;
}

const leat_entry_run *leat_session_entry_run(const leat_session *session) {
  return &last_text(session)->run;
}

static leat_status bind(leat_session *session, const char *name, leat_tensor *value) {
  leat_type type = leat_type_of_tensor(value);
  const char *feed = leat_frontend_hold(session->frontend, name, &type);
  if (!feed) return LEAT_INVALID;
  leat_map_set(&session->held, feed, value);
  return LEAT_OK;
}

// Takes the value over; a failure changes nothing else.
static leat_status hold(leat_session *session, const char *name, leat_tensor *value) {
  leat_arena_copy *before = leat_arena_copy_create(session->arena);
  leat_map held = session->held;
  leat_status status = LEAT_MEMORY;
  if (before && value->data) LEAT_RECOVER(status, bind(session, name, value));
  status = leat_session_end(session, status);
  if (status && before) {
    leat_arena_copy_put_back(before);
    session->held = held;
  }
  leat_arena_copy_destroy(before);
  return status;
}

leat_status leat_session_hold(leat_session *session, const char *name, const leat_tensor *value) {
  leat_error *error = leat_session_begin(session);
  if (!error) return LEAT_INVALID;
  if (!name) return leat_session_refuse(session, "`name` is NULL");
  leat_status status = leat_tensor_check(value, name, error);
  if (status) return leat_session_end(session, status);
  leat_tensor *copy = malloc(sizeof *copy);
  if (!copy) return leat_session_end(session, LEAT_MEMORY);
  *copy = *value;
  copy->data = leat_tensor_clone(value);
  status = hold(session, name, copy);
  if (status) {
    free(copy->data);
    free(copy);
  }
  return status;
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
