// Messages in protobuf's text format: `node { name: "a" attr { key: "T" value { type: DT_FLOAT } }
// }`. The text becomes the bytes that the message would be, which are read as those of a binary
// file are. Fields that the descriptor does not have are read and left out.
#include "frontend/importer/graphdef/model.h"

#include "base/number.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { DEEPEST = 100, LONGEST_WORD = 256 };

typedef struct reader {
  leat_arena *arena;
  const char *path, *text, *at, *end;
  leat_error *error;
} reader;

static leat_status wrong(const reader *r, const char *words) {
  size_t line = 1;
  const char *begin = r->text;
  for (const char *c = r->text; c < r->at; c++)
    if (*c == '\n') {
      line++;
      begin = c + 1;
    }
  return leat_fail(r->error, LEAT_INVALID, "%s:%zu:%zu: %s", r->path, line,
                   (size_t)(r->at - begin) + 1, words);
}

static void skip_space(reader *r) {
  for (; r->at < r->end; r->at++) {
    if (*r->at == '#')
      while (r->at + 1 < r->end && r->at[1] != '\n') r->at++;
    else if (!isspace((unsigned char)*r->at))
      return;
  }
}

static bool next_is(reader *r, char c) {
  skip_space(r);
  return r->at < r->end && *r->at == c;
}

static bool accept(reader *r, char c) {
  bool is = next_is(r, c);
  if (is) r->at++;
  return is;
}

static bool in_word(char c) {
  return isalnum((unsigned char)c) || c == '_' || c == '.' || c == '-' || c == '+';
}

// A name or a number, cut at LONGEST_WORD.
static leat_status read_word(reader *r, char *out) {
  size_t size = 0;
  skip_space(r);
  while (r->at + size < r->end && in_word(r->at[size])) size++;
  if (!size) return wrong(r, "expected a name or a number");
  if (size >= LONGEST_WORD) return wrong(r, "this name is too long");
  memcpy(out, r->at, size);
  out[size] = '\0';
  r->at += size;
  return LEAT_OK;
}

// -- Bytes of a message ---------------------------------------------------------------------------

static void put_varint(leat_text *out, uint64_t value) {
  for (; value >= 128; value >>= 7) {
    char byte = (char)(value | 128);
    leat_text_add_n(out, &byte, 1);
  }
  char last = (char)value;
  leat_text_add_n(out, &last, 1);
}

static void put_tag(leat_text *out, const ProtobufCFieldDescriptor *field, unsigned wire) {
  put_varint(out, (uint64_t)field->id << 3 | wire);
}

static void put_bytes(leat_text *out, const ProtobufCFieldDescriptor *field,
                      const leat_text *data) {
  put_tag(out, field, PROTOBUF_C_WIRE_TYPE_LENGTH_PREFIXED);
  put_varint(out, data->size);
  leat_text_add_n(out, data->data ? data->data : "", data->size);
}

// -- Scalars --------------------------------------------------------------------------------------

static int digit_of(char c, int base) {
  int digit = isdigit((unsigned char)c)    ? c - '0'
              : isxdigit((unsigned char)c) ? (c | 32) - 'a' + 10
                                           : 99;
  return digit < base ? digit : -1;
}

// Up to `most` digits behind the escape's letter.
static char read_code(reader *r, int base, int most) {
  int code = 0;
  for (int i = 0; i < most && r->at < r->end && digit_of(*r->at, base) >= 0; i++)
    code = code * base + digit_of(*r->at++, base);
  return (char)code;
}

