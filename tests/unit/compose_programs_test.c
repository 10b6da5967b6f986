// kernel/compose.h: random programs of launches, ifs and whiles, as one kernel (and as kernels made
// of such kernels) through the interpreter, LLVM and C, against their launches one by one.
#include "tests/sweep/programs.h"
#include "tests/unit/composing.h"

#include <math.h>

// Compilers take their time: they are given the first programs only.
enum {
  PROGRAMS = 200,
  BY_LLVM = 24,
  BY_C = 6,
  MOST_MEMORIES = 40,
  DATA = 8,
  ELEMENTS = 48,
  NUMBERS = 4,
};

typedef unsigned char test_bytes[MOST_MEMORIES][4 * ELEMENTS];

// Memories from DATA on are counters and predicates, of one element.
typedef struct test_program {
  k_memory memories[MOST_MEMORIES];
  int64_t sizes[MOST_MEMORIES]; // elements, which k_memory may leave open
  uint32_t memory_count;
  int64_t numbers[NUMBERS]; // their addresses are keys
  test_bytes inputs;
  k_parts parts;
  k_composed composed[2]; // at once, and of composed pieces
} test_program;

static test_program *programs[PROGRAMS];
static uint64_t random_state;

static uint32_t draw(uint32_t below) {
  random_state = random_state * 6364136223846793005u + 1442695040888963407u;
  return (uint32_t)(random_state >> 33) % below;
}

// -- Kernels --------------------------------------------------------------------------------------

// A constant, or a number that the program is given.
static k_number number_of(test_program *p, int64_t value) {
  for (uint32_t i = 0; i < NUMBERS && draw(2); i++)
    if (p->numbers[i] == value) return (k_number){.key = &p->numbers[i]};
  return (k_number){.value = value};
}

static k_value some_value(k_builder *b, k_value x, k_value y) {
  static const k_op ops[] = {K_ADD, K_SUB, K_MUL, K_MIN, K_MAX};
  k_value sum = k_binary(b, ops[draw(5)], x, y);
  return draw(3) ? sum : k_select(b, k_lt(b, x, y), sum, constant_of(b, x->dtype, 3));
}

// A memory of the data that has at least so many elements, other than `but`.
static const k_memory *some_memory(test_program *p, leat_dtype dtype, int64_t least,
                                   const k_memory *but) {
  for (;;) {
    uint32_t i = draw(DATA);
    const k_memory *memory = &p->memories[i];
    if (memory->dtype == dtype && p->sizes[i] >= least && memory != but) return memory;
  }
}

static int64_t size_of(const test_program *p, const k_memory *memory) {
  return p->sizes[memory - p->memories];
}

// Like the kernels of codegen: tiles of whole vectors, the last one masked, or a loop in one tile.
static k_part elementwise(test_program *p, const k_memory *to, bool only_writes) {
  test_launch l = begin_launch("elementwise");
  int64_t n = size_of(p, to), lanes = n == 1 || draw(4) == 0 ? 1 : LEAT_LANES;
  const k_buffer *out = add_buffer(&l, to);
  const k_buffer *x = only_writes ? NULL : add_buffer(&l, some_memory(p, to->dtype, n, NULL));
  const k_buffer *y = only_writes ? NULL : add_buffer(&l, some_memory(p, to->dtype, 1, to));
  k_value high = add_scalar(&l, number_of(p, n)), at = k_tile(&l.b), zero = k_i64(&l.b, 0);
  bool loops = draw(2);
  if (!loops) l.part.tiles = number_of(p, (n + lanes - 1) / lanes);
  if (loops) at = k_loop_index(k_loop_begin(&l.b, zero, high, lanes, NULL, 0));
  if (!loops) at = k_mul(&l.b, at, k_i64(&l.b, lanes));
  k_value each = k_add(&l.b, k_lane(&l.b, LEAT_i64, (int)lanes), at);
  k_value mask = k_lt(&l.b, each, high), value = k_cast(&l.b, to->dtype, each);
  if (lanes == 1) mask = NULL;
  if (x)
    value = some_value(&l.b, k_load(&l.b, x, at, (int)lanes, mask), k_load(&l.b, y, zero, 1, NULL));
  k_store(&l.b, out, at, value, mask);
  if (loops) k_loop_end(&l.b, NULL, 0);
  return end_launch(&l);
}

