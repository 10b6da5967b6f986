// A step as the command line asks for it: --entry, --feed, --fetch, --run, prepared with its feeds
// read; --dim.
#ifndef LEAT_TOOLS_PREPARED_H
#define LEAT_TOOLS_PREPARED_H

#include "leat/leat.h"
#include "runtime/feed.h"
#include "tools/options.h"

typedef struct prepared {
  tool_list entries, feeds, fetches, runs; // as written
  leat_step *step;                         // NULL: --stop-after ended it
  leat_tensor *feed_values, *fetch_values; // by port
  leat_feed *given;                        // whose tensors the feed_values are, or …
  leat_feed_file *files;                   // … these files'
} prepared;

// The entries that a word behind --entry names: `train`, or `train+eval`, which one run does
// together.
tool_list tool_split_entries(const leat_session *session, const char *word);

// What --dim NAME=VALUE says, in tool_arena; the exit code.
int tool_read_dims(const tool_command *command, const tool_list *words, const leat_setting **out);

// Makes the step. With no entry, fetch or run named, the graph's only entry is meant. The result is
// an exit code; messages are shown.
int tool_prepare(prepared *p, leat_session *session);
void tool_prepared_finish(prepared *p);

#endif
