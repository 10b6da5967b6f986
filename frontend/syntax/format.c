// From token to token: what stands between two is decided by their kinds, the bracket around them
// and the keyword that begins the statement. A line that gets too long ends at the best place seen
// on it: all goes back there and on as if the author had ended it. Lines are collected first, so
// that comments behind neighbouring lines can be aligned.
#include "frontend/syntax/format.h"

#include "base/vec.h"
#include "frontend/syntax/lexer.h"
#include "frontend/syntax/parser.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_OPEN = LEAT_MAX_NESTING + 1 };
enum { INDENT = 2, GOES_ON = 4, BEFORE_COMMENT = 2, LONGEST_LINE = 100 };

typedef enum bracket_kind {
  BRACKET_BLOCK,
  BRACKET_INDEX,
  BRACKET_CALL,
  BRACKET_OTHER, // a list, a group, the parameters of a definition, what a `while` carries
} bracket_kind;

typedef struct bracket {
  bracket_kind kind;
  uint32_t outer, inner; // indentation of the line that closes it, and of those inside
  size_t content;        // where, in `code`, what follows it on its line begins; 0: nothing does
  uint32_t line;         // its line
} bracket;

typedef struct line {
  size_t begin, end;  // of its code, in `code`
  leat_token comment; // kind END: none
  uint32_t indent;
  bool blank_before;
} line;

typedef struct formatter {
  leat_arena *arena;
  leat_lexer lexer;
  leat_text code;
  leat_vec(line) lines;
  uint32_t column;   // where the last line ends
  bool ends_line;    // the next token begins a line, wherever it stood
  bracket *brackets; // the open ones; the parser has checked that there are at most MOST_OPEN
  uint32_t open;
  leat_token before, last;     // the latest two tokens
  bool last_hugs;              // the latest takes no space behind it: a sign, the `=` of a key
  leat_token_kind stmt_begins; // the first token of the statement; END before it
} formatter;

// A place where the last line may end.
typedef struct line_break {
  uint32_t cost;               // the less, the better; 0: there is no such place
  formatter then;              // before the token that would begin the next line
  bracket brackets[MOST_OPEN]; // the `then.open` open ones
} line_break;

static bool is_arithmetic(leat_token_kind kind) {
  return kind == LEAT_TOKEN_PLUS || kind == LEAT_TOKEN_MINUS || kind == LEAT_TOKEN_STAR ||
         kind == LEAT_TOKEN_SLASH || kind == LEAT_TOKEN_SLASHES || kind == LEAT_TOKEN_PERCENT;
}

static bool opens(leat_token_kind kind) {
  return kind == LEAT_TOKEN_OPEN_PAREN || kind == LEAT_TOKEN_OPEN_BRACKET ||
         kind == LEAT_TOKEN_OPEN_BRACE;
}

static bool closes(leat_token_kind kind) {
  return kind == LEAT_TOKEN_CLOSE_PAREN || kind == LEAT_TOKEN_CLOSE_BRACKET ||
         kind == LEAT_TOKEN_CLOSE_BRACE;
}

static bracket_kind innermost(const formatter *f) {
  return f->open ? f->brackets[f->open - 1].kind : BRACKET_BLOCK;
}

static uint32_t columns_of(const formatter *f, size_t begin, size_t end) {
  uint32_t columns = 0;
  for (size_t i = begin; i < end; i++) columns += (f->code.data[i] & 0xc0) != 0x80;
  return columns;
}

// Columns of a line's indentation and of its code up to `end`.
static uint32_t width_of(const formatter *f, const line *l, size_t end) {
  return l->indent + columns_of(f, l->begin, end);
}

// Indentation of a line that begins here. Lines in a bracket align with what follows it on its own.
static uint32_t inner_indent(const formatter *f) {
  if (f->open == 0) return 0;
  bracket *b = &f->brackets[f->open - 1];
  if (b->content) b->inner = width_of(f, &f->lines.items[b->line], b->content);
  b->content = 0;
  return b->inner;
}

