// What a text says, before anything is known of its meaning: statements of expressions.
//
// The parser (frontend/syntax/parser.h) makes it, the evaluator walks it. Everything lives in the
// arena given to the parser; names are interned, so `==` compares them; every node carries its
// span. A statement in which the parser found an error is left out. Whether `NAME[…]` is a type or
// an index, whether an `if` is decided while compiling, and whether a name is known at all is for
// the evaluator to say.
#ifndef LEAT_FRONTEND_AST_H
#define LEAT_FRONTEND_AST_H

#include "base/diag.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct leat_expr leat_expr;
typedef struct leat_stmt leat_stmt;

typedef struct leat_exprs {
  leat_expr **items;
  uint32_t count;
} leat_exprs;

typedef struct leat_stmts {
  leat_stmt **items;
  uint32_t count;
} leat_stmts;

// X(id, spelling, primitive op). NOT and NEG are unary.
#define LEAT_OPERATOR_LIST(X)                                                                      \
  X(OR, "or", "or")                                                                                \
  X(AND, "and", "and")                                                                             \
  X(NOT, "not", "not")                                                                             \
  X(EQUAL, "==", "equal")                                                                          \
  X(NOT_EQUAL, "!=", "not_equal")                                                                  \
  X(LESS, "<", "less")                                                                             \
  X(LESS_EQUAL, "<=", "less_equal")                                                                \
  X(GREATER, ">", "greater")                                                                       \
  X(GREATER_EQUAL, ">=", "greater_equal")                                                          \
  X(ADD, "+", "add")                                                                               \
  X(SUB, "-", "sub")                                                                               \
  X(MUL, "*", "mul")                                                                               \
  X(DIV, "/", "div")                                                                               \
  X(FLOOR_DIV, "//", "floor_div")                                                                  \
  X(REMAINDER, "%", "remainder")                                                                   \
  X(NEG, "-", "neg")                                                                               \
  X(MATMUL, "@", "matmul")                                                                         \
  X(POW, "**", "pow")

typedef enum leat_operator {
#define X(id, spelling, op) LEAT_OPERATOR_##id,
  LEAT_OPERATOR_LIST(X)
#undef X
} leat_operator;

const char *leat_operator_spelling(leat_operator operator); // "+"
const char *leat_operator_op(leat_operator operator);       // "add"

typedef enum leat_expr_kind {
  LEAT_EXPR_NAME,      // x · f32 · relu; in the place of a type also `fn`, `queue`, `mutex`
  LEAT_EXPR_PATH,      // $train/net/h:1
  LEAT_EXPR_INT,       // 12 · -12 · 0xff
  LEAT_EXPR_FLOAT,     // 1e-3 · nan · -inf
  LEAT_EXPR_IMAGINARY, // 2.5j
  LEAT_EXPR_BOOL,      // true
  LEAT_EXPR_NONE,      // none
  LEAT_EXPR_STRING,    // "block{i}"
  LEAT_EXPR_LIST,      // [a, b]; in the place of a type `[int]` is a list of ints
  LEAT_EXPR_CALL,      // f(x, axis=1, ...) as "block{i}" · x |> f(axis=1)
  LEAT_EXPR_INDEX,     // x[:, 0] · f32[B, ...D, ?]
  LEAT_EXPR_UNARY,     // -x · not p
  LEAT_EXPR_BINARY,    // a + b
  LEAT_EXPR_RANGE,     // 0..12, in `for` and `dim` only
  LEAT_EXPR_FN, // fn($x: f32[8]) { … yield $y }: the value of a named argument, in canonical text
  // Among the items of an index or a type only:
  LEAT_EXPR_SLICE,    // a:b:c, each part optional
  LEAT_EXPR_NEW_AXIS, // None
  LEAT_EXPR_ELLIPSIS, // ... · ...D; as the last argument of a call: the named arguments that `...`
                      // collected
  LEAT_EXPR_ANY_DIM,  // ? · ?3
  // As the type of a parameter only:
  LEAT_EXPR_VAR_TYPE, // var T[...D] · var
} leat_expr_kind;

// An argument of a call, or a `key=value` of a declaration. key NULL: by position. In an entry's
// attributes a word alone (`training`) has value NULL.
typedef struct leat_argument {
  leat_span span;
  const char *key;
  leat_expr *value;
} leat_argument;

typedef struct leat_arguments {
  leat_argument *items;
  uint32_t count;
} leat_arguments;

// The argument called `key` (interned), or NULL.
const leat_argument *leat_arguments_find(const leat_arguments *args, const char *key);

// A piece of a string: bytes as they are (escapes resolved; they may hold NUL), or `{expr}`.
typedef struct leat_string_part {
  leat_expr *expr; // NULL: `text`
  const char *text;
  size_t size;
} leat_string_part;

// How deep expressions, and blocks, may nest: whoever walks them may recurse.
enum { LEAT_MAX_NESTING = 256 };
#define LEAT_MAX_TEXT_MEMORY ((size_t)1 << 30) // what reading a text may take, and evaluating it

