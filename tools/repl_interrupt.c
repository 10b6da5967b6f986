// ^C while a text is typed, from its first line to its last: the signal is noted, and wakes who
// waits for a key, so that none comes too early to be seen.
#define _GNU_SOURCE
#include "tools/repl_interrupt.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

static volatile sig_atomic_t interrupted;
static int wake[2] = {-1, -1};
static int terminal = -1; // standard input, opened once more
static struct sigaction before;

static void interrupt(int number) {
  int error = errno;
  interrupted = number;
  if (write(wake[1], "", 1) < 0) errno = error; // it is full: somebody is awake
}

// A prompt that is being written when it comes is written: without SA_RESTART that would be an
// error of stdout. A wait ends anyway.
static const struct sigaction ends_text = {.sa_handler = interrupt, .sa_flags = SA_RESTART};

// With ^C the terminal forgets the keys that wait: a read that blocks would wait for others, if
// that comes just before it. What is opened here is not shared with anybody, as standard input is.
static void open_terminal(void) {
  if (pipe2(wake, O_CLOEXEC | O_NONBLOCK)) wake[0] = wake[1] = -1;
  terminal = open("/proc/self/fd/0", O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
  if (terminal < 0) terminal = STDIN_FILENO;
}

void repl_interrupt_begin(void) {
  char bytes[64];
  if (terminal < 0) open_terminal();
  while (read(wake[0], bytes, sizeof bytes) > 0) {
  }
  interrupted = 0;
  sigaction(SIGINT, &ends_text, &before);
}

void repl_interrupt_end(void) {
  sigaction(SIGINT, &before, NULL);
}

bool repl_interrupted(void) {
  return interrupted;
}

void repl_interrupt_catch(void) {
  sigaction(SIGINT, &ends_text, NULL);
}

// Whether there is something to read.
static bool wait_for_keys(int timeout) {
  struct pollfd waits[] = {{.fd = terminal, .events = POLLIN}, {.fd = wake[0], .events = POLLIN}};
  while (!interrupted) {
    int ready = poll(waits, 2, timeout);
    if (!ready) return false;
    if (ready > 0 && !interrupted && waits[0].revents) return true; // else EINTR: a window changed
  }
  return false;
}

int repl_interrupt_read(int timeout) {
  while (wait_for_keys(timeout)) {
    unsigned char byte;
    ssize_t size = read(terminal, &byte, 1);
    if (size == 1) return byte;
    if (size == 0 || (errno != EINTR && errno != EAGAIN)) return -1;
  }
  return -1;
}
