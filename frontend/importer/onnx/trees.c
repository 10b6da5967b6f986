// Ensembles of trees: TreeEnsemble, whose tests and leaves are lists by themselves, and the older
// TreeEnsembleRegressor and TreeEnsembleClassifier, whose nodes have a tree's number and one in it.
#include "frontend/importer/onnx/trees.h"

#include "base/half.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_NODES = 1 << 28, MOST_TARGETS = 1 << 16, MOST_WEIGHTS = 1 << 26 };

// -- Attributes -----------------------------------------------------------------------------------

typedef struct integers {
  const int64_t *at;
  size_t count;
} integers;

static integers integers_of(const onnx_writer *w, const char *name) {
  const onnx_attribute *a = onnx_attribute_of(w, name);
  return a ? (integers){a->ints, a->n_ints} : (integers){NULL, 0};
}

typedef struct reals {
  double *at;
  size_t count;
  bool is_double;
} reals;

static double element(const leat_tensor *tensor, size_t i) {
  const char *at = (const char *)tensor->data + i * leat_dtype_size(tensor->dtype);
  double number;
  float single;
  uint16_t half;
  if (tensor->dtype == LEAT_f64) return memcpy(&number, at, sizeof number), number;
  if (tensor->dtype == LEAT_f32) return memcpy(&single, at, sizeof single), single;
  if (tensor->dtype == LEAT_u8) return (unsigned char)*at;
  return memcpy(&half, at, sizeof half), leat_half_value(tensor->dtype, half);
}

static reals tensor_reals(onnx_writer *w, const onnx_tensor *tensor, const char *name) {
  leat_error error = {0};
  leat_tensor value;
  reals out = {0};
  if (onnx_tensor_read(w->arena, w->model->path, tensor, name, &value, &error)) {
    onnx_problem(w, "its attribute `%s`: %s", name, error.message);
    return out;
  }
  leat_dtype_kind kind = leat_dtype_kind_of(value.dtype);
  if (kind != LEAT_KIND_FLOAT && value.dtype != LEAT_u8) {
    onnx_problem(w, "its attribute `%s` is of %s; make it one of floats", name,
                 leat_dtype_name(value.dtype));
    return out;
  }
  out.count = (size_t)leat_shape_elements(value.rank, value.shape);
  out.at = leat_new_array(w->arena, double, out.count + 1);
  out.is_double = value.dtype == LEAT_f64;
  for (size_t i = 0; i < out.count; i++) out.at[i] = element(&value, i);
  return out;
}

// Of `name`, a list or a tensor, or of `name`_as_tensor.
static reals reals_of(onnx_writer *w, const char *name) {
  const char *as_tensor = leat_arena_printf(w->arena, "%s_as_tensor", name);
  const onnx_attribute *a = onnx_attribute_of(w, name), *t = onnx_attribute_of(w, as_tensor);
  reals out = {0};
  if (a && a->t) return tensor_reals(w, a->t, name);
  if (t && t->t) return tensor_reals(w, t->t, as_tensor);
  if (!a) return out;
  out.count = a->n_floats;
  out.at = leat_new_array(w->arena, double, out.count + 1);
  for (size_t i = 0; i < out.count; i++) out.at[i] = (double)a->floats[i];
  return out;
}

static bool is_of(onnx_writer *w, const char *name, size_t found, size_t wanted) {
  if (found != wanted)
    onnx_problem(w, "its attribute `%s` has %zu elements, where %zu belong", name, found, wanted);
  return found == wanted;
}

// A list that has an element for each of what is counted.
static bool read_integers(onnx_writer *w, const char *name, size_t count, const int64_t **out) {
  integers found = integers_of(w, name);
  *out = found.at;
  return is_of(w, name, found.count, count);
}

