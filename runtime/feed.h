// What feeds are given on a command line, of `leat` and of executables alike: `lr=0.5`,
// `a=[[1, 2], [3, 4]]`, `s=["a", "b\n"]`, `x=@file.npy`; `@file.npz`, each array of which feeds
// what it is called.
#ifndef LEAT_RUNTIME_FEED_H
#define LEAT_RUNTIME_FEED_H

#include "base/arena.h"
#include "base/data_file.h"
#include "base/npy.h"

typedef struct leat_feed_port {
  const char *name, *type; // as messages show them
  leat_dtype dtype;
  int rank;
} leat_feed_port;

typedef struct leat_feed {
  leat_tensor tensor; // valid until closed, and as long as the arena
  leat_npy file;
} leat_feed;

// Reads what stands behind NAME=: `@path` is a .npy file, anything else a literal of the port's
// dtype and rank, whose elements lie in the arena.
LEAT_MUST_USE leat_status leat_feed_read(leat_arena *arena, const char *text,
                                         const leat_feed_port *port, leat_feed *out,
                                         leat_error *error);
void leat_feed_close(leat_feed *feed);

// The files that feed by name, in an arena, the last one first.
typedef struct leat_feed_file {
  leat_data_file data;
  struct leat_feed_file *before;
} leat_feed_file;

// Opens `@path`, before *files.
LEAT_MUST_USE leat_status leat_feed_file_open(leat_arena *arena, const char *text,
                                              leat_feed_file **files, leat_error *error);
void leat_feed_files_close(leat_feed_file *files);

#endif
