// prune: what of a session's graph a step keeps, in which order, and what it refuses.
#include "tests/unit/passes_fixture.h"

TEST(prune_keeps_what_the_entry_needs) {
  fixture f;
  set_up(&f);
  leat_state *w = variable(&f, "w", type_of(LEAT_f32, 1, 4, 0));
  variable(&f, "unused", type_of(LEAT_f32, 1, 4, 0));
  leat_entry *entry = new_entry(&f, "step");
  leat_value x = param(&f, "x", type_of(LEAT_f32, 1, 4, 0));
  leat_value old = read_var(&f, "step/read", w);
  leat_value y = OP2(&f, "step/y", add, x, old);
  OP1(&f, "step/idle", neg, y);
  leat_node_add_control(f.session, assign(&f, "step/assign", LEAT_OP_assign, w, y), old.node);
  result(&f, "y", y);
  request_entry(&f, entry);
  uint32_t before = f.session->nodes.count;
  CHECK_EQ_INT(run(&f, "prune"), LEAT_OK);
  CHECK_EQ_INT(f.session->nodes.count, before);
  CHECK_EQ_STR(print(&f, f.context.graph),
               "graph test\n"
               "$w/init/const: f32[] = 0.0\n"
               "$w/init/broadcast: f32[4] = broadcast($w/init/const, shape=[4])\n"
               "var $w: f32[4] = $w/init/broadcast on \"/job:ps/task:0/device:cpu:0\"\n"
               "entry step(x: f32[4]) {\n"
               "  $step/read: f32[4] = read(state=$w)\n"
               "  $step/y: f32[4] = add($step/x, $step/read)\n"
               "  $step/assign = assign($step/y, state=$w) after [$step/read]\n"
               "  $fetch/y = fetch($step/y, name=\"y\", index=0)\n"
               "}\n");
  tear_down(&f);
}

// w := 1 ; a = w ; print(a) ; w := 2 ; b = w
static void build_history(fixture *f, leat_value *a, leat_value *b) {
  leat_state *w = variable(f, "w", type_of(LEAT_f32, 0, 0, 0));
  new_entry(f, "e");
  leat_node *first = assign(f, "e/first", LEAT_OP_assign, w, scalar(f, "e/one", LEAT_f32, 1));
  *a = read_var(f, "e/a", w);
  leat_node_add_control(f->session, a->node, first);
  leat_attr message = {.string = leat_intern(f->strings, "a")};
  op(f, "e/print", LEAT_OP_print, *a, (leat_value){0}, &message);
  leat_node *second = assign(f, "e/second", LEAT_OP_assign, w, scalar(f, "e/two", LEAT_f32, 2));
  leat_node_add_control(f->session, second, a->node);
  leat_node_add_control(f->session, second, first);
  *b = read_var(f, "e/b", w);
  leat_node_add_control(f->session, b->node, second);
}

TEST(prune_keeps_the_history_of_a_read) {
  fixture f;
  leat_value a, b;
  set_up(&f);
  build_history(&f, &a, &b);
  leat_vec_push(f.arena, &f.request.fetches, (leat_wanted){.name = "b", .value = b});
  CHECK_EQ_INT(run(&f, "prune"), LEAT_OK);
  const char *text = print(&f, f.context.graph);
  CHECK_HAS(text, "$e/second = assign($e/two, state=$w) after [$e/first]");
  CHECK_HAS(text, "$e/b: f32[] = read(state=$w) after [$e/second]");
  CHECK_HAS_NOT(text, "print");
  CHECK_HAS_NOT(text, "$e/a");
  tear_down(&f);
}

TEST(prune_runs_a_write_without_history) {
  fixture f;
  leat_value a, b;
  set_up(&f);
  build_history(&f, &a, &b);
  leat_vec_push(f.arena, &f.request.runs, leat_graph_find_node(f.session, "e/second"));
  CHECK_EQ_INT(run(&f, "prune"), LEAT_OK);
  const char *text = print(&f, f.context.graph);
  CHECK_HAS(text, "$e/second = assign($e/two, state=$w)\n");
  CHECK_HAS_NOT(text, "$e/first");
  tear_down(&f);
}

