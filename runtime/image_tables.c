// Checks the tables of an image: which of them runs which, and that all tasks of each come to their
// turn.
// It runs seldom: compiled for size.
#include "runtime/image.h"

#include <stdlib.h>
#include <string.h>

typedef struct table_note {
  bool used;      // as the step, by a variable or by a region
  bool computes;  // it initialises a variable, or is part of what does
  bool in_launch; // of a region that is a launch
  int depth;      // how many regions it lies in
} table_note;

typedef struct checker {
  const leat_view *view;
  leat_error *error;
  table_note *notes;        // by table
  bool *taken;              // by task: it belongs to a table
  uint32_t *counts, *ready; // a number for each task
} checker;

#define DAMAGED(c, ...) leat_fail((c)->error, LEAT_INVALID, "damaged image: " __VA_ARGS__)

uint32_t leat_task_regions(const leat_image_task *task) {
  switch (leat_task_range_of(task->kind)) {
  case LEAT_RANGE_LAUNCHES: return task->count;
  case LEAT_RANGE_REGION: return 1;
  case LEAT_RANGE_MESSAGE:
  case LEAT_RANGE_ARGS: break;
  }
  return 0;
}

const leat_image_region *leat_task_region(const leat_view *view, const leat_image_task *task,
                                          uint32_t i) {
  if (leat_task_range_of(task->kind) == LEAT_RANGE_REGION) return &view->regions[task->first];
  const leat_image_launch *launch = &view->launches[task->first + i];
  return leat_launch_has_region(launch->kind) ? &view->regions[launch->region] : NULL;
}

bool leat_task_loops(const leat_view *view, const leat_image_task *task, uint32_t i) {
  if (leat_task_range_of(task->kind) == LEAT_RANGE_REGION) return task->kind == LEAT_TASK_WHILE;
  return view->launches[task->first + i].kind == LEAT_LAUNCH_WHILE;
}

static leat_status use(checker *c, uint32_t table) {
  if (c->notes[table].used) return DAMAGED(c, "table %u has two uses", table);
  c->notes[table].used = true;
  return LEAT_OK;
}

static leat_status use_roots(checker *c) {
  LEAT_TRY(use(c, 0));
  for (uint32_t i = 0; i < c->view->image->variables.count; i++) {
    uint32_t table = c->view->variables[i].table;
    if (table) LEAT_TRY(use(c, table));
  }
  for (uint32_t i = 1; i < c->view->image->tables.count; i++) c->notes[i].computes = true;
  return LEAT_OK;
}

// The tables of the regions that a task runs. They come later: so none is in itself.
static leat_status enter_regions(checker *c, uint32_t number, const leat_image_task *task) {
  const table_note *outer = &c->notes[number];
  for (uint32_t i = 0; i < leat_task_regions(task); i++) {
    const leat_image_region *region = leat_task_region(c->view, task, i);
    for (int k = 0; region && k < 2; k++) {
      uint32_t inner = region->tables[k];
      if (inner <= number) return DAMAGED(c, "a region in table %u has an earlier one", number);
      LEAT_TRY(use(c, inner));
      c->notes[inner].depth = outer->depth + 1;
      c->notes[inner].computes = outer->computes;
      c->notes[inner].in_launch = task->kind == LEAT_TASK_SEGMENT;
      if (outer->depth == LEAT_REGION_DEPTH)
        return DAMAGED(c, "more than %d regions in each other", LEAT_REGION_DEPTH);
    }
  }
  return LEAT_OK;
}

static bool may_stand(const table_note *note, const leat_image_task *task) {
  bool computes = task->kind == LEAT_TASK_SEGMENT || task->kind == LEAT_TASK_IF ||
                  task->kind == LEAT_TASK_WHILE || task->kind == LEAT_TASK_ROWS ||
                  task->kind == LEAT_TASK_GROW || task->kind == LEAT_TASK_APPEND;
  return note->in_launch ? task->kind == LEAT_TASK_SEGMENT : computes || !note->computes;
}

