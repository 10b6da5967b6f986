// The passes over graphs that are built here: what each keeps, changes and refuses, and that all of
// them are linear.
#include "ir/print.h"
#include "ir/verify.h"
#include "ops/build.h"
#include "passes/pass.h"
#include "tests/unit/check.h"

#include <stdlib.h>
#include <time.h>

// A session with one entry and the context of one step; `b` builds into the session's graph.
typedef struct fixture {
  leat_arena *arena, *scratch;
  leat_strings *strings;
  leat_diag *diag;
  leat_error error;
  leat_graph *session;
  leat_builder b;
  leat_step_request request;
  leat_device_info devices[3];
  leat_pass_context context;
  leat_text text;
} fixture;

static void set_up(fixture *f) {
  *f = (fixture){.arena = leat_arena_create(), .scratch = leat_arena_create()};
  f->strings = leat_strings_create(f->arena);
  f->diag = leat_diag_create(f->arena);
  f->session = leat_graph_create(f->arena, f->strings, "test");
  f->b = (leat_builder){.graph = f->session, .diag = f->diag};
  const char *names[] = {"/job:worker/task:0/device:cpu:0", "/job:ps/task:0/device:cpu:0",
                         "/job:ps/task:1/device:cpu:0"};
  for (int i = 0; i < 3; i++)
    f->devices[i] = (leat_device_info){.name = leat_intern(f->strings, names[i]),
                                       .type = leat_intern(f->strings, "cpu"),
                                       .flops = 1e11,
                                       .bandwidth = 3e10};
  f->context = (leat_pass_context){.graph = f->session,
                                   .arena = f->arena,
                                   .scratch = f->scratch,
                                   .diag = f->diag,
                                   .error = &f->error,
                                   .step = &f->request,
                                   .devices = f->devices,
                                   .device_count = 3,
                                   .client_device = f->devices[0].name,
                                   .link_bandwidth = 1e9,
                                   .link_latency = 1e-6};
}

static void tear_down(fixture *f) {
  leat_text_finish(&f->text);
  leat_arena_destroy(f->scratch);
  leat_arena_destroy(f->arena);
}

static leat_entry *new_entry(fixture *f, const char *name) {
  f->b.entry = leat_graph_add_entry(f->session, name);
  return f->b.entry;
}

static leat_type type_of(leat_dtype dtype, int rank, int64_t a, int64_t b) {
  leat_type type = {.dtype = dtype, .rank = rank};
  if (rank > 0) type.dims[0] = leat_dim_const(a);
  if (rank > 1) type.dims[1] = leat_dim_const(b);
  return type;
}

static leat_value op(fixture *f, const char *name, leat_op op_, leat_value a, leat_value b,
                     const leat_attr *attrs) {
  leat_value inputs[] = {a, b};
  uint32_t count = a.node ? b.node ? 2 : 1 : 0;
  return leat_build(&f->b, name, op_, inputs, count, attrs);
}

#define OP2(f, name, id, a, b) op(f, name, LEAT_OP_##id, a, b, NULL)
#define OP1(f, name, id, a) op(f, name, LEAT_OP_##id, a, (leat_value){0}, NULL)

static leat_value param(fixture *f, const char *name, leat_type type) {
  leat_entry *entry = f->b.entry;
  const char *interned = leat_intern(f->strings, name);
  leat_attr attrs[] = {{.string = interned},
                       {.type = leat_arena_memdup(f->arena, &type, sizeof type)}};
  leat_value value = op(f, leat_arena_printf(f->arena, "%s/%s", entry->name, name), LEAT_OP_feed,
                        (leat_value){0}, (leat_value){0}, attrs);
  leat_vec_push(f->arena, &entry->params, (leat_param){.name = interned, .node = value.node});
  return value;
}

static void result(fixture *f, const char *name, leat_value value) {
  leat_vec_push(f->arena, &f->b.entry->results,
                (leat_result){.name = leat_intern(f->strings, name), .value = value});
}

