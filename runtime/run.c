// A run: the ready queue of white paper 3.1 at the grain of segments. The thread that executes a
// run (its driver) takes ready tasks one after the other; pool threads help when several are ready.
// A send or recv that is on its way holds no thread: its callback completes the task. All counts
// are under the run's lock, which is held for some tens of instructions a task.
#include "runtime/executor.h"

#include <stdarg.h>
#include <stdio.h>

// -- Memory ---------------------------------------------------------------------------------------

static leat_status create(leat_executor *executor, leat_run **out) {
  leat_arena *arena = leat_arena_create();
  leat_run *run = leat_new(arena, leat_run);
  uint32_t parts = executor->part_count;
  run->arena = arena;
  run->executor = executor;
  pthread_mutex_init(&run->lock, NULL);
  run->frames = leat_new_array(arena, leat_frame, parts + 1);
  run->dims = leat_new_array(arena, int64_t, executor->dim_count + 1);
  run->tables = leat_new_array(arena, uint32_t, parts + 1);
  run->pending = leat_new_array(arena, uint32_t *, parts + 1);
  run->unfinished = leat_new_array(arena, uint32_t *, parts + 1);
  run->regions = leat_new_array(arena, leat_region_state *, parts + 1);
  run->transfer = leat_new_array(arena, leat_transfer *, parts + 1);
  run->kept = leat_new_array(arena, void **, parts + 1);
  run->ready_capacity = executor->most_tasks + 1;
  run->ready = leat_new_array(arena, leat_task_place, run->ready_capacity);
  for (uint32_t p = 0; p < parts; p++) {
    const leat_bound_part *part = &executor->parts[p];
    const leat_view *view = &part->program->view;
    leat_frame_init(&run->frames[p], part->program, part->variables, part->prepared, arena);
    run->pending[p] = leat_new_array(arena, uint32_t, view->image->tasks.count + 1);
    run->unfinished[p] = leat_new_array(arena, uint32_t, view->image->tables.count);
    run->regions[p] = leat_new_array(arena, leat_region_state, view->image->regions.count + 1);
    run->transfer[p] = leat_new_array(arena, leat_transfer, view->image->tasks.count + 1);
    run->kept[p] = leat_new_array(arena, void *, view->image->variables.count + 1);
    for (uint32_t t = 0; t < view->image->tasks.count; t++)
      run->transfer[p][t] = (leat_transfer){.run = run, .place = {p, t}};
  }
  *out = run;
  return LEAT_OK;
}

void leat_run_destroy(leat_run *run) {
  for (uint32_t p = 0; p < run->executor->part_count; p++) leat_frame_finish(&run->frames[p]);
  leat_runtime_return_ending(run->executor->runtime, run->ending);
  pthread_mutex_destroy(&run->lock);
  leat_arena_destroy(run->arena);
}

leat_run *leat_run_acquire(leat_executor *executor) {
  pthread_mutex_lock(&executor->lock);
  leat_run *run = executor->idle;
  if (run) executor->idle = run->next_idle;
  pthread_mutex_unlock(&executor->lock);
  leat_status status = LEAT_OK;
  if (run) return run;
  LEAT_RECOVER(status, create(executor, &run));
  if (status) return NULL;
  run->ending = leat_runtime_take_ending(executor->runtime);
  if (run->ending) return run;
  leat_run_destroy(run);
  return NULL;
}

void leat_run_release(leat_run *run) {
  if (!run || run->abandoned) return; // somebody may still write to it: never used, never freed
  leat_executor *executor = run->executor;
  for (uint32_t p = 0; p < executor->part_count; p++) leat_frame_release(&run->frames[p]);
  pthread_mutex_lock(&executor->lock);
  run->next_idle = executor->idle;
  executor->idle = run;
  pthread_mutex_unlock(&executor->lock);
}

void leat_run_lend(leat_run *run, void *memory, size_t size) {
  for (uint32_t p = 0; p < run->executor->part_count; p++)
    leat_frame_lend(&run->frames[p], memory, size);
}

