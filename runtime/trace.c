// Rings are found through a thread-local pointer that remembers which trace it belongs to (by a
// number that is never used again, since a new trace may get an old one's address).
// Times are those of the host's monotonic clock, so that traces of its ranks can be laid together.
// JSON as chrome://tracing and Perfetto read it: "X" for what nests on a thread, "b"/"e" for recvs.
#include "runtime/trace.h"

#include "base/arena.h"
#include "base/intern.h"
#include "base/portable.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>

enum { RING_EVENTS = 1 << 14 };

typedef struct trace_ring {
  struct trace_ring *next;
  pthread_mutex_t lock;
  pthread_t owner;
  int number;     // of the thread in this trace
  uint64_t count; // events ever; the last RING_EVENTS are kept
  leat_trace_event events[RING_EVENTS];
} trace_ring;

typedef struct ring_trace {
  leat_trace calls;
  pthread_mutex_t lock;
  uint64_t id;
  trace_ring *rings;
  int ring_count;
  leat_arena *arena;
  leat_strings *labels;
} ring_trace;

static _Thread_local struct {
  uint64_t id;
  trace_ring *ring;
} mine;

static leat_status find_label(ring_trace *trace, const char *text, const char **out) {
  *out = leat_intern(trace->labels, text);
  return LEAT_OK;
}

static const char *label(leat_trace *calls, const char *text) {
  ring_trace *trace = (ring_trace *)calls;
  const char *found = "";
  leat_status status;
  pthread_mutex_lock(&trace->lock);
  LEAT_RECOVER(status, find_label(trace, text, &found));
  pthread_mutex_unlock(&trace->lock);
  if (status) leat_out_of_memory();
  return found;
}

// The calling thread's ring; NULL when there is no memory for it.
static trace_ring *my_ring(ring_trace *trace) {
  if (mine.id == trace->id) return mine.ring;
  pthread_mutex_lock(&trace->lock);
  trace_ring *ring = trace->rings;
  while (ring && !pthread_equal(ring->owner, pthread_self())) ring = ring->next;
  if (!ring && (ring = calloc(1, sizeof *ring))) {
    pthread_mutex_init(&ring->lock, NULL);
    ring->owner = pthread_self();
    ring->number = trace->ring_count++;
    ring->next = trace->rings;
    trace->rings = ring;
  }
  pthread_mutex_unlock(&trace->lock);
  if (!ring) return NULL;
  mine.id = trace->id;
  mine.ring = ring;
  return ring;
}

static void add(leat_trace *calls, const leat_trace_event *event) {
  trace_ring *ring = my_ring((ring_trace *)calls);
  if (!ring) return;
  pthread_mutex_lock(&ring->lock);
  ring->events[ring->count++ % RING_EVENTS] = *event;
  pthread_mutex_unlock(&ring->lock);
}

static void add_json_string(leat_text *out, const char *text) {
  leat_text_add_n(out, "\"", 1);
  for (const char *c = text; *c; c++) {
    if (*c == '"' || *c == '\\') leat_text_add_n(out, "\\", 1);
    if ((unsigned char)*c >= 0x20) leat_text_add_n(out, c, 1);
  }
  leat_text_add_n(out, "\"", 1);
}

