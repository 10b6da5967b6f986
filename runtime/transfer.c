// The tasks that send and receive. What is on its way holds no thread: the callback of the
// transport or of the rendezvous completes the task.
#include "runtime/executor.h"

#include <stdlib.h>
#include <string.h>

static const leat_image_message *message_of(const leat_run *run, leat_task_place place) {
  return &run->frames[place.part].program->view.messages[leat_run_task_of(run, place)->first];
}

// The name of a message and where it goes, for errors.
static void fail_transfer(leat_run *run, leat_task_place place, leat_status status) {
  const leat_program *program = run->frames[place.part].program;
  const leat_image_message *message = message_of(run, place);
  bool send = leat_run_task_of(run, place)->kind == LEAT_TASK_SEND;
  leat_run_fail(run, -1, status, "%s: %s tensor `%s` (edge %u) %s %s: %s",
                leat_run_device(run, place.part), send ? "sending" : "receiving",
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
  if (leat_run_task_of(run, place)->kind == LEAT_TASK_RECV) {
    uint32_t buffer = message_of(run, place)->buffer;
    uint64_t bytes = (uint64_t)run->frames[place.part].buffers[buffer].bytes;
    leat_run_trace(run, place, LEAT_TRACE_RECV, transfer->begin, bytes);
  }
  if (status) fail_transfer(run, place, status);
  leat_run_transfer_ended(transfer, !status);
}

static leat_edge_key key_of(const leat_run *run, const leat_image_message *message) {
  return (leat_edge_key){
      .session = run->executor->session, .step = run->step, .edge = message->edge};
}

static void begin_transfer(leat_run *run, leat_transfer *transfer) {
  transfer->begin = leat_run_clock(run);
  leat_run_transfer_began(transfer);
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

bool leat_transfer_send(leat_run *run, leat_task_place place) {
  const leat_image_message *message = message_of(run, place);
  uint32_t number = leat_run_task_of(run, place)->first;
  leat_message_state *state = &run->executor->parts[place.part].messages[number];
  const void *data = leat_frame_buffer(&run->frames[place.part], message->buffer);
  uint64_t bytes = (uint64_t)run->frames[place.part].buffers[message->buffer].bytes;
  int64_t begin = leat_run_clock(run);
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
  leat_run_trace(run, place, LEAT_TRACE_SEND, begin, bytes);
  return state->peer < 0 && !status;
}

void leat_transfer_receive(leat_run *run, leat_task_place place) {
  const leat_image_message *message = message_of(run, place);
  const leat_slot *slot = &run->frames[place.part].buffers[message->buffer];
  leat_transfer *transfer = &run->transfer[place.part][place.task];
  leat_edge_key key = key_of(run, message);
  begin_transfer(run, transfer);
  leat_rendezvous_recv(run->executor->runtime->rendezvous, &key, slot->data, (uint64_t)slot->bytes,
                       transfer_ended, transfer);
}

// The first recv (else send) that is on its way, to say what a run waits for.
static const leat_transfer *first_waiting(const leat_run *run) {
  const leat_transfer *found = NULL;
  for (uint32_t p = 0; p < run->executor->part_count; p++) {
    for (uint32_t t = 0; t < run->frames[p].program->image->tasks.count; t++) {
      const leat_transfer *transfer = &run->transfer[p][t];
      if (!transfer->waiting) continue;
      if (leat_run_task_of(run, transfer->place)->kind == LEAT_TASK_RECV) return transfer;
      if (!found) found = transfer;
    }
  }
  return found;
}

void leat_transfer_describe(const leat_run *run, leat_text *out) {
  const leat_transfer *transfer = first_waiting(run);
  if (!transfer) return;
  const leat_program *program = run->frames[transfer->place.part].program;
  const leat_image_message *message = message_of(run, transfer->place);
  bool send = leat_run_task_of(run, transfer->place)->kind == LEAT_TASK_SEND;
  leat_text_add(out, ": %s waits for tensor `%s` (edge %u) %s %s",
                leat_run_device(run, transfer->place.part),
                leat_program_text(program, message->name), message->edge,
                send ? "to reach" : "from", leat_program_text(program, message->peer));
}
