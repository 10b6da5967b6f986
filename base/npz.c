// NumPy's .npz: a zip archive (APPNOTE.TXT of PKWARE) of .npy files, stored or deflated, with
// zip64's larger numbers, which NumPy always writes. The central directory at the end says where
// members lie; nothing may overlap, so that what is read is bounded by the file. A member is
// unpacked, and compared with its CRC-32, when it is asked for.
// It runs seldom: compiled for size.
#include "base/data_formats.h"
#include "base/npy.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
  END_SIZE = 22, // of the record at the end, without its comment
  END64_LOCATOR_SIZE = 20,
  END64_SIZE = 56,
  CENTRAL_SIZE = 46,
  LOCAL_SIZE = 30,
  STORED = 0,
  DEFLATED = 8,
  MOST_COMMENT = 65535,
  MOST_RATIO = 1032, // of what deflate makes of a byte
};

static const uint32_t end_mark = 0x06054b50, end64_locator_mark = 0x07064b50,
                      end64_mark = 0x06064b50, central_mark = 0x02014b50, local_mark = 0x04034b50;

typedef struct member {
  const char *name; // as its tensor is called: without `.npy`
  uint64_t local;   // where its local header is
  uint64_t packed, size;
  const unsigned char *data; // packed
  uint32_t crc;
  uint16_t method;
  leat_npy npy;        // once it was read
  unsigned char *made; // unpacked
} member;

typedef struct npz_content {
  member *members; // by their place in the file
  size_t count;
  char *names;
} npz_content;

typedef struct archive {
  const unsigned char *bytes;
  uint64_t size, directory, directory_size;
  leat_error *error;
} archive;

#define INVALID(a, ...) leat_fail((a)->error, LEAT_INVALID, __VA_ARGS__)

static uint64_t number(const unsigned char *at, int bytes) {
  uint64_t value = 0;
  while (bytes-- > 0) value = value << 8 | at[bytes];
  return value;
}

// -- The directory --------------------------------------------------------------------------------

// The record at the end, before a comment of any length.
static const unsigned char *find_end(const archive *a) {
  for (uint64_t back = END_SIZE; back <= a->size && back <= END_SIZE + MOST_COMMENT; back++) {
    const unsigned char *at = a->bytes + a->size - back;
    if (number(at, 4) == end_mark && number(at + 20, 2) == back - END_SIZE) return at;
  }
  return NULL;
}

static leat_status find_directory(archive *a, uint64_t *out_count) {
  const unsigned char *end = find_end(a);
  if (!end) return INVALID(a, "the npz file is cut off: it lacks the directory at its end");
  uint64_t at = (uint64_t)(end - a->bytes);
  *out_count = number(end + 10, 2);
  a->directory_size = number(end + 12, 4);
  a->directory = number(end + 16, 4);
  const unsigned char *locator = at >= END64_LOCATOR_SIZE ? end - END64_LOCATOR_SIZE : NULL;
  if (locator && number(locator, 4) == end64_locator_mark) {
    uint64_t place = number(locator + 8, 8);
    if (a->size < END64_SIZE || place > a->size - END64_SIZE ||
        number(a->bytes + place, 4) != end64_mark)
      return INVALID(a, "the npz file has a damaged directory");
    *out_count = number(a->bytes + place + 32, 8);
    a->directory_size = number(a->bytes + place + 40, 8);
    a->directory = number(a->bytes + place + 48, 8);
  }
  if (a->directory > at || a->directory_size > at - a->directory ||
      *out_count > a->directory_size / CENTRAL_SIZE)
    return INVALID(a, "the directory of the npz file lies outside of it");
  return LEAT_OK;
}

// Of the numbers that are all ones in an entry the extra field has 8 bytes each, in this order.
static bool read_zip64(const unsigned char *extra, size_t size, member *out) {
  uint64_t *const numbers[] = {&out->size, &out->packed, &out->local};
  const unsigned char *field = NULL, *end = extra + size;
  for (size_t length; end - extra >= 4 && !field; extra += 4 + length) {
    length = (size_t)number(extra + 2, 2);
    if (length > (size_t)(end - extra) - 4) return false;
    if (number(extra, 2) == 1) field = extra + 4, end = field + length;
  }
  for (int i = 0; i < 3; i++) {
    if (*numbers[i] != UINT32_MAX) continue;
    if (!field || end - field < 8) return false;
    *numbers[i] = number(field, 8);
    field += 8;
  }
  return true;
}

