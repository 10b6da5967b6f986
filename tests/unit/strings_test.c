// Strings: what base/str.h computes, packed and in files, whole and damaged; through the public API
// as feeds, results and variables; and that state of str does not leak.
#include "base/safetensors.h"
#include "base/str.h"
#include "base/tensor.h"
#include "leat/leat.h"
#include "tests/unit/opened.h"
#include "tests/unit/scratch.h"

#include <stdlib.h>
#include <unistd.h>

#define S(text) ((leat_str){(text), sizeof(text) - 1})

static const leat_str odd[] = {{NULL, 0}, {"", 0}, {"a\0b", 3}, {"\xff\xc3\x28", 3}, {"\0", 1}};
enum { ODD = sizeof odd / sizeof *odd };

static bool same(leat_str a, leat_str b) {
  return leat_str_compare(a, b) == 0;
}

// -- Packed ---------------------------------------------------------------------------------------

TEST(packed_strings_come_back) {
  leat_tensor tensor = {LEAT_str, 1, {ODD}, (void *)(uintptr_t)odd}, back = tensor;
  uint64_t size = leat_tensor_packed_size(&tensor);
  CHECK_EQ_INT(size, ODD * sizeof(uint64_t) + 7);
  char *packed = malloc(size);
  leat_tensor_pack(&tensor, packed);
  CHECK_EQ_INT(leat_tensor_unpack(&back, packed, size), LEAT_OK);
  for (int i = 0; back.data && i < ODD; i++) CHECK(same(((leat_str *)back.data)[i], odd[i]));
  free(back.data);
  for (uint64_t cut = 0; cut < size; cut++)
    CHECK_EQ_INT(leat_tensor_unpack(&back, packed, cut), LEAT_MISMATCH);
  for (int bit = 0; bit < 64; bit++) { // another size of the third
    packed[2 * sizeof(uint64_t) + (size_t)bit / 8] ^= (char)(1 << bit % 8);
    CHECK_EQ_INT(leat_tensor_unpack(&back, packed, size), LEAT_MISMATCH);
    CHECK(!back.data);
    packed[2 * sizeof(uint64_t) + (size_t)bit / 8] ^= (char)(1 << bit % 8);
  }
  free(packed);
}

TEST(sizes_that_overflow_are_seen) {
  leat_str huge[] = {{"", UINT64_MAX - 1}, {"", 3}};
  CHECK(leat_strs_bytes(huge, 1) == UINT64_MAX);
  CHECK(leat_strs_bytes(huge, 2) == UINT64_MAX);
  CHECK(leat_strs_packed_size(huge, 2) == UINT64_MAX);
}

// -- Searching ------------------------------------------------------------------------------------

static bool is_at(leat_str a, leat_str part, int64_t at) {
  if (at + (int64_t)part.size > (int64_t)a.size) return false;
  return !part.size || !memcmp(a.data + at, part.data, part.size);
}

// All strings of up to five letters, and all parts of up to two.
TEST(searching_is_looking_everywhere) {
  char letters[2][8];
  for (int n = 0; n < 6 * 32; n++) {
    for (int m = 0; m < 3 * 4; m++) {
      leat_str a = {letters[0], (uint64_t)(n / 32)}, part = {letters[1], (uint64_t)(m / 4)};
      for (uint64_t i = 0; i < a.size; i++) letters[0][i] = "ab"[n >> i & 1];
      for (uint64_t i = 0; i < part.size; i++) letters[1][i] = "ab"[m >> i & 1];
      int64_t first = -1, last = -1, count = 0, end = 0;
      for (int64_t at = 0; at <= (int64_t)a.size; at++) {
        if (!is_at(a, part, at)) continue;
        if (first < 0) first = at;
        last = at;
        if (at >= end) count++, end = at + (int64_t)part.size;
      }
      CHECK_EQ_INT(leat_str_find(a, part, 0), first);
      CHECK_EQ_INT(leat_str_rfind(a, part), last);
      CHECK_EQ_INT(leat_str_count(a, part), count);
      CHECK_EQ_INT(leat_str_starts_with(a, part), is_at(a, part, 0));
      CHECK_EQ_INT(leat_str_ends_with(a, part),
                   last + (int64_t)part.size == (int64_t)a.size && last >= 0);
      leat_str pieces[8];
      leat_text joined = {0};
      int64_t found = leat_str_split(a, part, pieces, 8);
      CHECK_EQ_INT(found, part.size ? count + 1 : 0);
      if (found) leat_str_join(pieces, found, 1, part, &joined);
      if (found) CHECK(same((leat_str){joined.data, joined.size}, a));
      leat_text_finish(&joined);
    }
  }
}

