// Makes what a loop has added up turn by turn behind the loop (passes/choose_sums.c).
#include "ops/appended.h"
#include "ops/build.h"
#include "passes/choose_sums.h"

// -- The loop ------------------------------------------------------------------------------------

static leat_builder builder_of(const leat_sums *s, leat_graph *graph, const leat_node *like) {
  return leat_region_builder(&s->region, s->context->diag, graph, like);
}

// What the loop was to fill with, it may be given by now.
static void find_rows(leat_sums *s, leat_sum_operand *o, const leat_map *reads) {
  leat_node *read = leat_map_get(reads, o->value.node);
  if (read) o->value.node = read;
  o->source = leat_reshape_origin(o->value);
  o->given = leat_sums_is_given(s, o->source);
  if (o->given)
    o->rows = leat_first_rows_of(s->maker, o->source);
  else if (!leat_sums_find_filled(s, o->source, &o->filled))
    leat_vec_push(s->context->scratch, &s->filled, o->source);
}

static uint32_t operand_count(const leat_sum_term *t) {
  return t->of->op == LEAT_OP_matmul ? 2 : 1;
}

static void find_all_rows(leat_sums *s, const leat_map *reads) {
  s->filled.count = 0;
  for (uint32_t i = 0; i < s->terms.count; i++)
    for (uint32_t k = 0; k < operand_count(&s->terms.items[i]); k++)
      find_rows(s, &s->terms.items[i].operands[k], reads);
}

// A sum stays what it is before the loop.
static void add_nothing(const leat_sums *s) {
  leat_rewriter r = leat_rewrite_begin(s->body, s->context->scratch);
  for (uint32_t i = 0; i < s->terms.count; i++) {
    uint32_t result = s->terms.items[i].result;
    s->body->yield->inputs[result] = (leat_value){s->body->params.items[result], 0};
  }
  for (uint32_t i = 0; i < r.count; i++) leat_rewrite_keep(&r, s->body->nodes.items[i]);
  leat_rewrite_finish(&r);
}

static void take_out(leat_sums *s) {
  leat_row_filling filling = {.row = s->row, .count = s->turns};
  leat_region_fill_rows(s->context, s->graph, &s->region, s->filled.items, s->filled.count,
                        &filling);
  add_nothing(s);
  for (uint32_t i = 0; i < s->terms.count; i++)
    for (uint32_t k = 0; k < operand_count(&s->terms.items[i]); k++) {
      leat_sum_operand *o = &s->terms.items[i].operands[k];
      uint32_t first = s->region.carried - s->filled.count;
      if (!o->given) o->rows = (leat_value){s->region.node, first + o->filled};
    }
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

static void put_behind(const leat_sums *s, leat_rewriter *r) {
  leat_value *values = leat_new_array(s->context->scratch, leat_value, s->results);
  for (uint32_t i = 0; i < s->results; i++) values[i] = (leat_value){s->region.node, i};
  for (uint32_t i = 0; i < s->terms.count; i++) {
    const leat_sum_term *t = &s->terms.items[i];
    values[t->result] = add_term(s, values[t->result], t);
  }
  leat_rewrite_outputs(r, s->region.node, values, s->results);
}

void leat_make_sums_behind(leat_graph *graph, const leat_map *chosen, const leat_map *reads,
                           leat_arena *scratch) {
  if (!chosen->count) return;
  leat_rewriter r = leat_rewrite_begin(graph, scratch);
  for (uint32_t i = 0; i < r.count; i++) {
    leat_node *node = graph->nodes.items[i];
    leat_sums *s = leat_map_get(chosen, node);
    leat_rewrite_inputs(&r, node);
    if (s) {
      leat_sums_look_at(s, node);
      s->results = s->region.carried;
      find_all_rows(s, reads);
      take_out(s);
    }
    leat_rewrite_keep(&r, node);
    if (s) put_behind(s, &r);
  }
  leat_rewrite_finish(&r);
}
