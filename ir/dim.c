// Dims as interned polynomials.
//
// The canonical order never depends on when an atom was made, so that a text read back prints as it
// was: named atoms by name, then anonymous ones by number, then opaque ones by their operands;
// terms by falling degree, then by their atoms (a graded lexical order, which is also what
// polynomial division needs). Sizes are limited so that no text makes a polynomial explode: beyond
// the limits an operation fails as it does on overflow.
#include "ir/dim.h"

#include "base/map.h"
#include "base/vec.h"

#include <assert.h>
#include <string.h>

enum { MAX_TERMS = 128, MAX_DEGREE = 16, MAX_DEPTH = 16 };

struct leat_dims {
  leat_arena *arena;
  leat_strings *strings;
  const leat_dims *base; // those of its atoms that have a lower id are these dims', too; or NULL
  uint32_t base_atoms;
  leat_vec(leat_atom *) atoms;
  leat_vec(leat_poly *) made; // polys in the order of creation
  leat_map by_name;           // named and anonymous atoms
  leat_bytes_map opaque;      // opaque_key → leat_atom
  leat_bytes_map polys;       // coefficients and atom ids → leat_poly
  uint32_t last_question;     // number of the latest fresh `?`
};

typedef struct opaque_key {
  uint64_t kind;
  leat_dim a, b;
} opaque_key;

leat_dims *leat_dims_create(leat_arena *arena, leat_strings *strings) {
  leat_dims *dims = leat_new(arena, leat_dims);
  dims->arena = arena;
  dims->strings = strings;
  leat_map_init(&dims->by_name, arena);
  leat_bytes_map_init(&dims->opaque, arena);
  leat_bytes_map_init(&dims->polys, arena);
  return dims;
}

leat_dims *leat_dims_extend(const leat_dims *base, leat_arena *arena) {
  leat_dims *dims = leat_dims_create(arena, base->strings);
  dims->base = base;
  dims->base_atoms = leat_dims_atom_count(base);
  dims->last_question = base->last_question;
  return dims;
}

uint32_t leat_dims_atom_count(const leat_dims *dims) {
  return dims->base_atoms + dims->atoms.count;
}

const leat_atom *leat_dims_atom(const leat_dims *dims, uint32_t id) {
  assert(id < leat_dims_atom_count(dims));
  return id < dims->base_atoms ? leat_dims_atom(dims->base, id)
                               : dims->atoms.items[id - dims->base_atoms];
}

// -- Looking up ----------------------------------------------------------------------------------

// What the base has made since has ids that are others' here.
static leat_atom *shared(const leat_dims *dims, leat_atom *of_base) {
  return of_base && of_base->id < dims->base_atoms ? of_base : NULL;
}

static leat_atom *find_name(const leat_dims *dims, const char *interned) {
  leat_atom *atom = leat_map_get(&dims->by_name, interned);
  return atom || !dims->base ? atom : shared(dims, find_name(dims->base, interned));
}

static leat_atom *find_opaque(const leat_dims *dims, const opaque_key *key) {
  leat_atom *atom = leat_bytes_map_get(&dims->opaque, key, sizeof *key);
  return atom || !dims->base ? atom : shared(dims, find_opaque(dims->base, key));
}

// `highest`: of the atoms in the key.
static leat_poly *find_poly(const leat_dims *dims, const leat_text *key, uint32_t highest) {
  leat_poly *poly = leat_bytes_map_get(&dims->polys, key->data, key->size);
  bool is_shared = !poly && dims->base && highest < dims->base_atoms;
  return is_shared ? find_poly(dims->base, key, highest) : poly;
}

// -- The canonical order -------------------------------------------------------------------------

static int compare_dims(leat_dim a, leat_dim b);

static int compare_names(const char *a, const char *b) {
  size_t a_size = strlen(a), b_size = strlen(b);
  if (a[0] == '?' && a_size != b_size) return a_size < b_size ? -1 : 1;
  return strcmp(a, b);
}

