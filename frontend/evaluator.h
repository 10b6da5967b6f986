// The evaluator's own structures: compile-time values, scopes, frames. Internal to frontend/.
//
//   frontend.c   texts, modules, rollback          value.c      compile-time values, limits
//   scope.c      names, families, namespace        evaluate.c   statements and expressions
//   bindings.c   what stands left of `=`           suffixes.c   on, colocate, after
//   types.c      types, and values that fit them   bind.c       parameters and arguments
//   call.c       calls of functions                primitive.c  calls of primitive ops
//   nodes.c      nodes of the graph                literal.c    literals as tensors
//   operators.c  what + and its like stand for     indexing.c   x[…]; tensors: index_tensors.c
//   numbers.c    ops on compile-time numbers
//   sequences.c  lists and strings                 builtins.c   compile-time functions
//   state.c      variables                         instances.c  the calls that name them
//   initial.c    their initial values, defaults
//   entry.c      entries
//   gradient.c   the walk of gradients             zeros.c      gradients that are zeros
//   rows.c       sparse rows                       minimize.c   grad, trainables, apply, minimize
//   einsum.c     einsum                            describe.c   definitions, for people
//   unused.c     parameters that nothing uses      entry_call.c entries that a REPL's line runs
//   names.c      all that a name can mean
//
// Errors are reported where they are found; the value is then EV_ERROR, which everything passes on
// in silence, so one mistake gives one message.
#ifndef LEAT_FRONTEND_EVALUATOR_H
#define LEAT_FRONTEND_EVALUATOR_H

#include "base/safetensors.h"
#include "frontend/ast.h"
#include "frontend/frontend.h"
#include "ops/build.h"

typedef enum ev_kind {
  EV_ERROR,
  EV_NONE,
  EV_TENSOR, // a value of the graph
  EV_INT,    // compile-time numbers: as literals, they take the dtype of what they meet
  EV_FLOAT,
  EV_COMPLEX,
  EV_BOOL,
  EV_STRING,
  EV_DTYPE,
  EV_TYPE,
  EV_DIM, // a dim that is no constant
  EV_FUNCTION,
  EV_LIST,
  EV_STATE,
  EV_ROWS,  // sparse rows: stands for a tensor
  EV_ENTRY, // reserves the entry's name
} ev_kind;

typedef struct ev ev;
typedef struct ev_list ev_list;
typedef struct ev_function ev_function;
typedef struct ev_builtin ev_builtin;
typedef leat_frontend evaluator;

struct ev {
  ev_kind kind;
  union {
    leat_value tensor;
    int64_t i; // INT, BOOL, DTYPE; NONE: see ev_nothing
    struct {   // FLOAT
      double f;
      uint64_t magnitude; // when it was written as an int beyond i64: that int; else 0
    };
    struct { // COMPLEX
      double re, im;
    };
    struct { // STRING
      const char *text;
      size_t size;
    };
    const leat_type *type;
    leat_dim dim;
    const ev_function *function;
    const ev_list *list;
    leat_state *state;
    leat_entry *entry;
    struct ev_rows *rows;
  };
};

// Sparse rows: a row of index i is the sum of the values that have it; the others are zero.
typedef struct ev_rows {
  leat_value indices; // an integer[n]
  leat_value values;  // T[n, …]
  leat_type type;     // of the tensor they stand for: T[rows, …]
  leat_value dense;   // that tensor, once it was needed
} ev_rows;

struct ev_list {
  uint32_t count;
  const ev *items;
  const char *const *names; // of collected named arguments; NULL for a plain list
  bool results;             // several results of one call, to be taken apart
  uint32_t weight;          // values in it, those of inner lists too
  uint32_t height;          // lists inside one another
};

// What a name in the place of a callee can be. Neither definition nor builtin: the op.
struct ev_function {
  const char *name;
  const leat_stmt *definition; // `fn` or `gradient`
  const ev_builtin *builtin;
  leat_op op;
  bool library; // of stdlib/: its body sees the library alone, whatever the user's names are
};

typedef struct ev_binding {
  ev value;
  leat_span span;
  leat_map *members; // of a family: index + 1 → ev *; NULL for everything else
} ev_binding;

