// Which turn of the loops around it is: random numbers differ in each.
#include "frontend/evaluate/calls.h"
#include "frontend/values/region.h"

static leat_value zero(evaluator *e, leat_span span) {
  leat_builder builder = ev_builder(e, span);
  const char *name = leat_intern_path(e->strings, e->at.path, leat_intern(e->strings, "const"));
  return leat_build_scalar_i64(&builder, name, LEAT_i64, 0);
}

// The number of the iteration, in the open body; {NULL}: it is of no loop.
static leat_value iteration_of(evaluator *e, ev_region *region) {
  if (region->op != LEAT_OP_while_loop) return (leat_value){0};
  if (!region->iteration) {
    ev_context from = ev_step_out(e);
    leat_value first = zero(e, region->span);
    e->at = from;
    region->iteration = leat_region_add(&region->built, first) + 1;
  }
  return leat_region_parameter(&region->built, "iteration", region->iteration - 1);
}

static ev mix(evaluator *e, ev count, leat_value iteration, leat_span span) {
  ev wide = ev_operator(e, LEAT_OPERATOR_MUL, count, ev_int(LEAT_RANDOM_STEP), span, NULL);
  ev next = ev_operator(e, LEAT_OPERATOR_ADD, ev_tensor(iteration), ev_int(1), span, NULL);
  return ev_operator(e, LEAT_OPERATOR_ADD, wide, next, span, NULL);
}

// Of the loops around, the outermost first. Outer numbers are captured.
static ev mix_all(evaluator *e, ev_region *region, ev count, leat_span span) {
  if (!region) return count;
  count = mix_all(e, region->around.region, count, span);
  ev_context from = ev_step_to(e, region);
  leat_value iteration = iteration_of(e, region);
  e->at = from;
  return iteration.node ? mix(e, count, iteration, span) : count;
}

ev ev_region_count(evaluator *e, ev count, leat_span span) {
  bool counts = e->at.region && !e->at.initialising && !e->at.absolute;
  return counts ? mix_all(e, e->at.region, count, span) : count;
}
