// Writing a model as a text: what stands for each of its values, and the lines that make them.
// Internal to frontend/importer/onnx/.
#ifndef LEAT_FRONTEND_ONNX_WRITER_H
#define LEAT_FRONTEND_ONNX_WRITER_H

#include "frontend/importer/onnx/model.h"
#include "frontend/importer/text.h"

// What stands for a value where it is used.
typedef struct onnx_value {
  const char *text;            // a name, or a literal; NULL: the input is left out
  int32_t data_type;           // as ONNX numbers them; 0: nobody has said
  bool known;                  // it is a number or a list of the text, else it is a tensor
  const onnx_tensor *constant; // what it is, where nothing has used it yet: there is no text then
  bool used;
  bool window_first; // weights of convolutions alone, which are loaded as those take them
} onnx_value;

// The lines of a function of the text.
typedef struct onnx_block {
  leat_text weights; // those that load
  leat_text lines;
  unsigned indent;
  bool is_body; // of a loop
} onnx_block;

typedef struct onnx_scope {
  struct onnx_scope *outer;        // of a branch or a body; NULL: of a graph or a function
  leat_bytes_map values;           // by their names in the file → onnx_value *
  onnx_block *block;               // of the function of the text that it is in
  bool is_function;                // in the text: what it uses of the outer scope is handed to it
  leat_vec(const char *) captured; // what that is
} onnx_scope;

// The function of the model that is being written, of which attributes may be given by its caller.
typedef struct onnx_call {
  const struct onnx_call *outer; // whose attributes the node's own may refer to
  const Onnx__FunctionProto *function;
  const onnx_node *node;
  leat_bytes_map names; // of its outputs → what the caller calls them
  unsigned depth;
} onnx_call;

typedef struct onnx_writer {
  leat_model_file *model;
  const Onnx__ModelProto *proto; // its content
  leat_arena *arena;
  const leat_import_options *options;
  onnx_scope *scope;
  const onnx_call *call;     // NULL: nodes of the graph
  const onnx_node *node;     // being written, for problems
  leat_bytes_map taken;      // identifiers that mean something
  leat_bytes_map known_dims; // dim_param → identifier
  leat_bytes_map functions;  // of the model, of which function.c has more to say
  leat_bytes_map kernels;    // names of values that only convolutions use, as their weights
  leat_bytes_map keys;       // names of tensors that are loaded
  leat_text dims;            // the lines that declare them
  leat_text bodies;          // of loops, whole functions
  onnx_block *block;         // being written
  bool is_fixed;             // a constant that is written now is none that training may change
  int64_t dense_left;        // bytes that sparse tensors may still take when they are dense
  uint64_t work;             // nodes written so far, those of inlined functions too
} onnx_writer;

// -- ops.c ----------------------------------------------------------------------------------------

// How an op is written; see ops.def.
typedef struct onnx_op {
  const char *domain, *name;
  int64_t since;
  const char *write, *inputs;
  int outputs;
  const char *gives, *attributes;
} onnx_op;

// The row for the op in that version of its domain, whose name may be NULL. NULL: there is none.
const onnx_op *onnx_op_find(const char *domain, const char *name, int64_t version);
// NULL: no version of the op has a row; else the earliest one.
const onnx_op *onnx_op_earliest(const char *domain, const char *name);
const onnx_op *onnx_op_at(size_t i); // row number i; NULL past the last
// The newest opset of the domain whose ops the rows are of; 0: nobody has said.
int64_t onnx_newest(const char *domain);
bool onnx_domain_is(const char *domain, const char *name); // "" and "ai.onnx" are one

// -- text.c ---------------------------------------------------------------------------------------

