// What texts mean: the graphs that programs become, names, state, gradients, what a REPL sees, and
// that a text with a mistake leaves nothing behind.
#include "base/file.h"
#include "base/npy.h"
#include "tests/unit/evaluated.h"
#include "tests/unit/scratch.h"

enum { MUTANTS = 20000, PIECE = 200 };

// The text is right, and its graph has these pieces.
#define CHECK_GRAPH(text, ...) check_graph(text, (const char *const[]){__VA_ARGS__, NULL})

static void check_graph(const char *text, const char *const *pieces) {
  evaluated e = evaluate(text);
  if (*e.messages.data) CHECK_FAILED("%s\ngives\n%s", text, e.messages.data);
  for (; *pieces; pieces++) CHECK_HAS(e.printed.data, *pieces);
  evaluated_finish(&e);
}

static void check_fails(const char *text, const char *message) {
  evaluated e = evaluate(text);
  CHECK(!e.ok);
  CHECK_HAS(e.messages.data, message);
  evaluated_finish(&e);
}

// -- Printing and reading back ------------------------------------------------------------------

static void check_read_back(const char *name, const char *text, size_t size) {
  evaluated e = evaluated_begin(NULL), again = evaluated_begin(NULL);
  if (!evaluated_add_n(&e, name, text, size, false)) CHECK_FAILED("%s", e.messages.data);
  evaluated_add(&again, e.printed.data);
  CHECK_EQ_STR(again.messages.data, "");
  CHECK_EQ_STR(again.printed.data, e.printed.data);
  evaluated_finish(&e);
  evaluated_finish(&again);
}

TEST(example_graphs_read_back_as_they_print) {
  static const char *const files[] = {"examples/add.leat", "examples/devices.leat",
                                      "examples/figure1.leat", "examples/xor.leat",
                                      "tests/language/figure1.leat"};
  for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
    char *text;
    size_t size;
    leat_error error = {0};
    if (leat_file_read(files[i], 1 << 20, &text, &size, &error)) CHECK_SKIP(error.message);
    check_read_back(files[i], text, size);
    free(text);
  }
}

static const char kitchen[] =
    "graph kitchen\n"
    "dim B in 1..4096\n"
    "c: f64[2, 3] = [[1, 2, 3], [4, 5, 6]]\n"
    "var w: f32[3] = uniform(-1, 1) trainable=false container=\"box\" on \"/job:ps\"\n"
    "var n: u64[] = 18446744073709551615\n"
    "entry f(x: f32[B, 3], y: i32[] = 3, z: f32[?]) training -> (a: f32[B, 3], b: f32[]) {\n"
    "  h = x[1:, None, :] * w on \"/device:cpu:0\" after [y]\n"
    "  a = where(x > 0 and not x > 1, x * w, 0.5)\n"
    "  b = sum(a[:, 0]) + cast(y, f32) * cast(B * 2 - 1, f32) + max(z) colocate h\n"
    "  w := a[0]\n"
    "  print(b, \"b is\")\n"
    "  k = reshape(a, [B * 3]) |> gather([0, 2])\n"
    "}\n"
    "entry empty() training { }\n";

TEST(every_kind_of_line_reads_back_as_it_prints) {
  check_read_back("t", kitchen, strlen(kitchen));
}

TEST(canonical_text_places_the_feeds_of_parameters) {
  static const char text[] = "graph g device=\"/job:ps/task:0\"\n"
                             "entry f(x: f32[]) training -> (y: f32[] = $f/y) {\n"
                             "  $f/one: f32[] = 1.0\n"
                             "  $f/x: f32[] = feed(name=\"x\", type=f32[]) on \"/device:cpu:1\" "
                             "after [$f/one]\n"
                             "  $f/y: f32[] = add($f/x, $f/one)\n"
                             "}\n";
  evaluated e = evaluate(text);
  CHECK_EQ_STR(e.messages.data, "");
  CHECK_EQ_STR(e.printed.data, text);
  evaluated_finish(&e);
}

// -- Functions and types ------------------------------------------------------------------------

