// Feeds are read when the step is known, because it says what their dtypes are.
#include "tools/prepared.h"

#include "base/show.h"
#include "tools/session_options.h"
#include "tools/values.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// The names before the `=`, and what stands behind it. False: a mistake, which was shown.
static bool split_feeds(const prepared *p, char **names, const char **values) {
  for (uint32_t i = 0; i < p->feeds.count; i++) {
    if (tool_split(p->feeds.items[i], &names[i], &values[i])) continue;
    leat_show(stderr, "error: --feed %s: expected NAME=VALUE or NAME=@FILE.npy\n",
              p->feeds.items[i]);
    return false;
  }
  return true;
}

static int find_feed(const leat_step *step, const char *name) {
  for (int i = 0; i < leat_step_feed_count(step); i++)
    if (strcmp(leat_step_feed(step, i)->name, name) == 0) return i;
  return -1;
}

static int read_feeds(prepared *p, char **names, const char **values) {
  leat_error error = {0};
  for (uint32_t i = 0; i < p->feeds.count; i++) {
    int port = find_feed(p->step, names[i]);
    const leat_port *of = leat_step_feed(p->step, port);
    leat_feed_port expected = {of->name, of->type, of->dtype, of->rank};
    if (p->feed_values[port].data)
      leat_fail(&error, LEAT_INVALID, "`%s` is fed twice", names[i]);
    else if (!leat_feed_read(tool_arena(), values[i], &expected, &p->given[port], &error))
      p->feed_values[port] = p->given[port].tensor;
    if (error.status) return tool_fail(&error);
  }
  for (int i = 0; i < leat_step_feed_count(p->step); i++) {
    const leat_port *port = leat_step_feed(p->step, i);
    if (p->feed_values[i].data || port->has_fallback) continue;
    leat_fail(&error, LEAT_INVALID, "nothing is fed to `%s`, which is %s", port->name, port->type);
    return tool_fail(&error);
  }
  return TOOL_OK;
}

// The only entry of the graph, when nothing was named.
static void choose_entry(prepared *p, const leat_session *session) {
  if (p->entries.count || p->fetches.count || p->runs.count) return;
  if (leat_session_entry_count(session) != 1) return;
  leat_vec_push(tool_arena(), &p->entries, leat_session_entry(session, 0));
}

static bool is_entry(const leat_session *session, const char *name) {
  for (int i = 0; i < leat_session_entry_count(session); i++)
    if (strcmp(leat_session_entry(session, i), name) == 0) return true;
  return false;
}

tool_list tool_split_entries(const leat_session *session, const char *word) {
  tool_list names = {0};
  for (const char *plus; !is_entry(session, word) && (plus = strchr(word, '+')); word = plus + 1)
    leat_vec_push(tool_arena(), &names,
                  leat_arena_strndup(tool_arena(), word, (size_t)(plus - word)));
  leat_vec_push(tool_arena(), &names, word);
  return names;
}

int tool_read_dims(const tool_command *command, const tool_list *words, const leat_setting **out) {
  leat_setting *dims = leat_new_array(tool_arena(), leat_setting, words->count);
  *out = dims;
  for (uint32_t i = 0; i < words->count; i++) {
    char *name;
    if (!tool_split(words->items[i], &name, &dims[i].value))
      return tool_usage_error(command, "--dim %s: expected NAME=VALUE", words->items[i]);
    dims[i].name = name;
  }
  return TOOL_OK;
}

int tool_prepare(prepared *p, leat_session *session) {
  char **names = leat_new_array(tool_arena(), char *, p->feeds.count);
  const char **values = leat_new_array(tool_arena(), const char *, p->feeds.count);
  tool_list entries = {0};
  if (!split_feeds(p, names, values)) return TOOL_USAGE;
  choose_entry(p, session);
  if (p->entries.count) entries = tool_split_entries(session, p->entries.items[0]);
  leat_step_spec spec = {.entries = entries.items,
                         .entry_count = (int)entries.count,
                         .feeds = (const char *const *)names,
                         .feed_count = (int)p->feeds.count,
                         .fetches = p->fetches.items,
                         .fetch_count = (int)p->fetches.count,
                         .runs = p->runs.items,
                         .run_count = (int)p->runs.count};
  int status = tool_report(session, leat_session_prepare(session, &spec, &p->step));
  if (!status && p->step) {
    size_t feeds = (size_t)leat_step_feed_count(p->step);
    size_t fetches = (size_t)leat_step_fetch_count(p->step);
    p->feed_values = leat_new_array(tool_arena(), leat_tensor, feeds);
    p->given = leat_new_array(tool_arena(), leat_feed, feeds);
    p->fetch_values = leat_new_array(tool_arena(), leat_tensor, fetches);
    status = read_feeds(p, names, values);
  }
  return status;
}

void tool_prepared_finish(prepared *p) {
  for (int i = 0; p->given && i < leat_step_feed_count(p->step); i++) leat_feed_close(&p->given[i]);
  leat_step_destroy(p->step);
}
