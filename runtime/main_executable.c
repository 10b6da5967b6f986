// The `main` of an executable that `leat build` makes: reads feeds from files and the command line,
// runs an entry, writes or prints what it fetched. Where it has several, the first word says which.
// It runs seldom: compiled for size.
#include "base/show.h"
#include "leat/runtime.h"

#include "base/file.h"
#include "base/name.h"
#include "base/number.h"
#include "runtime/feed.h"
#include "runtime/format.h"
#include "runtime/main_report.h"
#include "runtime/main_saving.h"
#include "runtime/model.h"
#include "runtime/stopping.h"

#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { EXIT_FINE, EXIT_FAILED, EXIT_USAGE };

typedef struct program {
  leat_model *model;
  const char *name; // of the program, with the entry where there are several
  int entry;        // -1: none is named, though there are several
  leat_tensor *feeds, *fetches;
  leat_feed *given;    // whose tensors the feeds are, but for …
  leat_feed_file *fed; // … the arrays of these, and …
  void **donated;      // … what each run may overwrite: a copy; NULL: it may not
  leat_arena *arena;
  const char **outputs;                 // of the fetches: a path, or NULL: print
  const leat_executable_saving *saving; // NULL: there are no variables
  leat_saving_options files;
  leat_saving_run state; // of the saving
  bool silent;           // what prints say is not shown
  int steps;             // how often it runs
  bool bench;            // and what that takes is shown; steps 0: as often as a second allows
  bool help, info;
  bool usage; // an error now is one of the command line
  leat_error error;
  bool shown; // another has been
} program;

static void say(void *context, const char *text) {
  if (!((const program *)context)->silent) leat_show(stdout, "%s\n", text);
}

static void print_about(const char *text, const char *before) {
  for (size_t size; *text; text += size + (text[size] == '\n')) {
    size = strcspn(text, "\n");
    leat_show(stdout, "%s%.*s\n", size ? before : "", (int)size, text);
  }
}

static void print_entries(const program *p) {
  leat_show(stdout, "usage: %s ENTRY [OPTION…]\n\nentries:\n", p->name);
  for (int e = 0; e < leat_model_entry_count(p->model); e++) {
    leat_show(stdout, "  %s\n", leat_model_entry_name(p->model, e));
    print_about(leat_model_entry_about(p->model, e), "      ");
  }
  leat_show(stdout,
            "\n%s ENTRY --help says what an entry takes and gives, %s --info what all this is.\n",
            p->name, p->name);
}

static void print_ports(const program *p) {
  const leat_model *m = p->model;
  int e = p->entry;
  if (leat_model_feed_count(m, e)) leat_show(stdout, "\nfeeds:\n");
  for (int i = 0; i < leat_model_feed_count(m, e); i++)
    leat_show(stdout, "  %s: %s%s\n", leat_model_feed_name(m, e, i), leat_model_feed_type(m, e, i),
              leat_model_feed_has_fallback(m, e, i) ? " (has a default)" : "");
  if (leat_model_fetch_count(m, e)) leat_show(stdout, "\nresults:\n");
  for (int i = 0; i < leat_model_fetch_count(m, e); i++)
    leat_show(stdout, "  %s: %s\n", leat_model_fetch_name(m, e, i), leat_model_fetch_type(m, e, i));
}

static void print_help(const program *p) {
  if (p->entry < 0) return print_entries(p);
  const char *about = leat_model_entry_about(p->model, p->entry);
  leat_show(stdout, "usage: %s [OPTION…]\n%s", p->name, *about ? "\n" : "");
  print_about(about, "");
  leat_show(stdout,
            "\n"
            "  --feed NAME=VALUE      gives a feed its value: 0.5, [1, 2, 3], \"text\"\n"
            "  --feed NAME=@FILE.npy  or from a file\n"
            "  --feed @FILE.npz       gives each array of a file to the feed of its name\n"
            "  -o NAME=@FILE.npy      writes a result to a file instead of printing it\n"
            "  --steps N              runs N times, shows the last results\n"
            "  --bench [N]            runs N times, or for a second, shows what a run takes\n"
            "  --threads N            at most so many threads (default: the cores)\n"
            "  --deadline SECONDS     breaks off a run that takes longer\n"
            "%s"
            "  --info                 what this is made of\n"
            "  --help                 this text\n",
            p->saving
                ? "  --restore FILE         begins with the variables of a safetensors file\n"
                  "  --partial              even if that file lacks some of them\n"
                  "  --save FILE            writes the variables to a safetensors file at the end\n"
                  "  --overwrite            which may replace whatever that file holds\n"
                : "");
  print_ports(p);
}

