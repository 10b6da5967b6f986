// Tensors of a file by name, whatever its format: each is told by its bytes, not its name; archives
// and indexes that are damaged are refused, or give what is right, and never more than they hold.
#include "base/data_file.h"
#include "base/npy.h"
#include "base/philox.h"
#include "tests/unit/check.h"
#include "tests/unit/scratch.h"

#include <stdlib.h>

static const float weights[6] = {1, 2, 3, 4, 5, 6};
static const int32_t steps[2] = {7, 8};

static const leat_named_tensor tensors[] = {
    {"layer/w", {LEAT_f32, 2, {2, 3}, (void *)weights}},
    {"step", {LEAT_i32, 1, {2}, (void *)steps}},
};

static void write_whole(const char *path, const void *data, size_t size) {
  leat_bytes piece = {data, size};
  CHECK_EQ_INT(leat_file_write(path, &piece, 1, LEAT_FILE_ATOMIC, NULL), LEAT_OK);
}

// -- Archives -------------------------------------------------------------------------------------

static uint32_t crc_of(const unsigned char *bytes, size_t size) {
  uint32_t crc = UINT32_MAX;
  for (size_t i = 0; i < size; i++) {
    crc ^= bytes[i];
    for (int bit = 0; bit < 8; bit++) crc = crc >> 1 ^ (crc & 1 ? 0xedb88320 : 0);
  }
  return ~crc;
}

static void add_number(leat_text *out, uint64_t value, int bytes) {
  for (int i = 0; i < bytes; i++) leat_text_add_n(out, (char[]){(char)(value >> 8 * i)}, 1);
}

typedef struct zip {
  leat_text file, directory;
  int count, method; // method: 0 stored, 8 deflated, as the blocks that deflate stores
  bool wide;         // the sizes stand in zip64's field, as NumPy writes them for large members
} zip;

static void add_sizes(leat_text *out, const zip *z, uint64_t packed, uint64_t size) {
  add_number(out, z->wide ? UINT32_MAX : packed, 4);
  add_number(out, z->wide ? UINT32_MAX : size, 4);
}

static void add_member(zip *z, const char *name, const leat_text *data) {
  leat_text packed = {0};
  if (z->method == 8) { // one last block: not packed, length, its complement
    add_number(&packed, 1, 1);
    add_number(&packed, data->size, 2);
    add_number(&packed, ~data->size, 2);
  }
  leat_text_add_n(&packed, data->data, data->size);
  uint32_t crc = crc_of((const unsigned char *)data->data, data->size);
  size_t place = z->file.size, length = strlen(name);
  add_number(&z->file, 0x04034b50, 4);
  add_number(&z->file, 45, 2), add_number(&z->file, 0, 2), add_number(&z->file, z->method, 2);
  add_number(&z->file, 0, 4), add_number(&z->file, crc, 4);
  add_number(&z->file, packed.size, 4), add_number(&z->file, data->size, 4);
  add_number(&z->file, length, 2), add_number(&z->file, 0, 2);
  leat_text_add_n(&z->file, name, length);
  leat_text_add_n(&z->file, packed.data, packed.size);
  add_number(&z->directory, 0x02014b50, 4);
  add_number(&z->directory, 45, 2), add_number(&z->directory, 45, 2);
  add_number(&z->directory, 0, 2), add_number(&z->directory, z->method, 2);
  add_number(&z->directory, 0, 4), add_number(&z->directory, crc, 4);
  add_sizes(&z->directory, z, packed.size, data->size);
  add_number(&z->directory, length, 2), add_number(&z->directory, z->wide ? 20 : 0, 2);
  add_number(&z->directory, 0, 2), add_number(&z->directory, 0, 4), add_number(&z->directory, 0, 4);
  add_number(&z->directory, place, 4);
  leat_text_add_n(&z->directory, name, length);
  if (z->wide) {
    add_number(&z->directory, 1, 2), add_number(&z->directory, 16, 2);
    add_number(&z->directory, data->size, 8), add_number(&z->directory, packed.size, 8);
  }
  leat_text_finish(&packed);
  z->count++;
}

