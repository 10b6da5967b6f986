// The door of gradients: what evaluation asks of them.
//
//   gradient.c   the walk of gradients             zeros.c      gradients that are zeros
//   rows.c       sparse rows                       minimize.c   grad, trainables, apply, minimize
//   counted.c    rows of which only some are meant
//   regions.c    through loops and branches, with loops.c, again.c and needs.c (reversal.h)
//   directions.c vjp, jvp                          webs.c       through what is of switches and
//   frames products.c   sums of products as one product
#ifndef LEAT_FRONTEND_GRADIENT_H
#define LEAT_FRONTEND_GRADIENT_H

#include "frontend/evaluate/builtin.h"

// -- minimize.c -----------------------------------------------------------------------------------
ev ev_builtin_grad(evaluator *e, const ev_builtin_call *call);
ev ev_builtin_trainables(evaluator *e, const ev_builtin_call *call);
ev ev_builtin_apply(evaluator *e, const ev_builtin_call *call);
ev ev_builtin_minimize(evaluator *e, const ev_builtin_call *call);

// -- directions.c ---------------------------------------------------------------------------------
ev ev_builtin_vjp(evaluator *e, const ev_builtin_call *call);
ev ev_builtin_jvp(evaluator *e, const ev_builtin_call *call);
ev ev_builtin_substitute(evaluator *e, const ev_builtin_call *call);

// -- rows.c ---------------------------------------------------------------------------------------
ev ev_make_rows(evaluator *e, const leat_type *type, ev indices, ev values);
leat_value ev_rows_dense(evaluator *e, ev rows, leat_span span); // that tensor
// a + b, one of which is rows and both of which are of one type.
ev ev_rows_add(evaluator *e, ev a, ev b, leat_span span);
// One of the operands is rows. EV_NONE: the operator needs the whole tensor.
ev ev_rows_operator(evaluator *e, leat_operator operator, ev left, ev right, leat_span span);
ev ev_builtin_rows(evaluator *e, const ev_builtin_call *call);
ev ev_builtin_is_rows(evaluator *e, const ev_builtin_call *call);
ev ev_builtin_row_indices(evaluator *e, const ev_builtin_call *call);
ev ev_builtin_row_values(evaluator *e, const ev_builtin_call *call);
ev ev_builtin_in_body(evaluator *e, const ev_builtin_call *call);

// -- counted.c ------------------------------------------------------------------------------------
ev ev_count_rows(evaluator *e, const leat_type *type, leat_value indices, leat_value values,
                 leat_value count);
leat_value ev_row_count(evaluator *e, ev rows, leat_span span); // an i64
// Added to the whole tensor, which may have no row 0.
ev ev_add_counted(evaluator *e, ev tensor, ev rows, leat_span span);
// The table, with these rows from row `at` on.
leat_value ev_put_rows(evaluator *e, leat_value table, leat_value at, leat_value rows,
                       leat_span span);
ev ev_join_counted(evaluator *e, ev a, ev b, leat_span span); // both are rows
// What a rule or the text are handed.
ev ev_settle_rows(evaluator *e, ev value, leat_span span);

// -- zeros.c --------------------------------------------------------------------------------------
// A node just built with inputs that are zeros of a gradient may be zeros again, or one of them:
// what to go on with.
leat_value ev_fold_zeros(evaluator *e, leat_value value, leat_span span);

#endif
