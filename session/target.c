// The table of targets.
#include "session/target.h"

#include "base/installed.h"
#include "base/module.h"

#include "targets/c/c.h"
#include "targets/cpu/cpu.h"

#include <string.h>

static void add_llvm_key(leat_text *out) {
  leat_text_add(out, "%s", leat_cpu_codegen_key());
}

static void add_kernels(const leat_codegen_request *request, leat_text *out) {
  for (size_t i = 0; i < request->kernel_count; i++) {
    leat_text_add(out, "%s\n", request->symbols[i]);
    leat_kernel_print(request->kernels[i], out);
  }
}

static leat_status c_generator(const leat_code_generator **out, leat_error *error) {
  static const leat_code_generator generator = {LEAT_CODEGEN_VERSION, "cc", leat_c_compile, NULL};
  (void)error;
  *out = &generator;
  return LEAT_OK;
}

static const leat_target targets[] = {
    {.name = "cpu",
     .generator = leat_cpu_codegen,
     .add_key = add_llvm_key,
     .add_text = add_kernels},
    {.name = "c",
     .generator = c_generator,
     .add_key = leat_c_compiler_key,
     .add_text = leat_c_add_text,
     .whole = true},
    {.name = "ref"},
};

static bool lacks_llvm(const char *name) {
  return strcmp(name, "cpu") == 0 && !*leat_cpu_codegen_key();
}

bool leat_target_lacks(const char *name, leat_error *why) {
  char path[LEAT_PATH_SIZE];
  leat_error reason = {0};
  if (!lacks_llvm(name)) return false;
  bool refused = leat_module_find("llvm", path, &reason) == LEAT_INVALID;
  if (!refused && !leat_has_llvm) return false;
  leat_fail(why, LEAT_NOT_FOUND, "the C compiler makes the code of target cpu, since %s",
            refused ? reason.message
                    : "leat-llvm.so, which this program was built with, is neither beside it nor "
                      "where it was installed nor in $LEAT_MODULE_PATH");
  return true;
}

const leat_target *leat_target_find(const char *name) {
  if (lacks_llvm(name)) name = "c";
  for (size_t i = 0; i < sizeof targets / sizeof *targets; i++)
    if (strcmp(targets[i].name, name) == 0) return &targets[i];
  return NULL;
}

const char *leat_target_names(void) {
  return "cpu, c, ref";
}
