// Graph → canonical text. The order of the lines: dims; each state after the nodes that its initial
// value needs; the other nodes without an entry; the entries. Within each, nodes keep their
// topological order, so a text that is read back prints the same.
#include "ir/print.h"

#include "base/literal.h"
#include "base/name.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static void add_quoted(leat_text *out, const char *words) {
  leat_text_add_quoted(out, words, strlen(words));
}

// -- Literals ------------------------------------------------------------------------------------

static void print_literal(const leat_tensor *tensor, leat_text *out) {
  if (leat_shape_elements(tensor->rank, tensor->shape) == 0)
    leat_text_add_string(out, "[]"); // the type says which empty shape
  else
    leat_tensor_print(tensor, out);
}

// A default of which all elements are one is that element, as its type says the extents.
static void print_default(const leat_tensor *tensor, leat_text *out) {
  size_t size = leat_dtype_size(tensor->dtype);
  size_t count = (size_t)leat_shape_elements(tensor->rank, tensor->shape);
  const char *data = tensor->data;
  if (count && memcmp(data, data + size, (count - 1) * size) == 0)
    leat_element_print(tensor->dtype, data, out);
  else
    print_literal(tensor, out);
}

// -- Nodes ---------------------------------------------------------------------------------------

static void print_value(leat_value value, leat_text *out) {
  leat_path_print(value.node->name, out);
  if (!value.port) return;
  leat_text_add_n(out, ":", 1);
  leat_text_add_u64(out, value.port);
}

static void add_indent(int depth, leat_text *out) {
  for (int i = 0; i < depth; i++) leat_text_add_string(out, "  ");
}

static void print_node(const leat_node *node, int depth, leat_text *out);

// fn($p: i32[], …) {, the nodes, and what it yields; the lines stand `depth` blocks deep.
static void print_body(const leat_graph *body, int depth, leat_text *out) {
  leat_text_add_string(out, "fn(");
  for (uint32_t i = 0; i < body->params.count; i++) {
    if (i) leat_text_add_string(out, ", ");
    leat_path_print(body->params.items[i]->name, out);
    leat_text_add_string(out, ": ");
    leat_type_print(&body->params.items[i]->outputs[0], out);
  }
  leat_text_add_string(out, ") {\n");
  for (uint32_t i = 0; i < body->nodes.count; i++) {
    const leat_node *node = body->nodes.items[i];
    if (node->op == LEAT_OP_parameter || node == body->yield) continue;
    add_indent(depth + 1, out);
    print_node(node, depth + 1, out);
    leat_text_add_string(out, "\n");
  }
  add_indent(depth + 1, out);
  leat_text_add_string(out, "yield");
  for (uint32_t i = 0; i < body->yield->input_count; i++) {
    leat_text_add_string(out, i ? ", " : " ");
    print_value(body->yield->inputs[i], out);
  }
  leat_text_add_string(out, "\n");
  add_indent(depth, out);
  leat_text_add_string(out, "}");
}

static void print_attr(leat_attr_kind kind, const leat_attr *attr, int depth, leat_text *out) {
  switch (kind) {
  case LEAT_ATTR_INT: leat_text_add_i64(out, attr->i); break;
  case LEAT_ATTR_BOOL: leat_text_add_string(out, attr->i ? "true" : "false"); break;
  case LEAT_ATTR_STRING: add_quoted(out, attr->string); break;
  case LEAT_ATTR_DTYPE: leat_text_add_string(out, leat_dtype_name((leat_dtype)attr->i)); break;
  case LEAT_ATTR_DIM: leat_dim_print(attr->dim, out); break;
  case LEAT_ATTR_TYPE: leat_type_print(attr->type, out); break;
  case LEAT_ATTR_TENSOR: print_literal(attr->tensor, out); break;
  case LEAT_ATTR_STATE: leat_path_print(attr->state->name, out); break;
  case LEAT_ATTR_GRAPH: print_body(attr->body, depth, out); break;
  case LEAT_ATTR_INTS:
  case LEAT_ATTR_DIMS:
    leat_text_add_string(out, "[");
    for (uint32_t i = 0; i < attr->count; i++) {
      if (i) leat_text_add_string(out, ", ");
      if (kind == LEAT_ATTR_INTS)
        leat_text_add_i64(out, attr->ints[i]);
      else
        leat_dim_print(attr->dims[i], out);
    }
    leat_text_add_string(out, "]");
    break;
  }
}

