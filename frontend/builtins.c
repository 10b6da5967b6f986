// The table of compile-time functions, those of evaluation and those of gradients, which evaluation
// is handed.
#include "frontend/frontend.h"

#include "frontend/values/builtin.h"

#define PARAMS(...)                                                                                \
  { __VA_ARGS__ }
static const ev_builtin builtins[] = {
#define BUILTIN(name, function, required, collects, params, help)                                  \
  {#name, help, params, required, EV_COLLECTS_##collects, ev_builtin_##function},
#include "frontend/values/builtins.def"
#undef BUILTIN
    {0},
};
#undef PARAMS

const ev_builtin *ev_builtins(void) {
  return builtins;
}

const char *leat_builtin_name(uint32_t i) {
  return builtins[i].name;
}

const char *leat_builtin_help(uint32_t i) {
  return builtins[i].help;
}
