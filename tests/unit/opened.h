// Sessions of a text, and their steps, for tests of the public API.
#ifndef LEAT_TESTS_UNIT_OPENED_H
#define LEAT_TESTS_UNIT_OPENED_H

#include "leat/leat.h"
#include "tests/unit/check.h"

static inline leat_session *open_session_with(const char *text,
                                              const leat_session_options *options) {
  leat_session *session;
  CHECK_EQ_INT(leat_session_create(options, &session), LEAT_OK);
  CHECK_EQ_INT(leat_session_extend(session, text, 0, "test.leat"), LEAT_OK);
  CHECK_EQ_STR(leat_session_message(session), "");
  return session;
}

static inline leat_session *open_session(const char *text, const char *target) {
  leat_session_options options = {.target = target, .cache = "off", .threads = 1};
  return open_session_with(text, &options);
}

static inline leat_step *prepare(leat_session *session, const char *entry) {
  leat_step *step = NULL;
  leat_step_spec spec = {.entries = &entry, .entry_count = 1};
  CHECK_EQ_INT(leat_session_prepare(session, &spec, &step), LEAT_OK);
  return step;
}

#endif
