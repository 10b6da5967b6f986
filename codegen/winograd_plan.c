// Chooses the plan of a convolution by Winograd's transforms: blocks of tiles that a cache has room
// for, and who computes which of them.
#include "codegen/contract_plan.h"
#include "codegen/lower.h"

enum {
  LEAST_ROOMS = 2,    // with sums of a gradient of weights
  APART = LEAT_LANES, // elements between transformed tiles, which else were pages apart
};

typedef struct winograd_planner {
  leat_lower w; // for the arithmetic of dims
  const leat_target_info *target;
  leat_dtype dtype;
  leat_contraction_plan *p;
  leat_winograd_plan *to;
} winograd_planner;

// The tiles of images of the type, [N, rows, columns, …], in which `channels` are transformed.
static void choose_tiles(winograd_planner *s, const leat_type *image, int64_t channels) {
  leat_winograd_plan *to = s->to;
  to->what = leat_winograd_of(s->p->item->node);
  to->places = to->what.tile + to->what.window - 1;
  to->channels = channels;
  to->pitch = leat_round_up(channels, LEAT_LANES) + APART;
  to->down = leat_at_least_one(leat_divide_up(image->dims[1].value, to->what.tile));
  to->across = leat_at_least_one(leat_divide_up(image->dims[2].value, to->what.tile));
  leat_dim tiles[] = {image->dims[0], leat_dim_const(to->down), leat_dim_const(to->across)};
  to->tiles = leat_lower_product(&s->w, tiles, 3);
  s->p->one_b = true;
  s->p->batch = s->p->parts = leat_dim_const(1);
}

static void choose_axes(winograd_planner *s) {
  leat_contraction_plan *p = s->p;
  const leat_node *node = p->item->node;
  const leat_type *weights = leat_value_type(node->inputs[1]), *out = &node->outputs[0];
  choose_tiles(s, out, weights->dims[2].value);
  p->column_axis = p->item->axis[3];
  p->rows = leat_lower_product(&s->w, out->dims, 3);
  p->columns = out->dims[3];
  p->depth = leat_dim_const(s->to->what.window * s->to->what.window * s->to->channels);
}

// Tiles of a block: as many as there is room for, or fewer that are as many tasks, but not so few
// that the weights are read too often.
static int64_t tiles_of_block(const winograd_planner *s, int64_t high) {
  const leat_winograd_plan *to = s->to;
  int64_t size = (int64_t)leat_dtype_size(s->dtype) * to->places * to->places;
  int64_t most = leat_winograd_room(s->target) / (size * (to->pitch + s->p->width));
  if (most < high) most = high;
  if (!leat_dim_is_const(to->tiles)) return most / high * high;
  int64_t tiles = leat_at_least_one(to->tiles.value), blocks = leat_divide_up(tiles, most);
  int64_t worth = tiles / (2 * high);
  if (worth > s->target->cores) worth = s->target->cores;
  return leat_divide_up(tiles, blocks < worth ? worth : blocks);
}

// Of a block that is computed in registers: so that the least hang over.
static int choose_high(int64_t tiles, int most) {
  if (tiles <= most) return (int)tiles;
  int best = most;
  for (int high = most; high > most / 2; high--)
    if (leat_round_up(tiles, high) < leat_round_up(tiles, best)) best = high;
  return best;
}

static void choose_blocks(winograd_planner *s) {
  leat_contraction_plan *p = s->p;
  leat_winograd_plan *to = s->to;
  p->wide = leat_contraction_wide(s->target, to->tiles, p->columns, s->dtype);
  p->width = (int64_t)p->wide * LEAT_LANES;
  p->panels = leat_lower_ceil_div(&s->w, p->columns, p->width);
  int most = leat_contraction_most_high(s->target, p->wide, s->dtype);
  int64_t tiles = tiles_of_block(s, most);
  p->high = choose_high(tiles, most);
  to->block = leat_round_up(tiles, p->high);
  to->blocks = leat_lower_ceil_div(&s->w, to->tiles, to->block);
}

// Where there are few blocks, each has several tasks, of some panels each. A room serves one block
// after the other.
static void choose_tasks(winograd_planner *s) {
  leat_contraction_plan *p = s->p;
  leat_winograd_plan *to = s->to;
  int64_t most = 2 * s->target->cores;
  bool few = leat_dim_is_const(to->blocks) && to->blocks.value <= most;
  to->rooms = few ? to->blocks : leat_dim_const(most);
  int64_t panels = leat_at_least_one(p->panels.value);
  int64_t groups = leat_divide_up(s->target->cores, leat_at_least_one(to->rooms.value));
  p->tile_panels = (int)leat_divide_up(panels, groups < panels ? groups : panels);
  p->groups = leat_dim_const(leat_divide_up(panels, p->tile_panels));
}