TEST(generic_names_are_bound_by_the_arguments) {
  CHECK_GRAPH("fn f(x: T[...D, I], units: int) -> (T[...D, units], i64[2]) {\n"
              "  return broadcast(x[..., :1], D + [units]), [I, len(D)]\n"
              "}\n"
              "entry e(x: f64[2, 3, 5]) -> (y: f64[2, 3, 7], n: i64[2]) { y, n = f(x, 7) }\n",
              "(y: f64[2, 3, 7] = $e/broadcast, n: i64[2]", "$e/const: i64[2] = [5, 2]");
  CHECK_GRAPH("dim N in 1..8\n" // shadowed
              "fn f(x: f32[N], y: f32[N]) { return x + y }\n"
              "entry e(x: f32[3]) -> (z: f32[3]) { z = f(x, 1 - x) }\n",
              "z: f32[3] = $e/z");
}

TEST(dims_that_are_computed_are_checked_where_they_are_not_bound) {
  CHECK_GRAPH(
      "fn f(x: T[2 * N, ...D], y: T[N], z: T[...D, N]) -> T[max(N, 4)] { return x[:4, 0, 0] }\n"
      "entry e(x: f32[6, 5, 3], y: f32[3], z: f32[5, 3, 3]) -> (u: f32[4]) { u = f(x, y, z) }\n",
      "u: f32[4] = $e/u");
  CHECK_GRAPH("entry e(x: f32[max(2 * N, M), N - 1]) -> (y: f32[N - 1, max(2 * N, M)]) {\n"
              "  y = transpose(x)\n"
              "}\n",
              "dim N\ndim M\nentry e(x: f32[max(M, 2*N), N - 1])");
  check_fails("fn f(x: f32[2 * N], y: f32[N]) { return y }\n"
              "entry e(x: f32[6], y: f32[4]) { u = f(x, y) }\n",
              "argument `x` of `f`: expected f32[2 * N], found f32[6]");
}

TEST(literals_take_the_dtype_they_meet) {
  CHECK_GRAPH("entry e(x: f64[], i: i64[2]) -> (y: f64[], j: i64[2], k: i32[], f: f32[]) {\n"
              "  y = 2 * x\n"
              "  j = i + 1\n"
              "  k = 7 / 2\n"
              "  f = 7 / 2.0\n"
              "}\n",
              "const: f64[] = 2.0", "i64[] = 1", "i32[] = 3", "f32[] = 3.5");
  CHECK_GRAPH("fn f(x: T[], lr: T[] = 1) -> T[] { return 3 }\n"
              "entry e(x: f64[]) -> (y: f64[]) { y = f(x) }\n",
              "$e/y: f64[] = 3.0");
  CHECK_GRAPH("x: f32[2, 2] = 1\n", "$const: f32[] = 1.0", "$x: f32[2, 2] = broadcast");
}

TEST(arguments_go_by_position_by_name_and_on) {
  CHECK_GRAPH("fn g(a: int, b: int = 10, c: [int] = none) { return [a, b] }\n"
              "fn f(k: fn, x: int, ...) { return k(x, ...) }\n"
              "y: i32[2] = f(g, 3, b=4)\n"
              "z: i32[2] = f(g, x=5)\n"
              "u: i32[2] = 7 |> g(b=8)\n",
              "$y: i32[2] = [3, 4]", "$z: i32[2] = [5, 10]", "$u: i32[2] = [7, 8]");
}

TEST(the_library_sees_no_name_of_the_user) {
  CHECK_GRAPH("fn max(x: f32[N]) { return x }\n"
              "sum = 3\n"
              "rank = 4\n"
              "entry e(x: f32[2, 3], l: i32[2]) -> (y: f32[2], z: f32[2, 3]) {\n"
              "  y = softmax_cross_entropy(x, l)\n"
              "  z = softmax(x)\n"
              "}\n",
              "= max($e/x, axis=[1], keepdims=true)");
}