// Backwards by gathers, through a local array, where the mask leaves out some lanes.
static k_part turned(test_program *p) {
  test_launch l = begin_launch("turned");
  leat_dtype dtype = draw(2) ? LEAT_f32 : LEAT_i32;
  const k_memory *from = some_memory(p, dtype, 2, NULL), *to = some_memory(p, dtype, 2, from);
  int64_t n = size_of(p, to) < size_of(p, from) ? size_of(p, to) : size_of(p, from);
  if (n > LEAT_LANES) n = LEAT_LANES;
  const k_buffer *in = add_buffer(&l, from), *out = add_buffer(&l, to);
  k_value last = k_i64(&l.b, n - 1), lane = k_lane(&l.b, LEAT_i64, LEAT_LANES);
  k_value zero = k_i64(&l.b, 0), mask = k_binary(&l.b, K_LE, lane, last);
  const k_buffer *local = k_local(&l.b, K_SPACE_REGISTER, dtype, LEAT_LANES);
  k_store(&l.b, local, zero, k_gather(&l.b, in, k_sub(&l.b, last, lane), mask), NULL);
  k_value odd = k_binary(&l.b, K_AND, lane, k_int(&l.b, LEAT_i64, 1, 1));
  k_value some = k_binary(&l.b, K_AND, mask, k_binary(&l.b, K_EQ, odd, k_i64(&l.b, draw(2))));
  k_value value = k_load(&l.b, local, zero, LEAT_LANES, draw(2) ? some : mask);
  k_store(&l.b, out, zero, value, draw(2) ? some : mask);
  return end_launch(&l);
}

// A loop that carries a sum, a while that carries two numbers, and an if that yields.
static k_part folded(test_program *p) {
  test_launch l = begin_launch("folded");
  const k_memory *to = some_memory(p, LEAT_i32, 1, NULL), *from = some_memory(p, LEAT_i32, 1, to);
  const k_buffer *out = add_buffer(&l, to), *in = add_buffer(&l, from);
  k_value n = add_scalar(&l, number_of(p, size_of(p, from))), zero = k_i64(&l.b, 0);
  k_value none = k_int(&l.b, LEAT_i32, 1, 0), one = k_int(&l.b, LEAT_i32, 1, 1);
  k_instr *sum = k_loop_begin(&l.b, zero, n, 1, &none, 1);
  k_value term = k_load(&l.b, in, k_loop_index(sum), 1, NULL);
  k_loop_end(&l.b, &(k_value){k_add(&l.b, k_loop_carried(sum, 0), term)}, 1);
  k_value total = k_result(&l.b, sum, 0);
  k_value low = k_binary(&l.b, K_AND, total, k_int(&l.b, LEAT_i32, 1, 7));
  k_instr *loop = k_while_begin(&l.b, (k_value[]){none, one}, 2);
  k_value x = k_loop_carried(loop, 0), y = k_loop_carried(loop, 1);
  k_while_do(&l.b, k_lt(&l.b, x, low));
  k_while_end(&l.b, (k_value[]){k_add(&l.b, x, one), k_sub(&l.b, k_add(&l.b, y, y), x)}, 2);
  k_instr *branch = k_if_begin(&l.b, k_lt(&l.b, n, k_i64(&l.b, 4)));
  k_if_else(&l.b, &(k_value){k_result(&l.b, loop, 1)}, 1);
  k_if_end(&l.b, &total, 1);
  k_store(&l.b, out, zero, k_result(&l.b, branch, 0), NULL);
  return end_launch(&l);
}

// Fails when an element, the first one or some lane's, is larger than those that are common.
static k_part checked(test_program *p) {
  test_launch l = begin_launch("checked");
  const k_memory *from = some_memory(p, LEAT_i32, 1, NULL);
  const k_buffer *in = add_buffer(&l, from);
  int lanes = size_of(p, from) >= 4 ? 4 : 1;
  uint32_t first = k_site(&l.b), second = k_site(&l.b);
  k_value x = k_load(&l.b, in, k_i64(&l.b, 0), lanes, NULL);
  k_value most = k_int(&l.b, LEAT_i32, 1, 5000 << draw(6));
  k_fail_if(&l.b, k_lt(&l.b, x, k_unary(&l.b, K_NEG, most)), x, first, LEAT_INVALID);
  k_fail_if(&l.b, k_lt(&l.b, most, x), x, second, LEAT_OUT_OF_RANGE);
  return end_launch(&l);
}

