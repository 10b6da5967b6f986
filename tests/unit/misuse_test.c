// Calls of the public API that make no sense: each answers LEAT_INVALID, or gives nothing, and what
// was there goes on as before.
#include "leat/runtime.h"
#include "tests/unit/image_builder.h"
#include "tests/unit/opened.h"
#include "tests/unit/scratch.h"

#include <math.h>
#include <stdlib.h>

#define REFUSED(call) CHECK_EQ_INT((call), LEAT_INVALID)

static const char text[] = "var w: f32[2] = 1\n"
                           "entry f(x: f32[2], s: str[1]) -> (y: f32[2]) {\n"
                           "  print(s)\n"
                           "  y = x + w\n"
                           "}\n"
                           "entry g(x: f32[B]) -> (y: f32[B]) { y = x }\n";

static float two[2] = {1, 2};
static const leat_str word = {"word", 4};

// That session and step are as good as ever.
static void check_goes_on(leat_session *session, leat_step *step) {
  leat_tensor feeds[] = {{LEAT_f32, 1, {2}, two}, {LEAT_str, 1, {1}, (void *)&word}}, y;
  CHECK_EQ_INT(leat_step_run(step, feeds, &y), LEAT_OK);
  CHECK_EQ_STR(leat_session_message(session), "");
  CHECK(((float *)y.data)[1] == 3);
  CHECK_EQ_INT(leat_session_entry_count(session), 2);
}

// -- Handles -------------------------------------------------------------------------------------

// All that takes a session and can fail.
static void check_refuses_all(leat_session *session) {
  leat_step_spec spec = {.fetches = (const char *[]){"w"}, .fetch_count = 1};
  leat_tensor value = {LEAT_f32, 1, {2}, two};
  leat_step *step;
  char *out;
  REFUSED(leat_session_extend(session, "x = 1", 0, "x"));
  REFUSED(leat_session_extend_file(session, "x.leat"));
  REFUSED(leat_session_hold(session, "x", &value));
  REFUSED(leat_session_print(session, &out));
  REFUSED(leat_session_prepare(session, &spec, &step));
  REFUSED(leat_session_set_dumps(session, NULL, NULL));
  REFUSED(leat_session_set_deadline(session, 1));
  REFUSED(leat_variable_read(session, "w", &value));
  REFUSED(leat_variable_write(session, "w", &value));
  REFUSED(leat_session_save(session, "x.safetensors"));
  REFUSED(leat_session_restore(session, "x.safetensors"));
  REFUSED(leat_session_serve(session));
  REFUSED(leat_session_traffic(session, &out));
  REFUSED(leat_session_trace(session, &out));
  CHECK(strstr(leat_session_message(session), "error: "));
}

static void never(void *context, const char *name) {
  (void)context;
  CHECK_EQ_STR(name, NULL);
}

static void check_has_nothing(leat_session *session) {
  CHECK_EQ_INT(leat_session_entry_count(session), 0);
  CHECK(!leat_session_entry(session, 0) && !leat_session_entry_trains(session, 0));
  CHECK_EQ_INT(leat_session_shown_count(session), 0);
  CHECK(!leat_session_shown(session, 0));
  CHECK_EQ_INT(leat_session_effect_count(session), 0);
  CHECK(!leat_session_effect(session, 0));
  CHECK_EQ_STR(leat_session_shown_text(session), "");
  CHECK(!leat_session_entry_run(session)->entry);
  CHECK(!leat_session_describe(session, "f"));
  leat_session_names(session, LEAT_NAMES, NULL, never, NULL);
  CHECK_EQ_INT(leat_session_variable_count(session), 0);
  CHECK(!leat_session_problem(session, -1));
  CHECK(!leat_session_variable(session, 0) && !leat_session_slot_of(session, 0));
  leat_session_interrupt(session, true);
}

static void check_is_no_step(leat_step *step) {
  leat_tensor x = {0}, y;
  leat_results *results;
  REFUSED(leat_step_take(step, &results));
  CHECK_EQ_INT(leat_step_memory(step), 0);
  CHECK(!leat_step_is_constant(step, 0));
  REFUSED(leat_step_run(step, &x, &y));
  CHECK_EQ_INT(leat_step_feed_count(step), 0);
  CHECK_EQ_INT(leat_step_fetch_count(step), 0);
  CHECK(!leat_step_feed(step, 0) && !leat_step_fetch(step, 0));
  leat_step_destroy(step);
}

