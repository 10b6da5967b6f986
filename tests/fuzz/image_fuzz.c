// The image loader on any bytes: what it accepts can be bound to variables and gets its memory.
// Nothing is run: a kernel would trust the sizes that it was compiled for.
#include "tests/fuzz/fuzz.h"

#include "runtime/image.h"
#include "runtime/runtime.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_KERNELS = 64, ALIGNMENT = 64, MOST_BYTES = 1 << 20 };

static int32_t do_nothing(leat_call *call, const leat_arg *args, int64_t begin, int64_t end) {
  (void)call, (void)args, (void)begin, (void)end;
  return 0;
}

static leat_status bind(leat_runtime *runtime, leat_store *store, const leat_program *program,
                        leat_error *error) {
  leat_part part = {program, store};
  leat_executor *executor;
  LEAT_TRY(leat_executor_create(runtime, &part, 1, &(leat_executor_options){0}, &executor, error));
  for (size_t i = 0; i < leat_executor_feed_count(executor); i++) {
    leat_port_info port;
    leat_text text = {0};
    leat_executor_feed(executor, i, &port);
    leat_port_print(&port, &text);
    leat_text_finish(&text);
  }
  leat_run_release(leat_run_acquire(executor));
  leat_executor_destroy(executor);
  return LEAT_OK;
}

// Variables get their memory, and zeros, when they are bound: what is damaged may ask for any
// amount.
static bool asks_for_little(const leat_view *view) {
  for (uint64_t i = 0; i < view->image->variables.count; i++) {
    int64_t shape[LEAT_MAX_RANK], bytes;
    const leat_image_type *type = &view->variables[i].type;
    if (leat_type_value(view, type, NULL, shape, &bytes) && bytes > MOST_BYTES) return false;
  }
  return true;
}

static leat_status load(const void *image, size_t size, leat_error *error) {
  leat_kernel_function kernels[MOST_KERNELS];
  leat_program_source source = {.image = image, .size = size, .base = "/nowhere"};
  leat_runtime *runtime;
  leat_store *store;
  leat_program *program;
  leat_view view;
  for (int i = 0; i < MOST_KERNELS; i++) kernels[i] = do_nothing;
  LEAT_TRY(leat_image_check(image, size, &view, error));
  if (view.image->kernels.count >= MOST_KERNELS || !asks_for_little(&view)) return LEAT_OK;
  source.kernels = kernels;
  source.kernel_count = view.image->kernels.count + leat_image_calls_blis(view.image);
  LEAT_TRY(leat_program_load(&source, &program, error));
  leat_status status = leat_runtime_create(&(leat_runtime_options){.threads = 1}, &runtime, error);
  if (!status) status = leat_store_create(&store, error);
  if (status) abort();
  status = bind(runtime, store, program, error);
  leat_store_destroy(store);
  leat_runtime_destroy(runtime);
  leat_program_destroy(program);
  return status;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  leat_error error = {0};
  void *image = aligned_alloc(ALIGNMENT, (size + ALIGNMENT) / ALIGNMENT * ALIGNMENT);
  memcpy(image, data, size);
  if (load(image, size, &error) && !error.message[0]) abort();
  free(image);
  return 0;
}

// Damaged images ask for impossible amounts of memory; ASan takes that for a mistake of ours.
const char *__asan_default_options(void);
const char *__asan_default_options(void) {
  return "allocator_may_return_null=1";
}