TEST(compile_time_names) {
  CHECK_GRAPH("fn drop(x: f32[]) {\n"
              "  if training {\n"
              "    return x * 0.5\n"
              "  }\n"
              "  return x\n"
              "}\n"
              "entry t(x: f32[]) training -> (y: f32[]) { y = drop(x) }\n"
              "entry e(x: f32[]) -> (y: f32[]) { y = drop(x) }\n",
              "y: f32[] = $t/y", "entry e(x: f32[]) -> (y: f32[] = $e/x) {\n}");
  leat_job jobs[] = {{"ps", 2}, {"worker", 3}};
  leat_frontend_options options = {.jobs = jobs, .job_count = 2, .job = "worker", .task = 2};
  evaluated e = evaluated_begin(&options);
  evaluated_add(&e, "on replica_device(ps=\"/job:ps\", worker=\"/job:{job}/task:{task}\") {\n"
                    "  entry f(x: f32[2, 3]) -> (y: f32[2, 4]) { y = dense(x, units=4) as d }\n"
                    "}\n"
                    "n: i32[3] = tasks(\"worker\")\n");
  CHECK_EQ_STR(e.messages.data, "");
  CHECK_HAS(e.printed.data, "var $d/w: f32[3, 4] = $d/w/init/add on \"/job:ps\"");
  CHECK_HAS(e.printed.data, "family=\"\") on \"/job:worker/task:2\"");
  CHECK_HAS(e.printed.data, "$n: i32[3] = [0, 1, 2]");
  CHECK(!evaluated_add(&e, "on \"/job:worker/task:3\" { x = 1.0 * 2 }"));
  CHECK_HAS(e.messages.data, "job `worker` has 3 tasks: there is no task 3");
  CHECK(!evaluated_add(&e, "m = tasks(\"workers\")"));
  CHECK_HAS(e.messages.data, "the cluster has no job `workers`; did you mean `worker`?");
  evaluated_finish(&e);
}

TEST(graph_parameters_are_set_by_name) {
  const char *names[] = {"seed", "rate", "name"}, *values[] = {"7", "1e-3", "net"};
  leat_frontend_options options = {names, values, .setting_count = 3};
  const char *text =
      "graph g(seed: int = 1, rate: float = 0.1, name: str = \"a\", on_: bool = true)\n"
      "x: f64[2] = [seed, rate]\n"
      "entry e(y: f32[2, 2]) { z = dense(y, units=2) as \"{name}_{on_}\" }";
  evaluated e = evaluated_begin(&options);
  CHECK(evaluated_add(&e, text));
  CHECK_HAS(e.printed.data, "$x: f64[2] = [7.0, 0.001]");
  CHECK_HAS(e.printed.data, "var $net_true/w: f32[2, 2]");
  evaluated_finish(&e);
  names[1] = "rates";
  e = evaluated_begin(&options);
  CHECK(!evaluated_add(&e, text));
  CHECK_HAS(e.messages.data, "--set rates: the graph has no such parameter; did you mean `rate`?");
  evaluated_finish(&e);
  names[1] = "rate", values[1] = "fast";
  e = evaluated_begin(&options);
  CHECK(!evaluated_add(&e, text));
  CHECK_HAS(e.messages.data, "--set rate=fast: that is no float");
  evaluated_finish(&e);
}

// -- Control while compiling --------------------------------------------------------------------

TEST(loops_bind_families) {
  CHECK_GRAPH("entry e(x: f32[2, 3]) -> (y: f32[2, 3]) {\n"
              "  h[0] = x\n"
              "  for i in 0..3 {\n"
              "    h[i + 1] = tanh(dense(h[i], units=3) as \"block{i}\")\n"
              "  }\n"
              "  y = h[3] + h[-1] * float(len(h))\n"
              "}\n",
              "$e/i2/h_3: f32[2, 3] = tanh($e/i2/block2/identity)", "var $block1/w: f32[3, 3]",
              "f32[] = 4.0");
  CHECK_GRAPH("for i in 0..3 {\n"
              "  x[2 - i] = i\n"
              "  for k in [0, 1] { y[i * 2 + k] = k }\n"
              "}\n"
              "z: i32[3] = x\n",
              "$z: i32[3] = [2, 1, 0]");
}

TEST(ifs_are_decided) {
  CHECK_GRAPH("for i in 0..2 {\n"
              "  a[i], b[i] = if i == 0 { k = i + 10\n yield k, 1 } else if i > 5 { yield 2, 2 } "
              "else { yield 3, i }\n"
              "}\n"
              "x: i32[4] = a + b\n",
              "$x: i32[4] = [10, 3, 1, 1]");
  CHECK_GRAPH("fn f(k: int) {\n"
              "  for i in 0..10 {\n"
              "    if i * i > k {\n"
              "      return i\n"
              "    }\n"
              "  }\n"
              "  return -1\n"
              "}\n"
              "x: i32[2] = [f(20), f(200)]\n",
              "$x: i32[2] = [5, -1]");
}

// -- Indexing -----------------------------------------------------------------------------------

