// What is typed: a text extends the graph, then a step runs what it did and shows what it asked
// for. A line that runs an entry takes two steps: what the entry is fed, then the entry.
#include "base/show.h"
#include "base/tensor.h"
#include "frontend/syntax/lexer.h"
#include "session/driver.h"
#include "tools/repl.h"
#include "tools/session_options.h"
#include "tools/values.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static leat_tensor clone(const leat_tensor *tensor) {
  leat_tensor copy = *tensor;
  copy.data = leat_tensor_clone(tensor);
  if (!copy.data) leat_out_of_memory();
  return copy;
}

// -- `_` ---------------------------------------------------------------------------------------

void repl_set_last(repl *r, const leat_tensor *value) {
  free(r->last.data);
  r->last = value ? clone(value) : (leat_tensor){0};
  r->last_held = false;
}

static void show(repl *r, const char *name, const leat_tensor *value) {
  tool_print_value(name, value);
  repl_set_last(r, value);
}

static bool mentions_last(const char *text, size_t size) {
  leat_lexer lexer;
  leat_lexer_init(&lexer, text, 0, (uint32_t)size);
  for (leat_token token; (token = leat_lexer_next(&lexer)).kind != LEAT_TOKEN_END;)
    if (token.kind == LEAT_TOKEN_NAME && token.end - token.begin == 1 && text[token.begin] == '_')
      return true;
  return false;
}

// The value that was shown last is the session's once a text names it.
static int hold_last(repl *r, const char *text, size_t size) {
  if (!r->last.data || r->last_held || !mentions_last(text, size)) return TOOL_OK;
  r->last_held = true;
  return tool_report(r->session, leat_session_hold(r->session, "_", &r->last));
}

// -- The step that a text asks for -------------------------------------------------------------

static void forget_step(repl *r) {
  for (int i = 0; i < r->feed_count; i++) free(r->feeds[i].data);
  free(r->feeds);
  r->feeds = NULL;
  r->feed_count = 0;
  r->step = (leat_step_spec){0};
  leat_arena_reset(r->step_arena);
}

static const char *keep(repl *r, const char *name) {
  return leat_arena_strndup(r->step_arena, name, strlen(name));
}

// What the last text shows and does, by name.
static void set_shown(repl *r) {
  int shown = leat_session_shown_count(r->session), effects = leat_session_effect_count(r->session);
  const char **fetches = leat_new_array(r->step_arena, const char *, (size_t)shown + 1);
  const char **runs = leat_new_array(r->step_arena, const char *, (size_t)effects + 1);
  for (int i = 0; i < shown; i++) fetches[i] = keep(r, leat_session_shown(r->session, i));
  for (int i = 0; i < effects; i++) runs[i] = keep(r, leat_session_effect(r->session, i));
  r->step = (leat_step_spec){
      .fetches = fetches, .fetch_count = shown, .runs = runs, .run_count = effects};
}

static void set_entry(repl *r, const char *name) {
  const char **entries = leat_new_array(r->step_arena, const char *, 1);
  entries[0] = keep(r, name);
  r->step = (leat_step_spec){.entries = entries, .entry_count = 1};
}

static int run_once(repl *r, const leat_step_spec *spec, const leat_tensor *feeds,
                    leat_tensor *values) {
  leat_step *step = NULL;
  int status = tool_report(r->session, leat_session_prepare(r->session, spec, &step));
  if (step) status = tool_report(r->session, leat_step_run(step, feeds, values));
  for (int i = 0; step && !status && i < spec->fetch_count; i++) values[i] = clone(&values[i]);
  leat_step_destroy(step);
  return status;
}

// What the entry is fed: that of parameters that are not given stays without data.
static int compute_feeds(repl *r, const leat_entry_run *run) {
  leat_step_spec spec = r->step; // what the feeds do happens too
  size_t count = (size_t)run->feed_count;
  const char **names = leat_new_array(r->step_arena, const char *, count + 1);
  leat_tensor *values = leat_new_array(r->step_arena, leat_tensor, count + 1);
  r->feeds = calloc(count + 1, sizeof *r->feeds);
  if (!r->feeds) leat_out_of_memory();
  r->feed_count = run->feed_count;
  spec.fetches = names;
  spec.fetch_count = 0;
  for (int i = 0; i < run->feed_count; i++)
    if (run->feeds[i]) names[spec.fetch_count++] = run->feeds[i];
  if (!spec.fetch_count && !spec.run_count) return TOOL_OK;
  int status = run_once(r, &spec, NULL, values);
  for (int i = 0, k = 0; !status && i < run->feed_count; i++)
    if (run->feeds[i]) r->feeds[i] = values[k++];
  return status;
}

// After an extend. `feeds`: what its entry is fed is computed.
static int set_step(repl *r, bool feeds) {
  const leat_entry_run *run = leat_session_entry_run(r->session);
  forget_step(r);
  set_shown(r);
  int status = run->entry && feeds ? compute_feeds(r, run) : TOOL_OK;
  if (run->entry) set_entry(r, run->entry);
  return status;
}

static bool is_entry(const repl *r, const char *name) {
  for (int i = 0; i < leat_session_entry_count(r->session); i++)
    if (strcmp(leat_session_entry(r->session, i), name) == 0) return true;
  return false;
}

static int extend(repl *r, const char *text, size_t size) {
  int status = hold_last(r, text, size);
  return status ? status
                : tool_report(r->session, leat_session_extend(r->session, text, size, "repl"));
}

static int extend_by_call(repl *r, const char *entry) {
  leat_text call = {0};
  leat_text_add(&call, "%s()", entry);
  int status = extend(r, call.data, call.size);
  leat_text_finish(&call);
  return status;
}

