// Images with branches and loops, made by hand: as tasks, each in its table, and as launches of a
// segment.
#ifndef LEAT_TESTS_UNIT_REGION_IMAGES_H
#define LEAT_TESTS_UNIT_REGION_IMAGES_H

#include "tests/unit/runtime_fixture.h"

// How an image has a region: as a task or as a launch, and how many elements its kernels work on,
// each worth a thread if there is more than one.
typedef struct form {
  bool launch;
  int64_t size;
  int threads;
} form;

static const form forms[] = {{false, 1, 1},  {true, 1, 1},  {false, 1, 3}, {true, 1, 3},
                             {false, 50, 3}, {true, 50, 3}, {true, 50, 2}};
enum { FORMS = sizeof forms / sizeof *forms };

enum { WIDE = 100000000, BYTES = 256 };

// -- Images: tables are written one after the other ----------------------------------------------

typedef struct writing {
  image_builder *b;
  form form;
  uint32_t task, launch; // the first of the table, of the segment
  leat_image_type one, many;
  uint32_t zero;
} writing;

static inline writing begin_image(form form) {
  writing w = {.b = begin(DEVICE(0)), .form = form};
  w.one = image_type(LEAT_f32, -1);
  w.many = image_type(LEAT_f32, image_constant(w.b, form.size));
  w.b->data_count = BYTES;
  w.zero = image_buffer(w.b, LEAT_BUFFER_CONSTANT, 0, w.many);
  return w;
}

static inline uint32_t truth_buffer(writing *w) {
  return image_arena_buffer(w->b, 1, image_type(LEAT_bool, -1));
}

// A kernel on one element, and on as many as the form has.
static inline void narrow(writing *w, uint32_t kernel, const int *buffers) {
  image_launch(w->b, kernel, 1, 1, buffers);
}

static inline void wide(writing *w, uint32_t kernel, const int *buffers) {
  image_launch(w->b, kernel, w->form.size, w->form.size > 1 ? WIDE : 1, buffers);
}

static inline void copy(writing *w, uint32_t to, uint32_t from) {
  narrow(w, 0, BUFFERS((int)to, (int)from));
  w->b->launches[w->b->launches_count - 1].kind = LEAT_LAUNCH_COPY;
}

// Puts the task behind the one before it in its table.
static inline void in_order(writing *w, uint32_t task) {
  image_builder *b = w->b;
  if (task == w->task) return;
  b->tasks[task - 1].successor_first = IMAGE_ADD(b, successors, task - w->task);
  b->tasks[task - 1].successor_count = 1;
  b->tasks[task].dependencies = 1;
}

// What was launched since the last one.
static inline void segment(writing *w) {
  uint32_t count = w->b->launches_count - w->launch;
  if (count) in_order(w, image_task(w->b, LEAT_TASK_SEGMENT, w->launch, count, "segment"));
  w->launch = w->b->launches_count;
}

static inline void task(writing *w, leat_task_kind kind, uint32_t first, uint32_t count) {
  segment(w);
  in_order(w, image_task(w->b, kind, first, count, "task"));
}

static inline void end_table(writing *w) {
  segment(w);
  IMAGE_ADD(w->b, tables,
            (leat_image_table){.task_first = w->task, .task_count = w->b->tasks_count - w->task});
  w->task = w->b->tasks_count;
}

// The region's tables are `first` and the one behind it.
static inline void region(writing *w, bool loops, uint32_t predicate, uint32_t first) {
  uint32_t number = image_region(w->b, predicate, first, first + 1);
  if (w->form.launch)
    image_region_launch(w->b, loops ? LEAT_LAUNCH_WHILE : LEAT_LAUNCH_IF, number);
  else
    task(w, loops ? LEAT_TASK_WHILE : LEAT_TASK_IF, number, 1);
}

static inline bool set_up_form(fixture *f, writing *w) {
  leat_runtime_options options = {.threads = w->form.threads};
  return set_up(f, options, NULL, &w->b, 1);
}

static inline bool all_are(const leat_tensor *tensor, float value) {
  for (int64_t i = 0; i < (tensor->rank ? tensor->shape[0] : 1); i++)
    if (((const float *)tensor->data)[i] != value) return false;
  return true;
}

static inline uint32_t variable(writing *w, uint32_t flags, uint32_t table) {
  leat_image_variable v = {
      .origin.name = image_text(w->b, "v"), .type = w->one, .flags = flags, .table = table};
  return image_buffer(w->b, LEAT_BUFFER_VARIABLE, IMAGE_ADD(w->b, variables, v), w->one);
}

static inline double seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

// -- Loops ----------------------------------------------------------------------------------------

// s = 0; i = 0; while i < n { kernel(s), i += 1 }
static inline writing loop_image(form form, uint32_t kernel) {
  writing w = begin_image(form);
  uint32_t n = image_feed(w.b, "n", w.one), p = truth_buffer(&w);
  uint32_t i = image_arena_buffer(w.b, 4, w.one), s = image_arena_buffer(w.b, BYTES, w.many);
  copy(&w, s, w.zero);
  copy(&w, i, image_buffer(w.b, LEAT_BUFFER_CONSTANT, 0, w.one));
  region(&w, true, p, 1);
  end_table(&w);
  narrow(&w, LESS, BUFFERS((int)p, (int)i, (int)n));
  end_table(&w);
  wide(&w, kernel, BUFFERS((int)s, (int)s));
  narrow(&w, INCREMENT, BUFFERS((int)i, (int)i));
  end_table(&w);
  image_fetch(w.b, "s", s);
  return w;
}

// s = 0; while i < n { j = 0; while j < m { s += 1, j += 1 }; i += 1 }
static inline writing nested_image(form form) {
  writing w = begin_image(form);
  uint32_t n = image_feed(w.b, "n", w.one), m = image_feed(w.b, "m", w.one);
  uint32_t p = truth_buffer(&w), q = truth_buffer(&w);
  uint32_t nought = image_buffer(w.b, LEAT_BUFFER_CONSTANT, 0, w.one);
  uint32_t i = image_arena_buffer(w.b, 4, w.one), j = image_arena_buffer(w.b, 4, w.one);
  uint32_t s = image_arena_buffer(w.b, BYTES, w.many);
  copy(&w, s, w.zero);
  copy(&w, i, nought);
  region(&w, true, p, 1);
  end_table(&w);
  narrow(&w, LESS, BUFFERS((int)p, (int)i, (int)n));
  end_table(&w);
  copy(&w, j, nought);
  region(&w, true, q, 3);
  narrow(&w, INCREMENT, BUFFERS((int)i, (int)i));
  end_table(&w);
  narrow(&w, LESS, BUFFERS((int)q, (int)j, (int)m));
  end_table(&w);
  narrow(&w, INCREMENT, BUFFERS((int)j, (int)j));
  wide(&w, INCREMENT, BUFFERS((int)s, (int)s));
  end_table(&w);
  image_fetch(w.b, "s", s);
  return w;
}

#endif
