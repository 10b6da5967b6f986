// Branches and loops: the tables of their bodies, which are compiled as the step is.
//
// What a body gives is assigned, and what a loop carries read, like a variable: the memory of the
// node's outputs is what stands for it. So all that holds of variables (an assignment in place, a
// copy of what is used after it) holds here. What a body gives of what is carried around it is
// changed where it lies (codegen/in_place.c). The values of a body lie in one piece of memory of
// the table around it, that of the other body too: never do both run. Those of a body with checks
// of dims (check_dims) lie in an arena, which is empty where it cannot run; those whose sizes need
// dims that the body binds in one for these, which is made when they are bound, in each iteration.
#include "codegen/contract_plan.h"

#include <assert.h>

static bool is_loop(const leat_node *node) {
  return node->op == LEAT_OP_while_loop;
}

// The bodies are the first attributes.
static uint32_t body_count(const leat_node *node) {
  uint32_t count = 0;
  while (count < (uint32_t)node->info->attr_count && leat_node_body(node, (int)count)) count++;
  return count;
}

static leat_graph *body_of(const leat_node *node, uint32_t i) {
  return leat_node_body(node, (int)i);
}

// -- Bodies ---------------------------------------------------------------------------------------

typedef struct beginner {
  leat_codegen_state *cg;
  uint32_t states;
} beginner;

static leat_state *new_state(beginner *b, const char *name, const leat_type *type) {
  leat_state *state = leat_new(b->cg->arena, leat_state);
  *state =
      (leat_state){.id = b->cg->graph->states.count + b->states++, .name = name, .type = *type};
  return state;
}

static leat_state *result_state(beginner *b, leat_node *node, uint32_t i) {
  leat_state *state = new_state(b, node->name, &node->outputs[i]);
  leat_map_set(&b->cg->homes, state, node);
  return state;
}

leat_node *leat_region_append(leat_graph *body, leat_op op, leat_state *state,
                              const leat_value *input) {
  leat_attr attr = {.state = state};
  const char *path = leat_intern_path(body->strings, body->owner->name,
                                      leat_intern(body->strings, leat_op_name(op)));
  leat_node *node =
      leat_graph_append(body, op, leat_graph_unique_name(body, path), input, input != NULL, &attr);
  node->span = body->owner->span;
  node->place = body->owner->place;
  if (input) return node;
  leat_type *type = leat_new(body->arena, leat_type);
  *type = state->type;
  node->outputs = type;
  return node;
}

leat_node *leat_region_read_behind(leat_graph *body, leat_state *state, leat_node *assign) {
  leat_node *read = leat_region_append(body, LEAT_OP_read, state, NULL);
  leat_node_add_control(body, read, assign);
  return read;
}

static bool is_used_once(const leat_graph *body, const leat_node *value) {
  uint32_t uses = 0;
  for (uint32_t i = 0; i < body->nodes.count; i++)
    for (uint32_t k = 0; k < body->nodes.items[i]->input_count; k++)
      uses += body->nodes.items[i]->inputs[k].node == value;
  return uses == 1;
}

// Whether result i of the loop is what it carries there, with something behind it along axis 0:
// then no turn copies what has grown before.
static bool appends(const leat_graph *body, uint32_t i) {
  const leat_node *node = body->yield->inputs[i].node;
  return leat_region_grows(body->owner, i, 0) && node->op == LEAT_OP_concat &&
         node->input_count == 2 && leat_node_attr(node, "axis")->i == 0 &&
         node->inputs[0].node == body->params.items[i] && is_used_once(body, node);
}

// The state holds it already.
static bool is_there(const leat_state *state, leat_value value) {
  return value.node->op == LEAT_OP_read && leat_node_state(value.node) == state;
}

static uint32_t number_of(leat_state *const *states, const leat_state *state) {
  uint32_t i = 0;
  while (states[i] != state) i++;
  return i;
}

