// What people write who think of another language, and what it is called here.
#ifndef LEAT_FRONTEND_HABITS_H
#define LEAT_FRONTEND_HABITS_H

#include "base/arena.h"

// What to say of a word of another language: "`float32` is written `f32`". NULL of other words.
const char *leat_habit_word(const char *word, size_t size);

// The same of the longest sign that the `size` bytes of `text` begin with, whose size is *out_size.
const char *leat_habit_sign(const char *text, size_t size, size_t *out_size);

// The same of `.mean` or `.nn.Linear`, which the `size` bytes of `text` begin with; NULL where the
// last of these words is neither a word of another language nor a function.
const char *leat_habit_part(const char *text, size_t size, leat_arena *arena);

#endif
