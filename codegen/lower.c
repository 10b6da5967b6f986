// A unit's kernel, seen from the ops: value_at, which answers what a value is at an index by
// loading it, by the reduction or contraction result that stands for it here, or by the op's own
// lowering.
#include "codegen/lower.h"

#include "ops/ops.h"

#include <assert.h>
#include <math.h>
#include <string.h>

leat_fact *leat_lower_fact(leat_lower *w, const leat_item *item) {
  leat_fact *fact = leat_map_get(&w->facts, item);
  if (!fact) leat_map_set(&w->facts, item, fact = leat_new(w->table->cg->scratch, leat_fact));
  return fact;
}

static const leat_item *item_of(const leat_lower *w, leat_value value) {
  return leat_item_of(w->table, value);
}

static bool is_key(const leat_launch *launch, uint32_t scalar) {
  for (uint32_t i = 0; i < launch->keys.count; i++)
    if (launch->keys.items[i] == scalar) return true;
  return false;
}

static k_value add_scalar(leat_lower *w, leat_dim dim) {
  leat_vec_push(w->table->cg->arena, &w->launch->scalars, dim);
  leat_vec_push(w->table->cg->arena, &w->scalars, k_scalar(w->l.b));
  return w->scalars.items[w->scalars.count - 1];
}

// -- Values ---------------------------------------------------------------------------------------

static bool is_visible(const leat_lower *w, k_value value) {
  const k_builder *b = w->l.b;
  const k_block *block = value->block;
  return !block || (block->depth < b->blocks.count && b->blocks.items[block->depth] == block);
}

static bool same_index(leat_index a, leat_index b) {
  return a.base == b.base && a.step == b.step && a.vector == b.vector;
}

static k_value find_memo(const leat_lower *w, const leat_fact *fact, const leat_index *at,
                         int rank) {
  for (uint32_t i = fact->memos.count; i-- > 0;) {
    const leat_memo *m = &fact->memos.items[i];
    bool same = m->lanes == w->l.lanes && m->word == w->l.word && m->mask == w->l.mask &&
                is_visible(w, m->value);
    for (int k = 0; same && k < rank; k++) same = same_index(m->at[k], at[k]);
    if (same) return m->value;
  }
  return NULL;
}

static void add_memo(leat_lower *w, leat_fact *fact, const leat_index *at, int rank,
                     k_value value) {
  while (fact->memos.count && !is_visible(w, fact->memos.items[fact->memos.count - 1].value))
    fact->memos.count--;
  leat_memo m = {.lanes = w->l.lanes, .word = w->l.word, .mask = w->l.mask, .value = value};
  for (int k = 0; k < rank; k++) m.at[k] = at[k];
  leat_vec_push(w->table->cg->scratch, &fact->memos, m);
}

static bool is_uniform(const leat_index *at, int rank) {
  for (int k = 0; k < rank; k++)
    if (at[k].vector || at[k].step) return false;
  return true;
}

static k_value scalar(leat_lower *w, leat_dim dim) {
  for (uint32_t i = 0; i < w->launch->scalars.count; i++)
    if (leat_dim_equal(w->launch->scalars.items[i], dim) && !is_key(w->launch, i))
      return w->scalars.items[i];
  return add_scalar(w, dim);
}

// A float of a kernel that is general.
static k_value float_argument(leat_lower *w, leat_dtype dtype, int lanes, double value) {
  int64_t bits;
  memcpy(&bits, &value, sizeof bits);
  k_value number = k_bitcast(w->l.b, LEAT_f64, scalar(w, leat_dim_const(bits)));
  return k_splat(w->l.b, lanes, k_cast(w->l.b, dtype, number));
}