static leat_status read_escape(reader *r, leat_text *out) {
  static const char letters[] = "abfnrtv\\'\"?", bytes[] = "\a\b\f\n\r\t\v\\'\"?";
  if (r->at == r->end) return wrong(r, "this string does not end");
  char c = *r->at, byte;
  const char *found = c ? strchr(letters, c) : NULL;
  if (digit_of(c, 8) >= 0) {
    byte = read_code(r, 8, 3);
  } else if (c == 'x' || c == 'X') {
    r->at++;
    byte = read_code(r, 16, 2);
  } else if (found) {
    r->at++;
    byte = bytes[found - letters];
  } else {
    return wrong(r, "unknown escape");
  }
  leat_text_add_n(out, &byte, 1);
  return LEAT_OK;
}

// Strings that stand beside each other are one.
static leat_status read_string(reader *r, leat_text *out) {
  if (!next_is(r, '"') && !next_is(r, '\'')) return wrong(r, "expected a string");
  while (next_is(r, '"') || next_is(r, '\'')) {
    char quote = *r->at++;
    while (r->at < r->end && *r->at != quote && *r->at != '\n') {
      if (*r->at++ == '\\')
        LEAT_TRY(read_escape(r, out));
      else
        leat_text_add_n(out, r->at - 1, 1);
    }
    if (r->at == r->end || *r->at != quote) return wrong(r, "this string does not end");
    r->at++;
  }
  return LEAT_OK;
}

static leat_status read_enum(reader *r, const ProtobufCFieldDescriptor *field, const char *word,
                             leat_text *out) {
  const ProtobufCEnumValue *value =
      protobuf_c_enum_descriptor_get_value_by_name(field->descriptor, word);
  char *end;
  long number = value ? value->value : strtol(word, &end, 10);
  if (!value && *end) return wrong(r, "this is no value of the field before it");
  put_tag(out, field, PROTOBUF_C_WIRE_TYPE_VARINT);
  put_varint(out, (uint64_t)(int64_t)number);
  return LEAT_OK;
}

static leat_status read_float(reader *r, const ProtobufCFieldDescriptor *field, const char *word,
                              leat_text *out) {
  char *end;
  double number = leat_read_f64(word, &end);
  float single = leat_read_f32(word, &end);
  if (*end == 'f') end++;
  if (*end) return wrong(r, "expected a number");
  bool is_double = field->type == PROTOBUF_C_TYPE_DOUBLE;
  put_tag(out, field, is_double ? PROTOBUF_C_WIRE_TYPE_64BIT : PROTOBUF_C_WIRE_TYPE_32BIT);
  if (is_double)
    leat_text_add_n(out, (const char *)&number, sizeof number);
  else
    leat_text_add_n(out, (const char *)&single, sizeof single);
  return LEAT_OK;
}

static leat_status read_integer(reader *r, const ProtobufCFieldDescriptor *field, const char *word,
                                leat_text *out) {
  bool truth = strcmp(word, "true") == 0 || strcmp(word, "false") == 0;
  char *end = "";
  errno = 0;
  uint64_t number = truth            ? word[0] == 't'
                    : word[0] == '-' ? (uint64_t)strtoll(word, &end, 0)
                                     : strtoull(word, &end, 0);
  if (*end || errno) return wrong(r, "expected a whole number");
  if (field->type == PROTOBUF_C_TYPE_FIXED32) {
    uint32_t fixed = (uint32_t)number;
    put_tag(out, field, PROTOBUF_C_WIRE_TYPE_32BIT);
    leat_text_add_n(out, (const char *)&fixed, sizeof fixed);
    return LEAT_OK;
  }
  put_tag(out, field, PROTOBUF_C_WIRE_TYPE_VARINT);
  put_varint(out, number);
  return LEAT_OK;
}

static leat_status read_bytes(reader *r, const ProtobufCFieldDescriptor *field, leat_text *out) {
  leat_text bytes = {0};
  leat_status status = read_string(r, &bytes);
  if (!status) put_bytes(out, field, &bytes);
  leat_text_finish(&bytes);
  return status;
}