const char *onnx_first_output(const onnx_node *node); // its name; "": it has no output
// Adds a line at the present indentation.
void onnx_line(onnx_writer *w, const char *format, ...) __attribute__((format(printf, 2, 3)));
// An identifier of the text for a name in the file: that name, where it means nothing else yet.
const char *onnx_identifier(onnx_writer *w, const char *name);
const onnx_value *onnx_find(onnx_writer *w, const char *name); // NULL: there is no such value
// That is the value of the name from here on; what is one already is reported.
void onnx_bind(onnx_writer *w, const char *name, onnx_value value);
// The same of an input, of which an initializer may have been the default.
void onnx_bind_input(onnx_writer *w, const char *name, onnx_value value);
// What cannot be written of the node that is being written: what is wrong, then what to do.
void onnx_problem(onnx_writer *w, const char *format, ...) __attribute__((format(printf, 2, 3)));
// What is otherwise than the node says.
void onnx_note(onnx_writer *w, const char *format, ...) __attribute__((format(printf, 2, 3)));
// The nodes, in the scope that they are in.
void onnx_write_nodes(onnx_writer *w, onnx_node *const *nodes, size_t count);
// The constants of a graph become values.
void onnx_bind_initializers(onnx_writer *w, const onnx_graph *graph);
// The version of a domain that nodes here are of; 0: nobody has said.
int64_t onnx_version(const onnx_writer *w, const char *domain);
// Ends what a scope or a function began: its lines, behind those that load.
void onnx_add_block(onnx_block *block, leat_text *out);

// -- node.c ---------------------------------------------------------------------------------------

// Writes the node that w->node is.
void onnx_write_node(onnx_writer *w);
// An input of the node, as it stands; {NULL}: it is left out.
onnx_value onnx_input(onnx_writer *w, size_t i);
// As a tensor for certain.
const char *onnx_as_tensor(onnx_writer *w, onnx_value value);
// As numbers and lists, as far as it is known while compiling.
const char *onnx_as_numbers(onnx_writer *w, onnx_value value);
// The node's attribute, also one that the function's caller gives; NULL: there is none.
const onnx_attribute *onnx_attribute_of(const onnx_writer *w, const char *name);
int64_t onnx_int(onnx_writer *w, const char *name, int64_t otherwise);
// The identifier that output i of the node is bound to, `_` where that is left out.
const char *onnx_target(onnx_writer *w, size_t i, int32_t data_type);
// The identifiers that the node's outputs are bound to, `_` for those that are left out: a, _, b.
// They are values of that type then.
const char *onnx_targets(onnx_writer *w, int count, int32_t data_type);

// -- function.c -----------------------------------------------------------------------------------

// Lists the model's functions, for calls to be found.
void onnx_list_functions(onnx_writer *w);
// Whether their calls are of a size and a depth that can be written; else it is reported.
bool onnx_functions_fit(onnx_writer *w);
const Onnx__FunctionProto *onnx_function_of(onnx_writer *w, const onnx_node *node); // NULL: none
// Writes the node that w->node is, a call of the function.
void onnx_write_function(onnx_writer *w, const Onnx__FunctionProto *function);

// -- literal.c ------------------------------------------------------------------------------------

// A small constant as a literal, which `out` stands for; false: it is none.
bool onnx_literal(onnx_writer *w, const onnx_tensor *tensor, const char *name, onnx_value *out);
// A constant of the model under that name: a literal, or what the function of that block loads.
onnx_value onnx_constant(onnx_writer *w, onnx_block *block, const onnx_tensor *tensor,
                         const char *name, bool window_first);
// A tensor of rank 1 that holds nothing yet.
onnx_tensor *onnx_vector(onnx_writer *w, int32_t data_type, size_t count);
// What `tensor`, which is the node's `name`, is in the text, as a tensor.
const char *onnx_tensor_text(onnx_writer *w, const onnx_tensor *tensor, const char *name);
// A sparse one as a dense constant, which nothing has used yet.
onnx_value onnx_sparse_value(onnx_writer *w, const onnx_sparse *sparse, const char *name);
// What an attribute is in the text: `kind` says what to make of a number ('b' a bool, 'd' a dtype)
// or of a list ('t' a tensor).
// NULL: it cannot be said, which is reported.
const char *onnx_attribute_text(onnx_writer *w, const onnx_attribute *attribute, char kind);
const char *onnx_ints(onnx_writer *w, const int64_t *x, size_t count);

// -- kernels.c ------------------------------------------------------------------------------------

// Fills in w->kernels.
void onnx_find_kernels(onnx_writer *w);
bool onnx_is_kernel(const onnx_writer *w, const char *name);

// -- control.c ------------------------------------------------------------------------------------

void onnx_write_if(onnx_writer *w);
void onnx_write_flex_attention(onnx_writer *w);
void onnx_write_loop(onnx_writer *w);
void onnx_write_scan(onnx_writer *w);
void onnx_write_sequence_map(onnx_writer *w);

// -- special.c ------------------------------------------------------------------------------------

// Writes the node; `name` is what stands behind `!` in its row.
void onnx_write_special(onnx_writer *w, const char *name);

#endif
