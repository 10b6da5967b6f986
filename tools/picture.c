// Drawing: numbers become doubles, then dots. An image keeps its own brightness (bytes as they are,
// floats between 0 and 1 as such); everything else is spread from its lowest to its highest number.
#include "tools/picture.h"

#include "base/module.h"
#include "tools/png/png_write.h"
#include "tools/values.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// Images as `count` tiles of height × width × channels numbers.
typedef struct canvas {
  const leat_tensor *tensor;
  int64_t count, height, width, channels;
  double low, high; // of its finite numbers
} canvas;

static void find_range(canvas *c) {
  int64_t count = leat_shape_elements(c->tensor->rank, c->tensor->shape);
  c->low = INFINITY;
  c->high = -INFINITY;
  for (int64_t i = 0; i < count; i++) {
    double value = tool_element(c->tensor, i);
    if (!isfinite(value)) continue;
    c->low = fmin(c->low, value);
    c->high = fmax(c->high, value);
  }
  if (c->low > c->high) c->low = c->high = 0;
}

// 0 … 1; NaN stays.
static double spread(const canvas *c, double value) {
  if (isnan(value)) return value;
  double share = c->high > c->low ? (value - c->low) / (c->high - c->low) : 0.5;
  return fmin(fmax(share, 0), 1);
}

// -- Colours -----------------------------------------------------------------------------------

// Dark blue over green to yellow, ever brighter.
static void colour_of(double share, uint8_t *rgb) {
  static const double stops[][3] = {
      {68, 1, 84}, {59, 82, 139}, {33, 145, 140}, {94, 201, 98}, {253, 231, 37}};
  double at = share * 4;
  int stop = at < 3 ? (int)at : 3;
  for (int i = 0; i < 3; i++)
    rgb[i] = (uint8_t)lround(stops[stop][i] + (at - stop) * (stops[stop + 1][i] - stops[stop][i]));
}

static bool is_image(const canvas *c) {
  return c->tensor->rank > 2 &&
         (c->channels == 3 || c->tensor->rank == 4 || c->tensor->shape[2] == c->channels);
}

// How bright a number of an image is.
static double brightness(const canvas *c, double value) {
  if (c->tensor->dtype == LEAT_u8) return value / 255;
  bool plain = c->low >= 0 && c->high <= 1;
  return plain ? value : spread(c, value);
}

static void colour_dot(const canvas *c, const double *channels, uint8_t *rgb) {
  if (isnan(channels[0])) {
    memcpy(rgb, (uint8_t[]){255, 0, 0}, 3);
  } else if (!is_image(c)) {
    colour_of(spread(c, channels[0]), rgb);
  } else {
    for (int i = 0; i < 3; i++)
      rgb[i] = (uint8_t)lround(255 * fmin(fmax(brightness(c, channels[i % c->channels]), 0), 1));
  }
}

// -- Maps and images ---------------------------------------------------------------------------

// The mean of what lies in dot (x, y) of a tile that is drawn with `width` × `height` dots.
static void sample(const canvas *c, int64_t tile, int64_t x, int64_t y, int64_t width,
                   int64_t height, double *out) {
  int64_t left = x * c->width / width, right = (x + 1) * c->width / width;
  int64_t top = y * c->height / height, bottom = (y + 1) * c->height / height;
  for (int64_t k = 0; k < c->channels; k++) {
    double sum = 0;
    for (int64_t i = top; i < bottom; i++)
      for (int64_t j = left; j < right; j++)
        sum += tool_element(c->tensor, ((tile * c->height + i) * c->width + j) * c->channels + k);
    out[k] = sum / (double)((right - left) * (bottom - top));
  }
}

// Of a shape that is divided by one whole number in both directions until it fits.
static void fit(int64_t *width, int64_t *height, int64_t most_width, int64_t most_height) {
  int64_t w = *width, h = *height, by = 1;
  while ((w + by - 1) / by > most_width || (h + by - 1) / by > most_height) by++;
  *width = (w + by - 1) / by;
  *height = (h + by - 1) / by;
}

static bool start(picture *out, int64_t width, int64_t height) {
  out->width = (int)width;
  out->height = (int)height;
  out->rgb = calloc((size_t)(width * height) + 1, 3);
  return out->rgb;
}

// Tiles stand side by side, with a dot between them, in as many rows as are needed; those that do
// not fit below are left out.
static bool draw_tiles(const canvas *c, int width, int height, picture *out) {
  int64_t w = c->width, h = c->height, beside = 1, below = 1;
  fit(&w, &h, width, height);
  if (c->count > 1) {
    beside = (width + 1) / (w + 1);
    if (beside > c->count) beside = c->count;
    below = (c->count + beside - 1) / beside;
    int64_t most = (height + 1) / (h + 1);
    if (below > most) below = most;
  }
  if (!start(out, beside * (w + 1) - 1, below * (h + 1) - 1)) return false;
  for (int64_t tile = 0; tile < c->count && tile < beside * below; tile++)
    for (int64_t y = 0; y < h; y++)
      for (int64_t x = 0; x < w; x++) {
        double channels[4];
        int64_t column = tile % beside * (w + 1) + x, row = tile / beside * (h + 1) + y;
        sample(c, tile, x, y, w, h, channels);
        colour_dot(c, channels, out->rgb + 3 * (row * out->width + column));
      }
  return true;
}

