// Memory for tensors, and for whatever else is large.
#ifndef LEAT_BASE_MEMORY_H
#define LEAT_BASE_MEMORY_H

#include <stddef.h>
#include <stdint.h>

// 64-byte aligned, and so that the last line of it is whole; free() frees it. NULL: there is none.
void *leat_memory_allocate(uint64_t size);

// What of it huge pages fill is asked for in these, wherever it begins; nothing of it has been
// written yet.
void leat_memory_in_huge_pages(void *memory, uint64_t size);

// The array of malloc with room for one more item of that size; NULL: there is none, and the array
// is as it was. `count * 2 * size` fits.
void *leat_memory_with_room(void *items, size_t count, size_t *capacity, size_t size);

#endif
