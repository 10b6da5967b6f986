// What a session computes on: virtual CPU devices and the reference device of each process.
//
// Without a cluster there is one process and its devices are called `/device:cpu:0`: a name
// without a job is this process, whichever job a constraint asks for. With a cluster
// ("ps=1,worker=2") ranks are the tasks in the order of that text, and devices have full names.
#ifndef LEAT_SESSION_DEVICES_H
#define LEAT_SESSION_DEVICES_H

#include "base/intern.h"
#include "base/vec.h"
#include "frontend/frontend.h"
#include "passes/pass.h"
#include "runtime/runtime.h"
#include "session/target.h"

typedef struct leat_device {
  const char *name; // interned, full
  const leat_target *target;
  int rank;          // of the process that holds it
  leat_store *store; // its variables; NULL when another process has it
} leat_device;

typedef struct leat_devices {
  leat_vec(leat_device) items;
  leat_vec(leat_device_info) infos; // of the same order, for `place`
  leat_vec(leat_job) jobs;          // empty: no cluster
  const char *client;               // the device that feeds come from and fetches go to
  int client_rank;
  int rank, size; // this process, and how many the cluster has
} leat_devices;

typedef struct leat_devices_spec {
  int per_process;    // CPU devices; at least 1
  const char *target; // of the CPU devices
  int rank;
} leat_devices_spec;

// Reads a cluster's text (NULL: none): the jobs and the size.
LEAT_MUST_USE leat_status leat_devices_read_cluster(leat_devices *devices, leat_arena *arena,
                                                    leat_strings *strings, const char *cluster,
                                                    leat_error *error);
// Lists the devices of all tasks, when this process's rank is known.
LEAT_MUST_USE leat_status leat_devices_init(leat_devices *devices, leat_arena *arena,
                                            leat_strings *strings, const leat_devices_spec *spec,
                                            leat_error *error);
void leat_devices_finish(leat_devices *devices);
const leat_device *leat_devices_find(const leat_devices *devices, const char *name); // or NULL

#endif