TEST(slices_are_numpys) {
  static const struct {
    const char *index, *type;
  } cases[] = {
      {"x[1]", "f32[5, 6]"},
      {"x[-1, 2]", "f32[6]"},
      {"x[:, 1:3]", "f32[4, 2, 6]"},
      {"x[..., 0]", "f32[4, 5]"},
      {"x[:, None]", "f32[4, 1, 5, 6]"},
      {"x[::2]", "f32[2, 5, 6]"},
      {"x[1::2, ::3]", "f32[2, 2, 6]"},
      {"x[::-1]", "f32[4, 5, 6]"},
      {"x[3:0:-2]", "f32[2, 5, 6]"},
      {"x[10:]", "f32[0, 5, 6]"},
      {"x[-2:, :-1]", "f32[2, 4, 6]"},
      {"x[2:1]", "f32[0, 5, 6]"},
      {"x[[0, 2, 1]]", "f32[3, 5, 6]"},
      {"x[:, [[1], [2]]]", "f32[4, 2, 1, 6]"},
      {"x[0, None, ..., None]", "f32[1, 5, 6, 1]"},
      {"x[:, ::9223372036854775807]", "f32[4, 1, 6]"},
      {"x[:, ::-9223372036854775807]", "f32[4, 1, 6]"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char text[256];
    snprintf(text, sizeof text, "entry e(x: f32[4, 5, 6]) -> (y: %s) { y = %s }", cases[i].type,
             cases[i].index);
    CHECK_GRAPH(text, cases[i].type);
  }
  CHECK_GRAPH("entry e(x: f32[N, 3]) -> (y: f32[N - 1, 3], z: f32[3]) { y = x[1:]\n z = x[-1] }",
              "start=[1, 0], size=[N - 1, 3]", "start=[N - 1, 0], size=[1, 3]");
}

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
  CHECK_GRAPH("scale = 2.0 * [1.0, 2.0]\n"
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
  CHECK(type_in(&e, "x = 1.0 * [1.0, 2.0]"));
  CHECK(type_in(&e, "x = x * 3.0"));
  CHECK(type_in(&e, "fn f(y: T[...D]) { return y + 1 }"));
  CHECK(type_in(&e, "fn f(y: T[...D]) { return y + 2, y }"));
  CHECK_EQ_INT(leat_frontend_shown_count(e.frontend), 0);
  CHECK(type_in(&e, "f(x)\n1 + 2\n[1, \"a\"]\nshape(x)"));
  CHECK_EQ_INT(leat_frontend_shown_count(e.frontend), 2);
  CHECK_EQ_STR(leat_frontend_shown_text(e.frontend), "3\n[1, \"a\"]\n[2]\n");
  CHECK(type_in(&e, "var v: f32[] = 1"));
  CHECK(type_in(&e, "v := 2.0\nv"));
  CHECK_HAS(e.printed.data, "after [$v/assign]");
  CHECK(type_in(&e, "v")); // another Run: the assignment was in an earlier one
  leat_value read = leat_frontend_shown(e.frontend, 0);
  CHECK_EQ_INT(read.node->control_count, 0);
  CHECK(!type_in(&e, "v = 3"));
  CHECK_HAS(e.messages.data, "`v` is a variable already");
  leat_value found = leat_frontend_find(e.frontend, NULL, "x");
  CHECK(found.node && found.node->op == LEAT_OP_mul);
  evaluated_finish(&e);
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
  CHECK_EQ_STR(leat_frontend_suggest(e.frontend, "e/samy"), "e/same");
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
  write_file("c.leat", "x = 1 +\n");
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

// -- Limits -------------------------------------------------------------------------------------

TEST(no_text_takes_for_ever) {
  leat_frontend_options options = {.most_steps = 100000};
  static const char itself[] = "gradient square(x) -> y, dy { return grad(sum(square(x)), x) }\n"
                               "entry e(x: f32[3]) { g = grad(sum(square(x)), x) }\n";
  static const char *const texts[] = {
      "for i in 0..1000000000 { }\n",
      "for i in 0..1000000000 { on \"/device:cpu:0\" { } }\n",
      "x[0] = [1, 2]\nfor i in 0..100 { x[i + 1] = x[i] + x[i] }\n",
      "x[0] = [1, 2]\nfor i in 0..100 { x[i + 1] = [x[i], x[i]] }\n",
      "x[0] = [1, 2]\nfor i in 0..100 { x[i + 1] = [x[i]] }\n",
      "x[0] = \"ab\"\nfor i in 0..100 { x[i + 1] = \"{x[i]}{x[i]}\" }\n",
      "fn f(n: int) { return f(n - 1) + f(n - 1) }\nx = f(60)\n",
      "fn f(n: int) {\n if n == 0 { return 1 }\n return f(n - 1) + f(n - 1)\n}\nx = f(60)\n",
      "x = range(50000)\nfor i in 0..1000000 { y[i] = x == range(50000) }\n",
      "entry e(x: f32[]) {\n y[0] = x\n for i in 0..99999 { y[i + 1] = grad(y[i]*y[i], x) }\n}\n",
      "x = range(50000)\nfor i in 0..1000000 { x }\n",
      "entry e(x: f32[1000000000000] = 1) { }\n",
      "entry e(x: f32[N]) {\n d[0] = N\n for i in 0..1000000 { d[i + 1] = d[i] * d[i] }\n}\n",
      itself,
  };
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    evaluated e = evaluated_begin(&options);
    if (evaluated_add(&e, texts[i])) CHECK_FAILED("%s is no error", texts[i]);
    CHECK_EQ_INT(leat_diag_errors(e.diag), 1);
    CHECK_EQ_STR(e.printed.data, "graph main\n");
    evaluated_finish(&e);
  }
}

// -- Damaged texts ------------------------------------------------------------------------------

static const char *const programs[] = {
    kitchen,
    "graph digits(seed: int = 1, k: int = 2)\n"
    "dim B in 1..64\n"
    "fn layer(x: T[...D, I], units: int, f: fn = identity) -> T[...D, units] {\n"
    "  var w: T[I, units] = glorot_uniform(seed=seed)\n"
    "  var b: T[units] = 0\n"
    "  return f(x @ w + b)\n"
    "}\n"
    "entry train(x: f32[8, 4], y: i32[8], lr: f32[] = 0.1) training -> (loss: f32[]) {\n"
    "  h[0] = x\n"
    "  for i in 0..k { h[i + 1] = layer(h[i], units=4, f=relu) as \"block{i}\" }\n"
    "  loss = mean(softmax_cross_entropy(h[k], y))\n"
    "  minimize(loss, momentum, lr=lr, clip_norm=1.0)\n"
    "}\n"
    "entry eval(x: f32[B, 4]) -> (class: i32[B]) {\n"
    "  class = argmax(layer(x, units=4, f=relu) as block0, axis=1)\n"
    "}\n",
    "fn double(x: T[...D]) -> T[...D] { return x + x }\n"
    "gradient double(x) -> y, dy { return dy + dy }\n"
    "var w: f32[2, 3] = normal(0, 1, seed=3)\n"
    "entry e(x: f32[N, 2], p: bool[]) -> (a: f32[N, 3], g: f32[2, 3]) {\n"
    "  a = double(x @ w)[:, ::-1]\n"
    "  b = concat([a[1:, :2], a[1:, 2:3]], axis=1) |> tanh()\n"
    "  g = grad(sum(where(p, b, abs(b))), w)\n"
    "  w += -0.1 * g after [b]\n"
    "  v = if len(shape(x)) == 2 { yield a[-1] } else { yield x[0] }\n"
    "  on \"/device:cpu:0\" { u = one_hot(argmax(a, axis=1), 4, dtype=f32) colocate w }\n"
    "}\n",
    "graph g\n"
    "dim N\n"
    "$w/init/const: f32[2] = [1.0, 2.0]\n"
    "var $w: f32[2] = $w/init/const trainable=false on \"/job:ps\"\n"
    "entry e(x: f32[N, 2]) -> (y: f32[N] = $e/y) {\n"
    "  $e/w/read: f32[2] = read(state=$w)\n"
    "  $e/broadcast: f32[N, 2] = broadcast($e/w/read, shape=[N, 2])\n"
    "  $e/mul: f32[N, 2] = mul($e/x, $e/broadcast) on \"/device:cpu:1\"\n"
    "  $e/slice: f32[N, 1] = slice($e/mul, start=[0, 1], size=[N, 1], step=[1, 1])\n"
    "  $e/y: f32[N] = sum($e/slice, axis=[1], keepdims=false) after [$e/w/read]\n"
    "  $e/w/assign = assign($e/w/read, state=$w) colocate \"e/y\" after [$e/y]\n"
    "}\n",
};
enum { PROGRAMS = sizeof programs / sizeof *programs };

static uint32_t random_state = 7;

static uint32_t random_below(uint32_t bound) {
  random_state = random_state * 1664525u + 1013904223u;
  return (uint32_t)((uint64_t)random_state * bound >> 32);
}

static bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

static bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || is_digit(c) || c == '_';
}

