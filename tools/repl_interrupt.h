// ^C while a text is typed.
#ifndef LEAT_TOOLS_REPL_INTERRUPT_H
#define LEAT_TOOLS_REPL_INTERRUPT_H

#include <stdbool.h>

// A text begins: what was typed of an earlier one has been forgotten. From here to the end ^C is
// noticed, not what it was before.
void repl_interrupt_begin(void);
void repl_interrupt_end(void);
bool repl_interrupted(void); // since it began
// Again, where somebody else has set a handler.
void repl_interrupt_catch(void);
// The next byte that is typed; -1 at the end of the input, at ^C, or, with a timeout in ms that is
// not -1, when none came in time.
int repl_interrupt_read(int timeout);

#endif
