// Which sums over the turns of a loop are made behind it, and that they are (passes/choose.c).
//
// A loop that is the gradient of a loop adds up what each turn contributes to the gradient of a
// weight: s + transpose(x) @ dy. Here the turns' x and dy become rows of two tensors, which the
// loop fills, and one product behind it sums over all of them; where x itself is a row of what the
// loop is given, and all rows are read, there is nothing to fill. What is added up of the rows of
// the same dy (the gradient of a bias) is then summed behind the loop, too.
//
// The order of the additions is another, so bits change: it depends on nothing but the text, in
// which a run-time dim is unknown, and the loop says it in its attribute `sums`: "after", where
// some sum is so, "each", where all are made turn by turn. A loop that says one of them already was
// dumped: it stays as it is.
//
//   needs   how often the loop turns is known, and which row each turn has (ops/turns.h); nobody
//           sees the sum but its own next value
//   gains   the sum is not read and written in each turn, and one large product is faster than many
//           small ones: that is more than writing the rows takes where the sum is not much smaller.
//           What is kept of the turns is bounded.
#include "passes/choose_sums.h"

#include "ops/build.h"
#include "ops/turns.h"
#include "passes/regions.h"

static const double most_bytes = 1 << 28; // of the rows of an operand

// What a turn has of an operand, and where all turns' are: in what the loop captures, or in what it
// fills.
typedef struct operand {
  leat_value value;    // in the body
  leat_value captured; // outside; {NULL}: rows of its own
  uint32_t filled;     // their number
} operand;

typedef struct sum {
  uint32_t result;     // of the loop
  leat_node *add;      // its next value
  const leat_node *of; // matmul or sum, in the body
  operand operands[2]; // a sum has one
  leat_dim rows[2];    // of a matmul: what a turn's are as matrices, rows × columns
  leat_dim columns[2]; //
} sum;

typedef struct summing {
  leat_pass_context *context;
  leat_cost_model cost;
  leat_graph *graph; // around the loop
  leat_region_node region;
  leat_graph *body;
  leat_dim turns;
  leat_value row; // in the body: which turn it is, in some order
  uint32_t *uses; // by id, in the body
  leat_vec(sum) sums;
  leat_vec(leat_value) filled; // in the body: what rows are kept of
  uint32_t first_filled;       // carried value that is such rows
} summing;

// -- What is such a sum --------------------------------------------------------------------------

static bool is_own(const summing *s, const leat_node *node) {
  return s->uses[node->id] == 1 && !node->control_count;
}

static leat_value reshaped(leat_value value) {
  while (value.node->op == LEAT_OP_reshape) value = value.node->inputs[0];
  return value;
}

// Or so in another dtype, which has as many numbers as there can be rows.
static bool is_row(const summing *s, leat_value index) {
  while (index.node != s->row.node && index.node->op == LEAT_OP_cast) {
    if (leat_dtype_size(index.node->outputs[0].dtype) < 4) return false;
    index = index.node->inputs[0];
  }
  return leat_value_same(index, s->row);
}

// All rows of what the value is a row of; else {NULL}.
static leat_value captured_rows(const summing *s, leat_value value) {
  const leat_node *read = reshaped(value).node;
  if (read->op != LEAT_OP_gather || leat_node_attr(read, "axis")->i || !is_row(s, read->inputs[1]))
    return (leat_value){0};
  leat_value rows = leat_region_captured(&s->region, read->inputs[0]);
  bool all = rows.node && leat_dim_equal(leat_value_type(rows)->dims[0], s->turns);
  return all ? rows : (leat_value){0};
}

static bool find_filled(const summing *s, leat_value value, uint32_t *out) {
  for (*out = 0; *out < s->filled.count; ++*out)
    if (leat_value_same(s->filled.items[*out], value)) return true;
  return false;
}

// What it takes to fill rows with the operand, in bytes a turn; below 0: there can be none.
static double filling(const summing *s, operand *o) {
  const leat_type *type = leat_value_type(o->value);
  o->captured = captured_rows(s, o->value);
  if (o->captured.node || find_filled(s, o->value, &o->filled)) return 0;
  if (type->rank == LEAT_MAX_RANK) return -1;
  if (leat_type_needs_check(s->body, type)) return -1; // which is the loop's, that may not turn
  leat_type rows = leat_type_rows(type, s->turns);
  if (leat_cost_bytes(&s->cost, &rows) > most_bytes) return -1;
  return leat_cost_bytes(&s->cost, type);
}

