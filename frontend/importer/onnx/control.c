// Branches are written where they stand; the body of a loop is a function of the text, which is
// handed what it uses of outside, and the library's loops call it.
#include "frontend/importer/onnx/writer.h"

#include <string.h>

static const onnx_graph *body_of(onnx_writer *w, const char *name) {
  const onnx_attribute *a = onnx_attribute_of(w, name);
  if (a && a->g) return a->g;
  onnx_problem(w, "it has no `%s`", name);
  return NULL;
}

static const char *take(onnx_writer *w, leat_text *text) {
  const char *copy = leat_arena_strndup(w->arena, text->data ? text->data : "", text->size);
  leat_text_finish(text);
  return copy;
}

// "a, b": the graph's results from number `first` up to `last`, as tensors.
static const char *results(onnx_writer *w, const onnx_graph *graph, size_t first, size_t last) {
  leat_text text = {0};
  for (size_t i = first; i < last && i < graph->n_output; i++) {
    const char *name = graph->output[i]->name ? graph->output[i]->name : "";
    const onnx_value *value = onnx_find(w, name);
    if (!value) onnx_problem(w, "its result `%s` is made by no node", name);
    leat_text_add(&text, "%s%s", i > first ? ", " : "", value ? onnx_as_tensor(w, *value) : "0");
  }
  return take(w, &text);
}

static void begin_scope(onnx_writer *w, onnx_scope *scope, const onnx_graph *graph) {
  *scope = (onnx_scope){.outer = w->scope, .block = w->block};
  leat_bytes_map_init(&scope->values, w->arena);
  w->scope = scope;
  onnx_bind_initializers(w, graph);
}

// -- If -------------------------------------------------------------------------------------------

static void write_branch(onnx_writer *w, const onnx_graph *graph) {
  onnx_scope scope;
  begin_scope(w, &scope, graph);
  w->block->indent += 2;
  onnx_write_nodes(w, graph->node, graph->n_node);
  const char *given = results(w, graph, 0, w->node->n_output);
  onnx_line(w, "yield %s", given);
  w->block->indent -= 2;
  w->scope = scope.outer;
}

// "a: any, _": the branches may give other shapes.
static const char *open_targets(onnx_writer *w) {
  leat_text text = {0};
  for (size_t i = 0; i < w->node->n_output; i++)
    leat_text_add(&text, "%s%s%s", i ? ", " : "", onnx_target(w, i, 0),
                  *w->node->output[i] ? ": any" : "");
  return take(w, &text);
}

void onnx_write_if(onnx_writer *w) {
  const onnx_graph *then = body_of(w, "then_branch"), *otherwise = body_of(w, "else_branch");
  onnx_value p = onnx_input(w, 0);
  int count = (int)w->node->n_output;
  bool fits = then && otherwise && p.text && then->n_output >= w->node->n_output &&
              otherwise->n_output >= w->node->n_output;
  if (!fits) {
    if (then && otherwise) onnx_problem(w, "its branches give less than it does");
    onnx_targets(w, count, 0);
    return;
  }
  // The targets are values behind the branches only.
  leat_text before = w->block->lines;
  w->block->lines = (leat_text){0};
  write_branch(w, then);
  onnx_line(w, "} else {");
  write_branch(w, otherwise);
  leat_text branches = w->block->lines;
  w->block->lines = before;
  onnx_line(w, "%s = if onnx_truth(%s) {", open_targets(w), p.text);
  leat_text_add_n(&w->block->lines, branches.data, branches.size);
  onnx_line(w, "}");
  leat_text_finish(&branches);
}

// -- Bodies ---------------------------------------------------------------------------------------

// Lines that take a list apart into what the body's inputs are called.
static void unpack(onnx_writer *w, const onnx_graph *body, size_t first, size_t last,
                   const char *list) {
  leat_text names = {0};
  for (size_t i = first; i < last; i++) {
    const char *name = body->input[i]->name ? body->input[i]->name : "";
    const Onnx__TypeProto *type = body->input[i]->type;
    bool tensor = type && type->value_case == ONNX__TYPE_PROTO__VALUE_TENSOR_TYPE;
    const char *id = onnx_identifier(w, name);
    onnx_bind_input(
        w, name,
        (onnx_value){id, tensor ? type->tensor_type->elem_type : 0, false, NULL, false, false});
    leat_text_add(&names, "%s%s", i > first ? ", " : "", id);
  }
  if (last > first) onnx_line(w, "%s = %s%s", names.data, list, last == first + 1 ? "[0]" : "");
  leat_text_finish(&names);
}

