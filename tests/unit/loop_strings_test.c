// Strings that loops make: what is carried comes out whole, the others do not add up, however the
// loop is run and whatever it stands in.
#include "tests/unit/region_images.h"

// Bytes: a heap has never more than these and four times what is carried.
enum { LITTLE = 1 << 13 };

typedef struct string_loop {
  writing w;
  leat_image_type type;
  uint32_t n, m, step, nought, x, s, t, unused;
} string_loop;

static string_loop begin_loop(form form) {
  string_loop l = {.w = begin_image(form)};
  image_builder *b = l.w.b;
  l.type = image_type(LEAT_str, (int64_t)l.w.many.shape_first);
  l.n = image_feed(b, "n", l.w.one);
  l.m = image_feed(b, "m", l.w.one);
  l.step = image_feed(b, "step", l.w.one);
  l.x = image_feed(b, "x", l.type);
  l.s = image_arena_buffer(b, form.size * (int64_t)sizeof(leat_str), l.type);
  l.t = image_arena_buffer(b, form.size * (int64_t)sizeof(leat_str), l.type);
  l.unused = image_arena_buffer(b, 4, l.w.one);
  l.nought = image_buffer(b, LEAT_BUFFER_CONSTANT, 0, l.w.one);
  return l;
}

// i = from; while 0 < i { … }, which carries s, where the region's tables are `first` and the next.
static uint32_t begin_turns(string_loop *l, uint32_t from, uint32_t p, uint32_t first) {
  uint32_t i = image_arena_buffer(l->w.b, 4, l->w.one);
  copy(&l->w, i, from);
  region(&l->w, true, p, first);
  image_carry(l->w.b, l->w.b->regions_count - 1, l->s);
  return i;
}

// i += step; it fails below 0
static void count_down(string_loop *l, uint32_t i) {
  narrow(&l->w, ADD, BUFFERS((int)i, (int)i, (int)l->step));
  narrow(&l->w, CHECK_SIGN, BUFFERS((int)l->unused, (int)i));
}

static void decide(string_loop *l, uint32_t p, uint32_t i) {
  narrow(&l->w, LESS, BUFFERS((int)p, (int)l->nought, (int)i));
  end_table(&l->w);
}

static void next(string_loop *l, uint32_t to, uint32_t from) {
  wide(&l->w, NEXT, BUFFERS((int)to, (int)from));
}

// s = x; for n turns { for m turns { if true { t = next(s) }; s = next(t) } }
static writing nested_strings(form form) {
  string_loop l = begin_loop(form);
  uint32_t p = truth_buffer(&l.w), q = truth_buffer(&l.w);
  copy(&l.w, l.s, l.x);
  uint32_t i = begin_turns(&l, l.n, p, 1);
  end_table(&l.w);
  decide(&l, p, i);
  uint32_t j = begin_turns(&l, l.m, q, 3);
  count_down(&l, i);
  end_table(&l.w);
  decide(&l, q, j);
  region(&l.w, false, q, 5);
  next(&l, l.s, l.t);
  count_down(&l, j);
  end_table(&l.w);
  next(&l, l.t, l.s);
  end_table(&l.w);
  end_table(&l.w);
  image_fetch(l.w.b, "s", l.s);
  return l.w;
}

static leat_status turn(fixture *f, int64_t size, float n, float m, leat_tensor *s) {
  leat_str given[BYTES / 4];
  float step = -1;
  for (int i = 0; i < BYTES / 4; i++) given[i] = (leat_str){&"0123456789"[i % 10], 1};
  leat_tensor x = {.dtype = LEAT_str, .rank = 1, .shape = {size}, .data = given};
  leat_tensor feeds[] = {scalar(&n), scalar(&m), scalar(&step), x};
  most_bytes = 0;
  return execute(f, 1, feeds, s);
}

// Element i is what 2 n m calls of `next` make of the digit that it was.
static bool come_out(const leat_tensor *s, int turns) {
  const leat_str *strings = s->data;
  for (int64_t i = 0; i < s->shape[0]; i++) {
    if (strings[i].size != NEXT_SIZE) return false;
    for (int k = 0; k < NEXT_SIZE; k++)
      if (strings[i].data[k] != (char)('0' + i % 10 + 2 * turns)) return false;
  }
  return true;
}

TEST(strings_that_are_not_carried_do_not_add_up) {
  static const int turns[][2] = {{1, 50}, {50, 1}, {5, 10}, {20, 1}};
  for (int k = 0; k < FORMS; k++) {
    int64_t size = forms[k].size;
    for (int c = size > 1 ? 3 : 0; c < 4; c++) {
      int n = turns[c][0], m = turns[c][1];
      writing w = nested_strings(forms[k]);
      fixture f;
      if (set_up_form(&f, &w)) {
        leat_tensor s;
        CHECK_EQ_INT(turn(&f, size, (float)n, (float)m, &s), LEAT_OK);
        if (!come_out(&s, n * m)) CHECK_FAILED("form %d: %d times %d turns", k, n, m);
        if (most_bytes > LITTLE + 4 * (uint64_t)size * NEXT_SIZE)
          CHECK_FAILED("form %d: %d times %d turns: %d bytes", k, n, m, (int)most_bytes);
      }
      tear_down(&f);
    }
  }
}

TEST(strings_of_a_loop_that_fails_go_with_the_run) {
  for (int k = 0; k < FORMS; k++) {
    writing w = nested_strings(forms[k]);
    fixture f;
    if (set_up_form(&f, &w)) {
      leat_tensor s;
      CHECK_EQ_INT(turn(&f, forms[k].size, 9, 3.5f, &s), LEAT_OUT_OF_RANGE);
      CHECK_EQ_INT(turn(&f, forms[k].size, 5.5f, 3, &s), LEAT_OUT_OF_RANGE);
      CHECK_EQ_INT(turn(&f, forms[k].size, 3, 4, &s), LEAT_OK);
      CHECK(come_out(&s, 12));
    }
    tear_down(&f);
  }
}

CHECK_MAIN("loop_strings")
