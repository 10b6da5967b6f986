// ir/: the op table, dims, types, the graph, its text, its verifier.
#include "ir/print.h"
#include "ir/verify.h"
#include "tests/unit/check.h"

#include <math.h>

static leat_arena *arena;
static leat_strings *strings;
static leat_dims *dims;

static void start(void) {
  if (arena) leat_arena_reset(arena);
  if (!arena) arena = leat_arena_create();
  strings = leat_strings_create(arena);
  dims = leat_dims_create(arena, strings);
}

static const char *finish(leat_text *text) {
  const char *copy = leat_arena_strndup(arena, text->data, text->size);
  leat_text_finish(text);
  return copy;
}

// -- Ops -----------------------------------------------------------------------------------------

TEST(op_table_has_every_row) {
  leat_op op;
  CHECK(leat_op_parse("matmul", 6, &op) && op == LEAT_OP_matmul);
  CHECK(!leat_op_parse("matmu", 5, &op) && !leat_op_parse("matmull", 7, &op));
  for (int i = 0; i < LEAT_OP_COUNT; i++) {
    const char *name = leat_op_name((leat_op)i);
    CHECK(leat_op_parse(name, strlen(name), &op) && op == (leat_op)i);
  }
  const leat_op_info *info = leat_op_info_of(LEAT_OP_slice);
  CHECK_EQ_INT(info->attr_count, 3);
  CHECK_EQ_INT(info->attrs[2].kind, LEAT_ATTR_INTS);
  CHECK_EQ_INT(leat_op_attr_index(LEAT_OP_slice, "size"), 1);
  CHECK_EQ_INT(leat_op_attr_index(LEAT_OP_slice, "axis"), -1);
  CHECK_EQ_INT(leat_op_info_of(LEAT_OP_concat)->max_inputs, LEAT_ANY_INPUTS);
  CHECK_EQ_INT(leat_op_info_of(LEAT_OP_add)->flags,
               LEAT_FLAG_BROADCASTS | LEAT_FLAG_COMMUTES | LEAT_FLAG_EXACT);
}

TEST(dtype_classes) {
  CHECK(leat_dtype_in_class(LEAT_str, LEAT_CLASS_ALL));
  CHECK(!leat_dtype_in_class(LEAT_str, LEAT_CLASS_ANY_DTYPE));
  CHECK(!leat_dtype_in_class(LEAT_bool, LEAT_CLASS_NUMERIC));
  CHECK(leat_dtype_in_class(LEAT_bf16, LEAT_CLASS_FLOAT));
  CHECK(!leat_dtype_in_class(LEAT_c64, LEAT_CLASS_FLOAT));
  CHECK(leat_dtype_in_class(LEAT_u8, LEAT_CLASS_INTEGER));
}

// -- Dims ----------------------------------------------------------------------------------------

static leat_dim named(const char *name) {
  return leat_dim_named(dims, name, 0, INT64_MAX);
}
static leat_dim num(int64_t value) {
  return leat_dim_const(value);
}

