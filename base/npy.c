// The header is a Python literal, a dict of exactly three keys; a cursor walks over it and nothing
// recurses:
//
//     \x93NUMPY 1 0 <u16 length> {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }    \n
// It runs seldom: compiled for size.
#include "base/npy.h"

#include "base/portable.h"

#include <stdlib.h>
#include <string.h>

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
               "npy data is used as it lies in the file");

enum { MAGIC_SIZE = 6, LARGEST_HEADER = 65535, DATA_ALIGNMENT = 64 };

static const char magic[MAGIC_SIZE + 1] = "\x93NUMPY";

// NumPy's letter and size for each dtype but that of strings, whose size is the file's. bf16 it
// knows as two bytes of anything, which is how the arrays of JAX and ml_dtypes are saved.
static const char descriptions[LEAT_DTYPE_COUNT][4] = {
    [LEAT_bool] = "b1", [LEAT_i8] = "i1",    [LEAT_i16] = "i2",  [LEAT_i32] = "i4",
    [LEAT_i64] = "i8",  [LEAT_u8] = "u1",    [LEAT_u16] = "u2",  [LEAT_u32] = "u4",
    [LEAT_u64] = "u8",  [LEAT_f16] = "f2",   [LEAT_f32] = "f4",  [LEAT_f64] = "f8",
    [LEAT_c64] = "c8",  [LEAT_c128] = "c16", [LEAT_bf16] = "V2",
};

// What the header says. The elements of text have `width` characters of `unit` bytes.
typedef struct npy_header {
  leat_tensor tensor;
  bool fortran;
  size_t width, unit; // unit 0: no text
} npy_header;

typedef struct cursor {
  const char *at, *end;
  leat_error *error;
} cursor;

static void skip_space(cursor *c) {
  while (c->at < c->end && (*c->at == ' ' || *c->at == '\t' || *c->at == '\n')) c->at++;
}

static bool accept(cursor *c, char expected) {
  skip_space(c);
  if (c->at == c->end || *c->at != expected) return false;
  c->at++;
  return true;
}

static leat_status expect(cursor *c, char expected) {
  if (accept(c, expected)) return LEAT_OK;
  return leat_fail(c->error, LEAT_INVALID, "the npy header lacks a '%c' where it should be",
                   expected);
}

static bool accept_word(cursor *c, const char *word) {
  size_t length = strlen(word);
  skip_space(c);
  if ((size_t)(c->end - c->at) < length || memcmp(c->at, word, length) != 0) return false;
  c->at += length;
  return true;
}

// A Python string without escapes, in either quotes; borrowed from the header.
static leat_status read_string(cursor *c, const char **out, size_t *out_length) {
  char quote = accept(c, '\'') ? '\'' : '"';
  if (quote == '"') LEAT_TRY(expect(c, '"'));
  *out = c->at;
  while (c->at < c->end && *c->at != quote && *c->at != '\\') c->at++;
  *out_length = (size_t)(c->at - *out);
  return expect(c, quote);
}

// A byte of anything, as arrays of numbers of 8 bits and less are saved, is its code.
static bool describes(leat_dtype dtype, const char *text, size_t length) {
  const char *known = descriptions[dtype];
  if (dtype == LEAT_u8 && length == 2 && memcmp(text, "V1", 2) == 0) return true;
  return *known && strlen(known) == length && memcmp(known, text, length) == 0;
}

static leat_status read_dim(cursor *c, int64_t *out) {
  const char *first = c->at;
  int64_t value = 0;
  for (; c->at < c->end && *c->at >= '0' && *c->at <= '9'; c->at++)
    if (__builtin_mul_overflow(value, 10, &value) ||
        __builtin_add_overflow(value, *c->at - '0', &value))
      return leat_fail(c->error, LEAT_INVALID, "a dimension in the npy header is too large");
  if (c->at == first)
    return leat_fail(c->error, LEAT_INVALID, "the shape in the npy header is not a tuple of sizes");
  if (c->at < c->end && *c->at == 'L') c->at++; // Python 2 wrote 3L
  *out = value;
  return LEAT_OK;
}

