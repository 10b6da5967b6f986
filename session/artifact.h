// Ahead of time: steps as an executable, as something to link with, or as text of one of the
// languages that they go through. They share their variables.
#ifndef LEAT_SESSION_ARTIFACT_H
#define LEAT_SESSION_ARTIFACT_H

#include "session/session.h"

// X(kind, its name in --emit, the suffix that asks for it or NULL, whether a header stands beside
// it)
#define LEAT_ARTIFACT_KINDS(X)                                                                     \
  X(EXECUTABLE, exe, NULL, false)  /* linked with libleat_rt; needs libc and libm only */          \
  X(OBJECT, obj, ".o", true)       /* to be linked with libleat_rt */                              \
  X(STATIC, static, ".a", true)    /* the object and libleat_rt: links with libm alone */          \
  X(SHARED, so, ".so", true)       /* libleat_rt inside */                                         \
  X(C, c, ".c", true)              /* what becomes the object, as C */                             \
  X(LLVM, llvm, ".ll", true)       /* the same as LLVM's IR, … */                                \
  X(ASSEMBLY, asm, ".s", true)     /* … as assembly */                                           \
  X(GRAPH, graph, NULL, false)     /* what the passes made, which `leat` reads back */             \
  X(KERNELS, kernels, NULL, false) /* the kernels and the tables that run them, to be read */

typedef enum leat_artifact_kind {
#define X(kind, name, suffix, has_header) LEAT_ARTIFACT_##kind,
  LEAT_ARTIFACT_KINDS(X)
#undef X
      LEAT_ARTIFACT_KIND_COUNT
} leat_artifact_kind;

typedef struct leat_artifact_kind_info {
  const char *name, *suffix;
  bool has_header;
} leat_artifact_kind_info;

extern const leat_artifact_kind_info leat_artifact_kinds[LEAT_ARTIFACT_KIND_COUNT];

// Where an artifact has the tensors of data files that it needs.
typedef enum leat_weights_kind {
  LEAT_WEIGHTS_EMBED,  // in it
  LEAT_WEIGHTS_BESIDE, // in OUTPUT.safetensors beside it
  LEAT_WEIGHTS_LOAD,   // in the files that the text names; frozen variables in it
} leat_weights_kind;

typedef struct leat_artifact_options {
  leat_artifact_kind kind;
  leat_weights_kind weights;
  const char *output;       // the path; headers stand beside it
  const char *vars;         // a data file (session/artifact/freeze.h), or NULL
  bool partial;             // it may lack variables
  const leat_setting *dims; // values for run-time dims: B=128
  int dim_count;
  const char *triple, *cpus; // session/machine.h; either may be NULL
  const char *cc, *sysroot;  // session/artifact/toolchain.h; likewise
  bool linked_statically;    // of an executable
  bool with_runtime;         // of C: the runtime's source goes beside it, into leat-runtime/
  bool one_file;             // of C: the runtime is in it, and LEAT_MAIN defined makes a program
  bool print_link;           // log the command that links
} leat_artifact_options;

// The steps, in this order, each of which its user calls by the names of its entries, "train+eval",
// are symbolic in their run-time dims but for those given.
LEAT_MUST_USE leat_status leat_artifact_build(leat_session *session, const leat_step_spec *specs,
                                              int count, const leat_artifact_options *options);

#endif
