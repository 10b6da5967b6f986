// The graph: nodes with data and control edges, state, entries. Every stage of the compiler works
// on this one structure.
//
// A node may hold graphs, its *bodies*: attributes of kind GRAPH. A body's parameters are the
// inputs of its node, in order, and what its `yield` has are its results. Nothing in it refers to a
// node outside: what it needs of there is an input of its node. A body has the arena, the dims and
// the names of the graph around it, whose states its nodes refer to; it has no entries of its own.
//
// Everything lives in the graph's arena; passes drop nodes by leaving them out of `nodes`. `nodes`
// is in topological order (inputs and control inputs come before their users): whoever adds or
// moves nodes keeps it so, and leat_verify checks. A node's name is its path (language page, "Names
// and scopes"); names are unique in a graph.
#ifndef LEAT_IR_GRAPH_H
#define LEAT_IR_GRAPH_H

#include "base/arena.h"
#include "base/diag.h"
#include "base/intern.h"
#include "base/map.h"
#include "base/vec.h"
#include "ir/op.h"
#include "ir/type.h"

typedef struct leat_node leat_node;
typedef struct leat_state leat_state;
typedef struct leat_entry leat_entry;
typedef struct leat_graph leat_graph;
typedef leat_vec(leat_node *) leat_node_list;

// Output number `port` of a node. {NULL} is "none".
typedef struct leat_value {
  leat_node *node;
  uint32_t port;
} leat_value;

// What an element of a tensor of integers or truth values (0, 1) is, if it is known.
typedef struct leat_element {
  bool known;
  leat_dim dim;
} leat_element;

typedef struct leat_attr {
  union {
    int64_t i; // INT, BOOL, DTYPE
    const char *string;
    leat_dim dim;
    const leat_type *type;
    const leat_tensor *tensor;
    leat_state *state;
    leat_graph *body;
    struct {
      uint32_t count;
      union {
        const int64_t *ints;  // INTS
        const leat_dim *dims; // DIMS
      };
    };
  };
} leat_attr;

struct leat_node {
  leat_op op;               // leat_node_set_op sets it, with
  const leat_op_info *info; // its row
  uint32_t output_count;
  bool effect;       // it runs though nobody uses its result: its row says so, or its bodies do
  leat_graph *graph; // that it was added to
  uint32_t id;       // index into graph->nodes; leat_graph_renumber sets it
  const char *name;  // interned path, unique
  leat_value *inputs;
  uint32_t input_count, control_count;
  leat_node **controls;     // these finish before this node starts
  const leat_attr *attrs;   // one for each attribute of the op's row, in its order
  const leat_type *outputs; // one type for each output
  const char *device;       // interned constraint, after `place` the full device name; NULL: free
  const char *colocate;     // interned name of a node or state to share the device with; NULL: none
  leat_entry *entry;        // the entry it belongs to; NULL: top level
  leat_span span;
  const char *place; // interned "file:line:column", where it may fail (set by `prune`); else NULL
  const leat_element *elements; // of its output, as far as a front end knows; see ops/known.h
};

typedef enum leat_state_kind {
  LEAT_STATE_VARIABLE,
} leat_state_kind;

// A variable (queues and mutexes join later): named, persistent, on one device.
struct leat_state {
  leat_state_kind kind;
  uint32_t id;      // index into graph->states
  const char *name; // interned path: net/hidden/w
  leat_type type;
  leat_value init;       // the nodes below are named <name>/init/…; {NULL}: must be restored
  bool trainable;        // false too for slots and global_step
  const char *slot_of;   // interned name of the variable that it is an optimiser slot of, or NULL
  const char *container; // interned; "" is the default container
  const char *device;    // constraint, after `place` the full device name; NULL: free
  leat_span span;
  const char *place; // as a node's, where there is no initial value
};

typedef struct leat_param {
  const char *name;            // interned
  leat_node *node;             // its `feed` node
  const leat_tensor *fallback; // the default value, or NULL: must be fed
} leat_param;

typedef struct leat_result {
  const char *name;
  leat_value value;
} leat_result;

struct leat_entry {
  const char *name;
  bool training;
  leat_vec(leat_param) params;
  leat_vec(leat_result) results;
  leat_vec(leat_node *) effects; // nodes with an effect, in the order of the text
  leat_span span;
};

