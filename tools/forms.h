// The other forms of what --help shows: a manual page and the completion of a command line. Both
// are hidden behind `--man` and `--complete`, which come first and alone: installation and shells
// ask with them, people do not.
#ifndef LEAT_TOOLS_FORMS_H
#define LEAT_TOOLS_FORMS_H

#include "tools/options.h"

// The page leat-NAME.1 of a command, and leat.1 of all of them.
void tool_print_page(const tool_command *command, const tool_options *groups, int group_count);
void tool_print_main_page(const tool_command *const *commands, int count);

// What may stand for the last of `words`, which may be "" and begins with what is there: a line
// each, `WORD<tab>help`; `<tab>PATTERN` stands for the files of that pattern. words[0] is the
// command's name.
void tool_complete(const tool_command *command, const tool_options *groups, int group_count,
                   int count, char **words);
// Of the words behind `leat`.
void tool_complete_main(const tool_command *const *commands, int command_count, int count,
                        char **words);

// The names that `leat ops` lists.
tool_list tool_op_names(void);

#endif
