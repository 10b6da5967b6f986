// The build id that a linker gives to a program or library: a note (NT_GNU_BUILD_ID) that differs
// when anything in it does, so that what is rebuilt as it was has the same.
#ifndef LEAT_BASE_BUILD_ID_H
#define LEAT_BASE_BUILD_ID_H

#include "base/text.h"

#include <stdbool.h>

// Adds the id among an ELF object's notes as hexadecimal digits; false: there is none.
bool leat_build_id_of_notes(const char *notes, size_t size, leat_text *out);
// Of the ELF file there, or its size and time where it has none; false: it cannot be read.
bool leat_build_id_of_file(const char *path, leat_text *out);

#endif
