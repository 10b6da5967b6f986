// kernel/compose.h: what ends up in registers, that a loop without end ends, and what is refused.
#include "tests/unit/composing.h"

// -- Registers ------------------------------------------------------------------------------------

static k_composed composed(const part_list *list, const char *refusal) {
  k_composed out;
  leat_error error = {0};
  leat_status status = leat_kernel_compose(arena, "composed", parts_of(list), &out, &error);
  CHECK_EQ_INT(status, refusal ? LEAT_UNSUPPORTED : LEAT_OK);
  if (refusal ? !strstr(error.message, refusal) : status) CHECK_FAILED("%s", error.message);
  return out;
}

// The code of a kernel that composing gave, `k`.
static leat_loaded_object *load_one(leat_codegen_compile compile, const k_composed *from,
                                    leat_text *dump) {
  const char *symbol = "k";
  return load(compile, &(const leat_kernel *){from->kernel}, &symbol, 1, dump);
}

// while i < n { *x = x * x + a; i = i + 1 }, with x in vectors where it has elements: one that a
// loop of one turn computes, and masked.
static k_composed small_loop(const k_memory *x, const k_memory *a) {
  static k_memory i = {LEAT_i32, 1, false}, n = {LEAT_i32, 1, false}, p = {LEAT_bool, 1, true};
  k_part loop = {.kind = K_PART_WHILE, .predicate = &p};
  part_list test = {0}, body = {0}, all = {0};
  test_launch l = begin_launch("step");
  const k_buffer *bx = add_buffer(&l, x), *ba = add_buffer(&l, a);
  int lanes = x->count > 1 ? LEAT_LANES : 1;
  k_value high = add_scalar(&l, (k_number){.value = x->count}), at = k_i64(&l.b, 0), mask = NULL;
  if (lanes > 1) at = k_loop_index(k_loop_begin(&l.b, at, high, lanes, NULL, 0));
  if (lanes > 1) mask = k_lt(&l.b, k_add(&l.b, k_lane(&l.b, LEAT_i64, lanes), at), high);
  k_value value = k_load(&l.b, bx, at, lanes, mask);
  value = k_fma(&l.b, value, value, k_load(&l.b, ba, at, lanes, mask));
  k_store(&l.b, bx, at, value, mask);
  if (lanes > 1) k_loop_end(&l.b, NULL, 0);
  leat_vec_push(arena, &test, compared(&p, &i, &n, 0));
  leat_vec_push(arena, &body, end_launch(&l));
  leat_vec_push(arena, &body, counted(&i, true));
  loop.first = parts_of(&test);
  loop.second = parts_of(&body);
  leat_vec_push(arena, &all, loop);
  return composed(&all, NULL);
}

TEST(small_memory_is_loaded_and_stored_once) {
  static const k_memory x = {LEAT_f32, 1, false}, a = {LEAT_f32, 1, false};
  k_composed loop = small_loop(&x, &a);
  leat_text text = {0};
  leat_kernel_print(loop.kernel, &text);
  CHECK_EQ_STR(text.data, "kernel(b0: out i32, b1: i32, b2: out f32, b3: f32) {\n"
                          "  local l0: register bool[16]\n"
                          "  local l1: register i32[16]\n"
                          "  local l2: register i32[16]\n"
                          "  local l3: register f32[16]\n"
                          "  local l4: register f32[16]\n"
                          "  v0: i32 = load b0[0]\n"
                          "  store l1[0] = i32 v0\n"
                          "  v1: i32 = load b1[0]\n"
                          "  store l2[0] = i32 v1\n"
                          "  v2: f32 = load b2[0]\n"
                          "  store l3[0] = f32 v2\n"
                          "  v3: f32 = load b3[0]\n"
                          "  store l4[0] = f32 v3\n"
                          "  v4 = while {\n"
                          "    poll\n"
                          "    v5: i32 = load l1[0]\n"
                          "    v6: i32 = load l2[0]\n"
                          "    v7: bool = lt i32 v5, v6\n"
                          "    store l0[0] = bool v7\n"
                          "    v8: bool = load l0[0]\n"
                          "    while v8\n"
                          "  } do {\n"
                          "    v9: f32 = load l3[0]\n"
                          "    v10: f32 = load l4[0]\n"
                          "    v11: f32 = fma v9, v9, v10\n"
                          "    store l3[0] = f32 v11\n"
                          "    v12: i32 = load l1[0]\n"
                          "    v13: i32 = add v12, 1\n"
                          "    store l1[0] = i32 v13\n"
                          "  }\n"
                          "  v14: i32 = load l1[0]\n"
                          "  store b0[0] = i32 v14\n"
                          "  v15: f32 = load l3[0]\n"
                          "  store b2[0] = f32 v15\n"
                          "}\n");
  leat_text_finish(&text);
}