static int compare_atoms(const leat_atom *a, const leat_atom *b) {
  if (a == b) return 0;
  if (a->kind != b->kind) return a->kind < b->kind ? -1 : 1;
  if (a->name) return compare_names(a->name, b->name);
  int first = compare_dims(a->a, b->a);
  return first ? first : compare_dims(a->b, b->b);
}

static int compare_monomials(const leat_term *a, const leat_term *b) {
  if (a->count != b->count) return a->count > b->count ? -1 : 1;
  for (uint32_t i = 0; i < a->count; i++) {
    int order = compare_atoms(a->atoms[i], b->atoms[i]);
    if (order) return order;
  }
  return 0;
}

static int compare_numbers(int64_t a, int64_t b) {
  return a < b ? -1 : a > b;
}

static int compare_dims(leat_dim a, leat_dim b) {
  if (!a.poly || !b.poly || a.poly == b.poly)
    return a.poly == b.poly ? compare_numbers(a.value, b.value) : a.poly ? 1 : -1;
  if (a.poly->count != b.poly->count) return a.poly->count < b.poly->count ? -1 : 1;
  for (uint32_t i = 0; i < a.poly->count; i++) {
    const leat_term *s = &a.poly->terms[i], *t = &b.poly->terms[i];
    int order = compare_monomials(s, t);
    if (!order) order = compare_numbers(s->coefficient, t->coefficient);
    if (order) return order;
  }
  return 0;
}

// -- Making polynomials --------------------------------------------------------------------------

// Terms on their way to become a dim.
typedef struct sum {
  uint32_t count;
  leat_term terms[MAX_TERMS];
} sum;

// Adds a term in its place; merges it with an equal monomial. False on overflow or when there are
// too many.
static bool sum_add(sum *s, leat_term term) {
  uint32_t i = 0;
  while (i < s->count && compare_monomials(&s->terms[i], &term) < 0) i++;
  if (i < s->count && compare_monomials(&s->terms[i], &term) == 0) {
    int64_t *coefficient = &s->terms[i].coefficient;
    if (__builtin_add_overflow(*coefficient, term.coefficient, coefficient)) return false;
    if (*coefficient) return true;
    memmove(&s->terms[i], &s->terms[i + 1], (--s->count - i) * sizeof *s->terms);
    return true;
  }
  if (!term.coefficient) return true;
  if (s->count == MAX_TERMS) return false;
  memmove(&s->terms[i + 1], &s->terms[i], (s->count++ - i) * sizeof *s->terms);
  s->terms[i] = term;
  return true;
}

// The terms of a dim; a constant's single term is made in *room.
static const leat_term *terms_of(leat_dim dim, leat_term *room, uint32_t *out_count) {
  *room = (leat_term){.coefficient = dim.value};
  *out_count = dim.poly ? dim.poly->count : 1;
  return dim.poly ? dim.poly->terms : room;
}

// Answers the highest id of an atom.
static uint32_t add_key(leat_text *key, uint32_t count, const leat_term *terms) {
  uint32_t highest = 0;
  for (uint32_t i = 0; i < count; i++) {
    const leat_term *term = &terms[i];
    leat_text_add_n(key, (const char *)&term->coefficient, sizeof term->coefficient);
    leat_text_add_n(key, (const char *)&term->count, sizeof term->count);
    for (uint32_t j = 0; j < term->count; j++) {
      uint32_t id = term->atoms[j]->id;
      leat_text_add_n(key, (const char *)&id, sizeof id);
      if (id > highest) highest = id;
    }
  }
  return highest;
}

static leat_dim intern_poly(leat_dims *dims, const sum *s) {
  leat_text key = {0};
  leat_poly *poly = find_poly(dims, &key, add_key(&key, s->count, s->terms));
  if (!poly) {
    poly = leat_new(dims->arena, leat_poly);
    poly->count = s->count;
    poly->terms = leat_arena_memdup(dims->arena, s->terms, s->count * sizeof *s->terms);
    leat_bytes_map_set(&dims->polys, key.data, key.size, poly);
    leat_vec_push(dims->arena, &dims->made, poly);
  }
  leat_text_finish(&key);
  return (leat_dim){.poly = poly};
}

