// The syntactic half of the frontend: what trees texts make, what is said of texts that make none,
// and that no text, however it is damaged, does harm. The programs of tests/language are in the
// canonical style.
#include "base/name.h"
#include "base/vec.h"
#include "frontend/syntax/format.h"
#include "frontend/syntax/parser.h"
#include "tests/unit/check.h"

#include <stdlib.h>
#include <string.h>

enum { PROGRAMS = 8, MUTANTS = 12000 };

static const char *const programs[PROGRAMS] = {
    "tests/language/digits.leat", "tests/language/figure1.leat", "tests/language/pipeline.leat",
    "tests/language/async.leat",  "tests/language/sync.leat",    "tests/language/rnn.leat",
    "tests/language/syntax.leat", "tests/language/dump.leat",
};

// -- A text and what came of it -----------------------------------------------

typedef struct parsed {
  leat_arena *arena;
  leat_diag *diag;
  leat_ast_file *file;
  leat_text messages;
} parsed;

static parsed parse_n(const char *text, size_t size) {
  parsed p = {.arena = leat_arena_create()};
  p.diag = leat_diag_create(p.arena);
  uint32_t source = leat_diag_add_source(p.diag, "t", text, size);
  p.file = leat_parse(p.arena, leat_strings_create(p.arena), p.diag, source);
  leat_diag_print(p.diag, &p.messages);
  return p;
}

static void finish(parsed *p) {
  leat_text_finish(&p->messages);
  leat_arena_destroy(p->arena);
}

static char *read_file(const char *path, size_t *out_size) {
  FILE *file = fopen(path, "rb");
  if (!file) return NULL;
  char *text = calloc(1, 1 << 16);
  *out_size = fread(text, 1, (1 << 16) - 1, file);
  fclose(file);
  return text;
}

// -- Trees as text --------------------------------------------------------------

static void show(const leat_expr *e, leat_text *out);

static void show_all(const char *open, leat_exprs list, const char *close, leat_text *out) {
  leat_text_add(out, "%s", open);
  for (uint32_t i = 0; i < list.count; i++) {
    if (i) leat_text_add(out, " ");
    show(list.items[i], out);
  }
  leat_text_add(out, "%s", close);
}

static void show_call(const leat_expr *e, leat_text *out) {
  show(e->callee, out);
  leat_text_add(out, "(");
  for (uint32_t i = 0; i < e->args.count; i++) {
    if (i) leat_text_add(out, " ");
    if (e->args.items[i].key) leat_text_add(out, "%s=", e->args.items[i].key);
    show(e->args.items[i].value, out);
  }
  leat_text_add(out, ")");
  if (e->as) {
    leat_text_add(out, " as ");
    show(e->as, out);
  }
}

static void show_string(const leat_expr *e, leat_text *out) {
  leat_text_add(out, "'");
  for (uint32_t i = 0; i < e->part_count; i++) {
    const leat_string_part *part = &e->parts[i];
    if (!part->expr) {
      leat_text_add_n(out, part->text, part->size);
      continue;
    }
    leat_text_add(out, "{");
    show(part->expr, out);
    leat_text_add(out, "}");
  }
  leat_text_add(out, "'");
}

static void show(const leat_expr *e, leat_text *out) {
  if (!e) {
    leat_text_add(out, "_");
    return;
  }
  switch ((leat_expr_kind)e->kind) {
  case LEAT_EXPR_NAME: leat_text_add(out, "%s", e->name); break;
  case LEAT_EXPR_PATH: leat_text_add(out, "$%s:%u", e->path, e->port); break;
  case LEAT_EXPR_INT: leat_text_add(out, "%s%" PRIu64, e->negative ? "-" : "", e->magnitude); break;
  case LEAT_EXPR_FLOAT: leat_text_add_f64(out, e->number); break;
  case LEAT_EXPR_IMAGINARY:
    leat_text_add_f64(out, e->number);
    leat_text_add(out, "j");
    break;
  case LEAT_EXPR_BOOL: leat_text_add(out, e->truth ? "true" : "false"); break;
  case LEAT_EXPR_NONE: leat_text_add(out, "none"); break;
  case LEAT_EXPR_STRING: show_string(e, out); break;
  case LEAT_EXPR_FN: leat_text_add(out, "fn/%u", e->body->params.count); break;
  case LEAT_EXPR_LIST: show_all("[", e->list, "]", out); break;
  case LEAT_EXPR_CALL: show_call(e, out); break;
  case LEAT_EXPR_INDEX:
    show(e->base, out);
    show_all("[", e->items, "]", out);
    break;
  case LEAT_EXPR_UNARY:
    leat_text_add(out, "(%s ", leat_operator_op(e->operator));
    show(e->right, out);
    leat_text_add(out, ")");
    break;
  case LEAT_EXPR_BINARY:
    leat_text_add(out, "(");
    show(e->left, out);
    leat_text_add(out, " %s ", leat_operator_spelling(e->operator));
    show(e->right, out);
    leat_text_add(out, ")");
    break;
  case LEAT_EXPR_RANGE:
  case LEAT_EXPR_SLICE:
    show(e->begin, out);
    leat_text_add(out, e->kind == LEAT_EXPR_RANGE ? ".." : ":");
    show(e->end, out);
    if (e->step) {
      leat_text_add(out, ":");
      show(e->step, out);
    }
    break;
  case LEAT_EXPR_NEW_AXIS: leat_text_add(out, "None"); break;
  case LEAT_EXPR_ELLIPSIS: leat_text_add(out, "...%s", e->name ? e->name : ""); break;
  case LEAT_EXPR_ANY_DIM: leat_text_add(out, "?%u", e->number_of_dim); break;
  case LEAT_EXPR_VAR_TYPE:
    leat_text_add(out, "var ");
    show(e->of, out);
    break;
  }
}

