// It runs seldom: compiled for size.
#include "base/show.h"

#include "base/printable.h"

#include <stdlib.h>

// What there is no memory for is shown as far as it fits.
void leat_show_v(FILE *to, const char *format, va_list arguments) {
  char some[512], *all = some;
  va_list again;
  va_copy(again, arguments);
  int size = vsnprintf(some, sizeof some, format, arguments);
  if (size >= (int)sizeof some && (all = malloc((size_t)size + 1)))
    vsnprintf(all, (size_t)size + 1, format, again);
  va_end(again);
  if (!all) all = some;
  leat_mask_controls(all);
  fputs(all, to); // shown
  if (all != some) free(all);
}

void leat_show(FILE *to, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  leat_show_v(to, format, arguments);
  va_end(arguments);
}
