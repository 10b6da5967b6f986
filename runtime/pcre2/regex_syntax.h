// RE2's syntax in PCRE2's. Internal to runtime/pcre2/.
#ifndef LEAT_RUNTIME_PCRE2_REGEX_SYNTAX_H
#define LEAT_RUNTIME_PCRE2_REGEX_SYNTAX_H

#include "base/text.h"
#include "leat/dtype.h"

// Writes a pattern that means to PCRE2 what the first means to RE2. NULL, or why RE2 refuses it,
// and in *place the byte of the pattern where it does. Brackets of groups are left to PCRE2.
const char *leat_regex_translate(leat_str pattern, leat_text *out, size_t *place);

// The byte of the pattern that byte `at` of what was written for it comes from.
size_t leat_regex_place(leat_str pattern, size_t at);

#endif
