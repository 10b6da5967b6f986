// Looks a definition of the embedded library up by binary search in its generated index.
#include "stdlib/stdlib.h"

#include <string.h>

const leat_stdlib_entry *leat_stdlib_find(leat_stdlib_kind kind, const char *name) {
  uint32_t low = 0, high = leat_stdlib_index_count;
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    const leat_stdlib_entry *entry = &leat_stdlib_index[middle];
    int order = entry->kind != kind ? (int)entry->kind - (int)kind : strcmp(entry->name, name);
    if (order == 0) return entry;
    if (order < 0) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return NULL;
}