static k_value immediate(leat_lower *w, const leat_node *node) {
  const leat_tensor *tensor = leat_node_attr(node, "value")->tensor;
  leat_dtype dtype = k_dtype(tensor->dtype);
  const char *data = tensor->data;
  k_builder *b = w->l.b;
  int lanes = w->l.lanes;
  if (k_words(tensor->dtype) == 2) data += (size_t)w->l.word * leat_dtype_size(dtype);
  if (w->general && dtype == LEAT_f32 && isnormal(*(const float *)data))
    return float_argument(w, dtype, lanes, *(const float *)data);
  if (w->general && dtype == LEAT_f64 && isnormal(*(const double *)data))
    return float_argument(w, dtype, lanes, *(const double *)data);
  switch ((int)dtype) {
  case LEAT_bool:
  case LEAT_u8: return k_int(b, dtype, lanes, *(const uint8_t *)data);
  case LEAT_i8: return k_int(b, dtype, lanes, *(const int8_t *)data);
  case LEAT_i16: return k_int(b, dtype, lanes, *(const int16_t *)data);
  case LEAT_u16: return k_int(b, dtype, lanes, *(const uint16_t *)data);
  case LEAT_i32: return k_int(b, dtype, lanes, *(const int32_t *)data);
  case LEAT_u32: return k_int(b, dtype, lanes, *(const uint32_t *)data);
  case LEAT_f32: return k_float(b, dtype, lanes, *(const float *)data);
  case LEAT_f64: return k_float(b, dtype, lanes, *(const double *)data);
  }
  return k_int(b, dtype, lanes, *(const int64_t *)data);
}

// How many axes of a type from k on are the axes of a run, all here; 0: they are not.
static int axes_of_joined(const leat_lower *w, const leat_joined_axes *joined,
                          const leat_type *type, const leat_index *at, int k) {
  int from = k;
  for (int axis = 0; axis < w->rank; axis++) {
    if (!(joined->axes >> axis & 1)) continue;
    while (k < type->rank && leat_dim_is(type->dims[k], 1)) k++;
    if (k == type->rank || !leat_dim_equal(type->dims[k], w->dims[axis]) ||
        !same_index(at[k], w->at[axis]))
      return 0;
    k++;
  }
  return k - from;
}

static leat_index linear(leat_lower *w, const leat_fact *fact, const leat_type *type,
                         const leat_index *at) {
  leat_lowering *l = &w->l;
  leat_index index = leat_index_const(l, 0);
  if (w->flat) {
    if (fact->spans & 1) index = at[0];
    if (fact->spans == 3) index = leat_index_mul(l, index, leat_lower_dim(w, w->dims[1]));
    return fact->spans & 2 ? leat_index_add(l, index, at[1]) : index;
  }
  for (int k = 0, count; k < type->rank; k += count) {
    leat_index place = at[k];
    count = 0;
    for (int i = 0; i < 2 && !count; i++) {
      count = axes_of_joined(w, &w->joined[i], type, at, k);
      if (count) place = w->joined[i].place;
    }
    if (!count) count = 1;
    for (int i = k; k > 0 && i < k + count; i++)
      index = leat_index_mul(l, index, leat_lower_dim(w, type->dims[i]));
    index = leat_index_add(l, index, place);
  }
  return index;
}

// The mask of the lower or the upper half of the words of elements in a row.
static k_value zip_mask(leat_lowering *l, int which) {
  return l->mask ? k_zip(l->b, l->mask, l->mask, which) : NULL;
}

static k_value load_at(leat_lower *w, const k_buffer *buffer, leat_index index) {
  if (!index.vector && (index.step == 1 || w->l.lanes == 1))
    return k_load(w->l.b, buffer, index.base, w->l.lanes, w->l.mask);
  return k_gather(w->l.b, buffer, leat_index_value(&w->l, index), w->l.mask);
}

// The word that is asked for, of two words an element: lanes in a row take theirs out of all words.
static k_value load_word(leat_lower *w, const k_buffer *buffer, leat_index element) {
  leat_lowering *l = &w->l;
  leat_index first = leat_index_mul(l, element, k_i64(l->b, 2));
  if (element.vector || element.step != 1 || l->lanes == 1)
    return load_at(w, buffer, leat_index_add(l, first, leat_index_const(l, l->word)));
  k_value halves[2];
  for (int i = 0; i < 2; i++) {
    k_value at = k_add(l->b, first.base, k_i64(l->b, i * l->lanes));
    halves[i] = k_load(l->b, buffer, at, l->lanes, zip_mask(l, i));
  }
  return k_unzip(l->b, halves[0], halves[1], l->word);
}

