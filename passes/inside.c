// From the body that a value is in to the graph around, and so on until it is in none.
#include "passes/inside.h"

#include "ir/substitution.h"
#include "ops/build.h"
#include "ops/region.h"
#include "ops/turns.h"

#include <assert.h>

static leat_graph *body_of(const leat_node *node, int number) {
  return leat_node_body(node, number);
}

// What a loop carries has one name in its condition and in its body; the body's is meant.
static leat_value in_body(leat_value value) {
  const leat_node *node = value.node, *owner = node->graph->owner;
  bool twice = node->op == LEAT_OP_parameter && leat_is_loop(owner);
  if (twice) value.node = body_of(owner, 1)->params.items[leat_node_attr(node, "index")->i];
  return value;
}

// -- What can be given -------------------------------------------------------------------------

typedef struct dim_search {
  const leat_graph *graph;
  bool found;
} dim_search;

static void see_atom(void *context, const leat_atom *atom) {
  dim_search *search = context;
  const leat_node *binder = leat_graph_binder(search->graph, atom);
  if (binder && binder->graph->owner) search->found = true;
}

// Whether the dim is computed in a body.
static bool is_dim_of_body(const leat_graph *graph, leat_dim dim) {
  dim_search search = {.graph = graph};
  leat_dim_visit(dim, see_atom, &search);
  return search.found;
}

static bool refuse(leat_diag *diag, const leat_wanted *wanted, const char *why) {
  leat_error_at(diag, wanted->value.node->span, "`%s` cannot be fetched: %s", wanted->name, why);
  return false;
}

// So many iterations, each time that the loop is run; false: only counting them tells.
static bool find_count(const leat_node *loop, leat_dim *out) {
  return leat_loop_turns(loop, out) && !is_dim_of_body(loop->graph, *out);
}

static bool add_axis(leat_dims *dims, leat_diag *diag, const leat_wanted *wanted,
                     const leat_node *loop, leat_type *out) {
  leat_dim count;
  if (out->rank == LEAT_MAX_RANK)
    return refuse(diag, wanted, "stacked it would have more axes than are supported");
  if (!find_count(loop, &count)) {
    if (loop->graph->owner)
      return refuse(diag, wanted,
                    "how often the loop around it runs may differ from time to time, so that its "
                    "values would be no rectangle; without `:all` it is the last one");
    count = leat_dim_anonymous(dims, NULL);
  }
  *out = leat_type_rows(out, count);
  return true;
}

bool leat_inside_type(leat_dims *dims, leat_diag *diag, const leat_wanted *wanted, leat_type *out) {
  leat_value value = in_body(wanted->value);
  bool loops = false;
  *out = *leat_value_type(value);
  for (int32_t i = 0; i < out->rank; i++)
    if (is_dim_of_body(value.node->graph, out->dims[i]))
      return refuse(diag, wanted, "it has an extent that is computed where it is");
  for (const leat_graph *graph = value.node->graph; graph->owner; graph = graph->owner->graph) {
    const leat_node *owner = graph->owner;
    if (!leat_is_loop(owner)) continue;
    if (graph == body_of(owner, 0))
      return refuse(diag, wanted, "it is in the condition of a loop; what is in its body can be");
    if (wanted->all && !add_axis(dims, diag, wanted, owner, out)) return false;
    loops = true;
  }
  return !wanted->all || loops || refuse(diag, wanted, "it is in no loop, and has one value");
}

// -- Nodes ---------------------------------------------------------------------------------------

// The value on its way.
typedef struct inside {
  leat_pass_context *context;
  const leat_wanted *wanted;
  const char *name; // what new nodes are called below
  leat_entry *entry;
  leat_span span;
  leat_value value; // as far out as it is
  leat_value given; // whether there is one; {NULL}: there is
  bool branches, loops;
} inside;

static leat_builder builder_of(const inside *in, leat_graph *graph) {
  return (leat_builder){
      .graph = graph, .diag = in->context->diag, .span = in->span, .entry = in->entry};
}

static const char *name_of(const inside *in, const char *what) {
  leat_strings *strings = in->context->graph->strings;
  return leat_intern_path(strings, in->name, leat_intern(strings, what));
}

// Effects among them are no effects of the entry: nobody else waits for them.
static leat_value build(const inside *in, leat_graph *graph, const char *what, leat_op op,
                        const leat_value *inputs, uint32_t count, const leat_attr *attrs) {
  leat_builder builder = builder_of(in, graph);
  builder.entry = NULL;
  uint32_t first = graph->nodes.count;
  leat_value made = leat_build(&builder, name_of(in, what), op, inputs, count, attrs);
  assert(made.node);
  for (uint32_t i = first; i < graph->nodes.count; i++) graph->nodes.items[i]->entry = in->entry;
  return made;
}

