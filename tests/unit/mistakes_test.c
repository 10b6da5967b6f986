// What is said of texts that parse and mean nothing: each mistake gives one message at its place
// and leaves the graph as it was.
#include "tests/unit/evaluated.h"

// clang-format off
static const struct {
  const char *text, *message; // the first line
} mistakes[] = {
    {"y = relv(1.0)",
     "t:1:5: error: unknown name `relv`; did you mean `relu`?"},
    {"y = undefined",
     "t:1:5: error: unknown name `undefined`"},
    {"entry f(x: f32[3]) -> (y: f32[3]) { y = tanh(x, x) }",
     "t:1:49: error: `tanh` takes 1 input (x) and no attribute, found more"},
    {"entry f(x: f32[3]) -> (y: f32[3]) { y = tanh() }",
     "t:1:41: error: `tanh` takes 1 input (x), found 0"},
    {"entry f(x: f32[3]) -> (y: f32[]) { y = sum(x, axes=0) }",
     "t:1:47: error: `sum` has no attribute `axes`; did you mean `axis`?"},
    {"entry f(x: f32[3]) -> (y: f32[]) { y = sum(x, axis=\"a\") }",
     "t:1:52: error: attribute `axis` of `sum`: expected an int or a list of at most 8 ints, found a string"},
    {"entry f(x: f32[3]) -> (y: f32[]) { y = sum(x, axis=3) }",
     "t:1:52: error: there is no axis 3 in a tensor of rank 1"},
    {"entry f(x: f32[3]) -> (y: f32[]) { y = sum(x, axis=[0, 0]) }",
     "t:1:52: error: axis 0 stands there twice"},
    {"entry f(x: f32[3], z: f32[4]) -> (y: f32[3]) { y = x + z }",
     "t:1:52: error: f32[3] and f32[4] do not broadcast: axis 0: 3 and 4 differ"},
    {"entry f(x: f32[3], z: i32[3]) -> (y: f32[3]) { y = x + z }",
     "t:1:52: error: add of f32[3] and i32[3]: dtypes f32 and i32 differ; only `cast` converts"},
    {"entry f(x: f32[2, 3]) -> (y: f32[2, 3]) { y = x @ x }",
     "t:1:47: error: matmul of f32[2, 3] and f32[2, 3]: axis 1 of the first and axis 0 of the second: 3 and 2 differ"},
    {"entry f(x: f32[3]) -> (y: f32[4]) { y = x }",
     "t:1:24: error: `y`: expected f32[4], found f32[3]"},
    {"entry f(x: f32[3]) -> (z: f32[3]) { y = x }",
     "t:1:24: error: the entry binds no `z` for this result"},
    {"entry f(x: f32[3]) -> (x: f32[3], x: f32[3]) { y = x }",
     "t:1:35: error: the entry has two results called `x`"},
    {"entry f(x: f32[3]) { }\n"
     "entry f(x: f32[3]) { }",
     "t:2:7: error: there is an entry `f` already"},
    {"x = 1\n"
     "x = 2",
     "t:2:1: error: `x` is bound twice in this scope"},
    {"x = 1\n"
     "entry x() { }",
     "t:2:7: error: `x` is a binding already; entries, variables, instances and top-level names "
     "share one namespace"},
    {"x = 1\n"
     "var x: f32[]",
     "t:2:5: error: `x` is a binding already; entries, variables, instances and top-level names "
     "share one namespace"},
    {"entry e() { }\n"
     "var e: f32[]",
     "t:2:5: error: `e` is an entry already; entries, variables, instances and top-level names "
     "share one namespace"},
    {"fn net(x: f32[]) { var w: f32[]\n"
     " return x * w }\n"
     "w = 1.0\n"
     "entry e() { y = net(w) as w }",
     "t:4:17: error: `w` is a binding already; this call may be named `as w_net`"},
    {"fn f(x: f32[]) { return x }\n"
     "f = 3",
     "t:2:1: error: `f` is a function already"},
    {"fn f(x: f32[]) { return x }\n"
     "fn f(x: f32[]) { return x + 1 }",
     "t:2:4: error: function `f` is defined twice"},
    {"gradient nothing(x) -> y, dy { return dy }",
     "t:1:10: error: there is no function or op `nothing`"},
    {"entry e(x: f32[2, 3]) -> (y: f32[2, 4]) { y = dense(x, units=4) }",
     "t:1:47: error: `dense` holds state, so this call needs a name: `dense(…) as NAME` names its variables"},
    {"entry e(x: f32[2, 3]) {\n"
     "  a = dense(x, units=4) as d\n"
     "  b = dense(x, units=5) as d\n"
     "}",
     "t:3:7: error: `dense(x: f32[2, 3])`: variable `d/w` is f32[3, 5] here and f32[3, 4] elsewhere"},
    {"fn other(x: f32[2, 3]) { var w: f32[3] = 0\n"
     " return x * w }\n"
     "entry e(x: f32[2, 3]) {\n"
     "  a = dense(x, units=4) as d\n"
     "  b = other(x) as d\n"
     "}",
     "t:5:7: error: instance `d` is of `other` here and of `dense` elsewhere"},
    {"fn f(k: float) { var w: f32[] = k\n"
     " return w }\n"
     "entry e() {\n"
     "  a = f(1.0) as d\n"
     "  b = f(2.0) as d\n"
     "}",
     "t:1:18: error: variable `d/w` is initialised in two ways"},
    {"entry e(x: f32[2]) { y = dense(x, units=4) as \"a/b\\tc\" }",
     "t:1:26: error: `b\tc` cannot be a part of a path: a name has no control characters and no backquotes"},
    {"entry e(x: f32[2]) { y = relu(x) as \"\" }",
     "t:1:26: error: `` names no instance: a path ends with a name"},
    {"entry e(x: f32[2]) { y = tanh(x) as t }",
     "t:1:26: error: `tanh` holds no state: `as` is for functions that do"},
    {"entry e(x: f32[2]) { y = dense(x, unit=4) as t }",
     "t:1:35: error: `dense` has no parameter `unit`; did you mean `units`?"},
    {"entry e(x: f32[2, 3]) { y = dense(x) as t }",
     "t:1:29: error: argument `units` of `dense` is missing"},
    {"entry e(x: f32[2, 3]) { y = dense(x, 4, relu, zeros, true, 7) as t }",
     "t:1:60: error: `dense` takes 5 arguments, found more"},
    {"entry e(x: f32[2, 3]) { y = dense(x, units=4, units=5) as t }",
     "t:1:53: error: argument `units` of `dense` is given twice"},
    {"entry e(x: f32[2, 3]) { y = dense(x, units=4.5) as t }",
     "t:1:44: error: argument `units` of `dense`: expected int, found a float"},
    {"fn f(x: f32[N], y: f32[N]) { return x + y }\n"
     "entry e(x: f32[2], y: f32[3]) { z = f(x, y) }",
     "t:2:42: error: argument `y` of `f`: expected f32[N] with N = 2, found f32[3]"},
    {"fn f(x: T[], y: T[]) { return x + y }\n"
     "entry e(x: f32[], y: f64[]) { z = f(x, y) }",
     "t:2:40: error: argument `y` of `f`: expected T[] with T = f32, found f64[]"},
    {"fn f(v: var f32[]) { v := 1 }\n"
     "entry e(x: f32[]) { f(x) }",
     "t:2:23: error: argument `v` of `f`: expected a variable, found a tensor"},
    {"fn f(x: f32[]) -> i32[] { return x }\n"
     "entry e(x: f32[]) { y = f(x) }",
     "t:2:25: error: `f`: expected i32[], found f32[]"},
    {"fn f(x: f32[]) -> (f32[], f32[]) { return x }\n"
     "entry e(x: f32[]) { y, z = f(x) }",
     "t:2:28: error: `f` declares 2 results and returns 1"},
    {"fn f(x: f32[]) { return x, x }\n"
     "entry e(x: f32[]) { y, z, u = f(x) }",
     "t:2:21: error: 3 names for 2 results"},
    {"entry e(x: f32[]) { y, z = x }",
     "t:1:21: error: 2 names for one value"},
    {"x: i32[] = 3000000000",
     "t:1:12: error: 3000000000 is no i32"},
    {"x: f32[2] = [1, 2, 3]",
     "t:1:13: error: expected a list of 2 here, found one of 3"},
    {"x: f16[] = true",
     "t:1:12: error: true is no f16"},
    {"x: f32[N] = 0",
     "t:1:8: error: unknown name `N`"},
    {"entry e(x: f32[3]) { y = x[3] }",
     "t:1:28: error: index 3 of a dimension of 3"},
    {"entry e(x: f32[3]) { y = x[0, 1] }",
     "t:1:26: error: 2 indices into a tensor of rank 1"},
    {"entry e(x: f32[3]) { y = x[0.5] }",
     "t:1:28: error: an index is a slice, an int, a tensor of integers or a bool mask, not f32"},
    {"entry e(x: f32[3]) { y = x[::0] }",
     "t:1:30: error: a slice's step is an int, not 0"},
    {"l = [1, 2]\n"
     "x = l[2]",
     "t:2:7: error: index 2 of a list of 2"},
    {"for i in 0..3 { x = i }\n"
     "y = x",
     "t:2:5: error: `x` is bound inside a `for` and gone with each turn; a family is kept: `x[i] = "
     "…`"},
    {"for i in 0..3 { h[i + 1] = h[i] }",
     "t:1:28: error: unknown name `h`"},
    {"for i in 0..3 { h[0] = i }",
     "t:1:17: error: `h[0]` is bound twice"},
    {"h[0] = 1\n"
     "h[2] = 2\n"
     "n = len(h)",
     "t:3:9: error: member 1 of this family is not bound yet"},
    {"for i in 0..0.5 { }",
     "t:1:13: error: the bounds of a `for` are ints, found a float"},
    {"entry e(x: f32[]) { for i in x { } }",
     "t:1:30: error: `for` goes over a range or a list, not over a tensor"},
    {"entry e(p: i32[]) { if p { print(\"x\") } }",
     "t:1:24: error: the condition of `if` is one bool, this is i32[]; a comparison, such as `x > 0`, gives one"},
    {"if 1 { x = 2 }",
     "t:1:4: error: the condition of `if` is a bool, found an int"},
    {"x = if true { yield 1, 2 } else { yield 3 }",
     "t:1:15: error: each side of this `if` ends in `yield`, with 1 value: `{ … yield x }`"},
    {"entry e(n: i32[]) { t = while (t = 0) t { next t + 1 } }",
     "t:1:39: error: the condition of `while` is one bool, this is i32[]; a comparison, such as `x > 0`, gives one"},
    {"queue q: (f32[]) capacity=3",
     "t:1:1: error: queues are not supported yet"},
    {"entry e() background { }",
     "t:1:11: error: `background` entries are not supported yet"},
    {"entry e() trainings { }",
     "t:1:11: error: expected `->` or `{`, found `trainings`; did you mean `training`?"},
    {"on \"/job\" { x = 1.0 }",
     "t:1:4: error: `/job` is no device name; they look like \"/job:worker/task:0/device:cpu:0\", with at least one part"},
    {"on \"/device:cpu:0\" { on \"/device:cpu:1\" { x = 1.0 * 2 } }",
     "t:1:25: error: `on \"/device:cpu:1\"` stands inside `on \"/device:cpu:0\"`: nothing can be on both"},
    {"on \"/job:worker/task:1\" { x = 1.0 }",
     "t:1:4: error: without a cluster every job has one task, 0: there is no task 1"},
    {"entry e(x: f32[]) { y = x + 1 after [z] }",
     "t:1:38: error: unknown name `z`"},
    {"entry e(x: f32[]) { y = x + 1 after [y] }",
     "t:1:38: error: `after` makes a cycle: `e/y` would have to wait for itself"},
    {"entry e(x: f32[]) {\n"
     "  y = x + 1 after [z]\n"
     "  z = y * 2\n"
     "}",
     "t:2:20: error: `after` makes a cycle: `e/z` would have to wait for itself"},
    {"entry e(x: f32[]) { y = x + 1 colocate 3 }",
     "t:1:40: error: `colocate` names a tensor or a variable, this is an int"},
    {"var a: f32[] = 1\n"
     "var b: f32[] = a",
     "t:2:16: error: an initialiser is pure: that of `b` cannot depend on the variable `a`"},
    {"fn i(out: type) { print(1)\n"
     " return 0 }\n"
     "var a: f32[] = i()",
     "t:1:19: error: an initialiser is pure: `print` has no place in that of `a`"},
    {"fn i(out: type) { var w: f32[]\n"
     " return 0 }\n"
     "var a: f32[] = i() as n",
     "t:3:16: error: argument `out` of `i` is missing, a type such as `f32[3, 4]`"},
    {"var a: f32[3] = [1, 2]",
     "t:1:17: error: expected a list of 3 here, found one of 2"},
    {"var a: f32[3] = 1 trainable=3",
     "t:1:19: error: a variable's options are trainable=true|false and container=\"…\"; here `trainable` is an int"},
    {"var a: f32[3] = 1 colocate a",
     "t:1:28: error: `colocate` of state is not supported yet; `on` is"},
    {"entry e(x: f32[N]) { var w: f32[N] = 0 }",
     "t:1:29: error: the dimensions of a variable must be known while compiling; here it would be f32[N]"},
    {"entry e(x: f32[3]) { g = grad(x, [x]) }",
     "t:1:26: error: a loss is a scalar of floats, this is f32[3]; `mean` and `sum` make one of it"},
    {"entry e(x: f32[], i: i32[]) { g = grad(x, [i]) }",
     "t:1:35: error: a gradient is with respect to floats, `e/i` is i32"},
    {"entry e(x: f32[3]) -> (l: f32[]) { l = sum(x)\n"
     " minimize(l, sgd) }",
     "t:2:2: error: the loss depends on no trainable variable: nothing to minimise"},
    {"var w: f32[3] = 0\n"
     "entry e() -> (l: f32[]) { l = sum(w)\n"
     " minimize(l, relu) }",
     "t:3:2: error: `relu` takes 1 argument, found more"},
    {"var w: f32[3] = 0\n"
     "entry e() -> (l: f32[]) { l = sum(w)\n"
     " minimize(l, sgd, learning_rate=3) }",
     "t:3:19: error: `sgd` has no parameter `learning_rate`; there are `v`, `g` and `lr`"},
    {"fn f(x: f32[]) { return f(x) }\n"
     "y = f(1)",
     "t:1:25: error: calls are nested more than 200 deep: does `f` call itself? What is "
     "repeated while running is a `while`"},
    {"dim B in 3..1",
     "t:1:10: error: a dim's bounds are two ints, 0 <= low <= high"},
    {"dim B in 1..3\n"
     "dim B in 1..4",
     "t:2:1: error: dim `B` is known already, with other bounds"},
    {"entry e(x: f32[3]) { x := 1 }",
     "t:1:22: error: only a variable can be assigned, this is a tensor"},
    {"entry e() { y = load(\"missing.npy\") }",
     "t:1:17: error: cannot open 'missing.npy': No such file or directory"},
    {"use \"missing.leat\"",
     "t:1:5: error: cannot open 'missing.leat': No such file or directory"},
    {"entry e(x: f32[-1]) { }",
     "t:1:16: error: a dimension cannot be -1"},
    {"entry e(x: f32[1, 1, 1, 1, 1, 1, 1, 1, 1]) { }",
     "t:1:40: error: a tensor has at most 8 dimensions"},
    {"entry e(x: f32) { }",
     "t:1:12: error: expected a type such as `f32[N, 64]` (a scalar is `f32[]`)"},
    {"entry e(x: g32[3]) { }",
     "t:1:12: error: unknown name `g32`; did you mean `i32`?"},
    {"entry e(x: f32[3]) { y = reshape(x, [2, -1]) }",
     "t:1:26: error: reshape of f32[3]: elements before and after, to f32[2, 1]: 3 and 2 differ"},
    {"x = 1 / 0",
     "t:1:5: error: division by zero"},
    {"x = 9223372036854775807 + 1",
     "t:1:5: error: the number does not fit 64 bits"},
    {"x = \"a\" + 1",
     "t:1:5: error: add of str[] and i32[]: add takes numbers, not str"},
    {"x = -\"a\"",
     "t:1:5: error: neg of str[]: neg takes numbers, not str"},
    {"y = 3(4)",
     "t:1:5: error: an int cannot be called"},
    {"x = $nothing",
     "t:1:5: error: nothing above is called `$nothing`"},
    {"entry e(x: f32[]) { y = x + 1 }\n"
     "z = $e/y",
     "t:2:5: error: `$e/y` is of the entry `e`: nothing outside can use it"},
    {"x = len(3)",
     "t:1:5: error: `len` counts a list or a string, found an int"},
    {"x = shape(1, 2)",
     "t:1:14: error: `shape` takes 1 argument by position, found more"},
    {"x = 1.5 @ 2.0",
     "t:1:5: error: `@` is not for floats"},
    {"var w: f32[3] = 0\n"
     "entry e() { w := [1, 2] }",
     "t:2:13: error: broadcast of f32[2]: axis 0: 2 and 3 differ"},
    {"static_assert(1 > 2, \"one is not greater\")",
     "t:1:1: error: one is not greater"},
    {"fn g(x: f32[]) { return x }\n"
     "fn f(x: f32[], ...) { return g(x, ...) }\n"
     "y = f(1, 2)",
     "t:2:35: error: `g` takes 1 argument, found more"},
    {"fn f(x: f32[]) { return tanh(x, ...) }\n"
     "y = f(1.0)",
     "t:1:33: error: `...` passes on what a parameter `...` collected; there is none here"},
    {"x = cast(1)",
     "t:1:5: error: `cast` needs `dtype=`"},
    {"x = concat(1.0, [2.0], axis=0)",
     "t:1:29: error: there is no axis 0 in a tensor of rank 0"},
    {"x = assert(\"hello\")",
     "t:1:5: error: `assert` takes at least 1 input (p, …), found 0"},
};
// clang-format on

