// Building programs, and the data to feed them.
#include "tests/sweep/programs.h"

#include "base/half.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

// -- Random choices ------------------------------------------------------------------------------

uint64_t rng_next(rng *r) { // splitmix64
  uint64_t z = r->state += 0x9e3779b97f4a7c15u;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
  z = (z ^ z >> 27) * 0x94d049bb133111ebu;
  return z ^ z >> 31;
}

int64_t rng_below(rng *r, int64_t n) {
  return (int64_t)(rng_next(r) % (uint64_t)n);
}

bool rng_percent(rng *r, int percent) {
  return rng_below(r, 100) < percent;
}

uint64_t test_seed(void) {
  const char *text = getenv("LEAT_TEST_SEED");
  return text && *text ? strtoull(text, NULL, 0) : 20260101;
}

// -- Dims ----------------------------------------------------------------------------------------

static const char *const dim_names[DIM_NAMES] = {"N0", "N1", "P0", "P1", "B"};

test_dim dim_const(int64_t value) {
  return (test_dim){DIM_CONST, 0, value};
}

bool dim_same(test_dim a, test_dim b) {
  return a.name == b.name && a.times == b.times && a.plus == b.plus;
}

bool dim_is(test_dim dim, int64_t value) {
  return dim_same(dim, dim_const(value));
}

bool dim_is_positive(test_dim dim) {
  return dim.plus > 0 || (dim.name >= DIM_P0 && dim.times > 0);
}

int64_t dim_value(const program *p, test_dim dim) {
  return dim.plus + (dim.name == DIM_CONST ? 0 : dim.times * p->dims[dim.name]);
}

int64_t dim_most(test_dim dim) {
  static const int64_t most[DIM_NAMES] = {33, 33, 33, 33, 3001}; // of program_choose_dims
  return dim.plus + (dim.name == DIM_CONST ? 0 : dim.times * most[dim.name]);
}

void test_dim_print(test_dim dim, leat_text *out) {
  if (dim.name == DIM_CONST) {
    leat_text_add(out, "%" PRId64, dim.plus);
    return;
  }
  if (dim.times != 1) leat_text_add(out, "%" PRId64 "*", dim.times);
  leat_text_add(out, "%s", dim_names[dim.name]);
  if (dim.plus) leat_text_add(out, "%+" PRId64, dim.plus);
}

void test_type_print(const test_value *value, leat_text *out) {
  leat_text_add(out, "%s[", leat_dtype_name(value->dtype));
  for (int i = 0; i < value->rank; i++) {
    if (i) leat_text_add(out, ", ");
    test_dim_print(value->dims[i], out);
  }
  leat_text_add(out, "]");
}

void program_choose_dims(program *p) {
  static const int64_t any[] = {0, 1, 2, 5, 16, 17, 33}, positive[] = {1, 3, 16, 31, 33},
                       large[] = {1, 64, 1000, 3001};
  p->dims[DIM_N0] = RNG_PICK(&p->random, any);
  p->dims[DIM_N1] = RNG_PICK(&p->random, any);
  p->dims[DIM_P0] = RNG_PICK(&p->random, positive);
  p->dims[DIM_P1] = RNG_PICK(&p->random, positive);
  p->dims[DIM_B] = RNG_PICK(&p->random, large);
}

leat_status program_expected(const program *p) {
  return p->shrinks && dim_value(p, p->shrunk) < 0 ? LEAT_INVALID : p->expected;
}

// -- Building ------------------------------------------------------------------------------------

void program_init(program *p, uint64_t seed) {
  *p = (program){.arena = leat_arena_create(), .random = {seed}, .most_elements = 3000};
  p->flushes = seed * 0x9e3779b97f4a7c15 >> 63;
  program_choose_dims(p);
}

void program_finish(program *p) {
  for (uint32_t i = 0; i < p->pages.count; i++)
    munmap(p->pages.items[i].memory, p->pages.items[i].size);
  leat_text_finish(&p->declarations);
  leat_text_finish(&p->body);
  leat_arena_destroy(p->arena);
}

