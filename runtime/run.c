// A run: the ready queue of white paper 3.1 at the grain of segments. The thread that executes a
// run (its driver) takes ready tasks one after the other; pool threads help when several are ready.
// A send or recv that is on its way holds no thread: its callback completes the task. All counts
// are under the run's lock, which is held for some tens of instructions a task.
#include "runtime/executor.h"

#include "runtime/format.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// -- Memory ---------------------------------------------------------------------------------------

static leat_run *create(leat_executor *executor) {
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
  run->transfer = leat_new_array(arena, leat_transfer *, parts + 1);
  run->ready_capacity = executor->most_tasks + 1;
  run->ready = leat_new_array(arena, leat_task_place, run->ready_capacity);
  for (uint32_t p = 0; p < parts; p++) {
    const leat_bound_part *part = &executor->parts[p];
    const leat_view *view = &part->program->view;
    leat_frame_init(&run->frames[p], part->program, part->variables, arena);
    run->pending[p] = leat_new_array(arena, uint32_t, view->image->tasks.count + 1);
    run->transfer[p] = leat_new_array(arena, leat_transfer, view->image->tasks.count + 1);
    for (uint32_t t = 0; t < view->image->tasks.count; t++)
      run->transfer[p][t] = (leat_transfer){.run = run, .place = {p, t}};
  }
  return run;
}

void leat_run_destroy(leat_run *run) {
  for (uint32_t p = 0; p < run->executor->part_count; p++) leat_frame_finish(&run->frames[p]);
  pthread_mutex_destroy(&run->lock);
  leat_arena_destroy(run->arena);
}

