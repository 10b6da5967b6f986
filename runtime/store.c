// The variables of one device. Each is a block of memory that stays where it is as long as the
// store lives, so kernels' arguments hold its address; a reset only marks it uninitialised.
// It runs seldom: compiled for size.
#include "runtime/store.h"

#include "base/arena.h"
#include "base/map.h"
#include "base/memory.h"
#include "base/str.h"
#include "base/tensor.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct leat_store {
  pthread_rwlock_t lock;          // of the variables' values and flags
  pthread_mutex_t initialisation; // taken before `lock`
  pthread_mutex_t names;          // of what follows; taken last
  leat_arena *arena;
  leat_bytes_map by_name; // "container\0name" -> leat_variable
  leat_variable **variables;
  size_t count, capacity;
  leat_prepared *prepared;
};

leat_status leat_store_create(leat_store **out, leat_error *error) {
  leat_store *store = *out = calloc(1, sizeof *store);
  if (!store) return leat_fail(error, LEAT_MEMORY, "no memory for a store of variables");
  pthread_rwlock_init(&store->lock, NULL);
  pthread_mutex_init(&store->initialisation, NULL);
  pthread_mutex_init(&store->names, NULL);
  store->arena = leat_arena_try_create();
  leat_bytes_map_init(&store->by_name, store->arena);
  if (store->arena) return LEAT_OK;
  leat_store_destroy(store);
  *out = NULL;
  return leat_fail(error, LEAT_MEMORY, "no memory for a store of variables");
}

void leat_store_destroy(leat_store *store) {
  if (!store) return;
  for (size_t i = 0; i < store->count; i++) {
    leat_tensor *value = &store->variables[i]->tensor;
    if (value->dtype == LEAT_str) leat_strs_disown(value->data, leat_tensor_elements(value));
    free(value->data);
  }
  free(store->variables);
  leat_arena_destroy(store->arena);
  pthread_mutex_destroy(&store->names);
  pthread_mutex_destroy(&store->initialisation);
  pthread_rwlock_destroy(&store->lock);
  free(store);
}

void leat_store_lock(leat_store *store, leat_store_access access) {
  if (access == LEAT_STORE_READ) pthread_rwlock_rdlock(&store->lock);
  if (access == LEAT_STORE_WRITE) pthread_rwlock_wrlock(&store->lock);
}

void leat_store_unlock(leat_store *store, leat_store_access access) {
  if (access != LEAT_STORE_NONE) pthread_rwlock_unlock(&store->lock);
}

void leat_store_lock_initialisation(leat_store *store) {
  pthread_mutex_lock(&store->initialisation);
}

void leat_store_unlock_initialisation(leat_store *store) {
  pthread_mutex_unlock(&store->initialisation);
}

// The name in the map, as a text; made before the lock is taken.
static bool make_key(const char *container, const char *name, leat_text *out) {
  size_t size = strlen(container) + 1, rest = strlen(name);
  if (!leat_text_reserve(out, size + rest)) return false;
  leat_text_add_n(out, container, size);
  leat_text_add_n(out, name, rest);
  return true;
}

static leat_variable *look_up(leat_store *store, const leat_text *key) {
  return leat_bytes_map_get(&store->by_name, key->data, key->size);
}

static leat_status find(leat_store *store, const char *container, const char *name,
                        leat_variable **out, leat_error *error) {
  leat_text key = {0};
  if (!make_key(container ? container : "", name, &key))
    return leat_fail(error, LEAT_MEMORY, "no memory to look for variable `%s`", name);
  pthread_mutex_lock(&store->names);
  *out = look_up(store, &key);
  pthread_mutex_unlock(&store->names);
  leat_text_finish(&key);
  if (*out) return LEAT_OK;
  return leat_fail(error, LEAT_NOT_FOUND, "there is no variable `%s`", name);
}

static bool same_type(const leat_tensor *a, leat_dtype dtype, int32_t rank, const int64_t *shape) {
  return a->dtype == dtype && a->rank == rank &&
         memcmp(a->shape, shape, (size_t)rank * sizeof *shape) == 0;
}

