// A graph → tasks of one node each. Every output has memory of its own, in the first arena or, when
// its size needs dims that are bound while running, in an arena alone; those of a body with checks
// of dims have arenas of that body. What must have run before is exactly what the node's data and
// control edges say.
#include "targets/ref/ref.h"

#include "codegen/image_writer.h"
#include "targets/ref/ref_site.h"

#include <string.h>

enum { ALIGNMENT = 64, NONE = UINT32_MAX };

#define KERNEL_WORK 1000 // nanoseconds of any node: too little for a second thread

// The graph or body that a table is made of.
typedef struct scope {
  const leat_graph *graph;
  uint32_t *buffers;       // by node id: of output 0, others follow; NONE: not made yet
  uint32_t *tasks;         // by node id: of the table being made, the last; NONE: has none
  const uint32_t *carried; // of a loop's body: what its parameters begin as, by index
  uint32_t carried_count;
  const uint32_t *results; // of a body: where what it yields goes
  uint32_t arena;          // for what has a size when the step begins
} scope;

// A body whose table is still to be made.
typedef struct pending_body {
  scope scope;
  uint32_t table;
} pending_body;

typedef struct arena_plan {
  leat_dim size;  // so far
  uint32_t table; // leat_image_arena.table
} arena_plan;

typedef struct compiler {
  leat_graph *graph;
  leat_arena *arena;
  const leat_file_table *files;
  leat_error *error;
  leat_image_writer image;
  leat_vec(arena_plan) arenas;
  scope here;
  uint32_t *variable_buffers;       // by state id
  leat_vec(uint32_t) before, after; // edges between tasks of the table
  leat_vec(pending_body) pending;
} compiler;

// -- Buffers -----------------------------------------------------------------------------------

static leat_status too_large(compiler *c, const leat_node *node) {
  return leat_fail(c->error, LEAT_OUT_OF_RANGE, "`%s` is too large", node->name);
}

// The bytes of a type, rounded up to whole cache lines.
static bool padded_size(compiler *c, const leat_type *type, leat_dim *out) {
  leat_dims *dims = c->graph->dims;
  leat_dim size = leat_dim_const((int64_t)leat_dtype_size(type->dtype)), elements;
  leat_dim line = leat_dim_const(ALIGNMENT);
  return leat_type_elements(dims, type, &elements) && leat_dim_mul(dims, elements, size, &size) &&
         leat_dim_add(dims, size, leat_dim_const(ALIGNMENT - 1), &size) &&
         leat_dim_floordiv(dims, size, line, &size) && leat_dim_mul(dims, size, line, out);
}

static uint32_t add_buffer(compiler *c, leat_buffer_kind kind, uint64_t where,
                           const leat_type *type) {
  leat_image_buffer buffer = {.kind = kind, .where = where};
  buffer.type = leat_image_writer_type(&c->image, type);
  LEAT_IMAGE_ADD(&c->image, buffers, buffer);
  return c->image.buffers.count - 1;
}

static void see_late(void *context, const leat_atom *atom) {
  const leat_graph **graph = context;
  if (*graph && leat_graph_binder(*graph, atom)) *graph = NULL;
}

static bool is_late(const leat_graph *graph, leat_dim dim) {
  leat_dim_visit(dim, see_late, &graph);
  return !graph;
}

static uint32_t add_arena(compiler *c, uint32_t table) {
  leat_vec_push(c->arena, &c->arenas, (arena_plan){leat_dim_const(0), table});
  return c->arenas.count - 1;
}

static void add_growing_buffer(compiler *c, const leat_type *type) {
  leat_image_grown grown = {type->dtype, (uint32_t)type->rank};
  LEAT_IMAGE_ADD(&c->image, grown, grown);
  add_buffer(c, LEAT_BUFFER_GROWN, c->image.grown.count - 1, type);
}

