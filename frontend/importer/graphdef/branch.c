// Branches of version 2, which are functions: the language's own `if`. What a branch computes and
// its gradient takes is an optional result: a value on one side and none on the other, where zeros
// of its type stand for it.
#include "frontend/importer/graphdef/writer.h"

#include <string.h>

typedef struct branches {
  const tf_function **functions;
  size_t count;
  tf_value *inputs; // the same for all
  size_t input_count;
} branches;

// -- Optional values ------------------------------------------------------------------------------

void tf_write_optional(tf_writer *w) {
  if (w->node->input_count == 1)
    tf_bind(w, 0, tf_input(w, 0));
  else
    tf_refuse(w, "an optional of %u values is not supported: give it one", w->node->input_count);
}

void tf_write_none(tf_writer *w) {
  tf_bind(w, 0, (tf_value){.text = "0", .is_none = true});
}

void tf_write_optional_value(tf_writer *w) {
  tf_value value = tf_input(w, 0);
  if (value.is_none) tf_refuse(w, "what it takes is none, whatever is decided");
  tf_bind(w, 0, value);
}

// What comes into the optional that the function returns there; false: it gives none.
static bool find_inside(const tf_block *block, const char *name, tf_edge *out) {
  if (!tf_find_returned(block, name, out)) return false;
  for (uint32_t steps = 0; steps < block->count && out->node < block->count; steps++) {
    const tf_node *node = &block->nodes[out->node];
    bool found = tf_is(node, "OptionalFromValue");
    if (!node->input_count || !(found || tf_is(node, "Identity"))) return false;
    *out = node->inputs[0];
    if (found) return true;
  }
  return false;
}

// Zeros of the type that result i has in another branch, which computes it for nothing but that.
static const char *zeros_for_none(tf_writer *w, const branches *all, size_t i) {
  for (size_t k = 0; k < all->count; k++) {
    tf_edge edge;
    const tf_block *block = tf_block_of_called(w, all->functions[k]);
    if (!find_inside(block, all->functions[k]->signature->output_arg[i]->name, &edge)) continue;
    tf_value value = tf_inline_edge(w, all->functions[k], all->inputs, all->input_count, &edge);
    return leat_arena_printf(w->arena, "zeros_like(%s)", tf_as_tensor(w, value));
  }
  return "0"; // nobody takes it
}

// -- Branches -------------------------------------------------------------------------------------

static void write_branch(tf_writer *w, const branches *all, size_t number) {
  tf_values made;
  w->indent += 2;
  tf_inline(w, all->functions[number], all->inputs, all->input_count, &made);
  leat_text list = {0};
  for (uint32_t i = 0; i < made.count; i++) {
    const char *text =
        made.items[i].is_none ? zeros_for_none(w, all, i) : tf_as_tensor(w, made.items[i]);
    leat_text_add(&list, "%s%s", i ? ", " : "", text);
  }
  const char *given = leat_model_take_text(w->arena, &list);
  if (*given) tf_line(w, "yield %s", given);
  w->indent -= 2;
}

// Names for what a branch of a branch gives.
static const char *names_inside(tf_writer *w, uint32_t count) {
  leat_text list = {0};
  for (uint32_t i = 0; i < count; i++)
    leat_text_add(&list, "%s%s", i ? ", " : "",
                  tf_name(w, leat_arena_printf(w->arena, "%s/else", w->node->def->name)));
  return leat_model_take_text(w->arena, &list);
}

// All from `number` on: that one where the index is its number, else those behind it.
static void write_case(tf_writer *w, const branches *all, size_t number, const char *index,
                       const char *targets) {
  uint32_t count = (uint32_t)all->functions[0]->signature->n_output_arg;
  tf_line(w, "%s%sif %s == %zu {", targets, count ? " = " : "", index, number);
  write_branch(w, all, number);
  tf_line(w, "} else {");
  if (number + 2 < all->count) {
    w->indent += 2;
    const char *inside = names_inside(w, count);
    write_case(w, all, number + 1, index, inside);
    if (count) tf_line(w, "yield %s", inside);
    w->indent -= 2;
  } else {
    write_branch(w, all, number + 1);
  }
  tf_line(w, "}");
}

static bool give_the_same(tf_writer *w, const branches *all) {
  for (size_t i = 0; i < all->count; i++) {
    if (!all->functions[i]) return false;
    size_t first = all->functions[0]->signature->n_output_arg;
    size_t here = all->functions[i]->signature->n_output_arg;
    if (here == first) continue;
    tf_refuse(w, "its branches give %zu and %zu values", first, here);
    return false;
  }
  return true;
}

// A list is as long as the taken branch leaves it.
static const char *targets_of(tf_writer *w, const tf_function *function) {
  const Tensorflow__OpDef *s = function->signature;
  uint32_t results = (uint32_t)s->n_output_arg;
  leat_text list = {0};
  tf_targets(w, results, 0);
  const tf_value *made = w->scope->values[w->node - w->scope->block->nodes].items;
  for (uint32_t i = 0; i < results; i++) {
    bool is_list = s->output_arg[i]->type == TENSORFLOW__DATA_TYPE__DT_VARIANT;
    leat_text_add(&list, "%s%s%s", i ? ", " : "", made[i].text, is_list ? ": any" : "");
  }
  return leat_model_take_text(w->arena, &list);
}

// What is known decides while compiling, so that the other side need not be of the same type.
static const char *deciding(tf_writer *w) {
  return tf_as_numbers(w, tf_input(w, 0));
}

void tf_write_if(tf_writer *w) {
  const tf_function *sides[] = {tf_function_of(w, "then_branch"), tf_function_of(w, "else_branch")};
  branches all = {.functions = sides, .count = 2};
  if (!give_the_same(w, &all)) return;
  all.inputs = tf_inputs_from(w, 1, &all.input_count);
  const char *predicate = deciding(w);
  uint32_t results = (uint32_t)sides[0]->signature->n_output_arg;
  const char *targets = targets_of(w, sides[0]);
  tf_line(w, "%s%sif %s {", targets, results ? " = " : "", predicate);
  write_branch(w, &all, 0);
  tf_line(w, "} else {");
  write_branch(w, &all, 1);
  tf_line(w, "}");
}

// The last one is taken for any index that is none.
void tf_write_case(tf_writer *w) {
  enum { MOST = 100 };
  const tf_attr *a = tf_attribute(w->node, "branches");
  branches all = {0};
  if (a && a->value_case == TENSORFLOW__ATTR_VALUE__VALUE_LIST) all.count = a->list->n_func;
  if (!all.count || all.count > MOST) {
    tf_refuse(w, "it has %zu branches; 1 to %d are supported", all.count, MOST);
    return;
  }
  all.functions = leat_new_array(w->arena, const tf_function *, all.count);
  for (size_t i = 0; i < all.count; i++)
    all.functions[i] = tf_function_named(w, a->list->func[i]->name);
  if (!give_the_same(w, &all)) return;
  all.inputs = tf_inputs_from(w, 1, &all.input_count);
  if (all.count == 1) {
    tf_values made;
    tf_inline(w, all.functions[0], all.inputs, all.input_count, &made);
    for (uint32_t i = 0; i < made.count; i++) tf_bind(w, i, made.items[i]);
    return;
  }
  const char *index = deciding(w);
  write_case(w, &all, 0, index, targets_of(w, all.functions[0]));
}
