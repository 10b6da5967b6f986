// Tables of an ensemble of trees. What is looked up of a node is a column of x, a number, and where
// to go where the column is at most that number, and where it is not; a leaf leads to itself. All
// tests become such nodes:
//
//   v > s     not (v <= s)          v < s   not (-v <= -s)
//   v >= s    -v <= -s              v == s  v <= s, then -v <= -s
//   v in set  a search for the least member that is not below v, then whether it is v
//
// and where NaN must hold, the column has -inf in its place. So each feature has up to four
// columns, kinds 0 to 3: v, v where NaN holds, -v, and -v where NaN holds.
#include "frontend/importer/onnx/trees.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MIRRORED = 2, MISSING = 1, KINDS = 4, MOST_IN_BLOCK = 16 };

typedef struct tables {
  const onnx_forest *forest;
  int32_t *first;    // by test: its first node
  int32_t *columns;  // by node: KINDS * feature + kind
  double *splits;    // by node
  int32_t *children; // two by node: where the test holds, and where not
  size_t tests, count;
  bool uses[KINDS];
} tables;

// -- Nodes ----------------------------------------------------------------------------------------

static size_t member_count(const onnx_tree_test *test) {
  if (test->mode == ONNX_TREE_MEMBER) return test->member_count;
  return test->mode == ONNX_TREE_EQ || test->mode == ONNX_TREE_NEQ ? 1 : 0;
}

// How many nodes a test becomes, and how many of them a row goes through.
static size_t test_size(const onnx_tree_test *test) {
  size_t members = member_count(test);
  return members ? 3 * members - 1 : 1;
}

static int32_t test_depth(const onnx_tree_test *test) {
  int32_t depth = 1 + (member_count(test) > 0);
  for (size_t members = member_count(test); members > 1; members -= members / 2) depth++;
  return depth;
}

static int32_t node_of(const tables *t, int32_t number) {
  size_t test_count = t->forest->test_count, at = (size_t)number;
  return at < test_count ? t->first[at] : (int32_t)(t->tests + at - test_count);
}

static void set_node(tables *t, int32_t node, int64_t feature, int kind, double split, int32_t then,
                     int32_t otherwise) {
  t->columns[node] = (int32_t)(KINDS * feature + kind);
  t->splits[node] = kind & MIRRORED ? -split : split;
  t->children[2 * node] = then;
  t->children[2 * node + 1] = otherwise;
  t->uses[kind] = true;
}

typedef struct search {
  int64_t feature;
  int missing;
  int32_t then, otherwise;
} search;

// The nodes from `node` on look for v among the sorted members; the node behind them.
static int32_t set_search(tables *t, const search *s, int32_t node, const double *members,
                          size_t count) {
  if (count == 1) {
    set_node(t, node, s->feature, s->missing, *members, node + 1, s->otherwise);
    set_node(t, node + 1, s->feature, MIRRORED | s->missing, *members, s->then, s->otherwise);
    return node + 2;
  }
  size_t low = count - count / 2;
  int32_t high = set_search(t, s, node + 1, members, low);
  set_node(t, node, s->feature, s->missing, members[low - 1], node + 1, high);
  return set_search(t, s, high, members + low, count - low);
}

static int compare_reals(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return x < y ? -1 : x > y;
}

static void set_test(leat_arena *arena, tables *t, size_t i) {
  const onnx_tree_test *test = &t->forest->tests[i];
  int32_t node = t->first[i], then = node_of(t, test->then), other = node_of(t, test->otherwise);
  int missing = test->missing ? MISSING : 0, opposite = MISSING - missing;
  size_t members = member_count(test);
  search s = {test->feature, missing, then, other};
  double *sorted;
  switch (test->mode) {
  case ONNX_TREE_LEQ: set_node(t, node, test->feature, missing, test->value, then, other); return;
  case ONNX_TREE_GT: set_node(t, node, test->feature, opposite, test->value, other, then); return;
  case ONNX_TREE_GTE:
    set_node(t, node, test->feature, MIRRORED | missing, test->value, then, other);
    return;
  case ONNX_TREE_LT:
    set_node(t, node, test->feature, MIRRORED | opposite, test->value, other, then);
    return;
  case ONNX_TREE_NEQ:
    s = (search){test->feature, 0, other, then};
    break; // NaN is no number's equal
  case ONNX_TREE_EQ:
  case ONNX_TREE_MEMBER:
  case ONNX_TREE_LEAF: break;
  }
  if (!members) {
    set_node(t, node, test->feature, 0, (double)NAN, then, other); // holds for none
    return;
  }
  sorted = leat_arena_memdup(arena, test->mode == ONNX_TREE_MEMBER ? test->members : &test->value,
                             members * sizeof *sorted);
  qsort(sorted, members, sizeof *sorted, compare_reals);
  set_search(t, &s, node, sorted, members);
}

