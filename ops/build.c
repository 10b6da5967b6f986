// Adding typed nodes. All that can go wrong is found on a trial node first, whose inputs stand for
// the broadcasts that are still to be made; only then is anything added.
#include "ops/build.h"

#include "base/tensor.h"
#include "ops/known.h"
#include "ops/ref.h"
#include "ops/region.h"
#include "ops/shape.h"

#include <string.h>

enum { MAX_FITTED = 3 };                            // inputs of an op that broadcasts
static const int64_t MOST_BYTES = (int64_t)1 << 46; // of one tensor: what processors address

static const leat_value none = {NULL, 0};

static bool report_arity(leat_builder *b, const leat_op_info *info, uint32_t count) {
  const char *most = info->max_inputs < 0 ? " or more"
                     : info->max_inputs == info->min_inputs
                         ? ""
                         : leat_arena_printf(b->graph->arena, " to %d", info->max_inputs);
  leat_error_at(b->diag, b->span, "%s takes %d%s input%s, not %u", info->name, info->min_inputs,
                most, info->min_inputs == 1 && !*most ? "" : "s", count);
  return false;
}

static bool check_arity(leat_builder *b, leat_op op, uint32_t count) {
  const leat_op_info *info = leat_op_info_of(op);
  bool few = count < (uint32_t)info->min_inputs;
  bool many = info->max_inputs >= 0 && count > (uint32_t)info->max_inputs;
  return few || many ? report_arity(b, info, count) : true;
}

// -- Broadcasting --------------------------------------------------------------------------------

// One axis: equal dims, or a literal 1 that gives way.
static bool broadcast_dim(leat_builder *builder, leat_dim a, leat_dim b, leat_dim_pairs *checks,
                          leat_dim *out) {
  *out = leat_dim_is(a, 1) ? b : a;
  if (leat_dim_equal(a, b) || leat_dim_is(a, 1) || leat_dim_is(b, 1)) return true;
  if (!checks || !leat_dims_may_be_equal(builder->graph, a, b)) return false;
  leat_vec_push(builder->graph->arena, checks, (leat_dim_pair){a, b});
  return true;
}

// Axes [0, rank - kept) broadcast; the last `kept` are left as each has them.
static bool broadcast_leading(leat_builder *builder, const leat_type *a, const leat_type *b,
                              int32_t kept, leat_dim_pairs *checks, leat_type *out_a,
                              leat_type *out_b) {
  int32_t rank = a->rank > b->rank ? a->rank : b->rank;
  leat_type x = {.dtype = a->dtype, .rank = rank}, y = {.dtype = b->dtype, .rank = rank};
  for (int32_t axis = 0; axis < rank; axis++) {
    int32_t i = axis - (rank - a->rank), j = axis - (rank - b->rank);
    x.dims[axis] = i < 0 ? leat_dim_const(1) : a->dims[i];
    y.dims[axis] = j < 0 ? leat_dim_const(1) : b->dims[j];
    leat_dim both;
    if (axis >= rank - kept) continue;
    if (!broadcast_dim(builder, x.dims[axis], y.dims[axis], checks, &both)) {
      leat_arena *arena = builder->graph->arena;
      leat_error_at(builder->diag, builder->span, "%s and %s do not broadcast: axis %d: %s",
                    leat_type_text(arena, a), leat_type_text(arena, b), axis,
                    leat_dims_clash(builder->graph, x.dims[axis], y.dims[axis]));
      return false;
    }
    x.dims[axis] = y.dims[axis] = both;
  }
  *out_a = x;
  *out_b = y;
  return true;
}

bool leat_broadcast_shape(leat_builder *builder, const leat_type *a, const leat_type *b,
                          leat_type *out) {
  leat_type other;
  leat_dim_pairs checks = {0};
  return broadcast_leading(builder, a, b, 0, &checks, out, &other);
}

