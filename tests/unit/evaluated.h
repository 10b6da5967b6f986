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
  bool ok;            // of the latest text
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
  e->ok = leat_frontend_extend(e->frontend, name, text, size, interactive);
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

#endif
