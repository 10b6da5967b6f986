// The passes over graphs that are built here (prune, place and partition have tests of their own):
// what each keeps, changes and refuses, and that all of them are linear.
#include "tests/unit/passes_fixture.h"

#include <stdlib.h>
#include <time.h>

// -- choose and infer ----------------------------------------------------------------------

TEST(choose_takes_large_plain_products_to_blis) {
  fixture f;
  set_up(&f);
  new_entry(&f, "e");
  leat_value x = param(&f, "x", type_of(LEAT_f32, 2, 1, 64));
  leat_value large = param(&f, "large", type_of(LEAT_f32, 2, 64, 64));
  leat_value small = param(&f, "small", type_of(LEAT_f32, 2, 64, 10));
  leat_value y = matmul(&f, "e/y", x, large), z = matmul(&f, "e/z", x, small);
  CHECK_EQ_INT(run(&f, "choose"), LEAT_OK);
  CHECK_EQ_STR(leat_node_attr(y.node, "family")->string, "");
  f.context.blis = true;
  CHECK_EQ_INT(run(&f, "choose"), LEAT_OK);
  CHECK_EQ_STR(leat_node_attr(y.node, "family")->string, "blis");
  CHECK_EQ_STR(leat_node_attr(z.node, "family")->string, "");
  f.context.strict = true;
  CHECK_EQ_INT(run(&f, "choose"), LEAT_OK);
  CHECK_EQ_STR(leat_node_attr(y.node, "family")->string, "");
  tear_down(&f);
}

TEST(infer_puts_dims_in) {
  fixture f;
  set_up(&f);
  new_entry(&f, "e");
  leat_dim b = leat_dim_named(f.session->dims, leat_intern(f.strings, "B"), 1, 100);
  leat_dim c = leat_dim_named(f.session->dims, leat_intern(f.strings, "C"), 1, 100);
  leat_type type = type_of(LEAT_f32, 2, 0, 0), row = type_of(LEAT_f32, 1, 0, 0);
  type.dims[0] = b;
  type.dims[1] = row.dims[0] = c;
  leat_value x = param(&f, "x", type), y = param(&f, "y", row);
  leat_value z = OP2(&f, "e/z", add, x, y);
  int64_t values[] = {7, 0};
  bool known[] = {true, false};
  f.context.dim_values = values;
  f.context.dim_known = known;
  f.context.dim_count = 2;
  CHECK_EQ_INT(run(&f, "infer"), LEAT_OK);
  CHECK(leat_dim_is(leat_value_type(z)->dims[0], 7));
  CHECK(leat_dim_equal(leat_value_type(z)->dims[1], c));
  CHECK_HAS(print(&f, f.session), "$e/broadcast: f32[7, C] = broadcast($e/y, shape=[7, C])");
  tear_down(&f);
}

// -- fold ----------------------------------------------------------------------------------

TEST(fold_evaluates_what_is_exact) {
  fixture f;
  set_up(&f);
  new_entry(&f, "e");
  leat_value x = param(&f, "x", type_of(LEAT_f32, 2, 64, 32));
  leat_value two = scalar(&f, "e/two", LEAT_f32, 2), three = scalar(&f, "e/three", LEAT_f32, 3);
  leat_value six = OP2(&f, "e/six", mul, two, three);
  result(&f, "y", OP2(&f, "e/y", mul, x, six));
  result(&f, "z", OP1(&f, "e/z", exp, six));
  leat_value wide = OP2(&f, "e/wide", add, leat_build_broadcast(&f.b, two, leat_value_type(x)),
                        leat_build_broadcast(&f.b, three, leat_value_type(x)));
  result(&f, "w", OP2(&f, "e/w", add, x, wide));
  request_entry(&f, f.b.entry);
  CHECK_EQ_INT(run(&f, "prune"), LEAT_OK);
  CHECK_EQ_INT(run(&f, "fold"), LEAT_OK);
  CHECK_EQ_STR(print(&f, f.context.graph),
               "graph test\n"
               "entry e(x: f32[64, 32]) {\n"
               "  $e/six: f32[] = 6.0\n"
               "  $e/broadcast: f32[64, 32] = broadcast($e/six, shape=[64, 32])\n"
               "  $e/y: f32[64, 32] = mul($e/x, $e/broadcast)\n"
               "  $e/z: f32[] = exp($e/six)\n"
               "  $e/wide/value: f32[] = 5.0\n"
               "  $e/wide: f32[64, 32] = broadcast($e/wide/value, shape=[64, 32])\n"
               "  $e/w: f32[64, 32] = add($e/x, $e/wide)\n"
               "  $fetch/y = fetch($e/y, name=\"y\", index=0)\n"
               "  $fetch/z = fetch($e/z, name=\"z\", index=1)\n"
               "  $fetch/w = fetch($e/w, name=\"w\", index=2)\n"
               "}\n");
  tear_down(&f);
}

