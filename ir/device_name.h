// Device names, full and partial: "/job:ps/task:0/device:cpu:0", each part of which may be left out
// of a constraint.
#ifndef LEAT_IR_DEVICE_NAME_H
#define LEAT_IR_DEVICE_NAME_H

#include "base/intern.h"

#include <stdbool.h>
#include <stdint.h>

typedef struct leat_device_name {
  const char *job, *type; // interned; NULL: any
  int64_t task, index;    // -1: any
} leat_device_name;

// False when `text` is not `[/job:NAME][/task:N][/device:TYPE[:N]]` with at least one part.
bool leat_device_name_parse(leat_strings *strings, const char *text, leat_device_name *out);
const char *leat_device_name_format(leat_strings *strings, leat_device_name name); // interned
// A device named without a job is this process, task 0 of every job.
bool leat_device_name_satisfies(leat_device_name device, leat_device_name constraint);
// What satisfies both; false when nothing can.
bool leat_device_name_merge(leat_device_name a, leat_device_name b, leat_device_name *out);

#endif
