// leat launch: starts the ranks of a cluster under mpiexec and watches them. mpiexec does not say
// who died, nor does its exit code tell success, so every rank has a line to here (launched.h).
// What goes wrong first is the cause: it is named, and the other ranks are ended.
#define _GNU_SOURCE
#include "base/show.h"
#include "base/temporary.h"
#include "tools/launch_output.h"
#include "tools/launched.h"
#include "tools/leftovers.h"
#include "tools/options.h"
#include "tools/session_options.h"

#include <errno.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MOST_RANKS = 1024, TICK = 50 }; // milliseconds
enum { CANNOT_RUN = 127 };             // mpiexec's exit code where there is none
static const double GRACE = 2;         // seconds that mpiexec has to end the ranks by itself
static const double SAME_SIGNAL = 0.5; // seconds
static const double LOOK = 0.5;        // seconds between looks at what the ranks' processes do

typedef struct rank_line {
  int socket;     // -1: closed
  int rank;       // -1: has not said
  long pid;       // 0: has not said hello
  bool ended;     // said bye
  double stopped; // when it was first seen standing still; 0: it runs
  char text[256];
  size_t size;
} rank_line;

typedef struct launch {
  int count;       // of ranks
  double deadline; // seconds until every rank has said hello
  const char *mpiexec;
  leat_temporary *folder; // of the listener's socket
  int listener;
  int events; // an epoll: it tells things in the order in which they happened
  launch_output output;
  pid_t child;
  bool child_ended;
  int child_status;
  bool failed;
  double looked;           // when the ranks were looked at last
  int heard;               // signals that came here and were acted upon
  int asked;               // ^C or SIGTERM that came, what is the same one counted once
  double asked_at;         // when the last of them did
  double ask_at, force_at; // when mpiexec gets SIGTERM and SIGKILL; infinity: it ends by itself
  rank_line lines[MOST_RANKS];
  int line_count;
} launch;

static volatile sig_atomic_t interrupted, interruptions;

static void interrupt(int number) {
  interrupted = number;
  interruptions = interruptions + 1;
}

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static int fail(const char *what) {
  leat_show(stderr, "error: %s: %s\n", what, strerror(errno));
  return TOOL_FAILED;
}

// Says what went wrong, unless something has before; mpiexec has `grace` seconds to end by itself.
__attribute__((format(printf, 3, 4))) static void give_up(launch *l, double grace,
                                                          const char *format, ...) {
  double at = now() + grace;
  if (at < l->ask_at) {
    l->ask_at = at;
    l->force_at = at + GRACE;
  }
  if (l->failed) return;
  l->failed = true;
  va_list arguments;
  va_start(arguments, format);
  leat_show(stderr, "%s", "leat launch: ");
  leat_show_v(stderr, format, arguments);
  leat_show(stderr, "\n");
  va_end(arguments);
}

// The first rank that has not said hello, or bye; negative: all have.
static int find_silent(const launch *l, bool bye) {
  for (int rank = 0; rank < l->count; rank++) {
    bool said = false;
    for (int i = 0; i < l->line_count && !said; i++)
      said = l->lines[i].rank == rank && (bye ? l->lines[i].ended : l->lines[i].pid > 0);
    if (!said) return rank;
  }
  return -1;
}

// Those that save end behind a step, the others at once. mpiexec, which would hand the signal on,
// dies of one that interrupts its writing, and takes the ranks along: it is asked only before all
// have begun.
static void ask_ranks_to_end(const launch *l) {
  if (find_silent(l, false) >= 0) {
    kill(l->child, SIGTERM);
    return;
  }
  for (int i = 0; i < l->line_count; i++)
    if (l->lines[i].socket >= 0 && !l->lines[i].ended) kill((pid_t)l->lines[i].pid, SIGTERM);
}

// A second ^C or SIGTERM breaks off the step that the ranks wait for, a third one does not wait for
// that either; two at a time are one, from `timeout` say.
static void end_by_signal(launch *l) {
  int number = interrupted;
  bool first = !l->heard, patient = number != SIGINT && number != SIGTERM;
  bool counts = !patient && (!l->asked || now() > l->asked_at + SAME_SIGNAL);
  if (counts) {
    l->asked++;
    l->asked_at = now();
  }
  if (first || (counts && l->asked == 2)) ask_ranks_to_end(l);
  if (number == SIGPIPE && first)
    give_up(l, INFINITY, "ended, for nobody reads what is written any more");
  else if (first || (counts && l->asked > 2))
    give_up(l, first ? INFINITY : 0, "ended by %s", strsignal(number));
  l->heard = interruptions;
}

