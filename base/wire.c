#include "base/wire.h"

#include "base/arena.h"
#include "base/tensor.h"

#include <string.h>

void leat_wire_put(leat_text *out, uint64_t value) {
  leat_text_add_n(out, (const char *)&value, sizeof value);
}

void leat_wire_put_bytes(leat_text *out, const void *data, size_t size) {
  leat_wire_put(out, size);
  leat_text_add_n(out, data, size);
}

void leat_wire_put_string(leat_text *out, const char *text) {
  leat_wire_put_bytes(out, text, strlen(text) + 1);
}

void leat_wire_put_tensor(leat_text *out, const leat_tensor *tensor) {
  leat_wire_put(out, tensor->dtype);
  leat_wire_put(out, (uint64_t)tensor->rank);
  for (int32_t i = 0; i < tensor->rank; i++) leat_wire_put(out, (uint64_t)tensor->shape[i]);
  size_t size = (size_t)leat_tensor_packed_size(tensor);
  leat_wire_put(out, size);
  if (!leat_text_reserve(out, size)) leat_out_of_memory();
  leat_tensor_pack(tensor, out->data + out->size);
  out->size += size;
  out->data[out->size] = '\0';
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

const char *leat_wire_get_string(leat_wire *in) {
  size_t size;
  const char *data = leat_wire_get_bytes(in, &size);
  if (!size || memchr(data, 0, size) != data + size - 1) in->bad = true;
  return in->bad ? "" : data;
}

bool leat_wire_get_tensor(leat_wire *in, leat_tensor *out) {
  uint64_t dtype = leat_wire_get(in), rank = leat_wire_get(in);
  if (dtype >= LEAT_DTYPE_COUNT || rank > LEAT_MAX_RANK) in->bad = true;
  out->data = NULL;
  if (in->bad) return false;
  *out = (leat_tensor){.dtype = (leat_dtype)dtype, .rank = (int32_t)rank};
  for (uint64_t i = 0; i < rank; i++) out->shape[i] = (int64_t)leat_wire_get(in);
  size_t size;
  const char *packed = leat_wire_get_bytes(in, &size);
  leat_status status = in->bad ? LEAT_MISMATCH : leat_tensor_unpack(out, packed, size);
  if (status == LEAT_MEMORY) leat_out_of_memory();
  if (status) in->bad = true;
  return !in->bad;
}
