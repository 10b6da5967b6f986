// Functions of the graph's library: their nodes are written where they are called, in the names of
// the calling node; branches in branch.c, loops in while.c.
#include "frontend/importer/graphdef/writer.h"

#include <string.h>

enum { DEEPEST_CALL = 50, MOST_INLINED = 300000 };

void tf_list_functions(tf_writer *w) {
  const Tensorflow__FunctionDefLibrary *library = w->saved->graph->library;
  for (size_t i = 0; library && i < library->n_function; i++) {
    tf_function *function = library->function[i];
    const char *name = function->signature ? function->signature->name : "";
    if (!leat_bytes_map_get(&w->library, name, strlen(name)))
      leat_bytes_map_set(&w->library, name, strlen(name), function);
  }
}

const tf_function *tf_find_function(const tf_writer *w, const char *name) {
  const tf_function *found = leat_bytes_map_get(&w->library, name, strlen(name));
  return found && found->signature ? found : NULL;
}

// -- How many nodes -------------------------------------------------------------------------------

static uint64_t count_call(tf_writer *w, const char *name, unsigned depth);

static uint64_t count_calls_of_node(tf_writer *w, const tf_node_def *def, unsigned depth) {
  uint64_t total = tf_op_find(def->op) ? 0 : count_call(w, def->op, depth);
  for (size_t i = 0; i < def->n_attr; i++) {
    const tf_attr *a = def->attr[i]->value;
    bool list = a && a->value_case == TENSORFLOW__ATTR_VALUE__VALUE_LIST;
    if (a && a->value_case == TENSORFLOW__ATTR_VALUE__VALUE_FUNC)
      total += count_call(w, a->func->name, depth);
    for (size_t k = 0; list && k < a->list->n_func && total <= MOST_INLINED; k++)
      total += count_call(w, a->list->func[k]->name, depth);
  }
  return total;
}

// Those that a call becomes, with what is called in it, before any is written: a function that
// calls another twice doubles them. At most one more than there may be, of calls that are too deep
// too.
static uint64_t count_call(tf_writer *w, const char *name, unsigned depth) {
  size_t size = strlen(name);
  uintptr_t known = (uintptr_t)leat_bytes_map_get(&w->call_sizes, name, size);
  const tf_function *function = known ? NULL : tf_find_function(w, name);
  if (known || !function) return known ? known - 1 : 0;
  if (depth > DEEPEST_CALL) return MOST_INLINED + 1;
  leat_bytes_map_set(&w->call_sizes, name, size, (void *)(uintptr_t)1); // if it calls itself
  uint64_t total = function->n_node_def;
  for (size_t i = 0; i < function->n_node_def && total <= MOST_INLINED; i++)
    total += count_calls_of_node(w, function->node_def[i], depth + 1);
  if (total > MOST_INLINED) total = MOST_INLINED + 1;
  leat_bytes_map_set(&w->call_sizes, name, size, (void *)(uintptr_t)(1 + total));
  return total;
}

// -- What they do ---------------------------------------------------------------------------------

static tf_effect effect_of_function(tf_writer *w, const char *name) {
  size_t size = strlen(name);
  uintptr_t known = (uintptr_t)leat_bytes_map_get(&w->effects, name, size);
  const tf_function *function = known ? NULL : tf_find_function(w, name);
  if (known) return (tf_effect)(known - 1);
  if (count_call(w, name, 1) > MOST_INLINED) return TF_CHANGES; // it is refused where it is called
  tf_effect most = TF_NO_EFFECT;
  leat_bytes_map_set(&w->effects, name, size, (void *)(uintptr_t)(1 + most)); // if it calls itself
  for (size_t i = 0; function && i < function->n_node_def && most != TF_CHANGES; i++) {
    tf_effect effect = tf_effect_of(w, function->node_def[i]);
    if (effect > most) most = effect;
  }
  leat_bytes_map_set(&w->effects, name, size, (void *)(uintptr_t)(1 + most));
  return most;
}

