// Dimensions: what is known of a tensor's extent while compiling.
//
// A dim is a polynomial with integer coefficients over atoms, in canonical order: named dims (`B`),
// anonymous dims (each `?` is its own, carried by identity), and the opaque terms floor-division
// and max of two dims. Equal form is equal pointers, because polynomials are interned in a
// leat_dims. A constant needs no interning. The canonical order goes by names and forms, never by
// time of creation.
#ifndef LEAT_IR_DIM_H
#define LEAT_IR_DIM_H

#include "base/arena.h"
#include "base/intern.h"
#include "base/text.h"

#include <stdbool.h>
#include <stdint.h>

typedef struct leat_poly leat_poly;
typedef struct leat_atom leat_atom;
typedef struct leat_dims leat_dims;

// poly NULL: the constant `value`; else `value` is 0 and the dim is *poly.
typedef struct leat_dim {
  int64_t value;
  const leat_poly *poly;
} leat_dim;

typedef enum leat_atom_kind {
  LEAT_ATOM_NAMED,     // has one value a step
  LEAT_ATOM_ANONYMOUS, // a `?`: known only while running
  LEAT_ATOM_FLOORDIV,  // a // b
  LEAT_ATOM_MAX,       // max(a, b)
} leat_atom_kind;

struct leat_atom {
  leat_atom_kind kind;
  uint32_t id;       // dense, in the order of creation
  uint32_t depth;    // opaque terms inside one another; 0 for names
  const char *name;  // NAMED: interned; ANONYMOUS: "?1", "?2", …
  int64_t low, high; // NAMED: bounds, inclusive; 0 and INT64_MAX when none were given
  leat_dim a, b;     // FLOORDIV, MAX
};

// coefficient × product of `count` atoms (with repetition, in the canonical order).
typedef struct leat_term {
  int64_t coefficient;
  uint32_t count;
  const leat_atom **atoms;
} leat_term;

// At least one term has an atom; the constant term, if any, has count 0 and comes last.
struct leat_poly {
  uint32_t count;
  leat_term *terms;
};

leat_dims *leat_dims_create(leat_arena *arena, leat_strings *strings);
// The dims of `base` as they are, and those to come apart from its: who copies a graph makes more
// in an arena of his own. `base` must outlive them, and forgets nothing that it has now.
leat_dims *leat_dims_extend(const leat_dims *base, leat_arena *arena);
leat_dim leat_dim_const(int64_t value);
// The dim called `name`, made at first use. Bounds given twice must agree (the caller checks with
// leat_dim_find).
leat_dim leat_dim_named(leat_dims *dims, const char *name, int64_t low, int64_t high);
const leat_atom *leat_dim_find(const leat_dims *dims, const char *name); // NULL when there is none
leat_dim leat_dim_anonymous(leat_dims *dims, const char *name);          // name NULL: a fresh `?`
leat_dim leat_dim_of_atom(leat_dims *dims, const leat_atom *atom);
uint32_t leat_dims_atom_count(const leat_dims *dims);
const leat_atom *leat_dims_atom(const leat_dims *dims, uint32_t id);

// What was made since a mark is forgotten: no dim made since may be used any more.
typedef struct leat_dims_mark {
  uint32_t atoms, polys, last_question;
} leat_dims_mark;
leat_dims_mark leat_dims_take_mark(const leat_dims *dims);
void leat_dims_truncate(leat_dims *dims, leat_dims_mark to);

bool leat_dim_is_const(leat_dim dim);
bool leat_dim_is(leat_dim dim, int64_t value);
bool leat_dim_equal(leat_dim a, leat_dim b);  // same form
const leat_atom *leat_dim_atom(leat_dim dim); // the atom when the dim is just that atom, else NULL

// Bounds, inclusive; INT64_MIN and INT64_MAX: none is known.
typedef struct leat_dim_range {
  int64_t low, high;
} leat_dim_range;
leat_dim_range leat_dim_bounds(leat_dim dim);
bool leat_dim_may_be(leat_dim dim, int64_t value); // false when bounds or form exclude it

// Arithmetic; overflow of a coefficient gives false and leaves *out alone. Constants fold.
bool leat_dim_add(leat_dims *dims, leat_dim a, leat_dim b, leat_dim *out);
bool leat_dim_sub(leat_dims *dims, leat_dim a, leat_dim b, leat_dim *out);
bool leat_dim_mul(leat_dims *dims, leat_dim a, leat_dim b, leat_dim *out);
bool leat_dim_floordiv(leat_dims *dims, leat_dim a, leat_dim b,
                       leat_dim *out); // exact polynomials divide exactly
bool leat_dim_max(leat_dims *dims, leat_dim a, leat_dim b, leat_dim *out);
bool leat_dim_min(leat_dims *dims, leat_dim a, leat_dim b, leat_dim *out);

// Calls `visit` for each atom with a name in the dim, those inside of opaque terms too.
typedef void (*leat_atom_visitor)(void *context, const leat_atom *atom);
void leat_dim_visit(leat_dim dim, leat_atom_visitor visit, void *context);

// The value under an assignment of the atoms by id; false when one is unknown (known[id] is false,
// or `known` is NULL), on overflow or a division by zero.
bool leat_dim_eval(leat_dim dim, const int64_t *values, const bool *known, int64_t *out);
// Replaces atoms by dims (replacement[id]; poly NULL with known false: stays).
bool leat_dim_substitute(leat_dims *dims, leat_dim dim, const leat_dim *replacement,
                         const bool *known, leat_dim *out);

// As the language writes it: `128`, `B`, `2*B*T + 1`, `(T - 1) / 2`, `?3`.
void leat_dim_print(leat_dim dim, leat_text *out);
const char *leat_dim_text(leat_arena *arena, leat_dim dim); // the same, in the arena

#endif
