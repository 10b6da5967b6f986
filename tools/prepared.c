// Feeds are read when the step is known, because it says what their dtypes are.
#include "tools/prepared.h"

#include "base/show.h"
#include "tools/session_options.h"
#include "tools/values.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// What --feed says of one feed.
typedef struct given_feed {
  const char *value;         // behind NAME=; NULL: …
  const leat_tensor *tensor; // … an array of a file
} given_feed;

typedef struct given_feeds {
  leat_vec(const char *) names;
  leat_vec(given_feed) feeds;
} given_feeds;

static int complain(const char *word) {
  leat_show(stderr, "error: --feed %s: expected NAME=VALUE, NAME=@FILE.npy or @FILE.npz\n", word);
  return TOOL_USAGE;
}

static void add_feed(given_feeds *given, const char *name, given_feed feed) {
  leat_vec_push(tool_arena(), &given->names, name);
  leat_vec_push(tool_arena(), &given->feeds, feed);
}

static int add_file(prepared *p, const char *word, given_feeds *out) {
  leat_error error = {0};
  if (leat_feed_file_open(tool_arena(), word, &p->files, &error)) return tool_fail(&error);
  const leat_data_file *file = &p->files->data;
  for (size_t i = 0; i < file->count; i++)
    add_feed(out, file->tensors[i].name, (given_feed){.tensor = &file->tensors[i].tensor});
  return TOOL_OK;
}

static int split_feeds(prepared *p, given_feeds *out) {
  int status = TOOL_OK;
  for (uint32_t i = 0; i < p->feeds.count && !status; i++) {
    const char *word = p->feeds.items[i];
    given_feed feed = {0};
    char *name;
    if (*word == '@')
      status = add_file(p, word, out);
    else if (tool_split(word, &name, &feed.value))
      add_feed(out, name, feed);
    else
      status = complain(word);
  }
  return status;
}

static int find_feed(const leat_step *step, const char *name) {
  for (int i = 0; i < leat_step_feed_count(step); i++)
    if (strcmp(leat_step_feed(step, i)->name, name) == 0) return i;
  return -1;
}

static int read_feeds(prepared *p, const given_feeds *given) {
  leat_error error = {0};
  for (uint32_t i = 0; i < given->names.count; i++) {
    const given_feed *feed = &given->feeds.items[i];
    int port = find_feed(p->step, given->names.items[i]);
    const leat_port *of = leat_step_feed(p->step, port);
    leat_feed_port expected = {of->name, of->type, of->dtype, of->rank};
    if (p->feed_values[port].data)
      leat_fail(&error, LEAT_INVALID, "`%s` is fed twice", of->name);
    else if (feed->tensor)
      p->feed_values[port] = *feed->tensor;
    else if (!leat_feed_read(tool_arena(), feed->value, &expected, &p->given[port], &error))
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

// Names that nobody has typed.
static void tell_files(const leat_feed_file *files) {
  enum { MOST = 8 };
  for (; files; files = files->before) {
    leat_text names = {0};
    for (size_t i = 0; i < files->data.count && i < MOST; i++)
      leat_text_add(&names, "%s`%s`", i ? ", " : "", files->data.tensors[i].name);
    leat_show(stderr, "note: '%s' feeds %s%s\n", files->data.path,
              names.data ? names.data : "nothing", files->data.count > MOST ? ", …" : "");
    leat_text_finish(&names);
  }
}

int tool_prepare(prepared *p, leat_session *session) {
  given_feeds given = {0};
  tool_list entries = {0};
  int status = split_feeds(p, &given);
  if (status) return status;
  choose_entry(p, session);
  if (p->entries.count) entries = tool_split_entries(session, p->entries.items[0]);
  leat_step_spec spec = {.entries = entries.items,
                         .entry_count = (int)entries.count,
                         .feeds = given.names.items,
                         .feed_count = (int)given.names.count,
                         .fetches = p->fetches.items,
                         .fetch_count = (int)p->fetches.count,
                         .runs = p->runs.items,
                         .run_count = (int)p->runs.count};
  leat_status made = leat_session_prepare(session, &spec, &p->step);
  status = tool_report(session, made);
  if (made == LEAT_NOT_FOUND) tell_files(p->files);
  if (!status && p->step) {
    size_t feeds = (size_t)leat_step_feed_count(p->step);
    size_t fetches = (size_t)leat_step_fetch_count(p->step);
    p->feed_values = leat_new_array(tool_arena(), leat_tensor, feeds);
    p->given = leat_new_array(tool_arena(), leat_feed, feeds);
    p->fetch_values = leat_new_array(tool_arena(), leat_tensor, fetches);
    status = read_feeds(p, &given);
  }
  return status;
}

void tool_prepared_finish(prepared *p) {
  for (int i = 0; p->given && i < leat_step_feed_count(p->step); i++) leat_feed_close(&p->given[i]);
  leat_feed_files_close(p->files);
  leat_step_destroy(p->step);
}