TEST(fold_leaves_failures_to_the_run) {
  fixture f;
  set_up(&f);
  new_entry(&f, "e");
  leat_value one = scalar(&f, "e/one", LEAT_i32, 1), nil = scalar(&f, "e/nil", LEAT_i32, 0);
  result(&f, "y", OP2(&f, "e/y", rem, one, nil));
  request_entry(&f, f.b.entry);
  CHECK_EQ_INT(run(&f, "prune"), LEAT_OK);
  CHECK_EQ_INT(run(&f, "fold"), LEAT_OK);
  CHECK_EQ_INT(f.error.status, LEAT_OK);
  CHECK_HAS(print(&f, f.context.graph), "$e/y: i32[] = ");
  tear_down(&f);
}

// -- simplify ------------------------------------------------------------------------------

TEST(simplify_removes_what_does_nothing) {
  fixture f;
  set_up(&f);
  new_entry(&f, "e");
  leat_value x = param(&f, "x", type_of(LEAT_f32, 0, 0, 0));
  leat_value one = scalar(&f, "e/one", LEAT_f32, 1), zero = scalar(&f, "e/zero", LEAT_f32, 0);
  leat_value minus_zero = scalar(&f, "e/minus_zero", LEAT_f32, -0.0);
  leat_value a = OP2(&f, "e/a", mul, OP1(&f, "e/same", identity, x), one);
  leat_value b = OP2(&f, "e/b", sub, OP2(&f, "e/b0", add, minus_zero, a), zero);
  leat_value c = OP2(&f, "e/c", add, b, zero); // -0 + 0 is 0: stays
  leat_value d = OP2(&f, "e/d", mul, c, zero); // NaN * 0 is NaN: stays
  result(&f, "y", OP1(&f, "e/n2", neg, OP1(&f, "e/n1", neg, d)));
  request_entry(&f, f.b.entry);
  CHECK_EQ_INT(run(&f, "prune"), LEAT_OK);
  CHECK_EQ_INT(run(&f, "simplify"), LEAT_OK);
  CHECK_EQ_STR(print(&f, f.context.graph), "graph test\n"
                                           "entry e(x: f32[]) {\n"
                                           "  $e/zero: f32[] = 0.0\n"
                                           "  $e/c: f32[] = add($e/x, $e/zero)\n"
                                           "  $e/d: f32[] = mul($e/c, $e/zero)\n"
                                           "  $fetch/y = fetch($e/d, name=\"y\", index=0)\n"
                                           "}\n");
  tear_down(&f);
}

static leat_value transpose(fixture *f, const char *name, leat_value x) {
  static const int64_t swap[] = {1, 0};
  leat_attr perm = {.count = 2, .ints = swap};
  return op(f, name, LEAT_OP_transpose, x, (leat_value){0}, &perm);
}

TEST(simplify_moves_transposes) {
  fixture f;
  set_up(&f);
  new_entry(&f, "e");
  leat_value x = param(&f, "x", type_of(LEAT_f32, 2, 3, 4));
  leat_value y = param(&f, "y", type_of(LEAT_f32, 2, 3, 5));
  leat_value twice = transpose(&f, "e/t1", transpose(&f, "e/t0", y));
  result(&f, "p", matmul(&f, "e/p", transpose(&f, "e/t2", x), twice));
  request_entry(&f, f.b.entry);
  CHECK_EQ_INT(run(&f, "prune"), LEAT_OK);
  CHECK_EQ_INT(run(&f, "simplify"), LEAT_OK);
  const char *text = print(&f, f.context.graph);
  CHECK_HAS(text, "$e/p: f32[4, 5] = matmul($e/x, $e/y, transpose_a=true, transpose_b=false");
  CHECK_HAS_NOT(text, "transpose($");
  tear_down(&f);
}

