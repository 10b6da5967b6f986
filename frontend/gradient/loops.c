// The gradient of a loop is a loop that runs backwards: in each iteration it has what the loop
// carried then, adds up the gradients of what the bodies captured, and makes those of what was
// carried before.
//
// What was carried is kept by the loop done again, row by row: as many rows as there may be
// iterations, as the condition says where it compares a count with a dim, else as many as a first
// loop counts.
//
// Where that cannot be said (in a body no dim can be computed), the iterations are reversed a chunk
// at a time, the last ones first, for which rows are kept. The loop is done again up to there from
// the nearest of some checkpoints, and on the way makes others; where, `next_chunk` of the library
// says (stdlib/grad.leat).
#include "frontend/gradient/walk.h"

#include "frontend/gradient/gradient.h"
#include "frontend/gradient/reversal.h"
#include "ops/turns.h"

#include <math.h>

// So many checkpoints and iterations in a chunk, where their number is not known. Of 1,000
// iterations each is then done again three times on average, of 30,000 five times.
enum { USUAL = 16, LEAST = 2 };

// The iterations that are reversed, and gradients. By input of the loop: a gradient of what is
// carried, a sum for what is captured; {NULL}: none is wanted.
typedef struct history {
  leat_value count; // of iterations
  leat_value *kept; // by carried value: what it was in each, of a counter in the first
  leat_value *gradients;
} history;

// The inputs of the backward loop: the count, the gradients, what is captured, rows.
typedef struct backward {
  uint32_t *gradients, *captured, kept_first;
} backward;

static bool is_wanted(const reversal *r, uint32_t input) {
  return input < r->carried ? ev_has_gradient(r->node->inputs[input]) : r->wanted[input];
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
  ev_region_close(r->e);
  if (left.node) ev_give(r, 0, left);
  ev_region_open(r->e);
  return left.node;
}