// "|S5": bytes; "<U5": code points of 4 bytes each.
static bool read_text_dtype(const char *text, size_t length, npy_header *out) {
  cursor digits = {text + 2, text + length, NULL};
  int64_t width;
  bool bytes = length > 2 && text[1] == 'S' && text[0] != '<';
  bool points = length > 2 && text[1] == 'U' && text[0] != '>';
  if ((!bytes && !points) || read_dim(&digits, &width) || !width || digits.at != digits.end)
    return false;
  *out = (npy_header){.tensor = out->tensor,
                      .fortran = out->fortran,
                      .width = (size_t)width,
                      .unit = points ? 4 : 1};
  out->tensor.dtype = LEAT_str;
  return true;
}

static leat_status read_dtype(cursor *c, npy_header *out) {
  const char *text;
  size_t length;
  if (accept(c, '['))
    return leat_fail(c->error, LEAT_UNSUPPORTED, "npy files of records are not supported");
  LEAT_TRY(read_string(c, &text, &length));
  char order = length ? *text : '\0';
  if (read_text_dtype(text, length, out)) return LEAT_OK;
  for (size_t i = 0; i < LEAT_DTYPE_COUNT; i++) {
    leat_dtype dtype = (leat_dtype)i;
    if (!length || !describes(dtype, text + 1, length - 1)) continue;
    bool one_byte = leat_dtype_size(dtype) == 1;
    if (order == '>' && !one_byte)
      return leat_fail(c->error, LEAT_UNSUPPORTED,
                       "big-endian npy data ('%.*s') is not supported; save it as '<%s'",
                       (int)length, text, descriptions[i]);
    bool no_order = order == '|' && (one_byte || dtype == LEAT_bf16);
    if (order != '<' && order != '=' && !no_order && !(one_byte && order == '>')) break;
    out->tensor.dtype = dtype;
    return LEAT_OK;
  }
  int shown = length < 40 ? (int)length : 40;
  return leat_fail(c->error, LEAT_UNSUPPORTED, "npy dtype '%.*s' is not supported", shown, text);
}

static leat_status read_bool(cursor *c, bool *out) {
  *out = accept_word(c, "True");
  if (*out || accept_word(c, "False")) return LEAT_OK;
  return leat_fail(c->error, LEAT_INVALID, "fortran_order in the npy header is not True or False");
}

static leat_status read_shape(cursor *c, leat_tensor *out) {
  LEAT_TRY(expect(c, '('));
  while (!accept(c, ')')) {
    if (out->rank == LEAT_MAX_RANK)
      return leat_fail(c->error, LEAT_UNSUPPORTED, "the npy file has more than %d dimensions",
                       LEAT_MAX_RANK);
    LEAT_TRY(read_dim(c, &out->shape[out->rank++]));
    if (accept(c, ',')) continue;
    LEAT_TRY(expect(c, ')'));
    break;
  }
  return LEAT_OK;
}

// One `'key': value`. `seen` has a bit for each of the three keys.
static leat_status read_item(cursor *c, npy_header *out, unsigned *seen) {
  static const char *const keys[] = {"descr", "fortran_order", "shape"};
  const char *text;
  size_t length, key = 0;
  LEAT_TRY(read_string(c, &text, &length));
  while (key < 3 && (strlen(keys[key]) != length || memcmp(keys[key], text, length) != 0)) key++;
  if (key == 3 || *seen & 1u << key)
    return leat_fail(c->error, LEAT_INVALID, "the npy header has an unknown or repeated key");
  *seen |= 1u << key;
  LEAT_TRY(expect(c, ':'));
  skip_space(c);
  if (key == 0) return read_dtype(c, out);
  if (key == 1) return read_bool(c, &out->fortran);
  return read_shape(c, &out->tensor);
}

static leat_status read_header(cursor *c, npy_header *out) {
  unsigned seen = 0;
  LEAT_TRY(expect(c, '{'));
  while (!accept(c, '}')) {
    LEAT_TRY(read_item(c, out, &seen));
    if (accept(c, ',')) continue;
    LEAT_TRY(expect(c, '}'));
    break;
  }
  skip_space(c);
  if (c->at != c->end || seen != 7)
    return leat_fail(c->error, LEAT_INVALID,
                     "the npy header is not a dict of 'descr', 'fortran_order' and 'shape'");
  return LEAT_OK;
}