TEST(prune_orders_entries_as_given) {
  fixture f;
  set_up(&f);
  leat_state *w = variable(&f, "w", type_of(LEAT_f32, 0, 0, 0));
  leat_entry *first = new_entry(&f, "first");
  result(&f, "y", read_var(&f, "first/read", w));
  leat_entry *second = new_entry(&f, "second");
  leat_value x = param(&f, "x", type_of(LEAT_f32, 0, 0, 0));
  assign(&f, "second/assign", LEAT_OP_assign_add, w, x);
  result(&f, "y", x);
  request_entry(&f, second);
  request_entry(&f, first);
  leat_vec_push(f.arena, &f.request.fetches, (leat_wanted){.name = "w"});
  CHECK_EQ_INT(run(&f, "prune"), LEAT_OK);
  const char *text = print(&f, f.context.graph);
  CHECK_HAS(text, "$second/assign = assign_add($second/x, state=$w)\n");
  CHECK_HAS(text, "$first/read: f32[] = read(state=$w) after [$second/assign]");
  CHECK_HAS(text, "fetch($second/x, name=\"second/y\", index=0)");
  CHECK_HAS(text, "fetch($first/read, name=\"first/y\", index=1)");
  CHECK_HAS(text, "$fetch/w/read: f32[] = read(state=$w) after [$second/assign]");
  tear_down(&f);
}

TEST(prune_cuts_at_feeds) {
  fixture f;
  set_up(&f);
  new_entry(&f, "e");
  leat_value x = param(&f, "x", type_of(LEAT_f32, 0, 0, 0));
  leat_value h = OP1(&f, "e/h", exp, x), y = OP1(&f, "e/y", neg, h);
  leat_vec_push(f.arena, &f.request.fetches, (leat_wanted){.name = "y", .value = y});
  leat_vec_push(f.arena, &f.request.feeds, (leat_result){"e/h", h});
  CHECK_EQ_INT(run(&f, "prune"), LEAT_OK);
  CHECK_EQ_STR(print(&f, f.context.graph),
               "graph test\n"
               "entry e() {\n"
               "  $e/h: f32[] = feed(name=\"e/h\", index=0, type=f32[], donated=false)\n"
               "  $e/y: f32[] = neg($e/h)\n"
               "  $fetch/y = fetch($e/y, name=\"y\", index=0)\n"
               "}\n");
  tear_down(&f);
}

TEST(prune_wants_parameters_fed) {
  fixture f;
  set_up(&f);
  new_entry(&f, "e");
  leat_value y = OP1(&f, "e/y", neg, param(&f, "x", type_of(LEAT_f32, 0, 0, 0)));
  leat_vec_push(f.arena, &f.request.fetches, (leat_wanted){.name = "y", .value = y});
  CHECK_EQ_INT(run(&f, "prune"), LEAT_INVALID);
  CHECK_HAS(messages(&f), "`e/x` must be fed");
  tear_down(&f);
}

TEST(prune_refuses_feeds_of_initial_values_and_entries_twice) {
  fixture f;
  set_up(&f);
  leat_state *w = variable(&f, "w", type_of(LEAT_f32, 1, 4, 0));
  leat_entry *entry = new_entry(&f, "e");
  result(&f, "y", read_var(&f, "e/read", w));
  request_entry(&f, entry);
  leat_vec_push(f.arena, &f.request.feeds, (leat_result){"w/init/const", w->init.node->inputs[0]});
  CHECK_EQ_INT(run(&f, "prune"), LEAT_INVALID);
  CHECK_HAS(messages(&f), "`w/init/const` cannot be fed: the initial value of `w`");
  f.request.feeds.count = 0;
  request_entry(&f, entry);
  CHECK_EQ_INT(run(&f, "prune"), LEAT_INVALID);
  CHECK_HAS(messages(&f), "executes the entry `e` twice");
  tear_down(&f);
}

CHECK_MAIN("prune")
