// Which of an artifact's images this CPU runs.
// It runs seldom: compiled for size.
#include "base/cpuid.h"
#include "runtime/image.h"

static bool runs_here(const leat_image *image) {
  return image->level <= (uint32_t)leat_cpu_host_level() + 1;
}

leat_status leat_image_check_level(const leat_image *image, leat_error *error) {
  if (runs_here(image)) return LEAT_OK;
  return leat_fail(error, LEAT_UNSUPPORTED,
                   "this CPU is %s, and the code is for %s and above (leat build --cpu)",
                   leat_cpu_level_name(leat_cpu_host_level()),
                   leat_cpu_level_name((leat_cpu_level)(image->level - 1)));
}

size_t leat_count_levels(const leat_built_step *steps) {
  size_t count = 1;
  while (steps[count].image && steps[count].image->level > steps[count - 1].image->level) count++;
  return count;
}

const leat_built_step *leat_choose_level(const leat_built_step *steps) {
  size_t best = leat_count_levels(steps) - 1;
  while (best > 0 && !runs_here(steps[best].image)) best--;
  return &steps[best];
}
