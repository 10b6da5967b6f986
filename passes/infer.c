// infer: puts the values that a step's feeds give to named dims in their place.
//
//   needs   dim_values and dim_known by atom id; without them it does nothing
//   keeps   the nodes, but for checks that are decided; changes dims in types and attributes, and
//           infers the types of the nodes that it changed again, in order
//   refuses what no check of holds: the step; of a body, which may never run, nothing is left but
//           the check, and results that nobody sees
#include "ir/substitution.h"
#include "ops/build.h"
#include "ops/shape.h"
#include "passes/rewrite.h"

typedef struct inferrer {
  leat_pass_context *context;
  leat_graph *graph;     // the step, or the body that it is at
  const leat_node *at;   // what was inferred last
  leat_substitution put; // the values
} inferrer;

// "2*B = 4", or just the number.
static const char *dim_text(const inferrer *in, leat_dim dim, leat_dim value) {
  leat_arena *arena = in->graph->arena;
  const char *text = leat_dim_text(arena, dim);
  if (leat_dim_is_const(dim)) return text;
  return leat_arena_printf(arena, "%s = %s", text, leat_dim_text(arena, value));
}

// Says of a tensor whose dims are not those that they have to be what both are called, as nobody
// can once they are numbers.
static bool check_shape(inferrer *in, const leat_node *node) {
  const leat_node *x = node->inputs[0].node;
  const leat_type *found = leat_value_type(node->inputs[0]);
  const leat_attr *shape = leat_node_attr(node, "shape");
  for (int32_t i = 0; i < found->rank; i++) {
    leat_dim is = leat_substitute_dim(&in->put, found->dims[i]),
             needed = leat_substitute_dim(&in->put, shape->dims[i]);
    if (leat_dims_may_be_equal(in->graph, is, needed)) continue;
    leat_error_at(in->context->diag, node->span, "axis %d of `%s` is %s, and has to be %s here", i,
                  x->name, dim_text(in, found->dims[i], is), dim_text(in, shape->dims[i], needed));
    return false;
  }
  return true;
}

static bool is_decided(const leat_node *node) {
  if (node->op != LEAT_OP_check_dims) return false;
  leat_dim room = leat_node_attr(node, "room")->dim;
  return leat_dim_is_const(room) && room.value >= 0;
}

static void drop_decided(leat_graph *graph) {
  uint32_t kept = 0;
  for (uint32_t i = 0; i < graph->entries.count; i++) {
    leat_entry *entry = graph->entries.items[i];
    uint32_t effects = 0;
    for (uint32_t j = 0; j < entry->effects.count; j++)
      if (!is_decided(entry->effects.items[j]))
        entry->effects.items[effects++] = entry->effects.items[j];
    entry->effects.count = effects;
  }
  for (uint32_t i = 0; i < graph->nodes.count; i++)
    if (!is_decided(graph->nodes.items[i])) graph->nodes.items[kept++] = graph->nodes.items[i];
  graph->nodes.count = kept;
  leat_graph_renumber(graph);
}

// -- What cannot run ------------------------------------------------------------------------------

// The first check that does not hold, with the values in it; NULL: all do, or nothing is known of
// them.
static leat_node *find_failing(inferrer *in) {
  for (uint32_t i = 0; i < in->graph->nodes.count; i++) {
    leat_node *node = in->graph->nodes.items[i];
    if (node->op != LEAT_OP_check_dims) continue;
    leat_dim room = leat_substitute_dim(&in->put, leat_node_attr(node, "room")->dim);
    bool impossible = in->put.failed;
    if (!impossible && !(leat_dim_is_const(room) && room.value < 0)) continue;
    leat_substitute_attrs(&in->put, in->graph, node);
    if (impossible)
      leat_node_set_attr(in->graph, node, "room", (leat_attr){.dim = leat_dim_const(-1)});
    in->put.failed = false;
    return node;
  }
  return NULL;
}

static bool report(inferrer *in, const leat_node *check) {
  leat_error_at(in->context->diag, check->span, "%s", leat_check_text(in->graph->arena, check));
  return false;
}

static leat_value zeros(leat_builder *builder, const leat_type *type) {
  const leat_graph *body = builder->graph;
  return leat_build_zeros(builder, leat_arena_printf(body->arena, "%s/none", body->owner->name),
                          type);
}

