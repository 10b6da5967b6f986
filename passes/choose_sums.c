// Which sums over the turns of a loop are made behind it, and that they are (passes/choose.c).
//
// A loop that is the gradient of a loop adds up what each turn contributes to the gradient of a
// weight: s + transpose(x) @ dy, for each time that it is used. Here the turns' x and dy become
// rows of two tensors, which the loop fills, and one product behind it sums over all of them; where
// x is made of a row of what the loop is given, and all rows are read, there is nothing to fill.
// What is added up of the same dy (the gradient of a bias) is then summed behind the loop, too.
//
// The order of the additions is another, so bits change: it depends on nothing but the text, in
// which a run-time dim is unknown, and the loop says it in its attribute `sums`: "after", where
// some sum is so, "each", where all are made turn by turn. A loop that says one of them already was
// dumped: it stays as it is.
//
//   needs   how often the loop turns is known, and which row each turn has (ops/turns.h); nobody
//           sees the sum but its own next value
//   gains   the sum is not read and written in each turn, which counts where a turn's product has
//           few rows: of more it is computed faster in the turn, whose operands are in a cache,
//           than behind the loop. That is more than writing the rows takes where the sum is not
//           much smaller. What is kept of the turns is bounded.
#include "passes/choose_sums.h"

#include "ops/appended.h"
#include "ops/build.h"
#include "ops/turns.h"

// -- What a result adds up -----------------------------------------------------------------------

static bool is_own(const leat_sums *s, const leat_node *node) {
  return s->uses[node->id] == 1 && !node->control_count;
}

// What each turn adds to result i, where nobody sees the sums; false: something else happens to it.
static bool find_added(const leat_sums *s, uint32_t i, leat_value_list *out) {
  leat_arena *scratch = s->context->scratch;
  const leat_node *param = s->body->params.items[i];
  leat_value_list pending = {0};
  uint32_t before = 0;
  leat_vec_push(scratch, &pending, s->body->yield->inputs[i]);
  while (pending.count) {
    leat_value value = pending.items[--pending.count];
    const leat_node *node = value.node;
    bool sum = is_own(s, node) && (node->op == LEAT_OP_add || node->op == LEAT_OP_reshape);
    before += node == param;
    if (!sum && node != param) leat_vec_push(scratch, out, value);
    for (uint32_t k = node->input_count; sum && k-- > 0;)
      leat_vec_push(scratch, &pending, node->inputs[k]);
  }
  return before == 1 && s->uses[param->id] == 1 && out->count &&
         leat_dtype_in_class(param->outputs[0].dtype, LEAT_CLASS_FLOAT);
}

// -- What all turns have -------------------------------------------------------------------------

// Or so in another dtype, which has as many numbers as there can be rows.
static bool is_row(const leat_sums *s, leat_value index) {
  const leat_node *loop = s->region.node;
  while (!leat_loop_is_row(loop, index) && index.node->op == LEAT_OP_cast) {
    if (leat_dtype_size(index.node->outputs[0].dtype) < 4) return false;
    index = index.node->inputs[0];
  }
  return leat_loop_is_row(loop, index);
}

// That the value is made of a row of what the loop is given, of another one in each turn.
bool leat_sums_is_given(const leat_sums *s, leat_value value) {
  const leat_node *read = leat_row_read(s->maker, value);
  return read && is_row(s, read->inputs[1]) && leat_dim_equal(leat_row_count(read), s->turns);
}

bool leat_sums_find_filled(const leat_sums *s, leat_value value, uint32_t *out) {
  for (*out = 0; *out < s->filled.count; ++*out)
    if (leat_value_same(s->filled.items[*out], value)) return true;
  return false;
}

static bool can_fill(const leat_sums *s, const leat_type *type) {
  if (type->rank == LEAT_MAX_RANK || leat_graph_binds(s->body, type)) return false;
  if (leat_type_needs_check(s->body, type)) return false; // which is the loop's, that may not turn
  leat_type rows = leat_type_rows(type, s->turns);
  return leat_cost_bytes(&rows) <= LEAT_MOST_ROWS_BYTES;
}

// *bytes grows by what it takes to fill rows in a turn.
static bool find_rows(leat_sums *s, leat_value value, leat_sum_operand *o, double *bytes) {
  *o = (leat_sum_operand){.value = value, .source = leat_reshape_origin(value)};
  const leat_type *type = leat_value_type(o->source);
  o->given = leat_sums_is_given(s, o->source);
  if (o->given || leat_sums_find_filled(s, o->source, &o->filled)) return true;
  if (!can_fill(s, type)) return false;
  *bytes += leat_cost_bytes(type);
  leat_vec_push(s->context->scratch, &s->filled, o->source);
  return true;
}

// -- Which are summed behind the loop ------------------------------------------------------------

static leat_sum_term term_of(const leat_sums *s, uint32_t result, const leat_node *of) {
  return (leat_sum_term){.result = result, .next = s->body->yield->inputs[result].node, .of = of};
}

// Measured with sums of 64 × 64 to 512 × 512, of 300 turns: of 1 row a third to three quarters of
// the time, of 4 nine tenths, of 8 as much, of 16 and more up to one and a half.
enum { FEW_ROWS = 8 };

