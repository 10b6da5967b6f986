// Loops of version 2, which are functions: the language's own `while`.
#include "frontend/importer/graphdef/writer.h"

#include <string.h>

// Inputs that the body returns as they are: they are not carried, and what is fixed stays so.
// One is carried all the same if no other is, for the text of a loop needs one; NULL: there is
// none.
static bool *find_passed(tf_writer *w, const tf_block *block, const tf_value *inputs,
                         size_t count) {
  bool *passed = leat_new_array(w->arena, bool, count + 1);
  const Tensorflow__OpDef *s = block->function->signature;
  size_t kept = count, others = 0;
  for (size_t i = 0; i < count && i < s->n_output_arg && i < s->n_input_arg; i++) {
    tf_edge from;
    bool found = tf_find_returned(block, s->output_arg[i]->name, &from);
    passed[i] = inputs[i].variable || (found && from.node == block->count + i);
    if (!inputs[i].variable) kept = i;
    others += !passed[i];
  }
  if (!others) passed[kept] = false;
  return others || kept < count ? passed : NULL;
}

// The condition, a function of all inputs but variables: it is called with what is carried.
static const char *write_condition(tf_writer *w, const tf_function *function,
                                   const tf_value *inside, size_t count) {
  leat_text params = {0}, arguments = {0};
  tf_values made;
  tf_aside aside = tf_step_aside(w);
  tf_value *given = leat_new_array(w->arena, tf_value, count + 1);
  for (size_t i = 0; i < count; i++) {
    given[i] = inside[i];
    if (inside[i].variable) continue;
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
  leat_text_add(&w->head, "\nfn %s(%s) {\n%s}\n", name, leat_model_take_text(w->arena, &params),
                leat_model_take_text(w->arena, &lines));
  return leat_arena_printf(w->arena, "%s(%s)", name, leat_model_take_text(w->arena, &arguments));
}

// What the loop does to what it carries.
typedef struct carried {
  tf_value inside; // as it is in a turn
  bool passed;     // it is not carried
  bool grows;      // a list to which is pushed
  bool counted;    // a list from which is popped: how many are left is carried beside it
} carried;

// What comes into the list in the first turn; the body is written ahead as far as that needs.
static tf_value first_item(tf_writer *w, const tf_function *body, const tf_value *inputs,
                           size_t count, const tf_edge *item, const carried *all) {
  tf_value *start = leat_arena_memdup(w->arena, inputs, count * sizeof *inputs);
  for (size_t i = 0; i < count; i++)
    if (inputs[i].fixed && !inputs[i].each && !all[i].passed)
      start[i] = (tf_value){.text = tf_as_tensor(w, inputs[i]), .data_type = inputs[i].data_type};
  return tf_inline_edge(w, body, start, count, item);
}

// A list has to have a type where a loop begins. What is fixed and pushed is the same in each turn.
static bool look_at_list(tf_writer *w, const tf_function *body, const tf_block *block,
                         tf_value *inputs, size_t count, uint32_t i, carried *all) {
  if (body->signature->input_arg[i]->type != TENSORFLOW__DATA_TYPE__DT_VARIANT) return true;
  tf_list_change change = tf_list_changes(block, i);
  int32_t type = inputs[i].data_type;
  bool integer = type == TENSORFLOW__DATA_TYPE__DT_INT32 || type == TENSORFLOW__DATA_TYPE__DT_INT64;
  all[i].grows = change.pushes || change.grows;
  all[i].counted = change.pops || inputs[i].left;
  all[i].passed = inputs[i].each;
  if (inputs[i].each || (!inputs[i].untyped && !(integer && change.pushes))) return true;
  if (!change.item) {
    tf_refuse(w, "the elements of the list `%s` have no shape: give TensorArray its element_shape",
              body->signature->input_arg[i]->name);
    return false;
  }
  tf_value item = first_item(w, body, inputs, count, change.item, all);
  all[i].passed = item.fixed && change.pushes;
  if (all[i].passed) {
    inputs[i] = item;
    inputs[i].each = true;
  } else {
    inputs[i] = tf_typed_list(w, inputs[i], tf_as_tensor(w, item));
  }
  return true;
}

static void add(leat_text *list, const char *words) {
  leat_text_add(list, "%s%s", list->size ? ", " : "", words);
}

// Names for input i inside and behind the loop; `head` is what it begins with.
static void carry(tf_writer *w, const char *name, tf_value first, uint32_t i, carried *c,
                  leat_text *head, leat_text *targets) {
  tf_value behind = {.data_type = first.data_type};
  c->inside = (tf_value){.text = tf_name(w, name), .data_type = first.data_type};
  behind.text = tf_name(w, leat_arena_printf(w->arena, i ? "%s:%u" : "%s", w->node->def->name, i));
  add(head, leat_arena_printf(w->arena, "%s%s = %s", c->inside.text, c->grows ? ": any" : "",
                              c->counted ? first.text : tf_as_tensor(w, first)));
  add(targets, behind.text);
  if (c->counted) {
    c->inside.left = tf_name(w, leat_arena_printf(w->arena, "%s/left", name));
    behind.left = tf_name(w, leat_arena_printf(w->arena, "%s/left:%u", w->node->def->name, i));
    add(head, leat_arena_printf(w->arena, "%s = %s", c->inside.left, tf_list_left(w, first)));
    add(targets, behind.left);
  }
  tf_bind(w, i, behind);
}

static void write_body(tf_writer *w, const tf_function *body, const tf_value *inside, size_t count,
                       const carried *all) {
  tf_values made;
  leat_text next = {0};
  w->indent += 2;
  tf_inline(w, body, inside, count, &made);
  for (uint32_t i = 0; i < made.count; i++) {
    if (all[i].passed) continue;
    add(&next, all[i].counted ? made.items[i].text : tf_as_tensor(w, made.items[i]));
    if (all[i].counted) add(&next, tf_list_left(w, made.items[i]));
  }
  tf_line(w, "next %s", leat_model_take_text(w->arena, &next));
  w->indent -= 2;
}

void tf_write_while(tf_writer *w) {
  const tf_function *cond = tf_function_of(w, "cond"), *body = tf_function_of(w, "body");
  size_t count;
  tf_value *inputs = tf_inputs_from(w, 0, &count);
  if (!cond || !body) return;
  if (cond->signature->n_input_arg != count || body->signature->n_input_arg != count ||
      body->signature->n_output_arg != count) {
    tf_refuse(w, "its functions are of other values than it has");
    return;
  }
  const tf_block *block = tf_block_of_called(w, body);
  bool *passed = find_passed(w, block, inputs, count);
  if (!passed) {
    tf_refuse(w, "all that it carries is variables: give it a count of its turns, too");
    return;
  }
  carried *all = leat_new_array(w->arena, carried, count + 1);
  tf_value *inside = leat_new_array(w->arena, tf_value, count + 1);
  leat_text head = {0}, targets = {0};
  for (uint32_t i = 0; i < count; i++) all[i].passed = passed[i];
  for (uint32_t i = 0; i < count; i++)
    if (!passed[i] && !look_at_list(w, body, block, inputs, count, i, all)) return;
  for (uint32_t i = 0; i < count; i++) {
    if (all[i].passed)
      tf_bind(w, i, inputs[i]);
    else
      carry(w, body->signature->input_arg[i]->name, inputs[i], i, &all[i], &head, &targets);
    inside[i] = all[i].passed ? inputs[i] : all[i].inside;
  }
  const char *condition = write_condition(w, cond, inside, count);
  const char *names = leat_model_take_text(w->arena, &targets);
  tf_line(w, "%s = while (%s) %s {", names, leat_model_take_text(w->arena, &head), condition);
  write_body(w, body, inside, count, all);
  tf_line(w, "}");
}
