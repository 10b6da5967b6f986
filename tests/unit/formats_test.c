// .npy and .safetensors: what is written is read back; every prefix and every damaged byte of a
// valid file gives an error or a valid reading, never a crash (run this under the sanitizers).
#include "base/npy.h"
#include "base/philox.h"
#include "base/safetensors.h"
#include "base/str.h"
#include "tests/unit/check.h"
#include "tests/unit/scratch.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>

// A file in memory, malloc'ed to its exact size so that the sanitizer sees any step beyond it.
static unsigned char *make_file(const char *prefix, size_t prefix_size, const char *header,
                                const void *data, size_t data_size, size_t *out_size) {
  leat_text text = {0};
  leat_text_add_n(&text, prefix, prefix_size);
  leat_text_add(&text, "%s", header);
  leat_text_add_n(&text, data, data_size);
  *out_size = text.size;
  return realloc(leat_text_take(&text), *out_size); // without the terminator
}

static leat_status parse_npy_of(const char *dict, const void *data, size_t data_size,
                                leat_tensor *out, leat_error *error) {
  char prefix[] = "\x93NUMPY\1\0..";
  size_t length = strlen(dict), size;
  prefix[8] = (char)(length & 0xff);
  prefix[9] = (char)(length >> 8);
  unsigned char *file = make_file(prefix, 10, dict, data, data_size, &size);
  leat_npy npy;
  leat_status status = leat_npy_parse(&npy, file, size, error);
  *out = npy.tensor;
  leat_npy_close(&npy);
  free(file);
  return status;
}

static leat_status parse_npy(const char *dict, size_t data_size, leat_tensor *out,
                             leat_error *error) {
  static const char data[64] = {0};
  return parse_npy_of(dict, data, data_size, out, error);
}

TEST(npy_writes_what_it_reads) {
  static const leat_dtype dtypes[] = {LEAT_bool, LEAT_i8,  LEAT_i16, LEAT_i32, LEAT_i64,
                                      LEAT_u8,   LEAT_u16, LEAT_u32, LEAT_u64, LEAT_f16,
                                      LEAT_f32,  LEAT_f64, LEAT_c64, LEAT_c128};
  char path[SCRATCH_PATH], data[24 * 16] = {0};
  scratch_path(path, "t.npy");
  for (size_t i = 0; i < sizeof data; i++) data[i] = (char)(i % 2);
  for (size_t d = 0; d < sizeof dtypes / sizeof *dtypes; d++) {
    for (int32_t rank = 0; rank <= LEAT_MAX_RANK; rank++) {
      leat_error error = {0};
      leat_npy npy;
      leat_tensor tensor = {dtypes[d], rank, {2, 3, 4, 1, 1, 1, 1, 1}, data};
      CHECK_EQ_INT(leat_npy_write(path, &tensor, &error), LEAT_OK);
      CHECK_EQ_INT(leat_npy_open(&npy, path, &error), LEAT_OK);
      CHECK_EQ_STR(error.message, "");
      CHECK_EQ_INT(npy.tensor.dtype, tensor.dtype);
      CHECK_EQ_INT(npy.tensor.rank, rank);
      CHECK(memcmp(npy.tensor.shape, tensor.shape, (size_t)rank * sizeof *tensor.shape) == 0);
      CHECK(memcmp(npy.tensor.data, data, (size_t)leat_tensor_bytes(&tensor)) == 0);
      CHECK_EQ_INT(((const unsigned char *)npy.tensor.data - npy.file.data) % 64, 0);
      leat_npy_close(&npy);
    }
  }
}

TEST(npy_header_is_numpys) {
  leat_text header = {0};
  leat_tensor tensor = {.dtype = LEAT_f32, .rank = 1, .shape = {3}};
  leat_npy_add_header(&header, &tensor);
  CHECK_EQ_INT(header.size, 128);
  CHECK(memcmp(header.data, "\x93NUMPY\1\0v\0", 10) == 0);
  CHECK(strncmp(header.data + 10, "{'descr': '<f4', 'fortran_order': False, 'shape': (3,), }  ",
                59) == 0);
  CHECK_EQ_INT(header.data[127], '\n');
  leat_text_finish(&header);
}

