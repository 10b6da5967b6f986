// Images and objects → programs that the runtime can run. A program keeps what its code lies in.
#include "session/step_code.h"

#include "base/module.h"
#include "runtime/image.h"
#include "runtime/kernels/library.h"
#include "runtime/object_load.h"
#include "targets/ref/ref.h"

#include <stdlib.h>
#include <string.h>

enum { IMAGE_ALIGNMENT = 64 };

// What a program needs as long as it lives.
typedef struct loaded {
  void *image;
  leat_kernel_function *kernels;
  uint32_t object_count;
  leat_loaded_object *objects[];
} loaded;

static void release(void *context) {
  loaded *code = context;
  if (!code) return;
  for (uint32_t i = 0; i < code->object_count; i++) leat_object_unload(code->objects[i]);
  free(code->kernels);
  free(code->image);
  free(code);
}

static const char *symbol_of(const leat_image *image, size_t kernel) {
  const char *base = (const char *)image;
  const leat_image_kernel *kernels = (const void *)(base + image->kernels.offset);
  return base + image->text.offset + kernels[kernel].symbol;
}

static leat_status load_function(const char *module, const char *symbol, leat_kernel_function *out,
                                 leat_error *error) {
  const void *address;
  LEAT_TRY(leat_module_load(module, symbol, &address, error));
  memcpy(out, &address, sizeof address);
  return LEAT_OK;
}

// The image comes from this compiler, perhaps through the step cache, whose entries are checked as
// wholes; leat_program_load checks it again in detail.
//
// A kernel is a function of runtime/kernels or of a module, the reference's, or in an object: the
// next of them, or the only one.
static leat_status find_kernels(loaded *code, size_t count, leat_error *error) {
  uint32_t next = 0;
  for (size_t i = 0; i < count; i++) {
    const char *symbol = symbol_of(code->image, i), *module = leat_library_module(symbol);
    code->kernels[i] = leat_library_find(symbol);
    if (module) LEAT_TRY(load_function(module, symbol, &code->kernels[i], error));
    if (!strcmp(symbol, "leat_ref_kernel")) code->kernels[i] = leat_ref_kernel;
    if (code->kernels[i]) continue;
    void *address =
        next < code->object_count ? leat_object_symbol(code->objects[next], symbol) : NULL;
    if (!address) return leat_fail(error, LEAT_INTERNAL, "no object has the kernel %s", symbol);
    memcpy(&code->kernels[i], &address, sizeof address);
    if (code->object_count > 1) next++;
  }
  return LEAT_OK;
}

static leat_status load_objects(loaded *code, const leat_part_code *part, size_t kernel_count,
                                leat_error *error) {
  code->kernels = calloc(kernel_count + 1, sizeof *code->kernels);
  if (!code->kernels) return leat_fail(error, LEAT_MEMORY, "no memory for a program");
  for (uint32_t i = 0; i < part->objects.count; i++) {
    const leat_bytes *bytes = &part->objects.items[i];
    LEAT_TRY(leat_object_load(bytes->data, bytes->size, &code->objects[i], error));
    code->object_count++;
  }
  return find_kernels(code, kernel_count, error);
}

static leat_status load(loaded *code, const leat_part_code *part, leat_program **out,
                        leat_error *error) {
  size_t size = part->image.size;
  if (posix_memalign(&code->image, IMAGE_ALIGNMENT, size))
    return leat_fail(error, LEAT_MEMORY, "no memory for an image of %zu bytes", size);
  memcpy(code->image, part->image.data, size);
  const leat_image *image = code->image;
  size_t kernel_count = image->kernels.count;
  LEAT_TRY(load_objects(code, part, kernel_count, error));
  if (leat_image_calls_blis(image))
    LEAT_TRY(load_function("blis", "leat_blis_gemm", &code->kernels[kernel_count++], error));
  leat_program_source source = {.image = image,
                                .size = size,
                                .kernels = code->kernels,
                                .kernel_count = kernel_count,
                                .release = release,
                                .release_context = code};
  return leat_program_load(&source, out, error);
}

leat_status leat_step_load(const leat_part_code *part, leat_program **out, leat_error *error) {
  loaded *code = calloc(1, sizeof *code + part->objects.count * sizeof *code->objects);
  if (!code) return leat_fail(error, LEAT_MEMORY, "no memory for a program");
  leat_status status = load(code, part, out, error);
  if (status) release(code);
  return status;
}
