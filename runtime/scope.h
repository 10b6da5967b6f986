// Dims that tasks of a region's table bind, or that what grows has there, have other values each
// time that the table is run. What depends on them is the table's *scope*: forgotten when the table
// begins, and resolved as they are bound. All else is of scope 0, the step's. Internal to runtime/.
#ifndef LEAT_RUNTIME_SCOPE_H
#define LEAT_RUNTIME_SCOPE_H

#include "base/vec.h"

#include <stdbool.h>
#include <stdint.h>

typedef struct leat_program leat_program;
typedef leat_vec(uint32_t) leat_numbers;

// Numbers of records of the image. A task comes behind those of the tables that it has run.
typedef struct leat_scope {
  leat_numbers dims, formulas, arenas, buffers, args, launches, tasks;
  leat_numbers claims, tables; // of the tables that stand in this one; claims: its own, too
} leat_scope;

// Of each table and dim; part of loading a program. False: a task works on what depends on the dims
// of a table that it does not stand in.
bool leat_scopes_find(leat_program *program);
// The same of a program of segments alone: all is of the step. True.
bool leat_scopes_none(leat_program *program);

#endif
