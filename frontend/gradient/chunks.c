// A loop backwards where not all of its turns are kept: they are reversed a chunk at a time, the
// last ones first, for which rows are kept. The loop is done again up to there from the nearest of
// some checkpoints, and on the way makes others; where, `next_chunk` of the library says
// (stdlib/grad.leat).
#include "frontend/evaluate/evaluate.h"
#include "frontend/gradient/reversal.h"
#include "frontend/values/tensors.h"

// The inputs of the loop over chunks behind the gradients: how many checkpoints there are, the
// iterations they are of, and rows that have what was carried there.
typedef struct checkpoints {
  uint32_t *gradients, used;
  int64_t chunk, slots; // iterations reversed at once, and checkpoints; the last slot is never used
  const ev_history *history;
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
  ev_history h = {.first = chunk->to, .appended = c->history->appended};
  ev_again keeping = {.from = carried, .limit = chunk->reversed, .kept = &rows, .drops = true};
  leat_node *kept = ev_run_again(r, &keeping);
  if (!kept) return NULL;
  ev_take_history(r, kept, carried, &h);
  h.gradients = leat_new_array(r->e->arena, leat_value, (size_t)r->node->input_count + 1);
  for (uint32_t i = 0; i < r->node->input_count; i++)
    if (ev_is_wanted(r, i))
      h.gradients[i] = ev_parameter(r, ev_gradient_name(r, i), c->gradients[i]);
  return ev_reverse_turns(r, &h);
}

static bool chunk_body(const reversal *r, const checkpoints *c) {
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
  leat_value left = ev_operation(r, LEAT_OPERATOR_SUB, end, ev_tensor(chunk.reversed));
  bool ok = ev_backward_next(r, 0, left);
  for (uint32_t port = 1; ok && port < c->used; port++)
    ok = ev_backward_next(r, port, (leat_value){reversed, port});
  uint32_t row = c->used + 1;
  leat_value at = ev_set_row(r, ev_parameter(r, "at", row), used, chunk.to);
  ok = ok && ev_backward_next(r, c->used, chunk.used) && ev_backward_next(r, row, at);
  for (uint32_t i = 0; ok && i < r->carried; i++) {
    if (!ev_has_rows(r, i)) continue;
    leat_value kept = ev_parameter(r, "checkpoints", ++row);
    ok = ev_backward_next(r, row, ev_set_row(r, kept, used, carried[i]));
  }
  return ok;
}

// The first checkpoint is what the loop begins with.
static leat_value first_checkpoint(const reversal *r, const checkpoints *c, leat_value value) {
  leat_value rows = ev_new_rows(r, leat_value_type(value), leat_dim_const(c->slots));
  leat_value first = ev_number(r, 0);
  return rows.node ? ev_set_row(r, rows, first, value) : rows;
}

leat_node *ev_reverse_chunks(const reversal *r, const ev_history *h, int64_t chunk) {
  uint32_t kept = 0;
  leat_value *first = leat_new_array(r->e->arena, leat_value, (size_t)r->carried + 2);
  leat_value one = ev_number(r, 1), zero = ev_number(r, 0);
  checkpoints c = {.chunk = chunk, .slots = chunk + 1, .history = h};
  first[kept++] = first_checkpoint(r, &c, zero);
  for (uint32_t i = 0; i < r->carried; i++)
    if (ev_has_rows(r, i)) first[kept++] = first_checkpoint(r, &c, r->node->inputs[i]);
  for (uint32_t i = 0; i < kept; i++)
    if (!first[i].node) return NULL;
  ev_region region;
  c.gradients = ev_backward_begin(r, &region, h->count, h->gradients);
  c.used = leat_region_add(&region.built, one);
  for (uint32_t i = 0; i < kept; i++) leat_region_add(&region.built, first[i]);
  bool ok = ev_backward_open(r) && chunk_body(r, &c);
  return ev_backward_end(r, ok);
}