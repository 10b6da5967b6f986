// What of a graph is run. A meta graph's signatures are entries. Of a graph without any, `main`
// gives its leaves, the outputs that no node takes; and each leaf that changes something, as the
// operation that trains, is an entry by itself, which gives those leaves too that need no more fed.
#include "frontend/importer/graphdef/writer.h"

#include <stdlib.h>
#include <string.h>

typedef struct port {
  const char *name; // as the text has it, without quotes
  tf_edge edge;
} port;

typedef struct entry {
  const char *name;
  leat_vec(port) params, results;
  leat_vec(uint32_t) targets; // what is run besides
} entry;

static bool is_placeholder(const tf_node *node) {
  return node->def &&
         (strcmp(node->def->op, "Placeholder") == 0 || strcmp(node->def->op, "PlaceholderV2") == 0);
}

static bool find_port(tf_writer *w, const char *name, tf_edge *out) {
  const char *node = name;
  *out = (tf_edge){.port = tf_split_input(w->arena, name, &node)};
  const tf_node *found = leat_bytes_map_get(&w->graph->by_name, node, strlen(node));
  if (found) out->node = (uint32_t)(found - w->graph->nodes);
  return found && out->port != TF_NO_PORT;
}

// -- An entry as text -----------------------------------------------------------------------------

// The type of a placeholder; one without a shape is a scalar.
static const char *placeholder_type(tf_writer *w, const tf_node *node) {
  leat_tensor type = {0};
  const tf_attr *a = tf_attribute(node, "shape");
  const Tensorflow__TensorShapeProto *shape =
      a && a->value_case == TENSORFLOW__ATTR_VALUE__VALUE_SHAPE ? a->shape : NULL;
  w->node = node;
  if (!tf_dtype(tf_type(node, "dtype"), &type.dtype))
    tf_refuse(w, "is of a data type that Leat lacks");
  if (shape && shape->n_dim > LEAT_MAX_RANK)
    tf_refuse(w, "has %zu axes; at most %d are supported", shape->n_dim, LEAT_MAX_RANK);
  for (size_t i = 0; shape && i < shape->n_dim && i < LEAT_MAX_RANK; i++)
    type.shape[type.rank++] = shape->dim[i]->size;
  w->node = NULL;
  return tf_type_text(w, &type);
}

static void reserve(tf_writer *w, const char *name) {
  leat_bytes_map_set(&w->taken, name, strlen(name), (void *)1);
}

static void write_params(tf_writer *w, const entry *e, leat_text *out) {
  for (uint32_t i = 0; i < e->params.count; i++) {
    const port *p = &e->params.items[i];
    const char *name = tf_written(w, p->name);
    const tf_node *node = &w->graph->nodes[p->edge.node];
    leat_text_add(out, "%s%s: %s", i ? ", " : "", name, placeholder_type(w, node));
    tf_value value = {.text = name, .data_type = tf_type(node, "dtype")};
    w->scope->values[p->edge.node] =
        (tf_values){leat_arena_memdup(w->arena, &value, sizeof value), 1};
  }
}

static void mark_entry(const tf_writer *w, const entry *e, bool *needed) {
  for (uint32_t i = 0; i < e->results.count; i++)
    tf_mark(w->graph, e->results.items[i].edge.node, needed);
  for (uint32_t i = 0; i < e->targets.count; i++) tf_mark(w->graph, e->targets.items[i], needed);
}

// Whether the node has its own name, though another stands for it: a variable that it reads.
static bool is_bound(tf_writer *w, const port *p) {
  const char *own = w->graph->nodes[p->edge.node].def->name;
  const char *name = leat_model_plain_name(w->arena, p->name);
  return !p->edge.port && strcmp(own, p->name) == 0 && *tf_edge_value(w, &p->edge).text == '$' &&
         leat_bytes_map_get(&w->taken, name, strlen(name));
}