static void end_zip(zip *z) {
  size_t place = z->file.size;
  leat_text_add_n(&z->file, z->directory.data, z->directory.size);
  add_number(&z->file, 0x06054b50, 4), add_number(&z->file, 0, 4);
  add_number(&z->file, (uint64_t)z->count, 2), add_number(&z->file, (uint64_t)z->count, 2);
  add_number(&z->file, z->directory.size, 4), add_number(&z->file, place, 4);
  add_number(&z->file, 0, 2);
  leat_text_finish(&z->directory);
}

static zip make_npz(int method, bool wide) {
  zip z = {.method = method, .wide = wide};
  for (int i = 0; i < 2; i++) {
    leat_text npy = {0};
    char name[32];
    leat_npy_add_header(&npy, &tensors[i].tensor);
    leat_text_add_n(&npy, tensors[i].tensor.data, (size_t)leat_tensor_bytes(&tensors[i].tensor));
    snprintf(name, sizeof name, "%s.npy", tensors[i].name);
    add_member(&z, name, &npy);
    leat_text_finish(&npy);
  }
  leat_text other = {0};
  leat_text_add(&other, "no tensor");
  add_member(&z, "README", &other);
  leat_text_finish(&other);
  end_zip(&z);
  return z;
}

static void check_tensor(leat_data_file *file, const leat_named_tensor *wanted) {
  leat_error error = {0};
  const leat_tensor *found, *type = leat_data_file_find(file, wanted->name);
  if (leat_data_file_read(file, wanted->name, &found, &error)) {
    CHECK_FAILED("%s: %s", wanted->name, error.message);
    return;
  }
  CHECK(type && type->dtype == found->dtype && type->rank == found->rank);
  CHECK(found->dtype == wanted->tensor.dtype && found->rank == wanted->tensor.rank);
  CHECK(memcmp(found->shape, wanted->tensor.shape, sizeof found->shape) == 0);
  CHECK(memcmp(found->data, wanted->tensor.data, (size_t)leat_tensor_bytes(found)) == 0);
}

static void check_file(const char *path, const char *format) {
  leat_data_file file;
  leat_error error = {0};
  if (leat_data_file_open(&file, path, true, &error)) {
    CHECK_FAILED("%s", error.message);
    return;
  }
  CHECK_EQ_STR(file.format->name, format);
  CHECK_EQ_INT((int)file.count, 2);
  for (int i = 0; i < 2; i++) check_tensor(&file, &tensors[i]);
  leat_data_file_close(&file);
}

TEST(formats_are_told_by_their_bytes) {
  char path[SCRATCH_PATH];
  for (int wide = 0; wide < 2; wide++) {
    zip z = make_npz(0, wide);
    scratch_path(path, "archive.safetensors");
    write_whole(path, z.file.data, z.file.size);
    check_file(path, "npz");
    leat_text_finish(&z.file);
  }
  scratch_path(path, "checkpoint.npz");
  CHECK_EQ_INT(leat_safetensors_write(path, tensors, 2, NULL, 0, NULL), LEAT_OK);
  check_file(path, "safetensors");
  scratch_path(path, "one.bin");
  CHECK_EQ_INT(leat_npy_write(path, &tensors[0].tensor, NULL), LEAT_OK);
  leat_data_file file;
  CHECK_EQ_INT(leat_data_file_open(&file, path, false, NULL), LEAT_OK);
  check_tensor(&file, &(leat_named_tensor){"", tensors[0].tensor});
  leat_data_file_close(&file);
}

// -- What unpacks ---------------------------------------------------------------------------------

// As far as members of this test need it: one block that deflate only stored.
static leat_status inflate_stored(const void *from, size_t from_size, void *to, size_t to_size,
                                  leat_error *error) {
  if (from_size < 5 || to_size > from_size - 5)
    return leat_fail(error, LEAT_INVALID, "fewer bytes than there should be");
  memcpy(to, (const char *)from + 5, to_size);
  return LEAT_OK;
}

