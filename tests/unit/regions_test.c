// What branches and loops compute, as tasks and as launches of a segment.
#include "runtime/program.h"
#include "tests/unit/region_images.h"

#include <pthread.h>

// -- Loops ----------------------------------------------------------------------------------------

TEST(loops_run_as_often_as_they_should) {
  for (int k = 0; k < FORMS; k++) {
    writing w = loop_image(forms[k], INCREMENT);
    fixture f;
    if (set_up_form(&f, &w)) {
      static const float counts[] = {0, 1, 7, 300, 2};
      for (int c = 0; c < 5; c++) {
        float n = counts[c];
        leat_tensor feed = scalar(&n), s;
        CHECK_EQ_INT(execute(&f, 1, &feed, &s), LEAT_OK);
        if (!all_are(&s, n)) CHECK_FAILED("form %d: %g rounds are %g", k, n, first(&s));
      }
    }
    tear_down(&f);
  }
}

TEST(many_rounds) {
  for (int k = 0; k < 2; k++) {
    writing w = loop_image(forms[k], INCREMENT);
    fixture f;
    if (set_up_form(&f, &w)) {
      float n = getenv("LEAT_SANITIZED") ? 1e5f : 1e6f;
      leat_tensor feed = scalar(&n), s;
      double from = seconds();
      CHECK_EQ_INT(execute(&f, 1, &feed, &s), LEAT_OK);
      printf("a round of %s: %.0f ns\n", forms[k].launch ? "launches" : "tasks",
             (seconds() - from) / n * 1e9);
      CHECK(first(&s) == n);
    }
    tear_down(&f);
  }
}

TEST(loops_in_loops) {
  for (int k = 0; k < FORMS; k++) {
    writing w = nested_image(forms[k]);
    fixture f;
    if (set_up_form(&f, &w)) {
      static const float counts[][2] = {{3, 4}, {0, 5}, {5, 0}, {20, 30}};
      for (int c = 0; c < 4; c++) {
        float n = counts[c][0], m = counts[c][1];
        leat_tensor feeds[] = {scalar(&n), scalar(&m)}, s;
        CHECK_EQ_INT(execute(&f, 1, feeds, &s), LEAT_OK);
        if (!all_are(&s, n * m)) CHECK_FAILED("form %d: %g times %g are %g", k, n, m, first(&s));
      }
    }
    tear_down(&f);
  }
}

// What all threads of a gang compute together, and the last of them the predicate.
TEST(a_predicate_may_be_of_any_thread) {
  for (int k = 0; k < FORMS; k++) {
    writing w = begin_image(forms[k]);
    uint32_t n = image_feed(w.b, "n", w.many), s = image_arena_buffer(w.b, BYTES, w.many);
    uint32_t place = image_constant(w.b, w.b->arena);
    uint32_t all = image_buffer(w.b, LEAT_BUFFER_ARENA, place,
                                image_type(LEAT_bool, (int64_t)w.many.shape_first));
    place = image_constant(w.b, w.b->arena + forms[k].size - 1);
    w.b->arena += BYTES;
    uint32_t p = image_buffer(w.b, LEAT_BUFFER_ARENA, place, image_type(LEAT_bool, -1));
    copy(&w, s, w.zero);
    region(&w, true, p, 1);
    end_table(&w);
    wide(&w, LESS, BUFFERS((int)all, (int)s, (int)n));
    end_table(&w);
    wide(&w, INCREMENT, BUFFERS((int)s, (int)s));
    end_table(&w);
    image_fetch(w.b, "s", s);
    fixture f;
    if (set_up_form(&f, &w)) {
      float n_values[BYTES / 4] = {0};
      n_values[forms[k].size - 1] = 100;
      leat_tensor feed = vector(n_values, forms[k].size), out;
      CHECK_EQ_INT(execute(&f, 1, &feed, &out), LEAT_OK);
      CHECK(all_are(&out, 100));
    }
    tear_down(&f);
  }
}

// -- Branches -------------------------------------------------------------------------------------

