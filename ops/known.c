// See known.h. An op gets its rule from what the table and its reference say: of constants the
// reference gives the result; an op that moves elements of any dtype moves those that stand for
// dims, too. What computes with dims has a row in `on_dims`.
#include "ops/known.h"

#include "ops/ref.h"

#include <string.h>

enum { MOST_ELEMENTS = 256, MOST_OPERANDS = 3 };

typedef struct inference {
  leat_graph *graph;
  leat_arena *scratch; // of what the reference works on
  const leat_node *node;
  int64_t count; // of the result
  leat_element *out;
} inference;

// How many elements there are, where they may be known; -1: they may not.
static int64_t countable(const leat_type *type) {
  bool whole = type->dtype == LEAT_bool || leat_dtype_in_class(type->dtype, LEAT_CLASS_INTEGER);
  int64_t count = whole ? leat_type_static_elements(type) : -1;
  return count > MOST_ELEMENTS ? -1 : count;
}

const leat_element *leat_known_elements(leat_value value) {
  return value.port == 0 && countable(leat_value_type(value)) > 0 ? value.node->elements : NULL;
}

static leat_element number(int64_t value) {
  return (leat_element){true, leat_dim_const(value)};
}

static bool is_number(leat_element element) {
  return element.known && leat_dim_is_const(element.dim);
}

static bool are_numbers(leat_value value) {
  const leat_element *elements = leat_known_elements(value);
  int64_t count = countable(leat_value_type(value));
  bool all = elements || count == 0;
  for (int64_t i = 0; all && i < count; i++) all = is_number(elements[i]);
  return all;
}

// -- By the reference ----------------------------------------------------------------------------

static leat_tensor empty_tensor(inference *f, leat_dtype dtype, const leat_type *type) {
  leat_tensor tensor = {.dtype = dtype, .rank = type->rank};
  for (int32_t i = 0; i < type->rank; i++) tensor.shape[i] = type->dims[i].value;
  size_t count = (size_t)leat_type_static_elements(type);
  tensor.data = leat_arena_alloc_array(f->scratch, count + 1, leat_dtype_size(dtype));
  return tensor;
}

static leat_tensor tensor_of(inference *f, leat_value value) {
  const leat_type *type = leat_value_type(value);
  const leat_element *elements = leat_known_elements(value);
  leat_tensor tensor = empty_tensor(f, type->dtype, type);
  for (int64_t i = 0; i < leat_ref_count(&tensor); i++)
    leat_store_signed(type->dtype, tensor.data, i, elements[i].dim.value);
  return tensor;
}

static bool evaluate(inference *f, const leat_node *node, const leat_tensor *inputs,
                     leat_tensor *out) {
  leat_error error = {0};
  leat_ref_context context = {.node = node, .inputs = inputs, .error = &error};
  if (leat_ref_evaluate(f->scratch, &context)) return false;
  *out = context.outputs[0];
  return true;
}

static leat_element load(const leat_tensor *tensor, int64_t i) {
  if (tensor->dtype == LEAT_bool) return number(((const uint8_t *)tensor->data)[i]);
  int64_t value = leat_load_index(tensor, i);
  return tensor->dtype == LEAT_u64 && value == INT64_MAX ? (leat_element){0} : number(value);
}

static void by_reference(inference *f) {
  leat_tensor *inputs = leat_new_array(f->scratch, leat_tensor, f->node->input_count), out;
  for (uint32_t i = 0; i < f->node->input_count; i++) inputs[i] = tensor_of(f, f->node->inputs[i]);
  if (!evaluate(f, f->node, inputs, &out)) return;
  for (int64_t i = 0; i < f->count; i++) f->out[i] = load(&out, i);
}

// -- What is moved: the reference moves where the elements stand ---------------------------------

// Whether it is an input that says where, or whether, elements go.
static bool steers(const leat_node *node, uint32_t input) {
  return (int)input == node->info->apart;
}

static bool moves(const leat_node *node) {
  leat_op_kind kind = node->info->kind;
  bool moves = (kind == LEAT_KIND_ELEMENT || kind == LEAT_KIND_SCATTER) && node->input_count &&
               node->info->dtypes == LEAT_CLASS_ALL;
  for (uint32_t i = 0; moves && i < node->input_count; i++) {
    int64_t count = countable(leat_value_type(node->inputs[i]));
    moves = steers(node, i) ? are_numbers(node->inputs[i]) : count >= 0;
  }
  return moves;
}