static void add_captured(const onnx_scope *scope, leat_text *out, const char *from) {
  leat_text names = {0};
  for (uint32_t i = 0; i < scope->captured.count; i++)
    leat_text_add(&names, "%s%s", i ? ", " : "", scope->captured.items[i]);
  if (names.size && from)
    leat_text_add(out, "  %s = %s%s\n", names.data, from, scope->captured.count == 1 ? "[0]" : "");
  else if (!from)
    leat_text_add(out, "[%s]", names.size ? names.data : "");
  leat_text_finish(&names);
}

typedef struct onnx_body {
  const char *name;     // of the function
  const char *captured; // "[w, b]": what it is handed
} onnx_body;

// "i: any, _c: bool[], ": the first inputs of a loop's body, of which nothing may use one.
static void add_turn(onnx_writer *w, const onnx_graph *body, leat_text *out) {
  static const char *const types[] = {"any", "bool[]"};
  for (size_t i = 0; i < 2; i++) {
    const char *name = body->input[i]->name;
    const onnx_value *value = leat_bytes_map_get(&w->scope->values, name, strlen(name));
    leat_text_add(out, "%s: %s, ",
                  value->used ? value->text
                  : i         ? "_condition"
                              : "_turn",
                  types[i]);
  }
}

// Those of `states` inputs from `first` on come in the list `carried`, all behind them in `xs`. It
// returns `cond`, where first is 2, what is carried, and a list of the rest.
static onnx_body write_body(onnx_writer *w, const onnx_graph *body, const char *kind, size_t first,
                            size_t states) {
  onnx_scope scope;
  onnx_block block = {.indent = 2, .is_body = true}, *outer = w->block;
  leat_text text = {0}, list = {0};
  bool loop = first == 2;
  const char *name = onnx_identifier(w, leat_model_function(w->arena, w->options, kind));
  w->block = &block;
  begin_scope(w, &scope, body);
  scope.is_function = true;
  for (size_t i = 0; i < first; i++)
    onnx_bind(
        w, body->input[i]->name,
        (onnx_value){.text = onnx_identifier(w, body->input[i]->name), .data_type = i ? 9 : 7});
  unpack(w, body, first, first + states, "carried");
  unpack(w, body, first + states, body->n_input, "xs");
  onnx_write_nodes(w, body->node, body->n_node);
  size_t conditions = loop ? 1 : 0;
  const char *condition = results(w, body, 0, conditions);
  const char *after = results(w, body, conditions, conditions + states);
  const char *rows = results(w, body, conditions + states, body->n_output);
  onnx_line(w, "return %s%s[%s], [%s]", condition, loop ? ", " : "", after, rows);
  leat_text_add(&text, "\nfn %s(", name);
  if (loop) add_turn(w, body, &text);
  leat_text_add(&text, "%s: list, %s%s: list) {\n", states ? "carried" : "_carried",
                loop ? "" : "xs: list, ", scope.captured.count ? "outer" : "_outer");
  add_captured(&scope, &text, "outer");
  onnx_add_block(&block, &text);
  leat_text_add(&w->bodies, "%s}\n", text.data);
  add_captured(&scope, &list, NULL);
  leat_text_finish(&text);
  w->block = outer;
  w->scope = scope.outer;
  return (onnx_body){name, take(w, &list)};
}

// "[a, b]": inputs of the node as a list.
static const char *input_list(onnx_writer *w, size_t first, size_t last) {
  leat_text text = {0};
  leat_text_add_string(&text, "[");
  for (size_t i = first; i < last; i++) {
    onnx_value value = onnx_input(w, i);
    leat_text_add(&text, "%s%s", i > first ? ", " : "",
                  value.text ? onnx_as_tensor(w, value) : "none");
  }
  leat_text_add_string(&text, "]");
  return take(w, &text);
}

// Two lists become what the node's outputs are called: `states` of the first one, then the rest.
static void write_results(onnx_writer *w, const char *call, size_t states) {
  const char *lists = onnx_identifier(w, "carried_and_rows");
  onnx_line(w, "%s = %s", lists, call);
  for (size_t i = 0; i < w->node->n_output; i++) {
    if (!*w->node->output[i]) continue;
    const char *id = onnx_identifier(w, w->node->output[i]);
    onnx_line(w, "%s = %s[%d][%zu]", id, lists, i >= states, i >= states ? i - states : i);
    onnx_bind(w, w->node->output[i], (onnx_value){.text = id});
  }
}

