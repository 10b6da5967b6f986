// einsum("bij,bjk->bik", a, b): NumPy's, made of transposes, reshapes, sums, products and matmuls.
//
// Operands meet from left to right. Of two, what no one asks for any more is summed: what only one
// of them has before they meet, what both have as the inner axis of a matmul, whose batch is what
// both have and somebody still wants. An index twice in one operand takes its diagonal.
#include "frontend/evaluate/calls.h"

#include "ops/shape.h"

#include <ctype.h>
#include <string.h>

enum { DOTS = 128, MOST_OPERANDS = 32 }; // DOTS + i: axis i from the right of what `...` stands for

// A tensor and what its axes are called.
typedef struct labelled {
  ev value;
  int rank;
  uint8_t label[LEAT_MAX_RANK];
} labelled;

typedef struct einsum {
  evaluator *e;
  const ev_builtin_call *call;
  const char *text;
  uint32_t count; // operands
  labelled operands[MOST_OPERANDS];
  labelled out;
} einsum;

static const leat_type *type_of(const labelled *x) {
  return leat_value_type(x->value.tensor);
}

// -- The equation -------------------------------------------------------------------------------

// A place in the equation, where its text stands as it is.
static leat_span span_at(const einsum *s, const char *at) {
  leat_span span = s->call->spans[0];
  if (span.end - span.begin != s->call->args[0].size + 2) return span;
  span.begin += 1 + (uint32_t)(at - s->text);
  span.end = span.begin + 1;
  return span;
}

static const char *skip_blanks(const char *at) {
  while (*at == ' ') at++;
  return at;
}

// One term from `at` to a comma, an arrow or the end; NULL: reported. `rank` is that of `...`.
static const char *read_term(einsum *s, const char *at, int dots, labelled *out, bool *has_dots) {
  *has_dots = false;
  out->rank = 0;
  for (at = skip_blanks(at); *at && *at != ',' && *at != '-'; at = skip_blanks(at)) {
    bool more = !strncmp(at, "...", 3);
    int added = more ? dots : 1;
    if (!more && !isalpha((unsigned char)*at))
      return ev_fail(s->e, span_at(s, at), "einsum: expected a letter, `...`, `,` or `->`"), NULL;
    if (more && *has_dots)
      return ev_fail(s->e, span_at(s, at), "einsum: a second `...` in one term"), NULL;
    if (out->rank + added > LEAT_MAX_RANK)
      return ev_fail(s->e, span_at(s, at), "einsum: a term of more than %d indices", LEAT_MAX_RANK),
             NULL;
    for (int i = added - 1; more && i >= 0; i--) out->label[out->rank++] = (uint8_t)(DOTS + i);
    if (!more) out->label[out->rank++] = (uint8_t)*at;
    *has_dots |= more;
    at += more ? 3 : 1;
  }
  return at;
}

// The operands' terms are read twice: how many axes `...` is shows when the letters are counted.
static bool read_operand(einsum *s, uint32_t i, const char **at) {
  labelled *x = &s->operands[i];
  const ev_argument *given = &s->call->rest[i];
  leat_value tensor = ev_as_tensor(s->e, given->value, -1, given->span);
  bool dots;
  if (!tensor.node) return false;
  const char *end = read_term(s, *at, 0, x, &dots);
  if (!end) return false;
  x->value = ev_tensor(tensor);
  int more = type_of(x)->rank - x->rank;
  if (more < 0 || (more > 0 && !dots)) {
    ev_fail(s->e, given->span, "einsum: operand %u is called `%.*s`, which is %d %s, and is %s",
            i + 1, (int)(end - *at), *at, x->rank, x->rank == 1 ? "index" : "indices",
            leat_type_text(s->e->graph->arena, type_of(x)));
    return false;
  }
  read_term(s, *at, more, x, &dots);
  *at = end;
  return true;
}

static bool has_label(const labelled *x, int label) {
  return memchr(x->label, label, (size_t)x->rank) != NULL;
}

static bool any_has(const einsum *s, uint32_t first, int label) {
  for (uint32_t i = first; i < s->count; i++)
    if (has_label(&s->operands[i], label)) return true;
  return false;
}

