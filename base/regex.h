// Regular expressions on str, which the module leat-pcre2 computes (runtime/pcre2/). Their syntax
// is RE2's, as ONNX and TensorFlow have it: no pattern looks around or back at what a group
// matched. Patterns and strings are UTF-8; a byte that is none matches nothing.
#ifndef LEAT_BASE_REGEX_H
#define LEAT_BASE_REGEX_H

#include "leat/dtype.h"
#include "leat/status.h"

#include <stdbool.h>
#include <stdint.h>

typedef struct leat_regex_work {
  leat_str pattern, rewrite;
  bool all; // replace each match, not the first alone
  const leat_str *x;
  int64_t begin, end;                              // elements
  void *(*allocate)(void *context, uint64_t size); // for new strings; NULL: no memory
  void *context;
  const volatile bool *ends; // LEAT_ABORTED when it is set; or NULL
} leat_regex_work;

// What the module exports. A compiled pattern is kept for as long as the process runs, a few dozen
// of them at a time. An element that needs more steps or memory than LEAT_REGEX_STEPS and
// LEAT_REGEX_KILOBYTES ends the work, as a wrong pattern does.
enum { LEAT_REGEX_STEPS = 10000000, LEAT_REGEX_KILOBYTES = 128 << 10 };
typedef struct leat_regex_functions {
  leat_status (*check)(leat_str pattern, leat_error *error);
  leat_status (*check_rewrite)(leat_str pattern, leat_str rewrite, leat_error *error);
  leat_status (*full_match)(const leat_regex_work *work, bool *out, leat_error *error);
  leat_status (*replace)(const leat_regex_work *work, leat_str *out, leat_error *error);
} leat_regex_functions;

#endif