// Where the element with this number lies in the buffer: of what is in a tile its rows alone are.
static leat_index in_buffer(leat_lower *w, const k_buffer *buffer, leat_index index) {
  if (buffer->space == K_SPACE_ARGUMENT) return index;
  index.base = k_sub(w->l.b, index.base, w->origin);
  return index;
}

static k_value load(leat_lower *w, const leat_fact *fact, const leat_type *type,
                    const leat_index *at) {
  leat_index index = in_buffer(w, fact->buffer, linear(w, fact, type, at));
  bool words = k_words(type->dtype) == 2;
  return words ? load_word(w, fact->buffer, index) : load_at(w, fact->buffer, index);
}

// A reduction of one element.
static k_value reduce_one(leat_lower *w, const leat_node *node, const leat_index *at) {
  const leat_reducer *reducer = leat_reducer_of(node->op);
  const leat_item *item = item_of(w, (leat_value){(leat_node *)node, 0});
  leat_index in[LEAT_MAX_RANK];
  k_value acc[2], next[2];
  for (int k = 0; k < leat_item_space(item)->rank; k++) in[k] = leat_index_const(&w->l, 0);
  for (int k = 0; !w->flat && k < node->outputs[0].rank; k++) {
    int axis = leat_item_result_axis(item, k);
    if (axis >= 0) in[axis] = at[k];
  }
  assert(!leat_item_reduces(item) && reducer->count <= 2);
  k_value x = leat_operand(&w->l, node, 0, w->flat ? at : in);
  reducer->init(&w->l, node, acc);
  reducer->step(&w->l, node, acc, x, k_int(w->l.b, LEAT_i64, w->l.lanes, 0), next);
  return reducer->finish(&w->l, node, next);
}

// Its elements are those of its input at the same axes, however they are numbered.
static bool renames_axes(const leat_node *node) {
  leat_op_reads reads = node->info->reads;
  return reads == LEAT_READS_BROADCAST || reads == LEAT_READS_RESHAPED ||
         reads == LEAT_READS_PERMUTED;
}

// What is known of the memory that the value is, of another shape; NULL: it is computed.
static const leat_fact *behind_alias(leat_lower *w, leat_value of) {
  if (item_of(w, of)->role != LEAT_ROLE_ALIAS) return NULL;
  const leat_fact *memory = leat_lower_fact(w, leat_item_memory(w->table, of));
  return memory->buffer && memory->buffer->dtype == k_dtype(leat_value_type(of)->dtype) ? memory
                                                                                        : NULL;
}

static k_value compute(leat_lower *w, const leat_fact *fact, leat_value of, const leat_index *at) {
  const leat_node *node = of.node;
  if (fact->row && w->pass > fact->row_pass)
    return k_load(w->l.b, fact->row, w->inner, w->l.lanes, w->l.mask);
  if (fact->buffer) return load(w, fact, leat_value_type(of), at);
  const leat_fact *memory = w->flat ? NULL : behind_alias(w, of);
  if (memory) return load(w, memory, leat_value_type(of), at);
  if (w->flat && renames_axes(node)) return leat_operand(&w->l, node, 0, at);
  k_value value = node->info->kind == LEAT_KIND_REDUCE ? reduce_one(w, node, at)
                                                       : leat_lower_of(node->op)(&w->l, node, at);
  if (fact->row && w->pass == fact->row_pass)
    k_store(w->l.b, fact->row, w->inner, value, w->l.mask);
  return value;
}

static bool never_turns(const leat_lower *w) {
  for (int k = 0; k < w->rank; k++)
    if (leat_dim_is(w->dims[k], 0)) return true;
  return false;
}