enum { MOST_LARGE = 40000 }; // elements of programs that have blocks of sums

static test_dim random_dim(program *p, bool nonempty) {
  static const int64_t sizes[] = {1,  2,  3,  4,  5,  7,  8,   15,  16,  17,
                                  31, 32, 33, 48, 64, 80, 100, 112, 129, 257};
  static const int64_t blocks[] = {1023, 1024, 1025, 2049, 16383, 16384, 16385, 33000}; // of sums
  if (p->symbolic && rng_percent(&p->random, 50)) {
    int first = nonempty ? DIM_P0 : DIM_N0;
    return (test_dim){first + (int)rng_below(&p->random, DIM_B - first), 1, 0};
  }
  if (!nonempty && rng_percent(&p->random, 4)) return dim_const(0);
  if (p->sizes[0]) return dim_const(RNG_PICK(&p->random, p->sizes));
  if (p->most_elements >= MOST_LARGE && rng_percent(&p->random, 30))
    return dim_const(RNG_PICK(&p->random, blocks));
  return dim_const(RNG_PICK(&p->random, sizes));
}

// A dim counts as at least 17, so that shapes with run-time dims stay small too.
static int64_t size_guess(test_dim dim) {
  return dim.name == DIM_CONST ? dim.plus : dim.name == DIM_B ? 1000 : 17;
}

int program_shape(program *p, int least_rank, int most_rank, bool nonempty, test_dim *out) {
  int rank = least_rank + (int)rng_below(&p->random, most_rank - least_rank + 1);
  int64_t elements = 1;
  for (int i = 0; i < rank; i++) {
    out[i] = random_dim(p, nonempty);
    while (elements * size_guess(out[i]) > p->most_elements)
      out[i] = dim_const(1 + rng_below(&p->random, 3));
    if (dim_value(p, out[i])) elements *= size_guess(out[i]);
  }
  bool large = p->symbolic && rank && p->most_elements >= 1000 && elements < 100;
  if (large && rng_percent(&p->random, 20)) out[0] = (test_dim){DIM_B, 1, 0};
  return rank;
}

static test_value *add_input(program *p, test_value value, test_fill fill, test_dim limit) {
  snprintf(value.name, sizeof value.name, "x%u", p->inputs.count);
  leat_vec_push(p->arena, &p->inputs, (test_input){value, fill, limit});
  leat_vec_push(p->arena, &p->values, value);
  return &p->values.items[p->values.count - 1];
}

void program_bind(program *p, test_dim dim) {
  if (dim.name == DIM_CONST || p->bound[dim.name]) return;
  p->bound[dim.name] = true;
  test_value binding = {.dtype = LEAT_u8, .rank = 1, .dims = {{dim.name, 1, 0}}, .is_input = true};
  add_input(p, binding, FILL_PLAIN, dim_const(0));
}

test_value program_input(program *p, leat_dtype dtype, int rank, const test_dim *dims,
                         test_fill fill, test_dim limit) {
  test_value value = {.dtype = dtype, .rank = rank, .bound = 1, .is_input = true};
  for (int i = 0; i < rank; i++) program_bind(p, value.dims[i] = dims[i]);
  return *add_input(p, value, fill, limit);
}

void program_fetch(program *p, const test_value *value) {
  leat_vec_push(p->arena, &p->results, (test_result){*value, p->group});
}

const char *program_denormals(const program *p) {
  return p->flushes ? "zero" : "keep";
}

static void add_body(const program *p, bool spread, leat_text *out) {
  const char *line = p->body.size ? p->body.data : "";
  for (int number = 0; *line; number++) {
    int length = (int)strcspn(line, "\n");
    bool effect = !memchr(line, '=', (size_t)length); // `:=` is on its variable's device anyway
    leat_text_add(out, "%.*s%s\n", length, line,
                  spread && number % 2 && !effect ? " on \"/device:cpu:1\"" : "");
    line += length + (line[length] == '\n');
  }
}

