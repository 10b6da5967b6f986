// The module leat-llvm: kernels → LLVM IR → a short list of passes → an ELF object in memory. Each
// call has a context and a TargetMachine of its own, so any number of threads may compile at once.
#define _GNU_SOURCE // dl_iterate_phdr
#include "targets/cpu/cpu.h"

#include "targets/cpu/llvm_emit.h"

#include <link.h>
#include <llvm-c/Analysis.h>
#include <llvm-c/Error.h>
#include <llvm-c/Target.h>
#include <llvm-c/TargetMachine.h>
#include <llvm-c/Transforms/PassBuilder.h>
#include <llvm/Config/llvm-config.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

// What naive lowering leaves behind: local arrays that are registers, and equal or simple values.
// Loops need nothing more, as kernels hold their vectors themselves: default<O2> makes no kernel
// measured faster and takes three times as long.
static const char passes[] = "function(sroa,early-cse,simplifycfg,instcombine<no-verify-fixpoint>)";

typedef struct compiler {
  LLVMContextRef context;
  LLVMModuleRef module;
  LLVMTargetMachineRef machine;
} compiler;

#define INITIALIZE(name, target)                                                                   \
  static void initialize_##name(void) {                                                            \
    LLVMInitialize##target##TargetInfo();                                                          \
    LLVMInitialize##target##Target();                                                              \
    LLVMInitialize##target##TargetMC();                                                            \
    LLVMInitialize##target##AsmPrinter();                                                          \
  }
INITIALIZE(x86_64, X86)
INITIALIZE(aarch64, AArch64)
INITIALIZE(riscv64, RISCV)

// The machines that there is code for: what a triple begins with, and the least of its CPUs, as the
// Linux distributions have it; NULL: a CPU level.
typedef struct machine {
  const char *name;
  void (*initialize)(void);
  const char *cpu, *features, *abi;
} machine;

static const machine machines[] = {
    {"x86_64", initialize_x86_64, NULL, "", ""},
    {"aarch64", initialize_aarch64, "generic", "", ""},
    {"riscv64", initialize_riscv64, "generic-rv64", "+m,+a,+f,+d,+c", "lp64d"},
};
enum { MACHINES = sizeof machines / sizeof *machines };

static pthread_mutex_t targets_lock = PTHREAD_MUTEX_INITIALIZER; // of LLVM's list of targets

static const machine *find_machine(const char *triple, leat_error *error) {
  size_t length = strcspn(triple, "-");
  for (size_t i = 0; i < MACHINES; i++) {
    const machine *found = &machines[i];
    if (strlen(found->name) != length || strncmp(found->name, triple, length) != 0) continue;
    pthread_mutex_lock(&targets_lock);
    found->initialize();
    pthread_mutex_unlock(&targets_lock);
    return found;
  }
  leat_fail(error, LEAT_UNSUPPORTED,
            "LLVM makes code for x86_64, aarch64 and riscv64, not for `%s`; --target=c makes C, "
            "which its compiler takes",
            triple);
  return NULL;
}

static LLVMTargetMachineRef machine_for(LLVMTargetRef target, const char *triple,
                                        const leat_target_info *info, const machine *m) {
  LLVMTargetMachineOptionsRef options = LLVMCreateTargetMachineOptions();
  LLVMTargetMachineOptionsSetCPU(options, info->leveled ? info->name : m->cpu);
  LLVMTargetMachineOptionsSetFeatures(options, m->features);
  LLVMTargetMachineOptionsSetABI(options, m->abi);
  LLVMTargetMachineOptionsSetCodeGenOptLevel(options, LLVMCodeGenLevelLess);
  LLVMTargetMachineOptionsSetRelocMode(options, LLVMRelocPIC);
  LLVMTargetMachineOptionsSetCodeModel(options, LLVMCodeModelSmall);
  LLVMTargetMachineRef made = LLVMCreateTargetMachineWithOptions(target, triple, options);
  LLVMDisposeTargetMachineOptions(options);
  return made;
}

