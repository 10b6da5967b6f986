// Values that are made again where they are read, once units are what they are: one that costs an
// instruction or two, of values that are in memory anyway, is no longer stored and loaded but
// becomes free (units.h). What an activation's gradient reads of its forward pass is so the
// activation's operand and its one costly function, not every product on the way.
//
// A value that is stored for this alone counts against what it saves: that is how 1 + t and
// 1 - t * t come to be made of t.
#include "codegen/stages.h"

enum {
  MOST_INSTRUCTIONS = 4, // of a value, from what is in memory on
  MOST_OPERANDS = 8,
  MUCH_SMALLER = 16, // times: a value of another unit that is hardly noticed
};

// What a value is made of again.
typedef struct recipe {
  const leat_item *operands[MOST_OPERANDS];
  int count, instructions;
} recipe;

typedef struct remaker {
  leat_table *table;
  const leat_unit *unit;
  const leat_item *also; // a member of it that would be stored, too; NULL: none
} remaker;

static double bytes_of(const leat_item *item) {
  return leat_cost_bytes(leat_item_type(item));
}

static leat_unit *unit_of(const leat_item *item) {
  return item->unit ? leat_unit_of(item->unit) : NULL;
}

static bool is_cheap(const leat_item *item) {
  const leat_node *node = item->node;
  return item->role == LEAT_ROLE_WORK && node->info->kind == LEAT_KIND_ELEMENT &&
         node->info->reads == LEAT_READS_SAME && !(node->info->flags & LEAT_FLAG_FAILS) &&
         leat_op_cost_of(node->op).picoseconds <= LEAT_INSTRUCTION_PICOSECONDS &&
         leat_op_cost_of(node->op).instructions <= MOST_INSTRUCTIONS;
}

// Whether it could be computed by all who read it, in whatever unit.
static bool may_be_free(const leat_item *item) {
  if (!is_cheap(item) || item->wanted || item->once || item->storage ||
      item->node->control_count > 0)
    return false;
  for (uint32_t i = 0; i < item->users.count; i++) {
    const leat_access *access = item->users.items[i];
    if (!access->aligned || access->consumer->role != LEAT_ROLE_WORK) return false;
  }
  return true;
}

static bool has(const recipe *r, const leat_item *item) {
  for (int i = 0; i < r->count; i++)
    if (r->operands[i] == item) return true;
  return false;
}

// What a variable or a region holds may be another when they run who read what is made of it.
static bool stays(const remaker *s, const leat_item *operand, const leat_item *whole) {
  if (unit_of(operand) == s->unit) return operand == s->also || leat_item_is_read_outside(operand);
  return !operand->held && bytes_of(operand) * MUCH_SMALLER <= bytes_of(whole);
}

static bool find_recipe(const remaker *s, const leat_item *item, const leat_item *whole,
                        recipe *out) {
  out->instructions += leat_op_cost_of(item->node->op).instructions;
  if (out->instructions > MOST_INSTRUCTIONS) return false;
  for (uint32_t i = 0; i < item->reads.count; i++) {
    const leat_access *access = item->reads.items[i];
    const leat_item *operand = access->producer;
    if (!access->aligned) return false;
    if (stays(s, operand, whole)) {
      if (has(out, operand)) continue;
      if (out->count == MOST_OPERANDS) return false;
      out->operands[out->count++] = operand;
    } else if (unit_of(operand) != s->unit || !is_cheap(operand) ||
               !find_recipe(s, operand, whole, out)) {
      return false;
    }
  }
  return true;
}

// -- What it saves --------------------------------------------------------------------------------

static bool reads(const leat_unit *unit, const leat_item *value) {
  for (uint32_t i = 0; i < value->users.count; i++)
    if (unit_of(value->users.items[i]->consumer) == unit) return true;
  return false;
}

// Bytes that are moved less when the item is made again of this. Each store is a load as well.
static double saved(const remaker *s, const leat_item *item, const recipe *r) {
  double bytes = 2 * bytes_of(item);
  for (uint32_t i = 0; i < item->users.count; i++) {
    const leat_unit *reader = unit_of(item->users.items[i]->consumer);
    bool again = reader == s->unit;
    for (uint32_t j = 0; j < i; j++) again |= unit_of(item->users.items[j]->consumer) == reader;
    if (again) continue;
    bytes += bytes_of(item);
    for (int j = 0; j < r->count; j++)
      if (!reads(reader, r->operands[j])) bytes -= bytes_of(r->operands[j]);
  }
  return bytes;
}