static void check_mistake(const char *text, const char *message) {
  evaluated e = evaluated_begin(NULL);
  CHECK(evaluated_add(&e, "before = tanh(tensor(1.0))"));
  char *graph = strdup(e.printed.data);
  CHECK(!evaluated_add(&e, text));
  size_t size = strlen(message);
  if (strncmp(e.messages.data, message, size) != 0 || e.messages.data[size] != '\n')
    CHECK_FAILED("%s\ngives\n%s\nnot\n%s", text, e.messages.data, message);
  CHECK_EQ_STR(e.printed.data, graph);
  CHECK(evaluated_add(&e, "after = $before * 3.0"));
  free(graph);
  evaluated_finish(&e);
}

TEST(each_mistake_is_reported_where_it_is) {
  for (size_t i = 0; i < sizeof mistakes / sizeof *mistakes; i++)
    check_mistake(mistakes[i].text, mistakes[i].message);
}

TEST(a_message_shows_the_line_and_what_led_there) {
  evaluated e = evaluate("fn half(x: f32[N]) -> f32[N] {\n"
                         "  return x / two\n"
                         "}\n"
                         "\n"
                         "entry f(x: f32[3]) -> (y: f32[3]) {\n"
                         "  y = half(x)\n"
                         "}\n");
  CHECK_EQ_STR(e.messages.data, "t:2:14: error: unknown name `two`\n"
                                "  return x / two\n"
                                "             ^~~\n"
                                "t:6:7: note: in this call of `half`\n"
                                "  y = half(x)\n"
                                "      ^~~~~~~\n");
  evaluated_finish(&e);
}

