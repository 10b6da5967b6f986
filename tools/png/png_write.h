// The module leat-png: the only code that sees libpng.
#ifndef LEAT_TOOLS_PNG_WRITE_H
#define LEAT_TOOLS_PNG_WRITE_H

#include "leat/status.h"

#include <stdint.h>

// Writes rows of red, green and blue bytes, from the top.
typedef leat_status leat_png_writer(const char *path, const uint8_t *rgb, uint32_t width,
                                    uint32_t height, leat_error *error);

#endif
