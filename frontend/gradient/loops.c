// The gradient of a loop is a loop that runs backwards: in each iteration it has what the loop
// carried then, adds up the gradients of what the bodies captured, and makes those of what was
// carried before.
//
// What was carried is kept by the loop done again, row by row: as many rows as there may be
// iterations, where the condition compares a count with a dim; else the loop appends them. On
// several devices, where none may grow, there are as many as a first loop counts, which then does
// no more than its condition needs. An array that is changed in a few places is carried backwards,
// and each turn undone. Of what the loop only appends nothing is kept.
//
// Inside of another region, which would be none of launches if it computed a dim, and under a limit
// of memory, the iterations are reversed a chunk at a time, the last ones first, for which rows are
// kept. The loop is done again up to there from the nearest of some checkpoints, and on the way
// makes others; where, `next_chunk` of the library says (stdlib/grad.leat).
#include "frontend/gradient/walk.h"

#include "frontend/gradient/reversal.h"
#include "frontend/values/rows.h"
#include "ops/turns.h"

#include <math.h>

// So many checkpoints and iterations in a chunk, where their number is not known. Of 1,000
// iterations each is then done again three times on average, of 30,000 five times.
enum { USUAL = 16, LEAST = 2 };

// The iterations that are reversed, and gradients. By input of the loop: a gradient of what is
// carried, a sum for what is captured; {NULL}: none is wanted.
typedef struct history {
  leat_value count; // of iterations
  leat_value first; // how many were before these; {NULL}: none
  leat_value *
      *kept; // by carried value: rows of what it was in each, of a counter that in the first
  leat_value *behind; // the same: what it is when they are done
  leat_value *gradients;
  leat_value *appended;  // by carried value: the gradient of all that is appended; {NULL}: none
  const leat_dim *turns; // the count as a dim, for which sparse rows are kept; NULL: they are added
  ev *sparse;            // by input: what came of them
} history;

// What the body of a loop results in: the next values of these inputs.
typedef struct results {
  leat_value *values;
  uint32_t *inputs, count;
} results;

// The inputs of the backward loop: the count, the gradients, what is captured, rows, what is
// undone.
typedef struct backward {
  const history *history;
  uint32_t *gradients, *captured;
  uint32_t *kept, *undone; // by carried value: the first of its rows; itself, 0: it is not undone
  uint32_t *sparse; // by input: of its sparse rows, the port of all indices; 0: there are none
  bool *counted;    // by input: these are
  results results;
} backward;

static bool is_wanted(const reversal *r, uint32_t input) {
  if (input < r->carried && ev_appends(r, input)) return false; // as it is appended
  bool wanted = input >= r->carried ? r->wanted[input] : ev_has_gradient(r->node->inputs[input]);
  return wanted && r->needed[input];
}

static uint32_t wanted_count(const reversal *r) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < r->node->input_count; i++) count += is_wanted(r, i);
  return count;
}

// -- A loop backwards -----------------------------------------------------------------------------

// Opens the body of a loop that goes on as long as its first input is more than 0.
static bool open_loop(const reversal *r) {
  ev_region_open(r->e);
  leat_value left = ev_operation(r, LEAT_OPERATOR_GREATER, ev_parameter(r, "count", 0), ev_int(0));
  ev_body_ends(r->e);
  if (left.node) ev_give(r, 0, left);
  ev_region_open(r->e);
  return left.node;
}

static results new_results(const reversal *r, uint32_t most) {
  return (results){.values = leat_new_array(r->e->arena, leat_value, most),
                   .inputs = leat_new_array(r->e->arena, uint32_t, most)};
}

static void add_result(results *all, uint32_t input, leat_value value) {
  all->inputs[all->count] = input;
  all->values[all->count++] = value;
}

// NULL: reported.
static leat_node *close_loop(const reversal *r, bool ok, const results *all) {
  evaluator *e = r->e;
  ev_body_ends(e);
  for (uint32_t i = 0; i < all->count; i++) ok = ok && all->values[i].node;
  if (!ok) {
    ev_region_drop(e);
    return NULL;
  }
  for (uint32_t i = 0; i < all->count; i++) {
    ev_give(r, 1, all->values[i]);
    leat_region_carry(&e->at.region->built, all->inputs[i]);
  }
  return ev_region_end(e, NULL);
}