// y = x + 1 when p, else x + x; then + 1
static writing branch_image(form form) {
  writing w = begin_image(form);
  uint32_t p = image_feed(w.b, "p", image_type(LEAT_bool, -1));
  uint32_t x = image_feed(w.b, "x", w.many), y = image_arena_buffer(w.b, BYTES, w.many);
  region(&w, false, p, 1);
  wide(&w, INCREMENT, BUFFERS((int)y, (int)y));
  end_table(&w);
  wide(&w, INCREMENT, BUFFERS((int)y, (int)x));
  end_table(&w);
  wide(&w, ADD, BUFFERS((int)y, (int)x, (int)x));
  end_table(&w);
  image_fetch(w.b, "y", y);
  return w;
}

TEST(branches_go_both_ways) {
  for (int k = 0; k < FORMS; k++) {
    writing w = branch_image(forms[k]);
    fixture f;
    if (set_up_form(&f, &w)) {
      float x[BYTES / 4];
      for (int i = 0; i < BYTES / 4; i++) x[i] = 5;
      for (int step = 0; step < 4; step++) {
        bool p = step % 2;
        leat_tensor feeds[] = {{.dtype = LEAT_bool, .data = &p}, vector(x, forms[k].size)}, y;
        CHECK_EQ_INT(execute(&f, 1, feeds, &y), LEAT_OK);
        CHECK(all_are(&y, p ? 7 : 11));
      }
    }
    tear_down(&f);
  }
}

// y = x + 1 below so many branches
static writing deep_image(form form, uint32_t depth) {
  writing w = begin_image(form);
  uint32_t p = image_feed(w.b, "p", image_type(LEAT_bool, -1));
  uint32_t x = image_feed(w.b, "x", w.many), y = image_arena_buffer(w.b, BYTES, w.many);
  copy(&w, y, w.zero);
  for (uint32_t d = 0; d < depth; d++) {
    region(&w, false, p, 1 + 2 * d);
    end_table(&w);
    if (d > 0) end_table(&w);
  }
  wide(&w, INCREMENT, BUFFERS((int)y, (int)x));
  end_table(&w);
  end_table(&w);
  image_fetch(w.b, "y", y);
  return w;
}

TEST(branches_lie_in_each_other_up_to_a_depth) {
  for (int k = 0; k < FORMS; k++) {
    writing w = deep_image(forms[k], 64);
    fixture f;
    if (set_up_form(&f, &w)) {
      float x[BYTES / 4] = {0};
      bool p = true;
      leat_tensor feeds[] = {{.dtype = LEAT_bool, .data = &p}, vector(x, forms[k].size)}, y;
      CHECK_EQ_INT(execute(&f, 1, feeds, &y), LEAT_OK);
      CHECK(first(&y) == 1);
      p = false;
      CHECK_EQ_INT(execute(&f, 1, feeds, &y), LEAT_OK);
      CHECK(all_are(&y, 0));
    }
    tear_down(&f);
    leat_image *image = image_finish(deep_image(forms[k], 65).b);
    leat_program_source source = {
        .image = image, .size = image->size, .kernels = kernels, .kernel_count = KERNELS};
    leat_program *program;
    CHECK_EQ_INT(leat_program_load(&source, &program, &f.error), LEAT_INVALID);
    CHECK_EQ_STR(f.error.message, "damaged image: more than 64 regions in each other");
    free(image);
  }
}

// y[M] = a[i] + b[i] in a branch, for the M that a task binds before it, or too late.
static writing bound_image(form form, bool late) {
  writing w = begin_image(form);
  image_builder *b = w.b;
  uint32_t m = image_dim(b, "M", 0, 60), formula = image_dim_formula(b, m);
  uint32_t n = image_feed(b, "n", image_type(LEAT_i64, -1)), x = image_feed(b, "x", w.many);
  uint32_t p = image_feed(b, "p", image_type(LEAT_bool, -1));
  uint32_t y = image_arena_buffer(b, BYTES, image_type(LEAT_f32, formula));
  uint32_t binds = IMAGE_ADD(b, args, (leat_image_arg){.index = n});
  if (!late) task(&w, LEAT_TASK_BIND, binds, 1);
  region(&w, false, p, 1);
  if (late) task(&w, LEAT_TASK_BIND, binds, 1);
  end_table(&w);
  image_launch(b, INCREMENT, 0, WIDE, BUFFERS((int)y, (int)x));
  b->launches[b->launches_count - 1].tiles = formula;
  end_table(&w);
  end_table(&w);
  image_fetch(b, "y", y);
  return w;
}

