// What `leat build` makes, without the compiler: the public API for models and the `main` of
// executables, on an image made by hand.
#define _XOPEN_SOURCE 700
#include "base/cpuid.h"
#include "base/npy.h"
#include "leat/runtime.h"
#include "runtime/image.h"
#include "tests/unit/check.h"
#include "tests/unit/image_builder.h"
#include "tests/unit/scratch.h"

#include <fcntl.h>
#include <unistd.h>

// out = x * factor + v, and v = v + 1
static int32_t k_step(leat_call *call, const leat_arg *args, int64_t begin, int64_t end) {
  (void)call;
  float *out = args[0].pointer, *v = args[3].pointer;
  const float *x = args[1].pointer, *factor = args[2].pointer;
  for (int64_t i = begin; i < end; i++) out[i] = x[i] * *factor + *v;
  *v += 1;
  return 0;
}

static const leat_kernel_function kernels[] = {k_step};

static leat_image *step_image(void) {
  image_builder *b = image_begin("/job:local/task:0/device:cpu:0");
  leat_text_index name = image_text(b, "step");
  IMAGE_ADD(b, kernels, (leat_image_kernel){.symbol = name, .title = name});
  float values[] = {100, 2}; // of v at first, of factor when it is not fed
  memcpy(b->data, values, sizeof values);
  b->data_count = sizeof values;
  leat_image_type scalar = image_type(LEAT_f32, -1);
  leat_image_type vector = image_type(LEAT_f32, image_constant(b, 3));
  uint32_t x = image_feed(b, "step/x", vector), factor = image_feed(b, "step/factor", scalar);
  b->feeds[1].has_fallback = 1;
  b->feeds[1].fallback = 4;
  IMAGE_ADD(
      b, variables,
      (leat_image_variable){.origin.name = image_text(b, "v"), .type = scalar, .flags = 2 | 4});
  uint32_t v = image_buffer(b, LEAT_BUFFER_VARIABLE, 0, scalar);
  uint32_t y = image_arena_buffer(b, 12, vector);
  uint32_t launch = image_launch(b, 0, 1, 1, BUFFERS((int)y, (int)x, (int)factor, (int)v));
  b->launches[launch].tiles = image_constant(b, 3);
  image_task(b, LEAT_TASK_SEGMENT, launch, 1, "step");
  image_fetch(b, "step/y", y);
  return image_finish(b);
}

TEST(models_lack_no_part_of_the_runtime) {
  leat_image *image = step_image();
  leat_model *model;
  const leat_built_step steps[] = {{.image = image, .kernels = kernels}, {.image = NULL}};
  CHECK_EQ_INT(leat_model_create(steps, NULL, &model), LEAT_INVALID);
  CHECK_EQ_STR(leat_model_message(model), "damaged image: nothing keeps its variables");
  leat_model_destroy(model);
  free(image);
}

TEST(models_run_save_and_restore) {
  char path[SCRATCH_PATH];
  scratch_path(path, "v.safetensors");
  leat_image *image = step_image();
  leat_model *model;
  const leat_built_step steps[] = {
      {.image = image, .kernels = kernels, .keeper = leat_keeps_variables}, {.image = NULL}};
  CHECK_EQ_INT(leat_model_create(steps, &(leat_model_options){.threads = 1}, &model), 0);
  CHECK_EQ_INT(leat_model_feed_count(model, 0), 2);
  CHECK_EQ_STR(leat_model_feed_type(model, 0, 0), "f32[3]");
  CHECK_EQ_STR(leat_model_fetch_name(model, 0, 0), "step/y");
  CHECK_EQ_INT(leat_model_save(model, path), LEAT_OK); // with the initial value
  float x[] = {1, 2, 3};
  leat_tensor feeds[] = {{LEAT_f32, 1, {3}, x}, {0}}, y;
  CHECK_EQ_INT(leat_model_run(model, 0, feeds, &y), LEAT_OK);
  CHECK(((float *)y.data)[2] == 106);
  CHECK_EQ_INT(leat_model_run(model, 0, feeds, &y), LEAT_OK);
  CHECK(((float *)y.data)[2] == 107);
  CHECK_EQ_INT(leat_model_restore(model, path), LEAT_OK);
  CHECK_EQ_INT(leat_model_run(model, 0, feeds, &y), LEAT_OK);
  CHECK(((float *)y.data)[2] == 106);
  feeds[0].shape[0] = 2;
  CHECK_EQ_INT(leat_model_run(model, 0, feeds, &y), LEAT_INVALID);
  CHECK_EQ_STR(leat_model_message(model), "feed `step/x`: axis 0 of f32[3]: expected 3, found 2");
  CHECK_EQ_INT(leat_model_restore(model, "/nowhere/v.safetensors"), LEAT_NOT_FOUND);
  leat_model_destroy(model);
  free(image);
}

static const leat_kernel_function no_kernels[] = {NULL};