// Whether the `length` bytes of `name` mean `full`: all of it, or else what follows its last '/'.
static bool names(const char *name, size_t length, const char *full, bool whole) {
  const char *last = strrchr(full, '/');
  if (!whole && last) full = last + 1;
  return strlen(full) == length && memcmp(full, name, length) == 0;
}

typedef const char *name_of_port(const leat_model *model, int entry, int i);

// The number of the feed or fetch that is called so, a whole name before a short one.
static leat_status find_port(program *p, const char *name, size_t length, int count,
                             name_of_port *name_of, const char *kind, int *out) {
  for (int whole = 1; whole >= 0; whole--)
    for (*out = 0; *out < count; ++*out)
      if (names(name, length, name_of(p->model, p->entry, *out), whole)) return LEAT_OK;
  return leat_fail(&p->error, LEAT_NOT_FOUND, "there is no %s `%.*s` (--help lists them)", kind,
                   (int)length, name);
}

// *out_value: what follows the '='.
static leat_status find_name(program *p, const char *text, int count, name_of_port *name_of,
                             const char *kind, int *out, const char **out_value) {
  size_t length;
  const char *name = leat_name_given(text, &length, out_value);
  if (!name) return leat_fail(&p->error, LEAT_INVALID, "`%s` should look like NAME=VALUE", text);
  return find_port(p, name, length, count, name_of, kind, out);
}

static leat_status check_fed(program *p, int i) {
  const char *name = leat_model_feed_name(p->model, p->entry, i);
  return p->feeds[i].data ? leat_fail(&p->error, LEAT_INVALID, "`%s` is fed twice", name) : LEAT_OK;
}

static void feed(program *p, int i, const leat_tensor *tensor) {
  p->feeds[i] = p->given[i].tensor = *tensor;
  if (!leat_model_feed_is_donated(p->model, p->entry, i)) return;
  p->donated[i] = leat_arena_alloc(p->arena, (size_t)leat_tensor_bytes(tensor) + 1);
  p->feeds[i].data = p->donated[i];
}

static leat_status take_array(program *p, const leat_named_tensor *array) {
  int i, count = leat_model_feed_count(p->model, p->entry);
  LEAT_TRY(find_port(p, array->name, strlen(array->name), count, leat_model_feed_name, "feed", &i));
  LEAT_TRY(check_fed(p, i));
  feed(p, i, &array->tensor);
  return LEAT_OK;
}

static leat_status take_file(program *p, const char *text) {
  LEAT_TRY(leat_feed_file_open(p->arena, text, &p->fed, &p->error));
  const leat_data_file *file = &p->fed->data;
  leat_status status = LEAT_OK;
  for (size_t i = 0; i < file->count && !status; i++) status = take_array(p, &file->tensors[i]);
  if (!status) return LEAT_OK;
  leat_error cause = p->error;
  p->error = (leat_error){0};
  return leat_fail(&p->error, status, "'%s': %s", file->path, cause.message);
}

static leat_status take_pair(program *p, const char *text) {
  int i;
  const char *value;
  const leat_model *m = p->model;
  LEAT_TRY(find_name(p, text, leat_model_feed_count(m, p->entry), leat_model_feed_name, "feed", &i,
                     &value));
  leat_feed_port port = {leat_model_feed_name(m, p->entry, i), leat_model_feed_type(m, p->entry, i),
                         leat_model_feed_dtype(m, p->entry, i),
                         leat_model_feed_rank(m, p->entry, i)};
  LEAT_TRY(check_fed(p, i));
  p->usage = *value != '@'; // else what is wrong is wrong with the file
  LEAT_TRY(leat_feed_read(p->arena, value, &port, &p->given[i], &p->error));
  feed(p, i, &p->given[i].tensor);
  return LEAT_OK;
}