// Each result that is held by another state than its own.
static void rotate_results(beginner *b, leat_graph *body, leat_state *const *states,
                           leat_state *const *placed) {
  leat_arena *arena = b->cg->arena;
  uint32_t count = body->yield->input_count;
  bool *done = leat_new_array(arena, bool, (size_t)count + 1);
  for (uint32_t first = 0; first < count; first++) {
    if (done[first] || placed[first] == states[first]) continue;
    leat_rotation *rotation = leat_new(arena, leat_rotation);
    rotation->node = body->owner;
    for (uint32_t i = first; !done[i]; i = number_of(states, placed[i])) {
      leat_vec_push(arena, &rotation->results, i);
      leat_vec_push(arena, &rotation->states, states[i]);
      leat_map_set(&b->cg->rotated, states[i], states[i]);
      leat_node *node =
          leat_region_append(body, LEAT_OP_assign, states[i], &body->yield->inputs[i]);
      leat_map_set(&b->cg->rotations, node, rotation);
      done[i] = true;
    }
  }
}

// In the place of `yield`, which is the last of its inputs' users.
static void assign_results(beginner *b, leat_graph *body, leat_state *const *states,
                           leat_state *const *placed) {
  leat_node *yield = body->yield;
  uint32_t kept = 0;
  bool *appended = leat_new_array(b->cg->arena, bool, (size_t)yield->input_count + 1);
  for (uint32_t i = 0; is_loop(body->owner) && i < body->owner->output_count; i++)
    appended[i] = yield->input_count == body->owner->output_count && appends(body, i);
  for (uint32_t i = 0; i < body->nodes.count; i++)
    if (body->nodes.items[i] != yield) body->nodes.items[kept++] = body->nodes.items[i];
  body->nodes.count = kept;
  leat_graph_renumber(body);
  for (uint32_t i = 0; i < yield->input_count; i++) {
    leat_value value = yield->inputs[i];
    if (is_there(placed[i], value)) continue;
    if (appended[i]) value = value.node->inputs[1];
    leat_node *node = leat_region_append(body, LEAT_OP_assign, placed[i], &value);
    if (appended[i]) leat_map_set(&b->cg->appends, node, node);
    if (placed[i] != states[i])
      yield->inputs[i] = (leat_value){leat_region_read_behind(body, placed[i], node), 0};
  }
  rotate_results(b, body, states, placed);
}

static void read_state(leat_node *param, leat_state *state) {
  leat_attr *attr = leat_new(param->graph->arena, leat_attr);
  attr->state = state;
  param->attrs = attr;
  leat_node_set_op(param, LEAT_OP_read);
}

// The parameters that lie where a result of the node is to be.
static void read_states(const leat_region_states *states, const leat_node *node, leat_graph *body) {
  uint32_t first = node->input_count - body->params.count;
  for (uint32_t i = 0; i < node->output_count; i++)
    if (is_loop(node))
      read_state(body->params.items[i], states->results[i]);
    else if (states->kept[i] && states->begins[i] != LEAT_NO_INPUT)
      read_state(body->params.items[states->begins[i] - first], states->results[i]);
}

leat_region_states *leat_region_states_of(leat_codegen_state *cg, const leat_node *node) {
  leat_region_states *states = leat_map_get(&cg->region_states, node);
  if (states) return states;
  states = leat_new(cg->arena, leat_region_states);
  states->results = leat_new_array(cg->arena, leat_state *, node->output_count);
  states->kept = leat_new_array(cg->arena, bool, node->output_count);
  states->begins = leat_new_array(cg->arena, uint32_t, node->output_count);
  states->pools = leat_new_array(cg->arena, leat_storage *, node->output_count);
  leat_map_set(&cg->region_states, node, states);
  return states;
}

static void begin_graph(beginner *b, leat_graph *graph);

static void begin_node(beginner *b, leat_node *node) {
  leat_region_states *states = leat_region_states_of(b->cg, node);
  for (uint32_t i = 0; i < node->output_count; i++)
    if (!states->kept[i]) states->results[i] = result_state(b, node, i);
  leat_type truth = leat_type_scalar(LEAT_bool);
  if (is_loop(node)) states->predicate = new_state(b, node->name, &truth);
  for (uint32_t i = 0; i < body_count(node); i++) {
    leat_graph *body = body_of(node, i);
    bool condition = is_loop(node) && i == 0;
    read_states(states, node, body);
    leat_state **to = condition ? &states->predicate : states->results, **placed = to;
    if (!condition) leat_region_update_in_place(b->cg, body, to, &placed);
    assign_results(b, body, to, placed);
    begin_graph(b, body);
  }
}

