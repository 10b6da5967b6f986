// A node as a line of the text, by its row in ops.def.
#include "base/str.h"
#include "frontend/importer/graphdef/writer.h"
#include "frontend/importer/row.h"

#include <ctype.h>
#include <string.h>

enum { MOST_NODES = 2000000 };

// -- Attributes -----------------------------------------------------------------------------------

const tf_attr *tf_attribute(const tf_node *node, const char *name) {
  const tf_node_def *def = node->def;
  for (size_t i = 0; i < def->n_attr; i++)
    if (strcmp(def->attr[i]->key, name) == 0) return def->attr[i]->value;
  return NULL;
}

int64_t tf_int(const tf_node *node, const char *name, int64_t otherwise) {
  const tf_attr *a = tf_attribute(node, name);
  if (a && a->value_case == TENSORFLOW__ATTR_VALUE__VALUE_I) return a->i;
  return a && a->value_case == TENSORFLOW__ATTR_VALUE__VALUE_B ? a->b : otherwise;
}

int32_t tf_type(const tf_node *node, const char *name) {
  const tf_attr *a = tf_attribute(node, name);
  return a && a->value_case == TENSORFLOW__ATTR_VALUE__VALUE_TYPE ? (int32_t)a->type : 0;
}

const char *tf_string(tf_writer *w, const tf_node *node, const char *name) {
  const tf_attr *a = tf_attribute(node, name);
  if (!a || a->value_case != TENSORFLOW__ATTR_VALUE__VALUE_S) return "";
  return leat_arena_strndup(w->arena, (const char *)a->s.data, a->s.len);
}

static void add_ints(leat_text *out, const int64_t *items, size_t count) {
  leat_text_add_string(out, "[");
  for (size_t i = 0; i < count; i++) {
    if (i) leat_text_add_string(out, ", ");
    leat_text_add_i64(out, items[i]);
  }
  leat_text_add_string(out, "]");
}

static void add_floats(leat_text *out, const float *items, size_t count) {
  leat_text_add_string(out, "[");
  for (size_t i = 0; i < count; i++) {
    if (i) leat_text_add_string(out, ", ");
    leat_text_add_f64(out, (double)items[i]);
  }
  leat_text_add_string(out, "]");
}

static void add_strings(tf_writer *w, leat_text *out, const ProtobufCBinaryData *items,
                        size_t count) {
  leat_text_add_string(out, "[");
  for (size_t i = 0; i < count; i++)
    leat_text_add(out, "%s%s", i ? ", " : "",
                  tf_quote(w, (const char *)items[i].data, items[i].len));
  leat_text_add_string(out, "]");
}

// An unknown extent is -1.
static void add_shape(leat_text *out, const Tensorflow__TensorShapeProto *shape) {
  leat_text_add_string(out, "[");
  for (size_t i = 0; i < shape->n_dim; i++)
    leat_text_add(out, "%s%lld", i ? ", " : "", (long long)shape->dim[i]->size);
  leat_text_add_string(out, "]");
}

// NULL: it cannot be said.
static const char *attribute_text(tf_writer *w, const tf_attr *a) {
  leat_text text = {0};
  leat_dtype dtype;
  switch ((int)a->value_case) {
  case TENSORFLOW__ATTR_VALUE__VALUE_I: leat_text_add_i64(&text, a->i); break;
  case TENSORFLOW__ATTR_VALUE__VALUE_F: leat_text_add_f64(&text, (double)a->f); break;
  case TENSORFLOW__ATTR_VALUE__VALUE_B: leat_text_add_string(&text, a->b ? "true" : "false"); break;
  case TENSORFLOW__ATTR_VALUE__VALUE_S: return tf_quote(w, (const char *)a->s.data, a->s.len);
  case TENSORFLOW__ATTR_VALUE__VALUE_TYPE:
    return tf_dtype(a->type, &dtype) ? leat_dtype_name(dtype) : NULL;
  case TENSORFLOW__ATTR_VALUE__VALUE_LIST:
    if (a->list->n_b || a->list->n_shape || a->list->n_tensor) return NULL;
    if (a->list->n_s)
      add_strings(w, &text, a->list->s, a->list->n_s);
    else if (a->list->n_f)
      add_floats(&text, a->list->f, a->list->n_f);
    else
      add_ints(&text, a->list->i, a->list->n_i);
    break;
  case TENSORFLOW__ATTR_VALUE__VALUE_SHAPE:
    if (a->shape->unknown_rank) return NULL;
    add_shape(&text, a->shape);
    break;
  default: return NULL;
  }
  return leat_model_take_text(w->arena, &text);
}