TEST(dims_are_bound_before_a_branch) {
  for (int k = 4; k < FORMS; k++) {
    for (int late = 0; late < 2; late++) {
      writing w = bound_image(forms[k], late);
      fixture f;
      if (set_up_form(&f, &w)) {
        float x[BYTES / 4] = {[30] = 5};
        int64_t n = 31;
        bool p = true;
        leat_tensor feeds[] = {{.dtype = LEAT_i64, .data = &n},
                               vector(x, forms[k].size),
                               {.dtype = LEAT_bool, .data = &p}},
                    y;
        CHECK_EQ_INT(execute(&f, 1, feeds, &y), late ? LEAT_INVALID : LEAT_OK);
        if (late)
          CHECK_EQ_STR(f.error.message, "damaged image: task `segment` works on memory whose place "
                                        "or size is not known");
        else
          CHECK(y.shape[0] == 31 && ((float *)y.data)[30] == 6);
      }
      tear_down(&f);
    }
  }
}

// -- What the host does ---------------------------------------------------------------------------

static void keep_text(void *context, const char *text) {
  leat_text_add(context, "%s;", text);
}

// while i < n { i += 1; print(i); assert(i < 3) }
TEST(the_host_prints_and_asserts_in_loops) {
  writing w = begin_image(forms[0]);
  image_builder *b = w.b;
  float three = 3;
  memcpy(b->data + 64, &three, sizeof three);
  uint32_t n = image_feed(b, "n", w.one), i = image_arena_buffer(b, 4, w.one);
  uint32_t most = image_buffer(b, LEAT_BUFFER_CONSTANT, 64, w.one);
  uint32_t p = truth_buffer(&w), q = truth_buffer(&w);
  copy(&w, i, image_buffer(b, LEAT_BUFFER_CONSTANT, 0, w.one));
  region(&w, true, p, 1);
  end_table(&w);
  narrow(&w, LESS, BUFFERS((int)p, (int)i, (int)n));
  end_table(&w);
  narrow(&w, INCREMENT, BUFFERS((int)i, (int)i));
  task(&w, LEAT_TASK_PRINT, IMAGE_ADD(b, args, (leat_image_arg){.index = i}), 1);
  b->tasks[b->tasks_count - 1].message = image_text(b, "i is");
  narrow(&w, LESS, BUFFERS((int)q, (int)i, (int)most));
  task(&w, LEAT_TASK_ASSERT, IMAGE_ADD(b, args, (leat_image_arg){.index = q}), 1);
  b->tasks[b->tasks_count - 1].message = image_text(b, "i is too large");
  end_table(&w);
  image_fetch(b, "i", i);
  leat_text said = {0};
  fixture f;
  leat_runtime_options options = {
      .threads = 1, .trace = true, .print = keep_text, .print_context = &said};
  if (set_up(&f, options, NULL, &b, 1)) {
    float rounds = 2;
    leat_tensor feed = scalar(&rounds), out;
    CHECK_EQ_INT(execute(&f, 1, &feed, &out), LEAT_OK);
    CHECK(first(&out) == 2);
    rounds = 9;
    CHECK_EQ_INT(execute(&f, 2, &feed, &out), LEAT_INVALID);
    CHECK_EQ_STR(f.error.message, DEVICE(0) ": node `task`: i is too large");
    CHECK_EQ_STR(said.data, "i is 1.0;i is 2.0;i is 1.0;i is 2.0;i is 3.0;");
    rounds = 1;
    CHECK_EQ_INT(execute(&f, 3, &feed, &out), LEAT_OK);
    CHECK(first(&out) == 1);
    leat_text trace = {0};
    leat_runtime_trace(f.runtime, &trace);
    CHECK(strstr(trace.data, "{\"name\":\"task\",\"cat\":\"region\""));
    leat_text_finish(&trace);
  }
  tear_down(&f);
  leat_text_finish(&said);
}

// -- Several at once ------------------------------------------------------------------------------

// v += 1, a thousand times
static writing counting_image(form form) {
  writing w = begin_image(form);
  uint32_t n = image_feed(w.b, "n", w.one), p = truth_buffer(&w);
  uint32_t i = image_arena_buffer(w.b, 4, w.one);
  uint32_t value = variable(&w, 2 | 4, 0);
  copy(&w, i, image_buffer(w.b, LEAT_BUFFER_CONSTANT, 0, w.one));
  region(&w, true, p, 1);
  end_table(&w);
  narrow(&w, LESS, BUFFERS((int)p, (int)i, (int)n));
  end_table(&w);
  narrow(&w, INCREMENT, BUFFERS((int)i, (int)i));
  narrow(&w, INCREMENT, BUFFERS((int)value, (int)value));
  end_table(&w);
  image_fetch(w.b, "v", value);
  return w;
}