uint64_t leat_run_memory(const leat_run *run) {
  uint64_t bytes = 0;
  for (uint32_t p = 0; p < run->executor->part_count; p++) {
    const leat_frame *frame = &run->frames[p];
    const leat_image *image = frame->program->image;
    for (uint64_t i = 0; i < image->arenas.count; i++) bytes += frame->arenas[i].size;
    for (uint64_t i = 0; i < image->grown.count; i++) bytes += frame->grown[i].block.size;
  }
  return bytes;
}

// -- The ready queue; the lock is held ------------------------------------------------------------

// Sends and recvs go to the front: they take no time here and others wait for them.
static void push_ready(leat_run *run, leat_task_place place) {
  const leat_image_task *task = leat_run_task_of(run, place);
  uint32_t slot;
  if (leat_task_range_of(task->kind) == LEAT_RANGE_MESSAGE)
    slot = run->ready_first = (run->ready_first + run->ready_capacity - 1) % run->ready_capacity;
  else
    slot = (run->ready_first + run->ready_count) % run->ready_capacity;
  run->ready[slot] = place;
  run->ready_count++;
}

static leat_task_place pop_ready(leat_run *run) {
  leat_task_place place = run->ready[run->ready_first];
  if (++run->ready_first == run->ready_capacity) run->ready_first = 0;
  run->ready_count--;
  return place;
}

static void notify(leat_run *run) {
  if (run->driver_waits) leat_signal_raise(&run->changed);
}

// Its tasks begin anew.
static void push_table(leat_run *run, uint32_t part, uint32_t number) {
  const leat_view *view = &run->frames[part].program->view;
  const leat_image_table *table = &view->tables[number];
  run->unfinished[part][number] = table->task_count;
  for (uint32_t t = table->task_first; t < table->task_first + table->task_count; t++) {
    const leat_image_task *task = &view->tasks[t];
    if (leat_task_range_of(task->kind) == LEAT_RANGE_REGION)
      run->regions[part][task->first] = (leat_region_state){0};
    run->pending[part][t] = task->dependencies;
    if (task->dependencies == 0) push_ready(run, (leat_task_place){part, t});
  }
}

static void complete(leat_run *run, leat_task_place place) {
  const leat_program *program = run->frames[place.part].program;
  const leat_view *view = &program->view;
  const leat_image_task *task = &view->tasks[place.task];
  uint32_t table = program->task_tables[place.task], owner = program->table_owners[table];
  uint32_t table_first = view->tables[table].task_first;
  for (uint32_t i = 0; i < task->successor_count; i++) {
    uint32_t successor = table_first + view->successors[task->successor_first + i];
    if (--run->pending[place.part][successor] == 0)
      push_ready(run, (leat_task_place){place.part, successor});
  }
  run->progress++;
  if (owner == LEAT_NO_TASK)
    run->remaining--;
  else if (--run->unfinished[place.part][table] == 0)
    push_ready(run, (leat_task_place){place.part, owner});
}

void leat_run_begin_table(leat_run *run, leat_task_place region, uint32_t table) {
  pthread_mutex_lock(&run->lock);
  push_table(run, region.part, table);
  if (run->unfinished[region.part][table] == 0) push_ready(run, region);
  pthread_mutex_unlock(&run->lock);
}

bool leat_run_transfer_began(leat_transfer *transfer, uint32_t lag) {
  leat_run *run = transfer->run;
  pthread_mutex_lock(&run->lock);
  bool waiting = transfer->waiting = ++transfer->on_way > lag;
  run->transfers++;
  pthread_mutex_unlock(&run->lock);
  return !waiting;
}

void leat_run_transfer_ended(leat_transfer *transfer, uint32_t lag, bool whole) {
  leat_run *run = transfer->run;
  pthread_mutex_lock(&run->lock);
  bool waited = transfer->waiting;
  transfer->waiting = --transfer->on_way > lag;
  run->transfers--;
  if (whole && waited && !transfer->waiting) complete(run, transfer->place);
  notify(run);
  pthread_mutex_unlock(&run->lock);
}

