// Words of Python, C and Rust, and the names that NumPy, JAX, PyTorch and TensorFlow have for what
// is called otherwise here. The tables are asked only of what means nothing where it stands.
#include "frontend/syntax/habits.h"

#include "ir/op.h"
#include "stdlib/stdlib.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

typedef struct habit {
  const char *text, *advice;
} habit;

#define NOT_YET(text, what)                                                                        \
  { text, "`" text "` (" what ") is not supported yet" }
#define WRITE(text, instead)                                                                       \
  { text, "`" text "` is written " instead }

static const habit words[] = {
    {"_", "`_` is no name: alone left of `=` it throws a result away"},
    WRITE("True", "`true`"),
    WRITE("False", "`false`"),
    WRITE("None", "`none`; as an index, for a new axis, it is `None`"),
    WRITE("null", "`none`"),
    {"fn", "a function has a name, and a line of its own: `fn name(x: f32[N]) { … }`"},
    WRITE("def", "`fn name(x: f32[N]) { … }`"),
    WRITE("func", "`fn name(x: f32[N]) { … }`"),
    WRITE("function", "`fn name(x: f32[N]) { … }`"),
    NOT_YET("close", "the end of a queue"),
    NOT_YET("glob", "files that a step reads"),
    NOT_YET("records", "files that a step reads"),
    NOT_YET("save", "a step that saves; `--save` does when it has ended"),
    WRITE("lambda", "`fn name(x: f32[N]) { … }`, with a name"),
    WRITE("class",
          "`fn name(x: f32[N]) { … }`: a function may hold variables, and is called `as net`"),
    WRITE("with", "`on \"/device:cpu:0\" { … }`, of devices; nothing else needs it"),
    {"while", "`while` begins a line, or stands behind `=`: `t, h = while (t = 0, h = x) t < n { … "
              "next t + 1, h * 2 }`"},
    {"if", "`if` begins a line, or stands behind `=`: `y = if p { … yield x } else { … yield z }`; "
           "`where(p, x, z)` chooses between two values"},
    {"next", "`next` ends the body of a `while`, with the next values of what it carries: "
             "`t, h = while (t = 0, h = x) t < n { … next t + 1, h * 2 }`"},
    WRITE("pass", "as a block with nothing in it, `{ }`"),
    WRITE("append",
          "`xs + [x]`, of lists that are known while compiling; what a loop makes `scan` and "
          "`map` stack"),
    WRITE("fori_loop", "`fori(n, f, init)`, which counts from 0"),
    WRITE("vmap", "`map(f, xs)`, one row after another; most functions take all rows at once"),
    {"jit", "nothing needs `jit`: all of a text is compiled"},
    WRITE("value_and_grad", "`grad(loss, x)`, beside the loss"),
    WRITE("jacrev", "`jacobian(y, x)`"),
    WRITE("jacfwd", "`jacobian(y, x)`"),
    {"for", "`for` begins a line; what its turns make is a family, `for i in 0..3 { y[i] = … }`"},
    WRITE("let", "`name = value`"),
    WRITE("const", "`name = value`"),
    WRITE("import", "`use \"file.leat\"`"),
    WRITE("from", "`use \"file.leat\"`"),
    WRITE("include", "`use \"file.leat\"`"),
    WRITE("elif", "`else if`"),
    WRITE("break", "in the condition: `while (t = 0, more = true) more and t < n { … }`"),
    WRITE("continue", "as an `if` that gives what `next` takes"),
    WRITE("Variable", "`var name: f32[3] = zeros()`"),
    {"dim", "`dim` declares a dimension; the key of an axis is `axis=`, an extent `shape(x)[0]`"},
    WRITE("variable", "`var name: f32[3] = zeros()`"),
    WRITE("Parameter", "`var name: f32[3] = zeros()`"),
    WRITE("placeholder", "as a parameter of an entry: `entry f(x: f32[N]) { … }`"),
    WRITE("array", "`tensor([1, 2, 3])`, or a list beside a tensor or where a type asks for one"),
    WRITE("constant",
          "`tensor([1, 2, 3])`, or a list beside a tensor or where a type asks for one"),
    WRITE("float16", "`f16`"),
    WRITE("bfloat16", "`bf16`"),
    WRITE("float32", "`f32`"),
    WRITE("float64", "`f64`"),
    WRITE("double", "`f64`"),
    WRITE("int8", "`i8`"),
    WRITE("int16", "`i16`"),
    WRITE("int32", "`i32`"),
    WRITE("int64", "`i64`"),
    WRITE("uint8", "`u8`"),
    WRITE("uint16", "`u16`"),
    WRITE("uint32", "`u32`"),
    WRITE("uint64", "`u64`"),
    WRITE("complex64", "`c64`"),
    WRITE("complex128", "`c128`"),
    WRITE("boolean", "`bool`"),
    WRITE("string", "`str`"),
    WRITE("help", "`:help`, a line of its own in `leat repl`"),
    WRITE("quit", "`:quit`, a line of its own in `leat repl`"),
    WRITE("exit", "`:quit`, a line of its own in `leat repl`"),
    WRITE("newaxis", "`None`"),
    WRITE("astype", "`cast(x, f32)`"),
    WRITE("ndim", "`rank(x)`"),
    WRITE("numel", "`size(x)`"),
    WRITE("absolute", "`abs(x)`"),
    WRITE("fabs", "`abs(x)`"),
    WRITE("negative", "`-x`"),
    WRITE("subtract", "`x - y`"),
    WRITE("multiply", "`x * y`"),
    WRITE("divide", "`x / y`"),
    WRITE("true_divide", "`x / y`"),
    WRITE("floor_divide", "`x // y`"),
    WRITE("mod", "`x % y`, which has y's sign, or `rem(x, y)`, which has x's"),
    WRITE("power", "`x ** y`"),
    WRITE("dot", "`x @ y`"),
    WRITE("clip", "`clamp(x, low, high)`"),
    WRITE("logical_and", "`a and b`"),
    WRITE("logical_or", "`a or b`"),
    WRITE("logical_not", "`not a`"),
    WRITE("bitwise_and", "`bit_and(a, b)`"),
    WRITE("bitwise_or", "`bit_or(a, b)`"),
    WRITE("bitwise_xor", "`bit_xor(a, b)`"),
    WRITE("bitwise_not", "`bit_not(a)`"),
    WRITE("isnan", "`is_nan(x)`"),
    WRITE("isinf", "`is_inf(x)`"),
    WRITE("isfinite", "`is_finite(x)`"),
    WRITE("signbit", "`sign_bit(x)`"),
    WRITE("arcsin", "`asin(x)`"),
    WRITE("arccos", "`acos(x)`"),
    WRITE("arctan", "`atan(x)`"),
    WRITE("arctan2", "`atan2(y, x)`"),
    WRITE("arcsinh", "`asinh(x)`"),
    WRITE("arccosh", "`acosh(x)`"),
    WRITE("arctanh", "`atanh(x)`"),
    WRITE("gammaln", "`lgamma(x)`"),
    WRITE("amax", "`max(x)`"),
    WRITE("amin", "`min(x)`"),
    WRITE("reduce_sum", "`sum(x)`"),
    WRITE("reduce_mean", "`mean(x)`"),
    WRITE("reduce_max", "`max(x)`"),
    WRITE("reduce_min", "`min(x)`"),
    WRITE("reduce_prod", "`prod(x)`"),
    WRITE("concatenate", "`concat(a, b, axis=0)`"),
    WRITE("cat", "`concat(a, b, axis=0)`"),
    WRITE("hstack", "`concat(a, b, axis=1)`"),
    WRITE("vstack", "`concat(a, b, axis=0)`"),
    WRITE("permute", "`transpose(x, [1, 0])`"),
    WRITE("unsqueeze", "`expand_dims(x, 0)`"),
    WRITE("ravel", "`flatten(x)`"),
    WRITE("broadcast_to", "`broadcast(x, [2, 3])`"),
    WRITE("full_like", "`broadcast(cast(value, dtype(x)), shape(x))`"),
    WRITE("gradients", "`grad(loss, x)`"),
    WRITE("backward", "`grad(loss, x)`, or `minimize(loss, sgd, lr=0.1)`"),
    WRITE("deg2rad", "`radians(x)`"),
    WRITE("rad2deg", "`degrees(x)`"),
    WRITE("linear", "`dense(x, units=n) as name`"),
    WRITE("Dense", "`dense(x, units=n) as name`"),
    WRITE("Linear", "`dense(x, units=n) as name`"),
    WRITE("random", "`uniform(0, 1, out=f32[3])`, or `normal(out=f32[3])`"),
    WRITE("rand", "`uniform(0, 1, out=f32[3])`"),
    WRITE("randn", "`normal(out=f32[3])`"),
    WRITE("detach", "`stop_gradient(x)`"),
    WRITE("upper", "`str_upper(s)`"),
    WRITE("lower", "`str_lower(s)`"),
    WRITE("strip", "`str_strip(s)`"),
    WRITE("startswith", "`str_starts_with(s, part)`"),
    WRITE("endswith", "`str_ends_with(s, part)`"),
    WRITE("conv2d", "`conv(x, w)`, as a layer `conv_layer(x, units=n, window=3) as name`"),
};