static bool is_stored(const leat_item *item) {
  return leat_item_is_read_outside(item);
}

// So that the unit goes on to store something.
static bool is_within(const remaker *s, const recipe *r) {
  for (int i = 0; i < r->count; i++)
    if (unit_of(r->operands[i]) == s->unit) return true;
  return false;
}

static double gain_of(const remaker *s, const leat_item *item) {
  recipe r = {.count = 0};
  if (item == s->also || !is_stored(item) || !may_be_free(item) || !find_recipe(s, item, item, &r))
    return 0;
  return is_within(s, &r) ? saved(s, item, &r) : 0;
}

// -- Becoming free --------------------------------------------------------------------------------

static void read_instead(leat_table *table, leat_access *access, const leat_item *free_one) {
  leat_item *consumer = access->consumer;
  uint32_t kept = 0;
  for (uint32_t i = 0; i < consumer->reads.count; i++)
    if (consumer->reads.items[i] != access)
      consumer->reads.items[kept++] = consumer->reads.items[i];
  consumer->reads.count = kept;
  for (uint32_t i = 0; i < free_one->reads.count; i++) {
    const leat_access *through = free_one->reads.items[i];
    leat_access *direct = leat_new(table->cg->arena, leat_access);
    *direct = (leat_access){through->producer, consumer, true, through->producer, {0}};
    for (int k = 0; k < leat_item_type(through->producer)->rank; k++)
      direct->axis[k] = through->axis[k] < 0 ? -1 : access->axis[through->axis[k]];
    leat_vec_push(table->cg->arena, &consumer->reads, direct);
    leat_vec_push(table->cg->arena, &through->producer->users, direct);
  }
  consumer->cost += free_one->cost;
}

static void forget(leat_item *operand, const leat_item *reader) {
  uint32_t kept = 0;
  for (uint32_t i = 0; i < operand->users.count; i++)
    if (operand->users.items[i]->consumer != reader)
      operand->users.items[kept++] = operand->users.items[i];
  operand->users.count = kept;
}

static void leave_unit(leat_item *item) {
  leat_unit *unit = leat_unit_of(item->unit);
  uint32_t kept = 0;
  for (uint32_t i = 0; i < unit->members.count; i++)
    if (unit->members.items[i] != item) unit->members.items[kept++] = unit->members.items[i];
  unit->members.count = kept;
  item->unit = NULL;
}

static void become_free(leat_table *table, leat_item *item) {
  const leat_unit *unit = leat_unit_of(item->unit);
  for (uint32_t i = 0; i < item->users.count; i++) read_instead(table, item->users.items[i], item);
  item->users.count = 0;
  item->role = LEAT_ROLE_FREE;
  leave_unit(item);
  for (uint32_t i = 0; i < item->reads.count; i++) {
    leat_item *operand = item->reads.items[i]->producer;
    forget(operand, item);
    if (!operand->users.count && unit_of(operand) == unit) become_free(table, operand);
  }
}

// The last member that it gains to make again, given what is stored; NULL: none.
static leat_item *choose(const remaker *s) {
  leat_item *chosen = NULL;
  for (uint32_t i = 0; i < s->unit->members.count; i++) {
    leat_item *item = s->unit->members.items[i];
    if ((!chosen || item->position > chosen->position) && gain_of(s, item) > 0) chosen = item;
  }
  return chosen;
}

static bool make_again(remaker *s) {
  leat_item *item = choose(s);
  if (item) become_free(s->table, item);
  return item != NULL;
}

// A member that is worth storing for what can be made of it.
static const leat_item *worth_storing(const remaker *s) {
  remaker with = *s;
  for (uint32_t i = 0; i < s->unit->members.count; i++) {
    double gain = 0;
    with.also = s->unit->members.items[i];
    if (is_stored(with.also) || with.also->node->info->kind != LEAT_KIND_ELEMENT) continue;
    for (uint32_t j = 0; j < s->unit->members.count; j++)
      gain += gain_of(&with, s->unit->members.items[j]);
    if (gain > 2 * bytes_of(with.also)) return with.also;
  }
  return NULL;
}

void leat_remake(leat_table *table, const leat_unit *unit) {
  remaker s = {.table = table, .unit = unit};
  do {
    while (make_again(&s)) {
    }
    s.also = worth_storing(&s);
  } while (s.also && make_again(&s));
}
