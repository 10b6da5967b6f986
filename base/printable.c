// It runs seldom: compiled for size.
#include "base/printable.h"

#include "base/text.h"

#include <string.h>

bool leat_is_control(const char *text, size_t size) {
  const unsigned char *c = (const unsigned char *)text;
  if (size == 1) return c[0] < 0x20 || c[0] == 0x7f;
  if (size == 2) return (c[0] == 0xc2 && c[1] < 0xa0) || (c[0] == 0xd8 && c[1] == 0x9c);
  if (size != 3 || c[0] != 0xe2) return false;
  if (c[1] == 0x80) return (c[2] >= 0xaa && c[2] <= 0xae) || c[2] == 0x8e || c[2] == 0x8f;
  return c[1] == 0x81 && c[2] >= 0xa6 && c[2] <= 0xa9;
}

void leat_mask_controls_n(char *text, size_t size) {
  for (size_t i = 0, step; i < size; i += step) {
    step = leat_utf8_character(text + i, size - i);
    bool shown = step && (text[i] == '\n' || text[i] == '\t' || !leat_is_control(text + i, step));
    if (!step) step = 1;
    if (!shown) memset(text + i, '?', step);
  }
}

void leat_mask_controls(char *text) {
  leat_mask_controls_n(text, strlen(text));
}