static void print_call(const leat_node *node, int depth, leat_text *out) {
  const leat_op_info *info = node->info;
  if (node->op == LEAT_OP_const) {
    print_literal(node->attrs[0].tensor, out);
    return;
  }
  leat_text_add_string(out, info->name);
  leat_text_add_string(out, "(");
  const char *separator = "";
  for (uint32_t i = 0; i < node->input_count; i++, separator = ", ") {
    leat_text_add_string(out, separator);
    print_value(node->inputs[i], out);
  }
  for (int i = 0; i < info->attr_count; i++) {
    if (info->attrs[i].absent == LEAT_ABSENT_NONE && !node->attrs[i].count) continue;
    leat_text_add_string(out, separator);
    separator = ", ";
    leat_text_add_string(out, info->attrs[i].name);
    leat_text_add_string(out, "=");
    print_attr(info->attrs[i].kind, &node->attrs[i], depth, out);
  }
  if (node->place && leat_node_may_fail(node)) {
    leat_text_add_string(out, separator);
    leat_text_add_string(out, "at=");
    add_quoted(out, node->place);
  }
  leat_text_add_string(out, ")");
}

static bool has_suffixes(const leat_node *node) {
  return node->device || node->colocate || node->control_count;
}

static void print_suffixes(const leat_node *node, leat_text *out) {
  if (node->device) {
    leat_text_add_string(out, " on ");
    add_quoted(out, node->device);
  }
  if (node->colocate) {
    leat_text_add_string(out, " colocate ");
    add_quoted(out, node->colocate);
  }
  for (uint32_t i = 0; i < node->control_count; i++) {
    leat_text_add_string(out, i ? ", " : " after [");
    leat_path_print(node->controls[i]->name, out);
  }
  if (node->control_count) leat_text_add_string(out, "]");
}

static void print_node(const leat_node *node, int depth, leat_text *out) {
  if (!node->output_count) leat_path_print(node->name, out);
  for (uint32_t i = 0; i < node->output_count; i++) {
    if (i) leat_text_add_string(out, ", ");
    print_value((leat_value){(leat_node *)node, i}, out);
    leat_text_add_string(out, ": ");
    leat_type_print(&node->outputs[i], out);
  }
  leat_text_add_string(out, " = ");
  print_call(node, depth, out);
  print_suffixes(node, out);
}

void leat_node_print(const leat_node *node, leat_text *out) {
  print_node(node, 0, out);
}

// -- The graph -----------------------------------------------------------------------------------

typedef struct printer {
  const leat_graph *graph;
  leat_text *out;
  leat_arena *scratch;
  bool *atom_used; // by atom id
  bool *done;      // by node id: in the text already, or about to be
  bool *stated;    // by state id: in the text
} printer;

static void use_dim(printer *p, leat_dim dim) {
  for (uint32_t i = 0; dim.poly && i < dim.poly->count; i++) {
    for (uint32_t j = 0; j < dim.poly->terms[i].count; j++) {
      const leat_atom *atom = dim.poly->terms[i].atoms[j];
      if (p->atom_used[atom->id]) continue;
      p->atom_used[atom->id] = true;
      if (atom->name) continue;
      use_dim(p, atom->a);
      use_dim(p, atom->b);
    }
  }
}

static void use_type(printer *p, const leat_type *type) {
  for (int32_t i = 0; i < type->rank; i++) use_dim(p, type->dims[i]);
}

