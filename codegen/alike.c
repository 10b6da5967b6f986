// Units that are alike are lowered once. All that lowering looks at of a unit is written down as
// bytes, its *recipe*, in which items, storage and the keys of random numbers are numbers, in the
// order in which they come. Units of one recipe have the same kernels, which each launches with
// what it has under these numbers itself.
//
// The sanitized build lowers all the same, and compares.
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/checked.h"
#include "codegen/contract_plan.h"
#include "codegen/lower.h"

#include "ops/random.h"

#include <assert.h>
#include <string.h>

// What a unit has under the numbers of its recipe, and its launches.
typedef struct named_parts {
  leat_vec(leat_storage *) storages;
  leat_vec(const leat_node *) nodes; // of items
  leat_vec(int64_t) keys;
  leat_vec(const leat_launch *) launches; // as it was lowered to: some may go elsewhere since
} named_parts;

typedef struct recipe {
  leat_table *table;
  const leat_unit *unit;
  leat_arena *arena; // of what is kept
  leat_map items, storages;
  named_parts *parts;
  leat_text bytes;
} recipe;

// -- Writing it down ------------------------------------------------------------------------------

static void put(recipe *r, const void *bytes, size_t size) {
  leat_text_add_n(&r->bytes, bytes, size);
}

static void put_number(recipe *r, uint64_t number) {
  put(r, &number, sizeof number);
}

// True when it comes for the first time.
static bool put_named(recipe *r, leat_map *map, const void *named) {
  uintptr_t known = (uintptr_t)leat_map_get(map, named);
  if (!known) leat_map_set(map, named, (void *)(uintptr_t)(map->count + 1));
  put_number(r, known ? known : map->count);
  return !known;
}

static void put_dim(recipe *r, leat_dim dim) {
  put_number(r, (uint64_t)dim.value);
  put_number(r, (uintptr_t)dim.poly);
}

static void put_dims(recipe *r, const leat_dim *dims, uint32_t count) {
  put_number(r, count);
  for (uint32_t i = 0; i < count; i++) put_dim(r, dims[i]);
}

static void put_type(recipe *r, const leat_type *type) {
  put_number(r, type->dtype);
  put_dims(r, type->dims, (uint32_t)type->rank);
}

static void put_storage(recipe *r, leat_storage *storage) {
  if (!storage) {
    put_number(r, 0);
  } else if (put_named(r, &r->storages, storage)) {
    leat_vec_push(r->arena, &r->parts->storages, storage);
    put_number(r, storage->kind);
    put_number(r, leat_storage_owner(storage)->kind);
    put_number(r, storage->in_tile);
    put_type(r, &storage->type);
    if (storage->in_tile) put_storage(r, storage->place.shares);
  }
}

static void put_tensor(recipe *r, const leat_tensor *tensor) {
  put_number(r, tensor->dtype);
  put_number(r, (uint64_t)tensor->rank);
  put(r, tensor->shape, (size_t)tensor->rank * sizeof *tensor->shape);
  if (tensor->dtype == LEAT_str)
    put_number(r, (uintptr_t)tensor);
  else
    put(r, tensor->data, (size_t)leat_tensor_bytes(tensor));
}

static void put_attr(recipe *r, leat_attr_kind kind, const leat_attr *attr) {
  switch (kind) {
  case LEAT_ATTR_INT:
  case LEAT_ATTR_BOOL:
  case LEAT_ATTR_DTYPE: put_number(r, (uint64_t)attr->i); break;
  case LEAT_ATTR_STRING: put(r, attr->string, strlen(attr->string) + 1); break;
  case LEAT_ATTR_DIM: put_dim(r, attr->dim); break;
  case LEAT_ATTR_INTS:
    put_number(r, attr->count);
    if (attr->count) put(r, attr->ints, attr->count * sizeof *attr->ints);
    break;
  case LEAT_ATTR_DIMS: put_dims(r, attr->dims, attr->count); break;
  case LEAT_ATTR_TYPE: put_type(r, attr->type); break;
  case LEAT_ATTR_TENSOR: put_tensor(r, attr->tensor); break;
  case LEAT_ATTR_STATE: put_number(r, (uintptr_t)attr->state); break;
  case LEAT_ATTR_GRAPH: put_number(r, (uintptr_t)attr->body); break;
  }
}

// What a kernel has as an argument (leat_lowering.key).
static void put_key(recipe *r, const leat_node *node) {
  named_parts *parts = r->parts;
  int64_t key =
      (int64_t)leat_random_key(leat_node_attr(node, "seed")->i, leat_node_attr(node, "key")->i, 0);
  uint32_t i = 0;
  while (i < parts->keys.count && parts->keys.items[i] != key) i++;
  if (i == parts->keys.count) leat_vec_push(r->arena, &parts->keys, key);
  put_number(r, i);
}

