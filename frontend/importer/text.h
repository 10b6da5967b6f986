// The text that a model becomes: names, lines, and what is said of its nodes.
#ifndef LEAT_FRONTEND_IMPORTER_TEXT_H
#define LEAT_FRONTEND_IMPORTER_TEXT_H

#include "base/map.h"
#include "frontend/importer/model_file.h"

#include <stdarg.h>

// The name as one that the language can have: what no name can hold becomes `_`, and what means
// something by itself ends in one.
char *leat_model_plain_name(leat_arena *arena, const char *name);
// Such a name as the text has it: in backquotes where it is no word.
const char *leat_model_print_name(leat_arena *arena, const char *plain);
// That name, or with a number behind it one that is not taken yet, nor `kept` (NULL: none is): now
// it is. `taken` holds the next number for each, so that many of one name take no time to tell
// apart, or 1.
const char *leat_model_take_name(leat_arena *arena, leat_bytes_map *taken,
                                 const leat_bytes_map *kept, const char *name);

// A copy in the arena of what is finished then.
const char *leat_model_take_text(leat_arena *arena, leat_text *text);
// Adds a line, behind which stands, where there is a node, which one, for who looks for places.
void leat_model_line(leat_arena *arena, leat_text *lines, unsigned indent, const char *node,
                     const char *op, const char *format, va_list arguments);
// Adds `of` and what is said, once, and up to a limit.
void leat_model_say(leat_arena *arena, leat_sayings *to, const char *of, const char *format,
                    va_list arguments);

#endif
