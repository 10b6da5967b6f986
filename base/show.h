// What programs show on stdout and stderr: all of it passes here, so that nothing that comes out of
// a file or a name does to a terminal what it likes (base/printable.h). What draws on a terminal,
// or writes a file that was asked for, is told apart by tests/check_output.
#ifndef LEAT_BASE_SHOW_H
#define LEAT_BASE_SHOW_H

#include <stdarg.h>
#include <stdio.h>

void leat_show(FILE *to, const char *format, ...) __attribute__((format(printf, 2, 3)));
void leat_show_v(FILE *to, const char *format, va_list arguments)
    __attribute__((format(printf, 2, 0)));

#endif