static bool is_one_of(const char *name, const char *const *names) {
  for (size_t i = 0; names[i]; i++)
    if (strcmp(name, names[i]) == 0) return true;
  return false;
}

// What says nothing of what a node computes: dtypes and counts, which its inputs have, and locks.
// The dtype of an output is none of these: a row that makes a call names it.
static bool is_passed_over(const tf_op *op, const char *name, const tf_attr *a) {
  static const char *const types[] = {
      "T",           "Index",      "SrcT",         "TI",           "U",         "Taxis",
      "Tcond",       "Tcomplex",   "Tdim",         "Tdims",        "Tidx",      "Tin",
      "Tindex",      "Tindices",   "Tk",           "Tkey",         "Tkeys",     "Tlabels",
      "Tlen",        "Tmultiples", "Tnumbins",     "Tnumsegments", "Tpaddings", "Tparams",
      "Tperm",       "Treal",      "Tsegmentids",  "Tshape",       "Tshift",    "Tsplits",
      "Tval",        "Tvalues",    "Tblock_shape", "Tcrops",       "Ta",        "Tb",
      "T_threshold", NULL};
  static const char *const others[] = {
      "N",           "num", "num_split", "use_locking", "dtypes", "validate_shape", "use_resource",
      "is_resource", NULL};
  bool type = a->value_case == TENSORFLOW__ATTR_VALUE__VALUE_TYPE ||
              (a->value_case == TENSORFLOW__ATTR_VALUE__VALUE_LIST && a->list->n_type);
  if (type && (op->effect || *op->write == '!')) return true;
  return *name == '_' || strcmp(name, op->gives) == 0 || is_one_of(name, types) ||
         is_one_of(name, others);
}

// Refuses what no word of the row is about; what the row lists is what it says.
static bool is_listed(tf_writer *w, const tf_op *op, const Tensorflow__AttrEntry *entry,
                      leat_row_attribute *out) {
  const tf_attr *a = entry->value;
  bool set = a && a->value_case != TENSORFLOW__ATTR_VALUE__VALUE__NOT_SET;
  if (leat_row_find_attribute(op->attributes, entry->key, out)) return set;
  if (set && !is_passed_over(op, entry->key, a))
    tf_refuse(w, "its attribute `%s` is not supported; there are: %s", entry->key,
              *op->attributes ? op->attributes : "none");
  return false;
}

static void add_attribute(tf_writer *w, const tf_op *op, const Tensorflow__AttrEntry *entry,
                          leat_row_arguments *args) {
  leat_row_attribute row;
  if (!is_listed(w, op, entry, &row) || (row.passed_over && !row.only.size)) return;
  const char *value = attribute_text(w, entry->value);
  if (!value)
    tf_refuse(w, "its attribute `%s` is of a type that is not supported", entry->key);
  else if (!row.passed_over)
    leat_row_add_named(args, row.name, value);
  else if (!leat_word_is(row.only, value))
    tf_refuse(w, "its attribute `%s` is %s: only %.*s is supported", entry->key, value,
              (int)row.only.size, row.only.at);
}

// -- Inputs and outputs ---------------------------------------------------------------------------

// The number of an output that a function's node calls `output`, its part `part`.
static uint32_t port_of(const tf_node *from, const tf_edge *edge) {
  const tf_op *op = from->def ? tf_op_find(from->def->op) : NULL;
  if (!edge->output || !op) return edge->port;
  const char *at = op->outputs;
  leat_word each;
  for (uint32_t i = 0; leat_next_word(&at, &each); i++)
    if (leat_word_is(each, edge->output)) return i + edge->port;
  return edge->port;
}