static void check_expr(const char *text, const char *expected) {
  parsed p = parse_n(text, strlen(text));
  leat_text shown = {0};
  CHECK_EQ_STR(p.messages.data ? p.messages.data : "", "");
  if (p.file->stmts.count == 1) show(p.file->stmts.items[0]->values.items[0], &shown);
  CHECK_EQ_STR(shown.data, expected);
  leat_text_finish(&shown);
  finish(&p);
}

TEST(operators_bind_by_precedence) {
  check_expr("a or b and not c == d", "(a or (b and (not (c == d))))");
  check_expr("a - b - c * d % e", "((a - b) - ((c * d) % e))");
  check_expr("-x @ w", "(neg (x @ w))");
  check_expr("x @ -w @ v", "((x @ (neg w)) @ v)");
  check_expr("-x * y", "((neg x) * y)");
  check_expr("(a + b) * c", "((a + b) * c)");
  check_expr("x @ w + b > 0", "(((x @ w) + b) > 0)");
  check_expr("a + b |> f(1, k=2) as n |> g()", "g(f((a + b) 1 k=2) as 'n')");
  check_expr("x |> f() > 0", "(f(x) > 0)");
}

TEST(postfixes_bind_tighter_than_operators) {
  check_expr("f(x) as net + 1", "(f(x) as 'net' + 1)");
  check_expr("f(x) as \"block{i + 1}\"[:, 0]", "f(x) as 'block{(i + 1)}'[_:_ 0]");
  check_expr("-x[0](y)", "(neg x[0](y))");
  check_expr("x[1:, :-1, ::2, a:b:c, None, ..., ?, ?3]", "x[1:_ _:-1 _:_:2 a:b:c None ... ?0 ?3]");
  check_expr("f(x, axis=1, ...)", "f(x axis=1 ...)");
  check_expr("zeros(f32[B, ...D, 2 * N])", "zeros(f32[B ...D (2 * N)])");
  check_expr("pad(x, 0, before=[1], after=after)", "pad(x 0 before=[1] after=after)");
}

TEST(literals_have_their_values) {
  check_expr("[1_000, 0xfF, -9223372036854775808, 18446744073709551615]",
             "[1000 255 -9223372036854775808 18446744073709551615]");
  check_expr("[1.5, 1e-3, -2E+2, -inf, nan, true, none, []]",
             "[1.5 0.001 -200.0 -inf nan true none []]");
  check_expr("$train/net-1/h.x:2", "$train/net-1/h.x:2");
  check_expr("\"a\\x41\\n\\{{b}\\}\"", "'aA\n{{b}}'");
  check_expr("\"\"", "''");
  check_expr("- -1", "(neg -1)");
}