// NULL, destroyed once and more often, never made; a step that outlives its session.
TEST(handles_that_are_none) {
  leat_session *session = open_session(text, "ref"), *other, *failed;
  leat_step *step = prepare(session, "f"), *left = prepare(session, "f");
  check_refuses_all(NULL);
  check_has_nothing(NULL);
  check_is_no_step(NULL);
  leat_step_destroy(step);
  check_is_no_step(step);
  check_goes_on(session, left);
  leat_session_destroy(session);
  for (int i = 0; i < 2; i++) {
    check_refuses_all(session);
    check_has_nothing(session);
    check_is_no_step(left);
    leat_session_destroy(session);
  }
  REFUSED(leat_session_create(&(leat_session_options){.target = "none"}, &failed));
  CHECK(strstr(leat_session_message(failed), "unknown target `none`"));
  check_refuses_all(failed);
  check_has_nothing(failed);
  CHECK(strstr(leat_session_message(failed), "unknown target `none`"));
  other = open_session(text, "ref"); // whose memory is its own
  check_refuses_all(session);
  leat_session_destroy(other);
  leat_session_destroy(failed);
}

// Their memory is used again in time.
TEST(handles_do_not_add_up) {
  leat_session *first = open_session("", "ref"), *again = NULL;
  leat_session_destroy(first);
  int made = 0;
  for (; again != first && made < 100; made++) {
    again = open_session("", "ref");
    leat_session_destroy(again);
  }
  CHECK(made > 60 && made < 70);
}

// -- Arguments -----------------------------------------------------------------------------------

TEST(options_that_are_none) {
  static const leat_setting nothing[] = {{"n", NULL}};
  const leat_session_options wrong[] = {{.threads = -1},
                                        {.threads = 1 << 30},
                                        {.devices = 1000},
                                        {.deadline = -1},
                                        {.deadline = NAN},
                                        {.setting_count = -1},
                                        {.memory_limit = -1},
                                        {.setting_count = 1},
                                        {.settings = nothing, .setting_count = 1},
                                        {.setting_count = 1 << 30},
                                        {.denormals = "small"},
                                        {.numerics = "loose"},
                                        {.reserved = {[LEAT_RESERVED - 3] = "later"}}};
  leat_session *session;
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    REFUSED(leat_session_create(&wrong[i], &session));
    CHECK(strstr(leat_session_message(session), "error: "));
    leat_session_destroy(session);
  }
  REFUSED(leat_session_create(NULL, &session));
  CHECK_EQ_STR(leat_session_message(session), "error: the options are NULL\n");
  leat_session_destroy(session);
  REFUSED(leat_session_create(&(leat_session_options){0}, NULL));
}

static void check_specs_are_refused(leat_session *session) {
  const char *none[] = {NULL};
  const leat_step_spec wrong[] = {{.entry_count = 1},
                                  {.entry_count = -1},
                                  {.entry_count = 1 << 30},
                                  {.entries = none, .entry_count = 1},
                                  {.feeds = none, .feed_count = 1},
                                  {.fetches = none, .fetch_count = 1},
                                  {.runs = none, .run_count = 1},
                                  {.donated = none, .donated_count = 1},
                                  {0}};
  leat_step *step;
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    REFUSED(leat_session_prepare(session, &wrong[i], &step));
    CHECK(!step && strlen(leat_session_message(session)) > 0);
  }
  REFUSED(leat_session_prepare(session, NULL, &step));
  REFUSED(leat_session_prepare(session, &(leat_step_spec){0}, NULL));
}