// -- Depths ---------------------------------------------------------------------------------------

enum { UNSEEN = -1, OPEN = -2 };

static int32_t depth_of(const onnx_forest *f, const int32_t *depths, int32_t number) {
  return (size_t)number < f->test_count ? depths[number] : 0;
}

// The longest way from each test to a leaf; false: some way comes back. The tests on the way from a
// root are open; one that is met while it is open is on a circle.
static bool find_depths(leat_arena *arena, const onnx_forest *f, int32_t *depths) {
  int32_t *way = leat_new_array(arena, int32_t, f->test_count + 1);
  for (size_t i = 0; i < f->test_count; i++) depths[i] = UNSEEN;
  for (size_t i = 0; i < f->test_count; i++) {
    size_t length = 0;
    if (depths[i] == UNSEEN) way[length++] = (int32_t)i;
    while (length) {
      int32_t at = way[length - 1];
      const onnx_tree_test *test = &f->tests[at];
      int32_t then = depth_of(f, depths, test->then), other = depth_of(f, depths, test->otherwise);
      depths[at] = OPEN;
      if (then == OPEN || other == OPEN || test->then == at || test->otherwise == at) return false;
      if (then == UNSEEN || other == UNSEEN) {
        way[length++] = then == UNSEEN ? test->then : test->otherwise;
        continue;
      }
      depths[at] = test_depth(test) + (then > other ? then : other);
      length--;
    }
  }
  return true;
}

// -- Blocks of trees ------------------------------------------------------------------------------

// Trees in blocks of `size`, which go down together; a tree that fills one up is a leaf that says
// nothing. Where each tree has leaves of one target, so has each block.
typedef struct blocks {
  int32_t *roots, *depths, *targets;
  size_t size, count;
  bool by_target;
} blocks;

// The one target that the leaves below each test are of, or of a leaf; -1: there are several.
static int32_t leaf_target(const onnx_forest *f, size_t leaf) {
  int32_t found = -1;
  for (size_t k = 0; k < f->target_count; k++) {
    if (isnan(f->weights[leaf * f->target_count + k])) continue;
    if (found >= 0) return -1;
    found = (int32_t)k;
  }
  return found;
}

// By tree; false: one has several, or the blocks need not be told apart.
static bool find_targets(leat_arena *arena, const onnx_forest *f, int32_t *targets) {
  if (f->target_count == 1 || f->aggregate[0] == 'M') return false;
  int32_t *way = leat_new_array(arena, int32_t, 2 * f->test_count + 2);
  size_t *seen = leat_new_array(arena, size_t, f->test_count + 1);
  for (size_t i = 0; i < f->tree_count; i++) {
    size_t length = 0;
    targets[i] = -1;
    way[length++] = f->roots[i];
    while (length) {
      size_t at = (size_t)way[--length];
      if (at >= f->test_count) {
        int32_t target = leaf_target(f, at - f->test_count);
        if (target < 0 || (targets[i] >= 0 && targets[i] != target)) return false;
        targets[i] = target;
      } else if (seen[at] <= i) {
        seen[at] = i + 1;
        way[length++] = f->tests[at].then;
        way[length++] = f->tests[at].otherwise;
      }
    }
  }
  return true;
}

