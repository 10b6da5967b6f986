// What a loop makes in each turn, and its reverse makes again, is kept, where that takes less time
// (passes/choose.c).
//
// The front end lets a loop that gradients go through keep what it carries, row by row, and its
// reverse do each turn again from there. Which values of that are worth more rows is decided here,
// where what devices and dims are like is known. It changes no bit: they are the same values.
//
// The *reverse* counts down to 0 what the loop has counted, and reads rows that the loop has set at
// its count, or appended: each is that of a turn. What the reverse makes of such rows and of what
// both capture, as the loop does, is the same there. Of that, the reverse needs what it uses
// otherwise.
//
// Each value can be kept, which takes time to write its row and to read it, or be done again, which
// takes the time to compute it and needs what it is computed from. The cheapest choice is a
// cheapest cut: a value has two vertices, of which the first is on the source's side if it is
// needed, the second if it is done again.
//
//     source ─ ∞ ─▶ needed ── to keep it ──▶ again ── to do it again ──▶ sink
//                                              └── ∞ ──▶ needed, of each input
#include "passes/choose_kept.h"

#include "base/min_cut.h"
#include "ops/appended.h"
#include "ops/turns.h"
#include "passes/node_key.h"

#include <math.h>

enum {
  KEPT_PASSES = 3,        // over the bytes that are kept: they begin as zeros
  KEPT_NANOSECONDS = 20,  // for each row, beside its bytes
  NANOSECONDS_SAVED = 50, // by a turn, at least
};

// What is kept for a loop that reverses another.
typedef struct plan {
  leat_node *loop, *reverse;
  leat_value turn;             // in its body
  leat_row_filling filling;    // of the loop
  leat_node_list nodes;        // of the reverse's body, each with
  leat_vec(leat_value) values; // the one of the loop's body that it is
} plan;

typedef struct keeper {
  const leat_pass_context *context;
  leat_arena *scratch;
  leat_graph *graph; // around both
  leat_region_node loop, reverse;
  leat_value row, turn; // the count in the loop's body, and the same number in the reverse's
  leat_row_filling filling;
  leat_value *kept; // by result of the loop: what it has rows of
  leat_node_key key;
  leat_bytes_map nodes, captured; // of the loop's body: by key; parameters by what they capture
  leat_node **first;              // by id, there: the first of its equals; NULL: itself
  leat_row_maker *maker;          // of the reverse
  // By id, in the reverse's body:
  leat_value *same; // what it is in the loop's; {NULL}: something else
  bool *fixed;      // it does not vary
  bool *given;      // it costs nothing
  uint32_t *number; // of what is done again, from 1 on
  bool *counted;    // it is the last with that number
} keeper;

// -- Rows of a loop ------------------------------------------------------------------------------

// Whether it is an i64 that begins with 0 and counts the turns.
static bool counts(const leat_node *loop, leat_value value) {
  int64_t i = leat_region_param(value);
  return i >= 0 && i < loop->output_count && leat_value_type(value)->dtype == LEAT_i64 &&
         leat_loop_counts(loop, (uint32_t)i);
}

// What is put into result i, with the row's type, in each turn; else {NULL}.
static leat_value value_kept(const leat_node *loop, uint32_t i) {
  leat_value none = {0}, row = leat_loop_row_put(loop, i);
  if (!row.node || row.node->op != LEAT_OP_reshape) return none;
  leat_value value = row.node->inputs[0];
  const leat_type *type = leat_value_type(value);
  if (type->rank == LEAT_MAX_RANK) return none;
  leat_type one = leat_type_rows(type, leat_dim_const(1));
  return leat_type_equal(&one, leat_value_type(row)) ? value : none;
}

// By result: of what it has as row t what that was in turn t; {NULL}: it has something else.
static leat_value *values_kept(const leat_node *loop, leat_arena *scratch) {
  leat_value *kept = leat_new_array(scratch, leat_value, loop->output_count);
  for (uint32_t i = 0; i < loop->output_count; i++) kept[i] = value_kept(loop, i);
  return kept;
}

static bool find_filling(keeper *k) {
  const leat_node *loop = k->loop.node;
  k->kept = values_kept(loop, k->scratch);
  for (uint32_t i = 0; i < loop->output_count; i++) {
    if (!k->kept[i].node) continue;
    bool appends = leat_region_result_grows(loop, i);
    k->filling = (leat_row_filling){k->row, loop->outputs[i].dims[0], appends};
    return true;
  }
  return false;
}

// -- Loops that reverse others -------------------------------------------------------------------

