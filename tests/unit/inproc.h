// A transport between ranks that are runtimes of one process: the sender's thread calls the
// receiver. What comes before a rank has started is kept for it.
#ifndef LEAT_TESTS_UNIT_INPROC_H
#define LEAT_TESTS_UNIT_INPROC_H

#include "runtime/transport.h"

typedef struct leat_inproc_world leat_inproc_world;
leat_status leat_inproc_world_create(int size, leat_inproc_world **out, leat_error *error);
void leat_inproc_world_destroy(leat_inproc_world *world); // its transports must be closed
// Each rank is joined once.
leat_status leat_inproc_join(leat_inproc_world *world, int rank, leat_transport **out,
                             leat_error *error);

#endif
