// What texts mean: types, functions, control while compiling, indices, and that the graphs that
// they become read back as they print.
#include "base/file.h"
#include "ops/turns.h"
#include "tests/unit/evaluated.h"

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
    if (leat_file_read(files[i], 1 << 20, &text, &size, &error)) {
      CHECK_FAILED("%s", error.message);
      continue;
    }
    check_read_back(files[i], text, size);
    free(text);
  }
}

TEST(every_kind_of_line_reads_back_as_it_prints) {
  check_read_back("t", every_kind_of_line, strlen(every_kind_of_line));
}

TEST(canonical_text_places_the_feeds_of_parameters) {
  static const char text[] =
      "graph g device=\"/job:ps/task:0\"\n"
      "entry f(x: f32[]) training -> (y: f32[] = $f/y) {\n"
      "  $f/one: f32[] = 1.0\n"
      "  $f/x: f32[] = feed(name=\"x\", index=0, type=f32[], donated=false) on \"/device:cpu:1\" "
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
              "argument `x` of `f`: expected f32[2 * N] with N = 4, found f32[6]");
}

TEST(literals_take_the_dtype_they_meet) {
  CHECK_GRAPH("entry e(x: f64[], i: i64[2]) -> (y: f64[], j: i64[2], k: i32[], f: f32[]) {\n"
              "  y = 2 * x\n"
              "  j = i + 1\n"
              "  k = 7 // 2\n"
              "  f = 7 / 2.0\n"
              "}\n",
              "const: f64[] = 2.0", "i64[] = 1", "i32[] = 3", "f32[] = 3.5");
  CHECK_GRAPH("fn f(x: T[], lr: T[] = 1) -> T[] { return 3 }\n"
              "entry e(x: f64[]) -> (y: f64[]) { y = f(x) }\n",
              "$e/y: f64[] = 3.0");
  CHECK_GRAPH("x: f32[2, 2] = 1\n", "$const: f32[] = 1.0", "$x: f32[2, 2] = broadcast");
}

TEST(arguments_go_by_position_by_name_and_on) {
  CHECK_GRAPH("fn g(a: int, b: int = 10, _c: [int] = none) { return [a, b] }\n"
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
  CHECK_HAS(e.printed.data, "var $d/w: f32[3, 4] = $d/w/init/where on \"/job:ps\"");
  CHECK_HAS(e.printed.data, "family=\"\") on \"/job:worker/task:2\"");
  CHECK_HAS(e.printed.data, "$n: i32[3] = [0, 1, 2]");
  CHECK(!evaluated_add(&e, "on \"/job:worker/task:3\" { x = 1.0 * 2 }"));
  CHECK_HAS(e.messages.data, "job `worker` has 3 tasks: there is no task 3");
  CHECK(!evaluated_add(&e, "m = tasks(\"workers\")"));
  CHECK_HAS(e.messages.data, "the cluster has no job `workers`; did you mean `worker`?");
  evaluated_finish(&e);
}

TEST(a_loop_says_how_often_it_turns) {
  evaluated e = evaluate("entry f(x: f32[T]) -> (y: f32[]) {\n"
                         "  _, y = while (t = 0, y = 0.0) t < 5 { next t + 1, y + sum(x) }\n"
                         "}\n");
  leat_graph *graph = leat_frontend_graph(e.frontend);
  leat_node *loop = leat_graph_find_node(graph, "f/while_loop");
  static const leat_dim claims[] = {{.value = 5}, {.value = 4}};
  for (int i = 0; loop && i < 2; i++) {
    leat_error error = {0};
    leat_attr turns = {.count = 1, .dims = &claims[i]};
    leat_node_set_attr(graph, loop, "turns", turns);
    CHECK_EQ_INT(leat_verify_turns(graph, &error), i ? LEAT_INTERNAL : LEAT_OK);
    CHECK_EQ_STR(error.message, i ? "verify: node $f/while_loop turns 5 times" : "");
  }
  CHECK(loop);
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
              "start=[N - max(1, N) + 1, 0], size=[max(1, N) - 1, 3]",
              "start=[N - 1, 0], size=[1, 3]");
  // The same places have the same form, however they are asked for.
  CHECK_GRAPH("entry e(x: f32[N]) -> (y: f32[max(N, 3) - 3], z: f32[max(N - 3, 0)]) {\n"
              "  y = x[1:][1:-1] + x[2:-1]\n z = x[:-3] - x[3:][::-1]\n}",
              "y: f32[max(3, N) - 3]", "z: f32[max(3, N) - 3]");
}

CHECK_MAIN("frontend")