// The loop, which carries its first `count` inputs. NULL: reported.
static leat_node *close_loop(const reversal *r, bool ok, const leat_value *next, uint32_t count) {
  evaluator *e = r->e;
  ev_region_close(e);
  for (uint32_t i = 0; i < count; i++) ok = ok && next[i].node;
  if (!ok) {
    ev_region_drop(e);
    return NULL;
  }
  for (uint32_t i = 0; i < count; i++) {
    ev_give(r, 1, next[i]);
    leat_region_carry(&e->region->built, i);
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

// What the loop carried when it had run `count` times, in the open body, and what it captures.
static bool recall(const reversal *r, const backward *b, leat_value count, leat_value *params) {
  for (uint32_t i = r->carried; i < r->node->input_count; i++)
    params[i] = ev_parameter(r, "x", b->captured[i]);
  if (!count.node) return false;
  for (uint32_t i = 0; i < r->carried; i++) {
    params[i] = ev_recall(r, i, ev_parameter(r, "rows", b->kept_first + i), count);
    if (!params[i].node) return false;
  }
  return true;
}

static bool reverse_body(const reversal *r, const backward *b, leat_value *next) {
  evaluator *e = r->e;
  uint32_t inputs = r->node->input_count, first = e->graph->nodes.count;
  leat_value *params = leat_new_array(e->arena, leat_value, (size_t)inputs + 1);
  leat_value *ys = leat_new_array(e->arena, leat_value, (size_t)r->carried + 1);
  ev *dys = leat_new_array(e->arena, ev, (size_t)r->carried + 1);
  ev *targets = leat_new_array(e->arena, ev, (size_t)inputs + 1);
  ev *gradients = leat_new_array(e->arena, ev, (size_t)inputs + 1);
  leat_value count = ev_operation(r, LEAT_OPERATOR_SUB, ev_parameter(r, "count", 0), ev_int(1));
  if (!recall(r, b, count, params)) return false;
  for (uint32_t i = 0; i < inputs; i++) targets[i] = ev_tensor(params[i]);
  for (uint32_t i = 0; i < r->carried; i++)
    dys[i] = is_wanted(r, i) ? ev_tensor(ev_parameter(r, "dy", b->gradients[i])) : ev_error();
  ev_region_repeat(e, r->body, params, ys);
  if (!ev_gradients_between(e, first, ys, dys, r->carried, targets, inputs, gradients, r->span))
    return false;
  *next++ = count;
  for (uint32_t i = 0; i < inputs; i++) {
    if (!is_wanted(r, i)) continue;
    if (i < r->carried) {
      *next++ = ev_or_zeros(r, gradients[i], params[i]);
      continue;
    }
    leat_value sum = ev_parameter(r, "sum", b->gradients[i]);
    leat_value more = ev_dense(r, gradients[i]);
    *next++ = more.node ? ev_operation(r, LEAT_OPERATOR_ADD, sum, ev_tensor(more)) : sum;
  }
  return true;
}

// The loop backwards, for which rows are kept. What it carries is the count, then gradients.
static leat_node *reverse_rows(const reversal *r, const history *h) {
  evaluator *e = r->e;
  uint32_t inputs = r->node->input_count, results = 1 + wanted_count(r);
  backward b = {.captured = leat_new_array(e->arena, uint32_t, (size_t)inputs + 1)};
  leat_value *next = leat_new_array(e->arena, leat_value, results);
  ev_region region;
  ev_region_begin(e, &region, LEAT_OP_while_loop, NULL, r->span);
  region.built.parallel = leat_node_attr(r->node, "parallel")->i;
  leat_region_add(&region.built, h->count);
  b.gradients = add_gradients(r, &region.built, h->gradients);
  for (uint32_t i = r->carried; i < inputs; i++)
    b.captured[i] = leat_region_add(&region.built, r->node->inputs[i]);
  b.kept_first = region.built.inputs.count;
  for (uint32_t i = 0; i < r->carried; i++) leat_region_add(&region.built, h->kept[i]);
  bool ok = open_loop(r) && reverse_body(r, &b, next);
  return close_loop(r, ok, next, results);
}

// Of the loop done again, which began with `from`: behind what is carried stand the count, then
// rows.
static void take_history(const reversal *r, leat_node *again, const leat_value *from,
                         history *out) {
  uint32_t port = r->carried;
  out->count = (leat_value){again, port};
  out->kept = leat_new_array(r->e->arena, leat_value, (size_t)r->carried + 1);
  for (uint32_t i = 0; i < r->carried; i++)
    out->kept[i] = ev_has_rows(r, i) ? (leat_value){again, ++port} : from[i];
}

// -- By checkpoints -------------------------------------------------------------------------------

// The inputs of the loop over chunks behind the gradients: how many checkpoints there are, the
// iterations they are of, and rows that have what was carried there.
typedef struct checkpoints {
  uint32_t *gradients, used;
  int64_t chunk, slots; // iterations reversed at once, and checkpoints; the last slot is never used
  leat_value *next;     // what the body results in
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
    else if (at.node)
      carried[i] = ev_recall(r, i, first, at);
    if (!carried[i].node) return (leat_value){0};
  }
  return at;
}

// Reverses the iterations behind `carried`, so many.
static leat_node *reverse_chunk(const reversal *r, const checkpoints *c, const leat_value *carried,
                                leat_value count) {
  leat_dim rows = leat_dim_const(c->chunk);
  history h = {0};
  leat_node *kept = ev_run_again(r, &(ev_again){.from = carried, .limit = count, .kept = &rows});
  if (!kept) return NULL;
  take_history(r, kept, carried, &h);
  h.gradients = leat_new_array(r->e->arena, leat_value, (size_t)r->node->input_count + 1);
  for (uint32_t i = 0; i < r->node->input_count; i++)
    if (is_wanted(r, i)) h.gradients[i] = ev_parameter(r, gradient_name(r, i), c->gradients[i]);
  return reverse_rows(r, &h);
}

static bool chunk_body(const reversal *r, const checkpoints *c) {
  leat_value *carried = leat_new_array(r->e->arena, leat_value, (size_t)r->carried + 1);
  leat_value *next = c->next, end = ev_parameter(r, "count", 0);
  leat_value from = last_checkpoint(r, c, carried), used = ev_parameter(r, "used", c->used);
  chunk chunk;
  if (!from.node || !next_chunk(r, c, end, from, used, &chunk)) return false;
  leat_node *again =
      ev_run_again(r, &(ev_again){.from = carried, .count = from, .limit = chunk.to});
  if (!again) return false;
  for (uint32_t i = 0; i < r->carried; i++) carried[i] = (leat_value){again, i};
  leat_node *reversed = reverse_chunk(r, c, carried, chunk.reversed);
  if (!reversed) return false;
  *next++ = ev_operation(r, LEAT_OPERATOR_SUB, end, ev_tensor(chunk.reversed));
  for (uint32_t port = 1; port < reversed->output_count; port++)
    *next++ = (leat_value){reversed, port};
  *next++ = chunk.used;
  *next++ = ev_set_row(r, ev_parameter(r, "at", c->used + 1), used, chunk.to);
  for (uint32_t i = 0, row = c->used + 2; i < r->carried; i++)
    if (ev_has_rows(r, i))
      *next++ = ev_set_row(r, ev_parameter(r, "checkpoints", row++), used, carried[i]);
  return true;
}

// The first checkpoint is what the loop begins with.
static leat_value first_checkpoint(const reversal *r, const checkpoints *c, leat_value value) {
  leat_value rows = ev_new_rows(r, value, leat_dim_const(c->slots));
  leat_value first = ev_number(r, 0);
  return rows.node ? ev_set_row(r, rows, first, value) : rows;
}

static leat_node *reverse_chunks(const reversal *r, const history *h, int64_t chunk) {
  evaluator *e = r->e;
  uint32_t results = 1 + wanted_count(r), kept = 0;
  leat_value *first = leat_new_array(e->arena, leat_value, (size_t)r->carried + 2);
  leat_value one = ev_number(r, 1), zero = ev_number(r, 0);
  checkpoints c = {.chunk = chunk, .slots = chunk + 1};
  first[kept++] = first_checkpoint(r, &c, zero);
  for (uint32_t i = 0; i < r->carried; i++)
    if (ev_has_rows(r, i)) first[kept++] = first_checkpoint(r, &c, r->node->inputs[i]);
  for (uint32_t i = 0; i < kept; i++)
    if (!first[i].node) return NULL;
  c.next = leat_new_array(e->arena, leat_value, results + 1 + kept);
  ev_region region;
  ev_region_begin(e, &region, LEAT_OP_while_loop, NULL, r->span);
  region.built.parallel = leat_node_attr(r->node, "parallel")->i;
  leat_region_add(&region.built, h->count);
  c.gradients = add_gradients(r, &region.built, h->gradients);
  c.used = leat_region_add(&region.built, one);
  for (uint32_t i = 0; i < kept; i++) leat_region_add(&region.built, first[i]);
  bool ok = open_loop(r) && chunk_body(r, &c);
  return close_loop(r, ok, c.next, results + 1 + kept);
}

// -- Under a limit of memory ----------------------------------------------------------------------

static double bytes_of(const leat_type *type) {
  int64_t elements = leat_type_static_elements(type);
  return elements < 0 ? INFINITY : (double)elements * (double)leat_dtype_size(type->dtype);
}

// Of one row of all that the loop carries; INFINITY: known only while running.
static double row_bytes(const reversal *r) {
  double bytes = 0;
  for (uint32_t i = 0; i < r->carried; i++)
    if (ev_has_rows(r, i)) bytes += bytes_of(leat_value_type(r->node->inputs[i]));
  return bytes;
}

// What the regions of the entry give, of which rows that other loops keep are most.
static double bytes_kept(const reversal *r) {
  const leat_graph *graph = r->e->graph;
  double bytes = 0;
  for (uint32_t i = 0; i < graph->nodes.count; i++) {
    const leat_node *node = graph->nodes.items[i];
    if (node->info->kind != LEAT_KIND_REGION || node->entry != r->e->entry) continue;
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

// Runs the loop once more, with rows for so many iterations.
static bool keep_rows(const reversal *r, leat_dim count, bool replaces, history *out) {
  ev_again keeping = {.kept = &count};
  leat_node *kept = ev_run_again(r, &keeping);
  if (!kept) return false;
  if (replaces) ev_replace_loop(r, kept, &keeping);
  take_history(r, kept, r->node->inputs, out);
  return true;
}

static bool count_iterations(const reversal *r, history *out) {
  ev_again counting = {0};
  leat_node *counted = ev_run_again(r, &counting);
  if (!counted) return false;
  ev_replace_loop(r, counted, &counting);
  out->count = (leat_value){counted, r->carried};
  return true;
}

static leat_node *reverse(const reversal *r, history *h) {
  leat_dim bound;
  bool exact, known = leat_loop_turns(r->node, &bound, &exact),
              limited = r->e->options.memory_limit;
  const leat_dim *most = known ? &bound : NULL;
  if (known && rows_fit(r, bound)) return keep_rows(r, bound, true, h) ? reverse_rows(r, h) : NULL;
  if (!count_iterations(r, h)) return NULL;
  if (r->e->region || limited) return reverse_chunks(r, h, chunk_size(r, most));
  ev dim = ev_dynamic(r->e, ev_tensor(h->count), r->span);
  bool kept = dim.kind == EV_DIM && keep_rows(r, dim.dim, false, h);
  return kept ? reverse_rows(r, h) : NULL;
}

bool ev_reverse_loop(const reversal *r) {
  uint32_t inputs = r->node->input_count, port = 1;
  history h = {.gradients = leat_new_array(r->e->arena, leat_value, (size_t)inputs + 1)};
  for (uint32_t i = 0; i < inputs; i++)
    if (is_wanted(r, i))
      h.gradients[i] =
          ev_or_zeros(r, i < r->carried ? r->partials[i] : ev_error(), r->node->inputs[i]);
  leat_node *node = reverse(r, &h);
  for (uint32_t i = 0; node && i < inputs; i++)
    if (is_wanted(r, i)) r->out[i] = ev_tensor((leat_value){node, port++});
  return node;
}
