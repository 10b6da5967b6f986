// The ONNX importer on any bytes.
#include "tests/fuzz/import_any.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  import_any("m.onnx", data, size);
  return 0;
}