static leat_status create_machine(const leat_codegen_request *request, LLVMTargetMachineRef *out,
                                  leat_error *error) {
  char *message = NULL;
  char *triple =
      request->triple ? LLVMNormalizeTargetTriple(request->triple) : LLVMGetDefaultTargetTriple();
  const machine *m = find_machine(triple, error);
  LLVMTargetRef target;
  leat_status status = m ? LEAT_OK : LEAT_UNSUPPORTED;
  if (m && LLVMGetTargetFromTriple(triple, &target, &message)) {
    status = leat_fail(error, LEAT_FOREIGN, "LLVM: %s", message);
  } else if (m) {
    *out = machine_for(target, triple, request->target, m);
    if (!*out) status = leat_fail(error, LEAT_FOREIGN, "LLVM has no machine for %s", triple);
  }
  LLVMDisposeMessage(message);
  LLVMDisposeMessage(triple);
  return status;
}

// -- Data of ahead-of-time objects ---------------------------------------------------------------

static void add_global(compiler *c, const char *symbol, LLVMValueRef value) {
  LLVMValueRef global = LLVMAddGlobal(c->module, LLVMTypeOf(value), symbol);
  LLVMSetInitializer(global, value);
  LLVMSetGlobalConstant(global, true);
  LLVMSetAlignment(global, 64);
}

static LLVMValueRef symbol_address(compiler *c, const char *symbol) {
  LLVMValueRef known = LLVMGetNamedFunction(c->module, symbol);
  if (!known) known = LLVMGetNamedGlobal(c->module, symbol);
  return known ? known : LLVMAddGlobal(c->module, LLVMInt8TypeInContext(c->context), symbol);
}

static void add_data(compiler *c, const leat_codegen_request *request) {
  leat_arena *scratch = leat_arena_create();
  for (size_t i = 0; i < request->data_count; i++) {
    const leat_object_data *data = &request->data[i];
    if (!data->data) continue;
    add_global(c, data->symbol,
               LLVMConstStringInContext2(c->context, data->data, data->size, true));
  }
  for (size_t i = 0; i < request->pointers_count; i++) {
    const leat_object_pointers *pointers = &request->pointers[i];
    LLVMTypeRef type = LLVMPointerTypeInContext(c->context, 0);
    LLVMValueRef *all = leat_new_array(scratch, LLVMValueRef, pointers->count + 1);
    for (size_t j = 0; j < pointers->count; j++)
      all[j] = pointers->targets[j] ? symbol_address(c, pointers->targets[j]) : LLVMConstNull(type);
    add_global(c, pointers->symbol, LLVMConstArray2(type, all, pointers->count));
  }
  leat_arena_destroy(scratch);
}

// -- Compiling -----------------------------------------------------------------------------------

static leat_status run_passes(compiler *c, leat_error *error) {
  LLVMPassBuilderOptionsRef options = LLVMCreatePassBuilderOptions();
  LLVMErrorRef failure = LLVMRunPasses(c->module, passes, c->machine, options);
  LLVMDisposePassBuilderOptions(options);
  if (!failure) return LEAT_OK;
  char *message = LLVMGetErrorMessage(failure);
  leat_fail(error, LEAT_FOREIGN, "LLVM: %s", message);
  LLVMDisposeErrorMessage(message);
  return LEAT_FOREIGN;
}

// What LLVM made is given back before memory that ran out ends the call.
static leat_status add_text(leat_text *out, const char *text, size_t size) {
  if (!leat_text_reserve(out, size)) return LEAT_MEMORY;
  leat_text_add_n(out, text, size);
  return LEAT_OK;
}

static leat_status dump(compiler *c, leat_text *out) {
  char *text = LLVMPrintModuleToString(c->module);
  leat_status status = add_text(out, text, strlen(text));
  LLVMDisposeMessage(text);
  return status;
}

static leat_status emit(compiler *c, LLVMModuleRef module, LLVMCodeGenFileType kind,
                        LLVMMemoryBufferRef *out, leat_error *error) {
  char *message = NULL;
  if (!LLVMTargetMachineEmitToMemoryBuffer(c->machine, module, kind, &message, out)) return LEAT_OK;
  leat_fail(error, LEAT_FOREIGN, "LLVM: %s", message);
  LLVMDisposeMessage(message);
  return LEAT_FOREIGN;
}

// Of a copy: emitting changes a module.
static leat_status emit_assembly(compiler *c, leat_text *out, leat_error *error) {
  LLVMModuleRef copy = LLVMCloneModule(c->module);
  LLVMMemoryBufferRef buffer = NULL;
  leat_status status = emit(c, copy, LLVMAssemblyFile, &buffer, error);
  if (!status) status = add_text(out, LLVMGetBufferStart(buffer), LLVMGetBufferSize(buffer));
  if (buffer) LLVMDisposeMemoryBuffer(buffer);
  LLVMDisposeModule(copy);
  return status;
}

