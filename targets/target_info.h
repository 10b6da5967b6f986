// The machines that there is code for.
#ifndef LEAT_TARGETS_TARGET_INFO_H
#define LEAT_TARGETS_TARGET_INFO_H

#include "base/cpuid.h"
#include "base/target_info.h"

// `machine`: what a triple begins with, "x86_64"; `level` means nothing elsewhere. What is not
// known by name is a machine with few scalar registers.
const leat_target_info *leat_target_info_find(const char *machine, leat_cpu_level level);

#endif
