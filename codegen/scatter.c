// The scatters: the result begins as x (in x's own memory where `plan` or `fuse` could arrange it,
// else as a copy), then updates are combined with it in the order of the indices. Tiles are runs of
// the elements that an index stands for, so no two tiles touch the same element, all of them where
// that takes no longer than a tile should.
#include "codegen/lower.h"

enum { LEAST_RUN = 4 * LEAT_LANES }; // elements of a tile's run

typedef struct scatter {
  leat_lower *w;
  k_builder *b;
  const leat_node *node;
  const k_buffer *out, *indices, *updates;
  int lanes;                    // of a run; 1 where an index stands for one element
  bool multiplies_words;        // of complex numbers, which otherwise are two elements each
  leat_dim axis;                // its length
  k_value extent, inner, count; // of the axis, behind the axis, of indices
} scatter;

static k_value combined(scatter *s, k_value old, k_value update) {
  switch ((int)s->node->op) {
  case LEAT_OP_scatter_add: return k_add(s->b, old, update);
  case LEAT_OP_scatter_mul: return k_mul(s->b, old, update);
  case LEAT_OP_scatter_min: return k_binary(s->b, K_MIN, old, update);
  case LEAT_OP_scatter_max: return k_binary(s->b, K_MAX, old, update);
  }
  return update;
}

// One complex number, of two words.
static void multiply_words(scatter *s, k_value to, k_value from) {
  k_builder *b = s->b;
  k_value at[2], z[2], w[2];
  for (int i = 0; i < 2; i++) {
    at[i] = k_add(b, k_mul(b, to, k_i64(b, 2)), k_i64(b, i));
    z[i] = k_load(b, s->out, at[i], 1, NULL);
    w[i] = k_load(b, s->updates, k_add(b, k_mul(b, from, k_i64(b, 2)), k_i64(b, i)), 1, NULL);
  }
  k_value re = k_sub(b, k_mul(b, z[0], w[0]), k_mul(b, z[1], w[1]));
  k_value im = k_add(b, k_mul(b, z[0], w[1]), k_mul(b, z[1], w[0]));
  k_store(b, s->out, at[0], re, NULL);
  k_store(b, s->out, at[1], im, NULL);
}

static void update(scatter *s, k_value to, k_value from, k_value mask) {
  k_value old = k_load(s->b, s->out, to, s->lanes, mask);
  k_value update = k_load(s->b, s->updates, from, s->lanes, mask);
  k_store(s->b, s->out, to, combined(s, old, update), mask);
}

static void update_run(scatter *s, k_value to, k_value from, k_value low, k_value high,
                       bool masked) {
  k_builder *b = s->b;
  k_instr *loop = k_loop_begin(b, low, high, s->lanes, NULL, 0);
  k_value e = k_loop_index(loop);
  k_value mask = masked ? leat_lower_mask(s->w, k_sub(b, high, e)) : NULL;
  to = k_add(b, to, e);
  from = k_add(b, from, e);
  if (s->multiplies_words)
    multiply_words(s, to, from);
  else
    update(s, to, from, mask);
  k_loop_end(b, NULL, 0);
}

// Whole vectors, which need no mask, then what is left of the last run.
static void apply_update(scatter *s, k_value outer, k_value low, k_value high, k_value i) {
  k_builder *b = s->b;
  k_value index = k_load(b, s->indices, i, 1, NULL);
  index = leat_index_check(&s->w->l, s->node, index, s->axis);
  k_value to = k_mul(b, k_add(b, k_mul(b, outer, s->extent), index), s->inner);
  k_value from = k_mul(b, k_add(b, k_mul(b, outer, s->count), i), s->inner);
  if (s->lanes == 1 || (s->inner->op == K_CONST && s->inner->imm.i % s->lanes == 0)) {
    update_run(s, to, from, low, high, false);
    return;
  }
  k_value whole = k_binary(b, K_AND, s->inner, k_i64(b, -s->lanes));
  update_run(s, to, from, low, k_binary(b, K_MIN, high, whole), false);
  update_run(s, to, from, k_binary(b, K_MAX, low, whole), high, true);
}

