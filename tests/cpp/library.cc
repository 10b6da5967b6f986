// leat.hpp and graph.hpp, all of them: whatever is wrong is said, and the exit status is 1.
#include <leat/graph.hpp>

#include "line.h" // what `leat build` made of line.leat

#include <cstdio>
#include <cstdlib>
#include <limits>
#include <thread>

static int passed, failed;

static void check(bool ok, const char *what, int line) {
  if (!ok) std::printf("library.cc:%d: %s\n", line, what);
  (ok ? passed : failed)++;
}
#define CHECK(...) check((__VA_ARGS__), #__VA_ARGS__, __LINE__)

// What the call throws, as text; "": nothing.
template <class Call> static std::string thrown(leat_status status, Call call) {
  try {
    call();
  } catch (const leat::error &error) {
    return error.status() == status ? error.what() : leat_status_name(error.status());
  }
  return "";
}
#define THROWS(status, words, ...)                                                                 \
  CHECK(thrown(status, [&] { __VA_ARGS__; }).find(words) != std::string::npos)

static leat::session_options on_ref() {
  leat::session_options options;
  options.target = "ref";
  options.threads = 1;
  options.cache = "off";
  return options;
}

template <class T> static void check_scalar(T given, leat_dtype dtype) {
  leat::tensor x = given;
  CHECK(x.dtype() == dtype && x.rank() == 0 && x.size() == 1 && x.owns());
}

static void test_tensors() {
  check_scalar(true, LEAT_bool);
  check_scalar(static_cast<signed char>(1), LEAT_i8);
  check_scalar(static_cast<short>(1), LEAT_i16);
  check_scalar(1, LEAT_i32);
  check_scalar(1L, LEAT_i64);
  check_scalar(1LL, LEAT_i64);
  check_scalar(1ULL, LEAT_u64);
  check_scalar(2.5f, LEAT_f32);
  check_scalar(2.5, LEAT_f64);
  check_scalar(std::complex<float>(1, 2), LEAT_c64);
  check_scalar("text", LEAT_str);
  CHECK(leat::tensor(2.5f).item<float>() == 2.5f);
  CHECK(leat::tensor("a\0b").item<std::string>() == "a");
  leat::tensor matrix({2, 3}, {1.0f, 2.0f, 3.0f, 4.0f, 5.0f, 6.0f});
  CHECK(matrix.shape() == leat::shape{2, 3} && matrix.size() == 6);
  CHECK(matrix.data<float>()[4] == 5 && matrix.values<float>().back() == 6);
  leat::tensor same = matrix, other = matrix.copy();
  matrix.data<float>()[0] = 7;
  CHECK(same.data<float>()[0] == 7 && other.data<float>()[0] == 1 && other.owns());
  double mine[] = {1, 2};
  leat::tensor seen = leat::tensor::view(mine, {2});
  mine[1] = 3;
  CHECK(!seen.owns() && seen.data<double>()[1] == 3);
  leat::tensor words(std::vector<std::string>{"one", std::string("t\0o", 3)});
  leat::tensor copied = words.copy();
  words = leat::tensor();
  CHECK(copied.values<std::string>()[1] == std::string("t\0o", 3));
  leat::tensor empty(leat::shape{0, 3}, std::vector<float>{});
  CHECK(empty.size() == 0 && empty.raw().data && !leat::tensor().raw().data);
  CHECK(empty.copy().raw().data && leat::tensor().size() == 0);
  CHECK(leat::tensor(std::vector<leat::half>{{0x3c00}}).dtype() == LEAT_f16);
  CHECK(leat::dtype_of<leat::bfloat16>::value == LEAT_bf16);
  THROWS(LEAT_INVALID, "are f32, not f64", matrix.data<double>());
  THROWS(LEAT_INVALID, "6 elements, not one", matrix.item<float>());
  THROWS(LEAT_INVALID, "do not fill", leat::tensor({2, 2}, {1, 2, 3}));
  THROWS(LEAT_INVALID, "no tensor has such extents", leat::tensor::view(mine, {-1}));
  THROWS(LEAT_INVALID, "at most 8 axes", leat::tensor::view(mine, leat::shape(9, 1)));
}

