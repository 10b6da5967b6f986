// Where a sent tensor and the recv that waits for it meet, by key (white paper, 3.2.2). Neither
// side waits: a tensor that comes first is kept, a recv that comes first is called back.
#ifndef LEAT_RUNTIME_RENDEZVOUS_H
#define LEAT_RUNTIME_RENDEZVOUS_H

#include "runtime/transport.h"

typedef struct leat_rendezvous leat_rendezvous;

LEAT_MUST_USE leat_status leat_rendezvous_create(leat_rendezvous **out, leat_error *error);
void leat_rendezvous_destroy(leat_rendezvous *rendezvous); // NULL is fine

// Called once, from any thread, perhaps before the recv returns; LEAT_MISMATCH: other size. data:
// what came, during the call, for a recv without a buffer.
typedef void (*leat_arrived_function)(void *context, leat_status status, const void *data,
                                      uint64_t bytes);

// Waits for the tensor and puts it into `bytes` at `to`; NULL: for as many bytes as there are.
void leat_rendezvous_recv(leat_rendezvous *rendezvous, const leat_edge_key *key, void *to,
                          uint64_t bytes, leat_arrived_function arrived, void *context);
// Hands a tensor of this process over: to the recv that waits, or as a copy.
LEAT_MUST_USE leat_status leat_rendezvous_send(leat_rendezvous *rendezvous,
                                               const leat_edge_key *key, const void *from,
                                               uint64_t bytes);
// The two ends of a transport's delivery (leat_receiver). NULL: there is no memory, and a recv that
// waits goes on waiting.
void *leat_rendezvous_place(leat_rendezvous *rendezvous, const leat_edge_key *key, uint64_t bytes,
                            void **token);
void leat_rendezvous_landed(leat_rendezvous *rendezvous, void *token, leat_status status);

// Ends a step: forgets its tensors, refuses later ones, and returns how many recvs were waiting and
// will not be called back. Those that a transport writes to just now still are.
size_t leat_rendezvous_close(leat_rendezvous *rendezvous, uint64_t session, uint64_t step);

#endif