TEST(deflated_members_need_what_unpacks_them) {
  char path[SCRATCH_PATH];
  leat_data_file file;
  leat_error error = {0};
  zip z = make_npz(8, false);
  scratch_path(path, "deflated.npz");
  write_whole(path, z.file.data, z.file.size);
  leat_data_extend(&(leat_data_extension){0});
  CHECK_EQ_INT(leat_data_file_open(&file, path, false, &error), LEAT_UNSUPPORTED);
  CHECK(strstr(error.message, "deflated.npz': `layer/w`: it is compressed") != NULL);
  leat_data_extend(&(leat_data_extension){.inflate = inflate_stored});
  check_file(path, "npz");
  leat_text_finish(&z.file);
}

// -- Indexes --------------------------------------------------------------------------------------

static const char index_of[] =
    "{\"metadata\": {\"total_size\": 32, \"x\": [1.5e3, null, {\"a\": []}, {}]}, \"weight_map\":\n"
    "{\"step\": \"m-2.safetensors\", \"layer/w\": \"m-1.safetensors\"}, \"more\": true }\n";

static void write_shards(char path[SCRATCH_PATH], const char *text) {
  for (int i = 0; i < 2; i++) {
    scratch_path(path, i ? "m-2.safetensors" : "m-1.safetensors");
    CHECK_EQ_INT(leat_safetensors_write(path, &tensors[i], 1, NULL, 0, NULL), LEAT_OK);
  }
  scratch_path(path, "m.safetensors.index.json");
  write_whole(path, text, strlen(text));
}

TEST(an_index_has_the_tensors_of_its_files) {
  char path[SCRATCH_PATH];
  write_shards(path, index_of);
  check_file(path, "safetensors index");
}

static void check_refused(const char *text, const char *reason) {
  char path[SCRATCH_PATH];
  leat_data_file file;
  leat_error error = {0};
  write_shards(path, text);
  CHECK(leat_data_file_open(&file, path, false, &error) != LEAT_OK);
  if (!strstr(error.message, reason))
    CHECK_FAILED("%s: '%s' lacks '%s'", text, error.message, reason);
  leat_data_file_close(&file); // harmless after a failure
}

TEST(wrong_indexes_are_refused) {
  check_refused("{}", "lacks a '\"'");
  check_refused("{\"a\": 1}", "no index");
  check_refused("{\"weight_map\": {\"step\": \"../m-2.safetensors\"}}", "no file beside it");
  check_refused("{\"weight_map\": {\"step\": \"a/../../m-2.safetensors\"}}", "no file beside it");
  check_refused("{\"weight_map\": {\"step\": \"m-1.safetensors\"}}", "which lacks it");
  check_refused("{\"weight_map\": {\"step\": \"m-3.safetensors\"}}", "m-3.safetensors");
  check_refused("{\"weight_map\": {\"step\": \"m.safetensors.index.json\"}}",
                "not a safetensors file");
  check_refused("{\"weight_map\": {\"step\": \"m-2.safetensors\", \"step\": \"m-2.safetensors\"}}",
                "the name 'step' comes twice");
  check_refused("{\"weight_map\": {}, \"weight_map\": {}}", "two maps");
  check_refused("{\"weight_map\": {}} x", "text follows");
  check_refused("{\"x\": [1, ], \"weight_map\": {}}", "lacks a value");
  check_refused("{\"x\": [1 2], \"weight_map\": {}}", "lacks a ','");
  char deep[400] = "{\"x\": ";
  memset(deep + 6, '[', 100);
  check_refused(deep, "nested too deep");
}

TEST(what_is_asked_for_and_absent_is_told_with_what_there_is) {
  char path[SCRATCH_PATH];
  leat_data_file file;
  leat_error error = {0};
  const leat_tensor *tensor;
  write_shards(path, index_of);
  CHECK_EQ_INT(leat_data_file_open(&file, path, false, NULL), LEAT_OK);
  CHECK_EQ_INT(leat_data_file_read(&file, "", &tensor, &error), LEAT_NOT_FOUND);
  CHECK(strstr(error.message, "needs the name of a tensor: it holds `layer/w` and `step`") != NULL);
  error = (leat_error){0};
  CHECK_EQ_INT(leat_data_file_read(&file, "x", &tensor, &error), LEAT_NOT_FOUND);
  CHECK(strstr(error.message, "has no tensor `x`: it holds `layer/w` and `step`") != NULL);
  leat_data_file_close(&file);
}