// The loop whose count the other one counts down to 0.
static bool find_loop(keeper *k) {
  const leat_node *holds = k->reverse.bodies[0]->yield->inputs[0].node;
  leat_dim end;
  int64_t step;
  if (holds->op != LEAT_OP_greater || !leat_known_integer(holds->inputs[1], &end)) return false;
  int64_t c = leat_region_param(holds->inputs[0]);
  if (!leat_dim_is(end, 0) || c < 0 || c >= k->reverse.carried) return false;
  leat_value count = leat_region_input(&k->reverse, (uint32_t)c);
  if (!leat_is_loop(count.node) || count.node->graph != k->graph ||
      !leat_loop_step(k->reverse.node, (uint32_t)c, &step) || step != -1)
    return false;
  k->loop = leat_region_node_of(count.node);
  k->turn = k->reverse.bodies[1]->yield->inputs[c];
  k->row = (leat_value){k->loop.bodies[1]->params.items[count.port], 0};
  return counts(count.node, k->row) && find_filling(k);
}

// -- What is the same in both --------------------------------------------------------------------

static bool may_be_same(const leat_node *node) {
  unsigned never = LEAT_FLAG_RANDOM | LEAT_FLAG_STATE | LEAT_FLAG_EFFECT;
  return node->output_count == 1 && !(node->info->flags & never) && !leat_region_is_bound(node);
}

// What stands for it and its equals in the loop's body.
static leat_value first_of(const keeper *k, leat_value value) {
  leat_node *first = k->first[value.node->id];
  return first ? (leat_value){first, value.port} : value;
}

static void enter_node(keeper *k, leat_node *node) {
  leat_value value = {node, 0};
  leat_value *inputs = leat_new_array(k->scratch, leat_value, node->input_count);
  if (counts(k->loop.node, value)) k->first[node->id] = k->row.node;
  if (!may_be_same(node) || node->op == LEAT_OP_parameter) return;
  for (uint32_t i = 0; i < node->input_count; i++) inputs[i] = first_of(k, node->inputs[i]);
  leat_node_key_make(&k->key, node, inputs);
  leat_node *first = leat_node_key_find(&k->key, &k->nodes);
  if (!first) leat_node_key_put(&k->key, &k->nodes, node);
  k->first[node->id] = first;
}

// Without gaps.
typedef struct value_key {
  uint64_t node, port;
} value_key;

static value_key key_of(leat_value value) {
  return (value_key){(uintptr_t)value.node, value.port};
}

static void enter_loop(keeper *k) {
  const leat_graph *body = k->loop.bodies[1];
  k->key.scratch = k->scratch;
  k->first = leat_new_array(k->scratch, leat_node *, body->nodes.count);
  leat_bytes_map_init(&k->nodes, k->scratch);
  leat_bytes_map_init(&k->captured, k->scratch);
  for (uint32_t i = k->loop.carried; i < k->loop.params; i++) {
    value_key key = key_of(leat_region_input(&k->loop, i));
    leat_bytes_map_set(&k->captured, &key, sizeof key, body->params.items[i]);
  }
  for (uint32_t i = 0; i < body->nodes.count; i++) enter_node(k, body->nodes.items[i]);
}

// That a value of the reverse's body is the number with which a counter of the loop begins.
static bool is_first(const keeper *k, leat_value value, leat_value first) {
  leat_value outside = leat_region_captured(&k->reverse, value);
  leat_dim a, b;
  if (outside.node && leat_value_same(outside, first)) return true;
  return leat_known_integer(value, &a) && leat_known_integer(first, &b) && leat_dim_equal(a, b);
}

// That it is what counter i was in the turn: first ± turn × |step|, as far as that says something.
static bool is_counter(const keeper *k, leat_value value, uint32_t i, int64_t step) {
  leat_value first = k->loop.node->inputs[i];
  leat_dim zero, by;
  bool from_zero = leat_known_integer(first, &zero) && leat_dim_is(zero, 0);
  if (!leat_type_equal(leat_value_type(value), leat_value_type(first))) return false;
  if (step < 0 || !from_zero) {
    leat_op sign = step < 0 ? LEAT_OP_sub : LEAT_OP_add;
    if (value.node->op != sign || !is_first(k, value.node->inputs[0], first)) return false;
    value = value.node->inputs[1];
  }
  if (step != 1 && step != -1) {
    if (value.node->op != LEAT_OP_mul || !leat_known_integer(value.node->inputs[1], &by) ||
        !leat_dim_is(by, step < 0 ? -step : step))
      return false;
    value = value.node->inputs[0];
  }
  if (!leat_value_same(value, k->turn) && value.node->op == LEAT_OP_cast)
    value = value.node->inputs[0];
  return leat_value_same(value, k->turn);
}

