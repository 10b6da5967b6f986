// The importer of TensorFlow's graphs on any bytes: those that begin with a letter are texts.
#include "tests/fuzz/import_any.h"

#include <ctype.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  import_any(size && isalpha(data[0]) ? "m.pbtxt" : "m.pb", data, size);
  return 0;
}
