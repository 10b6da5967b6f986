// What is typed: a text extends the graph, then a step runs what it did and shows what it asked
// for. A line that runs an entry takes two steps: what the entry is fed, then the entry.
#include "base/tensor.h"
#include "frontend/lexer.h"
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

static void set_last(repl *r, const leat_tensor *value) {
  free(r->last.data);
  r->last = value ? clone(value) : (leat_tensor){0};
  r->last_held = false;
}

static void show(repl *r, const char *name, const leat_tensor *value) {
  tool_print_value(name, value);
  set_last(r, value);
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

// -- Steps -------------------------------------------------------------------------------------

static const char **copy_names(leat_arena *arena, const char *const *names, int count) {
  const char **copy = leat_new_array(arena, const char *, (size_t)count + 1);
  for (int i = 0; i < count; i++) copy[i] = leat_arena_strndup(arena, names[i], strlen(names[i]));
  return copy;
}

static void set_step(repl *r, const leat_step_spec *spec) {
  leat_arena_reset(r->step_arena);
  r->step = *spec;
  r->step.entries = copy_names(r->step_arena, spec->entries, spec->entry_count);
  r->step.fetches = copy_names(r->step_arena, spec->fetches, spec->fetch_count);
  r->step.runs = copy_names(r->step_arena, spec->runs, spec->run_count);
}

// Runs the step; *out gets a malloc'ed copy of each result, and is malloc'ed itself. NULL: it was
// compiled only, or failed.
static int run_step(repl *r, const leat_step_spec *spec, const leat_tensor *feeds,
                    leat_tensor **out) {
  leat_step *step = NULL;
  *out = NULL;
  int status = tool_report(r->session, leat_session_prepare(r->session, spec, &step));
  if (status || !step) return status;
  int count = leat_step_fetch_count(step);
  leat_tensor *values = calloc((size_t)count + 1, sizeof *values);
  if (!values) leat_out_of_memory();
  status = tool_report(r->session, leat_step_run(step, feeds, values));
  for (int i = 0; !status && i < count; i++) values[i] = clone(&values[i]);
  if (!status)
    *out = values;
  else
    free(values);
  leat_step_destroy(step);
  return status;
}

static void free_values(leat_tensor *values, int count) {
  for (int i = 0; values && i < count; i++) free(values[i].data);
  free(values);
}

// What the last text shows and does, by name.
static leat_step_spec shown_step(repl *r, leat_arena *arena) {
  leat_step_spec spec = {.fetch_count = leat_session_shown_count(r->session),
                         .run_count = leat_session_effect_count(r->session)};
  const char **fetches = leat_new_array(arena, const char *, (size_t)spec.fetch_count + 1);
  const char **runs = leat_new_array(arena, const char *, (size_t)spec.run_count + 1);
  for (int i = 0; i < spec.fetch_count; i++) fetches[i] = leat_session_shown(r->session, i);
  for (int i = 0; i < spec.run_count; i++) runs[i] = leat_session_effect(r->session, i);
  spec.fetches = fetches;
  spec.runs = runs;
  return spec;
}

static int run_shown(repl *r, leat_arena *arena) {
  const char *text = leat_session_shown_text(r->session);
  fputs(text, stdout);
  if (*text) set_last(r, NULL); // the session knows what it is
  leat_step_spec spec = shown_step(r, arena);
  if (!spec.fetch_count && !spec.run_count) return TOOL_OK;
  set_step(r, &spec);
  leat_tensor *values;
  int status = run_step(r, &spec, NULL, &values);
  for (int i = 0; values && i < spec.fetch_count; i++) show(r, NULL, &values[i]);
  free_values(values, spec.fetch_count);
  return status;
}

// -- Entries -----------------------------------------------------------------------------------

// feeds[i] of the entry's parameter i; those that are not given stay without data.
static int compute_feeds(repl *r, leat_arena *arena, const leat_entry_run *run,
                         leat_tensor *feeds) {
  const char **names = leat_new_array(arena, const char *, (size_t)run->feed_count + 1);
  leat_step_spec spec = shown_step(r, arena); // what the feeds do happens too
  spec.fetches = names;
  spec.fetch_count = 0;
  for (int i = 0; i < run->feed_count; i++)
    if (run->feeds[i]) names[spec.fetch_count++] = run->feeds[i];
  if (!spec.fetch_count && !spec.run_count) return TOOL_OK;
  leat_tensor *values;
  int status = run_step(r, &spec, NULL, &values);
  for (int i = 0, k = 0; values && i < run->feed_count; i++)
    if (run->feeds[i]) feeds[i] = values[k++];
  free(values);
  return status;
}

static int deliver_results(repl *r, const leat_entry_run *run, const leat_tensor *values,
                           const char *const *names, int count) {
  int status = TOOL_OK;
  for (int i = 0; i < count && !status; i++) {
    if (!run->target_count)
      show(r, names[i], &values[i]);
    else if (run->targets[i])
      status = tool_report(r->session, leat_session_hold(r->session, run->targets[i], &values[i]));
  }
  return status;
}

static int run_entry(repl *r, leat_arena *arena, const leat_entry_run *run) {
  leat_tensor *feeds = leat_new_array(arena, leat_tensor, (size_t)run->feed_count + 1), *values;
  int status = compute_feeds(r, arena, run, feeds), count = 0;
  leat_step_spec spec = {.entries = &run->entry, .entry_count = 1};
  leat_step *step = NULL;
  if (!status) set_step(r, &spec);
  if (!status) status = tool_report(r->session, leat_session_prepare(r->session, &spec, &step));
  if (step) {
    count = leat_step_fetch_count(step);
    values = leat_new_array(arena, leat_tensor, (size_t)count + 1);
    const char **names = leat_new_array(arena, const char *, (size_t)count + 1);
    for (int i = 0; i < count; i++) names[i] = leat_step_fetch(step, i)->name;
    status = tool_report(r->session, leat_step_run(step, feeds, values));
    if (!status) status = deliver_results(r, run, values, names, count);
  }
  leat_step_destroy(step);
  for (int i = 0; i < run->feed_count; i++) free(feeds[i].data);
  return status;
}

// -- Texts -------------------------------------------------------------------------------------

static int run_last(repl *r) {
  leat_arena *arena = leat_arena_create();
  const leat_entry_run *run = leat_session_entry_run(r->session);
  int status = run->entry ? run_entry(r, arena, run) : run_shown(r, arena);
  leat_arena_destroy(arena);
  return status;
}

int repl_evaluate(repl *r, const char *text, size_t size) {
  int status = hold_last(r, text, size);
  if (!status)
    status = tool_report(r->session, leat_session_extend(r->session, text, size, "repl"));
  return status ? status : run_last(r);
}

int repl_load(repl *r, const char *path) {
  int status = tool_report(r->session, leat_session_extend_file(r->session, path));
  return status ? status : run_last(r);
}

void repl_finish(repl *r) {
  free(r->last.data);
  leat_arena_destroy(r->step_arena);
}