static leat_status add_arena_buffers(compiler *c, const leat_node *node) {
  for (uint32_t i = 0; i < node->output_count; i++) {
    leat_dim size;
    if (leat_region_result_grows(node, i)) {
      add_growing_buffer(c, &node->outputs[i]);
      continue;
    }
    if (!padded_size(c, &node->outputs[i], &size)) return too_large(c, node);
    uint32_t number = c->here.arena;
    if (is_late(c->graph, size)) number = add_arena(c, c->arenas.items[number].table);
    leat_dim *end = &c->arenas.items[number].size, offset = *end;
    if (!leat_dim_add(c->graph->dims, offset, size, end)) return too_large(c, node);
    uint32_t where = leat_image_writer_formula(&c->image, offset);
    uint32_t buffer = add_buffer(c, LEAT_BUFFER_ARENA, where, &node->outputs[i]);
    c->image.buffers.items[buffer].arena = number;
  }
  return LEAT_OK;
}

// Where the node's outputs are.
static leat_status add_buffers(compiler *c, const leat_node *node) {
  uint32_t first = c->image.buffers.count;
  switch (node->info->leaf) {
  case LEAT_LEAF_CONSTANT:
    add_buffer(c, LEAT_BUFFER_CONSTANT,
               leat_image_writer_tensor(&c->image, leat_node_attr(node, "value")->tensor),
               &node->outputs[0]);
    break;
  case LEAT_LEAF_FEED:
    add_buffer(c, LEAT_BUFFER_FEED, leat_image_writer_port(&c->image, node), &node->outputs[0]);
    break;
  case LEAT_LEAF_FILE:
    add_buffer(c, LEAT_BUFFER_FILE, leat_image_writer_file(&c->image, node, c->files, c->error),
               &node->outputs[0]);
    break;
  case LEAT_LEAF_RUN_COUNT: add_buffer(c, LEAT_BUFFER_RUN_COUNT, 0, &node->outputs[0]); break;
  case LEAT_LEAF_NONE:
  case LEAT_LEAF_PARAMETER:
  case LEAT_LEAF_VARIABLE:
  case LEAT_LEAF_RECEIVED: LEAT_TRY(add_arena_buffers(c, node)); break;
  }
  c->here.buffers[node->id] = first;
  return LEAT_OK;
}

static uint32_t buffer_of(const compiler *c, leat_value value) {
  return c->here.buffers[value.node->id] + value.port;
}

static void add_variables(compiler *c) {
  for (uint32_t i = 0; i < c->graph->states.count; i++) {
    const leat_state *state = c->graph->states.items[i];
    leat_image_variable variable = {
        .origin = leat_image_writer_origin(&c->image, state->name, state->place),
        .container = leat_image_writer_text(&c->image, state->container),
        .type = leat_image_writer_type(&c->image, &state->type),
        .flags = state->trainable ? 1 : 0};
    LEAT_IMAGE_ADD(&c->image, variables, variable);
    c->variable_buffers[i] = add_buffer(c, LEAT_BUFFER_VARIABLE, i, &state->type);
  }
}

// -- Tasks -------------------------------------------------------------------------------------

static void add_arg(compiler *c, bool is_scalar, uint32_t index) {
  LEAT_IMAGE_ADD(&c->image, args, (leat_image_arg){is_scalar, index});
}

static leat_image_origin origin_of(compiler *c, const leat_node *node) {
  if (!node) return leat_image_writer_origin(&c->image, "initial value", NULL);
  return leat_image_writer_origin(&c->image, node->name, node->place);
}

static void add_launch(compiler *c, const leat_node *node, leat_launch_kind kind,
                       uint32_t arg_first) {
  leat_image_origin origin = origin_of(c, node);
  leat_image_launch launch = {.kind = kind,
                              .arg_first = arg_first,
                              .arg_count = c->image.args.count - arg_first,
                              .tiles = leat_image_writer_formula(&c->image, leat_dim_const(1)),
                              .work =
                                  leat_image_writer_formula(&c->image, leat_dim_const(KERNEL_WORK)),
                              .site_first = c->image.sites.count,
                              .site_count = 1,
                              .node = origin};
  LEAT_IMAGE_ADD(&c->image, sites, (leat_image_site){.node = origin});
  LEAT_IMAGE_ADD(&c->image, launches, launch);
  leat_image_task task = {
      .kind = LEAT_TASK_SEGMENT, .first = c->image.launches.count - 1, .count = 1, .node = origin};
  LEAT_IMAGE_ADD(&c->image, tasks, task);
}

