// From text to a typed graph.
//
// A frontend holds one growing graph. Extending it parses a text and evaluates what compile time
// decides: calls are instantiated, loops unrolled, gradients expanded, and each op is typed as it
// is added. A text with an error changes nothing: messages are in the diag and the graph is as it
// was.
#ifndef LEAT_FRONTEND_FRONTEND_H
#define LEAT_FRONTEND_FRONTEND_H

#include "ir/graph.h"
#include "leat/leat.h"

typedef struct leat_frontend leat_frontend;

typedef struct leat_job {
  const char *name; // "worker"
  int tasks;
} leat_job;

typedef struct leat_frontend_options {
  // Graph parameters: values for `graph NAME(seed: int = 1)`, by name, as text.
  const char *const *setting_names;
  const char *const *setting_values;
  int setting_count;
  const leat_job *jobs; // the cluster; job_count 0: this process is every job
  int job_count;
  const char *job; // this client's, for {job} and {task}; NULL: "worker" of task 0
  int task;
  const char *path;      // folders between `:` where `use` looks after the text's own; NULL: none
  uint64_t memory_limit; // bytes for the values of a step, of which gradients keep; 0: any number
  uint64_t most_steps;   // statements, calls and list items that a text may take; 0: 10 million
  // Asked at each of them; true ends the text with an error. NULL: nobody interrupts.
  bool (*is_interrupted)(void *context);
  void *context;
} leat_frontend_options;

// Lives in `arena`; so does its graph. The options are copied.
leat_frontend *leat_frontend_create(leat_arena *arena, leat_strings *strings, leat_diag *diag,
                                    const leat_frontend_options *options);

enum {
  LEAT_EXTEND_INTERACTIVE = 1, // top-level names may be bound again
  LEAT_EXTEND_LEAVES_OUT = 2,  // entries with errors, of a text that has others and no other errors
};

// What a text does at top level, for a REPL to show and run: names to fetch and to run.
typedef struct leat_last_text {
  leat_vec(const char *) shown; // values of its expression statements; a variable by its own name
                                // counts as its value
  leat_vec(const char *) effects;
  const char *known;  // expression values of compile time, a line each ("3", "[0, 1]")
  leat_entry_run run; // the entry that it calls
} leat_last_text;

// Adds a text; `name` is shown in messages, and `use` and `load` are relative to its folder. NULL:
// errors are in the diag, and nothing was added. What it returns lies in the arena.
const leat_last_text *leat_frontend_extend(leat_frontend *frontend, const char *name,
                                           const char *text, size_t size, unsigned flags);

// Reports what is wrong in the text of functions and rules whether or not anything calls them:
// names that nothing has, types that are none. False: there is something.
bool leat_frontend_check_definitions(leat_frontend *frontend);

// A line for each name that the texts bind: "x: f32[3]", "n = 7", "fn f(x: f32[N]) -> f32[N]".
void leat_frontend_show_names(const leat_frontend *frontend, leat_text *out);

leat_graph *leat_frontend_graph(const leat_frontend *frontend);

// The entries that were left out: each has errors, which are of interest to whoever wants it.
typedef struct leat_broken_entry {
  const char *name; // interned
  bool training;
  bool told; // for the caller to keep
  const leat_withheld *errors;
} leat_broken_entry;
uint32_t leat_frontend_broken_count(const leat_frontend *frontend);
leat_broken_entry *leat_frontend_broken(const leat_frontend *frontend, uint32_t i);

// The errors of entries of a model file of which nothing is left since an effect has one: number i
// of the last text, right or refused; NULL past the last.
const leat_withheld *leat_frontend_whole(const leat_frontend *frontend, uint32_t i);

// A value by the name that a feed or fetch gives it: a node's path with an optional `:port`, a
// bound name (`train/y`), or either without the entry when `entry` is given. {NULL}: unknown.
leat_value leat_frontend_find(const leat_frontend *frontend, const leat_entry *entry,
                              const char *name);
// The name of a known node, state or binding nearest to `name`, for a suggestion; or NULL. inside:
// it may be in a branch or a loop. entry: whose names may be short, or NULL.
const char *leat_frontend_suggest(const leat_frontend *frontend, const leat_entry *entry,
                                  const char *name, bool inside);

// Binds a top-level name to a value that was computed: a `feed` of no entry, which is fed in every
// step that needs it. Returns the name of the feed; NULL: errors are in the diag.
const char *leat_frontend_hold(leat_frontend *frontend, const char *name, const leat_type *type);

// -- Names, for completing what is typed (names.c) ------------------------------------------------

typedef void leat_name_taker(void *context, const char *name); // which is gone afterwards
void leat_frontend_names(const leat_frontend *frontend, leat_name_taker *take, void *context);
// What `$` may stand before at top level.
void leat_frontend_paths(const leat_frontend *frontend, leat_name_taker *take, void *context);
// What `--fetch` may name within the entry (NULL: in none): values of entries too, and what is
// inside of branches and loops, of these `NAME:all` as well.
void leat_frontend_fetches(const leat_frontend *frontend, const leat_entry *entry,
                           leat_name_taker *take, void *context);
void leat_frontend_parameters(leat_frontend *frontend, const char *of, leat_name_taker *take,
                              void *context);

// -- Definitions as people read them: their `##` lines and their head (describe.c) ----------------

// What the texts so far define under that name; false: nothing.
bool leat_frontend_describe(const leat_frontend *frontend, const char *name, leat_text *out);
// The `##` lines of an entry, each with a newline behind it, as far as it has any.
void leat_frontend_entry_doc(const leat_frontend *frontend, const char *name, leat_text *out);
// All that a source of the diag defines; false: its errors are in the diag.
bool leat_describe_text(leat_diag *diag, uint32_t source, leat_text *out);
// What Leat itself has under that name: an op, a function of the library or of compile time; false:
// nothing (library_help.c).
bool leat_describe_own(const char *name, leat_text *out);
enum { LEAT_HELP_COLUMN = 18 };                    // where what is said of a name begins
void leat_describe_op(leat_op op, leat_text *out); // in a line
// The compile-time functions, and a line on each; NULL past the last.
const char *leat_builtin_name(uint32_t i);
const char *leat_builtin_help(uint32_t i);

// Tells the entries of a text, with what documents them ("": nothing does), as far as it parses.
void leat_find_entries(leat_diag *diag, uint32_t source,
                       void (*found)(void *context, const char *name, const char *help),
                       void *context);

#endif
