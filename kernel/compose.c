// Composing kernels: first a walk that finds what the program uses and whether it is small enough,
// then one that builds it.
#include "kernel/compose.h"

#include "base/map.h"
#include "kernel/build.h"

// Memory in the kernel that is made. `local` is where launches find it, if it has one; an argument
// that has one is loaded into it first, and stored from it at the end.
typedef struct place {
  const k_memory *memory;
  bool looped, written; // by some launch
  const k_buffer *argument, *local;
} place;

typedef struct composer {
  k_builder b;
  leat_arena *scratch;
  leat_error *error;
  const char *name;
  leat_map places;  // k_memory → place
  leat_map scalars; // key → k_value
  int whiles;       // around the part
  uint32_t instrs;
  uint32_t room; // for loops that are unrolled
  int64_t local_bytes;
  k_composed *out;
} composer;

#define REFUSE(c, format, ...)                                                                     \
  leat_fail((c)->error, LEAT_UNSUPPORTED, "kernel %s: " format,                                    \
            (c)->name __VA_OPT__(, ) __VA_ARGS__)

// -- What the program uses ------------------------------------------------------------------------

static leat_status add_bytes(composer *c, leat_dtype dtype, int64_t count) {
  int64_t room = LEAT_MOST_LOCAL_BYTES - c->local_bytes, size = (int64_t)leat_dtype_size(dtype);
  if (count > room / size)
    return REFUSE(c, "local arrays take more than %d bytes", LEAT_MOST_LOCAL_BYTES);
  c->local_bytes += count * size;
  return LEAT_OK;
}

static leat_status add_block(composer *c, const k_block *block) {
  for (uint32_t i = 0; i < block->instrs.count; i++) {
    const k_instr *instr = block->instrs.items[i];
    if (instr->op != K_CONST) c->instrs++;
    if (instr->op == K_LOCAL) LEAT_TRY(add_bytes(c, instr->buffer->dtype, instr->buffer->count));
    for (int j = 0; j < 2; j++)
      if (instr->body[j]) LEAT_TRY(add_block(c, instr->body[j]));
  }
  if (c->instrs > LEAT_MOST_COMPOSED)
    return REFUSE(c, "more than %d instructions", LEAT_MOST_COMPOSED);
  return LEAT_OK;
}

static leat_status use_memory(composer *c, const k_memory *memory, leat_dtype dtype, bool written) {
  place *known = leat_map_get(&c->places, memory);
  if (memory->dtype != dtype)
    return REFUSE(c, "memory of %s as %s", leat_dtype_name(memory->dtype), leat_dtype_name(dtype));
  if (!known) {
    known = leat_new(c->scratch, place);
    known->memory = memory;
    leat_map_set(&c->places, memory, known);
  }
  known->looped |= c->whiles > 0;
  known->written |= written;
  return LEAT_OK;
}

static void use_number(composer *c, k_number number) {
  if (!number.key || leat_map_get(&c->scalars, number.key)) return;
  leat_map_set(&c->scalars, number.key, c->out); // until it has a value
  leat_vec_push(c->b.arena, &c->out->scalars, number);
}

static leat_status use_launch(composer *c, const k_part *launch) {
  const leat_kernel *kernel = launch->kernel;
  LEAT_TRY(add_block(c, &kernel->body));
  for (uint32_t i = 0; i < kernel->buffer_count; i++) {
    const k_buffer *buffer = kernel->buffers.items[i];
    if (buffer->streamed) return REFUSE(c, "%s streams to memory", kernel->name);
    LEAT_TRY(use_memory(c, launch->buffers[i], buffer->dtype, buffer->written));
  }
  for (uint32_t i = 0; i < kernel->scalar_count; i++) use_number(c, launch->scalars[i]);
  use_number(c, launch->tiles);
  return LEAT_OK;
}

static leat_status use_parts(composer *c, k_parts parts) {
  for (uint32_t i = 0; i < parts.count; i++) {
    const k_part *part = &parts.items[i];
    if (part->kind == K_PART_LAUNCH) {
      LEAT_TRY(use_launch(c, part));
      continue;
    }
    bool loops = part->kind == K_PART_WHILE;
    c->whiles += loops;
    LEAT_TRY(use_memory(c, part->predicate, LEAT_bool, false));
    LEAT_TRY(use_parts(c, part->first));
    LEAT_TRY(use_parts(c, part->second));
    c->whiles -= loops;
  }
  return LEAT_OK;
}

// -- Memory ---------------------------------------------------------------------------------------

static bool is_kept(const place *at) {
  int64_t most = LEAT_MOST_KEPT_BYTES / (int64_t)leat_dtype_size(at->memory->dtype);
  return at->looped && at->memory->count > 0 && at->memory->count <= most;
}

// Whole vectors, so that none that begins inside leaves it. What is too large stays so.
static int64_t local_count(const k_memory *memory) {
  if (memory->count == 0) return LEAT_LANES;
  if (memory->count > LEAT_MOST_LOCAL_BYTES) return memory->count;
  return (memory->count + LEAT_LANES - 1) / LEAT_LANES * LEAT_LANES;
}

static leat_status count_locals(composer *c) {
  for (uint32_t i = 0; i < c->places.count; i++) {
    const place *at = c->places.entries[i].value;
    if (at->memory->internal || is_kept(at))
      LEAT_TRY(add_bytes(c, at->memory->dtype, local_count(at->memory)));
  }
  return LEAT_OK;
}

