// What a loop of version 1 pushes to a stack in each turn becomes a row of a tensor that it
// carries; the loop of its gradient, which runs backwards, reads the rows, the last one first. The
// row is the number of the turn, counted through all turns of the loops around. How many rows there
// are says the outermost loop, which is written twice: the first time it computes only what decides
// how often the loops run.
#include "frontend/importer/graphdef/writer.h"

#include <string.h>

enum { DEEPEST_LOOP = 50 };

const char *tf_frame_name(tf_writer *w, const tf_frame *frame) {
  const char *name = leat_arena_printf(w->arena, "%s%s", w->scope->prefix, frame->name);
  return tf_quote(w, name, strlen(name));
}

// -- What a frame carries -------------------------------------------------------------------------

// In a frame and those around it: the merge of a value, what it is behind the last turn and in one.
typedef struct carried {
  const char *merge[DEEPEST_LOOP], *last[DEEPEST_LOOP], *inside[DEEPEST_LOOP];
} carried;

static const char *name_of(tf_writer *w, const char *name, const char *end) {
  return tf_name(w, leat_arena_printf(w->arena, "%s/%s", name, end));
}

// Carries `first` into the frame, through those around it. What it is there; NULL: it is refused.
static const char *carry(tf_writer *w, const tf_frame *frame, const char *name, const char *first,
                         carried *out) {
  const tf_node *cond = frame->cond;
  const tf_values *values = cond ? &w->scope->values[cond - w->scope->block->nodes] : NULL;
  if (frame->depth > DEEPEST_LOOP || !values || !values->count) {
    tf_refuse(w, "its loop \"%s\" has no LoopCond, or is more than %d loops deep", frame->name,
              DEEPEST_LOOP);
    return NULL;
  }
  uint32_t at = frame->depth - 1;
  if (frame->outer) first = carry(w, frame->outer, name, first, out);
  if (!first) return NULL;
  out->merge[at] = name_of(w, name, "merge");
  out->last[at] = name_of(w, name, "last");
  out->inside[at] = name_of(w, name, "inside");
  tf_line(w, "%s, _ = merge(enter(%s, frame=%s))", out->merge[at], first, tf_frame_name(w, frame));
  tf_line(w, "%s, %s = switch(%s, %s)", out->last[at], out->inside[at], out->merge[at],
          values->items[0].text);
  return out->inside[at];
}

// Closes the circles: `next` is the frame's in its next turn. What comes out of the outermost one.
static const char *carry_on(tf_writer *w, const tf_frame *frame, const char *name, const char *next,
                            const carried *levels) {
  for (uint32_t at = frame->depth; at-- > 0;) {
    const char *out = name_of(w, name, "out");
    tf_line(w, "next_iteration(%s, %s)", next, levels->merge[at]);
    tf_line(w, "%s = leave(%s)", out, levels->last[at]);
    if (!at) return out;
    next = name_of(w, name, "next"); // where a branch has not run the loop: as it was
    tf_line(w, "%s, _ = merge(%s, %s)", next, out, levels->inside[at - 1]);
  }
  return next;
}

// -- Turns ----------------------------------------------------------------------------------------

// The turns of the frame, counted down from those of `other`; NULL: up from 0.
static const tf_turns *count_turns(tf_writer *w, const tf_frame *frame, const tf_turns *other) {
  tf_scope *scope = w->scope;
  const tf_frame *of = other ? other->of : frame;
  carried levels;
  if (!scope->turns)
    scope->turns = leat_new_array(w->arena, tf_turns, (size_t)scope->block->frames.count + 1);
  tf_turns *turns = &scope->turns[frame->number];
  if (turns->of == of) return turns;
  const char *name = leat_arena_printf(w->arena, "%s/turn", frame->name);
  const char *inside =
      turns->of ? NULL : carry(w, frame, name, other ? other->behind : "0", &levels);
  if (turns->of) tf_refuse(w, "a loop takes from stacks of one other, as tf.gradients makes it");
  if (!inside) return NULL;
  const char *next = name_of(w, name, "next");
  tf_line(w, "%s = %s %c 1", next, inside, other ? '-' : '+');
  *turns = (tf_turns){of, other ? next : inside, carry_on(w, frame, name, next, &levels)};
  return turns;
}

// What would be something else ahead of the loop.
static void check_deciding(tf_writer *w, const tf_node *node) {
  if (node->changes)
    tf_refuse(w,
              "how often its loop runs depends on what `%s` (%s) changes: decide it by what the "
              "loop carries",
              node->def->name, node->def->op);
  else if (tf_attribute(node, "seed"))
    tf_refuse(w,
              "how often its loop runs depends on the random numbers of `%s` (%s), which are "
              "others each time: draw them before the loop",
              node->def->name, node->def->op);
}