static leat_value same_counter(const keeper *k, leat_value value) {
  int64_t step;
  if (!leat_dtype_in_class(leat_value_type(value)->dtype, LEAT_CLASS_INTEGER) ||
      leat_value_type(value)->rank)
    return (leat_value){0};
  for (uint32_t i = 0; i < k->loop.carried; i++)
    if (leat_loop_step(k->loop.node, i, &step) && is_counter(k, value, i, step))
      return first_of(k, (leat_value){k->loop.bodies[1]->params.items[i], 0});
  return (leat_value){0};
}

// Of which value of the loop it reads the row of the turn.
static leat_value row_read(const keeper *k, const leat_node *node) {
  if (node->op != LEAT_OP_gather || !leat_value_same(node->inputs[1], k->turn) ||
      leat_node_attr(node, "axis")->i != 0)
    return (leat_value){0};
  leat_value rows = leat_region_captured(&k->reverse, node->inputs[0]);
  leat_value value = rows.node == k->loop.node ? k->kept[rows.port] : (leat_value){0};
  return value.node ? first_of(k, value) : value;
}

static leat_value same_node(keeper *k, const leat_node *node) {
  leat_value *inputs = leat_new_array(k->scratch, leat_value, node->input_count);
  if (!may_be_same(node) || node->op == LEAT_OP_parameter) return (leat_value){0};
  for (uint32_t i = 0; i < node->input_count; i++) {
    inputs[i] = k->same[node->inputs[i].node->id];
    if (!inputs[i].node) return inputs[i];
  }
  leat_node_key_make(&k->key, node, inputs);
  return (leat_value){leat_node_key_find(&k->key, &k->nodes), 0};
}

// That `regions` makes it of all rows in front of both loops, for both (passes/regions_batch.c).
static bool is_made_before(const keeper *k, leat_node *node) {
  const leat_node *read = leat_row_read(k->maker, (leat_value){node, 0});
  if (node->op != LEAT_OP_matmul || !read) return false;
  return leat_region_captured(&k->reverse, read->inputs[0]).node != k->loop.node;
}

static bool is_fixed(const keeper *k, leat_node *node) {
  if (leat_region_param((leat_value){node, 0}) >= 0)
    return leat_region_captured(&k->reverse, (leat_value){node, 0}).node;
  if (!may_be_same(node)) return false;
  bool fixed = node->input_count || leat_leaf_is_fixed(node->info->leaf);
  for (uint32_t i = 0; i < node->input_count; i++) fixed &= k->fixed[node->inputs[i].node->id];
  return fixed;
}

// What costs nothing in the reverse: the turn's number, what counters were, and rows.
static leat_value same_given(const keeper *k, const leat_node *node, leat_value value) {
  if (leat_value_same(value, k->turn)) return k->row;
  leat_value counter = same_counter(k, value);
  return counter.node ? counter : row_read(k, node);
}

static void find_same(keeper *k, leat_node *node) {
  leat_value value = {node, 0}, *same = &k->same[node->id];
  k->fixed[node->id] = is_fixed(k, node);
  if (node->op == LEAT_OP_parameter) {
    value_key key = key_of(leat_region_captured(&k->reverse, value));
    same->node = leat_bytes_map_get(&k->captured, &key, sizeof key);
  } else if (node->output_count == 1) {
    *same = same_given(k, node, value);
  }
  k->given[node->id] = same->node || k->fixed[node->id] || is_made_before(k, node);
  if (!same->node) *same = same_node(k, node);
}

// -- What is kept --------------------------------------------------------------------------------

static int64_t picoseconds(double nanoseconds) {
  return (int64_t)fmin(1000 * nanoseconds, (double)(LEAT_NEVER_CUT >> 24));
}

// What it takes to compute it, beside its inputs: an element-wise op is done in passing.
static int64_t cost_again(const keeper *k, const leat_node *node) {
  leat_work work = leat_cost_work(k->context->target, node);
  bool passing = node->info->kind == LEAT_KIND_ELEMENT || node->info->flags & LEAT_FLAG_INLINE;
  return picoseconds(passing ? work.computing : leat_cost_nanoseconds(work));
}

static int64_t cost_kept(const keeper *k, leat_value value) {
  const leat_type *type = leat_value_type(value);
  const leat_graph *body = k->loop.bodies[1];
  if (type->rank == LEAT_MAX_RANK || type->dtype == LEAT_str || leat_graph_binds(body, type))
    return LEAT_NEVER_CUT;
  leat_type rows = leat_type_rows(type, k->filling.count);
  if (leat_cost_bytes(&rows) > LEAT_MOST_ROWS_BYTES) return LEAT_NEVER_CUT;
  return picoseconds(KEPT_PASSES * leat_cost_bytes(type) / LEAT_MEMORY_RATE + KEPT_NANOSECONDS);
}