// Finds the header's text by the version's width of its length.
static leat_status find_header(const unsigned char *bytes, size_t size, cursor *out) {
  if (size < MAGIC_SIZE + 2 || memcmp(bytes, magic, MAGIC_SIZE) != 0)
    return leat_fail(out->error, LEAT_INVALID, "not an npy file");
  unsigned version = bytes[MAGIC_SIZE];
  if (version < 1 || version > 3 || bytes[MAGIC_SIZE + 1] != 0)
    return leat_fail(out->error, LEAT_UNSUPPORTED, "npy version %u.%u is not supported", version,
                     bytes[MAGIC_SIZE + 1]);
  size_t width = version == 1 ? 2 : 4, start = MAGIC_SIZE + 2 + width, length = 0;
  if (size < start) return leat_fail(out->error, LEAT_INVALID, "the npy header is cut off");
  for (size_t i = width; i-- > 0;) length = length << 8 | bytes[MAGIC_SIZE + 2 + i];
  if (length > LARGEST_HEADER)
    return leat_fail(out->error, LEAT_INVALID, "the npy header has %zu bytes; at most %d are read",
                     length, LARGEST_HEADER);
  if (size - start < length)
    return leat_fail(out->error, LEAT_INVALID, "the npy header is cut off");
  out->at = (const char *)bytes + start;
  out->end = out->at + length;
  return LEAT_OK;
}

// -- Data that is no tensor yet -------------------------------------------------------------------

// Adds the code point as UTF-8; false: it is none.
static bool add_utf8(uint32_t point, char *to, uint64_t *size) {
  if (point > 0x10ffff || (point >= 0xd800 && point < 0xe000)) return false;
  int more = point < 0x80 ? 0 : point < 0x800 ? 1 : point < 0x10000 ? 2 : 3;
  static const unsigned char leads[] = {0, 0xc0, 0xe0, 0xf0};
  to[(*size)++] = (char)(leads[more] | point >> (6 * more));
  while (more-- > 0) to[(*size)++] = (char)(0x80 | (point >> (6 * more) & 0x3f));
  return true;
}

// One element of text; *to is where bytes are made, and moves on.
static bool read_text(const npy_header *h, const char *from, char **to, leat_str *out) {
  size_t width = h->width;
  uint32_t point = 0;
  while (width && memcmp(from + (width - 1) * h->unit, "\0\0\0\0", h->unit) == 0) width--;
  *out = (leat_str){h->unit == 1 ? from : *to, h->unit == 1 ? width : 0};
  for (size_t i = 0; h->unit == 4 && i < width; i++) {
    memcpy(&point, from + 4 * i, sizeof point);
    if (!add_utf8(point, *to, &out->size)) return false;
  }
  if (h->unit == 4) *to += out->size;
  return true;
}

// The strings, and behind them the bytes of those that do not lie in the file as they are.
static leat_status make_strings(const npy_header *h, const char *data, leat_npy *out,
                                leat_error *error) {
  size_t count = (size_t)leat_shape_elements(h->tensor.rank, h->tensor.shape);
  size_t size = h->width * h->unit, room;
  leat_str *strings = NULL;
  if (!__builtin_mul_overflow(count, sizeof *strings + size, &room)) strings = malloc(room + 1);
  if (!strings) return leat_fail(error, LEAT_MEMORY, "no memory for the strings of an npy file");
  char *to = (char *)(strings + count);
  out->tensor.data = out->made = strings;
  for (size_t i = 0; i < count; i++)
    if (!read_text(h, data + i * size, &to, &strings[i]))
      return leat_fail(error, LEAT_INVALID, "element %zu of the npy text is not Unicode", i);
  return LEAT_OK;
}

// The first axis varies fastest in the file, the last one here.
static leat_status transpose(leat_npy *out, leat_error *error) {
  leat_tensor *tensor = &out->tensor;
  size_t element = leat_dtype_size(tensor->dtype), size = (size_t)leat_tensor_bytes(tensor);
  char *from = tensor->data, *to = malloc(size + 1);
  if (!to) return leat_fail(error, LEAT_MEMORY, "no memory for npy data in Fortran order");
  int64_t index[LEAT_MAX_RANK] = {0};
  for (size_t at = 0; at < size; at += element) {
    int64_t place = 0;
    for (int32_t k = tensor->rank; k-- > 0;) place = place * tensor->shape[k] + index[k];
    memcpy(to + at, from + (size_t)place * element, element);
    for (int32_t k = tensor->rank; k-- > 0 && ++index[k] == tensor->shape[k];) index[k] = 0;
  }
  if (tensor->dtype != LEAT_str) {
    tensor->data = out->made = to;
  } else { // their bytes lie behind them
    memcpy(from, to, size);
    free(to);
  }
  return LEAT_OK;
}

