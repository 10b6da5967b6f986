// The readers of npy and safetensors on any bytes; what they find lies inside the file.
#include "tests/fuzz/fuzz.h"

#include "base/npy.h"
#include "base/safetensors.h"

#include <stdlib.h>

static void expect_inside(const leat_tensor *tensor, const uint8_t *data, size_t size) {
  const uint8_t *begin = tensor->data;
  int64_t bytes = leat_tensor_bytes(tensor);
  if (begin < data || begin > data + size || bytes < 0 || bytes > data + size - begin) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  leat_npy npy;
  leat_safetensors file;
  leat_error error = {0};
  if (!leat_npy_parse(&npy, data, size, &error) && !npy.made)
    expect_inside(&npy.tensor, data, size);
  leat_npy_close(&npy);
  if (!leat_safetensors_parse(&file, data, size, &error))
    for (size_t i = 0; i < file.count; i++) expect_inside(&file.tensors[i].tensor, data, size);
  leat_safetensors_close(&file);
  if (!leat_safetensors_parse_verified(&file, data, size, &error)) leat_safetensors_close(&file);
  return 0;
}