static void write_results(tf_writer *w, const entry *e, leat_text *out) {
  for (uint32_t i = 0; i < e->results.count; i++) {
    const port *p = &e->results.items[i];
    const char *name = tf_written(w, p->name);
    const char *text = tf_as_tensor(w, tf_edge_value(w, &p->edge));
    leat_text_add(out, "%s%s", i ? ", " : " -> (", name);
    bool param = false;
    for (uint32_t k = 0; k < e->params.count; k++)
      param = param || strcmp(e->params.items[k].name, p->name) == 0;
    if (strcmp(name, text) != 0 && !param && !is_bound(w, p))
      tf_line(w, "%s = identity(%s)", name, text);
  }
  if (e->results.count) leat_text_add_string(out, ")");
}

// A node that is a result under its own name keeps it; others leave it alone.
static void reserve_names(tf_writer *w, const entry *e) {
  leat_bytes_map_init(&w->results, w->arena);
  for (uint32_t i = 0; i < e->params.count; i++) reserve(w, e->params.items[i].name);
  for (uint32_t i = 0; i < e->results.count; i++) {
    const port *p = &e->results.items[i];
    const char *own = w->graph->nodes[p->edge.node].def->name;
    const char *name = p->edge.port ? leat_arena_printf(w->arena, "%s:%u", own, p->edge.port) : own;
    leat_bytes_map_set(&w->results, name, strlen(name), w);
    if (strcmp(p->name, name) != 0) reserve(w, p->name);
  }
}

// Which variables are declared before an entry is written: what it declares goes with it when it
// cannot be.
static bool *declared(const tf_writer *w) {
  bool *flags = leat_new_array(w->arena, bool, w->all.count + 1);
  for (uint32_t i = 0; i < w->all.count; i++) flags[i] = w->all.items[i]->declared;
  return flags;
}

static void put_back(tf_writer *w, const bool *flags, size_t head) {
  for (uint32_t i = 0; i < w->all.count; i++) {
    tf_variable *v = w->all.items[i];
    v->declared = flags[i];
    v->refused = v->refused && flags[i];
    if (flags[i]) continue;
    v->type = (leat_tensor){0};
    v->begins = NULL;
  }
  w->head.size = head;
}

static const char *function_name(tf_writer *w, const entry *e) {
  return tf_written(w, leat_model_function(w->arena, w->options, e->name));
}

// What cannot be said is an error of the entry, which others do without.
static void write_refused(tf_writer *w, const char *name, leat_text *out) {
  leat_text_add(out, w->options->is_used ? "\nfn %s(...) {\n" : "\nentry %s() {\n", name);
  for (uint32_t i = 0; i < w->refused.count; i++)
    leat_text_add(out, "  static_assert(false, %s)\n",
                  tf_quote(w, w->refused.items[i], strlen(w->refused.items[i])));
  leat_text_add_string(out, "}\n");
}

// -- Steps ----------------------------------------------------------------------------------------

static bool is_step(const tf_writer *w, const tf_node *node) {
  const tf_variable *v = node->def ? tf_same_variable(w, node) : NULL;
  return v && strcmp(v->name, "global_step") == 0;
}

// Through what passes a handle on.
static const tf_node *handle_of(const tf_writer *w, const tf_node *node, uint32_t i) {
  const tf_node *from = &w->graph->nodes[node->inputs[i].node];
  for (uint32_t steps = 0; steps < w->graph->count && from->input_count; steps++) {
    if (!tf_is(from, "Identity") && !tf_is(from, "Switch") && !tf_is(from, "Enter")) break;
    from = &w->graph->nodes[from->inputs[0].node];
  }
  return from;
}

static bool is_one(const tf_writer *w, const tf_edge *edge) {
  leat_tensor value;
  const tf_attr *a = tf_attribute(&w->graph->nodes[edge->node], "value");
  bool there = a && a->value_case == TENSORFLOW__ATTR_VALUE__VALUE_TENSOR &&
               !tf_tensor_read(w->arena, a->tensor, "", &value, NULL);
  return there && value.dtype == LEAT_i64 && value.rank == 0 && *(const int64_t *)value.data == 1;
}

