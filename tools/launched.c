// What the launcher put into the environment, which is there before MPI_Init; and the rank's end of
// the line.
#define _GNU_SOURCE
#include "tools/launched.h"

#include "base/environment.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static int line = -1;

// The value of the first of the variables that is set, or NULL.
static const char *first_set(const char *const *variables) {
  while (*variables && !leat_environment(*variables)) variables++;
  return *variables ? leat_environment(*variables) : NULL;
}

int launched_rank(void) {
  static const char *const variables[] = {
      "PMI_RANK", "PMIX_RANK", "OMPI_COMM_WORLD_RANK", "MV2_COMM_WORLD_RANK", "SLURM_PROCID", NULL};
  const char *rank = first_set(variables);
  return rank ? atoi(rank) : 0;
}

// PMIx has no variable for the size; a rank tells that there are so many.
int launched_size(void) {
  static const char *const variables[] = {"PMI_SIZE", "OMPI_COMM_WORLD_SIZE", "MV2_COMM_WORLD_SIZE",
                                          "SLURM_STEP_NUM_TASKS", NULL};
  const char *size = first_set(variables);
  return size ? atoi(size) : launched_rank() + 1;
}

static void say(const char *word, long number) {
  char text[64];
  int size = snprintf(text, sizeof text, "%s %ld\n", word, number);
  if (send(line, text, (size_t)size, MSG_NOSIGNAL) < 0) line = -1;
}

// Linux closes the descriptors of a dying process from the highest number down, and mpiexec ends
// all ranks when it sees the PMI socket of one close. The line closes before that, so that it tells
// who died first.
static void move_up(void) {
  enum { HIGH = 500 };
  int high = fcntl(line, F_DUPFD_CLOEXEC, HIGH);
  if (high < 0) return;
  close(line);
  line = high;
}

void launched_hello(void) {
  const char *path = leat_environment(LAUNCH_VARIABLE);
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  if (!path || strlen(path) >= sizeof address.sun_path) return;
  strcpy(address.sun_path, path);
  line = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (line < 0) return;
  if (connect(line, (struct sockaddr *)&address, sizeof address)) {
    close(line);
    line = -1;
    return;
  }
  move_up();
  signal(SIGHUP, SIG_DFL);          // mpiexec ignores it
  prctl(PR_SET_PDEATHSIG, SIGKILL); // whoever started this rank is gone: so is the world
  say("rank", launched_rank());
  say("hello", getpid());
}

void launched_bye(int exit_code) {
  if (line < 0) return;
  fflush(NULL);
  say("bye", exit_code);
}