// -- Spaces ---------------------------------------------------------------------------------------

// Whether the `=` behind f->last is that of a `key=value`.
static bool is_key_sign(const formatter *f) {
  if (innermost(f) != BRACKET_BLOCK) return innermost(f) == BRACKET_CALL;
  switch ((int)f->stmt_begins) {
  case LEAT_TOKEN_GRAPH:
  case LEAT_TOKEN_USE:
  case LEAT_TOKEN_ENTRY:
  case LEAT_TOKEN_QUEUE:
  case LEAT_TOKEN_MUTEX:
  case LEAT_TOKEN_WHILE: return true;
  case LEAT_TOKEN_VAR: // the initialiser's `=` stands behind the type
    return f->last.kind == LEAT_TOKEN_NAME && f->before.kind != LEAT_TOKEN_COLON;
  }
  return false;
}

// Whether the operator `kind` hugs its operands, as in x[i+1], x[:n] and 0..12.
static bool is_tight(const formatter *f, leat_token_kind kind) {
  if (kind == LEAT_TOKEN_RANGE) return true;
  return innermost(f) == BRACKET_INDEX && (is_arithmetic(kind) || kind == LEAT_TOKEN_COLON);
}

// Whether a space stands between f->last and `next`, which is on the same line.
static bool needs_space(const formatter *f, leat_token_kind next) {
  leat_token_kind last = f->last.kind;
  if (next == LEAT_TOKEN_COMMA || next == LEAT_TOKEN_CLOSE_PAREN ||
      next == LEAT_TOKEN_CLOSE_BRACKET)
    return false;
  if (last == LEAT_TOKEN_OPEN_PAREN || last == LEAT_TOKEN_OPEN_BRACKET || f->last_hugs)
    return false;
  if (last == LEAT_TOKEN_OPEN_BRACE) return next != LEAT_TOKEN_CLOSE_BRACE;
  if (next == LEAT_TOKEN_OPEN_PAREN || next == LEAT_TOKEN_OPEN_BRACKET)
    return !leat_token_ends_operand(last) && !is_tight(f, last);
  if (last == LEAT_TOKEN_ELLIPSIS) return next != LEAT_TOKEN_NAME;
  if (next == LEAT_TOKEN_EQUAL) return !is_key_sign(f);
  // A path takes in what follows it directly: `$a -1`, `$a :1`.
  if (last == LEAT_TOKEN_PATH) return next != LEAT_TOKEN_COLON || is_tight(f, next);
  if (last == LEAT_TOKEN_COMMA) return true;
  return next != LEAT_TOKEN_COLON && !is_tight(f, next) && !is_tight(f, last);
}

// -- Tokens ---------------------------------------------------------------------------------------

// The shortest digits that read back as `value`, with or without an exponent as the author chose.
static void add_float(leat_text *out, double value, bool scientific) {
  leat_text shortest = {0};
  leat_text_add_f64(&shortest, value);
  char digits[32];
  int count = 0, point = 0; // value is 0.<digits> times ten to the power of `point`
  bool fraction = false;
  const char *c = shortest.data;
  for (; *c && *c != 'e'; c++) {
    if (*c == '.') {
      fraction = true;
    } else if (count > 0 || *c != '0') {
      digits[count++] = *c;
      point += !fraction;
    } else {
      point -= fraction;
    }
  }
  if (*c) point += atoi(c + 1);
  leat_text_finish(&shortest);
  while (count > 1 && digits[count - 1] == '0') count--;
  if (count == 0) digits[count++] = '0', point = 1, scientific = false;

  int whole = scientific ? 1 : point;
  if (whole <= 0) leat_text_add(out, "0.");
  for (int i = whole; i < 0; i++) leat_text_add_n(out, "0", 1);
  for (int i = 0; i < count || i < whole; i++) {
    if (i == whole && i > 0) leat_text_add_n(out, ".", 1);
    leat_text_add_n(out, i < count ? &digits[i] : "0", 1);
  }
  if (whole >= count && !scientific) leat_text_add(out, ".0");
  if (scientific) leat_text_add(out, "e%d", point - 1);
}

