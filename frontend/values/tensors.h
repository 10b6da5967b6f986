// Values as tensors of the graph: the nodes that they become, the dtypes of numbers among them.
#ifndef LEAT_FRONTEND_TENSORS_H
#define LEAT_FRONTEND_TENSORS_H

#include "frontend/values/evaluator.h"
#include "ops/build.h"

// -- nodes.c --------------------------------------------------------------------------------------
bool ev_is_pure(leat_op op); // gives the same bits whoever runs it, and however often
bool ev_is_random(leat_op op);
// The two halves of ev_op: the values as tensors of the dtypes that the op takes, false: reported;
// and the node, of which every output is a result.
// `out_weak`: all that share the op's dtype are numbers.
bool ev_as_inputs(evaluator *e, leat_op op, const ev *inputs, uint32_t count, leat_span span,
                  leat_value *out, bool *out_weak);
ev ev_build(evaluator *e, leat_op op, const leat_value *inputs, uint32_t count,
            const leat_attr *attrs, leat_span span, const char *hint);
// What a call or an index gives the user: its tensors that are older than node number `first` are
// only passed on, and become identities. So they are values of their own, as they are where there
// was something to do, for names and for gradients with respect to them.
ev ev_own(evaluator *e, ev result, uint32_t first, leat_span span, const char *hint);
ev ev_op(evaluator *e, leat_op op, const ev *inputs, uint32_t count, const leat_attr *attrs,
         leat_span span, const char *hint);

// -- literal.c ------------------------------------------------------------------------------------
// The value, or an item of the list, is of that kind.
bool ev_has_kind(ev value, ev_kind kind);
// A dim, or a list in which numbers are known only while running.
bool ev_is_computed(const evaluator *e, ev value);
// Of a literal, or lists of them, the dtype that holds them as they are written; -1: its natural
// one.
int ev_exact_dtype(ev value);
// The literal's elements in the given type; one number fills the whole shape. False: reported.
bool ev_literal(evaluator *e, ev value, const leat_type *type, leat_span span, leat_tensor *out);
// A tensor of the graph from any value that can be one; `dtype` of literals (-1: i32 or f32).
leat_value ev_as_tensor(evaluator *e, ev value, int dtype, leat_span span);
// A constant of the given type from nested lists of literals, or one number for the whole shape.
leat_value ev_literal_tensor(evaluator *e, ev value, const leat_type *type, const char *hint,
                             leat_span span);

// -- known.c --------------------------------------------------------------------------------------
// A scalar or a row of integers of which each is known as that; anything else as it is.
ev ev_as_known(evaluator *e, ev value);
bool ev_holds(ev value); // it is known that each truth value of it is true
ev ev_dynamic(evaluator *e, ev value, leat_span span); // the dim that an integer scalar is

// -- weak.c ---------------------------------------------------------------------------------------
// A tensor of numbers alone, which takes the dtype of what it meets.
bool ev_is_weak(const evaluator *e, ev value);
// A number or a dim, or a list of such and of weak scalars: no tensor yet.
bool ev_is_of_numbers(const evaluator *e, ev value);
// `number`: what it is a tensor of; NONE of a node whose inputs are weak.
void ev_make_weak(evaluator *e, leat_value value, ev number);
// What a loop carries; `carry`: where it says so if it meets what holds more, or NULL.
void ev_make_carried(evaluator *e, leat_value value, ev_carry *carry);
bool ev_runs(const evaluator *e, leat_value value); // a weak one that is that, or computed of it
// What a region gives of numbers, behind it: a float alone is an f32, rounded from the output.
ev ev_given_number(evaluator *e, leat_value output, leat_span span);
// The result of an op of weak inputs is weak, where it has their dtype.
void ev_note_weak(evaluator *e, ev result, const leat_value *inputs, uint32_t count);
// A weak value in that dtype, where numbers of its kind have one there; others as they are.
leat_value ev_settle(evaluator *e, leat_value value, leat_dtype dtype, leat_span span);

// The dtype that the inputs of an op meet in; -1: its numbers' own.
typedef struct ev_meeting {
  int dtype;
  bool weak;     // so is the result: all are numbers
  bool promotes; // integers of declared dtypes become floats, as a float is among the numbers
} ev_meeting;
int ev_dtype_of_numbers(const evaluator *e, ev value); // alone; -1: of ints, i32 or what holds them
ev_meeting ev_meet(const evaluator *e, leat_op op, const ev *inputs, uint32_t count);

// -- carried.c ------------------------------------------------------------------------------------
// What a loop carries that begins with a number and has no type written, or is declared `any`.
struct ev_carry {
  leat_dtype dtype;
  bool weak;      // it is a number yet; else it has the dtype that `next` gives it
  bool counts;    // and stays one: its next value is made of it and ints
  uint32_t grows; // 1 << each axis along which its next value has another extent
};
// The loops that are evaluated while one is tried, in their order, with what they carry: evaluated
// again they begin with what is known of that.
typedef struct ev_loop_types {
  const leat_stmt *loop;
  uint32_t count;
  ev_carry *carries;
} ev_loop_types;
typedef struct ev_loops {
  leat_vec(ev_loop_types) known;
  uint32_t next; // the one to come
  bool trying;
  bool changed, grew; // the trial found another dtype, another axis that grows
} ev_loops;
int ev_rank_of(leat_dtype dtype); // 1 of integers, 2 of floats, 3 of complex numbers, else 0
leat_dtype ev_running_dtype(leat_dtype own); // in which a number of that is computed while running
bool ev_holds_more(leat_dtype than, leat_dtype dtype); // both of one such rank
// What is known of the loop, whose leaves begin with these values, of the trial around it or of
// one before; NULL: nothing.
ev_carry *ev_carries_known(evaluator *e, const leat_stmt *loop, const ev *first, uint32_t count);
// As they begin.
ev_carry *ev_carries_new(evaluator *e, const ev *first, uint32_t count);
void ev_carry_add(evaluator *e, const leat_stmt *loop, ev_carry *carries, uint32_t count);
bool ev_carries_open(const ev_loops *loops); // another trial may find more
// In a trial: what it meets has that dtype; its next value is this.
void ev_carry_widen(evaluator *e, ev_carry *carry, leat_dtype dtype);
void ev_carry_next(evaluator *e, ev_carry *carry, ev next);
void ev_carry_grow(evaluator *e, ev_carry *carry, uint32_t axes);
// Whether the next value is made of the name itself and of ints.
bool ev_only_counts(evaluator *e, const leat_expr *next, const char *name);

#endif