leat_status leat_run_acquire(leat_executor *executor, leat_run **out, leat_error *error) {
  (void)error; // small memory comes from an arena
  pthread_mutex_lock(&executor->lock);
  leat_run *run = executor->idle;
  if (run) executor->idle = run->next_idle;
  pthread_mutex_unlock(&executor->lock);
  *out = run ? run : create(executor);
  return LEAT_OK;
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

// -- The ready queue; the lock is held ------------------------------------------------------------

static const leat_image_task *task_of(const leat_run *run, leat_task_place place) {
  return &run->frames[place.part].program->view.tasks[place.task];
}

static const char *device_of(const leat_run *run, uint32_t part) {
  const leat_program *program = run->frames[part].program;
  return leat_program_text(program, program->image->device);
}

// Sends and recvs go to the front: they take no time here and others wait for them.
static void push_ready(leat_run *run, leat_task_place place) {
  const leat_image_task *task = task_of(run, place);
  uint32_t slot;
  if (task->kind == LEAT_TASK_SEND || task->kind == LEAT_TASK_RECV)
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

static void complete(leat_run *run, leat_task_place place) {
  const leat_view *view = &run->frames[place.part].program->view;
  const leat_image_task *task = &view->tasks[place.task];
  uint32_t table_first = view->tables[run->tables[place.part]].task_first;
  for (uint32_t i = 0; i < task->successor_count; i++) {
    uint32_t successor = table_first + view->successors[task->successor_first + i];
    if (--run->pending[place.part][successor] == 0)
      push_ready(run, (leat_task_place){place.part, successor});
  }
  run->remaining--;
  run->progress++;
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
  pthread_mutex_unlock(&run->lock);
  if (!first) return;
  size_t cancelled = 0;
  if (executor->has_messages)
    cancelled = leat_rendezvous_close(executor->runtime->rendezvous, executor->session, run->step);
  if (executor->has_remote && from < 0)
    leat_runtime_tell_abort(executor->runtime, executor->session, run->step, &error);
  pthread_mutex_lock(&run->lock);
  run->transfers -= cancelled;
  notify(run);
  pthread_mutex_unlock(&run->lock);
}

// -- Tasks; the lock is not held ------------------------------------------------------------------

static void trace_task(leat_run *run, leat_task_place place, leat_trace_kind kind, int64_t begin,
                       uint64_t bytes) {
  leat_trace *trace = run->executor->runtime->trace;
  if (__builtin_expect(trace == NULL, 1)) return;
  leat_trace_add(trace, &(leat_trace_event){
                            .begin = begin,
                            .end = leat_clock(),
                            .kind = kind,
                            .label = run->executor->parts[place.part].task_labels[place.task],
                            .bytes = bytes,
                            .step = run->step,
                        });
}

static int64_t trace_clock(const leat_run *run) {
  return __builtin_expect(run->executor->runtime->trace != NULL, 0) ? leat_clock() : 0;
}

static const leat_image_message *message_of(const leat_run *run, leat_task_place place) {
  return &run->frames[place.part].program->view.messages[task_of(run, place)->first];
}

// The name of a message and where it goes, for errors.
static void fail_transfer(leat_run *run, leat_task_place place, leat_status status) {
  const leat_program *program = run->frames[place.part].program;
  const leat_image_message *message = message_of(run, place);
  bool send = task_of(run, place)->kind == LEAT_TASK_SEND;
  leat_run_fail(run, -1, status, "%s: %s tensor `%s` (edge %u) %s %s: %s",
                device_of(run, place.part), send ? "sending" : "receiving",
                leat_program_text(program, message->name), message->edge, send ? "to" : "from",
                leat_program_text(program, message->peer), leat_status_name(status));
}

// A send or recv has ended: the transport's and the rendezvous' callback.
static void transfer_ended(void *context, leat_status status) {
  leat_transfer *transfer = context;
  leat_run *run = transfer->run;
  leat_task_place place = transfer->place;
  free(transfer->copy);
  transfer->copy = NULL;
  pthread_mutex_lock(&run->lock);
  bool abandoned = run->abandoned;
  pthread_mutex_unlock(&run->lock);
  if (abandoned) return;
  if (task_of(run, place)->kind == LEAT_TASK_RECV) {
    uint32_t buffer = message_of(run, place)->buffer;
    uint64_t bytes = (uint64_t)run->frames[place.part].buffers[buffer].bytes;
    trace_task(run, place, LEAT_TRACE_RECV, transfer->begin, bytes);
  }
  if (status) fail_transfer(run, place, status);
  pthread_mutex_lock(&run->lock);
  transfer->waiting = false;
  run->transfers--;
  if (!status) complete(run, place);
  notify(run);
  pthread_mutex_unlock(&run->lock);
}

static leat_edge_key key_of(const leat_run *run, const leat_image_message *message) {
  return (leat_edge_key){
      .session = run->executor->session, .step = run->step, .edge = message->edge};
}

static void begin_transfer(leat_run *run, leat_transfer *transfer) {
  transfer->begin = trace_clock(run);
  pthread_mutex_lock(&run->lock);
  transfer->waiting = true;
  run->transfers++;
  pthread_mutex_unlock(&run->lock);
}

// The transport may read the memory long after this, so a variable is sent from a copy.
static void send_remote(leat_run *run, leat_task_place place, const leat_message_state *state,
                        const void *data, uint64_t bytes) {
  const leat_image_message *message = message_of(run, place);
  const leat_view *view = &run->frames[place.part].program->view;
  leat_transport *transport = run->executor->runtime->transport;
  leat_transfer *transfer = &run->transfer[place.part][place.task];
  leat_edge_key key = key_of(run, message);
  begin_transfer(run, transfer);
  if (view->buffers[message->buffer].kind == LEAT_BUFFER_VARIABLE && bytes) {
    transfer->copy = malloc(bytes);
    if (!transfer->copy) {
      transfer_ended(transfer, LEAT_MEMORY);
      return;
    }
    data = memcpy(transfer->copy, data, bytes);
  }
  transport->backend->send(transport, state->peer, &key, data, bytes, transfer_ended, transfer);
}

// Returns whether the task is complete.
static bool run_send(leat_run *run, leat_task_place place) {
  const leat_image_message *message = message_of(run, place);
  uint32_t number = task_of(run, place)->first;
  leat_message_state *state = &run->executor->parts[place.part].messages[number];
  const void *data = leat_frame_buffer(&run->frames[place.part], message->buffer);
  uint64_t bytes = (uint64_t)run->frames[place.part].buffers[message->buffer].bytes;
  int64_t begin = trace_clock(run);
  atomic_fetch_add_explicit(&state->bytes, bytes, memory_order_relaxed);
  atomic_fetch_add_explicit(&state->count, 1, memory_order_relaxed);
  leat_status status = LEAT_OK;
  if (state->peer >= 0) {
    send_remote(run, place, state, data, bytes);
  } else {
    leat_edge_key key = key_of(run, message);
    status = leat_rendezvous_send(run->executor->runtime->rendezvous, &key, data, bytes);
    if (status) fail_transfer(run, place, status);
  }
  trace_task(run, place, LEAT_TRACE_SEND, begin, bytes);
  return state->peer < 0 && !status;
}

static void run_recv(leat_run *run, leat_task_place place) {
  const leat_image_message *message = message_of(run, place);
  const leat_slot *slot = &run->frames[place.part].buffers[message->buffer];
  leat_transfer *transfer = &run->transfer[place.part][place.task];
  leat_edge_key key = key_of(run, message);
  begin_transfer(run, transfer);
  leat_rendezvous_recv(run->executor->runtime->rendezvous, &key, slot->data, (uint64_t)slot->bytes,
                       transfer_ended, transfer);
}

static bool run_segment(leat_run *run, leat_task_place place) {
  int64_t begin = trace_clock(run);
  uint32_t launch;
  int32_t result = leat_segment_run(run, place, &launch);
  trace_task(run, place, LEAT_TRACE_SEGMENT, begin, 0);
  if (__builtin_expect(result == 0, 1)) return true;
  const leat_program *program = run->frames[place.part].program;
  const leat_image_launch *record = &program->view.launches[launch];
  uint32_t site = (uint32_t)result >> 8;
  leat_text_index name =
      site < record->site_count ? program->view.sites[record->site_first + site] : record->name;
  leat_status status = (leat_status)(result & 0xff);
  leat_run_fail(run, -1, status ? status : LEAT_INTERNAL, "%s: node `%s`: %s",
                device_of(run, place.part), leat_program_text(program, name),
                leat_status_name(status));
  return false;
}

static bool run_print(leat_run *run, leat_task_place place) {
  leat_runtime *runtime = run->executor->runtime;
  if (!runtime->print) return true;
  int64_t begin = trace_clock(run);
  const leat_image_task *task = task_of(run, place);
  const leat_frame *frame = &run->frames[place.part];
  const leat_view *view = &frame->program->view;
  leat_text text = {0};
  leat_text_add(&text, "%s", leat_view_text(view, task->text));
  for (uint32_t i = 0; i < task->count; i++) {
    uint32_t index = view->args[task->first + i].index;
    const leat_image_type *type = &view->buffers[index].type;
    leat_tensor tensor = {.dtype = (leat_dtype)type->dtype,
                          .rank = (int32_t)type->rank,
                          .data = leat_frame_buffer(frame, index)};
    memcpy(tensor.shape, frame->formulas + type->shape_first, type->rank * sizeof(int64_t));
    if (text.size) leat_text_add(&text, tensor.rank > 1 ? "\n" : " ");
    leat_tensor_format(&tensor, &text);
  }
  pthread_mutex_lock(&runtime->print_lock);
  runtime->print(runtime->print_context, text.data);
  pthread_mutex_unlock(&runtime->print_lock);
  leat_text_finish(&text);
  trace_task(run, place, LEAT_TRACE_PRINT, begin, 0);
  return true;
}

static bool run_bind(leat_run *run, leat_task_place place) {
  const leat_image_task *task = task_of(run, place);
  leat_frame *frame = &run->frames[place.part];
  leat_error why = {0};
  int64_t value = *(const int64_t *)leat_frame_buffer(frame, task->first);
  leat_status status =
      leat_frame_bind(frame, task->count, value, &run->executor->runtime->limits, &why);
  if (status)
    leat_run_fail(run, -1, status, "%s: node `%s`: %s", device_of(run, place.part),
                  leat_program_text(frame->program, task->text), why.message);
  return !status;
}

// A size as people know it: `B = 3`, or just the number.
static const char *size_text(const leat_frame *frame, uint32_t formula, char *text, size_t size) {
  const leat_view *view = &frame->program->view;
  int64_t dim = leat_formula_dim(view, formula);
  snprintf(text, size, "%s%s%lld", dim < 0 ? "" : leat_view_text(view, view->dims[dim].name),
           dim < 0 ? "" : " = ", (long long)frame->formulas[formula]);
  return text;
}

static bool run_check(leat_run *run, leat_task_place place) {
  const leat_image_task *task = task_of(run, place);
  const leat_frame *frame = &run->frames[place.part];
  const leat_image_arg *args = &frame->program->view.args[task->first];
  char a[128], b[128];
  for (uint32_t i = 0; i < task->count; i += 2) {
    if (frame->formulas[args[i].index] == frame->formulas[args[i + 1].index]) continue;
    leat_run_fail(run, -1, LEAT_INVALID, "%s: node `%s`: axis %u: %s and %s differ",
                  device_of(run, place.part), leat_program_text(frame->program, task->text), i / 2,
                  size_text(frame, args[i].index, a, sizeof a),
                  size_text(frame, args[i + 1].index, b, sizeof b));
    return false;
  }
  return true;
}

static bool run_assert(leat_run *run, leat_task_place place) {
  const leat_image_task *task = task_of(run, place);
  const leat_frame *frame = &run->frames[place.part];
  size_t size = (size_t)frame->buffers[task->first].bytes;
  if (!size || !memchr(leat_frame_buffer(frame, task->first), false, size)) return true;
  leat_run_fail(run, -1, LEAT_INVALID, "%s: node `%s`: %s", device_of(run, place.part),
                leat_program_text(frame->program, task->text),
                leat_program_text(frame->program, task->message));
  return false;
}

// Whether all that the task works on has its place and size, which a sound image sees to.
static bool check_known(leat_run *run, leat_task_place place) {
  const leat_frame *frame = &run->frames[place.part];
  if (__builtin_expect(frame->tasks[place.task].known, 1)) return true;
  leat_run_fail(run, -1, LEAT_INVALID,
                "damaged image: task `%s` works on memory whose place or size is not known",
                leat_program_text(frame->program, task_of(run, place)->text));
  return false;
}

// Returns whether the task is complete; otherwise it has failed or a callback will complete it.
static bool run_task(leat_run *run, leat_task_place place) {
  leat_store *store = run->executor->parts[place.part].store;
  leat_store_access access = run->frames[place.part].program->access[place.task];
  bool done = false;
  if (!check_known(run, place)) return false;
  leat_store_lock(store, access);
  switch ((leat_task_kind)task_of(run, place)->kind) {
  case LEAT_TASK_SEGMENT: done = run_segment(run, place); break;
  case LEAT_TASK_SEND: done = run_send(run, place); break;
  case LEAT_TASK_RECV: run_recv(run, place); break;
  case LEAT_TASK_PRINT: done = run_print(run, place); break;
  case LEAT_TASK_BIND: done = run_bind(run, place); break;
  case LEAT_TASK_CHECK: done = run_check(run, place); break;
  case LEAT_TASK_ASSERT: done = run_assert(run, place); break;
  }
  leat_store_unlock(store, access);
  return done;
}

// -- Scheduling -----------------------------------------------------------------------------------

static void help(void *context);

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
    bool done = run_task(run, place);
    pthread_mutex_lock(&run->lock);
    run->working--;
    if (done) complete(run, place);
  }
}