static void test_sessions() {
  leat::session session(on_ref());
  session.extend("var w: f32[3] = [1, 1, 1]\n"
                 "entry predict(x: f32[N, 3], bias: f32[] = 0) -> (y: f32[N], n: i64[]) {\n"
                 "  y = x @ w + bias\n  n = N\n}\n"
                 "entry train(x: f32[N, 3], t: f32[N]) training -> (loss: f32[]) {\n"
                 "  loss = mean(square(x @ w - t))\n  minimize(loss, sgd, lr=0.5)\n}\n",
                 "line.leat");
  CHECK(session.entries() == std::vector<std::string>{"predict", "train"});
  CHECK(!session.trains(0) && session.trains(1));
  leat::step predict = session.prepare("predict");
  CHECK(predict && predict.feeds().size() == 2 && predict.feeds()[1].has_fallback);
  CHECK(predict.fetches()[0].name == "y" && predict.fetches()[0].type == "f32[N]");
  leat::tensor x({2, 3}, {1.0f, 2.0f, 3.0f, 4.0f, 5.0f, 6.0f});
  leat::results said = predict.run({x});
  CHECK(said.size() == 2 && said["y"].values<float>() == std::vector<float>{6, 15});
  CHECK(said[1].item<std::int64_t>() == 2);
  leat::tensor kept = said[0].copy();
  said = predict.run({{"bias", 1.0f}, {"x", x}});
  CHECK(said[0].data<float>()[0] == 7 && kept.data<float>()[0] == 6);
  CHECK(predict.run(std::vector<leat::feed>{x, 2.0f})[0].data<float>()[1] == 17);
  leat::results taken = predict.take(predict.run({x}));
  predict.run({x, 100.0f});
  CHECK(taken["y"].data<float>()[0] == 6 && predict.memory() > 0 && !predict.is_constant(0));
  THROWS(LEAT_NOT_FOUND, "no result `z`", said["z"]);
  THROWS(LEAT_INVALID, "no feed `z`", predict.run({{"z", x}}));
  THROWS(LEAT_INVALID, "more values than the 2 feeds", predict.run({x, 1.0f, 2.0f}));
  THROWS(LEAT_INVALID, "x", predict.run());

  leat::tensor t(std::vector<float>{6, 15});
  leat::step train = session.prepare("train");
  float first = train.run({x, t})["loss"].item<float>();
  CHECK(first == 0);
  CHECK(session.variables().size() >= 1 && session.slot_of(0).empty());
  session.write("w", leat::tensor(std::vector<float>{1, 2, 3}));
  CHECK(session.read("w").values<float>()[2] == 3 && session.read("w").owns());
  session.check_save("cpp.safetensors");
  session.save("cpp.safetensors");
  session.write("w", leat::tensor(std::vector<float>{0, 0, 0}));
  session.restore("cpp.safetensors");
  CHECK(predict.run({x})[0].data<float>()[0] == 14);
  session.restore_partial("cpp.safetensors");
  THROWS(LEAT_NOT_FOUND, "none.safetensors", session.restore("none.safetensors"));

  leat::step_spec spec;
  spec.fetches = {"w"};
  CHECK(session.prepare(spec).run()[0].values<float>()[1] == 2);
  CHECK(session.print().find("entry predict") != std::string::npos);
  CHECK(session.describe("no such function") == std::nullopt);
  CHECK(!session.names(LEAT_PARAMETERS, "predict").empty());
  CHECK(session.is_client() && session.traffic().empty());
  CHECK(session.trace().find('[') != std::string::npos);

  spec = {};
  spec.entries = {"predict"};
  spec.donated = {"x"};
  leat::step given = session.prepare(spec);
  CHECK(given.feeds()[0].donated && !given.feeds()[1].donated && !predict.feeds()[0].donated);
  THROWS(LEAT_INVALID, "feed `x` is donated, and its elements are const",
         given.run({leat::tensor::view(static_cast<const float *>(nullptr), {0, 3})}));

  leat::session moved = std::move(session); // its steps go on
  CHECK(predict.run({x})[0].data<float>()[0] == 14);
  THROWS(LEAT_INVALID, "wrong.leat:2:5: error: unknown name `relo`; did you mean `relu`?",
         moved.extend("x = 1\ny = relo(x)", "wrong.leat"));
  std::vector<leat::problem> problems;
  try {
    moved.extend("y = 1\nz = y + [", "wrong.leat");
  } catch (const leat::error &error) {
    problems = error.problems();
  }
  CHECK(problems.size() == 1 && problems[0].severity == LEAT_SEVERITY_ERROR);
  CHECK(problems[0].file == "wrong.leat" && problems[0].line == 2 && problems[0].column > 8);
  moved.extend("entry warns(x: f32[], _y: f32[], z: f32[]) -> (y: f32[]) { y = z }", "warns.leat");
  CHECK(moved.problems().size() == 1 && moved.problems()[0].severity == LEAT_SEVERITY_WARNING);
  CHECK(moved.message().find("warns.leat:1:") == 0);
  moved.interrupt();
  THROWS(LEAT_ABORTED, "interrupt", moved.extend("z = 1"));
  moved.interrupt(false);
}