TEST(npy_accepts_the_forms_numpy_writes) {
  leat_tensor t;
  CHECK_EQ_INT(parse_npy("{'descr': '|b1', 'fortran_order': False, 'shape': (), }\n", 1, &t, NULL),
               0);
  CHECK(t.dtype == LEAT_bool && t.rank == 0);
  CHECK_EQ_INT(
      parse_npy("{\"shape\":(2L,3L),\"fortran_order\":False,\"descr\":\"<i4\"}", 24, &t, NULL), 0);
  CHECK(t.rank == 2 && t.shape[0] == 2 && t.shape[1] == 3);
  CHECK_EQ_INT(parse_npy("{'descr': '<f8', 'fortran_order': True, 'shape': (2,), }", 16, &t, NULL),
               0);
  CHECK_EQ_INT(
      parse_npy("{'descr': '>u1', 'fortran_order': False, 'shape': (0, 5), }", 0, &t, NULL), 0);
  static const char dict[] = "{'descr': '<u2', 'fortran_order': False, 'shape': (2,), }\n";
  for (char version = 2; version <= 3; version++) {
    size_t size;
    char prefix[] = {'\x93', 'N', 'U', 'M', 'P', 'Y', version, 0, sizeof dict - 1, 0, 0, 0};
    unsigned char *file = make_file(prefix, sizeof prefix, dict, "abcd", 4, &size);
    leat_npy npy;
    CHECK_EQ_INT(leat_npy_parse(&npy, file, size, NULL), LEAT_OK);
    CHECK(memcmp(npy.tensor.data, "abcd", 4) == 0);
    leat_npy_close(&npy);
    free(file);
  }
}

static void check_npy_refused(const char *dict, size_t data_size, const char *reason) {
  leat_tensor t;
  leat_error error = {0};
  CHECK(parse_npy(dict, data_size, &t, &error) != LEAT_OK);
  if (!strstr(error.message, reason))
    CHECK_FAILED("%s: '%s' lacks '%s'", dict, error.message, reason);
}

TEST(npy_text_is_unicode) {
  static const struct {
    uint32_t point;
    bool right;
  } cases[] = {{0xd7ff, true}, {0xd800, false},  {0xdfff, false},
               {0xe000, true}, {0x10ffff, true}, {0x110000, false}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    leat_tensor t;
    leat_error error = {0};
    uint32_t text[] = {'a', cases[i].point};
    leat_status status = parse_npy_of("{'descr': '<U1', 'fortran_order': False, 'shape': (2,), }",
                                      text, sizeof text, &t, &error);
    CHECK_EQ_INT(status, cases[i].right ? LEAT_OK : LEAT_INVALID);
    CHECK_EQ_STR(error.message, cases[i].right ? "" : "element 1 of the npy text is not Unicode");
  }
}

