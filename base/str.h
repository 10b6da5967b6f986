// Elements of dtype str: what ops on them compute, for the reference and for compiled steps alike.
// A string is bytes; letters are those of ASCII.
#ifndef LEAT_BASE_STR_H
#define LEAT_BASE_STR_H

#include "base/number.h"
#include "base/text.h"
#include "leat/dtype.h"

int leat_str_compare(leat_str a, leat_str b); // by bytes, as memcmp; -1, 0 or 1
int64_t leat_str_hash(leat_str a);            // FNV-1a of 64 bits
// At most `size` bytes from `start`, which counts from the end when negative; both are cut to what
// there is. No copy: it points into the string.
leat_str leat_str_part(leat_str a, int64_t start, int64_t size);
// The same of characters in UTF-8: bytes that go on with one, 10xxxxxx, count with what they
// follow.
int64_t leat_str_characters(leat_str a);
leat_str leat_str_character_part(leat_str a, int64_t start, int64_t size);
// Stores the number that the whole string spells, as leat_number_parse has it, without space
// around it and in less than 400 bytes. i32, i64, f32 and f64; false: it spells none of these.
bool leat_str_parse(leat_str a, leat_dtype dtype, void *to);

// Quoted, for messages: its first LEAT_STR_SHOWN bytes, and `…` where there are more.
enum { LEAT_STR_SHOWN = 40 };
void leat_str_show(leat_str a, leat_text *out);

// Where `part` begins, at `from` or behind it; the last place; how often it is there, one behind
// the other. -1: nowhere. As in Python, an empty part is everywhere, even at the end.
int64_t leat_str_find(leat_str a, leat_str part, int64_t from);
int64_t leat_str_rfind(leat_str a, leat_str part);
int64_t leat_str_count(leat_str a, leat_str part);
bool leat_str_starts_with(leat_str a, leat_str part);
bool leat_str_ends_with(leat_str a, leat_str part);
// Without the bytes at its ends that are among `bytes`. No copy, nor is one in what follows.
leat_str leat_str_strip(leat_str a, leat_str bytes, bool left, bool right);
// The pieces between separators, of which there is always one, and empty strings up to n. Returns
// how many there are; those that are too many are not stored. 0: the separator is empty.
int64_t leat_str_split(leat_str a, leat_str separator, leat_str *out, int64_t n);

// Element i of x, by leat_number_format. False: no memory.
enum { LEAT_STR_WIDEST = 1000 }; // width and precision
bool leat_str_format_number(leat_dtype dtype, const void *x, int64_t i,
                            const leat_number_style *style, leat_text *out);

// How a new string is made, of element i of each input.
typedef enum leat_str_maker {
  LEAT_STR_CONCAT,    // x then y
  LEAT_STR_REPLACE,   // x with z for each y; of an empty y z before each byte and at the end
  LEAT_STR_LOWER,     // A … Z as a … z
  LEAT_STR_UPPER,     // a … z as A … Z
  LEAT_STR_OF_NUMBER, // the shortest digits that read back as x
} leat_str_maker;

// dtype: of the first input. False, here and of leat_str_join: no memory for it.
bool leat_str_make(leat_str_maker maker, leat_dtype dtype, const void *const *inputs, int64_t i,
                   leat_text *out);
// n strings, `stride` elements apart, with the separator between them.
bool leat_str_join(const leat_str *x, int64_t n, int64_t stride, leat_str separator,
                   leat_text *out);

// -- Whose the bytes are -------------------------------------------------------------------------
//
// Elements point to bytes that somebody else keeps: the image (constants), the client (feeds), the
// step's heap (whatever a step makes). Only the elements of a variable own theirs.

// None of n strings has bytes nowhere.
bool leat_strs_have_bytes(const leat_str *x, int64_t n);
// The bytes of n strings together; UINT64_MAX: too many for the address space.
uint64_t leat_strs_bytes(const leat_str *x, int64_t n);
// out[i] = x[i], with its bytes at `bytes`, one string behind the other. out may be x.
void leat_strs_copy(leat_str *out, const leat_str *x, int64_t n, char *bytes);

// Gives an element that owns its bytes a copy of others. False: no memory, and it stays as it was.
bool leat_str_own(leat_str *to, leat_str from);
void leat_strs_disown(leat_str *x, int64_t n); // frees the bytes; the strings are empty then

// The packed form, of messages: n sizes, each a u64, then the bytes.
uint64_t leat_strs_packed_size(const leat_str *x, int64_t n); // UINT64_MAX as above
void leat_strs_pack(const leat_str *x, int64_t n, void *to);
// out[i] points into `bytes`, or into `from`. False: the sizes are not those of what is there.
bool leat_strs_point(leat_str *out, int64_t n, const void *sizes, const void *bytes,
                     uint64_t byte_count);
bool leat_strs_unpack(leat_str *out, int64_t n, const void *from, uint64_t size);

#endif
