// The library written in the language itself, embedded: the texts of stdlib/**/*.leat and an index
// of what they define, made when Leat is built (tools/embed_stdlib.py). A definition costs nothing
// until it is looked up by name: the frontend parses only bytes [offset, offset + size) of its
// file.
#ifndef LEAT_STDLIB_STDLIB_H
#define LEAT_STDLIB_STDLIB_H

#include <stdint.h>

typedef struct leat_stdlib_file {
  const char *name; // "stdlib/math.leat", as diagnostics show it
  const char *text;
  uint32_t size;
} leat_stdlib_file;

typedef enum leat_stdlib_kind { LEAT_STDLIB_FN, LEAT_STDLIB_GRADIENT } leat_stdlib_kind;

// `fn name(…) … { … }` or `gradient name(…) … { … }`, with the `##` lines above it.
typedef struct leat_stdlib_entry {
  leat_stdlib_kind kind;
  const char *name;
  uint32_t file; // index into leat_stdlib_files
  uint32_t offset, size;
  uint32_t line; // 1-based line of `offset`
} leat_stdlib_entry;

// The generated tables. The index is ordered by kind, then by name.
extern const leat_stdlib_file leat_stdlib_files[];
extern const uint32_t leat_stdlib_file_count;
extern const leat_stdlib_entry leat_stdlib_index[];
extern const uint32_t leat_stdlib_index_count;

// The definition of that kind and name, or NULL.
const leat_stdlib_entry *leat_stdlib_find(leat_stdlib_kind kind, const char *name);

#endif
