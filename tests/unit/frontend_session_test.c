// What a session's frontend keeps: state, control edges, gradients, what a REPL sees, names for
// feeds and fetches, files, and that a text with a mistake leaves nothing behind.
#include "base/file.h"
#include "base/npy.h"
#include "tests/unit/evaluated.h"
#include "tests/unit/scratch.h"

// -- State --------------------------------------------------------------------------------------

TEST(operations_on_a_variable_keep_the_order_of_the_text) {
  CHECK_GRAPH("var v: f32[] = 1\n"
              "entry e() -> (a: f32[], b: f32[]) {\n"
              "  a = v\n"
              "  v := a + 1\n"
              "  v += 2\n"
              "  b = v\n"
              "}\n",
              "$e/v/assign = assign($e/add, state=$v) after [$e/a]",
              "$e/v/update = assign_add($e/const_1, state=$v) after [$e/v/assign]",
              "$e/b: f32[] = read(state=$v) after [$e/v/update]");
}

TEST(instances_share_their_variables_and_check_that_they_agree) {
  static const char text[] = "fn net(x: f32[N, 3], scale: float = 1) -> f32[N, 2] {\n"
                             "  h = dense(x * scale, units=4) as hidden\n"
                             "  return dense(h, units=2, init=he_normal) as out\n"
                             "}\n"
                             "entry a(x: f32[5, 3]) -> (y: f32[5, 2]) { y = net(x) as net }\n"
                             "entry b(x: f32[7, 3]) -> (y: f32[7, 2]) { y = net(x, 2) as net }\n";
  evaluated e = evaluate(text);
  CHECK_EQ_STR(e.messages.data, "");
  CHECK_EQ_INT(leat_frontend_graph(e.frontend)->states.count, 4);
  CHECK_HAS(e.printed.data, "var $net/hidden/w: f32[3, 4]");
  CHECK_HAS(e.printed.data, "$b/net/out/matmul");
  CHECK(
      !evaluated_add(&e, "entry c(x: f32[5, 3]) { y = dense(x, units=4, init=zeros) as \"net\" }"));
  CHECK_HAS(e.messages.data, "instance `net` is of `dense` here and of `net` elsewhere");
  evaluated_finish(&e);
  check_fails("fn f(s: int) {\n"
              "  var w: f32[3] = normal(seed=s)\n"
              "  return w\n"
              "}\n"
              "entry e() { a = f(1) as f\n b = f(1) as f\n c = f(2) as f }\n",
              "variable `f/w` is initialised in two ways");
}

TEST(initialisers_are_pure) {
  CHECK_GRAPH("scale = 2.0 * tensor([1.0, 2.0])\n"
              "fn twice(x: T[...D], out: type) { return x * 2 + zeros(out) }\n"
              "var w: f32[2] = twice(scale)\n"
              "var r: i32[4] = permutation(4)\n"
              "entry e() -> (y: f32[2]) { y = w }\n",
              "var $w: f32[2] = $w/init/add", "$r/init/const: i64[] = 0");
  check_fails("var w: i64[] = run_count()", "an initialiser is pure: `run_count` has no place");
  check_fails("entry e(x: f32[]) { var w: f32[] = $e/x }", "nothing outside can use it");
}

TEST(a_training_entry_counts_its_steps_last) {
  CHECK_GRAPH("var w: f32[3] = ones()\n"
              "entry e(x: f32[3]) training -> (loss: f32[], s: i64[]) {\n"
              "  s = global_step\n"
              "  loss = sum(w * x)\n"
              "  minimize(loss, adam, lr=1e-3)\n"
              "}\n",
              "var $global_step: i64[] = $global_step/init/const trainable=false",
              "var $w/adam/m: f32[3] = $w/adam/m/init/broadcast trainable=false slot_of=$w",
              "$e/global_step/update = assign_add($e/global_step/one, state=$global_step) after "
              "[$e/s, $e/w/adam/t/assign, $e/w/adam/m/assign, $e/w/adam/s/assign, $e/w/update]");
}

// -- After --------------------------------------------------------------------------------------