// -- Lines -------------------------------------------------------------------------------------

static void mark(picture *p, int x, int y) {
  memset(p->rgb + 3 * (y * p->width + x), 255, 3);
}

static int row_of(const canvas *c, double value, int height) {
  return (int)lround((1 - spread(c, value)) * (height - 1));
}

// The number at a place between two elements.
static double between(const canvas *c, double place) {
  int64_t first = (int64_t)place, last = c->width - 1;
  double share = place - (double)first, value = tool_element(c->tensor, first);
  if (first >= last || share == 0) return value;
  return value + share * (tool_element(c->tensor, first + 1) - value);
}

// Dots of column x from the row that the line came from, -1 where it begins, to the value's.
// Returns that row.
static int draw_to(const canvas *c, picture *out, int x, int from, double value) {
  if (isnan(value)) return -1;
  int row = row_of(c, value, out->height);
  if (from < 0) from = row;
  if (from < row - 1) from++; // which the column before has
  if (from > row + 1) from--;
  for (int y = from < row ? from : row; y <= (from < row ? row : from); y++) mark(out, x, y);
  return row;
}

// A column has all of its numbers when there are more of them than columns.
static bool draw_line(const canvas *c, int width, int height, picture *out) {
  if (!start(out, width, height)) return false;
  out->line = true;
  int row = -1;
  for (int x = 0; x < width; x++) {
    if (c->width <= width) {
      double step = width > 1 ? (double)(c->width - 1) / (width - 1) : 0;
      row = draw_to(c, out, x, row, between(c, x * step));
      continue;
    }
    int64_t first = x * c->width / width, end = (x + 1) * c->width / width;
    for (int64_t i = first; i < end; i++) row = draw_to(c, out, x, row, tool_element(c->tensor, i));
  }
  return true;
}

// -- Tensors -----------------------------------------------------------------------------------

static leat_status lay_out(const leat_tensor *t, canvas *out, leat_error *error) {
  const int64_t *n = t->shape;
  leat_dtype_kind kind = leat_dtype_kind_of(t->dtype);
  *out = (canvas){t, 1, 1, 1, 1, 0, 0};
  if (t->dtype == LEAT_str || kind == LEAT_KIND_COMPLEX)
    return leat_fail(error, LEAT_INVALID, "%s has no picture: plot its parts, or abs(x)",
                     leat_dtype_name(t->dtype));
  bool last_is_colour = t->rank == 4 || (t->rank == 3 && (n[2] == 1 || n[2] == 3));
  if (t->rank == 1)
    out->width = n[0];
  else if (t->rank == 2)
    out->height = n[0], out->width = n[1];
  else if (t->rank == 3 && last_is_colour)
    out->height = n[0], out->width = n[1], out->channels = n[2];
  else if (t->rank == 3)
    out->count = n[0], out->height = n[1], out->width = n[2];
  else if (t->rank == 4 && (n[3] == 1 || n[3] == 3))
    out->count = n[0], out->height = n[1], out->width = n[2], out->channels = n[3];
  else
    return leat_fail(error, LEAT_INVALID,
                     "what is plotted is a vector, a matrix, [H, W, 1 or 3], [N, H, W] or "
                     "[N, H, W, 1 or 3]; this has rank %d",
                     t->rank);
  if (!leat_shape_elements(t->rank, n))
    return leat_fail(error, LEAT_INVALID, "there is nothing in it to be plotted");
  find_range(out);
  return LEAT_OK;
}

leat_status picture_draw(const leat_tensor *tensor, int width, int height, picture *out,
                         leat_error *error) {
  canvas c;
  *out = (picture){0};
  LEAT_TRY(lay_out(tensor, &c, error));
  bool drawn =
      tensor->rank == 1 ? draw_line(&c, width, height, out) : draw_tiles(&c, width, height, out);
  if (!drawn) return leat_fail(error, LEAT_MEMORY, "no memory for a picture");
  out->low = c.low;
  out->high = c.high;
  return LEAT_OK;
}

void picture_finish(picture *p) {
  free(p->rgb);
}

// -- PNG ---------------------------------------------------------------------------------------

enum { LEAST_DOTS = 256 };

leat_status picture_write_png(const picture *p, const char *path, leat_error *error) {
  const void *symbol;
  leat_error cause = {0};
  if (leat_module_load("png", "leat_png_write", &symbol, &cause))
    return leat_fail(error, LEAT_UNSUPPORTED,
                     "PNG files need libpng, which this build has not (%s)", cause.message);
  leat_png_writer *writer;
  memcpy(&writer, &symbol, sizeof writer);
  int largest = p->width > p->height ? p->width : p->height;
  int by = largest < LEAST_DOTS ? (LEAST_DOTS + largest - 1) / largest : 1;
  size_t width = (size_t)p->width * (size_t)by, height = (size_t)p->height * (size_t)by;
  uint8_t *rgb = malloc(3 * width * height);
  if (!rgb) return leat_fail(error, LEAT_MEMORY, "no memory for a picture");
  for (size_t y = 0; y < height; y++)
    for (size_t x = 0; x < width; x++)
      memcpy(rgb + 3 * (y * width + x),
             p->rgb + 3 * (y / (size_t)by * (size_t)p->width + x / (size_t)by), 3);
  leat_status status = writer(path, rgb, (uint32_t)width, (uint32_t)height, error);
  free(rgb);
  return status;
}