// `field` NULL: whatever stands there is left out.
static leat_status read_scalar(reader *r, const ProtobufCFieldDescriptor *field, leat_text *out) {
  char word[LONGEST_WORD];
  leat_text dropped = {0};
  if (!field && (next_is(r, '"') || next_is(r, '\''))) {
    leat_status status = read_string(r, &dropped);
    leat_text_finish(&dropped);
    return status;
  }
  if (field && (field->type == PROTOBUF_C_TYPE_STRING || field->type == PROTOBUF_C_TYPE_BYTES))
    return read_bytes(r, field, out);
  LEAT_TRY(read_word(r, word));
  if (!field) return LEAT_OK;
  switch (field->type) {
  case PROTOBUF_C_TYPE_ENUM: return read_enum(r, field, word, out);
  case PROTOBUF_C_TYPE_FLOAT:
  case PROTOBUF_C_TYPE_DOUBLE: return read_float(r, field, word, out);
  default: return read_integer(r, field, word, out);
  }
}

// -- Messages -------------------------------------------------------------------------------------

static leat_status read_fields(reader *r, const ProtobufCMessageDescriptor *descriptor, char close,
                               unsigned depth, leat_text *out);

static leat_status read_value(reader *r, const ProtobufCFieldDescriptor *field, unsigned depth,
                              leat_text *out) {
  bool brace = next_is(r, '{'), message = field && field->type == PROTOBUF_C_TYPE_MESSAGE;
  if (!brace && !next_is(r, '<')) {
    if (message) return wrong(r, "expected `{`");
    return read_scalar(r, field, out);
  }
  if (field && !message) return wrong(r, "expected a value, not a message");
  if (depth >= DEEPEST) return wrong(r, "messages are nested more than 100 deep");
  leat_text inner = {0};
  r->at++;
  leat_status status =
      read_fields(r, message ? field->descriptor : NULL, brace ? '}' : '>', depth + 1, &inner);
  if (!status && message) put_bytes(out, field, &inner);
  leat_text_finish(&inner);
  return status;
}

static leat_status read_field(reader *r, const ProtobufCMessageDescriptor *descriptor,
                              unsigned depth, leat_text *out) {
  char name[LONGEST_WORD];
  LEAT_TRY(read_word(r, name));
  const ProtobufCFieldDescriptor *field =
      descriptor ? protobuf_c_message_descriptor_get_field_by_name(descriptor, name) : NULL;
  bool colon = accept(r, ':');
  if (colon && accept(r, '[')) {
    while (!accept(r, ']')) {
      LEAT_TRY(read_value(r, field, depth, out));
      if (!accept(r, ',') && !next_is(r, ']')) return wrong(r, "expected `,` or `]`");
    }
  } else if (!colon && !next_is(r, '{') && !next_is(r, '<')) {
    return wrong(r, "expected `:` or `{`");
  } else {
    LEAT_TRY(read_value(r, field, depth, out));
  }
  if (!accept(r, ',')) accept(r, ';');
  return LEAT_OK;
}

// Up to `close`, or with 0 to the end.
static leat_status read_fields(reader *r, const ProtobufCMessageDescriptor *descriptor, char close,
                               unsigned depth, leat_text *out) {
  for (;;) {
    skip_space(r);
    if (close && accept(r, close)) return LEAT_OK;
    if (r->at == r->end) return close ? wrong(r, "this message does not end") : LEAT_OK;
    LEAT_TRY(read_field(r, descriptor, depth, out));
  }
}

leat_status tf_read_text(leat_arena *arena, const char *path, const char *text, size_t size,
                         const ProtobufCMessageDescriptor *descriptor, leat_bytes *out,
                         leat_error *error) {
  reader r = {arena, path, text, text, text + size, error};
  leat_text bytes = {0};
  leat_status status = read_fields(&r, descriptor, 0, 0, &bytes);
  if (!status)
    *out = (leat_bytes){leat_arena_strndup(arena, bytes.data ? bytes.data : "", bytes.size),
                        bytes.size};
  leat_text_finish(&bytes);
  return status;
}
