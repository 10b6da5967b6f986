// What compiler and runtime must agree on of the factorisations.
#ifndef LEAT_BASE_LINALG_PLAN_H
#define LEAT_BASE_LINALG_PLAN_H

enum { LEAT_LINALG_BLOCK = 32 }; // columns that are factorised together

#endif