static bool counts_one(const tf_writer *w, const tf_node *node, uint32_t i) {
  bool adds = tf_is(node, "AssignAdd") || tf_is(node, "AssignAddVariableOp");
  return adds && i == 0 && node->input_count == 2 && !node->conditional && !node->frame &&
         is_one(w, &node->inputs[1]);
}

// An entry that changes variables is one that trains, whose steps Leat counts: unless the graph has
// a global_step, and the entry does anything else to it than to add 1, once. *out_counts: what
// does.
static bool counts_steps(const tf_writer *w, const entry *e, const tf_node **out_counts) {
  bool *needed = leat_new_array(w->arena, bool, w->graph->count + 1), has = false, other = false;
  *out_counts = NULL;
  mark_entry(w, e, needed);
  for (uint32_t i = 0; i < w->graph->count; i++) {
    const tf_node *node = &w->graph->nodes[i];
    has = has || is_step(w, node);
    for (uint32_t k = 0; needed[i] && node->changes && k < node->input_count; k++) {
      if (!is_step(w, handle_of(w, node, k))) continue;
      other = other || *out_counts || !counts_one(w, node, k);
      *out_counts = node;
    }
  }
  if (other) *out_counts = NULL;
  return *out_counts || !has;
}

// Whether the entry changes variables.
static bool changes(const tf_writer *w, const entry *e) {
  bool *needed = leat_new_array(w->arena, bool, w->graph->count + 1), found = false;
  mark_entry(w, e, needed);
  for (uint32_t i = 0; i < w->graph->count; i++)
    found = found || (needed[i] && w->graph->nodes[i].changes);
  return found;
}

// -- The whole ------------------------------------------------------------------------------------

// False: not all of it can be said; nothing is written then, and w->refused says why.
static bool make_entry(tf_writer *w, const entry *e, leat_text *out) {
  bool *needed = leat_new_array(w->arena, bool, w->graph->count + 1);
  tf_scope scope = {.block = w->graph, .prefix = ""};
  leat_text params = {0}, results = {0};
  scope.values = leat_new_array(w->arena, tf_values, w->graph->count + 1);
  const bool *flags = declared(w);
  size_t head_size = w->head.size;
  tf_aside aside = tf_step_aside(w);
  w->scope = &scope;
  w->refused.count = 0;
  w->step = NULL;
  w->counts = NULL;
  bool training = changes(w, e) && counts_steps(w, e, &w->counts);
  reserve_names(w, e);
  write_params(w, e, &params);
  mark_entry(w, e, needed);
  tf_write_nodes(w, needed);
  write_results(w, e, &results);
  w->scope = NULL;
  leat_text lines = tf_step_back(w, aside);
  const char *body = leat_model_take_text(w->arena, &lines),
             *head = leat_model_take_text(w->arena, &params),
             *tail = leat_model_take_text(w->arena, &results);
  if (w->refused.count) {
    put_back(w, flags, head_size);
    return false;
  }
  bool used = w->options->is_used;
  leat_text_add(out, "\n%s %s(%s)%s%s {\n%s}\n", used ? "fn" : "entry", function_name(w, e), head,
                training && !used ? " training" : "", tail, body);
  return true;
}

static void write_entry(tf_writer *w, const entry *e, leat_text *out) {
  if (!make_entry(w, e, out)) write_refused(w, function_name(w, e), out);
}

// Whether all of it can be said.
static bool can_make(tf_writer *w, const entry *e) {
  leat_text text = {0};
  const bool *flags = declared(w);
  size_t head_size = w->head.size;
  bool made = make_entry(w, e, &text);
  if (made) put_back(w, flags, head_size);
  leat_text_finish(&text);
  return made;
}

// -- Signatures -----------------------------------------------------------------------------------

