// Flat kernels: where all that a unit reads spans its leading axes, the others, all or none, two
// axes are enough.
#include "codegen/lower.h"

// The axes of `type` are a run of the unit's axes, mapped by `axis`: bit 0 when they are the
// leading ones, bit 1 when the others, 3 when all; -1 when neither.
static int spans_of(const leat_lower *w, const leat_type *type, const int8_t *axis) {
  unsigned seen = 0, all = (1u << w->unit->rank) - 1, leading = (1u << w->leading) - 1;
  int last = -1;
  for (int k = 0; k < type->rank; k++) {
    if (axis[k] < 0) {
      if (!leat_dim_is(type->dims[k], 1)) return -1;
      continue;
    }
    if (axis[k] <= last) return -1;
    last = axis[k];
    seen |= 1u << last;
  }
  if (seen == all) return (leading != 0) | 2 * (leading != all);
  return seen == 0 ? 0 : seen == leading ? 1 : seen == (all & ~leading) ? 2 : -1;
}

static bool set_spans(leat_lower *w, const leat_item *item, int spans) {
  leat_fact *fact = leat_map_get(&w->facts, item);
  if (fact) return spans >= 0 && fact->spans == (unsigned)spans;
  if (spans < 0) return false;
  leat_lower_fact(w, item)->spans = (unsigned)spans;
  return true;
}

// Each axis of the index counts, so that two are not enough. Random numbers of several axes go by
// the element's place among all, along one axis if the kernel is to serve all shapes.
static bool is_positional(const leat_lower *w, const leat_node *node) {
  bool by_place = (node->info->flags & LEAT_FLAG_RANDOM) && node->outputs[0].rank > 1;
  if (by_place && w->general && w->leading == 0) return false;
  switch (node->info->reads) {
  case LEAT_READS_WHOLE:
  case LEAT_READS_SAME:
  case LEAT_READS_RESHAPED:
  case LEAT_READS_BROADCAST:
  case LEAT_READS_PERMUTED: return false;
  case LEAT_READS_INDEX:
  case LEAT_READS_PICKED:
  case LEAT_READS_PLACES:
  case LEAT_READS_GATHERED: return true;
  }
  return true;
}

// A free value spans what its operand does, and whatever its broadcasts add is not asked for.
static bool flat_operand(leat_lower *w, const leat_node *node, uint32_t i, const int8_t *axis);

static bool flat_value(leat_lower *w, const leat_item *item, const int8_t *axis) {
  const leat_node *node = item->node;
  if (!set_spans(w, item, spans_of(w, leat_item_type(item), axis))) return false;
  if (item->role != LEAT_ROLE_FREE && item->role != LEAT_ROLE_ALIAS) return true;
  if (is_positional(w, node)) return false;
  for (uint32_t i = 0; i < node->input_count; i++)
    if (!flat_operand(w, node, i, axis)) return false;
  return true;
}

static bool flat_operand(leat_lower *w, const leat_node *node, uint32_t i, const int8_t *axis) {
  int8_t operand[LEAT_MAX_RANK];
  if (!leat_item_operand_axes(node, i, operand)) return false;
  const leat_item *input = leat_item_of(w->table, node->inputs[i]);
  for (int k = 0; k < leat_item_type(input)->rank; k++)
    if (operand[k] >= 0) operand[k] = axis[operand[k]];
  return flat_value(w, input, operand);
}

// Tries the split of the unit's axes into `leading` and others.
static bool try_flat(leat_lower *w, int leading) {
  w->leading = leading;
  leat_map_init(&w->facts, w->table->cg->scratch);
  for (uint32_t i = 0; i < w->unit->members.count; i++) {
    const leat_item *item = w->unit->members.items[i];
    int8_t result[LEAT_MAX_RANK];
    for (int k = 0; k < item->node->outputs[0].rank; k++) {
      int axis = leat_item_result_axis(item, k);
      result[k] = axis < 0 ? -1 : item->axis[axis];
    }
    if (is_positional(w, item->node) || !flat_value(w, item, result)) return false;
    for (uint32_t j = 0; j < item->node->input_count; j++)
      if (!flat_operand(w, item->node, j, item->axis)) return false;
  }
  return true;
}

void leat_lower_choose_flat(leat_lower *w) {
  const leat_unit *unit = w->unit;
  unsigned all = (1u << unit->rank) - 1;
  if (unit->kind != LEAT_UNIT_LOOPS || unit->rank < 2) return;
  if (unit->by_lanes && unit->innermost != unit->reduced) return; // one axis would be one fold
  for (int leading = 0; leading < unit->rank && !w->flat; leading++) {
    unsigned rows = (1u << leading) - 1;
    bool fits = !unit->reduced || unit->reduced == rows || unit->reduced == (all & ~rows);
    if (unit->has_rows && !unit->reduced) fits = leading == unit->rank - 1;
    w->flat = fits && try_flat(w, leading);
  }
  if (!w->flat) leat_map_init(&w->facts, w->table->cg->scratch);
}