static leat_dim dim_of_sum(leat_dims *dims, const sum *s) {
  if (!s->count) return leat_dim_const(0);
  if (s->count == 1 && !s->terms[0].count) return leat_dim_const(s->terms[0].coefficient);
  return intern_poly(dims, s);
}

leat_dim leat_dim_of_atom(leat_dims *dims, const leat_atom *atom) {
  sum s = {.count = 1};
  s.terms[0] = (leat_term){1, 1, leat_arena_memdup(dims->arena, &atom, sizeof atom)};
  return intern_poly(dims, &s);
}

static leat_atom *new_atom(leat_dims *dims, leat_atom_kind kind) {
  leat_atom *atom = leat_new(dims->arena, leat_atom);
  atom->kind = kind;
  atom->id = leat_dims_atom_count(dims);
  atom->high = INT64_MAX;
  leat_vec_push(dims->arena, &dims->atoms, atom);
  return atom;
}

leat_dim leat_dim_const(int64_t value) {
  return (leat_dim){.value = value};
}

const leat_atom *leat_dim_find(const leat_dims *dims, const char *name) {
  return find_name(dims, leat_intern(dims->strings, name));
}

static leat_dim name_atom(leat_dims *dims, leat_atom_kind kind, const char *name, int64_t low,
                          int64_t high) {
  name = leat_intern(dims->strings, name);
  leat_atom *atom = find_name(dims, name);
  if (!atom) {
    atom = new_atom(dims, kind);
    atom->name = name;
    atom->low = low;
    atom->high = high;
    leat_map_set(&dims->by_name, name, atom);
  }
  return leat_dim_of_atom(dims, atom);
}

leat_dim leat_dim_named(leat_dims *dims, const char *name, int64_t low, int64_t high) {
  return name_atom(dims, LEAT_ATOM_NAMED, name, low, high);
}

leat_dim leat_dim_anonymous(leat_dims *dims, const char *name) {
  while (!name) {
    const char *fresh = leat_intern_printf(dims->strings, "?%u", ++dims->last_question);
    if (!find_name(dims, fresh)) name = fresh;
  }
  return name_atom(dims, LEAT_ATOM_ANONYMOUS, name, 0, INT64_MAX);
}

static uint32_t depth_of(leat_dim dim) {
  uint32_t depth = 0;
  for (uint32_t i = 0; dim.poly && i < dim.poly->count; i++)
    for (uint32_t j = 0; j < dim.poly->terms[i].count; j++)
      if (dim.poly->terms[i].atoms[j]->depth > depth) depth = dim.poly->terms[i].atoms[j]->depth;
  return depth;
}

static bool make_opaque(leat_dims *dims, leat_atom_kind kind, leat_dim a, leat_dim b,
                        leat_dim *out) {
  opaque_key key = {kind, a, b};
  leat_atom *atom = find_opaque(dims, &key);
  if (!atom) {
    uint32_t a_depth = depth_of(a), b_depth = depth_of(b);
    uint32_t depth = 1 + (a_depth > b_depth ? a_depth : b_depth);
    if (depth > MAX_DEPTH) return false;
    atom = new_atom(dims, kind);
    atom->depth = depth;
    atom->a = a;
    atom->b = b;
    leat_bytes_map_set(&dims->opaque, &key, sizeof key, atom);
  }
  *out = leat_dim_of_atom(dims, atom);
  return true;
}

// -- Forgetting ----------------------------------------------------------------------------------

leat_dims_mark leat_dims_take_mark(const leat_dims *dims) {
  return (leat_dims_mark){dims->atoms.count, dims->made.count, dims->last_question};
}

