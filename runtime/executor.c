// Binds the programs of a step: their variables to the stores, their dims and ports to one list,
// their messages to ranks.
// It runs seldom: compiled for size.
#include "runtime/executor.h"

#include "base/str.h"
#include "runtime/port.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

static void bind_dims(leat_executor *executor, leat_bound_part *part) {
  const leat_view *view = &part->program->view;
  part->dims = leat_new_array(executor->arena, uint32_t, view->image->dims.count + 1);
  for (uint32_t i = 0; i < view->image->dims.count; i++) {
    const char *name = leat_view_text(view, view->dims[i].name);
    uint32_t d = 0;
    while (d < executor->dim_count && strcmp(executor->dims[d], name) != 0) d++;
    if (d == executor->dim_count) executor->dims[executor->dim_count++] = name;
    part->dims[i] = d;
  }
}

static leat_status bind_messages(leat_executor *executor, leat_bound_part *part,
                                 const leat_executor_options *options, leat_error *error) {
  const leat_view *view = &part->program->view;
  const leat_transport *transport = executor->runtime->transport;
  uint64_t count = view->image->messages.count;
  part->messages = leat_new_array(executor->arena, leat_message_state, count + 1);
  for (uint32_t i = 0; i < count; i++) {
    const char *device = leat_view_text(view, view->messages[i].peer);
    int rank = -1;
    if (options->route) {
      rank = options->route(options->route_context, device);
      if (rank < 0 || rank >= (transport ? transport->size : 1))
        return leat_fail(error, LEAT_NOT_FOUND, "tensor `%s`: no rank holds device `%s`",
                         leat_view_text(view, view->messages[i].name), device);
      if (rank == (transport ? transport->rank : 0)) rank = -1;
    }
    part->messages[i].peer = rank;
    executor->has_messages = true;
    executor->has_remote |= rank >= 0;
  }
  return LEAT_OK;
}

static void label_trace(leat_executor *executor, leat_bound_part *part) {
  leat_trace *trace = executor->runtime->trace;
  if (!trace) return;
  const leat_view *view = &part->program->view;
  const leat_image *image = view->image;
  part->task_labels = leat_new_array(executor->arena, const char *, image->tasks.count + 1);
  for (uint32_t i = 0; i < image->tasks.count; i++)
    part->task_labels[i] = trace->label(trace, leat_view_text(view, view->tasks[i].node.name));
  part->launch_labels = leat_new_array(executor->arena, const char *, image->launches.count + 1);
  for (uint32_t i = 0; i < image->launches.count; i++) {
    const leat_image_launch *launch = &view->launches[i];
    leat_text_index title = launch->kind == LEAT_LAUNCH_KERNEL ? view->kernels[launch->kernel].title
                                                               : launch->node.name;
    part->launch_labels[i] = trace->label(trace, leat_view_text(view, title));
  }
}

static void list_ports(leat_executor *executor) {
  uint64_t feeds = 0, fetches = 0, tasks = 0;
  for (uint32_t p = 0; p < executor->part_count; p++) {
    const leat_image *image = executor->parts[p].program->image;
    feeds += image->feeds.count;
    fetches += image->fetches.count;
    tasks += image->tasks.count;
  }
  executor->feeds = leat_new_array(executor->arena, leat_port_place, feeds + 1);
  executor->fetches = leat_new_array(executor->arena, leat_port_place, fetches + 1);
  executor->sends = leat_new_array(executor->arena, leat_port_place, tasks + 1);
  for (uint32_t p = 0; p < executor->part_count; p++) {
    const leat_view *view = &executor->parts[p].program->view;
    for (uint32_t i = 0; i < view->image->feeds.count; i++)
      executor->feeds[executor->feed_count++] = (leat_port_place){p, i};
    for (uint32_t i = 0; i < view->image->fetches.count; i++)
      executor->fetches[executor->fetch_count++] = (leat_port_place){p, i};
    for (uint32_t i = 0; i < view->image->tasks.count; i++)
      if (view->tasks[i].kind == LEAT_TASK_SEND)
        executor->sends[executor->send_count++] = (leat_port_place){p, view->tasks[i].first};
  }
  executor->most_tasks = (uint32_t)tasks;
}

