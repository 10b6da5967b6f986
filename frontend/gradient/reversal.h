// What the files of gradients through branches and loops use of one another:
//
//   regions.c        branches                     needs.c      what in loops matters
//   loops.c          loops: what is kept          chunks.c     of which some turns are kept at once
//   backward_loop.c  the loop that runs back      turn_rows.c  rows that its turns have
//   again.c          a loop, done again           kept.c       what is kept of a turn
//   reversal.c       what all of them use
#ifndef LEAT_FRONTEND_REVERSAL_H
#define LEAT_FRONTEND_REVERSAL_H

#include "frontend/values/region.h"

typedef struct reversal {
  evaluator *e;
  leat_node *node;
  const ev *partials; // of the outputs
  const bool *wanted; // by input
  ev *out;            // by input
  leat_span span;
  const leat_graph *condition, *body; // of a loop
  uint32_t carried;                   // of a loop: so many inputs are
  const bool *needed;                 // of a loop: by input, the loss depends on it
} reversal;

// -- reversal.c -----------------------------------------------------------------------------------
bool ev_has_gradient(leat_value value);
leat_value ev_dense(const reversal *r, ev gradient); // {NULL}: there is none
// The gradient, or zeros of the value's type.
leat_value ev_or_zeros(const reversal *r, ev gradient, leat_value like);
leat_value ev_operation(const reversal *r, leat_operator operator, leat_value a, ev b);
// An i64 of the graph.
leat_value ev_number(const reversal *r, int64_t number);
// In the open body, and of a closed one.
leat_value ev_parameter(const reversal *r, const char *name, uint32_t input);
void ev_give(const reversal *r, uint32_t body, leat_value value);

// -- needs.c --------------------------------------------------------------------------------------
bool *ev_needed(const reversal *r); // of a loop

// -- loops.c --------------------------------------------------------------------------------------
bool ev_reverse_loop(const reversal *r);

// The turns that are reversed, and gradients. By input of the loop: a gradient of what is carried,
// a sum for what is captured; {NULL}: none is wanted.
typedef struct ev_history {
  leat_value count; // of turns: a result of the loop that results in what is behind them, too
  leat_value first; // how many were before these; {NULL}: none
  leat_value *
      *kept; // by carried value: rows of what it was in each, of a counter that in the first
  leat_value *gradients;
  leat_value *appended;  // by carried value: the gradient of all that is appended; {NULL}: none
  const leat_dim *turns; // the count as a dim, for which sparse rows are kept; NULL: they are added
  ev *sparse;            // by input: what came of them
  uint32_t *ports;       // the first result that they are
} ev_history;

// -- backward_loop.c ------------------------------------------------------------------------------
// The loop backwards, for which rows are kept; it results in the count, which is 0, and the
// gradients that are wanted. NULL: reported.
leat_node *ev_reverse_turns(const reversal *r, ev_history *h);
bool ev_is_wanted(const reversal *r, uint32_t input); // its gradient is carried backwards
const char *ev_gradient_name(const reversal *r, uint32_t input);

// A loop that goes on as long as its first input, a count, is more than 0. The gradients that are
// wanted are the next ones: they are returned by input. Others are added before it is opened.
uint32_t *ev_backward_begin(const reversal *r, ev_region *region, leat_value count,
                            const leat_value *gradients);
bool ev_backward_open(const reversal *r); // the body; false: reported, as everywhere here
// The next result of the body, which is the next value of that input.
bool ev_backward_next(const reversal *r, uint32_t input, leat_value value);
leat_node *ev_backward_end(const reversal *r, bool ok);

// -- chunks.c -------------------------------------------------------------------------------------
leat_node *ev_reverse_chunks(const reversal *r, const ev_history *h, int64_t chunk);

// -- turn_rows.c ----------------------------------------------------------------------------------
// The number of the turn that was reached when that many of those reversed were done.
leat_value ev_turn_of(const reversal *r, const ev_history *h, leat_value count);
// In the backward loop's body: the gradient of what that turn appended.
ev ev_rows_of_turn(const reversal *r, const ev_history *h, uint32_t carried, leat_value count);
// Of what was there before the loop.
ev ev_rows_before(const reversal *r, uint32_t carried, leat_value all);
// What is captured has the sum of what it has in the turns, or all sparse rows.
leat_value ev_sum_of_turns(const reversal *r, const ev_history *h, uint32_t input, ev gradient);
bool ev_keep_sparse(const reversal *r, ev_history *h, uint32_t input, ev gradient,
                    leat_value count);