static void *count(void *context) {
  fixture *f = context;
  float n = 1000;
  leat_tensor feed = scalar(&n), v;
  leat_error error = {0};
  leat_run *run = leat_run_acquire(f->executor);
  for (uint64_t step = 0; step < 5; step++) {
    leat_run_request request = {.step = step, .feeds = &feed};
    CHECK_EQ_INT(leat_run_execute(run, &request, &v, &error), LEAT_OK);
  }
  leat_run_release(run);
  return NULL;
}

TEST(what_loops_do_to_variables_is_locked) {
  for (int k = 0; k < 2; k++) {
    writing w = counting_image(forms[k]);
    fixture f;
    if (set_up_form(&f, &w)) {
      pthread_t threads[2];
      for (int i = 0; i < 2; i++) pthread_create(&threads[i], NULL, count, &f);
      for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
      float none = 0;
      leat_tensor feed = scalar(&none), v;
      CHECK_EQ_INT(execute(&f, 9, &feed, &v), LEAT_OK);
      CHECK(first(&v) == 10000);
    }
    tear_down(&f);
  }
}

// while v < n { x = v + 1 } of a variable that is only read
static writing reading_image(form form) {
  writing w = begin_image(form);
  uint32_t n = image_feed(w.b, "n", w.one), x = image_arena_buffer(w.b, 4, w.one);
  uint32_t v = variable(&w, 4, 0), p = truth_buffer(&w);
  region(&w, true, p, 1);
  end_table(&w);
  narrow(&w, LESS, BUFFERS((int)p, (int)v, (int)n));
  end_table(&w);
  narrow(&w, INCREMENT, BUFFERS((int)x, (int)v));
  end_table(&w);
  return w;
}

// What the first and last task of table 0, the condition's and the body's do to variables.
static void check_access(writing w, const char *expected) {
  fixture f;
  if (set_up_form(&f, &w)) {
    const leat_image_table *tables = f.programs[0]->view.tables;
    uint32_t tasks[] = {0, tables[0].task_count - 1, tables[1].task_first, tables[2].task_first};
    char found[5] = "";
    for (int i = 0; i < 4; i++) found[i] = "-rw"[f.programs[0]->access[tasks[i]]];
    CHECK_EQ_STR(found, expected);
  }
  tear_down(&f);
}

TEST(segments_lock_what_their_regions_touch) {
  check_access(counting_image(forms[0]), "---w");
  check_access(counting_image(forms[1]), "ww-w");
  check_access(reading_image(forms[0]), "--rr");
  check_access(reading_image(forms[1]), "rrrr");
  for (int k = 0; k < 2; k++) { // the predicate itself
    writing w = reading_image(forms[k]);
    uint32_t truth = variable(&w, 4, 0);
    w.b->variables[1].type = w.b->buffers[truth].type = image_type(LEAT_bool, -1);
    w.b->buffers[truth].where = 1;
    w.b->variables[1].origin.name = image_text(w.b, "truth");
    w.b->regions[0].predicate = truth;
    w.b->tables[1].task_count = w.b->tables[2].task_count = 0;
    check_access(w, "rr--");
  }
}

// v starts as 3, which a loop counts to, each time anew.
static writing initialised_image(form form) {
  writing w = begin_image(form);
  float three = 3;
  memcpy(w.b->data + 64, &three, sizeof three);
  uint32_t value = variable(&w, 0, 1), p = truth_buffer(&w);
  uint32_t most = image_buffer(w.b, LEAT_BUFFER_CONSTANT, 64, w.one);
  uint32_t y = image_arena_buffer(w.b, 4, w.one);
  narrow(&w, INCREMENT, BUFFERS((int)y, (int)value));
  end_table(&w);
  copy(&w, value, image_buffer(w.b, LEAT_BUFFER_CONSTANT, 0, w.one));
  region(&w, true, p, 2);
  end_table(&w);
  narrow(&w, LESS, BUFFERS((int)p, (int)value, (int)most));
  end_table(&w);
  narrow(&w, INCREMENT, BUFFERS((int)value, (int)value));
  end_table(&w);
  image_fetch(w.b, "y", y);
  return w;
}