// The types that the inputs must be broadcast to.
static bool fit_inputs(leat_builder *builder, leat_op op, const leat_value *inputs, uint32_t count,
                       leat_dim_pairs *checks, leat_type *types) {
  for (uint32_t i = 0; i < count; i++) types[i] = *leat_value_type(inputs[i]);
  if (op == LEAT_OP_matmul) {
    return types[1].rank == 2 || // that serves every batch
           broadcast_leading(builder, &types[0], &types[1], 2, checks, &types[0], &types[1]);
  }
  leat_type shape = types[0], other;
  for (uint32_t i = 1; i < count; i++)
    if (!broadcast_leading(builder, &shape, &types[i], 0, checks, &shape, &other)) return false;
  for (uint32_t i = 0; i < count; i++) {
    leat_dtype dtype = types[i].dtype;
    types[i] = shape;
    types[i].dtype = dtype;
  }
  return true;
}

// -- Building ------------------------------------------------------------------------------------

static bool check_dtypes(leat_shape_context *context) {
  static const char *const class_words[] = {
      [LEAT_CLASS_ALL] = "",
      [LEAT_CLASS_ANY_DTYPE] = "anything but str",
      [LEAT_CLASS_NUMERIC] = "numbers",
      [LEAT_CLASS_ORDERED] = "bool, real numbers and strings",
      [LEAT_CLASS_REAL] = "real numbers",
      [LEAT_CLASS_INEXACT] = "floats and complex numbers",
      [LEAT_CLASS_FLOAT] = "floats",
      [LEAT_CLASS_COMPLEX] = "complex numbers",
      [LEAT_CLASS_INTEGER] = "integers",
      [LEAT_CLASS_BOOLEAN] = "bool",
      [LEAT_CLASS_STRING] = "str",
  };
  const leat_op_info *info = context->node->info;
  for (uint32_t i = 0; i < context->node->input_count; i++) {
    leat_dtype dtype = leat_shape_input(context, i)->dtype;
    if (leat_dtype_in_class(dtype, info->dtypes)) continue;
    bool mixed = false; // x / n: an integer beside a float
    for (uint32_t k = 0; k < context->node->input_count && info->dtypes == LEAT_CLASS_INEXACT; k++)
      mixed = mixed || (dtype != LEAT_str &&
                        leat_dtype_in_class(leat_shape_input(context, k)->dtype, info->dtypes));
    bool truth = dtype == LEAT_bool && info->dtypes != LEAT_CLASS_STRING;
    return leat_shape_fail(context, "%s takes %s, not %s%s", info->name, class_words[info->dtypes],
                           leat_dtype_name(dtype),
                           truth   ? "; `cast` makes numbers of it"
                           : mixed ? "; only `cast` converts"
                           : info->dtypes == LEAT_CLASS_INTEGER
                               ? leat_quotient_hint(context->node->inputs[i])
                               : "");
  }
  return true;
}

// What no memory holds is refused here, so that nobody behind need fear an overflow.
static bool check_sizes(leat_shape_context *context) {
  for (uint32_t i = 0; i < context->node->output_count; i++) {
    const leat_type *type = &context->outputs[i];
    int64_t bytes = (int64_t)leat_dtype_size(type->dtype);
    for (int32_t axis = 0; axis < type->rank; axis++)
      if (leat_dim_is(type->dims[axis], 0)) bytes = 0;
    for (int32_t axis = 0; axis < type->rank && bytes; axis++)
      if (leat_dim_is_const(type->dims[axis]) &&
          (__builtin_mul_overflow(bytes, type->dims[axis].value, &bytes) || bytes > MOST_BYTES))
        return leat_shape_fail(context, "the result, %s, is too large for any memory",
                               leat_type_text(context->graph->arena, type));
  }
  return true;
}

static bool infer(leat_shape_context *context) {
  return check_dtypes(context) && leat_shape_of(context->node->op)(context) && check_sizes(context);
}