static void put_attrs(recipe *r, const leat_node *node) {
  const leat_op_info *info = node->info;
  bool random = info->flags & LEAT_FLAG_RANDOM;
  if (random) put_key(r, node);
  for (int i = 0; i < info->attr_count; i++) {
    const char *name = info->attrs[i].name;
    if (random && (strcmp(name, "seed") == 0 || strcmp(name, "key") == 0)) continue;
    put_attr(r, info->attrs[i].kind, &node->attrs[i]);
  }
}

// Of what lies in memory only that counts, but for a number, which code has as a constant.
static bool is_only_read(const recipe *r, const leat_item *item) {
  bool member = item->unit && leat_unit_of(item->unit) == r->unit;
  bool computed = member || item->role == LEAT_ROLE_FREE || item->role == LEAT_ROLE_ALIAS;
  bool number =
      item->node->op == LEAT_OP_const && leat_type_static_elements(&item->node->outputs[0]) == 1;
  return item->storage && !computed && !number;
}

static void put_item(recipe *r, const leat_item *item) {
  const leat_node *node = item->node;
  if (!put_named(r, &r->items, item)) return;
  leat_vec_push(r->arena, &r->parts->nodes, node);
  bool member = item->unit && leat_unit_of(item->unit) == r->unit, read = is_only_read(r, item);
  const uint64_t words[] = {node->op, item->port, item->role,        (uint64_t)item->cost,
                            member,   read,       node->output_count};
  put(r, words, sizeof words);
  for (uint32_t i = 0; i < node->output_count; i++) put_type(r, &node->outputs[i]);
  put_storage(r, item->storage);
  if (read) return;
  put_attrs(r, node);
  put_number(r, node->input_count);
  for (uint32_t i = 0; i < node->input_count; i++) put_item(r, leat_item_first(item)->inputs[i]);
  if (!member) return;
  put(r, item->axis, sizeof item->axis);
  put_number(r, item->reads.count);
  for (uint32_t i = 0; i < item->reads.count; i++) {
    const leat_access *access = item->reads.items[i];
    put_item(r, access->producer);
    put_number(r, access->aligned);
    put_number(r, access->view != NULL);
    put(r, access->axis, sizeof access->axis);
  }
}

static void put_plan(recipe *r, const leat_contraction_plan *plan) {
  leat_contraction_plan copy;
  memcpy(&copy, plan, sizeof copy);
  copy.item = NULL;
  copy.ahead_of = NULL;
  copy.winograd = NULL;
  copy.depthwise = NULL;
  put(r, &copy, sizeof copy);
  if (plan->winograd) put(r, plan->winograd, sizeof *plan->winograd);
  if (plan->depthwise) put(r, plan->depthwise, sizeof *plan->depthwise);
  put_item(r, plan->item);
}

static void put_part(recipe *r, const leat_output *output) {
  put_number(r, output->into != NULL);
  if (!output->into) return;
  put_number(r, (uint64_t)output->axis);
  put_dim(r, output->offset);
}

static void put_unit(recipe *r) {
  const leat_unit *unit = r->unit;
  put_number(r, unit->chain.count);
  for (uint32_t i = 0; i < unit->chain.count; i++) {
    r->unit = unit->chain.items[i];
    put_unit(r);
  }
  r->unit = unit;
  const uint64_t words[] = {unit->kind,
                            unit->reduced,
                            unit->innermost,
                            unit->by_lanes,
                            unit->has_rows,
                            (uint64_t)unit->reductions,
                            r->table->initialises != NULL};
  put(r, words, sizeof words);
  put_dims(r, unit->dims, (uint32_t)unit->rank);
  put_number(r, unit->members.count);
  for (uint32_t i = 0; i < unit->members.count; i++) put_item(r, unit->members.items[i]);
  for (uint32_t i = 0; i < unit->outputs.count; i++) {
    put_item(r, unit->outputs.items[i].item);
    put_storage(r, unit->outputs.items[i].storage);
    put_part(r, &unit->outputs.items[i]);
  }
  put_storage(r, unit->scratch);
  put_storage(r, unit->parts);
  if (unit->kind == LEAT_UNIT_CONTRACT) put_plan(r, unit->contraction);
}

// -- Launches -------------------------------------------------------------------------------------

static leat_storage *storage_like(const named_parts *known, const named_parts *mine,
                                  const leat_storage *storage) {
  for (uint32_t i = 0; i < known->storages.count; i++)
    if (known->storages.items[i] == storage) return mine->storages.items[i];
  return NULL;
}

static const leat_node *node_like(const named_parts *known, const named_parts *mine,
                                  const leat_node *node) {
  for (uint32_t i = 0; i < known->nodes.count; i++)
    if (known->nodes.items[i] == node) return mine->nodes.items[i];
  return NULL;
}

static bool key_like(const named_parts *known, const named_parts *mine, leat_dim *key) {
  for (uint32_t i = 0; i < known->keys.count; i++)
    if (leat_dim_is(*key, known->keys.items[i])) {
      *key = leat_dim_const(mine->keys.items[i]);
      return true;
    }
  return false;
}

