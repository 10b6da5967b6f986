// Damaged images: loading one says yes or no, and a yes can be bound and resolved.
#include "tests/unit/runtime_fixture.h"

// Damaged images ask for impossible amounts of memory; sanitizers take that for a mistake of ours.
const char *__asan_default_options(void);
const char *__tsan_default_options(void);
const char *__asan_default_options(void) {
  return "allocator_may_return_null=1";
}
const char *__tsan_default_options(void) {
  return "allocator_may_return_null=1";
}

// Whatever an image holds, loading it says yes or no, and a yes can be bound and resolved.
static void try_image(const void *image, size_t size) {
  leat_error error = {0};
  leat_program *program;
  leat_program_source source = {.image = image,
                                .size = size,
                                .kernels = kernels,
                                .kernel_count = KERNELS,
                                .base = "/nowhere"};
  if (leat_program_load(&source, &program, &error)) {
    CHECK(error.message[0] != '\0');
    return;
  }
  leat_runtime *runtime;
  leat_store *store;
  leat_executor *executor;
  CHECK_EQ_INT(leat_runtime_create(&(leat_runtime_options){.threads = 1}, &runtime, &error), 0);
  CHECK_EQ_INT(leat_store_create(&store, &error), 0);
  leat_part part = {program, store};
  leat_executor_options options = {0};
  if (!leat_executor_create(runtime, &part, 1, &options, &executor, &error)) {
    for (size_t i = 0; i < leat_executor_feed_count(executor); i++) {
      leat_port_info port;
      leat_text text = {0};
      leat_executor_feed(executor, i, &port);
      leat_port_print(&port, &text);
      leat_text_finish(&text);
    }
    // Variables stay without a value, so no kernel runs on sizes that it does not know.
    leat_run *run = leat_run_acquire(executor);
    leat_status status = leat_run_initialise(run, &error);
    (void)status;
    leat_run_release(run);
    leat_executor_destroy(executor);
  }
  leat_store_destroy(store);
  leat_runtime_destroy(runtime);
  leat_program_destroy(program);
}

// Two strings as a constant and as the initial value of variable 0.
static void add_strings(image_builder *b) {
  enum { WHERE = 64, BYTES = WHERE + 2 * sizeof(leat_str) };
  const leat_str strings[] = {{(const char *)BYTES, 3}, {(const char *)BYTES + 3, 5}};
  memcpy(b->data + WHERE, strings, sizeof strings);
  memcpy(b->data + BYTES, "a\0bcdefg", 8);
  b->data_count = BYTES + 8;
  IMAGE_ADD(b, strings, (leat_image_strings){WHERE, 2});
  leat_image_type type = image_type(LEAT_str, image_constant(b, 2));
  IMAGE_ADD(b, variables,
            (leat_image_variable){
                .origin.name = image_text(b, "s"), .type = type, .flags = 4, .initial = WHERE});
  image_fetch(b, "s", image_buffer(b, LEAT_BUFFER_VARIABLE, 0, type));
  image_fetch(b, "t", image_buffer(b, LEAT_BUFFER_CONSTANT, WHERE, type));
}

// An image with one of everything, whose second variable must be restored.
static image_builder *rich_image(void) {
  image_builder *b = asker_image(INCREMENT, DEVICE(0), DEVICE(1));
  uint32_t n = image_dim(b, "N", 0, 10);
  leat_image_type type = image_type(LEAT_f32, image_dim_formula(b, n));
  uint32_t word = b->code_count;
  IMAGE_ADD(b, code, LEAT_FORMULA_DIM | (int64_t)n << 8);
  IMAGE_ADD(b, code, LEAT_FORMULA_PUSH | 4 << 8);
  IMAGE_ADD(b, code, LEAT_FORMULA_MUL);
  IMAGE_ADD(b, code, LEAT_FORMULA_ALIGN);
  IMAGE_ADD(b, formulas, (leat_formula){.code_first = word, .code_count = 4});
  image_feed(b, "z", type);
  add_strings(b);
  IMAGE_ADD(
      b, variables,
      (leat_image_variable){.origin.name = image_text(b, "v"), .type = image_type(LEAT_f32, -1)});
  uint32_t v = image_buffer(b, LEAT_BUFFER_VARIABLE, 1, image_type(LEAT_f32, -1));
  uint32_t constant = image_buffer(b, LEAT_BUFFER_CONSTANT, 0, image_type(LEAT_f32, -1));
  uint32_t copy = image_launch(b, 0, 1, 1, BUFFERS((int)v, (int)constant));
  b->launches[copy].kind = LEAT_LAUNCH_COPY;
  image_task(b, LEAT_TASK_SEGMENT, copy, 1, "copy");
  image_fetch(b, "v", v);
  return b;
}

TEST(garbage_images_are_refused) {
  leat_image *image = image_finish(rich_image());
  size_t size = image->size;
  char *copy = aligned_alloc(64, size + 64);
  memcpy(copy, image, size);
  try_image(copy, size);
  memmove(copy + 1, image, size); // unaligned
  try_image(copy + 1, size);
  static const unsigned char flips[] = {0x01, 0x80, 0xff};
  for (size_t i = 0; i < size; i++) {
    for (size_t k = 0; k < sizeof flips; k++) {
      memcpy(copy, image, size);
      copy[i] = (char)(copy[i] ^ flips[k]);
      try_image(copy, size);
    }
  }
  for (size_t i = 0; i < size; i += 7) {
    char *cut = malloc(i ? i : 1);
    memcpy(cut, image, i);
    try_image(cut, i);
    free(cut);
  }
  free(copy);
  free(image);
}

// What the loader calls must be there: a number that is too large would be any address.
TEST(kernels_that_are_not_there_are_refused) {
  static const uint32_t beyond[] = {KERNELS, KERNELS + 1, 1u << 31, UINT32_MAX};
  for (size_t i = 0; i <= sizeof beyond / sizeof *beyond; i++) {
    image_builder *b = rich_image();
    bool right = i == sizeof beyond / sizeof *beyond;
    b->launches[0].kernel = right ? KERNELS - 1 : beyond[i];
    leat_image *image = image_finish(b);
    leat_error error = {0};
    leat_program *program = NULL;
    leat_program_source source = {.image = image,
                                  .size = image->size,
                                  .kernels = kernels,
                                  .kernel_count = KERNELS,
                                  .base = "/nowhere"};
    CHECK_EQ_INT(!leat_program_load(&source, &program, &error), right);
    if (!right) CHECK(strstr(error.message, "launch 0"));
    source.kernel_count = KERNELS - 1; // fewer than the image says
    if (right) {
      leat_program_destroy(program);
      CHECK(leat_program_load(&source, &program, &error));
    }
    free(image);
  }
}

CHECK_MAIN("image_damage")
