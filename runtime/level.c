// Which of an artifact's kernels this CPU runs.
// It runs seldom: compiled for size.
#include "base/cpuid.h"
#include "runtime/image.h"

#include <stdio.h>
#include <string.h>

// A name of `levels`, up to its comma.
static bool read_level(const char *levels, leat_cpu_level *out) {
  char name[32];
  int length = (int)strcspn(levels, ",");
  snprintf(name, sizeof name, "%.*s", length, levels);
  return length < (int)sizeof name && leat_cpu_level_parse(name, out);
}

leat_status leat_image_choose_level(const leat_view *view, uint32_t *out, leat_error *error) {
  const char *levels = view->text + view->image->levels;
  leat_cpu_level here = leat_cpu_host_level(), level;
  bool found = !*levels;
  *out = 0;
  for (uint32_t i = 0; *levels; i++) {
    if (!read_level(levels, &level))
      return leat_fail(error, LEAT_INVALID, "damaged image: it is for a CPU `%s`", levels);
    if (level <= here) *out = i, found = true;
    levels += strcspn(levels, ",");
    levels += *levels == ',';
  }
  if (found) return LEAT_OK;
  (void)read_level(view->text + view->image->levels, &level);
  return leat_fail(error, LEAT_UNSUPPORTED,
                   "this CPU is %s, and the code is for %s and above (leat build --cpu)",
                   leat_cpu_level_name(here), leat_cpu_level_name(level));
}
