// What a Run that fetches some values costs, on the calling thread alone; and of each result in f32
// up to 64 numbers, evenly spaced.
//
//     fetch FILE NAME… PARAMETER=VALUE…    then, a line each on standard input: how many Runs to
//     time
#include "bench/bench.h"

#include <string.h>

#define NAMES 8
#define SHOWN 64

typedef struct arguments {
  const char *names[NAMES];
  leat_setting settings[NAMES];
  int name_count, setting_count;
} arguments;

// False: there are none, or too many.
static bool take(arguments *taken, int count, char **args) {
  if (count < 1 || count > NAMES) return false;
  for (int i = 0; i < count; i++) {
    char *equals = strchr(args[i], '=');
    if (equals) *equals = 0;
    if (equals)
      taken->settings[taken->setting_count++] = (leat_setting){args[i], equals + 1};
    else
      taken->names[taken->name_count++] = args[i];
  }
  return true;
}

static void show(const leat_tensor *result) {
  int64_t size = result->dtype == LEAT_f32 ? leat_shape_elements(result->rank, result->shape) : 0;
  const float *values = result->data;
  for (int64_t i = 0; i < size; i += (size + SHOWN - 1) / SHOWN) printf("%.9g ", (double)values[i]);
}

static void report_with(double *seconds, int runs, const leat_tensor *results, int count) {
  printf("{\"ms\": %.6f, \"results\": [", 1e3 * median(seconds, runs));
  for (int i = 0; i < count; i++) {
    printf("%s\"", i ? ", " : "");
    show(&results[i]);
    printf("\"");
  }
  printf("]}\n");
  fflush(stdout);
}

int main(int argc, char **argv) {
  arguments args = {0};
  if (argc < 2 || !take(&args, argc - 2, argv + 2))
    return fprintf(stderr, "usage: fetch FILE NAME… PARAMETER=VALUE…\n"), 2;
  leat_session *session;
  leat_step *step;
  leat_tensor fetched[NAMES];
  leat_session_options options = {
      .threads = 1, .settings = args.settings, .setting_count = args.setting_count};
  leat_status created = leat_session_create(&options, &session);
  check(session, created);
  check(session, leat_session_extend_file(session, argv[1]));
  leat_step_spec spec = {.fetches = args.names, .fetch_count = args.name_count};
  check(session, leat_session_prepare(session, &spec, &step));
  for (int runs; (runs = next_round()) > 0;) {
    double *seconds = calloc((size_t)runs, sizeof *seconds);
    if (!seconds) return 1;
    for (int i = 0; i < runs; i++) {
      double start = now();
      check(session, leat_step_run(step, NULL, fetched));
      seconds[i] = now() - start;
    }
    report_with(seconds, runs, fetched, args.name_count);
    free(seconds);
  }
  leat_step_destroy(step);
  leat_session_destroy(session);
  return 0;
}