static void help(void *context) {
  leat_run *run = context;
  pthread_mutex_lock(&run->lock);
  drain(run);
  run->working--;
  notify(run);
  pthread_mutex_unlock(&run->lock);
}

// The first recv (else send) that is on its way, to say what a run waits for.
static const leat_transfer *first_waiting(const leat_run *run) {
  const leat_transfer *found = NULL;
  for (uint32_t p = 0; p < run->executor->part_count; p++) {
    for (uint32_t t = 0; t < run->frames[p].program->image->tasks.count; t++) {
      const leat_transfer *transfer = &run->transfer[p][t];
      if (!transfer->waiting) continue;
      if (task_of(run, transfer->place)->kind == LEAT_TASK_RECV) return transfer;
      if (!found) found = transfer;
    }
  }
  return found;
}

static void fail_deadline(leat_run *run) {
  double deadline = run->executor->runtime->deadline;
  const leat_transfer *transfer = first_waiting(run);
  pthread_mutex_unlock(&run->lock);
  if (transfer) {
    const leat_program *program = run->frames[transfer->place.part].program;
    const leat_image_message *message = message_of(run, transfer->place);
    leat_run_fail(
        run, -1, LEAT_DEADLINE, "no progress for %g s: %s waits for tensor `%s` (edge %u) %s %s",
        deadline, device_of(run, transfer->place.part), leat_program_text(program, message->name),
        message->edge, task_of(run, transfer->place)->kind == LEAT_TASK_RECV ? "from" : "to reach",
        leat_program_text(program, message->peer));
  } else {
    leat_run_fail(run, -1, LEAT_DEADLINE, "no progress for %g s", deadline);
  }
  pthread_mutex_lock(&run->lock);
}