TEST(npy_refuses_with_a_reason) {
  check_npy_refused("{'descr': '>f4', 'fortran_order': False, 'shape': (2,), }", 8, "big-endian");
  check_npy_refused("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,), }", 4,
                    "records");
  check_npy_refused("{'descr': '>U7', 'fortran_order': False, 'shape': (1,), }", 28, "'>U7'");
  check_npy_refused("{'descr': '<U0', 'fortran_order': False, 'shape': (9,), }", 0, "'<U0'");
  check_npy_refused("{'descr': '<U7', 'fortran_order': False, 'shape': (2,), }", 28, "needs 56");
  check_npy_refused("{'descr': '|O', 'fortran_order': False, 'shape': (1,), }", 8, "'|O'");
  check_npy_refused("{'descr': '', 'fortran_order': False, 'shape': (1,), }", 8, "dtype ''");
  check_npy_refused("{'descr': '<f4', 'shape': (1,), }", 4, "is not a dict of");
  check_npy_refused("{'descr': '<f4', 'descr': '<f4', 'shape': (1,), }", 4, "repeated key");
  check_npy_refused("{'descr': '<f4', 'fortran_order': 0, 'shape': (1,), }", 4, "True or False");
  check_npy_refused("{'descr': '<f4', 'fortran_order': False, 'shape': (-1,), }", 4,
                    "tuple of sizes");
  check_npy_refused("{'descr': '<f4', 'fortran_order': False, 'shape': 1}", 4, "lacks a '('");
  check_npy_refused("{'descr': '<f4', 'fortran_order': False, 'shape': (1,)} x", 4, "not a dict");
  check_npy_refused("{'descr': '<f4', 'fortran_order': False, 'shape': (1,1,1,1,1,1,1,1,1)}", 4,
                    "more than 8 dimensions");
  check_npy_refused("{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,)}", 4,
                    "too large");
  check_npy_refused("{'descr': '<f4', 'fortran_order': False, 'shape': (4611686018427387904, 2)}",
                    4, "too large");
  check_npy_refused("{'descr': '<f4', 'fortran_order': False, 'shape': (3,)}", 8, "needs 12");
  check_npy_refused("{'descr': '<f4', 'fortran_order': False, 'shape': (3,)}", 16, "needs 12");
}

static void check_strings_come_back(const leat_str *strings, int64_t count, const char *dtype) {
  leat_error error = {0};
  leat_npy npy;
  char path[SCRATCH_PATH];
  leat_tensor tensor = {.dtype = LEAT_str, .rank = 1, .shape = {count}, .data = (void *)strings};
  scratch_path(path, "strings.npy");
  CHECK_EQ_INT(leat_npy_write(path, &tensor, &error), LEAT_OK);
  CHECK_EQ_INT(leat_npy_open(&npy, path, &error), LEAT_OK);
  CHECK(memmem(npy.file.data, 64, dtype, strlen(dtype)) != NULL);
  CHECK_EQ_INT(npy.tensor.dtype, LEAT_str);
  CHECK_EQ_INT(npy.tensor.shape[0], count);
  const leat_str *back = npy.tensor.data;
  for (int64_t i = 0; i < count; i++) CHECK(leat_str_compare(back[i], strings[i]) == 0);
  leat_npy_close(&npy);
}

TEST(npy_holds_strings) {
  leat_str strings[] = {{"a", 1}, {NULL, 0}, {"b\0c\xff", 4}};
  leat_str words[] = {{"é€", 5}, {"", 0}, {"\xf0\x9f\x98\x80 \0b", 7}, {"\xf4\x8f\xbf\xbf", 4}};
  check_strings_come_back(strings, 3, "'|S4'");
  check_strings_come_back(strings, 2, "'<U1'");
  check_strings_come_back(strings + 1, 1, "'<U1'");
  check_strings_come_back(NULL, 0, "'<U1'");
  check_strings_come_back(words, 4, "'<U4'");
}

TEST(npy_errors_name_the_file) {
  leat_error error = {0};
  leat_npy npy;
  char path[SCRATCH_PATH];
  scratch_path(path, "garbage.npy");
  CHECK_EQ_INT(leat_file_write(path, &(leat_bytes){"garbage!!", 9}, 1, LEAT_FILE_ATOMIC, &error),
               0);
  CHECK_EQ_INT(leat_npy_open(&npy, path, &error), LEAT_INVALID);
  CHECK(strstr(error.message, "garbage.npy': not an npy file") != NULL);
  scratch_path(path, "absent.npy");
  CHECK_EQ_INT(leat_npy_open(&npy, path, NULL), LEAT_NOT_FOUND);
}

static unsigned char *make_safetensors(const char *header, size_t data_size, size_t *out_size) {
  static const char data[16] = {0};
  char prefix[8] = {0};
  prefix[0] = (char)(strlen(header) & 0xff);
  prefix[1] = (char)(strlen(header) >> 8);
  return make_file(prefix, sizeof prefix, header, data, data_size, out_size);
}