static leat_status check_bools(const char *data, size_t count, leat_error *error) {
  for (size_t i = 0; i < count; i++)
    if ((unsigned char)data[i] > 1)
      return leat_fail(error, LEAT_INVALID, "element %zu of the npy bools is neither 0 nor 1", i);
  return LEAT_OK;
}

// The bytes that the data takes in the file; -1: more than there can be.
static int64_t data_bytes(const npy_header *h) {
  int64_t count = leat_shape_elements(h->tensor.rank, h->tensor.shape), bytes;
  if (!h->unit) return leat_tensor_bytes(&h->tensor);
  if (count < 0 || __builtin_mul_overflow(h->width, h->unit, &bytes) ||
      __builtin_mul_overflow(bytes, count, &bytes))
    return -1;
  return bytes;
}

// Of a file of `size` bytes, of which `known` are there; *data is where the header ends.
static leat_status read_type(const void *bytes, size_t known, uint64_t size, npy_header *h,
                             const char **data, leat_error *error) {
  cursor c = {.error = error};
  LEAT_TRY(find_header(bytes, known, &c));
  LEAT_TRY(read_header(&c, h));
  int64_t expected = data_bytes(h);
  uint64_t present = size - (uint64_t)(c.end - (const char *)bytes);
  *data = c.end;
  if (expected < 0 || leat_tensor_bytes(&h->tensor) < 0)
    return leat_fail(error, LEAT_INVALID, "the shape in the npy header is too large");
  if ((uint64_t)expected == present) return LEAT_OK;
  return leat_fail(error, LEAT_INVALID, "%llu bytes follow the npy header, its shape needs %lld",
                   (unsigned long long)present, (long long)expected);
}

leat_status leat_npy_describe(leat_tensor *out, const void *bytes, size_t known, uint64_t size,
                              leat_error *error) {
  npy_header h = {0};
  const char *data;
  LEAT_TRY(read_type(bytes, known, size, &h, &data, error));
  *out = h.tensor;
  return LEAT_OK;
}

static leat_status parse(leat_npy *out, const void *bytes, size_t size, leat_error *error) {
  npy_header h = {0};
  const char *data;
  LEAT_TRY(read_type(bytes, size, size, &h, &data, error));
  size_t present = size - (size_t)(data - (const char *)bytes);
  if (h.tensor.dtype == LEAT_bool) LEAT_TRY(check_bools(data, present, error));
  out->tensor = h.tensor;
  out->tensor.data = (void *)data;
  if (h.unit) LEAT_TRY(make_strings(&h, data, out, error));
  return h.fortran && h.tensor.rank > 1 ? transpose(out, error) : LEAT_OK;
}

leat_status leat_npy_parse(leat_npy *out, const void *bytes, size_t size, leat_error *error) {
  *out = (leat_npy){0};
  leat_status status = parse(out, bytes, size, error);
  if (status) leat_npy_close(out);
  return status;
}

leat_status leat_npy_open(leat_npy *out, const char *path, leat_error *error) {
  leat_file_view file;
  leat_error cause = {0};
  *out = (leat_npy){0};
  LEAT_TRY(leat_file_view_open(&file, path, error));
  leat_status status = leat_npy_parse(out, file.data, file.size, &cause);
  out->file = file;
  if (!status) return LEAT_OK;
  leat_npy_close(out);
  return leat_fail(error, status, "'%s': %s", path, cause.message);
}

void leat_npy_close(leat_npy *npy) {
  free(npy->made);
  leat_file_view_close(&npy->file);
  *npy = (leat_npy){0};
}

// -- Writing --------------------------------------------------------------------------------------

// How a tensor of strings is written: the characters of the longest, and no `|S0`.
typedef struct text_format {
  size_t unit, width;
} text_format;

// Its characters; false: it is no UTF-8.
static bool count_points(leat_str text, size_t *out) {
  *out = 0;
  for (uint64_t i = 0; i < text.size; (*out)++) {
    size_t size = leat_utf8_character(text.data + i, text.size - i);
    if (!size) return false;
    i += size;
  }
  return true;
}

