// Places single nodes, and what tells where a value is alive. See web.h.
#include "ops/raise/web.h"

// -- Values ---------------------------------------------------------------------------------------

leat_value leat_web_now(leat_web_ref ref) {
  ref = leat_web_through(ref);
  return ref.of->now[ref.port];
}

static const char *place_of(const leat_raising *raising, leat_span span) {
  return raising->place ? raising->place(raising->context, span) : NULL;
}

leat_builder leat_web_builder(const leat_web *web, const leat_web_node *n) {
  return (leat_builder){.graph = web->graph,
                        .diag = web->raising->diag,
                        .span = n->node->span,
                        .entry = n->node->entry,
                        .place = place_of(web->raising, n->node->span)};
}

static leat_value build(leat_web *web, const leat_web_node *n, leat_op op, const char *what,
                        const leat_value *inputs, uint32_t count, const leat_attr *attrs) {
  leat_builder builder = leat_web_builder(web, n);
  const char *path = leat_intern_path(web->graph->strings, n->node->name, what);
  return leat_build(&builder, path, op, inputs, count, attrs);
}

leat_value leat_web_zeros(leat_web *web, leat_web_ref ref) {
  leat_builder builder = leat_web_builder(web, ref.of);
  const char *path = leat_intern_path(web->graph->strings, ref.of->node->name, "dead");
  return leat_build_zeros(&builder, path, &ref.of->node->outputs[ref.port]);
}

// A function as a bool[]: of its largest variable, and of what it is then. A part that it has twice
// is computed once.
typedef struct computation {
  leat_web *web;
  const leat_web_node *at;
  leat_map parts; // by truth: leat_value *
} computation;

static leat_value compute_part(computation *c, leat_truth truth);

// Where the variable of the part holds, or does not, and what is left to hold then does.
static leat_value compute_side(computation *c, leat_truth_node part, bool yes) {
  leat_truth rest = yes ? part.yes : part.no;
  leat_value both[2] = {leat_web_now(c->web->predicates.items[part.variable].value), {0}};
  if (rest == LEAT_NEVER) return (leat_value){0};
  if (!yes) both[0] = build(c->web, c->at, LEAT_OP_not, "not", both, 1, NULL);
  if (rest == LEAT_ALWAYS) return both[0];
  both[1] = compute_part(c, rest);
  return build(c->web, c->at, LEAT_OP_and, "and", both, 2, NULL);
}

static leat_value compute_part(computation *c, leat_truth truth) {
  const leat_value *known = leat_map_get(&c->parts, leat_truth_key(truth));
  if (known) return *known;
  leat_truth_node part = c->web->truths.nodes.items[truth];
  leat_value *out = leat_new(c->web->scratch, leat_value);
  leat_value sides[2];
  for (int i = 0; i < 2; i++) sides[i] = compute_side(c, part, i);
  if (sides[0].node && sides[1].node)
    *out = build(c->web, c->at, LEAT_OP_or, "or", sides, 2, NULL);
  else
    *out = sides[sides[1].node ? 1 : 0];
  leat_map_set(&c->parts, leat_truth_key(truth), out);
  return *out;
}

leat_value leat_web_compute(leat_web *web, const leat_web_node *at, leat_truth truth) {
  computation c = {.web = web, .at = at};
  leat_map_init(&c.parts, web->scratch);
  return compute_part(&c, truth);
}

bool leat_web_place_merge(leat_web *web, const leat_web_item *item) {
  leat_web_node *n = item->node;
  leat_builder builder = leat_web_builder(web, n);
  const char *path = leat_intern_path(web->graph->strings, n->node->name, "index");
  n->now[0] = leat_web_now(item->choices[0].value);
  if (n->numbered)
    n->now[1] = leat_build_scalar_i64(&builder, path, LEAT_i32, item->choices[0].number);
  n->placed = n->now[0].node;
  return true;
}

// The node that is ordered as it: of a closed body, the one that holds it; NULL: none is.
static leat_node *stands_for(const leat_web *web, const leat_web_node *n) {
  leat_web_ref ref = leat_web_through((leat_web_ref){(leat_web_node *)n, 0});
  leat_node *node = ref.of->placed;
  if (!node && ref.of->node->output_count) node = ref.of->now[0].node;
  while (node && !leat_region_reaches(web->graph, node)) node = node->graph->owner;
  return node && node->op != LEAT_OP_parameter ? node : NULL;
}

static void set_controls(leat_web *web, leat_node *node, const leat_web_node *n) {
  node->control_count = 0;
  node->controls = NULL;
  for (uint32_t i = 0; i < n->control_count; i++) {
    leat_node *before = stands_for(web, n->controls[i]);
    if (before && before != node) leat_node_add_control(web->graph, node, before);
  }
}

// -- What is outermost: state and results ---------------------------------------------------------

bool leat_web_is_outermost(const leat_web_node *n) {
  return n && (leat_node_state(n->node) || n->node->op == LEAT_OP_fetch || leat_is_frame(n->node));
}

