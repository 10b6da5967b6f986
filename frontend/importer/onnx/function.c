// Functions of the model: each call is its nodes, where the call stands. How many these are is
// counted before any is written, since a function that calls another twice doubles them.
#include "frontend/importer/onnx/writer.h"

#include <string.h>

enum { DEEPEST_CALL = 50, MOST_INLINED = 300000 };

typedef struct function {
  Onnx__FunctionProto *proto;
  int64_t nodes; // that a call becomes; 0: nobody has counted them
  bool open;     // they are being counted
} function;

// What tells the functions of a model apart.
static const char *key_of(onnx_writer *w, const char *domain, const char *name,
                          const char *overload) {
  return leat_arena_printf(w->arena, "%s\n%s\n%s", domain ? domain : "", name ? name : "",
                           overload ? overload : "");
}

void onnx_list_functions(onnx_writer *w) {
  const Onnx__ModelProto *model = w->proto;
  for (size_t i = 0; i < model->n_functions; i++) {
    Onnx__FunctionProto *f = model->functions[i];
    const char *key = key_of(w, f->domain, f->name, f->overload);
    function *own = leat_new(w->arena, function);
    own->proto = f;
    if (leat_bytes_map_get(&w->functions, key, strlen(key)))
      onnx_problem(w, "there are two functions `%s`", f->name ? f->name : "");
    else
      leat_bytes_map_set(&w->functions, key, strlen(key), own);
  }
}

static function *find_function(onnx_writer *w, const onnx_node *node) {
  if (!w->functions.count) return NULL;
  const char *key = key_of(w, node->domain, node->op_type, node->overload);
  return leat_bytes_map_get(&w->functions, key, strlen(key));
}

const Onnx__FunctionProto *onnx_function_of(onnx_writer *w, const onnx_node *node) {
  const function *found = find_function(w, node);
  return found ? found->proto : NULL;
}

// -- How many nodes -------------------------------------------------------------------------------

static int64_t count_nodes(onnx_writer *w, onnx_node *const *nodes, size_t count, unsigned depth);

// Those that calls become; a graph's own are as many as the file has.
static int64_t count_call(onnx_writer *w, function *f, unsigned depth) {
  if (f->open || depth > DEEPEST_CALL) return -1;
  if (f->nodes) return f->nodes;
  f->open = true;
  int64_t inner = count_nodes(w, f->proto->node, f->proto->n_node, depth + 1);
  f->open = false;
  if (inner < 0) return -1;
  f->nodes = inner + (int64_t)f->proto->n_node + 1;
  if (f->nodes > MOST_INLINED) f->nodes = MOST_INLINED + 1;
  return f->nodes;
}

static int64_t count_graph(onnx_writer *w, const onnx_graph *graph, unsigned depth) {
  return graph ? count_nodes(w, graph->node, graph->n_node, depth) : 0;
}

static int64_t count_node(onnx_writer *w, const onnx_node *node, unsigned depth) {
  function *f = find_function(w, node);
  int64_t total = f ? count_call(w, f, depth) : 0;
  for (size_t i = 0; i < node->n_attribute && total >= 0; i++) {
    int64_t inner = count_graph(w, node->attribute[i]->g, depth);
    total = inner < 0 ? -1 : total + inner;
  }
  return total;
}

// -1: functions call each other too deep, or for ever.
static int64_t count_nodes(onnx_writer *w, onnx_node *const *nodes, size_t count, unsigned depth) {
  int64_t total = 0;
  for (size_t i = 0; i < count && total <= MOST_INLINED; i++) {
    int64_t inner = count_node(w, nodes[i], depth);
    if (inner < 0) return -1;
    total += inner;
  }
  return total < MOST_INLINED ? total : MOST_INLINED + 1;
}

bool onnx_functions_fit(onnx_writer *w) {
  if (!w->functions.count) return true;
  int64_t total = count_graph(w, w->proto->graph, 1);
  if (total < 0)
    onnx_problem(w, "functions call each other more than %d deep, or themselves", DEEPEST_CALL);
  else if (total > MOST_INLINED)
    onnx_problem(w,
                 "the calls of functions are more than %d nodes: call fewer, or write what is "
                 "repeated as a Loop",
                 MOST_INLINED);
  return total >= 0 && total <= MOST_INLINED;
}

// -- Calls ----------------------------------------------------------------------------------------

// What a call gives, the function has.
static void check_function_attributes(onnx_writer *w, const Onnx__FunctionProto *f) {
  for (size_t i = 0; i < w->node->n_attribute; i++) {
    const char *name = w->node->attribute[i]->name ? w->node->attribute[i]->name : "";
    bool found = false;
    for (size_t k = 0; k < f->n_attribute && !found; k++)
      found = strcmp(f->attribute[k], name) == 0;
    for (size_t k = 0; k < f->n_attribute_proto && !found; k++)
      found = f->attribute_proto[k]->name && strcmp(f->attribute_proto[k]->name, name) == 0;
    if (!found) onnx_problem(w, "the function has no attribute `%s`", name);
  }
}

// The nodes of the function, where the call stands.
void onnx_write_function(onnx_writer *w, const Onnx__FunctionProto *f) {
  onnx_call call = {
      .outer = w->call, .function = f, .node = w->node, .depth = w->call ? w->call->depth + 1 : 1};
  onnx_scope scope = {.block = w->block}, *outer = w->scope;
  const onnx_node *node = w->node;
  check_function_attributes(w, f);
  if (node->n_input > f->n_input || node->n_output > f->n_output)
    onnx_problem(w, "the function has %zu inputs and %zu outputs, and it %zu and %zu", f->n_input,
                 f->n_output, node->n_input, node->n_output);
  leat_bytes_map_init(&scope.values, w->arena);
  leat_bytes_map_init(&call.names, w->arena);
  for (size_t i = 0; i < f->n_output && i < node->n_output; i++)
    if (*node->output[i])
      leat_bytes_map_set(&call.names, f->output[i], strlen(f->output[i]), node->output[i]);
  for (size_t i = 0; i < f->n_input && i < node->n_input; i++) {
    onnx_value value = onnx_input(w, i);
    if (value.text)
      leat_bytes_map_set(&scope.values, f->input[i], strlen(f->input[i]),
                         leat_arena_memdup(w->arena, &value, sizeof value));
  }
  w->scope = &scope;
  w->call = &call;
  onnx_write_nodes(w, f->node, f->n_node);
  for (size_t i = 0; i < f->n_output && i < node->n_output; i++) {
    const onnx_value *value = onnx_find(w, f->output[i]);
    w->scope = outer;
    if (value && *node->output[i]) onnx_bind(w, node->output[i], *value);
    w->scope = &scope;
  }
  w->scope = outer;
  w->call = call.outer;
}
