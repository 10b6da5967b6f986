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
static struct sigaction before;

static void interrupt(int number) {
  int error = errno;
  interrupted = number;
  if (write(wake[1], "", 1) < 0) errno = error; // it is full: somebody is awake
}

// A prompt that is being written when it comes is written: without SA_RESTART that would be an
// error of stdout. A wait ends anyway.
static const struct sigaction ends_text = {.sa_handler = interrupt, .sa_flags = SA_RESTART};

void repl_interrupt_begin(void) {
  char bytes[64];
  if (wake[0] < 0 && pipe2(wake, O_CLOEXEC | O_NONBLOCK)) wake[0] = wake[1] = -1;
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

bool repl_interrupt_wait(int fd, int timeout) {
  struct pollfd waits[] = {{.fd = fd, .events = POLLIN}, {.fd = wake[0], .events = POLLIN}};
  while (!interrupted) {
    int ready = poll(waits, 2, timeout);
    if (!ready) return false;
    if (ready > 0 && !interrupted && waits[0].revents) return true; // else EINTR: a window changed
  }
  return false;
}