// What names mean in a graph and all bodies in it; kept by the add functions.
typedef struct leat_graph_names {
  leat_map by_name;     // interned name → what it names (ir/graph.c)
  leat_map binders;     // leat_atom → its `bind` node
  leat_map next_suffix; // interned path → the first number that leat_graph_unique_name tries
} leat_graph_names;

struct leat_graph {
  leat_arena *arena;
  leat_strings *strings;
  leat_dims *dims;
  leat_graph_names *names;
  const char *name;     // interned
  const char *device;   // after `partition`: the device whose part this is; NULL before
  leat_node_list nodes; // topological order
  leat_vec(leat_state *) states;
  leat_vec(leat_entry *) entries;

  leat_node *owner; // of a body: the node that holds it; NULL: it is none, or not yet a node's
  struct leat_region
      *region;              // of a body that is being made: what its node is made of, ops/region.h
  leat_node_list waits_for; // the same: what its node runs after, since something in it does
  leat_node_list params;    // of a body: the `parameter` of each input of its node
  leat_node *yield;         // of a body: its results; NULL: it is being made
};

// Makes the node, of a graph or in the air, one of the op's; of one with bodies the attributes are
// there.
void leat_node_set_op(leat_node *node, leat_op op);

leat_graph *leat_graph_create(leat_arena *arena, leat_strings *strings, const char *name);
// Of some node, or being made.
static inline bool leat_graph_is_body(const leat_graph *graph) {
  return graph->owner || graph->region;
}
// An empty body for a node of `outer`, which it shares all but its nodes with.
leat_graph *leat_graph_create_body(leat_graph *outer);
// Calls `visit` for the graph and all bodies in it, an inner one before the one around it.
typedef void (*leat_graph_visitor)(void *context, leat_graph *graph);
void leat_graph_visit(leat_graph *graph, leat_graph_visitor visit, void *context);
// A copy of the body for a node of `outer`, with names that are free there; `entry` is what all of
// it belongs to, NULL: what the original's belong to. dims: as of leat_graph_append_like.
typedef struct leat_substitution leat_substitution; // ir/substitution.h
leat_graph *leat_graph_copy_body(const leat_graph *body, leat_graph *outer, leat_entry *entry,
                                 leat_substitution *dims);
// Whether the node, of a body, only stands for inputs or results of the node that holds it.
static inline bool leat_is_frame(const leat_node *node) {
  return node->op == LEAT_OP_parameter || node->op == LEAT_OP_yield;
}
// Prints or checks, and gives nothing.
bool leat_node_only_acts(const leat_node *node);
// Takes such nodes out of a body, and of those in it: of a copy that is there for its values.
void leat_graph_drop_acts(leat_graph *body);
// `node` does what `other`, a later one, does, whose first outputs are its own and whose inputs it
// does not feed: who used `other` uses it. The graph is sorted anew.
void leat_graph_take_over(leat_graph *graph, leat_node *node, leat_node *other);
// To a free name, or that of a node that is gone.
void leat_graph_rename_node(leat_graph *graph, leat_node *node, const char *name);
// All of the node but its name, inputs and control edges: appends the copy to `to`. With `dims`,
// for a copy beside the original, a dim that the original binds becomes another one, here and in
// what is copied with the same `dims` behind it.
leat_node *leat_graph_append_like(leat_graph *to, const leat_node *node, const char *name,
                                  const leat_value *inputs, const leat_attr *attrs,
                                  leat_entry *entry, leat_substitution *dims);
// The body that attribute number i of the node is; NULL: it is something else.
leat_graph *leat_node_body(const leat_node *node, int i);
// The node itself, or the one in whose bodies it is, that is in no body.
const leat_node *leat_node_outermost(const leat_node *node);

// Appends a node without checking anything but the room: ops/build.h is what front ends and passes
// call. Copies the arrays. `name` is interned and unused: see leat_graph_unique_name.
leat_node *leat_graph_append(leat_graph *graph, leat_op op, const char *name,
                             const leat_value *inputs, uint32_t input_count,
                             const leat_attr *attrs);
