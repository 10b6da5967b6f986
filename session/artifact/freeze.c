// A read of a frozen variable becomes a `const` or `load` node in place, under its name; later
// passes drop what computed the initial value.
#include "session/artifact/freeze.h"

#include "base/tensor.h"
#include "runtime/checkpoint.h"
#include "session/artifact/weights.h"

#include <string.h>

static bool assigns(const leat_graph *graph, const char *state) {
  for (uint32_t i = 0; i < graph->nodes.count; i++) {
    const leat_node *node = graph->nodes.items[i];
    const leat_state *of = node->effect ? leat_node_state(node) : NULL;
    if (of && strcmp(of->name, state) == 0) return true;
  }
  return false;
}

static bool is_assigned(const leat_freezing *steps, size_t count, const leat_state *state) {
  for (size_t i = 0; i < count; i++)
    if (assigns(steps[i].graph, state->name)) return true;
  return false;
}

static leat_status check_type(const leat_graph *graph, const leat_state *state,
                              const leat_tensor *value, const char *path, leat_error *error) {
  leat_type type = leat_type_of_tensor(value);
  if (leat_type_equal(&type, &state->type)) return LEAT_OK;
  return leat_fail(error, LEAT_INVALID, "variable `%s` is %s, in %s it is %s", state->name,
                   leat_type_text(graph->arena, &state->type), path,
                   leat_type_text(graph->arena, &type));
}

// A value as a node: its op and attributes.
typedef struct leaf {
  leat_op op;
  const leat_attr *attrs;
} leaf;

static leaf leaf_of(leat_graph *graph, leat_state *state, const leat_tensor *value,
                    const char *path, bool as_loads) {
  leat_attr *attrs = leat_new_array(graph->arena, leat_attr, 3);
  if (as_loads && !leat_is_constant(value)) {
    attrs[0].string = path;
    attrs[1].string = state->name;
    attrs[2].type = &state->type;
    return (leaf){LEAT_OP_load, attrs};
  }
  attrs->tensor = leat_tensor_copy(graph->arena, value);
  return (leaf){LEAT_OP_const, attrs};
}

static void freeze_reads(leat_graph *graph, const leat_state *state, leaf value) {
  for (uint32_t i = 0; i < graph->nodes.count; i++) {
    leat_node *node = graph->nodes.items[i];
    if (leat_node_state(node) != state) continue;
    leat_node_set_op(node, value.op);
    node->attrs = value.attrs;
    node->control_count = 0;
  }
}

static void start_from(leat_graph *graph, leat_state *state, leaf value) {
  const char *name = leat_graph_unique_name(
      graph, leat_arena_printf(graph->arena, "%s/init/restored", state->name));
  leat_node *node = leat_graph_append(graph, value.op, name, NULL, 0, value.attrs);
  node->outputs = leat_arena_memdup(graph->arena, &state->type, sizeof state->type);
  node->device = state->device;
  state->init = (leat_value){node, 0};
}

// It starts from its initial value; the first step that has it says so.
static void warn_of_missing(const leat_freezing *steps, size_t step, leat_diag *diag,
                            const leat_state *state, const char *path) {
  for (size_t i = 0; i < step; i++)
    if (leat_graph_find_state(steps[i].graph, state->name)) return;
  leat_warn_at(diag, state->span, "%s has no `%s`: it starts from its initial value", path,
               state->name);
}

static leat_status freeze_step(const leat_freezing *steps, size_t count, size_t step,
                               leat_diag *diag, const leat_data_file *file, const char *path,
                               bool as_loads, leat_error *error) {
  leat_graph *graph = steps[step].graph;
  uint32_t kept = 0;
  for (uint32_t i = 0; i < graph->states.count; i++) {
    leat_state *state = graph->states.items[i];
    const leat_tensor *value = leat_data_file_find(file, state->name);
    bool assigned = is_assigned(steps, count, state);
    if (!value)
      warn_of_missing(steps, step, diag, state, path);
    else
      LEAT_TRY(check_type(graph, state, value, path, error));
    leaf frozen_value = {0};
    if (value) frozen_value = leaf_of(graph, state, value, path, as_loads);
    if (value && assigned) start_from(graph, state, frozen_value);
    if (value && !assigned) { // nothing will refer to it any more
      leat_frozen_variable frozen = {.name = state->name};
      LEAT_TRY(leat_value_checksum(value, &frozen.checksum, error));
      freeze_reads(graph, state, frozen_value);
      leat_vec_push(graph->arena, steps[step].frozen, frozen);
      continue;
    }
    state->id = kept;
    graph->states.items[kept++] = state;
  }
  graph->states.count = kept;
  return LEAT_OK;
}

leat_status leat_freeze(const leat_freezing *steps, size_t count, leat_diag *diag,
                        const leat_data_file *file, const char *path, bool as_loads,
                        leat_error *error) {
  for (size_t i = 0; i < count; i++)
    LEAT_TRY(freeze_step(steps, count, i, diag, file, path, as_loads, error));
  return LEAT_OK;
}