// What stands for a value in this pass. In loops without turns a dim of 0 may have made its index
// the same for all lanes: nothing is computed there, so that any value of its dtype will do.
static k_value substituted(leat_lower *w, k_value value) {
  k_builder *b = w->l.b;
  if (value->lanes == 1 || value->lanes == w->l.lanes) return k_splat(b, w->l.lanes, value);
  assert(never_turns(w));
  bool is_float = leat_dtype_kind_of(value->dtype) == LEAT_KIND_FLOAT;
  return is_float ? k_float(b, value->dtype, w->l.lanes, 0) : k_int(b, value->dtype, w->l.lanes, 0);
}

static k_value value_at(leat_lowering *l, leat_value value, const leat_index *at) {
  leat_lower *w = (leat_lower *)l;
  leat_fact *fact = leat_lower_fact(w, item_of(w, value));
  leat_index flat[2];
  int rank = w->flat ? 2 : leat_value_type(value)->rank;
  if (fact->substitute) return substituted(w, fact->substitute);
  if (value.node->op == LEAT_OP_const && !fact->buffer) return immediate(w, value.node);
  if (w->flat) {
    for (unsigned k = 0; k < 2; k++)
      flat[k] = fact->spans >> k & 1 ? at[k] : leat_index_const(l, 0);
    at = flat;
  }
  int lanes = l->lanes, word = l->word;
  k_value mask = l->mask;
  if (k_words(leat_value_type(value)->dtype) == 1) l->word = 0;
  if (is_uniform(at, rank)) l->lanes = 1, l->mask = NULL;
  k_value known = find_memo(w, fact, at, rank);
  if (!known) {
    known = k_splat(l->b, l->lanes, compute(w, fact, value, at));
    add_memo(w, fact, at, rank, known);
  }
  l->lanes = lanes;
  l->word = word;
  l->mask = mask;
  return k_splat(l->b, lanes, known);
}

k_value leat_lower_dim(leat_lower *w, leat_dim dim) {
  bool number = leat_dim_is_const(dim) && (!w->general || dim.value <= 1);
  return number ? k_i64(w->l.b, dim.value) : scalar(w, dim);
}

static k_value dim_at(leat_lowering *l, leat_dim dim) {
  return leat_lower_dim((leat_lower *)l, dim);
}

static k_value key_at(leat_lowering *l, int64_t value) {
  leat_lower *w = (leat_lower *)l;
  for (uint32_t i = 0; i < w->launch->scalars.count; i++)
    if (leat_dim_is(w->launch->scalars.items[i], value) && is_key(w->launch, i))
      return w->scalars.items[i];
  leat_vec_push(w->table->cg->arena, &w->launch->keys, w->launch->scalars.count);
  return add_scalar(w, leat_dim_const(value));
}

static leat_index element_at(leat_lowering *l, const leat_node *node, const leat_index *at) {
  leat_lower *w = (leat_lower *)l;
  const leat_type *type = &node->outputs[0];
  if (w->flat) {
    leat_value value = {(leat_node *)node, 0};
    return linear(w, leat_lower_fact(w, item_of(w, value)), type, at);
  }
  leat_index element = leat_index_const(l, 0);
  for (int i = 0; i < type->rank; i++) {
    element = leat_index_mul(l, element, leat_lower_dim(w, type->dims[i]));
    element = leat_index_add(l, element, at[i]);
  }
  return element;
}

// A node says one thing, of other dims perhaps.
static bool same_site(const leat_fail_site *x, const leat_fail_site *y) {
  bool same = x->node == y->node;
  for (int i = 0; same && i < x->dim_count; i++) same = leat_dim_equal(x->dims[i], y->dims[i]);
  return same;
}

static uint32_t site_of(leat_lowering *l, const leat_fail_site *site) {
  leat_lower *w = (leat_lower *)l;
  for (uint32_t i = 0; i < w->launch->sites.count; i++)
    if (same_site(&w->launch->sites.items[i], site)) return i;
  leat_vec_push(w->table->cg->arena, &w->launch->sites, *site);
  return k_site(l->b);
}