bool leat_infer_node(leat_graph *graph, leat_diag *diag, leat_node *node) {
  leat_type *outputs = leat_new_array(graph->arena, leat_type, node->output_count);
  leat_shape_context context = {.graph = graph, .diag = diag, .node = node, .outputs = outputs};
  if (!infer(&context)) return false;
  node->outputs = outputs;
  return true;
}

static bool has_dim(const leat_value *inputs, uint32_t count, leat_dim dim) {
  for (uint32_t i = 0; i < count; i++) {
    const leat_type *type = leat_value_type(inputs[i]);
    for (int32_t axis = 0; axis < type->rank; axis++)
      if (leat_dim_equal(type->dims[axis], dim)) return true;
  }
  return false;
}

// Of what the node's inputs do not have.
static bool claim_divisors(leat_shape_context *context) {
  const leat_node *node = context->node;
  bool ok = true, structure = node->info->kind == LEAT_KIND_STRUCTURE;
  for (uint32_t i = 0; ok && !structure && i < node->output_count; i++)
    for (int32_t axis = 0; ok && axis < node->outputs[i].rank; axis++) {
      leat_dim dim = node->outputs[i].dims[axis];
      ok = has_dim(node->inputs, node->input_count, dim) || leat_shape_claim_divisors(context, dim);
    }
  for (int i = 0; ok && i < node->info->attr_count; i++)
    if (node->info->attrs[i].kind == LEAT_ATTR_DIM)
      ok = leat_shape_claim_divisors(context, node->attrs[i].dim);
  return ok;
}

// No axis has less than no elements; of one that is an input's, the input says so.
static bool claim_sizes(leat_shape_context *context) {
  const leat_node *node = context->node;
  leat_arena *arena = context->graph->arena;
  for (uint32_t i = 0; node->info->kind != LEAT_KIND_STRUCTURE && i < node->output_count; i++)
    for (int32_t axis = 0; axis < context->outputs[i].rank; axis++) {
      leat_dim dim = context->outputs[i].dims[axis];
      if (leat_dim_bounds(dim).low >= 0 || has_dim(node->inputs, node->input_count, dim)) continue;
      const char *says = leat_arena_printf(arena, "axis %d would have %s = %%lld elements", axis,
                                           leat_dim_text(arena, dim));
      leat_claim claim = {.room = dim, .says = says, .count = 1, .values = {dim}};
      if (!leat_shape_claim(context, &claim)) return false;
    }
  return true;
}

bool leat_node_may_claim(const leat_node *node) {
  return leat_narrowed_dim(node) || leat_node_is_open(node);
}

bool leat_node_claims(leat_graph *graph, leat_diag *diag, const leat_node *node,
                      leat_claims *claims) {
  leat_shape_context context = {.graph = graph, .diag = diag, .node = node, .claims = claims};
  context.outputs = leat_new_array(graph->arena, leat_type, node->output_count);
  return claim_divisors(&context) && infer(&context) && claim_sizes(&context);
}

static leat_value append(leat_builder *builder, const char *name, const leat_node *trial,
                         const leat_type *outputs) {
  leat_graph *graph = builder->graph;
  for (uint32_t i = 0; i < trial->input_count; i++)
    trial->inputs[i] = leat_region_inside(graph, trial->inputs[i]);
  leat_node *node =
      leat_graph_append_typed(graph, trial->op, leat_graph_unique_name(graph, name), trial->inputs,
                              trial->input_count, trial->attrs, outputs);
  node->device = builder->device;
  node->colocate = builder->colocate;
  node->entry = builder->entry;
  node->span = builder->span;
  node->place = builder->place;
  leat_node_list binders = {0};
  leat_node_find_binders(graph, node, graph->arena, &binders);
  for (uint32_t i = 0; i < binders.count; i++) leat_node_add_control(graph, node, binders.items[i]);
  if (builder->infers) leat_infer_elements(graph, node);
  if (node->entry && node->effect && !leat_graph_is_body(graph))
    leat_vec_push(graph->arena, &node->entry->effects, node);
  return (leat_value){node, 0};
}