static bool say_unfit(onnx_writer *w) {
  onnx_problem(w, "its body does not take and give as many values as it does");
  onnx_targets(w, (int)w->node->n_output, 0);
  return false;
}

// -- Loop -----------------------------------------------------------------------------------------

static const onnx_node *maker_of(const onnx_graph *graph, const char *name) {
  for (size_t i = 0; i < graph->n_node; i++)
    for (size_t k = 0; k < graph->node[i]->n_output; k++)
      if (strcmp(graph->node[i]->output[k], name) == 0) return graph->node[i];
  return NULL;
}

// Whether the body hands on the condition that it is given: then the count alone decides.
static bool hands_on_condition(const onnx_graph *body) {
  const char *name = body->output[0]->name ? body->output[0]->name : "";
  for (unsigned i = 0; i < 16 && strcmp(name, body->input[1]->name) != 0; i++) {
    const onnx_node *node = maker_of(body, name);
    bool same = node && node->op_type && strcmp(node->op_type, "Identity") == 0;
    if (!same || !node->n_input) return false;
    name = node->input[0];
  }
  return strcmp(name, body->input[1]->name) == 0;
}

static bool has_names(const onnx_graph *graph) {
  for (size_t i = 0; i < graph->n_input; i++)
    if (!graph->input[i]->name) return false;
  return true;
}

// The shape that the model says a result has, "[2, 3]"; NULL: not as numbers.
static const char *shape_said(onnx_writer *w, const Onnx__ValueInfoProto *result) {
  bool tensor = result->type && result->type->value_case == ONNX__TYPE_PROTO__VALUE_TENSOR_TYPE &&
                result->type->tensor_type->shape;
  if (!tensor) return NULL;
  const Onnx__TensorShapeProto *shape = result->type->tensor_type->shape;
  int64_t dims[LEAT_MAX_RANK];
  if (shape->n_dim > LEAT_MAX_RANK) return NULL;
  for (size_t i = 0; i < shape->n_dim; i++) {
    if (shape->dim[i]->value_case != ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_VALUE)
      return NULL;
    dims[i] = shape->dim[i]->dim_value;
  }
  return onnx_ints(w, dims, shape->n_dim);
}

// ", shapes=[[2, 3], none]", of the rows that a loop's body gives.
static const char *row_shapes(onnx_writer *w, const onnx_graph *body, size_t first) {
  leat_text text = {0};
  bool any = false;
  for (size_t i = first; i < body->n_output; i++) {
    const char *shape = shape_said(w, body->output[i]);
    any = any || shape;
    leat_text_add(&text, "%s%s", i > first ? ", " : ", shapes=[", shape ? shape : "none");
  }
  leat_text_add_string(&text, "]");
  const char *all = take(w, &text);
  return any ? all : "";
}

void onnx_write_loop(onnx_writer *w) {
  const onnx_graph *body = body_of(w, "body");
  size_t given = w->node->n_input, states = given > 2 ? given - 2 : 0;
  if (!body || body->n_input != 2 + states || body->n_output < 1 + states || !has_names(body) ||
      w->node->n_output > body->n_output - 1) {
    say_unfit(w);
    return;
  }
  onnx_value count = onnx_input(w, 0), condition = onnx_input(w, 1);
  const char *init = input_list(w, 2, given);
  onnx_body written = write_body(w, body, "loop_body", 2, states);
  bool counted = count.text && hands_on_condition(body);
  const char *call = leat_arena_printf(w->arena, "onnx_loop(%s, %s, %s, %s, %s%s%s)", written.name,
                                       count.text ? onnx_as_numbers(w, count) : "none",
                                       condition.text ? onnx_as_numbers(w, condition) : "true",
                                       init, written.captured, counted ? ", counted=true" : "",
                                       row_shapes(w, body, 1 + states));
  write_results(w, call, states);
}

// -- Scan -----------------------------------------------------------------------------------------

static void add_numbers(onnx_writer *w, leat_text *call, const char *attribute, const char *name) {
  const onnx_attribute *a = onnx_attribute_of(w, attribute);
  if (a && a->n_ints) leat_text_add(call, ", %s=%s", name, onnx_ints(w, a->ints, a->n_ints));
}

