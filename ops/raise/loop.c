// A frame becomes a `while_loop`. What its merges give is carried. What is alive whatever
// `loop_cond` says is computed in the condition, as far as that needs it, and again in the body and
// behind the loop, as far as these do; what is alive where the frame has another iteration is the
// body's, and what is where it has none stands behind the loop.
//
// What has an effect is not computed again: where what is done before `loop_cond` has one, and its
// values are needed behind that, all of the condition is done in front of the loop, and then at the
// end of the body; what it says, and those values, are carried.
#include "ops/raise/web.h"

#include <string.h>

typedef enum part { CONDITION, BODY, BEHIND } part;

typedef struct selection {
  leat_web *web;
  const leat_web_frame *frame;
  uint32_t number; // that what the items give is marked with
  bool *needed;    // by item
  bool *late;      // by item: it depends on what `loop_cond` says
  uint32_t user;   // item whose uses are looked at
} selection;

typedef leat_vec(const leat_web_item *) item_list;

static bool has_item(const item_list *items, const leat_web_item *item) {
  for (uint32_t i = 0; i < items->count; i++)
    if (items->items[i] == item) return true;
  return false;
}

// -- What belongs where ---------------------------------------------------------------------------

static part part_of(leat_web *web, const leat_web_frame *frame, leat_truth live) {
  if (leat_truth_implies(&web->truths, live, frame->again)) return BODY;
  bool ends = leat_truth_and(&web->truths, live, frame->again) == LEAT_NEVER;
  return ends ? BEHIND : CONDITION;
}

static leat_truth context_of(leat_web *web, const leat_web_frame *frame, part part) {
  return part == CONDITION ? LEAT_ALWAYS
         : part == BODY    ? frame->again
                           : leat_truth_not(&web->truths, frame->again);
}

static bool depends_on(leat_web *web, leat_truth live, leat_truth decided) {
  leat_truth_support of = leat_truth_support_of(&web->truths, live);
  leat_truth_support by = leat_truth_support_of(&web->truths, decided);
  for (uint32_t i = 0; i < of.count; i++)
    for (uint32_t k = 0; k < by.count; k++)
      if (of.items[i] == by.items[k]) return true;
  return false;
}

static void see_late(void *context, leat_web_ref ref) {
  selection *s = context;
  ref = leat_web_through(ref);
  if (ref.of->plan == s->number) s->late[s->user] |= s->late[ref.of->item];
}

static void find_late(selection *s) {
  const leat_web_items *items = &s->frame->items;
  s->late = leat_new_array(s->web->scratch, bool, (size_t)items->count + 1);
  for (uint32_t i = 0; i < items->count; i++) {
    const leat_web_item *item = &items->items[i];
    const leat_web_node *n = item->node;
    s->user = i;
    s->late[i] = depends_on(s->web, item->live, s->frame->again);
    for (uint32_t k = 0; k < item->choice_count; k++)
      s->late[i] |= depends_on(s->web, leat_web_live(item->choices[k].value), s->frame->again);
    leat_web_uses(item, see_late, s);
    for (uint32_t k = 0; n && k < n->control_count; k++)
      see_late(s, (leat_web_ref){n->controls[k], 0});
  }
}

static void need(void *context, leat_web_ref ref) {
  selection *s = context;
  ref = leat_web_through(ref);
  if (ref.of->plan == s->number) s->needed[ref.of->item] = true;
}

static void need_predicates(selection *s, leat_truth live) {
  leat_truth_support support = leat_truth_support_of(&s->web->truths, live);
  for (uint32_t i = 0; i < support.count; i++) {
    leat_truth holds = leat_truth_variable(&s->web->truths, support.items[i]);
    if (!depends_on(s->web, holds, s->frame->again))
      need(s, s->web->predicates.items[support.items[i]].value);
  }
}

static void need_inputs(selection *s, const leat_web_item *item) {
  leat_web_uses(item, need, s);
  need_predicates(s, item->live);
  for (uint32_t i = 0; i < item->choice_count; i++)
    need_predicates(s, leat_web_live(item->choices[i].value));
}