static leat_status enter_tasks(checker *c, uint32_t number) {
  const leat_image_table *table = &c->view->tables[number];
  uint64_t tasks = c->view->image->tasks.count;
  if (table->task_first > tasks || table->task_count > tasks - table->task_first)
    return DAMAGED(c, "table %u", number);
  const table_note *note = &c->notes[number];
  if (note->in_launch && table->task_count > 1)
    return DAMAGED(c, "table %u, of a launch, is more than a segment", number);
  for (uint32_t i = table->task_first; i < table->task_first + table->task_count; i++) {
    if (c->taken[i]) return DAMAGED(c, "its tables overlap");
    c->taken[i] = true;
    const leat_image_task *task = &c->view->tasks[i];
    if (!may_stand(note, task))
      return DAMAGED(c, "the %s in table %u does more than compute",
                     note->in_launch ? "region" : "initialiser", number);
    LEAT_TRY(enter_regions(c, number, task));
  }
  return LEAT_OK;
}

// Runs a table on paper: its counts must be what its successor lists say, and all tasks must come
// to their turn.
static leat_status check_order(checker *c, uint32_t number) {
  const leat_image_table *table = &c->view->tables[number];
  const leat_image_task *tasks = c->view->tasks + table->task_first;
  uint32_t *counts = c->counts, *ready = c->ready;
  memset(counts, 0, table->task_count * sizeof *counts);
  uint64_t successors = 0; // each list is a task's own, which also bounds the work here
  for (uint32_t i = 0; i < table->task_count; i++) {
    successors += tasks[i].successor_count;
    if (successors > c->view->image->successors.count)
      return DAMAGED(c, "the successors of table %u overlap", number);
    for (uint32_t s = 0; s < tasks[i].successor_count; s++) {
      uint32_t successor = c->view->successors[tasks[i].successor_first + s];
      if (successor >= table->task_count) return DAMAGED(c, "a successor in table %u", number);
      counts[successor]++;
    }
  }
  uint32_t first = 0, end = 0;
  for (uint32_t i = 0; i < table->task_count; i++) {
    if (counts[i] != tasks[i].dependencies)
      return DAMAGED(c, "a dependency count in table %u", number);
    if (counts[i] == 0) ready[end++] = i;
  }
  for (; first < end; first++) {
    const leat_image_task *task = &tasks[ready[first]];
    for (uint32_t s = 0; s < task->successor_count; s++) {
      uint32_t successor = c->view->successors[task->successor_first + s];
      if (--counts[successor] == 0) ready[end++] = successor;
    }
  }
  if (end != table->task_count) return DAMAGED(c, "the tasks of table %u form a cycle", number);
  return LEAT_OK;
}

static leat_status check_all(checker *c) {
  LEAT_TRY(use_roots(c));
  for (uint32_t i = 0; i < c->view->image->tables.count; i++) {
    LEAT_TRY(enter_tasks(c, i));
    LEAT_TRY(check_order(c, i));
  }
  return LEAT_OK;
}

leat_status leat_tables_check(const leat_view *view, leat_error *error) {
  const leat_image *image = view->image;
  checker c = {.view = view, .error = error};
  if (image->tables.count == 0) return DAMAGED(&c, "it has no table");
  c.notes = calloc(image->tables.count, sizeof *c.notes);
  c.taken = calloc(image->tasks.count + 1, sizeof *c.taken);
  c.counts = calloc(image->tasks.count + 1, sizeof *c.counts);
  c.ready = calloc(image->tasks.count + 1, sizeof *c.ready);
  leat_status status = LEAT_OK;
  if (!c.notes || !c.taken || !c.counts || !c.ready)
    status = leat_fail(error, LEAT_MEMORY, "no memory to check an image");
  else
    status = check_all(&c);
  free(c.notes);
  free(c.taken);
  free(c.counts);
  free(c.ready);
  return status;
}
