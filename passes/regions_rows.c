// What a loop's body makes of a row that it reads, made of all rows outside (passes/regions.h).
//
// Element-wise ops, reshapes, transposes and products with what does not vary do the same with each
// row: what they give for one is a row of what they give for all, to the bit. An element of a
// product sums over one row, in an order that neither depends on how many rows there are nor on
// which operand they are: fma(a, b, c) is fma(b, a, c). BLIS promises only the first.
//
// A row is read by `gather`, along any axis. Which one it is in which turn does not matter: what
// reads several tables at the same index reads one row. What is made outside has the rows along an
// axis, too: where they were read, until an op needs them to be the first.
#include "passes/regions.h"

typedef struct lifted {
  leat_value value; // outside; {NULL}: not yet
  int32_t axis;     // of the rows; -1: it is the same in each turn
} lifted;

struct leat_row_maker {
  const leat_pass_context *context;
  leat_graph *graph; // around the loop
  leat_region_node region;
  leat_node **nodes; // of the body, as it was
  uint32_t count;
  // By id, of those nodes:
  leat_node **reads; // NULL: it is no row
  bool *same;        // nothing in it varies
  lifted *made;
};

// -- What is made of rows ------------------------------------------------------------------------

static bool is_row_read(const leat_row_maker *m, const leat_node *node) {
  return node->op == LEAT_OP_gather && !leat_value_type(node->inputs[1])->rank &&
         leat_region_captured(&m->region, node->inputs[0]).node && !leat_region_is_bound(node);
}

leat_dim leat_row_count(const leat_node *read) {
  return leat_value_type(read->inputs[0])->dims[leat_node_attr(read, "axis")->i];
}

static bool is_same_row(const leat_node *a, const leat_node *b) {
  return leat_value_same(a->inputs[1], b->inputs[1]) &&
         leat_dim_equal(leat_row_count(a), leat_row_count(b));
}

static bool is_flag(const leat_node *node, const char *name) {
  return leat_node_attr(node, name)->i;
}

static bool is_product_of_rows(const leat_row_maker *m, const leat_node *node) {
  bool left = m->reads[node->inputs[0].node->id], right = m->reads[node->inputs[1].node->id];
  bool plain = !right && !is_flag(node, "transpose_a");
  if (left && right) return false;
  if (leat_value_type(node->inputs[!right])->rank != 2) return false;
  if (plain) return true;
  return node->outputs[0].rank == 2 && !*leat_node_attr(node, "family")->string;
}

// That does with all rows what it does with each, given that one or all its inputs are of one.
static bool does_each(const leat_row_maker *m, const leat_node *node) {
  if (node->op == LEAT_OP_reshape || node->op == LEAT_OP_transpose) return true;
  if (node->op == LEAT_OP_matmul) return is_product_of_rows(m, node);
  const leat_op_info *info = node->info;
  bool fits = node->input_count == 1 || info->flags & LEAT_FLAG_BROADCASTS;
  return info->kind == LEAT_KIND_ELEMENT && info->reads == LEAT_READS_SAME && fits;
}

static double rows_bytes(const leat_node *read, const leat_type *row) {
  leat_type all = leat_type_rows(row, leat_row_count(read));
  return leat_cost_bytes(&all);
}

// What all inputs that vary are rows of; NULL: there is no such read, or one varies otherwise.
static leat_node *read_of_inputs(const leat_row_maker *m, const leat_node *node) {
  leat_node *read = NULL;
  for (uint32_t i = 0; i < node->input_count; i++) {
    uint32_t id = node->inputs[i].node->id;
    if (m->same[id]) continue;
    if (!m->reads[id] || (read && !is_same_row(read, m->reads[id]))) return NULL;
    if (!read) read = m->reads[id];
  }
  return read;
}

// What costs next to nothing, and so was left in the loop, is made again outside.
static bool is_same(const leat_row_maker *m, leat_node *node) {
  if (node->op == LEAT_OP_parameter)
    return leat_region_captured(&m->region, (leat_value){node, 0}).node;
  bool cheap = node->info->kind == LEAT_KIND_ELEMENT || node->op == LEAT_OP_const;
  bool same = cheap && leat_region_may_move(m->context->diag, node);
  for (uint32_t i = 0; i < node->input_count; i++) same &= m->same[node->inputs[i].node->id];
  return same;
}

static leat_node *find_read(const leat_row_maker *m, leat_node *node) {
  if (is_row_read(m, node)) return node->outputs[0].rank < LEAT_MAX_RANK ? node : NULL;
  if (!node->input_count || !leat_region_may_move(m->context->diag, node)) return NULL;
  leat_node *read = read_of_inputs(m, node);
  bool made = read && does_each(m, node) && node->outputs[0].rank < LEAT_MAX_RANK &&
              rows_bytes(read, &node->outputs[0]) <= LEAT_MOST_ROWS_BYTES;
  return made ? read : NULL;
}

