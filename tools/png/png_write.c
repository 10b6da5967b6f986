#include "tools/png/png_write.h"

#include <png.h>
#include <stdarg.h>
#include <stdio.h>

// The module is linked with nothing of libleat.
static leat_status fail(leat_error *error, const char *path, const char *why) {
  error->status = LEAT_IO;
  snprintf(error->message, sizeof error->message, "cannot write '%s': %s", path, why);
  return LEAT_IO;
}

__attribute__((visibility("default"))) leat_status leat_png_write(const char *path,
                                                                  const uint8_t *rgb,
                                                                  uint32_t width, uint32_t height,
                                                                  leat_error *error) {
  png_image image = {
      .version = PNG_IMAGE_VERSION, .width = width, .height = height, .format = PNG_FORMAT_RGB};
  if (png_image_write_to_file(&image, path, 0, rgb, 0, NULL)) return LEAT_OK;
  leat_status status = fail(error, path, image.message);
  png_image_free(&image);
  return status;
}
