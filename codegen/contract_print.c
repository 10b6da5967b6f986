// Plans of contractions as text: a line each in the dump of `plan`, and for `leat inspect --plan`
// the costliest first.
#include "codegen/contract_plan.h"
#include "codegen/stages.h"
#include "ir/print.h"
#include "ops/reduce.h"

#include <stdlib.h>

enum { FEW = 20 }; // that are shown, unless all are wanted

static const char *const ways[] = {
    [LEAT_OPERAND_DIRECT] = "in place",
    [LEAT_OPERAND_GATHERED] = "gathered",
    [LEAT_OPERAND_PACKED] = "packed",
    [LEAT_OPERAND_STORED] = "stored as panels",
    [LEAT_OPERAND_TURNED] = "turned",
    [LEAT_OPERAND_PREPARED] = "packed once",
    [LEAT_OPERAND_TILED] = "packed by each tile",
    [LEAT_OPERAND_MADE] = "made in the tile",
};

static void print_sizes(const leat_contraction_plan *p, leat_text *out) {
  const leat_dim sizes[] = {p->batch, p->rows, p->columns, p->depth};
  int first = leat_dim_is(p->batch, 1);
  for (int i = first; i < 4; i++) {
    if (i > first) leat_text_add(out, i == 3 ? " over " : " x ");
    leat_dim_print(sizes[i], out);
  }
}

static void print_winograd(const leat_contraction_plan *p, leat_text *out) {
  const leat_winograd_plan *w = p->winograd;
  leat_text_add(out, "by transforms of %d x %d outputs, %lld tiles together, ", w->what.tile,
                w->what.tile, (long long)w->block);
  leat_text_add(out, "blocks of %d tiles x %d vectors, panels of %lld columns", p->high, p->wide,
                (long long)p->width);
  if (p->tile_panels > 1) leat_text_add(out, ", %d of them together", p->tile_panels);
  if (w->what.weights) leat_text_add(out, ", parts of the tiles added");
}

static void print_depthwise(const leat_contraction_plan *p, leat_text *out) {
  const leat_depthwise_plan *d = p->depthwise;
  leat_text_add(out, "by channels, blocks of %d outputs x %d channels, %s, ", d->high, d->lanes,
                d->together ? "a window together" : "a window row by row");
  leat_text_add(out, "tiles of %lld rows of %lld x %d vectors", (long long)d->tile_rows,
                (long long)d->part, p->tile_panels);
  if (d->what.weights) leat_text_add(out, ", parts added");
}

static void print_last(const leat_block *last, leat_text *out) {
  leat_text_add(out, ", the last by blocks of %d rows x %d columns", last->high,
                last->wide * last->lanes);
}

static void print_blocks(const leat_contraction_plan *p, leat_text *out) {
  if (p->winograd) {
    print_winograd(p, out);
    return;
  }
  if (p->depthwise) {
    print_depthwise(p, out);
    return;
  }
  leat_text_add(out, "blocks of %d rows x %d vectors, panels of %lld columns, tiles of %lld rows",
                p->high, p->wide, (long long)p->width, (long long)p->tile_rows);
  if (p->tile_panels > 1) leat_text_add(out, " x %d panels", p->tile_panels);
  bool fewer = p->last.wide * p->last.lanes < p->width;
  if (p->last.high && fewer) print_last(&p->last, out);
  if (p->deep) leat_text_add(out, ", k by %d", LEAT_DEPTH_BLOCK);
  if (p->split) leat_text_add(out, ", parts of %d added", LEAT_PRODUCT_BLOCK);
}

static void print_operands(const leat_contraction_plan *p, leat_text *out) {
  if (p->depthwise) {
    leat_text_add(out, "a copied, %lld rows of %lld at a time", (long long)p->depthwise->slots,
                  (long long)p->depthwise->pitch);
    return;
  }
  if (p->winograd) {
    if (p->winograd->what.weights) leat_text_add(out, "a and ");
    leat_text_add(out, "b transformed%s%s", p->b == LEAT_OPERAND_PREPARED ? " once" : "",
                  p->winograd->what.turned ? ", turned" : "");
    return;
  }
  leat_text_add(out, "a %s%s", ways[p->a], p->transposed ? " by columns" : "");
  if (p->strips) leat_text_add(out, " in strips");
  if (p->run) leat_text_add(out, " in runs of %lld", (long long)p->run);
  leat_text_add(out, ", b %s%s", ways[p->b], p->across ? " from across" : "");
  if (p->ahead) leat_text_add(out, ", %d rows ahead", p->ahead);
  if (p->ahead_of && p->b == LEAT_OPERAND_PACKED)
    leat_text_add(out, " ahead of `%s`", p->ahead_of->members.items[0]->node->name);
  if (p->packed) leat_text_add(out, " for `%s`", p->packed->contraction->item->node->name);
}