// Places of elements in the list of all.
static leat_tensor places(inference *f, leat_value value, int64_t first) {
  leat_tensor tensor = empty_tensor(f, LEAT_i64, leat_value_type(value));
  for (int64_t i = 0; i < leat_ref_count(&tensor); i++) ((int64_t *)tensor.data)[i] = first + i;
  return tensor;
}

static void by_moving(inference *f) {
  const leat_node *node = f->node;
  leat_tensor *inputs = leat_new_array(f->scratch, leat_tensor, node->input_count), out;
  leat_vec(leat_element) all = {0};
  for (uint32_t i = 0; i < node->input_count; i++) {
    leat_value value = node->inputs[i];
    const leat_element *elements = leat_known_elements(value);
    inputs[i] = steers(node, i) ? tensor_of(f, value) : places(f, value, all.count);
    for (int64_t k = 0; !steers(node, i) && k < leat_ref_count(&inputs[i]); k++)
      leat_vec_push(f->scratch, &all, elements ? elements[k] : (leat_element){0});
  }
  leat_node moved = *node;
  leat_type type = node->outputs[0];
  type.dtype = LEAT_i64;
  moved.outputs = &type;
  if (!evaluate(f, &moved, inputs, &out)) return;
  for (int64_t i = 0; i < f->count; i++) f->out[i] = all.items[((int64_t *)out.data)[i]];
}

// -- What is computed with dims -------------------------------------------------------------------

typedef bool (*dim_function)(leat_dims *dims, const leat_dim *x, leat_dim *out);

static bool on_add(leat_dims *dims, const leat_dim *x, leat_dim *out) {
  return leat_dim_add(dims, x[0], x[1], out);
}

static bool on_sub(leat_dims *dims, const leat_dim *x, leat_dim *out) {
  return leat_dim_sub(dims, x[0], x[1], out);
}

static bool on_mul(leat_dims *dims, const leat_dim *x, leat_dim *out) {
  return leat_dim_mul(dims, x[0], x[1], out);
}

static bool on_max(leat_dims *dims, const leat_dim *x, leat_dim *out) {
  return leat_dim_max(dims, x[0], x[1], out);
}

static bool on_min(leat_dims *dims, const leat_dim *x, leat_dim *out) {
  return leat_dim_min(dims, x[0], x[1], out);
}

static bool on_neg(leat_dims *dims, const leat_dim *x, leat_dim *out) {
  return leat_dim_sub(dims, leat_dim_const(0), x[0], out);
}

static bool on_abs(leat_dims *dims, const leat_dim *x, leat_dim *out) {
  (void)dims;
  *out = x[0];
  return leat_dim_bounds(x[0]).low >= 0;
}

static bool on_floor_div(leat_dims *dims, const leat_dim *x, leat_dim *out) {
  return !leat_dim_is(x[1], 0) && leat_dim_floordiv(dims, x[0], x[1], out);
}

static bool on_remainder(leat_dims *dims, const leat_dim *x, leat_dim *out) {
  return on_floor_div(dims, x, out) && leat_dim_mul(dims, *out, x[1], out) &&
         leat_dim_sub(dims, x[0], *out, out);
}

// Where nothing is below 0, to round towards it is to round down.
static bool are_natural(const leat_dim *x) {
  return leat_dim_bounds(x[0]).low >= 0 && leat_dim_bounds(x[1]).low >= 0;
}

static bool on_div_trunc(leat_dims *dims, const leat_dim *x, leat_dim *out) {
  return are_natural(x) && on_floor_div(dims, x, out);
}

static bool on_rem(leat_dims *dims, const leat_dim *x, leat_dim *out) {
  return are_natural(x) && on_remainder(dims, x, out);
}