static leat_value scalar(fixture *f, const char *name, leat_dtype dtype, double value) {
  return leat_build_scalar(&f->b, name, dtype, value);
}

static leat_state *variable(fixture *f, const char *name, leat_type type) {
  leat_entry *entry = f->b.entry;
  f->b.entry = NULL;
  leat_state *state = leat_graph_add_state(f->session, name, &type);
  leat_value zero = scalar(f, leat_arena_printf(f->arena, "%s/init/const", name), type.dtype, 0);
  state->init = leat_build_broadcast(&f->b, zero, &type);
  f->b.entry = entry;
  return state;
}

static leat_value read(fixture *f, const char *name, leat_state *state) {
  return op(f, name, LEAT_OP_read, (leat_value){0}, (leat_value){0}, &(leat_attr){.state = state});
}

static leat_node *assign(fixture *f, const char *name, leat_op id, leat_state *state,
                         leat_value value) {
  return op(f, name, id, value, (leat_value){0}, &(leat_attr){.state = state}).node;
}

static void request_entry(fixture *f, leat_entry *entry) {
  leat_vec_push(f->arena, &f->request.entries, entry);
}

static leat_status run(fixture *f, const char *name) {
  leat_status status = leat_pass_find(name)->function(&f->context);
  leat_arena_reset(f->scratch);
  if (!status) {
    CHECK_EQ_INT(leat_verify(f->context.graph, &f->error), LEAT_OK);
    for (uint32_t i = 0; i < f->context.parts.count; i++)
      CHECK_EQ_INT(leat_verify(f->context.parts.items[i], &f->error), LEAT_OK);
    if (f->error.status) CHECK_FAILED("after %s: %s", name, f->error.message);
  }
  return status;
}

static const char *print(fixture *f, const leat_graph *graph) {
  f->text.size = 0;
  leat_graph_print(graph, &f->text);
  return f->text.data;
}

static const char *messages(fixture *f) {
  f->text.size = 0;
  leat_diag_print(f->diag, &f->text);
  return f->text.data ? f->text.data : "";
}

#define CHECK_HAS(text, part)                                                                      \
  do {                                                                                             \
    const char *check_text = (text);                                                               \
    if (!strstr(check_text, part)) CHECK_FAILED("no %s in\n%s", part, check_text);                 \
  } while (0)
#define CHECK_HAS_NOT(text, part)                                                                  \
  do {                                                                                             \
    const char *check_text = (text);                                                               \
    if (strstr(check_text, part)) CHECK_FAILED("%s in\n%s", part, check_text);                     \
  } while (0)

// -- prune ---------------------------------------------------------------------------------

TEST(prune_keeps_what_the_entry_needs) {
  fixture f;
  set_up(&f);
  leat_state *w = variable(&f, "w", type_of(LEAT_f32, 1, 4, 0));
  variable(&f, "unused", type_of(LEAT_f32, 1, 4, 0));
  leat_entry *entry = new_entry(&f, "step");
  leat_value x = param(&f, "x", type_of(LEAT_f32, 1, 4, 0));
  leat_value old = read(&f, "step/read", w);
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
               "  $fetch/y = fetch($step/y, name=\"y\")\n"
               "}\n");
  tear_down(&f);
}

// w := 1 ; a = w ; print(a) ; w := 2 ; b = w
static void build_history(fixture *f, leat_value *a, leat_value *b) {
  leat_state *w = variable(f, "w", type_of(LEAT_f32, 0, 0, 0));
  new_entry(f, "e");
  leat_node *first = assign(f, "e/first", LEAT_OP_assign, w, scalar(f, "e/one", LEAT_f32, 1));
  *a = read(f, "e/a", w);
  leat_node_add_control(f->session, a->node, first);
  leat_attr message = {.string = leat_intern(f->strings, "a")};
  op(f, "e/print", LEAT_OP_print, *a, (leat_value){0}, &message);
  leat_node *second = assign(f, "e/second", LEAT_OP_assign, w, scalar(f, "e/two", LEAT_f32, 2));
  leat_node_add_control(f->session, second, a->node);
  leat_node_add_control(f->session, second, first);
  *b = read(f, "e/b", w);
  leat_node_add_control(f->session, b->node, second);
}

