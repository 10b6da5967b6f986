// A branch or a loop as one kernel (kernel/compose.h), where its bodies launch nothing but small
// kernels and copies: then no turn costs more than its arithmetic. It is decided when the launches
// of the bodies are there, for inner regions first, which so are launches of kernels like others,
// and before memory is planned: what the bodies' tables have is then memory of the kernel's own.
#include "codegen/stages.h"

#include "kernel/compose.h"

#include <assert.h>
#include <math.h>

enum {
  // Nanoseconds: from there on the runtime shares a launch between threads.
  MOST_OF_ONE_THREAD = 20000,
  LONG_TITLE = 60,
};

static const double MOST_WORK = 1e15; // of loops in loops, an estimate

typedef struct region_memory {
  k_memory memory; // first: what compose hands back
  leat_storage *storage;
} region_memory;

typedef struct composer {
  leat_codegen_state *cg;
  const leat_region_tables *region;
  bool loops;
  leat_error error;                // why it is launched one by one
  leat_map memories;               // leat_storage → region_memory
  leat_vec(const leat_dim *) dims; // keys of numbers
  leat_text title;                 // the region's op, and what it launches
  double work;                     // of the launches of one table
  leat_launch *out;
} composer;

#define REFUSE(c, ...) leat_fail(&(c)->error, LEAT_UNSUPPORTED, __VA_ARGS__)

// -- Memory and numbers ---------------------------------------------------------------------------

// A body's, or known to nothing but the loop.
static bool is_internal(const composer *c, const leat_storage *storage) {
  if (storage->kind != LEAT_BUFFER_ARENA) return false;
  const leat_table *table = storage->place.table;
  return table == c->region->tables[0] || table == c->region->tables[1] ||
         (c->loops && storage == c->region->goes_on);
}

// -1: known only when it runs.
static int64_t words_of(const leat_storage *storage) {
  int64_t elements = leat_type_static_elements(&storage->type);
  return elements < 0 ? -1 : elements * k_words(storage->type.dtype);
}

static leat_status memory_of(composer *c, leat_storage *storage, const k_memory **out) {
  storage = leat_storage_owner(storage);
  region_memory *known = leat_map_get(&c->memories, storage);
  if (!known) {
    known = leat_new(c->cg->scratch, region_memory);
    bool internal = is_internal(c, storage);
    int64_t count = words_of(storage);
    if (count < 0 && internal) return REFUSE(c, "a value in it is of unknown size");
    known->memory = (k_memory){.dtype = k_dtype(storage->type.dtype),
                               .count = count < internal ? internal : count,
                               .internal = internal};
    if (count < 0) known->memory.count = 0;
    known->storage = storage;
    leat_map_set(&c->memories, storage, known);
  }
  *out = &known->memory;
  return LEAT_OK;
}

static k_number number_of(composer *c, leat_dim dim) {
  if (leat_dim_is_const(dim)) return (k_number){.value = dim.value};
  for (uint32_t i = 0; i < c->dims.count; i++)
    if (leat_dim_equal(*c->dims.items[i], dim)) return (k_number){.key = c->dims.items[i]};
  leat_dim *key = leat_new(c->cg->scratch, leat_dim);
  *key = dim;
  leat_vec_push(c->cg->scratch, &c->dims, key);
  return (k_number){.key = key};
}

// -- Launches -------------------------------------------------------------------------------------

static leat_status copy_kernel(composer *c, const leat_launch *copy, const leat_kernel **out) {
  const leat_storage *to = copy->buffers.items[0];
  int64_t count = words_of(to);
  if (to->type.dtype == LEAT_str) return REFUSE(c, "a copy in it is of strings");
  if (count < 0) return REFUSE(c, "a copy in it is of unknown size");
  int lanes = count > 1 ? LEAT_LANES : 1;
  k_builder b;
  k_begin(&b, c->cg->arena, "copy");
  const k_buffer *buffers[2];
  for (int i = 0; i < 2; i++) buffers[i] = k_argument(&b, k_dtype(to->type.dtype));
  k_value end = k_i64(&b, count);
  k_value at = k_loop_index(k_loop_begin(&b, k_i64(&b, 0), end, lanes, NULL, 0)), mask = NULL;
  if (count % lanes) mask = k_lt(&b, k_add(&b, k_lane(&b, LEAT_i64, lanes), at), end);
  k_store(&b, buffers[0], at, k_load(&b, buffers[1], at, lanes, mask), mask);
  k_loop_end(&b, NULL, 0);
  *out = k_finish(&b);
  return LEAT_OK;
}

static leat_status kernel_of(composer *c, const leat_launch *launch, const leat_kernel **out) {
  switch (launch->kind) {
  case LEAT_LAUNCH_KERNEL:
    if (!launch->kernel) return REFUSE(c, "it calls %s", launch->function);
    *out = launch->kernel;
    return LEAT_OK;
  case LEAT_LAUNCH_COPY: return copy_kernel(c, launch, out);
  case LEAT_LAUNCH_GEMM: return REFUSE(c, "it calls BLIS");
  case LEAT_LAUNCH_ROTATE: return REFUSE(c, "arrays change places in it");
  case LEAT_LAUNCH_IF:
  case LEAT_LAUNCH_WHILE: break;
  }
  return REFUSE(c, "a region in it is not one kernel");
}