// In vectors: one; with others beyond what is there; four, which a loop computes.
TEST(small_memory_is_in_registers) {
  static const k_memory x[] = {{LEAT_f32, 1, false}, {LEAT_f32, 12, false}, {LEAT_f32, 64, false}};
  static const k_memory a[] = {{LEAT_f32, 1, false}, {LEAT_f32, 24, false}, {LEAT_f32, 64, false}};
  leat_codegen_compile compile = llvm_generator();
  if (!compile) CHECK_SKIP("this build has no LLVM");
  for (int i = 0; i < 3; i++) {
    leat_text dump = {0};
    k_composed loop = small_loop(&x[i], &a[i]);
    leat_object_unload(load_one(compile, &loop, &dump));
    CHECK(strstr(dump.data, "fma"));
    if (strstr(dump.data, "alloca")) CHECK_FAILED("there is memory left in\n%s", dump.data);
    leat_text_finish(&dump);
  }
}

// Whether the composed kernel has a loop.
static bool has_loop(const part_list *list) {
  leat_text text = {0};
  k_composed out = composed(list, NULL);
  leat_kernel_print(out.kernel, &text);
  bool found = strstr(text.data, "= loop ");
  leat_text_finish(&text);
  return found;
}

// *x = sum over `rows` turns of `columns` turns of *x + i.
static k_part summed(const k_memory *x, int64_t rows, int64_t columns) {
  test_launch l = begin_launch("summed");
  const k_buffer *out = add_buffer(&l, x);
  k_value zero = k_i64(&l.b, 0), sum = k_load(&l.b, out, zero, 1, NULL);
  k_instr *outer = k_loop_begin(&l.b, zero, k_i64(&l.b, rows), 1, &sum, 1);
  sum = k_loop_carried(outer, 0);
  k_instr *inner = k_loop_begin(&l.b, zero, k_i64(&l.b, columns), 1, &sum, 1);
  k_value place = k_cast(&l.b, LEAT_i32, k_add(&l.b, k_loop_index(inner), k_loop_index(outer)));
  k_loop_end(&l.b, &(k_value){k_add(&l.b, k_loop_carried(inner, 0), place)}, 1);
  k_loop_end(&l.b, &(k_value){k_result(&l.b, inner, 0)}, 1);
  k_store(&l.b, out, zero, k_result(&l.b, outer, 0), NULL);
  return end_launch(&l);
}

TEST(short_loops_are_unrolled) {
  static const k_memory x = {LEAT_i32, 1, false};
  static const int64_t sizes[][2] = {{4, 4}, {0, 4}, {4, 0}, {1, 9}, {1000, 1}, {4, 1000}};
  for (uint32_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
    part_list all = {0};
    k_part part = summed(&x, sizes[i][0], sizes[i][1]);
    leat_vec_push(arena, &all, part);
    CHECK_EQ_INT(has_loop(&all), sizes[i][0] * sizes[i][1] > 100);
    for (int k = 0; k < 100; k++) leat_vec_push(arena, &all, part);
    CHECK_EQ_INT(has_loop(&all), sizes[i][0] * sizes[i][1] > 0); // all together are long
  }
}

// -- Ends -----------------------------------------------------------------------------------------

enum { TURNS = 1000 };

// while true { i = i + 1; stops = i == TURNS }, where the run ends when `stops` is set: it lies in
// memory that is of no known size, so it is written when it is computed.
static void check_end(const k_composed *endless, const k_memory *stops, const k_memory *more,
                      leat_kernel_function function) {
  int32_t i = 1;
  bool is_more = true, ends = false;
  leat_arg args[MOST_ARGS];
  leat_call call = {.ends = &ends};
  for (uint32_t k = 0; k < endless->buffers.count; k++) {
    const k_memory *memory = endless->buffers.items[k];
    args[k].pointer = memory == stops ? &ends : memory == more ? (void *)&is_more : &i;
  }
  int32_t code =
      function ? function(&call, args, 0, 1) : interpret(endless->kernel, &call, args, 0, 1);
  CHECK_EQ_INT(code, LEAT_ABORTED);
  CHECK(ends);
  CHECK_EQ_INT(i, 1); // it would have been stored at the end
}

