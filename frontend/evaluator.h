// The evaluator's own structures: compile-time values, scopes, frames. Internal to frontend/.
//
//   frontend.c   texts, modules, rollback          evaluate.c   statements and expressions
//   bind.c       types, parameters and arguments   call.c       functions, primitive ops, operators
//   builtins.c   compile-time functions            indexing.c   x[…]
//   state.c      variables and instances           gradient.c   grad, minimize, apply
//
// Errors are reported where they are found; the value is then EV_ERROR, which everything passes on
// in silence, so one mistake gives one message.
#ifndef LEAT_FRONTEND_EVALUATOR_H
#define LEAT_FRONTEND_EVALUATOR_H

#include "frontend/ast.h"
#include "frontend/frontend.h"
#include "ops/build.h"

typedef enum ev_kind {
  EV_ERROR,
  EV_NONE,
  EV_TENSOR, // a value of the graph
  EV_INT,    // compile-time numbers: as literals, they take the dtype of what they meet
  EV_FLOAT,
  EV_BOOL,
  EV_STRING,
  EV_DTYPE,
  EV_TYPE,
  EV_DIM, // a dim that is no constant
  EV_FUNCTION,
  EV_LIST,
  EV_STATE,
  EV_ENTRY, // reserves the entry's name
} ev_kind;

typedef struct ev ev;
typedef struct ev_list ev_list;
typedef struct ev_function ev_function;

struct ev {
  ev_kind kind;
  union {
    leat_value tensor;
    int64_t i; // INT, BOOL, DTYPE
    double f;
    struct { // STRING
      const char *text;
      size_t size;
    };
    const leat_type *type;
    leat_dim dim;
    const ev_function *function;
    const ev_list *list;
    leat_state *state;
  };
  uint64_t magnitude; // of a FLOAT that was written as an int beyond i64: that int; else 0
};

struct ev_list {
  uint32_t count;
  const ev *items;
  const char *const *names; // of collected named arguments; NULL for a plain list
  bool results;             // several results of one call, to be taken apart
};

typedef struct ev_builtin ev_builtin;

// What a name in the place of a callee can be: exactly one of the three is set, or op is.
struct ev_function {
  const char *name;
  const leat_stmt *definition; // `fn` or `gradient`
  const ev_builtin *builtin;
  leat_op op;
};

typedef struct ev_binding {
  ev value;
  leat_span span;
  bool family; // value is a list that grows: members may be missing (EV_ERROR kind NONE)
} ev_binding;

typedef struct ev_scope {
  struct ev_scope *parent;
  leat_map names; // interned name → ev_binding *
} ev_scope;

// A call being evaluated, or the entry or top level below all calls.
typedef struct ev_frame {
  struct ev_frame *caller;
  const ev_function *function;    // NULL: entry or top level
  leat_span call;                 // where it was called
  const char *instance;           // path of the instance: "net/hidden"; "" outside any
  const struct ev_frame *unnamed; // the innermost frame from here up whose call has no name
  const char *device;             // of the `on` blocks opened in this frame
  ev_scope *scope;
  const char *hint; // the name wished for what the call returns
  bool in_for;      // only families are bound
  bool returned;
  ev result;
} ev_frame;

// What happened to a state in the entry being evaluated, for ordering edges.
typedef struct ev_order {
  leat_node *write;            // the last one
  leat_node *read;             // the read of the value as of now, or NULL
  leat_vec(leat_node *) reads; // since the last write
} ev_order;

// A call of a function that has a gradient rule of its own: grad uses the rule at its result.
typedef struct ev_call_record {
  const ev_function *rule;
  const ev_list *args; // by parameter
  leat_value result;
  const char *path;
} ev_call_record;

typedef struct ev_undo {
  leat_map *map;
  const void *key;
  void *value;
} ev_undo;

typedef struct ev_pending_after { // a name in `after [...]` that is bound further down
  const leat_expr *name;
  ev_scope *scope;
  uint32_t first_node, end_node; // the nodes that wait
} ev_pending_after;

struct leat_frontend {
  leat_arena *arena;
  leat_strings *strings;
  leat_diag *diag;
  leat_graph *graph;
  leat_frontend_options options;