tf_value tf_edge_value(tf_writer *w, const tf_edge *edge) {
  const tf_values *values = &w->scope->values[edge->node];
  uint32_t port = port_of(&w->scope->block->nodes[edge->node], edge);
  const tf_value *value = port < values->count ? &values->items[port] : NULL;
  if (value && value->variable && value->now && value->now->text) value = value->now;
  if (value && value->text) {
    bool counted = w->step && strcmp(value->text, w->step_path) == 0;
    tf_value made = *value;
    if (counted) made.text = w->step;
    made.variable = made.variable && !counted;
    return made;
  }
  const tf_node *from = &w->scope->block->nodes[edge->node];
  if (!w->refused.count) // else perhaps just because of that
    tf_refuse(w, "output %u of `%s` is not there", port, from->def ? from->def->name : "an input");
  return (tf_value){.text = "0"};
}

tf_value tf_input(tf_writer *w, size_t i) {
  if (i < w->node->input_count) return tf_edge_value(w, &w->node->inputs[i]);
  tf_refuse(w, "its input %zu is missing", i);
  return (tf_value){.text = "0"};
}

const char *tf_as_tensor(tf_writer *w, tf_value value) {
  leat_dtype dtype;
  if (value.untold)
    tf_refuse(w, "it takes a StringFormat, which is supported where a PrintV2 shows it");
  if (value.untyped)
    tf_refuse(w, "it takes a list whose elements have no shape: write to it first");
  else if (tf_is_unfinished(&value))
    tf_refuse(w, "it takes a list behind a pop, as only loops do: take its TensorListStack");
  if (value.tensor) return value.tensor;
  if (!value.known) return value.text;
  const char *name = tf_dtype(value.data_type, &dtype) ? leat_dtype_name(dtype) : "i32";
  if (strcmp(value.text, "[]") == 0) return leat_arena_printf(w->arena, "zeros(%s[0])", name);
  return leat_arena_printf(w->arena, "cast(%s, %s)", value.text, name);
}

const char *tf_as_numbers(tf_writer *w, tf_value value) {
  if (tf_is_unfinished(&value)) return tf_as_tensor(w, value);
  return value.known ? value.text : leat_arena_printf(w->arena, "static_value(%s)", value.text);
}

void tf_bind(tf_writer *w, uint32_t port, tf_value value) {
  tf_values *values = &w->scope->values[w->node - w->scope->block->nodes];
  if (port >= values->count) {
    tf_value *items = leat_new_array(w->arena, tf_value, port + 1);
    if (values->count) memcpy(items, values->items, values->count * sizeof *items);
    *values = (tf_values){items, port + 1};
  }
  values->items[port] = value;
}

const char *tf_targets(tf_writer *w, uint32_t count, int32_t data_type) {
  leat_text text = {0};
  for (uint32_t i = 0; i < count; i++) {
    const char *name = w->node->def->name;
    if (i) name = leat_arena_printf(w->arena, "%s:%u", name, i);
    name = tf_name(w, name);
    tf_bind(w, i, (tf_value){.text = name, .data_type = data_type});
    leat_text_add(&text, "%s%s", i ? ", " : "", name);
  }
  return leat_model_take_text(w->arena, &text);
}

// -- Control edges --------------------------------------------------------------------------------

// What tells, where a switch decides on that, whether the node is computed: a value of its own, or
// else of what it takes and waits for.
static void add_waited(tf_writer *w, const tf_edge *edge, leat_text *out, unsigned depth) {
  enum { DEEPEST = 100 };
  const tf_node *from = &w->scope->block->nodes[edge->node];
  const tf_values *values = &w->scope->values[edge->node];
  if (!from->conditional || depth > DEEPEST) return;
  const tf_value *value = edge->port < values->count ? &values->items[edge->port] : NULL;
  const char *text = !value || value->variable ? NULL : value->fixed ? value->tensor : value->text;
  if (text && *text != '$') {
    const char *decided = text;
    if (tf_is(from, "Switch")) { // whose own name says nothing of what it decides
      text = tf_name(w, leat_arena_printf(w->arena, "%s/taken", from->def->name));
      tf_line(w, "%s = identity(%s)", text, decided);
    }
    leat_text_add(out, "%s%s", out->size ? ", " : "", text);
    return;
  }
  for (uint32_t i = 0; i < from->input_count; i++) add_waited(w, &from->inputs[i], out, depth + 1);
  for (uint32_t i = 0; i < from->control_count; i++)
    add_waited(w, &(tf_edge){.node = from->controls[i]}, out, depth + 1);
}

