// secure_getenv(3): the kernel says (AT_SECURE) whether the rights are another's.
#define _GNU_SOURCE
#include "base/environment.h"

#include <stdlib.h>

const char *leat_environment(const char *name) {
  const char *value = secure_getenv(name);
  return value && *value ? value : NULL;
}
