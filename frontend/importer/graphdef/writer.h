// Writing a graph as a text: what stands for each output of a node, and the lines that make them.
// Internal to frontend/importer/graphdef/.
#ifndef LEAT_FRONTEND_GRAPHDEF_WRITER_H
#define LEAT_FRONTEND_GRAPHDEF_WRITER_H

#include "frontend/importer/graphdef/block.h"
#include "frontend/importer/graphdef/ops.h"
#include "frontend/importer/text.h"

// What stands for an output where it is used.
typedef struct tf_value {
  struct tf_value *now; // of the handle of a stack: what stands for it when it is filled
  const char *text;     // a name, a literal, the `$path` of a variable; NULL: nothing does
  const char *tensor;   // what is fixed as it is in the node's branch or frame; or NULL
  const char *untyped;  // of a list whose elements have no type yet: how many they are; or NULL
  const char *left;     // of a list from which was popped: how many elements are left; or NULL
  int32_t data_type;    // as TensorFlow numbers them; 0: nobody has said
  const struct tf_table *table; // the handle is of that one
  bool each;                    // a list of what is fixed, of which each element is this
  bool known;                   // it is a number or a list of the text, else it is a tensor
  bool fixed; // made of constants and shapes alone: the same in each turn, of no branch and frame
  bool variable;
  bool untold;   // text of values, which only a Print shows
  bool is_none;  // an optional that has no value
  bool is_false; // for certain, while a variable's initial value is written
} tf_value;

// A list that is no tensor of its elements.
static inline bool tf_is_unfinished(const tf_value *value) {
  return value->untyped || value->left || value->each;
}

typedef struct tf_values {
  tf_value *items;
  uint32_t count;
} tf_values;

// The turns of a frame, counted up from 0, or down from those of another.
typedef struct tf_turns {
  const tf_frame *of;          // that other, or itself; NULL: they are not counted
  const char *inside, *behind; // in a turn, from 0 on, and behind the loop
} tf_turns;

// A graph, or a function where it is called, of which lines are being written.
typedef struct tf_scope {
  const struct tf_scope *outer;
  const tf_block *block;
  tf_values *values;       // by node
  const char *prefix;      // of the names of its nodes: "call/"
  unsigned depth;          // of calls
  tf_turns *turns;         // by frame; NULL: none is counted
  struct tf_scope **ahead; // by outermost frame: that loop alone, which only counts; NULL: none is
} tf_scope;

typedef struct tf_variable {
  const tf_node *node;
  const char *name, *path; // as a name, and with its `$`
  leat_tensor type;
  bool declared, refused;
  const char *begins;     // what it begins with, once it is declared
  bool untrained;         // the meta graph says so
  const char *key;        // of the checkpoint, as the graph restores it; NULL: it does not
  const tf_node *initial; // the Assign that initialises it; NULL: none
} tf_variable;

// A table that is filled once, with constants.
typedef struct tf_table {
  const tf_node *node;
  const tf_tensor *keys, *values; // NULL: nothing says what they are
} tf_table;

typedef struct tf_writer {
  leat_model_file *model;
  const tf_saved *saved; // its content
  leat_arena *arena;
  const leat_import_options *options;
  const tf_block *graph;
  tf_scope *scope;
  const tf_node *node;      // being written
  leat_bytes_map taken;     // names that mean something in the entry
  leat_bytes_map results;   // of these, nodes that it gives under their own names
  leat_bytes_map variables; // by name → tf_variable *
  leat_vec(tf_variable *) all;
  leat_vec(tf_table) tables;
  leat_bytes_map keys;          // names of tensors that are loaded
  leat_bytes_map library;       // functions by name
  leat_bytes_map call_sizes;    // of functions: 1 + the nodes that a call becomes
  leat_bytes_map effects;       // of functions: 1 + their tf_effect, as far as it was asked
  leat_bytes_map heeded;        // nodes that cannot be compiled → why
  leat_text head;               // variables, and functions that they begin with
  leat_text lines;              // of what is being written
  leat_sayings refused;         // what of it cannot be said
  const tf_node *counts;        // of the entry: what adds 1 to global_step, as Leat does itself
  const char *step, *step_path; // once that is written: what global_step will be; else NULL
  unsigned indent;
  uint64_t work;      // nodes written so far, those of inlined functions too
  uint32_t functions; // written so far
  bool initialising;  // a variable: no other can be read
} tf_writer;

// -- text.c ---------------------------------------------------------------------------------------

// Adds a line at the present indentation.
void tf_line(tf_writer *w, const char *format, ...) __attribute__((format(printf, 2, 3)));
// What cannot be said of the node that is being written: what is wrong, then what to do.
void tf_refuse(tf_writer *w, const char *format, ...) __attribute__((format(printf, 2, 3)));
// Why the node that is being written cannot be compiled, as an earlier text showed; or NULL.
const char *tf_heeded(tf_writer *w);
// A name for what the file calls so: that name, where it means nothing else yet; as it is written.
const char *tf_name(tf_writer *w, const char *name);
const char *tf_written(tf_writer *w, const char *name); // as it is written
// A name at the top of the text: `use … as NAME` puts NAME/ in front.
const char *tf_global(tf_writer *w, const char *name);
const char *tf_quote(tf_writer *w, const char *text, size_t size); // a string of the text
// The lines that make an initial value or a function stand by themselves; the rest goes on behind.
typedef struct tf_aside {
  leat_text lines;
  leat_bytes_map taken;
  unsigned indent;
} tf_aside;
tf_aside tf_step_aside(tf_writer *w);
leat_text tf_step_back(tf_writer *w, tf_aside aside); // what was written meanwhile