static bool is_product(const summing *s, sum *found) {
  const leat_node *of = found->of;
  bool turned[] = {!leat_node_attr(of, "transpose_a")->i, leat_node_attr(of, "transpose_b")->i};
  if (of->outputs[0].rank != 2) return false;
  double bytes = 0;
  for (int i = 0; i < 2; i++) {
    const leat_type *type = leat_value_type(of->inputs[i]);
    found->operands[i].value = of->inputs[i];
    found->rows[i] = type->dims[turned[i]];
    found->columns[i] = type->dims[!turned[i]];
    if (turned[i] && !leat_dim_is(found->rows[i], 1)) return false;
    double more = filling(s, &found->operands[i]);
    if (more < 0) return false;
    bytes += more;
  }
  return bytes <= 2 * leat_cost_bytes(&s->cost, &of->outputs[0]);
}

// Over the first axes, of an operand of a product.
static bool is_sum_of_rows(const summing *s, sum *found) {
  const leat_attr *axes = leat_node_attr(found->of, "axis");
  operand *o = &found->operands[0];
  o->value = found->of->inputs[0];
  for (uint32_t i = 0; i < axes->count; i++)
    if (axes->ints[i] != i) return false;
  return find_filled(s, o->value, &o->filled);
}

// Whether result i is a sum of that op's results.
static bool find_sum(const summing *s, uint32_t i, leat_op op, sum *out) {
  leat_node *param = s->body->params.items[i], *add = s->body->yield->inputs[i].node;
  if (add->op != LEAT_OP_add || !is_own(s, add) || s->uses[param->id] != 1) return false;
  if (!leat_dtype_in_class(param->outputs[0].dtype, LEAT_CLASS_FLOAT)) return false;
  if (add->inputs[0].node != param && add->inputs[1].node != param) return false;
  leat_value term = add->inputs[add->inputs[0].node == param];
  for (; term.node->op == LEAT_OP_reshape; term = term.node->inputs[0])
    if (!is_own(s, term.node)) return false;
  *out = (sum){.result = i, .add = add, .of = term.node};
  return term.node->op == op && is_own(s, term.node);
}

static void add_sum(summing *s, sum found) {
  int operands = found.of->op == LEAT_OP_matmul ? 2 : 1;
  for (int i = 0; i < operands; i++) {
    operand *o = &found.operands[i];
    if (o->captured.node || find_filled(s, o->value, &o->filled)) continue;
    leat_vec_push(s->context->scratch, &s->filled, o->value);
  }
  leat_vec_push(s->context->scratch, &s->sums, found);
}

