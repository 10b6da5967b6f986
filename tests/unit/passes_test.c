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

// -- prune
// -------------------------------------------------------------------------------------------

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

CHECK_MAIN("passes")
