// The parser and the formatter on any text; what was formatted formats to itself.
#include "tests/fuzz/fuzz.h"

#include "frontend/format.h"
#include "frontend/parser.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  const char *text = size ? (const char *)data : "";
  leat_arena *arena = leat_arena_create();
  leat_diag *diag = leat_diag_create(arena);
  leat_text once = {0}, twice = {0}, messages = {0};
  leat_parse_is_incomplete(text, size);
  if (leat_format(diag, leat_diag_add_source(diag, "input", text, size), &once) && once.data) {
    uint32_t again = leat_diag_add_source(diag, "formatted", once.data, once.size);
    if (!leat_format(diag, again, &twice) || strcmp(once.data, twice.data) != 0) abort();
  }
  leat_diag_print(diag, &messages);
  leat_text_finish(&once);
  leat_text_finish(&twice);
  leat_text_finish(&messages);
  leat_arena_destroy(arena);
  return 0;
}
