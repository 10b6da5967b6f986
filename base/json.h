// A cursor over JSON text, for readers that know what they look for. Nothing recurses; decoded
// strings never grow, so all of them fit where the caller has as many bytes as the text.
#ifndef LEAT_BASE_JSON_H
#define LEAT_BASE_JSON_H

#include "leat/status.h"

#include <stdbool.h>
#include <stdint.h>

typedef struct leat_json {
  const char *at, *end;
  char *strings;     // where the next decoded string goes
  const char *where; // what is read, for errors: "the safetensors header"
  leat_error *error;
} leat_json;

void leat_json_skip_space(leat_json *json);
bool leat_json_accept(leat_json *json, char expected); // behind white space
LEAT_MUST_USE leat_status leat_json_expect(leat_json *json, char expected);

// UTF-8 text without NULs, valid as long as the memory of the strings.
LEAT_MUST_USE leat_status leat_json_string(leat_json *json, const char **out);
// An integer that is not negative, in plain digits.
LEAT_MUST_USE leat_status leat_json_size(leat_json *json, int64_t *out);
// Passes over any value; what is nested too deep is refused.
LEAT_MUST_USE leat_status leat_json_skip(leat_json *json);

#endif