static leat_type type_of_room(winograd_planner *s, const leat_dim *dims, int count) {
  return (leat_type){
      .dtype = s->dtype, .rank = 1, .dims = {leat_lower_product(&s->w, dims, count)}};
}

static winograd_planner begin(leat_table *table, leat_unit *unit, leat_contraction_plan *plan) {
  leat_winograd_plan *to = leat_new(table->cg->arena, leat_winograd_plan);
  plan->winograd = to;
  return (winograd_planner){.w = {.table = table, .unit = unit},
                            .target = table->cg->options->target,
                            .dtype = plan->item->node->outputs[0].dtype,
                            .p = plan,
                            .to = to};
}

// Room for blocks of tiles, and sums: for each of `groups` groups of panels.
static void make_room(winograd_planner *s, leat_dim groups) {
  leat_winograd_plan *to = s->to;
  int64_t places = (int64_t)to->places * to->places;
  to->transformed = places * to->block * to->pitch;
  to->others = places * to->block * s->p->width;
  to->room = to->transformed + to->others + to->sums;
  leat_dim rooms[] = {to->rooms, groups, leat_dim_const(to->room)};
  leat_type all = type_of_room(s, rooms, 3);
  s->w.unit->parts = leat_storage_arena(s->w.table, &all);
}

leat_type leat_winograd_prepare(leat_table *table, leat_unit *unit, leat_contraction_plan *plan) {
  winograd_planner s = begin(table, unit, plan);
  choose_axes(&s);
  choose_blocks(&s);
  choose_tasks(&s);
  make_room(&s, plan->groups);
  int64_t elements = (int64_t)s.to->places * s.to->places * s.to->channels * plan->width;
  leat_dim weights[] = {plan->panels, leat_dim_const(elements)};
  return type_of_room(&s, weights, 2);
}

// -- The weights' gradient ------------------------------------------------------------------------

static void choose_axes_of_weights(winograd_planner *s) {
  leat_contraction_plan *p = s->p;
  const leat_node *node = p->item->node;
  const leat_type *dy = leat_value_type(node->inputs[1]), *out = &node->outputs[0];
  choose_tiles(s, dy, leat_value_type(node->inputs[0])->dims[3].value);
  p->row_axes = p->item->axis[0] < 0 ? 0 : 1u << p->item->axis[0];
  p->column_axis = p->item->axis[1];
  p->groups = leat_dim_const(1);
  p->rows = out->dims[0];
  p->columns = out->dims[1];
  p->depth = leat_lower_product(&s->w, dy->dims, 3);
}

// Blocks of channels and panels of outputs have sums, to which each block of tiles adds its own: in
// several rooms, if the third cache has space for all.
static void choose_blocks_of_weights(winograd_planner *s) {
  leat_contraction_plan *p = s->p;
  leat_winograd_plan *to = s->to;
  p->wide = leat_contraction_wide(s->target, leat_dim_const(to->channels), p->columns, s->dtype);
  p->width = (int64_t)p->wide * LEAT_LANES;
  p->panels = leat_lower_ceil_div(&s->w, p->columns, p->width);
  p->tile_panels = (int)p->panels.value;
  int most = leat_contraction_most_high(s->target, p->wide, s->dtype);
  p->high = choose_high(leat_at_least_one(to->channels), most < APART ? most : APART);
  int64_t places = (int64_t)to->places * to->places, size = (int64_t)leat_dtype_size(s->dtype);
  to->sums = places * leat_round_up(to->channels, p->high) * p->panels.value * p->width;
  int64_t rooms = s->target->l3 * 3 / 4 / (size * leat_at_least_one(to->sums));
  if (rooms > s->target->cores) rooms = s->target->cores;
  if (rooms < LEAST_ROOMS) rooms = LEAST_ROOMS;
  to->block =
      leat_at_least_one(leat_winograd_room(s->target) / (size * places * (to->pitch + p->width)));
  if (leat_dim_is_const(to->tiles)) {
    int64_t each = leat_divide_up(leat_at_least_one(to->tiles.value), rooms);
    to->block = leat_divide_up(each, leat_divide_up(each, to->block));
  }
  to->rooms = leat_dim_const(rooms); // whatever the batch: what is summed together decides bits
}

void leat_winograd_prepare_weights(leat_table *table, leat_unit *unit,
                                   leat_contraction_plan *plan) {
  winograd_planner s = begin(table, unit, plan);
  choose_axes_of_weights(&s);
  choose_blocks_of_weights(&s);
  make_room(&s, plan->groups);
}