TEST(statements_carry_their_parts) {
  static const char text[] = "## One.\n##  Two.\n"
                             "fn f(x: T[...D], g: fn, q: [var T[2]], ...) -> (T[2], n: i32[]) {\n"
                             "  a, b[i]: f32[2], $c:1 = h(x) on \"d\" colocate w after [a, b]\n"
                             "  return a, b\n}\n"
                             "entry e(x: f32[] = 1) training parallel=2 -> (y: f32[] = $e/y) {}\n"
                             "var v: f32[2] = 1 + 2 trainable=false colocate w\n"
                             "a, b = if p { yield 1, 2 } else if q { yield 3, 4 } else {}\n";
  parsed p = parse_n(text, strlen(text));
  CHECK_EQ_STR(p.messages.data ? p.messages.data : "", "");
  CHECK_EQ_INT(p.file->stmts.count, 4);
  if (p.file->stmts.count == 4) {
    const leat_stmt *fn = p.file->stmts.items[0], *bind = fn->body.items[0];
    CHECK_EQ_STR(fn->doc, "One.\n Two.");
    CHECK_EQ_INT(fn->params.count, 4);
    CHECK(fn->params.items[3].collects);
    CHECK(!fn->results.items[0].name && fn->results.items[1].name);
    CHECK_EQ_INT(bind->kind, LEAT_STMT_BIND);
    CHECK_EQ_INT(bind->targets.count, 3);
    CHECK(bind->targets.items[1].member && bind->targets.items[1].type);
    CHECK(bind->targets.items[2].absolute && bind->targets.items[2].port == 1);
    CHECK(bind->on && bind->colocate && bind->after.count == 2);
    const leat_stmt *entry = p.file->stmts.items[1];
    CHECK(!entry->attributes.items[0].value && entry->attributes.items[1].value);
    CHECK(entry->params.items[0].value && entry->results.items[0].value);
    const leat_stmt *var = p.file->stmts.items[2];
    CHECK(var->init && var->options.count == 1 && var->colocate && !var->on);
    const leat_stmt *chosen = p.file->stmts.items[3];
    CHECK_EQ_INT(chosen->kind, LEAT_STMT_IF);
    CHECK_EQ_INT(chosen->targets.count, 2);
    CHECK_EQ_INT(chosen->otherwise.items[0]->kind, LEAT_STMT_IF);
    CHECK(chosen->otherwise.items[0]->has_else);
  }
  finish(&p);
}

// -- Errors ---------------------------------------------------------------------

static void check_error(const char *text, uint32_t count, const char *expected) {
  parsed p = parse_n(text, strlen(text));
  const char *messages = p.messages.data ? p.messages.data : "";
  CHECK_EQ_INT(leat_diag_errors(p.diag), count);
  if (!strstr(messages, expected)) CHECK_EQ_STR(messages, expected);
  finish(&p);
}

TEST(errors_say_what_was_expected_and_found) {
  check_error("x = f(a,, b)", 1, "t:1:9: error: expected an expression, found `,`");
  check_error("x = not\ny = 2", 1,
              "t:1:8: error: expected an expression, found the end of the line");
  check_error("fn f(in: i32[]) {}", 1, "expected the name of a parameter, found the keyword `in`");
  check_error("x = \"abc", 1, "t:1:5: error: this string is not closed");
  check_error("x = \"a{b +}\"", 1, "t:1:11: error: expected an expression, found `}`");
  check_error("x = \"\\q\"", 1, "unknown escape");
  check_error("x = 99999999999999999999", 1, "too large for 64 bits");
  check_error("x = 1.\ny = .5", 2, "malformed number");
  check_error("x = a < b < c", 1, "comparisons do not chain");
  check_error("x |> relu", 1, "expected a call after `|>`");
  check_error("x = n as net", 1, "`as` names a call");
  check_error("1 + 2 = x", 1, "expected a name, `name[i]` or a path left of `=`");
  check_error("f32 = 1", 1, "`f32` is the name of a dtype");
  check_error("x = 1\ngraph g", 1, "`graph` is the first statement");
  check_error("return 1", 1, "`return` stands in a function");
  check_error("entry e() { fn f() {} }", 1, "`fn` stands at top level");
  check_error("entry e() -> (f32[]) {}", 1, "a result of an entry has a name");
  check_error("x = y after [a] on \"d\"", 1, "in the order `on`, `colocate`, `after`");
  check_error("x\n}\ny y\n", 2, "this `}` closes nothing");
  check_error("x = \x01", 1, "no statement has this character");
  check_error("entry e() {\n  x = 1\n", 1, "t:1:11: note: for this bracket");
}

TEST(errors_suggest_keywords) {
  check_error("entyr train() { x = 1 }", 1,
              "t:1:1: error: no statement begins with `entyr`; did you");
  check_error("entry e() trainig {}", 1, "did you mean `training`?");
  check_error("x = y afer [z]", 1, "did you mean `after`?");
}

