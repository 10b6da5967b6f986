// Texts that would take for ever, and damaged ones: each ends, and either its graph keeps the rules
// and reads back as it prints, or it is as if it had never been.
#include "tests/unit/evaluated.h"

enum { MUTANTS = 12000, PIECE = 200 };

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

// -- Nested loops -------------------------------------------------------------------------------

// What goes `depth` deep: `in` of each level, from without, `core`, and `out` of each, from within.
// ~ is the level, ^ the one behind it.
typedef struct nest {
  const char *first, *in, *core, *out, *last;
} nest;

static void add_level(leat_text *text, const char *piece, int level) {
  for (; *piece; piece++) {
    if (*piece == '~' || *piece == '^')
      leat_text_add(text, "%d", level + (*piece == '^'));
    else
      leat_text_add(text, "%c", *piece);
  }
}

static void write_nest(leat_text *text, const nest *n, int depth) {
  leat_text_add(text, "%s", n->first);
  for (int i = 0; i < depth; i++) add_level(text, n->in, i);
  add_level(text, n->core, depth);
  for (int i = depth; i-- > 0;) add_level(text, n->out, i);
  leat_text_add(text, "%s", n->last);
}

// The fewest steps with which the text is evaluated; 0: with no number of them.
static uint64_t steps_of(const char *text) {
  uint64_t too_few = 0, enough = 1 << 14;
  while (enough - too_few > 1) {
    uint64_t most = too_few + (enough - too_few) / 2;
    leat_frontend_options options = {.most_steps = most};
    evaluated e = evaluated_begin(&options);
    bool ok = evaluated_add(&e, text);
    if (ok || !strstr(e.messages.data, "compile time takes more than"))
      CHECK_EQ_STR(e.messages.data, "");
    *(ok ? &enough : &too_few) = most;
    evaluated_finish(&e);
  }
  return enough == 1 << 14 ? 0 : enough;
}

// A loop in a loop is not tried for itself where that around it is.
TEST(nested_loops_take_steps_by_their_number) {
  static const nest nests[] = {
      {"entry e(a: f32[]) -> (r) {\n", "_, y~ = while (t = 0, x^ = 0) t < 2 {\n", "y~ = a\n",
       "next t + 1, x^ + y^\n}\n", "r = y0\n}\n"},
      {"entry e(a: f32[]) -> (r) {\nx0 = 0\n", "_, y~ = while (t = 0, x^ = x~) t < 2 {\n",
       "y~ = x~ + a\n", "next t + 1, y^\n}\n", "r = y0\n}\n"},
      {"entry e(a: f32[2]) -> (r) {\nx0 = a\n", "_, y~ = while (t = 0, x^: any = x~) t < 2 {\n",
       "y~ = concat([x~, a], axis=0)\n", "next t + 1, y^\n}\n", "r = y0\n}\n"},
      {"entry e(a: f32[2]) -> (r) {\n", "_, y~ = while (t = 0, x^: any = a) t < 2 {\n", "y~ = a\n",
       "next t + 1, concat([x^, y^], axis=0)\n}\n", "r = y0\n}\n"},
      {"entry e(a: f32[2]) -> (r) {\nx0 = a\n", "_, y~ = while (t = 0, x^: f32[?] = x~) t < 2 {\n",
       "y~ = concat([x~, a], axis=0)\n", "next t + 1, y^\n}\n", "r = y0\n}\n"},
      {"", "fn f~(_i: any, s: any, a: any) { return fori(2, f^, s, a) }\n",
       "fn f~(_i: any, s: any, a: any) { return s + a }\n", "",
       "entry e(a: f32[]) -> (r) { r = f0(0, 0, a) }\n"},
  };
  for (size_t i = 0; i < sizeof nests / sizeof *nests; i++) {
    uint64_t steps[11] = {0};
    for (int depth = 2; depth <= 10; depth++) {
      leat_text text = {0};
      write_nest(&text, &nests[i], depth);
      steps[depth] = steps_of(text.data);
      leat_text_finish(&text);
      bool linear = depth < 4 || steps[depth] - steps[depth - 1] <= steps[3] - steps[2];
      if (!steps[depth] || !linear)
        CHECK_FAILED("nest %zu: %llu steps at depth %d, %llu before", i,
                     (unsigned long long)steps[depth], depth, (unsigned long long)steps[depth - 1]);
    }
  }
}

// -- Damaged texts ------------------------------------------------------------------------------

static const char *const programs[] = {
    every_kind_of_line,
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
  int mutants = MUTANTS / check_step(4);
  for (int i = 0; i < mutants && check_failures < 3; i++) {
    strcpy(text, programs[i % PROGRAMS]);
    for (uint32_t hits = 1 + random_below(3); hits > 0; hits--) damage(text);
    right += check_damaged(text, i % 2);
  }
  CHECK(right > mutants / 50);
}

CHECK_MAIN("frontend_damage")
