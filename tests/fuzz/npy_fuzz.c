// The reader of NumPy's arrays on any bytes.
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/inside.h"

#include "base/npy.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  leat_npy npy;
  leat_error error = {0};
  if (!leat_npy_parse(&npy, data, size, &error) && !npy.made)
    expect_inside(&npy.tensor, data, size);
  leat_npy_close(&npy);
  return 0;
}