void onnx_write_scan(onnx_writer *w) {
  const onnx_graph *body = body_of(w, "body");
  int64_t scanned = onnx_int(w, "num_scan_inputs", 0);
  size_t given = w->node->n_input;
  if (!body || scanned < 1 || (uint64_t)scanned > given || body->n_input != given ||
      body->n_output < given - (size_t)scanned || w->node->n_output > body->n_output ||
      !has_names(body)) {
    say_unfit(w);
    return;
  }
  size_t states = given - (size_t)scanned;
  const char *init = input_list(w, 0, states), *xs = input_list(w, states, given);
  onnx_body written = write_body(w, body, "scan_body", 0, states);
  leat_text call = {0};
  leat_text_add(&call, "onnx_scan(%s, %s, %s, %s", written.name, init, xs, written.captured);
  add_numbers(w, &call, "scan_input_axes", "axes");
  add_numbers(w, &call, "scan_input_directions", "directions");
  add_numbers(w, &call, "scan_output_axes", "out_axes");
  add_numbers(w, &call, "scan_output_directions", "out_directions");
  leat_text_add_string(&call, ")");
  write_results(w, take(w, &call), states);
}

// -- SequenceMap ----------------------------------------------------------------------------------

void onnx_write_sequence_map(onnx_writer *w) {
  const onnx_graph *body = body_of(w, "body");
  size_t given = w->node->n_input, count = w->node->n_output;
  if (!body || body->n_input != given || body->n_output != count || !has_names(body)) {
    say_unfit(w);
    return;
  }
  const char *xs = input_list(w, 0, given);
  onnx_body written = write_body(w, body, "map_body", 0, 0);
  onnx_line(w, "%s = onnx_sequence_map(%s, %s, %s, outputs=%zu)%s", onnx_targets(w, (int)count, 0),
            written.name, xs, written.captured, count, count == 1 ? "[0]" : "");
}

// -- Modifiers of attention -----------------------------------------------------------------------

// The value, or what the graph of that attribute makes of it, where it stands.
static const char *modified(onnx_writer *w, const char *attribute, const char *text,
                            int32_t data_type) {
  const onnx_attribute *a = onnx_attribute_of(w, attribute);
  if (!a) return text;
  if (!a->g || a->g->n_input != 1 || a->g->n_output != 1 || !a->g->input[0]->name) {
    onnx_problem(w, "its `%s` is no graph with one input and one result", attribute);
    return text;
  }
  onnx_scope scope;
  begin_scope(w, &scope, a->g);
  onnx_bind(w, a->g->input[0]->name, (onnx_value){.text = text, .data_type = data_type});
  onnx_write_nodes(w, a->g->node, a->g->n_node);
  const char *made = results(w, a->g, 0, 1);
  w->scope = scope.outer;
  return made;
}

void onnx_write_flex_attention(onnx_writer *w) {
  enum { FLOAT = 1, DOUBLE = 11 };
  onnx_value q = onnx_input(w, 0), k = onnx_input(w, 1), v = onnx_input(w, 2);
  const onnx_attribute *scale = onnx_attribute_of(w, "scale");
  int32_t to = (int32_t)onnx_int(w, "softmax_precision", q.data_type == DOUBLE ? DOUBLE : FLOAT);
  const onnx_dtype *dtype = onnx_dtype_of(to);
  if (!q.text || !k.text || !v.text || !dtype) {
    onnx_problem(w, "it has three inputs, and a precision that is a data type");
    onnx_targets(w, 1, q.data_type);
    return;
  }
  const char *scores = onnx_identifier(w, "scores"), *shares = onnx_identifier(w, "shares");
  onnx_line(w, "%s = onnx_flex_scores(%s, %s, to=%s%s%s)", scores, onnx_as_tensor(w, q),
            onnx_as_tensor(w, k), leat_dtype_name(dtype->carrier), scale ? ", scale=" : "",
            scale ? onnx_attribute_text(w, scale, 0) : "");
  const char *last = modified(w, "score_mod", scores, to);
  onnx_line(w, "%s = softmax(%s)", shares, last);
  last = modified(w, "prob_mod", shares, to);
  onnx_line(w, "%s = onnx_flex_results(%s, %s)", onnx_targets(w, 1, q.data_type), last,
            onnx_as_tensor(w, v));
}