// What is alive whatever `loop_cond` says and depends on that is done when it is known: in the body
// or behind the loop.
static bool is_own(const selection *s, uint32_t i, part part) {
  enum part own = part_of(s->web, s->frame, s->frame->items.items[i].live);
  return own == CONDITION && s->late[i] ? part != CONDITION : own == part;
}

// The items of the frame that the part needs for what is wanted, and its effects. What other parts
// have done, with an effect, goes to `done`.
static leat_web_items select(leat_web *web, const leat_web_frame *frame, part part,
                             const leat_web_refs *wanted, item_list *done) {
  uint32_t count = frame->items.count;
  leat_truth context = context_of(web, frame, part);
  selection s = {.web = web, .frame = frame, .number = ++web->plans};
  leat_web_items selected = {0};
  s.needed = leat_new_array(web->scratch, bool, (size_t)count + 1);
  leat_web_mark(&frame->items, s.number);
  find_late(&s);
  for (uint32_t i = 0; i < wanted->count; i++) need(&s, wanted->items[i]);
  for (uint32_t i = count; i-- > 0;) {
    const leat_web_item *item = &frame->items.items[i];
    bool own = is_own(&s, i, part), effect = leat_web_has_effect(item);
    s.needed[i] = s.needed[i] || (own && effect);
    if (leat_truth_and(&web->truths, item->live, context) == LEAT_NEVER) s.needed[i] = false;
    if (s.needed[i] && effect && !own) {
      if (!has_item(done, item)) leat_vec_push(web->scratch, done, item);
      s.needed[i] = false;
    }
    if (s.needed[i]) need_inputs(&s, item);
  }
  for (uint32_t i = 0; i < count; i++)
    if (s.needed[i]) leat_vec_push(web->scratch, &selected, frame->items.items[i]);
  return selected;
}

static bool place_part(leat_web *web, const leat_web_frame *frame, part part,
                       const leat_web_refs *wanted) {
  item_list done = {0};
  leat_web_items items = select(web, frame, part, wanted, &done);
  return leat_web_place(web, context_of(web, frame, part), &items, wanted);
}

static leat_web_refs next_values(leat_web *web, const leat_web_frame *frame) {
  leat_web_refs next = {0};
  for (uint32_t i = 0; i < frame->carried.count; i++)
    leat_vec_push(web->scratch, &next, frame->carried.items[i]->next->inputs[0]);
  return next;
}

static leat_web_refs last_values(leat_web *web, const leat_web_frame *frame) {
  leat_web_refs last = {0};
  for (uint32_t i = 0; i < frame->leaves.count; i++)
    leat_vec_push(web->scratch, &last, frame->leaves.items[i]->inputs[0]);
  return last;
}

// `loop_cond`, and what the condition does, with an effect, that others need.
static leat_web_refs find_asked(leat_web *web, const leat_web_frame *frame) {
  item_list done = {0};
  leat_web_refs values = {0}, next = next_values(web, frame), last = last_values(web, frame);
  leat_vec_push(web->scratch, &values, ((leat_web_ref){frame->cond, 0}));
  select(web, frame, BODY, &next, &done);
  select(web, frame, BEHIND, &last, &done);
  for (uint32_t i = 0; i < done.count; i++) {
    const leat_web_item *item = done.items[i];
    for (uint32_t k = 0; item->loop && k < item->loop->leaves.count; k++)
      leat_vec_push(web->scratch, &values, ((leat_web_ref){item->loop->leaves.items[k], 0}));
    for (uint32_t k = 0; item->node && k < item->node->node->output_count; k++)
      leat_vec_push(web->scratch, &values, ((leat_web_ref){item->node, k}));
  }
  return values;
}

// -- The number of the iteration ------------------------------------------------------------------

