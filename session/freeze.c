// A read of a frozen variable becomes a `const` node in place, under its name; later passes drop
// what computed the initial value.
#include "session/freeze.h"

#include "base/tensor.h"
#include "runtime/checkpoint.h"

static bool is_assigned(const leat_graph *graph, const leat_state *state) {
  for (uint32_t i = 0; i < graph->nodes.count; i++) {
    const leat_node *node = graph->nodes.items[i];
    if (node->effect && leat_node_state(node) == state) return true;
  }
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

static const leat_attr *value_attr(leat_graph *graph, const leat_tensor *value) {
  leat_attr *attr = leat_new(graph->arena, leat_attr);
  attr->tensor = leat_tensor_copy(graph->arena, value);
  return attr;
}

static void freeze_reads(leat_graph *graph, const leat_state *state, const leat_attr *value) {
  for (uint32_t i = 0; i < graph->nodes.count; i++) {
    leat_node *node = graph->nodes.items[i];
    if (leat_node_state(node) != state) continue;
    leat_node_set_op(node, LEAT_OP_const);
    node->attrs = value;
    node->control_count = 0;
  }
}

static void start_from(leat_graph *graph, leat_state *state, const leat_attr *value) {
  const char *name = leat_graph_unique_name(
      graph, leat_arena_printf(graph->arena, "%s/init/restored", state->name));
  leat_node *node = leat_graph_append(graph, LEAT_OP_const, name, NULL, 0, value);
  node->outputs = leat_arena_memdup(graph->arena, &state->type, sizeof state->type);
  node->device = state->device;
  state->init = (leat_value){node, 0};
}

leat_status leat_freeze(leat_graph *graph, leat_diag *diag, const leat_safetensors *file,
                        const char *path, leat_frozen_list *out, leat_error *error) {
  uint32_t kept = 0;
  for (uint32_t i = 0; i < graph->states.count; i++) {
    leat_state *state = graph->states.items[i];
    const leat_tensor *value = leat_safetensors_find(file, state->name);
    bool assigned = is_assigned(graph, state);
    if (!value)
      leat_warn_at(diag, state->span, "%s has no `%s`: it starts from its initial value", path,
                   state->name);
    else
      LEAT_TRY(check_type(graph, state, value, path, error));
    if (value && assigned) start_from(graph, state, value_attr(graph, value));
    if (value && !assigned) { // nothing will refer to it any more
      leat_frozen_variable frozen = {.name = state->name};
      LEAT_TRY(leat_value_checksum(value, &frozen.checksum, error));
      freeze_reads(graph, state, value_attr(graph, value));
      leat_vec_push(graph->arena, out, frozen);
      continue;
    }
    state->id = kept;
    graph->states.items[kept++] = state;
  }
  graph->states.count = kept;
  return LEAT_OK;
}