// Trees of a target, or all: from where on `out` has them in blocks.
static void add_blocks(const onnx_forest *f, const int32_t *targets, int32_t target,
                       const tables *t, const int32_t *depths, blocks *out) {
  size_t place = 0, begin = out->count * out->size;
  int32_t nothing = (int32_t)(t->tests + f->leaf_count);
  for (size_t i = 0; i < f->tree_count; i++) {
    if (targets && targets[i] != target) continue;
    size_t block = out->count + place / out->size;
    int32_t depth = depth_of(f, depths, f->roots[i]);
    out->roots[begin + place++] = node_of(t, f->roots[i]);
    if (depth > out->depths[block]) out->depths[block] = depth;
    out->targets[block] = target;
  }
  for (; place % out->size; place++) out->roots[begin + place] = nothing;
  out->count += place / out->size;
}

static blocks make_blocks(leat_arena *arena, const tables *t, const int32_t *depths) {
  const onnx_forest *f = t->forest;
  int32_t *targets = leat_new_array(arena, int32_t, f->tree_count + 1);
  blocks out = {.by_target = find_targets(arena, f, targets)};
  size_t groups = out.by_target ? f->target_count : 1, most = f->tree_count;
  size_t *sizes = leat_new_array(arena, size_t, groups + 1);
  for (size_t i = 0; out.by_target && i < f->tree_count; i++) sizes[targets[i]]++;
  for (size_t i = 0; out.by_target && i < groups; i++)
    most = i == 0 || sizes[i] > most ? sizes[i] : most;
  size_t count = (most + MOST_IN_BLOCK - 1) / MOST_IN_BLOCK;
  out.size = (most + count - 1) / count;
  size_t room = f->tree_count / out.size + groups + 1;
  out.roots = leat_new_array(arena, int32_t, room * out.size);
  out.depths = leat_new_array(arena, int32_t, room);
  out.targets = leat_new_array(arena, int32_t, room);
  for (size_t i = 0; i < groups; i++)
    add_blocks(f, out.by_target ? targets : NULL, (int32_t)i, t, depths, &out);
  return out;
}

// -- The whole ------------------------------------------------------------------------------------

enum { FLOAT = 1, INT32 = 6, DOUBLE = 11 };

// `, name=…`: a list of the text, or what it loads.
static void add_table(onnx_writer *w, leat_text *out, const char *name, int32_t data_type,
                      const void *data, size_t count, size_t size) {
  onnx_tensor *tensor = onnx_vector(w, data_type, count);
  tensor->has_raw_data = true;
  tensor->raw_data = (ProtobufCBinaryData){count * size, (uint8_t *)data};
  w->is_fixed = true; // a step of training would move what the trees ask for
  leat_text_add(out, ", %s=%s", name, onnx_tensor_text(w, tensor, name));
  w->is_fixed = false;
}

static void add_integers(onnx_writer *w, leat_text *out, const char *name, const int32_t *data,
                         size_t count) {
  add_table(w, out, name, INT32, data, count, sizeof *data);
}

// As floats where that is what they are.
static void add_reals(onnx_writer *w, leat_text *out, const char *name, const double *data,
                      size_t count, bool is_double) {
  if (is_double) {
    add_table(w, out, name, DOUBLE, data, count, sizeof *data);
    return;
  }
  float *singles = leat_new_array(w->arena, float, count + 1);
  for (size_t i = 0; i < count; i++) singles[i] = (float)data[i];
  add_table(w, out, name, FLOAT, singles, count, sizeof *singles);
}

// Of each leaf, and of one that says nothing: by target, or that of its only one.
static void add_weights(onnx_writer *w, leat_text *out, const onnx_forest *f, bool by_target) {
  size_t width = by_target ? 1 : f->target_count, count = (f->leaf_count + 1) * width;
  double nothing = strcmp(f->aggregate, "MIN") == 0   ? (double)INFINITY
                   : strcmp(f->aggregate, "MAX") == 0 ? -(double)INFINITY
                                                      : 0;
  double *weights = leat_new_array(w->arena, double, count);
  for (size_t i = 0; i < count; i++) weights[i] = nothing;
  for (size_t i = 0; i < f->leaf_count * f->target_count; i++)
    if (!isnan(f->weights[i])) weights[by_target ? i / f->target_count : i] = f->weights[i];
  add_reals(w, out, "weights", weights, count, f->is_double);
}

