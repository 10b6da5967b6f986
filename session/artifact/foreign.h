// Libraries of others that what `leat build` makes may call. Leat has a module for each,
// leat-MODULE, and for linking libleat_MODULE.a.
#ifndef LEAT_SESSION_ARTIFACT_FOREIGN_H
#define LEAT_SESSION_ARTIFACT_FOREIGN_H

#include <stdbool.h>
#include <stdint.h>

typedef enum leat_foreign {
  LEAT_FOREIGN_BLIS,
  LEAT_FOREIGN_PCRE2,
  LEAT_FOREIGN_COUNT
} leat_foreign;

typedef struct leat_foreign_library {
  const char *module;
  const char *library; // as linkers name it
  const char *name;
  const char *use; // what needs it
} leat_foreign_library;

extern const leat_foreign_library leat_foreign_libraries[LEAT_FOREIGN_COUNT];

typedef uint32_t leat_foreign_set; // 1 << leat_foreign

leat_foreign_set leat_foreign_of_module(const char *module);

#endif
