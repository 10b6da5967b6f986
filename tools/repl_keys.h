// Lines that libedit edits, key by key.
#ifndef LEAT_TOOLS_REPL_KEYS_H
#define LEAT_TOOLS_REPL_KEYS_H

// Once, before the first line.
void repl_open_keys(void);
// The line without its newline, malloc'ed; NULL at the end of the input. Behind ^C what it gives is
// of no interest.
char *repl_edit_line(const char *prompt);

#endif