TEST(parsing_goes_on_at_the_next_line) {
  check_error("a = )\nb = f(1\nc = d e\nf = 1 2\n", 4,
              "t:4:7: error: expected the end of the line");
  check_error("fn f(x: ) {\n  a = b c\n  return d e\n}\ng = h i\n", 4, "t:5:7");
  check_error("entry e(x: f32[B, T 3],\n        y: f32[]) {\n  return 1\n}\nf = 1 2", 2, "t:5:7");
  check_error("on \"a\" {\n  x y }\nb c", 2, "t:3:3");
}

// -- Limits -----------------------------------------------------------------------

// `before` and `after` `count` times around `middle`.
static char *nest(const char *before, const char *middle, const char *after, int count) {
  leat_text text = {0};
  for (int i = 0; i < count; i++) leat_text_add(&text, "%s", before);
  leat_text_add(&text, "%s", middle);
  for (int i = 0; i < count; i++) leat_text_add(&text, "%s", after);
  return leat_text_take(&text);
}

static void check_nesting(const char *before, const char *middle, const char *after) {
  for (int count = 100; count <= 100000; count *= 1000) {
    char *text = nest(before, middle, after, count);
    parsed p = parse_n(text, strlen(text));
    bool deep = p.messages.data && strstr(p.messages.data, "deeper than 256");
    CHECK_EQ_INT(deep, count > 100);
    CHECK(leat_diag_errors(p.diag) == (count > 100));
    finish(&p);
    free(text);
  }
}

TEST(nesting_is_limited) {
  check_nesting("(", "x", ")");
  check_nesting("[", "x", "]");
  check_nesting("f(", "x", ")");
  check_nesting("x[", "0", "]");
  check_nesting("- ", "x", "");
  check_nesting("not ", "x", "");
  check_nesting("a + ", "x", "");
  check_nesting("", "x", "[0]");
  check_nesting("", "x", " |> f()");
  check_nesting("on x {", "y = 1", "}");
  check_nesting("if a {} else ", "if a {}", "");
}

TEST(long_tokens_are_refused) {
  char *text = nest("aaaaaaaaaaaaaaaa", "", "", 1 << 17);
  check_error(text, 1, "longer than 1 MiB");
  free(text);
  text = nest("1234567890", "", "", 20);
  check_error(text, 1, "too large for 64 bits");
  free(text);
  text = nest("1234567890", ".5", "", 40);
  check_error(text, 1, "too large for f64");
  free(text);
}

// Half a unit above 2^53, and the same with a digit behind that decides, however far behind.
TEST(long_numbers_are_exact) {
  static const struct {
    const char *before, *zero, *after, *value;
  } cases[] = {{"9007199254740993.", "0", "", "9007199254740992.0"},
               {"9007199254740993.", "0", "1", "9007199254740994.0"},
               {"0.", "0", "5", "0.0"},
               {"1", "0", ".0e-5000", "1.0"},
               {"", "0_", "7.5", "7.5"},
               {"", "0", "7.5j", "7.5j"}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    leat_text text = {0};
    leat_text_add(&text, "%s", cases[i].before);
    for (int zeros = 0; zeros < 5000; zeros++) leat_text_add(&text, "%s", cases[i].zero);
    leat_text_add(&text, "%s", cases[i].after);
    check_expr(text.data, cases[i].value);
    leat_text_finish(&text);
  }
}

TEST(long_texts_are_refused) {
  char *text = nest("\n\n\n\n\n\n\n\n", "\n", "", 8 << 20);
  check_error(text, 1, "a text is at most 64 MiB");
  free(text);
}

TEST(unfinished_input_is_told_from_wrong_input) {
  static const char *const open[] = {"f(",   "entry e() {\n x = 1", "x = [1,\n2", "f(\"}\"",
                                     "{ }{", "x\n## Doc.\n",        "x = 1 +"};
  static const char *const whole[] = {"",  "x = 1", "x = 1 + y",   "f(x) # (",    "x = \"abc",
                                      "}", "\"{\"", "## Doc.\n\n", "x ## of none"};
  for (size_t i = 0; i < sizeof open / sizeof *open; i++)
    CHECK(leat_parse_is_incomplete(open[i], strlen(open[i])));
  for (size_t i = 0; i < sizeof whole / sizeof *whole; i++)
    CHECK(!leat_parse_is_incomplete(whole[i], strlen(whole[i])));
}

// -- Formatting -------------------------------------------------------------------