typedef struct ev_scope {
  struct ev_scope *parent;
  leat_map names; // interned name → ev_binding *
  bool turn;      // of one turn of a `for`: families go to the scope around
  leat_map *gone; // what turns bound here: name → ev_binding *; NULL: nothing
} ev_scope;

// A call being evaluated, or the entry or top level below all calls.
typedef struct ev_frame {
  struct ev_frame *caller;
  const ev_function *function; // NULL: entry or top level
  leat_span call;              // where it was called
  const char *instance;        // path of the instance: "net/hidden"; "" outside any
  const char *path;            // of the caller's nodes where the call stands
  struct ev_frame *unnamed;    // the innermost frame from here up whose call has no name
  const char *device;          // of the `on` blocks opened in this frame
  ev_scope *scope;
  const char *hint; // the name wished for what the call returns
  uint32_t calls;   // frames below this one
  bool returned;
  bool blamed;     // what is wrong is the call itself, and is reported there
  uint32_t errors; // in the diag before it
  ev result;
} ev_frame;

// What happened to a state in the entry being evaluated, for ordering edges.
typedef struct ev_order {
  leat_node *write;            // the last one
  leat_node *read;             // the read of the value as of now, or NULL
  leat_vec(leat_node *) reads; // since the last write
} ev_order;

// A call of a function that has a gradient rule of its own: grad uses the rule at its results.
typedef struct ev_call_record {
  const ev_function *rule;
  const ev_list *args;    // by parameter; of a variable, what the body read
  const ev_list *results; // tensors, each made by the call
  const leat_node *first; // the one that was made first
} ev_call_record;

typedef struct ev_undo {
  leat_map *map;
  const void *key;
  void *value;
} ev_undo;

typedef struct ev_renamed { // an entry of a REPL that was defined again
  leat_entry *entry;
  const char *name; // its name before
} ev_renamed;

typedef struct ev_pending_after { // a name in `after [...]` that is bound further down
  const leat_expr *name;
  ev_scope *scope;
  uint32_t first_node, end_node; // the nodes that wait
} ev_pending_after;

struct leat_frontend {
  leat_safetensors loaded; // what a `load` of the text that is evaluated has read last
  const char *loaded_path; // NULL: nothing
  leat_arena *arena;
  leat_strings *strings;
  leat_diag *diag;
  leat_graph *graph;
  leat_graph *trial; // where an initialiser is evaluated once more, to be compared; else NULL
  leat_frontend_options options;
  bool *setting_known; // by setting: some `graph` line has that parameter

  ev_scope *globals;
  leat_map functions; // interned name → ev_function * of the user's definitions
  leat_map library;   // the same for the library's, builtins and ops, made when first used
  leat_map gradients, library_gradients;
  leat_map documented;  // name → leat_stmt * of the entry, variable or dim of that name
  leat_map claims;      // interned path → ev_claim *: who has the name
  leat_map instances;   // interned path → ev_instance *
  leat_map states;      // leat_state * → the `var` statement that declared it
  leat_map slot_makers; // interned "w/adam" → the call that has these slots: minimize.c
  leat_map aliases;     // interned "train/y" → leat_value *
  leat_map records;     // leat_node * → ev_call_record *
  leat_map zeros;       // leat_node * → itself: zeros.c
  leat_map modules;     // interned file name → whether it is open or done (frontend.c)
  leat_map orders;      // leat_state * → ev_order *, of the entry being evaluated
  leat_vec(ev_undo) undo;
  leat_vec(ev_renamed) renamed; // by the text being evaluated
  leat_vec(leat_broken_entry *) broken;
  leat_vec(ev_pending_after) pending;
  leat_vec(const char *) open_modules; // the files being evaluated, each used by the one before

  // Of the text being evaluated.
  bool interactive, leaves_out;
  bool stopped;    // a limit was hit: unwind
  uint32_t errors; // in the diag before it
  uint32_t first_broken;
  uint32_t depth;
  uint64_t steps;
  size_t used;    // of the arena before it
  uint32_t nodes; // of the graph before it
  leat_vec(leat_value) shown;
  leat_text shown_text;     // while a text is evaluated
  const char *shown_static; // the same, afterwards
  leat_entry_call called;