static void count_uses(summing *s) {
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

static void find_sums(summing *s) {
  sum found;
  count_uses(s);
  for (uint32_t i = 0; i < s->region.carried; i++)
    if (find_sum(s, i, LEAT_OP_matmul, &found) && is_product(s, &found)) add_sum(s, found);
  for (uint32_t i = 0; i < s->region.carried; i++)
    if (find_sum(s, i, LEAT_OP_sum, &found) && is_sum_of_rows(s, &found)) add_sum(s, found);
}

// -- What the loop fills -------------------------------------------------------------------------

static leat_builder builder_of(const summing *s, leat_graph *graph, const leat_node *like) {
  return leat_region_builder(&s->region, s->context->diag, graph, like);
}

static leat_value make_zeros(const summing *s, leat_value of) {
  leat_builder builder = builder_of(s, s->graph, of.node);
  leat_type type = leat_type_rows(leat_value_type(of), s->turns);
  return leat_build_zeros(&builder, of.node->name, &type);
}

static void fill_all(const summing *s) {
  leat_value *next = leat_new_array(s->context->scratch, leat_value, s->filled.count);
  for (uint32_t i = 0; i < s->filled.count; i++) {
    leat_value value = s->filled.items[i];
    leat_value table = {s->body->params.items[s->first_filled + i], 0};
    leat_builder builder = builder_of(s, s->body, value.node);
    next[i] = leat_build_set_row(&builder, value.node->name, table, s->row, value);
  }
  leat_region_yield(s->body, next, s->filled.count);
}

static bool is_summed(const summing *s, const leat_node *add) {
  for (uint32_t i = 0; i < s->sums.count; i++)
    if (s->sums.items[i].add == add) return true;
  return false;
}

// A sum stays what it is before the loop.
static void rewrite_body(summing *s) {
  leat_graph *body = s->body;
  leat_rewriter r = leat_rewrite_begin(body, s->context->scratch);
  for (uint32_t i = 0; i < r.count; i++) {
    leat_node *node = body->nodes.items[i];
    leat_rewrite_inputs(&r, node);
    if (node == body->yield) fill_all(s);
    if (!is_summed(s, node))
      leat_rewrite_keep(&r, node);
    else
      leat_rewrite_replace(&r, node, node->inputs[leat_region_param(node->inputs[0]) < 0]);
  }
  leat_rewrite_finish(&r);
}

// In front of the loop, which is not kept yet.
static void change_loop(summing *s) {
  uint32_t count = s->filled.count;
  leat_value *zeros = leat_new_array(s->context->scratch, leat_value, count);
  for (uint32_t i = 0; i < count; i++) zeros[i] = make_zeros(s, s->filled.items[i]);
  leat_region_carry_more(s->graph, &s->region, zeros, count, s->context->scratch);
  rewrite_body(s);
}

// -- Behind the loop -----------------------------------------------------------------------------

static leat_value rows_of(const summing *s, const operand *o) {
  if (o->captured.node) return o->captured;
  return (leat_value){s->region.node, s->first_filled + o->filled};
}

static leat_value multiply(const summing *s, leat_builder *builder, const sum *of) {
  leat_value sides[2];
  for (int i = 0; i < 2; i++) {
    leat_type matrix = {.rank = 2, .dims = {of->rows[i], of->columns[i]}};
    if (!leat_dim_mul(s->graph->dims, s->turns, of->rows[i], &matrix.dims[0]))
      return (leat_value){0};
    sides[i] = leat_build_reshape(builder, of->of->name, rows_of(s, &of->operands[i]), &matrix);
    if (!sides[i].node) return sides[i];
  }
  leat_attr attrs[] = {{.i = true}, {.i = false}, {.string = leat_intern(s->graph->strings, "")}};
  return leat_build(builder, of->of->name, LEAT_OP_matmul, sides, 2, attrs);
}

static leat_value add_up(const summing *s, leat_builder *builder, const sum *of) {
  leat_value rows = rows_of(s, &of->operands[0]);
  uint32_t count = leat_node_attr(of->of, "axis")->count + 1;
  int64_t *axes = leat_new_array(s->graph->arena, int64_t, count);
  for (uint32_t i = 0; i < count; i++) axes[i] = i;
  leat_attr attrs[] = {{.count = count, .ints = axes}, {.i = false}};
  return leat_build(builder, of->of->name, LEAT_OP_sum, &rows, 1, attrs);
}

// What was there before the loop, and what all turns add.
static leat_value total(const summing *s, const sum *of) {
  leat_builder builder = builder_of(s, s->graph, of->of);
  leat_value before = {s->region.node, of->result};
  const leat_type *type = leat_value_type(before);
  leat_value more =
      of->of->op == LEAT_OP_matmul ? multiply(s, &builder, of) : add_up(s, &builder, of);
  if (more.node && !leat_type_equal(leat_value_type(more), type))
    more = leat_build_reshape(&builder, of->of->name, more, type);
  if (!more.node) return before;
  leat_value terms[] = {before, more};
  return leat_build(&builder, of->add->name, LEAT_OP_add, terms, 2, NULL);
}

static void use_totals(const summing *s, leat_rewriter *r) {
  uint32_t count = s->first_filled; // of the results that it had
  leat_value *values = leat_new_array(s->context->scratch, leat_value, count);
  for (uint32_t i = 0; i < count; i++) values[i] = (leat_value){s->region.node, i};
  for (uint32_t i = 0; i < s->sums.count; i++)
    values[s->sums.items[i].result] = total(s, &s->sums.items[i]);
  leat_rewrite_outputs(r, s->region.node, values, count);
}

static bool is_undecided(const leat_node *node) {
  return node->op == LEAT_OP_while_loop && !*leat_node_attr(node, "sums")->string;
}

static void choose(summing *s, leat_rewriter *r, leat_node *loop) {
  bool exact;
  s->region = leat_region_node_of(loop);
  s->first_filled = s->region.carried;
  s->body = s->region.bodies[1];
  s->row = leat_loop_row(loop);
  if (leat_loop_turns(loop, &s->turns, &exact) && exact && s->row.node) find_sums(s);
  const char *sums = leat_intern(s->graph->strings, s->sums.count ? "after" : "each");
  leat_node_set_attr(s->graph, loop, "sums", (leat_attr){.string = sums});
  if (s->sums.count) change_loop(s);
  leat_rewrite_keep(r, loop);
  if (s->sums.count) use_totals(s, r);
}

static bool has_undecided(const leat_graph *graph) {
  for (uint32_t i = 0; i < graph->nodes.count; i++)
    if (is_undecided(graph->nodes.items[i])) return true;
  return false;
}

void leat_choose_sums(leat_pass_context *context, leat_graph *graph) {
  if (!has_undecided(graph)) return;
  leat_cost_model cost = leat_cost_model_create(context);
  leat_rewriter r = leat_rewrite_begin(graph, context->scratch);
  for (uint32_t i = 0; i < r.count; i++) {
    leat_node *node = graph->nodes.items[i];
    leat_rewrite_inputs(&r, node);
    summing s = {.context = context, .cost = cost, .graph = graph};
    if (is_undecided(node))
      choose(&s, &r, node);
    else
      leat_rewrite_keep(&r, node);
  }
  leat_rewrite_finish(&r);
}
