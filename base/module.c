// A module is found in two lists of directories; dlopen keeps count of the rest.
#include "base/module.h"

#include "base/environment.h"
#include "base/installed.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

static bool find(const char *name, char path[LEAT_PATH_SIZE]) {
  char file[64];
  snprintf(file, sizeof file, "leat-%s.so", name);
  return leat_directory_find(leat_environment("LEAT_MODULE_PATH"), file, path) ||
         leat_directory_find(leat_module_directories, file, path);
}

bool leat_module_key(const char *name, char out[LEAT_MODULE_KEY_SIZE]) {
  char path[LEAT_PATH_SIZE];
  struct stat info;
  out[0] = '\0';
  if (!find(name, path) || stat(path, &info)) return false;
  snprintf(out, LEAT_MODULE_KEY_SIZE, "%.24s %lld %lld.%09ld", name, (long long)info.st_size,
           (long long)info.st_mtim.tv_sec, info.st_mtim.tv_nsec);
  return true;
}

leat_status leat_module_load(const char *name, const char *symbol, const void **out_table,
                             leat_error *error) {
  char path[LEAT_PATH_SIZE];
  *out_table = NULL;
  if (!find(name, path))
    return leat_fail(error, LEAT_NOT_FOUND,
                     "the module leat-%s.so is neither in $LEAT_MODULE_PATH nor in %s", name,
                     leat_module_directories);
  void *module = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  *out_table = module ? dlsym(module, symbol) : NULL;
  if (*out_table) return LEAT_OK;
  return leat_fail(error, LEAT_FOREIGN, "cannot load the module leat-%s.so: %s", name, dlerror());
}
