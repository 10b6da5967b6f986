// How a step ends in the middle of a branch or a loop: by a failure, or interrupted.
#include "tests/unit/region_images.h"

#include <math.h>
#include <pthread.h>

// x starts as 3, and each round subtracts 1 and looks at its sign: the fourth fails.
static writing failing_image(form form) {
  writing w = begin_image(form);
  for (int i = 0; i < BYTES / 4; i++) ((float *)w.b->data)[i] = -2;
  uint32_t x = image_feed(w.b, "x", w.many), s = image_arena_buffer(w.b, BYTES, w.many);
  uint32_t p = image_feed(w.b, "p", image_type(LEAT_bool, -1));
  wide(&w, ADD, BUFFERS((int)s, (int)w.zero, (int)x));
  region(&w, true, p, 1);
  end_table(&w);
  wide(&w, CHECK_SIGN, BUFFERS((int)s, (int)s));
  add_sites(w.b, w.b->launches_count - 1, w.many.shape_first);
  end_table(&w);
  wide(&w, ADD, BUFFERS((int)s, (int)s, (int)w.zero));
  end_table(&w);
  image_fetch(w.b, "s", s);
  return w;
}

TEST(failures_in_a_round_end_the_step) {
  for (int k = 0; k < FORMS; k++) {
    writing w = failing_image(forms[k]);
    fixture f;
    if (set_up_form(&f, &w)) {
      float x[BYTES / 4];
      for (int i = 0; i < BYTES / 4; i++) x[i] = (float)(90 - i);
      bool p = true;
      leat_tensor feeds[] = {vector(x, forms[k].size), {.dtype = LEAT_bool, .data = &p}}, s;
      for (uint64_t step = 0; step < 3; step++) {
        char expected[128];
        snprintf(expected, sizeof expected,
                 DEVICE(0) ": node `net/second`: index out of range: element %d of %d is negative",
                 (int)forms[k].size - 1, (int)forms[k].size);
        CHECK_EQ_INT(execute(&f, step, feeds, &s), LEAT_OUT_OF_RANGE);
        CHECK_EQ_STR(f.error.message, expected);
      }
      p = false;
      CHECK_EQ_INT(execute(&f, 4, feeds, &s), LEAT_OK);
      CHECK(first(&s) == 89);
    }
    tear_down(&f);
  }
}

// A loop of one thread's between launches of all: while x < n { look at x's sign, x += 1 }; v += 1
static writing one_thread_image(void) {
  writing w = begin_image(forms[5]);
  uint32_t x = image_feed(w.b, "x", w.one), n = image_feed(w.b, "n", w.one);
  uint32_t i = image_arena_buffer(w.b, 4, w.one), s = image_arena_buffer(w.b, BYTES, w.many);
  uint32_t p = truth_buffer(&w), v = variable(&w, 2 | 4, 0);
  wide(&w, INCREMENT, BUFFERS((int)s, (int)w.zero));
  copy(&w, i, x);
  region(&w, true, p, 1);
  narrow(&w, INCREMENT, BUFFERS((int)v, (int)v));
  wide(&w, INCREMENT, BUFFERS((int)s, (int)s));
  wide(&w, INCREMENT, BUFFERS((int)s, (int)s));
  end_table(&w);
  narrow(&w, LESS, BUFFERS((int)p, (int)i, (int)n));
  end_table(&w);
  narrow(&w, CHECK_SIGN, BUFFERS((int)i, (int)i));
  end_table(&w);
  image_fetch(w.b, "s", s);
  image_fetch(w.b, "i", i);
  image_fetch(w.b, "v", v);
  return w;
}

TEST(one_thread_loops_in_a_gang) {
  writing w = one_thread_image();
  fixture f;
  if (set_up_form(&f, &w)) {
    float from = 0, to = 5, counted = 0;
    leat_tensor feeds[] = {scalar(&from), scalar(&to)}, fetches[3];
    for (int step = 0; step < 20; step++) {
      from = step % 2 ? 0 : -1;
      leat_status status = execute(&f, (uint64_t)step, feeds, fetches);
      CHECK_EQ_INT(status, from < 0 ? LEAT_OUT_OF_RANGE : LEAT_OK);
      if (from < 0)
        CHECK_EQ_STR(f.error.message, DEVICE(0) ": node `node`: index out of range");
      else // nothing runs behind a failure
        CHECK(all_are(&fetches[0], 3) && first(&fetches[1]) == 5 &&
              first(&fetches[2]) == (counted += 1));
    }
  }
  tear_down(&f);
}

typedef struct interrupter {
  leat_runtime *runtime;
  double asked;
} interrupter;

static void *interrupt(void *context) {
  interrupter *who = context;
  nanosleep(&(struct timespec){0, 150000000}, NULL);
  who->asked = seconds();
  leat_runtime_interrupt(who->runtime, true);
  return NULL;
}

