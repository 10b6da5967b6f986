// parse(print(graph)) is the graph: what is dumped after each pass is read back and printed again,
// for all entries of the examples and for random programs, also over two devices, symbolic and
// specialised. A dump of each program runs, too, and gives what the program gives (tests/dumps does
// so with the programs of the tree).
#include "tests/sweep/random_program.h"

#include "tests/unit/check.h"

#include <dirent.h>
#include <stdlib.h>

enum { PATH_SIZE = 512, SHOWN = 300 };

static int graphs; // read back so far
static int runs;   // of dumps

// -- One dump ----------------------------------------------------------------------------------

// The first line that differs.
static void report(const char *what, const char *stage, const char *text, const char *again) {
  const char *line = text;
  for (; *text && *text == *again; text++, again++)
    if (*text == '\n') line = text + 1;
  again -= text - line;
  CHECK_FAILED("%s %s: printed as\n%.*s\nread and printed again as\n%.*s", what, stage,
               (int)strcspn(line, "\n"), line, (int)strcspn(again, "\n"), again);
}

static void check_graph(const char *what, const char *stage, const char *text) {
  leat_session *session;
  char *again = NULL;
  leat_session_options options = {.devices = 2, .cache = "off"};
  leat_status status = leat_session_create(&options, &session);
  if (!status) status = leat_session_extend(session, text, 0, what);
  if (!status) status = leat_session_print(session, &again);
  if (status)
    CHECK_FAILED("%s %s is not read back: %.*s", what, stage, SHOWN, leat_session_message(session));
  else if (strcmp(text, again) != 0)
    report(what, stage, text, again);
  graphs++;
  free(again);
  leat_session_destroy(session);
}

// A dump runs, and gives what the program gave.
static void check_dump(const char *what, const char *text, const program *p,
                       const leat_tensor *feeds, const leat_tensor *want) {
  leat_session *session;
  leat_step *step = NULL;
  const char *entry = "f";
  leat_step_spec spec = {.entries = &entry, .entry_count = 1};
  leat_tensor *got = tensors_create(p->results.count);
  leat_text why = {0};
  leat_session_options options = {
      .devices = 2, .cache = "off", .threads = 1, .denormals = program_denormals(p)};
  leat_status status = leat_session_create(&options, &session);
  if (!status) status = leat_session_extend(session, text, 0, what);
  if (!status) status = leat_session_prepare(session, &spec, &step);
  if (!status) status = leat_step_run(step, feeds, got);
  if (status) CHECK_FAILED("%s does not run: %.*s", what, SHOWN, leat_session_message(session));
  for (uint32_t i = 0; i < p->results.count && !status; i++)
    if (!tensor_matches(&want[i], &got[i], MATCH_VALUES, 0, &why))
      CHECK_FAILED("%s, run: %s", what, why.data);
  runs++;
  leat_text_finish(&why);
  free(got);
  leat_step_destroy(step);
  leat_session_destroy(session);
}

// The dumps of a log, each below a line `# after STAGE`. Those of codegen are no graphs.
static void check_log(const char *what, char *log) {
  static const char head[] = "# after ";
  for (char *next; log && *log; log = next) {
    next = strstr(log, "\n# after ");
    if (next) *next++ = '\0';
    size_t length = strcspn(log, "\n");
    if (strncmp(log, head, sizeof head - 1) != 0 || strncmp(log + length, "\ngraph ", 7) != 0)
      continue;
    log[length] = '\0';
    leat_text text = {0};
    leat_text_add(&text, "%s%s", log + length + 1, next ? "\n" : "");
    while (text.size > 1 && text.data[text.size - 2] == '\n') text.data[--text.size] = '\0';
    check_graph(what, log + 2, text.data);
    leat_text_finish(&text);
  }
}

// -- Files -------------------------------------------------------------------------------------

static void collect(void *context, const char *text) {
  leat_text_add(context, "%s%s", text, text[strlen(text) - 1] == '\n' ? "" : "\n");
}

