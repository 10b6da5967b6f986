// The embedded library: its index is ordered, every entry points at its definition, and lookups
// find all of it.
#include "stdlib/stdlib.h"
#include "tests/unit/check.h"

#include <string.h>

TEST(every_definition_is_found_where_the_index_says) {
  for (uint32_t i = 0; i < leat_stdlib_index_count; i++) {
    const leat_stdlib_entry *entry = &leat_stdlib_index[i];
    CHECK(leat_stdlib_find(entry->kind, entry->name) == entry);
    CHECK(entry->file < leat_stdlib_file_count);
    const leat_stdlib_file *file = &leat_stdlib_files[entry->file];
    CHECK(strlen(file->text) == file->size && entry->offset + entry->size <= file->size);
    const char *definition = file->text + entry->offset;
    CHECK(*definition == '#' || *definition == 'f' || *definition == 'g');
    CHECK(definition[entry->size - 1] == '}');
    uint32_t line = 1;
    for (const char *c = file->text; c < definition; c++) line += *c == '\n';
    CHECK(line == entry->line);
  }
}

TEST(unknown_names_are_not_found) {
  CHECK(leat_stdlib_find(LEAT_STDLIB_FN, "no such function") == NULL);
  CHECK(leat_stdlib_find(LEAT_STDLIB_GRADIENT, "") == NULL);
}

CHECK_MAIN("stdlib")