static uint32_t *add_gradients(const reversal *r, leat_region *built, const leat_value *gradients) {
  uint32_t *added = leat_new_array(r->e->arena, uint32_t, (size_t)r->node->input_count + 1);
  for (uint32_t i = 0; i < r->node->input_count; i++)
    if (is_wanted(r, i)) added[i] = leat_region_add(built, gradients[i]);
  return added;
}

static const char *gradient_name(const reversal *r, uint32_t input) {
  return input < r->carried ? "dy" : "sum";
}

static leat_value index_of(const reversal *r, leat_value count, leat_dim each, leat_dim first) {
  leat_value at = count;
  if (!leat_dim_is(each, 1)) at = ev_operation(r, LEAT_OPERATOR_MUL, at, ev_of_dim(each));
  if (!at.node || leat_dim_is(first, 0)) return at;
  return ev_operation(r, LEAT_OPERATOR_ADD, at, ev_of_dim(first));
}

// So many from `at` on, of the gradient of all rows.
static ev some_rows(const reversal *r, leat_value all, leat_value at, const leat_type *like) {
  evaluator *e = r->e;
  leat_dim *count = leat_arena_memdup(e->arena, like->dims, sizeof *count);
  leat_attr axis = {.i = 0}, numbers[] = {{.count = 1, .dims = count}, {.i = 0}, {.i = LEAT_i64}};
  if (leat_dim_is(*count, 1)) {
    leat_builder builder = ev_builder(e, r->span);
    leat_value row = ev_row(r, all, at, &(leat_type){.rank = like->rank - 1});
    return row.node
               ? ev_tensor(leat_build_reshape(&builder, ev_node_name(e, NULL, "row"), row, like))
               : ev_error();
  }
  ev places = ev_op(e, LEAT_OP_iota, NULL, 0, numbers, r->span, NULL);
  if (places.kind != EV_TENSOR) return places;
  ev inputs[] = {ev_tensor(all),
                 ev_tensor(ev_operation(r, LEAT_OPERATOR_ADD, places.tensor, ev_tensor(at)))};
  return ev_op(e, LEAT_OP_gather, inputs, 2, &axis, r->span, NULL);
}

static ev rows_of_turn(const reversal *r, const history *h, uint32_t carried, leat_value turn) {
  leat_value all = h->appended[carried];
  leat_value next = r->body->yield->inputs[carried];
  const leat_type *added = leat_value_type(next.node->inputs[1]);
  leat_dim first = leat_value_type(r->node->inputs[carried])->dims[0];
  if (!all.node) return ev_error();
  if (h->first.node) turn = ev_operation(r, LEAT_OPERATOR_ADD, turn, ev_tensor(h->first));
  if (!turn.node) return ev_error();
  leat_value at = index_of(r, turn, added->dims[0], first);
  return at.node ? some_rows(r, all, at, added) : ev_error();
}

// Of what was there before the loop.
static ev rows_before(const reversal *r, uint32_t carried, leat_value all) {
  const leat_type *type = leat_value_type(r->node->inputs[carried]);
  if (!all.node || leat_dim_is(type->dims[0], 0)) return ev_error();
  return some_rows(r, all, ev_number(r, 0), type);
}

static leat_value recall_carried(const reversal *r, const backward *b, uint32_t i,
                                 leat_value count) {
  uint32_t kept;
  if (ev_appends(r, i)) return ev_no_rows(r, i); // none is read
  ev_kept_types(r, i, &kept);
  if (ev_is_counter(r, i)) {
    leat_value first = ev_parameter(r, "rows", b->kept[i]);
    return ev_recall_counter(r, i, *b->history->kept[i], first, count);
  }
  leat_value *rows = leat_new_array(r->e->arena, leat_value, (size_t)kept + 1), behind = {0};
  for (uint32_t k = 0; k < kept; k++) rows[k] = ev_parameter(r, "rows", b->kept[i] + k);
  if (b->undone[i]) behind = ev_parameter(r, "x", b->undone[i]);
  return ev_recall(r, i, behind, rows, count);
}