int repl_step_of(repl *r, const char *expression, bool feeds) {
  int status = TOOL_OK;
  bool named = is_entry(r, expression);
  if (named && !feeds) {
    forget_step(r);
    set_entry(r, expression);
  } else if (*expression) {
    status = named ? extend_by_call(r, expression) : extend(r, expression, strlen(expression));
    if (!status) status = set_step(r, feeds);
  }
  if (status || r->step.entry_count || r->step.fetch_count || r->step.run_count) return status;
  if (*expression)
    leat_show(stderr, "error: `%s` is known while compiling: there is no step\n", expression);
  else
    leat_show(
        stderr, "%s",
        "error: nothing has run yet: an expression, or an entry's name, says what is meant\n");
  return TOOL_FAILED;
}

int repl_compute(repl *r, const char *expression, leat_tensor *out) {
  int status = repl_step_of(r, expression, true);
  if (status) return status;
  leat_step *step = NULL;
  status = tool_report(r->session, leat_session_prepare(r->session, &r->step, &step));
  int count = step ? leat_step_fetch_count(step) : 0;
  leat_tensor *values = leat_new_array(r->step_arena, leat_tensor, (size_t)count + 1);
  if (count) status = tool_report(r->session, leat_step_run(step, r->feeds, values));
  if (count && !status) *out = clone(&values[count - 1]);
  leat_step_destroy(step);
  if (count || status) return status;
  leat_show(stderr, "error: `%s` gives no value\n", expression);
  return TOOL_FAILED;
}

// -- A value of a step ---------------------------------------------------------------------------

// What the last step's entry was fed.
typedef struct given_feeds {
  repl *r;
  const char *within; // whose names are short, or NULL
  leat_vec(const char *) names;
  leat_vec(leat_tensor) values;
  int param;
} given_feeds;

static void take_param(void *context, const char *name) {
  given_feeds *given = context;
  repl *r = given->r;
  const leat_tensor *feed = given->param < r->feed_count ? &r->feeds[given->param] : NULL;
  given->param++;
  if (!feed || !feed->data) return; // it has a default
  const char *entry = r->step.entries[0];
  bool within = given->within && strcmp(given->within, entry) == 0;
  name = within ? keep(r, name) : leat_arena_printf(r->step_arena, "%s/%s", entry, name);
  leat_vec_push(r->step_arena, &given->names, name);
  leat_vec_push(r->step_arena, &given->values, *feed);
}

// Only what the value needs is computed, of the entry that the last text ran too.
static int fetch(repl *r, const char *name) {
  given_feeds given = {.r = r, .within = leat_session_entry_run(r->session)->entry};
  if (r->step.entry_count)
    leat_session_names(r->session, LEAT_PARAMETERS, r->step.entries[0], take_param, &given);
  leat_step_spec spec = {.feeds = given.names.items,
                         .feed_count = (int)given.names.count,
                         .fetches = &name,
                         .fetch_count = 1,
                         .within = given.within};
  leat_tensor value = {0};
  int status = run_once(r, &spec, given.values.items, &value);
  if (status || !value.data) return status;
  show(r, name, &value);
  free(value.data);
  return TOOL_OK;
}

int repl_fetch(repl *r, const char *argument) {
  size_t length = strcspn(argument, " ");
  const char *expression = argument + length + strspn(argument + length, " ");
  int status = *expression ? repl_step_of(r, expression, true) : TOOL_OK;
  return status ? status : fetch(r, leat_arena_strndup(r->step_arena, argument, length));
}

// -- Running it --------------------------------------------------------------------------------

static int deliver(repl *r, const leat_step *step, const leat_tensor *values) {
  const leat_entry_run *run = leat_session_entry_run(r->session);
  int status = TOOL_OK;
  for (int i = 0; i < leat_step_fetch_count(step) && !status; i++) {
    if (!run->target_count)
      show(r, run->entry ? leat_step_fetch(step, i)->name : NULL, &values[i]);
    else if (run->targets[i])
      status = tool_report(r->session, leat_session_hold(r->session, run->targets[i], &values[i]));
  }
  return status;
}

static int run_step(repl *r) {
  double start = leat_seconds();
  leat_step *step = NULL;
  int status = tool_report(r->session, leat_session_prepare(r->session, &r->step, &step));
  if (!step) return status;
  double compiled = leat_seconds();
  size_t count = (size_t)leat_step_fetch_count(step);
  leat_tensor *values = leat_new_array(r->step_arena, leat_tensor, count + 1);
  status = tool_report(r->session, leat_step_run(step, r->feeds, values));
  double end = leat_seconds();
  if (!status) status = deliver(r, step, values);
  if (!status && r->timing) repl_show_times(compiled - start, end - compiled);
  leat_step_destroy(step);
  return status;
}

// Runs what the last text did at top level, and shows what it asked for.
static int run_last(repl *r) {
  const char *text = leat_session_shown_text(r->session);
  leat_show(stdout, "%s", text);
  if (*text) repl_set_last(r, NULL); // the session knows what it is
  if (!leat_session_entry_run(r->session)->entry && !leat_session_shown_count(r->session) &&
      !leat_session_effect_count(r->session))
    return TOOL_OK;
  int status = set_step(r, true);
  return status ? status : run_step(r);
}

int repl_evaluate(repl *r, const char *text, size_t size) {
  int status = extend(r, text, size);
  return status ? status : run_last(r);
}

int repl_load(repl *r, const char *path) {
  int status = tool_report(r->session, leat_session_extend_file(r->session, path));
  return status ? status : run_last(r);
}

void repl_finish(repl *r) {
  forget_step(r);
  free(r->last.data);
  leat_text_finish(&r->typed);
  leat_arena_destroy(r->step_arena);
}
