// The `leat` program: finds the subcommand. Each has a file of its own in this folder.
#include "base/diag.h"
#include "base/file.h"
#include "base/show.h"
#include "base/temporary.h"
#include "leat/leat.h"
#include "tools/forms.h"
#include "tools/launched.h"
#include "tools/options.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const tool_command *const commands[] = {
    &run_command,   &train_command,   &build_command,   &repl_command, &fmt_command,
    &check_command, &inspect_command, &convert_command, &ops_command,  &launch_command,
};

static int help(void) {
  leat_show(stdout, "usage: leat COMMAND [OPTION…]\n\n");
  for (int i = 0; i < TOOL_COUNT(commands); i++)
    leat_show(stdout, "  %-8s %s\n", commands[i]->name, commands[i]->summary);
  leat_show(
      stdout,
      "\n`leat COMMAND --help` lists its options; `leat --version` says which version this is.\n");
  return TOOL_OK;
}

// What was perhaps meant by what is no command: another, or a text that is to be run.
static const char *meant(const char *word) {
  const char *names[TOOL_COUNT(commands)];
  size_t length = strlen(word);
  for (int i = 0; i < TOOL_COUNT(commands); i++) names[i] = commands[i]->name;
  const char *near = leat_nearest(word, names, TOOL_COUNT(commands));
  bool text = length > 5 && strcmp(word + length - 5, ".leat") == 0;
  if (text) return leat_arena_printf(tool_arena(), "; `leat run %s` runs a text", word);
  return near ? leat_arena_printf(tool_arena(), "; did you mean `%s`?", near) : "";
}

static int run(int argc, char **argv) {
  const char *name = argc > 1 ? argv[1] : "";
  for (int i = 0; i < TOOL_COUNT(commands); i++)
    if (strcmp(name, commands[i]->name) == 0)
      return commands[i]->run(commands[i], argc - 1, argv + 1);
  if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0) return help();
  if (strcmp(name, "--man") == 0) return tool_print_main_page(commands, TOOL_COUNT(commands)), 0;
  if (strcmp(name, "--complete") == 0)
    return tool_complete_main(commands, TOOL_COUNT(commands), argc - 2, argv + 2), 0;
  if (strcmp(name, "--version") == 0) return leat_show(stdout, "leat %s\n", LEAT_VERSION), 0;
  if (strcmp(name, "serve") == 0)
    leat_show(stderr, "leat: `serve` is not supported yet; `mpiexec` starts the processes\n");
  else if (*name)
    leat_show(stderr, "leat: there is no command `%s`%s\n", name, meant(name));
  leat_show(stderr, "usage: leat COMMAND [OPTION…]; `leat --help` lists the commands\n");
  return TOOL_USAGE;
}

// Of a closed stdin, stdout or stderr the number would be that of the next file, which would then
// be read or hold what is printed. What is printed to this one fails. A file that may not grow is
// an error as a full disk is.
static void keep_standard_files(void) {
  int fd;
  do fd = open("/dev/null", O_RDONLY);
  while (fd >= 0 && fd <= STDERR_FILENO);
  if (fd >= 0) close(fd);
  signal(SIGXFSZ, SIG_IGN);
}

// A line of errors is one write: those of several processes to one terminal or pipe stay whole.
static void keep_lines_whole(void) {
  static char line[BUFSIZ];
  setvbuf(stderr, line, _IOLBF, sizeof line);
}

// Whoever asked for output shall know that it did not arrive.
static int finish_output(int status) {
  errno = 0;
  if (fflush(stdout) == 0 && !ferror(stdout)) return status;
  leat_show(stderr, "error: cannot write to stdout%s%s\n", errno ? ": " : "",
            errno ? strerror(errno) : "");
  return status ? status : TOOL_FAILED;
}

static void leave(int number) {
  leat_temporary_remove_all();
  signal(number, SIG_DFL);
  raise(number);
}

// What ends the program leaves nothing on the disk, unless a command makes of it what it wants.
static void catch_ends(void) {
  static const int ends[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGPIPE, SIGXCPU, SIGABRT};
  for (int i = 0; i < TOOL_COUNT(ends); i++)
    if (signal(ends[i], leave) == SIG_IGN) signal(ends[i], SIG_IGN);
}

static leat_status run_command_line(int argc, char **argv, int *out_code) {
  *out_code = run(argc, argv);
  return LEAT_OK;
}

int main(int argc, char **argv) {
  keep_standard_files();
  keep_lines_whole();
  catch_ends();
  leat_file_survive_cuts();
  launched_hello();
  int code = TOOL_FAILED;
  leat_status ended;
  LEAT_RECOVER(ended, run_command_line(argc, argv, &code));
  if (ended) leat_show(stderr, "error: %s\n", leat_status_name(ended));
  int status = finish_output(code);
  launched_bye(status);
  return status;
}