// -- variables.c ----------------------------------------------------------------------------------

void tf_find_variables(tf_writer *w);
// The variable that the node is, declared; NULL: it cannot be, which is said.
tf_variable *tf_variable_of(tf_writer *w, const tf_node *node);
// What it begins with, as a tensor.
const char *tf_initial(tf_writer *w, const tf_variable *variable);
// Whether the node is an Assign by which a variable begins.
bool tf_initialises(const tf_writer *w, const tf_node *node);
const char *tf_type_text(tf_writer *w, const leat_tensor *type);
// The constant under that name: a literal or what is loaded, an expression.
tf_value tf_constant(tf_writer *w, const tf_tensor *tensor, const char *name);

// The variable that the node is, or another node of the same name; NULL: it is none.
tf_variable *tf_same_variable(const tf_writer *w, const tf_node *node);

// -- restored.c -----------------------------------------------------------------------------------

// What variables are restored from, and what tables are filled with.
void tf_find_restored(tf_writer *w);
bool tf_only_fills(const tf_node *node); // a table
void tf_write_table(tf_writer *w);
void tf_write_lookup(tf_writer *w);
void tf_write_table_size(tf_writer *w);
void tf_write_table_export(tf_writer *w);

// -- entries.c ------------------------------------------------------------------------------------

void tf_write_entries(tf_writer *w, leat_text *out);

// -- node.c ---------------------------------------------------------------------------------------

// Writes the needed nodes of the scope's block, in order.
void tf_write_nodes(tf_writer *w, const bool *needed);
// How many outputs the node has: as the row says, a list has what the node's attributes say.
uint32_t tf_output_count(const tf_node *node, const tf_op *op);
int64_t tf_int(const tf_node *node, const char *name, int64_t otherwise);
int32_t tf_type(const tf_node *node, const char *name);                     // 0: there is none
const char *tf_string(tf_writer *w, const tf_node *node, const char *name); // or ""
// Input i of the node that is being written; the value that stands for an output of a node.
tf_value tf_input(tf_writer *w, size_t i);
tf_value tf_edge_value(tf_writer *w, const tf_edge *edge);
const char *tf_as_tensor(tf_writer *w, tf_value value);
// As numbers and lists, as far as it is known while compiling.
const char *tf_as_numbers(tf_writer *w, tf_value value);
void tf_bind(tf_writer *w, uint32_t port, tf_value value); // to an output of the node
// The names that `count` outputs of the node are bound to: a, `a:1`.
const char *tf_targets(tf_writer *w, uint32_t count, int32_t data_type);
// " after [a, b]" where a switch decides whether the node is computed and no input says so, or "".
const char *tf_after(tf_writer *w);

// -- special.c, call.c ----------------------------------------------------------------------------

// Writes the node; `name` is what stands behind `!` in its row.
void tf_write_special(tf_writer *w, const char *name);
void tf_list_functions(tf_writer *w);
const tf_function *tf_find_function(const tf_writer *w, const char *name);
// What a node does, with the functions that it calls; the context is a tf_writer.
tf_effect tf_effect_of(void *context, const tf_node_def *def);
// Writes the node as the nodes of the function, which are given these values.
void tf_inline(tf_writer *w, const tf_function *function, const tf_value *inputs, size_t count,
               tf_values *out);
void tf_write_call(tf_writer *w);
void tf_write_while(tf_writer *w);

// The function that the attribute of the node names; NULL: it is told that there is none.
const tf_function *tf_function_of(tf_writer *w, const char *attribute);
const tf_function *tf_function_named(tf_writer *w, const char *name);
const tf_block *tf_block_of_called(tf_writer *w, const tf_function *function);
tf_value *tf_inputs_from(tf_writer *w, size_t first, size_t *out_count); // those of the node
// Writes of the function what the edge in it needs, without effects; what that is.
tf_value tf_inline_edge(tf_writer *w, const tf_function *function, const tf_value *inputs,
                        size_t count, const tf_edge *edge);
// Where what the function returns under its name is.
bool tf_find_returned(const tf_block *block, const char *name, tf_edge *out);

// -- branch.c -------------------------------------------------------------------------------------

void tf_write_if(tf_writer *w);
void tf_write_case(tf_writer *w);
void tf_write_optional(tf_writer *w);
void tf_write_none(tf_writer *w);
void tf_write_optional_value(tf_writer *w);

// -- lists.c --------------------------------------------------------------------------------------

void tf_write_list(tf_writer *w);
void tf_write_list_set(tf_writer *w);
void tf_write_list_scatter(tf_writer *w);
void tf_write_list_scatter_into(tf_writer *w);
void tf_write_list_push(tf_writer *w);
void tf_write_list_pop(tf_writer *w);
void tf_write_list_length(tf_writer *w);
void tf_write_list_stack(tf_writer *w);
// The list, made now if it is untyped: of elements like the item.
tf_value tf_typed_list(tf_writer *w, tf_value list, const char *item);
const char *tf_list_left(tf_writer *w, tf_value list); // how many there are
// What a loop's body does to the list that is its result i.
typedef struct tf_list_change {
  bool pushes, pops, grows; // by setting what is not there yet
  const tf_edge *item;      // of the body, that comes into the list; NULL: none
} tf_list_change;
tf_list_change tf_list_changes(const tf_block *body, uint32_t i);

// -- stacks.c -------------------------------------------------------------------------------------

const char *tf_frame_name(tf_writer *w, const tf_frame *frame); // as a string of the text
void tf_write_stack(tf_writer *w);
void tf_write_push(tf_writer *w);
void tf_write_pop(tf_writer *w);

#endif