void ev_take_sparse(const reversal *r, ev_history *h, leat_node *node); // of all turns

// -- again.c --------------------------------------------------------------------------------------
// The loop with a count of its iterations behind what it carries, and behind that rows, which have
// what is kept of each.
typedef struct ev_again {
  const leat_value *from;                       // what is carried first; NULL: what the loop does
  leat_value count, limit;                      // from, to; {NULL}: from 0, to the loop's end
  const leat_dim *kept;                         // so many rows; NULL: none
  bool appends;                                 // rows are put behind those that are kept
  bool drops;                                   // it is without what the loop appends
  uint32_t rows;                                // so many tensors of rows were made
  leat_value *params[LEAT_REGION_BODIES];       // what was made of the bodies' parameters
  leat_node *const *copies[LEAT_REGION_BODIES]; // and of what else is in them
} ev_again;
leat_node *ev_run_again(const reversal *r, ev_again *how); // NULL: reported
bool ev_may_replace(const reversal *r);                    // nobody sees that it is another loop
// The loop with its count, and what it kept, is the loop from now on: it is not run twice.
void ev_replace_loop(const reversal *r, leat_node *by, const ev_again *how);

// Of the loop done again without a limit, which began with `from`: count and rows.
void ev_take_history(const reversal *r, leat_node *again, const leat_value *from, ev_history *out);

// -- kept.c ---------------------------------------------------------------------------------------
// Rows, so many, of that type.
leat_value ev_new_rows(const reversal *r, const leat_type *like, leat_dim count);
leat_value ev_set_row(const reversal *r, leat_value rows, leat_value at, leat_value value);
leat_value ev_append_row(const reversal *r, leat_value rows, leat_value value);
leat_value ev_row(const reversal *r, leat_value rows, leat_value at, const leat_type *type);

// Whether a turn only puts rows behind what is carried: it is not read, and nothing is kept of it.
bool ev_appends(const reversal *r, uint32_t carried);
leat_value ev_no_rows(const reversal *r, uint32_t carried); // of its type
// What appends has the dims of what it appends to, in the body done again with these parameters.
void ev_type_appended(const reversal *r, leat_node *const *copies, const leat_value *params);
// Whether what it was in a turn can be computed.
bool ev_is_counter(const reversal *r, uint32_t carried);
// All other carried values.
bool ev_has_rows(const reversal *r, uint32_t carried);
// What a counter, `first` in the first iteration, was in that one. `outside`: what `first` is given
// as, of which more may be known.
leat_value ev_recall_counter(const reversal *r, uint32_t carried, leat_value outside,
                             leat_value first, leat_value count);

// The result of the loop that counts its turns, such as one that other gradients went through has.
leat_value ev_turn_count(const reversal *r); // {NULL}: none
// Whether each turn sets the row of its number: before, that was what it was before the loop.
bool ev_sets_row(const reversal *r, uint32_t carried);
leat_value ev_unset_row(const reversal *r, uint32_t carried, leat_value behind, leat_value turn);
// What is kept, where the loop itself results in all of it: one that other gradients went through,
// or that keeps what it carried for itself. turns: so many, at most; NULL: that is not known.
bool ev_find_history(const reversal *r, const leat_dim *turns, ev_history *out);

// Whether a turn can be undone: it leaves what is carried as it is, or changes little of it, by
// these scatters, the last one first.
bool ev_is_undone(const reversal *r, uint32_t carried, leat_node_list *out);
// What rows are kept of in each turn: the value; or of each such scatter its indices and what was
// there before; nothing of counters.
leat_type *ev_kept_types(const reversal *r, uint32_t carried, uint32_t *count);
// That, of a turn done again in the open body, whose scatters have these copies. So many.
uint32_t ev_keep(const reversal *r, uint32_t carried, leat_value now, leat_node *const *copies,
                 leat_value *out);
// What was carried in that turn, of these rows, `behind` being what it was in the next one.
leat_value ev_recall(const reversal *r, uint32_t carried, leat_value behind, const leat_value *kept,
                     leat_value count);

#endif