TEST(after_waits_for_earlier_and_later_names) {
  CHECK_GRAPH("var v: f32[] = 1\n"
              "entry e(x: f32[]) {\n"
              "  v += 1 after [y, x]\n"
              "  y = x * 3\n"
              "  for i in 0..2 { z[i] = y * y }\n"
              "  print(y) after [$e/v/update, z]\n"
              "}\n",
              "$e/v/update = assign_add($e/const, state=$v) after [$e/x, $e/y]",
              "$e/print = print($e/y, message=\"\") after [$e/v/update, $e/i0/z_0, $e/i1/z_1]");
}

// -- Gradients ----------------------------------------------------------------------------------

TEST(gradients_go_by_the_rules) {
  CHECK_GRAPH("entry e(x: f32[3]) -> (g: f32[3], gg: f32[3], gh: f32[3]) {\n"
              "  h = x * x\n"
              "  l = sum(h * x)\n"
              "  g, gh = grad(l, [x, h])\n"
              "  gg = grad(sum(g), x)\n"
              "}\n",
              "$e/grad/l: f32[] = 1.0", "$e/grad/grad/");
  CHECK_GRAPH("fn double(x: T[...D]) -> T[...D] { return x + x }\n"
              "gradient double(x) -> y, dy { return 4 * dy }\n"
              "entry e(x: f32[3]) -> (g: f32[3]) { g = grad(sum(tanh(double(x))), x) }\n",
              "f32[] = 4.0");
}

TEST(a_rule_may_have_several_outputs) {
  CHECK_GRAPH("fn split(x: f32[2]) -> (f32[], f32[]) { return sum(x[0]), sum(x[1] * 3) }\n"
              "gradient split(x) -> a, b, da, db { return broadcast(da * 5 + db, [2]) }\n"
              "entry e(x: f32[2]) -> (g: f32[2], h: f32[2]) {\n"
              "  a, b = split(x)\n"
              "  g = grad(b * b, x)\n"
              "  h = grad(a * b + a, x)\n"
              "}\n",
              "f32[] = 5.0");
  check_fails("fn one(x: f32[]) { return x + 1 }\n"
              "gradient one(x) -> a, b, da, db { return da }\n"
              "entry e(x: f32[]) { g = grad(one(x), x) }\n",
              "this rule is for 2 outputs, what it is a rule of has 1");
}

TEST(gradients_that_do_not_reach_are_zero) {
  evaluated e = evaluate("var w: f32[2] = ones()\n"
                         "entry e(x: f32[2]) -> (g: f32[2], h: f32[2]) {\n"
                         "  g, h = grad(sum(stop_gradient(w) * x), [w, x])\n"
                         "}\n");
  CHECK(e.ok);
  CHECK_EQ_STR(e.messages.data,
               "t:3:10: warning: the loss does not depend on `w`: its gradient is zero\n"
               "  g, h = grad(sum(stop_gradient(w) * x), [w, x])\n"
               "         ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~\n");
  CHECK_HAS(e.printed.data, "f32[] = 0.0");
  evaluated_finish(&e);
}

TEST(gradients_of_a_variable_sum_its_reads_before_the_loss) {
  CHECK_GRAPH("var w: f32[2] = ones()\n"
              "entry e(x: f32[2]) {\n"
              "  a = sum(w * x)\n"
              "  w := x\n"
              "  b = sum(w * w)\n"
              "  w += 1\n"
              "  g = grad(a + b, w)\n"
              "  w := g\n"
              "}\n",
              "$e/grad/w/read_1: f32[2] = add($e/grad/mul, $e/grad/mul_1_2)");
  CHECK_GRAPH("var w: f32[2] = ones()\n" // a rule sees the variable as the call did
              "fn f(v: var f32[2]) { return v * v }\n"
              "gradient f(v) -> y, dy { return 2 * v * dy }\n"
              "entry e() -> (g: f32[2]) {\n"
              "  y = f(w)\n"
              "  w := y\n"
              "  g = grad(sum(y), w)\n"
              "}\n",
              "$e/grad/y_1: f32[2] = mul($e/grad/broadcast, $e/w/read)");
}