// `check` never holds. False: a result is one that cannot be.
static bool empty_body(inferrer *in, leat_node *check) {
  leat_graph *body = in->graph;
  leat_node *yield = body->yield;
  leat_diag *diag = in->context->diag;
  leat_builder builder = {.graph = body,
                          .diag = diag,
                          .span = check->span,
                          .device = check->device,
                          .entry = check->entry};
  leat_node_list nodes = {0};
  for (uint32_t i = 0; i < body->params.count; i++) {
    leat_substitute_attrs(&in->put, in->graph, body->params.items[i]);
    if (in->put.failed || !leat_infer_node(body, diag, body->params.items[i])) return false;
    leat_vec_push(body->arena, &nodes, body->params.items[i]);
  }
  leat_vec_push(body->arena, &nodes, check);
  body->nodes = nodes;
  leat_graph_renumber(body);
  for (uint32_t i = 0; i < yield->input_count; i++) {
    leat_type type = leat_substitute_type(&in->put, leat_value_type(yield->inputs[i]));
    yield->inputs[i] = in->put.failed ? (leat_value){0} : zeros(&builder, &type);
    if (!yield->inputs[i].node) return false;
  }
  check->control_count = yield->control_count = 0;
  leat_vec_push(body->arena, &body->nodes, yield);
  leat_graph_renumber(body);
  return true;
}

// A check that stands for what was reported of a node, which cannot be with these dims.
static leat_node *make_check(inferrer *in, const leat_node *of, const char *says) {
  leat_graph *body = in->graph;
  const char *place = of->place ? of->place : leat_place_of(in->context, of->span);
  leat_attr attrs[] = {{.dim = leat_dim_const(-1)},
                       {.string = of->name},
                       {.string = leat_intern(body->strings, says)},
                       {.count = 0}};
  const char *name = leat_arena_printf(body->arena, "%s/check_dims", of->name);
  leat_node *check = leat_graph_append(body, LEAT_OP_check_dims, leat_graph_unique_name(body, name),
                                       NULL, 0, attrs);
  check->span = of->span;
  check->place = place;
  check->device = of->device;
  check->entry = of->entry;
  return check;
}

// -- Graphs ---------------------------------------------------------------------------------------

static bool infer_body(inferrer *in, leat_graph *body);

static bool infer_bodies(inferrer *in, const leat_node *node) {
  for (int i = 0; i < node->info->attr_count; i++)
    if (leat_node_body(node, i) && !infer_body(in, leat_node_body(node, i))) return false;
  return true;
}

static bool infer_node(inferrer *in, leat_node *node) {
  if (!infer_bodies(in, node)) return false;
  in->at = node;
  if (leat_node_is_static(node)) return true;
  leat_substitute_attrs(&in->put, in->graph, node);
  if (!in->put.failed) return leat_infer_node(in->graph, in->context->diag, node);
  leat_error_at(in->context->diag, node->span, "a dim of `%s` is too large", node->name);
  return false;
}

static bool infer_nodes(inferrer *in) {
  for (uint32_t i = 0; i < in->graph->nodes.count; i++)
    if (!infer_node(in, in->graph->nodes.items[i])) return false;
  drop_decided(in->graph);
  return true;
}

// What would end the step ends it when the body runs.
static bool settle_body(inferrer *in) {
  leat_diag *diag = in->context->diag;
  leat_diag_mark mark = leat_diag_take_mark(diag);
  leat_node *check = find_failing(in);
  leat_span where;
  if (!check) {
    if (infer_nodes(in)) return true;
    leat_withheld *withheld = leat_diag_withhold(diag, mark, (leat_span){0});
    check = make_check(in, in->at, leat_withheld_first(withheld, &where));
    in->put.failed = false;
  }
  if (empty_body(in, check)) return true;
  leat_diag_withhold(diag, mark, (leat_span){0});
  return report(in, check);
}

static bool infer_body(inferrer *in, leat_graph *body) {
  leat_graph *outer = in->graph;
  in->graph = body;
  bool ok = settle_body(in);
  in->graph = outer;
  return ok;
}

static bool infer_step(inferrer *in) {
  for (uint32_t i = 0; i < in->graph->nodes.count; i++) {
    const leat_node *node = in->graph->nodes.items[i];
    if (node->op == LEAT_OP_ensure_shape && !check_shape(in, node)) return false;
  }
  leat_node *check = find_failing(in);
  return check ? report(in, check) : infer_nodes(in);
}

leat_status leat_pass_infer(leat_pass_context *context) {
  if (!context->dim_values) return LEAT_OK;
  leat_graph *graph = context->graph;
  inferrer in = {.context = context, .graph = graph};
  in.put = leat_substitution_begin(graph->dims, context->scratch);
  for (uint32_t i = 0; i < context->dim_count; i++)
    if (context->dim_known[i])
      leat_substitution_set(&in.put, leat_dims_atom(graph->dims, i),
                            leat_dim_const(context->dim_values[i]));
  for (uint32_t i = 0; i < graph->states.count; i++) {
    leat_state *state = graph->states.items[i];
    state->type = leat_substitute_type(&in.put, &state->type);
  }
  return infer_step(&in) ? LEAT_OK : LEAT_INVALID;
}