static void add_grow(compiler *c, const leat_node *node, uint32_t grown, uint32_t from) {
  leat_image_task task = {.kind = LEAT_TASK_GROW,
                          .first = c->image.args.count,
                          .count = 1,
                          .node = origin_of(c, node),
                          .grown = grown};
  add_arg(c, false, from);
  LEAT_IMAGE_ADD(&c->image, tasks, task);
}

static void add_copy(compiler *c, const leat_node *node, uint32_t to, uint32_t from) {
  const leat_image_buffer *buffer = &c->image.buffers.items[to];
  uint32_t first = c->image.args.count;
  if (buffer->kind == LEAT_BUFFER_GROWN) {
    add_grow(c, node, (uint32_t)buffer->where, from);
    return;
  }
  add_arg(c, false, to);
  add_arg(c, false, from);
  add_launch(c, node, LEAT_LAUNCH_COPY, first);
}

typedef struct dim_search {
  compiler *c;
  leat_vec(const leat_atom *) atoms;
} dim_search;

static void add_atom(void *context, const leat_atom *atom) {
  dim_search *search = context;
  for (uint32_t i = 0; i < search->atoms.count; i++)
    if (search->atoms.items[i] == atom) return;
  leat_vec_push(search->c->arena, &search->atoms, atom);
}

static void search_type(dim_search *search, const leat_type *type) {
  for (int32_t i = 0; i < type->rank; i++) leat_dim_visit(type->dims[i], add_atom, search);
}

// The dims in the node's types and attributes: the others may not be known when it runs.
static dim_search dims_of(compiler *c, const leat_node *node) {
  dim_search search = {.c = c};
  const leat_op_info *info = node->info;
  for (uint32_t i = 0; i < node->output_count; i++) search_type(&search, &node->outputs[i]);
  for (uint32_t i = 0; i < node->input_count; i++)
    search_type(&search, leat_value_type(node->inputs[i]));
  for (int i = 0; i < info->attr_count; i++) {
    if (info->attrs[i].kind == LEAT_ATTR_DIM) leat_dim_visit(node->attrs[i].dim, add_atom, &search);
    for (uint32_t j = 0; info->attrs[i].kind == LEAT_ATTR_DIMS && j < node->attrs[i].count; j++)
      leat_dim_visit(node->attrs[i].dims[j], add_atom, &search);
  }
  return search;
}

// The arguments stand as leat_ref_kernel takes them.
static void add_kernel(compiler *c, leat_node *node) {
  dim_search dims = dims_of(c, node);
  leat_ref_site *site = leat_new(c->arena, leat_ref_site);
  *site = (leat_ref_site){node, dims.atoms.items, dims.atoms.count};
  uint32_t first = c->image.args.count;
  add_arg(c, true, leat_image_writer_formula(&c->image, leat_dim_const((int64_t)(uintptr_t)site)));
  for (uint32_t i = 0; i < dims.atoms.count; i++) {
    leat_dim dim = leat_dim_of_atom(c->graph->dims, dims.atoms.items[i]);
    add_arg(c, true, leat_image_writer_formula(&c->image, dim));
  }
  if (node->op == LEAT_OP_assign_add) {
    uint32_t variable = c->variable_buffers[leat_node_state(node)->id];
    add_arg(c, false, variable);
    add_arg(c, false, variable);
  }
  for (uint32_t i = 0; i < node->output_count; i++)
    add_arg(c, false, c->here.buffers[node->id] + (uint32_t)i);
  for (uint32_t i = 0; i < node->input_count; i++) add_arg(c, false, buffer_of(c, node->inputs[i]));
  add_launch(c, node, LEAT_LAUNCH_KERNEL, first);
}

