// leat inspect: what the compiler decides for a step, without running it.
#include "session/inspect.h"

#include "base/show.h"
#include "tools/prepared.h"
#include "tools/session_options.h"

#include <stdlib.h>

typedef struct inspect_options {
  session_options session;
  tool_list entries, fetches, donated, dims;
  leat_inspect_options asked;
} inspect_options;

static int inspect(inspect_options *o, leat_session *session) {
  tool_list words = o->entries, names = {0};
  if (!words.count && !o->fetches.count && leat_session_entry_count(session) == 1)
    leat_vec_push(tool_arena(), &words, leat_session_entry(session, 0));
  if (words.count) names = tool_split_entries(session, words.items[0]);
  leat_step_spec spec = {.entries = names.items,
                         .entry_count = (int)names.count,
                         .fetches = o->fetches.items,
                         .fetch_count = (int)o->fetches.count,
                         .donated = o->donated.items,
                         .donated_count = (int)o->donated.count};
  char *text;
  int status = tool_report(session, leat_session_inspect(session, &spec, &o->asked, &text));
  if (!status && text) leat_show(stdout, "%s", text);
  free(text);
  return status;
}

static int run(const tool_command *command, int argc, char **argv) {
  inspect_options o = {0};
  tool_option shared[SESSION_OPTION_COUNT];
  const tool_option own[] = {
      {"memory", 0, TOOL_FLAG, &o.asked.memory, NULL,
       "where values lie and how long, what shares memory, where the peak is"},
      {"plan", 0, TOOL_FLAG, &o.asked.plan, NULL,
       "how products and convolutions are computed: blocks, tiles, how operands are read"},
      {"all", 0, TOOL_FLAG, &o.asked.all, NULL, "all of long lists, not the largest alone"},
      {"entry", 'e', TOOL_LIST, &o.entries, "ENTRY",
       "of this entry (default: the only one); A+B: of both in one step"},
      {"fetch", 0, TOOL_LIST, &o.fetches, "NAME", "and with this as a result"},
      {"donate", 0, TOOL_LIST, &o.donated, "FEED",
       "as if its memory were the step's, to make results in"},
      {"dim", 0, TOOL_LIST, &o.dims, "NAME=N", "with this value of a run-time dim: B=128"},
  };
  const tool_options groups[] = {{"Options", own, TOOL_COUNT(own)},
                                 tool_session_options(&o.session, CHECKS, shared)};
  int first, status;
  if (!tool_parse(command, groups, TOOL_COUNT(groups), argc, argv, &first, &status)) return status;
  if (argc - first != 1) return tool_usage_error(command, "one FILE is expected");
  if (!o.asked.memory && !o.asked.plan)
    return tool_usage_error(command, "what of it? --memory, --plan");
  if (o.entries.count > 1)
    return tool_usage_error(command, "one --entry is expected: %s+%s are one step",
                            o.entries.items[0], o.entries.items[1]);
  status = tool_read_dims(command, &o.dims, &o.asked.dims);
  o.asked.dim_count = (int)o.dims.count;
  if (status) return status;
  leat_session *session = tool_open(&o.session, argv[first], &status);
  if (session) status = inspect(&o, session);
  return tool_close(&o.session, session, status);
}

const tool_command inspect_command = {
    "inspect", "FILE --memory|--plan [--entry NAME] [--dim NAME=N]…",
    "show what the compiler decides: where values lie, how products are computed", run};
