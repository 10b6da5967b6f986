// What Leat has under a name, for `leat ops` and the REPL.
#ifndef LEAT_TOOLS_DESCRIBE_H
#define LEAT_TOOLS_DESCRIBE_H

// Prints the primitive, the library's function and the compile-time function of that name; an error
// with a suggestion, and its exit status, when there is none.
int tool_describe(const char *name);

#endif
