// A hash table of entries, each one tensor on its way, under one lock that is never held while
// data is copied or somebody is called. An entry out of the table belongs to whoever took it out.
//
//     recv first   WAITING ── place ──▶ LANDING in the recv's buffer ── landed ──▶ called back
//     data first   place ──▶ LANDING in own memory ── landed ──▶ ARRIVED ── recv ──▶ called back
#include "runtime/rendezvous.h"

#include "base/map.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { BUCKETS = 1024, CLOSED_STEPS = 256 };

typedef enum entry_state { WAITING, LANDING, ARRIVED } entry_state;

typedef struct entry {
  struct entry *next;
  leat_edge_key key;
  entry_state state;
  bool in_table;
  void *owned; // memory of ours that holds the tensor; malloc'ed
  uint64_t owned_bytes;
  void *to; // the recv's buffer, when `arrived` is set; NULL: it takes what comes
  uint64_t to_bytes;
  leat_arrived_function arrived;
  void *context;
} entry;

struct leat_rendezvous {
  pthread_mutex_t lock;
  entry *buckets[BUCKETS];
  entry *spare; // entries to use again
  struct {
    uint64_t session, step;
  } closed[CLOSED_STEPS]; // the last closed steps
  size_t closed_count;    // ever
};

leat_status leat_rendezvous_create(leat_rendezvous **out, leat_error *error) {
  leat_rendezvous *rendezvous = *out = calloc(1, sizeof *rendezvous);
  if (!rendezvous) return leat_fail(error, LEAT_MEMORY, "no memory for a rendezvous");
  pthread_mutex_init(&rendezvous->lock, NULL);
  return LEAT_OK;
}

static void free_list(entry *e) {
  for (entry *next; e; e = next) {
    next = e->next;
    free(e->owned);
    free(e);
  }
}

void leat_rendezvous_destroy(leat_rendezvous *rendezvous) {
  if (!rendezvous) return;
  for (size_t i = 0; i < BUCKETS; i++) free_list(rendezvous->buckets[i]);
  free_list(rendezvous->spare);
  pthread_mutex_destroy(&rendezvous->lock);
  free(rendezvous);
}

static entry **bucket_of(leat_rendezvous *rendezvous, const leat_edge_key *key) {
  return &rendezvous->buckets[leat_hash_bytes(key, sizeof *key, 0) % BUCKETS];
}

static bool same_key(const leat_edge_key *a, const leat_edge_key *b) {
  return a->session == b->session && a->step == b->step && a->edge == b->edge &&
         a->iteration == b->iteration;
}

static entry *find(leat_rendezvous *rendezvous, const leat_edge_key *key) {
  entry *e = *bucket_of(rendezvous, key);
  while (e && !same_key(&e->key, key)) e = e->next;
  return e;
}

static bool is_closed(const leat_rendezvous *rendezvous, const leat_edge_key *key) {
  size_t kept = rendezvous->closed_count < CLOSED_STEPS ? rendezvous->closed_count : CLOSED_STEPS;
  for (size_t i = 0; i < kept; i++)
    if (rendezvous->closed[i].session == key->session && rendezvous->closed[i].step == key->step)
      return true;
  return false;
}

static entry *new_entry(leat_rendezvous *rendezvous, const leat_edge_key *key, entry_state state) {
  entry *e = rendezvous->spare;
  if (e)
    rendezvous->spare = e->next;
  else if (!(e = malloc(sizeof *e)))
    return NULL;
  *e = (entry){.key = *key, .state = state};
  return e;
}

static void insert(leat_rendezvous *rendezvous, entry *e) {
  entry **bucket = bucket_of(rendezvous, &e->key);
  e->next = *bucket;
  e->in_table = true;
  *bucket = e;
}

static void unlink_entry(leat_rendezvous *rendezvous, entry *e) {
  entry **at = bucket_of(rendezvous, &e->key);
  while (*at != e) at = &(*at)->next;
  *at = e->next;
  e->in_table = false;
}

// Gives an entry that is out of the table back; the lock is held.
static void recycle(leat_rendezvous *rendezvous, entry *e) {
  free(e->owned);
  e->owned = NULL;
  e->next = rendezvous->spare;
  rendezvous->spare = e;
}

// Ends an entry that is out of the table: fills the recv's buffer from `from` (NULL: it is filled
// already) and calls back. `from` may be the entry's own memory.
static void finish(leat_rendezvous *rendezvous, entry *e, const void *from, uint64_t bytes,
                   leat_status status) {
  leat_arrived_function arrived = e->arrived;
  bool into = arrived && from && e->to;
  if (into && !status && bytes != e->to_bytes) status = LEAT_MISMATCH;
  if (into && !status && bytes) memcpy(e->to, from, bytes);
  void *context = e->context, *owned = e->owned;
  e->owned = NULL;
  pthread_mutex_lock(&rendezvous->lock);
  recycle(rendezvous, e);
  pthread_mutex_unlock(&rendezvous->lock);
  if (arrived) arrived(context, status, from, bytes);
  free(owned);
}