static bool sums_few_rows(const leat_node *product) {
  int axis = leat_node_attr(product, "transpose_a")->i ? 0 : 1;
  return leat_cost_extent(leat_value_type(product->inputs[0])->dims[axis]) <= FEW_ROWS;
}

// Or the transpose of one.
static bool add_product(leat_sums *s, uint32_t result, const leat_node *of, double *bytes) {
  bool turned = of->op == LEAT_OP_transpose && leat_node_attr(of, "perm")->ints[0] && is_own(s, of);
  if (turned) of = of->inputs[0].node;
  leat_sum_term found = term_of(s, result, of);
  found.turned = turned;
  if (of->op != LEAT_OP_matmul || of->outputs[0].rank != 2 || !is_own(s, of)) return false;
  if (!sums_few_rows(of)) return false;
  for (int i = 0; i < 2; i++)
    if (!find_rows(s, of->inputs[i], &found.operands[i], bytes)) return false;
  leat_vec_push(s->context->scratch, &s->terms, found);
  return true;
}

// Of what a product fills.
static bool add_sum(leat_sums *s, uint32_t result, leat_value of) {
  leat_sum_term found = term_of(s, result, of.node);
  leat_sum_operand *o = &found.operands[0];
  o->value = of;
  if (of.node->op == LEAT_OP_sum && is_own(s, of.node)) {
    const leat_attr *axes = leat_node_attr(of.node, "axis");
    o->value = of.node->inputs[0];
    for (; found.axes < axes->count; found.axes++)
      if (axes->ints[found.axes] != found.axes) return false;
  }
  o->source = leat_reshape_origin(o->value);
  if (leat_value_type(o->value)->rank == LEAT_MAX_RANK) return false;
  if (!leat_sums_find_filled(s, o->source, &o->filled)) return false;
  leat_vec_push(s->context->scratch, &s->terms, found);
  return true;
}

// All that is added, or nothing.
static void choose_result(leat_sums *s, uint32_t result) {
  leat_value_list added = {0};
  uint32_t terms = s->terms.count, filled = s->filled.count;
  double bytes = 0;
  if (!find_added(s, result, &added)) return;
  bool all = true;
  for (uint32_t i = 0; all && i < added.count; i++)
    all = add_product(s, result, added.items[i].node, &bytes) || add_sum(s, result, added.items[i]);
  const leat_type *type = leat_value_type(s->body->yield->inputs[result]);
  s->summed[result] = all && bytes <= 2 * leat_cost_bytes(type);
  if (s->summed[result]) return;
  s->terms.count = terms;
  s->filled.count = filled;
}

static void count_uses(leat_sums *s) {
  s->uses = leat_new_array(s->context->scratch, uint32_t, s->body->nodes.count);
  for (uint32_t i = 0; i < s->body->nodes.count; i++) {
    const leat_node *node = s->body->nodes.items[i];
    for (uint32_t j = 0; j < node->input_count; j++) s->uses[node->inputs[j].node->id]++;
  }
  const leat_graph *condition = s->region.bodies[0];
  for (uint32_t i = 0; i < condition->nodes.count; i++)
    for (uint32_t j = 0; j < condition->nodes.items[i]->input_count; j++) {
      int64_t param = leat_region_param(condition->nodes.items[i]->inputs[j]);
      if (param >= 0) s->uses[s->body->params.items[param]->id]++;
    }
}

// Twice, for a sum may be of what a later product fills.
static void choose_results(leat_sums *s) {
  count_uses(s);
  for (int round = 0; round < 2; round++)
    for (uint32_t i = 0; i < s->region.carried; i++)
      if (!s->summed[i]) choose_result(s, i);
}

static bool is_undecided(const leat_node *node) {
  return node->op == LEAT_OP_while_loop && !*leat_node_attr(node, "sums")->string;
}

void leat_sums_look_at(leat_sums *s, leat_node *loop) {
  s->region = leat_region_node_of(loop);
  s->body = s->region.bodies[1];
  s->row = leat_loop_row(loop);
  if (s->row.node) s->maker = leat_row_maker_create(s->context, s->graph, loop);
}

static void choose(leat_sums *s, leat_node *loop) {
  s->summed = leat_new_array(s->context->scratch, bool, loop->output_count);
  if (!s->context->strict && leat_loop_turns(loop, &s->turns)) leat_sums_look_at(s, loop);
  if (s->row.node) choose_results(s);
  const char *sums = leat_intern(s->graph->strings, s->terms.count ? "after" : "each");
  leat_node_set_attr(s->graph, loop, "sums", (leat_attr){.string = sums});
}

leat_map leat_choose_sums(const leat_pass_context *context, leat_graph *graph) {
  leat_map chosen;
  leat_map_init(&chosen, context->scratch);
  for (uint32_t i = 0; i < graph->nodes.count; i++) {
    leat_node *loop = graph->nodes.items[i];
    if (!is_undecided(loop)) continue;
    leat_sums *s = leat_new(context->scratch, leat_sums);
    *s = (leat_sums){.context = context, .graph = graph};
    choose(s, loop);
    if (s->terms.count) leat_map_set(&chosen, loop, s);
  }
  return chosen;
}