static leat_status emit_object(compiler *c, leat_object *out, leat_error *error) {
  LLVMMemoryBufferRef buffer = NULL;
  LEAT_TRY(emit(c, c->module, LLVMObjectFile, &buffer, error));
  out->size = LLVMGetBufferSize(buffer);
  out->data = malloc(out->size);
  if (out->data) memcpy(out->data, LLVMGetBufferStart(buffer), out->size);
  LLVMDisposeMemoryBuffer(buffer);
  return out->data ? LEAT_OK : LEAT_MEMORY;
}

static leat_status build(compiler *c, const leat_codegen_request *request, leat_object *out,
                         leat_error *error) {
  char *triple = LLVMGetTargetMachineTriple(c->machine);
  LLVMSetTarget(c->module, triple);
  LLVMDisposeMessage(triple);
  LLVMTargetDataRef layout = LLVMCreateTargetDataLayout(c->machine);
  LLVMSetModuleDataLayout(c->module, layout);
  LLVMDisposeTargetData(layout);
  for (size_t i = 0; i < request->kernel_count; i++) {
    const leat_target_info *own = request->kernel_targets ? request->kernel_targets[i] : NULL;
    LLVMValueRef kernel = leat_llvm_emit(c->module, request->kernels[i], request->symbols[i],
                                         own ? own : request->target);
    if (own) LLVMAddTargetDependentFunctionAttr(kernel, "target-cpu", own->name);
  }
  add_data(c, request);
  char *message = NULL;
  if (LLVMVerifyModule(c->module, LLVMReturnStatusAction, &message)) {
    leat_fail(error, LEAT_INTERNAL, "the IR of a kernel is not valid: %s", message);
    LLVMDisposeMessage(message);
    return LEAT_INTERNAL;
  }
  LLVMDisposeMessage(message);
  LEAT_TRY(run_passes(c, error));
  if (request->dump) LEAT_TRY(dump(c, request->dump));
  if (request->assembly) LEAT_TRY(emit_assembly(c, request->assembly, error));
  return emit_object(c, out, error);
}

static leat_status compile(const leat_codegen_request *request, leat_object *out,
                           leat_error *error) {
  compiler c = {0};
  *out = (leat_object){0};
  LEAT_TRY(create_machine(request, &c.machine, error));
  c.context = LLVMContextCreate();
  c.module = LLVMModuleCreateWithNameInContext("leat", c.context);
  leat_status status;
  LEAT_RECOVER(status, build(&c, request, out, error)); // this module's own recovery point
  LLVMDisposeModule(c.module);
  LLVMContextDispose(c.context);
  LLVMDisposeTargetMachine(c.machine);
  return status;
}

// LLVM's code and tables, of which compiling reads 50 MB, are read again when they are used again.
static int drop_segments(struct dl_phdr_info *library, size_t size, void *sought) {
  uintptr_t page = (uintptr_t)getpagesize(), here = (uintptr_t)sought;
  bool found = false;
  (void)size;
  for (int i = 0; i < library->dlpi_phnum; i++) {
    const ElfW(Phdr) *segment = &library->dlpi_phdr[i];
    uintptr_t begin = library->dlpi_addr + segment->p_vaddr;
    found |= segment->p_type == PT_LOAD && here >= begin && here < begin + segment->p_memsz;
  }
  for (int i = 0; found && i < library->dlpi_phnum; i++) {
    const ElfW(Phdr) *segment = &library->dlpi_phdr[i];
    uintptr_t begin = library->dlpi_addr + segment->p_vaddr, first = begin & ~(page - 1);
    if (segment->p_type == PT_LOAD && !(segment->p_flags & PF_W))
      (void)!madvise((void *)first, begin + segment->p_memsz - first, MADV_DONTNEED);
  }
  return found;
}

static void rest(void) {
  dl_iterate_phdr(drop_segments, (void *)(uintptr_t)LLVMContextCreate);
}

__attribute__((visibility("default"))) extern const leat_code_generator leat_cpu_codegen_table;

const leat_code_generator leat_cpu_codegen_table = {
    .version = LEAT_CODEGEN_VERSION,
    .compiler = "LLVM " LLVM_VERSION_STRING,
    .compile = compile,
    .rest = rest,
};