// -- Programs -------------------------------------------------------------------------------------

static const k_memory *new_memory(test_program *p, leat_dtype dtype) {
  uint32_t i = p->memory_count++;
  p->memories[i] = (k_memory){.dtype = dtype, .count = 1, .internal = draw(2)};
  p->sizes[i] = 1;
  return &p->memories[i];
}

static k_part some_launch(test_program *p) {
  switch (draw(6)) {
  case 0: return turned(p);
  case 1: return folded(p);
  case 2: return checked(p);
  }
  return elementwise(p, some_memory(p, draw(2) ? LEAT_f32 : LEAT_i32, 1, NULL), false);
}

static void add_parts(test_program *p, part_list *list, int depth);

static void add_if(test_program *p, part_list *list, int depth) {
  leat_dtype dtype = draw(2) ? LEAT_f32 : LEAT_i32;
  const k_memory *x = some_memory(p, dtype, 1, NULL), *y = some_memory(p, dtype, 1, x);
  k_part branch = {.kind = K_PART_IF, .predicate = new_memory(p, LEAT_bool)};
  part_list sides[2] = {0};
  leat_vec_push(arena, list, compared(branch.predicate, x, draw(2) ? y : NULL, (int)draw(40)));
  add_parts(p, &sides[0], depth + 1);
  if (draw(2)) add_parts(p, &sides[1], depth + 1);
  branch.first = parts_of(&sides[0]);
  branch.second = parts_of(&sides[1]);
  leat_vec_push(arena, list, branch);
}

static void add_while(test_program *p, part_list *list, int depth) {
  const k_memory *counter = new_memory(p, LEAT_i32);
  k_part loop = {.kind = K_PART_WHILE, .predicate = new_memory(p, LEAT_bool)};
  part_list test = {0}, body = {0};
  if (draw(4) == 0) add_parts(p, &test, depth + 1);
  leat_vec_push(arena, &test, compared(loop.predicate, counter, NULL, (int)draw(5)));
  leat_vec_push(arena, &body, counted(counter, true));
  add_parts(p, &body, depth + 1);
  loop.first = parts_of(&test);
  loop.second = parts_of(&body);
  leat_vec_push(arena, list, counted(counter, false));
  leat_vec_push(arena, list, loop);
}

static void add_parts(test_program *p, part_list *list, int depth) {
  for (uint32_t i = 0, count = 1 + draw(3); i < count; i++) {
    uint32_t kind = depth < 3 && p->memory_count + 2 <= MOST_MEMORIES ? draw(6) : 5;
    if (kind == 0)
      add_if(p, list, depth);
    else if (kind == 1)
      add_while(p, list, depth);
    else
      leat_vec_push(arena, list, some_launch(p));
  }
}

static void add_data(test_program *p) {
  static const int64_t sizes[] = {1, 2, 3, 8, 16, 20, 40, 48};
  for (uint32_t i = 0; i < DATA; i++) {
    leat_dtype dtype = i % 2 ? LEAT_f32 : LEAT_i32;
    p->sizes[i] = i < 2 ? 1 : i < 6 ? sizes[i + 2] : sizes[draw(8)];
    p->memories[i] = (k_memory){.dtype = dtype, .count = p->sizes[i], .internal = draw(3) == 0};
    if (!p->memories[i].internal && draw(4) == 0) p->memories[i].count = 0;
    for (uint32_t j = 0; j < ELEMENTS; j++) {
      k_imm value = {.i = (int64_t)draw(40) - 10};
      if (dtype == LEAT_f32) value.f = (double)value.i / 4;
      interpret_write(dtype, p->inputs[i] + (size_t)j * 4, value);
    }
  }
  p->memory_count = DATA;
  for (uint32_t i = 0; i < NUMBERS; i++) p->numbers[i] = (int64_t[]){1, 3, 20, 48}[i];
}

