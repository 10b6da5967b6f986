// Sections are vectors; finishing lays them out one after the other, each at a multiple of 64.
#include "targets/ref/ref_image.h"

#include <string.h>

enum { ALIGNMENT = 64, OPERAND_SHIFT = 8 };

void ref_image_init(ref_image *image, leat_arena *arena) {
  *image = (ref_image){.arena = arena};
  ref_image_text(image, ""); // index 0
}

leat_text_index ref_image_text(ref_image *image, const char *text) {
  size_t size = strlen(text) + 1;
  if (size == 1 && image->text.count) return 0;
  leat_text_index index = image->text.count;
  leat_vec_reserve(image->arena, &image->text, index + (uint32_t)size);
  memcpy(image->text.items + index, text, size);
  image->text.count += (uint32_t)size;
  return index;
}

uint64_t ref_image_data(ref_image *image, const void *data, size_t size) {
  uint32_t offset = (image->data.count + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
  leat_vec_reserve(image->arena, &image->data, offset + (uint32_t)size);
  memset(image->data.items + image->data.count, 0, offset - image->data.count);
  if (size) memcpy(image->data.items + offset, data, size);
  image->data.count = offset + (uint32_t)size;
  return offset;
}

// -- Formulas ----------------------------------------------------------------------------------

static int64_t word(enum leat_formula_op op, int64_t operand) {
  return (int64_t)((uint64_t)operand << OPERAND_SHIFT) | (int64_t)op;
}

static uint32_t dim_number(ref_image *image, const leat_atom *atom) {
  for (uint32_t i = 0; i < image->atoms.count; i++)
    if (image->atoms.items[i] == atom) return i;
  REF_ADD(image, atoms, atom);
  REF_ADD(image, dims,
          (leat_image_dim){
              .name = ref_image_text(image, atom->name), .low = atom->low, .high = atom->high});
  return image->atoms.count - 1;
}

static void add_dim(ref_image *image, leat_dim dim);

static void add_atom(ref_image *image, const leat_atom *atom) {
  if (atom->kind == LEAT_ATOM_NAMED || atom->kind == LEAT_ATOM_ANONYMOUS) {
    REF_ADD(image, code, word(LEAT_FORMULA_DIM, dim_number(image, atom)));
    return;
  }
  add_dim(image, atom->a);
  add_dim(image, atom->b);
  REF_ADD(image, code,
          word(atom->kind == LEAT_ATOM_MAX ? LEAT_FORMULA_MAX : LEAT_FORMULA_FLOORDIV, 0));
}

static void add_dim(ref_image *image, leat_dim dim) {
  if (leat_dim_is_const(dim)) {
    REF_ADD(image, code, word(LEAT_FORMULA_PUSH, dim.value));
    return;
  }
  for (uint32_t t = 0; t < dim.poly->count; t++) {
    const leat_term *term = &dim.poly->terms[t];
    REF_ADD(image, code, word(LEAT_FORMULA_PUSH, term->coefficient));
    for (uint32_t a = 0; a < term->count; a++) {
      add_atom(image, term->atoms[a]);
      REF_ADD(image, code, word(LEAT_FORMULA_MUL, 0));
    }
    if (t) REF_ADD(image, code, word(LEAT_FORMULA_ADD, 0));
  }
}

uint32_t ref_image_formula(ref_image *image, leat_dim dim) {
  leat_formula formula = {.value = dim.value};
  if (!leat_dim_is_const(dim)) {
    formula.code_first = image->code.count;
    add_dim(image, dim);
    formula.code_count = image->code.count - formula.code_first;
  }
  REF_ADD(image, formulas, formula);
  return image->formulas.count - 1;
}

leat_image_type ref_image_type(ref_image *image, const leat_type *type) {
  leat_image_type result = {
      .dtype = type->dtype, .rank = (uint32_t)type->rank, .shape_first = image->formulas.count};
  for (int i = 0; i < type->rank; i++) ref_image_formula(image, type->dims[i]);
  return result;
}

// -- Layout ------------------------------------------------------------------------------------

static uint64_t aligned(uint64_t size) {
  return (size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

leat_image *ref_image_finish(ref_image *image, const leat_image *header) {
  leat_image head = *header;
  memcpy(head.magic, LEAT_IMAGE_MAGIC, sizeof head.magic);
  head.version = LEAT_IMAGE_VERSION;
  head.header_size = sizeof head;
  head.size = aligned(sizeof head);
#define X(name, type)                                                                              \
  head.name = (leat_range){head.size, image->name.count};                                          \
  head.size += aligned(image->name.count * sizeof(type));
  REF_SECTIONS(X)
#undef X
  char *block = leat_arena_alloc(image->arena, head.size);
  memcpy(block, &head, sizeof head);
#define X(name, type)                                                                              \
  if (image->name.count)                                                                           \
    memcpy(block + head.name.offset, image->name.items, image->name.count * sizeof(type));
  REF_SECTIONS(X)
#undef X
  return (leat_image *)block;
}
