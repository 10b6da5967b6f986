// A module is found by walking the two lists of directories; dlopen keeps count of the rest.
#include "base/module.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#if __has_include("build_dirs.h") // meson's
#include "build_dirs.h"
#endif
#ifndef LEAT_MODULE_DIRS
#define LEAT_MODULE_DIRS "/usr/local/lib/leat:/usr/lib/leat"
#endif

enum { PATH_SIZE = 4096 };

static bool find_in(const char *directories, const char *name, char path[PATH_SIZE],
                    struct stat *info) {
  while (directories && *directories) {
    int length = (int)strcspn(directories, ":");
    int size = snprintf(path, PATH_SIZE, "%.*s/leat-%s.so", length, directories, name);
    if (length && size < PATH_SIZE && stat(path, info) == 0) return true;
    directories += length + (directories[length] == ':');
  }
  return false;
}

static bool find(const char *name, char path[PATH_SIZE], struct stat *info) {
  return find_in(getenv("LEAT_MODULE_PATH"), name, path, info) ||
         find_in(LEAT_MODULE_DIRS, name, path, info);
}

bool leat_module_key(const char *name, char out[LEAT_MODULE_KEY_SIZE]) {
  char path[PATH_SIZE];
  struct stat info;
  out[0] = '\0';
  if (!find(name, path, &info)) return false;
  snprintf(out, LEAT_MODULE_KEY_SIZE, "%.24s %lld %lld.%09ld", name, (long long)info.st_size,
           (long long)info.st_mtim.tv_sec, info.st_mtim.tv_nsec);
  return true;
}

leat_status leat_module_load(const char *name, const char *symbol, const void **out_table,
                             leat_error *error) {
  char path[PATH_SIZE];
  struct stat info;
  *out_table = NULL;
  if (!find(name, path, &info))
    return leat_fail(error, LEAT_NOT_FOUND,
                     "the module leat-%s.so is neither in $LEAT_MODULE_PATH nor in %s", name,
                     LEAT_MODULE_DIRS);
  void *module = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  *out_table = module ? dlsym(module, symbol) : NULL;
  if (*out_table) return LEAT_OK;
  return leat_fail(error, LEAT_FOREIGN, "cannot load the module leat-%s.so: %s", name, dlerror());
}