// Numbers what is done again as the loop does it, is not given, and is needed: equals have one
// number. So many.
static uint32_t number_again(keeper *k) {
  const leat_graph *body = k->reverse.bodies[1];
  bool *needed = leat_new_array(k->scratch, bool, body->nodes.count);
  uint32_t count = 0;
  k->number = leat_new_array(k->scratch, uint32_t, body->nodes.count);
  k->counted = leat_new_array(k->scratch, bool, body->nodes.count);
  uint32_t *numbers = leat_new_array(k->scratch, uint32_t, k->loop.bodies[1]->nodes.count);
  for (uint32_t i = body->nodes.count; i-- > 0;) {
    const leat_node *node = body->nodes.items[i];
    bool again = k->same[i].node && !k->given[i];
    if (again && needed[i]) {
      uint32_t *number = &numbers[k->same[i].node->id];
      k->counted[i] = !*number;
      if (!*number) *number = ++count;
      k->number[i] = *number;
    }
    for (uint32_t j = 0; (!again || k->number[i]) && j < node->input_count; j++)
      needed[node->inputs[j].node->id] = true;
  }
  return count;
}

enum { SOURCE, SINK };

static uint32_t needed_vertex(uint32_t number) {
  return 2 * number;
}

static uint32_t again_vertex(uint32_t number) {
  return 2 * number + 1;
}

static void add_node(const keeper *k, leat_network *network, const leat_node *node) {
  uint32_t number = k->number[node->id];
  uint32_t needs = number ? again_vertex(number) : SOURCE;
  for (uint32_t i = 0; i < node->input_count; i++) {
    uint32_t input = k->number[node->inputs[i].node->id];
    if (input) leat_network_add(network, needs, needed_vertex(input), LEAT_NEVER_CUT);
  }
  if (!k->counted[node->id]) return;
  int64_t kept = cost_kept(k, k->same[node->id]);
  leat_network_add(network, needed_vertex(number), again_vertex(number), kept);
  leat_network_add(network, again_vertex(number), SINK, cost_again(k, node));
}

static void choose(keeper *k, plan *plan) {
  const leat_node_list *nodes = &k->reverse.bodies[1]->nodes;
  uint32_t count = number_again(k);
  int64_t saved = 0;
  leat_network *network = leat_network_create(k->scratch, needed_vertex(count + 1));
  for (uint32_t i = 0; i < nodes->count; i++) add_node(k, network, nodes->items[i]);
  const bool *side = leat_network_cut(network, SOURCE, SINK);
  for (uint32_t i = 0; i < nodes->count; i++) {
    uint32_t number = k->number[i];
    if (!number || side[again_vertex(number)]) continue;
    if (k->counted[i]) saved += cost_again(k, nodes->items[i]);
    if (!side[needed_vertex(number)]) continue;
    if (k->counted[i]) saved -= cost_kept(k, k->same[i]);
    leat_vec_push(k->scratch, &plan->nodes, nodes->items[i]);
    leat_vec_push(k->scratch, &plan->values, k->same[i]);
  }
  if (saved < picoseconds(NANOSECONDS_SAVED)) plan->nodes.count = plan->values.count = 0;
}

static plan *make_plan(const leat_pass_context *context, leat_graph *graph, leat_node *reverse) {
  leat_arena *scratch = context->scratch;
  keeper k = {.context = context, .scratch = scratch, .graph = graph};
  k.reverse = leat_region_node_of(reverse);
  if (!find_loop(&k)) return NULL;
  const leat_graph *body = k.reverse.bodies[1];
  k.same = leat_new_array(scratch, leat_value, body->nodes.count);
  k.fixed = leat_new_array(scratch, bool, body->nodes.count);
  k.given = leat_new_array(scratch, bool, body->nodes.count);
  k.maker = leat_row_maker_create(context, graph, reverse);
  enter_loop(&k);
  for (uint32_t i = 0; i < body->nodes.count; i++) find_same(&k, body->nodes.items[i]);
  plan *made = leat_new(scratch, plan);
  *made = (plan){k.loop.node, reverse, .turn = k.turn, .filling = k.filling};
  choose(&k, made);
  return made->nodes.count ? made : NULL;
}

// -- The loops -----------------------------------------------------------------------------------