// What the loop carried when it had run `count` times, in the open body, and what it captures.
static bool recall(const reversal *r, const backward *b, leat_value count, leat_value *params) {
  for (uint32_t i = r->carried; i < r->node->input_count; i++)
    params[i] = ev_parameter(r, "x", b->captured[i]);
  if (!count.node) return false;
  for (uint32_t i = 0; i < r->carried; i++) {
    params[i] = recall_carried(r, b, i, count);
    if (!params[i].node) return false;
  }
  return true;
}

// A tensor with a row for each turn, which in this one is `value`.
static void stack_up(const reversal *r, backward *b, leat_value count, leat_value value) {
  evaluator *e = r->e;
  ev_context from = ev_step_out(e);
  leat_value rows = ev_new_rows(r, leat_value_type(value), *b->history->turns);
  e->at = from;
  if (!rows.node) return add_result(&b->results, 0, rows);
  uint32_t input = leat_region_add(&e->at.region->built, rows);
  add_result(&b->results, input, ev_set_row(r, ev_parameter(r, "rows", input), count, value));
}

// Zeros for so many times the value's rows; {NULL}: a dim cannot be said.
static leat_value new_table(const reversal *r, leat_value value, leat_dim times) {
  leat_type all = *leat_value_type(value);
  if (!leat_dim_mul(r->e->graph->dims, times, all.dims[0], &all.dims[0])) return (leat_value){0};
  return ev_literal_tensor(r->e, ev_int(0), &all, NULL, r->span);
}

// Tables with the rows of all turns, one behind the other, and how many there are so far.
static void append(const reversal *r, backward *b, ev gradient) {
  evaluator *e = r->e;
  leat_value parts[] = {gradient.rows->indices, gradient.rows->values};
  leat_value count = ev_row_count(e, gradient, r->span);
  leat_value first[3] = {{0}};
  uint32_t inputs[3];
  ev_context from = ev_step_out(e);
  for (int i = 0; i < 2; i++) first[i] = new_table(r, parts[i], *b->history->turns);
  first[2] = ev_number(r, 0);
  e->at = from;
  for (int i = 0; i < 3; i++) {
    if (!first[i].node) return add_result(&b->results, 0, first[i]);
    inputs[i] = leat_region_add(&e->at.region->built, first[i]);
  }
  leat_value at = ev_parameter(r, "count", inputs[2]);
  for (int i = 0; i < 2; i++) {
    leat_value table = ev_parameter(r, "rows", inputs[i]);
    add_result(&b->results, inputs[i], ev_put_rows(e, table, at, parts[i], r->span));
  }
  add_result(&b->results, inputs[2], ev_operation(r, LEAT_OPERATOR_ADD, at, ev_tensor(count)));
}

// Whether it is the same in each turn, as far as `looks` at what it is made of tell.
static bool is_fixed(leat_value value, int *looks) {
  const leat_node *node = leat_region_origin(value).node;
  bool region = node->info->kind == LEAT_KIND_REGION;
  if (--*looks < 0 || region || node->op == LEAT_OP_parameter) return false;
  for (uint32_t i = 0; i < node->input_count; i++)
    if (!is_fixed(node->inputs[i], looks)) return false;
  return true;
}

// Rows that are the same in each turn are added to the whole, of which there is one.
static bool stays_sparse(const reversal *r, const backward *b, ev gradient) {
  leat_dim all;
  int looks = 100;
  if (gradient.kind != EV_ROWS || !b->history->turns) return false;
  if (!r->e->at.region->around.region && is_fixed(gradient.rows->indices, &looks)) return false;
  const leat_type *type = leat_value_type(gradient.rows->values);
  return type->rank < LEAT_MAX_RANK && !leat_graph_binds(r->e->at.body, type) &&
         leat_dim_mul(r->e->graph->dims, *b->history->turns, type->dims[0], &all);
}

// What is captured has the sum of what it has in the turns, or all sparse rows.
static void add_up(const reversal *r, backward *b, uint32_t input, ev gradient) {
  leat_value sum = ev_parameter(r, "sum", b->gradients[input]);
  if (gradient.kind != EV_ERROR && !stays_sparse(r, b, gradient)) {
    ev next = gradient.kind == EV_ROWS
                  ? ev_rows_add(r->e, ev_tensor(sum), gradient, r->span)
                  : ev_tensor(ev_operation(r, LEAT_OPERATOR_ADD, sum, gradient));
    sum = next.kind == EV_TENSOR ? next.tensor : (leat_value){0};
  }
  add_result(&b->results, b->gradients[input], sum);
}

