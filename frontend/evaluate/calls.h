// Calls and operators: arguments, types, and the nodes that are made of them. Internal to
// frontend/evaluate/.
#ifndef LEAT_FRONTEND_CALLS_H
#define LEAT_FRONTEND_CALLS_H

#include "frontend/evaluate/evaluate.h"
#include "frontend/values/builtin.h"

// -- types.c --------------------------------------------------------------------------------------
// The type an expression means, all of its names being known in the scope of the frame.
bool ev_type_of(evaluator *e, const leat_expr *expr, leat_type *out);
bool ev_is_type(evaluator *e, const leat_expr *expr); // whether `NAME[…]` is a type here
// The type variable is bound by numbers: what has that dtype may be one.
bool ev_is_weak_dtype(const ev_scope *scope, const leat_expr *base);
bool ev_as_dim(evaluator *e, ev value, leat_span span, leat_dim *out);
// "; `dynamic(k)` is a dim …" of an integer scalar where a dim or an int is asked for.
const char *ev_as_dynamic(evaluator *e, ev value, leat_span span, const char *otherwise);
// The same of a row of integers where a list is asked for; else "".
const char *ev_as_dynamic_items(evaluator *e, ev value, leat_span span);
bool ev_as_dims(evaluator *e, ev value, leat_span span, leat_dim **out, uint32_t *count);
// Numbers below 0 too.
bool ev_as_offset(evaluator *e, ev value, leat_span span, leat_dim *out);
bool ev_as_offsets(evaluator *e, ev value, uint32_t most, leat_span span, leat_dim **out,
                   uint32_t *count);
// A value for something declared as `declared` (NULL: anything): a literal becomes a tensor of that
// type, a variable is read, the rest is checked. `what` is for messages: "`y`".
ev ev_fit(evaluator *e, const leat_expr *declared, ev value, leat_span span, const char *what,
          const char *hint);

// -- bind.c ---------------------------------------------------------------------------------------
// Binds the arguments to the parameters of `function` in a new scope; NULL: reported.
ev_scope *ev_bind_arguments(evaluator *e, const ev_function *function, const ev_argument *args,
                            uint32_t count, leat_span call);

// -- call.c ---------------------------------------------------------------------------------------
ev ev_callee(evaluator *e, const leat_expr *expr); // what is called; a value that can be is first
ev ev_call_expr(evaluator *e, const leat_expr *expr, const char *hint);
ev ev_call_definition(evaluator *e, const ev_function *function, const ev_argument *args,
                      uint32_t count, leat_span span, const char *as, const char *hint);
// The arguments of a call, values and names; NULL: reported. `extra` is room for more behind them.
ev_argument *ev_arguments(evaluator *e, const leat_arguments *args, uint32_t extra,
                          uint32_t *out_count);

// -- primitive.c ----------------------------------------------------------------------------------
ev ev_call_op(evaluator *e, leat_op op, const ev_argument *args, uint32_t count, leat_span span,
              const char *hint);

// -- iteration.c ----------------------------------------------------------------------------------
// The count of a random op, which differs in each iteration of the loops around.
ev ev_region_count(evaluator *e, ev count, leat_span span);

// -- numbers.c ------------------------------------------------------------------------------------
// An op on compile-time numbers, or the larger or smaller of two dims. EV_NONE: it is not that.
ev ev_call_on_numbers(evaluator *e, leat_op op, const ev_argument *args, uint32_t count,
                      leat_span span);
// The same of a function of the library whose parameters are tensors.
ev ev_call_library_on_numbers(evaluator *e, const ev_function *function, const ev_argument *args,
                              uint32_t count, leat_span span);

// -- indexing.c -----------------------------------------------------------------------------------
ev ev_index(evaluator *e, const leat_expr *expr, const char *hint);

// -- index_tensors.c ------------------------------------------------------------------------------
typedef struct ev_indices {
  ev tensors[LEAT_MAX_RANK];
  int32_t axes[LEAT_MAX_RANK]; // that they are for, of what basic indexing leaves of x
  uint32_t count, last;        // last: the item that was an index, an int or a tensor
  bool any, apart;             // apart: something else stands between indices
} ev_indices;
void ev_add_index(ev_indices *indices, uint32_t item);
bool ev_add_index_tensor(evaluator *e, ev_indices *indices, ev index, int32_t axis, leat_span span);
ev ev_index_by_tensors(evaluator *e, const ev_indices *indices, ev value, leat_span span,
                       const char *hint);

// -- sequences.c ----------------------------------------------------------------------------------
// Of lists and strings.
ev ev_item(evaluator *e, const leat_expr *item, ev sequence); // sequence[item]
ev ev_index_sequence(evaluator *e, const leat_expr *expr, ev sequence);
ev ev_append(evaluator *e, ev left, ev right, leat_span span); // two of one kind
int ev_compare_strings(ev left, ev right);                     // as memcmp says it

// -- builtins.c -----------------------------------------------------------------------------------
ev ev_call_builtin(evaluator *e, const ev_builtin *builtin, const ev_argument *args, uint32_t count,
                   leat_span span, const char *hint);

// -- growing.c ------------------------------------------------------------------------------------
// Declared `any`: it grows along whichever axes it has to.
bool ev_grows_anyhow(const leat_expr *declared);
// The axes along which a result of that declared type may grow, 1 << each: those that are `?`.
uint32_t ev_growing_axes(const leat_expr *declared, const leat_type *type);
// The type, with the extents that the value has along such axes.
leat_type ev_grown_to(const leat_type *type, uint32_t axes, leat_value value);
// A literal of a type with such axes as a tensor, with its own extents there; others as they are.
ev ev_fit_open(evaluator *e, const leat_expr *declared, ev value, leat_span span);
// For messages: the type with a `?` along these axes, and where the other, of the same rank,
// differs.
const char *ev_open_type(evaluator *e, uint32_t axes, const leat_type *type,
                         const leat_type *other);

// -- trial.c --------------------------------------------------------------------------------------
// What is evaluated between these is taken back: outside of any region, without warnings, and as if
// no state had been used yet. Nothing that was there before changes. Dims stay, which types that
// were found may have.
typedef struct ev_trial {
  ev_extent extent;
  leat_graph *graph;
  ev_context around;
  leat_region apart; // whose body its nodes are made in
  leat_map orders;
  uint32_t nodes;
  bool mute;
} ev_trial;
// graph: of its own, empty; NULL: what it makes may use what is there.
void ev_trial_begin(evaluator *e, ev_trial *trial, leat_graph *graph);
void ev_trial_end(evaluator *e, ev_trial *trial);

#endif