leat_row_maker *leat_row_maker_create(const leat_pass_context *context, leat_graph *graph,
                                      leat_node *loop) {
  leat_arena *scratch = context->scratch;
  leat_row_maker *m = leat_new(scratch, leat_row_maker);
  *m = (leat_row_maker){.context = context, .graph = graph, .region = leat_region_node_of(loop)};
  m->nodes = m->region.bodies[1]->nodes.items;
  m->count = m->region.bodies[1]->nodes.count;
  m->reads = leat_new_array(scratch, leat_node *, m->count);
  m->same = leat_new_array(scratch, bool, m->count);
  m->made = leat_new_array(scratch, lifted, m->count);
  for (uint32_t i = 0; i < m->count; i++) {
    m->same[i] = is_same(m, m->nodes[i]);
    if (!m->same[i]) m->reads[i] = find_read(m, m->nodes[i]);
  }
  return m;
}

leat_node *leat_row_read(const leat_row_maker *m, leat_value value) {
  return m->reads[value.node->id];
}

// -- Outside -------------------------------------------------------------------------------------

static leat_builder builder_of(const leat_row_maker *m, const leat_node *like) {
  return leat_region_builder(&m->region, m->context->diag, m->graph, like);
}

static lifted lift_parameter(const leat_row_maker *m, leat_node *param) {
  return (lifted){leat_region_captured(&m->region, (leat_value){param, 0}), -1};
}

static lifted lift_read(const leat_row_maker *m, const leat_node *read) {
  leat_value table = leat_region_captured(&m->region, read->inputs[0]);
  return (lifted){table, (int32_t)leat_node_attr(read, "axis")->i};
}

static lifted permute(const leat_row_maker *m, const leat_node *like, lifted rows,
                      const int64_t *order, int32_t axis) {
  leat_builder builder = builder_of(m, like);
  int32_t rank = leat_value_type(rows.value)->rank;
  leat_attr attr = {.count = (uint32_t)rank};
  attr.ints = leat_arena_memdup(m->graph->arena, order, (size_t)rank * sizeof *order);
  rows.value = leat_build(&builder, like->name, LEAT_OP_transpose, &rows.value, 1, &attr);
  rows.axis = axis;
  return rows;
}

// The axis of all rows that is axis k of one.
static int64_t axis_of_rows(lifted rows, int64_t k) {
  return k < rows.axis ? k : k + 1;
}

// The rows along axis 0, their other axes in that order; NULL: as they are.
static lifted rows_first(const leat_row_maker *m, const leat_node *like, lifted rows,
                         const int64_t *order) {
  int64_t all[LEAT_MAX_RANK] = {rows.axis};
  if (rows.axis == 0 && !order) return rows;
  for (int32_t k = 0; k + 1 < leat_value_type(rows.value)->rank; k++)
    all[k + 1] = axis_of_rows(rows, order ? order[k] : k);
  return permute(m, like, rows, all, 0);
}

static lifted lift_reshape(const leat_row_maker *m, const leat_node *node, lifted rows) {
  leat_builder builder = builder_of(m, node);
  rows = rows_first(m, node, rows, NULL);
  leat_type all = leat_type_rows(&node->outputs[0], leat_value_type(rows.value)->dims[0]);
  rows.value = leat_build_reshape(&builder, node->name, rows.value, &all);
  return rows;
}

// With an axis of 1 where the rows have theirs, along which it is broadcast.
static leat_value beside_rows(const leat_row_maker *m, const leat_node *node, leat_value value,
                              int32_t axis) {
  leat_builder builder = builder_of(m, node);
  leat_type type = *leat_value_type(value);
  if (!type.rank) return value;
  for (int32_t k = type.rank++; k > axis; k--) type.dims[k] = type.dims[k - 1];
  type.dims[axis] = leat_dim_const(1);
  return leat_build_reshape(&builder, node->name, value, &type);
}

static lifted lift_elements(const leat_row_maker *m, const leat_node *node) {
  leat_builder builder = builder_of(m, node);
  leat_value *inputs = leat_new_array(m->graph->arena, leat_value, node->input_count);
  int32_t axis = -1;
  for (uint32_t i = 0; i < node->input_count; i++) {
    int32_t other = m->made[node->inputs[i].node->id].axis;
    if (other >= 0) axis = axis < 0 || axis == other ? other : 0;
  }
  for (uint32_t i = 0; i < node->input_count; i++) {
    lifted input = m->made[node->inputs[i].node->id];
    if (input.axis >= 0 && input.axis != axis) input = rows_first(m, node, input, NULL);
    inputs[i] = input.value;
    if (input.axis < 0) inputs[i] = beside_rows(m, node, input.value, axis);
  }
  leat_value all =
      leat_build(&builder, node->name, node->op, inputs, node->input_count, node->attrs);
  return (lifted){all, axis};
}

