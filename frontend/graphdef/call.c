// Functions of the graph's library: their nodes are written where they are called, in the names of
// the calling node; branches and loops of functions become the language's own.
#include "frontend/graphdef/writer.h"

#include <string.h>

enum { DEEPEST_CALL = 50 };

const tf_function *tf_find_function(const tf_writer *w, const char *name) {
  const Tensorflow__FunctionDefLibrary *library = w->saved->graph->library;
  for (size_t i = 0; library && i < library->n_function; i++)
    if (library->function[i]->signature && strcmp(library->function[i]->signature->name, name) == 0)
      return library->function[i];
  return NULL;
}

// The function that the attribute names; NULL: it is told that there is none.
static const tf_function *function_of(tf_writer *w, const char *attribute) {
  const tf_attr *a = tf_attribute(w->node, attribute);
  const char *name =
      a && a->value_case == TENSORFLOW__ATTR_VALUE__VALUE_FUNC ? a->func->name : w->node->def->op;
  const tf_function *found = tf_find_function(w, name);
  if (!found) tf_refuse(w, "its function `%s` is not in the library of the graph", name);
  return found;
}

static void report(void *context, const tf_node_def *def, const char *words) {
  tf_writer *w = context;
  tf_refuse(w, "in the function that it calls, node `%s`: %s", def->name, words);
}

static const char *value_of(const Tensorflow__StringEntry *const *entries, size_t count,
                            const char *key) {
  for (size_t i = 0; i < count; i++)
    if (strcmp(entries[i]->key, key) == 0) return entries[i]->value;
  return NULL;
}

// What the function returns under its name.
static bool find_returned(const tf_block *block, const char *name, tf_edge *out) {
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
  return true;
}

static void mark_needed(const tf_block *block, bool *needed) {
  const tf_function *f = block->function;
  tf_edge edge;
  for (size_t i = 0; i < f->signature->n_output_arg; i++)
    if (find_returned(block, f->signature->output_arg[i]->name, &edge))
      tf_mark(block, edge.node, needed);
  for (size_t i = 0; i < f->n_control_ret; i++) {
    const char *name = f->control_ret[i]->value;
    const tf_node *node = leat_bytes_map_get(&block->by_name, name, strlen(name));
    if (node) tf_mark(block, (uint32_t)(node - block->nodes), needed);
  }
  for (uint32_t i = 0; i < block->count; i++)
    if (block->nodes[i].effect) tf_mark(block, i, needed);
}

void tf_inline(tf_writer *w, const tf_function *function, const tf_value *inputs, size_t count,
               tf_values *out) {
  tf_reporter reporter = {report, w};
  const tf_scope *outer = w->scope;
  tf_scope scope = {.outer = outer, .depth = outer->depth + 1};
  *out = (tf_values){0};
  const Tensorflow__OpDef *signature = function->signature;
  if (scope.depth > DEEPEST_CALL) {
    tf_refuse(w, "functions call each other more than %d deep", DEEPEST_CALL);
    return;
  }
  if (signature->n_input_arg != count) {
    tf_refuse(w, "it has %zu values for its function `%s`, which takes %zu", count, signature->name,
              signature->n_input_arg);
    return;
  }
  const tf_block *block = tf_block_of_function(w->arena, function, &reporter);
  size_t results = signature->n_output_arg, all = block->count + block->argument_count;
  bool *needed = leat_new_array(w->arena, bool, all + 1);
  scope.block = block;
  scope.values = leat_new_array(w->arena, tf_values, all + 1);
  scope.prefix = leat_arena_printf(w->arena, "%s%s/", outer->prefix, w->node->def->name);
  for (size_t i = 0; i < count && i < block->argument_count; i++)
    scope.values[block->count + i] =
        (tf_values){leat_arena_memdup(w->arena, &inputs[i], sizeof *inputs), 1};
  mark_needed(block, needed);
  w->work += block->count; // a node that is not needed takes its time too
  w->scope = &scope;
  tf_write_nodes(w, needed);
  *out = (tf_values){leat_new_array(w->arena, tf_value, results + 1), (uint32_t)results};
  for (size_t i = 0; i < results; i++) {
    tf_edge edge;
    const char *name = signature->output_arg[i]->name;
    out->items[i].text = "0";
    if (find_returned(block, name, &edge))
      out->items[i] = tf_edge_value(w, &edge);
    else
      tf_refuse(w, "the function that it calls returns no `%s`", name);
  }
  w->scope = (tf_scope *)outer;
}

// The inputs from `first` on.
static tf_value *inputs_from(tf_writer *w, size_t first, size_t *out_count) {
  size_t all = w->node->input_count;
  *out_count = all > first ? all - first : 0;
  tf_value *inputs = leat_new_array(w->arena, tf_value, *out_count + 1);
  for (size_t i = 0; i < *out_count; i++) inputs[i] = tf_input(w, first + i);
  return inputs;
}

void tf_write_call(tf_writer *w) {
  const tf_function *function = function_of(w, "f");
  size_t count;
  tf_values made;
  tf_value *inputs = inputs_from(w, 0, &count);
  if (!function) return;
  tf_inline(w, function, inputs, count, &made);
  for (uint32_t i = 0; i < made.count; i++) tf_bind(w, i, made.items[i]);
}

// -- Branches -------------------------------------------------------------------------------------

static void write_last(tf_writer *w, const char *word, const tf_values *values,
                       const bool *passed) {
  leat_text list = {0};
  for (uint32_t i = 0; i < values->count; i++)
    if (!passed || !passed[i])
      leat_text_add(&list, "%s%s", list.size ? ", " : "", tf_as_tensor(w, values->items[i]));
  const char *text = tf_take(w, &list);
  if (*text) tf_line(w, "%s %s", word, text);
}