static void check_safetensors_refused(const char *header, size_t data_size, const char *reason) {
  size_t size;
  leat_error error = {0};
  leat_safetensors file;
  unsigned char *bytes = make_safetensors(header, data_size, &size);
  CHECK(leat_safetensors_parse(&file, bytes, size, &error) != LEAT_OK);
  if (!strstr(error.message, reason))
    CHECK_FAILED("%s: '%s' lacks '%s'", header, error.message, reason);
  leat_safetensors_close(&file); // harmless after a failure
  free(bytes);
}

static const float weights[6] = {1, 2, 3, 4, 5, 6};
static const int64_t steps[1] = {7};
static const unsigned char flags[3] = {1, 0, 1};

static const leat_named_tensor tensors[] = {
    {"flags", {LEAT_bool, 1, {3}, (void *)flags}},
    {"layer/W \"\\\n\xc3\xa4", {LEAT_f32, 2, {2, 3}, (void *)weights}},
    {"empty", {LEAT_f32, 2, {0, 3}, NULL}},
    {"step", {LEAT_i64, 0, {0}, (void *)steps}},
    {"also empty", {LEAT_u8, 1, {0}, NULL}},
};

static const leat_metadata metadata[] = {{"version", "1"}, {"format", "leat\t{}"}};

enum { TENSORS = sizeof tensors / sizeof *tensors };

static void write_example(char path[SCRATCH_PATH]) {
  leat_error error = {0};
  scratch_path(path, "t.safetensors");
  CHECK_EQ_INT(leat_safetensors_write(path, tensors, TENSORS, metadata, 2, &error), LEAT_OK);
  CHECK_EQ_STR(error.message, "");
}

TEST(safetensors_writes_what_it_reads) {
  char path[SCRATCH_PATH];
  leat_error error = {0};
  leat_safetensors file;
  write_example(path);
  CHECK_EQ_INT(leat_safetensors_open(&file, path, &error), LEAT_OK);
  CHECK_EQ_STR(error.message, "");
  CHECK_EQ_INT(file.count, TENSORS);
  for (size_t i = 0; i < TENSORS; i++) {
    const leat_tensor *wanted = &tensors[i].tensor;
    const leat_tensor *found = leat_safetensors_find(&file, tensors[i].name);
    if (!found) {
      CHECK_FAILED("'%s' is not found", tensors[i].name);
      continue;
    }
    CHECK(found->dtype == wanted->dtype && found->rank == wanted->rank);
    CHECK(memcmp(found->shape, wanted->shape, sizeof found->shape) == 0);
    CHECK_EQ_INT((uintptr_t)found->data % leat_dtype_size(found->dtype), 0);
    if (wanted->data)
      CHECK(memcmp(found->data, wanted->data, (size_t)leat_tensor_bytes(wanted)) == 0);
  }
  CHECK(leat_safetensors_find(&file, "absent") == NULL);
  CHECK_EQ_INT((int)file.metadata_count, 2);
  CHECK_EQ_STR(file.metadata[0].key, "format");
  CHECK_EQ_STR(file.metadata[0].value, "leat\t{}");
  leat_safetensors_close(&file);
}

TEST(safetensors_bytes_do_not_depend_on_the_order_given) {
  char path[SCRATCH_PATH], *first, *second;
  size_t first_size, second_size;
  leat_named_tensor reversed[TENSORS];
  for (size_t i = 0; i < TENSORS; i++) reversed[i] = tensors[TENSORS - 1 - i];
  write_example(path);
  CHECK_EQ_INT(leat_file_read(path, 10000, &first, &first_size, NULL), LEAT_OK);
  CHECK_EQ_INT(leat_safetensors_write(path, reversed, TENSORS, metadata, 2, NULL), LEAT_OK);
  CHECK_EQ_INT(leat_file_read(path, 10000, &second, &second_size, NULL), LEAT_OK);
  CHECK(first_size == second_size && memcmp(first, second, first_size) == 0);
  free(first);
  free(second);
}

