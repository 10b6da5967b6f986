// What a call has to say, as data. It lies in an arena of its own: that of the session is put back
// when a text is refused.
#include "session/session.h"

#include <stdlib.h>
#include <string.h>

static void keep(void *context, const leat_problem *problem) {
  leat_session *session = context;
  leat_problem kept = *problem;
  leat_arena *arena = session->told;
  if (kept.file) kept.file = leat_arena_strndup(arena, kept.file, strlen(kept.file));
  kept.message = leat_arena_strndup(arena, kept.message, strlen(kept.message));
  leat_vec_push(arena, &session->problems, kept);
}

// The number in front of *end, which a colon stands in front of, and *end is put there; 0: none.
static int number_before(const char *begin, const char **end) {
  const char *digit = *end;
  while (digit > begin && digit[-1] >= '0' && digit[-1] <= '9') digit--;
  if (digit == *end || digit == begin || digit[-1] != ':') return 0;
  *end = digit - 1;
  return atoi(digit);
}

// Whatever ends a running step says `NAME` (FILE:LINE:COLUMN), wherever it ran
// (leat_origin_print).
static void find_place(leat_arena *arena, leat_problem *problem) {
  const char *begin = strstr(problem->message, "` (");
  if (!begin) return;
  begin += strlen("` (");
  for (const char *close = strchr(begin, ')'); close; close = strchr(close + 1, ')')) {
    const char *end = close;
    int column = number_before(begin, &end), line = column ? number_before(begin, &end) : 0;
    if (!line) continue; // a parenthesis of the file's name
    problem->file = leat_arena_strndup(arena, begin, (size_t)(end - begin));
    problem->line = line;
    problem->column = column;
    return;
  }
}

void leat_session_tell(leat_session *session, leat_status status) {
  leat_session_tell_nothing(session);
  leat_diag_each(session->diag, keep, session);
  if (!status || leat_diag_errors(session->diag)) return;
  leat_problem error = {.message = session->error.status ? session->error.message
                                                         : leat_status_name(status)};
  find_place(session->told, &error);
  keep(session, &error);
}

void leat_session_tell_nothing(leat_session *session) {
  session->problems.count = 0;
  if (!session->problems.items) return;
  session->problems.items = NULL;
  session->problems.capacity = 0;
  leat_arena_reset(session->told);
}

void leat_session_tell_no_memory(leat_session *session) {
  static leat_problem no_memory = {.message = "out of memory"};
  leat_session_tell_nothing(session);
  session->problems.items = &no_memory;
  session->problems.count = 1;
}

int leat_session_problem_count(const leat_session *session) {
  return leat_session_is_live(session) ? (int)session->problems.count : 0;
}

const leat_problem *leat_session_problem(const leat_session *session, int i) {
  bool there = i >= 0 && i < leat_session_problem_count(session);
  return there ? &session->problems.items[i] : NULL;
}