static void begin_graph(beginner *b, leat_graph *graph) {
  for (uint32_t i = 0; i < graph->nodes.count; i++) {
    leat_node *node = graph->nodes.items[i];
    if (node->info->kind == LEAT_KIND_REGION) begin_node(b, node);
  }
}

uint32_t leat_regions_begin(leat_codegen_state *cg) {
  beginner b = {.cg = cg};
  begin_graph(&b, cg->graph);
  return b.states;
}

// -- The unit -------------------------------------------------------------------------------------

// Inputs that are copied to what the loop carries, before it.
static uint32_t copied_inputs(const leat_node *node) {
  return is_loop(node) ? node->output_count : 0;
}

// Parameters lie where the inputs do.
static void set_parameters(leat_table *table, const leat_node *node, const leat_graph *body) {
  uint32_t first = node->input_count - body->params.count;
  for (uint32_t i = copied_inputs(node); i < body->params.count; i++) {
    const leat_item *memory = leat_item_memory(table, node->inputs[first + i]);
    leat_map_set(&table->cg->leaves, body->params.items[i], memory->storage);
  }
}

static bool table_waits(const leat_table *table) {
  if (table->tasks.count > 1) return true;
  return table->tasks.count == 1 &&
         leat_unit_task_kind(table->tasks.items[0].units.items[0]) != LEAT_TASK_SEGMENT;
}

static bool table_exchanges(const leat_table *table) {
  for (const leat_unit *unit = table->head; unit; unit = unit->next)
    if (leat_unit_sends(unit) || leat_unit_receives(unit)) return true;
  return false;
}

static leat_table *arrange_body(leat_table *outer, leat_unit *region, const leat_graph *body) {
  leat_codegen_state *cg = outer->cg;
  leat_table *table = leat_new(cg->arena, leat_table);
  leat_vec(leat_node *) roots = {0};
  *table = (leat_table){.cg = cg, .body = body, .around = outer, .region = region};
  leat_vec_push(cg->arena, &table->arenas, (leat_arena_plan){0});
  table->item_of = leat_new_array(cg->arena, leat_item *, body->nodes.count + 1);
  for (uint32_t i = 0; i < body->nodes.count; i++) {
    leat_node *node = body->nodes.items[i];
    bool checks = node->op == LEAT_OP_check_dims;
    table->has_checks |= checks;
    if (node->effect && !checks) leat_vec_push(cg->arena, &roots, node);
  }
  leat_table_arrange(table, roots.items, roots.count);
  return table;
}

// In one pool with those of its type.
static leat_storage *rotated_result(leat_table *table, const leat_node *node, uint32_t i) {
  leat_region_states *states = leat_region_states_of(table->cg, node);
  leat_storage *pool = NULL;
  for (uint32_t k = 0; k < i; k++)
    if (states->pools[k] && leat_type_equal(&node->outputs[k], &node->outputs[i]))
      pool = states->pools[k];
  leat_storage *slot = leat_storage_slot(table, pool, &node->outputs[i]);
  states->pools[i] = slot->place.pool;
  return slot;
}

leat_storage *leat_region_result(leat_table *table, const leat_node *node, uint32_t i) {
  leat_codegen_state *cg = table->cg;
  const leat_type *type = &node->outputs[i];
  const leat_region_states *states = leat_region_states_of(cg, node);
  if (states->kept[i]) return leat_storage_variable(cg, states->results[i]);
  if (leat_map_get(&cg->rotated, states->results[i])) return rotated_result(table, node, i);
  if (!leat_region_result_grows(node, i)) return leat_storage_arena(table, type);
  leat_vec_push(cg->arena, &cg->grown, type);
  return leat_storage_grown(cg, cg->grown.count - 1, type);
}

// Along the axes that result i of the node grows along.
static void add_extents(leat_codegen_state *cg, const leat_node *node, uint32_t i,
                        const leat_storage *storage, const leat_type *type, leat_extents *out) {
  for (int32_t k = 0; k < type->rank; k++)
    if (leat_region_grows(node, i, k))
      leat_vec_push(cg->arena, out, (leat_extent){type->dims[k], storage->grown, (uint32_t)k});
}

