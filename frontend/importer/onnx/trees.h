// An ensemble of trees, whichever version of which op it is of. Internal to
// frontend/importer/onnx/.
//
//   trees.c         reads the nodes and leaves that the attributes say
//   tree_tables.c   makes the tables of them that stdlib/onnx/onnx_trees.leat goes down in
#ifndef LEAT_FRONTEND_ONNX_TREES_H
#define LEAT_FRONTEND_ONNX_TREES_H

#include "frontend/importer/onnx/writer.h"

// As version 5 of the domain numbers them.
typedef enum onnx_tree_mode {
  ONNX_TREE_LEQ,
  ONNX_TREE_LT,
  ONNX_TREE_GTE,
  ONNX_TREE_GT,
  ONNX_TREE_EQ,
  ONNX_TREE_NEQ,
  ONNX_TREE_MEMBER,
  ONNX_TREE_LEAF,
} onnx_tree_mode;

// A test of a feature. Nodes go by their numbers, the leaves behind the tests.
typedef struct onnx_tree_test {
  onnx_tree_mode mode;
  int64_t feature;
  double value;          // what the feature is compared with
  const double *members; // of a MEMBER: the set
  size_t member_count;
  bool missing; // NaN goes where the test holds
  int32_t then, otherwise;
} onnx_tree_test;

typedef struct onnx_forest {
  onnx_tree_test *tests;
  size_t test_count, leaf_count, tree_count;
  int32_t *roots;
  size_t target_count;
  const char *aggregate; // "SUM", "AVERAGE", "MIN" or "MAX"
  double *weights;       // [leaf_count, target_count]; NaN: the leaf says nothing of the target
  bool is_double;        // values or weights are f64
  bool is_classifier, is_typed; // what it gives: classes; numbers of x's dtype
} onnx_forest;

// false: it is not sound, which is reported.
bool onnx_read_forest(onnx_writer *w, onnx_forest *out);
// The call that adds up what the node's trees give for `x`, [N, targets]. Adds to `named` what the
// function for the op is told of them.
const char *onnx_forest_text(onnx_writer *w, const char *x, leat_text *named);

#endif