static text_format text_format_of(const leat_tensor *tensor) {
  const leat_str *strings = tensor->data;
  int64_t count = leat_shape_elements(tensor->rank, tensor->shape);
  text_format points = {4, 1}, bytes = {1, 1};
  size_t width;
  for (int64_t i = 0; i < count; i++) {
    if (strings[i].size > bytes.width) bytes.width = (size_t)strings[i].size;
    if (!count_points(strings[i], &width))
      points.unit = 0;
    else if (width > points.width)
      points.width = width;
  }
  return points.unit ? points : bytes;
}

void leat_npy_add_header(leat_text *out, const leat_tensor *tensor) {
  leat_text dict = {0};
  text_format format = {0};
  leat_text_add(&dict, "{'descr': '");
  if (tensor->dtype == LEAT_str) format = text_format_of(tensor);
  if (format.unit)
    leat_text_add(&dict, format.unit == 1 ? "|S%zu" : "<U%zu", format.width);
  else
    leat_text_add(&dict, "%c%s", leat_dtype_size(tensor->dtype) == 1 ? '|' : '<',
                  descriptions[tensor->dtype]);
  leat_text_add(&dict, "', 'fortran_order': False, 'shape': (");
  for (int32_t i = 0; i < tensor->rank; i++)
    leat_text_add(&dict, i ? ", %lld" : "%lld", (long long)tensor->shape[i]);
  leat_text_add(&dict, tensor->rank == 1 ? ",), }" : "), }");
  size_t before = MAGIC_SIZE + 4;
  size_t padding = DATA_ALIGNMENT - 1 - (before + dict.size) % DATA_ALIGNMENT;
  leat_text_add(&dict, "%*s\n", (int)padding, "");
  leat_text_add_n(out, magic, MAGIC_SIZE);
  leat_text_add_n(out, (char[]){1, 0, (char)(dict.size & 0xff), (char)(dict.size >> 8)}, 4);
  leat_text_add_n(out, dict.data, dict.size);
  leat_text_finish(&dict);
}

// The code points of UTF-8.
static void put_points(leat_str text, char *to) {
  static const unsigned char lead_bits[] = {0, 0x7f, 0x1f, 0x0f, 0x07};
  for (uint64_t i = 0; i < text.size; to += sizeof(uint32_t)) {
    const unsigned char *from = (const unsigned char *)text.data + i;
    size_t size = leat_utf8_character(text.data + i, text.size - i);
    uint32_t point = from[0] & lead_bits[size];
    for (size_t k = 1; k < size; k++) point = point << 6 | (from[k] & 0x3f);
    memcpy(to, &point, sizeof point);
    i += size;
  }
}

// The strings side by side, NULs behind all but the longest.
static leat_status pack_strings(const leat_tensor *tensor, leat_bytes *out, leat_error *error) {
  const leat_str *strings = tensor->data;
  size_t count = (size_t)leat_shape_elements(tensor->rank, tensor->shape);
  text_format format = text_format_of(tensor);
  size_t width = format.unit * format.width;
  char *to = calloc(count + !count, width);
  if (!to)
    return leat_fail(error, LEAT_MEMORY, "no memory for %zu strings of %zu bytes", count, width);
  for (size_t i = 0; i < count; i++) {
    if (format.unit == 4)
      put_points(strings[i], to + i * width);
    else if (strings[i].size)
      memcpy(to + i * width, strings[i].data, strings[i].size);
  }
  *out = (leat_bytes){to, count * width};
  return LEAT_OK;
}

leat_status leat_npy_write(const char *path, const leat_tensor *tensor, leat_error *error) {
  int64_t bytes = leat_tensor_bytes(tensor);
  if (bytes < 0) return leat_fail(error, LEAT_INVALID, "'%s': the shape is too large", path);
  leat_text header = {0};
  leat_error cause = {0};
  leat_bytes data = {tensor->data, (size_t)bytes};
  bool text = tensor->dtype == LEAT_str;
  if (text && pack_strings(tensor, &data, &cause))
    return leat_fail(error, LEAT_MEMORY, "'%s': %s", path, cause.message);
  leat_npy_add_header(&header, tensor);
  leat_bytes pieces[] = {{header.data, header.size}, data};
  leat_status status = leat_file_write(path, pieces, 2, LEAT_FILE_ATOMIC, error);
  leat_text_finish(&header);
  if (text) free((void *)data.data);
  return status;
}