// A task of the node's own kind.
static void add_own_task(compiler *c, const leat_node *node) {
  uint32_t *buffers = leat_new_array(c->arena, uint32_t, (size_t)node->input_count + 1);
  buffers[0] = c->here.buffers[node->id];
  for (uint32_t i = 0; i < node->input_count; i++) buffers[i] = buffer_of(c, node->inputs[i]);
  LEAT_IMAGE_ADD(&c->image, tasks, leat_image_writer_task(&c->image, node, buffers));
}

// -- Regions -----------------------------------------------------------------------------------

static uint32_t *none_for_each(leat_arena *arena, uint32_t count) {
  uint32_t *items = leat_new_array(arena, uint32_t, count);
  for (uint32_t i = 0; i < count; i++) items[i] = NONE;
  return items;
}

static uint32_t *buffers_from(compiler *c, uint32_t first, uint32_t count) {
  uint32_t *buffers = leat_new_array(c->arena, uint32_t, (size_t)count + 1);
  for (uint32_t i = 0; i < count; i++) buffers[i] = first + i;
  return buffers;
}

// Parameters that are not carried lie where the inputs do.
static void add_body(compiler *c, const leat_node *node, const leat_graph *body, uint32_t table,
                     uint32_t carried, const uint32_t *results) {
  uint32_t first = node->input_count - body->params.count, own = c->here.buffers[node->id];
  scope inside = {.graph = body, .results = results, .carried_count = carried};
  inside.arena = c->here.arena;
  inside.buffers = none_for_each(c->arena, body->nodes.count);
  inside.tasks = none_for_each(c->arena, body->nodes.count);
  inside.carried = buffers_from(c, own, carried);
  for (uint32_t i = carried; i < body->params.count; i++)
    inside.buffers[body->params.items[i]->id] = buffer_of(c, node->inputs[first + i]);
  leat_vec_push(c->arena, &c->pending, (pending_body){inside, table});
}

static void add_region_task(compiler *c, const leat_node *node, leat_task_kind kind,
                            uint32_t region) {
  leat_image_task task = {.kind = kind, .first = region, .count = 1, .node = origin_of(c, node)};
  LEAT_IMAGE_ADD(&c->image, tasks, task);
}

// Of what result i of the node is as that type.
static void add_extents(compiler *c, const leat_node *node, uint32_t i, const leat_type *type) {
  const leat_image_buffer *buffer = &c->image.buffers.items[c->here.buffers[node->id] + i];
  uint32_t grown = (uint32_t)buffer->where;
  for (int32_t k = 0; k < type->rank; k++)
    if (leat_region_grows(node, i, k))
      leat_image_writer_extent(&c->image, type->dims[k], grown, (uint32_t)k);
}

static void bind_results(compiler *c, const leat_node *node, uint32_t region) {
  leat_image_region *record = &c->image.regions.items[region];
  record->extent_first = c->image.extents.count;
  for (uint32_t i = 0; i < node->output_count; i++) add_extents(c, node, i, &node->outputs[i]);
  record->extent_count = c->image.extents.count - record->extent_first;
}

static void bind_carried(compiler *c, const leat_node *node, const leat_graph *body,
                         uint32_t table) {
  leat_image_table *record = &c->image.tables.items[table];
  record->extent_first = c->image.extents.count;
  for (uint32_t i = 0; i < node->output_count; i++)
    add_extents(c, node, i, &body->params.items[i]->outputs[0]);
  record->extent_count = c->image.extents.count - record->extent_first;
}

