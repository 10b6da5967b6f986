// Interned strings: one pointer for each distinct text, so that equality is `==`. Not thread-safe;
// each session has one.
#ifndef LEAT_BASE_INTERN_H
#define LEAT_BASE_INTERN_H

#include "base/arena.h"

typedef struct leat_strings leat_strings;

leat_strings *leat_strings_create(leat_arena *arena); // lives and dies with the arena
const char *leat_intern(leat_strings *strings, const char *text);
const char *leat_intern_n(leat_strings *strings, const char *text, size_t length); // no NUL inside
const char *leat_intern_join(leat_strings *strings, const char *a, const char *b, const char *c);
// "folder/name"; the name alone where the folder is "".
const char *leat_intern_path(leat_strings *strings, const char *folder, const char *name);
const char *leat_path_last(const char *path); // "name" of "folder/name", within path
const char *leat_intern_printf(leat_strings *strings, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
