// What a Run that fetches some values costs, on the calling thread alone.
//
//     fetch FILE NAME…       then, a line each on standard input: how many Runs to time
#include "bench/bench.h"

#define NAMES 8

int main(int argc, char **argv) {
  if (argc < 3 || argc - 2 > NAMES) return fprintf(stderr, "usage: fetch FILE NAME…\n"), 2;
  leat_session *session;
  leat_step *step;
  leat_tensor fetched[NAMES];
  leat_status created = leat_session_create(&(leat_session_options){.threads = 1}, &session);
  check(session, created);
  check(session, leat_session_extend_file(session, argv[1]));
  leat_step_spec spec = {.fetches = (const char *const *)argv + 2, .fetch_count = argc - 2};
  check(session, leat_session_prepare(session, &spec, &step));
  for (int runs; (runs = next_round()) > 0;) {
    double *seconds = calloc((size_t)runs, sizeof *seconds);
    if (!seconds) return 1;
    for (int i = 0; i < runs; i++) {
      double start = now();
      check(session, leat_step_run(step, NULL, fetched));
      seconds[i] = now() - start;
    }
    report(seconds, runs);
    free(seconds);
  }
  leat_step_destroy(step);
  leat_session_destroy(session);
  return 0;
}