static int most_dots(const einsum *s) {
  int most = 0;
  for (int i = 0; i < LEAT_MAX_RANK; i++)
    if (any_has(s, 0, DOTS + i)) most = i + 1;
  return most;
}

// Without `->`: `...`, then what stands there once, in the alphabet's order.
static bool implied_output(einsum *s) {
  for (int i = most_dots(s) - 1; i >= 0; i--) s->out.label[s->out.rank++] = (uint8_t)(DOTS + i);
  for (int label = 'A'; label <= 'z'; label++) {
    int times = 0;
    for (uint32_t i = 0; i < s->count; i++)
      for (int k = 0; k < s->operands[i].rank; k++) times += s->operands[i].label[k] == label;
    if (times != 1) continue;
    if (s->out.rank == LEAT_MAX_RANK) {
      ev_fail(s->e, s->call->spans[0], "einsum: the result has more than %d axes", LEAT_MAX_RANK);
      return false;
    }
    s->out.label[s->out.rank++] = (uint8_t)label;
  }
  return true;
}

static bool given_output(einsum *s, const char *at) {
  bool dots;
  const char *end = read_term(s, at, most_dots(s), &s->out, &dots);
  if (end && *end) ev_fail(s->e, span_at(s, end), "einsum: expected one term behind `->`");
  if (!end || *end) return false;
  for (; *at; at++) {
    if (!isalpha((unsigned char)*at)) continue;
    if (!any_has(s, 0, *at)) {
      ev_fail(s->e, span_at(s, at), "einsum: no operand has the index `%c`", *at);
      return false;
    }
    if (strchr(at + 1, *at)) {
      ev_fail(s->e, span_at(s, at), "einsum: the result has the index `%c` twice", *at);
      return false;
    }
  }
  if (!dots && most_dots(s))
    ev_fail(s->e, s->call->spans[0], "einsum: the result needs `...`, as an operand has it");
  return dots || !most_dots(s);
}

static bool read_equation(einsum *s) {
  const char *at = s->text;
  for (uint32_t i = 0; i < s->count; i++) {
    if (!read_operand(s, i, &at)) return false;
    bool last = i + 1 == s->count;
    if (last == (*at == ',')) {
      ev_fail(s->e, span_at(s, at), "einsum: %s terms than operands, of which there are %u",
              last ? "more" : "fewer", s->count);
      return false;
    }
    at += !last;
  }
  if (!*at) return implied_output(s);
  if (at[1] == '>') return given_output(s, at + 2);
  ev_fail(s->e, span_at(s, at), "einsum: expected `->`");
  return false;
}

// -- Nodes --------------------------------------------------------------------------------------

static ev node(einsum *s, leat_op op, const ev *inputs, uint32_t count, const leat_attr *attrs) {
  return ev_op(s->e, op, inputs, count, attrs, s->call->span, s->call->hint);
}

static int64_t *ints(einsum *s, uint32_t count) {
  return leat_new_array(s->e->arena, int64_t, (size_t)count + 1);
}

static bool keep(labelled *x, ev value) {
  x->value = value;
  return value.kind == EV_TENSOR;
}

static bool reshape(einsum *s, labelled *x, const leat_dim *dims, int rank) {
  const leat_type *type = type_of(x);
  bool same = type->rank == rank;
  for (int k = 0; same && k < rank; k++) same = leat_dim_equal(type->dims[k], dims[k]);
  if (same) return true;
  leat_attr attr = {.count = (uint32_t)rank};
  attr.dims = leat_arena_memdup(s->e->arena, dims, (size_t)rank * sizeof *dims);
  return keep(x, node(s, LEAT_OP_reshape, &x->value, 1, &attr));
}

// Axis i of the result is axis order[i].
static bool transpose(einsum *s, labelled *x, const int *order) {
  labelled from = *x;
  bool moved = false;
  leat_attr perm = {.count = (uint32_t)x->rank, .ints = ints(s, (uint32_t)x->rank)};
  for (int i = 0; i < x->rank; i++) {
    ((int64_t *)perm.ints)[i] = order[i];
    x->label[i] = from.label[order[i]];
    moved |= order[i] != i;
  }
  return !moved || keep(x, node(s, LEAT_OP_transpose, &x->value, 1, &perm));
}

