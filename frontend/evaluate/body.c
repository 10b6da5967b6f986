// Bodies as canonical text has them: with parameters, and what they yield last.
#include "frontend/evaluate/calls.h"
#include "frontend/evaluate/statements.h"
#include "frontend/values/region.h"

static bool make_parameter(evaluator *e, const leat_binding *param, uint32_t index) {
  leat_type *type = leat_new(e->arena, leat_type);
  if (!ev_type_of(e, param->type, type)) return false;
  leat_attr attrs[] = {{.i = index}, {.type = type}};
  leat_builder builder = ev_builder(e, param->span);
  return leat_build(&builder, param->name, LEAT_OP_parameter, NULL, 0, attrs).node;
}

// The parameters, the statements and what is yielded, into the open body. False: reported.
static bool evaluate(evaluator *e, const leat_stmt *body, leat_region *region) {
  uint32_t errors = leat_diag_errors(e->diag);
  for (uint32_t i = 0; i < body->params.count; i++)
    if (!make_parameter(e, &body->params.items[i], i)) return false;
  ev_statements(e, &body->body);
  const leat_stmt *yield = ev_last_of(&body->body, LEAT_STMT_YIELD);
  if (!yield) ev_fail(e, body->span, "this body ends in no `yield`");
  for (uint32_t i = 0; yield && i < yield->values.count && leat_diag_errors(e->diag) == errors;
       i++) {
    ev value = ev_expr(e, yield->values.items[i], NULL);
    leat_value result = ev_as_tensor(e, value, -1, yield->span);
    if (result.node) leat_region_give(region, 0, result);
  }
  return leat_diag_errors(e->diag) == errors;
}

leat_graph *ev_body(evaluator *e, const leat_stmt *body) {
  const ev_context around = e->at;
  const char *frame_device = e->frame->device;
  leat_builder builder = ev_builder(e, body->span);
  leat_region region = leat_region_begin(&builder, "body");
  e->at.body = leat_region_open(&region);
  e->at.place = e->at.colocate = NULL; // these are the node's: what is in it says its own
  e->at.device = e->frame->device = NULL;
  bool made = evaluate(e, body, &region);
  e->at = around;
  e->frame->device = frame_device;
  leat_region_close(&region);
  leat_graph *taken = made ? leat_region_take_body(&region) : NULL;
  if (made && !taken)
    ev_fail(e, body->span, "a body uses its parameters and what stands in it alone");
  if (!taken) leat_region_drop(&region);
  return taken;
}
