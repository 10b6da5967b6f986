// What loops carry changes places: pieces of arenas get each other's memory, so that nothing is
// copied. Internal to runtime/.
#ifndef LEAT_RUNTIME_ROTATE_H
#define LEAT_RUNTIME_ROTATE_H

#include "runtime/frame.h"

// What lies in each piece; part of loading a program. `scopes`: of each arena. False: a launch
// rotates pieces of several scopes, one of which could be forgotten without the others.
bool leat_pieces_find(leat_program *program, const uint32_t *scopes);

// Launch `number`, which is known. Nobody else works on what lies in the pieces.
void leat_frame_rotate(leat_frame *frame, uint32_t number);

#endif
