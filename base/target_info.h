// What a code generator must know of the machine that its code is for. Nothing here changes a bit
// of a result, but for `has_fma`.
#ifndef LEAT_BASE_TARGET_INFO_H
#define LEAT_BASE_TARGET_INFO_H

#include <stdbool.h>

typedef struct leat_target_info {
  const char *name;     // "x86-64-v3", "aarch64"
  int vector_registers; // architectural ones
  int vector_bytes;     // of such a register; 0: it holds one number
  bool has_fma;
  bool broadcasts; // an instruction takes one number in memory for all lanes
} leat_target_info;

#endif