static void drop_label(labelled *x, int axis) {
  x->rank--;
  memmove(x->label + axis, x->label + axis + 1, (size_t)(x->rank - axis));
}

// Two axes of one label: behind each other they are one of n * n, whose every (n + 1)th element is
// on the diagonal.
static bool take_diagonal(einsum *s, labelled *x, int first, int second) {
  leat_dim n = type_of(x)->dims[first], square;
  int order[LEAT_MAX_RANK], rank = 0;
  if (!leat_dim_equal(n, type_of(x)->dims[second]) || !leat_dim_is_const(n)) {
    ev_fail(s->e, s->call->span, "einsum: the axes of `%c` in %s must be of one constant extent",
            x->label[first], leat_type_text(s->e->graph->arena, type_of(x)));
    return false;
  }
  for (int k = 0; k < x->rank; k++)
    if (k != first && k != second) order[rank++] = k;
  order[rank] = first;
  order[rank + 1] = second;
  if (!leat_dim_mul(s->e->graph->dims, n, n, &square)) { // where another axis is of 0
    ev_fail(s->e, s->call->span, "einsum: too many elements");
    return false;
  }
  if (!transpose(s, x, order)) return false;
  leat_type type = *type_of(x);
  type.dims[rank] = square;
  if (!reshape(s, x, type.dims, rank + 1)) return false;
  int64_t *steps = ints(s, LEAT_MAX_RANK);
  leat_dim *starts = leat_new_array(s->e->arena, leat_dim, LEAT_MAX_RANK);
  for (int k = 0; k <= rank; k++) starts[k] = leat_dim_const(0), steps[k] = 1;
  steps[rank] = n.value + 1;
  type.dims[rank] = n;
  uint32_t count = (uint32_t)rank + 1;
  leat_attr attrs[] = {{.count = count, .dims = starts}, {.count = count}, {.count = count}};
  attrs[1].dims = leat_arena_memdup(s->e->arena, type.dims, sizeof type.dims);
  attrs[2].ints = steps;
  drop_label(x, x->rank - 1);
  return keep(x, node(s, LEAT_OP_slice, &x->value, 1, attrs));
}

static bool take_diagonals(einsum *s, labelled *x) {
  for (int i = 0; i < x->rank; i++)
    for (int k = x->rank - 1; k > i; k--)
      if (x->label[i] == x->label[k]) return take_diagonal(s, x, i, k) && take_diagonals(s, x);
  return true;
}

// Whether the result, or an operand from `next` on, has the label.
static bool is_wanted(const einsum *s, uint32_t next, int label) {
  return has_label(&s->out, label) || any_has(s, next, label);
}

// Sums what nobody else has.
static bool sum_alone(einsum *s, labelled *x, const labelled *other, uint32_t next) {
  leat_attr attrs[] = {{.ints = ints(s, LEAT_MAX_RANK)}, {.i = 0}};
  uint32_t count = 0;
  for (int k = 0, axis = 0; k < x->rank; axis++) {
    int label = x->label[k];
    if ((other && has_label(other, label)) || is_wanted(s, next, label)) {
      k++;
      continue;
    }
    ((int64_t *)attrs[0].ints)[count++] = axis;
    drop_label(x, k);
  }
  attrs[0].count = count;
  return !count || keep(x, node(s, LEAT_OP_sum, &x->value, 1, attrs));
}

static leat_dim dim_of(const labelled *x, int label) {
  int axis = 0;
  while (x->label[axis] != label) axis++;
  return type_of(x)->dims[axis];
}

// An axis of 1 gives way to the other's: it is as if it were not there.
static bool drop_ones(einsum *s, labelled *x, const labelled *other) {
  leat_type type = *type_of(x);
  for (int k = x->rank - 1; k >= 0; k--) {
    if (!has_label(other, x->label[k])) continue;
    if (!leat_dim_is(type.dims[k], 1)) continue;
    type.rank--;
    memmove(type.dims + k, type.dims + k + 1, (size_t)(type.rank - k) * sizeof *type.dims);
    drop_label(x, k);
  }
  return reshape(s, x, type.dims, type.rank);
}