// Whether the text parses; *out is what it formats to.
static bool format(const char *text, size_t size, leat_text *out) {
  leat_arena *arena = leat_arena_create();
  leat_diag *diag = leat_diag_create(arena);
  bool parses = leat_format(diag, leat_diag_add_source(diag, "t", text, size), out);
  leat_arena_destroy(arena);
  return parses;
}

static void check_format(const char *text, const char *expected) {
  leat_text once = {0}, twice = {0};
  CHECK(format(text, strlen(text), &once));
  CHECK_EQ_STR(once.data, expected);
  if (once.data) CHECK(format(once.data, once.size, &twice));
  CHECK_EQ_STR(twice.data, expected);
  leat_text_finish(&once);
  leat_text_finish(&twice);
}

// What is printed of a name is read back as it.
static void check_name(const char *name) {
  leat_text text = {0};
  leat_name_print(name, &text);
  leat_text_add_string(&text, " = ");
  leat_path_print(name, &text);
  leat_text_add_string(&text, ":7");
  parsed p = parse_n(text.data, text.size);
  CHECK_EQ_STR(p.messages.data ? p.messages.data : "", "");
  CHECK_EQ_INT(p.file->stmts.count, 1);
  if (p.file->stmts.count == 1) {
    const leat_stmt *s = p.file->stmts.items[0];
    CHECK_EQ_STR(s->targets.items[0].name, name);
    CHECK_EQ_STR(s->values.items[0]->path, name);
    CHECK_EQ_INT(s->values.items[0]->port, 7);
  }
  finish(&p);
  leat_text_finish(&text);
}

TEST(names_of_any_text_are_read_back) {
  static const char *const names[] = {"x",       "_1",  "1x",  "while",   "after", "None", "a b",
                                      "/a/b.c",  "a:1", "?",   "$a",      "a\"b",  "{x}",  "#",
                                      "ä\u20ac", "x ",  "a=b", "-",       "a/b",   "\\",   "dim",
                                      "..",      "a:",  "::0", "add(x,y)"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) check_name(names[i]);
}

TEST(what_is_no_name_is_refused) {
  CHECK(leat_name_problem("", 0));
  CHECK(leat_name_problem("a`b", 3));
  CHECK(leat_name_problem("a\tb", 3));
  CHECK(leat_name_problem("a\x7f", 2));
  CHECK(leat_name_problem("a\0b", 3));
  CHECK(leat_name_problem("\xc3", 1));
  CHECK(!leat_name_problem("\xc3\xa4 b", 4));
}

static void check_given(const char *text, const char *name, const char *value) {
  size_t size = 0;
  const char *rest = NULL, *found = leat_name_given(text, &size, &rest);
  CHECK_EQ_INT(found != NULL, name != NULL);
  if (!found || !name) return;
  CHECK_EQ_INT(size, strlen(name));
  CHECK(memcmp(found, name, size) == 0);
  CHECK_EQ_STR(rest, value);
}

TEST(names_on_command_lines_may_be_quoted) {
  check_given("x=3", "x", "3");
  check_given("a=b=3", "a", "b=3");
  check_given("`a=b`=3", "a=b", "3");
  check_given("`a b`=", "a b", "");
  check_given("=3", NULL, NULL);
  check_given("x", NULL, NULL);
  check_given("`x=3", NULL, NULL);
  check_given("`x`3", NULL, NULL);
  check_given("``=3", NULL, NULL);
}

TEST(formatting_sets_spaces_and_indentation) {
  check_format("x=f( a , k = 1 )[ i + 1 , : , a : b ]-1", "x = f(a, k=1)[i+1, :, a:b] - 1\n");
  check_format("x = - a@( - b )\ny=$a - $b", "x = -a @ (-b)\ny = $a - $b\n");
  check_format("x = y[$a : 1, $b - 1]", "x = y[$a :1, $b -1]\n");
  check_format("var w:f32[ 2 ]=0 trainable = false", "var w: f32[2] = 0 trainable=false\n");
  check_format("var w:T trainable = false", "var w: T trainable=false\n");
  check_format(
      "entry e(x:f32[]=1)training parallel = 2->(y:f32[]){\ny=x\n\n\n\nz=y\n}",
      "entry e(x: f32[] = 1) training parallel=2 -> (y: f32[]) {\n  y = x\n\n  z = y\n}\n");
  check_format("x = f(a,\nb,\n[c,\nd])\ny = g(\na)\nz = g(\na\n)",
               "x = f(a,\n      b,\n      [c,\n       d])\ny = g(\n  a)\nz = g(\n  a\n)\n");
  check_format("t,h=while(t=0,h=h0)t<n{next t+1,h}",
               "t, h = while (t = 0, h = h0) t < n { next t + 1, h }\n");
  check_format("for i in 0 .. n{\nh[i + 1]=h[i]\n}", "for i in 0..n {\n  h[i+1] = h[i]\n}\n");
}