// What is made for another node is an unbound node: its name is the op's, beside that one's.
static const char *name_beside(leat_builder *builder, const char *beside, leat_op op) {
  const char *slash = strrchr(beside, '/');
  leat_strings *strings = builder->graph->strings;
  const char *folder = leat_intern_n(strings, beside, slash ? (size_t)(slash - beside) : 0);
  return leat_intern_path(strings, folder, leat_op_name(op));
}

// The value with another shape, by an op whose one attribute is that.
static leat_value with_shape(leat_builder *builder, const char *beside, leat_op op,
                             leat_value value, const leat_type *shape) {
  const leat_type *type = leat_value_type(value);
  leat_type wanted = *shape;
  wanted.dtype = type->dtype;
  if (leat_type_equal(type, &wanted)) return value;
  leat_attr attr = {0};
  attr.count = (uint32_t)shape->rank;
  attr.dims = leat_arena_memdup(builder->graph->arena, shape->dims,
                                (size_t)shape->rank * sizeof *shape->dims);
  return leat_build(builder, name_beside(builder, beside, op), op, &value, 1, &attr);
}

leat_value leat_build_broadcast(leat_builder *builder, leat_value value, const leat_type *shape) {
  return value.node ? with_shape(builder, value.node->name, LEAT_OP_broadcast, value, shape) : none;
}

leat_value leat_build_reshape(leat_builder *builder, const char *name, leat_value value,
                              const leat_type *shape) {
  leat_attr attr = {.count = (uint32_t)shape->rank};
  attr.dims = leat_arena_memdup(builder->graph->arena, shape->dims, sizeof shape->dims);
  return value.node ? leat_build(builder, name, LEAT_OP_reshape, &value, 1, &attr) : none;
}

leat_value leat_build_zeros(leat_builder *builder, const char *name, const leat_type *type) {
  uint64_t nothing[2] = {0};
  leat_tensor zero = {.dtype = type->dtype, .data = nothing};
  return leat_build_broadcast(builder, leat_build_const(builder, name, &zero), type);
}

leat_value leat_build_set_row(leat_builder *builder, const char *name, leat_value rows,
                              leat_value at, leat_value row) {
  leat_dim once = leat_dim_const(1);
  leat_type index = leat_type_rows(leat_value_type(at), once), one = *leat_value_type(rows);
  leat_attr axis = {.i = 0};
  leat_value inputs[] = {rows, none, none};
  one.dims[0] = once;
  inputs[1] = leat_build_reshape(builder, name, at, &index);
  inputs[2] = leat_build_reshape(builder, name, row, &one);
  if (!inputs[1].node || !inputs[2].node) return none;
  return leat_build(builder, name, LEAT_OP_scatter_set, inputs, 3, &axis);
}

leat_value leat_build_append_row(leat_builder *builder, const char *name, leat_value rows,
                                 leat_value row) {
  leat_type one = *leat_value_type(rows);
  leat_attr axis = {.i = 0};
  one.dims[0] = leat_dim_const(1);
  leat_value inputs[] = {rows, leat_build_reshape(builder, name, row, &one)};
  return inputs[1].node ? leat_build(builder, name, LEAT_OP_concat, inputs, 2, &axis) : none;
}

leat_value leat_build_ensure(leat_builder *builder, leat_value value, const leat_type *shape) {
  if (!value.node) return none;
  return with_shape(builder, value.node->name, LEAT_OP_ensure_shape, value, shape);
}

// -- Checks while running -------------------------------------------------------------------------

static void see_anonymous(void *context, const leat_atom *atom) {
  if (atom->kind == LEAT_ATOM_ANONYMOUS) *(bool *)context = true;
}

