// Modules: shared objects leat-NAME.so, the only code that sees LLVM, MPI or BLIS, loaded on first
// need. They are looked for in the directories of $LEAT_MODULE_PATH (separated by colons), then
// in leat_module_directories.
#ifndef LEAT_BASE_MODULE_H
#define LEAT_BASE_MODULE_H

#include "base/installed.h"
#include "leat/status.h"

enum { LEAT_MODULE_KEY_SIZE = 96 };

// Writes where it is. LEAT_NOT_FOUND: there is none; LEAT_INVALID: others could change that of
// $LEAT_MODULE_PATH (base/trust.h).
LEAT_MUST_USE leat_status leat_module_find(const char *name, char path[LEAT_PATH_SIZE],
                                           leat_error *error);

// Writes a text that differs where the module does (and so between versions of the library that it
// was built with) without loading it; "" and false when there is no such module.
bool leat_module_key(const char *name, char out[LEAT_MODULE_KEY_SIZE]);

// Loads leat-<name>.so, or finds it loaded, and returns the address of its one exported symbol. It
// stays loaded. LEAT_NOT_FOUND: there is no such module; LEAT_FOREIGN: it cannot be loaded.
LEAT_MUST_USE leat_status leat_module_load(const char *name, const char *symbol,
                                           const void **out_table, leat_error *error);

#endif
