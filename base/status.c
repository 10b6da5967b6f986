// Names of the status codes, and the one function that records what went wrong.
// It runs seldom: compiled for size.
#include "leat/status.h"

#include "base/printable.h"

#include <stdarg.h>
#include <stdio.h>

const char *leat_status_name(leat_status status) {
  static const char names[][24] = { // no pointers: no relocations
#define X(id, text) [LEAT_##id] = text,
    LEAT_STATUS_LIST(X)
#undef X
  };
  size_t index = (size_t)status;
  return index < sizeof names / sizeof *names ? names[index] : "unknown status";
}

leat_status leat_fail(leat_error *error, leat_status status, const char *format, ...) {
  if (error && !error->status) {
    va_list arguments;
    va_start(arguments, format);
    error->status = status;
    vsnprintf(error->message, sizeof error->message, format, arguments);
    va_end(arguments);
    leat_mask_controls(error->message);
  }
  return status;
}