// -- Members --------------------------------------------------------------------------------------

// The index in `at` of something whose axis k is the unit's axis[k].
static void place(leat_lower *w, const int8_t *axis, int rank, leat_index *at) {
  for (int k = 0; k < (w->flat ? 2 : rank); k++)
    at[k] = w->flat ? w->at[k] : axis[k] < 0 ? leat_index_const(&w->l, 0) : w->at[axis[k]];
}

static void place_result(leat_lower *w, const leat_item *item, leat_index *at) {
  int8_t result[LEAT_MAX_RANK] = {0};
  int rank = item->node->outputs[0].rank;
  for (int k = 0; k < rank; k++) {
    int axis = leat_item_result_axis(item, k);
    result[k] = axis < 0 ? -1 : item->axis[axis];
  }
  place(w, result, rank, at);
}

k_value leat_lower_item(leat_lower *w, const leat_item *item) {
  leat_index at[LEAT_MAX_RANK];
  place_result(w, item, at);
  return value_at(&w->l, (leat_value){item->node, 0}, at);
}

k_value leat_lower_operand(leat_lower *w, const leat_item *item, uint32_t i) {
  leat_index at[LEAT_MAX_RANK];
  place(w, item->axis, leat_item_space(item)->rank, at);
  return leat_operand(&w->l, item->node, i, at);
}

leat_index leat_lower_element(leat_lower *w, const leat_item *item) {
  leat_index at[LEAT_MAX_RANK];
  place_result(w, item, at);
  return linear(w, leat_lower_fact(w, item), &item->node->outputs[0], at);
}

// The place that the access reads, if it is that of the members, and the unit's axes that it
// depends on; false: it is elsewhere.
static bool place_access(leat_lower *w, const leat_access *access, leat_index *at, unsigned *axes) {
  const leat_item *made = access->producer, *item = access->consumer;
  int rank = leat_item_type(made)->rank;
  if (!access->aligned || !leat_lower_fact(w, made)->buffer) return false;
  int8_t axis[LEAT_MAX_RANK] = {0};
  *axes = 0;
  for (int k = 0; k < rank; k++) {
    axis[k] = access->axis[k] < 0 ? -1 : item->axis[access->axis[k]];
    if (axis[k] >= 0) *axes |= 1u << axis[k];
  }
  place(w, axis, rank, at);
  return true;
}

void leat_lower_prime(leat_lower *w, unsigned inner) {
  leat_index at[LEAT_MAX_RANK];
  unsigned axes;
  for (uint32_t i = 0; i < w->unit->members.count; i++) {
    const leat_item *item = w->unit->members.items[i];
    for (uint32_t j = 0; j < item->reads.count; j++) {
      const leat_item *made = item->reads.items[j]->producer;
      if (place_access(w, item->reads.items[j], at, &axes) && !(axes & inner))
        value_at(&w->l, (leat_value){made->node, made->port}, at);
    }
  }
}

// What an access of the unit's members reads along the axis, and not the same at all other places.
static bool is_along(leat_lower *w, const leat_access *access, int axis, leat_index *at) {
  unsigned axes;
  return place_access(w, access, at, &axes) && axes >> axis & 1 && axes != 1u << axis;
}

bool leat_lower_reads_along(leat_lower *w, int axis) {
  leat_index at[LEAT_MAX_RANK];
  for (uint32_t i = 0; i < w->unit->members.count; i++) {
    const leat_item *item = w->unit->members.items[i];
    for (uint32_t j = 0; j < item->reads.count; j++)
      if (is_along(w, item->reads.items[j], axis, at)) return true;
  }
  return false;
}