static tf_effect effect_of_attribute(tf_writer *w, const tf_attr *a) {
  tf_effect most = TF_NO_EFFECT;
  if (a && a->value_case == TENSORFLOW__ATTR_VALUE__VALUE_FUNC)
    return effect_of_function(w, a->func->name);
  bool list = a && a->value_case == TENSORFLOW__ATTR_VALUE__VALUE_LIST;
  for (size_t i = 0; list && i < a->list->n_func; i++) {
    tf_effect effect = effect_of_function(w, a->list->func[i]->name);
    if (effect > most) most = effect;
  }
  return most;
}

tf_effect tf_effect_of(void *context, const tf_node_def *def) {
  tf_writer *w = context;
  const tf_op *op = tf_op_find(def->op);
  if (op && op->effect)
    return !strncmp(def->op, "Print", 5) || !strcmp(def->op, "Assert") ? TF_SHOWS : TF_CHANGES;
  tf_effect most = op ? TF_NO_EFFECT : effect_of_function(w, def->op);
  for (size_t i = 0; i < def->n_attr; i++) {
    tf_effect effect = effect_of_attribute(w, def->attr[i]->value);
    if (effect > most) most = effect;
  }
  return most;
}

const tf_function *tf_function_of(tf_writer *w, const char *attribute) {
  const tf_attr *a = tf_attribute(w->node, attribute);
  bool named = a && a->value_case == TENSORFLOW__ATTR_VALUE__VALUE_FUNC;
  return tf_function_named(w, named ? a->func->name : w->node->def->op);
}

const tf_function *tf_function_named(tf_writer *w, const char *name) {
  const tf_function *found = tf_find_function(w, name);
  if (!found) tf_refuse(w, "its function `%s` is not in the library of the graph", name);
  return found;
}

static void report(void *context, const tf_node_def *def, const char *words) {
  tf_writer *w = context;
  tf_refuse(w, "in the function that it calls, node `%s`: %s", def->name, words);
}

const tf_block *tf_block_of_called(tf_writer *w, const tf_function *function) {
  tf_reporter reporter = {report, tf_effect_of, w};
  return tf_block_of_function(w->arena, function, &reporter);
}

static const char *value_of(const Tensorflow__StringEntry *const *entries, size_t count,
                            const char *key) {
  for (size_t i = 0; i < count; i++)
    if (strcmp(entries[i]->key, key) == 0) return entries[i]->value;
  return NULL;
}

// What the function returns under its name.
bool tf_find_returned(const tf_block *block, const char *name, tf_edge *out) {
  const tf_function *f = block->function;
  const char *from =
      value_of((const Tensorflow__StringEntry *const *)(void *)f->ret, f->n_ret, name);
  if (!from) return false;
  const char *colon = strchr(from, ':'), *second = colon ? strchr(colon + 1, ':') : NULL;
  const char *node = colon ? leat_arena_strndup(block->arena, from, (size_t)(colon - from)) : from;
  const tf_node *found = leat_bytes_map_get(&block->by_name, node, strlen(node));
  *out = (tf_edge){0};
  if (!found) return false;
  out->node = (uint32_t)(found - block->nodes);
  if (second) {
    out->output = leat_arena_strndup(block->arena, colon + 1, (size_t)(second - colon - 1));
    tf_split_input(block->arena, second, &node);
    out->port = tf_split_input(block->arena, from, &node);
  }
  return out->port != TF_NO_PORT;
}

static void mark_needed(const tf_block *block, bool *needed) {
  const tf_function *f = block->function;
  tf_edge edge;
  for (size_t i = 0; i < f->signature->n_output_arg; i++)
    if (tf_find_returned(block, f->signature->output_arg[i]->name, &edge))
      tf_mark(block, edge.node, needed);
  for (size_t i = 0; i < f->n_control_ret; i++) {
    const char *name = f->control_ret[i]->value;
    const tf_node *node = leat_bytes_map_get(&block->by_name, name, strlen(name));
    if (node) tf_mark(block, (uint32_t)(node - block->nodes), needed);
  }
  for (uint32_t i = 0; i < block->count; i++)
    if (block->nodes[i].effect) tf_mark(block, i, needed);
}