static void test_a_deadline() {
  leat::session_options options = on_ref();
  options.deadline = 0.2;
  leat::session session(options);
  session.extend("var v: f32[] = 1\n"
                 "entry far(n: i32[]) -> (k: i32[]) {\n  v := v + 1\n"
                 "  k, _ = while (k = 0, w = v) k < n { next k + 1 - n // n, w + 1 }\n}",
                 "far.leat");
  leat::step far = session.prepare("far");
  for (int i = 0; i < 2; i++)
    THROWS(LEAT_DEADLINE, "the step has not ended within 0.2 s in `far/", far.run({1}));
  CHECK(session.read("v").item<float>() == 1);
  CHECK(far.run({0})[0].item<std::int32_t>() == 0);
  CHECK(session.read("v").item<float>() == 2);
  session.set_deadline(60);
  CHECK(far.run({0})[0].item<std::int32_t>() == 0);
  session.set_deadline(0.1);
  THROWS(LEAT_DEADLINE, "the step has not ended within 0.1 s in `far/", far.run({1}));
  CHECK(session.read("v").item<float>() == 3);
  THROWS(LEAT_INVALID, "a deadline of -1 seconds", session.set_deadline(-1));
  options.deadline = -1;
  THROWS(LEAT_INVALID, "a deadline of -1 seconds", leat::session{options});
}

static void test_options() {
  std::string printed, logged;
  leat::session_options options = on_ref();
  options.interactive = true;
  options.settings = {{"n", "3"}};
  options.print = [&](std::string_view text) { printed += text; };
  options.log = [&](std::string_view text) { logged += text; };
  options.dump_after = "prune";
  leat::session session(options);
  session.extend("graph g(n: int = 1)\nentry e() -> (y: i32[]) { print(\"says\", n)\n y = n }");
  leat::step e = session.prepare("e");
  CHECK(e.run()[0].item<std::int32_t>() == 3);
  CHECK(printed.find("says") != std::string::npos && logged.find("graph") != std::string::npos);
  session.set_dumps("", "prune");
  CHECK(!session.prepare("e"));
  session.set_dumps("");
  session.hold("a", leat::tensor(std::vector<int>{1, 2}));
  session.extend("a + 1");
  CHECK(session.shown().size() == 1 && session.effects().empty() && session.shown_text().empty());
  CHECK(!session.entry_run().entry);
  leat::step_spec spec;
  spec.fetches = session.shown();
  CHECK(session.prepare(spec).run()[0].values<int>()[1] == 3);

  options.print = [](std::string_view) { throw std::runtime_error("of the caller"); };
  leat::session throws(options);
  throws.extend("entry e() { print(\"says\") }");
  leat::step runs = throws.prepare("e");
  std::string what;
  try {
    runs.run();
  } catch (const std::runtime_error &error) {
    what = error.what();
  }
  CHECK(what == "of the caller");
  options.target = "none";
  THROWS(LEAT_INVALID, "unknown target `none`", leat::session{options});
}

