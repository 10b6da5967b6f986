// What is evaluated and how far: scopes, frames, the state of the frontend, its limits.
//
// What evaluation works on, each header with its files; none of it evaluates anything:
//
//   value.h       value.c      compile-time values, errors, limits
//   evaluator.h   rollback.c   what a text may change, and how it is taken back
//   names.h       scope.c      names, families, functions  names.c      what completes a name
//                 naming.c     names of nodes, namespace   instances.c  calls that name variables
//   tensors.h     literal.c    literals as tensors         nodes.c      nodes of the graph
//                 weak.c       numbers that meet tensors   carried.c    dtypes of what loops carry
//                 known.c      what small tensors hold
//   region.h      region.c     bodies while running        state.c      reads, writes, their order
//                 leaves.c     lists of tensors there      repeat.c     nodes done again
//                 numbered.c   nodes of it and around it
//   rows.h        rows.c       sparse rows                 counted_rows.c  some of them meant
//                 zeros.c      gradients that are zeros
//   builtin.h     builtins.def compile-time functions
#ifndef LEAT_FRONTEND_EVALUATOR_H
#define LEAT_FRONTEND_EVALUATOR_H

#include "base/data_file.h"
#include "frontend/values/value.h"

typedef struct ev_binding {
  ev value;
  leat_span span;
  leat_map *members; // of a family: index + 1 → ev *; NULL for everything else
  bool carried;      // by the `while` whose scope it is in
} ev_binding;

typedef struct ev_scope {
  struct ev_scope *parent;
  leat_map names; // interned name → ev_binding *
  bool turn;      // of one turn of a `for`: families go to the scope around
  bool fleeting;  // of a `while`, or an `if` that gives nothing: what is bound there ends with it
  leat_map *gone; // what turns bound here: name → ev_binding *; NULL: nothing
  struct ev_scope *closed, *closed_before; // the last block that ended in it; the one before this
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

bool ev_in_library(const ev_frame *frame); // its code is of stdlib/: value.c

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

// A loop, and one that does the same and more, which it becomes when the gradients are written.
typedef struct ev_replaced {
  leat_node *loop, *by;
} ev_replaced;

typedef struct ev_asked { // a call of `result_types`
  ev key, types;
} ev_asked;

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

// What surrounds the statement being evaluated: whoever changes it puts back what it was.
typedef struct ev_context {
  leat_entry *entry;
  leat_graph *body;          // that nodes are made in: the graph, or a body that is open
  struct ev_region *region;  // the innermost that is open (region.h); NULL: none
  const char *path;          // of the nodes being made: "train/net/hidden"
  const char *gradient_path; // set inside a gradient rule: the name of all its nodes
  const char *device;        // constraint on the nodes being made
  const char *state_device;  // where an enclosing replica_device puts variables
  const char *colocate;
  leat_state *initialising; // set inside an initialiser
  leat_state *slots_of;     // set inside an optimiser: whose slots its variables are
  const char *place;        // of the node that canonical text makes, where it says so; else NULL
  bool absolute;   // the statement is canonical text: calls are of bare ops, nothing is implied
  bool on_numbers; // a function of the library computes a number
  bool training;
} ev_context;

struct leat_frontend {
  leat_data_file loaded;   // what a `load` of the text that is evaluated has read last
  const char *loaded_path; // NULL: nothing
  leat_arena *arena;
  leat_strings *strings;
  leat_diag *diag;
  leat_graph *graph; // of all texts
  leat_frontend_options options;
  const ev_builtin *builtins; // the last one without a name
  bool *setting_known;        // by setting: some `graph` line has that parameter

  ev_scope *globals;
  leat_map functions; // interned name → ev_function * of the user's definitions
  leat_map library;   // the same for the library's, builtins and ops, made when first used
  leat_map gradients, library_gradients;
  leat_map documented;  // name → leat_stmt * of the entry, variable or dim of that name
  leat_map claims;      // interned path → ev_claim *: who has the name
  leat_map fed;         // interned "train/x" → the leat_entry * that has the parameter: entry.c
  leat_map instances;   // interned path → ev_instance *
  leat_map states;      // leat_state * → the `var` statement that declared it
  leat_map slot_makers; // interned "w/adam" → the call that has these slots: minimize.c
  leat_map aliases;     // interned "train/y" → leat_value *
  leat_map records;     // leat_node * → ev_call_record *
  leat_map zeros;       // leat_node * → itself: zeros.c
  leat_map dense;       // ev_rows * → leat_value *, the tensor that they stand for: rows.c
  leat_map weak;        // leat_node * → what it was made of, of numbers alone: weak.c
  leat_map body_reads;  // leat_node * → the leat_state * whose value it is in a body: region.c
  leat_map modules;     // interned file name → whether it is open or done (modules.c)
  leat_map orders;      // leat_state * → ev_order *, of the entry being evaluated
  leat_vec(ev_replaced) replaced;
  leat_vec(ev_asked) asked; // by the statement at top level that is evaluated: trial.c
  leat_vec(ev_undo) undo;
  leat_vec(ev_renamed) renamed; // by the text being evaluated
  leat_vec(leat_broken_entry *) broken;
  leat_vec(const leat_withheld *) whole; // of entries of this text that are refused as a whole
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
  uint32_t nodes; // of the graph before it, or before what is on trial
  leat_last_text *last;
  leat_text known; // last->known while it is evaluated

  // Of the statement being evaluated.
  ev_context at;
  ev_frame *frame;
  struct ev_loops *loops; // what is known of loops that are evaluated (carried.c); NULL: nothing
  uint32_t first_node;    // of the statement
  leat_span span;         // of the statement
};

// Limits, so that no text takes more than about three seconds and a GB.
enum {
  EV_MAX_DEPTH = 2000,     // nested blocks and expressions, through all calls
  EV_MAX_CALLS = 200,      // nested calls
  EV_MAX_STEPS = 10000000, // statements, calls, turns and list items of one text
  EV_MAX_LIST = 4 << 20,   // values in a list
  EV_MAX_LIST_HEIGHT = 64,
  EV_MAX_STRING = 16 << 20,
  EV_MAX_LITERAL = 64 << 20, // bytes
  EV_MAX_NODES = 800000,     // that one text may add
  EV_MAX_ERRORS = 100,       // then nobody reads on
};

// -- rollback.c -----------------------------------------------------------------------------------
void ev_set(evaluator *e, leat_map *map, const void *key, void *value); // remembered for rollback
// What a text, or an entry, may change: how far everything had grown before it.
typedef struct ev_extent {
  uint32_t nodes, states, entries, undo, pending, renamed, replaced, asked;
  leat_dims_mark dims;
  const char *name, *device;
} ev_extent;
ev_extent ev_take_extent(const evaluator *e);
void ev_roll_back(evaluator *e, const ev_extent *to);

#endif