static void add_conditional(compiler *c, const leat_node *node) {
  const uint32_t *results = buffers_from(c, c->here.buffers[node->id], node->output_count);
  uint32_t region = leat_image_writer_region(&c->image, buffer_of(c, node->inputs[0]));
  for (uint32_t i = 0; i < 2; i++)
    add_body(c, node, node->attrs[i].body, c->image.regions.items[region].tables[i], 0, results);
  bind_results(c, node, region);
  add_region_task(c, node, LEAT_TASK_IF, region);
}

// What is carried is copied to the node's outputs, which each body reads from and the second
// writes.
static leat_status add_loop(compiler *c, const leat_node *node) {
  uint32_t own = c->here.buffers[node->id], count = node->output_count;
  leat_type truth = leat_type_scalar(LEAT_bool);
  leat_node predicate = {.name = node->name, .output_count = 1, .outputs = &truth};
  uint32_t *decided = buffers_from(c, c->image.buffers.count, 1);
  LEAT_TRY(add_arena_buffers(c, &predicate));
  for (uint32_t i = 0; i < count; i++) add_copy(c, node, own + i, buffer_of(c, node->inputs[i]));
  uint32_t region = leat_image_writer_region(&c->image, *decided);
  leat_image_writer_carried(&c->image, region, buffers_from(c, own, count), count);
  const uint32_t *tables = c->image.regions.items[region].tables;
  uint32_t condition = tables[0], body = tables[1];
  add_body(c, node, node->attrs[0].body, condition, count, decided);
  add_body(c, node, node->attrs[1].body, body, count, buffers_from(c, own, count));
  bind_carried(c, node, node->attrs[0].body, condition);
  bind_carried(c, node, node->attrs[1].body, body);
  bind_results(c, node, region);
  add_region_task(c, node, LEAT_TASK_WHILE, region);
  return LEAT_OK;
}

static void add_parameter(compiler *c, const leat_node *node) {
  uint32_t index = (uint32_t)leat_node_attr(node, "index")->i;
  if (index >= c->here.carried_count) return;
  uint32_t from = c->here.carried[index];
  leat_image_buffer carried = c->image.buffers.items[from];
  if (carried.kind == LEAT_BUFFER_GROWN) // as what it is now
    from = add_buffer(c, LEAT_BUFFER_GROWN, carried.where, &node->outputs[0]);
  add_copy(c, node, c->here.buffers[node->id], from);
}

// After what is carried has been read: the first task waits for all parameters.
static void add_yield(compiler *c, const leat_node *node) {
  for (uint32_t i = 0; i < node->input_count; i++)
    add_copy(c, node, c->here.results[i], buffer_of(c, node->inputs[i]));
}

// -- Work ----------------------------------------------------------------------------------------

// What the node does, as tasks one after the other.
static leat_status add_work(compiler *c, leat_node *node) {
  if (node->op == LEAT_OP_while_loop) return add_loop(c, node);
  leat_state *state = leat_node_state(node);
  uint32_t variable = state ? c->variable_buffers[state->id] : NONE;
  uint32_t own = c->here.buffers[node->id];
  uint32_t input = node->input_count ? buffer_of(c, node->inputs[0]) : NONE;
  if (node->op == LEAT_OP_conditional)
    add_conditional(c, node);
  else if (node->op == LEAT_OP_parameter)
    add_parameter(c, node);
  else if (node->op == LEAT_OP_yield)
    add_yield(c, node);
  else if (node->op == LEAT_OP_read)
    add_copy(c, node, own, variable);
  else if (node->op == LEAT_OP_assign)
    add_copy(c, node, variable, input);
  else if (node->op == LEAT_OP_fetch)
    c->image.fetches.items[leat_image_writer_port(&c->image, node)].buffer = input;
  else if (leat_task_kind_of(node->op) != LEAT_TASK_SEGMENT)
    add_own_task(c, node);
  else if (node->op == LEAT_OP_assign_add || leat_ref_of(node->op))
    add_kernel(c, node);
  return LEAT_OK;
}

// -- Tables ------------------------------------------------------------------------------------

