// What a Run costs through a prepared step: of a + b on scalars, and of a chain of N dependent
// additions. The fed values change with each Run, and each result is read and checked.
//
//     latency NODES            then, a line each on standard input: how many Runs to time
#include "bench/bench.h"

static const char text[] = "graph latency(nodes: int = 1)\n"
                           "entry chain(x: f32[], b: f32[]) -> (y: f32[]) {\n"
                           "  h[0] = x\n"
                           "  for i in 0..nodes { h[i + 1] = h[i] + b }\n"
                           "  y = h[nodes]\n"
                           "}\n";

int main(int argc, char **argv) {
  if (argc != 2) return fprintf(stderr, "usage: latency NODES\n"), 2;
  leat_session *session;
  leat_step *step;
  leat_setting nodes = {"nodes", argv[1]};
  leat_session_options options = {.threads = 1, .settings = &nodes, .setting_count = 1};
  leat_status created = leat_session_create(&options, &session);
  check(session, created);
  check(session, leat_session_extend(session, text, 0, "latency.leat"));
  leat_step_spec spec = {.entries = (const char *[]){"chain"}, .entry_count = 1};
  check(session, leat_session_prepare(session, &spec, &step));

  float x = 0, b = 1;
  float added = (float)atoi(argv[1]); // the sums are small integers: exact
  leat_tensor feeds[] = {{.dtype = LEAT_f32, .data = &x}, {.dtype = LEAT_f32, .data = &b}}, y;
  for (int runs; (runs = next_round()) > 0;) {
    double *seconds = calloc((size_t)runs, sizeof *seconds);
    if (!seconds) return 1;
    for (int i = 0; i < runs; i++) {
      x = (float)(i & 1023);
      double start = now();
      check(session, leat_step_run(step, feeds, &y));
      float result = *(float *)y.data;
      seconds[i] = now() - start;
      if (result != x + added) return fprintf(stderr, "wrong result: %g\n", (double)result), 1;
    }
    report(seconds, runs);
    free(seconds);
  }
  leat_step_destroy(step);
  leat_session_destroy(session);
  return 0;
}
