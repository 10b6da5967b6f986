// One walk over the pattern (https://github.com/google/re2/wiki/Syntax). What both libraries mean
// alike is copied; what they do not is spelled so that PCRE2 can mean nothing else: characters by
// their numbers, \s without the vertical tab, scripts without extensions; and what RE2 has not,
// Perl's other groups, references back, possessive repetition, is refused.
#include "runtime/pcre2/regex_syntax.h"

#include <stdio.h>
#include <string.h>

// What a repetition behind it would repeat.
typedef enum piece { NOTHING, ONE, REPEATED } piece;

typedef struct scanner {
  const char *at, *begin, *end;
  leat_text *out;
  const char *wrong; // why it is refused, or NULL
  size_t place;      // where
  const char *from;  // what is being written
  size_t wanted;     // of the byte `wanted` of what is written, `found` says the place
  const char *found;
} scanner;

static bool is_digit(int c) {
  return c >= '0' && c <= '9';
}

static bool is_letter(int c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

// The byte `ahead` bytes further on; -1 behind the end.
static int peek(const scanner *s, int ahead) {
  return s->end - s->at > ahead ? (unsigned char)s->at[ahead] : -1;
}

static bool begins(const scanner *s, const char *what) {
  size_t size = strlen(what);
  return (size_t)(s->end - s->at) >= size && memcmp(s->at, what, size) == 0;
}

static void write_n(scanner *s, const char *bytes, size_t size) {
  leat_text_add_n(s->out, bytes, size);
  if (!s->found && s->out->size > s->wanted) s->found = s->from;
}

static void write(scanner *s, const char *words) {
  write_n(s, words, strlen(words));
}

// False, so that it can be returned.
static bool refuse(scanner *s, const char *place, const char *why) {
  s->wrong = why;
  s->place = (size_t)(place - s->begin);
  return false;
}

static void write_character(scanner *s, uint32_t code) {
  char words[16];
  bool plain = code < 0x80 && (is_letter((int)code) || is_digit((int)code));
  snprintf(words, sizeof words, plain ? "%c" : "\\x{%x}", (unsigned)code);
  write(s, words);
}

// The well-formed character at s->at, which is passed.
static bool literal(scanner *s, uint32_t *out) {
  static const unsigned char first[] = {0, 0x7f, 0x1f, 0x0f, 0x07};
  size_t size = leat_utf8_character(s->at, (size_t)(s->end - s->at));
  if (!size) return refuse(s, s->at, "what is no UTF-8");
  *out = (unsigned char)*s->at & first[size];
  for (size_t i = 1; i < size; i++) *out = *out << 6 | ((unsigned char)s->at[i] & 0x3f);
  s->at += size;
  return true;
}

static int digit_of(int c, int base) {
  int digit = is_digit(c) ? c - '0' : is_letter(c) ? (c | 32) - 'a' + 10 : base;
  return digit < base ? digit : -1;
}

// \x{10FFFF} and \x7F, behind the x.
static bool hexadecimal(scanner *s, const char *escape, uint32_t *out) {
  bool braced = peek(s, 0) == '{';
  int count = 0, digit;
  s->at += braced;
  for (*out = 0; (braced || count < 2) && (digit = digit_of(peek(s, 0), 16)) >= 0;
       count++, s->at++) {
    *out = *out * 16 + (uint32_t)digit;
    if (*out > 0x10ffff) return refuse(s, escape, "no character has this number");
  }
  if (braced ? !count || peek(s, 0) != '}' : count < 2)
    return refuse(s, escape, "an unknown escape");
  s->at += braced;
  return true;
}

// An escape that is one character, at its backslash.
static bool escaped(scanner *s, uint32_t *out) {
  static const char letters[] = "a\af\fn\nr\rt\tv\v";
  const char *escape = s->at++;
  int c = peek(s, 0);
  if (c < 0) return refuse(s, escape, "a backslash at the end");
  s->at++;
  if (c == 'x') return hexadecimal(s, escape, out);
  for (size_t i = 0; i < sizeof letters - 1; i += 2)
    if (c == letters[i]) return *out = (uint32_t)letters[i + 1], true;
  if (c == '0' || (c >= '1' && c <= '7' && digit_of(peek(s, 0), 8) >= 0)) {
    *out = (uint32_t)(c - '0');
    for (int i = 0; i < 2 && digit_of(peek(s, 0), 8) >= 0; i++)
      *out = *out * 8 + (uint32_t)digit_of(*s->at++, 8);
    return true;
  }
  if (is_digit(c)) return refuse(s, escape, "RE2 has no references to groups");
  if (c >= 0x80 || is_letter(c)) return refuse(s, escape, "an unknown escape");
  *out = (uint32_t)c;
  return true;
}

// \pN, \p{Greek}, \P…, \p{^…}: categories and scripts.
static bool property(scanner *s) {
  const char *escape = s->at, *name;
  bool negated = s->at[1] == 'P';
  s->at += 2;
  int size = 1;
  if (peek(s, 0) == '{') {
    s->at++;
    if (peek(s, 0) == '^') negated = !negated, s->at++;
    for (size = 0; is_letter(peek(s, size)) || peek(s, size) == '_';) size++;
    if (!size || peek(s, size) != '}') return refuse(s, escape, "an unknown property");
  } else if (!is_letter(peek(s, 0))) {
    return refuse(s, escape, "an unknown property");
  }
  name = s->at;
  s->at += size + (name[-1] == '{' || name[-1] == '^');
  bool script = size > 2 && !(size == 3 && memcmp(name, "Any", 3) == 0);
  write(s, negated ? "\\P{" : "\\p{");
  if (script) write(s, "sc:");
  write_n(s, name, (size_t)size);
  write(s, "}");
  return true;
}

// \d and the like, in a class or by themselves; false: there is none here.
static bool perl_class(scanner *s, bool inside) {
  int c = peek(s, 0) == '\\' ? peek(s, 1) : -1;
  if (c < 0 || !strchr("dDsSwW", c)) return false;
  if (c == 's')
    write(s, inside ? "\\t\\n\\f\\r\\x20" : "[\\t\\n\\f\\r\\x20]");
  else if (c == 'S')
    write(s, inside ? "\\S\\x0b" : "[^\\t\\n\\f\\r\\x20]");
  else
    write_n(s, s->at, 2);
  s->at += 2;
  return true;
}

// [:alpha:] and [:^alpha:] in a class; false: there is none here, or it is wrong.
static bool named_class(scanner *s) {
  static const char *const names[] = {"alnum", "alpha", "ascii", "blank", "cntrl",
                                      "digit", "graph", "lower", "print", "punct",
                                      "space", "upper", "word",  "xdigit"};
  if (!begins(s, "[:")) return false;
  const char *name = s->at + 2 + (peek(s, 2) == '^'), *end = name;
  while (s->end - end >= 2 && memcmp(end, ":]", 2) != 0) end++;
  if (s->end - end < 2) return false;
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (strlen(names[i]) == (size_t)(end - name) && !memcmp(names[i], name, strlen(names[i]))) {
      write_n(s, s->at, (size_t)(end + 2 - s->at));
      s->at = end + 2;
      return true;
    }
  return refuse(s, s->at, "an unknown class of characters");
}

static bool class_character(scanner *s, uint32_t *out) {
  return peek(s, 0) == '\\' ? escaped(s, out) : literal(s, out);
}

static bool class_range(scanner *s) {
  const char *place = s->at;
  uint32_t low, high;
  if (!class_character(s, &low)) return false;
  write_character(s, low);
  if (peek(s, 0) != '-' || peek(s, 1) == ']' || peek(s, 1) < 0) return true;
  s->at++;
  if (!class_character(s, &high)) return false;
  if (high < low) return refuse(s, place, "a range that falls");
  write(s, "-");
  write_character(s, high);
  return true;
}

static bool class(scanner *s) {
  const char *place = s->at++;
  write(s, "[");
  if (peek(s, 0) == '^') s->at++, write(s, "^");
  for (bool first = true; first || peek(s, 0) != ']'; first = false) {
    s->from = s->at;
    int next = peek(s, 0), second = peek(s, 1);
    if (next < 0) return refuse(s, place, "a `[` without its `]`");
    if (perl_class(s, true) || named_class(s)) continue;
    if (s->wrong) return false;
    bool fine = next == '\\' && (second == 'p' || second == 'P') ? property(s) : class_range(s);
    if (!fine) return false;
  }
  s->at++;
  write(s, "]");
  return true;
}

// A number of a repetition, without zeros in front; -1: there is none.
static int count_at(const char **at, const char *end) {
  enum { LARGEST = 100000000 };
  int value = 0;
  const char *begin = *at;
  for (; *at < end && is_digit(**at); ++*at) {
    if (value >= LARGEST) return -1;
    value = value * 10 + (**at - '0');
  }
  return *at == begin || (*begin == '0' && *at - begin > 1) ? -1 : value;
}

// Passes {n}, {n,} or {n,m}; false: the brace is a character.
static bool counts(scanner *s, int *low, int *high) {
  const char *at = s->at + 1;
  if ((*low = count_at(&at, s->end)) < 0) return false;
  *high = *low;
  if (at < s->end && *at == ',') {
    at++;
    *high = at < s->end && *at == '}' ? *low : count_at(&at, s->end);
  }
  if (*high < 0 || at == s->end || *at != '}') return false;
  s->at = at + 1;
  return true;
}

// At one of * + ? { ; a brace that repeats nothing is a character.
static bool repetition(scanner *s, piece *last) {
  enum { MOST = 1000 };
  const char *place = s->at;
  int low = 0, high = 0;
  if (*place != '{') {
    s->at++;
  } else if (!counts(s, &low, &high)) {
    s->at++;
    write_character(s, '{');
    *last = ONE;
    return true;
  }
  if (low > MOST || high > MOST) return refuse(s, place, "more than 1000 repetitions");
  if (high < low) return refuse(s, place, "more repetitions at least than at most");
  if (*last == NOTHING) return refuse(s, place, "nothing is repeated here");
  if (*last == REPEATED) return refuse(s, place, "a repetition is not repeated");
  if (peek(s, 0) == '?') s->at++;
  write_n(s, place, (size_t)(s->at - place));
  *last = REPEATED;
  return true;
}

// (, (?:, (?P<name>, (?<name>, (?flags: and (?flags).
static bool group(scanner *s) {
  const char *place = s->at;
  if (!begins(s, "(?")) {
    s->at++;
  } else if (begins(s, "(?P<") || (begins(s, "(?<") && peek(s, 3) != '=' && peek(s, 3) != '!')) {
    while (peek(s, 0) >= 0 && peek(s, 0) != '>') s->at++;
    if (peek(s, 0) < 0) return refuse(s, place, "a name without its `>`");
    s->at++;
  } else {
    bool minus = false, missing = false;
    for (s->at += 2; peek(s, 0) > 0 && strchr("imsU-", peek(s, 0)); s->at++) {
      missing = *s->at == '-';
      if (missing && minus) return refuse(s, place, "RE2 has no such group");
      minus |= missing;
    }
    if ((peek(s, 0) != ':' && peek(s, 0) != ')') || missing)
      return refuse(s, place, "RE2 has no such group");
    s->at++;
  }
  write_n(s, place, (size_t)(s->at - place));
  return true;
}

// \Q…\E: characters as they stand.
static bool quoted(scanner *s, piece *last) {
  for (s->at += 2; s->at < s->end && !begins(s, "\\E"); *last = ONE) {
    uint32_t code;
    s->from = s->at;
    if (!literal(s, &code)) return false;
    write_character(s, code);
  }
  if (s->at < s->end) s->at += 2;
  return true;
}

static bool escape(scanner *s, piece *last) {
  int c = peek(s, 1);
  uint32_t code;
  if (c == 'Q') return quoted(s, last);
  *last = ONE;
  if (perl_class(s, false)) return true;
  if (c == 'p' || c == 'P') return property(s);
  if (c > 0 && strchr("AbBz", c)) {
    write_n(s, s->at, 2);
    s->at += 2;
    return true;
  }
  if (c == 'C') return refuse(s, s->at, "\\C, a byte of a character, is not supported");
  if (!escaped(s, &code)) return false;
  write_character(s, code);
  return true;
}

static bool next(scanner *s, piece *last) {
  uint32_t code;
  int c = peek(s, 0);
  piece before = *last;
  *last = ONE;
  switch (c) {
  case '\\': *last = before; return escape(s, last);
  case '[': return class(s);
  case '*':
  case '+':
  case '?':
  case '{': *last = before; return repetition(s, last);
  case '(': *last = NOTHING; return group(s);
  case '|': *last = NOTHING; break;
  case ')':
  case '.':
  case '^':
  case '$': break;
  default:
    if (!literal(s, &code)) return false;
    write_character(s, code);
    return true;
  }
  write_n(s, s->at++, 1);
  return true;
}

const char *leat_regex_translate(leat_str pattern, leat_text *out, size_t *place) {
  scanner s = {.at = pattern.data,
               .begin = pattern.data,
               .end = pattern.data + pattern.size,
               .out = out,
               .wanted = SIZE_MAX};
  piece last = NOTHING;
  for (bool fine = true; fine && s.at < s.end;) s.from = s.at, fine = next(&s, &last);
  *place = s.place;
  return s.wrong;
}

size_t leat_regex_place(leat_str pattern, size_t at) {
  leat_text text = {0};
  scanner s = {.at = pattern.data,
               .begin = pattern.data,
               .end = pattern.data + pattern.size,
               .out = &text,
               .wanted = at};
  piece last = NOTHING;
  for (bool fine = true; fine && s.at < s.end;) s.from = s.at, fine = next(&s, &last);
  leat_text_finish(&text);
  return s.found ? (size_t)(s.found - s.begin) : pattern.size;
}
