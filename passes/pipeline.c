// The table behind pipeline.def: the passes, in order.
#include "passes/pass.h"

#include <string.h>

const leat_pass_info leat_passes[] = {
#define PASS(name, on, phase, text)                                                                \
  {#name, text, LEAT_PASS_##on, LEAT_PHASE_##phase, leat_pass_##name},
#include "passes/pipeline.def"
#undef PASS
};

const uint32_t leat_pass_count = sizeof leat_passes / sizeof *leat_passes;

// A worker reads its parts with strings of their own; the graph of a step that does nothing is of
// no device.
bool leat_part_by_reference(const leat_pass_context *context, const leat_graph *part) {
  for (uint32_t i = 0; part->device && i < context->device_count; i++)
    if (!strcmp(context->devices[i].name, part->device)) return context->devices[i].by_reference;
  return false;
}

leat_phase leat_pass_leaves(const leat_pass_context *context, const leat_pass_info *pass,
                            const leat_graph *graph) {
  bool kept = pass->phase == LEAT_PHASE_LEGAL && leat_part_by_reference(context, graph);
  return kept ? LEAT_PHASE_PART : pass->phase;
}