TEST(prune_keeps_the_history_of_a_read) {
  fixture f;
  leat_value a, b;
  set_up(&f);
  build_history(&f, &a, &b);
  leat_vec_push(f.arena, &f.request.fetches, (leat_result){"b", b});
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
  result(&f, "y", read(&f, "first/read", w));
  leat_entry *second = new_entry(&f, "second");
  leat_value x = param(&f, "x", type_of(LEAT_f32, 0, 0, 0));
  assign(&f, "second/assign", LEAT_OP_assign_add, w, x);
  result(&f, "y", x);
  request_entry(&f, second);
  request_entry(&f, first);
  leat_vec_push(f.arena, &f.request.fetches, (leat_result){.name = "w"});
  CHECK_EQ_INT(run(&f, "prune"), LEAT_OK);
  const char *text = print(&f, f.context.graph);
  CHECK_HAS(text, "$second/assign = assign_add($second/x, state=$w)\n");
  CHECK_HAS(text, "$first/read: f32[] = read(state=$w) after [$second/assign]");
  CHECK_HAS(text, "fetch($second/x, name=\"second/y\")");
  CHECK_HAS(text, "fetch($first/read, name=\"first/y\")");
  CHECK_HAS(text, "$fetch/w/read: f32[] = read(state=$w) after [$second/assign]");
  tear_down(&f);
}

TEST(prune_cuts_at_feeds) {
  fixture f;
  set_up(&f);
  new_entry(&f, "e");
  leat_value x = param(&f, "x", type_of(LEAT_f32, 0, 0, 0));
  leat_value h = OP1(&f, "e/h", exp, x), y = OP1(&f, "e/y", neg, h);
  leat_vec_push(f.arena, &f.request.fetches, (leat_result){"y", y});
  leat_vec_push(f.arena, &f.request.feeds, h);
  CHECK_EQ_INT(run(&f, "prune"), LEAT_OK);
  CHECK_EQ_STR(print(&f, f.context.graph), "graph test\n"
                                           "entry e() {\n"
                                           "  $e/h: f32[] = feed(name=\"e/h\", type=f32[])\n"
                                           "  $e/y: f32[] = neg($e/h)\n"
                                           "  $fetch/y = fetch($e/y, name=\"y\")\n"
                                           "}\n");
  tear_down(&f);
}

TEST(prune_wants_parameters_fed) {
  fixture f;
  set_up(&f);
  new_entry(&f, "e");
  leat_value y = OP1(&f, "e/y", neg, param(&f, "x", type_of(LEAT_f32, 0, 0, 0)));
  leat_vec_push(f.arena, &f.request.fetches, (leat_result){"y", y});
  CHECK_EQ_INT(run(&f, "prune"), LEAT_INVALID);
  CHECK_HAS(messages(&f), "`e/x` must be fed");
  tear_down(&f);
}

TEST(prune_refuses_feeds_of_initial_values_and_entries_twice) {
  fixture f;
  set_up(&f);
  leat_state *w = variable(&f, "w", type_of(LEAT_f32, 1, 4, 0));
  leat_entry *entry = new_entry(&f, "e");
  result(&f, "y", read(&f, "e/read", w));
  request_entry(&f, entry);
  leat_vec_push(f.arena, &f.request.feeds, w->init.node->inputs[0]);
  CHECK_EQ_INT(run(&f, "prune"), LEAT_INVALID);
  CHECK_HAS(messages(&f), "`w/init/const` cannot be fed: the initial value of `w`");
  f.request.feeds.count = 0;
  request_entry(&f, entry);
  CHECK_EQ_INT(run(&f, "prune"), LEAT_INVALID);
  CHECK_HAS(messages(&f), "executes the entry `e` twice");
  tear_down(&f);
}

