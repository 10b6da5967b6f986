// Code generators: kernels → one relocatable object in memory. There are two, LLVM (targets/cpu)
// and the system's C compiler (targets/c); what they make is loaded by runtime/object_load.h, kept
// by session/object_cache.h, or written as the `.o` of an ahead-of-time build.
#ifndef LEAT_TARGETS_GENERATOR_H
#define LEAT_TARGETS_GENERATOR_H

#include "base/target_info.h"
#include "base/text.h"
#include "kernel/kernel.h"
#include "leat/status.h"

enum { LEAT_CODEGEN_VERSION = 4 };

// Read-only bytes under a symbol, 64-byte aligned.
typedef struct leat_object_data {
  const char *symbol;
  const void *data; // NULL: it is defined elsewhere
  size_t size;
} leat_object_data;

// A read-only array of addresses under a symbol: of kernels, data, earlier arrays and functions of
// include/leat/artifact.h. A target NULL is a null pointer.
typedef struct leat_object_pointers {
  const char *symbol;
  const char *const *targets;
  size_t count;
} leat_object_pointers;

typedef struct leat_codegen_request {
  const leat_kernel *const *kernels;
  const char *const *symbols; // one a kernel: a global function of type leat_kernel_function
  size_t kernel_count;
  const char *triple;             // of the machine that the code is for; NULL: this one
  const leat_target_info *target; // what it is
  // NULL, or of each kernel what it is for: a level that is at least as high.
  const leat_target_info *const *kernel_targets;
  const char *cc; // words of the C compiler for such code; NULL: this machine's (base/command.h)
  bool plain;     // of C text: C11 alone, in a file that has included leat/artifact.h
  const leat_object_data *data; // ahead of time only
  size_t data_count;
  const leat_object_pointers *pointers;
  size_t pointers_count;
  leat_text *dump;     // NULL, or gets the code in the generator's own language
  leat_text *assembly; // NULL, or gets the machine code as text; of a generator that knows none, as
                       // `dump` does
} leat_codegen_request;

// An ELF object in memory; leat_object_finish frees it.
typedef struct leat_object {
  void *data;
  size_t size;
} leat_object;

void leat_object_finish(leat_object *object);

// May be called by any number of threads at once.
typedef leat_status (*leat_codegen_compile)(const leat_codegen_request *request,
                                            leat_object *out_object, leat_error *error);

typedef struct leat_code_generator {
  uint32_t version;     // LEAT_CODEGEN_VERSION
  const char *compiler; // "LLVM 19.1.7": part of cache keys
  leat_codegen_compile compile;
  void (*rest)(void); // nothing is to be compiled soon: gives memory back that it can have again;
                      // NULL: it has none. By any thread, at any time
} leat_code_generator;

#endif
