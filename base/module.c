// A module is found in two lists of directories; dlopen keeps count of the rest.
#include "base/module.h"

#include "base/build_id.h"
#include "base/environment.h"
#include "base/trust.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

// Whose modules they are that the environment names is a question: they become part of the process.
leat_status leat_module_find(const char *name, char path[LEAT_PATH_SIZE], leat_error *error) {
  char file[64];
  leat_error reason = {0};
  snprintf(file, sizeof file, "leat-%s.so", name);
  if (leat_directory_find(leat_environment("LEAT_MODULE_PATH"), file, path)) {
    leat_status status = leat_trusted_file(path, &reason);
    if (!status) return LEAT_OK;
    return leat_fail(error, status, "the module %s of $LEAT_MODULE_PATH is not loaded: %s", file,
                     reason.message);
  }
  if (leat_directory_find(leat_module_directories, file, path)) return LEAT_OK;
  return leat_fail(error, LEAT_NOT_FOUND, "the module %s is neither in $LEAT_MODULE_PATH nor in %s",
                   file, leat_module_directories);
}

bool leat_module_key(const char *name, char out[LEAT_MODULE_KEY_SIZE]) {
  char path[LEAT_PATH_SIZE];
  leat_text id = {0};
  bool found = !leat_module_find(name, path, NULL) && leat_build_id_of_file(path, &id);
  out[0] = '\0';
  if (found) snprintf(out, LEAT_MODULE_KEY_SIZE, "%.24s %s", name, id.data);
  leat_text_finish(&id);
  return found;
}

leat_status leat_module_load(const char *name, const char *symbol, const void **out_table,
                             leat_error *error) {
  char path[LEAT_PATH_SIZE];
  *out_table = NULL;
  LEAT_TRY(leat_module_find(name, path, error));
  void *module = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  *out_table = module ? dlsym(module, symbol) : NULL;
  if (*out_table) return LEAT_OK;
  return leat_fail(error, LEAT_FOREIGN, "cannot load the module leat-%s.so: %s", name, dlerror());
}