static void add_gradients_of_turn(const reversal *r, backward *b, const leat_value *params,
                                  const ev *gradients, leat_value count) {
  uint32_t inputs = r->node->input_count;
  for (uint32_t i = 0; i < r->carried; i++)
    if (is_wanted(r, i))
      add_result(&b->results, b->gradients[i], ev_or_zeros(r, gradients[i], params[i]));
  for (uint32_t i = r->carried; i < inputs; i++)
    if (is_wanted(r, i)) add_up(r, b, i, gradients[i]);
  for (uint32_t i = r->carried; i < inputs; i++) {
    if (!is_wanted(r, i) || !stays_sparse(r, b, gradients[i])) continue;
    b->sparse[i] = b->results.count;
    b->counted[i] = gradients[i].rows->count.node;
    if (b->counted[i]) {
      append(r, b, gradients[i]);
      continue;
    }
    stack_up(r, b, count, gradients[i].rows->indices);
    stack_up(r, b, count, gradients[i].rows->values);
  }
}

static bool reverse_body(const reversal *r, backward *b) {
  evaluator *e = r->e;
  uint32_t inputs = r->node->input_count;
  leat_value *params = leat_new_array(e->arena, leat_value, (size_t)inputs + 1);
  leat_value *ys = leat_new_array(e->arena, leat_value, (size_t)r->carried + 1);
  ev *dys = leat_new_array(e->arena, ev, (size_t)r->carried + 1);
  ev *targets = leat_new_array(e->arena, ev, (size_t)inputs + 1);
  ev *gradients = leat_new_array(e->arena, ev, (size_t)inputs + 1);
  leat_value count = ev_operation(r, LEAT_OPERATOR_SUB, ev_parameter(r, "count", 0), ev_int(1));
  if (!recall(r, b, count, params)) return false;
  for (uint32_t i = 0; i < inputs; i++) targets[i] = ev_tensor(params[i]);
  for (uint32_t i = 0; i < r->carried; i++)
    if (ev_appends(r, i))
      dys[i] = rows_of_turn(r, b->history, i, count);
    else
      dys[i] = is_wanted(r, i) ? ev_tensor(ev_parameter(r, "dy", b->gradients[i])) : ev_error();
  ev_type_appended(r, ev_region_repeat(e, r->body, params, ys), params);
  if (!ev_gradients_between(e, ys, dys, r->carried, targets, inputs, gradients, r->span))
    return false;
  add_result(&b->results, 0, count);
  add_gradients_of_turn(r, b, params, gradients, count);
  for (uint32_t i = 0; i < r->carried; i++)
    if (b->undone[i]) add_result(&b->results, b->undone[i], params[i]);
  return true;
}

// The rows of all turns, one behind the other.
static ev rows_of_turns(const reversal *r, const backward *b, leat_node *node, uint32_t input) {
  evaluator *e = r->e;
  const leat_type *table = leat_value_type(r->node->inputs[input]);
  uint32_t port = b->sparse[input];
  ev parts[2];
  if (b->counted[input])
    return ev_count_rows(e, table, (leat_value){node, port}, (leat_value){node, port + 1},
                         (leat_value){node, port + 2});
  for (uint32_t i = 0; i < 2; i++) {
    leat_value all = {node, port + i};
    const leat_type *type = leat_value_type(all);
    leat_dim *dims = leat_arena_memdup(e->arena, type->dims + 1, sizeof type->dims - sizeof *dims);
    leat_attr shape = {.count = (uint32_t)type->rank - 1, .dims = dims};
    if (!leat_dim_mul(e->graph->dims, type->dims[0], type->dims[1], &dims[0])) return ev_error();
    ev value = ev_tensor(all);
    parts[i] = ev_op(e, LEAT_OP_reshape, &value, 1, &shape, r->span, NULL);
  }
  return ev_make_rows(e, table, parts[0], parts[1]);
}

static void take_sparse(const reversal *r, const backward *b, leat_node *node, history *h) {
  uint32_t inputs = r->node->input_count;
  h->sparse = leat_new_array(r->e->arena, ev, (size_t)inputs + 1);
  for (uint32_t i = 0; i < inputs; i++)
    h->sparse[i] = b->sparse[i] ? rows_of_turns(r, b, node, i) : ev_error();
}

