// What the tests of kernel/compose.h share: launches of small kernels, made by hand, and code for
// what they are composed to.
#ifndef LEAT_TESTS_UNIT_COMPOSING_H
#define LEAT_TESTS_UNIT_COMPOSING_H

#include "kernel/compose.h"
#include "runtime/object_load.h"
#include "tests/unit/check.h"
#include "tests/unit/generators.h"
#include "tests/unit/interpret.h"

enum { MOST_ARGS = 64 };

static leat_arena *arena; // of the whole program

__attribute__((constructor)) static void make_arena(void) {
  arena = leat_arena_create();
}

// -- Launches -------------------------------------------------------------------------------------

typedef struct test_launch {
  k_builder b;
  k_part part;
  leat_vec(const k_memory *) buffers;
  leat_vec(k_number) scalars;
} test_launch;

static test_launch begin_launch(const char *name) {
  test_launch l = {.part = {.kind = K_PART_LAUNCH, .tiles = {.value = 1}}};
  k_begin(&l.b, arena, name);
  return l;
}

static const k_buffer *add_buffer(test_launch *l, const k_memory *memory) {
  leat_vec_push(arena, &l->buffers, memory);
  return k_argument(&l->b, memory->dtype);
}

static k_value add_scalar(test_launch *l, k_number number) {
  leat_vec_push(arena, &l->scalars, number);
  return k_scalar(&l->b);
}

static k_part end_launch(test_launch *l) {
  leat_error error = {0};
  l->part.kernel = k_finish(&l->b);
  l->part.buffers = l->buffers.items;
  l->part.scalars = l->scalars.items;
  if (leat_kernel_verify(l->part.kernel, &error)) CHECK_FAILED("%s", error.message);
  return l->part;
}

typedef leat_vec(k_part) part_list;

static k_parts parts_of(const part_list *list) {
  return (k_parts){list->items, list->count};
}

static k_value constant_of(k_builder *b, leat_dtype dtype, int value) {
  return dtype == LEAT_f32 ? k_float(b, dtype, 1, value / 4.0) : k_int(b, dtype, 1, value);
}

// *to = *x < y, where y is another memory's number or a constant.
static k_part compared(const k_memory *to, const k_memory *x, const k_memory *y, int constant) {
  test_launch l = begin_launch("compared");
  const k_buffer *out = add_buffer(&l, to), *left = add_buffer(&l, x),
                 *right = y ? add_buffer(&l, y) : NULL;
  k_value zero = k_i64(&l.b, 0), value = k_load(&l.b, left, zero, 1, NULL);
  k_value most = y ? k_load(&l.b, right, zero, 1, NULL) : constant_of(&l.b, x->dtype, constant);
  k_store(&l.b, out, zero, k_lt(&l.b, value, most), NULL);
  return end_launch(&l);
}

// *to = 0, or one more.
static k_part counted(const k_memory *to, bool more) {
  test_launch l = begin_launch("counted");
  const k_buffer *out = add_buffer(&l, to);
  k_value zero = k_i64(&l.b, 0), next = k_int(&l.b, LEAT_i32, 1, more);
  if (more) next = k_add(&l.b, k_load(&l.b, out, zero, 1, NULL), next);
  k_store(&l.b, out, zero, next, NULL);
  return end_launch(&l);
}

// -- Code -----------------------------------------------------------------------------------------

// The kernels' code, NULL: there is none, and that has been said.
static leat_loaded_object *load(leat_codegen_compile compile, const leat_kernel *const *kernels,
                                const char *const *symbols, size_t count, leat_text *dump) {
  leat_codegen_request request = {.kernels = kernels,
                                  .symbols = symbols,
                                  .kernel_count = count,
                                  .target = target_of(leat_cpu_host_level()),
                                  .dump = dump};
  leat_object object = {0};
  leat_loaded_object *loaded = NULL;
  leat_error error = {0};
  if (compile(&request, &object, &error) ||
      leat_object_load(object.data, object.size, &loaded, &error))
    CHECK_FAILED("%s", error.message);
  leat_object_finish(&object);
  return loaded;
}

static leat_kernel_function function_of(leat_loaded_object *loaded, const char *symbol) {
  return (leat_kernel_function)(uintptr_t)leat_object_symbol(loaded, symbol);
}

#endif