// The entry at `at`; *names is where its name goes. *is_tensor: it is a .npy.
static leat_status read_entry(const archive *a, const unsigned char *at, size_t room, size_t *used,
                              char **names, member *out, bool *is_tensor) {
  if (room < CENTRAL_SIZE || number(at, 4) != central_mark)
    return INVALID(a, "the npz file has a damaged directory");
  size_t name = (size_t)number(at + 28, 2), extra = (size_t)number(at + 30, 2);
  *used = CENTRAL_SIZE + name + extra + (size_t)number(at + 32, 2);
  if (*used > room) return INVALID(a, "the npz file has a damaged directory");
  *out = (member){.name = *names,
                  .local = number(at + 42, 4),
                  .packed = number(at + 20, 4),
                  .size = number(at + 24, 4),
                  .crc = (uint32_t)number(at + 16, 4),
                  .method = (uint16_t)number(at + 10, 2)};
  const char *text = (const char *)at + CENTRAL_SIZE;
  if (!read_zip64(at + CENTRAL_SIZE + name, extra, out) || memchr(text, 0, name))
    return INVALID(a, "the npz file has a damaged directory");
  *is_tensor = name >= 4 && memcmp(text + name - 4, ".npy", 4) == 0;
  if (!*is_tensor) return LEAT_OK; // NumPy passes over it, too
  if (number(at + 8, 2) & 1)
    return leat_fail(a->error, LEAT_UNSUPPORTED, "`%.*s` is encrypted", (int)name, text);
  *names += sprintf(*names, "%.*s", (int)name - 4, text) + 1;
  return LEAT_OK;
}

static leat_status read_directory(const archive *a, uint64_t count, npz_content *out) {
  const unsigned char *at = a->bytes + a->directory;
  size_t room = (size_t)a->directory_size, used = 0;
  out->members = calloc((size_t)count + 1, sizeof *out->members);
  out->names = malloc(room + 1); // an entry is longer than its name
  char *names = out->names;
  if (!out->members || !names) return leat_fail(a->error, LEAT_MEMORY, "no memory for its table");
  for (uint64_t i = 0; i < count; i++, at += used, room -= used) {
    bool is_tensor;
    LEAT_TRY(read_entry(a, at, room, &used, &names, &out->members[out->count], &is_tensor));
    out->count += is_tensor;
  }
  if (count && !out->count)
    return leat_fail(a->error, LEAT_UNSUPPORTED,
                     "a zip archive without .npy files (one that PyTorch wrote? Its Python package "
                     "`safetensors` saves tensors in files that are read here)");
  return LEAT_OK;
}

// -- Members --------------------------------------------------------------------------------------

static int by_place(const void *a, const void *b) {
  const member *x = a, *y = b;
  return x->local < y->local ? -1 : x->local > y->local;
}

// Finds the data of a member behind its local header, which must end before the next thing begins.
static leat_status find_data(const archive *a, member *m, uint64_t end) {
  bool there = m->local <= end && end - m->local >= LOCAL_SIZE;
  const unsigned char *local = there ? a->bytes + m->local : NULL;
  if (!there || number(local, 4) != local_mark)
    return INVALID(a, "`%.60s` is not where the npz file's directory says", m->name);
  uint64_t header = LOCAL_SIZE + number(local + 26, 2) + number(local + 28, 2);
  if (header > end - m->local || m->packed > end - m->local - header)
    return INVALID(a, "`%.60s` lies partly outside of the npz file, or in another", m->name);
  if (m->method != STORED && m->method != DEFLATED)
    return leat_fail(a->error, LEAT_UNSUPPORTED,
                     "`%.60s` is packed by a method that NumPy does not use", m->name);
  if (m->method == STORED ? m->size != m->packed : m->size / MOST_RATIO > m->packed)
    return INVALID(a, "`%.60s` cannot have so many bytes", m->name);
  m->data = local + header;
  return LEAT_OK;
}

static leat_status unpack(const member *m, void *to, size_t size, leat_error *error) {
  leat_data_extension more = leat_data_extended();
  if (more.inflate) return more.inflate(m->data, (size_t)m->packed, to, size, error);
  return leat_fail(
      error, LEAT_UNSUPPORTED,
      "it is compressed, which only `leat` itself reads; numpy.savez does not compress");
}

static leat_status describe(const member *m, leat_tensor *out, leat_error *error) {
  if (m->method == STORED) return leat_npy_describe(out, m->data, (size_t)m->size, m->size, error);
  size_t known = m->size < LEAT_NPY_LARGEST_HEADER ? (size_t)m->size : LEAT_NPY_LARGEST_HEADER;
  unsigned char *bytes = malloc(known + 1);
  if (!bytes) return leat_fail(error, LEAT_MEMORY, "no memory to unpack it");
  leat_status status = unpack(m, bytes, known, error);
  if (!status) status = leat_npy_describe(out, bytes, known, m->size, error);
  free(bytes);
  return status;
}

