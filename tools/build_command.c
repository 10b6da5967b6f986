// leat build: entries ahead of time, as an executable or as something to link with.
#include "base/text.h"
#include "session/artifact.h"
#include "tools/prepared.h"
#include "tools/session_options.h"

#include <string.h>

typedef struct build_options {
  session_options session;
  tool_list entries, fetches, donated, dims;
  const char *emit, *weights;
  leat_artifact_options artifact;
} build_options;

#define X(kind, name, suffix, has_header) "|" #name
static const char kind_names[] = LEAT_ARTIFACT_KINDS(X);
#undef X

// From --emit, else from the output's name. False: no such kind.
static bool choose_weights(const char *name, leat_weights_kind *out) {
  static const char *const names[] = {[LEAT_WEIGHTS_EMBED] = "embed",
                                      [LEAT_WEIGHTS_BESIDE] = "beside",
                                      [LEAT_WEIGHTS_LOAD] = "load"};
  for (int i = 0; i < TOOL_COUNT(names); i++) {
    *out = (leat_weights_kind)i;
    if (!name || strcmp(name, names[i]) == 0) return true;
  }
  return false;
}

static bool choose_kind(const build_options *o, leat_artifact_kind *out) {
  *out = LEAT_ARTIFACT_EXECUTABLE;
  for (int i = 0; i < LEAT_ARTIFACT_KIND_COUNT; i++) {
    const leat_artifact_kind_info *kind = &leat_artifact_kinds[i];
    bool meant = o->emit ? strcmp(o->emit, kind->name) == 0
                         : kind->suffix && leat_ends_with(o->artifact.output, kind->suffix);
    if (!meant) continue;
    *out = (leat_artifact_kind)i;
    return true;
  }
  return !o->emit;
}

// One for each --entry; what is fetched besides belongs to the only one.
static void fill_specs(const build_options *o, const leat_session *session, leat_step_spec *specs) {
  tool_list words = o->entries;
  if (!words.count && !o->fetches.count && leat_session_entry_count(session) == 1)
    leat_vec_push(tool_arena(), &words, leat_session_entry(session, 0));
  for (uint32_t i = 0; i < words.count; i++) {
    tool_list names = tool_split_entries(session, words.items[i]);
    specs[i] = (leat_step_spec){.entries = names.items, .entry_count = (int)names.count};
  }
  specs[0].fetches = o->fetches.items;
  specs[0].fetch_count = (int)o->fetches.count;
  specs[0].donated = o->donated.items;
  specs[0].donated_count = (int)o->donated.count;
}

static int build(const tool_command *command, build_options *o, leat_session *session) {
  int status = tool_read_dims(command, &o->dims, &o->artifact.dims);
  o->artifact.dim_count = (int)o->dims.count;
  uint32_t count = o->entries.count > 1 ? o->entries.count : 1;
  leat_step_spec *specs = leat_new_array(tool_arena(), leat_step_spec, count);
  fill_specs(o, session, specs);
  leat_artifact_options *options = &o->artifact;
  if (status) return status;
  return tool_report(session, leat_artifact_build(session, specs, (int)count, options));
}

static int run(const tool_command *command, int argc, char **argv) {
  build_options o = {0};
  leat_artifact_options *a = &o.artifact;
  tool_option shared[SESSION_OPTION_COUNT];
  const tool_option own[] = {
      {"entry", 'e', TOOL_LIST, &o.entries, "ENTRY",
       "build this entry (default: the only one), and others; A+B: as one"},
      {"fetch", 0, TOOL_LIST, &o.fetches, "NAME", "and make this a result too"},
      {"donate", 0, TOOL_LIST, &o.donated, "FEED",
       "each run may make results in the memory that holds this feed"},
      {"output", 'o', TOOL_TEXT, &a->output, "PATH",
       "executable; or .o, .a, .so, .c, each with a .h: C's names begin with its name"},
      {"emit", 0, TOOL_TEXT, &o.emit, kind_names + 1, "what to make (default: as the name says)"},
      {"vars", 0, TOOL_TEXT, &a->vars, "FILE",
       "values of variables, from a .safetensors, its index or an .npz"},
      {"weights", 0, TOOL_TEXT, &o.weights, "embed|beside|load",
       "where they and what is loaded are: in the output (default), in a file beside it, in "
       "theirs"},
      {"partial", 0, TOOL_FLAG, &a->partial, NULL, "even if that file lacks some of them"},
      {"dim", 0, TOOL_LIST, &o.dims, "NAME=N", "fix a run-time dim: B=128"},
      {"triple", 0, TOOL_TEXT, &a->triple, "TRIPLE", "for another machine: aarch64-linux-gnu"},
      {"cpu", 0, TOOL_TEXT, &a->cpus, "LEVELS",
       "x86-64 levels (default: host): x86-64-v3,x86-64-v4"},
      {"cc", 0, TOOL_TEXT, &a->cc, "COMMAND",
       "what links (default: $CC, else cc; TRIPLE-gcc, else clang)"},
      {"sysroot", 0, TOOL_TEXT, &a->sysroot, "DIR", "where it finds that machine's libraries"},
      {"static", 0, TOOL_FLAG, &a->linked_statically, NULL, "an executable that holds libc too"},
      {"with-runtime", 0, TOOL_FLAG, &a->with_runtime, NULL,
       "with --emit=c: the runtime's source beside it, in leat-runtime/"},
      {"one-file", 0, TOOL_FLAG, &a->one_file, NULL,
       "with --emit=c: the runtime in it, for gcc, clang, tcc; -DLEAT_MAIN makes a program"},
      {"print-link", 0, TOOL_FLAG, &a->print_link, NULL, "show the command that links"},
  };
  const tool_options groups[] = {{"Options", own, TOOL_COUNT(own)},
                                 tool_session_options(&o.session, BUILDS, shared)};
  int first, status;
  if (!tool_parse(command, groups, TOOL_COUNT(groups), argc, argv, &first, &status)) return status;
  if (argc - first != 1) return tool_usage_error(command, "one FILE is expected");
  if (o.entries.count > 1 && o.fetches.count)
    return tool_usage_error(command, "--fetch goes with one --entry: of several, make what is "
                                     "fetched a result of its entry");
  if (o.entries.count > 1 && o.donated.count)
    return tool_usage_error(command, "--donate goes with one --entry");
  if (!a->output || !*a->output) return tool_usage_error(command, "-o PATH is missing");
  if (!choose_kind(&o, &a->kind))
    return tool_usage_error(command, "--emit %s: there are %s", o.emit, kind_names + 1);
  if (!choose_weights(o.weights, &a->weights))
    return tool_usage_error(command, "--weights %s: there are embed, beside, load", o.weights);
  leat_session *session = tool_open(&o.session, argv[first], &status);
  if (session) status = build(command, &o, session);
  return tool_close(&o.session, session, status);
}

const tool_command build_command = {"build", "FILE --entry NAME -o PATH [--vars FILE]",
                                    "compile entries ahead of time", run};
