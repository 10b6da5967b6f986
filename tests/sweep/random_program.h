// Random programs: 5 to 40 ops in a graph where most values have several readers.
#ifndef LEAT_TESTS_SWEEP_RANDOM_PROGRAM_H
#define LEAT_TESTS_SWEEP_RANDOM_PROGRAM_H

#include "tests/sweep/op_calls.h"

// An exact program has no exp, log or tanh, and any data: all targets give its bits. A smooth one
// has only ops that keep small differences small, and says for each result how far targets may be
// apart. With `any` it is neither: it is for comparing a target with itself.
void program_random(program *p, uint64_t seed, bool any);

// An exact program of constant shapes, most of whose transposes undo others (turning_program.c).
void program_turning(program *p, uint64_t seed);

#endif