static void add_event(leat_text *out, const leat_trace_event *event, int rank, int thread,
                      uint64_t id) {
  static const char *const kinds[] = {
#define X(id, name) [LEAT_TRACE_##id] = name,
      LEAT_TRACE_LIST(X)
#undef X
  };
  double begin = (double)event->begin / 1e3;
  double end = (double)event->end / 1e3;
  leat_text_add(out, ",\n{\"name\":");
  add_json_string(out, event->label);
  leat_text_add(out, ",\"cat\":\"%s\",\"pid\":%d,\"tid\":%d,", kinds[event->kind], rank, thread);
  if (event->kind == LEAT_TRACE_RECV || event->kind == LEAT_TRACE_REGION) {
    leat_text_add(out, "\"id\":\"%d.%" PRIu64 "\",\"ph\":\"b\",\"ts\":%.3f,", thread, id, begin);
    leat_text_add(out, "\"args\":{\"step\":%" PRIu64 ",\"bytes\":%" PRIu64 "}}", event->step,
                  event->bytes);
    leat_text_add(out, ",\n{\"name\":");
    add_json_string(out, event->label);
    leat_text_add(out, ",\"cat\":\"%s\",\"pid\":%d,\"tid\":%d,", kinds[event->kind], rank, thread);
    leat_text_add(out, "\"id\":\"%d.%" PRIu64 "\",\"ph\":\"e\",\"ts\":%.3f}", thread, id, end);
    return;
  }
  leat_text_add(out, "\"ph\":\"X\",\"ts\":%.3f,\"dur\":%.3f,", begin, end - begin);
  leat_text_add(out, "\"args\":{\"step\":%" PRIu64 ",\"bytes\":%" PRIu64, event->step,
                event->bytes);
  if (event->kind == LEAT_TRACE_KERNEL) leat_text_add(out, ",\"tiles\":%" PRIu64, event->tiles);
  leat_text_add(out, "}}");
}

static leat_status add_events(ring_trace *trace, int rank, leat_text *out) {
  for (trace_ring *ring = trace->rings; ring; ring = ring->next) {
    uint64_t first = ring->count > RING_EVENTS ? ring->count - RING_EVENTS : 0;
    for (uint64_t i = first; i < ring->count; i++)
      add_event(out, &ring->events[i % RING_EVENTS], rank, ring->number, i);
  }
  return LEAT_OK;
}

static void lock_all(ring_trace *trace) {
  pthread_mutex_lock(&trace->lock);
  for (trace_ring *ring = trace->rings; ring; ring = ring->next) pthread_mutex_lock(&ring->lock);
}

static void unlock_all(ring_trace *trace) {
  for (trace_ring *ring = trace->rings; ring; ring = ring->next) pthread_mutex_unlock(&ring->lock);
  pthread_mutex_unlock(&trace->lock);
}

static void write_all(leat_trace *calls, int rank, leat_text *out) {
  ring_trace *trace = (ring_trace *)calls;
  leat_text_add(out, "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n");
  leat_text_add(out,
                "{\"name\":\"process_name\",\"ph\":\"M\",\"pid\":%d,\"tid\":0,"
                "\"args\":{\"name\":\"rank %d\"}}",
                rank, rank);
  leat_status status;
  lock_all(trace);
  LEAT_RECOVER(status, add_events(trace, rank, out));
  unlock_all(trace);
  if (status) leat_out_of_memory();
  leat_text_add(out, "\n]}\n");
}

// -- Making ---------------------------------------------------------------------------------------

static void destroy(leat_trace *calls) {
  ring_trace *trace = (ring_trace *)calls;
  for (trace_ring *ring = trace->rings, *next; ring; ring = next) {
    next = ring->next;
    pthread_mutex_destroy(&ring->lock);
    free(ring);
  }
  leat_arena_destroy(trace->arena);
  pthread_mutex_destroy(&trace->lock);
  free(trace);
}

static leat_status create_labels(ring_trace *trace) {
  trace->labels = leat_strings_create(trace->arena);
  return LEAT_OK;
}

leat_status leat_trace_create(leat_trace **out, leat_error *error) {
  static _Atomic uint64_t last_id;
  ring_trace *trace = calloc(1, sizeof *trace);
  *out = NULL;
  if (!trace) return leat_fail(error, LEAT_MEMORY, "no memory for a trace");
  trace->calls = (leat_trace){.destroy = destroy, .label = label, .add = add, .write = write_all};
  pthread_mutex_init(&trace->lock, NULL);
  trace->id = atomic_fetch_add(&last_id, 1) + 1;
  trace->arena = leat_arena_try_create();
  leat_status status = LEAT_MEMORY;
  if (trace->arena) LEAT_RECOVER(status, create_labels(trace));
  if (!status) {
    *out = &trace->calls;
    return LEAT_OK;
  }
  destroy(&trace->calls);
  return leat_fail(error, status, "no memory for a trace");
}
