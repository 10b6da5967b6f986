// What ran when: one ring of events a thread, the oldest overwritten. An event is two clock
// readings and one store under a lock that only a reader of the trace ever contends for. A NULL
// trace is off: callers test that with one predictable branch.
#ifndef LEAT_RUNTIME_TRACE_H
#define LEAT_RUNTIME_TRACE_H

#include "base/text.h"
#include "leat/status.h"

#include <stdint.h>

#define LEAT_TRACE_LIST(X)                                                                         \
  X(SEGMENT, "segment")                                                                            \
  X(KERNEL, "kernel")                                                                              \
  X(SEND, "send")                                                                                  \
  X(RECV, "recv") /* from its start to its arrival; these overlap */                               \
  X(WAIT, "wait")                                                                                  \
  X(PRINT, "print")                                                                                \
  X(REGION, "region") /* a branch or a loop from its start to its end, likewise */

typedef enum leat_trace_kind {
#define X(id, name) LEAT_TRACE_##id,
  LEAT_TRACE_LIST(X)
#undef X
} leat_trace_kind;

typedef struct leat_trace_event {
  int64_t begin, end; // leat_clock
  const char *label;  // from the trace
  uint64_t bytes;     // that it touched
  uint64_t tiles;     // of a kernel: that this thread ran
  uint64_t step;
  leat_trace_kind kind;
} leat_trace_event;

// What it does stands in it: a program that makes none is linked without it.
typedef struct leat_trace leat_trace;
struct leat_trace {
  void (*destroy)(leat_trace *trace);
  // A copy of the text that lives as long as the trace.
  const char *(*label)(leat_trace *trace, const char *text);
  void (*add)(leat_trace *trace, const leat_trace_event *event);
  // Everything in the rings, as Chrome trace JSON.
  void (*write)(leat_trace *trace, int rank, leat_text *out);
};

LEAT_MUST_USE leat_status leat_trace_create(leat_trace **out, leat_error *error);

#endif