static const habit signs[] = {
    WRITE("//", "`#` before a comment"),
    WRITE("/*", "`#` before a comment"),
    WRITE("&&", "`and`"),
    WRITE("||", "`or`"),
    WRITE("!", "`not`"),
    WRITE("&", "`bit_and(x, y)`, of bools `and`"),
    WRITE("|", "`bit_or(x, y)`, of bools `or`"),
    WRITE("^", "`bit_xor(x, y)`, a power `x ** y`"),
    WRITE("~", "`bit_not(x)`, of bools `not`"),
    WRITE("<<", "`shift_left(x, n)`"),
    WRITE(">>", "`shift_right(x, n)`"),
    WRITE("++", "`v += 1`"),
    WRITE("-=", "`v += -x`"),
    WRITE("*=", "`v := v * x`"),
    WRITE("/=", "`v := v / x`"),
    WRITE(".T", "`transpose(x)`"),
    WRITE(".shape", "`shape(x)`"),
    WRITE(".size", "`size(x)`"),
    WRITE(".load", "`load(\"a.npy\")`"),
    WRITE(".grad", "`grad(loss, x)`"),
    WRITE(".ndim", "`rank(x)`"),
    WRITE(".dtype", "`dtype(x)`"),
    WRITE(".astype", "`cast(x, f32)`"),
    WRITE(".reshape", "`reshape(x, [2, -1])`"),
    WRITE(";", "as the end of the line"),
    WRITE("\u201c", "`\"`"), // what word processors make of what is typed
    WRITE("\u201d", "`\"`"),
    WRITE("\u201e", "`\"`"),
    WRITE("\u2018", "`\"`"),
    WRITE("\u2019", "`\"`"),
    WRITE("\u2212", "`-`"),
    WRITE("\u2013", "`-`"),
    WRITE("\u2014", "`-`"),
    WRITE("\u00d7", "`*`"),
    WRITE("\u00b7", "`*`, of matrices `@`"),
    WRITE("\u00f7", "`/`"),
    WRITE("\u2264", "`<=`"),
    WRITE("\u2265", "`>=`"),
    WRITE("\u2260", "`!=`"),
    WRITE("\u2192", "`->`"),
    WRITE("\u2026", "`...`"),
    WRITE("\u00a0", "as a blank: this is one that no line breaks at"),
    {"=>", "a function has a name, and a line of its own: `fn name(x: f32[N]) { return x + 1 }`"},
    {"'", "a string stands in double quotes: \"text\""},
    {".", "nothing has parts after a dot: `sum(x)`, not `x.sum()`"},
};

