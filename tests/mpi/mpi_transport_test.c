// The conformance suite on the MPI transport; every rank of mpiexec runs it, of which it needs two.
// With the argument `die`, rank 1 kills itself instead, and the others would wait for it.
#include "base/module.h"
#include "tests/unit/transport_conformance.h"

#include <signal.h>
#include <unistd.h>

static leat_transport *transport;

TEST(conformance) {
  static conformance state;
  CHECK_EQ_STR(conformance_play(transport, &state), "");
}

static int wait_for_the_dead(void) {
  if (transport->rank == 1) kill(getpid(), SIGKILL);
  sleep(60);
  return 0;
}

int main(int argc, char **argv) {
  leat_error error = {0};
  const void *table;
  leat_status status = leat_module_load("mpi", "leat_mpi_transport", &table, &error);
  if (status == LEAT_NOT_FOUND) {
    printf("mpi: 0 passed, 0 failed, 1 skipped\n");
    return 0;
  }
  const leat_transport_backend *backend = table;
  if (status || backend->connect(&(leat_transport_world){.deadline = 10}, &transport, &error)) {
    printf("%s\nmpi: 0 passed, 1 failed, 0 skipped\n", error.message);
    return 1;
  }
  if (transport->size < 2) {
    printf("it needs two ranks: mpiexec -n 2\nmpi: 0 passed, 1 failed, 0 skipped\n");
    backend->close(transport);
    return 1;
  }
  if (argc > 1 && strcmp(argv[1], "die") == 0) return wait_for_the_dead();
  int failed = check_run("mpi");
  backend->close(transport);
  return failed;
}