static leat_status mismatch(const leat_variable *variable, leat_dtype dtype, int32_t rank,
                            const int64_t *shape, leat_error *error) {
  leat_text is = {0}, other = {0};
  const leat_tensor *tensor = &variable->tensor;
  leat_tensor_type_print(tensor->dtype, tensor->rank, tensor->shape, &is);
  leat_tensor_type_print(dtype, rank, shape, &other);
  leat_status status = leat_fail(error, LEAT_INVALID, "variable `%s` is %s, not %s", variable->name,
                                 is.data, other.data);
  leat_text_finish(&is);
  leat_text_finish(&other);
  return status;
}

// A new variable; the caller holds `names`. Numbers are not zeroed, which for many takes longer
// than all else of loading: nobody looks at them before they have a value.
static leat_status add(leat_store *store, const leat_variable_info *info, leat_variable **out,
                       leat_error *error) {
  leat_tensor tensor = {.dtype = info->dtype, .rank = info->rank};
  memcpy(tensor.shape, info->shape, (size_t)info->rank * sizeof *info->shape);
  int64_t bytes = leat_tensor_bytes(&tensor);
  if (bytes < 0)
    return leat_fail(error, LEAT_INVALID, "the shape of variable `%s` is impossible", info->name);
  leat_variable **grown =
      leat_memory_with_room(store->variables, store->count, &store->capacity, sizeof *grown);
  if (!grown) return leat_fail(error, LEAT_MEMORY, "no memory for variable `%s`", info->name);
  store->variables = grown;
  leat_variable *variable = leat_new(store->arena, leat_variable);
  size_t length = strlen(info->container) + 1;
  char *key = leat_arena_printf(store->arena, "%s%c%s", info->container, 0, info->name);
  leat_bytes_map_set(&store->by_name, key, length + strlen(info->name), NULL); // not there yet
  tensor.data = leat_memory_allocate((uint64_t)bytes);
  if (!tensor.data)
    return leat_fail(error, LEAT_MEMORY, "no memory for variable `%s`, %lld bytes", info->name,
                     (long long)bytes);
  if (tensor.dtype == LEAT_str) memset(tensor.data, 0, (size_t)bytes);
  *variable = (leat_variable){
      .name = key + length, .container = key, .tensor = tensor, .trainable = info->trainable};
  leat_bytes_map_set(&store->by_name, key, length + strlen(info->name), variable);
  store->variables[store->count++] = *out = variable;
  return LEAT_OK;
}

leat_status leat_store_variable(leat_store *store, const leat_variable_info *info,
                                leat_variable **out, leat_error *error) {
  leat_text key = {0};
  if (!make_key(info->container, info->name, &key))
    return leat_fail(error, LEAT_MEMORY, "no memory for variable `%s`", info->name);
  pthread_mutex_lock(&store->names);
  leat_variable *variable = look_up(store, &key);
  leat_status status = LEAT_OK;
  if (!variable) LEAT_RECOVER(status, add(store, info, &variable, error));
  pthread_mutex_unlock(&store->names);
  leat_text_finish(&key);
  if (status) return leat_fail(error, status, "no memory for variable `%s`", info->name);
  if (!same_type(&variable->tensor, info->dtype, info->rank, info->shape))
    status = mismatch(variable, info->dtype, info->rank, info->shape, error);
  *out = variable;
  return status;
}

static void fill_info(leat_store *store, const leat_variable *variable, leat_variable_info *out) {
  *out = (leat_variable_info){.name = variable->name,
                              .container = variable->container,
                              .dtype = variable->tensor.dtype,
                              .rank = variable->tensor.rank,
                              .trainable = variable->trainable};
  memcpy(out->shape, variable->tensor.shape, sizeof out->shape);
  leat_store_lock(store, LEAT_STORE_READ);
  out->initialised = variable->initialised;
  leat_store_unlock(store, LEAT_STORE_READ);
}

size_t leat_store_count(leat_store *store) {
  pthread_mutex_lock(&store->names);
  size_t count = store->count;
  pthread_mutex_unlock(&store->names);
  return count;
}

void leat_store_info(leat_store *store, size_t i, leat_variable_info *out) {
  pthread_mutex_lock(&store->names);
  const leat_variable *variable = store->variables[i];
  pthread_mutex_unlock(&store->names);
  fill_info(store, variable, out);
}

leat_status leat_store_find(leat_store *store, const char *container, const char *name,
                            leat_variable_info *out, leat_error *error) {
  leat_variable *variable;
  LEAT_TRY(find(store, container, name, &variable, error));
  fill_info(store, variable, out);
  return LEAT_OK;
}