  ev_scope *globals;
  leat_map functions; // interned name → ev_function * of user and stdlib definitions
  leat_map gradients; // the same for gradient rules
  leat_map instances; // interned path → ev_instance *
  leat_map states;    // leat_state * → the `var` statement that declared it
  leat_map aliases;   // interned "train/y" → leat_value *
  leat_map records;   // leat_node * → ev_call_record *
  leat_map modules; // interned file name → itself; its value's first byte says whether it is open
  leat_map orders;  // leat_state * → ev_order *, of the entry being evaluated
  leat_vec(ev_undo) undo;
  leat_vec(ev_pending_after) pending;

  leat_entry *entry;
  ev_frame *frame;
  const char *path;          // of the nodes being made: "train/net/hidden"
  const char *gradient_path; // set inside a gradient rule: the name of all its nodes
  const char *device;        // constraint on the nodes being made
  const char *colocate;
  leat_state *initialising; // set inside an initialiser
  leat_state *slots_of;     // set inside an optimiser: whose slots its variables are
  bool absolute; // the statement is canonical text: calls are of bare ops, nothing is implied
  bool training;
  bool interactive;
  bool stopped; // a limit was hit: unwind
  uint32_t depth;
  uint64_t steps;
  leat_span span; // of the statement or call being evaluated

  leat_vec(leat_value) shown;
  leat_text shown_text;     // while a text is evaluated
  const char *shown_static; // the same, afterwards
};

typedef leat_frontend evaluator;

enum {
  EV_MAX_DEPTH = 3000,      // nested expressions and calls
  EV_MAX_CALLS = 200,       // nested calls
  EV_MAX_NODES = 8 << 20,   // nodes of a graph
  EV_MAX_STEPS = 100 << 20, // statements and calls evaluated in one text
};