const char *tf_after(tf_writer *w) {
  const tf_node *node = w->node;
  bool decided = false;
  for (uint32_t i = 0; i < node->input_count; i++)
    decided = decided || w->scope->block->nodes[node->inputs[i].node].conditional;
  if (!node->conditional || (decided && !node->effect)) return "";
  leat_text list = {0};
  for (uint32_t i = 0; i < node->control_count; i++)
    add_waited(w, &(tf_edge){.node = node->controls[i]}, &list, 0);
  const char *names = leat_model_take_text(w->arena, &list);
  return *names ? leat_arena_printf(w->arena, " after [%s]", names) : "";
}

// -- A row ----------------------------------------------------------------------------------------

static bool is_random(const tf_op *op) {
  return strncmp(op->attributes, "seed ", 5) == 0;
}

// Whether all inputs are, but those of which it takes the shape: `s`, `*s`.
static bool is_fixed(tf_writer *w, const tf_op *op) {
  const char *at = op->inputs;
  char kind = 0;
  leat_word each;
  if (op->effect || is_random(op)) return false;
  for (size_t i = 0; i < w->node->input_count; i++) {
    bool more = kind == '*' || leat_next_word(&at, &each);
    kind = more ? each.at[0] : 0;
    bool counts =
        kind != 's' && kind != '_' && !(kind == '*' && each.size > 1 && each.at[1] == 's');
    if (counts && !tf_input(w, i).fixed) return false;
  }
  return true;
}

typedef struct row_writer {
  tf_writer *w;
  bool fixed; // it is taken as it is outside of branches and frames
} row_writer;

static const char *input_text(void *context, const leat_row_input *input, size_t i) {
  const row_writer *row = context;
  tf_writer *w = row->w;
  if (input->kind == '_' || i >= w->node->input_count) return NULL; // the function has a default
  tf_value value = tf_input(w, i);
  if (input->kind == 'v' && !value.variable)
    tf_refuse(w, "its input %zu is no variable of the graph, which it has to be here", i);
  if (input->kind == 's' && !tf_is_unfinished(&value)) return value.text;
  if (input->kind == 'k') return tf_as_numbers(w, value);
  if (row->fixed) value.tensor = NULL;
  return tf_as_tensor(w, value);
}

static void add_inputs(tf_writer *w, const tf_op *op, leat_row_arguments *args, bool fixed) {
  row_writer row = {w, fixed};
  size_t count = w->node->input_count;
  size_t taken = leat_row_add_inputs(w->arena, op->inputs, count, input_text, &row, args);
  if (taken < count) tf_refuse(w, "it has more inputs than are supported, %zu", taken);
}

uint32_t tf_output_count(const tf_node *node, const tf_op *op) {
  if (!strchr(op->outputs, '*')) return leat_count_words(op->outputs);
  static const char *const counts[] = {"num_split", "num_partitions", "num", "N"};
  static const char *const lists[] = {"Tout", "output_types", "T"};
  for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
    if (tf_attribute(node, counts[i])) return (uint32_t)tf_int(node, counts[i], 1);
  for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
    const tf_attr *a = tf_attribute(node, lists[i]);
    if (a && a->value_case == TENSORFLOW__ATTR_VALUE__VALUE_LIST) return (uint32_t)a->list->n_type;
  }
  return 1;
}

static int32_t type_given(const tf_node *node, const tf_op *op) {
  if (strcmp(op->gives, "bool") == 0) return TENSORFLOW__DATA_TYPE__DT_BOOL;
  int32_t type = tf_type(node, *op->gives ? op->gives : "T");
  return type ? type : TENSORFLOW__DATA_TYPE__DT_INT32;
}

// A node that is random draws the same for each variable whose initial value takes it.
static void add_key(tf_writer *w, const tf_op *op, leat_text *out) {
  const char *name = w->node->def->name;
  uint64_t key = (uint64_t)leat_str_hash((leat_str){name, strlen(name)});
  if (w->initialising && is_random(op))
    leat_text_add(out, ", key=%llu", (unsigned long long)key >> 1);
}

