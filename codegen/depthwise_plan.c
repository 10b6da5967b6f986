// Chooses the plan of a convolution of channels: how many outputs are computed together in
// registers, of how many channels, the ring of rows that they read, and who computes what.
#include "codegen/contract_plan.h"
#include "codegen/lower.h"

enum {
  LEAST_HIGH = 4,              // outputs that are worth all weights in registers
  MOST_HIGH = 8,               // outputs
  MOST_TAPS = 8,               // of a window's row together
  MOST_PART = 256,             // outputs of a row
  MOST_SUMMED = 4096,          // products of a sum in one go
  MOST_NEAR = 256,             // vectors of elements of a tile's rows and sums: in a first cache
  MOST_NEAR_OF_WEIGHTS = 1024, // in a second one: they wait for memory
  LEAST_ROWS = 7,              // of a tile, which copies some more
  TILE_NANOSECONDS = 2 * LEAT_TILE_NANOSECONDS,
};

typedef struct depthwise_planner {
  leat_lower w; // for the arithmetic of dims
  const leat_target_info *target;
  leat_contraction_plan *p;
  leat_depthwise_plan *to;
} depthwise_planner;

static int64_t greatest_divisor(int64_t a, int64_t b) {
  return b ? greatest_divisor(b, a % b) : a;
}

// And for weights: some are for what is read, of which compilers read the more ahead the more there
// are.
static int64_t registers_for_sums(const leat_target_info *target) {
  return target->vector_registers - target->vector_registers / 8 - !target->has_fma;
}

// A piece of a vector of channels is a register, so that the weights of a window can be in some.
// Of windows between elements, each of the outputs together has others: always the same ones.
static void choose_registers(depthwise_planner *s) {
  leat_depthwise_plan *to = s->to;
  const leat_window_axis *down = &to->what.axes[0], *across = &to->what.axes[1];
  int64_t size = (int64_t)leat_dtype_size(s->p->item->node->outputs[0].dtype);
  int64_t lanes = leat_at_least_one(s->target->vector_bytes / size);
  int64_t taps = down->window * across->window;
  to->lanes = lanes > LEAT_LANES ? LEAT_LANES : (int)lanes;
  int64_t room = registers_for_sums(s->target);
  to->together = down->base == 1 && taps + LEAST_HIGH <= room && taps <= LEAT_ACCUMULATORS;
  to->taps = across->window < MOST_TAPS ? (int)across->window : MOST_TAPS;
  int64_t high = room - (to->together ? taps : to->taps);
  high = high > MOST_HIGH ? MOST_HIGH : high < LEAST_HIGH ? LEAST_HIGH : high;
  int64_t period = across->base / greatest_divisor(across->base, across->stride);
  to->high = (int)(high < period ? period : high / period * period);
  if (to->high > leat_at_least_one(across->size) && period == 1)
    to->high = (int)leat_at_least_one(across->size);
}

// As large parts of a row as there is room for.
static void choose_ring(depthwise_planner *s) {
  leat_depthwise_plan *to = s->to;
  int64_t size = leat_at_least_one(to->what.axes[1].size);
  to->slots = leat_depthwise_slots(&to->what);
  to->part = leat_divide_up(size < MOST_PART ? size : MOST_PART, to->high) * to->high;
  while (to->part > to->high &&
         to->slots * leat_depthwise_pitch(&to->what, to->part) > LEAT_MOST_RING)
    to->part -= to->high;
  to->pitch = leat_depthwise_pitch(&to->what, to->part);
  to->across = leat_divide_up(size, to->part);
}

static void choose_axes(depthwise_planner *s, const leat_type *images) {
  leat_contraction_plan *p = s->p;
  const leat_window_axis *down = &s->to->what.axes[0], *across = &s->to->what.axes[1];
  p->column_axis = p->item->axis[3];
  p->columns = leat_dim_const(s->to->what.channels);
  p->wide = 1;
  p->width = LEAT_LANES;
  p->panels = leat_dim_const(leat_divide_up(s->to->what.channels, LEAT_LANES));
  p->one_b = true;
  p->batch = p->parts = leat_dim_const(1);
  p->rows = leat_lower_product(&s->w, images->dims, 3);
  p->depth = leat_dim_const(down->window * across->window);
}

// Nanoseconds of a row's part for a vector of channels.
static double cost_of_row(const depthwise_planner *s) {
  const leat_window_axis *down = &s->to->what.axes[0], *across = &s->to->what.axes[1];
  double products = (double)(down->window * across->window * s->to->part) * LEAT_LANES;
  return 2 * products / leat_cost_flops(s->target, s->p->item->node->outputs[0].dtype) + 1;
}

// Vectors of channels whose rows and sums are near at once.
static int64_t vectors_near(const depthwise_planner *s) {
  const leat_depthwise_plan *to = s->to;
  int64_t near = to->what.weights ? MOST_NEAR_OF_WEIGHTS : MOST_NEAR;
  int64_t most = near / (to->slots * to->pitch + to->part);
  int64_t panels = leat_at_least_one(s->p->panels.value);
  if (most >= panels) return panels;
  return leat_divide_up(panels, leat_divide_up(panels, leat_at_least_one(most)));
}

// Rows of one image by some vectors: as many as take long enough, for what rows share is copied for
// each tile.
static void choose_tiles(depthwise_planner *s, const leat_type *images, int64_t most_rows) {
  leat_contraction_plan *p = s->p;
  leat_depthwise_plan *to = s->to;
  int64_t panels = leat_at_least_one(p->panels.value),
          size = leat_at_least_one(to->what.axes[0].size);
  p->tile_panels = (int)vectors_near(s);
  p->groups = leat_dim_const(leat_divide_up(panels, p->tile_panels));
  int64_t rows = leat_at_least_one((int64_t)(TILE_NANOSECONDS / (cost_of_row(s) * p->tile_panels)));
  if (rows < LEAST_ROWS) rows = LEAST_ROWS;
  if (rows > most_rows) rows = most_rows;
  to->tile_rows = leat_divide_up(size, leat_divide_up(size, rows));
  to->down = leat_divide_up(size, to->tile_rows);
  leat_dim blocks[] = {images->dims[0], leat_dim_const(to->down), leat_dim_const(to->across)};
  p->blocks = leat_lower_product(&s->w, blocks, 3);
}

void leat_depthwise_prepare(leat_table *table, leat_unit *unit, leat_contraction_plan *plan) {
  leat_depthwise_plan *to = leat_new(table->cg->arena, leat_depthwise_plan);
  const leat_node *node = plan->item->node;
  plan->depthwise = to;
  to->what = leat_depthwise_of(node);
  depthwise_planner s = {.w = {.table = table, .unit = unit},
                         .target = table->cg->options->target,
                         .p = plan,
                         .to = to};
  const leat_type *images = to->what.weights ? leat_value_type(node->inputs[1]) : &node->outputs[0];
  choose_registers(&s);
  choose_ring(&s);
  choose_axes(&s, images);
  choose_tiles(&s, images,
               to->what.weights ? leat_at_least_one(MOST_SUMMED / to->part) : INT64_MAX);
  if (!to->what.weights) return;
  leat_dim room[] = {plan->blocks, plan->depth, plan->panels, leat_dim_const(LEAT_LANES)};
  leat_type type = {
      .dtype = node->outputs[0].dtype, .rank = 1, .dims = {leat_lower_product(&s.w, room, 4)}};
  unit->parts = leat_storage_arena(table, &type);
}