TEST(simplify_keeps_what_waits) {
  fixture f;
  set_up(&f);
  new_entry(&f, "e");
  leat_value x = param(&f, "x", type_of(LEAT_f32, 0, 0, 0));
  leat_attr message = {.string = leat_intern(f.strings, "x")};
  leat_node *said = op(&f, "e/say", LEAT_OP_print, x, (leat_value){0}, &message).node;
  leat_value y = OP1(&f, "e/y", identity, x);
  leat_node_add_control(f.session, y.node, said);
  result(&f, "y", y);
  request_entry(&f, f.b.entry);
  CHECK_EQ_INT(run(&f, "prune"), LEAT_OK);
  CHECK_EQ_INT(run(&f, "simplify"), LEAT_OK);
  CHECK_HAS(print(&f, f.context.graph), "$e/y: f32[] = identity($e/x) after [$e/say]");
  tear_down(&f);
}

TEST(simplify_hands_constraints_on) {
  fixture f;
  set_up(&f);
  new_entry(&f, "e");
  leat_value x = param(&f, "x", type_of(LEAT_f32, 0, 0, 0));
  leat_value h = OP1(&f, "e/h", exp, x), same = OP1(&f, "e/same", identity, h);
  f.b.colocate = same.node->name;
  leat_value y = OP1(&f, "e/y", neg, x);
  f.b.colocate = NULL;
  leat_value pinned = OP1(&f, "e/pinned", identity, h);
  pinned.node->device = leat_intern(f.strings, "/job:ps");
  f.b.colocate = pinned.node->name;
  leat_value z = OP1(&f, "e/z", neg, h);
  result(&f, "y", OP2(&f, "e/sum", add, OP2(&f, "e/sum0", add, y, z), same));
  request_entry(&f, f.b.entry);
  CHECK_EQ_INT(run(&f, "prune"), LEAT_OK);
  CHECK_EQ_INT(run(&f, "simplify"), LEAT_OK);
  const char *text = print(&f, f.context.graph);
  CHECK_HAS(text, "$e/y: f32[] = neg($e/x) colocate \"e/h\"\n");
  CHECK_HAS(text, "$e/z: f32[] = neg($e/h) on \"/job:ps\"\n");
  tear_down(&f);
}

// -- cse -----------------------------------------------------------------------------------

TEST(cse_merges_equal_nodes) {
  fixture f;
  set_up(&f);
  leat_state *w = variable(&f, "w", type_of(LEAT_f32, 0, 0, 0));
  new_entry(&f, "e");
  leat_value x = param(&f, "x", type_of(LEAT_f32, 0, 0, 0));
  leat_value r0 = read_var(&f, "e/r0", w), r1 = read_var(&f, "e/r1", w);
  leat_value a = OP2(&f, "e/a", add, x, r0), b = OP2(&f, "e/b", add, r1, x);
  leat_node *write = assign(&f, "e/write", LEAT_OP_assign, w, OP2(&f, "e/ab", mul, a, b));
  leat_node_add_control(f.session, write, r0.node);
  leat_node_add_control(f.session, write, r1.node);
  leat_value r2 = read_var(&f, "e/r2", w);
  leat_node_add_control(f.session, r2.node, write);
  result(&f, "y", OP2(&f, "e/y", add, x, r2));
  request_entry(&f, f.b.entry);
  CHECK_EQ_INT(run(&f, "prune"), LEAT_OK);
  CHECK_EQ_INT(run(&f, "cse"), LEAT_OK);
  CHECK_EQ_STR(print(&f, f.context.graph),
               "graph test\n"
               "$w/init/const: f32[] = 0.0\n"
               "var $w: f32[] = $w/init/const on \"/job:ps/task:0/device:cpu:0\"\n"
               "entry e(x: f32[]) {\n"
               "  $e/r0: f32[] = read(state=$w)\n"
               "  $e/a: f32[] = add($e/x, $e/r0)\n"
               "  $e/ab: f32[] = mul($e/a, $e/a)\n"
               "  $e/write = assign($e/ab, state=$w) after [$e/r0]\n"
               "  $e/r2: f32[] = read(state=$w) after [$e/write]\n"
               "  $e/y: f32[] = add($e/x, $e/r2)\n"
               "  $fetch/y = fetch($e/y, name=\"y\", index=0)\n"
               "}\n");
  tear_down(&f);
}