static leat_value constant(const inside *in, leat_graph *graph, leat_dtype dtype, int64_t value) {
  leat_builder builder = builder_of(in, graph);
  return leat_build_scalar_i64(&builder, name_of(in, "const"), dtype, value);
}

static leat_value zeros(const inside *in, leat_graph *graph, const leat_type *type) {
  leat_builder builder = builder_of(in, graph);
  return leat_build_zeros(&builder, name_of(in, "zeros"), type);
}

// -- More of a region ----------------------------------------------------------------------------

static void insert(leat_arena *arena, leat_value **values, uint32_t *count, uint32_t at,
                   leat_value value) {
  leat_value *more = leat_new_array(arena, leat_value, (size_t)*count + 1);
  for (uint32_t i = 0; i < *count; i++) more[i < at ? i : i + 1] = (*values)[i];
  more[at] = value;
  *values = more;
  (*count)++;
}

static void give(leat_graph *body, leat_value value) {
  leat_node *yield = body->yield;
  insert(body->arena, &yield->inputs, &yield->input_count, yield->input_count, value);
}

static void add_parameter(const inside *in, leat_graph *body, uint32_t number, const char *what,
                          const leat_type *type) {
  leat_attr attrs[] = {{.i = number}, {.type = leat_arena_memdup(body->arena, type, sizeof *type)}};
  leat_node_list before = body->params;
  leat_node *param = build(in, body, what, LEAT_OP_parameter, NULL, 0, attrs).node;
  body->params = (leat_node_list){0};
  for (uint32_t i = 0; i <= before.count; i++) {
    leat_node *next = i == number ? param : before.items[i < number ? i : i - 1];
    leat_node_set_attr(body, next, "index", (leat_attr){.i = i});
    leat_vec_push(body->arena, &body->params, next);
  }
}

// The loop carries one more value, whose next one its body gives next: what it is in there.
static leat_value carry(const inside *in, leat_node *loop, const char *what, leat_value first) {
  leat_graph *body = body_of(loop, 1);
  uint32_t number = body->yield->input_count;
  insert(body->arena, &loop->inputs, &loop->input_count, number, first);
  for (int b = 0; b < LEAT_REGION_BODIES; b++)
    add_parameter(in, body_of(loop, b), number, what, leat_value_type(first));
  return (leat_value){body->params.items[number], 0};
}

// Parameters stand before all else, the yield behind it.
static void put_in_order(leat_graph *body) {
  leat_node_list nodes = {0};
  leat_node *in_cycle;
  for (uint32_t i = 0; i < body->params.count; i++)
    leat_vec_push(body->arena, &nodes, body->params.items[i]);
  for (uint32_t i = 0; i < body->nodes.count; i++)
    if (!leat_is_frame(body->nodes.items[i]))
      leat_vec_push(body->arena, &nodes, body->nodes.items[i]);
  leat_vec_push(body->arena, &nodes, body->yield);
  body->nodes = nodes;
  bool sorted = leat_graph_sort(body, &in_cycle);
  assert(sorted);
  (void)sorted;
}

// The bodies give what they are to: the value as that result, and whether there is one as the last.
static void leave(inside *in, leat_node *node, uint32_t port, bool given) {
  const leat_graph *body = body_of(node, LEAT_REGION_BODIES - 1);
  leat_graph *outer = node->graph;
  uint32_t count = body->yield->input_count;
  leat_type *outputs = leat_new_array(outer->arena, leat_type, count);
  leat_node_list binders = {0};
  for (int b = 0; b < LEAT_REGION_BODIES; b++) put_in_order(body_of(node, b));
  for (uint32_t i = 0; i < count; i++) // what was given before may grow: then it has a dim here
    outputs[i] =
        i < node->output_count ? node->outputs[i] : *leat_value_type(body->yield->inputs[i]);
  node->outputs = outputs;
  leat_node_set_op(node, node->op);
  leat_node_find_binders(outer, node, outer->arena, &binders);
  leat_node_add_controls(outer, node, binders.items, binders.count);
  if (outer->owner) put_in_order(outer);
  in->value = (leat_value){node, port};
  in->given = given ? (leat_value){node, count - 1} : (leat_value){0};
}

// -- Branches ------------------------------------------------------------------------------------