// A result that lies in a donated tensor keeps its elements.
static void test_donated() {
  leat::session session;
  session.extend("entry twice(x: f32[N]) -> (y: f32[N]) { y = x * 2 }");
  leat::step_spec spec;
  spec.entries = {"twice"};
  spec.donated = {"x"};
  leat::step twice = session.prepare(spec);
  float mine[] = {1, 2, 3};
  CHECK(twice.run({leat::tensor::view(mine, {3})})[0].data<float>().data() == mine && mine[2] == 6);
  leat::tensor x(std::vector<float>(100, 1.0f));
  const float *where = x.data<float>().data();
  for (int i = 0; i < 3; i++) x = twice.run({std::move(x)})[0];
  CHECK(x.data<float>().data() == where && x.owns() && x.values<float>()[99] == 8);
}

// A step keeps its session, and results of different threads are their own.
static void test_lives() {
  auto made = [] {
    leat::session session(on_ref());
    session.extend("entry total(x: f32[N]) -> (y: f32[]) { y = sum(x) }");
    return session.prepare("total");
  };
  std::vector<std::thread> threads;
  float totals[3] = {};
  for (float &total : totals)
    threads.emplace_back([&] {
      leat::step step = made();
      total = step.run({std::vector<float>{1, 2, 3}})[0].item<float>();
    });
  for (std::thread &thread : threads) thread.join();
  CHECK(totals[0] == 6 && totals[1] == 6 && totals[2] == 6);
}

static void test_models() {
  leat::model_options options;
  options.threads = 1;
  std::string printed;
  options.print = [&](std::string_view text) { printed += text; };
  leat::model model(line_steps, options);
  CHECK(model.entries() == std::vector<std::string>{"predict", "train"});
  leat::entry predict = model["predict"];
  CHECK(predict.name() == "predict" && predict.about().empty());
  CHECK(predict.feeds()[0].name == "x" && predict.feeds()[0].type == "f32[N, 3]");
  CHECK(predict.feed_dtype(0) == LEAT_f32 && predict.feed_rank(0) == 2);
  CHECK(predict.fetches()[0].name == "y" && predict.fetches()[0].type == "f32[N]");
  leat::tensor x({1, 3}, {1.0f, 2.0f, 3.0f});
  CHECK(predict.run({x})["y"].item<float>() == 0);
  CHECK(model.variables()[0] == "w" && model.variable_type(0) == "f32[3]");
  model.write("w", std::vector<float>{1, 1, 1});
  CHECK(model.read("w").values<float>()[2] == 1 && predict.run({x})[0].item<float>() == 6);
  std::size_t size = predict.memory({x});
  std::vector<unsigned char> block(size + 64);
  void *lent = block.data();
  std::size_t room = block.size();
  std::align(64, size, lent, room);
  model.lend(lent, size);
  CHECK(size > 0 && predict.run({x})[0].item<float>() == 6);
  model.lend(lent, 0);
  THROWS(LEAT_MEMORY, "the memory lent to it", predict.run({x}));
  model.lend(nullptr, 0);
  CHECK(model["train"].run({x, std::vector<float>{6}})["loss"].item<float>() == 0);
  model.save("model.safetensors");
  model.restore("cpp.safetensors");
  CHECK(predict.run({{"x", x}})[0].item<float>() == 14);
  model.check_save("cpp.safetensors");
  model.restore_partial("model.safetensors");
  CHECK(predict.run(std::vector<leat::feed>{x})[0].item<float>() == 6);
  THROWS(LEAT_NOT_FOUND, "none.safetensors", model.restore("none.safetensors"));
  THROWS(LEAT_NOT_FOUND, "no entry `z`", model["z"]);
  THROWS(LEAT_INVALID, "no feed `z`", predict.run({{"z", x}}));
  leat::results kept = [&] { return leat::model(line_steps, options)["predict"].run({x}); }();
  CHECK(kept[0].item<float>() == 0); // which keep their model
}