// Where its value is dead it is as before.
static void assign_where(leat_web *web, const leat_web_node *n, leat_truth live) {
  leat_node *assign = n->node;
  leat_attr attr = {.state = leat_node_state(assign)};
  leat_value chosen[3] = {leat_web_compute(web, n, live)};
  leat_value old = build(web, n, LEAT_OP_read, "read", NULL, 0, &attr);
  set_controls(web, old.node, n);
  chosen[1] = assign->inputs[0];
  chosen[2] = old;
  if (assign->op == LEAT_OP_assign_add) {
    leat_value terms[] = {old, chosen[1]};
    chosen[1] = build(web, n, LEAT_OP_add, "add", terms, 2, NULL);
    leat_node_set_op(assign, LEAT_OP_assign);
  }
  assign->inputs[0] = build(web, n, LEAT_OP_where, "where", chosen, 3, NULL);
  leat_node_add_control(web->graph, assign, old.node);
}

// Who asks for what is dead is told.
static leat_node *assert_alive(leat_web *web, const leat_web_node *n, leat_truth live) {
  bool fetched = n->node->op == LEAT_OP_fetch;
  const char *name = fetched ? leat_node_attr(n->node, "name")->string : "what the body gives";
  leat_attr says = {.string = leat_intern_printf(web->graph->strings,
                                                 "`%s` is dead: its branch was not taken", name)};
  leat_value alive = leat_web_compute(web, n, live);
  return build(web, n, LEAT_OP_assert, "alive", &alive, 1, &says).node;
}

static bool check_outermost(const leat_web *web, const leat_web_node *n) {
  leat_op op = n->node->op;
  bool framed = n->frame && n->frame->name;
  if (framed && (op == LEAT_OP_fetch || op == LEAT_OP_yield))
    return leat_web_fail(web, n,
                         "what is in the frame \"%s\" has a value in each iteration: that of the "
                         "last one comes out by `leave`",
                         n->frame->name);
  if (op == LEAT_OP_bind && (framed || n->live[0] != LEAT_ALWAYS))
    return leat_web_fail(web, n,
                         "a dim that is computed while running is not supported yet in a "
                         "branch or a frame");
  return true;
}

// -- Nodes ----------------------------------------------------------------------------------------

// In a loop what is random is so in each iteration: the count has their numbers, too.
static void count_iterations(leat_web *web, leat_node *node, const leat_web_node *n) {
  leat_builder builder = leat_web_builder(web, n);
  const char *path = leat_intern_path(web->graph->strings, n->node->name, "count");
  for (uint32_t i = 0; i < web->iterations.count; i++) {
    leat_value step = leat_build_scalar_i64(&builder, path, LEAT_i64, LEAT_RANDOM_STEP);
    leat_value one = leat_build_scalar_i64(&builder, path, LEAT_i64, 1);
    leat_value factors[] = {node->inputs[0], step}, terms[2];
    leat_value next[] = {web->iterations.items[i], one};
    terms[0] = leat_build(&builder, path, LEAT_OP_mul, factors, 2, NULL);
    terms[1] = leat_build(&builder, path, LEAT_OP_add, next, 2, NULL);
    node->inputs[0] = leat_build(&builder, path, LEAT_OP_add, terms, 2, NULL);
  }
}

// The node itself, the first time it is placed; not yet among the nodes of the graph.
static leat_node *instance_of(leat_web *web, leat_web_node *n, const leat_value *inputs) {
  leat_node *node = n->node;
  if (n->placed) {
    node = leat_graph_append_like(web->graph, node, node->name, inputs, node->attrs, node->entry,
                                  NULL);
    web->graph->nodes.count--;
  } else {
    node->inputs = leat_arena_memdup(web->graph->arena, inputs, n->input_count * sizeof *inputs);
    node->graph = web->graph;
  }
  return node;
}

static void push(leat_web *web, leat_node *node) {
  node->id = web->graph->nodes.count;
  leat_vec_push(web->graph->arena, &web->graph->nodes, node);
}

bool leat_web_place_node(leat_web *web, leat_web_node *n, leat_truth live) {
  leat_value *inputs = leat_new_array(web->scratch, leat_value, (size_t)n->input_count + 1);
  if (!check_outermost(web, n)) return false;
  for (uint32_t i = 0; i < n->input_count; i++)
    inputs[i] = leat_region_inside(web->graph, leat_web_now(n->inputs[i]));
  leat_node *node = instance_of(web, n, inputs);
  set_controls(web, node, n);
  if (node->info->flags & LEAT_FLAG_RANDOM) count_iterations(web, node, n);
  bool partly = live != LEAT_ALWAYS && leat_web_is_outermost(n);
  if (partly && node->op != LEAT_OP_read && leat_node_state(node)) assign_where(web, n, live);
  if (partly && !leat_node_state(node))
    leat_node_add_control(web->graph, node, assert_alive(web, n, live));
  push(web, node);
  n->placed = node;
  for (uint32_t i = 0; i < node->output_count; i++) n->now[i] = (leat_value){node, i};
  const leat_raising *raising = web->raising;
  if (raising->placed) raising->placed(raising->context, web, n->node, node);
  return true;
}