// Waits until something happened to the run; the lock is held, but not meanwhile. False when
// nothing did before `until`.
static bool wait_for_change(leat_run *run, int64_t until) {
  leat_runtime *runtime = run->executor->runtime;
  leat_transport *transport =
      run->executor->has_remote && run->transfers ? runtime->transport : NULL;
  uint32_t seen = leat_signal_value(&run->changed);
  run->driver_waits = true;
  pthread_mutex_unlock(&run->lock);
  int64_t begin = trace_clock(run);
  bool raised = transport
                    ? transport->backend->wait(transport, &run->changed, seen, until)
                    : leat_signal_wait(&run->changed, seen, leat_pool_spins(runtime->pool), until);
  leat_trace *trace = runtime->trace;
  if (trace)
    leat_trace_add(trace, &(leat_trace_event){.begin = begin,
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
    } else if (failed) {
      run->abandoned = run->executor->abandoned = true;
      break;
    } else {
      fail_deadline(run);
    }
  }
  pthread_mutex_unlock(&run->lock);
}

// Runs the chosen tables.
static leat_status run_tables(leat_run *run, leat_error *error) {
  leat_executor *executor = run->executor;
  run->ready_first = run->ready_count = 0;
  run->remaining = 0;
  for (uint32_t p = 0; p < executor->part_count; p++) {
    if (run->tables[p] == LEAT_NO_TABLE) continue;
    const leat_view *view = &executor->parts[p].program->view;
    const leat_image_table *table = &view->tables[run->tables[p]];
    run->remaining += table->task_count;
    for (uint32_t t = table->task_first; t < table->task_first + table->task_count; t++) {
      run->pending[p][t] = view->tasks[t].dependencies;
      if (view->tasks[t].dependencies == 0) push_ready(run, (leat_task_place){p, t});
    }
  }
  drive(run);
  if (!atomic_load(&run->failed)) return LEAT_OK;
  return leat_fail(error, run->error.status, "%s", run->error.message);
}

