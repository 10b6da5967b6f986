// What comes out of a file or a name may hold control characters, with which it could do to a
// terminal what it likes. All that Leat shows passes through here.
#ifndef LEAT_BASE_PRINTABLE_H
#define LEAT_BASE_PRINTABLE_H

#include <stdbool.h>
#include <stddef.h>

// Overwrites by `?` each byte of a control character: those of ASCII but newlines and tabs, those
// that 8 bits add (U+0080 to U+009F, as UTF-8 and as bytes that are none), and those that change
// the direction of writing. A signal handler may call it.
void leat_mask_controls_n(char *text, size_t size);
void leat_mask_controls(char *text); // up to its NUL
// Whether a character of so many bytes, well-formed UTF-8, is one of these, or a newline or tab.
bool leat_is_control(const char *text, size_t size);

#endif
