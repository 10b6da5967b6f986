// place and partition: where nodes and state go, and what is sent between devices.
#include "tests/unit/passes_fixture.h"

// -- place ---------------------------------------------------------------------------------

static leat_status run_up_to(fixture *f, const char *last) {
  for (uint32_t i = 0; i < leat_pass_count; i++) {
    leat_status status = run(f, leat_passes[i].name);
    if (status || strcmp(leat_passes[i].name, last) == 0) return status;
  }
  return LEAT_NOT_FOUND;
}

static const char *device(fixture *f, const char *name) {
  leat_node *node = leat_graph_find_node(f->context.graph, name);
  leat_state *state = leat_graph_find_state(f->context.graph, name);
  return node ? node->device : state ? state->device : "nothing";
}

TEST(place_follows_constraints) {
  fixture f;
  set_up(&f);
  leat_type type = type_of(LEAT_f32, 1, 4, 0);
  leat_state *w = variable(&f, "w", type), *v = variable(&f, "v", type);
  leat_state *slot = variable(&f, "w/momentum/slot", type);
  slot->slot_of = w->name;
  variable(&f, "u", type)->device = leat_intern(f.strings, "/job:worker");
  new_entry(&f, "e");
  f.b.device = leat_intern(f.strings, "/job:worker/task:0");
  leat_value x = param(&f, "x", type);
  leat_value sum = OP2(&f, "e/sum", add, x, read_var(&f, "e/w", w));
  sum = OP2(&f, "e/sum1", add, sum, read_var(&f, "e/v", v));
  sum = OP2(&f, "e/sum2", add, sum, read_var(&f, "e/slot", slot));
  sum = OP2(&f, "e/sum3", add, sum, read_var(&f, "e/u", leat_graph_find_state(f.session, "u")));
  f.b.device = NULL;
  f.b.colocate = v->name;
  sum = OP1(&f, "e/with_v", exp, sum);
  f.b.colocate = sum.node->name;
  sum = OP1(&f, "e/with_that", neg, sum);
  result(&f, "y", sum);
  request_entry(&f, f.b.entry);
  CHECK_EQ_INT(run_up_to(&f, "place"), LEAT_OK);
  CHECK_EQ_STR(device(&f, "e/sum"), "/job:worker/task:0/device:cpu:0");
  CHECK_EQ_STR(device(&f, "w"), "/job:ps/task:0/device:cpu:0");
  CHECK_EQ_STR(device(&f, "e/w"), "/job:ps/task:0/device:cpu:0");
  CHECK_EQ_STR(device(&f, "w/init/const"), "/job:ps/task:0/device:cpu:0");
  CHECK_EQ_STR(device(&f, "v"), "/job:ps/task:1/device:cpu:0");
  CHECK_EQ_STR(device(&f, "w/momentum/slot"), "/job:ps/task:0/device:cpu:0");
  CHECK_EQ_STR(device(&f, "u"), "/job:worker/task:0/device:cpu:0");
  CHECK_EQ_STR(device(&f, "e/with_v"), "/job:ps/task:1/device:cpu:0");
  CHECK_EQ_STR(device(&f, "e/with_that"), "/job:ps/task:1/device:cpu:0");
  CHECK_EQ_STR(device(&f, "fetch/y"), "/job:worker/task:0/device:cpu:0");
  tear_down(&f);
}

TEST(place_puts_state_with_its_first_user) {
  fixture f;
  set_up(&f);
  f.devices[1].name = leat_intern(f.strings, "/job:worker/task:0/device:cpu:1");
  f.context.device_count = 2;
  leat_type type = type_of(LEAT_f32, 1, 4, 0);
  leat_state *w = variable(&f, "w", type);
  new_entry(&f, "e");
  leat_value old = read_var(&f, "e/read", w), x = param(&f, "x", type);
  f.b.device = f.devices[1].name;
  result(&f, "y", OP2(&f, "e/y", add, x, old));
  request_entry(&f, f.b.entry);
  CHECK_EQ_INT(run_up_to(&f, "place"), LEAT_OK);
  CHECK_EQ_STR(device(&f, "w"), f.devices[1].name);
  tear_down(&f);
}

