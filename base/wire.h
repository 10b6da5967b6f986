// What processes say to each other, and leave each other in caches: little-endian u64s and counted
// strings.
#ifndef LEAT_BASE_WIRE_H
#define LEAT_BASE_WIRE_H

#include "base/text.h"
#include "leat/dtype.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

void leat_wire_put(leat_text *out, uint64_t value);
void leat_wire_put_bytes(leat_text *out, const void *data, size_t size);
void leat_wire_put_string(leat_text *out, const char *text);

void leat_wire_put_tensor(leat_text *out, const leat_tensor *tensor);

// Reads what was put, in order. A message that ends too early makes `bad`, and zeros from then on.
typedef struct leat_wire {
  const char *at, *end;
  bool bad;
} leat_wire;

uint64_t leat_wire_get(leat_wire *in);
const char *leat_wire_get_bytes(leat_wire *in, size_t *out_size); // borrowed; never NULL
const char *leat_wire_get_string(leat_wire *in);                  // borrowed; NUL-terminated
// out->data is malloc'ed and the caller's. False, and `bad`: not a tensor; out->data is NULL.
bool leat_wire_get_tensor(leat_wire *in, leat_tensor *out);

#endif
