// The words of the language that are no names (docs/grammar.ebnf), for whoever writes texts.
#ifndef LEAT_KEYWORDS_H
#define LEAT_KEYWORDS_H

#include "leat/dtype.h"

// X(id, spelling)
#define LEAT_KEYWORD_LIST(X)                                                                       \
  X(GRAPH, "graph")                                                                                \
  X(USE, "use")                                                                                    \
  X(DIM, "dim")                                                                                    \
  X(FN, "fn")                                                                                      \
  X(GRADIENT, "gradient")                                                                          \
  X(ENTRY, "entry")                                                                                \
  X(VAR, "var")                                                                                    \
  X(QUEUE, "queue")                                                                                \
  X(MUTEX, "mutex")                                                                                \
  X(ON, "on")                                                                                      \
  X(FOR, "for")                                                                                    \
  X(IF, "if")                                                                                      \
  X(WHILE, "while")                                                                                \
  X(RETURN, "return")                                                                              \
  X(YIELD, "yield")                                                                                \
  X(NEXT, "next")                                                                                  \
  X(COLOCATE, "colocate")                                                                          \
  X(AFTER, "after")                                                                                \
  X(AS, "as")                                                                                      \
  X(IN, "in")                                                                                      \
  X(ELSE, "else")                                                                                  \
  X(OR, "or")                                                                                      \
  X(AND, "and")                                                                                    \
  X(NOT, "not")                                                                                    \
  X(TRUE, "true")                                                                                  \
  X(FALSE, "false")                                                                                \
  X(NONE, "none")                                                                                  \
  X(NAN, "nan")                                                                                    \
  X(INF, "inf")                                                                                    \
  X(NEW_AXIS, "None")

#endif