// -- choose and infer ----------------------------------------------------------------------

static leat_value matmul(fixture *f, const char *name, leat_value a, leat_value b) {
  leat_attr attrs[] = {{.i = 0}, {.i = 0}, {.string = leat_intern(f->strings, "")}};
  return op(f, name, LEAT_OP_matmul, a, b, attrs);
}

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
               "  $fetch/y = fetch($e/y, name=\"y\")\n"
               "  $fetch/z = fetch($e/z, name=\"z\")\n"
               "  $fetch/w = fetch($e/w, name=\"w\")\n"
               "}\n");
  tear_down(&f);
}

TEST(fold_leaves_failures_to_the_run) {
  fixture f;
  set_up(&f);
  new_entry(&f, "e");
  leat_value one = scalar(&f, "e/one", LEAT_i32, 1), nil = scalar(&f, "e/nil", LEAT_i32, 0);
  result(&f, "y", OP2(&f, "e/y", mod, one, nil));
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
                                           "  $fetch/y = fetch($e/d, name=\"y\")\n"
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
  leat_value r0 = read(&f, "e/r0", w), r1 = read(&f, "e/r1", w);
  leat_value a = OP2(&f, "e/a", add, x, r0), b = OP2(&f, "e/b", add, r1, x);
  leat_node *write = assign(&f, "e/write", LEAT_OP_assign, w, OP2(&f, "e/ab", mul, a, b));
  leat_node_add_control(f.session, write, r0.node);
  leat_node_add_control(f.session, write, r1.node);
  leat_value r2 = read(&f, "e/r2", w);
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
               "  $fetch/y = fetch($e/y, name=\"y\")\n"
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
  leat_value sum = OP2(&f, "e/sum", add, x, read(&f, "e/w", w));
  sum = OP2(&f, "e/sum1", add, sum, read(&f, "e/v", v));
  sum = OP2(&f, "e/sum2", add, sum, read(&f, "e/slot", slot));
  sum = OP2(&f, "e/sum3", add, sum, read(&f, "e/u", leat_graph_find_state(f.session, "u")));
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
  leat_value old = read(&f, "e/read", w), x = param(&f, "x", type);
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
  leat_value spread = leat_build_broadcast(&f.b, read(&f, "e/b", b), &wide);
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
  leat_value rw = read(&f, "e/w", w), rv = read(&f, "e/v", v);
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
  CHECK_HAS(worker, "$e/v/recv: f32[512, 512] = recv(edge=1, from=\"/job:ps/task:0/device:cpu:0\", "
                    "type=f32[512, 512]) on \"/job:worker/task:0/device:cpu:0\" after [$e/h0]");
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

// -- Size ----------------------------------------------------------------------------------

// Layers of x * w + b with a variable each, and an update of each variable.
static void build_large(fixture *f, uint32_t nodes) {
  leat_type type = type_of(LEAT_f32, 1, 16, 0);
  new_entry(f, "e");
  leat_value h = param(f, "x", type);
  while (f->session->nodes.count < nodes) {
    leat_state *w = variable(f, leat_graph_unique_name(f->session, "w"), type);
    leat_value old = read(f, "e/read", w);
    h = OP2(f, "e/mul", mul, h, old);
    h = OP2(f, "e/add", add, h, scalar(f, "e/bias", LEAT_f32, 1.5));
    h = OP1(f, "e/same", identity, h);
    leat_node_add_control(f->session, assign(f, "e/update", LEAT_OP_assign, w, h), old.node);
  }
  result(f, "y", h);
  request_entry(f, f->b.entry);
}

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
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