// How late a dim is known.
static int lateness(leat_dim dim) {
  bool anonymous = false;
  leat_dim_visit(dim, see_anonymous, &anonymous);
  return leat_dim_is_const(dim) ? 0 : anonymous ? 2 : 1;
}

// What a dim becomes: of each pair, a becomes b.
static leat_dim renamed(const leat_dim_pairs *pairs, leat_dim dim) {
  for (uint32_t i = 0; i < pairs->count; i++)
    if (leat_dim_equal(pairs->items[i].a, dim)) return pairs->items[i].b;
  return dim;
}

// Of dims that must be equal, what is known later becomes what is known sooner; but one that an
// attribute asks for stays. What became another in one pair is that in the next.
static leat_dim_pairs renamings(leat_builder *builder, const leat_dim_pairs *checks,
                                const leat_value *given, uint32_t count) {
  leat_dim_pairs pairs = {0};
  for (uint32_t c = 0; c < checks->count; c++) {
    leat_dim a = renamed(&pairs, checks->items[c].a), b = renamed(&pairs, checks->items[c].b);
    bool asked = !has_dim(given, count, b);
    bool later = lateness(b) < lateness(a) && has_dim(given, count, a);
    leat_dim_pair pair = asked || later ? (leat_dim_pair){a, b} : (leat_dim_pair){b, a};
    if (leat_dim_equal(a, b)) continue;
    for (uint32_t i = 0; i < pairs.count; i++)
      if (leat_dim_equal(pairs.items[i].b, pair.a)) pairs.items[i].b = pair.b;
    leat_vec_push(builder->graph->arena, &pairs, pair);
  }
  return pairs;
}

// The inputs with dims that are equal, by checks. A merge takes what is next as it is itself.
static bool ensure_equal(leat_builder *builder, const char *beside, leat_op op,
                         const leat_dim_pairs *checks, const leat_value *given, leat_value *inputs,
                         uint32_t count) {
  if (op == LEAT_OP_next_iteration) {
    inputs[0] = leat_build_ensure(builder, given[0], leat_value_type(given[1]));
    inputs[1] = given[1];
    return inputs[0].node;
  }
  leat_dim_pairs pairs = renamings(builder, checks, given, count);
  for (uint32_t i = 0; i < count; i++) {
    leat_type type = *leat_value_type(given[i]);
    for (int32_t axis = 0; axis < type.rank; axis++)
      type.dims[axis] = renamed(&pairs, type.dims[axis]);
    inputs[i] = with_shape(builder, beside, LEAT_OP_ensure_shape, given[i], &type);
    if (!inputs[i].node) return false;
  }
  return true;
}

// -- Nodes ----------------------------------------------------------------------------------------

static bool is_fitted(leat_op op) {
  return leat_op_info_of(op)->flags & LEAT_FLAG_BROADCASTS || op == LEAT_OP_matmul;
}

// Infers the node's outputs from what its inputs will be; `types`: of fitted inputs. With `checks`,
// dims that only a check can find equal are listed there.
static bool try(leat_builder *builder, leat_node *trial, const leat_value *inputs,
                leat_dim_pairs *checks, leat_type *types, leat_type *outputs) {
  leat_node stand_ins[MAX_FITTED];
  uint32_t count = trial->input_count;
  bool fitted = is_fitted(trial->op);
  if (count) memcpy(trial->inputs, inputs, count * sizeof *inputs);
  if (fitted && !fit_inputs(builder, trial->op, inputs, count, checks, types)) return false;
  for (uint32_t i = 0; fitted && i < count; i++) {
    stand_ins[i] = *inputs[i].node;
    stand_ins[i].outputs = &types[i];
    trial->inputs[i] = (leat_value){&stand_ins[i], 0};
  }
  leat_shape_context context = {builder->graph, builder->diag, trial, outputs, checks, NULL};
  bool typed = infer(&context);
  if (count) memcpy(trial->inputs, inputs, count * sizeof *inputs);
  return typed;
}