static void use_node(printer *p, const leat_node *node) {
  const leat_op_info *info = node->info;
  for (uint32_t i = 0; i < node->output_count; i++) use_type(p, &node->outputs[i]);
  for (int i = 0; i < info->attr_count; i++) {
    const leat_attr *attr = &node->attrs[i];
    if (info->attrs[i].kind == LEAT_ATTR_DIM) use_dim(p, attr->dim);
    if (info->attrs[i].kind == LEAT_ATTR_TYPE) use_type(p, attr->type);
    if (info->attrs[i].kind == LEAT_ATTR_DIMS)
      for (uint32_t j = 0; j < attr->count; j++) use_dim(p, attr->dims[j]);
    const leat_graph *body = leat_node_body(node, i);
    for (uint32_t j = 0; body && j < body->nodes.count; j++) use_node(p, body->nodes.items[j]);
  }
}

static void print_dims(printer *p) {
  const leat_graph *graph = p->graph;
  uint32_t count = leat_dims_atom_count(graph->dims);
  p->atom_used = leat_new_array(p->scratch, bool, count);
  for (uint32_t i = 0; i < graph->nodes.count; i++) use_node(p, graph->nodes.items[i]);
  for (uint32_t i = 0; i < graph->states.count; i++) use_type(p, &graph->states.items[i]->type);
  for (uint32_t i = 0; i < count; i++) {
    const leat_atom *atom = leat_dims_atom(graph->dims, i);
    if (!p->atom_used[i] || atom->kind != LEAT_ATOM_NAMED) continue;
    leat_text_add_string(p->out, "dim ");
    leat_name_print(atom->name, p->out);
    if (atom->low != 0 || atom->high != INT64_MAX)
      leat_text_add(p->out, " in %lld..%lld", (long long)atom->low, (long long)atom->high);
    leat_text_add_string(p->out, "\n");
  }
}

static void print_line(printer *p, const leat_node *node, int depth) {
  p->done[node->id] = true;
  add_indent(depth, p->out);
  print_node(node, depth, p->out);
  leat_text_add_string(p->out, "\n");
}

typedef leat_vec(const leat_node *) worklist;

static void want(printer *p, worklist *wanted, const leat_node *node) {
  if (node->entry || p->done[node->id]) return;
  p->done[node->id] = true;
  leat_vec_push(p->scratch, wanted, node);
}

static int compare_ids(const void *a, const void *b) {
  uint32_t x = (*(const leat_node *const *)a)->id, y = (*(const leat_node *const *)b)->id;
  return x < y ? -1 : x > y;
}

// The nodes without an entry that `node` needs, itself included, and that are not in the text yet.
static void print_needed(printer *p, const leat_node *node) {
  worklist wanted = {0};
  want(p, &wanted, node);
  for (uint32_t i = 0; i < wanted.count; i++) {
    const leat_node *user = wanted.items[i];
    for (uint32_t e = 0; e < user->input_count; e++) want(p, &wanted, user->inputs[e].node);
    for (uint32_t e = 0; e < user->control_count; e++) want(p, &wanted, user->controls[e]);
  }
  if (wanted.count) qsort(wanted.items, wanted.count, sizeof *wanted.items, compare_ids);
  for (uint32_t i = 0; i < wanted.count; i++) print_line(p, wanted.items[i], 0);
}

