// Checksums of safetensors files: those of xxHash, and no damage that they do not find and name.
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/checksum.h"
#include "base/safetensors.h"
#include "base/str.h"
#include "runtime/checkpoint.h"
#include "tests/unit/check.h"
#include "tests/unit/scratch.h"

#include <stdlib.h>

static const float weights[] = {1, 2, 3, 4, 5, 6};
static const int64_t steps[] = {7};
static const leat_str words[] = {{"abc", 3}, {"defg", 4}};
static const double parts[] = {1, -2};

static const leat_named_tensor tensors[] = {{"w", {LEAT_f32, 2, {2, 3}, (void *)weights}},
                                            {"v", {LEAT_f32, 2, {2, 3}, (void *)weights}},
                                            {"words", {LEAT_str, 1, {2}, (void *)words}},
                                            {"z", {LEAT_c128, 0, {0}, (void *)parts}},
                                            {"empty", {LEAT_f32, 2, {0, 3}, NULL}},
                                            {"global_step", {LEAT_i64, 0, {0}, (void *)steps}}};
static const leat_metadata metadata[] = {{"leat", "0.1.0"}, {"run_count/train", "200"}};

enum { TENSORS = sizeof tensors / sizeof *tensors, TENSORS_IN_FILE = TENSORS + 1 };

// The file of all that, as bytes to be freed.
static char *example(char path[SCRATCH_PATH], size_t *size) {
  char *bytes = NULL;
  leat_error error = {0};
  scratch_path(path, "t.safetensors");
  CHECK_EQ_INT(leat_safetensors_write(path, tensors, TENSORS, metadata, 2, &error), LEAT_OK);
  CHECK_EQ_INT(leat_file_read(path, 100000, &bytes, size, &error), LEAT_OK);
  CHECK_EQ_STR(error.message, "");
  return bytes;
}

TEST(checksums_are_those_of_xxhash) {
  unsigned char bytes[300];
  for (size_t i = 0; i < sizeof bytes; i++) bytes[i] = (unsigned char)(i * 167 + 13);
  for (size_t size = 0; size < sizeof bytes; size++)
    if (leat_checksum(bytes + 1, size ? size - 1 : 0) != XXH64(bytes + 1, size ? size - 1 : 0, 0))
      CHECK_FAILED("another checksum of %zu bytes", size);
}

static bool same_tensors(const leat_safetensors *a, const leat_safetensors *b) {
  bool same = a->count == b->count;
  for (size_t i = 0; same && i < a->count; i++) {
    uint64_t x = 1, y = 2;
    same = strcmp(a->tensors[i].name, b->tensors[i].name) == 0 &&
           !leat_value_checksum(&a->tensors[i].tensor, &x, NULL) &&
           !leat_value_checksum(&b->tensors[i].tensor, &y, NULL) && x == y;
  }
  return same;
}

static bool has_metadata(const leat_safetensors *file, const leat_metadata *pair) {
  for (size_t i = 0; i < file->metadata_count; i++)
    if (strcmp(file->metadata[i].key, pair->key) == 0)
      return strcmp(file->metadata[i].value, pair->value) == 0;
  return false;
}

// Any single bit: a file that is taken all the same holds what was written, and perhaps more
// metadata.
TEST(safetensors_find_every_flipped_bit) {
  char path[SCRATCH_PATH];
  size_t size, taken = 0;
  leat_safetensors whole, file;
  leat_error error = {0};
  char *right = example(path, &size), *bytes = malloc(size);
  memcpy(bytes, right, size);
  CHECK_EQ_INT(leat_safetensors_parse_verified(&whole, right, size, &error), LEAT_OK);
  CHECK_EQ_STR(error.message, "");
  CHECK_EQ_INT((int)whole.checksums, TENSORS_IN_FILE + 2);
  CHECK_EQ_INT((int)whole.count, TENSORS);
  CHECK_EQ_INT((int)whole.metadata_count, 2);
  for (size_t i = 0; i < size * 8; i++) {
    bytes[i / 8] ^= (char)(1 << i % 8);
    if (!leat_safetensors_parse_verified(&file, bytes, size, NULL)) {
      bool same = same_tensors(&file, &whole);
      for (size_t k = 0; k < whole.metadata_count; k++)
        same = same && has_metadata(&file, &whole.metadata[k]);
      if (!same) CHECK_FAILED("bit %zu of byte %zu may flip unseen", i % 8, i / 8);
      taken++;
    }
    leat_safetensors_close(&file);
    bytes[i / 8] ^= (char)(1 << i % 8);
  }
  printf("%zu of %zu flipped bits change nothing\n", taken, size * 8);
  leat_safetensors_close(&whole);
  free(right);
  free(bytes);
}

// The error when `from`, once in the file, is `to`; "": none.
static void check_damage(const char *from, const char *to, const char *said) {
  char path[SCRATCH_PATH];
  size_t size, length = strlen(from);
  leat_safetensors file;
  leat_error error = {0};
  char *bytes = example(path, &size), *at = memmem(bytes, size, from, length);
  CHECK(at && length == strlen(to));
  if (at) memcpy(at, to, length);
  CHECK_EQ_INT(leat_safetensors_parse_verified(&file, bytes, size, &error),
               *said ? LEAT_INVALID : LEAT_OK);
  leat_safetensors_close(&file);
  if (!strstr(error.message, said)) CHECK_FAILED("'%s' lacks '%s'", error.message, said);
  CHECK_EQ_INT(leat_safetensors_parse(&file, bytes, size, NULL), LEAT_OK); // only looks
  leat_safetensors_close(&file);
  free(bytes);
}