// Replaces runs of parts by launches of what they are composed to.
static k_parts nest(test_program *p, k_parts parts) {
  part_list out = {0};
  for (uint32_t i = 0; i < parts.count;) {
    uint32_t run = 1 + draw(3);
    if (run > parts.count - i) run = parts.count - i;
    k_part part = parts.items[i];
    part.first = nest(p, part.first);
    part.second = nest(p, part.second);
    if (draw(2)) {
      leat_vec_push(arena, &out, part);
      i++;
      continue;
    }
    k_composed piece;
    leat_error error = {0};
    if (leat_kernel_compose(arena, "piece", (k_parts){parts.items + i, run}, &piece, &error))
      CHECK_FAILED("%s", error.message);
    part = (k_part){.kind = K_PART_LAUNCH, .kernel = piece.kernel, .tiles = {.value = 1}};
    part.buffers = piece.buffers.items;
    part.scalars = piece.scalars.items;
    leat_vec_push(arena, &out, part);
    i += run;
  }
  return parts_of(&out);
}

// What pieces share is no piece's own.
static k_parts nest_all(test_program *p) {
  bool internal[MOST_MEMORIES];
  for (uint32_t i = 0; i < p->memory_count; i++) {
    internal[i] = p->memories[i].internal;
    p->memories[i].internal = false;
  }
  k_parts nested = nest(p, p->parts);
  for (uint32_t i = 0; i < p->memory_count; i++) p->memories[i].internal = internal[i];
  return nested;
}

static leat_status compose(test_program *p, leat_error *error) {
  LEAT_TRY(leat_kernel_compose(arena, "program", p->parts, &p->composed[0], error));
  return leat_kernel_compose(arena, "nested", nest_all(p), &p->composed[1], error);
}

// What has more instructions than a kernel may have is drawn again.
static test_program *new_program(void) {
  for (int tries = 0; tries < 10; tries++) {
    test_program *p = leat_new(arena, test_program);
    part_list list = {0};
    leat_error error = {0};
    add_data(p);
    for (uint32_t i = 0; i < DATA; i++)
      if (p->memories[i].internal)
        leat_vec_push(arena, &list, elementwise(p, &p->memories[i], true));
    for (int i = 0; i < 3; i++) add_parts(p, &list, 0);
    p->parts = parts_of(&list);
    if (!compose(p, &error)) return p;
    if (!strstr(error.message, "more than")) CHECK_FAILED("%s", error.message);
  }
  CHECK_FAILED("ten programs have more than %d instructions", LEAT_MOST_COMPOSED);
  return NULL;
}

static void make_programs(void) {
  if (programs[0]) return;
  random_state = test_seed();
  for (uint32_t i = 0; i < PROGRAMS; i++) programs[i] = new_program();
}

// -- Running --------------------------------------------------------------------------------------

static const bool never = false;

typedef struct test_outcome {
  int32_t code;
  int64_t value;
  test_bytes bytes;
} test_outcome;

static int64_t value_of(k_number number) {
  return number.key ? *(const int64_t *)number.key : number.value;
}

static void fill_args(const test_program *p, const k_memory *const *buffers, uint32_t buffer_count,
                      const k_number *scalars, uint32_t scalar_count,
                      unsigned char (*bytes)[4 * ELEMENTS], leat_arg *args) {
  for (uint32_t i = 0; i < buffer_count; i++) args[i].pointer = bytes[buffers[i] - p->memories];
  for (uint32_t i = 0; i < scalar_count; i++) args[buffer_count + i].value = value_of(scalars[i]);
}

static uint32_t site_count(k_parts parts) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < parts.count; i++) {
    const k_part *part = &parts.items[i];
    count += part->kind == K_PART_LAUNCH ? part->kernel->site_count
                                         : site_count(part->first) + site_count(part->second);
  }
  return count;
}

static void run_launch(const test_program *p, const k_part *launch, uint32_t first_site,
                       test_outcome *out) {
  leat_arg args[MOST_ARGS];
  leat_call call = {.ends = &never};
  const leat_kernel *kernel = launch->kernel;
  fill_args(p, launch->buffers, kernel->buffer_count, launch->scalars, kernel->scalar_count,
            out->bytes, args);
  int32_t code = interpret(kernel, &call, args, 0, value_of(launch->tiles));
  if (!code) return;
  out->code = code + ((int32_t)first_site << 8);
  out->value = call.value;
}