TEST(arguments_that_are_none) {
  leat_session *session = open_session(text, "ref");
  leat_step *step = prepare(session, "f");
  leat_tensor value = {LEAT_f32, 1, {2}, two};
  REFUSED(leat_session_extend(session, NULL, 0, "x"));
  CHECK_EQ_STR(leat_session_message(session), "error: `text` is NULL\n");
  REFUSED(leat_session_extend(session, "x = 1", 0, NULL));
  REFUSED(leat_session_extend(session, "x = 1", SIZE_MAX, "x"));
  REFUSED(leat_session_extend_file(session, NULL));
  REFUSED(leat_session_hold(session, NULL, &value));
  REFUSED(leat_session_print(session, NULL));
  REFUSED(leat_session_trace(session, NULL));
  REFUSED(leat_session_traffic(session, NULL));
  REFUSED(leat_session_save(session, NULL));
  REFUSED(leat_session_restore(session, NULL));
  REFUSED(leat_variable_read(session, NULL, &value));
  REFUSED(leat_variable_read(session, "w", NULL));
  REFUSED(leat_variable_write(session, NULL, &value));
  CHECK(!leat_session_describe(session, NULL));
  CHECK(!leat_describe(NULL) && !leat_describe("relo"));
  leat_session_names(session, LEAT_PARAMETERS, NULL, never, NULL);
  leat_session_names(session, LEAT_NAMES, NULL, NULL, NULL);
  for (int i = -1; i <= 2; i += 3) {
    CHECK(!leat_session_entry(session, i) && !leat_session_entry_trains(session, i));
    CHECK(!leat_session_shown(session, i) && !leat_session_effect(session, i));
    CHECK(!leat_session_variable(session, i) && !leat_session_slot_of(session, i));
    CHECK(!leat_step_feed(step, i) && !leat_step_fetch(step, i));
  }
  check_specs_are_refused(session);
  check_goes_on(session, step);
  leat_session_destroy(session);
}

// -- Tensors -------------------------------------------------------------------------------------

static const leat_str no_word = {NULL, 4};

// None of these is a value.
static const leat_tensor wrong[] = {{(leat_dtype)99, 1, {2}, two},
                                    {(leat_dtype)-1, 1, {2}, two},
                                    {LEAT_f32, -1, {2}, two},
                                    {LEAT_f32, 9, {2}, two},
                                    {LEAT_f32, INT32_MAX, {2}, two},
                                    {LEAT_f32, 1, {-2}, two},
                                    {LEAT_f32, 2, {INT64_MAX, 3}, two},
                                    {LEAT_f64, 1, {INT64_MAX / 2}, two},
                                    {LEAT_str, 1, {1}, (void *)&no_word}};
enum { WRONG = sizeof wrong / sizeof *wrong };

TEST(tensors_that_are_none) {
  leat_session *session = open_session(text, "ref");
  leat_step *f = prepare(session, "f"), *g = prepare(session, "g");
  leat_tensor good[] = {{LEAT_f32, 1, {2}, two}, {LEAT_str, 1, {1}, (void *)&word}}, y;
  for (int i = 0; i < WRONG; i++) {
    leat_tensor feeds[] = {wrong[i], good[1]};
    REFUSED(leat_variable_write(session, "w", &wrong[i]));
    REFUSED(leat_session_hold(session, "h", &wrong[i]));
    REFUSED(leat_step_run(f, feeds, &y));
    CHECK(leat_step_run(g, feeds, &y) != LEAT_OK);
    CHECK(strlen(leat_session_message(session)) > 0);
  }
  leat_tensor strings[] = {good[0], wrong[WRONG - 1]}, nothing = {LEAT_f32, 1, {2}, NULL};
  REFUSED(leat_step_run(f, strings, &y));
  CHECK(strstr(leat_session_message(session), "the data of a string is NULL"));
  REFUSED(leat_variable_write(session, "w", &nothing));
  REFUSED(leat_variable_write(session, "w", NULL));
  REFUSED(leat_session_hold(session, "h", NULL));
  REFUSED(leat_step_run(f, NULL, &y));
  REFUSED(leat_step_run(f, good, NULL));
  check_goes_on(session, f);
  leat_session_destroy(session);
}

// -- Models --------------------------------------------------------------------------------------

