// raise: makes regions of the primitives of control flow (white paper 4.4; ops/raise.h).
//
//   needs    a graph that prune has left; one without the primitives stays as it is
//   refuses  what breaks a rule of the primitives, and what is not supported yet
//   makes    a `while_loop` of each frame, `conditional`s of what is between switches and merges,
//            asserts that what is fetched is alive
//   keeps    every bit of every value that is alive, names of the nodes that stay, the effects
#include "ops/raise.h"

#include "passes/rewrite.h"

static const char *place_of(const void *context, leat_span span) {
  return leat_place_of(context, span);
}

// Initial values are pure, and wanted whatever is alive.
static leat_raised *initial_values(leat_pass_context *context, uint32_t *count) {
  leat_graph *graph = context->graph;
  leat_raised *values = leat_new_array(context->scratch, leat_raised, graph->states.count);
  *count = 0;
  for (uint32_t i = 0; i < graph->states.count; i++)
    if (graph->states.items[i]->init.node)
      values[(*count)++] = (leat_raised){graph->states.items[i]->init, true};
  return values;
}

static bool set_initial_values(leat_pass_context *context, const leat_raised *values) {
  for (uint32_t i = 0, next = 0; i < context->graph->states.count; i++) {
    leat_state *state = context->graph->states.items[i];
    if (!state->init.node) continue;
    leat_value value = values[next++].value;
    if (!value.node) {
      leat_error_at(context->diag, state->init.node->span, "the initial value of `%s` may be dead",
                    state->name);
      return false;
    }
    state->init = value;
  }
  return true;
}

leat_status leat_pass_raise(leat_pass_context *context) {
  leat_raising raising = {.graph = context->graph,
                          .diag = context->diag,
                          .scratch = context->scratch,
                          .place = place_of,
                          .context = context};
  uint32_t count;
  if (!leat_has_primitives(context->graph)) return LEAT_OK;
  leat_raised *values = initial_values(context, &count);
  bool ok = leat_raise(&raising, values, count) && set_initial_values(context, values);
  return ok ? LEAT_OK : LEAT_INVALID;
}
