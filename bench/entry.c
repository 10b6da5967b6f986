// What a Run of a file's entry costs. Its parameters are fed once drawn numbers, and what it gives
// stays where the step has left it.
//
//     entry FILE ENTRY [--threads=N] [--cpu=LEVEL] [--numerics=strict]
//         then, a line each on standard input: how many Runs to time
#include "bench/bench.h"

#include <stdint.h>
#include <string.h>

// Even numbers in -1 … 1: a linear congruential generator's high bits.
static void draw(float *values, int64_t count) {
  uint32_t state = 1;
  for (int64_t i = 0; i < count; i++) {
    state = state * 1664525 + 1013904223;
    values[i] = (float)(int32_t)state * 0x1p-31f;
  }
}

// Of a type whose dims are numbers, "f32[32, 56, 56, 64]"; false: it is another.
static bool make_feed(const leat_port *port, leat_tensor *out) {
  if (port->dtype != LEAT_f32) return false;
  *out = (leat_tensor){.dtype = port->dtype, .rank = port->rank};
  const char *at = strchr(port->type, '[');
  for (int axis = 0; axis < port->rank; axis++) {
    char *end;
    out->shape[axis] = at ? strtoll(at + 1, &end, 10) : 0;
    if (out->shape[axis] <= 0) return false;
    at = end;
  }
  int64_t count = leat_shape_elements(out->rank, out->shape);
  float *values = aligned_alloc(64, ((size_t)count * sizeof *values + 63) / 64 * 64);
  if (values) draw(values, count);
  out->data = values;
  return values;
}

typedef struct entry {
  leat_session *session;
  leat_step *step;
  leat_tensor *feeds, *results;
} entry;

static void run_once(void *context) {
  entry *e = context;
  check(e->session, leat_step_run(e->step, e->feeds, e->results));
}

static bool measure(leat_session *session, const char *file, const char *name) {
  entry e = {.session = session};
  check(session, leat_session_extend_file(session, file));
  leat_step_spec spec = {.entries = &name, .entry_count = 1};
  check(session, leat_session_prepare(session, &spec, &e.step));
  int count = leat_step_feed_count(e.step);
  e.feeds = calloc((size_t)count + 1, sizeof *e.feeds);
  e.results = calloc((size_t)leat_step_fetch_count(e.step) + 1, sizeof *e.results);
  bool fed = e.feeds && e.results;
  for (int i = 0; fed && i < count; i++) {
    fed = make_feed(leat_step_feed(e.step, i), &e.feeds[i]);
    if (!fed) fprintf(stderr, "entry: cannot feed %s\n", leat_step_feed(e.step, i)->type);
  }
  bool served = fed && serve(run_once, &e, 1);
  for (int i = 0; e.feeds && i < count; i++) free(e.feeds[i].data);
  free(e.feeds);
  free(e.results);
  leat_step_destroy(e.step);
  return served;
}

int main(int argc, char **argv) {
  leat_session_options options = {.threads = 1};
  for (int i = 3; i < argc; i++) {
    if (strncmp(argv[i], "--threads=", 10) == 0)
      options.threads = atoi(argv[i] + 10);
    else if (strncmp(argv[i], "--cpu=", 6) == 0)
      options.cpu = argv[i] + 6;
    else if (strncmp(argv[i], "--numerics=", 11) == 0)
      options.numerics = argv[i] + 11;
    else
      argc = 0;
  }
  if (argc < 3)
    return fprintf(stderr,
                   "usage: entry FILE ENTRY [--threads=N] [--cpu=LEVEL] [--numerics=WORD]\n"),
           2;
  leat_session *session;
  leat_status created = leat_session_create(&options, &session);
  check(session, created);
  bool measured = measure(session, argv[1], argv[2]);
  leat_session_destroy(session);
  return !measured;
}
