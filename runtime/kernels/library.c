#include "runtime/kernels/library.h"

#include <string.h>

static const struct {
  const char *symbol;
  leat_kernel_function function;
} functions[] = {
#define LIBRARY(name) {"leat_library_" #name, leat_library_##name},
#include "leat/library.def"
};

leat_kernel_function leat_library_find(const char *symbol) {
  for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
    if (strcmp(functions[i].symbol, symbol) == 0) return functions[i].function;
  return NULL;
}

const char *leat_library_module(const char *symbol) {
#define FOREIGN(module, name)                                                                      \
  if (strcmp(symbol, "leat_" #module "_" #name) == 0) return #module;
#include "leat/library.def"
  return NULL;
}
