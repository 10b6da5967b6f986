// Statements: what each does to the graph and to the names. Internal to frontend/evaluate/.
#ifndef LEAT_FRONTEND_STATEMENTS_H
#define LEAT_FRONTEND_STATEMENTS_H

#include "frontend/evaluate/evaluate.h"

// -- modules.c ------------------------------------------------------------------------------------
void ev_define(evaluator *e, const leat_stmt *stmt); // `fn` and `gradient`; once each
void ev_use(evaluator *e, const leat_stmt *stmt);

// -- evaluate.c -----------------------------------------------------------------------------------
// `hint`: the name wished for the node that gives the value, or NULL: the op's.
ev ev_expr(evaluator *e, const leat_expr *expr, const char *hint);
// The same where a value is due, which not every call gives.
ev ev_value(evaluator *e, const leat_expr *expr, const char *hint);
bool ev_string(evaluator *e, const leat_expr *expr, const char **out); // interned, interpolated

// -- bindings.c -----------------------------------------------------------------------------------
// What stands left of `=`, with what it takes to bind it: the index of a family's member, and the
// name wished for the node of its value.
typedef struct ev_aim {
  const leat_binding *target;
  ev index;
  const char *hint;
} ev_aim;
ev_aim *ev_aims_of(evaluator *e, const leat_bindings *targets);
ev ev_target_value(evaluator *e, const ev_aim *a, const leat_expr *from); // as it is declared
void ev_bind_target(evaluator *e, const ev_aim *a, ev value);
void ev_bind_statement(evaluator *e, const leat_stmt *stmt); // a = x · a, b = x, y · a, b = f(x)
// What the body of an entry or a function, which ends here, bound for a result that its head names.
ev ev_named_result(evaluator *e, const leat_binding *result);
// "2 names for the 3 values that the loop carries", and how one leaves out what nobody needs.
// `one`, `several`: what they are; `values`: their names, or NULL.
ev ev_fail_names(evaluator *e, const leat_stmt *stmt, uint32_t count, const char *one,
                 const char *several, const leat_bindings *values);
// After a mistake: the names are known, so that it is the only one that is reported.
void ev_bind_nothing(evaluator *e, const leat_stmt *stmt);

// -- suffixes.c -----------------------------------------------------------------------------------
typedef struct ev_placed {
  ev_context around;
  const char *frame_device;
  ev *awaited; // for each name in `after`; EV_NONE: it is bound further down
} ev_placed;
bool ev_enter_suffixes(evaluator *e, const leat_stmt *stmt, ev_placed *saved);
void ev_leave_suffixes(evaluator *e, const leat_stmt *stmt, const ev_placed *saved);

// -- variables.c ----------------------------------------------------------------------------------
void ev_var(evaluator *e, const leat_stmt *stmt);
void ev_assign(evaluator *e, const leat_stmt *stmt);

// -- control.c ------------------------------------------------------------------------------------
void ev_if(evaluator *e, const leat_stmt *stmt);
void ev_while(evaluator *e, const leat_stmt *stmt);
// A body as canonical text writes it: fn($x: f32[8]) { … yield $y }. NULL: reported.
// What a block ends in, if that is of the kind; else NULL.
const leat_stmt *ev_last_of(const leat_stmts *block, leat_stmt_kind kind);
leat_graph *ev_body(evaluator *e, const leat_stmt *body);

// -- initial.c ------------------------------------------------------------------------------------
ev ev_value_as(evaluator *e, const leat_expr *init, const leat_type *type); // declared as `type`
leat_value ev_initialiser(evaluator *e, const leat_stmt *stmt, leat_state *state); // of a `var`
// The value of a pure tensor, by reference. False: reported.
bool ev_constant_of(evaluator *e, leat_value value, leat_span span, leat_tensor *out);
// What an entry's parameter is when it is not fed, computed here. False: reported.
bool ev_default(evaluator *e, const leat_binding *param, const leat_type *type, leat_tensor *out);

// -- entry.c --------------------------------------------------------------------------------------
void ev_entry(evaluator *e, const leat_stmt *stmt);
void ev_leave_out(evaluator *e, const leat_stmt *stmt, const leat_withheld *errors);
// entry_part.c: of the entry, whose statements are evaluated, what has no error; `failed` says
// which reported one. The results that are not in it are in *out_missing. NULL: nothing is left, or
// all needs it.
const leat_stmt *ev_entry_part(evaluator *e, const leat_stmt *stmt, const bool *failed,
                               leat_bindings *out_missing);

// -- entry_call.c ---------------------------------------------------------------------------------
// Whether the statement is a line of a REPL that runs an entry; the call is noted then.
bool ev_entry_call(evaluator *e, const leat_stmt *stmt);
const char *ev_fetch_name(const evaluator *e, leat_value value); // {NULL}: NULL

// -- unused.c -------------------------------------------------------------------------------------
// Warns of each parameter of a `fn` or an entry among these that nothing in it uses; one called
// `_name` may be so.
void ev_warn_unused(evaluator *e, const leat_stmts *stmts);

#endif
