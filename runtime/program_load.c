// A program of an image that came from elsewhere: every byte of it is checked, and all that an
// image may need is linked.
// It runs seldom: compiled for size.
#include "runtime/program.h"

#include <stdlib.h>
#include <string.h>

static leat_status load(leat_program *program, const leat_program_source *source,
                        leat_error *error) {
  const void *image = source->image;
  if ((uintptr_t)image % LEAT_IMAGE_ALIGNMENT) {
    program->own_image = aligned_alloc(LEAT_IMAGE_ALIGNMENT, (source->size + 64) & ~(size_t)63);
    if (!program->own_image)
      return leat_fail(error, LEAT_MEMORY, "no memory for an image of %zu bytes", source->size);
    image = memcpy(program->own_image, source->image, source->size);
  }
  LEAT_TRY(leat_image_check(image, source->size, &program->view, error));
  program->reader = leat_reads_files();
  program->control = leat_runs_control();
  program->keeper = leat_keeps_variables();
  LEAT_TRY(leat_program_prepare(program, source, error));
  return leat_program_read_files(program, source->base, error);
}

leat_status leat_program_load(const leat_program_source *source, leat_program **out,
                              leat_error *error) {
  return leat_program_make(source, load, out, error);
}
