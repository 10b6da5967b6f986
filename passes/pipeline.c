// The table behind pipeline.def: passes by name, in order.
#include "passes/pass.h"

#include <string.h>

const leat_pass_info leat_passes[] = {
#define PASS(name, text) {#name, text, leat_pass_##name},
#include "passes/pipeline.def"
#undef PASS
};

const uint32_t leat_pass_count = sizeof leat_passes / sizeof *leat_passes;

const leat_pass_info *leat_pass_find(const char *name) {
  for (uint32_t i = 0; i < leat_pass_count; i++)
    if (strcmp(leat_passes[i].name, name) == 0) return &leat_passes[i];
  return NULL;
}
