// What a name means where it stands, who has it, and what nodes are called.
#ifndef LEAT_FRONTEND_NAMES_H
#define LEAT_FRONTEND_NAMES_H

#include "frontend/values/evaluator.h"
#include "ops/build.h"

// -- scope.c --------------------------------------------------------------------------------------
ev_binding *ev_lookup(const ev_scope *scope, const char *name);
// The block of an `if` or a `while` ends: of its names it is known, but where they were.
void ev_scope_close(evaluator *e, ev_scope *outer);
// Notes where a block that has ended bound the name.
void ev_note_gone(evaluator *e, const char *name);
// Says where a name is bound that cannot be bound or assigned, and what does instead.
void ev_note_binding(evaluator *e, const ev_binding *binding, const char *words);
// x[index] = value: the member of a family in the frame's scope, not in that of a turn.
void ev_bind_member(evaluator *e, const leat_binding *target, ev index, ev value);
// The name by which a `while` that is seen carries the value, and its binding; NULL: none does.
const ev_binding *ev_carried_as(const evaluator *e, leat_value value, const char **out_name);
// What a scope around the frame's, of the same function, binds to the name; NULL: nothing.
const ev_binding *ev_bound_around(const evaluator *e, const char *name);
// The scope itself, or the nearest around it that is of no turn.
ev_scope *ev_scope_around(ev_scope *scope);
// A name that a turn of a `for` binds, which is gone with the turn. False: reported; the function
// has that name outside, and whoever writes this expects it to change.
bool ev_bind_in_turn(evaluator *e, const leat_binding *target, ev value);
ev ev_member(evaluator *e, const ev_binding *family, int64_t index, leat_span span);
ev ev_name(evaluator *e, const char *name, leat_span span);
ev ev_path(evaluator *e, const leat_expr *expr);
// A function as the frame's code sees it, or NULL.
const ev_function *ev_find_function(evaluator *e, const char *name);
typedef leat_vec(const char *) ev_names;
// All that a name can mean there; the list is in `arena`.
void ev_names_in_scope(const evaluator *e, const ev_scope *scope, leat_arena *arena, ev_names *out);
ev_scope *ev_scope_new(evaluator *e, ev_scope *parent);
bool ev_bind(evaluator *e, ev_scope *scope, leat_span span, const char *name, ev value);
const ev_function *ev_find_library(evaluator *e, const char *name); // whatever the user defined
const ev_function *ev_find_gradient(evaluator *e, const char *name);

// -- naming.c -------------------------------------------------------------------------------------
// Entries, top-level bindings, state and instances share one namespace. False: the name is of
// another kind of thing, which is reported.
typedef enum ev_claim_kind { EV_BINDING, EV_VARIABLE, EV_INSTANCE, EV_ENTRY_NAME } ev_claim_kind;
bool ev_claim_name(evaluator *e, ev_claim_kind kind, const char *name, leat_span span);
// Whether `name` can be a part of a path, and so of the names of nodes and variables.
bool ev_check_path_part(evaluator *e, const char *name, leat_span span);
leat_builder ev_builder(evaluator *e, leat_span span);
const char *ev_node_name(evaluator *e, const char *hint, const char *fallback);
// The short name that a path has within the entry, or itself; the entry may be NULL.
const char *ev_name_within(const leat_entry *entry, const char *name);

// -- instances.c ----------------------------------------------------------------------------------
// What a path of instances leads to from the frame.
typedef struct ev_instance {
  const char *instance; // as the frame's
  const char *path;     // of its nodes
  ev_frame *unnamed;    // as the frame's
} ev_instance;
bool ev_find_place(evaluator *e, const char *path, leat_span span,
                   ev_instance *out); // false: reported
// The state that `$path` names: below the frame's instance, else below the top; NULL: none. False:
// the path is wrong, which is reported.
bool ev_find_state(evaluator *e, const char *path, leat_span span, leat_state **out);
const char *ev_nearest_path(evaluator *e, const char *path, leat_span span); // or NULL
bool ev_enter_instance(evaluator *e, const ev_function *function, const char *path, leat_span span);

#endif
