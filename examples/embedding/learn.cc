// What learn.c does, in C++, with a graph that is built here: ./learn_cc line.leat line.safetensors
#include <leat/graph.hpp>

#include <iostream>

// A second training entry, which prefers small weights; it shares w with those of the text.
static void build(leat::graph &g) {
  leat::value w = g.named("w");
  leat::block train = g.entry("shrink", {{"x", "f32[N, 3]"}, {"y", "f32[N]"}}, {"loss"}, true);
  leat::value off = matmul(train["x"], w) - train["y"];
  leat::value loss = g.call("mean", off * off) + 1e-6 * g.call("sum", w * w);
  g.effect("minimize", loss, leat::code("sgd"), leat::arg("lr", 0.5));
  train.result("loss", loss);
}

int main(int argc, char **argv) try {
  if (argc != 3) {
    std::cerr << argv[0] << " TEXT CHECKPOINT\n";
    return 2;
  }
  leat::session_options options;
  options.threads = 1;
  options.overwrite = true;
  leat::session session(options);
  session.extend_file(argv[1]);
  leat::graph g("learn.cc");
  build(g);
  g.extend(session);

  leat::step step = session.prepare("shrink");
  leat::tensor x({4, 3}, {1.f, 0.f, 0.f, 0.f, 1.f, 0.f, 0.f, 0.f, 1.f, 1.f, 1.f, 1.f});
  leat::tensor y(std::vector<float>{1, 2, 3, 6});
  float loss = 0;
  for (int i = 0; i < 500; i++) loss = step.run({x, y})["loss"].item<float>();
  std::cout << "loss " << loss << '\n';
  session.save(argv[2]);
} catch (const std::exception &error) {
  std::cerr << error.what();
  return 1;
}