void leat_rendezvous_recv(leat_rendezvous *rendezvous, const leat_edge_key *key, void *to,
                          uint64_t bytes, leat_arrived_function arrived, void *context) {
  pthread_mutex_lock(&rendezvous->lock);
  leat_status status = is_closed(rendezvous, key) ? LEAT_ABORTED : LEAT_OK;
  entry *e = status ? NULL : find(rendezvous, key);
  if (!status && e && e->arrived) status = LEAT_INTERNAL; // two recvs for one tensor
  bool here = !status && e && e->state == ARRIVED;
  if (!status && !e) {
    e = new_entry(rendezvous, key, WAITING);
    if (e)
      insert(rendezvous, e);
    else
      status = LEAT_MEMORY;
  }
  if (!status) {
    e->to = to;
    e->to_bytes = bytes;
    e->arrived = arrived;
    e->context = context;
    if (here) unlink_entry(rendezvous, e);
  }
  pthread_mutex_unlock(&rendezvous->lock);
  if (status)
    arrived(context, status, NULL, 0);
  else if (here)
    finish(rendezvous, e, e->owned, e->owned_bytes, LEAT_OK);
}

leat_status leat_rendezvous_send(leat_rendezvous *rendezvous, const leat_edge_key *key,
                                 const void *from, uint64_t bytes) {
  pthread_mutex_lock(&rendezvous->lock);
  entry *e = is_closed(rendezvous, key) ? NULL : find(rendezvous, key);
  if (e && e->state == WAITING)
    unlink_entry(rendezvous, e);
  else
    e = NULL;
  pthread_mutex_unlock(&rendezvous->lock);
  if (e) {
    finish(rendezvous, e, from, bytes, LEAT_OK);
    return LEAT_OK;
  }
  // Nobody waits: the same way as a tensor from elsewhere.
  void *token, *place = leat_rendezvous_place(rendezvous, key, bytes, &token);
  if (!place) return LEAT_MEMORY;
  if (bytes) memcpy(place, from, bytes);
  leat_rendezvous_landed(rendezvous, token, LEAT_OK);
  return LEAT_OK;
}

// An entry that has memory of its own for the tensor, which comes too early, is of another size
// than its recv takes or (out of the table) of no use; e: that of the key, which stays as it is
// when there is no memory.
static entry *land_in_own(leat_rendezvous *rendezvous, const leat_edge_key *key, entry *e,
                          uint64_t bytes, bool closed) {
  void *owned = bytes < SIZE_MAX ? malloc(bytes ? bytes : 1) : NULL;
  bool useless = closed || (e && e->state != WAITING), is_new = !e || useless;
  if (owned && is_new) e = new_entry(rendezvous, key, LANDING);
  if (!owned || !e) {
    free(owned);
    return NULL;
  }
  if (is_new && !useless) insert(rendezvous, e);
  e->state = LANDING;
  e->owned = owned;
  e->owned_bytes = bytes;
  return e;
}

void *leat_rendezvous_place(leat_rendezvous *rendezvous, const leat_edge_key *key, uint64_t bytes,
                            void **token) {
  pthread_mutex_lock(&rendezvous->lock);
  bool closed = is_closed(rendezvous, key);
  entry *e = closed ? NULL : find(rendezvous, key);
  void *place = NULL;
  if (e && e->state == WAITING && e->to && e->to_bytes == bytes && bytes) {
    e->state = LANDING;
    place = e->to;
  } else if ((e = land_in_own(rendezvous, key, e, bytes, closed))) {
    place = e->owned;
  }
  *token = e;
  pthread_mutex_unlock(&rendezvous->lock);
  return place;
}

void leat_rendezvous_landed(leat_rendezvous *rendezvous, void *token, leat_status status) {
  entry *e = token;
  pthread_mutex_lock(&rendezvous->lock);
  bool keep = e->in_table && !e->arrived && !status;
  if (keep)
    e->state = ARRIVED;
  else if (e->in_table)
    unlink_entry(rendezvous, e);
  pthread_mutex_unlock(&rendezvous->lock);
  if (!keep) finish(rendezvous, e, e->owned, e->owned_bytes, status);
}

size_t leat_rendezvous_close(leat_rendezvous *rendezvous, uint64_t session, uint64_t step) {
  size_t waiting = 0;
  pthread_mutex_lock(&rendezvous->lock);
  size_t slot = rendezvous->closed_count++ % CLOSED_STEPS;
  rendezvous->closed[slot].session = session;
  rendezvous->closed[slot].step = step;
  for (size_t i = 0; i < BUCKETS; i++) {
    for (entry *e = rendezvous->buckets[i], *next; e; e = next) {
      next = e->next;
      if (e->key.session != session || e->key.step != step) continue;
      bool into_recv = e->state == LANDING && !e->owned; // called back when it has landed
      if (into_recv) continue;
      if (e->arrived) waiting++;
      e->arrived = NULL;
      unlink_entry(rendezvous, e);
      if (e->state != LANDING) recycle(rendezvous, e);
    }
  }
  pthread_mutex_unlock(&rendezvous->lock);
  return waiting;
}