// -- Damage ---------------------------------------------------------------------------------------

// What is read of a copy, which has its exact size, so that the sanitizer sees any step beyond it.
static bool is_right_or_refused(const void *bytes, size_t size) {
  leat_data_file file;
  unsigned char *copy = memcpy(malloc(size + !size), bytes, size);
  bool fine = true;
  if (!leat_data_file_parse(&file, copy, size, true, NULL)) {
    for (size_t i = 0; i < file.count; i++) {
      const leat_tensor *found;
      if (leat_data_file_read(&file, file.tensors[i].name, &found, NULL)) continue;
      const leat_tensor *wanted = &tensors[found->dtype == LEAT_i32].tensor;
      fine &= memcmp(found->data, wanted->data, (size_t)leat_tensor_bytes(wanted)) == 0;
    }
    leat_data_file_close(&file);
  }
  free(copy);
  return fine;
}

TEST(damaged_archives_give_what_is_right_or_nothing) {
  leat_data_extend(&(leat_data_extension){.inflate = inflate_stored});
  for (int kind = 0; kind < 4; kind++) {
    zip z = make_npz(kind & 1 ? 8 : 0, kind & 2);
    size_t size = z.file.size;
    leat_data_file file;
    for (size_t cut = 0; cut < size; cut++)
      if (!leat_data_file_parse(&file, z.file.data, cut, false, NULL))
        CHECK_FAILED("a prefix of %zu bytes is read", cut), leat_data_file_close(&file);
    char *damaged = malloc(size);
    for (size_t at = 0; at < size; at++)
      for (int bit = 0; bit < 8; bit++) {
        memcpy(damaged, z.file.data, size);
        damaged[at] ^= (char)(1 << bit);
        if (!is_right_or_refused(damaged, size)) CHECK_FAILED("byte %zu, bit %d", at, bit);
      }
    free(damaged);
    leat_text_finish(&z.file);
  }
}

// A place behind the end leaves the member before it no room that is not there.
TEST(members_lie_in_the_file) {
  zip z = make_npz(0, false);
  leat_data_file file;
  size_t directory = z.file.size - 22, count = 0;
  for (size_t at = 0; at + 46 < directory; at++) {
    if (memcmp(z.file.data + at, "PK\1\2", 4) != 0) continue;
    if (count == 0) memset(z.file.data + at + 20, 0x7f, 8);   // its sizes
    if (count++ == 1) memset(z.file.data + at + 42, 0x7f, 4); // the place of the next
  }
  CHECK_EQ_INT(leat_data_file_parse(&file, z.file.data, z.file.size, false, NULL), LEAT_INVALID);
  leat_text_finish(&z.file);
}

TEST(directories_have_room_for_what_they_count) {
  zip z = make_npz(0, false);
  leat_data_file file;
  char *end = z.file.data + z.file.size - 22; // entries at 10, their bytes at 12
  int room = ((unsigned char)end[12] + 256 * (unsigned char)end[13]) / 46;
  for (int more = 1; more < 256; more *= 4) {
    leat_error error = {0};
    end[10] = (char)(room + more);
    CHECK_EQ_INT(leat_data_file_parse(&file, z.file.data, z.file.size, false, &error),
                 LEAT_INVALID);
    CHECK(strstr(error.message, "the directory of the npz file lies outside of it") != NULL);
  }
  leat_text_finish(&z.file);
}

// A small file whose many members share their bytes would be unpacked for ever.
TEST(members_do_not_overlap) {
  zip z = make_npz(0, false);
  leat_data_file file;
  leat_error error = {0};
  size_t directory = z.file.size - 22, count = 0;
  for (size_t at = 0; at + 46 < directory; at++)
    if (memcmp(z.file.data + at, "PK\1\2", 4) == 0 && count++ == 1)
      memset(z.file.data + at + 42, 0, 4); // the second's place is the first's
  CHECK_EQ_INT(leat_data_file_parse(&file, z.file.data, z.file.size, false, &error), LEAT_INVALID);
  CHECK(strstr(error.message, "is not where the npz file's directory says") != NULL);
  leat_text_finish(&z.file);
}

CHECK_MAIN("data_file")