TEST(damage_is_named) {
  check_damage("abcdefg", "abcdefG", "tensor 'words#bytes' is damaged: its data has checksum");
  check_damage("\"w\":{\"dtype\":\"F32\",\"shape\":[2,3]",
               "\"w\":{\"dtype\":\"F32\",\"shape\":[3,2]",
               "tensor 'w' is damaged: it is F32 [3,2], its checksum of F32 [2,3] xxh64:");
  check_damage("\"w\":{\"dtype\":\"F32\"", "\"w\":{\"dtype\":\"I32\"", "'w' is damaged: it is I32");
  check_damage("\"w\":{", "\"u\":{", "tensor 'w', of which it has a checksum, is missing");
  check_damage("checksum/tensor/w\"", "checksum/tenser/w\"", "'checksum/tenser/w' is no checksum");
  check_damage("checksum/tensor/w\"", "checkxum/tensor/w\"", "tensor 'w' has no checksum");
  check_damage("\"200\"", "\"2[0\"", "key 'run_count/train' is damaged: '2[0' has checksum xxh64:");
  check_damage(",\"run_count/train\":\"200\"", "                        ",
               "key 'run_count/train', of which it has a checksum, is missing");
}

static leat_status open_with(const leat_metadata *pairs, size_t count, leat_error *error) {
  char path[SCRATCH_PATH];
  leat_data_file file;
  *error = (leat_error){0};
  scratch_path(path, "c.safetensors");
  CHECK_EQ_INT(leat_safetensors_write(path, tensors, 1, pairs, count, error), LEAT_OK);
  leat_status status = leat_checkpoint_open(&file, path, error);
  if (!status) leat_data_file_close(&file);
  return status;
}

// With checksums that hold: somebody wrote it so.
TEST(counts_of_runs_are_numbers) {
  static const char *const bad[] = {"", "2[0", "-1", " 1", "0x1", "18446744073709551616"};
  leat_metadata pair = {"run_count/f", "18446744073709551615"};
  leat_error error;
  CHECK_EQ_INT(open_with(&pair, 1, &error), LEAT_OK);
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    char said[100];
    pair.value = bad[i];
    CHECK_EQ_INT(open_with(&pair, 1, &error), LEAT_INVALID);
    snprintf(said, sizeof said, "the metadata key 'run_count/f' is '%s', which is no number",
             bad[i]);
    if (!strstr(error.message, said)) CHECK_FAILED("'%s' lacks '%s'", error.message, said);
  }
}

TEST(checksums_are_no_metadata_of_the_caller) {
  leat_error error = {0};
  leat_metadata pair = {"checksum/tensor/w", "mine"};
  char path[SCRATCH_PATH];
  scratch_path(path, "mine.safetensors");
  CHECK_EQ_INT(leat_safetensors_write(path, tensors, 1, &pair, 1, &error), LEAT_INVALID);
  CHECK_EQ_STR(error.message, "the metadata key 'checksum/tensor/w' is a checksum's");
}

// What is missing is named, but what had no value when it was saved.
TEST(missing_variables_are_named) {
  static const char *const names[] = {"w", "a", "b", "late", "c", "d", "e"};
  leat_metadata pair = {"uninitialised", "later late"};
  leat_data_file file;
  leat_error error = {0};
  char path[SCRATCH_PATH];
  scratch_path(path, "missing.safetensors");
  CHECK_EQ_INT(leat_safetensors_write(path, tensors, 1, &pair, 1, NULL), LEAT_OK);
  CHECK_EQ_INT(leat_checkpoint_open(&file, path, NULL), LEAT_OK);
  CHECK(leat_checkpoint_lacked(&file, "late") && leat_checkpoint_lacked(&file, "later"));
  CHECK(!leat_checkpoint_lacked(&file, "lat") && !leat_checkpoint_lacked(&file, ""));
  CHECK_EQ_INT(leat_checkpoint_check(&file, "F", names, 7, false, &error), LEAT_MISMATCH);
  CHECK_EQ_STR(error.message,
               "F has no `a`, `b`, `c` and 2 others; --partial restores what it has");
  error = (leat_error){0};
  CHECK_EQ_INT(leat_checkpoint_check(&file, "F", names, 2, false, &error), LEAT_MISMATCH);
  CHECK_EQ_STR(error.message, "F has no `a`; --partial restores what it has");
  CHECK_EQ_INT(leat_checkpoint_check(&file, "F", names, 7, true, NULL), LEAT_OK);
  CHECK_EQ_INT(leat_checkpoint_check(&file, "F", names + 3, 1, false, NULL), LEAT_OK);
  CHECK_EQ_INT(leat_checkpoint_check(&file, "F", names, 1, false, NULL), LEAT_OK);
  error = (leat_error){0};
  CHECK_EQ_INT(leat_checkpoint_check(&file, "F", names + 1, 3, true, &error), LEAT_MISMATCH);
  CHECK_EQ_STR(error.message, "F has none of the variables here: `a` and `b`");
  leat_data_file_close(&file);
}

CHECK_MAIN("checksums")