// A name or a path, quoted only where it has to be; its port as it stands.
static void add_name(formatter *f, leat_token token) {
  uint32_t begin, end;
  leat_token_name(&f->lexer, token, &begin, &end);
  const char *text = f->lexer.text;
  bool path = token.kind == LEAT_TOKEN_PATH;
  bool word = (path ? leat_path_is_word : leat_name_is_word)(text + begin, end - begin);
  if (word && path) leat_text_add_n(&f->code, "$", 1);
  uint32_t quoted = text[end] == LEAT_NAME_QUOTE;
  uint32_t from = word ? begin : token.begin, to = word ? end : end + quoted;
  leat_text_add_n(&f->code, text + from, to - from);
  leat_text_add_n(&f->code, text + end + quoted, token.end - end - quoted);
}

static void add_token(formatter *f, leat_token token) {
  if (token.kind == LEAT_TOKEN_NAME || token.kind == LEAT_TOKEN_PATH) {
    add_name(f, token);
    return;
  }
  const char *text = f->lexer.text + token.begin;
  uint32_t size = token.end - token.begin;
  double value;
  bool scientific = memchr(text, 'e', size) || memchr(text, 'E', size);
  bool plain = !scientific && !memchr(text, '.', size); // 2j
  if (token.kind == LEAT_TOKEN_FLOAT && !plain && leat_token_float(&f->lexer, token, &value)) {
    add_float(&f->code, value, scientific);
    if (leat_token_is_imaginary(&f->lexer, token)) leat_text_add(&f->code, "j");
    return;
  }
  size_t begin = f->code.size;
  leat_text_add_n(&f->code, text, size);
  if (token.kind == LEAT_TOKEN_INT)
    for (char *c = f->code.data + begin; *c; c++)
      if (*c >= 'A' && *c <= 'F') *c += 'a' - 'A';
}

static void open_bracket(formatter *f, leat_token_kind kind) {
  uint32_t outer = f->lines.items[f->lines.count - 1].indent;
  bracket_kind opened = BRACKET_OTHER;
  if (kind == LEAT_TOKEN_OPEN_BRACE) {
    opened = BRACKET_BLOCK;
    outer = inner_indent(f); // that of its statement, whose header may have several lines
  } else if (leat_token_ends_operand(f->last.kind)) {
    bool header = innermost(f) == BRACKET_BLOCK &&
                  (f->stmt_begins == LEAT_TOKEN_FN || f->stmt_begins == LEAT_TOKEN_ENTRY ||
                   f->stmt_begins == LEAT_TOKEN_GRAPH);
    if (kind == LEAT_TOKEN_OPEN_BRACKET)
      opened = BRACKET_INDEX;
    else if (!header)
      opened = BRACKET_CALL;
  }
  f->brackets[f->open++] = (bracket){
      .kind = opened, .outer = outer, .inner = outer + INDENT, .line = f->lines.count - 1};
}

static void begin_line(formatter *f, leat_token token) {
  line new_line = {.begin = f->code.size, .end = f->code.size};
  bool in_block = innermost(f) == BRACKET_BLOCK;
  bool goes_on = in_block && leat_token_is_infix(f->last.kind);
  new_line.indent = closes(token.kind) ? f->brackets[f->open - 1].outer : inner_indent(f);
  if (goes_on) new_line.indent += GOES_ON;
  uint32_t newlines = 0;
  for (uint32_t i = f->last.end; i < token.begin; i++) newlines += f->lexer.text[i] == '\n';
  const line *above = f->lines.count ? &f->lines.items[f->lines.count - 1] : NULL;
  bool first = !above || (opens(f->last.kind) && above->end > above->begin);
  new_line.blank_before = newlines > 1 && !first && !closes(token.kind) && in_block && !goes_on;
  leat_vec_push(f->arena, &f->lines, new_line);
}