// -- Graphs --------------------------------------------------------------------------------------

static void test_training() {
  leat::graph g("line.leat");
  leat::value w = g.variable("w", "f32[3]", 0);
  {
    leat::block square = g.function("squared", {{"x", "T[...D]"}}, "T[...D]");
    square.give(square["x"] * square["x"]);
  }
  {
    leat::block train =
        g.entry("train", {{"x", "f32[N, 3]"}, {"y", "f32[N]"}, {"lr", "f32[]", "0.5"}},
                {{"loss", "f32[]"}, "dw"}, true);
    leat::value off = matmul(train["x"], w) - train["y"];
    leat::value loss = g.call("mean", g.call("squared", off), leat::let("loss"));
    std::vector<leat::value> grads = g.grad(loss, {w, off});
    g.effect("apply", leat::code("sgd"), leat::list(w), leat::list(grads[0]),
             leat::arg("lr", train["lr"]));
    train.result("loss", loss);
    train.result("dw", g.call("sum", g.grad(loss, w)));
  }
  leat::session session(on_ref());
  g.extend(session);
  CHECK(g.text() ==
        "var w: f32[3] = 0\n"
        "fn squared(x: T[...D]) -> T[...D] {\n"
        "  mul = x * x\n"
        "  return mul\n"
        "}\n"
        "entry train(x: f32[N, 3], y: f32[N], lr: f32[] = 0.5) training -> (loss: f32[], dw) {\n"
        "  matmul = x @ w\n"
        "  sub = matmul - y\n"
        "  squared_1 = squared(sub)\n"
        "  loss = mean(squared_1)\n"
        "  grad, grad_1 = grad(loss, [w, sub])\n"
        "  apply(sgd, [w], [grad], lr=lr)\n"
        "  grad_2 = grad(loss, w)\n"
        "  sum = sum(grad_2)\n"
        "  dw = sum\n"
        "}\n");
  leat::step train = session.prepare("train");
  leat::tensor x({4, 3}, {1.f, 0.f, 0.f, 0.f, 1.f, 0.f, 0.f, 0.f, 1.f, 1.f, 1.f, 1.f});
  leat::tensor y(std::vector<float>{1, 2, 3, 6});
  for (int i = 0; i < 300; i++) train.run({x, y});
  CHECK(train.run({x, y})["loss"].item<float>() < 1e-8f);
  CHECK(session.read("w").values<float>()[2] > 2.999f);

  // The graph goes on, with what is there.
  {
    leat::block entry = g.entry("predict", {{"x", "f32[N, 3]"}}, {"y"});
    entry.result("y", g.call("relu", matmul(entry["x"], w)));
  }
  g.extend(session);
  CHECK(session.prepare("predict").run({x})[0].data<float>()[3] > 5.99f);
  g.save("made.leat"); // for whoever reads texts
  leat::session again(on_ref());
  leat::graph user;
  user.use("made.leat");
  {
    leat::block entry = user.entry("twice", {{"x", "f32[N]"}}, {"y"});
    entry.result("y", user.call("squared", entry["x"]));
  }
  user.extend(again);
  CHECK(again.prepare("twice").run({y})[0].data<float>()[1] == 4);
}

// Of the text that Python wrote, where there is one, and that which it will use.
static void test_exchange() {
  leat::graph made;
  {
    leat::block f = made.function("doubled", {{"x", "f32[N]"}}, "f32[N]");
    f.give(f["x"] * 2);
  }
  made.save("cpp.leat");
  if (!std::ifstream("python.leat")) return;
  leat::graph g;
  g.use("python.leat");
  {
    leat::block e = g.entry("e", {{"x", "f32[N]"}}, {"y"});
    e.result("y", g.call("halved", e["x"], leat::as("half")));
  }
  leat::session session(on_ref());
  g.extend(session);
  CHECK(session.prepare("e").run({std::vector<float>{6, 2}})[0].values<float>() ==
        std::vector<float>{3, 1});
}