// A slot stands after its variable, which need not be in the graph.
static void print_state(printer *p, const leat_state *state) {
  const leat_state *owner = state->slot_of ? leat_graph_find_state(p->graph, state->slot_of) : NULL;
  if (p->stated[state->id]) return;
  p->stated[state->id] = true;
  if (owner) print_state(p, owner);
  if (state->init.node) print_needed(p, state->init.node);
  leat_text_add_string(p->out, "var ");
  leat_path_print(state->name, p->out);
  leat_text_add_string(p->out, ": ");
  leat_type_print(&state->type, p->out);
  if (state->init.node) {
    leat_text_add_string(p->out, " = ");
    print_value(state->init, p->out);
  }
  if (!state->trainable) leat_text_add_string(p->out, " trainable=false");
  if (owner) {
    leat_text_add_string(p->out, " slot_of=");
    leat_path_print(state->slot_of, p->out);
  }
  if (state->container[0]) {
    leat_text_add_string(p->out, " container=");
    add_quoted(p->out, state->container);
  }
  if (state->place && !state->init.node) {
    leat_text_add_string(p->out, " at=");
    add_quoted(p->out, state->place);
  }
  if (state->device) {
    leat_text_add_string(p->out, " on ");
    add_quoted(p->out, state->device);
  }
  leat_text_add_string(p->out, "\n");
}

// The head says all of it.
static bool is_plain(const leat_param *param, uint32_t index) {
  const leat_node *feed = param->node;
  return !has_suffixes(feed) && strcmp(leat_node_attr(feed, "name")->string, param->name) == 0 &&
         leat_node_attr(feed, "index")->i == index && !leat_node_attr(feed, "donated")->i;
}

static void print_entry_head(printer *p, const leat_entry *entry) {
  leat_text_add_string(p->out, "entry ");
  leat_name_print(entry->name, p->out);
  leat_text_add_string(p->out, "(");
  for (uint32_t i = 0; i < entry->params.count; i++) {
    const leat_param *param = &entry->params.items[i];
    leat_text_add_string(p->out, i ? ", " : "");
    leat_name_print(param->name, p->out);
    leat_text_add_string(p->out, ": ");
    leat_type_print(&param->node->outputs[0], p->out);
    if (param->fallback) {
      leat_text_add_string(p->out, " = ");
      print_default(param->fallback, p->out);
    }
    p->done[param->node->id] = is_plain(param, i);
  }
  leat_text_add(p->out, ")%s", entry->training ? " training" : "");
  for (uint32_t i = 0; i < entry->results.count; i++) {
    const leat_result *result = &entry->results.items[i];
    leat_text_add_string(p->out, i ? ", " : " -> (");
    leat_name_print(result->name, p->out);
    leat_text_add_string(p->out, ": ");
    leat_type_print(leat_value_type(result->value), p->out);
    leat_text_add_string(p->out, " = ");
    print_value(result->value, p->out);
  }
  leat_text_add_string(p->out, entry->results.count ? ") {\n" : " {\n");
}

// The nodes of the entry, or with NULL those without one, that are not in the text yet.
static void print_rest(printer *p, const leat_entry *entry, int depth) {
  for (uint32_t i = 0; i < p->graph->nodes.count; i++) {
    const leat_node *node = p->graph->nodes.items[i];
    if (node->entry == entry && !p->done[i]) print_line(p, node, depth);
  }
}

void leat_graph_print(const leat_graph *graph, leat_text *out) {
  printer p = {.graph = graph, .out = out, .scratch = leat_arena_create()};
  p.done = leat_new_array(p.scratch, bool, graph->nodes.count);
  p.stated = leat_new_array(p.scratch, bool, graph->states.count);
  leat_text_add_string(out, "graph ");
  leat_name_print(graph->name, out);
  if (graph->device) {
    leat_text_add_string(out, " device=");
    add_quoted(out, graph->device);
  }
  leat_text_add_string(out, "\n");
  print_dims(&p);
  for (uint32_t i = 0; i < graph->states.count; i++) print_state(&p, graph->states.items[i]);
  print_rest(&p, NULL, 0);
  for (uint32_t i = 0; i < graph->entries.count; i++) {
    print_entry_head(&p, graph->entries.items[i]);
    print_rest(&p, graph->entries.items[i], 1);
    leat_text_add_string(out, "}\n");
  }
  leat_arena_destroy(p.scratch);
}
