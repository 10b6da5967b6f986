// What a call has to say, as data, and results that are taken over from a step.
#include "leat/leat.h"
#include "tests/unit/opened.h"

#include <pthread.h>
#include <stdlib.h>

// -- Problems ------------------------------------------------------------------------------------

static void check_problem(const leat_session *session, int i, leat_severity severity,
                          const char *file, int line, int column, const char *message) {
  const leat_problem *problem = leat_session_problem(session, i);
  CHECK(problem != NULL);
  if (!problem) return;
  CHECK_EQ_INT(problem->severity, severity);
  CHECK_EQ_STR(problem->file ? problem->file : "", file);
  CHECK_EQ_INT(problem->line, line);
  CHECK_EQ_INT(problem->column, column);
  CHECK(strstr(problem->message, message) == problem->message);
}

TEST(problems_of_a_text) {
  leat_session *session = open_session("entry f() -> (y: f32[]) { y = 1 }", "ref");
  CHECK_EQ_INT(leat_session_problem_count(session), 0);
  CHECK(!leat_session_problem(session, 0));
  CHECK_EQ_INT(leat_session_extend(session, "a = 1\nb = \"é\" + relo(a)", 0, "x (1:2).leat"),
               LEAT_INVALID);
  CHECK_EQ_INT(leat_session_problem_count(session), 1);
  check_problem(session, 0, LEAT_SEVERITY_ERROR, "x (1:2).leat", 2, 11, "unknown name `relo`");
  CHECK_EQ_INT(leat_session_extend(session, NULL, 0, "x"), LEAT_INVALID);
  check_problem(session, 0, LEAT_SEVERITY_ERROR, "", 0, 0, "`text` is NULL");
  leat_session_destroy(session);
  CHECK_EQ_INT(leat_session_problem_count(session), 0);
  CHECK(!leat_session_problem(session, 0));
}

TEST(notes_follow_their_errors) {
  static const char wrong[] = "fn f(x: f32[2]) { return relo(x) }\n"
                              "entry g(x: f32[2]) -> (y: f32[2]) {\n"
                              "  y = f(x)\n"
                              "}\n";
  leat_session *session = open_session("", "ref");
  CHECK_EQ_INT(leat_session_extend(session, wrong, 0, "x.leat"), LEAT_INVALID);
  CHECK_EQ_INT(leat_session_problem_count(session), 2);
  check_problem(session, 0, LEAT_SEVERITY_ERROR, "x.leat", 1, 26, "unknown name `relo`");
  check_problem(session, 1, LEAT_SEVERITY_NOTE, "x.leat", 3, 7, "in this call of `f`");
  CHECK_EQ_INT(leat_session_extend(session, "x = 1", 0, "x.leat"), LEAT_OK);
  CHECK_EQ_INT(leat_session_problem_count(session), 0);
  leat_session_destroy(session);
}

TEST(problems_of_a_run) {
  static const char text[] = "entry f(x: f32[N], i: i32[]) -> (y: f32[]) {\n"
                             "  y = x[i]\n"
                             "}\n";
  float x[3] = {1, 2, 3};
  int32_t i = 5;
  leat_session *session = open_session(text, "ref");
  leat_step *step = prepare(session, "f"), *none;
  leat_tensor feeds[] = {{LEAT_f32, 1, {3}, x}, {LEAT_i32, 0, {0}, &i}}, y;
  CHECK_EQ_INT(leat_step_run(step, feeds, &y), LEAT_OUT_OF_RANGE);
  CHECK_EQ_INT(leat_session_problem_count(session), 1);
  check_problem(session, 0, LEAT_SEVERITY_ERROR, "test.leat", 2, 7, "/");
  i = 2;
  CHECK_EQ_INT(leat_step_run(step, feeds, &y), LEAT_OK);
  CHECK_EQ_INT(leat_session_problem_count(session), 0);
  leat_step_spec spec = {.entries = (const char *[]){"none"}, .entry_count = 1};
  CHECK_EQ_INT(leat_session_prepare(session, &spec, &none), LEAT_NOT_FOUND);
  check_problem(session, 0, LEAT_SEVERITY_ERROR, "", 0, 0, "there is no entry `none`");
  leat_session_destroy(session);
}

// -- Results -------------------------------------------------------------------------------------

enum { MANY = 1000 };

static const char doubles[] = "entry f(x: f32[N]) -> (y: f32[N], c: f32[3]) {\n"
                              "  y = x * 2\n"
                              "  c = [1, 2, 3]\n"
                              "}\n";

static void run_once(leat_step *step, float value, leat_tensor out[2]) {
  float x[MANY];
  for (int i = 0; i < MANY; i++) x[i] = value;
  leat_tensor feed = {LEAT_f32, 1, {MANY}, x};
  CHECK_EQ_INT(leat_step_run(step, &feed, out), LEAT_OK);
}

static void check_all(const leat_tensor *y, float value) {
  int right = 0;
  while (right < MANY && ((float *)y->data)[right] == value) right++;
  CHECK_EQ_INT(right, MANY);
}

TEST(taken_results_stay) {
  for (int t = 0; t < 2; t++) {
    leat_session *session = open_session(doubles, t ? "ref" : "cpu");
    leat_step *step = prepare(session, "f");
    leat_results *held[5], *none;
    leat_tensor out[5][2], other[2];
    CHECK_EQ_INT(leat_step_take(step, &none), LEAT_INVALID); // it has not run
    for (int i = 0; i < 5; i++) {
      run_once(step, (float)i, out[i]);
      CHECK(leat_step_memory(step) >= MANY * sizeof(float));
      CHECK(!leat_step_is_constant(step, 0));
      bool same = i && out[i][1].data == out[i - 1][1].data;
      CHECK_EQ_INT(same, i && leat_step_is_constant(step, 1));
      CHECK_EQ_INT(leat_step_take(step, &held[i]), LEAT_OK);
      CHECK_EQ_INT(leat_step_memory(step), 0);
      CHECK_EQ_INT(leat_step_take(step, &none), LEAT_INVALID);
      CHECK(!none);
    }
    for (int i = 0; i < 5; i++) check_all(&out[i][0], 2 * (float)i);
    void *free_now = out[2][0].data;
    leat_results_release(held[2]);
    leat_results_release(held[2]);
    run_once(step, 9, other); // in the memory that was released
    CHECK(other[0].data == free_now);
    check_all(&out[3][0], 6);
    leat_results_release(held[0]);
    leat_step_destroy(step);
    leat_results_release(held[1]);
    leat_session_destroy(session);
    leat_results_release(NULL);
  }
}

static void *release(void *results) {
  leat_results_release(results);
  return NULL;
}

TEST(any_thread_releases) {
  leat_session *session = open_session(doubles, "cpu");
  leat_step *step = prepare(session, "f");
  leat_tensor out[2];
  pthread_t threads[20];
  for (int i = 0; i < 20; i++) {
    leat_results *results;
    run_once(step, (float)i, out);
    CHECK_EQ_INT(leat_step_take(step, &results), LEAT_OK);
    pthread_create(&threads[i], NULL, release, results);
  }
  for (int i = 0; i < 20; i++) pthread_join(threads[i], NULL);
  leat_session_destroy(session);
}

CHECK_MAIN("results")