// Whether a < b + 1, so far as it is known.
static bool decide_at_most(leat_dims *dims, leat_dim a, leat_dim b, bool holds, leat_dim *out) {
  leat_dim room;
  if (!leat_dim_sub(dims, b, a, &room)) return false;
  leat_dim_range range = leat_dim_bounds(room);
  bool is = range.low >= 0;
  *out = leat_dim_const(is == holds);
  return is || range.high < 0;
}

static bool on_less_equal(leat_dims *dims, const leat_dim *x, leat_dim *out) {
  return decide_at_most(dims, x[0], x[1], true, out);
}

static bool on_greater_equal(leat_dims *dims, const leat_dim *x, leat_dim *out) {
  return decide_at_most(dims, x[1], x[0], true, out);
}

static bool on_less(leat_dims *dims, const leat_dim *x, leat_dim *out) {
  return decide_at_most(dims, x[1], x[0], false, out);
}

static bool on_greater(leat_dims *dims, const leat_dim *x, leat_dim *out) {
  return decide_at_most(dims, x[0], x[1], false, out);
}

static bool decide_equal(leat_dims *dims, const leat_dim *x, bool holds, leat_dim *out) {
  leat_dim room;
  if (!leat_dim_sub(dims, x[0], x[1], &room)) return false;
  *out = leat_dim_const(leat_dim_is(room, 0) == holds);
  return leat_dim_is(room, 0) || !leat_dim_may_be(room, 0);
}

static bool on_equal(leat_dims *dims, const leat_dim *x, leat_dim *out) {
  return decide_equal(dims, x, true, out);
}

static bool on_not_equal(leat_dims *dims, const leat_dim *x, leat_dim *out) {
  return decide_equal(dims, x, false, out);
}

static bool on_cast(leat_dims *dims, const leat_dim *x, leat_dim *out) {
  (void)dims;
  *out = x[0];
  return true;
}

// Of an op on elements that stand in one place; of a reduction, what it does with two of them.
static const dim_function on_dims[LEAT_OP_COUNT] = {
    [LEAT_OP_add] = on_add,
    [LEAT_OP_sub] = on_sub,
    [LEAT_OP_mul] = on_mul,
    [LEAT_OP_floor_div] = on_floor_div,
    [LEAT_OP_div_trunc] = on_div_trunc,
    [LEAT_OP_remainder] = on_remainder,
    [LEAT_OP_rem] = on_rem,
    [LEAT_OP_neg] = on_neg,
    [LEAT_OP_abs] = on_abs,
    [LEAT_OP_maximum] = on_max,
    [LEAT_OP_minimum] = on_min,
    [LEAT_OP_equal] = on_equal,
    [LEAT_OP_not_equal] = on_not_equal,
    [LEAT_OP_less] = on_less,
    [LEAT_OP_less_equal] = on_less_equal,
    [LEAT_OP_greater] = on_greater,
    [LEAT_OP_greater_equal] = on_greater_equal,
    [LEAT_OP_cast] = on_cast,
    [LEAT_OP_sum] = on_add,
    [LEAT_OP_prod] = on_mul,
    [LEAT_OP_max] = on_max,
    [LEAT_OP_min] = on_min,
};

// What does not fit the dtype is cut, which is for the reference to know.
static leat_element fitting(inference *f, bool known, leat_dim dim) {
  leat_dtype dtype = f->node->outputs[0].dtype;
  leat_element element = {known, dim};
  if (!known || (!leat_dim_is_const(dim) && dtype != LEAT_i32 && dtype != LEAT_i64))
    return (leat_element){0};
  if (!leat_dim_is_const(dim)) return element;
  uint64_t stored = 0;
  leat_store_signed(dtype, &stored, 0, dim.value);
  leat_element kept = load(&(leat_tensor){.dtype = dtype, .data = &stored}, 0);
  return is_number(kept) && kept.dim.value == dim.value ? element : (leat_element){0};
}

static void by_elements(inference *f) {
  const leat_node *node = f->node;
  for (int64_t i = 0; i < f->count; i++) {
    leat_dim x[MOST_OPERANDS], dim;
    bool known = true;
    for (uint32_t k = 0; k < node->input_count; k++) {
      const leat_element *elements = leat_known_elements(node->inputs[k]);
      known = known && elements && elements[i].known;
      if (known) x[k] = elements[i].dim;
    }
    known = known && on_dims[node->op](f->graph->dims, x, &dim);
    f->out[i] = fitting(f, known, known ? dim : leat_dim_const(0));
  }
}

