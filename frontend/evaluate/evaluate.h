// The door of evaluation: what the frontend asks of it, and gradients, which call functions and add
// nodes. What its files use of one another stands in statements.h, calls.h and types.h:
//
//   statements.h  modules.c    texts and what they use     evaluate.c   statements, expressions
//                 bindings.c   what stands left of `=`     suffixes.c   on, colocate, after
//                 variables.c  variables                   initial.c    their initial values
//                 control.c    if and while                body.c       bodies of canonical text
//                 entry.c      entries                     entry_part.c what is left of broken ones
//                 entry_call.c entries that a line of a REPL runs
//                 unused.c     parameters of no use
//   calls.h       call.c       calls of functions          bind.c       and their arguments
//                 primitive.c  calls of primitive ops      numbers.c    of numbers
//                 operators.c  what + and its like mean    sequences.c  lists and strings
//                 indexing.c   x[…]                        index_tensors.c  x[…] of integer tensors
//                 einsum.c     einsum                      builtins.c   compile-time functions
//                 trial.c      what is taken back          growing.c    results with a `?`
//                 iteration.c  which turn it is
//                 types.c      types, and values that fit them
#ifndef LEAT_FRONTEND_EVALUATE_H
#define LEAT_FRONTEND_EVALUATE_H

#include "frontend/values/names.h"
#include "frontend/values/region.h"
#include "frontend/values/tensors.h"

// -- modules.c ------------------------------------------------------------------------------------
// Evaluates a text, and those that it uses. `name` is as its file's.
void ev_evaluate_text(evaluator *e, const char *name, const char *text, size_t size);
// Reports names that nothing has, and types that are none, in functions or rules.
void ev_check_definitions(evaluator *e, const leat_map *definitions);

// -- evaluate.c -----------------------------------------------------------------------------------
void ev_statements(evaluator *e, const leat_stmts *stmts);

// -- types.c --------------------------------------------------------------------------------------
const char *ev_source_text(evaluator *e, leat_span span); // as it stands in the text

// -- call.c ---------------------------------------------------------------------------------------
ev ev_call(evaluator *e, const ev_function *function, const ev_argument *args, uint32_t count,
           leat_span span, const char *as, const char *hint);

// -- operators.c ----------------------------------------------------------------------------------
ev ev_operator(evaluator *e, leat_operator operator, ev left, ev right, leat_span span,
               const char *hint);

// -- bindings.c -----------------------------------------------------------------------------------
void ev_add_alias(evaluator *e, const char *name, ev value);

// -- suffixes.c -----------------------------------------------------------------------------------
void ev_resolve_pending(evaluator *e, uint32_t first); // names in `after` bound further down
void ev_body_ends(evaluator *e); // ev_region_close, when names in `after` mean their nodes

// -- entry.c --------------------------------------------------------------------------------------
bool ev_is_broken(const evaluator *e, const char *name); // an entry of this text that was left out

#endif