// -- Files ----------------------------------------------------------------------------------------

static bool is_npz(const char *path, const unsigned char *bytes, size_t size) {
  (void)path;
  return size >= 4 && (number(bytes, 4) == local_mark || number(bytes, 4) == end_mark);
}

static leat_status open_npz(leat_data_file *file, bool verified, leat_error *error) {
  (void)verified; // what is read always is
  archive a = {.bytes = file->view.data, .size = file->view.size, .error = error};
  uint64_t count = 0;
  LEAT_TRY(find_directory(&a, &count));
  npz_content *c = file->content = calloc(1, sizeof *c);
  if (!c) return leat_fail(error, LEAT_MEMORY, "no memory for its table");
  LEAT_TRY(read_directory(&a, count, c));
  qsort(c->members, c->count, sizeof *c->members, by_place);
  file->tensors = calloc(c->count + 1, sizeof *file->tensors);
  if (!file->tensors) return leat_fail(error, LEAT_MEMORY, "no memory for its table");
  for (size_t i = 0; i < c->count; i++) {
    member *m = &c->members[i];
    leat_error cause = {0};
    uint64_t next = i + 1 < c->count ? c->members[i + 1].local : a.directory;
    LEAT_TRY(find_data(&a, m, next < a.directory ? next : a.directory));
    file->tensors[i].name = m->name;
    leat_status status = describe(m, &file->tensors[i].tensor, &cause);
    if (status) return leat_fail(error, status, "`%.60s`: %s", m->name, cause.message);
    file->count++;
  }
  return LEAT_OK;
}

// The CRC-32 of zip archives, of four bits at a time.
static uint32_t crc32_of(const unsigned char *bytes, size_t size) {
  static const uint32_t table[16] = {0x00000000, 0x1db71064, 0x3b6e20c8, 0x26d930ac,
                                     0x76dc4190, 0x6b6b51f4, 0x4db26158, 0x5005713c,
                                     0xedb88320, 0xf00f9344, 0xd6d6a3e8, 0xcb61b38c,
                                     0x9b64c2b0, 0x86d3d2d4, 0xa00ae278, 0xbdbdf21c};
  uint32_t crc = UINT32_MAX;
  for (size_t i = 0; i < size; i++) {
    crc ^= bytes[i];
    crc = crc >> 4 ^ table[crc & 15];
    crc = crc >> 4 ^ table[crc & 15];
  }
  return ~crc;
}

static leat_status read_member(member *m, leat_error *error) {
  const unsigned char *bytes = m->data;
  if (m->method == DEFLATED) {
    bytes = m->made = malloc((size_t)m->size + 1);
    if (!bytes) return leat_fail(error, LEAT_MEMORY, "no memory to unpack it");
    LEAT_TRY(unpack(m, m->made, (size_t)m->size, error));
  }
  if (crc32_of(bytes, (size_t)m->size) != m->crc)
    return leat_fail(error, LEAT_INVALID, "it is damaged: its CRC-32 is another");
  return leat_npy_parse(&m->npy, bytes, (size_t)m->size, error);
}

static leat_status read_npz(leat_data_file *file, leat_named_tensor *tensor, leat_error *error) {
  npz_content *c = file->content;
  member *m = c->members;
  while (m->name != tensor->name) m++; // the content's own
  leat_status status = read_member(m, error);
  if (!status) tensor->tensor = m->npy.tensor;
  if (status) free(m->made), m->made = NULL;
  return status;
}

static void close_npz(leat_data_file *file) {
  npz_content *c = file->content;
  for (size_t i = 0; c && i < c->count; i++) {
    leat_npy_close(&c->members[i].npy);
    free(c->members[i].made);
  }
  if (c) free(c->members), free(c->names);
  free(c);
}

const leat_data_format leat_npz_format = {"npz", is_npz, open_npz, read_npz, NULL, close_npz};

leat_status leat_npz_open(leat_data_file *out, const char *path, leat_error *error) {
  leat_file_view view;
  *out = (leat_data_file){0};
  LEAT_TRY(leat_file_view_open(&view, path, error));
  LEAT_TRY(leat_data_file_take(out, path, view, error));
  if (is_npz(path, out->view.data, out->view.size))
    return leat_data_file_open_view(out, &leat_npz_format, false, error);
  leat_data_file_close(out);
  return leat_fail(error, LEAT_INVALID, "'%s' is no .npz file", path);
}