TEST(safetensors_accepts_any_valid_json) {
  size_t size;
  leat_safetensors file;
  leat_error error = {0};
  unsigned char *bytes = make_safetensors(
      "{ \"\\u0061\\u007f\\u0080\\u07ff\\u0800\\ud7ff\\ue000\\uffff\\ud800\\udc00\\udbff"
      "\\udfff\\/\" :\n{\"shape\":[ 2 ],\t\"data_offsets\":[0,4],\"dtype\":\"BF16\"}, "
      "\"__metadata__\" : { } }   ",
      4, &size);
  CHECK_EQ_INT(leat_safetensors_parse(&file, bytes, size, &error), LEAT_OK);
  CHECK_EQ_STR(error.message, "");
  const leat_tensor *tensor =
      leat_safetensors_find(&file, "a\x7f\xc2\x80\xdf\xbf\xe0\xa0\x80\xed\x9f\xbf\xee\x80\x80"
                                   "\xef\xbf\xbf\xf0\x90\x80\x80\xf4\x8f\xbf\xbf/");
  CHECK(tensor && tensor->dtype == LEAT_bf16 && tensor->shape[0] == 2);
  leat_safetensors_close(&file);
  free(bytes);
  bytes = make_safetensors("{}", 0, &size);
  CHECK_EQ_INT(leat_safetensors_parse(&file, bytes, size, &error), LEAT_OK);
  CHECK_EQ_INT(file.count, 0);
  CHECK(leat_safetensors_find(&file, "a") == NULL);
  leat_safetensors_close(&file);
  free(bytes);
}

#define TENSOR(dtype, shape, offsets)                                                              \
  "{\"dtype\":\"" dtype "\",\"shape\":" shape ",\"data_offsets\":" offsets "}"

TEST(safetensors_refuses_with_a_reason) {
  check_safetensors_refused("{\"a\":" TENSOR("F32", "[2]", "[0,4]") "}", 4, "do not need");
  check_safetensors_refused("{\"a\":" TENSOR("F32", "[2]", "[0,8]") "}", 4, "outside the file");
  check_safetensors_refused("{\"a\":" TENSOR("F32", "[2]", "[8,0]") "}", 8, "outside the file");
  check_safetensors_refused("{\"a\":" TENSOR("F32", "[2]", "[0,8]") "}", 9, "belong to no tensor");
  check_safetensors_refused("{\"a\":" TENSOR("F32", "[1]", "[4,8]") "}", 8, "leaves a hole");
  check_safetensors_refused(
      "{\"a\":" TENSOR("F32", "[1]", "[0,4]") ",\"b\":" TENSOR("F32", "[1]", "[0,4]") "}", 4,
      "overlaps");
  check_safetensors_refused(
      "{\"a\":" TENSOR("F32", "[1]", "[0,4]") ",\"a\":" TENSOR("F32", "[1]", "[4,8]") "}", 8,
      "'a' comes twice");
  check_safetensors_refused("{\"__metadata__\":{\"k\":\"1\",\"k\":\"2\"}}", 0, "'k' comes twice");
  check_safetensors_refused("{\"__metadata__\":{},\"__metadata__\":{}}", 0, "twice");
  check_safetensors_refused("{\"__metadata__\":{\"k\":1}}", 0, "lacks a '\"'");
  check_safetensors_refused("{\"a\":" TENSOR("F8_E4M3", "[1]", "[0,1]") "}", 1, "F8_E4M3");
  check_safetensors_refused("{\"a\":" TENSOR("F32", "[1.5]", "[0,4]") "}", 4, "lacks a ']'");
  check_safetensors_refused("{\"a\":" TENSOR("F32", "[01]", "[0,4]") "}", 4, "lacks a size");
  check_safetensors_refused("{\"a\":" TENSOR("F32", "[-1]", "[0,4]") "}", 4, "lacks a size");
  check_safetensors_refused("{\"a\":" TENSOR("F32", "[99999999999999999999]", "[0,4]") "}", 4,
                            "too large");
  check_safetensors_refused("{\"a\":" TENSOR("F32", "[1,1,1,1,1,1,1,1,1]", "[0,4]") "}", 4,
                            "more than 8");
  check_safetensors_refused("{\"a\":" TENSOR("F32", "[1]", "[0]") "}", 4, "two data_offsets");
  check_safetensors_refused("{\"a\":{\"dtype\":\"F32\",\"dtype\":\"F32\"}}", 4, "'dtype' twice");
  check_safetensors_refused("{\"a\":{\"dtype\":\"F32\",\"more\":1}}", 4, "unknown field 'more'");
  check_safetensors_refused("{\"a\":{\"dtype\":\"F32\"}}", 4, "lacks a dtype");
  check_safetensors_refused("{\"\\u0000\":{}}", 0, "NUL");
  static const char *const halves[] = {"d800x", "dbff",        "dc00",
                                       "dfff",  "d800\\udbff", "d800\\ue000"};
  for (size_t i = 0; i < sizeof halves / sizeof *halves; i++) {
    char json[64];
    snprintf(json, sizeof json, "{\"\\u%s\":{}}", halves[i]);
    check_safetensors_refused(json, 0, "surrogate");
  }
  check_safetensors_refused("{\"\\q\":{}}", 0, "escape");
  check_safetensors_refused("{\"\xff\":{}}", 0, "UTF-8");
  check_safetensors_refused(" {}", 0, "begin with '{'");
  check_safetensors_refused("[[[[[[[[[[", 0, "begin with '{'");
  check_safetensors_refused("{\"a\":[[[[[[[[", 0, "lacks a '{'");
  check_safetensors_refused("{},", 0, "text follows");
  check_safetensors_refused("{\"a\":" TENSOR("F32", "[1]", "[0,4]") ",}", 4, "lacks a '\"'");
  leat_safetensors file;
  CHECK_EQ_INT(leat_safetensors_parse(&file, "\xff\xff\xff\xff\0\0\0\0{}", 10, NULL), LEAT_INVALID);
}

