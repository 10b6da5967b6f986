// What a graph does once, before it runs: it restores variables, each from a tensor of the
// checkpoint, which it names, and fills tables. It does so itself, or in functions that it calls
// with the handles. So it is known what a variable begins with that is called otherwise in the
// checkpoint, or as another one is.
#include "frontend/importer/graphdef/writer.h"

#include <string.h>

// A block, or a function where a node of a block calls it.
typedef struct place {
  const tf_block *block;
  const struct place *outer; // NULL: the graph
  const tf_node *call;
} place;

typedef struct origin {
  const place *at;
  const tf_node *node; // NULL: it is not found
  uint32_t port;
} origin;

// What the edge comes from, through what passes it on and out of functions.
static origin follow(const place *at, tf_edge edge) {
  for (uint32_t steps = 0; steps < 100; steps++) {
    if (edge.node >= at->block->count) {
      uint32_t argument = edge.node - at->block->count;
      if (!at->outer || argument >= at->call->input_count) break;
      edge = at->call->inputs[argument];
      at = at->outer;
      continue;
    }
    const tf_node *node = &at->block->nodes[edge.node];
    if (!tf_is(node, "Identity") || !node->input_count) return (origin){at, node, edge.port};
    edge = node->inputs[0];
  }
  return (origin){at, NULL, 0};
}

static origin input_of(const place *at, const tf_node *node, uint32_t i) {
  return i < node->input_count ? follow(at, node->inputs[i]) : (origin){at, NULL, 0};
}

static const tf_tensor *constant_of(origin from) {
  const tf_attr *value =
      from.node && tf_is(from.node, "Const") ? tf_attribute(from.node, "value") : NULL;
  bool there = value && value->value_case == TENSORFLOW__ATTR_VALUE__VALUE_TENSOR;
  return there ? value->tensor : NULL;
}

// The name of that tensor among those that the node restores; NULL: it is not known, or a slice.
static const char *restored_key(tf_writer *w, origin from) {
  if (!from.node || !tf_is(from.node, "RestoreV2")) return NULL;
  const tf_tensor *names = constant_of(input_of(from.at, from.node, 1));
  const tf_tensor *slices = constant_of(input_of(from.at, from.node, 2));
  if (!names || from.port >= names->n_string_val) return NULL;
  if (slices && from.port < slices->n_string_val && slices->string_val[from.port].len) return NULL;
  const ProtobufCBinaryData *name = &names->string_val[from.port];
  return leat_arena_strndup(w->arena, (const char *)name->data, name->len);
}

static bool is_assign(const tf_node *node) {
  return tf_is(node, "Assign") || tf_is(node, "AssignVariableOp");
}

static bool fills_table(const tf_node *node) {
  static const char *const ops[] = {"LookupTableImportV2", "LookupTableImport", "InitializeTableV2",
                                    "InitializeTable"};
  for (size_t i = 0; i < sizeof ops / sizeof *ops; i++)
    if (tf_is(node, ops[i])) return true;
  return false;
}

static tf_table *find_table(const tf_writer *w, const tf_node *node) {
  for (uint32_t i = 0; i < w->tables.count; i++)
    if (w->tables.items[i].node == node) return &w->tables.items[i];
  return NULL;
}

static void look_at_node(tf_writer *w, const place *at, const tf_node *node) {
  origin of = input_of(at, node, 0);
  if (!of.node || of.at->outer) return;
  tf_variable *v = is_assign(node) ? tf_same_variable(w, of.node) : NULL;
  const char *key = v ? restored_key(w, input_of(at, node, 1)) : NULL;
  if (key && tf_find_saved(w->saved, key, NULL)) v->key = key;
  tf_table *table = fills_table(node) ? find_table(w, of.node) : NULL;
  if (!table) return;
  table->keys = constant_of(input_of(at, node, 1));
  table->values = constant_of(input_of(at, node, 2));
}

static bool has_such(const tf_function *function) {
  for (size_t i = 0; i < function->n_node_def; i++) {
    tf_node node = {.def = function->node_def[i]};
    if (tf_is(&node, "RestoreV2") || fills_table(&node)) return true;
  }
  return false;
}

