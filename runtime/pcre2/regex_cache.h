// Compiled patterns, of which the process has each once. Internal to runtime/pcre2/.
#ifndef LEAT_RUNTIME_PCRE2_REGEX_CACHE_H
#define LEAT_RUNTIME_PCRE2_REGEX_CACHE_H

#define PCRE2_CODE_UNIT_WIDTH 8

#include "leat/dtype.h"
#include "leat/status.h"

#include <pcre2.h>
#include <stdbool.h>

typedef struct leat_regex leat_regex;

// Any thread may ask, and releases what it has got. LEAT_INVALID: the pattern is wrong, in words
// that say where.
LEAT_MUST_USE leat_status leat_regex_acquire(leat_str pattern, leat_regex **out, leat_error *error);
void leat_regex_release(leat_regex *regex); // NULL is legal

// For texts that are UTF-8, which alone it takes; and `anyhow` for others, in which it looks for
// what is: each time through all of the text, so that many matches in one take long.
const pcre2_code *leat_regex_code(const leat_regex *regex, bool anyhow);

#endif