static void add_kept(const reversal *r, backward *b, leat_region *built) {
  const history *h = b->history;
  for (uint32_t i = 0; i < r->carried; i++) {
    uint32_t kept;
    leat_node_list changes;
    ev_kept_types(r, i, &kept);
    b->kept[i] = built->inputs.count;
    if (ev_is_counter(r, i)) leat_region_add(built, *h->kept[i]);
    for (uint32_t k = 0; k < kept; k++) leat_region_add(built, h->kept[i][k]);
    if (ev_is_undone(r, i, &changes)) b->undone[i] = leat_region_add(built, h->behind[i]);
  }
}

// The loop backwards, for which rows are kept. What it results in begins with the count and the
// gradients.
static leat_node *reverse_rows(const reversal *r, history *h) {
  evaluator *e = r->e;
  uint32_t inputs = r->node->input_count;
  backward b = {.history = h,
                .captured = leat_new_array(e->arena, uint32_t, (size_t)inputs + 1),
                .sparse = leat_new_array(e->arena, uint32_t, (size_t)inputs + 1),
                .counted = leat_new_array(e->arena, bool, (size_t)inputs + 1),
                .kept = leat_new_array(e->arena, uint32_t, (size_t)r->carried + 1),
                .undone = leat_new_array(e->arena, uint32_t, (size_t)r->carried + 1),
                .results = new_results(r, 1 + 5 * inputs)};
  ev_region region;
  ev_region_begin(e, &region, LEAT_OP_while_loop, NULL, r->span);
  region.built.parallel = leat_node_attr(r->node, "parallel")->i;
  leat_region_add(&region.built, h->count);
  b.gradients = add_gradients(r, &region.built, h->gradients);
  for (uint32_t i = r->carried; i < inputs; i++)
    b.captured[i] = leat_region_add(&region.built, r->node->inputs[i]);
  add_kept(r, &b, &region.built);
  bool ok = open_loop(r) && reverse_body(r, &b);
  leat_node *node = close_loop(r, ok, &b.results);
  if (node) take_sparse(r, &b, node, h);
  return node;
}

// Of the loop done again, which began with `from`: behind what is carried stand the count, then
// rows.
static void take_history(const reversal *r, leat_node *again, const leat_value *from,
                         history *out) {
  uint32_t port = r->carried;
  out->count = (leat_value){again, port};
  out->kept = leat_new_array(r->e->arena, leat_value *, (size_t)r->carried + 1);
  out->behind = leat_new_array(r->e->arena, leat_value, (size_t)r->carried + 1);
  for (uint32_t i = 0; i < r->carried; i++) {
    uint32_t kept;
    ev_kept_types(r, i, &kept);
    out->kept[i] = leat_new_array(r->e->arena, leat_value, (size_t)kept + 1);
    *out->kept[i] = from[i];
    for (uint32_t k = 0; k < kept; k++) out->kept[i][k] = (leat_value){again, ++port};
    out->behind[i] = (leat_value){again, i};
  }
}

// -- By checkpoints -------------------------------------------------------------------------------

// The inputs of the loop over chunks behind the gradients: how many checkpoints there are, the
// iterations they are of, and rows that have what was carried there.
typedef struct checkpoints {
  uint32_t *gradients, used;
  int64_t chunk, slots; // iterations reversed at once, and checkpoints; the last slot is never used
  const history *history;
} checkpoints;

// To where the loop is done again, so many iterations are reversed then, so many checkpoints used.
typedef struct chunk {
  leat_value to, reversed, used;
} chunk;

static bool next_chunk(const reversal *r, const checkpoints *c, leat_value end, leat_value from,
                       leat_value used, chunk *out) {
  const ev_function *function = ev_find_library(r->e, "next_chunk");
  ev values[] = {ev_tensor(end), ev_tensor(from), ev_tensor(used), ev_int(c->slots),
                 ev_int(c->chunk)};
  enum { COUNT = sizeof values / sizeof *values };
  ev_argument args[COUNT];
  for (int i = 0; i < COUNT; i++) args[i] = (ev_argument){.value = values[i], .span = r->span};
  ev list = ev_call(r->e, function, args, COUNT, r->span, NULL, NULL);
  if (list.kind != EV_LIST) return false;
  const ev *items = list.list->items;
  *out = (chunk){items[0].tensor, items[1].tensor, items[2].tensor};
  return true;
}