// What is too long for the address space is not begun: the bytes of these are not there.
TEST(what_is_too_long_is_refused) {
  leat_str x = {"", UINT64_C(1) << 40}, none = {0};
  const void *inputs[] = {&x, &none, &x};
  leat_str far[] = {{"", 0}, {"", PTRDIFF_MAX}};
  leat_text made = {0};
  CHECK(!leat_str_make(LEAT_STR_REPLACE, LEAT_str, inputs, 0, &made));
  CHECK(!leat_str_make(LEAT_STR_CONCAT, LEAT_str, (const void *[]){far, far + 1}, 0, &made));
  CHECK(!leat_str_join(far, 2, 1, none, &made));
  CHECK_EQ_INT(made.size, 0);
  leat_text_finish(&made);
}

// -- Files ----------------------------------------------------------------------------------------

static leat_status open_pair(uint64_t *sizes, int64_t count, leat_dtype bytes, leat_error *error) {
  char path[SCRATCH_PATH];
  leat_safetensors file;
  leat_named_tensor pair[] = {{"v#sizes", {LEAT_u64, 1, {count}, sizes}},
                              {"v#bytes", {bytes, 1, {4}, "abcdefghijklmnop"}}};
  scratch_path(path, "pair.safetensors");
  CHECK_EQ_INT(leat_safetensors_write(path, pair, 2, NULL, 0, error), LEAT_OK);
  leat_status status = leat_safetensors_open(&file, path, error);
  if (status) return status;
  const leat_tensor *v = leat_safetensors_find(&file, "v");
  CHECK(!v == (bytes != LEAT_u8));
  CHECK_EQ_INT(file.count, v ? 1 : 2);
  if (v) CHECK(v->dtype == LEAT_str && same(((leat_str *)v->data)[0], S("a")));
  leat_safetensors_close(&file);
  return LEAT_OK;
}

TEST(pairs_in_files_are_strings) {
  leat_error error = {0};
  uint64_t right[] = {1, 3}, few[] = {1, 2}, many[] = {1, 4}, huge[] = {5, UINT64_MAX};
  CHECK_EQ_INT(open_pair(right, 2, LEAT_u8, &error), LEAT_OK);
  CHECK_EQ_INT(open_pair(right, 2, LEAT_f32, &error), LEAT_OK);
  CHECK_EQ_INT(open_pair(few, 2, LEAT_u8, &error), LEAT_INVALID);
  CHECK(strstr(error.message, "the sizes in tensor 'v#sizes' are not those of its bytes"));
  CHECK_EQ_INT(open_pair(many, 2, LEAT_u8, &error), LEAT_INVALID);
  CHECK_EQ_INT(open_pair(huge, 2, LEAT_u8, &error), LEAT_INVALID);
}

// -- The public API -------------------------------------------------------------------------------

static const char *const targets[] = {"cpu", "ref"};

TEST(odd_and_huge_strings_go_in_and_out) {
  enum { HUGE_SIZE = 32 << 20 };
  char *large = malloc(HUGE_SIZE);
  memset(large, 'x', HUGE_SIZE);
  for (int t = 0; t < 2; t++) {
    leat_session *session = open_session("dim N in 0..100\n"
                                         "entry f(x: str[N]) -> (y: str[N], n: i64[N]) {\n"
                                         "  y = concat([x, x[:0]], axis=0)\n"
                                         "  n = str_length(y + \"!\")\n"
                                         "}\n",
                                         targets[t]);
    leat_step *step = prepare(session, "f");
    leat_str given[ODD + 1];
    memcpy(given, odd, sizeof odd);
    given[ODD] = (leat_str){large, HUGE_SIZE};
    leat_tensor feed = {LEAT_str, 1, {ODD + 1}, given}, out[2];
    CHECK_EQ_INT(leat_step_run(step, &feed, out), LEAT_OK);
    memset(given, 0xee, sizeof given); // results are not the client's memory
    const leat_str *y = out[0].data;
    for (int i = 0; i < ODD; i++) {
      CHECK(same(y[i], odd[i]));
      CHECK_EQ_INT(((int64_t *)out[1].data)[i], odd[i].size + 1);
    }
    CHECK(y[ODD].size == HUGE_SIZE && y[ODD].data != large &&
          !memcmp(y[ODD].data, large, HUGE_SIZE));
    feed = (leat_tensor){LEAT_str, 1, {0}, given};
    CHECK_EQ_INT(leat_step_run(step, &feed, out), LEAT_OK);
    CHECK_EQ_INT(out[0].shape[0], 0);
    leat_step_destroy(step);
    leat_session_destroy(session);
  }
  free(large);
}