// A reshape of which only a check can tell that it keeps all elements: the check is that of a row
// of them.
static leat_value reshape_checked(leat_builder *builder, const char *name, leat_value value,
                                  const leat_type *shape, leat_dim_pair elements) {
  leat_type row = {.dtype = shape->dtype, .rank = 1, .dims = {elements.a}};
  value = with_shape(builder, name, LEAT_OP_reshape, value, &row);
  row.dims[0] = elements.b;
  if (value.node) value = with_shape(builder, name, LEAT_OP_ensure_shape, value, &row);
  return leat_build_reshape(builder, name, value, shape);
}

static bool has_vector(leat_op op, const leat_value *inputs) { // or a scalar
  return op == LEAT_OP_matmul &&
         (leat_value_type(inputs[0])->rank < 2 || leat_value_type(inputs[1])->rank < 2);
}

// What a product of matrices would refuse is said of the vectors, before they become matrices.
static bool check_vectors(leat_builder *builder, const leat_value *inputs, const leat_attr *attrs) {
  leat_node trial = {.attrs = attrs, .span = builder->span};
  leat_node_set_op(&trial, LEAT_OP_matmul);
  leat_dim_pairs checked_later = {0};
  leat_shape_context context = {
      .graph = builder->graph, .diag = builder->diag, .node = &trial, .checks = &checked_later};
  const leat_type *a = leat_value_type(inputs[0]), *b = leat_value_type(inputs[1]);
  trial.inputs = leat_arena_memdup(builder->graph->arena, inputs, 2 * sizeof *inputs);
  trial.input_count = 2;
  if (!check_dtypes(&context) || !leat_shape_same_dtype(&context, 0, 1)) return false;
  if (!a->rank || !b->rank) return leat_shape_fail(&context, "a scalar has no axis to contract");
  int32_t left = a->rank == 1 ? 0 : a->rank - (attrs[0].i ? 2 : 1);
  int32_t right = b->rank == 1 ? 0 : b->rank - (attrs[1].i ? 1 : 2);
  return leat_shape_dims_equal(&context, a->dims[left], b->dims[right],
                               "axis %d of the first and axis %d of the second", left, right);
}

// As NumPy has it: a vector on the left is a row, one on the right a column, and that axis of 1 is
// not in the result.
static leat_value build_with_vectors(leat_builder *builder, const char *name,
                                     const leat_value *inputs, const leat_attr *attrs) {
  leat_value matrices[2];
  if (!check_vectors(builder, inputs, attrs)) return none;
  size_t count = (size_t)leat_op_info_of(LEAT_OP_matmul)->attr_count;
  leat_attr *flags = leat_arena_memdup(builder->graph->arena, attrs, count * sizeof *attrs);
  const char *reshape = name_beside(builder, name, LEAT_OP_reshape);
  bool vector[2];
  for (int i = 0; i < 2; i++) {
    leat_type type = *leat_value_type(inputs[i]);
    vector[i] = type.rank == 1;
    matrices[i] = inputs[i];
    if (!vector[i]) continue;
    type.rank = 2;
    type.dims[1 - i] = type.dims[0];
    type.dims[i] = leat_dim_const(1);
    flags[i].i = 0; // transpose_a, transpose_b
    matrices[i] = leat_build_reshape(builder, reshape, inputs[i], &type);
  }
  const char *matmul = name_beside(builder, name, LEAT_OP_matmul);
  leat_value product = leat_build(builder, matmul, LEAT_OP_matmul, matrices, 2, flags);
  if (!product.node) return none;
  leat_type type = *leat_value_type(product);
  if (vector[0] && !vector[1]) type.dims[type.rank - 2] = type.dims[type.rank - 1];
  type.rank -= vector[0] + vector[1];
  return leat_build_reshape(builder, name, product, &type);
}

static bool is_comparison(leat_op op) {
  return op == LEAT_OP_equal || op == LEAT_OP_not_equal || op == LEAT_OP_less ||
         op == LEAT_OP_less_equal || op == LEAT_OP_greater || op == LEAT_OP_greater_equal;
}