static leat_status take_feed(program *p, const char *text) {
  p->usage = *text != '@';
  leat_status status = *text == '@' ? take_file(p, text) : take_pair(p, text);
  p->usage |= !status;
  return status;
}

// Each run has what was fed.
static leat_status run_model(program *p) {
  for (int i = 0; i < leat_model_feed_count(p->model, p->entry); i++) {
    const leat_tensor *given = &p->given[i].tensor;
    if (p->donated[i]) memcpy(p->donated[i], given->data, (size_t)leat_tensor_bytes(given));
  }
  return leat_model_run(p->model, p->entry, p->feeds, p->fetches);
}

static leat_status take_output(program *p, const char *text) {
  int i;
  const char *value;
  LEAT_TRY(find_name(p, text, leat_model_fetch_count(p->model, p->entry), leat_model_fetch_name,
                     "result", &i, &value));
  if (*value != '@')
    return leat_fail(&p->error, LEAT_INVALID, "`%s` should look like NAME=@FILE.npy", text);
  p->outputs[i] = value + 1;
  return LEAT_OK;
}

// What an earlier one printed stands there already.
static leat_status run_again(void *context) {
  program *p = context;
  p->silent = true;
  leat_status status = run_model(p);
  p->silent = false;
  return status;
}

static leat_status begin_run(program *p) {
  for (int i = 0; i < leat_model_fetch_count(p->model, p->entry); i++)
    LEAT_TRY(leat_file_check_writable(p->outputs[i], &p->error));
  p->state =
      (leat_saving_run){.program = p->name, .model = p->model, .again = run_again, .context = p};
  return p->saving ? p->saving->begin(&p->state, &p->files, &p->error) : LEAT_OK;
}

static leat_status show_results(program *p) {
  for (int i = 0; i < leat_model_fetch_count(p->model, p->entry); i++) {
    if (p->outputs[i]) {
      LEAT_TRY(leat_npy_write(p->outputs[i], &p->fetches[i], &p->error));
      continue;
    }
    leat_text text = {0};
    leat_result_format(leat_model_fetch_name(p->model, p->entry, i), &p->fetches[i], &text);
    leat_show(stdout, "%s\n", text.data);
    leat_text_finish(&text);
  }
  if (fflush(stdout)) return leat_fail(&p->error, LEAT_IO, "cannot write: %s", strerror(errno));
  return LEAT_OK;
}

static bool stops(const program *p) {
  return p->saving && p->saving->is_stopped();
}

static leat_status run_step(program *p, bool last) {
  LEAT_TRY(run_model(p));
  if (p->saving) p->saving->note_step(&p->state, last);
  return LEAT_OK;
}

static leat_status run_benched(void *context, bool *goes_on) {
  leat_status status = run_step(context, false);
  *goes_on = !status && !stops(context);
  return status;
}

static leat_status run_steps(program *p) {
  for (int i = 0; i < p->steps && !(i && stops(p)); i++) LEAT_TRY(run_step(p, i + 1 == p->steps));
  return LEAT_OK;
}

static void show_error(program *p) {
  if (p->error.message[0]) leat_show(stderr, "%s: %s\n", p->name, p->error.message);
  p->shown |= p->error.message[0] != '\0';
  p->error = (leat_error){0};
}

// What was computed is saved before anything else can fail, and what was before a run that fails.
static leat_status run(program *p) {
  const leat_executable_saving *saving = p->saving;
  LEAT_TRY(begin_run(p));
  leat_status status = p->bench ? leat_bench_run(p->model, p->steps, run_benched, p) : run_steps(p);
  const char *broken = leat_stop_broke_off();
  if (status) leat_fail(&p->error, status, "%s", broken ? broken : leat_model_message(p->model));
  show_error(p);
  leat_status saved = saving ? saving->end(&p->state, status, &p->error) : LEAT_OK;
  if (status || saved == LEAT_ABORTED) return status ? status : saved;
  leat_status shown = p->bench ? LEAT_OK : show_results(p);
  return saved ? saved : shown;
}

