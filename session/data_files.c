#include "session/data_files.h"

#include "base/data_file.h"
#include "base/module.h"
#include "base/zlib/inflate.h"
#include "frontend/import.h"

#include <string.h>

static leat_status inflate(const void *from, size_t from_size, void *to, size_t to_size,
                           leat_error *error) {
  const void *symbol;
  leat_error cause = {0};
  leat_inflater *function;
  if (leat_module_load("zlib", "leat_zlib_inflate", &symbol, &cause))
    return leat_fail(error, LEAT_NOT_FOUND,
                     "it is compressed, and this build has not the zlib that unpacks it; "
                     "numpy.savez does not compress (%s)",
                     cause.message);
  memcpy(&function, &symbol, sizeof function);
  return function(from, from_size, to, to_size, error);
}

void leat_session_extend_data_files(void) {
  static const leat_data_format *const formats[] = {&leat_import_data, NULL};
  leat_data_extend(&(leat_data_extension){.inflate = inflate, .formats = formats});
}