  // What surrounds the statement being evaluated.
  leat_entry *entry;
  ev_frame *frame;
  const char *path;          // of the nodes being made: "train/net/hidden"
  const char *gradient_path; // set inside a gradient rule: the name of all its nodes
  const char *device;        // constraint on the nodes being made
  const char *state_device;  // where an enclosing replica_device puts variables
  const char *colocate;
  leat_state *initialising; // set inside an initialiser
  leat_state *slots_of;     // set inside an optimiser: whose slots its variables are
  bool absolute;     // the statement is canonical text: calls are of bare ops, nothing is implied
  const char *place; // of the node that canonical text makes, where it says so; else NULL
  bool training;
  uint32_t first_node; // of the statement
  leat_span span;      // of the statement
};

// Limits, so that no text takes more than about two seconds and a GB.
enum {
  EV_MAX_DEPTH = 2000,     // nested blocks and expressions, through all calls
  EV_MAX_CALLS = 200,      // nested calls
  EV_MAX_STEPS = 10000000, // statements, calls, turns and list items of one text
  EV_MAX_LIST = 4 << 20,   // values in a list
  EV_MAX_LIST_HEIGHT = 64,
  EV_MAX_STRING = 16 << 20,
  EV_MAX_LITERAL = 64 << 20, // bytes
  EV_MAX_NODES = 500000,     // that one text may add
  EV_MAX_ERRORS = 100,       // then nobody reads on
};