TEST(loops_initialise_variables) {
  for (int k = 0; k < FORMS; k++) {
    writing w = initialised_image(forms[k]);
    fixture f;
    if (set_up_form(&f, &w)) {
      leat_tensor y;
      CHECK_EQ_INT(execute(&f, 1, NULL, &y), LEAT_OK);
      CHECK(first(&y) == 4);
      for (int t = 1; t < 4; t++) { // all of them write, whatever the step does
        uint32_t task = f.programs[0]->view.tables[t].task_first;
        CHECK_EQ_INT(f.programs[0]->access[task], LEAT_STORE_WRITE);
      }
    }
    tear_down(&f);
  }
}

// -- Sends and receives ---------------------------------------------------------------------------

// i = 0; s = 0; while i < n { i += 1; what follows }
typedef struct ring_loop {
  writing w;
  uint32_t i, s;
} ring_loop;

static ring_loop begin_ring(const char *device, const char *feed) {
  ring_loop r = {.w = {.b = begin(device), .one = image_type(LEAT_f32, -1)}};
  writing *w = &r.w;
  w->b->data_count = BYTES;
  uint32_t n = image_feed(w->b, feed, w->one), p = truth_buffer(w);
  r.i = image_arena_buffer(w->b, 4, w->one);
  r.s = image_arena_buffer(w->b, 4, w->one);
  uint32_t nought = image_buffer(w->b, LEAT_BUFFER_CONSTANT, 0, w->one);
  copy(w, r.i, nought);
  copy(w, r.s, nought);
  region(w, true, p, 1);
  end_table(w);
  narrow(w, LESS, BUFFERS((int)p, (int)r.i, (int)n));
  end_table(w);
  narrow(w, INCREMENT, BUFFERS((int)r.i, (int)r.i));
  return r;
}

static image_builder *sending_loop(void) {
  ring_loop r = begin_ring(DEVICE(0), "n");
  task(&r.w, LEAT_TASK_SEND, image_message(r.w.b, 1, r.i, DEVICE(1)), 1);
  end_table(&r.w);
  image_fetch(r.w.b, "i", r.i);
  return r.w.b;
}

// s = 2 s + what comes: it comes in order, each once
static image_builder *receiving_loop(void) {
  ring_loop r = begin_ring(DEVICE(1), "m");
  writing *w = &r.w;
  uint32_t x = image_arena_buffer(w->b, 4, w->one);
  task(w, LEAT_TASK_RECV, image_message(w->b, 1, x, DEVICE(0)), 1);
  narrow(w, ADD, BUFFERS((int)r.s, (int)r.s, (int)r.s));
  narrow(w, ADD, BUFFERS((int)r.s, (int)r.s, (int)x));
  end_table(w);
  image_fetch(w->b, "s", r.s);
  return w->b;
}

TEST(edges_are_used_again_in_each_round) {
  for (int threads = 1; threads <= 3; threads++) {
    image_builder *builders[] = {sending_loop(), receiving_loop()};
    fixture f;
    leat_runtime_options options = {.threads = threads, .deadline = SHORT};
    if (set_up(&f, options, NULL, builders, 2)) {
      for (uint64_t step = 0; step < 20; step++) {
        float n = 10, s = 0;
        leat_tensor feeds[] = {scalar(&n), scalar(&n)}, fetches[2];
        for (int i = 1; i <= 10; i++) s = 2 * s + (float)i;
        CHECK_EQ_INT(execute(&f, step, feeds, fetches), LEAT_OK);
        CHECK(first(&fetches[1]) == s);
      }
      // One round more than what is sent: it waits, and the next step is not confused.
      float n = 3, m = 4;
      leat_tensor feeds[] = {scalar(&n), scalar(&m)}, fetches[2];
      CHECK_EQ_INT(execute(&f, 30, feeds, fetches), LEAT_DEADLINE);
      CHECK(strstr(f.error.message, "waits for tensor `tensor:0` (edge 1)"));
      m = 3;
      CHECK_EQ_INT(execute(&f, 31, feeds, fetches), LEAT_OK);
    }
    tear_down(&f);
  }
}

CHECK_MAIN("regions")