enum { WORDS = sizeof words / sizeof *words, SIGNS = sizeof signs / sizeof *signs };

const char *leat_habit_word(const char *word, size_t size) {
  for (size_t i = 0; i < WORDS; i++)
    if (strlen(words[i].text) == size && memcmp(words[i].text, word, size) == 0)
      return words[i].advice;
  return NULL;
}

static bool in_word(char c) {
  return isalnum((unsigned char)c) || c == '_';
}

const char *leat_habit_sign(const char *text, size_t size, size_t *out_size) {
  const char *advice = NULL;
  *out_size = 0;
  for (size_t i = 0; i < SIGNS; i++) {
    size_t length = strlen(signs[i].text);
    if (length <= *out_size || length > size || memcmp(signs[i].text, text, length) != 0) continue;
    bool word = isalpha((unsigned char)text[length - 1]);
    if (word && length < size && in_word(text[length])) continue; // `.Tensor`
    *out_size = length;
    advice = signs[i].advice;
  }
  return advice;
}

const char *leat_habit_part(const char *text, size_t size, leat_arena *arena) {
  size_t begin = 0, end = 0;
  while (end < size && text[end] == '.') {
    begin = ++end;
    while (end < size && in_word(text[end])) end++;
  }
  const char *advice = leat_habit_word(text + begin, end - begin);
  if (advice || begin == end) return advice;
  const char *name = leat_arena_strndup(arena, text + begin, end - begin);
  leat_op op;
  if (!leat_op_parse(name, end - begin, &op) && !leat_stdlib_find(LEAT_STDLIB_FN, name))
    return NULL;
  return leat_arena_printf(arena, "nothing has parts after a dot: `%s(…)` is a function by itself",
                           name);
}