static int by_key(const void *a, const void *b) {
  return strcmp((*(Tensorflow__TensorInfoEntry *const *)a)->key,
                (*(Tensorflow__TensorInfoEntry *const *)b)->key);
}

// The tensors that a signature names, by their keys.
static bool add_ports(tf_writer *w, Tensorflow__TensorInfoEntry **infos, size_t count, entry *e,
                      bool inputs) {
  if (count) qsort(infos, count, sizeof *infos, by_key);
  for (size_t i = 0; i < count; i++) {
    port p = {.name = infos[i]->key};
    const char *name = infos[i]->value ? infos[i]->value->name : "";
    if (!find_port(w, name, &p.edge)) {
      leat_vec_push(w->arena, &w->model->problems,
                    leat_arena_printf(w->arena, "signature `%s`: `%s` is `%s`, which is no node",
                                      e->name, infos[i]->key, name));
      return false;
    }
    if (!inputs)
      leat_vec_push(w->arena, &e->results, p);
    else if (is_placeholder(&w->graph->nodes[p.edge.node]))
      leat_vec_push(w->arena, &e->params, p);
  }
  return true;
}

static void write_signatures(tf_writer *w, leat_text *out) {
  const Tensorflow__MetaGraphDef *meta = w->saved->meta;
  for (size_t i = 0; meta && i < meta->n_signature_def; i++) {
    const Tensorflow__SignatureDef *s = meta->signature_def[i]->value;
    entry e = {.name = meta->signature_def[i]->key};
    if (!s || !strncmp(e.name, "__", 2)) continue; // what TensorFlow itself runs
    if (!add_ports(w, s->inputs, s->n_inputs, &e, true) ||
        !add_ports(w, s->outputs, s->n_outputs, &e, false))
      continue;
    write_entry(w, &e, out);
  }
}

// -- Leaves and targets ---------------------------------------------------------------------------

enum { MOST_LEAVES = 2000 };

typedef struct leaf {
  uint32_t node;
  bool *needed;
  bool effect, initial, saves;
  bool supported;
  bool fine;     // it has no effect, and can be said
  bool gradient; // only gradients made it
} leaf;

static bool is_supported(tf_writer *w, const leaf *l) {
  for (uint32_t i = 0; i < w->graph->count; i++) {
    const char *name = w->graph->nodes[i].def->op;
    const tf_op *op = tf_op_find(name);
    bool fine = op ? op->write[0] != '?' : tf_find_function(w, name) != NULL;
    if (l->needed[i] && !fine) return false;
  }
  return true;
}

static leaf look_at(tf_writer *w, uint32_t node) {
  const tf_block *block = w->graph;
  leaf found = {
      .node = node, .needed = leat_new_array(w->arena, bool, block->count + 1), .initial = true};
  bool assigns = false;
  tf_mark(block, node, found.needed);
  for (uint32_t i = 0; i < block->count; i++) {
    if (!found.needed[i]) continue;
    const char *op = block->nodes[i].def->op;
    bool saves = !strncmp(op, "Save", 4) || !strncmp(op, "Restore", 7);
    bool initial = tf_initialises(w, &block->nodes[i]) || tf_only_fills(&block->nodes[i]);
    found.saves = found.saves || saves;
    const tf_op *row = tf_op_find(op);
    bool shows = i == node && row && row->effect;
    found.effect = found.effect || shows || block->nodes[i].changes;
    found.initial = found.initial && (initial || !block->nodes[i].effect);
    assigns = assigns || initial;
  }
  found.initial = found.initial && assigns;
  return found;
}

// A variable as it is, which is fetched by its own name.
static bool is_read(const tf_writer *w, const tf_node *node) {
  bool reads = !strcmp(node->def->op, "Identity") || !strcmp(node->def->op, "ReadVariableOp");
  const tf_node *from = node->input_count ? &w->graph->nodes[node->inputs[0].node] : NULL;
  return reads && from && !node->control_count && strncmp(from->def->op, "Var", 3) == 0;
}

