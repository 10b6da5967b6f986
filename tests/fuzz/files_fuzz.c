// The reader of data files, whatever their format, on any bytes; what it finds lies inside the
// file, but for what it had to make.
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/inside.h"

#include "base/data_file.h"

#include <stdlib.h>
#include <string.h>

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
  read_all(data, size, false);
  read_all(data, size, true);
  return 0;
}