static bool begins_line(const formatter *f, leat_token token) {
  return f->lines.count == 0 || f->last.end <= token.line || f->ends_line;
}

static void format_token(formatter *f, leat_token token) {
  bool first = begins_line(f, token);
  if (first) begin_line(f, token);
  f->ends_line = false;
  line *current = &f->lines.items[f->lines.count - 1];
  if (token.kind == LEAT_TOKEN_COMMENT) {
    current->comment = token;
    if (first) f->last.end = token.end; // what it stands between is what it stood between
    return;
  }
  if (!first && needs_space(f, token.kind)) leat_text_add_n(&f->code, " ", 1);
  if (!first && innermost(f) != BRACKET_BLOCK && opens(f->last.kind))
    f->brackets[f->open - 1].content = f->code.size;
  if (f->stmt_begins == LEAT_TOKEN_END || token.kind == LEAT_TOKEN_WHILE)
    f->stmt_begins = token.kind; // a `while` may stand behind targets
  add_token(f, token);
  f->column = (first ? current->indent : f->column) + columns_of(f, current->end, f->code.size);
  current->end = f->code.size;
  if (closes(token.kind)) f->open--;
  bool hugs = (token.kind == LEAT_TOKEN_MINUS && !leat_token_ends_operand(f->last.kind)) ||
              (token.kind == LEAT_TOKEN_EQUAL && is_key_sign(f));
  if (opens(token.kind)) open_bracket(f, token.kind);
  if (token.kind == LEAT_TOKEN_OPEN_BRACE) f->stmt_begins = LEAT_TOKEN_END;
  f->last_hugs = hugs;
  f->before = f->last;
  f->last = token;
}

// -- Lines that are too long ----------------------------------------------------------------------

// What it costs to end the line behind f->last, `token` being the next. Places in few brackets come
// first, there those behind commas; dims and indices stay together as long as anything else can be
// done. 0: it cannot end here.
static uint32_t break_cost(const formatter *f, leat_token token) {
  enum { A_BRACKET = 16, OPENED = 100, FAR_RIGHT = 200, INDEX = 400, FAR = 60, GAIN = 8 };
  bracket_kind in = innermost(f);
  uint32_t cost = A_BRACKET * (f->open + 1) + (in == BRACKET_INDEX ? INDEX : 0);
  uint32_t loose =
      f->last_hugs || in == BRACKET_INDEX ? 0 : (uint32_t)leat_token_level(f->last.kind);
  if (loose) return cost + loose + (inner_indent(f) > FAR ? FAR_RIGHT : 0);
  if (in == BRACKET_BLOCK || closes(token.kind)) return 0;
  if (opens(f->last.kind))
    return f->column >= f->brackets[f->open - 1].inner + GAIN ? cost + OPENED : 0;
  if (f->last.kind != LEAT_TOKEN_COMMA) return 0;
  return cost + (inner_indent(f) > FAR ? FAR_RIGHT : 0);
}

static void note_break(line_break *best, const formatter *f, const leat_lexer *lexer,
                       uint32_t cost) {
  if (!cost || (best->cost && best->cost < cost)) return;
  best->cost = cost;
  best->then = *f;
  best->then.lexer = *lexer;
  memcpy(best->brackets, f->brackets, f->open * sizeof *f->brackets);
}

// Ends the last line at `best`.
static void go_back(formatter *f, line_break *best) {
  const formatter now = *f;
  *f = best->then;
  f->code = now.code;
  f->code.size = best->then.code.size;
  f->lines.items[f->lines.count - 1].end = f->code.size;
  memcpy(f->brackets, best->brackets, f->open * sizeof *f->brackets);
  f->ends_line = true;
  best->cost = 0;
}

