// Text that grows: what printers write into; leat_text_finish ends it. Where there is no memory for
// more, the call ends at its recovery point (base/recovery.h), which holds the text; a thread that
// has none goes on with a text that is cut short.
#ifndef LEAT_BASE_TEXT_H
#define LEAT_BASE_TEXT_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct leat_text {
  char *data; // NUL-terminated once anything was added
  size_t size, capacity;
  bool cut; // something could not be added
} leat_text;

void leat_text_add(leat_text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));
void leat_text_add_v(leat_text *text, const char *format, va_list arguments)
    __attribute__((format(printf, 2, 0)));
void leat_text_add_n(leat_text *text, const char *data, size_t size);
// What a graph's text is made of, without looking through a format.
void leat_text_add_string(leat_text *text, const char *string);
void leat_text_add_i64(leat_text *text, int64_t value);
void leat_text_add_u64(leat_text *text, uint64_t value);
// Room for `extra` more bytes: adding so many does not fail. False: there is no memory for them.
bool leat_text_reserve(leat_text *text, size_t extra);
// The text as memory that one free() ends; the text is empty then.
char *leat_text_take(leat_text *text);
// A quoted string of the language: `"…"` with \\ \" \n \t \r \{ \} and \xHH escapes.
void leat_text_add_quoted(leat_text *text, const char *data, size_t size);
// The shortest decimal that reads back as the same f64 (or f32); always has a '.', an exponent, or
// is nan/inf/-inf.
void leat_text_add_f64(leat_text *text, double value);
void leat_text_add_f32(leat_text *text, float value);
void leat_text_finish(leat_text *text);

bool leat_ends_with(const char *text, const char *end); // behind something else
// Bytes of the UTF-8 character that `text` begins with; 0 when there is none that is well-formed.
size_t leat_utf8_character(const char *text, size_t size);

#endif