// What `mine` launches in the place of a launch of `known`; NULL: it names what the recipe does
// not.
static leat_launch *launch_like(const named_parts *known, const named_parts *mine,
                                const leat_launch *launch, leat_arena *arena) {
  leat_launch *like = leat_new(arena, leat_launch);
  *like = (leat_launch){.kind = launch->kind,
                        .kernel = launch->kernel,
                        .title = launch->title,
                        .tiles = launch->tiles,
                        .work = launch->work};
  for (uint32_t i = 0; i < launch->buffers.count; i++) {
    leat_storage *storage = storage_like(known, mine, launch->buffers.items[i]);
    if (!storage) return NULL;
    leat_vec_push(arena, &like->buffers, storage);
  }
  for (uint32_t i = 0; i < launch->scalars.count; i++)
    leat_vec_push(arena, &like->scalars, launch->scalars.items[i]);
  for (uint32_t i = 0; i < launch->keys.count; i++) {
    uint32_t number = launch->keys.items[i];
    leat_vec_push(arena, &like->keys, number);
    if (!key_like(known, mine, &like->scalars.items[number])) return NULL;
  }
  for (uint32_t i = 0; i < launch->sites.count; i++) {
    leat_fail_site site = launch->sites.items[i];
    site.node = node_like(known, mine, site.node);
    if (!site.node) return NULL;
    leat_vec_push(arena, &like->sites, site);
  }
  return like;
}

static bool launch_alike(const named_parts *known, leat_unit *unit, const named_parts *mine,
                         leat_arena *arena) {
  uint32_t count = known->launches.count;
  for (uint32_t i = 0; i < count; i++) {
    leat_launch *like = launch_like(known, mine, known->launches.items[i], arena);
    if (like) leat_vec_push(arena, &unit->launches, like);
  }
  if (unit->launches.count == count) return true;
  unit->launches.count = 0;
  return false;
}

// -- The check ------------------------------------------------------------------------------------

static bool same_kernels(const leat_kernel *a, const leat_kernel *b) {
  leat_text texts[2] = {0};
  leat_kernel_print(a, &texts[0]);
  leat_kernel_print(b, &texts[1]);
  bool same =
      texts[0].size == texts[1].size && !memcmp(texts[0].data, texts[1].data, texts[0].size);
  for (int i = 0; i < 2; i++) leat_text_finish(&texts[i]);
  return same;
}

static bool same_launches(const leat_launch *a, const leat_launch *b) {
  bool same = same_kernels(a->kernel, b->kernel) && strcmp(a->title, b->title) == 0 &&
              a->buffers.count == b->buffers.count && a->scalars.count == b->scalars.count &&
              a->sites.count == b->sites.count && leat_dim_equal(a->tiles, b->tiles) &&
              leat_dim_equal(a->work, b->work);
  for (uint32_t i = 0; same && i < a->buffers.count; i++)
    same = a->buffers.items[i] == b->buffers.items[i];
  for (uint32_t i = 0; same && i < a->scalars.count; i++)
    same = leat_dim_equal(a->scalars.items[i], b->scalars.items[i]);
  for (uint32_t i = 0; same && i < a->sites.count; i++)
    same = a->sites.items[i].node == b->sites.items[i].node &&
           strcmp(a->sites.items[i].says, b->sites.items[i].says) == 0;
  return same;
}

static void check(leat_table *table, leat_unit *unit) {
  uint32_t count = unit->launches.count;
  leat_launch **taken = unit->launches.items;
  memset(&unit->launches, 0, sizeof unit->launches);
  leat_lower_alone(table, unit);
  assert(unit->launches.count == count);
  for (uint32_t i = 0; i < count; i++) assert(same_launches(taken[i], unit->launches.items[i]));
}

// -- A unit ---------------------------------------------------------------------------------------

void leat_lower_alike(leat_table *table, leat_unit *unit) {
  leat_codegen_state *cg = table->cg;
  recipe r = {.table = table, .unit = unit, .arena = cg->arena};
  r.parts = leat_new(cg->arena, named_parts);
  leat_map_init(&r.items, cg->scratch);
  leat_map_init(&r.storages, cg->scratch);
  put_unit(&r);
  XXH128_hash_t key = XXH3_128bits(r.bytes.data, r.bytes.size);
  leat_text_finish(&r.bytes);
  const named_parts *known = leat_bytes_map_get(&cg->recipes, &key, sizeof key);
  if (known && launch_alike(known, unit, r.parts, cg->arena)) {
    if (LEAT_IS_CHECKED) check(table, unit);
    return;
  }
  leat_lower_alone(table, unit);
  for (uint32_t i = 0; i < unit->launches.count; i++)
    leat_vec_push(cg->arena, &r.parts->launches, unit->launches.items[i]);
  if (!known) leat_bytes_map_set(&cg->recipes, &key, sizeof key, r.parts);
}
