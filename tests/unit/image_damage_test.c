// Damaged images: loading one says yes or no, and a yes can be bound and resolved; what leads out
// of a table, it says no to.
#include "runtime/image.h"
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

static leat_program_source source_of(const void *image, size_t size) {
  return (leat_program_source){.image = image,
                               .size = size,
                               .kernels = kernels,
                               .kernel_count = KERNELS,
                               .base = "/nowhere"};
}

// Whatever an image holds, loading it says yes or no, and a yes can be bound and resolved.
static void try_image(const void *image, size_t size) {
  leat_error error = {0};
  leat_program *program;
  leat_program_source source = source_of(image, size);
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

// Two pieces of arena 0, and what lies in them changes places.
static void add_pieces(image_builder *b) {
  leat_image_type type = image_type(LEAT_f32, -1);
  uint32_t size = image_constant(b, 64), zero = image_constant(b, 0), pieces[2];
  for (uint32_t i = 0; i < 2; i++) {
    uint32_t where = (uint32_t)b->buffers[image_arena_buffer(b, 64, type)].where;
    pieces[i] = image_buffer(b, LEAT_BUFFER_ARENA, zero, type);
    b->buffers[pieces[i]].arena =
        IMAGE_ADD(b, arenas, (leat_image_arena){.size = size, .within = 1, .where = where});
  }
  uint32_t rotate = image_launch(b, 0, 1, 1, BUFFERS((int)pieces[0], (int)pieces[1]));
  b->launches[rotate].kind = LEAT_LAUNCH_ROTATE;
  image_task(b, LEAT_TASK_SEGMENT, rotate, 1, "rotate");
}

// Tasks of the host: one binds dim K, one asserts.
static void add_host_tasks(image_builder *b) {
  uint32_t count = image_buffer(b, LEAT_BUFFER_RUN_COUNT, 0, image_type(LEAT_i64, -1));
  uint32_t truth = image_buffer(b, LEAT_BUFFER_CONSTANT, 0, image_type(LEAT_bool, -1));
  uint32_t first = IMAGE_ADD(b, args, (leat_image_arg){.index = count});
  uint32_t bind = image_task(b, LEAT_TASK_BIND, first, 1, "bind");
  b->tasks[bind].dim = image_dim(b, "K", 0, 10);
  first = IMAGE_ADD(b, args, (leat_image_arg){.index = truth});
  image_task(b, LEAT_TASK_ASSERT, first, 1, "assert");
}

// What grows in the loop: its body, table 4, has it as f32[G], and table 0 as f32[H].
static void add_growing(image_builder *b, uint32_t loop) {
  uint32_t g = image_dim(b, "G", 0, 10), h = image_dim(b, "H", 0, 10);
  IMAGE_ADD(b, grown, (leat_image_grown){LEAT_f32, 1});
  IMAGE_ADD(b, extents, (leat_image_extent){.dim = g});
  IMAGE_ADD(b, extents, (leat_image_extent){.dim = h});
  b->regions[loop].extent_first = b->regions[loop].extent_count = 1;
  uint32_t in =
      image_buffer(b, LEAT_BUFFER_GROWN, 0, image_type(LEAT_f32, image_dim_formula(b, g)));
  b->regions[loop].rows_count = 1;
  uint32_t count = image_arena_buffer(b, 8, image_type(LEAT_i64, -1));
  IMAGE_ADD(b, rows, (leat_image_rows){.count = count});
  uint32_t grow = image_task(b, LEAT_TASK_GROW, 0, 1, "grow");
  b->tasks[grow].first = IMAGE_ADD(b, args, (leat_image_arg){.index = in});
}

// Table 0 is of all tasks so far and a loop; its tables 3 and 4 hold a branch, which is a launch,
// and a task of the host. Tables 1 and 2 are of a branch that is a launch of table 0.
static void add_regions(image_builder *b, uint32_t kernel_args) {
  enum { IF_ABOVE, WHILE_ABOVE, IF_INSIDE };
  uint32_t p = image_arena_buffer(b, 1, image_type(LEAT_bool, -1));
  for (uint32_t i = IF_ABOVE; i <= IF_INSIDE; i++) image_region(b, p, 1 + 2 * i, 2 + 2 * i);
  image_carry(b, WHILE_ABOVE, image_arena_buffer(b, 16, image_type(LEAT_str, -1)));
  uint32_t launch = image_region_launch(b, LEAT_LAUNCH_IF, IF_ABOVE);
  image_task(b, LEAT_TASK_SEGMENT, launch, 1, "if");
  uint32_t loop = image_task(b, LEAT_TASK_WHILE, WHILE_ABOVE, 1, "while");
  IMAGE_ADD(b, tables, (leat_image_table){.task_count = loop + 1});
  launch = image_region_launch(b, LEAT_LAUNCH_IF, IF_INSIDE);
  leat_image_launch again = b->launches[0];
  IMAGE_ADD(b, launches, again);
  uint32_t first = image_task(b, LEAT_TASK_SEGMENT, launch + 1, 1, "when true");
  image_task(b, LEAT_TASK_SEGMENT, launch, 1, "condition");
  image_task(b, LEAT_TASK_PRINT, kernel_args, 1, "body");
  add_growing(b, WHILE_ABOVE);
  for (uint32_t i = 0; i < 4; i++)
    IMAGE_ADD(b, tables,
              (leat_image_table){.task_first = first + (i > 0) + (i > 2),
                                 .task_count = (i != 1) + (i > 2),
                                 .extent_count = i > 2});
  for (uint32_t i = 0; i < 2; i++) IMAGE_ADD(b, tables, (leat_image_table){0});
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
  IMAGE_ADD(b, formulas, (leat_formula){.code_first = word, .code_count = 3});
  uint32_t room = image_dim_formula(b, n);
  image_feed(b, "z", type);
  IMAGE_ADD(b, claims, (leat_image_claim){.room = room});
  add_strings(b);
  add_host_tasks(b);
  IMAGE_ADD(
      b, variables,
      (leat_image_variable){.origin.name = image_text(b, "v"), .type = image_type(LEAT_f32, -1)});
  uint32_t v = image_buffer(b, LEAT_BUFFER_VARIABLE, 1, image_type(LEAT_f32, -1));
  uint32_t constant = image_buffer(b, LEAT_BUFFER_CONSTANT, 0, image_type(LEAT_f32, -1));
  uint32_t copy = image_launch(b, 0, 1, 1, BUFFERS((int)v, (int)constant));
  b->launches[copy].kind = LEAT_LAUNCH_COPY;
  image_task(b, LEAT_TASK_SEGMENT, copy, 1, "copy");
  image_fetch(b, "v", v);
  add_pieces(b);
  add_regions(b, b->launches[0].arg_first);
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
    leat_program_source source = source_of(image, image->size);
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

// -- What must be refused ------------------------------------------------------------------------

enum { FAR = 1 << 20 };

static uint32_t buffer_of(const image_builder *b, leat_buffer_kind kind) {
  uint32_t i = 0;
  while (i + 1 < b->buffers_count && b->buffers[i].kind != (uint32_t)kind) i++;
  return i;
}

static leat_image_task *task_of(image_builder *b, leat_task_kind kind) {
  uint32_t i = 0;
  while (i + 1 < b->tasks_count && b->tasks[i].kind != (uint32_t)kind) i++;
  return &b->tasks[i];
}

static leat_image_launch *launch_of(image_builder *b, leat_launch_kind kind) {
  uint32_t i = 0;
  while (i + 1 < b->launches_count && b->launches[i].kind != (uint32_t)kind) i++;
  return &b->launches[i];
}

#define BIND task_of(b, LEAT_TASK_BIND)
#define ASSERT task_of(b, LEAT_TASK_ASSERT)
#define WHILE task_of(b, LEAT_TASK_WHILE)
#define PRINT task_of(b, LEAT_TASK_PRINT)
#define GROW task_of(b, LEAT_TASK_GROW)
#define COPY launch_of(b, LEAT_LAUNCH_COPY)
#define ROTATE launch_of(b, LEAT_LAUNCH_ROTATE)
#define IF launch_of(b, LEAT_LAUNCH_IF)
#define PREDICATE b->buffers[b->regions[0].predicate]
#define CARRYING b->regions[1]
#define CARRIED b->args[CARRYING.carried_first]

// What the message says is damaged, and the damage: a number that leads out of its table, or a kind
// that there is not.
#define DAMAGES(X)                                                                                 \
  X("dim 0", b->dims[0].low, -1)                                                                   \
  X("dim 0", b->dims[0].low, b->dims[0].high + 1)                                                  \
  X("dim 0", b->dims[0].name, FAR)                                                                 \
  X("formula ", b->code[0], LEAT_FORMULA_DIM | (int64_t)b->dims_count << 8)                        \
  X("formula ", b->code[0], LEAT_FORMULA_ADD)                                                      \
  X("formula ", b->code[0], LEAT_FORMULA_MAX + 1)                                                  \
  X("formula ", b->formulas[0], ((leat_formula){.code_first = 4, .code_count = 2}))                \
  X("strings 0", b->strings[0].where, 4)                                                           \
  X("strings 0", b->strings[0].count, FAR)                                                         \
  X("string 1 of strings 0", b->data[64 + sizeof(leat_str) + offsetof(leat_str, size) + 2], 1)     \
  X("variable 1", b->variables[1].type.dtype, LEAT_DTYPE_COUNT)                                    \
  X("variable 1", b->variables[1].type.rank, LEAT_MAX_RANK + 1)                                    \
  X("variable 1", b->variables[1].table, FAR)                                                      \
  X("the initial value of variable 0", b->variables[0].initial, 72)                                \
  X("feed 0", b->feeds[0].type.rank, LEAT_MAX_RANK + 1)                                            \
  X("feed 0", b->feeds[0].origin.name, FAR)                                                        \
  X("arena 0", b->arenas[0].table, b->tables_count)                                                \
  X("arena 1", b->arenas[1].within, 2)                                                             \
  X("arena 1", b->arenas[1].within, FAR)                                                           \
  X("arena 2", b->arenas[2].within, 2)                                                             \
  X("arena 1", b->arenas[1].where, FAR)                                                            \
  X("arena 1", b->arenas[1].table, 1)                                                              \
  X("launch ", ROTATE->arg_count, 1)                                                               \
  X("launch ", b->args[ROTATE->arg_first].is_scalar, 1)                                            \
  X("launch ", b->args[ROTATE->arg_first].index, buffer_of(b, LEAT_BUFFER_CONSTANT))               \
  X("launch ", b->args[ROTATE->arg_first].index, buffer_of(b, LEAT_BUFFER_ARENA))                  \
  X("claim 0", b->claims[0].table, b->tables_count)                                                \
  X("claim 0", b->claims[0].room, FAR)                                                             \
  X("buffer ", b->buffers[0].kind, LEAT_BUFFER_PREPARED + 1)                                       \
  X("buffer ", b->buffers[0].type.dtype, LEAT_DTYPE_COUNT)                                         \
  X("buffer ", b->buffers[buffer_of(b, LEAT_BUFFER_ARENA)].arena, b->arenas_count)                 \
  X("buffer ", b->buffers[buffer_of(b, LEAT_BUFFER_ARENA)].where, FAR)                             \
  X("buffer ", b->buffers[buffer_of(b, LEAT_BUFFER_VARIABLE)].where, b->variables_count)           \
  X("buffer ", b->buffers[buffer_of(b, LEAT_BUFFER_FEED)].where, b->feeds_count)                   \
  X("buffer ", b->buffers[buffer_of(b, LEAT_BUFFER_CONSTANT)].where, FAR)                          \
  X("buffer ", b->buffers[buffer_of(b, LEAT_BUFFER_GROWN)].where, b->grown_count)                  \
  X("buffer ", b->buffers[buffer_of(b, LEAT_BUFFER_GROWN)].type.dtype, LEAT_i32)                   \
  X("growing memory 0", b->grown[0].dtype, LEAT_DTYPE_COUNT)                                       \
  X("growing memory 0", b->grown[0].rank, LEAT_MAX_RANK + 1)                                       \
  X("the extents of table 4", b->tables[4].extent_count, 3)                                        \
  X("the extents of table 4", b->extents[0].dim, b->dims_count)                                    \
  X("the extents of table 4", b->extents[0].grown, b->grown_count)                                 \
  X("the extents of table 4", b->extents[0].axis, 1)                                               \
  X("region 1", CARRYING.extent_first, FAR)                                                        \
  X("region 1", b->extents[1].axis, 1)                                                             \
  X("task ", GROW->grown, b->grown_count)                                                          \
  X("task ", GROW->count, 0)                                                                       \
  X("task ", b->args[GROW->first].index, buffer_of(b, LEAT_BUFFER_CONSTANT))                       \
  X("argument 0", b->args[0].index, b->buffers_count)                                              \
  X("argument 0", b->args[0], ((leat_image_arg){.is_scalar = 1, .index = FAR}))                    \
  X("fetch 0", b->fetches[0].buffer, b->buffers_count)                                             \
  X("fetch 0", b->fetches[0].name, FAR)                                                            \
  X("message 0", b->messages[0].buffer, b->buffers_count)                                          \
  X("message 0", b->messages[0].peer, FAR)                                                         \
  X("kernel 0", b->kernels[0].symbol, FAR)                                                         \
  X("launch 0", b->launches[0].kernel, b->kernels_count)                                           \
  X("launch 0", b->launches[0].kind, LEAT_LAUNCH_WHILE + 1)                                        \
  X("launch 0", b->launches[0].kind, LEAT_LAUNCH_GEMM)                                             \
  X("launch 0", b->launches[0].arg_first, FAR)                                                     \
  X("launch 0", b->launches[0].arg_count, b->args_count + 1)                                       \
  X("launch 0", b->launches[0].tiles, FAR)                                                         \
  X("launch 0", b->launches[0].work, FAR)                                                          \
  X("launch 0", b->launches[0].site_count, b->sites_count + 1)                                     \
  X("launch 0", b->launches[0].node.name, FAR)                                                     \
  X("launch ", COPY->arg_count, 1)                                                                 \
  X("launch ", b->args[COPY->arg_first].index, buffer_of(b, LEAT_BUFFER_CONSTANT))                 \
  X("task 0", b->tasks[0].kind, LEAT_TASK_COUNT)                                                   \
  X("task 0", b->tasks[0].first, FAR)                                                              \
  X("task 0", b->tasks[0].successor_first, FAR)                                                    \
  X("task ", BIND->dim, b->dims_count)                                                             \
  X("task ", BIND->count, 2)                                                                       \
  X("task ", b->args[BIND->first].index, buffer_of(b, LEAT_BUFFER_CONSTANT))                       \
  X("task ", ASSERT->count, 0)                                                                     \
  X("task ", ASSERT->message, FAR)                                                                 \
  X("task ", b->args[ASSERT->first].index, buffer_of(b, LEAT_BUFFER_RUN_COUNT))                    \
  X("a successor in table 0", b->successors[0], b->tasks_count)                                    \
  X("a dependency count in table 0", b->tasks[0].dependencies, 1)                                  \
  X("region 0", b->regions[0].predicate, b->buffers_count)                                         \
  X("region 0", b->regions[0].predicate, buffer_of(b, LEAT_BUFFER_RUN_COUNT))                      \
  X("region 0", PREDICATE.type, image_type(LEAT_bool, image_constant(b, 2)))                       \
  X("region 0", PREDICATE.type, image_type(LEAT_bool, image_dim_formula(b, 0)))                    \
  X("region 0", b->regions[0].tables[1], b->tables_count)                                          \
  X("region 1", CARRYING.rows_count, 2)                                                            \
  X("region 1", b->rows[0].grown, b->grown_count)                                                  \
  X("region 1", b->rows[0].count, b->buffers_count)                                                \
  X("region 1", b->rows[0].count, b->regions[0].predicate)                                         \
  X("region 1", b->rows[0].count, buffer_of(b, LEAT_BUFFER_CONSTANT))                              \
  X("region 1", CARRYING.carried_first, b->args_count)                                             \
  X("region 1", CARRYING.carried_count, b->args_count)                                             \
  X("region 1", CARRIED.is_scalar, 1)                                                              \
  X("region 1", CARRIED.index, buffer_of(b, LEAT_BUFFER_CONSTANT))                                 \
  X("region 1", b->buffers[CARRIED.index].type.dtype, LEAT_f32)                                    \
  X("launch ", IF->region, b->regions_count)                                                       \
  X("launch ", IF->arg_count, 1)                                                                   \
  X("task ", WHILE->first, b->regions_count)                                                       \
  X("task ", WHILE->count, 2)                                                                      \
  X("table 3 has two uses", b->regions[0].tables[0], 3)                                            \
  X("table 1 has two uses", WHILE->first, 0)                                                       \
  X("table 4 has two uses", b->variables[1].table, 4)                                              \
  X("a region in table 0 has an earlier one", b->regions[0].tables[0], 0)                          \
  X("a region in table 3 has an earlier one", b->regions[2].tables[1], 3)                          \
  X("table 1, of a launch, is more than a segment", b->tables[1].task_count, 2)                    \
  X("the region in table 1 does more than compute", b->tables[1].task_first,                       \
    (uint32_t)(PRINT - b->tasks))                                                                  \
  X("its tables overlap", b->tables[3].task_first, b->tables[1].task_first)                        \
  X("table 6", b->tables[6].task_first, b->tasks_count + 1)                                        \
  X("a dependency count in table 4", PRINT->dependencies, 1)

// NULL: there is no such damage.
static const char *do_damage(image_builder *b, int which) {
  int number = 0;
#define X(says, place, value)                                                                      \
  if (number++ == which) {                                                                         \
    place = value;                                                                                 \
    return says;                                                                                   \
  }
  DAMAGES(X)
#undef X
  return NULL;
}

static leat_status check_image(const leat_image *image, size_t size, leat_error *error) {
  leat_view view;
  return leat_image_check(image, size, &view, error);
}

TEST(what_leads_out_of_a_table_is_refused) {
  for (int which = 0;; which++) {
    image_builder *b = rich_image();
    const char *says = do_damage(b, which);
    leat_error error = {0};
    leat_image *image = image_finish(b);
    leat_status status = check_image(image, image->size, &error);
    free(image);
    if (!says) {
      CHECK_EQ_INT(status, LEAT_OK); // the image without damage
      break;
    }
    if (!status || !strstr(error.message, says))
      CHECK_FAILED("damage %d, to be called `%s`: %s", which, says, error.message);
  }
}

// A task of the step that works on what a body's turn leaves would do so while the next one runs.
TEST(dims_of_a_body_are_the_bodys) {
  for (int inside = 0; inside < 2; inside++) {
    image_builder *b = rich_image();
    if (!inside) b->launches[0].tiles = image_dim_formula(b, b->extents[0].dim);
    leat_image *image = image_finish(b);
    leat_error error = {0};
    leat_program *program = NULL;
    leat_program_source source = source_of(image, image->size);
    CHECK_EQ_INT(!leat_program_load(&source, &program, &error), inside);
    if (inside)
      leat_program_destroy(program);
    else
      CHECK_EQ_STR(error.message, "damaged image: the scopes of its dims");
    free(image);
  }
}

// v starts as what a loop makes, which is a task; `kind` is that of the loop's body.
static leat_status check_initialiser(leat_task_kind kind, leat_error *error) {
  image_builder *b = begin(DEVICE(0));
  leat_image_type type = image_type(LEAT_f32, -1);
  IMAGE_ADD(b, variables,
            (leat_image_variable){.origin.name = image_text(b, "v"), .type = type, .table = 1});
  uint32_t v = image_buffer(b, LEAT_BUFFER_VARIABLE, 0, type);
  uint32_t p = image_arena_buffer(b, 1, image_type(LEAT_bool, -1));
  image_region(b, p, 2, 3);
  uint32_t launch = image_launch(b, INCREMENT, 1, 1, BUFFERS((int)v, (int)v));
  image_task(b, LEAT_TASK_WHILE, 0, 1, "loop");
  image_task(b, kind, kind == LEAT_TASK_SEGMENT ? launch : b->launches[launch].arg_first, 1,
             "body");
  for (uint32_t i = 0; i < 4; i++)
    IMAGE_ADD(b, tables, (leat_image_table){.task_first = i / 2, .task_count = i % 2});
  leat_image *image = image_finish(b);
  leat_status status = check_image(image, image->size, error);
  free(image);
  return status;
}

TEST(initialisers_only_compute) {
  leat_error error = {0};
  CHECK_EQ_INT(check_initialiser(LEAT_TASK_SEGMENT, &error), LEAT_OK);
  CHECK_EQ_INT(check_initialiser(LEAT_TASK_PRINT, &error), LEAT_INVALID);
  CHECK_EQ_STR(error.message, "damaged image: the initialiser in table 3 does more than compute");
}

TEST(wrong_headers_are_refused) {
  leat_image *image = image_finish(rich_image());
  const leat_image whole = *image;
  leat_error error = {0};
  CHECK_EQ_INT(check_image(image, whole.size, &error), LEAT_OK);
  CHECK(check_image(image, whole.size - 64, &error));
  CHECK(check_image(image, sizeof whole - 1, &error));
#define X(range, type)                                                                             \
  image->range.count = (whole.size - whole.range.offset) / sizeof(type) + 1;                       \
  if (!check_image(image, whole.size, &error)) CHECK_FAILED("too many " #range);                   \
  *image = whole;                                                                                  \
  image->range.offset = whole.size + 64;                                                           \
  if (whole.range.count && !check_image(image, whole.size, &error))                                \
    CHECK_FAILED(#range " behind");                                                                \
  *image = whole;
  LEAT_IMAGE_RANGES(X)
#undef X
  image->magic[0] ^= 1;
  CHECK(check_image(image, whole.size, &error));
  *image = whole;
  image->version++;
  CHECK(check_image(image, whole.size, &error));
  *image = whole;
  image->header_size++;
  CHECK(check_image(image, whole.size, &error));
  free(image);
}

CHECK_MAIN("image_damage")
