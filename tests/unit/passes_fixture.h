// A session's graph with an entry and the context of one step, which tests of passes build and
// print.
#ifndef LEAT_TESTS_UNIT_PASSES_FIXTURE_H
#define LEAT_TESTS_UNIT_PASSES_FIXTURE_H

#include "ir/print.h"
#include "ir/verify.h"
#include "ops/build.h"
#include "passes/pass.h"
#include "targets/target_info.h"
#include "tests/unit/check.h"

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

static inline void set_up(fixture *f) {
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
                                       .speed = 1};
  f->context = (leat_pass_context){.graph = f->session,
                                   .arena = f->arena,
                                   .scratch = f->scratch,
                                   .diag = f->diag,
                                   .error = &f->error,
                                   .step = &f->request,
                                   .target = leat_target_info_find("x86_64", LEAT_CPU_AVX512),
                                   .devices = f->devices,
                                   .device_count = 3,
                                   .client_device = f->devices[0].name,
                                   .link_bandwidth = 1e9,
                                   .link_latency = 1e-6};
}

static inline void tear_down(fixture *f) {
  leat_text_finish(&f->text);
  leat_arena_destroy(f->scratch);
  leat_arena_destroy(f->arena);
}

static inline leat_entry *new_entry(fixture *f, const char *name) {
  f->b.entry = leat_graph_add_entry(f->session, name);
  return f->b.entry;
}

static inline leat_type type_of(leat_dtype dtype, int rank, int64_t a, int64_t b) {
  leat_type type = {.dtype = dtype, .rank = rank};
  if (rank > 0) type.dims[0] = leat_dim_const(a);
  if (rank > 1) type.dims[1] = leat_dim_const(b);
  return type;
}

static inline leat_value op(fixture *f, const char *name, leat_op op_, leat_value a, leat_value b,
                            const leat_attr *attrs) {
  leat_value inputs[] = {a, b};
  uint32_t count = a.node ? b.node ? 2 : 1 : 0;
  return leat_build(&f->b, name, op_, inputs, count, attrs);
}

#define OP2(f, name, id, a, b) op(f, name, LEAT_OP_##id, a, b, NULL)
#define OP1(f, name, id, a) op(f, name, LEAT_OP_##id, a, (leat_value){0}, NULL)

static inline leat_value param(fixture *f, const char *name, leat_type type) {
  leat_entry *entry = f->b.entry;
  const char *interned = leat_intern(f->strings, name);
  leat_attr attrs[] = {{.string = interned},
                       {.i = entry->params.count},
                       {.type = leat_arena_memdup(f->arena, &type, sizeof type)},
                       {.i = 0}};
  leat_value value = op(f, leat_arena_printf(f->arena, "%s/%s", entry->name, name), LEAT_OP_feed,
                        (leat_value){0}, (leat_value){0}, attrs);
  leat_vec_push(f->arena, &entry->params, (leat_param){.name = interned, .node = value.node});
  return value;
}

static inline void result(fixture *f, const char *name, leat_value value) {
  leat_vec_push(f->arena, &f->b.entry->results,
                (leat_result){.name = leat_intern(f->strings, name), .value = value});
}

static inline leat_value scalar(fixture *f, const char *name, leat_dtype dtype, double value) {
  return leat_build_scalar(&f->b, name, dtype, value);
}

static inline leat_state *variable(fixture *f, const char *name, leat_type type) {
  leat_entry *entry = f->b.entry;
  f->b.entry = NULL;
  leat_state *state = leat_graph_add_state(f->session, name, &type);
  leat_value zero = scalar(f, leat_arena_printf(f->arena, "%s/init/const", name), type.dtype, 0);
  state->init = leat_build_broadcast(&f->b, zero, &type);
  f->b.entry = entry;
  return state;
}

static inline leat_value read_var(fixture *f, const char *name, leat_state *state) {
  return op(f, name, LEAT_OP_read, (leat_value){0}, (leat_value){0}, &(leat_attr){.state = state});
}

static inline leat_node *assign(fixture *f, const char *name, leat_op id, leat_state *state,
                                leat_value value) {
  return op(f, name, id, value, (leat_value){0}, &(leat_attr){.state = state}).node;
}

static inline void request_entry(fixture *f, leat_entry *entry) {
  leat_vec_push(f->arena, &f->request.entries, entry);
}

static inline void check_phase(fixture *f, const leat_pass_info *pass, const leat_graph *graph) {
  leat_phase phase = leat_pass_leaves(&f->context, pass, graph);
  leat_phase brought = leat_brought_phase(f->session);
  CHECK_EQ_INT(leat_verify_phase(graph, phase, brought, &f->error), LEAT_OK);
}

static inline leat_status run(fixture *f, const char *name) {
  const leat_pass_info *pass = leat_passes;
  while (strcmp(pass->name, name) != 0) pass++;
  leat_status status = pass->function(&f->context);
  leat_arena_reset(f->scratch);
  if (!status) {
    if (!f->context.parts.count) check_phase(f, pass, f->context.graph);
    for (uint32_t i = 0; i < f->context.parts.count; i++)
      check_phase(f, pass, f->context.parts.items[i]);
    if (f->error.status) CHECK_FAILED("after %s: %s", name, f->error.message);
  }
  return status;
}

static inline leat_value matmul(fixture *f, const char *name, leat_value a, leat_value b) {
  leat_attr attrs[] = {{.i = 0}, {.i = 0}, {.string = leat_intern(f->strings, "")}};
  return op(f, name, LEAT_OP_matmul, a, b, attrs);
}

static inline const char *print(fixture *f, const leat_graph *graph) {
  f->text.size = 0;
  leat_graph_print(graph, &f->text);
  return f->text.data;
}

static inline const char *messages(fixture *f) {
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

#endif