TEST(safetensors_write_refuses_and_leaves_nothing) {
  char path[SCRATCH_PATH];
  leat_error error = {0};
  leat_named_tensor twice[] = {tensors[0], tensors[0]};
  leat_named_tensor deep = {"deep", {LEAT_c128, 8, {0}, NULL}};
  leat_named_tensor reserved = {"__metadata__", {LEAT_u8, 1, {0}, NULL}};
  leat_named_tensor not_text = {"\xff", {LEAT_u8, 1, {0}, NULL}};
  scratch_path(path, "folder");
  CHECK_EQ_INT(mkdir(path, 0777), 0);
  scratch_path(path, "folder/w.safetensors");
  CHECK_EQ_INT(leat_safetensors_write(path, twice, 2, NULL, 0, &error), LEAT_INVALID);
  CHECK_EQ_STR(error.message, "the name 'flags' comes twice");
  error = (leat_error){0};
  CHECK_EQ_INT(leat_safetensors_write(path, &deep, 1, NULL, 0, &error), LEAT_UNSUPPORTED);
  CHECK_EQ_STR(error.message, "'deep': safetensors files hold c128 up to rank 7, not 8");
  CHECK_EQ_INT(leat_safetensors_write(path, &reserved, 1, NULL, 0, NULL), LEAT_INVALID);
  CHECK_EQ_INT(leat_safetensors_write(path, &not_text, 1, NULL, 0, NULL), LEAT_INVALID);
  CHECK_EQ_INT(scratch_count("folder"), 0);
  CHECK_EQ_INT(leat_safetensors_write(path, NULL, 0, NULL, 0, NULL), LEAT_OK);
  CHECK_EQ_INT(scratch_count("folder"), 1);
}