TEST(place_refuses_what_cannot_be) {
  static const char *const constraints[][2] = {
      {"/job:gpu", "no device satisfies `/job:gpu`, which `e/y` asks for; there are: /job:worker"},
      {"nonsense", "`nonsense` is not a device name"},
      {"/job:ps/task:1",
       "`e/y` must be on /job:ps/task:1 and share the device of `e/x`, which must "
       "be on /job:worker/task:0/device:cpu:0"},
  };
  for (int i = 0; i < 3; i++) {
    fixture f;
    set_up(&f);
    new_entry(&f, "e");
    leat_value x = param(&f, "x", type_of(LEAT_f32, 0, 0, 0));
    f.b.device = leat_intern(f.strings, constraints[i][0]);
    f.b.colocate = x.node->name;
    result(&f, "y", OP1(&f, "e/y", exp, x));
    request_entry(&f, f.b.entry);
    CHECK_EQ_INT(run_up_to(&f, "place"), LEAT_INVALID);
    CHECK_HAS(messages(&f), constraints[i][1]);
    tear_down(&f);
  }
}

static bool no_exp(const leat_node *node, const char **out_why) {
  *out_why = "it cannot do exp";
  return node->op != LEAT_OP_exp;
}

TEST(place_asks_what_devices_can_run) {
  fixture f;
  set_up(&f);
  f.devices[0].feasible = f.devices[1].feasible = no_exp;
  new_entry(&f, "e");
  result(&f, "y", OP1(&f, "e/y", exp, param(&f, "x", type_of(LEAT_f32, 0, 0, 0))));
  request_entry(&f, f.b.entry);
  CHECK_EQ_INT(run_up_to(&f, "place"), LEAT_OK);
  CHECK_EQ_STR(device(&f, "e/y"), f.devices[2].name);
  f.devices[2].feasible = no_exp;
  CHECK_EQ_INT(run(&f, "place"), LEAT_INVALID);
  CHECK_HAS(messages(&f), "no device can run `e/y` (exp)");
  CHECK_HAS(messages(&f), "it cannot do exp");
  tear_down(&f);
}

TEST(place_minds_memory) {
  fixture f;
  set_up(&f);
  f.context.device_count = 1;
  f.devices[0].memory = 1000;
  new_entry(&f, "e");
  leat_value x = param(&f, "x", type_of(LEAT_f32, 1, 1, 0));
  leat_type wide = type_of(LEAT_f32, 1, 1000, 0);
  result(&f, "y", OP1(&f, "e/y", exp, leat_build_broadcast(&f.b, x, &wide)));
  request_entry(&f, f.b.entry);
  CHECK_EQ_INT(run_up_to(&f, "place"), LEAT_INVALID);
  CHECK_HAS(messages(&f), "no device that `e/y` may be on has room for its 4000 bytes");
  tear_down(&f);
}

TEST(place_and_partition_make_broadcasts_where_they_are_used) {
  fixture f;
  set_up(&f);
  f.context.device_count = 2;
  leat_type wide = type_of(LEAT_f32, 2, 128, 64);
  leat_state *b = variable(&f, "b", type_of(LEAT_f32, 1, 64, 0));
  new_entry(&f, "e");
  leat_value x = param(&f, "x", wide);
  leat_value spread = leat_build_broadcast(&f.b, read_var(&f, "e/b", b), &wide);
  f.b.device = leat_intern(f.strings, "/job:worker");
  result(&f, "y", OP2(&f, "e/y", add, x, spread));
  f.b.device = leat_intern(f.strings, "/job:ps");
  result(&f, "z", OP1(&f, "e/z", exp, spread));
  request_entry(&f, f.b.entry);
  CHECK_EQ_INT(run_up_to(&f, "partition"), LEAT_OK);
  const char *text = print(&f, f.context.parts.items[0]);
  CHECK_HAS(text, "$e/broadcast: f32[128, 64] = broadcast($e/b/recv, shape=[128, 64])");
  text = print(&f, f.context.parts.items[1]);
  CHECK_HAS(text, "$e/broadcast: f32[128, 64] = broadcast($e/b, shape=[128, 64])");
  tear_down(&f);
}