static bool is_counted(const leat_web_frame *frame) {
  for (uint32_t i = 0; i < frame->carried.count; i++)
    if (frame->carried.items[i]->numbered) return true;
  for (uint32_t i = 0; i < frame->items.count; i++) {
    const leat_web_item *item = &frame->items.items[i];
    if (item->loop ? is_counted(item->loop) : item->node->node->info->flags & LEAT_FLAG_RANDOM)
      return true;
  }
  return false;
}

// Of a merge: 0 in the first iteration, 1 in the others.
static leat_value index_of(leat_builder *builder, const char *path, leat_value iteration) {
  leat_value pair[] = {iteration, leat_build_scalar_i64(builder, path, LEAT_i64, 0)};
  leat_value later = leat_build(builder, path, LEAT_OP_greater, pair, 2, NULL);
  leat_attr attr = {.i = LEAT_i32};
  return leat_build(builder, path, LEAT_OP_cast, &later, 1, &attr);
}

// -- The loop -------------------------------------------------------------------------------------

// The inputs: what the merges give, the number of the iteration if it is asked for, and, where the
// condition is done ahead, what it says and what else it has done.
typedef struct loop {
  leat_web *web;
  const leat_web_frame *frame;
  leat_region region;
  leat_builder builder;
  bool counted;
  leat_value iteration; // the one that is placed
  leat_web_refs asked;  // `loop_cond` first; the others are done ahead
} loop;

static bool is_ahead(const loop *l) {
  return l->asked.count > 1;
}

static const char *path_of(const loop *l, const char *name) {
  return leat_intern_path(l->web->graph->strings, l->region.path, name);
}

static void set_enters(const loop *l) {
  for (uint32_t i = 0; i < l->frame->enters.count; i++) {
    leat_web_node *enter = l->frame->enters.items[i];
    enter->now[0] = leat_web_now(enter->inputs[0]);
  }
}

// `placed` orders what runs after them.
static void set_merges(loop *l, const leat_value *values, leat_node *placed) {
  for (uint32_t i = 0; i < l->frame->carried.count; i++) {
    leat_web_node *merge = l->frame->carried.items[i];
    merge->now[0] = values[i];
    merge->placed = placed;
    if (merge->numbered) merge->now[1] = index_of(&l->builder, path_of(l, "index"), l->iteration);
  }
}

static void set_done(const loop *l, const leat_value *values) {
  for (uint32_t i = 1; i < l->asked.count; i++) {
    leat_web_ref ref = leat_web_through(l->asked.items[i]);
    ref.of->now[ref.port] = values[i];
  }
}

static uint32_t first_asked(const loop *l) {
  return l->frame->carried.count + (l->counted ? 1 : 0);
}

static bool place(loop *l, part part, const leat_web_refs *wanted, leat_value *out) {
  if (l->counted) leat_vec_push(l->web->scratch, &l->web->iterations, l->iteration);
  bool placed = place_part(l->web, l->frame, part, wanted);
  if (l->counted) l->web->iterations.count--;
  for (uint32_t i = 0; i < wanted->count && placed; i++) out[i] = leat_web_now(wanted->items[i]);
  return placed;
}

static leat_value *new_values(const loop *l) {
  return leat_new_array(l->web->scratch, leat_value,
                        (size_t)first_asked(l) + l->asked.count + l->frame->leaves.count);
}

static bool add_inputs(loop *l) {
  uint32_t count = l->frame->carried.count;
  leat_value *first = new_values(l);
  for (uint32_t i = 0; i < count; i++) {
    first[i] = leat_web_now(l->frame->carried.items[i]->inputs[0].of->inputs[0]);
    leat_region_add(&l->region, first[i]);
  }
  if (l->counted) {
    l->iteration = leat_build_scalar_i64(&l->builder, path_of(l, "const"), LEAT_i64, 0);
    leat_region_add(&l->region, l->iteration);
  }
  if (!is_ahead(l)) return true;
  set_enters(l);
  set_merges(l, first, NULL);
  if (!place(l, CONDITION, &l->asked, first)) return false;
  for (uint32_t i = 0; i < l->asked.count; i++) leat_region_add(&l->region, first[i]);
  return true;
}

