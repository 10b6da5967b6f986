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

leat_graph *ev_body(evaluator *e, const leat_stmt *body) {
  uint32_t errors = leat_diag_errors(e->diag), first = e->graph->nodes.count;
  bool absolute = e->absolute;
  const char *path = e->path, *place = e->place, *colocate = e->colocate;
  const char *device = e->device, *frame_device = e->frame->device;
  e->place = e->colocate = NULL; // these are the node's: what is in it says its own
  e->device = e->frame->device = NULL;
  for (uint32_t i = 0; i < body->params.count; i++)
    if (!make_parameter(e, &body->params.items[i], i)) return NULL;
  ev_statements(e, &body->body);
  const leat_stmt *yield = ev_last_of(&body->body, LEAT_STMT_YIELD);
  uint32_t count = yield ? yield->values.count : 0;
  leat_value *results = leat_new_array(e->arena, leat_value, (size_t)count + 1);
  if (!yield) ev_fail(e, body->span, "this body ends in no `yield`");
  for (uint32_t i = 0; i < count && leat_diag_errors(e->diag) == errors; i++)
    results[i] = ev_as_tensor(e, ev_expr(e, yield->values.items[i], NULL), -1, yield->span);
  e->absolute = absolute;
  e->path = path;
  e->place = place;
  e->device = device;
  e->frame->device = frame_device;
  e->colocate = colocate;
  if (leat_diag_errors(e->diag) != errors) return NULL;
  leat_builder builder = ev_builder(e, body->span);
  leat_graph *made = leat_body_of(&builder, first, results, count);
  if (!made) ev_fail(e, body->span, "a body uses its parameters and what stands in it alone");
  return made;
}