// What may stand for what, so that most of what comes out still parses.
static int class_of(char c) {
  return is_digit(c) ? 1 : is_word(c) ? 2 : c && strchr("+-*/%@<>", c) ? 3 : 0;
}

typedef struct span {
  size_t at, size;
} span;

// A word or a sign at a random place.
static span random_token(const char *text) {
  size_t at = random_below((uint32_t)strlen(text)), size = 1;
  while (at > 0 && is_word(text[at]) && is_word(text[at - 1])) at--;
  while (is_word(text[at]) && is_word(text[at + size])) size++;
  return (span){at, size};
}

static span random_line(const char *text) {
  size_t at = random_below((uint32_t)strlen(text)), size;
  while (at > 0 && text[at - 1] != '\n') at--;
  size = strcspn(text + at, "\n") + 1;
  return (span){at, size};
}

static void replace(char *text, span where, const char *piece, size_t added) {
  static char copy[PIECE];
  if (added > sizeof copy) added = sizeof copy;
  memcpy(copy, piece, added);
  char *end = text + where.at + where.size;
  memmove(text + where.at + added, end, strlen(end) + 1);
  memcpy(text + where.at, copy, added);
}

static void replace_token(char *text, bool alike) {
  for (int tries = 0; tries < 100; tries++) {
    const char *from = programs[random_below(PROGRAMS)];
    span old = random_token(text), new = random_token(from);
    int class = class_of(text[old.at]);
    if (alike && (class == 0 || class != class_of(from[new.at]))) continue;
    replace(text, old, from + new.at, new.size);
    return;
  }
}