// What nobody runs: constants, variables by themselves, what only gradients made, what there need
// not be.
static bool is_of_no_use(const tf_writer *w, const tf_node *node, const leaf *l) {
  static const char *const ops[] = {
      "Const",           "Placeholder",        "Variable",
      "VariableV2",      "VarHandleOp",        "TensorListReserve",
      "EmptyTensorList", "VarIsInitializedOp", "IsVariableInitialized"};
  bool list = tf_type(node, "T") == TENSORFLOW__DATA_TYPE__DT_VARIANT;
  bool useless = l->saves || l->initial || list || is_read(w, node);
  for (size_t i = 0; i < sizeof ops / sizeof *ops; i++)
    useless = useless || strcmp(node->def->op, ops[i]) == 0;
  bool nothing = !strcmp(node->def->op, "NoOp") && l->supported;
  return useless || (!l->effect && (nothing || node->conditional || node->frame));
}

static void add_pair(leat_text *out, const char *name, const char *words) {
  leat_text_add_n(out, name, strlen(name) + 1);
  leat_text_add_n(out, words, strlen(words) + 1);
}

// What a program runs beside its steps, which a step has no part in.
static void note_left_out(tf_writer *w, const leaf *l) {
  const char *words = "variables and tables begin so by themselves: it needs not be run";
  leat_text *out = w->options->left_out;
  bool restores = false;
  if (!out || !(l->saves || l->initial)) return;
  for (uint32_t i = 0; i < w->graph->count; i++)
    restores |= l->needed[i] && strncmp(w->graph->nodes[i].def->op, "Restore", 7) == 0;
  if (l->saves) words = "it writes variables to a file, as `--save FILE` does";
  if (restores) words = "it reads variables from a file, as `--restore FILE` does";
  add_pair(out, w->graph->nodes[l->node].def->name, words);
}

static void add_params(tf_writer *w, const bool *needed, entry *e) {
  for (uint32_t i = 0; i < w->graph->count; i++) {
    const tf_node *node = &w->graph->nodes[i];
    if (!needed[i] || !is_placeholder(node)) continue;
    leat_vec_push(w->arena, &e->params, ((port){node->def->name, {i, 0, NULL}}));
  }
}

static bool needs_no_more(const tf_writer *w, const leaf *l, const bool *needed) {
  for (uint32_t i = 0; i < w->graph->count; i++)
    if (l->needed[i] && !needed[i] && is_placeholder(&w->graph->nodes[i])) return false;
  return true;
}

static void add_results(tf_writer *w, const leaf *l, entry *e) {
  const tf_node *node = &w->graph->nodes[l->node];
  const tf_op *op = tf_op_find(node->def->op);
  const tf_function *function = op ? NULL : tf_find_function(w, node->def->op);
  uint32_t count = op ? tf_output_count(node, op) : 1;
  if (op && op->effect) return;
  if (function) count = (uint32_t)function->signature->n_output_arg;
  if (tf_is(node, "Merge")) count = 1;
  for (uint32_t i = 0; i < count; i++) {
    const char *name = node->def->name;
    if (i) name = leat_arena_printf(w->arena, "%s:%u", name, i);
    leat_vec_push(w->arena, &e->results, ((port){name, {l->node, i, NULL}}));
  }
}

static void write_target(tf_writer *w, const leaf *target, const leaf *leaves, uint32_t count,
                         leat_text *out) {
  entry e = {.name = w->graph->nodes[target->node].def->name};
  add_params(w, target->needed, &e);
  leat_vec_push(w->arena, &e.targets, target->node);
  add_results(w, target, &e);
  for (uint32_t i = 0; i < count; i++)
    if (leaves[i].fine && needs_no_more(w, &leaves[i], target->needed))
      add_results(w, &leaves[i], &e);
  write_entry(w, &e, out);
}