// -- Variables ------------------------------------------------------------------------------------

static leat_status initialise_variable(leat_run *run, uint32_t p, uint32_t number,
                                       leat_error *error) {
  const leat_bound_part *part = &run->executor->parts[p];
  const leat_image_variable *record = &part->program->view.variables[number];
  leat_variable *variable = part->variables[number];
  leat_store_lock(part->store, LEAT_STORE_READ);
  bool initialised = variable->initialised;
  leat_store_unlock(part->store, LEAT_STORE_READ);
  if (initialised) return LEAT_OK;
  if (record->flags & LEAT_VARIABLE_INITIAL) {
    leat_store_lock(part->store, LEAT_STORE_WRITE);
    memcpy(variable->tensor.data, part->program->view.data + record->initial,
           (size_t)leat_tensor_bytes(&variable->tensor));
    leat_store_unlock(part->store, LEAT_STORE_WRITE);
  } else if (record->table) {
    for (uint32_t i = 0; i < run->executor->part_count; i++) run->tables[i] = LEAT_NO_TABLE;
    run->tables[p] = record->table;
    LEAT_TRY(run_tables(run, error));
  } else {
    return leat_fail(error, LEAT_NOT_FOUND,
                     "variable `%s` has no initial value and was not restored", variable->name);
  }
  leat_store_lock(part->store, LEAT_STORE_WRITE);
  variable->initialised = true;
  leat_store_unlock(part->store, LEAT_STORE_WRITE);
  return LEAT_OK;
}

static leat_status initialise(leat_run *run, leat_error *error) {
  for (uint32_t p = 0; p < run->executor->part_count; p++) {
    leat_bound_part *part = &run->executor->parts[p];
    uint64_t epoch = leat_store_epoch(part->store) + 1;
    if (atomic_load_explicit(&part->initialised, memory_order_acquire) == epoch) continue;
    leat_status status = LEAT_OK;
    leat_store_lock_initialisation(part->store);
    for (uint32_t i = 0; i < part->program->image->variables.count && !status; i++)
      status = initialise_variable(run, p, i, error);
    if (!status) atomic_store(&part->initialised, epoch);
    leat_store_unlock_initialisation(part->store);
    if (status) return status;
  }
  return LEAT_OK;
}