// Makes the function the scope in which is written; false: it cannot be called, which is told.
static bool open_function(tf_writer *w, const tf_function *function, const tf_value *inputs,
                          size_t count, tf_scope *out) {
  const tf_scope *outer = w->scope;
  const Tensorflow__OpDef *signature = function->signature;
  *out = (tf_scope){.outer = outer, .depth = outer->depth + 1};
  if (out->depth > DEEPEST_CALL) {
    tf_refuse(w, "functions call each other more than %d deep", DEEPEST_CALL);
    return false;
  }
  if (w->work + count_call(w, signature->name, out->depth) > MOST_INLINED) {
    tf_refuse(w,
              "the calls of functions are more than %d nodes, or more than %d deep: call fewer, or "
              "write what is repeated as a loop",
              MOST_INLINED, DEEPEST_CALL);
    return false;
  }
  if (signature->n_input_arg != count) {
    tf_refuse(w, "it has %zu values for its function `%s`, which takes %zu", count, signature->name,
              signature->n_input_arg);
    return false;
  }
  const tf_block *block = tf_block_of_called(w, function);
  out->block = block;
  out->values =
      leat_new_array(w->arena, tf_values, (size_t)block->count + block->argument_count + 1);
  out->prefix = leat_arena_printf(w->arena, "%s%s/", outer->prefix, w->node->def->name);
  for (size_t i = 0; i < count && i < block->argument_count; i++)
    out->values[block->count + i] =
        (tf_values){leat_arena_memdup(w->arena, &inputs[i], sizeof *inputs), 1};
  w->work += block->count; // a node that is not needed takes its time too
  w->scope = out;
  return true;
}

static bool *none_needed(tf_writer *w, const tf_block *block) {
  return leat_new_array(w->arena, bool, (size_t)block->count + block->argument_count + 1);
}

void tf_inline(tf_writer *w, const tf_function *function, const tf_value *inputs, size_t count,
               tf_values *out) {
  tf_scope scope, *outer = w->scope;
  *out = (tf_values){0};
  if (!open_function(w, function, inputs, count, &scope)) return;
  const Tensorflow__OpDef *signature = function->signature;
  size_t results = signature->n_output_arg;
  bool *needed = none_needed(w, scope.block);
  mark_needed(scope.block, needed);
  tf_write_nodes(w, needed);
  *out = (tf_values){leat_new_array(w->arena, tf_value, results + 1), (uint32_t)results};
  for (size_t i = 0; i < results; i++) {
    tf_edge edge;
    const char *name = signature->output_arg[i]->name;
    out->items[i].text = "0";
    if (tf_find_returned(scope.block, name, &edge))
      out->items[i] = tf_edge_value(w, &edge);
    else
      tf_refuse(w, "the function that it calls returns no `%s`", name);
  }
  w->scope = outer;
}

tf_value tf_inline_edge(tf_writer *w, const tf_function *function, const tf_value *inputs,
                        size_t count, const tf_edge *edge) {
  tf_scope scope, *outer = w->scope;
  if (!open_function(w, function, inputs, count, &scope)) return (tf_value){.text = "0"};
  bool *needed = none_needed(w, scope.block);
  tf_mark(scope.block, edge->node, needed);
  for (uint32_t i = 0; i < scope.block->count; i++)
    needed[i] = needed[i] && !scope.block->nodes[i].effect;
  tf_write_nodes(w, needed);
  tf_value made = tf_edge_value(w, edge);
  w->scope = outer;
  return made;
}

tf_value *tf_inputs_from(tf_writer *w, size_t first, size_t *out_count) {
  size_t all = w->node->input_count;
  *out_count = all > first ? all - first : 0;
  tf_value *inputs = leat_new_array(w->arena, tf_value, *out_count + 1);
  for (size_t i = 0; i < *out_count; i++) inputs[i] = tf_input(w, first + i);
  return inputs;
}

void tf_write_call(tf_writer *w) {
  const tf_function *function = tf_function_of(w, "f");
  size_t count;
  tf_values made;
  tf_value *inputs = tf_inputs_from(w, 0, &count);
  if (!function) return;
  tf_inline(w, function, inputs, count, &made);
  for (uint32_t i = 0; i < made.count; i++) tf_bind(w, i, made.items[i]);
}