static const char *word_of(onnx_writer *w, const char *name, const char *otherwise) {
  const onnx_attribute *a = onnx_attribute_of(w, name);
  return a ? leat_arena_strndup(w->arena, a->s.len ? (const char *)a->s.data : "", a->s.len)
           : otherwise;
}

static bool within(onnx_writer *w, const char *name, int64_t number, size_t count) {
  bool is = number >= 0 && (uint64_t)number < count;
  if (!is)
    onnx_problem(w, "its attribute `%s` has %lld, which is not below %zu", name, (long long)number,
                 count);
  return is;
}

// Weights of which none is said yet.
static bool make_weights(onnx_writer *w, onnx_forest *f) {
  if (f->target_count > MOST_WEIGHTS / (f->leaf_count + 1)) {
    onnx_problem(w, "its leaves have more than %d weights", MOST_WEIGHTS);
    return false;
  }
  size_t count = f->leaf_count * f->target_count;
  f->weights = leat_new_array(w->arena, double, count + 1);
  for (size_t i = 0; i < count; i++) f->weights[i] = (double)NAN;
  return true;
}

static void add_weight(onnx_forest *f, size_t leaf, int64_t target, double weight) {
  double *at = &f->weights[leaf * f->target_count + (size_t)target];
  if (isnan(*at))
    *at = weight;
  else if (strcmp(f->aggregate, "MIN") == 0)
    *at = fmin(*at, weight);
  else if (strcmp(f->aggregate, "MAX") == 0)
    *at = fmax(*at, weight);
  else
    *at += weight;
}

// -- TreeEnsemble ---------------------------------------------------------------------------------

// Child number `child`, which is a leaf or a test; -1: there is none such.
static int32_t child_of(const onnx_forest *f, int64_t child, bool is_leaf) {
  size_t count = is_leaf ? f->leaf_count : f->test_count;
  if (child < 0 || (uint64_t)child >= count) return -1;
  return (int32_t)(child + (is_leaf ? (int64_t)f->test_count : 0));
}

// Sets stand behind each other, in the order of the tests that have one, with a NaN after each.
static bool take_members(onnx_writer *w, onnx_forest *f) {
  reals members = reals_of(w, "membership_values");
  size_t at = 0;
  for (size_t i = 0; i < f->test_count; i++) {
    onnx_tree_test *test = &f->tests[i];
    size_t begin = at;
    if (test->mode != ONNX_TREE_MEMBER) continue;
    while (at < members.count && !isnan(members.at[at])) at++;
    test->member_count = at - begin;
    if (at++ < members.count) {
      test->members = &members.at[begin];
      continue;
    }
    onnx_problem(w, "its attribute `membership_values` has fewer sets than there are nodes of mode "
                    "6: a NaN ends each");
    return false;
  }
  return true;
}

static bool read_leaves(onnx_writer *w, onnx_forest *f) {
  const int64_t *targets;
  reals weights = reals_of(w, "leaf_weights");
  f->leaf_count = weights.count;
  f->is_double = f->is_double || weights.is_double;
  if (!read_integers(w, "leaf_targetids", weights.count, &targets) || !make_weights(w, f))
    return false;
  for (size_t i = 0; i < weights.count; i++) {
    if (!within(w, "leaf_targetids", targets[i], f->target_count)) return false;
    add_weight(f, i, targets[i], weights.at[i]);
  }
  return true;
}