static bool make_tables(onnx_writer *w, const onnx_forest *f, tables *t) {
  t->first = leat_new_array(w->arena, int32_t, f->test_count + 1);
  for (size_t i = 0; i < f->test_count; i++) {
    t->first[i] = (int32_t)t->tests;
    t->tests += test_size(&f->tests[i]);
    if (t->tests + f->leaf_count > INT32_MAX / 2 || f->tests[i].feature < 0 ||
        f->tests[i].feature > INT32_MAX / KINDS) {
      onnx_problem(w, "its node %zu is of feature %lld, or is one too many", i,
                   (long long)f->tests[i].feature);
      return false;
    }
  }
  t->count = t->tests + f->leaf_count + 1;
  t->columns = leat_new_array(w->arena, int32_t, t->count);
  t->splits = leat_new_array(w->arena, double, t->count);
  t->children = leat_new_array(w->arena, int32_t, 2 * t->count);
  for (size_t i = t->tests; i < t->count; i++)
    t->children[2 * i] = t->children[2 * i + 1] = (int32_t)i;
  for (size_t i = 0; i < f->test_count; i++) set_test(w->arena, t, i);
  return true;
}

// The kinds that there are stand beside each other: a column is count * feature + rank of its kind.
// Gives `, features=…, kinds=[…]`.
static void pack_columns(tables *t, leat_text *out) {
  int rank[KINDS], count = 0, features = 1;
  for (int i = 0; i < KINDS; i++) {
    rank[i] = count;
    count += t->uses[i];
  }
  for (size_t i = 0; i < t->tests; i++) {
    int feature = t->columns[i] / KINDS;
    t->columns[i] = count * feature + rank[t->columns[i] % KINDS];
    if (feature >= features) features = feature + 1;
  }
  leat_text_add(out, ", features=%d, kinds=[", features);
  for (int i = 0, some = 0; i < KINDS; i++)
    if (t->uses[i]) leat_text_add(out, "%s%d", some++ ? ", " : "", i);
  leat_text_add_string(out, count ? "]" : "0]");
}

static bool has_negative(const onnx_forest *f) {
  for (size_t i = 0; i < f->leaf_count * f->target_count; i++)
    if (f->weights[i] < 0) return true;
  return false;
}

const char *onnx_forest_text(onnx_writer *w, const char *x, leat_text *named) {
  onnx_forest forest, *f = &forest;
  leat_text out = {0};
  if (!onnx_read_forest(w, f)) return "0";
  tables t = {.forest = f};
  int32_t *depths = leat_new_array(w->arena, int32_t, f->test_count + 1);
  if (!make_tables(w, f, &t)) return "0";
  if (!find_depths(w->arena, f, depths)) {
    onnx_problem(w, "its nodes are no trees: a way from a root comes back to where it was");
    return "0";
  }
  blocks b = make_blocks(w->arena, &t, depths);
  leat_text_add(&out, "onnx_trees(%s", x);
  pack_columns(&t, &out);
  leat_text_add(&out, ", trees=%zu, targets=%zu, aggregate=\"%s\"", f->tree_count, f->target_count,
                f->aggregate);
  add_integers(w, &out, "columns", t.columns, t.count);
  add_reals(w, &out, "splits", t.splits, t.count, f->is_double);
  add_integers(w, &out, "children", t.children, 2 * t.count);
  add_integers(w, &out, "roots", b.roots, b.count * b.size);
  add_integers(w, &out, "depths", b.depths, b.count);
  add_weights(w, &out, f, b.by_target);
  if (b.by_target) add_integers(w, &out, "block_targets", b.targets, b.count);
  leat_text_add_string(&out, ")");
  if (f->is_classifier)
    leat_text_add(named, ", is_probability=%s", has_negative(f) ? "false" : "true");
  if (f->is_typed) leat_text_add(named, ", to=dtype(%s)", x);
  const char *copy = leat_arena_strndup(w->arena, out.data, out.size);
  leat_text_finish(&out);
  return copy;
}