TEST(a_loop_without_end_ends) {
  static const k_memory i = {LEAT_i32, 1, false}, more = {LEAT_bool, 1, false},
                        stops = {LEAT_bool, 0, false};
  leat_codegen_compile compilers[] = {NULL, llvm_generator(), c_generator()};
  k_part loop = {.kind = K_PART_WHILE, .predicate = &more};
  part_list body = {0}, all = {0};
  test_launch l = begin_launch("stops");
  const k_buffer *out = add_buffer(&l, &stops), *in = add_buffer(&l, &i);
  k_value zero = k_i64(&l.b, 0), most = k_int(&l.b, LEAT_i32, 1, TURNS);
  k_store(&l.b, out, zero, k_binary(&l.b, K_EQ, k_load(&l.b, in, zero, 1, NULL), most), NULL);
  leat_vec_push(arena, &body, counted(&i, true));
  leat_vec_push(arena, &body, end_launch(&l));
  loop.second = parts_of(&body);
  leat_vec_push(arena, &all, loop);
  k_composed endless = composed(&all, NULL);
  check_end(&endless, &stops, &more, NULL);
  for (int k = 1; k < 3; k++) {
    leat_loaded_object *loaded = compilers[k] ? load_one(compilers[k], &endless, NULL) : NULL;
    if (loaded) check_end(&endless, &stops, &more, function_of(loaded, "k"));
    leat_object_unload(loaded);
  }
}

// -- What is refused ------------------------------------------------------------------------------

// Of so many instructions: one launch of a third of them, three times.
static void check_size(uint32_t instrs, const char *refusal) {
  static const k_memory x = {LEAT_i32, 1, false};
  part_list all = {0};
  test_launch l = begin_launch("long");
  const k_buffer *out = add_buffer(&l, &x);
  k_value zero = k_i64(&l.b, 0), value = k_load(&l.b, out, zero, 1, NULL);
  for (uint32_t i = 0; i < instrs / 3 - 2; i++) value = k_mul(&l.b, value, value);
  k_store(&l.b, out, zero, value, NULL);
  k_part part = end_launch(&l);
  for (int i = 0; i < 3; i++) leat_vec_push(arena, &all, part);
  composed(&all, refusal);
}

TEST(long_programs_are_refused) {
  check_size(LEAT_MOST_COMPOSED - LEAT_MOST_COMPOSED % 3, NULL);
  check_size(LEAT_MOST_COMPOSED - LEAT_MOST_COMPOSED % 3 + 3, "more than 2000 instructions");
}

// Locals of a launch and internal memory together.
static void check_locals(int64_t local, int64_t internal, const char *refusal) {
  k_memory x = {LEAT_f32, internal, true};
  part_list all = {0};
  test_launch l = begin_launch("wide");
  const k_buffer *out = add_buffer(&l, &x), *row;
  row = k_local(&l.b, K_SPACE_REGISTER, LEAT_f64, local);
  k_value zero = k_i64(&l.b, 0);
  k_store(&l.b, row, zero, k_float(&l.b, LEAT_f64, 1, 1), NULL);
  k_store(&l.b, out, zero, k_float(&l.b, LEAT_f32, 1, 1), NULL);
  leat_vec_push(arena, &all, end_launch(&l));
  composed(&all, refusal);
}

TEST(large_local_memory_is_refused) {
  const int64_t most = LEAT_MOST_LOCAL_BYTES / 8;
  const char *refusal = "local arrays take more than";
  check_locals(most - 8, 16, NULL);
  check_locals(most - 8, 17, refusal);
  check_locals(most - 7, 16, refusal);
  check_locals(1, INT64_MAX, refusal);
}

TEST(other_kernels_are_refused) {
  static const k_memory x = {LEAT_i32, 1, false}, y = {LEAT_f32, 1, false};
  part_list streams = {0}, mixes = {0};
  test_launch l = begin_launch("streams");
  const k_buffer *out = add_buffer(&l, &x);
  k_store(&l.b, out, k_i64(&l.b, 0), k_int(&l.b, LEAT_i32, 1, 1), NULL);
  k_stream(&l.b, out);
  leat_vec_push(arena, &streams, end_launch(&l));
  composed(&streams, "streams streams to memory");
  k_part part = counted(&x, false);
  part.buffers = &(const k_memory *){&y};
  leat_vec_push(arena, &mixes, part);
  composed(&mixes, "memory of f32 as i32");
}

TEST(deep_programs_are_refused) {
  static const k_memory x = {LEAT_i32, 1, false}, p = {LEAT_bool, 1, false};
  part_list inner = {0};
  leat_vec_push(arena, &inner, counted(&x, false));
  for (int i = 0; i < 64; i++) {
    k_part branch = {.kind = K_PART_IF, .predicate = &p, .first = parts_of(&inner)};
    inner = (part_list){0};
    leat_vec_push(arena, &inner, branch);
    if (i == 62) composed(&inner, NULL);
  }
  composed(&inner, "nests more than 64 deep");
}

CHECK_MAIN("compose")
