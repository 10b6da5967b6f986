// What a Run that fetches some values costs, with one thread a process; of each result in f32 up to
// 64 numbers, evenly spaced; and how many tensors processes have sent to each other so far.
//
//     fetch FILE NAME… PARAMETER=VALUE…    then, a line each on standard input: how many Runs to
//     time. --devices=N and --cluster=JOBS are as of `leat run`.
#include "bench/bench.h"

#include <string.h>

#define NAMES 8
#define SHOWN 64

typedef struct arguments {
  const char *names[NAMES];
  int name_count;
  leat_setting settings[NAMES];
  leat_session_options options;
} arguments;

static void take_setting(arguments *taken, const char *name, const char *value) {
  leat_session_options *options = &taken->options;
  if (strcmp(name, "--devices") == 0)
    options->devices = atoi(value);
  else if (strcmp(name, "--cluster") == 0)
    options->cluster = value;
  else
    taken->settings[options->setting_count++] = (leat_setting){name, value};
}

// False: there are none, or too many.
static bool take(arguments *taken, int count, char **args) {
  if (count < 1 || count > NAMES) return false;
  for (int i = 0; i < count; i++) {
    char *equals = strchr(args[i], '=');
    if (equals) *equals = 0;
    if (equals)
      take_setting(taken, args[i], equals + 1);
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

// The sum of what stands before " x " in each line of the traffic.
static long count_messages(leat_session *session) {
  char *traffic, *at;
  long messages = 0;
  check(session, leat_session_traffic(session, &traffic));
  for (at = traffic; (at = strstr(at, " x ")); at++) {
    char *number = at;
    while (number > traffic && number[-1] != ' ') number--;
    messages += strtol(number, NULL, 10);
  }
  free(traffic);
  return messages;
}

static void report_with(leat_session *session, double *seconds, int runs,
                        const leat_tensor *results, int count) {
  printf("{\"ms\": %.6f, \"messages\": %ld, \"results\": [", 1e3 * median(seconds, runs),
         count_messages(session));
  for (int i = 0; i < count; i++) {
    printf("%s\"", i ? ", " : "");
    show(&results[i]);
    printf("\"");
  }
  printf("]}\n");
  fflush(stdout);
}

static int measure(leat_session *session, const arguments *args, const char *file) {
  leat_step *step;
  leat_tensor fetched[NAMES];
  check(session, leat_session_extend_file(session, file));
  leat_step_spec spec = {.fetches = args->names, .fetch_count = args->name_count};
  check(session, leat_session_prepare(session, &spec, &step));
  for (int runs; (runs = next_round()) > 0;) {
    double *seconds = calloc((size_t)runs, sizeof *seconds);
    if (!seconds) return 1;
    for (int i = 0; i < runs; i++) {
      double start = now();
      check(session, leat_step_run(step, NULL, fetched));
      seconds[i] = now() - start;
    }
    report_with(session, seconds, runs, fetched, args->name_count);
    free(seconds);
  }
  leat_step_destroy(step);
  return 0;
}

int main(int argc, char **argv) {
  arguments args = {.options.threads = 1};
  if (argc < 2 || !take(&args, argc - 2, argv + 2))
    return fprintf(stderr, "usage: fetch FILE NAME… PARAMETER=VALUE…\n"), 2;
  args.options.settings = args.settings;
  leat_session *session;
  leat_status created = leat_session_create(&args.options, &session);
  check(session, created);
  int status = 0;
  if (leat_session_is_client(session))
    status = measure(session, &args, argv[1]);
  else
    check(session, leat_session_serve(session));
  leat_session_destroy(session);
  return status;
}
