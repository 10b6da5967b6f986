// The frontend on any text: what it evaluates keeps the rules of the graph and reads back as it
// prints; what it refuses leaves nothing behind.
#include "tests/fuzz/fuzz.h"

#include "frontend/frontend.h"
#include "ir/print.h"
#include "ir/verify.h"

#include <stdlib.h>
#include <string.h>

static leat_frontend *create(leat_arena *arena) {
  leat_frontend_options options = {.most_steps = 20000};
  return leat_frontend_create(arena, leat_strings_create(arena), leat_diag_create(arena), &options);
}

static void print(const leat_frontend *frontend, leat_text *out) {
  leat_error error = {0};
  if (leat_verify(leat_frontend_graph(frontend), &error)) abort();
  leat_graph_print(leat_frontend_graph(frontend), out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  const char *text = size ? (const char *)data : "";
  leat_arena *arena = leat_arena_create();
  leat_frontend *first = create(arena), *again = create(arena);
  leat_text once = {0}, twice = {0};
  bool ok = leat_frontend_extend(first, "input", text, size, size % 4);
  print(first, &once);
  if (ok && !leat_frontend_extend(again, "printed", once.data, once.size, false)) abort();
  print(again, &twice);
  if (strcmp(once.data, twice.data) != 0) abort();
  leat_text_finish(&once);
  leat_text_finish(&twice);
  leat_arena_destroy(arena);
  return 0;
}
