// What the parts of the parser share: parser.c reads lines and blocks, parse_stmt.c statements,
// parse_expr.c expressions, parse_string.c strings. Internal to frontend/syntax/.
//
// The text is read token by token, one ahead. The first error in a statement raises `panic`: it is
// reported, the rest of the statement is read in silence (nothing is consumed where something else
// was expected, so every loop ends), and the statement is dropped at its end. No function returns
// NULL for a part that the grammar requires.
#ifndef LEAT_FRONTEND_PARSE_H
#define LEAT_FRONTEND_PARSE_H

#include "base/vec.h"
#include "frontend/syntax/lexer.h"
#include "frontend/syntax/parser.h"

enum {
  LEAT_ALLOW_DEFINITIONS = 1,                           // at top level
  LEAT_ALLOW_RETURN = 2,                                // in a function or a gradient rule
  LEAT_ALLOW_YIELD = 4,                                 // in an `if` with targets
  LEAT_ALLOW_NEXT = 8,                                  // in a `while`
  LEAT_ALLOW_ENDS = LEAT_ALLOW_YIELD | LEAT_ALLOW_NEXT, // of a body, so not in blocks inside of it
};

typedef struct leat_parser {
  leat_arena *arena;
  leat_arena *scratch; // of the stacks below; dies with the parser
  size_t most_memory;  // used of both
  leat_strings *strings;
  leat_diag *diag;
  uint32_t source;
  leat_lexer lexer;
  leat_token token;    // the one not consumed yet
  leat_token previous; // the last one consumed
  uint32_t depth;      // of blocks, brackets and prefix operators
  bool panic;
  bool stopped;                // at its limit: all that follows is the end
  unsigned allowed;            // which statements may stand here: LEAT_ALLOW_…
  uint32_t stmt_begin, indent; // of the statement being read; its column

  // Stacks of the lists being read: a list notes the count, pushes, and takes what is above.
  leat_vec(leat_expr *) exprs;
  leat_vec(leat_argument) args;
  leat_vec(leat_binding) bindings;
  leat_vec(leat_stmt *) stmts;
  leat_vec(leat_string_part) parts;
} leat_parser;

// Moves the items of a stack from `mark` on to the arena: LEAT_TAKE(p, exprs, mark, &call->args).
#define LEAT_TAKE(parser, stack, mark, out)                                                        \
  do {                                                                                             \
    (out)->count = (parser)->stack.count - (mark);                                                 \
    if ((out)->count)                                                                              \
      (out)->items = leat_arena_memdup((parser)->arena, (parser)->stack.items + (mark),            \
                                       (out)->count * sizeof *(parser)->stack.items);              \
    (parser)->stack.count = (mark);                                                                \
  } while (0)

static inline bool leat_parser_at(const leat_parser *p, leat_token_kind kind) {
  return p->token.kind == kind;
}

void leat_parser_advance(leat_parser *p);
bool leat_parser_accept(leat_parser *p, leat_token_kind kind); // consumes it if it is next
bool leat_parser_expect(leat_parser *p, leat_token_kind kind); // or reports what was found instead
void leat_parser_fail(leat_parser *p, const char *expected);   // "expected `expected`, found …"
void leat_parser_error(leat_parser *p, leat_span span, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
leat_span leat_parser_span(const leat_parser *p, uint32_t begin); // to the last token consumed
leat_span leat_parser_token_span(const leat_parser *p);
// One more level of nesting; false, with an error, when it is one too many. Leave after true only.
bool leat_parser_enter(leat_parser *p);
void leat_parser_leave(leat_parser *p);
// `open` [ item { "," item } [ "," ] ] `close`; `item` pushes onto a stack.
void leat_parser_list(leat_parser *p, leat_token_kind open, leat_token_kind close,
                      void (*item)(leat_parser *));
// The bracket that closes `open`, else an error that shows both.
void leat_parser_close(leat_parser *p, leat_token open, leat_token_kind close,
                       const char *expected);
const char *leat_parser_intern_name(leat_parser *p, leat_token token); // what a NAME or PATH says
// Reports a name that nothing can be bound to: that of a dtype, `_`.
void leat_parser_check_name(leat_parser *p, leat_span span, const char *name);
// A name that is bound here: an interned NAME that passes. `what` is what an error says was
// expected.
const char *leat_parse_name(leat_parser *p, const char *what);

// A node from `begin` to the last token consumed: made after its parts.
leat_expr *leat_parser_new(leat_parser *p, leat_expr_kind kind, uint32_t begin);
// Says that `part`, which may be NULL, is below `e`; nesting too deep is an error.
void leat_parser_contain(leat_parser *p, leat_expr *e, const leat_expr *part);

bool leat_parser_ends_line(const leat_parser *p);              // or the block, or the text
leat_stmts leat_parse_block(leat_parser *p, unsigned allowed); // { … }
leat_bindings leat_parse_body_params(leat_parser *p);          // ($x: f32[8], …)
leat_stmt *leat_parse_stmt(leat_parser *p); // up to what should be the end of its line
leat_expr *leat_parse_expr(leat_parser *p);
leat_exprs leat_parse_exprs(leat_parser *p);       // one or more, between commas
leat_exprs leat_parse_list(leat_parser *p);        // [ … ]
leat_expr *leat_parse_range(leat_parser *p);       // expression [ ".." expression ]
leat_expr *leat_parse_string(leat_parser *p);      // a STRING
leat_expr *leat_parse_tensor_type(leat_parser *p); // NAME [ "[" … "]" ]
leat_expr *leat_parse_tuple_type(leat_parser *p);  // "(" [ types ] ")", as a LIST
leat_expr *leat_parse_type(
    leat_parser *p); // of a parameter: also [type], var type, queue, mutex, fn
void leat_parse_path(leat_parser *p, const char **out_path,
                     uint32_t *out_port); // the PATH that is next

#endif