// With the types of its outputs, which it keeps.
leat_node *leat_graph_append_typed(leat_graph *graph, leat_op op, const char *name,
                                   const leat_value *inputs, uint32_t input_count,
                                   const leat_attr *attrs, const leat_type *outputs);
// `path`, or `path_1`, `path_2`, … : the first that nothing is called; interned.
const char *leat_graph_unique_name(leat_graph *graph, const char *path);
// Any string; NULL when absent. A node that a pass left out of `nodes` is gone once the graph is
// renumbered. Nodes in bodies are found, too: their `graph` tells.
leat_node *leat_graph_find_node(const leat_graph *graph, const char *name);
leat_state *leat_graph_find_state(const leat_graph *graph, const char *name);
leat_entry *leat_graph_find_entry(const leat_graph *graph, const char *name);
leat_state *leat_graph_add_state(leat_graph *graph, const char *name, const leat_type *type);
leat_entry *leat_graph_add_entry(leat_graph *graph, const char *name);
// To a free name; its feeds' names follow.
void leat_graph_rename_entry(leat_graph *graph, leat_entry *entry, const char *name);
// The node that gives a `?` its value while running: a `bind`, a region, of whose results it is, or
// a parameter, which has it when the body begins. NULL: a feed does, or nobody.
leat_node *leat_graph_binder(const leat_graph *graph, const leat_atom *atom);
// The dims that the node binds when it has run: of a bind, or of a region's growing results.
const leat_dim *leat_node_binds(const leat_node *node, uint32_t *count);
// Whether result i of the region grows along the axis: then all that stands for it has a dim of its
// own there.
bool leat_region_grows(const leat_node *region, uint32_t i, int32_t axis);
bool leat_region_result_grows(const leat_node *region, uint32_t i); // along some axis
bool leat_region_lets_grow(const leat_node *node);                  // one, with some result
// Whether the types are the same but for such axes.
bool leat_region_fits(const leat_node *region, uint32_t i, const leat_type *a, const leat_type *b);
// Whether a node of the graph itself binds a dim of the type.
bool leat_graph_binds(const leat_graph *graph, const leat_type *type);
// Whether its results and what its attributes say have no dim that only running shows.
bool leat_node_is_static(const leat_node *node);
// The binders that `node` must run after and that no input of it sees to: of the run-time dims in
// its attributes that are in no input's type. Each is to be a control input.
void leat_node_find_binders(const leat_graph *graph, const leat_node *node, leat_arena *arena,
                            leat_node_list *out);
// Each once: those that the node has already are left out. In a body that is being made, what
// stands outside is waited for by its node.
void leat_node_add_controls(leat_graph *graph, leat_node *node, leat_node *const *before,
                            uint32_t count);
void leat_node_add_control(leat_graph *graph, leat_node *node, leat_node *before);

// Drops what was added behind the first `nodes`, `states` and `entries`, and forgets their names.
void leat_graph_truncate(leat_graph *graph, uint32_t nodes, uint32_t states, uint32_t entries);

const leat_type *leat_value_type(leat_value value);
const leat_attr *leat_node_attr(const leat_node *node,
                                const char *name); // asserts that the op has it
// Whether two attribute arrays of the op say the same.
bool leat_attrs_equal(leat_op op, const leat_attr *a, const leat_attr *b);
// Replaces the attribute array by a copy with one changed.
void leat_node_set_attr(leat_graph *graph, leat_node *node, const char *name, leat_attr value);
leat_state *leat_node_state(const leat_node *node); // the state of a STATE op, else NULL
// Whether dims that have no value yet stand in its attributes, or in its types or its inputs'.
bool leat_node_is_open(const leat_node *node);
// Whether a running step may fail in the node, so that people must be told its place.
bool leat_node_may_fail(const leat_node *node);

void leat_graph_renumber(leat_graph *graph); // ids by position
// Each entry has the effects that are in `nodes`, in their order; of a body: they are of no entry.
void leat_graph_list_effects(leat_graph *graph);
// Stable topological sort of `nodes` (order of position among the ready); false when there is a
// cycle, with one node of it in *out.
bool leat_graph_sort(leat_graph *graph, leat_node **out_in_cycle);

#endif