TEST(mistakes_in_several_entries_are_reported_together) {
  evaluated e = evaluate("entry a(x: f32[3]) -> (y: f32[3]) { y = relv(x) }\n"
                         "entry b(x: f32[3]) -> (y: f32[4]) { y = x }\n"
                         "z = w\n");
  CHECK_HAS(e.messages.data, "t:1:41: error: unknown name `relv`");
  CHECK_HAS(e.messages.data, "t:2:24: error: `y`: expected f32[4], found f32[3]");
  CHECK_HAS(e.messages.data, "t:3:5: error: unknown name `w`");
  evaluated_finish(&e);
}

TEST(one_mistake_is_reported_once) {
  evaluated e = evaluate("queue q: (f32[3], i32[]) capacity=4\n"
                         "entry train() training -> (loss: f32[]) {\n"
                         "  for i in 0..3 {\n"
                         "    x[i], y[i] = dequeue(q)\n"
                         "    z[i] = relu(x[i]) * 2\n"
                         "  }\n"
                         "  loss = sum(z[2])\n"
                         "  minimize(loss, sgd)\n"
                         "}\n");
  CHECK_EQ_STR(e.messages.data, "t:1:1: error: queues are not supported yet\n"
                                "queue q: (f32[3], i32[]) capacity=4\n"
                                "^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~\n");
  evaluated_finish(&e);
}

CHECK_MAIN("mistakes")