char *program_text(const program *p, bool spread) {
  leat_text text = {0};
  leat_text_add(&text, "graph test\n%sentry f(", p->declarations.size ? p->declarations.data : "");
  for (uint32_t i = 0; i < p->inputs.count; i++) {
    leat_text_add(&text, "%s%s: ", i ? ", " : "", p->inputs.items[i].value.name);
    test_type_print(&p->inputs.items[i].value, &text);
  }
  leat_text_add(&text, ") {\n");
  add_body(p, spread, &text);
  leat_text_add(&text, "}\n");
  char *copy = leat_arena_strndup(p->arena, text.data, text.size);
  leat_text_finish(&text);
  return copy;
}

// -- Data ----------------------------------------------------------------------------------------

static const double special_floats[] = {0.0,  -0.0, 1,   -1,  0.5,  -1.5, 3e-5,
                                        88.8, -104, 710, 1e9, -3e9, 1e19};
static const uint32_t special_f32[] = {
    0x00000000, 0x80000000, 0x7f800000, 0xff800000, // zeros, infinities
    0x7fc00000, 0xffc12345, 0x7f812345,             // NaNs, the last one signalling
    0x00000001, 0x80000001, 0x007fffff, 0x00800000, // denormals, the least normal
    0x7f7fffff, 0xff7fffff, 0x4f000000, 0xcf000000, // the largest, 2^31
};
static const uint64_t special_f64[] = {
    0x0000000000000000, 0x8000000000000000, 0x7ff0000000000000, 0xfff0000000000000,
    0x7ff8000000000000, 0xfff8000000012345, 0x7ff0000000012345, 0x0000000000000001,
    0x8000000000000001, 0x000fffffffffffff, 0x0010000000000000, 0x7fefffffffffffff,
    0xffefffffffffffff, 0x43e0000000000000, 0xc3e0000000000000,
};

static double unit_float(rng *r) {
  return (double)(int64_t)rng_next(r) * 0x1p-63;
}

// Random significands of exponents -6 to 6.
static double plain_float(rng *r) {
  return unit_float(r) * (double)(1 << rng_below(r, 13)) * 0x1p-6;
}

static uint64_t any_integer(rng *r, size_t size) {
  uint64_t least = 1ull << (8 * size - 1), small = (uint64_t)(rng_below(r, 80) - 10);
  const uint64_t specials[] = {0,         1,         (uint64_t)-1, least,
                               least - 1, least + 1, 8 * size,     8 * size - 1};
  int64_t kind = rng_below(r, 4);
  return kind == 0 ? RNG_PICK(r, specials) : kind == 1 ? small : rng_next(r);
}

static void fill_f32(rng *r, test_fill fill, float *out) {
  int64_t kind = fill == FILL_ANY ? rng_below(r, 4) : 3;
  uint32_t bits = kind == 0 ? RNG_PICK(r, special_f32) : (uint32_t)rng_next(r);
  if (kind < 2)
    memcpy(out, &bits, sizeof bits);
  else
    *out = (float)(kind == 2           ? RNG_PICK(r, special_floats)
                   : fill == FILL_UNIT ? unit_float(r)
                                       : plain_float(r));
}

static void fill_f64(rng *r, test_fill fill, double *out) {
  int64_t kind = fill == FILL_ANY ? rng_below(r, 4) : 3;
  uint64_t bits = kind == 0 ? RNG_PICK(r, special_f64) : rng_next(r);
  if (kind < 2)
    memcpy(out, &bits, sizeof bits);
  else
    *out = kind == 2           ? RNG_PICK(r, special_floats)
           : fill == FILL_UNIT ? unit_float(r)
                               : plain_float(r);
}

static uint64_t integer_of(program *p, const test_input *input, size_t size) {
  rng *r = &p->random;
  switch (input->fill) {
  case FILL_INDEX: return (uint64_t)rng_below(r, dim_value(p, input->limit));
  case FILL_NEAR: return (uint64_t)(rng_below(r, dim_value(p, input->limit) + 4) - 2);
  case FILL_UNIT: return (uint64_t)(rng_below(r, 3) - 1);
  case FILL_PLAIN: return (uint64_t)(rng_below(r, 201) - 100);
  case FILL_ANY: break;
  }
  return any_integer(r, size);
}