static void test_operators() {
  leat::graph g;
  {
    leat::block e = g.entry("e", {{"a", "f64[4]"}, {"b", "f64[4]"}, {"i", "i32[4]"}},
                            {"sums", "rests", "tests", "parts", "odd name", "words"});
    leat::value a = e["a"], b = e["b"];
    e.result("sums", 1.5 + a * b - 2 / b + -a);
    e.result("rests", (e["i"] - 7) % 3 + 3 * floor_div(e["i"] - 7, 3));
    e.result("tests", ((a < b) & (a <= 2.0)) | ((a > b) & (b >= 1)) | ((!(a == b)) & (a != 0.1)));
    e.result("parts", a[leat::code("1:3")] + a.at(leat::list(0, 1)));
    e.result("odd name", g.call("maximum", a, -1e300, leat::let("odd/name")));
    e.result("words", g.call("tensor", std::vector<std::string>{"{a} \"q\"\n\\", "\xc3\xa4"}));
    g.effect("print", "a is", a);
  }
  {
    leat::block device = g.on("/job:worker/task:0");
    leat::block e = g.entry("halves", {{"x", "f32[4]"}}, {"first", "second"});
    std::vector<leat::value> parts = g.calls(2, "top_k", e["x"], 2);
    e.result("first", parts[0]);
    e.result("second", parts[1]);
  }
  leat::session session(on_ref());
  g.extend(session);
  leat::tensor a(std::vector<double>{1, 2, 3, 4}), b(std::vector<double>{4, 2, 1, 0.5});
  leat::results said = session.prepare("e").run({a, b, std::vector<int>{5, 6, 7, 8}});
  CHECK(said["sums"].values<double>() == std::vector<double>{4, 2.5, -0.5, -4.5});
  CHECK(said["rests"].values<int>() == std::vector<int>{-2, -1, 0, 1});
  CHECK(said["tests"].dtype() == LEAT_bool && !said["tests"].data<bool>()[1]);
  CHECK(said["parts"].values<double>() == std::vector<double>{3, 5});
  CHECK(said["odd name"].values<double>()[3] == 4);
  CHECK(said["words"].values<std::string>() ==
        std::vector<std::string>{"{a} \"q\"\n\\", "\xc3\xa4"});
  said = session.prepare("halves").run({std::vector<float>{1, 4, 3, 2}});
  CHECK(said[1].values<int>() == std::vector<int>{1, 2});
}

// Numbers beside a tensor take its dtype, on either side; a float makes floats of integers.
static void test_numbers(const std::string &dtype, leat_dtype is, leat_dtype floats, double tenth) {
  leat::graph g;
  {
    leat::block e = g.entry("e", {{"given", "f64[3]"}}, {"y", "exact", "scaled", "parts", "less"});
    leat::value x = g.call("cast", e["given"], leat::code(dtype));
    leat::value y = 17 - x * 2 + 1 - 1L + floor_div(9, x) + x % 3 + 5 % x;
    e.result("y", y);
    e.result("exact", g.call("cast", y, leat::code("f64")));
    e.result("scaled", 0.1 * x);
    e.result("parts", g.call("cast", x * 0.1f, leat::code("f64")));
    e.result("less", ((2 <= x) & (x < 3.0)) | (x == 4) | (1 != x));
  }
  leat::session session(on_ref());
  g.extend(session);
  leat::results said = session.prepare("e").run({std::vector<double>{1, 2, 4}});
  CHECK(said["y"].dtype() == is && said["scaled"].dtype() == floats);
  CHECK(said["exact"].values<double>() == std::vector<double>{25, 20, 13});
  CHECK(said["parts"].values<double>() == std::vector<double>{tenth, 2 * tenth, 4 * tenth});
  CHECK(!said["less"].data<bool>()[0] && said["less"].data<bool>()[1]);
}