// c128 is f64 in the file, with an axis for the parts; only what looks so is taken for it.
TEST(safetensors_hold_complex_numbers) {
  static const double numbers[] = {1, -2, 0.5, 3, NAN, INFINITY};
  static const leat_named_tensor list[] = {{"all", {LEAT_c128, 1, {3}, (void *)numbers}},
                                           {"f#parts", {LEAT_f64, 1, {3}, (void *)numbers}},
                                           {"i#parts", {LEAT_i64, 1, {2}, (void *)numbers}},
                                           {"none", {LEAT_c128, 2, {0, 4}, NULL}},
                                           {"one", {LEAT_c128, 0, {0}, (void *)(numbers + 2)}},
                                           {"pair", {LEAT_c64, 1, {3}, (void *)numbers}}};
  enum { COUNT = sizeof list / sizeof *list };
  char path[SCRATCH_PATH], *bytes;
  size_t size;
  leat_safetensors file;
  scratch_path(path, "complex.safetensors");
  CHECK_EQ_INT(leat_safetensors_write(path, list, COUNT, NULL, 0, NULL), LEAT_OK);
  CHECK_EQ_INT(leat_file_read(path, 10000, &bytes, &size, NULL), LEAT_OK);
  CHECK(strstr(bytes + 8, "\"one#parts\":"
                          "{\"dtype\":\"F64\",\"shape\":[2]"));
  free(bytes);
  CHECK_EQ_INT(leat_safetensors_open(&file, path, NULL), LEAT_OK);
  CHECK_EQ_INT(file.count, COUNT);
  for (size_t i = 0; i < COUNT && i < file.count; i++) {
    const leat_tensor *found = &file.tensors[i].tensor, *wanted = &list[i].tensor;
    CHECK_EQ_STR(file.tensors[i].name, list[i].name);
    CHECK(found->dtype == wanted->dtype && found->rank == wanted->rank);
    CHECK(memcmp(found->shape, wanted->shape, sizeof found->shape) == 0);
    if (wanted->data)
      CHECK(memcmp(found->data, wanted->data, (size_t)leat_tensor_bytes(wanted)) == 0);
  }
  leat_safetensors_close(&file);
}

typedef leat_status parser(const unsigned char *bytes, size_t size);

static leat_status try_npy(const unsigned char *bytes, size_t size) {
  leat_npy npy;
  leat_status status = leat_npy_parse(&npy, bytes, size, NULL);
  leat_npy_close(&npy);
  return status;
}

static leat_status try_safetensors(const unsigned char *bytes, size_t size) {
  leat_safetensors file;
  leat_status status = leat_safetensors_parse(&file, bytes, size, NULL);
  leat_safetensors_close(&file);
  return status;
}

// Every prefix is an error; so may be any file in which bytes are damaged, as long as nothing is
// read beyond its end.
static void damage(const char *path, parser *parse) {
  char *file;
  size_t size;
  CHECK_EQ_INT(leat_file_read(path, 100000, &file, &size, NULL), LEAT_OK);
  CHECK_EQ_INT(parse((unsigned char *)file, size), LEAT_OK);
  for (size_t cut = 0; cut < size; cut++) {
    unsigned char *prefix = malloc(cut ? cut : 1);
    memcpy(prefix, file, cut);
    if (parse(prefix, cut) == LEAT_OK) CHECK_FAILED("%s: a prefix of %zu bytes is read", path, cut);
    free(prefix);
  }
  unsigned char *copy = malloc(size);
  for (uint32_t i = 0; i < 20000; i++) {
    uint32_t random[4];
    leat_philox((uint32_t[]){i, 0, 0, 0}, (uint32_t[]){0, 0}, random);
    memcpy(copy, file, size);
    for (uint32_t j = 0; j <= i % 3; j++)
      copy[random[j] % size] = (unsigned char)(random[3] >> 8 * j);
    (void)!parse(copy, size);
  }
  free(copy);
  free(file);
}

TEST(npy_survives_damage) {
  char path[SCRATCH_PATH];
  leat_tensor tensor = {LEAT_f32, 2, {2, 3}, (void *)weights};
  scratch_path(path, "damaged.npy");
  CHECK_EQ_INT(leat_npy_write(path, &tensor, NULL), LEAT_OK);
  damage(path, try_npy);
}

TEST(safetensors_survives_damage) {
  char path[SCRATCH_PATH];
  write_example(path);
  damage(path, try_safetensors);
}

CHECK_MAIN("formats")
