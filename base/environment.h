// What the environment tells Leat. Nothing else asks it: a program that runs with another's rights
// (setuid) must not let who started it say where its code, files and compilers are.
#ifndef LEAT_BASE_ENVIRONMENT_H
#define LEAT_BASE_ENVIRONMENT_H

// NULL: the variable is not set, or empty, or the program runs with rights that its user lacks.
const char *leat_environment(const char *name);

#endif