static void write_row(tf_writer *w, const tf_op *op) {
  enum { MOST_OUTPUTS = 10000 };
  bool fixed = is_fixed(w, op), list = strchr(op->outputs, '*');
  leat_row_arguments args = {0};
  leat_text line = {0};
  uint32_t count = tf_output_count(w->node, op);
  if (count > MOST_OUTPUTS) {
    tf_refuse(w, "it has %u outputs", count);
    return;
  }
  add_inputs(w, op, &args, fixed);
  for (size_t i = 0; i < w->node->def->n_attr; i++)
    add_attribute(w, op, w->node->def->attr[i], &args);
  add_key(w, op, &args.named);
  if (list) leat_text_add(&args.named, ", outputs=%u", count);
  if (!leat_row_write(op->write, &args, &line)) tf_refuse(w, "it has too few inputs");
  const char *made = leat_model_take_text(w->arena, &line);
  leat_text_finish(&args.named);
  if (op->effect) {
    tf_line(w, "%s%s", made, tf_after(w));
    for (uint32_t i = 0; i < count; i++) tf_bind(w, i, tf_input(w, 0));
  } else {
    const char *after = fixed ? "" : tf_after(w);
    tf_line(w, "%s = %s%s%s", tf_targets(w, count, type_given(w->node, op)), made,
            list && count == 1 ? "[0]" : "", after);
    tf_values *values = &w->scope->values[w->node - w->scope->block->nodes];
    for (uint32_t i = 0; i < count; i++) values->items[i].fixed = fixed;
  }
}

// It reads those of its attributes that its row lists.
static void write_special(tf_writer *w, const tf_op *op) {
  leat_row_attribute row;
  for (size_t i = 0; i < w->node->def->n_attr; i++)
    (void)is_listed(w, op, w->node->def->attr[i], &row);
  tf_write_special(w, op->write + 1);
}

static void refuse_op(tf_writer *w, const tf_op *op) {
  if (op)
    tf_refuse(w, "is not supported: %s", op->write + 1);
  else
    tf_refuse(w, "this op is not supported: write it as others (frontend/importer/graphdef/ops.def "
                 "lists them)");
}

// While a variable's initial value is written there are no variables, nor what is computed of them:
// `initialized_value` takes another value then.
static bool lacks_input(tf_writer *w) {
  if (tf_is(w->node, "Merge")) return false;
  for (size_t i = 0; i < w->node->input_count; i++) {
    const tf_edge *edge = &w->node->inputs[i];
    const tf_values *values = &w->scope->values[edge->node];
    uint32_t port = port_of(&w->scope->block->nodes[edge->node], edge);
    bool asks = strstr(w->node->def->op, "Initialized");
    if (!asks && (port >= values->count || !values->items[port].text)) return true;
  }
  return false;
}

static void write_node(tf_writer *w, const tf_node *node) {
  const tf_node *outer = w->node;
  const tf_op *op = tf_op_find(node->def->op);
  const tf_function *function = op ? NULL : tf_find_function(w, node->def->op);
  w->node = node;
  const char *heeded = tf_heeded(w);
  if (w->work++ == MOST_NODES) tf_refuse(w, "there are more than %d nodes", MOST_NODES);
  if (w->work > MOST_NODES || (w->initialising && lacks_input(w)))
    ; // nothing stands for it
  else if (heeded)
    tf_refuse(w, "%s", heeded);
  else if (function)
    tf_write_call(w);
  else if (!op || op->write[0] == '?')
    refuse_op(w, op);
  else if (op->write[0] == '!')
    write_special(w, op);
  else
    write_row(w, op);
  w->node = outer;
}

void tf_write_nodes(tf_writer *w, const bool *needed) {
  const tf_block *block = w->scope->block;
  uint32_t *order, count = tf_sort(block, needed, &order);
  if (count < tf_count(needed, block->count + block->argument_count))
    tf_refuse(w, "nodes of the graph need each other, and no loop says how");
  for (uint32_t i = 0; i < count; i++)
    if (order[i] < block->count) write_node(w, &block->nodes[order[i]]);
}