TEST(formatting_keeps_comments_and_aligns_them) {
  check_format("#a\n##b  \n\n\nx = 1 #c\nlong = 2#d\n\ny = 3  # e",
               "# a\n## b\n\nx = 1     # c\nlong = 2  # d\n\ny = 3  # e\n");
  check_format("on d { # a\n\n# b\n\nx = f( # c\n# d\ny)\n\n# e\n}",
               "on d {  # a\n  # b\n\n  x = f(  # c\n    # d\n    y)\n\n  # e\n}\n");
}

TEST(formatting_shortens_floats) {
  check_format("x = [1.50, 0.10e-03, 1_0.0, 0.0, 0e9, 100.0, 1.0E+20, 0.1000000000000000055, 0xFF]",
               "x = [1.5, 1e-4, 10.0, 0.0, 0.0, 100.0, 1e20, 0.1, 0xff]\n");
  check_format("x = [0.00001, 123456789012345678901234.0, 1.5e300]",
               "x = [0.00001, 123456789012345690000000.0, 1.5e300]\n");
}

TEST(the_programs_of_the_language_page_are_in_the_canonical_style) {
  for (int i = 0; i < PROGRAMS; i++) {
    size_t size;
    char *text = read_file(programs[i], &size);
    leat_text formatted = {0};
    CHECK(text && format(text, size, &formatted));
    CHECK_EQ_STR(formatted.data, text);
    leat_text_finish(&formatted);
    free(text);
  }
}

// -- Damage -----------------------------------------------------------------------

static uint32_t random_state = 1;

static uint32_t random_below(uint32_t bound) {
  random_state = random_state * 1664525u + 1013904223u;
  return (uint32_t)((uint64_t)random_state * bound >> 32);
}

// Replaces up to 40 bytes at a random place with a piece of the grammar or of the text itself.
static size_t damage(char *text, size_t size) {
  static const char *const pieces[] = {
      "",       " ",         "\n",   "(",      ")",    "[",        "]",   "{",     "}",       "{}",
      "\"",     "\\",        ",",    ":",      "=",    ":=",       "+=",  "->",    "|>",      "..",
      "..",     "$",         "$a:",  "?",      "#",    "##",       "0x",  "1e",    "1.5",     "nan",
      "-",      "not ",      "@",    "as",     "on ",  "after [",  "if ", "else ", "while (", "fn ",
      "entry ", "gradient ", "var ", "queue ", "\xff", "\xc3\xa9", "\r",
  };
  size_t at = random_below((uint32_t)size + 1), removed = random_below(40) * random_below(2);
  if (removed > size - at) removed = size - at;
  const char *piece = pieces[random_below(sizeof pieces / sizeof *pieces)];
  char own[40];
  size_t added = strlen(piece);
  if (random_below(3) == 0) {
    added = random_below(sizeof own);
    size_t from = random_below((uint32_t)(size + 1));
    if (added > size - from) added = size - from;
    memcpy(own, text + from, added);
    piece = own;
  }
  memmove(text + at + added, text + at + removed, size - at - removed);
  memcpy(text + at, piece, added);
  return size - removed + added;
}

TEST(damaged_texts_do_no_harm) {
  int parsed_count = 0, unstable = 0, mutants = MUTANTS / check_step(4);
  for (int i = 0; i < mutants; i++) {
    size_t size;
    char *text = read_file(programs[i % PROGRAMS], &size);
    if (!text) break;
    for (uint32_t hits = 1 + random_below(4); hits > 0; hits--) size = damage(text, size);
    leat_text once = {0}, twice = {0};
    parsed p = parse_n(text, size);
    CHECK((leat_diag_errors(p.diag) == 0) == format(text, size, &once));
    if (once.data) {
      bool same = format(once.data, once.size, &twice) && strcmp(once.data, twice.data) == 0;
      unstable += !same;
      if (!same) printf("formats differently the second time:\n%s", once.data);
    }
    parsed_count += leat_diag_errors(p.diag) == 0;
    finish(&p);
    leat_text_finish(&once);
    leat_text_finish(&twice);
    free(text);
  }
  CHECK(parsed_count > mutants / 100);
  CHECK_EQ_INT(unstable, 0);
}

CHECK_MAIN("parser")