// -- partition -----------------------------------------------------------------------------

static int count_of(const char *text, const char *part) {
  int count = 0;
  for (; (text = strstr(text, part)); text++) count++;
  return count;
}

TEST(partition_sends_once_and_delays_recv) {
  fixture f;
  set_up(&f);
  f.context.device_count = 2;
  leat_type square = type_of(LEAT_f32, 2, 512, 512);
  leat_state *w = variable(&f, "w", square), *v = variable(&f, "v", square);
  new_entry(&f, "e");
  f.b.device = leat_intern(f.strings, "/job:worker");
  leat_value x = param(&f, "x", square);
  leat_value rw = read_var(&f, "e/w", w), rv = read_var(&f, "e/v", v);
  leat_value h = matmul(&f, "e/h0", x, rw);
  h = matmul(&f, "e/h1", h, rw);
  h = matmul(&f, "e/h2", h, rv);
  h = matmul(&f, "e/h3", h, rv);
  f.b.device = NULL;
  leat_node_add_control(f.session, assign(&f, "e/update", LEAT_OP_assign, v, h), rv.node);
  result(&f, "y", h);
  request_entry(&f, f.b.entry);
  CHECK_EQ_INT(run_up_to(&f, "partition"), LEAT_OK);
  CHECK_EQ_INT(f.context.parts.count, 2);
  const char *worker = print(&f, f.context.parts.items[0]);
  CHECK_EQ_INT(count_of(worker, " = recv("), 2);
  CHECK_EQ_INT(count_of(worker, " = send("), 1);
  CHECK_HAS(worker,
            "$e/v/recv: f32[512, 512] = recv(edge=1, from=\"/job:ps/task:0/device:cpu:0\", "
            "type=f32[512, 512], lag=0) on \"/job:worker/task:0/device:cpu:0\" after [$e/h0]");
  CHECK_HAS(worker, "graph test device=\"/job:worker/task:0/device:cpu:0\"");
  const char *ps = print(&f, f.context.parts.items[1]);
  CHECK_EQ_INT(count_of(ps, " = send("), 2);
  CHECK_HAS(ps, "$e/update = assign($e/h3/recv, state=$v) on");
  CHECK_HAS(ps, "var $w: f32[512, 512] = $w/init/broadcast");
  tear_down(&f);
}

TEST(partition_sends_control_edges_and_copies_constants) {
  fixture f;
  set_up(&f);
  new_entry(&f, "e");
  leat_value x = param(&f, "x", type_of(LEAT_f32, 0, 0, 0)), two = scalar(&f, "e/two", LEAT_f32, 2);
  leat_attr message = {.string = leat_intern(f.strings, "x")};
  leat_node *said[2];
  for (int i = 0; i < 2; i++)
    said[i] = op(&f, "e/say", LEAT_OP_print, two, (leat_value){0}, &message).node;
  f.b.device = leat_intern(f.strings, "/job:ps/task:1");
  leat_value y = OP2(&f, "e/y", mul, x, two);
  for (int i = 0; i < 2; i++) {
    said[i]->device = leat_intern(f.strings, "/job:ps/task:0");
    leat_node_add_control(f.session, y.node, said[i]);
  }
  result(&f, "y", y);
  request_entry(&f, f.b.entry);
  CHECK_EQ_INT(run_up_to(&f, "partition"), LEAT_OK);
  CHECK_EQ_INT(f.context.parts.count, 3);
  const char *text = print(&f, f.context.parts.items[1]);
  CHECK_EQ_INT(count_of(text, " = send($token"), 1);
  CHECK_HAS(text, "after [$e/say, $e/say_1]");
  text = print(&f, f.context.parts.items[2]);
  CHECK_HAS(text, "$e/two: f32[] = 2.0 on \"/job:ps/task:1/device:cpu:0\"");
  CHECK_HAS(text, "after [$e/say/recv]");
  tear_down(&f);
}

CHECK_MAIN("place")
