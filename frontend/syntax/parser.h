// From text to AST: hand-written recursive descent over docs/grammar.ebnf.
//
// An error is reported where it stands, with what was expected and what was found, and parsing goes
// on at the next line, so one run reports many. Nesting is at most 256 deep and a source at most 64
// MiB; more is an error.
#ifndef LEAT_FRONTEND_PARSER_H
#define LEAT_FRONTEND_PARSER_H

#include "base/intern.h"
#include "frontend/syntax/ast.h"

// Parses a source of `diag`. Never NULL; leat_diag_errors says whether all of the text is in it.
leat_ast_file *leat_parse(leat_arena *arena, leat_strings *strings, leat_diag *diag,
                          uint32_t source);

// Whether brackets, or a string, are still open at the end of the text, or it documents what comes
// next: a REPL then asks for another line.
bool leat_parse_is_incomplete(const char *text, size_t size);

#endif