// One by one, up to what fails.
static void run_parts(const test_program *p, k_parts parts, uint32_t site, test_outcome *out) {
  for (uint32_t i = 0; i < parts.count && !out->code; i++) {
    const k_part *part = &parts.items[i];
    const unsigned char *holds = part->predicate ? out->bytes[part->predicate - p->memories] : NULL;
    uint32_t second = site + site_count(part->first);
    if (part->kind == K_PART_LAUNCH) {
      run_launch(p, part, site, out);
    } else if (part->kind == K_PART_IF) {
      if (*holds)
        run_parts(p, part->first, site, out);
      else
        run_parts(p, part->second, second, out);
    } else {
      for (;;) {
        run_parts(p, part->first, site, out);
        if (out->code || !*holds) break;
        run_parts(p, part->second, second, out);
      }
    }
    site += site_count((k_parts){part, 1});
  }
}

static bool same_number(leat_dtype dtype, const unsigned char *x, const unsigned char *y) {
  if (memcmp(x, y, leat_dtype_size(dtype)) == 0) return true;
  return dtype == LEAT_f32 && isnan(interpret_read(dtype, x).f) &&
         isnan(interpret_read(dtype, y).f);
}

static void compare(const test_program *p, const char *what, const test_outcome *wanted,
                    const test_outcome *got) {
  if (got->code != wanted->code || got->value != wanted->value)
    CHECK_FAILED("%s returns %#x of %lld, not %#x of %lld", what, got->code, (long long)got->value,
                 wanted->code, (long long)wanted->value);
  if (wanted->code) return;
  for (uint32_t i = 0; i < p->memory_count; i++) {
    size_t size = leat_dtype_size(p->memories[i].dtype);
    for (size_t j = 0; !p->memories[i].internal && j < ELEMENTS; j++) {
      const unsigned char *x = wanted->bytes[i] + j * size, *y = got->bytes[i] + j * size;
      if (same_number(p->memories[i].dtype, x, y)) continue;
      CHECK_FAILED("%s: memory %u [%zu] differs", what, i, j);
      return;
    }
  }
}

// function NULL: by the interpreter.
static void run_composed(const test_program *p, const k_composed *composed,
                         leat_kernel_function function, const char *what) {
  static test_outcome wanted, got;
  leat_arg args[MOST_ARGS];
  leat_call call = {.ends = &never};
  if (!composed->kernel) return;
  wanted = got = (test_outcome){0};
  memcpy(wanted.bytes, p->inputs, sizeof wanted.bytes);
  memcpy(got.bytes, p->inputs, sizeof got.bytes);
  run_parts(p, p->parts, 0, &wanted);
  fill_args(p, composed->buffers.items, composed->buffers.count, composed->scalars.items,
            composed->scalars.count, got.bytes, args);
  got.code =
      function ? function(&call, args, 0, 1) : interpret(composed->kernel, &call, args, 0, 1);
  got.value = call.value;
  compare(p, what, &wanted, &got);
}

// The first ones.
static void run_programs(leat_codegen_compile compile, const char *target, uint32_t count) {
  const leat_kernel *kernels[2 * PROGRAMS];
  const char *symbols[2 * PROGRAMS];
  for (uint32_t i = 0; i < 2 * count; i++) {
    kernels[i] = programs[i / 2]->composed[i % 2].kernel;
    symbols[i] = leat_arena_printf(arena, "program_%u", i);
    if (!kernels[i]) return; // which has been said
  }
  leat_loaded_object *loaded = load(compile, kernels, symbols, (size_t)2 * count, NULL);
  for (uint32_t i = 0; i < 2 * count && loaded; i++)
    run_composed(programs[i / 2], &programs[i / 2]->composed[i % 2],
                 function_of(loaded, symbols[i]),
                 leat_arena_printf(arena, "%s by %s", symbols[i], target));
  leat_object_unload(loaded);
}

TEST(programs_interpreted) {
  make_programs();
  for (uint32_t i = 0; i < 2 * PROGRAMS; i++)
    run_composed(programs[i / 2], &programs[i / 2]->composed[i % 2], NULL,
                 leat_arena_printf(arena, "program_%u", i));
}

TEST(programs_by_llvm) {
  leat_codegen_compile compile = llvm_generator();
  make_programs();
  if (!compile) CHECK_SKIP("this build has no LLVM");
  run_programs(compile, "LLVM", BY_LLVM / (uint32_t)check_step(3));
}

TEST(programs_by_c) {
  leat_codegen_compile compile = c_generator();
  make_programs();
  if (!compile) CHECK_SKIP("there is no C compiler");
  run_programs(compile, "C", BY_C / (uint32_t)check_step(3));
}

CHECK_MAIN("compose_programs")