void leat_dims_truncate(leat_dims *dims, leat_dims_mark to) {
  while (dims->made.count > to.polys) {
    const leat_poly *poly = dims->made.items[--dims->made.count];
    leat_text key = {0};
    add_key(&key, poly->count, poly->terms);
    leat_bytes_map_set(&dims->polys, key.data, key.size, NULL);
    leat_text_finish(&key);
  }
  while (dims->atoms.count > to.atoms) {
    const leat_atom *atom = dims->atoms.items[--dims->atoms.count];
    opaque_key key = {atom->kind, atom->a, atom->b};
    if (atom->name)
      leat_map_set(&dims->by_name, atom->name, NULL);
    else
      leat_bytes_map_set(&dims->opaque, &key, sizeof key, NULL);
  }
  dims->last_question = to.last_question;
}

// -- Asking --------------------------------------------------------------------------------------

bool leat_dim_is_const(leat_dim dim) {
  return !dim.poly;
}

bool leat_dim_is(leat_dim dim, int64_t value) {
  return !dim.poly && dim.value == value;
}

bool leat_dim_equal(leat_dim a, leat_dim b) {
  return a.poly == b.poly && a.value == b.value;
}

const leat_atom *leat_dim_atom(leat_dim dim) {
  if (!dim.poly || dim.poly->count != 1) return NULL;
  const leat_term *term = &dim.poly->terms[0];
  return term->coefficient == 1 && term->count == 1 ? term->atoms[0] : NULL;
}

void leat_dim_visit(leat_dim dim, leat_atom_visitor visit, void *context) {
  for (uint32_t i = 0; dim.poly && i < dim.poly->count; i++) {
    const leat_term *term = &dim.poly->terms[i];
    for (uint32_t j = 0; j < term->count; j++) {
      const leat_atom *atom = term->atoms[j];
      if (atom->name) {
        visit(context, atom);
        continue;
      }
      leat_dim_visit(atom->a, visit, context);
      leat_dim_visit(atom->b, visit, context);
    }
  }
}

// -- Arithmetic ----------------------------------------------------------------------------------

// *out = a + factor × b.
static bool add_multiple(leat_dims *dims, leat_dim a, int64_t factor, leat_dim b, leat_dim *out) {
  sum s = {0};
  leat_term room;
  uint32_t count;
  const leat_term *terms = terms_of(a, &room, &count);
  for (uint32_t i = 0; i < count; i++)
    if (!sum_add(&s, terms[i])) return false;
  terms = terms_of(b, &room, &count);
  for (uint32_t i = 0; i < count; i++) {
    leat_term term = terms[i];
    if (__builtin_mul_overflow(term.coefficient, factor, &term.coefficient)) return false;
    if (!sum_add(&s, term)) return false;
  }
  *out = dim_of_sum(dims, &s);
  return true;
}

bool leat_dim_add(leat_dims *dims, leat_dim a, leat_dim b, leat_dim *out) {
  return add_multiple(dims, a, 1, b, out);
}

bool leat_dim_sub(leat_dims *dims, leat_dim a, leat_dim b, leat_dim *out) {
  return add_multiple(dims, a, -1, b, out);
}

static bool multiply_terms(leat_dims *dims, const leat_term *a, const leat_term *b,
                           leat_term *out) {
  uint32_t count = a->count + b->count, i = 0, j = 0;
  if (count > MAX_DEGREE) return false;
  if (__builtin_mul_overflow(a->coefficient, b->coefficient, &out->coefficient)) return false;
  out->count = count;
  out->atoms = leat_new_array(dims->arena, const leat_atom *, count);
  for (uint32_t k = 0; k < count; k++) {
    bool from_a = j == b->count || (i < a->count && compare_atoms(a->atoms[i], b->atoms[j]) <= 0);
    out->atoms[k] = from_a ? a->atoms[i++] : b->atoms[j++];
  }
  return true;
}

bool leat_dim_mul(leat_dims *dims, leat_dim a, leat_dim b, leat_dim *out) {
  sum s = {0};
  leat_term a_room, b_room, product;
  uint32_t a_count, b_count;
  const leat_term *x = terms_of(a, &a_room, &a_count), *y = terms_of(b, &b_room, &b_count);
  for (uint32_t i = 0; i < a_count; i++)
    for (uint32_t j = 0; j < b_count; j++)
      if (!multiply_terms(dims, &x[i], &y[j], &product) || !sum_add(&s, product)) return false;
  *out = dim_of_sum(dims, &s);
  return true;
}