// Of an index that both have the extents are equal; where only a check while running can tell, b
// becomes what has been checked.
static bool check_dims(einsum *s, const labelled *a, labelled *b, uint32_t operand) {
  leat_type checked = *type_of(b);
  for (int k = 0; k < b->rank; k++) {
    int label = b->label[k];
    if (!has_label(a, label)) continue;
    checked.dims[k] = dim_of(a, label);
    if (leat_dims_may_be_equal(s->e->graph, type_of(b)->dims[k], checked.dims[k])) continue;
    const char *name = label < DOTS ? leat_arena_printf(s->e->arena, "%c", label) : "...";
    const char *clash = leat_dims_clash(s->e->graph, checked.dims[k], type_of(b)->dims[k]);
    ev_fail(s->e, s->call->rest[operand].span, "einsum: index `%s` of operand %u: %s", name,
            operand + 1, clash);
    return false;
  }
  leat_builder builder = ev_builder(s->e, s->call->span);
  return keep(b, ev_tensor(leat_build_ensure(&builder, b->value.tensor, &checked)));
}

// -- Two operands -------------------------------------------------------------------------------

typedef enum part { BATCH, FREE, INNER, PARTS } part;

static part part_of(const einsum *s, const labelled *other, uint32_t next, int label) {
  if (!has_label(other, label)) return FREE;
  return is_wanted(s, next, label) ? BATCH : INNER;
}

// x as [batch, free, inner] or [batch, inner, free]; labels in the order of `like` for those that
// both have. What goes to each part joins `parts`.
static bool as_matrices(einsum *s, labelled *x, const labelled *like, const labelled *other,
                        uint32_t next, const part *parts, labelled *kept) {
  int order[LEAT_MAX_RANK], count = 0;
  leat_dim dims[PARTS], all = leat_dim_const(1);
  for (int p = 0; p < PARTS; p++) {
    const labelled *from = parts[p] == FREE ? x : like;
    dims[p] = all;
    for (int k = 0; k < from->rank; k++) {
      int label = from->label[k], axis = 0;
      if (!has_label(x, label) || part_of(s, other, next, label) != parts[p]) continue;
      while (x->label[axis] != label) axis++;
      order[count++] = axis;
      if (!leat_dim_mul(s->e->graph->dims, dims[p], type_of(x)->dims[axis], &dims[p])) {
        ev_fail(s->e, s->call->span, "einsum: too many elements");
        return false;
      }
    }
  }
  if (!transpose(s, x, order)) return false;
  *kept = *x;
  bool batched = !leat_dim_is(dims[0], 1);
  return reshape(s, x, batched ? dims : dims + 1, batched ? 3 : 2);
}

// Adds the axes of `x` that go to a part to `out` and their extents to `dims`.
static bool add_labels(einsum *s, const labelled *x, const labelled *other, uint32_t next, part p,
                       labelled *out, leat_dim *dims) {
  for (int k = 0; k < x->rank; k++) {
    if (part_of(s, other, next, x->label[k]) != p) continue;
    if (out->rank == LEAT_MAX_RANK) {
      ev_fail(s->e, s->call->span, "einsum: between operands there are more than %d axes",
              LEAT_MAX_RANK);
      return false;
    }
    dims[out->rank] = type_of(x)->dims[k];
    out->label[out->rank++] = x->label[k];
  }
  return true;
}

static bool has_part(const einsum *s, const labelled *x, const labelled *other, uint32_t next,
                     part p) {
  for (int k = 0; k < x->rank; k++)
    if (part_of(s, other, next, x->label[k]) == p) return true;
  return false;
}

