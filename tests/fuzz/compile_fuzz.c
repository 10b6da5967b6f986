// The frontend, the passes and codegen on any text: each of its entries is prepared up to the
// kernels. A failure says why, and the graph prints as before.
#include "tests/fuzz/fuzz.h"

#include "leat/leat.h"

#include <stdlib.h>
#include <string.h>

static void expect(bool condition) {
  if (!condition) abort();
}

static void prepare(leat_session *session, const char *entry) {
  leat_step_spec spec = {.entries = &entry, .entry_count = 1};
  leat_step *step = NULL;
  if (leat_session_prepare(session, &spec, &step)) expect(*leat_session_message(session));
  leat_step_destroy(step);
}

static char *print(leat_session *session) {
  char *text = NULL;
  expect(!leat_session_print(session, &text));
  return text;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  leat_session *session;
  leat_session_options options = {
      .devices = 2, .threads = 1, .cache = "off", .symbolic = true, .stop_after = "lower"};
  expect(!leat_session_create(&options, &session));
  char *before = print(session);
  // A size of 0 would ask for the length of a string.
  leat_status status =
      leat_session_extend(session, size ? (const char *)data : "\n", size ? size : 1, "input.leat");
  bool told = *leat_session_message(session); // which is there until the next call
  char *after = print(session);
  if (status) {
    expect(told && strcmp(before, after) == 0);
  } else {
    for (int i = 0; i < leat_session_entry_count(session); i++)
      prepare(session, leat_session_entry(session, i));
  }
  free(before);
  free(after);
  leat_session_destroy(session);
  return 0;
}