static leat_status check_size(composer *c, const leat_launch *launch) {
  const char *title = launch->title ? launch->title : "a copy";
  if (!leat_dim_is_const(launch->tiles) || !leat_dim_is_const(launch->work))
    return REFUSE(c, "%s in it is of unknown size", title);
  if (launch->tiles.value > 1 && launch->work.value >= MOST_OF_ONE_THREAD)
    return REFUSE(c, "%s in it is worth several threads", title);
  return LEAT_OK;
}

static void add_title(composer *c, const char *title) {
  if (title && c->title.size < LONG_TITLE) leat_text_add(&c->title, " %s", title);
}

static leat_status add_launch(composer *c, const leat_launch *launch, k_part *out) {
  leat_arena *scratch = c->cg->scratch;
  *out = (k_part){.kind = K_PART_LAUNCH};
  LEAT_TRY(kernel_of(c, launch, &out->kernel));
  LEAT_TRY(check_size(c, launch));
  assert(out->kernel->site_count == launch->sites.count);
  const k_memory **buffers = leat_new_array(scratch, const k_memory *, launch->buffers.count);
  k_number *scalars = leat_new_array(scratch, k_number, launch->scalars.count);
  for (uint32_t i = 0; i < launch->buffers.count; i++)
    LEAT_TRY(memory_of(c, launch->buffers.items[i], &buffers[i]));
  for (uint32_t i = 0; i < launch->scalars.count; i++)
    scalars[i] = number_of(c, launch->scalars.items[i]);
  for (uint32_t i = 0; i < launch->sites.count; i++)
    leat_vec_push(c->cg->arena, &c->out->sites, launch->sites.items[i]);
  out->buffers = buffers;
  out->scalars = scalars;
  out->tiles = number_of(c, launch->tiles);
  c->work += (double)launch->work.value;
  add_title(c, launch->title);
  return LEAT_OK;
}

// *work: of one turn.
static leat_status add_table(composer *c, const leat_table *table, k_parts *out, double *work) {
  leat_vec(k_part) parts = {0};
  if (table->has_checks) return REFUSE(c, "dims are checked in it");
  c->work = 0;
  for (uint32_t i = 0; i < table->units.count; i++) {
    const leat_unit *unit = table->units.items[i];
    for (uint32_t j = 0; j < unit->launches.count; j++) {
      k_part part;
      LEAT_TRY(add_launch(c, unit->launches.items[j], &part));
      leat_vec_push(c->cg->scratch, &parts, part);
    }
  }
  *out = (k_parts){parts.items, parts.count};
  *work = c->work;
  return LEAT_OK;
}

// -- The kernel -----------------------------------------------------------------------------------

static leat_status compose(composer *c) {
  leat_arena *arena = c->cg->arena;
  leat_launch *out = c->out;
  k_part part = {.kind = c->loops ? K_PART_WHILE : K_PART_IF};
  k_composed composed;
  double work[2];
  LEAT_TRY(memory_of(c, c->region->goes_on, &part.predicate));
  LEAT_TRY(add_table(c, c->region->tables[0], &part.first, &work[0]));
  LEAT_TRY(add_table(c, c->region->tables[1], &part.second, &work[1]));
  out->title = leat_arena_strndup(arena, c->title.data, c->title.size);
  LEAT_TRY(leat_kernel_compose(arena, out->title, (k_parts){&part, 1}, &composed, &c->error));
  out->kernel = composed.kernel;
  for (uint32_t i = 0; i < composed.buffers.count; i++)
    leat_vec_push(arena, &out->buffers,
                  ((const region_memory *)composed.buffers.items[i])->storage);
  for (uint32_t i = 0; i < composed.scalars.count; i++)
    leat_vec_push(arena, &out->scalars, *(const leat_dim *)composed.scalars.items[i].key);
  out->tiles = leat_dim_const(1);
  double all = c->loops ? LEAT_ROUNDS * (work[0] + work[1]) : fmax(work[0], work[1]);
  out->work = leat_dim_const((int64_t)fmin(all, MOST_WORK));
  return LEAT_OK;
}

leat_status leat_decide_one_kernel(leat_table *table, leat_unit *unit) {
  leat_codegen_state *cg = table->cg;
  const leat_node *node = unit->members.items[0]->node;
  composer c = {.cg = cg, .region = &unit->region, .loops = node->op == LEAT_OP_while_loop};
  c.out = leat_new(cg->arena, leat_launch);
  c.out->kind = LEAT_LAUNCH_KERNEL;
  leat_map_init(&c.memories, cg->scratch);
  leat_text_add(&c.title, "%s", leat_op_name(node->op));
  leat_status status = compose(&c);
  leat_text_finish(&c.title);
  if (status && status != LEAT_UNSUPPORTED)
    return leat_fail(cg->error, status, "%s", c.error.message);
  if (status)
    unit->region.why = leat_arena_printf(cg->arena, "%s", c.error.message);
  else
    unit->region.kernel = c.out;
  return LEAT_OK;
}