TEST(variables_are_read_and_written_by_name) {
  char path[SCRATCH_PATH];
  scratch_path(path, "state.safetensors");
  for (int t = 0; t < 2; t++) {
    leat_session *session =
        open_session("var v: str[5] = \"begin\"\n"
                     "entry f() -> (y: str[5]) {\n  v := v + \"\\x00\"\n  y = v\n}\n",
                     targets[t]);
    leat_tensor value = {LEAT_str, 1, {ODD}, (void *)(uintptr_t)odd}, read, out;
    CHECK_EQ_INT(leat_variable_read(session, "v", &read), LEAT_OK);
    CHECK(same(((leat_str *)read.data)[4], S("begin")));
    free(read.data);
    CHECK_EQ_INT(leat_variable_write(session, "v", &value), LEAT_OK);
    CHECK_EQ_INT(leat_variable_read(session, "v", &read), LEAT_OK);
    for (int i = 0; i < ODD; i++) CHECK(same(((leat_str *)read.data)[i], odd[i]));
    free(read.data);
    leat_step *step = prepare(session, "f");
    CHECK_EQ_INT(leat_step_run(step, NULL, &out), LEAT_OK);
    CHECK(same(((leat_str *)out.data)[2], S("a\0b\0")));
    CHECK_EQ_INT(leat_session_save(session, path), LEAT_OK);
    CHECK_EQ_INT(leat_variable_write(session, "v", &value), LEAT_OK);
    CHECK_EQ_INT(leat_session_restore(session, path), LEAT_OK);
    CHECK_EQ_INT(leat_variable_read(session, "v", &read), LEAT_OK);
    CHECK(same(((leat_str *)read.data)[3], S("\xff\xc3\x28\0")));
    free(read.data);
    value.shape[0] = 1;
    CHECK_EQ_INT(leat_variable_write(session, "v", &value), LEAT_INVALID);
    leat_step_destroy(step);
    leat_session_destroy(session);
  }
}

// -- Memory ---------------------------------------------------------------------------------------

static long resident_pages(void) {
  long all = 0, resident = 0;
  FILE *file = fopen("/proc/self/statm", "r");
  if (file && fscanf(file, "%ld %ld", &all, &resident) != 2) resident = 0;
  if (file) fclose(file);
  return resident;
}

// State that grows and shrinks in every step: 100,000 steps in the memory of the first 10,000.
TEST(state_of_strings_does_not_leak) {
  bool slow = getenv("LEAT_SANITIZED") != NULL; // the leak checker looks, too
  int steps = slow ? 5000 : 100000, settled = steps / 10;
  leat_session *session = open_session("var v: str[4] = \"v\"\n"
                                       "entry f(x: str[4]) -> (n: i64[4]) {\n"
                                       "  v := where(str_length(v) > 2000, x, v + x + x[::-1])\n"
                                       "  n = str_length(v)\n"
                                       "}\n",
                                       "cpu");
  leat_step *step = prepare(session, "f");
  static const char letters[300] = {'a'};
  long before = 0;
  for (int i = 0; i < steps; i++) {
    leat_str given[4];
    for (int k = 0; k < 4; k++) given[k] = (leat_str){letters, (uint64_t)((i * 7 + k * 31) % 300)};
    leat_tensor feed = {LEAT_str, 1, {4}, given}, out;
    if (leat_step_run(step, &feed, &out)) CHECK_FAILED("%s", leat_session_message(session));
    if (i == settled) before = resident_pages();
  }
  long grown = (resident_pages() - before) * sysconf(_SC_PAGESIZE);
  if (!slow && grown > 4 << 20) CHECK_FAILED("%ld bytes more after %d steps", grown, steps);
  leat_step_destroy(step);
  leat_session_destroy(session);
}

CHECK_MAIN("strings")