static void fill_half(rng *r, test_fill fill, leat_dtype dtype, uint16_t *out) {
  int64_t kind = fill == FILL_ANY ? rng_below(r, 3) : 2;
  *out = kind == 0   ? (uint16_t)rng_next(r)
         : kind == 1 ? leat_half_of(dtype, RNG_PICK(r, special_floats))
                     : leat_half_of(dtype, fill == FILL_UNIT ? unit_float(r) : plain_float(r));
}

static void fill_word(program *p, const test_input *input, leat_dtype dtype, void *out) {
  size_t size = leat_dtype_size(dtype);
  if (dtype == LEAT_f32) {
    fill_f32(&p->random, input->fill, out);
  } else if (dtype == LEAT_f64) {
    fill_f64(&p->random, input->fill, out);
  } else if (leat_dtype_is_half(dtype)) {
    fill_half(&p->random, input->fill, dtype, out);
  } else {
    bool truth = dtype == LEAT_bool;
    uint64_t bits = truth ? rng_next(&p->random) & 1 : integer_of(p, input, size);
    memcpy(out, &bits, size);
  }
}

// Empty, with NULs, of any bytes, of few different letters; seldom large.
static leat_str any_string(program *p) {
  static const leat_str special[] = {{NULL, 0},     {"", 0},         {"\0", 1},       {"a\0b", 3},
                                     {"a", 1},      {"AbC", 3},      {" \t x \n", 6}, {",", 1},
                                     {"a,b,,c", 6}, {"\xff\xc3", 2}, {"\xc3\xa9", 2}};
  if (rng_percent(&p->random, 50)) return RNG_PICK(&p->random, special);
  int64_t size = rng_below(&p->random, rng_percent(&p->random, 1) ? 3000 : 12);
  bool few = size < 12 && rng_percent(&p->random, 70); // so that pieces between commas are few
  char *bytes = leat_arena_alloc(p->arena, (size_t)size + 1);
  for (int64_t i = 0; i < size; i++)
    bytes[i] = (char)(few ? "ab, "[rng_below(&p->random, 4)] : rng_below(&p->random, 256));
  return (leat_str){bytes, (uint64_t)size};
}

static void fill_element(program *p, const test_input *input, char *out) {
  leat_dtype dtype = input->value.dtype, word = dtype;
  if (dtype == LEAT_str) {
    *(leat_str *)(void *)out = any_string(p);
    return;
  }
  if (leat_dtype_kind_of(dtype) == LEAT_KIND_COMPLEX)
    word = dtype == LEAT_c64 ? LEAT_f32 : LEAT_f64;
  for (size_t at = 0; at < leat_dtype_size(dtype); at += leat_dtype_size(word))
    fill_word(p, input, word, out + at);
}

// So many bytes that end where a page begins that nobody may touch.
static void *guarded(program *p, size_t bytes) {
  size_t page = (size_t)sysconf(_SC_PAGESIZE), size = (bytes + page - 1) / page * page;
  char *memory =
      mmap(NULL, size + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED || mprotect(memory + size, page, PROT_NONE)) perror("mmap"), abort();
  leat_vec_push(p->arena, &p->pages, ((test_pages){memory, size + page}));
  return memory + size - bytes;
}

leat_tensor *program_feeds(program *p) {
  leat_tensor *feeds = leat_new_array(p->arena, leat_tensor, p->inputs.count + 1);
  for (uint32_t i = 0; i < p->inputs.count; i++) {
    const test_input *input = &p->inputs.items[i];
    leat_tensor *feed = &feeds[i];
    *feed = (leat_tensor){.dtype = input->value.dtype, .rank = input->value.rank};
    for (int k = 0; k < feed->rank; k++) feed->shape[k] = dim_value(p, input->value.dims[k]);
    int64_t bytes = leat_tensor_bytes(feed), size = (int64_t)leat_dtype_size(feed->dtype);
    feed->data = guarded(p, (size_t)bytes);
    for (int64_t at = 0; at < bytes; at += size) fill_element(p, input, (char *)feed->data + at);
  }
  return feeds;
}
