// Sessions of a text, and their steps, for tests of the public API.
#ifndef LEAT_TESTS_UNIT_OPENED_H
#define LEAT_TESTS_UNIT_OPENED_H

#include "leat/leat.h"
#include "tests/unit/check.h"

static leat_session *open_session(const char *text, const char *target) {
  leat_session *session;
  leat_session_options options = {.target = target, .cache = "off", .threads = 1};
  CHECK_EQ_INT(leat_session_create(&options, &session), LEAT_OK);
  CHECK_EQ_INT(leat_session_extend(session, text, 0, "test.leat"), LEAT_OK);
  CHECK_EQ_STR(leat_session_message(session), "");
  return session;
}

static leat_step *prepare(leat_session *session, const char *entry) {
  leat_step *step = NULL;
  leat_step_spec spec = {.entries = &entry, .entry_count = 1};
  CHECK_EQ_INT(leat_session_prepare(session, &spec, &step), LEAT_OK);
  return step;
}

#endif