// Once for a buffer, which members may read time and again.
void leat_lower_prefetch(leat_lower *w, int axis) {
  const leat_target_info *target = w->table->cg->options->target;
  leat_index at[LEAT_MAX_RANK];
  leat_map asked;
  leat_map_init(&asked, w->table->cg->scratch);
  for (uint32_t i = 0; i < w->unit->members.count; i++) {
    const leat_item *item = w->unit->members.items[i];
    for (uint32_t j = 0; j < item->reads.count; j++) {
      const leat_item *made = item->reads.items[j]->producer;
      const leat_fact *fact = leat_lower_fact(w, made);
      if (!is_along(w, item->reads.items[j], axis, at)) continue;
      if (leat_map_get(&asked, fact->buffer)) continue;
      leat_map_set(&asked, fact->buffer, (void *)fact->buffer);
      leat_index index = linear(w, fact, leat_item_type(made), at);
      int64_t size = (int64_t)leat_dtype_size(fact->buffer->dtype);
      if (!index.vector && size * k_multiple(index.base) % target->line == 0)
        k_prefetch(w->l.b, fact->buffer, index.base);
    }
  }
}

void leat_lower_substitute(leat_lower *w, const leat_item *item, k_value value) {
  leat_lower_fact(w, item)->substitute = value;
}

void leat_lower_keep(leat_lower *w, const leat_item *item, const k_buffer *row, int pass) {
  leat_fact *fact = leat_lower_fact(w, item);
  fact->row = row;
  fact->row_pass = pass;
}

static void push_store(leat_lower *w, leat_stores *stores, const k_buffer *buffer, k_value index,
                       k_value value, k_value mask) {
  leat_pending store = {.buffer = buffer, .index = index, .value = value, .mask = mask};
  leat_vec_push(w->table->cg->arena, stores, store);
}

// Two words an element: one after the other, those of lanes zipped.
static void store_words(leat_lower *w, leat_stores *stores, const k_buffer *buffer, k_value index,
                        const leat_item *item) {
  k_builder *b = w->l.b;
  k_value words[2];
  for (w->l.word = 1; w->l.word >= 0; w->l.word--)
    words[w->l.word] = k_splat(b, w->l.lanes, leat_lower_item(w, item));
  w->l.word = 0;
  index = k_mul(b, index, k_i64(b, 2));
  for (int i = 0; i < 2; i++) {
    bool one = w->l.lanes == 1;
    k_value value = one ? words[i] : k_zip(b, words[0], words[1], i);
    k_value at = k_add(b, index, k_i64(b, i * w->l.lanes));
    push_store(w, stores, buffer, at, value, one ? w->l.mask : zip_mask(&w->l, i));
  }
}

const k_buffer *leat_lower_output(leat_lower *w, const leat_output *output) {
  leat_storage *storage = output->storage;
  const leat_target_info *target = w->table->cg->options->target;
  const k_buffer *buffer = leat_lower_buffer(w, storage);
  int64_t elements = leat_type_static_elements(&storage->type);
  bool read_again = w->unit->chained != NULL; // by the kernel itself
  if (leat_storage_owner(storage)->kind == LEAT_BUFFER_ARENA && !output->into && !read_again &&
      elements >= target->l3 / (int64_t)leat_dtype_size(storage->type.dtype))
    k_stream(w->l.b, buffer);
  return buffer;
}

static leat_index place_of_output(leat_lower *w, const leat_output *output) {
  leat_index at[LEAT_MAX_RANK], *moved = &at[output->axis];
  if (!output->into) return leat_lower_element(w, output->item);
  assert(!w->flat);
  place_result(w, output->item, at);
  *moved = leat_index_add(&w->l, *moved, (leat_index){.base = leat_lower_dim(w, output->offset)});
  return linear(w, leat_lower_fact(w, output->item), &output->into->outputs[0], at);
}

void leat_lower_store(leat_lower *w, leat_stores *stores, const leat_output *output) {
  const k_buffer *buffer = leat_lower_output(w, output);
  leat_index index = in_buffer(w, buffer, place_of_output(w, output));
  assert(!index.vector && (w->l.lanes == 1 || index.step == 1));
  if (k_words(output->storage->type.dtype) == 2)
    store_words(w, stores, buffer, index.base, output->item);
  else
    push_store(w, stores, buffer, index.base, leat_lower_item(w, output->item), w->l.mask);
}