static leat_status bind_parts(leat_executor *executor, const leat_part *parts, size_t count,
                              const leat_executor_options *options, leat_error *error) {
  size_t dims = 0;
  for (size_t p = 0; p < count; p++) dims += parts[p].program->image->dims.count;
  executor->dims = leat_new_array(executor->arena, const char *, dims + 1);
  executor->parts = leat_new_array(executor->arena, leat_bound_part, count + 1);
  executor->part_count = (uint32_t)count;
  for (size_t p = 0; p < count; p++) {
    leat_bound_part *part = &executor->parts[p];
    part->program = parts[p].program;
    part->store = parts[p].store;
    const leat_keeper *keeper = part->program->keeper;
    if (keeper) LEAT_TRY(keeper->bind(executor, part, error));
    LEAT_TRY(bind_messages(executor, part, options, error));
    bind_dims(executor, part);
    label_trace(executor, part);
  }
  list_ports(executor);
  leat_executor_find_donated(executor);
  return LEAT_OK;
}

leat_status leat_executor_create(leat_runtime *runtime, const leat_part *parts, size_t count,
                                 const leat_executor_options *options, leat_executor **out,
                                 leat_error *error) {
  *out = NULL;
  leat_executor *executor = calloc(1, sizeof *executor);
  if (!executor) return leat_fail(error, LEAT_MEMORY, "no memory for an executor");
  pthread_mutex_init(&executor->lock, NULL);
  executor->arena = leat_arena_try_create();
  executor->runtime = runtime;
  executor->session = options->session;
  leat_status status = LEAT_MEMORY;
  if (executor->arena) LEAT_RECOVER(status, bind_parts(executor, parts, count, options, error));
  if (status) leat_fail(error, status, "no memory for an executor");
  if (status)
    leat_executor_destroy(executor);
  else
    *out = executor;
  return status;
}

void leat_executor_destroy(leat_executor *executor) {
  if (!executor || executor->abandoned) return;
  for (leat_run *run = executor->idle, *next; run; run = next) {
    next = run->next_idle;
    leat_run_destroy(run);
  }
  for (uint32_t p = 0; p < executor->part_count; p++) {
    const leat_bound_part *part = &executor->parts[p];
    for (uint64_t i = 0; part->prepared && i < part->program->image->prepared.count; i++)
      leat_store_release(part->store, part->prepared[i]);
  }
  pthread_mutex_destroy(&executor->lock);
  leat_arena_destroy(executor->arena);
  free(executor);
}

// -- Ports ----------------------------------------------------------------------------------------

size_t leat_executor_feed_count(const leat_executor *executor) {
  return executor->feed_count;
}

size_t leat_executor_fetch_count(const leat_executor *executor) {
  return executor->fetch_count;
}

void leat_executor_feed(const leat_executor *executor, size_t i, leat_port_info *out) {
  leat_port_place place = executor->feeds[i];
  leat_view_feed(&executor->parts[place.part].program->view, place.index, out);
}

void leat_executor_fetch(const leat_executor *executor, size_t i, leat_port_info *out) {
  leat_port_place place = executor->fetches[i];
  leat_view_fetch(&executor->parts[place.part].program->view, place.index, out);
}

bool leat_executor_fetch_is_constant(const leat_executor *executor, size_t i) {
  leat_port_place place = executor->fetches[i];
  const leat_view *view = &executor->parts[place.part].program->view;
  uint32_t kind = view->buffers[view->fetches[place.index].buffer].kind;
  return kind == LEAT_BUFFER_CONSTANT || kind == LEAT_BUFFER_FILE;
}

size_t leat_executor_send_count(const leat_executor *executor) {
  return executor->send_count;
}

void leat_executor_send(const leat_executor *executor, size_t i, leat_send_info *out) {
  const leat_bound_part *part = &executor->parts[executor->sends[i].part];
  const leat_view *view = &part->program->view;
  const leat_image_message *message = &view->messages[executor->sends[i].index];
  leat_message_state *state = &part->messages[executor->sends[i].index];
  *out = (leat_send_info){.edge = message->edge,
                          .name = leat_view_text(view, message->name),
                          .device = leat_view_text(view, message->peer),
                          .peer = state->peer,
                          .bytes = atomic_load(&state->bytes),
                          .count = atomic_load(&state->count)};
}

// -- Dims -----------------------------------------------------------------------------------------

size_t leat_executor_dim_count(const leat_executor *executor) {
  return executor->dim_count;
}

const char *leat_executor_dim(const leat_executor *executor, size_t i) {
  return executor->dims[i];
}

// What a feed should look like, for messages.
static const char *expected_type(const leat_executor *executor, size_t feed, leat_text *out) {
  leat_port_info port;
  leat_executor_feed(executor, feed, &port);
  leat_port_print(&port, out);
  return out->data;
}

leat_status leat_executor_wrong_feed(const leat_executor *executor, size_t i, leat_error *error,
                                     const char *format, ...) {
  const leat_view *view = &executor->parts[executor->feeds[i].part].program->view;
  leat_text words = {0};
  leat_text_add(&words, "feed ");
  leat_origin_print(view, view->feeds[executor->feeds[i].index].origin, &words);
  va_list arguments;
  va_start(arguments, format);
  leat_text_add_v(&words, format, arguments);
  va_end(arguments);
  leat_status status = leat_fail(error, LEAT_INVALID, "%s", words.data);
  leat_text_finish(&words);
  return status;
}

