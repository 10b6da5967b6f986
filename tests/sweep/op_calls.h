// Statements made from the op table: for any op and dtype a call with operands and attributes of
// random shapes. What an op's row says is enough for an element-wise op or a reduction; the others
// have a function here, and an op that has none is found by op_calls_cover.
#ifndef LEAT_TESTS_SWEEP_OP_CALLS_H
#define LEAT_TESTS_SWEEP_OP_CALLS_H

#include "ir/op.h"
#include "tests/sweep/programs.h"

// Whether calls of this op are made here. The others (state, files, messages, communication, what
// comes from outside) are programs of their own in sweep_test.c.
bool op_calls_cover(leat_op op);
// The test program that compares cpu and c with ref for the op, `sweep_test` where calls of it are
// made here; NULL: none does.
const char *op_tested_by(leat_op op);
// Whether the op takes the dtype and the sweep has values of it: str has none.
bool op_takes(leat_op op, leat_dtype dtype);
// Number of results worth a case of their own: of `cast`, one a dtype.
int op_variants(leat_op op);
// Adds a statement, whose value becomes the last of p->values. False: there is no such call.
bool op_call(program *p, leat_op op, leat_dtype dtype, int variant);
// How far a result may be from the reference's value, in units of the last place (of the
// magnitude of a complex result); 0: not at all.
int op_ulps(leat_op op, leat_dtype dtype);
// The same for factorisations and Fourier transforms, in units of the last place of the result's
// largest number, for each row and column or for each point.
double op_growth(leat_op op);
// How the first are counted for a result of this dtype.
test_match op_match(leat_op op, leat_dtype result);
// Whether these are, near the op's zeros, units of the last place of 1.
bool op_cancels(leat_op op);
// Whether they grow with the condition of the result: of pow(a, b) with 1 + |b log a|.
bool op_turns(leat_op op, leat_dtype dtype);

// `--case NAME` is NAME; after `--list`, for which it prints the dtypes, a program ends.
bool lists_dtypes(int *argc, char ***argv);

#endif
