// What types.c and bind.c share: matching a declared type with a value's.
// Internal to frontend/evaluate/.
#ifndef LEAT_FRONTEND_TYPES_H
#define LEAT_FRONTEND_TYPES_H

#include "frontend/evaluate/evaluate.h"

typedef struct ev_match {
  evaluator *e;
  ev_scope *generics; // where generic names are looked up and bound; NULL: nothing is generic
  bool weak;          // of numbers: a type variable that it binds is what they are of
  bool only_binds;    // names that stand alone are bound; nothing is checked yet
  leat_span span;
  const char *what, *of; // for messages: the name, and the function that it is an argument of
  const leat_expr *declared;
  const leat_type *found;
  leat_type *checked; // becomes what `found` is after a check while running; NULL: no such checks
} ev_match;

// "argument `x` of `dense`", or "`y`" where `of` is NULL.
const char *ev_describe_value(evaluator *e, const char *what, const char *of);
// Binds what is generic and compares the rest. False: they differ, which is reported.
bool ev_match_type(ev_match *match);
// Whether the dtype is a type variable that nothing has bound yet.
bool ev_binds_dtype(const ev_match *match);
// The value as the declared type has it: itself, or with a check while running that dims are equal.
ev ev_match_value(ev_match *match, ev value);

// "; `shape` is one list: `[2, 3]`", of the arguments without a name from that place on; "" when
// one is a list.
const char *ev_as_one_list(evaluator *e, const char *name, const ev_argument *args, uint32_t count,
                           uint32_t from);

bool ev_is_tensor_type(const leat_expr *type);
// Whether a declared type is one, as far as it says by itself: of its dims nothing is asked. False:
// reported.
bool ev_check_type(evaluator *e, const leat_expr *type);
// A compile-time value for a declared `int`, `[str]`, …: converted, or EV_ERROR, not reported.
ev ev_static_value(evaluator *e, const leat_expr *declared, ev value);
// Where the last error may be because of it: a dtype, or a type variable, by itself is the type of
// nothing.
void ev_note_brackets(evaluator *e, const leat_expr *declared);

#endif