// -- Failure --------------------------------------------------------------------------------------

void leat_run_fail(leat_run *run, int from, leat_status status, const char *format, ...) {
  leat_executor *executor = run->executor;
  leat_error error = {.status = status};
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(error.message, sizeof error.message, format, arguments);
  va_end(arguments);
  pthread_mutex_lock(&run->lock);
  bool first = !run->error.status;
  if (first) run->error = error;
  atomic_store(&run->failed, true);
  atomic_store(&run->ending->now, true);
  pthread_mutex_unlock(&run->lock);
  if (!first) return;
  size_t cancelled = 0;
  const leat_exchange *exchange = executor->runtime->exchange;
  if (executor->has_messages)
    cancelled = exchange->close(executor->runtime, executor->session, run->step);
  if (executor->has_remote && from < 0)
    exchange->tell_abort(executor->runtime, executor->session, run->step, &error);
  pthread_mutex_lock(&run->lock);
  run->transfers -= cancelled;
  notify(run);
  pthread_mutex_unlock(&run->lock);
}

bool leat_run_ends(leat_run *run) {
  if (__builtin_expect(!leat_run_is_over(run), 1)) return false;
  const char *node = atomic_load(&run->ending->node);
  if (atomic_load(&run->ending->late))
    leat_run_fail(run, -1, LEAT_DEADLINE, "the step has not ended within %g s%s%s%s",
                  run->executor->runtime->limit, node ? " in `" : "", node ? node : "",
                  node ? "`" : "");
  else
    leat_run_fail(run, -1, LEAT_ABORTED, "interrupted");
  return true;
}

// -- Scheduling -----------------------------------------------------------------------------------

static void help(void *context, int member);

// Asks an idle thread to help when more work is ready than this thread takes; the lock is held.
static void recruit(leat_run *run) {
  if (run->ready_count == 0) return;
  leat_runtime *runtime = run->executor->runtime;
  leat_task_place next = run->ready[run->ready_first];
  if (run->frames[next.part].tasks[next.task].work < runtime->limits.grain) return;
  run->working++;
  if (!leat_pool_help(runtime->pool, help, run)) run->working--;
}

// Runs tasks until none is ready; the lock is held, but not meanwhile.
static void drain(leat_run *run) {
  while (run->ready_count && !atomic_load_explicit(&run->failed, memory_order_relaxed)) {
    leat_task_place place = pop_ready(run);
    recruit(run);
    run->working++;
    pthread_mutex_unlock(&run->lock);
    bool done = !leat_run_ends(run) && leat_run_task(run, place);
    pthread_mutex_lock(&run->lock);
    run->working--;
    if (done) complete(run, place);
  }
}

static void help(void *context, int member) {
  (void)member;
  leat_run *run = context;
  pthread_mutex_lock(&run->lock);
  drain(run);
  run->working--;
  notify(run);
  pthread_mutex_unlock(&run->lock);
}

static void fail_deadline(leat_run *run) {
  leat_text waits = {0};
  const leat_runtime *runtime = run->executor->runtime;
  if (runtime->exchange) runtime->exchange->describe(run, &waits);
  pthread_mutex_unlock(&run->lock);
  leat_run_fail(run, -1, LEAT_DEADLINE, "no progress for %g s%s", runtime->deadline,
                waits.data ? waits.data : "");
  leat_text_finish(&waits);
  pthread_mutex_lock(&run->lock);
}

// Waits until something happened to the run, but no longer than a signal handler that interrupts it
// and can wake nobody may be kept waiting; the lock is held, but not meanwhile. False when nothing
// did before `until`.
static bool wait_for_change(leat_run *run, int64_t until) {
  int64_t look = leat_clock_after(LEAT_LONGEST_WAIT);
  if (look < until) until = look;
  leat_runtime *runtime = run->executor->runtime;
  leat_transport *transport =
      run->executor->has_remote && run->transfers ? runtime->transport : NULL;
  uint32_t seen = leat_signal_value(&run->changed);
  run->driver_waits = true;
  pthread_mutex_unlock(&run->lock);
  int64_t begin = leat_run_clock(run);
  bool raised = transport
                    ? transport->backend->wait(transport, &run->changed, seen, until)
                    : leat_signal_wait(&run->changed, seen, leat_pool_spins(runtime->pool), until);
  leat_trace *trace = runtime->trace;
  if (trace)
    trace->add(trace, &(leat_trace_event){.begin = begin,
                                          .end = leat_clock(),
                                          .kind = LEAT_TRACE_WAIT,
                                          .label = "wait",
                                          .step = run->step});
  pthread_mutex_lock(&run->lock);
  run->driver_waits = false;
  return raised;
}