TEST(minimize_updates_what_is_trainable) {
  CHECK_GRAPH("var w: f32[2] = ones()\n"
              "var u: f32[2] = ones() trainable=false\n"
              "var i: i32[2] = [0, 1]\n"
              "entry e() training -> (l: f32[]) {\n"
              "  l = sum(square(w * u * cast(i, f32)))\n"
              "  minimize(l, momentum, lr=0.1, clip_norm=5, name=\"opt\")\n"
              "  n: i32[] = len(trainables(l))\n"
              "}\n",
              "var $w/opt/m: f32[2]", "$e/n: i32[] = 1", "colocate \"w\"");
}

// -- A REPL -------------------------------------------------------------------------------------

static bool type_in(evaluated *e, const char *text) {
  return evaluated_add_n(e, "repl", text, strlen(text), true);
}

TEST(a_repl_binds_again_and_shows_values) {
  evaluated e = evaluated_begin(NULL);
  CHECK(type_in(&e, "x = 1.0 * tensor([1.0, 2.0])"));
  CHECK(type_in(&e, "x = x * 3.0"));
  CHECK(type_in(&e, "fn f(y: T[...D]) { return y + 1 }"));
  CHECK(type_in(&e, "fn f(y: T[...D]) { return y + 2, y }"));
  CHECK_EQ_INT(e.last->shown.count, 0);
  CHECK(type_in(&e, "f(x)\n1 + 2\n[1, \"a\"]\nshape(x)"));
  CHECK_EQ_INT(e.last->shown.count, 2);
  CHECK_EQ_STR(e.last->known, "3\n[1, \"a\"]\n[2]\n");
  CHECK(type_in(&e, "var v: f32[] = 1"));
  CHECK(type_in(&e, "v := 2.0\nv"));
  CHECK_HAS(e.printed.data, "after [$v/assign]");
  CHECK(type_in(&e, "v")); // another Run: the assignment was in an earlier one
  leat_value read = leat_frontend_find(e.frontend, NULL, e.last->shown.items[0]);
  CHECK_EQ_INT(read.node->control_count, 0);
  CHECK(!type_in(&e, "v = 3"));
  CHECK_HAS(e.messages.data, "`v` is a variable: `:=` gives it a value");
  leat_value found = leat_frontend_find(e.frontend, NULL, "x");
  CHECK(found.node && found.node->op == LEAT_OP_mul);
  evaluated_finish(&e);
}

// What the head of an entry names goes with the entry that is set aside, and comes back with it.
TEST(an_entry_defined_again_is_printed_to_be_read) {
  evaluated e = evaluated_begin(NULL), read = evaluated_begin(NULL);
  CHECK(type_in(&e, "entry f(x: f32[2]) -> (y: f32[2]) { y = tanh(x) }"));
  CHECK(type_in(&e, "entry f(x: f32[3], s: f32[]) -> (y: f32[3]) { y = x[::2][0] * s + x }"));
  CHECK(evaluated_add(&read, e.printed.data));
  CHECK_EQ_STR(read.printed.data, e.printed.data);
  CHECK_HAS(e.printed.data, "mul($f/");
  CHECK(!type_in(&e, "entry f(x: f32[4]) { y = x }\nz = unknown"));
  CHECK_EQ_STR(e.printed.data, read.printed.data);
  evaluated_finish(&e);
  evaluated_finish(&read);
}

TEST(a_bad_text_leaves_nothing_behind) {
  static const char first[] =
      "dim B in 1..8\n"
      "entry a(x: f32[B, 3]) -> (y: f32[B, 4]) { y = dense(x, units=4) as net "
      "}\n";
  static const char bad[] = "graph other device=\"/job:ps\"\n"
                            "dim A in 1..2\n"
                            "use_ = 1\n"
                            "fn g(x: f32[N]) { return x }\n"
                            "gradient tanh(x) -> y, dy { return 7 * dy }\n"
                            "z: f32[] = 3\n"
                            "var s: f32[] = 1\n"
                            "entry b(x: f32[?, Q, max(Q, 2)]) training -> (y: f32[]) {\n"
                            "  y = sum(x) + s\n"
                            "  k = dense(zeros(f32[2, 3]), units=4) as more\n"
                            "  minimize(y, adam)\n"
                            "}\n"
                            "w = unknown\n";
  static const char last[] = "z = 4.0 * 2\n"
                             "var s: f32[2] = 1\n"
                             "dim A in 1..9\n"
                             "entry b(x: f32[Q, ?], k: f32[A]) -> (y: f32[], more: f32[A]) {\n"
                             "  y = grad(sum(tanh(x)) * sum(s), s) |> sum()\n"
                             "  more = tanh(k) * z\n"
                             "}\n";
  evaluated with = evaluated_begin(NULL), without = evaluated_begin(NULL);
  CHECK(evaluated_add(&with, first) && evaluated_add(&without, first));
  for (int i = 0; i < 3; i++) {
    CHECK(!evaluated_add_n(&with, "t", bad, strlen(bad), i == 1));
    CHECK_EQ_STR(with.printed.data, without.printed.data);
  }
  CHECK(!leat_frontend_find(with.frontend, NULL, "z").node);
  CHECK(evaluated_add(&with, last));
  CHECK_EQ_STR(with.messages.data, "");
  CHECK(evaluated_add(&without, last));
  CHECK_EQ_STR(with.printed.data, without.printed.data);
  evaluated_finish(&with);
  evaluated_finish(&without);
}