void leat_lower_flush(leat_lower *w, leat_stores *stores) {
  for (uint32_t i = 0; i < stores->count; i++) {
    const leat_pending *s = &stores->items[i];
    k_store(w->l.b, s->buffer, s->index, s->value, s->mask);
  }
  stores->count = 0;
}

k_value leat_lower_mask(leat_lower *w, k_value rest) {
  k_builder *b = w->l.b;
  if (rest->op == K_CONST && rest->imm.i >= LEAT_LANES) return NULL;
  rest = k_binary(b, K_MIN, rest, k_i64(b, LEAT_LANES));
  return k_lt(b, k_lane(b, LEAT_i32, LEAT_LANES), k_cast(b, LEAT_i32, rest));
}

// -- Begin and end --------------------------------------------------------------------------------

const k_buffer *leat_lower_buffer(leat_lower *w, const leat_storage *storage) {
  const k_buffer *buffer = leat_map_get(&w->buffers, storage);
  if (buffer) return buffer;
  buffer = k_argument(w->l.b, k_dtype(storage->type.dtype));
  leat_map_set(&w->buffers, storage, (void *)buffer);
  leat_vec_push(w->table->cg->arena, &w->launch->buffers, (leat_storage *)storage);
  return buffer;
}

void leat_lower_reads(leat_lower *w, const leat_item *item) {
  for (uint32_t j = 0; j < item->reads.count; j++) {
    const leat_item *producer = item->reads.items[j]->producer;
    if (producer->unit && leat_unit_of(producer->unit) == w->unit) continue;
    leat_lower_fact(w, producer)->buffer = leat_lower_buffer(w, producer->storage);
  }
}

void leat_lower_reads_of(leat_lower *w, leat_value value) {
  const leat_item *item = leat_item_memory(w->table, value);
  if (item->role != LEAT_ROLE_FREE)
    leat_lower_fact(w, item)->buffer = leat_lower_buffer(w, item->storage);
  for (uint32_t i = 0; item->role == LEAT_ROLE_FREE && i < item->node->input_count; i++)
    leat_lower_reads_of(w, item->node->inputs[i]);
}

static void add_buffers(leat_lower *w) {
  const leat_unit *unit = w->unit;
  if (unit->scratch) leat_lower_buffer(w, unit->scratch);
  for (uint32_t i = 0; i < unit->members.count; i++) leat_lower_reads(w, unit->members.items[i]);
  for (uint32_t i = 0; i < unit->outputs.count; i++)
    leat_lower_buffer(w, unit->outputs.items[i].storage);
}

static void set_axes(leat_lower *w) {
  const leat_unit *unit = w->unit;
  if (!w->flat) {
    w->rank = unit->rank;
    w->reduced = unit->reduced;
    w->innermost = unit->innermost;
    for (int k = 0; k < unit->rank; k++) w->dims[k] = unit->dims[k];
    return;
  }
  w->rank = 2;
  w->dims[0] = leat_lower_product(w, unit->dims, w->leading);
  w->dims[1] = leat_lower_product(w, unit->dims + w->leading, unit->rank - w->leading);
  unsigned leading = (1u << w->leading) - 1;
  if (unit->reduced) w->reduced = unit->reduced == leading ? 1 : 2;
  if (unit->innermost) w->innermost = w->reduced;
}

static void add_ops(const leat_unit *unit, leat_text *text) {
  for (uint32_t i = 0; i < unit->members.count && text->size < 60; i++)
    leat_text_add(text, "%s%s", text->size ? " " : "",
                  leat_op_name(unit->members.items[i]->node->op));
}

static const char *title_of(const leat_table *table, const leat_unit *unit) {
  leat_text text = {0};
  for (uint32_t i = 0; i < unit->chain.count; i++) add_ops(unit->chain.items[i], &text);
  add_ops(unit, &text);
  if (text.size >= 60) leat_text_add(&text, " …");
  const char *title = leat_arena_strndup(table->cg->arena, text.data, text.size);
  leat_text_finish(&text);
  return title;
}

