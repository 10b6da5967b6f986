// Compile-time functions: how one is described, and called (builtins.c).
#ifndef LEAT_FRONTEND_BUILTIN_H
#define LEAT_FRONTEND_BUILTIN_H

#include "frontend/values/value.h"

enum { EV_MAX_PARAMS = 5 };

typedef struct ev_builtin_call {
  leat_span span;
  ev args[EV_MAX_PARAMS]; // by parameter, EV_NONE where not given
  leat_span spans[EV_MAX_PARAMS];
  const ev_argument *rest; // arguments that are no parameters, where the builtin collects
  uint32_t rest_count;
  const char *hint;
} ev_builtin_call;

struct ev_builtin {
  const char *name, *help;
  const char *params[EV_MAX_PARAMS + 1];
  uint32_t required;
  enum {
    EV_COLLECTS_NOTHING,
    EV_COLLECTS_NAMED = 1,
    EV_COLLECTS_POSITIONAL = 2,
    EV_COLLECTS_ALL = EV_COLLECTS_NAMED | EV_COLLECTS_POSITIONAL,
  } collects;
  ev (*evaluate)(evaluator *e, const ev_builtin_call *call);
};

#define BUILTIN(name, function, required, collects, params, help)                                  \
  ev ev_builtin_##function(evaluator *e, const ev_builtin_call *call);
#include "frontend/values/builtins.def"
#undef BUILTIN
const ev_builtin *ev_builtins(void); // all of them, the last one without a name

#endif