// -- values
// -----------------------------------------------------------------------------------------
ev ev_error(void);
ev ev_int(int64_t value);
ev ev_bool(bool value);
ev ev_tensor(leat_value value); // {NULL} gives EV_ERROR
ev ev_of_dim(leat_dim dim);     // INT when it is a constant
ev ev_make_list(evaluator *e, const ev *items, uint32_t count);
const char *ev_kind_name(ev value); // "a tensor", "an int", … for messages
bool ev_is_literal(ev value);       // INT, FLOAT, BOOL
bool ev_equal(ev a, ev b);
void ev_print(ev value, leat_text *out);
// Reports and returns EV_ERROR.
ev ev_fail(evaluator *e, leat_span span, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void ev_set(evaluator *e, leat_map *map, const void *key, void *value); // remembered for rollback

// -- evaluate.c
// --------------------------------------------------------------------------------------- `hint`:
// the name wished for the node that gives the value, or NULL: the op's.
ev ev_expr(evaluator *e, const leat_expr *expr, const char *hint);
bool ev_string(evaluator *e, const leat_expr *expr, const char **out); // interned, interpolated
void ev_statements(evaluator *e, const leat_stmts *stmts);
ev_scope *ev_scope_new(evaluator *e, ev_scope *parent);
ev_binding *ev_lookup(ev_scope *scope, const char *name);
bool ev_bind(evaluator *e, ev_scope *scope, leat_span span, const char *name, ev value);
ev ev_name(evaluator *e, const char *name, leat_span span);
const ev_function *ev_find_function(evaluator *e, const char *name);
const ev_function *ev_find_gradient(evaluator *e, const char *name);
void ev_entry(evaluator *e, const leat_stmt *stmt);
void ev_resolve_pending(evaluator *e, uint32_t first);

// -- bind.c: types and parameters
// ----------------------------------------------------------------------- The type an expression
// means, all of its names being known in the scope of the frame.
bool ev_type_of(evaluator *e, const leat_expr *expr, leat_type *out);
bool ev_is_type(evaluator *e, const leat_expr *expr); // whether `NAME[…]` is a type here
// Binds the arguments to the parameters of `function` in a new scope below the globals.
typedef struct ev_argument {
  const char *key; // NULL: by position
  ev value;
  leat_span span;
} ev_argument;
ev_scope *ev_bind_arguments(evaluator *e, const ev_function *function, const ev_argument *args,
                            uint32_t count, leat_span call);
// A tensor of the graph from any value that can be one; `dtype` of literals (-1: i32 or f32).
leat_value ev_as_tensor(evaluator *e, ev value, int dtype, leat_span span);
// The literal's elements in the given type; one number fills the whole shape. False: reported.
bool ev_literal(evaluator *e, ev value, const leat_type *type, leat_span span, leat_tensor *out);
// A constant of the given type from nested lists of literals, or one number for the whole shape.
leat_value ev_literal_tensor(evaluator *e, ev value, const leat_type *type, const char *name,
                             leat_span span);
// The value of a graph parameter: --set's, else the default.
ev ev_setting(evaluator *e, const leat_binding *param);
bool ev_as_dim(evaluator *e, ev value, leat_span span, leat_dim *out);
bool ev_as_dims(evaluator *e, ev value, leat_span span, leat_dim **out, uint32_t *count);
bool ev_check_type(evaluator *e, const leat_expr *declared, leat_value value, leat_span span,
                   const char *what);

// -- call.c
// ---------------------------------------------------------------------------------------------
ev ev_call_expr(evaluator *e, const leat_expr *expr, const char *hint);
ev ev_call(evaluator *e, const ev_function *function, const ev_argument *args, uint32_t count,
           leat_span span, const char *as, const char *hint);
ev ev_operator(evaluator *e, leat_operator operator, ev left, ev right, leat_span span,
               const char *hint);
ev ev_op(evaluator *e, leat_op op, const ev *inputs, uint32_t count, const leat_attr *attrs,
         leat_span span, const char *hint);
leat_builder ev_builder(evaluator *e, leat_span span);
const char *ev_node_name(evaluator *e, const char *hint, const char *fallback);

// -- builtins.c
// ----------------------------------------------------------------------------------------- args:
// by parameter, EV_NONE where not given; `named`: the rest, for builtins that collect.
typedef struct ev_builtin_call {
  leat_span span;
  const ev_argument *args;
  uint32_t count;
  const char *hint, *as;
} ev_builtin_call;
struct ev_builtin {
  const char *name, *help;
  ev (*evaluate)(evaluator *e, const ev_builtin_call *call);
};
const ev_builtin *ev_find_builtin(const char *name);
// The type of a tensor in a file; false: reported.
bool ev_file_type(evaluator *e, const char *path, const char *name, leat_span span, leat_type *out);
const ev_builtin *ev_builtin_at(uint32_t i); // NULL past the last
// Argument number `position` or called `key`; EV_NONE when it is not there.
ev ev_builtin_argument(const ev_builtin_call *call, uint32_t position, const char *key);

// -- indexing.c
// -------------------------------------------------------------------------------------------
ev ev_index(evaluator *e, const leat_expr *expr, const char *hint);

// -- state.c
// ----------------------------------------------------------------------------------------------
void ev_var(evaluator *e, const leat_stmt *stmt);
void ev_assign(evaluator *e, const leat_stmt *stmt);
leat_value ev_read(evaluator *e, leat_state *state, leat_span span);
ev ev_read_as(evaluator *e, leat_state *state, const char *hint, leat_span span);
leat_node *ev_write(evaluator *e, leat_op op, leat_state *state, leat_value value, const char *hint,
                    leat_span span);
bool ev_enter_instance(evaluator *e, const ev_function *function, const char *path, leat_span span);

// -- gradient.c
// ------------------------------------------------------------------------------------------- d
// loss / d target for each target (a tensor or a state); false: reported.
bool ev_gradients(evaluator *e, leat_value loss, const ev *targets, uint32_t count, ev *out,
                  leat_span span);
ev ev_builtin_grad(evaluator *e, const ev_builtin_call *call);
ev ev_builtin_apply(evaluator *e, const ev_builtin_call *call);
ev ev_builtin_minimize(evaluator *e, const ev_builtin_call *call);
ev ev_builtin_trainables(evaluator *e, const ev_builtin_call *call);

#endif
