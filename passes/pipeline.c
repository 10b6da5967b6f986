// The table behind pipeline.def: the passes, in order.
#include "passes/pass.h"

const leat_pass_info leat_passes[] = {
#define PASS(name, text) {#name, text, leat_pass_##name},
#include "passes/pipeline.def"
#undef PASS
};

const uint32_t leat_pass_count = sizeof leat_passes / sizeof *leat_passes;