// They get on: the deadline is not theirs. Two rounds of each loop make `expected`.
static void check_endless(writing w, float expected) {
  leat_runtime_options options = {.threads = w.form.threads, .deadline = 0.05};
  fixture f;
  if (set_up(&f, options, NULL, &w.b, 1)) {
    interrupter who = {.runtime = f.runtime};
    pthread_t thread;
    pthread_create(&thread, NULL, interrupt, &who);
    float n = INFINITY;
    leat_tensor feeds[] = {scalar(&n), scalar(&n)}, s;
    CHECK_EQ_INT(execute(&f, 1, feeds, &s), LEAT_ABORTED);
    double ended = seconds();
    pthread_join(thread, NULL);
    CHECK_EQ_STR(f.error.message, "interrupted");
    CHECK(getenv("LEAT_SANITIZED") || ended - who.asked < 0.2);
    leat_runtime_interrupt(f.runtime, false);
    n = 2;
    CHECK_EQ_INT(execute(&f, 2, feeds, &s), LEAT_OK);
    CHECK(all_are(&s, expected));
  }
  tear_down(&f);
}

TEST(endless_loops_are_interrupted) {
  check_endless(loop_image(forms[0], INCREMENT), 2);
  check_endless(loop_image(forms[1], INCREMENT), 2);
  check_endless(loop_image(forms[5], INCREMENT), 2);
  check_endless(nested_image(forms[4]), 4);
}

TEST(loops_of_nothing_are_interrupted) {
  for (int k = 0; k < 4; k++) {
    writing w = begin_image(forms[k]);
    uint32_t n = image_feed(w.b, "n", w.one), p = truth_buffer(&w);
    ((float *)w.b->data)[1] = 2;
    uint32_t two = image_buffer(w.b, LEAT_BUFFER_CONSTANT, 4, w.one);
    narrow(&w, LESS, BUFFERS((int)p, (int)two, (int)n));
    region(&w, true, p, 1);
    end_table(&w);
    end_table(&w);
    end_table(&w);
    image_fetch(w.b, "s", two);
    check_endless(w, 2);
  }
}

TEST(endless_kernels_are_interrupted) {
  writing w = begin_image(forms[1]);
  uint32_t n = image_feed(w.b, "n", w.one), m = image_feed(w.b, "m", w.one);
  uint32_t s = image_arena_buffer(w.b, BYTES, w.one);
  narrow(&w, COUNT, BUFFERS((int)s, (int)n));
  narrow(&w, ADD, BUFFERS((int)s, (int)s, (int)m));
  end_table(&w);
  image_fetch(w.b, "s", s);
  check_endless(w, 4);
}

// What a claim of a table refuses, whose launches work on memory that cannot be.
static writing refused_image(form form, uint32_t table) {
  writing w = nested_image(form);
  image_builder *b = w.b;
  leat_image_type impossible = image_type(LEAT_f32, image_constant(b, -5));
  uint32_t number = image_buffer(b, LEAT_BUFFER_ARENA, image_constant(b, 0), impossible);
  b->args[b->launches[b->launches_count - 1].arg_first].index = number;
  uint32_t five = image_constant(b, 5);
  uint32_t arg = IMAGE_ADD(b, args, (leat_image_arg){.is_scalar = 1, .index = five});
  leat_image_claim claim = {.node.name = image_text(b, "net/cut"),
                            .says = image_text(b, "not %lld"),
                            .room = image_constant(b, -1),
                            .arg_first = arg,
                            .arg_count = 1,
                            .table = table};
  IMAGE_ADD(b, claims, claim);
  return w;
}

// n and m: so often the outer and the inner loop turn.
static void check_refused(fixture *f, uint64_t step, float n, float m, bool ends) {
  leat_tensor feeds[] = {{.dtype = LEAT_f32, .data = &n}, {.dtype = LEAT_f32, .data = &m}}, s;
  CHECK_EQ_INT(execute(f, step, feeds, &s), ends ? LEAT_INVALID : LEAT_OK);
  if (ends)
    CHECK_EQ_STR(f->error.message, DEVICE(0) ": node `net/cut`: not 5");
  else
    CHECK(all_are(&s, 0));
}

TEST(refused_tables_end_the_step_when_they_begin) {
  for (int k = 0; k < 2 * FORMS; k++) {
    bool inner = k % 2;
    writing w = refused_image(forms[k / 2], inner ? 4 : 2);
    fixture f;
    if (set_up_form(&f, &w)) {
      check_refused(&f, 0, 0, 3, false);
      check_refused(&f, 1, 2, 0, !inner);
      check_refused(&f, 2, 2, 3, true);
      check_refused(&f, 3, 0, 0, false);
    }
    tear_down(&f);
  }
}

CHECK_MAIN("region_ends")
