// What of a program depends on which table's dims. Each pass below reads what those before it
// found; a region's tables have greater numbers than the one that they stand in, so of several
// scopes the greatest is the innermost.
// It runs seldom: compiled for size.
#include "runtime/scope.h"

#include "runtime/program.h"
#include "runtime/rotate.h"

typedef struct finder {
  const leat_program *program;
  const leat_view *view;
  leat_arena *arena;
  leat_scope *scopes;
  bool *late;
  uint32_t *dims, *formulas, *arenas, *buffers, *args, *launches, *tasks; // the scope of each
} finder;

static uint32_t greater(uint32_t a, uint32_t b) {
  return a > b ? a : b;
}

static bool has_owner(const leat_program *program, uint32_t table) {
  return program->table_owners[table] != LEAT_NO_TASK;
}

static uint32_t table_around(const leat_program *program, uint32_t table) {
  return program->task_tables[program->table_owners[table]];
}

static bool add_dim(finder *f, uint32_t dim, uint32_t scope) {
  if (f->late[dim]) return f->dims[dim] == scope;
  leat_vec_push(f->arena, &f->scopes[scope].dims, dim);
  f->late[dim] = true;
  f->dims[dim] = scope;
  return true;
}

static bool add_extents(finder *f, uint32_t first, uint32_t count, uint32_t scope) {
  for (uint32_t i = first; i < first + count; i++)
    if (!add_dim(f, f->view->extents[i].dim, scope)) return false;
  return true;
}

static bool add_dims_of_task(finder *f, const leat_image_task *task, uint32_t scope) {
  if (task->kind == LEAT_TASK_BIND) return add_dim(f, task->dim, scope);
  for (uint32_t i = 0; i < leat_task_regions(task); i++) {
    const leat_image_region *region = leat_task_region(f->view, task, i);
    if (region && !add_extents(f, region->extent_first, region->extent_count, scope)) return false;
  }
  return true;
}

static bool find_dims(finder *f) {
  for (uint32_t t = 0; t < f->view->image->tables.count; t++) {
    const leat_image_table *table = &f->view->tables[t];
    uint32_t scope = has_owner(f->program, t) ? t : 0;
    if (!add_extents(f, table->extent_first, table->extent_count, scope)) return false;
    for (uint32_t i = table->task_first; i < table->task_first + table->task_count; i++)
      if (!add_dims_of_task(f, &f->view->tasks[i], scope)) return false;
  }
  return true;
}

static void find_formulas(finder *f) {
  for (uint32_t i = 0; i < f->view->image->formulas.count; i++) {
    const leat_formula *formula = &f->view->formulas[i];
    for (uint32_t k = 0; k < formula->code_count; k++) {
      int64_t dim = leat_formula_word_dim(f->view->code[formula->code_first + k]);
      if (dim != LEAT_NO_DIM) f->formulas[i] = greater(f->formulas[i], f->dims[dim]);
    }
    leat_vec_push(f->arena, &f->scopes[f->formulas[i]].formulas, i);
  }
}

static void find_memory(finder *f) {
  const leat_view *view = f->view;
  for (uint32_t i = 0; i < view->image->arenas.count; i++) {
    const leat_image_arena *arena = &view->arenas[i];
    f->arenas[i] = f->formulas[arena->size];
    if (arena->within)
      f->arenas[i] =
          greater(f->arenas[i], greater(f->formulas[arena->where], f->arenas[arena->within - 1]));
    leat_vec_push(f->arena, &f->scopes[f->arenas[i]].arenas, i);
  }
  for (uint32_t i = 0; i < view->image->buffers.count; i++) {
    const leat_image_buffer *buffer = &view->buffers[i];
    uint32_t scope = 0;
    for (uint32_t k = 0; k < buffer->type.rank; k++)
      scope = greater(scope, f->formulas[buffer->type.shape_first + k]);
    if (buffer->kind == LEAT_BUFFER_ARENA)
      scope = greater(scope, greater(f->formulas[buffer->where], f->arenas[buffer->arena]));
    f->buffers[i] = scope;
    leat_vec_push(f->arena, &f->scopes[scope].buffers, i);
  }
  for (uint32_t i = 0; i < view->image->args.count; i++) {
    const leat_image_arg *arg = &view->args[i];
    f->args[i] = arg->is_scalar ? f->formulas[arg->index] : f->buffers[arg->index];
    leat_vec_push(f->arena, &f->scopes[f->args[i]].args, i);
  }
}

static uint32_t scope_of_args(const finder *f, uint32_t first, uint32_t count) {
  uint32_t scope = 0;
  for (uint32_t i = first; i < first + count; i++) scope = greater(scope, f->args[i]);
  return scope;
}

// Of what a task that is the region looks at: the predicate, the strings that it carries, and how
// many rows there are.
static uint32_t scope_of_decision(const finder *f, const leat_image_region *region) {
  uint32_t scope = f->buffers[region->predicate];
  for (uint32_t i = region->carried_first; i < region->carried_first + region->carried_count; i++)
    if (f->view->buffers[f->view->args[i].index].kind != LEAT_BUFFER_GROWN)
      scope = greater(scope, f->args[i]);
  for (uint32_t i = 0; i < region->rows_count; i++)
    scope = greater(scope, f->buffers[f->view->rows[region->rows_first + i].count]);
  return scope;
}