leat_lower *leat_lower_begin_bare(leat_table *table, leat_unit *unit, const char *title) {
  leat_arena *arena = table->cg->arena;
  leat_lower *w = leat_new(arena, leat_lower);
  w->table = table;
  w->unit = unit;
  w->launch = leat_new(arena, leat_launch);
  w->launch->kind = LEAT_LAUNCH_KERNEL;
  w->launch->title = title;
  k_begin(&w->builder, arena, title);
  w->general = table->initialises && unit->kind == LEAT_UNIT_LOOPS && !unit->reduced;
  w->builder.lacks_fma = !table->cg->options->target->has_fma;
  w->l = (leat_lowering){.b = &w->builder,
                         .lanes = 1,
                         .value_at = value_at,
                         .dim = dim_at,
                         .key = key_at,
                         .site = site_of,
                         .element = element_at};
  leat_map_init(&w->facts, table->cg->scratch);
  leat_map_init(&w->buffers, arena);
  set_axes(w);
  return w;
}

leat_lower *leat_lower_begin(leat_table *table, leat_unit *unit) {
  leat_lower *w = leat_lower_begin_bare(table, unit, title_of(table, unit));
  leat_lower_choose_flat(w);
  set_axes(w);
  add_buffers(w);
  return w;
}

// Local arrays in the place of arguments.
static int64_t add_tiles(leat_lower *w, const leat_unit *part, int64_t rows) {
  int64_t bytes = 0;
  for (uint32_t i = 0; i < part->outputs.count; i++) {
    leat_storage *storage = part->outputs.items[i].storage;
    if (!storage->in_tile) continue;
    const k_buffer *tile = leat_map_get(&w->buffers, leat_storage_owner(storage));
    leat_dtype dtype = k_dtype(storage->type.dtype);
    int64_t elements = rows * part->dims[part->rank - 1].value;
    if (!tile) {
      tile = k_local(&w->builder, K_SPACE_REGISTER, dtype, elements);
      bytes += elements * (int64_t)leat_dtype_size(dtype);
    }
    leat_map_set(&w->buffers, storage, (void *)tile);
  }
  return bytes;
}

leat_lower *leat_lower_begin_chain(leat_table *table, leat_unit *unit, int64_t rows,
                                   int64_t *out_bytes) {
  leat_lower *w = leat_lower_begin_bare(table, unit, title_of(table, unit));
  *out_bytes = 0;
  for (uint32_t i = 0; i < unit->chain.count; i++)
    *out_bytes += add_tiles(w, unit->chain.items[i], rows);
  for (uint32_t i = 0; i < unit->chain.count; i++) {
    w->unit = unit->chain.items[i];
    add_buffers(w);
  }
  w->unit = unit;
  add_buffers(w);
  return w;
}

static void forget_members(leat_lower *w) {
  for (uint32_t i = 0; i < w->unit->members.count; i++) {
    leat_fact *fact = leat_lower_fact(w, w->unit->members.items[i]);
    fact->buffer = NULL;
    fact->substitute = NULL;
  }
}

// What its members make is computed, what they read lies where the units before have left it.
void leat_lower_enter(leat_lower *w, leat_unit *part) {
  forget_members(w);
  w->unit = part;
  forget_members(w);
  w->pass = 0;
  w->inner = NULL;
  memset(w->joined, 0, sizeof w->joined);
  memset(w->at, 0, sizeof w->at);
  set_axes(w);
  for (uint32_t i = 0; i < part->members.count; i++) leat_lower_reads(w, part->members.items[i]);
}

void leat_lower_end(leat_lower *w, leat_dim tiles, double work) {
  w->launch->kernel = k_finish(&w->builder);
  w->launch->tiles = tiles;
  w->launch->work = leat_dim_const((int64_t)work);
  leat_vec_push(w->table->cg->arena, &w->unit->launches, w->launch);
}