// *out = a / b when both the coefficient and the atoms divide.
static bool divide_terms(leat_dims *dims, const leat_term *a, const leat_term *b, leat_term *out) {
  if (a->count < b->count || a->coefficient == INT64_MIN || a->coefficient % b->coefficient)
    return false;
  out->coefficient = a->coefficient / b->coefficient;
  out->count = 0;
  out->atoms = leat_new_array(dims->arena, const leat_atom *, a->count);
  uint32_t j = 0;
  for (uint32_t i = 0; i < a->count; i++) {
    if (j < b->count && a->atoms[i] == b->atoms[j])
      j++;
    else
      out->atoms[out->count++] = a->atoms[i];
  }
  return j == b->count;
}

// Long division by leading terms; false when b does not divide a.
static bool divide_exactly(leat_dims *dims, leat_dim a, leat_dim b, leat_dim *out) {
  leat_dim quotient = leat_dim_const(0);
  for (int round = 0; round < MAX_TERMS && !leat_dim_is(a, 0); round++) {
    leat_term a_room, b_room;
    sum lead = {.count = 1};
    uint32_t count;
    const leat_term *x = terms_of(a, &a_room, &count), *y = terms_of(b, &b_room, &count);
    if (!divide_terms(dims, x, y, &lead.terms[0])) return false;
    leat_dim part = dim_of_sum(dims, &lead), product;
    if (!leat_dim_add(dims, quotient, part, &quotient) || !leat_dim_mul(dims, part, b, &product) ||
        !leat_dim_sub(dims, a, product, &a))
      return false;
  }
  if (!leat_dim_is(a, 0)) return false;
  *out = quotient;
  return true;
}

static bool divide_values(int64_t a, int64_t b, int64_t *out) {
  if (b == 0 || (a == INT64_MIN && b == -1)) return false;
  *out = a / b - (a % b && (a < 0) != (b < 0));
  return true;
}

bool leat_dim_floordiv(leat_dims *dims, leat_dim a, leat_dim b, leat_dim *out) {
  if (leat_dim_is(b, 0)) return false;
  if (!a.poly && !b.poly) {
    int64_t value;
    if (!divide_values(a.value, b.value, &value)) return false;
    *out = leat_dim_const(value);
    return true;
  }
  return divide_exactly(dims, a, b, out) || make_opaque(dims, LEAT_ATOM_FLOORDIV, a, b, out);
}

// *rest = dim less its constant term, which is returned.
static int64_t take_constant(leat_dims *dims, leat_dim dim, leat_dim *rest) {
  int64_t constant = dim.value;
  *rest = leat_dim_const(0);
  if (!dim.poly) return constant;
  sum s = {.count = dim.poly->count};
  memcpy(s.terms, dim.poly->terms, s.count * sizeof *s.terms);
  if (!s.terms[s.count - 1].count) constant = s.terms[--s.count].coefficient;
  *rest = dim_of_sum(dims, &s);
  return constant;
}

// Whether `all` is the maximum of `dim` and others.
static bool is_among(leat_dims *dims, leat_dim dim, leat_dim all) {
  leat_dim rest, less;
  leat_dim constant = leat_dim_const(take_constant(dims, all, &rest));
  const leat_atom *atom = leat_dim_atom(rest);
  return atom && atom->kind == LEAT_ATOM_MAX && leat_dim_sub(dims, dim, constant, &less) &&
         (leat_dim_equal(less, atom->a) || leat_dim_equal(less, atom->b) ||
          is_among(dims, less, atom->a) || is_among(dims, less, atom->b));
}