enum {
  OPTION_FEED = 256,
  OPTION_STEPS,
  OPTION_BENCH,
  OPTION_INFO,
  OPTION_THREADS,
  OPTION_DEADLINE,
  OPTION_RESTORE,
  OPTION_PARTIAL,
  OPTION_SAVE,
  OPTION_OVERWRITE,
  OPTION_HELP
};
static const struct option options[] = {{"feed", required_argument, NULL, OPTION_FEED},
                                        {"steps", required_argument, NULL, OPTION_STEPS},
                                        {"bench", optional_argument, NULL, OPTION_BENCH},
                                        {"info", no_argument, NULL, OPTION_INFO},
                                        {"threads", required_argument, NULL, OPTION_THREADS},
                                        {"deadline", required_argument, NULL, OPTION_DEADLINE},
                                        {"restore", required_argument, NULL, OPTION_RESTORE},
                                        {"partial", no_argument, NULL, OPTION_PARTIAL},
                                        {"save", required_argument, NULL, OPTION_SAVE},
                                        {"overwrite", no_argument, NULL, OPTION_OVERWRITE},
                                        {"help", no_argument, NULL, OPTION_HELP},
                                        {0}};

// False: it is no number from 1 on, which was shown.
static bool take_number(const char *program, const char *option, int most, int *out) {
  bool fits;
  const char *end = leat_number_parse(LEAT_i32, optarg, out, &fits);
  if (end && !*end && fits && *out >= 1 && *out <= most) return true;
  leat_show(stderr, "%s: --%s takes a number from 1 to %d\n", program, option, most);
  return false;
}

static bool take_seconds(const char *program, double *out) {
  bool fits;
  const char *end = leat_number_parse(LEAT_f64, optarg, out, &fits);
  if (end && !*end && fits && *out > 0) return true;
  leat_show(stderr, "%s: --deadline takes a number of seconds\n", program);
  return false;
}

// The next option, or -1. The word behind --bench is its number, if it is one.
static int next_option(int argc, char **argv) {
  int option = getopt_long(argc, argv, "o:", options, NULL);
  bool number = optind < argc && *argv[optind] >= '0' && *argv[optind] <= '9';
  if (option == OPTION_BENCH && !optarg && number) optarg = argv[optind++];
  return option;
}

// What the model is made with, the rest needs the model: two walks. False: a mistake, which was
// shown.
static bool take_model_options(program *p, leat_model_options *out, int argc, char **argv) {
  bool fine = true;
  opterr = 0; // it is said here
  optind = 1;
  for (int option; (option = next_option(argc, argv)) != -1;) {
    if (option == '?') {
      leat_show(stderr, "%s: `%s` is no option, or lacks its value\n", argv[0], argv[optind - 1]);
      fine = false;
    }
    if (option == OPTION_OVERWRITE) out->overwrite = true;
    if (option == OPTION_THREADS) fine &= take_number(argv[0], "threads", 1024, &out->threads);
    if (option == OPTION_STEPS) fine &= take_number(argv[0], "steps", INT_MAX, &p->steps);
    if (option == OPTION_DEADLINE) fine &= take_seconds(argv[0], &out->deadline);
    if (option == OPTION_HELP) p->help = true;
    if (option == OPTION_INFO) p->info = true;
    if (option != OPTION_BENCH) continue;
    p->bench = true;
    p->steps = 0;
    if (optarg) fine &= take_number(argv[0], "bench", INT_MAX, &p->steps);
  }
  if (optind < argc) {
    leat_show(stderr, "%s: what is `%s`?\n", argv[0], argv[optind]);
    fine = false;
  }
  return fine;
}

static leat_status take_options(program *p, int argc, char **argv) {
  if (p->entry < 0) return leat_fail(&p->error, LEAT_INVALID, "which entry? --help lists them");
  optind = 1;
  for (int option; (option = next_option(argc, argv)) != -1;) {
    switch (option) {
    case OPTION_FEED: LEAT_TRY(take_feed(p, optarg)); break;
    case 'o': LEAT_TRY(take_output(p, optarg)); break;
    case OPTION_RESTORE: p->files.restore = optarg; break;
    case OPTION_PARTIAL: p->files.partial = true; break;
    case OPTION_SAVE: p->files.save = optarg; break;
    }
  }
  if (p->saving || (!p->files.restore && !p->files.save)) return LEAT_OK;
  return leat_fail(
      &p->error, LEAT_INVALID,
      "there is no variable to %s: what is not assigned here has the value that it was "
      "built with (leat build --vars)",
      p->files.restore ? "restore" : "save");
}

