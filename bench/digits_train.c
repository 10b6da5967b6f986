// The training step of examples/digits through the session API, for bench/run.
//
//     digits_train DIGITS.leat THREADS        then, a line each on standard input: how many steps
//     to time
#include "bench/bench.h"

int main(int argc, char **argv) {
  if (argc != 3) return fprintf(stderr, "usage: digits_train DIGITS.leat THREADS\n"), 2;
  leat_session *session;
  leat_step *step;
  leat_session_options options = {.threads = atoi(argv[2])};
  leat_status created = leat_session_create(&options, &session);
  check(session, created);
  check(session, leat_session_extend_file(session, argv[1]));
  leat_step_spec spec = {.entries = (const char *[]){"train"}, .entry_count = 1};
  check(session, leat_session_prepare(session, &spec, &step));

  leat_tensor rate = {0}, loss; // no data: the rate is the text's default
  for (int runs; (runs = next_round()) > 0;) {
    double *seconds = calloc((size_t)runs, sizeof *seconds);
    if (!seconds) return 1;
    for (int i = 0; i < runs; i++) {
      double start = now();
      check(session, leat_step_run(step, &rate, &loss));
      seconds[i] = now() - start;
    }
    printf("{\"ms\": %.6f, \"loss\": %.6f}\n", 1e3 * median(seconds, runs), *(float *)loss.data);
    fflush(stdout);
    free(seconds);
  }
  leat_step_destroy(step);
  leat_session_destroy(session);
  return 0;
}
