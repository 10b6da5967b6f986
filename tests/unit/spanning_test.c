// Loops on two ranks: how far one runs ahead of the other, and that one which another waits for in
// vain is ended.
#include "tests/unit/ranks.h"

#include <stdatomic.h>
#include <stdio.h>
#include <time.h>

enum { ROUNDS = 1000 };

// Rank 0 sends in each round and needs nothing back; both print.
static const char one_way[] = "entry f(n: i32[]) -> (t: i32[]) {\n"
                              "  t = while (t = 0) t < n%s {\n"
                              "    print(\"sent\", t) on \"/job:worker/task:0\"\n"
                              "    print(\"got\", t) on \"/job:worker/task:1\"\n"
                              "    next t + 1\n"
                              "  }\n"
                              "}\n";

typedef struct watch {
  int least; // rounds that rank 0 begins while rank 1 is in its first
  _Atomic int sent, got, most;
} watch;

static void nap(void) {
  nanosleep(&(struct timespec){0, 1000000}, NULL);
}

static void count_sent(void *context, const char *text) {
  (void)text;
  atomic_fetch_add(&((watch *)context)->sent, 1);
}

// Takes its time in the first round: until rank 0 is as far as it may be, and then some.
static void count_got(void *context, const char *text) {
  watch *w = context;
  (void)text;
  if (atomic_fetch_add(&w->got, 1)) return;
  for (int i = 0; i < 10000 && atomic_load(&w->sent) < w->least; i++) nap();
  for (int i = 0; i < 50; i++) nap();
  atomic_store(&w->most, atomic_load(&w->sent));
}

static leat_status run(leat_session *session, const char *text, int32_t n, int32_t *out) {
  leat_step *step;
  const char *entry = "f";
  leat_tensor feed = {LEAT_i32, 0, {0}, &n}, t;
  if (text) LEAT_TRY(leat_session_extend(session, text, 0, "f.leat"));
  LEAT_TRY(
      leat_session_prepare(session, &(leat_step_spec){.entries = &entry, .entry_count = 1}, &step));
  leat_status status = leat_step_run(step, &feed, &t);
  if (!status) *out = *(int32_t *)t.data;
  leat_step_destroy(step);
  return status;
}

// The values of `parallel` rounds may be sent, and while the next waits, it has printed; one more,
// if rank 1 has taken what it gets in its first round before it prints there.
static void check_lead(const char *option, int parallel) {
  watch w = {.least = parallel + 1};
  leat_session_options options[2];
  for (int i = 0; i < 2; i++)
    options[i] = (leat_session_options){.cluster = "worker=2",
                                        .cache = "off",
                                        .threads = 1,
                                        .deadline = 20,
                                        .print = i ? count_got : count_sent,
                                        .print_context = &w};
  ranks r = ranks_begin(options, 2);
  char text[512];
  snprintf(text, sizeof text, one_way, option);
  int32_t t = 0;
  if (run(r.client, text, ROUNDS, &t)) CHECK_FAILED("%s", leat_session_message(r.client));
  CHECK_EQ_INT(t, ROUNDS);
  if (w.most < w.least || w.most > w.least + 1) CHECK_FAILED("%d rounds with `%s`", w.most, option);
  CHECK_EQ_INT(w.sent, ROUNDS);
  CHECK_EQ_INT(w.got, ROUNDS);
  ranks_end(&r);
}

TEST(a_loop_runs_ahead_by_no_more_than_parallel) {
  check_lead(" parallel=1", 1);
  check_lead(" parallel=5", 5);
  check_lead("", 32);
}

// -- Loops without an end -------------------------------------------------------------------------

// One kernel, and launches of several, that turn for ever unless n is 0.
static const char *const endless[] = {
    "x = while (x = n) x > 0 { next maximum(x * 3, 1) }",
    "m = while (m = broadcast(cast(n, f32), [128, 128])) m[0, 0] > 0.0 { next m @ m }\n"
    "    x = cast(m[0, 0], i32)",
};

// The rank that waits has its deadline, and the other is told; both are there for what comes next.
static void check_ended(const char *loop, int rank) {
  leat_session_options options[2];
  for (int i = 0; i < 2; i++)
    options[i] = (leat_session_options){
        .cluster = "worker=2", .cache = "off", .threads = 1, .deadline = 0.4};
  ranks r = ranks_begin(options, 2);
  char text[512];
  snprintf(text, sizeof text,
           "entry f(n: i32[]) -> (t: i32[]) {\n"
           "  on \"/job:worker/task:%d\" {\n"
           "    %s\n"
           "  }\n"
           "  t = x + 1 on \"/job:worker/task:%d\"\n"
           "}\n",
           rank, loop, 1 - rank);
  int32_t t = 0;
  CHECK_EQ_INT(run(r.client, text, 1, &t), LEAT_DEADLINE);
  if (!strstr(leat_session_message(r.client), "no progress for 0.4 s"))
    CHECK_FAILED("%s", leat_session_message(r.client));
  if (run(r.client, NULL, 0, &t)) CHECK_FAILED("%s", leat_session_message(r.client));
  CHECK_EQ_INT(t, 1);
  ranks_end(&r);
}

TEST(a_deadline_ends_what_computes_elsewhere) {
  for (int k = 0; k < 2; k++)
    for (int rank = 0; rank < 2; rank++) check_ended(endless[k], rank);
}

CHECK_MAIN("spanning")
