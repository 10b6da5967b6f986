// Sessions whose kernels come from the cache that suites share ($LEAT_CACHE_DIR, see dev), if there
// is one. Steps do not: what is made of a text, and how, is what tests look at.
#ifndef LEAT_TESTS_UNIT_KERNEL_CACHE_H
#define LEAT_TESTS_UNIT_KERNEL_CACHE_H

#include "session/session.h"

#include <stdlib.h>

// The cache of the options is ours.
static inline leat_status create_session(const leat_session_options *options, leat_session **out) {
  leat_session_options ours = *options;
  const char *folder = getenv("LEAT_CACHE_DIR");
  ours.cache = folder ? folder : "off";
  leat_status status = leat_session_create(&ours, out);
  if (!status) (*out)->remakes_steps = true;
  return status;
}

#endif
