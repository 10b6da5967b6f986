// The tasks that send and receive. What is on its way holds no thread: the callback of the
// transport or of the rendezvous completes the task.
#include "runtime/executor.h"

#include "base/str.h"

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

static void end_transfer(leat_transfer *transfer, leat_status status) {
  if (status) fail_transfer(transfer->run, transfer->place, status);
  leat_run_transfer_ended(transfer, message_of(transfer->run, transfer->place)->lag, !status);
}

// Whether the run waits no more for what has ended now: its memory must not be touched.
static bool is_abandoned(leat_run *run) {
  pthread_mutex_lock(&run->lock);
  bool abandoned = run->abandoned;
  pthread_mutex_unlock(&run->lock);
  return abandoned;
}

// Names the tensor that the task sends or receives now. Both ends of an edge in a loop run equally
// often, one tensor after the other.
static leat_edge_key next_key(leat_run *run, leat_task_place place) {
  return (leat_edge_key){.session = run->executor->session,
                         .step = run->step,
                         .edge = message_of(run, place)->edge,
                         .iteration = run->transfer[place.part][place.task].count++};
}

// Whether the task waits for no more.
static bool begin_transfer(leat_run *run, leat_transfer *transfer) {
  transfer->begin = leat_run_clock(run);
  return leat_run_transfer_began(transfer, message_of(run, transfer->place)->lag);
}

static bool holds_strings(const leat_run *run, leat_task_place place) {
  uint32_t buffer = message_of(run, place)->buffer;
  return run->frames[place.part].program->view.buffers[buffer].type.dtype == LEAT_str;
}

static int64_t string_count(const leat_slot *slot) {
  return slot->bytes / (int64_t)sizeof(leat_str);
}

// -- Sends ----------------------------------------------------------------------------------------

typedef struct payload {
  const void *data;
  uint64_t bytes;
  void *copy; // malloc'ed; NULL: it is the buffer itself
} payload;

// What a message carries. Strings are packed; a variable is copied for a transport, which may read
// long after this.
static leat_status make_payload(leat_run *run, leat_task_place place, bool remote, payload *out) {
  const leat_frame *frame = &run->frames[place.part];
  uint32_t buffer = message_of(run, place)->buffer;
  bool variable = frame->program->view.buffers[buffer].kind == LEAT_BUFFER_VARIABLE;
  bool strings = holds_strings(run, place);
  const void *data = leat_frame_buffer(frame, buffer);
  int64_t count = string_count(&frame->buffers[buffer]);
  *out = (payload){.data = data, .bytes = (uint64_t)frame->buffers[buffer].bytes};
  if (strings) out->bytes = leat_strs_packed_size(data, count);
  if (!strings && !(variable && remote)) return LEAT_OK;
  out->data = out->copy = out->bytes < PTRDIFF_MAX ? malloc(out->bytes + 1) : NULL;
  if (!out->copy) return LEAT_MEMORY;
  if (strings)
    leat_strs_pack(data, count, out->copy);
  else
    memcpy(out->copy, data, out->bytes);
  return LEAT_OK;
}

static void send_ended(void *context, leat_status status) {
  leat_transfer *transfer = context;
  free(transfer->copy);
  transfer->copy = NULL;
  if (!is_abandoned(transfer->run)) end_transfer(transfer, status);
}

static void send_remote(leat_run *run, leat_task_place place, int peer, const payload *sent) {
  leat_transport *transport = run->executor->runtime->transport;
  leat_transfer *transfer = &run->transfer[place.part][place.task];
  leat_edge_key key = next_key(run, place);
  begin_transfer(run, transfer);
  transfer->copy = sent->copy;
  transport->backend->send(transport, peer, &key, sent->data, sent->bytes, send_ended, transfer);
}

static leat_status send_here(leat_run *run, leat_task_place place, const payload *sent) {
  leat_edge_key key = next_key(run, place);
  leat_rendezvous *rendezvous = run->executor->runtime->rendezvous;
  leat_status status = leat_rendezvous_send(rendezvous, &key, sent->data, sent->bytes);
  free(sent->copy);
  return status;
}

bool leat_transfer_send(leat_run *run, leat_task_place place) {
  uint32_t number = leat_run_task_of(run, place)->first;
  leat_message_state *state = &run->executor->parts[place.part].messages[number];
  int64_t begin = leat_run_clock(run);
  bool remote = state->peer >= 0;
  payload sent;
  leat_status status = make_payload(run, place, remote, &sent);
  if (!status) {
    atomic_fetch_add_explicit(&state->bytes, sent.bytes, memory_order_relaxed);
    atomic_fetch_add_explicit(&state->count, 1, memory_order_relaxed);
    if (remote)
      send_remote(run, place, state->peer, &sent);
    else
      status = send_here(run, place, &sent);
  }
  if (status) fail_transfer(run, place, status);
  leat_run_trace(run, place, LEAT_TRACE_SEND, begin, sent.bytes);
  return !remote && !status;
}

// -- Recvs ----------------------------------------------------------------------------------------

// Strings that came packed move to a heap.
static leat_status take_strings(leat_string_heap *heap, const leat_slot *slot, const void *data,
                                uint64_t bytes) {
  if (!leat_strs_unpack(slot->data, string_count(slot), data, bytes)) return LEAT_MISMATCH;
  return leat_string_heap_keep(heap, slot->data, slot->data, string_count(slot));
}

static void recv_ended(void *context, leat_status status, const void *data, uint64_t bytes) {
  leat_transfer *transfer = context;
  leat_run *run = transfer->run;
  leat_task_place place = transfer->place;
  if (is_abandoned(run)) return;
  leat_frame *frame = &run->frames[place.part];
  const leat_slot *slot = &frame->buffers[message_of(run, place)->buffer];
  bool strings = holds_strings(run, place);
  if (!status && !slot->known) status = LEAT_MISMATCH;
  if (!status && strings) status = take_strings(leat_run_heap(run, place), slot, data, bytes);
  leat_run_trace(run, place, LEAT_TRACE_RECV, transfer->begin,
                 strings ? bytes : (uint64_t)slot->bytes);
  end_transfer(transfer, status);
}

// A token's value nobody reads: that it has come is all that it says.
static void token_came(void *context, leat_status status, const void *data, uint64_t bytes) {
  leat_transfer *transfer = context;
  (void)data;
  (void)bytes;
  if (!is_abandoned(transfer->run)) end_transfer(transfer, status);
}

bool leat_transfer_receive(leat_run *run, leat_task_place place) {
  const leat_image_message *message = message_of(run, place);
  const leat_slot *slot = &run->frames[place.part].buffers[message->buffer];
  leat_transfer *transfer = &run->transfer[place.part][place.task];
  leat_rendezvous *rendezvous = run->executor->runtime->rendezvous;
  leat_edge_key key = next_key(run, place);
  bool complete = begin_transfer(run, transfer);
  if (message->lag)
    leat_rendezvous_recv(rendezvous, &key, NULL, 0, token_came, transfer);
  else if (holds_strings(run, place) || !slot->known)
    leat_rendezvous_recv(rendezvous, &key, NULL, 0, recv_ended, transfer);
  else
    leat_rendezvous_recv(rendezvous, &key, slot->data, (uint64_t)slot->bytes, recv_ended, transfer);
  return complete;
}

// -- What a run waits for -------------------------------------------------------------------------

// The first recv (else send) that is on its way.
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
