// A step's compiled code: for each device that has a part of it an image and the objects of its
// kernels. The same whether it was just compiled or comes out of the step cache.
#ifndef LEAT_SESSION_STEP_CODE_H
#define LEAT_SESSION_STEP_CODE_H

#include "base/file.h"
#include "base/vec.h"
#include "session/driver.h"

typedef struct leat_part_code {
  const char *device;
  leat_bytes image;
  // One object for all kernels that were generated, or one for each of them.
  leat_vec(leat_bytes) objects;
} leat_part_code;

typedef struct leat_step_code {
  leat_arena *arena; // the lists, and what was compiled
  leat_vec(leat_part_code) parts;
  bool keepable; // it means the same in another process
} leat_step_code;

// Runs the passes that are left, codegen, and the targets (in parallel threads). Stops early, with
// driver->stopped, where the session's options say so.
LEAT_MUST_USE leat_status leat_step_compile(leat_driver *driver, leat_step_code *out);

// One part of it as a program; `code` may go afterwards.
LEAT_MUST_USE leat_status leat_step_load(const leat_part_code *code, leat_program **out,
                                         leat_error *error);

#endif