static bool has_strings(leat_op op, const leat_value *inputs) {
  return (op == LEAT_OP_add || is_comparison(op)) &&
         leat_value_type(inputs[0])->dtype == LEAT_str &&
         leat_value_type(inputs[1])->dtype == LEAT_str;
}

// a + b appends; a < b is str_compare(a, b) < 0.
static leat_value build_with_strings(leat_builder *builder, const char *name, leat_op op,
                                     const leat_value *inputs) {
  if (op == LEAT_OP_add) return leat_build(builder, name, LEAT_OP_str_concat, inputs, 2, NULL);
  const char *compare = name_beside(builder, name, LEAT_OP_str_compare);
  leat_value both[] = {leat_build(builder, compare, LEAT_OP_str_compare, inputs, 2, NULL), none};
  if (!both[0].node) return none;
  const char *zero = name_beside(builder, name, LEAT_OP_const);
  both[1] = leat_build_scalar_i64(builder, zero, LEAT_i32, 0);
  return leat_build(builder, name, op, both, 2, NULL);
}

leat_value leat_build(leat_builder *builder, const char *name, leat_op op, const leat_value *inputs,
                      uint32_t input_count, const leat_attr *attrs) {
  for (uint32_t i = 0; i < input_count; i++)
    if (!inputs[i].node) return none; // reported where it was to be made
  if (!check_arity(builder, op, input_count)) return none;
  if (has_strings(op, inputs)) return build_with_strings(builder, name, op, inputs);
  if (has_vector(op, inputs)) return build_with_vectors(builder, name, inputs, attrs);

  leat_graph *graph = builder->graph;
  leat_type types[MAX_FITTED];
  leat_dim_pairs checks = {0};
  leat_node trial = {.input_count = input_count, .attrs = attrs, .span = builder->span};
  leat_node_set_op(&trial, op);
  trial.inputs = leat_new_array(graph->arena, leat_value, input_count);
  leat_type *outputs = leat_new_array(graph->arena, leat_type, trial.output_count);
  if (!try(builder, &trial, inputs, &checks, types, outputs)) return none;
  if (checks.count) {
    if (op == LEAT_OP_reshape)
      return reshape_checked(builder, name, inputs[0], &outputs[0], checks.items[0]);
    leat_value *checked = leat_new_array(graph->arena, leat_value, input_count);
    if (!ensure_equal(builder, name, op, &checks, inputs, checked, input_count) ||
        !try(builder, &trial, checked, NULL, types, outputs))
      return none;
  }
  for (uint32_t i = 0; is_fitted(op) && i < input_count; i++) {
    trial.inputs[i] = with_shape(builder, name, LEAT_OP_broadcast, trial.inputs[i], &types[i]);
    if (!trial.inputs[i].node) return none;
  }
  return append(builder, name, &trial, outputs);
}

// -- Constants -----------------------------------------------------------------------------------

leat_value leat_build_const(leat_builder *builder, const char *name, const leat_tensor *tensor) {
  leat_attr attr = {.tensor = leat_tensor_copy(builder->graph->arena, tensor)};
  return leat_build(builder, name, LEAT_OP_const, NULL, 0, &attr);
}

leat_value leat_build_scalar(leat_builder *builder, const char *name, leat_dtype dtype,
                             double value) {
  uint64_t element[2] = {0};
  leat_store_float(dtype, element, 0, value);
  return leat_build_const(builder, name, &(leat_tensor){.dtype = dtype, .data = element});
}

leat_value leat_build_scalar_i64(leat_builder *builder, const char *name, leat_dtype dtype,
                                 int64_t value) {
  uint64_t element[2] = {0};
  leat_store_signed(dtype, element, 0, value);
  return leat_build_const(builder, name, &(leat_tensor){.dtype = dtype, .data = element});
}