static leat_status prepare(program *p) {
  size_t feeds = (size_t)leat_model_feed_count(p->model, p->entry) + 1;
  size_t fetches = (size_t)leat_model_fetch_count(p->model, p->entry) + 1;
  p->arena = leat_arena_try_create();
  p->feeds = calloc(feeds, sizeof *p->feeds);
  p->given = calloc(feeds, sizeof *p->given);
  p->donated = calloc(feeds, sizeof *p->donated);
  p->fetches = calloc(fetches, sizeof *p->fetches);
  p->outputs = calloc(fetches, sizeof *p->outputs);
  if (p->arena && p->feeds && p->given && p->donated && p->fetches && p->outputs) return LEAT_OK;
  return leat_fail(&p->error, LEAT_MEMORY, "out of memory");
}

static void finish_program(program *p) {
  if (p->saving) p->saving->finish(&p->state, &p->files);
  for (int i = 0; p->given && i < leat_model_feed_count(p->model, p->entry); i++)
    leat_feed_close(&p->given[i]);
  leat_feed_files_close(p->fed);
  free(p->feeds);
  free(p->given);
  free(p->donated);
  free(p->fetches);
  free(p->outputs);
  leat_model_destroy(p->model);
  leat_arena_destroy(p->arena);
}

static leat_status act(program *p, int argc, char **argv) {
  if (p->help) print_help(p);
  if (p->info) leat_info_print(p->model);
  if (p->help || p->info) return LEAT_OK;
  LEAT_TRY(prepare(p));
  p->usage = true;
  LEAT_TRY(take_options(p, argc, argv));
  p->usage = false;
  return run(p);
}

// entry NULL: none is named.
static leat_status choose_entry(program *p, const char *entry) {
  if (leat_model_entry_count(p->model) == 1) return LEAT_OK;
  p->entry = entry ? leat_model_find_entry(p->model, entry) : -1;
  if (p->entry >= 0 || !entry) return LEAT_OK;
  p->usage = true;
  return leat_fail(&p->error, LEAT_NOT_FOUND, "there is no such entry (--help lists them)");
}

static leat_status create(program *p, const leat_built_step *steps, const char *entry,
                          const leat_model_options *options) {
  leat_status status = leat_model_create(steps, options, &p->model);
  if (!status) return choose_entry(p, entry);
  return leat_fail(&p->error, status, "%s",
                   p->model ? leat_model_message(p->model) : "out of memory");
}

int leat_executable_main(const leat_built_step *steps,
                         const leat_executable_saving *(*saving)(void), int argc, char **argv) {
  leat_file_survive_cuts();
  program p = {.steps = 1, .saving = saving ? saving() : NULL};
  leat_model_options options = {.print = say, .print_context = &p};
  bool several = steps->image && steps[leat_count_levels(steps)].image;
  const char *entry = several && argc > 1 && *argv[1] != '-' ? argv[1] : NULL;
  char name[256]; // "./digits predict"
  snprintf(name, sizeof name, "%s%s%s", argv[0], entry ? " " : "", entry ? entry : "");
  argv += entry != NULL;
  argc -= entry != NULL;
  p.name = argv[0] = name;
  if (!take_model_options(&p, &options, argc, argv)) {
    leat_show(stderr, "Try %s --help.\n", name);
    return EXIT_USAGE;
  }
  p.files.overwrite = options.overwrite;
  leat_status status = create(&p, steps, entry, &options);
  if (!status) LEAT_RECOVER(status, act(&p, argc, argv));
  if (status && !p.shown) leat_fail(&p.error, status, "%s", leat_status_name(status));
  show_error(&p);
  finish_program(&p);
  return !status ? EXIT_FINE : p.usage ? EXIT_USAGE : EXIT_FAILED;
}