static uint32_t scope_of_region(const finder *f, const leat_image_region *region) {
  uint32_t scope = scope_of_decision(f, region);
  for (int k = 0; k < 2; k++) {
    const leat_image_table *table = &f->view->tables[region->tables[k]];
    for (uint32_t i = 0; i < table->task_count; i++)
      scope = greater(scope, f->tasks[table->task_first + i]);
  }
  return scope;
}

static uint32_t scope_of_launch(finder *f, const leat_image_task *task, uint32_t i) {
  uint32_t number = task->first + i;
  const leat_image_launch *launch = &f->view->launches[number];
  const leat_image_region *region = leat_task_region(f->view, task, i);
  uint32_t scope = scope_of_args(f, launch->arg_first, launch->arg_count);
  if (region)
    scope = greater(scope, scope_of_region(f, region));
  else
    scope = greater(scope, greater(f->formulas[launch->tiles], f->formulas[launch->work]));
  f->launches[number] = scope;
  leat_vec_push(f->arena, &f->scopes[scope].launches, number);
  return scope;
}

static uint32_t scope_of_task(finder *f, const leat_image_task *task) {
  uint32_t scope = 0;
  switch (leat_task_range_of(task->kind)) {
  case LEAT_RANGE_LAUNCHES:
    for (uint32_t i = 0; i < task->count; i++) scope = greater(scope, scope_of_launch(f, task, i));
    break;
  case LEAT_RANGE_MESSAGE: return f->buffers[f->view->messages[task->first].buffer];
  case LEAT_RANGE_ARGS: return scope_of_args(f, task->first, task->count);
  case LEAT_RANGE_REGION: return scope_of_decision(f, &f->view->regions[task->first]);
  }
  return scope;
}

// Whether `table` is the scope's or stands in it.
static bool stands_in(const leat_program *program, uint32_t table, uint32_t scope) {
  while (table > scope && has_owner(program, table)) table = table_around(program, table);
  return table == scope || scope == 0;
}

static bool find_tasks(finder *f) {
  for (uint32_t t = (uint32_t)f->view->image->tables.count; t-- > 0;) {
    const leat_image_table *table = &f->view->tables[t];
    for (uint32_t i = table->task_first; i < table->task_first + table->task_count; i++) {
      f->tasks[i] = scope_of_task(f, &f->view->tasks[i]);
      if (!stands_in(f->program, t, f->tasks[i])) return false;
      leat_vec_push(f->arena, &f->scopes[f->tasks[i]].tasks, i);
    }
  }
  return true;
}

static void find_claims(finder *f) {
  const leat_view *view = f->view;
  for (uint32_t i = 0; i < view->image->claims.count; i++) {
    uint32_t table = view->claims[i].table;
    for (; has_owner(f->program, table); table = table_around(f->program, table))
      if (f->scopes[table].dims.count) leat_vec_push(f->arena, &f->scopes[table].claims, i);
    leat_vec_push(f->arena, &f->scopes[0].claims, i);
  }
  for (uint32_t t = 0; t < view->image->tables.count; t++) {
    leat_vec_push(f->arena, &f->scopes[0].tables, t);
    for (uint32_t table = t; has_owner(f->program, table);) {
      table = table_around(f->program, table);
      if (table && f->scopes[table].dims.count)
        leat_vec_push(f->arena, &f->scopes[table].tables, t);
    }
  }
}

static bool fetches_are_of_step(const finder *f) {
  for (uint32_t i = 0; i < f->view->image->fetches.count; i++)
    if (f->buffers[f->view->fetches[i].buffer]) return false;
  return true;
}

bool leat_scopes_find(leat_program *program) {
  const leat_image *image = program->image;
  leat_arena *arena = program->arena;
  finder f = {.program = program,
              .view = &program->view,
              .arena = arena,
              .scopes = leat_new_array(arena, leat_scope, image->tables.count),
              .late = leat_new_array(arena, bool, image->dims.count + 1),
              .dims = leat_new_array(arena, uint32_t, image->dims.count + 1),
              .formulas = leat_new_array(arena, uint32_t, image->formulas.count + 1),
              .arenas = leat_new_array(arena, uint32_t, image->arenas.count + 1),
              .buffers = leat_new_array(arena, uint32_t, image->buffers.count + 1),
              .args = leat_new_array(arena, uint32_t, image->args.count + 1),
              .launches = leat_new_array(arena, uint32_t, image->launches.count + 1),
              .tasks = leat_new_array(arena, uint32_t, image->tasks.count + 1)};
  program->scopes = f.scopes;
  program->dim_scopes = f.dims;
  program->late = f.late;
  if (!find_dims(&f)) return false;
  for (uint32_t d = 0; d < image->dims.count; d++) program->has_late |= f.late[d];
  find_formulas(&f);
  find_memory(&f);
  find_claims(&f);
  return find_tasks(&f) && fetches_are_of_step(&f) && leat_pieces_find(program, f.arenas);
}