TEST(cse_leaves_devices_and_random_bits_alone) {
  fixture f;
  set_up(&f);
  new_entry(&f, "e");
  leat_value x = param(&f, "x", type_of(LEAT_f32, 0, 0, 0));
  leat_value a = OP1(&f, "e/a", exp, x), b = OP1(&f, "e/b", exp, x);
  b.node->device = leat_intern(f.strings, "/job:ps");
  leat_value count = scalar(&f, "e/count", LEAT_i64, 0);
  static const leat_dim shape[] = {{4, NULL}};
  leat_attr attrs[] = {{.i = 1}, {.i = 2}, {.count = 1, .dims = shape}};
  leat_value u = op(&f, "e/u", LEAT_OP_random_bits, count, (leat_value){0}, attrs);
  leat_value v = op(&f, "e/v", LEAT_OP_random_bits, count, (leat_value){0}, attrs);
  result(&f, "y", OP2(&f, "e/y", add, a, b));
  result(&f, "z", OP2(&f, "e/z", equal, u, v));
  request_entry(&f, f.b.entry);
  CHECK_EQ_INT(run(&f, "prune"), LEAT_OK);
  CHECK_EQ_INT(run(&f, "cse"), LEAT_OK);
  CHECK_HAS(print(&f, f.context.graph), "add($e/a, $e/b)");
  CHECK_HAS(print(&f, f.context.graph), "equal($e/u, $e/v)");
  tear_down(&f);
}

// -- Size ----------------------------------------------------------------------------------

// Layers of x * w + b with a variable each, and an update of each variable.
static void build_large(fixture *f, uint32_t nodes) {
  leat_type type = type_of(LEAT_f32, 1, 16, 0);
  new_entry(f, "e");
  leat_value h = param(f, "x", type);
  while (f->session->nodes.count < nodes) {
    leat_state *w = variable(f, leat_graph_unique_name(f->session, "w"), type);
    leat_value old = read_var(f, "e/read", w);
    h = OP2(f, "e/mul", mul, h, old);
    h = OP2(f, "e/add", add, h, scalar(f, "e/bias", LEAT_f32, 1.5));
    h = OP1(f, "e/same", identity, h);
    leat_node_add_control(f->session, assign(f, "e/update", LEAT_OP_assign, w, h), old.node);
  }
  result(f, "y", h);
  request_entry(f, f->b.entry);
}

// Of the processor: others may use it meanwhile.
static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static double time_passes(uint32_t nodes) {
  fixture f;
  set_up(&f);
  build_large(&f, nodes);
  double total = 0;
  for (uint32_t i = 0; i < leat_pass_count; i++) {
    double start = now();
    leat_status status = leat_passes[i].function(&f.context);
    double seconds = now() - start;
    total += seconds;
    if (getenv("LEAT_TIME_PASSES"))
      printf("%s: %u nodes: %.1f ms\n", leat_passes[i].name, nodes, seconds * 1e3);
    CHECK_EQ_INT(status, LEAT_OK);
    leat_arena_reset(f.scratch);
  }
  for (uint32_t i = 0; i < f.context.parts.count; i++)
    CHECK_EQ_INT(leat_verify(f.context.parts.items[i], &f.error), LEAT_OK);
  tear_down(&f);
  return total;
}

TEST(all_passes_are_linear) {
  double small = time_passes(36000), large = time_passes(360000);
  printf("all passes: %.0f ms for 36,000 nodes, %.0f ms for 360,000\n", small * 1e3, large * 1e3);
  CHECK(large < 40 * small); // a square would be 100
}

CHECK_MAIN("passes")
