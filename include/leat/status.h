// Status codes shared by the compiler, the runtime and compiled artifacts.
//
// LEAT_OK is 0, so `if (status)` means failure. Functions that can fail because of the environment
// (memory, files, foreign libraries) or of the user's input return a leat_status that must be
// looked at; the words that go with it are in the leat_error the call was given.
#ifndef LEAT_STATUS_H
#define LEAT_STATUS_H

#ifdef __cplusplus
extern "C" {
#endif

#define LEAT_STATUS_LIST(X)                                                                        \
  X(OK, "ok")                                                                                      \
  X(INVALID, "invalid input")                                                                      \
  X(NOT_FOUND, "not found")                                                                        \
  X(UNSUPPORTED, "not supported")                                                                  \
  X(IO, "input/output error")                                                                      \
  X(MEMORY, "out of memory")                                                                       \
  X(FOREIGN, "a library failed")                                                                   \
  X(OUT_OF_RANGE, "index out of range")                                                            \
  X(MISMATCH, "peers disagree")                                                                    \
  X(DEADLINE, "deadline exceeded")                                                                 \
  X(ABORTED, "aborted")                                                                            \
  X(INTERNAL, "internal error")

typedef enum leat_status {
#define X(id, text) LEAT_##id,
  LEAT_STATUS_LIST(X)
#undef X
} leat_status;

#define LEAT_MUST_USE __attribute__((warn_unused_result))

// What went wrong, in words. The caller owns it, usually on its stack; initialise with {0}.
typedef struct leat_error {
  leat_status status;
  char message[1024];
} leat_error;

// Structs of options end with so many pointers that are reserved for what later versions add: begin
// with {0}, which is the default of each member. A library that is older than the header which a
// program was compiled with, and does not know what is set there, answers LEAT_INVALID.
enum { LEAT_RESERVED = 8 };

typedef enum leat_severity {
  LEAT_SEVERITY_ERROR,
  LEAT_SEVERITY_WARNING,
  LEAT_SEVERITY_NOTE, // on the error or warning before it
} leat_severity;

// An error, a warning or a note, and the place that it is about.
typedef struct leat_problem {
  leat_severity severity;
  const char *file; // as it was given or named by `use`; NULL: it is of no place in a text
  int line, column; // from 1; 0 without a file. Columns are characters
  const char *message;
} leat_problem;

// "ok", "invalid input", …: never NULL.
const char *leat_status_name(leat_status status);

// Records status and message in *error (which may be NULL) and returns status, so that `return
// leat_fail(…)` reads well. The first cause wins: an error that is already set is kept.
leat_status leat_fail(leat_error *error, leat_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

// Leaves the function with the status of `call` when that is not LEAT_OK.
#define LEAT_TRY(call)                                                                             \
  do {                                                                                             \
    leat_status leat_try_status_ = (call);                                                         \
    if (leat_try_status_) return leat_try_status_;                                                 \
  } while (0)

#ifdef __cplusplus
}
#endif

#endif