static leat_status wrong_type(const leat_executor *executor, size_t i, const leat_tensor *tensor,
                              leat_error *error) {
  leat_text expected = {0};
  leat_status status = leat_executor_wrong_feed(
      executor, i, error, ": expected %s, found %s of rank %d",
      expected_type(executor, i, &expected), leat_dtype_name(tensor->dtype), tensor->rank);
  leat_text_finish(&expected);
  return status;
}

static leat_status wrong_axis(const leat_executor *executor, size_t i, uint32_t axis,
                              int64_t expected, int64_t found, leat_error *error) {
  leat_port_info port;
  leat_executor_feed(executor, i, &port);
  leat_text type = {0};
  const char *dim = port.dims[axis];
  leat_status status =
      leat_executor_wrong_feed(executor, i, error, ": axis %u of %s: expected %s%s%lld, found %lld",
                               axis, expected_type(executor, i, &type), dim ? dim : "",
                               dim ? " = " : "", (long long)expected, (long long)found);
  leat_text_finish(&type);
  return status;
}

static leat_status bind_axis(const leat_executor *executor, size_t i, uint32_t axis, int64_t found,
                             int64_t *dims, leat_error *error) {
  const leat_bound_part *part = &executor->parts[executor->feeds[i].part];
  const leat_view *view = &part->program->view;
  uint32_t formula = view->feeds[executor->feeds[i].index].type.shape_first + axis;
  if (view->formulas[formula].code_count == 0) {
    int64_t expected = view->formulas[formula].value;
    return found == expected ? LEAT_OK : wrong_axis(executor, i, axis, expected, found, error);
  }
  int64_t local = leat_formula_dim(view, formula);
  if (local == LEAT_NO_DIM) return LEAT_OK; // leat_executor_check_feed compares it
  const leat_image_dim *record = &view->dims[local];
  int64_t *dim = &dims[part->dims[local]];
  if (found < record->low || found > record->high)
    return leat_executor_wrong_feed(executor, i, error,
                                    ": axis %u: expected %s in %lld … %lld, found %lld", axis,
                                    leat_view_text(view, record->name), (long long)record->low,
                                    (long long)record->high, (long long)found);
  if (*dim >= 0 && *dim != found) return wrong_axis(executor, i, axis, *dim, found, error);
  *dim = found;
  return LEAT_OK;
}

leat_status leat_executor_check_feed(const leat_executor *executor, size_t i,
                                     const leat_tensor *tensor, const leat_frame *frame,
                                     leat_error *error) {
  const leat_view *view = &frame->program->view;
  const leat_image_type *type = &view->feeds[executor->feeds[i].index].type;
  for (uint32_t axis = 0; axis < type->rank; axis++) {
    int64_t expected = frame->formulas[type->shape_first + axis];
    if (!frame->formula_known[type->shape_first + axis])
      return leat_executor_wrong_feed(
          executor, i, error,
          ": the step computes the extent of axis %u, and only after its feeds are "
          "read: feed what it is computed from, where that extent is a plain `?`",
          axis);
    if (tensor->shape[axis] != expected)
      return wrong_axis(executor, i, axis, expected, tensor->shape[axis], error);
  }
  if (tensor->dtype == LEAT_str &&
      !leat_strs_have_bytes(tensor->data, leat_shape_elements(tensor->rank, tensor->shape)))
    return leat_executor_wrong_feed(executor, i, error, ": the data of a string is NULL");
  return LEAT_OK;
}

leat_status leat_executor_bind(const leat_executor *executor, const leat_tensor *feeds,
                               int64_t *dims, leat_error *error) {
  for (size_t i = 0; i < executor->feed_count; i++) {
    const leat_tensor *tensor = &feeds[i];
    const leat_view *view = &executor->parts[executor->feeds[i].part].program->view;
    const leat_image_feed *feed = &view->feeds[executor->feeds[i].index];
    if (!tensor->data) {
      if (feed->has_fallback) continue;
      return leat_executor_wrong_feed(executor, i, error, " is missing");
    }
    if ((uint32_t)tensor->dtype != feed->type.dtype || (uint32_t)tensor->rank != feed->type.rank)
      return wrong_type(executor, i, tensor, error);
    for (uint32_t axis = 0; axis < feed->type.rank; axis++)
      LEAT_TRY(bind_axis(executor, i, axis, tensor->shape[axis], dims, error));
  }
  return LEAT_OK;
}