void leat_contraction_plan_print(const leat_contraction_plan *p, leat_text *out) {
  leat_text_add(out, "  plan ");
  print_sizes(p, out);
  leat_text_add(out, ": ");
  print_blocks(p, out);
  leat_text_add(out, "; ");
  print_operands(p, out);
  leat_text_add(out, "\n");
}

// -- leat inspect --plan --------------------------------------------------------------------------

// As ops/cost.h estimates them: a dim that is not known counts as LEAT_UNKNOWN_EXTENT.
typedef struct planned {
  const leat_unit *unit;
  double flops;       // by definition, whatever it is computed by
  double bytes;       // that are read and written
  double nanoseconds; // of one core
} planned;

typedef leat_vec(planned) planned_list;

static double flops_of(const leat_unit *unit) {
  const leat_contraction_plan *p = unit->contraction;
  const leat_dim sizes[] = {p->batch, p->rows, p->columns, p->depth};
  return 2 * leat_cost_elements(sizes, 4);
}

// With what is in its chain.
static planned estimate(const leat_table *table, const leat_unit *unit) {
  double flops = flops_of(unit);
  if (unit->chain.count) flops += flops_of(unit->chain.items[0]);
  return (planned){unit, flops, leat_unit_work(table, unit).bytes, leat_unit_estimate(table, unit)};
}

// Those of the bodies in it, too.
static void find(const leat_table *table, leat_arena *arena, planned_list *out) {
  for (uint32_t i = 0; i < table->units.count; i++) {
    const leat_unit *unit = table->units.items[i];
    if (unit->kind == LEAT_UNIT_CONTRACT) leat_vec_push(arena, out, estimate(table, unit));
    for (int k = 0; unit->kind == LEAT_UNIT_REGION && k < 2; k++)
      if (unit->region.tables[k]) find(unit->region.tables[k], arena, out);
  }
}

static int costliest_first(const void *a, const void *b) {
  const planned *x = a, *y = b;
  if (x->nanoseconds != y->nanoseconds) return x->nanoseconds < y->nanoseconds ? 1 : -1;
  return x->unit->position < y->unit->position ? -1 : x->unit->position > y->unit->position;
}

static void print_time(double nanoseconds, leat_text *out) {
  bool milli = nanoseconds >= 1e6;
  leat_text_add(out, "%.3g %s", nanoseconds * (milli ? 1e-6 : 1e-3), milli ? "ms" : "us");
}

static void print_way(const leat_contraction_plan *p, leat_text *out) {
  leat_text_add(out, "\n    ");
  print_blocks(p, out);
  leat_text_add(out, "\n    ");
  print_operands(p, out);
  leat_text_add(out, "\n");
}

static void print_before(const leat_contraction_plan *p, leat_text *out) {
  leat_text_add(out, "    by rows of `%s`: ", p->item->node->name);
  print_sizes(p, out);
  print_way(p, out);
}

static void print_planned(const planned *found, double all, leat_text *out) {
  const leat_contraction_plan *p = found->unit->contraction;
  leat_text_add(out, "\n  `%s`%s: ", p->item->node->name, found->unit->again ? ", again" : "");
  print_sizes(p, out);
  leat_text_add(out, ", %.3g Mflop, %.3g MB, ", 1e-6 * found->flops, 1e-6 * found->bytes);
  print_time(found->nanoseconds, out);
  leat_text_add(out, ", %.2g %% of all", 100 * found->nanoseconds / all);
  print_way(p, out);
  if (found->unit->chain.count) print_before(found->unit->chain.items[0]->contraction, out);
}

void leat_plans_print(const leat_codegen_state *cg, bool all, leat_text *out) {
  leat_arena *arena = leat_arena_create();
  planned_list found = {0};
  double nanoseconds = 0;
  for (uint32_t i = 0; i < cg->tables.count; i++) find(cg->tables.items[i], arena, &found);
  for (uint32_t i = 0; i < found.count; i++) nanoseconds += found.items[i].nanoseconds;
  if (found.count) qsort(found.items, found.count, sizeof *found.items, costliest_first);
  leat_text_add(out, "%u contraction%s, for %s: ", found.count, found.count == 1 ? "" : "s",
                cg->options->target->name);
  print_time(nanoseconds, out);
  leat_text_add(out, " of one core\n");
  for (uint32_t i = 0; i < found.count && (all || i < FEW); i++)
    print_planned(&found.items[i], nanoseconds, out);
  if (found.count > FEW && !all) leat_text_add(out, "\n  and %u more (--all)\n", found.count - FEW);
  leat_arena_destroy(arena);
}
