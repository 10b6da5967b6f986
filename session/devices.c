// Makes the list of devices from the cluster's text: for each task its CPU devices, then its
// reference device.
#include "session/devices.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_TASKS = 4096, MOST_DEVICES = 64 };

// For `place`: of code, and of what evaluates op by op, element by element; orders of magnitude are
// enough to compare devices.
static const double cpu_speed = 1, ref_speed = 1e-5;

leat_status leat_devices_read_cluster(leat_devices *devices, leat_arena *arena,
                                      leat_strings *strings, const char *cluster,
                                      leat_error *error) {
  int total = 0;
  devices->size = 1;
  if (!cluster) return LEAT_OK;
  for (const char *at = cluster; *at;) {
    size_t name = strcspn(at, "=,");
    char *end = NULL;
    long tasks = at[name] == '=' ? strtol(at + name + 1, &end, 10) : 0;
    if (!name || tasks < 1 || tasks > MOST_TASKS - total || (*end && *end != ','))
      return leat_fail(error, LEAT_INVALID,
                       "cluster `%s`: expected JOB=TASKS pairs such as `ps=1,worker=2`", cluster);
    leat_job job = {leat_intern_n(strings, at, name), (int)tasks};
    for (uint32_t i = 0; i < devices->jobs.count; i++)
      if (devices->jobs.items[i].name == job.name)
        return leat_fail(error, LEAT_INVALID, "cluster `%s` names job `%s` twice", cluster,
                         job.name);
    leat_vec_push(arena, &devices->jobs, job);
    total += job.tasks;
    at = *end ? end + 1 : end;
  }
  if (!total) return leat_fail(error, LEAT_INVALID, "the cluster has no tasks");
  devices->size = total;
  return LEAT_OK;
}

// Its store is made where leat_devices_finish finds it, whatever fails from then on.
static leat_status add_device(leat_devices *devices, leat_arena *arena, leat_device device,
                              leat_device_info info, leat_error *error) {
  info.name = device.name;
  leat_vec_push(arena, &devices->infos, info);
  leat_vec_push(arena, &devices->items, device);
  if (device.rank != devices->rank) return LEAT_OK;
  return leat_store_create(&devices->items.items[devices->items.count - 1].store, error);
}

// `task`: "/job:ps/task:0", or "" without a cluster.
static leat_status add_task(leat_devices *devices, leat_arena *arena, leat_strings *strings,
                            const leat_devices_spec *spec, const char *task, int rank,
                            leat_error *error) {
  leat_device_info cpu = {.type = leat_intern(strings, "cpu"),
                          .speed = cpu_speed,
                          .by_reference = strcmp(spec->target, "ref") == 0};
  for (int i = 0; i < spec->per_process; i++) {
    leat_device device = {leat_intern_printf(strings, "%s/device:cpu:%d", task, i),
                          leat_target_find(spec->target), rank, NULL};
    LEAT_TRY(add_device(devices, arena, device, cpu, error));
  }
  leat_device_info ref = {.type = leat_intern(strings, "ref"),
                          .speed = ref_speed,
                          .on_request = true,
                          .by_reference = true};
  leat_device device = {leat_intern_printf(strings, "%s/device:ref:0", task),
                        leat_target_find("ref"), rank, NULL};
  return add_device(devices, arena, device, ref, error);
}

// In-graph, the client is the first task of `worker`, else rank 0.
static leat_status add_cluster(leat_devices *devices, leat_arena *arena, leat_strings *strings,
                               const leat_devices_spec *spec, leat_error *error) {
  int rank = 0;
  for (uint32_t j = 0; j < devices->jobs.count; j++) {
    const leat_job *job = &devices->jobs.items[j];
    if (strcmp(job->name, "worker") == 0) devices->client_rank = rank;
    for (int task = 0; task < job->tasks; task++, rank++) {
      const char *name = leat_arena_printf(arena, "/job:%s/task:%d", job->name, task);
      LEAT_TRY(add_task(devices, arena, strings, spec, name, rank, error));
    }
  }
  return LEAT_OK;
}

leat_status leat_devices_init(leat_devices *devices, leat_arena *arena, leat_strings *strings,
                              const leat_devices_spec *spec, leat_error *error) {
  devices->rank = spec->rank;
  if (!leat_target_find(spec->target))
    return leat_fail(error, LEAT_INVALID, "unknown target `%s`; there are %s", spec->target,
                     leat_target_names());
  if (spec->per_process < 1 || spec->per_process > MOST_DEVICES)
    return leat_fail(error, LEAT_INVALID, "%d devices: expected 1 to %d", spec->per_process,
                     MOST_DEVICES);
  if (devices->jobs.count)
    LEAT_TRY(add_cluster(devices, arena, strings, spec, error));
  else
    LEAT_TRY(add_task(devices, arena, strings, spec, "", 0, error));
  for (uint32_t i = devices->items.count; i-- > 0;)
    if (devices->items.items[i].rank == devices->client_rank)
      devices->client = devices->items.items[i].name;
  return LEAT_OK;
}

void leat_devices_finish(leat_devices *devices) {
  for (uint32_t i = 0; i < devices->items.count; i++)
    leat_store_destroy(devices->items.items[i].store);
  *devices = (leat_devices){0};
}

const leat_device *leat_devices_find(const leat_devices *devices, const char *name) {
  for (uint32_t i = 0; i < devices->items.count; i++)
    if (strcmp(devices->items.items[i].name, name) == 0) return &devices->items.items[i];
  return NULL;
}