// Drives the run until all tasks are complete or, after a failure, nobody touches it any more.
static void drive(leat_run *run) {
  int64_t until = 0; // when the deadline is, for `progress` as it was then
  uint64_t progress = 0;
  bool failed = false;
  pthread_mutex_lock(&run->lock);
  for (;;) {
    drain(run);
    bool failed_now = atomic_load(&run->failed);
    if (run->working == 0 && run->transfers == 0 && (failed_now || run->remaining == 0)) break;
    if (until == 0 || progress != run->progress || failed != failed_now) {
      progress = run->progress;
      failed = failed_now;
      until = leat_clock_after(run->executor->runtime->deadline);
    }
    if (wait_for_change(run, until)) continue;
    if (run->working) {
      until = 0; // computing is progress
    } else if (leat_clock() < until) {
      pthread_mutex_unlock(&run->lock);
      leat_run_ends(run);
      pthread_mutex_lock(&run->lock);
    } else if (failed) {
      run->abandoned = run->executor->abandoned = true;
      break;
    } else {
      fail_deadline(run);
    }
  }
  pthread_mutex_unlock(&run->lock);
}

leat_status leat_run_tables(leat_run *run, leat_error *error) {
  leat_executor *executor = run->executor;
  run->ready_first = run->ready_count = 0;
  run->remaining = 0;
  for (uint32_t p = 0; p < executor->part_count; p++) {
    if (run->tables[p] == LEAT_NO_TABLE) continue;
    run->remaining += executor->parts[p].program->view.tables[run->tables[p]].task_count;
    push_table(run, p, run->tables[p]);
  }
  drive(run);
  if (!atomic_load(&run->failed)) return LEAT_OK;
  return leat_fail(error, run->error.status, "%s", run->error.message);
}

static leat_status initialise_parts(leat_run *run, leat_error *error) {
  for (uint32_t p = 0; p < run->executor->part_count; p++) {
    const leat_keeper *keeper = run->executor->parts[p].program->keeper;
    if (keeper) LEAT_TRY(keeper->initialise(run, p, error));
  }
  return LEAT_OK;
}

// -- Executing ------------------------------------------------------------------------------------

static leat_status execute_exchanging(leat_run *run, leat_error *error) {
  leat_executor *executor = run->executor;
  executor->runtime->exchange->enter(executor->runtime, run);
  leat_status status = leat_run_tables(run, error);
  executor->runtime->exchange->leave(executor->runtime, run);
  return status;
}

static void clear_failure(leat_run *run) {
  run->error.status = LEAT_OK;
  atomic_store_explicit(&run->failed, false, memory_order_relaxed);
  leat_runtime_clear_ending(run->executor->runtime, run->ending);
}

static leat_status check_files(const leat_run *run, leat_error *error) {
  for (uint32_t p = 0; p < run->executor->part_count; p++)
    LEAT_TRY(leat_program_check_files(run->executor->parts[p].program, error));
  return LEAT_OK;
}

// Of the variables that it writes the values before it are kept, and put back if it ends late.
static leat_status keep_parts(leat_run *run, leat_error *error) {
  for (uint32_t p = 0; p < run->executor->part_count; p++) {
    const leat_keeper *keeper = run->executor->parts[p].program->keeper;
    if (keeper) LEAT_TRY(keeper->keep(run, p, error));
  }
  return LEAT_OK;
}

