// The object loader on any bytes.
#include "tests/fuzz/fuzz.h"

#include "runtime/object_load.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  leat_loaded_object *loaded = NULL;
  leat_error error = {0};
  leat_status status = leat_object_load(data, size, &loaded, &error);
  if ((status == LEAT_OK) != (loaded != NULL) || (status == LEAT_OK) != !error.message[0]) abort();
  if (loaded) (void)leat_object_symbol(loaded, "k");
  leat_object_unload(loaded);
  return 0;
}