// What decides how often the loops run that leave something on stacks, in this one: nodes of them,
// and what is not written yet. What has an effect is left to the loop itself.
static bool *find_deciding(tf_writer *w, tf_scope *ahead, const tf_frame *loop) {
  const tf_block *block = ahead->block;
  bool *needed = leat_new_array(w->arena, bool, (size_t)block->count + block->argument_count + 1);
  for (uint32_t i = 0; i < block->frames.count; i++) {
    const tf_frame *frame = block->frames.items[i];
    if (frame->kept && frame->cond && frame->outermost == loop)
      tf_mark(block, (uint32_t)(frame->cond - block->nodes), needed);
  }
  for (uint32_t i = 0; i < block->count; i++) {
    const tf_node *node = &block->nodes[i];
    bool inside = node->frame && node->frame->outermost == loop;
    if (inside && needed[i]) check_deciding(w, node);
    if (inside) ahead->values[i] = (tf_values){0};
    bool foreign = node->frame && !inside; // it is written already
    needed[i] = needed[i] && !ahead->values[i].count && !node->effect && !foreign;
  }
  return needed;
}

// The loop, outermost, written as far as it counts.
static tf_scope *count_ahead(tf_writer *w, const tf_frame *loop) {
  tf_scope *scope = w->scope, *ahead;
  const tf_block *block = scope->block;
  if (!scope->ahead)
    scope->ahead = leat_new_array(w->arena, tf_scope *, (size_t)block->frames.count + 1);
  if (scope->ahead[loop->number]) return scope->ahead[loop->number];
  ahead = leat_arena_memdup(w->arena, scope, sizeof *scope);
  ahead->prefix = leat_arena_printf(w->arena, "%sturns/", scope->prefix);
  ahead->values = leat_arena_memdup(w->arena, scope->values,
                                    (block->count + block->argument_count + 1) * sizeof(tf_values));
  ahead->turns = NULL;
  scope->ahead[loop->number] = ahead;
  const bool *needed = find_deciding(w, ahead, loop);
  w->scope = ahead;
  tf_write_nodes(w, needed);
  w->scope = scope;
  return ahead;
}

// -- Stacks ---------------------------------------------------------------------------------------

static const char *const wants_gradient =
    "a loop pushes tensors to a stack, and the loop of its gradient pops them: let tf.gradients of "
    "tf.while_loop make both";

// Its handle says nothing; where it is popped, it is the tensor of all that was pushed.
void tf_write_stack(tf_writer *w) {
  tf_bind(w, 0, (tf_value){.text = "0", .variable = true, .now = leat_new(w->arena, tf_value)});
}

// The rows of all turns, behind the loop; NULL: they are refused.
static const char *write_rows(tf_writer *w, const tf_frame *frame, const char *name,
                              const char *value) {
  tf_scope *scope = w->scope;
  carried levels;
  const tf_turns *turns = count_turns(w, frame, NULL);
  w->scope = count_ahead(w, frame->outermost);
  const tf_turns *ahead = turns ? count_turns(w, frame, NULL) : NULL;
  w->scope = scope;
  if (!ahead) return NULL;
  const char *first = tf_name(w, name), *count = ahead->behind;
  if (frame->outermost->conditional) {
    count = name_of(w, name, "turns");
    tf_line(w, "%s, _ = merge(%s, 0)", count, ahead->behind);
  }
  tf_line(w, "%s = tf_stack(%s, %s)", first, value, count);
  const char *inside = carry(w, frame, name, first, &levels);
  const char *pushed = name_of(w, name, "pushed"), *next = name_of(w, name, "next");
  tf_line(w, "%s = tf_array_write(%s, %s, %s)", pushed, turns->inside, value, inside);
  tf_line(w, "%s, _ = merge(%s, %s)", next, pushed, inside); // where a branch pushes: or as it was
  return carry_on(w, frame, name, next, &levels);
}

// What is fixed is the same in each turn.
void tf_write_push(tf_writer *w) {
  const tf_block *block = w->scope->block;
  const tf_node *stack = tf_made_by(block, w->node, "StackV2");
  const tf_frame *frame = w->node->frame;
  tf_value value = tf_input(w, 1);
  if (!stack || stack->filled_by != w->node - block->nodes + 1 || !frame || value.variable) {
    tf_refuse(w, "%s", wants_gradient);
    return;
  }
  tf_value rows = value;
  tf_bind(w, 0, value);
  if (!value.fixed) {
    rows = (tf_value){.data_type = value.data_type};
    rows.text = write_rows(w, frame, stack->def->name, value.text);
  }
  rows.now = w->scope->values[stack - block->nodes].items->now;
  *rows.now = rows;
}

void tf_write_pop(tf_writer *w) {
  const tf_block *block = w->scope->block;
  const tf_node *stack = tf_made_by(block, w->node, "StackV2");
  const tf_frame *pushed =
      stack && stack->filled_by ? block->nodes[stack->filled_by - 1].frame : NULL;
  tf_value rows = tf_input(w, 0);
  if (!pushed || !w->node->frame || pushed == w->node->frame || rows.variable) {
    tf_refuse(w, "%s", wants_gradient);
    return;
  }
  if (rows.fixed) {
    rows.now = NULL;
    rows.tensor = NULL;
    tf_bind(w, 0, rows);
    return;
  }
  const tf_turns *turns = count_turns(w, pushed, NULL);
  if (turns) turns = count_turns(w, w->node->frame, turns);
  if (turns)
    tf_line(w, "%s = tf_array_read(%s, %s)", tf_targets(w, 1, rows.data_type), turns->inside,
            rows.text);
}
