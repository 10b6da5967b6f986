// Finds and loads the module leat-llvm on first need, so that a process whose code is all cached
// never maps libLLVM.
#include "targets/cpu/cpu.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#ifndef LEAT_MODULE_DIRS
#define LEAT_MODULE_DIRS "build"
#endif

static pthread_once_t found_once = PTHREAD_ONCE_INIT, loaded_once = PTHREAD_ONCE_INIT;
static char module_path[4096]; // "" when there is none
static char module_key[64];
static const leat_codegen *module_table;
static leat_error module_error;

// The module's file stands for LLVM's version too: both change with the package or the build.
static void find_module(void) {
  const char *dirs = getenv("LEAT_MODULE_DIR");
  if (!dirs || !*dirs) dirs = LEAT_MODULE_DIRS;
  while (*dirs) {
    int length = (int)strcspn(dirs, ":");
    struct stat info;
    snprintf(module_path, sizeof module_path, "%.*s/leat-llvm.so", length, dirs);
    if (stat(module_path, &info) == 0) {
      snprintf(module_key, sizeof module_key, "llvm %lld %lld.%09ld", (long long)info.st_size,
               (long long)info.st_mtim.tv_sec, info.st_mtim.tv_nsec);
      return;
    }
    dirs += length + (dirs[length] == ':');
  }
  module_path[0] = '\0';
}

static void load_module(void) {
  pthread_once(&found_once, find_module);
  if (!module_path[0]) {
    leat_fail(&module_error, LEAT_UNSUPPORTED,
              "there is no LLVM code generator: leat-llvm.so is not in %s", LEAT_MODULE_DIRS);
    return;
  }
  void *module = dlopen(module_path, RTLD_NOW | RTLD_LOCAL);
  const leat_codegen *table = module ? dlsym(module, LEAT_CODEGEN_SYMBOL) : NULL;
  if (!table)
    leat_fail(&module_error, LEAT_FOREIGN, "cannot load the LLVM code generator: %s", dlerror());
  else if (table->version != LEAT_CODEGEN_VERSION)
    leat_fail(&module_error, LEAT_MISMATCH, "%s has version %u, this program needs %d", module_path,
              table->version, LEAT_CODEGEN_VERSION);
  else
    module_table = table;
}

const char *leat_cpu_codegen_key(void) {
  pthread_once(&found_once, find_module);
  return module_key;
}

leat_status leat_cpu_codegen(const leat_codegen **out, leat_error *error) {
  pthread_once(&loaded_once, load_module);
  *out = module_table;
  return module_table ? LEAT_OK : leat_fail(error, module_error.status, "%s", module_error.message);
}

void leat_object_finish(leat_object *object) {
  free(object->data);
  *object = (leat_object){0};
}
