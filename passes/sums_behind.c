// Makes what a loop has added up turn by turn behind the loop (passes/choose_sums.c).
#include "ops/build.h"
#include "passes/choose_sums.h"

// -- The loop ------------------------------------------------------------------------------------

static leat_builder builder_of(const leat_sums *s, leat_graph *graph, const leat_node *like) {
  return leat_region_builder(&s->region, s->context->diag, graph, like);
}

static void find_all_rows(leat_sums *s) {
  for (uint32_t i = 0; i < s->terms.count; i++)
    for (int k = 0; k < 2; k++) {
      leat_sum_operand *o = &s->terms.items[i].operands[k];
      leat_value filled = {s->region.node, s->first_filled + o->filled};
      o->rows = o->given ? leat_first_rows_of(s->maker, o->source) : filled;
    }
}

// A sum stays what it is before the loop.
void leat_sums_take_out(leat_sums *s) {
  find_all_rows(s);
  for (uint32_t i = 0; i < s->first_filled; i++)
    if (s->summed[i]) s->body->yield->inputs[i] = (leat_value){s->body->params.items[i], 0};
  leat_region_fill_rows(s->context, s->graph, &s->region, s->filled.items, s->filled.count,
                        &(leat_row_filling){.row = s->row, .count = s->turns});
}

// -- Behind the loop -----------------------------------------------------------------------------

// All turns' rows, with the shape that the operand has in one.
static leat_value rows_of(const leat_sums *s, leat_builder *builder, const leat_sum_term *t,
                          int side) {
  const leat_sum_operand *o = &t->operands[side];
  leat_type all = leat_type_rows(leat_value_type(o->value), s->turns);
  bool same = o->rows.node && leat_type_equal(leat_value_type(o->rows), &all);
  return same ? o->rows : leat_build_reshape(builder, t->of->name, o->rows, &all);
}

// A matrix with the rows of all turns' matrices.
static leat_value matrix_of(const leat_sums *s, leat_builder *builder, const leat_sum_term *t,
                            int side) {
  bool turned = leat_node_attr(t->of, side ? "transpose_b" : "transpose_a")->i == side;
  const int64_t order[] = {0, 2, 1};
  leat_attr attr = {.count = 3, .ints = leat_arena_memdup(s->graph->arena, order, sizeof order)};
  leat_value rows = rows_of(s, builder, t, side);
  if (turned) rows = leat_build(builder, t->of->name, LEAT_OP_transpose, &rows, 1, &attr);
  if (!rows.node) return rows;
  const leat_dim *dims = leat_value_type(rows)->dims;
  leat_type matrix = {.rank = 2, .dims = {dims[0], dims[2]}};
  if (!leat_dim_mul(s->graph->dims, dims[0], dims[1], &matrix.dims[0])) return (leat_value){0};
  return leat_build_reshape(builder, t->of->name, rows, &matrix);
}

static leat_value multiply(const leat_sums *s, leat_builder *builder, const leat_sum_term *t) {
  leat_value sides[2];
  for (int i = 0; i < 2; i++) sides[i != t->turned] = matrix_of(s, builder, t, i);
  leat_attr attrs[] = {{.i = true}, {.i = false}, {.string = leat_intern(s->graph->strings, "")}};
  return leat_build(builder, t->of->name, LEAT_OP_matmul, sides, 2, attrs);
}

static leat_value add_up(const leat_sums *s, leat_builder *builder, const leat_sum_term *t) {
  leat_value rows = rows_of(s, builder, t, 0);
  uint32_t count = t->axes + 1;
  int64_t *axes = leat_new_array(s->graph->arena, int64_t, count);
  for (uint32_t i = 0; i < count; i++) axes[i] = i;
  leat_attr attrs[] = {{.count = count, .ints = axes}, {.i = false}};
  return leat_build(builder, t->of->name, LEAT_OP_sum, &rows, 1, attrs);
}

// With what all turns add.
static leat_value add_term(const leat_sums *s, leat_value before, const leat_sum_term *t) {
  leat_builder builder = builder_of(s, s->graph, t->of);
  const leat_type *type = leat_value_type(before);
  bool product = t->of->op == LEAT_OP_matmul;
  leat_value more = product ? multiply(s, &builder, t) : add_up(s, &builder, t);
  if (more.node && !leat_type_equal(leat_value_type(more), type))
    more = leat_build_reshape(&builder, t->of->name, more, type);
  if (!more.node) return before;
  leat_value terms[] = {before, more};
  return leat_build(&builder, t->next->name, LEAT_OP_add, terms, 2, NULL);
}

void leat_sums_put_behind(const leat_sums *s, leat_rewriter *r) {
  uint32_t count = s->first_filled; // of the results that it had
  leat_value *values = leat_new_array(s->context->scratch, leat_value, count);
  for (uint32_t i = 0; i < count; i++) values[i] = (leat_value){s->region.node, i};
  for (uint32_t i = 0; i < s->terms.count; i++) {
    const leat_sum_term *t = &s->terms.items[i];
    values[t->result] = add_term(s, values[t->result], t);
  }
  leat_rewrite_outputs(r, s->region.node, values, count);
}
