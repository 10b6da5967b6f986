#include "session/artifact/c_names.h"

#include <ctype.h>
#include <string.h>

// Of C11 and C++20, and what their headers or ours may define as macros.
static const char *const keywords[] = {
    "alignas",    "alignof",       "and",         "and_eq",    "asm",          "auto",
    "bitand",     "bitor",         "bool",        "break",     "case",         "catch",
    "char",       "char16_t",      "char32_t",    "char8_t",   "class",        "co_await",
    "co_return",  "co_yield",      "compl",       "complex",   "concept",      "const",
    "const_cast", "consteval",     "constexpr",   "constinit", "continue",     "decltype",
    "default",    "delete",        "do",          "double",    "dynamic_cast", "else",
    "enum",       "explicit",      "export",      "extern",    "false",        "float",
    "for",        "friend",        "goto",        "if",        "inline",       "int",
    "linux",      "long",          "mutable",     "namespace", "new",          "noexcept",
    "noreturn",   "not",           "not_eq",      "nullptr",   "operator",     "or",
    "or_eq",      "private",       "protected",   "public",    "register",     "reinterpret_cast",
    "requires",   "restrict",      "return",      "short",     "signed",       "sizeof",
    "static",     "static_assert", "static_cast", "struct",    "switch",       "template",
    "this",       "thread_local",  "throw",       "true",      "try",          "typedef",
    "typeid",     "typename",      "typeof",      "union",     "unix",         "unsigned",
    "using",      "virtual",       "void",        "volatile",  "wchar_t",      "while",
    "xor",        "xor_eq",        "I",           "NULL",      "errno",        "stdin",
    "stdout",     "stderr",        "assert",      "offsetof",  "EOF",
};

void leat_c_scope_take(leat_c_scope *scope, const char *name) {
  leat_bytes_map_keep(&scope->taken, name, strlen(name));
  leat_bytes_map_set(&scope->taken, name, strlen(name), scope);
}

void leat_c_scope_init(leat_c_scope *scope, leat_arena *arena) {
  scope->arena = arena;
  leat_bytes_map_init(&scope->taken, arena);
}

void leat_c_scope_take_keywords(leat_c_scope *scope) {
  for (size_t i = 0; i < sizeof keywords / sizeof *keywords; i++)
    leat_c_scope_take(scope, keywords[i]);
}

// Each run of what no identifier has becomes one `_`. One that begins with `_` may be the
// implementation's, one that begins with a digit is none.
static char *spell(leat_arena *arena, const char *name) {
  bool plain = isalpha((unsigned char)*name);
  char *spelled = leat_arena_printf(arena, "%s%s", plain ? "" : "x_", name), *to = spelled;
  for (const char *c = spelled; *c; c++) {
    bool fine = (unsigned char)*c < 128 && isalnum((unsigned char)*c);
    if (fine || to == spelled || to[-1] != '_') *to++ = fine ? *c : '_';
  }
  while (to > spelled + 1 && to[-1] == '_') to--;
  *to = '\0';
  return spelled;
}

const char *leat_c_name(leat_c_scope *scope, const char *name) {
  const char *spelled = spell(scope->arena, name), *free = spelled;
  for (int n = 1; leat_bytes_map_get(&scope->taken, free, strlen(free)); n++)
    free = n == 1 ? leat_arena_printf(scope->arena, "%s_", spelled)
                  : leat_arena_printf(scope->arena, "%s_%d", spelled, n);
  leat_c_scope_take(scope, free);
  return free;
}