// What was carried at the last checkpoint, and the number of that iteration.
static leat_value last_checkpoint(const reversal *r, const checkpoints *c, leat_value *carried) {
  leat_type number = leat_type_scalar(LEAT_i64);
  leat_value last = ev_operation(r, LEAT_OPERATOR_SUB, ev_parameter(r, "used", c->used), ev_int(1));
  if (!last.node) return last;
  leat_value at = ev_row(r, ev_parameter(r, "at", c->used + 1), last, &number);
  for (uint32_t i = 0, row = c->used + 2; i < r->carried; i++) {
    leat_value first = r->node->inputs[i];
    if (ev_has_rows(r, i))
      carried[i] = ev_row(r, ev_parameter(r, "checkpoints", row++), last, leat_value_type(first));
    else if (ev_appends(r, i))
      carried[i] = ev_no_rows(r, i);
    else if (at.node)
      carried[i] = ev_recall_counter(r, i, first, first, at);
    if (!carried[i].node) return (leat_value){0};
  }
  return at;
}

// Reverses the iterations behind `carried`.
static leat_node *reverse_chunk(const reversal *r, const checkpoints *c, const leat_value *carried,
                                const chunk *chunk) {
  leat_dim rows = leat_dim_const(c->chunk);
  history h = {.first = chunk->to, .appended = c->history->appended};
  ev_again keeping = {.from = carried, .limit = chunk->reversed, .kept = &rows, .drops = true};
  leat_node *kept = ev_run_again(r, &keeping);
  if (!kept) return NULL;
  take_history(r, kept, carried, &h);
  h.gradients = leat_new_array(r->e->arena, leat_value, (size_t)r->node->input_count + 1);
  for (uint32_t i = 0; i < r->node->input_count; i++)
    if (is_wanted(r, i)) h.gradients[i] = ev_parameter(r, gradient_name(r, i), c->gradients[i]);
  return reverse_rows(r, &h);
}

static bool chunk_body(const reversal *r, const checkpoints *c, results *all) {
  leat_value *carried = leat_new_array(r->e->arena, leat_value, (size_t)r->carried + 1);
  leat_value end = ev_parameter(r, "count", 0), used = ev_parameter(r, "used", c->used);
  leat_value from = last_checkpoint(r, c, carried);
  chunk chunk;
  if (!from.node || !next_chunk(r, c, end, from, used, &chunk)) return false;
  ev_again on = {.from = carried, .count = from, .limit = chunk.to, .drops = true};
  leat_node *again = ev_run_again(r, &on);
  if (!again) return false;
  for (uint32_t i = 0; i < r->carried; i++) carried[i] = (leat_value){again, i};
  leat_node *reversed = reverse_chunk(r, c, carried, &chunk);
  if (!reversed) return false;
  add_result(all, 0, ev_operation(r, LEAT_OPERATOR_SUB, end, ev_tensor(chunk.reversed)));
  for (uint32_t port = 1; port < c->used; port++)
    add_result(all, port, (leat_value){reversed, port});
  add_result(all, c->used, chunk.used);
  uint32_t row = c->used + 1;
  add_result(all, row, ev_set_row(r, ev_parameter(r, "at", row), used, chunk.to));
  for (uint32_t i = 0; i < r->carried; i++)
    if (ev_has_rows(r, i)) {
      leat_value kept = ev_parameter(r, "checkpoints", ++row);
      add_result(all, row, ev_set_row(r, kept, used, carried[i]));
    }
  return true;
}

// The first checkpoint is what the loop begins with.
static leat_value first_checkpoint(const reversal *r, const checkpoints *c, leat_value value) {
  leat_value rows = ev_new_rows(r, leat_value_type(value), leat_dim_const(c->slots));
  leat_value first = ev_number(r, 0);
  return rows.node ? ev_set_row(r, rows, first, value) : rows;
}

