// A call of an op being written: its text and label grow by operand and by attribute. Operands are
// inputs made for the call, or values that the program has. The makers of calls, one for each op
// whose row in the table does not say enough, are in call_movement.c, call_folds.c and
// call_strings.c.
#ifndef LEAT_TESTS_SWEEP_CALL_H
#define LEAT_TESTS_SWEEP_CALL_H

#include "ir/op.h"
#include "tests/sweep/programs.h"

enum {
  SHAPE_RANK = 4,
  MOST_BOUND = 1000,
  MOST_TURNS = 32,
  MOST_OPERANDS = 3
}; // 1 + |b log a| of pow(a, b)

typedef struct call {
  program *p;
  leat_op op;
  leat_dtype dtype;
  int variant;
  leat_text text, label;
  int operands;
  test_value operand[MOST_OPERANDS]; // the first few
  test_value out;                    // what the call gives
  test_value second;                 // its other output; without a name: it has none
  test_dim inner;                    // of a matmul
} call;

// `and`, `or` and `not` are words of the language.
bool op_is_word(leat_op op);
// In a smooth program only some ops may see values that differ between targets.
bool op_is_smooth(leat_op op);

// -- Attributes ----------------------------------------------------------------------------------

void call_add_words(call *c, const char *words);
void call_add_attribute(call *c, const char *name); // words follow
void call_add_int(call *c, const char *name, int64_t value);
void call_add_ints(call *c, const char *name, int count, const int64_t *ints);
void call_add_dims(call *c, const char *name, int count, const test_dim *dims);

// -- Operands ------------------------------------------------------------------------------------

// An operand of any shape; the result has its type until the op says otherwise.
test_value call_first_operand(call *c, leat_dtype dtype, int least_rank, int most_rank,
                              bool nonempty);
test_value call_first(call *c); // of the call's dtype
// An operand of a given type, or, where the op broadcasts, one that broadcasts to it.
test_value call_operand(call *c, leat_dtype dtype, int rank, const test_dim *dims);
// An index operand: its values are below the limit, or near it.
test_value call_index_operand(call *c, leat_dtype dtype, int rank, const test_dim *dims,
                              test_fill fill, test_dim limit);
// The shape of an operand that broadcasts to `shape`.
int call_narrowed(program *p, const test_value *shape, test_dim *out);

// Bounds of the result of a smooth op from those of its operands (op_errors.c).
void call_propagate(call *c);

// -- Makers --------------------------------------------------------------------------------------

void make_reshape(call *c);
void make_transpose(call *c);
void make_broadcast(call *c);
void make_concat(call *c);
void make_slice(call *c);
void make_pad(call *c);
void make_unfold(call *c);
void make_gather(call *c);
void make_scatter(call *c);
void make_check_index(call *c);
void make_one_hot(call *c);
void make_iota(call *c);
void make_reduction(call *c);
void make_matmul(call *c);
void make_sort(call *c);
void make_searchsorted(call *c);
void make_cumulation(call *c);
void make_elementwise(call *c);
void make_substring(call *c);
void make_str_length(call *c);
void make_strip_string(call *c);
void make_split_strings(call *c);
void make_regex(call *c);
void make_join_strings(call *c);
void make_random_bits(call *c);
void make_permutation(call *c);

#endif