// The number of the first that is the value, or `count`.
static uint32_t find(const leat_value *values, uint32_t count, leat_value value) {
  uint32_t i = 0;
  while (i < count && !leat_value_same(values[i], value)) i++;
  return i;
}

static void fill_rows(const leat_pass_context *context, leat_graph *graph, const plan *plan) {
  leat_region_node loop = leat_region_node_of(plan->loop);
  const leat_value *kept = values_kept(plan->loop, context->scratch);
  leat_vec(leat_value) missing = {0};
  for (uint32_t i = 0; i < plan->values.count; i++) {
    leat_value value = plan->values.items[i];
    if (find(kept, loop.carried, value) == loop.carried &&
        find(missing.items, missing.count, value) == missing.count)
      leat_vec_push(context->scratch, &missing, value);
  }
  if (missing.count)
    leat_region_fill_rows(context, graph, &loop, missing.items, missing.count, &plan->filling);
}

// Which of the loop's results have the rows of each value, that it may read itself by now.
static leat_value *find_rows(const plan *plan, const leat_map *reads, leat_arena *scratch) {
  const leat_value *kept = values_kept(plan->loop, scratch);
  leat_value *rows = leat_new_array(scratch, leat_value, plan->values.count);
  for (uint32_t i = 0; i < plan->values.count; i++) {
    leat_value value = plan->values.items[i];
    leat_node *read = leat_map_get(reads, value.node);
    if (read) value.node = read;
    rows[i] = (leat_value){plan->loop, find(kept, plan->loop->output_count, value)};
  }
  return rows;
}

static leat_value read_row(const leat_pass_context *context, const leat_region_node *reverse,
                           const plan *plan, leat_value rows, const leat_node *node) {
  leat_graph *body = reverse->bodies[1];
  leat_value inputs[] = {leat_region_add_parameter(reverse, body, rows), plan->turn};
  leat_builder builder = leat_region_builder(reverse, context->diag, body, node);
  return leat_build(&builder, node->name, LEAT_OP_gather, inputs, 2, &(leat_attr){.i = 0});
}

static void read_rows(const leat_pass_context *context, leat_graph *graph, const plan *plan,
                      leat_map *reads) {
  leat_arena *scratch = context->scratch;
  leat_region_node reverse = leat_region_node_of(plan->reverse);
  leat_graph *body = reverse.bodies[1];
  uint32_t count = plan->nodes.count, done = 0;
  leat_value *rows = find_rows(plan, reads, scratch);
  leat_rewriter r = leat_rewrite_begin(body, scratch);
  for (uint32_t i = 0; i < r.count; i++) {
    leat_node *node = body->nodes.items[i];
    leat_rewrite_inputs(&r, node);
    leat_value read = {0};
    if (done < count && node == plan->nodes.items[done])
      read = read_row(context, &reverse, plan, rows[done++], node);
    if (read.node) leat_map_set(reads, node, read.node);
    leat_rewrite_replace(&r, node, read);
  }
  leat_rewrite_finish(&r);
  leat_region_add_parameters(&reverse, reverse.bodies[0], rows, count, scratch);
  leat_region_add_inputs(graph, &reverse, rows, count);
}

typedef leat_vec(plan *) plan_list;

static plan_list make_plans(const leat_pass_context *context, leat_graph *graph) {
  plan_list plans = {0};
  for (uint32_t i = 0; i < graph->nodes.count; i++) {
    leat_node *node = graph->nodes.items[i];
    plan *made = leat_is_loop(node) ? make_plan(context, graph, node) : NULL;
    if (made) leat_vec_push(context->scratch, &plans, made);
  }
  return plans;
}

// A plan's loop comes before its reverse, and all plans are made before any is followed.
leat_map leat_choose_kept(const leat_pass_context *context, leat_graph *graph) {
  leat_map reads;
  leat_map_init(&reads, context->scratch);
  if (context->memory_limit) return reads;
  plan_list plans = make_plans(context, graph);
  if (!plans.count) return reads;
  leat_rewriter r = leat_rewrite_begin(graph, context->scratch);
  for (uint32_t i = 0; i < r.count; i++) {
    leat_node *node = graph->nodes.items[i];
    leat_rewrite_inputs(&r, node);
    for (uint32_t k = 0; k < plans.count; k++)
      if (plans.items[k]->loop == node) fill_rows(context, graph, plans.items[k]);
    for (uint32_t k = 0; k < plans.count; k++)
      if (plans.items[k]->reverse == node) read_rows(context, graph, plans.items[k], &reads);
    leat_rewrite_keep(&r, node);
  }
  leat_rewrite_finish(&r);
  return reads;
}