leat_status leat_store_read(leat_store *store, const char *container, const char *name,
                            leat_tensor *out, leat_error *error) {
  leat_variable *variable;
  LEAT_TRY(find(store, container, name, &variable, error));
  *out = variable->tensor;
  leat_store_lock(store, LEAT_STORE_READ);
  bool initialised = variable->initialised;
  out->data = initialised ? leat_tensor_clone(&variable->tensor) : NULL;
  leat_store_unlock(store, LEAT_STORE_READ);
  if (!initialised) return leat_fail(error, LEAT_NOT_FOUND, "variable `%s` has no value yet", name);
  if (out->data) return LEAT_OK;
  return leat_fail(error, LEAT_MEMORY, "no memory to read variable `%s`", name);
}

leat_status leat_variable_set(leat_variable *variable, const void *data) {
  leat_tensor *value = &variable->tensor;
  variable->version++;
  leat_str *strings = value->data;
  if (value->dtype != LEAT_str)
    memcpy(value->data, data, (size_t)leat_tensor_bytes(value));
  else
    for (int64_t i = 0; i < leat_tensor_elements(value); i++)
      if (!leat_str_own(&strings[i], ((const leat_str *)data)[i])) return LEAT_MEMORY;
  return LEAT_OK;
}

leat_status leat_store_write(leat_store *store, const char *container, const char *name,
                             const leat_tensor *value, leat_error *error) {
  leat_variable *variable;
  LEAT_TRY(find(store, container, name, &variable, error));
  if (!same_type(&variable->tensor, value->dtype, value->rank, value->shape))
    return mismatch(variable, value->dtype, value->rank, value->shape, error);
  leat_store_lock(store, LEAT_STORE_WRITE);
  leat_status status = leat_variable_set(variable, value->data);
  if (!status) variable->initialised = true;
  leat_store_unlock(store, LEAT_STORE_WRITE);
  if (status) return leat_fail(error, status, "no memory to write variable `%s`", name);
  return LEAT_OK;
}

// -- What is prepared -----------------------------------------------------------------------------

static leat_prepared *add_prepared(leat_store *store, const uint64_t key[2], uint64_t bytes,
                                   leat_variable *const *sources, uint32_t source_count) {
  leat_prepared *made = calloc(1, sizeof *made + source_count * sizeof *made->sources);
  if (made) made->data = leat_memory_allocate(bytes);
  if (!made || !made->data) {
    free(made);
    return NULL;
  }
  memcpy(made->key, key, sizeof made->key);
  made->bytes = bytes;
  made->source_count = source_count;
  for (uint32_t i = 0; i < source_count; i++) made->sources[i].variable = sources[i];
  made->next = store->prepared;
  return store->prepared = made;
}

leat_status leat_store_prepared(leat_store *store, const uint64_t key[2], uint64_t bytes,
                                leat_variable *const *sources, uint32_t source_count,
                                leat_prepared **out, leat_error *error) {
  pthread_mutex_lock(&store->names);
  leat_prepared *found = store->prepared;
  while (found && memcmp(found->key, key, sizeof found->key) != 0) found = found->next;
  if (!found) found = add_prepared(store, key, bytes, sources, source_count);
  if (found) found->users++;
  pthread_mutex_unlock(&store->names);
  *out = found;
  if (found) return LEAT_OK;
  return leat_fail(error, LEAT_MEMORY, "no memory for %llu bytes of prepared weights",
                   (unsigned long long)bytes);
}

void leat_store_release(leat_store *store, leat_prepared *prepared) {
  if (!prepared) return;
  pthread_mutex_lock(&store->names);
  bool last = --prepared->users == 0;
  leat_prepared **at = &store->prepared;
  while (last && *at != prepared) at = &(*at)->next;
  if (last) *at = prepared->next;
  pthread_mutex_unlock(&store->names);
  if (!last) return;
  free(prepared->data);
  free(prepared);
}

bool leat_prepared_is_fresh(const leat_prepared *prepared) {
  bool fresh = prepared->made;
  for (uint32_t i = 0; i < prepared->source_count; i++)
    fresh &= prepared->sources[i].version == prepared->sources[i].variable->version;
  return fresh;
}

void leat_prepared_made(leat_prepared *prepared) {
  for (uint32_t i = 0; i < prepared->source_count; i++)
    prepared->sources[i].version = prepared->sources[i].variable->version;
  prepared->made = true;
}
