// The C target: kernels as readable C11 with GNU vector extensions (gcc 12 or later, clang), and
// host code made from it by the system's compiler. It is the oracle of the LLVM target and what
// `leat build --emit=c` writes.
#ifndef LEAT_TARGETS_C_C_H
#define LEAT_TARGETS_C_C_H

#include "targets/generator.h"

// Compile with these: the text relies on no contraction and on no assumption about traps.
// Of some kernels gcc 12 makes wrong code where it makes vectors of straight-line code.
#define LEAT_C_FLAGS                                                                               \
  "-std=gnu11 -ffp-contract=off -fno-trapping-math -fwrapv -fno-strict-aliasing "                  \
  "-fno-tree-slp-vectorize"

// Once a file, before kernels: types and functions, of C11 alone or, with GNU vectors, including
// leat/artifact.h.
void leat_c_prelude(bool plain, leat_text *out);
// Prelude, kernels, pointers, declarations of data.
void leat_c_print_file(const leat_codegen_request *request, leat_text *out);
// The data, last in a file: gcc warns of code slowly behind megabytes of it.
void leat_c_print_data(const leat_codegen_request *request, leat_text *out);

// A leat_codegen_compile: the request's file through $CC, else cc. LEAT_UNSUPPORTED when there is
// no compiler.
LEAT_MUST_USE leat_status leat_c_compile(const leat_codegen_request *request,
                                         leat_object *out_object, leat_error *error);
// The compiler as text for cache keys: its path, size and time; "" when there is none.
void leat_c_compiler_key(leat_text *out);
// How it is called, what the request's file includes of Leat, and the file.
void leat_c_add_text(const leat_codegen_request *request, leat_text *out);

#endif