static void write_branch(tf_writer *w, const tf_function *function, const tf_value *inputs,
                         size_t count) {
  tf_values made;
  w->indent += 2;
  tf_inline(w, function, inputs, count, &made);
  write_last(w, "yield", &made, NULL);
  w->indent -= 2;
}

void tf_write_if(tf_writer *w) {
  const tf_function *then = function_of(w, "then_branch");
  const tf_function *otherwise = function_of(w, "else_branch");
  size_t count;
  if (!then || !otherwise) return;
  tf_value *inputs = inputs_from(w, 1, &count);
  const char *predicate = tf_as_tensor(w, tf_input(w, 0));
  uint32_t results = (uint32_t)then->signature->n_output_arg;
  if (otherwise->signature->n_output_arg != results) {
    tf_refuse(w, "its branches give %u and %zu values", results,
              otherwise->signature->n_output_arg);
    return;
  }
  const char *targets = tf_targets(w, results, 0, false);
  tf_line(w, "%s%sif %s {", targets, results ? " = " : "", predicate);
  write_branch(w, then, inputs, count);
  tf_line(w, "} else {");
  write_branch(w, otherwise, inputs, count);
  tf_line(w, "}");
}

// -- Loops ----------------------------------------------------------------------------------------

// Inputs that the body returns as they are: they are not carried, and what is known of them stays.
// One is carried all the same if no other is, for the text of a loop needs one; NULL: there is
// none.
static bool *find_passed(tf_writer *w, const tf_function *body, const tf_value *inputs,
                         size_t count) {
  bool *passed = leat_new_array(w->arena, bool, count + 1);
  const Tensorflow__OpDef *s = body->signature;
  size_t kept = count, others = 0;
  for (size_t i = 0; i < count && i < s->n_output_arg && i < s->n_input_arg; i++) {
    const char *from = value_of((const Tensorflow__StringEntry *const *)(void *)body->ret,
                                body->n_ret, s->output_arg[i]->name);
    passed[i] = inputs[i].variable || (from && strcmp(from, s->input_arg[i]->name) == 0);
    if (!inputs[i].variable) kept = i;
    others += !passed[i];
  }
  if (!others) passed[kept] = false;
  return others || kept < count ? passed : NULL;
}

// The condition, a function of all inputs but variables: it is called with what is carried.
static const char *write_condition(tf_writer *w, const tf_function *function,
                                   const tf_value *inputs, const tf_value *inside, size_t count) {
  leat_text params = {0}, arguments = {0};
  tf_values made;
  tf_aside aside = tf_step_aside(w);
  tf_value *given = leat_new_array(w->arena, tf_value, count + 1);
  for (size_t i = 0; i < count; i++) {
    given[i] = inputs[i];
    if (inputs[i].variable) continue;
    given[i].text = tf_name(w, function->signature->input_arg[i]->name);
    given[i].tensor = NULL;
    leat_text_add(&params, "%s%s: any", params.size ? ", " : "", given[i].text);
    leat_text_add(&arguments, "%s%s", arguments.size ? ", " : "", inside[i].text);
  }
  tf_inline(w, function, given, count, &made);
  const char *name =
      tf_written(w, tf_global(w, leat_arena_printf(w->arena, "%s%s/cond/%u", w->scope->prefix,
                                                   w->node->def->name, w->functions++)));
  tf_line(w, "return %s", made.count ? tf_as_tensor(w, made.items[0]) : "tensor(false)");
  leat_text lines = tf_step_back(w, aside);
  leat_text_add(&w->head, "\nfn %s(%s) {\n%s}\n", name, tf_take(w, &params), tf_take(w, &lines));
  return leat_arena_printf(w->arena, "%s(%s)", name, tf_take(w, &arguments));
}

void tf_write_while(tf_writer *w) {
  const tf_function *cond = function_of(w, "cond"), *body = function_of(w, "body");
  size_t count;
  tf_value *inputs = inputs_from(w, 0, &count);
  if (!cond || !body) return;
  if (cond->signature->n_input_arg != count || body->signature->n_input_arg != count ||
      body->signature->n_output_arg != count) {
    tf_refuse(w, "its functions are of other values than it has");
    return;
  }
  bool *passed = find_passed(w, body, inputs, count);
  if (!passed) {
    tf_refuse(w, "all that it carries is variables: give it a count of its turns, too");
    return;
  }
  tf_value *inside = leat_new_array(w->arena, tf_value, count + 1);
  leat_text carried = {0}, targets = {0};
  tf_values made;
  for (size_t i = 0; i < count; i++) {
    inside[i] = inputs[i];
    const char *name = leat_arena_printf(w->arena, i ? "%s:%zu" : "%s", w->node->def->name, i);
    tf_bind(w, (uint32_t)i, inputs[i]);
    if (passed[i]) continue;
    inside[i] = (tf_value){.text = tf_name(w, body->signature->input_arg[i]->name),
                           .data_type = inputs[i].data_type};
    leat_text_add(&carried, "%s%s = %s", carried.size ? ", " : "", inside[i].text,
                  tf_as_tensor(w, inputs[i]));
    name = tf_name(w, name);
    leat_text_add(&targets, "%s%s", targets.size ? ", " : "", name);
    tf_bind(w, (uint32_t)i, (tf_value){.text = name, .data_type = inputs[i].data_type});
  }
  const char *condition = write_condition(w, cond, inside, inside, count);
  const char *names = tf_take(w, &targets);
  tf_line(w, "%s = while (%s) %s {", names, tf_take(w, &carried), condition);
  w->indent += 2;
  tf_inline(w, body, inside, count, &made);
  write_last(w, "next", &made, passed);
  w->indent -= 2;
  tf_line(w, "}");
}