static void check_is_no_model(leat_model *model) {
  leat_tensor x = {0}, y;
  REFUSED(leat_model_run(model, 0, &x, &y));
  REFUSED(leat_model_restore(model, "x.safetensors"));
  REFUSED(leat_model_save(model, "x.safetensors"));
  CHECK_EQ_INT(leat_model_feed_count(model, 0), 0);
  CHECK_EQ_INT(leat_model_fetch_count(model, 0), 0);
  CHECK(!leat_model_feed_name(model, 0, 0) && !leat_model_fetch_name(model, 0, 0));
  CHECK(!leat_model_feed_type(model, 0, 0) && !leat_model_fetch_type(model, 0, 0));
  CHECK(!leat_dtype_is_known(leat_model_feed_dtype(model, 0, 0)));
  CHECK_EQ_INT(leat_model_feed_rank(model, 0, 0), -1);
  CHECK(!leat_model_feed_has_fallback(model, 0, 0));
  CHECK_EQ_INT(leat_model_entry_count(model), 0);
  CHECK(!leat_model_entry_name(model, 0) && !leat_model_entry_about(model, 0));
  CHECK_EQ_INT(leat_model_find_entry(model, "f"), -1);
  CHECK_EQ_INT(leat_model_variable_count(model), 0);
  CHECK(!leat_model_variable_name(model, 0) && !leat_model_variable_type(model, 0));
  REFUSED(leat_model_variable_read(model, "w", &y));
  REFUSED(leat_model_variable_write(model, "w", &x));
  CHECK(strlen(leat_model_message(model)) > 0);
}

static int32_t k_copy(leat_call *call, const leat_arg *args, int64_t begin, int64_t end) {
  (void)call;
  for (int64_t i = begin; i < end; i++)
    ((float *)args[0].pointer)[i] = ((float *)args[1].pointer)[i];
  return 0;
}

static const leat_kernel_function kernels[] = {k_copy};

TEST(models_that_are_none) {
  leat_model_options options = {.threads = 1};
  leat_image *image = image_of_one_kernel(2, 1);
  const leat_built_step steps[] = {{.image = image, .kernels = kernels}, {.image = NULL}},
                        bare[] = {{.image = image}, {.image = NULL}};
  leat_model *model, *failed;
  CHECK_EQ_INT(leat_model_create(steps, NULL, &model), LEAT_OK);
  leat_model_destroy(model);
  CHECK_EQ_INT(leat_model_create(steps, &options, &model), LEAT_OK);
  REFUSED(leat_model_create(NULL, &options, &failed));
  check_is_no_model(failed);
  leat_model_destroy(failed);
  REFUSED(leat_model_create(bare, &options, &failed));
  leat_model_destroy(failed);
  REFUSED(leat_model_create(steps, &(leat_model_options){.threads = -1}, &failed));
  leat_model_destroy(failed);
  leat_model_options later = {.reserved = {"later"}};
  REFUSED(leat_model_create(steps, &later, &failed));
  CHECK(strstr(leat_model_message(failed), "what this version of Leat does not know"));
  leat_model_destroy(failed);
  REFUSED(leat_model_create(steps, &options, NULL));
  leat_tensor x = {LEAT_f32, 1, {2}, two}, y;
  for (int i = 0; i < WRONG; i++) REFUSED(leat_model_run(model, 0, &wrong[i], &y));
  REFUSED(leat_model_run(model, 0, NULL, &y));
  REFUSED(leat_model_run(model, 0, &x, NULL));
  REFUSED(leat_model_run(model, 1, &x, &y));
  REFUSED(leat_model_run(model, -1, &x, &y));
  REFUSED(leat_model_save(model, NULL));
  REFUSED(leat_model_restore(model, NULL));
  REFUSED(leat_model_variable_read(model, NULL, &y));
  REFUSED(leat_model_variable_write(model, "w", NULL));
  CHECK_EQ_INT(leat_model_find_entry(model, NULL), -1);
  CHECK(!leat_model_feed_name(model, 0, -1) && !leat_model_fetch_type(model, 0, 1));
  CHECK(!leat_model_feed_name(model, 1, 0) && !leat_model_variable_name(model, 0));
  CHECK_EQ_INT(leat_model_run(model, 0, &x, &y), LEAT_OK);
  CHECK(((float *)y.data)[1] == 2);
  leat_model_destroy(model);
  check_is_no_model(model);
  check_is_no_model(NULL);
  leat_model_destroy(model);
  leat_model_destroy(NULL);
  free(image);
}

CHECK_MAIN("misuse")