#define OPERATION(name)                                                                            \
  static leat_dim name(leat_dim a, leat_dim b) {                                                   \
    leat_dim out = num(INT64_MIN);                                                                 \
    CHECK(leat_dim_##name(dims, a, b, &out));                                                      \
    return out;                                                                                    \
  }
OPERATION(add)
OPERATION(sub)
OPERATION(mul)
OPERATION(floordiv)
OPERATION(max)

static const char *shown(leat_dim dim) {
  leat_text text = {0};
  leat_dim_print(dim, &text);
  return finish(&text);
}

TEST(dims_are_polynomials_with_one_form) {
  start();
  leat_dim t = named("T"), b = named("B");
  CHECK_EQ_STR(shown(num(-3)), "-3");
  CHECK_EQ_STR(shown(add(mul(num(2), mul(t, b)), num(1))), "2*B*T + 1");
  CHECK_EQ_STR(shown(sub(t, num(1))), "T - 1");
  CHECK_EQ_STR(shown(sub(num(1), mul(t, t))), "-T*T + 1");
  CHECK(leat_dim_equal(mul(add(t, b), sub(t, b)), sub(mul(t, t), mul(b, b))));
  CHECK(leat_dim_is(sub(add(t, b), add(b, t)), 0));
  CHECK(leat_dim_is(sub(add(t, num(7)), t), 7));
  CHECK(leat_dim_equal(sub(add(t, b), b), t));
  CHECK_EQ_STR(leat_dim_atom(t)->name, "T");
  CHECK(!leat_dim_atom(add(t, num(1))) && !leat_dim_atom(num(4)));
  CHECK(leat_dim_equal(leat_dim_named(dims, "B", 0, INT64_MAX), b));
  CHECK(leat_dim_find(dims, "T") && !leat_dim_find(dims, "U"));
}

TEST(dims_anonymous_are_their_own) {
  start();
  leat_dim a = leat_dim_anonymous(dims, "?2"), b = leat_dim_anonymous(dims, NULL);
  leat_dim c = leat_dim_anonymous(dims, NULL);
  CHECK_EQ_STR(shown(a), "?2");
  CHECK_EQ_STR(shown(b), "?1");
  CHECK_EQ_STR(shown(c), "?3");
  CHECK(!leat_dim_equal(b, c) && leat_dim_equal(a, leat_dim_anonymous(dims, "?2")));
  CHECK_EQ_STR(shown(add(leat_dim_anonymous(dims, "?10"), a)), "?2 + ?10");
}

TEST(dims_of_a_copy_are_its_own) {
  start();
  leat_dim b = named("B"), third = floordiv(b, num(3)), question = leat_dim_anonymous(dims, NULL);
  leat_dims *base = dims, *copy = leat_dims_extend(dims, arena);
  uint32_t atoms = leat_dims_atom_count(base);
  leat_dim late = add(named("X"), num(1)); // since the copy was made
  dims = copy;
  CHECK_EQ_INT(leat_dims_atom_count(copy), atoms);
  CHECK(leat_dim_equal(named("B"), b) && leat_dim_equal(floordiv(b, num(3)), third));
  CHECK(!leat_dim_find(copy, "X"));
  leat_dim own = add(named("Y"), num(1)); // with the id that X has in the base
  CHECK_EQ_STR(shown(own), "Y + 1");
  CHECK_EQ_STR(shown(floordiv(own, num(2))), "(Y + 1) // 2");
  CHECK(!leat_dim_equal(own, late));
  CHECK_EQ_STR(leat_dims_atom(copy, atoms)->name, "Y");
  CHECK_EQ_STR(leat_dims_atom(copy, 0)->name, "B");
  CHECK_EQ_STR(shown(leat_dim_anonymous(copy, NULL)), "?2");
  dims = base;
  CHECK_EQ_STR(shown(floordiv(add(named("X"), num(1)), num(2))), "(X + 1) // 2");
  CHECK_EQ_STR(shown(question), "?1");
  CHECK(!leat_dim_find(base, "Y") && leat_dims_atom_count(base) == atoms + 2);
  CHECK_EQ_STR(leat_dims_atom(base, atoms)->name, "X");
}

TEST(dims_divide_exactly_or_stay_opaque) {
  start();
  leat_dim t = named("T"), b = named("B");
  CHECK(leat_dim_equal(floordiv(mul(t, b), b), t));
  CHECK(leat_dim_equal(floordiv(sub(mul(t, t), mul(b, b)), add(t, b)), sub(t, b)));
  CHECK(leat_dim_equal(floordiv(add(mul(num(4), t), num(8)), num(4)), add(t, num(2))));
  CHECK(leat_dim_is(floordiv(num(-7), num(2)), -4));
  CHECK(leat_dim_is(floordiv(num(7), num(-2)), -4));
  leat_dim half = floordiv(sub(t, num(1)), num(2));
  CHECK_EQ_STR(shown(half), "(T - 1) // 2");
  CHECK_EQ_STR(shown(mul(num(3), half)), "3*((T - 1) // 2)");
  CHECK_EQ_STR(shown(add(half, num(1))), "(T - 1) // 2 + 1");
  CHECK_EQ_STR(shown(sub(num(1), half)), "-((T - 1) // 2) + 1");
  CHECK_EQ_STR(shown(floordiv(half, b)), "((T - 1) // 2) // B");
  CHECK(leat_dim_equal(half, floordiv(sub(t, num(1)), num(2))));
  leat_dim out;
  CHECK(!leat_dim_floordiv(dims, t, num(0), &out));
}

TEST(dims_max_uses_bounds) {
  start();
  leat_dim t = named("T"), b = leat_dim_named(dims, "B", 1, 64);
  CHECK(leat_dim_equal(max(b, num(1)), b));
  CHECK(leat_dim_is(max(b, num(64)), 64));
  CHECK(leat_dim_is(max(num(3), num(5)), 5));
  CHECK(leat_dim_equal(max(t, add(t, b)), add(t, b)));
  CHECK_EQ_STR(shown(max(t, b)), "max(B, T)");
  CHECK(leat_dim_equal(max(t, b), max(b, t)));
  CHECK_EQ_STR(shown(max(sub(t, num(3)), num(0))), "max(3, T) - 3");
  CHECK_EQ_STR(shown(max(add(t, num(2)), sub(b, num(1)))), "max(B - 3, T) + 2");
  CHECK_EQ_STR(shown(max(sub(max(t, num(1)), num(3)), num(0))), "max(3, T) - 3");
  CHECK_EQ_STR(shown(max(num(1), max(num(3), t))), "max(3, T)");
  CHECK(leat_dim_equal(max(max(t, b), t), max(t, b)));
  CHECK(leat_dim_equal(max(b, max(max(t, mul(t, b)), b)), max(max(t, mul(t, b)), b)));
  CHECK(leat_dim_equal(max(add(t, num(2)), max(b, add(t, num(2)))), max(b, add(t, num(2)))));
  CHECK(!leat_dim_equal(max(add(t, num(3)), max(b, add(t, num(2)))), max(b, add(t, num(2)))));
}

TEST(dims_may_be) {
  start();
  leat_dim t = named("T"), b = leat_dim_named(dims, "B", 1, 64);
  CHECK(leat_dim_may_be(t, 0) && !leat_dim_may_be(t, -1));
  CHECK(leat_dim_may_be(b, 64) && !leat_dim_may_be(b, 65) && !leat_dim_may_be(b, 0));
  CHECK(!leat_dim_may_be(mul(num(2), t), 7) && leat_dim_may_be(mul(num(2), t), 8));
  CHECK(!leat_dim_may_be(add(mul(num(4), t), num(1)), 3));
  CHECK(!leat_dim_may_be(add(t, b), 0) && leat_dim_may_be(sub(t, b), -64));
  CHECK(!leat_dim_may_be(floordiv(b, num(3)), 22) && leat_dim_may_be(floordiv(b, num(3)), 21));
}

TEST(dims_eval_and_substitute) {
  start();
  leat_dim t = named("T"), b = named("B");
  leat_dim d = add(mul(t, b), floordiv(max(t, b), num(2)));
  int64_t values[8] = {0}, out = 0;
  bool known[8] = {false};
  values[leat_dim_atom(t)->id] = 5, known[leat_dim_atom(t)->id] = true;
  CHECK(!leat_dim_eval(d, values, known, &out));
  values[leat_dim_atom(b)->id] = 7, known[leat_dim_atom(b)->id] = true;
  CHECK(leat_dim_eval(d, values, known, &out));
  CHECK_EQ_INT(out, 38);
  values[leat_dim_atom(t)->id] = INT64_MAX;
  CHECK(!leat_dim_eval(d, values, known, &out));
  leat_dim replacement[8] = {{0}}, result;
  known[leat_dim_atom(b)->id] = false;
  replacement[leat_dim_atom(t)->id] = num(10);
  CHECK(leat_dim_substitute(dims, d, replacement, known, &result));
  CHECK_EQ_STR(shown(result), "10*B + max(10, B) // 2");
}

TEST(dims_have_limits) {
  start();
  leat_dim t = named("T"), big = num(INT64_MAX), out = t;
  CHECK(!leat_dim_add(dims, big, num(1), &out) && leat_dim_equal(out, t));
  CHECK(!leat_dim_mul(dims, mul(big, t), num(2), &out));
  bool ok = true;
  leat_dim power = t, nested = t;
  for (int i = 0; ok && i < 1000; i++) ok = leat_dim_mul(dims, power, t, &power);
  CHECK(!ok);
  ok = true;
  for (int i = 0; ok && i < 1000; i++)
    ok = leat_dim_floordiv(dims, add(nested, num(1)), num(2), &nested);
  CHECK(!ok);
}

TEST(dims_print_the_same_whatever_was_made_first) {
  start();
  leat_dim first = add(floordiv(named("T"), num(2)), add(named("B"), named("A")));
  CHECK_EQ_STR(shown(first), "A + B + T // 2");
  start();
  named("A");
  floordiv(named("T"), num(3));
  leat_dim again = add(named("A"), add(named("B"), floordiv(named("T"), num(2))));
  CHECK_EQ_STR(shown(again), "A + B + T // 2");
}

// -- Types ---------------------------------------------------------------------------------------

TEST(types) {
  start();
  leat_type type = {.dtype = LEAT_f32, .rank = 2, .dims = {named("B"), num(128)}}, other = type;
  leat_text text = {0};
  leat_type_print(&type, &text);
  CHECK_EQ_STR(finish(&text), "f32[B, 128]");
  CHECK(leat_type_equal(&type, &other) && !leat_type_is_static(&type));
  CHECK_EQ_INT(leat_type_static_elements(&type), -1);
  leat_dim count;
  CHECK(leat_type_elements(dims, &type, &count));
  CHECK_EQ_STR(shown(count), "128*B");
  other.dims[0] = num(3);
  CHECK(!leat_type_equal(&type, &other));
  CHECK_EQ_INT(leat_type_static_elements(&other), 384);
  leat_type scalar = leat_type_scalar(LEAT_i8);
  CHECK_EQ_INT(leat_type_static_elements(&scalar), 1);
}

// -- The graph -----------------------------------------------------------------------------------

static leat_graph *graph;

static leat_node *constant(const char *name, leat_tensor tensor) {
  leat_attr value = {.tensor = leat_arena_memdup(arena, &tensor, sizeof tensor)};
  leat_node *node =
      leat_graph_append(graph, LEAT_OP_const, leat_intern(strings, name), NULL, 0, &value);
  leat_type type = leat_type_of_tensor(&tensor);
  node->outputs = leat_arena_memdup(arena, &type, sizeof type);
  return node;
}

static leat_node *one(const char *name) {
  static float value = 1;
  return constant(name, (leat_tensor){.dtype = LEAT_f32, .data = &value});
}

static leat_node *sum_of(const char *name, leat_node *a, leat_node *b) {
  leat_value inputs[] = {{a, 0}, {b, 0}};
  leat_node *node =
      leat_graph_append(graph, LEAT_OP_add, leat_intern(strings, name), inputs, 2, NULL);
  node->outputs = a->outputs;
  return node;
}

static void start_graph(void) {
  start();
  graph = leat_graph_create(arena, strings, "g");
}

TEST(graph_names) {
  start_graph();
  leat_node *a = one("a"), *b = one(leat_graph_unique_name(graph, "a"));
  CHECK_EQ_STR(b->name, "a_1");
  CHECK_EQ_STR(leat_graph_unique_name(graph, "a"), "a_2");
  CHECK_EQ_STR(leat_graph_unique_name(graph, "a"), "a_2");
  one("a_2");
  CHECK_EQ_STR(leat_graph_unique_name(graph, "a"), "a_3");
  CHECK_EQ_STR(leat_graph_unique_name(graph, "new"), "new");
  leat_type type = leat_type_scalar(LEAT_f32);
  leat_state *w = leat_graph_add_state(graph, "net/w", &type);
  leat_entry *f = leat_graph_add_entry(graph, "f");
  CHECK(leat_graph_find_node(graph, "a") == a && !leat_graph_find_node(graph, "net/w"));
  CHECK(leat_graph_find_state(graph, "net/w") == w && !leat_graph_find_state(graph, "a"));
  CHECK(leat_graph_find_entry(graph, "f") == f && !leat_graph_find_entry(graph, "g"));
  graph->nodes.items[0] = b; // a pass drops `a`
  graph->nodes.count = 1;
  leat_graph_renumber(graph);
  CHECK(!leat_graph_find_node(graph, "a") && leat_graph_find_node(graph, "a_1") == b);
}

TEST(graph_sort) {
  start_graph();
  leat_node *a = one("a"), *b = one("b"), *c = sum_of("c", a, a), *d = sum_of("d", c, b);
  leat_node_add_control(graph, d, a);
  leat_node_add_control(graph, d, a);
  CHECK_EQ_INT(d->control_count, 1);
  leat_node *mixed[] = {d, c, b, a}, *sorted[] = {b, a, c, d}, *in_cycle = NULL;
  memcpy(graph->nodes.items, mixed, sizeof mixed);
  CHECK(leat_graph_sort(graph, &in_cycle));
  CHECK(memcmp(graph->nodes.items, sorted, sizeof sorted) == 0 && d->id == 3);
  leat_node_add_control(graph, c, d);
  CHECK(!leat_graph_sort(graph, &in_cycle));
  CHECK(in_cycle == c || in_cycle == d);
}

// -- Text ----------------------------------------------------------------------------------------

static const char *literal(leat_dtype dtype, int32_t rank, int64_t n, int64_t m, void *data) {
  static int number;
  leat_tensor tensor = {.dtype = dtype, .rank = rank, .shape = {n, m}, .data = data};
  leat_text text = {0};
  leat_node_print(constant(leat_arena_printf(arena, "c%d", number++), tensor), &text);
  const char *all = finish(&text);
  return strstr(all, ": ") + 2;
}

TEST(print_literals) {
  start_graph();
  CHECK_EQ_STR(literal(LEAT_f32, 0, 0, 0, (float[]){0.1f}), "f32[] = 0.1");
  CHECK_EQ_STR(literal(LEAT_f32, 1, 4, 0, (float[]){1, -0.0f, NAN, -INFINITY}),
               "f32[4] = [1.0, -0.0, nan, -inf]");
  CHECK_EQ_STR(literal(LEAT_f64, 0, 0, 0, (double[]){0.1}), "f64[] = 0.1");
  CHECK_EQ_STR(literal(LEAT_i32, 2, 2, 2, (int32_t[]){1, 2, 3, -4}),
               "i32[2, 2] = [[1, 2], [3, -4]]");
  CHECK_EQ_STR(literal(LEAT_i64, 0, 0, 0, (int64_t[]){INT64_MIN}), "i64[] = -9223372036854775808");
  CHECK_EQ_STR(literal(LEAT_u64, 0, 0, 0, (uint64_t[]){UINT64_MAX}),
               "u64[] = 18446744073709551615");
  CHECK_EQ_STR(literal(LEAT_bool, 1, 2, 0, (uint8_t[]){1, 0}), "bool[2] = [true, false]");
  CHECK_EQ_STR(literal(LEAT_f32, 2, 0, 3, NULL), "f32[0, 3] = []");
  CHECK_EQ_STR(literal(LEAT_f32, 2, 3, 0, NULL), "f32[3, 0] = []");
  CHECK_EQ_STR(literal(LEAT_f16, 1, 3, 0, (uint16_t[]){0x3c00, 0x0001, 0xfc00}),
               "f16[3] = [1.0, 5.9604645e-08, -inf]");
  CHECK_EQ_STR(literal(LEAT_bf16, 1, 2, 0, (uint16_t[]){0x3f80, 0xc000}), "bf16[2] = [1.0, -2.0]");
  CHECK_EQ_STR(literal(LEAT_c64, 0, 0, 0, (float[]){1, -2}), "c64[] = complex(1.0, -2.0)");
  CHECK_EQ_STR(literal(LEAT_str, 1, 2, 0, (leat_str[]){{"a\"b", 3}, {NULL, 0}}),
               "str[2] = [\"a\\\"b\", \"\"]");
}

static leat_attr string_attr(const char *text) {
  return (leat_attr){.string = leat_intern(strings, text)};
}

// A graph with one of everything that has a line of its own.
static void make_example(void) {
  start_graph();
  leat_type *type = leat_new(arena, leat_type), *weights = leat_new(arena, leat_type);
  dims = graph->dims;
  leat_dim b = leat_dim_named(dims, "B", 1, 4096);
  leat_dim_named(dims, "Unused", 1, 2);
  *type = (leat_type){.dtype = LEAT_f32, .rank = 2, .dims = {b, num(3)}};
  *weights = leat_type_scalar(LEAT_f32);
  leat_node *unrelated = one("lone"), *init = one("net/w/init/const");
  leat_state *w = leat_graph_add_state(graph, "net/w", weights);
  leat_state *slot = leat_graph_add_state(graph, "net/w/adam/m", weights);
  w->init = (leat_value){init, 0};
  slot->trainable = false;
  slot->slot_of = w->name;
  slot->container = leat_intern(strings, "c");
  slot->device = "/job:ps";

  leat_entry *f = leat_graph_add_entry(graph, "f");
  f->training = true;
  leat_attr feed[] = {string_attr("x"), {.i = 0}, {.type = type}, {.i = 0}};
  leat_node *x = leat_graph_append(graph, LEAT_OP_feed, leat_intern(strings, "f/x"), NULL, 0, feed);
  x->outputs = type;
  feed[0] = string_attr("lr");
  feed[1].i = 1;
  feed[2].type = weights;
  leat_node *lr =
      leat_graph_append(graph, LEAT_OP_feed, leat_intern(strings, "f/lr"), NULL, 0, feed);
  lr->outputs = weights;
  lr->device = "/job:worker";
  leat_attr state = {.state = w};
  leat_node *read =
      leat_graph_append(graph, LEAT_OP_read, leat_intern(strings, "f/net/read"), NULL, 0, &state);
  read->outputs = weights;
  leat_node *y = sum_of("f/y", read, lr);
  leat_attr shape = {.count = 2, .dims = type->dims};
  leat_node *wide = leat_graph_append(graph, LEAT_OP_broadcast, leat_intern(strings, "f/wide"),
                                      &(leat_value){y, 0}, 1, &shape);
  wide->outputs = type;
  leat_node *assign = leat_graph_append(graph, LEAT_OP_assign, leat_intern(strings, "f/assign"),
                                        &(leat_value){y, 0}, 1, &state);
  assign->device = "/job:ps";
  assign->colocate = "net/w";
  leat_node_add_control(graph, assign, read);
  leat_node_add_control(graph, assign, wide);
  leat_node *nodes[] = {x, lr, read, y, wide, assign};
  for (size_t i = 0; i < sizeof nodes / sizeof *nodes; i++) nodes[i]->entry = f;

  static float tenth = 0.1f;
  leat_tensor fallback = {.dtype = LEAT_f32, .data = &tenth};
  leat_vec_push(arena, &f->params, (leat_param){"x", x, NULL});
  leat_vec_push(arena, &f->params,
                (leat_param){"lr", lr, leat_arena_memdup(arena, &fallback, sizeof fallback)});
  leat_vec_push(arena, &f->results, (leat_result){"y", {wide, 0}});
  leat_vec_push(arena, &f->effects, assign);
  leat_graph_add_entry(graph, "empty");
  (void)unrelated;
}

TEST(print_graph) {
  make_example();
  leat_text text = {0};
  leat_graph_print(graph, &text);
  CHECK_EQ_STR(
      finish(&text),
      "graph g\n"
      "dim B in 1..4096\n"
      "$net/w/init/const: f32[] = 1.0\n"
      "var $net/w: f32[] = $net/w/init/const\n"
      "var $net/w/adam/m: f32[] trainable=false slot_of=$net/w container=\"c\" on \"/job:ps\"\n"
      "$lone: f32[] = 1.0\n"
      "entry f(x: f32[B, 3], lr: f32[] = 0.1) training -> (y: f32[B, 3] = $f/wide) {\n"
      "  $f/lr: f32[] = feed(name=\"lr\", index=1, type=f32[], donated=false) on \"/job:worker\"\n"
      "  $f/net/read: f32[] = read(state=$net/w)\n"
      "  $f/y: f32[] = add($f/net/read, $f/lr)\n"
      "  $f/wide: f32[B, 3] = broadcast($f/y, shape=[B, 3])\n"
      "  $f/assign = assign($f/y, state=$net/w) on \"/job:ps\" colocate \"net/w\" "
      "after [$f/net/read, $f/wide]\n"
      "}\n"
      "entry empty() {\n"
      "}\n");
  graph->device = "/job:worker/task:0/device:cpu:0";
  leat_graph_print(graph, &text);
  CHECK(strncmp(finish(&text), "graph g device=\"/job:worker/task:0/device:cpu:0\"\n", 48) == 0);
}

// -- The verifier --------------------------------------------------------------------------------

static void check_broken(const char *words) {
  leat_error error = {0};
  CHECK_EQ_INT(leat_verify(graph, &error), LEAT_INTERNAL);
  if (!strstr(error.message, words)) CHECK_FAILED("`%s` is not in `%s`", words, error.message);
}

TEST(verify) {
  leat_error error = {0};
  make_example();
  CHECK_EQ_INT(leat_verify(graph, &error), LEAT_OK);
  CHECK_EQ_STR(error.message, "");

  leat_node *y = leat_graph_find_node(graph, "f/y");
  y->input_count = 1;
  check_broken("node $f/y: add with 1 inputs");
  y->input_count = 2;

  y->inputs[0].port = 1;
  check_broken("node $f/y: input 0 is no value");
  y->inputs[0].port = 0;

  y->inputs[0].node = y;
  check_broken("node $f/y comes before its input 0");
  y->inputs[0].node = leat_graph_find_node(graph, "f/x");

  leat_type text = leat_type_scalar(LEAT_str);
  const leat_type *type = y->inputs[0].node->outputs;
  y->inputs[0].node->outputs = &text;
  check_broken("node $f/y: add of str");
  y->inputs[0].node->outputs = type;

  leat_node *assign = leat_graph_find_node(graph, "f/assign");
  leat_state stranger = {.name = "stranger"};
  leat_attr attr = assign->attrs[0];
  leat_node_set_attr(graph, assign, "state", (leat_attr){.state = &stranger});
  check_broken("node $f/assign: attribute state");
  leat_node_set_attr(graph, assign, "state", attr);
  CHECK(leat_node_state(assign) == graph->states.items[0]);

  graph->states.items[0]->init.node = leat_graph_find_node(graph, "f/x");
  check_broken("state $net/w starts as a value of another type");
  graph->states.items[0]->init.node = leat_graph_find_node(graph, "net/w/init/const");

  graph->entries.items[0]->effects.items[0] = y;
  check_broken("entry f: effect 0 is no effect");
  graph->entries.items[0]->effects.items[0] = assign;

  leat_node stray = *y;
  leat_value *result = &graph->entries.items[0]->results.items[0].value;
  const leat_value wide = *result;
  result->node = &stray;
  check_broken("entry f: result y is no value");
  *result = wide;

  leat_node **param = &graph->entries.items[0]->params.items[0].node;
  leat_node *feed = *param;
  *param = y;
  check_broken("entry f: parameter x is no feed");
  *param = feed;

  leat_node **items = graph->nodes.items, *first = items[0];
  items[0] = items[1];
  check_broken("at 0 has the id 1");
  items[0] = first;
  CHECK_EQ_INT(leat_verify(graph, &error), LEAT_OK);
}

// The phases whose graphs may have such a node besides the example's, as words.
static const char *phases_with(leat_op op, const leat_attr *attrs, leat_phase brought) {
  make_example();
  leat_value y = {leat_graph_find_node(graph, "f/y"), 0};
  const leat_op_info *info = leat_op_info_of(op);
  leat_node *node = leat_graph_append(graph, op, leat_intern(strings, "f/more"), &y,
                                      (uint32_t)info->min_inputs, attrs);
  if (info->outputs) node->outputs = leat_value_type(y);
  leat_text words = {0};
  for (leat_phase phase = LEAT_PHASE_TEXT; phase <= LEAT_PHASE_LEGAL; phase++) {
    leat_error error = {0};
    if (!leat_verify_phase(graph, phase, brought, &error))
      leat_text_add(&words, " %s", leat_phase_name(phase));
    else if (!strstr(error.message, "node $f/more: no graph of the phase `"))
      CHECK_FAILED("%s: %s", leat_op_name(op), error.message);
  }
  return finish(&words);
}

TEST(ops_belong_to_phases) {
  start();
  leat_type scalar = leat_type_scalar(LEAT_f32);
  leat_attr fetch[] = {string_attr("y"), {.i = 0}}, send[] = {{.i = 0}, string_attr("there")};
  leat_attr recv[] = {{.i = 0}, string_attr("there"), {.type = &scalar}, {.i = 0}};
  leat_attr check[] = {{.dim = num(0)}, string_attr("f/y"), string_attr("why"), {.count = 0}};
  CHECK_EQ_STR(phases_with(LEAT_OP_neg, NULL, LEAT_PHASE_TEXT),
               " text step raised checked part legal");
  CHECK_EQ_STR(phases_with(LEAT_OP_fetch, fetch, LEAT_PHASE_TEXT),
               " step raised checked part legal");
  CHECK_EQ_STR(phases_with(LEAT_OP_check_dims, check, LEAT_PHASE_TEXT), " checked part legal");
  CHECK_EQ_STR(phases_with(LEAT_OP_leave, NULL, LEAT_PHASE_TEXT), " text step");
  CHECK_EQ_STR(phases_with(LEAT_OP_send, send, LEAT_PHASE_TEXT), " part legal");
  CHECK_EQ_STR(phases_with(LEAT_OP_recv, recv, LEAT_PHASE_TEXT), " part legal");
  // What a text brought stays: it was dumped at that phase, or behind it.
  CHECK_EQ_STR(phases_with(LEAT_OP_send, send, LEAT_PHASE_PART),
               " text step raised checked part legal");
  CHECK_EQ_INT(leat_brought_phase(graph), LEAT_PHASE_PART);
  CHECK_EQ_STR(phases_with(LEAT_OP_fetch, fetch, LEAT_PHASE_CHECKED),
               " text step raised checked part legal");
  CHECK_EQ_INT(leat_brought_phase(graph), LEAT_PHASE_STEP);
  CHECK_EQ_STR(phases_with(LEAT_OP_recv, recv, LEAT_PHASE_CHECKED), " part legal");
  make_example();
  CHECK_EQ_INT(leat_brought_phase(graph), LEAT_PHASE_TEXT);
  leat_attr state = {.state = graph->states.items[0]};
  leat_node *update =
      leat_graph_append(graph, LEAT_OP_assign_add, leat_intern(strings, "f/update"),
                        &(leat_value){leat_graph_find_node(graph, "f/y"), 0}, 1, &state);
  leat_error error = {0};
  CHECK_EQ_INT(leat_verify_phase(graph, LEAT_PHASE_PART, LEAT_PHASE_TEXT, &error), LEAT_OK);
  CHECK_EQ_INT(leat_verify_phase(graph, LEAT_PHASE_LEGAL, LEAT_PHASE_LEGAL, &error), LEAT_INTERNAL);
  CHECK_EQ_STR(error.message,
               "verify: node $f/update: no graph of the phase `legal` has assign_add");
  leat_node_set_op(update, LEAT_OP_assign);
  CHECK_EQ_INT(leat_verify_phase(graph, LEAT_PHASE_LEGAL, LEAT_PHASE_LEGAL, &error), LEAT_OK);
}

CHECK_MAIN("ir")