static bool read_tests(onnx_writer *w, onnx_forest *f) {
  reals values = reals_of(w, "nodes_splits"), modes = reals_of(w, "nodes_modes");
  integers missing = integers_of(w, "nodes_missing_value_tracks_true");
  const int64_t *features, *then, *otherwise, *then_leaf, *otherwise_leaf;
  size_t count = f->test_count = modes.count;
  f->is_double = f->is_double || values.is_double;
  if (!read_integers(w, "nodes_featureids", count, &features) ||
      !read_integers(w, "nodes_truenodeids", count, &then) ||
      !read_integers(w, "nodes_falsenodeids", count, &otherwise) ||
      !read_integers(w, "nodes_trueleafs", count, &then_leaf) ||
      !read_integers(w, "nodes_falseleafs", count, &otherwise_leaf) ||
      !is_of(w, "nodes_splits", values.count, count) ||
      (missing.count && !is_of(w, "nodes_missing_value_tracks_true", missing.count, count)))
    return false;
  f->tests = leat_new_array(w->arena, onnx_tree_test, count + 1);
  for (size_t i = 0; i < count; i++) {
    if (!(modes.at[i] >= 0 && modes.at[i] < ONNX_TREE_LEAF)) {
      onnx_problem(w, "its attribute `nodes_modes` has %g; there are 0 to 6", modes.at[i]);
      return false;
    }
    f->tests[i] = (onnx_tree_test){.mode = (onnx_tree_mode)modes.at[i],
                                   .feature = features[i],
                                   .value = values.at[i],
                                   .missing = missing.count && missing.at[i],
                                   .then = child_of(f, then[i], then_leaf[i]),
                                   .otherwise = child_of(f, otherwise[i], otherwise_leaf[i])};
  }
  return take_members(w, f);
}

static bool read_forest_5(onnx_writer *w, onnx_forest *f) {
  static const char *const functions[] = {"AVERAGE", "SUM", "MIN", "MAX"};
  integers roots = integers_of(w, "tree_roots");
  int64_t function = onnx_int(w, "aggregate_function", 1), targets = onnx_int(w, "n_targets", 1);
  if (!within(w, "aggregate_function", function, 4) ||
      !within(w, "n_targets", targets, MOST_TARGETS))
    return false;
  f->aggregate = functions[function];
  f->target_count = (size_t)targets;
  if (!read_leaves(w, f) || !read_tests(w, f)) return false;
  f->tree_count = roots.count;
  f->roots = leat_new_array(w->arena, int32_t, roots.count + 1);
  for (size_t i = 0; i < roots.count; i++) {
    if (!within(w, "tree_roots", roots.at[i], f->test_count)) return false;
    f->roots[i] = (int32_t)roots.at[i];
  }
  return true;
}

// -- The ops of trees of numbers ------------------------------------------------------------------

// Where the node of that tree and that number is in the lists, and which it is in the forest.
typedef struct place {
  int64_t tree, node;
  size_t at;
  int32_t number;
  bool is_child;
} place;

static int compare_places(const void *a, const void *b) {
  const place *x = a, *y = b;
  if (x->tree != y->tree) return x->tree < y->tree ? -1 : 1;
  return x->node < y->node ? -1 : x->node > y->node;
}

typedef struct places {
  place *sorted;
  size_t count;
} places;

static place *find_place(const places *all, int64_t tree, int64_t node) {
  place key = {.tree = tree, .node = node};
  return bsearch(&key, all->sorted, all->count, sizeof key, compare_places);
}