// -- Starting ----------------------------------------------------------------------------------

// `line`: the number of a rank's line; MOST_RANKS: the listener.
static bool watch_socket(launch *l, int socket, uint32_t line) {
  struct epoll_event event = {.events = EPOLLIN, .data.u32 = line};
  return epoll_ctl(l->events, EPOLL_CTL_ADD, socket, &event) == 0;
}

static int open_listener(launch *l) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  leat_error error = {0};
  if (leat_temporary_make(&l->folder, &error)) return tool_fail(&error);
  const char *folder = leat_temporary_path(l->folder);
  int length = snprintf(address.sun_path, sizeof address.sun_path, "%s/line", folder);
  if (length >= (int)sizeof address.sun_path) {
    leat_show(stderr,
              "error: $TMPDIR is too long for a socket's path, which has at most %d bytes: %.*s\n",
              (int)sizeof address.sun_path - 1, (int)(strrchr(folder, '/') - folder), folder);
    return TOOL_FAILED;
  }
  l->listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (l->listener < 0 || bind(l->listener, (struct sockaddr *)&address, sizeof address) ||
      listen(l->listener, MOST_RANKS))
    return fail("cannot listen to the ranks");
  l->events = epoll_create1(EPOLL_CLOEXEC);
  if (l->events < 0 || !watch_socket(l, l->listener, MOST_RANKS))
    return fail("cannot watch the ranks");
  return setenv(LAUNCH_VARIABLE, address.sun_path, 1) ? fail("setenv") : TOOL_OK;
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
  if (!launch_output_open(&l->output)) return fail("pipe");
  l->child = fork();
  if (l->child < 0) return fail("fork");
  if (l->child) return launch_output_relay(&l->output, l->child) ? TOOL_OK : fail("fork");
  launch_output_enter(&l->output);
  prctl(PR_SET_PDEATHSIG, SIGTERM); // mpiexec ends its ranks when this process is gone
  signal(SIGHUP, SIG_IGN);          // of a terminal that is closed this process tells it
  execvp(words[0], words);
  leat_show(stderr, "error: cannot run %s: %s%s\n", words[0], strerror(errno),
            errno == ENOENT ? "; is an MPI installed?" : "");
  _exit(CANNOT_RUN);
}

// -- Ranks that stand still ----------------------------------------------------------------------

// The state of a process as /proc/PID/stat says it, "PID (NAME) STATE …"; 0: it is gone.
static char state_of(long pid) {
  char path[64], text[512];
  snprintf(path, sizeof path, "/proc/%ld/stat", pid);
  FILE *file = fopen(path, "re");
  size_t size = file ? fread(text, 1, sizeof text - 1, file) : 0;
  if (file) fclose(file);
  text[size] = '\0';
  const char *end = strrchr(text, ')');
  return end && end[1] ? end[2] : '\0';
}

// Notes since when a signal, or a debugger, has kept each rank from running. mpiexec may have
// killed it before the one is heard of that noticed: of the dead what was seen last stays.
static void look_at_ranks(launch *l) {
  l->looked = now();
  for (int i = 0; i < l->line_count; i++) {
    rank_line *line = &l->lines[i];
    if (line->socket < 0 || !line->pid || line->ended) continue;
    char state = state_of(line->pid);
    if (state == 'T' || state == 't')
      line->stopped = line->stopped > 0 ? line->stopped : l->looked;
    else if (state && state != 'Z' && state != 'X')
      line->stopped = 0;
  }
}

static const rank_line *first_stopped(const launch *l) {
  const rank_line *first = NULL;
  for (int i = 0; i < l->line_count; i++) {
    const rank_line *line = &l->lines[i];
    if (line->stopped > 0 && (!first || line->stopped < first->stopped)) first = line;
  }
  return first;
}

// What a rank that stands still makes others do is not their fault. False: all ranks go. What was
// noted before counts: a stopped process that is being killed runs for a moment.
static bool blame_who_stands_still(launch *l) {
  const rank_line *first = first_stopped(l);
  if (!first && now() - l->looked > LOOK / 4) {
    look_at_ranks(l);
    first = first_stopped(l);
  }
  if (first)
    give_up(l, GRACE, "rank %d (process %ld) stands still: it was stopped", first->rank,
            first->pid);
  return first != NULL;
}

// -- Listening ---------------------------------------------------------------------------------

static void accept_lines(launch *l) {
  for (int socket; l->line_count < MOST_RANKS && (socket = accept(l->listener, NULL, NULL)) >= 0;) {
    l->lines[l->line_count] = (rank_line){.socket = socket, .rank = -1};
    watch_socket(l, socket, (uint32_t)l->line_count++);
  }
}

