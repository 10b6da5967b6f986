// Tensors as pictures, for the terminal and for PNG files.
#ifndef LEAT_TOOLS_PICTURE_H
#define LEAT_TOOLS_PICTURE_H

#include "leat/dtype.h"
#include "leat/status.h"

#include <stdint.h>

typedef struct picture {
  int width, height;
  uint8_t *rgb;     // malloc'ed; rows from the top
  bool line;        // a line plot: white on black
  double low, high; // what its lowest and highest rows stand for, or darkest and brightest colours
} picture;

// A vector is a line of width × height dots; a matrix a map of colours; [H, W, 1 or 3] an image,
// [N, H, W] and [N, H, W, C] tiles of those. Of these, what has more elements than width × height
// is averaged, and nothing is enlarged. Bools, integers and floats; NaN is red, or no point of a
// line.
LEAT_MUST_USE leat_status picture_draw(const leat_tensor *tensor, int width, int height,
                                       picture *out, leat_error *error);
void picture_finish(picture *p);

typedef enum picture_colours { PICTURE_PLAIN, PICTURE_256, PICTURE_24_BIT } picture_colours;
// Prints it: plain with characters that are darker or brighter, else two rows a line in half
// blocks.
void picture_print(const picture *p, picture_colours colours);
// Enlarged to at least 256 dots. LEAT_UNSUPPORTED: this build has no libpng.
LEAT_MUST_USE leat_status picture_write_png(const picture *p, const char *path, leat_error *error);

#endif
