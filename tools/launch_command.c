// leat launch: starts the ranks of a cluster under mpiexec and watches them. mpiexec does not say
// who died, nor does its exit code tell success, so every rank has a line to here (launched.h).
// The first rank that dies or fails is named, and the others are ended.
#define _GNU_SOURCE
#include "tools/launched.h"
#include "tools/options.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MOST_RANKS = 1024, TICK = 50, GRACE = 2000 }; // milliseconds

typedef struct rank_line {
  int socket; // -1: closed
  int rank;   // -1: has not said
  long pid;   // 0: has not said hello
  int exit_code;
  bool ended; // said bye
  char text[256];
  size_t size;
} rank_line;

typedef struct launch {
  int count;       // of ranks
  double deadline; // seconds until every rank has said hello
  const char *mpiexec;
  char directory[64], path[80];
  int listener;
  pid_t child;
  bool child_ended;
  int child_status;
  rank_line lines[MOST_RANKS];
  int line_count;
} launch;

static volatile sig_atomic_t interrupted;

static void interrupt(int number) {
  interrupted = number;
}

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static int fail(const char *what) {
  fprintf(stderr, "error: %s: %s\n", what, strerror(errno));
  return TOOL_FAILED;
}

// -- Starting ----------------------------------------------------------------------------------

static int open_listener(launch *l) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  strcpy(l->directory, "/tmp/leat-launch-XXXXXX"); // short: a socket's path is at most 107 bytes
  if (!mkdtemp(l->directory)) return fail("cannot make a directory");
  snprintf(l->path, sizeof l->path, "%s/line", l->directory);
  memcpy(address.sun_path, l->path, strlen(l->path) + 1);
  l->listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (l->listener < 0 || bind(l->listener, (struct sockaddr *)&address, sizeof address) ||
      listen(l->listener, MOST_RANKS))
    return fail("cannot listen to the ranks");
  return setenv(LAUNCH_VARIABLE, l->path, 1) ? fail("setenv") : TOOL_OK;
}

// mpiexec -n N leat ARGUMENT…
static int start(launch *l, int argc, char **argv) {
  char number[16], self[4096];
  ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
  if (length < 0) return fail("/proc/self/exe");
  self[length] = '\0';
  snprintf(number, sizeof number, "%d", l->count);
  char *head[] = {(char *)l->mpiexec, "-n", number, self};
  char **words = leat_new_array(tool_arena(), char *, (size_t)argc + TOOL_COUNT(head) + 1);
  memcpy(words, head, sizeof head);
  memcpy(words + TOOL_COUNT(head), argv, (size_t)argc * sizeof *argv);
  l->child = fork();
  if (l->child < 0) return fail("fork");
  if (l->child) return TOOL_OK;
  prctl(PR_SET_PDEATHSIG, SIGTERM); // mpiexec ends its ranks when this process is gone
  execvp(words[0], words);
  fprintf(stderr, "error: cannot run %s: %s\n", words[0], strerror(errno));
  _exit(TOOL_FAILED);
}

// -- Listening ---------------------------------------------------------------------------------

static void accept_lines(launch *l) {
  for (int socket; l->line_count < MOST_RANKS && (socket = accept(l->listener, NULL, NULL)) >= 0;)
    l->lines[l->line_count++] = (rank_line){.socket = socket, .rank = -1};
}

static void take_words(rank_line *line) {
  char *end;
  while ((end = memchr(line->text, '\n', line->size))) {
    *end = '\0';
    sscanf(line->text, "rank %d", &line->rank);
    sscanf(line->text, "hello %ld", &line->pid);
    if (sscanf(line->text, "bye %d", &line->exit_code) == 1) line->ended = true;
    line->size -= (size_t)(end + 1 - line->text);
    memmove(line->text, end + 1, line->size);
  }
}

static void read_line(rank_line *line) {
  ssize_t count =
      recv(line->socket, line->text + line->size, sizeof line->text - line->size, MSG_DONTWAIT);
  if (count > 0) {
    line->size += (size_t)count;
    take_words(line);
  } else if (count == 0 || (errno != EAGAIN && errno != EINTR)) {
    close(line->socket);
    line->socket = -1;
  }
}

static void listen_a_tick(launch *l) {
  struct pollfd polled[MOST_RANKS + 1];
  polled[0] = (struct pollfd){l->listener, POLLIN, 0};
  for (int i = 0; i < l->line_count; i++)
    polled[i + 1] = (struct pollfd){l->lines[i].socket, POLLIN, 0}; // -1 is skipped
  int count = l->line_count;
  poll(polled, (nfds_t)count + 1, TICK);
  for (int i = 0; i < count; i++)
    if (polled[i + 1].revents) read_line(&l->lines[i]);
  if (polled[0].revents) accept_lines(l);
  if (!l->child_ended) l->child_ended = waitpid(l->child, &l->child_status, WNOHANG) == l->child;
}

