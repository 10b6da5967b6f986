// What tells this build of the compiler from every other one: part of cache keys.
#ifndef LEAT_SESSION_BUILD_ID_H
#define LEAT_SESSION_BUILD_ID_H

#include "base/text.h"

// Adds the version and, as hexadecimal digits, the build id that the linker gave to the program or
// library that holds this code, or that file's size and time where it has none.
void leat_build_id_add(leat_text *out);

#endif
