// Formulas of an image: reverse Polish, on a small stack, with checked arithmetic.
#include "base/portable.h"
#include "runtime/image.h"

#include <string.h>

static enum leat_formula_op operation_of(int64_t word) {
  return (enum leat_formula_op)(word & 0xff);
}

static int64_t operand_of(int64_t word) {
  return word >> 8;
}

bool leat_formula_check(const int64_t *code, uint32_t count, uint64_t dim_count) {
  uint32_t depth = 0;
  for (uint32_t i = 0; i < count; i++) {
    uint32_t takes = 2;
    switch (operation_of(code[i])) {
    case LEAT_FORMULA_DIM:
      if (operand_of(code[i]) < 0 || (uint64_t)operand_of(code[i]) >= dim_count) return false;
      takes = 0;
      break;
    case LEAT_FORMULA_PUSH: takes = 0; break;
    case LEAT_FORMULA_ADD:
    case LEAT_FORMULA_MUL:
    case LEAT_FORMULA_FLOORDIV:
    case LEAT_FORMULA_MAX: break;
    default: return false; // the word is from outside
    }
    if (depth < takes) return false;
    depth += 1 - takes;
    if (depth > LEAT_FORMULA_DEPTH) return false;
  }
  return depth == 1;
}

static bool floor_divide(int64_t a, int64_t b, int64_t *out) {
  if (b == 0 || (a == INT64_MIN && b == -1)) return false;
  *out = a / b - (a % b != 0 && (a < 0) != (b < 0));
  return true;
}

bool leat_formula_value(const leat_view *view, uint32_t formula, const int64_t *dims,
                        int64_t *out) {
  const leat_formula *f = &view->formulas[formula];
  *out = f->value;
  int64_t stack[LEAT_FORMULA_DEPTH];
  uint32_t depth = 0;
  for (uint32_t i = 0; i < f->code_count; i++) {
    int64_t word = view->code[f->code_first + i];
    int64_t *top = &stack[depth]; // one past the top
    bool fits = true;
    switch (operation_of(word)) {
    case LEAT_FORMULA_PUSH: stack[depth++] = operand_of(word); continue;
    case LEAT_FORMULA_DIM: stack[depth++] = dims[operand_of(word)]; continue;
    case LEAT_FORMULA_ADD: fits = !__builtin_add_overflow(top[-2], top[-1], &top[-2]); break;
    case LEAT_FORMULA_MUL: fits = !__builtin_mul_overflow(top[-2], top[-1], &top[-2]); break;
    case LEAT_FORMULA_FLOORDIV: fits = floor_divide(top[-2], top[-1], &top[-2]); break;
    case LEAT_FORMULA_MAX: top[-2] = top[-2] > top[-1] ? top[-2] : top[-1]; break;
    }
    if (!fits) return false;
    depth--;
  }
  if (depth) *out = stack[0];
  return true;
}

int64_t leat_formula_word_dim(int64_t word) {
  return operation_of(word) == LEAT_FORMULA_DIM ? operand_of(word) : LEAT_NO_DIM;
}

bool leat_formula_is_bound(const leat_view *view, uint32_t formula, const int64_t *dims) {
  const leat_formula *f = &view->formulas[formula];
  for (uint32_t i = 0; i < f->code_count; i++) {
    int64_t dim = leat_formula_word_dim(view->code[f->code_first + i]);
    if (dim != LEAT_NO_DIM && (!dims || dims[dim] < 0)) return false;
  }
  return true;
}

bool leat_formula_is_constant(const leat_view *view, uint32_t formula) {
  return leat_formula_is_bound(view, formula, NULL);
}

int64_t leat_formula_dim(const leat_view *view, uint32_t formula) {
  const leat_formula *f = &view->formulas[formula];
  return f->code_count == 1 ? leat_formula_word_dim(view->code[f->code_first]) : LEAT_NO_DIM;
}

bool leat_type_value(const leat_view *view, const leat_image_type *type, const int64_t *dims,
                     int64_t shape[LEAT_MAX_RANK], int64_t *out_bytes) {
  for (uint32_t i = 0; i < type->rank; i++)
    if (!leat_formula_value(view, type->shape_first + i, dims, &shape[i])) return false;
  leat_tensor tensor = {.dtype = (leat_dtype)type->dtype, .rank = (int32_t)type->rank};
  memcpy(tensor.shape, shape, type->rank * sizeof *shape);
  *out_bytes = leat_tensor_bytes(&tensor);
  return *out_bytes >= 0;
}