// Of two entries for two levels each only the kernels of the one that this CPU takes are there.
TEST(models_take_the_highest_level_that_the_cpu_has) {
  leat_model *model;
  leat_image *images[4];
  leat_built_step steps[5] = {{.image = NULL}};
  uint32_t here = (uint32_t)leat_cpu_host_level() + 1, low = here > 1 ? here - 1 : 1;
  for (int i = 0; i < 4; i++) {
    images[i] = step_image();
    images[i]->level = low + (uint32_t)i % 2;
    steps[i] = (leat_built_step){.image = images[i],
                                 .kernels = images[i]->level == here ? kernels : no_kernels,
                                 .keeper = leat_keeps_variables};
  }
  CHECK_EQ_INT(leat_count_levels(steps), 2);
  CHECK_EQ_INT(leat_model_create(steps, NULL, &model), LEAT_OK);
  CHECK_EQ_INT(leat_model_entry_count(model), 2);
  leat_model_destroy(model);
  images[3]->level = 1000;
  leat_error error = {0};
  leat_view view;
  CHECK_EQ_INT(leat_image_check(images[3], images[3]->size, &view, &error), LEAT_INVALID);
  for (int i = 0; i < 4; i++) free(images[i]);
}

// Runs the executable with words that bars part, as paths may have blanks in them; its output goes
// to the scratch file `out`.
static int run(const char *format, ...) {
  char line[4 * SCRATCH_PATH], out[SCRATCH_PATH], *words[32] = {"model"};
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(line, sizeof line, format, arguments);
  va_end(arguments);
  int count = 1;
  for (char *word = strtok(line, "|"); word; word = strtok(NULL, "|")) words[count++] = word;
  scratch_path(out, "out");
  fflush(stdout);
  int before = dup(1), errors = dup(2), file = open(out, O_CREAT | O_TRUNC | O_WRONLY, 0600);
  dup2(file, 1);
  dup2(file, 2);
  leat_image *image = step_image();
  const leat_built_step steps[] = {
      {.image = image, .kernels = kernels, .keeper = leat_keeps_variables}, {.image = NULL}};
  int code = leat_executable_main(steps, leat_saves_variables, count, words);
  free(image);
  fflush(stdout);
  dup2(before, 1);
  dup2(errors, 2);
  close(file);
  close(before);
  close(errors);
  return code;
}

static void check_output(const char *expected) {
  char out[SCRATCH_PATH], *text;
  size_t size;
  scratch_path(out, "out");
  CHECK_EQ_INT(leat_file_read(out, 1 << 20, &text, &size, NULL), LEAT_OK);
  if (!strstr(text, expected)) CHECK_FAILED("`%s` is not in: %s", expected, text);
  free(text);
}

TEST(executables_read_and_write) {
  char x[SCRATCH_PATH], y[SCRATCH_PATH], v[SCRATCH_PATH];
  scratch_path(x, "x.npy");
  scratch_path(y, "y.npy");
  scratch_path(v, "v2.safetensors");
  float values[] = {1, 2, 3};
  leat_tensor tensor = {LEAT_f32, 1, {3}, values};
  CHECK_EQ_INT(leat_npy_write(x, &tensor, NULL), LEAT_OK);
  CHECK_EQ_INT(run("--feed|x=@%s", x), 0);
  check_output("step/y: f32[3] = [102.0 104.0 106.0]");
  CHECK_EQ_INT(run("--threads|2|--feed|step/x=@%s|--feed|factor=0.5|--save|%s|-o|y=@%s", x, v, y),
               0);
  leat_npy npy;
  CHECK_EQ_INT(leat_npy_open(&npy, y, NULL), LEAT_OK);
  CHECK(((const float *)npy.tensor.data)[2] == 101.5f);
  leat_npy_close(&npy);
  CHECK_EQ_INT(run("--restore|%s|--feed|x=@%s", v, x), 0);
  check_output("step/y: f32[3] = [103.0 105.0 107.0]");
}

TEST(executables_explain_themselves) {
  CHECK_EQ_INT(run("--help"), 0);
  check_output("step/x: f32[3]\n  step/factor: f32[] (has a default)");
  CHECK_EQ_INT(run("|"), 1);
  check_output("feed `step/x` is missing");
  CHECK_EQ_INT(run("--feed|z=1"), 2);
  check_output("there is no feed `z`");
  CHECK_EQ_INT(run("--feed|x=1"), 2);
  check_output("feed `step/x`, which is f32[3]: expected `[`");
  CHECK_EQ_INT(run("--feed|factor=much"), 2);
  check_output("feed `step/factor`, which is f32[]: expected a number");
  CHECK_EQ_INT(run("--feed|factor=1|--feed|factor=2"), 2);
  check_output("`step/factor` is fed twice");
  CHECK_EQ_INT(run("--feed|x=[1,2,3]|--feed|factor=1"), 0);
  check_output("step/y: f32[3] = [101.0 102.0 103.0]");
  CHECK_EQ_INT(run("--feed|x=@/nowhere/x.npy"), 1);
  check_output("/nowhere/x.npy");
  CHECK_EQ_INT(run("--wrong"), 2);
  check_output("Try model --help");
  CHECK_EQ_INT(run("--threads|none"), 2);
  CHECK_EQ_INT(run("y"), 2);
}

CHECK_MAIN("executable")