static void declare(composer *c) {
  for (uint32_t i = 0; i < c->places.count; i++) {
    place *at = c->places.entries[i].value;
    if (at->memory->internal) continue;
    at->argument = k_argument(&c->b, at->memory->dtype);
    leat_vec_push(c->b.arena, &c->out->buffers, at->memory);
  }
  for (uint32_t i = 0; i < c->out->scalars.count; i++)
    leat_map_set(&c->scalars, c->out->scalars.items[i].key, (void *)(uintptr_t)k_scalar(&c->b));
  for (uint32_t i = 0; i < c->places.count; i++) {
    place *at = c->places.entries[i].value;
    if (at->memory->internal || is_kept(at))
      at->local = k_local(&c->b, K_SPACE_REGISTER, at->memory->dtype, local_count(at->memory));
  }
}

static void copy_memory(composer *c, const k_buffer *to, const k_buffer *from, int64_t count) {
  for (int64_t i = 0, lanes = LEAT_LANES; i < count; i += lanes) {
    while (lanes > count - i) lanes /= 2;
    k_value at = k_i64(&c->b, i);
    k_store(&c->b, to, at, k_load(&c->b, from, at, (int)lanes, NULL), NULL);
  }
}

static void load_kept(composer *c) {
  for (uint32_t i = 0; i < c->places.count; i++) {
    const place *at = c->places.entries[i].value;
    if (at->argument && at->local) copy_memory(c, at->local, at->argument, at->memory->count);
  }
}

static void store_kept(composer *c) {
  for (uint32_t i = 0; i < c->places.count; i++) {
    const place *at = c->places.entries[i].value;
    if (at->argument && at->local && at->written)
      copy_memory(c, at->argument, at->local, at->memory->count);
  }
}

// -- Parts ----------------------------------------------------------------------------------------

static const k_buffer *buffer_of(const composer *c, const k_memory *memory) {
  const place *at = leat_map_get(&c->places, memory);
  return at->local ? at->local : at->argument;
}

static k_value value_of(composer *c, k_number number) {
  return number.key ? leat_map_get(&c->scalars, number.key) : k_i64(&c->b, number.value);
}

static k_value predicate_of(composer *c, const k_part *part) {
  return k_load(&c->b, buffer_of(c, part->predicate), k_i64(&c->b, 0), 1, NULL);
}

static void build_launch(composer *c, const k_part *launch) {
  const leat_kernel *kernel = launch->kernel;
  const k_buffer **buffers = leat_new_array(c->scratch, const k_buffer *, kernel->buffer_count);
  k_value *scalars = leat_new_array(c->scratch, k_value, kernel->scalar_count);
  for (uint32_t i = 0; i < kernel->buffer_count; i++) buffers[i] = buffer_of(c, launch->buffers[i]);
  for (uint32_t i = 0; i < kernel->scalar_count; i++) scalars[i] = value_of(c, launch->scalars[i]);
  k_copy copy = {.from = kernel, .buffers = buffers, .scalars = scalars, .room = &c->room};
  copy.first_site = c->b.kernel->site_count;
  for (uint32_t i = 0; i < kernel->site_count; i++) k_site(&c->b);
  k_value zero = k_i64(&c->b, 0), tiles = value_of(c, launch->tiles);
  bool one = tiles->op == K_CONST && tiles->imm.i == 1;
  const k_instr *loop = one ? NULL : k_loop_begin(&c->b, zero, tiles, 1, NULL, 0);
  copy.tile = loop ? k_loop_index(loop) : zero;
  k_copy_body(&c->b, &copy);
  if (loop) k_loop_end(&c->b, NULL, 0);
}

static void build_parts(composer *c, k_parts parts);

static void build_if(composer *c, const k_part *branch) {
  k_if_begin(&c->b, predicate_of(c, branch));
  build_parts(c, branch->first);
  if (branch->second.count) {
    k_if_else(&c->b, NULL, 0);
    build_parts(c, branch->second);
  }
  k_if_end(&c->b, NULL, 0);
}

static void build_while(composer *c, const k_part *loop) {
  k_while_begin(&c->b, NULL, 0);
  k_poll(&c->b);
  build_parts(c, loop->first);
  k_while_do(&c->b, predicate_of(c, loop));
  build_parts(c, loop->second);
  k_while_end(&c->b, NULL, 0);
}

static void build_parts(composer *c, k_parts parts) {
  for (uint32_t i = 0; i < parts.count; i++) {
    const k_part *part = &parts.items[i];
    switch (part->kind) {
    case K_PART_LAUNCH: build_launch(c, part); break;
    case K_PART_IF: build_if(c, part); break;
    case K_PART_WHILE: build_while(c, part); break;
    }
  }
}

// -- The kernel -----------------------------------------------------------------------------------

static leat_status compose(composer *c, k_parts parts) {
  LEAT_TRY(use_parts(c, parts));
  LEAT_TRY(count_locals(c));
  c->room = (LEAT_MOST_COMPOSED - c->instrs) / 2; // this kernel may be composed again
  declare(c);
  load_kept(c);
  build_parts(c, parts);
  store_kept(c);
  c->out->kernel = k_finish(&c->b);
  return leat_kernel_verify(c->out->kernel, c->error); // it may nest too deep
}

leat_status leat_kernel_compose(leat_arena *arena, const char *name, k_parts parts, k_composed *out,
                                leat_error *error) {
  leat_arena *scratch = leat_arena_create();
  composer c = {.scratch = scratch, .error = error, .name = name, .out = out};
  *out = (k_composed){0};
  k_begin(&c.b, arena, name);
  leat_map_init(&c.places, scratch);
  leat_map_init(&c.scalars, scratch);
  leat_status status = compose(&c, parts);
  leat_arena_destroy(scratch);
  return status;
}
