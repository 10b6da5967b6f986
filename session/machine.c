// Reading --triple and --cpu.
#include "session/machine.h"

#include <string.h>

static const char *const names[] = {"x86_64", "aarch64", "riscv64", "loongarch64", "powerpc64le"};
enum { NAMES = sizeof names / sizeof *names };

static const char machine_here[] =
#if defined __x86_64__
    "x86_64";
#elif defined __aarch64__
    "aarch64";
#elif defined __riscv
    "riscv64";
#elif defined __loongarch64
    "loongarch64";
#else
    "powerpc64le";
#endif

const char *leat_machine_here(void) {
  return machine_here;
}

bool leat_machine_is_here(const leat_machine *machine) {
  return strcmp(machine->name, machine_here) == 0;
}

static leat_status read_triple(const char *triple, leat_machine *out, leat_error *error) {
  size_t length = strcspn(triple, "-");
  for (int i = 0; i < NAMES && !out->name; i++)
    if (strlen(names[i]) == length && strncmp(names[i], triple, length) == 0) out->name = names[i];
  if (!out->name)
    return leat_fail(error, LEAT_UNSUPPORTED,
                     "--triple %s: `%.*s` is none of the 64-bit little-endian machines that there "
                     "is code for: x86_64, aarch64, riscv64, loongarch64, powerpc64le",
                     triple, (int)length, triple);
  if (!strstr(triple + length, "-linux-"))
    return leat_fail(error, LEAT_UNSUPPORTED,
                     "--triple %s: code runs under Linux, for example %s-linux-gnu or "
                     "%s-linux-musl",
                     triple, out->name, out->name);
  return LEAT_OK;
}

// One name of a list; each level stands once.
static leat_status read_level(const char *name, const char *cpus, leat_machine *out,
                              leat_error *error) {
  leat_cpu_level level;
  if (!leat_cpu_level_parse(name, &level))
    return leat_fail(error, LEAT_INVALID, "unknown cpu `%s`; there are host, %s", name,
                     leat_cpu_level_names());
  int at = out->level_count;
  for (int i = 0; i < out->level_count; i++)
    if (out->levels[i] == level)
      return leat_fail(error, LEAT_INVALID, "--cpu %s has %s twice", cpus,
                       leat_cpu_level_name(level));
  for (; at > 0 && out->levels[at - 1] > level; at--) out->levels[at] = out->levels[at - 1];
  out->levels[at] = level;
  out->level_count++;
  return LEAT_OK;
}

static leat_status read_levels(const char *cpus, leat_arena *arena, leat_machine *out,
                               leat_error *error) {
  if (strcmp(out->name, "x86_64") != 0)
    return leat_fail(error, LEAT_INVALID,
                     "--cpu %s: only x86_64 has several levels; code for %s runs on all of them",
                     cpus, out->name);
  for (const char *at = cpus;; at++) {
    size_t length = strcspn(at, ",");
    LEAT_TRY(read_level(leat_arena_strndup(arena, at, length), cpus, out, error));
    at += length;
    if (!*at) return LEAT_OK;
  }
}

leat_status leat_machine_find(const char *triple, const char *cpus, leat_arena *arena,
                              leat_machine *out, leat_error *error) {
  *out = (leat_machine){.triple = triple, .name = triple ? NULL : machine_here};
  if (triple) LEAT_TRY(read_triple(triple, out, error));
  if (cpus) return read_levels(cpus, arena, out, error);
  if (strcmp(out->name, "x86_64") != 0) return LEAT_OK;
  out->levels[out->level_count++] = triple ? LEAT_CPU_BASELINE : leat_cpu_host_level();
  return LEAT_OK;
}
