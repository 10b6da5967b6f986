// What was once wrong: each file of tests/sweep/bugs/ has an entry f, whose results are to be those
// of the target ref on cpu and c, specialised and not. Feeds are random; a run-time dim is 5.
#include "tests/sweep/programs.h"
#include "tests/unit/check.h"
#include "tests/unit/kernel_cache.h"

#include <dirent.h>
#include <stdlib.h>

enum { DIM = 5, MOST_PORTS = 16, PATH_SIZE = 512 };
static const char folder[] = "tests/sweep/bugs";

// A port's shape, from its type's text: `f32[P, 1, 18]`.
static int shape_of(const leat_port *port, test_dim *dims) {
  const char *at = strchr(port->type, '[');
  for (int i = 0; i < port->rank && at; i++, at = strchr(at, ',')) {
    at += 1 + strspn(at + 1, " ");
    dims[i] = dim_const(*at >= '0' && *at <= '9' ? atoll(at) : DIM);
  }
  return port->rank;
}

typedef struct outcome {
  leat_session *session;
  leat_step *step;
  leat_tensor results[MOST_PORTS];
} outcome;

static leat_status prepare(const char *path, const char *target, bool symbolic, outcome *out) {
  leat_session_options options = {.target = target, .symbolic = symbolic};
  leat_step_spec spec = {.entries = (const char *const[]){"f"}, .entry_count = 1};
  *out = (outcome){0};
  LEAT_TRY(create_session(&options, &out->session));
  LEAT_TRY(leat_session_extend_file(out->session, path));
  return leat_session_prepare(out->session, &spec, &out->step);
}

// The same feeds for each way of running: of an rng of one seed.
static leat_status run(outcome *out) {
  program p;
  program_init(&p, 1);
  for (int i = 0; i < leat_step_feed_count(out->step); i++) {
    const leat_port *port = leat_step_feed(out->step, i);
    test_dim dims[LEAT_MAX_RANK];
    int rank = shape_of(port, dims);
    program_input(&p, port->dtype, rank, dims, FILL_PLAIN, dim_const(0));
  }
  leat_status status = leat_step_run(out->step, program_feeds(&p), out->results);
  program_finish(&p);
  return status;
}

static void finish(outcome *out) {
  leat_step_destroy(out->step);
  leat_session_destroy(out->session);
}

static void compare(const char *path, const char *target, bool symbolic, const outcome *want) {
  outcome got;
  leat_status status = prepare(path, target, symbolic, &got);
  if (!status) status = run(&got);
  if (status) CHECK_FAILED("%s: %s: %s", path, target, leat_session_message(got.session));
  for (int i = 0; !status && i < leat_step_fetch_count(got.step); i++) {
    leat_text why = {0};
    if (!tensor_matches(&want->results[i], &got.results[i], MATCH_VALUES, 0, &why))
      CHECK_FAILED("%s: %s: %s: %s", path, target, leat_step_fetch(got.step, i)->name, why.data);
    leat_text_finish(&why);
  }
  finish(&got);
}

static void check(const char *path) {
  outcome want;
  leat_status status = prepare(path, "ref", true, &want);
  if (!status) status = run(&want);
  if (status) CHECK_FAILED("%s: ref: %s", path, leat_session_message(want.session));
  for (int symbolic = 0; !status && symbolic < 2; symbolic++) {
    compare(path, "cpu", symbolic, &want);
    compare(path, "c", symbolic, &want);
  }
  finish(&want);
}

TEST(once_wrong) {
  DIR *directory = opendir(folder);
  int count = 0;
  if (!directory) CHECK_FAILED("there is no %s: run this at the root of the tree", folder);
  for (struct dirent *entry; directory && (entry = readdir(directory));) {
    char path[PATH_SIZE];
    const char *dot = strrchr(entry->d_name, '.');
    if (!dot || strcmp(dot, ".leat") != 0) continue;
    snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
    check(path);
    count++;
  }
  CHECK(count > 0);
  if (directory) closedir(directory);
}

CHECK_MAIN("bugs")