// -- Judging -----------------------------------------------------------------------------------

static bool has_said_hello(const launch *l, int rank) {
  for (int i = 0; i < l->line_count; i++)
    if (l->lines[i].rank == rank && l->lines[i].pid) return true;
  return false;
}

static bool report_missing(const launch *l) {
  bool missing = false;
  for (int rank = 0; rank < l->count; rank++) {
    if (has_said_hello(l, rank)) continue;
    fprintf(stderr, "leat launch: rank %d did not start\n", rank);
    missing = true;
  }
  return missing;
}

// The first rank that died or failed, if there is one. The one that died comes before those that
// failed because of it.
static bool report_failure(const launch *l) {
  for (int i = 0; i < l->line_count; i++) {
    const rank_line *line = &l->lines[i];
    if (line->socket >= 0 || line->ended) continue;
    fprintf(stderr, "leat launch: rank %d (process %ld) died\n", line->rank, line->pid);
    return true;
  }
  for (int i = 0; i < l->line_count; i++) {
    const rank_line *line = &l->lines[i];
    if (!line->ended || !line->exit_code) continue;
    fprintf(stderr, "leat launch: rank %d failed with exit code %d\n", line->rank, line->exit_code);
    return true;
  }
  return false;
}

static bool all_ended(const launch *l) {
  int ended = 0;
  for (int i = 0; i < l->line_count; i++) ended += l->lines[i].ended;
  return ended == l->count && l->child_ended;
}

static int watch(launch *l) {
  double start_time = now();
  for (;;) {
    listen_a_tick(l);
    if (report_failure(l) || interrupted) return TOOL_FAILED;
    if (all_ended(l)) return TOOL_OK;
    bool late = now() - start_time > l->deadline;
    if ((late || l->child_ended) && report_missing(l)) return TOOL_FAILED;
    if (l->child_ended) listen_a_tick(l);
    if (l->child_ended && !all_ended(l) && !report_failure(l)) {
      fprintf(stderr, "leat launch: %s ended before its ranks\n", l->mpiexec);
      return TOOL_FAILED;
    }
  }
}

// Asks first, so that mpiexec ends its ranks itself.
static void end_all(launch *l) {
  if (!l->child_ended) kill(l->child, SIGTERM);
  for (int waited = 0; waited < GRACE && !l->child_ended; waited += TICK) listen_a_tick(l);
  if (!l->child_ended) kill(l->child, SIGKILL), waitpid(l->child, NULL, 0);
  for (int i = 0; i < l->line_count; i++)
    if (l->lines[i].socket >= 0 && l->lines[i].pid > 0)
      kill((pid_t)l->lines[i].pid, SIGKILL); // its line is open: it is still that process
}

static int supervise(launch *l, int argc, char **argv) {
  signal(SIGINT, interrupt);
  signal(SIGTERM, interrupt);
  signal(SIGHUP, interrupt);
  int status = open_listener(l);
  if (!status) status = start(l, argc, argv);
  if (!status) status = watch(l);
  if (status && l->child > 0) end_all(l);
  close(l->listener);
  unlink(l->path);
  rmdir(l->directory);
  return status;
}

static int run(const tool_command *command, int argc, char **argv) {
  launch *l = leat_new(tool_arena(), launch);
  *l = (launch){.count = 1, .deadline = 30, .mpiexec = "mpiexec", .listener = -1};
  const tool_option own[] = {
      {"ranks", 'n', TOOL_NUMBER, &l->count, "N", "how many processes (default: 1)"},
      {"deadline", 0, TOOL_SECONDS, &l->deadline, "SECONDS", "until all have begun (default: 30)"},
      {"mpiexec", 0, TOOL_TEXT, &l->mpiexec, "PROGRAM", "what starts them (default: mpiexec)"},
  };
  const tool_options groups[] = {{"Options", own, TOOL_COUNT(own)}};
  int first, status;
  if (!tool_parse(command, groups, TOOL_COUNT(groups), argc, argv, &first, &status)) return status;
  if (first == argc) return tool_usage_error(command, "what is to be launched?");
  if (l->count < 1 || l->count > MOST_RANKS)
    return tool_usage_error(command, "-n: expected 1 to %d", MOST_RANKS);
  return supervise(l, argc - first, argv + first);
}

const tool_command launch_command = {"launch", "-n N -- COMMAND [OPTION…]",
                                     "run a command on N processes under mpiexec, and watch them",
                                     run};
