// check: what must hold of dims that have no value yet becomes nodes.
//
//   needs   what the step needs alone (prune); no pass has taken a tensor away or put one in
//   makes   for each claim of a shape rule (ops/shape.h) a check_dims before the node, once for
//           each number that must not be negative; it has the node's place
//   keeps   everything else
//
// So a step is judged by the tensors of the text, whatever the passes behind make of them, and the
// same when it is specialised: then the shape rule of check_dims decides as soon as `infer` has put
// the values in. Nothing waits for a check: the runtime makes it where its dims are bound, before
// it sizes any memory by them.
#include "ops/build.h"
#include "passes/pass.h"
#include "passes/rewrite.h"

typedef struct checker {
  const leat_pass_context *context;
  leat_graph *graph;
  leat_map known; // polynomial that is checked → itself
} checker;

static bool is_known(checker *c, leat_dim room) {
  if (leat_map_get(&c->known, room.poly)) return true;
  leat_map_set(&c->known, room.poly, (void *)(uintptr_t)room.poly);
  return false;
}

static bool add_check(checker *c, const leat_node *node, const leat_claim *claim) {
  if (is_known(c, claim->room)) return true;
  leat_arena *arena = c->graph->arena;
  leat_builder builder = {.graph = c->graph,
                          .diag = c->context->diag,
                          .span = node->span,
                          .device = node->device,
                          .entry = node->entry,
                          .place = node->place};
  leat_attr attrs[] = {
      {.dim = claim->room},
      {.string = node->name},
      {.string = leat_intern(c->graph->strings, claim->says)},
      {.count = claim->count,
       .dims = leat_arena_memdup(arena, claim->values, claim->count * sizeof *claim->values)}};
  const char *name = leat_arena_printf(arena, "%s/check_dims", node->name);
  return leat_build(&builder, name, LEAT_OP_check_dims, NULL, 0, attrs).node;
}

static bool check_node(checker *c, leat_node *node) {
  leat_claims claims = {0};
  if (!leat_node_may_claim(node)) return true;
  if (!leat_node_claims(c->graph, c->context->diag, node, &claims)) return false;
  if (claims.count && !node->place) node->place = leat_place_of(c->context, node->span);
  for (uint32_t i = 0; i < claims.count; i++)
    if (!add_check(c, node, &claims.items[i])) return false;
  return true;
}

leat_status leat_pass_check(leat_pass_context *context) {
  checker c = {.context = context, .graph = context->graph};
  leat_map_init(&c.known, context->scratch);
  leat_rewriter r = leat_rewrite_begin(context->graph, context->scratch);
  for (uint32_t i = 0; i < r.count; i++) {
    leat_node *node = context->graph->nodes.items[i];
    if (node->op == LEAT_OP_check_dims)
      is_known(&c, leat_node_attr(node, "room")->dim);
    else if (!check_node(&c, node))
      return LEAT_INVALID;
    leat_rewrite_keep(&r, node);
  }
  leat_rewrite_finish(&r);
  return LEAT_OK;
}