// -- Names for feeds and fetches ----------------------------------------------------------------

// Wherever it is hit: also in a call of the library that is on trial, whose errors are nobody's.
TEST(a_limit_is_always_said) {
  for (uint64_t most = 1000; most < 1016; most++) {
    leat_frontend_options options = {.most_steps = most};
    evaluated e = evaluated_begin(&options);
    CHECK(!evaluated_add(&e, "for i in 0..1000 { y = square(square(i * 0.5)) }"));
    CHECK_HAS(e.messages.data, "compile time takes more than ");
    evaluated_finish(&e);
  }
}

TEST(names_find_what_the_text_calls_so) {
  evaluated e = evaluate("fn f(x: f32[]) {\n"
                         "  h = tanh(x)\n"
                         "  return h * 2\n"
                         "}\n"
                         "entry e(x: f32[]) -> (y: f32[]) {\n"
                         "  a = f(x)\n"
                         "  h = exp(a)\n" // f's h has its name
                         "  same = h\n"
                         "  y = h + a\n"
                         "}\n");
  CHECK_EQ_STR(e.messages.data, "");
  const leat_entry *entry = leat_graph_find_entry(leat_frontend_graph(e.frontend), "e");
  leat_value h = leat_frontend_find(e.frontend, entry, "h");
  CHECK(h.node && h.node->op == LEAT_OP_exp);
  CHECK(leat_frontend_find(e.frontend, entry, "same").node == h.node);
  CHECK(leat_frontend_find(e.frontend, NULL, "e/h:0").node == h.node);
  CHECK(!leat_frontend_find(e.frontend, NULL, "e/y:1").node);
  CHECK(!leat_frontend_find(e.frontend, NULL, "h").node);
  CHECK_EQ_STR(leat_frontend_suggest(e.frontend, NULL, "e/samy", false), "e/same");
  evaluated_finish(&e);
}

// -- Files --------------------------------------------------------------------------------------

static void write_file(const char *name, const char *text) {
  char path[SCRATCH_PATH];
  scratch_path(path, name);
  leat_bytes bytes = {text, strlen(text)};
  leat_error error = {0};
  if (leat_file_write(path, &bytes, 1, LEAT_FILE_ATOMIC, &error)) CHECK_FAILED("%s", error.message);
}

static bool add_file(evaluated *e, const char *name, const char *text) {
  char path[SCRATCH_PATH];
  scratch_path(path, name);
  return evaluated_add_n(e, path, text, strlen(text), false);
}

TEST(use_and_load_are_relative_to_the_text) {
  char path[SCRATCH_PATH];
  scratch_path(path, "x.npy");
  float elements[] = {1, 2, 3};
  leat_tensor tensor = {.dtype = LEAT_f32, .rank = 1, .shape = {3}, .data = elements};
  leat_error error = {0};
  CHECK(leat_npy_write(path, &tensor, &error) == LEAT_OK);
  write_file("net.leat", "use \"./layers.leat\"\n"
                         "x = load(\"x.npy\")\n"
                         "fn net(a: f32[N]) { return layer(a) * x }\n");
  write_file("layers.leat", "fn layer(a: f32[N]) { return a + float(seed) }\n");
  evaluated e = evaluated_begin(NULL);
  add_file(&e, "main.leat",
           "graph g(seed: int = 5)\n"
           "use \"net.leat\"\n"
           "use \"layers.leat\"\n" // once
           "entry e(a: f32[3]) -> (y: f32[3]) { y = net(a) }\n");
  CHECK_EQ_STR(e.messages.data, "");
  CHECK_HAS(e.printed.data, "graph g\n");
  CHECK_HAS(e.printed.data, "x.npy\", name=\"\", type=f32[3])");
  CHECK_HAS(e.printed.data, "f32[] = 5.0");
  evaluated_finish(&e);
}

