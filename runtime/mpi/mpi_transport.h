// The MPI transport. MPI is called by one thread at a time (MPI_THREAD_SERIALIZED), the one that
// has the lock `mpi`, and only with calls that do not block. A thread that sends hands its
// *envelope* to MPI itself when nobody else is there; a thread that waits polls MPI for a while. So
// a message that somebody waits for needs no thread switch on its way. The transport's own thread
// begins and ends MPI, and polls when nobody else does, less and less often.
//
// Everything but large tensors travels as an envelope, a header and up to 2 GiB of payload, on one
// communicator and tag, so it arrives in order. A tensor of more than INLINE_LIMIT bytes:
//
//     sender    ANNOUNCE key, bytes, id ──▶  receiver: place → buffer, receives posted
//               ◀── GRANT id, tag            with a tag of their own
//               chunks on that tag ──▶       landed
//
// A grant never depends on a recv task, so senders make progress whatever the steps' schedules.
#ifndef LEAT_RUNTIME_MPI_TRANSPORT_H
#define LEAT_RUNTIME_MPI_TRANSPORT_H

#include "runtime/signal.h"
#include "runtime/transport.h"

#include <mpi.h>
#include <pthread.h>
#include <stddef.h>

enum {
  INLINE_LIMIT = 64 << 10,
  CHUNK = 64 << 20, // bytes of one MPI message of a large tensor
  ENVELOPE_TAG = 0,
  FIRST_TENSOR_TAG = 1,
  TENSOR_TAGS = 1 << 20, // used in turn
  HOST_NAME = 64,
};

// BEAT, which says nothing, comes from every rank several times a deadline.
typedef enum envelope_type { HELLO, BEAT, CONTROL, TENSOR, ANNOUNCE, GRANT } envelope_type;

// The payload of HELLO.
typedef struct greeting {
  char host[HOST_NAME];
  char identity[]; // runtime/identity.h
} greeting;

typedef struct envelope_header {
  uint32_t type;
  uint32_t kind;     // CONTROL: the message's kind · HELLO: LEAT_TRANSPORT_VERSION · GRANT: tag
  uint64_t bytes;    // of the payload; ANNOUNCE: of the tensor
  uint64_t id;       // ANNOUNCE, GRANT: the sender's number of the transfer
  leat_edge_key key; // TENSOR, ANNOUNCE
} envelope_header;

// A large tensor on its way, at either end.
typedef struct transfer {
  struct transfer *next;
  int peer;
  uint64_t id;
  char *data;
  uint64_t bytes;
  MPI_Request *requests; // of its chunks; NULL: not granted yet
  int request_count, requests_done;
  leat_sent_function sent; // of a sender; NULL: a receiver
  void *context;           // of `sent`, or the token of `landed`
} transfer;

typedef struct envelope {
  struct envelope *next;
  int peer;
  MPI_Request request;
  transfer *announces; // the transfer that it announces
  size_t size;         // of header and payload
  envelope_header header;
  char payload[];
} envelope;

typedef struct envelope_list {
  envelope *first, **end;
} envelope_list;

typedef enum transport_stage { JOINING, JOINED, CLOSED, UNUSABLE } transport_stage;

typedef struct mpi_transport {
  leat_transport base;
  pthread_t thread;
  double deadline;    // of leat_transport_world
  greeting *greeting; // this rank's
  size_t greeting_size;
  MPI_Comm world; // a duplicate

  pthread_mutex_t lock; // of what follows
  envelope_list queued; // handed over, not sent yet
  leat_receiver receiver;
  leat_error error; // why the stage is UNUSABLE

  leat_signal wake;          // raised for the thread
  leat_signal stage_changed; // raised by it
  _Atomic transport_stage stage;
  _Atomic bool started, closing, aborting;
  _Atomic int pollers; // threads that wait and poll
  struct {
    _Atomic uint64_t tensor, control;
  } * sent; // bytes, to each peer

  pthread_mutex_t mpi;    // of what follows, and of MPI
  bool crowded;           // more ranks than cores: polling takes a core away from somebody
  bool *greeted;          // by rank
  envelope_list outgoing; // being sent
  envelope_list incoming; // being received, or waiting to be handled, in order
  transfer *announced;    // tensors waiting for their grant
  transfer *flying;       // tensors whose chunks are on their way
  uint64_t next_id;
  int next_tag;
  int64_t *heard;     // by rank: when something came from it last
  int64_t beat;       // when this rank's last BEAT was due
  int64_t now;        // when this turn began
  int64_t last_event; // when something happened
} mpi_transport;

// mpi_transport.c.
extern const leat_transport_backend leat_mpi_transport;

// Nanoseconds.
enum { MICROSECOND = 1000, MILLISECOND = 1000000 };

// mpi_thread.c.
void *leat_mpi_main(void *transport);

// mpi_progress.c. Whether something happened; the lock `mpi` is held, here and where it says so.
bool leat_mpi_turn(mpi_transport *t);
bool leat_mpi_has_pending(const mpi_transport *t); // something is on its way; `mpi` is held
// Sends what is queued unless another thread has MPI; false: the thread must see to it.
bool leat_mpi_try_send(mpi_transport *t);
// Waits as leat_signal_wait does, polling for as long as it pays.
bool leat_mpi_wait(mpi_transport *t, leat_signal *signal, uint32_t seen, int64_t until);
void leat_mpi_append(envelope_list *list, envelope *e);
// Copies the payload; NULL: no memory.
envelope *leat_mpi_envelope(int peer, envelope_header header, const void *data, size_t size);

// To a peer, at once; `mpi` is held.
void leat_mpi_send_own(mpi_transport *t, int peer, envelope_header header, const void *payload,
                       size_t size);
void leat_mpi_set_stage(mpi_transport *t, transport_stage stage);
// Nothing works any more, for the first cause that is said; `mpi` is held.
void leat_mpi_fail(mpi_transport *t, leat_status status, const char *message);
// False, and everything fails, when an MPI call did.
bool leat_mpi_check(mpi_transport *t, int code, const char *call);
// Ends everything that is under way; nothing is accepted any more. Memory that MPI may still touch
// (envelopes on their way) is left to the process' end.
void leat_mpi_end_all(mpi_transport *t);

#endif