// -- Executing ------------------------------------------------------------------------------------

static leat_status resolve(leat_run *run, leat_error *error) {
  leat_executor *executor = run->executor;
  for (uint32_t p = 0; p < executor->part_count; p++) {
    const leat_bound_part *part = &executor->parts[p];
    const leat_view *view = &part->program->view;
    leat_frame *frame = &run->frames[p];
    bool same = frame->resolved && !part->program->has_late;
    for (uint32_t d = 0; d < view->image->dims.count; d++) {
      int64_t value = run->dims[part->dims[d]];
      bool later = value < 0 && part->program->late[d];
      if (!later && (value < view->dims[d].low || value > view->dims[d].high)) {
        const char *name = leat_view_text(view, view->dims[d].name);
        if (value < 0) return leat_fail(error, LEAT_INVALID, "dim `%s` is bound by no feed", name);
        return leat_fail(error, LEAT_INVALID, "dim `%s` = %lld is not in %lld … %lld", name,
                         (long long)value, (long long)view->dims[d].low,
                         (long long)view->dims[d].high);
      }
      same &= frame->dims[d] == value;
      frame->dims[d] = value;
    }
    if (same) continue;
    frame->resolved = false;
    LEAT_TRY(leat_frame_resolve(frame, &executor->runtime->limits, error));
  }
  return LEAT_OK;
}

static leat_status prepare(leat_run *run, const leat_run_request *request, leat_error *error) {
  leat_executor *executor = run->executor;
  for (uint32_t d = 0; d < executor->dim_count; d++)
    run->dims[d] = request->dims ? request->dims[d] : -1;
  LEAT_TRY(leat_executor_bind(executor, request->feeds, run->dims, error));
  LEAT_TRY(resolve(run, error));
  for (uint32_t i = 0; i < executor->feed_count; i++) {
    leat_frame *frame = &run->frames[executor->feeds[i].part];
    const leat_tensor *tensor = &request->feeds[i];
    if (tensor->data) LEAT_TRY(leat_executor_check_feed(executor, i, tensor, frame, error));
    LEAT_TRY(leat_frame_feed(frame, executor->feeds[i].index, tensor, error));
  }
  for (uint32_t p = 0; p < executor->part_count; p++) {
    leat_frame_clear(&run->frames[p]);
    run->frames[p].run_count = request->run_count;
  }
  return LEAT_OK;
}

static leat_status execute_exchanging(leat_run *run, leat_error *error) {
  leat_executor *executor = run->executor;
  leat_runtime_enter(executor->runtime, run);
  leat_status status = run_tables(run, error);
  leat_runtime_leave(executor->runtime, run);
  return status;
}

static void clear_failure(leat_run *run) {
  run->error.status = LEAT_OK;
  atomic_store_explicit(&run->failed, false, memory_order_relaxed);
}

static leat_status execute(leat_run *run, const leat_run_request *request, leat_error *error) {
  leat_executor *executor = run->executor;
  LEAT_TRY(prepare(run, request, error));
  LEAT_TRY(initialise(run, error));
  for (uint32_t p = 0; p < executor->part_count; p++) run->tables[p] = 0;
  return executor->has_messages ? execute_exchanging(run, error) : run_tables(run, error);
}

leat_status leat_run_execute(leat_run *run, const leat_run_request *request, leat_tensor *fetches,
                             leat_error *error) {
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
      leat_runtime_tell_abort(executor->runtime, executor->session, run->step, &cause);
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

leat_status leat_run_initialise(leat_run *run, leat_error *error) {
  // Initialisers know no dims; the arena is laid out for the smallest.
  for (uint32_t p = 0; p < run->executor->part_count; p++) {
    const leat_bound_part *part = &run->executor->parts[p];
    const leat_view *view = &part->program->view;
    for (uint32_t d = 0; d < view->image->dims.count; d++)
      run->dims[part->dims[d]] = part->program->late[d] ? -1 : view->dims[d].low;
  }
  clear_failure(run);
  LEAT_TRY(resolve(run, error));
  return initialise(run, error);
}
