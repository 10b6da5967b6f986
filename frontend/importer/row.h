// A node by its row of an importer's table: what the words of its columns say of its inputs and
// attributes, and what is made of these.
#ifndef LEAT_FRONTEND_IMPORTER_ROW_H
#define LEAT_FRONTEND_IMPORTER_ROW_H

#include "base/text.h"
#include "base/vec.h"

#include <stddef.h>

// A word of a column, or a part of one.
typedef struct leat_word {
  const char *at;
  size_t size;
} leat_word;

bool leat_next_word(const char **at, leat_word *out);
uint32_t leat_count_words(const char *column);
bool leat_word_is(leat_word word, const char *text);

// What a node is given: texts, and behind them what is given by name, `, axis=1, keep=true`.
typedef struct leat_row_arguments {
  leat_vec(const char *) items;
  leat_text named;
} leat_row_arguments;

// -- Inputs ---------------------------------------------------------------------------------------

// A word of the column: `t`, of which the letter means what the importer says; `k=axes`: it is
// given by that name; `*`, `*k`: it and those behind it, but for as many as words follow, as a
// list.
typedef struct leat_row_input {
  char kind; // of a list, of each in it; `*`: `t`
  bool in_list;
  leat_word name; // of size 0: it is given by its place
} leat_row_input;

// What is given for input i; NULL: nothing, in a list `none`.
typedef const char *leat_row_text(void *context, const leat_row_input *input, size_t i);

// Adds the `count` inputs of a node, as far as the column has words, of which each is asked for
// once, also where there is no such input. How many it has words for.
size_t leat_row_add_inputs(leat_arena *arena, const char *column, size_t count, leat_row_text *text,
                           void *context, leat_row_arguments *args);

// -- Attributes -----------------------------------------------------------------------------------

// A word of the column: `alpha`; `ksize>window`: it is given by another name; `dtype:d`, of which
// the letter means what the importer says; `nodes_*`: all that begin so; `!seed`: it is not given;
// `!layout=0`: nor is it anything but that.
typedef struct leat_row_attribute {
  leat_word name; // by which it is given
  char type;      // 0: nothing is said
  bool passed_over;
  leat_word only; // of size 0: it may be anything
} leat_row_attribute;

// False: it is in no word of the column.
bool leat_row_find_attribute(const char *column, const char *name, leat_row_attribute *out);
void leat_row_add_named(leat_row_arguments *args, leat_word name, const char *value);

// -- The line -------------------------------------------------------------------------------------

// Adds what the column makes of the arguments: an expression in which each `$` is the next one:
// `relu($)`, `$ + $`, `[0]`; else a function of them all, and perhaps more for it:
// `onnx_pool(max=true)`. False: there are too few.
bool leat_row_write(const char *column, const leat_row_arguments *args, leat_text *out);

#endif
