// Names of a file as the language writes them. Internal to frontend/onnx/.
#ifndef LEAT_FRONTEND_ONNX_NAMES_H
#define LEAT_FRONTEND_ONNX_NAMES_H

#include "base/map.h"

// The name as one that the language can have: what no name can hold becomes `_`.
char *onnx_plain_name(leat_arena *arena, const char *name);
// Such a name as the text has it: in backquotes where it is no word.
const char *onnx_print_name(leat_arena *arena, const char *name);
// The words of a pattern become names that are taken.
void onnx_reserve_words(leat_bytes_map *taken, const char *pattern);

#endif