static int64_t run_of(const leat_dim *outer, const leat_dim *inner, double cost) {
  if (!leat_dim_is_const(*outer) || !leat_dim_is_const(*inner) || leat_dim_is(*outer, 0))
    return LEAST_RUN;
  double tiles = cost / LEAT_TILE_NANOSECONDS;
  int64_t runs = (int64_t)(tiles / leat_cost_elements(outer, 1)) + 1;
  int64_t run = (inner->value + runs - 1) / runs;
  return run <= LEAST_RUN ? LEAST_RUN : (run + LEAST_RUN - 1) / LEAST_RUN * LEAST_RUN;
}

static void copy_first(leat_table *table, leat_unit *unit) {
  leat_storage *x = leat_item_operand(unit->members.items[0], 0)->storage;
  leat_storage *read = leat_unit_storage(unit, x);
  if (leat_storage_owner(read) == leat_storage_owner(unit->outputs.items[0].storage)) return;
  leat_launch *copy = leat_new(table->cg->arena, leat_launch);
  copy->kind = LEAT_LAUNCH_COPY;
  leat_vec_push(table->cg->arena, &copy->buffers, unit->outputs.items[0].storage);
  leat_vec_push(table->cg->arena, &copy->buffers, x);
  copy->tiles = leat_dim_const(1);
  copy->work = leat_dim_const((int64_t)leat_cost_copy(&x->type));
  leat_vec_push(table->cg->arena, &unit->launches, copy);
}

void leat_lower_scatter(leat_table *table, leat_unit *unit) {
  const leat_node *node = unit->members.items[0]->node;
  const leat_type *x = leat_value_type(node->inputs[0]);
  const leat_type *indices = leat_value_type(node->inputs[1]);
  int axis = (int)leat_node_attr(node, "axis")->i;
  copy_first(table, unit);
  leat_lower *w = leat_lower_begin_bare(table, unit, leat_op_name(node->op));
  scatter s = {.w = w, .b = &w->builder, .node = node};
  k_builder *b = s.b;
  s.out = leat_lower_buffer(w, unit->outputs.items[0].storage);
  s.indices = leat_lower_buffer(w, leat_item_memory(table, node->inputs[1])->storage);
  s.updates = leat_lower_buffer(w, leat_item_memory(table, node->inputs[2])->storage);
  leat_dim outer_dim = leat_lower_product(w, x->dims, axis);
  leat_dim inner_dim = leat_lower_product(w, x->dims + axis + 1, x->rank - axis - 1);
  s.multiplies_words = k_words(x->dtype) == 2 && node->op == LEAT_OP_scatter_mul;
  int words = s.multiplies_words ? 1 : k_words(x->dtype); // moved and added one by one
  leat_dim both[] = {inner_dim, leat_dim_const(words)};
  inner_dim = leat_lower_product(w, both, 2);
  double cost = leat_unit_estimate(table, unit);
  int64_t size = run_of(&outer_dim, &inner_dim, cost);
  leat_dim runs = leat_lower_ceil_div(w, inner_dim, size);
  s.axis = x->dims[axis];
  s.extent = leat_lower_dim(w, s.axis);
  s.inner = leat_lower_dim(w, inner_dim);
  s.count = leat_lower_dim(w, leat_lower_product(w, indices->dims, indices->rank));
  leat_index outer, run;
  leat_index_divmod(&w->l, (leat_index){.base = k_tile(b)}, leat_lower_dim(w, runs), &outer, &run);
  s.lanes = leat_dim_is(inner_dim, 1) || s.multiplies_words ? 1 : LEAT_LANES;
  k_value low = k_mul(b, run.base, k_i64(b, size));
  k_value high = k_binary(b, K_MIN, k_add(b, low, k_i64(b, size)), s.inner);
  k_instr *loop = k_loop_begin(b, k_i64(b, 0), s.count, 1, NULL, 0);
  apply_update(&s, outer.base, low, high, k_loop_index(loop));
  k_loop_end(b, NULL, 0);
  leat_dim tiles[] = {outer_dim, runs};
  leat_lower_end(w, leat_lower_product(w, tiles, 2), cost);
}
