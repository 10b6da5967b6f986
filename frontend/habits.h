// What people write who think of another language, and what it is called here.
#ifndef LEAT_FRONTEND_HABITS_H
#define LEAT_FRONTEND_HABITS_H

#include <stddef.h>

// What to say of a word of another language: "`float32` is written `f32`". NULL of other words.
const char *leat_habit_word(const char *word, size_t size);

// The same of the longest sign that the `size` bytes of `text` begin with, whose size is *out_size.
const char *leat_habit_sign(const char *text, size_t size, size_t *out_size);

#endif