static void leave_branch(inside *in, leat_node *node) {
  const leat_graph *taken = in->value.node->graph;
  uint32_t port = node->output_count;
  leat_type type = *leat_value_type(in->value);
  for (int b = 0; b < LEAT_REGION_BODIES; b++) {
    leat_graph *body = body_of(node, b);
    leat_value value = body == taken ? in->value : zeros(in, body, &type);
    bool known = body == taken && in->given.node;
    leat_value given = known ? in->given : constant(in, body, LEAT_bool, body == taken);
    give(body, value);
    give(body, given);
  }
  in->branches = true;
  leave(in, node, port, true);
}

// -- Loops ---------------------------------------------------------------------------------------

static void leave_loop(inside *in, leat_node *loop) {
  leat_graph *body = body_of(loop, 1);
  uint32_t port = loop->output_count;
  leat_type type = *leat_value_type(in->value);
  if (!in->given.node) in->given = constant(in, body, LEAT_bool, true);
  carry(in, loop, "value", zeros(in, loop->graph, &type));
  give(body, in->value);
  carry(in, loop, "given", constant(in, loop->graph, LEAT_bool, false));
  give(body, in->given);
  in->loops = true;
  leave(in, loop, port, true);
}

// It carries the number of the iteration.
static leat_value count_iterations(const inside *in, leat_node *loop) {
  leat_graph *body = body_of(loop, 1);
  leat_value number = carry(in, loop, "number", constant(in, loop->graph, LEAT_i64, 0));
  leat_value terms[] = {number, constant(in, body, LEAT_i64, 1)};
  give(body, build(in, body, "number", LEAT_OP_add, terms, 2, NULL));
  return number;
}

// A dim with the number of iterations, which a loop that does the same counts first.
static leat_dim count_first(const inside *in, const leat_node *loop) {
  leat_graph *step = loop->graph;
  leat_substitution dims = leat_substitution_begin(step->dims, step->arena);
  leat_node *copy = leat_graph_append_like(step, loop, name_of(in, "count"), loop->inputs,
                                           loop->attrs, in->entry, &dims);
  copy->controls = loop->controls;
  copy->control_count = loop->control_count;
  for (int b = 0; b < LEAT_REGION_BODIES; b++) leat_graph_drop_acts(body_of(copy, b));
  inside counting = *in;
  uint32_t port = copy->output_count;
  count_iterations(&counting, copy);
  leave(&counting, copy, port, false);
  leat_attr dim = {.dim = leat_dim_anonymous(step->dims, NULL)};
  build(in, step, "count", LEAT_OP_bind, &counting.value, 1, &dim);
  return dim.dim;
}

static void leave_loop_with_all(inside *in, leat_node *loop) {
  leat_graph *body = body_of(loop, 1), *outer = loop->graph;
  leat_type type = *leat_value_type(in->value);
  leat_dim count;
  if (!find_count(loop, &count)) count = count_first(in, loop);
  type = leat_type_rows(&type, count);
  leat_value number = count_iterations(in, loop);
  uint32_t port = body->yield->input_count;
  leat_value rows = carry(in, loop, "rows", zeros(in, outer, &type));
  leat_builder builder = builder_of(in, body);
  give(body, leat_build_set_row(&builder, name_of(in, "rows"), rows, number, in->value));
  bool given = in->given.node;
  if (given) {
    leat_value both[] = {carry(in, loop, "given", constant(in, outer, LEAT_bool, true)), in->given};
    give(body, build(in, body, "given", LEAT_OP_and, both, 2, NULL));
  }
  leave(in, loop, port, given);
}

// -- All the way ---------------------------------------------------------------------------------

static const char *why_missing(const inside *in) {
  const char *text = in->wanted->all ? "in some iteration `%s` was in a branch that was not taken"
                     : !in->loops    ? "`%s` is in a branch that was not taken"
                     : in->branches
                         ? "`%s` is in a branch that the last iteration did not take, or in a loop "
                           "that had no iteration"
                         : "`%s` is in a loop that had no iteration";
  return leat_arena_printf(in->context->arena, text, in->wanted->name);
}

leat_value leat_inside_take(leat_pass_context *context, leat_graph *step, const leat_wanted *wanted,
                            leat_value value) {
  value = in_body(value);
  const leat_node *node = value.node;
  inside in = {.context = context,
               .wanted = wanted,
               .name = node->name,
               .entry = node->entry,
               .span = node->span,
               .value = value};
  while (leat_is_inside(in.value)) {
    leat_node *owner = in.value.node->graph->owner;
    if (!leat_is_loop(owner))
      leave_branch(&in, owner);
    else if (wanted->all)
      leave_loop_with_all(&in, owner);
    else
      leave_loop(&in, owner);
  }
  if (in.given.node) {
    leat_attr message = {.string = why_missing(&in)};
    build(&in, step, "fetched", LEAT_OP_assert, &in.given, 1, &message);
  }
  return in.value;
}
