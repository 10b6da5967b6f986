// Dims as the language writes them.
#include "ir/dim.h"

#include "base/name.h"

// An operand of a division: in parentheses unless it is one word.
static void print_operand(leat_dim dim, leat_text *out) {
  const leat_atom *atom = leat_dim_atom(dim);
  bool word = dim.poly ? atom && atom->kind != LEAT_ATOM_FLOORDIV : dim.value >= 0;
  if (!word) leat_text_add_n(out, "(", 1);
  leat_dim_print(dim, out);
  if (!word) leat_text_add_n(out, ")", 1);
}

static void print_atom(const leat_atom *atom, bool alone, leat_text *out) {
  switch (atom->kind) {
  case LEAT_ATOM_NAMED: leat_name_print(atom->name, out); break;
  case LEAT_ATOM_ANONYMOUS: leat_text_add_string(out, atom->name); break;
  case LEAT_ATOM_FLOORDIV:
    if (!alone) leat_text_add_n(out, "(", 1);
    print_operand(atom->a, out);
    leat_text_add_n(out, " // ", 4);
    print_operand(atom->b, out);
    if (!alone) leat_text_add_n(out, ")", 1);
    break;
  case LEAT_ATOM_MAX:
    leat_text_add_n(out, "max(", 4);
    leat_dim_print(atom->a, out);
    leat_text_add_n(out, ", ", 2);
    leat_dim_print(atom->b, out);
    leat_text_add_n(out, ")", 1);
    break;
  }
}

static void print_term(const leat_term *term, bool first, leat_text *out) {
  bool negative = term->coefficient < 0;
  uint64_t factor = negative ? 0 - (uint64_t)term->coefficient : (uint64_t)term->coefficient;
  bool written = factor != 1 || !term->count;
  leat_text_add_string(out, first ? (negative ? "-" : "") : negative ? " - " : " + ");
  if (written) leat_text_add_u64(out, factor);
  for (uint32_t i = 0; i < term->count; i++) {
    if (written || i) leat_text_add_n(out, "*", 1);
    print_atom(term->atoms[i], !written && term->count == 1 && !negative, out);
  }
}

void leat_dim_print(leat_dim dim, leat_text *out) {
  if (!dim.poly) leat_text_add_i64(out, dim.value);
  for (uint32_t i = 0; dim.poly && i < dim.poly->count; i++)
    print_term(&dim.poly->terms[i], i == 0, out);
}

const char *leat_dim_text(leat_arena *arena, leat_dim dim) {
  leat_text text = {0};
  leat_dim_print(dim, &text);
  const char *copy = leat_arena_strndup(arena, text.data, text.size);
  leat_text_finish(&text);
  return copy;
}