static entry entry_of(tf_writer *w, const char *name, const leaf *leaves, uint32_t count) {
  entry e = {.name = name};
  bool *needed = leat_new_array(w->arena, bool, w->graph->count + 1);
  for (uint32_t i = 0; i < count; i++) {
    if (!leaves[i].fine) continue;
    add_results(w, &leaves[i], &e);
    tf_mark(w->graph, leaves[i].node, needed);
  }
  add_params(w, needed, &e);
  return e;
}

// A leaf that cannot be said is left out, and is an entry by itself, which says why.
static void write_all(tf_writer *w, const char *name, leaf *leaves, uint32_t count,
                      leat_text *out) {
  entry all = entry_of(w, name, leaves, count);
  bool some = false;
  if (!all.results.count || make_entry(w, &all, out)) return;
  bool *fine = leat_new_array(w->arena, bool, (size_t)count + 1);
  for (uint32_t i = 0; i < count; i++) {
    entry one = entry_of(w, name, &leaves[i], 1);
    fine[i] = leaves[i].fine && can_make(w, &one);
    some = some || fine[i];
  }
  if (!some && w->heeded.count) { // the compiler says more of all of it
    leat_bytes_map_init(&w->heeded, w->arena);
    write_all(w, name, leaves, count, out);
    return;
  }
  for (uint32_t i = 0; i < count; i++) leaves[i].fine = fine[i];
  entry rest = entry_of(w, name, leaves, count);
  if (rest.results.count) write_entry(w, &rest, out);
}

// Gradients that nobody takes belong to what trains, if anything does: they are no part of what the
// graph computes, and an entry of their own.
static uint32_t gradients_last(tf_writer *w, leaf *leaves, uint32_t count) {
  leaf *sorted = leat_new_array(w->arena, leaf, (size_t)count + 1);
  uint32_t first = 0, end = 0;
  bool trains = false;
  for (uint32_t i = 0; i < count; i++) trains = trains || leaves[i].effect;
  for (uint32_t i = 0; i < count; i++)
    if (!trains || !leaves[i].gradient) sorted[first++] = leaves[i];
  end = first;
  for (uint32_t i = 0; i < count; i++)
    if (trains && leaves[i].gradient) sorted[end++] = leaves[i];
  memcpy(leaves, sorted, count * sizeof *leaves);
  return first;
}

static void write_leaves(tf_writer *w, leat_text *out) {
  leat_vec(leaf) leaves = {0};
  for (uint32_t i = 0, looked = 0; i < w->graph->count; i++) {
    if (w->graph->nodes[i].uses) continue;
    if (looked++ == MOST_LEAVES) {
      leat_vec_push(w->arena, &w->model->problems,
                    leat_arena_printf(w->arena,
                                      "more than %d nodes have outputs that nobody takes: cut the "
                                      "graph down to what is used, or save it with a signature",
                                      MOST_LEAVES));
      return;
    }
    leaf l = look_at(w, i);
    l.supported = is_supported(w, &l);
    l.fine = !l.effect && l.supported;
    l.gradient = !l.effect && !strncmp(w->graph->nodes[i].def->name, "gradients", 9);
    note_left_out(w, &l);
    if (!is_of_no_use(w, &w->graph->nodes[i], &l)) leat_vec_push(w->arena, &leaves, l);
  }
  if (!leaves.count) return;
  uint32_t count = gradients_last(w, leaves.items, leaves.count);
  write_all(w, "main", leaves.items, count, out);
  write_all(w, "gradients", leaves.items + count, leaves.count - count, out);
  for (uint32_t i = 0; i < leaves.count; i++)
    if (!leaves.items[i].fine) write_target(w, &leaves.items[i], leaves.items, count, out);
}

void tf_write_entries(tf_writer *w, leat_text *out) {
  size_t before = out->size;
  write_signatures(w, out);
  if (out->size == before && !w->model->problems.count) write_leaves(w, out);
  if (out->size == before && !w->model->problems.count)
    leat_vec_push(w->arena, &w->model->problems,
                  "there is nothing to run: no signature, and no node whose output nobody takes");
}
