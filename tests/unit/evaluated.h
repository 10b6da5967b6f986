// For tests of the frontend: texts, one after the other, and what came of them.
#ifndef LEAT_TESTS_UNIT_EVALUATED_H
#define LEAT_TESTS_UNIT_EVALUATED_H

#include "frontend/frontend.h"
#include "ir/print.h"
#include "ir/verify.h"
#include "tests/unit/check.h"

#include <stdlib.h>

typedef struct evaluated {
  leat_arena *arena;
  leat_diag *diag;
  leat_frontend *frontend;
  leat_text messages; // of the latest text
  leat_text printed;  // the graph after it
  const leat_last_text *last;
  bool ok; // of the latest text
} evaluated;

static inline evaluated evaluated_begin(const leat_frontend_options *options) {
  static const leat_frontend_options none;
  evaluated e = {.arena = leat_arena_create()};
  leat_strings *strings = leat_strings_create(e.arena);
  e.diag = leat_diag_create(e.arena);
  e.frontend = leat_frontend_create(e.arena, strings, e.diag, options ? options : &none);
  return e;
}

static inline bool evaluated_add_n(evaluated *e, const char *name, const char *text, size_t size,
                                   bool interactive) {
  leat_text_finish(&e->messages);
  leat_text_finish(&e->printed);
  e->messages = e->printed = (leat_text){0};
  leat_diag_clear(e->diag);
  e->last = leat_frontend_extend(e->frontend, name, text, size, interactive);
  e->ok = e->last;
  leat_diag_print(e->diag, &e->messages);
  leat_text_add(&e->messages, "%s", ""); // never NULL
  leat_graph_print(leat_frontend_graph(e->frontend), &e->printed);
  leat_error error = {0};
  if (leat_verify(leat_frontend_graph(e->frontend), &error)) CHECK_FAILED("%s", error.message);
  return e->ok;
}

static inline bool evaluated_add(evaluated *e, const char *text) {
  return evaluated_add_n(e, "t", text, strlen(text), false);
}

static inline evaluated evaluate(const char *text) {
  evaluated e = evaluated_begin(NULL);
  evaluated_add(&e, text);
  return e;
}

static inline void evaluated_finish(evaluated *e) {
  leat_text_finish(&e->messages);
  leat_text_finish(&e->printed);
  leat_arena_destroy(e->arena);
}

static inline bool starts_with(const char *text, const char *beginning) {
  return strncmp(text, beginning, strlen(beginning)) == 0;
}

#define CHECK_HAS(text, piece)                                                                     \
  do {                                                                                             \
    const char *check_t = (text), *check_p = (piece);                                              \
    if (!check_t || !strstr(check_t, check_p))                                                     \
      CHECK_FAILED("%s is\n%s\nwithout\n%s", #text, check_t ? check_t : "NULL", check_p);          \
  } while (0)

#define CHECK_HAS_NOT(text, piece)                                                                 \
  do {                                                                                             \
    const char *check_t = (text), *check_p = (piece);                                              \
    if (check_t && strstr(check_t, check_p))                                                       \
      CHECK_FAILED("%s is\n%s\nwith\n%s", #text, check_t, check_p);                                \
  } while (0)

// The text is right, and its graph has these pieces.
#define CHECK_GRAPH(text, ...) check_graph(text, (const char *const[]){__VA_ARGS__, NULL})

static inline void check_graph(const char *text, const char *const *pieces) {
  evaluated e = evaluate(text);
  if (*e.messages.data) CHECK_FAILED("%s\ngives\n%s", text, e.messages.data);
  for (; *pieces; pieces++) CHECK_HAS(e.printed.data, *pieces);
  evaluated_finish(&e);
}

static inline void check_fails(const char *text, const char *message) {
  evaluated e = evaluate(text);
  CHECK(!e.ok);
  CHECK_HAS(e.messages.data, message);
  evaluated_finish(&e);
}

static const char every_kind_of_line[] =
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

#endif
