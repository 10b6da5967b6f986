// Identifiers of C and C++ made of names in a text, which may be any words, each once in its scope.
#ifndef LEAT_SESSION_ARTIFACT_C_NAMES_H
#define LEAT_SESSION_ARTIFACT_C_NAMES_H

#include "base/map.h"

typedef struct leat_c_scope {
  leat_arena *arena;
  leat_bytes_map taken; // the names that there are, and what no name may be
} leat_c_scope;

void leat_c_scope_init(leat_c_scope *scope, leat_arena *arena);
void leat_c_scope_take_keywords(leat_c_scope *scope); // where names stand alone
void leat_c_scope_take(leat_c_scope *scope, const char *name);
// "input.1" → "input_1"; a name that is taken gets `_`, or `_2` and so on, at its end. The same
// names in the same order become the same identifiers.
const char *leat_c_name(leat_c_scope *scope, const char *name);

#endif