// Of matrices: each is transposed.
static lifted turn(const leat_row_maker *m, const leat_node *like, lifted rows) {
  int64_t order[LEAT_MAX_RANK] = {0, 1, 2}, first = axis_of_rows(rows, 0);
  int64_t last = axis_of_rows(rows, 1);
  order[first] = last;
  order[last] = first;
  return permute(m, like, rows, order, rows.axis);
}

// One product of all rows, which become the left operand, as a matrix.
static lifted multiply(const leat_row_maker *m, const leat_node *node, lifted rows,
                       leat_value weight, bool weight_turned) {
  leat_builder builder = builder_of(m, node);
  leat_type whole = *leat_value_type(rows.value), matrix = {.rank = 2};
  int32_t last = whole.rank - 1;
  matrix.dims[0] = leat_dim_const(1);
  matrix.dims[1] = whole.dims[last];
  for (int32_t k = 0; k < last; k++)
    if (!leat_dim_mul(m->graph->dims, matrix.dims[0], whole.dims[k], &matrix.dims[0]))
      return (lifted){0};
  leat_attr attrs[] = {{.i = false}, {.i = weight_turned}, *leat_node_attr(node, "family")};
  leat_value operands[] = {leat_build_reshape(&builder, node->name, rows.value, &matrix), weight};
  leat_value product = leat_build(&builder, node->name, LEAT_OP_matmul, operands, 2, attrs);
  if (!product.node) return (lifted){0};
  whole.dims[last] = leat_value_type(product)->dims[1];
  return (lifted){leat_build_reshape(&builder, node->name, product, &whole), rows.axis};
}

// A product from the left is the transpose of one from the right.
static lifted lift_product(const leat_row_maker *m, const leat_node *node) {
  bool right = m->reads[node->inputs[1].node->id];
  bool turned[] = {is_flag(node, "transpose_a"), is_flag(node, "transpose_b")};
  lifted rows = m->made[node->inputs[right].node->id];
  leat_value weight = m->made[node->inputs[!right].node->id].value;
  if (turned[right] != right) rows = turn(m, node, rows);
  if (rows.axis + 1 == leat_value_type(rows.value)->rank) rows = rows_first(m, node, rows, NULL);
  rows = multiply(m, node, rows, weight, turned[!right] != right);
  return right && rows.value.node ? turn(m, node, rows) : rows;
}

static lifted lift_same(const leat_row_maker *m, const leat_node *node) {
  leat_builder builder = builder_of(m, node);
  leat_value *inputs = leat_new_array(m->graph->arena, leat_value, node->input_count);
  for (uint32_t i = 0; i < node->input_count; i++)
    inputs[i] = m->made[node->inputs[i].node->id].value;
  leat_value copy =
      leat_build(&builder, node->name, node->op, inputs, node->input_count, node->attrs);
  return (lifted){copy, -1};
}

static lifted lift(const leat_row_maker *m, leat_node *node) {
  if (node->op == LEAT_OP_parameter) return lift_parameter(m, node);
  if (m->same[node->id]) return lift_same(m, node);
  if (m->reads[node->id] == node) return lift_read(m, node);
  if (node->op == LEAT_OP_matmul) return lift_product(m, node);
  if (node->op != LEAT_OP_reshape && node->op != LEAT_OP_transpose) return lift_elements(m, node);
  lifted rows = m->made[node->inputs[0].node->id];
  if (node->op == LEAT_OP_reshape) return lift_reshape(m, node, rows);
  return rows_first(m, node, rows, leat_node_attr(node, "perm")->ints);
}

leat_value leat_rows_of(leat_row_maker *m, leat_value value, int32_t *axis) {
  uint32_t end = value.node->id + 1;
  bool *needed = leat_new_array(m->context->scratch, bool, end);
  needed[value.node->id] = true;
  for (uint32_t i = end; i-- > 0;) {
    const leat_node *node = m->nodes[i];
    needed[i] &= !m->made[i].value.node;
    bool read = m->reads[i] == node;
    for (uint32_t k = 0; needed[i] && !read && k < node->input_count; k++)
      needed[node->inputs[k].node->id] = true;
  }
  for (uint32_t i = 0; i < end; i++) {
    if (!needed[i]) continue;
    m->made[i] = lift(m, m->nodes[i]);
    if (!m->made[i].value.node) return (leat_value){0};
  }
  *axis = m->made[value.node->id].axis;
  return m->made[value.node->id].value;
}

leat_value leat_first_rows_of(leat_row_maker *m, leat_value value) {
  lifted rows = {0};
  rows.value = leat_rows_of(m, value, &rows.axis);
  return rows.value.node ? rows_first(m, value.node, rows, NULL).value : rows.value;
}