static void add_edge(compiler *c, const leat_node *from, uint32_t to_task) {
  if (c->here.tasks[from->id] == NONE) return;
  leat_vec_push(c->arena, &c->before, c->here.tasks[from->id]);
  leat_vec_push(c->arena, &c->after, to_task);
}

// Successor lists of the tasks [first, …), in the order of the edges.
static void add_successors(compiler *c, uint32_t first, uint32_t count) {
  for (uint32_t i = 0; i < count; i++) {
    leat_image_task *task = &c->image.tasks.items[first + i];
    task->successor_first = c->image.successors.count;
    for (uint32_t e = 0; e < c->before.count; e++) {
      if (c->before.items[e] != i) continue;
      LEAT_IMAGE_ADD(&c->image, successors, c->after.items[e]);
      c->image.tasks.items[first + c->after.items[e]].dependencies++;
    }
    task->successor_count = c->image.successors.count - task->successor_first;
  }
}

static void mark(const leat_node *node, bool with_controls, bool *marks, leat_arena *scratch) {
  leat_vec(const leat_node *) pending = {0};
  leat_vec_push(scratch, &pending, node);
  while (pending.count) {
    const leat_node *next = pending.items[--pending.count];
    if (marks[next->id]) continue;
    marks[next->id] = true;
    for (uint32_t i = 0; i < next->input_count; i++)
      leat_vec_push(scratch, &pending, next->inputs[i].node);
    for (uint32_t i = 0; with_controls && i < next->control_count; i++)
      leat_vec_push(scratch, &pending, next->controls[i]);
  }
}

// What the tasks of a node, which are [task, …), run after.
static void add_edges(compiler *c, const leat_node *node, uint32_t task, const bool *marks) {
  const leat_graph *graph = c->here.graph;
  for (uint32_t e = 0; e < node->input_count; e++) add_edge(c, node->inputs[e].node, task);
  for (uint32_t e = 0; e < node->control_count; e++)
    if (marks[node->controls[e]->id]) add_edge(c, node->controls[e], task);
  for (uint32_t i = 0; node->op == LEAT_OP_yield && i < graph->params.count; i++)
    add_edge(c, graph->params.items[i], task);
}

static leat_status add_nodes(compiler *c, const bool *marks) {
  uint32_t first = c->image.tasks.count;
  c->before.count = c->after.count = 0;
  for (uint32_t i = 0; i < c->here.graph->nodes.count; i++) {
    leat_node *node = c->here.graph->nodes.items[i];
    c->here.tasks[i] = NONE;
    if (!marks[i]) continue;
    if (c->here.buffers[i] == NONE) LEAT_TRY(add_buffers(c, node));
    uint32_t task = c->image.tasks.count;
    LEAT_TRY(add_work(c, node));
    if (c->image.tasks.count == task) continue;
    add_edges(c, node, task - first, marks);
    for (; task + 1 < c->image.tasks.count; task++) {
      leat_vec_push(c->arena, &c->before, task - first);
      leat_vec_push(c->arena, &c->after, task + 1 - first);
    }
    c->here.tasks[i] = task - first;
  }
  return LEAT_OK;
}

static void end_table(compiler *c, uint32_t number, uint32_t first) {
  uint32_t count = c->image.tasks.count - first;
  add_successors(c, first, count);
  c->image.tables.items[number].task_first = first;
  c->image.tables.items[number].task_count = count;
}

static void mark_effects(compiler *c, bool *marks) {
  const leat_graph *graph = c->here.graph;
  for (uint32_t i = 0; i < graph->nodes.count; i++) {
    const leat_node *node = graph->nodes.items[i];
    if (node->effect || node->op == LEAT_OP_feed) mark(node, true, marks, c->arena);
  }
}

// While the checks of a body do not hold, the sizes in it mean nothing.
static void add_checks(compiler *c, uint32_t table) {
  uint32_t before = c->image.claims.count;
  leat_image_writer_claims(&c->image, c->here.graph, table);
  if (c->image.claims.count > before) c->here.arena = add_arena(c, table);
}