// One form for max(a, b), however it came about: max(k, x) + c, where x has no constant term and,
// when k is a number, is no such max itself.
bool leat_dim_max(leat_dims *dims, leat_dim a, leat_dim b, leat_dim *out) {
  leat_dim difference, x, y;
  bool second = is_among(dims, a, b);
  if (second || is_among(dims, b, a)) {
    *out = second ? b : a;
    return true;
  }
  if (leat_dim_sub(dims, a, b, &difference)) {
    leat_dim_range r = leat_dim_bounds(difference);
    if (r.low >= 0 || r.high <= 0) {
      *out = r.low >= 0 ? a : b;
      return true;
    }
  }
  int64_t a_constant = take_constant(dims, a, &x), b_constant = take_constant(dims, b, &y);
  bool in_order = compare_dims(x, y) <= 0;
  leat_dim k = in_order ? a : b, c = leat_dim_const(in_order ? b_constant : a_constant), most;
  if (in_order) x = y;
  const leat_atom *inner = leat_dim_atom(x);
  if (!leat_dim_sub(dims, k, c, &k)) return false;
  if (inner && inner->kind == LEAT_ATOM_MAX && !k.poly && !inner->a.poly) {
    k = inner->a.value > k.value ? inner->a : k;
    x = inner->b;
  }
  return make_opaque(dims, LEAT_ATOM_MAX, k, x, &most) && leat_dim_add(dims, most, c, out);
}

// a + b - max(a, b)
bool leat_dim_min(leat_dims *dims, leat_dim a, leat_dim b, leat_dim *out) {
  leat_dim most, both;
  return leat_dim_max(dims, a, b, &most) && leat_dim_add(dims, a, b, &both) &&
         leat_dim_sub(dims, both, most, out);
}

// -- Values for atoms ----------------------------------------------------------------------------

static bool eval_atom(const leat_atom *atom, const int64_t *values, const bool *known,
                      int64_t *out) {
  if (atom->name) {
    if (!known || !known[atom->id]) return false;
    *out = values[atom->id];
    return true;
  }
  int64_t a, b;
  if (!leat_dim_eval(atom->a, values, known, &a) || !leat_dim_eval(atom->b, values, known, &b))
    return false;
  if (atom->kind == LEAT_ATOM_FLOORDIV) return divide_values(a, b, out);
  *out = a > b ? a : b;
  return true;
}

bool leat_dim_eval(leat_dim dim, const int64_t *values, const bool *known, int64_t *out) {
  int64_t total = dim.value;
  for (uint32_t i = 0; dim.poly && i < dim.poly->count; i++) {
    const leat_term *term = &dim.poly->terms[i];
    int64_t product = term->coefficient, value;
    for (uint32_t j = 0; j < term->count; j++)
      if (!eval_atom(term->atoms[j], values, known, &value) ||
          __builtin_mul_overflow(product, value, &product))
        return false;
    if (__builtin_add_overflow(total, product, &total)) return false;
  }
  *out = total;
  return true;
}

static bool substitute_atom(leat_dims *dims, const leat_atom *atom, const leat_dim *replacement,
                            const bool *known, leat_dim *out) {
  if (atom->name) {
    *out = known[atom->id] ? replacement[atom->id] : leat_dim_of_atom(dims, atom);
    return true;
  }
  leat_dim a, b;
  if (!leat_dim_substitute(dims, atom->a, replacement, known, &a) ||
      !leat_dim_substitute(dims, atom->b, replacement, known, &b))
    return false;
  return atom->kind == LEAT_ATOM_FLOORDIV ? leat_dim_floordiv(dims, a, b, out)
                                          : leat_dim_max(dims, a, b, out);
}

bool leat_dim_substitute(leat_dims *dims, leat_dim dim, const leat_dim *replacement,
                         const bool *known, leat_dim *out) {
  leat_dim total = leat_dim_const(dim.value);
  for (uint32_t i = 0; dim.poly && i < dim.poly->count; i++) {
    const leat_term *term = &dim.poly->terms[i];
    leat_dim product = leat_dim_const(term->coefficient), factor;
    for (uint32_t j = 0; j < term->count; j++)
      if (!substitute_atom(dims, term->atoms[j], replacement, known, &factor) ||
          !leat_dim_mul(dims, product, factor, &product))
        return false;
    if (!leat_dim_add(dims, total, product, &total)) return false;
  }
  *out = total;
  return true;
}