static leat_status let_parts_go(leat_run *run, bool put_back, leat_error *error) {
  leat_status status = LEAT_OK;
  for (uint32_t p = 0; p < run->executor->part_count; p++) {
    const leat_keeper *keeper = run->executor->parts[p].program->keeper;
    leat_status one = keeper ? keeper->let_go(run, p, put_back, error) : LEAT_OK;
    if (one) status = one;
  }
  return status;
}

static leat_status execute_tables(leat_run *run, leat_error *error) {
  return run->executor->has_messages ? execute_exchanging(run, error) : leat_run_tables(run, error);
}

static leat_status execute_in_time(leat_run *run, leat_error *error) {
  leat_status status = keep_parts(run, error);
  if (!status) status = execute_tables(run, error);
  leat_status undone = let_parts_go(run, status == LEAT_DEADLINE, error);
  return undone ? undone : status;
}

// What files are read in place must not change meanwhile.
static leat_status execute(leat_run *run, const leat_run_request *request, leat_error *error) {
  leat_executor *executor = run->executor;
  LEAT_TRY(check_files(run, error));
  LEAT_TRY(leat_run_prepare(run, request, error));
  LEAT_TRY(initialise_parts(run, error));
  for (uint32_t p = 0; p < executor->part_count; p++) run->tables[p] = 0;
  LEAT_TRY(executor->runtime->limit > 0 ? execute_in_time(run, error) : execute_tables(run, error));
  return check_files(run, error);
}

static leat_status execute_and_fetch(leat_run *run, const leat_run_request *request,
                                     leat_tensor *fetches, leat_error *error) {
  leat_executor *executor = run->executor;
  leat_error cause = {0};
  if (run->abandoned)
    return leat_fail(error, LEAT_ABORTED, "an earlier failure left this run unusable");
  run->step = request->step;
  clear_failure(run);
  leat_status status = execute(run, request, &cause);
  if (status) {
    // What failed before the run began, the other ranks do not know yet.
    if (executor->has_remote && !atomic_load(&run->failed))
      executor->runtime->exchange->tell_abort(executor->runtime, executor->session, run->step,
                                              &cause);
    return leat_fail(error, status, "%s", cause.message);
  }
  for (uint32_t i = 0; i < executor->fetch_count; i++) {
    leat_port_place place = executor->fetches[i];
    if (!run->frames[place.part].fetches[place.index].data)
      return leat_fail(error, LEAT_INVALID, "damaged image: the place or size of fetch %u", i);
    LEAT_TRY(leat_frame_fetch(&run->frames[place.part], executor->parts[place.part].store,
                              place.index, &fetches[i], error));
  }
  return LEAT_OK;
}

leat_status leat_run_execute(leat_run *run, const leat_run_request *request, leat_tensor *fetches,
                             leat_error *error) {
  leat_recovery *suspended = leat_recovery_suspend();
  leat_runtime_take_off(run->executor->runtime, run->ending);
  leat_status status = execute_and_fetch(run, request, fetches, error);
  leat_runtime_land(run->executor->runtime, run->ending);
  leat_recovery_resume(suspended);
  return status;
}

static leat_status resolve_and_initialise(leat_run *run, leat_error *error) {
  // Initialisers know no dims; the arena is laid out for the smallest, whatever checks say of them.
  for (uint32_t p = 0; p < run->executor->part_count; p++) {
    const leat_bound_part *part = &run->executor->parts[p];
    const leat_view *view = &part->program->view;
    for (uint32_t d = 0; d < view->image->dims.count; d++)
      run->dims[part->dims[d]] = part->program->late[d] ? -1 : view->dims[d].low;
  }
  clear_failure(run);
  LEAT_TRY(leat_run_resolve(run, false, error));
  for (uint32_t p = 0; p < run->executor->part_count; p++) run->frames[p].resolved = false;
  return initialise_parts(run, error);
}

leat_status leat_run_initialise(leat_run *run, leat_error *error) {
  leat_recovery *suspended = leat_recovery_suspend();
  leat_status status = resolve_and_initialise(run, error);
  leat_recovery_resume(suspended);
  return status;
}
