// Loads the module leat-llvm on first need, so that a process whose code is all cached never maps
// libLLVM.
#include "targets/cpu/cpu.h"

#include "base/module.h"

#include <pthread.h>

static pthread_once_t loaded_once = PTHREAD_ONCE_INIT, key_once = PTHREAD_ONCE_INIT;
static const leat_code_generator *generator;
static char key[LEAT_MODULE_KEY_SIZE];
static leat_error load_error;

static void load_module(void) {
  const void *table;
  if (leat_module_load("llvm", LEAT_CODEGEN_SYMBOL, &table, &load_error)) return;
  const leat_code_generator *loaded = table;
  if (loaded->version == LEAT_CODEGEN_VERSION)
    generator = loaded;
  else
    leat_fail(&load_error, LEAT_MISMATCH, "leat-llvm.so has version %u, this program needs %d",
              loaded->version, LEAT_CODEGEN_VERSION);
}

static void find_key(void) {
  leat_module_key("llvm", key);
}

const char *leat_cpu_codegen_key(void) {
  pthread_once(&key_once, find_key);
  return key;
}

leat_status leat_cpu_codegen(const leat_code_generator **out, leat_error *error) {
  pthread_once(&loaded_once, load_module);
  *out = generator;
  return generator ? LEAT_OK : leat_fail(error, load_error.status, "%s", load_error.message);
}