struct leat_expr {
  leat_expr_kind kind : 8;
  unsigned height : 24; // 1 for a leaf; at most LEAT_MAX_NESTING
  leat_span span;
  union {
    const char *name; // NAME; ELLIPSIS: the D of ...D, or NULL
    struct {
      const char *path; // without the `$`
      uint32_t port;    // 0 when not written
    };
    struct {
      uint64_t
          magnitude; // INT: the value is negative ? -magnitude : magnitude, and fits i64 or u64
      bool negative;
    };
    double number; // FLOAT, with its sign; IMAGINARY
    bool truth;    // BOOL
    struct {       // STRING: at least one part; a plain string is one part of text
      leat_string_part *parts;
      uint32_t part_count;
    };
    leat_exprs list; // LIST
    struct {         // CALL
      leat_expr *callee;
      leat_arguments args;
      leat_expr *as; // the instance's name as a STRING, or NULL
    };
    struct { // INDEX
      leat_expr *base;
      leat_exprs items;
    };
    struct { // UNARY (right only), BINARY
      leat_operator operator;
      leat_expr *left, *right;
    };
    struct { // SLICE (each may be NULL), RANGE (step NULL)
      leat_expr *begin, *end, *step;
    };
    uint32_t number_of_dim; // ANY_DIM: the 3 of ?3; 0 when not written
    leat_stmt *body;        // FN: its params and body
    leat_expr *of;          // VAR_TYPE: the tensor type, or NULL for a bare `var`
  };
};

// `_`, which is no name: as a target it throws a value away.
static inline bool leat_is_blank(const char *name) {
  return name[0] == '_' && !name[1];
}

// A name and what is said of it: a target, a parameter, a result, or a value that a loop carries.
typedef struct leat_binding {
  leat_span span;
  const char *name;  // `...` for a last parameter that collects; NULL for an unnamed result and for
                     // the target `_`
  bool absolute;     // written `$path`: `name` is the whole path
  bool collects;     // the parameter `...`
  uint32_t port;     // of a `$path:1`, else 0
  leat_expr *member; // target x[t]: the t; else NULL
  leat_expr *type;   // NULL when not written
  leat_expr *value;  // parameter: default · result: canonical source · carried: first value; NULL
                     // when not written
} leat_binding;

typedef struct leat_bindings {
  leat_binding *items;
  uint32_t count;
} leat_bindings;

typedef enum leat_stmt_kind {
  // Definitions. They stand at top level, or in an `on`, `for` or `if` there.
  LEAT_STMT_GRAPH,    // graph digits(seed: int = 1) device="…"
  LEAT_STMT_USE,      // use "readers.leat" · use "net.onnx" as net trainable=true
  LEAT_STMT_DIM,      // dim B in 1..4096
  LEAT_STMT_FN,       // fn f(x: T[...D]) -> (T[...D], i32[]) { … }
  LEAT_STMT_GRADIENT, // gradient sum(x, axis, keepdims) -> y, dy { … }
  LEAT_STMT_ENTRY,    // entry train(lr: f32[] = 0.1) training -> (loss: f32[]) { … }
  // Declarations of state.
  LEAT_STMT_VAR,   // var w: T[I, units] = glorot_uniform() trainable=false
  LEAT_STMT_QUEUE, // queue q: (f32[32], i32[]) capacity=32 kind=shuffle
  LEAT_STMT_MUTEX, // mutex m
  // The rest.
  LEAT_STMT_BIND,   // a, x[t]: f32[B] = f(x)
  LEAT_STMT_ASSIGN, // v := e
  LEAT_STMT_UPDATE, // v += e
  LEAT_STMT_EXPR,   // minimize(loss, sgd)
  LEAT_STMT_ON,     // on "/job:ps" { … }
  LEAT_STMT_FOR,    // for i in 0..12 { … } · for t in tasks("worker") { … }
  LEAT_STMT_IF,     // if p { … } else { … } · a, b = if p { yield x, y } else { yield u, v }
  LEAT_STMT_WHILE,  // t, h = while (t = 0, h = h0) t < n parallel=8 { next t + 1, z }
  LEAT_STMT_RETURN, // return x, y
  LEAT_STMT_YIELD,  // yield x, y
  LEAT_STMT_NEXT,   // next t + 1, z
} leat_stmt_kind;

struct leat_stmt {
  leat_stmt_kind kind;
  leat_span span;      // all of it
  const char *doc;     // the `##` lines above it, joined by newlines; NULL: none
  const char *name;    // GRAPH, DIM, FN, GRADIENT, ENTRY, VAR, QUEUE, MUTEX, FOR: what it names;
                       //   USE: what stands behind `as`, or NULL
  leat_span name_span; //   and where
  bool absolute;       // VAR, QUEUE, MUTEX: the name was written `$path`
  leat_expr *on, *colocate; // suffixes; NULL: none. ON: `on` is the device
  leat_exprs after;
  leat_arguments options; // USE, VAR, QUEUE, MUTEX, WHILE: key=value pairs
  leat_bindings targets;  // BIND, IF, WHILE (IF may have none)
  leat_exprs values;      // BIND: one or more · EXPR: one · RETURN, YIELD, NEXT: any number
  leat_stmts body;        // FN, GRADIENT, ENTRY, ON, FOR, WHILE; IF: when true
  union {
    struct { // GRAPH, FN, GRADIENT, ENTRY
      leat_bindings params;
      leat_bindings results;     // GRADIENT: the outputs, then their gradients
      leat_arguments attributes; // ENTRY: training · background parallel=2 once; GRAPH: device="…"
    };
    struct {           // VAR, QUEUE
      leat_expr *type; // QUEUE: a LIST of types
      leat_expr *init; // VAR; NULL when not written
    };
    struct { // ASSIGN, UPDATE
      leat_expr *target, *value;
    };
    leat_expr *file;   // USE: a STRING
    leat_expr *bounds; // DIM: a RANGE, or NULL
    leat_expr *over;   // FOR: a RANGE or a list
    struct {           // IF, WHILE
      leat_expr *condition;
      leat_stmts otherwise; // `else if` is a block of one `if` without targets, whose yields are
                            // the outer's
      bool has_else;
      leat_bindings carried; // WHILE
    };
  };
};

typedef struct leat_ast_file {
  uint32_t source; // its number in the leat_diag
  leat_stmts stmts;
} leat_ast_file;

#endif
