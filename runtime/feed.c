// Literals are nested lists of numbers, true, false and strings; the lists' lengths are the shape.
// It runs seldom: compiled for size.
#include "runtime/feed.h"

#include "base/number.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_ELEMENTS = 1 << 24 };

typedef struct reader {
  const char *at;
  const leat_feed_port *port;
  leat_arena *arena;
  leat_tensor *out;
  int64_t count, capacity; // elements
  leat_error *error;
} reader;

static leat_status complain(reader *r, const char *what) {
  return leat_fail(r->error, LEAT_INVALID, "feed `%s`, which is %s: %s", r->port->name,
                   r->port->type, what);
}

static void skip_space(reader *r) {
  while (isspace((unsigned char)*r->at)) r->at++;
}

static leat_status grow(reader *r) {
  if (r->count < r->capacity) return LEAT_OK;
  if (r->count >= MOST_ELEMENTS) return complain(r, "so many numbers belong into a .npy file");
  int64_t capacity = r->capacity ? 2 * r->capacity : 16;
  size_t element = leat_dtype_size(r->out->dtype);
  void *grown = leat_arena_alloc(r->arena, (size_t)capacity * element);
  if (r->count) memcpy(grown, r->out->data, (size_t)r->count * element);
  r->out->data = grown;
  r->capacity = capacity;
  return LEAT_OK;
}

static leat_status read_number(reader *r, void *to) {
  static const char *const expected[] = {
      [LEAT_KIND_BOOL] = "expected true or false",
      [LEAT_KIND_SIGNED] = "expected an integer",
      [LEAT_KIND_UNSIGNED] = "expected an integer",
      [LEAT_KIND_FLOAT] = "expected a number",
      [LEAT_KIND_COMPLEX] = "expected a complex number, as `1.5-2j`",
  };
  bool fits;
  const char *end = leat_number_parse(r->out->dtype, r->at, to, &fits);
  if (!end) return complain(r, expected[leat_dtype_kind_of(r->out->dtype)]);
  if (!fits) return complain(r, "an integer is out of its dtype's range");
  r->at = end;
  return LEAT_OK;
}

// The byte that \xHH names; -1: none.
static int read_hex(const char *at) {
  int high = leat_hex_digit(at[0]), low = high < 0 ? -1 : leat_hex_digit(at[1]);
  return low < 0 ? -1 : high << 4 | low;
}

// The byte after a backslash, at r->at; -1: no escape of the language.
static int read_escape(reader *r) {
  static const char letters[] = "\\\"ntr{}", bytes[] = "\\\"\n\t\r{}";
  const char *letter = *r->at ? strchr(letters, *r->at) : NULL;
  int byte = letter ? bytes[letter - letters] : *r->at == 'x' ? read_hex(r->at + 1) : -1;
  if (byte >= 0) r->at += letter ? 1 : 3;
  return byte;
}

// "…" as the language has it; alone, a text without quotes is itself.
static leat_status read_string(reader *r, void *to) {
  char *bytes = leat_arena_alloc(r->arena, strlen(r->at) + 1);
  leat_str string = {.data = bytes};
  bool bare = *r->at != '"' && r->port->rank == 0;
  if (!bare && *r->at++ != '"') return complain(r, "expected a string, in quotes");
  while (*r->at && (bare || *r->at != '"')) {
    bool escaped = !bare && *r->at == '\\';
    if (escaped) r->at++;
    int byte = escaped ? read_escape(r) : (unsigned char)*r->at++;
    if (byte < 0) return complain(r, "an unknown escape");
    bytes[string.size++] = (char)byte;
  }
  if (!bare && *r->at++ != '"') return complain(r, "a `\"` is missing");
  memcpy(to, &string, sizeof string);
  return LEAT_OK;
}

static leat_status read_element(reader *r) {
  LEAT_TRY(grow(r));
  leat_dtype dtype = r->out->dtype;
  void *to = (char *)r->out->data + (size_t)r->count++ * leat_dtype_size(dtype);
  return dtype == LEAT_str ? read_string(r, to) : read_number(r, to);
}

static leat_status read_list(reader *r, int depth);

// A number at the depth of the rank, else a list.
static leat_status read_at(reader *r, int depth) {
  skip_space(r);
  if (depth < r->port->rank) return read_list(r, depth);
  if (*r->at == '[') return complain(r, "found `[` where an element is expected");
  return read_element(r);
}

static leat_status read_list(reader *r, int depth) {
  if (*r->at != '[') return complain(r, "expected `[`: there is a list for each axis");
  int64_t length = 0;
  r->at++;
  for (skip_space(r); *r->at && *r->at != ']'; skip_space(r)) {
    if (length++ && *r->at++ != ',') return complain(r, "expected `,` or `]`");
    LEAT_TRY(read_at(r, depth + 1));
  }
  if (*r->at++ != ']') return complain(r, "a `]` is missing");
  if (r->out->shape[depth] >= 0 && r->out->shape[depth] != length)
    return complain(r, "its rows differ in length");
  r->out->shape[depth] = length;
  return LEAT_OK;
}

static leat_status read_literal(leat_arena *arena, const char *text, const leat_feed_port *port,
                                leat_tensor *out, leat_error *error) {
  reader r = {.at = text, .port = port, .arena = arena, .out = out, .error = error};
  *out = (leat_tensor){.dtype = port->dtype, .rank = port->rank};
  for (int i = 0; i < port->rank; i++) out->shape[i] = -1;
  LEAT_TRY(read_at(&r, 0));
  skip_space(&r);
  if (*r.at) return complain(&r, "something follows its end");
  for (int i = 0; i < port->rank; i++)
    if (out->shape[i] < 0) out->shape[i] = 0;
  return grow(&r); // an empty tensor has data too
}

leat_status leat_feed_read(leat_arena *arena, const char *text, const leat_feed_port *port,
                           leat_feed *out, leat_error *error) {
  *out = (leat_feed){0};
  if (*text != '@') return read_literal(arena, text, port, &out->tensor, error);
  leat_data_file archive;
  leat_status status = leat_npy_open(&out->file, text + 1, error);
  out->tensor = out->file.tensor;
  if (!status || leat_npz_open(&archive, text + 1, NULL)) return status;
  leat_data_file_close(&archive);
  *error = (leat_error){0};
  return leat_fail(error, LEAT_INVALID,
                   "feed `%s`: the arrays of a .npz feed what they are called: --feed %s",
                   port->name, text);
}

void leat_feed_close(leat_feed *feed) {
  leat_npy_close(&feed->file);
  *feed = (leat_feed){0};
}

leat_status leat_feed_file_open(leat_arena *arena, const char *text, leat_feed_file **files,
                                leat_error *error) {
  leat_feed_file *file = leat_new(arena, leat_feed_file);
  LEAT_TRY(leat_npz_open(&file->data, text + 1, error));
  file->before = *files;
  *files = file;
  return leat_data_file_read_all(&file->data, error);
}

void leat_feed_files_close(leat_feed_file *files) {
  for (; files; files = files->before) leat_data_file_close(&files->data);
}
