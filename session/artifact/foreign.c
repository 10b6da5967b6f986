#include "session/artifact/foreign.h"

#include <string.h>

const leat_foreign_library leat_foreign_libraries[LEAT_FOREIGN_COUNT] = {
    [LEAT_FOREIGN_BLIS] = {"blis", "blis", "BLIS", "--blis"},
    [LEAT_FOREIGN_PCRE2] = {"pcre2", "pcre2-8", "PCRE2", "a regular expression"},
};

leat_foreign_set leat_foreign_of_module(const char *module) {
  for (int i = 0; i < LEAT_FOREIGN_COUNT; i++)
    if (strcmp(leat_foreign_libraries[i].module, module) == 0) return 1u << i;
  return 0;
}