static leat_value parameter(loop *l, const char *name, uint32_t i) {
  return leat_region_parameter(&l->region, name, i);
}

static void open_body(loop *l) {
  uint32_t count = l->frame->carried.count;
  leat_value *values = new_values(l);
  l->web->graph = l->builder.graph = leat_region_open(&l->region);
  set_enters(l);
  for (uint32_t i = 0; i < count; i++)
    values[i] = parameter(l, leat_path_last(l->frame->carried.items[i]->node->name), i);
  if (l->counted) l->iteration = parameter(l, "iteration", count);
  set_merges(l, values, NULL);
  for (uint32_t i = 1; i < l->asked.count; i++)
    values[i] = parameter(l, "done", first_asked(l) + i);
  set_done(l, values);
}

static void close_body(loop *l) {
  leat_region_close(&l->region);
  l->web->graph = l->builder.graph = l->region.builder.graph;
}

static bool place_condition(loop *l) {
  leat_value holds;
  open_body(l);
  if (is_ahead(l))
    holds = parameter(l, "again", first_asked(l));
  else if (!place(l, CONDITION, &l->asked, &holds))
    return false;
  close_body(l);
  leat_region_give(&l->region, 0, holds);
  return true;
}

static bool place_body(loop *l) {
  uint32_t count = first_asked(l);
  leat_web_refs wanted = next_values(l->web, l->frame);
  leat_value *next = new_values(l), counting[2];
  open_body(l);
  if (!place(l, BODY, &wanted, next)) return false;
  if (l->counted) {
    counting[0] = l->iteration;
    counting[1] = leat_build_scalar_i64(&l->builder, path_of(l, "const"), LEAT_i64, 1);
    next[count - 1] =
        leat_build(&l->builder, path_of(l, "iteration"), LEAT_OP_add, counting, 2, NULL);
    l->iteration = next[count - 1];
  }
  if (is_ahead(l)) {
    set_merges(l, next, NULL);
    if (!place(l, CONDITION, &l->asked, next + count)) return false;
    count += l->asked.count;
  }
  close_body(l);
  for (uint32_t i = 0; i < count; i++) {
    leat_region_give(&l->region, 1, next[i]);
    leat_region_carry(&l->region, i);
  }
  return true;
}

// What the merges give last is what the loop does.
static bool place_behind(loop *l, leat_node *node) {
  leat_web_refs wanted = last_values(l->web, l->frame);
  leat_value *values = new_values(l);
  for (uint32_t i = 0; i < node->output_count; i++) values[i] = (leat_value){node, i};
  l->iteration = values[l->frame->carried.count];
  set_merges(l, values, node);
  if (is_ahead(l)) set_done(l, values + first_asked(l));
  if (!place_part(l->web, l->frame, BEHIND, &wanted)) return false;
  for (uint32_t i = 0; i < l->frame->leaves.count; i++) {
    leat_web_node *leave = l->frame->leaves.items[i];
    leave->now[0] = leat_web_now(wanted.items[i]);
    leave->placed = leave->now[0].node;
  }
  return true;
}

bool leat_web_place_loop(leat_web *web, leat_web_frame *frame) {
  const leat_web_node *named =
      frame->leaves.count ? frame->leaves.items[0] : frame->enters.items[0];
  loop l = {.web = web, .frame = frame, .counted = is_counted(frame)};
  l.asked = find_asked(web, frame);
  l.builder = leat_web_builder(web, named);
  l.region = leat_region_begin(&l.builder, leat_graph_unique_name(web->graph, named->node->name));
  if (!add_inputs(&l) || !place_condition(&l) || !place_body(&l)) return false;
  leat_node *node = leat_region_end(&l.region, LEAT_OP_while_loop, NULL).node;
  return node && place_behind(&l, node);
}