static leat_node *reverse_chunks(const reversal *r, const history *h, int64_t chunk) {
  evaluator *e = r->e;
  uint32_t kept = 0;
  leat_value *first = leat_new_array(e->arena, leat_value, (size_t)r->carried + 2);
  leat_value one = ev_number(r, 1), zero = ev_number(r, 0);
  checkpoints c = {.chunk = chunk, .slots = chunk + 1, .history = h};
  first[kept++] = first_checkpoint(r, &c, zero);
  for (uint32_t i = 0; i < r->carried; i++)
    if (ev_has_rows(r, i)) first[kept++] = first_checkpoint(r, &c, r->node->inputs[i]);
  for (uint32_t i = 0; i < kept; i++)
    if (!first[i].node) return NULL;
  results all = new_results(r, 2 + wanted_count(r) + kept);
  ev_region region;
  ev_region_begin(e, &region, LEAT_OP_while_loop, NULL, r->span);
  region.built.parallel = leat_node_attr(r->node, "parallel")->i;
  leat_region_add(&region.built, h->count);
  c.gradients = add_gradients(r, &region.built, h->gradients);
  c.used = leat_region_add(&region.built, one);
  for (uint32_t i = 0; i < kept; i++) leat_region_add(&region.built, first[i]);
  bool ok = open_loop(r) && chunk_body(r, &c, &all);
  return close_loop(r, ok, &all);
}

// -- Under a limit of memory ----------------------------------------------------------------------

static double bytes_of(const leat_type *type) {
  int64_t elements = leat_type_static_elements(type);
  return elements < 0 ? INFINITY : (double)elements * (double)leat_dtype_size(type->dtype);
}

// Of what is kept of a turn; INFINITY: known only while running.
static double row_bytes(const reversal *r) {
  double bytes = 0;
  for (uint32_t i = 0; i < r->carried; i++) {
    uint32_t kept;
    const leat_type *types = ev_kept_types(r, i, &kept);
    for (uint32_t k = 0; k < kept; k++) bytes += bytes_of(&types[k]);
  }
  return bytes;
}

// What the regions of the entry give, of which rows that other loops keep are most.
static double bytes_kept(const reversal *r) {
  ev_numbered all = ev_number_nodes(r->e, true, r->e->arena);
  double bytes = 0;
  for (uint32_t i = 0; i < all.count; i++) {
    const leat_node *node = all.nodes[i];
    if (node->info->kind != LEAT_KIND_REGION || node->entry != r->e->at.entry) continue;
    for (uint32_t k = 0; k < node->output_count; k++)
      if (isfinite(bytes_of(&node->outputs[k]))) bytes += bytes_of(&node->outputs[k]);
  }
  return bytes;
}

// So many rows may be kept: half of what a step may take is left to all else.
static double most_rows(const reversal *r) {
  double left = (double)r->e->options.memory_limit / 2 - bytes_kept(r), row = row_bytes(r);
  if (!r->e->options.memory_limit || row == 0) return INFINITY;
  return left > 0 ? left / row : 0;
}

static bool rows_fit(const reversal *r, leat_dim count) {
  if (!leat_dim_is_const(count)) return !r->e->options.memory_limit;
  return (double)count.value <= most_rows(r);
}

// Iterations that are reversed at once, for which there are about as many checkpoints: √T.
static int64_t chunk_size(const reversal *r, const leat_dim *count) {
  bool known = count && leat_dim_is_const(*count);
  double size = known ? ceil(sqrt((double)count->value)) : USUAL;
  return (int64_t)fmax(fmin(size, most_rows(r) / 2), LEAST);
}

// -- Loops ----------------------------------------------------------------------------------------

// Runs the loop once more, in its place where it may.
static leat_node *run_again(const reversal *r, ev_again *how, bool replaces) {
  replaces = replaces && ev_may_replace(r);
  how->drops = !replaces;
  leat_node *again = ev_run_again(r, how);
  if (again && replaces) ev_replace_loop(r, again, how);
  return again;
}

// With rows for so many iterations.
static bool keep_rows(const reversal *r, leat_dim count, history *out) {
  ev_again keeping = {.kept = &count};
  leat_node *kept = run_again(r, &keeping, true);
  if (!kept) return false;
  take_history(r, kept, r->node->inputs, out);
  return true;
}

static bool is_elsewhere(const leat_graph *body, const char *device) {
  for (uint32_t i = 0; i < body->nodes.count; i++) {
    const leat_node *node = body->nodes.items[i];
    if (node->colocate || (node->device && node->device != device)) return true;
    for (int k = 0; k < node->info->attr_count; k++)
      if (leat_node_body(node, k) && is_elsewhere(leat_node_body(node, k), device)) return true;
  }
  return false;
}

