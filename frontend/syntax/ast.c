// The few questions that the AST answers about itself.
#include "frontend/syntax/ast.h"

const char *leat_operator_spelling(leat_operator operator) {
  static const char *const spellings[] = {
#define X(id, spelling, op) [LEAT_OPERATOR_##id] = spelling,
      LEAT_OPERATOR_LIST(X)
#undef X
  };
  return spellings[operator];
}

const char *leat_operator_op(leat_operator operator) {
  static const char *const ops[] = {
#define X(id, spelling, op) [LEAT_OPERATOR_##id] = op,
      LEAT_OPERATOR_LIST(X)
#undef X
  };
  return ops[operator];
}

const leat_argument *leat_arguments_find(const leat_arguments *args, const char *key) {
  for (uint32_t i = 0; i < args->count; i++)
    if (args->items[i].key == key) return &args->items[i];
  return NULL;
}
