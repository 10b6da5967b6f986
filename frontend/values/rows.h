// Values that gradients are: sparse rows, those of which only some are meant, and zeros.
#ifndef LEAT_FRONTEND_ROWS_H
#define LEAT_FRONTEND_ROWS_H

#include "frontend/syntax/ast.h"
#include "frontend/values/value.h"

// -- rows.c ---------------------------------------------------------------------------------------
ev ev_make_rows(evaluator *e, const leat_type *type, ev indices, ev values);
leat_value ev_rows_dense(evaluator *e, ev rows, leat_span span); // that tensor
// a + b, one of which is rows and both of which are of one type.
ev ev_rows_add(evaluator *e, ev a, ev b, leat_span span);
// One of the operands is rows. EV_NONE: the operator needs the whole tensor.
ev ev_rows_operator(evaluator *e, leat_operator operator, ev left, ev right, leat_span span);

// -- counted_rows.c -------------------------------------------------------------------------------
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
// Zeros for the gradient of an output that the loss does not depend on.
leat_value ev_zeros(evaluator *e, const leat_type *type, leat_span span);
bool ev_is_zeros(const evaluator *e, leat_value value);
// A node just built with inputs that are zeros of a gradient may be zeros again, or one of them:
// what to go on with.
leat_value ev_fold_zeros(evaluator *e, leat_value value, leat_span span);

#endif