// What grows is on one device.
static bool can_append(const reversal *r) {
  return !is_elsewhere(r->condition, r->node->device) && !is_elsewhere(r->body, r->node->device);
}

// Rows of all turns, one behind the other: there are *turns of each.
static bool append_rows(const reversal *r, history *out, leat_dim *turns) {
  leat_dim none = leat_dim_const(0);
  ev_again keeping = {.kept = &none, .appends = true};
  leat_node *again = run_again(r, &keeping, true);
  if (!again) return false;
  take_history(r, again, r->node->inputs, out);
  bool rows = again->output_count > r->carried + 1;
  ev dim = rows ? ev_of_dim(again->outputs[r->carried + 1].dims[0])
                : ev_dynamic(r->e, ev_tensor(out->count), r->span);
  if (dim.kind != EV_DIM) return false;
  *turns = dim.dim;
  out->turns = turns;
  return true;
}

// What the loop itself counts, as one that other gradients went through does.
static leat_value counted(const reversal *r) {
  for (uint32_t i = 0; i < r->carried; i++) {
    int64_t step;
    leat_dim from;
    bool grows = leat_loop_step(r->node, i, &step) && step == 1;
    if (grows && r->node->outputs[i].dtype == LEAT_i64 &&
        leat_known_integer(r->node->inputs[i], &from) && leat_dim_is(from, 0))
      return (leat_value){r->node, i};
  }
  return (leat_value){0};
}

// replaces: what counts may be the loop.
static bool count_iterations(const reversal *r, bool replaces, history *out) {
  ev_again counting = {0};
  if (replaces) out->count = counted(r);
  if (out->count.node) return true;
  leat_node *again = run_again(r, &counting, replaces);
  if (again) out->count = (leat_value){again, r->carried};
  return again;
}

static leat_node *reverse(const reversal *r, history *h) {
  leat_dim turns;
  bool exact = leat_loop_turns(r->node, &turns), known = leat_loop_most_turns(r->node, &turns);
  bool limited = r->e->options.memory_limit, fits = known && rows_fit(r, turns);
  if (fits && exact && !limited) h->turns = &turns;
  if (fits) return keep_rows(r, turns, h) ? reverse_rows(r, h) : NULL;
  bool chunks = r->e->at.region || limited;
  if (!chunks && can_append(r)) return append_rows(r, h, &turns) ? reverse_rows(r, h) : NULL;
  if (!count_iterations(r, chunks, h)) return NULL;
  if (chunks) return reverse_chunks(r, h, chunk_size(r, known ? &turns : NULL));
  ev dim = ev_dynamic(r->e, ev_tensor(h->count), r->span);
  if (dim.kind != EV_DIM || !keep_rows(r, dim.dim, h)) return NULL;
  h->turns = &dim.dim;
  return reverse_rows(r, h);
}

bool ev_reverse_loop(const reversal *r) {
  uint32_t inputs = r->node->input_count, port = 1;
  history h = {.gradients = leat_new_array(r->e->arena, leat_value, (size_t)inputs + 1)};
  for (uint32_t i = 0; i < inputs; i++)
    if (is_wanted(r, i))
      h.gradients[i] =
          ev_or_zeros(r, i < r->carried ? r->partials[i] : ev_error(), r->node->inputs[i]);
  h.appended = leat_new_array(r->e->arena, leat_value, (size_t)r->carried + 1);
  for (uint32_t i = 0; i < r->carried; i++)
    if (ev_appends(r, i)) h.appended[i] = ev_dense(r, r->partials[i]);
  leat_node *node = reverse(r, &h);
  for (uint32_t i = 0; node && i < r->carried; i++)
    if (r->wanted[i] && ev_appends(r, i)) r->out[i] = rows_before(r, i, h.appended[i]);
  for (uint32_t i = 0; node && i < inputs; i++) {
    if (!is_wanted(r, i)) continue;
    r->out[i] = ev_tensor((leat_value){node, port++});
    if (h.sparse && h.sparse[i].kind == EV_ROWS) r->out[i] = h.sparse[i];
  }
  return node;
}