// a := a · b, element by element: a's axes, then those that only b has.
static bool multiply(einsum *s, labelled *a, labelled *b, uint32_t next) {
  int order[LEAT_MAX_RANK] = {0}, count = 0, rank = a->rank;
  labelled out = *a;
  leat_dim dims[LEAT_MAX_RANK];
  if (!add_labels(s, b, a, next, FREE, &out, dims)) return false;
  for (int i = 0; i < out.rank; i++)
    for (int k = 0; k < b->rank; k++)
      if (b->label[k] == out.label[i]) order[count++] = k;
  if (!transpose(s, b, order)) return false;
  for (int i = 0, k = 0; i < out.rank; i++)
    dims[i] = has_label(b, out.label[i]) ? type_of(b)->dims[k++] : leat_dim_const(1);
  if (!reshape(s, b, dims, out.rank)) return false;
  for (int i = 0; i < out.rank; i++) dims[i] = i < rank ? type_of(a)->dims[i] : leat_dim_const(1);
  if (!reshape(s, a, dims, out.rank)) return false;
  ev inputs[] = {a->value, b->value};
  *a = out;
  return keep(a, node(s, LEAT_OP_mul, inputs, 2, NULL)) && sum_alone(s, a, NULL, next);
}

// a := a · b, by a matmul.
static bool contract(einsum *s, labelled *a, labelled *b, uint32_t next) {
  static const part left[] = {BATCH, FREE, INNER}, right[] = {BATCH, INNER, FREE};
  labelled x = *a, y = *b, kept_a, kept_b, out = {.rank = 0};
  leat_dim dims[LEAT_MAX_RANK];
  if (!as_matrices(s, &x, a, b, next, left, &kept_a) ||
      !as_matrices(s, &y, a, a, next, right, &kept_b))
    return false;
  if (!add_labels(s, &kept_a, b, next, BATCH, &out, dims) ||
      !add_labels(s, &kept_a, b, next, FREE, &out, dims) ||
      !add_labels(s, &kept_b, a, next, FREE, &out, dims))
    return false;
  ev inputs[] = {x.value, y.value};
  leat_attr attrs[LEAT_MAX_ATTRS] = {0};
  attrs[2].string = leat_intern(s->e->strings, "");
  if (!keep(&out, node(s, LEAT_OP_matmul, inputs, 2, attrs))) return false;
  *a = out;
  return reshape(s, a, dims, out.rank);
}

static bool to_output(einsum *s, labelled *x) {
  int order[LEAT_MAX_RANK];
  for (int i = 0; i < s->out.rank; i++) {
    order[i] = 0;
    while (x->label[order[i]] != s->out.label[i]) order[i]++;
  }
  return transpose(s, x, order);
}

ev ev_builtin_einsum(evaluator *e, const ev_builtin_call *call) {
  einsum *s = leat_new(e->arena, einsum);
  *s = (einsum){.e = e, .call = call, .count = call->rest_count};
  if (call->args[0].kind != EV_STRING)
    return ev_fail(e, call->spans[0],
                   "einsum: expected an equation such as \"ij,jk->ik\", found %s",
                   ev_kind_name(call->args[0]));
  if (s->count < 1 || s->count > MOST_OPERANDS)
    return ev_fail(e, call->span, "einsum takes 1 to %d operands", MOST_OPERANDS);
  s->text = leat_intern_n(e->strings, call->args[0].text, call->args[0].size);
  if (!read_equation(s)) return ev_error();
  labelled *x = &s->operands[0];
  for (uint32_t i = 0; i < s->count; i++)
    if (!take_diagonals(s, &s->operands[i])) return ev_error();
  if (s->count == 1 && !sum_alone(s, x, NULL, 1)) return ev_error();
  for (uint32_t i = 1; i < s->count; i++) {
    labelled *next = &s->operands[i];
    if (!drop_ones(s, x, next) || !drop_ones(s, next, x) || !check_dims(s, x, next, i) ||
        !sum_alone(s, x, next, i + 1) || !sum_alone(s, next, x, i + 1))
      return ev_error();
    bool folds = has_part(s, x, next, i + 1, INNER);
    bool spreads = has_part(s, x, next, i + 1, FREE) || has_part(s, next, x, i + 1, FREE);
    if (!(folds && spreads ? contract : multiply)(s, x, next, i + 1)) return ev_error();
  }
  return to_output(s, x) ? x->value : ev_error();
}