static bool read_mode(onnx_writer *w, const ProtobufCBinaryData *word, onnx_tree_mode *out) {
  static const char *const names[] = {
      [ONNX_TREE_LEQ] = "BRANCH_LEQ", [ONNX_TREE_LT] = "BRANCH_LT", [ONNX_TREE_GTE] = "BRANCH_GTE",
      [ONNX_TREE_GT] = "BRANCH_GT",   [ONNX_TREE_EQ] = "BRANCH_EQ", [ONNX_TREE_NEQ] = "BRANCH_NEQ",
      [ONNX_TREE_LEAF] = "LEAF"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (names[i] && word->len == strlen(names[i]) && memcmp(word->data, names[i], word->len) == 0) {
      *out = (onnx_tree_mode)i;
      return true;
    }
  onnx_problem(w,
               "its attribute `nodes_modes` has `%.*s`; there are BRANCH_LEQ, BRANCH_LT, "
               "BRANCH_GTE, BRANCH_GT, BRANCH_EQ, BRANCH_NEQ and LEAF",
               (int)(word->len < 40 ? word->len : 40), word->len ? (const char *)word->data : "");
  return false;
}

// Numbers of tests and leaves, in the order of the lists.
static bool number_nodes(onnx_writer *w, onnx_forest *f, onnx_tree_mode *modes, places *all) {
  integers trees = integers_of(w, "nodes_treeids");
  const onnx_attribute *words = onnx_attribute_of(w, "nodes_modes");
  const int64_t *nodes;
  size_t count = all->count;
  if (!is_of(w, "nodes_modes", words ? words->n_strings : 0, count) ||
      !read_integers(w, "nodes_nodeids", count, &nodes))
    return false;
  all->sorted = leat_new_array(w->arena, place, count + 1);
  for (size_t i = 0; i < count; i++) {
    if (!read_mode(w, &words->strings[i], &modes[i])) return false;
    f->test_count += modes[i] != ONNX_TREE_LEAF;
  }
  int32_t test = 0, leaf = (int32_t)f->test_count;
  for (size_t i = 0; i < count; i++)
    all->sorted[i] =
        (place){trees.at[i], nodes[i], i, modes[i] == ONNX_TREE_LEAF ? leaf++ : test++, false};
  f->leaf_count = count - f->test_count;
  qsort(all->sorted, count, sizeof *all->sorted, compare_places);
  for (size_t i = 1; i < count; i++)
    if (compare_places(&all->sorted[i - 1], &all->sorted[i]) == 0) {
      onnx_problem(w, "its tree %lld has two nodes %lld", (long long)all->sorted[i].tree,
                   (long long)all->sorted[i].node);
      return false;
    }
  return true;
}

static int32_t take_child(const places *all, int64_t tree, int64_t node) {
  place *child = find_place(all, tree, node);
  if (child) child->is_child = true;
  return child ? child->number : -1;
}

static bool read_nodes(onnx_writer *w, onnx_forest *f, const onnx_tree_mode *modes, places *all) {
  reals values = reals_of(w, "nodes_values");
  integers missing = integers_of(w, "nodes_missing_value_tracks_true");
  const int64_t *features, *then, *otherwise;
  size_t count = all->count;
  f->is_double = f->is_double || values.is_double;
  if (!read_integers(w, "nodes_featureids", count, &features) ||
      !read_integers(w, "nodes_truenodeids", count, &then) ||
      !read_integers(w, "nodes_falsenodeids", count, &otherwise) ||
      !is_of(w, "nodes_values", values.count, count) ||
      (missing.count && !is_of(w, "nodes_missing_value_tracks_true", missing.count, count)))
    return false;
  f->tests = leat_new_array(w->arena, onnx_tree_test, f->test_count + 1);
  for (size_t i = 0; i < count; i++) {
    const place *own = &all->sorted[i];
    size_t at = own->at;
    if (modes[at] == ONNX_TREE_LEAF) continue;
    f->tests[own->number] =
        (onnx_tree_test){.mode = modes[at],
                         .feature = features[at],
                         .value = values.at[at],
                         .missing = missing.count && missing.at[at],
                         .then = take_child(all, own->tree, then[at]),
                         .otherwise = take_child(all, own->tree, otherwise[at])};
  }
  return true;
}

// A root is no child; each tree has one.
static bool find_roots(onnx_writer *w, onnx_forest *f, const places *all) {
  f->roots = leat_new_array(w->arena, int32_t, all->count + 1);
  for (size_t i = 0, begin = 0; i < all->count; i++) {
    const place *own = &all->sorted[i];
    bool is_first = i == 0 || own->tree != all->sorted[i - 1].tree;
    bool is_last = i + 1 == all->count || own->tree != all->sorted[i + 1].tree;
    if (is_first) begin = f->tree_count;
    if (!own->is_child) f->roots[f->tree_count++] = own->number;
    if (!is_last || f->tree_count == begin + 1) continue;
    onnx_problem(w, "its tree %lld has %zu roots, nodes that are no node's child; each has one",
                 (long long)own->tree, f->tree_count - begin);
    return false;
  }
  return true;
}

// `kind`: what the attributes begin with, "target" or "class".
static bool read_weights(onnx_writer *w, onnx_forest *f, const char *kind, const places *all) {
  const char *ids = leat_arena_printf(w->arena, "%s_ids", kind);
  reals weights = reals_of(w, leat_arena_printf(w->arena, "%s_weights", kind));
  const int64_t *trees, *nodes, *targets;
  size_t count = weights.count;
  f->is_double = f->is_double || weights.is_double;
  if (!read_integers(w, leat_arena_printf(w->arena, "%s_treeids", kind), count, &trees) ||
      !read_integers(w, leat_arena_printf(w->arena, "%s_nodeids", kind), count, &nodes) ||
      !read_integers(w, ids, count, &targets) || !make_weights(w, f))
    return false;
  for (size_t i = 0; i < count; i++) {
    const place *own = find_place(all, trees[i], nodes[i]);
    int64_t target = f->target_count == 1 ? 0 : targets[i];
    if (!own) {
      onnx_problem(w, "it has a weight for node %lld of tree %lld, which there is not",
                   (long long)nodes[i], (long long)trees[i]);
      return false;
    }
    if (!within(w, ids, target, f->target_count)) return false;
    size_t number = (size_t)own->number;
    if (number >= f->test_count) add_weight(f, number - f->test_count, target, weights.at[i]);
  }
  return true;
}

// Of two classes all weights may be for number 0, which then are those of the second.
static size_t class_count(const onnx_writer *w) {
  const onnx_attribute *words = onnx_attribute_of(w, "classlabels_strings");
  integers ids = integers_of(w, "class_ids");
  size_t labels = words ? words->n_strings : integers_of(w, "classlabels_int64s").count;
  for (size_t i = 0; i < ids.count; i++)
    if (ids.at[i] != 0) return labels;
  return labels == 2 ? 1 : labels;
}

static bool read_forest_1(onnx_writer *w, onnx_forest *f) {
  places all = {.count = integers_of(w, "nodes_treeids").count};
  int64_t targets = onnx_int(w, "n_targets", 1);
  if (!within(w, "nodes_treeids", (int64_t)all.count, MOST_NODES) ||
      !within(w, "n_targets", targets, MOST_TARGETS))
    return false;
  onnx_tree_mode *modes = leat_new_array(w->arena, onnx_tree_mode, all.count + 1);
  f->aggregate = word_of(w, "aggregate_function", "SUM");
  f->target_count = f->is_classifier ? class_count(w) : (size_t)targets;
  return number_nodes(w, f, modes, &all) && read_nodes(w, f, modes, &all) &&
         find_roots(w, f, &all) && read_weights(w, f, f->is_classifier ? "class" : "target", &all);
}

static bool is_whole(onnx_writer *w, const onnx_forest *f) {
  if (!f->tree_count || !f->target_count) {
    onnx_problem(w, "it has no %s", f->tree_count ? "targets" : "trees");
    return false;
  }
  for (size_t i = 0; i < f->test_count; i++)
    if (f->tests[i].then < 0 || f->tests[i].otherwise < 0) {
      onnx_problem(w, "its node %zu has a child that there is not", i);
      return false;
    }
  return true;
}

bool onnx_read_forest(onnx_writer *w, onnx_forest *out) {
  const char *op = w->node->op_type;
  *out = (onnx_forest){.is_classifier = strcmp(op, "TreeEnsembleClassifier") == 0,
                       .is_typed = strcmp(op, "TreeEnsemble") == 0};
  bool read = out->is_typed ? read_forest_5(w, out) : read_forest_1(w, out);
  return read && is_whole(w, out);
}