static void replace_word(char *text) {
  static const char *const words[] = {
      "0",     "2",         "none",       "true", "\"a\"",     "[]",
      "x[0]",  "x[:, 1:]",  "grad(x, x)", "-1",   "apply",     "sgd",
      "shape", "training",  "shape(x)",   "None", "[1, 2]",    "f64",
      "i32",   "i64[]",     "9",          "rank", "f32[0, 2]", "reshape",
      "N",     "max",       "N * N - 1",  "f32",  "tasks",     "pad",
      "zeros", "transpose", "range(9)",   "w",    "$e/x",      "9223372036854775807",
  };
  const char *word = words[random_below(sizeof words / sizeof *words)];
  span old = random_token(text);
  for (int tries = 0; tries < 100 && class_of(text[old.at]) % 3 == 0; tries++)
    old = random_token(text);
  replace(text, old, word, strlen(word));
}

static void damage(char *text) {
  const char *from = programs[random_below(PROGRAMS)];
  span line = random_line(text), new = random_line(from);
  switch (random_below(8)) {
  case 0: replace(text, line, "", 0); break;
  case 1: replace(text, (span){line.at, 0}, from + new.at, new.size); break;
  case 2: replace_token(text, false); break;
  case 3:
  case 4: replace_word(text); break;
  default: replace_token(text, true); break;
  }
}

// Whatever it is: it ends, its graph keeps the rules, and reads back as it prints; or it is as if
// it had never been.
static bool check_damaged(const char *text, bool interactive) {
  leat_frontend_options options = {.most_steps = 20000};
  evaluated e = evaluated_begin(&options);
  bool ok = evaluated_add_n(&e, "t", text, strlen(text), interactive);
  if (ok) {
    evaluated again = evaluated_begin(NULL);
    bool same =
        evaluated_add(&again, e.printed.data) && strcmp(again.printed.data, e.printed.data) == 0;
    if (!same)
      CHECK_FAILED("%s\ngives\n%s\nwhich gives\n%s%s", text, e.printed.data, again.messages.data,
                   again.printed.data);
    evaluated_finish(&again);
  } else {
    CHECK(leat_diag_errors(e.diag) > 0);
    CHECK_EQ_STR(e.printed.data, "graph main\n");
  }
  evaluated_finish(&e);
  return ok;
}

TEST(damaged_programs_do_no_harm) {
  static char text[1 << 14];
  int right = 0;
  for (uint32_t i = 0; i < MUTANTS && check_failures < 3; i++) {
    strcpy(text, programs[i % PROGRAMS]);
    for (uint32_t hits = 1 + random_below(3); hits > 0; hits--) damage(text);
    right += check_damaged(text, i % 2);
  }
  CHECK(right > MUTANTS / 50);
}

CHECK_MAIN("frontend")