void leat_region_arrange(leat_table *table, leat_unit *unit) {
  leat_codegen_state *cg = table->cg;
  leat_item *item = unit->members.items[0];
  const leat_node *node = item->node;
  const leat_region_states *states = leat_map_get(&cg->region_states, node);
  leat_region_tables *region = &unit->region;
  for (uint32_t i = 0; i < node->output_count; i++) {
    if (!is_loop(node)) item[i].storage = leat_region_result(table, node, i);
    cg->variables[states->results[i]->id] = item[i].storage;
    if (is_loop(node)) leat_vec_push(cg->arena, &region->carried, item[i].storage);
    add_extents(cg, node, i, item[i].storage, &node->outputs[i], &region->extents);
  }
  if (states->predicate) {
    region->predicate = leat_storage_arena(table, &states->predicate->type);
    cg->variables[states->predicate->id] = region->predicate;
  } else {
    region->predicate = leat_item_memory(table, node->inputs[0])->storage;
  }
  for (uint32_t i = 0; i < body_count(node); i++) {
    set_parameters(table, node, body_of(node, i));
    region->tables[i] = arrange_body(table, unit, body_of(node, i));
    for (uint32_t k = 0; k < copied_inputs(node); k++)
      add_extents(cg, node, k, item[k].storage, &body_of(node, i)->params.items[k]->outputs[0],
                  &region->tables[i]->extents);
    region->waits |= table_waits(region->tables[i]);
    region->exchanges |= table_exchanges(region->tables[i]);
  }
}

// -- Memory ---------------------------------------------------------------------------------------

// Its own are what is sized by dims that the body binds, and all if it has checks: while these do
// not hold, its sizes mean nothing.
static void take_own_arenas(leat_table *body) {
  leat_codegen_state *cg = body->cg;
  for (uint32_t i = body->has_checks ? 0 : 1; i < body->arenas.count; i++) {
    leat_arena_plan *own = &body->arenas.items[i];
    own->needs = leat_dim_const(-1); // no set of dims
    own->table = body;
    own->number = cg->arenas.count;
    leat_vec_push(cg->arena, &cg->arenas, *own);
  }
}

static leat_status place_bodies(leat_table *table, leat_unit *unit) {
  leat_codegen_state *cg = table->cg;
  leat_type bytes = {.dtype = LEAT_u8, .rank = 1, .dims = {leat_dim_const(0)}};
  unit->scratch = leat_storage_arena(table, &bytes);
  for (uint32_t i = 0; i < 2; i++) {
    leat_table *body = unit->region.tables[i];
    leat_dim *all = &unit->scratch->type.dims[0];
    take_own_arenas(body);
    if (body->has_checks) continue;
    body->memory = unit->scratch;
    if (!leat_dim_max(cg->graph->dims, *all, body->arenas.items[0].size, all))
      return leat_fail(cg->error, LEAT_UNSUPPORTED, "a step needs too much memory");
  }
  return LEAT_OK;
}

leat_status leat_region_prepare(leat_table *table, leat_unit *unit) {
  leat_region_tables *region = &unit->region;
  for (uint32_t i = 0; i < 2; i++) {
    LEAT_TRY(leat_table_prepare(region->tables[i]));
    LEAT_TRY(leat_table_lower(region->tables[i]));
    leat_panels_move_out(region->tables[i]);
  }
  if (region->waits)
    region->why = "something in it waits, or is the host's";
  else
    LEAT_TRY(leat_decide_one_kernel(table, unit));
  for (uint32_t i = 0; i < 2; i++) {
    region->tables[i]->in_kernel = region->kernel;
    LEAT_TRY(leat_table_plan(region->tables[i]));
  }
  return region->kernel ? LEAT_OK : place_bodies(table, unit);
}

// -- Lowering -------------------------------------------------------------------------------------

static leat_launch *region_launch(leat_codegen_state *cg, leat_unit *unit) {
  leat_launch *launch = leat_new(cg->arena, leat_launch);
  bool loop = is_loop(unit->members.items[0]->node);
  *launch = (leat_launch){.kind = loop ? LEAT_LAUNCH_WHILE : LEAT_LAUNCH_IF,
                          .region = &unit->region,
                          .tiles = leat_dim_const(1),
                          .work = leat_dim_const(1)};
  return launch;
}

void leat_lower_region(leat_table *table, leat_unit *unit) {
  leat_codegen_state *cg = table->cg;
  if (unit->region.waits) return;
  leat_launch *launch = unit->region.kernel;
  if (!launch) launch = region_launch(cg, unit);
  leat_vec_push(cg->arena, &unit->launches, launch);
}