// -- value.c ------------------------------------------------------------------------------------
ev ev_error(void);
ev ev_none(void);
ev ev_nothing(void); // what a call gives that has no value: `none`, but not to be bound
bool ev_is_nothing(ev value);
ev ev_int(int64_t value);
ev ev_float(double value);
ev ev_complex(double re, double im);
ev ev_bool(bool value);
ev ev_text(evaluator *e, const char *text, size_t size);
// The string that was put together, which is finished here; EV_ERROR when not `ok` or too long.
ev ev_take_text(evaluator *e, leat_text *text, bool ok, leat_span span);
ev ev_tensor(leat_value value); // {NULL} gives EV_ERROR
ev ev_of_dim(leat_dim dim);     // INT when it is a constant
ev ev_of_state(leat_state *state);
// Room for a list's items; NULL: reported.
ev *ev_new_items(evaluator *e, uint64_t count);
// Takes the items, which live in the arena; EV_ERROR when the list would be too large. ev_make_list
// copies them.
ev ev_take_list(evaluator *e, const ev *items, uint32_t count);
ev ev_make_list(evaluator *e, const ev *items, uint32_t count);
ev ev_take_results(evaluator *e, const ev *items, uint32_t count); // several results of one call
const char *ev_kind_name(ev value); // "a tensor", "an int", … for messages
bool ev_is_literal(ev value);       // INT, FLOAT, BOOL
bool ev_takes_dtype(ev value);      // a literal, a LIST, a DIM: as a tensor, of what it meets
bool ev_is_tensor(ev value);        // a TENSOR or a STATE
const leat_type *ev_tensor_type(ev value); // of a TENSOR, a STATE, ROWS; NULL: it has none
bool ev_equal(ev a, ev b);
// Stops behind what makes `out` longer than EV_MAX_STRING.
void ev_print(ev value, leat_text *out);
// The user's text that led to a place in the library, whose lines nobody wants to read; of any
// other place that place.
leat_span ev_place(const evaluator *e, leat_span span);
// Reports at that place and returns EV_ERROR.
ev ev_fail(evaluator *e, leat_span span, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
bool ev_failed(const evaluator *e); // the text being evaluated has an error
// "; did you mean `relu`?": the candidate nearest to `name`. When none is near, those there are, if
// they are few; else "".
const char *ev_suggestion(evaluator *e, const char *name, const char *const *candidates,
                          size_t count);
// Counts work done. False: a limit is hit, which is reported once, and evaluation unwinds.
bool ev_spend(evaluator *e, uint64_t steps, leat_span span);

// -- scope.c ------------------------------------------------------------------------------------
void ev_set(evaluator *e, leat_map *map, const void *key, void *value); // remembered for rollback
ev_scope *ev_scope_new(evaluator *e, ev_scope *parent);
ev_binding *ev_lookup(const ev_scope *scope, const char *name);
bool ev_bind(evaluator *e, ev_scope *scope, leat_span span, const char *name, ev value);
// x[index] = value: the member of a family in the frame's scope, not in that of a turn.
void ev_bind_member(evaluator *e, const leat_binding *target, ev index, ev value);
// The scope itself, or the nearest around it that is of no turn.
ev_scope *ev_scope_around(ev_scope *scope);
// A name that a turn of a `for` binds, which is gone with the turn. False: reported; the function
// has that name outside, and whoever writes this expects it to change.
bool ev_bind_in_turn(evaluator *e, const leat_binding *target, ev value);
ev ev_member(evaluator *e, const ev_binding *family, int64_t index, leat_span span);
void ev_add_alias(evaluator *e, const char *name, ev value);
ev ev_name(evaluator *e, const char *name, leat_span span);
ev ev_path(evaluator *e, const leat_expr *expr);
bool ev_in_library(const ev_frame *frame); // its code is of stdlib/
// A function as the frame's code sees it, or NULL.
const ev_function *ev_find_function(evaluator *e, const char *name);
const ev_function *ev_find_library(evaluator *e, const char *name); // whatever the user defined
const ev_function *ev_find_gradient(evaluator *e, const char *name);
// Entries, top-level bindings, state and instances share one namespace. False: the name is of
// another kind of thing, which is reported.
typedef enum ev_claim_kind { EV_BINDING, EV_VARIABLE, EV_INSTANCE, EV_ENTRY_NAME } ev_claim_kind;
bool ev_claim_name(evaluator *e, ev_claim_kind kind, const char *name, leat_span span);
// Whether `name` can be a part of a path, and so of the names of nodes and variables.
bool ev_check_path_part(evaluator *e, const char *name, leat_span span);

// -- evaluate.c ---------------------------------------------------------------------------------
// `hint`: the name wished for the node that gives the value, or NULL: the op's.
ev ev_expr(evaluator *e, const leat_expr *expr, const char *hint);
// The same where a value is due, which not every call gives.
ev ev_value(evaluator *e, const leat_expr *expr, const char *hint);
bool ev_string(evaluator *e, const leat_expr *expr, const char **out); // interned, interpolated
void ev_statements(evaluator *e, const leat_stmts *stmts);

// -- bindings.c ---------------------------------------------------------------------------------
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
// After a mistake: the names are known, so that it is the only one that is reported.
void ev_bind_nothing(evaluator *e, const leat_stmt *stmt);

// -- frontend.c ---------------------------------------------------------------------------------
// What a text, or an entry, may change: how far everything had grown before it.
typedef struct ev_extent {
  uint32_t nodes, states, entries, undo, shown, pending, renamed;
  leat_dims_mark dims;
  const char *name, *device;
} ev_extent;
ev_extent ev_take_extent(const evaluator *e);
void ev_roll_back(evaluator *e, const ev_extent *to);
void ev_define(evaluator *e, const leat_stmt *stmt); // `fn` and `gradient`; once each
void ev_use(evaluator *e, const leat_stmt *stmt);

// -- suffixes.c ---------------------------------------------------------------------------------
typedef struct ev_placed {
  const char *device, *state_device, *frame_device, *colocate;
  ev *awaited; // for each name in `after`; EV_NONE: it is bound further down
} ev_placed;
bool ev_enter_suffixes(evaluator *e, const leat_stmt *stmt, ev_placed *saved);
void ev_leave_suffixes(evaluator *e, const leat_stmt *stmt, const ev_placed *saved);
void ev_resolve_pending(evaluator *e, uint32_t first); // names in `after` bound further down
// The node waits for each of these, in time linear in their number.

// -- types.c ------------------------------------------------------------------------------------
// The type an expression means, all of its names being known in the scope of the frame.
bool ev_type_of(evaluator *e, const leat_expr *expr, leat_type *out);
bool ev_is_type(evaluator *e, const leat_expr *expr); // whether `NAME[…]` is a type here
bool ev_as_dim(evaluator *e, ev value, leat_span span, leat_dim *out);
bool ev_as_dims(evaluator *e, ev value, leat_span span, leat_dim **out, uint32_t *count);
// Numbers below 0 too.
bool ev_as_offset(evaluator *e, ev value, leat_span span, leat_dim *out);
bool ev_as_offsets(evaluator *e, ev value, leat_span span, leat_dim **out, uint32_t *count);
// A value for something declared as `declared` (NULL: anything): a literal becomes a tensor of that
// type, a variable is read, the rest is checked. `what` is for messages: "`y`".
ev ev_fit(evaluator *e, const leat_expr *declared, ev value, leat_span span, const char *what,
          const char *hint);
const char *ev_source_text(evaluator *e, leat_span span); // as it stands in the text

// -- bind.c -------------------------------------------------------------------------------------
typedef struct ev_argument {
  const char *key; // NULL: by position
  ev value;
  leat_span span, key_span;
} ev_argument;
// Binds the arguments to the parameters of `function` in a new scope; NULL: reported.
ev_scope *ev_bind_arguments(evaluator *e, const ev_function *function, const ev_argument *args,
                            uint32_t count, leat_span call);

// -- literal.c ----------------------------------------------------------------------------------
// The value, or an item of the list, is of that kind.
bool ev_has_kind(ev value, ev_kind kind);
// A tensor of the graph from any value that can be one; `dtype` of literals (-1: i32 or f32).
leat_value ev_as_tensor(evaluator *e, ev value, int dtype, leat_span span);
// Of a literal, or lists of them, the dtype that holds them as they are written; -1: its natural
// one.
int ev_exact_dtype(ev value);
// The literal's elements in the given type; one number fills the whole shape. False: reported.
bool ev_literal(evaluator *e, ev value, const leat_type *type, leat_span span, leat_tensor *out);
// A constant of the given type from nested lists of literals, or one number for the whole shape.
leat_value ev_literal_tensor(evaluator *e, ev value, const leat_type *type, const char *hint,
                             leat_span span);

// -- call.c -------------------------------------------------------------------------------------
ev ev_call_expr(evaluator *e, const leat_expr *expr, const char *hint);
ev ev_call(evaluator *e, const ev_function *function, const ev_argument *args, uint32_t count,
           leat_span span, const char *as, const char *hint);
ev ev_call_definition(evaluator *e, const ev_function *function, const ev_argument *args,
                      uint32_t count, leat_span span, const char *as, const char *hint);
// The arguments of a call, values and names; NULL: reported. `extra` is room for more behind them.
ev_argument *ev_arguments(evaluator *e, const leat_arguments *args, uint32_t extra,
                          uint32_t *out_count);

// -- nodes.c ------------------------------------------------------------------------------------
leat_builder ev_builder(evaluator *e, leat_span span);
const char *ev_node_name(evaluator *e, const char *hint, const char *fallback);
ev ev_op(evaluator *e, leat_op op, const ev *inputs, uint32_t count, const leat_attr *attrs,
         leat_span span, const char *hint);
bool ev_is_pure(leat_op op); // gives the same bits whoever runs it, and however often
bool ev_is_random(leat_op op);
// The two halves of ev_op: the values as tensors of the dtypes that the op takes, false: reported;
// and the node, of which every output is a result.
bool ev_as_inputs(evaluator *e, leat_op op, const ev *inputs, uint32_t count, leat_span span,
                  leat_value *out);
ev ev_build(evaluator *e, leat_op op, const leat_value *inputs, uint32_t count,
            const leat_attr *attrs, leat_span span, const char *hint);
// What a call or an index gives the user: its tensors that are older than node number `first` are
// only passed on, and become identities. So they are values of their own, as they are where there
// was something to do, for names and for gradients with respect to them.
ev ev_own(evaluator *e, ev result, uint32_t first, leat_span span, const char *hint);

// -- primitive.c --------------------------------------------------------------------------------
ev ev_call_op(evaluator *e, leat_op op, const ev_argument *args, uint32_t count, leat_span span,
              const char *hint);

// -- numbers.c ----------------------------------------------------------------------------------
// An op on compile-time numbers, or the larger or smaller of two dims. EV_NONE: it is not that.
ev ev_call_on_numbers(evaluator *e, leat_op op, const ev_argument *args, uint32_t count,
                      leat_span span);

// The same of a function of the library whose parameters are tensors.
ev ev_call_library_on_numbers(evaluator *e, const ev_function *function, const ev_argument *args,
                              uint32_t count, leat_span span);

// -- operators.c --------------------------------------------------------------------------------
ev ev_operator(evaluator *e, leat_operator operator, ev left, ev right, leat_span span,
               const char *hint);

// -- rows.c -------------------------------------------------------------------------------------
leat_value ev_rows_dense(evaluator *e, ev rows, leat_span span); // that tensor
// a + b, one of which is rows and both of which are of one type.
ev ev_rows_add(evaluator *e, ev a, ev b, leat_span span);
// One of the operands is rows. EV_NONE: the operator needs the whole tensor.
ev ev_rows_operator(evaluator *e, leat_operator operator, ev left, ev right, leat_span span);

// -- builtins.c ---------------------------------------------------------------------------------
enum { EV_MAX_PARAMS = 5 };
typedef struct ev_builtin_call {
  leat_span span;
  ev args[EV_MAX_PARAMS]; // by parameter, EV_NONE where not given
  leat_span spans[EV_MAX_PARAMS];
  const ev_argument *rest; // arguments that are no parameters, where the builtin collects
  uint32_t rest_count;
  const char *hint;
} ev_builtin_call;
struct ev_builtin {
  const char *name, *help;
  const char *params[EV_MAX_PARAMS + 1];
  uint32_t required;
  enum { EV_COLLECTS_NOTHING, EV_COLLECTS_NAMED, EV_COLLECTS_POSITIONAL } collects;
  ev (*evaluate)(evaluator *e, const ev_builtin_call *call);
};
const ev_builtin *ev_find_builtin(const char *name);
const ev_builtin *ev_builtin_at(uint32_t i); // NULL past the last
ev ev_call_builtin(evaluator *e, const ev_builtin *builtin, const ev_argument *args, uint32_t count,
                   leat_span span, const char *hint);

// -- einsum.c -----------------------------------------------------------------------------------
ev ev_builtin_einsum(evaluator *e, const ev_builtin_call *call);

// -- sequences.c --------------------------------------------------------------------------------
// Of lists and strings.
ev ev_item(evaluator *e, const leat_expr *item, ev sequence); // sequence[item]
ev ev_index_sequence(evaluator *e, const leat_expr *expr, ev sequence);
ev ev_append(evaluator *e, ev left, ev right, leat_span span); // two of one kind
int ev_compare_strings(ev left, ev right);                     // as memcmp says it
ev ev_builtin_len(evaluator *e, const ev_builtin_call *call);
ev ev_builtin_str_find(evaluator *e, const ev_builtin_call *call);
ev ev_builtin_str_split(evaluator *e, const ev_builtin_call *call);
ev ev_builtin_str_join(evaluator *e, const ev_builtin_call *call);
ev ev_builtin_int(evaluator *e, const ev_builtin_call *call);

// -- indexing.c ---------------------------------------------------------------------------------
ev ev_index(evaluator *e, const leat_expr *expr, const char *hint);

// -- index_tensors.c ----------------------------------------------------------------------------
typedef struct ev_indices {
  ev tensors[LEAT_MAX_RANK];
  int32_t axes[LEAT_MAX_RANK]; // that they are for, of what basic indexing leaves of x
  uint32_t count, last;        // last: the item that was an index, an int or a tensor
  bool any, apart;             // apart: something else stands between indices
} ev_indices;
void ev_add_index(ev_indices *indices, uint32_t item);
bool ev_add_index_tensor(evaluator *e, ev_indices *indices, ev index, int32_t axis, leat_span span);
ev ev_index_by_tensors(evaluator *e, const ev_indices *indices, leat_value value, leat_span span,
                       const char *hint);

// -- names.c ------------------------------------------------------------------------------------
typedef leat_vec(const char *) ev_names;
// All that a name can mean there; the list is in `arena`.
void ev_names_in_scope(const evaluator *e, const ev_scope *scope, leat_arena *arena, ev_names *out);

// -- entry_call.c -------------------------------------------------------------------------------
// Whether the statement is a line of a REPL that runs an entry; the call is noted then.
bool ev_entry_call(evaluator *e, const leat_stmt *stmt);

// -- state.c ------------------------------------------------------------------------------------
void ev_var(evaluator *e, const leat_stmt *stmt);
void ev_assign(evaluator *e, const leat_stmt *stmt);
leat_node *ev_last_read(evaluator *e, const leat_state *state); // of the value as of now, or NULL
leat_value ev_read(evaluator *e, leat_state *state, leat_span span);
ev ev_read_as(evaluator *e, leat_state *state, const char *hint, leat_span span);
leat_node *ev_write(evaluator *e, leat_op op, leat_state *state, leat_value value, const char *hint,
                    leat_span span);
leat_state *ev_global_step(evaluator *e, leat_span span);

// -- initial.c ----------------------------------------------------------------------------------
leat_value ev_initialiser(evaluator *e, const leat_stmt *stmt, leat_state *state); // of a `var`
// The value of a pure tensor, by reference. False: reported.
bool ev_constant_of(evaluator *e, leat_value value, leat_span span, leat_tensor *out);
// What an entry's parameter is when it is not fed, computed here. False: reported.
bool ev_default(evaluator *e, const leat_binding *param, const leat_type *type, leat_tensor *out);

// -- instances.c --------------------------------------------------------------------------------
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
ev ev_builtin_variables(evaluator *e, const ev_builtin_call *call);

// -- entry.c ------------------------------------------------------------------------------------
void ev_entry(evaluator *e, const leat_stmt *stmt);
bool ev_is_broken(const evaluator *e, const char *name); // an entry of this text that was left out
void ev_leave_out(evaluator *e, const leat_stmt *stmt, const leat_withheld *errors);

// -- unused.c -----------------------------------------------------------------------------------
// Warns of each parameter of a `fn` or an entry among these that nothing in it uses; one called
// `_name` may be so.
void ev_warn_unused(evaluator *e, const leat_stmts *stmts);

// -- gradient.c, minimize.c, zeros.c ------------------------------------------------------------

// Zeros for the gradient of an output that the loss does not depend on, and what a rule makes of
// them. A node just built with such inputs may be zeros again, or one of them: what to go on with.
leat_value ev_zeros(evaluator *e, const leat_type *type, leat_span span);
bool ev_is_zeros(const evaluator *e, leat_value value);
leat_value ev_fold_zeros(evaluator *e, leat_value value, leat_span span);
// The tensor of which gradients are asked: the value, or the sum of a list of losses. No node:
// reported.
leat_value ev_loss(evaluator *e, ev value, leat_span span);
// The list of d loss / d target for a list of targets, tensors and states.
ev ev_gradient_list(evaluator *e, leat_value loss, ev targets, leat_span span);
// The trainable variables that the loss depends on, in the order of declaration.
ev ev_trainables(evaluator *e, leat_value loss, leat_span span);
bool ev_check_targets(evaluator *e, ev targets, leat_span span);
ev ev_builtin_grad(evaluator *e, const ev_builtin_call *call);
ev ev_builtin_trainables(evaluator *e, const ev_builtin_call *call);
ev ev_builtin_apply(evaluator *e, const ev_builtin_call *call);
ev ev_builtin_minimize(evaluator *e, const ev_builtin_call *call);
ev ev_builtin_rows(evaluator *e, const ev_builtin_call *call);
ev ev_builtin_is_rows(evaluator *e, const ev_builtin_call *call);
ev ev_builtin_row_indices(evaluator *e, const ev_builtin_call *call);
ev ev_builtin_row_values(evaluator *e, const ev_builtin_call *call);

#endif
