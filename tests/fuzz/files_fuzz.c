// The reader of data files, whatever their format, on any bytes; what it finds lies inside the
// file, but for what it had to make.
#include "tests/fuzz/fuzz.h"

#include "base/data_file.h"
#include "base/npy.h"

#include <stdlib.h>
#include <string.h>

static void expect_inside(const leat_tensor *tensor, const uint8_t *data, size_t size) {
  const uint8_t *begin = tensor->data;
  int64_t bytes = leat_tensor_bytes(tensor);
  if (begin < data || begin > data + size || bytes < 0 || bytes > data + size - begin) abort();
}

static void read_all(const uint8_t *data, size_t size, bool verified) {
  leat_data_file file;
  leat_error error = {0};
  if (leat_data_file_parse(&file, data, size, verified, &error)) return;
  bool whole = strcmp(file.format->name, "safetensors") == 0;
  for (size_t i = 0; i < file.count; i++) {
    const leat_tensor *tensor;
    if (leat_data_file_read(&file, file.tensors[i].name, &tensor, &error)) continue;
    if (!tensor->data || leat_tensor_bytes(tensor) < 0) abort();
    if (whole && tensor->dtype != LEAT_str) expect_inside(tensor, data, size);
  }
  leat_data_file_close(&file);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  leat_npy npy;
  leat_error error = {0};
  if (!leat_npy_parse(&npy, data, size, &error) && !npy.made)
    expect_inside(&npy.tensor, data, size);
  leat_npy_close(&npy);
  read_all(data, size, false);
  read_all(data, size, true);
  return 0;
}
