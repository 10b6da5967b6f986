#define _GNU_SOURCE
#include "tools/launch_output.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

// Pieces that end with a line as far as they can, and that a pipe takes as a whole: others may
// write there too.
static size_t next_piece(const char *text, size_t size) {
  if (size <= PIPE_BUF) return size;
  const char *end = memrchr(text, '\n', PIPE_BUF);
  return end ? (size_t)(end + 1 - text) : PIPE_BUF;
}

static bool pass_on(int to, const char *text, size_t size) {
  while (size) {
    ssize_t written = write(to, text, next_piece(text, size));
    if (written >= 0) {
      text += written;
      size -= (size_t)written;
    } else if (errno == EAGAIN) { // somebody who has it too wants it so
      poll(&(struct pollfd){.fd = to, .events = POLLOUT}, 1, -1);
    } else if (errno != EINTR) {
      return false;
    }
  }
  return true;
}

// What ends the others ends this one by ending mpiexec, which may have something to say.
static void ignore_signals(void) {
  static const int ignored[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGPIPE, SIGXCPU};
  for (size_t i = 0; i < sizeof ignored / sizeof *ignored; i++) signal(ignored[i], SIG_IGN);
}

// Until mpiexec has ended and all that it wrote has come; others may have the pipe for longer. The
// launcher, unless that is 0, is told when nobody reads it.
static void relay(int from, int to, pid_t mpiexec, pid_t launcher) {
  static char text[1 << 16];
  bool is_read = true;
  int end =
      (int)syscall(SYS_pidfd_open, mpiexec, 0); // negative, where there is none: not looked at
  struct pollfd watched[] = {{.fd = from, .events = POLLIN}, {.fd = end, .events = POLLIN}};
  for (;;) {
    if (poll(watched, 2, -1) < 0) continue;
    if (!watched[0].revents) return;
    ssize_t size = read(from, text, sizeof text);
    if (size <= 0) return;
    if (!is_read || pass_on(to, text, (size_t)size)) continue;
    is_read = false;
    if (launcher && getppid() == launcher) kill(launcher, SIGPIPE);
  }
}

bool launch_output_open(launch_output *output) {
  for (int i = 0; i < 2; i++) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC)) return false;
    output->from[i] = ends[0];
    output->to[i] = ends[1];
  }
  output->typed[0] = output->typed[1] = -1;
  return !isatty(STDIN_FILENO) || !pipe2(output->typed, O_CLOEXEC);
}

void launch_output_enter(const launch_output *output) {
  for (int i = 0; i < 2; i++) dup2(output->to[i], STDOUT_FILENO + i);
  if (output->typed[0] >= 0) dup2(output->typed[0], STDIN_FILENO);
  setpgid(0, 0);
}

static bool relay_typed(launch_output *output, pid_t mpiexec) {
  if (output->typed[0] < 0) return true;
  close(output->typed[0]);
  output->relays[2] = fork();
  if (output->relays[2] < 0) return false;
  if (!output->relays[2]) {
    ignore_signals();
    relay(STDIN_FILENO, output->typed[1], mpiexec, 0);
    _exit(0);
  }
  close(output->typed[1]);
  return true;
}

bool launch_output_relay(launch_output *output, pid_t mpiexec) {
  pid_t launcher = getpid();
  for (int i = 0; i < 2; i++) close(output->to[i]);
  if (!relay_typed(output, mpiexec)) return false;
  for (int i = 0; i < 2; i++) {
    output->relays[i] = fork();
    if (output->relays[i] < 0) return false;
    if (!output->relays[i]) {
      ignore_signals();
      if (i == 0) close(output->from[1]); // the other's alone
      relay(output->from[i], STDOUT_FILENO + i, mpiexec, launcher);
      _exit(0);
    }
    close(output->from[i]);
  }
  return true;
}

bool launch_output_goes_on(launch_output *output) {
  for (int i = 0; i < 2; i++)
    if (output->relays[i] > 0 && waitpid(output->relays[i], NULL, WNOHANG)) output->relays[i] = 0;
  return output->relays[0] > 0 || output->relays[1] > 0;
}

void launch_output_end(launch_output *output) {
  for (int i = 0; i < 3; i++)
    if (output->relays[i] > 0) kill(output->relays[i], SIGKILL);
}
