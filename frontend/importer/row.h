// Writing a node by its row of an importer's table: the words of its columns, and what is made of
// the node's arguments.
#ifndef LEAT_FRONTEND_IMPORTER_ROW_H
#define LEAT_FRONTEND_IMPORTER_ROW_H

#include "base/text.h"
#include "base/vec.h"

// A word of a column: `t`, `k=axes`, `keepdims>keep:b`.
typedef struct leat_word {
  const char *at;
  size_t size;
} leat_word;

bool leat_next_word(const char **at, leat_word *out);

// What a node is given: texts, and behind them what is given by name, `, axis=1, keep=true`.
typedef struct leat_row_arguments {
  leat_vec(const char *) items;
  leat_text named;
} leat_row_arguments;

// Whether a column is an expression in which each `$` is the next argument: `relu($)`, `$ + $`,
// `[0]`. Else it is a function of them all, and perhaps more for it: `onnx_pool(max=true)`.
bool leat_row_is_expression(const char *column);
// Adds what the column makes of the arguments; false: there are too few.
bool leat_row_write(const char *column, const leat_row_arguments *args, leat_text *out);

#endif
