// The door of evaluation: what the frontend asks of it, and gradients, which call functions and add
// nodes.
#ifndef LEAT_FRONTEND_EVALUATE_H
#define LEAT_FRONTEND_EVALUATE_H

#include "frontend/evaluate/evaluator.h"
#include "ops/build.h"

// -- modules.c ------------------------------------------------------------------------------------
// Evaluates a text, and those that it uses. `name` is as its file's.
void ev_evaluate_text(evaluator *e, const char *name, const char *text, size_t size);
// Reports names that nothing has, and types that are none, in functions or rules.
void ev_check_definitions(evaluator *e, const leat_map *definitions);

// -- evaluate.c -----------------------------------------------------------------------------------
void ev_statements(evaluator *e, const leat_stmts *stmts);

// -- scope.c --------------------------------------------------------------------------------------
ev_scope *ev_scope_new(evaluator *e, ev_scope *parent);
bool ev_bind(evaluator *e, ev_scope *scope, leat_span span, const char *name, ev value);
const ev_function *ev_find_library(evaluator *e, const char *name); // whatever the user defined
const ev_function *ev_find_gradient(evaluator *e, const char *name);

// -- naming.c -------------------------------------------------------------------------------------
leat_builder ev_builder(evaluator *e, leat_span span);
const char *ev_node_name(evaluator *e, const char *hint, const char *fallback);
// The short name that a path has within the entry, or itself; the entry may be NULL.
const char *ev_name_within(const leat_entry *entry, const char *name);

// -- types.c --------------------------------------------------------------------------------------
const char *ev_source_text(evaluator *e, leat_span span); // as it stands in the text

// -- literal.c ------------------------------------------------------------------------------------
// A tensor of the graph from any value that can be one; `dtype` of literals (-1: i32 or f32).
leat_value ev_as_tensor(evaluator *e, ev value, int dtype, leat_span span);
// A constant of the given type from nested lists of literals, or one number for the whole shape.
leat_value ev_literal_tensor(evaluator *e, ev value, const leat_type *type, const char *hint,
                             leat_span span);

// -- known.c --------------------------------------------------------------------------------------
ev ev_dynamic(evaluator *e, ev value, leat_span span); // the dim that an integer scalar is

// -- call.c ---------------------------------------------------------------------------------------
ev ev_call(evaluator *e, const ev_function *function, const ev_argument *args, uint32_t count,
           leat_span span, const char *as, const char *hint);

// -- nodes.c --------------------------------------------------------------------------------------
ev ev_op(evaluator *e, leat_op op, const ev *inputs, uint32_t count, const leat_attr *attrs,
         leat_span span, const char *hint);

// -- operators.c ----------------------------------------------------------------------------------
ev ev_operator(evaluator *e, leat_operator operator, ev left, ev right, leat_span span,
               const char *hint);

// -- bindings.c -----------------------------------------------------------------------------------
void ev_add_alias(evaluator *e, const char *name, ev value);

// -- suffixes.c -----------------------------------------------------------------------------------
void ev_resolve_pending(evaluator *e, uint32_t first); // names in `after` bound further down

// -- entry.c --------------------------------------------------------------------------------------
bool ev_is_broken(const evaluator *e, const char *name); // an entry of this text that was left out

#endif
