#include "session/wire.h"

#include "base/arena.h"

#include <stdlib.h>
#include <string.h>

void leat_wire_put(leat_text *out, uint64_t value) {
  leat_text_add_n(out, (const char *)&value, sizeof value);
}

void leat_wire_put_bytes(leat_text *out, const void *data, size_t size) {
  leat_wire_put(out, size);
  leat_text_add_n(out, data, size);
}

void leat_wire_put_string(leat_text *out, const char *text) {
  leat_wire_put_bytes(out, text, strlen(text));
}

uint64_t leat_wire_get(leat_wire *in) {
  uint64_t value = 0;
  if ((size_t)(in->end - in->at) < sizeof value) in->bad = true;
  if (in->bad) return 0;
  memcpy(&value, in->at, sizeof value);
  in->at += sizeof value;
  return value;
}

const char *leat_wire_get_bytes(leat_wire *in, size_t *out_size) {
  uint64_t size = leat_wire_get(in);
  if (size > (uint64_t)(in->end - in->at)) in->bad = true;
  const char *data = in->at;
  *out_size = in->bad ? 0 : (size_t)size;
  in->at += *out_size;
  return data;
}

char *leat_wire_get_string(leat_wire *in) {
  size_t size;
  const char *data = leat_wire_get_bytes(in, &size);
  if (size && memchr(data, 0, size)) in->bad = true;
  char *text = malloc(size + 1);
  if (!text) leat_out_of_memory();
  memcpy(text, data, size);
  text[size] = '\0';
  return text;
}