static void take_words(launch *l, rank_line *line) {
  char *end;
  while ((end = memchr(line->text, '\n', line->size))) {
    int code = 0;
    *end = '\0';
    sscanf(line->text, "rank %d", &line->rank);
    sscanf(line->text, "hello %ld", &line->pid);
    if (sscanf(line->text, "bye %d", &code) == 1) line->ended = true;
    if (code && !blame_who_stands_still(l))
      give_up(l, GRACE, "rank %d failed with exit code %d", line->rank, code);
    line->size -= (size_t)(end + 1 - line->text);
    memmove(line->text, end + 1, line->size);
  }
}

static void read_line(launch *l, rank_line *line) {
  ssize_t count =
      recv(line->socket, line->text + line->size, sizeof line->text - line->size, MSG_DONTWAIT);
  if (count > 0) {
    line->size += (size_t)count;
    take_words(l, line);
  } else if (count == 0 || (errno != EAGAIN && errno != EINTR)) {
    close(line->socket);
    line->socket = -1;
    if (!line->ended && !blame_who_stands_still(l))
      give_up(l, GRACE, "rank %d (process %ld) died", line->rank, line->pid);
  }
}

// Handles what has happened, or waits a tick for something; false when nothing did.
static bool listen_a_tick(launch *l) {
  struct epoll_event events[64];
  int count = epoll_wait(l->events, events, TOOL_COUNT(events), TICK);
  for (int i = 0; i < count; i++) {
    if (events[i].data.u32 == MOST_RANKS)
      accept_lines(l);
    else
      read_line(l, &l->lines[events[i].data.u32]);
  }
  if (!l->child_ended) l->child_ended = waitpid(l->child, &l->child_status, WNOHANG) == l->child;
  return count > 0;
}

// -- Judging -----------------------------------------------------------------------------------

// Success is a bye of every rank.
static void judge_the_end(launch *l) {
  int unborn = find_silent(l, false), unfinished = find_silent(l, true);
  if (WIFEXITED(l->child_status) && WEXITSTATUS(l->child_status) == CANNOT_RUN && !l->line_count)
    l->failed = true; // it has said why
  else if (unborn >= 0)
    give_up(l, 0, "rank %d did not start", unborn);
  else if (unfinished >= 0 && !blame_who_stands_still(l))
    give_up(l, 0, "%s ended before rank %d", l->mpiexec, unfinished);
}

// Ranks that mpiexec has left behind.
static void end_ranks(const launch *l) {
  for (int i = 0; i < l->line_count; i++)
    if (l->lines[i].socket >= 0 && l->lines[i].pid > 0)
      kill((pid_t)l->lines[i].pid, SIGKILL); // its line is open: it is still that process
}

static int watch(launch *l) {
  double late = now() + l->deadline;
  while (!l->child_ended) {
    listen_a_tick(l);
    if (now() - l->looked > LOOK && !l->failed) look_at_ranks(l);
    int unborn = now() > late ? find_silent(l, false) : -1;
    if (unborn >= 0) give_up(l, 0, "rank %d did not start within %g s", unborn, l->deadline);
    if (interruptions > l->heard) end_by_signal(l);
    if (l->failed && !l->child_ended && now() >= l->ask_at)
      kill(l->child, now() < l->force_at ? SIGTERM : SIGKILL);
  }
  while (listen_a_tick(l)) continue; // what the ranks said last
  judge_the_end(l);
  end_ranks(l);
  while (launch_output_goes_on(&l->output) && interruptions == l->heard) poll(NULL, 0, TICK);
  launch_output_end(&l->output);
  return l->failed ? TOOL_FAILED : TOOL_OK;
}

static int supervise(launch *l, int argc, char **argv) {
  signal(SIGINT, interrupt);
  signal(SIGTERM, interrupt);
  signal(SIGPIPE, interrupt);
  if (signal(SIGHUP, interrupt) == SIG_IGN) signal(SIGHUP, SIG_IGN); // as nohup wants it
  clear_shared_memory();                                             // of a launch that was killed
  int status = open_listener(l);
  if (!status) status = start(l, argc, argv);
  if (!status) status = watch(l);
  close(l->listener);
  close(l->events);
  leat_temporary_remove(l->folder);
  return status;
}

static int run(const tool_command *command, int argc, char **argv) {
  launch *l = leat_new(tool_arena(), launch);
  *l = (launch){.count = 1,
                .deadline = 30,
                .mpiexec = "mpiexec",
                .listener = -1,
                .events = -1,
                .ask_at = INFINITY,
                .force_at = INFINITY};
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