static void dump_entries(leat_session *session, const char *path) {
  for (int i = 0; i < leat_session_entry_count(session); i++) {
    leat_step *step = NULL;
    const char *entry = leat_session_entry(session, i);
    leat_step_spec spec = {.entries = &entry, .entry_count = 1};
    if (leat_session_prepare(session, &spec, &step))
      CHECK_FAILED("%s: %s: %s", path, entry, leat_session_message(session));
    leat_step_destroy(step);
  }
}

static void check_file(const char *path) {
  leat_session *session;
  leat_text log = {0};
  leat_session_options options = {.devices = 2,
                                  .cache = "off",
                                  .dump_after = "all",
                                  .stop_after = "image",
                                  .log = collect,
                                  .log_context = &log};
  leat_status status = leat_session_create(&options, &session);
  if (!status) status = leat_session_extend_file(session, path);
  if (status) CHECK_FAILED("%s: %s", path, leat_session_message(session));
  if (!status) dump_entries(session, path);
  check_log(path, log.data);
  leat_session_destroy(session);
  leat_text_finish(&log);
}

static void check_folder(const char *folder) {
  DIR *directory = opendir(folder);
  if (!directory) CHECK_FAILED("there is no %s: run this at the root of the tree", folder);
  for (struct dirent *entry; directory && (entry = readdir(directory));) {
    char path[PATH_SIZE];
    const char *dot = strrchr(entry->d_name, '.');
    snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
    if (dot && strcmp(dot, ".leat") == 0) check_file(path);
  }
  if (directory) closedir(directory);
}

TEST(files) {
  check_folder("examples");
  check_folder("examples/digits");
  check_folder("tests/sweep/bugs");
  check_file("tests/language/figure1.leat"); // the others there show syntax, and need other files
}

// -- Random programs ---------------------------------------------------------------------------

// Of a dump of one graph what stands below its line `# after STAGE`, else NULL.
static const char *only_graph(const char *log) {
  const char *text = log ? strstr(log, "\ngraph ") : NULL;
  return text && !strstr(text + 1, "# after ") ? text + 1 : NULL;
}

// One that only chance makes end early ends so here too.
static void check_program(uint64_t seed, const test_way *way) {
  program p;
  prepared run;
  char what[96];
  program_random(&p, seed, true);
  snprintf(what, sizeof what, "program %llu%s", (unsigned long long)seed, way->name);
  leat_tensor *out = tensors_create(p.results.count), *feeds = program_feeds(&p);
  leat_status expected = LEAT_OK, status = prepared_open(&run, &p, way);
  if (!status && run.step) {
    expected = program_expected(&p);
    status = prepared_run(&run, feeds, out);
  }
  if (status != expected)
    CHECK_FAILED("%s: %s\n%s", what, prepared_message(&run), program_text(&p, false));
  const char *graph = only_graph(run.log.data);
  if (run.step && graph && !status) check_dump(what, graph, &p, feeds, out);
  check_log(what, run.log.data);
  tensors_destroy(out, p.results.count);
  prepared_close(&run);
  program_finish(&p);
}

TEST(random_programs) {
  static const char *const stages[] = {"prune",    "check", "choose", "infer",     "fold",
                                       "simplify", "cse",   "place",  "partition", "legalize"};
  const leat_session_options stopped = {
      .devices = 2, .dump_after = "all", .stop_after = "partition"};
  const test_way ways[] = {
      {.name = "", .options = stopped},
      {.name = ", spread", .options = stopped, .spread = true},
  };
  rng seeds = {test_seed() + 3};
  printf("roundtrip: LEAT_TEST_SEED=%llu\n", (unsigned long long)test_seed());
  int count = getenv("LEAT_SANITIZED") ? 8 : 30;
  for (int i = 0; i < count; i++) {
    uint64_t seed = rng_next(&seeds);
    const char *stage = RNG_PICK(&seeds, stages);
    leat_session_options dumped = {.devices = 2, .dump_after = stage, .symbolic = i % 2};
    test_way runs_too = {.name = stage, .options = dumped};
    for (int way = 0; way < 2; way++) check_program(seed, &ways[way]);
    check_program(seed, &runs_too);
  }
  CHECK(graphs > 100);
  CHECK(runs > count / 6); // of others the step fails, as it should
}

CHECK_MAIN("roundtrip")