// Where the element at `position` of x goes.
static int64_t reduced_place(const leat_node *node, const int64_t *shape, int64_t position) {
  const leat_attr *axes = leat_node_attr(node, "axis");
  int32_t rank = leat_value_type(node->inputs[0])->rank, kept = 0;
  int64_t at[LEAT_MAX_RANK], to[LEAT_MAX_RANK], extents[LEAT_MAX_RANK];
  leat_unflatten(position, rank, shape, at);
  for (int32_t axis = 0; axis < rank; axis++) {
    bool gone = false;
    for (uint32_t i = 0; i < axes->count; i++) gone = gone || axes->ints[i] == axis;
    if (gone) continue;
    to[kept] = at[axis];
    extents[kept++] = shape[axis];
  }
  return leat_flatten(kept, extents, to);
}

static void by_reducing(inference *f) {
  const leat_type *type = leat_value_type(f->node->inputs[0]);
  const leat_element *x = leat_known_elements(f->node->inputs[0]);
  bool begun[MOST_ELEMENTS] = {false};
  int64_t shape[LEAT_MAX_RANK], count = countable(type);
  for (int32_t i = 0; i < type->rank; i++) shape[i] = type->dims[i].value;
  for (int64_t i = 0; i < count; i++) {
    int64_t at = reduced_place(f->node, shape, i);
    leat_element *out = &f->out[at];
    leat_dim both[] = {out->dim, x[i].dim}, dim = x[i].dim;
    bool known = x[i].known && (!begun[at] || out->known);
    if (!begun[at])
      *out = x[i];
    else
      *out = fitting(f, known && on_dims[f->node->op](f->graph->dims, both, &dim), dim);
    begun[at] = true;
  }
}

// -- A node --------------------------------------------------------------------------------------

static void infer_constant(inference *f) {
  const leat_tensor *tensor = leat_node_attr(f->node, "value")->tensor;
  for (int64_t i = 0; i < f->count; i++) f->out[i] = load(tensor, i);
}

static void by_scratch(inference *f, void (*way)(inference *)) {
  f->scratch = leat_arena_create();
  way(f);
  leat_arena_destroy(f->scratch);
}

static void infer(inference *f) {
  const leat_node *node = f->node;
  unsigned never = LEAT_FLAG_RANDOM | LEAT_FLAG_STATE | LEAT_FLAG_EFFECT;
  bool numbers = true, some = false;
  for (uint32_t i = 0; i < node->input_count; i++) {
    numbers = numbers && are_numbers(node->inputs[i]);
    some = some || leat_known_elements(node->inputs[i]);
  }
  if (!leat_ref_of(node->op) || node->info->flags & never || !(numbers || some)) return;
  bool has_rule = on_dims[node->op] && countable(leat_value_type(node->inputs[0])) >= 0;
  if (node->op == LEAT_OP_dim)
    f->out[0] = fitting(f, true, leat_node_attr(node, "value")->dim);
  else if (numbers)
    by_scratch(f, by_reference);
  else if (moves(node))
    by_scratch(f, by_moving);
  else if (has_rule && node->info->kind == LEAT_KIND_REDUCE)
    by_reducing(f);
  else if (has_rule)
    by_elements(f);
}

void leat_infer_elements(leat_graph *graph, leat_node *node) {
  leat_element out[MOST_ELEMENTS];
  inference f = {.graph = graph, .node = node, .count = -1, .out = out};
  if (node->output_count == 1) f.count = countable(&node->outputs[0]);
  if (f.count <= 0) return;
  if (node->info->flags & LEAT_FLAG_ALIAS) {
    node->elements = leat_known_elements(node->inputs[0]);
    return;
  }
  for (int64_t i = 0; i < f.count; i++) out[i] = (leat_element){0};
  node->op == LEAT_OP_const ? infer_constant(&f) : infer(&f);
  bool some = false;
  for (int64_t i = 0; i < f.count; i++) some = some || out[i].known;
  if (some) node->elements = leat_arena_memdup(graph->arena, out, (size_t)f.count * sizeof *out);
}