static void format_tokens(formatter *f) {
  line_break best = {0};
  for (;;) {
    leat_lexer lexer = f->lexer;
    leat_token token = leat_lexer_next(&f->lexer);
    if (token.kind == LEAT_TOKEN_END) return;
    if (token.kind == LEAT_TOKEN_NEWLINE) {
      f->stmt_begins = LEAT_TOKEN_END;
      continue;
    }
    if (begins_line(f, token))
      best.cost = 0;
    else if (token.kind != LEAT_TOKEN_COMMENT)
      note_break(&best, f, &lexer, break_cost(f, token));
    format_token(f, token);
    if (f->column > LONGEST_LINE && best.cost) go_back(f, &best);
  }
}

// -- Lines ----------------------------------------------------------------------------------------

// `#` or `##`, a space, the words.
static void add_comment(const formatter *f, leat_token comment, leat_text *out) {
  const char *text = f->lexer.text + comment.begin;
  uint32_t size = comment.end - comment.begin, marks = 0;
  while (size && strchr(" \t\r", text[size - 1])) size--;
  while (marks < size && text[marks] == '#') marks++;
  leat_text_add_n(out, text, marks);
  if (marks < size && text[marks] != ' ' && text[marks] != '\t') leat_text_add_n(out, " ", 1);
  leat_text_add_n(out, text + marks, size - marks);
}

// Where the comments begin that stand behind the code of line `from` and of those that follow
// without a gap.
static size_t comment_column(const formatter *f, uint32_t from) {
  size_t column = 0;
  for (uint32_t i = from; i < f->lines.count; i++) {
    const line *l = &f->lines.items[i];
    bool goes_on = l->comment.kind == LEAT_TOKEN_COMMENT && l->end > l->begin &&
                   (i == from || !l->blank_before);
    if (!goes_on) break;
    size_t width = width_of(f, l, l->end) + BEFORE_COMMENT;
    if (width > column) column = width;
  }
  return column;
}

static void add_lines(const formatter *f, leat_text *out) {
  size_t column = 0; // of the comments of this run of lines; 0 outside one
  for (uint32_t i = 0; i < f->lines.count; i++) {
    const line *l = &f->lines.items[i];
    bool code = l->end > l->begin, comment = l->comment.kind == LEAT_TOKEN_COMMENT;
    if (l->blank_before) leat_text_add_n(out, "\n", 1);
    leat_text_add(out, "%*s", (int)l->indent, "");
    if (code) leat_text_add_n(out, f->code.data + l->begin, l->end - l->begin);
    if (!code || !comment || l->blank_before) column = 0;
    if (code && comment) {
      if (!column) column = comment_column(f, i);
      leat_text_add(out, "%*s", (int)(column - width_of(f, l, l->end)), "");
    }
    if (comment) add_comment(f, l->comment, out);
    leat_text_add_n(out, "\n", 1);
  }
}

static bool parses(leat_diag *diag, uint32_t source) {
  leat_arena *arena = leat_arena_create();
  uint32_t errors = leat_diag_errors(diag);
  leat_parse(arena, leat_strings_create(arena), diag, source);
  leat_arena_destroy(arena);
  return leat_diag_errors(diag) == errors;
}

bool leat_format(leat_diag *diag, uint32_t source, leat_text *out) {
  if (!parses(diag, source)) return false;
  size_t size;
  const char *text = leat_diag_source_text(diag, source, &size);
  formatter f = {.arena = leat_arena_create()};
  f.brackets = leat_new_array(f.arena, bracket, MOST_OPEN);
  leat_lexer_init(&f.lexer, text, 0, (uint32_t)size);
  f.lexer.comments = true;
  format_tokens(&f);
  add_lines(&f, out);
  leat_text_finish(&f.code);
  leat_arena_destroy(f.arena);
  return true;
}
