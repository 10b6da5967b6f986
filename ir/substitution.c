#include "ir/substitution.h"

leat_substitution leat_substitution_begin(leat_dims *dims, leat_arena *arena) {
  return (leat_substitution){.dims = dims, .arena = arena};
}

// Dims grow while they are substituted: an atom that is new has no value.
static void hold_all_atoms(leat_substitution *s) {
  uint32_t count = leat_dims_atom_count(s->dims);
  if (count <= s->count) return;
  leat_dim *values = leat_new_array(s->arena, leat_dim, (size_t)count * 2);
  bool *known = leat_new_array(s->arena, bool, (size_t)count * 2);
  for (uint32_t i = 0; i < s->count; i++) {
    values[i] = s->values[i];
    known[i] = s->known[i];
  }
  s->count = count * 2;
  s->values = values;
  s->known = known;
}

void leat_substitution_set(leat_substitution *s, const leat_atom *atom, leat_dim value) {
  hold_all_atoms(s);
  s->values[atom->id] = value;
  s->known[atom->id] = true;
}

leat_dim leat_substitute_dim(leat_substitution *s, leat_dim dim) {
  leat_dim result = dim;
  if (leat_dim_is_const(dim) || !s->count) return dim;
  hold_all_atoms(s);
  if (!leat_dim_substitute(s->dims, dim, s->values, s->known, &result)) s->failed = true;
  return result;
}

leat_type leat_substitute_type(leat_substitution *s, const leat_type *type) {
  leat_type result = *type;
  for (int32_t i = 0; i < type->rank; i++) result.dims[i] = leat_substitute_dim(s, type->dims[i]);
  return result;
}

static leat_attr substitute_attr(leat_substitution *s, leat_arena *arena, leat_attr_kind kind,
                                 leat_attr attr) {
  if (kind == LEAT_ATTR_DIM) {
    attr.dim = leat_substitute_dim(s, attr.dim);
  } else if (kind == LEAT_ATTR_DIMS) {
    leat_dim *dims = leat_new_array(arena, leat_dim, attr.count);
    for (uint32_t i = 0; i < attr.count; i++) dims[i] = leat_substitute_dim(s, attr.dims[i]);
    attr.dims = dims;
  } else if (kind == LEAT_ATTR_TYPE && !leat_type_is_static(attr.type)) {
    leat_type type = leat_substitute_type(s, attr.type);
    attr.type = leat_arena_memdup(arena, &type, sizeof type);
  }
  return attr;
}

void leat_substitute_attrs(leat_substitution *s, leat_graph *graph, leat_node *node) {
  const leat_op_info *info = node->info;
  for (int i = 0; s->count && i < info->attr_count; i++) {
    leat_attr_kind kind = info->attrs[i].kind;
    if (kind == LEAT_ATTR_DIM || kind == LEAT_ATTR_DIMS || kind == LEAT_ATTR_TYPE)
      leat_node_set_attr(graph, node, info->attrs[i].name,
                         substitute_attr(s, graph->arena, kind, node->attrs[i]));
  }
}