TEST(uses_in_a_circle_are_reported) {
  write_file("a.leat", "use \"b.leat\"\n");
  write_file("b.leat", "use \"a.leat\"\n");
  write_file("c.leat", "x = 1 * )\n");
  write_file("d.leat", "fn layer(a: f32[N]) { return a }\n");
  evaluated e = evaluated_begin(NULL);
  CHECK(!add_file(&e, "main.leat", "use \"a.leat\"\n"));
  CHECK_HAS(e.messages.data, "b.leat:1:1: error: a text cannot use itself: each of ");
  CHECK_HAS(e.messages.data, "a.leat uses the next");
  CHECK(!add_file(&e, "main.leat", "use \"c.leat\"\nuse \"d.leat\"\ny = layer(unknown)\n"));
  CHECK_HAS(e.messages.data, "c.leat:1:");
  CHECK_HAS_NOT(e.messages.data, "unknown name");
  CHECK(!add_file(&e, "main.leat", "use \"d.leat\"\nfn layer(a: f32[]) { return a }\n"));
  CHECK_HAS(e.messages.data, "function `layer` is defined twice");
  CHECK(add_file(&e, "main.leat", "use \"d.leat\"\ny = layer([1.0])\n"));
  evaluated_finish(&e);
}

// A scan asks for the types of what it calls, in which other scans ask; what a loop carries that
// begins with a number is found by trying.
TEST(loops_in_each_other_take_no_work_for_each_that_is_around) {
  static const char *const begins[] = {"c", "tensor(1.0)", "1.0"};
  for (int k = 0; k < 3; k++) {
    leat_frontend_options options = {.most_steps = 60000};
    evaluated e = evaluated_begin(&options);
    leat_text text = {0};
    leat_text_add(&text, "fn f0(c: any, x: f32[], _v: f32[3]) { return c + x, c * x }\n");
    for (int i = 1; i <= 12; i++)
      leat_text_add(&text,
                    "fn f%d(c: any, x: f32[], v: f32[3]) {\n"
                    "  after, ys = scan(f%d, c, v, v)\n"
                    "  _, z = while (t = 0, z: any = c) t < 2 { next t + 1, z * 2 }\n"
                    "  return after + z, sum(ys) * x\n"
                    "}\n",
                    i, i - 1);
    leat_text_add(&text, "entry e(c: f32[], v: f32[3]) -> (y: f32[]) { y, _ = f12(%s, c, v) }\n",
                  begins[k]);
    CHECK(evaluated_add(&e, text.data));
    CHECK_EQ_STR(e.messages.data, "");
    leat_text_finish(&text);
    evaluated_finish(&e);
  }
}

// What is handed over may have another type, and so may what the function sees.
TEST(types_of_what_a_call_gives_are_those_of_the_call) {
  evaluated e = evaluated_begin(NULL);
  CHECK(type_in(&e, "k = zeros(f32[2])\n"
                    "x = k[0]\n"
                    "fn both(c: f32[...D], x: f32[]) { return [c, c], x + k }\n"));
  bool fine = type_in(&e, "result_types(both, x, x)\n"
                          "result_types(both, k, x)\n"
                          "k = x\n"
                          "result_types(both, x, x)\n");
  CHECK_EQ_STR(fine ? e.last->known : e.messages.data, "[[f32[], f32[]], f32[2]]\n"
                                                       "[[f32[2], f32[2]], f32[2]]\n"
                                                       "[[f32[], f32[]], f32[]]\n");
  evaluated_finish(&e);
}

CHECK_MAIN("frontend_session")