static void ignore(void *context, const tf_node_def *def, const char *words) {
  (void)context;
  (void)def;
  (void)words;
}

static void look_at_call(tf_writer *w, const place *graph, const tf_node *node) {
  const tf_attr *f = tf_attribute(node, "f");
  bool calls = f && f->value_case == TENSORFLOW__ATTR_VALUE__VALUE_FUNC;
  const tf_function *function = tf_find_function(w, calls ? f->func->name : node->def->op);
  tf_reporter reporter = {ignore, tf_effect_of, w};
  if (!function || !has_such(function)) return;
  place inside = {tf_block_of_function(w->arena, function, &reporter), graph, node};
  for (uint32_t i = 0; i < inside.block->count; i++)
    look_at_node(w, &inside, &inside.block->nodes[i]);
}

void tf_find_restored(tf_writer *w) {
  place graph = {.block = w->graph};
  for (uint32_t i = 0; i < w->graph->count; i++) {
    const tf_node *node = &w->graph->nodes[i];
    if (tf_is(node, "HashTableV2") || tf_is(node, "HashTable"))
      leat_vec_push(w->arena, &w->tables, ((tf_table){.node = node}));
  }
  for (uint32_t i = 0; i < w->graph->count; i++) {
    look_at_node(w, &graph, &w->graph->nodes[i]);
    look_at_call(w, &graph, &w->graph->nodes[i]);
  }
}

bool tf_only_fills(const tf_node *node) {
  return fills_table(node);
}

// -- Tables ---------------------------------------------------------------------------------------

void tf_write_table(tf_writer *w) {
  tf_bind(w, 0, (tf_value){.text = "0", .variable = true, .table = find_table(w, w->node)});
}

static const tf_table *table_of(tf_writer *w) {
  const tf_table *table = tf_input(w, 0).table;
  if (table && table->keys && table->values) return table;
  tf_refuse(w, "its table is filled while running, or from a file: fill it with constants, by a "
               "tf.lookup.KeyValueTensorInitializer");
  return NULL;
}

static const char *column(tf_writer *w, const tf_table *table, const tf_tensor *of,
                          const char *what) {
  const char *name = leat_arena_printf(w->arena, "%s/%s", table->node->def->name, what);
  return tf_as_tensor(w, tf_constant(w, of, name));
}

void tf_write_lookup(tf_writer *w) {
  const tf_table *table = table_of(w);
  if (!table) return;
  const char *key = tf_as_tensor(w, tf_input(w, 1)), *otherwise = tf_as_tensor(w, tf_input(w, 2));
  const char *keys = column(w, table, table->keys, "keys");
  const char *values = column(w, table, table->values, "values"), *after = tf_after(w);
  tf_line(w, "%s = tf_lookup(%s, %s, %s, %s)%s", tf_targets(w, 1, tf_type(w->node, "Tout")), key,
          keys, values, otherwise, after);
}

void tf_write_table_size(tf_writer *w) {
  leat_tensor keys;
  leat_error error = {0};
  const tf_table *table = table_of(w);
  if (!table) return;
  if (tf_tensor_type(table->keys, table->node->def->name, &keys, &error)) {
    tf_refuse(w, "%s", error.message);
    return;
  }
  long long count = leat_shape_elements(keys.rank, keys.shape);
  tf_bind(w, 0,
          (tf_value){.text = leat_arena_printf(w->arena, "%lld", count),
                     .data_type = TENSORFLOW__DATA_TYPE__DT_INT64,
                     .known = true,
                     .fixed = true});
}

void tf_write_table_export(tf_writer *w) {
  const tf_table *table = table_of(w);
  if (!table) return;
  const char *keys = column(w, table, table->keys, "keys");
  const char *values = column(w, table, table->values, "values");
  tf_targets(w, 2, 0);
  const tf_value *made = w->scope->values[w->node - w->scope->block->nodes].items;
  tf_line(w, "%s = %s", made[0].text, keys);
  tf_line(w, "%s = %s", made[1].text, values);
}
