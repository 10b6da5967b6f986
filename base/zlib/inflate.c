#include "base/zlib/inflate.h"

#include <limits.h>
#include <stdio.h>
#include <zlib.h>

// The module is linked with nothing of libleat.
static leat_status fail(leat_error *error, leat_status status, const char *why) {
  error->status = status;
  snprintf(error->message, sizeof error->message, "%s", why);
  return status;
}

static unsigned at_most(size_t size) {
  return size < UINT_MAX ? (unsigned)size : UINT_MAX;
}

// zlib counts in 32 bits: the rest is given to it when it has none left.
static int fill(z_stream *stream, size_t from_left, size_t to_left) {
  int done = Z_OK;
  while (done == Z_OK && (to_left || stream->avail_out)) {
    if (!stream->avail_in) from_left -= stream->avail_in = at_most(from_left);
    if (!stream->avail_out) to_left -= stream->avail_out = at_most(to_left);
    done = inflate(stream, Z_NO_FLUSH);
  }
  return done == Z_MEM_ERROR ? done : stream->avail_out || to_left ? Z_DATA_ERROR : Z_OK;
}

__attribute__((visibility("default"))) leat_status leat_zlib_inflate(const void *from,
                                                                     size_t from_size, void *to,
                                                                     size_t to_size,
                                                                     leat_error *error) {
  z_stream stream = {.next_in = (z_const Bytef *)from, .next_out = to};
  if (inflateInit2(&stream, -MAX_WBITS) != Z_OK) // without a header of zlib's
    return fail(error, LEAT_MEMORY, "no memory to unpack it");
  int done = fill(&stream, from_size, to_size);
  inflateEnd(&stream);
  if (done == Z_OK) return LEAT_OK;
  return done == Z_MEM_ERROR ? fail(error, LEAT_MEMORY, "no memory to unpack it")
                             : fail(error, LEAT_INVALID, "what was packed is damaged");
}