static std::string literal(const leat::argument &given) {
  return given.text;
}

static void test_texts() {
  CHECK(literal(0.1) == "0.1" && literal(0.1f) == "0.1" && literal(1e30) == "1e30");
  CHECK(literal(2.0) == "2.0" && literal(1e-9) == "1e-09" && literal(true) == "true");
  CHECK(literal(-std::numeric_limits<double>::infinity()) == "-inf");
  CHECK(literal(std::numeric_limits<double>::quiet_NaN()) == "nan");
  CHECK(literal(leat::list(1, "a", leat::list(2.5, true))) == "[1, \"a\", [2.5, true]]");
  leat::graph g;
  {
    leat::block e = g.entry("e", {}, {"y"});
    CHECK(g.call("relu", 1.0).name() == "relu" && g.call("relu", 2).name() == "relu_1");
    CHECK(g.call("relu", 3, leat::as("y")).name() == "y_1" && (-e["y"]).name() == "neg");
    leat::value h = g.call("relu", 1.0, leat::as("net/first"), leat::let("in"));
    CHECK(h.name() == "`in`");
    leat::session session(on_ref());
    THROWS(LEAT_INVALID, "has not ended", g.extend(session));
  }
  CHECK(g.text() == "entry e() -> (y) {\n  relu = relu(1.0)\n  relu_1 = relu(2)\n"
                    "  y_1 = relu(3) as y\n  neg = -y\n  `in` = relu(1.0) as \"net/first\"\n}\n");
  leat::graph ordered;
  {
    leat::value w = ordered.variable("w", "f32[]", 1);
    leat::block e = ordered.entry("e", {{"x", "f32[]"}}, {"y"});
    leat::value a = ordered.call("exp", e["x"]), b = ordered.call("tanh", a, leat::colocate(w));
    e.result("y", ordered.call("relu", e["x"], leat::after({a, b}), leat::colocate(w)));
    e.end();
    CHECK(ordered.text().find("\n  tanh = tanh(exp) colocate w\n"
                              "  relu = relu(x) colocate w after [exp, tanh]\n") !=
          std::string::npos);
    leat::session session(on_ref());
    ordered.extend(session);
  }
#define SPELLING(id, spelling) spelling,
  for (const char *word : {LEAT_KEYWORD_LIST(SPELLING) "any"}) { // as names they are in backquotes
    leat::graph named;
    {
      leat::block f = named.entry("f", {{word, "f32[3]"}}, {"y"});
      f.result("y", f[word] * 2.0);
    }
    leat::session session(on_ref());
    CHECK(thrown(LEAT_OK, [&] { named.extend(session); }).empty());
  }
  leat::graph wrong("wrong.leat");
  wrong.call("relo", 1);
  leat::session session(on_ref());
  THROWS(LEAT_INVALID, "wrong.leat:1:8: error: unknown name `relo`", wrong.extend(session));
  CHECK(wrong.text().empty());
}

int main() {
  test_tensors();
  test_sessions();
  test_a_deadline();
  test_options();
  if (!std::getenv("LEAT_SANITIZED")) test_donated(); // ref computes elsewhere
  test_lives();
  test_models();
  test_training();
  test_exchange();
  test_operators();
  const double f16_tenth = 0.0999755859375, f32_tenth = static_cast<double>(0.1f);
  test_numbers("f16", LEAT_f16, LEAT_f16, f16_tenth);
  test_numbers("f32", LEAT_f32, LEAT_f32, f32_tenth);
  test_numbers("f64", LEAT_f64, LEAT_f64, 0.1);
  test_numbers("i32", LEAT_i32, LEAT_f32, f32_tenth);
  test_numbers("i64", LEAT_i64, LEAT_f64, 0.1);
  test_numbers("u8", LEAT_u8, LEAT_f32, f32_tenth);
  test_texts();
  std::printf("%d passed, %d failed\n", passed, failed);
  return failed != 0;
}
