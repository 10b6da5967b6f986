// What the language calls things: a name is any text without control characters and backquotes. It
// is written as it is where it is a word that means nothing else, and in backquotes otherwise; a
// path is names with slashes between them, behind a `$`.
#ifndef LEAT_BASE_NAME_H
#define LEAT_BASE_NAME_H

#include "base/text.h"
#include "leat/keywords.h"

enum { LEAT_NAME_QUOTE = '`' };

// Why the text is no name, in words; NULL: it is one.
const char *leat_name_problem(const char *name, size_t size);

bool leat_name_is_keyword(const char *name, size_t size);
// Whether it is written without quotes: a word and no keyword; of a path, words, `/`, `-`, `.`,
// `?`.
bool leat_name_is_word(const char *name, size_t size);
bool leat_path_is_word(const char *path, size_t size);

// As a text of the language has them: x, `conv1/weight:0`; $net/x, $`net/conv1/weight:0`.
void leat_name_print(const char *name, leat_text *out);
void leat_path_print(const char *path, leat_text *out);

// The name that NAME=VALUE of a command line begins with, up to the first `=`, or in backquotes
// where it has one itself; *out_value: what follows. NULL: the text is no such pair.
const char *leat_name_given(const char *text, size_t *out_size, const char **out_value);

#endif