// The tables of bodies come behind those that they stand in.
static leat_status add_bodies(compiler *c) {
  scope outside = c->here;
  for (uint32_t i = 0; i < c->pending.count; i++) {
    c->here = c->pending.items[i].scope;
    add_checks(c, c->pending.items[i].table);
    uint32_t first = c->image.tasks.count;
    bool *marks = leat_new_array(c->arena, bool, c->here.graph->nodes.count);
    mark_effects(c, marks);
    LEAT_TRY(add_nodes(c, marks));
    end_table(c, c->pending.items[i].table, first);
  }
  c->pending.count = 0;
  c->here = outside;
  return LEAT_OK;
}

static leat_status add_step(compiler *c, bool *marks) {
  uint32_t first = c->image.tasks.count, number = leat_image_writer_table(&c->image);
  for (uint32_t i = 0; i < c->graph->nodes.count; i++) {
    const leat_node *node = c->graph->nodes.items[i];
    if (node->effect && leat_node_state(node))
      c->image.variables.items[leat_node_state(node)->id].flags |= 2;
  }
  mark_effects(c, marks);
  LEAT_TRY(add_nodes(c, marks));
  end_table(c, number, first);
  return add_bodies(c);
}

static leat_status add_initial_value(compiler *c, const leat_state *state, bool *marks) {
  if (!state->init.node) return LEAT_OK;
  uint32_t first = c->image.tasks.count, number = leat_image_writer_table(&c->image);
  memset(marks, 0, c->graph->nodes.count * sizeof *marks);
  mark(state->init.node, false, marks, c->arena);
  LEAT_TRY(add_nodes(c, marks));
  uint32_t copy = c->image.tasks.count - first;
  add_copy(c, NULL, c->variable_buffers[state->id], buffer_of(c, state->init));
  add_edge(c, state->init.node, copy);
  c->image.variables.items[state->id].table = number;
  end_table(c, number, first);
  return add_bodies(c);
}

// -- The graph ---------------------------------------------------------------------------------

leat_status leat_ref_compile(leat_graph *graph, leat_arena *arena, const leat_file_table *files,
                             bool keep_denormals, leat_image **out, leat_error *error) {
  compiler c = {.graph = graph, .arena = arena, .files = files, .error = error};
  leat_image_writer_init(&c.image, arena);
  c.here = (scope){.graph = graph};
  c.here.buffers = none_for_each(arena, graph->nodes.count);
  c.here.tasks = none_for_each(arena, graph->nodes.count);
  c.variable_buffers = none_for_each(arena, graph->states.count);
  bool *marks = leat_new_array(arena, bool, graph->nodes.count);
  add_arena(&c, 0);
  add_variables(&c);
  LEAT_IMAGE_ADD(&c.image, kernels,
                 (leat_image_kernel){.symbol = leat_image_writer_text(&c.image, "leat_ref_kernel"),
                                     .title = leat_image_writer_text(&c.image, "ref")});
  leat_image_writer_ports(&c.image, graph);
  leat_image_writer_claims(&c.image, graph, 0);
  LEAT_TRY(add_step(&c, marks));
  for (uint32_t i = 0; i < graph->states.count; i++)
    LEAT_TRY(add_initial_value(&c, graph->states.items[i], marks));
  leat_image header = {.device = leat_image_writer_text(&c.image, graph->device),
                       .name = leat_image_writer_text(&c.image, graph->name),
                       .keep_denormals = keep_denormals};
  for (uint32_t i = 0; i < c.arenas.count; i++) {
    arena_plan *plan = &c.arenas.items[i];
    uint32_t size = leat_image_writer_formula(&c.image, plan->size);
    LEAT_IMAGE_ADD(&c.image, arenas, (leat_image_arena){.size = size, .table = plan->table});
  }
  *out = leat_image_writer_finish(&c.image, &header);
  return LEAT_OK;
}
