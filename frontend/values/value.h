// Compile-time values: what an expression is while a text is evaluated (value.c).
//
// Errors are reported where they are found; the value is then EV_ERROR, which everything passes on
// in silence, so one mistake gives one message.
#ifndef LEAT_FRONTEND_VALUE_H
#define LEAT_FRONTEND_VALUE_H

#include "frontend/frontend.h"
#include "frontend/syntax/ast.h"

typedef enum ev_kind {
  EV_ERROR,
  EV_NONE,
  EV_TENSOR, // a value of the graph
  EV_INT,    // compile-time numbers: as literals, they take the dtype of what they meet
  EV_FLOAT,
  EV_COMPLEX,
  EV_BOOL,
  EV_STRING,
  EV_DTYPE,
  EV_TYPE,
  EV_DIM, // a dim that is no constant
  EV_FUNCTION,
  EV_LIST,
  EV_STATE,
  EV_ROWS,  // sparse rows: stands for a tensor
  EV_ENTRY, // reserves the entry's name
  EV_BODY,  // of a node, in canonical text
} ev_kind;

typedef struct ev ev;
typedef struct ev_list ev_list;
typedef struct ev_function ev_function;
typedef struct ev_builtin ev_builtin;
typedef struct ev_carry ev_carry;
typedef leat_frontend evaluator;

struct ev {
  ev_kind kind;
  bool quotient; // FLOAT: `/` of ints is in it
  bool typed;    // TENSOR: declared with its dtype, be it made of numbers alone: weak.c
  bool weak;     // TYPE, DTYPE: of what is made of numbers alone
  union {
    leat_value tensor;
    int64_t i; // INT, BOOL, DTYPE; NONE: see ev_nothing
    struct {   // FLOAT
      double f;
      uint64_t magnitude; // when it was written as an int beyond i64: that int; else 0
    };
    struct { // COMPLEX
      double re, im;
    };
    struct { // STRING
      const char *text;
      size_t size;
    };
    const leat_type *type;
    leat_dim dim;
    const ev_function *function;
    const ev_list *list;
    leat_state *state;
    leat_entry *entry;
    leat_graph *body;
    struct ev_rows *rows;
  };
};

// Sparse rows: a row of index i is the sum of the values that have it; the others are zero.
typedef struct ev_rows {
  leat_value indices; // an integer[n]
  leat_value values;  // T[n, …]
  leat_type type;     // of the tensor they stand for: T[rows, …]
  leat_value count;   // an i64: so many are meant (frontend/values/counted_rows.c); {NULL}: all
} ev_rows;

struct ev_list {
  uint32_t count;
  const ev *items;
  const char *const *names; // of collected named arguments; NULL for a plain list
  bool results;             // several results of one call, to be taken apart
  uint32_t weight;          // values in it, those of inner lists too
  uint32_t height;          // lists inside one another
};

// What a name in the place of a callee can be. Neither definition nor builtin: the op.
struct ev_function {
  const char *name;
  const leat_stmt *definition; // `fn` or `gradient`
  const ev_builtin *builtin;
  leat_op op;
  bool library; // of stdlib/: its body sees the library alone, whatever the user's names are
};

// What stands between the brackets of a call.
typedef struct ev_argument {
  const char *key; // NULL: by position
  ev value;
  leat_span span, key_span;
} ev_argument;

// -- value.c --------------------------------------------------------------------------------------
ev ev_error(void);
ev ev_none(void);
ev ev_nothing(void); // what a call gives that has no value: `none`, but not to be bound
bool ev_is_nothing(ev value);
ev ev_int(int64_t value);
ev ev_float(double value);
ev ev_complex(double re, double im);
ev ev_bool(bool value);
ev ev_text(evaluator *e, const char *text, size_t size);
// The string that was put together, which is finished here; EV_ERROR when not `ok` or too long.
ev ev_take_text(evaluator *e, leat_text *text, bool ok, leat_span span);
ev ev_tensor(leat_value value); // {NULL} gives EV_ERROR
ev ev_of_dim(leat_dim dim);     // INT when it is a constant
ev ev_of_state(leat_state *state);
// Room for a list's items; NULL: reported.
ev *ev_new_items(evaluator *e, uint64_t count);
// Takes the items, which live in the arena; EV_ERROR when the list would be too large. ev_make_list
// copies them.
ev ev_take_list(evaluator *e, const ev *items, uint32_t count);
ev ev_make_list(evaluator *e, const ev *items, uint32_t count);
// The value as it is, in which all that is no list has become what `change` makes of it.
ev ev_with_items(evaluator *e, ev value, ev (*change)(void *context, ev item), void *context);
ev ev_take_results(evaluator *e, const ev *items, uint32_t count); // several results of one call
const char *ev_kind_name(ev value); // "a tensor", "an int", … for messages
const char *ev_found_no_int(evaluator *e,
                            ev value); // where an int is due; of a float, what gives one
bool ev_is_literal(ev value);          // INT, FLOAT, BOOL
bool ev_takes_dtype(ev value);         // a literal, a LIST, a DIM: as a tensor, of what it meets
bool ev_is_tensor(ev value);           // a TENSOR or a STATE
const leat_type *ev_tensor_type(ev value); // of a TENSOR, a STATE, ROWS; NULL: it has none
bool ev_equal(ev a, ev b);
// Stops behind what makes `out` longer than EV_MAX_STRING.
void ev_print(ev value, leat_text *out);
// The user's text that led to a place in the library, whose lines nobody wants to read; of any
// other place that place.
leat_span ev_place(const evaluator *e, leat_span span);
// Reports at that place and returns EV_ERROR.
ev ev_fail(evaluator *e, leat_span span, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
bool ev_failed(const evaluator *e); // the text being evaluated has an error
// "; did you mean `relu`?": the candidate nearest to `name`. When none is near, those there are, if
// they are few; else "".
const char *ev_suggestion(evaluator *e, const char *name, const char *const *candidates,
                          size_t count);
// Counts work done. False: a limit is hit, which is reported once, and evaluation unwinds.
bool ev_spend(evaluator *e, uint64_t steps, leat_span span);

#endif
